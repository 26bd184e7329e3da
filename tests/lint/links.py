#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Check that links lead somewhere: tests/lint/links.py FOLDER

In the Markdown pages of FOLDER, a tree: relative links and pictures name files
that are there, and what follows a `#` is the anchor of a heading there. A heading with
code has none, as GitHub and lowdown make different ones of it. In its manual pages: what .Xr names is a page of the
tree, or one of OTHERS. Prints each link that leads nowhere; exits with 1 then.
"""

import pathlib
import re
import sys

# Pages of other packages that ours refer to.
OTHERS = set(
    """callgrind_annotate.1 clang.1 cron.8 curl.1 debuginfod-find.1 fnmatch.3 fork.2 gprof.1 less.1
    llvm-profdata.1 modprobe.8 nohup.1 objdump.1 perf.1 perf_event_open.2 sched.7 sd_notify.3
    sha256sum.1 systemd.1 tar.1 umask.2 valgrind.1""".split()
)
FENCED = re.compile(r"^```.*?^```$", re.M | re.S)
LINK = re.compile(r"\]\(([^)\s]+)\)")


def prose(text):
    return re.sub("`[^`\n]*`", lambda m: "x" * len(m[0]), FENCED.sub("", text))


def anchors(path):
    headings = re.findall(r"^#+ +([^`\n]*)$", FENCED.sub("", path.read_text()), re.M)
    return {re.sub(r"[^\w\- ]", "", h.lower()).replace(" ", "-") for h in headings}


def wrong_links(page):
    for link in LINK.findall(prose(page.read_text())):
        if re.match("[a-z]+:", link):
            continue
        path, _, anchor = link.partition("#")
        target = page.parent / path if path else page
        if not target.exists():
            yield f"{link}: no such file"
        elif anchor and anchor not in anchors(target):
            yield f"{link}: no such heading"


def wrong_references(page, ours):
    for name, section in re.findall(r"^\.Xr (\S+) (\d)", page.read_text(), re.M):
        if f"{name}.{section}" not in ours | OTHERS:
            yield f".Xr {name} {section}: no such page here; see OTHERS in {sys.argv[0]}"


def main():
    top = pathlib.Path(sys.argv[1])
    wrong = []
    pages = sorted(top.glob("*.md")) + sorted(top.glob("doc/**/*.md"))
    for page in pages:
        wrong += [f"{page.relative_to(top)}: {w}" for w in wrong_links(page)]
    manual_pages = sorted(top.glob("doc/man/*.[1-8]"))
    ours = {page.name for page in manual_pages}
    for page in manual_pages:
        wrong += [f"{page.relative_to(top)}: {w}" for w in wrong_references(page, ours)]
    print("\n".join(wrong), end="\n" if wrong else "")
    return 1 if wrong else 0


sys.exit(main())
