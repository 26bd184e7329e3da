#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Events that shared counters: a program whose samples of 8 events are known is
# profiled with 8, 4 and 2 counters, in streams that are made. Counts are scaled
# by what the stream says of the times, and every format tells so.
# sanitized: yes
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../daemon.sh"

# program COUNTERS: the stream of 4,000 slices of time. In each of them event
# number i may have a sample, somewhere; it is in the stream if the event has a
# counter then: events take turns, COUNTERS of them in each slice.
program() {
	awk -v nr="$1" '
	function random() {
		seed = (seed * 16807) % 2147483647
		return seed / 2147483647
	}
	BEGIN {
		seed = 4711
		print "stream 1 8\nsource 0 perf/EVENT_0"
		for (i = 0; i < 8; i++)
			printf "event %d %d %d 0 1 1 EVENT_%d\n", i, i, 1000 + i, i
		print "cookie 1 0 0 0 0 - /bin/busy\ncpu 0\nctx 7 1\ntgid 7\nimage 1\nuser"
		for (slice = 0; slice < 4000; slice++) {
			first = slice * nr % 8
			for (i = 0; i < 8; i++) {
				has = random() < 0.1 + i / 10
				at = 4096 + 16 * int(4 * random() * random())
				turn = (i - first + 8) % 8 < nr
				time[i] += turn
				if (has && turn) {
					printf "sample 0x%x %d\n", at, i
					taken++
				}
			}
		}
		for (i = 0; i < 8; i++)
			printf "event-time %d %.0f %.0f\n", i, 4000000000, time[i] * 1000000
		print "taken " taken
	}'
}

report() {
	"$BIN/opreport" --session-dir="$SESSION" "$@" 2>"$TMP/err"
}

# number KEY LINE: what is behind the word in the report of this event.
number() {
	sed -n "s/.*\"event\": \"$2\".*\"$1\": \\([0-9.]*\\).*/\\1/p" "$TMP/json"
}

program 8 | stream "$TMP/alone"
ok "each event has a counter" replay "$TMP/alone"
report >"$TMP/report"
unlike "nothing is said of scales" "$(cat "$TMP/report")" 'scaled'
report --json >"$TMP/json"
unlike "nor in JSON" "$(cat "$TMP/json")" 'scale'
for i in 0 1 2 3 4 5 6 7; do
	eval "alone_$i=\$(number samples EVENT_$i)"
done
ok "the account has the times" grep -qx \
	'counted.EVENT_3:1003:0 = 4000000000 of 4000000000 ns' "$CURRENT/ledger"

for counters in 4 2; do
	program $counters | stream "$TMP/shared"
	replay "$TMP/shared"
	report >"$TMP/report"
	report --json >"$TMP/json"
	scale=$((8 / counters))
	like "$counters counters: the head tells it" "$(cat "$TMP/report")" \
		"^EVENT_7 was counted $((100 / scale)).0 % of the time: counts are scaled by $scale, intervals widened; [0-9]+ samples in all, 95 % interval [0-9]+ to [0-9]+\$"
	for i in 0 1 2 3 4 5 6 7; do
		alone=$(eval "echo \$alone_$i")
		interval=$(sed -n "s/.*\"event\": \"EVENT_$i\".*\"samples_interval\": \\[\\([0-9.]*\\), \\([0-9.]*\\)\\].*/\\1 \\2/p" "$TMP/json")
		ok "$counters counters: $alone samples of EVENT_$i are in $interval" \
			awk -v n="$alone" -v i="$interval" \
			'BEGIN { split(i, at, " "); exit !(at[1] <= n && n <= at[2]) }'
	done
done

# The sample files hold what was taken.
taken=$(sed -n 's/^taken = //p' "$CURRENT/ledger")
for file in $(files); do pairs "$file"; done >"$TMP/pairs"
is "the files hold the samples that were taken" \
	"$(awk '{ n += $2 } END { print n }' "$TMP/pairs")" "$taken"

# Each format scales, and tells so.
only=event:EVENT_5
count=$(report --json $only | sed -n 's/.*"samples": \([0-9]*\)}.*/\1/p')
pieces=$(report -d --csv $only | awk -F, '$2 == "address" { n += $10 } END { print n }')
is "the addresses of a symbol add up to it" "$pieces" "$count"
like "csv" "$(report --csv $only)" "^1,scaled,EVENT_5:1005,,,,,,,$count,25\$"
like "xml" "$(report -X $only)" \
	'eventname="EVENT_5" unitmask="0" setupcount="1005" timecounted="25" scale="4"/>'
unlike "but not the original's" "$(report --xml=classic $only)" scale
report --html="$TMP/page.html" $only
like "html" "$(cat "$TMP/page.html")" '"scale": ?4,'
report --format=pprof --output-file="$TMP/profile.pb.gz" $only
told='EVENT_5:1005 was counted 25.0 % of the time'
like "pprof" "$(gzip -dc "$TMP/profile.pb.gz" | strings)" "$told"
like "firefox" "$(report --format=firefox $only)" "$told"
like "callgrind" "$(report --format=callgrind $only)" "$told"
is "the stacks of speedscope are scaled" "$(report --format=speedscope $only |
	sed -n 's/.*"endValue": \([0-9]*\).*/\1/p')" "$count"

# Shares have the intervals of the samples that were taken: with all n of them
# in one place Wilson's interval begins at n / (n + 1.96^2).
report --intervals $only >"$TMP/report"
low=$(awk '$NF == "busy" { sub(/-.*/, "", $3); print $3 }' "$TMP/report")
ok "the interval of a share is that of $((count / 4)) samples, from $low %" \
	awk -v n="$((count / 4))" -v low="$low" \
	'BEGIN { d = low - 100 * n / (n + 3.841459); exit !(d < 1e-3 && d > -1e-3) }'

# A session that goes on with more counters.
program 4 | stream "$TMP/four"
replay "$TMP/four"
replay_more "$TMP/alone"
like "times of both are added up" "$(report)" \
	'^EVENT_0 was counted 75.0 % of the time: counts are scaled by 1.333,'

# What makes no sense.
{
	program 8 | head -20
	echo 'event-time 9 1 1'
} | stream "$TMP/wrong"
replay "$TMP/wrong"
like "a counter without an event" "$(log)" 'a record of code 28 is invalid'
{
	program 8 | head -20
	echo 'event-time 0 1 2'
} | stream "$TMP/wrong"
replay "$TMP/wrong"
like "more time than there was" "$(log)" 'a record of code 28 is invalid'
unlike "it is not in the account" "$(ledger)" counted
done_testing
