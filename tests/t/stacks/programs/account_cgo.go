// SPDX-License-Identifier: GPL-2.0-or-later

// account_cgo: Go, C that Go calls, and Go that this C calls; prints what share of the
// CPU time each took by its own clock. C is called on another stack.
//
// stacks of main.main: ROOT;runtime.main;main.main
// stacks of c_leaf: ROOT;runtime.main;main.main;main.workAlpha;GO;c_work;c_leaf
// stacks of main.leafHash: ROOT;runtime.main;main.main;main.workGamma;main.leafHash
// stacks of main.leafHash: ROOT;runtime.main;main.main;main.workBeta;GO;c_calls_go;GO;main.leafHash
package main

/*
#include <stdint.h>

__attribute__((noipa)) static uint64_t c_leaf(uint64_t x, int n)
{
	for (int i = 0; i < n; i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		x += i;
	}
	return x;
}
__attribute__((noipa)) static uint64_t c_work(uint64_t x)
{
	uint64_t sum = 0;

	for (int i = 0; i < 60; i++)
		sum += c_leaf(x + i, 40000);
	return sum;
}
extern uint64_t goCallback(uint64_t);
__attribute__((noipa)) static uint64_t c_calls_go(uint64_t x)
{
	return goCallback(x) + 1;
}
*/
import "C"
import (
	"fmt"
	"runtime"
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

//export goCallback
func goCallback(x C.uint64_t) C.uint64_t {
	return C.uint64_t(leafHash(uint64(x), 1200000)) + 1
}

//go:noinline
func workAlpha(x uint64) uint64 { return uint64(C.c_work(C.uint64_t(x))) + 1 }

//go:noinline
func workBeta(x uint64) uint64 { return uint64(C.c_calls_go(C.uint64_t(x))) + 1 }

//go:noinline
func workGamma(x uint64) uint64 { return leafHash(x, 800000) + 1 }

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

	runtime.LockOSThread()
	for i := 0; i < 250; i++ {
		begin := cpuTime()
		sum += workAlpha(sum)
		end := cpuTime()
		took[0] += end - begin
		sum += workBeta(sum)
		begin = cpuTime()
		took[1] += begin - end
		sum += workGamma(sum)
		took[2] += cpuTime() - begin
	}
	all := took[0] + took[1] + took[2]
	fmt.Printf("main.workAlpha %.3f\nmain.workBeta %.3f\nmain.workGamma %.3f\n",
		100*took[0]/all, 100*took[1]/all, 100*took[2]/all)
	if sum == 0 {
		fmt.Println(sum)
	}
}
