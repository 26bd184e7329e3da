#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Two libraries that are loaded, burn and go, in turn and at the same
# address: their samples go to the right one. The code of each lies where the
# other one has padding that never runs.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../perf.sh"

needs_perf own
profiled "two libraries" "$TESTBIN/dlburn" 2 "$TESTBIN/libburn_a.so" \
	"$TESTBIN/libburn_b.so"
diag "$(cat "$TMP/truth")"
# shellcheck disable=SC2016 # for awk
ok "the libraries shared an address nearly always" \
	awk '/^same/ { exit !($2 > $4 / 2) }' "$TMP/truth"

rows --demangle=none >"$TMP/all"
head -n 12 "$TMP/all" | sed 's/^/# /'
user_rows <"$TMP/all" >"$TMP/user"
a=$(sum libburn_a.so burn_a <"$TMP/user")
b=$(sum libburn_b.so burn_b <"$TMP/user")
is "samples in the wrong library" \
	"$(sum '.*' 'burn_.*_padding.*' <"$TMP/user")" 0
# All that the libraries have besides are a few functions of the compiler's.
all=$(($(sum 'libburn_.*' '.*' <"$TMP/user") + $(sum '.*anon.*' '.*' \
	<"$TMP/user") + $(ledger lost)))
ok "$((all - a - b)) of $all samples are not in the right library" \
	rarely $((all - a - b)) "$all" 1

truth_a=$(awk '/^burn_a/ { print $2 }' "$TMP/truth")
truth_b=$(awk '/^burn_b/ { print $2 }' "$TMP/truth")
share=$(percent "$a" $((a + b)))
truth=$(percent "$truth_a" $((truth_a + truth_b)))
# By chance the share is as far from the truth in one of 10,000 cases: 3.89
# standard errors of its samples and of the time that the same work took.
points=$(awk -v samples="$(chance "$truth" $((a + b)))" '
	/^deviation/ { print sqrt(samples ^ 2 + (3.89 * $2) ^ 2) }' "$TMP/truth")
ok "burn_a: $share is within $points points of $truth" \
	near "$share" "$truth" "$points"
ok "which is less than half of the difference of both" \
	at_least 16 "$points"
done_testing
