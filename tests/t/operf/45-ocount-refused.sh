#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# ocount without the rights for what it is asked: one line with the cure, and
# never a 0 that is none.

. "$(dirname "$0")/../lib.sh"

# Another user must get at the programs.
chmod 755 "$TMP"
mkdir "$TMP/bin"
cp "$BIN/ocount" "$TESTBIN/noperf" "$TMP/bin/" || exit 1
ocount=$TMP/bin/ocount
noperf=$TMP/bin/noperf
ran=$TMP/ran

# refused NAME ERE CMD...: CMD fails as ocount's own failures do, says one line
# that matches, prints nothing and does not run the command.
refused() {
	name=$1 ere=$2
	shift 2
	status=0
	out=$("$@" 2>"$TMP/err") || status=$?
	is "$name: exit status" "$status" 125
	like "$name: says why" "$(cat "$TMP/err")" "^ocount: $ere"
	is "$name: in one line" "$(wc -l <"$TMP/err") $out" "1 "
	ok "$name: runs nothing" not test -e "$ran"
}

# ---- seccomp, as in containers --------------------------------------------------

if "$noperf" 1 true 2>"$TMP/err"; then
	for errno in 1 13 38; do
		refused "seccomp, errno $errno" \
			'page-faults: a seccomp filter forbids perf_event_open' \
			"$noperf" $errno "$ocount" -e page-faults touch "$ran"
		refused "seccomp, errno $errno, without --events" \
			'cpu-clock: a seccomp filter forbids perf_event_open' \
			"$noperf" $errno "$ocount" touch "$ran"
	done
	refused 'seccomp, the system' 'cs: a seccomp filter forbids' \
		"$noperf" 1 "$ocount" -s -e cs -i 10:1
else
	skip 'seccomp' "$(cat "$TMP/err")"
fi

"$ocount" -b -e page-faults true >"$TMP/out" 2>"$TMP/err" || {
	skip 'everything else' "perf events are not to be had: $(cat "$TMP/err")"
	done_testing
}

# ---- descriptors ----------------------------------------------------------------

events=page-faults
for _ in 1 2 3 4 5 6 7; do events=$events,$events; done
# shellcheck disable=SC2016 # the inner shell expands it
refused 'no descriptors left' \
	'page-faults(:0:0:1)?: this process may open no more files; .*ulimit -n' \
	sh -c 'ulimit -n 64 && exec "$@"' sh "$ocount" -e "$events" touch "$ran"
# shellcheck disable=SC2016
is 'a limit that can be raised is, but not for the command' \
	"$(sh -c 'ulimit -Sn 64 && exec "$@"' sh "$ocount" -e "$events" \
		-f /dev/null sh -c 'ulimit -n' 2>/dev/null)" 64

# ---- an ordinary user -----------------------------------------------------------

paranoid=$(cat /proc/sys/kernel/perf_event_paranoid)
if ! as_user test -x "$ocount" 2>"$TMP/err"; then
	skip 'an ordinary user' "cannot become one: $(cat "$TMP/err")"
elif ! as_user "$ocount" -b -e page-faults true >"$TMP/out" 2>"$TMP/err"; then
	like 'an ordinary user is refused with the cure' "$(cat "$TMP/err")" \
		'^ocount: page-faults: .*(sysctl|seccomp|security module)'
	skip 'an ordinary user' "$(cat "$TMP/err")"
elif [ "$paranoid" -lt 2 ]; then
	like 'an ordinary user may count the kernel' "$(cat "$TMP/out")" \
		'^page-faults,[1-9]'
	skip 'an ordinary user' "kernel.perf_event_paranoid is $paranoid"
elif like 'an ordinary user counts in user mode' "$(cat "$TMP/out")" \
	'^page-faults:0:0:1,[1-9][0-9]*,100\.00$'; then
	is 'which is said once' "$(grep -c . "$TMP/err")" 1
	like 'with the cure' "$(cat "$TMP/err")" \
		'^ocount: counting user mode only: .*sysctl kernel\.perf_event_paranoid=1'
	as_user "$ocount" -b -e task-clock true >"$TMP/out" 2>"$TMP/err"
	like 'clocks count all modes' "$(cat "$TMP/out")" '^task-clock,[1-9]'
	is 'and need no remark' "$(cat "$TMP/err")" ''
	as_user "$ocount" -b -e page-faults:0:0:1 true >"$TMP/out" 2>"$TMP/err"
	is 'nor does what was asked for' "$(cat "$TMP/err")" ''
	exits 'the exit status is passed on' 7 as_user "$ocount" -e page-faults \
		sh -c 'exit 7'
	as_user "$ocount" -b -e rffff,page-faults true >"$TMP/out" 2>"$TMP/err"
	if grep -q '^rffff,not counted' "$TMP/out"; then
		like 'a missing event: the reason is not the mode' \
			"$(cat "$TMP/err")" \
			'^ocount: not counted: rffff: (no hardware counters|this CPU|the kernel refuses)'
	else
		like 'a raw event' "$(cat "$TMP/out")" '^rffff:0:0:1,[0-9]+,'
	fi
	refused 'kernel mode' \
		"page-faults:0:1:1: kernel mode needs .*it is $paranoid; sysctl" \
		as_user "$ocount" -e page-faults:0:1:1 touch "$ran"
	refused 'what the kernel alone does' 'cs: kernel mode needs .*; sysctl' \
		as_user "$ocount" -e cs touch "$ran"
	as_user "$ocount" -b -e cs,page-faults true >"$TMP/out" 2>"$TMP/err"
	like 'beside others: is no silent 0' "$(cat "$TMP/out")" \
		'^cs,not counted,0\.00$'
	like 'beside others: the reason' "$(cat "$TMP/err")" \
		'^ocount: not counted: cs: kernel mode needs'
	refused 'the system' 'page-faults: access to whole CPUs needs .*; sysctl' \
		as_user "$ocount" -s -e page-faults
	refused 'a CPU' 'page-faults: access to whole CPUs needs .*; sysctl' \
		as_user "$ocount" -C 0 -e page-faults
	if [ "$(stat -c %u /proc/1)" != "$(as_user id -u)" ]; then
		refused "another user's process" \
			"process 1: it belongs to another user" \
			as_user "$ocount" -p 1 -e page-faults -i 10:1
	else
		skip "another user's process" 'process 1 is my own'
	fi
	# Not to be read, so not to be counted.
	cp /bin/true "$TMP/bin/unreadable"
	chmod 111 "$TMP/bin/unreadable"
	like 'a program that cannot be read' \
		"$(as_user "$ocount" -e page-faults "$TMP/bin/unreadable" 2>&1)" \
		"^ocount: $TMP/bin/unreadable: the kernel does not let"
fi
done_testing
