#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The module tells whose each sample is, by the policy of the machine: of two
# users, root, programs that give rights, a process that changes its user, and
# numbers of processes that are used again at once.
# timeout: 900
# vm-smp: 2
. "$(dirname "$0")/../../t/lib.sh"
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../../t/mine.sh"

chmod 755 "$TMP"
cd "$TMP" || exit 1
make_tools
mkdir -p /etc/oprofile
echo "mine = all" >/etc/oprofile/policy
ok "start" start
run_tools
ok "dump" "$BIN/opcontrol" --dump
check_mine

# With 400 numbers for processes each is used by both users.
ok "reset" "$BIN/opcontrol" --reset
before=$(cat /proc/sys/kernel/pid_max)
echo 400 >/proc/sys/kernel/pid_max
cat >short.sh <<'END'
i=0
while [ $((i += 1)) -le $2 ]; do
	./$1-tool 300000
done
END
nr=$(by_tier 150 300)
as "$ALICE" sh short.sh alice "$nr" >/dev/null &
as "$BOB" sh short.sh bob "$nr" >/dev/null
wait $!
echo "$before" >/proc/sys/kernel/pid_max
ok "dump again" "$BIN/opcontrol" --dump
images "$SESSION" >all
diag "$(tr '\n' ' ' <all)"
rm -rf "mine-$ALICE" "mine-$BOB"
ok "Alice asks again" mine "$ALICE"
is "she sees what all of root's session has of hers" \
	"$(images "mine-$ALICE")" "$(grep alice all)"
ok "Bob asks again" mine "$BOB"
is "he sees his" "$(images "mine-$BOB")" "$(grep bob all)"
ok "shutdown" "$BIN/opcontrol" --shutdown
ok "taken = stored + lost" sums_up
ok "deinit" "$BIN/opcontrol" --deinit
done_testing
