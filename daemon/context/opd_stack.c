// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A stack is stored in two phases. First the place of every frame is found,
 * which changes nothing: when a name is missing, the whole stack is deferred
 * and later tried again from the start. Then everything is counted, so no stack
 * is ever counted in part and again as a whole.
 *
 * A tree has its frames from the outside in, so a stack that is not whole gets
 * a root that says why, and never looks like one that began there.
 *
 * Both phases begin where the stack leaves the ones before it: opd_steps.h has
 * the places of frames that came with the same callers.
 *
 * A call that comes without a stack, as from a file that was imported, is an
 * arc: the place of the call in the upper half of its key, the start of the
 * called function in the lower half. Offsets beyond 32 bits do not fit and are
 * counted as such.
 */

#include "daemon/context/opd_stack.h"

#include <errno.h>
#include <string.h>

#include "daemon/context/opd_cookie.h"
#include "daemon/opd_kernel.h"
#include "daemon/opd_options.h"
#include "daemon/context/opd_place.h"
#include "daemon/opd_stats.h"
#include "daemon/store/opd_image.h"
#include "daemon/store/opd_store.h"
#include "libcfi/unwinder.h"
#include "libdb/ctree.h"
#include "libop/session/op_tree_image.h"

/* A store under way. */
struct store {
	struct opd_stacks *stacks;
	const struct opd_places *places;
	const struct opd_stack *stack;
	bool last;
	uint64_t waits_for;
	struct opd_way way; /* that it takes; its tree is NULL if that is new */
	bool has_context_way; /* it was found by the context alone */
	unsigned int nr_nodes; /* outermost frames whose nodes are known */
	bool all_known; /* every frame came as a step */
	/* The last image that was found. */
	uint64_t cookie; /* OP_NO_COOKIE: none yet */
	struct opd_image *image;
};

static int make_root(const struct opd_stacks *stacks, const char *name,
		     struct opd_image **image)
{
	const struct opd_image_id id = {
		.space = OP_SPACE_KERN,
		.kind = OP_IMAGE_PSEUDO,
		.name = name,
	};

	return opd_image_get(stacks->places->images, &id, image);
}

int opd_stacks_init(struct opd_stacks *stacks, const struct opd_places *places,
		    struct unwinder *unwinder, struct opd_stats *stats)
{
	int err = 0;

	/* The tables stay when everything else starts anew. */
	if (!stacks->steps.steps)
		err = opd_steps_init(&stacks->steps);
	if (err)
		return err;
	stacks->places = places;
	stacks->unwinder = unwinder;
	stacks->stats = stats;
	for (unsigned int i = OP_STACKS_WHOLE + 1;
	     !err && i <= OP_STACKS_BROKEN; i++)
		err = make_root(stacks, op_tree_gap_name(i),
				&stacks->roots[i].image);
	return err ?: make_root(stacks, "[unknown]", &stacks->unknown);
}

void opd_stacks_release(struct opd_stacks *stacks)
{
	opd_steps_release(&stacks->steps);
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
	/* Addresses of generated code say nothing later, as in flat files. */
	if (spot->image->kind == OP_IMAGE_PSEUDO)
		spot->key = 0;
}

/* The frame that called no other is a function. False if the name may still
 * come. */
static bool spot_file(struct store *s, struct opd_spot *spot, uint64_t cookie,
		      bool innermost)
{
	if (!find_image(s, cookie, &spot->image))
		return false;
	/* Only an image that has its name can be opened. */
	if (innermost && spot->image && spot->image->kind == OP_IMAGE_FILE)
		unwinder_function(s->stacks->unwinder, cookie, spot->key,
				  &spot->key);
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
	if (frame->cookie != OP_NO_COOKIE)
		return spot_file(s, spot, frame->cookie, !i);
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

/* ---- the way to them
 * -----------------------------------------------------------
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

/* A kernel thread's is the kernel, in whatever module it is. */
static struct opd_image *kernel_image(const struct opd_kernel *kernel)
{
	for (size_t i = 0; i < kernel->nr; i++)
		if (kernel->ranges[i].image->kind == OP_IMAGE_KERNEL)
			return kernel->ranges[i].image;
	return NULL;
}

/* Find the image that owns the call tree of the stack: the application, the
 * kernel or the innermost frame. False if its name may still come. */
static bool find_owner(struct store *s, struct opd_spot *owner)
{
	struct opd_image *image = s->stacks->app;

	if (!image && s->stack->frames[0].kernel)
		image = kernel_image(s->places->kernel);
	if (!image && !find_spot(s, 0))
		return false;
	if (image)
		*owner = (struct opd_spot){ .image = image };
	else
		*owner = s->stacks->spots[0];
	return true;
}

/* Fill the key of the way from what the stack is about, which is known. */
static void fill_way_key(struct store *s, const struct opd_spot *owner)
{
	fill_key(s, owner, &s->way.key);
	s->way.key.app = s->way.key.dep = owner->image->first;
	s->way.has_app = s->stacks->app != NULL;
}

static bool is_context_way(const struct opd_context_way *known,
			   const struct store *s)
{
	return known->changes == s->way.changes &&
	       opd_whose_same(&known->whose, &s->stack->context) &&
	       (known->app || s->stack->frames[0].kernel) &&
	       known->counter == s->way.counter && known->class == s->way.class;
}

/* False if a name may still come. */
static bool search_way(struct store *s)
{
	const struct opd_way *known;
	struct opd_spot owner;

	if (!find_app(s) || !find_owner(s, &owner))
		return false;
	/* Then the sample is not stored either. */
	if (!owner.image)
		return true;
	fill_way_key(s, &owner);
	known = opd_steps_way(&s->stacks->steps, &s->way);
	if (known) {
		s->way.serial = known->serial;
		s->way.tree = known->tree;
	}
	return true;
}

/* Whether the way is known or new. False if a name may still come. */
static bool find_way(struct store *s, enum op_ledger_stacks class)
{
	const struct opd_context_way *known =
		opd_steps_context(&s->stacks->steps, &s->stack->context);

	s->way.changes = opd_places_changes(s->places);
	s->way.counter = s->stack->counter;
	s->way.class = class;
	s->way.serial = 0;
	s->way.tree = NULL;
	s->has_context_way = is_context_way(known, s);
	if (!s->has_context_way)
		return search_way(s);
	s->stacks->app = known->app;
	s->way.serial = known->serial;
	s->way.tree = known->tree;
	return true;
}

/* Look frame @i up, in the images and, as far as callers are there, in the
 * tree. False if a name may still come. */
static bool look_up_frame(struct store *s, unsigned int i, bool *in_tree)
{
	const struct opd_step *const *known = s->stacks->known;
	struct opd_spot *spots = s->stacks->spots;
	bool outermost = i == s->stack->nr - 1;

	if (!outermost && known[i + 1])
		spots[i + 1] = known[i + 1]->spot;
	if (!find_spot(s, i))
		return false;
	*in_tree = *in_tree && !outermost &&
		   opd_tree_find(s->way.tree, &spots[i + 1], &spots[i]);
	s->all_known = false;
	return true;
}

/* Go from the outermost frame on, by steps where there are some. False if a
 * name may still come. */
static bool follow_stack(struct store *s)
{
	const struct opd_stack *stack = s->stack;
	const struct opd_step *step = NULL;
	bool in_tree = s->way.serial != 0;
	uint32_t node = CTREE_ROOT;

	s->nr_nodes = 0;
	s->all_known = true;
	for (unsigned int i = stack->nr; i--;) {
		if (in_tree)
			step = opd_steps_find(&s->stacks->steps, s->way.serial,
					      node, &stack->frames[i], !i,
					      stack->context.tgid);
		s->stacks->known[i] = in_tree ? step : NULL;
		if (in_tree && step)
			node = step->spot.node;
		else if (look_up_frame(s, i, &in_tree))
			node = s->stacks->spots[i].node;
		else
			return false;
		s->nr_nodes += in_tree;
	}
	if (s->stacks->known[0])
		s->stacks->spots[0] = s->stacks->known[0]->spot;
	return true;
}

static bool find_all(struct store *s, enum op_ledger_stacks class)
{
	return find_way(s, class) && follow_stack(s);
}

/* Forget what steps and the tree said, which is no longer true. The spots
 * stay. */
static void forget_steps(struct store *s)
{
	const struct opd_step **known = s->stacks->known;

	for (unsigned int i = 0; i < s->stack->nr; i++) {
		if (known[i])
			s->stacks->spots[i] = known[i]->spot;
		known[i] = NULL;
	}
	s->nr_nodes = 0;
}

/* ---- trees ------------------------------------------------------------------
 */

/* A frame without image stands in the tree as such. */
static void name_unknown(struct store *s)
{
	struct opd_spot *spots = s->stacks->spots;

	for (unsigned int i = 0; i < s->stack->nr - s->nr_nodes; i++) {
		if (spots[i].image)
			continue;
		spots[i].image = s->stacks->unknown;
		spots[i].key = 0;
	}
}

static int add_to_tree(struct store *s)
{
	const struct opd_spot *root = &s->stacks->roots[s->way.class];

	return opd_tree_add(s->places->store, s->way.tree, s->stacks->spots,
			    s->stack->nr, s->nr_nodes,
			    root->image ? root : NULL,
			    opd_stack_times(s->stack));
}

static int store_tree(struct store *s)
{
	struct opd_store *store = s->places->store;
	struct opd_spot owner;
	int err;

	if (!s->way.tree) {
		find_owner(s, &owner);
		fill_way_key(s, &owner);
		s->way.tree = opd_tree_get(store, &s->way.key, s->way.counter);
	}
	if (!s->way.tree)
		return -ENOMEM;
	name_unknown(s);
	err = add_to_tree(s);
	if (err != -EAGAIN)
		return err;
	forget_steps(s);
	return add_to_tree(s);
}

static void keep_context_way(const struct store *s)
{
	const struct opd_context *context = &s->stack->context;

	if (!s->stacks->app && !s->stack->frames[0].kernel)
		return;
	*opd_steps_context(&s->stacks->steps, context) =
		(struct opd_context_way){
			.changes = s->way.changes,
			.whose = opd_whose(context),
			.counter = s->way.counter,
			.class = s->way.class,
			.app = s->stacks->app,
			.serial = s->way.serial,
			.tree = s->way.tree,
		};
}

/* Keep the step to frame @i, which was looked up, as its caller was or is in
 * spots, too. */
static void keep_step(struct store *s, unsigned int i)
{
	const struct opd_spot *spot = &s->stacks->spots[i];
	bool outermost = i == s->stack->nr - 1;

	if (spot->image == s->stacks->unknown)
		return;
	opd_steps_add(&s->stacks->steps, s->way.serial,
		      outermost ? CTREE_ROOT : spot[1].node,
		      &s->stack->frames[i], !i, spot);
}

static void keep_steps(struct store *s)
{
	/* Something that was found may be gone already. */
	if (s->last || s->way.changes != opd_places_changes(s->places))
		return;
	if (!s->way.serial)
		s->way.serial = opd_steps_add_way(&s->stacks->steps, &s->way);
	if (!s->has_context_way)
		keep_context_way(s);
	for (unsigned int i = s->all_known ? 0 : s->stack->nr; i--;)
		if (!s->stacks->known[i])
			keep_step(s, i);
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
	case OP_TRACE_GUESSED:
		return OP_STACKS_GUESSED;
	case OP_TRACE_OTHER_STACK:
		return OP_STACKS_OTHER_STACK;
	case OP_TRACE_NO_UNWIND:
		return OP_STACKS_NO_UNWIND;
	case OP_TRACE_NO_MEMORY:
		return OP_STACKS_NO_MEMORY;
	case OP_TRACE_BAD_STACK:
		return OP_STACKS_BROKEN;
	default:
		return OP_STACKS_TRUNCATED;
	}
}

bool opd_stack_store(struct opd_stacks *stacks, const struct opd_stack *stack,
		     bool last, uint64_t *waits_for)
{
	struct store s;
	enum op_ledger_stacks class = class_of(stack->ending);
	uint64_t *stats = stacks->stats->stacks;
	uint64_t times = opd_stack_times(stack);

	s.stacks = stacks;
	s.places = stacks->places;
	s.stack = stack;
	s.last = last;
	s.waits_for = OP_NO_COOKIE;
	s.cookie = stacks->cookie;
	s.image = stacks->image;
	if (last || stacks->changes != opd_places_changes(stacks->places))
		s.cookie = OP_NO_COOKIE;
	if (!find_all(&s, class)) {
		*waits_for = s.waits_for;
		return false;
	}
	if (!last) {
		stacks->changes = s.way.changes;
		stacks->cookie = s.cookie;
		stacks->image = s.image;
	}
	if (!is_wanted(&s))
		return true;
	stats[OP_STACKS_FRAMES] += stack->nr * times;
	if (store_tree(&s)) {
		stats[OP_STACKS_NOT_STORED] += times;
		return true;
	}
	stats[class] += times;
	if (!s.all_known || !s.has_context_way)
		keep_steps(&s);
	return true;
}

/* ---- calls without stacks ---------------------------------------------------
 */

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

static enum op_ledger_stacks store_arc(struct store *s,
				       const struct opd_spot *caller,
				       const struct opd_spot *callee)
{
	struct opd_store *store = s->places->store;
	struct opd_sfile *arcs;

	if (!caller->image || !callee->image)
		return OP_STACKS_ARCS_NOT_STORED;
	if (caller->key > UINT32_MAX || callee->key > UINT32_MAX)
		return OP_STACKS_ARCS_TOO_FAR;
	arcs = arcs_between(s, caller, callee);
	if (!arcs || opd_sfile_add(store, arcs, s->stack->counter,
				   caller->key << 32 | callee->key,
				   opd_stack_times(s->stack)))
		return OP_STACKS_ARCS_NOT_STORED;
	return OP_STACKS_ARCS;
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
	struct opd_spot *spots = stacks->spots;

	if (find_spot(&s, 0) && find_spot(&s, 1) && find_app(&s) &&
	    is_wanted(&s))
		stacks->stats->stacks[store_arc(&s, &spots[1], &spots[0])] +=
			opd_stack_times(stack);
}
