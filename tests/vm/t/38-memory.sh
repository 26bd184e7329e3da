#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Stacks and names of code that is in memory and not in a mapping of its file:
# the module and perf_events give the same.
# timeout: 600
# vm-smp: 2
# vm-check: 6.1
. "$(dirname "$0")/../../t/lib.sh"
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../../t/elsewhere.sh"

mkfifo "$TMP/go"
exec 4<>"$TMP/go"
span=$(by_kernel 1 4) # seconds

for source in module perf; do
	ok "$source: start" start --source=$source --separate=lib,kernel \
		--callgraph=128
	for mode in plain copied part memfd; do
		[ $mode = plain ] || ok "$source: reset" "$BIN/opcontrol" --reset
		: >"$TMP/out"
		"$TESTBIN/elsewhere" $mode "$span" <&4 >"$TMP/out" &
		await line "$TMP/out" 'done'
		ok "$source: dump" "$BIN/opcontrol" --dump
		echo >&4
		app=elsewhere
		[ $mode = memfd ] && app=memfd:elsewhere
		known_tree "$source, $mode" $app
	done
	ok "$source: stop" stop
	ok "$source: taken = stored + lost" sums_up
	end_profiler
done
ok "no complaint from the kernel" kernel_is_content
done_testing
