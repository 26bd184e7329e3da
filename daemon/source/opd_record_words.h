/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DAEMON_SOURCE_OPD_RECORD_WORDS_H
#define DAEMON_SOURCE_OPD_RECORD_WORDS_H

/*
 * Makes the records of a stream (module/uapi/oprofile.h), one behind the other,
 * in a buffer that grows.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libop/op_build_id.h"
#include "module/uapi/oprofile.h"

struct opd_event;
struct opd_event_time;

struct opd_record_words {
	uint64_t *words;
	size_t nr;
	bool short_of_memory; /* some record is missing */
};

void opd_record_words_release(struct opd_record_words *w);

/* @cpu_type of the machine; its CPUs run at @cpu_khz, 0 if not known. */
void opd_record_begin(struct opd_record_words *w, uint32_t cpu_khz,
		      const char *cpu_type);
/* @flags: OP_SOURCE_*. */
void opd_record_source(struct opd_record_words *w, uint64_t flags,
		       const char *name);
void opd_record_event(struct opd_record_words *w, unsigned int counter,
		      const struct opd_event *event);
/* What @query, which has been answered, says of its cookie. An empty path says
 * that it has no name. */
void opd_record_cookie(struct opd_record_words *w,
		       const struct op_cookie_query *query);
/*
 * A sample at @offset of the image @cookie, and behind it the @nr words at
 * @then, whole records. False where memory is short: then nothing is added.
 */
bool opd_record_sample(struct opd_record_words *w, uint64_t cookie,
		       uint64_t offset, uint64_t counter, const uint64_t *then,
		       size_t nr);
/* @flags: OP_KERNEL_*. */
void opd_record_range(struct opd_record_words *w, uint32_t flags,
		      uint64_t start, uint64_t end,
		      const struct op_build_id *build_id, const char *name);
void opd_record_lost(struct opd_record_words *w, uint64_t nr,
		     const char *cause);
void opd_record_taken(struct opd_record_words *w, uint64_t nr);
/* What is new in the times of the event of @counter. */
void opd_record_event_time(struct opd_record_words *w, unsigned int counter,
			   const struct opd_event_time *time);
/* A thread of process @tgid is called @name, which is not empty. */
void opd_record_task_name(struct opd_record_words *w, uint32_t tgid,
			  uint32_t tid, const char *name);
/* The cgroup of a process, empty if not known, and its mount namespace. */
void opd_record_task_cgroup(struct opd_record_words *w, uint32_t tgid,
			    uint64_t mounts, const char *path);
/* Process @tgid runs the file of the cookie @app by the link @path. */
void opd_record_task_run_as(struct opd_record_words *w, uint32_t tgid,
			    uint64_t app, const char *path);

#endif /* DAEMON_SOURCE_OPD_RECORD_WORDS_H */
