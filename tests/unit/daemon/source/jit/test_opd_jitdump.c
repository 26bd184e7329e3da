// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Jitdumps: what their records mean at which time, and what becomes of files
 * that are cut, or whose numbers are mad.
 */

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/unit/test.h"
#include "daemon/source/jit/opd_jit_frames.h"
#include "libop/session/op_code_image.h"
#include "daemon/source/jit/opd_jitdump.h"
#include "libcfi/cfi.h"
#include "tests/unit/daemon/source/jitdump_writer.h"

#define MAX 1000

static void begin_dump(struct opd_jitdump *dump, const struct dump_writer *w)
{
	assert_int_equal(opd_jitdump_open(dump, NULL, dup(w->fd)), 0);
}

/* The name of the code at @addr, "" for none. */
static const char *name_at(const struct opd_jitdump *dump,
			   struct opd_jit_codes *codes, uint64_t addr)
{
	static struct op_code_function function;
	const struct opd_jit_code *code = opd_jit_codes_find(codes, addr);

	if (!code || code->where == OPD_JIT_GONE)
		return "";
	assert_int_equal(opd_jitdump_read(dump, code, &function), 0);
	opd_jitdump_free_function(&function);
	return function.room;
}

TEST(test_times)
{
	struct opd_jit_codes codes = { 0 };
	struct opd_jitdump dump;
	struct dump_writer w;

	dump_header(&w, 0);
	dump_load(&w, 10, 0x1000, "a", "AAAA");
	dump_load(&w, 20, 0x1002, "b", "BBBB");
	dump_move(&w, 30, 0x1002, 0x2000, 4);
	dump_move(&w, 40, 0x2000, 0, 4);
	begin_dump(&dump, &w);
	assert_int_equal(opd_jitdump_run(&dump, &codes, 9, MAX), 0);
	assert_string_equal(name_at(&dump, &codes, 0x1003), "");
	assert_int_equal(dump.state.next_time, 10);
	assert_int_equal(opd_jitdump_run(&dump, &codes, 10, MAX), 0);
	assert_string_equal(name_at(&dump, &codes, 0x1003), "a");
	opd_jitdump_run(&dump, &codes, 29, MAX);
	assert_string_equal(name_at(&dump, &codes, 0x1003), "b");
	assert_string_equal(name_at(&dump, &codes, 0x1000), "");
	opd_jitdump_run(&dump, &codes, 30, MAX);
	assert_string_equal(name_at(&dump, &codes, 0x1003), "");
	assert_string_equal(name_at(&dump, &codes, 0x2003), "b");
	opd_jitdump_run(&dump, &codes, UINT64_MAX, MAX);
	assert_string_equal(name_at(&dump, &codes, 0x2003), "");
	assert_int_equal(dump.state.next_time, UINT64_MAX);
	/* What is added is seen. */
	dump_load(&w, 50, 0x2000, "c", "CC");
	opd_jitdump_run(&dump, &codes, 60, MAX);
	assert_string_equal(name_at(&dump, &codes, 0x2001), "c");
	opd_jitdump_close(&dump);
	opd_jit_codes_release(&codes);
	close(w.fd);
}

/* Times of the CPU cannot be compared: all that is there is true. */
TEST(test_cpu_times)
{
	struct opd_jit_codes codes = { 0 };
	struct opd_jitdump dump;
	struct dump_writer w;

	dump_header(&w, OP_JITDUMP_CPU_TIME);
	dump_load(&w, 1000, 0x1000, "a", "AAAA");
	begin_dump(&dump, &w);
	opd_jitdump_run(&dump, &codes, 1, MAX);
	assert_string_equal(name_at(&dump, &codes, 0x1000), "a");
	opd_jitdump_close(&dump);
	opd_jit_codes_release(&codes);
	close(w.fd);
}

static void check_function(const struct opd_jitdump *dump,
			   struct opd_jit_codes *codes)
{
	struct op_code_function function;
	const struct opd_jit_code *code = opd_jit_codes_find(codes, 0x1000);

	assert_non_null(code);
	assert_int_equal(opd_jitdump_read(dump, code, &function), 0);
	assert_string_equal(function.room, "f?");
	assert_int_equal(function.size, 4);
	assert_memory_equal(function.bytes, "CODE", 4);
	assert_int_equal(function.nr_lines, 2);
	assert_int_equal(function.lines[0].offset, 2);
	assert_int_equal(function.lines[0].line, 11);
	assert_string_equal(function.lines[0].file, "a.c");
	assert_int_equal(function.lines[1].offset, 0);
	assert_string_equal(function.lines[1].file, "a.c");
	opd_jitdump_free_function(&function);
}

/* Bytes and lines, which may come before the code or behind it. */
TEST(test_function)
{
	for (int behind = 0; behind < 2; behind++) {
		struct opd_jit_codes codes = { 0 };
		struct opd_jitdump dump;
		struct dump_writer w;

		dump_header(&w, 0);
		if (!behind)
			dump_lines(&w, 1, 0x1000);
		dump_load(&w, 1, 0x1000, "f\033", "CODE");
		if (behind)
			dump_lines(&w, 1, 0x1000);
		begin_dump(&dump, &w);
		assert_int_equal(dump.state.machine, EM_386);
		opd_jitdump_run(&dump, &codes, 1, MAX);
		check_function(&dump, &codes);
		opd_jitdump_close(&dump);
		opd_jit_codes_release(&codes);
		close(w.fd);
	}
}

TEST(test_no_dump)
{
	static const struct op_jitdump_header bad[] = {
		{ .magic = 0x4454694a, .version = 1, .size = 40 },
		{ .magic = OP_JITDUMP_MAGIC, .version = 2, .size = 40 },
		{ .magic = OP_JITDUMP_MAGIC, .version = 1, .size = 39 },
	};
	struct opd_jitdump dump;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct dump_writer w = { memfd_create("x", MFD_CLOEXEC), 0 };

		assert_int_equal(opd_jitdump_open(&dump, NULL, dup(w.fd)),
				 -EPROTO);
		dump_bytes(&w, &bad[i], sizeof(bad[i]));
		assert_int_equal(opd_jitdump_open(&dump, NULL, w.fd), -EPROTO);
		assert_int_equal(dump.fd, -1);
	}
	assert_true(opd_jitdump_is_name("/tmp/jit-12.dump"));
	assert_false(opd_jitdump_is_name("/tmp/jit-12.dump (deleted)"));
	assert_false(opd_jitdump_is_name("/tmp/jit-.dump"));
	assert_false(opd_jitdump_is_name("/tmp/jit-1x.dump"));
	assert_false(opd_jitdump_is_name("jit-1.dump"));
	assert_false(opd_jitdump_is_name("//anon"));
}

/* A file that is cut anywhere has the records that are whole. */
TEST(test_cut)
{
	struct dump_writer w;
	size_t first;

	dump_header(&w, 0);
	dump_load(&w, 1, 0x1000, "a", "AAAA");
	first = w.len;
	dump_lines(&w, 1, 0x2000);
	dump_load(&w, 1, 0x2000, "b", "BBBB");
	for (size_t len = w.len; len-- > sizeof(struct op_jitdump_header);) {
		struct opd_jit_codes codes = { 0 };
		struct opd_jitdump dump;

		assert_int_equal(ftruncate(w.fd, (off_t)len), 0);
		begin_dump(&dump, &w);
		opd_jitdump_run(&dump, &codes, 1, MAX);
		assert_string_equal(name_at(&dump, &codes, 0x1000),
				    len >= first ? "a" : "");
		assert_string_equal(name_at(&dump, &codes, 0x2000), "");
		opd_jitdump_close(&dump);
		opd_jit_codes_release(&codes);
	}
	close(w.fd);
}

/* A dump that is cut or written over after its code was seen. */
TEST(test_changed)
{
	struct opd_jit_codes codes = { 0 };
	struct op_code_function function;
	const struct opd_jit_code *code;
	struct opd_jitdump dump;
	struct dump_writer w;
	size_t at;

	dump_header(&w, 0);
	at = w.len;
	dump_load(&w, 1, 0x1000, "a", "AAAA");
	begin_dump(&dump, &w);
	opd_jitdump_run(&dump, &codes, 1, MAX);
	code = opd_jit_codes_find(&codes, 0x1000);
	assert_int_equal(ftruncate(w.fd, (off_t)w.len - 1), 0);
	assert_int_equal(opd_jitdump_read(&dump, code, &function), -ESTALE);
	opd_jitdump_free_function(&function);
	w.len = at;
	dump_load(&w, 1, 0x1000, "a", "AAAAA");
	assert_int_equal(opd_jitdump_read(&dump, code, &function), -ESTALE);
	opd_jitdump_free_function(&function);
	opd_jitdump_close(&dump);
	opd_jit_codes_release(&codes);
	close(w.fd);
}

/* Records whose numbers are mad: code "z" behind them is found, unless the
 * length makes no sense. */
TEST(test_mad_numbers)
{
	static const struct {
		uint32_t id, size;
		uint64_t words[6];
		bool ends;
	} rows[] = {
		{ OP_JITDUMP_LOAD, 15, { 0 }, true },
		{ OP_JITDUMP_LOAD, 0, { 0 }, true },
		{ OP_JITDUMP_LOAD, 16, { 0 }, false },
		{ OP_JITDUMP_LOAD, 64, { 0, 1, 0x9000, 0 }, false },
		{ OP_JITDUMP_LOAD, 64, { 0, 1, 0x9000, UINT64_MAX }, false },
		{ OP_JITDUMP_LOAD, 64, { 0, 1, UINT64_MAX, 2 }, false },
		{ OP_JITDUMP_MOVE, 64, { 0, 0, 1, 2, 3, 4 }, false },
		{ OP_JITDUMP_MOVE, 17, { 0 }, false },
		{ OP_JITDUMP_LINES, 64, { 0x3000, UINT64_MAX }, false },
		{ OP_JITDUMP_LINES, 20, { 0 }, false },
		{ OP_JITDUMP_UNWIND, 64, { UINT64_MAX }, false },
		{ OP_JITDUMP_CLOSE, 16, { 0 }, false },
		{ 99, 64, { 0 }, false },
		{ OP_JITDUMP_LOAD, UINT32_MAX, { 0 }, true },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct op_jitdump_prefix prefix = { rows[i].id,
							  rows[i].size, 0 };
		struct opd_jit_codes codes = { 0 };
		struct opd_jitdump dump;
		struct dump_writer w;
		size_t at;

		dump_header(&w, 0);
		at = w.len;
		dump_bytes(&w, &prefix, sizeof(prefix));
		dump_bytes(&w, rows[i].words, 48);
		if (rows[i].size >= 16 && rows[i].size < 64)
			w.len = at + rows[i].size;
		dump_load(&w, 1, 0x3000, "z", "ZZZZ");
		begin_dump(&dump, &w);
		opd_jitdump_run(&dump, &codes, 1, MAX);
		assert_string_equal(name_at(&dump, &codes, 0x3000),
				    rows[i].ends ? "" : "z");
		/* And nothing of the record. */
		assert_int_equal(codes.nr + codes.nr_more, !rows[i].ends);
		assert_int_equal(dump.state.is_damaged,
				 rows[i].ends && rows[i].size < 16);
		opd_jitdump_close(&dump);
		opd_jit_codes_release(&codes);
		close(w.fd);
	}
}

/* Code that is larger than its record has no bytes. */
TEST(test_no_bytes)
{
	struct op_jitdump_load load = {
		.prefix = { OP_JITDUMP_LOAD, sizeof(load) + 2, 1 },
		.code_addr = 0x1000,
		.code_size = UINT32_MAX,
	};
	struct opd_jit_codes codes = { 0 };
	struct op_code_function function;
	struct opd_jitdump dump;
	struct dump_writer w;

	dump_header(&w, 0);
	dump_bytes(&w, &load, sizeof(load));
	dump_bytes(&w, "n", 2);
	begin_dump(&dump, &w);
	opd_jitdump_run(&dump, &codes, 1, MAX);
	assert_int_equal(opd_jitdump_read(&dump,
					  opd_jit_codes_find(&codes, 0x1000),
					  &function),
			 0);
	assert_string_equal(function.room, "n");
	assert_null(function.bytes);
	opd_jitdump_free_function(&function);
	opd_jitdump_close(&dump);
	opd_jit_codes_release(&codes);
	close(w.fd);
}

/* The load of a function with @size bytes, of which the file has zeros. */
static void dump_zeros(struct dump_writer *w, const char *name, uint32_t size)
{
	const struct op_jitdump_load load = {
		.prefix = { OP_JITDUMP_LOAD,
			    (uint32_t)(sizeof(load) + strlen(name) + 1 + size),
			    1 },
		.code_addr = 0x10000000,
		.code_size = size,
	};

	dump_bytes(w, &load, sizeof(load));
	dump_bytes(w, name, strlen(name) + 1);
	w->len += size;
	assert_int_equal(ftruncate(w->fd, (off_t)w->len), 0);
}

static struct op_code_function read_zeros(const char *name, uint32_t size)
{
	struct opd_jit_codes codes = { 0 };
	struct op_code_function function;
	struct opd_jitdump dump;
	struct dump_writer w;

	dump_header(&w, 0);
	dump_zeros(&w, name, size);
	begin_dump(&dump, &w);
	assert_int_equal(opd_jitdump_run(&dump, &codes, 1, MAX), 0);
	assert_int_equal(
		opd_jitdump_read(&dump, opd_jit_codes_find(&codes, 0x10000000),
				 &function),
		0);
	assert_int_equal(function.size, size);
	opd_jitdump_close(&dump);
	opd_jit_codes_release(&codes);
	close(w.fd);
	return function;
}

/* Longer functions have a name, but no bytes. */
TEST(test_longest_code)
{
	struct op_code_function function = read_zeros("f", 16u << 20);

	assert_non_null(function.bytes);
	assert_int_equal(function.bytes[(16u << 20) - 1], 0);
	opd_jitdump_free_function(&function);
	function = read_zeros("f", (16u << 20) + 1);
	assert_string_equal(function.room, "f");
	assert_null(function.bytes);
	opd_jitdump_free_function(&function);
}

/* Longer names are cut; who has one so long has no bytes. */
TEST(test_longest_name)
{
	static const struct {
		size_t len, kept;
		bool has_bytes;
	} rows[] = {
		{ 0, 0, true },	       { 1022, 1022, true },
		{ 1023, 1023, true },  { 1024, 1023, false },
		{ 5000, 1023, false },
	};
	char name[5001];

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct op_code_function function;

		memset(name, 'n', rows[i].len);
		name[rows[i].len] = '\0';
		function = read_zeros(name, 8);
		assert_int_equal(strlen(function.room), rows[i].kept);
		assert_int_equal(function.bytes != NULL, rows[i].has_bytes);
		opd_jitdump_free_function(&function);
	}
}

/* So many records are taken at a time. */
TEST(test_many_records)
{
	const size_t nr = 50000;
	struct op_jitdump_prefix *records = calloc(nr, sizeof(*records));
	struct opd_jit_codes codes = { 0 };
	struct opd_jitdump dump;
	struct dump_writer w;

	assert_non_null(records);
	for (size_t i = 0; i < nr; i++)
		records[i] =
			(struct op_jitdump_prefix){ OP_JITDUMP_CLOSE, 16, 1 };
	dump_header(&w, 0);
	dump_bytes(&w, records, nr * sizeof(*records));
	begin_dump(&dump, &w);
	assert_int_equal(opd_jitdump_run(&dump, &codes, 1, MAX), 0);
	opd_jitdump_close(&dump);
	dump_load(&w, 2, 0x1000, "a", "AAAA");
	begin_dump(&dump, &w);
	assert_int_equal(opd_jitdump_run(&dump, &codes, 2, MAX), -EAGAIN);
	assert_string_equal(name_at(&dump, &codes, 0x1000), "");
	assert_int_equal(dump.state.next_time, 2);
	assert_int_equal(opd_jitdump_run(&dump, &codes, 2, MAX), 0);
	assert_string_equal(name_at(&dump, &codes, 0x1000), "a");
	opd_jitdump_close(&dump);
	opd_jit_codes_release(&codes);
	close(w.fd);
	free(records);
}

/* Where no more code may be kept. */
TEST(test_most_codes)
{
	struct opd_jit_codes codes = { 0 };
	struct opd_jitdump dump;
	struct dump_writer w;

	dump_header(&w, 0);
	dump_load(&w, 1, 0x1000, "a", "AAAA");
	dump_load(&w, 1, 0x2000, "b", "BBBB");
	begin_dump(&dump, &w);
	assert_int_equal(opd_jitdump_run(&dump, &codes, 1, 1), -ENOSPC);
	assert_string_equal(name_at(&dump, &codes, 0x1000), "a");
	/* What found no room is passed over. */
	assert_int_equal(opd_jitdump_run(&dump, &codes, 1, MAX), 0);
	assert_string_equal(name_at(&dump, &codes, 0x2000), "");
	opd_jitdump_close(&dump);
	opd_jit_codes_release(&codes);
	close(w.fd);
}

/* Where code may be moved from, and to. */
TEST(test_moves)
{
	static const struct {
		uint64_t from, to;
		const char *old, *new;
	} rows[] = {
		{ 0x1000, 0x2000, "", "a" },
		{ 0x1001, 0x2000, "a", "" },
		{ 0x0fff, 0x2000, "a", "" },
		{ 0x1000, 0, "", "" },
		/* It would end beyond the last address. */
		{ 0x1000, UINT64_MAX - 2, "", "" },
		{ 0x1000, UINT64_MAX - 4, "", "a" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct opd_jit_codes codes = { 0 };
		struct opd_jitdump dump;
		struct dump_writer w;

		dump_header(&w, 0);
		dump_load(&w, 1, 0x1000, "a", "AAAA");
		dump_move(&w, 2, rows[i].from, rows[i].to, 4);
		begin_dump(&dump, &w);
		assert_int_equal(opd_jitdump_run(&dump, &codes, 2, MAX), 0);
		assert_string_equal(name_at(&dump, &codes, 0x1000),
				    rows[i].old);
		assert_string_equal(name_at(&dump, &codes, rows[i].to),
				    rows[i].new);
		opd_jitdump_close(&dump);
		opd_jit_codes_release(&codes);
		close(w.fd);
	}
}

/* Lines of other code, without a file, or in too long a record are none. */
TEST(test_lines)
{
	struct opd_jit_codes codes = { 0 };
	struct op_jitdump_lines lines = {
		.prefix = { OP_JITDUMP_LINES, 0, 1 },
		.code_addr = 0x1000,
		.nr = 5,
	};
	struct op_code_function function;
	struct opd_jitdump dump;
	struct dump_writer w;
	size_t at;

	dump_header(&w, 0);
	at = w.len;
	dump_bytes(&w, &lines, sizeof(lines));
	dump_line(&w, 0xfff, 1, "a.c");
	dump_line(&w, 0x1000, 2, "a.c");
	dump_line(&w, 0x1001, 3, "");
	dump_line(&w, 0x1003, 4, "b.c");
	dump_line(&w, 0x1004, 5, "b.c");
	lines.prefix.size = (uint32_t)(w.len - at);
	assert_int_equal(pwrite(w.fd, &lines, sizeof(lines), (off_t)at),
			 sizeof(lines));
	dump_load(&w, 1, 0x1000, "f", "CODE");
	/* These lines were for the first code behind them. */
	dump_load(&w, 1, 0x2000, "g", "CODE");
	begin_dump(&dump, &w);
	assert_int_equal(opd_jitdump_run(&dump, &codes, 1, MAX), 0);
	assert_int_equal(opd_jitdump_read(&dump,
					  opd_jit_codes_find(&codes, 0x1000),
					  &function),
			 0);
	assert_int_equal(function.nr_lines, 2);
	assert_int_equal(function.lines[0].offset, 0);
	assert_int_equal(function.lines[0].line, 2);
	assert_int_equal(function.lines[1].offset, 3);
	assert_int_equal(function.lines[1].line, 4);
	assert_string_equal(function.lines[1].file, "b.c");
	opd_jitdump_free_function(&function);
	assert_int_equal(opd_jitdump_read(&dump,
					  opd_jit_codes_find(&codes, 0x2000),
					  &function),
			 0);
	assert_int_equal(function.nr_lines, 0);
	opd_jitdump_free_function(&function);
	/* The record says that it is longer than is read. */
	lines.prefix.size = (1u << 20) + 1;
	assert_int_equal(pwrite(w.fd, &lines, sizeof(lines), (off_t)at),
			 sizeof(lines));
	assert_int_equal(opd_jitdump_read(&dump,
					  opd_jit_codes_find(&codes, 0x1000),
					  &function),
			 0);
	assert_int_equal(function.nr_lines, 0);
	assert_memory_equal(function.bytes, "CODE", 4);
	opd_jitdump_free_function(&function);
	opd_jitdump_close(&dump);
	opd_jit_codes_release(&codes);
	close(w.fd);
}

/* Of a dump without end so many records are read at a time, and so much of its
 * code is kept. */
TEST(test_endless_dump)
{
	const unsigned int nr = 120000, at_once = 50000;
	struct opd_jit_codes codes = { 0 };
	struct opd_jitdump dump;
	struct dump_writer w;

	dump_header(&w, 0);
	for (unsigned int i = nr; i--;)
		dump_load(&w, 1, 0x1000 + 16 * i, "a", "AAAA");
	begin_dump(&dump, &w);
	assert_int_equal(opd_jitdump_run(&dump, &codes, 1, nr), -EAGAIN);
	assert_int_equal(codes.nr + codes.nr_more, at_once);
	assert_int_equal(opd_jitdump_run(&dump, &codes, 1, nr), -EAGAIN);
	assert_int_equal(opd_jitdump_run(&dump, &codes, 1, nr), 0);
	assert_int_equal(codes.nr + codes.nr_more, nr);
	assert_string_equal(name_at(&dump, &codes, 0x1000), "a");
	opd_jitdump_close(&dump);
	opd_jit_codes_release(&codes);

	begin_dump(&dump, &w);
	assert_int_equal(opd_jitdump_run(&dump, &codes, 1, 1000), -ENOSPC);
	assert_int_equal(codes.nr + codes.nr_more, 1000);
	opd_jitdump_close(&dump);
	opd_jit_codes_release(&codes);
	close(w.fd);
}

/* ---- unwind data ------------------------------------------------------------
 */

/* clang-format off */
/*
 * An .eh_frame of x86-64 of 6 bytes of code at 0x1000: the CFA is rsp + 8, and
 * from 2 on rsp + 16. The second one has addresses relative to themselves, and
 * lies at 0x1008.
 */
static const uint8_t absolute[] = {
	20, 0, 0, 0, 0, 0, 0, 0, 1, 'z', 'R', 0, 1, 0x78, 16, 1, 0x00,
	0x0c, 7, 8, 0x90, 1, 0, 0,
	28, 0, 0, 0, 28, 0, 0, 0,
	0x00, 0x10, 0, 0, 0, 0, 0, 0, 6, 0, 0, 0, 0, 0, 0, 0, 0,
	0x42, 0x0e, 16, 0, 0, 0, 0,
	0, 0, 0, 0,
};
static const uint8_t relative[] = {
	20, 0, 0, 0, 0, 0, 0, 0, 1, 'z', 'R', 0, 1, 0x78, 16, 1, 0x1b,
	0x0c, 7, 8, 0x90, 1, 0, 0,
	20, 0, 0, 0, 28, 0, 0, 0,
	0x100 - 40, 0xff, 0xff, 0xff, 6, 0, 0, 0, 0,
	0x42, 0x0e, 16, 0, 0, 0, 0,
	0, 0, 0, 0,
};
/* clang-format on */

static void put_unwind(struct dump_writer *w,
		       const struct op_jitdump_unwind *head, const void *bytes,
		       size_t len)
{
	dump_bytes(w, head, sizeof(*head));
	dump_bytes(w, bytes, len);
}

/* Where the caller is, of a frame at @offset of the code: how many bytes its
 * stack pointer is above that of the frame. 0: not known. */
static uint64_t frame_at(const struct cfi_table *table, uint64_t offset)
{
	/* Return addresses are not 0. */
	static const uint8_t bytes[64] = { [0 ... 63] = 1 };
	const struct cfi_stack stack = { 0x7000, bytes, sizeof(bytes) };
	struct cfi_regs regs = {
		.reg = { [CFI_X86_64_RSP] = 0x7000 },
		.known = 1u << CFI_X86_64_RSP | 1u << CFI_X86_64_RIP,
	};

	if (cfi_unwind(table, offset, false, &regs, &stack) != CFI_CALLER)
		return 0;
	return regs.reg[CFI_X86_64_RSP] - 0x7000;
}

/* The code at @addr in a dump of an .eh_frame and code of 6 bytes at 0x1000,
 * which may be moved to 0x5000. */
static void check_frames(const void *frames, size_t len, bool is_moved)
{
	const struct op_jitdump_unwind head = {
		.prefix = { OP_JITDUMP_UNWIND, (uint32_t)(40 + len + 4), 1 },
		.size = len + 4,
		.header_size = 4,
	};
	struct opd_jit_frames tables = { 0 };
	struct opd_jit_codes codes = { 0 };
	const struct cfi_table *table;
	struct opd_jitdump dump;
	struct dump_writer w;

	dump_header(&w, 0);
	put_unwind(&w, &head, frames, len);
	dump_bytes(&w, "\1\33\3;", 4);
	dump_load(&w, 1, 0x1000, "a", "AAAAAA");
	dump_load(&w, 1, 0x2000, "b", "BBBBBB");
	if (is_moved)
		dump_move(&w, 1, 0x1000, 0x5000, 6);
	begin_dump(&dump, &w);
	dump.state.machine = EM_X86_64;
	opd_jitdump_run(&dump, &codes, 1, MAX);
	table = opd_jit_frames_find(
		&tables, &dump,
		opd_jit_codes_find(&codes, is_moved ? 0x5000 : 0x1000));
	assert_non_null(table);
	assert_int_equal(frame_at(table, 0), 8);
	assert_int_equal(frame_at(table, 1), 8);
	assert_int_equal(frame_at(table, 2), 16);
	assert_int_equal(frame_at(table, 5), 16);
	assert_int_equal(frame_at(table, 6), 0);
	/* Only the next code has them. */
	assert_null(opd_jit_frames_find(&tables, &dump,
					opd_jit_codes_find(&codes, 0x2000)));
	opd_jit_frames_release(&tables);
	opd_jitdump_close(&dump);
	opd_jit_codes_release(&codes);
	close(w.fd);
}

TEST(test_frames)
{
	check_frames(absolute, sizeof(absolute), false);
	check_frames(relative, sizeof(relative), false);
	check_frames(absolute, sizeof(absolute), true);
	check_frames(relative, sizeof(relative), true);
}

/* What cannot be an .eh_frame tells nothing, and its code has its name. */
TEST(test_mad_frames)
{
	static const struct {
		uint32_t record_size; /* 0: as it is */
		uint64_t size, header_size;
		uint16_t machine;
	} rows[] = {
		{ 0, sizeof(absolute) + 1, 0, EM_X86_64 },
		{ 0, UINT64_MAX, 0, EM_X86_64 },
		{ 0, sizeof(absolute), sizeof(absolute), EM_X86_64 },
		{ 0, sizeof(absolute), UINT64_MAX, EM_X86_64 },
		{ 0, 0, 0, EM_X86_64 },
		{ 39, 0, 0, EM_X86_64 },
		{ 0, sizeof(absolute), 0, EM_386 },
		{ 0, sizeof(absolute), 0, EM_NONE },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct op_jitdump_unwind head = {
			.prefix = { OP_JITDUMP_UNWIND,
				    rows[i].record_size
					    ?: 40 + sizeof(absolute),
				    1 },
			.size = rows[i].size,
			.header_size = rows[i].header_size,
		};
		struct opd_jit_frames tables = { 0 };
		struct opd_jit_codes codes = { 0 };
		struct opd_jitdump dump;
		struct dump_writer w;

		dump_header(&w, 0);
		put_unwind(&w, &head, absolute, sizeof(absolute));
		if (rows[i].record_size)
			w.len = sizeof(struct op_jitdump_header) +
				rows[i].record_size;
		dump_load(&w, 1, 0x1000, "a", "AAAAAA");
		begin_dump(&dump, &w);
		dump.state.machine = rows[i].machine;
		opd_jitdump_run(&dump, &codes, 1, MAX);
		assert_string_equal(name_at(&dump, &codes, 0x1000), "a");
		assert_null(opd_jit_frames_find(
			&tables, &dump, opd_jit_codes_find(&codes, 0x1000)));
		opd_jit_frames_release(&tables);
		opd_jitdump_close(&dump);
		opd_jit_codes_release(&codes);
		close(w.fd);
	}
}

#define NR_FRAMES (4 * OPD_JIT_FRAMES)

/* Of many tables few are kept, and all are right. */
TEST(test_many_frames)
{
	const struct op_jitdump_unwind head = {
		.prefix = { OP_JITDUMP_UNWIND, 40 + sizeof(relative), 1 },
		.size = sizeof(relative),
	};
	struct opd_jit_frames tables = { 0 };
	struct opd_jit_codes codes = { 0 };
	struct opd_jitdump dump;
	struct dump_writer w;

	dump_header(&w, 0);
	for (unsigned int i = 0; i < NR_FRAMES; i++) {
		put_unwind(&w, &head, relative, sizeof(relative));
		dump_load(&w, 1, 0x1000 + 16 * i, "a", "AAAAAA");
	}
	begin_dump(&dump, &w);
	dump.state.machine = EM_X86_64;
	opd_jitdump_run(&dump, &codes, 1, NR_FRAMES);
	for (unsigned int i = 0; i < 2 * NR_FRAMES; i++) {
		const struct cfi_table *table = opd_jit_frames_find(
			&tables, &dump,
			opd_jit_codes_find(&codes,
					   0x1000 + 16 * (i % NR_FRAMES)));

		assert_non_null(table);
		assert_int_equal(frame_at(table, 3), 16);
		assert_true(tables.bytes <= OPD_JIT_FRAMES_BYTES);
		assert_true(tables.bytes <=
			    OPD_JIT_FRAMES * cfi_table_bytes(table));
	}
	opd_jit_frames_release(&tables);
	assert_int_equal(tables.bytes, 0);
	opd_jitdump_close(&dump);
	opd_jit_codes_release(&codes);
	close(w.fd);
}
