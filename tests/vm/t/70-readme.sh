#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The commands of the README's quick start, one by one, as a user would type
# them; each block in a folder of its own.
# timeout: 600
. "$(dirname "$0")/../../t/lib.sh"
. "$(dirname "$0")/../lib.sh"

PATH=$BIN:$PATH

# block N: the lines of the README's shell block number N.
block() {
	awk -v wanted="$1" '/^[`][`][`]/ { nr += (inside = /sh$/); next }
		inside && nr == wanted' "$TOP/README.md"
}

# type_block N: run them.
type_block() {
	mkdir "$TMP/$1"
	cd "$TMP/$1" || exit
	block "$1" >"$TMP/lines"
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
	done <"$TMP/lines"
}

ok "one program is profiled" [ "$(block 1 | wc -l)" -ge 3 ]
like "with operf" "$(block 1)" '^operf '
ok "the machine is profiled" [ "$(block 2 | wc -l)" -ge 10 ]
like "with opcontrol" "$(block 2)" '^opcontrol --start'
is "that is all" "$(block 3)" ""
type_block 1
type_block 2
ok "no complaint from the kernel" kernel_is_content
done_testing
