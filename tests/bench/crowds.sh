#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# crowds.sh [WHAT.NR]...: what 100,000 images and the like, and a million
# processes, cost the daemon: memory and CPU time, and instructions for one of
# 10,000 and one of 100,000.

set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/bench/count.sh

# run WHAT NR MIB COMMAND...: COMMAND with the daemon that counts that.
run() {
	awk -v what="$1" -v nr="$2" -f tests/t/crowds.awk |
		"$O/tests/mkstream" >"$tmp/stream"
	mib=$3
	shift 3
	rm -rf "$tmp/session"
	"$@" "$O/bin/oprofiled" --session-dir="$tmp/session" \
		--source="file:$tmp/stream" --separate-lib=1 \
		--separate-thread=1 --separate-cgroup=1 --max-disk="$mib" \
		--pack-at="$((mib / 8))"
}
# instructions WHAT NR: with next to no files, which would be most of it.
instructions() {
	run "$1" "$2" 1 count
}

[ $# -gt 0 ] || set -- images.100000 builds.100000 processes.1000000 \
	mappings.100000 paths.100000
echo "what              nr  memory MB  CPU s  instructions for one of 10,000, 100,000"
for crowd; do
	what=${crowd%.*} nr=${crowd#*.}
	run "$what" "$nr" 64 "$O/tests/cost" "$tmp/cost"
	few='' many='' none=''
	if command -v valgrind >/dev/null; then
		none=$(instructions "$what" 0)
		few=$(instructions "$what" 10000)
		many=$(instructions "$what" 100000)
	fi
	awk -v what="$what" -v nr="$nr" -v none="$none" -v few="$few" \
		-v many="$many" '{ took[$1] = $2 } END {
		printf "%-10s %9d  %9.1f  %5.1f", what, nr,
			took["memory"] / 1024, took["cpu"]
		if (many != "")
			printf "  %8.0f %8.0f", (few - none) / 10000,
				(many - none) / 100000
		print "" }' "$tmp/cost"
	bench_row "oprofiled: $nr $what, memory" MB \
		"$(awk '$1 == "memory" { print $2 / 1024 }' "$tmp/cost")" '' '' '<=200'
done
