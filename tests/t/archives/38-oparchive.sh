#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# oparchive: what it takes, where it puts that, and what is left when it fails.
# sanitized: yes
. "$(dirname "$0")/../lib.sh"

# A session folder of a plain name, so that paths can be compared.
H=$TMP/home S=$TMP/home/session
E=CPU_CLK_UNHALTED.100000.0
mkdir -p "$H" "$TMP/out"
cd "$H" || exit 1

sample() {
	file=$S/samples/$1
	shift
	"$TESTBIN/mkodb" "$file" event=118 count=100000 \
		cpu-type=x86-64/family10 "$@"
}
archive() {
	"$BIN/oparchive" --session-dir="$S" "$@" 2>"$TMP/err"
}
# files DIR: all in an archive but what is its own, labels too.
files() {
	(cd "$1" && find . -type f ! -path './.oparchive/*' ! -name labels | sort)
}
# left: what there is in the folder for archives.
left() {
	(cd "$TMP/out" && find . | sort | tr '\n' ' ')
}
# refuses NAME STATUS ERE ARG...: one line about it, nothing left.
refuses() {
	name=$1 wanted=$2 ere=$3
	shift 3
	before=$(left)
	archive "$@" >"$TMP/stdout"
	got=$?
	like "$name" "$got $(wc -l <"$TMP/err") $(cat "$TMP/stdout" "$TMP/err")" \
		"^$wanted 1 oparchive: .*$ere"
	is "$name: nothing is left of it" "$(left)" "$before"
}

cat >prog.c <<'END'
#include "prog.h"
int cold(int x) { return x * 5 + 2; }
int main(int argc, char **argv) { (void)argv; return hot(argc) + cold(argc); }
END
echo 'static int __attribute__((noinline)) hot(int x) { return x * 3 + 1; }' >prog.h
cc=${CC:-cc}
build() {
	$cc -O1 -gdwarf-4 -Wl,--build-id "$@" prog.c || exit 1
}
build -o prog
build -o lib.so -shared -fPIC
# A file's key of a function is its address where both are the same there.
offset() {
	nm "$1" | awk -v f="$2" '$3 == f { print "0x" $1 }'
}
id_of() {
	readelf -n "$1" | sed -n 's/.*Build ID: //p'
}
P="{root}$H/prog" L="{root}$H/lib.so" K='{kern}/vmlinux' M='{kern}/fake'
k=0123456789abcdef
hot=$(offset prog hot)
printf '%s 60\n%s 30\n' "$hot" "$(offset prog cold)" |
	sample "current/$P/{dep}/$P/$E.all.all.all" build-id="$(id_of prog)"
printf '%s 10\n' "$(offset lib.so cold)" |
	sample "current/$P/{dep}/$L/$E.all.all.all" build-id="$(id_of lib.so)"
printf '0x1000 7\n' |
	sample "current/$K/{dep}/$K/$E.all.all.all" kind=kernel build-id=$k
printf '0x10 5\n' |
	sample "current/$M/{dep}/$M/$E.all.all.all" kind=module
printf '0x100000200 5\n' |
	sample "current/$P/{dep}/$P/{cg}/$L/$E.all.all.all" build-id="$(id_of prog)"
printf '%s 3\n' "$hot" |
	sample "week/$P/{dep}/$P/$E.all.all.all" build-id="$(id_of prog)"
mkdir -p "$S/symbols"
printf '%s\n' "oprofile symbols 1 vmlinux $k" '0 T _stext' '1000 T schedule' \
	>"$S/symbols/vmlinux-$k"
"$TESTBIN/mkksyms" "$S/symbols/vmlinux-$k"
printf '%s\n' 'oprofile symbols 1 fake -' '0 t fake_work' >"$S/symbols/fake"
cp "$S/symbols/fake" "$S/symbols/other"
printf '%s\n' 'source = test' 'taken = 120' 'stored = 117' 'pending = 0' \
	'lost.overflow = 3' >"$S/samples/current/ledger"
echo started >"$S/samples/oprofiled.log"
touch -d '2001-02-03 04:05:06.789' prog
chmod 500 prog

# ---- what it takes -----------------------------------------------------------

wanted="./$H/lib.so
./$H/prog
./$S/samples/current/$K/{dep}/$K/$E.all.all.all
./$S/samples/current/$M/{dep}/$M/$E.all.all.all
./$S/samples/current/$P/{dep}/$L/$E.all.all.all
./$S/samples/current/$P/{dep}/$P/$E.all.all.all
./$S/samples/current/$P/{dep}/$P/{cg}/$L/$E.all.all.all
./$S/samples/current/ledger
./$S/samples/oprofiled.log
./$S/symbols/fake
./$S/symbols/vmlinux-$k"
wanted=$(echo "$wanted" | sed 's|^\.//|./|' | sort)
ok "an archive" archive -o "$TMP/out/a"
is "nothing to complain about" "$(cat "$TMP/err")" ""
is "its files" "$(files "$TMP/out/a")" "$wanted"
is "are what is listed" "$(archive -l | sed 's/^/./' | sort)" "$wanted"
is "a listing says nothing else" "$(cat "$TMP/err")" ""
is "the descriptions of the CPU's events" \
	"$(cd "$TMP/out/a/.oparchive/events" && find . -type f | sort | tr '\n' ' ')" \
	"./x86-64/family10/cpu ./x86-64/family10/events ./x86-64/family10/original ./x86-64/family10/unit_masks "
is "nothing else beside it" "$(ls -A "$TMP/out")" a
is "time and mode of a binary, which its owner may write" \
	"$(stat -c '%y %a' "$TMP/out/a$H/prog")" "$(stat -c %y prog) 700"
ok "every file has its hash" sh -c "cd '$TMP/out/a' &&
	sha256sum --quiet --strict -c .oparchive/SHA256SUMS &&
	[ \$(wc -l <.oparchive/SHA256SUMS) -eq \$((\$(find . -type f | wc -l) - 1)) ]"

ok "libraries left out" archive -x -o "$TMP/out/x"
# But for the library itself, which the program's calls name.
is "with the files about them" "$(files "$TMP/out/x")" \
	"$(echo "$wanted" | grep -v -e "/{dep}/$L/")"
ok "an image alone" archive -o "$TMP/out/one" lib-image:"$H/lib.so"
is "is all there is" "$(files "$TMP/out/one" | grep -v -e ledger -e log)" \
	"$(echo "$wanted" | grep -e "/{dep}/$L/" -e home/lib.so$)"
is "it needs no call graphs" "$(cat "$TMP/err")" ""
ok "two sessions" archive -o "$TMP/out/two" session:current,week
is "are both in it" "$(files "$TMP/out/two" | sed -n 's|.*/samples/||p' |
	grep -c -e '^week/{root}' -e '^current/{root}')" 4
ok "by the path of one" archive -o "$TMP/out/path" session:"$S/samples/week"
is "too" "$("$BIN/opreport" -n archive:"$TMP/out/path" session:"$S/samples/week" 2>&1)" \
	"        3 100.000 prog"
ok "sources" archive --with-sources -o "$TMP/out/sources"
is "are those that were sampled" "$(files "$TMP/out/sources" | grep 'prog\.[ch]')" \
	".$H/prog.c
.$H/prog.h"
rm prog.h
ok "sources that are gone" archive --with-sources -o "$TMP/out/gone"
is "are said once" "$(cat "$TMP/err")" \
	"oparchive: warning: 1 source file cannot be found, the first: $H/prog.h; annotations will lack them"
ok "an archive of an archive" "$BIN/oparchive" -o "$TMP/out/again" \
	archive:"$TMP/out/a"
ok "is the same" diff -r "$TMP/out/a" "$TMP/out/again"

# ---- binaries in other places ------------------------------------------------

mkdir -p "$TMP/mnt$H" "$TMP/found/deep"
mv lib.so "$TMP/mnt$H"
cp -p prog "$TMP/mnt$H"
ok "below another root" archive -o "$TMP/out/root" -R "$TMP/mnt"
is "are where they would be without" "$(files "$TMP/out/root")" "$wanted"
mv "$TMP/mnt$H/lib.so" "$TMP/found/deep"
ok "in the image path" archive -o "$TMP/out/found" -p "$TMP//found/./"
is "are there in the archive" "$(files "$TMP/out/found" | grep lib.so$)" \
	".$TMP/found/deep/lib.so"
like "which is remembered" "$(cat "$TMP/out/found/.oparchive/facts")" \
	"^image-path = $TMP/found$"
is "and found again" "$(mv "$TMP/found" "$TMP/hidden"
	"$BIN/opreport" -l archive:"$TMP/out/found" lib-image:"$H/lib.so" 2>&1 | tail -n 1
	mv "$TMP/hidden" "$TMP/found")" \
	"10       100.000  lib.so                   cold"
mv "$TMP/found/deep/lib.so" .

objcopy --only-keep-debug lib.so lib.so.debug
cp -p lib.so lib.so.good
objcopy --strip-all --add-gnu-debuglink=lib.so.debug lib.so
ok "a separate debug file" archive -o "$TMP/out/debug"
is "is beside its binary" "$(files "$TMP/out/debug" | grep 'debug$')" \
	".$H/.debug/lib.so.debug"
cp -p lib.so.good lib.so

# The session's copy of a binary that was replaced.
mkdir -p "$S/images"
mv lib.so "$S/images/lib.so-$(id_of lib.so)"
echo other >lib.so
ok "a binary that was replaced" archive -o "$TMP/out/copy"
is "is the session's copy" "$(files "$TMP/out/copy" | grep 'lib\.so[^/]*$')" \
	".$S/images/lib.so-$(id_of lib.so.good)"
rm lib.so
ok "one that is gone" archive -x -o "$TMP/out/copies" image:"$H/prog"
rm -r "$S/images"
ok "without a copy" archive -o "$TMP/out/none"
is "is said in one line" "$(cat "$TMP/err")" \
	"oparchive: warning: $H/lib.so: no symbols: not found; give its folder with --image-path or --root"
cp -p lib.so.good lib.so

# ---- what fails leaves nothing ------------------------------------------------

refuses "nowhere to write to" 2 "--output-directory"
refuses "the root folder" 2 "--output-directory=//: " -o //
refuses "no such option" 2 "--nosuch" --nosuch
refuses "a comparison" 1 "braces" -o "$TMP/out/n" '{' session:week '}' '{' '}'
refuses "no such session" 1 "nosuch: no such session" -o "$TMP/out/n" session:nosuch
refuses "no such image" 1 "image:/n: no sample files" -o "$TMP/out/n" image:/n
refuses "no such root" 1 "/none: No such file" -o "$TMP/out/n" -R "$TMP/none"
refuses "an archive that is there" 1 "out/a: already exists; .*--force" \
	-o "$TMP/out/a/"
echo mine >"$TMP/out/file"
refuses "a file" 1 "out/file: already exists" -o "$TMP/out/file"
refuses "also by force" 1 "out/file: already exists and is not an archive" \
	--force -o "$TMP/out/file"
mkdir "$TMP/out/mine" && echo mine >"$TMP/out/mine/file"
refuses "a folder with other things" 1 "out/mine: .* is not an archive" \
	--force -o "$TMP/out/mine"
is "which stay" "$(cat "$TMP/out/mine/file" "$TMP/out/file" | sort -u)" mine
ok "--force replaces an archive" archive --force -x -o "$TMP/out/a"
is "by the new one" "$(files "$TMP/out/a")" "$(files "$TMP/out/x")"
mkdir "$TMP/out/empty"
ok "an empty folder is a place, too" archive -o "$TMP/out/empty"
ok "new folders on the way" archive -o "$TMP/out/p/q/r"
like "hold it" "$(files "$TMP/out/p/q/r")" "$H/prog$"
rm -rf "$TMP/out" && mkdir "$TMP/out"

# As another user, if this is root: root may read all.
chmod 0 prog
touch "$S/samples/current/$K/{dep}/$K/unreadable"
chmod 755 "$TMP" && chmod 777 "$TMP/out"
as_user "$BIN/oparchive" --session-dir="$S" -o "$TMP/out/a" 2>"$TMP/err"
is "a binary that may not be read: status" $? 0
like "is said" "$(cat "$TMP/err")" "warning: $H/prog: no symbols: permission denied"
is "and left out" "$(files "$TMP/out/a" | grep -c -e 'home/prog$' -e 'home/lib.so$')" 1
chmod 755 prog
rm -rf "$TMP/out/a" "$S/samples/current/$K/{dep}/$K/unreadable"

# The disk is full: a file system in memory, as large as one binary.
cat >"$TMP/full" <<END
mount -t tmpfs -o size=64k none "$TMP/out" || exit 77
"$BIN/oparchive" --session-dir="$S" -o "$TMP/out/a"
echo "status \$?, left: \$(ls -A "$TMP/out")"
END
if unshare -rm true 2>/dev/null; then
	head -c 200000 /dev/urandom >>prog
	unshare -rm sh "$TMP/full" >"$TMP/stdout" 2>"$TMP/err"
	is "a full disk" "$(cat "$TMP/stdout" "$TMP/err")" "status 1, left: 
oparchive: $TMP/out/a: cannot be written: No space left on device; nothing is kept"
else
	skip "a full disk" "no user namespaces here"
fi

# Interrupted while it writes a file of 300 MB.
rm "$S/samples/oprofiled.log"
truncate -s 300M prog
for signal in HUP TERM; do
	"$BIN/oparchive" --session-dir="$S" -o "$TMP/out/a" 2>"$TMP/err" &
	pid=$!
	await file "$TMP/out/.a.*" "$TMP/out/a"
	kill -$signal $pid 2>/dev/null
	wait $pid
	got=$?
	# It may have been done already; then there is a whole archive.
	if [ -e "$TMP/out/a" ]; then
		ok "interrupted too late: whole" sh -c "cd '$TMP/out/a' &&
			sha256sum --quiet -c .oparchive/SHA256SUMS"
		rm -rf "$TMP/out/a"
	else
		like "interrupted: dead by SIG$signal" "$got" '^(129|143)$'
		is "nothing is left" "$(ls -A "$TMP/out")" ""
	fi
done

# What may be read of a session by its owner alone stays so.
chmod 700 "$S/samples"
ok "of a session that is private" archive -o "$TMP/out/private"
is "the archive is" "$(stat -c %a "$TMP/out/private")" 700
ok "their sum" "$BIN/opmerge" -o "$TMP/out/sum" "$TMP/out/private" "$TMP/out/private"
is "is, too" "$(stat -c %a "$TMP/out/sum")" 700
done_testing
