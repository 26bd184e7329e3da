#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Two libraries that are loaded, burn and go, in turn and at the same
# address: their samples go to the right one. The code of each lies where the
# other one has padding that never runs.
# timeout: 600
# vm-icount: yes
# vm-check: 6.1 6.12
. "$(dirname "$0")/../../t/lib.sh"
. "$(dirname "$0")/../lib.sh"

# truth NAME: the sum of what all runs tell.
truth() {
	awk -v name="$1" '$1 == name { n += $2 } END { print n + 0 }' \
		"$TMP/truth"
}

ok "start" start --separate=lib
a=0 b=0
while [ $((a + b)) -lt "$(by_tier 1000 4000)" ]; do
	"$TESTBIN/dlburn" 2 "$TESTBIN/libburn_a.so" "$TESTBIN/libburn_b.so" \
		>>"$TMP/truth" || break
	"$BIN/opcontrol" --dump
	report -l image:"$TESTBIN/dlburn"
	a=$(samples burn_a)
	b=$(samples burn_b)
done
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

share=$(percent "$a" $((a + b)))
truth=$(percent "$(truth burn_a)" $(($(truth burn_a) + $(truth burn_b))))
points=$(chance "$truth" $((a + b)))
ok "burn_a: $share is within $points points of $truth" \
	near "$share" "$truth" "$points"
ok "the libraries shared an address" [ "$(truth same)" -gt 10 ]
end_profiler
done_testing
