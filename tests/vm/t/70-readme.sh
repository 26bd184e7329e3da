#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The commands of the README's tour, one by one, as a user would type them.
# vm-smp: 2
. "$(dirname "$0")/../../t/lib.sh"
. "$(dirname "$0")/../lib.sh"

PATH=$BIN:$PATH
awk '/^[`][`][`]/ { inside = /sh$/; next } inside' "$TOP/README.md" >"$TMP/tour"
ok "there is a tour" [ "$(wc -l <"$TMP/tour")" -ge 10 ]

while read -r line; do
	ok "$line" sh -c "$line >'$TMP/out' 2>'$TMP/err'"
	case $line in
	opreport*session:gzip | "opreport -l" | opreport)
		sed 's/^/# /' "$TMP/out" | head -12
		ok "it reports gzip" grep -q gzip "$TMP/out"
		;;
	*image:*)
		ok "it names functions of libraries or the kernel" \
			grep -Eq 'vmlinux|libc|ld-linux|gzip' "$TMP/out"
		;;
	esac
done <"$TMP/tour"
ok "no complaint from the kernel" kernel_is_content
done_testing
