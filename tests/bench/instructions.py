#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""instructions.py [--check FILE | --record FILE] [--rows FILE] [PATH...]

Counts with valgrind what one unit of work costs on each hot path, in
instructions: those of a program that does the work N times, less those of the
same program that does it next to never, divided by N. Instructions do not
depend on what else the machine does; times on a shared machine do.

Without an option each path is measured for once, ten and a hundred times the
work, and the exponent is printed by which the cost of all of it grows: 1.00
is in proportion. --rows appends them to FILE for tests/bench/table.py.
--check measures once and compares with FILE, as a TAP test: a path may cost a
tenth more than FILE says. --record writes FILE; a change that makes a path
cheaper records it, so that the gain is guarded. PATH is a part of a path's
name.
"""

import argparse
import math
import os
import re
import shutil
import subprocess
import sys

TOP = os.path.realpath(os.path.join(os.path.dirname(__file__), "../.."))
O = os.path.join(TOP, os.environ.get("O") or "build")
BENCH = os.path.join(O, "tests/bench")
SLACK = 1.1


class Path:
    """A hot path: a program that does N * @units units of work.

    @least and @work are values of N: the one to subtract, and the first one to
    measure. @guarded paths are those of --check.
    """

    def __init__(self, name, unit, least, work, units=1, guarded=False):
        self.name, self.unit, self.units = name, unit, units
        self.least, self.work, self.guarded = least, work, guarded
        self.none = None

    def command(self, n):
        raise NotImplementedError

    def instructions(self, n):
        done = subprocess.run(
            ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null",
             *self.command(n)],
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        collected = re.search(r"Collected : (\d+)", done.stderr)
        if done.returncode or not collected:
            raise SystemExit(f"{self.name}: {done.stderr.strip()}")
        return int(collected[1])

    def cost(self, n):
        """Of all the work that @n makes, in instructions."""
        if self.none is None:
            self.none = self.instructions(self.least)
        return self.instructions(n) - self.none

    def cost_of_unit(self, n):
        return self.cost(n) / ((n - self.least) * self.units)


class Program(Path):
    """A bench program; None among its arguments stands for N."""

    def __init__(self, name, unit, program, arguments, **rest):
        super().__init__(name, unit, **rest)
        self.program, self.arguments = program, arguments

    def command(self, n):
        return [os.path.join(BENCH, self.program),
                *(str(n) if a is None else a for a in self.arguments)]


class Report(Path):
    """opreport on a session of N libraries with 672 sampled functions each."""

    sessions = {}

    def __init__(self, name, option, **rest):
        super().__init__(name, "row", units=672, **rest)
        self.option = option

    def command(self, n):
        if n not in self.sessions:
            made = subprocess.run(
                [os.path.join(BENCH, "bench_optop"), "--make", str(n)],
                check=True, stdout=subprocess.PIPE, text=True)
            self.sessions[n] = made.stdout.strip()
        return [os.path.join(O, "bin/opreport"), self.option,
                "--session-dir=" + self.sessions[n]]

    @classmethod
    def remove_sessions(cls):
        for folder in cls.sessions.values():
            shutil.rmtree(folder)


def keys_again(pattern):
    return [pattern, "10000", None]


PATHS = [
    Program("libdb, fresh keys", "key", "bench_odb",
            ["instructions", None, "0"], least=1, work=10000, guarded=True),
    Program("libdb, 10,000 keys again", "update", "bench_odb",
            keys_again("instructions"), least=0, work=20000, guarded=True),
    Program("libdb, 10,000 aligned keys again", "update", "bench_odb",
            keys_again("16-byte aligned"), least=0, work=20000),
    Program("libdb, 10,000 pairs again", "update", "bench_odb",
            keys_again("arcs"), least=0, work=20000),
    Program("call tree, stacks of 8 frames", "stack", "bench_ctree",
            ["8", None], least=0, work=2000, guarded=True),
    Program("call tree, stacks of 32 frames", "stack", "bench_ctree",
            ["32", None], least=0, work=1000),
    Program("daemon, one image", "sample", "bench_decode",
            ["one image", None], least=0, work=1, units=200000),
    Program("daemon, 500 images", "sample", "bench_decode",
            ["500 images", None], least=0, work=1, units=100000, guarded=True),
    Program("daemon, 150 modules", "sample", "bench_decode",
            ["150 modules", None], least=0, work=1, units=100000),
    Program("daemon, stacks of 8 frames", "sample", "bench_decode",
            ["stacks of 8 frames", None], least=0, work=1, units=20000,
            guarded=True),
    Program("daemon, stacks of 32 frames", "sample", "bench_decode",
            ["stacks of 32 frames", None], least=0, work=1, units=20000),
    Program("unwinder, stacks of 8 frames", "stack", "bench_unwind",
            ["--stacks", "8", None], least=1, work=5000, guarded=True),
    Program("unwinder, stacks of 32 frames", "stack", "bench_unwind",
            ["--stacks", "32", None], least=1, work=1500),
    Report("opreport -l", "-l", least=1, work=5, guarded=True),
    Report("opreport -d", "-d", least=1, work=5),
    Report("opreport --xml", "--xml", least=1, work=5),
]


def compiler():
    """The compiler of the tree: another one makes other instructions."""
    version = subprocess.run(
        [*os.environ.get("CC", "cc").split(), "--version"], check=True,
        stdout=subprocess.PIPE, text=True).stdout
    return version.splitlines()[0]


def record(paths, file):
    with open(file, "w") as out:
        out.write("# Instructions of a unit of work; "
                  "tests/bench/instructions.py --record wrote them.\n")
        out.write(f"compiler\t{compiler()}\n")
        for path in paths:
            if path.guarded:
                out.write(f"{path.name}\t"
                          f"{path.cost_of_unit(path.work):.0f}\n")


def check(paths, file):
    with open(file) as lines:
        recorded = dict(line.rstrip("\n").split("\t") for line in lines
                        if not line.startswith("#"))
    if recorded["compiler"] != compiler():
        print(f"1..0 # SKIP counted for {recorded['compiler']}, this is "
              f"{compiler()}")
        return
    paths = [path for path in paths if path.guarded]
    for i, path in enumerate(paths, 1):
        cost = path.cost_of_unit(path.work)
        limit = float(recorded[path.name]) * SLACK
        print(f"{'ok' if cost <= limit else 'not ok'} {i} - {path.name}: at "
              f"most {limit:.0f} instructions a {path.unit}")
        print(f"# {cost:.0f}", flush=True)
    print(f"1..{len(paths)}")


def measure(paths, rows):
    print(f"{'instructions of':34} {'work':>9} {'a unit':>9} "
          f"{'10 times':>9} {'100 times':>9} {'exponent':>9}")
    for path in paths:
        works = [path.work * times for times in (1, 10, 100)]
        costs = [path.cost_of_unit(work) for work in works]
        exponent = 1 + math.log(costs[2] / costs[0], 100)
        print(f"{path.name:34} {path.work * path.units:9} "
              + " ".join(f"{cost:9.0f}" for cost in costs)
              + f" {exponent:9.2f}", flush=True)
        if rows:  # tests/bench/rows.sh says what they are
            with open(rows, "a") as out:
                out.write(f"{path.name}\tinstructions a {path.unit}\t"
                          f"{costs[0]:.0f}\t\t\t\n{path.name}, growth\t"
                          f"exponent\t{exponent:.2f}\t\t\t<=1.1\n")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--check", metavar="FILE")
    parser.add_argument("--record", metavar="FILE")
    parser.add_argument("--rows", metavar="FILE")
    parser.add_argument("path", nargs="*")
    options = parser.parse_args()
    if not shutil.which("valgrind"):
        print("1..0 # SKIP no valgrind; run utils/install-deps")
        return
    paths = [path for path in PATHS if not options.path
             or any(part in path.name for part in options.path)]
    try:
        if options.check:
            check(paths, options.check)
        elif options.record:
            record(paths, options.record)
        else:
            measure(paths, options.rows)
    finally:
        Report.remove_sessions()


main()
