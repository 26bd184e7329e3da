#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Includes name their folder and go downward only; only op_bfd*.[ch] see libbfd.

. "$(dirname "$0")/lib"

# may FOLDER ALLOWED...: which of our folders its files may include from.
may() {
	folder=$1
	shift
	grep -rn --include='*.[ch]' '^#include "' "$folder" |
		awk -F'"' -v allowed=" $* " '{
			# The folder: all before the last slash.
			dir = $2
			if ($2 == "config.h") next
			if (!sub("/[^/]*$", "", dir)) dir = "(none)"
			if (!index(allowed, " " dir " ")) print
		}' >"$TMP/wrong"
	is "$folder includes from: $*" "$(cat "$TMP/wrong")" ""
}

may libdb libdb libdb/table libdb/tree libdb/pack libop
may libop libop module/uapi
may libpp libpp libpp/symbols libpp/format libdb libop
may libcfi libcfi libop module/uapi
may daemon daemon daemon/source daemon/store daemon/feature libcfi libdb libop module/uapi
may utils utils utils/opcontrol utils/operf utils/ocount utils/ophelp utils/opstream libop module/uapi
may pp pp libpp libpp/symbols libpp/format libop libdb
may events events libop

# Kbuild compiles the module in a folder of its own.
is "module includes nothing else of ours" "$(grep -rnE --include='*.[ch]' \
	'^#include "(\.\.|/|lib|daemon|pp|utils|tests|config)' module)" ""
is "module/uapi depends on linux/types.h and linux/ioctl.h alone" \
	"$(sed -n 's/^#include //p' module/uapi/*.h | sort -u |
		grep -v -e '<linux/types.h>' -e '<linux/ioctl.h>')" ""
is "libbfd is seen by libpp/symbols/op_bfd*.[ch] alone" \
	"$(grep -rlE --include='*.[ch]' '^#include <(bfd|dis-asm)\.h>' . |
		grep -v -e '^\./libpp/symbols/op_bfd[a-z_]*\.[ch]$' -e '^\./build')" ""
is "kernel versions are told apart in module/compat.h alone" \
	"$(grep -rl --include='*.[ch]' LINUX_VERSION_CODE module |
		grep -v '^module/compat\.h$')" ""

# Libraries never print or end the program.
for folder in libdb libop libcfi libpp; do
	is "$folder does not print or exit" "$(grep -rnwE --include='*.c' \
		'(printf|puts|putchar|perror|exit|_exit|abort|err|errx|warn|warnx) *\(|stdout|stderr' \
		"$folder" | grep -vE ':[[:space:]]*(/?\*|//)')" ""
done

missing=$(find libdb libop libcfi libpp daemon pp utils events tests module .ci -type f \
	\( -name '*.[ch]' -o -name '*.sh' -o -perm /111 -o -name Kbuild \) |
	while read -r f; do
		head -n 3 "$f" | grep -q SPDX-License-Identifier || echo "$f"
	done | sort)
is "every source names its licence" "$missing" ""
done_testing
