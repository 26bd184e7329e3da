#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# opreport: the classic layout, the choice of samples, and images that are
# missing, changed or stripped.
# sanitized: yes
. "$(dirname "$0")/../lib.sh"

SESSION=$TMP/session
CURRENT=$SESSION/samples/current

# sample NAME [OPTION...] <pairs: a sample file of the session.
sample() {
	name=$1
	shift
	"$TESTBIN/mkodb" "$CURRENT/$name" "$@"
}

# report ARG...: opreport's output, its complaints in $TMP/err.
report() {
	"$BIN/opreport" --session-dir="$SESSION" "$@" 2>"$TMP/err"
}

# complains ERE ARG...: one line about it on stderr, exit status 1.
complains() {
	ere=$1
	shift
	report "$@" >"$TMP/out"
	[ $? -eq 1 ] && [ ! -s "$TMP/out" ] &&
		[ "$(wc -l <"$TMP/err")" -eq 1 ] && grep -Eq "$ere" "$TMP/err"
}

# sum: of the counts in a table without indented rows.
sum() {
	awk '/^[0-9]/ { n += $1 } END { print n + 0 }'
}

E=CPU_CLK_UNHALTED.100000.0
KERNEL='{kern}/vmlinux/{dep}/{kern}/vmlinux'
id=0123456789abcdef

# ---- a kernel, a module and anonymous memory, without any binary -------------

mkdir -p "$SESSION/symbols"
cat >"$SESSION/symbols/vmlinux-$id" <<END
oprofile symbols 1 vmlinux $id
0 T _stext
1000 T do_syscall_64
2000 t schedule
END
printf '0x1000 700\n0x1fff 35\n0x2010 238\n' |
	sample "$KERNEL/$E.all.all.all" kind=kernel build-id=$id \
		event=118 count=100000 cpu-khz=2400000 cpu-type=x86-64/family10
printf '0x10 27\n' |
	sample "{kern}/ext4/{dep}/{kern}/ext4/$E.all.all.all" kind=module \
		event=118 count=100000 cpu-khz=2400000 cpu-type=x86-64/family10

is "image summary" "$(report)" "\
CPU: AMD64 family10, speed 2400 MHz (estimated)
Counted CPU_CLK_UNHALTED events (Cycles outside of halt state) with a unit mask of 0x00 (No unit mask) count 100000
CPU_CLK_UNHALT...|
  samples|      %|
------------------
      973 97.3000 vmlinux
       27  2.7000 ext4"
is "and nothing else" "$(cat "$TMP/err")" ""

is "symbols" "$(report -l)" "\
CPU: AMD64 family10, speed 2400 MHz (estimated)
Counted CPU_CLK_UNHALTED events (Cycles outside of halt state) with a unit mask of 0x00 (No unit mask) count 100000
samples  %        app name                 symbol name
735      73.5000  vmlinux                  do_syscall_64
238      23.8000  vmlinux                  schedule
27        2.7000  ext4                     /ext4"
like "a module without symbols is said so" "$(cat "$TMP/err")" \
	'^opreport: warning: ext4: no symbols: '
is "once" "$(wc -l <"$TMP/err")" 1

report -l -g >"$TMP/text"
"$TESTBIN/mkksyms" "$SESSION/symbols/vmlinux-$id"
report -l -g >"$TMP/packed"
ok "a packed snapshot says what the text said" cmp "$TMP/text" "$TMP/packed"
cp "$SESSION/symbols/vmlinux-$id" "$TMP/snapshot"
truncate -s -1 "$SESSION/symbols/vmlinux-$id"
like "a damaged one names nothing" "$(report -l)" \
	'^973 +97.3000 +vmlinux +/vmlinux$'
is "which is said in a line" "$(grep vmlinux "$TMP/err")" \
	"opreport: warning: vmlinux: no symbols: $SESSION/symbols/vmlinux-$id: it is damaged; profile again"
cp "$TMP/snapshot" "$SESSION/symbols/vmlinux-$id"

is "details" "$(report -n -d -x vmlinux)" "\
00001000 735      75.5396  do_syscall_64
  00001000 700      95.2381
  00001fff 35        4.7619
00002000 238      24.4604  schedule
  00002010 238      100.000"
is "threshold" "$(report -n -l --threshold=20)" "\
735      73.5000  vmlinux                  do_syscall_64
238      23.8000  vmlinux                  schedule"
is "running sums" "$(report -n -l -a vmlinux)" "\
735      735           75.5396  75.5396    do_syscall_64
238      973           24.4604  100.000    schedule"
is "running sums of details" "$(report -n -d -a vmlinux)" "\
00001000 735      735           75.5396  75.5396    do_syscall_64
  00001000 700      700           95.2381  95.2381
  00001fff 35       735            4.7619  100.000
00002000 238      973           24.4604  100.000    schedule
  00002010 238      238           100.000  100.000"
is "running sums of details, of all samples" \
	"$(report -n -d -a -% vmlinux | grep '^  ')" "\
  00001000 700      700           71.9424  71.9424
  00001fff 35       735            3.5971  75.5396
  00002010 238      238           24.4604  24.4604"
is "reverse" "$(report -n -r | head -n 1)" "       27  2.7000 ext4"
for module in xfs dm; do
	printf '0x10 27\n' | sample "{kern}/$module/{dep}/{kern}/$module/$E.all.all.all" \
		kind=module event=118 count=100000 cpu-khz=863195
done
is "of those with the same count the names are never turned round" \
	"$(report -n -r | awk '{ print $3 }' | tr '\n' ' ')" "dm ext4 xfs vmlinux "
like "a speed that is no whole number" "$(report '*xfs')" \
	', speed 863.195 MHz \(estimated\)$'
rm -r "$CURRENT/{kern}/xfs" "$CURRENT/{kern}/dm"
is "sort by symbol" "$(report -n -l -s symbol | awk '{ print $1 }' | tr '\n' ' ')" \
	"27 735 238 "
is "include" "$(report -n -l -i schedule vmlinux)" "238      100.000  schedule"
is "exclude" "$(report -n -l -e schedule vmlinux)" \
	"735      100.000  do_syscall_64"
ok "output file" report -n -o "$TMP/file"
is "holds the report" "$(cat "$TMP/file")" "$(report -n)"

# ---- two events, an application and what it uses -----------------------------

M=DATA_CACHE_MISSES.5000.0
cat >"$TMP/prog.c" <<'END'
int hot(int x) { return x * 3 + 1; }
int cold(int x) { return x * 5 + 2; }
int main(int argc, char **argv) { (void)argv; return hot(argc) + cold(argc); }
END
cc=${CC:-cc}
$cc -O0 -g -Wl,--build-id -o "$TMP/prog" "$TMP/prog.c" || exit 1
# The file offset of a function: text is mapped at the offset it has there.
offset() {
	nm "$TMP/prog" | awk -v f="$1" '$3 == f { print "0x" $1 }'
}
mtime="mtime=$TMP/prog"
rm -rf "$CURRENT"
P="{root}$TMP/prog"
printf '%s 60\n%s 30\n' "$(offset hot)" "$(offset cold)" |
	sample "$P/{dep}/$P/$E.all.all.all" "$mtime" event=118 count=100000
printf '%s 5\n' "$(offset hot)" |
	sample "$P/{dep}/$P/$M.all.all.all" "$mtime" event=65 count=5000
printf '0x5000 10\n' |
	sample "$P/{dep}/{root}/no/lib.so/$E.all.all.all" event=118 count=100000
printf '0x10 4\n' | sample \
	"$P/{dep}/{anon:anon}/7.0x10000.0x20000/$E.all.all.all" \
	kind=anon anon-start=0x10000 event=118 count=100000

is "two columns and dependent images" "$(report | tail -n +4)" "\
CPU_CLK_UNHALT...|DATA_CACHE_MIS...|
  samples|      %|  samples|      %|
------------------------------------
      104 100.000         5 100.000 prog
	CPU_CLK_UNHALT...|DATA_CACHE_MIS...|
	  samples|      %|  samples|      %|
	------------------------------------
	       90 86.5385         5 100.000 prog
	       10  9.6154         0       0 lib.so
	        4  3.8462         0       0 anon (tgid:7 range:0x10000-0x20000)"
is "symbols with images" "$(report -n -l)" "\
60       57.6923  5        100.000  prog                     hot
30       28.8462  0              0  prog                     cold
10        9.6154  0              0  lib.so                   /no/lib.so
4         3.8462  0              0  anon (tgid:7 range:0x10000-0x20000) anon (tgid:7 range:0x10000-0x20000)"
like "the missing library" "$(cat "$TMP/err")" \
	'^opreport: warning: /no/lib.so: no symbols: not found'
is "is said so once" "$(wc -l <"$TMP/err")" 1
is "anonymous memory and what is in it have addresses of one kind" \
	"$(report -n -d event:CPU_CLK_UNHALTED lib-image:'anon*' | awk '{ print $1 + 0, $2 }')" \
	"10000 4
10010 4"
is "excluded" "$(report -n -x -l event:CPU_CLK_UNHALTED | sum)" 90
is "by event" "$(report -n event:DATA_CACHE_MISSES)" \
	"        5 100.000 prog"
is "by library" "$(report -n lib-image:/no/lib.so)" "       10 100.000 prog
	       10 100.000 lib.so"
is "merged libraries" "$(report -n --merge=lib event:CPU_CLK_UNHALTED |
	awk '{ print $1 }' | tr '\n' ' ')" "90 10 4 "
is "no sample is dropped" "$(report -n -l event:CPU_CLK_UNHALTED | sum)" 104
for lib in 1 2 3; do
	printf '0x5000 1\n' | sample "$P/{dep}/{root}/no/$lib.so/$E.all.all.all" \
		event=118 count=100000
done
report -n -l >/dev/null
like "what many images lack is one line" "$(cat "$TMP/err")" \
	'^opreport: warning: /no/1.so: no symbols: not found; .* \(and 3 more like this; --verbose lists them\)$'
is "and no more" "$(wc -l <"$TMP/err")" 1
report -n -l --verbose=stats >/dev/null
is "or one each" "$(grep -c 'warning: .*no symbols: not found' "$TMP/err")" 4
rm -r "$CURRENT/$P/{dep}/{root}/no/"[123].so

# ---- other binaries than were profiled ---------------------------------------

cp -p "$TMP/prog" "$TMP/prog.good"
touch -d '2001-01-01' "$TMP/prog"
is "a changed binary gives no wrong names" \
	"$(report -n -l event:DATA_CACHE_MISSES)" "5        100.000  $TMP/prog"
like "and is said so" "$(cat "$TMP/err")" 'has changed since it was profiled'
cp -p "$TMP/prog.good" "$TMP/prog"
echo "$(offset hot) 5" | sample "$P/{dep}/$P/BUILD.1.0.all.all.all" "$mtime" \
	build-id=00112233445566778899aabbccddeeff00112233
is "a binary of another build-id and the same time gives none either" \
	"$(report -n -l event:BUILD)" "5        100.000  $TMP/prog"
like "with what to do" "$(cat "$TMP/err")" \
	'changed since it was profiled; profile again, or give the folder of the old one with --root'
rm -r "$CURRENT/$P/{dep}/$P/BUILD.1.0.all.all.all"
size=$(wc -c <"$TMP/prog")
for len in 0 1 60 200 1000 4100 $((size / 2)) $((size - 100)); do
	head -c "$len" "$TMP/prog.good" >"$TMP/prog"
	touch -r "$TMP/prog.good" "$TMP/prog"
	is "a binary of $len bytes" "$(report -n -l event:DATA_CACHE_MISSES | sum)" 5
done
cp -p "$TMP/prog.good" "$TMP/prog"
strip "$TMP/prog"
touch -r "$TMP/prog.good" "$TMP/prog"
is "a stripped one" "$(report -n -l event:DATA_CACHE_MISSES | sum)" 5
like "is said so" "$(cat "$TMP/err")" 'stripped'
mkdir -p "$TMP/elsewhere/deep"
mv "$TMP/prog.good" "$TMP/elsewhere/deep/prog"
rm "$TMP/prog"
is "a binary in the image path" \
	"$(report -n -l -p "$TMP/elsewhere" event:DATA_CACHE_MISSES)" \
	"5        100.000  hot"

# ---- what goes wrong ---------------------------------------------------------

ok "no match, with what there is" complains 'prog' image:/bin/prig
printf '0x5 1\n' | sample "$KERNEL/$E.1.1.0" kind=kernel
printf '0x5 1\n' | sample "$KERNEL/$E.2.2.1" kind=kernel
ok "two differences are refused in columns" complains 'merge' vmlinux \
	--layout=columns
is "one is left by merging" "$(report -n --merge=tgid,tid vmlinux | wc -l)" 1
ok "a missing session" complains 'session' session:nonesuch
mkdir -p "$TMP/empty/samples/current"
"$BIN/opreport" --session-dir="$TMP/empty" >"$TMP/out" 2>"$TMP/err"
is "an empty session" "$? $(wc -l <"$TMP/err")" "1 1"
for folder in "$TMP/none" "$TMP/out"; do
	"$BIN/opreport" --session-dir="$folder" >/dev/null 2>"$TMP/err"
	like "no session folder: ${folder##*/}" "$? $(cat "$TMP/err")" \
		"^1 opreport: $folder/samples: there are no samples; .*--session-dir$"
done

echo '0x10 1' | "$TESTBIN/mkclassic" \
	"$TMP/classic/samples/current/$KERNEL/$E.all.all.all" \
	event=118 count=100000 kernel=1
"$BIN/opreport" --session-dir="$TMP/classic" >"$TMP/out" 2>"$TMP/err"
like "a session of the original profiler" "$? $(wc -l <"$TMP/err") $(cat "$TMP/err")" \
	'^1 1 opreport: .*: it is of OProfile 1.4 or older; convert the session with opimport --session$'

# Who may not read is told so, once.
if [ "$(id -u)" -eq 0 ]; then
	cp -r "$SESSION" "$TMP/private"
	chmod 755 "$TMP"
	stranger() {
		as_user "$BIN/opreport" --session-dir="$TMP/private" "$@" 2>"$TMP/err"
	}
	chmod 700 "$TMP/private/samples"
	stranger >"$TMP/out"
	like "a session of somebody else" "$? $(wc -c <"$TMP/out") $(cat "$TMP/err")" \
		'^1 0 opreport: [^ ]*/samples/current: Permission denied; run as the user who profiled or as root, or profile with --readable-by=GROUP$'
	chmod 755 "$TMP/private/samples"
	find "$TMP/private/samples" -type f -exec chmod 600 {} +
	stranger >"$TMP/out"
	like "files of somebody else" "$? $(wc -c <"$TMP/out") $(cat "$TMP/err")" \
		'^1 0 opreport: no usable .*permission denied \(run as the user who profiled, or as root\)$'
	is "are told in one line" "$(wc -l <"$TMP/err")" 1
	find "$TMP/private/samples" -name '*.1.1.0' -exec chmod 644 {} +
	is "what may be read is shown" "$(stranger -n)" "        1 100.000 vmlinux"
	like "the rest is one line" "$(grep -v 'no symbols' "$TMP/err")" \
		'^opreport: warning: .*permission denied.*; left out \(and [0-9]+ more like this; --verbose lists them\)$'
else
	skip "files of somebody else" "needs root"
fi
for bad in --threshold=101 --threshold=x --sort=foo --merge=foo \
	--demangle=foo --nosuch -w --sort=vma; do
	exits "$bad" 2 report "$bad"
	is "in one line" "$(wc -l <"$TMP/err")" 1
done
# Warnings come after the answer, and those that hardly matter are counted.
mkdir -p "$TMP/minor"
minor() {
	echo "0x10 $2" | "$TESTBIN/mkodb" \
		"$TMP/minor/samples/current/{root}$1/{dep}/{root}$1/$M.all.all.all"
}
minor /none/much 990
minor /none/little 4
minor /none/less 4
minor /none/enough 6
"$BIN/opreport" --session-dir="$TMP/minor" -l >"$TMP/out" 2>&1
like "warnings come after the table" "$(sed '1,/symbol name/d' "$TMP/out" | grep -v '^opreport')" '/none/much'
is "of the images that matter" "$(grep ^opreport "$TMP/out")" "\
opreport: warning: /none/enough: no symbols: not found; give its folder with --image-path or --root
opreport: warning: /none/much: no symbols: not found; give its folder with --image-path or --root
opreport: 2 warnings about images with less than 0.5 % of the samples; --verbose lists them"
is "all of them, if asked for" "$("$BIN/opreport" --session-dir="$TMP/minor" -l -V 2>&1 |
	grep -c 'no symbols: not found')" 4
"$TESTBIN/mkodb" --break "$CURRENT/$P/{dep}/$P/$M.all.all.all" truncate=100
is "a damaged file leaves the rest" "$(report -n -x image:"$TMP/prog" |
	awk '{ print $1 }')" 90
like "and is said so" "$(cat "$TMP/err")" 'damaged; left out'
done_testing
