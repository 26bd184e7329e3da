// SPDX-License-Identifier: GPL-2.0-or-later

// clock: asks for the time, which Go does by the [vdso] on another stack.
//
// stacks of time.now: ROOT;runtime.main;main.main;main.ask;time.Now;time.now
// stacks of main.since: ROOT;runtime.main;main.main;main.since
package main

import "time"

//go:noinline
func ask(n int) int64 {
	var sum int64
	for i := 0; i < n; i++ {
		sum += time.Now().UnixNano()
	}
	return sum
}

//go:noinline
func since(n int, begin time.Time) int64 {
	var sum int64
	for i := 0; i < n; i++ {
		sum += int64(time.Since(begin))
	}
	return sum
}

func main() {
	println(ask(10000000), since(10000000, time.Now()))
}
