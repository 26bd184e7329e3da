/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DAEMON_OPD_H
#define DAEMON_OPD_H

/*
 * The daemon's state. A sample goes through the parts in this order:
 *
 *	opd_source	reads words from the module or a recording
 *	opd_loop	waits; opd_reading reads, and keeps the rest of a record
 *	opd_stream	cuts them into records
 *	opd_trans	handles records, which change the context, and has
 *	  opd_transient		count samples by it
 *	opd_trace	collects the frames of a stack for opd_stack, from
 *	  opd_user_stack	what has to be unwound
 *	  opd_steps		frames of stacks before
 *	opd_place	from context to sample file, by way of
 *	  opd_cookie, opd_image	what image cookies stand for
 *	  opd_kernel		ranges of the kernel and its modules
 *	  opd_anon		names of anonymous memory
 *	  opd_tasks		names, cgroups of processes
 *	opd_store	what is in the session:
 *	  opd_sfile		open sample files, and opd_tree call trees
 *	  opd_pack		puts them into one file when there are many
 *	opd_extended	features that derive counts of their own
 *	opd_stats	what became of each sample
 *
 * Everything is owned by this structure. Each part borrows those that it uses,
 * which opd_init() and opd_setup() hand to it; this header is for the few that
 * may concern any part: the loop, commands, and what handles records.
 */

#include <stdint.h>

#include "daemon/feature/opd_extended.h"
#include "daemon/context/opd_anon.h"
#include "daemon/opd_budget.h"
#include "daemon/opd_control.h"
#include "daemon/context/opd_cookie.h"
#include "daemon/context/opd_defer.h"
#include "daemon/opd_deleted_images.h"
#include "daemon/opd_kernel.h"
#include "daemon/opd_ksyms.h"
#include "daemon/opd_loop.h"
#include "daemon/user_samples/opd_user_samples.h"
#include "daemon/opd_options.h"
#include "daemon/opd_priority.h"
#include "daemon/context/opd_place.h"
#include "daemon/opd_record.h"
#include "daemon/context/opd_stack.h"
#include "daemon/opd_stats.h"
#include "daemon/opd_tasks.h"
#include "daemon/context/opd_trace.h"
#include "daemon/context/opd_transient.h"
#include "daemon/context/opd_user_stack.h"
#include "daemon/source/opd_events.h"
#include "daemon/source/opd_source.h"
#include "daemon/store/opd_image.h"
#include "daemon/store/opd_store.h"
#include "libop/base/op_clock.h"
#include "libop/base/op_log.h"
#include "libop/session/op_session.h"

struct opd {
	struct opd_options options;
	const struct op_clock *clock;
	struct op_session session;
	struct op_log log;
	struct opd_source_client client; /* what the source tells us */
	struct opd_source source;
	struct opd_events events; /* the options', or the stream's */
	struct opd_images images;
	struct opd_ksyms ksyms;
	struct opd_cookies cookies;
	struct opd_deleted_images deleted_images;
	struct opd_kernel kernel;
	struct opd_anon anon;
	struct opd_tasks tasks;
	struct opd_store_client store_client; /* what the store tells us */
	struct opd_store store;
	struct opd_extended extended;
	struct opd_places places;
	struct transient trans;
	struct opd_trace trace;
	struct opd_stacks stacks;
	struct opd_user_stacks user_stacks;
	struct opd_defer defer;
	struct opd_record record;
	struct opd_stats stats;
	struct opd_loop loop;
	struct opd_priority priority;
	struct opd_budget budget;
	struct opd_control control;
	struct opd_user_samples user_samples;
};

/*
 * A daemon that has nothing yet; opd_options and the session are filled by
 * the caller. opd_release() may be called at any time after.
 */
void opd_init(struct opd *opd);

/* Choose by the options which facts of tasks the source writes. Call this
 * before the source is opened. */
void opd_choose_names(struct opd *opd);

/*
 * Get all that samples need, in a session whose folders and lock are there
 * and with a source that is open. Returns 0 or -errno with the reason.
 */
int opd_setup(struct opd *opd, struct op_diag *diag);

/*
 * The stream has ended: all that is known about its samples is brought to
 * the disk. Returns 0 or -errno; the log has the reason.
 */
int opd_finish(struct opd *opd);

/* Write the statistics block to the log: of samples, features, the source. */
void opd_log_statistics(struct opd *opd);

/* Free and close all; the files stay as they are. */
void opd_release(struct opd *opd);

#endif /* DAEMON_OPD_H */
