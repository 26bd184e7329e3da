#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# perf_events on a stock kernel instead of the module: the same daemon and
# reports, and CPUs that come and go under load.
# timeout: 600
# vm-smp: 2
# vm-debug: none: perf_events samples there, not the module
. "$(dirname "$0")/../../t/lib.sh"
. "$(dirname "$0")/../lib.sh"

no_module() {
	! grep -q '^oprofile ' /proc/modules
}

# from_cpu N: samples of CPU N in the current session, in the report's words.
from_cpu() {
	report -l cpu:"$1" && total
}

# nr_events: how many the daemon has open.
nr_events() {
	find "/proc/$daemon/fd" -lname '*perf_event*' | wc -l
}

has_fewer_events() {
	[ "$(nr_events)" -lt "$all" ]
}
has_all_events() {
	[ "$(nr_events)" -eq "$all" ]
}

# The daemon looks once a second which CPUs there are.
ok "start" start --source=perf --separate=lib,kernel,cpu
ok "no module is loaded" no_module
daemon=$(daemon_pid)
all=$(nr_events)
"$TESTBIN/forkstorm" "$(by_tier 20 200)" 3 >"$TMP/truth"
replugs=$(by_tier 1 3)
for _ in $(seq "$replugs"); do
	echo 0 >/sys/devices/system/cpu/cpu1/online
	"$TESTBIN/forkstorm" 20 3 >>"$TMP/truth"
	wait_until "the daemon closes its events" has_fewer_events
	echo 1 >/sys/devices/system/cpu/cpu1/online
	"$TESTBIN/forkstorm" "$(by_tier 20 100)" 3 >>"$TMP/truth"
	wait_until "the daemon opens them again" has_all_events
done
sed 's/^/# /' "$TMP/truth"
# In a suspend nobody sees that they go.
kill -STOP "$daemon"
echo 0 >/sys/devices/system/cpu/cpu1/online
echo 1 >/sys/devices/system/cpu/cpu1/online
kill -CONT "$daemon"
ok "reset" "$BIN/opcontrol" --reset
until [ "$(from_cpu 1)" -gt 0 ]; do
	"$TESTBIN/forkstorm" 20 3 >>"$TMP/truth"
	"$BIN/opcontrol" --dump
done
ok "reset" "$BIN/opcontrol" --reset
"$TESTBIN/forkstorm" "$(by_tier 60 100)" 3 >"$TMP/truth"
ok "stop" stop
ok "taken = stored + lost" sums_up
ok "symbols of what was sampled are kept" \
	[ -n "$(find "$SESSION/store" -type f)" ]
both=$(($(from_cpu 0) + $(from_cpu 1)))
ok "a CPU that came back is sampled again" [ "$(from_cpu 1)" -gt $((both / 5)) ]

report -l image:"$TESTBIN/forkstorm"
head -12 "$TMP/report" | sed 's/^/# /'
whole=$(total)
named=$(awk '/no symbols| anon| \/[^ ]*$|vmlinux/ { next } $1 + 0 { n += $1 } END { print n }' \
	"$TMP/report")
kernel=$(awk '/ vmlinux / { n += $1 } END { print n + 0 }' "$TMP/report")
share=$(percent "$named" $((whole - kernel + $(ledger lost))))
ok "$share % of the user samples are in their image" at_least "$share" 99
ok "shutdown" "$BIN/opcontrol" --shutdown
is "CPUs that went and came" \
	"$(sed -n 's/^Nr. cpu_replug: //p' "$SESSION/samples/oprofiled.log" |
		tail -n 1)" $((2 * replugs + 1))
ok "no complaint from the kernel" kernel_is_content
done_testing
