// SPDX-License-Identifier: GPL-2.0-or-later

#include <string.h>

#include "libcfi/code_lines.h"

void code_lines_init(struct code_lines *lines,
		     const struct cfi_code_reader *reader)
{
	lines->reader = reader;
	for (unsigned int i = 0; i < CODE_NR_LINES; i++)
		lines->line[i].from = lines->line[i].to = 0;
}

static uint8_t read_code_line(const struct code_lines *lines,
			      struct code_line *line, uint8_t from)
{
	const struct cfi_code_reader *reader = lines->reader;
	size_t room = CODE_LINE - from;
	size_t len = reader->read(reader->ctx, line->addr + from,
				  line->bytes + from, room);

	line->from = from;
	line->to = (uint8_t)(from + (len < room ? len : room));
	return line->to - line->from;
}

/* The line that holds @addr. Code may begin within a line. */
static const struct code_line *find_code_line(struct code_lines *lines,
					      uint64_t addr)
{
	struct code_line *line = &lines->line[addr / CODE_LINE % CODE_NR_LINES];
	uint8_t at = addr % CODE_LINE;

	if (line->addr == addr - at && at >= line->from && at < line->to)
		return line;
	line->addr = addr - at;
	if (!read_code_line(lines, line, 0) && at)
		read_code_line(lines, line, at);
	return line;
}

const uint8_t *code_lines_find(struct code_lines *lines, uint64_t addr,
			       size_t *len)
{
	const struct code_line *line = find_code_line(lines, addr);
	size_t at = addr % CODE_LINE, part;

	*len = at < line->to ? line->to - at : 0;
	if (*len >= CODE_MAX_INSN || line->to < CODE_LINE)
		return line->bytes + at;
	part = *len;
	memcpy(lines->insn, line->bytes + at, part);
	line = find_code_line(lines, addr + part);
	*len = part + line->to;
	if (*len > sizeof(lines->insn))
		*len = sizeof(lines->insn);
	memcpy(lines->insn + part, line->bytes, *len - part);
	return lines->insn;
}
