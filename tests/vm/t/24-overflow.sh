#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Buffers that are too small for what comes, and a daemon that is stopped, killed and
# started anew meanwhile: each sample is stored or counted as lost, to the last one.
# tier: all
# timeout: 900
# vm-smp: 2
. "$(dirname "$0")/../../t/lib.sh"
. "$(dirname "$0")/../lib.sh"

PROVIDER=$O/module/$(uname -r)/test/op_test_provider.ko
SOCKET=$SESSION/run/control

# overflowed: samples that found the buffer of their CPU, or that of all, full.
overflowed() {
	echo $(($(module_stat sample_lost_overflow) + $(module_stat event_lost_overflow)))
}

# of_event NAME: samples of that event in the report, which may have none.
of_event() {
	report -l "event:$1"
	total
}

# ---- more than a CPU's buffer takes, in one interrupt

# The other CPU would empty it meanwhile, where samples take long.
ok "one CPU" sh -c 'echo 0 >/sys/devices/system/cpu/cpu1/online'
ok "init" "$BIN/opcontrol" --init
ok "small buffers" sh -c 'echo 1024 >/dev/oprofile/cpu_buffer_size'
ok "load" insmod "$PROVIDER" nr_a=50000 nr_b=70
"$BIN/oprofiled" --session-dir="$SESSION" \
	--events=TEST_A:1:0:1000:0:1:1,TEST_B:2:1:2000:0:1:1
ok "start" "$TESTBIN/control" "$SOCKET" start
ok "stop" "$TESTBIN/control" "$SOCKET" stop
ok "taken = stored + lost" sums_up
is "every sample was taken" "$(ledger taken)" 50070
ok "some were lost" [ "$(ledger lost)" -gt 10000 ]
is "as the module says" "$(ledger lost)" "$(overflowed)"
is "the others are in their files" $(($(of_event TEST_A) + $(of_event TEST_B))) \
	"$(ledger stored)"
ok "shutdown" "$TESTBIN/control" "$SOCKET" shutdown
ok "unload" rmmod op_test_provider
ok "deinit" "$BIN/opcontrol" --deinit
ok "two CPUs" sh -c 'echo 1 >/sys/devices/system/cpu/cpu1/online'

# ---- nobody reads

# overflow: let the daemon stand still until samples are lost.
overflow() {
	daemon=$(daemon_pid)
	kill -STOP "$daemon"
	wait_until "samples are lost" lost_some
}
lost_some() {
	[ "$(overflowed)" -gt 100 ]
}
# is_whole WHAT: the account of what was taken since there were $before NMIs.
is_whole() {
	ok "$1: stop" stop
	sent=$(($(nmis) - before))
	diag "$sent NMIs"
	is "$1: each NMI was a sample" "$(module_stat sample_received)" $sent
	ok "$1: taken = stored + lost" sums_up
	ok "$1: some were lost" [ "$(ledger lost)" -gt 100 ]
	is "$1: the others are in their files" "$(report -l && total)" \
		"$(ledger stored)"
}

for options in --callgraph=0 --callgraph=64; do
	ok "init again" "$BIN/opcontrol" --init
	ok "load for NMIs" insmod "$PROVIDER" mode=nmi rate=1000
	before=0
	ok "start $options" start --cpu-buffer-size=64 --buffer-size=4096 \
		--buffer-watershed=1024 --separate=lib,kernel "$options"
	overflow
	kill -CONT "$daemon"
	is_whole "a daemon that stood still $options"
	is "and all of them are in the account" "$(ledger taken)" $sent
	stored=$(ledger stored)

	ok "start once more" "$BIN/opcontrol" --start
	overflow
	kill -9 "$daemon"
	await end "$daemon"
	is "the kernel stopped sampling" "$(cat /dev/oprofile/enable)" 0
	before=$(nmis)
	ok "start recovers" "$BIN/opcontrol" --start
	overflow
	kill -CONT "$daemon"
	is_whole "a daemon that was killed $options"
	ok "what was stored before is there" [ "$(ledger stored)" -gt "$stored" ]
	ok "shutdown" "$BIN/opcontrol" --shutdown
	ok "unload" rmmod op_test_provider
	ok "deinit" "$BIN/opcontrol" --deinit
done
ok "no complaint from the kernel" kernel_is_content
done_testing
