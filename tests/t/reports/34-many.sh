#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# opreport on large sessions: each binary is opened once, however many sample
# files are about it, and what a report costs has nothing to do with how many
# samples there are.
# timeout: 600
. "$(dirname "$0")/../lib.sh"

SESSION=$TMP/session
CURRENT=$SESSION/samples/current

report() {
	"$BIN/opreport" --session-dir="$SESSION" "$@"
}

# ---- 2,000 sample files over 500 images --------------------------------------

# What is opened is counted by strace, which goes together with AddressSanitizer
# but not with its leak checker.
strace_report() {
	ASAN_OPTIONS=detect_leaks=0 strace -f -qq --seccomp-bpf -e trace=open,openat \
		-o "$TMP/trace" "$BIN/opreport" --session-dir="$SESSION" "$@"
}

# opens FOLDER: how often files of it were opened, "TIMES FILES" lines.
opens() {
	grep -F "\"$TMP/$1/" "$TMP/trace" | grep -v -e ENOENT -e O_DIRECTORY | cut -d'"' -f2 |
		sort | uniq -c | awk '{ n[$1]++ } END { for (i in n) print i, n[i] }'
}

cat >"$TMP/hot.c" <<'END'
int hot(int x) { return x * 3; }
int cold(int x) { return x * 5; }
int main(int argc, char **argv) { (void)argv; return hot(argc) + cold(argc); }
END
${CC:-cc} -O0 -g -o "$TMP/one" "$TMP/hot.c" || exit 1
HOT=0x$(nm "$TMP/one" | awk '$3 == "hot" { print $1 }')
COLD=0x$(nm "$TMP/one" | awk '$3 == "cold" { print $1 }')
touch -d '2020-01-02 03:04:05 UTC' "$TMP/one"
{
	echo "$HOT 3"
	echo "$COLD 1"
} >"$TMP/pairs"
"$TESTBIN/mkodb" "$TMP/flat" cpu-type=timer mtime="$TMP/one" <"$TMP/pairs"
printf '0x%x%08x 2\n' "$HOT" "$COLD" |
	"$TESTBIN/mkodb" "$TMP/arcs" cpu-type=timer mtime="$TMP/one"

# copies FILE <names: in folders that are made for them.
copies() {
	cat >"$TMP/names"
	sed 's|/[^/]*$||' "$TMP/names" | sort -u | xargs mkdir -p
	# shellcheck disable=SC2016 # for the shell
	xargs -n 500 sh -c 'from=$0; tee "$@" <"$from" >/dev/null' "$1" \
		<"$TMP/names"
}
# names EXPRESSION...: awk's, for each image i in the folder bin.
names() {
	awk -v bin="$TMP/bin" -v to="$CURRENT/{root}/app" \
		-v file=TIMER.0.0.all.all.all \
		"BEGIN { for (i = 0; i < 500; i++) $1 }"
}
# Four applications use each image; its own code calls each of two others.
names 'print bin "/" i' | copies "$TMP/one"
names 'for (n = 1; n <= 4; n++)
	print to "/" substr("abcd", n, 1) "/{dep}/{root}" bin "/" i "/" file' |
	copies "$TMP/flat"
names 'for (n = 1; n <= 7; n += 6)
	print to "/a/{dep}/{root}" bin "/" i "/{cg}/{root}" bin "/" (i + n) % 500 \
		"/" file' | copies "$TMP/arcs"
chmod +x "$TMP/bin/"*
touch -r "$TMP/one" "$TMP/bin/"*
is "2,000 files of samples, 1,000 of calls" \
	"$(find "$CURRENT" -type f | wc -l)" 3000

is "all that is in them" "$(report -n -l | awk '{ n += $1; l++ } END { print n, l }')" "8000 4000"
if command -v strace >/dev/null; then
	ok "a report on symbols" strace_report -l -g
	is "opens each image once" "$(opens bin)" "1 500"
	is "and each sample file" "$(opens session/samples/current)" "1 2000"
	ok "a call graph" strace_report -c
	is "opens each image once, whoever calls into it" "$(opens bin)" "1 500"
	is "and each file" "$(opens session/samples/current)" "1 3000"
	ok "a summary" strace_report
	is "opens no image" "$(opens bin)" ""
else
	skip "what is opened" "no strace"
fi
like "the report says how often it opened something" \
	"$(report -c -V stats 2>&1 >/dev/null)" "sample files: 3000; images, each opened once: 500"

# ---- ten billion samples -----------------------------------------------------

# instructions ARG...: what a report executes, counted by valgrind.
instructions() {
	valgrind --tool=none --log-file="$TMP/valgrind" true >/dev/null 2>&1 &&
		valgrind --tool=callgrind --callgrind-out-file=/dev/null \
			--log-file="$TMP/valgrind" "$BIN/opreport" \
			--session-dir="$SESSION" "$@" >"$TMP/out" 2>/dev/null
	awk '/Collected/ { print $NF }' "$TMP/valgrind"
}

# samples EACH: as many at each of 10 addresses.
samples() {
	rm -rf "$SESSION"
	awk -v hot="$((HOT))" -v each="$1" 'BEGIN {
		for (i = 0; i < 10; i++)
			printf "0x%x %s\n", hot + i, each }' |
		"$TESTBIN/mkodb" \
			"$CURRENT/{root}$TMP/one/{dep}/{root}$TMP/one/TIMER.0.0.all.all.all" \
			cpu-type=timer mtime="$TMP/one"
}

if ! command -v valgrind >/dev/null; then
	skip "cost of many samples" "no valgrind"
elif nm "$BIN/opreport" | grep -q __asan_init; then
	skip "cost of many samples" "valgrind does not go together with AddressSanitizer"
else
	samples 1
	few=$(instructions -d)
	like "10 samples" "$(cat "$TMP/out")" '^[0-9a-f]+ 10 +100\.000 +hot$'
	samples 1000000000
	many=$(instructions -d)
	like "10,000,000,000 samples" "$(cat "$TMP/out")" '^[0-9a-f]+ 10000000000 +100\.000 +hot$'
	is "cost the same instructions, those for digits aside: $few, $many" \
		"$(awk -v a="$few" -v b="$many" 'BEGIN { print (a > 0 && b < a * 1.02) }')" 1
fi
done_testing
