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
# Expected texts: a tree with a script and a unit test, each with a text of its own.
tree=$TMP/tree
unit=tests/unit/libpp/report/test_pp_trees
mkdir -p "$tree/tests/t/room" "$tree/tests/expect/unit/libpp/report"
cp "$TOP/tests/run" "$tree/tests/"
cp "$TOP/tests/t/lib.sh" "$tree/tests/t/"
cp -r "$TOP/tests/expect/${unit#tests/}" "$TOP/tests/expect/${unit#tests/}.txt" \
	"$tree/tests/expect/unit/libpp/report/"
cat >"$tree/tests/t/room/10-text.sh" <<'END'
#!/bin/sh
. "$(dirname "$0")/../lib.sh"
expected "two lines" "$(echo one; echo "${SECOND:-two}")"
done_testing
END
chmod +x "$tree/tests/t/room/10-text.sh"
# A build folder with one build of the unit test, so that it runs once.
mkdir "$TMP/build"
built=$O
[ -x "$built/$unit" ] || built=$O/sanitized
for f in "$built"/*; do
	[ "${f##*/}" = sanitized ] || ln -s "$f" "$TMP/build/"
done
run_tree() {
	out=$(O=$TMP/build "$tree/tests/run" "$@" 2>&1)
	status=$?
	last=$(echo "$out" | tail -n 1)
}
script=$tree/tests/t/room/10-text.sh text=$tree/tests/expect/t/room/10-text/two-lines.txt

run_tree "$script"
is "a text that is nowhere expected" "$last" "0 passed, 1 failed, 0 skipped"
like "is shown" "$out" '\+two$'
ok "and not written" test ! -e "$text"
OPROFILE_TESTS_ACCEPT=$TMP/list run_tree "$script"
ok "nor for a variable that somebody has set" test ! -e "$text"
is "it fails then, too" "$last" "0 passed, 1 failed, 0 skipped"
run_tree --accept "$script"
is "--accept writes it, which is a failure" "$last $status" "1 passed, 1 failed, 0 skipped 1"
like "names the file" "$out" '^wrote  tests/expect/t/room/10-text/two-lines.txt; read'
is "the text is there" "$(cat "$text")" "one
two"
run_tree --accept "$script"
is "the same text again is none" "$last $status" "1 passed, 0 failed, 0 skipped 0"
SECOND=three run_tree "$script"
is "another text fails" "$last" "0 passed, 1 failed, 0 skipped"
like "with its difference" "$out" '^ *# -two$'
SECOND=three run_tree --accept
is "--accept without a FILE is refused" "$status" 2

mkdir -p "${tree}/${unit%/*}"
if [ -x "$built/$unit" ]; then
	run_tree "$tree/$unit.c"
	like "the text of a unit test is below the tree" "$last" '^[0-9]+ passed, 0 failed'
	sed -i 's/anon/other/' "$tree/tests/expect/${unit#tests/}/kinds.txt"
	run_tree "$tree/$unit.c"
	like "another text fails there, too" "$last" ' passed, 1 failed,'
	like "with its difference there, too" "$out" '^ *stderr: [+].*anon'
	run_tree --accept "$tree/$unit.c"
	like "--accept writes it there" "$out" '^wrote  tests/expect/unit/libpp/report/test_pp_trees/kinds.txt'
	ok "as it was" diff -r "$TOP/tests/expect/${unit#tests/}" \
		"$tree/tests/expect/${unit#tests/}"

	# Texts of rows are sections of one file.
	rows=tests/expect/${unit#tests/}.txt
	sed -i '2s/^/x/' "$tree/$rows"
	run_tree "$tree/$unit.c"
	like "the text of a row counts" "$last" ' passed, 1 failed,'
	like "and is shown alone" "$out" '@@ -1,[0-9]* [+]1,[0-9]* @@'
	run_tree --accept "$tree/$unit.c"
	like "--accept writes that of a row" "$out" "^wrote  $rows"
	ok "and leaves the others" cmp "$TOP/$rows" "$tree/$rows"
	printf '\n=== nobody\ntext\n' >>"$tree/$rows"
	run_tree "$tree/$unit.c"
	like "a text of no row fails" "$last" ' passed, 1 failed,'
	like "by its name" "$out" 'no row is called "nobody"'
else
	skip "texts of unit tests" "unit tests are not built"
fi

done_testing
