// SPDX-License-Identifier: GPL-2.0-or-later
/* Which columns the sample files of a session make, what they are called, and
 * what is said of files that differ in two ways. */

#include "tests/unit/pp_fixture.h"

#include "libpp/select/arrange_profiles.h"

#define ALL OP_MANGLE_ALL

/* A file in words: "SESSION EVENT COUNT MASK TGID TID CPU [CGROUP]", '-' for
 * all. */
static int64_t id_of(const char *word)
{
	return *word == '-' ? ALL : strtoll(word, NULL, 10);
}

/* "NAME", or "NAME@BEGIN-END" where times are columns. */
static const char *name_of_session(struct pp_session *session,
				   struct op_arena *arena)
{
	char *name = op_arena_strdup(arena, session->path);
	char *at = strchr(name, '@');

	if (at) {
		*at = '\0';
		session->column_begin = strtoull(at + 1, &at, 10) * PP_TIME_NS;
		session->column_end = strtoull(at + 1, NULL, 10) * PP_TIME_NS;
	}
	return name;
}

static void read_file(struct pp_sample_file *file, struct pp_session *session,
		      const char *words, struct op_arena *arena)
{
	const char *w[9] = { NULL };
	char copy[128];

	split_words(words, copy, w, NR(w));
	session->path = op_arena_strdup(arena, w[0]);
	session->name = name_of_session(session, arena);
	*file = (struct pp_sample_file){
		.session = session,
		.name = { .event = op_arena_strdup(arena, w[1]),
			  .count = strtoull(w[2], NULL, 10),
			  .unit_mask = strtoull(w[3], NULL, 10),
			  .tgid = id_of(w[4]),
			  .tid = id_of(w[5]),
			  .cpu = id_of(w[6]),
			  .cgroup =
				  w[7] ? op_arena_strdup(arena, w[7]) : NULL },
	};
}

#define MAX_FILES 9

struct row {
	const char *files[MAX_FILES];
	unsigned int merge;
	bool any_axes;
	enum pp_layout layout;
	/* The axis, the names of columns, "*" behind those of several masks;
	 * and of which column each file is. Or the reason. */
	const char *outcome;
};

static void arrange(const struct row *row, FILE *out)
{
	static const char *const axes[] = { "event", "tgid",	"tid", "cgroup",
					    "cpu",   "session", "time" };
	struct pp_sample_file files[MAX_FILES];
	struct pp_session sessions[MAX_FILES] = { { 0 } };
	struct op_arena arena;
	struct pp_sample_list list = { .arena = &arena, .files = files };
	struct op_diag diag = { "" };
	struct pp_classes classes;
	int err;

	op_arena_init(&arena);
	for (; list.nr < MAX_FILES && row->files[list.nr]; list.nr++)
		read_file(&files[list.nr], &sessions[list.nr],
			  row->files[list.nr], &arena);
	err = pp_arrange(&classes, &list, row->merge, row->any_axes,
			 row->layout, PP_MANY_COLUMNS, &diag);
	assert_true(err <= 0);
	if (err) {
		fputs(diag.text, out);
	} else {
		fprintf(out, "%s%s: ", axes[classes.axis],
			classes.in_rows ? " in rows" : "");
		for (size_t i = 0; i < classes.nr; i++)
			fprintf(out, "%s%s%s", i ? ", " : "",
				classes.classes[i].name,
				classes.classes[i].unit_masks_differ ? "*"
								     : "");
		fputc(';', out);
		for (size_t i = 0; i < list.nr; i++)
			fprintf(out, " %u", files[i].class_nr);
	}
	op_arena_release(&arena);
}

#define ONE PP_MERGE_SESSION
#define COLUMNS PP_LAYOUT_COLUMNS
#define ROWS PP_LAYOUT_ROWS
#define AUTO PP_LAYOUT_AUTO

TEST(files_make_columns)
{
	/* clang-format off */
	static const struct row rows[] = {
		{ { "s E 1000 0 - - -" }, ONE, false, COLUMNS, "event: E:1000; 0" },
		{ { "s E 1000 0 - - -", "s E 1000 0 - - -" }, ONE, false, COLUMNS, "event: E:1000; 0 0" },
		{ { "s F 1 0 - - -", "s E 9 0 - - -", "s E 2 0 - - -" }, ONE, false, COLUMNS, "event: E:2, E:9, F:1; 2 1 0" },
		{ { "s E 1 2 - - -", "s E 1 1 - - -" }, ONE, false, COLUMNS, "event: E:1:0x01, E:1:0x02; 1 0" },
		{ { "s E 1 16 - - -", "s E 1 1 - - -", "s E 2 1 - - -" }, ONE, false, COLUMNS, "event: E:1:0x01, E:2, E:1:0x10; 2 0 1" },
		{ { "s E 1 2 - - -", "s E 1 1 - - -" }, ONE | PP_MERGE_UNIT_MASK, false, COLUMNS, "event: E:1*; 0 0" },
		{ { "s E 1 2 - - -", "s E 1 2 - - -" }, ONE | PP_MERGE_UNIT_MASK, false, COLUMNS, "event: E:1; 0 0" },
		{ { "s E 1 2 - - -", "s F 1 1 - - -", "s F 1 1 - - -" }, ONE | PP_MERGE_UNIT_MASK, false, COLUMNS, "event: E:1, F:1; 0 1 1" },
		{ { "s E 1 0 20 20 -", "s E 1 0 3 3 -" }, ONE, false, COLUMNS, "tgid: tgid:3, tgid:20; 1 0" },
		{ { "s E 1 0 20 20 -", "s E 1 0 - - -" }, ONE, false, COLUMNS, "tgid: tgid:all, tgid:20; 1 0" },
		{ { "s E 1 0 20 20 -", "s E 1 0 20 21 -" }, ONE, false, COLUMNS, "tid: tid:20, tid:21; 0 1" },
		{ { "s E 1 0 20 20 -", "s E 1 0 20 21 -" }, ONE | PP_MERGE_TID, false, COLUMNS, "event: E:1; 0 0" },
		{ { "s E 1 0 20 20 -", "s E 1 0 3 21 -" }, ONE | PP_MERGE_TID, false, COLUMNS, "tgid: tgid:3, tgid:20; 1 0" },
		{ { "s E 1 0 20 20 -", "s E 1 0 3 21 -" }, ONE | PP_MERGE_TGID, false, COLUMNS, "event: E:1; 0 0" },
		{ { "s E 1 0 - - 10", "s E 1 0 - - 9", "s E 1 0 - - -" }, ONE, false, COLUMNS, "cpu: cpu:all, cpu:9, cpu:10; 2 1 0" },
		{ { "s E 1 0 - - 10", "s E 1 0 - - 9", "s E 1 0 - - -" }, ONE | PP_MERGE_CPU, false, COLUMNS, "event: E:1; 0 0 0" },
		{ { "b E 1 0 - - -", "a E 1 0 - - -" }, 0, false, COLUMNS, "session: session:a, session:b; 1 0" },
		{ { "b E 1 0 - - -", "a E 1 0 - - -" }, ONE, false, COLUMNS, "event: E:1; 0 0" },
		{ { "a/ E 1 0 - - -", "b E 1 0 - - -" }, 0, false, COLUMNS, "session: session:a/, session:b; 0 1" },
		{ { "s E 1 0 - - -" }, 0, false, COLUMNS, "event: E:1; 0" },
		{ { "s@60-120 E 1 0 - - -", "s@0-60 E 1 0 - - -", "s@60-120 E 1 0 - - -" }, ONE, false, COLUMNS, "time: time:1970-01-01 00:00:00-1970-01-01 00:01:00, time:1970-01-01 00:01:00-1970-01-01 00:02:00; 1 0 1" },
		{ { "s@60-120 E 1 0 - - -", "s@60-180 E 1 0 - - -" }, ONE, false, COLUMNS, "time: time:1970-01-01 00:01:00-1970-01-01 00:02:00, time:1970-01-01 00:01:00-1970-01-01 00:03:00; 0 1" },
		{ { "s@60-120 E 1 0 - - -", "s@0-60 F 1 0 - - -" }, ONE, false, COLUMNS, "the sample files differ in event (F:1, E:1) and in time (time:1970-01-01 00:00:00-1970-01-01 00:01:00, time:1970-01-01 00:01:00-1970-01-01 00:02:00), but columns show one difference; leave out --over-time or choose with event:F count:1 unit-mask:0" },
		/* Two differences. */
		{ { "s E 1 0 - - 0", "s F 1 0 - - 1" }, ONE, false, COLUMNS, "the sample files differ in event (E:1, F:1) and in cpu (cpu:0, cpu:1), but columns show one difference; add --merge=cpu or choose with event:E count:1 unit-mask:0" },
		{ { "s E 1 0 - - 0", "s F 1 3 - - 1" }, ONE, true, COLUMNS, "event: E:1 cpu:0, F:1 cpu:1; 0 1" },
		{ { "s E 1 0 1 1 0", "s E 1 0 2 2 1" }, ONE, false, COLUMNS, "the sample files differ in tgid (tgid:1, tgid:2) and in cpu (cpu:0, cpu:1), but columns show one difference; add --merge=cpu or choose with tgid:1" },
		{ { "s E 1 0 1 1 -", "s E 1 0 2 7 -" }, ONE, false, COLUMNS, "the sample files differ in tgid (tgid:1, tgid:2) and in tid (tid:1, tid:7), but columns show one difference; add --merge=tid or choose with tgid:1" },
		{ { "s E 1 0 - - -", "s E 1 0 2 7 -" }, ONE, false, COLUMNS, "the sample files differ in tgid (tgid:all, tgid:2) and in tid (tid:all, tid:7), but columns show one difference; add --merge=tid or choose with tgid:NUMBER" },
		{ { "s E 1 0 1 1 0", "s E 1 0 1 7 1" }, ONE, false, COLUMNS, "the sample files differ in tid (tid:1, tid:7) and in cpu (cpu:0, cpu:1), but columns show one difference; add --merge=cpu or choose with tid:1" },
		{ { "s E 1 0 1 1 0", "s F 1 0 2 7 1" }, ONE, false, COLUMNS, "the sample files differ in event (E:1, F:1) and in tgid (tgid:1, tgid:2), but columns show one difference; add --merge=tgid,cpu" },
		{ { "s E 1 0 1 1 0", "s F 1 0 2 7 1" }, ONE, true, COLUMNS, "event: E:1 tgid:1 tid:1 cpu:0, F:1 tgid:2 tid:7 cpu:1; 0 1" },
		{ { "a E 1 0 - - 0", "b E 1 0 - - 1" }, 0, false, COLUMNS, "the sample files differ in cpu (cpu:0, cpu:1) and in session (session:a, session:b), but columns show one difference; leave out --by-session or choose with cpu:0" },
		{ { "a E 1 0 - - -", "b F 1 0 - - -" }, 0, false, COLUMNS, "the sample files differ in event (E:1, F:1) and in session (session:a, session:b), but columns show one difference; leave out --by-session or choose with event:E count:1 unit-mask:0" },
		{ { "a E 1 0 3 3 0", "b F 1 0 4 5 1" }, 0, false, COLUMNS, "the sample files differ in event (E:1, F:1) and in tgid (tgid:3, tgid:4), but columns show one difference; leave out --by-session and add --merge=tgid,cpu" },
		{ { "s E 1 0 - - 0", "s E 1 0 - - 1", "s E 1 0 - - 2", "s E 1 0 - - 3", "s E 1 0 - - 4", "s F 1 0 - - 0" }, ONE, false, COLUMNS, "the sample files differ in event (E:1, F:1) and in cpu (cpu:0, cpu:1, cpu:2, cpu:3, cpu:4), but columns show one difference; add --merge=cpu or choose with event:E count:1 unit-mask:0" },
		{ { "s E 1 0 - - 0", "s E 1 0 - - 1", "s E 1 0 - - 2", "s E 1 0 - - 3", "s E 1 0 - - 4", "s E 1 0 - - 5", "s F 1 0 - - 0" }, ONE, false, COLUMNS, "the sample files differ in event (E:1, F:1) and in cpu (cpu:0, cpu:1, cpu:2, cpu:3, cpu:4 and more), but columns show one difference; add --merge=cpu or choose with event:E count:1 unit-mask:0" },
		/* Cgroups, by what people call them. */
		{ { "s E 1 0 - - - /system.slice/b.service", "s E 1 0 - - - /a" }, ONE, false, COLUMNS, "cgroup: cgroup:/a, cgroup:b.service; 1 0" },
		{ { "s E 1 0 - - - /x.slice/b.service", "s E 1 0 - - - /y.slice/b.service" }, ONE, false, COLUMNS, "cgroup: cgroup:/x.slice/b.service, cgroup:/y.slice/b.service; 0 1" },
		{ { "s E 1 0 - - - /a", "s E 1 0 - - - /b" }, ONE | PP_MERGE_CGROUP, false, COLUMNS, "event: E:1; 0 0" },
		{ { "s E 1 0 - - - /a", "s E 1 0 - - -" }, ONE, false, COLUMNS, "cgroup: cgroup:all, cgroup:/a; 1 0" },
		{ { "s E 1 0 7 7 - /a", "s E 1 0 8 8 - /b" }, ONE, false, COLUMNS, "the sample files differ in tgid (tgid:7, tgid:8) and in cgroup (cgroup:/a, cgroup:/b), but columns show one difference; add --merge=cgroup or choose with tgid:7" },
		{ { "s E 1 0 7 7 - /a", "s F 1 0 7 7 - /b" }, ONE, false, COLUMNS, "the sample files differ in event (E:1, F:1) and in cgroup (cgroup:/a, cgroup:/b), but columns show one difference; add --merge=cgroup or choose with event:E count:1 unit-mask:0" },
		/* Tasks in rows leave the columns to something else. */
		{ { "s E 1 0 20 20 -", "s E 1 0 20 21 -" }, ONE, false, ROWS, "event in rows: E:1, E:1; 0 1" },
		{ { "s E 1 0 20 20 -", "s E 1 0 20 21 -" }, ONE, false, AUTO, "tid: tid:20, tid:21; 0 1" },
		{ { "s E 1 0 1 1 -", "s E 1 0 2 7 -" }, ONE, false, AUTO, "event in rows: E:1, E:1; 0 1" },
		{ { "s E 1 0 7 7 - /a", "s E 1 0 8 8 - /b" }, ONE, false, AUTO, "event in rows: E:1, E:1; 0 1" },
		{ { "s E 1 0 1 1 0", "s E 1 0 2 2 1" }, ONE, false, AUTO, "cpu in rows: cpu:0, cpu:1; 0 1" },
		{ { "s E 1 0 1 1 -", "s F 1 0 2 2 -" }, ONE, false, AUTO, "event in rows: E:1, F:1; 0 1" },
		{ { "s E 1 0 1 1 0", "s F 1 0 2 7 1" }, ONE, false, AUTO, "the sample files differ in event (E:1, F:1) and in cpu (cpu:0, cpu:1), but columns show one difference; add --merge=cpu or choose with event:E count:1 unit-mask:0" },
		{ { "s E 1 0 - - 0", "s E 1 0 - - 1" }, ONE, false, ROWS, "cpu: cpu:0, cpu:1; 0 1" },
		{ { "s E 1 0 - - 0", "s F 1 0 - - 1" }, ONE, false, AUTO, "the sample files differ in event (E:1, F:1) and in cpu (cpu:0, cpu:1), but columns show one difference; add --merge=cpu or choose with event:E count:1 unit-mask:0" },
		{ { "s E 1 0 1 1 -", "s E 1 0 2 2 -", "s E 1 0 3 3 -", "s E 1 0 4 4 -", "s E 1 0 5 5 -", "s E 1 0 6 6 -", "s E 1 0 7 7 -", "s E 1 0 8 8 -" }, ONE, false, AUTO, "tgid: tgid:1, tgid:2, tgid:3, tgid:4, tgid:5, tgid:6, tgid:7, tgid:8; 0 1 2 3 4 5 6 7" },
		{ { "s E 1 0 1 1 -", "s E 1 0 2 2 -", "s E 1 0 3 3 -", "s E 1 0 4 4 -", "s E 1 0 5 5 -", "s E 1 0 6 6 -", "s E 1 0 7 7 -", "s E 1 0 8 8 -", "s E 1 0 9 9 -" }, ONE, false, AUTO, "event in rows: E:1, E:1, E:1, E:1, E:1, E:1, E:1, E:1, E:1; 0 1 2 3 4 5 6 7 8" },
		/* The names of columns that differ in masks tell them. */
		{ { "s E 1 0 - - 0", "s E 1 7 - - 1" }, ONE, true, COLUMNS, "event: E:1:0x00 cpu:0, E:1:0x07 cpu:1; 0 1" },
		{ { "s E 1 0 - - 0", "s E 1 255 - - 0", "s F 1 255 - - 0" }, ONE, true, COLUMNS, "event: E:1:0x00, E:1:0xff, F:1; 0 1 2" },
	};
	/* clang-format on */

	for (size_t i = 0; i < NR(rows); i++) {
		struct text t;

		arrange(&rows[i], text_begin(&t));
		text_must_be(&t, rows[i].files[0], rows[i].outcome);
	}
}

/* A file of another session finds its column, or that it has none. */
TEST(columns_are_found)
{
	static const struct {
		const char *file;
		unsigned int merge;
		int nr;
	} rows[] = {
		{ "x E 1 0 - - 0", ONE, 0 },
		{ "x E 1 0 - - 2", ONE, 1 },
		{ "x E 1 0 - - 1", ONE, -1 },
		{ "x E 1 0 - - -", ONE, -1 },
		{ "x E 2 0 - - 0", ONE, -1 },
		{ "x D 1 0 - - 0", ONE, -1 },
		{ "x E 1 1 - - 0", ONE, -1 },
		{ "x E 1 0 5 - 0", ONE, -1 },
		{ "x E 1 0 - 5 0", ONE, -1 },
		{ "x E 1 0 5 5 2", ONE | PP_MERGE_TGID, 1 },
	};
	struct pp_sample_file files[2];
	struct pp_session sessions[3] = { { 0 } };
	struct op_arena arena;
	struct pp_sample_list list = { .arena = &arena,
				       .files = files,
				       .nr = 2 };
	struct pp_classes classes;

	op_arena_init(&arena);
	read_file(&files[0], &sessions[0], "s E 1 0 - - 2", &arena);
	read_file(&files[1], &sessions[1], "s E 1 0 - - 0", &arena);
	assert_int_equal(pp_arrange(&classes, &list, ONE, false,
				    PP_LAYOUT_COLUMNS, 0, NULL),
			 0);
	for (size_t i = 0; i < NR(rows); i++) {
		struct pp_sample_file file;

		read_file(&file, &sessions[2], rows[i].file, &arena);
		assert_int_equal(pp_class_find(&classes, &file, rows[i].merge),
				 rows[i].nr);
	}
	op_arena_release(&arena);
}

BEFORE_TESTS()
{
	setenv("TZ", "UTC0", 1);
}
