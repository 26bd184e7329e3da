#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# More events than the counters of real hardware, as far as that is emulated: the
# cycles of a program, counted beside eight other events by operf and by the
# module, agree with those of a run of their own. The interval of 95 % that a
# report states is taken twice as wide, which misses in one of 10,000 cases.
# timeout: 600
# vm-arch: arm64
# vm-icount: yes
# vm-check: 6.12-arm64
. "$(dirname "$0")/../../t/lib.sh"
. "$(dirname "$0")/../lib.sh"

ROUNDS=$(by_tier 300 600)
CYCLES=CPU_CYCLES:100000:0:0:1

# The emulated machine is slow, which the kernel takes for our fault.
sysctl -q -w kernel.perf_event_max_sample_rate=100000
sysctl -q -w kernel.perf_cpu_time_max_percent=0

# head_of SESSION: samples of cycles in the program, and their interval.
head_of() {
	"$BIN/opreport" --session-dir="$1" image:"$TESTBIN/insns" \
		event:CPU_CYCLES 2>/dev/null | tee "$TMP/report" |
		sed -n 's/^CPU_CYCLES was .*; \([0-9]*\) samples in all, 95 % interval \([0-9]*\) to \([0-9]*\)$/\1 \2 \3/p'
}

# agree WHO SESSION
agree() {
	told=$(head_of "$2")
	like "$1: cycles had a counter for a part of the time" \
		"$(cat "$TMP/report")" '^CPU_CYCLES was counted [3-8][0-9]\.'
	ok "$1: $alone samples alone agree with $told" awk -v n="$alone" \
		-v told="$told" 'BEGIN {
			split(told, at, " ")
			exit !(at[1] && n >= at[1] - 2 * (at[1] - at[2]) &&
				n <= at[1] + 2 * (at[3] - at[1]))
		}'
}

ok "cycles alone" "$BIN/operf" -q --session-dir="$TMP/alone" -e $CYCLES \
	"$TESTBIN/insns" "$ROUNDS"
head_of "$TMP/alone" >"$TMP/none"
is "are not scaled" "$(cat "$TMP/none")" ""
alone=$(awk '$NF == "insns" { print $1 }' "$TMP/report")

events=$CYCLES
for event in INST_RETIRED SW_INCR L1I_CACHE_REFILL L1I_TLB_REFILL \
	L1D_CACHE_REFILL L1D_CACHE L1D_TLB_REFILL LD_RETIRED; do
	events=$events,$event:1000000:0:0:1
done
"$BIN/operf" --session-dir="$TMP/shared" -e "$events" \
	"$TESTBIN/insns" "$ROUNDS" >"$TMP/truth" 2>"$TMP/err"
is "operf" $? 0
like "operf says that events take turns" "$(cat "$TMP/err")" \
	'^operf: more events than the CPU has counters for: they take turns'
agree operf "$TMP/shared"

ok "the module" start "--event=$events"
"$TESTBIN/insns" "$ROUNDS" >"$TMP/truth"
ok "stop" stop
ok "taken = stored + lost" sums_up
agree "the module" "$SESSION"
diag "$(cat /dev/oprofile/stats/multiplex_counter) turns"
end_profiler
done_testing
