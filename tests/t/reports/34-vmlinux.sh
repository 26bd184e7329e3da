#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A kernel with all its debug information (Debian's linux-image-*-dbg: 600 MB):
# samples from a stream, of a kernel that was loaded elsewhere, get the symbols
# that nm lists and the lines that LLVM finds.
#
# VMLINUX names the file; without that, an installed one is taken.
# timeout: 900
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../daemon.sh"

: "${VMLINUX:=$(find /usr/lib/debug/boot -name 'vmlinux-*' 2>/dev/null | sort | tail -n 1)}"
[ -n "$VMLINUX" ] || skip_all "no kernel with debug information (package linux-image-$(dpkg --print-architecture 2>/dev/null)-dbg); VMLINUX= names one"
command -v python3 >/dev/null || skip_all "no python3"

id=$(readelf -n "$VMLINUX" 2>/dev/null | sed -n 's/.*Build ID: //p' | tail -n 1)
nm -S "$VMLINUX" 2>/dev/null | sort >"$TMP/nm"

# 4,000 places in functions of known size, from the whole kernel, as if it had
# been loaded at another address than it was linked for.
python3 - "$TMP/nm" "$TMP/places" "$id" >"$TMP/words" <<'END'
import sys
SLIDE = 0x20000000
lines = [line.split() for line in open(sys.argv[1])]
at = {line[-1]: int(line[0], 16) for line in lines}
start, end = at["_stext"], at["_etext"]
functions = [(int(l[0], 16), int(l[1], 16)) for l in lines
             if len(l) == 4 and l[2] in "tT" and start <= int(l[0], 16) < end]
step = max(1, len(functions) // 4000)
places = sorted({a + size * (i % 7) // 7
                 for i, (a, size) in enumerate(functions[::step])})
with open(sys.argv[2], "w") as out:
    out.writelines("0x%x\n" % place for place in places)
print("stream 1 8")
print("kernel-range first 0x%x 0x%x %s vmlinux" % (start + SLIDE, end + SLIDE, sys.argv[3]))
print("cpu 0\nctx 0 0\ntgid 0\nkernel")
for place in places:
    print("sample 0x%x 0" % (place + SLIDE))
END
stream "$TMP/stream" <"$TMP/words"
ok "the stream replays" replay "$TMP/stream"

report() {
	"$BIN/opreport" --session-dir="$SESSION" -p "$(dirname "$VMLINUX")" "$@"
}

report -n -l -g >"$TMP/symbols" 2>"$TMP/err"
is "no complaint" "$(cat "$TMP/err")" ""
is "every sample is there" "$(awk '{ n += $1 } END { print n }' "$TMP/symbols")" \
	"$(wc -l <"$TMP/places")"
is "and in a function" "$(grep -c '(no symbols)' "$TMP/symbols")" 0

# The address of each place, with its symbol and its line.
report -n -d -g | awk '
	/^  / { print $1, ($4 ~ /^\(no/ ? "??:0" : $4), symbol; next }
	{ symbol = $NF }' | sort >"$TMP/got"
is "no place is missing" "$(wc -l <"$TMP/got")" "$(wc -l <"$TMP/places")"

# What nm has at or before each place, under whatever name.
cut -d' ' -f1,3 "$TMP/got" | sort - "$TMP/nm" | awk '
	NF == 2 { if (!($2 in names)) { print; wrong++ } ; next }
	NF >= 3 && tolower($(NF - 1)) ~ /[tw]/ {
		if ($1 != at) { at = $1; split("", names) }
		names[$NF] = 1
	}
	END { print wrong + 0, "wrong" }' >"$TMP/wrong"
is "each has its own symbol" "$(tail -n 5 "$TMP/wrong")" "0 wrong"

if command -v llvm-symbolizer >/dev/null; then
	cut -d' ' -f1 "$TMP/got" | sed 's/^/0x/' |
		llvm-symbolizer --no-inlines --output-style=GNU -f=none -e "$VMLINUX" |
		sed -e 's|.*/||' -e 's/ (disc.*//' -e 's/:?$/:0/' >"$TMP/wanted"
	cut -d' ' -f2 "$TMP/got" >"$TMP/lines"
	ok "and its own line" diff "$TMP/lines" "$TMP/wanted"
else
	skip "and its own line" "no llvm-symbolizer (package llvm)"
fi
if command -v strace >/dev/null; then
	ASAN_OPTIONS=detect_leaks=0 strace -qq -e trace=open,openat -o "$TMP/trace" \
		"$BIN/opreport" --session-dir="$SESSION" -p "$(dirname "$VMLINUX")" \
		-l -g >/dev/null 2>&1
	is "the file is opened once" "$(grep -c "\"$VMLINUX\".*= [0-9]" "$TMP/trace")" 1
else
	skip "the file is opened once" "no strace"
fi
done_testing
