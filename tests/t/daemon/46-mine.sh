#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Ordinary users get the samples of their own processes from root's daemon, and
# nobody else's, as far as a policy lets them.

. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../daemon.sh"

POLICY=$TMP/policy
ALICE=$((test_user + 1))
BOB=$((test_user + 2))
event=TIMER.0.0.all.all.all

[ "$(id -u)" -eq 0 ] || {
	skip "all of it" "only root has a daemon for others"
	done_testing
}
chmod 755 "$TMP"
cd "$TMP" || exit 1

# as USER GROUP CMD...: as an ordinary user, in one group.
as() {
	as_uid=$1 as_gid=$2
	shift 2
	setpriv --reuid="$as_uid" --regid="$as_gid" --clear-groups \
		--inh-caps=-all -- "$@" 9<&-
}
# mine USER [GROUP]: their samples, in a new folder $DIR.
folders=0
mine() {
	DIR=$TMP/mine-$1-$((folders += 1))
	mkdir "$DIR" && chown "$1" "$DIR"
	as "$1" "${2:-$1}" "$BIN/opcontrol" --mine="$DIR" \
		--session-dir="$SESSION"
}
refused() {
	refused_name=$1 wanted=$2
	shift 2
	status=0
	mine "$@" >"$TMP/out" 2>&1 || status=$?
	like "$refused_name" "$status $(cat "$TMP/out")" "^1 opcontrol: $wanted"
}
mine_files() {
	(CURRENT=$DIR/samples/current && files | grep '/TIMER[^/]*$')
}
mine_pairs() {
	(CURRENT=$DIR/samples/current && pairs "$1")
}
policy() {
	printf '%s\n' "$@" >"$POLICY"
	chmod 644 "$POLICY"
}
start() {
	oprofilefs "$TMP/fs"
	"$BIN/oprofiled" --session-dir="$SESSION" \
		--source="oprofilefs:$TMP/fs" --policy="$POLICY"
}
stop() {
	daemon=$(cat "$SESSION/run/lock")
	kill "$daemon"
	await end "$daemon"
	rm -rf "$TMP/fs"
}
# shellcheck disable=SC2317 # lib.sh calls it
at_exit() {
	[ ! -s "$SESSION/run/lock" ] || kill -9 "$(cat "$SESSION/run/lock")"
}

# ---- whose samples are whose -------------------------------------------------
# Process 100 is Alice's, runs a program that changes its user (no owner), and is
# one of Bob's by the end: the number was used again.
stream "$TMP/stream" <<END
stream 1 8
cookie 1 0 0 0 7 0123456789abcdef0123456789abcdef01234567 /home/alice/tool
cookie 2 0 0 0 0 - /home/bob/secret
cookie 3 0 0 0 0 - /usr/bin/sudo
cookie 4 0 0 0 0 - /lib/libc.so.6
kernel-range first 0xffffffff81000000 0xffffffff82000000 - vmlinux
kernel-range 0xffffffffc0000000 0xffffffffc0001000 - ext4
cpu 0
ctx 100 1
tgid 100 $ALICE
image 1
user
sample 0x10 0 x3
sample 0x20 0
image 4
sample 0x4000 0 x2
anon 0x7000 0x8000 "anon"
sample 0x30 0
kernel
sample 0xffffffff81000123 0 x4
sample 0xffffffffc0000020 0
ctx 100 3
tgid 100
image 3
user
sample 0x50 0 x7
kernel
sample 0xffffffff81000200 0
ctx 100 2
tgid 100 $BOB
image 2
user
sample 0x60 0 x5
ctx 1 3
tgid 1
image 3
user
sample 0x70 0 x9
END
ok "root's session, users apart" replay "$TMP/stream" --separate-user=1 \
	--separate-lib=1 --separate-kernel=1
is "names of sample files tell the user" "$(files | grep alice)" \
	"{root}/home/alice/tool/{user}/$ALICE/{dep}/{anon:anon}/100.0x7000.0x8000/$event
{root}/home/alice/tool/{user}/$ALICE/{dep}/{kern}/ext4/$event
{root}/home/alice/tool/{user}/$ALICE/{dep}/{kern}/vmlinux/$event
{root}/home/alice/tool/{user}/$ALICE/{dep}/{root}/home/alice/tool/{build:0123456789abcdef0123456789abcdef01234567}/$event
{root}/home/alice/tool/{user}/$ALICE/{dep}/{root}/lib/libc.so.6/$event"
"$BIN/opreport" --session-dir="$SESSION" -m all >"$TMP/out" 2>&1
like "reports do not keep them apart" "$(cat "$TMP/out")" ' 9 .*sudo|16 .*sudo'

# ---- policies ----------------------------------------------------------------
rm -f "$POLICY"
policy "mine = all"
chmod 666 "$POLICY"
exits "others could have written the policy" 1 start
rm -rf "$TMP/fs"
like "which is said" "$(start 2>&1)" \
	"^oprofiled: $POLICY: others could have written it; "
rm -rf "$TMP/fs"
for line in "mine = everybody" "mine = group:no-such-group" "mine =" \
	"mine = users $ALICE,no-such-user" "kernel = perhaps" "yours = all"; do
	policy "$line"
	start >"$TMP/out" 2>&1
	like "a policy that makes no sense: $line" "$? $(cat "$TMP/out")" \
		"^1 oprofiled: $POLICY: "
	rm -rf "$TMP/fs"
done
policy "mine = none"
ok "a daemon that hands over nothing" start
refused "has no socket for others" ".*/run/mine: no daemon hands over samples" \
	"$ALICE"
stop
policy "mine = users $ALICE"
ok "a daemon for one user" start
refused "refuses another" \
	"oprofiled: the policy of this machine does not let user $BOB " "$BOB"
ok "that one has samples" mine "$ALICE"
refused "not twice at once" "oprofiled: you were given your samples just now" \
	"$ALICE"
stop
policy "mine = group:$BOB"
ok "a daemon for a group" start
refused "refuses who is in another" "oprofiled: the policy" "$ALICE"
ok "who is in it has samples" mine "$ALICE" "$BOB"
is "which are their own" "$(mine_files | grep -c -v '^{root}/home/alice/')" 0
policy "mine = none"
kill -HUP "$(cat "$SESSION/run/lock")"
await line "$SESSION/samples/oprofiled.log" 'closed all'
refused "then nobody has" "oprofiled: the policy" "$BOB"
stop

# ---- what they get -----------------------------------------------------------
policy "# who" "mine = all"
ok "a daemon for all" start
like "its status tells" "$("$TESTBIN/control" "$SESSION/run/control" status)" \
	"mine = all"
ok "Alice asks" mine "$ALICE"
is "she has what is hers, and one number for the kernel" "$(mine_files)" \
	"{root}/home/alice/tool/{dep}/{anon:anon}/100.0x7000.0x8000/$event
{root}/home/alice/tool/{dep}/{kern}/kernel/$event
{root}/home/alice/tool/{dep}/{root}/home/alice/tool/{build:0123456789abcdef0123456789abcdef01234567}/$event
{root}/home/alice/tool/{dep}/{root}/lib/libc.so.6/$event"
is "with the counts" \
	"$(mine_pairs "{root}/home/alice/tool/{dep}/{root}/home/alice/tool/{build:0123456789abcdef0123456789abcdef01234567}/$event")" \
	'0x10 3
0x20 1'
is "and no address of the kernel" \
	"$(mine_pairs "{root}/home/alice/tool/{dep}/{kern}/kernel/$event")" '0x0 5'
is "all of it is hers" "$(find "$DIR" ! -user "$ALICE")" ""
ok "she sees a report" as "$ALICE" "$ALICE" "$BIN/opreport" \
	--session-dir="$DIR"
ok "Bob asks" mine "$BOB"
is "he has what is his" "$(mine_files)" \
	"{root}/home/bob/secret/{dep}/{root}/home/bob/secret/$event"
refused "somebody without processes has nothing" \
	"oprofiled: there are no samples of your processes" $((BOB + 1))
DIR=$TMP/mine-$BOB
as "$BOB" "$BOB" "$BIN/opcontrol" --mine="$(dirname "$DIR")" \
	--session-dir="$SESSION" >"$TMP/out" 2>&1
like "a folder that they may not write to" "$? $(cat "$TMP/out")" '^1 opcontrol: '
stop

span=$SESSION/samples/current/.span-1000000000-1000000060
mkdir "$span"
mv "$SESSION/samples/current/{loose}" "$span"
policy "mine = all"
ok "a daemon of a session whose samples are all in its history" start
ok "Alice asks it" mine "$ALICE"
is "she has what is hers, from the history" \
	"$(mine_pairs "{root}/home/alice/tool/{dep}/{root}/home/alice/tool/{build:0123456789abcdef0123456789abcdef01234567}/$event")" \
	'0x10 3
0x20 1'
stop
mv "$span/{loose}" "$SESSION/samples/current"
rm -r "$span"

policy "mine = all" "kernel = yes"
ok "a daemon that tells of the kernel" start
ok "Alice asks it" mine "$ALICE"
is "she has offsets in the kernel" \
	"$(mine_pairs "{root}/home/alice/tool/{dep}/{kern}/vmlinux/$event")
$(mine_pairs "{root}/home/alice/tool/{dep}/{kern}/ext4/$event")" '0x123 4
0x20 1'

# ---- hostile clients ---------------------------------------------------------
# Bob has more samples than a socket holds, and does not read them.
stop
{
	echo "stream 1 8"
	echo "cookie 1 0 0 0 0 - /home/bob/large"
	echo "cpu 0"
	echo "ctx 200 1"
	echo "tgid 200 $BOB"
	echo "image 1"
	echo "user"
	seq 1 30000 | sed 's/.*/sample & 0/'
} | "$TESTBIN/mkstream" >"$TMP/large"
ok "Bob has many samples" replay_more "$TMP/large" --separate-user=1
policy "mine = all"
ok "a daemon for both" start
daemon=$(cat "$SESSION/run/lock")
# crowd USER NR: connections that read nothing, until $crowd is killed.
crowd() {
	setpriv --reuid="$1" --regid="$1" --clear-groups --inh-caps=-all -- \
		"$TESTBIN/control" --crowd "$SESSION/run/mine" "$2" \
		>"$TMP/crowd-$1" 9<&- &
	crowd=$!
	await line "$TMP/crowd-$1" connected
}
answering() {
	cat "/proc/$daemon/task/$daemon/children"
}
crowd "$BOB" 1
bob=$crowd child=$(answering)
like "a child sends to who reads nothing" "$child" '^[0-9]+ $'
crowd "$BOB" 1000
is "a thousand more have none of their own" "$(answering)" "$child"
like "the daemon answers root meanwhile" \
	"$("$TESTBIN/control" "$SESSION/run/control" status)" "pid = $daemon"
ok "and Alice" mine "$ALICE"
is "with all that is hers" "$(mine_files | wc -l)" 4
is "while Bob is being sent his" "$(answering)" "$child"
kill "$crowd" "$bob"
wait "$crowd" "$bob" 2>/dev/null
await end "${child% }"
wait_until_reaped() {
	"$TESTBIN/control" "$SESSION/run/control" status >/dev/null
	[ -z "$(answering)" ]
}
ok "a client that is gone ends its child" wait_until_reaped
stop
ok "a new daemon" start
ok "gives Bob his" mine "$BOB"
is "all of it" "$("$BIN/opreport" --session-dir="$DIR" 2>/dev/null |
	awk '/large/ { print $1 }')" 30000
stop
done_testing
