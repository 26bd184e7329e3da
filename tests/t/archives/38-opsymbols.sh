#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The store of symbols: what reports need of the images of a session is kept by
# build-id, so that a build that is gone still has names and lines; within a
# bound, and with no more rights than the binary.
# sanitized: yes
. "$(dirname "$0")/../lib.sh"

cd "$TMP" || exit 1
SESSION=$TMP/session
E=CPU_CLK_UNHALTED.100000.0.all.all.all
mkdir bin src
id_of() {
	readelf -n "$1" | sed -n 's/.*Build ID: //p'
}
# build NAME FUNCTION: bin/NAME with debug information.
build() {
	printf '%s\n' '#define FAR __attribute__((noinline, noclone))' \
		"int FAR $2(int x) { return x * 3 + 1; }" \
		"int main(int argc, char **argv) { (void)argv; return $2(argc); }" \
		>"src/$2.c"
	(cd src && ${CC:-cc} -O1 -g -Wl,--build-id -o "../bin/$1" "$2.c") || exit 1
}
# profile SESSION NAME FUNCTION COUNT: samples in that function of bin/NAME.
profile() {
	printf '%s %s\n' "$(nm "bin/$2" | awk -v f="$3" '$3 == f {
		sub(/^0+/, "", $1); print "0x" $1 }')" "$4" | "$TESTBIN/mkodb" \
		"$SESSION/samples/$1/{root}$TMP/bin/$2/{dep}/{root}$TMP/bin/$2/$E" \
		event=118 count=100000 build-id="$(id_of "bin/$2")"
}
keep() {
	"$BIN/opsymbols" --session-dir="$SESSION" "$@"
}
report() {
	"$BIN/opreport" --session-dir="$SESSION" -n -l -g "$@" 2>err |
		awk '{ n = split($3, p, "/"); print $1, p[n], $NF }'
}
at() {
	echo "$SESSION/store/.build-id/$(echo "$1" | cut -c1-2)/$(echo "$1" |
		cut -c3-)"
}

build prog before
profile current prog before 30
first=$(id_of bin/prog)
ok "a session is stored" keep
ok "by the build-id" test -s "$(at "$first")"
is "it has no code" "$(readelf -SW "$(at "$first")" | awk '$2 == ".text" || $3 == ".text" {
	for (i = 1; i < NF; i++) if ($i == "NOBITS") print $i }')" NOBITS
rm bin/prog
is "the names and lines of a program that is gone" "$(report)" "30 before.c:2 before"
is "without a word" "$(cat err)" ""

# Profile, rebuild, strip, delete, profile, compare.
mv "$SESSION/samples/current" "$SESSION/samples/old"
build prog after
second=$(id_of bin/prog)
profile current prog after 20
objcopy --only-keep-debug bin/prog bin/prog.debug
(cd bin && strip prog && objcopy --add-gnu-debuglink=prog.debug prog)
ok "a stripped program is stored" keep
ok "with its debug file" test -s "$(at "$second").debug"
rm bin/prog bin/prog.debug
is "both builds have names" "$("$BIN/opreport" --session-dir="$SESSION" -n -l \
	'{' session:old '}' '{' session:current '}' 2>err |
	awk '{ print $3, $NF }' | sort)" "+++ after
--- before"
is "and lines" "$(report session:old) $(report)" \
	"30 before.c:2 before 20 after.c:2 after"
is "nothing is said" "$(cat err)" ""

# Another program is at the path now.
build prog third
strip bin/prog
is "a file of another build does not matter" "$(report)" "20 after.c:2 after"
rm bin/prog
ok "an archive takes what is stored" "$BIN/oparchive" --session-dir="$SESSION" \
	-o archive
mv "$SESSION" away
is "and is read anywhere" "$(report archive:archive)" "20 after.c:2 after"
mv away "$SESSION"

# ---- what is not kept ---------------------------------------------------------------

rm -r "$SESSION"
build one one && build two two
profile current one one 5
profile current two two 5
ok "some are left out" keep --no-symbols="*/none,*/bin/o*"
ok "not the others" test -e "$(at "$(id_of bin/two)")"
ok "but these" test ! -e "$(at "$(id_of bin/one)")"
ok "nothing with 0" keep --symbol-store=0
ok "is kept" test ! -e "$(at "$(id_of bin/one)")"
chmod 700 bin/one
keep
is "as many rights as the binary has" "$(stat -c %a "$(at "$(id_of bin/one)")")" 400
is "others may read what they could" "$(stat -c %a "$(at "$(id_of bin/two)")")" 444
cp "$(at "$(id_of bin/one)")" good
id_of bin/two >two.id
# The digest is one file with that in the cache.
rm "$(at "$(cat two.id)")"
cp good "$(at "$(cat two.id)")"
mv bin/two bin/two.away
is "a stored file of another build is not used" \
	"$(report | grep -c two.c)" 0
mv bin/two.away bin/two
echo 'no ELF file' >bin/two
ok "a file that has changed is passed over" keep --verbose

# ---- once for all sessions ---------------------------------------------------------

rm -r "$SESSION" "$OPROFILE_CACHE_DIR"
build one one && build shared shared && build open open && build theirs theirs
for name in one shared open theirs; do
	profile current $name $name 5
done
chmod 777 bin/open
[ "$(id -u)" -ne 0 ] || chown "$test_user" bin/theirs
for name in one shared open theirs; do
	digest=$(at "$(id_of bin/$name)")
	echo "${digest#"$SESSION"/}" >$name.digest
done
links() {
	stat -c %h "$1/$(cat "$2.digest")"
}
cp -r "$SESSION" second
cp -r "$SESSION" third
keep
is "a digest is in the cache, too" "$(links "$SESSION" one)" 2
SESSION=second keep
is "another session has the same file" "$(links second one)" 3
is "but not of what others may change" "$(links "$SESSION" open)" 1
[ "$(id -u)" -ne 0 ] || is "nor of another user" "$(links "$SESSION" theirs)" 1
strip bin/shared
SESSION=third keep
is "nor of one that was stripped" "$(links third shared) $(links second shared)" "2 3"
is "which has no names" "$(nm "third/$(cat shared.digest)" 2>&1 | grep -c ' T main')" 0
rm -r "$OPROFILE_CACHE_DIR"
rm -f bin/*
is "the cache may be removed" "$(SESSION=second report | sort)" "5 one.c:2 one
5 open.c:2 open
5 shared.c:2 shared
5 theirs.c:2 theirs"
rm -r second third

# What only calls what was sampled is stored, too.
rm -r "$SESSION"
build caller caller && build callee callee
profile current callee callee 5
P="{root}$TMP/bin/callee"
"$TESTBIN/mktree" "$SESSION/samples/current/$P/{tree}/$E" <<END
image a root:$TMP/bin/caller build-id=$(id_of bin/caller)
image b root:$TMP/bin/callee build-id=$(id_of bin/callee)
stack 5 a+0x1139 b+0x1139
END
ok "a session with stacks" keep
ok "has its callers" test -e "$(at "$(id_of bin/caller)")"

# ---- inlined functions ---------------------------------------------------------------

# Which functions were inlined where samples are is kept, so that a report reads
# no debug information for it.
rm -r "$SESSION"
cat >src/inlined.c <<'END'
static inline __attribute__((always_inline)) int inner(volatile int *p)
{
	return *p * 3 + *p / 5;
}
int main(int argc, char **argv)
{
	volatile int x = argc;
	(void)argv;
	return inner(&x);
}
END
(cd src && ${CC:-cc} -O1 -g -Wl,--build-id -o ../bin/inlined inlined.c) || exit 1
id_of bin/inlined >inlined.id
kept=$(at "$(cat inlined.id)").inlines
nm -S bin/inlined | awk '$4 == "main" { print $1, $2 }' >main
inlined_samples() {
	python3 -c 'import sys
start, size = (int(x, 16) for x in open("main").read().split())
for at in range(start, start + size): print(at, 1)' | "$TESTBIN/mkodb" \
		"$SESSION/samples/current/{root}$TMP/bin/inlined/{dep}/{root}$TMP/bin/inlined/$E" \
		event=118 count=100000 build-id="$(cat inlined.id)"
}
inlined_samples
functions() {
	"$BIN/opreport" --session-dir="$SESSION" -n -l "$@" 2>err |
		awk '{ print $NF }' | sort | tr '\n' ' '
}
ok "nothing is kept by a report" test "$(functions)" = "inner main " -a \
	! -e "$SESSION/store"
keep
is "it is kept with the rights of the binary" "$(stat -c %a "$kept")" 444
ok "the check of a session finds it sound" "$BIN/opreport" --session-dir="$SESSION" --check
strip --strip-debug bin/inlined
is "a report finds it there" "$(functions)" "inner main "
is "or does without" "$(functions --no-inlines)" "main "
cp "$kept" good.inlines
chmod u+w "$kept" && printf x >>"$kept"
is "one that is damaged is not used" "$(functions)" "main "
rm "$kept"
keep
ok "nothing is kept of a binary that cannot tell" test ! -e "$kept"
cp good.inlines "$kept"
touch -d 2001-01-01 "$kept"
keep
ok "what is needed again is younger" test "$kept" -nt src/inlined.c

# ---- files of others -----------------------------------------------------------------

# What another user could have written root does not parse: that is done with
# the rights of the user.
if [ "$(id -u)" -eq 0 ]; then
	rm -r "$SESSION"
	chmod 755 "$TMP"
	(cd src && ${CC:-cc} -O1 -g -Wl,--build-id -o ../bin/inlined inlined.c) || exit 1
	inlined_samples
	for name in open closed ours; do
		build $name $name
		id_of bin/$name >$name.id
		profile current $name $name 5
		objcopy --only-keep-debug bin/$name bin/$name.debug
		(cd bin && strip $name && objcopy --add-gnu-debuglink=$name.debug $name)
	done
	build gone gone
	id_of bin/gone >gone.id
	profile current gone gone 5
	chown "$test_user" bin/inlined bin/open bin/closed bin/gone
	chmod 700 bin/inlined
	chmod 600 bin/closed.debug
	chown "$test_user" bin/ours.debug
	is "nothing is said" "$(keep 2>&1)" ""
	stored=$(at "$(cat inlined.id)")
	is "a file of another user is stored, for root" \
		"$(stat -c '%a %u' "$stored" "$stored.inlines")" "1400 0
1400 0"
	ok "so is a debug file that this user may read" test -s "$(at "$(cat open.id)").debug"
	ok "not one that only root may" test ! -e "$(at "$(cat closed.id)").debug"
	ok "nor a debug file of others for what is ours" test ! -e "$(at "$(cat ours.id)").debug"
	keep
	cp "$stored.inlines" again
	inlined_samples
	keep
	ok "once more it is the same" cmp "$stored.inlines" again
	is "nothing is left over" "$(find "$SESSION/store" -name '*.new')" ""
	strip --strip-debug bin/inlined
	is "a report finds what was inlined there" "$(functions | tr ' ' '\n' |
		grep -c inner)" 1
	# The copy of a file that has changed is root's, but not what is in it.
	rm "$(at "$(cat gone.id)")"*
	mkdir "$SESSION/images"
	cp bin/gone "$SESSION/images/gone-$(cat gone.id)"
	build gone other
	chown "$test_user" bin/gone
	keep
	ok "a copy is stored" test -s "$(at "$(cat gone.id)")"
	rm "$(at "$(cat gone.id)")"* "$SESSION/images/gone-$(cat gone.id)"
	is "what has changed is passed over" "$(keep --verbose 2>&1 | grep 'bin/gone:')" \
		"opsymbols: $TMP/bin/gone: its symbols are not stored: No such file or directory"
fi

# ---- the bound ----------------------------------------------------------------------

# A large one pushes out what was needed longest ago, and nothing that is needed.
rm -r "$SESSION"
awk 'BEGIN { for (i = 0; i < 9000; i++) printf "int function_of_a_large_program_%d;\n", i }' \
	>src/names.h
for i in 1 2 3; do
	printf '#include "names.h"\nint f%d(void) { return %d; }\nint main(void) { return f%d(); }\n' \
		$i $i $i >src/big.c
	(cd src && ${CC:-cc} -g3 -Wl,--build-id -o ../bin/big$i big.c) || exit 1
	rm -rf "$SESSION/samples/current"
	profile current big$i f$i 1
	keep --symbol-store=4
	touch -d "2001-01-0$i" "$(at "$(id_of bin/big$i)")"
done
like "each is of some size" "$(stat -c %s "$(at "$(id_of bin/big3)")")" '^[0-9]{6,7}$'
rm -rf "$SESSION/samples/current"
profile current big1 f1 1
profile current big3 f3 1
keep --symbol-store=2 --verbose 2>err
ok "what was needed longest ago is gone" test ! -e "$(at "$(id_of bin/big2)")"
like "that is said" "$(cat err)" "^opsymbols: .*: removed, as the store is full"
ok "what is needed stays" test -e "$(at "$(id_of bin/big1)")" -a \
	-e "$(at "$(id_of bin/big3)")"
exits "no samples" 1 "$BIN/opsymbols" --session-dir="$TMP/none"
exits "no size" 2 "$BIN/opsymbols" --session-dir="$SESSION" --symbol-store=x

# ---- users who hold it up ------------------------------------------------------------

if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null; then
	rm -rf "$SESSION" "$OPROFILE_CACHE_DIR"
	build mine mine && build theirs theirs && build theirs2 theirs2
	# Reading it takes a while, in which its child can be stopped.
	awk 'BEGIN { for (i = 0; i < 200000; i++) printf ".globl f%d\nf%d: nop\n", i, i }' |
		as -o f.o - && ld -shared --build-id -o bin/slow f.o || exit 1
	chown "$test_user" bin/theirs bin/theirs2 bin/slow
	profile current slow f1 5
	profile current mine mine 5
	# Whatever runs as that user is stopped at once.
	setpriv --reuid="$test_user" --regid="$test_user" --clear-groups \
		sh -c 'while :; do kill -STOP -1; done' 2>/dev/null &
	stopper=$!
	exits "a child that its user stops does not hold up the end" 0 \
		timeout 40 "$BIN/opsymbols" --session-dir="$SESSION" -V
	kill "$stopper"
	wait "$stopper" 2>/dev/null
	like "it is given up" "$(cat "$test_log")" \
		'bin/slow: its symbols are not stored: Connection timed out'
	like "which is said" "$(cat "$test_log")" \
		'warning: 1 file of other users: their symbols are not kept: Connection timed out;'
	ok "the symbols of others are kept" test -e "$(at "$(id_of bin/mine)")"

	# A user's file with the build-id of root's, which is looked at first.
	rm -rf "$SESSION"
	mine=$(id_of bin/mine)
	(cd src && ${CC:-cc} -O1 -g -Wl,--build-id=0x"$mine" -o ../bin/a_theirs theirs.c)
	chown "$test_user" bin/a_theirs
	profile current a_theirs theirs 5
	ok "a user's file is stored" keep
	at_first=$(nm "$(at "$mine")" | grep -cw theirs)
	profile current mine mine 7
	ok "then root's of the same build-id" keep
	is "it takes the place" \
		"$at_first $(nm "$(at "$mine")" | grep -cwe theirs -e mine) $(nm "$(at "$mine")" | grep -cw mine)" \
		"1 1 1"
	ok "again" keep
	is "and stays" "$(nm "$(at "$mine")" | grep -cw mine)" 1
	rm bin/a_theirs bin/mine
	is "root's functions have their names" "$(report image:*/mine | cut -d ' ' -f 1,3)" \
		"7 mine"
	rm -rf "$SESSION"
	for name in theirs theirs2; do
		profile current $name $name 5
	done

	# bounded CAPABILITIES: keep, with no more than these.
	bounded() {
		rm -rf "$SESSION/store"
		setpriv --bounding-set="-all$1" "$BIN/opsymbols" --session-dir="$SESSION"
	}
	ok "without the right to become another user" bounded ,+dac_override,+chown
	like "those are not kept, which is said" "$(cat "$test_log")" \
		'warning: 2 files of other users: their symbols are not kept: Operation not permitted;'
	unit=$(sed -n 's/^CapabilityBoundingSet=//p' "$TOP"/utils/systemd/oprofile.service* |
		tr 'A-Z\n' 'a-z ' | sed 's/cap_/,+/g; s/ //g')
	like "the unit has some rights" "$unit" '^(,[+][a-z_]+){5,}$'
	ok "with the rights of the unit" bounded "$unit"
	ok "they are kept" test -e "$(at "$(id_of bin/theirs)")" -a \
		-e "$(at "$(id_of bin/theirs2)")"
else
	skip "users who hold it up" "only root keeps symbols of others' files"
fi
done_testing
