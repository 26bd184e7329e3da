#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Programs of an ordinary user that tell root's daemon of their code by files
# which do harm: none of them holds it up, ends it, or costs others their samples.
# timeout: 600

. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../perf.sh"

[ "$(id -u)" -eq 0 ] || skip_all "only root has a daemon for others"
needs_perf system
cd "$TMP" || exit 1
cp "$TESTBIN/spin" spin-tool

ask_daemon() {
	"$TESTBIN/control" "$SESSION/run/control" "$1" >/dev/null
}
# shellcheck disable=SC2317 # lib.sh calls it
at_exit() {
	[ ! -s "$SESSION/run/lock" ] || kill -9 "$(cat "$SESSION/run/lock")"
	# shellcheck disable=SC2086 # numbers
	kill -9 $guests 2>/dev/null
	wait 2>/dev/null
	for guest in $guests; do rm -f "/tmp/perf-$guest.map"; done
}
# guest HOW: a program of the user that makes code, told of as jitcode has it, and
# runs it until it is killed. Sets $guest.
guests=
user_folder dumps
guest() {
	mkfifo "stdin-$1"
	JITDUMPDIR=$TMP/dumps as_user "$TESTBIN/jitcode" "$1" 1 - \
		<"stdin-$1" >"pid-$1" &
	exec 8>"stdin-$1"
	await text "pid-$1"
	guest=$(cat "pid-$1")
	guests="$guests $guest"
	rm "stdin-$1"
}
replace_map() {
	as_user rm -f "/tmp/perf-$guest.map"
	as_user "$@"
}
# still_there NAME: the daemon answers, and others have their samples.
still_there() {
	./spin-tool 30000000 >/dev/null
	ok "$1: the daemon has all samples up to now" ask_daemon dump
	"$BIN/opreport" --session-dir="$SESSION" --format=csv -m all \
		>report 2>"$TMP/err"
	now=$(awk -F , '$2 == "image" && $5 ~ /spin-tool$/ { n += $10 }
		END { print n + 0 }' report)
	ok "$1: another program has $((now - before)) more" [ "$now" -gt "$before" ]
	before=$now
}

before=0
ok "a daemon for all" "$BIN/oprofiled" --session-dir="$SESSION" \
	--source=perf:rate=$RATE --cpu-budget=none
ok "samples" ask_daemon start
guest map
still_there "a map as it should be"
replace_map mkfifo "/tmp/perf-$guest.map"
still_there "a fifo"
replace_map mkdir "/tmp/perf-$guest.map"
still_there "a folder"
as_user rmdir "/tmp/perf-$guest.map"
replace_map ln -s /dev/zero "/tmp/perf-$guest.map"
still_there "a link to a device"
replace_map truncate -s 100G "/tmp/perf-$guest.map"
still_there "100 GB of nothing"
# Six million functions, faster than they are read.
replace_map sh -c "seq -f '%.0f0 10 f' 1000000 7000000 >/tmp/perf-$guest.map"
still_there "a map that grows faster than it is read"
replace_map sh -c "yes '7f0000000000 10 f' | head -c 100M >/tmp/perf-$guest.map"
still_there "a map of one function, a hundred megabytes long"
guest agent
dump=$(find dumps -name "jit-$guest.dump")
still_there "a jitdump as it should be"
as_user truncate -s 100G "$dump"
still_there "a jitdump of 100 GB"
as_user dd if=/dev/urandom of="$dump" bs=64k count=16 conv=notrunc 2>/dev/null
still_there "other bytes in it"
as_user truncate -s 10 "$dump"
still_there "a jitdump that is cut"
ok "the daemon ends" ask_daemon shutdown
ok "taken = stored + lost" sums_up
done_testing
