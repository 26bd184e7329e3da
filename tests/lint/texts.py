#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Check the texts that people read: tests/lint/texts.py [--list]

Collects the texts of messages and help from the C sources of the programs, the
manual pages as mandoc prints them, and the prose of README and the pages of doc/:
what is no block and no code. Each text must be free of the phrases in
RIDDLES, which had to be read twice; a message has one line and no full stop at
its end; each word is known to aspell or stands in tests/lint/words. Prints what
is wrong; exits with 1 if there is any. --list prints all texts and their places.
"""

import pathlib
import re
import subprocess
import sys

ROOMS = "daemon events libagent libcfi libdb libop libpp pp utils".split()
WORDS = pathlib.Path("tests/lint/words")

# The phrase that is wrong, and what to write.
RIDDLES = {
    r"\bis called so\b": "has this name",
    r"\bthat (are|is) at most\b": "at most N",
    r"\b[Ww]ithout it (that|there) (are|is) \d": "the default is N",
    r"\b[Kk]nown are\b": "the ... are, or use",
    r"\b[Kk]ept are\b": "only ... are kept",
    r"\bleave out what has less\b": "hide entries below N",
    r"\border round\b": "reverse the order",
    r"\bso it is the\b": "... instead",
    r"\bno binary tells\b": "no binary has",
    r"\bmake nothing of it\b": "cannot read it",
    r"\bnot to be had\b": "not available",
    r"\bis none of\b": "is not one of",
    r"\bno say in\b": "no rights",
    r"\bfor want of\b": "for lack of",
    r"\bmakes? no sense\b": "is invalid",
    r"\bnobody knows\b": "is unknown",
    r"\bsomebody reads\b": "a program is reading",
    r"\bat work here\b": "is using this folder",
    r"\bmade anew\b": "rebuilt",
    r"\ball the same,": "anyway",
    r"\bWho (is|may) not\b": "other users; users who may not",
    r"\blists those there are\b": "lists them",
    r"\bfound no room\b": "did not fit",
    r"\bgoes on, un": "continues, un",
    r"\bbrought to the disk\b": "written to disk",
    r"\btells? them\b": "has, shows or names them",
    r"\bcut off here\b": "truncated here",
    r"\bthere (are|is) already\b": "already exists",
    r"\bit is no\b": "it is not a",
}

TOKEN = re.compile(
    r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'|\s+|\w+|.', re.S
)
# A call whose text is one message on a line of its own.
MESSAGE = re.compile(r"\b(op_diag_set|op_log|operf_note)\(")
CONVERSION = re.compile(r"%[-+#0]*[\d*]*(?:\.[\d*]+)?(?:hh|h|ll|l|z)?[a-zA-Z%]")
# What is no word: options, paths, names of variables and events, units.
NO_WORD = re.compile(
    r"--?[A-Za-z][\w-]*|\S*[/=_<>{}@$\\*~+]\S*|\S*\w[.:]\w\S*|\w*\d\w*|\b[A-Z]{2,}s?\b"
)


def literals(path):
    """Yield line, whether it is a message, and each string of a C file, where
    strings beside each other and PRIu64 and the like between them are one."""
    source = path.read_text()
    line, begin, text, is_message = 1, 0, None, False
    before = ""
    for token in TOKEN.findall(source):
        if token[0] == '"':
            if text is None:
                text, begin = "", line
                # The call that the string is in, if nothing else ends before it.
                call = before[max(before.rfind(";"), before.rfind("{"), 0) :]
                is_message = bool(MESSAGE.search(call))
            text += token[1:-1]
        elif text is not None and token.startswith("PRI"):
            text += token[3:4]
        elif not token.isspace() and not token.startswith(("//", "/*")):
            if text is not None:
                yield begin, is_message, text
            text = None
        if not token.startswith(("//", "/*")) and token[0] != '"':
            before = (before + token)[-400:]
        line += token.count("\n")


def is_text(text):
    return re.search(r"[a-z]{2}.* .*[a-z]{2}", text)


def collect():
    """All texts: (place, is a message, text)."""
    for room in ROOMS:
        for path in sorted(pathlib.Path(room).rglob("*.[ch]")):
            for line, is_message, text in literals(path):
                if is_text(text):
                    yield f"{path}:{line}", is_message, text
    for path in sorted(pathlib.Path("doc/man").glob("*.[1-8]")):
        page = subprocess.run(
            ["mandoc", "-T", "utf8", path], check=True, capture_output=True, text=True
        ).stdout
        # Bold and underlined letters are overstruck.
        page = re.sub(".\b", "", page)
        yield str(path), False, re.sub(r"\s+", " ", page)
    for path in [pathlib.Path("README.md"), *sorted(pathlib.Path("doc").rglob("*.md"))]:
        if path.exists():
            yield str(path), False, prose(path.read_text())


def prose(page):
    """A page of Markdown without blocks, code, comments, and where links lead."""
    for what in (r"^```.*?^```$", r"`[^`]*`", r"<!--.*?-->", r"\]\([^)]*\)"):
        page = re.sub(what, " ", page, flags=re.M | re.S)
    return re.sub(r"\s+", " ", page)


def words_of(text):
    text = text.replace("\\n", " ").replace("\\t", " ").replace('\\"', " ")
    text = NO_WORD.sub(" ", CONVERSION.sub(" ", text))
    return set(re.findall(r"\b[A-Za-z][a-z]+(?:'[a-z]+)?\b", text))


def unknown(words):
    """Those that neither aspell nor the tree's own list knows."""
    known = {w for w in WORDS.read_text().split("\n") if w and w[0] != "#"}
    asked = sorted(words - known)
    out = subprocess.run(
        ["aspell", "list", "--lang=en", "--encoding=utf-8"],
        input="\n".join(asked), check=True, capture_output=True, text=True,
    ).stdout
    return set(out.split())


def main():
    texts = list(collect())
    if sys.argv[1:] == ["--list"]:
        for place, _, text in texts:
            print(f"{place}: {text}")
        return 0
    wrong = []
    places = {}
    for place, is_message, text in texts:
        for riddle, instead in RIDDLES.items():
            if found := re.search(riddle, text):
                wrong.append(f'{place}: "{found[0]}": write "{instead}"')
        if is_message and re.search(r"\\n.", text):
            wrong.append(f"{place}: a message has one line")
        if is_message and re.search(r"[^.]\.(\\n)?$", text):
            wrong.append(f"{place}: no full stop at the end of a message")
        for word in words_of(text):
            places.setdefault(word, place)
    wrong += [f"{places[w]}: {w}: misspelt, or missing in {WORDS}"
              for w in sorted(unknown(set(places)) & set(places))]
    print("\n".join(wrong), end="\n" if wrong else "")
    print(f"{len(texts)} texts, {len(places)} words", file=sys.stderr)
    return 1 if wrong else 0


sys.exit(main())
