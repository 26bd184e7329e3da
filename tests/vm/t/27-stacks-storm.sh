#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Stacks are taken while everything changes: programs, mappings, threads, CPUs;
# by interrupts, and by NMIs over them. No sample is lost without being counted,
# and none because of its stack.
# timeout: 900
# vm-smp: 3
. "$(dirname "$0")/../../t/lib.sh"
. "$(dirname "$0")/../lib.sh"

FS=/dev/oprofile
CPU=/sys/devices/system/cpu
PROVIDER=$O/module/$(uname -r)/test/op_test_provider.ko

# backtraces: what became of the stacks.
backtraces() {
	for name in received frames stacks deep broken busy aborted; do
		case $name in
		received) echo "sample_received $(module_stat sample_received)" ;;
		*) echo "backtrace_$name $(module_stat backtrace_$name)" ;;
		esac
	done
}

# storm SECONDS: with two CPUs that come and go.
storm() {
	"$TESTBIN/storm" "$1" >"$TMP/storm" 2>&1 &
	storm=$!
	while kill -0 "$storm" 2>/dev/null; do
		for cpu in 1 2; do
			echo 0 >"$CPU/cpu$cpu/online"
			echo 1 >"$CPU/cpu$cpu/online"
		done
	done
	wait "$storm"
}

ok "start" start --separate=lib,kernel --callgraph=64
is "a depth of 64" "$(cat $FS/backtrace_depth)" 64
ok "a storm" storm "$(by_tier 4 8)"
ok "stop" stop
backtraces | sed 's/^/# /'
ok "taken = stored + lost" sums_up
grep lost "$SESSION/samples/current/ledger" | sed 's/^/# /'
ok "parts of user stacks were taken" [ "$(module_stat backtrace_stacks)" -gt 100 ]
ok "callers were found" [ "$(module_stat backtrace_frames)" -gt 1000 ]
ok "shutdown" "$BIN/opcontrol" --shutdown

# ---- small buffers: stacks go first

ok "start with small buffers" start --callgraph=64 --cpu-buffer-size=16 \
	--buffer-size=4096 --buffer-watershed=1024
"$TESTBIN/storm" 3 >/dev/null 2>&1
ok "stop" stop
backtraces | sed 's/^/# /'
ok "taken = stored + lost" sums_up
ok "stacks that found no room are counted" [ "$(module_stat backtrace_aborted)" -gt 0 ]
ok "shutdown" "$BIN/opcontrol" --shutdown

# ---- killed in the middle

ok "start once more" start --callgraph=64 --callgraph-stack=1024
is "with less of each stack" "$(cat $FS/backtrace_stack)" 1024
"$TESTBIN/storm" 3 >/dev/null 2>&1 &
has_sampled() {
	[ "$(module_stat sample_received)" -gt 500 ]
}
wait_until "500 samples" has_sampled
daemon=$(daemon_pid)
kill -9 "$daemon"
await end "$daemon"
wait
is "sampling ends with the daemon" "$(cat $FS/enable)" 0
ok "deinit" "$BIN/opcontrol" --deinit

# ---- NMIs

ok "init" "$BIN/opcontrol" --init
# Real counters that take too much of a CPU's time are throttled, these are not.
ok "load for NMIs" insmod "$PROVIDER" mode=nmi rate="$(by_kernel 1000 100)"
ok "start under NMIs" start --separate=lib,kernel --callgraph=64 \
	--callgraph-stack=16384
is "with as much as without the option" "$(cat $FS/backtrace_stack)" 16384
# How many NMIs come in user mode is the kernel's affair.
storms=0
while
	"$TESTBIN/storm" "$(by_tier 3 6)" >/dev/null 2>&1
	[ $((storms += 1)) -lt 10 ] && [ "$(module_stat backtrace_stacks)" -le 100 ]
do :; done
ok "stop" stop
backtraces | sed 's/^/# /'
ok "taken = stored + lost" sums_up
ok "callers were found in NMIs" [ "$(module_stat backtrace_frames)" -gt 1000 ]
ok "parts of user stacks behind them" [ "$(module_stat backtrace_stacks)" -gt 100 ]
ok "unloading it stops sampling" rmmod op_test_provider
end_profiler
done_testing
