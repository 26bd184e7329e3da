#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A user who makes new images without end has a quarter of the room for images and
# for their names; other users' new programs, and root's, have names all the same.
# timeout: 600
# vm-smp: 2
. "$(dirname "$0")/../../t/lib.sh"
. "$(dirname "$0")/../lib.sh"

chmod 755 "$TMP"

# begin: sampling, with room for 1,024 images and 512 KiB of names; no more samples
# than a daemon can take on a kernel that checks itself.
begin() {
	ok "$1: load" insmod "$O/module/$(uname -r)/oprofile.ko" max_images=1024
	ok "$1: start" start --separate=lib --callgraph=16 --timer-rate=100
}

# many NR FOLDER: images of the ordinary user, most of them on stacks alone.
many() {
	mkdir -p "$2" && give_to_user "$TMP/theirs" &&
		as_user "$TESTBIN/hangfile" many "$1" "$2"
}

# named FOLDER: how many files in it are images with a name.
named() {
	grep -c " $1/" /dev/oprofile/cookies
}

# fresh NAME: runs a program that was never seen before for a second, as "$@".
fresh() {
	fresh=$1 ran=0
	shift
	cp "$TESTBIN/spin" "$TMP/$fresh"
	while [ "$ran" -lt 1000000000 ]; do
		ran=$((ran + $("$@" "$TMP/$fresh" 60000000))) || return
	done
}

as_another() {
	setpriv --reuid=$((test_user + 1)) --regid=$((test_user + 1)) \
		--clear-groups --inh-caps=-all -- "$@"
}

# image_samples NAME: of the report's lines of that program.
image_samples() {
	awk -v name="$1" '$1 ~ /^[0-9]+$/ && $3 == name { n += $1 }
		END { print n + 0 }' "$TMP/report"
}

# others_have_names WHAT: those who come after the crowd.
others_have_names() {
	fresh "$1-root"
	fresh "$1-other" as_another
	ok "$1: stop" stop
	lost=$(module_stat sample_lost_no_cookie)
	ok "$1: taken = stored + lost" sums_up
	report "image:*"
	sed 's/^/# /' "$TMP/report" | head -12
	for who in root other; do
		got=$(image_samples "$1-$who")
		ok "$1: a new program of the $who's has its name: $got samples" \
			[ "$got" -gt 20 ]
	done
}

# ---- their number

begin number
mkdir "$TMP/theirs"
fresh 'two
lines'
ok "a name has one line" grep -q '/two\\012lines$' /dev/oprofile/cookies
many 1100 "$TMP/theirs/number"
nr=$(named "$TMP/theirs/number")
ok "number: the user's files have a quarter of it: $nr" \
	[ "$nr" -gt 200 -a "$nr" -le 256 ]
fresh number-late as_user
ok "number: then the user's samples are lost: $(module_stat sample_lost_no_cookie)" \
	[ "$(module_stat sample_lost_no_cookie)" -gt 20 ]
others_have_names number
is "number: the account has these losses" "$(ledger lost.sample_lost_no_cookie)" "$lost"
ok "number: unload" "$BIN/opcontrol" --deinit

# ---- their names

begin names
long=$(printf '%0250d' 0)
folder=$TMP/theirs/$long/$long/$long
many 250 "$folder"
nr=$(named "$folder")
# Each has 800 bytes and the temporary folder's.
ok "names: the user's have a quarter of the bytes: $nr names" \
	[ "$nr" -gt 100 -a $((nr * (${#folder} + 2))) -le $((128 << 10)) ]
others_have_names names
end_profiler
done_testing
