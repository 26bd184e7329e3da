#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Two libraries that are loaded, burn and go, in turn and at the same
# address: their samples go to the right one. The code of each lies where the
# other one has padding that never runs.
# vm-smp: 2
. "$(dirname "$0")/../../t/lib.sh"
. "$(dirname "$0")/../lib.sh"

ok "start" start --separate=lib
"$TESTBIN/dlburn" 8 "$TESTBIN/libburn_a.so" "$TESTBIN/libburn_b.so" \
	>"$TMP/truth"
ok "stop" stop
ok "taken = stored + lost" sums_up
diag "$(cat "$TMP/truth")"

report -l image:"$TESTBIN/dlburn"
sed 's/^/# /' "$TMP/report" | head -20
a=$(samples burn_a)
b=$(samples burn_b)
wrong=$(awk '/_padding/ { n += $1 } END { print n + 0 }' "$TMP/report")
nameless=$(awk '/no symbols| anon| \/[^ ]*$/ { n += $1 } END { print n + 0 }' \
	"$TMP/report")
lost=$(ledger lost)
share=$(percent $((a + b)) $((a + b + wrong + nameless + lost)))
ok "$share % of the burn's samples in the right library" \
	at_least "$share" 99
is "samples in the wrong library" "$wrong" 0

truth_a=$(awk '/^burn_a/ { print $2 }' "$TMP/truth")
truth_b=$(awk '/^burn_b/ { print $2 }' "$TMP/truth")
share=$(percent "$a" $((a + b)))
truth=$(percent "$truth_a" $((truth_a + truth_b)))
ok "burn_a: $share is within 3 points of $truth" near "$share" "$truth" 3
ok "the libraries shared an address" \
	[ "$(awk '/^same/ { print $2 }' "$TMP/truth")" -gt 10 ]
end_profiler
done_testing
