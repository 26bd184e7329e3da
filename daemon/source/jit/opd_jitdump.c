// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The file itself is read by another process (opd_untrusted.h), whose answers
 * are looked at here as the file is there: a process that was taken over may
 * answer anything.
 */

#include "daemon/source/jit/opd_jitdump.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libop/base/op_array.h"
#include "libop/session/op_code_image.h"
#include "libop/image/op_jitdump.h"
#include "libop/image/op_perf_map.h"

bool opd_jitdump_is_name(const char *name)
{
	const char *base = strrchr(name, '/');
	size_t digits;

	if (*name != '/' || strncmp(base, "/jit-", 5))
		return false;
	digits = strspn(base + 5, "0123456789");
	return digits && !strcmp(base + 5 + digits, ".dump");
}

int opd_jitdump_open(struct opd_jitdump *dump, struct opd_untrusted *untrusted,
		     int fd)
{
	struct opd_untrusted_call call = { .what = OPD_UNTRUSTED_DUMP };
	const void *room = NULL;
	int err =
		fd < 0 ? -EBADF : opd_untrusted_do(untrusted, fd, &call, &room);

	opd_untrusted_done(untrusted, room);
	memset(dump, 0, sizeof(*dump));
	dump->fd = -1;
	if (err) {
		if (fd >= 0)
			close(fd);
		return err;
	}
	dump->fd = fd;
	dump->untrusted = untrusted;
	dump->most = OPD_JITDUMP_AT_ONCE;
	dump->state = call.dump;
	return 0;
}

void opd_jitdump_close(struct opd_jitdump *dump)
{
	if (dump->fd >= 0)
		close(dump->fd);
	memset(dump, 0, sizeof(*dump));
	dump->fd = -1;
}

bool opd_jit_code_is_sound(const struct opd_jit_code *code)
{
	return code->size && code->start <= UINT64_MAX - code->size &&
	       !code->number;
}

/* ---- records ----------------------------------------------------------------
 */

static int apply_move(struct opd_jit_codes *codes,
		      const struct opd_jit_code *move, size_t max)
{
	const struct opd_jit_code *found =
		opd_jit_codes_find(codes, move->start);
	struct opd_jit_code old, code;
	int err;

	if (!found || found->start != move->start ||
	    found->where == OPD_JIT_GONE)
		return 0;
	code = old = *found;
	old.where = OPD_JIT_GONE;
	err = opd_jit_codes_add(codes, &old, max);
	/* Code that is freed is moved to 0, where no code is. */
	if (err || !move->where || move->where > UINT64_MAX - code.size)
		return err;
	code.start = move->where;
	return opd_jit_codes_add(codes, &code, max);
}

/* Older code at the address has had its samples by now. */
static void apply_lines(struct opd_jit_codes *codes,
			const struct opd_jit_code *lines)
{
	struct opd_jit_code *code = opd_jit_codes_find(codes, lines->start);

	if (code && code->start == lines->start)
		code->lines = lines->lines;
}

static int apply_event(struct opd_jit_codes *codes,
		       const struct opd_jit_event *event, size_t max)
{
	switch (event->what) {
	case OPD_JIT_LOADED:
		return opd_jit_code_is_sound(&event->code)
			       ? opd_jit_codes_add(codes, &event->code, max)
			       : 0;
	case OPD_JIT_MOVED:
		return apply_move(codes, &event->code, max);
	case OPD_JIT_HAS_LINES:
		apply_lines(codes, &event->code);
		break;
	}
	return 0;
}

int opd_jitdump_run(struct opd_jitdump *dump, struct opd_jit_codes *codes,
		    uint64_t until, size_t max)
{
	struct opd_untrusted_call call = { .what = OPD_UNTRUSTED_RECORDS,
					   .until = until,
					   .most = dump->most,
					   .dump = dump->state };
	const void *room = NULL;
	int err, full = 0;

	dump->state.nr_taken = 0;
	if (dump->fd < 0 || dump->state.is_damaged)
		return 0;
	err = opd_untrusted_do(dump->untrusted, dump->fd, &call, &room);
	if (err == -ETIMEDOUT || err == -EIO)
		dump->state.is_damaged = 1;
	if (err && err != -EAGAIN)
		goto out;
	if (call.nr > OPD_UNTRUSTED_ROOM / sizeof(struct opd_jit_event) ||
	    call.dump.nr_taken > dump->most) {
		dump->state.is_damaged = 1;
		goto out;
	}
	dump->state = call.dump;
	for (uint64_t i = 0; i < call.nr && !full; i++) {
		/* A copy: the room may change. */
		struct opd_jit_event event =
			((const struct opd_jit_event *)room)[i];

		full = apply_event(codes, &event, max);
	}
out:
	opd_untrusted_done(dump->untrusted, room);
	return full ? full : err;
}

/* ---- functions --------------------------------------------------------------
 */

static int copy_function_lines(const struct opd_untrusted_line *from,
			       const struct opd_untrusted_function *sizes,
			       struct op_code_function *function)
{
	struct op_code_line *lines = calloc(sizes->nr_lines, sizeof(lines[0]));
	const char *record = function->lines_record;

	if (!lines)
		return -ENOMEM;
	function->lines = lines;
	for (uint64_t i = 0; i < sizes->nr_lines; i++) {
		struct opd_untrusted_line line = from[i];

		if (line.offset >= function->size ||
		    line.file >= sizes->lines_len)
			continue;
		lines[function->nr_lines++] = (struct op_code_line){
			.offset = line.offset,
			.line = line.line <= OP_CODE_LINE_MAX ? line.line : 0,
			.file = record + line.file,
		};
	}
	return 0;
}

/* Copy what is in @room, if it can be there. */
static int copy_function(const uint8_t *room,
			 const struct opd_untrusted_function *sizes,
			 struct op_code_function *function)
{
	size_t at = OP_CODE_NAME_MAX, code_len = 0;
	uint8_t *bytes, *record;

	if (sizes->has_bytes)
		code_len = function->size;
	if (code_len > OPD_UNTRUSTED_ROOM - at ||
	    sizes->lines_len > OPD_UNTRUSTED_ROOM - at - code_len ||
	    sizes->nr_lines >
		    OPD_UNTRUSTED_ROOM / sizeof(struct opd_untrusted_line))
		return -ESTALE;
	if (code_len) {
		bytes = malloc(code_len);
		if (!bytes)
			return -ENOMEM;
		memcpy(bytes, room + at, code_len);
		function->bytes = bytes;
		at += code_len;
	}
	if (!sizes->lines_len)
		return 0;
	record = malloc(sizes->lines_len + 1);
	if (!record)
		return -ENOMEM;
	memcpy(record, room + at, sizes->lines_len);
	record[sizes->lines_len] = '\0';
	function->lines_record = record;
	at = (at + sizes->lines_len + 7) / 8 * 8;
	if (!sizes->nr_lines ||
	    sizes->nr_lines * sizeof(struct opd_untrusted_line) >
		    OPD_UNTRUSTED_ROOM - at)
		return 0;
	return copy_function_lines((const void *)(room + at), sizes, function);
}

int opd_jitdump_read(const struct opd_jitdump *dump,
		     const struct opd_jit_code *code,
		     struct op_code_function *function)
{
	struct opd_untrusted_call call = { .what = OPD_UNTRUSTED_FUNCTION,
					   .code = *code };
	const void *room = NULL;
	int err = opd_untrusted_do(dump->untrusted, dump->fd, &call, &room);

	memset(function, 0, sizeof(*function));
	function->size = code->size;
	if (!err) {
		op_perf_map_copy_name(function->room, sizeof(function->room),
				      room,
				      strnlen(room, OP_CODE_NAME_MAX - 1));
		err = copy_function(room, &call.function, function);
	}
	opd_untrusted_done(dump->untrusted, room);
	return err;
}

/* ---- unwind data ------------------------------------------------------------
 */

int opd_jitdump_read_frames(const struct opd_jitdump *dump,
			    const struct opd_jit_code *code,
			    struct cfi_table **out)
{
	struct opd_untrusted_call call = { .what = OPD_UNTRUSTED_FRAMES,
					   .code = *code,
					   .dump = dump->state };
	const void *room = NULL;
	int err = opd_untrusted_do(dump->untrusted, dump->fd, &call, &room);

	if (!err)
		err = opd_untrusted_copy_table(room, call.nr, out);
	opd_untrusted_done(dump->untrusted, room);
	return err == -ENOMEM || !err ? err : -ENOENT;
}

void opd_jitdump_free_function(struct op_code_function *function)
{
	free((void *)function->bytes);
	free((void *)function->lines);
	free(function->lines_record);
}
