#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# operf and the daemon that it starts, on programs whose hot functions are
# known. What is sampled is the CPU clock, which every kernel has.
# timeout: 900

. "$(dirname "$0")/../lib.sh"

mkdir "$TMP/work" "$TMP/theirs"
chmod 755 "$TMP"
cd "$TMP/work" || exit 1
data=oprofile_data
current=$data/samples/current
background=
# shellcheck disable=SC2317 # lib.sh calls it
at_exit() {
	for pid in $background $(cat "$data/run/lock" 2>/dev/null); do
		kill -KILL "$pid" 2>/dev/null
	done
}

# run STATUS NAME ARG...: stdout is in $out, what operf says in $TMP/err.
run() {
	wanted=$1 name=$2
	shift 2
	status=0
	out=$("$BIN/operf" "$@" 2>"$TMP/err") || status=$?
	is "$name" "$status" "$wanted"
}
# launch ARG...: in the background, no signal ignored. Sets pid.
launch() {
	: >"$TMP/err"
	setsid env --default-signal "$BIN/operf" "$@" >"$TMP/out" \
		2>"$TMP/err" &
	pid=$!
	background="$background $pid"
}
report() {
	"$BIN/opreport" "$@" 2>/dev/null
}
# key NAME [LEDGER]: a number of the account.
key() {
	sed -n "s/^$1 = //p" "${2:-$current/ledger}"
}
# adds_up NAME: each sample that was taken is stored or lost for a cause, and
# there are some.
adds_up() {
	lost=$(sed -n 's/^lost\..* = //p' $current/ledger | paste -sd+)
	ok "$1: all samples are accounted for" test "$(key taken)" -eq \
		$(($(key stored) + ${lost:-0}))
	ok "$1: there are some" test "$(key stored)" -gt 0
}
# notes: what operf said but for the notes on what can be sampled here.
notes() {
	grep -vE -e '^operf: (no hardware counter|only user code)' "$TMP/err"
}
control() {
	"$TESTBIN/control" "$data/run/control" "$1" 2>/dev/null
}
# until_stored SYMBOL: the daemon, which samples, has stored some of it. Before
# each look it is asked to store all that was taken until then.
until_stored() {
	for _ in $(seq 1000); do
		control dump >/dev/null && report -l | grep -q " $1\$" &&
			return
	done
	ok "a sample of $1 is stored before 1,000 dumps" false
	done_testing
}

why=$("$BIN/operf" --rate=1000 true 2>&1) ||
	skip_all "no perf events here: $why"
rm -rf $data

# ---- processes that are too short

# Many that end before their first sample would be due if each process had a
# clock of its own. Where CPUs are sampled their share is seen all the same.
# shellcheck disable=SC2016
short_lived='i=0; while [ $i -lt 500 ]; do "$1" child 100000; i=$((i + 1)); done'
if "$TESTBIN/canperf" system 2>"$TMP/why"; then
	run 0 "processes of a millisecond" --rate=2000 sh -c "$short_lived" sh \
		"$TESTBIN/forkstorm"
	adds_up "processes of a millisecond"
	unlike "are seen" "$(notes)" 'samples stand for'
	like "and by name" "$(report -l)" ' forkstorm +burn_child$'
	like "samples of others are counted apart" \
		"$(cat $data/samples/oprofiled.log)" 'Nr. sample_of_others: '
else
	skip "processes of a millisecond are seen" "$(cat "$TMP/why")"
fi

# ---- a command

# The CPU seconds of programs that have ended, those that a subshell waited for
# included.
cpu_of_children() {
	awk -F '[ms ]+' 'NR == 2 { print 60 * ($1 + $3) + $2 + $4 }' "$1"
}
times >"$TMP/before"
run 0 "a program" "$TESTBIN/burnmix" 0.3
times >"$TMP/took"
before=$(cpu_of_children "$TMP/before")
took=$(cpu_of_children "$TMP/took")
cost=$(awk -v c="$(key cost.daemon_ns)" -v r="$(key cost.rest_ns)" \
	'BEGIN { print (c + r) / 1e9 }')
diag "$cost of $before to $took s are the cost of profiling"
# The shell counts hundredths of a second, some of them twice.
ok "all CPU time but the program's is the cost of profiling" \
	awk -v before="$before" -v took="$took" -v cost="$cost" \
	-v command="$(key run.cpu_ns)" 'BEGIN {
		left = took - before - command / 1e9 - cost
		exit !(left > -0.04 && left < 0.04) }'
like "the head has it" "$(report)" '; cost 0\.[0-9]+ s of CPU, [0-9.]+ %'
like "its output is its own" "$out" '^burn_alpha [0-9.]+$'
is "its output is all there is" "$(echo "$out" | wc -l)" 4
like "the account" "$(notes)" '^operf: [0-9]+ samples taken, [0-9]+ stored, .*; see opreport -l$'
adds_up "a program"
out=$(report -l)
for symbol in 'burnmix +burn_alpha' 'burnmix +burn_beta' \
	'libburn\.so +burn_lib'; do
	like "the report has $symbol" "$out" "^[0-9]+ .* $symbol\$"
done
unlike "nothing is operf's or the daemon's" "$out" 'operf|oprofiled'
is "the session holds nothing else" "$(find $data -mindepth 1 -maxdepth 1 \
	! -name images | sort)" "$data/run
$data/samples
$data/store
$data/symbols"

# Its symbols are kept at the end, for when it is gone.
printf '%s\n' 'volatile long sum;' 'int main(void) {' \
	'	for (long i = 0; i < 200000000; i++) sum += i;' '}' >"$TMP/vanishing.c"
${CC:-cc} -g -O1 -Wl,--build-id -o "$TMP/vanishing" "$TMP/vanishing.c" || exit 1
rest=$(readelf -n "$TMP/vanishing" | sed -n 's/.*Build ID: ..//p')
mkdir "$TMP/kept" "$TMP/bare"
run 0 "a program that is deleted" --session-dir="$TMP/kept" "$TMP/vanishing"
run 0 "the same without symbols" --session-dir="$TMP/bare" \
	--no-symbols='*/vanishing' "$TMP/vanishing"
rm "$TMP/vanishing"
like "its names and lines are there" \
	"$("$BIN/opreport" --session-dir="$TMP/kept" -l -g 2>/dev/null)" \
	'^[0-9]+ .* vanishing\.c:2 .* main$'
is "they are not if they are not wanted" \
	"$(cd "$TMP" && find kept bare -name "$rest-????????????????")" \
	"kept/store/.build-id/$(cd "$TMP/kept/store/.build-id" && echo ??/"$rest"-????????????????)"

# shellcheck disable=SC2016 # for the command
run 7 "children are followed, the status is the command's" \
	sh -c '"$0" 10 2; exit 7' "$TESTBIN/forkstorm"
like "their samples are" "$(report -l)" '^[0-9]+ .* forkstorm +burn_child$'
adds_up "children"
like "the run before is the previous session" \
	"$(report -l session:previous)" ' burn_alpha$'
ok "and only there" not sh -c "'$BIN/opreport' -l | grep burn_alpha"

before=$(key taken)
run 0 "--append" --append "$TESTBIN/burnmix" 0.1
ok "adds to what is there" test "$(key taken)" -gt "$before"
adds_up "--append"
is "what is said is the difference" \
	"$(notes | sed -n 's/^operf: \([0-9]*\) sample.*/\1/p')" \
	"$(($(key taken) - before))"
out=$(report -l)
like "one report has both" "$out" ' burn_child$'
like "so it has" "$out" ' burn_alpha$'

run 0 "separate" -t -c "$TESTBIN/burnmix" 0.1
like "by thread and CPU" "$(find $current -type f | sample_names)" \
	'/TIMER\.[0-9]+\.0\.([0-9]+)\.\1\.[0-9]+$'

cp "$TESTBIN/burnmix" "$TESTBIN"/libburn.so .
run 0 "a program that is deleted" sh -c './burnmix 0.1; rm burnmix'
like "keeps its name" "$(report)" ' burnmix'
rm -f libburn.so

# ---- symbols of the kernel

snapshot=$(find $data/symbols -name 'vmlinux-*')
if [ "$snapshot" ]; then
	like "they are packed" "$(head -n 1 "$snapshot")" \
		'^oprofile symbols 3 vmlinux [0-9a-f]+ [0-9]+ [0-9]+ [1-9][0-9]*$'
	is "they are a link to those of other sessions" \
		"$(stat -c %i "$snapshot")" \
		"$(stat -c %i "$TMP/kept/symbols/${snapshot##*/}")"
	cp "$snapshot" "$TMP/snapshot"
	truncate -s 1000 "$snapshot"
	run 0 "a damaged snapshot" true
	ok "is made anew" cmp "$snapshot" "$TMP/snapshot"
else
	skip "symbols of the kernel" "none are taken here; run as root"
fi

echo "no kernel" >"$TMP/text"
run 125 "a kernel that is none" -k "$TMP/text" true
is "is told" "$(notes)" "operf: oprofiled: --vmlinux=$TMP/text: not an ELF \
file; give the uncompressed vmlinux, not vmlinuz, or leave the option out"
run 125 "a kernel that is not there" -k "$TMP/none" true
is "is told, too" "$(notes)" "operf: oprofiled: --vmlinux=$TMP/none: No such \
file or directory; give the path of an uncompressed kernel, or leave the option \
out"

# ---- events

run 0 "two events" -e cpu-clock:1000000 -e page-faults:1:0:1:1 \
	"$TESTBIN/burnmix" 0.1
like "have two columns" "$(report)" '^cpu-clock:1000000\|  *page-faults:1\|$'
adds_up "two events"
run 0 "too few of them" -e page-faults:1000000 true
like "are none, which is said" "$(notes)" \
	'^operf: warning: no samples were taken: the event did not happen'
run 0 "another rate" --rate=200 "$TESTBIN/burnmix" 0.1
like "is used" "$(report)" \
	'^Profiling through timer interrupt, (19|20)[0-9] samples per second'
if "$BIN/operf" -e cycles:1000000 -d "$TMP/theirs" true 2>"$TMP/err"; then
	run 0 "the default" true
	unlike "is that counter" "$(cat "$TMP/err")" 'CPU clock'
else
	like "a counter that is not there" "$(cat "$TMP/err")" \
		'^operf: cycles: no hardware counters here'
	run 0 "the default" true
	like "is the CPU clock, which is said" "$(cat "$TMP/err")" \
		'^operf: no hardware counters here'
fi
rm -rf "$TMP/theirs/"*

# ---- what cannot be

list() {
	find . ! -path '*/run*' ! -path '*.log' -exec ls -di {} + | sort -k 2
}
list >"$TMP/was"
run 127 "a program that is not there" no-such-program
printf '\177ELF\0\0\0' >"$TMP/binary"
chmod +x "$TMP/binary"
run 126 "one that is none" "$TMP/binary"
run 125 "a process that is not there" --pid=2147483647
if command -v python3 >/dev/null; then
	python3 -c 'import threading
def hold():
    print(threading.get_native_id(), flush=True)
    threading.Event().wait()
threading.Thread(target=hold).start()' >"$TMP/thread" &
	process=$!
	background="$background $process"
	await text "$TMP/thread"
	thread=$(cat "$TMP/thread")
	run 125 "a thread" --pid="$thread"
	is "is told from a process" "$(notes)" "operf: process $thread: is a \
thread of another process; give the number of that one, all its threads are \
profiled"
	kill -KILL "$process"
else
	skip "a thread" "there is no python3"
fi
for err in 1 38; do
	"$TESTBIN/noperf" $err "$BIN/operf" true 2>"$TMP/err"
	is "a filter that forbids perf events" $? 125
	like "is told, in one line" "$(notes | tr '\n' '~')" \
		'^operf: [^~]*seccomp[^~]*~$'
done
is "nothing of all this changed a session" "$(list)" "$(cat "$TMP/was")"
(
	mkdir "$TMP/empty"
	cd "$TMP/empty" && "$TESTBIN/noperf" 1 "$BIN/operf" true
	"$BIN/operf" "$TMP/binary"
) 2>"$TMP/err"
is "or makes an empty one" "$(ls -A "$TMP/empty")" ""

# ---- a process

mkfifo "$TMP/gate"
# shellcheck disable=SC2016 # for the command
sh -c 'read -r _ <"$0"; exec "$1" 0.3' "$TMP/gate" "$TESTBIN/burnmix" >/dev/null &
target=$!
background="$background $target"
launch --pid=$target
await line "$TMP/err" 'Profiler started'
echo >"$TMP/gate"
wait "$pid"
is "a process until it ends" $? 0
like "was sampled" "$(report -l)" 'burnmix +burn_alpha$'
adds_up "a process"
"$TESTBIN/burnmix" 100 >/dev/null &
target=$!
background="$background $target"
launch --pid=$target
await line "$TMP/err" 'Profiler started'
until_stored burn_alpha
if [ "$(id -u)" -eq 0 ]; then
	like "opcontrol does not take it for its own" "$(HOME=$TMP "$BIN/opcontrol" \
		--start --source=perf --session-dir="$data" 2>&1)" \
		"^opcontrol: $TMP/work/$data: operf profiles a program there, with the daemon of pid [0-9]*; wait for its end, or name another folder with --session-dir\$"
fi
kill -INT "$pid"
wait "$pid"
is "SIGINT ends it before" $? 0
adds_up "a process that goes on"
ok "and leaves the process alone" kill -0 $target

# ---- a cgroup

run 125 "a cgroup that is not there" --cgroup=/no/such
like "is told" "$(notes)" \
	'^operf: (oprofiled: )?cgroup /no/such: no such cgroup; see '
for root in /sys/fs/cgroup/perf_event /sys/fs/cgroup /sys/fs/cgroup/unified; do
	cgroup=$root/oprofile-test-$$
	mkdir "$cgroup" 2>/dev/null && [ -e "$cgroup/cgroup.procs" ] && break
	rmdir "$cgroup" 2>/dev/null
	cgroup=
done
if [ "$cgroup" ] && "$TESTBIN/canperf" system 2>/dev/null; then
	"$TESTBIN/forkstorm" child 100000000000 &
	other=$!
	background="$background $other"
	# shellcheck disable=SC2016 # for the command
	run 0 "a cgroup" --cgroup="/${cgroup##*/}" -- sh -c \
		'sh -c "echo \$\$ >$0/cgroup.procs && exec $1 0.3" "$0" "$1"' \
		"$cgroup" "$TESTBIN/burnmix"
	kill $other
	adds_up "a cgroup"
	out=$(report -l)
	like "has what is in it" "$out" ' burn_alpha$'
	unlike "and nothing else" "$out" ' (burn_child|operf) '
else
	skip "a cgroup" "none can be made, or sampled"
fi
[ -z "$cgroup" ] || rmdir "$cgroup"

# ---- everything

if [ "$(id -u)" -eq 0 ]; then
	launch --system-wide
	await line "$TMP/err" 'Profiler started'
	until_stored burn_alpha
	is "root's daemon has its turn first" \
		"$(awk '{ print $19 }' "/proc/$(cat $data/run/lock)/stat")" -20
	"$TESTBIN/forkstorm" 5 2 >/dev/null
	kill -TERM "$pid"
	wait "$pid"
	is "--system-wide until SIGTERM" $? 0
	out=$(report -l)
	like "has what ran before" "$out" ' burn_alpha$'
	like "and what began later" "$out" ' burn_child$'
	adds_up "--system-wide"

	# Another profiler that runs meanwhile is a program like any other.
	launch --system-wide --separate-thread --callgraph=64
	await line "$TMP/err" 'Profiler started'
	ours=$(cat $data/run/lock)
	"$BIN/operf" --session-dir="$TMP/other" --callgraph=64 --rate=4000 \
		"$TESTBIN/burnmix" 0.5 >/dev/null 2>&1
	kill -TERM "$pid"
	wait "$pid"
	is "a profiler beside another" $? 0
	adds_up "a profiler beside another"
	report --merge=tid --csv "tgid:$ours" >"$TMP/ours"
	like "its daemon is OProfile itself" "$(cat "$TMP/ours")" \
		',/OProfile itself,/OProfile itself,'
	is "and nothing else" "$(grep '^1,image,' "$TMP/ours" |
		grep -vc ',/OProfile itself,/OProfile itself,')" 0
	like "the other one is a program" "$(report --csv --merge=all)" \
		",$BIN/oprofiled,"
	all=$(report --merge=all -l -n | awk '{ sum += $1 } END { print sum }')
	is "its row is among all samples" "$all" "$(key stored)"
	rest=$(report --merge=all -l -n --hide-self |
		awk '{ sum += $1 } END { print sum }')
	hidden=$(report --merge=all --hide-self |
		sed -n 's/^Hidden: \([0-9]*\) samples* of OProfile itself$/\1/p')
	is "what is hidden is what is missing" "$((rest + hidden))" "$all"
	unlike "a hidden row is not there" "$(report -n --hide-self --merge=all)" \
		'OProfile itself'
else
	skip "--system-wide" "not root"
fi
kill $target

# ---- sudden ends

# shellcheck disable=SC2016 # for the command
run 125 "a daemon that is killed" sh -c '"$0/burnmix" 0.2 >/dev/null
	"$0/control" oprofile_data/run/control dump >/dev/null
	kill -KILL $(cat oprofile_data/run/lock)
	"$0/await" line "$1" unprofiled && exit 3' \
	"$TESTBIN" "$TMP/err"
like "is said" "$(notes)" '^operf: oprofiled: the daemon was ended by signal 9'
like "what it has stored is there" "$(report -l)" ' burn_alpha$'
run 125 "an account that cannot be written" \
	mkdir -p oprofile_data/samples/current/ledger
like "is told, with the reason" "$(notes)" "^operf: oprofiled: \
.*/samples/current: cannot write the account of samples: Is a directory; see "
# A file system in memory that has room for the sample files of one program,
# which are there before it is full.
mkdir "$TMP/other"
cp "$TESTBIN/burnmix" "$TESTBIN/libburn.so" "$TMP/other"
cat >"$TMP/full" <<END
mount -t tmpfs -o size=96k none "$TMP/theirs" || exit 77
"$BIN/operf" -d "$TMP/theirs" sh -c '"$TESTBIN/burnmix" 0.1 >/dev/null
	"$TESTBIN/control" "$TMP/theirs/run/control" dump >/dev/null
	head -c 100000 /dev/zero >"$TMP/theirs/filler"; exec "$TMP/other/burnmix" 0.2'
echo "status \$?"
ls -A "$TMP/theirs/samples"
cat "$TMP/theirs/samples/current/ledger"
END
if unshare -m true 2>/dev/null; then
	unshare -m sh "$TMP/full" >"$TMP/out" 2>"$TMP/err"
	like "a full disk is told, with what could not be stored" "$(notes)" \
		'^operf: [0-9]+ samples taken, [0-9]+ stored, [0-9]+ lost .*lost_sample_file'
	like "with what to do" "$(notes)" '^operf: warning: sample files .* make room'
	like "and is no failure" "$(cat "$TMP/out")" '^status 0$'
	unlike "nothing is left beside the session" "$(cat "$TMP/out")" reserve
else
	skip "a full disk" "no namespaces of mounts here"
fi
# shellcheck disable=SC2016
launch sh -c ': >started; exec "$0" 100' "$TESTBIN/burnmix"
await file started
until_stored burn_alpha
daemon=$(cat $data/run/lock)
command=$(cat "/proc/$pid/task/$pid/children" 2>/dev/null)
kill -KILL "$pid"
await end "$daemon"
adds_up "operf is killed and the daemon ends"
like "the samples are there" "$(report -l)" ' burn_alpha$'
for pid in $command; do
	[ "$pid" = "$daemon" ] || kill "$pid" 2>/dev/null
done
# shellcheck disable=SC2016
launch sh -c '"$0" 0.1; : >ready; exec "$0" 100' "$TESTBIN/burnmix"
await file ready
kill -INT "-$pid"
wait "$pid"
is "Ctrl-C" $? 130
adds_up "Ctrl-C"

# ---- an ordinary user

if [ "$(id -u)" -eq 0 ]; then
	give_to_user "$TMP/theirs"
	cd "$TMP/theirs" || exit 1
fi
if as_user "$TESTBIN/canperf" system 2>/dev/null; then
	skip "short processes of an ordinary user" "CPUs may be sampled"
else
	as_user "$BIN/operf" --rate=200 sh -c "$short_lived" sh \
		"$TESTBIN/forkstorm" 2>"$TMP/err"
	like "short processes are hardly seen, which is said" "$(cat "$TMP/err")" \
		"^operf: warning: (samples stand for [0-9.]+ of the [0-9.]+ s of CPU \
time .* 5\\.0 ms itself; run operf as root, or give a higher --rate|no samples were)"
fi
as_user "$BIN/operf" "$TESTBIN/burnmix" 0.2 >"$TMP/out" 2>"$TMP/err"
is "an ordinary user" $? 0
adds_up "an ordinary user"
out=$(as_user "$BIN/opreport" -l 2>/dev/null)
like "has a profile" "$out" ' burn_alpha$'
paranoid=$(cat /proc/sys/kernel/perf_event_paranoid)
if [ "$paranoid" -eq 2 ]; then
	unlike "of user code" "$out" vmlinux
	like "which is said" "$(cat "$TMP/err")" \
		'^operf: only user code is sampled, as kernel\.perf_event_paranoid is 2; '
	as_user "$BIN/operf" -s 2>"$TMP/err"
	like "but none of the system" "$? $(notes)" \
		'^125 operf: .*kernel\.perf_event_paranoid'
	as_user "$BIN/operf" -e cpu-clock:1000:0:1:0 true 2>"$TMP/err"
	like "or of the kernel alone" "$? $(notes)" \
		'^125 operf: cpu-clock: kernel code only'
else
	skip "rights at kernel.perf_event_paranoid 2" "it is $paranoid"
fi
if [ "$(id -u)" -eq 0 ]; then
	as_user "$BIN/operf" --pid $$ 2>"$TMP/err"
	like "nor another user's process" "$? $(notes)" \
		"^125 operf: process $$: "
else
	skip "another user's process" "not root"
fi
cd "$TMP/work" || exit 1

done_testing
