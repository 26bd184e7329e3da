#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Code that the kernel makes at run time has its name: a BPF program that is
# loaded while it is profiled, and one that was there before.

. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../perf.sh"

needs_perf system
RATE=500
status=0
"$TESTBIN/bpfwork" probe 0 </dev/null >/dev/null 2>"$TMP/probe" || status=$?
[ "$status" -ne 77 ] || skip_all "$(cat "$TMP/probe")"

# named NAME PROGRAM: most samples of bpfwork are in its BPF program.
named() {
	report -l --format=csv
	got=$(awk -F , -v name="$2" '$4 ~ /bpfwork$/ { all += $10 }
		$4 ~ /bpfwork$/ && $6 == name { part += $10 }
		END { print part + 0, "of", all + 0 }' "$TMP/report")
	ok "$1: $got samples are those of $2" \
		[ "${got#* of }" -gt 100 -a \
		$((${got% of *} * 100)) -ge $((${got#* of } * 80)) ]
}

profiled "loaded while profiled" "$TESTBIN/bpfwork" new 1 </dev/null
named "loaded while profiled" "$(cat "$TMP/truth")"

rm -rf "$SESSION"
mkfifo "$TMP/go"
exec 3<>"$TMP/go"
"$TESTBIN/bpfwork" early 1 <&3 >"$TMP/early" &
work=$!
await line "$TMP/early" bpf_prog
profiled "loaded before" --system-wide sh -c "echo >&3; '$TESTBIN/await' end $work"
wait "$work"
named "loaded before" "$(cat "$TMP/early")"

done_testing
