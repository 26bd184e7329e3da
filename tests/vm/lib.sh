# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What the tests of the whole profiler in the VM share: source it after
# tests/t/lib.sh.

SESSION=$TMP/session
RATE=1000 # samples per second and CPU

# by_tier CHECK ALL: how much of something the tier of this run is to do.
by_tier() {
	if [ "${TIER:-check}" = all ]; then echo "$2"; else echo "$1"; fi
}

# by_kernel STOCK CHECKED: how much of something the guest's kernel is to do; one
# that checks itself spends most of the time on that.
by_kernel() {
	case $(uname -r) in
	*-kasan | *-kcsan) echo "$2" ;;
	*) echo "$1" ;;
	esac
}

# is_real_time: the guest's kernel is PREEMPT_RT. Where the kernel was called, the
# callers in user mode are not known then (doc/internals.md).
is_real_time() {
	case $(uname -r) in
	*-rt-*) ;;
	*) false ;;
	esac
}

# wait_until WHAT CMD...: for what the kernel or the daemon tells nobody. Between
# two looks is work for a CPU. What has not come after 1,000 looks is a failed
# test, the last one.
wait_until() {
	awaited=$1 looks=0
	shift
	until "$@"; do
		if [ $((looks += 1)) -gt 1000 ]; then
			test_result "waited for: $awaited" 1
			done_testing
		fi
		"$TESTBIN/burnmix" 0.05 >/dev/null
	done
}

# start OPTION...: a fresh session with these settings, sampling; by the timer
# if no event is among them. A guest is slow, and its rate would be lowered.
start() {
	case " $* " in
	*' --event='*) ;;
	*) set -- --event=timer "$@" ;;
	esac
	rm -rf "$SESSION" /root/.oprofile
	"$BIN/opcontrol" --start --session-dir="$SESSION" \
		--timer-rate=$RATE --cpu-budget=none "$@"
}

stop() {
	"$BIN/opcontrol" --stop
}

# daemon_pid: that of the daemon itself; it has children of the same name.
daemon_pid() {
	"$BIN/opcontrol" --status | sed -n 's/^Daemon .*pid \([0-9]*\).*/\1/p'
}

# report ARG...: opreport's text into $TMP/report, complaints beside it.
report() {
	"$BIN/opreport" --session-dir="$SESSION" "$@" \
		>"$TMP/report" 2>"$TMP/report.err"
}

# samples NAME: sum of the first column of the report's lines that end in NAME.
samples() {
	awk -v name="$1" '$NF == name { n += $1 } END { print n + 0 }' \
		"$TMP/report"
}

# total: sum over all lines of the report that start with a number.
total() {
	awk '$1 ~ /^[0-9]+$/ { n += $1 } END { print n + 0 }' "$TMP/report"
}

# ledger KEY: a number of the session's account; "lost" is the sum of causes.
ledger() {
	awk -v key="$1" '
		$1 == key { n = $3 }
		key == "lost" && $1 ~ /^lost\./ { n += $3 }
		END { print n + 0 }' "$SESSION/samples/current/ledger"
}

# The account of a session that is stopped is complete, to the last sample.
sums_up() {
	diag "taken $(ledger taken) stored $(ledger stored) lost $(ledger lost) pending $(ledger pending)"
	[ "$(ledger taken)" -gt 0 ] && [ "$(ledger pending)" -eq 0 ] &&
		[ "$(ledger taken)" -eq $(($(ledger stored) + $(ledger lost))) ]
}

# module_stat NAME: one of the module's statistics, the sum over CPUs.
module_stat() {
	cat "/dev/oprofile/stats/$1" /dev/oprofile/stats/cpu*/"$1" 2>/dev/null |
		awk '{ n += $1 } END { print n + 0 }'
}

# nmis: how many the test's provider sent, or would have sent at the full rate.
nmis() {
	cat /sys/module/op_test_provider/parameters/nr_nmis
}

# percent PART WHOLE
percent() {
	awk -v p="$1" -v w="$2" 'BEGIN { printf "%.2f", w ? 100 * p / w : 0 }'
}

# near A B POINTS: two numbers differ by no more than POINTS.
near() {
	awk -v a="$1" -v b="$2" -v d="$3" \
		'BEGIN { exit !(a - b <= d && b - a <= d) }'
}

# chance PERCENT SAMPLES: points that the share of so many samples is off from
# PERCENT, its true one, by chance in one of 10,000 cases; and half a point more
# for what a program does besides.
chance() {
	awk -v p="$1" -v n="$2" 'BEGIN {
		printf "%.2f", 0.5 + (n ? 3.89 * sqrt(p * (100 - p) / n) : 0)
	}'
}

# at_least A B
at_least() {
	awk -v a="$1" -v b="$2" 'BEGIN { exit !(a >= b) }'
}

# kernel_reports: what the kernel has complained of. Memory that nothing points to
# any more counts, whoever has allocated it: a module that is unloaded has no name
# there.
kernel_reports() {
	dmesg | awk -f "$TOP/tests/vm/lib/complaints.awk"
	leaks=/sys/kernel/debug/kmemleak
	[ -e $leaks ] || return
	# The kernel reports nothing that is younger than five seconds, and
	# nothing that it has not missed twice.
	sleep 6
	echo scan >$leaks
	echo scan >$leaks
	cat $leaks
	echo clear >$leaks
}

kernel_is_content() {
	kernel_reports >"$TMP/reports"
	head -n 100 "$TMP/reports" # of the first complaint, the others may follow from it
	[ ! -s "$TMP/reports" ]
}

end_profiler() {
	ok "shutdown" "$BIN/opcontrol" --shutdown
	ok "deinit" "$BIN/opcontrol" --deinit
	ok "no complaint from the kernel" kernel_is_content
}
