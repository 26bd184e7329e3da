#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Daemon and opcontrol together, on a folder that stands in for /dev/oprofile:
# its buffer is a pipe that the samples are written to.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../daemon.sh"

HOME=$TMP/home
OPROFILE_FS=$TMP/fs
export HOME OPROFILE_FS
mkdir -p "$HOME"
oprofilefs "$OPROFILE_FS" stats/event_lost_overflow=2 \
	stats/cpu0/sample_received=8
cd "$TMP" || exit 1

at_exit() {
	kill -9 "$(cat "$SESSION/run/lock")" 2>/dev/null
}

opcontrol() {
	"$BIN/opcontrol" "$@" 9<&-
}

samples() {
	stream "$TMP/words"
	cat "$TMP/words" >&9
}

ok 'the daemon starts in the background' opcontrol --start-daemon \
	--session-dir="$SESSION"
pid=$(cat "$SESSION/run/lock")
ok 'and runs' kill -0 "$pid"
exits 'a second one is refused' 1 "$BIN/oprofiled" --session-dir="$SESSION" \
	--source="oprofilefs:$OPROFILE_FS"
like 'with the pid of the first' "$("$BIN/oprofiled" \
	--session-dir="$SESSION" --source="oprofilefs:$OPROFILE_FS" 2>&1)" \
	"pid $pid"
ok 'sampling starts' opcontrol --start
is 'in the kernel' "$(cat "$OPROFILE_FS/enable")" 1
samples <<'END'
cpu 0
ctx 0 0
tgid 0
kernel
sample 0xffffffffd0000000 0 x3
image 0
user
sample 0x10 0
END
ok 'a dump' opcontrol --dump
is 'brings the ledger up to date' "$(ledger)" 'taken = 8
stored = 3
pending = 2
lost.event_lost_overflow = 2
lost.lost_no_image = 1'
like 'the status shows it' "$(opcontrol --status)" "running: pid $pid"
ok 'save' opcontrol --save=one
is 'leaves what is pending to the next session' "$(ledger)" 'taken = 2
stored = 0
pending = 2'
samples <<'END'
cpu 0
ctx 0 0
kernel
sample 0xffffffffd0000000 0 x2
END
ok 'shutdown' opcontrol --shutdown
ok 'ends the daemon' gone "$pid"
is 'sampling has ended' "$(cat "$OPROFILE_FS/enable")" 0
is 'nothing is pending' "$(ledger)" 'taken = 2
stored = 2
pending = 0'
ok 'the socket is gone' not test -e "$SESSION/run/control"

opcontrol --start-daemon --session-dir="$SESSION" >/dev/null
kill -9 "$(cat "$SESSION/run/lock")"
ok 'after kill -9 it starts again' opcontrol --start-daemon \
	--session-dir="$SESSION"
pid=$(cat "$SESSION/run/lock")
kill "$pid"
await end "$pid"
like 'and ends on SIGTERM' "$(ledger)" '^pending = 0$'
like 'the log has a block of statistics' "$(log)" \
	'^-- OProfile Statistics --$'
like 'and those of each CPU' "$(log)" '^Nr. samples received: 8$'

done_testing
