#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# operf --callgraph of code without frame pointers: a program whose call tree
# is known gives that tree, and nearly all stacks of programs as Debian builds
# them are whole.
# timeout: 900
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../perf.sh"
needs_perf own
cd "$TMP" || exit 1
user_folder work

# folded: the stacks in the session, root first, with their counts.
folded() {
	report --format=folded || { cat "$TMP/report.err" >&2; return 1; }
	cat "$TMP/report"
}

# fold: the stacks in the session into $TMP/folded, without inlined functions.
fold() {
	report --format=folded --no-inlines
	cp "$TMP/report" "$TMP/folded"
}

# stacks WHAT: a number of the ledger.
stacks() {
	sed -n "s/^stacks\\.$1 = //p" "$CURRENT/ledger"
}

# sum REGEX: of the stacks in $TMP/folded that match.
sum() {
	awk -v re="$1" '{ n = $NF; sub(/ [0-9]+$/, "") }
		$0 ~ re { sum += n } END { print sum + 0 }' "$TMP/folded"
}

# agree NAME: sample files, trees and ledger tell of the same samples.
agree() {
	folded >"$TMP/folded"
	stored=$(ledger stored)
	is "$1: the trees have all samples" "$(sum .)" "$stored"
	is "$1: so has the account of stacks" "$(all_stacks)" "$stored"
}

# ---- the truth -----------------------------------------------------------------

# tree NAME LEAF CALLERS: all samples in a leaf were called like this, but for
# 1 % whose stack is said not to be whole, and what chance adds (rarely).
tree() {
	all=$(sum ";$2(;|\$)")
	true=$(sum "^call_tree;.*main;$3;$2(;|\$)")
	gaps=$(sum "^call_tree;\\[.*;$2(;|\$)")
	ok "$1: $true of $all, $gaps are not whole" \
		[ $((true + gaps)) -eq "$all" ]
	ok "$1: these are few" rarely "$gaps" "$all" 1
}

chain=chain_00
for i in 0 1 2 3 4 5 6 7; do
	for k in 0 1 2 3 4 5 6 7; do
		[ "$i$k" = 00 ] || chain="$chain;chain_$i$k"
	done
done
recursion=recurse
for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19; do
	recursion="$recursion;recurse"
done

RATE=2000
g++ -O2 -fomit-frame-pointer -o work/call_tree \
	"$TOP/tests/t/call_tree.cc" 2>"$TMP/cc.err" ||
	skip_all "no C++ compiler: $(tail -n 1 "$TMP/cc.err")"
profiled "a known tree" --callgraph work/call_tree 150
is "a known tree: what it has called" "$(cut -d ' ' -f 1,2,4-7 "$TMP/truth")" \
	"150 150 150 150 150 150"
agree "a known tree"
tree "64 calls" leaf_chain "$chain"
tree "recursion" leaf_recurse "$recursion"
tree "a callback through libc" leaf_compare "sort_all;[^ ]*;compare"
tree "a signal" leaf_signal "interrupted;[^;]*;on_signal"
tree "a tail call" leaf_tail "tail_inner"
tree "a destructor while an exception passes" leaf_cleanup \
	"catcher;guarded([.]cold)?;guard::~guard[(][)]"
tree "behind a catch" leaf_catch "catcher([.]cold)?"
like "operf says how many are whole" "$(cat "$TMP/operf.err")" \
	'^operf: [0-9]+ of [0-9]+ stacks are whole'
if [ -n "$(kernel_images)" ]; then
	all=$(sum ';do_syscall_64')
	true=$(sum '^call_tree;.*main;system_call;[^;]*getrandom[^;]*;.*do_syscall_64')
	# It makes others, too, when it starts.
	ok "a system call: $true of $all" rarely $((all - true)) "$all" 5
fi

# What a leaf was called by is so in the call graph, too.
if report -l --callgraph >/dev/null 2>&1; then
	like "opreport --callgraph shows the caller" \
		"$(sed -n '/tail_inner/,/^---/p' "$TMP/report")" 'leaf_tail'
fi

# ---- code without unwind data ----------------------------------------------------

gcc -D_GNU_SOURCE -O2 -fno-asynchronous-unwind-tables -fno-unwind-tables \
	-fomit-frame-pointer -I"$TOP" -o work/bare "$TOP/tests/helper/stacks.c" || exit 1
profiled "code without unwind data" -g work/bare 1
fold
start='^bare;_start;[^ ]*;main;'
if [ "$(uname -m)" = x86_64 ]; then
	recursion=$(sum "$start(recurse_all;)?(recurse;)+leaf_recurse(;|\$)")
	all=$(sum ';leaf_recurse(;|$)')
	ok "$recursion of $all stacks of a recursion are whole" \
		[ "$all" -gt 50 -a $((recursion * 10)) -ge $((all * 9)) ]
fi
# Whichever is called whole is right: all others are below a name in brackets.
for leaf in 'recurse;leaf_recurse' 'chain_63;leaf_chain' \
	'compare;leaf_compare' 'on_trap;leaf_signal' 'call_outer;call_inner'; do
	whole=$(sum "^bare;[^\\[].*;${leaf#*;}(;|\$)")
	true=$(sum "$start([^ ]*;)?$leaf(;|\$)")
	is "whole stacks in ${leaf#*;} have its callers" "$true" "$whole"
done

# GCC calls functions of one file that need no aligned stack with a stack as it is.
cat >local.c <<'END'
#include <time.h>

static volatile long sink;

__attribute__((noinline)) static void burn(void)
{
	for (volatile long i = 0; i < 20000; i++)
		;
}
__attribute__((noinline)) static long inner(long x)
{
	burn();
	return x * 3 + 1;
}
__attribute__((noinline)) static long middle(long x)
{
	long sum = inner(x);

	return sum + inner(sum) + x;
}
__attribute__((noinline)) static long outer(long x)
{
	long a[8] __attribute__((aligned(64))) = { x, x };
	long sum;

	__asm__ volatile("" : : "r"(a) : "memory");
	sum = middle(a[1]) + a[0];
	return sum ^ middle(sum);
}

int main(void)
{
	double end = (double)clock() / CLOCKS_PER_SEC + 0.3;

	while ((double)clock() / CLOCKS_PER_SEC < end)
		sink += outer(sink);
	return 0;
}
END
if [ "$(uname -m)" = x86_64 ]; then
	gcc -O2 -fno-asynchronous-unwind-tables -fno-unwind-tables \
		-fomit-frame-pointer -o work/local local.c || exit 1
	profiled "a stack that is not aligned" -g work/local
	fold
	all=$(sum ';burn(;|$)')
	true=$(sum '^local;_start;[^ ]*;main;outer;middle;inner;burn(;|$)')
	ok "$true of $all stacks of functions of one file are whole" \
		[ "$all" -gt 50 -a $((true * 10)) -ge $((all * 9)) ]
fi

# A function of makecontext() returns to code that nobody called.
cat >fiber.c <<'END'
#include <stdlib.h>
#include <time.h>
#include <ucontext.h>

static ucontext_t here, fiber;

__attribute__((noipa)) void burn(void)
{
	double end = (double)clock() / CLOCKS_PER_SEC + 0.3;

	while ((double)clock() / CLOCKS_PER_SEC < end)
		;
	__asm__ volatile("");
}

static void work(void)
{
	burn();
	__asm__ volatile("");
}

int main(void)
{
	getcontext(&fiber);
	fiber.uc_stack.ss_size = 1 << 18;
	fiber.uc_stack.ss_sp = malloc(fiber.uc_stack.ss_size);
	fiber.uc_link = &here;
	makecontext(&fiber, work, 0);
	return swapcontext(&here, &fiber);
}
END
if [ "$(uname -m)" = x86_64 ]; then
	for how in '' '-fno-asynchronous-unwind-tables -fno-unwind-tables'; do
		# shellcheck disable=SC2086 # flags
		gcc -O2 $how -o work/fiber fiber.c || exit 1
		profiled "a context $how" -g work/fiber
		fold
		whole=$(sum '^fiber;[^;]*libc[^;]*;work;burn(;|$)')
		all=$(sum ';burn(;|$)')
		ok "$whole of $all stacks of a context are whole" \
			[ "$all" -gt 50 -a $((whole * 10)) -ge $((all * 9)) ]
	done
fi
# Nothing in musl has unwind data, and its qsort() calls other functions in loops.
if command -v musl-gcc >/dev/null; then
	cat >sort.c <<-'END'
	#include <stdlib.h>
	static int compare(const void *a, const void *b)
	{
		return *(const int *)a - *(const int *)b;
	}
	int main(void)
	{
		int *numbers = malloc(sizeof(*numbers) << 18);

		for (int i = 0; i < 1 << 18; i++)
			numbers[i] = rand();
		qsort(numbers, 1 << 18, sizeof(*numbers), compare);
		return 0;
	}
	END
	musl-gcc -O2 -o work/musl sort.c || exit 1
	profiled "musl" -g work/musl
	stored=$(ledger stored)
	ok "$(stacks whole) of $stored stacks of musl are whole" \
		[ $(($(stacks whole) * 10)) -ge $((stored * 9)) ]
else
	skip "musl" "install the Debian package musl-tools"
fi
# Go runs C on a stack of its own.
go_build() {
	HOME=$TMP GOCACHE=$TMP/cache GO111MODULE=off GOFLAGS='' go build "$@" || exit 1
}
if command -v go >/dev/null; then
	cat >cgo.go <<-'END'
	package main

	/*
	#include <stdint.h>
	__attribute__((noinline)) static uint64_t c_leaf(uint64_t x, int n)
	{
		for (int i = 0; i < n; i++) {
			x ^= x << 13;
			x ^= x >> 7;
		}
		return x;
	}
	__attribute__((noinline)) static uint64_t c_work(uint64_t x)
	{
		return c_leaf(x, 200000000) + 1;
	}
	*/
	import "C"

	func main() { println(C.c_work(1)) }
	END
	for flags in '' '-s -w'; do
		go_build -ldflags="$flags" -o work/cgo cgo.go
		profiled "C of Go $flags" -g work/cgo
		fold
		all=$(sum '^cgo;')
		other=$(sum '^cgo;\[other stack\];')
		ok "C of Go $flags: $other of $all stacks end at another stack" \
			[ "$all" -gt 50 -a $((other * 10)) -ge $((all * 9)) ]
	done
	# Go that C calls is on the stack that Go left for C: the frames below it are
	# right, but those of C are on the other one.
	cat >back.go <<-'END'
	package main

	/*
	#include <stdint.h>
	uint64_t inner(uint64_t x);
	static inline uint64_t c_mid(uint64_t x) { return inner(x) + 1; }
	*/
	import "C"

	//export inner
	func inner(x C.uint64_t) C.uint64_t {
		for i := 0; i < 300000000; i++ {
			x ^= x << 13
			x ^= x >> 7
		}
		return x
	}

	//go:noinline
	func outer(x uint64) uint64 { return uint64(C.c_mid(C.uint64_t(x))) + 1 }

	func main() { println(outer(1)) }
	END
	go_build -o work/back back.go
	profiled "Go of C of Go" -g work/back
	fold
	all=$(sum '^back;') right=$(sum "^back;\\[other stack\\];$(printf '.*%s' \
		main.main main.outer runtime.cgocall \
		runtime.systemstack_switch runtime.cgocallback inner)")
	ok "Go of C of Go: $right of $all stacks are right, and not whole" \
		[ "$all" -gt 50 -a $((right * 10)) -ge $((all * 9)) ]
	# What Go's runtime does on the stack of its scheduler has its callers on
	# another: there is any word at the end of that stack.
	cat >grow.go <<-'END'
	package main

	import (
		"runtime"
		"sync"
	)

	//go:noinline
	func deep(n int, x uint64) uint64 {
		var a [64]uint64

		if n == 0 {
			runtime.Gosched()
			return x
		}
		a[n%64] = x
		return deep(n-1, x+1) + a[n%64]
	}

	func main() {
		var wg sync.WaitGroup

		for i := 0; i < 60000; i++ {
			wg.Add(1)
			go func(i int) {
				defer wg.Done()
				deep(i%40, uint64(i))
			}(i)
			if i%1000 == 0 {
				wg.Wait()
			}
		}
		wg.Wait()
	}
	END
	for flags in '' '-s -w'; do
		go_build -ldflags="$flags" -o work/grow grow.go
		profiled "Go's runtime $flags" -g work/grow
		fold
		stored=$(ledger stored)
		other=$(sum '^grow;\[other stack\];runtime[.](mcall|morestack|systemstack)')
		ok "Go's runtime $flags: $other stacks end at another stack" \
			[ "$other" -gt 50 ]
		is "Go's runtime $flags: none of these is whole" \
			"$(sum '^grow;([^[].*)?runtime[.](mcall|morestack|systemstack)([.]abi0)?;')" 0
		is "Go's runtime $flags: nor if such a function was sampled itself" \
			"$(sum '^grow;runtime[.](mcall|morestack|systemstack)([.]abi0)?$')" 0
		# A goroutine's stack was that of others before.
		broken=$(sum '^grow;\[broken stack\];runtime[.]goexit([.]abi0)?;')
		ok "Go's runtime $flags: $broken of $stored stacks go beyond goexit()" \
			rarely "$broken" "$stored" 0.1
		# A sample may be in these functions themselves.
		broken=$(sum '^grow;\[(broken stack|no unwind data)\];runtime[.](mcall|morestack|systemstack|newproc)')
		ok "Go's runtime $flags: nor broken, but $broken of $other" \
			rarely "$broken" "$other" 2
	done
	# The [vdso] runs on the scheduler's stack.
	cat >clock.go <<-'END'
	package main

	import "time"

	func main() {
		sum := 0

		for i := 0; i < 4000000; i++ {
			sum += time.Now().Nanosecond()
		}
		println(sum)
	}
	END
	go_build -o work/clock clock.go
	profiled "Go asks for the time" -g work/clock
	fold
	other=$(sum '^clock;\[other stack\];time[.]now')
	broken=$(sum '^clock;\[broken stack\];time[.]now')
	ok "Go asks for the time: $broken of $other stacks are broken" \
		rarely "$broken" "$other" 0.1
else
	skip "C of Go" "no go"
fi

# ---- a limit -------------------------------------------------------------------

profiled "five frames" --callgraph=5 work/call_tree 20
agree "five frames"
fold
is "five frames: no more than these" "$(awk '{
	sub(/;\[(guessed|truncated|other stack|no unwind data|no memory|broken stack)\]/, "") # is no frame
	if (gsub(/;/, ";") > 5) print }' "$TMP/folded")" ""
ok "five frames: most are truncated" \
	[ "$(stacks truncated)" -gt "$(stacks whole)" ]

# ---- programs as they are --------------------------------------------------------

# whole NAME COMMAND...: 99 of 100 stacks are, but for chance (rarely). While a
# program starts there are more that cannot be, since the kernel copies no page
# of a stack that is not there yet, so each runs for half a second.
whole() {
	name=$1
	shift
	profiled "$name" -g "$@"
	agree "$name"
	whole=$(stacks whole)
	ok "$name: $whole of $stored stacks are whole" \
		rarely $((stored - whole)) "$stored" 1
	diag "$(grep '^stacks' "$CURRENT/ledger" | tr '\n' ' ')"
}

RATE=1000
seq 1 1500000 >work/numbers
whole gzip gzip -9kf work/numbers
cat >work/words.py <<'END'
import json, re

def words(n):
    x = 1
    for _ in range(n):
        x = x * 1103515245 + 12345 & 0x7fffffff
        yield "w%x" % (x >> 12)

def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)

for i in range(12):
    text = json.dumps(list(words(40000 + i)))
    found = sorted(re.findall(r"w[0-9a-f]+", text), key=lambda w: w[::-1])
print(len(found), fib(22))
END
if [ -x /usr/bin/python3 ]; then
	whole python3 /usr/bin/python3 work/words.py
else
	skip python3 "install the Debian package python3"
fi
cat >work/work.sql <<'END'
create table t(a, b);
with recursive c(x) as (select 1 union all select x + 1 from c where x < 500000)
	insert into t select x, x * 7919 % 100003 from c;
create index i on t(b);
select b, count(*) from t group by b order by 2 desc, 1 limit 3;
END
if command -v sqlite3 >/dev/null; then
	whole sqlite3 sqlite3 :memory: '.read work/work.sql'
else
	skip sqlite3 "install the Debian package sqlite3"
fi
awk 'BEGIN {
	for (n = 0; n < 100; n++) {
		printf "int f%d(int *a, int n)\n{\n\tint s = %d;\n", n, n
		print "\tfor (int i = 0; i < n; i++)\n\t\tswitch (a[i] % 5) {"
		for (i = 0; i < 5; i++)
			printf "\t\tcase %d: s += a[i] * %d; break;\n", i, n + i
		print "\t\t}\n\treturn s;\n}"
	}
}' >work/long.c
whole "gcc's cc1" "$(gcc -print-prog-name=cc1)" -quiet -O2 -o work/out.s \
	work/long.c

# ---- short programs --------------------------------------------------------------

# Each lives for less time than there is between two samples. Root samples CPUs,
# and finds them all; with stacks the kernel drops those of others, or a cgroup of
# the command's own does, where it does not.
of() {
	report --format=csv
	awk -F , -v name="/$1\$" '$4 ~ name { n += $(NF - 1) } END { print n + 0 }' \
		"$TMP/report"
}
unseen='^operf: warning: samples stand for '
# shellcheck disable=SC2016 # for the command
many='i=0; while [ $i -lt 300 ]; do /bin/true; i=$((i + 1)); done'
profiled "short programs" sh -c "$many"
flat=$(of true)
profiled "short programs with stacks" --verbose=debug -g sh -c "$many"
# Where the kernel filters no samples operf says what it does about a cgroup.
filters=yes
if grep -q 'cgroup' "$TMP/operf.err"; then
	filters=
fi
folded >"$TMP/folded"
# dash starts programs by vfork(), whose return address is in a register.
ok "stacks in vfork() are whole" [ "$(sum ';\[broken stack\];vfork(;|$)')" -eq 0 ]
# Root may load BPF programs, where the kernel has any.
if [ "$(id -u)" -eq 0 ] && [ -e /proc/sys/kernel/unprivileged_bpf_disabled ] &&
	[ "$(readlink /proc/self/ns/pid)" = 'pid:[4026531836]' ] &&
	grep -q '^Seccomp:.0' /proc/self/status; then
	is "the kernel filters samples" "$filters" yes
fi
if ! "$TESTBIN/canperf" system 2>"$TMP/why"; then
	skip "processes and threads of a command, however short" "$(cat "$TMP/why")"
	done_testing
fi
seen_as_without() {
	stacks=$(of true)
	ok "$stacks samples of short programs with stacks, $flat without" \
		[ "$flat" -gt 50 -a $((stacks * 2)) -ge "$flat" ]
}
seen_as_without

# Programs that the command moves to another cgroup, as containers and slices do;
# what else is there is not the command's.
other=
for root in /sys/fs/cgroup /sys/fs/cgroup/unified; do
	mkdir "$root/oprofile_test.$$" 2>/dev/null &&
		[ -e "$root/oprofile_test.$$/cgroup.procs" ] &&
		other=$root/oprofile_test.$$ && break
	rmdir "$root/oprofile_test.$$" 2>/dev/null
done
# shellcheck disable=SC2016 # for the command
leave='"$1" 0.1; sh -c "echo \$\$ >$0/cgroup.procs; exec $1 0.5"'
if [ -n "$other" ] && [ -n "$filters" ]; then
	# shellcheck disable=SC2016 # for that shell
	sh -c 'echo $$ >"$0/cgroup.procs"; exec "$1" 1000000000000' "$other" \
		"$TESTBIN/spin" >/dev/null &
	stranger=$!
	used() {
		awk '{ print $14 + $15 }' "/proc/$stranger/stat"
	}
	before=$(used)
	profiled "what the command moves to another cgroup" -g sh -c "$leave" \
		"$other" "$TESTBIN/burnmix"
	nr=$(of burnmix)
	# It used 0.6 s at least: 600 samples, but for chance (4 sqrt(n)).
	ok "$nr samples for 0.6 s" [ "$nr" -ge 500 ]
	unlike "are all that it used" "$(cat "$TMP/operf.err")" "$unseen"
	after=$(used)
	ok "another process of that cgroup has run" [ "$after" -gt "$before" ]
	is "it is not counted" "$(of spin)" 0
	profiled "the same without stacks" sh -c "$leave" "$other" "$TESTBIN/burnmix"
	nr=$(of burnmix)
	ok "$nr samples without stacks" [ "$nr" -ge 500 ]
	is "nor here" "$(of spin)" 0
	kill "$stranger"
	wait "$stranger" 2>/dev/null
else
	skip "what the command moves to another cgroup" \
		"no cgroups to change, or the kernel filters no samples"
fi

# Threads that have each their own clock, and end before it first comes to a sample:
# without the filter it may have none at all.
if [ -n "$filters" ]; then
	"$TESTBIN/churn" >"$TMP/churn" &
	churn=$!
	await line "$TMP/churn" ready
	profiled "threads that are shorter than a period" -g --pid=$churn \
		--duration=1
	unlike "are seen" "$(cat "$TMP/operf.err")" "$unseen"
	kill $churn
else
	skip "threads that are shorter than a period" \
		"the kernel filters no samples"
fi

# ---- where samples are not filtered ----------------------------------------------

# As in a pid namespace: the numbers of processes in the kernel are others.
if ! unshare --pid --fork --mount-proc true 2>"$TMP/why"; then
	[ -z "$other" ] || rmdir "$other"
	skip "a command in a pid namespace" "$(cat "$TMP/why")"
	done_testing
fi
operf() {
	# shellcheck disable=SC2016 # for that shell
	unshare --pid --fork --mount-proc sh -c '
		"$@"
		status=$?
		kill -0 "$(cat left)" && : >lives
		exit $status
	' sh "$BIN/operf" --session-dir="$SESSION" --rate=$RATE \
		--cpu-budget=none "$@" 2>"$TMP/operf.err"
}
own_cgroup() {
	sed -n 's/^+ the command is in the cgroup //p' "$TMP/operf.err"
}
profiled "short programs in a namespace" --verbose=debug -g sh -c "$many"
cgroup=$(own_cgroup)
if [ -n "$cgroup" ]; then
	seen_as_without
	ok "the cgroup is gone" [ ! -e "$cgroup" ]
	# shellcheck disable=SC2016 # for the command
	profiled "what goes on behind the command" --verbose=debug -g \
		sh -c 'sleep 1000 & echo $! >left; "$0" 0.05' "$TESTBIN/burnmix"
	cgroup=$(own_cgroup)
	ok "does not keep its cgroup" [ -n "$cgroup" -a ! -e "$cgroup" ]
	ok "and lives" [ -e lives ]
	if [ -n "$other" ]; then
		profiled "what leaves the command's cgroup" -g sh -c "$leave" \
			"$other" "$TESTBIN/burnmix"
		like "is told not to be seen" "$(cat "$TMP/operf.err")" \
			"$unseen.* not seen: processes that it moved to another cgroup; "
	fi
else
	skip "a cgroup of the command's own" "$(grep 'no cgroup' "$TMP/operf.err")"
fi
[ -z "$other" ] || rmdir "$other"
# attached RATE: to threads that end before their first sample is due.
attached() {
	# shellcheck disable=SC2016 # for that shell
	unshare --pid --fork --mount-proc sh -c '
		"$1" >"$2" & churn=$!
		until grep -q ready "$2"; do :; done
		shift 2
		"$@" -g --pid=$churn --duration=1
		kill $churn
	' sh "$TESTBIN/churn" "$TMP/churn" "$BIN/operf" --session-dir="$SESSION" \
		--rate="$1" 2>"$TMP/operf.err"
}
attached 1000
like "threads that are shorter than a period are told" "$(cat "$TMP/operf.err")" \
	"warning: no samples were taken: no thread used 1.0 ms of CPU time itself, all together|$unseen"
attached 4000
like "threads of one period are told not to be seen" "$(cat "$TMP/operf.err")" \
	"$unseen.* that the processes used, .* are not seen: a thread is not seen before it has used "
done_testing
