#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Crowds: memory and open files of the daemon stay within limits whatever a
# stream makes up, and what a record costs does not grow with what came before.
# tests/bench/crowds.sh does the same with 100,000 and a million.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../daemon.sh"

NR=10000
MEMORY=32768 # KB
FILES=40 # open at a time, those of the loop and the log included

# crowd WHAT NR: the stream of that.
crowd() {
	awk -v what="$1" -v nr="$2" -f "$TOP/tests/t/crowds.awk" |
		stream "$TMP/$1.$2"
}
# bounded COMMAND...: with few open files, and what it took in $TMP/cost.
bounded() {
	(
		# shellcheck disable=SC3045 # dash has it
		ulimit -n "$FILES"
		"$TESTBIN/cost" "$TMP/cost" "$@"
	)
}

for what in images builds processes mappings paths; do
	crowd $what $NR
	rm -rf "$SESSION"
	ok "$NR $what" bounded "$BIN/oprofiled" --session-dir="$SESSION" \
		--source="file:$TMP/$what.$NR" --separate-lib=1 \
		--separate-thread=1 --separate-cgroup=1 --max-disk=8
	is "$NR $what: each sample is in the account" "$(awk '
		{ nr[$1] = $3 }
		/^lost/ { lost += $3 }
		END { print nr["taken"], nr["taken"] - nr["stored"] - lost }
	' "$CURRENT/ledger")" "$((2 * NR)) 0"
	memory=$(awk '$1 == "memory" { print $2 }' "$TMP/cost")
	if nm "$BIN/oprofiled" | grep -q __asan_init; then
		skip "$NR $what: memory" "AddressSanitizer takes more"
	else
		ok "$NR $what take $memory KB, no more than $MEMORY" \
			[ "$memory" -le $MEMORY ]
	fi
done
is "no path has left the session, nor kept a control character" \
	"$(find "$TMP" -mindepth 1 -maxdepth 1 ! -name '*.*' | sort) $(
		find "$SESSION" -name '*[[:cntrl:]]*')" "$TMP/cost
$SESSION "

# ---- what a record costs

# instructions WHAT NR: what the daemon executes for that.
instructions() {
	crowd "$1" "$2"
	rm -rf "$SESSION"
	valgrind --tool=callgrind --callgrind-out-file=/dev/null \
		--log-file="$TMP/valgrind" "$BIN/oprofiled" \
		--session-dir="$SESSION" --source="file:$TMP/$1.$2" \
		--max-disk=1 --pack-at=0
	awk '/Collected/ { print $NF }' "$TMP/valgrind"
}
# each WHAT NR: what one of NR costs.
each() {
	awk -v none="$(instructions "$1" 0)" -v all="$(instructions "$1" "$2")" \
		-v nr="$2" 'BEGIN { printf "%d", (all - none) / nr }'
}
# little_more WHAT FEW MANY: they are about the same.
little_more() {
	ok "$1: $2 and $3 instructions" [ "$3" -lt $(($2 + $2 / 2)) ]
}
if ! command -v valgrind >/dev/null; then
	skip "cost of many" "no valgrind"
elif nm "$BIN/oprofiled" | grep -q __asan_init; then
	skip "cost of many" "valgrind does not go together with AddressSanitizer"
else
	for what in builds processes images; do
		many=$(each $what 3000)
		little_more "one of 300 and of 3,000 $what" \
			"$(each $what 300)" "$many"
	done
	little_more "one of 3,000 images, and while samples wait for a name" \
		"$many" "$(each waiting 3000)"
fi
done_testing
