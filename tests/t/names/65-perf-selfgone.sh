#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Jobs that are programs of their own and delete themselves while they run, 5 to
# 20 ms long: the names of their functions are in the report all the same.
# timeout: 900
# The sanitizers would take most of the time of such short programs.
# sanitized: no
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../perf.sh"

needs_perf own
command -v objdump >/dev/null || skip_all "no objdump; install binutils"
cd "$TMP" || exit 1

nr=100
[ "${TIER:-check}" = check ] || nr=200
per_ms=$("$TESTBIN/selfgone") || exit 1
note=$(objdump -h "$TESTBIN/selfgone" |
	awk '$2 == ".note.gnu.build-id" { print $6 }')

# make_jobs HOW: copies of the program in work/, each of a build of its own if
# HOW is builds.
make_jobs() {
	rm -rf session work
	user_folder work
	for i in $(seq $nr); do
		cp "$TESTBIN/selfgone" work/job-"$i"
		[ "$1" = copies ] || printf '%04d' "$i" |
			dd of=work/job-"$i" bs=1 seek=$((0x$note + 16)) \
				conv=notrunc 2>/dev/null
	done
	chmod -R a+rX work
	[ -z "$AS" ] || give_to_user work
}
# run_jobs NAME HOW: sets $all, the samples in the jobs or lost, and $named.
run_jobs() {
	make_jobs "$2"
	# shellcheck disable=SC2016 # for the command
	profiled "$1" sh -c 'i=0
	while [ $((i += 1)) -le $0 ]; do
		work/job-$i $(($1 * (5 + i % 16))) || exit
	done' $nr "$per_ms"
	rows --demangle=none >"$TMP/all" || cp /dev/null "$TMP/all"
	head -n 3 "$TMP/all" | sed 's/^/# /'
	all=$(($(sum 'job-[0-9]*' '.*' <"$TMP/all") + $(ledger lost)))
	named=$(sum 'job-[0-9]*' 'burn_job|main|_.*' <"$TMP/all")
	is "$1: the jobs deleted themselves" "$(ls work)" ""
}
# named_well NAME [PERCENT]: but for so many of the samples (1).
named_well() {
	ok "$1: $named of $all samples have names" \
		rarely $((all - named)) "$all" "${2:-1}"
}

run_jobs "copies of one program" copies
named_well "copies of one program"
is "and one file of them is kept" \
	"$(stat -c %i "$SESSION"/images/job-* | sort -u | wc -l)" 1
if [ -z "$note" ]; then
	skip "programs of their own" "they have no build-ids"
elif [ "$(id -u)" -ne 0 ] || ! unshare -m true 2>/dev/null; then
	skip "programs of their own" "only root gets all files"
else
	run_jobs "programs of their own" builds
	named_well "programs of their own"
fi
if [ "$(id -u)" -eq 0 ]; then
	for_users "$BIN/operf" "$BIN/oprofiled" "$BIN/opreport" \
		"$TESTBIN/canperf" "$TESTBIN/selfgone"
	AS=as_user
	if as_user "$TESTBIN/canperf" own 2>"$TMP/why"; then
		run_jobs "an ordinary user" copies
		named_well "an ordinary user"
		# The first one may have gone before its folder is known, and
		# any while an ordinary daemon waits for a CPU.
		run_jobs "an ordinary user's own programs" builds
		named_well "an ordinary user's own programs" 30
		rm -r "$SESSION/images"
		report -l
		like "what is missing is told" "$(cat "$TMP/report.err")" \
			'/work/job-[0-9]+: no symbols: not found'
	else
		skip "an ordinary user" "$(cat "$TMP/why")"
	fi
fi
done_testing
