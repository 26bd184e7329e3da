#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# opreport --html: what is in the page, that its figures are those of the text,
# and in a browser what a reader sees of it: the table, the flame graph, code,
# filters, comparisons, keys. Pictures of the pages are left in $O/pictures.
# timeout: 600
# shellcheck disable=SC1083 # the braces of comparisons
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../viewers.sh"
. "$(dirname "$0")/../browser.sh"

PICTURES=$O/pictures
mkdir -p "$PICTURES"

sample() {
	session=$1 name=$2
	shift 2
	"$TESTBIN/mkodb" "$SESSION/samples/$session/$name" "$@"
}

tree() {
	session=$1 name=$2
	shift 2
	"$TESTBIN/mktree" "$SESSION/samples/$session/$name" "$@"
}

report() {
	"$BIN/opreport" --session-dir="$SESSION" "$@"
}

# page FILE ARG...: a page there.
page() {
	file=$1
	shift
	report --html="$TMP/$file" "$@" 2>"$TMP/err"
}

# data FILE EXPRESSION: of the data in the page as d; texts are in t.
data() {
	python3 - "$TMP/$1" "$2" <<'END'
import json, re, sys
text = open(sys.argv[1], encoding="utf-8").read()
d = json.loads(re.search(r'id="data">(.*?)</script>', text, re.S).group(1))
t = d["texts"]
print(eval(sys.argv[2]))
END
}

# ---- a profile -------------------------------------------------------------------

mkdir "$TMP/src"
cat >"$TMP/src/prog.c" <<'END'
int leaf(int x)
{
	return x + 1; /* </script><script>alert(1)</script> */
}
int busy(int x) { return leaf(x) + 1; }
int idle(int x) { return leaf(x) + 2; }
int main(int argc, char **argv) { return busy(argc) + idle(argv != 0); }
END
cc=${CC:-cc}
$cc -O0 -g -Wl,--build-id -o "$TMP/prog" "$TMP/src/prog.c" || exit 1
at() {
	nm "$TMP/prog" | awk -v f="$1" '$3 == f { print "0x" $1 }' |
		while read -r start; do echo $((start + 3)); done
}
main=$(at main) busy=$(at busy) idle=$(at idle) leaf=$(at leaf)
# As it is, and as the names of sample files have it.
ODD="/lib/</script><b>&\"'x\\.$(printf '\001\377').so"
ODD_SHOWN="/lib/</script><b>&\"'x\\.$(printf '\001')�.so"
WRITTEN="/lib/</script><b>&\"'x\\.%01%ff.so"
images() {
	cat <<-END
		image p root:$TMP/prog mtime=$TMP/prog
		image z root:/lib/libz.so.1
		image odd root:$ODD
	END
}
# profile SESSION EVENT IDS BUSY IDLE: with 95 samples elsewhere.
profile() {
	{
		images
		cat <<-END
		stack $4 p+$main p+$busy p+$leaf
		stack $5 p+$main p+$idle p+$leaf
		stack 60 p+$main p+$busy
		stack 30 p+$main p+$busy z+0x10
		stack 5 p+$main odd+1
		END
	} | tree "$1" "$P/{tree}/$2.$3" timer-hz=1000
	{
		echo "$leaf $(($4 + $5))"
		echo "$busy 60"
	} | sample "$1" "$P/{dep}/$P/$2.$3" timer-hz=1000 "mtime=$TMP/prog"
	echo "0x10 30" | sample "$1" "$P/{dep}/$Z/$2.$3" timer-hz=1000
	echo "1 5" | sample "$1" "$P/{dep}/{root}$WRITTEN/$2.$3" timer-hz=1000
}
profile current TIMER.0.0 all.all.all 700 205
write_account

# ---- the page ---------------------------------------------------------------------

ok "a page" page one.html
is "nothing from elsewhere" "$(sed '/id="data"/,/^}<.script>/d' "$TMP/one.html" |
	grep -Eo '(src|href|url)[=(][^ >]*')" 'href="data:,"'
is "the data end where they do" "$(grep -c '</script' "$TMP/one.html")" 2
touch -d 2026-01-02T03:04:05Z "$SESSION/samples/current/ledger"
page one.html
is "when it was stored" "$(data one.html 'd["account_written"]')" 1767323045
is "the account" "$(data one.html 'd["account"]["taken"], d["account"]["causes"]')" \
	"(1012, {'lost_overflow': 12})"
is "what is not UTF-8 is told so" "$(data one.html '[x for x in t if "<b>" in x]')" \
	"['/lib/</script><b>&\"\\'x\\\\.\\x01�.so']"
ok "the same page again" page again.html
is "is the same" "$(sed 's/again.html/one.html/' "$TMP/again.html" | cksum)" \
	"$(cksum <"$TMP/one.html")"
is "instructions" "$(data one.html \
	'[c["place"][1] for c in d["code"]["symbols"] if t[c["name"]] == "leaf"]')" '[2]'
is "and sources" "$(data one.html \
	'[f[2][0:4] for f in d["code"]["files"]]')" \
	"[[1, 'int leaf(int x)', '{', '\\treturn x + 1; /* </script><script>alert(1)</script> */']]"

like "not to a terminal" "$(python3 -c 'import os, pty, sys
print(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))' \
	"$BIN/opreport" --session-dir="$SESSION" --format=html </dev/null |
	tr -d '\r' | tr '\n' ' ')" '^opreport: .*with --output-file=FILE 2 $'
exits "a page that cannot be written" 1 page none/one.html
like "is told" "$(cat "$TMP/err")" "none/one.html: cannot be written: No such file"

# A source that is elsewhere now.
mv "$TMP/src" "$TMP/moved"
page lost.html
like "a source that is missing is told" "$(cat "$TMP/err")" \
	'src/prog.c: cannot be read: No such file or directory; give its folder with --search-dirs'
is "in the page" "$(data lost.html '[f[1] for f in d["code"]["files"]], len(d["code_warnings"])')" \
	"([True], 1)"
page found.html --search-dirs="$TMP/moved" --base-dirs="$TMP/src"
is "it is found where it is" "$(data found.html '[f[1] for f in d["code"]["files"]]')" '[False]'
mv "$TMP/moved" "$TMP/src"

# Threads, events, several applications, comparisons.
profile threads TIMER.0.0 50.50.all 300 5
profile threads TIMER.0.0 50.51.all 20 405
profile threads TIMER.0.0 60.60.all 1 1
ok "threads" page threads.html session:threads
is "stacks of each" "$(data threads.html '[f[:1] + f[3:] for f in d["tree"]["frames"] if len(f) > 3]')" \
	"[['prog-50/50', 50, 50], ['prog-50/51', 50, 51], ['prog-60/60', 60, 60]]"
# Too many threads are added up.
for i in $(seq 251); do
	echo "$leaf 2" | sample crowd "$P/{dep}/$P/TIMER.0.0.7.$i.all" \
		timer-hz=1000 "mtime=$TMP/prog"
done
ok "many threads" page crowd.html session:crowd
is "are told" "$(grep columns "$TMP/err")" "opreport: warning: 251 columns of \
samples are too many for a page, so threads are added up; choose some with tid: or tgid:"
is "and added up" "$(data crowd.html 'len(d["classes"]), d["totals"]')" "(1, [502])"
ok "fewer" page crowd.html session:crowd tid:1,2,3
is "are kept apart" "$(data crowd.html 'len(d["classes"]), d["totals"]')" "(3, [2, 2, 2])"
# Names, and cgroups: two of one name, and one that nobody could tell.
in_cgroup() {
	printf '%s\n' "$leaf $3" "$busy 5" | sample names "$P/$1/{dep}/$P/TIMER.0.0.$2.all" \
		timer-hz=1000 "mtime=$TMP/prog"
}
redis="{cgroup}/system.slice/redis-server.service"
in_cgroup "$redis" 4100.4100 55
in_cgroup "$redis" 4100.4103 300
in_cgroup "$redis" 4100.4104 35
in_cgroup "{cgroup}/other.slice/redis-server.service" 4200.4200 95
in_cgroup "{no-cgroup}" 4300.4300 15
printf '%s\n' 'stack 300 p+'"$main"' p+'"$leaf" | { images; cat; } |
	tree names "$P/$redis/{tree}/TIMER.0.0.4100.4103.all" timer-hz=1000
cat >"$SESSION/samples/names/tasks" <<'END'
name.4100.4100 = redis-server
name.4100.4103 = bio_aof
END
ok "names" page names.html session:names
is "cgroups are no events" "$(data names.html '[e["name"] for e in d["events"]], d["class_event"]')" \
	"(['TIMER:0'], [0, 0, 0, 0, 0])"
profile cpus TIMER.0.0 all.all.0 1 2
profile cpus TIMER.0.0 all.all.1 3 4
ok "CPUs" page cpus.html session:cpus
profile events CPU.100000.0 all.all.all 10 90
profile events MISS.5000.0 all.all.all 900 0
echo "0x20 77" | sample events "{root}/bin/other/{dep}/$Z/CPU.100000.0.all.all.all"
echo "0x20 7" | sample events "{root}/bin/other/{dep}/$Z/MISS.5000.0.all.all.all"
ok "two events" page events.html session:events
profile later TIMER.0.0 all.all.all 300 600
ok "a comparison" page diff.html { session:current } { session:later }

# At one rate samples are time.
timed() {
	profile "$1" TIMER.1000.0 all.all.all "$2" "$3"
	printf '%s\n' 'source = file' 'taken = 2000' 'stored = 2000' 'pending = 0' \
		>"$SESSION/samples/$1/ledger"
}
timed slow 900 5
timed fast 400 5
ok "a comparison in time" page timed.html { session:slow } { session:fast }

# Names as templates have them.
long=$(awk 'BEGIN { for (i = 0; i < 20; i++) printf "std::map<k%02d,v>::", i }')
{
	echo "image p root:$TMP/prog mtime=$TMP/prog"
	for i in $(seq 10 39); do
		echo "image j$i anon=43.7f00000${i}000.7f00000${i}fff:${long}fn_$i"
		echo "stack $((i * 3)) p+$main j$i+0x10"
		echo "stack $i p+$main p+$busy j$i+0x20 p+$leaf"
	done
} | tree templates "$P/{tree}/TIMER.0.0.all.all.all" timer-hz=1000
echo "$leaf 2940" | sample templates "$P/{dep}/$P/TIMER.0.0.all.all.all" \
	timer-hz=1000 "mtime=$TMP/prog"
ok "long names" page templates.html session:templates

# Names that are short unless they are asked for in whole.
push=_ZNSt6vectorINSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEESaIS5_EE9push_backERKS5_
printf '.text\n.globl %s\n.type %s,@function\n%s: .skip 16\n.size %s,16\n' \
	$push $push $push $push >"$TMP/push.s"
$cc -nostdlib -shared -Wl,--build-id -o "$TMP/push.so" "$TMP/push.s" || exit 1
push_at=$((0x$(nm "$TMP/push.so" | awk '/push_back/ { print $1 }')))
echo "$push_at 40" | sample push "$P/{dep}/{root}$TMP/push.so/TIMER.0.0.all.all.all" \
	timer-hz=1000 "mtime=$TMP/push.so"
printf '%s\n' "image l root:$TMP/push.so mtime=$TMP/push.so" "stack 40 l+$push_at" |
	tree push "$P/{tree}/TIMER.0.0.all.all.all" timer-hz=1000
ok "short names" page push.html session:push
ok "as a picture" report --format=flamegraph -o "$TMP/push-flames.html" session:push
is "the whole ones are there" "$(data push.html 'd["whole_names"][0], len(d["whole_names"])')" \
	"('std::vector<std::string>::push_back(std::string const&)', 2)"
page normal.html session:push -D normal
is "or there are no others" "$(data normal.html '"whole_names" in d')" False

# 50,000 functions without stacks.
awk 'BEGIN {
	print ".text"
	for (i = 0; i < 50000; i++) {
		f = sprintf("_ZN4many%d%s%dEv", 4 + length(i), "fn__", i)
		printf ".type %s,@function\n%s: .long 0\n.size %s,.-%s\n", f, f, f, f
	}
}' >"$TMP/many.s"
$cc -nostdlib -shared -Wl,--build-id -o "$TMP/many.so" "$TMP/many.s" || exit 1
nm "$TMP/many.so" | awk '/fn__/ { print "0x" $1, NR % 977 + 1 }' |
	sample many "$P/{dep}/{root}$TMP/many.so/TIMER.0.0.all.all.all" \
	timer-hz=1000 "mtime=$TMP/many.so"
ok "50,000 symbols" page many.html session:many
is "are there" "$(data many.html 'len(d["symbols"]["name"])')" 50000

# Names of 27 MB, which is too much for a page.
awk 'BEGIN {
	long = sprintf("%450s", "")
	gsub(/ /, "n", long)
	for (i = 0; i < 30000; i++)
		printf "prog;main;f_%d_%s %d\n", i, long, i == 7 ? 9000 : i % 5 + 1
}' >"$TMP/large.folded"
"$BIN/opimport" -o "$TMP/large" "$TMP/large.folded" 2>"$TMP/err" || exit 1
ok "a large session" page large.html --session-dir="$TMP/large"
is "is a page below 20 MB" "$(find "$TMP/large.html" -size -20000000c -size +15000000c)" \
	"$TMP/large.html"
is "which is said" "$(sed -E 's/ [0-9.]+ / N /g' "$TMP/err")" "opreport: warning: N symbols with at most N \
% of the samples each and N frames of the flame graph are left out, so that the page stays below N MB; \
--threshold=0 writes all"
is "and in the page" "opreport: warning: $(data large.html 'd["warnings"][0]')" "$(cat "$TMP/err")"
is "the hottest symbols are there, and those that call them" "$(data large.html \
	'sorted(t[n][:4] for n in d["symbols"]["name"] if t[n] == "main" or t[n].startswith("f_7_"))')" \
	"['f_7_', 'main']"
is "shares are of all samples" "$(data large.html \
	'd["symbol_totals"], sum(d["tree"]["nodes"][2::3])')" "([98997], 98997)"
ok "all of it, if asked for" page large.html --session-dir="$TMP/large" --threshold=0
is "is there" "$(wc -l <"$TMP/err") $(data large.html 'len(d["symbols"]["name"])')" "0 30001"
rm "$TMP/large.html"

# ---- in a browser ------------------------------------------------------------------

if ! browser_start; then
	skip "in a browser" "chromium: not found; utils/install-deps check"
	done_testing
fi

# What the table has of each symbol, and what the text has: samples, share, share
# with callees, name.
TABLE='[...order].map(i => [counts.self[i], (100 * counts.self[i] / totals.self).toFixed(4), (100 * counts.all[i] / totals.all).toFixed(4), nameAt(i)].join(" ")).sort().join("\n")'
table() {
	report -l --json "$@" 2>/dev/null | python3 -c '
import json, sys
print("\n".join(sorted("%d %.4f %.4f %s" % (s["samples"][0], s["percent"][0],
      s["total_percent"][0], s["symbol"]) for s in json.load(sys.stdin)["symbols"])))'
}
# What the reader sees of the first rows.
ROWS='[...document.querySelectorAll(".row")].slice(0, 4).map(r => [...r.children].map(c => c.firstChild ? c.firstChild.nodeValue : "").join("|")).join("\n")'

# The table of a page and what else tells counts, each a line.
PART='document.querySelector("#part").innerText.split(/\n+/).join("|")'

is "the page as it opens" "$(drive <<END
size 1280 800
open file://$TMP/one.html
text #title
text #about
print $ROWS
print [...document.querySelectorAll("#heads button")].map(b => b.textContent).join()
text #chosen h2
print document.querySelector(".figures").innerText.split(/\n+/).join("|")
print $PART
shot $PICTURES/html.png
errors
requests
END
)" "\
Profile: prog
CPU with timer interrupt · TIMER:0 · 1,000 samples · 1.19 % lost
90.50|905|88.52–92.17|90.50|leaf|prog
6.00|60|4.69–7.65|79.00|busy|prog
3.00|30|2.11–4.25|3.00|/lib/libz.so.1|libz.so.1
0.50|5|0.21–1.17|0.50|$ODD_SHOWN|${ODD_SHOWN#/lib/</}
Self % ↓,Samples,95 % interval,Total %,Symbol,Image
leaf
90.50 % itself|905 samples, 88.52–92.17 %|90.50 % with callees|905 samples, 88.52–92.17 %
905 samples have it on the stack:|Callers|77.35|700|busy|22.65|205|idle|Callees|100|905|(its own code)"

is "figures are those of the text" "$(drive <<END
print $TABLE
END
)" "$(table)"
is "intervals, too" "$(drive <<END
print intervalOf(60, 1000).map(p => p.toFixed(4)).join("-")
END
)" "$(report -l --intervals 2>/dev/null | awk '$1 == 60 { print $3 }')"

# A name is as short as its place asks for, but the method is always there.
NAME='document.querySelector(".row .name").firstChild.nodeValue'
FIT='(name, ...widths) => widths.map(n => fitName(name, t => t.length <= n)).join("|")'
is "names that fit" "$(drive <<END
size 1280 800
open file://$TMP/push.html
print $NAME
size 400 800
print new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(1))))
print document.querySelector(".row .name").scrollWidth <= document.querySelector(".row .name").clientWidth
print $NAME
size 1280 800
key /
write cxx11
text #found
key Escape
key m
print location.hash
text #chosen h2
key 2
print names.shown(graph.nameOf(graph.nr - 1)).length
open file://$TMP/push.html#names=full
print names.isWhole
click #names
print names.isWhole
open file://$TMP/push-flames.html#names=full
print names.isWhole
key m
print names.isWhole
print ($FIT)("a::box<int, long>::operator<<(char const*) const", 24, 38, 80)
print ($FIT)("plain_name", 4, 10)
errors
open file://$TMP/one.html
END
)" "\
std::vector<…>::push_back(…)
1
True
std::vector<…>::push_back(…)
1 of 1
#names=full&symbol=0
std::vector<std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >, std::allocator<std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> > > >::push_back(std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> > const&)
290
True
False
True
False
a:…::operator<<(…) const|a::box<…>::operator<<(…) const|a::box<int, long>::operator<<(char const*) const
pla…|plain_name"

is "a comparison in time, seen" "$(drive <<END
open file://$TMP/timed.html
text #about
print [...document.querySelectorAll("#heads button")].map(b => b.textContent).slice(0, 3).join()
print $ROWS.split("\n")[0]
key 2
text #legend
find leaf
text #details
errors
open file://$TMP/one.html
END
)" "\
1,000 -> 500 samples at 1,000 a second: 1.00 -> 0.50 s of CPU, -50 % (95 %: -55 to -44 %)
Change, s ↓,95 % interval,Self %
-0.500 *|-0.572 … -0.429|81.00|405|90.50|-10.5 % *|leaf|prog
more time than beforeless timeno change beyond chance
found leaf
leaf — 400 samples, 80.00 %; 0.90 s → 0.40 s; application: $TMP/prog"

is "sort" "$(drive <<END
click [data-sort="name"]
print [...order].map(nameAt).filter(n => n[0] !== "/").join()
print document.querySelector('[aria-sort]').textContent, document.querySelector('[aria-sort]').getAttribute("aria-sort")
click [data-sort="name"]
print [...order].map(nameAt).filter(n => n[0] !== "/").join()
click [data-sort="total"]
print [...order].map(nameAt).filter(n => n[0] !== "/").join()
print location.hash
click [data-sort="samples"]
errors
END
)" "\
busy,idle,leaf,main
ascending
main,leaf,idle,busy
main,leaf,busy,idle
#sort=total&symbol=0"

is "search, with keys" "$(drive <<END
key /
write LEAF
text #found
text .empty
key Escape
text #found
key /
write ^(idle|busy)$
text #found
print $ROWS
key Enter
text #chosen h2
print document.activeElement.id
key ArrowDown
text #chosen h2
key ArrowDown
text #chosen h2
key Escape
key /
write libz
print [...order].map(nameAt).join()
key Escape
key /
write a(b
text #found
key Escape
key Home
key Enter
print document.activeElement.id
key ?
print document.getElementById("help").open
shot $PICTURES/html-keys.png
key Escape
print document.getElementById("help").open
errors
END
)" "\
0 of 6
No symbol is found. Escape ends the search.

2 of 6
6.00|60|4.69–7.65|79.00|busy|prog
0|0|0.00–0.38|20.50|idle|prog
busy
table
idle
idle
/lib/libz.so.1
0 of 6
part
True
False"

is "callers and callees" "$(drive <<END
open file://$TMP/one.html
print show({ symbol: [...symbols.name.keys()].find(i => nameAt(i) === "busy") })
print $PART
click .call:nth-of-type(1)
text #chosen h2
print show({ symbol: [...symbols.name.keys()].find(i => nameAt(i).endsWith("libz.so.1")) })
print $PART
key f
text #zoomed
print state.view
key o
text #chosen h2
errors
END
)" "\
None
790 samples have it on the stack:|Callers|100|790|main|Callees|7.59|60|(its own code)|88.61|700|leaf|3.80|30|[libz.so.1]
main
None
30 samples have it on the stack:|Callers|100|30|busy|Callees|100|30|(its own code)
zoomed: [libz.so.1]
graph
/lib/libz.so.1"

# The table is wider than what the text begins with.
is "source and assembly" "$(drive <<END
open file://$TMP/one.html
key s
print [...document.querySelectorAll("#part .file")].map(e => e.textContent).join()
print [...document.querySelectorAll("#part .line")].slice(0, 5).map(e => [...e.children].map(c => c.textContent.trim()).join("|")).join("\n")
print document.querySelector("#part .warm").style.getPropertyValue("--warmth")
key n
print document.querySelector(".at").firstChild.textContent
shot $PICTURES/html-source.png
key a
print [...document.querySelectorAll("#part .line.warm")].map(e => e.children[1].textContent).join()
print document.querySelectorAll("#part .line").length > 3
print document.querySelector("#part .from").textContent.split(" ")[0]
print location.hash
shot $PICTURES/html-assembly.png
open file://$TMP/one.html#symbol=2&part=source
print document.querySelector("#part").textContent
open file://$TMP/lost.html#symbol=0&part=source
print document.querySelector("#part .file").textContent.split(" · ")[2]
errors
END
)" "\
$TMP/src/prog.c · 100 %
|self %|total %|
1|||int leaf(int x)
2|100|90.50|{
3|||return x + 1; /* </script><script>alert(1)</script> */
4|||}
0.560
2
100
True
prog.c:2
#part=assembly&symbol=0
The functions of this binary are not known, so there is no code to show.
the file was not there when the page was made"

is "the flame graph" "$(drive <<END
open file://$TMP/one.html
key 2
print graph.nr, document.getElementById("legend").textContent
find busy
press
text #zoomed
print location.hash
click #open
print state.view + " " + nameAt(state.symbol)
key 2
click #reset
key /
write leaf
text #match
key Escape
key i
print graph.state.icicle
shot $PICTURES/html-graph.png
key i
errors
END
)" "\
application 96.50 %library 3.50 %kernel 0 %
found busy
zoomed: busy
#view=graph&symbol=0&zoom=4
symbols busy
matched 90.50 %
True"

is "long names move nothing, and a click zooms the frame under it" "$(drive <<END
size 1000 700
open file://$TMP/templates.html#view=graph
frames 50
shot $PICTURES/html-graph-long.png
size 400 800
frames 10
shot $PICTURES/html-graph-narrow.png
errors
END
)" "\
50 frames are zoomed by a click on them
10 frames are zoomed by a click on them"

# choose ID VALUE: of a filter
choose() {
	echo "print (e => { e.value = '$2'; e.onchange(); })(document.getElementById('filter-$1'))"
}
is "threads" "$(drive <<END
size 1280 800
open file://$TMP/threads.html
print [...document.querySelectorAll("#filters select")].map(s => [...s.options].map(o => o.text).join()).join("; ")
text #about
$(choose tid 51)
text #about
print $TABLE
key 2
print graph.all[0][0] + " " + graph.nameOf(1)
print location.hash
shot $PICTURES/html-thread.png
$(choose tid '')
$(choose tgid 60)
print graph.all[0][0] + " " + graph.nameOf(1)
$(choose tgid '')
print graph.all[0][0] + " " + graph.nameOf(1) + " " + graph.nr
key 1
print $TABLE
errors
END
)" "\
all,50 · 90.46 %,60 · 9.54 %; all,51 · 51.13 %,50 · 39.33 %,60 · 9.54 %
CPU with timer interrupt · TIMER:0 · 1,017 samples
None
CPU with timer interrupt · TIMER:0 · 520 samples
$(table session:threads tid:51)
520 prog
#view=graph&symbol=0&tid=51
None
None
97 prog
None
1017 prog 9
$(table session:threads --merge=all | sed 's/ *$//')"

# texts: what each filter has, without shares.
FILTERS='[...document.querySelectorAll("#filters select")].map(s => [...s.options].map(o => o.text.split(" · ")[0]).join()).join("; ")'
is "names and cgroups" "$(drive <<END
open file://$TMP/names.html
print $FILTERS
shot $PICTURES/html-names.png
$(choose cgroup /system.slice/redis-server.service)
text #about
print $TABLE
print location.hash.split("&").pop()
$(choose tid 4103)
text #about
$(choose tid '')
$(choose cgroup unknown)
text #about
key 2
text #graph-notes p:last-child
shot $PICTURES/html-cgroup.png
open file://$TMP/names.html#cgroup=/other.slice/redis-server.service
text #about
errors
END
)" "\
all,redis-server 4100,4200,4300; all,redis-server/bio_aof 4103,4200,redis-server 4100,redis-server/? 4104,4300; all,/system.slice/redis-server.service,/other.slice/redis-server.service,unknown
None
CPU with timer interrupt · TIMER:0 · 405 samples
$(table session:names --merge=all cgroup:/system.slice/redis-server.service)
cgroup=%2Fsystem.slice%2Fredis-server.service
None
CPU with timer interrupt · TIMER:0 · 305 samples
None
None
CPU with timer interrupt · TIMER:0 · 20 samples
Stacks are not kept apart by cgroup: these are of all cgroups.
CPU with timer interrupt · TIMER:0 · 100 samples"

is "CPUs" "$(drive <<END
open file://$TMP/cpus.html
$(choose cpu 1)
print $TABLE
key 2
text #graph-notes p:last-child
print graph.all[0][0]
errors
END
)" "\
None
$(report -l --json --merge=all session:cpus cpu:1 2>/dev/null | python3 -c '
import json, sys
print("\n".join(sorted("%d %.4f %.4f %s" % (s["samples"][0], s["percent"][0],
      s["total_percent"][0], s["symbol"]) for s in json.load(sys.stdin)["symbols"])))')
Stacks are not kept apart by CPU: these are of all CPUs.
200"

is "events and applications" "$(drive <<END
open file://$TMP/events.html
print [...document.querySelectorAll("#filters select")].map(s => [...s.options].map(o => o.text).join()).join("; ")
print $TABLE
$(choose event 1)
print $TABLE
text #about
$(choose app /bin/other)
print $ROWS
key 3
print document.querySelector("#summary .card:last-child tbody").innerText.split(/\s+/).join(" ")
shot $PICTURES/html-summary.png
errors
END
)" "\
CPU:100000,MISS:5000; all,prog,other
$(table session:events event:CPU)
None
$(table session:events event:MISS)
CPU with timer interrupt · 1,002 samples
None
100|7|64.57–100.00|100|/lib/libz.so.1|libz.so.1|other
100 % 7 /bin/other 100 % 7 libz.so.1"

is "a comparison" "$(drive <<END
open file://$TMP/diff.html
print [...document.querySelectorAll("#heads button")].map(b => b.textContent).join()
print [...order].filter(i => nameAt(i) === "leaf").map(i => [counts.self[i], counts.old[i], changeOf(i).percent.toFixed(4), changeOf(i).low.toFixed(4) + ".." + changeOf(i).high.toFixed(4), changeOf(i).significant].join(" ")).join()
shot $PICTURES/html-change.png
key 2
find idle
text #details
errors
END
)" "\
Self %,Samples ↓,Before %,Change,95 % interval,Symbol,Image
900 905 $(report -l --intervals { session:current } { session:later } 2>/dev/null |
	awk '$NF == "leaf" { print $4, $5 }' | tr -d + | sed 's/$/ 0/')
found idle
idle — 600 samples, 60.30 %; share 20.50 % → 60.30 % (+39.80 points); application: $TMP/prog"

is "no stacks" "$(drive <<END
open file://$TMP/many.html#view=graph
text #graph-none
print document.getElementById("view").hidden
errors
END
)" "\
The samples have no stacks, so callers are not known; profile with operf --callgraph or opcontrol --callgraph.
True"

# Only rows in sight are elements. The times are for people.
is "50,000 symbols" "$(drive <<END
size 1280 800
open file://$TMP/many.html
print order.length
print document.querySelectorAll(".row").length < 60
print counts.self[order[0]]
key End
print document.querySelector('.row[aria-selected="true"]').getAttribute("aria-rowindex")
key /
write ::fn__49[0-9]{3}\(
text #found
key Escape
shot $PICTURES/html-many.png
errors
END
)" "\
50000
True
977
50001
1,000 of 50,000"
# A page is loaded before it is painted, on a busy machine long before.
PAINT='new Promise(done => new PerformanceObserver(list => list.getEntriesByName("first-contentful-paint").forEach(e => done("first paint " + Math.round(e.startTime)))).observe({ type: "paint", buffered: true }))'
times=$(drive <<END
open file://$TMP/many.html
print $PAINT
print (() => { const t = performance.now(); sortBy("name"); document.body.offsetHeight; return "sort by name " + Math.round(performance.now() - t); })()
print (() => { const t = performance.now(); sortBy("total"); document.body.offsetHeight; return "sort by total " + Math.round(performance.now() - t); })()
print (() => { const t = performance.now(); show({ search: "fn__4.*7" }); document.body.offsetHeight; return "search " + Math.round(performance.now() - t); })()
print (() => { const t = performance.now(); rows.scrollTop = 500000; drawRows(); document.body.offsetHeight; return "scroll " + Math.round(performance.now() - t); })()
END
)
diag "with 50,000 symbols, in milliseconds: $times"
is "all times are taken" "$(printf '%s\n' "$times" | sed 's/ [0-9]*$//')" "\
first paint
sort by name
sort by total
search
scroll"

# Nothing is wider than a narrow window; names are cut, not the page.
FITS='document.documentElement.scrollWidth <= innerWidth && [...document.querySelectorAll("body *")].filter(e => e.getClientRects().length && !e.closest("#rows, #part, #tip, select")).every(e => e.getBoundingClientRect().right <= innerWidth + 0.5)'
is "400 pixels" "$(drive <<END
size 400 800
open file://$TMP/events.html
print $FITS
shot $PICTURES/html-narrow.png
click .row:nth-child(2)
print $FITS
text #chosen h2
print document.querySelector("#table").getClientRects().length
shot $PICTURES/html-narrow-symbol.png
click .back
print document.querySelector("#table").getClientRects().length
key 2
print $FITS
key 3
print $FITS
errors
END
)" "\
True
True
/lib/libz.so.1
0
1
True
True"

is "dark" "$(drive <<END
size 1280 800
open file://$TMP/one.html
print getComputedStyle(document.body).backgroundColor
click #theme
print getComputedStyle(document.body).backgroundColor
dark
open file://$TMP/one.html#part=source
print getComputedStyle(document.body).backgroundColor
shot $PICTURES/html-dark.png
key 2
shot $PICTURES/html-graph-dark.png
key t
print getComputedStyle(document.body).backgroundColor
errors
END
)" "\
rgb(250, 250, 248)
rgb(25, 26, 28)
rgb(25, 26, 28)
rgb(250, 250, 248)"

is "on paper" "$(drive <<END
open file://$TMP/many.html
click #theme
paper $PICTURES/html.pdf
print window.dispatchEvent(new Event("beforeprint")), document.querySelectorAll(".row").length + " " + document.documentElement.dataset.theme
print window.dispatchEvent(new Event("afterprint")), (document.querySelectorAll(".row").length < 60) + " " + document.documentElement.dataset.theme
errors
END
)" "\
60 light
true light"
ok "is written" test -s "$PICTURES/html.pdf"

# ---- two programs of one name, and what ran

for path in /usr/gcc-12/cc1 /home/kernel/cc1; do
	echo "0x10 30" | sample twins "{root}$path/{dep}/{root}$path/TIMER.0.0.all.all.all" timer-hz=1000
done
printf '%s\n' "source = x" "taken = 60" "stored = 60" "pending = 0" \
	"run.command = make '<b>'" "run.host = box" "run.start = 1796043900" \
	"run.wall_ns = 3650000000" >"$SESSION/samples/twins/ledger"
page twins.html session:twins
is "both have names, and the run is told" "$(drive <<END
open file://$TMP/twins.html
print [...document.querySelectorAll(".row")].map(r => r.lastChild.textContent).sort().join()
text #about
click #tab-summary
print document.querySelector("#summary .card").innerText.split(/\n+/).join("|")
errors
END
)" "\
gcc-12/cc1,kernel/cc1
make '<b>' · box · CPU with timer interrupt · TIMER:0 · 60 samples · none lost
What ran|Command|make '<b>'|Time|3.65 s|Host|box|Started|2026-11-30 13:05 UTC"

# What needs a name for those who do not see has one.
is "names for all that can be used" "$(drive <<END
print [...document.querySelectorAll("button, select, input, [tabindex]")].filter(e => !(e.textContent.trim() || e.ariaLabel || e.labels?.length || e.getAttribute("aria-labelledby"))).map(e => e.outerHTML).join()
print [...document.querySelectorAll("[aria-controls], [aria-labelledby]")].flatMap(e => [e.getAttribute("aria-controls"), e.getAttribute("aria-labelledby")]).filter(id => id && !document.getElementById(id)).join()
END
)" ""

browser_end
is "the browser has ended well" $? 0
done_testing
