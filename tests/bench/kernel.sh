#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Inside the VM, with one CPU whose clock counts instructions: what a sample
# costs in the kernel, timer interrupt included, from the slowdown of a loop.
# The reader is asleep all the while; its share is the daemon's bench.
. "$(dirname "$0")/../t/lib.sh"

FS=/dev/oprofile
ROUNDS=150000000

# On an overlay, as the root here is, mapping and program are different files.
cp "$TESTBIN/spin" "$TMP/spin" || exit 1

received() {
	cat $FS/stats/cpu0/sample_received
}

insmod "$O/module/$(uname -r)/oprofile.ko" && mkdir -p $FS &&
	mount -t oprofilefs none $FS || exit 1
# measure RATE DEPTH: a loop that DEPTH functions have called, at this rate.
measure() {
	echo "$1" >$FS/timer/rate
	base=$("$TMP/spin" $ROUNDS "$2")
	"$TESTBIN/readbuf" 3 262144 idle >/dev/null &
	reader=$!
	sleep 0.3
	before=$(received)
	time=$("$TMP/spin" $ROUNDS "$2")
	after=$(received)
	aborted=$(cat $FS/stats/cpu0/backtrace_aborted)
	wait $reader
	awk -v r="$1" -v n=$((after - before)) -v b="$base" -v t="$time" \
		-v d="$2" -v what="$3" -v a="$aborted" \
		'BEGIN { printf "%-7d %6d %-7s %7d  %19.0f  %10.2f%s\n",
			r, d, what, n, (t - b) / n, (t - b) / b * 100,
			a ? "  (" a " without stacks)" : "" }'
}

"$TMP/spin" $((ROUNDS / 10)) >/dev/null
base=$("$TMP/spin" $ROUNDS)
again=$("$TMP/spin" $ROUNDS)
echo "kernel $(uname -r): loop of $base instructions, $again when run again"
echo "rate     depth stacks  samples  instructions/sample  slowdown %"
for rate in 100 300 1000 3000 10000; do
	measure $rate 1 none
done
# Callers of a loop in user mode, followed or handed over.
echo 128 >$FS/backtrace_depth
for bytes in 0 16384; do
	echo $bytes >$FS/backtrace_stack
	for depth in 8 22 32 64; do
		measure 1000 $depth "$([ $bytes -gt 0 ] && echo parts || echo frames)"
	done
done
test_finished=yes
