// SPDX-License-Identifier: GPL-2.0-or-later
// One of the programs of tests/languages/run. alpha() is called by a trait object,
// beta() has a hash map and a generic function, gamma() sorts by a closure.

use std::collections::HashMap;
use std::fmt::Debug;

#[repr(C)]
struct Timespec {
    seconds: i64,
    nanoseconds: i64,
}

extern "C" {
    fn clock_gettime(clock: i32, time: *mut Timespec) -> i32;
}

const PROCESS: i32 = 2;
const THREAD: i32 = 3;

fn cpu_time(clock: i32) -> f64 {
    let mut time = Timespec { seconds: 0, nanoseconds: 0 };
    unsafe { clock_gettime(clock, &mut time) };
    time.seconds as f64 + time.nanoseconds as f64 * 1e-9
}

#[inline(never)]
fn leaf_hash(mut x: u64, n: u64) -> u64 {
    for i in 0..n {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        x = x.wrapping_add(i);
    }
    x
}

trait Shape {
    fn alpha(&self, x: u64) -> u64;
}

struct Square(u64);

impl Shape for Square {
    #[inline(never)]
    fn alpha(&self, x: u64) -> u64 {
        (0..60).fold(self.0, |sum, i| sum.wrapping_add(leaf_hash(x.wrapping_add(i), 33000)))
    }
}

#[inline(never)]
fn fold_all<T: Debug, F: Fn(&T) -> u64>(values: &[T], f: F) -> u64 {
    values.iter().fold(0, |sum, x| sum.wrapping_add(f(x)))
}

#[inline(never)]
fn beta(x: u64) -> u64 {
    let mut counts: HashMap<String, u64> = HashMap::new();
    for i in 0..6000u64 {
        let key = x.wrapping_add(i.wrapping_mul(2654435761)) % 1500;
        *counts.entry(format!("k{}", key)).or_insert(0) += i;
    }
    let values: Vec<u64> = counts.values().cloned().collect();
    fold_all(&values, |y| y.rotate_left(3))
}

#[inline(never)]
fn gamma(x: u64) -> u64 {
    let mut values: Vec<u32> =
        (0..40000u64).map(|i| i.wrapping_mul(2654435761).wrapping_add(x) as u32).collect();
    values.sort_by(|a, b| b.cmp(a));
    values[7] as u64
}

fn main() {
    let end: f64 = std::env::args().nth(1).map_or(1.0, |s| s.parse().unwrap());
    let shape: Box<dyn Shape> = Box::new(Square(3));
    let (mut sum, mut rounds, mut spent) = (1u64, 0, [0f64; 3]);

    while cpu_time(PROCESS) < end {
        let t0 = cpu_time(THREAD);
        sum = sum.wrapping_add(shape.alpha(sum));
        let t1 = cpu_time(THREAD);
        sum = sum.wrapping_add(beta(sum));
        let t2 = cpu_time(THREAD);
        sum = sum.wrapping_add(gamma(sum));
        let t3 = cpu_time(THREAD);
        spent[0] += t1 - t0;
        spent[1] += t2 - t1;
        spent[2] += t3 - t2;
        rounds += 1;
    }
    println!("sum {}", sum);
    println!("alpha {} beta {} gamma {} cpu {} rounds {}",
             spent[0], spent[1], spent[2], cpu_time(PROCESS), rounds);
}
