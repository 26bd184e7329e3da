#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# opannotate: which samples are beside which line and instruction, where files
# are looked for, and what is said about those that are missing, changed or
# damaged.
# sanitized: yes
. "$(dirname "$0")/../lib.sh"

SESSION=$TMP/session
CURRENT=$SESSION/samples/current
E=CPU_CLK_UNHALTED.100000.0
M=DATA_CACHE_MISSES.5000.0

# sample NAME [OPTION...] <pairs: a sample file of the session.
sample() {
	name=$1
	shift
	"$TESTBIN/mkodb" "$CURRENT/$name" "$@"
}

# annotate ARG...: its output, its complaints in $TMP/err.
annotate() {
	"$BIN/opannotate" --all --session-dir="$SESSION" "$@" 2>"$TMP/err"
}

# complains ERE STATUS ARG...: one line about it on stderr and nothing else.
complains() {
	ere=$1 status=$2
	shift 2
	annotate "$@" >"$TMP/out"
	[ $? -eq "$status" ] && [ ! -s "$TMP/out" ] &&
		[ "$(wc -l <"$TMP/err")" -eq 1 ] && grep -Eq "$ere" "$TMP/err"
}

# lines FILE: the lines of an annotated file on stdin that have samples, with
# their counts.
lines() {
	awk -v file="$1" '
	/^ \* Total samples for file : / { at = index($0, "\"" file "\"") ? 1 : 0; nr = -6 }
	at && /^\/\* *$/ { at = nr < 0 }
	at { nr++ }
	at && nr > 0 && $1 ~ /^[0-9]+$/ { print nr ":" $1 }' | tr '\n' ' '
}

src=$TMP/src
mkdir -p "$src/inc"
cat >"$src/prog.c" <<'END'
#include "work.h"
volatile int sink;
__attribute__((noinline)) int hot(int x)
{
	for (int i = 0; i < 9; i++)
		sink += twice(x);
	return x + 1;
}
__attribute__((noinline)) int cold(int x)
{
	return x * sink;
}
int main(int argc, char **argv) { (void)argv; return hot(argc) + cold(argc); }
END
cat >"$src/inc/work.h" <<'END'
static inline int twice(int x)
{
	return x * 2;
}
END
touch -d 2020-01-01 "$src/prog.c" "$src/inc/work.h"
cc=${CC:-cc}
prog=$TMP/prog
(cd "$src" && $cc -O1 -g -Iinc -no-pie -Wl,--build-id -o "$prog" prog.c) || exit 1

# offset FUNCTION: where it is in the file; text is mapped there.
address() {
	nm "$prog" | awk -v f="$1" '$3 == f { print $1 }'
}
find_section() {
	section=$(readelf -S -W "$prog" | sed -n 's/.* \.text *PROGBITS *\([0-9a-f]*\) \([0-9a-f]*\) .*/0x\1 0x\2/p')
}
find_section
offset_of() {
	echo $((0x$1 - ${section% *} + ${section#* }))
}
# insns FUNCTION: the addresses of its instructions.
insns() {
	objdump -d --no-show-raw-insn "$prog" | awk -v f="<$1>:" '
		$2 == f { on = 1; next } /^$/ { on = 0 }
		on { sub(":", "", $1); print $1 }'
}

# One sample for each instruction of hot, ten for each of cold.
P="{root}$prog"
for function in hot cold; do
	for a in $(insns $function); do
		line=$(addr2line -e "$prog" "$a" | sed 's/ .*//; s/.*://')
		echo "$(offset_of "$a") $([ $function = hot ] && echo 1 || echo 10) $function:$line"
	done
done >"$TMP/truth"
cut -d ' ' -f 1-2 "$TMP/truth" | sample "$P/{dep}/$P/$E.all.all.all" \
	mtime="$prog" event=118 count=100000 cpu-type=x86-64/family10 \
	cpu-khz=2400000
echo "$(offset_of "$(address cold)") 7" |
	sample "$P/{dep}/$P/$M.all.all.all" mtime="$prog" event=65 count=5000 \
		cpu-type=x86-64/family10 cpu-khz=2400000
cycles=event:CPU_CLK_UNHALTED

# truth FILE-PATTERN: lines and counts by addr2line; work.h has line 3 alone.
truth() {
	awk -v h="$1" '{ split($3, p, ":"); is_h = p[1] == "hot" && p[2] == 3 }
		is_h == h { n[p[2]] += $2 }
		END { for (l in n) print l ":" n[l] }' "$TMP/truth" | sort -n |
		tr '\n' ' '
}
total=$(awk '{ n += $2 } END { print n }' "$TMP/truth")

# ---- source ------------------------------------------------------------------

annotate --source $cycles >"$TMP/plain"
is "no complaint" "$(cat "$TMP/err")" ""
# Line 3 is also where hot itself starts.
is "each line has the samples of its instructions" \
	"$(lines "$src/prog.c" <"$TMP/plain" | tr ' ' '\n' | grep -v '^3:' | tr '\n' ' ')" \
	"$(truth 0 | tr ' ' '\n' | grep -v '^3:' | tr '\n' ' ')"
like "what was inlined is with the line it was written on" \
	"$(lines "$src/inc/work.h" <"$TMP/plain")" '^3:[0-9]+ $'
is "no sample is in two lines or in none" "$({ lines "$src/prog.c" <"$TMP/plain"
	lines "$src/inc/work.h" <"$TMP/plain"; } | tr ' ' '\n' |
	awk -F: '{ n += $2 } END { print n }')" "$total"
for f in hot cold; do
	is "total of $f" "$(sed -n "s/.* $f total: *\\([0-9]*\\) .*/\\1/p" "$TMP/plain")" \
		"$("$BIN/opreport" --session-dir="$SESSION" -n -l --no-inlines $cycles |
			awk -v f=$f '$3 == f { print $1 }')"
done
is "header" "$(sed 9q "$TMP/plain" | sed 's/^ \* Command.*/ * C/')" "\
/* 
 * C
 * 
 * Interpretation of command line:
 * Output annotated source file with samples
 * Output all files
 * 
 * CPU: AMD64 family10, speed 2400 MHz (estimated)
 * Counted CPU_CLK_UNHALTED events (Cycles outside of halt state) with a unit mask of 0x00 (No unit mask) count 100000"
is "no header" "$(annotate --source -n $cycles | sed 2q)" "\
/* 
 * Total samples for file : \"$src/prog.c\""
annotate --source -n >"$TMP/two"
like "two events are two columns" "$(cat "$TMP/two")" \
	'^ +[0-9]+ +[0-9.]+ +7 100\.000   :'
is "files with less are left out" \
	"$(annotate --source -n --threshold=20 $cycles | grep -c Total)" 1
is "a threshold in the header" \
	"$(annotate --source --threshold=2.5 $cycles | sed -n 6p)" \
	" * Output files where samples count reach 2.5% of the samples"
is "one symbol is all there is" "$(annotate --source -n -i cold $cycles |
	sed -n 's/.* cold total: *[0-9]* *\([0-9.]*\) .*/\1/p')" 100.000
is "a symbol left out" "$(annotate --source -n -e cold $cycles |
	grep -c 'cold total')" 0
for filter in --include-file=work.h --include-file='*/inc/*' \
	--include-file=inc --exclude-file='*.c' --exclude-file=prog.c,nonesuch; do
	is "$filter" "$(annotate --source -n "$filter" $cycles |
		sed -n 's/.*file : "\(.*\)"/\1/p')" "$src/inc/work.h"
done
for none in --include-file=nonesuch '--exclude-file=*.[ch]' --threshold=100; do
	annotate -s -n "$none" $cycles >"$TMP/out"
	is "$none: nothing is shown" $? 1
	is "$none: and that is said" \
		"$(cat "$TMP/out" "$TMP/err")" \
		"opannotate: none of 2 source files with samples is shown; --include-file, --exclude-file or --threshold leaves them out"
done
annotate -s -n -i nonesuch $cycles >"$TMP/out"
is "a symbol without samples" "$(cat "$TMP/out" "$TMP/err")" \
	"opannotate: --include-symbols=nonesuch: no symbol of this name has samples; there are cold, hot"
annotate -s -n -e cold,hot $cycles >"$TMP/out"
is "no symbol is left" "$(cat "$TMP/out" "$TMP/err")" \
	"opannotate: none of the chosen symbols has samples"
like "colours when asked for" "$(annotate --source --color=always $cycles)" \
	"$(printf '^\033\[[0-9;]*m *[0-9]+ +[0-9.]+\033\[m :')"
unlike "and only then" "$(cat "$TMP/plain")" "$(printf '\033')"

# ---- a file for each ---------------------------------------------------------

ok "output folder" annotate --source -o "$TMP/annotated" $cycles
is "a file for each" "$(cd "$TMP/annotated" && find . -type f | sort)" \
	"./${src#/}/inc/work.h
./${src#/}/prog.c"
is "has the same lines" \
	"$(grep -n '^ *[0-9][0-9]* *[0-9.]* :' "$TMP/annotated$src/prog.c" |
		sed 's/: */:/; s/ .*//' | tr '\n' ' ')" \
	"$(lines "$src/prog.c" <"$TMP/plain")"
is "the source is as it was" "$(grep -c total "$src/prog.c")" 0
mkdir -p "$TMP/part${src%/*}"
echo x >"$TMP/part$src"
annotate --source -o "$TMP/part" $cycles
is "a path that is taken keeps its files from being written" $? 1
is "each is told, and how many there are" \
	"$(grep -c 'not written: Not a directory' "$TMP/err") $(tail -n 1 "$TMP/err")" \
	"2 opannotate: 2 of 2 files were not written"
ok "not over the sources" complains 'write over' 2 --source -o / $cycles
echo x >"$TMP/plainfile"
ok "no folder" complains 'plainfile' 2 --source -o "$TMP/plainfile/x" $cycles

# ---- other places ------------------------------------------------------------

cp -rp "$src" "$TMP/moved"
mv "$src" "$src.away"
annotate --source -n $cycles >"$TMP/out"
is "a missing source is said once" \
	"$(grep -c "warning: .*/prog.c: cannot be read: .*--search-dirs" "$TMP/err")" 1
is "its symbols are told" "$(grep -c '^ /\* hot total: \|^ /\* cold total: ' "$TMP/out")" 2
is "searched by what is left of the base" \
	"$(annotate --source -n -b "$src" -d "$TMP/moved" $cycles | lines "$src/prog.c")" \
	"$(lines "$src/prog.c" <"$TMP/plain")"
is "without complaint" "$(cat "$TMP/err")" ""
mkdir -p "$TMP/deep$TMP"
cp -rp "$TMP/moved" "$TMP/deep$src"
is "searched by its whole path" \
	"$(annotate --source -n -d "/nonesuch,$TMP/deep" $cycles | lines "$src/prog.c")" \
	"$(lines "$src/prog.c" <"$TMP/plain")"
mv "$src.away" "$src"
touch "$src/prog.c"
touch -d 2030-01-01 "$src/prog.c"
annotate --source $cycles >"$TMP/out"
like "a source that changed" "$(cat "$TMP/err")" \
	"prog.c: changed after $prog was built"
is "is shown" "$(lines "$src/prog.c" <"$TMP/out")" "$(lines "$src/prog.c" <"$TMP/plain")"
head -n 6 "$TMP/moved/prog.c" >"$src/prog.c"
annotate --source -n $cycles >"$TMP/out"
like "a source that ends early" "$(cat "$TMP/err")" 'ends before [0-9]+ of the lines'
is "loses no sample" "$({ grep -h '^ *[0-9][0-9]* *[0-9.]* :' "$TMP/out"; } |
	awk '{ n += $1 } END { print n }')" "$total"
like "and says which lines" "$(cat "$TMP/out")" ':<no line 11>'
rm "$src/prog.c"
mkfifo "$src/prog.c"
annotate --source -n $cycles >"$TMP/out"
like "a pipe is not waited for" "$(cat "$TMP/err")" 'prog.c: cannot be read'
rm "$src/prog.c"
cp -p "$TMP/moved/prog.c" "$src/prog.c"

# ---- instructions ------------------------------------------------------------

annotate --assembly -n $cycles >"$TMP/asm"
is "no complaint about instructions" "$(cat "$TMP/err")" ""
is "each instruction has its samples" \
	"$(awk '$3 == ":" { print $4 $1 } $4 ~ /:$/ && $3 == ":" { next }' "$TMP/asm" |
		grep -c ':')" "$(wc -l <"$TMP/truth")"
is "the text is objdump's" "$(cut -c 17- "$TMP/asm" | grep "$(printf ':\t')")" \
	"$(for f in cold hot; do objdump -d --no-show-raw-insn "$prog" |
		awk -v f="<$f>:" '$2 == f { on = 1; next } /^$/ { on = 0 } on' |
		sed 's/^\( *\)/\1/'; done | sed 's/ *$//')"
for f in hot cold; do
	is "total of $f" "$(sed -n "s/.* $f total: *\\([0-9]*\\) .*/\\1/p" "$TMP/asm")" \
		"$(sed -n "s/.* $f total: *\\([0-9]*\\) .*/\\1/p" "$TMP/plain")"
done
like "Intel syntax" "$(annotate -a --objdump-params='-M intel' $cycles)" \
	'mov +eax,DWORD PTR'
like "the same in one word" "$(annotate -a --objdump-params=-Mintel $cycles)" \
	'mov +eax,DWORD PTR'
like "said in the header" "$(annotate -a --objdump-params='-M intel' $cycles)" \
	'arguments to objdump ; "-M intel "'
like "bytes when asked for" "$(annotate -a --objdump-params=--show-raw-insn $cycles)" \
	"$(printf ':\t([0-9a-f]+ )+ *\t')"
like "lines when asked for" "$(annotate -a --objdump-params=-l $cycles)" \
	":$src/prog.c:11\$"
ok "other words are refused with the reason" \
	complains 'objdump-params: -j: the samples decide .*--include-symbols$' 2 \
	-a --objdump-params='-j .text'
objdump --help | grep -oE '^ +-[A-Za-z]+|--[a-z][a-z-]+=?' | tr -d ' ' |
	sort -u >"$TMP/words"
while read -r word; do
	annotate -a --objdump-params="$word" $cycles >"$TMP/out" ||
		grep -q "objdump-params: $word: ...*" "$TMP/err" || echo "$word"
	grep 'not known here' "$TMP/err"
done <"$TMP/words" >"$TMP/no-answer"
is "each word of objdump has its effect or a reason" "$(cat "$TMP/no-answer")" ""
ok "they are many" test "$(wc -l <"$TMP/words")" -gt 80
like "both: source before what was made of it" \
	"$(annotate -s -a -n $cycles | grep -A 1 'return x \* sink;')" \
	"$(printf ': +[0-9a-f]+:\t')"
is "both have no other counts" "$(annotate -s -a -n $cycles | grep '^ *[0-9][0-9]* *[0-9]*\.')" \
	"$(grep '^ *[0-9][0-9]* *[0-9]*\.' "$TMP/asm")"
is "an alias" "$(annotate \
	--source-with-assembly -n $cycles | cksum)" "$(annotate -s -a -n $cycles | cksum)"
annotate -a -n --include-file=nonesuch $cycles >"$TMP/out"
is "files are not chosen among instructions" "$(cksum <"$TMP/out")" "$(cksum <"$TMP/asm")"
like "and that is said" "$(cat "$TMP/err")" 'include-file .*change nothing'
like "a share that no symbol reaches" \
	"$(annotate -a --threshold=100 $cycles 2>&1; cat "$TMP/err")" 'none of the chosen symbols'

# A sample inside of an instruction, as some hardware tells, is not lost.
rm -rf "$CURRENT"
inside=$(insns cold | sed -n 2p)
echo "$(($(offset_of "$inside") - 1)) 5" | sample "$P/{dep}/$P/$E.all.all.all" \
	mtime="$prog" event=118 count=100000
is "a sample inside of an instruction" \
	"$(annotate -a -n | awk '$3 == ":" { print $1 }')" 5

# ---- damage ------------------------------------------------------------------

cut -d ' ' -f 1-2 "$TMP/truth" | sample "$P/{dep}/$P/$E.all.all.all" \
	mtime="$prog" event=118 count=100000
cp -p "$prog" "$TMP/good"
strip -g "$prog"
touch -r "$TMP/good" "$prog"
annotate -s >"$TMP/out"
like "no lines at all" "$(cat "$TMP/err")" \
	"warning: $prog: no source lines for $((total + 5)) samples \\(100 %\\), in cold, hot; "
like "and what to do" "$(cat "$TMP/err")" 'none of the binaries has source lines.*--assembly'
is "instructions still" "$(annotate -a -n | grep -c ' total: ')" 2
strip "$prog"
touch -r "$TMP/good" "$prog"
is "without any symbol single instructions" \
	"$(annotate -a -n | awk '$3 == ":" { n += $1 } END { print n }')" $((total + 5))
cp -p "$TMP/good" "$prog"
at=$(readelf -S -W "$prog" | awk '$2 == ".debug_line" || $3 == ".debug_line" {
	print $(NF - 5) }')
for len in 0 4 8 16; do
	cp -p "$TMP/good" "$prog"
	printf '\377\377\377\377\377\377' |
		dd of="$prog" bs=1 seek=$((0x$at + len)) conv=notrunc 2>/dev/null
	touch -r "$TMP/good" "$prog"
	annotate -s -n >"$TMP/out"
	status=$?
	is "a line table damaged at $len" "$status $(grep -c 'no source lines\|damaged' "$TMP/err" |
		awk '{ print ($1 > 0) }')" "1 1"
done
cp -p "$TMP/good" "$prog"
for len in 0 100 4100 $(($(wc -c <"$prog") - 200)); do
	head -c "$len" "$TMP/good" >"$prog"
	touch -r "$TMP/good" "$prog"
	annotate -s -a -n >"$TMP/out"
	like "a binary of $len bytes is said" "$? $(cat "$TMP/err")" \
		"^0 opannotate: warning: .*prog"
done
rm "$prog"
annotate -a >"$TMP/out"
like "a binary that is gone" "$(cat "$TMP/err")" \
	"prog: not shown: $((total + 5)) samples in "

# ---- another place altogether --------------------------------------------------

cp -p "$TMP/good" "$prog"
annotate -s -n >"$TMP/home"
if [ -x "$BIN/oparchive" ]; then
	"$BIN/oparchive" --session-dir="$SESSION" --with-sources -o "$TMP/archive"
	rm -rf "$prog" "$src" "$TMP/session.away"
	mv "$SESSION" "$TMP/session.away"
	"$BIN/opannotate" --all -s -n "archive:$TMP/archive" >"$TMP/out" 2>"$TMP/err"
	ok "an archive with sources is annotated as at home" diff "$TMP/home" "$TMP/out"
	mv "$TMP/session.away" "$SESSION"
	cp -rp "$TMP/moved" "$src"
fi

# ---- what goes wrong ---------------------------------------------------------

cp -p "$TMP/good" "$prog"
ok "nothing to show" complains 'add --source or --assembly' 2
ok "two profiles" complains 'cannot be compared here' 1 -s '{' a '}' '{' b '}'
ok "no match" complains 'nonesuch' 1 -s image:/bin/nonesuch
for bad in --threshold=101 --merge=foo --demangle=foo --color=foo --nosuch; do
	ok "$bad" complains . 2 -s "$bad"
done
ok "-o with -a" complains 'output-dir' 2 -a -o "$TMP/x"
ok "-b without -d" complains 'search-dirs' 2 -s -b /
ok "objdump without -a" complains 'assembly' 2 -s --objdump-params=-l
if [ -c /dev/full ]; then
	annotate -s >/dev/full
	is "a full disk" "$? $(grep -c 'standard output: cannot be written' "$TMP/err")" "1 1"
fi

# ---- many source files that are missing ----------------------------------------

rm -rf "$CURRENT"
prog=$TMP/many P="{root}$TMP/many"
for i in 1 2 3 4 5; do
	printf '#line 1 "/nowhere/%s.c"\nint f%s(int x) { return x * %s; }\n' \
		$i $i $i
done >"$TMP/many.c"
$cc -O1 -g -no-pie -Wl,--build-id -o "$prog" "$TMP/many.c" -x c - <<'END' || exit 1
int main(void) { return 0; }
END
find_section
for i in 1 2 3 4 5; do
	echo "$(offset_of "$(address f$i)") $i"
done | sample "$P/{dep}/$P/$E.all.all.all" mtime="$prog" event=118 count=100000
for how in -s "-s -a"; do
	# shellcheck disable=SC2086 # options
	annotate $how >"$TMP/out"
	like "$how: many missing sources are one line" "$(cat "$TMP/err")" \
		'^opannotate: warning: /nowhere/[1-5]\.c: cannot be read: No such file or directory; give its folder with --search-dirs \(and 4 more like this; --verbose lists them\)$'
	is "$how: and no more" "$(wc -l <"$TMP/err")" 1
	# shellcheck disable=SC2086 # options
	annotate $how --verbose=stats >"$TMP/out"
	is "$how: or one each" "$(sed -n 's|.*warning: /nowhere/\(.\)\.c: cannot be read.*directory; give its folder with --search-dirs$|\1|p' "$TMP/err" |
		sort | tr -d '\n')" 12345
done

# What compilers name like that is no file that one could look for.
sed 's|/nowhere/[1-5].c|<autogenerated>|' "$TMP/many.c" >"$TMP/made.c"
prog=$TMP/made P="{root}$TMP/made"
$cc -O1 -g -no-pie -Wl,--build-id -o "$prog" "$TMP/made.c" -x c - <<'END' || exit 1
int main(void) { return 0; }
END
find_section
rm -rf "$CURRENT"
echo "$(offset_of "$(address f1)") 1" | sample "$P/{dep}/$P/$E.all.all.all" \
	mtime="$prog" event=118 count=100000
annotate -s >"$TMP/out"
like "code without a source file" "$(cat "$TMP/err")" \
	'^opannotate: warning: [^ ]*<autogenerated>: not a file, so none of its lines are shown$'

# ---- several symbols -----------------------------------------------------------

# Two on a line, a second name for one, a long instruction, and two whose lines
# are not in the order of their addresses.
rm -rf "$CURRENT"
prog=$TMP/names P="{root}$TMP/names"
cat >"$src/names.c" <<'END'
#include <stdio.h>
int one(int x) { return x + 1; } int two(int x) { return x + 2; }
unsigned long long name(void) { return 0x1122334455667788; }
extern __typeof__(name) a_name __attribute__((alias("name")));
void slot(void) { puts(""); }
int main(void) { return 0; }
#line 9 "/nowhere/order.c"
int late(int x) { return x + 3; }
#line 2 "/nowhere/order.c"
int early(int x) { return x + 4; }
END
echo 'int plain(int x) { return x + 5; }' |
	$cc -O1 -g0 -c -x c -o "$TMP/plain.o" - || exit 1
$cc -O1 -g -no-pie -fno-plt -Wl,--build-id -o "$prog" "$src/names.c" \
	"$TMP/plain.o" || exit 1
find_section
{
	for f in one two name late early slot; do
		echo "$(offset_of "$(address $f)") 2"
	done
	echo "$(offset_of "$(address plain)") 3"
} | sample "$P/{dep}/$P/$E.all.all.all" mtime="$prog" event=118 count=100000
annotate -s -n >"$TMP/out"
like "two symbols on a line have their own counts, and one sum" "$(cat "$TMP/out")" \
	' /\* one      2 13\.3333, two      2 13\.3333, total:      4 26\.6667 \*/$'
like "code without lines in a binary that has some" "$(cat "$TMP/err")" \
	"warning: $prog: no source lines for 3 samples .*, in plain; that code was not compiled with -g\$"
is "symbols of a missing file are by address" \
	"$(sed -n 's/^ \/\* \([a-z]*\) total:.*/\1/p' "$TMP/out" | tr '\n' ' ')" \
	"$(nm -n "$prog" | awk '$3 == "late" || $3 == "early" { printf "%s ", $3 }')"
# theirs NAME ARG...: what objdump writes about it.
theirs() {
	name=$1
	shift
	objdump -d "$@" "$prog" | awk -v f="<$name>:" '
		$2 == f { on = 1 } /^$/ { on = 0 } on' | sed 's/ *$//'
}
# ours NAME ARG...: what is written about it.
ours() {
	name=$1
	shift
	annotate -a -n "$@" | awk -v f="<$name>:" '
		$2 == f { on = 1; print $1, $2; next }
		$1 == ":" && NF == 1 { on = 0 }
		on { sub(/^[^:]*:/, ""); print }' | sed 's/ *$//'
}
is "a symbol is called what objdump calls it" "$(ours a_name)" \
	"$(theirs a_name --no-show-raw-insn)"
is "a slot of an address is called by what will be there" "$(ours slot)" \
	"$(theirs slot --no-show-raw-insn)"
is "bytes are in rows" "$(ours a_name --objdump-params=--show-raw-insn)" \
	"$(theirs a_name)"
is "or in one" "$(ours a_name --objdump-params='--show-raw-insn -w')" \
	"$(theirs a_name -w)"
done_testing
