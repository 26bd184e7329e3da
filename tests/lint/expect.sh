#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Each file in tests/expect is the text of a test that names it.

. "$(dirname "$0")/lib"

find tests/expect -type f | sort | while read -r file; do
	name=$(basename "$file" .txt)
	test=tests/${file#tests/expect/}
	case $file in
	tests/expect/unit/*.txt)
		if [ -f "${test%.txt}.c" ]; then # tests/unit/main.c looks at its sections
			grep -qE "EXPECTED_(ROW|AS)" "${test%.txt}.c"
		else
			grep -q "\"$name\")" "${test%/*}.c"
		fi ;;
	tests/expect/*.txt)
		grep -q "expected \"$(echo "$name" | sed 's:-:[ -]:g')\"" "${test%/*}.sh" ;;
	*) false ;;
	esac || echo "$file"
done >"$TMP/unnamed" 2>&1
is "each expected text is named by its test" "$(cat "$TMP/unnamed")" ""
done_testing
