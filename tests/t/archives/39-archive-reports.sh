#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Reports on an archive: the same as at home, where nothing of home is; and
# what is said of an archive that is damaged.
# sanitized: yes
. "$(dirname "$0")/../lib.sh"

H=$TMP/home S=$TMP/home/session A=$TMP/archive R=$TMP/elsewhere
E=CPU_CLK_UNHALTED.100000.0 D=DATA_CACHE_MISSES.5000.0
mkdir -p "$H"
cd "$H" || exit 1

# Elsewhere: nothing but the tools and what they link; in the second tier in a fresh
# Debian (make check-debian).
case ${TIER:-check}-$O in
check-* | all-*/sanitized) ;;
*)
	. "$(dirname "$0")/../debian.sh"
	R=$DEBIAN
	;;
esac
mkdir -p "$R$BIN" "$R/tmp"
cp "$BIN/opreport" "$BIN/opannotate" "$BIN/opgprof" "$R$BIN"
ldd "$BIN/opreport" "$BIN/opannotate" | sed -n 's|^[^/]*\(/[^ ]*\) .*|\1|p' | while read -r lib; do
	mkdir -p "$R$(dirname "$lib")"
	[ -e "$R$lib" ] || cp -L "$lib" "$R$lib"
done
mkdir -p "$R/proc"
# inside TOOL ARG...
inside() {
	tool=$1
	shift
	# shellcheck disable=SC2016 # by that shell
	unshare -rm sh -c 'mount --rbind /proc "$0/proc" && exec chroot "$0" "$@"' \
		"$R" "$BIN/$tool" "$@"
}
inside opreport --version >/dev/null || skip_all "cannot change the root folder here"

sample() {
	file=$S/samples/$1
	shift
	"$TESTBIN/mkodb" "$file" cpu-khz=2400000 cpu-type=x86-64/family10 "$@"
}
id_of() {
	readelf -n "$1" | sed -n 's/.*Build ID: //p'
}

cat >prog.cc <<'END'
#include <vector>
template <class T> T __attribute__((noinline)) twice(T x) { return x + x; }
static int __attribute__((noinline)) cold(int x) { return x * 5 + 2; }
int main(int argc, char **)
{
	std::vector<int> v(argc);
	v[0] = twice(argc);
	return twice(2.5) + cold(v[0]);
}
END
echo 'int lib_entry(int x) { return x * 3; }' >lib.c
${CXX:-c++} -O1 -gdwarf-4 -Wl,--build-id -o prog prog.cc || exit 1
cc=${CC:-cc}
$cc -O1 -gdwarf-4 -shared -fPIC -Wl,--build-id -o lib.so lib.c || exit 1
$cc -O1 -shared -fPIC -Wl,--build-id=none -s -o bare.so lib.c || exit 1
# One debug file is found by the build-id, the other by its name.
echo 'int call_back(int (*f)(int)) { return f(2) + 1; }' >caller.c
$cc -O1 -shared -fPIC -Wl,--build-id -o caller.so caller.c || exit 1
id=$(id_of prog)
mkdir -p "$TMP/mnt/usr/lib/debug/.build-id/$(echo "$id" | cut -c1-2)" mod
nm -C prog >symbols
objcopy --only-keep-debug prog \
	"$TMP/mnt/usr/lib/debug/.build-id/$(echo "$id" | sed 's|..|&/|').debug"
strip prog
objcopy --only-keep-debug lib.so lib.so.debug
nm lib.so >>symbols
nm caller.so >>symbols
objcopy --strip-all --add-gnu-debuglink=lib.so.debug lib.so
$cc -O1 -gdwarf-4 -c -o mod/snd-fake.ko lib.c || exit 1
# Binaries lie below another root, as those of a container.
mkdir -p "$TMP/mnt$H"
mv prog ./*.so lib.so.debug "$TMP/mnt$H"
# The kernel's binary, where debug symbols of kernels are installed.
printf '.globl _stext\n.type _stext,@function\n_stext: nop\n nop\n.globl schedule\n.type schedule,@function\nschedule: nop\n nop\n' >k.s
mkdir -p "$TMP/mnt/usr/lib/debug/boot"
$cc -g -nostdlib -static -Wl,--build-id,-Ttext=0x1000000 -Wl,-e,_stext \
	-o "$TMP/mnt/usr/lib/debug/boot/vmlinux-1" k.s || exit 1
k=$(id_of "$TMP/mnt/usr/lib/debug/boot/vmlinux-1")
mkdir -p "$S/symbols"
printf '%s\n' "oprofile symbols 1 vmlinux $k" '0 T _stext' '2 T schedule' \
	>"$S/symbols/vmlinux-$k"
"$TESTBIN/mkksyms" "$S/symbols/vmlinux-$k"

at() {
	awk -v f="$1" '$0 ~ " [tTwW] " f { print "0x" $1; exit }' symbols
}
P="{root}$H/prog" L="{root}$H/lib.so" K='{kern}/vmlinux' B="{root}$H/bare.so"
for event in $E $D; do
	printf '%s 60\n%s 30\n%s 20\n%s 3\n' "$(at 'int twice')" \
		"$(at 'double twice')" "$(at cold)" 0x1030 |
		sample "current/$P/{dep}/$P/$event.all.all.all" build-id="$id"
	printf '%s 11\n' "$(at lib_entry)" |
		sample "current/$P/{dep}/$L/$event.all.all.all" \
			build-id="$(id_of "$TMP/mnt$H/lib.so")"
done
echo '0x1100 6' |
	sample "current/$P/{dep}/$B/$E.all.all.all" mtime="$TMP/mnt$H/bare.so"
echo '0x3 7' |
	sample "current/$K/{dep}/$K/$E.all.all.all" kind=kernel build-id="$k"
echo '0x1 5' |
	sample "current/{kern}/snd_fake/{dep}/{kern}/snd_fake/$E.all.all.all" kind=module
echo '0x10 4' | sample \
	"current/$P/{dep}/{anon:anon}/7.0x10000.0x20000/$E.all.all.all" \
	kind=anon anon-start=0x10000
echo '0x10 2' | sample "current/$P/{dep}/{root}/no/such.so/$E.all.all.all"
# Calls of a library, and by one that has no samples of its own.
C="{root}$H/caller.so"
call() {
	echo $(($1 << 32 | $2)) "$3"
}
call "$(at main)" "$(at lib_entry)" 11 |
	sample "current/$P/{dep}/$P/{cg}/$L/$E.all.all.all" build-id="$id"
call "$(at call_back)" "$(at cold)" 20 |
	sample "current/$P/{dep}/$C/{cg}/$P/$E.all.all.all" \
		build-id="$(id_of "$TMP/mnt$H/caller.so")"
call "$(at main)" "$(at call_back)" 20 |
	sample "current/$P/{dep}/$P/{cg}/$C/$E.all.all.all" build-id="$id"
# Stacks: so, too.
"$TESTBIN/mktree" "$S/samples/current/$P/{tree}/$E.all.all.all" \
	cpu-khz=2400000 cpu-type=x86-64/family10 <<END
image p root:$H/prog build-id=$id
image l root:$H/lib.so build-id=$(id_of "$TMP/mnt$H/lib.so")
image c root:$H/caller.so build-id=$(id_of "$TMP/mnt$H/caller.so")
image cut kern:[truncated] pseudo
stack 12 p+$(at main) c+$(at call_back) p+$(at cold)
stack 8 cut+0 l+$(at lib_entry)
END
cp -r "$S/samples/current" "$S/samples/before"
printf '%s 70\n' "$(at 'int twice')" |
	sample "before/$P/{dep}/$P/$E.all.all.all" build-id="$id"
printf '%s\n' 'source = test' 'taken = 190' 'stored = 187' 'pending = 0' \
	'lost.overflow = 3' | tee "$S/samples/current/ledger" \
	>"$S/samples/before/ledger"

ok "an archive" "$BIN/oparchive" --session-dir="$S" -R "$TMP/mnt" -p "$H/mod" \
	--with-sources -o "$A" session:current,before 2>/dev/null
ok "one of symbols" "$BIN/oparchive" --session-dir="$S" -R "$TMP/mnt" \
	-p "$H/mod" --symbols-only -o "$A.symbols" session:current,before 2>/dev/null

# ---- elsewhere ---------------------------------------------------------------

mv "$A" "$R/moved"
mv "$A.symbols" "$R/symbols"
# XML, annotations and flame graphs repeat the command line.
without_command() {
	sed '/^ title=/d; /^<options /d; /^ "about": /d'
}
# How to get names is said about files that are here, not about an archive.
without_cure() {
	sed '/^op[a-z]*: to name the functions of /d'
}
tool_at_home() {
	tool=$1
	shift
	"$BIN/$tool" --session-dir="$S" -R "$TMP/mnt" -p "$H/mod" "$@"
}
at_home() {
	tool_at_home opreport "$@" 2>&1 | without_cure
}
away() {
	archive=$1
	shift
	inside opreport "archive:/$archive" "$@" 2>&1
}
same() {
	at_home "$@" | without_command >"$TMP/wanted"
	for archive in moved symbols; do
		away $archive "$@" | without_command >"$TMP/got"
		ok "$archive: $*" diff "$TMP/wanted" "$TMP/got"
	done
}
like "it is about something" "$(at_home -l -g event:CPU_CLK_UNHALTED)" \
	'^60 .* prog.cc:2 .*int twice<int>'
for how in "" -l "-l -g -w" "-l -f -a" "-d -g" "-x -l" "-l --merge=lib" "-X" \
	"-X -g -l" --json "--json -l -g" "--csv -l" "-l -D none" "-l --intervals" \
	"-c event:CPU_CLK_UNHALTED" "-c -X event:CPU_CLK_UNHALTED" \
	"-c --json event:CPU_CLK_UNHALTED" \
	--format=folded "--format=folded event:CPU_CLK_UNHALTED -x" \
	"--format=flamegraph event:CPU_CLK_UNHALTED" \
	"-l session:before" "-l image:$H/prog" "-l lib-image:$H/mod/snd-fake.ko"; do
	# shellcheck disable=SC2086 # words
	same $how
done
like "calls have the names of what only calls" \
	"$(away moved -c event:CPU_CLK_UNHALTED)" '^ *12 .* call_back$'
is "stacks, too" \
	"$(away moved --format=folded event:CPU_CLK_UNHALTED | grep -c call_back)" 1
is "both have the lines of the kernel and of a module" \
	"$(away moved -l -g event:CPU_CLK_UNHALTED | grep -c -e ' k\.s:5 ' -e ' lib\.c:1 ')" \
	"$(at_home -l -g event:CPU_CLK_UNHALTED | grep -c -e ' k\.s:5 ' -e ' lib\.c:1 ')"
at_home -d -X event:CPU_CLK_UNHALTED | sed '/^ title=/d' >"$TMP/home.xml"
away moved -d -X event:CPU_CLK_UNHALTED | sed '/^ title=/d' >"$TMP/away.xml"
is "code, too" "$(sed -n '/<bytestable>/,$p' "$TMP/away.xml")" \
	"$(sed -n '/<bytestable>/,$p' "$TMP/home.xml")"
like "which is there" "$(cat "$TMP/away.xml")" '^([0-9a-f]{2})+</bytes>'
is "symbols alone have none" \
	"$(away symbols -d -X event:CPU_CLK_UNHALTED | sed -n '/<bytes /,/<.bytes>/p' |
		grep -v bytes)" ""
# A listing says where a binary is, at home below the other root.
plain() {
	"$@" 2>"$TMP/err" | sed "/Command line: /d; s|$TMP/mnt/|/|"
	without_cure <"$TMP/err"
}
for how in --source "--source --assembly" "--all --source --assembly" \
	"--all --source --exclude-file=*.cc"; do
	# shellcheck disable=SC2086 # words
	plain tool_at_home opannotate $how event:CPU_CLK_UNHALTED >"$TMP/wanted"
	# shellcheck disable=SC2086
	plain inside opannotate archive:/moved $how event:CPU_CLK_UNHALTED \
		>"$TMP/got"
	ok "opannotate $how" diff "$TMP/wanted" "$TMP/got"
done
like "which has source lines" "$(cat "$TMP/got")" '^ *16 .*:int lib_entry'
unlike "as chosen" "$(cat "$TMP/got")" 'prog\.cc'
inside opannotate --source archive:/moved -o /tmp/annotated 2>/dev/null
is "annotated files are called as at home" \
	"$(cd "$R/tmp/annotated" && find . -type f | sort | tr '\n' ' ')" \
	".$H/k.s .$H/lib.c .$H/prog.cc "
tool_at_home opgprof -o "$TMP/home.gmon" image:"$H/prog" \
	event:CPU_CLK_UNHALTED 2>/dev/null
inside opgprof -o /tmp/gmon archive:/symbols image:"$H/prog" \
	event:CPU_CLK_UNHALTED 2>/dev/null
ok "opgprof" cmp "$TMP/home.gmon" "$R/tmp/gmon"
is "a comparison" "$(inside opreport -l '{' archive:/moved session:before '}' \
	'{' archive:/symbols '}' event:CPU_CLK_UNHALTED 2>&1)" \
	"$(at_home -l '{' session:before '}' '{' '}' event:CPU_CLK_UNHALTED)"

# Nothing of the place where it is read comes into it.
mkdir -p "$R/no" "$R/usr/share/oprofile"
cp "$TMP/mnt$H/lib.so" "$R/no/such.so"
cp -r "$R/moved/.oparchive/events/x86-64" "$R/usr/share/oprofile"
sed -i 's/Cycles/Wheels/' "$R/usr/share/oprofile/x86-64/family10/events"
same -l event:CPU_CLK_UNHALTED

# ---- damage ------------------------------------------------------------------

A=$R/moved
report() {
	"$BIN/opreport" archive:"$A" "$@" 2>"$TMP/err"
}
# damaged NAME FILE ERE ARG...: it is said in one line that @FILE has changed.
damaged() {
	name=$1 file=$2 ere=$3
	shift 3
	cp -p "$file" "$TMP/whole"
	# One bit in the middle; the time stays.
	"$TESTBIN/mkodb" --break "$file" "flip=$(($(wc -c <"$file") / 2)):0x04"
	touch -r "$TMP/whole" "$file"
	report "$@" >"$TMP/stdout"
	is "$name is said once" "$(grep -c 'not the archived file' "$TMP/err")" 1
	like "$name: what" "$(cat "$TMP/err")" "$ere"
	cp -p "$TMP/whole" "$file"
}
report -l -g event:CPU_CLK_UNHALTED >"$TMP/good"
unlike "a sound one" "$(cat "$TMP/err")" archived
damaged "a sample file" "$A$S/samples/current/$P/{dep}/$P/$E.all.all.all" \
	"warning: $A.*/prog/$E.all.all.all: it is not the archived file; left out" -l
like "the others are reported" "$(cat "$TMP/stdout")" 'lib_entry'
damaged "a call tree" "$A$S/samples/current/$P/{tree}/$E.all.all.all" \
	"warning: $A.*/{tree}/$E.all.all.all: it is not the archived file; left out" \
	--format=folded session:current,before event:CPU_CLK_UNHALTED
damaged "a binary" "$A$H/prog" "warning: $A$H/prog: it is not the archived file; not used" -l
like "its samples have no names" "$(cat "$TMP/stdout")" "$H/prog$"
damaged "a debug file" "$A$H/.debug/lib.so.debug" \
	"warning: $A$H/.debug/lib.so.debug: it is not .*; not used" -l
damaged "the kernel's binary" "$A/usr/lib/debug/boot/vmlinux-1" \
	"warning: $A/usr/lib/debug/boot/vmlinux-1: it is not .*; not used" -l vmlinux
like "the session's symbols stand in for it" "$(cat "$TMP/stdout")" '^7 .*schedule$'
mv "$A/usr/lib/debug/boot/vmlinux-1" "$TMP"
damaged "the symbols of the kernel" "$A$S/symbols/vmlinux-$k" \
	"vmlinux: no symbols: .*vmlinux-$k: it is not the archived file" \
	-l vmlinux
mv "$TMP/vmlinux-1" "$A/usr/lib/debug/boot"
damaged "the account" "$A$S/samples/current/ledger" \
	"ledger: it is not the archived file; how many samples were lost is not known"
damaged "the descriptions of events" "$A/.oparchive/events/x86-64/family10/events" \
	"events: it is not the archived file; events are not described"
damaged "what is about the archive" "$A/.oparchive/facts" \
	"facts: it is not the archived file; archive the session again"
cp -p "$A$H/lib.c" "$TMP/whole"
echo '/* more */' >>"$A$H/lib.c"
touch -r "$TMP/whole" "$A$H/lib.c"
is "a source file is said once" "$("$BIN/opannotate" --source archive:"$A" \
	event:CPU_CLK_UNHALTED 2>&1 | grep 'not the archived')" \
	"opannotate: warning: $A$H/lib.c: it is not the archived file; not used"
cp -p "$TMP/whole" "$A$H/lib.c"
mv "$A/.oparchive/SHA256SUMS" "$TMP/sums"
report >"$TMP/stdout"
like "its list is gone" "$? $(wc -l <"$TMP/err") $(cat "$TMP/err")" \
	"^1 1 opreport: $A/.oparchive/SHA256SUMS: it is missing"
head -c 1000 "$TMP/sums" >"$A/.oparchive/SHA256SUMS"
report >"$TMP/stdout"
like "its list is cut" "$? $(wc -l <"$TMP/err") $(cat "$TMP/err")" \
	"^1 1 opreport: $A/.oparchive/SHA256SUMS:[0-9]*: "
cp "$TMP/sums" "$A/.oparchive/SHA256SUMS"
rm "$A$S/samples/current/$P/{dep}/$L/$E.all.all.all"
report >"$TMP/stdout"
is "a file is gone" "$(cat "$TMP/err")" \
	"opreport: warning: $A$S/samples/current/$P/{dep}/$L/$E.all.all.all: missing in the archive; its content is left out"
cp "$A/.oparchive/facts" "$TMP/facts"
for fact in 'format = 2' 'format = x' 'session = relative' 'session = /a/../..' \
	'no fact'; do
	echo "$fact" >>"$A/.oparchive/facts"
	(cd "$A" && sha256sum .oparchive/facts >>.oparchive/SHA256SUMS &&
		sort -u -k 2 -o .oparchive/SHA256SUMS .oparchive/SHA256SUMS)
	report >"$TMP/stdout"
	is "facts: $fact" "$? $(wc -l <"$TMP/err") $(wc -c <"$TMP/stdout")" "1 1 0"
	cp "$TMP/facts" "$A/.oparchive/facts"
	cp "$TMP/sums" "$A/.oparchive/SHA256SUMS"
done
rm -r "$A/.oparchive"
like "made by hand, with the session where it was said to be" \
	"$("$BIN/opreport" --session-dir="$S" archive:"$A" -n 2>&1)" ' prog$'
mkdir "$TMP/empty"
for bad in archive:"$TMP/empty" archive:"$TMP/none" archive:"$A,$A"; do
	"$BIN/opreport" "$bad" >"$TMP/stdout" 2>"$TMP/err"
	is "$bad" "$? $(wc -l <"$TMP/err") $(wc -c <"$TMP/stdout")" "1 1 0"
done
done_testing
