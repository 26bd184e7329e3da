#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""table.py ROWS [JSON]

Prints the rows that benches wrote (tests/bench/rows.sh says what a row is) as
one table, with the ratio to the peer and whether the bar is met, and writes
the same as JSON. Exit status 0 whatever the figures are: they depend on the
machine, and who reads them judges.
"""

import json
import re
import sys

FIELDS = ("what", "unit", "ours", "peer", "theirs", "bar")


def number(text):
    try:
        return float(text)
    except ValueError:
        return None


def verdict(row):
    """Whether the bar is met; "" where there is none, or nothing to compare."""
    bar = re.fullmatch(r"(<=|>=)([0-9.]+)(x?)", row["bar"])
    value = row["ratio"] if bar and bar[3] else row["ours"]
    if not bar or value is None:
        return ""
    limit = float(bar[2])
    met = value <= limit if bar[1] == "<=" else value >= limit
    return "met" if met else "missed"


def read_rows(path):
    rows = []
    for line in open(path):
        row = dict(zip(FIELDS, line.rstrip("\n").split("\t")))
        if len(row) < len(FIELDS) or number(row["ours"]) is None:
            sys.exit(f"{path}: not a row of a bench: {line.strip()}")
        row["ours"], row["theirs"] = number(row["ours"]), number(row["theirs"])
        row["ratio"] = row["ours"] / row["theirs"] if row["theirs"] else None
        row["verdict"] = verdict(row)
        rows.append(row)
    return rows


def short(value):
    if value is None:
        return ""
    return f"{value:.0f}" if value >= 1000 else f"{value:.3g}"


def print_table(rows):
    width = max(len(row["what"]) for row in rows)
    unit = max(len(row["unit"]) for row in rows)
    print(f"{'':{width}}  {'':{unit}} {'ours':>9} {'theirs':>9} {'ratio':>7}"
          f" {'bar':>8}  ")
    for row in rows:
        theirs = short(row["theirs"])
        if row["peer"] and not theirs:
            theirs = "(none)"
        line = (f"{row['what']:{width}}  {row['unit']:{unit}} "
                f"{short(row['ours']):>9} {theirs:>9} "
                f"{short(row['ratio']):>7} {row['bar']:>8}  {row['verdict']}")
        print(line.rstrip() + (f" ({row['peer']})" if row["peer"] else ""))
    bars = [row["verdict"] for row in rows if row["verdict"]]
    missing = {row["peer"] for row in rows if row["peer"] and row["theirs"] is None}
    print(f"\n{bars.count('met')} of {len(bars)} bars met")
    for peer in sorted(missing):
        print(f"not compared with {peer}: it is not installed here")


def main():
    rows = read_rows(sys.argv[1])
    if not rows:
        sys.exit(f"{sys.argv[1]}: no bench wrote a row")
    print_table(rows)
    if len(sys.argv) > 2:
        with open(sys.argv[2], "w") as out:
            json.dump(rows, out, indent=1)
            out.write("\n")


main()
