#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Events that take turns: 8 events of one program, which all count the same, on 2
# and 4 counters. Each event's total agrees with what one event has alone, as far
# as its interval says: a 95 % interval that is twice as wide misses that in one of
# 10,000 cases. The emulated PC has no counters, so the module is told how many
# events count at a time, and these are software clocks, which need none.
# timeout: 600
# vm-smp: 1
# vm-icount: yes
# vm-check: 6.1 6.12
. "$(dirname "$0")/../../t/lib.sh"
. "$(dirname "$0")/../lib.sh"

MODULE=$O/module/$(uname -r)/oprofile.ko
FS=/dev/oprofile
ROUNDS=$(by_tier 300 600)
SOCKET=$SESSION/run/control
# How far from its share of the time an event may be, in points: the task that
# switches events waits for its turn. What is counted is scaled by the time, so
# that totals agree whatever the shares are, which is what matters.
apart=15

# The emulated machine is slow, which the kernel takes for our fault.
sysctl -q -w kernel.perf_event_max_sample_rate=100000
sysctl -q -w kernel.perf_cpu_time_max_percent=0

# load COUNTERS: the module with so many.
load() {
	"$BIN/opcontrol" --deinit >/dev/null 2>&1
	insmod "$MODULE" counters="$1" && "$BIN/opcontrol" --init &&
		echo 1 >"$FS/pmu_types"
}

# profile NR: one run of the program under NR clocks, which tick a little
# differently so that each has sample files of its own.
profile() {
	rm -rf "$SESSION"
	events=
	for i in 0 1 2 3 4 5 6 7; do
		count=$((1000000 + i))
		echo $((i < $1)) >"$FS/$i/enabled"
		echo 0 >"$FS/$i/event" # PERF_COUNT_SW_CPU_CLOCK
		echo $count >"$FS/$i/count"
		echo 1 >"$FS/$i/kernel"
		echo 1 >"$FS/$i/user"
		[ "$i" -lt "$1" ] && events=$events,CLOCK:0:$i:$count:0:1:1
	done
	"$BIN/oprofiled" --session-dir="$SESSION" --events="${events#,}"
	ok "$1 events: start" "$TESTBIN/control" "$SOCKET" start
	"$TESTBIN/insns" "$ROUNDS" >"$TMP/truth"
	ok "$1 events: stop" "$TESTBIN/control" "$SOCKET" stop
	ok "$1 events: taken = stored + lost" sums_up
	turns=$(module_stat multiplex_counter)
	"$TESTBIN/control" "$SOCKET" shutdown >/dev/null
	"$BIN/opreport" --session-dir="$SESSION" --json \
		image:"$TESTBIN/insns" >"$TMP/json" 2>"$TMP/err"
	"$BIN/opreport" --session-dir="$SESSION" image:"$TESTBIN/insns" \
		2>/dev/null | sed -n 's/^CLOCK was/# &/p'
}

# number KEY COUNT: of the event with this count.
number() {
	sed -n "s/.*\"count\": $2,.*\"$1\": \\[*\\([0-9., ]*\\).*/\\1/p" \
		"$TMP/json" | tr -d ','
}

ok "load" load 2
is "there is a folder for each event" "$(cd $FS && echo [0-9]* | wc -w)" 32
is "a slice" "$(cat $FS/time_slice)" 4
exits "no slice" 1 sh -c "echo 0 >$FS/time_slice"
exits "too long a slice" 1 sh -c "echo 1001 >$FS/time_slice"
profile 1
alone=$(number samples 1000000 | tr -d ' ')
is "one event takes no turns" "$turns" 0
diag "alone: $alone samples of insns"
unlike "and is not scaled" "$(cat "$TMP/json")" scale

for counters in 2 4; do
	[ $counters = 2 ] || ok "load for $counters" load $counters
	profile 8
	ok "$turns turns" [ "$turns" -gt 10 ]
	for count in 1000000 1000001 1000002 1000003 1000004 1000005 1000006 1000007; do
		interval=$(number samples_interval $count)
		percent=$(number time_counted_percent $count | tr -d ' ')
		ok "$counters counters: counted $percent % of the time" \
			near "$percent" $((100 * counters / 8)) $apart
		shared=$(number samples $count | tr -d ' ')
		ok "$alone agree with $shared, from $interval" awk -v n="$alone" \
			-v s="$shared" -v at="$interval" 'BEGIN {
				split(at, i, " ")
				exit !(s - 2 * (s - i[1]) <= n && n <= s + 2 * (i[2] - s))
			}'
	done
done

# CPUs, dumps and other readers do not disturb the turns.
echo 1 >$FS/time_slice
profile 8
ok "shorter slices, more turns: $turns" [ "$turns" -gt 20 ]
"$BIN/opcontrol" --reset >/dev/null 2>&1

# Events of software are told where they happen, under any lock: but for the clocks
# none is taken. Those here are page faults, context switches, alignment faults.
ok "load for others" load 1
exec 5<"$FS/buffer"
for event in 0 2 3 7; do
	echo $event >"$FS/0/event"
	echo 100000 >"$FS/0/count"
	for file in enabled kernel user; do
		echo 1 >"$FS/0/$file"
	done
	status=0
	sh -c "echo 1 >$FS/enable" 2>"$TMP/err" || status=$?
	is "software event $event: $(cat "$TMP/err")" $status $((event > 0))
	echo 0 >"$FS/enable"
done
exec 5<&-
ok "deinit" "$BIN/opcontrol" --deinit
ok "no complaint from the kernel" kernel_is_content
done_testing
