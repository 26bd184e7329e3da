#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# From the module to the report: the stacks of a program that was built without
# frame pointers, as its call tree has them, and of one that nobody prepared.
# timeout: 900
# vm-arch: amd64 arm64
# vm-icount: yes
# vm-check: 6.1
# vm-debug: 6.1-kcsan 6.1-rt 6.12-rt: with KASAN tables come too late for stacks
. "$(dirname "$0")/../../t/lib.sh"
. "$(dirname "$0")/../lib.sh"

# folded PROGRAM: its stacks, "a;b;c NUMBER", outermost first.
folded() {
	"$BIN/opreport" --session-dir="$SESSION" --format=folded \
		>"$TMP/all" 2>"$TMP/report.err" || return 1
	grep "^$1;" "$TMP/all" >"$TMP/whole"
	grep "^$1;\[truncated\];" "$TMP/whole" >"$TMP/cut"
	grep -v "^$1;\[truncated\];" "$TMP/whole" >"$TMP/folded"
}

# count REGEX
count() {
	awk -v re="$1" '$0 ~ re { n += $NF } END { print n + 0 }' "$TMP/folded"
}

# tree WHAT INNERMOST TREE: of the stacks that match INNERMOST nearly all match
# TREE, too: some begin in the first or last instructions of a function. What
# found no room, as the daemon did not get to read, is truncated, and not looked
# at here.
tree() {
	all=$(count "$2")
	true=$(count "$3")
	ok "$1: $true of $all" [ "$all" -ge 20 -a \
		$((true * 100)) -ge $((all * 97)) ]
	[ "$true" -eq "$all" ] ||
		grep -E "$2" "$TMP/folded" | grep -vE "$3" | sed 's/^/# /'
}

# repeat NUMBER TEXT
repeat() {
	seq "$1" | sed "s/.*/$2/" | tr -d '\n'
}

RATE=2000
span=$(by_kernel 0.4 4) # seconds
ok "start" start --separate=lib,kernel --callgraph=128
"$TESTBIN/stacks_no" "$span" >/dev/null
head -c 500000 "$BIN/oprofiled" | gzip -9 >"$TMP/gz"
ok "stop" stop
ok "taken = stored + lost" sums_up
grep -E 'lost|stacks' "$SESSION/samples/current/ledger" | sed 's/^/# /'

ok "report" folded stacks_no
start='^stacks_no;([^;]*;)*main;'
tree "a chain of 64 calls" ';leaf_chain [0-9]*$' \
	"$start$(seq -s ';' -f 'chain_%.0f' 0 63);leaf_chain [0-9]*\$"
tree "recursion" ';leaf_recurse [0-9]*$' \
	"${start}recurse_all;$(repeat 20 'recurse;')leaf_recurse [0-9]*\$"
tree "a callback through libc" ';leaf_compare [0-9]*$' \
	"${start}sort_all;([^;]*;)+compare;leaf_compare [0-9]*\$"
tree "a signal handler" ';leaf_signal [0-9]*$' \
	"${start}interrupted;([^;]*;)?on_trap;(on_signal;)?leaf_signal [0-9]*\$"
before="${start}call_outer;call_inner;"
! is_real_time || before='^stacks_no;\[no unwind data\];'
tree "a system call, and what the kernel did" ';[^;]*get_random_bytes_user' \
	"$before([^;]*;)+[^;]*get_random_bytes_user"

cut=$(awk '{ n += $NF } END { print n + 0 }' "$TMP/cut")
ok "$cut stacks are truncated, which are few" \
	[ $((cut * 10)) -le "$(count .)" ]

ok "report of another program" folded gzip
# While a program is started and ends it has no mappings, or the kernel has them
# locked. A kernel that checks itself spends much of a short run there.
grep -vE ';(do_syscall_64|asm_exc_page_fault|el0t_64_sync);' "$TMP/folded" >"$TMP/running"
mv "$TMP/running" "$TMP/folded"
grep '^gzip;\[[a-z ]*\];' "$TMP/folded" | sed 's/^/# /' | head
all=$(count .)
cut=$(count '^gzip;\[(guessed|other stack|no unwind data|no memory|broken stack)\];')
ok "of $all stacks of gzip $cut could not be unwound" \
	[ "$all" -ge 50 -a $((cut * 20)) -le "$all" ]
end_profiler
done_testing
