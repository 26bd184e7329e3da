#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Sessions that are packed, wholly or in part: the same reports as of loose
# files, in each state that a packer may leave and while one is at work; packs
# that are damaged; archives; the daemon's account.
# timeout: 600
# sanitized: yes
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../daemon.sh"

E=CPU_CLK_UNHALTED.100000.0 D=DATA_CACHE_MISSES.5000.0
S=$SESSION C=$CURRENT
cd "$TMP" || exit 1

# ---- a session of two parts ----------------------------------------------------

cat >prog.c <<'END'
static int __attribute__((noinline)) leaf(int x) { return x * 3; }
static int __attribute__((noinline)) helper(int x) { return leaf(x) * 5 + 1; }
int main(int argc, char **argv) { (void)argv; return helper(argc) + leaf(2); }
END
echo 'int lib_entry(int x) { return x * 7 + 1; }' >lib.c
cc=${CC:-cc}
$cc -O1 -g -Wl,--build-id -o prog prog.c || exit 1
$cc -O1 -g -shared -fPIC -Wl,--build-id -o lib.so lib.c || exit 1
id_of() {
	readelf -n "$1" | sed -n 's/.*Build ID: //p'
}
at() {
	nm "$1" | awk -v f="$2" '$3 == f { print "0x" $1 }'
}
main=$(at prog main) leaf=$(at prog leaf) helper=$(at prog helper)
lib=$(at lib.so lib_entry)
P="{root}$TMP/prog" L="{root}$TMP/lib.so" K='{kern}/vmlinux'

# counts NAME [OPTION...] <pairs
counts() {
	name=$1
	shift
	"$TESTBIN/mkodb" "$C/$name" cpu-khz=2400000 cpu-type=x86-64/family10 "$@"
}
# fill N [HOW]: a part of the session; the sum of both is the whole.
fill() {
	n=$1
	for event in $E $D; do
		printf '%s %d\n%s %d\n%#x %d\n' "$leaf" $((50 + n)) \
			"$helper" $((20 * n)) $((main + n)) 3 |
			counts "$P/{dep}/$P/$event.42.$((42 + n)).$n" \
				build-id="$(id_of prog)"
		printf '%s 2\n' "$leaf" |
			counts "$P/{dep}/$P/$event.42.50.0" build-id="$(id_of prog)"
		printf '%s %d\n' "$lib" $((10 + n)) |
			counts "$P/{dep}/$L/$event.42.50.0" build-id="$(id_of lib.so)"
	done
	# One file is in one part only.
	echo "0x$n 7" | counts "{kern}/m$n/{dep}/{kern}/m$n/$E.42.50.$n" kind=module
	printf '0x3 %d\n0x%x 1\n' $((5 * n)) $((n + 16)) |
		counts "$K/{dep}/$K/$E.42.50.0" kind=kernel build-id=0123
	echo "0x10 $n" |
		counts "$P/{dep}/{anon:anon}/42.0x10000.0x20000/$E.42.50.0" \
			kind=anon anon-start=0x10000
	printf '%d %d\n%d %d\n' $((main << 32 | helper)) $((30 * n)) \
		$((main << 32 | leaf)) 4 |
		counts "$P/{dep}/$P/{cg}/$P/$E.42.50.0" build-id="$(id_of prog)"
	echo $((leaf << 32 | lib)) $((6 + n)) |
		counts "$P/{dep}/$P/{cg}/$L/$E.42.50.0" build-id="$(id_of prog)"
	"$TESTBIN/mktree" "$C/$P/{tree}/$E.42.50.0" \
		cpu-khz=2400000 cpu-type=x86-64/family10 <<-EOF
	image x$n kern:m$n
	image p root:$TMP/prog build-id=$(id_of prog)
	image l root:$TMP/lib.so build-id=$(id_of lib.so)
	image cut kern:[truncated] pseudo
	stack $((12 * n)) p+$main p+$helper p+$leaf
	stack 5 p+$main p+$leaf l+$lib x$n+0
	stack $n cut+0 l+$lib
	EOF
	[ "$n" -eq 1 ] || "$TESTBIN/mktree" "$C/$P/{tree}/$E.42.51.0" \
		cpu-khz=2400000 cpu-type=x86-64/family10 <<-EOF
	image p root:$TMP/prog build-id=$(id_of prog)
	stack 9 p+$main
	EOF
	printf '%s\n' 'source = test' 'taken = 1000' 'stored = 990' \
		'pending = 0' 'lost.overflow = 10' >"$C/ledger"
}

# move_in N: begin generation N. pack_in N: make it. tidy N: what is left.
move_in() {
	# shellcheck disable=SC2016 # by that shell
	mkdir "$C/.packing-$1" &&
		flock "$C" sh -c 'mv "$0"/{* "$0/.packing-$1"' "$C" "$1"
}
pack_in() {
	"$TESTBIN/mkpack" "$C" "$1"
}
tidy() {
	rm -r "$C/.packing-$1"
}
pack() {
	move_in "$1" && pack_in "$1" && tidy "$1"
}

report() {
	"$BIN/opreport" --session-dir="$S" "$@"
}

# ---- the same reports ----------------------------------------------------------

# Some kinds of reports, one of each way to read samples.
few="--merge=all
-l -g -w -f --merge=all
-d -g --merge=all
-l --merge=lib,cpu,tgid,tid
-c --json --merge=all event:CPU_CLK_UNHALTED
--format=folded -V stats --merge=tid event:CPU_CLK_UNHALTED
session:nosuch"
# write_reports NAME <kinds: to the folder NAME.
write_reports() {
	mkdir -p "$1"
	nr=0
	while read -r how; do
		nr=$((nr + 1))
		# shellcheck disable=SC2086 # words
		report $how >"$1/$nr" 2>&1 || echo "$how" >>"$1/failed"
	done
}
# all NAME: write all kinds of reports to the folder NAME. What repeats the time
# or a folder is about this session in any case.
all() {
	write_reports "$1" <<-EOF
	--merge=all
	--merge=all event:CPU_CLK_UNHALTED
	-l --merge=all
	-l -g -w -f --merge=all
	-l --intervals --merge=all
	-d -g --merge=all
	-x -l --merge=all
	-l -V sfile,stats --merge=all
	-l --merge=lib,cpu,tgid,tid
	-l --merge=tgid,cpu event:CPU_CLK_UNHALTED
	-l --merge=tgid,tid event:CPU_CLK_UNHALTED
	--merge=tgid,tid -V sfile event:DATA_CACHE_MISSES
	-X --merge=all
	-X -g -l
	-X -d -g
	--json
	--json -l --merge=all
	--csv -l --merge=all
	--csv -l
	-l --merge=all tid:43
	-l --merge=all cpu:1
	-l --merge=all image:$TMP/prog
	--merge=all lib-image:$TMP/lib.so
	-c --merge=all event:CPU_CLK_UNHALTED
	-c -X --merge=all event:CPU_CLK_UNHALTED
	-c --json --merge=all event:CPU_CLK_UNHALTED
	-c --merge=cpu,tgid event:CPU_CLK_UNHALTED
	--format=folded --merge=all event:CPU_CLK_UNHALTED
	--format=folded event:CPU_CLK_UNHALTED
	--format=folded -V stats --merge=tid event:CPU_CLK_UNHALTED
	--format=flamegraph --merge=all
	session:nosuch
	--merge=all event:NOSUCH
	EOF
	"$BIN/opannotate" --session-dir="$S" --source --merge=all \
		event:CPU_CLK_UNHALTED >"$1/annotated" 2>&1
	"$BIN/opgprof" --session-dir="$S" -o "$1/gmon" image:"$TMP/prog" \
		event:CPU_CLK_UNHALTED >"$1/gprof" 2>&1
}
# same_all NAME: reports are those of the loose session. same NAME: some are,
# where TIER is not all.
same_all() {
	rm -rf "$TMP/got"
	all "$TMP/got"
	ok "reports: $1" diff -r "$TMP/wanted" "$TMP/got"
}
same() {
	if [ "${TIER:-check}" != check ]; then
		same_all "$1"
		return
	fi
	rm -rf "$TMP/got"
	echo "$few" | write_reports "$TMP/got"
	ok "some reports: $1" diff -r "$TMP/wanted.few" "$TMP/got"
}
fresh() {
	rm -rf "$S"
	mkdir -p "$C"
}

fresh
fill 1
fill 2
all "$TMP/wanted"
echo "$few" | write_reports "$TMP/wanted.few"
is "there are reports" "$(cat "$TMP/wanted/failed")" "session:nosuch
--merge=all event:NOSUCH"
like "of samples" "$(report -l --merge=all -n 2>err)" '^107 .* leaf$'
like "stacks" "$(report --format=folded --merge=tid event:CPU_CLK_UNHALTED 2>err)" \
	'^prog-42;main;helper;leaf 36$'
is "calls" "$(report -c -n --merge=all event:CPU_CLK_UNHALTED \
	2>err | grep -c lib_entry)" 5
loose=$(du -s --block-size=1 "$C" | cut -f 1)

move_in 1
same "on the way into the first pack"
pack_in 1
same "packed, the files are still there"
tidy 1
same_all "packed"
is "it holds each file once" "$("$TESTBIN/mkpack" --list "$C/packed" | sed 1d |
	cut -d ' ' -f 4 | sort | uniq -d | wc -l)" 0
ok "it is smaller" test "$(du -s --block-size=1 "$C" | cut -f 1)" -lt "$loose"
ls -A "$C" >names
is "nothing is beside it" "$(cat names)" "ledger
packed"

fresh
fill 1
pack 1
fill 2
same "half is packed"
move_in 2
same_all "half is packed, half on its way"
pack_in 2
same "all is packed, half was just now"
tidy 2
same "packed in two steps"
cp "$C/packed" two-steps

fresh
fill 2
pack 1
fill 1
same "the other half is packed"
pack 2
same "packed the other way round"
ok "equal content is an equal file" cmp two-steps "$C/packed"

fresh
fill 1
move_in 7
fill 2
same "half is on its way into the first pack"
move_in 8
same "and so is the other half"
: >"$C/.packed.grow"
mkdir -p "$C/.packing-x/{root}" "$C/.packing-9"
: >"$C/.packing-x/{root}/file"
same "beside what is no part of it"
pack_in 8
same "both are packed"

mv "$C" "$S/samples/saved"
mkdir "$C"
fill 1
report -l --merge=all session:saved >out 2>&1
ok "a saved session" diff "$TMP/wanted/3" out
report --merge=all -n session:current,saved event:CPU_CLK_UNHALTED >sum 2>&1
pack 1
report --merge=all -n session:current,saved event:CPU_CLK_UNHALTED >sum2 2>&1
ok "two sessions, one of them packed, or both" diff sum sum2
report -l '{' session:saved '}' '{' session:current '}' --merge=all \
	event:CPU_CLK_UNHALTED >"$TMP/diff" 2>&1
like "a comparison of two packed sessions" "$(cat "$TMP/diff")" 'leaf$'

# ---- set aside -------------------------------------------------------------------

fresh
fill 1
pack 1
fill 2
f="$P/{dep}/$L/$E.42.50.0"
mv "$C/$f" "$C/$f.bad"
report -l --merge=all -n >out 2>err
is "a damaged file that was set aside is not counted" "$(grep -c lib_entry out)" 1
like "which is said" "$(cat err)" 'not counted: 1 file set aside'
echo 5 >"$C/$f"
report -l --merge=all -n event:CPU_CLK_UNHALTED >out 2>err
like "a damaged loose part is left out" "$? $(grep -c damaged\; err) $(
	grep damaged\; err)" "^0 1 opreport: warning: .*$L/$E.42.50.0: it is damaged; left out"
like "what is packed of it is not" "$(cat out)" '^11 .*lib_entry'

# ---- damage ------------------------------------------------------------------------

fresh
fill 1
pack 1
fill 2
cp "$C/packed" good
report -l --merge=all -n >whole 2>whole.err
# What is left if the pack is.
rm "$C/packed"
report -l --merge=all -n >rest 2>rest.err
# broken NAME ERE: said in one line with the rest, which is reported.
broken() {
	report -l --merge=all -n >out 2>err
	status=$?
	diff rest.err err | sed -n 's/^> //p' >said
	like "$1: what is said" "$status $(wc -l <said) $(cat said)" "^0 1 $2"
	ok "$1: the rest is reported" diff rest out
}
damaged="opreport: warning: $C/packed: it is damaged; its samples are left out"
: >"$C/packed"
broken "an empty pack" "$damaged"
head -c $(($(wc -c <good) / 2)) good >"$C/packed"
broken "a pack that is cut" "$damaged"
len=$(wc -c <good)
for at in 0 9 20 40 60 $((len - 1)) $((len - 30)); do
	cp good "$C/packed"
	"$TESTBIN/mkodb" --break "$C/packed" "flip=$at:0x10"
	report -l --merge=all -n >out 2>err
	ok "a pack that is damaged at $at" diff whole out
	diff whole.err err | sed -n 's/^> //p' >said
	like "is said once" "$(wc -l <said) $(cat said)" \
		"^1 opreport: warning: $C/packed: its index is damaged, but all sample files in it were found"
done
rm "$C/packed"
mkdir "$C/packed"
broken "a folder in its place" \
	"opreport: warning: $C/packed: Is a directory; its samples are left out"
rmdir "$C/packed"
cp good "$C/packed"
"$TESTBIN/mkodb" --break "$C/packed" "flip=70:0x10"
report -l --merge=all -n >out 2>err
# Other warnings tell other numbers, as there are fewer samples.
diff rest.err err | sed -n 's/^> \(.*: it is .*\)/\1/p' >said
like "damaged content of one file" "$? $(wc -l <said) $(cat said)" \
	"^0 1 opreport: warning: $C/packed: {.*: it is damaged; left out"
head -c 200 good >"$C/packed"
rm -r "$C/{"*
report >out 2>err
like "nothing but a damaged pack" "$? $(wc -c <out) $(cat err)" \
	'^1 0 opreport: warning: .*packed: it is damaged; its samples are left out'
like "is a failure" "$(tail -n 1 err)" "^opreport: no usable sample file is left; \
the first: $C/packed: it is damaged"

# ---- while a packer is at work ---------------------------------------------------

fresh
# Each round counts 10 in each of three places. What is there at any time is all
# of the rounds that have ended before, and nothing of those that begin after.
work() {
	round=0
	while [ ! -e stop ]; do
		round=$((round + 1))
		echo $round >begun.new
		mv begun.new begun
		echo "$leaf 10" | counts "$P/{dep}/$P/$E.all.all.all" build-id=01
		echo "$lib 10" | counts "$P/{dep}/$L/$E.all.all.all" build-id=02
		"$TESTBIN/mktree" "$C/$P/{tree}/$E.all.all.all" \
			cpu-type=x86-64/family10 <<-EOF
		image p root:$TMP/prog build-id=01
		stack 10 p+$main p+$leaf
		EOF
		echo $round >ended.new
		mv ended.new ended
		pack $round || return
	done
	echo fine
}
number() {
	cat "$1" 2>/dev/null || echo 0
}
{
	work
	: >>ended
} >worked 2>&1 &
packer=$!
at_exit() {
	[ -z "$packer" ] || kill "$packer" 2>/dev/null
}
await file ended
wrong=0 looked=0
# within TOTAL BEFORE EACH: that is no more and no less than what may be there.
within() {
	looked=$((looked + 1))
	[ "$1" -ge $(($2 * $3)) ] && [ "$1" -le $(($(number begun) * $3)) ] &&
		[ $(($1 % 10)) -eq 0 ] && return
	wrong=$((wrong + 1))
	diag "$1 instead of $(($2 * $3)) to $(($(number begun) * $3))"
	sed 's/^/# /' err
}
while { [ "$(number ended)" -lt 30 ] || [ $looked -lt 10 ]; } &&
	! gone $packer; do
	before=$(number ended)
	within "$(report -n -l 2>err | awk '/^[0-9]/ { n += $1 } END { print n + 0 }')" \
		"$before" 20
	before=$(number ended)
	within "$(report --format=folded 2>err | awk '{ n += $NF } END { print n + 0 }')" \
		"$before" 10
done
: >stop
wait $packer
is "the packer was at work" "$(cat worked)" fine
packer=
ok "reports were made meanwhile" test $looked -ge 10
is "all sums were right" $wrong 0
is "in the end, too" "$(report -n -l 2>/dev/null |
	awk '/^[0-9]/ { n += $1 } END { print n }')" $(($(number ended) * 20))

# ---- archives ----------------------------------------------------------------------

archive() {
	rm -rf "$TMP/archive"
	"$BIN/oparchive" --session-dir="$S" -o "$TMP/archive" "$@" 2>err
}
reports_from() {
	for how in -l "-l --merge=all" "-c --merge=all event:CPU_CLK_UNHALTED" \
		"--format=folded --merge=all event:CPU_CLK_UNHALTED" --csv; do
		# shellcheck disable=SC2086 # words
		report $how "$@" 2>&1
	done
}
fresh
fill 1
fill 2
reports_from >wanted.archive
"$BIN/oparchive" --session-dir="$S" -l >list.loose 2>err
rm -r "$S"
mkdir -p "$C"
fill 1
pack 1
fill 2
ok "an archive of a session that is packed in part" archive session:current
"$BIN/oparchive" --session-dir="$S" -l >list 2>err
is "its list has the pack once" "$(grep -c "^$C/packed\$" list)" 1
is "and the loose files, and what else there is" \
	"$(grep -v -e /packed -e '/{' list)" "$(grep -v '/{' list.loose)"
move_in 2
ok "of one on its way" archive session:current
mv "$S" "$S.away"
reports_from archive:"$TMP/archive" >got.archive
ok "the same reports from it" diff wanted.archive got.archive
mv "$S.away" "$S"
pack_in 2
ok "of one that was just packed" archive session:current
ok "files that wait to be removed are not in it" \
	not test -e "$TMP/archive$C/.packing-2"
tidy 2
ok "of a packed one" archive session:current
mv "$S" "$S.away"
reports_from archive:"$TMP/archive" >got.archive
ok "the same from that" diff wanted.archive got.archive
ok "its list of hashes is true" sh -c \
	"cd '$TMP/archive' && sha256sum --quiet -c .oparchive/SHA256SUMS"
A=$TMP/archive$C
"$TESTBIN/mkodb" --break "$A/packed" flip=300:1
report archive:"$TMP/archive" >out 2>err
like "a pack that has changed" "$? $(wc -c <out) $(cat err)" \
	"^1 0 opreport: warning: $A/packed: it is not the archived file; its samples are left out"
rm "$A/packed"
report archive:"$TMP/archive" >out 2>err
like "a pack that is gone" "$(cat err)" \
	"warning: $A/packed: missing in the archive; its content is left out"
mv "$S.away" "$S"
ok "an archive of a part" archive image:"$TMP/prog" tid:50
"$TESTBIN/mkpack" --list "$A/packed" | sed 1d >list
is "has only that in its pack" "$(grep -c 42.50.0 list) $(grep -vc 42.50.0 list)" \
	"$(find "$TMP/archive" -name packed | wc -l | sed 's/1/8/') 0"
is "and reports it" "$(report -n archive:"$TMP/archive" 2>&1)" \
	"$(report -n image:"$TMP/prog" tid:50 2>&1)"
archive session:current
rm -rf "$TMP/again"
ok "an archive of an archive" "$BIN/oparchive" -o "$TMP/again" archive:"$TMP/archive"
reports_from archive:"$TMP/again" >got.archive
ok "the same from that one" diff wanted.archive got.archive
"$TESTBIN/mkodb" --break "$C/packed" "flip=70:0x10"
archive session:current
like "an archive leaves out what is damaged" "$? $(cat err)" \
	"^0 .*$C/packed: {.*: it is damaged; left out"
report --merge=all archive:"$TMP/archive" -n event:CPU_CLK_UNHALTED >out 2>err
is "and has no complaint of its own" "$? $(grep -c -e archived -e damaged err)" "0 0"

# ---- the daemon's account ----------------------------------------------------------

stream "$TMP/stream" <<'END'
stream 1 8
cookie 1 0 0 0 0 1111 /bin/sh
cpu 0
image 1
user
sample 0x1000 0 x3
sample 0x2000 0 x4
END
replay "$TMP/stream"
pack 1
ok "a session that is packed goes on" replay_more "$TMP/stream" --pack-at=0
is "its account holds both" "$(ledger)" 'taken = 14
stored = 14
pending = 0'
rm "$C/ledger"
ok "it goes on without its ledger" replay_more "$TMP/stream" --pack-at=0
is "which is made anew" "$(ledger)" 'taken = 21
stored = 21
pending = 0'
move_in 2
ok "while some is on its way" replay_more "$TMP/stream" --pack-at=0
is "that counts, too" "$(ledger)" 'taken = 28
stored = 28
pending = 0'
report -n 2>err >out
like "as in reports" "$(cat out)" '^ *28 .*sh$'
head -c 100 "$C/packed" >start
mv start "$C/packed"
ok "with a damaged pack" replay_more "$TMP/stream" --pack-at=0
is "what it held is lost" "$(ledger)" 'taken = 35
stored = 28
pending = 0
lost.lost_damaged_file = 7'
ok "and it is kept" test -s "$C/packed.bad"
like "which is said" "$(log)" "$C/packed: damaged sample file, renamed to .bad: done"
done_testing
