// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * bench_unwind [FILE]...: what it costs to make the table of an image's
 * unwind data, what a row takes, and what a frame costs in stacks of some
 * depths. By default the files are libc, and cc1 if it is there.
 *
 * bench_unwind --stacks DEPTH NR unwinds so many stacks, for
 * tests/bench/instructions.py.
 */

#include "tests/bench/clock.h"
#include "tests/unit/unwind_self.h"

#define ROUNDS 5
#define FRAMES 4000000

static struct self self;
static struct snapshot snap;
static struct unwinder_frame frames[SELF_MAX_FRAMES];
static volatile int after;

/* The best of some rounds; 0 if there is no table. */
static double time_table(const char *path, enum cfi_extent extent,
			 struct cfi_table **table)
{
	double best = 0;

	*table = NULL;
	for (int i = 0; i < ROUNDS; i++) {
		int fd = open(path, O_RDONLY | O_CLOEXEC);
		double start = seconds(), took;

		cfi_table_free(*table);
		if (fd < 0 || cfi_table_read(table, fd, extent, NULL)) {
			if (fd >= 0)
				close(fd);
			*table = NULL;
			return 0;
		}
		took = seconds() - start;
		close(fd);
		if (!i || took < best)
			best = took;
	}
	return best;
}

static void bench_table_of(const char *path, enum cfi_extent extent)
{
	struct cfi_table *table;
	double took = time_table(path, extent, &table);
	size_t rows;

	if (!table) {
		printf("%s: no table\n", path);
		return;
	}
	rows = cfi_table_nr_rows(table);
	printf("%-44s %-9s %7.2f ms %8zu rows %5zu rules %9zu bytes %5.2f a row\n",
	       path, extent == CFI_ALL ? "" : "functions", took * 1e3, rows,
	       cfi_table_nr_rules(table), cfi_table_bytes(table),
	       (double)cfi_table_bytes(table) / (double)(rows ? rows : 1));
	cfi_table_free(table);
}

static void bench_table(const char *path)
{
	bench_table_of(path, CFI_ALL);
	bench_table_of(path, CFI_FUNCTIONS);
}

__attribute__((noinline)) static void take(void)
{
	ucontext_t u;

	getcontext(&u);
	self_regs(&snap.regs, &u);
	self_stack(&snap, UINT64_MAX);
	after++;
}

__attribute__((noinline)) static void chain(unsigned int depth)
{
	if (depth)
		chain(depth - 1);
	else
		take();
	after++;
}

static void unwind_stacks(unsigned int depth, unsigned long nr)
{
	enum op_trace_ending ending;

	chain(depth);
	for (unsigned long i = 0; i < nr; i++)
		unwinder_unwind(self.unwinder, SELF_ARCH, &snap.regs,
				&snap.stack, frames, depth, &ending);
}

static void bench_depth(unsigned int depth)
{
	unsigned int n = FRAMES / depth;
	double start = seconds(), took;

	unwind_stacks(depth, n);
	took = seconds() - start;
	printf("%-44s %7.2f us a stack %6.0f ns a frame\n",
	       depth == 8 ? "stacks of 8 frames"
			  : (depth == 32 ? "32 frames" : "64 frames"),
	       took / n * 1e6, took / n / depth * 1e9);
}

static void bench_default_files(void)
{
	char path[512] = "";
	FILE *f = popen("gcc -print-prog-name=cc1 2>/dev/null", "r");

	for (size_t i = 0; i < self.nr_maps; i++)
		if (strstr(self.path[i], "/libc.so"))
			bench_table(self.path[i]);
	if (f && fgets(path, sizeof(path), f))
		path[strcspn(path, "\n")] = '\0';
	if (f)
		pclose(f);
	if (*path == '/')
		bench_table(path);
}

int main(int argc, char **argv)
{
	bool stacks = argc == 4 && !strcmp(argv[1], "--stacks");
	unsigned long depth = stacks ? strtoul(argv[2], NULL, 10) : 0;

	if (stacks && (!depth || depth > SELF_MAX_FRAMES))
		return 2;
	self_maps(&self);
	for (int i = 1; i < argc && !stacks; i++)
		bench_table(argv[i]);
	if (argc < 2)
		bench_default_files();
	if (unwinder_new(&self.unwinder, &self_ops, &self))
		return 1;
	if (stacks) {
		unwind_stacks((unsigned int)depth, strtoul(argv[3], NULL, 10));
	} else {
		bench_depth(8);
		bench_depth(32);
		bench_depth(64);
	}
	unwinder_free(self.unwinder);
	return 0;
}
