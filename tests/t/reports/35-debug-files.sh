#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Names and lines of a stripped binary: from its debug file wherever that lies,
# from the file that several debug files share, from the table that is packed in
# the binary; with sections that are compressed; never from another build.
# sanitized: yes
# shellcheck disable=SC2016 # commands are evaluated later
. "$(dirname "$0")/../lib.sh"
command -v objcopy >/dev/null || skip_all "no objcopy"

cd "$TMP" || exit 1
SESSION=$TMP/session CURRENT=$TMP/session/samples/current
E=CPU_CLK_UNHALTED.100000.0.all.all.all
mkdir -p src root/bin
cat >src/work.c <<'END'
static int __attribute__((noinline, noclone)) first(int x) { return x * 3 + 1; }
int __attribute__((noinline, noclone)) exported(int x)
{
	return first(x) + 2;
}
int main(int argc, char **argv) { (void)argv; return exported(argc); }
END
sed 's/first/other/g' src/work.c >src/other.c
cc=${CC:-cc}
(cd src && $cc -O1 -gdwarf-4 -rdynamic -Wl,--build-id -o ../full work.c &&
	$cc -O1 -gdwarf-4 -rdynamic -Wl,--build-id -o ../another other.c) || exit 1
id_of() {
	readelf -n "$1" | sed -n 's/.*Build ID: //p'
}
id=$(id_of full)
at() {
	nm full | awk -v f="$1" '$3 == f { sub(/^0+/, "", $1); print "0x" $1 }'
}
printf '%s 30\n%s 20\n' "$(at first)" "$(at exported)" |
	"$TESTBIN/mkodb" "$CURRENT/{root}/bin/prog/{dep}/{root}/bin/prog/$E" \
		event=118 count=100000 build-id="$id"
printf '%s\n' 'source = test' 'taken = 50' 'stored = 50' 'pending = 0' \
	>"$CURRENT/ledger"
by_id() {
	echo "usr/lib/debug/.build-id/$(echo "$1" | cut -c1-2)/$(echo "$1" |
		cut -c3-).debug"
}

# report: "COUNT LINE SYMBOL" of each symbol; what is said goes to err.
report() {
	"$BIN/opreport" --session-dir="$SESSION" --root="$TMP/root" -n -l -g \
		"$@" 2>err | sed -e 's/(no location information)/none/' |
		awk '{ n = split($3, p, "/"); print $1, p[n], $4 }'
}
named="30 work.c:1 first
20 work.c:2 exported"
names="30 none first
20 none exported"
stripped="30 none ($(at first))
20 none exported"

# prepare COMMAND: a stripped program in a fresh root, its debug file is "debug".
prepare() {
	rm -rf root debug
	mkdir -p root/bin/.debug root/usr/lib/debug/bin "root/$(dirname "$(by_id "$id")")"
	objcopy --only-keep-debug full debug
	cp full root/bin/prog
	strip root/bin/prog
	eval "$1" || echo "Bail out! $1"
}
link='cp debug prog.debug; objcopy --add-gnu-debuglink=prog.debug root/bin/prog'

prepare :
is "nothing has the names" "$(report)" "$stripped"
like "that is said" "$(cat err)" "stripped: only exported functions have names"
# check TITLE COMMAND WANTED
check() {
	prepare "$2"
	is "$1" "$(report)" "$3"
	[ "$3" = "$stripped" ] || is "$1: no complaint" "$(cat err)" ""
}
# packed NAME: put the functions of full into root/bin/prog, as Fedora does.
packed() {
	nm -D --format=posix --defined-only full | cut -d' ' -f1 | sort >exported
	nm --format=posix --defined-only full | awk '$2 ~ /[tT]/ { print $1 }' |
		sort >functions
	comm -13 exported functions >kept
	objcopy -S --remove-section=.gdb_index --remove-section=.comment \
		--keep-symbols=kept debug mini
	xz -kf mini
	objcopy --add-section .gnu_debugdata="$1" root/bin/prog
}
place="root/$(by_id "$id")"
check "a program that is not stripped" 'cp full root/bin/prog' "$named"
check "by its build-id" 'mv debug "$place"' "$named"
check "by its name, beside it" "$link; mv debug root/bin/prog.debug" "$named"
check "by its name, in .debug" "$link; mv debug root/bin/.debug/prog.debug" "$named"
check "by its name, in usr/lib/debug" \
	"$link; mkdir -p root/usr/lib/debug$TMP/root/bin
	mv debug root/usr/lib/debug$TMP/root/bin/prog.debug" "$named"
check "changed since, of the same build" \
	"$link; objcopy --remove-section=.comment debug root/bin/.debug/prog.debug" \
	"$named"
check "of another build, by the build-id" \
	'objcopy --only-keep-debug another "$place"' "$stripped"
check "of another build, by the name" \
	"$link; objcopy --only-keep-debug another root/bin/.debug/prog.debug" \
	"$stripped"
check "damaged, by the build-id" 'head -c 700 debug >"$place"' "$stripped"
for how in zlib zlib-gnu zstd; do
	if objcopy --compress-debug-sections=$how full x 2>/dev/null; then
		check "sections compressed by $how" \
			"objcopy --compress-debug-sections=$how debug \"\$place\"" \
			"$named"
	else
		skip "sections compressed by $how" "objcopy cannot"
	fi
done

if command -v xz >/dev/null; then
	check "a packed table of functions" "packed mini.xz" "$names"
	check "a debug file wins over it" 'packed mini.xz; mv debug "$place"' "$named"
	check "a packed table that is cut" \
		"packed mini.xz; head -c 200 mini.xz >cut.xz; cp full root/bin/prog
		strip root/bin/prog; packed cut.xz" "$stripped"
	prepare "packed mini.xz"
	ok "it is archived" "$BIN/oparchive" --session-dir="$SESSION" \
		--root="$TMP/root" --symbols-only -o archive
	is "and used there" "$(report --root=/ archive:archive)" "$names"
else
	skip "a packed table of functions" "no xz"
fi

if command -v dwz >/dev/null; then
	# Two debug files that share a third. Names of folders are in that.
	twice() {
		cp full a.debug && cp another b.debug &&
			dwz -m shared -M "$1" a.debug b.debug &&
			objcopy --only-keep-debug a.debug "$place"
	}
	check "beside a shared file, by its name" \
		'twice "$TMP/shared"' "$named"
	is "the folder is in the shared file" "$(report |
		wc -l) $("$BIN/opreport" --session-dir="$SESSION" --root="$TMP/root" \
			-l -g --long-filenames | grep -c "$TMP/src/work.c:1 ")" "2 1"
	rm -rf archive
	ok "both are archived" "$BIN/oparchive" --session-dir="$SESSION" \
		--root="$TMP/root" -o archive
	mv shared shared.away
	is "and used there" "$("$BIN/opreport" archive:archive -l -g \
		--long-filenames | grep -c "$TMP/src/work.c:1 ")" 1
	# An archive's binary names a file of this machine: it is not asked.
	mv shared.away shared
	cp -r archive bare
	rm "bare/$(by_id "$(id_of shared)")"
	is "nothing outside of an archive is used" "$("$BIN/opreport" archive:bare \
		-l -g --long-filenames 2>/dev/null | grep -c "$TMP/src/work.c:1 ")" 0
	mv shared shared.away
	mkdir -p "root/$(dirname "$(by_id "$(id_of shared.away)")")"
	cp shared.away "root/$(by_id "$(id_of shared.away)")"
	is "by its build-id" "$("$BIN/opreport" --session-dir="$SESSION" \
		--root="$TMP/root" -l -g --long-filenames |
		grep -c "$TMP/src/work.c:1 ")" 1
	# Without a debug file of its own, as compilers leave a program.
	check "a program that shares a file, by a relative name" \
		'cp full a; cp another b; dwz -m shared -M ../lib/shared a b
		mkdir root/lib; mv a root/bin/prog; mv shared root/lib' "$named"
	rm -rf archive
	ok "it is archived" "$BIN/oparchive" --session-dir="$SESSION" \
		--root="$TMP/root" -o archive
	ok "with the shared file" test -s \
		"archive/$(by_id "$(id_of root/lib/shared)")"
	is "and the report is that at home" "$("$BIN/opreport" archive:archive -l -g \
		--long-filenames | grep -c "$TMP/src/work.c:1 ")" 1
else
	skip "beside a shared file" "no dwz"
fi

# ---- copies that perf keeps ------------------------------------------------------

# As perf buildid-cache lays them out; the binary itself is gone.
rm -rf root/bin/prog root/usr/lib/debug
cache=$TMP/home/.debug
entry=$cache/bin/prog/$id
at_id=$cache/.build-id/$(echo "$id" | cut -c1-2)/$(echo "$id" | cut -c3-)
mkdir -p "$entry" "$(dirname "$at_id")"
ln -s "../../bin/prog/$id" "$at_id"
cp full "$entry/elf"
export HOME="$TMP/home"
is "a copy that perf keeps" "$(report)" "$named"
is "nothing is said" "$(cat err)" ""
rm -rf archive
ok "it is archived" "$BIN/oparchive" --session-dir="$SESSION" \
	--root="$TMP/root" -o archive
HOME=$TMP/nowhere
is "without it" "$(report | wc -l)" 1
is "the archive has it" "$("$BIN/opreport" archive:archive -l -g -n 2>err |
	awk '{ n = split($3, p, "/"); print $1, p[n], $4 }')" "$named"
HOME=$TMP/home
cp another "$entry/elf"
is "another build is not used" "$(report | wc -l)" 1
like "which is said" "$(cat err)" "prog: no symbols: not found"
cp full "$entry/elf"
chmod o+w "$entry/elf"
is "nor a file that others may write" "$(report | wc -l)" 1
chmod o-w "$entry/elf"
if [ "$(id -u)" = 0 ]; then
	chown 65534 "$entry/elf"
	is "nor one of somebody else" "$(report | wc -l)" 1
	chown 0 "$entry/elf"
else
	skip "one of somebody else" "only root can make it"
fi
is "the copy again" "$(report)" "$named"
# A binary at its path comes first.
mkdir -p root/bin
cp full root/bin/prog
"$BIN/opreport" --session-dir="$SESSION" --root="$TMP/root" -l --verbose=bfd \
	>verbose 2>&1
like "the binary at its path comes first" "$(cat verbose)" \
	"symbols from $TMP/root/bin/prog\$"
done_testing
