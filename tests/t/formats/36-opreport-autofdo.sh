#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# opreport --format=autofdo: functions, lines and discriminators are what
# llvm-symbolizer tells of each address; llvm-profdata reads the profile, its
# totals are opreport's; clang takes it and lays the branch out first that has
# the samples.
# timeout: 300
# shellcheck disable=SC1083,SC2120 # the braces of comparisons; arguments by ok
. "$(dirname "$0")/../lib.sh"
cd "$TMP" || exit 1

command -v clang++ >/dev/null || skip_all "install the Debian package clang"
command -v g++ >/dev/null || skip_all "install the Debian package g++"
# tool NAME: as Debian calls it, with the version behind the name or without.
tool() {
	command -v "$1" || find /usr/bin -name "$1-[0-9]*" | sort | tail -n 1
}
profdata=$(tool llvm-profdata)
symbolizer=$(tool llvm-symbolizer)
if [ -z "$profdata" ] || [ -z "$symbolizer" ]; then
	skip_all "install the Debian package llvm"
fi
SESSION=$TMP/session
report() {
	"$BIN/opreport" --session-dir="$SESSION" "$@" >"$TMP/report" 2>"$TMP/err"
}
profile() {
	report --format=autofdo -o "$TMP/profile" "$@"
}
# total ARG...: of all functions, in a table of symbols.
total() {
	report -l --csv --no-inlines "$@"
	python3 -c 'import csv, sys
print(sum(int(r["samples"]) for r in csv.DictReader(open(sys.argv[1]))
    if r["row"] == "symbol" and r["symbol"] != "(no symbols)"))' "$TMP/report"
}
# shown: the sum of the totals of functions, as llvm-profdata has them.
shown() {
	"$profdata" show --sample "$TMP/profile" >"$TMP/shown" || return
	awk '/^Function: / { sub(/^[^:]*: [^:]*: /, ""); n += $1 } END { print n }' \
		"$TMP/shown"
}

# ---- against llvm-symbolizer ------------------------------------------------------

# sampled PROGRAM STEP: samples at each STEPth address of its functions, 1, 2, 3
# and so on; in .text addresses are places in the file here.
sampled() {
	rm -rf "$SESSION"
	nm -S "$1" | python3 -c 'import sys
n = 0
for line in sys.stdin:
    f = line.split()
    if len(f) == 4 and f[2] in "tTwW" and not f[3].startswith("_") or "main" in f[3:]:
        start, size = int(f[0], 16), int(f[1], 16)
        for at in range(start, start + size, int(sys.argv[1])):
            n = n % 9 + 1
            print(at, n)' "$2" >code
	P="{root}$TMP/$1"
	"$TESTBIN/mkodb" "$SESSION/samples/current/$P/{dep}/$P/TIMER.0.0.all.all.all" \
		timer-hz=1000 "mtime=$TMP/$1" <code
}
# flat: each line of the profile as FUNCTION OFFSET.DISCRIMINATOR ... SAMPLES.
flat() {
	python3 -c 'import sys
path = []
for line in open(sys.argv[1]):
    level = len(line) - len(line.lstrip())
    del path[level:]
    if not level:
        path.append(line.rsplit(":", 2)[0])
        continue
    place, rest = line.strip().split(": ")
    place += "" if "." in place else ".0"
    if ":" in rest:
        path.append(place + " " + rest.rsplit(":", 1)[0])
    else:
        print(*path, place, rest)' "$TMP/profile" | sort
}
# wanted PROGRAM: the same of its samples, by llvm-symbolizer.
wanted() {
	python3 - "$1" "$symbolizer" <<'END'
import collections, json, subprocess, sys
hits = [line.split() for line in open("code")]
out = subprocess.run([sys.argv[2], "--obj=" + sys.argv[1], "--no-demangle",
                      "--output-style=JSON"], capture_output=True, text=True,
                     input="".join(hex(int(at)) + "\n" for at, _ in hits)).stdout
def base(d):
    if d & 1:
        return 0
    d >>= 1
    return (d >> 1 & 0xfe0) | (d & 0x1f) if d & 0x20 else d & 0x1f
lines = collections.Counter()
for line, (at, count) in zip(out.splitlines(), hits):
    frames = json.loads(line)["Symbol"][::-1]
    if all(f["Line"] and f["StartLine"] for f in frames):
        lines[" ".join(f"{f['FunctionName']} {(f['Line'] - f['StartLine']) & 0xffff}.{base(f['Discriminator'])}"
                       for f in frames)] += int(count)
print("\n".join(sorted(f"{k} {v}" for k, v in lines.items())))
END
}
for how in "-gdwarf-5 -fdebug-info-for-profiling" "-gdwarf-4"; do
	# shellcheck disable=SC2086 # several options
	clang++ -O2 $how -Wl,--build-id -o many "$TOP/tests/t/many.cc" || exit 1
	sampled many 2
	ok "clang++ $how" profile
	flat >got
	wanted many | LC_ALL=C sort >want
	LC_ALL=C sort -o got got
	ok "$(wc -l <got) lines as llvm-symbolizer has them" cmp want got
	diff want got | head -n 5 >differing
	diag "$(cat differing)"
	ok "these are many" [ "$(wc -l <got)" -gt 100 ]
	is "totals" "$(shown)" "$(total)"
	is "which are all samples" "$(shown)" "$(awk '{ n += $2 } END { print n }' code)"
done
clang++ -O2 -g -fdebug-info-for-profiling -o many "$TOP/tests/t/many.cc" && sampled many 2 &&
	profile
ok "there are discriminators" [ "$(grep -c '^ *[0-9]*\.[0-9]*: ' profile)" -gt 5 ]
ok "to be had by others, too" "$profdata" merge --sample -o binary profile
is "that have the same totals" "$(cp binary profile && shown)" "$(total)"

# ---- several images, columns, names -------------------------------------------------

cat >prog.c <<'END'
__attribute__((noinline)) int twin(int x)
{
	return x + 1;
}
int main(int argc, char **argv)
{
	return twin(argc) + (argv != 0);
}
END
rm -rf "$SESSION"
for name in one two; do
	clang -g -O0 -Wl,--build-id -o $name prog.c || exit 1
	twin=$(nm $name | awk '$3 == "twin" { print "0x" $1 }')
	P="{root}$TMP/$name"
	for tid in 7 8; do
		printf '%d 5\n%d 3\n' "$twin" $((twin + 7)) | "$TESTBIN/mkodb" \
			"$SESSION/samples/current/$P/{dep}/$P/CYCLES.100.0.7.$tid.all" \
			"mtime=$TMP/$name"
	done
	echo "10 4" | "$TESTBIN/mkodb" \
		"$SESSION/samples/current/$P/{dep}/{root}/lib/nameless.so/CYCLES.100.0.7.7.all"
done
ok "two programs, two threads" profile
is "are one function" "$(cat profile)" "\
twin:32:20
 1: 20
 2: 12"
is "with the total of both" "$(shown)" "$(total -i twin)"
ok "one of them" profile "image:$TMP/one"
is "has half of it" "$(shown)" 16
ok "without it" profile -e twin
is "there is none" "$(cat profile)" ""
printf '%d 5\n' "$twin" | "$TESTBIN/mkodb" \
	"$SESSION/samples/current/$P/{dep}/$P/INSNS.100.0.7.7.all" "mtime=$TMP/two"
exits "two events" 1 profile
like "are told" "$(cat err)" \
	'^opreport: lines of this format have one count, but there are 2 .*; choose with event:CYCLES or the like$'
ok "one event" profile event:INSNS
is "has its samples" "$(cat profile)" "\
twin:5:5
 1: 5"
exits "no comparisons" 1 report --format=autofdo { cpu:1 } {}
is "in one line" "$(cat err)" \
	"opreport: --format=autofdo does not show comparisons; write each profile by itself, or use another format"
for option in --details --callgraph --lines --no-header --tree; do
	exits "$option" 2 report --format=autofdo $option
done

# ---- a compiler that takes it --------------------------------------------------------

cat >hot.c <<'END'
volatile unsigned long divisor = 3;
static unsigned long step(unsigned long x, long i)
{
	if ((x >> 7) % 1000 < 7) {
		x = x * 31 + (unsigned long)i;
		x ^= x >> 3;
		x += divisor;
	} else {
		x = (x ^ x >> 7) * 6364136223846793005ul;
		x += x / divisor;
		x ^= x % divisor;
	}
	return x;
}
int main(int argc, char **argv)
{
	unsigned long x = (unsigned long)argc;

	for (long i = 0; i < 1000 * argc; i++)
		x = step(x, i);
	return (int)(x & 1) + (argv == 0);
}
END
clang -O2 -g -fdebug-info-for-profiling -Wl,--build-id -o hot hot.c || exit 1
# order: the branches in the order of their code, by the lines that they have.
order() {
	objdump -d --no-show-raw-insn "$1" | awk '/<main>:$/ { on = 1; next }
		/^$/ { on = 0 } on { sub(/:/, "", $1); print "0x" $1 }' |
		addr2line -e "$1" | sed -n 's/.*hot\.c:\([0-9]*\).*/\1/p' |
		awk '$1 >= 5 && $1 <= 7 && !rare++ { print "rare" }
			$1 >= 9 && $1 <= 11 && !hot++ { print "hot" }' | tr '\n' ' '
}
is "without a profile the rare branch is first" "$(order hot)" "rare hot "
# As many samples as instructions of the branch that is run most.
rm -rf "$SESSION"
P="{root}$TMP/hot"
objdump -d --no-show-raw-insn hot | awk '/<main>:$/ { on = 1; next }
	/^$/ { on = 0 } on { sub(/:/, "", $1); print "0x" $1 }' >addresses
addr2line -a -e hot <addresses | paste -d ' ' - - |
	sed 's/ .*hot\.c:\([0-9]*\).*/ \1/' | while read -r at line; do
	case $line in
	9 | 10 | 11) echo "$((at)) 100" ;;
	4) echo "$((at)) 20" ;;
	5 | 6 | 7) echo "$((at)) 1" ;;
	esac
done | "$TESTBIN/mkodb" \
	"$SESSION/samples/current/$P/{dep}/$P/TIMER.0.0.all.all.all" \
	timer-hz=1000 "mtime=$TMP/hot"
ok "a profile of it" profile
is "its total" "$(shown)" "$(total)"
ok "clang takes it without a warning" sh -c \
	'clang -O2 -g -Wall -Wextra -fprofile-sample-use=profile -o again hot.c 2>cc.err &&
		! grep . cc.err'
is "and has the branch with the samples first" "$(order again)" "hot rare "
done_testing
