// SPDX-License-Identifier: GPL-2.0-or-later

// One of the programs of tests/languages/run. alpha is a method called by its
// interface, beta has a map and formats, gamma sorts by a closure.
package main

import (
	"fmt"
	"os"
	"runtime"
	"sort"
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

type shape interface{ alpha(x uint64) uint64 }
type square struct{ k uint64 }

//go:noinline
func (s *square) alpha(x uint64) uint64 {
	sum := s.k
	for i := uint64(0); i < 60; i++ {
		sum += leafHash(x+i, 33000)
	}
	return sum
}

//go:noinline
func leafMap(x uint64) uint64 {
	texts := map[uint64]string{}
	for i := uint64(0); i < 6000; i++ {
		key := (x + i*2654435761) % 2000
		texts[key] = fmt.Sprint(key)
	}
	return uint64(len(texts))
}

//go:noinline
func beta(x uint64) uint64 {
	return leafMap(x) + leafMap(x+1)
}

//go:noinline
func gamma(x uint64) uint64 {
	values := make([]int, 12000)
	for i := range values {
		values[i] = int(uint32(uint64(i)*2654435761 + x))
	}
	sort.Slice(values, func(i, j int) bool { return values[i] < values[j] })
	return uint64(values[5])
}

func main() {
	end, rounds, sum := 1.0, 0, uint64(1)
	var spent [3]float64
	var s shape = &square{3}

	runtime.LockOSThread()
	if len(os.Args) > 1 {
		end, _ = strconv.ParseFloat(os.Args[1], 64)
	}
	for ; cpuTime(process) < end; rounds++ {
		for i, part := range []func(uint64) uint64{s.alpha, beta, gamma} {
			begun := cpuTime(thread)
			sum += part(sum)
			spent[i] += cpuTime(thread) - begun
		}
	}
	fmt.Printf("sum %d\nalpha %f beta %f gamma %f cpu %f rounds %d\n",
		sum, spent[0], spent[1], spent[2], cpuTime(process), rounds)
}
