#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Names of code that programs make at run time: from a perf map that the program
# removes before it ends, and by libopagent, as root and as an ordinary user. In
# each of three phases another function is at the same address.
#
# A perf map has no times: what runs in the tenth of a second in which one
# function takes the place of another may be shown as either. A phase lasts 1.5
# s, so a third of the samples may be off by 7 %, and by what chance adds.
# timeout: 600

. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../perf.sh"

needs_perf own
RATE=500

# named NAME: at least 95 % of the samples in code that was made have the name
# of a phase, and each phase its share.
named() {
	name=$1
	shift
	pid=$(cat "$TMP/truth")
	rows "$@" >"$TMP/all"
	head -n 8 "$TMP/all" | sed 's/^/# /'
	all=$(sum "${pid}[.]jo|anon.*" '.*' <"$TMP/all")
	known=$(sum "${pid}[.]jo" 'phase_[1-3]' <"$TMP/all")
	ok "$name: $known of $all samples in the code have names" \
		[ "$known" -gt 0 -a $((known * 100)) -ge $((all * 95)) ]
	all_named "$name" <"$TMP/all"
	for phase in 1 2 3; do
		part=$(sum "${pid}[.]jo" "phase_$phase" <"$TMP/all")
		ok "$name: phase $phase has $part of $known" \
			[ $((part * 100)) -ge $((known * 22)) -a \
			$((part * 100)) -le $((known * 45)) ]
	done
	like "$name: the image is shown below its application" \
		"$("$BIN/opreport" --session-dir="$SESSION" 2>/dev/null |
			tr '\n' ' ')" "jitcode.*${pid}[.]jo"
}

profiled "a perf map" "$TESTBIN/jitcode" map 3 1.5
named "a perf map"
ok "a perf map: the program removed it" \
	[ ! -e "/tmp/perf-$(cat "$TMP/truth").map" ]

# By libopagent, which tells times. The folder has to allow for code.
JITDUMPDIR=$TMP
export JITDUMPDIR
for how in agent threads fork; do
	rm -rf "$SESSION"
	profiled "$how" "$TESTBIN/jitcode" "$how" 3 1
	named "$how"
	is "$how: nothing else was told to have run" \
		"$(sum "${pid}[.]jo" 'other_.*' <"$TMP/all")" 0
done
"$BIN/opannotate" --session-dir="$SESSION" --all -a -i phase_2 >"$TMP/listing" \
	2>"$TMP/err"
like "its code is listed" "$(tr '\n' ' ' <"$TMP/listing")" \
	'<phase_2>.*(mov|subs).*(jne|b[.]ne).*ret'
report -l -g
like "and has source lines" "$(cat "$TMP/report")" \
	' jitcode[.]c:102 .*phase_2'

# An archive has the names, wherever it is.
"$BIN/oparchive" --session-dir="$SESSION" -o "$TMP/archive" 2>"$TMP/err" ||
	diag "$(cat "$TMP/err")"
rm -rf "$SESSION"
"$BIN/opreport" archive:"$TMP/archive" -l >"$TMP/archived" 2>"$TMP/err"
ok "an archive names the code" grep -q 'phase_2$' "$TMP/archived"

# through HOW: $whole of $all stacks lead through the code to main().
through() {
	rm -rf "$SESSION"
	profiled "$1" --callgraph "$TESTBIN/jitcode" "$1" 1 1
	report --format=folded
	grep ';phase_1 [0-9]*$' "$TMP/report" >"$TMP/stacks"
	all=$(awk '{ n += $NF } END { print n + 0 }' "$TMP/stacks")
	whole=$(awk '/^jitcode;.*;main;/ { n += $NF } END { print n + 0 }' \
		"$TMP/stacks")
}
# The code has no frame pointer: what leads out of it is what the dump tells of its
# frames or, where that is nothing, the instructions in the memory of the process.
if [ "$(uname -m)" = x86_64 ]; then
	for how in frames bare; do
		through $how
		ok "$how: $whole of $all stacks lead to main()" \
			[ "$all" -gt 100 -a $((whole * 100)) -ge $((all * 95)) ]
		ok "$how: and are not guessed" \
			not grep -q 'guessed' "$TMP/stacks"
	done
else
	skip "stacks through the code" "its code and frames are for x86-64"
fi

if [ "$(id -u)" -eq 0 ]; then
	for_users "$BIN"/operf "$BIN"/oprofiled "$BIN"/opreport \
		"$TESTBIN/jitcode" "$TESTBIN/canperf"
	mkdir "$TMP/lib"
	cp "$O/lib/libopagent.so.2" "$TMP/lib"
	user_folder session
	user_folder dumps
	SESSION=$TMP/session AS=as_user
	CURRENT=$SESSION/samples/current
	profiled "an ordinary user" "$TESTBIN/jitcode" map 3 1.5
	named "an ordinary user"
	$AS rm -rf "$SESSION/samples" "$SESSION/images"
	JITDUMPDIR=$TMP/dumps profiled "an ordinary user's agent" \
		"$TESTBIN/jitcode" agent 3 1
	named "an ordinary user's agent"
fi

done_testing
