#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Java and node, of which at least 95 % of the samples in code that they make
# have names: Java by the agent, and by the perf map that it writes at its end;
# node by its perf map. A runtime that is not here is left out.
# timeout: 900
# tier: all

. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/perf.sh"

needs_perf own
RATE=500
JITDUMPDIR=$TMP
export JITDUMPDIR

# named NAME HOT: HOT is an expression for the function that works.
named() {
	name=$1 hot=$2
	shift 2
	# The image of code that was named late is "anon (tgid:N range:...)".
	rows "$@" | sed 's/\(\tanon\t\)(tgid:[^)]*) /\1/' >"$TMP/all"
	head -n 6 "$TMP/all" | sed 's/^/# /'
	# Without a name it is called as its image.
	all=$(sum '[0-9]*[.]jo|anon.*' '.*' <"$TMP/all")
	nameless=$(sum '[0-9]*[.]jo|anon.*' '[(]no symbols[)]|anon [(]tgid:.*' \
		<"$TMP/all")
	hottest=$(sum '[0-9]*[.]jo|anon.*' "$hot" <"$TMP/all")
	ok "$name: $nameless of $all samples have no name" \
		[ $((nameless * 100)) -le $((all * 5)) ]
	ok "$name: $hottest of them are where the work is" \
		[ $((hottest * 100)) -ge $((all * 60)) ]
}

mkdir -p "$TMP/src/com/x"
cat >"$TMP/src/com/x/Hot.java" <<'END'
package com.x;

public class Hot {
	static int spin(int n) {
		int s = 0;
		for (int i = 0; i < n; i++)
			s = s * 31 + (i ^ s >>> 3);
		return s;
	}

	public static void main(String[] args) {
		long end = System.currentTimeMillis() + 3000;
		long s = 0;
		while (System.currentTimeMillis() < end)
			s += spin(1000000);
		System.out.println(s);
	}
}
END
cat >"$TMP/src/hot.js" <<'END'
function spin(n) {
	let s = 0;
	for (let i = 0; i < n; i++)
		s = (s * 31 + (i ^ s >>> 3)) | 0;
	return s;
}
const end = Date.now() + 3000;
let s = 0;
while (Date.now() < end)
	s += spin(1000000);
console.log(s);
END

if command -v javac >/dev/null && [ -e "$O/lib/libjvmti_oprofile.so" ]; then
	(cd "$TMP/src" && javac -g com/x/Hot.java)
	java="java -XX:-UsePerfData -cp $TMP/src"
	# shellcheck disable=SC2086 # several words
	profiled "Java with the agent" $java \
		-agentpath:"$O/lib/libjvmti_oprofile.so" com.x.Hot
	named "Java with the agent" 'int com[.]x[.]Hot[.]spin[(]int[)]'
	"$BIN/opannotate" --session-dir="$SESSION" -s \
		--search-dirs="$TMP/src" >"$TMP/listing" 2>"$TMP/err"
	lines=$(awk '/^ *[0-9]+ .* :.*s [*] 31/ { print $2 + 0 }' "$TMP/listing")
	ok "its source has ${lines:-no} % of the samples in the loop" \
		awk -v n="${lines:-0}" 'BEGIN { exit !(n > 20) }'

	rm -rf "$SESSION"
	# shellcheck disable=SC2086
	profiled "Java with a map at its end" $java \
		-XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit com.x.Hot
	named "Java with a map at its end" 'int com[.]x[.]Hot[.]spin[(]int[)]'
	status=0
	LD_LIBRARY_PATH=$O/lib java -agentlib:jvmti_oprofile=version \
		com.x.Hot >"$TMP/out" 2>&1 || status=$?
	is "the agent tells its version and starts nothing" \
		"$status $(grep '^jvmti' "$TMP/out")" \
		"1 jvmti_oprofile: libopagent 2.0"
else
	skip "Java" "no javac, or no agent; install openjdk-17-jdk-headless"
fi

if command -v node >/dev/null; then
	rm -rf "$SESSION"
	# It writes a log of its own, by default into the folder one stands in.
	profiled "node" node --perf-basic-prof --logfile="$TMP/v8.log" \
		--no-logfile-per-isolate "$TMP/src/hot.js"
	named "node" '.*spin .*hot[.]js.*'
else
	skip "node" "no node; install nodejs"
fi

done_testing
