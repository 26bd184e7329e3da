/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBPP_SELECT_ARRANGE_PROFILES_H
#define LIBPP_SELECT_ARRANGE_PROFILES_H

/*
 * Profile classes: the columns of a report. Sample files that agree in
 * session, time, event, count, unit mask, tgid, tid, cgroup and cpu, as far as
 * these are not merged, form a class. A table shows one difference, so all
 * classes differ in one axis only: the session, the time, the event (with its
 * count and unit mask), the tgid, the tid, the cgroup or the cpu. A tid that
 * always equals the tgid is no difference of its own. Formats that write each
 * class out need no such limit.
 *
 * Where tasks (tgid, tid, cgroup) make rows of a table, its columns show one
 * other difference: then a class is one row in one column.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libop/base/op_diag.h"
#include "libop/base/op_arena.h"
#include "libpp/select/sample_list.h"

/* Axes that are to make no classes of their own. */
#define PP_MERGE_CPU 1u
#define PP_MERGE_TID 2u
#define PP_MERGE_TGID 4u /* and the tid */
#define PP_MERGE_UNIT_MASK 8u
#define PP_MERGE_LIB 16u /* each image is its own application */
#define PP_MERGE_SESSION 32u
#define PP_MERGE_CGROUP 64u
#define PP_MERGE_ALL 127u

enum pp_axis {
	PP_AXIS_EVENT,
	PP_AXIS_TGID,
	PP_AXIS_TID,
	PP_AXIS_CGROUP,
	PP_AXIS_CPU,
	PP_AXIS_SESSION,
	PP_AXIS_TIME,
	PP_NR_AXES
};

struct pp_class {
	const char *name; /* title of its column: "cpu:0", "EVENT:COUNT" */
	const char *event;
	uint64_t count; /* events per sample; of the timer its rate, 0 for that
			   of OP_TIMER_HZ */
	uint64_t
		unit_mask; /* that tells it from other classes; 0 when merged */
	uint64_t counted_unit_mask; /* of all its files, unless they differ */
	bool unit_masks_differ;
	int64_t tgid; /* OP_MANGLE_ALL when merged, like the two below */
	int64_t tid;
	int64_t cpu;
	const char *cgroup; /* path; empty: not known; NULL when merged */
	const char *cgroup_name; /* what people call it; "unknown", or "all"
				    when merged */
	const char *session; /* its name, or its label; NULL when merged */
	uint64_t begin, end; /* ns, where times are columns; else 0 */
	/* How long its event was to be counted and had a counter: ns, sums over
	 * CPUs, 0 when not known; and their ratio, where that matters: the
	 * report's counts are samples that were taken times @scale. */
	uint64_t enabled, running;
	uint64_t taken, turns; /* samples in that time, chosen or not, and in
				  how many turns; 0 when not known */
	double scale; /* 1 or more */
	/* That ratio in the sessions where it is least and largest, by their
	 * names; 0 until it is known of one. */
	double least_scale, most_scale;
	const char *least_session, *most_session;
	/* Where the rate was lowered, samples that were taken once count for
	 * several: as many stored ones as these say as much as one. */
	uint64_t stored, spread; /* of the accounts; as op_ledger.h has them */
	/* Where samples count for their periods, likewise; else 0. */
	uint64_t periods, sum_of_periods, squares_of_periods;
	double grain; /* 1 or more */
	/* What is known of its task, set by pp_side_name_tasks(). */
	const char *process, *thread; /* their names; NULL: not known */
	const char *owner; /* base name of its largest application */
	uint64_t mounts; /* mount namespace; 0 not known */
};

/* How many counts of the report say as much as one sample. */
static inline double pp_class_grain(const struct pp_class *class)
{
	return class->scale * class->grain;
}

struct pp_classes {
	struct pp_class *classes; /* by session, time, cpu, tgid, tid, unit
				     mask, event, count; "all" before numbers */
	size_t nr;
	bool in_rows; /* tasks are rows, not columns */
	bool row_axes[PP_NR_AXES]; /* those that differ from row to row */
	uint64_t origin; /* that times of columns are told from; 0: dates */
	const char *by_label; /* sessions are told apart by that label; NULL: by
				 name */
	enum pp_axis axis; /* PP_AXIS_EVENT when there is one class; the first
			      of several */
	bool differing[PP_NR_AXES]; /* but for those in rows */
};

/* How a table may show tasks. */
enum pp_layout {
	PP_LAYOUT_COLUMNS,
	PP_LAYOUT_ROWS,
	PP_LAYOUT_AUTO, /* in rows if there are many, or columns cannot */
};

/* More than so many columns of tasks are many, unless a terminal has room for
 * fewer. */
#define PP_MANY_COLUMNS 8

/*
 * Find the classes of the files in @list and set class_nr in each file.
 * @merge is a set of PP_MERGE_ bits, @layout what a table does with tasks, and
 * @max_columns how many columns of these there is room for.
 * Returns 0; -EINVAL when two axes differ
 * although @any_axes is not set, which and what to do in @diag; -ENOMEM. With
 * @any_axes the names of classes that differ in several ways tell them all.
 */
int pp_arrange(struct pp_classes *classes, struct pp_sample_list *list,
	       unsigned int merge, bool any_axes, enum pp_layout layout,
	       size_t max_columns, struct op_diag *diag);

/* The number of the class that @file is of, with the same @merge; -1 for none
 * of them. */
int pp_class_find(const struct pp_classes *classes,
		  const struct pp_sample_file *file, unsigned int merge);

/* The name of the axis of sessions: "session", or the label that they are
 * separated by. */
const char *pp_session_axis(const struct pp_classes *classes);

/* Whether @class counts timer interrupts rather than an event. */
bool pp_class_is_timer(const struct pp_class *class);

/* Whether samples come at even distances of CPU time: of the timer, or of the
 * clocks of perf_events, whatever the distance. */
bool pp_class_is_cpu_time(const struct pp_class *class);

/* Whether samples are of threads that wait (libop/events/op_wait_event.h). */
bool pp_class_is_wait(const struct pp_class *class);

/* Whether samples are of elapsed time (OP_LATENCY_EVENT there). */
bool pp_class_is_latency(const struct pp_class *class);

/*
 * "redis-server/bio_aof": what the process and the thread of @class are called.
 * Where the session does not know it, a process is called by its largest
 * application and a thread "?"; empty for what is no task. NULL when memory is
 * short.
 */
const char *pp_task_name(struct op_arena *arena, const struct pp_class *class);

/* Whether two classes are of one row, where tasks are in rows, or of one
 * column.
 */
bool pp_same_task(const struct pp_class *a, const struct pp_class *b);
bool pp_same_column(const struct pp_class *a, const struct pp_class *b);

/* Whether two classes count the same event; the order of their sessions, which
 * are equal where they are not kept apart. */
bool pp_same_event(const struct pp_class *a, const struct pp_class *b);
int pp_compare_sessions(const struct pp_class *a, const struct pp_class *b);

/* Whether two classes differ in @axis. */
bool pp_classes_differ(const struct pp_class *a, const struct pp_class *b,
		       enum pp_axis axis);

/* The value of @class, one of @classes, in @axis: "cpu:0", "EVENT:COUNT". NULL
 * when memory is short. */
const char *pp_class_value(struct op_arena *arena,
			   const struct pp_classes *classes,
			   const struct pp_class *class, enum pp_axis axis);

#endif /* LIBPP_SELECT_ARRANGE_PROFILES_H */
