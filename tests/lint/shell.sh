#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# No script has a mistake that the tool shellcheck knows; in the first tier none
# that has changed.

. "$(dirname "$0")/lib"
need shellcheck shellcheck

find tests utils .ci -type f ! -name '*.[ch]' ! -name '*.mk' | sort |
	while read -r f; do
		case $f in
		*.sh) echo "$f" ;;
		*) head -n 1 "$f" | grep -qaE '^#!.*sh$|shellcheck shell' && echo "$f" ;;
		esac
	done | to_check >"$TMP/files"
while read -r f; do
	ok "shellcheck $f" shellcheck "$f"
done <"$TMP/files"
done_checking
