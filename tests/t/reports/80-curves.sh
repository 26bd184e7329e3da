#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# utils/curves draws what was measured, and counts the intervals that hold the true
# share.

. "$(dirname "$0")/../lib.sh"

case $O in */sanitized) skip_all "the same for all builds" ;; esac
command -v gnuplot >/dev/null || skip_all "no gnuplot; run utils/install-deps check"
DATA=$TMP/data PICTURES=$TMP/pictures
export O DATA PICTURES
mkdir "$DATA"

# One of four intervals does not hold the true share.
printf '%s\t%s\t%s\t%s\t%s\t%s\t%s\n' '#rate' samples part true percent low high \
	100 50 a 40 41 30 50 100 50 b 25 40 30 50 1000 500 a 40 40 38 42 \
	1000 500 b 25 25.5 23 27 >"$DATA/accuracy.tsv"
printf '%s\n' 'rate     depth stacks  samples  instructions/sample  slowdown %' \
	'1000 1 none 1000 2000 0.2' '10000 1 none 1000 2000 2.0' \
	'1000 8 frames 1000 6000 0.6' '1000 64 frames 1000 20000 2.0' \
	'1000 8 parts 1000 17000 1.7' '1000 64 parts 1000 38000 3.8' >"$DATA/overhead.txt"
printf '%s\n' 'CPUs  frames  instructions/sample  % of one CPU' \
	'1 0 139 0.01' '256 0 99 2.53' '1 8 2446 0.24' '256 8 1804 46.18' \
	'1 32 5044 0.50' '256 32 4233 108.36' >"$DATA/cpus.txt"
"$TOP/utils/curves" draw >"$TMP/out"
is "it draws" $? 0
is "how often the interval holds" "$(grep -e '^100	' -e '^1000	' -e '^all	' "$TMP/out" |
	cut -f 1-4)" "all	4	275	75.0
100	2	50	50.0
1000	2	500	100.0"
for picture in accuracy overhead-rate overhead-depth overhead-cpus; do
	ok "$picture.svg is whole" grep -q '</svg>' "$PICTURES/$picture.svg"
done
like "it has a title" "$(cat "$PICTURES/accuracy.svg")" 'Error of a share'
rm "$DATA/accuracy.tsv"
exits "without data nothing is drawn" 1 "$TOP/utils/curves" draw
exits "anything else is refused" 1 "$TOP/utils/curves" paint
done_testing
