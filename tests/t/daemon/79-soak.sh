#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The soak run, for a minute: it finds nothing wrong, and draws its picture. And it
# fails when the daemon is killed in between.
# tier: all
# timeout: 600
# alone: yes

. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../perf.sh"

needs_perf system
[ "$(id -u)" = 0 ] || skip_all 'needs root'
mkdir "$TMP/O"
for folder in bin tests events; do
	ln -s "$O/$folder" "$TMP/O/$folder"
done

soak() {
	O=$TMP/O "$TOP/utils/soak" "$1" >"$TMP/out" 2>"$TMP/err"
}
ok "a minute" soak 0.017
sed 's/^/# /' "$TMP/out" "$TMP/err"
like "what it says" "$(cat "$TMP/out")" \
	'^soak: [0-9]+ s, [0-9]+ samples taken, [0-9]+ lost \(.*, at most [0-9]+ MiB of memory'
ok "it was measured again and again" [ "$(grep -vc "#" "$TMP/O/soak/soak.tsv")" -gt 4 ]
like "its picture" "$(cat "$TMP/O/soak/soak.svg")" 'disk of the session folder, MiB'

kill_daemon() {
	await file "$TMP/O/soak/go"
	kill -9 "$(cat "$TMP/O/soak/session/run/lock")"
}
rm -rf "$TMP/O/soak"
kill_daemon &
exits "a daemon that is killed" 1 soak 0.01
wait
like "it says so" "$(cat "$TMP/err")" 'the daemon has ended'
done_testing
