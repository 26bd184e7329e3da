# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What benches source to put figures into the table of tests/bench/table.py.

# bench_row WHAT UNIT OURS [PEER VALUE [BAR]]: appends a row to the file
# $BENCH_ROWS, if that is set. PEER is a program and VALUE what it needs, or ''
# where it is not installed. BAR is what is aimed at: "<=0.5x" of the peer's,
# or "<=400" of ours alone.
bench_row() {
	[ -z "${BENCH_ROWS:-}" ] ||
		printf '%s\t%s\t%s\t%s\t%s\t%s\n' "$1" "$2" "$3" "${4:-}" \
			"${5:-}" "${6:-}" >>"$BENCH_ROWS"
}
