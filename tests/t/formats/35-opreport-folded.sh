#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# opreport --format=folded: call trees as lines of stacks, with the symbols of
# a real program, chosen as flat samples are; comparisons; what is refused.
# shellcheck disable=SC1083 # the braces of comparisons
. "$(dirname "$0")/../lib.sh"

SESSION=$TMP/session

# sample SESSION NAME [OPTION...] <pairs; tree likewise <stacks
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
	"$BIN/opreport" --session-dir="$SESSION" "$@" 2>"$TMP/err"
}

folded() {
	report --format=folded "$@"
}

# refused STATUS ERE ARG...: that status, no output, one line about it.
refused() {
	status=$1 ere=$2
	shift 2
	report "$@" >"$TMP/out"
	[ $? -eq "$status" ] && [ ! -s "$TMP/out" ] &&
		[ "$(wc -l <"$TMP/err")" -eq 1 ] && grep -Eq "$ere" "$TMP/err"
}

# ---- a program and a library ---------------------------------------------------

cat >"$TMP/prog.cc" <<'END'
#include <vector>
extern "C" int leaf(int x) { return x + 1; }
extern "C" int helper(int x) { return leaf(x) * 2; }
int sum(const std::vector<int> &v) { return helper(v.size()); }
struct call { int operator()(int x) const { return leaf(x); } };
int main(int argc, char **) { return sum({}) + call()(argc); }
END
cxx=${CXX:-g++} cc=${CC:-cc}
$cxx -O0 -Wl,--build-id -o "$TMP/prog" "$TMP/prog.cc" || exit 1
echo 'int leaf(int x) { return x; }' >"$TMP/lib.c"
$cc -O0 -shared -fPIC -Wl,--build-id -o "$TMP/lib.so" "$TMP/lib.c" || exit 1
# at FILE SYMBOL: an offset in the middle of it.
at() {
	nm "$1" | awk -v f="$2" '$3 == f { print "0x" $1 }' |
		while read -r start; do echo $((start + 3)); done
}
main=$(at "$TMP/prog" main) leaf=$(at "$TMP/prog" leaf)
helper=$(at "$TMP/prog" helper) lib=$(at "$TMP/lib.so" leaf)
sum=$(at "$TMP/prog" _Z3sumRKSt6vectorIiSaIiEE)

P="{root}$TMP/prog" L="{root}$TMP/lib.so"
E=TIMER.0.0
images() {
	cat <<-END
	image p root:$TMP/prog mtime=$TMP/prog
	image l root:$TMP/lib.so mtime=$TMP/lib.so
	image cut kern:[truncated] pseudo
	image jit anon=43.7f0000001000.7f0000003000:anon
	END
}
timer() {
	"$@" timer-hz=1000
}
printf '%s 50\n%s 20\n' "$leaf" "$main" |
	timer sample current "$P/{dep}/$P/$E.all.all.all" "mtime=$TMP/prog"
echo "$lib 26" |
	timer sample current "$P/{dep}/$L/$E.all.all.all" "mtime=$TMP/lib.so"
{
	images
	cat <<-END
	stack 20 p+$main
	stack 30 p+$main p+$sum p+$helper p+$leaf
	stack 5 p+$main p+$sum p+$helper p+$((leaf + 1))
	stack 15 p+$main p+$leaf
	stack 16 p+$main p+$sum l+$lib
	stack 4 cut+0 l+$lib
	stack 6 p+$main jit+0x10 jit+0x20 l+$lib
	END
} | timer tree current "$P/{tree}/$E.all.all.all"

is "stacks" "$(folded)" "\
prog;[truncated];leaf 4
prog;main 20
prog;main;[anon];[anon];leaf 6
prog;main;leaf 15
prog;main;sum(std::vector<int, std::allocator<int> > const&);helper;leaf 35
prog;main;sum(std::vector<int, std::allocator<int> > const&);leaf 16"
is "no complaint" "$(cat "$TMP/err")" ""
is "as many samples as the flat profile" \
	"$(folded | awk '{ n += $NF } END { print n }')" \
	"$(report -n -l | awk '{ n += $1 } END { print n }')"
is "to a file" "$(folded -o "$TMP/stacks"; grep -c '^prog;' "$TMP/stacks")" 6

# ---- chosen and named as elsewhere -----------------------------------------------

short() {
	folded "$@" | sed 's/([^;]*)//'
}
is "names as asked" "$(folded -D none -i helper,leaf | grep -c _Z3sumRKSt6)" 2
is "of samples in a library" "$(short "lib-image:$TMP/lib.so")" "\
prog;[truncated];leaf 4
prog;main;[anon];[anon];leaf 6
prog;main;sum;leaf 16"
is "of samples in the application" "$(short -x)" "\
prog;main 20
prog;main;leaf 15
prog;main;sum;helper;leaf 35"
is "that end in a symbol" "$(short -i main)" "prog;main 20"
is "that do not" "$(short -e leaf)" "prog;main 20"
is "that are frequent" "$(folded -t 20 | sed 's/(std[^;]*)//')" "\
prog;(below the threshold) 4
prog;main 20
prog;main;(below the threshold) 21
prog;main;sum;(below the threshold) 16
prog;main;sum;helper;leaf 35"
is "without applications" "$(short --merge=lib | head -2)" "\
[truncated];leaf 4
main 20"

# Threads have roots of their own; CPUs are put together.
for id in 7.7.0 7.7.1 7.8.0; do
	echo "$leaf 3" | timer sample threads "$P/{dep}/$P/$E.$id" \
		"mtime=$TMP/prog"
	{
		images
		echo "stack 3 p+$main p+$leaf"
	} | timer tree threads "$P/{tree}/$E.$id"
done
is "threads" "$(folded session:threads)" "\
prog-7/7;main;leaf 6
prog-7/8;main;leaf 3"
is "processes" "$(folded session:threads --merge=tid)" "prog-7;main;leaf 9"
is "merged" "$(folded session:threads --merge=tgid)" "prog;main;leaf 9"
is "chosen by CPU" "$(folded session:threads cpu:1)" "prog-7/7;main;leaf 3"

# What separates in a line is not in a name.
{
	echo "image x root:/bin/a;b"
	echo "stack 1 x+1"
} | timer tree odd "{root}/bin/a;b/{tree}/$E.all.all.all"
echo "1 1" | timer sample odd "{root}/bin/a;b/{dep}/{root}/bin/a;b/$E.all.all.all"
is "a name with a semicolon" "$(folded session:odd)" "a:b;[a:b] 1"

# As deep as no stack is that was taken.
{
	images
	printf 'stack 2'
	yes "p+$helper" | head -n 10000 | tr '\n' ' ' | sed 's/^/ /'
} | timer tree deep "$P/{tree}/$E.all.all.all"
echo "$helper 2" | timer sample deep "$P/{dep}/$P/$E.all.all.all" \
	"mtime=$TMP/prog"
is "10,000 frames" "$(folded session:deep | tr ';' '\n' | grep -c '^helper')" \
	10000
report session:deep --format=flamegraph -o "$TMP/deep.html"
is "in a picture" "$(grep -Ec '^1,[0-9]+,[02][],]*$' "$TMP/deep.html")" 10001

# ---- comparisons -----------------------------------------------------------------

echo "$leaf 10" | timer sample later "$P/{dep}/$P/$E.all.all.all" \
	"mtime=$TMP/prog"
{
	images
	echo "stack 7 p+$main p+$leaf"
	echo "stack 3 p+$main p+$helper p+$leaf"
} | timer tree later "$P/{tree}/$E.all.all.all"
is "old counts first" "$(short { session:current } { session:later } | tail -4)" "\
prog;main;helper;leaf 0 3
prog;main;leaf 15 7
prog;main;sum;helper;leaf 35 0
prog;main;sum;leaf 16 0"

# ---- what cannot be ---------------------------------------------------------------

echo "$leaf 10" | timer sample flat "$P/{dep}/$P/$E.all.all.all" \
	"mtime=$TMP/prog"
ok "without stacks" refused 1 'have no stacks; profile with --callgraph' \
	--format=folded session:flat
ok "without stacks of what is asked for" refused 1 'chosen samples have no stacks' \
	--format=folded -i nothing
echo "1 1" | sample current "$P/{dep}/$P/CPU.100.0.all.all.all" event=1 count=100
ok "two events" refused 1 'one count, but there are 2' --format=folded
is "one of them" "$(folded event:TIMER | wc -l)" 6
for bad in -d -g -a -w -% "--sort=vma" -r --intervals -f -n --json -X; do
	ok "with $bad" refused 2 '^opreport: --' --format=folded "$bad"
done
ok "no such format" refused 2 'use text, xml, json' --format=svg
# The names come from one table; the page has them by hand.
names=$("$BIN/opreport" "--format=?" 2>&1 | sed -n 's/.*; use //p')
is "the help names them" \
	"$("$BIN/opreport" --help | tr -s ' \n' ' ' | grep -c "write $names ")" 1
is "the man page has them" "$(sed -n \
	's/^\.It Fl -format Ns = Ns Cm \([a-z |]*\)$/\1/p' "$TOP/doc/man/opreport.1")" \
	"$(echo "$names" | sed -e 's/, / | /g' -e 's/ or / | /')"
is "other formats by name" "$(report --format=csv event:TIMER)" \
	"$(report --csv event:TIMER)"
is "text by name" "$(report --format=text -l event:TIMER)" \
	"$(report -l event:TIMER)"

# ---- what is not there is told ----------------------------------------------------

timer tree flat "$P/{tree}/$E.all.all.all" <<END
$(images)
stack 3 p+$main p+$leaf
END
cat >"$SESSION/samples/flat/ledger" <<END
source = file
taken = 14
stored = 10
pending = 0
lost.lost_overflow = 4
END
is "stacks of some samples" "$(folded session:flat)" "prog;main;leaf 3"
is "and of which not" "$(cat "$TMP/err")" "\
opreport: warning: TIMER:0: 7 of 10 samples have no stack, so they are not shown
opreport: warning: 4 of 14 samples were lost; leave out --format to see why"

# ---- from the stream ----------------------------------------------------------------

# A sample in the library, called by main by way of sum; a cut one; one without.
mtime=$(stat -c %Y "$TMP/prog")
lib_mtime=$(stat -c %Y "$TMP/lib.so")
"$TESTBIN/mkstream" >"$TMP/stream" <<END
stream 1 8
cookie 1 0 $mtime 0 0 - $TMP/prog
cookie 2 0 $lib_mtime 0 0 - $TMP/lib.so
cpu 1
ctx 7424 1
tgid 7423
image 2
user
trace
sample $lib 0
image 1
sample $((sum + 1)) 0
sample $((main + 1)) 0
trace-end 0
image 1
trace
sample $leaf 0
sample $((main + 1)) 0
trace-end 1
sample $leaf 0
END
cp -r "$SESSION" "$TMP/kept"
rm -rf "$SESSION"
ok "a stream with stacks" "$BIN/oprofiled" --session-dir="$SESSION" \
	--source="file:$TMP/stream"
is "becomes folded stacks" "$(short)" "\
prog;[truncated];main;leaf 1
prog;main;sum;leaf 1"
is "and what else was sampled" "$(cat "$TMP/err")" "\
opreport: warning: TIMER:0: 1 of 3 samples have no stack, so they are not shown"
rm -rf "$SESSION"
mv "$TMP/kept" "$SESSION"

# ---- damage -----------------------------------------------------------------------

F="$SESSION/samples/current/$P/{tree}/$E.all.all.all"
cp "$F" "$TMP/sound"
"$TESTBIN/mktree" --break "$F" flip=300:0xff
ok "a damaged tree" refused 1 'have no stacks' --format=folded event:CPU
folded event:TIMER >"$TMP/out"
is "leads to nothing" "$?:$(wc -c <"$TMP/out")" 1:0
like "and is said" "$(cat "$TMP/err")" \
	'^opreport: warning: /.*/TIMER[^ ]*: .*damaged.*; left out'
"$TESTBIN/mktree" --break "$F" truncate=500
folded event:TIMER >"$TMP/out"
like "a cut tree" "$(cat "$TMP/err")" 'pages are missing, probably after a power failure'
cp "$TMP/sound" "$F"
"$TESTBIN/mktree" --break "$F" flip=64:0xff
folded event:TIMER >"$TMP/out"
like "a tree about nothing" "$(cat "$TMP/err")" 'it is not a sample file'
cp "$TMP/sound" "$F"
is "whole again" "$(folded event:TIMER | wc -l)" 6
ok "flat reports do not mind trees" report -l event:TIMER
done_testing
