// SPDX-License-Identifier: GPL-2.0-or-later
/* Recorded streams: which are refused, and that all others come as written. */

#include <byteswap.h>

#include "daemon/source/opd_source.h"
#include "tests/unit/opd_fixture.h"
#include "tests/unit/rows.h"

/* The words of the script, in hexadecimal, to @path; "swap" swaps all. */
static void make_stream(const char *path, const char *script)
{
	bool swap = !strncmp(script, "swap", 4);
	FILE *file = fopen(path, "w");
	uint64_t word;
	char *end;

	assert_non_null(file);
	script += swap ? 4 : 0;
	for (;; script = end) {
		word = strtoull(script, &end, 16);
		if (end == script)
			break;
		word = swap ? bswap_64(word) : word;
		assert_int_equal(fwrite(&word, 8, 1, file), 1);
	}
	fputs(script + strspn(script, " "), file);
	assert_int_equal(fclose(file), 0);
}

/* Read by @step bytes, until the end; print how many there were. */
static void show_rest(struct opd_source *source, size_t step,
		      const char *wanted, FILE *out)
{
	char buf[64], was[64];
	size_t sum = 0;
	int fd = open(wanted, O_RDONLY | O_CLOEXEC);
	ssize_t got;

	while ((got = source->ops->read(source, buf, step)) > 0) {
		assert_int_equal(pread(fd, was, (size_t)got, (off_t)sum), got);
		assert_memory_equal(buf, was, (size_t)got);
		sum += (size_t)got;
	}
	close(fd);
	fprintf(out, "%s %zu bytes", source->name, sum);
	if (got)
		fprintf(out, ", %s", strerrorname_np((int)-got));
	fputc('\n', out);
}

/* @row->given is the argument instead of the file's path. */
static void run_file(const struct row *row, FILE *out)
{
	struct fixture *f = new_fixture();
	char path[128], spec[160];

	snprintf(path, sizeof(path), "%s/stream", f->dir);
	snprintf(spec, sizeof(spec), "file:%s", row->given ? row->given : path);
	make_stream(path, row->script);
	for (size_t step = 5; step <= 45; step += 40) {
		struct opd_source source;
		struct op_diag diag = { "" };
		int err = opd_source_open(&source, spec, NULL, NULL, &diag);
		const char *text = diag.text;

		if (!strncmp(text, f->dir, strlen(f->dir)))
			text += strlen(f->dir) + 1;
		if (err)
			fprintf(out, "%s: %s\n", strerrorname_np(-err), text);
		else
			show_rest(&source, step, path, out);
		opd_source_close(&source);
		opd_source_close(&source);
		assert_int_equal(source.fd, -1);
		if (err)
			break;
	}
	free_fixture(f);
}

/* The escape, the code word of the beginning, its magic. */
#define HEAD "ffffffffffffffff 300000011 " MAGIC
#define MAGIC "4d4145525453504f"

/* clang-format off */
static const struct row rows[] = {
	{ "a_beginning_alone", NULL, HEAD " 1 8", EXPECTED_ROW },
	{ "more_than_the_head", NULL, HEAD " 1 8 1 2 3 4 5 6 7 8 9 a", EXPECTED_ROW },
	{ "half_a_word_more", NULL, HEAD " 1 8 zzz", EXPECTED_ROW },
	{ "pointers_of_4_bytes", NULL, HEAD " 1 4", EXPECTED_ROW },
	{ "pointers_of_5_bytes", NULL, HEAD " 1 5",
	  "EPROTO: stream: has a pointer size of 5 bytes; the file is damaged\n" },
	{ "another_version", NULL, HEAD " 2 8",
	  "EPROTO: stream: has version 2 of the stream, this program reads only 1; use the oprofiled that recorded it\n" },
	{ "too_short", NULL, HEAD " 1",
	  "EPROTO: stream: too short for a recorded stream; record it again\n" },
	{ "nothing", NULL, "",
	  "EPROTO: stream: too short for a recorded stream; record it again\n" },
	{ "too_short_by_a_byte", NULL, HEAD " 1 zzzzzzz",
	  "EPROTO: stream: too short for a recorded stream; record it again\n" },
	{ "another_byte_order", NULL, "swap " HEAD " 1 8",
	  "EPROTO: stream: was recorded on a machine of the other byte order; replay it on one of that byte order\n" },
	{ "another_magic", NULL, "ffffffffffffffff 300000011 1 1 8",
	  "EPROTO: stream: is not a recorded stream; give a file written by oprofiled --record\n" },
	{ "another_record", NULL, "ffffffffffffffff 300000012 " MAGIC " 1 8",
	  "EPROTO: stream: is not a recorded stream; give a file written by oprofiled --record\n" },
	{ "no_record", NULL, "fffffffffffffffe 300000011 " MAGIC " 1 8",
	  "EPROTO: stream: is not a recorded stream; give a file written by oprofiled --record\n" },
	{ "too_few_words", NULL, "ffffffffffffffff 200000011 " MAGIC " 1 8",
	  "EPROTO: stream: is not a recorded stream; give a file written by oprofiled --record\n" },
	{ "no_path", "", "",
	  "EINVAL: file: no path; give --source=file:PATH, or - for standard input\n" },
	{ "no_file", "/none/stream", "",
	  "ENOENT: /none/stream: No such file or directory; give a recorded stream\n" },
	{ "a_folder", "/", "",
	  "EISDIR: /: Is a directory; give a recorded stream\n" },
};
/* clang-format on */

TEST_ROWS(test_row, rows)
{
	check_row(*state, run_file);
}
