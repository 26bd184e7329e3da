#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A machine without hardware counters: one sentence says so, the timer does it,
# and who asks for an event is told why there is none.
# timeout: 600
. "$(dirname "$0")/../../t/lib.sh"
. "$(dirname "$0")/../lib.sh"

oc() {
	"$BIN/opcontrol" "$@" >"$TMP/out" 2>"$TMP/err"
}

rm -rf /root/.oprofile
ok "start with nothing chosen" oc --start --session-dir="$SESSION"
sed 's/^/# /' "$TMP/err"
is "one sentence" "$(wc -l <"$TMP/err")" 1
like "it names the timer" "$(cat "$TMP/err")" 'no hardware counters.*timer'
is "no folders for counters" "$(ls -d /dev/oprofile/[0-9]* 2>/dev/null)" ""
is "the CPU type" "$(cat /dev/oprofile/cpu_type)" timer
"$TESTBIN/burnmix" 1 >/dev/null
ok "stop" stop
ok "there are samples" sums_up
ok "shutdown" oc --shutdown

exits "an event is refused" 1 oc --start --event=CPU_CLK_UNHALTED:100000
sed 's/^/# /' "$TMP/err"
is "in one line" "$(wc -l <"$TMP/err")" 1
like "with the reason and the way out" "$(cat "$TMP/err")" \
	'no hardware counters.*(timer|perf)'
end_profiler
done_testing
