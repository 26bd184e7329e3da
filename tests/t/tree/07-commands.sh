#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The commands that README, the manual and the other pages of doc/ show are run,
# page by page, each page in a folder of its own that has the tree beside it; their
# reports have the columns that the page shows. What a block needs besides is in the
# mark above it, see tests/t/howto.py. Pages of doc/howto/ have 07-howto.sh.
# sanitized: no
# timeout: 600

. "$(dirname "$0")/../lib.sh"

howto=$TOP/tests/t/howto.py
command -v python3 >/dev/null || skip_all "no python3"
# Some sample the kernel.
"$TESTBIN/canperf" system 2>"$TMP/canperf" ||
	skip_all "no perf events for this user: $(cat "$TMP/canperf")"

PATH=$BIN:$PATH HOME=$TMP PAGER=cat JITDUMPDIR=$TMP
export PATH HOME PAGER JITDUMPDIR

# known_option PROGRAM OPTION: some help lists it, or the start of one.
known_option() {
	[ -e "$TMP/help.$1" ] || "$1" --help >"$TMP/help.$1" 2>&1
	grep -qe "$2" "$TMP/help.$1"
}

# columns FILE: the heads of tables of opreport. Names of images and programs have a
# column where there are several of them, which may be chance.
columns() {
	grep -E '^ *samples +%' "$1" | sed 's/ image name\| app name//g' | tr -s ' '
}

# has_columns NAME FILE: what was just printed, which is in the log, has the columns
# of the report in FILE.
has_columns() {
	columns "$test_log" >"$TMP/columns"
	is "$1: the report has the columns that the page shows" \
		"$(columns "$2" | grep -vxFf "$TMP/columns")" ""
}

# follow PAGE: run or read its blocks.
follow() {
	folder=$TMP/$(echo "${1%.md}" | tr / -)
	mkdir -p "$folder/blocks"
	ln -s "$TOP"/* "$folder"
	ln -sfn "$O" "$folder/build"
	if ! "$howto" blocks "$TOP/$1" "$folder/blocks" >"$folder/list" 2>"$folder/err"; then
		ok "$1: each block has a fence and a known mark: $(cat "$folder/err")" false
		return
	fi
	while read -r name line needs; do
		block=$folder/blocks/$name
		program=
		case $needs in
		'') ;;
		'program '*) program=${needs#program } ;;
		*)
			ok "$1:$line: the shell can read it ($needs)" sh -n "$block"
			continue
			;;
		esac
		if [ -n "$program" ] && ! command -v "$program" >/dev/null; then
			skip "$1:$line" "no $program"
		else
			ok "$1:$line: $(head -n 1 "$block")" \
				env -C "$folder" sh -eu "$block"
			[ ! -e "$block.out" ] || has_columns "$1:$line" "$block.out"
		fi
	done <"$folder/list"
	# Nobody else removes the map of a program that has ended, and later another
	# user's program may have its number.
	grep -lsF "$folder/" /tmp/perf-*.map | xargs -r rm -f
	"$howto" options "$TOP/$1" | while read -r program option; do
		[ -z "$program" ] || known_option "$program" "$option" ||
			echo "$program $option"
	done >"$folder/unknown"
	is "$1: our programs have these options" "$(cat "$folder/unknown")" ""
}

cd "$TOP" || exit
for page in README.md doc/*.md doc/manual/*.md; do
	follow "$page"
done
done_testing
