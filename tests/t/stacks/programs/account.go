// SPDX-License-Identifier: GPL-2.0-or-later

// account: three kinds of work, each by a function of its own; prints what share of the
// CPU time each of them took by its own clock.
//
// stacks of main.main: ROOT;runtime.main;main.main
// stacks of main.leafHash: ROOT;runtime.main;main.main;main.(*square).workAlpha;main.leafHash
// stacks of main.leafMap: ROOT;runtime.main;main.main;main.workBeta;main.leafMap
// stacks of main.workGamma.func1: ROOT;runtime.main;main.main;main.workGamma;LIBRARY;main.workGamma.func1
// stacks of main.workGamma: ROOT;runtime.main;main.main;main.workGamma
package main

import (
	"fmt"
	"runtime"
	"sort"
	"syscall"
	"unsafe"
)

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

//go:noinline
func leafMap(m map[uint64]string, x uint64) uint64 {
	for i := uint64(0); i < 3000; i++ {
		k := (x + i*2654435761) % 2000
		m[k] = fmt.Sprint(k)
	}
	return uint64(len(m))
}

type shape interface{ workAlpha(x uint64) uint64 }
type square struct{ side int }

//go:noinline
func (s *square) workAlpha(x uint64) uint64 {
	var sum uint64
	for i := 0; i < 60; i++ {
		sum += leafHash(x+uint64(i), 40000)
	}
	return sum + 1
}

//go:noinline
func workBeta(x uint64) uint64 {
	m := map[uint64]string{}
	var sum uint64
	for i := 0; i < 5; i++ {
		sum += leafMap(m, x+uint64(i))
	}
	return sum
}

//go:noinline
func workGamma(x uint64) uint64 {
	a := make([]int, 12000)
	for i := range a {
		a[i] = int(uint32(uint64(i)*2654435761 + x))
	}
	sort.Slice(a, func(i, j int) bool { return a[i] < a[j] })
	return uint64(a[5])
}

const clockThreadCpuTime = 3

func cpuTime() float64 {
	var t syscall.Timespec
	syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, clockThreadCpuTime,
		uintptr(unsafe.Pointer(&t)), 0)
	return float64(t.Sec) + float64(t.Nsec)*1e-9
}

func main() {
	var took [3]float64
	var sum uint64 = 1
	var s shape = &square{3}

	runtime.LockOSThread()
	for i := 0; i < 350; i++ {
		begin := cpuTime()
		sum += s.workAlpha(sum)
		end := cpuTime()
		took[0] += end - begin
		sum += workBeta(sum)
		begin = cpuTime()
		took[1] += begin - end
		sum += workGamma(sum)
		took[2] += cpuTime() - begin
	}
	all := took[0] + took[1] + took[2]
	fmt.Printf("main.(*square).workAlpha %.3f\nmain.workBeta %.3f\nmain.workGamma %.3f\n",
		100*took[0]/all, 100*took[1]/all, 100*took[2]/all)
	if sum == 0 {
		fmt.Println(sum)
	}
}
