// SPDX-License-Identifier: GPL-2.0-or-later

// grow: goroutines whose stacks grow, that wait for each other, and garbage: what Go's
// runtime does is on stacks of its own.
//
// stacks of main.work: ROOT;main.main.func2;main.main.func1;main.deep...;main.work
package main

import (
	"runtime"
	"sync"
)

var kept [64][]byte

//go:noinline
func work(x uint64) uint64 {
	for i := uint64(0); i < 2000; i++ {
		x ^= x << 13
		x += i
	}
	return x
}

//go:noinline
func deep(n int, x uint64) uint64 {
	var a [64]uint64

	if n == 0 {
		runtime.Gosched()
		kept[x%64] = make([]byte, 4096)
		return work(x)
	}
	a[n%64] = x
	return deep(n-1, x+1) + a[n%64]
}

func main() {
	var all sync.WaitGroup

	for i := 0; i < 150000; i++ {
		all.Add(1)
		go func(i int) {
			defer all.Done()
			deep(i%40, uint64(i))
		}(i)
		if i%1000 == 0 {
			all.Wait()
		}
	}
	all.Wait()
}
