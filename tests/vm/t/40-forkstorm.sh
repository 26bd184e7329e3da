#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Children that live for 5 to 20 ms, 1,000 or, in the first tier, 250: none is too
# short to be seen.
# timeout: 900
# vm-smp: 2
. "$(dirname "$0")/../../t/lib.sh"
. "$(dirname "$0")/../lib.sh"

ok "start" start --separate=lib,kernel
"$TESTBIN/forkstorm" "$(by_tier 250 1000)" 3 >"$TMP/truth"
ok "stop" stop
ok "taken = stored + lost" sums_up
diag "$(cat "$TMP/truth")"

report -l image:"$TESTBIN/forkstorm"
sed 's/^/# /' "$TMP/report" | head -12
whole=$(total)
# count PATTERN: samples in the lines that match.
count() {
	awk -v p="$1" '$0 ~ p { n += $1 } END { print n + 0 }' "$TMP/report"
}
user=$((whole - $(count ' vmlinux ')))
nameless=$(count 'no symbols| anon| /[^ ]*$')
share=$(percent $((user - nameless)) $((user + $(ledger lost))))
ok "$share % of the user samples are in their image" at_least "$share" 99
ok "the children's own function is among them" \
	[ "$(samples burn_child)" -gt $((user / 10)) ]

# A virtual CPU that waits for a real one misses samples, all kinds about alike:
# what is expected is off by half of that at most.
missed=$(cat /dev/oprofile/stats/cpu*/timer_overrun |
	awk '{ n += $1 } END { print n }')
expected=$(awk -v rate=$RATE -v taken="$(ledger taken)" -v missed="$missed" \
	'/^cpu/ { printf "%d", $2 * rate / 1000 * taken / (taken + missed) }' \
	"$TMP/truth")
margin=$((expected / 7 + expected * missed / (2 * ($(ledger taken) + missed))))
diag "$whole samples, $expected expected from the CPU time, $missed missed"
ok "as many as the CPU time tells" near "$whole" "$expected" $margin
end_profiler
done_testing
