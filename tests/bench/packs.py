#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""packs.py RECORDING SECONDS ROUNDS OPTION...

Replays a recorded stream (oprofiled --record) ROUNDS times, in SECONDS each
time, into one session, and prints what the session takes on the disk. A process
that does not live throughout the recording is another one in each round. The
options go to oprofiled. doc/packs.md has figures that this made.
"""

import array
import os
import resource
import shutil
import struct
import subprocess
import sys
import tempfile
import threading
import time

ESCAPE = 2**64 - 1
CTX_SWITCH, CTX_TGID, TRACE_BEGIN, TRACE_END = 1, 7, 8, 9
NEW_PID = 200000  # added to numbers of processes and threads, each round
STEPS = 12  # pieces of a round
TABLE_MAGIC = b"\211ODB"


class Recording:
    """Words, and the places of thread and process numbers in them."""

    def __init__(self, path):
        self.words = array.array("Q")
        data = open(path, "rb").read()
        self.words.frombytes(data[: len(data) // 8 * 8])
        self.samples = 0
        self.tids, self.tgids = [], []
        self.read_places()
        self.choose_short_lived()

    def read_places(self):
        words, at, in_trace = self.words, 0, False
        while at + 1 < len(words):
            if words[at] != ESCAPE:
                self.samples += not in_trace
                at += 2
                continue
            code = words[at + 1] & 0xFFFF
            if code == CTX_SWITCH:
                self.tids.append(at + 2)
            elif code == CTX_TGID:
                self.tgids.append(at + 2)
            elif code == TRACE_BEGIN:
                in_trace = True
                self.samples += 1
            elif code == TRACE_END:
                in_trace = False
            at += 2 + (words[at + 1] >> 32)

    def choose_short_lived(self):
        first, last = {}, {}
        for at in self.tgids:
            first.setdefault(self.words[at], at)
            last[self.words[at]] = at
        end = len(self.words)
        long_lived = {0} | {
            t for t in first if first[t] < end * 0.1 and last[t] > end * 0.9
        }
        tgid_of, tgids = {}, iter(self.tgids)
        tgid = next(tgids, end)
        for at in self.tids:
            while tgid < at:
                tgid = next(tgids, end)
            tgid_of[at] = self.words[tgid] if tgid < end else 0
        self.tids = [at for at in self.tids if tgid_of[at] not in long_lived]
        self.tgids = [at for at in self.tgids if self.words[at] not in long_lived]

    def bytes_of(self, nr):
        words = array.array("Q", self.words)
        for at in self.tids + self.tgids:
            words[at] += NEW_PID * nr
        return words.tobytes()


def measure(folder):
    """Bytes of blocks, files, folders."""
    size = files = folders = 0
    for top, _, names in os.walk(folder):
        folders += 1
        for path in [top] + [os.path.join(top, name) for name in names]:
            try:
                size += os.lstat(path).st_blocks * 512
            except OSError:
                pass
        files += len(names)
    return size, files, folders


def power_of_two_table(keys, first):
    size = first
    while (size - 256) // 16 * 3 // 4 < keys:
        size *= 2
    return size


def print_other_designs(folder):
    """What the loose tables would take if small ones were made otherwise."""
    keys, lens, names = [], [], 0
    for top, _, files in os.walk(folder):
        for name in files:
            path = os.path.join(top, name)
            with open(path, "rb") as file:
                head = file.read(64)
            if head[:4] == TABLE_MAGIC:
                keys.append(struct.unpack_from("Q", head, 32)[0])
                lens.append(os.path.getsize(path))
                names += len(path) - len(folder)
    keys_sorted = sorted(keys)
    if not keys:
        return
    print(f"{len(keys)} tables, keys: median {keys_sorted[len(keys) // 2]}, "
          f"90 % {keys_sorted[len(keys) * 9 // 10]}, most {keys_sorted[-1]}")
    new = [min(power_of_two_table(n, 1024), old) for n, old in zip(keys, lens)]
    blocks = sum((size + 4095) // 4096 * 4096 for size in new)
    print(f"first tables of 1 KiB: {sum(new) / 1e6:.2f} MB long, "
          f"{blocks / 1e6:.2f} MB of blocks")
    new = [power_of_two_table(n, 512) for n in keys]
    small = sum(size for size in new if size <= 2048)
    other = sum(old for size, old in zip(new, lens) if size > 2048)
    print(f"tables of up to 2 KiB in one file: {small / 1e6:.2f} MB, "
          f"names {names / 1e6:.2f} MB, other files {other / 1e6:.2f} MB")


class Watch(threading.Thread):
    """The most that there is at a time, looked at once a second."""

    def __init__(self, folder, pid):
        super().__init__(daemon=True)
        self.folder, self.pid = folder, pid
        self.most = [0, 0, 0, 0]
        self.ended = threading.Event()

    def mappings(self):
        try:
            with open(f"/proc/{self.pid}/maps", encoding="utf-8") as maps:
                return sum("/samples/" in line for line in maps)
        except OSError:
            return 0

    def run(self):
        while not self.ended.wait(1):
            now = list(measure(self.folder)) + [self.mappings()]
            self.most = [max(a, b) for a, b in zip(self.most, now)]


def feed(recording, pipe, seconds, rounds, already):
    start = time.time()
    for nr in range(rounds):
        data = recording.bytes_of(nr)[0 if nr else already :]
        for step in range(STEPS):
            piece = memoryview(data)[len(data) * step // STEPS :
                                     len(data) * (step + 1) // STEPS]
            while piece:
                piece = piece[os.write(pipe, piece[:65536]) :]
            rest = start + (nr + (step + 1) / STEPS) * seconds - time.time()
            time.sleep(max(rest, 0))


def main():
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    recording = Recording(sys.argv[1])
    seconds, rounds = float(sys.argv[2]), int(sys.argv[3])
    session = tempfile.mkdtemp(prefix="packs.")
    current = session + "/samples/current"
    daemon = os.environ.get("O", "build") + "/bin/oprofiled"
    output, pipe = os.pipe()
    # The daemon reads the beginning before anything else. A read that waits
    # for more would keep it from its timers.
    os.set_blocking(output, False)
    child = None
    try:
        first = recording.bytes_of(0)[:4096]
        os.write(pipe, first)
        child = subprocess.Popen(
            [daemon, "--foreground", f"--session-dir={session}",
             "--source=file:-", *sys.argv[4:]], stdin=output)
        os.close(output)
        watch = Watch(current, child.pid)
        watch.start()
        feed(recording, pipe, seconds, rounds, len(first))
        os.close(pipe)
        start = time.time()
        child.wait()
        end = time.time() - start
        watch.ended.set()
        watch.join()
        size, files, folders = measure(current)
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        samples = recording.samples * rounds
        print(f"{samples} samples; most: {watch.most[0] / 1e6:.2f} MB, "
              f"{watch.most[1]} files, {watch.most[3]} mappings")
        print(f"at the end: {size / 1e6:.2f} MB, {size / samples:.2f} bytes a "
              f"sample, {files} files, {folders} folders, after {end:.1f} s")
        print(f"CPU time: {used.ru_utime + used.ru_stime:.1f} s")
        print_other_designs(current)
    finally:
        if child and child.poll() is None:
            child.kill()
        shutil.rmtree(session)


main()
