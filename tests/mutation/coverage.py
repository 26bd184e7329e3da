# SPDX-License-Identifier: GPL-2.0-or-later
"""Which tests run a line, and how long each takes."""

import collections
import fnmatch
import json
import os
import re
import shutil
import subprocess

from build import digest

FORMAT = 2  # of what is kept
# Scripts that run nothing of the folders.
NOT_HERE = {"01-run.sh", "03-mutate.sh"}


def is_script(test):
    return test.endswith(".sh")


def all_tests(src, which):
    """The unit tests, with all scripts or those whose names match a pattern."""
    tests = [
        str(p.relative_to(src).with_suffix(""))
        for p in sorted(src.glob("tests/unit/**/test_*.c"))
    ]
    pattern = {"unit": "", "all": "*"}.get(which, which)
    return tests + [
        str(p.relative_to(src))
        for p in sorted(src.glob("tests/t/**/[0-9]*.sh"))
        if p.name not in NOT_HERE and fnmatch.fnmatch(p.name, pattern)
    ]


class Coverage:
    """
    For each test its seconds, the lines that it runs, and why it cannot be
    used; kept in a file. An entry holds until the test changes, a source that
    it runs, or any header, as that may be anywhere. A test that fails without a
    change is tried again each time: its reason may be outside the tree.
    """

    def __init__(self, mutate, file):
        self.m, self.file = mutate, file
        try:
            self.entries = json.loads(file.read_text())
        except (OSError, ValueError):
            self.entries = {}
        # name of a source -> line -> tests; name -> lines with code
        self.by_line = collections.defaultdict(
            lambda: collections.defaultdict(set)
        )
        self.known = collections.defaultdict(set)
        self.shared = {}

    # What an entry depends on

    def source_digest(self, name):
        path = self.m.src / name
        return digest(path.read_bytes()) if path.exists() else ""

    def shared_digest(self, *patterns):
        if patterns not in self.shared:
            files = {p for g in patterns for p in self.m.src.glob(g)}
            self.shared[patterns] = digest(
                *(p.read_bytes() for p in sorted(files) if p.is_file())
            )
        return self.shared[patterns]

    def key(self, test):
        """Digest of all but the sources that a test runs."""
        own, patterns = f"{test}.c", ["**/*.h"]
        if is_script(test):
            own = test
            patterns += ["tests/t/[!0-9]*", "tests/helper/*"]
        return digest(
            FORMAT,
            self.source_digest(own),
            self.shared_digest(*patterns),
            is_script(test) and self.m.args.script_seconds,
        )

    def is_fresh(self, test):
        entry = self.entries.get(test)
        return (
            entry is not None
            and entry.get("key") == self.key(test)
            and not entry["why"].startswith("fails")
            and all(
                self.source_digest(name) == old
                for name, old in entry["sources"].items()
            )
        )

    # Taking it

    def update(self, tests):
        stale = [t for t in tests if not self.is_fresh(t)]
        for done, (test, entry) in enumerate(self.m.each(self.measure, stale)):
            self.m.progress(f"coverage: {done + 1} of {len(stale)} tests")
            self.entries[test] = entry
            self.save()
        for test in tests:
            self.use(test, self.entries[test])

    def use(self, test, entry):
        if entry["why"]:
            self.m.note(f"{test} is not used: {entry['why']}")
            return
        for name, lines in entry["lines"].items():
            for line in lines["run"]:
                self.by_line[name][line].add(test)
            self.known[name].update(lines["run"], lines["not"])

    def save(self):
        new = self.file.with_suffix(".new")
        new.write_text(json.dumps(self.entries))
        new.replace(self.file)

    def measure(self, test, worker):
        entry = {
            "key": self.key(test),
            "sources": {},
            "lines": {},
            "seconds": 0,
            "why": "",
        }
        limit = self.m.args.script_seconds * 2 if is_script(test) else 600
        for _ in range(2):  # a busy machine may have been the reason
            plain = self.m.run_test(test, worker, worker.build, {}, limit)
            if plain.passed:
                break
        entry["seconds"] = plain.seconds
        entry["why"] = self.why_not(test, plain)
        if entry["why"]:
            return entry
        counts = worker.folder / "gcov"
        self.prepare(counts)
        self.m.run_test(
            test,
            worker,
            self.m.cov.folder,
            {"GCOV_PREFIX": str(counts), "GCOV_ERROR_FILE": "/dev/null"},
            limit * 3,
        )
        entry["lines"] = self.collect(counts)
        shutil.rmtree(counts)
        entry["sources"] = {
            name: self.source_digest(name)
            for name, lines in entry["lines"].items()
            if lines["run"]
        }
        return entry

    def why_not(self, test, plain):
        if not plain.passed:
            return f"fails without a change: {plain.why}"
        if is_script(test) and plain.seconds > self.m.args.script_seconds:
            return f"takes {plain.seconds:.0f} s"
        if re.search(rb"^1\.\.0 ", plain.output, re.M):
            return "is skipped here"
        return ""

    def prepare(self, counts):
        """gcov wants its notes beside the counts; anybody may write these."""
        shutil.rmtree(counts, ignore_errors=True)
        for note in self.m.cov.folder.rglob("*.gcno"):
            link = counts / note.relative_to("/")
            link.parent.mkdir(parents=True, exist_ok=True)
            link.symlink_to(note)
        for folder, _, _ in os.walk(counts):
            os.chmod(folder, 0o777)

    def collect(self, counts):
        files = sorted(str(p) for p in counts.rglob("*.gcda"))
        lines = {}
        for i in range(0, len(files), 50):
            done = subprocess.run(
                ["gcov", "--json-format", "--stdout", *files[i : i + 50]],
                cwd=counts,
                capture_output=True,
                text=True,
                check=False,  # a file may be half, of a process killed
            )
            for doc in done.stdout.splitlines():
                if doc.startswith("{"):
                    self.add(lines, json.loads(doc))
        return {
            name: {"run": sorted(ran), "not": sorted(known - ran)}
            for name, (known, ran) in lines.items()
        }

    def add(self, lines, doc):
        for file in doc["files"]:
            name = file["file"]
            if not name.endswith(".c") or name.startswith(("/", "tests/")):
                continue
            known, ran = lines.setdefault(name, (set(), set()))
            for line in file["lines"]:
                known.add(line["line_number"])
                if line["count"]:
                    ran.add(line["line_number"])

    # Asking

    def tests_of(self, mutant):
        """The tests that run a line of the mutant."""
        name = mutant.source.name
        known, by_line = self.known[name], self.by_line[name]
        lines = [
            n for n in range(mutant.line, mutant.last_line + 1) if n in known
        ]
        if not lines:  # midway in a statement
            lines = [max((n for n in known if n < mutant.line), default=0)]
        return set().union(*(by_line[n] for n in lines))

    def seconds(self, test):
        return self.entries[test]["seconds"]
