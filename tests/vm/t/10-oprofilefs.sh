#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The module's own promises, without the daemon.
# timeout: 600
# vm-smp: 2
. "$(dirname "$0")/../../t/lib.sh"
. "$(dirname "$0")/../lib.sh"

FS=/dev/oprofile

# get FILE: a number out of oprofilefs.
get() {
	cat "$FS/$1"
}

# put FILE VALUE
put() {
	echo "$2" 2>/dev/null >"$FS/$1"
}

# count NAME: a count that readbuf printed.
count() {
	sed -n "s/^$1 //p" "$TMP/out"
}

# Every sample that was taken was read or is counted as lost.
sums_up() {
	[ "$(count received)" -gt 0 ] &&
		[ "$(count received)" -eq $(($(count samples) + $(count lost))) ]
}

is_sampling() {
	[ "$(get enable)" = 1 ]
}

# burn CPU: half a second of work there.
burn() {
	taskset -c "$1" "$TESTBIN/burnmix" 0.5 >/dev/null
}

readbuf() {
	"$TESTBIN/readbuf" "$@" >"$TMP/out" || { cat "$TMP/out"; return 1; }
}

# busy CMD...: with a load of forks, mappings and system calls beside it.
busy() {
	(while :; do ls -l /usr/bin >/dev/null; done) &
	load=$!
	"$@"
	status=$?
	kill "$load"
	wait "$load" 2>/dev/null
	return "$status"
}

without_right() {
	setpriv --bounding-set=-sys_admin,-perfmon --inh-caps=-sys_admin,-perfmon "$@"
}

ok "nobody loads the module by mounting something" \
	not grep -q fs-oprofilefs "$O/module/$(uname -r)/oprofile.ko"
ok "the module loads" insmod "$O/module/$(uname -r)/oprofile.ko"
mkdir -p $FS
ok "oprofilefs mounts" mount -t oprofilefs none $FS
ok "and once more" mount -t oprofilefs none /mnt
ok "both show the same" [ "$(cat /mnt/buffer_size)" = "$(get buffer_size)" ]
umount /mnt
ok "a mount keeps the module" not rmmod oprofile

is "cpu_type" "$(get cpu_type)" timer
is "pointer_size" "$(get pointer_size)" 8
is "abi_version" "$(get abi_version)" 1
is "files that anyone may read" \
	"$(cd $FS && find . -type f -perm /077 | sort | tr '\n' ' ')" \
	"./abi_version ./cpu_type ./pointer_size "
ok "anyone reads cpu_type" as_user cat $FS/cpu_type
for file in buffer enable cookies stats/cpu0/sample_received; do
	ok "nobody else reads $file" not as_user cat $FS/$file
	ok "nor does root without CAP_PERFMON" not without_right cat $FS/$file
done
ok "which is enough" setpriv --bounding-set=-sys_admin --inh-caps=-sys_admin \
	cat $FS/enable

ok "no sampling without a reader" not put enable 1
for bad in 0 -1 abc 99999999999999999999 1023 999999999999; do
	ok "buffer_size is not $bad" not put buffer_size $bad
done
ok "rate is not 0" not put timer/rate 0
ok "rate is not 1000000" not put timer/rate 1000000
ok "enable is not 2" not put enable 2

put buffer_size 4096
put buffer_watershed 4096
ok "no room below the watershed" not readbuf 0.1
put buffer_watershed 1024

ok "the smallest reads give whole records" busy readbuf 2 320
ok "taken = read + lost" sums_up
is "both CPUs" "$(count cpus)" 2
ok "images were seen" [ "$(count cookies)" -gt 2 ]

ok "reading nothing until the end" busy readbuf 4 65536 idle
ok "loses what does not fit" [ "$(count lost)" -gt 0 ]
ok "taken = read + lost again" sums_up

put buffer_size 131072
put buffer_watershed 32768
put cpu_buffer_size 16
put timer/rate 10000
ok "small CPU buffers" busy readbuf 2
ok "taken = read + lost once more" sums_up
put cpu_buffer_size 8192
put timer/rate 1000

# ---- sizes at both ends, without stacks and with them

# largest FILE: the largest size that it takes, a power of two.
largest() {
	size=134217728
	until put "$1" $size; do size=$((size / 2)); done
	echo $size
}

# refused: the buffer cannot be opened for want of memory.
refused() {
	"$TESTBIN/readbuf" 0.1 >"$TMP/out" 2>&1
	[ $? -eq 2 ] && grep -q 'Cannot allocate memory' "$TMP/out"
}

memory=$(awk '/^MemTotal/ { print $2 * 1024 }' /proc/meminfo)
put buffer_watershed 512
for depth in 0 16; do
	put backtrace_depth $depth
	put buffer_size 1024
	put cpu_buffer_size 16
	ok "the smallest sizes, $depth callers" readbuf 0.2
	ok "taken = read + lost" sums_up
done
size=$(largest buffer_size)
ok "the event buffer's largest is $size words, at most half of the memory" \
	[ $((size * 8)) -le $((memory / 2)) ]
ok "with stacks that is too much" refused
put buffer_size 1024
size=$(largest cpu_buffer_size)
ok "the CPU buffers' largest is $size samples, at most half of the memory" \
	[ $((size * 64 * 2)) -le $((memory / 2)) ]
ok "with stacks that is too much, too" refused
ok "no process was ended for that" not grep -qi 'out of memory' <<-EOF
	$(dmesg)
EOF
put backtrace_depth 0
put cpu_buffer_size 8192
put buffer_size 131072
put buffer_watershed 32768

"$TESTBIN/readbuf" 1000 >"$TMP/out" &
reader=$!
wait_until "the reader samples" is_sampling
ok "one reader at a time" not cat $FS/buffer
ok "sizes are fixed while the buffer is open" not put buffer_size 8192
ok "the rate is fixed while sampling" not put timer/rate 10
ok "a CPU goes away" sh -c 'echo 0 >/sys/devices/system/cpu/cpu1/online'
burn 0
ok "and comes back" sh -c 'echo 1 >/sys/devices/system/cpu/cpu1/online'
burn 1
kill -TERM $reader
ok "the reader ends well" wait $reader
ok "taken = read + lost after that" sums_up
is "both CPUs again" "$(count cpus)" 2

"$TESTBIN/readbuf" 1000 >/dev/null &
reader=$!
wait_until "the reader samples" is_sampling
kill -9 $reader
wait $reader 2>/dev/null
is "ends with its reader" "$(get enable)" 0

ok "unmount" umount $FS
ok "unload" rmmod oprofile
ok "no complaint from the kernel" kernel_is_content
done_testing
