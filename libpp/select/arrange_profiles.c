// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Arranges sample files in classes, the columns of a report. A class is what
 * the names of files tell that is not merged: event, thread group, thread,
 * CPU, session. Classes are found by sorting those of all files; which axes
 * differ follows from comparing each class with the first. Tables have room
 * for one difference. When more than one axis differs, the error names a way
 * out that leaves exactly one: the event if it differs (it cannot be merged),
 * else the first of the others. Tasks may go into rows instead: these have room
 * for all that tells tasks apart.
 */

#include "libop/events/op_counter_text.h"
#include "libop/events/op_wait_event.h"
#include "libop/kernel/op_cgroup.h"
#include "libop/base/op_search.h"
#include "libpp/select/arrange_profiles.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SHOWN_VALUES 5

static const char *const axis_names[PP_NR_AXES] = { "event",  "tgid", "tid",
						    "cgroup", "cpu",  "session",
						    "time" };

bool pp_class_is_timer(const struct pp_class *class)
{
	return !strcmp(class->event, OP_TIMER_EVENT);
}

bool pp_class_is_cpu_time(const struct pp_class *class)
{
	return pp_class_is_timer(class) || !strcmp(class->event, "cpu-clock") ||
	       !strcmp(class->event, "task-clock");
}

bool pp_class_is_wait(const struct pp_class *class)
{
	return !strcmp(class->event, op_wait_event()->name);
}

bool pp_class_is_latency(const struct pp_class *class)
{
	return !strcmp(class->event, OP_LATENCY_EVENT);
}

const char *pp_task_name(struct op_arena *arena, const struct pp_class *class)
{
	const char *process = class->process ?: class->owner ?: "?";

	if (class->tgid == OP_MANGLE_ALL)
		return "";
	if (class->tid == OP_MANGLE_ALL || class->tid == class->tgid)
		return process;
	return op_arena_printf(arena, "%s/%s", process, class->thread ?: "?");
}

/* ---- classes ------------------------------------------------------------- */

static struct pp_class class_of_sample_file(const struct pp_sample_file *file,
					    unsigned int merge)
{
	const struct op_mangle *name = &file->name;
	bool any_tid = merge & (PP_MERGE_TID | PP_MERGE_TGID);

	return (struct pp_class){
		.event = name->event,
		.count = name->count,
		.unit_mask = merge & PP_MERGE_UNIT_MASK ? 0 : name->unit_mask,
		.counted_unit_mask = name->unit_mask,
		.tgid = merge & PP_MERGE_TGID ? OP_MANGLE_ALL : name->tgid,
		.tid = any_tid ? OP_MANGLE_ALL : name->tid,
		.cpu = merge & PP_MERGE_CPU ? OP_MANGLE_ALL : name->cpu,
		.cgroup = merge & PP_MERGE_CGROUP ? NULL : name->cgroup,
		.session =
			merge & PP_MERGE_SESSION ? NULL : file->session->name,
		.begin = file->session->column_begin,
		.end = file->session->column_end,
		.scale = 1,
		.grain = 1,
	};
}

static int compare_id_values(int64_t a, int64_t b)
{
	return (a > b) - (a < b);
}

int pp_compare_sessions(const struct pp_class *a, const struct pp_class *b)
{
	return a->session && b->session ? strcmp(a->session, b->session) : 0;
}

/* Samples whose cgroups are not separated come first. */
static int compare_cgroups(const struct pp_class *a, const struct pp_class *b)
{
	if (!a->cgroup || !b->cgroup)
		return !b->cgroup - !a->cgroup;
	return strcmp(a->cgroup, b->cgroup);
}

/* OP_MANGLE_ALL is below every number, so "all" comes first. */
static int compare_classes(const void *pa, const void *pb)
{
	const struct pp_class *a = pa, *b = pb;

	return pp_compare_sessions(a, b) ?: op_compare(a->begin, b->begin) ?:
	       op_compare(a->end, b->end) ?: compare_id_values(a->cpu, b->cpu) ?:
	       compare_cgroups(a, b) ?:
	       compare_id_values(a->tgid, b->tgid) ?: compare_id_values(a->tid, b->tid) ?:
	       op_compare(a->unit_mask, b->unit_mask) ?:
	       strcmp(a->event, b->event) ?: op_compare(a->count, b->count);
}

int pp_class_find(const struct pp_classes *classes,
		  const struct pp_sample_file *file, unsigned int merge)
{
	const struct pp_class class = class_of_sample_file(file, merge), *found;

	found = bsearch(&class, classes->classes, classes->nr, sizeof(class),
			compare_classes);
	return found ? (int)(found - classes->classes) : -1;
}

static int find_classes(struct pp_classes *classes, struct pp_sample_list *list,
			unsigned int merge)
{
	struct pp_class *all =
		op_arena_alloc(list->arena, list->nr, sizeof(*all));

	if (!all)
		return -ENOMEM;
	for (size_t i = 0; i < list->nr; i++)
		all[i] = class_of_sample_file(&list->files[i], merge);
	qsort(all, list->nr, sizeof(*all), compare_classes);
	for (size_t i = 0; i < list->nr; i++)
		if (!classes->nr ||
		    compare_classes(&all[classes->nr - 1], &all[i]))
			all[classes->nr++] = all[i];
	classes->classes = all;
	for (size_t i = 0; i < list->nr; i++) {
		struct pp_sample_file *file = &list->files[i];
		struct pp_class *class;

		file->class_nr =
			(unsigned int)pp_class_find(classes, file, merge);
		class = &all[file->class_nr];
		class->unit_masks_differ |=
			file->name.unit_mask != class->counted_unit_mask;
	}
	return 0;
}

const char *pp_session_axis(const struct pp_classes *classes)
{
	return classes->by_label ?: "session";
}

/* ---- axes ---------------------------------------------------------------- */

bool pp_same_event(const struct pp_class *a, const struct pp_class *b)
{
	return !strcmp(a->event, b->event) && a->count == b->count &&
	       a->unit_mask == b->unit_mask;
}

bool pp_classes_differ(const struct pp_class *a, const struct pp_class *b,
		       enum pp_axis axis)
{
	switch (axis) {
	case PP_AXIS_TGID:
		return a->tgid != b->tgid;
	case PP_AXIS_TID:
		return a->tid != b->tid;
	case PP_AXIS_CGROUP:
		return compare_cgroups(a, b) != 0;
	case PP_AXIS_CPU:
		return a->cpu != b->cpu;
	case PP_AXIS_SESSION:
		return pp_compare_sessions(a, b) != 0;
	case PP_AXIS_TIME:
		return a->begin != b->begin || a->end != b->end;
	default:
		return !pp_same_event(a, b);
	}
}

/* Fill classes->differing and classes->axis, the first that differs. Returns
 * how many axes differ. */
static unsigned int find_axes(struct pp_classes *classes)
{
	const struct pp_class *all = classes->classes;
	bool tids_are_tgids = true;
	unsigned int nr = 0;

	for (size_t i = 0; i < classes->nr; i++) {
		tids_are_tgids &= all[i].tid == all[i].tgid;
		for (int axis = 0; axis < PP_NR_AXES; axis++)
			classes->differing[axis] |=
				pp_classes_differ(&all[0], &all[i], axis);
	}
	if (classes->differing[PP_AXIS_TGID] && tids_are_tgids)
		classes->differing[PP_AXIS_TID] = false;
	for (int axis = PP_NR_AXES - 1; axis >= 0; axis--)
		if (classes->differing[axis]) {
			classes->axis = axis;
			nr++;
		}
	return nr;
}

/* The axes that rows can show leave the columns. Returns how many are left. */
static unsigned int put_tasks_in_rows(struct pp_classes *classes)
{
	static const enum pp_axis rows[] = { PP_AXIS_TGID, PP_AXIS_TID,
					     PP_AXIS_CGROUP };
	unsigned int nr = 0;

	classes->in_rows = true;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		classes->row_axes[rows[i]] = classes->differing[rows[i]];
		classes->differing[rows[i]] = false;
	}
	classes->axis = PP_AXIS_EVENT;
	for (int axis = PP_NR_AXES - 1; axis >= 0; axis--)
		if (classes->differing[axis]) {
			classes->axis = axis;
			nr++;
		}
	return nr;
}

/* Whether tasks are to be in rows; @nr axes differ. */
static bool wants_rows(const struct pp_classes *classes, unsigned int nr,
		       enum pp_layout layout, size_t max_columns)
{
	bool differ = classes->differing[PP_AXIS_TGID] ||
		      classes->differing[PP_AXIS_TID] ||
		      classes->differing[PP_AXIS_CGROUP];

	if (!differ || layout != PP_LAYOUT_AUTO)
		return differ && layout == PP_LAYOUT_ROWS;
	return nr > 1 || classes->nr > max_columns;
}

bool pp_same_task(const struct pp_class *a, const struct pp_class *b)
{
	return a->tgid == b->tgid && a->tid == b->tid && !compare_cgroups(a, b);
}

bool pp_same_column(const struct pp_class *a, const struct pp_class *b)
{
	return pp_same_event(a, b) && a->cpu == b->cpu &&
	       !pp_classes_differ(a, b, PP_AXIS_TIME) &&
	       !pp_compare_sessions(a, b);
}

/* ---- names and errors ---------------------------------------------------- */

/* Give each class the short name of its cgroup, for people. */
static int name_cgroups(struct op_arena *arena, struct pp_classes *classes)
{
	char name[OP_CGROUP_NAME_MAX];

	for (size_t i = 0; i < classes->nr; i++) {
		struct pp_class *class = &classes->classes[i];

		class->cgroup_name = class->cgroup ? "unknown" : "all";
		if (!class->cgroup || !*class->cgroup)
			continue;
		if (i && class[-1].cgroup &&
		    !strcmp(class[-1].cgroup, class->cgroup)) {
			class->cgroup_name = class[-1].cgroup_name;
			continue;
		}
		op_cgroup_name(class->cgroup, name, sizeof(name));
		class->cgroup_name = op_arena_strdup(arena, name);
		if (!class->cgroup_name)
			return -ENOMEM;
	}
	return 0;
}

static const char *id_name(struct op_arena *arena, const char *axis, int64_t id)
{
	if (id == OP_MANGLE_ALL)
		return op_arena_printf(arena, "%s:all", axis);
	return op_arena_printf(arena, "%s:%lld", axis, (long long)id);
}

/* "EVENT:COUNT"; the unit mask is told where two classes differ in it alone. */
static const char *event_name(struct op_arena *arena,
			      const struct pp_classes *classes,
			      const struct pp_class *class)
{
	for (size_t i = 0; i < classes->nr; i++) {
		const struct pp_class *other = &classes->classes[i];

		if (!strcmp(other->event, class->event) &&
		    other->count == class->count &&
		    other->unit_mask != class->unit_mask)
			return op_arena_printf(
				arena, "%s:%llu:0x%02llx", class->event,
				(unsigned long long)class->count,
				(unsigned long long)class->unit_mask);
	}
	return op_arena_printf(arena, "%s:%llu", class->event,
			       (unsigned long long)class->count);
}

/* "cgroup:nginx.service"; the path where another is called so, too. */
static const char *cgroup_title(struct op_arena *arena,
				const struct pp_classes *classes,
				const struct pp_class *class)
{
	const char *name = class->cgroup_name;

	for (size_t i = 0; i < classes->nr && class->cgroup; i++) {
		const struct pp_class *other = &classes->classes[i];

		if (compare_cgroups(other, class) &&
		    !strcmp(other->cgroup_name, class->cgroup_name))
			name = class->cgroup;
	}
	return op_arena_printf(arena, "cgroup:%s", name);
}

/* The column's times, in the form that the tag "time:" takes. */
static const char *time_text(char *text, const struct pp_classes *classes,
			     uint64_t at)
{
	return classes->origin ? pp_time_since(text, at - classes->origin)
			       : pp_time_text(text, (time_t)(at / PP_TIME_NS));
}

static const char *time_title(struct op_arena *arena,
			      const struct pp_classes *classes,
			      const struct pp_class *class)
{
	char begin[PP_TIME_TEXT_LEN], end[PP_TIME_TEXT_LEN];

	if (!class->end)
		return "time:all";
	return op_arena_printf(arena, "time:%s-%s",
			       time_text(begin, classes, class->begin),
			       time_text(end, classes, class->end));
}

const char *pp_class_value(struct op_arena *arena,
			   const struct pp_classes *classes,
			   const struct pp_class *class, enum pp_axis axis)
{
	switch (axis) {
	case PP_AXIS_TGID:
		return id_name(arena, "tgid", class->tgid);
	case PP_AXIS_TID:
		return id_name(arena, "tid", class->tid);
	case PP_AXIS_CGROUP:
		return cgroup_title(arena, classes, class);
	case PP_AXIS_CPU:
		return id_name(arena, "cpu", class->cpu);
	case PP_AXIS_SESSION:
		return op_arena_printf(arena, "%s:%s", pp_session_axis(classes),
				       class->session ? class->session : "all");
	case PP_AXIS_TIME:
		return time_title(arena, classes, class);
	default:
		return event_name(arena, classes, class);
	}
}

/* The values of all axes that differ, "EVENT:COUNT cpu:0". */
static const char *full_name(struct op_arena *arena,
			     const struct pp_classes *classes,
			     const struct pp_class *class)
{
	const char *name = pp_class_value(arena, classes, class, classes->axis);

	for (int axis = classes->axis + 1; axis < PP_NR_AXES && name; axis++)
		if (classes->differing[axis])
			name = op_arena_printf(arena, "%s %s", name,
					       pp_class_value(arena, classes,
							      class, axis));
	return name;
}

/* "tgid:1, tgid:2 and more" */
static const char *axis_values(struct op_arena *arena,
			       const struct pp_classes *classes,
			       enum pp_axis axis)
{
	const struct pp_class *all = classes->classes;
	const char *text = "", *value;
	unsigned int shown = 0;

	for (size_t i = 0; i < classes->nr; i++) {
		size_t j = 0;

		while (pp_classes_differ(&all[j], &all[i], axis))
			j++;
		if (j < i)
			continue; /* an earlier class has the same value */
		if (shown == SHOWN_VALUES)
			return op_arena_printf(arena, "%s and more", text);
		value = pp_class_value(arena, classes, &all[i], axis);
		text = op_arena_printf(arena, "%s%s%s", text, shown ? ", " : "",
				       value ? value : "?");
		if (!text)
			return "?";
		shown++;
	}
	return text;
}

/* Words of advice by which the classes differ in @kept alone: the other axes to
 * merge or, where only one more differs, the words that choose the first value
 * of @kept. */
static const char *advice_on_axes(struct op_arena *arena,
				  const struct pp_classes *classes,
				  enum pp_axis kept, unsigned int nr)
{
	const struct pp_class *class = &classes->classes[0];
	const bool *differing = classes->differing;
	const char *leave = differing[PP_AXIS_SESSION]
				    ? classes->by_label
					      ? "leave out --by-label"
					      : "leave out --by-session"
			    : differing[PP_AXIS_TIME] ? "leave out --over-time"
						      : "";
	const char *threads =
		differing[PP_AXIS_TGID] && kept != PP_AXIS_TGID ? "tgid"
		: differing[PP_AXIS_TID] && kept != PP_AXIS_TID ? "tid"
								: "";
	const char *cgroup = differing[PP_AXIS_CGROUP] && kept != PP_AXIS_CGROUP
				     ? "cgroup"
				     : "";
	const char *cpu =
		differing[PP_AXIS_CPU] && kept != PP_AXIS_CPU ? "cpu" : "";
	bool merges = *threads || *cpu || *cgroup;
	const char *choice = NULL;
	int64_t id = kept == PP_AXIS_TGID  ? class->tgid
		     : kept == PP_AXIS_TID ? class->tid
					   : class->cpu;

	if (nr == 2 && kept == PP_AXIS_EVENT)
		choice = op_arena_printf(arena,
					 "event:%s count:%llu unit-mask:%llu",
					 class->event,
					 (unsigned long long)class->count,
					 (unsigned long long)class->unit_mask);
	else if (nr == 2 && kept == PP_AXIS_CGROUP)
		choice = cgroup_title(arena, classes, class);
	else if (nr == 2 && id == OP_MANGLE_ALL)
		choice = op_arena_printf(arena, "%s:NUMBER", axis_names[kept]);
	else if (nr == 2)
		choice = id_name(arena, axis_names[kept], id);
	return op_arena_printf(arena, "%s%s%s%s%s%s%s%s%s%s", leave,
			       *leave && merges ? " and " : "",
			       merges ? "add --merge=" : "", threads,
			       *threads && *cgroup ? "," : "", cgroup,
			       (*threads || *cgroup) && *cpu ? "," : "", cpu,
			       choice ? " or choose with " : "",
			       choice ? choice : "");
}

static int refuse_two_axes(const struct pp_classes *classes,
			   struct op_arena *arena, unsigned int nr,
			   struct op_diag *diag)
{
	enum pp_axis first = classes->axis, second = first + 1;
	const char *out = advice_on_axes(arena, classes, first, nr);

	while (!classes->differing[second])
		second++;
	return op_diag_set(
		diag, -EINVAL,
		"the sample files differ in %s (%s) and in %s (%s), but columns show one difference; %s",
		axis_names[first], axis_values(arena, classes, first),
		axis_names[second], axis_values(arena, classes, second),
		out ? out : "");
}

int pp_arrange(struct pp_classes *classes, struct pp_sample_list *list,
	       unsigned int merge, bool any_axes, enum pp_layout layout,
	       size_t max_columns, struct op_diag *diag)
{
	unsigned int nr;

	*classes = (struct pp_classes){ .axis = PP_AXIS_EVENT,
					.by_label = list->by_label,
					.origin = pp_history_origin(
						&list->sessions.history) };
	if (find_classes(classes, list, merge) ||
	    name_cgroups(list->arena, classes))
		return -ENOMEM;
	nr = find_axes(classes);
	if (wants_rows(classes, nr, layout, max_columns))
		nr = put_tasks_in_rows(classes);
	if (nr > 1 && !any_axes)
		return refuse_two_axes(classes, list->arena, nr, diag);
	for (size_t i = 0; i < classes->nr; i++) {
		struct pp_class *class = &classes->classes[i];

		class->name = full_name(list->arena, classes, class);
		if (!class->name)
			return -ENOMEM;
	}
	return 0;
}
