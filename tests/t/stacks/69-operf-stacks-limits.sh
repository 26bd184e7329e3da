#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Call graphs where not all is to be had: refused keys, a user who may lock
# little memory and not sample the kernel, a stack that is longer than what is
# copied of it, ten thousand frames of recursion, no memory for unwind tables.
#
# What a user may still lock is less where others profile as the same user.
# alone: yes
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../perf.sh"
needs_perf own
cd "$TMP" || exit 1
user_folder work
RATE=1000
reader=
# shellcheck disable=SC2317 # lib.sh calls it
at_exit() {
	[ -z "$reader" ] || kill "$reader" 2>/dev/null
}

stacks() {
	sed -n "s/^stacks\\.$1 = //p" "$CURRENT/ledger"
}
# daemon_log NAME: a number of the daemon's statistics.
daemon_log() {
	sed -n "s/^Nr\\. $1: //p" "$SESSION/samples/oprofiled.log" | tail -n 1
}

# refused NAME SOURCE TEXT
refused() {
	status=0
	got=$("$BIN/oprofiled" --session-dir="$TMP/refused" --foreground \
		--source="perf:$2" 2>&1) || status=$?
	is "$1" "$status $got" "1 oprofiled: source perf: $3"
}
refused "a depth that is none" callgraph=x \
	"callgraph=x: must be a number from 0 to 1024"
refused "too deep" callgraph=1025 \
	"callgraph=1025: must be a number from 0 to 1024"
refused "too little stack" callgraph=5,stack=511 \
	"stack=511: must be a number from 512 to 61440"
refused "too much" stack=61441 "stack=61441: must be a number from 512 to 61440"

# deep DEPTH FRAME [ASK ANSWER]: so many calls with frames of so many bytes. With
# two FIFOs it asks twenty times to go on.
cat >work/deep.c <<'END'
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static volatile unsigned long sink;
static int ask = -1, answer = -1;
static void may_go_on(void)
{
	char c = '\n';

	if (ask >= 0 && (write(ask, &c, 1) != 1 || read(answer, &c, 1) != 1))
		abort();
}
__attribute__((noinline, noclone)) void leaf(void)
{
	for (long part = 0; part < 20; part++) {
		may_go_on();
		for (long i = 0; i < 20000000; i++)
			__asm__ volatile("" : : : "memory");
	}
	sink++;
}
__attribute__((noinline, noclone)) void down(long left, long frame)
{
	char room[frame];

	memset(room, 1, frame);
	__asm__ volatile("" : : "r"(room) : "memory");
	if (left > 1)
		down(left - 1, frame);
	else
		leaf();
	__asm__ volatile("" : : "r"(room) : "memory");
}
int main(int argc, char **argv)
{
	if (argc > 4) {
		ask = open(argv[3], O_WRONLY);
		answer = open(argv[4], O_RDONLY);
	}
	down(atol(argv[1]), atol(argv[2]));
	return 0;
}
END
gcc -O2 -fomit-frame-pointer -o work/deep work/deep.c || exit 1

# ---- stacks that are too long ----------------------------------------------------

profiled "ten thousand frames" --callgraph work/deep 10000 64
stored=$(ledger stored)
ok "of $stored nearly all are truncated" \
	rarely $((stored - $(stacks truncated))) "$stored" 1
is "none is broken" "$(stacks broken)" 0

profiled "a hundred kilobytes" --callgraph work/deep 25 4096
stored=$(ledger stored)
ok "of $stored nearly all are truncated" \
	rarely $((stored - $(stacks truncated))) "$stored" 1
report --format=folded
like "which their root tells" "$(cat "$TMP/report")" \
	'^deep;\[truncated\];(down;)+leaf [0-9]+$'

profiled "ten kilobytes" --callgraph work/deep 25 400
stored=$(ledger stored)
ok "of $stored nearly all are whole" \
	rarely $((stored - $(stacks whole))) "$stored" 1

# ---- no memory -------------------------------------------------------------------

# The programs need the less memory the fewer CPUs there are.
for limit in 60000 80000 100000 130000 160000; do
	rm -rf "$SESSION"
	# shellcheck disable=SC3045 # dash knows it
	if (ulimit -v $limit && operf --callgraph work/deep 25 400 &&
		[ "$(ledger stored)" -gt 0 ]) >"$TMP/truth"; then
		break
	fi
done
ok "no memory for tables: taken = stored + lost" sums_up
stored=$(ledger stored)
ok "no memory for tables: $(stacks no_memory) of $stored stacks have this end" \
	[ "$(stacks no_memory)" -gt 0 -a $(($(stacks no_memory) * 10)) -ge $((stored * 9)) ]
is "and not another" "$(stacks no_unwind_data)" 0
like "operf says what helps" "$(cat "$TMP/operf.err")" \
	' [0-9]+ no_memory.*; there was no memory for the tables .*ulimit -v'
report --format=folded
like "their root tells" "$(cat "$TMP/report")" '^deep;\[no memory\];leaf [0-9]+$'
cp "$TMP/report" work/folded
end="$(stacks no_memory) no_memory"
ok "they are archived" "$BIN/oparchive" --session-dir="$SESSION" -o "$TMP/archive"
like "with this end" "$("$BIN/opreport" "archive:$TMP/archive")" \
	"^Stacks: .* [+=] $end"
ok "and merged" "$BIN/opmerge" -o "$TMP/merged" "$TMP/archive" "$TMP/archive"
like "with it" "$("$BIN/opreport" "archive:$TMP/merged")" \
	"^Stacks: .* [+=] $end"
ok "and imported" "$BIN/opimport" --output "$TMP/imported" work/folded
like "with it, too" "$("$BIN/opreport" --session-dir="$TMP/imported")" \
	"^Stacks: .* [+=] $end"

# ---- an ordinary user --------------------------------------------------------------

if [ "$(id -u)" -ne 0 ]; then
	skip "another user" "not root"
	done_testing
fi
for_users "$BIN/operf" "$BIN/oprofiled" "$BIN/opreport" "$TESTBIN/canperf" \
	"$TESTBIN/control"
AS=as_user
if ! as_user "$TESTBIN/canperf" own 2>"$TMP/why"; then
	skip "an ordinary user" "$(cat "$TMP/why")"
	done_testing
fi
rm -rf "$SESSION"
chmod 755 work/deep
# In his buffers there is room for 30 samples on each CPU. No more than some ten
# come before the daemon has read what is there.
mkfifo -m 666 work/ask work/answer
while read -r _; do
	"$TESTBIN/control" "$SESSION/run/control" dump >/dev/null
	echo
done <work/ask >work/answer &
reader=$!
profiled "an ordinary user" --callgraph work/deep 25 100 work/ask work/answer
wait "$reader"
reader=
stored=$(ledger stored)
ok "an ordinary user: of $stored nearly all are whole" \
	rarely $((stored - $(stacks whole))) "$stored" 1
is "an ordinary user: nothing was lost" "$(ledger lost)" 0

# What a user may lock beyond kernel.perf_event_mlock_kb.
# shellcheck disable=SC3045 # dash knows it
ulimit -l 0
rm -rf "$SESSION"
profiled "no memory to lock" --callgraph work/deep 25 100
bytes=$(daemon_log 'bytes of user stack in a sample')
ok "no memory to lock: $bytes bytes are copied" [ "$bytes" -lt 61440 ]
ok "no memory to lock: $(stacks whole) of $(ledger stored) are whole" \
	[ "$(stacks whole)" -gt 0 ]
done_testing
