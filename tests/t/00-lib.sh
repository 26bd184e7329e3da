#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The test library itself: a failure must be seen as one.

. "$(dirname "$0")/lib.sh"

# A script of its own in the tree, so that a failure in it is not ours.
mkdir -p "$TMP/tree/tests/t"
cp "$TOP/tests/t/lib.sh" "$TMP/tree/tests/t/"

run() {
	{
		# shellcheck disable=SC2016 # is for the script
		echo '. "$(dirname "$0")/lib.sh"'
		cat
	} >"$TMP/tree/tests/t/x.sh"
	out=$(sh "$TMP/tree/tests/t/x.sh" 2>"$TMP/stderr")
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

done_testing
