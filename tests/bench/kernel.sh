#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Inside the VM, with one CPU whose clock counts instructions: what a sample
# costs in the kernel, timer interrupt included, from the slowdown of a loop.
# The reader is asleep all the while; its share is the daemon's bench.
. "$(dirname "$0")/../t/lib.sh"

FS=/dev/oprofile
ROUNDS=150000000

received() {
	cat $FS/stats/cpu0/sample_received
}

insmod "$O/module/$(uname -r)/oprofile.ko" && mkdir -p $FS &&
	mount -t oprofilefs none $FS || exit 1
"$TESTBIN/spin" $((ROUNDS / 10)) >/dev/null
base=$("$TESTBIN/spin" $ROUNDS)
again=$("$TESTBIN/spin" $ROUNDS)
echo "kernel $(uname -r): loop of $base instructions, $again when run again"
echo "rate    samples  instructions/sample  slowdown %"
for rate in 1000 10000; do
	echo $rate >$FS/timer/rate
	"$TESTBIN/readbuf" 3 65536 idle >/dev/null &
	reader=$!
	sleep 0.3
	before=$(received)
	time=$("$TESTBIN/spin" $ROUNDS)
	after=$(received)
	wait $reader
	awk -v r=$rate -v n=$((after - before)) -v b="$base" -v t="$time" \
		'BEGIN { printf "%-7d %7d  %19.0f  %10.2f\n",
			r, n, (t - b) / n, (t - b) / b * 100 }'
done
test_finished=yes
