// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A stack is stored in two phases. First the place of every frame is found,
 * which changes nothing: when a name is missing, the whole stack is deferred
 * and later tried again from the start. Then everything is counted, so no stack
 * is ever counted in part and again as a whole.
 *
 * An arc has the place of the call in the upper half of its key and the start
 * of the called function in the lower half. Offsets beyond 32 bits do not fit
 * and are counted as such. A tree has its frames from the outside in, so a
 * stack that is not whole gets a root that says why, and never looks like one
 * that began there.
 */

#include "daemon/opd_stack.h"

#include <errno.h>
#include <string.h>

#include "daemon/opd_cookie.h"
#include "daemon/opd_kernel.h"
#include "daemon/opd_options.h"
#include "daemon/opd_place.h"
#include "daemon/opd_stats.h"
#include "daemon/store/opd_image.h"
#include "daemon/store/opd_store.h"
#include "libcfi/unwinder.h"
#include "libop/op_tree_image.h"

/* A store under way. */
struct store {
	struct opd_stacks *stacks;
	const struct opd_places *places;
	const struct opd_stack *stack;
	bool last;
	uint64_t waits_for;
	/* The last image that was found. */
	uint64_t cookie; /* OP_NO_COOKIE: none yet */
	struct opd_image *image;
	/* The last file of arcs, which is open as long as no other is used. */
	struct opd_sfile *arcs; /* NULL: none yet */
	const struct opd_spot *caller, *callee;
};

static int make_root(struct opd_stacks *stacks, enum op_ledger_stacks class,
		     const char *name)
{
	const struct opd_image_id id = {
		.space = OP_SPACE_KERN,
		.kind = OP_IMAGE_PSEUDO,
		.name = name,
	};

	return opd_image_get(stacks->places->images, &id,
			     &stacks->roots[class].image);
}

int opd_stacks_init(struct opd_stacks *stacks, const struct opd_places *places,
		    struct unwinder *unwinder, struct opd_stats *stats)
{
	const struct opd_image_id id = {
		.space = OP_SPACE_KERN,
		.kind = OP_IMAGE_PSEUDO,
		.name = "[unknown]",
	};
	int err;

	stacks->places = places;
	stacks->unwinder = unwinder;
	stacks->stats = stats;
	err = make_root(stacks, OP_STACKS_TRUNCATED, OP_TREE_TRUNCATED);
	if (!err)
		err = make_root(stacks, OP_STACKS_NO_UNWIND,
				OP_TREE_NO_UNWIND_DATA);
	if (!err)
		err = make_root(stacks, OP_STACKS_BROKEN, OP_TREE_BROKEN);
	return err ? err : opd_image_get(places->images, &id, &stacks->unknown);
}

/* ---- where its frames are ---------------------------------------------------
 */

/* False if the name may still come. *@image is NULL if it has none. */
static bool find_image(struct store *s, uint64_t cookie,
		       struct opd_image **image)
{
	int err;

	if (cookie == s->cookie && cookie != OP_NO_COOKIE) {
		*image = s->image;
		return true;
	}
	err = opd_cookie_find(s->places->cookies, cookie, image);
	if (err)
		*image = NULL;
	s->waits_for = cookie;
	if (err == -EAGAIN && !s->last)
		return false;
	s->cookie = cookie;
	s->image = *image;
	return true;
}

static void spot_kernel(struct store *s, struct opd_spot *spot, uint64_t at)
{
	const struct opd_range *range = opd_kernel_find(s->places->kernel, at);

	spot->image = range ? range->image : s->places->images->other;
	spot->key = at;
	if (range)
		spot->key -= range->start - range->key;
	/* As in flat files, addresses of generated code say nothing later. */
	if (spot->image->kind == OP_IMAGE_PSEUDO)
		spot->key = 0;
	spot->function = spot->key;
}

/* False if the name may still come. */
static bool spot_file(struct store *s, struct opd_spot *spot, uint64_t cookie)
{
	if (!find_image(s, cookie, &spot->image))
		return false;
	/* Only an image that has its name can be opened. */
	if (spot->image && spot->image->kind == OP_IMAGE_FILE)
		unwinder_function(s->stacks->unwinder, cookie, spot->key,
				  &spot->function);
	return true;
}

static bool find_spot(struct store *s, unsigned int i)
{
	const struct opd_frame *frame = &s->stack->frames[i];
	struct opd_spot *spot = &s->stacks->spots[i];
	uint64_t at = frame->pc - (i && frame->pc ? 1 : 0);

	memset(spot, 0, sizeof(*spot));
	if (frame->kernel) {
		spot_kernel(s, spot, at);
		return true;
	}
	spot->key = at;
	spot->function = at;
	if (frame->cookie != OP_NO_COOKIE)
		return spot_file(s, spot, frame->cookie);
	if (frame->anon && at < frame->end - frame->start) {
		spot->image = &s->places->images->anon;
		spot->anon = frame->anon;
		spot->start = frame->start;
		spot->end = frame->end;
		spot->anon_tgid = s->stack->context.tgid;
	}
	return true;
}

static bool find_app(struct store *s)
{
	const struct opd_context *context = &s->stack->context;

	s->stacks->app = NULL;
	if (!context->has_app || context->app_cookie == OP_NO_COOKIE)
		return true;
	if (!find_image(s, context->app_cookie, &s->stacks->app))
		return false;
	if (s->stacks->app && context->run_as)
		s->stacks->app = context->run_as;
	return true;
}

static bool find_all(struct store *s)
{
	for (unsigned int i = 0; i < s->stack->nr; i++)
		if (!find_spot(s, i))
			return false;
	return find_app(s);
}

/* The application of what is in @spot, as the settings separate it. */
static struct opd_image *app_at(const struct store *s,
				const struct opd_spot *spot)
{
	const struct opd_options *options = s->places->options;
	bool separate = options->separate_lib;

	if (spot->image->space == OP_SPACE_ANON)
		separate = true;
	else if (spot->image->kind != OP_IMAGE_FILE)
		separate = options->separate_kernel;
	return separate && s->stacks->app ? s->stacks->app : spot->image;
}

/* ---- arcs -------------------------------------------------------------------
 */

/* The key of flat samples in @spot. */
static void fill_key(const struct store *s, const struct opd_spot *spot,
		     struct opd_sfile_key *key)
{
	const struct opd_context *context = &s->stack->context;
	const struct opd_options *options = s->places->options;
	bool thread = options->separate_thread;

	*key = (struct opd_sfile_key){
		.app = app_at(s, spot)->first,
		.dep = spot->image,
		.anon = spot->anon,
		.start = spot->start,
		.end = spot->end,
		.anon_tgid = spot->anon_tgid,
		.tgid = thread ? context->tgid : OP_MANGLE_ALL,
		.tid = thread ? context->tid : OP_MANGLE_ALL,
		.cpu = options->separate_cpu ? context->cpu : OP_MANGLE_ALL,
		.user = options->separate_user ? context->owner : OP_MANGLE_ALL,
		.cgroup = options->separate_cgroup ? context->cgroup : NULL,
	};
}

static struct opd_sfile *arcs_between(const struct store *s,
				      const struct opd_spot *caller,
				      const struct opd_spot *spot)
{
	const struct opd_callee callee = {
		.image = spot->image,
		.anon = spot->anon,
		.start = spot->start,
		.end = spot->end,
		.anon_tgid = spot->anon_tgid,
	};
	struct opd_sfile_key key;

	fill_key(s, caller, &key);
	return opd_sfile_get_arcs(s->places->store, &key, &callee);
}

/* Most are between the images that the last one was between. */
static int count_arc(struct store *s, const struct opd_spot *caller,
		     const struct opd_spot *callee)
{
	if (!s->arcs || !opd_spot_same_image(s->caller, caller) ||
	    !opd_spot_same_image(s->callee, callee))
		s->arcs = arcs_between(s, caller, callee);
	if (!s->arcs)
		return -ENOMEM;
	s->caller = caller;
	s->callee = callee;
	return opd_sfile_add(s->places->store, s->arcs, s->stack->counter,
			     caller->key << 32 | callee->function,
			     opd_stack_times(s->stack));
}

static enum op_ledger_stacks store_arc(struct store *s,
				       const struct opd_spot *caller,
				       const struct opd_spot *callee)
{
	if (!caller->image || !callee->image)
		return OP_STACKS_ARCS_NOT_STORED;
	if (caller->key > UINT32_MAX || callee->function > UINT32_MAX)
		return OP_STACKS_ARCS_TOO_FAR;
	return count_arc(s, caller, callee) ? OP_STACKS_ARCS_NOT_STORED
					    : OP_STACKS_ARCS;
}

/* ---- trees ------------------------------------------------------------------
 */

/* A kernel thread's is the kernel, in whatever module it is. */
static struct opd_image *kernel_image(const struct opd_kernel *kernel)
{
	for (size_t i = 0; i < kernel->nr; i++)
		if (kernel->ranges[i].image->kind == OP_IMAGE_KERNEL)
			return kernel->ranges[i].image;
	return NULL;
}

static void fill_tree_key(struct store *s, struct opd_sfile_key *key)
{
	struct opd_spot spot = s->stacks->spots[0];
	struct opd_image *kernel = NULL;

	if (s->stacks->app) {
		spot = (struct opd_spot){ .image = s->stacks->app };
	} else if (s->stack->frames[0].kernel) {
		kernel = kernel_image(s->places->kernel);
		if (kernel)
			spot = (struct opd_spot){ .image = kernel };
	}
	fill_key(s, &spot, key);
	key->app = key->dep = spot.image->first;
}

static int store_tree(struct store *s, enum op_ledger_stacks class)
{
	struct opd_spot *spots = s->stacks->spots;
	const struct opd_spot *root = &s->stacks->roots[class];
	struct opd_sfile_key key;

	fill_tree_key(s, &key);
	for (unsigned int i = 0; i < s->stack->nr; i++) {
		if (spots[i].image)
			continue;
		spots[i].image = s->stacks->unknown;
		spots[i].key = spots[i].function = 0;
	}
	return opd_tree_add(s->places->store, &key, s->stack->counter, spots,
			    s->stack->nr, root->image ? root : NULL,
			    opd_stack_times(s->stack));
}

/* ---- all of it --------------------------------------------------------------
 */

/* Whether the sample was stored, which by now is certain. */
static bool is_wanted(const struct store *s)
{
	const struct opd_context *context = &s->stack->context;
	const struct opd_options *options = s->places->options;
	const struct opd_spot *first = &s->stacks->spots[0];

	if (!first->image)
		return false;
	if (!first->image->wanted && !app_at(s, first)->wanted)
		return false;
	if ((options->separate_thread || options->separate_cgroup ||
	     first->anon) &&
	    context->tgid == OPD_UNKNOWN)
		return false;
	return !options->separate_cpu || context->cpu != OPD_UNKNOWN;
}

static enum op_ledger_stacks class_of(enum op_trace_ending ending)
{
	switch (ending) {
	case OP_TRACE_WHOLE:
		return OP_STACKS_WHOLE;
	case OP_TRACE_NO_UNWIND:
		return OP_STACKS_NO_UNWIND;
	case OP_TRACE_BAD_STACK:
		return OP_STACKS_BROKEN;
	default:
		return OP_STACKS_TRUNCATED;
	}
}

bool opd_stack_store(struct opd_stacks *stacks, const struct opd_stack *stack,
		     bool last, uint64_t *waits_for)
{
	struct store s = {
		.stacks = stacks,
		.places = stacks->places,
		.stack = stack,
		.last = last,
		.waits_for = OP_NO_COOKIE,
		.cookie = OP_NO_COOKIE,
	};
	const struct opd_spot *spots = stacks->spots;
	enum op_ledger_stacks class = class_of(stack->ending);
	uint64_t *stats = stacks->stats->stacks;
	uint64_t times = opd_stack_times(stack);

	if (!find_all(&s)) {
		*waits_for = s.waits_for;
		return false;
	}
	if (!is_wanted(&s))
		return true;
	stats[OP_STACKS_FRAMES] += stack->nr * times;
	for (unsigned int i = 1; i < stack->nr; i++)
		stats[store_arc(&s, &spots[i], &spots[i - 1])] += times;
	stats[store_tree(&s, class) ? OP_STACKS_NOT_STORED : class] += times;
	return true;
}

void opd_stack_store_call(struct opd_stacks *stacks,
			  const struct opd_stack *stack)
{
	struct store s = {
		.stacks = stacks,
		.places = stacks->places,
		.stack = stack,
		.last = true,
		.waits_for = OP_NO_COOKIE,
		.cookie = OP_NO_COOKIE,
	};
	const struct opd_spot *spots = stacks->spots;

	if (find_all(&s) && is_wanted(&s))
		stacks->stats->stacks[store_arc(&s, &spots[1], &spots[0])] +=
			opd_stack_times(stack);
}
