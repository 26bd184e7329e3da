#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Check what a reader meets first: tests/lint/openings.py

Each .c file of the product with over 100 lines opens with a comment that says
what it does. A static function has a name of its own, so that a profile of our
own programs tells what ran: at most MOST_SHARED percent of the names may stand
in two files. Prints what is wrong; exits with 1 if there is any.
"""

import collections
import pathlib
import re
import sys

ROOMS = "libop libdb libcfi libpp daemon pp utils events module".split()
LONG = 100  # lines
MOST_SHARED = 3  # percent

STATIC = re.compile(r"^static\s[^;={}()]*?\b(\w+)\s*\(", re.M)


def main():
    wrong = []
    files = collections.defaultdict(set)
    paths = [p for room in ROOMS for p in sorted(pathlib.Path(room).rglob("*.[ch]"))]
    for path in paths:
        text = path.read_text()
        for name in STATIC.findall(text):
            files[name].add(str(path))
        before = text.partition("\n#include")[0]
        if path.suffix == ".c" and text.count("\n") > LONG and "/*" not in before:
            wrong.append(f"{path}: {text.count(chr(10))} lines and no opening comment")
    shared = {name: where for name, where in files.items() if len(where) > 1}
    share = 100 * len(shared) / len(files)
    print(f"{share:.1f} % of {len(files)} static names stand in two files", file=sys.stderr)
    if share > MOST_SHARED:
        wrong += [f"{name}: {' '.join(sorted(where))}" for name, where in shared.items()]
    print("\n".join(wrong), end="\n" if wrong else "")
    sys.exit(1 if wrong else 0)


main()
