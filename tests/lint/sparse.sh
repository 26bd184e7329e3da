#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The module compiles without a warning, sparse has none either, on each kernel; in
# the first tier when the module has changed.
# timeout: 600

. "$(dirname "$0")/lib"
need sparse sparse

[ -n "$(find module -name "*.[ch]" | to_check)" ] || done_checking
found=
for kdir in /lib/modules/*/build; do
	[ -e "$kdir/Module.symvers" ] || continue
	found=yes
	ok "builds: $kdir" utils/build-module "$kdir" "$TMP/module" \
		C=2 CHECK=sparse W=1
	is "no warning: $kdir" "$(grep -v 'Skipping BTF' "$TMP/module/log" |
		grep -v 'vmlinux')" ""
	rm -rf "$TMP/module"
done
[ -n "$found" ] || skip_all 'no kernel headers; install linux-headers-amd64'
done_testing
