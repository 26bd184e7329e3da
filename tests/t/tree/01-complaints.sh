#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# What counts as a complaint of the kernel in the virtual machines' tests: else
# they would pass whatever the module does, or fail for races of the kernel's own.
. "$(dirname "$0")/../lib.sh"

LAST='[    9.9] random: crng init'
LINES='=================================================================='

# complaints LINE...: what is found among these lines of dmesg.
complaints() {
	printf '%s\n' '[    0.1] Linux version 6.1' "$@" "$LAST" |
		awk -f "$TOP/tests/vm/lib/complaints.awk"
}

is "nothing" "$(complaints)" ""
for line in 'WARNING: CPU: 1 PID: 7 at mm/util.c:596' 'BUG: unable to handle' \
	'Oops: 0002' 'RIP: 0010:add_sample+0x1' 'WARNING: suspicious RCU usage' \
	' Call Trace:' ' Call trace:' 'INFO: task x blocked: hung task' \
	'ODEBUG: free active' 'DEBUG_LOCKS_WARN_ON(1)'; do
	is "$line" "$(complaints "[    1.2] $line")" "[    1.2] $line
$LAST"
done
kasan='[ 1.2] BUG: KASAN: slab-use-after-free in vfs_read'
is "a report of KASAN, whoever is in it" \
	"$(complaints "$LINES" "$kasan" '[ 1.2] vfs_read+0x1' "$LINES")" \
	"$kasan
[ 1.2] vfs_read+0x1"
race='[ 1.2] BUG: KCSAN: data-race in tick_do_timer / tick_nohz_idle'
is "a race of the kernel alone" \
	"$(complaints "$LINES" "$race" '[ 1.2] tick_do_timer+0x1' "$LINES")" ""
for module in oprofile op_test_provider; do
	is "a race with $module" "$(complaints "$LINES" "$race" \
		"[ 1.2] add_sample+0x1/0x2 [$module]" "$LINES")" \
		"$race
[ 1.2] add_sample+0x1/0x2 [$module]"
done
is "a race of the kernel between two complaints" \
	"$(complaints '[ 1.1] BUG: a' "$LINES" "$race" "$LINES" '[ 1.3] BUG: b')" \
	"[ 1.1] BUG: a
[ 1.3] BUG: b
$LAST"
is "a report that is cut off" "$(complaints "$LINES" "$kasan")" \
	"$kasan
$LAST"
dying='[ 1.2] WARNING: CPU: 2 PID: 40 at kernel/sched/core.c:8494 sched_cpu_dying+0x93
[ 1.2] Call Trace:
[ 1.2] CPU2 enqueued tasks (2 total):
[ 1.2] 	pid: 40, name: migration/2'
is "a CPU that is taken away with nothing left on it" "$(complaints "$dying")" ""
is "a complaint behind that" "$(complaints "$dying" '[ 1.3] BUG: b')" "[ 1.3] BUG: b
$LAST"
is "a task on a CPU that is taken away" \
	"$(complaints "$dying" '[ 1.2] 	pid: 77, name: kworker/2:1' '[ 1.2] other')" \
	"$dying
[ 1.2] 	pid: 77, name: kworker/2:1"
is "a report of that which is cut off" "$(complaints "${dying%% Call*}")" \
	"${dying%% Call*}
$LAST"
is "what was said before there were programs" \
	"$(complaints "$LINES" "$kasan" "$LINES" 'WARNING: a' \
		'[ 1.4] Run /init as init process' '[ 1.5] BUG: b')" "[ 1.5] BUG: b
$LAST"
# shellcheck disable=SC2046 # a line for each
is "what stands behind a complaint" "$(complaints 'BUG: a' $(seq 100))" \
	"$(printf '%s\n' 'BUG: a' $(seq 80))"
done_testing
