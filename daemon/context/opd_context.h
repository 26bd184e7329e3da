/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DAEMON_CONTEXT_OPD_CONTEXT_H
#define DAEMON_CONTEXT_OPD_CONTEXT_H

/*
 * Where the stream is: what its records have said of the samples that follow.
 * opd_trans keeps the present context; a sample or stack that has to wait keeps
 * a copy of its own.
 */

#include <stdbool.h>
#include <stdint.h>

#include "daemon/feature/opd_extended.h"
#include "daemon/opd_stats.h"

struct opd_image;

#define OPD_UNKNOWN (-1)

enum opd_where {
	OPD_WHERE_UNKNOWN,
	OPD_WHERE_COOKIE, /* user samples are in the image of a cookie */
	OPD_WHERE_ANON, /* user samples are in anonymous memory */
};

/* The context that the stream has set for the samples that follow. */
struct opd_context {
	enum opd_mode mode;
	enum opd_where where;
	bool has_app; /* app_cookie was given */
	int64_t cpu; /* or OPD_UNKNOWN, like the two below */
	int64_t tid;
	int64_t tgid;
	int64_t owner; /* the user who may see the samples, OPD_UNKNOWN none */
	const char
		*cgroup; /* of tgid, kept by opd_tasks; NULL: not looked up */
	uint64_t app_cookie;
	struct opd_image
		*run_as; /* the name that it was run by; NULL: its own */
	uint64_t cookie; /* OPD_WHERE_COOKIE */
	const char *anon; /* OPD_WHERE_ANON, like the two below */
	uint64_t start;
	uint64_t end;
	struct opd_ext_data ext; /* of the next sample alone, like this: */
	uint64_t more; /* times that it was taken, but for one */
};

/*
 * The part of a context that says whose its samples are, for parts that
 * remember by it where samples went. A new way to separate samples adds its
 * member here.
 */
struct opd_whose {
	bool has_app;
	int64_t cpu;
	int64_t tid;
	int64_t tgid;
	int64_t owner;
	const char *cgroup;
	uint64_t app_cookie;
	const struct opd_image *run_as;
};

static inline struct opd_whose opd_whose(const struct opd_context *context)
{
	return (struct opd_whose){
		.has_app = context->has_app,
		.cpu = context->cpu,
		.tid = context->tid,
		.tgid = context->tgid,
		.owner = context->owner,
		.cgroup = context->cgroup,
		.app_cookie = context->app_cookie,
		.run_as = context->run_as,
	};
}

static inline bool opd_whose_same(const struct opd_whose *whose,
				  const struct opd_context *context)
{
	return whose->app_cookie == context->app_cookie &&
	       whose->run_as == context->run_as && whose->tid == context->tid &&
	       whose->tgid == context->tgid && whose->cpu == context->cpu &&
	       whose->owner == context->owner &&
	       whose->cgroup == context->cgroup &&
	       whose->has_app == context->has_app;
}

#endif /* DAEMON_CONTEXT_OPD_CONTEXT_H */
