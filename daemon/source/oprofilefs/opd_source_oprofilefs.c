// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The kernel module by way of /dev/oprofile.
 *
 * The module names images and keeps their files at hand for a moment; what is
 * in these is read here, in processes that may hang (opd_reader.h). An image
 * whose file does not answer has its name all the same. Of code that the kernel
 * makes at run time perf_events tell (opd_code_watch.h).
 */

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "daemon/source/opd_code_watch.h"
#include "daemon/source/opd_events.h"
#include "daemon/source/opd_reader.h"
#include "libop/base/op_log.h"
#include "daemon/source/opd_source.h"
#include "daemon/source/opd_writer.h"
#include "daemon/source/oprofilefs/opd_feed.h"
#include "libop/files/op_config.h"

#define MOUNT_POINT "/dev/oprofile"

/* Milliseconds that an image's file may take to be read: while nothing else is
 * done, and until it is given up. */
#define FILE_PATIENCE 100
#define FILE_LIMIT 1000

struct opd_oprofilefs {
	struct opd_reader reader;
	int file; /* of the image that was named last, -1: none */
	uint64_t cookie; /* its cookie */
	struct opd_code_watch *watch; /* NULL: there is none */
};

/* ---- small files ------------------------------------------------------------
 */

/* Read a short file of folder @dir without its newline. 0 or -errno. */
static int read_text(int dir, const char *name, char *buf, size_t len)
{
	int fd = openat(dir, name, O_RDONLY | O_CLOEXEC);
	ssize_t got;

	if (fd < 0)
		return -errno;
	got = read(fd, buf, len - 1);
	if (got < 0)
		got = -errno;
	close(fd);
	if (got < 0)
		return (int)got;
	buf[got] = '\0';
	buf[strcspn(buf, "\n")] = '\0';
	return 0;
}

static int read_number(int dir, const char *name, uint64_t *value)
{
	char text[32];
	int err = read_text(dir, name, text, sizeof(text));

	return err ? err : op_parse_u64(text, value);
}

static int write_number(const struct opd_source *source, const char *name,
			const char *value, struct op_diag *diag)
{
	int fd = openat(source->dir, name, O_WRONLY | O_CLOEXEC);
	int err = 0;

	if (fd < 0 || write(fd, value, strlen(value)) < 0)
		err = -errno;
	if (fd >= 0)
		close(fd);
	if (err)
		op_diag_set(diag, err, "%s/%s: %s", source->path, name,
			    strerror(-err));
	return err;
}

/* ---- opening ----------------------------------------------------------------
 */

static const char *open_hint(int err)
{
	switch (-err) {
	case ENOENT:
		return "load the module and mount it with opcontrol --init";
	case EBUSY:
		return "another program is reading it; end that one first";
	case EPERM:
	case EACCES:
		return "only root may profile the system";
	case ENOMEM:
		return "lower --buffer-size or --cpu-buffer-size";
	default:
		return "see dmesg for what the module says";
	}
}

static int check_version(const struct opd_source *source, const char *path,
			 struct op_diag *diag)
{
	uint64_t version;
	int err = read_number(source->dir, "abi_version", &version);

	if (err)
		return op_diag_set(diag, err, "%s/abi_version: %s; %s", path,
				   strerror(-err), open_hint(err));
	if (version != OP_ABI_VERSION)
		return op_diag_set(
			diag, -EPROTO,
			"%s: the module speaks version %" PRIu64
			" of the stream, this daemon %d; install both from one release",
			path, version, OP_ABI_VERSION);
	return 0;
}

static void describe(struct opd_source *source)
{
	char *type = source->cpu_type;
	uint64_t hz = 0;

	if (read_text(source->dir, "cpu_type", type, sizeof(source->cpu_type)))
		snprintf(type, sizeof(source->cpu_type), "unknown");
	/* The machine has counters, but none is used. */
	if (!strcmp(type, "perf") && source->events->nr &&
	    opd_event_is_timer(&source->events->counter[0]))
		snprintf(type, sizeof(source->cpu_type), "timer");
	snprintf(source->name, sizeof(source->name), "module/%.20s",
		 source->cpu_type);
	if (!read_number(source->dir, "timer/rate", &hz) && hz <= UINT32_MAX)
		source->timer_hz = (uint32_t)hz;
}

/* Without it new code is found in /proc/kallsyms, some seconds late. */
static void watch_code(struct opd_source *source)
{
	int err;

	if (!opd_events_sample_kernel(source->events))
		return;
	err = opd_code_watch_new(&source->files->watch, source->client->clock);
	source->writer->kernel.is_told = !err;
	if (err)
		op_log(source->client->log,
		       "perf_events: %s; the names of BPF programs loaded from now on come late",
		       strerror(-err));
}

static int oprofilefs_open(struct opd_source *source, const char *arg,
			   struct op_diag *diag)
{
	const char *path = arg && *arg ? arg : MOUNT_POINT;
	int err;

	source->files = calloc(1, sizeof(*source->files));
	if (!source->files)
		return op_diag_set(diag, -ENOMEM, "%s: out of memory", path);
	opd_reader_init(&source->files->reader, FILE_PATIENCE, FILE_LIMIT);
	source->files->file = -1;
	source->path = path;
	source->dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (source->dir < 0)
		return op_diag_set(diag, -errno, "%s: %s; %s", path,
				   strerror(errno), open_hint(-errno));
	err = check_version(source, path, diag);
	if (err)
		return err;
	describe(source);
	source->fd = openat(source->dir, "buffer",
			    O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (source->fd < 0)
		return op_diag_set(diag, -errno, "%s/buffer: %s; %s", path,
				   strerror(errno), open_hint(-errno));
	watch_code(source);
	if (opd_feed_new(&source->feed, source))
		return op_diag_set(diag, -ENOMEM, "%s: out of memory", path);
	return 0;
}

static void drop_file(struct opd_oprofilefs *files)
{
	if (files->file >= 0)
		close(files->file);
	files->file = -1;
}

static void oprofilefs_close(struct opd_source *source)
{
	opd_feed_free(source->feed);
	source->feed = NULL;
	if (source->files) {
		drop_file(source->files);
		opd_reader_release(&source->files->reader);
		opd_code_watch_free(source->files->watch);
		free(source->files);
		source->files = NULL;
	}
	if (source->fd >= 0)
		close(source->fd);
	if (source->dir >= 0)
		close(source->dir);
	source->fd = source->dir = -1;
}

/* ---- sampling ---------------------------------------------------------------
 */

static ssize_t oprofilefs_read(struct opd_source *source, void *buf, size_t len)
{
	ssize_t got;

	do
		got = read(source->fd, buf, len);
	while (got < 0 && errno == EINTR);
	return got < 0 ? -errno : got;
}

static int oprofilefs_enable(struct opd_source *source, bool on,
			     struct op_diag *diag)
{
	return write_number(source, "enable", on ? "1" : "0", diag);
}

static int oprofilefs_enabled(struct opd_source *source, bool *on)
{
	uint64_t value = 0;
	int err = read_number(source->dir, "enable", &value);

	*on = value != 0;
	return err;
}

static int oprofilefs_waiting(struct opd_source *source, uint64_t *bytes)
{
	return ioctl(source->fd, OP_IOC_WAITING, bytes) < 0 ? -errno : 0;
}

static int oprofilefs_dump(struct opd_source *source, struct op_diag *diag)
{
	return write_number(source, "dump", "1", diag);
}

/* Have the file of @query read: by its path where the module has it no more. */
static void give_file(struct opd_source *source, struct op_cookie_query *query)
{
	int fd = ioctl(source->fd, OP_IOC_IMAGE, &query->cookie);

	if (fd < 0 && (query->path[0] != '/' ||
		       query->flags & (OP_IMAGE_DELETED | OP_IMAGE_NO_FILE |
				       OP_IMAGE_MAY_HANG)))
		return;
	if (opd_reader_give(&source->files->reader, query->cookie, fd,
			    query->path)) {
		query->flags |= OP_IMAGE_MAY_HANG; /* nobody has tried it */
		op_log(source->client->log,
		       "%s: too many files do not respond: its build-id is not read",
		       query->path);
	}
	if (fd >= 0)
		close(fd);
}

/* The build-id of @query and its file, if it still is what was sampled. */
static int ask_file(struct opd_source *source, struct op_cookie_query *query)
{
	struct opd_read_file file;
	int err = opd_reader_ask(&source->files->reader, query->cookie, &file);

	if (err == -ETIMEDOUT) {
		query->flags |= OP_IMAGE_MAY_HANG;
		op_log(source->client->log,
		       "%s: the file does not respond: its build-id is not read",
		       query->path);
		return 0;
	}
	if (err)
		return err == -ENOENT ? 0 : err;
	if (file.mtime == query->mtime) {
		query->build_id_len = file.build_id.len;
		memcpy(query->build_id, file.build_id.bytes,
		       sizeof(query->build_id));
		source->files->file = file.fd;
		source->files->cookie = query->cookie;
	} else if (file.fd >= 0) {
		close(file.fd);
	}
	return 0;
}

static int oprofilefs_cookie(struct opd_source *source,
			     struct op_cookie_query *query)
{
	if (opd_feed_has_made(query->cookie))
		return opd_feed_cookie(source->feed, query);
	drop_file(source->files);
	if (ioctl(source->fd, OP_IOC_COOKIE, query) < 0)
		return -errno;
	if (!opd_reader_has(&source->files->reader, query->cookie))
		give_file(source, query);
	return ask_file(source, query);
}

static int oprofilefs_detach_file(struct opd_source *source, uint64_t cookie)
{
	struct opd_oprofilefs *files = source->files;
	int fd = files->cookie == cookie ? files->file : -1;

	if (opd_feed_has_made(cookie))
		return opd_feed_detach_file(source->feed, cookie);
	if (fd < 0)
		return -ENOENT;
	files->file = -1;
	return fd;
}

static int oprofilefs_next_code(struct opd_source *source,
				struct opd_new_code *code)
{
	struct opd_code_watch *watch = source->files->watch;

	return watch ? opd_code_watch_next(watch, code) : 0;
}

/* ---- statistics -------------------------------------------------------------
 */

typedef int stat_fn(void *arg, const char *folder, const char *name,
		    uint64_t value);

static int each_stat_in(int dir, const char *folder, stat_fn *fn, void *arg)
{
	DIR *entries = fdopendir(dir);
	struct dirent *entry;
	uint64_t value;
	int err = 0;

	if (!entries) {
		err = -errno;
		close(dir);
		return err;
	}
	while (!err && (entry = readdir(entries)))
		if (!read_number(dir, entry->d_name, &value))
			err = fn(arg, folder, entry->d_name, value);
	closedir(entries);
	return err;
}

static int open_folder(int dir, const char *name)
{
	int fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

/* Call @fn for the statistics of each CPU. */
static int each_cpu_stat(int stats, stat_fn *fn, void *arg)
{
	DIR *entries = fdopendir(stats);
	struct dirent *entry;
	int err = 0;

	if (!entries) {
		err = -errno;
		close(stats);
		return err;
	}
	while (!err && (entry = readdir(entries))) {
		int dir;

		if (strncmp(entry->d_name, "cpu", 3))
			continue;
		dir = open_folder(stats, entry->d_name);
		if (dir >= 0)
			err = each_stat_in(dir, entry->d_name + 3, fn, arg);
	}
	closedir(entries);
	return err;
}

/* Call @fn for every file in stats/ (folder "") and in stats/cpuN/. */
static int each_stat(const struct opd_source *source, stat_fn *fn, void *arg)
{
	int dir = open_folder(source->dir, "stats");
	int err;

	if (dir < 0)
		return dir;
	err = each_stat_in(dir, "", fn, arg);
	if (err)
		return err;
	dir = open_folder(source->dir, "stats");
	return dir < 0 ? dir : each_cpu_stat(dir, fn, arg);
}

static bool is_cause(const char *name)
{
	return !strncmp(name, "sample_lost_", 12) ||
	       !strcmp(name, "event_lost_overflow") ||
	       !strcmp(name, "sample_invalid_eip");
}

static int add_cause(void *arg, const char *folder, const char *name,
		     uint64_t value)
{
	(void)folder;
	return value && is_cause(name) ? op_ledger_lose(arg, name, value) : 0;
}

static int add_taken(void *arg, const char *folder, const char *name,
		     uint64_t value)
{
	struct op_ledger *ledger = arg;

	if (*folder && !strcmp(name, "sample_received"))
		ledger->taken += value;
	return 0;
}

/*
 * Losses first: a sample is counted as received before anything becomes of
 * it, so what is read in this order never has more lost than taken.
 */
static int oprofilefs_account(struct opd_source *source,
			      struct op_ledger *ledger)
{
	int err = each_stat(source, add_cause, ledger);

	return err ? err : each_stat(source, add_taken, ledger);
}

/* An older module, or another provider, tells no times. */
static int oprofilefs_event_time(struct opd_source *source,
				 unsigned int counter,
				 struct op_event_time *time)
{
	uint64_t period = source->events->counter[counter].count, counted;
	const struct {
		const char *name;
		uint64_t *number;
	} files[] = {
		{ "turns", &time->turns },
		{ "counted", &counted },
		{ "time_running", &time->running },
		{ "time_enabled", &time->enabled },
	};
	char path[32];

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		snprintf(path, sizeof(path), "%u/%s", counter, files[i].name);
		if (read_number(source->dir, path, files[i].number))
			return -ENOENT;
	}
	time->samples = period ? counted / period : 0;
	return 0;
}

struct handler_times {
	uint64_t *ns;
	unsigned int nr;
};

static int add_handler_time(void *arg, const char *folder, const char *name,
			    uint64_t value)
{
	struct handler_times *times = arg;
	uint64_t cpu;

	if (!strcmp(name, "handler_ns") && !op_parse_u64(folder, &cpu) &&
	    cpu < times->nr)
		times->ns[cpu] = value;
	return 0;
}

static int oprofilefs_handler_time(struct opd_source *source, uint64_t *ns,
				   unsigned int nr)
{
	struct handler_times times = { ns, nr };

	return each_stat(source, add_handler_time, &times);
}

/* An older module has no such file. */
static int oprofilefs_lower_rate(struct opd_source *source, unsigned int shift)
{
	struct op_diag diag = { "" };
	char text[16];
	int err;

	snprintf(text, sizeof(text), "%u", 1u << shift);
	err = write_number(source, "rate_divisor", text, &diag);
	return err == -ENOENT ? -EOPNOTSUPP : err;
}

struct stat_log {
	struct op_log *log;
	char folder[32]; /* whose statistics are being written */
};

static const char *stat_words(const char *name)
{
	static const struct {
		const char *file;
		const char *text;
	} words[] = {
		{ "sample_lost_overflow", "samples lost cpu buffer overflow" },
		{ "sample_received", "samples received" },
		{ "backtrace_aborted", "backtrace aborted" },
		{ "sample_invalid_eip", "samples lost invalid pc" },
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (!strcmp(words[i].file, name))
			return words[i].text;
	return name;
}

static int log_stat(void *arg, const char *folder, const char *name,
		    uint64_t value)
{
	struct stat_log *to = arg;

	if (strcmp(to->folder, folder)) {
		snprintf(to->folder, sizeof(to->folder), "%s", folder);
		op_log_plain(to->log, "---- Statistics for cpu : %s", folder);
	}
	op_log_plain(to->log, "Nr. %s: %" PRIu64, stat_words(name), value);
	return 0;
}

static void oprofilefs_log(struct opd_source *source, struct op_log *log)
{
	struct stat_log to = { log, "" };

	if (each_stat(source, log_stat, &to))
		op_log(log, "the module's statistics cannot be read");
}

const struct opd_source_ops opd_source_oprofilefs = {
	.name = "oprofilefs",
	.of_this_machine = true,
	.feature_samples = true,
	.open = oprofilefs_open,
	.close = oprofilefs_close,
	.read = oprofilefs_read,
	.write = opd_feed_write,
	.finish = opd_feed_finish,
	.enable = oprofilefs_enable,
	.enabled = oprofilefs_enabled,
	.dump = oprofilefs_dump,
	.waiting = oprofilefs_waiting,
	.cookie = oprofilefs_cookie,
	.next_code = oprofilefs_next_code,
	.detach_file = oprofilefs_detach_file,
	.account = oprofilefs_account,
	.event_time = oprofilefs_event_time,
	.handler_time = oprofilefs_handler_time,
	.lower_rate = oprofilefs_lower_rate,
	.log = oprofilefs_log,
};
