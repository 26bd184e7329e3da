// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A source that asks for names as the kernel does, what waits for a name, and
 * that what is recorded replays to the same samples.
 */

#include <fts.h>

#include <sys/eventfd.h>

#include "daemon/opd_reading.h"
#include "daemon/source/oprofilefs/opd_feed.h"
#include "daemon/source/opd_proc.h"
#include "daemon/source/opd_writer.h"
#include "tests/unit/opd_fixture.h"

/* The kernel's part. Cookies from 1 to 9 are named when it is their turn. */
static struct {
	int busy; /* how often a name is not there yet */
	int asked;
	struct words words; /* that can be read */
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

static ssize_t fake_read(struct opd_source *source, void *buf, size_t len)
{
	size_t got = kernel.words.nr * sizeof(uint64_t);

	(void)source;
	if (!got)
		return -EAGAIN;
	assert_true(got <= len);
	memcpy(buf, kernel.words.word, got);
	kernel.words.nr = 0;
	return (ssize_t)got;
}

static void fake_close(struct opd_source *source)
{
	opd_feed_free(source->feed);
	source->feed = NULL;
}

static const struct opd_source_ops fake_kernel = {
	.name = "fake",
	.close = fake_close,
	.read = fake_read,
	.write = opd_feed_write,
	.finish = opd_feed_finish,
	.cookie = fake_cookie,
	.account = fake_account,
};

static void start_live(struct fixture *f)
{
	struct opd_source *source = &f->opd.source;
	struct op_diag diag = { "" };

	source->ops = &fake_kernel;
	source->timer_hz = 250;
	snprintf(source->cpu_type, sizeof(source->cpu_type), "timer");
	opd_events_timer(&f->opd.options.events);
	source->events = &f->opd.options.events;
	/* This machine's kernel is looked for when one is sampled. */
	source->events->counter[0].kernel = false;
	start_daemon(f, &fake_kernel);
	source->writer = opd_writer_new(source);
	assert_non_null(source->writer);
	assert_int_equal(opd_feed_new(&source->feed, source), 0);
	source->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	assert_int_equal(opd_loop_init(&f->opd.loop, f->opd.source.fd, &diag),
			 0);
	close(source->fd);
	source->fd = -1;
}

static struct fixture *new_live(void)
{
	struct fixture *f = new_fixture();

	memset(&kernel, 0, sizeof(kernel));
	start_live(f);
	return f;
}

/* One read of the buffer, and what was lost until then. */
static void read_words(struct fixture *f, const struct words *w)
{
	kernel.words = *w;
	opd_source_ask_account(&f->opd.source);
	opd_reading_drain(&f->opd);
}

static void put_program(struct words *w, uint64_t cookie)
{
	put_cpu(w, 0);
	put_task(w, 20 + cookie, 20, cookie);
	put_image(w, cookie);
	put_user(w);
}

#define OTHER                                                                  \
	"{kern}/[kernel-other]/{dep}/{kern}/[kernel-other]"                    \
	"/TIMER.250.0.all.all.all"
#define PROGRAM(n)                                                             \
	"{root}/bin/program-" #n "/{dep}/{root}/bin/program-" #n               \
	"/{build:616263}/TIMER.250.0.all.all.all"

TEST(each_name_is_asked_for_once)
{
	struct fixture *f = new_live();
	struct words w = { .nr = 0 };

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
	assert_int_equal(
		op_ledger_lost_by(&(struct op_ledger[]){ ledger_of(f) }[0],
				  "lost_no_image_name"),
		2);
	free_fixture(f);
}

TEST(samples_wait_for_their_name)
{
	struct fixture *f = new_live();
	struct words w = { .nr = 0 };
	struct op_ledger l;

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
	opd_source_ask_account(&f->opd.source);
	opd_reading_drain(&f->opd);
	l = ledger_of(f);
	assert_int_equal(l.pending, 0);
	assert_int_equal(l.stored, 2);
	assert_int_equal(count_at(f, PROGRAM(2), 6), 1);
	free_fixture(f);
}

TEST(they_do_not_wait_for_ever)
{
	struct fixture *f = new_live();
	struct words w = { .nr = 0 };
	struct op_ledger l;

	kernel.busy = 1 << 20;
	put_program(&w, 2);
	put_sample(&w, 5, 0);
	kernel.taken = 1;
	for (int i = 0; i < 100; i++) {
		read_words(f, &w);
		w.nr = 0;
		put_cpu(&w, 1);
	}
	l = ledger_of(f);
	assert_int_equal(l.pending, 0);
	assert_int_equal(op_ledger_lost_by(&l, "lost_no_image_name"), 1);
	free_fixture(f);
}

TEST(the_queue_is_bounded)
{
	struct fixture *f = new_live();
	struct words w = { .nr = 0 };
	struct op_ledger l;

	kernel.busy = 1 << 30;
	put_program(&w, 2);
	for (int i = 0; i < 1000; i++)
		put_sample(&w, 5, 0);
	kernel.taken = 9000;
	for (int i = 0; i < 9; i++)
		read_words(f, &w);
	l = ledger_of(f);
	assert_int_equal(l.pending, OPD_MAX_DEFERRED);
	assert_int_equal(op_ledger_lost_by(&l, "lost_no_image_name"),
			 9000 - OPD_MAX_DEFERRED);
	free_fixture(f);
}

TEST(the_kernel_may_have_more)
{
	struct fixture *f = new_live();
	struct words w = { .nr = 0 };
	struct op_ledger l;

	put_program(&w, 1);
	put_sample(&w, 5, 0);
	kernel.taken = 10;
	kernel.overflow = 3;
	read_words(f, &w);
	l = ledger_of(f);
	assert_int_equal(l.taken, 10);
	assert_int_equal(l.stored, 1);
	assert_int_equal(l.pending, 6);
	assert_int_equal(opd_stats_write_last(&f->opd.stats), 0);
	opd_release(&f->opd);
	opd_init(&f->opd);
	memset(&kernel, 0, sizeof(kernel));
	start_live(f);
	l = ledger_of(f);
	assert_int_equal(l.taken, 10);
	assert_int_equal(op_ledger_lost_by(&l, "lost_at_exit"), 6);
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

static void record_to(struct fixture *f, const char *path)
{
	assert_int_equal(
		opd_record_open(&f->opd.record, path, &f->opd.log, NULL), 0);
}

static void put_session(struct words *w)
{
	put_program(w, 1);
	put_sample(w, 5, 0);
	put_kernel(w);
	put_sample(w, 5, 0); /* where no kernel is */
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

TEST(what_is_recorded_replays)
{
	struct fixture *live = new_live();
	struct fixture *replay;
	struct words w = { .nr = 0 };
	struct op_ledger a, b;
	char path[128];

	snprintf(path, sizeof(path), "%s/stream", live->dir);
	record_to(live, path);
	put_session(&w);
	kernel.busy = 4; /* the first name comes late */
	kernel.taken = 9;
	kernel.overflow = 3;
	read_words(live, &w);
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
		assert_int_equal(op_ledger_lost_by(&b, a.causes[i].name),
				 a.causes[i].nr);
	assert_int_equal(compare_sessions(live, replay), 5);
	assert_int_equal(compare_sessions(replay, live), 5);
	for (int i = 1; i <= 3; i++) {
		char name[128];

		snprintf(
			name, sizeof(name),
			"{root}/bin/program-%d/{dep}/{root}/bin/program-%d/{build:616263}/TIMER.250.0.all.all.all",
			i, i);
		assert_int_equal(count_at(replay, name, 4 + (uint64_t)i), 1);
	}
	assert_int_equal(count_at(replay, OTHER, 0), 1);
	free_fixture(live);
	free_fixture(replay);
}

TEST(headers_replay_too)
{
	struct fixture *live = new_live();
	struct fixture *replay;
	struct op_sample_header *header;
	struct words w = { .nr = 0 };
	struct odb *odb;
	char path[8192];

	snprintf(path, sizeof(path), "%s/stream", live->dir);
	record_to(live, path);
	put_program(&w, 1);
	put_sample(&w, 5, 0);
	read_words(live, &w);
	opd_record_close(&live->opd.record);
	replay = new_replay();
	read_file(path, &w);
	run_words(replay, &w);
	sample_path(replay, PROGRAM(1), path, sizeof(path));
	assert_int_equal(odb_open(&odb, path, ODB_RDONLY), 0);
	header = odb_user(odb);
	assert_int_equal(header->timer_hz, 250);
	assert_int_equal(header->cpu_khz, opd_proc_cpu_khz());
	assert_string_equal(header->cpu_type, "timer");
	assert_int_equal(header->build_id_len, 3);
	assert_int_equal(header->kind, OP_IMAGE_FILE);
	odb_close(odb);
	free_fixture(live);
	free_fixture(replay);
}

TEST(recording_to_a_full_disk_ends)
{
	struct fixture *f = new_live();
	struct words w = { .nr = 0 };

	if (access("/dev/full", W_OK))
		skip();
	record_to(f, "/dev/full");
	put_program(&w, 1);
	put_sample(&w, 5, 0);
	kernel.taken = 1;
	read_words(f, &w);
	opd_record_flush(&f->opd.record);
	assert_null(f->opd.record.file);
	assert_int_equal(ledger_of(f).stored, 1);
	free_fixture(f);
}
