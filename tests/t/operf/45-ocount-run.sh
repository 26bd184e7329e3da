#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What ocount counts. Page faults are there on every machine and for every
# user; how many a program takes is nearly the same each time.

# Scripts for an inner shell stand in single quotes.
# shellcheck disable=SC2016

. "$(dirname "$0")/../lib.sh"

ocount=$BIN/ocount
background=
# shellcheck disable=SC2317 # lib.sh calls it
at_exit() {
	for pid in $background; do kill -KILL "$pid" 2>/dev/null; done
}

"$ocount" -b -e page-faults true >"$TMP/out" 2>"$TMP/err" ||
	skip_all "perf events are not to be had here: $(cat "$TMP/err")"

# field NR EVENT: of the first line of EVENT, in brief format, on stdin.
field() {
	sed -n "s/^$2\(:0:0:1\)\{0,1\},/$2,/p" | head -n 1 | cut -d, -f"$1"
}
# faults ARG...: page faults of a command.
faults() {
	"$ocount" -b -e page-faults -f "$TMP/counts" "$@" >"$TMP/out" \
		2>"$TMP/err"
	field 2 page-faults <"$TMP/counts"
}
# launch ARG...: in the background, as from a terminal; sets pid.
launch() {
	: >"$TMP/err"
	setsid env --default-signal "$ocount" "$@" >"$TMP/out" 2>"$TMP/err" &
	pid=$!
	background="$background $pid"
}
# waiting: a command that reads a line before it goes on; sets target.
waiting() {
	rm -f "$TMP/go"
	mkfifo "$TMP/go"
	sh -c 'read -r _ <"$1"; i=0
		while [ $i -lt 20 ]; do /bin/true; i=$((i + 1)); done' \
		sh "$TMP/go" &
	target=$!
	background="$background $target"
}
until_counting() {
	await line "$TMP/err" '^ocount: counting;'
}
# finish: wait for what was launched; sets status.
finish() {
	status=0
	wait "$pid" || status=$?
}

# ---- a command -----------------------------------------------------------------

one=$(faults /bin/true)
many=$(faults sh -c 'i=0; while [ $i -lt 20 ]; do /bin/true; i=$((i + 1)); done')
diag "page faults: $one, 20 times: $many"
ok 'a program takes page faults' test "${one:-0}" -gt 10
ok 'children are counted, too' test "${many:-0}" -gt $((10 * one))
is 'all the time' "$(field 3 page-faults <"$TMP/counts")" 100.00
is "nothing but the command's output on stdout" \
	"$(faults echo said >"$TMP/n"; cat "$TMP/out")" said

if command -v perf >/dev/null &&
	perf stat -x, -o "$TMP/perf" -e page-faults /bin/true 2>/dev/null; then
	theirs=$(grep page-faults "$TMP/perf" | cut -d, -f1)
	diag "page faults as perf counts them: $theirs"
	ok 'as many as perf counts' test \
		$(((one - theirs) * (one - theirs))) -le $((one * one / 16))
else
	skip 'as many as perf counts' 'perf does not work here'
fi

for status in 0 1 7 125 255; do
	exits "exit status $status" $status "$ocount" -e page-faults \
		sh -c "exit $status"
done
exits 'ended by a signal' 137 "$ocount" -e page-faults sh -c 'kill -KILL $$'
like 'and that is said' \
	"$("$ocount" -e page-faults sh -c 'kill -KILL $$' 2>&1)" \
	'^ocount: sh: was ended by signal 9 \('
exits 'options behind the command are its own' 3 "$ocount" -e page-faults \
	sh -c 'exit 3' -s -p 1
exits 'two dashes end the options' 4 "$ocount" -e page-faults -- \
	sh -c 'exit 4'
printf 'exit 6\n' >"$TMP/script"
chmod +x "$TMP/script"
exits 'a script without a first line that says so' 6 "$ocount" \
	-e page-faults "$TMP/script"
printf '#!/no/such/interpreter\n' >"$TMP/script"
exits 'a script without an interpreter' 126 "$ocount" -e page-faults \
	"$TMP/script"

# ---- how it looks ---------------------------------------------------------------

"$ocount" -e page-faults,task-clock /bin/true >"$TMP/out" 2>/dev/null
is 'the first line is empty' "$(head -n 1 "$TMP/out")" ''
like 'the time' "$(cat "$TMP/out")" \
	'^Events were actively counted for [0-9.]+ (milliseconds|seconds)\.$'
like 'what was counted' "$(cat "$TMP/out")" \
	'^Event counts \(actual\) for /bin/true:$'
tab=$(printf '\t')
like 'the heading' "$(cat "$TMP/out")" \
	"^${tab}Event +Count  % time counted  Rate\$"
like 'a count' "$(cat "$TMP/out")" \
	"^${tab}page-faults(:0:0:1)? +[0-9,]+ +100\.00  [0-9.]+( K| M)?/s\$"
like 'a clock' "$(cat "$TMP/out")" \
	"^${tab}task-clock +[0-9,]+ +100\.00  [0-9.]+ CPUs\$"
is 'the columns are aligned' "$(sed -n '/100\.00/s/100\.00.*//p' "$TMP/out" |
	while IFS= read -r line; do echo ${#line}; done | sort -u | wc -l)" 1

# ---- what cannot be counted -----------------------------------------------------

if "$ocount" -b -e cycles true >"$TMP/out" 2>"$TMP/err"; then
	like 'without --events: cycles' "$("$ocount" -b true 2>&1)" \
		'^cycles(:0:0:1)?,[0-9]+,'
	skip 'without hardware counters' 'there are some here'
else
	like 'without hardware counters: the reason' "$(cat "$TMP/err")" \
		'^ocount: cycles: no hardware counters here'
	is 'without hardware counters: nothing on stdout' \
		"$(cat "$TMP/out")" ''
	"$ocount" -b true >"$TMP/out" 2>"$TMP/err"
	like 'without --events: the CPU clock' "$(cat "$TMP/out")" \
		'^cpu-clock,[1-9][0-9]*,100\.00$'
	is 'which is said once' "$(grep -c cpu-clock "$TMP/err")" 1
	"$ocount" -b -e cycles,page-faults true >"$TMP/out" 2>"$TMP/err"
	like 'an event that cannot be counted' "$(cat "$TMP/out")" \
		'^cycles,not counted,0\.00$'
	like 'which is said, too' "$(cat "$TMP/err")" \
		'^ocount: not counted: cycles: no hardware counters here'
	ok 'others are counted' test \
		"$(field 2 page-faults <"$TMP/out")" -gt 10
fi

# ---- signals --------------------------------------------------------------------

launch -b -e page-faults sh -c 'trap "exit 9" TERM; "$2" $$ & >"$1"
	wait' sh "$TMP/up" "$TESTBIN/hold"
await file "$TMP/up"
kill -TERM $pid
finish
is 'SIGTERM is for the command' "$status" 9
ok 'which was counted' test "$(field 2 page-faults <"$TMP/out")" -gt 10

rm -f "$TMP/up"
launch -b -e page-faults sh -c 'trap ": >\"\$1.asked\"" INT; "$2" $$ &
	echo $$ >"$1"; wait; wait' sh "$TMP/up" "$TESTBIN/hold"
await text "$TMP/up"
command=$(cat "$TMP/up")
background="$background $command"
# One signal at a time: a second one that is not yet taken is the same.
kill -INT $pid
await file "$TMP/up.asked"
kill -INT $pid
finish
is 'a second SIGINT ends counting alone' "$status" 130
ok 'what was counted is shown' test "$(field 2 page-faults <"$TMP/out")" -gt 10
like 'the rest is said' "$(cat "$TMP/err")" '^ocount: sh: continues, no longer counted'
ok 'and so it does' kill -KILL "$command"

# ---- processes and threads ------------------------------------------------------

waiting
launch -b -e page-faults -p $target
until_counting
echo go >"$TMP/go"
finish
is 'counting a process ends with it' "$status" 0
ok 'its children are counted' test "$(field 2 page-faults <"$TMP/out")" -gt \
	$((10 * one))

waiting
launch -b -t -e page-faults,task-clock -p $target,$$
until_counting
echo go >"$TMP/go"
wait $target
kill -INT $pid
finish
is 'counting processes ends with SIGINT' "$status" 0
is 'a line for each thread and event' \
	"$(sed 's/:0:0:1//; s/,[^,]*,[^,]*$//' "$TMP/out")" \
	"$target,page-faults
$$,page-faults
$target,task-clock
$$,task-clock"

waiting
launch -b -e page-faults -r $target
until_counting
echo go >"$TMP/go"
finish
is 'counting a thread ends with it' "$status" 0
ok 'its children are not counted' test \
	"$(field 2 page-faults <"$TMP/out")" -lt $((10 * one))

"$TESTBIN/hold" --stopped $$ >"$TMP/stopped" &
holder=$!
background="$background $holder"
await text "$TMP/stopped"
target=$(cat "$TMP/stopped")
launch -e page-faults -p "$target"
until_counting
kill -INT $pid
finish
is 'a process that never ran: exit status' "$status" 0
like 'a process that never ran: is no silent 0' "$(cat "$TMP/out")" \
	'page-faults(:0:0:1)? +0 +never ran$'
kill -KILL $holder

# ---- intervals and output -------------------------------------------------------

rm -f "$TMP/counts"
# After these the command has work for many more.
"$ocount" -b -e page-faults -i 10:3 -f "$TMP/counts" sh -c \
	'"$1" line "$0" ^page-faults 3
	i=0; while [ $i -lt 200 ]; do /bin/true; i=$((i + 1)); done' \
	"$TMP/counts" "$TESTBIN/await" 2>/dev/null
is 'so many intervals' "$(grep -c '^timestamp,[0-9]*\.[0-9][0-9][0-9]$' \
	"$TMP/counts")" 3
is 'with counts' "$(grep -c '^page-faults' "$TMP/counts")" 3
rm -f "$TMP/counts"
exits 'the command goes on to its end' 5 "$ocount" -b -e page-faults -i 10:1 \
	-f "$TMP/counts" sh -c '"$1" line "$0" ^page-faults && exit 5' \
	"$TMP/counts" "$TESTBIN/await"
"$ocount" -b -e page-faults -i 86400000 true >"$TMP/out" 2>/dev/null
is 'a command shorter than the interval' \
	"$(sed 's/[0-9.]*$//; s/:0:0:1//; s/,[0-9]*,$//' "$TMP/out")" \
	'timestamp,
page-faults'
like 'intervals for people' \
	"$("$ocount" -e page-faults -i 86400000 true 2>/dev/null)" \
	'^Current time \(seconds since epoch\): [0-9]+\.[0-9]{3}$'

printf '%s\n' 1 2 3 4 5 6 7 8 9 10 >"$TMP/counts"
faults true >/dev/null
is 'an output file is replaced' "$(wc -l <"$TMP/counts")" 1
exits 'an output file that is full' 125 "$ocount" -e page-faults \
	-f /dev/full true
exits 'standard output that is full' 125 \
	sh -c '"$1" -e page-faults true >/dev/full' sh "$ocount"
like 'which is said' "$("$ocount" -e page-faults -f /dev/full true 2>&1)" \
	'^ocount: /dev/full: cannot write to it: No space left on device$'
like '--verbose says what is opened' \
	"$("$ocount" -V -e page-faults true 2>&1)" '^\+ page-faults: type 1, '

# ---- CPUs -----------------------------------------------------------------------

if "$ocount" -s -b -e cs -i 10:1 >"$TMP/out" 2>"$TMP/err"; then
	nr=$(tr , '\n' </sys/devices/system/cpu/online |
		awk -F- '{ n += $NF - $1 + 1 } END { print n }')
	"$ocount" -s -c -b -e cpu-clock,page-faults -i 50:2 >"$TMP/out"
	is 'a line for each CPU, event and interval' \
		"$(grep -c '^[0-9]*,[a-z-]*,[0-9]*,100\.00$' "$TMP/out")" \
		$((nr * 4))
	is 'and for each interval its time' \
		"$(grep -c ^timestamp, "$TMP/out")" 2
	cpu=$(sed -n '2s/,.*//p' "$TMP/out")
	is 'some CPUs' "$("$ocount" -C "$cpu,$cpu-$cpu" -c -b -e cpu-clock \
		-i 10:1 | sed -n 's/,[0-9]*,[0-9.]*$//p' | grep -v timestamp)" \
		"$cpu,cpu-clock"
	launch -b -s -e page-faults
	until_counting
	faults /bin/true >/dev/null
	kill -INT $pid
	finish
	is 'the system until SIGINT' "$status" 0
	ok 'everybody is counted' test \
		"$(field 2 page-faults <"$TMP/out")" -ge "$one"
else
	like 'whole CPUs are refused with a reason' "$(cat "$TMP/err")" \
		'^ocount: cs: '
	skip 'whole CPUs' "$(cat "$TMP/err")"
fi
done_testing
