#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The kernel's own checkpatch has no error or warning about the module; in the
# first tier about files that have changed.
# timeout: 900

. "$(dirname "$0")/lib"
need perl perl

checkpatch=$(tests/vm/checkpatch 2>"$TMP/why") ||
	skip_all "$(tail -n 1 "$TMP/why")"

# Left out: what is about patches and the kernel's own tree, and
#  COMPLEX_MACRO, MACRO_ARG_REUSE, LINE_CONTINUATIONS, BLOCK_COMMENT_STYLE
#	complain about X macros
#  LINUX_VERSION_CODE, CONSTANT_COMPARISON
#	compat.h is for that; there alone DEPRECATED_API, too
#  CONST_STRUCT
#	takes a forward declaration for an object
ignore=FILE_PATH_CHANGES,SPDX_LICENSE_TAG,COMPLEX_MACRO,MACRO_ARG_REUSE
ignore=$ignore,LINE_CONTINUATIONS,BLOCK_COMMENT_STYLE,LINUX_VERSION_CODE
ignore=$ignore,CONSTANT_COMPARISON,CONST_STRUCT
for f in $(printf '%s\n' module/*.[ch] module/*/*.[ch] | to_check); do
	more=
	[ "$f" != module/compat.h ] || more=,DEPRECATED_API
	ok "checkpatch $f" perl "$checkpatch" --no-tree --terse --quiet \
		--show-types --ignore "$ignore$more" --file "$f"
done
done_checking
