#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# How large a session with whole stacks is: a compile job, sampled at 10 kHz, so
# that as many samples as 1 kHz takes in an hour are there in minutes.
#
#	BENCH_SECONDS	how long (200)
#	BENCH_JOB	a command that compiles for so long; without it, this
#			tree, again and again in other ways
. "$(dirname "$0")/../t/lib.sh"
. "$TOP/tests/t/perf.sh"
. "$TOP/tests/bench/rows.sh"

needs_perf own
RATE=10000
max=$(cat /proc/sys/kernel/perf_event_max_sample_rate)
[ "$max" -ge $RATE ] || RATE=$max
: "${BENCH_SECONDS:=200}"

cat >"$TMP/job" <<END
while :; do
	for flags in -O2 -O0 '-O3 -g' -Os '-O1 -fno-inline'; do
		make -C "$TOP" -s -j$(nproc) O="$TMP/build" CFLAGS="\$flags" tools
		rm -rf "$TMP/build"
	done
done
END

# size FIND-TEST...: files, and what they take on the disk.
size() {
	find "$SESSION" "$@" -printf '%k\n' |
		awk '{ sum += $1 } END { printf "%6d %8d KiB\n", NR, sum }'
}

operf -g timeout -s INT "$BENCH_SECONDS" sh -c "${BENCH_JOB:-. $TMP/job}" \
	>/dev/null 2>&1
[ -s "$CURRENT/ledger" ] || {
	cat "$TMP/operf.err" >&2
	exit 1
}
awk -v stored="$(ledger stored)" -v lost="$(ledger lost)" 'BEGIN {
	printf "%d samples, as in %.0f minutes of a CPU at 1 kHz; %d lost\n",
		stored, stored / 60000, lost }'
grep 'packed ' "$SESSION/samples/oprofiled.log"
echo "pack             $(size -name packed)"
echo "loose files      $(size -type f -path '*/current/*{*')"
echo "their folders    $(size -type d -path '*/current/*')"
echo "kernel symbols   $(size -type f -path '*/symbols/*')"
bench_row 'session of a compile job with stacks' 'bytes a sample' \
	"$(find "$SESSION/samples" -type f -printf '%k\n' |
		awk -v n="$(ledger stored)" \
			'{ sum += $1 } END { printf "%.2f", sum * 1024 / n }')" \
	'' '' '<=2'
echo "the session      $(size -type f,d)"
test_finished=yes
