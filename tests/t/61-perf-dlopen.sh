#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Two libraries that are loaded, burn and go, in turn and at the same
# address: their samples go to the right one. The code of each lies where the
# other one has padding that never runs.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/perf.sh"

needs_perf own
profiled "two libraries" "$TESTBIN/dlburn" 6 "$TESTBIN/libburn_a.so" \
	"$TESTBIN/libburn_b.so"
diag "$(cat "$TMP/truth")"
ok "the libraries shared an address" \
	[ "$(awk '/^same/ { print $2 }' "$TMP/truth")" -gt 10 ]

rows --demangle=none >"$TMP/all"
head -n 12 "$TMP/all" | sed 's/^/# /'
user_rows <"$TMP/all" >"$TMP/user"
a=$(sum libburn_a.so burn_a <"$TMP/user")
b=$(sum libburn_b.so burn_b <"$TMP/user")
ok "there are samples in both: $a and $b" [ $((a > 100 && b > 100)) -eq 1 ]
is "samples in the wrong library" \
	"$(sum '.*' 'burn_.*_padding.*' <"$TMP/user")" 0
# All that the libraries have besides are a few functions of the compiler's.
all=$(($(sum 'libburn_.*' '.*' <"$TMP/user") + $(sum '.*anon.*' '.*' \
	<"$TMP/user") + $(ledger lost)))
share=$(percent $((a + b)) "$all")
ok "$share % of the burn's samples in the right library" \
	at_least "$share" 99

truth_a=$(awk '/^burn_a/ { print $2 }' "$TMP/truth")
truth_b=$(awk '/^burn_b/ { print $2 }' "$TMP/truth")
share=$(percent "$a" $((a + b)))
truth=$(percent "$truth_a" $((truth_a + truth_b)))
ok "burn_a: $share is within 5 points of $truth" near "$share" "$truth" 5
done_testing
