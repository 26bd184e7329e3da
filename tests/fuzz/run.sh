#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Each fuzzer for FUZZ_SECONDS (30; 5 in the first tier). What it learns stays in the build folder,
# so that the next run goes on from there; inputs to start with may lie in
# tests/fuzz/seeds/NAME/. FUZZ_SEED (1) begins its random numbers, so that two
# runs of one tree try much the same; with 0 each searches elsewhere.
# timeout: 1800

. "$(dirname "$0")/../t/lib.sh"

[ "${TIER:-check}" = all ] || : "${FUZZ_SECONDS:=3}"
: "${FUZZ_SECONDS:=30}" "${FUZZ_SEED:=1}"
command -v clang >/dev/null || skip_all 'no clang; install clang and libclang-rt-dev'

mkdir -p "$O/fuzz/found"
for src in "$TOP"/tests/fuzz/fuzz_*.c; do
	[ -e "$src" ] || continue
	basename "$src" .c
done >"$TMP/names"
[ -s "$TMP/names" ] || skip_all 'there are no fuzzers'

cat >"$TMP/one" <<'END'
name=$1
corpus=$O/fuzz/corpus/$name
seeds=$TOP/tests/fuzz/seeds/$name
mkdir -p "$corpus"
[ -d "$seeds" ] || seeds=
"$O/sanitized/tests/fuzz/$name" -max_total_time="$FUZZ_SECONDS" -seed="$FUZZ_SEED" \
	-max_len=4096 -timeout=100 -rss_limit_mb=2048 \
	-artifact_prefix="$O/fuzz/found/$name-" \
	"$corpus" ${seeds:+"$seeds"} >"$TMP/$name.out" 2>&1
echo $? >"$TMP/$name.status"
END
export O TOP TMP FUZZ_SECONDS FUZZ_SEED
xargs -a "$TMP/names" -P "$(nproc)" -n 1 sh "$TMP/one"

# The runs, the new inputs, and the file that makes it fail.
tell() {
	grep -a -E 'ERROR|SUMMARY|runtime error|Test unit written|deadly signal' \
		"$TMP/$1.out" || tail -n 20 "$TMP/$1.out"
	return "$(cat "$TMP/$1.status")"
}

while read -r name; do
	ok "$name for $FUZZ_SECONDS s" tell "$name"
	grep -a '^Done' "$TMP/$name.out" | sed 's/^/# /'
done <"$TMP/names"
done_testing
