#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# operf with a daemon that takes no samples (tests/helper/fake_perfd.c): what
# becomes of the command, of the session folder and of both when something
# goes wrong.

. "$(dirname "$0")/../lib.sh"

# The daemon beside operf is taken, so operf must be a copy.
FAKE_DIR=$TMP/fake
mkdir "$TMP/bin" "$FAKE_DIR" "$TMP/work"
cp "$BIN/operf" "$TMP/bin/operf"
cp "$TESTBIN/fake_perfd" "$TMP/bin/oprofiled" || exit 1
export FAKE_DIR
unset FAKE_MODE
cd "$TMP/work" || exit 1

data=oprofile_data
samples=$data/samples
background=
# shellcheck disable=SC2317 # lib.sh calls it
at_exit() {
	for pid in $background $(cat "$data/run/lock" 2>/dev/null); do
		kill -KILL "$pid" 2>/dev/null
	done
}

# The CPU clock is the same everywhere.
operf() {
	"$TMP/bin/operf" --rate=1000 "$@"
}
# said: what operf said, without what depends on the user's rights, on a host
# that lets a virtual CPU wait while the command is said to use it, or on earlier
# runs (see renamed).
said() {
	grep -v -e '^operf: the run before is session:previous now' \
		 -e '^operf: only user code is sampled' \
		-e '^operf: warning: samples stand for' "$TMP/err"
}
# run STATUS NAME ARG...: stdout is in $out, stderr in $TMP/err.
run() {
	wanted=$1 name=$2
	shift 2
	status=0
	out=$(operf "$@" 2>"$TMP/err") || status=$?
	is "$name" "$status" "$wanted"
}
# launch ARG...: in the background as from a terminal: a process group of its
# own and no signal ignored. Sets pid.
launch() {
	: >"$TMP/err"
	setsid env --default-signal "$TMP/bin/operf" --rate=1000 "$@" \
		>"$TMP/out" 2>"$TMP/err" &
	pid=$!
	background="$background $pid"
}
# until_started: the daemon has been asked to start, and operf has its answer.
# Before that a signal undoes the run.
until_started() {
	await line "$TMP/err" 'Profiler started'
}
seen() {
	cut -d: -f1 "$FAKE_DIR/seen" | tr '\n' ' '
}
fresh() {
	rm -rf "$data" "$TMP/was"
	rm -f "$FAKE_DIR"/*
}
# ledger TAKEN STORED LOST: what the daemon leaves.
ledger() {
	printf '%s\n' "source = perf/fake" "taken = $1" "stored = $2" \
		"pending = 0" "lost.sample_lost_overflow = $3" \
		>"$FAKE_DIR/ledger"
}
# The session's files but for locks; see unchanged.
listing() {
	find . ! -path '*/run*' ! -path '*.log' -exec ls -di {} + |
		sort -k 2
}
remember() {
	listing >"$TMP/was"
}
unchanged() {
	listing | diff "$TMP/was" - >&2
}

# ---- a command

# shellcheck disable=SC2016 # for the command
run 3 "the command's exit status" sh -c 'echo "out $0 $1"; exit 3' -x --pid
is "the command's output and arguments, and nothing else" "$out" "out -x --pid"
is "what is said" "$(said)" "operf: 100 samples taken, 97 stored, 3 lost \
(3 sample_lost_overflow); see opreport -l"
is "the daemon's options" "$(sed -e 's/=[0-9]*,rate/=N,rate/' \
	-e 's/fd=[0-9]*/fd=N/' "$FAKE_DIR/argv")" \
	"--session-dir=$TMP/work/$data
--foreground
--ready-fd=N
--source=perf:exec=N,rate=1000,remove-maps=1
--command-line=sh -c 'echo \"out \$0 \$1\"; exit 3' -x --pid
--separate-lib=1
--separate-kernel=1
--slices=256
--cpu-budget=none"
is "it was started before the command executed, apart from our signals" \
	"$(grep ^start "$FAKE_DIR/seen")" "start: leader 1 death 15 exec operf"
is "it was asked" "$(seen)" "start shutdown "
ok "it is gone" gone "$(cat $data/run/lock)"

# ---- the run

nr_times() {
	grep -c -e '^run.wall_ns = [0-9]' -e '^run.cpu_ns = [0-9]' "$samples/current/ledger"
}
fresh
ledger 100 97 3
seq 20000 >"$TMP/numbers"
run 0 "a note" --note='before the change' sort -R "$TMP/numbers"
is "reaches the daemon" "$(grep note "$FAKE_DIR/argv")" "--note=before the change"
is "the times are in the ledger" "$(nr_times)" 2
cat >>"$FAKE_DIR/ledger" <<'EOF'
cost.time_ns = 60000000000
cost.cpus_ns = 120000000000
cost.lowered_ns = 12000000000
cost.budget = 10000
cost.divisor = 4
cost.rate = 1000
EOF
run 0 "a rate and a budget" --cpu-budget=1 true
like "the budget has won" "$(said)" '^operf: the rate was lowered to 250/s for 12 s of 60 s to stay within 1 % of each CPU; --cpu-budget=none keeps the --rate$'
run 0 "samples that are added" --append true
unlike "whose rate was not lowered" "$(said)" lowered
is "have no times" "$(nr_times)" 0
run 0 "what runs on" --duration=0.05 sh -c "sleep 0.1; sort -R $TMP/numbers"
is "has the time that was sampled" "$(nr_times)" 1
run 0 "the whole machine" -s -- true
is "has the command line of operf" "$(grep command-line "$FAKE_DIR/argv")" \
	"--command-line=$TMP/bin/operf --rate=1000 -s -- true"
for note in '' ' blank' 'blank ' "a
b" "$(printf %256s x | tr ' ' y)"; do
	run 125 "a note that is none" --note="$note" true
	like "is refused" "$(said)" '^operf: --note: give 1 to 255 bytes'
done

# ---- how long

fresh
run 3 "the system while a command runs" -s -- sh -c 'echo out; exit 3'
is "the command's output" "$out" out
is "the daemon's source" "$(grep source "$FAKE_DIR/argv")" \
	"--source=perf:rate=1000"
run 0 "processes while a command runs" --pid=$$,1 -- true
is "the source" "$(grep source "$FAKE_DIR/argv")" \
	"--source=perf:pid=$$,pid=1,rate=1000"
run 0 "a cgroup while a command runs" --cgroup=/a/b -- true
is "its source" "$(grep source "$FAKE_DIR/argv")" \
	"--source=perf:cgroup=/a/b,rate=1000"
run 0 "nothing but a time" --duration=0.05
is "is about the system" "$(grep source "$FAKE_DIR/argv")" \
	"--source=perf:rate=1000"
like "which is said" "$(said)" '^operf: Profiler started'
run 0 "lists in parts" --pid=$$ -p 1 --separate=thread --separate=cpu -- true
is "are one list each" "$(grep -e source -e 'separate-[ct]' "$FAKE_DIR/argv" | sort)" \
	"--separate-cpu=1
--separate-thread=1
--source=perf:pid=$$,pid=1,rate=1000"
printf '#!/bin/sh\necho "$*" >"%s/kept"\n' "$FAKE_DIR" >"$TMP/bin/opsymbols"
chmod +x "$TMP/bin/opsymbols"
run 0 "and patterns in parts" --no-symbols='*/a' --no-symbols='b*,c' true
rm "$TMP/bin/opsymbols"
like "are one list, too" "$(cat "$FAKE_DIR/kept")" ' --no-symbols=\*/a,b\*,c$'
run 0 "a time with processes that go on" --duration=0.05 --pid=$$,1
fresh
# shellcheck disable=SC2016 # for the command
run 4 "a command that goes on" --duration=0.05 sh -c '"$0" end $(cat "$1"); exit 4' \
	"$TESTBIN/await" $data/run/lock
is "is unprofiled from then on" "$(seen)" "start shutdown "
run 0 "one that does not" --duration=1000 true
like "ends the run" "$(said)" '^operf: 100 samples taken, '
run 0 "quiet" --quiet --duration=0.05
is "says nothing" "$(said)" ""
run 127 "but what is wrong" --quiet no-such-program
like "is said" "$(said)" '^operf: no-such-program: '
sleep 1000 &
one=$!
sleep 1000 &
two=$!
background="$background $one $two"
launch --pid=$one,$two
until_started
kill $one
wait $one
ok "with one of two processes the run goes on" kill -0 "$pid"
kill $two
wait "$pid"
is "with the second it ends" $? 0

fresh
is "the command has our input" "$(echo text | operf cat 2>/dev/null)" text
is "a command behind --" "$(operf -- echo -p 2>/dev/null)" -p
operf -V debug true <&- >&- 2>&-
is "without standard files" "$? $(grep taken $samples/current/ledger)" \
	"0 taken = 100"
run 143 "128 and the signal that ended it" sh -c 'kill -TERM $$'
like "is said" "$(said)" '^operf: sh: was ended by signal 15 \(Terminated\)$'
run 139 "a crash" sh -c 'kill -SEGV $$'
printf 'echo "sh $*"\n' >script
chmod +x script
run 0 "a script without a first line" ./script a b
is "is the shell's" "$out" "sh a b"
rm script

out=$(operf -t -c -k /boot/x -l -V sfile,debug,misc --session-dir=$data \
	--pack-at=0 --max-disk=5 --cpu-budget=0.5 --history=64M --readable-by=0 --record=stream \
	true 2>"$TMP/err")
is "all options" "$(sed -n '/separate-thread/,$p' "$FAKE_DIR/argv")" \
	"--separate-thread=1
--separate-cpu=1
--pack-at=0
--max-disk=5
--cpu-budget=0.5
--history=64M
--readable-by=0
--record=stream
--vmlinux=/boot/x
--verbose=sfile,misc"
like "steps are said" "$(said)" '^\+ ask the daemon, pid [0-9]+: start$'
like "with another folder the report's is told" "$(said)" \
	"see opreport -l --session-dir=$TMP/work/$data\$"
"$TMP/bin/operf" -e faults:7:0:0 -e cpu-clock:1000000:0:0:1 true 2>/dev/null
is "events by their usual names" "$(grep ^--events "$FAKE_DIR/argv")" \
	"--events=page-faults:2:0:7:0:0:1:0x2,cpu-clock:0:1:1000000:0:0:1:0x0"
is "and no rate" "$(grep -c rate= "$FAKE_DIR/argv")" 0

# A machine whose CPU is known, with counters.
mkdir -p "$TMP/fs/0" "$TMP/fs/proc" "$TMP/events/x86-64/made-up"
printf 'processor\t: 0\nvendor_id\t: Nobody\n' >"$TMP/fs/proc/cpuinfo"
(
	cd "$TMP/events/x86-64/made-up" || exit
	printf '%s = %s\n' name "Made up" counters 2 default CYCLES:1000 \
		encoding x86 match "vendor Nobody" manual none >cpu
	printf '%s\n\t%s\n' "name:m type:exclusive default:0x1" "0x1 One" \
		"" "0x2 extra:inv,cmask=1 two Two" | sed '/^$/d' >unit_masks
	printf '%s : Text\n' \
		"event:0x76 counters:0,1 um:m minimum:1000 name:CYCLES" \
		"event:0x1c2 counters:0,1 um:m minimum:500 name:MISSES" >events
)
on_machine() {
	OPROFILE_FS=$TMP/fs OPROFILE_EVENTS_DIR=$TMP/events \
		"$TMP/bin/operf" "$@" 2>"$TMP/err"
	sed -n 's/^--events=[^:]*/&/p' "$FAKE_DIR/argv"
}
like "the default there is the CPU's default event" "$(on_machine true)" \
	'^--events=CYCLES:118:0:1000:1:[01]:1:0x176$'
is "its events, and the kernel's" \
	"$(on_machine -e MISSES:500:two:0 -e faults:1::0,CYCLES:2000:1:0 true)" \
	"--events=MISSES:450:0:500:2:0:1:0x1018002c2,page-faults:2:1:1:0:0:1:0x2,\
CYCLES:118:2:2000:1:0:1:0x176"
is "with a rate it is the clock" "$(on_machine --rate=100 true)" ""
echo broken >>"$TMP/events/x86-64/made-up/events"
like "where nothing describes the CPU it is cycles" "$(on_machine true)" \
	'^--events=cycles:0:0:1000000:0:[01]:1:0x0$'
rmdir "$TMP/fs/0"
is "without counters it is the clock" "$(on_machine true)" ""
like "which is said" "$(cat "$TMP/err")" \
	'^operf: no hardware counters here'

# ---- sessions

fresh
operf true 2>/dev/null
echo first >$samples/current/mark
operf true 2>/dev/null
is "current becomes previous" "$(cat $samples/previous/mark)" first
echo second >$samples/current/mark
operf true 2>/dev/null
is "the next one, too" "$(cat $samples/previous/mark)" second
is "and previous is previous-2" "$(cat $samples/previous-2/mark)" first
ok "the new one is new" not test -e $samples/current/mark
is "nothing else is there" "$(ls -A $samples)" "current
previous
previous-2"
# renamed: what operf says of earlier runs.
renamed() {
	sed -n 's/^operf: the run before is session:previous now//p' "$TMP/err"
}
mv $samples/previous-2 "$TMP/first"
mv $samples/previous "$TMP/second"
run 0 "another run" true
is "one that was moved away is named" "$(renamed)|$(tail -n 1 "$TMP/err" | cut -c -18)" \
	"|operf: 100 samples"
run 0 "another run" true
is "so are two" "$(renamed)" ", and the one before that is session:previous-2"
run 0 "two are kept" --keep=2 true
is "the third is removed, and that is said" "$(renamed) $(find $samples -mindepth 1 -maxdepth 1 -type d | wc -l)" \
	"; the oldest session is removed, as --keep=2 keeps no more 3"
run 0 "one is kept" --keep=1 true
is "two are removed" "$(renamed)" \
	"; the 2 oldest sessions are removed, as --keep=1 keeps no more"
run 0 "a quiet run" -q --keep=1 true
is "says nothing of it" "$(cat "$TMP/err")" ""
rm -r $samples/previous
mv "$TMP/first" $samples/previous-2
mv "$TMP/second" $samples/previous
echo third >$samples/current/mark
ledger 150 146 4
run 0 "--append" --append true
is "keeps the samples" "$(cat $samples/current/mark)" third
is "and the previous ones" "$(cat $samples/previous/mark)" second
like "what is there, and what is new, is told" "$(said)" "^operf: adding to 97 \
samples of [0-9][0-9]:[0-9][0-9]; for the whole machine use -s, without -a\$
operf: 50 samples taken, 49 stored, 1 lost \(1 sample_lost_overflow\); see opreport -l"
run 0 "-s --append" -s --append true
like "which is the machine's" "$(said)" "^operf: adding to 146 samples of [0-9:]*\$"
ok "a ledger of another day" touch -d 2001-02-03T04:05 $samples/current/ledger
run 0 "that is added to" --append true
like "has that day" "$(said)" " samples of 2001-02-03 04:05; "
# on_terminal ANSWER ARG...: what is said there, and the exit status.
on_terminal() {
	python3 - "$TMP/bin/operf" "$@" <<'END' | tr -d '\r'
import os, pty, sys
program, answer, *args = sys.argv[1:]
pid, fd = pty.fork()
if not pid:
    os.execv(program, ["operf"] + args)
said = b""
try:
    while more := os.read(fd, 4096):
        said += more
        if said.endswith(b"[y/N] "):
            os.write(fd, answer.encode() + b"\n")
except OSError:
    pass
print(said.decode() + str(os.waitpid(pid, 0)[1] >> 8))
END
}
like "-a asks on a terminal" "$(on_terminal n -a true)" \
	"^operf: add to them\? \[y/N\] n\$
operf: nothing was run; without -a .*
125\$"
like "it takes yes" "$(on_terminal y -a true)" "samples? taken, .*
0\$"
is "--append does not ask, nor does --quiet" \
	"$({ on_terminal n --append true; on_terminal n -aq true; } | grep -c y/N)" 0
rm "$FAKE_DIR/ledger"
FAKE_MODE=empty operf true 2>/dev/null
is "a run is kept" "$(cat $samples/previous/mark)" third
FAKE_MODE=empty operf true 2>/dev/null
is "one without samples replaces none" "$(cat $samples/previous/mark)" third
for name in packed .packing-1; do
	: >"$samples/current/$name"
	FAKE_MODE=empty operf true 2>/dev/null
	ok "one of which all is in $name is kept" test -e "$samples/previous/$name"
done
echo third >$samples/previous/mark
mkdir -p "$samples/.replaced/{root}"
operf true 2>/dev/null
ok "what a killed run left is removed" not test -e $samples/.replaced
mv $samples/previous $samples/.replaced
operf true 2>/dev/null
ok "or put back" test -e $samples/previous


# ---- sessions without samples

fresh
ledger 0 0 0
# At 1000 per second it is another reason where a virtual CPU waits for 20 ms.
out=$("$TMP/bin/operf" --rate=1 true 2>"$TMP/err")
is "nothing taken" $? 0
like "is said, and why" "$(said)" "^operf: warning: no samples were \
taken: the command used [0-9.]+ ms of CPU time, a sample is taken every \
1000\.0 ms; let it do more, or give a higher --rate\$"
out=$("$TMP/bin/operf" -e faults:1000 true 2>&1)
like "with an event" "$out" "no samples were taken: the event did not \
happen often enough; give a smaller count, or a command that runs longer"
like "where the samples before are" "$out" "\(the samples of the run before \
are in session:previous\)\$"
ledger 7 0 7
run 0 "nothing stored" true
is "is said" "$(said)" "operf: warning: none of 7 samples could \
be stored (7 sample_lost_overflow); see $TMP/work/$samples/oprofiled.log"
ledger 1 1 0
run 0 "nothing lost" true
is "is said too" "$(said)" \
	"operf: 1 sample taken, 1 stored, none lost; see opreport -l"
echo "nonsense" >"$FAKE_DIR/ledger"
run 125 "an account that cannot be read" true
like "is a failure" "$(said)" "^operf: $TMP/work/$samples/current/ledger:1: "
rm "$FAKE_DIR/ledger"
run 0 "but none for the next run" --append true

# ---- commands that cannot be executed

# cannot STATUS NAME TEXT COMMAND...: nothing is started, nothing changed.
cannot() {
	wanted=$1 name=$2 text=$3
	shift 3
	rm -f "$FAKE_DIR/seen"
	remember
	run "$wanted" "$name" "$@"
	is "$name is said" "$(said)" "operf: $text"
	is "$name: nothing of it is sampled" \
		"$(seen 2>/dev/null | sed 's/start //')" ""
	ok "$name: the sessions are as before" unchanged
}
cannot_any() {
	cannot 127 "a program that is not there" "nosuch: no such program on \
PATH; check the name, or give its path" nosuch
	cannot 127 "a path that is not there" \
		"./no/such: no such program; check the path" ./no/such
	cannot 127 "an empty name" \
		": no such program on PATH; check the name, or give its path" ""
	cannot 126 "a folder" \
		"/bin: is a folder, not a program; give the path of a program" /bin
	cannot 126 "a file that may not be executed" "$TMP/plain: may not be \
executed; try chmod +x if it is a program" "$TMP/plain"
	cannot 126 "a binary of another machine" \
		"$TMP/binary: not a program of this machine" "$TMP/binary" x
	cannot 126 "an interpreter that is not there" "$TMP/script: its \
interpreter (see its first line, or its architecture) is missing" \
		"$TMP/script"
}
: >"$TMP/plain"
printf '\177ELF\0\0\0' >"$TMP/binary"
printf '#!/no/such\n' >"$TMP/script"
chmod +x "$TMP/binary" "$TMP/script"
fresh
cannot_any
ok "no session was made" not test -e $data
operf true 2>/dev/null
operf true 2>/dev/null
cannot_any
is "both sessions are there" "$(ls $samples)" "current
previous"
rm -rf $samples/current
cannot 126 "a binary, with nothing to go back to" \
	"$TMP/binary: not a program of this machine" -a "$TMP/binary"

# ---- a daemon that does not start

fresh
# fails MODE NAME TEXT
fails() {
	remember
	FAKE_MODE=$1
	export FAKE_MODE
	run 125 "$2" echo hello
	unset FAKE_MODE
	is "$2 is said" "$(said)" "operf: $3"
	is "$2: the command has not run" "$out" ""
	ok "$2: the sessions are as before" unchanged
}
fails_any() {
	fails fail "a daemon that is not ready" \
		"cycles: told to fail; tell me otherwise"
	fails die "a daemon that dies" "oprofiled: the daemon was ended by \
signal 9 (Killed) while it started; try again"
	fails complain "a daemon that only complains" \
		"oprofiled: fake oprofiled: told to complain"
	fails refuse-start "a daemon that does not sample" "the disk is full"
	fails crash-start "a daemon that dies of it" "oprofiled: the daemon was \
ended by signal 9 (Killed) while it started; try again"
}
fails_any
ok "no session was made" not test -e $data
operf true 2>/dev/null
operf true 2>/dev/null
fails_any
mv "$TMP/bin/oprofiled" "$TMP/bin/daemon"
printf 'no program' >"$TMP/bin/oprofiled"
chmod +x "$TMP/bin/oprofiled"
fails '' "a daemon that is no program" \
	"$TMP/bin/oprofiled: cannot run it: Exec format error"
printf '#!/bin/sh\nexit 0\n' >"$TMP/bin/oprofiled"
fails '' "a daemon that only pretends" "oprofiled: the daemon ended while it \
started; use daemon and operf of one version"
rm "$TMP/bin/oprofiled"
out=$(PATH=/usr/bin:/bin operf true 2>&1)
like "no daemon" "$out" "^operf: oprofiled: no such program in $TMP/bin or on \
PATH; build it with make, or reinstall oprofile\$"
mkdir "$TMP/path"
cp "$TMP/bin/daemon" "$TMP/path/oprofiled"
ok "one from PATH" env PATH="$TMP/path:$PATH" "$TMP/bin/operf" --rate=9 true
mv "$TMP/bin/daemon" "$TMP/bin/oprofiled"

# ---- a daemon that does not go on

fresh
# shellcheck disable=SC2016 # for the command
run 125 "a daemon that is killed" sh -c 'kill -KILL $(cat oprofile_data/run/lock)
	"$1" line "$0" unprofiled && echo "goes on"; exit 7' \
	"$TMP/err" "$TESTBIN/await"
is "the command goes on" "$out" "goes on"
is "both are said" "$(said)" "operf: oprofiled: the daemon was ended by signal \
9 (Killed); see $TMP/work/$samples/oprofiled.log; sampling has stopped; \
the command continues, unprofiled
operf: sh: its exit status was 7"
# shellcheck disable=SC2016
run 125 "a daemon that is told to end" sh -c 'kill $(cat oprofile_data/run/lock)
	"$1" line "$0" unprofiled && exit 7' "$TMP/err" "$TESTBIN/await"
is "is said" "$(said)" "operf: oprofiled: the daemon was asked to end; sampling has stopped; the command continues, unprofiled
operf: 100 samples taken, 97 stored, 3 lost (3 sample_lost_overflow); see \
opreport -l
operf: sh: its exit status was 7"
FAKE_MODE=linger
export FAKE_MODE
# shellcheck disable=SC2016
run 0 "one that ends just when the command does" \
	sh -c 'kill $(cat oprofile_data/run/lock)
	"$0" gone oprofile_data/run/control' "$TESTBIN/await"
is "is as any other" "$(said)" "operf: 100 samples taken, 97 stored, 3 lost (3 \
sample_lost_overflow); see opreport -l"
FAKE_MODE=crash-shutdown
run 125 "a daemon that dies at its end" sh -c 'exit 7'
is "is said too" "$(said)" "operf: sh: its exit status was 7
operf: oprofiled: the daemon was ended by signal 9 \
(Killed); see $TMP/work/$samples/oprofiled.log"
FAKE_MODE=pack-shutdown
run 0 "a daemon that packs at its end" true
is "is as any other" "$(said)" "operf: 100 samples taken, 97 stored, 3 lost (3 \
sample_lost_overflow); see opreport -l"
if command -v python3 >/dev/null; then
	is "on a terminal that is said, once" "$(python3 -c 'import pty, sys
pty.spawn(sys.argv[1:])' "$TMP/bin/operf" --rate=1000 true </dev/null |
		tr -d '\r' | grep pack)" "operf: packing 9 MiB of sample files"
else
	skip "on a terminal that is said, once" "there is no python3"
fi
unset FAKE_MODE

# ---- signals, with a command

fresh
# shellcheck disable=SC2016
launch sh -c 'trap "echo interrupted; exit 5" INT; "$0" $$ & : >ready
	wait' "$TESTBIN/hold"
await file ready
daemon=$(cat $data/run/lock)
kill -INT "-$pid"
wait "$pid"
is "Ctrl-C is for the command" "$? $(cat "$TMP/out")" "5 interrupted"
is "the data are kept" "$(said)" "operf: 100 samples taken, 97 stored, 3 lost \
(3 sample_lost_overflow); see opreport -l"
is "the daemon was asked to end" "$(seen)" "start shutdown "
ok "and has" gone "$daemon"
for signal in TERM=143 HUP=129; do
	rm -f ready
	# shellcheck disable=SC2016
	launch sh -c ': >ready; exec "$0" "$1"' "$TESTBIN/hold" $$
	await file ready
	kill "-${signal%=*}" "$pid"
	wait "$pid"
	is "SIG${signal%=*} is passed on to the command" $? "${signal#*=}"
	ok "and the account is there" grep -q '^taken = 100' \
		$samples/current/ledger
done
rm -f ready
# shellcheck disable=SC2016
launch sh -c ': >ready; exec "$0" "$1"' "$TESTBIN/hold" $$
await file ready
rm $samples/current/ledger 2>/dev/null
daemon=$(cat $data/run/lock)
# The command outlives operf, the daemon does not.
command=$(cat "/proc/$pid/task/$pid/children" 2>/dev/null)
for child in $command; do
	[ "$child" = "$daemon" ] || background="$background $child"
done
kill -KILL "$pid"
await end "$daemon"
ok "a killed operf takes the daemon along, which finishes" grep -q \
	'^taken = 100' $samples/current/ledger

fresh
operf true 2>/dev/null
for signal in INT=130 TERM=143 HUP=129 QUIT=131; do
	rm -f "$FAKE_DIR/argv"
	remember
	FAKE_MODE=hang launch echo hello
	await file "$FAKE_DIR/argv"
	kill "-${signal%=*}" "$pid"
	wait "$pid"
	is "SIG${signal%=*} before the start" \
		"$? $(sed 's/[0-9]* ([A-Z][a-z]*)/N/' "$TMP/err")" \
		"${signal#*=} operf: ended by signal N before sampling began; \
nothing was changed"
	ok "is true" unchanged
done

# A daemon that does not end, and a user who does not want to wait for it.
fresh
FAKE_MODE=refuse-shutdown launch true
await line "$FAKE_DIR/seen" shutdown
daemon=$(cat $data/run/lock)
kill -INT "$pid"
await line "$TMP/err" 'once more'
ok "one Ctrl-C while the daemon ends leaves it alive" kill -0 "$daemon"
kill -INT "$pid"
wait "$pid"
is "two end it, which says what the daemon had said" \
	"$? $(said | tail -n 1)" "125 operf: oprofiled: the disk is full"
ok "at once" gone "$daemon"

# ---- a process, and everything

fresh
"$TESTBIN/hold" $$ &
target=$!
background="$background $target"
launch --pid=$target
until_started
like "--pid is the daemon's" "$(cat "$FAKE_DIR/argv")" \
	"^--source=perf:pid=$target,rate=1000\$"
kill -KILL "$target"
wait "$pid"
is "ends with the process" $? 0
like "how to end it was said" "$(said)" \
	"^operf: Profiler started; Ctrl-C or kill -INT $pid ends it\$"
like "and what came of it" "$(said)" '^operf: 100 samples taken'
for signal in INT TERM HUP QUIT; do
	rm -f "$FAKE_DIR/seen"
	launch --system-wide
	until_started
	kill -$signal "$pid"
	wait "$pid"
	is "SIG$signal ends --system-wide" $? 0
	is "cleanly" "$(seen)" "start shutdown "
done
is "the source of everything" "$(grep source "$FAKE_DIR/argv")" \
	"--source=perf:rate=1000"
: >"$TMP/err"
"$TMP/bin/operf" -s -e faults:1 2>"$TMP/err" >&2 & # SIGINT is ignored here
pid=$!
background="$background $pid"
until_started
kill -INT $pid
wait $pid
is "SIGINT ends it in the background of a script, too" $? 0
is "without a rate" "$(grep source "$FAKE_DIR/argv")" "--source=perf"
: >"$TMP/err"
setsid env --default-signal --ignore-signal=HUP "$TMP/bin/operf" -s \
	--verbose=debug 2>"$TMP/err" >&2 & # as nohup has it
pid=$!
background="$background $pid"
until_started
kill -HUP $pid
kill -TERM $pid
wait $pid
is "an ignored SIGHUP does not end it, SIGTERM does" \
	"$(sed -n 's/^+ \(signal [0-9]*\) .*/\1/p' "$TMP/err")" "signal 15"
launch -s
until_started
kill -KILL "$(cat $data/run/lock)"
wait "$pid"
is "a daemon that is killed ends --system-wide" "$? $(said | tail -n 1)" \
	"125 operf: oprofiled: the daemon was ended by signal 9 (Killed); see \
$TMP/work/$samples/oprofiled.log; sampling has stopped"
launch -s
until_started
kill "$(cat $data/run/lock)"
wait "$pid"
is "one that is told to end, as well" "$? $(said | tail -n 1)" \
	"0 operf: 100 samples taken, 97 stored, 3 lost (3 sample_lost_overflow); \
see opreport -l"

fresh
run 125 "--pid of nobody" --pid=$target
is "is said" "$(said)" "operf: process $target: no such process; ps lists them"
ok "no session was made" not test -e $data

# ---- one at a time

launch -s
until_started
run 125 "a second operf in a folder" true
is "is told of the first" "$(said)" "operf: $TMP/work/$data: another operf, pid \
$pid, is using this folder; wait for its end, or give another --session-dir"
kill "$pid"
wait "$pid"
is "which goes on" $? 0
mkdir -p "$TMP/other"
mkfifo "$TMP/ready"
"$TMP/bin/oprofiled" --session-dir="$TMP/other" --ready-fd=3 3>"$TMP/ready" &
daemon=$!
background="$background $daemon"
is "a daemon that is ready" "$(tr -d '\0' <"$TMP/ready")" ""
run 125 "a folder with a daemon" -d "$TMP/other" true
is "is left to it" "$(said)" "operf: $TMP/other: a daemon, pid $daemon, is using this folder; end it with opcontrol --shutdown, or give another --session-dir"
kill "$daemon"
wait "$daemon"
run 0 "a folder where one was" -d "$TMP/other" true

# ---- session folders

run 0 "a folder that is not there" --session-dir="$TMP/new" true
ok "is made" [ -e "$TMP/new/samples/current/ledger" ]
run 127 "but not for a program that is not there" -d "$TMP/none" no-such-program
FAKE_MODE=fail
export FAKE_MODE
run 125 "or a daemon that fails" -d "$TMP/none" true
unset FAKE_MODE
ok "neither leaves one" [ ! -e "$TMP/none" ]
run 125 "a folder in none" --session-dir="$TMP/no/such" true
is "is said" "$(said)" "operf: --session-dir=$TMP/no/such: no such folder, and \
it cannot be made: No such file or directory; give one that you may write to"
run 125 "a file for a folder" -d "$TMP/plain" true
is "is said" "$(said)" \
	"operf: --session-dir=$TMP/plain: is not a folder; give one"
run 125 "a folder without a name" -d "" true
like "is said" "$(said)" '^operf: --session-dir=: no such folder'
mkdir "$TMP/a folder's"
run 0 "a folder of any name" -d "$TMP/a folder's" true
mkdir "$TMP/a b"
run 0 "and another" -d "$TMP/a b" true
like "can be given to a shell" "$(said)" \
	"see opreport -l '--session-dir=$TMP/a b'\$"
fresh
: >$data
run 125 "a file in the way" true
is "is said" "$(said)" "operf: ./$data: is not a folder; move it away, or give \
--session-dir"
rm $data
ln -s nowhere $data
run 125 "a link to nowhere" true
rm $data

# ---- as an ordinary user

chmod 755 "$TMP" "$TMP/bin"
mkdir "$TMP/theirs" "$TMP/locked"
chmod 555 "$TMP/locked"
rm -f "$FAKE_DIR"/*
give_to_user "$TMP/theirs" "$FAKE_DIR"
cd "$TMP/theirs" || exit 1
as_user "$TMP/bin/operf" --rate=100 sh -c 'exit 9' 2>"$TMP/err"
is "an ordinary user" "$? $(said)" "9 operf: 100 samples taken, 97 stored, 3 \
lost (3 sample_lost_overflow); see opreport -l"
cd "$TMP/locked" || exit 1
as_user "$TMP/bin/operf" true 2>"$TMP/err"
is "in a folder that may not be written" "$? $(said)" "125 operf: ./$data: \
cannot make it: Permission denied; go to a folder that you may write to, or \
give --session-dir"
mkdir "$TMP/secret"
chmod 0 "$TMP/secret"
as_user env PATH="$TMP/secret:$PATH" "$TMP/bin/operf" nosuch 2>"$TMP/err"
is "a folder of PATH that may not be entered" "$? $(said)" "127 operf: nosuch: \
no such program on PATH; check the name, or give its path"
if [ "$(id -u)" -eq 0 ]; then
	cd "$TMP/theirs" || exit 1
	run 125 "root does not take another's folder unasked" true
	is "is said" "$(said)" "operf: ./$data: belongs to another user; to use \
it anyway, give --session-dir=./$data"
	run 0 "only when told to" -d ./$data true
	chmod 700 "$TMP/other"
	as_user "$TMP/bin/operf" -d "$TMP/other" true 2>"$TMP/err"
	like "a folder of root's is not for others" "$? $(said)" \
		'^125 operf: .*: Permission denied'
else
	skip "folders of other users" "not root"
fi
cd "$TMP/work" || exit 1

done_testing
