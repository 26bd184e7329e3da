// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The daemon's log. Each line is one write(2) to a file that is open for
 * appending, so lines of several processes do not mix, and control characters
 * in it become '?'. There is a budget of lines until op_log_refill(): what is
 * logged for each of many samples must not fill the disk, and lines that were
 * left out are counted. A log that cannot be written to does not stop
 * profiling.
 */

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "libop/base/op_log.h"

#define LINE_MAX_LEN 2048 /* bytes with time and newline */

void op_log_init(struct op_log *log)
{
	memset(log, 0, sizeof(*log));
	log->fd = -1;
	log->budget = OP_LOG_BUDGET;
	log->max = OP_LOG_MAX;
}

int op_log_open(struct op_log *log, const char *path, struct op_diag *diag)
{
	int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);

	if (fd < 0)
		return op_diag_set(diag, -errno, "%s: %s", path,
				   strerror(errno));
	op_log_close(log);
	log->fd = fd;
	log->path = path;
	return 0;
}

/* A log that cannot be renamed goes on. */
static void begin_anew_if_full(struct op_log *log)
{
	char old[PATH_MAX];
	struct stat st;
	int len;

	if (log->fd < 0 || fstat(log->fd, &st) ||
	    (uint64_t)st.st_size <= log->max)
		return;
	len = snprintf(old, sizeof(old), "%s.old", log->path);
	if (len > 0 && (size_t)len < sizeof(old) && !rename(log->path, old))
		op_log_open(log, log->path, NULL);
}

void op_log_close(struct op_log *log)
{
	if (log->fd >= 0)
		close(log->fd);
	log->fd = -1;
}

/* A log that cannot be written to is no reason to stop profiling. */
static void write_log_line(int fd, const char *line, size_t len)
{
	ssize_t done;

	do
		done = write(fd, line, len);
	while (done < 0 && errno == EINTR);
}

__attribute__((format(printf, 4, 0))) static void
log_line(struct op_log *log, char *line, size_t start, const char *fmt,
	 va_list args)
{
	size_t len = start;
	int more;

	more = vsnprintf(line + start, LINE_MAX_LEN - 1 - start, fmt, args);
	if (more > 0)
		len += (size_t)more;
	if (len > LINE_MAX_LEN - 2)
		len = LINE_MAX_LEN - 2;
	for (size_t i = start; i < len; i++)
		if ((unsigned char)line[i] < ' ' || line[i] == 0x7f)
			line[i] = '?';
	line[len++] = '\n';
	write_log_line(log->fd, line, len);
}

void op_log_plain(struct op_log *log, const char *fmt, ...)
{
	char line[LINE_MAX_LEN];
	va_list args;

	if (log->fd < 0)
		return;
	va_start(args, fmt);
	log_line(log, line, 0, fmt, args);
	va_end(args);
}

static size_t put_log_time(char *line)
{
	time_t now = time(NULL);
	struct tm tm;

	if (!localtime_r(&now, &tm))
		return 0;
	return strftime(line, LINE_MAX_LEN, "%Y-%m-%d %H:%M:%S ", &tm);
}

void op_log(struct op_log *log, const char *fmt, ...)
{
	char line[LINE_MAX_LEN];
	va_list args;

	if (log->fd < 0)
		return;
	if (log->budget == 0) {
		log->dropped++;
		return;
	}
	log->budget--;
	begin_anew_if_full(log);
	va_start(args, fmt);
	log_line(log, line, put_log_time(line), fmt, args);
	va_end(args);
}

void op_log_refill(struct op_log *log)
{
	uint64_t dropped = log->dropped;

	begin_anew_if_full(log);
	log->budget = OP_LOG_BUDGET;
	log->dropped = 0;
	if (dropped)
		op_log(log, "%" PRIu64 " lines were left out here", dropped);
}
