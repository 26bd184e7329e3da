#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The daemon and perf record side by side: both sample all CPUs at 10 kHz, at
# the same time, for BENCH_SECONDS (60) of a load that burns, forks and rests. Prints
# what each lost, took and wrote, and how long it is until a report is there.
. "$(dirname "$0")/../t/lib.sh"
. "$TOP/tests/t/perf.sh"
. "$TOP/tests/bench/rows.sh"
. "$TOP/tests/bench/load.sh"

seconds=${BENCH_SECONDS:-60}
RATE=10000
max=$(cat /proc/sys/kernel/perf_event_max_sample_rate)
[ "$max" -ge $RATE ] || RATE=$max

needs_perf system
command -v perf >/dev/null || skip_all 'no perf; install linux-perf'
cd "$TMP" || exit 1
background=
# shellcheck disable=SC2317 # lib.sh calls it
at_exit() {
	for pid in $background; do kill -TERM "$pid" 2>/dev/null; done
}

die() {
	echo "$*" >&2
	exit 1
}
control() {
	"$TESTBIN/control" "$SESSION/run/control" "$1" || exit 1
}
# cost WHAT OF: what $TESTBIN/cost has written.
cost() {
	awk -v key="$2" '$1 == key { print $2 }' "$1.cost"
}
now() {
	date +%s.%N
}
since() {
	awk -v a="$1" -v b="$(now)" 'BEGIN { printf "%.3f", b - a }'
}

start_ours() {
	mkfifo ready
	"$TESTBIN/cost" ours.cost "$BIN/oprofiled" --session-dir="$SESSION" \
		--foreground --ready-fd=3 --source=perf:rate="$RATE" \
		--separate-lib=1 --separate-kernel=1 3>ready &
	ours=$!
	background="$background $ours"
	why=$(tr -d '\0' <ready)
	[ -z "$why" ] || die "oprofiled: $why"
	control start
}
# That perf has build-ids from the kernel, too, is a must: see
# tests/t/operf/62-perf-shares.sh.
start_theirs() {
	"$TESTBIN/cost" theirs.cost perf record --buildid-mmap -a \
		-e cpu-clock -F "$RATE" -o perf.data >perf.log 2>&1 &
	theirs=$!
	background="$background $theirs"
	sleep 1
	kill -0 $theirs || die "perf: $(cat perf.log)"
}

# Both are ended and make a report; how long each needs is measured alone.
finish() {
	start=$(now)
	kill -INT $theirs
	wait $theirs
	perf report -i perf.data --stdio >theirs.report 2>theirs.err
	theirs_until=$(since "$start")
	start=$(now)
	control shutdown
	wait $ours
	"$BIN/opreport" --session-dir="$SESSION" -l >ours.report 2>ours.err
	ours_until=$(since "$start")
	background=
}

count_theirs() {
	perf report -i perf.data --stats 2>/dev/null >stats
	theirs_taken=$(awk '/SAMPLE events:/ { print $3; exit }' stats)
	theirs_lost=$(awk '/Total Lost Samples:/ { print $5; exit }' \
		theirs.report)
	theirs_idle=$(perf report -i perf.data --stdio -n --sort comm \
		2>/dev/null | awk '$3 == "swapper" { print $2 }')
	lost_records=$(awk '/ LOST events:/ { print $3; exit }' stats)
}

# row NAME OURS THEIRS [BAR]
row() {
	bench_row "oprofiled: ${1%%,*}" "${1##*, }" "$2" 'perf record' "$3" \
		"${4:-}"
	awk -v name="$1" -v a="$2" -v b="$3" 'BEGIN {
		ratio = b + 0 ? sprintf("%.2f", a / b) : "-"
		printf "%-34s %14s %14s %9s\n", name, a, b, ratio
	}'
}
per_sample() {
	awk -v cpu="$1" -v n="$2" \
		'BEGIN { printf "%.2f", n ? cpu * 1e6 / n : 0 }'
}
bytes() {
	du -s --block-size=1 "$1" | cut -f 1
}

start_ours
start_theirs
bench_load "$seconds" >load.log
finish
count_theirs
taken=$(ledger taken)
echo "all $CPUS CPUs at $RATE Hz for $seconds s, both at the same time:" \
	"$(wc -l <load.log) lines of load"
printf '%-34s %14s %14s %9s\n' '' oprofiled 'perf record' ratio
row 'taken, samples' "$taken" "$theirs_taken"
row 'lost, samples' "$(ledger lost)" "${theirs_lost:-0}" '<=0'
row 'CPU time, s' "$(cost ours cpu)" "$(cost theirs cpu)"
row 'CPU time per sample, us' "$(per_sample "$(cost ours cpu)" "$taken")" \
	"$(per_sample "$(cost theirs cpu)" "$theirs_taken")" '<=1x'
row 'memory at most, KB' "$(cost ours memory)" "$(cost theirs memory)" '<=1x'
row 'on the disk, bytes' "$(bytes "$SESSION")" "$(bytes perf.data)"
row 'a sample on the disk, bytes' \
	"$(awk -v a="$(bytes "$SESSION")" -v n="$taken" \
		'BEGIN { printf "%.2f", a / n }')" \
	"$(awk -v a="$(bytes perf.data)" -v n="$theirs_taken" \
		'BEGIN { printf "%.2f", a / n }')" '<=0.2'
row 'end to first report, s' "$ours_until" "$theirs_until" '<=0.25x'
echo "account: taken $taken = stored $(ledger stored) + lost $(ledger lost);" \
	"perf has ${lost_records:-0} LOST records," \
	"${theirs_idle:-0} samples are of idle CPUs or the like (swapper)"
sed -n 's/^lost\./  lost by us: /p' "$SESSION/samples/current/ledger"
test_finished=yes
