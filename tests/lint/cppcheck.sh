#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# cppcheck has no complaint; in the first tier about files that have changed.
# timeout: 900

. "$(dirname "$0")/lib"
need cppcheck cppcheck

mkdir "$TMP/cppcheck"
for folder in $(each_folder) module; do
	find "$folder" -name '*.c' | sort | to_check >"$TMP/files"
	[ -s "$TMP/files" ] || continue
	# The kernel's headers are not given to it, so it cannot know its macros.
	ok "cppcheck $folder" cppcheck --quiet --std=c11 --error-exitcode=1 \
		--enable=warning,performance,portability --inline-suppr \
		--suppress=missingInclude --suppress=unknownMacro \
		-j "$(nproc)" -I. -D__STDC_VERSION__=201112L -D__x86_64__=1 \
		--file-list="$TMP/files"
done
done_checking
