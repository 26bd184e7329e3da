#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# tests/bench/merge.sh [FOLDER]: what opmerge takes for 100, 1,000 and 10,000
# archives of fleets that are alike: 50 archives for each build of 40 programs, ten
# of each host. Needs 1.5 GB of disk in FOLDER (default: a temporary one), which is
# removed. Prints a row for each; fails when totals are not the sum of those of the
# archives, when 500 MB of memory are not enough, or when the CPU time for an
# archive grows or falls with their number by more than an exponent of 0.1.

LC_ALL=C
export LC_ALL
top=$(cd "$(dirname "$0")/../.." && pwd) || exit 1
O=${O:-build}
case $O in /*) ;; *) O=$top/$O ;; esac
dir=$(mktemp -d "${1:-${TMPDIR:-/tmp}}/oprofile-merge.XXXXXX") || exit 1
trap 'rm -rf "$dir"' EXIT

# stored ARCHIVE: samples that its account has.
stored() {
	"$O/bin/opreport" "archive:$1" 2>&1 |
		sed -n 's/^Samples: .* = \([0-9]*\) stored.*/\1/p'
}
# row NAME NR OPTION...: merge the fleet of NR.
row() {
	name=$1 nr=$2
	shift 2
	rm -rf "$dir/sum"
	find "$dir/fleet-$nr" -mindepth 1 -maxdepth 1 -name '[0-9]*' | /usr/bin/time -o "$dir/time" -f '%U %S %e %M' \
		"$O/bin/opmerge" --files-from=- -o "$dir/sum" "$@" || exit 1
	read -r user system real kib <"$dir/time"
	is=$(stored "$dir/sum") wanted=$(cat "$dir/samples-$nr")
	[ "$is" = "$wanted" ] || {
		echo "$name: $is samples, not $wanted" >&2
		exit 1
	}
	echo "$name $nr $user $system $real $kib $(du -sk "$dir/sum" | cut -f 1) $(find \
		"$dir/sum/var/lib/oprofile/samples" -name packed | wc -l)" >>"$dir/rows"
	awk -v name="$name" -v nr="$nr" -v user="$user" -v kernel="$system" -v real="$real" \
		-v kib="$kib" 'BEGIN {
			printf "%-18s %6d archives: %7.2f s of CPU, %5.2f ms each; %6.1f s; %5.1f MB\n",
				name, nr, user + kernel, (user + kernel) * 1000 / nr, real, kib / 1024
		}'
}

for nr in 100 1000 10000; do
	"$O/tests/mkfleet" "$dir/fleet-$nr" 0 $nr $((nr / 10)) 40 $((nr / 50)) \
		>"$dir/samples-$nr" || exit 1
done
for nr in 100 1000 10000; do
	row "all labels" $nr
done
for nr in 100 1000 10000; do
	row "versions alone" $nr --keep-labels=version
done
row "no labels" 10000 --drop-labels=host,version
awk '{
	kind = $1 " " $2; nr = $3; cpu = $4 + $5
	if (nr == 100) first[kind] = cpu
	if (nr == 10000 && kind in first) {
		exponent = log(cpu / first[kind]) / log(100)
		printf "%s: exponent %.2f from 100 to 10,000 archives\n", kind, exponent
		bad += exponent < 0.9 || exponent > 1.1
	}
	bad += $7 > 500 * 1024
} END { exit bad > 0 }' "$dir/rows"
