#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Another module provides the samples: known ones, which come out exactly, and
# real NMIs, at any instruction and over the interrupts of everybody else.
# timeout: 600
# vm-smp: 2
# vm-check: 6.12
. "$(dirname "$0")/../../t/lib.sh"
. "$(dirname "$0")/../lib.sh"

PROVIDER=$O/module/$(uname -r)/test/op_test_provider.ko

# place NAME COLUMN: samples of a function in the report's column.
place() {
	awk -v name="$1" -v at="$2" '$NF == name { n += $at } END { print n + 0 }' \
		"$TMP/report"
}

# ---- known samples

ok "init" "$BIN/opcontrol" --init
ok "load" insmod "$PROVIDER" nr_a=300 nr_b=100
is "the CPU type is the provider's" "$(cat /dev/oprofile/cpu_type)" test
exits "one provider at a time" 1 insmod "$PROVIDER"
"$BIN/oprofiled" --session-dir="$SESSION" \
	--events=TEST_A:1:0:1000:0:1:1,TEST_B:2:1:2000:0:1:1
SOCKET=$SESSION/run/control
ok "start" "$TESTBIN/control" "$SOCKET" start
ok "stop" "$TESTBIN/control" "$SOCKET" stop
exits "this provider has no rate" 1 \
	sh -c 'echo 2 >/dev/oprofile/rate_divisor'
ok "but its full one" sh -c 'echo 1 >/dev/oprofile/rate_divisor'
ok "taken = stored + lost" sums_up
is "taken" "$(ledger taken)" 400
report -l
sed 's/^/# /' "$TMP/report"
is "place a, first event" "$(place op_test_place_a 1)" 300
is "place b, second event" "$(awk '$NF == "op_test_place_b" { print $3 }' \
	"$TMP/report")" 100
ok "shutdown" "$TESTBIN/control" "$SOCKET" shutdown
ok "unload" rmmod op_test_provider
ok "deinit" "$BIN/opcontrol" --deinit

# ---- NMIs

ok "init again" "$BIN/opcontrol" --init
ok "load for NMIs" insmod "$PROVIDER" mode=nmi rate=2000
ok "start under NMIs" start --separate=lib,kernel
ok "fewer of them" sh -c 'echo 4 >/dev/oprofile/rate_divisor'
"$TESTBIN/forkstorm" "$(by_tier 50 150)" 3 >"$TMP/truth"
ok "all of them" sh -c 'echo 1 >/dev/oprofile/rate_divisor'
"$TESTBIN/storm" "$(by_tier 3 10)" >/dev/null 2>&1
# A guest that has to wait for its host gets fewer of them.
until [ "$(nmis)" -gt 2000 ]; do "$TESTBIN/storm" 2 >/dev/null 2>&1; done
ok "stop" stop
diag "$(nmis) NMIs"
is "each NMI was a sample, or several" "$(module_stat sample_received)" "$(nmis)"
ok "taken = stored + lost" sums_up
grep lost "$SESSION/samples/current/ledger" | sed 's/^/# /'
report -l
head -12 "$TMP/report" | sed 's/^/# /'
whole=$(total)
nameless=$(awk '/no symbols| anon| \/[^ ]*$/ && !/ vmlinux / { n += $1 } END { print n + 0 }' \
	"$TMP/report")
share=$(percent $((whole - nameless)) $((whole + $(ledger lost))))
ok "$share % of all are in their image" at_least "$share" 98
# A timer's interrupt never falls into these.
ok "code that runs with interrupts off is seen where it is" grep -qE \
	'(native_queued_spin_lock_slowpath|_raw_spin_lock|hrtimer_interrupt|sysvec_apic_timer_interrupt|entry_SYSCALL_64|asm_exc_page_fault|clear_page_erms|native_flush_tlb)' \
	"$TMP/report"
ok "unloading it stops sampling" rmmod op_test_provider
is "it is off" "$(cat /dev/oprofile/enable)" 0
end_profiler
done_testing
