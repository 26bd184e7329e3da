#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Events that take turns, on a CPU that goes offline and comes back while their
# times are read: nothing waits for ever, and every sample is stored or lost for
# a reason.
# vm-smp: 2
# vm-check: 6.1
. "$(dirname "$0")/../../t/lib.sh"
. "$(dirname "$0")/../lib.sh"

FS=/dev/oprofile
SOCKET=$SESSION/run/control
CPU=/sys/devices/system/cpu/cpu1/online

sysctl -q -w kernel.perf_event_max_sample_rate=100000
sysctl -q -w kernel.perf_cpu_time_max_percent=0
ok "load" insmod "$O/module/$(uname -r)/oprofile.ko" counters=2
ok "mount" "$BIN/opcontrol" --init
echo 1 >$FS/pmu_types # of software: the emulated PC has no counters
for i in 0 1 2 3 4 5 6 7; do
	echo 0 >$FS/$i/event # PERF_COUNT_SW_CPU_CLOCK
	echo $((1000000 + i)) >$FS/$i/count
	for what in enabled kernel user; do echo 1 >$FS/$i/$what; done
	events=${events:+$events,}CLOCK:0:$i:$((1000000 + i)):0:1:1
done
ok "the daemon" "$BIN/oprofiled" --session-dir="$SESSION" --events="$events"
ok "start" "$TESTBIN/control" "$SOCKET" start
"$TESTBIN/burnmix" 100 >/dev/null &
burner=$!
while :; do cat $FS/*/time_enabled >/dev/null; done &
reader=$!
# shellcheck disable=SC2317 # lib.sh calls it
at_exit() {
	kill "$burner" "$reader" 2>/dev/null
}
for round in 1 2 3 4 5; do
	ok "round $round: offline" sh -c "echo 0 >$CPU"
	ok "round $round: online" sh -c "echo 1 >$CPU"
	ok "round $round: dump" "$TESTBIN/control" "$SOCKET" dump
done
kill "$reader"
ok "turns were taken" [ "$(cat $FS/stats/multiplex_counter)" -gt 0 ]
ok "stop" "$TESTBIN/control" "$SOCKET" stop
ok "taken = stored + lost" sums_up
"$TESTBIN/control" "$SOCKET" shutdown >/dev/null
"$BIN/opcontrol" --reset >/dev/null 2>&1
ok "deinit" "$BIN/opcontrol" --deinit
ok "no complaint from the kernel" kernel_is_content
done_testing
