# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What is expected of code that is in memory and not in a mapping of its file,
# whatever samples it: source it after lib.sh and what defines report().

# known_tree NAME APP: of the samples of the program APP nearly all are in the tree
# of tests/helper/elsewhere.c, whole and with all names. Those of its beginning and
# its end are left out.
known_tree() {
	if ! report --format=folded --no-inlines; then
		cat "$TMP/report.err" >&2
		test_result "$1: a report" 1
		return
	fi
	awk -v app="$2" '
		/;_dl_start;|execve|;do_exit;|;ret_from_fork/ { next }
		index($0, app ";") == 1 { all += $NF }
		$0 ~ "^" app ";_start;.*;main;outer;inner;leaf(;| [0-9]+$)" {
			true += $NF
		}
		END { print all + 0, true + 0 }' "$TMP/report" >"$TMP/sums"
	read -r all true <"$TMP/sums"
	ok "$1: $true of $all samples have their stack and all names" \
		[ "$all" -ge 50 -a $((true * 10)) -ge $((all * 9)) ]
	[ $((true * 10)) -ge $((all * 9)) ] ||
		diag "$(awk '{ print $NF, $0 }' "$TMP/report" | sort -rn | head)"
}
