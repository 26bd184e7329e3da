#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# opreport --format=flamegraph: what is in the page, and in a browser what a
# reader sees of it: search, zoom, keys, columns, comparisons. Pictures of the
# pages are left in $O/pictures.
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

# page FILE ARG...: a flame graph there.
page() {
	file=$1
	shift
	"$BIN/opreport" --session-dir="$SESSION" --format=flamegraph \
		-o "$TMP/$file" "$@" 2>"$TMP/err"
}

# data FILE EXPRESSION: of the data in the page as d; stacks are in s.
data() {
	python3 - "$TMP/$1" "$2" <<'END'
import json, re, sys
text = open(sys.argv[1], encoding="utf-8").read()
d = json.loads(re.search(r'id="data">(.*?)</script>', text, re.S).group(1))
s, paths, n = {}, [], 2 + len(d["columns"])
for i in range(len(d["nodes"]) // n):
    back, frame, *counts = d["nodes"][i * n:i * n + n]
    paths.append((paths[i - back] + ";" if i else "") + d["frames"][frame][0])
    s[paths[i]] = counts
print(eval(sys.argv[2]))
END
}

# ---- a profile -------------------------------------------------------------------

cat >"$TMP/prog.c" <<'END'
int leaf(int x) { return x + 1; }
int busy(int x) { return leaf(x) + 1; }
int idle(int x) { return leaf(x) + 2; }
int main(int argc, char **argv) { return busy(argc) + idle(argv != 0); }
END
cc=${CC:-cc}
$cc -O0 -Wl,--build-id -o "$TMP/prog" "$TMP/prog.c" || exit 1
at() {
	nm "$TMP/prog" | awk -v f="$1" '$3 == f { print "0x" $1 }' |
		while read -r start; do echo $((start + 3)); done
}
main=$(at main) busy=$(at busy) idle=$(at idle) leaf=$(at leaf)
kernel_symbols
images() {
	cat <<-END
	image p root:$TMP/prog mtime=$TMP/prog
	image z root:/lib/libz.so.1
	image k kern:vmlinux kernel build-id=$KERNEL_ID
	image cut kern:[truncated] pseudo
	image jit anon=43.7f0000001000.7f0000003000:anon
	image odd root:/lib/</script><b>&;"x\\.so
	END
}
# profile SESSION EVENT BUSY IDLE: with 100 samples elsewhere, 10 of them broken.
profile() {
	{
		images
		cat <<-END
		stack $3 p+$main p+$busy p+$leaf
		stack $4 p+$main p+$idle p+$leaf
		stack 40 p+$main p+$busy k+0x1004 k+0x2008
		stack 30 p+$main p+$busy z+0x10
		stack 15 p+$main jit+0x10
		stack 10 cut+0 p+$leaf
		stack 5 p+$main odd+1
		END
	} | tree "$1" "$P/{tree}/$2.all.all.all" timer-hz=1000
	echo "$leaf $(($3 + $4 + 10))" | sample "$1" "$P/{dep}/$P/$2.all.all.all" \
		timer-hz=1000 "mtime=$TMP/prog"
	echo "0x2008 40" | sample "$1" "$P/{dep}/{kern}/vmlinux/$2.all.all.all" \
		timer-hz=1000 kind=kernel build-id=$KERNEL_ID
	echo "0x10 50" | sample "$1" "$P/{dep}/$Z/$2.all.all.all" timer-hz=1000
}
profile current TIMER.0.0 700 200
write_account

# ---- the page ---------------------------------------------------------------------

ok "a page" page one.html
is "samples add up" "$(data one.html 'sum(c[0] for c in s.values())')" 1000
is "stacks" "$(data one.html 's["all;prog;main;busy;do_syscall_64;schedule"]')" '[40]'
is "kinds of frames" "$(data one.html \
	'sorted((f[2], f[0]) for f in d["frames"] if f[2] > 1)')" \
	"[(2, '[libz.so.1]'), (2, '[script><b>&;\"x\\\\.so]'), (3, 'do_syscall_64'), (3, 'schedule'), (4, '[anon]'), (5, '[truncated]')]"
is "how many stacks are whole" \
	"$(data one.html 'd["columns"][0]["notes"][1][:34]')" \
	"99.00 % of the stacks are whole. T"
is "the account" "$(data one.html 'd["notes"]' | "$TESTBIN/facts")" \
	"['Session: 1012 = 1000 + 12 (12 lost_overflow); stacks: 1000 stored = 990 whole + 10 truncated']"
like "in text, too" "$("$BIN/opreport" --session-dir="$SESSION")" \
	'^Stacks: 1000 stored = 990 whole \+ 10 truncated$'
is "in JSON" "$("$BIN/opreport" --session-dir="$SESSION" --json |
	python3 -c 'import json,sys
print(json.load(sys.stdin)["account"]["stacks"]["truncated"])')" 10
is "nothing from elsewhere" "$(grep -Eo '(src|href|url)[=(][^ >]*' "$TMP/one.html")" \
	'href="data:,"'
ok "the same page again" page again.html
is "is the same" "$(sed 's/again.html/one.html/' "$TMP/again.html" | cksum)" \
	"$(cksum <"$TMP/one.html")"

like "not to a terminal" "$(python3 -c 'import os, pty, sys
print(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))' \
	"$BIN/opreport" --session-dir="$SESSION" --format=flamegraph </dev/null |
	tr -d '\r' | tr '\n' ' ')" '^opreport: .*with --output-file=FILE 2 $'

# Samples without stacks are told.
echo "$leaf 600" | sample current "$P/{dep}/$Z/TIMER.0.0.all.all.all" timer-hz=1000
page flat.html
is "samples without stacks" "$(data flat.html 'd["columns"][0]["notes"][0]')" \
	"1000 of 1600 samples (62.50 %) are in this picture; the others have no stack."
rm "$SESSION/samples/current/$P/{dep}/$Z/TIMER.0.0.all.all.all"
echo "0x10 50" | sample current "$P/{dep}/$Z/TIMER.0.0.all.all.all" timer-hz=1000
page small.html -t 5
is "what is small is left out" "$(data small.html \
	's["all;prog;main;(below the threshold)"], s["all;prog;main;busy;(below the threshold)"]')" \
	"([20], [70])"
is "and told" "$(data small.html 'd["columns"][0]["notes"][2]')" \
	"10.00 % of the samples are in frames with less than 5 % of all, which are not shown (7 frames)."

# Several columns, and a comparison.
profile events CPU.100000.0 10 90
profile events MISS.5000.0 900 0
ok "two events" page two.html session:events
is "columns" "$(data two.html '[c["name"] for c in d["columns"]]')" \
	"['CPU:100000', 'MISS:5000']"
is "counts of both" "$(data two.html 's["all;prog;main;busy;leaf"]')" "[10, 900]"
profile later TIMER.0.0 300 600
ok "a comparison" page diff.html { session:current } { session:later }
is "both sides" "$(data diff.html 'd["diff"], s["all;prog;main;idle;leaf"]')" \
	"(True, [600, 200])"

# Names as templates have them, which need several lines to be told.
long=$(awk 'BEGIN { for (i = 0; i < 20; i++) printf "std::map<k%02d,v>::", i }')
{
	cat <<-END
		image p root:$TMP/prog mtime=$TMP/prog
	END
	for i in $(seq 10 39); do
		echo "image j$i anon=43.7f00000${i}000.7f00000${i}fff:${long}fn_$i"
		echo "stack $((i * 3)) p+$main j$i+0x10"
		echo "stack $i p+$main p+$busy j$i+0x20 p+$leaf"
	done
} | tree templates "$P/{tree}/TIMER.0.0.all.all.all" timer-hz=1000
echo "$leaf 2940" | sample templates "$P/{dep}/$P/TIMER.0.0.all.all.all" \
	timer-hz=1000 "mtime=$TMP/prog"
ok "long names" page templates.html session:templates

# ---- in a browser ------------------------------------------------------------------

if ! browser_start; then
	skip "in a browser" "chromium: not found; utils/install-deps check"
	done_testing
fi

is "the page as it opens" "$(drive <<END | "$TESTBIN/facts"
size 1000 640
open file://$TMP/one.html
text #title
text #legend
text #details
text #match
text #footer
text #column-label
print document.getElementById("reset").disabled
shot $PICTURES/flamegraph.png
errors
requests
END
)" "\
Flame graph: prog
application 91.00 %library 3.50 %kernel 4.00 %memory without a file (JIT) 1.50 %stacks not whole 1.00 %
all — 1,000 samples, 100 %

1000 samples, all of them with stacks.99.00 % of the stacks are whole. The others are below a frame in brackets that says why.Session: 1012 = 1000 + 12 (12 lost_overflow); stacks: 1000 stored = 990 whole + 10 truncated
(hidden)
True"

is "search" "$(drive <<END
size 1000 640
open file://$TMP/one.html
key /
write LEAF
text #match
key Escape
write leaf
text #match
shot $PICTURES/flamegraph-search.png
print location.hash
key Escape
text #match
write ^(idle|sched
text #match
key Escape
write ^(idle|sched)
text #match
key Escape
write libz
text #match
click #legend button:nth-child(3)
text #match
errors
END
)" "\
matched 0 %
matched 91.00 %
#search=leaf

matched 0 %
matched 24.00 %
matched 3.00 %
matched 4.00 %"

is "zoom with the mouse" "$(drive <<END
size 1000 640
open file://$TMP/one.html
find busy
text #tip
press
text #zoomed
text #details
print location.hash !== ""
key /
write leaf
text #match
key Escape
find do_syscall_64
text #details
shot $PICTURES/flamegraph-zoom.png
find main
press
text #zoomed
click #reset
text #zoomed
print location.hash
errors
END
)" "\
found busy
busy770 samples, 77.00 %
application: $TMP/prog
zoomed: busy
busy — 770 samples, 77.00 % (100 % of what is zoomed); application: $TMP/prog
True
matched 90.91 %
found do_syscall_64
do_syscall_64 — 40 samples, 4.00 % (5.19 % of what is zoomed); kernel: /vmlinux
found main
zoomed: main"

is "with the keyboard" "$(drive <<END
size 1000 640
open file://$TMP/one.html
click #view
key Escape
key ArrowUp
text #details b
key ArrowUp
text #details b
key ArrowUp
text #details b
key ArrowRight
text #details b
key ArrowLeft
key Enter
text #zoomed
key ArrowDown
text #details b
key Escape
text #zoomed
key i
print location.hash
key ArrowDown
text #details b
shot $PICTURES/flamegraph-icicle.png
key i
print location.hash
errors
END
)" "\
prog
main
busy
idle
zoomed: busy
main

#view=icicle
prog"

is "a comparison" "$(drive <<END
size 1000 640
open file://$TMP/diff.html
text #legend
find idle
text #details
find busy
text #details
find [anon]
text #details
shot $PICTURES/flamegraph-change.png
key /
write idle
text #match
key Escape
print document.getElementById("basis").value = "earlier", document.getElementById("basis").dispatchEvent(new Event("change")), location.hash
find busy
print document.getElementById("view").clientWidth > 900
errors
END
)" "\
larger share than beforesmaller shareno change beyond chance
found idle
idle — 600 samples, 60.00 %; share 20.00 % → 60.00 % (+40.00 points); application: $TMP/prog
found busy
busy — 370 samples, 37.00 %; share 77.00 % → 37.00 % (-40.00 points); application: $TMP/prog
found [anon]
[anon] — 15 samples, 1.50 %; share 1.50 % as before; memory without a file (JIT): anon (tgid:43 range:0x7f0000001000-0x7f0000003000)
matched 60.00 %, before 20.00 %
#widths=earlier
found busy
True"
is "long names move nothing, and a click zooms the frame under it" "$(drive <<END
size 1000 640
open file://$TMP/templates.html
frames 50
size 400 700
frames 10
shot $PICTURES/flamegraph-narrow.png
errors
END
)" "\
50 frames are zoomed by a click on them
10 frames are zoomed by a click on them"
is "a place to come back to" "$(drive <<END
size 1000 640
dark
open file://$TMP/two.html#view=icicle&search=leaf&column=1
text #match
text #column-label
print document.getElementById("icicle").getAttribute("aria-pressed")
shot $PICTURES/flamegraph-dark.png
print document.getElementById("column").value = 0, document.getElementById("column").dispatchEvent(new Event("change")), location.hash
text #match
open file://$TMP/two.html#zoom=999999&column=-1&view=x&kind=y&search=(
text #match
errors
END
)" "\
matched 91.00 %
Event CPU:100000MISS:5000
true
#search=leaf&view=icicle
matched 55.00 %
matched 7.50 %"
browser_end
is "the browser has ended well" $? 0
for picture in "" -search -zoom -icicle -dark -change -narrow; do
	ok "picture$picture" test -s "$PICTURES/flamegraph$picture.png"
done
done_testing
