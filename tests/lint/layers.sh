#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Includes name their folder and go downward only, and to public headers.

. "$(dirname "$0")/lib"

is "each room includes what it may, see tests/lint/rooms.py" \
	"$(tests/lint/rooms.py)" ""

# Kbuild compiles the module in a folder of its own.
is "module includes nothing else of ours" "$(grep -rnE --include='*.[ch]' \
	'^#include "(\.\.|/|lib|daemon|pp|utils|tests|config)' module)" ""
is "module/uapi depends on linux/types.h and linux/ioctl.h alone" \
	"$(sed -n 's/^#include //p' module/uapi/*.h | sort -u |
		grep -v -e '<linux/types.h>' -e '<linux/ioctl.h>')" ""
is "kernel versions are told apart in module/compat.h alone" \
	"$(grep -rl --include='*.[ch]' LINUX_VERSION_CODE module |
		grep -v '^module/compat\.h$')" ""

# Libraries never print or end the program.
for folder in libdb libop libcfi libpp; do
	is "$folder does not print or exit" "$(grep -rnwE --include='*.c' \
		'(printf|puts|putchar|perror|exit|_exit|abort|err|errx|warn|warnx) *\(|stdout|stderr' \
		"$folder" | grep -vE ':[[:space:]]*(/?\*|//)')" ""
done

missing=$(find libdb libop libcfi libpp libagent daemon pp utils events tests module .ci -type f \
	\( -name '*.[ch]' -o -name '*.sh' -o -perm /111 -o -name Kbuild \) |
	while read -r f; do
		head -n 3 "$f" | grep -q SPDX-License-Identifier || echo "$f"
	done | sort)
is "every source names its licence" "$missing" ""
done_testing
