// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A recorded stream that is cut off anywhere, or in which any byte is
 * another, ends in a partial result whose ledger adds up.
 */

#include "daemon/opd_command.h"
#include "tests/unit/opd_fixture.h"

/* TIER=all: what takes long. */
static bool do_all(void)
{
	const char *tier = getenv("TIER");

	return tier && !strcmp(tier, "all");
}
#define KERNEL U(0xffffffff81000000)

/* Every kind of record that a stream can hold, and some samples of each. */
static struct words *new_stream(void)
{
	struct words *w = calloc(1, sizeof(*w));

	assert_non_null(w);
	put_begin(w);
	put_event(w, 0, "TIMER", 0);
	put_event(w, 1, "CLK", 1000);
	put_range(w, true, KERNEL, KERNEL + 0x1000, "vmlinux");
	put_range(w, false, KERNEL + 0x2000, KERNEL + 0x3000, "ext4");
	put_cookie_built(w, 1, "/bin/sh", 0x1234);
	put_cookie(w, 2, "/lib/libc.so.6");
	for (uint64_t cpu = 0; cpu < 2; cpu++) {
		put_cpu(w, cpu);
		put_task(w, 10 + cpu, 10, 1);
		put_image(w, 1);
		put_user(w);
		put_sample(w, 0x100, 0);
		put_sample(w, 0x104, 1);
		put_record(w, OP_TRACE_BEGIN, 0);
		put_image(w, 2);
		put_sample(w, 0x200, 0);
		put_sample(w, 0x204, 0);
		put_cpu(w, cpu);
		put_task(w, 10, 10, 1);
		put_anon(w, 0x7000, 0x8000, "[heap]");
		put_user(w);
		put_sample(w, 0x10, 0);
		put_record(w, OP_MODULE_LOADED, 0);
		put_kernel(w);
		put_sample(w, KERNEL + 5, 0);
		put_sample(w, KERNEL + 0x2005, 1);
		put_sample(w, KERNEL + 0x9000, 1);
		put_record(w, OP_IBS_OP, 9, U(1), U(2), U(3), U(4), U(5), U(6),
			   U(7), U(8), U(9));
		put_record(w, 500, 1, U(9));
		put_image(w, 3);
		put_user(w);
		put_sample(w, 0x300, 0); /* has no name yet */
	}
	put_cookie(w, 3, "[vdso]");
	put_lost(w, 7, "event_lost_overflow");
	return w;
}

static void set_options(struct fixture *f, unsigned int how)
{
	f->opd.options.separate_lib = how & 1;
	f->opd.options.separate_kernel = how & 2;
	f->opd.options.separate_thread = how & 4;
	f->opd.options.separate_cpu = how & 8;
}

/* Feed @len bytes as the loop does, in pieces of @step words. */
static void feed(struct fixture *f, const uint64_t *words, size_t len,
		 size_t step)
{
	size_t nr = len / sizeof(*words);
	size_t at = 0, end = 0;

	while (end < nr) {
		end = nr - end > step ? end + step : nr;
		at += opd_trans_run(&f->opd, words + at, end - at);
	}
	opd_trans_end(&f->opd, nr - at + (len % sizeof(*words) != 0));
}

/* Keep the fixture, drop what the stream left in it. */
static void clear(struct fixture *f)
{
	struct op_diag diag = { "" };

	assert_int_equal(opd_command_reset(&f->opd, &diag), 0);
	opd_transient_init(&f->opd);
	opd_cookies_release(&f->opd.cookies);
	opd_kernel_clear(&f->opd.kernel);
}

TEST(every_truncation)
{
	struct words *w = new_stream();
	struct fixture *f = new_replay();
	uint64_t before = 0;

	f->opd.log.budget = 0;
	for (size_t len = 0; len <= w->nr * 8; len++) {
		struct op_ledger l;
		uint64_t *copy;

		/* Whole words, and a byte more or less. */
		if (!do_all() && (len + 1) % 8 > 2)
			continue;
		copy = malloc(len ? len : 1);
		/* Of exactly this size, so that a byte too far is seen. */
		assert_non_null(copy);
		memcpy(copy, w->word, len);
		set_options(f, (unsigned int)len);
		feed(f, copy, len, 65536);
		free(copy);
		l = ledger_of(f);
		assert_int_equal(l.pending, 0);
		assert_true(l.taken >= before);
		before = l.taken;
		clear(f);
	}
	assert_int_equal(before, 2 * 9 + 7);
	free_fixture(f);
	free(w);
}

static uint64_t next_random(uint64_t *state)
{
	*state = *state * UINT64_C(6364136223846793005) + 1442695040888963407u;
	return *state >> 33;
}

TEST(changes_of_a_byte)
{
	struct words *w = new_stream();
	struct words *bad = malloc(sizeof(*bad));
	struct fixture *f = new_replay();
	uint64_t random = 20240501;

	assert_non_null(bad);
	for (int i = 0; i < (do_all() ? 10000 : 1000); i++) {
		size_t at = next_random(&random) % (w->nr * 8);
		uint8_t change = (uint8_t)(next_random(&random) % 255 + 1);
		struct op_ledger l;

		memcpy(bad->word, w->word, w->nr * 8);
		((uint8_t *)bad->word)[at] ^= change;
		f->opd.log.budget = 0;
		set_options(f, (unsigned int)i);
		feed(f, bad->word, w->nr * 8, next_random(&random) % 50 + 1);
		opd_stats_ledger(&f->opd.stats, &l);
		if (l.taken != l.stored + op_ledger_lost(&l) + l.pending ||
		    l.pending || (i % 50 == 0 && l.stored != count_samples(f)))
			fail_msg("byte %zu changed by 0x%02x: taken %llu", at,
				 change, (unsigned long long)l.taken);
		if (i % 50 == 0)
			clear(f);
		opd_cookies_release(&f->opd.cookies);
		opd_kernel_clear(&f->opd.kernel);
	}
	(void)ledger_of(f);
	free_fixture(f);
	free(bad);
	free(w);
}
