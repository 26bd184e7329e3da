#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Reports while a system call fails, each in turn: they are what they always are,
# or the reason is said and the status is 1. In the first tier some of the calls.
# timeout: 1500
# The sanitizers make thousands of system calls of their own.
# sanitized: no
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/daemon.sh"
# shellcheck source-path=SCRIPTDIR/../vm
. "$TOP/tests/vm/lib.sh"

command -v strace >/dev/null || skip_all "no strace"
strace -o /dev/null true 2>why || skip_all "$(cat why)"
cd "$TMP" || exit 1

# Files in several folders, call graphs and trees; packed and not.
awk 'BEGIN {
	print "stream 1 8\ncpu 0"
	for (i = 1; i <= 12; i++) {
		print "cookie " i " 0 0 0 0 0" i % 10 " /opt/dir" i % 4 "/app" i
		print "ctx " i " " i "\ntgid " i "\nimage " i "\nuser"
		print "trace\nsample " i * 16 " 0\nsample " i * 8 + 1 " 0\ntrace-end 0"
	}
}' >text
stream stream <text

# faults WHAT EVERY ARG...: of a report.
faults() {
	what=$1 every=$2
	shift 2
	ok "$what: $*" "$TOP/tests/faults" --every "$every" -- \
		"$BIN/opreport" --session-dir="$SESSION" "$@"
	diag "$(tail -n 1 "$test_log")"
}
for pack_at in 0 1; do
	what=$([ $pack_at -eq 0 ] && echo loose || echo packed)
	replay stream --separate-lib=1 --pack-at=$pack_at
	faults "$what" "$(by_tier 89 1)"
	faults "$what" "$(by_tier 89 1)" --callgraph
	faults "$what" "$(by_tier 89 1)" --format=folded
done
done_testing
