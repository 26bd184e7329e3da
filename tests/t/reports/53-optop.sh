#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# optop on a terminal, which tmux is: what it shows at several sizes, what keys
# do, how it ends, and what becomes of a session that it looks at. What the
# screen does not depend on is in tests/unit/pp/optop/test_optop.c.
# timeout: 300
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../daemon.sh"

command -v tmux >/dev/null || skip_all "no tmux here"

cd "$TMP" || exit 1
daemon=
# shellcheck disable=SC2317 # lib.sh calls it
at_exit() {
	term kill-server 2>/dev/null
	[ -z "$daemon" ] || kill -KILL "$daemon" 2>/dev/null
}

# ---- the terminal --------------------------------------------------------------

nr_screen=0
term() {
	env -u TMUX LC_ALL=C.UTF-8 tmux -S "$TMP/tmux.$nr_screen" -u -f /dev/null "$@"
}

# open_screen COLUMNS ROWS ARG...: optop with these words of a shell in a fresh
# terminal. When it ends, its status is in $TMP/status, and the settings of the
# terminal are in $TMP/stty, those from before in $TMP/stty.was. What it writes
# goes to $TMP/written.
open_screen() {
	columns=$1 lines=$2
	shift 2
	term kill-server 2>/dev/null
	nr_screen=$((nr_screen + 1))
	rm -f "$TMP/status" "$TMP/go"
	: >"$TMP/written"
	mkfifo "$TMP/go"
	cat >"$TMP/run" <<END
trap : INT # which is not for this shell
read -r _ <"$TMP/go"
stty -g >"$TMP/stty.was"
PS1='\$ ' NO_COLOR=
cd "$TMP"
$optop_env "$BIN/optop" $*
echo \$? >"$TMP/status.new"
stty -g >"$TMP/stty"
mv "$TMP/status.new" "$TMP/status"
exec cat
END
	term new-session -d -x "$columns" -y "$lines" "sh $TMP/run" \; \
		set -g status off \; set -g window-size manual \; \
		resize-window -x "$columns" -y "$lines" \; \
		pipe-pane "cat >>$TMP/written"
	echo >"$TMP/go"
}
optop_env=

capture() {
	term capture-pane -p "$@"
}
press() {
	term send-keys "$@"
}

# shows ERE: wait until a line of the screen matches. What is written after a
# look wakes us for the next one.
shows() {
	while :; do
		written=$(wc -c <"$TMP/written")
		screen=$(capture)
		printf '%s\n' "$screen" | grep -Eq -e "$1" && return
		[ ! -e "$TMP/status" ] ||
			break
		await_more "$written" "$1"
	done
	ok "the screen shows $1, but optop has ended" false
	diag "$screen"
	done_testing
}
await_more() {
	"$TESTBIN/await" more "$TMP/written" "$1" 2>/dev/null && return
	ok "the screen shows $2" false
	diag "$screen"
	done_testing
}

# seen NAME ERE...: the screen comes to show this, one after the other.
seen() {
	name=$1
	shift
	for ere; do
		shows "$ere"
	done
	ok "$name" true
}

# ended NAME STATUS: optop has ended so, and the terminal is as it was.
ended() {
	await file "$TMP/status"
	is "$1: the status" "$(cat "$TMP/status")" "$2"
	is "$1: the terminal is as before" "$(cat "$TMP/stty")" \
		"$(cat "$TMP/stty.was")"
	is "$1: it shows the shell's screen" "$(term display -p '#{alternate_on}#{cursor_flag}')" 01
}

pid_of_optop() {
	pgrep -P "$(term display -p '#{pane_pid}')" -x optop
}

# ---- a session with all that there is ------------------------------------------

cat >"$TMP/prog.c" <<'END'
int leaf(int x)
{
	x += 1;
	return x;
}
int busy(int x) { return leaf(x) + 1; }
int idle(int x) { return leaf(x) + 2; }
int main(int argc, char **argv) { return busy(argc) + idle(argv != 0); }
END
${CC:-cc} -g -O0 -Wl,--build-id -o "$TMP/prog" "$TMP/prog.c" || exit 1
at() {
	nm "$TMP/prog" | awk -v f="$1" '$3 == f { print "0x" $1 }' |
		while read -r start; do echo $((start + 3)); done
}
main=$(at main) busy=$(at busy) idle=$(at idle) leaf=$(at leaf)
P="{root}$TMP/prog"
odb() {
	"$TESTBIN/mkodb" "$CURRENT/$1" timer-hz=1000 "mtime=$TMP/prog"
}
make_session() {
	rm -rf "$SESSION"
	printf '%s\n' "$leaf 700" "$idle 100" | odb "$P/{dep}/$P/TIMER.0.0.7.7.all"
	printf '%s\n' "$leaf 100" | odb "$P/{dep}/$P/TIMER.0.0.7.8.all"
	echo 0x10 100 | "$TESTBIN/mkodb" \
		"$CURRENT/$P/{dep}/{root}/lib/libz.so.1/TIMER.0.0.9.9.all" \
		timer-hz=1000
	echo "$busy 30" | "$TESTBIN/mkodb" \
		"$CURRENT/$P/{dep}/$P/CYCLES.5000.0.7.7.all" count=5000 "mtime=$TMP/prog"
	printf '0x%x%08x 500\n0x%x%08x 200\n' "$busy" "$((leaf - 3))" "$idle" \
		"$((leaf - 3))" | odb "$P/{dep}/$P/{cg}/$P/TIMER.0.0.7.7.all"
	"$TESTBIN/mktree" "$CURRENT/$P/{tree}/TIMER.0.0.7.7.all" timer-hz=1000 <<END
image p root:$TMP/prog mtime=$TMP/prog
stack 500 p+$main p+$busy p+$leaf
stack 200 p+$main p+$busy p+$busy p+$idle p+$leaf
stack 100 p+$main p+$idle
END
	cat >"$CURRENT/ledger" <<'END'
source = file
taken = 1042
stored = 1030
pending = 0
lost.lost_no_mm = 12
END
}
make_session

# ---- the same figures as opreport ----------------------------------------------

"$BIN/opreport" --session-dir="$SESSION" -n -l --merge=all --intervals event:TIMER \
	2>/dev/null | awk '{ print $1, $2, $3, $4, $5, $NF }' | sort >"$TMP/wanted"
"$BIN/optop" --session-dir="$SESSION" --once --rows=0 event:TIMER \
	>"$TMP/once" 2>"$TMP/err"
sed 1,4d "$TMP/once" | awk '{ print $1, $2, $3, $5, $6, $NF }' | sort >"$TMP/got"
is "--once has the figures of opreport -l --intervals" "$(cat "$TMP/got")" \
	"$(cat "$TMP/wanted")"
like "there are some" "$(cat "$TMP/got")" '^800 80.0000 .*leaf$'
like "and the account" "$("$TESTBIN/facts" <"$TMP/once")" \
	'^timer .*1000 samples  lost 12 \(1\.1516 %\)  1042 = 1030 \+ 12 \(12 lost_no_mm\)$'
like "warnings are on standard error" "$(cat "$TMP/err")" \
	'^optop: warning: /lib/libz\.so\.1: no symbols: '
is "--rows leaves out the rest" \
	"$("$BIN/optop" --session-dir="$SESSION" --once --rows=2 event:TIMER 2>/dev/null | wc -l)" 6
like "--filter" "$("$BIN/optop" --session-dir="$SESSION" --once --filter=idl \
	event:TIMER 2>/dev/null | sed 1,4d)" '^ +100 .* idle$'
for view in image symbol line process thread cgroup; do
	ok "--view=$view" "$BIN/optop" --session-dir="$SESSION" --once --view=$view
done

# ---- what cannot be ------------------------------------------------------------

refused() {
	wanted=$1 name=$2 text=$3
	shift 3
	status=0
	"$@" >/dev/null 2>"$TMP/err" </dev/null || status=$?
	is "$name" "$status $(cat "$TMP/err")" "$wanted optop: $text"
}
refused 1 "no terminal" \
	"standard input and output must be a terminal; use --once to print a table" \
	"$BIN/optop" --session-dir="$SESSION"
refused 2 "an unknown view" \
	"--view=cpu: unknown; use image, symbol, line, process, thread or cgroup" \
	"$BIN/optop" --view=cpu
refused 2 "an unknown order" "--sort=name: unknown; use self or total" \
	"$BIN/optop" --sort=name
refused 2 "an interval that is none" \
	"--interval=soon: not a number in range; give one from 0 to 86400" \
	"$BIN/optop" --interval=soon
refused 2 "--rows without --once" "--rows needs --once; add that, or leave it out" \
	"$BIN/optop" --rows=3
refused 1 "two profiles" \
	"two profiles cannot be compared here; leave out the braces, or use opreport" \
	"$BIN/optop" --once '{' event:TIMER '}' '{' '}'
ok "standard output that is closed" sh -c "'$BIN/optop' --once \
	--session-dir='$SESSION' >&- 2>/dev/null; test \$? -eq 1"
open_screen 80 24 --session-dir="$TMP/none"
ended "no session" 1
like "no session is said" "$(capture -J)" 'optop: .*there are no samples; profile first'
optop_env=TERM=strange
open_screen 80 24 --session-dir="$SESSION"
ended "an unknown terminal" 1
like "an unknown terminal is said" "$(capture -J)" \
	'^optop: TERM=strange: unknown kind of terminal'
optop_env=TERM=dumb
open_screen 80 24 --session-dir="$SESSION"
ended "a terminal that only prints" 1
optop_env=

# ---- sizes ---------------------------------------------------------------------

# fits NAME COLUMNS ROWS: nothing is wider, and header, rows and hints are there.
fits() {
	screen=$(capture)
	is "$1: columns" "$(printf '%s\n' "$screen" | awk -v most="$2" \
		'length($0) > most')" ""
	is "$1: lines" "$(capture | wc -l)" "$3"
	like "$1: the session" "$(printf '%s\n' "$screen" | sed -n 1p)" '^optop  .*stored  .*2 s$'
	like "$1: the account" "$(printf '%s\n' "$screen" | sed -n 2p)" \
		'^timer .*1000 samples  lost 12'
	like "$1: the head" "$(printf '%s\n' "$screen" | sed -n 4p)" '>self %.* symbol$'
	like "$1: the first row" "$(printf '%s\n' "$screen" | sed -n 5p)" \
		'80\.0000 +80\.0000 .*leaf$|80\.0000 .* 80\.0000 .*leaf$'
	like "$1: the last line" "$(printf '%s\n' "$screen" | tail -n 1)" '^q quit  \? help'
}
open_screen 80 24 --session-dir="$SESSION" event:TIMER
shows '^ +800 80\.0000 +80\.0000 prog +leaf$'
fits 80x24 80 24
for size in 120x40 200x60 40x10 80x24; do
	term resize-window -x "${size%x*}" -y "${size#*x}"
	case $size in
	120x40) shows '^ +800 80\.0000 +77\.[0-9]+-82\.[0-9]+ +800 +80\.0000 prog +leaf$' ;;
	200x60) shows '800 80\.0000 +77\.[0-9]+-82\.[0-9]+ +800 +80\.0000 +77\.[0-9]+-82' ;;
	40x10) shows '^80\.0000 +80\.0000 leaf$' ;;
	80x24) shows '^ +800 80\.0000 +80\.0000 prog +leaf$' ;;
	esac
	fits "$size, by a resize" "${size%x*}" "${size#*x}"
done
term resize-window -x 40 -y 10
shows '^80\.0000 +80\.0000 leaf$'
press End
shows '^ +0 +[0-9.]+ (main|busy)$'
is "rows scroll below the header" "$(capture | sed -n 4p)" '>self %  total % symbol'
term resize-window -x 20 -y 5
press Home
term resize-window -x 80 -y 24
seen "from a screen too small for rows it comes back" 'prog +leaf$'

# ---- keys ----------------------------------------------------------------------

term resize-window -x 120 -y 40
shows '95% interval'
press i
seen "i hides intervals" '^ samples >self % +total +total % image'
press i
seen "and shows them" '95% interval'
press s
seen "s sorts by total" 'self % .*>total %' '^ +0 .* main$' 'sorted by total'
is "the second row is that" "$(capture | sed -n 6p | awk '{ print $NF }')" main
press s
seen "and by self" 'sorted by self'
press Down Enter
seen "Enter opens the chosen function" '1 assembly .* idle$' \
	' prog\.c:7 +[0-9a-f]+  ' '^ +100 100\.000 +[0-9a-f]+  '
press Escape
seen "Esc goes back" '2 symbol  3 line'
press Up Enter
seen "Up is the line before" '1 assembly .* leaf$' 'prog\.c:[1-5] +[0-9a-f]+  '
press Right
seen "Right is its source" '^ +800 100\.000 1 +int leaf\(int x\)$|^ +800 100\.000 2 +\{$' \
	'^ +3 +x \+= 1;$'
press Tab
seen "Tab is who calls it" 'caller +busy$' 'caller +idle$' '\[self\] +leaf$' \
	'^ +500 '
press Home Enter
seen "and they can be opened" '1 assembly .* (busy|idle)$'
press BSpace
seen "Backspace goes back" 'caller +busy$'
press Left
seen "Left is the view before" '^ +3 +x \+= 1;$'
press Escape
shows '2 symbol  3 line'
press End
shows 'leaf$'
press Home
press 1
seen "1 is images" '^ +900 90\.0000 .*/prog$' '^ +100 10\.0000 .*/lib/libz\.so\.1$'
press Enter
seen "of which one has these symbols" '2 symbol .*/prog$' ' idle$'
unlike "and no others" "$(capture)" 'libz'
press Escape 3
seen "3 is lines" 'prog\.c:[12] +/.*/prog\.c$' 'no line +code of /lib/libz'
press Enter
seen "of which one is in this file" '^.*/prog\.c$' \
	'int main\(int argc, char \*\*argv\)'
press Escape 4
seen "4 is processes" '^ +900 90\.0000 .* 7 +prog$' '^ +100 10\.0000 .* 9 +prog$'
press 6
seen "6 is cgroups" \
	'^the session does not separate cgroups; profile with --separate=cgroup$'
press 5
seen "5 is threads" '^ +800 .* 7/7 +prog$' '^ +100 .* 7/8 +prog/\?$'
press End Enter
seen "of which one has these symbols" 'thread [0-9]+$'
press Escape 2
shows ' leaf$'
press / l e a q BSpace
seen "/ is a filter" 'filter: lea$' '^/lea'
unlike "that leaves rows out" "$(capture)" ' idle$'
press Enter
seen "Enter keeps it" '^q quit'
press Escape
seen "Esc drops it" ' idle$'
press / z z
seen "nothing may pass" '^no row matches the filter'
press Escape
seen "Esc takes it back" ' idle$'
press Space
seen "Space pauses" '  paused$'
press Space
seen "and goes on" 'every 2 s$'
press t
seen "t counts since the last refresh" 'since the last refresh' '^no samples since then$'
press t
seen "and since the start" 'since the start'
press n
seen "n counts from now on" 'since [0-9]+:[0-9]+:[0-9]+' '^no samples since then$'
press t
shows 'since the start'
press e
seen "e without another event" '^the session has only this event$'
press '?'
seen "? is help" '^Space +pause or resume$' '^q +quit$'
press x
seen "any key closes it" ' leaf$'
press w
seen "w is what is wrong" '^/lib/libz\.so\.1: no symbols: '
press Escape
shows ' leaf$'
press PageDown
press PageUp
press r
shows ' leaf$'
press q
ended q 0

open_screen 120 40 --session-dir="$SESSION" --interval=0
seen "with two events" '^CYCLES:5000  1/2  30 samples' '^ +30 100\.000 .*busy$'
press e
seen "e is the next one" '^timer  2/2  1000 samples' ' leaf$'
press e
seen "and the first again" '^CYCLES:5000  1/2  '
press e
shows '^timer  2/2'
like "no interval" "$(capture | head -n 1)" 'r refreshes$'
echo "$idle 5000" | odb "$P/{dep}/$P/TIMER.0.0.7.9.all"
press r
seen "r reads again" '^timer  2/2  6000 samples' '^ +5100 .* idle$'

# ---- ends ----------------------------------------------------------------------

press C-c
ended Ctrl-C 130
for signal in HUP QUIT TERM; do
	case $signal in HUP) nr=1 ;; QUIT) nr=3 ;; *) nr=15 ;; esac
	open_screen 80 24 --session-dir="$SESSION"
	shows ' busy$'
	kill -$signal "$(pid_of_optop)"
	ended SIG$signal $((128 + nr))
done
open_screen 80 24 --session-dir="$SESSION"
shows ' busy$'
pid=$(pid_of_optop)
term kill-server
await end "$pid"
ok "it ends with its terminal" true

# A shell with job control, as people have it.
cat >"$TMP/jobs" <<END
set -m
$BIN/optop --session-dir=$SESSION
stty -g >$TMP/stty.stopped
echo stopped
read -r _
fg
echo status \$?
END
open_screen 80 24 "--version >/dev/null; bash $TMP/jobs"
shows ' busy$'
press C-z
shows '^stopped$'
is "Ctrl-Z gives the terminal back" "$(cat "$TMP/stty.stopped")" \
	"$(cat "$TMP/stty.was")"
press Enter
seen "and it comes back" '^optop  ' ' busy$'
press q
seen "and ends" '^status 0$'

# ---- threads and cgroups with names ---------------------------------------------

docker=0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef
rm -rf "$SESSION"
# in_cgroup COUNTS CGROUP NAME: samples of the program there.
in_cgroup() {
	echo "$1" | odb "$P/$2/{dep}/$P/$3.all"
}
redis="{cgroup}/system.slice/redis-server.service"
in_cgroup "$leaf 60" "$redis" TIMER.0.0.4100.4103
in_cgroup "$busy 30" "$redis" TIMER.0.0.4100.4100
in_cgroup "$busy 500" "$redis" CYCLES.5000.0.4100.4100
in_cgroup "$idle 20" "{cgroup}/system.slice/docker-$docker.scope" TIMER.0.0.4200.4200
in_cgroup "$idle 10" "{no-cgroup}" TIMER.0.0.4300.4300
in_cgroup "$idle 9" '{cgroup}/odd[1]*' TIMER.0.0.4400.4400
in_cgroup "$leaf 8" '{cgroup}/odd1more' TIMER.0.0.4500.4500
cat >"$CURRENT/tasks" <<'END'
name.4100.4100 = redis-server
name.4100.4103 = bio_aof
name.4200.4200 = nginx
END
# view NAME ARG...: its rows, as samples and what is said of each.
view() {
	view=$1
	shift
	"$BIN/optop" --session-dir="$SESSION" --once --rows=0 "--view=$view" "$@" \
		event:TIMER 2>/dev/null | sed 1,4d | awk '{ print $1, $4, $5 }'
}
is "processes have their names" "$(view process)" "90 4100 redis-server
20 4200 nginx
10 4300 prog
9 4400 prog
8 4500 prog"
is "threads have theirs" "$(view thread)" "60 4100/4103 redis-server/bio_aof
30 4100/4100 redis-server
20 4200/4200 nginx
10 4300/4300 prog
9 4400/4400 prog
8 4500/4500 prog"
is "a filter knows them" "$(view thread --filter=bio)" \
	"60 4100/4103 redis-server/bio_aof"
is "cgroups" "$(view cgroup)" \
	"90 redis-server.service /system.slice/redis-server.service
20 docker:0123456789ab /system.slice/docker-$docker.scope
10 unknown unknown
9 /odd[1]* /odd[1]*
8 /odd1more /odd1more"
is "a filter knows what they are called" "$(view cgroup --filter=docker:)" \
	"20 docker:0123456789ab /system.slice/docker-$docker.scope"
is "symbols are of all of them" \
	"$(view symbol | sort -n | awk '{ print $1, $NF }')" "30 busy
39 idle
68 leaf"
open_screen 110 24 --session-dir="$SESSION" --view=cgroup
seen "of one event" '^timer  1/2' '^ +90 65\.[0-9]+ .* redis-server\.service +/system'
press e
seen "and of the other" '^CYCLES:5000  2/2' '^ +500 100\.000 .* redis-server\.service +/system'
press e
shows '^timer  1/2'
press Enter
seen "a cgroup has these symbols" '2 symbol .*cgroup redis-server\.service$' \
	'^ +60 .*leaf$'
unlike "and no others" "$(capture)" 'idle'
press 5 Home
seen "and these threads" '^ +60 .*4100/4103 +redis-server/bio_aof$'
unlike "and no others" "$(capture)" 'nginx'
press Enter
seen "of which one stays in it" 'thread 4103  cgroup redis-server\.service$' \
	'^ +60 .*leaf$'
press Enter
seen "down to the code" '1 assembly .*cgroup redis-server' '^ +60 100\.000 '
press Escape
shows '2 symbol  3 line'
press Escape
shows ' redis-server/bio_aof$'
press Escape
shows ' /odd1more$'
press Down Down Enter
seen "one that nobody could tell" 'cgroup unknown$' '^ +10 .*idle$'
press Escape
shows ' /odd1more$'
press Down Enter
seen "a path is no pattern" 'cgroup /odd\[1\]\*$' '^ +9 .*idle$'
unlike "for another" "$(capture)" ' leaf$'
press q
ended "cgroups" 0
open_screen 40 10 --session-dir="$SESSION" --view=thread event:TIMER
seen "of a name the program stays, too" ' redis-s.*io_ao'
press q
ended "a narrow screen" 0

# ---- names that nobody chose ---------------------------------------------------

make_session
# In the names of sample files such bytes are %XX.
echo 0x10 5000 | "$TESTBIN/mkodb" \
	"$CURRENT/$P/{dep}/{root}/lib/a%1b[31mred%01%ff%c3%bc/TIMER.0.0.9.9.all" \
	timer-hz=1000
open_screen 120 40 --session-dir="$SESSION" event:TIMER
seen "control characters are none" 'a\?\[31mred\?\?ü'
press 1
seen "in no view" '/lib/a\?\[31mred\?\?ü$'
press q
ended "strange names" 0
unlike "and were not written" "$(tr '\033\001' '^^' <"$TMP/written")" \
	'\^\[31mred'

# ---- symbols that are kept ------------------------------------------------------

# What is wrong with a binary is said of each reading, though it is read once.
${CC:-cc} -O0 -rdynamic -s -o "$TMP/bare" "$TMP/prog.c" || exit 1
rm -rf "$SESSION"
bare() {
	echo "$leaf $1" | "$TESTBIN/mkodb" \
		"$CURRENT/{root}$TMP/bare/{dep}/{root}$TMP/bare/TIMER.0.0.all.all.all" \
		timer-hz=1000 "mtime=$TMP/bare"
}
bare 30
if command -v strace >/dev/null && ! nm "$BIN/optop" | grep -q __asan_init; then
	optop_env="strace -f -qq --seccomp-bpf -e trace=open,openat -o $TMP/trace"
fi
open_screen 100 30 --session-dir="$SESSION" --interval=0
shows '  30 samples'
bare 12
press r
seen "a reading after the first" '  42 samples'
press w
seen "says what is wrong with binaries" 'bare: stripped'
press x
shows '  42 samples'
press Enter 3
seen "without call graphs there are no calls" '\[self\] ' '^no callers or callees; '
press q
ended "a stripped binary" 0
if [ "$optop_env" ]; then
	is "it was read once" "$(grep -F "\"$TMP/bare\"" "$TMP/trace" | grep -vc ENOENT)" 1
else
	skip "it was read once" "no strace, or AddressSanitizer"
fi
optop_env=

# ---- functions that were inlined -------------------------------------------------

cat >"$TMP/inlined.c" <<'END'
#include <stdlib.h>
static inline __attribute__((always_inline)) unsigned mix(unsigned x)
{
	x ^= x << 13;
	return x ^ x >> 17;
}
__attribute__((noinline)) unsigned run(unsigned n)
{
	unsigned x = 1;
	while (n--)
		x = mix(x);
	return x;
}
int main(int argc, char **argv) { return (int)run((unsigned)atoi(argv[argc - 1])); }
END
${CC:-cc} -g -O2 -o "$TMP/inlined" "$TMP/inlined.c" || exit 1
rm -rf "$SESSION"
# A sample at each address of run().
nm -S "$TMP/inlined" | awk '$4 == "run" { print "0x" $1, "0x" $2 }' | {
	read -r start len
	for i in $(seq 0 $((len - 1))); do
		printf '0x%x 1\n' $((start + i))
	done
} | "$TESTBIN/mkodb" \
	"$CURRENT/{root}$TMP/inlined/{dep}/{root}$TMP/inlined/TIMER.0.0.all.all.all" \
	timer-hz=1000 "mtime=$TMP/inlined"
open_screen 100 30 --session-dir="$SESSION" --filter=mix
shows ' inlined +mix$'
press Enter
seen "of one that was inlined the source comes first" '2 source .* mix$' \
	'^ +[0-9]+ +[0-9.]+ +4 +x \^= x << 13;$'
press Left
seen "as it has no code of its own" '^mix: it was inlined and has no code of its own'
press 3
seen "and this is who has it" 'caller +run$' '\[self\] +mix$'
press Escape
shows ' inlined +mix$'
press Escape
shows ' inlined +run$'
press Home Enter
seen "the code of a function has what was inlined there" '1 assembly ' \
	'inlined\.c:4 +[0-9a-f]+  '
press q
ended "inlined functions" 0

# ---- a running session ---------------------------------------------------------

HOME=$TMP/home
OPROFILE_FS=$TMP/fs
export HOME OPROFILE_FS
mkdir -p "$HOME"
rm -rf "$SESSION"
oprofilefs "$OPROFILE_FS"
opcontrol() {
	"$BIN/opcontrol" "$@" >"$TMP/opcontrol.out" 2>&1 9<&-
}
kernel_samples() {
	printf 'cpu 0\nctx 0 0\nkernel\nsample 0xffffffffd0000000 0 x%s\n' "$1" |
		stream "$TMP/words"
	cat "$TMP/words" >&9
}
ok "a daemon" opcontrol --start-daemon --session-dir="$SESSION"
daemon=$(cat "$SESSION/run/lock")
ok "samples" opcontrol --start
# Wide enough for a message with the path of the session.
open_screen 200 30 --session-dir="$SESSION" --interval=1
seen "it waits for the first samples" 'running .*every 1 s$' 'no sample files|no samples'
kernel_samples 30
seen "which come by themselves" '  30 samples' '^ +30 100\.000'
press n
shows '  0 samples'
kernel_samples 12
seen "n counts from then on" '  12 samples' '^ +12 100\.000'
press t
shows '  42 samples'
kernel_samples 100
shows '  142 samples'
ok "a reset" opcontrol --reset
kernel_samples 3
seen "is told" '  3 samples'
like "so that nobody is surprised" "$screen" '^the session was (reset|replaced by another one)$'
ok "a session is saved" opcontrol --save=one
kernel_samples 4
seen "and another one begins" '  4 samples'
kill -KILL "$daemon"
await end "$daemon"
daemon=
seen "a daemon that is killed is told" \
	'^the daemon was killed; samples that it had not stored are lost$' ' killed '
press 1
seen "and views go on" '^ +4 100\.000 '
rm -rf "$SESSION"
press r
seen "a session that is removed is told" 'there are no samples'
is "the rows stay" "$(capture | sed -n 5p | awk '{ print $1 }')" 4
press q
ended "a session that is gone" 0

if [ "$(id -u)" -eq 0 ]; then
	ok "a daemon again" opcontrol --start-daemon --session-dir="$SESSION"
	daemon=$(cat "$SESSION/run/lock")
	ok "samples" opcontrol --start
	kernel_samples 9
	ok "a dump" opcontrol --dump
	chmod -R a+rX "$TMP" 2>/dev/null
	cp "$BIN/optop" "$TMP/optop"
	sed "s|\"$BIN/optop\"|setpriv --reuid=$test_user --regid=$test_user --clear-groups $TMP/optop|" \
		"$TMP/run" >/dev/null
	optop_env="setpriv --reuid=$test_user --regid=$test_user --clear-groups --"
	saved=$BIN BIN=$TMP
	open_screen 100 30 --session-dir="$SESSION"
	BIN=$saved
	seen "who may not ask the daemon sees what is there" \
		'^you may not make the daemon' '  9 samples' ' not allowed '
	press q
	ended "another user" 0
	opcontrol --shutdown
	daemon=
else
	skip "another user" "not root"
fi

done_testing
