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
# Samples in user mode, and those of them that are in no image.
awk '$1 !~ /^[0-9]+$/ || / vmlinux / { next }
	{ user += $1 }
	/no symbols| anon| \/[^ ]*$/ { nameless += $1; print "# " $0 }
	END { print user + 0, nameless + 0 >(ARGV[1] ".sums") }' "$TMP/report"
read -r user nameless <"$TMP/report.sums"
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
