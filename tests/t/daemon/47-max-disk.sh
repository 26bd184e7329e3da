#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# --max-disk: samples never take more of the disk than it says, packed or not,
# also while they are packed, and every sample that this costs is in the account.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../daemon.sh"

NR=960 # programs

# programs FIRST LAST: two samples at one place, a third one at another, and a
# stack, of each program; thread by thread, so that each has files of its own.
programs() {
	awk -v first="$1" -v last="$2" 'BEGIN {
		print "stream 1 8\ncookie 1 0 0 0 0 - /lib/libc.so.6"
		for (i = first; i <= last; i++)
			print "cookie " i " 0 0 0 0 - /opt/bin/prog" i
		print "cpu 0"
		for (i = first; i <= last; i++) {
			print "ctx " i " " i "\ntgid " i "\nimage " i "\nuser"
			print "sample 16 0\nsample 16 0\nsample " i * 16 " 0"
			if (i % 10)
				continue
			print "trace\nimage 1\nuser\nsample 64 0"
			print "image " i "\nuser\nsample 80 0\ntrace-end 1"
		}
	}'
}
# watched COMMAND...: run it, and have the most KiB that samples took in $most.
watched() {
	"$@" &
	pid=$!
	most=0
	while ! gone "$pid"; do
		now=$(du -sk "$CURRENT" 2>/dev/null | cut -f1)
		[ "${now:-0}" -le "$most" ] || most=$now
	done
	now=$(du -sk "$CURRENT" | cut -f1)
	[ "$now" -le "$most" ] || most=$now
	wait "$pid"
}
# account: "TAKEN STORED LOST REST" of the ledger, LOST by --max-disk alone.
account() {
	awk '{ nr[$1] = $3 }
		END { print nr["taken"], nr["stored"], nr["lost.lost_max_disk"] + 0,
			nr["taken"] - nr["stored"] - nr["lost.lost_max_disk"] }' \
		"$CURRENT/ledger"
}
field() {
	account | cut -d' ' -f"$1"
}

programs 2 $NR | stream "$TMP/stream"
replay "$TMP/stream" --separate-lib=1 --separate-thread=1 --pack-at=0
all=$(field 1)
is "without a limit all is stored" "$(account)" "$all $all 0 0"
free=$(du -sk "$CURRENT" | cut -f1)
ok "which takes $free KiB, several times the limit" [ "$free" -gt 4096 ]

# ---- not packed

rm -rf "$SESSION"
ok "with a limit the daemon goes on to the end" watched replay "$TMP/stream" \
	--separate-lib=1 --separate-thread=1 --pack-at=0 --max-disk=1
ok "samples have never taken more: $most KiB" [ "$most" -le 1024 ]
ok "and much of what they may" [ "$most" -ge 768 ]
stored=$(field 2)
is "each sample is stored or lost by that cause" \
	"$(account)" "$all $stored $((all - stored)) 0"
ok "some of both" expr "$stored" \> 50 \& "$stored" \< "$all"
like "the log says it" "$(log)" \
	'samples/current: has what --max-disk allows; samples at new places are lost$'
is "once" "$(log | grep -c max-disk)" 1
like "so does the head of a report" \
	"$("$BIN/opreport" --session-dir="$SESSION" 2>&1)" \
	"$((all - stored)) .*lost_max_disk"

# The same again: places that have a count go on counting.
ok "another daemon" watched replay_more "$TMP/stream" \
	--separate-lib=1 --separate-thread=1 --pack-at=0 --max-disk=1
is "each sample is stored or lost by that cause again" \
	"$(account | cut -d' ' -f1,4)" "$((2 * all)) 0"
# It looks at what the files really take, which is less than was estimated.
ok "it counts what was counted before, and little more: $(field 2)" expr \
	"$(field 2)" \>= $((2 * stored)) \& "$(field 2)" \< $((2 * stored * 11 / 10))
ok "in no more of the disk: $most KiB" [ "$most" -le 1024 ]

# ---- packed

rm -rf "$SESSION"
total=0
from=2
for to in 320 640 960; do
	programs $from $to | stream "$TMP/part"
	ok "programs $from to $to" watched replay_more "$TMP/part" \
		--separate-lib=1 --separate-thread=1 --max-disk=1
	ok "never more than the limit: $most KiB" [ "$most" -le 1024 ]
	[ "$most" -le "$total" ] || total=$most
	from=$((to + 1))
done
is "the account adds up" "$(account | cut -d' ' -f1,4)" "$all 0"
ok "packing has made room for more: $(field 2) samples, not $stored" \
	[ "$(field 2)" -gt "$stored" ]
ok "though the most was $total KiB" [ "$total" -le 1024 ]
like "what is packed is said" "$(log)" 'packed [0-9]+ sample files'

# ---- a session that has more already

replay "$TMP/stream" --separate-lib=1 --separate-thread=1 --pack-at=0
replay_more "$TMP/stream" --separate-lib=1 --separate-thread=1 --pack-at=0 \
	--max-disk=1
is "loses nothing that has a count" "$(account)" "$((2 * all)) $((2 * all)) 0 0"

done_testing
