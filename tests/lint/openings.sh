#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# What a reader and a profile meet first: opening comments of files, and names of
# static functions.

. "$(dirname "$0")/lib"

is "long files open with what they do, static names stand once, see \
tests/lint/openings.py" "$(tests/lint/openings.py 2>"$TMP/share")" ""
diag "$(cat "$TMP/share")"
done_testing
