// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Sample files as they are read: counts of several parts of one name are added
 * up, place by place; a part that cannot be used is said and the others count;
 * and what is said when nothing is left.
 */

/* What a row of a table does not name is zero. */
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

#include "tests/helper/writers/classic_file.h"
#include "tests/unit/libpp/pp_packed.h"

#include "libpp/select/profile_spec.h"
#include "libpp/select/sample_list.h"

#define SPAN "current/.span-"
#define X "{root}/bin/x/{dep}/{root}/bin/x/E.100.0.all.all.all"

/* Samples in words of write_samples(), or "khz NUMBER" and "version NUMBER" of
 * the headers of the next ones, "text PATH" and "classic PATH" for files that
 * are none of ours, or "pack". */
static void make_read_line(const char *line, void *ctx)
{
	static const struct classic_file old = {
		.layout = &classic_layouts[2],
		.cpu_type = 12,
		.event = 0x3c,
		.count = 100000,
	};
	static const struct classic_pair pairs[] = { { 0x10, 3 } };
	static uint8_t bytes[1 << 16];
	const char *word = line + strcspn(line, " ");

	(void)ctx;
	word += *word == ' ';
	if (!strcmp(line, "pack")) {
		pack_folder("samples/current");
	} else if (!strncmp(line, "khz ", 4)) {
		made_header.cpu_khz = (uint32_t)atoi(word);
	} else if (!strncmp(line, "version ", 8)) {
		made_header.version = (uint32_t)atoi(word);
	} else if (!strncmp(line, "text ", 5)) {
		assert_int_equal(op_make_parents(word, 0755), 0);
		write_text(word, "damaged");
	} else if (!strncmp(line, "classic ", 8)) {
		classic_build(&old, bytes, pairs, NR(pairs));
		assert_int_equal(op_make_parents(word, 0755), 0);
		write_bytes(word, bytes, classic_len(&old, NR(pairs)));
	} else {
		write_samples(line);
	}
}

static int by_place(const void *a, const void *b)
{
	const struct pp_sample *x = a, *y = b;

	return (x->key > y->key) - (x->key < y->key);
}

/* What its header says when it is read alone, then all of it. */
static void write_read_file(FILE *out, struct pp_sample_list *list, size_t i)
{
	struct pp_sample_file *file = &list->files[i];

	fprintf(out, "%s of %u: %d", file->path, file->header.cpu_khz,
		(int)file->total);
	if (file->nr_samples)
		qsort(file->samples, file->nr_samples, sizeof(*file->samples),
		      by_place);
	for (size_t k = 0; k < file->nr_samples; k++)
		fprintf(out, " %llx=%d",
			(unsigned long long)file->samples[k].key,
			(int)file->samples[k].count);
	fputc('\n', out);
}

static void read_and_write(FILE *out, bool counts, bool calls)
{
	struct op_arena arena;
	struct pp_messages messages = { .arena = &arena };
	struct pp_sample_list list = { .arena = &arena, .call_graphs = calls };
	struct op_diag diag = { "" };
	struct op_session session;
	struct pp_spec_pair pair;
	int err;

	op_arena_init(&arena);
	assert_int_equal(op_session_init(&session, ".", NULL), 0);
	assert_int_equal(pp_spec_pair_init(&pair, (const char *const[]){ NULL },
					   NULL),
			 0);
	err = pp_sample_list_find(&list, &session, &pair.spec, &messages,
				  &diag);
	for (size_t i = 0; i < list.nr && !err; i++) {
		struct op_sample_header header;
		int bad = pp_sample_file_header(&list, &list.files[i], &header);

		if (bad)
			fprintf(out, "%s\n", strerror(-bad));
		else
			fprintf(out, "header of %u\n", header.cpu_khz);
	}
	if (!err)
		err = pp_sample_list_read(&list, counts, &messages, &diag);
	for (size_t i = 0; i < list.nr && !err; i++)
		write_read_file(out, &list, i);
	write_messages(out, &messages);
	if (messages.nr_unread)
		fprintf(out, "%d unread\n", (int)messages.nr_unread);
	if (err)
		fprintf(out, "%s: %s\n", strerror(-err), diag.text);
	pp_sessions_close(&list.sessions);
	pp_spec_pair_release(&pair);
	op_arena_release(&arena);
}

TEST(parts_are_added_up)
{
	/* clang-format off */
	static const struct {
		const char *name, *script, *wanted;
		bool counts, calls;
	} rows[] = {
		{ "one part", "current x x E 2=3 1=5", EXPECTED_ROW, .counts = true },
		{ "its total alone", "current x x E 2=3 1=5", EXPECTED_ROW },
		{ "parts that counted at the same places",
		  "current x x E 2=3 1=5 7=1;pack;current x x E 1=20 9=10 2=10",
		  EXPECTED_ROW, .counts = true },
		{ "their totals alone",
		  "current x x E 2=3 1=5 7=1;pack;current x x E 1=20 9=10 2=10", EXPECTED_ROW },
		{ "parts without a place in common",
		  "current x x E 2=3;pack;current x x E 1=20", EXPECTED_ROW, .counts = true },
		{ "the first part has the header",
		  "khz 3;current x x E 1=2;pack;khz 4;current x x E 1=3",
		  EXPECTED_ROW, .counts = true },
		{ "unless nothing was counted in it",
		  "khz 3;current x x E;pack;khz 4;current x x E 1=3",
		  EXPECTED_ROW, .counts = true },
		{ "a part that is damaged",
		  "current x x E 2=3 1=1;pack;text samples/current/" X ";current y y E 1=2",
		  EXPECTED_ROW, .counts = true },
		{ "and is the only one", "text samples/current/" X ";current y y E 1=2",
		  EXPECTED_ROW, .counts = true },
		{ "nothing is left",
		  "text samples/current/" X ";text samples/" SPAN "100-200/" X,
		  EXPECTED_ROW, .counts = true },
		{ "nothing was counted", "current x x E;current y y E",
		  EXPECTED_ROW, .counts = true },
		{ "nothing in one of two", "current x x E;current y y E 1=2",
		  EXPECTED_ROW, .counts = true },
		{ "of another version",
		  "version 99;current x x E 1=1;version 1;current y y E 1=2",
		  EXPECTED_ROW, .counts = true },
		{ "of the original profiler",
		  "classic samples/current/" X ";current y y E 1=2", EXPECTED_ROW, .counts = true },
		{ "nothing but that", "classic samples/current/" X, EXPECTED_ROW, .counts = true },
		{ "spans are files of their own",
		  "current x x E 1=2;" SPAN "100-200 x x E 1=3", EXPECTED_ROW, .counts = true },
		{ "calls when they are wanted", "current x x E 1=2;current x x>y E 1>2=4 1>3=1",
		  EXPECTED_ROW, .counts = true, .calls = true },
		{ "and when they are not", "current x x E 1=2;current x x>y E 1>2=4",
		  EXPECTED_ROW, .counts = true },
	};
	/* clang-format on */
	const struct op_sample_header usual = made_header;

	for (size_t i = 0; i < NR(rows); i++) {
		void *folder = NULL;
		struct text t;

		made_header = usual;
		assert_int_equal(enter_folder(&folder), 0);
		run_script(rows[i].script, make_read_line, NULL);
		read_and_write(text_begin(&t), rows[i].counts, rows[i].calls);
		text_below_must_be(&t, folder, rows[i].name, rows[i].wanted);
		assert_int_equal(leave_folder(&folder), 0);
	}
	made_header = usual;
}
