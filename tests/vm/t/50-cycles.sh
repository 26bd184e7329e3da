#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Load, mount, start, stop, unmount and unload again and again under a storm of
# processes: nothing leaks and the kernel has no complaint. The boot option
# makes the counts of kernel objects exact.
# timeout: 1800
# vm-smp: 2
# vm-append: slub_debug=FZPU,mm_struct,task_struct,signal_cache,filp,vm_area_struct
. "$(dirname "$0")/../../t/lib.sh"
. "$(dirname "$0")/../lib.sh"

CACHES="mm_struct task_struct signal_cache filp"

# count_objects: what is used of each cache.
count_objects() {
	for cache in $CACHES; do
		awk -v c="$cache" '$1 == c { print c, $2 }' /proc/slabinfo
	done
}

# count_least N: the least that was seen of each, N times half a second apart:
# what has ended is freed some time later, and the kernel tells nobody.
count_least() {
	for _ in $(seq "$1"); do
		sleep 0.5
		count_objects
	done | awk '
		!($1 in least) || $2 < least[$1] { least[$1] = $2 }
		END { for (cache in least) print cache, least[cache] }'
}

# of_cache NAME BEFORE AFTER
of_cache() {
	case $VM_KERNEL in
	*-kasan) skip "$1: $2, then $3" "KASAN keeps what is freed for a while" ;;
	*) ok "$1: $2, then $3" [ "$3" -le $(($2 + 10)) ] ;;
	esac
}

# are_freed: of each cache no more than ten objects are used beyond before.
are_freed() {
	count_least 4 >"$TMP/after"
	awk 'FNR == NR { before[$1] = $2; next } $2 > before[$1] + 10 { bad = 1 }
		END { exit bad }' "$TMP/before" "$TMP/after"
}

cycle() {
	start --separate=lib,kernel --event=timer,THREAD_WAIT:1000000 --callgraph=8 &&
		"$TESTBIN/storm" "$(by_tier 1 2)" >/dev/null &&
		stop && "$BIN/opcontrol" --deinit
}

ok "a first cycle" cycle
count_least 6 >"$TMP/before"
"$TESTBIN/storm" "$(by_tier 6 60)" >"$TMP/storm" &
storm=$!
i=0
cycles=$(by_tier 2 20)
while [ $i -lt "$cycles" ]; do
	i=$((i + 1))
	ok "cycle $i" cycle
	ok "the module is gone" not grep -q '^oprofile ' /proc/modules
done
ok "the storm went on" wait $storm
diag "$(cat "$TMP/storm")"
tries=0
until are_freed || [ $((tries += 1)) -ge 15 ]; do :; done
diag "before: $(tr '\n' ' ' <"$TMP/before")"
diag "after: $(tr '\n' ' ' <"$TMP/after")"
while read -r cache before; do
	of_cache "$cache" "$before" "$(awk -v c="$cache" '$1 == c { print $2 }' "$TMP/after")"
done <"$TMP/before"
ok "no complaint from the kernel" kernel_is_content
done_testing
