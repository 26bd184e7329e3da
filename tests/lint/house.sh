#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Figures of the tree as a whole get no worse, see tests/lint/house.py.

. "$(dirname "$0")/lib"

git rev-parse -q --verify HEAD >/dev/null 2>&1 || skip_all "no clone of git here"
tests/lint/house.py >"$TMP/table" 2>"$TMP/worse"
is "no figure of the tree is worse than before" "$(cat "$TMP/worse")" ""
ok "the table is whole" test "$(grep -c '^| [a-z].* | [0-9]* | [0-9]* | [0-9]* |$' \
	"$TMP/table")" -eq 11
diag "$(cat "$TMP/table")"
done_testing
