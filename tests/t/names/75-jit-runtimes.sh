#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Java, node and LuaJIT: of all samples of the process, with its interpreter,
# libraries and kernel, at least 95 % have a name, and the function that works is
# found. Java and node without an option, as operf makes them name their code; Java by
# the agent, by the perf map that it writes at its end and by that of jcmd while it
# runs; node by its perf map; LuaJIT by the map that a script writes. A runtime that is
# not here is left out.
# timeout: 900
# tier: all

. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../perf.sh"

needs_perf own
RATE=500
JITDUMPDIR=$TMP
export JITDUMPDIR

# Images of code that was made: with names at once, and with those told late.
MADE='[0-9]*[.]jo|anon.*'

# named NAME HOT: HOT is an expression for the function that works.
named() {
	name=$1 hot=$2
	shift 2
	# The image of code that was named late is "anon (tgid:N range:...)".
	rows "$@" | sed 's/\(\tanon\t\)(tgid:[^)]*) /\1/' >"$TMP/all"
	head -n 6 "$TMP/all" | sed 's/^/# /'
	all_named "$name" <"$TMP/all"
	made=$(sum "$MADE" '.*' <"$TMP/all")
	nameless=$(sum "$MADE" "$NAMELESS" <"$TMP/all")
	ok "$name: $nameless of $made samples in code it made have no name" \
		[ $((nameless * 100)) -le $((made * 5)) ]
	hottest=$(sum "$MADE" "$hot" <"$TMP/all")
	ok "$name: $hottest of them are where the work is" \
		[ $((hottest * 100)) -ge $((made * 60)) ]
	# Nobody else removes the map of a process that has ended.
	for file in "$SESSION"/images/*; do
		file=${file##*/} file=${file#perf-}
		rm -f "/tmp/perf-${file%%.*}.map"
	done
}

mkdir -p "$TMP/src/com/x"
cat >"$TMP/src/com/x/Hot.java" <<'END'
package com.x;

import java.nio.file.Files;
import java.nio.file.Path;

public class Hot {
	static int spin(int n) {
		int s = 0;
		for (int i = 0; i < n; i++)
			s = s * 31 + (i ^ s >>> 3);
		return s;
	}

	// Works for three seconds. Given two files, it then writes its number
	// to one and goes on until the other is there.
	public static void main(String[] args) throws Exception {
		long end = System.currentTimeMillis() + 3000;
		long s = 0;
		while (System.currentTimeMillis() < end)
			s += spin(1000000);
		if (args.length == 2) {
			Files.writeString(Path.of(args[0]),
				ProcessHandle.current().pid() + "\n");
			while (!Files.exists(Path.of(args[1])))
				s += spin(1000000);
		}
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
	profiled "Java" $java com.x.Hot
	named "Java" 'int com[.]x[.]Hot[.]spin[(]int[)]'
	like "operf says so" "$(cat "$TMP/operf.err")" \
		"^operf: Java names its functions, by JAVA_TOOL_OPTIONS"
	rm -rf "$SESSION"
	# shellcheck disable=SC2086
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
	profiled "Java with a map at its end" --no-runtimes $java \
		-XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit com.x.Hot
	named "Java with a map at its end" 'int com[.]x[.]Hot[.]spin[(]int[)]'

	# Earlier samples get their names from the map of jcmd, too.
	rm -rf "$SESSION"
	(
		"$TESTBIN/await" text "$TMP/begun" &&
			jcmd "$(cat "$TMP/begun")" Compiler.perfmap
		: >"$TMP/end"
	) >"$TMP/asked" 2>&1 &
	# shellcheck disable=SC2086
	profiled "Java that jcmd asks" --no-runtimes $java com.x.Hot "$TMP/begun" "$TMP/end"
	wait $!
	ok "Java that jcmd asks: it wrote a map" \
		grep -q 'Command executed successfully' "$TMP/asked"
	named "Java that jcmd asks" 'int com[.]x[.]Hot[.]spin[(]int[)]'
	status=0
	LD_LIBRARY_PATH=$O/lib java -agentlib:jvmti_oprofile=version \
		com.x.Hot >"$TMP/out" 2>&1 || status=$?
	is "the agent tells its version and starts nothing" \
		"$status $(grep '^jvmti' "$TMP/out")" \
		"1 jvmti_oprofile: libopagent 2.1"
else
	skip "Java" "no javac, or no agent; install openjdk-17-jdk-headless"
fi

if command -v node >/dev/null; then
	rm -rf "$SESSION"
	profiled "node" node "$TMP/src/hot.js"
	for file in "$SESSION"/images/*.jo-*; do
		file=${file##*/}
		ok "node: its map is removed" [ ! -e "/tmp/perf-${file%%.*}.map" ]
	done
	is "node: no log of V8 is left" "$(find . -maxdepth 1 -name 'isolate*')" ""
	named "node" '.*spin .*hot[.]js.*'
	rm -rf "$SESSION"
	# It writes a log of its own, by default into the folder one stands in.
	profiled "node with its option" node --perf-basic-prof --logfile="$TMP/v8.log" \
		--no-logfile-per-isolate "$TMP/src/hot.js"
	named "node with its option" '.*spin .*hot[.]js.*'
else
	skip "node" "no node; install nodejs"
fi

# LuaJIT calls a function for each trace that it compiles, and tells where its
# machine code is. A script learns its own number from libc.
cat >"$TMP/src/hot.lua" <<'END'
local ffi, util = require("ffi"), require("jit.util")
ffi.cdef("int getpid(void);")
local map = assert(io.open("/tmp/perf-" .. ffi.C.getpid() .. ".map", "w"))
map:setvbuf("line")
local from = {}
jit.attach(function(what, trace, func, pc)
	if what == "start" then
		from[trace] = util.funcinfo(func, pc).loc
	elseif what == "stop" then
		local code, addr = util.tracemc(trace)
		map:write(string.format("%x %x trace %d %s\n", addr, #code,
			trace, from[trace]))
	end
end, "trace")

local function spin(n)
	local s = 0
	for i = 1, n do
		s = (s * 31 + i) % 1000003
	end
	return s
end
local s, stop = 0, os.time() + 3
while os.time() < stop do
	s = s + spin(1000000)
end
print(s)
END

if command -v luajit >/dev/null; then
	rm -rf "$SESSION"
	profiled "LuaJIT" luajit "$TMP/src/hot.lua"
	named "LuaJIT" 'trace [0-9]+ hot[.]lua:[0-9]+'
else
	skip "LuaJIT" "no luajit; install luajit"
fi

done_testing
