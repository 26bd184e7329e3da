#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What it costs to import files of perf record and to report them, beside perf
# report as one types it: all CPUs under the load of load.sh, flat, with frame
# pointers, and with stacks that both unwind, for BENCH_SECONDS (95) at 10 kHz,
# which is 1.1 million samples on two CPUs, the last for a third of that at 2 kHz,
# as perf keeps 8 KB for each of them. Of three times, the least CPU time counts.
. "$(dirname "$0")/../t/lib.sh"
. "$TOP/tests/t/perf.sh"
. "$TOP/tests/bench/rows.sh"
. "$TOP/tests/bench/load.sh"

seconds=${BENCH_SECONDS:-95}
max=$(cat /proc/sys/kernel/perf_event_max_sample_rate)

needs_perf system
command -v perf >/dev/null || skip_all 'no perf; install linux-perf'
cd "$TMP" || exit 1
background=
# shellcheck disable=SC2317 # lib.sh calls it
at_exit() {
	for pid in $background; do kill -TERM "$pid" 2>/dev/null; done
}

# record RATE SECONDS ARG...: perf.data of that.
record() {
	rate=$1 time=$2
	shift 2
	[ "$max" -ge "$rate" ] || rate=$max
	perf record --buildid-mmap -a -e cpu-clock -F "$rate" -o perf.data \
		"$@" >perf.log 2>&1 &
	background=$!
	sleep 1
	kill -0 $background || exit 1
	bench_load "$time" >/dev/null
	kill -INT $background
	wait $background
	background=
}
# cost OF WHAT...: the sum of the least CPU time that $TESTBIN/cost wrote for each
# of them, or the most memory of all.
cost() {
	key=$1
	shift
	for name; do
		awk -v key="$key" '$1 == key { print $2 }' "$name".[123].cost |
			sort -n | if [ "$key" = cpu ]; then head -1; else tail -1; fi
	done | awk -v key="$key" '{ sum += $1; if ($1 > most) most = $1 }
		END { print key == "cpu" ? sum : most }'
}
# compare NAME: what they took for perf.data.
compare() {
	for round in 1 2 3; do
		rm -rf session
		"$TESTBIN/cost" import.$round.cost "$BIN/opimport" -o session \
			perf.data 2>import.log || exit 1
		"$TESTBIN/cost" report.$round.cost "$BIN/opreport" \
			--session-dir=session -l >ours 2>report.log || exit 1
		"$TESTBIN/cost" perf.$round.cost perf report -i perf.data \
			--stdio >theirs 2>perf.log || exit 1
	done
	printf '%-15s %9s %6s %7s %7s %7s %9s %9s\n' "$1" \
		"$(sed -n 's/^opimport: \([0-9]*\) samples = .*/\1/p' import.log)" \
		"$(($(stat -c %s perf.data) / 1000000))" \
		"$(cost cpu import)" "$(cost cpu report)" "$(cost cpu perf)" \
		"$(cost memory import report)" "$(cost memory perf)"
	bench_row "opimport and opreport: $1" s "$(cost cpu import report)" \
		'perf report' "$(cost cpu perf)" '<=0.25x'
	bench_row "opimport and opreport: $1, memory" KB \
		"$(cost memory import report)" 'perf report' \
		"$(cost memory perf)" '<=0.1x'
}

printf '%-15s %9s %6s %7s %7s %7s %9s %9s\n' recording samples MB import report \
	perf 'ours KB' 'perf KB'
record 10000 "$seconds"
compare flat
record 10000 "$seconds" --call-graph fp
compare 'frame pointers'
record 2000 $((seconds / 3)) --call-graph dwarf
compare 'copied stacks'
echo "CPU seconds; memory at most of the two"
test_finished=yes
