#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What events AMD IBS samples are, written from the manuals' bit definitions
(BKDG of families 10h to 15h, PPR of 17h and 19h) and from nothing of ours.

  ibs_model.py make N SEED [FAMILY]  N random samples, one per line:
                                     KIND PC CPU REGISTER...
  ibs_model.py stream < samples      the same as lines for mkstream
  ibs_model.py feed FILE BASE < samples
                                     write them to the test module's FILE,
                                     in the kernel at BASE + PC; with BASE
                                     "self" in this program's own code,
                                     "late" as if they were seen when it
                                     is in the kernel already
  ibs_model.py count [NAME...] < samples
                                     NAME PC COUNT, sorted; of all events
                                     or those that are named; and how many
                                     samples are stored, without any of them,
                                     and without an address as
                                     "fates STORED NONE INVALID"
"""

import os
import random
import struct
import sys

PLACES = 64
RIP_INVALID_CAP = 1 << 7
FETCH_EXT_CAP = 1 << 9
TARGET_CAP = 1 << 5
DATA4_CAP = 1 << 10

CAPS = {0x10: 0x87, 0x12: 0x7f, 0x14: 0x7f, 0x15: 0x1ff, 0x17: 0x3ff,
        0x19: 0xfff}


def bit(reg, n):
    return reg >> n & 1


def field(reg, low, high):
    return reg >> low & ((1 << (high - low + 1)) - 1)


def fetch_events(sample):
    """Yields (name, count) of a fetch."""
    ctl = sample['ctl']
    comp, ic_miss, phys = bit(ctl, 50), bit(ctl, 51), bit(ctl, 52)
    page = field(ctl, 53, 54)
    l1, l2 = bit(ctl, 55), bit(ctl, 56)
    yield 'FETCH_ALL', 1
    if not (comp or ic_miss or phys or l1 or l2):
        yield 'FETCH_KILLED', 1
        return
    yield 'FETCH_ATTEMPTED', 1
    yield ('FETCH_COMPLETED' if comp else 'FETCH_ABORTED'), 1
    if phys and not l1:
        yield 'FETCH_ITLB_HITS', 1
    if l1:
        yield ('FETCH_L1_ITLB_MISSES_L2_ITLB_MISSES' if l2 else
               'FETCH_L1_ITLB_MISSES_L2_ITLB_HITS'), 1
    if ic_miss:
        yield 'FETCH_ICACHE_MISSES', 1
    elif comp:
        yield 'FETCH_ICACHE_HITS', 1
    if phys and page < 3:
        yield 'FETCH_%s_PAGE' % ('4K', '2M', '1G')[page], 1
    yield 'FETCH_LATENCY', field(ctl, 32, 47)
    if comp and bit(ctl, 58):
        yield 'FETCH_L2_MISSES', 1
    if comp and bit(ctl, 61):
        yield 'FETCH_L3_MISSES', 1
    if bit(ctl, 60):
        yield 'FETCH_OP_CACHE_MISSES', 1
    if l1:
        yield 'FETCH_ITLB_REFILL_LAT', field(sample.get('ext', 0), 0, 15)


def branch_events(data):
    if not bit(data, 37):
        return
    returns, taken, missed = bit(data, 34), bit(data, 35), bit(data, 36)
    yield 'BRANCH_RETIRED'
    if missed:
        yield 'MISPREDICTED_BRANCH'
    if taken:
        yield 'TAKEN_BRANCH'
    if missed and taken:
        yield 'MISPREDICTED_BRANCH_TAKEN'
    if returns:
        yield 'RETURNS'
    if returns and missed:
        yield 'MISPREDICTED_RETURNS'
    if bit(data, 39):
        yield 'FUSED_BRANCH'


def tlb_events(d):
    """Of a load or store with a valid linear address."""
    if not bit(d, 17):
        return
    l1_miss, l2_miss = bit(d, 2), bit(d, 3)
    if not l1_miss:
        yield 'L1_DTLB_HITS'
        size = '2M' if bit(d, 4) else '1G' if bit(d, 5) else '4K'
        yield 'L1_DTLB_' + size
    elif l2_miss:
        yield 'L1_L2_DTLB_MISS'
    else:
        yield 'L1_DTLB_MISS_L2_DTLB_HIT'
        size = '2M' if bit(d, 6) else '1G' if bit(d, 19) else '4K'
        yield 'L2_DTLB_' + size


def memory_events(d):
    load, store = bit(d, 0), bit(d, 1)
    if not load and not store:
        return
    yield 'ALL_LOAD_STORE', 1
    if load:
        yield 'LOAD', 1
    if store:
        yield 'STORE', 1
    for name in tlb_events(d):
        yield name, 1
    yield ('DATA_CACHE_MISS' if bit(d, 7) else 'DATA_HITS'), 1
    for number, name, needs in (
            (8, 'MISALIGNED_DATA_ACC', 1), (9, 'BANK_CONF_LOAD', 1),
            (10, 'BANK_CONF_STORE', 1), (11, 'FORWARD', load),
            (12, 'CANCELLED', load), (13, 'DCWC_MEM_ACC', 1),
            (14, 'DCUC_MEM_ACC', 1), (15, 'LOCKED', 1), (16, 'MAB_HIT', 1),
            (16, 'DC_MISS_NO_MAB', 1),
            (20, 'L2_MISS', load), (21, 'SOFTWARE_PREFETCH', 1)):
        if bit(d, number) and needs:
            yield name, 1
    if load and bit(d, 7):
        yield 'DC_LOAD_LAT', field(d, 32, 47)
        yield 'OPEN_REQUESTS', field(d, 26, 31)
    if bit(d, 17) and bit(d, 2):
        yield 'DTLB_REFILL_LAT', field(d, 48, 63)


def source_events(d2, d3):
    """Of a load that missed the data cache."""
    if not bit(d3, 0) or not bit(d3, 7):
        return
    long_source = field(d2, 0, 2) | field(d2, 6, 7) << 3
    remote = bit(d2, 4)
    later = {1: 'SAME_CCX', 2: 'NEAR_CCX', 5: 'FAR_CCX', 6: 'PERSISTENT',
             7: 'MMIO', 8: 'EXTENSION', 12: 'PEER'}
    if long_source == 3:
        yield 'SOURCE_REMOTE_MEMORY' if remote else 'SOURCE_MEMORY', 1
    elif long_source in later:
        yield 'SOURCE_' + later[long_source], 1
    source = field(d2, 0, 2)
    if not source:
        return
    where = 'REMOTE' if remote else 'LOCAL'
    yield 'NB_%s_ONLY' % where, 1
    yield 'NB_%s_CACHE_LAT' % where, field(d3, 32, 47)
    if source == 1 and not remote:
        yield 'NB_LOCAL_L3', 1
    for number, name in (2, 'CACHE'), (3, 'DRAM'), (7, 'OTHER'):
        if source == number:
            yield 'NB_%s_%s' % (where, name), 1
    if source == 2:
        yield 'NB_CACHE_OWNED' if bit(d2, 5) else 'NB_CACHE_MODIFIED', 1
        yield 'SOURCE_LOCAL_CACHE', 1
    if source == 3:
        yield 'SOURCE_REMOTE_DRAM' if remote else 'SOURCE_DRAM', 1
    if source == 4:
        yield 'SOURCE_REMOTE_CACHE', 1
    if source == 7:
        yield 'SOURCE_IO', 1


def without(reg, *bits):
    for number in bits:
        reg &= ~(1 << number)
    return reg


def op_events(sample):
    data, d2, d3 = sample['data'], sample['data2'], sample['data3']
    if sample['family'] in (0x12, 0x14):
        d2 = without(d2, 4, 5)
    if sample['family'] == 0x14:
        d3 = without(d3, 5, 9, 10, 12, 19)
    yield 'OP_ALL', 1
    yield 'OP_COMP_TO_RET', field(data, 0, 15)
    yield 'OP_TAG_TO_RETIRE', field(data, 16, 31)
    if bit(data, 32):
        yield 'OP_RESYNC', 1
    if bit(data, 40):
        yield 'OP_MICROCODE', 1
    for name in branch_events(data):
        yield 'OP_' + name, 1
    for name, count in memory_events(d3):
        yield 'OP_' + name, count
    for name, count in source_events(d2, d3):
        yield 'OP_' + name, count


def has_no_address(sample):
    return (sample['kind'] == 'op' and sample['family'] != 0x10 and
            sample['caps'] & RIP_INVALID_CAP and bit(sample['data'], 38))


def events(sample):
    """{name: count} of a sample, without what is zero."""
    found = {}
    if not has_no_address(sample):
        derive = fetch_events if sample['kind'] == 'fetch' else op_events
        for name, count in derive(sample):
            if count:
                found['IBS_' + name] = found.get('IBS_' + name, 0) + count
    return found


def registers(kind, caps):
    if kind == 'fetch':
        return ['ctl', 'lin', 'phys'] + ['ext'] * bool(caps & FETCH_EXT_CAP)
    return (['ctl', 'rip', 'data', 'data2', 'data3', 'lin', 'phys'] +
            ['target'] * bool(caps & TARGET_CAP) +
            ['data4'] * bool(caps & DATA4_CAP))


def read_samples(file):
    for line in file:
        words = line.split()
        cpu = int(words[2], 16)
        sample = {'kind': words[0], 'pc': words[1],
                  'caps': cpu & 0xffffffff, 'family': cpu >> 32}
        names = registers(sample['kind'], sample['caps'])
        sample.update(zip(names, (int(word, 16) for word in words[3:])))
        yield sample


def own_code():
    """Start and file offset of code of this program."""
    with open('/proc/self/maps') as maps:
        for line in maps:
            words = line.split()
            if 'x' in words[1] and words[-1].startswith('/'):
                if os.path.samefile(words[-1], '/proc/self/exe'):
                    start = int(words[0].split('-')[0], 16)
                    return start - int(words[2], 16)
    sys.exit('no code of this program')


def feed(path, base):
    """struct op_test_ibs of tests/module/op_test_provider.c"""
    is_user = {'self': 1, 'late': 2}.get(base, 0)
    base = own_code() if is_user else int(base, 16)
    records = []
    for line in sys.stdin:
        words = line.split()
        cpu, regs = int(words[2], 16), [int(word, 16) for word in words[3:]]
        raw = struct.pack('<I%dQ' % len(regs), cpu & 0xffffffff, *regs)
        records.append(struct.pack('<QIHHI76s', base + int(words[1], 16),
                                   cpu >> 32, words[0] == 'op', is_user,
                                   len(raw), raw))
    file = os.open(path, os.O_WRONLY)
    for i in range(0, len(records), 1000):
        os.write(file, b''.join(records[i:i + 1000]))
    os.close(file)


def random_bits(rng, *likely):
    """Any bits, but in two of three registers with some mostly set: what is
    rare at random is what hardware tells all day."""
    reg = rng.getrandbits(64)
    if rng.randrange(3):
        for number, percent in likely:
            on = rng.randrange(100) < percent
            reg = reg | 1 << number if on else reg & ~(1 << number)
    return reg


def make_sample(rng, family):
    kind = rng.choice(('fetch', 'op', 'op'))
    caps = CAPS[family]
    regs = {name: rng.getrandbits(48) for name in registers(kind, caps)}
    if kind == 'fetch':
        likely = [(50, 70), (51, 20), (52, 70), (54, 10), (55, 30), (56, 40)]
        if rng.randrange(8) == 0:
            likely = [(n, 0) for n in (50, 51, 52, 55, 56)]
        regs['ctl'] = random_bits(rng, *likely)
    else:
        regs['data'] = random_bits(rng, (37, 60), (38, 5), (34, 30))
        regs['data2'] = random_bits(rng, (4, 30), (6, 10), (7, 10))
        regs['data3'] = random_bits(rng, (0, 60), (1, 40), (7, 70), (17, 90),
                                    (2, 40), (3, 30))
    words = [family << 32 | caps] + list(regs.values())
    print(kind, '0x%x' % (0x1000 + 16 * rng.randrange(PLACES)),
          *('0x%x' % word for word in words))


def count_all(wanted):
    sums = {}
    stored = none = invalid = 0
    for sample in read_samples(sys.stdin):
        found = [(name, count) for name, count in events(sample).items()
                 if not wanted or name in wanted]
        for name, count in found:
            key = name, sample['pc']
            sums[key] = sums.get(key, 0) + count
        if has_no_address(sample):
            invalid += 1
        elif found:
            stored += 1
        else:
            none += 1
    print('fates', stored, none, invalid)
    for (name, place), count in sorted(sums.items()):
        print(name, place, count)


def main(argv):
    mode, args = argv[1], argv[2:]
    if mode == 'make':
        rng = random.Random(int(args[1]))
        for _ in range(int(args[0])):
            make_sample(rng, int(args[2], 16) if len(args) > 2 else
                        rng.choice(sorted(CAPS)))
    elif mode == 'stream':
        for line in sys.stdin:
            print('ibs-' + line, end='')
    elif mode == 'feed':
        feed(*args)
    elif mode == 'count':
        count_all(args)
    else:
        sys.exit(__doc__)


if __name__ == '__main__':
    main(sys.argv)
