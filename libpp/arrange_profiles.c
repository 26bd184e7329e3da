// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Classes are found by sorting the templates of all files; which axes differ
 * follows from comparing each class with the first. When more than one does,
 * the error names a way out that leaves exactly one: the event if it differs
 * (it cannot be merged), else the first of the others.
 */

#include "libpp/arrange_profiles.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SHOWN_VALUES 5

bool pp_class_is_timer(const struct pp_class *class)
{
	return !class->count && !strcmp(class->event, "TIMER");
}

/* ---- classes ------------------------------------------------------------- */

static const char *session_name(const struct pp_sample_file *file)
{
	const char *slash = strrchr(file->session->path, '/');

	return slash && slash[1] ? slash + 1 : file->session->path;
}

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
		.session = merge & PP_MERGE_SESSION ? NULL : session_name(file),
	};
}

static int compare_i64(int64_t a, int64_t b)
{
	return (a > b) - (a < b);
}

static int compare_u64(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int compare_sessions(const struct pp_class *a, const struct pp_class *b)
{
	return a->session && b->session ? strcmp(a->session, b->session) : 0;
}

/* OP_MANGLE_ALL is below every number, so "all" comes first. */
static int compare_classes(const void *pa, const void *pb)
{
	const struct pp_class *a = pa, *b = pb;
	int diff;

	diff = compare_sessions(a, b);
	if (!diff)
		diff = compare_i64(a->cpu, b->cpu);
	if (!diff)
		diff = compare_i64(a->tgid, b->tgid);
	if (!diff)
		diff = compare_i64(a->tid, b->tid);
	if (!diff)
		diff = compare_u64(a->unit_mask, b->unit_mask);
	if (!diff)
		diff = strcmp(a->event, b->event);
	return diff ? diff : compare_u64(a->count, b->count);
}

int pp_class_find(const struct pp_classes *classes,
		  const struct pp_sample_file *file, unsigned int merge)
{
	const struct pp_class class = class_of_sample_file(file, merge), *found;

	found = bsearch(&class, classes->classes, classes->nr, sizeof(class),
			compare_classes);
	return found ? (int)(found - classes->classes) : -1;
}

static void set_class_of_file(struct pp_classes *classes,
			      struct pp_sample_file *file, unsigned int merge)
{
	struct pp_class *class;

	file->class_nr = (unsigned int)pp_class_find(classes, file, merge);
	class = &classes->classes[file->class_nr];
	if (file->name.unit_mask != class->counted_unit_mask)
		class->unit_masks_differ = true;
}

static int find_classes(struct pp_classes *classes, struct pp_sample_list *list,
			unsigned int merge)
{
	struct pp_class *all;
	size_t i;

	all = op_arena_alloc(list->arena, list->nr, sizeof(*all));
	if (!all)
		return -ENOMEM;
	for (i = 0; i < list->nr; i++)
		all[i] = class_of_sample_file(&list->files[i], merge);
	qsort(all, list->nr, sizeof(*all), compare_classes);
	for (i = 0; i < list->nr; i++)
		if (!classes->nr ||
		    compare_classes(&all[classes->nr - 1], &all[i]))
			all[classes->nr++] = all[i];
	classes->classes = all;
	for (i = 0; i < list->nr; i++)
		set_class_of_file(classes, &list->files[i], merge);
	return 0;
}

/* ---- axes ---------------------------------------------------------------- */

static bool same_event(const struct pp_class *a, const struct pp_class *b)
{
	return !strcmp(a->event, b->event) && a->count == b->count &&
	       a->unit_mask == b->unit_mask;
}

static bool differ_in(const struct pp_class *a, const struct pp_class *b,
		      enum pp_axis axis)
{
	switch (axis) {
	case PP_AXIS_TGID:
		return a->tgid != b->tgid;
	case PP_AXIS_TID:
		return a->tid != b->tid;
	case PP_AXIS_CPU:
		return a->cpu != b->cpu;
	case PP_AXIS_SESSION:
		return compare_sessions(a, b) != 0;
	default:
		return !same_event(a, b);
	}
}

static bool axis_varies(const struct pp_classes *classes, enum pp_axis axis)
{
	size_t i;

	for (i = 1; i < classes->nr; i++)
		if (differ_in(&classes->classes[0], &classes->classes[i], axis))
			return true;
	return false;
}

static bool tids_are_tgids(const struct pp_classes *classes)
{
	size_t i;

	for (i = 0; i < classes->nr; i++)
		if (classes->classes[i].tid != classes->classes[i].tgid)
			return false;
	return true;
}

/* Returns how many axes differ, classes->differing tells which. */
static unsigned int find_axes(struct pp_classes *classes)
{
	bool *differing = classes->differing;
	unsigned int nr = 0;
	int axis;

	for (axis = 0; axis < PP_NR_AXES; axis++)
		differing[axis] = axis_varies(classes, axis);
	if (differing[PP_AXIS_TGID] && tids_are_tgids(classes))
		differing[PP_AXIS_TID] = false;
	for (axis = 0; axis < PP_NR_AXES; axis++)
		nr += differing[axis];
	return nr;
}

/* ---- names and errors ---------------------------------------------------- */

static const char *id_name(struct op_arena *arena, const char *axis, int64_t id)
{
	if (id == OP_MANGLE_ALL)
		return op_arena_printf(arena, "%s:all", axis);
	return op_arena_printf(arena, "%s:%lld", axis, (long long)id);
}

/* Two classes may differ in their unit masks alone. */
static const char *event_name(struct op_arena *arena,
			      const struct pp_classes *classes,
			      const struct pp_class *class)
{
	size_t i;

	for (i = 0; i < classes->nr; i++) {
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

static const char *axis_value(struct op_arena *arena,
			      const struct pp_classes *classes,
			      const struct pp_class *class, enum pp_axis axis)
{
	switch (axis) {
	case PP_AXIS_TGID:
		return id_name(arena, "tgid", class->tgid);
	case PP_AXIS_TID:
		return id_name(arena, "tid", class->tid);
	case PP_AXIS_CPU:
		return id_name(arena, "cpu", class->cpu);
	case PP_AXIS_SESSION:
		return op_arena_printf(arena, "session:%s",
				       class->session ? class->session : "all");
	default:
		return event_name(arena, classes, class);
	}
}

/* The values of all axes that differ, "EVENT:COUNT cpu:0". */
static const char *full_name(struct op_arena *arena,
			     const struct pp_classes *classes,
			     const struct pp_class *class)
{
	const char *name = axis_value(arena, classes, class, classes->axis);
	int axis;

	for (axis = classes->axis + 1; axis < PP_NR_AXES && name; axis++)
		if (classes->differing[axis])
			name = op_arena_printf(arena, "%s %s", name,
					       axis_value(arena, classes, class,
							  axis));
	return name;
}

static int name_classes(struct pp_classes *classes, struct op_arena *arena)
{
	size_t i;

	for (i = 0; i < classes->nr; i++) {
		struct pp_class *class = &classes->classes[i];

		class->name = full_name(arena, classes, class);
		if (!class->name)
			return -ENOMEM;
	}
	return 0;
}

static bool is_new_value(const struct pp_classes *classes, size_t at,
			 enum pp_axis axis)
{
	size_t i;

	for (i = 0; i < at; i++)
		if (!differ_in(&classes->classes[i], &classes->classes[at],
			       axis))
			return false;
	return true;
}

/* "tgid:1, tgid:2 and more" */
static const char *axis_values(struct op_arena *arena,
			       const struct pp_classes *classes,
			       enum pp_axis axis)
{
	const char *text = "", *value;
	unsigned int shown = 0;
	size_t i;

	for (i = 0; i < classes->nr; i++) {
		if (!is_new_value(classes, i, axis))
			continue;
		if (shown == SHOWN_VALUES)
			return op_arena_printf(arena, "%s and more", text);
		value = axis_value(arena, classes, &classes->classes[i], axis);
		text = op_arena_printf(arena, "%s%s%s", text, shown ? ", " : "",
				       value ? value : "?");
		if (!text)
			return "?";
		shown++;
	}
	return text;
}

/* What to merge so that @kept alone differs. */
static void write_merges(char *buf, size_t len,
			 const bool differing[PP_NR_AXES], enum pp_axis kept)
{
	bool cpu = differing[PP_AXIS_CPU] && kept != PP_AXIS_CPU;
	bool tgid = differing[PP_AXIS_TGID] && kept != PP_AXIS_TGID;
	bool tid = differing[PP_AXIS_TID] && kept != PP_AXIS_TID;
	const char *threads = tgid ? "tgid" : tid ? "tid" : "";

	snprintf(buf, len, "%s%s%s", threads, cpu && *threads ? "," : "",
		 cpu ? "cpu" : "");
}

/* The words that leave one value of @axis, the one of the first class. */
static void write_choice(char *buf, size_t len,
			 const struct pp_classes *classes, enum pp_axis axis)
{
	const struct pp_class *class = &classes->classes[0];
	int64_t id = axis == PP_AXIS_TGID  ? class->tgid
		     : axis == PP_AXIS_TID ? class->tid
					   : class->cpu;
	static const char *const names[PP_NR_AXES] = {
		[PP_AXIS_TGID] = "tgid",
		[PP_AXIS_TID] = "tid",
		[PP_AXIS_CPU] = "cpu",
	};

	if (axis == PP_AXIS_EVENT)
		snprintf(buf, len, "event:%s count:%llu unit-mask:%llu",
			 class->event, (unsigned long long)class->count,
			 (unsigned long long)class->unit_mask);
	else if (id == OP_MANGLE_ALL)
		snprintf(buf, len, "%s:NUMBER", names[axis]);
	else
		snprintf(buf, len, "%s:%lld", names[axis], (long long)id);
}

/* What brings the classes down to one difference, @first. */
static const char *advice_on_axes(struct op_arena *arena,
				  const struct pp_classes *classes,
				  enum pp_axis first, unsigned int nr)
{
	const char *leave = classes->differing[PP_AXIS_SESSION]
				    ? "leave out --by-session"
				    : "";
	char merges[32], choice[256] = "";

	write_merges(merges, sizeof(merges), classes->differing, first);
	if (nr == 2)
		write_choice(choice, sizeof(choice), classes, first);
	return op_arena_printf(arena, "%s%s%s%s%s%s", leave,
			       *leave && *merges ? " and " : "",
			       *merges ? "add --merge=" : "", merges,
			       *choice ? " or choose with " : "", choice);
}

static int refuse_two_axes(const struct pp_classes *classes,
			   struct op_arena *arena, unsigned int nr,
			   struct op_diag *diag)
{
	static const char *const names[PP_NR_AXES] = { "event", "tgid", "tid",
						       "cpu", "session" };
	enum pp_axis first = classes->axis, second = first + 1;
	const char *out = advice_on_axes(arena, classes, first, nr);

	while (!classes->differing[second])
		second++;
	return op_diag_set(
		diag, -EINVAL,
		"the sample files differ in %s (%s) and in %s (%s), but columns show one difference; %s",
		names[first], axis_values(arena, classes, first), names[second],
		axis_values(arena, classes, second), out ? out : "");
}

int pp_arrange(struct pp_classes *classes, struct pp_sample_list *list,
	       unsigned int merge, bool any_axes, struct op_diag *diag)
{
	unsigned int nr;
	int axis;

	*classes = (struct pp_classes){ .axis = PP_AXIS_EVENT };
	if (find_classes(classes, list, merge))
		return -ENOMEM;
	nr = find_axes(classes);
	for (axis = PP_NR_AXES - 1; axis >= 0; axis--)
		if (classes->differing[axis])
			classes->axis = axis;
	if (nr > 1 && !any_axes)
		return refuse_two_axes(classes, list->arena, nr, diag);
	return name_classes(classes, list->arena);
}
