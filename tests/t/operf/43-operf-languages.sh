#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Programs of many languages, profiled by `operf -g COMMAND` with nothing else given, are
# named, whole, and right by their own clocks; rows that cannot be are no worse than they
# were. The first tier has some of the native ones.
# timeout: 1800
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../perf.sh"

run=$TOP/tests/languages/run

# judged NAMED WHOLE ERROR CALLED: of a row of C with 3,000 samples.
judged() {
	echo '{"C": {"operf": {"named": '"$1"', "whole": '"$2"', "error": '"$3"',
		"called": "'"$4"'", "samples": 3000, "added": 1}}}' >"$TMP/saved"
	"$run" --from "$TMP/saved" 2>&1 >/dev/null | sed 's/^languages: C: //'
}
is "a row that meets its goals" "$(judged 96 98 2 alpha)" ""
is "too few names" "$(judged 80 98 2 alpha)" "named is 80.0, and has to be 95"
is "too few whole stacks" "$(judged 96 80 2 alpha)" "whole is 80.0, and has to be 97"
is "wrong shares" "$(judged 96 98 9 alpha)" "error is 9.0, and has to be 3"
is "a mangled name" "$(judged 96 98 2 _5alpha)" "alpha is called _5alpha, not alpha"
exits "that is a failure" 1 "$run" --from "$TMP/saved"

needs_perf own
if [ "${TIER:-check}" = all ]; then
	set -- --no-perf
else
	set -- --no-perf --seconds 0.7 "C static" C++ Rust
fi
O=$O "$run" --tap "$@" >"$TMP/rows" 2>"$TMP/err"
grep -v "^1\.\." "$TMP/rows" >"$TMP/verdicts"
while read -r line; do
	case $line in
	*"# SKIP "*) line=${line#ok * - } && skip "${line% # SKIP*}" "${line#*# SKIP }" ;;
	"ok "*) ok "${line#ok * - }" true ;;
	"not ok "*) ok "${line#not ok * - }" false ;;
	*) diag "${line#\# }" ;;
	esac
done <"$TMP/verdicts"
ok "there are rows: $(cat "$TMP/err")" [ -s "$TMP/verdicts" ]
done_testing
