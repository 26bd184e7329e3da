#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# 1,000 children that live for 5 to 20 ms: none is too short to be seen.
# vm-smp: 2
. "$(dirname "$0")/../../t/lib.sh"
. "$(dirname "$0")/../lib.sh"

ok "start" start --separate=lib
"$TESTBIN/forkstorm" 1000 3 >"$TMP/truth"
ok "stop" stop
ok "taken = stored + lost" sums_up
diag "$(cat "$TMP/truth")"

report -l image:"$TESTBIN/forkstorm"
sed 's/^/# /' "$TMP/report" | head -12
whole=$(total)
nameless=$(awk '/no symbols/ || / anon/ { n += $1 } END { print n + 0 }' \
	"$TMP/report")
share=$(percent $((whole - nameless)) $((whole + $(ledger lost))))
ok "$share % of the user samples are in their image" at_least "$share" 99

expected=$(($(awk '/^user/ { print $2 }' "$TMP/truth") * RATE / 1000))
diag "burn_child $(samples burn_child), $expected expected from the CPU time"
ok "as many as the children's CPU time tells" \
	near "$(samples burn_child)" "$expected" $((expected / 10))
end_profiler
done_testing
