// SPDX-License-Identifier: GPL-2.0-or-later
/* clang-format off */
/*
 * await [-s SECONDS] WHAT ARG...: wait until something has happened, woken by
 * the kernel (inotify, pidfd), not by a clock:
 *
 *	file PATTERN...		a file of such a name is there; the last part
 *				of the path may be a pattern (glob(7))
 *	gone PATH		nothing of that name is there
 *	text PATH		the file is there and not empty
 *	more PATH BYTES		the file has more bytes than that
 *	line PATH ERE [COUNT]	the file has as many lines (1) that match
 *	end PID			the process has ended; a zombie has
 *	event FOLDER PATTERN	a file of such a name was made, written, renamed
 *				or removed in the folder, after the word
 *				"watching" came on standard output
 *
 * Gives up after SECONDS (120), says on standard error what has not happened
 * and exits with 1; with 2 if a call failed.
 */
/* clang-format on */

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <glob.h>
#include <libgen.h>
#include <poll.h>
#include <regex.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define LIMIT_SECONDS 120
#define EVENTS                                                                 \
	(IN_CREATE | IN_MODIFY | IN_ATTRIB | IN_DELETE | IN_MOVE |             \
	 IN_DELETE_SELF | IN_MOVE_SELF)

static struct {
	int nr;
	char **arg; /* WHAT and what follows it */
	regex_t line;
	long nr_lines;
	long nr_bytes;
	long seconds;
	struct timespec start;
} wanted;

/* ---- the limit ------------------------------------------------------------
 */

static struct timespec now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t;
}

static void give_up(void)
{
	fprintf(stderr, "await: not within %ld s:", wanted.seconds);
	for (int i = 0; i < wanted.nr; i++)
		fprintf(stderr, " %s", wanted.arg[i]);
	fputc('\n', stderr);
	exit(1);
}

/* Sleep until @fd can be read. */
static void wait_for(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	long left;
	int n;

	do {
		left = wanted.seconds - (now().tv_sec - wanted.start.tv_sec);
		n = left > 0 ? poll(&p, 1, (int)left * 1000) : 0;
		if (n < 0 && errno != EINTR)
			err(2, "poll");
		if (left <= 0)
			give_up();
	} while (n <= 0);
}

/* ---- what may be there ----------------------------------------------------
 */

static bool any_is_there(void)
{
	for (int i = 1; i < wanted.nr; i++) {
		glob_t found;
		int failed = glob(wanted.arg[i], GLOB_NOSORT, NULL, &found);

		globfree(&found);
		if (!failed)
			return true;
	}
	return false;
}

static bool is_gone(void)
{
	struct stat st;

	return lstat(wanted.arg[1], &st) && errno == ENOENT;
}

static bool has_text(void)
{
	struct stat st;

	return !stat(wanted.arg[1], &st) && st.st_size > 0;
}

static bool has_more(void)
{
	struct stat st;

	return !stat(wanted.arg[1], &st) && st.st_size > wanted.nr_bytes;
}

/* Lines that have no end yet do not count. */
static bool has_lines(void)
{
	FILE *file = fopen(wanted.arg[1], "re");
	char *line = NULL;
	size_t room = 0;
	ssize_t len;
	long nr = 0;

	while (file && nr < wanted.nr_lines &&
	       (len = getline(&line, &room, file)) > 0) {
		if (line[len - 1] != '\n')
			break;
		line[len - 1] = '\0';
		nr += !regexec(&wanted.line, line, 0, NULL, 0);
	}
	free(line);
	if (file)
		fclose(file);
	return nr >= wanted.nr_lines;
}

/* ---- being woken ----------------------------------------------------------
 */

/*
 * Watch @path and the nearest folder above it: whatever makes it come, change
 * or go changes one of both.
 */
static void watch(int fd, const char *path)
{
	char *at = strdup(path), *above;
	bool at_top = false;

	if (!at)
		err(2, "%s", path);
	inotify_add_watch(fd, at, EVENTS);
	do {
		above = strdup(dirname(at));
		free(at);
		at = above;
		if (!at || at_top)
			err(2, "%s", path);
		at_top = !strcmp(at, "/") || !strcmp(at, ".");
	} while (inotify_add_watch(fd, at, EVENTS) < 0);
	free(at);
}

static int open_inotify(void)
{
	int fd = inotify_init1(IN_CLOEXEC);

	if (fd < 0)
		err(2, "inotify");
	return fd;
}

/* The events that are there. */
static ssize_t read_events(int fd, char *events, size_t len)
{
	ssize_t n;

	wait_for(fd);
	n = read(fd, events, len);
	if (n < 0)
		err(2, "inotify");
	return n;
}

/* What happens between a look and the next one ends the sleep between them. */
static void until(bool (*is_so)(void), int nr_paths)
{
	char events[4096];
	int fd = open_inotify();

	for (;;) {
		for (int i = 1; i <= nr_paths; i++)
			watch(fd, wanted.arg[i]);
		if (is_so())
			return;
		read_events(fd, events, sizeof(events));
	}
}

/* ---- what happens once ----------------------------------------------------
 */

static bool is_among(const char *events, ssize_t len, const char *pattern)
{
	const struct inotify_event *event;

	for (ssize_t at = 0; at < len;
	     at += (ssize_t)sizeof(*event) + event->len) {
		event = (const struct inotify_event *)(events + at);
		if (event->len && !fnmatch(pattern, event->name, 0))
			return true;
	}
	return false;
}

static void until_event(const char *folder, const char *pattern)
{
	_Alignas(struct inotify_event) char events[4096];
	int fd = open_inotify();
	ssize_t len;

	if (inotify_add_watch(fd, folder, EVENTS | IN_ONLYDIR) < 0)
		err(2, "%s", folder);
	puts("watching");
	fflush(stdout);
	do {
		len = read_events(fd, events, sizeof(events));
	} while (!is_among(events, len, pattern));
}

static void until_end(const char *text)
{
	int fd = (int)syscall(SYS_pidfd_open, atoi(text), 0);

	/* Of a process that has ended, and whose number somebody still holds,
	 * Linux says EINVAL. */
	if (fd < 0 && (errno == ESRCH || errno == EINVAL))
		return;
	if (fd < 0)
		err(2, "process %s", text);
	wait_for(fd);
}

/* ---- the command line -----------------------------------------------------
 */

static void set_line(const char *ere, const char *count)
{
	wanted.nr_lines = count ? atol(count) : 1;
	if (regcomp(&wanted.line, ere, REG_EXTENDED | REG_NOSUB))
		errx(2, "%s: no regular expression", ere);
}

static bool has(const char *what, int nr)
{
	return wanted.nr == nr && !strcmp(wanted.arg[0], what);
}

int main(int argc, char **argv)
{
	int first = 1;

	wanted.seconds = LIMIT_SECONDS;
	wanted.start = now();
	if (argc > 2 && !strcmp(argv[1], "-s")) {
		wanted.seconds = atol(argv[2]);
		first = 3;
	}
	wanted.nr = argc - first;
	wanted.arg = argv + first;
	if (wanted.nr > 1 && !strcmp(wanted.arg[0], "file")) {
		until(any_is_there, wanted.nr - 1);
	} else if (has("gone", 2)) {
		until(is_gone, 1);
	} else if (has("text", 2)) {
		until(has_text, 1);
	} else if (has("more", 3)) {
		wanted.nr_bytes = atol(wanted.arg[2]);
		until(has_more, 1);
	} else if (has("line", 3) || has("line", 4)) {
		set_line(wanted.arg[2], wanted.nr > 3 ? wanted.arg[3] : NULL);
		until(has_lines, 1);
	} else if (has("end", 2)) {
		until_end(wanted.arg[1]);
	} else if (has("event", 3)) {
		until_event(wanted.arg[1], wanted.arg[2]);
	} else {
		errx(2,
		     "usage: await [-s SECONDS] file PATTERN... | gone PATH | text PATH | more PATH BYTES | line PATH ERE [COUNT] | end PID | event FOLDER PATTERN");
	}
	return 0;
}
