// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What is mapped where in which process, against a model that has one entry
 * for each address and copies it all at a fork.
 */

/* So short that a few mappings are many runs. */
#define RUN_MAX 16

#include "daemon/source/opd_maps.c"
#include "module/uapi/oprofile.h"
#include "tests/unit/rows.h"

#define NR_ADDRS 256
#define NR_TGIDS 600
#define NR_BUSY 12 /* those that are used again and again */

struct cell {
	bool mapped;
	uint64_t cookie;
	uint64_t offset; /* of this very address */
};

struct model {
	bool known;
	unsigned int nr_threads;
	uint64_t app;
	bool fresh;
	bool entered;
	uint64_t read_at;
	unsigned int death; /* the how many-th */
	struct cell cells[NR_ADDRS];
};

struct both {
	struct opd_maps maps;
	struct model models[NR_TGIDS];
	unsigned int nr_deaths;
	uint64_t random;
};

static uint32_t next_random(struct both *b)
{
	b->random = b->random * UINT64_C(6364136223846793005) +
		    UINT64_C(1442695040888963407);
	return (uint32_t)(b->random >> 33);
}

static struct both *new_both(void)
{
	struct both *b = calloc(1, sizeof(*b));

	assert_non_null(b);
	opd_maps_init(&b->maps);
	b->random = 1;
	return b;
}

static void free_both(struct both *b)
{
	opd_maps_release(&b->maps);
	free(b);
}

/* ---- doing the same to both -------------------------------------------------
 */

static void do_new(struct both *b, uint32_t tgid)
{
	struct model *model = &b->models[tgid];

	memset(model, 0, sizeof(*model));
	model->known = model->entered = true;
	model->nr_threads = 1;
	assert_non_null(opd_maps_new(&b->maps, tgid));
}

static void do_fork(struct both *b, uint32_t tgid, uint32_t parent)
{
	struct model *model = &b->models[tgid];

	assert_int_not_equal(tgid, parent);
	assert_non_null(opd_maps_fork(&b->maps, tgid, parent));
	memset(model, 0, sizeof(*model));
	model->entered = true;
	if (b->models[parent].known)
		*model = b->models[parent];
	model->known = true;
	model->nr_threads = 1;
	model->death = 0;
}

static void do_thread(struct both *b, uint32_t tgid)
{
	struct opd_process *process = opd_maps_find(&b->maps, tgid);

	if (!process || !process->nr_threads)
		return;
	process->nr_threads++;
	b->models[tgid].nr_threads++;
}

static void do_exit(struct both *b, uint32_t tgid)
{
	struct model *model = &b->models[tgid];

	opd_maps_exit(&b->maps, tgid);
	if (model->known && model->nr_threads && --model->nr_threads == 0)
		model->death = ++b->nr_deaths;
	/* Whoever died longest ago is forgotten. */
	for (uint32_t i = 0; i < NR_TGIDS; i++)
		if (b->models[i].known && !b->models[i].nr_threads &&
		    b->nr_deaths - b->models[i].death >= OPD_MAPS_DEAD)
			b->models[i].known = false;
}

static void do_exec(struct both *b, uint32_t tgid)
{
	struct opd_process *process = opd_maps_find(&b->maps, tgid);
	struct model *model = &b->models[tgid];

	if (!process)
		return;
	opd_maps_exec(process);
	memset(model->cells, 0, sizeof(model->cells));
	model->app = OP_NO_COOKIE;
	model->nr_threads = 1;
	model->fresh = true;
	model->entered = false;
}

static void do_clear(struct both *b, uint32_t tgid)
{
	struct opd_process *process = opd_maps_find(&b->maps, tgid);

	if (!process)
		return;
	opd_maps_clear(process);
	memset(b->models[tgid].cells, 0, sizeof(b->models[tgid].cells));
}

static void do_add(struct both *b, uint32_t tgid, uint64_t start, uint64_t end,
		   uint64_t cookie)
{
	struct opd_process *process = opd_maps_find(&b->maps, tgid);
	const struct opd_map map = {
		.start = start,
		.end = end,
		.offset = cookie * 0x10000,
		.cookie = cookie,
	};

	if (!process)
		return;
	assert_int_equal(opd_maps_add(process, &map), 0);
	for (uint64_t addr = start; addr < end; addr++)
		b->models[tgid].cells[addr] = (struct cell){
			true,
			cookie,
			map.offset + (addr - start),
		};
}

/* The program of a process, as its reader sets it. */
static void do_name(struct both *b, uint32_t tgid, uint64_t app)
{
	struct opd_process *process = opd_maps_find(&b->maps, tgid);

	if (!process)
		return;
	process->app = b->models[tgid].app = app;
	process->fresh = b->models[tgid].fresh = false;
	process->entered = b->models[tgid].entered = app % 2;
	process->read_at = b->models[tgid].read_at = app * 10;
}

/* ---- comparing --------------------------------------------------------------
 */

static void check_addr(const struct opd_process *process,
		       const struct model *model, uint64_t addr)
{
	const struct opd_map *map = opd_maps_lookup(process, addr);
	const struct cell *cell = &model->cells[addr];

	assert_int_equal(map != NULL, cell->mapped);
	if (!map)
		return;
	assert_true(map->start <= addr && addr < map->end);
	assert_int_equal(map->cookie, cell->cookie);
	assert_int_equal(map->offset + (addr - map->start), cell->offset);
}

/* Sorted, none empty, none overlapping. */
static void check_order(const struct opd_process *process)
{
	const struct opd_space *space = process->space;
	uint64_t end = 0;

	for (size_t k = 0; space && k < space->nr_runs; k++) {
		const struct opd_map_run *run = space->runs[k];

		assert_true(run->nr && run->nr <= run->room);
		for (size_t i = 0; i < run->nr; i++) {
			assert_true(run->maps[i].start >= end);
			assert_true(run->maps[i].start < run->maps[i].end);
			end = run->maps[i].end;
		}
	}
}

static void check_process(const struct both *b, uint32_t tgid)
{
	const struct opd_process *process = opd_maps_find(&b->maps, tgid);
	const struct model *model = &b->models[tgid];

	if (model->known != (process != NULL))
		fail_msg("process %u is %s", tgid,
			 process ? "there" : "not there");
	if (!process)
		return;
	assert_int_equal(process->tgid, tgid);
	assert_int_equal(process->nr_threads, model->nr_threads);
	assert_int_equal(process->app, model->app);
	assert_int_equal(process->fresh, model->fresh);
	assert_int_equal(process->entered, model->entered);
	assert_int_equal(process->read_at, model->read_at);
	check_order(process);
	for (uint64_t addr = 0; addr < NR_ADDRS; addr++)
		check_addr(process, model, addr);
	assert_null(opd_maps_lookup(process, NR_ADDRS));
	assert_null(opd_maps_lookup(process, UINT64_MAX));
}

static void check_all(const struct both *b)
{
	for (uint32_t tgid = 0; tgid < NR_TGIDS; tgid++)
		check_process(b, tgid);
}

/* ---- tests ------------------------------------------------------------------
 */

static void do_random_add(struct both *b, uint32_t tgid)
{
	uint64_t start = next_random(b) % NR_ADDRS;
	uint64_t len = next_random(b) % (next_random(b) % 8 ? 16 : 128);

	if (len > NR_ADDRS - start)
		len = NR_ADDRS - start;
	do_add(b, tgid, start, start + len, 1 + next_random(b) % 1000);
}

static void do_random(struct both *b)
{
	uint32_t tgid = 1 + next_random(b) % NR_BUSY;
	uint32_t other = 1 + next_random(b) % NR_BUSY;
	uint32_t what = next_random(b) % 100;

	if (what < 70)
		do_random_add(b, tgid);
	else if (what < 80 && tgid != other)
		do_fork(b, tgid, other);
	else if (what < 84)
		do_thread(b, tgid);
	else if (what < 90)
		do_exit(b, tgid);
	else if (what < 92)
		do_exec(b, tgid);
	else if (what < 94)
		do_clear(b, tgid);
	else if (what < 95)
		do_new(b, tgid);
	else
		do_name(b, tgid, next_random(b) % 1000);
}

TEST(any_operations_do_what_the_model_says)
{
	struct both *b = new_both();

	for (unsigned int i = 0; i < 20000; i++) {
		do_random(b);
		for (uint32_t tgid = 0; i % 5 == 0 && tgid <= NR_BUSY; tgid++)
			check_process(b, tgid);
	}
	assert_true(b->nr_deaths > 2 * OPD_MAPS_DEAD);
	free_both(b);
}

/* ---- what is done to both, in words -----------------------------------------
 */

/*
 * new PID, fork PID PARENT, thread PID, exit PID, exec PID, clear PID,
 * add PID START END COOKIE, name PID COOKIE;
 * dead FIRST LAST: each of them is new and exits;
 * live FIRST LAST: each of them is new and maps something;
 * is N: so many are dead; together PID PID: they share one space
 */
static void do_line(struct both *b, const char *line)
{
	unsigned int v[4] = { 0 };
	char verb[16];

	assert_true(sscanf(line, "%15s %u %u %u %u", verb, &v[0], &v[1], &v[2],
			   &v[3]) > 1);
	if (!strcmp(verb, "new"))
		do_new(b, v[0]);
	else if (!strcmp(verb, "fork"))
		do_fork(b, v[0], v[1]);
	else if (!strcmp(verb, "thread"))
		do_thread(b, v[0]);
	else if (!strcmp(verb, "exit"))
		do_exit(b, v[0]);
	else if (!strcmp(verb, "exec"))
		do_exec(b, v[0]);
	else if (!strcmp(verb, "clear"))
		do_clear(b, v[0]);
	else if (!strcmp(verb, "add"))
		do_add(b, v[0], v[1], v[2], v[3]);
	else if (!strcmp(verb, "name"))
		do_name(b, v[0], v[1]);
	else if (!strcmp(verb, "dead"))
		for (uint32_t tgid = v[0]; tgid <= v[1]; tgid++) {
			do_new(b, tgid);
			do_exit(b, tgid);
		}
	else if (!strcmp(verb, "live"))
		for (uint32_t tgid = v[0]; tgid <= v[1]; tgid++) {
			do_new(b, tgid);
			do_add(b, tgid, 10, 20, tgid);
		}
	else if (!strcmp(verb, "is"))
		assert_int_equal(b->maps.nr_dead, v[0]);
	else if (!strcmp(verb, "together"))
		assert_ptr_equal(opd_maps_find(&b->maps, v[0])->space,
				 opd_maps_find(&b->maps, v[1])->space);
	else
		fail_msg("%s: no such verb", verb);
}

/* Nothing is printed: after each line all is as in the model. */
static void run_maps(const struct row *row, FILE *out)
{
	struct both *b = new_both();
	const char *at = row->script;
	char line[64];

	(void)out;
	while (next_line(&at, line, sizeof(line))) {
		do_line(b, line);
		check_all(b);
	}
	free_both(b);
}

/* @over is put over two mappings of process 1. */
#define OVER(over) "new 1; add 1 10 20 1; add 1 30 40 2; add 1 " over " 3"

/* 256 that died are remembered: OPD_MAPS_DEAD. */
static const struct row rows[] = {
	{ "a_child_does_not_change_its_parent", NULL,
	  "new 1; add 1 10 20 7; name 1 7; fork 2 1; together 1 2;"
	  "add 2 12 14 8; add 2 30 31 8; exec 2",
	  NULL },
	{ "a_parent_does_not_change_its_child", NULL,
	  "new 1; add 1 10 20 7; fork 2 1; fork 3 2;" /* three share a space */
	  "add 1 0 15 8; clear 1; exit 1; new 1; add 2 19 22 9;"
	  /* The last one with a space goes on in it. */
	  "exit 2; new 2; add 3 5 6 3",
	  NULL },
	{ "a_child_of_nobody_has_nothing", NULL, "fork 2 1; add 2 1 2 3",
	  NULL },
	{ "an_exit_of_nobody", NULL, "exit 99; is 0", NULL },
	/* Beside another, over the middle, over an end, over all, none. */
	{ "in_the_middle", NULL, OVER("12 18"), NULL },
	{ "before", NULL, OVER("5 10"), NULL },
	{ "behind", NULL, OVER("20 25"), NULL },
	{ "the_same", NULL, OVER("10 20"), NULL },
	{ "over_the_start", NULL, OVER("5 12"), NULL },
	{ "over_the_end", NULL, OVER("18 25"), NULL },
	{ "the_first", NULL, OVER("10 11"), NULL },
	{ "the_last", NULL, OVER("19 20"), NULL },
	{ "over_everything", NULL, OVER("0 256"), NULL },
	{ "empty", NULL, OVER("15 15"), NULL },
	{ "less_than_empty", NULL, OVER("15 14"), NULL },
	{ "over_both", NULL, OVER("5 45"), NULL },
	{ "over_a_half_of_each", NULL, OVER("15 35"), NULL },
	{ "the_dead_are_kept_for_a_while", NULL,
	  "live 1 300; dead 301 556; exit 1; exit 2; exit 300", NULL },
	/* A number that is used again is another process. */
	{ "a_number_used_again_is_not_forgotten", NULL,
	  "new 1; exit 1; fork 1 2; add 1 1 2 3; dead 2 599", NULL },
	/* The first death is long ago, the last one is not. */
	{ "a_second_death_counts_as_a_death", NULL,
	  "dead 1 255; dead 1 1; dead 300 300; dead 301 554; dead 555 555",
	  NULL },
	/* The same, where the first death was remembered. */
	{ "a_death_does_not_replace_itself", NULL,
	  "dead 1 1; exec 1; dead 2 256; exit 1; dead 300 554; dead 555 555",
	  NULL },
	/* One exit too many is no second death; an exec leaves one thread. */
	{ "threads_end_one_by_one", NULL,
	  "new 1; thread 1; thread 1; exit 1; exit 1; is 0; exit 1; is 1;"
	  "exit 1; is 1; new 2; thread 2; exec 2; exit 2; is 2",
	  NULL },
};

TEST_ROWS(test_row, rows)
{
	check_row(*state, run_maps);
}

/* A process that is said to be its own parent has nothing. */
TEST(a_process_is_not_its_own_parent)
{
	struct both *b = new_both();

	do_new(b, 2);
	do_add(b, 2, 1, 2, 3);
	assert_non_null(opd_maps_fork(&b->maps, 2, 2));
	assert_null(opd_maps_lookup(opd_maps_find(&b->maps, 2), 1));
	free_both(b);
}

TEST(addresses_go_up_to_the_last)
{
	const struct opd_map all = { .start = 0, .end = UINT64_MAX };
	const struct opd_map top = {
		.start = UINT64_MAX - 10,
		.end = UINT64_MAX,
		.cookie = 5,
	};
	struct both *b = new_both();
	struct opd_process *process;

	do_new(b, 1);
	process = opd_maps_find(&b->maps, 1);
	assert_int_equal(opd_maps_add(process, &all), 0);
	assert_int_equal(opd_maps_add(process, &top), 0);
	assert_int_equal(opd_maps_lookup(process, UINT64_MAX - 1)->cookie, 5);
	assert_int_equal(opd_maps_lookup(process, UINT64_MAX - 11)->cookie, 0);
	assert_null(opd_maps_lookup(process, UINT64_MAX));
	free_both(b);
}

/* Numbers that fall into one bucket. */
TEST(numbers_are_told_apart)
{
	struct opd_maps *maps = malloc(sizeof(*maps));

	assert_non_null(maps);
	opd_maps_init(maps);
	for (uint32_t i = 0; i < 5; i++)
		opd_maps_new(maps, 7 + i * OPD_MAPS_BUCKETS)->app = 100 + i;
	opd_maps_new(maps, UINT32_MAX);
	opd_maps_new(maps, 7 + 2 * OPD_MAPS_BUCKETS);
	for (uint32_t i = 0; i < 5; i++)
		assert_int_equal(
			opd_maps_find(maps, 7 + i * OPD_MAPS_BUCKETS)->app,
			i == 2 ? OP_NO_COOKIE : 100 + i);
	assert_null(opd_maps_find(maps, 7 + 5 * OPD_MAPS_BUCKETS));
	opd_maps_release(maps);
	assert_null(opd_maps_find(maps, 7));
	free(maps);
}

#define MANY 100000 /* one process may have so many mappings */
#define PAGE 4096

static void add_page(struct opd_process *process, uint64_t page)
{
	const struct opd_map map = { .start = page * PAGE,
				     .end = (page + 1) * PAGE,
				     .cookie = page };

	assert_int_equal(opd_maps_add(process, &map), 0);
}

static uint64_t cookie_at(const struct opd_process *process, uint64_t page)
{
	const struct opd_map *map =
		opd_maps_lookup(process, page * PAGE + PAGE / 2);

	return map ? map->cookie : OP_NO_COOKIE;
}

static size_t count_maps(const struct opd_process *process)
{
	size_t nr = 0;

	for (size_t i = 0; i < process->space->nr_runs; i++)
		nr += process->space->runs[i]->nr;
	return nr;
}

/*
 * As one who wants to keep a daemon busy would make them: each at the other
 * end, with gaps that are filled later. To move all mappings for each would
 * take minutes.
 */
TEST(many_mappings_in_any_order)
{
	struct opd_maps *maps = malloc(sizeof(*maps));
	const struct opd_map all = { .start = PAGE + 1,
				     .end = MANY * PAGE,
				     .cookie = 7 };
	struct opd_process *process, *child;

	assert_non_null(maps);
	opd_maps_init(maps);
	process = opd_maps_new(maps, 1);
	for (uint64_t i = 0; i < MANY / 2; i += 2) {
		add_page(process, i);
		add_page(process, MANY - i);
	}
	for (uint64_t i = 1; i < MANY / 2; i += 2) {
		add_page(process, MANY - i);
		add_page(process, i);
	}
	check_order(process);
	assert_int_equal(count_maps(process), MANY);
	for (uint64_t i = 0; i <= MANY; i++)
		assert_int_equal(cookie_at(process, i),
				 i == MANY / 2 ? OP_NO_COOKIE : i);

	/* One that covers nearly all, in a child that had them all. */
	child = opd_maps_fork(maps, 2, 1);
	assert_int_equal(opd_maps_add(child, &all), 0);
	check_order(child);
	assert_int_equal(count_maps(child), 4);
	assert_int_equal(cookie_at(child, MANY / 2), 7);
	assert_int_equal(cookie_at(child, 0), 0);
	assert_int_equal(cookie_at(child, MANY), MANY);
	assert_int_equal(opd_maps_lookup(child, PAGE)->end, PAGE + 1);
	assert_int_equal(count_maps(process), MANY);
	opd_maps_release(maps);
	free(maps);
}

/* A process that is forgotten is gone, also for its late samples; others that
 * share its mappings or its place in the table stay. */
TEST(a_process_that_is_forgotten)
{
	const uint32_t tgid = 3, same_bucket = tgid + OPD_MAPS_BUCKETS;
	struct opd_maps *maps = malloc(sizeof(*maps));
	struct opd_process *child;

	assert_non_null(maps);
	opd_maps_init(maps);
	add_page(opd_maps_new(maps, tgid), 5);
	add_page(opd_maps_new(maps, same_bucket), 6);
	child = opd_maps_fork(maps, 4, tgid);
	opd_maps_forget(maps, tgid);
	assert_null(opd_maps_find(maps, tgid));
	assert_ptr_equal(opd_maps_find(maps, 4), child);
	assert_int_equal(cookie_at(child, 5), 5);
	assert_int_equal(cookie_at(opd_maps_find(maps, same_bucket), 6), 6);
	/* One that is unknown. */
	opd_maps_forget(maps, tgid);
	opd_maps_forget(maps, 77);
	assert_non_null(opd_maps_find(maps, same_bucket));
	opd_maps_forget(maps, same_bucket);
	opd_maps_forget(maps, 4);
	assert_null(opd_maps_find(maps, same_bucket));
	assert_null(opd_maps_find(maps, 4));
	opd_maps_release(maps);
	free(maps);
}
