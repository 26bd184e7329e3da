#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The stacks that the module takes of programs whose call tree is known: by
# frame pointers, and as the part of the stack that is to be unwound.
# timeout: 900
# vm-arch: amd64 arm64
# vm-icount: yes
# vm-check: 6.1 6.12-arm64
. "$(dirname "$0")/../../t/lib.sh"
. "$(dirname "$0")/../lib.sh"

FS=/dev/oprofile
SOCKET=$SESSION/run/control
MACHINE=$(uname -m)
span=$(by_kernel 0.4 4) # seconds

# put FILE VALUE
put() {
	echo "$2" 2>/dev/null >"$FS/$1"
}

# begin_sample DEPTH BYTES: record stacks.
begin_sample() {
	put backtrace_depth "$1" && put backtrace_stack "$2" || return 1
	rm -rf "$SESSION" "$TMP/stream"
	mkdir -p "$SESSION"
	"$BIN/oprofiled" --session-dir="$SESSION" --record="$TMP/stream" ||
		return 1
	"$TESTBIN/control" "$SOCKET" start
}

# sample DEPTH BYTES PROGRAM...: run these and record their stacks.
sample() {
	begin_sample "$1" "$2" || return 1
	shift 2
	for program; do
		"$TESTBIN/$program" "$span" >/dev/null
	done
	"$TESTBIN/control" "$SOCKET" stop
}

end_sample() {
	"$TESTBIN/control" "$SOCKET" shutdown >/dev/null
}

# fold PROGRAM
fold() {
	"$TESTBIN/foldstream" "$TMP/stream" "$TESTBIN/$1" >"$TMP/fold"
}

# count REGEX: traces in lines that match.
count() {
	awk -v re="$1" '$0 ~ re { n += $1 } END { print n + 0 }' "$TMP/fold"
}

# tree WHAT INNERMOST TREE: of the traces that match INNERMOST nearly all match
# TREE, too. A few are of the first and last instructions of a function.
tree() {
	all=$(count "$2")
	true=$(count "$3")
	ok "$1: $true of $all" [ "$all" -ge 20 -a \
		$((true * 100)) -ge $((all * 97)) ]
}

# tree_in_kernel WHAT INNERMOST TREE: the same where the kernel was called.
tree_in_kernel() {
	if is_real_time; then
		skip "$1" "PREEMPT_RT: no lock in an interrupt"
	else
		tree "$@"
	fi
}

# repeat NUMBER TEXT
repeat() {
	seq "$1" | sed "s/.*/$2/" | tr -d '\n'
}

# chain FIRST STEP LAST BETWEEN: names of the chain's functions.
chain() {
	seq -s "$4" -f "chain_%.0f" "$1" "$2" "$3"
}

ok "the module loads" insmod "$O/module/$(uname -r)/oprofile.ko"
mkdir -p $FS
ok "oprofilefs mounts" mount -t oprofilefs none $FS
echo 2000 >$FS/timer/rate
is "no stacks unless asked for" "$(cat $FS/backtrace_depth)" 0
is "with a part of the user stack then" "$(cat $FS/backtrace_stack)" 16384
for bad in 1025 -1 x; do
	ok "the depth is not $bad" not put backtrace_depth $bad
done
for bad in 65544 12 -8; do
	ok "the part is not $bad bytes" not put backtrace_stack $bad
done

# ---- frame pointers

narrow=stacks32
[ "$MACHINE" = x86_64 ] || narrow='stacks32 stacks32_thumb'
# shellcheck disable=SC2086
ok "by frame pointers" sample 128 0 stacks_fp $narrow
ok "taken = stored + lost" sums_up
ok "settings cannot change meanwhile" not put backtrace_depth 8
ok "nor this one" not put backtrace_stack 8
is "no part of a stack was taken" "$(module_stat backtrace_stacks)" 0
ok "callers were found: $(module_stat backtrace_frames)" \
	[ "$(module_stat backtrace_frames)" -gt 1000 ]
end_sample
fold stacks_fp
tree "a chain of 64 calls" ';leaf_chain$' \
	" (.*;)?main;$(chain 0 1 63 ';');leaf_chain\$"
tree "recursion" ';leaf_recurse$' \
	" (.*;)?main;recurse_all;$(repeat 20 'recurse;')leaf_recurse\$"
tree "a signal handler" ';leaf_signal$' '\];on_trap;leaf_signal$'
# libc's function is called by one with a frame pointer, but has none itself.
tree_in_kernel "a system call" ';call_outer;.*\[kernel\]$' \
	' (.*;)?main;call_outer;(call_inner;)?(\[libc.so.6\];)?\[kernel\]$'
if [ "$MACHINE" = x86_64 ]; then
	tree "a callback" 'compare;leaf_compare$' 'bad .*compare;leaf_compare$'
else
	tree "a callback" 'compare;leaf_compare$' \
		' (.*;)?main;sort_all;\[libc.so.6\];compare;leaf_compare$'
fi

for program in $narrow; do
	fold "$program"
	tree "a 32-bit program, $program" ';leaf$' \
		" guessed (_start|\\[$program\\]);begin;outer;middle;inner;leaf\$"
done

ok "with a depth of 8" sample 8 0 stacks_fp
ok "traces end there: $(module_stat backtrace_deep)" \
	[ "$(module_stat backtrace_deep)" -gt 100 ]
end_sample
fold stacks_fp
tree "eight callers, no more" ';leaf_chain$' \
	" depth $(chain 56 1 63 ';');leaf_chain\$"

# ---- a part of the stack

for program in stacks_fp stacks_no; do
	ok "$program with its stack" sample 128 16384 $program
	ok "taken = stored + lost" sums_up
	ok "parts of stacks were taken: $(module_stat backtrace_stacks)" \
		[ "$(module_stat backtrace_stacks)" -gt 200 ]
	end_sample
	fold $program
	tree "a chain of 64 calls" ' leaf_chain\|' \
		" whole leaf_chain\\|(;.*)?;$(chain 63 -1 0 '(;.*)?;');(.*;)?main"
	tree "recursion" ' leaf_recurse\|' \
		" whole leaf_recurse\\|(;.*)?$(repeat 20 ';recurse(;.*)?');recurse_all;(.*;)?main"
	tree "a callback" ' leaf_compare\|' \
		' whole leaf_compare\|(;.*)?;compare;(.*;)?sort_all;(.*;)?main'
	tree "a signal handler" ' leaf_signal\|' \
		' whole leaf_signal\|(;.*)?;on_trap;(.*;)?main'
	tree_in_kernel "a system call" ' \[kernel\]\|.*;call_outer;' \
		' whole \[kernel\]\|(;.*)?;call_inner;(.*;)?call_outer;(.*;)?main'
done

ok "no more than 512 bytes" sample 128 512 stacks_no
end_sample
fold stacks_no
is "does not reach up to main" "$(count ' leaf_chain\|.*;main')" 0
ok "but some way" [ "$(count ' leaf_chain\|.*;chain_63;')" -ge 20 ]

# ---- more samples than there is time for

# Each costs more than the time to the next one.
put timer/rate 100000
ok "samples that are too dear" begin_sample 64 16384
ok "leave a program its time" "$TESTBIN/deepread" 60
ok "stop" "$TESTBIN/control" "$SOCKET" stop
ok "taken = stored + lost" sums_up
lost=$(ledger lost.sample_lost_throttled)
ok "some were left out: ${lost:=0}" [ "$lost" -gt 0 ]
ok "but not all" [ "$lost" -lt "$(ledger taken)" ]
end_sample

ok "unmount" umount $FS
ok "unload" rmmod oprofile

# ---- 32-bit programs, by perf_events

for program in $narrow; do
	mkdir "$TMP/$program"
	ok "operf $program" "$BIN/operf" --callgraph=64 \
		--session-dir="$TMP/$program" "$TESTBIN/$program"
	"$BIN/opreport" --session-dir="$TMP/$program" --format=folded |
		awk '{ n = $NF; $NF = ""; print n, $0 }' >"$TMP/fold"
	tree "its tree" ';leaf $' \
		" $program;\\[guessed\\];_start;begin;outer;middle;inner;leaf \$"
done
ok "no complaint from the kernel" kernel_is_content
done_testing
