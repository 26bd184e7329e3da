/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DAEMON_SOURCE_OPD_SOURCE_H
#define DAEMON_SOURCE_OPD_SOURCE_H

/*
 * Where a stream comes from. Each kind of source is a const ops structure and
 * one line in the array of opd_sources.c.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "daemon/source/opd_names.h"
#include "libop/image/op_build_id.h"
#include "libop/base/op_diag.h"
#include "libop/session/op_ledger.h"
#include "module/uapi/oprofile.h"

struct op_event_time;
struct opd_events;
struct opd_new_code;
struct op_clock;
struct op_kallsyms;
struct op_log;
struct opd_oprofilefs;
struct opd_perf;
struct opd_perfdata_source;
struct op_stream_words;
struct opd_source;
struct opd_writer;
struct unwinder;

struct opd_source_ops {
	const char *name; /* the word in --source=NAME[:ARGUMENT] */
	bool ends; /* by itself: there is nothing to start or stop */
	bool of_this_machine; /* files that are named to it are here */
	bool feature_samples; /* it may have samples that features count */

	/* All return 0 or -errno, with the reason in @diag where there is one.
	 * NULL for what a source cannot do. */
	int (*open)(struct opd_source *source, const char *arg,
		    struct op_diag *diag);
	void (*close)(struct opd_source *source); /* also half open; or NULL */
	/*
	 * Read at most @len bytes without blocking if a descriptor is polled.
	 * Returns the number of bytes, 0 at the end, -EAGAIN or -errno. They
	 * are the whole stream, unless there is a write().
	 */
	ssize_t (*read)(struct opd_source *source, void *buf, size_t len);
	/* Write what has come by source->writer, likewise. Returns 1 for that,
	 * 0 at the end, -EAGAIN or -errno. NULL: read() has a whole stream. */
	ssize_t (*write)(struct opd_source *source);
	/* The account is written next: what belongs before it comes now. */
	void (*finish)(struct opd_source *source);
	/* Sample or not; *@on is what it does now. */
	int (*enable)(struct opd_source *source, bool on, struct op_diag *diag);
	int (*enabled)(struct opd_source *source, bool *on);
	/* Make all samples that were taken up to now readable. */
	int (*dump)(struct opd_source *source, struct op_diag *diag);
	/* How many bytes can be read now; what comes later is behind them.
	 * NULL: nobody knows, or read() says -EAGAIN behind them anyway. */
	int (*waiting)(struct opd_source *source, uint64_t *bytes);
	/* Fill @query for its cookie. -ENOENT, -EAGAIN as OP_IOC_COOKIE; there
	 * is a path with -EAGAIN when only the build-id is still to come. */
	int (*cookie)(struct opd_source *source, struct op_cookie_query *query);
	/* Add the records of a new table of the kernel's ranges to @words, and
	 * tell the client of those that are here. NULL: it is the kernel of
	 * this machine. */
	void (*tell_kernel)(struct opd_source *source,
			    struct op_stream_words *words);
	/* The next code that the kernel has made since open; 1, 0 or -EOVERFLOW
	 * as opd_code_watch_next(). NULL: its records tell, or nothing does. */
	int (*next_code)(struct opd_source *source, struct opd_new_code *code);
	/* A descriptor of the file behind @cookie, which may be deleted by now,
	 * if the source has one in hand; it is the caller's. -ENOENT. */
	int (*detach_file)(struct opd_source *source, uint64_t cookie);
	/* Add what was taken since open, and what was lost before it came to
	 * the stream, to the empty @ledger. */
	int (*account)(struct opd_source *source, struct op_ledger *ledger);
	/* How long the event of @counter was to be counted since open, and had
	 * a counter: sums over CPUs that never fall; and the periods of its
	 * samples, where these count for them. -ENOENT when none of that is
	 * known. NULL: it had one all the time, or nobody knows. */
	int (*event_time)(struct opd_source *source, unsigned int counter,
			  struct op_event_time *time);
	/* Add the time, ns, that each of @nr CPUs has spent on taking samples
	 * since open; CPUs that it does not know stay as they are. NULL: nobody
	 * knows. */
	int (*handler_time)(struct opd_source *source, uint64_t *ns,
			    unsigned int nr);
	/* Take 1 << @shift times fewer samples from now on, until it is closed,
	 * each of which stands for so many. -EOPNOTSUPP, or NULL: it cannot. */
	int (*lower_rate)(struct opd_source *source, unsigned int shift);
	/* The unwinder for stacks, by the stream's cookies: it lives as long as
	 * the source. NULL if there is none. */
	struct unwinder *(*unwinder)(struct opd_source *source);
	/* Write the source's own statistics to the log. */
	void (*log)(struct opd_source *source, struct op_log *log);
};

/* The reader of a stream. A source that samples this machine reports to it the
 * files and code that it finds here, before their records are in the stream. */
struct opd_source_client {
	void *ctx;
	struct op_log *log;
	/* Image @query; process @tgid has it, 0: not known. @fd is its file,
	 * the client's from now on, or -1. NULL: not wanted.
	 */
	void (*see_image)(void *ctx, const struct op_cookie_query *query,
			  uint32_t tgid, int fd);
	/* The kernel or a module: in the kernel that runs here it is at @start
	 * to @end, with its symbols in @all, to be read by who needs it first.
	 * If these are the same, another session may have had its symbols.
	 * NULL: not wanted. */
	void (*see_kernel)(void *ctx, const char *name, uint64_t start,
			   uint64_t end, const struct op_build_id *build_id,
			   struct op_kallsyms *all);
	/* Whether symbols of that build of the kernel are known already, and
	 * *@size, its bytes. NULL: no. */
	bool (*has_kernel)(void *ctx, const struct op_build_id *build_id,
			   uint64_t *size);
	/* OPD_TELL_* (opd_names.h): what the stream is to say of tasks. */
	unsigned int tells;
	struct opd_own_processes own; /* the profiler's */
	/* The folder for images of code that programs make at run time. NULL
	 * or empty: they are not wanted. It may be filled later. */
	const char *images;
	const struct op_clock *clock; /* NULL: the kernel's */
};

struct opd_source {
	const struct opd_source_ops *ops;
	const struct opd_source_client *client;
	const char *proc; /* where the kernel tells of itself: "/proc", but
			   * for tests */
	struct opd_writer *writer; /* NULL: read() has the whole stream */
	int fd; /* to poll and read; -1: not open */
	int dir; /* oprofilefs: its folder, opened */
	const char *path; /* and its name, for errors; the spec's or constant */
	/* file: what was read to look at the beginning and is to be given out
	 */
	unsigned char head[64];
	size_t head_len;
	size_t head_at;
	struct opd_oprofilefs *files; /* oprofilefs: of images */
	struct opd_feed *feed; /* oprofilefs: what makes its words whole */
	struct opd_perf *perf; /* perf: all that it has */
	struct opd_perfdata_source *perfdata; /* perfdata: the same */
	struct op_diag why; /* it ended too early; "" it did not */
	struct opd_events *events; /* what is to be sampled; not owned */
	char name[32]; /* for the ledger and status: "module/timer", "file" */
	struct op_run run; /* what ran, as far as the source knows it */
	char cpu_type[48];
	uint32_t timer_hz; /* 0: not known */
	bool stacks; /* samples come with stacks, for call graphs */
	bool targeted; /* it is about some processes, not the machine */
};

/*
 * Open what @spec, "NAME[:ARGUMENT]", says, to sample @events, which a source
 * that cannot sample all of them restricts to what it can. The caller keeps
 * all that it gives as long as the source. Returns 0 or -errno with the reason;
 * opd_source_close() in any case.
 */
int opd_source_open(struct opd_source *source, const char *spec,
		    struct opd_events *events,
		    const struct opd_source_client *client,
		    struct op_diag *diag);
void opd_source_close(struct opd_source *source);

/*
 * Read at most @len bytes of the whole stream, without blocking if a descriptor
 * is polled; records may be cut anywhere. Returns the number of bytes, 0 at the
 * end, -EAGAIN or -errno.
 */
ssize_t opd_source_read(struct opd_source *source, void *buf, size_t len);

/* Sample or not. Returns 0 or -errno with the reason. */
int opd_source_enable(struct opd_source *source, bool on, struct op_diag *diag);
bool opd_source_is_enabled(struct opd_source *source);

/*
 * Have all samples that were taken up to now read before the next -EAGAIN, and
 * behind them what was taken and lost. It comes even where samples are taken
 * faster than they are read. Returns 0 or -errno with the reason.
 */
int opd_source_dump(struct opd_source *source, struct op_diag *diag);

/* Likewise for what can be read as it is. */
void opd_source_ask_account(struct opd_source *source);

/*
 * The reader has forgotten names of tasks: tell each again before the next
 * sample that needs it. False when the source ends: it tells them once, and the
 * reader has to keep them.
 */
bool opd_source_repeat_names(struct opd_source *source);

/* The ops of @spec, NULL for an unknown name; *@arg is its argument or NULL. */
const struct opd_source_ops *opd_source_find(const char *spec,
					     const char **arg);

/* All names, for people. */
#define OPD_SOURCES                                                            \
	"oprofilefs, oprofilefs:DIR, perf, perf:exec=PID, perf:pid=PID, perfdata:PATH and file:PATH"

extern const struct opd_source_ops opd_source_oprofilefs;
extern const struct opd_source_ops opd_source_perf;
extern const struct opd_source_ops opd_source_perfdata;
extern const struct opd_source_ops opd_source_file;

#endif /* DAEMON_SOURCE_OPD_SOURCE_H */
