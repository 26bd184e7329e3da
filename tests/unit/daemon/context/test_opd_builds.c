// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What is counted apart although it has one name: builds of a path, rates of
 * the timer, events that mean something else on another CPU.
 */
#include "tests/unit/opd_pack_fixture.h"

#define SH_OF(build)                                                           \
	"{root}/bin/sh/{dep}/{root}/bin/sh/{build:" build                      \
	"}/TIMER.0.0.all.all.all"

TEST(builds_have_files_of_their_own)
{
	struct fixture *f = new_replay();

	for (uint64_t i = 1; i <= 2; i++) {
		take_at(f, "/bin/sh", 0x11, 0x10, 5);
		take_at(f, "/bin/sh", 0x22, 0x10, 2);
		take_at(f, "/bin/sh", 0x11, 0x20, 1);
		take_at(f, "/bin/sh", 0, 0x10, 1); /* nothing is known of it */
		assert_int_equal(ledger_of(f).stored, 9 * i);
		assert_int_equal(at(f, SH_OF("1100000000000000"), 0x10), 5 * i);
		assert_int_equal(at(f, SH_OF("1100000000000000"), 0x20), i);
		assert_int_equal(at(f, SH_OF("2200000000000000"), 0x10), 2 * i);
		assert_int_equal(at(f, SH, 0x10), i);
		pack(f);
		restart_daemon(f);
	}
	goes_on(f, 18);
	free_fixture(f);
}

TEST(files_without_build_id_are_told_by_inode)
{
	struct fixture *f = new_replay();
	struct words *w = calloc(1, sizeof(*w));

	assert_non_null(w);
	for (uint64_t i = 1; i <= 4; i++) {
		size_t start = w->nr;

		put_cookie_built(w, i, "/bin/sh", 0);
		w->word[start + 4] = 0x801; /* device */
		w->word[start + 5] = i == 4 ? 1 : i; /* inode */
		w->word[start + 6] = i == 3 ? 0xabc : 0; /* mtime */
		put_cpu(w, 0);
		put_task(w, 1, 1, i);
		put_image(w, i);
		put_user(w);
		for (uint64_t nr = i; nr; nr--)
			put_sample(w, 0x10, 0);
	}
	run_words(f, w);
	assert_int_equal(at(f, SH_OF("file-801-1-0"), 0x10), 1 + 4);
	assert_int_equal(at(f, SH_OF("file-801-2-0"), 0x10), 2);
	assert_int_equal(at(f, SH_OF("file-801-3-abc"), 0x10), 3);
	free_fixture(f);
	free(w);
}

TEST(timer_rates_do_not_mix)
{
	struct fixture *f = new_replay();

	f->opd.events.counter[0].value = 1000;
	take(f, "/bin/sh", 5);
	opd_sfiles_drop_all(&f->opd.store);
	f->opd.events.counter[0].value = 250;
	take(f, "/bin/sh", 2);
	assert_int_equal(at(f, SH, 0x10), 5);
	assert_int_equal(
		at(f,
		   "{root}/bin/sh/{dep}/{root}/bin/sh/TIMER.250.0.all.all.all",
		   0x10),
		2);
	free_fixture(f);
}

static void leave_it(struct fixture *f)
{
	(void)f;
}

static void begin_to_pack(struct fixture *f)
{
	struct opd_packer packer;

	assert_int_equal(go(f, &packer, BEGUN), 0);
	opd_packer_cancel(&packer);
}

/*
 * The same name and number, but another event: the session is of another CPU.
 * What is counted under that name is found wherever it is.
 */
TEST(events_of_one_name_do_not_mix)
{
	void (*const put_elsewhere[])(struct fixture *) = {
		leave_it,
		pack,
		begin_to_pack,
		as_before_loose,
	};

	for (size_t i = 0; i < sizeof(put_elsewhere) / sizeof(put_elsewhere[0]);
	     i++) {
		struct fixture *f = new_replay();
		struct opd_event *event = &f->opd.events.counter[0];
		struct op_ledger l;

		*event = (struct opd_event){ .set = true,
					     .name = "CYCLES",
					     .value = 0x3c,
					     .count = 100 };
		take(f, "/bin/sh", 5);
		opd_sfiles_drop_all(&f->opd.store);
		put_elsewhere[i](f);
		event->value = 0x76;
		take(f, "/bin/sh", 2);
		opd_sfiles_drop_all(&f->opd.store);
		l = ledger_of(f);
		assert_int_equal(l.stored, 5);
		assert_int_equal(op_ledger_lost_by(&l, "lost_sample_file"), 2);
		assert_true(log_says(f, "another event with that name"));
		free_fixture(f);
	}
}
