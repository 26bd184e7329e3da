// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Jitdumps: what their records mean at which time, and what becomes of files
 * that are cut, or whose numbers are mad.
 */

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "daemon/source/opd_jit_image.h"
#include "daemon/source/opd_jitdump.h"
#include "libop/op_jitdump.h"

#define MAX 1000

/* A dump that is being written. */
struct writer {
	int fd;
	size_t len;
};

static void put_bytes(struct writer *w, const void *bytes, size_t len)
{
	assert_int_equal(pwrite(w->fd, bytes, len, (off_t)w->len), len);
	w->len += len;
}

static void put_header(struct writer *w, uint64_t flags)
{
	const struct op_jitdump_header header = {
		.magic = OP_JITDUMP_MAGIC,
		.version = OP_JITDUMP_VERSION,
		.size = sizeof(header),
		.machine = EM_386,
		.flags = flags,
	};

	w->fd = memfd_create("jitdump", MFD_CLOEXEC);
	assert_true(w->fd >= 0);
	w->len = 0;
	put_bytes(w, &header, sizeof(header));
}

static void put_load(struct writer *w, uint64_t time, uint64_t addr,
		     const char *name, const char *code)
{
	size_t name_len = strlen(name) + 1, code_len = strlen(code);
	const struct op_jitdump_load load = {
		.prefix = { OP_JITDUMP_LOAD,
			    (uint32_t)(sizeof(load) + name_len + code_len),
			    time },
		.vma = addr,
		.code_addr = addr,
		.code_size = code_len,
	};

	put_bytes(w, &load, sizeof(load));
	put_bytes(w, name, name_len);
	put_bytes(w, code, code_len);
}

static void put_move(struct writer *w, uint64_t time, uint64_t from,
		     uint64_t to, uint64_t size)
{
	const struct op_jitdump_move move = {
		.prefix = { OP_JITDUMP_MOVE, sizeof(move), time },
		.old_addr = from,
		.new_addr = to,
		.code_size = size,
	};

	put_bytes(w, &move, sizeof(move));
}

static void put_line(struct writer *w, uint64_t addr, uint32_t line,
		     const char *file)
{
	const uint32_t rest[2] = { line, 0 };

	put_bytes(w, &addr, sizeof(addr));
	put_bytes(w, rest, sizeof(rest));
	put_bytes(w, file, strlen(file) + 1);
}

/* Two lines of code at @addr, and one of other code. */
static void put_lines(struct writer *w, uint64_t time, uint64_t addr)
{
	const size_t at = w->len;
	struct op_jitdump_lines lines = {
		.prefix = { OP_JITDUMP_LINES, 0, time },
		.code_addr = addr,
		.nr = 3,
	};

	put_bytes(w, &lines, sizeof(lines));
	put_line(w, addr + 2, 11, "a.c");
	put_line(w, addr, 10, "\377");
	put_line(w, addr + 100, 12, "b.c");
	lines.prefix.size = (uint32_t)(w->len - at);
	assert_int_equal(pwrite(w->fd, &lines, sizeof(lines), (off_t)at),
			 sizeof(lines));
}

static void begin_dump(struct opd_jitdump *dump, const struct writer *w)
{
	assert_int_equal(opd_jitdump_open(dump, dup(w->fd)), 0);
}

/* The name of the code at @addr, "" for none. */
static const char *name_at(const struct opd_jitdump *dump,
			   struct opd_jit_codes *codes, uint64_t addr)
{
	static struct opd_jit_function function;
	const struct opd_jit_code *code = opd_jit_codes_find(codes, addr);

	if (!code || code->where == OPD_JIT_GONE)
		return "";
	assert_int_equal(opd_jitdump_read(dump, code, &function), 0);
	opd_jitdump_free_function(&function);
	return function.name;
}

static void test_times(void **state)
{
	struct opd_jit_codes codes = { 0 };
	struct opd_jitdump dump;
	struct writer w;

	(void)state;
	put_header(&w, 0);
	put_load(&w, 10, 0x1000, "a", "AAAA");
	put_load(&w, 20, 0x1002, "b", "BBBB");
	put_move(&w, 30, 0x1002, 0x2000, 4);
	put_move(&w, 40, 0x2000, 0, 4);
	begin_dump(&dump, &w);
	assert_int_equal(opd_jitdump_run(&dump, &codes, 9, MAX), 0);
	assert_string_equal(name_at(&dump, &codes, 0x1003), "");
	assert_int_equal(dump.next_time, 10);
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
	assert_int_equal(dump.next_time, UINT64_MAX);
	/* What is added is seen. */
	put_load(&w, 50, 0x2000, "c", "CC");
	opd_jitdump_run(&dump, &codes, 60, MAX);
	assert_string_equal(name_at(&dump, &codes, 0x2001), "c");
	opd_jitdump_close(&dump);
	opd_jit_codes_release(&codes);
	close(w.fd);
}

/* Times of the CPU cannot be compared: all that is there is true. */
static void test_cpu_times(void **state)
{
	struct opd_jit_codes codes = { 0 };
	struct opd_jitdump dump;
	struct writer w;

	(void)state;
	put_header(&w, OP_JITDUMP_CPU_TIME);
	put_load(&w, 1000, 0x1000, "a", "AAAA");
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
	struct opd_jit_function function;
	const struct opd_jit_code *code = opd_jit_codes_find(codes, 0x1000);

	assert_non_null(code);
	assert_int_equal(opd_jitdump_read(dump, code, &function), 0);
	assert_string_equal(function.name, "f?");
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
static void test_function(void **state)
{
	(void)state;
	for (int behind = 0; behind < 2; behind++) {
		struct opd_jit_codes codes = { 0 };
		struct opd_jitdump dump;
		struct writer w;

		put_header(&w, 0);
		if (!behind)
			put_lines(&w, 1, 0x1000);
		put_load(&w, 1, 0x1000, "f\033", "CODE");
		if (behind)
			put_lines(&w, 1, 0x1000);
		begin_dump(&dump, &w);
		assert_int_equal(dump.machine, EM_386);
		opd_jitdump_run(&dump, &codes, 1, MAX);
		check_function(&dump, &codes);
		opd_jitdump_close(&dump);
		opd_jit_codes_release(&codes);
		close(w.fd);
	}
}

static void test_no_dump(void **state)
{
	static const struct op_jitdump_header bad[] = {
		{ .magic = 0x4454694a, .version = 1, .size = 40 },
		{ .magic = OP_JITDUMP_MAGIC, .version = 2, .size = 40 },
		{ .magic = OP_JITDUMP_MAGIC, .version = 1, .size = 39 },
	};
	struct opd_jitdump dump;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct writer w = { memfd_create("x", MFD_CLOEXEC), 0 };

		assert_int_equal(opd_jitdump_open(&dump, dup(w.fd)), -EPROTO);
		put_bytes(&w, &bad[i], sizeof(bad[i]));
		assert_int_equal(opd_jitdump_open(&dump, w.fd), -EPROTO);
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
static void test_cut(void **state)
{
	struct writer w;
	size_t first;

	(void)state;
	put_header(&w, 0);
	put_load(&w, 1, 0x1000, "a", "AAAA");
	first = w.len;
	put_lines(&w, 1, 0x2000);
	put_load(&w, 1, 0x2000, "b", "BBBB");
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
static void test_changed(void **state)
{
	struct opd_jit_codes codes = { 0 };
	struct opd_jit_function function;
	const struct opd_jit_code *code;
	struct opd_jitdump dump;
	struct writer w;
	size_t at;

	(void)state;
	put_header(&w, 0);
	at = w.len;
	put_load(&w, 1, 0x1000, "a", "AAAA");
	begin_dump(&dump, &w);
	opd_jitdump_run(&dump, &codes, 1, MAX);
	code = opd_jit_codes_find(&codes, 0x1000);
	assert_int_equal(ftruncate(w.fd, (off_t)w.len - 1), 0);
	assert_int_equal(opd_jitdump_read(&dump, code, &function), -ESTALE);
	opd_jitdump_free_function(&function);
	w.len = at;
	put_load(&w, 1, 0x1000, "a", "AAAAA");
	assert_int_equal(opd_jitdump_read(&dump, code, &function), -ESTALE);
	opd_jitdump_free_function(&function);
	opd_jitdump_close(&dump);
	opd_jit_codes_release(&codes);
	close(w.fd);
}

/* Records whose numbers are mad: code "z" behind them is found, unless the
 * length makes no sense. */
static void test_mad_numbers(void **state)
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

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct op_jitdump_prefix prefix = { rows[i].id,
							  rows[i].size, 0 };
		struct opd_jit_codes codes = { 0 };
		struct opd_jitdump dump;
		struct writer w;
		size_t at;

		put_header(&w, 0);
		at = w.len;
		put_bytes(&w, &prefix, sizeof(prefix));
		put_bytes(&w, rows[i].words, 48);
		if (rows[i].size >= 16 && rows[i].size < 64)
			w.len = at + rows[i].size;
		put_load(&w, 1, 0x3000, "z", "ZZZZ");
		begin_dump(&dump, &w);
		opd_jitdump_run(&dump, &codes, 1, MAX);
		assert_string_equal(name_at(&dump, &codes, 0x3000),
				    rows[i].ends ? "" : "z");
		opd_jitdump_close(&dump);
		opd_jit_codes_release(&codes);
		close(w.fd);
	}
}

/* Code that is larger than its record has no bytes. */
static void test_no_bytes(void **state)
{
	struct op_jitdump_load load = {
		.prefix = { OP_JITDUMP_LOAD, sizeof(load) + 2, 1 },
		.code_addr = 0x1000,
		.code_size = UINT32_MAX,
	};
	struct opd_jit_codes codes = { 0 };
	struct opd_jit_function function;
	struct opd_jitdump dump;
	struct writer w;

	(void)state;
	put_header(&w, 0);
	put_bytes(&w, &load, sizeof(load));
	put_bytes(&w, "n", 2);
	begin_dump(&dump, &w);
	opd_jitdump_run(&dump, &codes, 1, MAX);
	assert_int_equal(opd_jitdump_read(&dump,
					  opd_jit_codes_find(&codes, 0x1000),
					  &function),
			 0);
	assert_string_equal(function.name, "n");
	assert_null(function.bytes);
	opd_jitdump_free_function(&function);
	opd_jitdump_close(&dump);
	opd_jit_codes_release(&codes);
	close(w.fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_times),
		cmocka_unit_test(test_cpu_times),
		cmocka_unit_test(test_function),
		cmocka_unit_test(test_no_dump),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_changed),
		cmocka_unit_test(test_mad_numbers),
		cmocka_unit_test(test_no_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
