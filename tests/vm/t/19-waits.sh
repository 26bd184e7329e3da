#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The module counts how long threads wait, and where. A program says how long each
# of its threads had a CPU, waited for one, and was blocked, by the kernel's own
# account; the samples are to say the same.
# vm-icount: yes
. "$(dirname "$0")/../../t/lib.sh"
. "$(dirname "$0")/../lib.sh"

FS=/dev/oprofile
INTERVAL=1000000 # ns of waiting for a sample

put() {
	echo "$2" 2>/dev/null >"$FS/$1"
}

# kernel_symbol NAME: its address.
kernel_symbol() {
	awk -v name="$1" '$3 == name { print "0x" $1; exit }' /proc/kallsyms
}

# event NR COUNTER UNIT_MASK: what folder NR of wait/ counts.
event() {
	put "wait/$1/counter" "$2" && put "wait/$1/unit_mask" "$3" &&
		put "wait/$1/interval" "$INTERVAL"
}

ok "init" "$BIN/opcontrol" --init
[ -d $FS/wait ]
ok "the kernel shows when it switches threads" test $? -eq 0
ok "where the scheduler is" put wait/scheduler_start "$(kernel_symbol __sched_text_start)"
ok "and ends" put wait/scheduler_end "$(kernel_symbol __sched_text_end)"
ok "stacks" put backtrace_depth 16

exec 3<$FS/buffer # sets the profiler up
ok "a mask that is none" event 0 1 8
exits "is refused when sampling starts" 1 put enable 1
ok "all waits are counter 1" event 0 1 7
ok "waits for a CPU are counter 2" event 1 2 4
ok "blocked threads are counter 3, and 4 in uninterruptible sleep" event 2 3 1
ok "four events are possible" event 3 4 2
exits "but not an interval of 1 ns" 1 sh -c "echo 1 >$FS/wait/3/interval && echo 1 >$FS/enable"
put wait/3/interval $INTERVAL
exec 3<&-

# What waits for all the time that is sampled, and longer: sleeping, then stopped.
sleep 3600 &
before=$!
cat $FS/buffer >"$TMP/stream" &
reader=$!
is_open() {
	[ -e "/proc/$reader/fd/0" ] && now >"$TMP/began" && put enable 1
}
# now: ms since the boot.
now() {
	awk '{ printf "%d", $1 * 1000 }' /proc/uptime
}
wait_until "sampling" is_open
now >"$TMP/begun"
sleep 3600 &
after=$!
"$TESTBIN/waits" "$(by_tier 3 10)" >"$TMP/truth"
life=$(($(now) - $(cat "$TMP/begun")))
ok "stop" put enable 0
whole=$(($(now) - $(cat "$TMP/began")))
kill "$before" "$after"
wait_until "all is read" sh -c "[ \"\$(cat $FS/stats/cpu0/sample_received)\" -gt 0 ]"
put dump 1
kill "$reader"
wait "$reader" 2>/dev/null
is "no thread is without a place in the table" \
	"$(cat $FS/stats/cpu*/wait_untracked | awk '{ n += $1 } END { print n }')" 0

# sums: TID COUNTER SAMPLES lines of what the stream holds.
"$BIN/opstream" "$TMP/stream" >"$TMP/text"
awk '$1 == "ctx" { tid = $2 }
	$1 == "times" { times = $2 }
	$1 == "trace" { is_first = 1 }
	$1 == "sample" {
		if (is_first)
			n[tid " " $3] += times ? times : 1
		is_first = times = 0
	}
	END { for (i in n) print i, n[i] }' "$TMP/text" >"$TMP/sums"
# ms TID COUNTER: what its samples stand for.
ms() {
	awk -v key="$1 $2" -v ns=$INTERVAL \
		'$1 " " $2 == key { print int($3 * ns / 1000000); found = 1 }
		END { if (!found) print 0 }' "$TMP/sums"
}
# close_to GOT TRUTH LIFE: within 3 % of the thread's life.
close_to() {
	awk -v a="$1" -v b="$2" -v l="$3" \
		'BEGIN { d = a - b; exit !(d * d <= (0.03 * l) ^ 2) }'
}
# is_between GOT LEAST MOST: with what is drawn, and what a fork takes.
is_between() {
	[ "$1" -ge $(($2 * 97 / 100 - 2)) ] && [ "$1" -le $(($3 + 2)) ]
}
for pid in "$before" "$after"; do
	got=$(ms "$pid" 1)
	ok "a wait that goes on counts: $got ms of $life to $whole" \
		is_between "$got" "$life" "$whole"
	got=$(ms "$pid" 3)
	ok "as blocked: $got" is_between "$got" "$life" "$whole"
done
is "four threads say how they lived" "$(wc -l <"$TMP/truth")" 4
while read -r name tid life cpu ready _; do
	life=$((life / 1000000)) cpu=$((cpu / 1000000)) ready=$((ready / 1000000))
	waited=$((life - cpu)) blocked=$((life - cpu - ready))
	got=$(ms "$tid" 1)
	ok "$name: $got ms of $waited it waited" close_to "$got" $waited $life
	if [ ! -e /proc/self/schedstat ]; then
		skip "$name: parts of its wait" "this kernel keeps no account of them"
		continue
	fi
	got=$(ms "$tid" 2)
	ok "$name: $got ms of $ready it waited for a CPU" close_to "$got" $ready $life
	got=$(($(ms "$tid" 3) + $(ms "$tid" 4)))
	ok "$name: $got ms of $blocked it was blocked" close_to "$got" $blocked $life
done <"$TMP/truth"

# innermost TID: the kernel's name of where most of its waiting began.
innermost() {
	awk -v want="$1" '$1 == "ctx" { tid = $2 }
		$1 == "times" { times = $2 }
		$1 == "trace" { is_first = 1 }
		$1 == "sample" {
			if (is_first && tid == want && $3 == 1)
				n[$2] += times ? times : 1
			is_first = times = 0
		}
		END { for (i in n) print n[i], i }' "$TMP/text" |
		sort -rn | head -n 3 | while read -r _ address; do
			awk -v at="${address#0x}" 'tolower($1) <= at && $2 ~ /[tT]/ \
				{ if ($1 > best) { best = $1; name = $3 } }
				END { print name }' /proc/kallsyms
		done | tr '\n' ' '
}
while read -r name tid _; do
	like "$name waited in" "$(innermost "$tid")" "$(place_of_wait "$name")"
done <"$TMP/truth"
like "the one that goes on waits in" "$(innermost "$before")" nanosleep

# ---- the whole way

sleep 3600 &
sleeps=$!

ok "start" start --event=timer,THREAD_WAIT:$INTERVAL --separate=kernel,thread \
	--callgraph=16
"$TESTBIN/waits" 2 >"$TMP/truth"
ok "stop" stop
kill "$sleeps"
ok "taken = stored + lost" sums_up
report -l --merge=all --csv image:"$TESTBIN/waits" event:THREAD_WAIT
head -n 20 "$TMP/report" | sed 's/^/# /'
# waited NAME: samples of the functions whose names end so: Linux renames some.
waited() {
	awk -F , -v end="$1\$" '$2 == "symbol" && $6 ~ end { n += $10 }
		END { print n + 0 }' "$TMP/report"
}
for where in hrtimer_nanosleep pipe_read; do
	ok "$where is where threads waited" [ "$(waited $where)" -gt 1000 ]
done
report --format=folded image:"$TESTBIN/waits" event:THREAD_WAIT
like "with the stack that they waited with" "$(cat "$TMP/report")" \
	'start_thread;live;wait_for_pipe;.*read;.*pipe_read [0-9]+'
report --format=folded image:"$(command -v sleep)" event:THREAD_WAIT
head -n 5 "$TMP/report" | sed 's/^/# /'
like "a wait that goes on has its stack" "$(cat "$TMP/report")" \
	'nanosleep;.*hrtimer_nanosleep [0-9]{4}'
end_profiler
done_testing
