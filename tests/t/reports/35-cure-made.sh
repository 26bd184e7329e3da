#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Where code that a runtime made has no names, a line says how it tells them;
# and names that were told after the samples are used.
. "$(dirname "$0")/../lib.sh"

SESSION=$TMP/session CURRENT=$TMP/session/samples/current
E=CPU_CLK_UNHALTED.100000.0.all.all.all
# made APP RANGE SAMPLES: so many and 3 more in memory of process 7 of this
# program.
made() {
	mkdir -p "$CURRENT/{root}$1/{dep}/{anon:anon}/7.$2"
	printf '0x100 %s\n0x180 3\n' "$3" | "$TESTBIN/mkodb" \
		"$CURRENT/{root}$1/{dep}/{anon:anon}/7.$2/$E" event=118 \
		count=100000 kind=anon anon-start="${2%%.*}"
}
# hint: what is said besides warnings.
hint() {
	"$BIN/opreport" --session-dir="$SESSION" -l "$@" 2>&1 >"$TMP/out" |
		grep -v warning:
}

made /opt/other 0x10000.0x20000 4
is "nothing about a program that is not known" "$(hint)" ""
made /usr/bin/node 0x30000.0x40000 5
is "what node needs" "$(hint)" \
	"opreport: to name the code that /usr/bin/node makes at run time: start it by operf COMMAND, or run it with --perf-basic-prof"
is "not in other formats" "$(hint --format=json)" ""
made /usr/bin/luajit 0x60000.0x70000 50
is "what LuaJIT needs, as most samples are its" "$(hint)" \
	"opreport: to name the code that /usr/bin/luajit makes at run time: let its script write /tmp/perf-PID.map, as doc/jit.md shows"
rm -r "$CURRENT/{root}/usr/bin/luajit"

# What the daemon has of a perf map: the second line took the place of the first.
mkdir -p "$SESSION/images"
printf '%s\n' '30100 80 old' 'no line' '30180 10 spin' '30100 20 fib (x)' \
	'50000 10 far' >"$SESSION/images/perf-7.map"
is "nothing where it has names" "$(hint)" ""
is "these are shown" "$(sed -n 's/^\([0-9]*\) .*0x30000-0x40000) *node */\1 /p' \
	"$TMP/out")" \
	"5 fib (x)
3 spin"
printf '\377\0\n30100' >"$SESSION/images/perf-7.map"
like "a map that makes no sense names nothing" "$(hint)" "to name the code"

done_testing
