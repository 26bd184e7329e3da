#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Code that programs and the kernel make at run time has names with the module,
# which tells of addresses only: by a perf map, by a jitdump, and BPF programs
# that were loaded before and after the start. So has the code of modules that
# the kernel drops as soon as it has run.
# timeout: 600
# vm-smp: 2
. "$(dirname "$0")/../../t/lib.sh"
. "$(dirname "$0")/../lib.sh"

# Samples that the CPU of the program has taken.
received() {
	cat /dev/oprofile/stats/cpu0/sample_received
}

has_received() {
	[ "$(received)" -ge "$1" ]
}

# jit HOW: at least 95 % of the samples in code that a program makes have a
# name, and each of its two phases has a fifth. Both are as long in samples, and
# not in time, as a busy host may not run the guest for a while; what comes while
# the daemon writes is counted to a phase as well. The module's
# samples have no times, so what the daemon has not read at the change would be
# given to the other phase (doc/jit.md): it stores all before that.
jit() {
	ok "$1: start" start --separate=lib
	: >"$TMP/truth"
	JITDUMPDIR=$TMP taskset -c 0 "$TESTBIN/jitcode" "$1" 2 - <&4 \
		>"$TMP/truth" &
	work=$!
	await line "$TMP/truth" '^[0-9]'
	for phase in 1 2; do
		wait_until "$1: samples of phase $phase" \
			has_received $(($(received) + 2500))
		ok "$1: dump $phase" "$BIN/opcontrol" --dump
		echo >&4
	done
	wait "$work"
	ok "$1: shutdown" "$BIN/opcontrol" --shutdown
	ok "$1: taken = stored + lost" sums_up
	report -l image:"$TESTBIN/jitcode" --format=csv
	pid=$(cat "$TMP/truth")
	awk -F , -v jo="/$pid.jo" '
		$5 == jo || $5 ~ /^anon/ { all += $10 }
		$5 == jo && $6 ~ /^phase_/ { named += $10; phase[$6] += $10 }
		END { print all + 0, named + 0, phase["phase_1"] + 0,
			phase["phase_2"] + 0 }' "$TMP/report" >"$TMP/sums"
	read -r all named one two <"$TMP/sums"
	sort -t , -k 10,10 -rn "$TMP/report" | head -n 8 | sed 's/^/# /'
	ok "$1: $named of $all samples have a name" \
		[ "$all" -gt 100 -a $((named * 100)) -ge $((all * 95)) ]
	ok "$1: of these $one and $two are of the phases" \
		[ $((one * 5)) -ge "$named" -a $((two * 5)) -ge "$named" ]
}

mkfifo "$TMP/phases"
exec 4<>"$TMP/phases"
jit map
jit agent

# bpf NAME: most samples of the program that runs it are in the BPF program.
bpf() {
	report -l image:"$TESTBIN/bpfwork" --format=csv
	awk -F , -v name="$(cat "$TMP/$1")" '$2 == "symbol" { all += $10 }
		$6 == name { part += $10 }
		END { print part + 0, all + 0 }' "$TMP/report" >"$TMP/sums"
	read -r part all <"$TMP/sums"
	sort -t , -k 10,10 -rn "$TMP/report" | head -n 8 | sed 's/^/# /'
	ok "$1: $part of $all samples are those of $(cat "$TMP/$1")" \
		[ "$all" -gt 100 -a $((part * 100)) -ge $((all * 70)) ]
}

# Programs that are there at the start, and such that come later.
bpf_programs() {
	mkfifo "$TMP/go"
	exec 3<>"$TMP/go"
	"$TESTBIN/bpfwork" early 2 <&3 >"$TMP/early" &
	work=$!
	await line "$TMP/early" bpf_prog
	ok "start" start --separate=lib,kernel
	echo >&3
	wait "$work"
	ok "dump" "$BIN/opcontrol" --dump
	bpf early
	ok "reset" "$BIN/opcontrol" --reset
	"$TESTBIN/bpfwork" late 4 </dev/null >"$TMP/late"
	ok "stop" stop
	ok "taken = stored + lost" sums_up
	bpf late
	# It may lie where the first one was.
	exits "no sample is given to the one that has gone" 1 \
		grep "$(cat "$TMP/early")" "$TMP/report"
	ok "shutdown" "$BIN/opcontrol" --shutdown
}

if "$TESTBIN/bpfwork" probe 0 </dev/null >"$TMP/probe" 2>&1; then
	bpf_programs
else
	skip "BPF programs" "$(cat "$TMP/probe")"
fi

# A module's functions that run while it is loaded, and one that stays.
test_module=$O/module/$(uname -r)/test/op_test_init.ko
ok "start again" start --separate=none
ok "load a module" insmod "$test_module" ms=500
ok "unload it" rmmod op_test_init
ok "stop again" stop
ok "taken = stored + lost again" sums_up
report -l -n image:op_test_init -p "${test_module%/*}"
sed 's/^/# /' "$TMP/report" "$TMP/report.err"
once=$(samples op_test_in_init)
stays=$(samples op_test_in_text)
ok "of $(total) samples $once are in its init function, $stays in another" \
	[ "$once" -gt 20 -a "$stays" -gt 20 -a \
	$((10 * (once + stays))) -ge $((9 * $(total))) ]
ok "half of them" [ $((3 * once)) -ge "$stays" -a $((3 * stays)) -ge "$once" ]
end_profiler
done_testing
