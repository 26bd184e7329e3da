# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# For tests of stripped programs, sourced after lib.sh.

# rows_stay HOW: the rows of bin/prog are those in the file "wanted" in archives, too,
# and when the program is gone. "rows NAME [ARG...]" prints them.
rows_stay() {
	how=$1
	ok "$how: names are stored" "$BIN/opsymbols" --session-dir="$SESSION"
	for kind in '' --symbols-only; do
		rm -rf archive
		# shellcheck disable=SC2086 # none or one
		ok "$how: archive $kind" "$BIN/oparchive" \
			--session-dir="$SESSION" $kind -o archive
		mv bin/prog away
		is "$how: archive $kind has them" \
			"$(rows prog archive:archive)" "$(cat wanted)"
		mv away bin/prog
	done
	rm bin/prog
	is "$how: the store has them when the file is gone" "$(rows prog)" \
		"$(cat wanted)"
}
