/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TESTS_UNIT_JITDUMP_WRITER_H
#define TESTS_UNIT_JITDUMP_WRITER_H

/* Jitdumps, written record by record as libop/image/op_jitdump.h has them. */

#include <elf.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "libop/image/op_jitdump.h"
#include "tests/unit/test.h"

/* A dump that is being written. */
struct dump_writer {
	int fd;
	size_t len;
};

__attribute__((unused)) static void dump_bytes(struct dump_writer *w,
					       const void *bytes, size_t len)
{
	assert_int_equal(pwrite(w->fd, bytes, len, (off_t)w->len), len);
	w->len += len;
}

__attribute__((unused)) static void dump_header_to(struct dump_writer *w,
						   int fd, uint64_t flags)
{
	const struct op_jitdump_header header = {
		.magic = OP_JITDUMP_MAGIC,
		.version = OP_JITDUMP_VERSION,
		.size = sizeof(header),
		.machine = EM_386,
		.flags = flags,
	};

	assert_true(fd >= 0);
	w->fd = fd;
	w->len = 0;
	dump_bytes(w, &header, sizeof(header));
}

/* One that has no name. */
__attribute__((unused)) static void dump_header(struct dump_writer *w,
						uint64_t flags)
{
	dump_header_to(w, memfd_create("jitdump", MFD_CLOEXEC), flags);
}

__attribute__((unused)) static void dump_load(struct dump_writer *w,
					      uint64_t time, uint64_t addr,
					      const char *name,
					      const char *code)
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

	dump_bytes(w, &load, sizeof(load));
	dump_bytes(w, name, name_len);
	dump_bytes(w, code, code_len);
}

__attribute__((unused)) static void dump_move(struct dump_writer *w,
					      uint64_t time, uint64_t from,
					      uint64_t to, uint64_t size)
{
	const struct op_jitdump_move move = {
		.prefix = { OP_JITDUMP_MOVE, sizeof(move), time },
		.old_addr = from,
		.new_addr = to,
		.code_size = size,
	};

	dump_bytes(w, &move, sizeof(move));
}

__attribute__((unused)) static void
dump_line(struct dump_writer *w, uint64_t addr, uint32_t line, const char *file)
{
	const uint32_t rest[2] = { line, 0 };

	dump_bytes(w, &addr, sizeof(addr));
	dump_bytes(w, rest, sizeof(rest));
	dump_bytes(w, file, strlen(file) + 1);
}

/* Two lines of code at @addr, and one of other code. */
__attribute__((unused)) static void dump_lines(struct dump_writer *w,
					       uint64_t time, uint64_t addr)
{
	const size_t at = w->len;
	struct op_jitdump_lines lines = {
		.prefix = { OP_JITDUMP_LINES, 0, time },
		.code_addr = addr,
		.nr = 3,
	};

	dump_bytes(w, &lines, sizeof(lines));
	dump_line(w, addr + 2, 11, "a.c");
	dump_line(w, addr, 10, "\377");
	dump_line(w, addr + 100, 12, "b.c");
	lines.prefix.size = (uint32_t)(w->len - at);
	assert_int_equal(pwrite(w->fd, &lines, sizeof(lines), (off_t)at),
			 sizeof(lines));
}

#endif /* TESTS_UNIT_JITDUMP_WRITER_H */
