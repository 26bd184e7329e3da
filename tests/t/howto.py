#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Follow a page of doc/howto/.

usage: howto.py apply PAGE TREE    make the changes of PAGE in the folder TREE
       howto.py commands PAGE      print the commands of PAGE
       howto.py output PAGE        print what PAGE says that they print

A change is a paragraph of one of these forms with a fenced block behind it:

    New file `PATH`:
    In `PATH`, after the line `LINE`:
    In `PATH`, before the line `LINE`:
    In `PATH`, in place of the line `LINE`:

LINE is exactly one line of the file, whatever the blanks in it and the
backslash at its end. Blocks of the language "sh" are commands; a block "text"
behind one is what they print. Any other fenced block is a mistake.
"""

import pathlib
import re
import sys

NEW_FILE = re.compile(r"New file `([^`]+)`:")
CHANGE = re.compile(r"In `([^`]+)`, (after|before|in place of) the line `([^`]+)`:")


def blocks(page):
    """Yield the paragraph before each fenced block, its language, its text."""
    paragraph, text, language = [], None, None
    for line in pathlib.Path(page).read_text().splitlines():
        if text is not None and line == "```":
            yield " ".join(paragraph), language, "".join(text)
            paragraph, text = [], None
        elif text is not None:
            text.append(line + "\n")
        elif line.startswith("```"):
            language, text = line[3:], []
            while paragraph and not paragraph[-1]:
                paragraph.pop()
            blank = len(paragraph) - 1
            while blank >= 0 and paragraph[blank]:
                blank -= 1
            paragraph = paragraph[blank + 1 :]
        else:
            paragraph.append(line.strip())
    if text is not None:
        sys.exit(f"{page}: the last block has no end")


def plain(line):
    return " ".join(line.rstrip().removesuffix("\\").split())


def change_file(page, file, where, wanted, text):
    lines = file.read_text().splitlines(keepends=True)
    at = [i for i, line in enumerate(lines) if plain(line) == plain(wanted)]
    if len(at) != 1:
        sys.exit(f"{page}: {file}: {len(at)} lines are: {wanted}")
    first = at[0] + (where == "after")
    lines[first : at[0] + (where != "before")] = [text]
    file.write_text("".join(lines))


def apply(page, tree):
    for paragraph, language, text in blocks(page):
        new, change = NEW_FILE.fullmatch(paragraph), CHANGE.fullmatch(paragraph)
        if language in ("sh", "text"):
            continue
        if not new and not change:
            sys.exit(f"{page}: a block of no file: {paragraph}")
        path, *how = (new or change).groups()
        file = pathlib.Path(tree, path)
        if change:
            change_file(page, file, *how, text)
        elif file.exists():
            sys.exit(f"{page}: {path}: is there already")
        else:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)


def main():
    match sys.argv[1:]:
        case ["apply", page, tree]:
            apply(page, tree)
        case ["commands", page]:
            print(*(b[2] for b in blocks(page) if b[1] == "sh"), sep="", end="")
        case ["output", page]:
            print(*(b[2] for b in blocks(page) if b[1] == "text"), sep="", end="")
        case _:
            sys.exit(__doc__)


main()
