// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What the daemon remembers of stacks and contexts changes nothing: it stores
 * the same as one that has to look everything up again.
 */

#include "tests/unit/daemon/opd_rows.h"

#define WORLD                                                                  \
	"stream 1 8; cookie 1 0 0 0 0 - /bin/app;"                             \
	"cookie 2 0 0 0 0 - /lib/lib.so;"                                      \
	"kernel-range first 0xffffffff81000000 0xffffffff81100000 - vmlinux;"

static unsigned int draw(uint64_t *state, unsigned int nr)
{
	*state = *state * UINT64_C(6364136223846793005) + 1442695040888963407u;
	return (unsigned int)((*state >> 33) % nr);
}

/* A frame in one of a few places: images, memory, the kernel, nobody knows. */
static void put_any_frame(struct words *w, uint64_t *state, bool *kernel)
{
	static const char *const places[] = {
		"image 1",
		"image 2",
		"image 3",
		"image 99",
		"anon 0x7000 0x9000 jit",
		"anon 0x17000 0x19000 jit",
	};

	*kernel = *kernel && draw(state, 3);
	if (*kernel) {
		put_text(w, "kernel");
		put_sample(w, UINT64_C(0xffffffff81000100) + draw(state, 3), 0);
		return;
	}
	put_text(w, "user");
	put_text(w, places[draw(state, 2) ? draw(state, 3)
					  : draw(state, NR(places))]);
	put_sample(w, 0x101 + draw(state, 2), 0);
}

/* A stack of one of a few tasks; now and then something changes before it. */
static void put_any_stack(struct words *w, uint64_t *state)
{
	static const char *const tasks[] = {
		"ctx 12 1; tgid 12",	  "ctx 13 1; tgid 12",
		"ctx 14 1; tgid 14",	  "ctx 20 2; tgid 20",
		"ctx 7 0; tgid 7",	  "ctx 12 1; tgid 12 1000",
		"ctx 12 1; tgid 12 1001",
	};
	static const char *const changes[] = {
		"cookie 3 0 0 0 0 - /lib/other.so",
		"cookie 3 0 0 0 0 - /lib/third.so",
		"kernel-range first 0xffffffff81000000 0xffffffff81100000 - vmlinux",
		"kernel-range first 0xffffffff81000080 0xffffffff81100000 - other",
	};
	unsigned int depth = 1 + draw(state, 6);
	bool kernel = draw(state, 2);

	put_text(w, draw(state, 2) ? "cpu 0" : "cpu 1");
	put_text(w, tasks[draw(state, NR(tasks))]);
	if (!draw(state, 400))
		put_text(w, changes[draw(state, NR(changes))]);
	put_text(w, "trace");
	while (depth--)
		put_any_frame(w, state, &kernel);
	put_text(w, draw(state, 5) ? "trace-end 0" : "trace-end 1");
}

/* The daemon remembers where frames went; it would have found the same. */
static void check_short_way(const char *options)
{
	struct fixture *two[] = { new_with(options), new_with(options) };
	struct words *w = calloc(1, sizeof(*w));
	uint64_t state = 20021;
	char *text[2];

	assert_non_null(w);
	put_text(w, WORLD "cookie 3 0 0 0 0 - /lib/third.so");
	for (int i = 0; i < 3000; i++) {
		if (i)
			put_any_stack(w, &state);
		for (size_t k = 0; k < 2; k++)
			assert_int_equal(opd_trans_run(&two[k]->opd, w->word,
						       w->nr),
					 w->nr);
		two[1]->opd.places.changes++;
		/* So few that some go away all the time. */
		if (i == 2500)
			two[0]->opd.store.sfiles.max_open = 24;
		w->nr = 0;
	}
	for (size_t k = 0; k < 2; k++) {
		size_t len;
		FILE *out = open_memstream(&text[k], &len);

		assert_non_null(out);
		do_command(two[k], w, "show", out);
		assert_int_equal(fclose(out), 0);
		free_with(two[k]);
	}
	assert_string_equal(text[0], text[1]);
	free(text[0]);
	free(text[1]);
	free(w);
}

TEST(test_short_way)
{
	check_short_way("--separate-lib=1");
	check_short_way("--separate-lib=0");
	check_short_way("--separate-lib=1 --separate-kernel=1");
	check_short_way("--separate-lib=1 --separate-thread=1");
	check_short_way("--separate-lib=1 --separate-cpu=1");
	check_short_way("--separate-lib=1 --separate-user=1");
	check_short_way("--separate-lib=1 --image=/lib/third.so");
}
