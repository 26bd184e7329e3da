// SPDX-License-Identifier: GPL-2.0-or-later
/* Reading perf maps: see opd_untrusted_read.h. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/source/untrusted/opd_untrusted.h"
#include "daemon/source/untrusted/opd_untrusted_read.h"
#include "libop/session/op_code_image.h"
#include "libop/image/op_perf_map.h"

#define CHUNK (64u << 10) /* no line is longer */
#define MAX_CODES (OPD_UNTRUSTED_ROOM / sizeof(struct opd_jit_code))

/* Put the code of a line, which is at @where, into @room. */
static void put_map_line(struct opd_untrusted_call *call, void *room,
			 const char *text, size_t len, uint64_t where)
{
	struct opd_jit_code *codes = room;
	struct op_perf_map_line line;

	if (!op_perf_map_parse(&line, text, len))
		return;
	codes[call->nr++] = (struct opd_jit_code){ .start = line.start,
						   .size = line.size,
						   .where = where };
}

/* The whole lines of @text, which is at map.at. How many bytes are done. */
static size_t put_map_text(struct opd_untrusted_call *call, void *room,
			   const char *text, size_t len)
{
	const char *at = text, *end = text + len, *newline;

	while (call->nr < MAX_CODES &&
	       (newline = memchr(at, '\n', (size_t)(end - at)))) {
		if (!call->map.in_long_line)
			put_map_line(call, room, at, (size_t)(newline - at),
				     call->map.at + (uint64_t)(at - text));
		call->map.in_long_line = 0;
		at = newline + 1;
	}
	if (at == text && len == CHUNK) {
		call->map.in_long_line = 1;
		at = end;
	}
	return (size_t)(at - text);
}

void opd_untrusted_read_map(int fd, struct opd_untrusted_call *call, void *room)
{
	char *text = malloc(CHUNK);

	if (!text)
		call->err = -ENOMEM;
	call->map.taken = 0;
	while (text && call->map.taken < call->most && call->nr < MAX_CODES) {
		ssize_t len = pread(fd, text, CHUNK, (off_t)call->map.at);
		size_t taken = 0;

		if (len > 0)
			taken = put_map_text(call, room, text, (size_t)len);
		if (!taken)
			break;
		call->map.at += taken;
		call->map.taken += taken;
	}
	free(text);
}

void opd_untrusted_read_map_name(int fd, struct opd_untrusted_call *call,
				 void *room)
{
	char text[OP_CODE_NAME_MAX + 64];
	ssize_t len = pread(fd, text, sizeof(text), (off_t)call->code.where);
	struct op_perf_map_line line;
	const char *newline;

	call->err = -ESTALE;
	if (len <= 0)
		return;
	newline = memchr(text, '\n', (size_t)len);
	if (newline)
		len = newline - text;
	if (!op_perf_map_parse(&line, text, (size_t)len) ||
	    line.start != call->code.start || line.size != call->code.size)
		return;
	op_perf_map_copy_name(room, OP_CODE_NAME_MAX, line.name, line.name_len);
	call->nr = OP_CODE_NAME_MAX;
	call->err = 0;
}
