// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What a file of pprof holds: it is unpacked, and what refers to something by a
 * number is written as what it refers to.
 */

#include <zlib.h>

#include "tests/unit/pp_report.h"

#include "libpp/format/format.h"
#include "libpp/format/profile.pb-c.h"
#include "libpp/tree/tree.h"

/* ---- unpacking ----------------------------------------------------------- */

static uint8_t *inflate_all(const char *packed, size_t len, size_t *out_len)
{
	static uint8_t out[1 << 16];
	z_stream z = { .next_in = (uint8_t *)packed,
		       .avail_in = (unsigned int)len,
		       .next_out = out,
		       .avail_out = sizeof(out) };

	assert_int_equal(inflateInit2(&z, MAX_WBITS + 16), Z_OK);
	assert_int_equal(inflate(&z, Z_FINISH), Z_STREAM_END);
	assert_int_equal(z.avail_in, 0);
	*out_len = z.total_out;
	inflateEnd(&z);
	return out;
}

static const char *string_of(const Pprof__Profile *p, int64_t number)
{
	assert_true(number >= 0 && (size_t)number < p->n_string_table);
	return p->string_table[number];
}

static void write_values(FILE *out, const Pprof__Profile *p)
{
	for (size_t i = 0; i < p->n_sample_type; i++)
		fprintf(out, "%s %s%s\n", string_of(p, p->sample_type[i]->type),
			string_of(p, p->sample_type[i]->unit),
			p->sample_type[i]->type == p->default_sample_type
				? " (default)"
				: "");
	if (p->period_type)
		fprintf(out, "period %lld %s %s\n", (long long)p->period,
			string_of(p, p->period_type->type),
			string_of(p, p->period_type->unit));
	if (p->time_nanos)
		fprintf(out, "time %lld\n", (long long)p->time_nanos);
	for (size_t i = 0; i < p->n_comment; i++)
		fprintf(out, "# %s\n", string_of(p, p->comment[i]));
}

static void write_mappings(FILE *out, const Pprof__Profile *p)
{
	for (size_t i = 0; i < p->n_mapping; i++) {
		const Pprof__Mapping *m = p->mapping[i];

		assert_true(m->id && m->has_functions && m->has_inline_frames &&
			    !m->memory_start && !m->file_offset);
		fprintf(out, "%s to %llx '%s'%s\n", string_of(p, m->filename),
			(unsigned long long)m->memory_limit,
			string_of(p, m->build_id),
			m->has_filenames ? " sources" : "");
	}
}

static void write_function(FILE *out, const Pprof__Profile *p, uint64_t id)
{
	const Pprof__Function *found = NULL;

	for (size_t i = 0; i < p->n_function; i++) {
		if (p->function[i]->id != id)
			continue;
		assert_null(found);
		found = p->function[i];
	}
	assert_non_null(found);
	fputs(string_of(p, found->name), out);
	if (found->system_name != found->name)
		fprintf(out, "=%s", string_of(p, found->system_name));
	if (found->filename)
		fprintf(out, "(%s:%lld)", string_of(p, found->filename),
			(long long)found->start_line);
}

static void write_location(FILE *out, const Pprof__Profile *p, uint64_t id)
{
	const Pprof__Location *found = NULL;
	const Pprof__Mapping *mapping = NULL;

	for (size_t i = 0; i < p->n_location; i++) {
		if (p->location[i]->id != id)
			continue;
		assert_null(found);
		found = p->location[i];
	}
	assert_non_null(found);
	for (size_t i = 0; i < p->n_mapping; i++)
		if (p->mapping[i]->id == found->mapping_id)
			mapping = p->mapping[i];
	assert_int_equal(mapping != NULL, found->mapping_id != 0);
	fputs(" <", out);
	for (size_t i = 0; i < found->n_line; i++) {
		fputs(i ? " in " : "", out);
		assert_int_equal(found->line[i]->line, 0);
		write_function(out, p, found->line[i]->function_id);
	}
	if (mapping)
		fprintf(out, " %s", string_of(p, mapping->filename));
	if (found->address)
		fprintf(out, "+%llx", (unsigned long long)found->address);
	fputc('>', out);
}

static void write_pprof_samples(FILE *out, const Pprof__Profile *p)
{
	for (size_t i = 0; i < p->n_sample; i++) {
		const Pprof__Sample *s = p->sample[i];

		assert_int_equal(s->n_value, p->n_sample_type);
		for (size_t v = 0; v < s->n_value; v++)
			fprintf(out, "%s%lld", v ? "," : "",
				(long long)s->value[v]);
		for (size_t l = 0; l < s->n_location_id; l++)
			write_location(out, p, s->location_id[l]);
		for (size_t l = 0; l < s->n_label; l++) {
			const Pprof__Label *label = s->label[l];

			fprintf(out, " %s=", string_of(p, label->key));
			if (label->str)
				fputs(string_of(p, label->str), out);
			else
				fprintf(out, "%lld", (long long)label->num);
		}
		fputc('\n', out);
	}
}

/* ---- trees --------------------------------------------------------------- */

static const struct pp_image binaries[] = {
	{ .path = "/bin/prog", .build_id = { 2, { 0xab, 1 } } },
	{ .path = "/lib/x.so", .build_id = { 1, { 1 } } },
	{ .path = "/lib/x.so", .build_id = { 1, { 2 } } },
	{ .path = "/vmlinux" },
};

static struct pp_frame frames[] = {
	{ .name = "all", .kind = PP_FRAME_ROOT },
	{ .name = "prog-7/8",
	  .image = "/bin/prog",
	  .kind = PP_FRAME_ROOT,
	  .is_apart = true,
	  .tgid = 7,
	  .tid = 8,
	  .process = "prog",
	  .thread = "w\x80",
	  .cgroup = "/a" },
	{ .name = "main",
	  .image = "/bin/prog",
	  .kind = PP_FRAME_APP,
	  .binary = &binaries[0],
	  .raw_name = "main",
	  .vma = 0x401000,
	  .size = 0xfff,
	  .source = "m.c",
	  .line = 5 },
	{ .name = "f()",
	  .image = "/lib/x.so",
	  .kind = PP_FRAME_LIBRARY,
	  .binary = &binaries[1],
	  .raw_name = "_Zf",
	  .vma = 0x1000,
	  .size = 0x1000 },
	{ .name = "[broken]", .image = "[broken]", .kind = PP_FRAME_GAP },
	{ .name = "k",
	  .image = "/vmlinux",
	  .kind = PP_FRAME_KERNEL,
	  .binary = &binaries[3],
	  .vma = UINT64_MAX - 10,
	  .size = 10 },
	{ .name = "h",
	  .image = "/bin/prog",
	  .kind = PP_FRAME_APP,
	  .binary = &binaries[0],
	  .raw_name = "h" },
	{ .name = "other",
	  .image = "/opt/other",
	  .kind = PP_FRAME_ROOT,
	  .is_apart = true,
	  .tgid = 9,
	  .tid = OP_MANGLE_ALL,
	  .cgroup = "" },
	{ .name = "[x.so]",
	  .image = "/lib/x.so",
	  .kind = PP_FRAME_LIBRARY,
	  .binary = &binaries[2] },
};

/*
 * all, prog, main, h inlined, h inlined in that, f called there, k below f;
 * h below main; a gap below prog and main below that; other, [x.so] below that.
 */
static struct pp_tree_node nodes[] = {
	{ 0, 0, 0 }, { 0, 1, 0 }, { 1, 2, 0 }, { 2, 6, 1 },
	{ 3, 6, 1 }, { 4, 3, 0 }, { 5, 5, 0 }, { 2, 2, 0 },
	{ 1, 4, 0 }, { 8, 2, 0 }, { 0, 7, 0 }, { 10, 8, 0 },
};

static uint64_t self[] = { 0, 0, 1, 2, 3, 0, 4, 5, 0, 6, 7, 8 };
static uint64_t of_two[][2] = {
	{ 0, 0 }, { 0, 0 }, { 1, 0 }, { 0, 2 }, { 3, 3 }, { 0, 0 },
	{ 0, 0 }, { 0, 0 }, { 0, 0 }, { 0, 0 }, { 0, 0 }, { 0, UINT64_MAX },
};

static struct pp_tree tree;
static const struct pp_summary_app apps[] = { { .name = "/bin/prog" } };

struct row {
	const char *name;
	unsigned int flags;
	void (*change)(struct made_report *m);
	void (*write)(FILE *out, const Pprof__Profile *p);
	const char *text;
};

static void write_pprof(FILE *out, const struct row *row)
{
	static const struct pp_format_options options = { .command =
								  "opreport" };
	struct made_report m;
	struct text packed;
	Pprof__Profile *p;
	uint8_t *bytes;
	size_t len;

	make_report(&m, row->flags);
	tree = (struct pp_tree){
		.frames = frames,
		.nr_frames = NR(frames),
		.nodes = nodes,
		.nr_nodes = NR(nodes),
		.nr_columns = m.report.classes.nr,
		.self = row->flags & TWO ? of_two[0] : self,
	};
	m.report.tree = &tree;
	m.report.summary.apps = apps;
	m.report.summary.nr_apps = NR(apps);
	if (row->change)
		row->change(&m);
	assert_int_equal(pp_format_find("pprof")->write(text_begin(&packed),
							&m.report, &options),
			 0);
	assert_int_equal(fclose(packed.out), 0);
	bytes = inflate_all(packed.all, packed.len, &len);
	free(packed.all);
	p = pprof__profile__unpack(NULL, len, bytes);
	assert_non_null(p);
	assert_string_equal(string_of(p, 0), "");
	row->write(out, p);
	pprof__profile__free_unpacked(p, NULL);
}

/* ---- rows ---------------------------------------------------------------- */

static void the_timer(struct made_report *m)
{
	m->classes[0].event = "TIMER";
	m->classes[0].count = 0;
	m->report.cpu.timer_hz = 250;
}

static void the_timer_at_a_rate(struct made_report *m)
{
	the_timer(m);
	m->classes[0].count = 997;
}

static void the_timer_of_old(struct made_report *m)
{
	the_timer(m);
	m->report.cpu.timer_hz = 0;
}

static void a_clock(struct made_report *m)
{
	m->classes[0].event = "cpu-clock";
	m->report.account_written = 3;
	m->report.messages.nr_unread = 2;
}

static void no_count(struct made_report *m)
{
	m->classes[0].count = 0;
	m->report.messages.nr_unread = 1;
}

static void two_events(struct made_report *m)
{
	m->classes[0].event = "A";
	m->classes[1].event = "B";
	m->classes[1].count = 10;
}

static void two_masks(struct made_report *m)
{
	m->classes[0].unit_mask = 1;
	m->classes[1].unit_mask = 0x20;
}

static void two_sessions(struct made_report *m)
{
	m->classes[0].session = "new";
	m->classes[1].session = "old";
}

TEST(files_hold_the_report)
{
	/* clang-format off */
	static const struct row rows[] = {
		{ "an event", ACCOUNT, NULL, write_values, EXPECTED_ROW },
		{ "the timer", 0, the_timer, write_values, EXPECTED_ROW },
		{ "the timer at a rate", 0, the_timer_at_a_rate, write_values, EXPECTED_ROW },
		{ "the timer of old", 0, the_timer_of_old, write_values, EXPECTED_ROW },
		{ "a clock", 0, a_clock, write_values, EXPECTED_ROW },
		{ "no count", 0, no_count, write_values, EXPECTED_ROW },
		{ "two events", TWO, two_events, write_values, EXPECTED_ROW },
		{ "two masks", TWO, two_masks, write_values, EXPECTED_ROW },
		{ "two sessions", TWO, two_sessions, write_values, EXPECTED_ROW },
		{ "mappings", 0, NULL, write_mappings, EXPECTED_ROW },
		{ "samples", 0, NULL, write_pprof_samples, EXPECTED_ROW },
		{ "of two events", TWO, two_events, write_pprof_samples, EXPECTED_ROW },
		{ "of two sessions", TWO, two_sessions, write_pprof_samples, EXPECTED_ROW },
	};
	/* clang-format on */

	for (size_t i = 0; i < NR(rows); i++) {
		struct text t;

		write_pprof(text_begin(&t), &rows[i]);
		text_must_be(&t, rows[i].name, rows[i].text);
	}
}
