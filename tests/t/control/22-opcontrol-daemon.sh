#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# opcontrol and its daemon, of which a fake answers; a folder of plain files is
# oprofilefs.

. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../opcontrol.sh"

ok "settings" opcontrol --session-dir="$session" --separate=lib,cpu \
	--buffer-size=65536 --timer-rate=500 --event=timer

# ---- without a daemon

says "--dump without a daemon" 1 "opcontrol: --dump: the daemon is not \
running; start it with opcontrol --start" --dump
says "--stop without a daemon" 1 "opcontrol: --stop: the daemon is not \
running; start it with opcontrol --start" --stop
says "--shutdown without a daemon" 0 "Daemon not running" --shutdown
says "--init with what is there" 0 "" --init
like "the module's own rate is shown" "$(opcontrol --status)" \
	'^Timer rate: 1000 per second and CPU$'

# ---- starting

says "--start-daemon" 0 "Using log file $session/samples/oprofiled.log
Daemon started." --start-daemon
is "sizes are written to oprofilefs, others left alone" \
	"$(cd "$OPROFILE_FS" && cat buffer_size buffer_watershed \
		cpu_buffer_size timer/rate | tr '\n' ' ')" \
	"6553632768 8192 500"
is "the daemon's options" "$(cat "$session/argv")" "--session-dir=$session
--separate-lib=1
--separate-kernel=0
--separate-thread=0
--separate-cpu=1
--separate-cgroup=0
--no-vmlinux
--source=oprofilefs:$OPROFILE_FS
--source-reason=OPROFILE_FS stands in for it"
says "a second --start-daemon does nothing" 0 "" --start-daemon
pid=$(daemon_pid)
is "--status of a daemon that waits" "$(opcontrol --status)" \
	"Daemon paused: pid $pid
Source: module/timer
Source reason: OPROFILE_FS stands in for it
Session-dir: $session
Separate options: library cpu
Call-graph depth: 0
vmlinux file: none
Image filter: none
Buffer size: 65536
Timer rate: 500 per second and CPU
Samples taken: 4745
Samples stored: 4700
Samples pending: 3
Samples lost (sample_lost_overflow): 42"
says "--start" 0 "Profiler running." --start
like "--status of a daemon that samples" "$(opcontrol --status)" \
	"^Daemon running: pid $pid\$"
is "was asked" "$(requests)" start

if [ "$(id -u)" -eq 0 ]; then
	# The daemon of root is not one that does not answer.
	chmod 755 "$TMP" "$HOME" "$session" "$session/run"
	chmod -R a+rX "$HOME"
	find "$session/run" -type s -exec chmod 600 {} +
	for request in --dump --status; do
		got=$(as_user env HOME="$HOME" "$TMP/bin/opcontrol" $request 2>&1)
		is "$request of a user: status" "$?" 1
		like "$request of a user" "$got" \
			'^opcontrol: .*: you may not ask the daemon; you must be root, try sudo$'
	done
	unlike "--doctor of a user does not ask it" "$(as_user env HOME="$HOME" \
		"$TMP/bin/opcontrol" --doctor 2>&1)" '^opcontrol: '
fi

# ---- requests

says "--dump" 0 "" --dump
says "-d" 0 "" -d
says "--reset" 0 "Signalling daemon... done" --reset
says "--save" 0 "Signalling daemon... done" --save="first run"
is "were asked" "$(requests)" "dump
dump
reset
save first run"
# opsymbols, which would keep symbols of these, is not beside opcontrol.
printf '%s\n' "source = module/timer" "taken = 5" "stored = 5" "pending = 0" \
	>"$session/samples/current/ledger"
says "--stop" 0 "Stopping profiling." --stop
rm "$session/samples/current/ledger"
says "--start again" 0 "Profiler running." -s
is "were asked too" "$(requests)" "stop
start"

# ---- settings while it runs

says "new settings while the daemon runs" 0 "opcontrol: the running daemon \
keeps its settings; the new ones are saved and apply after --shutdown or --deinit and a new start" --setup --separate=thread
ok "and more of them" opcontrol --session-dir="$TMP/other" --timer-rate=100
like "are not those of the daemon" "$(opcontrol --status)" \
	'^Separate options: library cpu$'
says "which is still found" 0 "" --dump
says "--shutdown" 0 "Stopping profiling.
Killing daemon." --shutdown
ok "it is gone when the command returns" gone "$pid"
is "was asked to" "$(requests)" "dump
shutdown"
opcontrol --doctor >/dev/null 2>&1
ok "--doctor leaves waiting settings alone" test -e "$HOME/.oprofile/daemonrc_new"
status=$(opcontrol --status)
like "now the new settings hold" "$status" "^Session-dir: $TMP/other\$"
like "all of them" "$status" '^Separate options: thread$'
ok "the file of waiting settings is gone" \
	not test -e "$HOME/.oprofile/daemonrc_new"
ok "back" opcontrol --session-dir="$session" --separate=none

# ---- options and paths of the daemon

running_vmlinux "$TMP/a vmlinux"
ok "--start with settings" opcontrol --start --verbose=sfile,misc \
	--separate=all --vmlinux="$TMP/a vmlinux" --image="$TMP/a vmlinux,/bin/sh" \
	--pack-at=0 --max-disk=5 --cpu-budget=0.5 --history=64M --readable-by=0 \
	--record="$TMP/stream"
is "all options" "$(sed 1d "$session/argv")" "--separate-lib=1
--separate-kernel=1
--separate-thread=1
--separate-cpu=1
--separate-cgroup=0
--vmlinux=$TMP/a vmlinux
--image=$TMP/a vmlinux,$(realpath /bin/sh)
--pack-at=0
--max-disk=5
--cpu-budget=0.5
--history=64M
--readable-by=0
--record=$TMP/stream
--source=oprofilefs:$OPROFILE_FS
--source-reason=OPROFILE_FS stands in for it
--verbose=sfile,misc"
says "--deinit shuts down" 0 "Stopping profiling.
Killing daemon." --deinit
ok "settings with nothing special" opcontrol --separate=none --no-vmlinux \
	--image=all --pack-at=8 --max-disk=0 --cpu-budget=1 --history=none --readable-by=none \
	--record=none

mkdir "$TMP/path"
mv "$TMP/bin/oprofiled" "$TMP/path/oprofiled"
like "no daemon anywhere" "$(PATH=/usr/bin:/bin opcontrol --start 2>&1)" \
	"^opcontrol: oprofiled: no such program in $TMP/bin or on PATH"
got=$(cd "$TMP/path" && PATH=:.:/usr/bin:/bin: opcontrol --start 2>&1)
like "never from the current folder" "$got" '^opcontrol: oprofiled: no such'
ok "from PATH" env PATH="$TMP/path:$PATH" "$TMP/bin/opcontrol" --start-daemon
says "a daemon that waits is shut down" 0 "Killing daemon." --shutdown
mv "$TMP/path/oprofiled" "$TMP/bin/oprofiled"

verbose=$(opcontrol --start --verbose 2>&1)
like "--verbose tells writes" "$verbose" \
	"^\\+ write 100 to $OPROFILE_FS/timer/rate\$"
like "--verbose tells the daemon's options" "$verbose" '^\+ +--separate-lib=0$'

# ---- a daemon that was killed

kill -KILL "$(daemon_pid)"
await end "$(daemon_pid)"
ok "it left its lock and socket" test -S "$session/run/control"
like "--status after kill -9" "$(opcontrol --status)" '^Daemon not running$'
says "--start after kill -9" 0 "Using log file $session/samples/oprofiled.log
Daemon started.
Profiler running." --start
ok "shut down" opcontrol --shutdown
echo $$ >"$session/run/lock"
like "the pid in a stale lock may be another's" "$(opcontrol --status)" \
	'^Daemon not running$'
echo dying >"$session/mode"
ok "a daemon that is being killed" opcontrol --start-daemon
pid=$(daemon_pid)
ok "no longer listens" opcontrol --dump
rm "$session/mode"
says "--start-daemon waits for its end and starts another" 0 \
	"Using log file $session/samples/oprofiled.log
Daemon started." --start-daemon
ok "the first is gone" gone "$pid"
ok "shut down" opcontrol --shutdown
for pid in 0 -1 99999999999 x ''; do
	echo "$pid" >"$session/run/lock"
	says "a lock that holds \"$pid\"" 0 "Daemon not running" --shutdown
done
rm "$session/run/lock"

# ---- a daemon that misbehaves

echo fail >"$session/mode"
says "the daemon's reason is all that is said" 1 \
	"Using log file $session/samples/oprofiled.log
fake oprofiled: told to fail" --start
echo refuse >"$session/mode"
ok "a daemon that refuses" opcontrol --start-daemon
for option in --start --dump --stop --reset --save=x; do
	like "$option passes its reason on" \
		"$(opcontrol $option 2>&1; echo "status $?")" \
		'^opcontrol: oprofiled: the disk is full$'
	exits "$option fails" 1 opcontrol $option
done
pid=$(daemon_pid)
says "an end that is no good one is told" 1 "Killing daemon.
opcontrol: oprofiled: the disk is full" --shutdown
ok "it is one all the same" gone "$pid"
requests >/dev/null

printf '#!/bin/sh\nkill -SEGV $$\n' >"$TMP/bin/oprofiled"
chmod +x "$TMP/bin/oprofiled"
like "a daemon that crashes" "$(opcontrol --start 2>&1)" \
	"^opcontrol: $TMP/bin/oprofiled: ended by signal 11"
printf '#!/bin/sh\nexit 0\n' >"$TMP/bin/oprofiled"
like "a daemon that only pretends" "$(opcontrol --start 2>&1)" \
	'^opcontrol: oprofiled: it started, but does not answer; see .*/oprofiled\.log'
printf 'no program' >"$TMP/bin/oprofiled"
like "a daemon that is no program" "$(opcontrol --start 2>&1)" \
	"^opcontrol: $TMP/bin/oprofiled: cannot run it: Exec format error"
cp "$TMP/fake" "$TMP/bin/oprofiled"

echo deaf >"$session/mode"
ok "a daemon that stops to answer" "$TMP/bin/oprofiled" --session-dir="$session"
await text "$session/run/lock"
pid=$(daemon_pid)
# Each of both waits 15 s for an answer.
[ "${TIER:-check}" = check ] ||
	like "is shown as such" "$(opcontrol --status)" \
		"^Daemon not answering: pid $pid\$"
says "is ended" 0 "Killing daemon." --shutdown
ok "is gone" gone "$pid"
rm "$session/mode"

# ---- oprofilefs that is not as it should be

ok "a watershed" opcontrol --buffer-watershed=65535
echo 65535 >"$OPROFILE_FS/buffer_watershed"
rm "$OPROFILE_FS/timer/rate"
mkdir "$OPROFILE_FS/timer/rate"
like "a write that is refused" "$(opcontrol --start 2>&1)" \
	"^opcontrol: value 100 is not accepted by $OPROFILE_FS/timer/rate: Is a"
rm -r "$OPROFILE_FS/timer"
like "a file that is not there" "$(opcontrol --start 2>&1)" \
	"^opcontrol: value 100 is not accepted by .*/timer/rate: No such file"
ok "without a rate" opcontrol --timer-rate=0 --buffer-size=0
echo 4096 >"$OPROFILE_FS/buffer_size"
like "a watershed above the module's size" "$(opcontrol --start 2>&1)" \
	'^opcontrol: .*/buffer_watershed: 65535 is not below the buffer size of 4096'
echo 7 >"$OPROFILE_FS/abi_version"
like "a module of another version" "$(opcontrol --start 2>&1)" \
	'^opcontrol: .*/abi_version: the module speaks version 7 .*--deinit'
echo x >"$OPROFILE_FS/abi_version"
like "a version that is none" "$(opcontrol --init 2>&1)" \
	'^opcontrol: .*/abi_version: does not contain a number'
rm -r "$OPROFILE_FS"
got=$(opcontrol --status 2>&1)
like "--status without oprofilefs" "$? $got" '^0 Daemon not running$'
exits "--init without it" 1 opcontrol --init

if [ -e /dev/full ]; then
	mkdir "$OPROFILE_FS"
	"$TMP/bin/opcontrol" --status >/dev/full 2>"$TMP/err"
	like "a full disk is noticed" "$? $(cat "$TMP/err")" \
		'^1 opcontrol: standard output: cannot write'
else
	skip "a full disk is noticed" "no /dev/full"
fi

done_testing
