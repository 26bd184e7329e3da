#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Stacks and names of code that is in memory and not in a mapping of its file,
# from perf_events: tests/vm/t/38-memory.sh has the same of the module.
# sanitized: no
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/perf.sh"
. "$(dirname "$0")/elsewhere.sh"

RATE=1000
needs_perf own

for mode in plain copied part; do
	profiled "$mode" -g "$TESTBIN/elsewhere" $mode 0.3 </dev/null
	known_tree "$mode" elsewhere
done
profiled memfd -g "$TESTBIN/elsewhere" memfd 0.3 </dev/null
known_tree memfd memfd:elsewhere

"$TESTBIN/elsewhere" copied 60 </dev/null >"$TMP/ready" &
await line "$TMP/ready" ready
profiled "copied before the start" -g --pid=$! --duration=1
kill $!
known_tree "copied before the start" elsewhere
done_testing
