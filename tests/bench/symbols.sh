#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What it takes on the disk to name the functions of a session for good: our
# store of digests and snapshots of the kernel's symbols, and perf's cache of
# binaries, for the same jobs. Both hold what has samples.
#
#	compile		gcc compiles libop of this tree
#	programs	some 60 programs of Debian, each started five times
. "$(dirname "$0")/../t/lib.sh"
. "$TOP/tests/t/perf.sh"
. "$TOP/tests/bench/rows.sh"

needs_perf own
RATE=4000
command -v perf >/dev/null || skip_all "no perf; install linux-perf"

cat >"$TMP/compile" <<END
for file in "$TOP"/libop/*/*.c; do
	gcc -std=gnu11 -O2 -g -D_GNU_SOURCE -I"$TOP" -I"$O" -c "\$file" \
		-o "$TMP/object.o" 2>/dev/null
done
END
cat >"$TMP/programs" <<'END'
for n in 1 2 3 4 5; do
	for name in awk bash bc bzip2 c++filt cat chmod cp curl cut dash date \
		dd df diff dpkg du env expr file find g++ gcc gdb git grep \
		gunzip gzip head id install ip ld less ls make mkdir mv nm \
		node objdump openssl perl ps python3 readelf rsync sed \
		sha256sum sort ssh sqlite3 stat strace strip tail tar tr \
		valgrind wc xargs xz zstd; do
		! command -v "$name" >/dev/null || "$name" --version
	done
done >/dev/null 2>&1 </dev/null
END

# size FOLDER: the files in it, and what they take on the disk. perf links
# binaries where it can instead of copying them; they count as its own then.
size() {
	find "$1" -type f -printf '%k\n' 2>/dev/null |
		awk '{ sum += $1 }
			END { printf "%4d files %8.1f MB", NR, sum / 1024 }'
}

for job in compile programs; do
	rm -rf "$SESSION" "$TMP/cache"
	# That of Debian 12 now and then smashes its stack.
	for _ in 1 2 3 4; do
		perf --buildid-dir "$TMP/cache" record -q -e cpu-clock \
			-F $RATE -o "$TMP/data" sh "$TMP/$job" \
			>/dev/null 2>"$TMP/perf.err" && break
		tail -n 1 "$TMP/perf.err" >&2
	done
	operf sh "$TMP/$job" || cat "$TMP/operf.err" >&2
	echo "$job: store           $(size "$SESSION/store")"
	echo "$job: kernel symbols  $(size "$SESSION/symbols")"
	echo "$job: deleted files   $(size "$SESSION/images")"
	bench_row "names kept of: $job" KiB "$(du -sk "$SESSION/store" | cut -f 1)" \
		"perf's cache" "$(du -sk "$TMP/cache" | cut -f 1)" '<=0.5x'
	echo "$job: perf's cache    $(size "$TMP/cache")"
done
test_finished=yes
