#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The daemon is killed in the middle of samples with stacks: what it had counted
# is there and readable, and a further run adds to it.
# timeout: 300
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../perf.sh"
needs_perf own
cd "$TMP" || exit 1
user_folder work
RATE=2000

folded_sum() {
	report --format=folded || { cat "$TMP/report.err" >&2; return 1; }
	awk '{ n += $NF } END { print n + 0 }' "$TMP/report"
}
flat_sum() {
	report -l || { cat "$TMP/report.err" >&2; return 1; }
	awk '$1 ~ /^[0-9]+$/ { n += $1 } END { print n + 0 }' "$TMP/report"
}
damaged() {
	find "$SESSION" -name '*.bad*' | wc -l
}

gcc -O2 -g -c -I"$TOP" -I"$O" -D_GNU_SOURCE -o work/out.o \
	"$TOP/daemon/opd_stats.c" || exit 1
mkdir -p "$SESSION"
# busy.sh [TIMES]: work, until there is a file work/stop; a line in work/done for
# each piece of it.
cat >work/busy.sh <<END
#!/bin/sh
i=0
while [ \$((i += 1)) -le \${1-\$i} ] && [ ! -e work/stop ]; do
	gcc -O2 -g -c -I"$TOP" -I"$O" -D_GNU_SOURCE -o work/out.o \
		"$TOP/daemon/opd_stats.c"
	gzip -9 -c work/out.o >/dev/null
	echo \$i >>work/done
done
END
chmod +x work/busy.sh

sum=0
for run in 1 2 3; do
	rm -f work/stop work/done
	"$BIN/operf" --session-dir="$SESSION" --rate=$RATE --append --callgraph \
		work/busy.sh 2>"$TMP/operf.err" &
	operf=$!
	# What was taken of the first piece is stored, and some more is counted.
	await text work/done
	ok "killed $run times: a dump before" "$TESTBIN/control" \
		"$SESSION/run/control" dump
	await line work/done . $((run + 1))
	kill -KILL "$(cat "$SESSION/run/lock")"
	touch work/stop
	status=0
	wait $operf || status=$?
	is "killed $run times: operf has failed" "$status" 125

	trees=$(folded_sum)
	flat=$(flat_sum)
	ok "killed $run times: $trees samples in trees" [ "$trees" -gt "$sum" ]
	# One sample may be between both.
	ok "killed $run times: of $flat samples" \
		[ "$trees" -le "$flat" -a $((trees + run)) -ge "$flat" ]
	is "killed $run times: no file is damaged" "$(damaged)" 0
	sum=$trees
done

rm work/stop
profiled "and then not killed" --append --callgraph work/busy.sh 2
trees=$(folded_sum)
ok "trees have grown from $sum to $trees" [ "$trees" -gt "$sum" ]
is "which the account says, too" "$(all_stacks)" "$trees"
stored=$(ledger stored)
ok "of $stored samples" [ "$trees" -le "$stored" -a $((trees + 3)) -ge "$stored" ]
is "still no file is damaged" "$(damaged)" 0
done_testing
