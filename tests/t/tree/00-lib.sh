#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The test library itself: a failure must be seen as one.

. "$(dirname "$0")/../lib.sh"

# A script of its own in the tree, so that a failure in it is not ours.
mkdir -p "$TMP/tree/tests/t"
cp "$TOP/tests/t/lib.sh" "$TMP/tree/tests/t/"

run() {
	{
		# shellcheck disable=SC2016 # is for the script
		echo '. "$(dirname "$0")/lib.sh"'
		cat
	} >"$TMP/tree/tests/t/x.sh"
	out=$(O=$O sh "$TMP/tree/tests/t/x.sh" 2>"$TMP/stderr")
	status=$?
}

run <<'X'
ok "true" true
ok "false" false
exits "three" 3 sh -c 'exit 3'
is "same" "a  b" "a  b"
is "differs" a b
like "line" "one
two" '^two$'
unlike "line" "one" '^two$'
unlike "bad expression" "one" '('
ok "negated" not false
skip "later" "no time"
done_testing
X
is "results are numbered" "$(echo "$out" | grep -v '^#')" "ok 1 - true
not ok 2 - false
ok 3 - three
ok 4 - same
not ok 5 - differs
ok 6 - line
ok 7 - line
not ok 8 - bad expression
ok 9 - negated
ok 10 - later # SKIP no time
1..10"
is "a failed test fails the script" "$status" 1

run <<'X'
ok "true" true
X
like "a script that stops midway says so" "$out" '^Bail out!'

run <<'X'
ok "true" test -d "$TMP"
ok "empty" test -z "$(ls "$TMP")"
echo "# $TMP"
at_exit() { echo "# at_exit"; }
done_testing
X
is "a good script exits with 0" "$status" 0
like "at_exit runs" "$out" '^# at_exit$'
ok "TMP is removed" not test -e "$(echo "$out" | sed -n 's/^# \//\//p')"

run <<'X'
skip_all "no kernel"
X
is "a whole script can be skipped" "$out" "1..0 # SKIP no kernel"

# ---- chance ----------------------------------------------------------------------

. "$TOP/tests/t/perf.sh"
# Of 1,000 with a chance of 1 % at most 28 are hit in all but one case of 1,000,000,
# as tables of the Poisson distribution have it for a mean of 10; and at most 8 of
# 100.
ok "28 of 1,000 are rare" rarely 28 1000 1
ok "29 are not" not rarely 29 1000 1
ok "8 of 100 are rare" rarely 8 100 1
ok "9 are not" not rarely 9 100 1
ok "none of 40 tells nothing" not rarely 0 40 1
ok "none of none even less" not rarely 0 0 1

# ---- waiting ---------------------------------------------------------------------

# Each of these is true from the first look or never, so no time matters.
await() {
	"$TESTBIN/await" "$@"
}
cd "$TMP" || exit 1
printf 'one\ntwo\ntwo again\nno end' >text
: >empty
ok "a file is there" await file text
ok "or one of such a name" await file none "$TMP/tex?"
ok "something is gone" await gone none
ok "a file has text" await text text
ok "a file has more bytes" await more text 23
ok "as many lines match" await line text '^two' 2
true &
ok "a process has ended" await end $!
wait
ok "or is nobody's" await end $!
# gives_up NAME WHAT ARG...
gives_up() {
	name=$1
	shift
	got=$(await -s 0 "$@" 2>&1)
	is "$name: waiting ends, and what for is said" "$? $got" \
		"1 await: not within 0 s: $*"
}
gives_up "no file" file none 'no*e'
gives_up "no such folder" file no/such/file
gives_up "still there" gone text
gives_up "no text" text empty
gives_up "no more bytes" more text 24
gives_up "no text without a file" text none
gives_up "no such line" line text three
gives_up "not as many" line text '^two' 3
gives_up "a line without its end" line text end
gives_up "the process lives" end $$
exits "no such condition" 2 await for it
exits "no expression" 2 await line text '('

# They come when somebody is asleep: one that waits can be awoken by nothing else.
# comes NAME WHAT PATH... <commands: they end the wait
comes() {
	name=$1
	shift
	await "$@" &
	. /dev/stdin
	wait $!
	is "$name wakes who waits" $? 0
}
comes "a file" file sub/folder/here <<'END'
mkdir sub
mkdir sub/folder
: >sub/folder/here
END
comes "a name" file 'sub/h?re' <<'END'
mv sub/folder/here sub/here
END
comes "a line" line sub/here '^yes$' 2 <<'END'
echo yes >>sub/here
printf 'ye' >>sub/here
echo s >>sub/here
END
comes "a file that takes its place" line sub/here '^other$' <<'END'
echo other >sub/new
mv sub/new sub/here
END
comes "a removal" gone sub/here <<'END'
rm sub/here
END
"$TESTBIN/hold" $$ &
held=$!
# Another signal may come while it still is a shell that has a trap for it.
comes "an end" end $held <<'END'
kill -KILL $held
END
await event sub 'x.*' >watching &
await text watching
: >sub/y.1
: >sub/x.1
rm sub/x.1
wait $!
is "an event is noticed when nothing is left of it" $? 0
"$TESTBIN/hold" --stopped $$ >stopped &
await text stopped
like "a stopped process is so when its number is told" \
	"$(cat "/proc/$(cat stopped)/status")" '^State:.T'
kill -KILL $!

run <<'X'
"$TESTBIN/await" -s 0 end $$ 2>&1
TESTBIN=$TMP
echo 'echo "not within a year"; exit 1' >"$TMP/await"
chmod +x "$TMP/await"
await file thing
ok "not reached" true
X
is "a script that waits in vain ends with a failed test" "$status $out" "1 \
await: not within 0 s: end $(echo "$out" | sed -n 's/.*: end //p')
not ok 1 - await file thing
# not within a year
1..1"

done_testing
