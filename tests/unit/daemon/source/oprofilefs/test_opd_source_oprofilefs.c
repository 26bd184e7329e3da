// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The module's folder, made of ordinary files: what is read and written there.
 * The two ioctls are answered by the test, whose clock goes on by hand; a
 * process that reads a file and is stopped stands for a file that hangs.
 */

#include "daemon/source/opd_events.h"
#include "daemon/source/opd_source.h"
#include "libop/base/op_log.h"
#include "tests/unit/no_stdin.h"
#include "tests/unit/op_fixture.h"
#include "tests/unit/rows.h"

#include <dirent.h>
#include <dlfcn.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <time.h>

static const char self[] = "/proc/self/exe";

static struct module {
	bool is_there; /* ioctls come here */
	const char *path; /* of every image; NULL: not known yet */
	uint32_t flags;
	uint64_t mtime;
	bool has_file; /* at hand, "self" */
	int buffer_errno; /* of opening the buffer; 0: it can be opened */
	uint64_t now_ms; /* 0: the real time */
	uint64_t waiting; /* bytes in the buffer; 0: the module is too old to
			   * say */
	bool stops; /* each new process */
	unsigned int nr_started;
	int waited_ms; /* for what has stopped, the last time */
	bool has_stdin; /* closed when the source is open; else before */
} module;

/* ---- in place of the C library's --------------------------------------------
 */

#define REAL(name) ((__typeof__(&(name)))dlsym(RTLD_NEXT, #name))
#define INSTEAD_OF(name) __asm__(#name)

int module_any_ioctl(int fd, unsigned long request, ...) INSTEAD_OF(ioctl);
int module_openat(int dir, const char *path, int flags, ...)
	INSTEAD_OF(openat64);
int module_clock_gettime(clockid_t clock, struct timespec *now)
	INSTEAD_OF(clock_gettime);
pid_t module_fork(void) INSTEAD_OF(fork);
int module_poll(struct pollfd *fds, nfds_t nr, int ms) INSTEAD_OF(poll);

static int module_name(struct op_cookie_query *query)
{
	if (!module.path) {
		errno = EAGAIN;
		return -1;
	}
	snprintf(query->path, sizeof(query->path), "%s", module.path);
	query->flags = module.flags;
	query->mtime = module.mtime;
	return 0;
}

static int module_waiting(uint64_t *bytes)
{
	*bytes = module.waiting;
	errno = ENOTTY;
	return module.waiting ? 0 : -1;
}

static int module_file(void)
{
	if (module.has_file)
		return open(self, O_PATH | O_CLOEXEC);
	errno = ENOENT;
	return -1;
}

int module_any_ioctl(int fd, unsigned long request, ...)
{
	va_list args;
	void *arg;

	va_start(args, request);
	arg = va_arg(args, void *);
	va_end(args);
	if (module.is_there && request == OP_IOC_COOKIE)
		return module_name(arg);
	if (module.is_there && request == OP_IOC_IMAGE)
		return module_file();
	if (module.is_there && request == OP_IOC_WAITING)
		return module_waiting(arg);
	return REAL(ioctl)(fd, request, arg);
}

int module_openat(int dir, const char *path, int flags, ...)
{
	if (module.buffer_errno && !strcmp(path, "buffer")) {
		errno = module.buffer_errno;
		return -1;
	}
	return REAL(openat)(dir, path, flags, 0);
}

int module_clock_gettime(clockid_t clock, struct timespec *now)
{
	if (!module.now_ms)
		return REAL(clock_gettime)(clock, now);
	now->tv_sec = (time_t)(module.now_ms / 1000);
	now->tv_nsec = (long)(module.now_ms % 1000) * 1000000;
	return 0;
}

pid_t module_fork(void)
{
	pid_t pid = REAL(fork)();

	if (pid <= 0)
		return pid;
	module.nr_started++;
	if (module.stops) {
		kill(pid, SIGSTOP);
		waitpid(pid, NULL, WUNTRACED);
	}
	return pid;
}

int module_poll(struct pollfd *fds, nfds_t nr, int ms)
{
	if (!module.stops)
		return REAL(poll)(fds, nr, ms);
	module.waited_ms = ms;
	return 0;
}

/* ---- the module -------------------------------------------------------------
 */

static void make_dir(const char *path)
{
	assert_int_equal(mkdir(path, 0755), 0);
}

/* What the module has, in the working folder. */
static int load_module(void **state)
{
	if (enter_folder(state))
		return -1;
	memset(&module, 0, sizeof(module));
	module.is_there = true;
	module.has_stdin = true;
	make_dir("m");
	make_dir("m/timer");
	make_dir("m/stats");
	make_dir("m/stats/cpu0");
	write_text("m/abi_version", "1\n");
	write_text("m/cpu_type", "timer\n");
	write_text("m/timer/rate", "1000\n");
	write_text("m/enable", "0\n");
	write_text("m/dump", "0\n");
	write_text("m/buffer", "");
	return 0;
}

static int load_without_stdin(void **state)
{
	int err = load_module(state);

	module.has_stdin = false;
	close_stdin();
	return err;
}

static int unload_module(void **state)
{
	module.is_there = false;
	if (!module.has_stdin)
		reopen_stdin();
	return leave_folder(state);
}

/* A test that runs twice, with and without standard input. */
#define MODULE_TEST(name)                                                      \
	static void name(void **state);                                        \
	TEST_ADD(name##_without_stdin, name, load_without_stdin,               \
		 unload_module)                                                \
	TEST_WITH(name, load_module, unload_module)

static struct opd_events events;
static struct op_log log_file;
static const struct opd_source_client client = { .log = &log_file };

static int try_to_open(struct opd_source *source, struct op_diag *diag)
{
	opd_events_timer(&events);
	diag->text[0] = '\0';
	return opd_source_open(source, "oprofilefs:m", &events, &client, diag);
}

static void open_source(struct opd_source *source)
{
	struct op_diag diag;

	op_log_init(&log_file);
	assert_int_equal(op_log_open(&log_file, "log", &diag), 0);
	if (try_to_open(source, &diag))
		fail_msg("%s", diag.text);
	if (module.has_stdin)
		close_stdin();
}

static void close_source(struct opd_source *source)
{
	opd_source_close(source);
	op_log_close(&log_file);
	if (module.has_stdin)
		reopen_stdin();
}

static bool log_has(const char *text)
{
	return strstr(text_of("log"), text);
}

static unsigned int nr_fds(void)
{
	DIR *folder = opendir("/proc/self/fd");
	unsigned int nr = 0;

	assert_non_null(folder);
	while (readdir(folder))
		nr++;
	closedir(folder);
	return nr;
}

/* ---- opening ----------------------------------------------------------------
 */

MODULE_TEST(test_what_keeps_it_from_opening)
{
	static const struct {
		const char *file; /* has @text; NULL: it is not there */
		const char *text;
		int buffer_errno;
		int err;
		const char *want;
	} rows[] = {
		{ "m/abi_version", "2\n", 0, -EPROTO,
		  "m: the module speaks version 2 of the stream, this daemon 1; install both from one release" },
		{ "m/abi_version", "x\n", 0, -EINVAL,
		  "m/abi_version: Invalid argument; see dmesg for what the module says" },
		{ "m/abi_version", NULL, 0, -ENOENT,
		  "m/abi_version: No such file or directory; load the module and mount it with opcontrol --init" },
		{ "m/buffer", NULL, 0, -ENOENT,
		  "m/buffer: No such file or directory; load the module and mount it with opcontrol --init" },
		{ "m/buffer", "", EBUSY, -EBUSY,
		  "m/buffer: Device or resource busy; another program is reading it; end that one first" },
		{ "m/buffer", "", EPERM, -EPERM,
		  "m/buffer: Operation not permitted; only root may profile the system" },
		{ "m/buffer", "", EACCES, -EACCES,
		  "m/buffer: Permission denied; only root may profile the system" },
		{ "m/buffer", "", ENOMEM, -ENOMEM,
		  "m/buffer: Cannot allocate memory; lower --buffer-size or --cpu-buffer-size" },
	};
	unsigned int nr = nr_fds();

	for (size_t i = 0; i < NR(rows); i++) {
		struct opd_source source;
		struct op_diag diag;

		write_text("m/abi_version", "1\n");
		write_text("m/buffer", "");
		if (rows[i].text)
			write_text(rows[i].file, rows[i].text);
		else
			assert_int_equal(unlink(rows[i].file), 0);
		module.buffer_errno = rows[i].buffer_errno;
		assert_int_equal(try_to_open(&source, &diag), rows[i].err);
		assert_string_equal(diag.text, rows[i].want);
		opd_source_close(&source);
		assert_int_equal(nr_fds(), nr);
	}
}

MODULE_TEST(test_no_module)
{
	struct opd_source source;
	struct op_diag diag = { "" };

	assert_int_equal(rename("m", "n"), 0);
	assert_int_equal(try_to_open(&source, &diag), -ENOENT);
	assert_string_equal(
		diag.text,
		"m: No such file or directory; load the module and mount it with opcontrol --init");
	opd_source_close(&source);
	/* Without a folder it is where the module is mounted. */
	assert_int_equal(opd_source_oprofilefs.open(&source, "", &diag) == 0,
			 access("/dev/oprofile/buffer", F_OK) == 0);
	assert_string_equal(source.path, "/dev/oprofile");
	opd_source_close(&source);
}

MODULE_TEST(test_description)
{
	static const struct {
		const char *type; /* NULL: there is no such file */
		bool timer; /* is the first event */
		const char *rate;
		const char *want_type, *want_name;
		uint32_t want_hz;
	} rows[] = {
		{ "timer\n", true, "1000\n", "timer", "module/timer", 1000 },
		{ "perf\n", true, "0\n", "timer", "module/timer", 0 },
		{ "perf\n", false, "1\n", "perf", "module/perf", 1 },
		{ "arm/armv8-pmuv3-cortex-a72\n", true, "4294967295\n",
		  "arm/armv8-pmuv3-cortex-a72", "module/arm/armv8-pmuv3-cort",
		  UINT32_MAX },
		{ "p4", true, "4294967296\n", "p4", "module/p4", 0 },
		{ "", true, "", "", "module/", 0 },
		{ NULL, true, "x\n", "unknown", "module/unknown", 0 },
	};

	for (size_t i = 0; i < NR(rows); i++) {
		struct opd_source source = { .dir = -1, .fd = -1 };
		struct op_diag diag = { "" };

		opd_events_timer(&events);
		if (!rows[i].timer)
			assert_int_equal(
				opd_events_parse(&events,
						 "A:118:0:100000:1:1:0", &diag),
				0);
		unlink("m/cpu_type");
		if (rows[i].type)
			write_text("m/cpu_type", rows[i].type);
		write_text("m/timer/rate", rows[i].rate);
		assert_int_equal(opd_source_open(&source, "oprofilefs:m",
						 &events, &client, &diag),
				 0);
		assert_string_equal(source.cpu_type, rows[i].want_type);
		assert_string_equal(source.name, rows[i].want_name);
		assert_int_equal(source.timer_hz, rows[i].want_hz);
		opd_source_close(&source);
	}
}

/* ---- sampling ---------------------------------------------------------------
 */

MODULE_TEST(test_read)
{
	const struct opd_source_ops *ops = &opd_source_oprofilefs;
	struct opd_source source;
	char bytes[16];
	int fd;

	write_text("m/buffer", "0123456789");
	open_source(&source);
	assert_int_equal(ops->read(&source, bytes, 8), 8);
	assert_memory_equal(bytes, "01234567", 8);
	assert_int_equal(ops->read(&source, bytes, 8), 2);
	assert_int_equal(ops->read(&source, bytes, 8), 0);
	fd = source.fd;
	source.fd = source.dir;
	assert_int_equal(ops->read(&source, bytes, 8), -EISDIR);
	source.fd = fd;
	close_source(&source);
	assert_int_equal(source.fd, -1);
	assert_int_equal(source.dir, -1);
}

MODULE_TEST(test_waiting)
{
	const struct opd_source_ops *ops = &opd_source_oprofilefs;
	struct opd_source source;
	uint64_t bytes = 0;

	open_source(&source);
	assert_int_equal(ops->waiting(&source, &bytes), -ENOTTY);
	module.waiting = 4096;
	assert_int_equal(ops->waiting(&source, &bytes), 0);
	assert_int_equal(bytes, 4096);
	close_source(&source);
}

MODULE_TEST(test_enable_and_dump)
{
	struct opd_source source;
	struct op_diag diag = { "" };
	unsigned int nr;
	bool on = true;

	open_source(&source);
	nr = nr_fds();
	assert_false(opd_source_is_enabled(&source));
	assert_int_equal(opd_source_enable(&source, true, &diag), 0);
	assert_string_equal(text_of("m/enable"), "1\n");
	assert_true(opd_source_is_enabled(&source));
	assert_int_equal(opd_source_enable(&source, false, &diag), 0);
	assert_string_equal(text_of("m/enable"), "0\n");
	assert_int_equal(opd_source_dump(&source, &diag), 0);
	assert_string_equal(text_of("m/dump"), "1\n");
	assert_int_equal(unlink("m/enable"), 0);
	assert_int_equal(opd_source_oprofilefs.enabled(&source, &on), -ENOENT);
	assert_false(on);
	assert_int_equal(opd_source_enable(&source, true, &diag), -ENOENT);
	assert_string_equal(diag.text, "m/enable: No such file or directory");
	make_dir("m/enable");
	assert_int_equal(opd_source_oprofilefs.enabled(&source, &on), -EISDIR);
	diag.text[0] = '\0';
	assert_int_equal(unlink("m/dump"), 0);
	assert_int_equal(symlink("/dev/full", "m/dump"), 0);
	assert_int_equal(opd_source_dump(&source, &diag), -ENOSPC);
	assert_string_equal(diag.text, "m/dump: No space left on device");
	assert_int_equal(nr_fds(), nr);
	close_source(&source);
}

/* ---- images -----------------------------------------------------------------
 */

/* The module names the image @path of this program's time. */
static void name_image(const char *path, uint32_t flags, bool has_file)
{
	struct stat st;

	assert_int_equal(stat(self, &st), 0);
	module.path = path;
	module.flags = flags;
	module.mtime = (uint64_t)st.st_mtime;
	module.has_file = has_file;
}

static int ask(struct opd_source *source, uint64_t cookie,
	       struct op_cookie_query *query)
{
	int err;

	memset(query, 0, sizeof(*query));
	query->cookie = cookie;
	/* Where an answer is to come, the source may ask again for it. */
	do
		err = source->ops->cookie(source, query);
	while (err == -EAGAIN && module.path && !module.stops);
	return err;
}

/* The build-id is this program's, or there is none. */
static void expect_build_id(const struct op_cookie_query *query, bool any)
{
	struct op_build_id id = { 0 };
	int fd = open(self, O_RDONLY | O_CLOEXEC);

	assert_int_equal(op_build_id_of_elf(&id, fd), 0);
	close(fd);
	assert_int_equal(query->build_id_len, any ? id.len : 0);
	if (any)
		assert_memory_equal(query->build_id, id.bytes, id.len);
}

MODULE_TEST(test_images)
{
	char path[512] = "";
	/* Whether a process looks into the file, and the build-id is used. */
	const struct {
		const char *path;
		uint32_t flags;
		bool has_file;
		bool is_older;
		bool read, known;
	} rows[] = {
		{ path, 0, true, false, true, true },
		/* By its path. */
		{ path, 0, false, false, true, true },
		/* The file at hand counts, whatever its name has become. */
		{ "/gone", OP_IMAGE_DELETED, true, false, true, true },
		{ path, OP_IMAGE_DELETED, false, false, false, false },
		{ path, OP_IMAGE_NO_FILE, false, false, false, false },
		{ path, OP_IMAGE_MAY_HANG, false, false, false, false },
		{ "[vdso]", 0, false, false, false, false },
		{ path, 0, true, true, true, false },
		{ "/no/such/file", 0, false, false, true, false },
	};

	assert_true(readlink(self, path, sizeof(path) - 1) > 0);
	for (size_t i = 0; i < NR(rows); i++) {
		struct opd_source source;
		struct op_cookie_query query;
		unsigned int nr;
		int fd;

		open_source(&source);
		nr = nr_fds();
		module.nr_started = 0;
		name_image(rows[i].path, rows[i].flags, rows[i].has_file);
		module.mtime -= rows[i].is_older;
		assert_int_equal(ask(&source, 7, &query), 0);
		assert_string_equal(query.path, rows[i].path);
		assert_int_equal(query.flags, rows[i].flags);
		assert_int_equal(module.nr_started, rows[i].read);
		expect_build_id(&query, rows[i].known);
		/* The file is whoever's takes it, once. */
		assert_int_equal(source.ops->detach_file(&source, 8), -ENOENT);
		fd = source.ops->detach_file(&source, 7);
		if (rows[i].known) {
			assert_true(fd >= 0);
			close(fd);
		} else {
			assert_int_equal(fd, -ENOENT);
		}
		assert_int_equal(source.ops->detach_file(&source, 7), -ENOENT);
		/* There is a socket to the process, and nothing else. */
		assert_int_equal(nr_fds(), nr + rows[i].read);
		close_source(&source);
		assert_int_equal(waitpid(-1, NULL, 0), -1);
	}
}

/* A file that nobody took is closed when the next image is named. */
MODULE_TEST(test_file_not_taken)
{
	struct opd_source source;
	struct op_cookie_query query;
	unsigned int nr;

	open_source(&source);
	name_image("/a", 0, true);
	assert_int_equal(ask(&source, 1, &query), 0);
	nr = nr_fds();
	assert_int_equal(ask(&source, 2, &query), 0);
	assert_int_equal(nr_fds(), nr);
	module.path = NULL;
	assert_int_equal(ask(&source, 3, &query), -EAGAIN);
	assert_int_equal(nr_fds(), nr - 1);
	assert_int_equal(source.ops->detach_file(&source, 2), -ENOENT);
	close_source(&source);
}

/* An image has its name in a second, whether its file answers or not. */
MODULE_TEST(test_file_hangs)
{
	struct opd_source source;
	struct op_cookie_query query;

	open_source(&source);
	name_image("/a", 0, true);
	module.now_ms = 5000;
	module.stops = true;
	/* There is a path meanwhile. */
	assert_int_equal(ask(&source, 1, &query), -EAGAIN);
	assert_string_equal(query.path, "/a");
	assert_int_equal(module.waited_ms, 100);
	module.now_ms += 30;
	assert_int_equal(ask(&source, 1, &query), -EAGAIN);
	assert_int_equal(module.waited_ms, 70);
	module.now_ms += 969;
	assert_int_equal(ask(&source, 1, &query), -EAGAIN);
	assert_int_equal(module.waited_ms, 0);
	assert_int_equal(query.flags, 0);
	module.now_ms += 1;
	assert_int_equal(ask(&source, 1, &query), 0);
	assert_int_equal(query.flags, OP_IMAGE_MAY_HANG);
	assert_int_equal(query.build_id_len, 0);
	assert_int_equal(module.nr_started, 1);
	assert_true(log_has(
		"/a: the file does not respond: its build-id is not read\n"));
	close_source(&source);
}

/* Eight files may hang; one more is not read. */
MODULE_TEST(test_many_files_hang)
{
	struct opd_source source;
	struct op_cookie_query query;

	open_source(&source);
	name_image("/a", 0, true);
	module.now_ms = 5000;
	module.stops = true;
	for (uint64_t cookie = 1; cookie <= 8; cookie++)
		assert_int_equal(ask(&source, cookie, &query), -EAGAIN);
	assert_false(log_has("too many"));
	module.path = "/b";
	assert_int_equal(ask(&source, 9, &query), 0);
	assert_int_equal(query.build_id_len, 0);
	/* Nor is it opened to be kept. */
	assert_int_equal(query.flags, OP_IMAGE_MAY_HANG);
	assert_true(log_has(
		"/b: too many files do not respond: its build-id is not read\n"));
	assert_int_equal(module.nr_started, 8);
	close_source(&source);
}

/* ---- statistics -------------------------------------------------------------
 */

static void put_stats(void)
{
	write_text("m/stats/event_lost_overflow", "3\n");
	write_text("m/stats/sample_received", "1000\n"); /* of no CPU */
	write_text("m/stats/image_file_held", "9\n");
	write_text("m/stats/text", "none\n");
	write_text("m/stats/cpu0/sample_received", "100\n");
	write_text("m/stats/cpu0/sample_lost_busy", "5\n");
	write_text("m/stats/cpu0/sample_lost_none", "0\n");
	write_text("m/stats/cpu0/sample_invalid_eip", "7\n");
	write_text("m/stats/cpu0/backtrace_aborted", "11\n");
	make_dir("m/stats/cpu12");
	write_text("m/stats/cpu12/sample_received", "20\n");
	write_text("m/stats/cpu12/sample_lost_busy", "1\n");
	write_text("m/stats/cpu12/sample_lost_overflow", "2\n");
	/* Not a CPU's, and not a folder. */
	make_dir("m/stats/other");
	write_text("m/stats/other/sample_received", "1000\n");
	write_text("m/stats/cpux", "5\n");
}

static uint64_t cause(const struct op_ledger *ledger, const char *name)
{
	for (unsigned int i = 0; i < ledger->nr_causes; i++)
		if (!strcmp(ledger->causes[i].name, name))
			return ledger->causes[i].nr;
	return 0;
}

MODULE_TEST(test_account)
{
	struct opd_source source;
	struct op_ledger ledger = { 0 };
	unsigned int nr;

	put_stats();
	open_source(&source);
	nr = nr_fds();
	assert_int_equal(source.ops->account(&source, &ledger), 0);
	assert_int_equal(ledger.taken, 120);
	assert_int_equal(ledger.nr_causes, 4);
	assert_int_equal(cause(&ledger, "event_lost_overflow"), 3);
	assert_int_equal(cause(&ledger, "sample_lost_busy"), 6);
	assert_int_equal(cause(&ledger, "sample_lost_overflow"), 2);
	assert_int_equal(cause(&ledger, "sample_invalid_eip"), 7);
	assert_int_equal(nr_fds(), nr);
	assert_int_equal(rename("m/stats", "m/s"), 0);
	assert_int_equal(source.ops->account(&source, &ledger), -ENOENT);
	close_source(&source);
}

MODULE_TEST(test_log)
{
	struct opd_source source;

	write_text("m/stats/event_lost_overflow", "3\n");
	write_text("m/stats/cpu0/sample_received", "1\n");
	write_text("m/stats/cpu0/sample_lost_overflow", "2\n");
	write_text("m/stats/cpu0/sample_invalid_eip", "0\n");
	write_text("m/stats/cpu0/backtrace_aborted", "4\n");
	open_source(&source);
	source.ops->log(&source, &log_file);
	assert_true(log_has("Nr. event_lost_overflow: 3\n"
			    "---- Statistics for cpu : 0\n"));
	assert_true(log_has("\nNr. samples received: 1\n"));
	assert_true(log_has("\nNr. samples lost cpu buffer overflow: 2\n"));
	assert_true(log_has("\nNr. samples lost invalid pc: 0\n"));
	assert_true(log_has("\nNr. backtrace aborted: 4\n"));
	assert_false(log_has("cannot be read"));
	/* One heading for all of a CPU. */
	assert_null(strstr(strstr(text_of("log"), "---- ") + 1, "---- "));
	assert_int_equal(rename("m/stats", "m/s"), 0);
	source.ops->log(&source, &log_file);
	assert_true(log_has("the module's statistics cannot be read\n"));
	close_source(&source);
}

/* All four files of an event, or nothing is known of its times. */
MODULE_TEST(test_event_time)
{
	static const char *const names[] = { "turns", "counted", "time_running",
					     "time_enabled" };
	struct op_event_time time;
	struct opd_source source;
	char path[32];

	make_dir("m/2");
	open_source(&source);
	events.counter[2].count = 100;
	for (size_t i = 0; i < NR(names); i++) {
		assert_int_equal(source.ops->event_time(&source, 2, &time),
				 -ENOENT);
		snprintf(path, sizeof(path), "m/2/%s", names[i]);
		write_text(path, "799\n");
	}
	write_text("m/2/turns", "5\n");
	write_text("m/2/time_running", "6000\n");
	write_text("m/2/time_enabled", "18446744073709551615\n");
	assert_int_equal(source.ops->event_time(&source, 2, &time), 0);
	assert_int_equal(time.turns, 5);
	assert_int_equal(time.running, 6000);
	assert_int_equal(time.enabled, UINT64_MAX);
	/* Whole samples of what was counted. */
	assert_int_equal(time.samples, 7);
	events.counter[2].count = 799;
	assert_int_equal(source.ops->event_time(&source, 2, &time), 0);
	assert_int_equal(time.samples, 1);
	events.counter[2].count = 0;
	assert_int_equal(source.ops->event_time(&source, 2, &time), 0);
	assert_int_equal(time.samples, 0);
	write_text("m/2/turns", "-\n");
	assert_int_equal(source.ops->event_time(&source, 2, &time), -ENOENT);
	close_source(&source);
}

/* Of CPUs whose time is not told, or which are not asked for, nothing. */
MODULE_TEST(test_handler_time)
{
	uint64_t ns[14];
	struct opd_source source;

	put_stats();
	write_text("m/stats/handler_ns", "1000\n"); /* of no CPU */
	write_text("m/stats/cpu0/handler_ns", "70\n");
	write_text("m/stats/cpu12/handler_ns", "90\n");
	make_dir("m/stats/cpu3x");
	write_text("m/stats/cpu3x/handler_ns", "5\n");
	open_source(&source);
	for (unsigned int nr = 12; nr <= 13; nr++) {
		for (size_t i = 0; i < NR(ns); i++)
			ns[i] = 1;
		assert_int_equal(source.ops->handler_time(&source, ns, nr), 0);
		assert_int_equal(ns[0], 70);
		for (size_t i = 1; i < 12; i++)
			assert_int_equal(ns[i], 1);
		assert_int_equal(ns[12], nr == 13 ? 90 : 1);
		assert_int_equal(ns[13], 1);
	}
	assert_int_equal(source.ops->handler_time(&source, ns, 0), 0);
	assert_int_equal(rename("m/stats", "m/s"), 0);
	assert_int_equal(source.ops->handler_time(&source, ns, 1), -ENOENT);
	close_source(&source);
}

/* The module takes one sample of so many. */
MODULE_TEST(test_lower_rate)
{
	static const char *const divisors[] = { "1", "2", "4", "8" };
	struct opd_source source;

	open_source(&source);
	assert_int_equal(source.ops->lower_rate(&source, 1), -EOPNOTSUPP);
	for (unsigned int shift = 0; shift < NR(divisors); shift++) {
		write_text("m/rate_divisor", "");
		assert_int_equal(source.ops->lower_rate(&source, shift), 0);
		assert_string_equal(text_of("m/rate_divisor"), divisors[shift]);
	}
	assert_int_equal(unlink("m/rate_divisor"), 0);
	make_dir("m/rate_divisor");
	assert_int_equal(source.ops->lower_rate(&source, 1), -EISDIR);
	close_source(&source);
}
