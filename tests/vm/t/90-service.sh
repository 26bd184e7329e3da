#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Where systemd boots the machine: the service of an installation has the module
# loaded and samples since the boot; it is stopped and started again, and its
# session goes on with all counts after the daemon was killed.
# tier: all
# timeout: 600
# vm-append: vm.init=systemd
# vm-debug: none: what is installed has a module for one kernel
. "$(dirname "$0")/../../t/lib.sh"
. "$(dirname "$0")/../lib.sh"

SESSION=/var/lib/oprofile
SERVICE=oprofile.service

# property NAME: of the service, as systemd knows it.
property() {
	systemctl show -P "$1" $SERVICE
}
state() {
	echo "$(property ActiveState) $(property SubState)"
}
# work: all but the very last samples of a busy program are in the session.
work() {
	"$TESTBIN/burnmix" 2 >/dev/null
	/usr/bin/opcontrol --dump
}
# burnt: the samples of that program.
burnt() {
	/usr/bin/opreport >"$TMP/report" 2>"$TMP/report.err"
	samples burnmix
}
# another_daemon PID: another one than that is ready.
another_daemon() {
	[ "$(state)" = "active running" ] && [ "$(property MainPID)" != "$1" ]
}

# ---- since the boot

is "systemd is process 1" "$(cat /proc/1/comm)" systemd
is "the service was started at boot" "$(state)" "active running"
is "the module is loaded" "$(grep -c '^oprofile ' /proc/modules)" 1
is "its files are where the mount unit has them" \
	"$(systemctl is-active dev-oprofile.mount) $(cat /dev/oprofile/enable)" "active 1"
pid=$(property MainPID)
is "the daemon itself has told that it is ready" \
	"$(readlink "/proc/$pid/exe") $pid" "/usr/bin/oprofiled $(daemon_pid)"
is "by the module, not by perf" \
	"$(find "/proc/$pid/fd" -lname /dev/oprofile/buffer | wc -l)" 1
like "it is first in turn, and what it starts is not" "$(chrt -p "$pid")" \
	'SCHED_OTHER\|SCHED_RESET_ON_FORK$'
ok "samples are stored" work
unlike "the kernel's symbols are found" "$(cat $SESSION/samples/oprofiled.log)" \
	/proc/kallsyms
first=$(burnt)
ok "a program has $first of them" [ "$first" -gt 0 ]
ok "systemctl reload stores what is on its way" systemctl reload $SERVICE

# ---- stopped, started

ok "systemctl stop" systemctl stop $SERVICE
is "nothing runs, and that is no failure" \
	"$(state) $(property Result) $(cat /dev/oprofile/enable)" "inactive dead success 0"
ok "the daemon has gone" gone "$pid"
ok "the account is complete" sums_up
ok "systemctl start" systemctl start $SERVICE
ok "systemctl restart" systemctl restart $SERVICE
ok "samples are stored again" work
second=$(burnt)
ok "beside those of before, now $second" [ "$second" -gt "$first" ]

# ---- the daemon dies

pid=$(property MainPID)
kill -KILL "$pid"
wait_until "the service to start another daemon" another_daemon "$pid"
is "systemd has started it once more" "$(property NRestarts)" 1
third=$(burnt)
ok "no count has gone: $third" [ "$third" -ge "$second" ]
ok "samples are stored after that" work
fourth=$(burnt)
ok "beside those of before, now $fourth" [ "$fourth" -gt "$third" ]
ok "the session is sound" /usr/bin/opreport --check
is "the module samples" "$(cat /dev/oprofile/enable)" 1
ok "it stops" systemctl stop $SERVICE
is "in order" "$(state) $(property Result)" "inactive dead success"

# That the daemon was killed is said; nothing else is.
journalctl --no-pager -u $SERVICE -u dev-oprofile.mount -o cat >"$TMP/journal"
sed 's/^/# /' "$TMP/journal"
journalctl --no-pager -u $SERVICE -u dev-oprofile.mount -p warning -o cat |
	grep -v -e 'Main process exited, code=killed, status=9/KILL' \
		-e "Failed with result 'signal'" -e 'which is not our child' >"$TMP/warnings"
is "no other warning or error is in the journal" "$(cat "$TMP/warnings")" ""
ok "the mount unit stops" systemctl stop dev-oprofile.mount
is "nothing is mounted then" "$(grep -c oprofilefs /proc/mounts)" 0
ok "no complaint from the kernel" kernel_is_content
diag "$(systemd-analyze time | head -n 1); all of it: $(cut -d ' ' -f 1 /proc/uptime) s"
done_testing
