#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Load, mount, start, stop, unmount and unload 20 times under a storm of
# processes: nothing leaks and the kernel has no complaint. The boot option
# makes the counts of kernel objects exact.
# timeout: 900
# vm-smp: 2
# vm-append: slub_debug=FZPU,mm_struct,task_struct,signal_cache,filp,vm_area_struct
. "$(dirname "$0")/../../t/lib.sh"
. "$(dirname "$0")/../lib.sh"

CACHES="mm_struct task_struct signal_cache filp"

# What a quiet system uses of each cache.
count_objects() {
	sleep 2
	for cache in $CACHES; do
		awk -v c="$cache" '$1 == c { print c, $2 }' /proc/slabinfo
	done
}

cycle() {
	start --separate=lib,kernel &&
		"$TESTBIN/storm" 2 >/dev/null &&
		stop && "$BIN/opcontrol" --deinit
}

ok "a first cycle" cycle
count_objects >"$TMP/before"
"$TESTBIN/storm" 60 >"$TMP/storm" &
storm=$!
i=0
while [ $i -lt 20 ]; do
	i=$((i + 1))
	ok "cycle $i" cycle
	ok "the module is gone" not grep -q '^oprofile ' /proc/modules
done
ok "the storm went on" wait $storm
diag "$(cat "$TMP/storm")"
count_objects >"$TMP/after"
diag "before: $(tr '\n' ' ' <"$TMP/before")"
diag "after: $(tr '\n' ' ' <"$TMP/after")"
while read -r cache before; do
	after=$(awk -v c="$cache" '$1 == c { print $2 }' "$TMP/after")
	ok "$cache: $before, then $after" [ "$after" -le $((before + 10)) ]
done <"$TMP/before"
ok "no complaint from the kernel" kernel_is_content
done_testing
