#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# opimport: sample files and whole sessions of earlier versions, of machines
# of either byte order and word size, and what is refused.
# sanitized: yes
. "$(dirname "$0")/../lib.sh"

E=CPU_CLK_UNHALTED.100000.0

# classic FILE [NAME=VALUE...] <pairs: a classic sample file.
classic() {
	"$TESTBIN/mkclassic" "$@" event=118 count=100000
}

import() {
	"$BIN/opimport" "$@"
}

dump() {
	"$TESTBIN/mkodb" --dump "$1"
}

# dump_sample SESSION NAME: the same of a sample file that was converted.
dump_sample() {
	dump "$1/samples/current/$(sample_path "$2")"
}

report() {
	"$BIN/opreport" --session-dir="$NEW" "$@" 2>"$TMP/err"
}

# refuses NAME STATUS ERE ARG...: one line about it, nothing else.
refuses() {
	name=$1 wanted=$2 ere=$3
	shift 3
	import "$@" >"$TMP/out" 2>"$TMP/err"
	got=$?
	like "$name" "$got $(wc -l <"$TMP/err") $(cat "$TMP/out" "$TMP/err")" \
		"^$wanted 1 opimport: .*$ere"
}

# ---- one file ----------------------------------------------------------------

wanted="kind file
event 118
count 100000
um 0
timer-hz 0
mtime 1577934245
anon-start 0x0
build-id 
cpu-khz 2400000
cpu-type x86-64/family10
0x1000 7
0x1004 9
0x2008 70000
0x123456789 4000000000"
for version in 0x12 0x13; do
	[ $version = 0x12 ] && cpu=44 || cpu=35
	for align in 4 8; do
		for big in 0 1; do
			how="version=$version align=$align big-endian=$big"
			rm -f "$TMP/new"
			# shellcheck disable=SC2086 # several words
			printf '%s\n' '0x1004 9' '0x1000 7' '0x2008 70000' \
				'0x123456789 4000000000' |
				classic "$TMP/old" $how mtime=1577934245 cpu-type=$cpu
			# shellcheck disable=SC2086
			"$TESTBIN/mkclassic" --abi "$TMP/abi" $how
			import -a "$TMP/abi" -o "$TMP/new" "$TMP/old"
			is "a file of $how" "$(dump "$TMP/new")" "$wanted"
		done
	done
done

refuses "the output is there" 1 "$TMP/new: already exists; --force" \
	-a "$TMP/abi" -o "$TMP/new" "$TMP/old"
echo '0x1 1' | classic "$TMP/old" version=0x13 align=8 big-endian=1
ok "--force replaces it" import -f -a "$TMP/abi" -o "$TMP/new" "$TMP/old"
is "by the new one" "$(dump "$TMP/new" | tail -n 1)" "0x1 1"
refuses "it is converted already" 1 "$TMP/new: .*needs no import" \
	-a "$TMP/abi" -o "$TMP/newer" "$TMP/new"
is "nothing is left behind" "$(cd "$TMP" && find . -name '.op*' -o -name newer)" ""
chmod 644 "$TMP/new"
"$TESTBIN/mkclassic" --abi "$TMP/little" version=0x13
refuses "the wrong byte order" 1 "$TMP/old: the byte order" \
	-a "$TMP/little" -o "$TMP/newer" "$TMP/old"
"$TESTBIN/mkclassic" --abi "$TMP/narrow" version=0x13 align=4 big-endian=1
refuses "the wrong word size" 1 "$TMP/old: .*not of the given ABI" \
	-a "$TMP/narrow" -o "$TMP/newer" "$TMP/old"
head -c 1000 "$TMP/old" >"$TMP/short"
refuses "truncated" 1 "$TMP/short: truncated" \
	-a "$TMP/abi" -o "$TMP/newer" "$TMP/short"
refuses "no sample file" 1 "$TMP/abi: not a sample file" \
	-a "$TMP/abi" -o "$TMP/newer" "$TMP/abi"
refuses "no abi file" 1 "$TMP/old: not an ABI description" \
	-a "$TMP/old" -o "$TMP/newer" "$TMP/old"
refuses "no such file" 1 "$TMP/none: no such file" \
	-a "$TMP/abi" -o "$TMP/newer" "$TMP/none"
refuses "no such folder" 1 "$TMP/none/x: cannot be written: No such file" \
	-a "$TMP/abi" -o "$TMP/none/x" "$TMP/old"
refuses "a name that is too long" 1 "x: too long" \
	-a "$TMP/abi" -o "$TMP/$(printf '%05000d' 0)/x" "$TMP/old"
refuses "--abi is missing" 1 "abi" -o "$TMP/newer" "$TMP/old"
refuses "--output is missing" 2 "output" -a "$TMP/abi" "$TMP/old"
refuses "the file is missing" 2 "exactly one" -a "$TMP/abi" -o "$TMP/newer"
refuses "two files" 2 "exactly one" -a "$TMP/abi" -o "$TMP/newer" a b
refuses "a folder and a file" 2 "session" -s "$TMP" -o "$TMP/newer" a
refuses "an unknown option" 2 "--nosuch" --nosuch

echo '0x5 1' | classic "$TMP/x/{kern}/snd/{dep}/{kern}/snd/$E.all.all.all" kernel=1
"$TESTBIN/mkclassic" --abi "$TMP/abi"
ok "a file that lies in its session" import -a "$TMP/abi" -o "$TMP/snd" \
	"$TMP/x/{kern}/snd/{dep}/{kern}/snd/$E.all.all.all"
is "its name tells what it is about" "$(dump "$TMP/snd" | head -n 1)" "kind module"
echo '0x5 1' | classic "$TMP/odd" cpu-type=1000
like "a CPU type without a name" \
	"$(import -a "$TMP/abi" -o "$TMP/odd.new" "$TMP/odd" 2>&1)" \
	"^opimport: warning: $TMP/odd: unknown CPU type 1000"

# A disk without any room: the name that is told is the one that was asked for.
mkdir "$TMP/full"
cat >"$TMP/full.sh" <<END
mount -t tmpfs -o size=4k none "$TMP/full" || exit 77
echo x >"$TMP/full/x"
"$BIN/opimport" -a "$TMP/abi" -o "$TMP/full/new" "$TMP/odd"
echo "status \$?, left: \$(ls -A "$TMP/full")"
END
if unshare -rm true 2>/dev/null; then
	is "a full disk" "$(unshare -rm sh "$TMP/full.sh" 2>&1)" \
		"opimport: $TMP/full/new: cannot be written: No space left on device
status 1, left: x"
else
	skip "a full disk" "no user namespaces here"
fi

# ---- a session ---------------------------------------------------------------

OLD=$TMP/classic NEW=$TMP/new.session
S=$OLD/samples/current
cat >"$TMP/prog.c" <<'END'
int hot(int x) { return x * 3 + 1; }
int cold(int x) { return x * 5 + 2; }
int main(int argc, char **argv) { (void)argv; return hot(argc) + cold(argc); }
END
cc=${CC:-cc}
$cc -O0 -g -o "$TMP/prog" "$TMP/prog.c" || exit 1
offset() {
	nm "$TMP/prog" | awk -v f="$1" '$3 == f { print "0x" $1 }'
}
P="{root}$TMP/prog" K='{kern}/no-vmlinux' A='{anon:[heap]}/7.0x10000.0x20000'
printf '%s 60\n%s 30\n' "$(offset hot)" "$(offset cold)" |
	classic "$S/$P/{dep}/$P/$E.all.all.all" mtime="$TMP/prog"
printf '0xffffffff81000000 6\n0xffffffff81000010 3\n' |
	classic "$S/$K/{dep}/$K/$E.all.all.all" kernel=1
echo '0x10 1' |
	classic "$S/$P/{dep}/$A/$E.all.all.all" anon-start=0x10000
printf '0x100000200 5\n' |
	classic "$S/$P/{dep}/$P/{cg}/$P/$E.all.all.all" mtime="$TMP/prog"
echo '0x1 17' | classic "$OLD/samples/last week/$P/{dep}/$P/$E.all.all.all"
"$TESTBIN/mkclassic" --abi "$OLD/abi"
printf '%s\n' '-- OProfile Statistics --' 'Nr. lost kernel samples: 41' \
	'-- OProfile Statistics --' 'Nr. lost kernel samples: 42' \
	'Nr. samples lost due to sample file open failure: 0' \
	'Nr. samples lost cpu buffer overflow: 9' 'Nr. kernel samples: 8' \
	'Nr. lost kernel samples: x' >"$OLD/samples/oprofiled.log"
mkdir -p "$S/stats/cpu0" "$S/stats/cpu1" "$S/stats/throttled"
echo 5 >"$S/stats/cpu0/sample_lost_overflow"
echo 2 >"$S/stats/cpu1/sample_lost_overflow"
echo 100 >"$S/stats/cpu1/sample_received"
echo 77 >"$S/stats/bt_lost_no_mapping"
echo many >"$S/stats/event_lost_overflow"
echo 1 >"$S/stats/throttled/CYCLES"

import --session "$OLD" --output "$NEW" 2>"$TMP/said"
is "a session" "$(tail -n 1 "$TMP/said")" \
	"opimport: 2 sessions, 5 sample files (1 of call graphs)"
is "its report" "$(report -n)" "\
       91 91.0000 prog
	       90 98.9011 prog
	        1  1.0989 [heap] (tgid:7 range:0x10000-0x20000)
        9  9.0000 no-vmlinux"
is "its symbols" "$(report -n -l -x "$TMP/prog")" "\
60       66.6667  hot
30       33.3333  cold"
is "its other session" "$(report -n 'session:last week')" "       17 100.000 prog"
is "the kernel without a vmlinux" \
	"$(dump_sample "$NEW" "$K/{dep}/$K/$E.all.all.all" | head -n 1)" \
	"kind pseudo"
is "anonymous memory" "$(dump_sample "$NEW" "$P/{dep}/$A/$E.all.all.all" |
	grep -e kind -e anon-start | tr '\n' ' ')" "kind anon anon-start 0x10000 "
is "a call graph" "$(dump_sample "$NEW" "$P/{dep}/$P/{cg}/$P/$E.all.all.all" |
	tail -n 1)" "0x100000200 5"
is "what was lost is in its account" "$(grep -v '^stacks' "$NEW/samples/current/ledger")" "\
source = imported
taken = 149
stored = 100
pending = 0
lost.sample_lost_overflow = 7
lost.lost_kernel = 42
lost.lost_sample_file = 0"
like "and in reports" "$(report | "$TESTBIN/facts")" '^Samples: 149 = 100 \+ 49 '
ok "but not in that of which nothing is known" not test -e "$NEW/samples/last week/ledger"
like "that the kernel throttled is said" "$(cat "$TMP/said")" \
	'^opimport: .*/samples/current: the kernel throttled CYCLES; samples of it are missing'
rm -r "$S/stats/throttled"
refuses "twice to one place" 1 "$NEW/samples: it already contains samples" \
	--session "$OLD" --output "$NEW"

# The same from a machine of the other byte order and word size.
rm "$OLD/abi"
printf '%s 60\n%s 30\n' "$(offset hot)" "$(offset cold)" |
	classic "$S/$P/{dep}/$P/$E.all.all.all" mtime="$TMP/prog" \
		version=0x13 align=4 big-endian=1 cpu-type=35
ok "without an abi file" import --session "$OLD" --output "$TMP/guessed"
is "equals the one with it" "$(dump_sample "$TMP/guessed" "$P/{dep}/$P/$E.all.all.all")" \
	"$(dump_sample "$NEW" "$P/{dep}/$P/$E.all.all.all")"

# Names that need escapes now.
echo '0x1 3' | classic "$S/{root}/a%b/{x/{dep}/{root}/a%b/{x/$E.all.all.all"
ok "a name that needs escapes" import --session "$OLD" --output "$TMP/escaped"
is "has them" "$(dump_sample "$TMP/escaped" "{root}/a%25b/%7bx/{dep}/{root}/a%25b/%7bx/$E.all.all.all" |
	tail -n 1)" "0x1 3"

# One that is damaged does not keep the others from it.
rm -r "$S/{root}/a%b"
printf 'DAE\n' >"$S/$K/{dep}/$K/$E.all.all.all"
import --session "$OLD" --output "$TMP/most" 2>"$TMP/err"
is "a damaged file makes a bad status" $? 1
is "and is told with all there is to tell" "$(sed "s|$TMP/||g" "$TMP/err")" \
	"opimport: classic/samples/current/$K/{dep}/$K/$E.all.all.all: not a sample file of an earlier OProfile
opimport: 2 sessions, 4 sample files (1 of call graphs)
opimport: classic: 1 files could not be converted; their samples are missing in most"
NEW=$TMP/most
is "the others are there" "$(report -n -x)" "       90 100.000 prog"

refuses "no session folder" 1 "$TMP/x: contains no folder samples" \
	--session "$TMP/x" --output "$TMP/y"
refuses "no folder at all" 1 "$TMP/none: contains no folder samples" \
	--session "$TMP/none" --output "$TMP/y"
mkdir -p "$TMP/empty/samples/current"
refuses "an empty session" 1 "$TMP/empty/samples: there are no sample files" \
	--session "$TMP/empty" --output "$TMP/y"
echo x >"$OLD/abi"
refuses "a damaged abi file" 1 "$OLD/abi:1: not an ABI description" \
	--session "$OLD" --output "$TMP/y"
is "writes nothing" "$(ls -d "$TMP/y" 2>&1)" \
	"ls: cannot access '$TMP/y': No such file or directory"
# ---- offsets of 32 bits ----------------------------------------------------------

OLD=$TMP/old.far NEW=$TMP/new.far
S=$OLD/samples/current
far='{anon:anon}/7.0x10000.0x7f0000000000' near='{anon:anon}/7.0x10000.0x100010000'
printf '0x100000200 5\n0x300000400 6\n' |
	classic "$S/$P/{dep}/$far/{cg}/$P/$E.all.all.all"
printf '0x100000200 7\n' | classic "$S/$P/{dep}/$P/{cg}/$far/$E.all.all.all"
printf '0x100000200 9\n' | classic "$S/$P/{dep}/$near/{cg}/$P/$E.all.all.all"
printf '0x100000200 3\n' | classic "$S/$P/{dep}/$far/$E.all.all.all"
is "calls from and to much anonymous memory are counted" \
	"$(import --session "$OLD" --output "$NEW" 2>&1)" \
	"opimport: 1 session, 4 sample files (3 of call graphs)
opimport: warning: 18 calls are to or from anonymous memory of more than 4 GiB; \
the original kept 32 bits of their offsets, so that their symbols may be wrong"

# ---- JIT code ------------------------------------------------------------------

# What opjitconv left beside the samples: sections at the addresses of the code.
cat >"$TMP/jit.s" <<'END'
	.macro method name, size
	.type "\name", @function
"\name":
	.skip \size, 0x90
	.size "\name", \size
	.endm
	.text
	method "Lcom/x/Foo;bar(I)V%100", 128
	method "Lcom/x/Foo;baz()I", 64
	method "Lcom/x/Foo;baz()I~1", 64
	method "La/B;sum([[JLjava/lang/String;Z)[La/B$C;", 64
	method "La/B;no(", 64
END
$cc -c -o "$TMP/jit.o" "$TMP/jit.s" || exit 1
OLD=$TMP/old.jit NEW=$TMP/new.jit
S=$OLD/samples/current J="{root}$TMP/java"
cp "$TMP/prog" "$TMP/java"
jit="$S/$J/{dep}/{anon:anon}"
mkdir -p "$jit"
objcopy --change-section-vma .text=0x7f1000000000 "$TMP/jit.o" "$jit/7.jo"
printf '0x0 20\n0x7f 11\n0x80 17\n0xc0 6\n0x100 8\n0x140 9\n0x9000 2\n' | classic \
	"$jit/7.0x7f1000000000.0x7f1000021000/$E.all.all.all" anon-start=0x7f1000000000
printf '0x10 7\n0x80 3\n0xc1 5\n0x101 1\n' | classic \
	"$jit/7.0x7f0fffffffb0.0x7f1000000000/$E.all.all.all" anon-start=0x7f0fffffffb0
printf '0x10 4\n' | classic \
	"$jit/8.0x7f1000000000.0x7f1000021000/$E.all.all.all" anon-start=0x7f1000000000
is "JIT code" "$(import --session "$OLD" --output "$NEW" 2>&1)" \
	"opimport: 1 session, 3 sample files (0 of call graphs)"
rows() {
	report -n "$@" | sed 's/  */ /g'
}
is "has names" "$(rows -l | cut -d ' ' -f 1,3-)" "$(cat <<'END'
39 7.jo Lcom/x/Foo;bar(I)V%100
18 7.jo int com.x.Foo.baz()
9 7.jo La/B;no(
8 7.jo a.B$C[] a.B.sum(long[][], java.lang.String, boolean)
7 anon (tgid:7 range:0x7f0fffffffb0-0x7f1000000000) anon (tgid:7 range:0x7f0fffffffb0-0x7f1000000000)
6 7.jo int com.x.Foo.baz()~1
4 anon (tgid:8 range:0x7f1000000000-0x7f1000021000) anon (tgid:8 range:0x7f1000000000-0x7f1000021000)
2 anon (tgid:7 range:0x7f1000000000-0x7f1000021000) anon (tgid:7 range:0x7f1000000000-0x7f1000021000)
END
)"
is "and stays when the old session goes" "$(mv "$OLD" "$OLD.gone" &&
	rows -l --demangle=none | sed -n 's/^8 [^ ]* //p' &&
	rows -l --long-filenames | grep -c "$jit/7.jo ")" "7.jo La/B;sum([[JLjava/lang/String;Z)[La/B\$C;
5"
is "it has its addresses" "$(rows -l -w | grep 'Foo.baz() *$')" \
	"00007f1000000080 18 19.3548 7.jo int com.x.Foo.baz()"
mv "$OLD.gone" "$OLD"
# Of lines opjitconv wrote the table alone, which the original did not find.
cat >"$TMP/lines.s" <<'END'
	.file 1 "Foo.java"
	.globl loop
	.type loop, @function
loop:
	.loc 1 10
	.rept 128
	nop
	.endr
	.size loop, .-loop
END
$cc -g -c -o "$TMP/lines.o" "$TMP/lines.s" || exit 1
ld -Ttext=0x7f1000000000 -e loop -o "$jit/7.jo" "$TMP/lines.o" || exit 1
objcopy -R .debug_info -R .debug_abbrev -R .debug_aranges -R .debug_str "$jit/7.jo"
ok "JIT code with lines" import --session "$OLD" --output "$TMP/lines"
like "is shown with them" \
	"$("$BIN/opreport" --session-dir="$TMP/lines" -l -g 2>"$TMP/err")" \
	' Foo\.java:10 +7\.jo +loop'
echo elf >"$jit/7.jo"
import --session "$OLD" --output "$TMP/no.jit" 2>"$TMP/err"
is "what is no ELF file makes a bad status" $? 1
like "and is said" "$(cat "$TMP/err")" \
	"^opimport: $jit/7.jo: is not a sound ELF file; the samples in it have no symbols"
NEW=$TMP/no.jit
is "its samples are there" "$(report -n | awk '$1 ~ /^[0-9]+$/ { print $1; exit }')" 93

# The kernel as operf recorded it without --vmlinux: a vmlinux that is given
# names it, nothing else does.
K='{root}/proc/kallsyms' OLD=$TMP/kallsyms NEW=$TMP/kallsyms.new
mkdir "$TMP/kernel"
printf '%s\n' '.globl _text' '_text: .skip 16' '.type fork_it,@function' \
	'fork_it: .skip 16' | $cc -x assembler -nostdlib -static \
	-Wl,-e,0,-Ttext=0x81000000 -o "$TMP/kernel/vmlinux" - || exit 1
printf '0x14 6\n0x1f 3\n' |
	classic "$OLD/samples/current/$K/{dep}/$K/$E.all.all.all" kernel=1
ok "a kernel without a name" import --session "$OLD" --output "$NEW"
is "gets names from a vmlinux" "$(report -n -l -p "$TMP/kernel")" \
	"9        100.000  fork_it"
is "has none without" "$(report -n -l)" "9        100.000  /proc/kallsyms"
is "which is said" "$(cat "$TMP/err")" "opreport: warning: \
/proc/kallsyms: no symbols: the session does not name the kernel that was \
profiled; name the folder of its vmlinux with --image-path"

done_testing
