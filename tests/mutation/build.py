# SPDX-License-Identifier: GPL-2.0-or-later
"""A copy of the sources, its builds, and links with another object."""

import contextlib
import hashlib
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys


def fail(message):
    sys.exit(f"mutate: {message}")


def run(command, **options):
    """Run a tool: what it prints if it succeeds, else the end of all."""
    done = subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        check=False,
        **options,
    )
    if done.returncode:
        fail(f"{shlex.join(command)[:200]}: failed:\n{done.stdout[-3000:]}")
    return done.stdout


def digest(*parts):
    h = hashlib.sha256()
    for part in parts:
        h.update(part if isinstance(part, bytes) else str(part).encode())
        h.update(b"\0")
    return h.hexdigest()


def source_names(tree, skip):
    """The files of a tree, without what git ignores or is in skip."""
    listed = subprocess.run(
        ["git", "-C", tree, "ls-files", "-zco", "--exclude-standard"],
        capture_output=True,
        text=True,
        check=False,
    )
    names = set(listed.stdout.split("\0")) - {""}
    if "Makefile" not in names:  # not of git, or ignored by an outer one
        names = {
            str(p.relative_to(tree))
            for p in tree.rglob("*")
            if skip not in p.parents
        }
    return {
        name
        for name in names
        if os.path.lexists(tree / name)
        and (os.path.islink(tree / name) or not os.path.isdir(tree / name))
    }


def is_same(old, new):
    if old.is_symlink() or new.is_symlink():
        return (
            old.is_symlink()
            and new.is_symlink()
            and os.readlink(old) == os.readlink(new)
        )
    return (
        old.exists()
        and old.stat().st_mode == new.stat().st_mode
        and old.read_bytes() == new.read_bytes()
    )


def copy_tree(tree, to, skip):
    """Bring the copy of the sources up to date; what is the same stays."""
    wanted = source_names(tree, skip)
    for name in sorted(wanted):
        old, new = to / name, tree / name
        if not is_same(old, new):
            old.parent.mkdir(parents=True, exist_ok=True)
            with contextlib.suppress(FileNotFoundError):
                old.unlink()
            shutil.copy(new, old, follow_symlinks=False)
    for p in list(to.rglob("*")):
        if (p.is_symlink() or not p.is_dir()) and (
            str(p.relative_to(to)) not in wanted
        ):
            p.unlink()


def clone_programs(build, to):
    """A build folder that looks like another, without what is compiled."""
    skip = {".o", ".a", ".d"}
    shutil.rmtree(to, ignore_errors=True)

    def ignored(_folder, names):
        return [n for n in names if pathlib.Path(n).suffix in skip]

    shutil.copytree(
        build, to, symlinks=True, ignore=ignored, copy_function=os.link
    )


class Build:
    """A build folder of the copied sources."""

    def __init__(self, src, folder, *variables):
        self.src, self.folder = src, folder
        self.variables = [f"O={folder}", "KDIRS=", *variables]
        self.compiles, self.links = {}, {}  # by source, by program
        self.included = {}  # names, by source

    def make(self, *words):
        self.folder.mkdir(parents=True, exist_ok=True)
        command = ["make", "-C", str(self.src), *self.variables]
        return run([*command, *words, "tools", "test-tools"])

    def read_recipes(self):
        """How make compiles each source and links each program."""
        text = self.make("-n", "V=1", "-W", f"{self.folder}/flags")
        for line in text.splitlines():
            try:
                words = shlex.split(line)
            except ValueError:
                continue
            if "-o" not in words[:-1]:
                continue
            out = words[words.index("-o") + 1]
            if "-c" in words and words[-1].endswith(".c"):
                self.compiles[words[-1]] = words
            elif any(w.endswith(".o") for w in words):
                self.links[os.path.relpath(out, self.folder)] = words

    def obj(self, name):
        return f"{self.folder}/{name[:-2]}.o"

    def compile(self, name, text, folder, to, unit=None):
        """Compile the source name with another text, below folder: the
        digest of the object or None, and what the compiler says. With unit
        that is compiled, a source that includes the other."""
        source = folder / name
        source.parent.mkdir(parents=True, exist_ok=True)
        source.write_text(text)
        words = [
            w
            for w in self.compiles[unit or name]
            if w not in ("-MMD", "-MP") and not w.startswith("-W")
        ]
        words[words.index("-o") + 1] = str(to)
        words = [f"-I{self.src}" if w == "-I." else w for w in words]
        words[1:1] = ["-w", f"-iquote{(self.src / name).parent}"]
        if unit:
            words[1:1] = [f"-iquote{folder}"]
            words[-1] = str(self.src / unit)
        # The name of the source is in the object: the same one for all.
        done = subprocess.run(
            words,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
        )
        source.unlink()
        if done.returncode:
            return None, done.stderr.decode(errors="replace")
        return digest(pathlib.Path(to).read_bytes()), ""

    def includes(self, path):
        """The names that a source includes, itself or by another one."""
        names, left = set(), [path]
        while left:
            text = (self.src / left.pop()).read_text()
            new = set(re.findall(r'^#include "([^"]+)"', text, re.M)) - names
            names |= new
            left += [n for n in new if (self.src / n).is_file()]
        return names

    def unit_including(self, program, name):
        """The source of a test that includes the source name, or None."""
        unit = f"{program}.c"
        if unit not in self.compiles or not (self.src / unit).is_file():
            return None
        if unit not in self.included:
            self.included[unit] = self.includes(unit)
        return unit if name in self.included[unit] else None

    def programs_with(self, name):
        """The programs that may contain the object of a source."""
        folder = name.split("/")[0]
        either = {self.obj(name), f"{self.folder}/{folder}/{folder}.a"}
        return [p for p, words in self.links.items() if either & set(words)]

    def link(self, program, name, obj, out):
        """Link a program with another object for the source name."""
        words = list(self.links[program])
        words[words.index("-o") + 1] = str(out)
        if self.obj(name) in words:
            words[words.index(self.obj(name))] = obj
        else:
            # In front of the libraries, whose own is not asked for then.
            first = next(i for i, w in enumerate(words) if w.endswith(".a"))
            words.insert(first, obj)
        out.unlink(missing_ok=True)
        done = subprocess.run(
            words,
            cwd=self.src,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
        )
        return done.returncode == 0


# Linked into the build with coverage: nothing is counted of a process that
# ends by _exit, as children of tests do.
GCOV_EXIT = """
void __gcov_dump(void);
void __real__exit(int) __attribute__((noreturn));
void __wrap__exit(int) __attribute__((noreturn));
void __wrap__exit(int status)
{
	__gcov_dump();
	__real__exit(status);
}
"""


class CoverageBuild(Build):
    def __init__(self, src, folder):
        self.helper = folder.parent / "gcov_exit.c"
        super().__init__(
            src,
            folder,
            "CFLAGS=-O0 -g --coverage",
            # Libraries are linked without CFLAGS.
            "LDFLAGS=--coverage -Wl,--wrap=_exit"
            f" {self.helper.with_suffix('.o')}",
        )

    def make(self, *words):
        obj = self.helper.with_suffix(".o")
        if not obj.exists() or self.helper.read_text() != GCOV_EXIT:
            self.helper.write_text(GCOV_EXIT)
            run(["gcc", "-fPIC", "-c", "-o", str(obj), str(self.helper)])
        return super().make(*words)
