# SPDX-License-Identifier: GPL-2.0-or-later
"""One of the programs of tests/languages/run. alpha is a method, beta has a dictionary
and a generator, gamma libraries of C and a sort by a function."""

import hashlib
import json
import sys
import time


def leaf_hash(x, n):
    for _ in range(n):
        x ^= (x << 13) & 0xFFFFFFFF
        x = x ^ x >> 7
        x ^= (x << 17) & 0xFFFFFFFF
    return x


class Shape:
    def __init__(self, k):
        self.k = k

    def alpha(self, x):
        return sum((leaf_hash(x + i, 4000) for i in range(6)), self.k)


def leaf_count(x):
    counts = {}
    for i in range(4000):
        key = f"k{(x + i * 7919) % 1500}"
        counts[key] = counts.get(key, 0) + i
    return len(counts)


def beta(x):
    return sum(leaf_count(x + i) for i in range(2))


ZEROS = bytes(1000000)


def negative(x):
    return -x


def gamma(x):
    digest = hashlib.sha1(ZEROS).digest()
    values = [(i * 2654435761 + x) % 65537 for i in range(5000)]
    values.sort(key=negative)
    return digest[0] + len(json.dumps(values[:2000]))


def main(end):
    parts = (Shape(3).alpha, beta, gamma)
    spent = [0, 0, 0]
    total, rounds = 1, 0
    while time.process_time() < end:
        for i, part in enumerate(parts):
            begun = time.thread_time()
            total = total + part(total) & 0xFFFFFFFF
            spent[i] += time.thread_time() - begun
        rounds += 1
    print("sum", total)
    print("alpha %f beta %f gamma %f" % tuple(spent), end=" ")
    print("cpu %f rounds %d" % (time.process_time(), rounds))


main(float(sys.argv[1]) if len(sys.argv) > 1 else 1)
