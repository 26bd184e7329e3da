#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# A budget that no profile keeps to: the rate is lowered while a program runs, and
# its shares and the number of its samples are what they are at the full rate.
# tier: all
# timeout: 900
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../perf.sh"
needs_perf system

# cost KEY: a number of the account, in seconds.
cost() {
	awk -v key="cost.$1" '$1 == key { print $3 / 1e9 }' "$CURRENT/ledger"
}

# cpu_time FILE: seconds that time(1) has written.
cpu_time() {
	awk '/^(user|sys) / { n += $2 } END { print n }' "$1"
}

# The budget is given last.
ok "a tiny budget" operf --cpu-budget=0.01 sh -c \
	"{ time -p '$TESTBIN/burnmix' 20 >'$TMP/truth'; } 2>'$TMP/time'"
ok "taken = stored + lost" sums_up
report -l image:"$TESTBIN/burnmix"
head -8 "$TMP/report" | sed 's/^/# /'
like "the rate was lowered" "$(cat "$TMP/report")" \
	'^Rate lowered to [0-9]+/s for [0-9]+ s of [0-9]+ s to stay within 0.01 % of each CPU; cost '
like "which the log tells" "$(cat "$SESSION/samples/oprofiled.log")" \
	'sampling took .* % of a CPU .*: the rate is divided by [0-9]+$'
lowered=$(cost lowered_ns)
ok "for $lowered s" at_least "$lowered" 5

# As many samples as say as much as those that count for several.
spread=$(ledger cost.spread)
real=$(awk -v n="$(total)" -v all="$(ledger stored)" -v s="$spread" \
	'BEGIN { printf "%d", n / (1 + s / all) }')
diag "$(total) samples say what $real of them say"
while read -r name truth; do
	if [ "$name" = kernel ]; then
		got=$(awk '/ vmlinux / && $1 ~ /^[0-9]+$/ { n += $1 }
			END { print n + 0 }' "$TMP/report")
	else
		got=$(samples "$name")
	fi
	got=$(percent "$got" "$(total)")
	points=$(chance "$truth" "$real")
	ok "$name: $got is within $points points of $truth" \
		near "$got" "$truth" "$points"
done <"$TMP/truth"

# The clock of perf_events runs when the program does. Its period is a fixed one,
# so chance has little to do with the sum.
due=$(awk -v s="$(cpu_time "$TMP/time")" -v r=$RATE 'BEGIN { print s * r / 1.003 }')
ok "$(ledger taken) samples of $due" \
	near "$(percent "$(ledger taken)" "$due")" 100 5

ok "no budget" operf --cpu-budget=none "$TESTBIN/burnmix" 8
report -l
unlike "is none to be kept" "$(cat "$TMP/report")" 'Rate lowered'
is "and no sample counts for several" "$(ledger cost.spread)" 0
done_testing
