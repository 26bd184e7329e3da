// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * bench_odb [FOLDER]: how fast libdb counts, for the patterns that keys come
 * in, and what each key costs in bytes. The last pattern is random keys: a
 * hash without blind spots makes the others look like it.
 *
 * The file lies in FOLDER, /dev/shm by default, so that no disk is measured.
 *
 * bench_odb PATTERN KEYS UPDATES adds so many keys and then counts so often,
 * for tests/bench/instructions.py.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libdb/odb.h"
#include "tests/bench/clock.h"

#define UPDATES 20000000
#define ROUNDS 3
#define MAX_KEYS 1000000

static char path[4096];
static uint64_t keys[MAX_KEYS];

static void die(const char *what, int err)
{
	fprintf(stderr,
		"bench_odb: %s: %s: %s; give a folder on a disk with room\n",
		path, what, strerror(-err));
	unlink(path);
	exit(1);
}

/* xorshift64*: the same numbers in each run. */
static uint64_t random_u64(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * UINT64_C(2685821657736338717);
}

/* ---- patterns: the key after @last, @i counts from 0 --------------------- */

static uint64_t instructions(uint64_t i, uint64_t last, uint64_t *state)
{
	return i ? last + 1 + random_u64(state) % 8 : 0x1000;
}

static uint64_t aligned(uint64_t i, uint64_t last, uint64_t *state)
{
	(void)last;
	(void)state;
	return 0x1000 + i * 16;
}

static uint64_t pages(uint64_t i, uint64_t last, uint64_t *state)
{
	(void)last;
	(void)state;
	return i * 4096;
}

static uint64_t arcs(uint64_t i, uint64_t last, uint64_t *state)
{
	(void)last;
	(void)state;
	return (0x1000 + i / 8 * 5) << 32 | (0x4000 + i % 1024 * 16);
}

static uint64_t aligned_arcs(uint64_t i, uint64_t last, uint64_t *state)
{
	(void)last;
	(void)state;
	return (i / 100 * 64) << 32 | (i % 100 * 64);
}

static uint64_t self_arcs(uint64_t i, uint64_t last, uint64_t *state)
{
	(void)last;
	(void)state;
	return (0x1000 + i * 4) << 32 | (0x1000 + i * 4);
}

static uint64_t low_bits(uint64_t i, uint64_t last, uint64_t *state)
{
	(void)last;
	(void)state;
	return i;
}

static uint64_t high_bits(uint64_t i, uint64_t last, uint64_t *state)
{
	(void)last;
	(void)state;
	return i << 44;
}

static uint64_t descending(uint64_t i, uint64_t last, uint64_t *state)
{
	(void)i;
	return (last ? last : UINT64_MAX) - 1 - random_u64(state) % 8;
}

static uint64_t any(uint64_t i, uint64_t last, uint64_t *state)
{
	(void)i;
	(void)last;
	return random_u64(state);
}

static const struct pattern {
	const char *name;
	uint64_t (*next)(uint64_t i, uint64_t last, uint64_t *state);
} patterns[] = {
	{ "instructions", instructions }, { "16-byte aligned", aligned },
	{ "page-strided", pages },	  { "arcs", arcs },
	{ "aligned arcs", aligned_arcs }, { "self arcs", self_arcs },
	{ "low bits only", low_bits },	  { "high bits only", high_bits },
	{ "descending", descending },	  { "random", any },
};

#define NR_PATTERNS (sizeof(patterns) / sizeof(*patterns))

/* ---- measuring ----------------------------------------------------------- */

static void make_keys(const struct pattern *pattern, size_t n)
{
	uint64_t state = 88172645463325252;
	uint64_t last = 0;

	for (size_t i = 0; i < n; i++)
		keys[i] = last = pattern->next(i, last, &state);
}

/* Another order each time, lest the processor learns one. */
static void shuffle(size_t n)
{
	static uint64_t state = 1181783497276652981;

	for (size_t i = n - 1; i > 0; i--) {
		size_t j = random_u64(&state) % (i + 1);
		uint64_t key = keys[i];

		keys[i] = keys[j];
		keys[j] = key;
	}
}

static struct odb *open_new(void)
{
	struct odb *odb;
	int err;

	unlink(path);
	err = odb_open(&odb, path, ODB_RDWR);
	if (err)
		die("cannot create", err);
	return odb;
}

static void add_all(struct odb *odb, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		int err = odb_add(odb, keys[i], 1);

		if (err)
			die("cannot add", err);
	}
}

/* Million calls a second, the best of some rounds. */
static double update_rate(struct odb *odb, size_t n, bool shuffled)
{
	double best = 0;

	for (int round = 0; round < ROUNDS; round++) {
		double took = 0;

		for (size_t done = 0; done < UPDATES; done += n) {
			double start;

			if (shuffled)
				shuffle(n);
			start = seconds();
			add_all(odb, n);
			took += seconds() - start;
		}
		if (UPDATES / took > best)
			best = UPDATES / took;
	}
	return best / 1e6;
}

/* Milliseconds to open @path as it is. */
static double open_time(enum odb_mode mode)
{
	double best = 1e9;

	for (int round = 0; round < ROUNDS; round++) {
		double start = seconds();
		struct odb *odb;
		int err = odb_open(&odb, path, mode);

		if (err)
			die("cannot open", err);
		start = seconds() - start;
		if (start < best)
			best = start;
		odb_close(odb);
	}
	return best * 1e3;
}

static void measure(const struct pattern *pattern, size_t n)
{
	struct odb *odb = open_new();
	double insert, ordered, shuffled, start;
	struct odb_stat stat;

	make_keys(pattern, n);
	start = seconds();
	add_all(odb, n);
	insert = (double)n / (seconds() - start) / 1e6;
	ordered = update_rate(odb, n, false);
	shuffled = update_rate(odb, n, true);
	odb_stat(odb, &stat);
	odb_close(odb);
	printf("%-16s %8zu %9.1f %9.1f %9.1f %7.1f %6.2f %8" PRIu64
	       " %8.2f %8.2f\n",
	       pattern->name, n, ordered, shuffled, insert,
	       (double)stat.file_len / (double)n, stat.mean_probe,
	       stat.longest_probe, open_time(ODB_RDONLY), open_time(ODB_RDWR));
}

static void count_once(const char *name, size_t nr, size_t updates)
{
	const struct pattern *pattern = patterns;
	struct odb *odb = open_new();

	while (strcmp(pattern->name, name))
		if (++pattern == patterns + NR_PATTERNS)
			die(name, -EINVAL);
	if (!nr || nr > MAX_KEYS)
		die("number of keys", -ERANGE);
	make_keys(pattern, nr);
	add_all(odb, nr);
	for (size_t done = 0; done < updates; done += nr)
		add_all(odb, updates - done < nr ? updates - done : nr);
	odb_close(odb);
}

int main(int argc, char **argv)
{
	static const size_t sizes[] = { 10000, MAX_KEYS };
	const char *folder = argc == 2 ? argv[1] : "/dev/shm";

	snprintf(path, sizeof(path), "%s/bench_odb.%d", folder, (int)getpid());
	if (argc == 4) {
		count_once(argv[1], strtoul(argv[2], NULL, 10),
			   strtoul(argv[3], NULL, 10));
		unlink(path);
		return 0;
	}
	printf("odb_add() of %d keys a row, best of %d; millions a second; bytes of file for each key;\n"
	       "slots looked at for a key; milliseconds for odb_open() to read and to write\n",
	       UPDATES, ROUNDS);
	printf("%-16s %8s %9s %9s %9s %7s %6s %8s %8s %8s\n", "pattern", "keys",
	       "in order", "shuffled", "new keys", "bytes", "mean", "longest",
	       "open r", "open w");
	for (size_t s = 0; s < sizeof(sizes) / sizeof(*sizes); s++) {
		for (size_t i = 0; i < NR_PATTERNS; i++)
			measure(&patterns[i], sizes[s]);
	}
	unlink(path);
	return 0;
}
