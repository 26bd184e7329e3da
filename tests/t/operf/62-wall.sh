#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# operf --wall samples threads that wait. A program says how long each of its
# threads lived and had a CPU, by the kernel's own account; the samples say the
# same, and where the threads went to wait.
#
# What it sets below /proc/sys/kernel is for all profilers of the machine.
# alone: yes
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../perf.sh"

needs_perf system
PARANOID=/proc/sys/kernel/perf_event_paranoid
paranoid=$(cat "$PARANOID")
# shellcheck disable=SC2317 # lib.sh calls it
at_exit() {
	cat "$PARANOID" >"$TMP/now"
	[ "$(cat "$TMP/now")" = "$paranoid" ] || echo "$paranoid" >"$PARANOID"
}
SECONDS_LONG=$(by_tier 2 10)

# waited TID [SPEC...]: samples of its waits.
waited() {
	tid=$1
	shift
	report -l --format=csv event:THREAD_WAIT tid:"$tid" "$@"
	awk -F , '$2 == "symbol" { n += $10 } END { print n + 0 }' "$TMP/report"
}

# close_to GOT TRUTH LIFE: within 3 % of the thread's life.
close_to() {
	awk -v a="$1" -v b="$2" -v l="$3" \
		'BEGIN { d = a - b; exit !(d * d <= (0.03 * l) ^ 2) }'
}

# all_true NAME: each thread in $TMP/truth has waited what was sampled.
all_true() {
	is "$1: four threads say how they lived" "$(wc -l <"$TMP/truth")" 4
	while read -r name tid life cpu _; do
		life=$((life / 1000000)) truth=$((life - cpu / 1000000))
		got=$(waited "$tid")
		ok "$1, $name: $got ms of $truth it waited" \
			close_to "$got" $truth $life
	done <"$TMP/truth"
}

# main_thread: the thread that waits for all others, all of its life.
main_thread() {
	report -l --format=csv event:THREAD_WAIT
	awk -F , '$2 == "symbol" && $3 ~ /^tid:/ { print substr($3, 5) }' \
		"$TMP/report" | sort -n | head -n 1
}

profiled "a command" --wall --separate=thread "$TESTBIN/waits" "$SECONDS_LONG"
all_true "a command"
main=$(main_thread)
got=$(waited "$main")
longest=$(awk '$3 > most { most = $3 } END { print int(most / 1000000) }' \
	"$TMP/truth")
ok "a wait that ends with the command: $got ms, and the others $longest" \
	[ "$got" -gt $((longest * 97 / 100)) -a "$got" -lt $((longest * 11 / 10)) ]

# Each thread's own account again, and what it waited for.
report --threads=all --csv
while read -r name tid life cpu _; do
	life=$((life / 1000000)) truth=$((life - cpu / 1000000))
	case $name in crowd) class=cpu ;; *) class=$name ;; esac
	got=$(awk -F , -v tid="$tid" '$2 == "waited" && $14 == tid {
		printf "%d", $16 * 1000 }' "$TMP/report")
	ok "$name waited $got ms of $truth in the table of threads" \
		close_to "$got" $truth $life
	part=$(awk -F , -v tid="$tid" -v class="$class" '
		$2 == "waited_for" && $14 == tid && $6 == class {
			printf "%d", $16 * 1000 }' "$TMP/report")
	ok "$part ms of them for $class" [ "${part:-0}" -gt $((truth / 2)) ]
done <"$TMP/truth"

# innermost TID: where its waiting began, three places with most first. On a busy
# machine a thread also waits for a CPU.
innermost() {
	report -l --format=csv event:THREAD_WAIT tid:"$1"
	awk -F , '$2 == "symbol" && $10 > 0 { print $10, $6 }' "$TMP/report" |
		sort -rn | head -n 3
}
while read -r name tid _; do
	like "$name waited in" "$(innermost "$tid")" "$(place_of_wait "$name")"
done <"$TMP/truth"
report -l
like "the head has the times" "$(cat "$TMP/report")" \
	'^Threads ran [0-9.]+ s of [0-9.]+ s; waited [0-9.]+ s$'
like "and what for" "$(cat "$TMP/report")" \
	'^Waited for: .*sleep [0-9.]+ s'
report -l --merge=all -i wait:pipe event:THREAD_WAIT
like "a class is chosen, in seconds, and named" "$(cat "$TMP/report")" \
	'^[0-9]+\.[0-9]+ .*pipe_read \[waits: pipe\]$'
like "the column is called so" "$(cat "$TMP/report")" '^waited s +%'
unlike "and no other" "$(cat "$TMP/report")" '^[0-9]+\.[0-9]+ .*(nanosleep|futex)'
report --tree --merge=all
like "a tree has both times" "$(cat "$TMP/report")" \
	'^ +(CPU s|waited s) .*(CPU s|waited s) .*symbol name$'
like "and tells what for, too" "$(cat "$TMP/report")" \
	'^Waited for: .*sleep [0-9.]+ s'
like "in its frames" "$(cat "$TMP/report")" 'nanosleep \[waits: sleep\]$'
report -l --merge=all
told=$(grep '^Waited for: ' "$TMP/report")
for as in --tree --threads --tree=callers; do
	report $as
	is "all reports tell the same: $as" \
		"$(grep '^Waited for: ' "$TMP/report")" "$told"
done
report -l --merge=all --json
like "JSON has the times" "$(tr -d ' \n' <"$TMP/report")" \
	'"times":\{"ran_ns":[0-9]+,"waited_ns":[0-9]+,"waited_for_ns":\{.*"sleep":[0-9]+.*"waits_for":"sleep"'
report --format=flamegraph --merge=all
like "a flame graph has frames of waits" "$(tr -d ' \n' <"$TMP/report")" \
	'pipe_read",[0-9]+,7,"pipe"\]'
like "and the times" "$(cat "$TMP/report")" \
	'Threads ran [0-9.]+ s of .* Waited for: '
report --format=folded --merge=all -e wait:sleep,wait:cpu event:THREAD_WAIT
like "classes are left out" "$(cat "$TMP/report")" 'pipe_read [0-9]+$'
unlike "of stacks, too" "$(cat "$TMP/report")" 'nanosleep [0-9]+$'
exits "a class that is none" 2 report -l -i wait:nothing
like "is refused" "$(cat "$TMP/report.err")" \
	'wait:nothing: no such class of waits; there are lock, .*cpu$'
report --format=folded event:THREAD_WAIT
like "with the stack that they waited with" "$(cat "$TMP/report")" \
	'start_thread;live;wait_for_pipe;.*read;.*pipe_read [0-9]+'
unlike "and without the scheduler's frames" "$(cat "$TMP/report")" \
	';(__)?schedule [0-9]+$'

# ---- a file that is not in memory

case $(stat -f -c %T "$TMP") in
tmpfs | ramfs | overlayfs)
	skip "waits for a disk" "$TMP is on none"
	;;
*)
	profiled "cold files" --wall --separate=thread \
		"$TESTBIN/waits" 1 "$TMP/cold"
	report --threads=all --csv
	while read -r name tid life cpu _; do
		life=$((life / 1000000)) truth=$((life - cpu / 1000000))
		got=$(awk -F , -v tid="$tid" '
			$2 == "waited_for" && $14 == tid &&
			($6 == "disk" || $6 == "cpu") { n += $16 * 1000 }
			END { printf "%d", n }' "$TMP/report")
		ok "$name waited $got ms of $truth for the disk, or then a CPU" \
			[ "$got" -gt $((truth * 8 / 10)) -a \
			"$got" -lt $((truth + life / 20)) ]
		got=$(awk -F , -v tid="$tid" '
			$2 == "waited_for" && $14 == tid && $6 == "disk" {
				printf "%d", $16 * 1000 }' "$TMP/report")
		ok "$name waited for the disk: $got ms" [ "${got:-0}" -gt 20 ]
	done <"$TMP/truth"
	is "both were there" "$(wc -l <"$TMP/truth")" 2
	;;
esac

# ---- parts of waits

operf_events() {
	"$BIN/operf" --session-dir="$SESSION" --cpu-budget=none "$@" \
		2>"$TMP/operf.err"
}
operf_events -t -g --events=timer,THREAD_WAIT:1000000:4,THREAD_WAIT:500000:3 \
	"$TESTBIN/waits" "$SECONDS_LONG" >"$TMP/truth"
is "two parts" $? 0
while read -r name tid life cpu _; do
	life=$((life / 1000000)) truth=$((life - cpu / 1000000))
	ready=$(waited "$tid" unit-mask:4)
	blocked=$(($(waited "$tid" unit-mask:3) / 2))
	ok "$name: ready $ready ms + blocked $blocked ms are $truth" \
		close_to $((ready + blocked)) $truth $life
	if [ "$name" = crowd ]; then
		ok "$name is ready" close_to "$ready" $truth $life
	elif [ "$name" != lock ]; then
		ok "$name is blocked" close_to "$blocked" $truth $life
	fi
done <"$TMP/truth"
report -l
like "the head has the times of both" "$(cat "$TMP/report")" \
	'; waited [0-9.]+ s: blocked [0-9.]+ s, for a CPU [0-9.]+ s$'
exits "a part that only the module knows" 125 operf_events \
	--events=timer,THREAD_WAIT:1000000:1 true
like "is refused" "$(cat "$TMP/operf.err")" \
	'THREAD_WAIT: unit mask 1: .*; give 3 for both, 4 or 7, or use the module'
exits "--wall and the event of its own" 125 operf_events --wall \
	--events=THREAD_WAIT:1000000 true

# ---- elapsed time

# How much two threads run at a time is up to the machine: never all of it is.
profiled "elapsed time" --latency "$TESTBIN/waits" 1
report -l
like "elapsed time is a column" "$(cat "$TMP/report")" \
	'^(.* )?elapsed s +% .*symbol name$'
for chosen in CPU_LATENCY CPU_LATENCY,TIMER; do
	report -l event:$chosen
	like "event:$chosen is in seconds" "$(cat "$TMP/report")" \
		'^elapsed s +%.* symbol name$'
	like "event:$chosen counts in them" "$(cat "$TMP/report")" \
		'^[0-9]+\.[0-9]{3} .* work$'
done
report --tree event:CPU_LATENCY
like "so does a tree" "$(cat "$TMP/report")" '^ *elapsed s +total %'
report --format=flamegraph event:CPU_LATENCY
like "and a flame graph" "$(tr -d ' \n' <"$TMP/report")" \
	'"name":"CPU_LATENCY:1000000[^"]*","sample_seconds":0\.001[,}]'
report --csv
total_of() {
	awk -F , -v class="$1" '$2 == "image" && $3 ~ class { n += $10 }
		END { print n + 0 }' "$TMP/report"
}
elapsed=$(total_of ^CPU_LATENCY:1000000) cpu=$(total_of ^TIMER)
ok "$elapsed ms elapsed while threads had a CPU for $cpu" \
	[ "$elapsed" -gt $((cpu / 4)) -a "$elapsed" -le $((cpu * 101 / 100 + 4)) ]
exits "elapsed time by other events" 125 operf_events --latency \
	--events=page-faults:10 true
like "is refused" "$(cat "$TMP/operf.err")" '^operf: --latency and --events: '

exits "elapsed time in a list" 125 operf_events \
	--events=timer,cpu_latency:1000000 true
like "is refused with the option for it" "$(cat "$TMP/operf.err")" \
	'^operf: CPU_LATENCY: .*; operf --latency counts it$'

# ---- a process that runs

"$TESTBIN/waits" "$((SECONDS_LONG + 8))" >"$TMP/truth" &
pid=$!
threads_are_there() {
	[ "$(find "/proc/$pid/task" -mindepth 1 -maxdepth 1 | wc -l)" -eq 8 ]
}
wait_until "all threads" threads_are_there
ok "a process" operf_events --wall -t --pid=$pid --duration="$SECONDS_LONG"
wait $pid
while read -r name tid _; do
	case $name in
	sleep | pipe)
		got=$(waited "$tid")
		ok "$name waited all the time: $got ms" close_to "$got" \
			$((SECONDS_LONG * 1000)) $((SECONDS_LONG * 1000))
		;;
	esac
done <"$TMP/truth"
got=$(waited $pid)
ok "a thread that waited from beginning to end: $got ms" close_to "$got" \
	$((SECONDS_LONG * 1000)) $((SECONDS_LONG * 1000))

# ---- an ordinary user

AS=as_user
if [ "$(id -u)" != 0 ] || ! as_user "$TESTBIN/canperf" own 2>"$TMP/why"; then
	skip "an ordinary user" "no perf events for one: $(cat "$TMP/why")"
	done_testing
fi
for level in 2 1; do
	if ! echo $level 2>/dev/null >"$PARANOID"; then
		skip "kernel.perf_event_paranoid=$level" "it cannot be set"
		continue
	fi
	profiled "a user at $level" --wall --separate=thread \
		"$TESTBIN/waits" "$SECONDS_LONG"
	all_true "a user at $level"
	report -l event:THREAD_WAIT
	if [ $level = 2 ]; then
		like "who may not see the kernel is told so" \
			"$(cat "$TMP/operf.err")" 'waits have no stacks, .* set it to 1'
		like "and has times without stacks" "$(cat "$TMP/report")" \
			'\[waiting\]'
	else
		report --format=folded event:THREAD_WAIT
		like "who may, has stacks" "$(cat "$TMP/report")" \
			'start_thread;live;wait_for_pipe;.*read'
	fi
done
done_testing
