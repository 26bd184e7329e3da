// SPDX-License-Identifier: GPL-2.0-or-later

// One of the programs of tests/languages/run. alpha calls functions of C, beta those
// that call Go again, gamma none.
package main

/*
#include <stdint.h>

__attribute__((noinline)) static uint64_t c_leaf(uint64_t x, int n)
{
	for (int i = 0; i < n; i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		x += (uint64_t)i;
	}
	return x;
}

__attribute__((noinline)) static uint64_t c_work(uint64_t x)
{
	uint64_t sum = 0;

	for (int i = 0; i < 60; i++)
		sum += c_leaf(x + (uint64_t)i, 40000);
	return sum + 1;
}

extern uint64_t goCallback(uint64_t);

__attribute__((noinline)) static uint64_t c_calls_go(uint64_t x)
{
	return goCallback(x) + 1;
}
*/
import "C"
import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"syscall"
	"unsafe"
)

const (
	process = 2
	thread  = 3
)

func cpuTime(clock uintptr) float64 {
	var t syscall.Timespec

	syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, clock, uintptr(unsafe.Pointer(&t)), 0)
	return float64(t.Sec) + float64(t.Nsec)*1e-9
}

//go:noinline
func leafHash(x uint64, n int) uint64 {
	for i := 0; i < n; i++ {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
		x += uint64(i)
	}
	return x
}

//export goCallback
func goCallback(x C.uint64_t) C.uint64_t {
	return C.uint64_t(leafHash(uint64(x), 1200000))
}

//go:noinline
func alpha(x uint64) uint64 { return uint64(C.c_work(C.uint64_t(x))) }

//go:noinline
func beta(x uint64) uint64 { return uint64(C.c_calls_go(C.uint64_t(x))) }

//go:noinline
func gamma(x uint64) uint64 { return leafHash(x, 800000) }

func main() {
	end, rounds, sum := 1.0, 0, uint64(1)
	var spent [3]float64

	runtime.LockOSThread()
	if len(os.Args) > 1 {
		end, _ = strconv.ParseFloat(os.Args[1], 64)
	}
	for ; cpuTime(process) < end; rounds++ {
		for i, part := range []func(uint64) uint64{alpha, beta, gamma} {
			begun := cpuTime(thread)
			sum += part(sum)
			spent[i] += cpuTime(thread) - begun
		}
	}
	fmt.Printf("sum %d\nalpha %f beta %f gamma %f cpu %f rounds %d\n",
		sum, spent[0], spent[1], spent[2], cpuTime(process), rounds)
}
