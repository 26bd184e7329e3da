// SPDX-License-Identifier: GPL-2.0-or-later
/* The daemon's setup, what its source tells it, and its end. */

#include <sys/resource.h>

#include "daemon/opd_command.h"
#include "daemon/source/opd_names.h"
#include "libop/session/op_history.h"
#include "libop/session/op_ledger.h"
#include "libop/session/op_span.h"
#include "tests/unit/opd_fixture.h"

#define SH "{root}/bin/sh/{dep}/{root}/bin/sh/TIMER.0.0.all.all.all"
#define NR(array) (sizeof(array) / sizeof((array)[0]))

/* @nr samples of /bin/sh and one of an image without name, of a stream that has
 * not ended. */
static void count_some(struct fixture *f, int nr)
{
	struct words *w = calloc(1, sizeof(*w));

	assert_non_null(w);
	put_begin(w);
	put_cookie(w, 1, "/bin/sh");
	put_cpu(w, 0);
	put_task(w, 1, 1, 1);
	put_user(w);
	put_image(w, 1);
	while (nr--)
		put_sample(w, 0x10, 0);
	put_image(w, 7);
	put_sample(w, 0x20, 0);
	assert_int_equal(opd_trans_run(&f->opd, w->word, w->nr), w->nr);
	free(w);
}

/* The ledger in samples/current/@name. */
static struct op_ledger ledger_in(struct fixture *f, const char *name)
{
	struct op_diag diag = { "" };
	struct op_ledger ledger;
	char path[8192];

	sample_path(f, name, path, sizeof(path));
	if (op_ledger_read(&ledger, path, &diag))
		fail_msg("%s", diag.text);
	return ledger;
}

/* ---- the setup --------------------------------------------------------------
 */

/* So it can be released at once. */
TEST(nothing_is_open_at_first)
{
	struct opd *opd = malloc(sizeof(*opd));
	unsigned int nr_fds = count_fds();

	assert_non_null(opd);
	memset(opd, 0x55, sizeof(*opd));
	opd_init(opd);
	assert_int_equal(opd->source.fd, -1);
	assert_int_equal(opd->source.dir, -1);
	assert_int_equal(opd->loop.epoll_fd, -1);
	assert_int_equal(opd->loop.signal_fd, -1);
	assert_int_equal(opd->loop.timer_fd, -1);
	assert_int_equal(opd->control.fd, -1);
	assert_int_equal(opd->control.shutdown_fd, -1);
	for (size_t i = 0; i < NR(opd->control.clients); i++)
		assert_int_equal(opd->control.clients[i].fd, -1);
	assert_int_equal(opd->user_samples.fd, -1);
	assert_int_equal(opd->user_samples.client, -1);
	assert_ptr_equal(opd->user_samples.session, &opd->session);
	assert_int_equal(opd->store.lock_fd, -1);
	assert_int_equal(opd->log.fd, -1);
	opd_release(opd);
	assert_int_equal(count_fds(), nr_fds);
	free(opd);
}

TEST(sources_are_to_tell)
{
	static const struct {
		bool lib, thread, cgroup, user;
		const char *record;
		unsigned int tells;
	} rows[] = {
		{ .tells = 0 },
		{ .lib = true, .tells = OPD_TELL_RUNS },
		{ .thread = true, .tells = OPD_TELL_NAMES | OPD_TELL_CGROUPS },
		{ .cgroup = true, .tells = OPD_TELL_CGROUPS },
		{ .user = true, .tells = OPD_TELL_OWNERS },
		{ .record = "file",
		  .tells = OPD_TELL_RUNS | OPD_TELL_NAMES | OPD_TELL_CGROUPS |
			   OPD_TELL_OWNERS },
	};
	struct opd *opd = calloc(1, sizeof(*opd));

	assert_non_null(opd);
	for (size_t i = 0; i < NR(rows); i++) {
		opd->options.separate_lib = rows[i].lib;
		opd->options.separate_thread = rows[i].thread;
		opd->options.separate_cgroup = rows[i].cgroup;
		opd->options.separate_user = rows[i].user;
		opd->options.record = (char *)rows[i].record;
		opd->client.tells = 1u << 30; /* what was before is gone */
		opd_choose_names(opd);
		assert_int_equal(opd->client.tells, rows[i].tells);
	}
	free(opd);
}

/* The number of the last one of eight descriptors. */
static rlim_t last_of_eight(void)
{
	int fds[8];

	for (size_t i = 0; i < NR(fds); i++)
		fds[i] = open("/dev/null", O_RDONLY | O_CLOEXEC);
	for (size_t i = 0; i < NR(fds); i++)
		close(fds[i]);
	return (rlim_t)fds[NR(fds) - 1];
}

/* The setup with @more descriptors than eight; its result. */
static int set_up_with(struct fixture *f, rlim_t more, struct op_diag *diag)
{
	struct rlimit limit, few;
	int err;

	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	few = limit;
	few.rlim_cur = last_of_eight() + 1 + more;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	err = opd_setup(&f->opd, diag);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	return err;
}

/* Of what is left behind eight, binaries get a fourth. */
TEST(descriptors_are_counted)
{
	static const struct {
		rlim_t more;
		unsigned int for_binaries;
	} rows[] = { { 40, 10 }, { 39, 9 }, { 4, 1 }, { 3, 0 } };

	for (size_t i = 0; i < NR(rows); i++) {
		struct fixture *f = new_fixture();
		struct op_diag diag = { "" };

		prepare_daemon(f, &test_replay);
		if (set_up_with(f, rows[i].more, &diag))
			fail_msg("%s", diag.text);
		assert_int_equal(f->opd.deleted_images.max_open,
				 rows[i].for_binaries);
		free_fixture(f);
	}
}

TEST(too_few_descriptors)
{
	struct fixture *f = new_fixture();
	struct op_diag diag = { "" };

	prepare_daemon(f, &test_replay);
	assert_int_equal(set_up_with(f, (rlim_t)-1, &diag), -EMFILE);
	assert_int_equal(strncmp(diag.text, "start: Too many open files", 26),
			 0);
	free_fixture(f);
}

static struct unwinder *sources_own;

static struct unwinder *tell_unwinder(struct opd_source *source)
{
	(void)source;
	return sources_own;
}

/* The unwinder of a source has read the images already. */
TEST(sources_may_have_an_unwinder)
{
	static const struct opd_source_ops ops = {
		.name = "test",
		.read = read_nothing,
		.ends = true,
		.unwinder = tell_unwinder,
	};
	struct fixture *f = new_fixture(), *other;

	sources_own = NULL;
	start_daemon(f, &ops);
	assert_non_null(f->opd.user_stacks.unwinder);
	assert_ptr_equal(f->opd.stacks.unwinder, f->opd.user_stacks.unwinder);
	sources_own = f->opd.user_stacks.unwinder;
	other = new_fixture();
	start_daemon(other, &ops);
	assert_ptr_equal(other->opd.stacks.unwinder, sources_own);
	free_fixture(other);
	free_fixture(f);
}

/* ---- what the source finds --------------------------------------------------
 */

TEST(images_are_kept)
{
	static const struct {
		uint32_t flags;
		const char *path; /* NULL: this program */
		bool is_kept, is_shut, is_open;
	} rows[] = {
		/* The kernel's names have no links. */
		{ 0, "/proc/self/exe", true, false, false },
		{ 0, NULL, true, false, true },
		{ OP_IMAGE_DELETED, NULL, true, false, false },
		{ OP_IMAGE_MAY_HANG, NULL, true, true, false },
		{ OP_IMAGE_NO_FILE, "/made/code", false, false, false },
		{ OP_IMAGE_NO_FILE | OP_IMAGE_DELETED, "/memfd:code", true,
		  false, false },
	};
	char self[PATH_MAX];
	struct stat st;

	assert_non_null(realpath("/proc/self/exe", self));
	assert_int_equal(stat(self, &st), 0);
	for (size_t i = 0; i < NR(rows); i++) {
		struct op_cookie_query query = { .flags = rows[i].flags,
						 .mtime = 77,
						 .build_id_len = 3,
						 .build_id = "abc" };
		struct fixture *f = new_replay();
		const struct opd_source_client *client = &f->opd.client;
		const char *path = rows[i].path ?: self;
		const struct opd_kept *kept;

		strcpy(query.path, path);
		/* A file that is there has no build of this number. */
		if (rows[i].is_open) {
			query.build_id_len = 0;
			query.mtime = (uint64_t)st.st_mtime;
		}
		client->see_image(client->ctx, &query, 0, -1);
		assert_int_equal(f->opd.deleted_images.nr, rows[i].is_kept);
		if (rows[i].is_kept) {
			kept = &f->opd.deleted_images.kept[0];
			assert_string_equal(kept->binary.name, path);
			assert_int_equal(kept->binary.mtime, query.mtime);
			assert_int_equal(kept->binary.build_id.len,
					 query.build_id_len);
			assert_memory_equal(kept->binary.build_id.bytes,
					    query.build_id, query.build_id_len);
			assert_int_equal(kept->shut, rows[i].is_shut);
			assert_int_equal(kept->fd >= 0, rows[i].is_open);
		}
		free_fixture(f);
	}
}

/* A file that the source has opened is taken over. */
TEST(images_come_with_their_files)
{
	struct fixture *f = new_replay();
	const struct opd_source_client *client = &f->opd.client;
	struct op_cookie_query query = { .mtime = 0 };
	struct stat st;
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	assert_non_null(realpath("/proc/self/exe", query.path));
	assert_int_equal(fstat(fd, &st), 0);
	query.mtime = (uint64_t)st.st_mtime;
	client->see_image(client->ctx, &query, 0, fd);
	assert_int_equal(f->opd.deleted_images.kept[0].fd, fd);
	free_fixture(f);
}

/* Code of the kernel that each process has is that of this machine, too. */
TEST(the_vdso_is_seen)
{
	struct fixture *f = new_replay();
	const struct opd_source_client *client = &f->opd.client;
	struct op_cookie_query query = { .flags = OP_IMAGE_NO_FILE,
					 .path = "[other]" };

	client->see_image(client->ctx, &query, 0, -1);
	assert_false(f->opd.user_stacks.vdso_is_ours);
	strcpy(query.path, "[vdso]");
	client->see_image(client->ctx, &query, 0, -1);
	assert_true(f->opd.user_stacks.vdso_is_ours);
	free_fixture(f);
}

TEST(ranges_of_the_kernel_are_seen)
{
	struct fixture *f = new_replay();
	const struct opd_source_client *client = &f->opd.client;
	const struct op_build_id build_id = { 2, { 0xab, 1 } };
	uint64_t size;

	client->see_kernel(client->ctx, "ext4", 0x1000, 0x2000, &build_id,
			   NULL);
	assert_int_equal(f->opd.ksyms.nr, 1);
	assert_int_equal(f->opd.ksyms.ranges[0].start, 0x1000);
	assert_int_equal(f->opd.ksyms.ranges[0].end, 0x2000);
	assert_false(client->has_kernel(client->ctx, &build_id, &size));
	free_fixture(f);
}

/* ---- the end ----------------------------------------------------------------
 */

TEST(waiting_samples_are_lost_at_the_end)
{
	struct fixture *f = new_replay();
	struct op_ledger ledger;

	count_some(f, 3);
	assert_int_equal(ledger_of(f).pending, 1);
	assert_int_equal(opd_finish(&f->opd), 0);
	ledger = ledger_in(f, "ledger");
	assert_int_equal(ledger.taken, 4);
	assert_int_equal(ledger.stored, 3);
	assert_int_equal(ledger.pending, 0);
	assert_int_equal(op_ledger_lost_by(&ledger, "lost_no_image_name"), 1);
	assert_int_equal(f->opd.store.sfiles.nr_open, 0);
	assert_int_equal(count_at(f, SH, 0x10), 3);
	free_fixture(f);
}

/* The names of threads are there, too. */
TEST(names_are_written_at_the_end)
{
	struct fixture *f = new_fixture();

	f->opd.options.separate_thread = true;
	start_daemon(f, &test_replay);
	opd_tasks_learn_name(&f->opd.tasks, 1, 1, "sh");
	assert_false(exists(f, "current/tasks"));
	assert_int_equal(opd_finish(&f->opd), 0);
	assert_true(exists(f, "current/tasks"));
	free_fixture(f);
}

static void start_with_history(struct fixture *f)
{
	struct op_diag diag = { "" };

	if (op_history_parse(&f->opd.options.history, "64M,minute:10m,hour:1d",
			     &diag))
		fail_msg("%s", diag.text);
	start_daemon(f, &test_replay);
}

/* How many spans the session has; *@name = that of the last one's ledger. */
static size_t count_spans(struct fixture *f, char name[64])
{
	struct op_span *spans;
	size_t nr, counted = 0;

	assert_int_equal(op_spans_list(f->opd.session.current, &spans, &nr), 0);
	for (size_t i = 0; i < nr; i++) {
		assert_int_equal(spans[i].state, OP_SPAN_CLOSED);
		op_span_name(&spans[i], name);
		strcat(name, "/ledger");
		counted++;
	}
	free(spans);
	return counted;
}

/* Reports find the time when the last samples were taken. */
TEST(a_history_ends_with_a_span)
{
	struct fixture *f = new_fixture();
	char name[64];

	start_with_history(f);
	count_some(f, 3);
	assert_int_equal(opd_finish(&f->opd), 0);
	assert_int_equal(count_spans(f, name), 1);
	assert_int_equal(ledger_in(f, name).taken, 4);
	assert_int_equal(ledger_in(f, name).stored, 3);
	assert_int_equal(ledger_in(f, "ledger").taken, 0);
	assert_false(has_samples(f, SH));
	free_fixture(f);
}

TEST(a_history_without_samples_has_no_span)
{
	struct fixture *f = new_fixture();
	char name[64];

	start_with_history(f);
	assert_int_equal(opd_finish(&f->opd), 0);
	assert_int_equal(count_spans(f, name), 0);
	free_fixture(f);
}

/* What a daemon that was killed has counted is a span of its own. */
TEST(a_killed_daemon_leaves_a_span)
{
	struct fixture *f = new_fixture();
	char name[64];

	start_with_history(f);
	count_some(f, 3);
	opd_sfiles_sync(&f->opd.store);
	opd_release(&f->opd);
	opd_init(&f->opd);
	start_with_history(f);
	assert_int_equal(count_spans(f, name), 1);
	assert_int_equal(ledger_in(f, name).stored, 3);
	assert_int_equal(f->opd.stats.stored, 0);
	free_fixture(f);
}

/* Without a history its samples count with those that come. */
TEST(a_session_without_history_has_no_span)
{
	struct fixture *f = new_replay();
	char name[64];

	count_some(f, 3);
	opd_sfiles_sync(&f->opd.store);
	restart_daemon(f);
	assert_int_equal(count_spans(f, name), 0);
	assert_int_equal(count_at(f, SH, 0x10), 3);
	assert_int_equal(opd_finish(&f->opd), 0);
	assert_int_equal(count_spans(f, name), 0);
	assert_int_equal(ledger_in(f, "ledger").stored, 3);
	free_fixture(f);
}
