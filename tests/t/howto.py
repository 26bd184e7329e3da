#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Follow a page of the documentation.

usage: howto.py blocks PAGE DIR    write each block of commands of PAGE to a file
                                   NAME in DIR, and what PAGE says that they print
                                   to NAME.out; print NAME, the line in PAGE, and
                                   what the mark says that the block needs
       howto.py options PAGE       print each long option of our programs that
                                   PAGE names: program, option
    and for the pages of doc/howto/, which change the tree:
       howto.py apply PAGE TREE    make the changes of PAGE in the folder TREE
       howto.py missing PAGE TREE  print what PAGE names that TREE does not have
       howto.py commands PAGE      print the commands of PAGE
       howto.py output PAGE        print what PAGE says that they print

Blocks are fenced and name their language; "sh" is for commands that tests run.
A mark is a comment on a line of its own right above such a block:

    <!-- needs: WHAT -->

It tells what the commands need besides a built tree, and so which test runs
them: NEEDS has the words. "program NAME" stands for one that may be missing.

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

# What a mark may say, and what becomes of the block. A block that no test can run
# is read only: by the shell for mistakes, and its options are looked up.
NEEDS = {
    "a fresh Debian": "run by .ci/run and tests/t/tree/05-newcomer.sh",
    "the module": "run by tests/vm/t/70-readme.sh",
    "another machine": "read only: what it needs is not on this one",
    "hours": "read only: it takes too long",
    "names of yours": "read only: words in it stand for others",
    "perf record": "read only: run by tests/t/archives/33-opimport-perf.sh",
    "a screen": "read only: run by tests/t/reports/53-optop.sh",
    "a server": "read only: run by tests/t/reports/35-debuginfod.sh",
}
MARK = re.compile(r"<!-- needs: (program \S+|.*?) -->")
LANGUAGES = {"sh", "text", "c", "cpp", "lua", "make"}
# Options of one of our programs, up to the first word that is none.
OURS = re.compile(
    r"(?<![\w/.-])(op[a-z]+|ocount|op-check-perfevents)((?:\s+(?:\\\n\s*)?-[^\s`]*)+)"
)

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


def write_blocks(page, folder):
    lines = pathlib.Path(page).read_text().splitlines()
    fence, blank, name, end = None, True, None, 0
    for at, line in enumerate(lines):
        if line.startswith("```") and fence is None:
            fence = line[3:]
            if fence not in LANGUAGES:
                sys.exit(f"{page}:{at + 1}: a block of no known language: {line}")
            mark = MARK.fullmatch(lines[at - 1])
            needs = mark[1] if mark else ""
            if mark is None and lines[at - 1].startswith("<!--"):
                sys.exit(f"{page}:{at}: not a known mark: {lines[at - 1]}")
            if needs and needs not in NEEDS and not needs.startswith("program "):
                sys.exit(f"{page}:{at}: not a known mark: {needs}")
            first = at + 1
        elif line == "```":
            text = "".join(f"{x}\n" for x in lines[first:at])
            if fence == "sh":
                name, end = f"{first:04}", at
                pathlib.Path(folder, name).write_text(text)
                print(name, first + 1, needs)
            elif fence == "text" and name and first - 1 == end + 2:
                pathlib.Path(folder, f"{name}.out").write_text(text)
            fence = None
        elif fence is None and blank and line.startswith("    ") and line.strip():
            sys.exit(f"{page}:{at + 1}: a block without a fence: {line.strip()}")
        blank = not line.strip()
    if fence is not None:
        sys.exit(f"{page}: the last block has no end")


def print_options(page):
    text = pathlib.Path(page).read_text()
    # What the shell gets, and what prose shows as code.
    codes = [b for b in re.findall(r"^```sh\n(.*?)^```$", text, re.M | re.S)]
    prose = re.sub("^```.*?^```$", "", text, flags=re.M | re.S)
    codes += re.findall(r"`([^`]+)`", prose)
    found = set()
    for code in codes:
        for program, options in OURS.findall(code):
            for option in re.findall(r"(?<!\S)--[a-z][a-z-]+", options):
                found.add(f"{program} {option}")
    print(*sorted(found), sep="\n")


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
        case ["blocks", page, folder]:
            write_blocks(page, folder)
        case ["options", page]:
            print_options(page)
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
