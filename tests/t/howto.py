#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Follow a page of doc/howto/.

usage: howto.py apply PAGE TREE    make the changes of PAGE in the folder TREE
       howto.py missing PAGE TREE  print what PAGE names that TREE does not have
       howto.py commands PAGE      print the commands of PAGE
       howto.py output PAGE        print what PAGE says that they print

A change is a paragraph of one of these forms with a fenced block behind it:

    New file `PATH`:
    In `PATH`, after the line `LINE`:
    In `PATH`, before the line `LINE`:
    In `PATH`, in place of the line `LINE`:

LINE is in exactly one place of the file, whatever the blanks in it and the
backslash at its end; "the lines" may be several. Blocks of the language "sh" are commands; a block "text"
behind one is what they print. Any other fenced block is a mistake.
"""

import pathlib
import re
import sys

NEW_FILE = re.compile(r"New file `([^`]+)`:")
CHANGE = re.compile(
    r"In `([^`]+)`, (after|before|in place of) the lines? `([^`]+)`:"
)
MAX_LINES = 4

# What a page names outside of blocks: files, and macros and functions. Words in
# capitals stand for something in the name of a file.
FILE = re.compile(r"`((?:[a-z][\w.-]*/)+[\w.-]*)`")
WORD = re.compile(r"`([A-Z]+_[A-Z_]+|[a-z_]+(?=\(\)`))")
STANDS_FOR = re.compile("[A-Z]{2}|[0-9]N")


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
    at = [
        (i, i + n)
        for i in range(len(lines))
        for n in range(1, MAX_LINES + 1)
        if plain(" ".join(lines[i : i + n])) == plain(wanted)
        and lines[i].strip()
        and lines[i : i + n][-1].strip()
    ]
    if len(at) != 1:
        sys.exit(f"{page}: {file}: in {len(at)} places is: {wanted}")
    first, end = at[0]
    if where == "after":
        first = end
    elif where == "before":
        end = first
    lines[first:end] = [text]
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


def missing(page, tree):
    prose = re.sub("^```.*?^```$", "", pathlib.Path(page).read_text(), flags=re.M | re.S)
    for name in FILE.findall(prose):
        if not STANDS_FOR.search(name) and not pathlib.Path(tree, name).exists():
            print(name)
    files = [f for f in pathlib.Path(tree).rglob("*.[ch]") if f.is_file()]
    files += [pathlib.Path(tree, f) for f in ("Makefile", "tests/run")]
    known = {w for f in files for w in re.findall(r"\w+", f.read_text(errors="replace"))}
    print(*(w for w in WORD.findall(prose) if w not in known), sep="\n", end="")


def main():
    match sys.argv[1:]:
        case ["apply", page, tree]:
            apply(page, tree)
        case ["missing", page, tree]:
            missing(page, tree)
        case ["commands", page]:
            print(*(b[2] for b in blocks(page) if b[1] == "sh"), sep="", end="")
        case ["output", page]:
            print(*(b[2] for b in blocks(page) if b[1] == "text"), sep="", end="")
        case _:
            sys.exit(__doc__)


main()
