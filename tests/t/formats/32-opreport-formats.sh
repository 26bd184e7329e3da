#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# opreport: what text options show, comparisons, intervals, the account of
# samples, and the formats for programs.
# shellcheck disable=SC1083 # the braces of comparisons
. "$(dirname "$0")/../lib.sh"

SESSION=$TMP/session

# sample SESSION NAME [OPTION...] <pairs
sample() {
	session=$1 name=$2
	shift 2
	"$TESTBIN/mkodb" "$SESSION/samples/$session/$name" "$@"
}

report() {
	"$BIN/opreport" --session-dir="$SESSION" "$@" 2>"$TMP/err"
}

# refused STATUS ERE ARG...: that status, no output, one line about it.
refused() {
	status=$1 ere=$2
	shift 2
	report "$@" >"$TMP/out"
	[ $? -eq "$status" ] && [ ! -s "$TMP/out" ] &&
		[ "$(wc -l <"$TMP/err")" -eq 1 ] && grep -Eq "$ere" "$TMP/err"
}

# json EXPRESSION ARG...: of the report as r.
json() {
	expression=$1
	shift
	report --json "$@" | python3 -c "
import json, sys
r = json.load(sys.stdin)
print($expression)"
}

# ---- a program with debug information, and a C++ one --------------------------

mkdir "$TMP/src"
cat >"$TMP/src/prog.cc" <<'END'
#include <string>
#include <vector>
extern "C" int hot(int x)
{
	return x * 3 + 1;
}
int twice(const std::vector<std::string> &v)
{
	return v.size() * 2;
}
int main(int argc, char **)
{
	return hot(argc) + twice({}) + 1;
}
END
cxx=${CXX:-g++}
$cxx -O0 -g -Wl,--build-id -o "$TMP/prog" "$TMP/src/prog.cc" || exit 1
TWICE=_Z5twiceRKSt6vectorINSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEESaIS5_EE
offset() {
	nm "$TMP/prog" | awk -v f="$1" '$3 == f { print "0x" $1 }'
}
E=CPU_CLK_UNHALTED.100000.0
P="{root}$TMP/prog"
family10() {
	sample "$@" event=118 count=100000 cpu-type=x86-64/family10 \
		"mtime=$TMP/prog"
}
printf '%s 60\n%#x 20\n%s 15\n%s 5\n' "$(offset hot)" $(($(offset hot) + 8)) \
	"$(offset $TWICE)" "$(offset main)" |
	family10 current "$P/{dep}/$P/$E.all.all.all"
addr=$(nm "$TMP/prog" | awk '$3 == "hot" { print substr($1, 9) }')

is "lines" "$(report -n -l -g -t 50)" \
	"80       80.0000  prog.cc:3                   hot"
is "with their paths" "$(report -n -l -g -f -t 50 | tr -s ' ')" \
	"80 80.0000 $TMP/src/prog.cc:3 hot"
is "lines of addresses" "$(report -n -d -g -i hot | sed 1d)" "\
  $addr 60       75.0000  prog.cc:4
  $(printf %08x $((0x$addr + 8))) 20       25.0000  prog.cc:5"
is "percentages of all" "$(report -n -d -% -i hot,main | sed -n 2p)" \
	"  $addr 60       70.5882"
is "sorted by line" "$(report -n -l -g -s debug | awk '{ print $NF }' |
	tr '\n' ' ')" "hot const&) main "
names() {
	report -n -l "$@" | sed -n 2p | cut -c 19-
}
is "demangled" "$(names)" "twice(std::vector<std::string> const&)"
is "in whole" "$(names -D normal)" \
	"twice(std::vector<std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >, std::allocator<std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> > > > const&)"
is "not at all" "$(names -D none)" "$TWICE"
is "in short" "$(names -D smart)" "twice(std::vector<std::string> const&)"
is "exports have whole names" "$(report --csv -n -l -i twice | grep -o basic_string | wc -l)" 2
whole=$(names -D normal | tr , '?')
is "chosen by the whole name" "$(report -n -l -i "$whole" | cut -c 1-2)" 15
is "and left out by it" "$(report -n -l -e "$whole" | awk '{ print $1 }' | tr '\n' ' ')" "80 5 "
is "chosen by the raw name" "$(report -n -l -i $TWICE | cut -c 1-2)" 15
is "all keys and the way back" "$(report -n -l -r \
	-s vma,sample,image,app-name,symbol,debug | awk '{ print $1 }' |
	tr '\n' ' ')" "5 15 80 "
report -l -V >/dev/null
like "verbose" "$(cat "$TMP/err")" "^opreport: sample files: 1; images, each opened once: 1"
report -l -Vbfd >/dev/null
like "verbose of one kind" "$(cat "$TMP/err")" "prog: symbols from $TMP/prog"
unlike "alone" "$(cat "$TMP/err")" "sample files"
ok "verbose of no kind" refused 2 'verbose=bogus: unknown' --verbose=bogus
for bad in "--json --xml" "--xml -a -l" "--xml --intervals" "-g" "-a" \
	"-l --global-percent" "--max-loss=-1" "-l --sort=vma,foo"; do
	# shellcheck disable=SC2086 # words
	ok "$bad" refused 2 '^opreport: --' $bad
done

# ---- where symbols and lines come from -----------------------------------------

# The program without its debug information, which lies beside it.
cp -p "$TMP/prog" "$TMP/prog.whole"
mkdir "$TMP/.debug"
objcopy --only-keep-debug "$TMP/prog" "$TMP/.debug/prog.debug"
strip "$TMP/prog"
objcopy --add-gnu-debuglink="$TMP/.debug/prog.debug" "$TMP/prog"
touch -r "$TMP/prog.whole" "$TMP/prog"
is "a separate debug file" "$(report -n -l -g -t 50)" \
	"80       80.0000  prog.cc:3                   hot"
is "no complaint" "$(cat "$TMP/err")" ""
mv "$TMP/prog.whole" "$TMP/prog"

# A kernel and a module, which know nothing of where they were loaded.
printf 'int _stext(int x)\n{\n\treturn x;\n}\nint work(int x)\n{\n\treturn x * 2;\n}\n' \
	>"$TMP/src/kernel.c"
cc=${CC:-cc}
mkdir "$TMP/kernel"
id=1122334455667788990011223344556677889900
for k in "vmlinux-6.1 0x$id" "vmlinux-6.2 0x99"; do
	$cc -O0 -g -nostdlib -static -Wl,-e,_stext -Wl,--build-id="${k#* }" \
		-Wl,-Ttext=0xffffffff81000000 -mcmodel=kernel -fno-pie -no-pie \
		-o "$TMP/kernel/${k% *}" "$TMP/src/kernel.c" 2>"$TMP/cc.err"
done
if [ -s "$TMP/kernel/vmlinux-6.1" ]; then
	work=$(nm "$TMP/kernel/vmlinux-6.1" | awk '$3 == "work" { print substr($1, 9) }')
	K='{kern}/vmlinux'
	echo "$(printf '%#x' $((0x$work - 0x81000000))) 7" | sample kern \
		"$K/{dep}/$K/$E.all.all.all" kind=kernel build-id=$id \
		event=118 count=100000
	is "the kernel of that build-id, by its own addresses" \
		"$(report -n -l -g -w -p "$TMP/kernel" session:kern)" \
		"ffffffff$work 7        100.000  kernel.c:6                  work"
else
	skip "the kernel of that build-id" "the compiler makes no such program"
fi
$cc -O0 -g -c -o "$TMP/kernel/snd-mod.ko" "$TMP/src/kernel.c" || exit 1
work=$(nm "$TMP/kernel/snd-mod.ko" | awk '$3 == "work" { print $1 }')
N='{kern}/snd_mod'
echo "0x$work 3" | sample mod "$N/{dep}/$N/$E.all.all.all" kind=module \
	event=118 count=100000
is "a module" "$(report -n -l -g -p "$TMP/kernel" session:mod)" \
	"3        100.000  kernel.c:6                  work"
is "is chosen by its file" "$(report -n -p "$TMP/kernel" session:mod \
	"image:$TMP/kernel/*")" "        3 100.000 snd-mod.ko"

# ---- the account of samples --------------------------------------------------

ok "no account to hold against" refused 1 'no account' --max-loss=1
unlike "nor in the header" "$(report)" '^Samples'
cat >"$SESSION/samples/current/ledger" <<END
source = file
taken = 108
stored = 100
pending = 0
lost.lost_overflow = 7
lost.lost_mapping = 1
lost.lost_other = 0
END
like "in the header" "$(report | "$TESTBIN/facts")" \
	'^Samples: 108 = 100 \+ 8 \(7 lost_overflow, 1 lost_mapping\)$'
is "not without" "$(report -n | wc -l)" 1
like "but then on stderr" "$(cat "$TMP/err")" '8 of 108 samples were lost'
ok "less than allowed" report --max-loss=8
ok "more than allowed" refused 1 '7.407 % of 108 samples were lost' --max-loss=7
is "in JSON" "$(json "(r['account']['taken'], r['account']['lost'],
	r['account']['causes']['lost_overflow'])")" "(108, 8, 7)"
like "in XML" "$(report -X)" '<account  source="file" taken="108" stored="100"'
is "in CSV" "$(report --csv | grep -c '^1,lost,')" 3
is "taken is stored and lost" "$(report --csv | awk -F, '
	$2 == "taken" { n += $10 }
	$2 == "stored" || $2 == "lost" || $2 == "pending" { n -= $10 }
	END { print n }')" 0
echo "taken = many" >"$SESSION/samples/current/ledger"
unlike "a damaged one" "$(report)" '^Samples'
like "is said so" "$(cat "$TMP/err")" 'how many samples were lost is not known'
rm "$SESSION/samples/current/ledger"

# ---- comparisons -------------------------------------------------------------

printf '%s 100\n%s 100\n' "$(offset hot)" "$(offset $TWICE)" |
	family10 old "$P/{dep}/$P/$E.all.all.all"
is "a comparison" "$(report -l -D smart { session:old } { session:current })" "\
CPU: AMD64 family10
Counted CPU_CLK_UNHALTED events (Cycles outside of halt state) with a unit mask of 0x00 (No unit mask) count 100000
samples  %        diff %    symbol name
80       80.0000  +60.0000  hot
15       15.0000  -70.0000  twice(std::vector<std::string> const&)
5         5.0000  +++       main"
is "the other way round" \
	"$(report -n -l -a -D smart { session:current } { session:old })" "\
100      100           50.0000  50.0000    -37.5000  hot
100      200           50.0000  100.000    +233.3333 twice(std::vector<std::string> const&)
5        ---           ---      ---        ---       main"
is "its threshold is of the change" "$(report -n -l -D smart -t 65 \
	{ session:old } { session:current } | wc -l)" 2
printf '%s 2\n%s 1\n%s 2\n' "$(offset hot)" "$(offset $TWICE)" \
	"$(offset main)" | family10 few "$P/{dep}/$P/$E.all.all.all"
printf '%s 4\n%s 1\n' "$(offset hot)" "$(offset $TWICE)" |
	family10 more "$P/{dep}/$P/$E.all.all.all"
is "a change by 100 is as wide as others" "$(report -n -l -D smart -t 50 \
	{ session:few } { session:more } | awk '$3 != "---"')" "\
4        80.0000  +100.0000 hot"
is "the later one may be as without words" \
	"$(report -n -l { session:old } {} | wc -l)" 3
is "of a profile with itself" "$(report -n -l { session:old } { session:old } |
	awk '{ print $3 }' | tr '\n' ' ')" "0 0 "
is "sorted by what grew" "$(report -n -l -D none -s diff { session:old } { session:current } |
	awk '{ print $3 }' | tr '\n' ' ')" "+++ +60.0000 -70.0000 "
is "and the other way round" "$(report -n -l -D none -s diff -r \
	{ session:old } { session:current } | awk '{ print $3 }' | tr '\n' ' ')" \
	"-70.0000 +60.0000 +++ "
ok "what is no comparison has no changes" refused 1 'sort=diff orders a comparison' \
	-l -s diff
# The same image in an application that one side alone has.
printf '%s 100\n%s 100\n' "$(offset hot)" "$(offset $TWICE)" |
	family10 before "{root}/bin/before/{dep}/$P/$E.all.all.all"
printf '%s 160\n%s 40\n' "$(offset hot)" "$(offset $TWICE)" |
	family10 after "{root}/bin/after/{dep}/$P/$E.all.all.all"
by_image() { report -n -l -D smart "$@"; }
is "of one image in two applications" \
	"$(by_image { session:before } { session:after } | awk '{ print $1, $3 }')" "\
160 +60.0000
40 -60.0000"
printf '%s 10\n' "$(offset hot)" |
	family10 after "{root}/bin/other/{dep}/$P/$E.all.all.all"
is "in two of one side, of which none is nearer" \
	"$(by_image { session:before } { session:after } | awk '/ hot/ { print $1, $3 }' |
		sort)" "\
10 +++
100 ---
160 +++"
printf '%s 7\n' "$(offset main)" |
	family10 after "{root}/bin/before/{dep}/$P/$E.all.all.all"
is "where the application is on both sides it counts" \
	"$(by_image { session:before } { session:after } | grep -c -e +++ -e ---)" 6
for bad in "{ session:old }" "{ session:old } { session:current" \
	"session:old } {" "{ } { session:old }" "{} { session:old }" \
	"{ a } b { c }" "{ { a } }" "{ a } { b } { c }"; do
	# shellcheck disable=SC2086 # words
	ok "$bad" refused 1 '\{ OLD... \} \{ NEW... \}' -l $bad
done
ok "a side without samples" refused 1 'session:none|none: no such' -l \
	{ session:none } { session:current }
ok "without symbols" refused 1 'add --symbols' { session:old } { session:old }
ok "with details" refused 1 'details' -d { session:old } { session:old }
echo '0x10 1' | sample other "$P/{dep}/$P/OTHER.1.0.all.all.all" event=1 count=1
ok "of different events" refused 1 'different events: OTHER:1 and CPU_CLK' -l \
	{ session:other } { session:current }
# CPU time is CPU time, whoever asked for it and how often.
printf '%s 30\n%s 10\n' "$(offset hot)" "$(offset main)" |
	sample of-operf "$P/{dep}/$P/TIMER.997.0.all.all.all" cpu-type=timer count=997
printf '%s 10\n%s 10\n' "$(offset hot)" "$(offset main)" |
	sample of-perf "$P/{dep}/$P/cpu-clock.1003009.0.all.all.all" count=1003009
is "of two clocks" "$(report -l { session:of-perf } { session:of-operf } |
	awk '/ (hot|main)/ { print $1, $2, $3, $NF }')" "\
30 75.0000 +50.0000 hot
10 25.0000 -50.0000 main"
like "which is said" "$(report -l { session:of-perf } { session:of-operf })" "Profiling through timer interrupt.*
The old profile counted cpu-clock:1003009, which is CPU time, too"
# With an account and one rate samples are time. The interval is that of the
# ratio of two counts, 1.2 and 0.8 times 1,000.
timed() {
	printf '%s %s\n%s %s\n%s 100\n' "$(offset hot)" "$2" "$(offset main)" "$3" \
		"$(offset $TWICE)" | sample "$1" "$P/{dep}/$P/TIMER.${4:-1000}.0.all.all.all" \
		cpu-type=timer "count=${4:-1000}"
	printf '%s\n' 'source = file' "taken = $(($2 + $3 + 100))" \
		"stored = $(($2 + $3 + 100))" 'pending = 0' >"$SESSION/samples/$1/ledger"
}
timed slow 1000 400
timed fast 700 400
timed other-rate 700 400 997
is "a comparison in time" "$(report -l { session:slow } { session:fast } | sed 2,5d)" "\
1,500 -> 1,200 samples at 1,000 a second: 1.50 -> 1.20 s of CPU, -20 % (95 %: -26 to -14 %)
change s  95% interval        sig. before   samples  %        diff %    symbol name
-0.300    -0.381..-0.219      *    1000     700      58.3333  -12.5000  hot
+0.000    -0.056..+0.056           400      400      33.3333  +25.0000  main
+0.000    -0.028..+0.028           100      100       8.3333  +25.0000  twice(std::vector<std::string> const&)"
is "the largest share first, if asked for" \
	"$(report -n -l -s sample -r { session:slow } { session:fast } | awk '{ print $4 }' |
	tr '\n' ' ')" "100 400 1000 "
unlike "at two rates it is of shares" \
	"$(report -l { session:slow } { session:other-rate })" 'change s'
is "in JSON" "$(json "[(k, r['compared'][0][k]) for k in
	('seconds_per_sample', 'old_samples', 'samples', 'percent', 'differs')]" \
	-l { session:slow } { session:fast })" \
	"[('seconds_per_sample', 0.001), ('old_samples', 1500), ('samples', 1200), ('percent', -20), ('differs', True)]"
# The gate is shut for what is slower, and for nothing else.
ok "faster passes" report -n --gate { session:slow } { session:fast }
is "and says so" "$(tail -n 1 "$TMP/err")" \
	"opreport: gate: passed: 1.50 -> 1.20 s of CPU, -20 % (95 %: -26 to -14 %)"
exits "slower does not" 1 report -n --gate=5 { session:fast } { session:slow }
is "and why" "$(tail -n 2 "$TMP/err")" "\
opreport: gate: all samples: 1.20 -> 1.50 s of CPU, +25 % (95 %: +16 to +35 %): more than +5 % beyond chance (p = 3.5e-06)
opreport: --gate: 1 of 1 counts grew by more than 5 %, beyond chance"
exits "a symbol by its name" 1 report -n --gate=10 -i hot,main { session:fast } { session:slow }
like "and no other" "$(cat "$TMP/err")" 'gate: hot: 0.70 -> 1.00 s.*
.*1 of 3 counts grew'
ok "within the bound" report -n --gate=25 { session:fast } { session:slow }
ok "of one profile" refused 1 'gate compares two profiles' --gate session:fast
exits "at two rates" 1 report --gate { session:slow } { session:other-rate }
like "is told" "$(cat "$TMP/err")" 'cannot be compared; profile both with the same'
exits "of no such symbol" 1 report --gate -i none { session:slow } { session:fast }
like "is told, too" "$(cat "$TMP/err")" 'has samples in either profile'
is "in JSON" "$(json "[(s['symbol'], s['presence'], s['samples'],
	s['old_samples']) for s in r['symbols'] if s['symbol'] == 'main']" \
	-l { session:old } { session:current })" \
	"[('main', 'new', [5], [0])]"

# ---- two source files --------------------------------------------------------

mkdir "$TMP/a" "$TMP/z"
echo 'int last(int x) { return x + 2; }' >"$TMP/a/last.cc"
echo 'int last(int); int main() { return last(1); }' >"$TMP/z/first.cc"
$cxx -O0 -g -Wl,--build-id -o "$TMP/two" "$TMP/a/last.cc" "$TMP/z/first.cc" || exit 1
for f in _Z4lasti main; do
	echo "$(nm "$TMP/two" | awk -v f=$f '$3 == f { print "0x" $1 }') 5"
done | sample two "{root}$TMP/two/{dep}/{root}$TMP/two/$E.all.all.all" \
	"mtime=$TMP/two" event=118 count=100000
is "sorted by what is shown of a file's name" "$(report -n -l -g -s debug \
	session:two | awk '{ print $3 }' | tr '\n' ' ')" "first.cc:1 last.cc:1 "
is "or by its path" "$(report -n -l -g -f -s debug session:two |
	awk '{ print $4 }' | tr '\n' ' ')" "last(int) main "

# ---- intervals ---------------------------------------------------------------

is "of shares" "$(report -l --intervals -i hot,main | sed 1,2d)" "\
samples  %        95% interval      symbol name
80       94.1176  86.9586-97.4615   hot
5         5.8824  2.5385-13.0414    main"
is "of applications" "$(report -n --intervals)" \
	"      100 100.000   96.3007-100.0000 prog"
# Computed by other means, from the score's definition.
is "of changes, with marks" "$(report -l -n -D smart --intervals \
	{ session:old } { session:current } | awk '{ print $5, $6, $7 }')" "\
+34.7155..+89.8996 * hot
-81.7227..-52.3261 * twice(std::vector<std::string>
+163.1810..+++ * main"
# A mark asks for more than an interval without zero: there are several.
printf '%s 93\n%s 93\n%s 14\n' "$(offset hot)" "$(offset $TWICE)" \
	"$(offset main)" | family10 some "$P/{dep}/$P/$E.all.all.all"
printf '%s 100\n%s 96\n%s 4\n' "$(offset hot)" "$(offset $TWICE)" \
	"$(offset main)" | family10 less "$P/{dep}/$P/$E.all.all.all"
is "marks are not for what chance may do" "$(json "[
	(s['symbol'], s['change'][0]['high'] < 0, s['change'][0]['significant'])
	for s in r['symbols'] if s['symbol'] == 'main']" \
	-l --intervals { session:some } { session:less })" \
	"[('main', True, False)]"

# ---- formats -----------------------------------------------------------------

mkdir -p "$TMP/x"
M=DATA_CACHE_MISSES.5000.0
odd='{root}/lib/a"b,<c>&'
printf '0x10 3\n' | sample current "$P/{dep}/$odd/$M.all.all.all" \
	event=65 count=5000 cpu-type=x86-64/family10
is "JSON tells its version" "$(json "(r['format'], r['version'])")" \
	"('oprofile-report', 1)"
is "and all samples" "$(json "[sum(s['samples'][c] for s in r['symbols'])
	for c in range(2)]" -l)" "[100, 3]"
is "and odd names" "$(json "[i['image'] for a in r['applications']
	for i in a['images']][1]")" '/lib/a"b,<c>&'
is "and lines" "$(json "r['symbols'][0]['line']" -l -g)" 3
is "and addresses" "$(json "[a['samples'] for a in
	r['symbols'][0]['addresses']]" -d)" "[[60, 0], [20, 0]]"
# A CSV reader that is not ours.
is "CSV has odd names, too" "$(report -l --csv | python3 -c '
import csv, sys
for row in csv.DictReader(sys.stdin):
	if row["samples"] == "3":
		print(row["version"], row["row"], row["class"], row["image"])')" \
	'1 symbol DATA_CACHE_MISSES:5000 /lib/a"b,<c>&'
is "and adds up" "$(report -d --csv | awk -F, '
	$2 == "symbol" { s += $(NF - 1) } $2 == "address" { a += $(NF - 1) }
	END { print s, a }')" "103 103"
like "XML has odd names" "$(report -X)" 'module  name="/lib/a&quot;b,&lt;c&gt;&amp;"'
if command -v xmllint >/dev/null; then
	report -X -d -g event:CPU_CLK_UNHALTED >"$TMP/xml"
	ok "XML is well-formed" xmllint --noout "$TMP/xml"
else
	skip "XML is well-formed" "no xmllint (package libxml2-utils)"
fi
is "XML has the code" "$(report -X -d event:CPU_CLK_UNHALTED -D none |
	grep -cE '^[0-9a-f]{20,}</bytes>$')" 3
report -X -s symbol >/dev/null
like "XML has an order of its own" "$(cat "$TMP/err")" 'warning: --sort'

# ---- names that would command a terminal ---------------------------------------

ESCAPES='{root}/tmp/%1b[2J%1b]0;x%07'
echo 0x10 5 | sample escapes "$ESCAPES/{dep}/$ESCAPES/CYCLES.1000.0.all.all.all"
is "text has none of their control characters" \
	"$(report -l -n session:escapes | sed 's/  */ /g')" \
	"5 100.000 /tmp/?[2J?]0;x?"
like "nor have warnings" "$(cat "$TMP/err")" \
	'warning: /tmp/\?\[2J\?\]0;x\?: no symbols'
report -l -n session:escapes -o "$TMP/file"
like "a file has the names as they are" "$(cat "$TMP/file")" \
	"/tmp/$(printf '\033')\\[2J"

# ---- the page and a browser ------------------------------------------------------

cat >"$TMP/browser" <<END
#!/bin/sh
grep -c '<html' "\$1" >"$TMP/opened.new"
echo "\$1" >>"$TMP/opened.new"
mv "$TMP/opened.new" "$TMP/opened"
END
chmod +x "$TMP/browser"
page=$(realpath "$SESSION")/report.html
BROWSER=no-such-browser:$TMP/browser report --open session:escapes >"$TMP/out"
is "--open: nothing on the standard output" "$(cat "$TMP/out")" ""
is "the place of the page is said" "$(tail -n 1 "$TMP/err")" \
	"opreport: $TMP/browser opens $page"
await file "$TMP/opened"
is "whole" "$(cat "$TMP/opened" 2>/dev/null)" "1
$page"
rm -f "$TMP/opened"
mkdir "$TMP/path"
cp "$TMP/browser" "$TMP/path/xdg-open"
(
	unset BROWSER WAYLAND_DISPLAY
	export PATH="$TMP/path:$PATH" DISPLAY=:0
	report --open --html="$TMP/own.html" session:escapes
)
await file "$TMP/opened"
is "for the file that was named" "$(tail -n 1 "$TMP/opened")" "$(realpath "$TMP")/own.html"
(
	unset BROWSER WAYLAND_DISPLAY DISPLAY
	report --open session:escapes
)
is "without a display the place is printed" "$(tail -n 1 "$TMP/err")" \
	"opreport: no browser could be started without a display; open $page"
BROWSER=no-such-browser report --open session:escapes
is "and so it is without a browser" "$(tail -n 1 "$TMP/err")" \
	"opreport: no browser could be started; open $page"
ok "no page, no browser" refused 1 'session:nothing|nothing: no such session' \
	--open session:nothing
if [ "$(id -u)" -eq 0 ]; then
	chown 1 "$SESSION"
	rm "$page"
	ln -s "$TMP/victim" "$page"
	ok "not in a folder of another user" refused 1 "another user's; .*--html=FILE" \
		--open session:escapes
	ok "whose links are not followed" test ! -e "$TMP/victim"
	chown 0 "$SESSION"
fi
done_testing
