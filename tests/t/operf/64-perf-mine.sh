#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Whose processes are whose on this machine: two users, root, programs that give
# rights, and a process that changes its user while it runs.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../perf.sh"

[ "$(id -u)" -eq 0 ] || skip_all "only root has a daemon for others"
needs_perf system
command -v perl >/dev/null || skip_all "no perl"
. "$(dirname "$0")/../mine.sh"

# shellcheck disable=SC2317 # lib.sh calls it
at_exit() {
	[ ! -s "$SESSION/run/lock" ] || kill -9 "$(cat "$SESSION/run/lock")"
}
ask_daemon() {
	"$TESTBIN/control" "$SESSION/run/control" "$1" >/dev/null
}

cd "$TMP" || exit 1
make_tools
echo "mine = all" >policy
chmod 644 policy
ok "a daemon that samples all" "$BIN/oprofiled" --session-dir="$SESSION" \
	--source=perf:rate=$RATE --cpu-budget=none --policy=policy
ok "begins" ask_daemon start
run_tools
ok "a dump" ask_daemon dump
check_mine
ok "the daemon ends" ask_daemon shutdown
ok "taken = stored + lost" sums_up
done_testing
