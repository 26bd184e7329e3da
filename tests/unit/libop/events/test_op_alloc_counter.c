// SPDX-License-Identifier: GPL-2.0-or-later
/* Counters for sets of events, compared with trying everything. */

#include "tests/unit/op_fixture.h"

#include "libop/events/op_alloc_counter.h"

#define MAX 10

struct set {
	struct op_event event[MAX];
	const struct op_event *list[MAX];
	char name[MAX][32];
	size_t nr;
	struct op_cpu_type cpu;
	int counters[MAX];
};

static void fill(struct set *set, unsigned int counters, size_t nr,
		 const uint64_t *masks)
{
	memset(set, 0, sizeof(*set));
	set->cpu.counters = counters;
	set->nr = nr;
	for (size_t i = 0; i < nr; i++) {
		snprintf(set->name[i], sizeof(set->name[i]), "E%zu", i);
		set->event[i].name = set->name[i];
		set->event[i].counters = masks[i];
		set->list[i] = &set->event[i];
	}
}

static int alloc(struct set *set, struct op_diag *diag)
{
	return op_alloc_counters(set->counters, &set->cpu, set->list, set->nr,
				 diag);
}

/* What was given is a counter that counts the event, and only that. */
static void is_sound(const struct set *set)
{
	uint64_t taken = 0;

	for (size_t i = 0; i < set->nr; i++) {
		uint64_t bit = 1ull << set->counters[i];

		assert_true(set->event[i].counters & bit);
		assert_false(taken & bit);
		taken |= bit;
	}
}

/* Whether events from @i on can be placed beside @taken: tries everything. */
static bool is_possible(const struct set *set, size_t i, uint64_t taken)
{
	if (i == set->nr)
		return true;
	for (int c = 0; c < 64; c++) {
		uint64_t bit = 1ull << c;

		if (set->event[i].counters & bit & ~taken &&
		    is_possible(set, i + 1, taken | bit))
			return true;
	}
	return false;
}

TEST(test_random_sets)
{
	unsigned int seed = 1, possible = 0;

	for (int round = 0; round < 20000; round++) {
		unsigned int counters = 1 + rand_r(&seed) % 8;
		size_t nr = 1 + rand_r(&seed) % 8;
		uint64_t masks[MAX];
		struct op_diag diag = { "" };
		struct set set;
		bool wanted;

		for (size_t i = 0; i < nr; i++)
			masks[i] = 1 + rand_r(&seed) % ((1u << counters) - 1);
		if (rand_r(&seed) % 2)
			for (size_t i = 0; i < nr; i++)
				masks[i] = (masks[i] & (masks[i] - 1))
						   ? masks[i] & (masks[i] - 1)
						   : masks[i];
		fill(&set, counters, nr, masks);
		wanted = is_possible(&set, 0, 0);
		assert_int_equal(alloc(&set, &diag), wanted ? 0 : -EBUSY);
		assert_int_equal(!*diag.text, wanted);
		if (wanted)
			is_sound(&set);
		possible += wanted;
	}
	/* Both answers were asked for often. */
	assert_in_range(possible, 5000, 15000);
}

TEST(test_lowest_first)
{
	struct set set;

	fill(&set, 4, 3, (uint64_t[]){ 0xf, 0xf, 0xf });
	assert_int_equal(alloc(&set, NULL), 0);
	for (int i = 0; i < 3; i++)
		assert_int_equal(set.counters[i], i);
}

/* The last one makes all others move. */
TEST(test_chain)
{
	struct set set;

	fill(&set, 4, 4, (uint64_t[]){ 3, 6, 12, 1 });
	assert_int_equal(alloc(&set, NULL), 0);
	for (int i = 0; i < 3; i++)
		assert_int_equal(set.counters[i], i + 1);
	assert_int_equal(set.counters[3], 0);
}

/* Eight events of a Pentium 4, two of each of its four groups. */
TEST(test_pentium4)
{
	static const int wanted[] = { 3, 7, 0, 4, 2, 6, 1, 5 };
	struct set set;

	fill(&set, 8, 8,
	     (uint64_t[]){ 0x88, 0x88, 0x11, 0x11, 0x44, 0x44, 0x22, 0x22 });
	assert_int_equal(alloc(&set, NULL), 0);
	assert_memory_equal(set.counters, wanted, sizeof(wanted));
}

static void explains(struct set *set, const char *reason)
{
	struct op_diag diag = { "" };

	assert_int_equal(alloc(set, &diag), -EBUSY);
	assert_string_equal(diag.text, reason);
}

/* Only those that stand in each other's way are named. */
TEST(test_explanations)
{
	struct set set;

	fill(&set, 4, 4, (uint64_t[]){ 0xc, 0x2, 0x4, 0x2 });
	explains(&set, "E3: no counter is free: with E1 it competes for "
		       "counter 1; leave one of them out");
	fill(&set, 4, 4, (uint64_t[]){ 0x8, 0x3, 0x3, 0x1 });
	explains(&set, "E3: no counter is free: with E1, E2 it competes for "
		       "counters 0, 1; leave one of them out");
	fill(&set, 2, 3, (uint64_t[]){ 3, 3, 3 });
	explains(&set, "E2: no counter is free: with E0, E1 it needs 3 "
		       "counters, the CPU has 2; leave one of them out");
}

TEST(test_features_take_no_counter)
{
	struct set set;

	fill(&set, 1, 3, (uint64_t[]){ 0, 1, 0 });
	set.event[0].ext = "ibs_fetch";
	set.event[2].ext = "ibs_op";
	assert_int_equal(alloc(&set, NULL), 0);
	assert_int_equal(set.counters[0], OP_NO_COUNTER);
	assert_int_equal(set.counters[1], 0);
	assert_int_equal(set.counters[2], OP_NO_COUNTER);
}

/* The most that a type may have. */
TEST(test_64_counters)
{
	struct set set;

	fill(&set, 64, 2, (uint64_t[]){ 1ull << 63, ~0ull << 62 });
	assert_int_equal(alloc(&set, NULL), 0);
	assert_int_equal(set.counters[0], 63);
	assert_int_equal(set.counters[1], 62);
}
