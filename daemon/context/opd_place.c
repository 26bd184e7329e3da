// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The search goes from the image of the address to its application and then to
 * the other parts of the key. Each step either goes on or returns the fate of
 * the sample, so that every sample that is not stored has exactly one cause.
 * base and span of the place say for which other addresses the result holds;
 * opd_trans.c counts those without another search.
 *
 * Between tasks that take turns on a CPU each sample has another context than
 * the one before it, and one that came recently. The places of recent contexts
 * are therefore kept in a table with one entry for each hash. An entry holds as
 * long as nothing changes that its search depended on, which
 * opd_places_changes() tells.
 */

#include "daemon/context/opd_place.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/context/opd_context.h"
#include "daemon/context/opd_cookie.h"
#include "daemon/opd_kernel.h"
#include "daemon/opd_options.h"
#include "daemon/opd_tasks.h"
#include "daemon/store/opd_image.h"
#include "daemon/store/opd_store.h"

/* A search under way. */
struct search {
	const struct opd_places *places;
	const struct opd_context *context;
	uint64_t pc;
	bool last;
	uint64_t waits_for;
	bool by_app; /* the application decided, too */
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
	s->by_app = separate;
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
	s->key.user = options->separate_user ? context->owner : OP_MANGLE_ALL;
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

/* ---- places of recent contexts ------------------------------------------- */

#define KNOWN_PLACES 1024 /* a power of two */
#define KNOWN_PAGE 4096 /* kernel addresses in one share an entry */

/* A place that was found, and the parts of a context that lead to it. */
struct opd_known_place {
	uint64_t changes; /* opd_places_changes() then */
	struct opd_place place;
	enum opd_mode mode;
	bool by_app; /* the settings separate it by application */
	uint64_t cookie; /* of user mode */
	struct opd_whose
		whose; /* looked at as far as settings separate by it */
};

int opd_places_init(struct opd_places *places)
{
	/* No entry is valid while it says 0. */
	places->changes = 1;
	places->known = calloc(KNOWN_PLACES, sizeof(*places->known));
	return places->known ? 0 : -ENOMEM;
}

void opd_places_release(struct opd_places *places)
{
	free(places->known);
	places->known = NULL;
}

uint64_t opd_places_changes(const struct opd_places *places)
{
	return places->changes + places->store->changes +
	       places->cookies->changes + places->kernel->changes;
}

static struct opd_known_place *known_place(const struct opd_places *places,
					   const struct opd_context *context,
					   uint64_t pc)
{
	uint64_t hash = context->mode == OPD_MODE_USER ? context->cookie
						       : pc / KNOWN_PAGE;

	hash = (hash + (context->app_cookie << 32 | context->app_cookie >> 32) +
		(places->options->separate_thread ? (uint64_t)context->tid
						  : 0)) *
	       UINT64_C(0x9e3779b97f4a7c15);
	return &places->known[(hash >> 32) % KNOWN_PLACES];
}

static bool is_same_app(const struct opd_whose *known,
			const struct opd_context *context)
{
	return context->has_app && known->app_cookie == context->app_cookie &&
	       known->run_as == context->run_as;
}

/* Whether a sample of @context at @pc goes to the place in @known. */
static bool is_known(const struct opd_known_place *known,
		     const struct opd_places *places,
		     const struct opd_context *context, uint64_t pc)
{
	const struct opd_options *options = places->options;
	const struct opd_whose *whose = &known->whose;

	if (known->changes != opd_places_changes(places) ||
	    known->mode != context->mode ||
	    pc - known->place.base >= known->place.span)
		return false;
	if (known->mode == OPD_MODE_USER &&
	    (context->where != OPD_WHERE_COOKIE ||
	     known->cookie != context->cookie))
		return false;
	if (known->by_app && !is_same_app(whose, context))
		return false;
	if (options->separate_thread &&
	    (whose->tid != context->tid || whose->tgid != context->tgid))
		return false;
	if (options->separate_cpu && whose->cpu != context->cpu)
		return false;
	if (options->separate_user && whose->owner != context->owner)
		return false;
	return !options->separate_cgroup || (whose->tgid == context->tgid &&
					     whose->cgroup == context->cgroup);
}

/* Keep what the search found, unless its way was another one. */
static void keep_place(const struct search *s)
{
	const struct opd_context *context = s->context;

	if (s->last || (context->mode == OPD_MODE_USER &&
			context->where != OPD_WHERE_COOKIE))
		return;
	*known_place(s->places, context, s->pc) = (struct opd_known_place){
		.changes = opd_places_changes(s->places),
		.place = *s->place,
		.mode = context->mode,
		.by_app = s->by_app,
		.cookie = context->cookie,
		.whose = opd_whose(context),
	};
}

/* ---- counting --------------------------------------------------------------
 */

static __attribute__((noinline)) enum opd_fate
count_of_feature(const struct opd_context *context, uint64_t pc,
		 unsigned int counter, const struct opd_place *place)
{
	const struct opd_ext_sample sample = {
		.sfile = place->sfile,
		.offset = pc - place->base,
		.counter = counter,
		.times = 1 + context->more,
		.data = &context->ext,
	};

	return opd_extended_count(&sample);
}

/* Count in the files of the counter, of a feature, or of both. */
static inline enum opd_fate count(const struct opd_places *places,
				  const struct opd_context *context,
				  uint64_t pc, unsigned int counter,
				  const struct opd_place *place)
{
	enum opd_fate fate = OPD_STORED;
	int err = 0;

	if (counter != OPD_NO_COUNTER)
		err = opd_sfile_add(places->store, place->sfile, counter,
				    pc - place->base, 1 + context->more);
	if (err)
		return err == -EDQUOT ? OPD_LOST_MAX_DISK
				      : OPD_LOST_SAMPLE_FILE;
	if (context->ext.ext)
		fate = count_of_feature(context, pc, counter, place);
	return counter == OPD_NO_COUNTER ? fate : OPD_STORED;
}

static enum opd_fate search_place(struct search *s)
{
	enum opd_fate fate = find_key(s);

	if (fate != OPD_STORED)
		return fate;
	s->key.app = s->key.app->first;
	s->place->sfile = opd_sfile_get(s->places->store, &s->key);
	if (!s->place->sfile)
		return OPD_LOST_SAMPLE_FILE;
	keep_place(s);
	return OPD_STORED;
}

static __attribute__((noinline)) enum opd_fate
search_and_count(const struct opd_places *places,
		 const struct opd_context *context, uint64_t pc,
		 unsigned int counter, bool last, struct opd_place *place,
		 uint64_t *waits_for)
{
	struct search s;
	enum opd_fate fate;

	/* Set the members one by one: clearing the whole costs more than all
	 * else here. */
	s.places = places;
	s.context = context;
	s.pc = pc;
	s.last = last;
	s.place = place;
	s.waits_for = OP_NO_COOKIE;
	s.by_app = false;
	s.key.anon = NULL;
	s.key.start = s.key.end = 0;
	s.key.anon_tgid = 0;
	fate = search_place(&s);
	*waits_for = s.waits_for;
	return fate == OPD_STORED ? count(places, context, pc, counter, place)
				  : fate;
}

enum opd_fate opd_place_store(const struct opd_places *places,
			      const struct opd_context *context, uint64_t pc,
			      unsigned int counter, bool last,
			      struct opd_place *place, uint64_t *waits_for)
{
	const struct opd_known_place *known = known_place(places, context, pc);

	if (!is_known(known, places, context, pc))
		return search_and_count(places, context, pc, counter, last,
					place, waits_for);
	*waits_for = OP_NO_COOKIE;
	*place = known->place;
	opd_sfile_use(places->store, place->sfile);
	return count(places, context, pc, counter, place);
}
