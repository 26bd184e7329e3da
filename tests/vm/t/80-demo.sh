#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The session of `make demo`: hot spots of the program, libc and the kernel.
# vm-smp: 2
. "$(dirname "$0")/../../t/lib.sh"
. "$(dirname "$0")/../lib.sh"

demo() {
	"$TOP/utils/demo" --session >"$TMP/out" 2>"$TMP/err"
}

ok "the demo runs" demo
# Which of the system's binaries are stripped is not the demo's doing.
is "without complaint" "$(grep -v 'is stripped' "$TMP/err")" ""
sed 's/^/# /' "$TMP/out"
for what in 'escape_time' 'libc\.so' 'vmlinux .*chacha' \
	'[Dd]aemon'; do
	ok "it shows $what" grep -Eq "$what" "$TMP/out"
done
ok "the module is gone" not grep -q '^oprofile ' /proc/modules
ok "no complaint from the kernel" kernel_is_content
done_testing
