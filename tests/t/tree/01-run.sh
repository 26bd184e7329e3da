#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# tests/run itself: what counts as passed, failed and skipped, so that no test
# is lost in silence.

. "$(dirname "$0")/../lib.sh"

# run NAME: tests/run over the script on stdin.
run() {
	{
		echo '#!/bin/sh'
		cat
	} >"$TMP/$1"
	chmod +x "$TMP/$1"
	out=$("$TOP/tests/run" "$TMP/$1" 2>&1)
	status=$?
	last=$(echo "$out" | tail -n 1)
}

run good <<'END'
echo "ok 1 - a"
echo "ok 2 - b # SKIP no time"
echo "1..2"
END
is "passed and skipped" "$last" "1 passed, 0 failed, 1 skipped"
is "is a success" "$status" 0
like "the reason of a skip is shown" "$out" 'no time'

run bad <<'END'
echo "1..2"
echo "ok 1 - a"
echo "not ok 2 - b"
echo "# because"
exit 1
END
is "one failed" "$last" "1 passed, 1 failed, 0 skipped"
is "is a failure" "$status" 1
like "what failed is shown" "$out" 'not ok 2 - b'
like "and why" "$out" 'because'
unlike "what passed is not" "$out" ' ok 1 - a'

run few <<'END'
echo "1..3"
echo "ok 1 - a"
END
is "fewer tests than planned" "$last" "1 passed, 1 failed, 0 skipped"

run crash <<'END'
echo "ok 1 - a"
echo "the last words"
printf 'an unfinished line' >&2
kill -9 $$
END
is "a crash midway" "$last" "1 passed, 1 failed, 0 skipped"
like "the end of the output is shown" "$out" 'the last words'
like "and stderr, which cannot spoil the results" "$out" 'stderr: an unfinished'

run late <<'END'
echo "ok 1 - a"
echo "1..1"
exit 3
END
is "a failure after the last test" "$last" "1 passed, 1 failed, 0 skipped"

run bail <<'END'
echo "ok 1 - a"
echo "Bail out! the disk is full"
exit 1
END
is "giving up" "$last" "1 passed, 1 failed, 0 skipped"
like "the reason is shown" "$out" 'the disk is full'

run plain <<'END'
echo "all is well"
END
is "a program without TAP" "$last" "1 passed, 0 failed, 0 skipped"

run plain <<'END'
echo "oh no"
exit 2
END
is "one that fails" "$last" "0 passed, 1 failed, 0 skipped"
like "its output is shown" "$out" 'oh no'

run none <<'END'
echo "1..0 # SKIP no tool"
END
is "a skip of all" "$last" "0 passed, 0 failed, 1 skipped"
like "its reason is shown" "$out" 'no tool'

# However long it needs to come to its first test.
for seconds in 1 5 25 125; do
	run hang <<-END
	# timeout: $seconds
	echo "ok 1 - a"
	exec "$TESTBIN/hold" \$PPID
	END
	case $last in 1\ *) break ;; esac
done
is "a hang" "$last" "1 passed, 1 failed, 0 skipped"
like "is called so" "$out" 'not ok - timeout'
done_testing
