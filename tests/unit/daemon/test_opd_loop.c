// SPDX-License-Identifier: GPL-2.0-or-later
/* When the daemon reads, and what it does at ticks and signals. */

#include <dlfcn.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/un.h>

#include "daemon/opd_reading.h"
#include "daemon/opd_run.h"
#include "daemon/store/opd_history.h"
#include "tests/unit/opd_fixture.h"

/* A live source that this program plays. */
static struct feed {
	struct words words;
	size_t at; /* bytes that were given out */
	size_t step; /* bytes at once */
	ssize_t end; /* what comes behind them */
	bool endless; /* they begin anew instead */
	bool ends_loop; /* a signal comes once they are read */
	unsigned int nr_reads, nr_dumps, nr_logs;
	int dump_error;
	int timer_fd; /* the loop's */
	bool disk_is_slow;
	bool disk_waits; /* for all of them to be read */
	int fd; /* the source's */
	sem_t were_read;
} feed;

#define REAL(name) ((__typeof__(&(name)))dlsym(RTLD_NEXT, #name))

/* In place of the C library's: all words come once more, and a slow disk is
 * not done before they have been read. */
int syncfs(int fd)
{
	if (feed.disk_is_slow) {
		feed.at = 0;
		feed.disk_waits = true;
		eventfd_write(feed.fd, 1);
		while (sem_wait(&feed.were_read))
			;
	}
	return REAL(syncfs)(fd);
}

static ssize_t feed_read(struct opd_source *source, void *buf, size_t len)
{
	size_t all = feed.words.nr * sizeof(uint64_t);

	(void)source;
	feed.nr_reads++;
	if (feed.at == all && feed.endless)
		feed.at = 0;
	if (feed.at == all) {
		if (feed.disk_waits)
			sem_post(&feed.were_read);
		if (feed.ends_loop)
			raise(SIGTERM);
		return feed.end;
	}
	if (len > feed.step)
		len = feed.step;
	if (len > all - feed.at)
		len = all - feed.at;
	memcpy(buf, (char *)feed.words.word + feed.at, len);
	feed.at += len;
	return (ssize_t)len;
}

static int feed_dump(struct opd_source *source, struct op_diag *diag)
{
	(void)source;
	feed.nr_dumps++;
	return feed.dump_error ? op_diag_set(diag, feed.dump_error, "no dump")
			       : 0;
}

/* The statistics end with this: it is the end of a test, too. */
static void feed_log(struct opd_source *source, struct op_log *log)
{
	(void)source;
	(void)log;
	feed.nr_logs++;
	timerfd_settime(feed.timer_fd, 0,
			&(struct itimerspec){ .it_value = { 0 } }, NULL);
	raise(SIGTERM);
}

static const struct opd_source_ops feed_ops = {
	.name = "feed",
	.read = feed_read,
	.dump = feed_dump,
	.log = feed_log,
};

/* Three samples, one of which has to wait for the name of its image. */
static struct fixture *new_loop(size_t step)
{
	struct op_diag diag = { "" };
	struct fixture *f = new_fixture();

	memset(&feed, 0, sizeof(feed));
	feed.step = step;
	feed.end = -EAGAIN;
	put_cookie(&feed.words, 1, "[1]");
	put_cpu(&feed.words, 0);
	put_task(&feed.words, 1, 1, 1);
	put_user(&feed.words);
	put_image(&feed.words, 1);
	put_sample(&feed.words, 0x10, 0);
	put_sample(&feed.words, 0x10, 0);
	put_image(&feed.words, 7);
	put_sample(&feed.words, 0x20, 0);
	/* One more is under way. */
	put_record(&feed.words, OP_TAKEN, 1, U(4));
	start_daemon(f, &feed_ops);
	f->opd.source.fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	assert_int_equal(opd_loop_init(&f->opd.loop, f->opd.source.fd, &diag),
			 0);
	return f;
}

static void free_loop(struct fixture *f)
{
	close(f->opd.source.fd);
	free_fixture(f);
}

#define ONE "{kern}/[1]/{dep}/{kern}/[1]/TIMER.0.0.all.all.all"
#define SEVEN "{kern}/[7]/{dep}/{kern}/[7]/TIMER.0.0.all.all.all"

static bool log_has(struct fixture *f, const char *text)
{
	char line[512];
	FILE *file = fopen(f->opd.session.log, "r");
	bool found = false;

	assert_non_null(file);
	while (fgets(line, sizeof(line), file))
		found |= strstr(line, text) != NULL;
	fclose(file);
	return found;
}

/* In pieces that are not even whole words, until there is no more. */
TEST(test_drain)
{
	static const size_t steps[] = { 1, 13 };

	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		struct fixture *f = new_loop(steps[i]);
		size_t len = feed.words.nr * sizeof(uint64_t);
		size_t nr = (len + steps[i] - 1) / steps[i];

		opd_reading_drain(&f->opd);
		assert_int_equal(count_at(f, ONE, 0x10), 2);
		assert_int_equal(f->opd.stats.nr_reads, nr);
		assert_int_equal(feed.nr_reads, nr + 1);
		assert_int_equal(f->opd.loop.len, 0);
		assert_int_equal(f->opd.defer.nr, 1);
		assert_false(f->opd.loop.quit);
		/* What waits for its name has it as soon as that is read. */
		feed.words.nr = 0;
		feed.at = 0;
		put_cookie(&feed.words, 7, "[7]");
		opd_reading_drain(&f->opd);
		assert_int_equal(count_at(f, SEVEN, 0x20), 1);
		free_loop(f);
	}
}

/* A record that is not whole stays for the next time. */
TEST(test_rest)
{
	struct fixture *f = new_loop(1000);

	feed.words.nr -= 4;
	opd_reading_drain(&f->opd);
	assert_int_equal(f->opd.loop.len, 8);
	feed.words.nr += 4;
	opd_reading_drain(&f->opd);
	assert_int_equal(f->opd.loop.len, 0);
	assert_int_equal(f->opd.defer.nr, 1);
	free_loop(f);
}

/* Whoever writes faster than we read does not keep us for ever. */
TEST(test_endless)
{
	struct fixture *f = new_loop(1000);

	feed.endless = true;
	opd_reading_drain(&f->opd);
	assert_int_equal(feed.nr_reads, 4096);
	free_loop(f);
}

TEST(test_ends)
{
	static const struct {
		ssize_t end;
		bool logged;
	} ends[] = { { 0, false }, { -EIO, true } };

	for (size_t i = 0; i < 2; i++) {
		struct fixture *f = new_loop(1000);

		feed.end = ends[i].end;
		opd_reading_drain(&f->opd);
		assert_true(f->opd.loop.quit);
		assert_int_equal(f->opd.loop.error, ends[i].end);
		assert_int_equal(log_has(f,
					 "reading samples: Input/output error"),
				 ends[i].logged);
		assert_int_equal(feed.nr_reads, 2);
		free_loop(f);
	}
}

/* All that was taken is on the disk, and in the ledger. */
TEST(test_dump)
{
	struct fixture *f = new_loop(1000);
	struct op_diag diag = { "" };
	struct op_ledger l;
	char path[8192];

	assert_int_equal(opd_reading_dump(&f->opd, &diag), 0);
	assert_int_equal(feed.nr_dumps, 1);
	snprintf(path, sizeof(path), "%s/ledger", f->opd.session.current);
	assert_int_equal(op_ledger_read(&l, path, &diag), 0);
	assert_int_equal(l.stored, 2);
	assert_int_equal(l.pending, 2);
	feed.dump_error = -ENODEV;
	feed.at = 0;
	assert_int_equal(opd_reading_dump(&f->opd, &diag), -ENODEV);
	assert_string_equal(diag.text, "no dump");
	assert_int_equal(feed.at, 0);
	feed.dump_error = 0;
	diag.text[0] = '\0';
	snprintf(path, sizeof(path), "%s/ledger", f->opd.session.current);
	unlink(path);
	assert_int_equal(mkdir(path, 0755), 0);
	assert_true(opd_reading_dump(&f->opd, &diag) < 0);
	assert_string_equal(diag.text, "the ledger cannot be written");
	free_loop(f);
}

/* Samples are counted while a disk takes its time. */
TEST(test_slow_disk)
{
	struct fixture *f = new_loop(1000);
	struct op_diag diag = { "" };

	assert_int_equal(sem_init(&feed.were_read, 0, 0), 0);
	feed.disk_is_slow = true;
	feed.fd = f->opd.source.fd;
	assert_int_equal(opd_reading_dump(&f->opd, &diag), 0);
	assert_true(feed.disk_waits);
	assert_int_equal(f->opd.stats.stored, 4);
	assert_int_equal(count_at(f, ONE, 0x10), 4);
	sem_destroy(&feed.were_read);
	free_loop(f);
}

/* Ticks follow each other at once: the sixtieth is as good as a dump. */
TEST(test_ticks)
{
	const struct itimerspec at_once = { { 0, 1 }, { 0, 1 } };
	struct fixture *f = new_loop(1000);

	for (unsigned int i = 0; i < OP_LOG_BUDGET + 5; i++)
		op_log(&f->opd.log, "line %u", i);
	assert_int_equal(
		timerfd_settime(f->opd.loop.timer_fd, 0, &at_once, NULL), 0);
	opd_run(&f->opd);
	/* One more tick may be under way when the signal comes. */
	assert_in_range(f->opd.loop.ticks, 60, 61);
	assert_int_equal(feed.nr_dumps, 1);
	assert_int_equal(feed.nr_logs, 1);
	assert_int_equal(count_at(f, ONE, 0x10), 2);
	assert_true(log_has(f, "5 lines were left out here"));
	assert_true(log_has(f, "-- OProfile Statistics --"));
	assert_int_equal(f->opd.loop.error, 0);
	free_loop(f);
}

/* What is readable is read; a signal ends the loop, a hangup does not. */
TEST(test_signals)
{
	struct fixture *f = new_loop(1000);
	char moved[8192];

	assert_int_equal(eventfd_write(f->opd.source.fd, 1), 0);
	op_log(&f->opd.log, "before");
	snprintf(moved, sizeof(moved), "%s.old", f->opd.session.log);
	assert_int_equal(rename(f->opd.session.log, moved), 0);
	raise(SIGHUP);
	raise(SIGINT);
	opd_run(&f->opd);
	assert_true(f->opd.loop.quit);
	assert_int_equal(f->opd.loop.error, 0);
	assert_true(
		log_has(f, "closed all sample files and opened the log again"));
	assert_false(log_has(f, "before"));
	assert_int_equal(f->opd.store.sfiles.nr_open, 0);
	free_loop(f);
}

static time_t one_o_clock(void)
{
	return 3600;
}

/* The span of a history ends before the next tick when it needs much room. */
TEST(test_span_that_needs_room)
{
	static const struct op_clock clock = { .seconds = one_o_clock,
					       .date = one_o_clock };
	static const struct {
		uint64_t begin, limit;
		bool ends;
	} rows[] = {
		{ 3599, 1024, true },
		{ 3599, UINT64_C(1) << 30, false },
		/* A span has one second at least. */
		{ 3600, 1024, false },
	};
	char path[8192];

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct fixture *f = new_loop(1000);
		struct opd_store *store = &f->opd.store;
		struct op_diag diag = { "" };
		struct op_history limits;

		assert_int_equal(op_history_parse(&limits, "8M,day:1d", &diag),
				 0);
		store->clock = &clock;
		opd_history_init(store, &limits);
		opd_disk_init(store, 0);
		store->history.begin = rows[i].begin;
		opd_reading_drain(&f->opd);
		assert_int_equal(f->opd.stats.stored, 2);
		store->disk.limit = rows[i].limit;
		store->disk.room = 0; /* until somebody looks at the files */
		feed.ends_loop = true;
		assert_int_equal(eventfd_write(f->opd.source.fd, 1), 0);
		opd_run(&f->opd);
		snprintf(path, sizeof(path), "%s/.span-3599-3600/ledger",
			 f->opd.session.current);
		assert_int_equal(access(path, F_OK), rows[i].ends ? 0 : -1);
		assert_int_equal(f->opd.loop.ticks, 0);
		opd_pack_finish(store);
		free_loop(f);
	}
}

/* A file is never waited for: it is read until it ends. */
TEST(test_file)
{
	static const struct opd_source_ops replay = {
		.name = "feed",
		.ends = true,
		.read = feed_read,
	};
	struct op_diag diag = { "" };
	struct fixture *f = new_fixture();

	memset(&feed, 0, sizeof(feed));
	feed.step = 24;
	put_begin(&feed.words);
	put_cookie(&feed.words, 1, "[1]");
	put_cpu(&feed.words, 0);
	put_user(&feed.words);
	put_image(&feed.words, 1);
	put_sample(&feed.words, 0x10, 0);
	start_daemon(f, &replay);
	f->opd.source.fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	assert_int_equal(opd_loop_init(&f->opd.loop, f->opd.source.fd, &diag),
			 0);
	assert_true(f->opd.loop.always_ready);
	opd_run(&f->opd);
	assert_int_equal(f->opd.loop.error, 0);
	assert_int_equal(count_at(f, ONE, 0x10), 1);
	free_loop(f);
}

/* A client at the socket for ordinary users. */
static int connect_user(struct fixture *f)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	assert_true(strlen(f->opd.session.mine) < sizeof(at.sun_path));
	strcpy(at.sun_path, f->opd.session.mine);
	assert_int_equal(connect(fd, (struct sockaddr *)&at, sizeof(at)), 0);
	return fd;
}

/* All that comes at @fd, which is closed; its text is in @text. */
static size_t read_users_answer(int fd, char *text, size_t size)
{
	size_t len = 0;
	ssize_t got;

	while ((got = read(fd, text + len, size - 1 - len)) > 0)
		len += (size_t)got;
	assert_int_equal(got, 0);
	text[len] = '\0';
	close(fd);
	return len;
}

/* A user who may have samples has all that were taken up to now. */
TEST(test_users)
{
	static const char head[] = " separate-lib = 0\n"
				   " separate-kernel = 0\n"
				   " separate-thread = 0\n"
				   " separate-cpu = 0\n"
				   " separate-cgroup = 0\n"
				   "ok\n";
	static const bool rows[] = { true, false };
	const uint64_t taken[] = { OP_ESCAPE, OP_CODE_WORD(OP_TAKEN, 0, 1), 5 };
	char policy[128], text[4096];

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct fixture *f = new_loop(1000);
		struct op_diag diag = { "" };
		size_t len;
		int user;

		snprintf(text, sizeof(text), "mine = users %u\n",
			 rows[i] ? getuid() : getuid() + 1);
		write_text(f->dir, "policy", text);
		snprintf(policy, sizeof(policy), "%s/policy", f->dir);
		assert_int_equal(chmod(policy, 0644), 0);
		f->opd.options.policy = policy;
		assert_int_equal(opd_user_samples_read_policy(
					 &f->opd.user_samples, &diag),
				 0);
		assert_int_equal(
			opd_user_samples_open(&f->opd.user_samples, &diag), 0);
		assert_int_equal(opd_loop_add(&f->opd.loop,
					      f->opd.user_samples.fd,
					      OPD_WAIT_USER_SAMPLES),
				 0);
		put_record(&feed.words, OP_CTX_TGID, 2, U(1), U(getuid()));
		put_image(&feed.words, 1);
		for (int nr = 0; nr < 5; nr++)
			put_sample(&feed.words, 0x30, 0);
		/* The loop itself reads no more than the first record. */
		feed.step = 24;
		user = connect_user(f);
		/* Both are ready at once. */
		feed.ends_loop = true;
		assert_int_equal(eventfd_write(f->opd.source.fd, 1), 0);
		opd_run(&f->opd);
		assert_int_equal(feed.nr_dumps, rows[i]);
		len = read_users_answer(user, text, sizeof(text));
		if (rows[i]) {
			assert_int_equal(strncmp(text, head, strlen(head)), 0);
			assert_memory_equal(text + len - sizeof(taken), taken,
					    sizeof(taken));
		} else {
			assert_int_equal(strncmp(text, "error the policy ", 17),
					 0);
		}
		f->opd.options.policy = NULL;
		free_loop(f);
	}
}

BEFORE_TESTS()
{
	opd_loop_block_signals();
}
