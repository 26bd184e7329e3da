// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The images of a profile, each once, with all places that samples and stacks
 * have in it: store_image.c stores one. The store is a cache. Whatever goes
 * wrong with one file costs its names after the binary is gone, and is said;
 * the others are stored all the same.
 */

#include "libpp/images/symbol_store.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "libop/base/op_array.h"
#include "libop/files/op_cache.h"
#include "libop/base/op_plural.h"
#include "libop/base/op_search.h"
#include "libop/files/op_walk.h"
#include "libpp/images/store_image.h"
#include "libpp/tree/tree_input.h"

#define PATIENCE_MS 60000 /* with all files of other users */

/* ---- images -------------------------------------------------------------- */

static bool is_wanted(const struct pp_store_request *request,
		      const struct pp_image *image)
{
	const char *const *pattern = request->without;

	for (; pattern && *pattern; pattern++)
		if (!fnmatch(*pattern, image->path, 0))
			return false;
	return image->recorded.space == OP_SPACE_ROOT && image->build_id.len;
}

/* The places that @nr uses have in their image. */
static int store_used_image(struct pp_storing *s, const struct pp_use *uses,
			    size_t nr)
{
	size_t nr_points;
	struct pp_point *points = pp_gather_points(uses, nr, &nr_points);
	int err = points ? pp_store_image(s, uses->image, points, nr_points)
			 : -ENOMEM;

	free(points);
	return err;
}

static int store_images(struct pp_storing *s, struct pp_population *population,
			const struct pp_store_request *request)
{
	struct pp_use *uses;
	size_t nr;
	int err = pp_find_uses(population, &population->side, &uses, &nr);

	for (size_t i = 0, end; i < nr && !err; i = end) {
		for (end = i; end < nr && uses[end].image == uses[i].image;)
			end++;
		if (is_wanted(request, uses[i].image))
			err = store_used_image(s, uses + i, end - i);
	}
	free(uses);
	return err;
}

/* ---- the bound ----------------------------------------------------------- */

struct stored {
	char *path;
	uint64_t size; /* bytes on the disk */
	struct timespec time;
};

struct stored_list {
	struct stored *array;
	size_t nr;
	uint64_t total;
};

static int compare_times(struct timespec a, struct timespec b)
{
	return op_compare(a.tv_sec, b.tv_sec)
		       ?: op_compare(a.tv_nsec, b.tv_nsec);
}

static int compare_stored(const void *a, const void *b)
{
	const struct stored *x = a, *y = b;

	return compare_times(x->time, y->time) ?: strcmp(x->path, y->path);
}

static int list_stored(const struct op_walk_entry *entry, void *data)
{
	struct stored_list *list = data;
	struct stored stored;

	if (entry->kind != OP_WALK_FILE)
		return 0;
	stored = (struct stored){
		.path = strdup(entry->path),
		.size = (uint64_t)entry->st->st_blocks * 512,
		.time = entry->st->st_mtim,
	};
	if (!stored.path || op_array_reserve(&list->array, list->nr, 1)) {
		free(stored.path);
		return -ENOMEM;
	}
	list->array[list->nr++] = stored;
	list->total += stored.size;
	return 0;
}

/* Remove the oldest files until the store is within its bound, but none that is
 * as new as @start: those are needed now. */
static int bound_store(const struct pp_storing *s, struct timespec start)
{
	struct stored_list list = { 0 };
	int err = op_walk(s->session->store, list_stored, &list);

	if (list.nr)
		qsort(list.array, list.nr, sizeof(*list.array), compare_stored);
	for (size_t i = 0; i < list.nr; i++) {
		struct stored *stored = &list.array[i];

		if (!err && list.total > s->max &&
		    compare_times(stored->time, start) < 0 &&
		    !unlink(stored->path)) {
			list.total -= stored->size;
			pp_message(s->messages, PP_REMARK_BFD,
				   "%s: removed, as the store is full",
				   stored->path);
		}
		free(stored->path);
	}
	free(list.array);
	return err;
}

/* ---- all of it ----------------------------------------------------------- */

/* Debug files are looked for where others put them: what is in the store may be
 * of whoever made a binary with that build-id first. */
static void leave_out_store(struct op_debug_places *debug, const char *store)
{
	size_t i = 0;

	while (debug->dirs[i] && strcmp(debug->dirs[i], store) != 0)
		i++;
	debug->dirs[i] = NULL;
}

static int store_all(struct pp_population *population,
		     const struct pp_store_request *request,
		     struct pp_messages *messages, struct op_diag *diag)
{
	struct pp_side *side = &population->side;
	struct pp_storing s = { .session = request->session,
				.locator = &side->locator,
				.messages = messages,
				.max = request->max,
				.patience_ms = PATIENCE_MS,
				.cache = op_cache_open() };
	struct timespec start;
	int err;

	/* The clock that the times of files have. */
	clock_gettime(CLOCK_REALTIME_COARSE, &start);
	err = pp_side_find(population, side, diag);
	if (!err) {
		leave_out_store(&side->locator.debug, request->session->store);
		side->locator.debug.only_own = !geteuid();
	}
	if (!err && side->list.nr_trees) {
		err = pp_side_read_trees(population, side);
		pp_side_add_user(side, &pp_tree_user);
	}
	pp_side_add_user(side, &pp_calls_user);
	err = err ?: store_images(&s, population, request) ?:
		     bound_store(&s, start);
	if (s.nr_unread)
		pp_message(
			messages, PP_WARNING,
			"%zu file%s of other users: their symbols are not kept: %s; see opsymbols --verbose",
			s.nr_unread, op_plural(s.nr_unread),
			strerror(-s.unread_err));
	if (s.cache >= 0)
		close(s.cache);
	free(s.given_up);
	return err;
}

int pp_store_symbols(const struct pp_store_request *request,
		     struct pp_messages *messages, struct op_diag *diag)
{
	const struct pp_request report_request = {
		.select = { .session = request->session,
			    .spec = request->spec,
			    .merge = PP_MERGE_ALL,
			    .any_axes = true },
		.names.inlines = true,
		.symbols.wanted = true,
		.calls.wanted = true,
		.totals.wanted = true,
	};
	struct pp_report report = { 0 };
	struct pp_population population = { .report = &report,
					    .request = &report_request };
	int err;

	op_arena_init(&report.arena);
	report.messages.arena = &report.arena;
	population.side.spec = request->spec;
	err = store_all(&population, request, messages, diag);
	pp_take_faults(messages, &report.messages);
	if (population.side.trees)
		pp_tree_inputs_release(population.side.trees);
	pp_sessions_close(&population.side.list.sessions);
	op_arena_release(&report.arena);
	return err ? op_diag_set(diag, err, "%s: cannot be written: %s",
				 request->session->store, strerror(-err))
		   : 0;
}
