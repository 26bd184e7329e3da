#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# opreport --callgraph: who calls whom, in all formats, with recursion, cycles,
# several images and columns, and with files that are not as they should be.
# sanitized: yes
. "$(dirname "$0")/../lib.sh"

SESSION=$TMP/session
CURRENT=$SESSION/samples/current
E=EVENT.1000.0.all.all.all
ID=01234567 K='{kern}/vmlinux' M='{kern}/fs' P='{root}/no/prog'

# counts NAME [OPTION...] <pairs: a file of the session.
counts() {
	name=$1
	shift
	"$TESTBIN/mkodb" "$CURRENT/$name" event=1 count=1000 cpu-type=timer "$@"
}

# calls IMAGE IMAGE KIND <"CALLER CALLEE COUNT" lines: calls from the first
# image to the second, taken for the application $P.
calls() {
	while read -r from to nr; do
		printf '0x%x%08x %d\n' "$from" "$to" "$nr"
	done | counts "$P/{dep}/$1/{cg}/$2/$E" kind="$3" build-id=$ID
}

report() {
	"$BIN/opreport" --session-dir="$SESSION" "$@" 2>"$TMP/err"
}

rows() {
	report -c -n "$@"
}

# refuses ERE ARG...: a wrong command line, in one line.
refuses() {
	ere=$1
	shift
	report "$@" >"$TMP/out"
	like "refused: $*" "$? $(wc -c <"$TMP/out") $(wc -l <"$TMP/err") $(cat "$TMP/err")" \
		"^2 0 1 opreport: .*$ere"
}

mkdir -p "$SESSION/symbols"
cat >"$SESSION/symbols/vmlinux-$ID" <<END
oprofile symbols 1 vmlinux $ID
0 T _stext
1000 T entry
2000 T walk
3000 T leaf
4000 T ping
5000 T pong
6000 T end
END
cat >"$SESSION/symbols/fs-$ID" <<END
oprofile symbols 1 fs $ID
0 T fs_read
100 T fs_hash
200 T fs_end
END

# walk calls itself; ping and pong call each other; fs_read is never hit.
printf '0x1000 10\n0x2004 60\n0x3000 100\n0x4000 20\n0x5000 5\n' |
	counts "$P/{dep}/$K/$E" kind=kernel build-id=$ID
printf '0x110 5\n' | counts "$P/{dep}/$M/$E" kind=module build-id=$ID
calls "$K" "$K" kernel <<END
0x1010 0x2004 40
0x1020 0x2004 90
0x2010 0x2004 25
0x2014 0x3000 70
0x4010 0x5000 9
0x5010 0x4000 8
0x1030 0x4000 21
END
calls "$K" "$M" kernel <<END
0x1040 0x10 35
END
calls "$M" "$K" module <<END
0x20 0x3000 30
END
calls "$M" "$M" module <<END
0x24 0x110 5
END

RULE=-------------------------------------------------------------------------------
is "the whole" "$(report -c | sed 1,2d)" "\
samples  %        image name               symbol name
$RULE
  30       30.0000  fs                       fs_read
  70       70.0000  vmlinux                  walk
100      50.0000  vmlinux                  leaf
  100      100.000  vmlinux                  leaf [self]
$RULE
  25       16.1290  vmlinux                  walk [recursive]
  130      83.8710  vmlinux                  entry
60       30.0000  vmlinux                  walk
  70       45.1613  vmlinux                  leaf
  60       38.7097  vmlinux                  walk [self]
  25       16.1290  vmlinux                  walk [recursive]
$RULE
  8        27.5862  vmlinux                  pong
  21       72.4138  vmlinux                  entry
20       10.0000  vmlinux                  ping
  20       68.9655  vmlinux                  ping [self]
  9        31.0345  vmlinux                  pong
$RULE
10        5.0000  vmlinux                  entry
  130      66.3265  vmlinux                  walk
  35       17.8571  fs                       fs_read
  21       10.7143  vmlinux                  ping
  10        5.1020  vmlinux                  entry [self]
$RULE
  5        100.000  fs                       fs_read
5         2.5000  fs                       fs_hash
  5        100.000  fs                       fs_hash [self]
$RULE
  9        100.000  vmlinux                  ping
5         2.5000  vmlinux                  pong
  8        61.5385  vmlinux                  ping
  5        38.4615  vmlinux                  pong [self]
$RULE
  35       100.000  vmlinux                  entry
0              0  fs                       fs_read
  30       85.7143  vmlinux                  leaf
  5        14.2857  fs                       fs_hash
  0              0  fs                       fs_read [self]
$RULE"
is "says nothing" "$(cat "$TMP/err")" ""
is "the summary knows no calls" "$(report -n)" \
	"$(printf '      200 100.000 prog\n\t      195 97.5000 vmlinux\n\t        5  2.5000 fs')"
is "the symbol table neither" "$(report -n -l)" "\
100      50.0000  vmlinux                  leaf
60       30.0000  vmlinux                  walk
20       10.0000  vmlinux                  ping
10        5.0000  vmlinux                  entry
5         2.5000  fs                       fs_hash
5         2.5000  vmlinux                  pong"

# ---- options -----------------------------------------------------------------

# block NAME: lines about one symbol.
block() {
	awk -v name="$1" -v RS="$RULE\n" '
		{ n = split($0, l, "\n") }
		{ for (i = 1; i <= n; i++)
			if (l[i] ~ "^[^ ].*[ \t]" name "$") printf "%s", $0 }'
}

is "--global-percent" "$(rows -% | block walk)" "\
  25       12.5000  vmlinux                  walk [recursive]
  130      65.0000  vmlinux                  entry
60       30.0000  vmlinux                  walk
  70       35.0000  vmlinux                  leaf
  60       30.0000  vmlinux                  walk [self]
  25       12.5000  vmlinux                  walk [recursive]"
is "--accumulated, of the symbols and within each block" "$(rows -a | block walk)" "\
  25       25            16.1290  16.1290    vmlinux                  walk [recursive]
  130      155           83.8710  100.000    vmlinux                  entry
60       160           30.0000  80.0000    vmlinux                  walk
  70       70            45.1613  45.1613    vmlinux                  leaf
  60       130           38.7097  83.8710    vmlinux                  walk [self]
  25       155           16.1290  100.000    vmlinux                  walk [recursive]"
is "--threshold: symbols of all samples, neighbours of their block" "$(rows -t 17)" "\
$RULE
  30       30.0000  fs                       fs_read
  70       70.0000  vmlinux                  walk
100      50.0000  vmlinux                  leaf
  100      100.000  vmlinux                  leaf [self]
$RULE
  130      83.8710  vmlinux                  entry
60       30.0000  vmlinux                  walk
  70       45.1613  vmlinux                  leaf
  60       38.7097  vmlinux                  walk [self]
$RULE"
is "--include-symbols: the symbol itself, its share is of all samples" \
	"$(rows -i fs_hash,entry)" "\
$RULE
10        5.0000  vmlinux                  entry
  130      66.3265  vmlinux                  walk
  35       17.8571  fs                       fs_read
  21       10.7143  vmlinux                  ping
  10        5.1020  vmlinux                  entry [self]
$RULE
  5        100.000  fs                       fs_read
5         2.5000  fs                       fs_hash
  5        100.000  fs                       fs_hash [self]
$RULE"
unlike "--exclude-symbols" "$(rows -e walk | grep '^[^ ]')" ' walk$'
like "leaves it as a neighbour" "$(rows -e walk)" '^  70 .* walk$'
is "--sort and --reverse-sort order the symbols" \
	"$(rows -s vma -r | awk '/^[0-9]/ { printf "%s ", $NF }')" \
	"pong ping leaf walk entry fs_hash fs_read "
is "--show-address and --long-filenames" "$(rows -w -f -i pong)" "\
$RULE
  00004000 9        100.000  /vmlinux                 ping
00005000 5         2.5000  /vmlinux                 pong
  00004000 8        61.5385  /vmlinux                 ping
  00005000 5        38.4615  /vmlinux                 pong [self]
$RULE"
is "--merge=lib" "$(rows -m lib -i leaf)" "\
$RULE
  70       100.000  vmlinux                  vmlinux                  walk
100      50.0000  vmlinux                  vmlinux                  leaf
  100      100.000  vmlinux                  vmlinux                  leaf [self]
$RULE
  30       100.000  fs                       fs                       fs_read
0              0  vmlinux                  fs                       leaf
  0              0  vmlinux                  fs                       leaf [self]
$RULE"
is "a specification chooses by the caller's image" "$(rows "lib-image:/fs")" "\
$RULE
  5        100.000  fs                       fs_read
5        100.000  fs                       fs_hash
  5        100.000  fs                       fs_hash [self]
$RULE
0              0  fs                       fs_read
  30       85.7143  vmlinux                  leaf
  5        14.2857  fs                       fs_hash
  0              0  fs                       fs_read [self]
$RULE
  30       100.000  fs                       fs_read
0              0  vmlinux                  leaf
  0              0  vmlinux                  leaf [self]
$RULE"
like "an image is opened once" "$(report -c -V stats 2>&1 >/dev/null; cat "$TMP/err")" \
	"sample files: 6; images, each opened once: 2"

refuses "leave --details out" -c -d
report -c '{' image:a '}' '{' image:b '}' >"$TMP/out"
like "refused: a comparison" "$? $(cat "$TMP/err")" \
	"^1 opreport: --callgraph does not show comparisons"
refuses "has no effect on XML" -c -X -a

# ---- formats for programs ----------------------------------------------------

report -c --json >"$TMP/json"
is "JSON: cumulative samples, the recursive ones once" \
	"$(python3 -c '
import json, sys
for s in json.load(open(sys.argv[1]))["symbols"]:
    print(s["symbol"], s["samples"][0], s["cumulative"][0],
          [(n["symbol"], n["samples"][0], n.get("recursive", False)) for n in s["callees"]])
' "$TMP/json")" "\
leaf 100 100 []
walk 60 130 [('leaf', 70, False), ('walk', 25, True)]
ping 20 29 [('pong', 9, False)]
entry 10 196 [('walk', 130, False), ('fs_read', 35, False), ('ping', 21, False)]
fs_hash 5 5 []
pong 5 13 [('ping', 8, False)]
fs_read 0 35 [('leaf', 30, False), ('fs_hash', 5, False)]"
is "CSV" "$(report -c --csv -i walk)" "\
version,row,class,application,image,symbol,address,file,line,samples,percent,cumulative,of_application,of_image,of_symbol,of_address
1,symbol,EVENT:1000,/no/prog,/vmlinux,walk,0x2000,,,60,30,130,,,,
1,caller,EVENT:1000,/no/prog,/vmlinux,walk,0x2000,,,25,16.1290323,,/no/prog,/vmlinux,walk,0x2000
1,caller,EVENT:1000,/no/prog,/vmlinux,entry,0x1000,,,130,83.8709677,,/no/prog,/vmlinux,walk,0x2000
1,callee,EVENT:1000,/no/prog,/vmlinux,leaf,0x3000,,,70,45.1612903,,/no/prog,/vmlinux,walk,0x2000
1,callee,EVENT:1000,/no/prog,/vmlinux,walk,0x2000,,,25,16.1290323,,/no/prog,/vmlinux,walk,0x2000"
report -c -X >"$TMP/xml"
if command -v xmllint >/dev/null; then
	ok "XML is well-formed" xmllint --noout "$TMP/xml"
else
	skip "XML is well-formed" "no xmllint (package libxml2-utils)"
fi
ids() {
	grep -o "<symbol$1  id[a-z]*=\"[0-9]*\"" "$TMP/xml" | sort -u | wc -l
}
is "XML: every symbol that is referred to is told once" \
	"$(ids) $(ids data) $(grep -c '<symboldata' "$TMP/xml")" "7 7 7"

# ---- columns -----------------------------------------------------------------

E=OTHER.5.0.all.all.all
printf '0x3000 4\n' | counts "$P/{dep}/$K/$E" kind=kernel build-id=$ID
printf '0x2010 0x3000 3\n0x6010 0x3000 1\n' | calls "$K" "$K" kernel
is "two events" "$(rows -i leaf)" "\
$RULE
  0              0  1        25.0000  vmlinux                  end
  30       30.0000  0              0  fs                       fs_read
  70       70.0000  3        75.0000  vmlinux                  walk
100      50.0000  4        100.000  vmlinux                  leaf
  100      100.000  4        100.000  vmlinux                  leaf [self]
$RULE"
rm -r "${CURRENT:?}/$P/{dep}/$K/$E" "$CURRENT/$P/{dep}/$K/{cg}/$K/$E"
E=EVENT.1000.0.all.all.all

# ---- what is not as it should be ---------------------------------------------

printf '0x1050 0x20 3\n' | calls "$K" "{kern}/gone" kernel
like "a callee in an image that has no samples and no symbols" \
	"$(rows -i /gone)" '^  3 +100.000 +vmlinux +entry$'
like "why it has none" "$(cat "$TMP/err")" \
	"^opreport: warning: gone: no symbols: the session has no copy"
printf '0x20 0x30 2\n' | calls "{root}/no/prog" "$K" file
like "a caller without symbols" "$(rows -i _stext)" '^  2 .* prog +/no/prog$'
printf '0x99 0x100 1\n0x98 0x99 1\n' | calls "$M" "{anon:[heap]}/7.0x1000.0x2000" module
like "anonymous memory that is called" "$(rows)" '^  2 .*\[heap\] \(tgid:7 '
"$TESTBIN/mkodb" --break "$CURRENT/$P/{dep}/$M/{cg}/$M/$E" flip=70:255
is "a damaged file leaves out its calls" "$(rows -i fs_hash)" "\
$RULE
5         2.5000  fs                       fs_hash
  5        100.000  fs                       fs_hash [self]
$RULE"
like "and is told" "$(cat "$TMP/err")" "^opreport: warning: .*{cg}/$M/$E: .*; left out"

find "$CURRENT" -depth -name '{cg}' -exec rm -r {} +
is "a profile have no call graphs" "$(rows -i leaf)" "\
$RULE
100      50.0000  vmlinux                  leaf
  100      100.000  vmlinux                  leaf [self]
$RULE"
like "tells how to get some" "$(cat "$TMP/err")" \
	"have no call graphs.*opcontrol --callgraph=DEPTH or operf --callgraph"

# ---- the application alone ------------------------------------------------------

SESSION=$TMP/alone
CURRENT=$SESSION/samples/current
printf '0x10 7\n' | counts "$P/{dep}/$P/$E" kind=file
printf '0x10 2\n' | counts "$P/{dep}/$K/$E" kind=kernel build-id=$ID
printf '0x10 0x20 3\n' | calls "$P" "$P" file
printf '0x10 0x1010 4\n' | calls "$P" "$K" file
like "calls to the kernel are shown" "$(rows)" ' vmlinux '
is "-x shows nothing but the application" "$(rows -x | grep -v -e ---)" \
	"  3        100.000  /no/prog [recursive]
7        100.000  /no/prog
  7        70.0000  /no/prog [self]
  3        30.0000  /no/prog [recursive]"

# ---- call trees ------------------------------------------------------------------

# The same from stacks: the calls are between their frames. walk calls itself
# in one, and what is below a gap was called from nowhere.
SYMBOLS=$TMP/session/symbols
SESSION=$TMP/trees
CURRENT=$SESSION/samples/current
mkdir -p "$SESSION" && cp -r "$SYMBOLS" "$SESSION/symbols"
cat >"$TMP/stacks" <<END
image p root:/no/prog
image k kern:vmlinux kernel build-id=$ID
image m kern:fs module build-id=$ID
image gap kern:[truncated] pseudo
stack 3 p+0x10 k+0x1010 k+0x2010 k+0x3000
stack 2 p+0x10 k+0x1020 k+0x2010 k+0x2014 k+0x3000
stack 4 p+0x10 k+0x1040 m+0x20 k+0x3000
stack 1 p+0x10 k+0x1040 m+0x0
stack 5 gap+0x0 m+0x24 m+0x100
stack 2 gap+0x0 p+0x20 p+0x0
END
tree() {
	"$TESTBIN/mktree" "$CURRENT/$P/{tree}/$E" event=1 count=1000 \
		cpu-type=timer <"$TMP/stacks"
}
tree
printf '0x3000 16\n' | counts "$P/{dep}/$K/$E" kind=kernel build-id=$ID
printf '0x0 1\n0x110 5\n' | counts "$P/{dep}/$M/$E" kind=module build-id=$ID
printf '0x0 2\n' | counts "$P/{dep}/$P/$E" kind=file
TREES="\
$RULE
  4        44.4444  fs                       fs_read
  5        55.5556  vmlinux                  walk
16       66.6667  vmlinux                  leaf
  16       100.000  vmlinux                  leaf [self]
$RULE
  5        100.000  fs                       fs_read
5        20.8333  fs                       fs_hash
  5        100.000  fs                       fs_hash [self]
$RULE
  2        100.000  prog                     /no/prog [recursive]
2         8.3333  prog                     /no/prog
  10       71.4286  vmlinux                  entry
  2        14.2857  prog                     /no/prog [recursive]
  2        14.2857  prog                     /no/prog [self]
$RULE
  5        100.000  vmlinux                  entry
1         4.1667  fs                       fs_read
  5        50.0000  fs                       fs_hash
  4        40.0000  vmlinux                  leaf
  1        10.0000  fs                       fs_read [self]
$RULE
  10       100.000  prog                     /no/prog
0              0  vmlinux                  entry
  5        50.0000  fs                       fs_read
  5        50.0000  vmlinux                  walk
  0              0  vmlinux                  entry [self]
$RULE
  2        28.5714  vmlinux                  walk [recursive]
  5        71.4286  vmlinux                  entry
0              0  vmlinux                  walk
  5        71.4286  vmlinux                  leaf
  2        28.5714  vmlinux                  walk [recursive]
  0              0  vmlinux                  walk [self]
$RULE"
is "calls from call trees" "$(rows)" "$TREES"
is "what is said of a binary that is gone" "$(cat "$TMP/err")" \
	"opreport: warning: /no/prog: no symbols: not found; give its folder with --image-path or --root"
is "chosen by the caller's image" "$(rows lib-image:/fs)" "\
$RULE
  5        100.000  fs                       fs_read
5        83.3333  fs                       fs_hash
  5        100.000  fs                       fs_hash [self]
$RULE
1        16.6667  fs                       fs_read
  5        50.0000  fs                       fs_hash
  4        40.0000  vmlinux                  leaf
  1        10.0000  fs                       fs_read [self]
$RULE
  4        100.000  fs                       fs_read
0              0  vmlinux                  leaf
  0              0  vmlinux                  leaf [self]
$RULE"
is "of the application alone" "$(rows -x)" "\
$RULE
  2        100.000  /no/prog [recursive]
2        100.000  /no/prog
  2        50.0000  /no/prog [recursive]
  2        50.0000  /no/prog [self]
$RULE"

# Earlier versions wrote arcs of the same calls beside the trees; those of an
# event that has none count.
printf '0x1010 0x2004 7\n' | calls "$K" "$K" kernel
is "arcs beside a tree do not count twice" "$(rows)" "$TREES"
like "and are told with the statistics" "$(rows -V stats; cat "$TMP/err")" \
	'files of arcs that are not read, because call trees have their calls: 1'
E=OTHER.5.0.all.all.all
printf '0x2000 6\n' | counts "$P/{dep}/$K/$E" kind=kernel build-id=$ID
printf '0x4010 0x2004 7\n' | calls "$K" "$K" kernel
is "arcs of another event do" "$(rows -i walk)" "\
$RULE
  0              0  7        100.000  vmlinux                  ping
  2        28.5714  0              0  vmlinux                  walk [recursive]
  5        71.4286  0              0  vmlinux                  entry
0              0  6        100.000  vmlinux                  walk
  5        71.4286  0              0  vmlinux                  leaf
  2        28.5714  0              0  vmlinux                  walk [recursive]
  0              0  6        100.000  vmlinux                  walk [self]
$RULE"
E=EVENT.1000.0.all.all.all

# Images that are not kept apart by application are chosen by themselves.
rm -r "${CURRENT:?}"
tree
printf '0x3000 16\n' | counts "$K/{dep}/$K/$E" kind=kernel build-id=$ID
printf '0x0 1\n0x110 5\n' | counts "$M/{dep}/$M/$E" kind=module build-id=$ID
printf '0x0 2\n' | counts "$P/{dep}/$P/$E" kind=file
is "each image its own application: chosen by it" "$(rows image:/no/prog)" "\
$RULE
  2        100.000  /no/prog [recursive]
2        100.000  /no/prog
  10       71.4286  entry
  2        14.2857  /no/prog [recursive]
  2        14.2857  /no/prog [self]
$RULE
  10       100.000  /no/prog
0              0  entry
  0              0  entry [self]
$RULE"

done_testing
