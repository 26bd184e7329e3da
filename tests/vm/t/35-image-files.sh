#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Files that do not let themselves be read delay nobody but themselves, and
# programs that delete themselves have names all the same.
# timeout: 1200
# vm-smp: 2
# vm-check: 6.1
. "$(dirname "$0")/../../t/lib.sh"
. "$(dirname "$0")/../lib.sh"

at_exit() {
	# Nothing answers there any more, so the mount would keep its folder.
	umount --lazy "$TMP/mnt" "$TMP/stack" 2>/dev/null
}

NR_JOBS=$(by_tier 50 200)
NR_MANY=1300 # more than the module keeps at a time

# hang CMD...: code in a file that does not let itself be read, until let_go. Fails
# with the command's status where there can be no such code.
hang() {
	: >"$TMP/hang"
	{
		"$@"
		echo "status $?"
	} >"$TMP/hang" 2>&1 &
	hanging=$!
	await line "$TMP/hang" '^(burning|status)'
	grep -q '^burning' "$TMP/hang" ||
		return "$(sed -n 's/^status //p' "$TMP/hang")"
	"$TESTBIN/burnmix" 0.2 >/dev/null
}

let_go() {
	# Its children as well: whoever looks into the folder would wait for them.
	# shellcheck disable=SC2046 # numbers
	kill -9 $(pidof hangfile)
	wait "$hanging" 2>/dev/null
}

# hang_by WAY
hang_by() {
	case $1 in
	packet) hang as_user "$TESTBIN/hangfile" packet 1000 ;;
	fuse) hang "$TESTBIN/hangfile" fuse 1000 "$TMP/mnt" ;;
	stack) hang "$TESTBIN/hangfile" stack 1000 "$TMP/stack" ;;
	fanotify)
		rm -f "$TMP/guarded"
		hang "$TESTBIN/hangfile" fanotify 1000 "$TMP/guarded"
		;;
	esac
}

# fresh NAME: a program that was never seen before comes to its end.
fresh() {
	cp "$TESTBIN/spin" "$TMP/$1"
	"$TMP/$1" 20000000 >/dev/null &
	spinning=$!
	await end "$spinning"
	ok "$1: another new program comes to its end" wait "$spinning"
}

# image_samples PATTERN: of lines of the report that match it.
image_samples() {
	awk -v re="$1" '$0 ~ re && $1 ~ /^[0-9]+$/ { n += $1 }
		END { print n + 0 }' "$TMP/report"
}

none_is_held() {
	[ "$(module_stat image_file_expired)" -eq "$(module_stat image_file_held)" ]
}

mkdir "$TMP/mnt" "$TMP/stack" "$TMP/many"
ok "FUSE" modprobe fuse

# ---- while one image hangs

for way in packet:socket fuse:code fanotify:guarded; do
	image=${way#*:} way=${way%:*}
	ok "$way: start" start --separate=lib
	hang_by "$way" || {
		is "$way: no such code" $? 77
		skip "$way" "$(head -n 1 "$TMP/hang")"
		ok "$way: unload" "$BIN/opcontrol" --deinit
		continue
	}
	fresh "$way-1"
	ok "$way: stop" stop
	ok "$way: taken = stored + lost" sums_up
	is "$way: lost" "$(ledger lost)" 0
	report
	diag "$(image_samples "$image") samples of it, " \
		"$(image_samples "$way-1") of another program"
	ok "$way: its samples have its name" [ "$(image_samples "$image")" -gt 20 ]
	ok "$way: so have those of others" \
		[ "$(image_samples "$way-1")" -gt 5 ]
	ok "$way: start again" "$BIN/opcontrol" --start
	fresh "$way-2"
	ok "$way: dump" "$BIN/opcontrol" --dump
	pid=$(daemon_pid)
	kill -9 "$pid"
	await end "$pid"
	is "$way: the kernel stopped sampling" "$(cat /dev/oprofile/enable)" 0
	ok "$way: unload" "$BIN/opcontrol" --deinit
	ok "$way: the module is gone" not grep -q '^oprofile ' /proc/modules
	let_go
done
like "the log tells that one did not answer" \
	"$(cat "$SESSION/samples/oprofiled.log")" \
	"$TMP/guarded: the file (does not respond|has not responded yet)"

# ---- while a part of a stack hangs

ok "stack: start" start --separate=lib --callgraph=16
hang_by stack
fresh stack-1
ok "stack: stop" stop
ok "stack: taken = stored + lost" sums_up
ok "stack: parts of stacks were taken: $(module_stat backtrace_stacks)" \
	[ "$(module_stat backtrace_stacks)" -gt 20 ]
report
diag "$(image_samples hangfile) samples of it, " \
	"$(image_samples stack-1) of another program"
ok "stack: samples on it are there" [ "$(image_samples hangfile)" -gt 20 ]
ok "stack: start again" "$BIN/opcontrol" --start
fresh stack-2
pid=$(daemon_pid)
kill -9 "$pid"
await end "$pid"
ok "stack: unload" "$BIN/opcontrol" --deinit
let_go

# ---- programs that delete themselves

ok "start" start --separate=lib
# Each deletes itself after 5 to 20 ms, and works for as long again.
per_ms=$("$TESTBIN/selfgone")
i=0
while [ $((i += 1)) -le "$NR_JOBS" ]; do
	cp "$TESTBIN/selfgone" "$TMP/job.$i"
	"$TMP/job.$i" $((per_ms * 2 * (5 + i % 16))) || break
done
is "jobs" $((i - 1)) "$NR_JOBS"
ok "stop" stop
report -l
# user_samples PATTERN: of the jobs' samples in user mode those that match it.
user_samples() {
	awk -v re="$1" '/job\.[0-9]/ && !/ vmlinux / && $0 ~ re &&
		$1 ~ /^[0-9]+$/ { n += $1 } END { print n + 0 }' "$TMP/report"
}
jobs=$(user_samples .)
nameless=$(user_samples 'no symbols')
share=$(percent $((jobs - nameless)) $((jobs + $(ledger lost))))
diag "$jobs samples of jobs, $nameless without a symbol, $(ledger lost) lost," \
	"$(samples burn_job) in burn_job"
ok "$share % of $jobs samples of the jobs have a symbol" \
	at_least "$share" 99
ok "half of them and more are where the jobs work" \
	[ $(($(samples burn_job) * 2)) -gt "$jobs" ]
ok "stop the profiler" "$BIN/opcontrol" --deinit

# ---- more new images than are kept at a time

ok "init" "$BIN/opcontrol" --init
echo 16 >/dev/oprofile/backtrace_depth
mount -t tmpfs none "$TMP/many"
"$TESTBIN/readbuf" 1000 65536 idle >"$TMP/out" 2>&1 &
reader=$!
wait_until "the reader samples" grep -q 1 /dev/oprofile/enable
tries=0
while [ "$(module_stat image_file_refused)" -eq 0 ] && [ $tries -lt 5 ]; do
	tries=$((tries + 1))
	mkdir "$TMP/many/$tries"
	"$TESTBIN/hangfile" many $NR_MANY "$TMP/many/$tries"
done
nr=$(grep -c "$TMP/many/" /dev/oprofile/cookies)
held=$(module_stat image_file_held) refused=$(module_stat image_file_refused)
diag "$tries tries: $nr images, $held files held, $refused refused"
case $(uname -r) in
*-kasan) skip "images were too many" "the first are let go of before" ;;
*) ok "images were too many" [ "$refused" -gt 0 ] ;;
esac
ok "each has its name" [ "$nr" -gt 1024 ]
ok "each file was held or counted" [ $((held + refused)) -ge "$nr" ]
wait_until "nothing keeps the mount" umount "$TMP/many"
# Programs that are seen meanwhile are held, too.
wait_until "each that was not fetched is let go and counted" none_is_held
kill -TERM "$reader"
ok "the reader ends well" wait "$reader"
sed -n '/^# cookie/!p' "$TMP/out" | sed 's/^/# /'
echo 0 >/dev/oprofile/backtrace_depth
end_profiler
done_testing
