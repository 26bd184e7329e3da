#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Modules of the kernel, which are not linked: samples from a stream get the
# symbol that is at the place where the kernel loads it, and code that is in no
# symbol gets none.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../daemon.sh"
command -v python3 >/dev/null || skip_all "no python3"

# make_module FILE NR POWER: sections of code with data between them, one that the
# kernel loads elsewhere, symbols of several sections at one offset, and holes
# between symbols. The section .text has NR functions at multiples of 2^POWER.
make_module() {
	awk -v nr="$2" -v power="$3" 'BEGIN {
		for (i = 0; i < nr; i++) {
			printf ".text\n.p2align %d\n.type f%d,@function\n", power, i
			printf "f%d:.skip %d,0x90\n", i, 1 + i * 7 % 61
			printf ".size f%d,.-f%d\n", i, i
			printf ".data\n.type d%d,@object\nd%d:.skip 3\n", i, i
			printf ".size d%d,1\n", i
		}
	}' >"$1.s"
	for section in .init.text .text.unlikely .exit.text; do
		printf '.section %s,"ax"\n.p2align 7\n' $section
		awk -v s="$section" 'BEGIN {
			gsub(/\./, "_", s)
			for (i = 0; i < 20; i++) {
				f = s i
				printf ".type %s,@function\n%s:.skip %d,0x90\n", f, f, 3 + i
				printf ".size %s,.-%s\n.skip 2,0x90\n", f, f
			}
		}'
	done >>"$1.s"
	echo '.section .note.gnu.build-id,"a",@note
	.long 4,4,3
	.asciz "GNU"
	.byte 1,2,3,4' >>"$1.s"
	${CC:-cc} -c -o "$1.ko" "$1.s"
}

# words FILE NAME PLACES: a stream with a sample at the start, in the middle and
# at the end of each function, and in holes; PLACES gets the number of samples of
# each symbol.
words() {
	readelf -n "$1" | sed -n 's/.*Build ID: //p' >"$TMP/id"
	readelf -SW "$1" | sed 's/^ *\[ *//' >"$TMP/sections"
	readelf -sW "$1" >"$TMP/syms"
	python3 - "$2" "$3" "$(cat "$TMP/id")" "$TMP" <<'END'
import collections, sys
name, places, build, tmp = sys.argv[1:]
# Where the kernel has what stays in memory, and what runs once.
base, init_base = 0xffffffffc0100000, 0xffffffffd0000000
sections, ends = {}, {base: base, init_base: init_base}
for line in open(tmp + "/sections"):
    f = line.split()
    if len(f) < 10 or not f[0].rstrip("]").isdigit() or f[2] != "PROGBITS":
        continue
    if "A" in f[7] and "X" in f[7]:
        align = int(f[-1])
        part = init_base if f[1].startswith(".init") else base
        at = (ends[part] + align - 1) // align * align
        sections[f[0].rstrip("]")] = at
        ends[part] = at + int(f[5], 16)
functions = collections.defaultdict(set)
for line in open(tmp + "/syms"):
    f = line.split()
    if len(f) == 8 and f[3] in ("FUNC", "NOTYPE") and f[6] in sections and \
            not f[7].startswith(("__pfx_", ".L")):
        start = sections[f[6]] + int(f[1], 16)
        functions[start].add((f[7], int(f[2], 0)))
counts, samples = collections.Counter(), []
starts = sorted(functions) + [max(ends.values())]
for i, start in enumerate(starts[:-1]):
    size = max(size for _, size in functions[start])
    if not size:
        continue
    names = "/".join(sorted(n for n, _ in functions[start]))
    for offset in sorted({0, size // 2, size - 1}):
        if start + offset < starts[i + 1]:
            samples.append(start + offset)
            counts[names] += 1
with open(places, "w") as out:
    out.writelines("%d %s\n" % (n, names) for names, n in sorted(counts.items()))
print("stream 1 8")
print("kernel-range first 0xffffffff81000000 0xffffffff82000000 - vmlinux")
print("kernel-range 0x%x 0x%x %s %s" % (base, ends[base], build, name))
if ends[init_base] > init_base:
    print("kernel-range init 0x%x 0x%x %s %s" %
          (init_base, ends[init_base], build, name))
print("cpu 0\nctx 0 0\ntgid 0\nkernel")
for place in samples:
    print("sample 0x%x 0" % place)
END
}

# symbols_of FOLDER: "COUNT SYMBOL" of the report with that image path.
symbols_of() {
	"$BIN/opreport" --session-dir="$SESSION" -n -l -g -p "$1" 2>"$TMP/err" |
		awk '{ print $1, $NF }' | sed 's/symbols)$/(none)/' >"$TMP/symbols"
}

# wrong PLACES: symbols that differ from what is expected. Several functions at
# one place have one of their names.
wrong() {
	python3 - "$1" "$TMP/symbols" <<'END'
import sys
wanted, got = {}, {}
for line in open(sys.argv[1]):
    n, names = line.split()
    for name in names.split("/"):
        wanted[name] = (n, names)
for line in open(sys.argv[2]):
    n, name = line.split()
    got[name] = got.get(name, 0) + int(n)
seen = {}
for name, n in got.items():
    if name not in wanted:
        print("unknown", n, name)
    else:
        key = wanted[name]
        seen[key] = seen.get(key, 0) + n
total = 0
for key in set(wanted.values()):
    # Functions of one name in several places are one line.
    if seen.get(key, 0) != int(key[0]):
        print("of", key, "found", seen.get(key, 0))
END
}

# check TITLE FILE NAME: all samples get their symbols.
check() {
	words "$2" "$3" "$TMP/places" | stream "$TMP/stream"
	ok "$1: the stream replays" replay "$TMP/stream"
	symbols_of "$(dirname "$2")"
	is "$1: each sample has its symbol" "$(wrong "$TMP/places" | head -n 5)" ""
	is "$1: no complaint" "$(cat "$TMP/err")" ""
}
# The compiler puts functions that run once at most into .text.unlikely. What is in
# the file behind an empty .text has the same offset.
make_module "$TMP/empty" 0 0 || exit 1
check "nothing in .text" "$TMP/empty.ko" empty
make_module "$TMP/odd" 33 0 || exit 1
check "a section that ends at an odd place" "$TMP/odd.ko" odd
mkdir "$TMP/made"
make_module "$TMP/made/snd-made" 200 4 || exit 1
check "a module" "$TMP/made/snd-made.ko" snd_made
cp "$TMP/symbols" "$TMP/plain"

# Packed, as distributions install them; the report is the same.
for packed in xz:xz zst:zstd gz:gzip; do
	program=${packed#*:} suffix=${packed%:*}
	if ! command -v "$program" >/dev/null; then
		skip "$suffix" "no $program"
		continue
	fi
	mkdir "$TMP/$suffix"
	"$program" -qc "$TMP/made/snd-made.ko" >"$TMP/$suffix/snd-made.ko.$suffix"
	symbols_of "$TMP/$suffix"
	ok "a module in $suffix" cmp "$TMP/symbols" "$TMP/plain"
	is "a module in $suffix: no complaint" "$(cat "$TMP/err")" ""
done
mkdir "$TMP/cut"
gzip -c "$TMP/made/snd-made.ko" | head -c 500 >"$TMP/cut/snd-made.ko.gz"
symbols_of "$TMP/cut"
is "a packed one that is cut is not used" "$(wc -l <"$TMP/symbols")" 1

# Of several files that of the build is used, and another one never.
mkdir "$TMP/several" "$TMP/several/1" "$TMP/several/2"
sed 's/\.byte 1,2,3,4/.byte 1,2,3,5/' "$TMP/made/snd-made.s" >"$TMP/other.s"
${CC:-cc} -c -o "$TMP/several/1/snd-made.ko" "$TMP/other.s" || exit 1
symbols_of "$TMP/several"
is "a module of another build is not used" "$(wc -l <"$TMP/symbols")" 1
like "that is said" "$(cat "$TMP/err")" \
	"several/1/snd-made.ko: not used: its build-id differs from that of the profiled snd_made; give the file of that build"
cp "$TMP/made/snd-made.ko" "$TMP/several/2"
symbols_of "$TMP/several"
ok "beside the right one it does no harm" cmp "$TMP/symbols" "$TMP/plain"
is "nor is it said then" "$(cat "$TMP/err")" ""

# Those of an installed kernel.
for name in ext4 btrfs snd-pcm; do
	file=$(find /lib/modules -name "$name.ko*" 2>/dev/null | sort | tail -n 1)
	if [ -z "$file" ]; then
		skip "$name" "no kernel is installed (linux-image-amd64)"
		continue
	fi
	mkdir "$TMP/$name"
	case $file in
	*.xz) xz -dc "$file" >"$TMP/$name/$name.ko" ;;
	*.zst) zstd -dqc "$file" >"$TMP/$name/$name.ko" ;;
	*) cp "$file" "$TMP/$name" ;;
	esac
	check "$name" "$TMP/$name/$name.ko" "$(echo "$name" | tr - _)"
done
done_testing
