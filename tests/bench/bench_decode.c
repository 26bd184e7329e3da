// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * bench_decode: how many samples per second one core takes from a recorded
 * stream in memory to sample files. Prints, asserts nothing.
 *
 *	one image	a program that runs alone
 *	500 images	another task and image for each sample
 *	150 modules	kernel samples, each in another module
 *	stacks		each is counted in a call tree
 *
 * bench_decode CASE ROUNDS makes the files and then takes the case's stream in
 * so often, for tests/bench/instructions.py.
 */

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/context/opd_trans.h"
#include "daemon/opd.h"
#include "daemon/source/opd_stream.h"
#include "daemon/store/opd_session.h"
#include "tests/bench/clock.h"

#define MIN_SECONDS 1.0
#define NR_KEYS 10000 /* distinct offsets with one image */
#define NR_IMAGES 500
#define NR_MODULES 150
#define KEYS_PER_IMAGE 64
#define MODULE_BASE UINT64_C(0xffffffffc0000000)
#define MODULE_SIZE UINT64_C(0x10000)

static const struct opd_source_ops memory_source = {
	.name = "memory",
	.ends = true,
};

/* ---- streams ----------------------------------------------------------------
 */

struct words {
	uint64_t *word;
	size_t nr;
	size_t room;
	uint64_t samples;
};

static void put(struct words *w, uint64_t word)
{
	if (w->nr == w->room) {
		w->room = w->room ? w->room * 2 : 65536;
		w->word = realloc(w->word, w->room * sizeof(word));
		if (!w->word) {
			fprintf(stderr, "bench_decode: out of memory\n");
			exit(1);
		}
	}
	w->word[w->nr++] = word;
}

static void put_record(struct words *w, uint32_t code, unsigned int nr,
		       uint64_t a, uint64_t b)
{
	put(w, OP_ESCAPE);
	put(w, OP_CODE_WORD(code, 0, nr));
	if (nr > 0)
		put(w, a);
	if (nr > 1)
		put(w, b);
}

static void put_sample(struct words *w, uint64_t pc)
{
	put(w, pc);
	put(w, 0);
	w->samples++;
}

/* The same pseudo-random numbers in every run. */
static uint64_t next_random(uint64_t *state)
{
	*state = *state * UINT64_C(6364136223846793005) + 1442695040888963407u;
	return *state >> 33;
}

static void make_one_image(struct words *w)
{
	uint64_t state = 1;

	put_record(w, OP_CPU_SWITCH, 1, 0, 0);
	put_record(w, OP_COOKIE_SWITCH, 1, 1, 0);
	put_record(w, OP_USER_ENTER, 0, 0, 0);
	for (int i = 0; i < 200000; i++)
		put_sample(w, 0x1000 + next_random(&state) % NR_KEYS * 4);
}

static void make_many_images(struct words *w)
{
	uint64_t state = 1;

	put_record(w, OP_CPU_SWITCH, 1, 0, 0);
	for (int i = 0; i < 100000; i++) {
		uint64_t task = next_random(&state) % NR_IMAGES + 1;

		put_record(w, OP_CTX_SWITCH, 2, task, task);
		put_record(w, OP_CTX_TGID, 1, task, 0);
		put_record(w, OP_COOKIE_SWITCH, 1, task, 0);
		put_record(w, OP_USER_ENTER, 0, 0, 0);
		put_sample(w, next_random(&state) % KEYS_PER_IMAGE * 4);
	}
}

static void make_modules(struct words *w)
{
	uint64_t state = 1;

	put_record(w, OP_CPU_SWITCH, 1, 0, 0);
	put_record(w, OP_KERNEL_ENTER, 0, 0, 0);
	for (int i = 0; i < 100000; i++) {
		uint64_t module = next_random(&state) % NR_MODULES;
		uint64_t key = next_random(&state) % KEYS_PER_IMAGE;

		put_sample(w, MODULE_BASE + module * MODULE_SIZE + key * 4);
	}
}

/*
 * Stacks of @depth: which calls which is one of two each time but the last, so
 * that some stacks come often and many are there. The innermost place is any.
 */
static void make_stacks(struct words *w, unsigned int depth)
{
	uint64_t state = 1;

	put_record(w, OP_CPU_SWITCH, 1, 0, 0);
	put_record(w, OP_CTX_SWITCH, 2, 1, 1);
	put_record(w, OP_CTX_TGID, 1, 1, 0);
	put_record(w, OP_USER_ENTER, 0, 0, 0);
	for (int i = 0; i < 20000; i++) {
		uint64_t path = next_random(&state) % 256;

		put_record(w, OP_COOKIE_SWITCH, 1, 2, 0);
		put_record(w, OP_TRACE_BEGIN, 0, 0, 0);
		put_sample(w, 0x1000 + next_random(&state) % NR_KEYS * 4);
		for (unsigned int k = 1; k < depth; k++) {
			if (k % 8 == 0)
				put_record(w, OP_COOKIE_SWITCH, 1, 2 + k / 8,
					   0);
			put(w, 0x2001 + k * 64 + (path >> (k % 8) & 1) * 16);
			put(w, 0);
		}
		put_record(w, OP_TRACE_END, 1, OP_TRACE_WHOLE, 0);
	}
}

static void make_stacks_8(struct words *w)
{
	make_stacks(w, 8);
}

static void make_stacks_32(struct words *w)
{
	make_stacks(w, 32);
}

static void make_stacks_64(struct words *w)
{
	make_stacks(w, 64);
}

/* ---- running ----------------------------------------------------------------
 */

/* As the daemon reads it: in chunks, of which the rest is moved. */
static void feed(struct opd *opd, const struct words *w)
{
	size_t at = 0;

	while (at < w->nr) {
		size_t nr = w->nr - at;

		if (nr > OPD_CHUNK_WORDS)
			nr = OPD_CHUNK_WORDS;
		at += opd_trans_run(opd, w->word + at, nr);
	}
}

static void name_images(struct opd *opd)
{
	const struct op_build_id none = { 0, { 0 } };
	struct op_cookie_query query = { .cookie = 0 };
	char module[32];

	for (uint64_t i = 1; i <= NR_IMAGES; i++) {
		query.cookie = i;
		snprintf(query.path, sizeof(query.path), "/usr/bin/program-%d",
			 (int)i);
		opd_cookie_learn(&opd->cookies, &query);
	}
	for (uint64_t i = 0; i < NR_MODULES; i++) {
		uint64_t start = MODULE_BASE + i * MODULE_SIZE;

		snprintf(module, sizeof(module), "module_%d", (int)i);
		opd_kernel_add(&opd->kernel, module, start, start + MODULE_SIZE,
			       &none);
	}
}

static int start(struct opd *opd, const char *dir, bool separate)
{
	struct op_diag diag = { "" };
	int err;

	opd_init(opd);
	opd->source.ops = &memory_source;
	snprintf(opd->source.name, sizeof(opd->source.name), "memory");
	opd->options.separate_lib = separate;
	opd_events_timer(&opd->options.events);
	err = op_session_init(&opd->session, dir, &diag);
	if (!err)
		err = opd_session_make(&opd->session, NULL, &diag);
	if (!err)
		err = opd_setup(opd, &diag);
	if (err) {
		fprintf(stderr, "bench_decode: %s\n", diag.text);
		return err;
	}
	name_images(opd);
	return 0;
}

static int remove_one(const char *path, const struct stat *st, int type,
		      struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

static const struct bench_case {
	const char *name;
	void (*make)(struct words *w);
	bool separate;
} cases[] = {
	{ "one image", make_one_image, false },
	{ "500 images", make_many_images, false },
	{ "500 images, --separate=lib", make_many_images, true },
	{ "150 modules", make_modules, false },
	{ "stacks of 8 frames", make_stacks_8, true },
	{ "stacks of 32 frames", make_stacks_32, true },
	{ "stacks of 64 frames", make_stacks_64, true },
};
#define NR_CASES (sizeof(cases) / sizeof(*cases))

/* The stream @rounds times, or for MIN_SECONDS if that is negative. */
static int bench(const struct bench_case *c, long rounds)
{
	struct opd *opd = malloc(sizeof(*opd));
	struct words w = { .nr = 0 };
	char dir[] = "/dev/shm/bench-decode-XXXXXX";
	double from, took = 0;
	uint64_t taken = 0;
	long done = 0;
	int err = -1;

	if (!opd || !mkdtemp(dir)) {
		perror("bench_decode: /dev/shm");
		goto out;
	}
	c->make(&w);
	err = start(opd, dir, c->separate);
	if (!err)
		feed(opd, &w); /* files are made and grow */
	from = seconds();
	while (!err && (rounds < 0 ? took < MIN_SECONDS : done < rounds)) {
		feed(opd, &w);
		done++;
		took = seconds() - from;
	}
	taken = (uint64_t)done * w.samples;
	if (!err && opd->stats.stored != taken + w.samples)
		err = fprintf(stderr, "bench_decode: samples were lost\n");
	if (!err && rounds < 0)
		printf("decode, %-28s %7.1f million samples/s, %.3f us each\n",
		       c->name, (double)taken / took / 1e6,
		       took * 1e6 / (double)taken);
	opd_release(opd);
	nftw(dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
out:
	free(w.word);
	free(opd);
	return err;
}

int main(int argc, char **argv)
{
	long rounds = argc > 2 ? strtol(argv[2], NULL, 10) : -1;
	int err = 0;

	for (size_t i = 0; !err && i < NR_CASES; i++)
		if (argc < 2 || !strcmp(cases[i].name, argv[1]))
			err = bench(&cases[i], rounds);
	return err ? 1 : 0;
}
