// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The search goes from the image of the address to its application and then to
 * the other parts of the key. Each step either goes on or returns the fate of
 * the sample, so that every sample that is not stored has exactly one cause.
 * base and span of the place say for which other addresses the result holds;
 * opd_trans.c counts those without another search.
 */

#include "daemon/opd_place.h"

#include <errno.h>
#include <string.h>

#include "daemon/opd_context.h"
#include "daemon/opd_cookie.h"
#include "daemon/opd_kernel.h"
#include "daemon/opd_options.h"
#include "daemon/opd_tasks.h"
#include "daemon/store/opd_image.h"
#include "daemon/store/opd_sfile.h"

/* A search under way. */
struct search {
	const struct opd_places *places;
	const struct opd_context *context;
	uint64_t pc;
	bool last;
	uint64_t waits_for;
	struct opd_sfile_key key;
	struct opd_place *place;
};

/* The image of a cookie: OPD_STORED stands for found. */
static enum opd_fate find_image(struct search *s, uint64_t cookie,
				struct opd_image **image)
{
	int err = opd_cookie_find(s->places->cookies, cookie, image);

	if (err == -EAGAIN && !s->last) {
		s->waits_for = cookie;
		return OPD_DEFERRED;
	}
	return err ? OPD_LOST_NO_NAME : OPD_STORED;
}

/* An application that is unknown or has no name is the image itself. */
static enum opd_fate find_app(struct search *s)
{
	enum opd_fate fate;

	s->key.app = s->key.dep;
	if (s->context->app_cookie == OP_NO_COOKIE)
		return OPD_STORED;
	fate = find_image(s, s->context->app_cookie, &s->key.app);
	if (fate == OPD_LOST_NO_NAME) {
		s->key.app = s->key.dep;
		fate = OPD_STORED;
	} else if (fate == OPD_STORED && s->context->run_as) {
		s->key.app = s->context->run_as;
	}
	return fate;
}

static enum opd_fate separate_app(struct search *s, bool separate)
{
	s->key.app = s->key.dep;
	if (!separate)
		return OPD_STORED;
	return s->context->has_app ? find_app(s) : OPD_LOST_NO_CONTEXT;
}

static enum opd_fate find_anon(struct search *s)
{
	const struct opd_context *context = s->context;

	if (s->pc >= context->end - context->start)
		return OPD_LOST_BAD_RECORD;
	if (context->tgid == OPD_UNKNOWN)
		return OPD_LOST_NO_CONTEXT;
	s->key.dep = &s->places->images->anon;
	s->key.anon = context->anon;
	s->key.anon_tgid = context->tgid;
	s->key.start = context->start;
	s->key.end = context->end;
	s->place->base = 0;
	s->place->span = context->end - context->start;
	return separate_app(s, true);
}

static enum opd_fate find_user(struct search *s)
{
	const struct opd_context *context = s->context;
	enum opd_fate fate;

	if (context->where == OPD_WHERE_ANON)
		return find_anon(s);
	if (context->where == OPD_WHERE_UNKNOWN)
		return OPD_LOST_NO_CONTEXT;
	if (context->cookie == OP_NO_COOKIE)
		return OPD_LOST_NO_IMAGE;
	fate = find_image(s, context->cookie, &s->key.dep);
	if (fate != OPD_STORED)
		return fate;
	s->place->base = 0;
	s->place->span = UINT64_MAX;
	/* Code made at run time is its application's, like the memory it is in.
	 */
	return separate_app(s, s->places->options->separate_lib ||
				       s->key.dep->is_made);
}

static enum opd_fate find_kernel(struct search *s)
{
	const struct opd_range *range =
		opd_kernel_find(s->places->kernel, s->pc);

	if (range) {
		s->key.dep = range->image;
		s->place->base = range->start - range->key;
		/* Init code is seldom sampled twice. */
		s->place->span = range->key ? 0 : range->end - range->start;
	} else {
		/* Key 0: an address of generated code says nothing later. */
		s->key.dep = s->places->images->other;
		s->place->base = s->pc;
		s->place->span = 1;
	}
	return separate_app(s, s->places->options->separate_kernel);
}

static enum opd_fate separate_rest(struct search *s)
{
	const struct opd_options *options = s->places->options;
	const struct opd_context *context = s->context;

	s->key.tgid = s->key.tid = s->key.cpu = OP_MANGLE_ALL;
	s->key.cgroup = NULL;
	if (options->separate_thread) {
		if (context->tgid == OPD_UNKNOWN || context->tid == OPD_UNKNOWN)
			return OPD_LOST_NO_CONTEXT;
		s->key.tgid = context->tgid;
		s->key.tid = context->tid;
	}
	if (options->separate_cpu) {
		if (context->cpu == OPD_UNKNOWN)
			return OPD_LOST_NO_CONTEXT;
		s->key.cpu = context->cpu;
	}
	if (options->separate_cgroup) {
		if (context->tgid == OPD_UNKNOWN)
			return OPD_LOST_NO_CONTEXT;
		s->key.cgroup = context->cgroup;
	}
	return OPD_STORED;
}

static enum opd_fate find_key(struct search *s)
{
	enum opd_fate fate = OPD_LOST_NO_CONTEXT;

	if (s->context->mode == OPD_MODE_USER)
		fate = find_user(s);
	else if (s->context->mode == OPD_MODE_KERNEL)
		fate = find_kernel(s);
	if (fate != OPD_STORED)
		return fate;
	if (!s->key.dep->wanted && !s->key.app->wanted)
		return OPD_LOST_FILTER;
	return separate_rest(s);
}

/* Count in the files of the counter, of a feature, or of both. */
static enum opd_fate count(struct search *s, unsigned int counter)
{
	const struct opd_ext_sample sample = {
		.sfile = s->place->sfile,
		.offset = s->pc - s->place->base,
		.counter = counter,
		.times = 1 + s->context->more,
		.data = &s->context->ext,
	};
	enum opd_fate fate = OPD_STORED;
	int err = 0;

	if (counter != OPD_NO_COUNTER)
		err = opd_sfile_add(s->places->store, sample.sfile, counter,
				    sample.offset, sample.times);
	if (err)
		return err == -EDQUOT ? OPD_LOST_MAX_DISK
				      : OPD_LOST_SAMPLE_FILE;
	if (s->context->ext.ext)
		fate = opd_extended_count(&sample);
	return counter == OPD_NO_COUNTER ? fate : OPD_STORED;
}

enum opd_fate opd_place_store(const struct opd_places *places,
			      const struct opd_context *context, uint64_t pc,
			      unsigned int counter, bool last,
			      struct opd_place *place, uint64_t *waits_for)
{
	struct search s;
	enum opd_fate fate;

	/* One by one: to clear it as a whole would cost more than the rest. */
	s.places = places;
	s.context = context;
	s.pc = pc;
	s.last = last;
	s.place = place;
	s.waits_for = OP_NO_COOKIE;
	s.key.anon = NULL;
	s.key.start = s.key.end = 0;
	s.key.anon_tgid = 0;
	fate = find_key(&s);

	*waits_for = s.waits_for;
	if (fate != OPD_STORED)
		return fate;
	s.key.app = s.key.app->first;
	place->sfile = opd_sfile_get(places->store, &s.key);
	return place->sfile ? count(&s, counter) : OPD_LOST_SAMPLE_FILE;
}
