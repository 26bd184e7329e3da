#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The kernel's ring of samples in user space, under ThreadSanitizer.
# timeout: 600
. "$(dirname "$0")/../lib.sh"

cc=${CC:-cc}
echo 'int main(void) { return 0; }' >"$TMP/x.c"
if ! $cc -fsanitize=thread -o "$TMP/x" "$TMP/x.c" 2>/dev/null ||
	! setarch -R "$TMP/x" 2>/dev/null; then
	skip_all "no ThreadSanitizer: $cc -fsanitize=thread does not work here"
fi

# Its shadow memory needs addresses that are not at random.
build() {
	$cc -std=gnu11 -O1 -g -Wall -Wextra -Werror -I"$1" -fsanitize=thread \
		-o "$TMP/ring" "$TOP/tests/ring/ring.c"
}
run_ring() {
	setarch -R "$TMP/ring" >"$TMP/out" 2>&1
	status=$?
	cat "$TMP/out"
	[ "$status" -eq 0 ] && not grep -q '^not ok' "$TMP/out"
}

ok "it builds" build "$TOP"
ok "every sample arrives once and whole, without a data race" run_ring

# The test can fail: without the order of publishing it does.
[ "${TIER:-check}" = all ] || done_testing
mkdir -p "$TMP/module/buffer"
sed 's/smp_store_release(&\(op_ring_slot(ring, number)->state\), number + 1)/\1 = number + 1/' \
	"$TOP/module/buffer/op_ring.h" >"$TMP/module/buffer/op_ring.h"
ok "the broken one is another" not cmp -s "$TOP/module/buffer/op_ring.h" \
	"$TMP/module/buffer/op_ring.h"
ok "it builds, too" build "$TMP"
ok "its race is found" not run_ring
done_testing
