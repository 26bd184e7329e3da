#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The daemon is killed while it samples.
# timeout: 600
. "$(dirname "$0")/../../t/lib.sh"
. "$(dirname "$0")/../lib.sh"

# The first number of the report's line for burnmix.
burnmix_samples() {
	report "$TESTBIN/burnmix"
	awk '$NF == "burnmix" { print $1; exit }' "$TMP/report"
}

ok "start" start
"$TESTBIN/burnmix" "$(by_tier 1 3)" >/dev/null
ok "dump" "$BIN/opcontrol" --dump
before=$(burnmix_samples)
ok "there are samples" [ "$before" -gt 200 ]
pid=$(daemon_pid)
kill -9 "$pid"
await end "$pid"
is "the kernel stopped sampling" "$(cat /dev/oprofile/enable)" 0
after=$(burnmix_samples)
ok "what was committed is readable: $before, then $after" \
	[ "$after" -ge "$before" ]
ok "status tells" sh -c "'$BIN/opcontrol' --status | grep -q 'not running'"

ok "start recovers" "$BIN/opcontrol" --start
ok "with another daemon" [ "$(daemon_pid)" != "$pid" ]
"$TESTBIN/burnmix" "$(by_tier 1 3)" >/dev/null
ok "stop" stop
ok "the session went on" [ "$(burnmix_samples)" -gt $((after + 200)) ]
ok "shutdown" "$BIN/opcontrol" --shutdown
ok "deinit" "$BIN/opcontrol" --deinit
ok "no complaint from the kernel" kernel_is_content
done_testing
