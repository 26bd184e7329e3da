#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A rate that is lowered while samples are taken: the same program as a stream at
# the full rate and as streams whose rate changes. Shares are the same, intervals
# are those of the samples that were really taken, and every format tells so.
# sanitized: yes
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../daemon.sh"

# program DIVISORS: the stream of 200,000 moments, for each part of which the rate
# is divided by the next of DIVISORS. First /bin/early runs, then /bin/late, both
# for a quarter of the time, and in between these two and /bin/rare change places
# as chance has it: for 45, 45 and 10 % of it. Prints what was taken, too.
program() {
	awk -v list="$1" '
	function random() {
		seed = (seed * 16807) % 2147483647
		return seed / 2147483647
	}
	BEGIN {
		seed = 4711
		nr = split(list, divisors, " ")
		print "stream 1 8\nsource 0 perf/cpu-clock\nevent 0 0 0 0 1 1 TIMER"
		for (i = 1; i <= 3; i++)
			printf "cookie %d 1 %d 0 0 - /bin/%s\n", i, i,
				i == 1 ? "early" : i == 2 ? "late" : "rare"
		print "cpu 0"
		wait = 1
		for (at = 0; at < 200000; at++) {
			x = random()
			who = at < 50000 ? 1 : at >= 150000 ? 2 : \
				x < 0.45 ? 1 : x < 0.9 ? 2 : 3
			if (--wait)
				continue
			# The wait that has ended is what the sample stands for.
			n = now ? now : divisors[1]
			printf "ctx 7 %d\ntgid 7\nimage %d\nuser\n", who, who
			if (n > 1)
				printf "times lowered %d\n", n
			print "sample 0x1000 0"
			taken += n
			now = divisors[int(at * nr / 200000) + 1]
			wait = now
		}
		print "taken " taken
	}'
}

report() {
	"$BIN/opreport" --session-dir="$SESSION" "$@" 2>"$TMP/err"
}

# row PROGRAM COLUMN: of the summary with intervals.
row() {
	awk -v name="$1" -v at="$2" '$NF == name { print $at; exit }' "$TMP/report"
}

program 1 | stream "$TMP/full"
ok "the full rate" replay "$TMP/full"
report --intervals >"$TMP/report"
for name in early late rare; do
	eval "full_$name=\$(row $name 2)"
done
unlike "its account knows of no other" "$(cat "$CURRENT/ledger")" 'cost'

# The squares of what samples stand for, over what they stand for, and divisors.
while read -r grain divisors; do
	program "$divisors" | stream "$TMP/lowered"
	ok "rates divided by $divisors" replay "$TMP/lowered"
	report --intervals >"$TMP/report"
	taken=$(sed -n 's/^taken = //p' "$CURRENT/ledger")
	ok "$divisors: $taken samples of 200000, a wait more or less" awk -v n="$taken" \
		'BEGIN { exit !(n > 199872 && n < 200128) }'
	is "$divisors: all are stored" \
		"$(sed -n 's/^stored = //p' "$CURRENT/ledger")" "$taken"
	spread=$(sed -n 's/^cost.spread = //p' "$CURRENT/ledger")
	ok "$divisors: $spread more squares" awk -v s="$spread" -v n="$taken" \
		-v g="$grain" 'BEGIN { d = (1 + s / n) / g - 1; exit !(d < .02 && d > -.02) }'
	for name in early late rare; do
		share=$(row $name 2) interval=$(row $name 3)
		full=$(eval "echo \$full_$name")
		# Wilson's interval of so many samples.
		ok "$divisors: $name has $share %, $interval" awk -v p="$share" \
			-v n="$taken" -v g="$grain" -v i="$interval" 'BEGIN {
			z = 1.959964; n /= g; p /= 100; split(i, at, "-")
			middle = (p + z * z / (2 * n)) / (1 + z * z / n)
			half = z * sqrt(p * (1 - p) / n + z * z / (4 * n * n)) / (1 + z * z / n)
			low = at[1] / 100 - (middle - half)
			high = at[2] / 100 - (middle + half)
			exit !(low < 5e-5 && low > -5e-5 && high < 5e-5 && high > -5e-5) }'
		# Four such intervals to either side: one seed, no chance.
		ok "$divisors: which is the $full % of the full rate" \
			awk -v a="$share" -v b="$full" -v i="$interval" 'BEGIN {
			split(i, at, "-"); d = a - b
			exit !(d * d < 4 * (at[2] - at[1]) ^ 2) }'
	done
done <<'END'
2 2
8 8
2.5 1 4
64.5 128 1
2.875 1 2 4 8 4 2 1 1
END

# A sample counts for all that it stands for where it is lost, too.
{
	printf '%s\n' 'stream 1 8' 'event 0 0 0 0 1 1 TIMER' 'cpu 0' 'ctx 7 0' \
		'tgid 7' user 'times lowered 16' 'sample 0x1000 0'
} | stream "$TMP/lost"
replay "$TMP/lost"
is "a lost one is lost for all that it stood for" \
	"$(grep -c '^lost\..* = 16$' "$CURRENT/ledger")" 1

# What makes no sense.
{
	printf '%s\n' 'stream 1 8' 'event 0 0 0 0 1 1 TIMER' 'cpu 0' \
		'times lowered 129' 'sample 0x1000 0'
} | stream "$TMP/wrong"
replay "$TMP/wrong"
like "no rate is divided by so much" "$(log)" 'a record of code 29 is invalid'

# ---- what a daemon has written down

program '1 4' | stream "$TMP/lowered"
replay "$TMP/lowered"
cat >>"$CURRENT/ledger" <<'END'
cost.time_ns = 60000000000
cost.cpus_ns = 120000000000
cost.handler_ns = 600000000
cost.daemon_ns = 360000000
cost.lowered_ns = 12000000000
cost.budget = 10000
cost.divisor = 4
cost.rate = 1000
END
told='to 250/s for 12 s of 60 s to stay within 1 % of each CPU; cost 0.80 %'
like "the head tells of it" "$(report)" "^Rate lowered $told: each sample stands for"
for format in pprof firefox callgrind flamegraph; do
	report --format=$format --output-file="$TMP/out" || true
	like "$format" "$(gzip -dcf "$TMP/out" | strings)" "rate lowered $told"
done
like "json" "$(report --json | tr -d '\n ')" \
	'"cost":\{"time_ns":60000000000,.*"lowered_ns":12000000000,.*"divisor":4,"rate":1000,"percent":0.8[,}]'
like "xml" "$(report -X)" \
	'loweredby="4" loweredfor="12.0" of="60.0" cost="0.800">'
report -X >"$TMP/report.xml"
if command -v xmllint >/dev/null; then
	ok "which is as its schema says" xmllint --noout \
		--schema "$TOP/libpp/format/opreport.xsd" "$TMP/report.xml"
else
	skip "which is as its schema says" "no xmllint (package libxml2-utils)"
fi
cp -a "$SESSION/samples/current" "$SESSION/samples/before"
sed -i 's/^cost.divisor = .*/cost.divisor = 8/' "$SESSION/samples/before/ledger"
like "of two sessions the lowest" \
	"$(report session:current,before)" '^Rate lowered to 125/s for 24 s of 120 s'
sed -i 's/^cost.rate = .*/cost.rate = 0/' "$CURRENT/ledger"
like "counters have no rate in samples per second" "$(report)" \
	'^Rate lowered to 1/4 for 12 s of 60 s'
sed -i 's/^cost.time_ns = .*/cost.time_ns = some/' "$CURRENT/ledger"
report >/dev/null
like "a number that is none" "$(cat "$TMP/err")" 'cost.time_ns'
done_testing
