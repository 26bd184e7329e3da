// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * bench_ctree [FOLDER]: what a stack costs in a call tree, in nanoseconds and
 * in bytes. The stacks are those of a random program: functions with a few
 * callees each, most of them rare.
 *
 * The file lies in FOLDER, /dev/shm by default, so that no disk is measured.
 *
 * bench_ctree DEPTH STACKS counts so many stacks, for
 * tests/bench/instructions.py.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libdb/ctree.h"
#include "tests/bench/clock.h"

#define FUNCTIONS 2000
#define CALLEES 4
#define STACKS 200000
#define MAX_STACKS 100000000
#define MAX_DEPTH 64
#define MAX_IMAGES 20

static char path[4096];

struct program {
	uint32_t images[MAX_IMAGES];
	uint16_t callees[FUNCTIONS][CALLEES];
};

static void check(int err, const char *what)
{
	if (!err)
		return;
	fprintf(stderr,
		"bench_ctree: %s: %s: %s; give a folder on a disk with room\n",
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

static void make_program(struct program *p, struct ctree *tree)
{
	uint64_t state = 88172645463325252;

	for (uint32_t i = 0; i < MAX_IMAGES; i++)
		check(ctree_image(tree, (char[]){ 'a', (char)('a' + i) }, 2,
				  &p->images[i]),
		      "cannot add an image");
	for (size_t i = 0; i < FUNCTIONS; i++)
		for (size_t j = 0; j < CALLEES; j++)
			p->callees[i][j] =
				(uint16_t)(random_u64(&state) % FUNCTIONS);
}

/* The first callee is called in three of four cases, and so on. */
static uint16_t pick_callee(const struct program *p, uint16_t function,
			    uint64_t *state)
{
	uint64_t bits = random_u64(state) >> 32;
	size_t i = 0;

	while (i < CALLEES - 1 && !(bits >> 2 * i & 3))
		i++;
	return p->callees[function][i];
}

static void add_stack(const struct program *p, struct ctree *tree,
		      unsigned int depth, uint64_t *state)
{
	uint32_t node = CTREE_ROOT;
	uint16_t function = 0;

	for (unsigned int i = 0; i < depth; i++) {
		check(ctree_child(tree, node, p->images[function % MAX_IMAGES],
				  function * 64, &node),
		      "cannot add a node");
		function = pick_callee(p, function, state);
	}
	check(ctree_add(tree, node, 1), "cannot count");
}

/* Nanoseconds for each of @nr stacks, which @state makes the same again. */
static double add_stacks(const struct program *p, struct ctree *tree,
			 unsigned int depth, unsigned long nr)
{
	uint64_t state = 1181783497276652981;
	double start = seconds();

	for (unsigned long i = 0; i < nr; i++)
		add_stack(p, tree, depth, &state);
	return (seconds() - start) / (double)nr * 1e9;
}

/* Milliseconds to open the file. */
static double open_time(enum odb_mode mode)
{
	struct ctree *tree = NULL;
	double start = seconds();

	check(ctree_open(&tree, path, mode), "cannot open");
	start = seconds() - start;
	ctree_close(tree);
	return start * 1e3;
}

static struct ctree *open_new(struct program *program)
{
	struct ctree *tree = NULL;

	unlink(path);
	check(ctree_open(&tree, path, ODB_RDWR), "cannot create");
	make_program(program, tree);
	return tree;
}

static void bench(unsigned int depth)
{
	static struct program program;
	struct ctree *tree = open_new(&program);
	double new, again;
	struct stat st;

	new = add_stacks(&program, tree, depth, STACKS);
	again = add_stacks(&program, tree, depth, STACKS);
	ctree_close(tree);
	if (stat(path, &st))
		exit(1);
	printf("%5u %10.0f %10.0f %12.1f %10.1f %10.1f\n", depth, new, again,
	       (double)st.st_size / (2.0 * STACKS), open_time(ODB_RDONLY),
	       open_time(ODB_RDWR));
	unlink(path);
}

static void count_once(unsigned long depth, unsigned long nr)
{
	static struct program program;
	struct ctree *tree = open_new(&program);

	check(depth && depth <= MAX_DEPTH && nr <= MAX_STACKS ? 0 : -ERANGE,
	      "depth and stacks");
	add_stacks(&program, tree, (unsigned int)depth, nr);
	ctree_close(tree);
	unlink(path);
}

int main(int argc, char **argv)
{
	static const unsigned int depths[] = { 8, 32, MAX_DEPTH };

	snprintf(path, sizeof(path), "%s/bench_ctree.%d",
		 argc == 2 ? argv[1] : "/dev/shm", (int)getpid());
	if (argc == 3) {
		count_once(strtoul(argv[1], NULL, 10),
			   strtoul(argv[2], NULL, 10));
		return 0;
	}
	printf("%d stacks twice; ns for each new and old one, bytes of the file for each, ms to open it\n",
	       STACKS);
	printf("depth        new      again  bytes/stack       read      write\n");
	for (size_t i = 0; i < sizeof(depths) / sizeof(*depths); i++)
		bench(depths[i]);
	return 0;
}
