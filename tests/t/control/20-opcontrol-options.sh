#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What opcontrol makes of its command line, before it does anything.
# sanitized: yes

. "$(dirname "$0")/../lib.sh"

HOME=$TMP/home
OPROFILE_FS=$TMP/fs
export HOME OPROFILE_FS
mkdir "$HOME" "$OPROFILE_FS"
echo 1 >"$OPROFILE_FS/abi_version"

opcontrol=$BIN/opcontrol

# error NAME STATUS ERE ARG...: opcontrol ends with STATUS, says one line that
# matches on stderr, and nothing on stdout.
error() {
	name=$1 wanted=$2 ere=$3
	shift 3
	status=0
	out=$("$opcontrol" "$@" 2>"$TMP/err") || status=$?
	is "$name: exit status" "$status" "$wanted"
	like "$name: says so" "$(cat "$TMP/err")" "^opcontrol: $ere"
	is "$name: in one line" "$(wc -l <"$TMP/err") $out" "1 "
}

like "--version" "$("$opcontrol" --version)" '^opcontrol: oprofile [0-9]'
like "-v is --version" "$("$opcontrol" -v)" '^opcontrol: oprofile [0-9]'
help=$("$opcontrol" --help)
for word in init setup start-daemon start dump stop reset save=NAME status \
	doctor shutdown deinit list-events session-dir=DIR source=WORD event=EVENT vmlinux=FILE no-vmlinux separate=LIST \
	image=PATH buffer-size=NUM buffer-watershed=NUM cpu-buffer-size=NUM \
	timer-rate=HZ callgraph=DEPTH callgraph-stack=BYTES pack-at=MIB max-disk=MIB history=SIZE \
	cpu-budget=PERCENT \
	readable-by=GROUP record=FILE \
	verbose version help usage; do
	like "--help names --$word" "$help" "--$word"
done
ok "--usage" "$opcontrol" --usage

error "no option" 2 'no command; .*--start'
error "an unknown option" 2 '--foo: unknown option; see opcontrol --help' --foo
error "no file to record to" 2 '--record: no file is named' --record=
error "a word" 2 'foo: not an option' foo
error "a missing value" 2 '--save: missing argument' --save
error "two commands" 2 '--start and --stop: only one command' --start --stop
error "a command twice with names" 2 '--save and --save: only one' \
	--save=a --save=b
error "a command with a setting" 2 '--stop and --separate: settings go with' \
	--stop --separate=lib
error "--setup with a command" 2 '--reset and --setup: settings go with' \
	--setup --reset
error "--setup alone" 2 '--setup: no settings are given; .*--separate' --setup
error "words of --verbose without --start" 2 '--verbose=all: words are for' \
	--status --verbose=all
error "unknown words of --verbose" 2 '--verbose=all,foo: not a list of sfile' \
	--start --verbose=all,foo
error "half a word of --verbose" 2 '--verbose=al: not a list of sfile' \
	--start --verbose=al
error "both kinds of kernel" 2 '--vmlinux and --no-vmlinux: they contradict each other' \
	--vmlinux="$TMP/x" --no-vmlinux

error "a bad word of --separate" 2 '--separate=lib,foo: "foo" is not one of none' \
	--separate=lib,foo
error "an empty word of --separate" 2 '--separate=lib,: "" is not one of none' \
	--separate=lib,
error "an unknown source" 2 '--source=timer: not a source; give auto, module or perf' \
	--source=timer
error "an empty source" 2 '--source=: not a source; give auto' --source=
error "half a source" 2 '--source=per: not a source; give auto' --start --source=per
error "no number" 2 '--buffer-size=abc: not a whole number' --buffer-size=abc
error "a negative number" 2 '--buffer-size=-1: not a whole number' \
	--buffer-size -1
error "an empty number" 2 '--cpu-buffer-size=: not a whole number' \
	--cpu-buffer-size=
error "half a number" 2 '--buffer-size=65536k: not a whole number' \
	--buffer-size=65536k
error "no octal number" 2 '--buffer-size=08192: not a whole number' \
	--buffer-size=08192
error "a number beyond 64 bits" 2 '--buffer-size=18446744073709551617: not' \
	--buffer-size=18446744073709551617
error "no depth" 2 '--callgraph=deep: not a whole number; give one, or 0 for none' \
	--callgraph=deep
error "too large a depth" 2 '--callgraph=1025: not from 1 to 1024' \
	--callgraph=1025
error "too large a stack" 2 \
	'--callgraph-stack=65544: not from 8 to 65536; .*0 for frame pointers' \
	--callgraph-stack=65544
error "a stack of no whole words" 2 \
	'--callgraph-stack=12: not a multiple of 8; .*0 for frame pointers' \
	--callgraph-stack=12
error "a limit that is none" 2 '--pack-at=8MB: not a whole number; .*0 for never' \
	--pack-at=8MB
error "a group that is none" 2 '--readable-by=no group: no such group; .*getent' \
	--readable-by="no group"
error "too large a limit" 2 '--pack-at=1048577: not from 1 to 1048576' \
	--pack-at=1048577
error "too large a bound" 2 '--max-disk=1048577: not from 1 to 1048576' \
	--max-disk=1048577
error "a budget that is none" 2 \
	'--cpu-budget=1%: not a part of each CPU; give percent, .* or none' \
	--cpu-budget=1%
error "more than there is" 2 '--cpu-budget=101: not a part' --cpu-budget=101
error "an endless budget" 2 '--cpu-budget=0.0{40}...: give fewer digits' \
	--cpu-budget="0.$(printf '%040d' 0)"
error "too short a history" 2 '--history=1M: give a size, at least 8M' \
	--history=1M
error "a history of weeks" 2 '--history=100M,week:3d: give a size' \
	--history=100M,week:3d
error "too large a number" 2 '--timer-rate=100001: not from 1 to 100000' \
	--timer-rate=100001
error "a watershed above the buffer" 2 \
	'--buffer-watershed=4096: not below the buffer size of 4096' \
	--buffer-size=4096 --buffer-watershed=4096
error "a vmlinux that is not there" 1 \
	"--vmlinux=$TMP/x: No such file .*--no-vmlinux" --vmlinux="$TMP/x"
echo text >"$TMP/text"
error "a vmlinux that is none" 1 "--vmlinux=$TMP/text: not an ELF file" \
	--vmlinux="$TMP/text"
error "a vmlinux that is not this kernel" 1 \
	"--vmlinux=$BIN/opcontrol: (not the kernel that runs|this is no Linux)" \
	--vmlinux="$BIN/opcontrol"
error "an empty session folder" 2 '--session-dir: no folder' --session-dir=
error "an image in a folder that is not there" 1 '--image=no/file: No such' \
	--image=no/file
error "an empty image" 2 '--image: an empty name' --image=/bin/sh,,/bin/ls
error "a session name with a slash" 2 '"\.\./x" cannot name a saved session' \
	--save=../x
error "the session name \"current\"" 2 '"current" cannot name a saved' \
	--save=current
error "a session name with a newline" 2 '--save=a\?b: not a name for a session' \
	--save="a
b"
ok "no error has left settings" not test -e "$HOME/.oprofile"

# As someone who is not root, with the real /dev/oprofile.
unset OPROFILE_FS
chmod 755 "$TMP"
if as_user "$opcontrol" --version >/dev/null 2>&1; then
	for option in --init --setup --start --start-daemon --stop --reset \
		--save=x --shutdown --deinit; do
		case $option in
		--setup) set -- --setup --separate=lib ;;
		*) set -- "$option" ;;
		esac
		got=$(as_user "$opcontrol" "$@" 2>&1)
		is "$option without root" "$? $got" "1 opcontrol: ${option%=x}: \
you must be root; try sudo, or profile programs of your own with operf"
	done
	got=$(as_user env HOME=/ "$opcontrol" --dump 2>&1)
	like "--dump without root may fail, but not for that" "$? $got" \
		'^1 opcontrol: (--dump: the daemon is not running|.*you may not ask)'
	if [ "$(id -u)" -eq 0 ]; then
		mkdir -m 700 "$TMP/theirs"
		got=$(as_user env HOME="$TMP/theirs" "$opcontrol" --status 2>&1)
		is "somebody else's HOME" "$? $got" "1 opcontrol: \
$TMP/theirs/.oprofile: Permission denied; set HOME to your own home folder"
	else
		skip "somebody else's HOME" "only root can make one"
	fi
	got=$(as_user env -u HOME "$opcontrol" --status 2>&1)
	unlike "no HOME is no error" "$got" 'HOME'
	got=$(as_user env HOME=/ OPROFILE_FS="$TMP/fs" "$opcontrol" --status)
	is "--status needs no rights" "$? $(echo "$got" | sed 1q)" \
		"0 Daemon not running"
	status=0
	got=$(as_user env HOME=/ "$opcontrol" --doctor 2>&1) || status=$?
	is "--doctor needs no rights" "$(echo "$got" | grep -vE \
		'^(ok     |limited|missing)  [A-Za-z ]+: .')" ""
	case $(echo "$got" | tail -n 1) in
	missing*) is "nothing works: --doctor fails" $status 1 ;;
	*) is "something works: --doctor does not fail" $status 0 ;;
	esac
	got=$(as_user env HOME=/ "$TESTBIN/noperf" 1 "$opcontrol" \
		--doctor 2>&1)
	like "without perf_event_open nothing works" "$? $got" '^1 '
	like "... as --doctor says" "$(echo "$got" | tail -n 1)" \
		'^missing  profiling: nothing can be profiled here; .'
	like "... and why" "$got" '^missing  own programs: .*seccomp'
else
	skip "commands without root" "the program cannot be run as another user"
fi

OPROFILE_FS=relative
export OPROFILE_FS
error "OPROFILE_FS that is no absolute path" 1 'OPROFILE_FS: "relative" is not' \
	--status
OPROFILE_FS=$TMP/fs
HOME=relative
error "HOME that is no absolute path" 1 'HOME: "relative/?" is not' --status

done_testing
