#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Stripped binaries: in a session of ours their functions are told apart, by
# the addresses that the unwinders' table has, also from an archive; in one that
# was imported they are one line, as ever.
# sanitized: yes
. "$(dirname "$0")/../lib.sh"

SESSION=$TMP/session CURRENT=$TMP/session/samples/current
cd "$TMP" || exit 1
cat >prog.c <<'END2'
#define FAR __attribute__((noinline, noclone))
static FAR int first(int x) { return x * 3 + 1; }
static FAR int second(int x) { return x * 5 + 2; }
int FAR exported(int x) { return first(x) + second(x); }
int main(int argc, char **argv) { (void)argv; return exported(argc); }
END2
cc=${CC:-cc}
$cc -O1 -Wl,--build-id -o prog prog.c || exit 1
$cc -O1 -Wl,--build-id -shared -fPIC -o lib.so prog.c || exit 1
# at FILE FUNCTION: its address, which is the file's offset, too.
at() {
	nm "$1" | awk -v f="$2" '$3 == f { sub(/^0+/, "", $1); print "0x" $1 }'
}
first=$(at prog first) second=$(at prog second)
lib_first=$(at lib.so first) lib_exported=$(at lib.so exported)
E=CPU_CLK_UNHALTED.100000.0.all.all.all
P="{root}$TMP/prog"
sample() {
	strip "$1"
	"$TESTBIN/mkodb" "$CURRENT/$P/{dep}/{root}$TMP/$1/$E" event=118 \
		count=100000 build-id="$(readelf -n "$1" |
			sed -n 's/.*Build ID: //p')"
}
printf '%s 30\n%s 20\n%s 5\n' "$first" "$second" "$(printf '0x%x' $((second + 1)))" |
	sample prog
printf '%s 10\n%s 4\n0x10 1\n' "$lib_first" "$lib_exported" | sample lib.so

# symbols [ARG...]: count, image and symbol of each line.
symbols() {
	"$BIN/opreport" --session-dir="$SESSION" -n -l "$@" 2>"$TMP/err" |
		awk '{ print $1, $3, $4, $5 }'
}
imported=$(symbols)
is "of an import they are one line" "$imported" \
"55 prog (no symbols)
11 lib.so (no symbols)
4 lib.so exported "

printf '%s\n' 'source = test' 'taken = 70' 'stored = 70' 'pending = 0' \
	>"$CURRENT/ledger"
ours="30 prog ($first) 
25 prog ($second) 
10 lib.so ($lib_first) 
4 lib.so exported 
1 lib.so (no symbols)"
is "of ours they are told apart" "$(symbols)" "$ours"
like "that they have no names is said" "$(cat err)" \
	"warning: $TMP/prog: no symbols: it is stripped"
is "as such they can be asked for" "$(symbols -i "($second)")" \
	"25 ($second)  "

for how in '' --symbols-only; do
	rm -rf archive
	# shellcheck disable=SC2086 # none or one
	ok "archive $how" "$BIN/oparchive" --session-dir="$SESSION" $how \
		-o archive
	mv prog prog.away && mv lib.so lib.so.away
	is "archive $how has them" "$(symbols archive:archive)" "$ours"
	mv prog.away prog && mv lib.so.away lib.so
done

# ---- tables that are no tables ----------------------------------------------------

# damaged NAME OFFSET BYTES: in the table of prog, so that it has none.
table=$(readelf -SW prog | awk '$2 == ".eh_frame_hdr" || $3 == ".eh_frame_hdr" {
	for (i = 1; i <= NF; i++) if ($i == "PROGBITS") print $(i + 2) }')
cp prog prog.good
while read -r name offset bytes; do
	cp prog.good prog
	# shellcheck disable=SC2059 # bytes
	printf "$bytes" | dd of=prog bs=1 conv=notrunc status=none \
		seek=$((0x$table + offset))
	is "$name: one line" "$(symbols | head -n 1)" \
		"55 prog (no symbols)"
done <<'END2'
another-version 0 \\002
other-rows 3 \\033
no-count 2 \\377
END2
cp prog.good prog
printf '\377\377\377\377' | dd of=prog bs=1 conv=notrunc status=none \
	seek=$((0x$table + 8))
is "more functions than the table has" "$(symbols | head -n 1)" \
	"30 prog ($first) "
done_testing
