#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The settings that opcontrol keeps in daemonrc.
# sanitized: yes

. "$(dirname "$0")/../lib.sh"

HOME=$TMP/home
OPROFILE_FS=$TMP/fs
export HOME OPROFILE_FS
mkdir "$HOME" "$OPROFILE_FS"
echo 1 >"$OPROFILE_FS/abi_version"

rc=$HOME/.oprofile/daemonrc
opcontrol() {
	"$BIN/opcontrol" "$@"
}
set_rc() {
	printf '%s\n' "SESSION_DIR=$TMP/session" "$@" >"$rc"
}
# saved KEY
saved() {
	sed -n "s/^$1 = //p" "$rc"
}
# fails NAME ERE ARG...: exit status 1 and one line.
fails() {
	name=$1 ere=$2
	shift 2
	got=$(opcontrol "$@" 2>&1)
	like "$name" "$? $got" "^1 opcontrol: $ere"
	is "$name: in one line" "$(printf '%s\n' "$got" | wc -l)" 1
}

# ---- writing

ok "a setting alone is saved" opcontrol --session-dir="$TMP/session"
is "the file is private" "$(stat -c %a "$rc")" 600
is "its folder is private" "$(stat -c %a "$HOME/.oprofile")" 700
is "session folder" "$(saved SESSION_DIR)" "$TMP/session"
is "no vmlinux at first" "$(saved VMLINUX)" none
is "the source is found automatically at first" "$(saved SOURCE)" auto
ok "nothing is created but the file" not test -e "$TMP/session"

ok "--separate VALUE" opcontrol --setup --separate kernel
is "kernel includes library" \
	"$(saved SEPARATE_LIB)$(saved SEPARATE_KERNEL)$(saved SEPARATE_CPU)" 110
is "other settings stay" "$(saved SESSION_DIR)" "$TMP/session"
ok "-p twice" opcontrol -p thread -p cpu
is "makes one list and replaces the old one" \
	"$(for k in LIB KERNEL THREAD CPU; do saved SEPARATE_$k; done | tr -d '\n')" \
	0011
ok "all" opcontrol --separate=all
like "all in --status" "$(opcontrol --status)" \
	'^Separate options: library kernel thread cpu$'
ok "none" opcontrol --separate=none
like "none in --status" "$(opcontrol --status)" '^Separate options: none$'

ok "numbers" opcontrol --buffer-size=0x10000 --buffer-watershed=020000 \
	--cpu-buffer-size=4096 --timer-rate=250
is "numbers are saved" \
	"$(saved BUF_SIZE) $(saved BUF_WATERSHED) $(saved CPU_BUF_SIZE) \
$(saved TIMER_RATE)" "65536 8192 4096 250"
ok "0 takes a number back" opcontrol --buffer-size=0
is "no line for it" "$(saved BUF_SIZE)" ""
opcontrol --pack-at=0 --callgraph-stack=0
is "where 0 is a number it is saved" \
	"$(saved PACK_AT) $(saved CALLGRAPH_STACK)" "0 0"
like "and shown" "$(opcontrol --status)" '^Pack at: never$'
(cd "$TMP" && opcontrol --record=stream)
is "a file to record to has its folder" "$(saved RECORD)" "$TMP/stream"
opcontrol --record=none
is "and is none on request" "$(saved RECORD)" ""
ok "a group" opcontrol --readable-by=0
is "is saved" "$(saved READABLE_BY)" 0
like "and shown" "$(opcontrol --status)" '^Readable by: group 0$'
opcontrol --readable-by=none
is "and is none on request" "$(saved READABLE_BY)" ""
opcontrol --pack-at=64 --callgraph-stack=32768
is "and so are others" "$(saved PACK_AT) $(saved CALLGRAPH_STACK)" "64 32768"
like "in --status" "$(opcontrol --status)" '^Pack at: 64 MiB$'
unlike "stacks that are not taken have no size" "$(opcontrol --status)" \
	'Call-graph stack'
opcontrol --pack-at=8 --callgraph-stack=16384
is "the usual ones need no line" \
	"$(saved PACK_AT)$(saved CALLGRAPH_STACK)" ""

opcontrol --cpu-budget=0.5
is "a budget is saved" "$(saved CPU_BUDGET)" 0.5
like "and shown" "$(opcontrol --status)" '^CPU budget: 0.5 %$'
opcontrol --cpu-budget=none
is "or that there is none" "$(saved CPU_BUDGET)" none
like "which is shown, too" "$(opcontrol --status)" '^CPU budget: none$'
opcontrol --cpu-budget=1
is "the usual one needs no line" "$(saved CPU_BUDGET)" ""
opcontrol --max-disk=100
is "a bound of the disk is saved" "$(saved MAX_DISK)" 100
like "and shown" "$(opcontrol --status)" '^Max disk: 100 MiB$'
opcontrol --max-disk=0
is "and taken back" "$(saved MAX_DISK)" ""

opcontrol --history=500M,minute:2h,day:90d
is "a history is saved" "$(saved HISTORY)" 500M,minute:2h,day:90d
like "and shown, too" "$(opcontrol --status)" '^History: 500M,minute:2h,day:90d$'
opcontrol --history=none
is "and given up" "$(saved HISTORY)" ""

dir="$TMP/a folder with \"quotes\", \$HOME, \`id\`, ümlauts "
mkdir -p "$dir"
running_vmlinux "$dir/vmlinux "
(cd "$dir" && opcontrol --vmlinux='vmlinux ' --session-dir=.)
status=$(opcontrol --status)
is "odd bytes in paths come back" "$status" "Daemon not running
Source: module
Source reason: OPROFILE_FS stands in for it
Session-dir: $dir
Separate options: none
Call-graph depth: 0
vmlinux file: $dir/vmlinux 
Image filter: none
Buffer watershed: 8192
CPU buffer size: 4096
Timer rate: 250 per second and CPU"
got=$(opcontrol --session-dir="$TMP/a
b" 2>&1)
like "a newline in a path is refused" "$? $got" '^2 opcontrol: .*a newline in'
ok "--no-vmlinux" opcontrol --no-vmlinux --session-dir="$TMP/session"
is "is saved" "$(saved VMLINUX)" none

is "--callgraph implies --separate=library and says so" \
	"$(opcontrol --callgraph=16 2>&1)" "opcontrol: --callgraph separates \
samples in libraries by program, as --separate=library does"
is "both are saved" "$(saved CALLGRAPH) $(saved SEPARATE_LIB)" "16 1"
like "in --status" "$(opcontrol --status)" '^Call-graph depth: 16$'
like "with what is taken of a stack" "$(opcontrol --status)" \
	'^Call-graph stack: 16384 bytes$'
is "-c, and nothing to be said" "$(opcontrol -c 32 2>&1)" ""
like "what it implies cannot be undone meanwhile" \
	"$(opcontrol --separate=cpu 2>&1) $(saved SEPARATE_LIB)" \
	'--separate=library does 1$'
ok "0 takes no stacks" opcontrol --callgraph=0 --separate=none
is "and leaves no trace" "$(saved CALLGRAPH)$(saved SEPARATE_LIB)" 0
like "nor in --status" "$(opcontrol --status)" '^Call-graph depth: 0$'

for source in perf module auto; do
	ok "--source=$source" opcontrol --source=$source
	is "is saved" "$(saved SOURCE)" $source
done
ok "another setting" opcontrol --source=perf --separate=lib
ok "and one more" opcontrol --separate=none
is "leaves the source" "$(saved SOURCE)" perf
ok "the last of several counts" opcontrol --source=perf --source=auto
is "as with other settings of one word" "$(saved SOURCE)" auto

ln -s /bin/ls "$TMP/link"
ok "--image" opcontrol -i "$TMP/link,/bin/cat" --image=/bin/sh
is "links are resolved, lists joined" "$(saved IMAGE_FILTER)" \
	"$(realpath /bin/ls),$(realpath /bin/cat),$(realpath /bin/sh)"
got=$(opcontrol --image=/no/such,ext4 2>&1)
is "what is not there is told and kept" "$got$(saved IMAGE_FILTER)" \
	"opcontrol: --image=/no/such: no such file here; only samples of \
images with this name are kept
opcontrol: --image=ext4: no such file here; only samples of images with \
this name are kept/no/such,ext4"
ok "--image=all" opcontrol --image=all
is "is no filter" "$(saved IMAGE_FILTER)" ""

# ---- reading

cp "$BIN/opcontrol" "$TMP/vmlinux"
cat >"$rc" <<END
SESSION_DIR=$TMP/session
CHOSEN_EVENTS_0=CPU_CLK_UNHALTED:100000:0:1:1
NR_CHOSEN=1
SEPARATE_LIB=1
SEPARATE_KERNEL=0
SEPARATE_THREAD=0
SEPARATE_CPU=1
VMLINUX=$TMP/vmlinux
IMAGE_FILTER=
BUF_SIZE=65536
CPU_BUF_SIZE=4096
CALLGRAPH=5
KERNEL_RANGE=ffffffff81000000,ffffffff81001000
END
is "a file of the original is understood" "$(opcontrol --status)" \
	"Daemon not running
Source: module
Source reason: OPROFILE_FS stands in for it
Session-dir: $TMP/session
Event 0: CPU_CLK_UNHALTED:100000:0:1:1
Separate options: library cpu
Call-graph depth: 5
Call-graph stack: 16384 bytes
vmlinux file: $TMP/vmlinux
Image filter: none
Buffer size: 65536
CPU buffer size: 4096"
ok "changing it" opcontrol --cpu-buffer-size=8192
is "keeps what is not ours" \
	"$(saved CHOSEN_EVENTS_0) $(saved NR_CHOSEN) $(saved CALLGRAPH) \
$(saved KERNEL_RANGE)" \
	"CPU_CLK_UNHALTED:100000:0:1:1 1 5 ffffffff81000000,ffffffff81001000"

# shellcheck disable=SC2016 # nothing is to be expanded
set_rc 'IMAGE_FILTER=$(touch '"$TMP"'/executed)' '; touch '"$TMP"'/executed = 1'
like "nothing is executed" "$(opcontrol --status)" '^Image filter: \$\(touch'
ok "nothing was executed" not test -e "$TMP/executed"

set_rc 'BUF_SIZE=12 monkeys'
fails "a bad number names file, line and key" \
	"$rc:2: BUF_SIZE: \"12 monkeys\" is not a whole number" --status
set_rc 'BUF_SIZE=5'
fails "a number out of range" \
	"$rc: BUF_SIZE=5: not from 1024 to 134217728; correct or remove" --status
set_rc 'CALLGRAPH_STACK=100'
fails "a number that is no multiple" \
	"$rc: CALLGRAPH_STACK=100: not a multiple of 8; correct or remove" \
	--status
set_rc 'SEPARATE_CPU=maybe'
fails "a bad switch" "$rc: SEPARATE_CPU=maybe: neither 0 nor 1; correct" --status
set_rc 'SOURCE=timer'
fails "a bad source" \
	"$rc: SOURCE=timer: not auto, module or perf; correct" --status
set_rc 'SOURCE='
like "an empty one is the usual one" "$(opcontrol --status)" '^Source: module$'
set_rc 'VMLINUX=vmlinux'
fails "a relative path" "$rc: VMLINUX=vmlinux: not an absolute path" --status
set_rc 'rm -rf /'
fails "a line that is none" "$rc:2: no \"key = value\": rm -rf /" --status
set_rc "VMLINUX=/$(printf '%05000d' 0)"
fails "a path too long" "$rc: VMLINUX=/0*: too long" --status
set_rc "TIMER_RATE=100"
chmod 666 "$rc"
fails "a file that anyone can write" "$rc: everyone may write to it" --status
chmod 600 "$rc"
chmod 777 "$HOME/.oprofile"
fails "a folder that anyone can write" "$HOME/.oprofile: everyone may" --status
chmod 700 "$HOME/.oprofile"
if [ "$(id -u)" -eq 0 ]; then
	give_to_user "$HOME/.oprofile"
	fails "a folder of someone else" "$HOME/.oprofile: it belongs to user" \
		--status
	chown -R 0 "$HOME/.oprofile"
else
	skip "a folder of someone else" "only root can make one"
fi
rm "$rc"
mkfifo "$rc"
fails "a FIFO" "$rc: not a regular file" --status
rm -r "$HOME/.oprofile"
: >"$HOME/.oprofile"
fails "a file in place of the folder" "$HOME/.oprofile" --timer-rate=100
rm "$HOME/.oprofile"

done_testing
