#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# What the module samples, recorded by opcontrol while it is counted and counted
# once more elsewhere: the same account and the same reports, byte by byte but for
# what sampling cost, which only the machine that sampled can tell.
# timeout: 600
# vm-check: 6.1
# vm-debug: 6.1-kcsan 6.1-rt 6.12-rt: with KASAN tables come too late for stacks
. "$(dirname "$0")/../../t/lib.sh"
. "$(dirname "$0")/../lib.sh"

# again NAME FOLDER OPTION...: the stream counted into $TMP/FOLDER.
again() {
	name=$1 folder=$TMP/$2
	shift 2
	ok "$name: the stream is replayed" "$BIN/oprofiled" \
		--session-dir="$folder" --source="file:$TMP/stream" "$@"
	is "$name: the same account" \
		"$(without_cost "$folder/samples/current/ledger")" \
		"$(without_cost "$SESSION/samples/current/ledger")"
	# What names come from is of where it ran, not of where it is counted.
	for kept in symbols images; do
		[ ! -e "$SESSION/$kept" ] || cp -R "$SESSION/$kept" "$folder/"
	done
}
# same NAME OPTION...: of opreport, which names its folder in some reports.
same() {
	what=$1
	shift
	(cd "$SESSION" && "$BIN/opreport" --session-dir=. "$@") \
		2>"$TMP/report.err" | without_cost >"$TMP/report"
	(cd "$folder" && "$BIN/opreport" --session-dir=. "$@") \
		2>"$TMP/replayed.err" | without_cost >"$TMP/replayed"
	ok "$what: opreport $*" cmp "$TMP/report" "$TMP/replayed"
	diff "$TMP/report" "$TMP/replayed" | head -n 5 | sed "s/^/# /"
	ok "$what: is no empty report" [ "$(wc -l <"$TMP/report")" -gt 5 ]
}

ok "start" start --separate=lib,kernel --callgraph=64 --record="$TMP/stream"
"$TESTBIN/forkstorm" 100 3 >/dev/null
ok "a module is loaded meanwhile" insmod \
	"$O/module/$(uname -r)/test/op_test_init.ko" ms=1
"$TESTBIN/burnmix" 1 >/dev/null
ok "stop" stop
ok "taken = stored + lost" sums_up
again "the module" one --separate-lib=1 --separate-kernel=1
for options in $(by_tier '-l -c' '--format=text -l -d -c --format=xml --format=folded --format=csv'); do
	same "the module" "$options"
done
report -l
ok "has names of the program" at_least "$(samples burn_alpha)" 1
ok "the stream says what took it" sh -c \
	"'$BIN/opstream' '$TMP/stream' | sed -n '2{p;q;}' | grep -q '^source 0x0 .module/timer'"
end_profiler

# Where samples ran: the module tells numbers, /proc the rest. Threads live for
# longer than the daemon takes to look.
ln -s "$TESTBIN/named" /usr/local/bin/redis-server
grep -q ' cgroup2 ' /proc/mounts ||
	ok "cgroups" mount -t cgroup2 none /sys/fs/cgroup
group=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)/web.service
ok "a cgroup" mkdir "$group"
ok "start with names" start --separate=kernel,thread,cgroup \
	--record="$TMP/stream"
ok "a program that is run by a link, in a cgroup" sh -c \
	"echo 0 >'$group/cgroup.procs' && exec /usr/local/bin/redis-server 2 2500"
ok "stop" stop
ok "taken = stored + lost" sums_up
report -l --layout=rows cgroup:web.service image:redis-server
for name in worker_0 worker_1; do
	ok "a row of $name" at_least "$(awk -v name="redis-server/$name" '
		$4 == name && $NF == "burn_named" { n += $1 }
		END { print n + 0 }' "$TMP/report")" 100
done
report cgroup:unknown
diag "of no known cgroup: $(total)"
again "names" two --separate-kernel=1 --separate-thread=1 --separate-cgroup=1
ok "names: the same file of them" cmp "$SESSION/samples/current/tasks" \
	"$folder/samples/current/tasks"
for options in $(by_tier --format=csv '-l --format=json --format=csv'); do
	same "names" "$options"
done
end_profiler
"$BIN/opcontrol" --record=none --separate=none
ok "no complaint from the kernel" kernel_is_content
done_testing
