#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What stacks cost: a program without frame pointers, 8, 32 and 64 calls deep,
# sampled at 4 kHz by the daemon with callgraph= and by perf record --call-graph
# dwarf at the same time, then by each alone and by none, which tells what the
# kernel's part adds to the program.
. "$(dirname "$0")/../t/lib.sh"
. "$TOP/tests/t/perf.sh"
. "$TOP/tests/bench/rows.sh"

needs_perf own
command -v perf >/dev/null || skip_all 'no perf; install linux-perf'
cd "$TMP" || exit 1
RATE=4000
max=$(cat /proc/sys/kernel/perf_event_max_sample_rate)
[ "$max" -ge $RATE ] || RATE=$max
background=
# shellcheck disable=SC2317 # lib.sh calls it
at_exit() {
	for pid in $background; do kill -TERM "$pid" 2>/dev/null; done
}

cat >deep.c <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
static void leaf(long times)
{
	for (long i = 0; i < times; i++)
		__asm__ volatile("" : : : "memory");
}
__attribute__((noinline, noclone)) static void down(long left, long times)
{
	char room[100];

	__asm__ volatile("" : : "r"(room) : "memory");
	if (left > 1)
		down(left - 1, times);
	else
		leaf(times);
	__asm__ volatile("" : : "r"(room) : "memory");
}
int main(int argc, char **argv)
{
	struct rusage u;
	char go;

	if (read(0, &go, 1) < 0)
		return 1;
	/* main and what called it are frames, too */
	down(atol(argv[1]) - 4, atol(argv[2]));
	getrusage(RUSAGE_SELF, &u);
	printf("%.3f\n", (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
		(double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6);
	return argc > 3;
}
END
gcc -O2 -fomit-frame-pointer -o deep deep.c || exit 1

# start DEPTH: the program waits for a line in the fifo. Sets pid.
start() {
	rm -f go && mkfifo go
	./deep "$1" "${BENCH_LOOPS:-6000000000}" <go >cpu &
	pid=$!
	background="$background $pid"
	exec 4>go
}
go() {
	echo >&4
	exec 4>&-
	wait $pid
}
start_ours() {
	rm -rf "$SESSION" ready ours.cost
	mkdir -p "$SESSION"
	mkfifo ready
	"$TESTBIN/cost" ours.cost "$BIN/oprofiled" --session-dir="$SESSION" \
		--foreground --ready-fd=3 \
		--source=perf:pid="$pid,rate=$RATE$1" 3>ready &
	ours=$!
	background="$background $ours"
	[ -z "$(tr -d '\0' <ready)" ] || exit 1
	"$TESTBIN/control" "$SESSION/run/control" start
}
end_ours() {
	"$TESTBIN/control" "$SESSION/run/control" shutdown
	wait $ours
}
start_theirs() {
	rm -f theirs.cost
	"$TESTBIN/cost" theirs.cost perf record --call-graph dwarf -e cpu-clock \
		-F "$RATE" -p "$pid" -o perf.data >perf.log 2>&1 &
	theirs=$!
	background="$background $theirs"
	sleep 1
}
end_theirs() {
	wait $theirs
}

cost() {
	awk -v key="$2" '$1 == key { print $2 }' "$1.cost"
}
per() {
	awk -v a="$1" -v n="$2" -v by="$3" \
		'BEGIN { printf "%.2f", n ? a * by / n : 0 }'
}
# added: us of the program's time for each of $1 samples.
added() {
	awk -v a="$(cat cpu)" -v b="$plain" -v n="$1" \
		'BEGIN { printf "%.2f", n ? (a - b) * 1e6 / n : 0 }'
}
tree_bytes() {
	find "$CURRENT" -path "*{$1}*" -type f -printf '%s\n' |
		awk '{ n += $1 } END { print n + 0 }'
}

printf '%5s %9s %8s %10s %10s %10s %8s %8s %8s %8s\n' depth samples 'lost' \
	'daemon us' 'record us' 'script us' 'whole %' 'kernel+' 'perf+' 'flat us'
for depth in 8 32 64; do
	start $depth
	go
	plain=$(cat cpu)

	start $depth
	start_ours ,callgraph=1024
	start_theirs
	go
	end_theirs
	end_ours
	taken=$(ledger stored)
	daemon=$(per "$(cost ours cpu)" "$taken" 1e6)
	lost=$(ledger lost)
	whole=$(per "$(sed -n 's/^stacks.whole = //p' "$CURRENT/ledger")" \
		"$taken" 100)
	theirs_taken=$(perf report -i perf.data --stats 2>/dev/null |
		awk '/SAMPLE events:/ { print $3; exit }')
	record=$(per "$(cost theirs cpu)" "$theirs_taken" 1e6)
	bytes=$(per "$(stat -c %s perf.data)" "$theirs_taken" 1)
	"$TESTBIN/cost" script.cost perf script -i perf.data >/dev/null 2>&1
	script=$(per "$(cost script cpu)" "$theirs_taken" 1e6)

	start $depth
	start_ours ,callgraph=1024
	go
	end_ours
	kernel=$(added "$(ledger stored)")

	start $depth
	start_theirs
	go
	end_theirs
	perf=$(added "$(perf report -i perf.data --stats 2>/dev/null |
		awk '/SAMPLE events:/ { print $3; exit }')")

	start $depth
	start_ours ''
	go
	end_ours
	flat=$(per "$(cost ours cpu)" "$(ledger stored)" 1e6)
	printf '%5d %9d %8d %10s %10s %10s %8s %8s %8s %8s\n' $depth "$taken" \
		"$lost" "$daemon" "$record" "$script" "$whole" "$kernel" "$perf" \
		"$flat"
	bench_row "oprofiled: sample with $depth frames" 'us of CPU' "$daemon" \
		'perf record' "$record" '<=1x'
	bench_row "oprofiled and report: $depth frames" 'us of CPU' "$daemon" \
		'perf record and script' \
		"$(awk -v a="$record" -v b="$script" \
			'BEGIN { print a + b }')" '<=0.25x'
	bench_row "kernel: sample with $depth frames" 'us of the program' \
		"$kernel" 'perf record' "$perf" '<=1x'
done
echo "samples: of the daemon, of which so many were lost; us of CPU time for" \
	"each: the daemon's, perf record's, perf script's (which unwinds);" \
	"what ours and perf's add to the program; the daemon's without stacks"
echo "perf.data has $bytes bytes for a sample"
test_finished=yes
