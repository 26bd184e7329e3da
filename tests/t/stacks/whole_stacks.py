#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Are the stacks that a report calls whole the true ones, frame by frame?

  whole_stacks.py --rules=SOURCE [--root=REGEX] [--calls=BINARY]... [--account=FILE]
                  [--program=BASENAME] NAME PROFILE

PROFILE is a report in the format of speedscope, without inlined functions; of other
programs than BASENAME nothing is read. Each whole stack in it, without its frames in the kernel, is compared with

  * what the program's SOURCE says in lines "stacks of FUNCTION: REGEX" of its comments:
    the frames from the root to the last one of FUNCTION, with ";" between them, or
    "never", if no stack with it can be whole. One of several lines has to be right.
    Words there: ROOT for --root, LIBRARY for any frames, GO for those of Go's runtime and
    of what cgo makes, "JAVA METHOD" for a method that may have been interpreted, "NAME..."
    for one frame or more of that name;

  * the calls in the code of each BINARY (a twin of the program with symbols): the caller
    of a function has to call it, or to call one that jumps to it, or to call by a
    pointer a function whose address is taken somewhere. Frames that signals and Go's
    scheduler put there are excused.

With --account, lines "FUNCTION PERCENT" that the program printed: the share of the
stacks with FUNCTION has to be within 3 points of that, where stacks that are not whole
may belong to any of the functions.

Prints a line of the table:
  NAME STACKS WHOLE WRONG NOTICED OFF
NOTICED is the percentage of all callers in whole stacks whose absence would have been
found; OFF is by how many points the shares
are beyond what the account allows, at most. What is wrong comes below, after "#". Exits
with 1 if a whole stack is wrong, if the shares are, or if nothing was looked at.
"""

import argparse
import bisect
import collections
import json
import os
import re
import struct
import subprocess
import sys

MOST_POINTS = 3
NOT_WHOLE = re.compile(
    r"\[(guessed|truncated|other stack|no unwind data|no memory|broken stack)\]$")
C_ROOT = r"_start;__libc_start_main[^;]*;__libc_start_call_main"
# What threads and programs begin with.
FIRST = re.compile(
    r"(_start|_dl_start_user|clone3?|__clone3?|_dlstart|libc_start_main_stage2|\[libc\.so\]"
    r"|runtime\.(goexit|rt0_go|mstart|clone)|_rt0_amd64_linux|__start_context"
    r"|\(0x[0-9a-f]+\)"
    r"|\[libc\.so\.6\]|\[ld-.*\])$")
# What no call has put above or below another frame.
NO_CALL = re.compile(
    r"(__restore_rt|__kernel_rt_sigreturn|runtime\.(sigreturn(__sigaction)?|sigtramp"
    r"|asyncPreempt|sigpanic[0-9]*|goexit))(\.abi0)?$")
WORDS = {
    "LIBRARY": r"(?:[^;]+;)*?[^;]+",
    "GO": r"(?:(?:runtime\.|main\._C|_cgo|crosscall|goCallback|main\.goC)[^;]*;)*"
          r"(?:runtime\.|main\._C|_cgo|crosscall|goCallback|main\.goC)[^;]*",
}


class Code:
    """The calls in a binary. Functions are known by their addresses."""

    def __init__(self, path):
        self.named = collections.defaultdict(set)  # name: addresses
        self.calls = collections.defaultdict(set)  # caller: called
        self.jumps = collections.defaultdict(set)
        self.calls_pointer, self.jumps_to_pointer = set(), set()
        self.leaves = set()  # functions that go to the code of other files
        self.taken = set()  # functions with pointers to them
        for line in output("nm", "-C", path) + output("nm", "-CD", path):
            if m := re.match(r"([0-9a-f]{8,16}) [TtWwVvi] (.*)", line):
                self.named[plain(m[2])].add(int(m[1], 16))
        self.named_at = set().union(*self.named.values())
        starts = set(self.named_at)
        function = None
        for line in output("objdump", "-d", "--no-show-raw-insn", "-w", path):
            if m := re.match(r"([0-9a-f]+) <(.*)>:$", line):
                at = int(m[1], 16)
                starts.add(at)
                if m[2].endswith("@plt"):
                    self.leaves.add(at)
                # Labels within a function are none.
                function = at
            elif m := re.match(r" *[0-9a-f]+:\t(?:(?:notrack|bnd|addr32|data16) )*(\S+) *(.*)", line):
                self.read(function, m[1], m[2], starts)
        self.starts = sorted(starts)
        with open(path, "rb") as f:
            data = f.read()
        words = struct.unpack_from(f"<{len(data) // 8}Q", data)
        self.taken |= starts.intersection(words)

    def read(self, function, insn, operands, starts):
        is_call = insn.startswith("call")
        is_jump = insn.startswith("j")
        if (is_call or is_jump) and operands.startswith("*"):
            (self.calls_pointer if is_call else self.jumps_to_pointer).add(function)
        elif is_call or is_jump:
            if m := re.match(r"([0-9a-f]+) <", operands):
                to = self.calls if is_call else self.jumps
                to[function].add(int(m[1], 16))
        else:
            for at in re.findall(r"# ([0-9a-f]+) <|\$0x([0-9a-f]+)", operands):
                at = int(at[0] or at[1], 16)
                if at in starts or at > 0xfff:
                    self.taken.add(at)

    def function_at(self, at):
        return self.starts[max(bisect.bisect_right(self.starts, at) - 1, 0)]

    def may_call(self, caller, called):
        """By a call of the caller's, with the jumps to other functions behind it."""
        called_at = self.named.get(called, set())
        is_taken = not called_at or bool(called_at & self.taken)
        for start in self.named[caller]:
            if is_taken and start in self.calls_pointer:
                return True
            seen, todo = set(), list(self.calls[start])
            while todo:
                at = todo.pop()
                if at not in self.named_at:
                    at = self.function_at(at)
                if at in seen:
                    continue
                seen.add(at)
                if at in called_at:
                    return True
                if is_taken and at in self.jumps_to_pointer:
                    return True
                if not called_at and at in self.leaves:
                    return True
                todo += self.jumps[at]
        return False


def output(*argv):
    return subprocess.run(argv, check=True, capture_output=True, text=True,
                          errors="replace").stdout.split("\n")


def plain(name):
    """The name of a function without its version and what compilers add to parts."""
    return re.sub(r"(@@?[A-Z][A-Za-z_0-9.]*|\.abi0)$", "", name)


def part(text, words):
    """The regular expression of a part of a rule."""
    if text in words:
        return f"(?:{words[text]})"
    if text.startswith("JAVA "):
        return f"(?:Interpreter|{re.escape(text[5:])})"
    if text.endswith("..."):
        name = re.escape(text[:-3])
        return f"{name}(?:;{name})*"
    return re.escape(text)


class Truth:
    def __init__(self, source, root, binaries):
        self.codes = {os.path.basename(p): Code(p) for p in binaries}
        self.rules = collections.defaultdict(list)  # function: regular expressions
        words = WORDS | {"ROOT": root, "never": "(?!)"}
        with open(source, encoding="utf-8") as f:
            text = f.read()
        for function, rule in re.findall(r"^[ */]*stacks of (\S+): (\S.*)$", text, re.M):
            self.rules[function].append(
                re.compile(";".join(part(p, words) for p in rule.split(";"))))
        if not self.rules:
            sys.exit(f"{source}: has no rules")

    def complaint(self, frames):
        """What is wrong with a stack of (file, name), or None."""
        names = [simple(name) for _, name in frames]
        if names and not FIRST.match(names[0]):
            return f"{names[0]} is not the first"
        for function, rules in self.rules.items():
            if function not in names:
                continue
            last = len(names) - names[::-1].index(function)
            if not any(rule.fullmatch(";".join(names[:last])) for rule in rules):
                return f"{function} is not called so"
        for (above_file, above), (file, name) in zip(frames, frames[1:]):
            code = self.codes.get(os.path.basename(above_file))
            above, name = plain(above), plain(name)
            if not code or NO_CALL.match(above) or NO_CALL.match(name):
                continue
            if above not in code.named:
                continue
            if not code.may_call(above, name):
                return f"{above} does not call {name}"
        return None


def simple(name):
    """Names of Java without types: "long Account.leafHash(long, int)"."""
    if m := re.match(r"(?:\S+ )?([\w.$/<>]+)\(.*\)$", name):
        if "." in m[1] and not name.startswith(("main.", "runtime.")):
            return m[1]
    return plain(re.sub(r"\.(constprop|isra|part)\.[0-9]+", "", name))


def is_kernel(frame):
    return not frame[0].startswith("/") or frame[0].startswith("/vmlinux") or \
        frame[0].endswith((".ko", ".ko.xz"))


def stacks_of(path, program):
    """(frames outside of the kernel, whether it is whole, count) of each stack."""
    with open(path, encoding="utf-8") as f:
        profile = json.load(f)
    frames = [(f.get("file", ""), f["name"]) for f in profile["shared"]["frames"]]
    for group in profile["profiles"]:
        for stack, count in zip(group["samples"], group["weights"]):
            stack = [frames[i] for i in stack]
            programs = [f[0] for f in stack[:2] if f[1] == os.path.basename(f[0])]
            if program and os.path.basename(programs[0]) != program:
                continue
            whole = not any(NOT_WHOLE.match(name) for _, name in stack)
            user = []
            for frame in stack:
                if frame[1] in ("all", os.path.basename(frame[0])):
                    continue
                if is_kernel(frame) and not NOT_WHOLE.match(frame[1]) and \
                        not frame[0].startswith("["):
                    break
                user.append(frame)
            yield user, whole, count


def off_by(account, stacks):
    """By how many points shares are beyond what the account allows."""
    true = {}
    with open(account, encoding="utf-8") as f:
        for line in f:
            if m := re.match(r"(\S+) ([0-9.]+)$", line):
                true[m[1]] = float(m[2])
    counts = dict.fromkeys(true, 0)
    doubtful = 0
    for frames, whole, count in stacks:
        found = {simple(name) for _, name in frames} & true.keys()
        if not whole:
            doubtful += count
        for name in found if whole else ():
            counts[name] += count
    known = sum(counts.values()) + doubtful
    if not true or not known:
        return float("inf")
    off = 0
    for name, percent in true.items():
        least = 100 * counts[name] / known
        most = least + 100 * doubtful / known
        off = max(off, percent - most, least - percent)
    return off


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rules", required=True)
    parser.add_argument("--root", default=C_ROOT)
    parser.add_argument("--calls", action="append", default=[])
    parser.add_argument("--account")
    parser.add_argument("--program")
    parser.add_argument("name")
    parser.add_argument("profile")
    args = parser.parse_args()
    truth = Truth(args.rules, args.root, args.calls)
    stacks = list(stacks_of(args.profile, args.program))
    wrong = collections.Counter()
    nr = nr_whole = changed = noticed = 0
    for frames, whole, count in stacks:
        nr += count
        if not whole:
            continue
        nr_whole += count
        why = truth.complaint(frames)
        if why:
            wrong[f"{why}: " + ";".join(name for _, name in frames)] += count
            continue
        for i in range(len(frames) - 1):
            changed += count
            if truth.complaint(frames[:i] + frames[i + 1:]):
                noticed += count
    off = off_by(args.account, stacks) if args.account else 0
    print(f"{args.name:32} {nr:7} {nr_whole:7} {sum(wrong.values()):7} "
          f"{100 * noticed / max(changed, 1):7.0f} {off:7.1f}")
    for text, count in wrong.most_common(8):
        print(f"# {count} {text}")
    sys.exit(bool(wrong) or off > MOST_POINTS or nr == 0)


main()
