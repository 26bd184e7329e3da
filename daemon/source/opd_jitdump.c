// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Records are read through a window of the file, of which only the heads of
 * records are looked at; code, which is most of a dump, is passed over. The
 * code of functions with samples is read when they have the first one.
 *
 * A record that is not whole yet is waited for. A length that no record can
 * have means that nothing behind it makes sense, so reading ends there.
 */

#include "daemon/source/opd_jitdump.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libop/op_code_image.h"
#include "libcfi/cfi.h"
#include "libop/op_array.h"
#include "libop/op_file.h"
#include "libop/op_jitdump.h"
#include "libop/op_perf_map.h"

#define WINDOW (64u << 10)
#define MAX_CODE_BYTES (16u << 20) /* of a function; longer ones have none */
#define MAX_LINES_BYTES (1u << 20) /* likewise */
#define MAX_FRAMES_BYTES (64u << 10) /* likewise: of unwind data */

bool opd_jitdump_is_name(const char *name)
{
	const char *base = strrchr(name, '/');
	size_t digits;

	if (*name != '/' || strncmp(base, "/jit-", 5))
		return false;
	digits = strspn(base + 5, "0123456789");
	return digits && !strcmp(base + 5 + digits, ".dump");
}

int opd_jitdump_open(struct opd_jitdump *dump, int fd)
{
	struct op_jitdump_header header;
	int err = fd < 0 ? -EBADF
			 : op_file_read_at(fd, &header, sizeof(header), 0);

	memset(dump, 0, sizeof(*dump));
	dump->fd = -1;
	if (!err && (header.magic != OP_JITDUMP_MAGIC ||
		     header.version != OP_JITDUMP_VERSION ||
		     header.size < sizeof(header)))
		err = -EPROTO;
	if (!err) {
		dump->window = malloc(WINDOW);
		err = dump->window ? 0 : -ENOMEM;
	}
	if (err) {
		if (fd >= 0)
			close(fd);
		return err == -EBADMSG ? -EPROTO : err;
	}
	dump->fd = fd;
	dump->at = header.size;
	dump->most = OPD_JITDUMP_AT_ONCE;
	dump->machine = (uint16_t)header.machine;
	dump->has_times = !(header.flags & OP_JITDUMP_CPU_TIME);
	return 0;
}

void opd_jitdump_close(struct opd_jitdump *dump)
{
	if (dump->fd >= 0)
		close(dump->fd);
	free(dump->window);
	memset(dump, 0, sizeof(*dump));
	dump->fd = -1;
}

/* ---- records ----------------------------------------------------------------
 */

/* The next @len bytes of the file, or NULL if it has fewer. */
static const uint8_t *look_at_record(struct opd_jitdump *dump, size_t len)
{
	uint64_t skip = dump->at - dump->window_at;
	ssize_t got;

	if (dump->at >= dump->window_at && skip <= dump->window_len &&
	    len <= dump->window_len - skip)
		return dump->window + skip;
	dump->window_len = 0;
	dump->window_at = dump->at;
	got = pread(dump->fd, dump->window, WINDOW, (off_t)dump->at);
	if (got < 0 || (size_t)got < len)
		return NULL;
	dump->window_len = (size_t)got;
	return dump->window;
}

/* Take the prefix of the next record if that is whole. */
static bool next_record(struct opd_jitdump *dump,
			struct op_jitdump_prefix *prefix)
{
	const uint8_t *bytes = look_at_record(dump, sizeof(*prefix));
	struct stat st;

	if (!bytes)
		return false;
	memcpy(prefix, bytes, sizeof(*prefix));
	if (prefix->size < sizeof(*prefix) ||
	    dump->at > (uint64_t)INT64_MAX - prefix->size) {
		dump->is_damaged = true;
		return false;
	}
	if (dump->at + prefix->size <= dump->window_at + dump->window_len)
		return true;
	return !fstat(dump->fd, &st) &&
	       dump->at + prefix->size <= (uint64_t)st.st_size;
}

static bool is_range(uint64_t start, uint64_t size)
{
	return size && size <= UINT32_MAX && start <= UINT64_MAX - size;
}

static int take_load(struct opd_jitdump *dump, struct opd_jit_codes *codes,
		     size_t max)
{
	const uint8_t *bytes =
		look_at_record(dump, sizeof(struct op_jitdump_load));
	struct op_jitdump_load load;
	struct opd_jit_code code;

	if (!bytes)
		return 0;
	memcpy(&load, bytes, sizeof(load));
	if (!is_range(load.code_addr, load.code_size))
		return 0;
	code = (struct opd_jit_code){ .start = load.code_addr,
				      .size = (uint32_t)load.code_size,
				      .where = dump->at };
	if (dump->lines_addr == load.code_addr)
		code.lines = dump->lines_at;
	code.frames = dump->frames_at;
	dump->lines_at = dump->frames_at = 0;
	return opd_jit_codes_add(codes, &code, max);
}

static int take_move(struct opd_jitdump *dump, struct opd_jit_codes *codes,
		     size_t max)
{
	const uint8_t *bytes =
		look_at_record(dump, sizeof(struct op_jitdump_move));
	const struct opd_jit_code *found;
	struct opd_jit_code old, code;
	struct op_jitdump_move move;
	int err;

	if (!bytes)
		return 0;
	memcpy(&move, bytes, sizeof(move));
	found = opd_jit_codes_find(codes, move.old_addr);
	if (!found || found->start != move.old_addr ||
	    found->where == OPD_JIT_GONE)
		return 0;
	code = old = *found;
	old.where = OPD_JIT_GONE;
	err = opd_jit_codes_add(codes, &old, max);
	/* Code that is freed is moved to 0, where no code is. */
	if (err || !move.new_addr || !is_range(move.new_addr, code.size))
		return err;
	code.start = move.new_addr;
	return opd_jit_codes_add(codes, &code, max);
}

/*
 * Lines come before their code; but who writes by libopagent may tell them
 * behind it. Older code at the address has had its samples by now.
 */
static void take_lines(struct opd_jitdump *dump, struct opd_jit_codes *codes)
{
	const uint8_t *bytes =
		look_at_record(dump, sizeof(struct op_jitdump_lines));
	struct op_jitdump_lines lines;
	struct opd_jit_code *code;

	if (!bytes)
		return;
	memcpy(&lines, bytes, sizeof(lines));
	dump->lines_addr = lines.code_addr;
	dump->lines_at = dump->at;
	code = opd_jit_codes_find(codes, lines.code_addr);
	if (code && code->start == lines.code_addr)
		code->lines = dump->at;
}

static int take_dump_record(struct opd_jitdump *dump,
			    const struct op_jitdump_prefix *prefix,
			    struct opd_jit_codes *codes, size_t max)
{
	switch (prefix->id) {
	case OP_JITDUMP_LOAD:
		if (prefix->size > sizeof(struct op_jitdump_load))
			return take_load(dump, codes, max);
		break;
	case OP_JITDUMP_MOVE:
		if (prefix->size >= sizeof(struct op_jitdump_move))
			return take_move(dump, codes, max);
		break;
	case OP_JITDUMP_LINES:
		if (prefix->size >= sizeof(struct op_jitdump_lines))
			take_lines(dump, codes);
		break;
	case OP_JITDUMP_UNWIND:
		dump->frames_at = dump->at;
		break;
	}
	return 0;
}

int opd_jitdump_run(struct opd_jitdump *dump, struct opd_jit_codes *codes,
		    uint64_t until, size_t max)
{
	struct op_jitdump_prefix prefix;
	int err = 0;

	dump->nr_taken = 0;
	if (dump->fd < 0 || dump->is_damaged)
		return 0;
	for (; !err && next_record(dump, &prefix); dump->nr_taken++) {
		dump->next_time = dump->has_times ? prefix.time : 0;
		if (dump->next_time > until)
			return 0;
		if (dump->nr_taken == dump->most)
			return -EAGAIN;
		err = take_dump_record(dump, &prefix, codes, max);
		dump->at += prefix.size;
	}
	dump->next_time = UINT64_MAX;
	return err;
}

/* ---- functions --------------------------------------------------------------
 */

static int read_function_bytes(const struct opd_jitdump *dump, uint64_t at,
			       struct op_code_function *function)
{
	uint8_t *bytes;
	int err;

	if (function->size > MAX_CODE_BYTES)
		return 0;
	bytes = malloc(function->size);
	if (!bytes)
		return -ENOMEM;
	err = op_file_read_at(dump->fd, bytes, function->size, at);
	if (!err) {
		function->bytes = bytes;
		return 0;
	}
	free(bytes);
	return -ESTALE;
}

static int take_function_lines(const uint8_t *bytes, size_t len,
			       const struct opd_jit_code *code,
			       struct op_code_function *function)
{
	struct op_cursor c = op_cursor(bytes, len);
	struct op_jitdump_line line = { 0 };
	struct op_code_line *lines = NULL;
	size_t nr = 0;
	int err = 0;

	while (!err && op_jitdump_next_line(&c, &line)) {
		if (line.addr < code->start ||
		    line.addr - code->start >= code->size || !*line.file)
			continue;
		err = op_array_reserve(&lines, nr, 1);
		if (!err)
			lines[nr++] = (struct op_code_line){
				.offset = (uint32_t)(line.addr - code->start),
				.line = line.line,
				.file = line.file,
			};
	}
	function->lines = lines;
	function->nr_lines = nr;
	return err;
}

/* The names of files stay in the record, which the function keeps. */
static int read_function_lines(const struct opd_jitdump *dump,
			       const struct opd_jit_code *code,
			       struct op_code_function *function)
{
	struct op_jitdump_lines head;
	uint8_t *bytes;
	size_t len;

	if (op_file_read_at(dump->fd, &head, sizeof(head), code->lines) ||
	    head.prefix.id != OP_JITDUMP_LINES ||
	    head.prefix.size <= sizeof(head) ||
	    head.prefix.size > MAX_LINES_BYTES)
		return 0;
	len = head.prefix.size - sizeof(head);
	bytes = malloc(len);
	if (!bytes)
		return -ENOMEM;
	function->lines_record = bytes;
	if (op_file_read_at(dump->fd, bytes, len, code->lines + sizeof(head)))
		return 0;
	return take_function_lines(bytes, len, code, function);
}

int opd_jitdump_read(const struct opd_jitdump *dump,
		     const struct opd_jit_code *code,
		     struct op_code_function *function)
{
	char text[sizeof(struct op_jitdump_load) + OP_CODE_NAME_MAX];
	struct op_jitdump_load load;
	uint64_t name_len, rest;
	ssize_t len = pread(dump->fd, text, sizeof(text), (off_t)code->where);
	int err = 0;

	memset(function, 0, sizeof(*function));
	if (len <= (ssize_t)sizeof(load))
		return -ESTALE;
	memcpy(&load, text, sizeof(load));
	if (load.prefix.id != OP_JITDUMP_LOAD || load.code_size != code->size ||
	    load.prefix.size <= sizeof(load))
		return -ESTALE;
	name_len = strnlen(text + sizeof(load), (size_t)len - sizeof(load));
	op_perf_map_copy_name(function->room, sizeof(function->room),
			      text + sizeof(load), name_len);
	function->size = code->size;
	rest = load.prefix.size - sizeof(load);
	/* A name that is longer than is kept has its code further behind. */
	if (name_len < (size_t)len - sizeof(load) && name_len + 1 <= rest &&
	    rest - name_len - 1 >= code->size)
		err = read_function_bytes(
			dump, code->where + sizeof(load) + name_len + 1,
			function);
	if (!err && code->lines)
		err = read_function_lines(dump, code, function);
	return err;
}

/* ---- unwind data ------------------------------------------------------------
 */

static bool take_arch(const struct opd_jitdump *dump, struct cfi_code *code)
{
	switch (dump->machine) {
	case EM_X86_64:
		code->arch = CFI_X86_64;
		return true;
	case EM_AARCH64:
		code->arch = CFI_AARCH64;
		return true;
	}
	return false;
}

/* Whether the record at @at is one of unwind data that may be read; *@len
 * becomes the length of its .eh_frame. */
static bool has_frames(const struct opd_jitdump *dump, uint64_t at, size_t *len)
{
	struct op_jitdump_unwind head;

	if (op_file_read_at(dump->fd, &head, sizeof(head), at) ||
	    head.prefix.id != OP_JITDUMP_UNWIND ||
	    head.prefix.size < sizeof(head) ||
	    head.size > head.prefix.size - sizeof(head) ||
	    head.header_size >= head.size ||
	    head.size - head.header_size > MAX_FRAMES_BYTES)
		return false;
	*len = head.size - head.header_size;
	return true;
}

/*
 * Addresses in the frames are relative to where they would lie, or those of the
 * code when it was told, which it may have left since.
 */
int opd_jitdump_read_frames(const struct opd_jitdump *dump,
			    const struct opd_jit_code *code,
			    struct cfi_table **out)
{
	struct cfi_code from = { .len = code->size };
	struct op_jitdump_load load;
	uint8_t *bytes;
	int err;

	if (!code->frames || code->size > MAX_CODE_BYTES ||
	    !take_arch(dump, &from) ||
	    !has_frames(dump, code->frames, &from.frames_len) ||
	    op_file_read_at(dump->fd, &load, sizeof(load), code->where) ||
	    load.prefix.id != OP_JITDUMP_LOAD ||
	    !is_range(load.code_addr, from.len))
		return -ENOENT;
	bytes = malloc(from.frames_len);
	if (!bytes)
		return -ENOMEM;
	from.addr = load.code_addr;
	from.frames_addr = from.addr + (from.len + OP_JITDUMP_FRAMES_ALIGN -
					1) / OP_JITDUMP_FRAMES_ALIGN *
					       OP_JITDUMP_FRAMES_ALIGN;
	from.frames = bytes;
	err = op_file_read_at(dump->fd, bytes, from.frames_len,
			      code->frames + sizeof(struct op_jitdump_unwind));
	err = err ? -ENOENT : cfi_table_of_code(out, &from);
	free(bytes);
	return err;
}

void opd_jitdump_free_function(struct op_code_function *function)
{
	free((void *)function->bytes);
	free((void *)function->lines);
	free(function->lines_record);
}
