// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A source that asks for names as the kernel does, what waits for a name, and
 * that what is recorded replays to the same samples.
 */

#include <fts.h>

#include "tests/unit/opd_fixture.h"

/* The kernel's part. Cookies from 1 to 9 are named when it is their turn. */
static struct {
	int busy; /* how often a name is not there yet */
	int asked;
	uint64_t taken;
	uint64_t overflow;
} kernel;

static int fake_cookie(struct opd_source *source, struct op_cookie_query *query)
{
	(void)source;
	kernel.asked++;
	if (query->cookie > 9)
		return -ENOENT;
	if (kernel.busy > 0) {
		kernel.busy--;
		return -EAGAIN;
	}
	snprintf(query->path, sizeof(query->path), "/bin/program-%d",
		 (int)query->cookie);
	query->build_id_len = 3;
	memcpy(query->build_id, "abc", 3);
	query->dev = 77;
	query->ino = 1000 + query->cookie;
	return 0;
}

static int fake_account(struct opd_source *source, struct op_ledger *ledger)
{
	(void)source;
	ledger->taken = kernel.taken;
	return op_ledger_lose(ledger, "event_lost_overflow", kernel.overflow);
}

static const struct opd_source_ops fake_kernel = {
	.name = "fake",
	.cookie = fake_cookie,
	.account = fake_account,
};

static struct fixture *new_live(void)
{
	struct fixture *f = new_fixture();

	memset(&kernel, 0, sizeof(kernel));
	snprintf(f->opd.source.cpu_type, sizeof(f->opd.source.cpu_type),
		 "timer");
	f->opd.source.ops = &fake_kernel;
	f->opd.source.timer_hz = 250;
	start_daemon(f, &fake_kernel);
	/* Not this machine's kernel. */
	opd_kernel_release(&f->opd.kernel);
	return f;
}

/* One read of the buffer. */
static void read_words(struct fixture *f, const struct words *w)
{
	assert_int_equal(opd_trans_run(&f->opd, w->word, w->nr), w->nr);
	opd_defer_retry(&f->opd, OP_NO_COOKIE, false);
}

static void put_program(struct words *w, uint64_t cookie)
{
	put_cpu(w, 0);
	put_task(w, 20 + cookie, 20, cookie);
	put_image(w, cookie);
	put_user(w);
}

#define PROGRAM(n)                                                             \
	"{root}/bin/program-" #n "/{dep}/{root}/bin/program-" #n               \
	"/TIMER.0.0.all.all.all"

static void each_name_is_asked_for_once(void **state)
{
	struct fixture *f = new_live();
	struct words w = { .nr = 0 };

	(void)state;
	put_program(&w, 1);
	put_sample(&w, 5, 0);
	put_program(&w, 1);
	put_sample(&w, 5, 0);
	put_program(&w, 10); /* is not known */
	put_sample(&w, 5, 0);
	put_sample(&w, 5, 0);
	kernel.taken = 4;
	read_words(f, &w);
	assert_int_equal(kernel.asked, 2);
	assert_int_equal(count_at(f, PROGRAM(1), 5), 2);
	assert_int_equal(lost(&(struct op_ledger[]){ ledger_of(f) }[0],
			      "lost_no_image_name"),
			 2);
	free_fixture(f);
}

static void samples_wait_for_their_name(void **state)
{
	struct fixture *f = new_live();
	struct words w = { .nr = 0 };
	struct op_ledger l;

	(void)state;
	kernel.busy = 20;
	put_program(&w, 2);
	put_sample(&w, 5, 0);
	put_sample(&w, 6, 0);
	kernel.taken = 2;
	read_words(f, &w);
	l = ledger_of(f);
	assert_int_equal(l.pending, 2);
	assert_int_equal(l.stored, 0);
	kernel.busy = 0;
	opd_defer_retry(&f->opd, OP_NO_COOKIE, false);
	l = ledger_of(f);
	assert_int_equal(l.pending, 0);
	assert_int_equal(l.stored, 2);
	assert_int_equal(count_at(f, PROGRAM(2), 6), 1);
	free_fixture(f);
}

static void they_do_not_wait_for_ever(void **state)
{
	struct fixture *f = new_live();
	struct words w = { .nr = 0 };
	struct op_ledger l;

	(void)state;
	kernel.busy = 1 << 20;
	put_program(&w, 2);
	put_sample(&w, 5, 0);
	kernel.taken = 1;
	read_words(f, &w);
	for (int i = 0; i < 100; i++)
		opd_defer_retry(&f->opd, OP_NO_COOKIE, false);
	l = ledger_of(f);
	assert_int_equal(l.pending, 0);
	assert_int_equal(lost(&l, "lost_no_image_name"), 1);
	free_fixture(f);
}

static void the_queue_is_bounded(void **state)
{
	struct fixture *f = new_live();
	struct words w = { .nr = 0 };
	struct op_ledger l;

	(void)state;
	kernel.busy = 1 << 30;
	put_program(&w, 2);
	for (int i = 0; i < 1000; i++)
		put_sample(&w, 5, 0);
	for (int i = 0; i < 9; i++)
		opd_trans_run(&f->opd, w.word, w.nr);
	kernel.taken = 9000;
	l = ledger_of(f);
	assert_int_equal(l.pending, OPD_MAX_DEFERRED);
	assert_int_equal(lost(&l, "lost_no_image_name"),
			 9000 - OPD_MAX_DEFERRED);
	free_fixture(f);
}

static void the_kernel_may_have_more(void **state)
{
	struct fixture *f = new_live();
	struct words w = { .nr = 0 };
	struct op_ledger l;

	(void)state;
	put_program(&w, 1);
	put_sample(&w, 5, 0);
	read_words(f, &w);
	kernel.taken = 10;
	kernel.overflow = 3;
	l = ledger_of(f);
	assert_int_equal(l.taken, 10);
	assert_int_equal(l.stored, 1);
	assert_int_equal(l.pending, 6);
	assert_int_equal(opd_stats_write_last(&f->opd), 0);
	restart_daemon(f);
	memset(&kernel, 0, sizeof(kernel));
	l = ledger_of(f);
	assert_int_equal(l.taken, 10);
	assert_int_equal(lost(&l, "lost_at_exit"), 6);
	free_fixture(f);
}

/* ---- record and replay ------------------------------------------------------
 */

static void read_file(const char *path, struct words *w)
{
	FILE *file = fopen(path, "r");

	assert_non_null(file);
	w->nr = fread(w->word, 8, sizeof(w->word) / 8, file);
	assert_true(feof(file));
	fclose(file);
}

static void put_session(struct words *w)
{
	put_program(w, 1);
	put_sample(w, 5, 0);
	put_kernel(w);
	put_sample(w, 0xffffffff81000005, 0);
	put_record(w, OP_MODULE_LOADED, 0);
	put_program(w, 2);
	put_sample(w, 6, 0);
	put(w, OP_ESCAPE);
	put(w, OP_CODE_WORD(0, 0,
			    OP_MAX_RECORD_WORDS +
				    1)); /* damage is recorded, too */
	put_program(w, 3);
	put_record(w, 700, 1, U(1));
	put_sample(w, 7, 0);
	put_sample(w, 7, 1);
	put_anon(w, 0x7000, 0x9000, "[stack]");
	put_sample(w, 9, 0);
}

static void add_ranges(struct opd *opd)
{
	const struct op_build_id id = { 4, { 1, 2, 3, 4 } };

	opd->kernel.stale = false;
	assert_int_equal(opd_kernel_add(opd, "vmlinux", 0xffffffff81000000,
					0xffffffff82000000, &id),
			 0);
	assert_int_equal(opd_kernel_add(opd, "ext4", 0xffffffffc0000000,
					0xffffffffc0001000, &id),
			 0);
	opd_record_ranges(opd);
}

static void compare_files(const char *a_path, const char *b_path)
{
	struct odb *a, *b;
	struct odb_stat a_stat, b_stat;
	uint64_t key, count;

	assert_int_equal(odb_open(&a, a_path, ODB_RDONLY), 0);
	if (odb_open(&b, b_path, ODB_RDONLY))
		fail_msg("%s is not there", b_path);
	odb_stat(a, &a_stat);
	odb_stat(b, &b_stat);
	assert_int_equal(a_stat.nr_keys, b_stat.nr_keys);
	for (size_t at = 0; odb_next(a, &at, &key, &count);)
		assert_int_equal(odb_get(b, key), count);
	assert_memory_equal(odb_user(a), odb_user(b), ODB_USER_SIZE);
	odb_close(a);
	odb_close(b);
}

/* Every sample file of @a is in @b, too. Returns how many there are. */
static int compare_sessions(struct fixture *a, struct fixture *b)
{
	char *const paths[] = { a->opd.session.current, NULL };
	size_t len = strlen(a->opd.session.current);
	FTS *tree = fts_open(paths, FTS_PHYSICAL, NULL);
	char path[8192];
	FTSENT *entry;
	int nr = 0;

	assert_non_null(tree);
	while ((entry = fts_read(tree))) {
		if (entry->fts_info != FTS_F ||
		    !strcmp(entry->fts_name, "ledger"))
			continue;
		snprintf(path, sizeof(path), "%s%s", b->opd.session.current,
			 entry->fts_path + len);
		compare_files(entry->fts_accpath, path);
		nr++;
	}
	fts_close(tree);
	return nr;
}

static void what_is_recorded_replays(void **state)
{
	struct fixture *live = new_live();
	struct fixture *replay;
	struct words w = { .nr = 0 };
	struct op_ledger a, b;
	char path[128];

	(void)state;
	snprintf(path, sizeof(path), "%s/stream", live->dir);
	assert_int_equal(opd_record_open(&live->opd, path, NULL), 0);
	add_ranges(&live->opd);
	put_session(&w);
	kernel.busy = 4; /* the first name comes late */
	kernel.taken = 9;
	kernel.overflow = 3;
	read_words(live, &w);
	opd_defer_retry(&live->opd, OP_NO_COOKIE, false);
	a = ledger_of(live);
	assert_int_equal(a.pending, 0);
	assert_int_equal(opd_finish(&live->opd), 0);

	replay = new_replay();
	read_file(path, &w);
	run_words(replay, &w);
	b = ledger_of(replay);
	assert_int_equal(opd_finish(&replay->opd), 0);
	assert_int_equal(b.taken, a.taken);
	assert_int_equal(b.stored, a.stored);
	assert_int_equal(b.stored, 5);
	assert_int_equal(b.nr_causes, a.nr_causes);
	for (unsigned int i = 0; i < a.nr_causes; i++)
		assert_int_equal(lost(&b, a.causes[i].name), a.causes[i].nr);
	assert_int_equal(compare_sessions(live, replay), 5);
	assert_int_equal(compare_sessions(replay, live), 5);
	for (int i = 1; i <= 3; i++) {
		char name[128];

		snprintf(
			name, sizeof(name),
			"{root}/bin/program-%d/{dep}/{root}/bin/program-%d/TIMER.0.0.all.all.all",
			i, i);
		assert_int_equal(count_at(replay, name, 4 + (uint64_t)i), 1);
	}
	assert_int_equal(
		count_at(
			replay,
			"{kern}/vmlinux/{dep}/{kern}/vmlinux/TIMER.0.0.all.all.all",
			5),
		1);
	free_fixture(live);
	free_fixture(replay);
}

static void headers_replay_too(void **state)
{
	struct fixture *live = new_live();
	struct fixture *replay;
	struct op_sample_header *header;
	struct words w = { .nr = 0 };
	struct odb *odb;
	char path[8192];

	(void)state;
	live->opd.cpu_khz = 12345;
	snprintf(path, sizeof(path), "%s/stream", live->dir);
	assert_int_equal(opd_record_open(&live->opd, path, NULL), 0);
	put_program(&w, 1);
	put_sample(&w, 5, 0);
	read_words(live, &w);
	opd_record_close(&live->opd);
	replay = new_replay();
	read_file(path, &w);
	run_words(replay, &w);
	snprintf(path, sizeof(path), "%s/%s", replay->opd.session.current,
		 PROGRAM(1));
	assert_int_equal(odb_open(&odb, path, ODB_RDONLY), 0);
	header = odb_user(odb);
	assert_int_equal(header->timer_hz, 250);
	assert_int_equal(header->cpu_khz, 12345);
	assert_string_equal(header->cpu_type, "timer");
	assert_int_equal(header->build_id_len, 3);
	assert_int_equal(header->kind, OP_IMAGE_FILE);
	odb_close(odb);
	free_fixture(live);
	free_fixture(replay);
}

static void recording_to_a_full_disk_ends(void **state)
{
	struct fixture *f = new_live();
	struct words w = { .nr = 0 };

	(void)state;
	if (access("/dev/full", W_OK))
		skip();
	assert_int_equal(opd_record_open(&f->opd, "/dev/full", NULL), 0);
	put_program(&w, 1);
	put_sample(&w, 5, 0);
	kernel.taken = 1;
	read_words(f, &w);
	assert_int_equal(opd_stats_write(&f->opd), 0);
	assert_null(f->opd.record);
	assert_int_equal(ledger_of(f).stored, 1);
	free_fixture(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_name_is_asked_for_once),
		cmocka_unit_test(samples_wait_for_their_name),
		cmocka_unit_test(they_do_not_wait_for_ever),
		cmocka_unit_test(the_queue_is_bounded),
		cmocka_unit_test(the_kernel_may_have_more),
		cmocka_unit_test(what_is_recorded_replays),
		cmocka_unit_test(headers_replay_too),
		cmocka_unit_test(recording_to_a_full_disk_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
