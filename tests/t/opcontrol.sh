# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# For the scripts that run opcontrol with a daemon that only answers
# (tests/helper/fake_oprofiled.c): source it after lib.sh. The folder of plain
# files OPROFILE_FS stands in for oprofilefs.

HOME=$TMP/home
OPROFILE_FS=$TMP/fs
export HOME OPROFILE_FS
session=$TMP/session
mkdir "$HOME" "$TMP/bin" "$OPROFILE_FS" "$OPROFILE_FS/timer" "$session"
echo 1 >"$OPROFILE_FS/abi_version"
echo 131072 >"$OPROFILE_FS/buffer_size"
echo 32768 >"$OPROFILE_FS/buffer_watershed"
echo 8192 >"$OPROFILE_FS/cpu_buffer_size"
echo 1000 >"$OPROFILE_FS/timer/rate"
echo 0 >"$OPROFILE_FS/backtrace_depth"
echo 16384 >"$OPROFILE_FS/backtrace_stack"

# The daemon beside opcontrol is taken, so opcontrol must be a copy.
cp "$BIN/opcontrol" "$TMP/bin/opcontrol"
fake=$TESTBIN/fake_oprofiled
if [ -x "$fake" ]; then
	cp "$fake" "$TMP/bin/oprofiled"
else
	${CC:-cc} -D_GNU_SOURCE -o "$TMP/bin/oprofiled" \
		"$TOP/tests/helper/fake_oprofiled.c" ||
		skip_all "no fake daemon, and no compiler to build it with"
fi
cp "$TMP/bin/oprofiled" "$TMP/fake"

opcontrol() {
	"$TMP/bin/opcontrol" "$@"
}
# daemon_pid: of the fake daemon that runs
daemon_pid() {
	cat "$session/run/lock" 2>/dev/null
}
# shellcheck disable=SC2317 # lib.sh calls it
at_exit() {
	pid=$(daemon_pid)
	case $pid in
	'' | *[!0-9]* | 0 | "$$") ;; # some tests write odd ones
	*) kill -KILL "$pid" 2>/dev/null ;;
	esac
}
requests() {
	cat "$session/requests" 2>/dev/null
	rm -f "$session/requests"
}
# says NAME STATUS TEXT ARG...: exit status, and all output.
says() {
	name=$1 wanted=$2 text=$3
	shift 3
	status=0
	got=$(opcontrol "$@" 2>&1) || status=$?
	is "$name" "$status $got" "$wanted $text"
}
