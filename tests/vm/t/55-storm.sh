#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Everything at once, for as long as there is time: processes, mappings, threads
# and libraries that come and go, mounts, CPUs that are taken away, garbage
# written to oprofilefs; and in it the profiler, started, dumped, stopped, killed
# and unloaded with settings of all kinds, sampling by the timer or by real NMIs,
# with stacks and without, and waits. The kernel has no complaint, and each account is whole.
# tier: all
# timeout: 1200
# vm-smp: 3
. "$(dirname "$0")/../../t/lib.sh"
. "$(dirname "$0")/../lib.sh"

FS=/dev/oprofile
CPU=/sys/devices/system/cpu
PROVIDER=$O/module/$(uname -r)/test/op_test_provider.ko
# Seconds: kernels that check themselves, and those for real time, are for this. With
# all that goes on they have not the time to unwind hundreds of stacks a second, and
# least where each access to memory may be a race.
case $VM_KERNEL in
*-kcsan) span=600 RATE=25 ;;
*-kasan | *-rt-*) span=600 RATE=100 ;;
*) span=$(by_tier 8 120) ;;
esac

at_exit() {
	rm -f "$TMP/go"
	# shellcheck disable=SC2086 # several
	[ -z "$loads" ] || kill $loads 2>/dev/null
	umount --lazy "$TMP/mount" 2>/dev/null
}

# ---- what goes on beside the profiler

# Each of these ends when the file $TMP/go does.
is_on() {
	[ -e "$TMP/go" ]
}

come_and_go() {
	while is_on; do "$TESTBIN/storm" 5; done
}

open_libraries() {
	while is_on; do
		"$TESTBIN/dlburn" 1 "$TESTBIN/libburn_a.so" "$TESTBIN/libburn_b.so"
	done
}

plug_cpus() {
	while is_on; do
		for cpu in 1 2; do
			echo 0 >"$CPU/cpu$cpu/online"
			echo 1 >"$CPU/cpu$cpu/online"
		done
	done
}

# A program runs from a file system that is gone soon after it.
mount_and_run() {
	mkdir -p "$TMP/mount"
	while is_on; do
		mount -t tmpfs tmpfs "$TMP/mount"
		cp "$TESTBIN/burnmix" "$TMP/mount/burnmix"
		"$TMP/mount/burnmix" 0.1
		umount "$TMP/mount" || umount --lazy "$TMP/mount"
	done
}

# What is written is no setting at all, so the profiler's own stay.
write_garbage() {
	head -c 5000 /dev/urandom >"$TMP/garbage"
	while is_on; do
		find "$FS" -type f ! -name buffer | while read -r file; do
			for word in '' abc -1 99999999999999999999; do
				echo "$word" >"$file"
			done
			cat "$TMP/garbage" >"$file"
			cat "$file"
		done
	done
}

# ---- the profiler

# settings N: of the N-th cycle.
settings() {
	case $(($1 % 6)) in
	0) echo --separate=lib,kernel ;;
	1) echo --callgraph=64 --separate=lib,kernel --event=timer,THREAD_WAIT:100000 ;;
	2) echo --cpu-buffer-size=16 --buffer-size=4096 --buffer-watershed=1024 ;;
	3) echo --callgraph=16 --callgraph-stack=16384 --separate=thread ;;
	4) echo --callgraph=64 --cpu-buffer-size=16 --buffer-size=4096 \
		--buffer-watershed=1024 --event=timer,THREAD_WAIT:1000000 ;;
	5) echo --separate=all --buffer-size=1048576 ;;
	esac
}

# cycle N: from loading to unloading; every fourth one is killed.
cycle() {
	nmi=$(($1 % 2))
	"$BIN/opcontrol" --init || return
	[ "$nmi" = 0 ] || insmod "$PROVIDER" mode=nmi rate=$RATE || return
	# shellcheck disable=SC2046 # several words
	start $(settings "$1") || return
	"$TESTBIN/burnmix" 1 >/dev/null
	"$BIN/opcontrol" --dump || return
	if [ $(($1 % 4)) = 3 ]; then
		daemon=$(daemon_pid)
		kill -9 "$daemon" && await end "$daemon" || return
	else
		stop && sums_up && taken=$((taken + $(ledger taken))) || return
	fi
	[ "$nmi" = 0 ] || rmmod op_test_provider || return
	# Not while write_garbage has one of the files open.
	wait_until "oprofilefs can be unmounted" "$BIN/opcontrol" --deinit
}

: >"$TMP/go"
loads=
for load in come_and_go open_libraries plug_cpus mount_and_run write_garbage; do
	$load >"$TMP/$load" 2>&1 &
	loads="$loads $!"
done
taken=0
cycles=0
end=$(($(cut -d. -f1 /proc/uptime) + span))
while [ "$(cut -d. -f1 /proc/uptime)" -lt $end ]; do
	cycle $cycles >"$TMP/cycle" 2>&1 || {
		test_result "cycle $cycles: $(settings $cycles)" 1
		sed 's/^/# /' "$TMP/cycle"
		break
	}
	cycles=$((cycles + 1))
done
ok "$cycles cycles in $span s, $taken samples taken, each stored or counted as lost" \
	[ $cycles -gt 0 ]
rm "$TMP/go"
# shellcheck disable=SC2086 # several
wait $loads
ok "CPUs are back" [ "$(nproc)" = 3 ]
ok "no complaint from the kernel" kernel_is_content
done_testing
