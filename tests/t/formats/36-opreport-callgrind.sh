#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# opreport --format=callgrind, as callgrind_annotate shows it: own and inclusive
# samples of all functions are opreport's, with recursion, inlined functions,
# several events, and samples without stacks; lines are in the sources.
# timeout: 300
# shellcheck disable=SC1083 # the braces of comparisons
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../perf.sh"

command -v callgrind_annotate >/dev/null ||
	skip_all "install the Debian package valgrind"
command -v g++ >/dev/null || skip_all "install the Debian package g++"

report() {
	"$BIN/opreport" --session-dir="$SESSION" "$@" >"$TMP/report" 2>"$TMP/err"
}
# shown ARG...: what callgrind_annotate shows, from a folder that is none of the
# sources': there it would call one file by two names.
shown() {
	(cd / && callgrind_annotate --threshold=100 "$@" "$TMP/profile") \
		>"$TMP/shown" 2>"$TMP/shown.err" && not test -s "$TMP/shown.err"
}
# profile ARG...: write one.
profile() {
	report --format=callgrind -o "$TMP/profile" "$@" &&
		not grep -v 'libz.so.1: no symbols' "$TMP/err"
}
# expanded: the profile with names in place of their numbers, without folders.
expanded() {
	awk '!/^c?(ob|fl|fi|fe|fn)=[(]/ { print; next } {
		split($0, part, /[()]/)
		kind = $0 ~ /^c?ob/ ? "ob" : $0 ~ /^c?fn/ ? "fn" : "fl"
		name = $0
		sub(/^[^)]*[)] ?/, "", name)
		if (name != "")
			names[kind, part[2]] = name
		name = names[kind, part[2]]
		sub(/.*[/]/, "", name)
		print part[1] name
	}' "$TMP/profile"
}
# functions EVENTS COLUMN ARG...: "name samples" of each function with samples, as
# opreport has them (COLUMN of CSV) in wanted, as callgrind_annotate in got.
functions() {
	events=$1 column=$2
	shift 2
	report -l --csv "$@"
	python3 - "$events" "$column" "$TMP" <<'END'
import collections, csv, re, sys
events, column, tmp = int(sys.argv[1]), sys.argv[2], sys.argv[3]
wanted, got = collections.Counter(), collections.Counter()
classes = []
for row in csv.DictReader(open(tmp + "/report")):
    if row["row"] != "symbol":
        continue
    if row["class"] not in classes:
        classes.append(row["class"])
    wanted[row["symbol"], sorted(classes).index(row["class"])] += int(row[column] or 0)
apps = {line.split()[-1] for line in open(tmp + "/profile")
        if re.match(r"fn=\(\d+\) \w+$", line)} & {"prog", "recursing"}
for line in open(tmp + "/shown"):
    m = re.match(r"((?: *[0-9,]+(?: \( *[0-9.]+%\))? +)+)[^: ]*:(.*) \[[^]]*\]$", line)
    if not m or m.group(2) in apps:
        continue
    numbers = re.sub(r"\([^)]*\)", "", m.group(1)).replace(",", "").split()
    for i, number in enumerate(numbers[:events]):
        got[m.group(2), i] += int(number)
for name, counts in ("wanted", wanted), ("got", got):
    with open(f"{tmp}/{name}", "w") as out:
        for key, count in sorted(counts.items()):
            if count:
                print(*key, count, file=out)
END
	cmp "$TMP/wanted" "$TMP/got" || {
		diff "$TMP/wanted" "$TMP/got"
		return 1
	}
}

# ---- known stacks ----------------------------------------------------------------

cat >"$TMP/prog.c" <<'END'
int leaf(int x)
{
	return x + 1;
}
int busy(int x)
{
	x *= 3;
	return leaf(x) + 1;
}
int idle(int x)
{
	return leaf(x) + 2;
}
int main(int argc, char **argv)
{
	return busy(argc) + idle(argv != 0);
}
END
${CC:-cc} -g -O0 -Wl,--build-id -o "$TMP/prog" "$TMP/prog.c" || exit 1
# at FUNCTION: of its first byte in the file, which is the address in .text here.
at() {
	nm "$TMP/prog" | awk -v f="$1" '$3 == f { print "0x" $1 }' |
		while read -r start; do echo $((start)); done
}
# call CALLER CALLEE: the last byte of the call instruction.
call() {
	objdump -d --no-show-raw-insn "$TMP/prog" | awk -v from="<$1>:" -v to="<$2>" '
		/^$/ { inside = 0 }
		inside && called { sub(/:.*/, "", $1); print "0x" $1; exit }
		inside && $NF == to && /call|bl/ { called = 1 }
		$2 == from { inside = 1 }' |
		while read -r next; do echo $((next - 1)); done
}
idle=$(at idle) leaf=$(at leaf)
mb=$(call main busy) mi=$(call main idle) bl=$(call busy leaf)
il=$(call idle leaf)
P="{root}$TMP/prog" Z="{root}/lib/libz.so.1"
SESSION=$TMP/known
known=$SESSION/samples/current
# profiled_event EVENT FACTOR: busy calls itself, and through idle; 20 samples in
# leaf have no stack.
profiled_event() {
	event=$1.100.0.all.all.all n=$2
	"$TESTBIN/mktree" "$known/$P/{tree}/$event" <<-END
	image p root:$TMP/prog mtime=$TMP/prog
	image z root:/lib/libz.so.1
	image cut kern:[truncated] pseudo
	stack $((500 * n)) p+$mb p+$bl p+$leaf
	stack $((200 * n)) p+$mb p+$bl p+$bl p+$il p+$bl p+$leaf
	stack $((100 * n)) p+$mb p+$bl z+0x10
	stack $((100 * n)) p+$mi p+$idle
	stack $((80 * n)) cut+0 p+$leaf
	END
	{
		echo "$leaf $((780 * n))"
		echo "$((leaf + 4)) 20"
		echo "$idle $((100 * n))"
	} | "$TESTBIN/mkodb" "$known/$P/{dep}/$P/$event" "mtime=$TMP/prog"
	echo "0x10 $((100 * n))" |
		"$TESTBIN/mkodb" "$known/$P/{dep}/$Z/$event"
}
profiled_event CYCLES 1
ok "a profile" profile
ok "callgrind_annotate reads it" shown
is "all samples" "$(awk '/PROGRAM TOTALS/ { print $1 }' "$TMP/shown")" 1,000
ok "own samples are opreport's" functions 1 samples
is "calls, with lines and what is below them" \
	"$(expanded | sed -n '/^fn=busy/,/^$/p')" "\
fn=busy
cob=libz.so.1
cfi=???
cfn=libz.so.1
calls=100 0
8 100
cfi=prog.c
cfn=leaf
calls=700 1
8 700
cfi=prog.c
cfn=idle
calls=200 10
8 200"
ok "with what was called" shown --inclusive=yes
ok "inclusive samples are opreport's" functions 1 total
is "recursion counts once" "$(awk '/%[)].*:busy \[/ { print $1 }' "$TMP/shown")" 800
profiled_event INSTRUCTIONS 3
ok "two events" profile
ok "side by side" shown --inclusive=yes
is "their names" "$(grep ^events: "$TMP/profile")" \
	"events: CYCLES_100 INSTRUCTIONS_100"
ok "with the samples of each" functions 2 total
ok "some of them" profile -i busy
shown --inclusive=yes && ok "are opreport's" functions 2 total -i busy
ok "a threshold" profile -t 20 event:CYCLES
shown --inclusive=yes &&
	ok "leaves the sums as they are" grep -q '^1,000 (100.0%)  PROGRAM' "$TMP/shown"
ok "addresses" profile -d event:CYCLES
is "of instructions, too" "$(grep -c "^0x$(printf %x $((leaf + 4))) [0-9]* 20\$" \
	"$TMP/profile")" 1
is "and of calls" "$(grep -c "^0x$(printf %x "$bl") 8 700\$" "$TMP/profile")" 1
shown --inclusive=yes && ok "with the same sums" functions 1 total event:CYCLES
rm -r "$known/$P/{tree}"
ok "without stacks" profile event:CYCLES
shown && ok "there are own samples" functions 1 samples event:CYCLES
unlike "and no calls" "$(cat "$TMP/profile")" '^calls='

# ---- what is refused ---------------------------------------------------------------

exits "no comparisons" 1 report --format=callgrind { cpu:1 } {}
is "in one line" "$(cat "$TMP/err")" \
	"opreport: --format=callgrind does not show comparisons; write each profile by itself, or use another format"
for option in --callgraph --lines --no-header --intervals --accumulated; do
	exits "$option" 2 report --format=callgrind $option
done

# ---- a program that runs ------------------------------------------------------------

if ! "$TESTBIN/canperf" own 2>/dev/null; then
	skip "a program that runs" "no perf events for this user"
	done_testing
fi
cat >"$TMP/recursing.cc" <<'END'
#define ALONE __attribute__((noinline, noclone, noipa))
#define INLINED static inline __attribute__((always_inline))
static volatile unsigned long sink;
INLINED unsigned long mix(unsigned long x)
{
	for (int i = 0; i < 300; i++)
		x = x * 6364136223846793005ul + 1442695040888963407ul;
	return x;
}
INLINED unsigned long twice(unsigned long x)
{
	return mix(x) ^ mix(x + 1);
}
ALONE void leaf() { sink += twice(sink); }
ALONE void even(int n);
ALONE void odd(int n) { leaf(); if (n) even(n - 1); sink += mix(n); }
ALONE void even(int n) { if (n) odd(n - 1); leaf(); sink++; }
ALONE void self(int n) { sink += mix(n); if (n > 0) self(n - 1); sink++; }
int main()
{
	for (int i = 0; i < 60000; i++) {
		even(5);
		self(4);
	}
}
END
SESSION=$TMP/session RATE=2000
mkdir -p "$TMP/work" && cd "$TMP/work" || exit 1
g++ -O2 -g -o recursing ../recursing.cc || exit 1
profiled "recursion" --callgraph=64 ./recursing
ok "its profile" profile
ok "with its sources" shown --auto=yes
like "which have the samples of lines" "$(cat "$TMP/shown")" \
	'^ *[0-9,]+ \([0-9. ]+%\)  	*x = x [*] 6364136223846793005ul'
ok "own samples of all functions" functions 1 samples
shown --inclusive=yes && ok "inclusive ones" functions 1 total
done_testing
