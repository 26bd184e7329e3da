# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What benches that count the daemon's instructions source, in the top folder of
# the tree: rows.sh, the build in $O, and a folder $tmp that goes at the end.

. tests/bench/rows.sh
O=$(realpath -m "${O:-build}")
tmp=$(mktemp -d "${TMPDIR:-/tmp}/oprofile-bench.XXXXXX") || exit 1
trap 'rm -rf "$tmp"' EXIT
trap 'exit 1' HUP INT TERM

# count COMMAND...: prints the instructions that it takes.
count() {
	valgrind --tool=callgrind --log-file="$tmp/valgrind" \
		--callgrind-out-file=/dev/null "$@"
	awk '/Collected/ { print $NF }' "$tmp/valgrind"
}
