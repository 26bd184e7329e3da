#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# How long one waits for opcontrol: milliseconds by the clock, the median of
# ROUNDS (7) rounds, with a daemon that samples all CPUs through perf_events.
. "$(dirname "$0")/../t/lib.sh"
. "$TOP/tests/t/perf.sh"
. "$TOP/tests/bench/rows.sh"

needs_perf system
HOME=$TMP/home
export HOME
mkdir "$HOME"
# shellcheck disable=SC2317 # lib.sh calls it
at_exit() {
	"$BIN/opcontrol" --shutdown >/dev/null 2>&1
}

# timed COMMAND: runs opcontrol and adds what it took to the file COMMAND.
timed() {
	"$TESTBIN/cost" "$TMP/cost" "$BIN/opcontrol" "--$1" >"$TMP/out" 2>&1 || {
		cat "$TMP/out" >&2
		exit 1
	}
	awk '$1 == "wall" { print $2 * 1e3 }' "$TMP/cost" >>"$TMP/$1"
}
median() {
	sort -n "$TMP/$1" | awk '{ n[NR] = $1 } END { print n[int((NR + 1) / 2)] }'
}

"$BIN/opcontrol" --setup --source=perf --session-dir="$SESSION" || exit 1
for _ in $(seq "${ROUNDS:-7}"); do
	timed start
	timed status
	timed dump
	timed shutdown
done
while read -r command bar; do
	echo "opcontrol --$command: $(median "$command") ms"
	bench_row "opcontrol --$command" ms "$(median "$command")" '' '' "<=$bar"
done <<'END'
status 5
start 200
dump 50
shutdown 200
END
test_finished=yes
