#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Every source is as clang-format leaves it: `make format`. What that makes of a
# comment with a table that is too wide is no sentence any more: "*word".

. "$(dirname "$0")/lib"
need clang-format clang-format

for folder in $(each_folder) module; do
	find "$folder" -name '*.[ch]' | sort >"$TMP/files"
	[ -s "$TMP/files" ] || continue
	ok "clang-format $folder" xargs -a "$TMP/files" \
		clang-format --dry-run -Werror --ferror-limit=3
	is "comments of $folder" \
		"$(xargs -a "$TMP/files" grep -nE '^ \*[^ 	/*]')" ""
done
done_testing
