#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Messages, help and manual pages are plain English without misspelt words.

. "$(dirname "$0")/lib"
need aspell aspell
aspell dicts | grep -qx en || skip_all 'aspell has no English; install the Debian package aspell-en'
need mandoc mandoc

is "texts are plain and spelt right, see tests/lint/texts.py" \
	"$(tests/lint/texts.py 2>"$TMP/count")" ""
diag "$(cat "$TMP/count")"

# What is wrong is found.
mkdir -p "$TMP/pp" "$TMP/doc/man" "$TMP/tests/lint"
cp tests/lint/words "$TMP/tests/lint"
cat >"$TMP/pp/x.c" <<'END'
int wrong(struct op_diag *diag)
{
	return op_diag_set(diag, -EINVAL, "%s: no event is "
					  "called so; see the manuel.", name);
}
END
is "a riddle, a full stop and a misspelt word are found" \
	"$(cd "$TMP" && "$TOP/tests/lint/texts.py" 2>"$TMP/count")" \
	'pp/x.c:3: "is called so": write "has this name"
pp/x.c:3: no full stop at the end of a message
pp/x.c:3: manuel: misspelt, or missing in tests/lint/words'
done_testing
