#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The module compiles without a warning, sparse has none either, on each kernel; in
# the first tier when the module has changed.
# timeout: 600

. "$(dirname "$0")/lib"
need sparse sparse

[ -n "$(find module -name "*.[ch]" | to_check)" ] || done_checking

# build KDIR TMP
cat >"$TMP/build" <<'END'
utils/build-module "$1" "$2/module" C=2 CHECK=sparse W=1
built=$?
warnings=$(grep -v -e 'Skipping BTF' -e vmlinux "$2/module/log")
rm -rf "$2/module"
[ $built -eq 0 ] && [ -z "$warnings" ] && exit
echo "$warnings"
exit 1
END

# depends_on KDIR: what the verdict does.
depends_on() {
	sparse --version 2>&1
	cat "$1/.config" "$1/Module.symvers" "$1/include/generated/utsrelease.h" \
		"$TMP/build" utils/build-module
	find module -type f | sort | xargs tail -v -n +1
}

# builds KDIR
builds() {
	depends_on "$1" | once sh "$TMP/build" "$1" "$TMP"
}

found=
for kdir in /lib/modules/*/build; do
	[ -e "$kdir/Module.symvers" ] || continue
	found=yes
	ok "no warning, neither of the compiler nor of sparse: $kdir" builds "$kdir"
done
[ -n "$found" ] || skip_all 'no kernel headers; install linux-headers-amd64'
done_testing
