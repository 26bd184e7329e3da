#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# CPUs that go offline and come back while a hardware counter samples them:
# every sample is stored or lost for a reason.
# tier: all
# timeout: 900
# vm-arch: arm64
# vm-smp: 2
. "$(dirname "$0")/../../t/lib.sh"
. "$(dirname "$0")/../lib.sh"

# The emulated machine is slow, which the kernel takes for our fault.
sysctl -q -w kernel.perf_event_max_sample_rate=100000
sysctl -q -w kernel.perf_cpu_time_max_percent=0

ok "start" start --separate=lib,kernel,cpu --event=CPU_CYCLES:1000000
"$TESTBIN/storm" 1000 >/dev/null 2>&1 &
storm=$!
at_exit() {
	kill "$storm" 2>/dev/null
}
for i in $(seq 20); do
	echo 0 >/sys/devices/system/cpu/cpu1/online || break
	echo 1 >/sys/devices/system/cpu/cpu1/online || break
done
is "rounds" "$i" 20
ok "reset" "$BIN/opcontrol" --reset
"$TESTBIN/forkstorm" 50 3 >"$TMP/truth"
ok "stop" stop
kill "$storm"
wait "$storm" 2>/dev/null
ok "taken = stored + lost" sums_up
grep lost "$SESSION/samples/current/ledger" | sed 's/^/# /'
report -l cpu:1
ok "a CPU that came back is sampled again" [ "$(total)" -gt 100 ]
is "counters that could not be had again" \
	"$(cat /dev/oprofile/stats/cpu*/counter_failed |
		awk '{ n += $1 } END { print n + 0 }')" 0
end_profiler
done_testing
