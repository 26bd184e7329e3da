#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What the daemon takes where many CPUs are sampled, 1,000 times a second each:
# instructions for a sample, without its first second, and the part of one CPU of
# 1,000 million instructions a second that this is. The streams are those of
# cpus.awk; the names of files and the end of the session are not in it.

set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/bench/count.sh

# instructions CPUS FRAMES SECONDS
instructions() {
	awk -v cpus="$1" -v frames="$2" -v rounds="$3" -f tests/bench/cpus.awk |
		"$O/tests/mkstream" >"$tmp/stream"
	rm -rf "$tmp/session"
	count "$O/bin/oprofiled" --session-dir="$tmp/session" \
		--source="file:$tmp/stream"
}

command -v valgrind >/dev/null || {
	echo "cpus.sh: no valgrind; run utils/install-deps check" >&2
	exit 1
}
echo "CPUs  frames  instructions/sample  % of one CPU"
for frames in 0 8 32; do
	for cpus in 1 4 16 64 256; do
		first=$(instructions $cpus $frames 1)
		both=$(instructions $cpus $frames 2)
		cost=$(((both - first) / (cpus * 1000)))
		awk -v n=$cpus -v f=$frames -v c=$cost 'BEGIN {
			printf "%4d  %6d  %19d  %12.2f\n", n, f, c, n * c / 1e4 }'
		bench_row "oprofiled: $cpus CPUs, $frames frames" \
			'instructions a sample' "$cost"
	done
done
