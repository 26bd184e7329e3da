/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DAEMON_CONTEXT_OPD_PLACE_H
#define DAEMON_CONTEXT_OPD_PLACE_H

/*
 * From the context of a sample to the sample file that it is counted in,
 * following the --separate settings:
 *
 * - the application is the image itself unless the settings separate it (user
 *   images by library, kernel images by kernel; anonymous memory always) and
 *   it is known: a kernel thread has none;
 * - a program that was run by a link is an application of the name of the link,
 *   and the profiler's own processes are the application OP_SELF_NAME;
 * - thread, process and CPU are "all" unless separated, the cgroup is none.
 */

#include <stdbool.h>
#include <stdint.h>

#include "daemon/opd_stats.h"

struct opd_context;
struct opd_cookies;
struct opd_images;
struct opd_kernel;
struct opd_known_place;
struct opd_options;
struct opd_sfile;
struct opd_store;
struct opd_tasks;

/* The parts that a place is found with. All up to the tasks are borrowed. */
struct opd_places {
	const struct opd_options *options; /* as they are now */
	const struct opd_cookies *cookies;
	struct opd_kernel *kernel; /* which sorts itself when it is asked */
	struct opd_images *images;
	struct opd_store *store;
	const struct opd_tasks *tasks;
	uint64_t changes; /* count one when an option changes */
	struct opd_known_place *known; /* of recent contexts */
};

/* Once the borrowed parts are there. Returns 0 or -ENOMEM. */
int opd_places_init(struct opd_places *places);
void opd_places_release(struct opd_places *places);

/*
 * Another number when an image, a range of the kernel, an sfile or a call tree
 * that was found may no longer be the one that would be found now. More of them
 * do not change it.
 */
uint64_t opd_places_changes(const struct opd_places *places);

/* A sample's key is pc - base. Samples of the same context go there, too, where
 * that is less than span; with a span of 0, others have to be looked up. */
struct opd_place {
	struct opd_sfile *sfile; /* the cache's */
	uint64_t base;
	uint64_t span;
};

/*
 * Count one sample, of a counter or, with OPD_NO_COUNTER, of the feature in
 * @context->ext; that is told of a counter's sample, too. Returns OPD_STORED
 * with its place in *@place; the cause why it is lost; or OPD_DEFERRED with the
 * cookie that has no name yet in *@waits_for, which does not happen with @last:
 * no name will come then. The caller counts the fate.
 */
enum opd_fate opd_place_store(const struct opd_places *places,
			      const struct opd_context *context, uint64_t pc,
			      unsigned int counter, bool last,
			      struct opd_place *place, uint64_t *waits_for);

#endif /* DAEMON_CONTEXT_OPD_PLACE_H */
