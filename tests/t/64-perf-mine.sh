#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Whose processes are whose on this machine: two users, root, programs that give
# rights, and a process that changes its user while it runs.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/perf.sh"

[ "$(id -u)" -eq 0 ] || skip_all "only root has a daemon for others"
needs_perf system
command -v perl >/dev/null || skip_all "no perl"
ALICE=$((test_user + 1))
BOB=$((test_user + 2))
cd "$TMP" || exit 1

as() {
	as_uid=$1
	shift
	setpriv --reuid="$as_uid" --regid="$as_uid" --clear-groups \
		--inh-caps=-all -- "$@"
}
# mine USER: their samples in mine-USER, and the images in them, NAME COUNT.
mine() {
	mkdir "mine-$1" && chown "$1" "mine-$1"
	as "$1" "$BIN/opcontrol" --mine="mine-$1" --session-dir="$SESSION"
}
# images FOLDER: a line "NAME COUNT" for each of the programs of this test, of
# samples in the programs themselves.
images() {
	"$BIN/opreport" --session-dir="$1" -m all --format=csv 2>"$TMP/err" |
		awk -F , '$2 == "image" && $5 ~ /-tool$|perl$/ {
			sub(/.*\//, "", $5)
			n[$5] += $10
		} END { for (i in n) print i, n[i] }' | sort
}
names() {
	images "$1" | sed 's/ .*//' | tr '\n' ' '
}
# shellcheck disable=SC2317 # lib.sh calls it
at_exit() {
	[ ! -s "$SESSION/run/lock" ] || kill -9 "$(cat "$SESSION/run/lock")"
}
ask_daemon() {
	"$TESTBIN/control" "$SESSION/run/control" "$1" >/dev/null
}

for name in alice bob root setuid setgid short; do
	cp "$TESTBIN/spin" "$name-tool"
done
chmod 755 ./*-tool
chmod u+s setuid-tool
chmod g+s setgid-tool
echo "mine = all" >policy
chmod 644 policy
ok "a daemon that samples all" "$BIN/oprofiled" --session-dir="$SESSION" \
	--source=perf:rate=$RATE --policy=policy
ok "begins" ask_daemon start
./root-tool 100000000 >/dev/null
# Root that becomes Alice without another program is nobody's.
perl -e '$( = $) = $ARGV[0]; $< = $> = $ARGV[0];
	for ($i = 0; $i < 5000000; $i++) { }' "$ALICE"
cat >alice.sh <<'END'
./alice-tool 300000000
./setuid-tool 100000000
./setgid-tool 100000000
i=0
while [ $((i += 1)) -le 40 ]; do
	./short-tool 5000000
done
END
as "$ALICE" sh alice.sh >/dev/null
as "$BOB" sh -c './bob-tool 200000000; true' >/dev/null
ok "a dump" ask_daemon dump
images "$SESSION" >all
diag "$(tr '\n' ' ' <all)"
perl=$(basename "$(realpath "$(command -v perl)")")
is "root sees all of them" "$(sed 's/ .*//' all | tr '\n' ' ')" \
	"alice-tool bob-tool $perl root-tool setgid-tool setuid-tool short-tool "
ok "Alice asks" mine "$ALICE"
diag "$(images "mine-$ALICE" | tr '\n' ' ')"
is "she sees her programs alone" "$(names "mine-$ALICE")" \
	"alice-tool short-tool "
ok "also those that lived for a moment" [ \
	"$(images "mine-$ALICE" | sed -n 's/short-tool //p')" -gt \
	$(($(sed -n 's/short-tool //p' all) / 2)) ]
like "with one number for the kernel" \
	"$(find "mine-$ALICE/samples/current" -path '*/{dep}/{kern}/*' -type d |
		sed 's|.*{kern}/||' | sort -u)" '^(kernel)?$'
ok "Bob asks" mine "$BOB"
is "he sees his" "$(names "mine-$BOB")" "bob-tool "
as $((BOB + 1)) "$BIN/opcontrol" --mine="$TMP/none" --session-dir="$SESSION" \
	>out 2>&1
like "whoever ran nothing has nothing" "$? $(cat out)" \
	'^1 opcontrol: oprofiled: there are no samples of your processes'
ok "the daemon ends" ask_daemon shutdown
ok "taken = stored + lost" sums_up
done_testing
