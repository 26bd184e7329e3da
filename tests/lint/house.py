#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Measure what makes the tree easy or hard to live in: tests/lint/house.py

Prints a table: for each figure what it is today, the most that is accepted, and
the goal. The accepted value is what the tree had when somebody last improved
the figure, so a change can make nothing worse; who improves one lowers it here.
Exits with 1 if a figure is above what is accepted. Circles of files are of the
objects in $O, and are left out where nothing is built.
"""

import collections
import os
import pathlib
import re
import subprocess
import sys

sys.dont_write_bytecode = True  # nothing is written into the tree
from circles import circles

PRODUCT = "libop libdb libcfi libpp libagent daemon pp utils module".split()
# Words that stand for a thing which the sentence does not name.
NAMELESS = re.compile(
    r"(What|Who|Whoever|Whom|Whose|Of|That|Those|One|It|They|Both|As)\b"
)

# name: (accepted, goal)
LIMITS = {
    "files in the fullest folder of the product": (40, 40),
    "files in the fullest folder of the tests": (40, 40),
    "percent of statics with one caller, user space": (59, 40),
    "percent of statics with one caller, module": (38, 40),
    "circles of files": (0, 6),
    "files in the largest circle": (0, 4),
    "members of struct pp_request": (11, 20),
    "members of struct pp_report": (20, 20),
    "comments that begin with a nameless subject": (0, 0),
    "test files with a word of a report's head": (1, 1),
    "lines of expected text in unit tests": (3996, 0),
}


def sources(*folders):
    listed = subprocess.run(
        ["git", "ls-files", "--", *folders], check=True, capture_output=True, text=True
    )
    return [p for p in listed.stdout.split("\n") if p and os.path.isfile(p)]


def read(path):
    return pathlib.Path(path).read_text(errors="replace")


def without_comments(text):
    return re.sub(r"/\*.*?\*/", "", text, flags=re.S)


def files_of_folders(paths):
    return collections.Counter(os.path.dirname(p) for p in paths)


# ---- functions ----------------------------------------------------------------

DEFINED = re.compile(r"^static\s[^;={}]*?\b(\w+)\s*\([^;{}]*\)\s*\{", re.M)
DECLARED = re.compile(r"^static\s[^;={}]*?\b(\w+)\s*\([^;{}]*\)\s*;", re.M)


def statics_with_one_caller(folders):
    """Percent of the static functions that are called at one place."""
    once = found = 0
    for path in sources(*folders):
        if not path.endswith(".c"):
            continue
        text = without_comments(read(path))
        declared = collections.Counter(DECLARED.findall(text))
        called = collections.Counter(re.findall(r"\b(\w+)\s*\(", text))
        for name in DEFINED.findall(text):
            found += 1
            once += called[name] - declared[name] == 2
    return round(100 * once / max(found, 1))


def members_of(struct, path):
    body = re.search(
        r"^struct %s \{(.*?)^\};" % struct, without_comments(read(path)), re.S | re.M
    )
    return body.group(1).count(";") if body else 0


# ---- circles --------------------------------------------------------------------


def graph_of_objects(build):
    """{object: those whose functions it uses}, of what is in the product."""
    defines, uses = {}, collections.defaultdict(set)
    objects = [
        str(p)
        for folder in PRODUCT
        if folder != "module"
        for p in sorted(pathlib.Path(build, folder).rglob("*.o"))
        if p.relative_to(build).with_suffix(".c").is_file()
    ]
    table = subprocess.run(["nm", "-A", *objects], capture_output=True, text=True)
    for line in table.stdout.splitlines() if objects else []:
        name, _, symbol = line.partition(":")
        words = symbol.split()
        if len(words) == 3 and words[1] in "TDBRV":
            defines[words[2]] = name
        elif len(words) == 2 and words[0] == "U":
            uses[name].add(words[1])
    return {
        name: {defines[s] for s in uses[name] if s in defines} - {name}
        for name in objects
    }


# ---- texts ----------------------------------------------------------------------


def nameless_comments():
    nr = 0
    for path in sources(*PRODUCT):
        if path.endswith((".c", ".h")):
            for text in re.findall(r"^/\*(?!\s*----)(.*?)\*/", read(path), re.S | re.M):
                words = " ".join(re.sub(r"\n\s*\*", " ", text).split())
                nr += bool(NAMELESS.match(words))
    return nr


def expected_lines():
    nr = 0
    for path in sources("tests/unit"):
        if path.endswith(".c"):
            nr += len(re.findall(r'^\s*(?:\{ )?"(?:[^"\\]|\\.)*"[,;) }]*$', read(path), re.M))
    return nr


# ---- the table ------------------------------------------------------------------


def measure():
    full = files_of_folders(sources(*PRODUCT))
    tests = files_of_folders(sources("tests"))
    figures = {
        "files in the fullest folder of the product": max(full.values()),
        "files in the fullest folder of the tests": max(tests.values()),
        "percent of statics with one caller, user space": statics_with_one_caller(
            [f for f in PRODUCT if f != "module"]
        ),
        "percent of statics with one caller, module": statics_with_one_caller(["module"]),
        "members of struct pp_request": members_of(
            "pp_request", "libpp/report/request.h"
        ),
        "members of struct pp_report": members_of("pp_report", "libpp/report/report.h"),
        "comments that begin with a nameless subject": nameless_comments(),
        "test files with a word of a report's head": sum(
            re.search(r"\d taken = \d+ stored", read(p)) is not None for p in sources("tests")
        ),
        "lines of expected text in unit tests": expected_lines(),
    }
    build = os.environ.get("O") or "build"
    graph = graph_of_objects(build)
    if graph:
        sizes = [len(c) for c in circles(graph) if len(c) > 1]
        figures["circles of files"] = len(sizes)
        figures["files in the largest circle"] = sizes[0] if sizes else 0
    return figures


def main():
    os.chdir(pathlib.Path(__file__).resolve().parents[2])
    figures = measure()
    worse = []
    print("| figure | today | accepted | goal |\n| --- | ---: | ---: | ---: |")
    for name, (accepted, goal) in LIMITS.items():
        if name not in figures:
            continue
        print(f"| {name} | {figures[name]} | {accepted} | {goal} |")
        if figures[name] > accepted:
            worse.append(f"{name}: {figures[name]}, at most {accepted} so far")
    print("\n".join(worse), end="\n" if worse else "", file=sys.stderr)
    sys.exit(1 if worse else 0)


main()
