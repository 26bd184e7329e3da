#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Each header compiles alone: it includes what it needs. The module's own are
# the kernel's matter, but the ABI header is everybody's.

. "$(dirname "$0")/lib"
compile_flags >"$TMP/flags"

{ each_folder; echo module/uapi; } |
	xargs sh -c 'find "$@" -name "*.h"' sh | sort >"$TMP/files"
while read -r header; do
	printf '#include "%s"\n#include "%s"\n' "$header" "$header" >"$TMP/x.c"
	ok "$header" xargs -a "$TMP/flags" "${CC:-cc}" -fsyntax-only \
		-Wno-unused-function "$TMP/x.c"
done <"$TMP/files"
done_testing
