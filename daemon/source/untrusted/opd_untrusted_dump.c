// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reading jitdumps: see opd_untrusted_read.h. Records are read through a window
 * of the file, of which only the heads of records are looked at; code, which is
 * most of a dump, is passed over. The code of functions with samples is read
 * when they have the first one.
 *
 * A record that is not whole yet is waited for. A length that no record can
 * have means that nothing behind it makes sense, so reading ends there.
 */

#include <elf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/source/untrusted/opd_untrusted.h"
#include "daemon/source/untrusted/opd_untrusted_read.h"
#include "libcfi/cfi.h"
#include "libop/session/op_code_image.h"
#include "libop/files/op_file.h"
#include "libop/image/op_jitdump.h"
#include "libop/image/op_perf_map.h"

#define WINDOW (64u << 10)
#define MAX_EVENTS (OPD_UNTRUSTED_ROOM / sizeof(struct opd_jit_event))
#define MAX_CODE_BYTES (16u << 20) /* of a function; longer ones have none */
#define MAX_LINES_BYTES (1u << 20) /* likewise */
#define MAX_FRAMES_BYTES (64u << 10) /* likewise: of unwind data */

/* A dump that is being read. */
struct dump_reading {
	int fd;
	struct opd_jitdump_state *state;
	struct opd_jit_event *events; /* in the room */
	uint64_t nr;
	uint8_t *window; /* bytes of the file */
	uint64_t window_at;
	size_t window_len;
};

void opd_untrusted_read_dump(int fd, struct opd_untrusted_call *call)
{
	struct op_jitdump_header header;
	int err = op_file_read_at(fd, &header, sizeof(header), 0);

	if (!err && (header.magic != OP_JITDUMP_MAGIC ||
		     header.version != OP_JITDUMP_VERSION ||
		     header.size < sizeof(header)))
		err = -EPROTO;
	call->err = err == -EBADMSG ? -EPROTO : err;
	if (err)
		return;
	call->dump.at = header.size;
	call->dump.machine = (uint16_t)header.machine;
	call->dump.has_times = !(header.flags & OP_JITDUMP_CPU_TIME);
}

/* ---- records ----------------------------------------------------------------
 */

/* The next @len bytes of the file, or NULL if it has fewer. */
static const uint8_t *look_at_record(struct dump_reading *dump, size_t len)
{
	uint64_t skip = dump->state->at - dump->window_at;
	ssize_t got;

	if (dump->state->at >= dump->window_at && skip <= dump->window_len &&
	    len <= dump->window_len - skip)
		return dump->window + skip;
	dump->window_len = 0;
	dump->window_at = dump->state->at;
	got = pread(dump->fd, dump->window, WINDOW, (off_t)dump->state->at);
	if (got < 0 || (size_t)got < len)
		return NULL;
	dump->window_len = (size_t)got;
	return dump->window;
}

/* Take the prefix of the next record if that is whole. */
static bool next_record(struct dump_reading *dump,
			struct op_jitdump_prefix *prefix)
{
	const uint8_t *bytes = look_at_record(dump, sizeof(*prefix));
	struct stat st;

	if (!bytes)
		return false;
	memcpy(prefix, bytes, sizeof(*prefix));
	if (prefix->size < sizeof(*prefix) ||
	    dump->state->at > (uint64_t)INT64_MAX - prefix->size) {
		dump->state->is_damaged = 1;
		return false;
	}
	if (dump->state->at + prefix->size <=
	    dump->window_at + dump->window_len)
		return true;
	return !fstat(dump->fd, &st) &&
	       dump->state->at + prefix->size <= (uint64_t)st.st_size;
}

static bool is_range(uint64_t start, uint64_t size)
{
	return size && size <= UINT32_MAX && start <= UINT64_MAX - size;
}

static void put_event(struct dump_reading *dump, int what,
		      const struct opd_jit_code *code)
{
	dump->events[dump->nr++] =
		(struct opd_jit_event){ .what = what, .code = *code };
}

static void parse_load_record(struct dump_reading *dump)
{
	struct opd_jitdump_state *state = dump->state;
	const uint8_t *bytes =
		look_at_record(dump, sizeof(struct op_jitdump_load));
	struct op_jitdump_load load;
	struct opd_jit_code code;

	if (!bytes)
		return;
	memcpy(&load, bytes, sizeof(load));
	if (!is_range(load.code_addr, load.code_size))
		return;
	code = (struct opd_jit_code){ .start = load.code_addr,
				      .size = (uint32_t)load.code_size,
				      .where = state->at };
	if (state->lines_addr == load.code_addr)
		code.lines = state->lines_at;
	code.frames = state->frames_at;
	state->lines_at = state->frames_at = 0;
	put_event(dump, OPD_JIT_LOADED, &code);
}

static void parse_move_record(struct dump_reading *dump)
{
	const uint8_t *bytes =
		look_at_record(dump, sizeof(struct op_jitdump_move));
	struct op_jitdump_move move;

	if (!bytes)
		return;
	memcpy(&move, bytes, sizeof(move));
	put_event(dump, OPD_JIT_MOVED,
		  &(struct opd_jit_code){ .start = move.old_addr,
					  .where = move.new_addr });
}

/* Lines come before their code; but who writes by libopagent may tell them
 * behind it. */
static void parse_lines_record(struct dump_reading *dump)
{
	const uint8_t *bytes =
		look_at_record(dump, sizeof(struct op_jitdump_lines));
	struct op_jitdump_lines lines;

	if (!bytes)
		return;
	memcpy(&lines, bytes, sizeof(lines));
	dump->state->lines_addr = lines.code_addr;
	dump->state->lines_at = dump->state->at;
	put_event(dump, OPD_JIT_HAS_LINES,
		  &(struct opd_jit_code){ .start = lines.code_addr,
					  .lines = dump->state->at });
}

static void parse_dump_record(struct dump_reading *dump,
			      const struct op_jitdump_prefix *prefix)
{
	switch (prefix->id) {
	case OP_JITDUMP_LOAD:
		if (prefix->size > sizeof(struct op_jitdump_load))
			parse_load_record(dump);
		break;
	case OP_JITDUMP_MOVE:
		if (prefix->size >= sizeof(struct op_jitdump_move))
			parse_move_record(dump);
		break;
	case OP_JITDUMP_LINES:
		if (prefix->size >= sizeof(struct op_jitdump_lines))
			parse_lines_record(dump);
		break;
	case OP_JITDUMP_UNWIND:
		dump->state->frames_at = dump->state->at;
		break;
	}
}

/* Returns 0 when all that there is was taken up to @until, or -EAGAIN. */
static int parse_dump_records(struct dump_reading *dump, uint64_t until,
			      uint64_t most)
{
	struct opd_jitdump_state *state = dump->state;
	struct op_jitdump_prefix prefix;

	for (; next_record(dump, &prefix); state->nr_taken++) {
		state->next_time = state->has_times ? prefix.time : 0;
		if (state->next_time > until)
			return 0;
		if (state->nr_taken >= most || dump->nr == MAX_EVENTS)
			return -EAGAIN;
		parse_dump_record(dump, &prefix);
		state->at += prefix.size;
	}
	state->next_time = UINT64_MAX;
	return 0;
}

void opd_untrusted_read_records(int fd, struct opd_untrusted_call *call,
				void *room)
{
	struct dump_reading dump = { .fd = fd,
				     .state = &call->dump,
				     .events = room,
				     .window = malloc(WINDOW) };

	call->dump.nr_taken = 0;
	call->err = dump.window
			    ? parse_dump_records(&dump, call->until, call->most)
			    : -ENOMEM;
	call->nr = dump.nr;
	free(dump.window);
}

/* ---- functions --------------------------------------------------------------
 */

/* The lines of the record of @len bytes at @bytes, behind it. */
static void put_function_lines(struct opd_untrusted_call *call,
			       const uint8_t *bytes, size_t len,
			       struct opd_untrusted_line *out, size_t most)
{
	const struct opd_jit_code *code = &call->code;
	struct op_cursor c = op_cursor(bytes, len);
	struct op_jitdump_line line = { 0 };

	while (call->function.nr_lines < most &&
	       op_jitdump_next_line(&c, &line)) {
		if (line.addr < code->start ||
		    line.addr - code->start >= code->size || !*line.file)
			continue;
		out[call->function.nr_lines++] = (struct opd_untrusted_line){
			.offset = (uint32_t)(line.addr - code->start),
			.line = line.line,
			.file = (uint32_t)((const uint8_t *)line.file - bytes),
		};
	}
}

static void read_function_lines(int fd, struct opd_untrusted_call *call,
				uint8_t *room, size_t at)
{
	struct op_jitdump_lines head;
	size_t len, lines_at;

	if (op_file_read_at(fd, &head, sizeof(head), call->code.lines) ||
	    head.prefix.id != OP_JITDUMP_LINES ||
	    head.prefix.size <= sizeof(head) ||
	    head.prefix.size > MAX_LINES_BYTES)
		return;
	len = head.prefix.size - sizeof(head);
	if (op_file_read_at(fd, room + at, len,
			    call->code.lines + sizeof(head)))
		return;
	call->function.lines_len = len;
	lines_at = (at + len + 7) / 8 * 8;
	put_function_lines(call, room + at, len, (void *)(room + lines_at),
			   (OPD_UNTRUSTED_ROOM - lines_at) /
				   sizeof(struct opd_untrusted_line));
}

/* The code is behind the name: where that is longer than is kept, and does not
 * end in what was read, it is not looked for. */
static bool read_function_code(int fd, struct opd_untrusted_call *call,
			       const struct op_jitdump_load *load,
			       size_t name_len, size_t read_len, uint8_t *room)
{
	uint64_t rest = load->prefix.size - sizeof(*load);

	if (call->code.size > MAX_CODE_BYTES || name_len >= read_len ||
	    name_len + 1 > rest || rest - name_len - 1 < call->code.size)
		return true;
	if (op_file_read_at(fd, room + OP_CODE_NAME_MAX, call->code.size,
			    call->code.where + sizeof(*load) + name_len + 1))
		return false;
	call->function.has_bytes = 1;
	return true;
}

void opd_untrusted_read_function(int fd, struct opd_untrusted_call *call,
				 void *room)
{
	char text[sizeof(struct op_jitdump_load) + OP_CODE_NAME_MAX];
	struct op_jitdump_load load;
	ssize_t len = pread(fd, text, sizeof(text), (off_t)call->code.where);
	size_t name_len, at = OP_CODE_NAME_MAX;

	memset(&call->function, 0, sizeof(call->function));
	call->err = -ESTALE;
	if (len <= (ssize_t)sizeof(load))
		return;
	memcpy(&load, text, sizeof(load));
	if (load.prefix.id != OP_JITDUMP_LOAD ||
	    load.code_size != call->code.size ||
	    load.prefix.size <= sizeof(load))
		return;
	len -= (ssize_t)sizeof(load);
	name_len = strnlen(text + sizeof(load), (size_t)len);
	op_perf_map_copy_name(room, OP_CODE_NAME_MAX, text + sizeof(load),
			      name_len);
	if (!read_function_code(fd, call, &load, name_len, (size_t)len, room))
		return;
	call->err = 0;
	if (call->function.has_bytes)
		at += call->code.size;
	if (call->code.lines)
		read_function_lines(fd, call, room, at);
}

/* ---- unwind data ------------------------------------------------------------
 */

/* Whether the record at @at is one of unwind data that may be read; *@len
 * becomes the length of its .eh_frame. */
static bool has_frames(int fd, uint64_t at, size_t *len)
{
	struct op_jitdump_unwind head;

	if (op_file_read_at(fd, &head, sizeof(head), at) ||
	    head.prefix.id != OP_JITDUMP_UNWIND ||
	    head.prefix.size < sizeof(head) ||
	    head.size > head.prefix.size - sizeof(head) ||
	    head.header_size >= head.size ||
	    head.size - head.header_size > MAX_FRAMES_BYTES)
		return false;
	*len = head.size - head.header_size;
	return true;
}

static bool set_code_arch(const struct opd_untrusted_call *call,
			  struct cfi_code *code)
{
	switch (call->dump.machine) {
	case EM_X86_64:
		code->arch = CFI_X86_64;
		return true;
	case EM_AARCH64:
		code->arch = CFI_AARCH64;
		return true;
	}
	return false;
}

/*
 * Addresses in the frames are relative to where they would lie, or those of the
 * code when it was told, which it may have left since.
 */
void opd_untrusted_read_frames(int fd, struct opd_untrusted_call *call,
			       void *room)
{
	const struct opd_jit_code *code = &call->code;
	struct cfi_code from = { .len = code->size };
	struct cfi_table *table = NULL;
	struct op_jitdump_load load;
	uint8_t *bytes;

	call->err = -ENOENT;
	if (!code->frames || code->size > MAX_CODE_BYTES ||
	    !set_code_arch(call, &from) ||
	    !has_frames(fd, code->frames, &from.frames_len) ||
	    op_file_read_at(fd, &load, sizeof(load), code->where) ||
	    load.prefix.id != OP_JITDUMP_LOAD ||
	    !is_range(load.code_addr, from.len))
		return;
	bytes = malloc(from.frames_len);
	if (!bytes) {
		call->err = -ENOMEM;
		return;
	}
	from.addr = load.code_addr;
	from.frames_addr = from.addr + (from.len + OP_JITDUMP_FRAMES_ALIGN -
					1) / OP_JITDUMP_FRAMES_ALIGN *
					       OP_JITDUMP_FRAMES_ALIGN;
	from.frames = bytes;
	if (!op_file_read_at(fd, bytes, from.frames_len,
			     code->frames + sizeof(struct op_jitdump_unwind)))
		call->err = cfi_table_of_code(&table, &from);
	free(bytes);
	if (!call->err)
		opd_untrusted_put_table(call, table, room);
}
