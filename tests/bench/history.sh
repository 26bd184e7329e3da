#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Reports of a history of 90 days as --history keeps it by default: 120 minutes,
# 166 hours and 83 days, each with samples of 300 programs at 12,000 places.
. "$(dirname "$0")/../t/lib.sh"
. "$TOP/tests/t/daemon.sh"
. "$TOP/tests/bench/rows.sh"

PROGRAMS=300
awk -v nr=$PROGRAMS 'BEGIN {
	srand(1)
	print "stream 1 8\ncpu 0"
	for (i = 1; i <= nr; i++) {
		print "cookie " i " 0 0 0 0 - /opt/bin/prog" i
		print "ctx " i " " i "\ntgid " i "\nimage " i "\nuser"
		for (j = 0; j < 40; j++)
			print "sample " 64 * j + int(60 * rand()) " 0 x" 1 + j % 7
	}
}' | stream "$TMP/stream"
replay "$TMP/stream" --history=1G,minute:2h,hour:7d,day:90d >/dev/null
span=$(echo "$CURRENT"/.span-*)
mv "$span" "$TMP/span" || exit 1

# spans NR SECONDS END: so many of that length, the last one ends at END.
spans() {
	at=$3
	while [ "$at" -gt $(($3 - $1 * $2)) ]; do
		cp -r "$TMP/span" "$CURRENT/.span-$((at - $2))-$at"
		at=$((at - $2))
	done
}
now=$(($(date +%s) / 3600 * 3600))
spans 120 60 $now
spans 166 3600 $((now - 7200))
spans 83 86400 $((now - 604800))
echo "$(find "$CURRENT" -name '.span-*' | wc -l) spans, $(du -sm "$CURRENT" | cut -f1) MB"

# seconds ARG...: of the processor that a report takes, the least of three.
seconds() {
	for _ in 1 2 3; do
		"$TESTBIN/cost" "$TMP/cost" "$BIN/opreport" \
			--session-dir="$SESSION" "$@" >"$TMP/report" \
			2>"$TMP/err" || exit 1
		sed -n 's/^cpu //p' "$TMP/cost"
	done | sort -n | head -n 1
}
# row WHAT ARG...
row() {
	what=$1
	shift
	took=$(seconds "$@")
	echo "$what: $took s, $(sed -n 's/^Time: //p' "$TMP/report")"
	bench_row "history: $what" 'CPU seconds' "$took" '' '' '<=0.3'
}
row 'a minute' "time:@$((now - 600))-@$((now - 540))"
row 'an hour of minutes' "time:@$((now - 3600))-@$now"
row 'an hour, three days ago' "time:@$((now - 255600))-@$((now - 252000))"
row 'an hour, of a day' "time:@$((now - 2592000))-@$((now - 2588400))"
row 'an hour of minutes, symbols' -l "time:@$((now - 3600))-@$now"
row 'a week of hours, symbols' -l "time:@$((now - 604800))-@$((now - 7200))"
echo "all, symbols: $(seconds -l) s"
echo "all, symbols over time: $(seconds --over-time) s"
test_finished=yes
