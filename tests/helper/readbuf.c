// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * readbuf SECONDS [BYTES [IDLE]]: samples this machine through the module
 * with nothing between. Opens /dev/oprofile/buffer, starts sampling, reads
 * for SECONDS, or until a SIGTERM, with read(2) calls of BYTES (default 65536),
 * stops and reads the rest; with IDLE it reads nothing until it has stopped.
 * Checks that every read returns whole records, that every cookie has a name
 * and that the rest is as long as the module says, and prints "samples N",
 * "cookies N", "cpus N" and "bad N". Exit status 1 when something was bad, 2
 * when a call failed.
 */

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "module/uapi/oprofile.h"

#define MAX_COOKIES 4096

struct reader {
	int fd;
	size_t len; /* bytes of one read */
	uint64_t *words;
	uint64_t bytes;
	uint64_t samples;
	uint64_t cpus; /* a bit for each that was seen */
	uint64_t bad;
	uint64_t cookies[MAX_COOKIES];
	unsigned int nr_cookies;
	bool has_cpu, has_task, has_mode, has_image, is_kernel;
	enum { NO_TRACE, TRACE_BEGINS, IN_TRACE } trace;
};

static void bad(struct reader *r, const char *what)
{
	printf("# %s\n", what);
	r->bad++;
}

static void see_cookie(struct reader *r, uint64_t cookie)
{
	static struct op_cookie_query query;

	for (unsigned int i = 0; i < r->nr_cookies; i++)
		if (r->cookies[i] == cookie)
			return;
	if (r->nr_cookies == MAX_COOKIES)
		return;
	r->cookies[r->nr_cookies++] = cookie;
	query.cookie = cookie;
	if (!cookie)
		return;
	if (!ioctl(r->fd, OP_IOC_COOKIE, &query))
		printf("# cookie %llu %s\n", query.cookie, query.path);
	else if (errno == EAGAIN)
		r->nr_cookies--; /* asked again where it is seen next */
	else
		bad(r, "a cookie without a name");
}

static void see_code(struct reader *r, const uint64_t *at)
{
	switch (OP_CODE_OF(at[1])) {
	case OP_CPU_SWITCH:
		r->has_task = r->has_mode = r->has_image = false;
		r->has_cpu = true;
		r->cpus |= 1ull << (at[2] & 63);
		break;
	case OP_CTX_SWITCH:
		see_cookie(r, at[3]);
		r->has_image = false;
		break;
	case OP_CTX_TGID:
		r->has_task = true;
		break;
	case OP_KERNEL_ENTER:
	case OP_USER_ENTER:
		r->has_mode = true;
		r->is_kernel = OP_CODE_OF(at[1]) == OP_KERNEL_ENTER;
		break;
	case OP_COOKIE_SWITCH:
		see_cookie(r, at[2]);
		r->has_image = true;
		break;
	case OP_ANON_SWITCH:
		r->has_image = true;
		break;
	case OP_MODULE_LOADED:
	case OP_USER_STACK:
		break;
	case OP_TRACE_BEGIN:
		r->trace = TRACE_BEGINS;
		break;
	case OP_TRACE_END:
		r->trace = NO_TRACE;
		break;
	default:
		bad(r, "a record that the kernel does not make");
	}
}

static void see_sample(struct reader *r, const uint64_t *at)
{
	if (r->trace != IN_TRACE)
		r->samples++;
	if (r->trace == TRACE_BEGINS)
		r->trace = IN_TRACE;
	if (at[1] >= OP_MAX_COUNTERS)
		bad(r, "a counter that is none");
	if (!r->has_cpu || !r->has_task || !r->has_mode ||
	    (!r->is_kernel && !r->has_image))
		bad(r, "a sample without its context");
}

static void see(struct reader *r, const uint64_t *at, size_t nr_words)
{
	while (nr_words) {
		size_t step = 2;

		if (nr_words >= 2 && at[0] == OP_ESCAPE)
			step += OP_WORDS_OF(at[1]);
		if (step > nr_words) {
			bad(r, "a record that is cut");
			return;
		}
		if (at[0] == OP_ESCAPE)
			see_code(r, at);
		else
			see_sample(r, at);
		at += step;
		nr_words -= step;
	}
}

/* Read what is there. Returns false when there was nothing. */
static bool read_once(struct reader *r)
{
	ssize_t got = read(r->fd, r->words, r->len);

	if (got < 0 && errno == EAGAIN)
		return false;
	if (got < 0)
		err(2, "read");
	if (got % 8)
		bad(r, "a read of half a word");
	r->bytes += (uint64_t)got;
	see(r, r->words, got / 8);
	return true;
}

/* Read what there is, to which nothing comes any more. */
static void read_rest(struct reader *r)
{
	uint64_t waiting;

	if (ioctl(r->fd, OP_IOC_WAITING, &waiting))
		err(2, "OP_IOC_WAITING");
	r->bytes = 0;
	while (read_once(r))
		;
	if (r->bytes != waiting)
		bad(r, "other bytes than were said to wait");
}

/* A descriptor that can be read when SIGTERM has come. */
static int open_signal(void)
{
	sigset_t set;
	int fd;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, NULL);
	fd = signalfd(-1, &set, SFD_CLOEXEC);
	if (fd < 0)
		err(2, "signalfd");
	return fd;
}

/* One that can be read when @seconds have passed. */
static int open_timer(double seconds)
{
	const struct itimerspec once = {
		.it_value.tv_sec = (time_t)seconds,
		.it_value.tv_nsec =
			(long)((seconds - (double)(time_t)seconds) * 1e9),
	};
	int fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);

	if (fd < 0 || timerfd_settime(fd, 0, &once, NULL))
		err(2, "timerfd");
	return fd;
}

static void enable(const char *value)
{
	int fd = open("/dev/oprofile/enable", O_WRONLY);

	if (fd < 0 || write(fd, value, 1) != 1)
		err(2, "/dev/oprofile/enable");
	close(fd);
}

int main(int argc, char **argv)
{
	struct reader r = { .len = argc > 2 ? strtoul(argv[2], NULL, 0)
					    : 65536 };
	struct pollfd p[] = { { .events = POLLIN },
			      { .events = POLLIN },
			      { .events = POLLIN } };

	if (argc < 2)
		errx(2, "usage: readbuf SECONDS [BYTES [IDLE]]");
	r.words = malloc(r.len);
	r.fd = open("/dev/oprofile/buffer", O_RDONLY | O_NONBLOCK);
	if (!r.words || r.fd < 0)
		err(2, "/dev/oprofile/buffer");
	p[0].fd = open_signal();
	p[1].fd = open_timer(atof(argv[1]));
	p[2].fd = argc > 3 ? -1 : r.fd;
	enable("1");
	while (poll(p, 3, -1) >= 0 && !p[0].revents && !p[1].revents)
		read_once(&r);
	enable("0");
	read_rest(&r);
	printf("samples %ju\ncookies %u\ncpus %d\nbad %ju\n",
	       (uintmax_t)r.samples, r.nr_cookies, __builtin_popcountll(r.cpus),
	       (uintmax_t)r.bad);
	/* Before the buffer is closed, so that its counts are still there. */
	fflush(stdout);
	if (system("cat /dev/oprofile/stats/cpu*/sample_received | "
		   "awk '{ n += $1 } END { print \"received\", n }'; "
		   "cat /dev/oprofile/stats/cpu*/sample_[li]* "
		   "/dev/oprofile/stats/*_lost_* | "
		   "awk '{ n += $1 } END { print \"lost\", n }'"))
		errx(2, "no counts");
	return r.bad != 0;
}
