// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Common parts of the parsers of the three files: opening a file, so that its
 * text and its path live as long as the events, and lines "include:CPU".
 */

#include "libop/events/op_events_read.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "libop/base/op_array.h"

static int keep_text(struct op_events *events, char *text)
{
	if (!text || op_array_reserve(&events->texts, events->nr_texts, 1)) {
		free(text);
		return -ENOMEM;
	}
	events->texts[events->nr_texts++] = text;
	return 0;
}

static int keep_path(struct op_events *events, const char *path)
{
	int err = op_array_reserve(&events->paths, events->nr_paths, 1);

	if (!err)
		events->paths[events->nr_paths++] = path;
	return err;
}

int op_events_read_open(struct op_events_reader *r, struct op_events_text *text,
			const char *cpu, const char *file, const char **path)
{
	int err, memory = 0;
	char *copy;

	if (r->depth > OP_EVENTS_MAX_DEPTH)
		return op_diag_set(r->diag, -EINVAL,
				   "%s/%s/%s: include: too deep; does it "
				   "include itself?",
				   r->dir, cpu, file);
	if (!op_cpu_name_is_valid(cpu))
		return op_diag_set(r->diag, -EINVAL,
				   "include:%s: no name of a CPU type", cpu);
	err = op_events_text_open(text, r->dir, cpu, file, r->diag);
	if (text->text)
		memory = keep_text(r->events, text->text);
	copy = strdup(text->path);
	if (!memory)
		memory = keep_text(r->events, copy);
	else
		free(copy);
	if (!memory)
		memory = keep_path(r->events, copy);
	if (memory)
		return op_diag_set(r->diag, memory, "out of memory");
	*path = copy;
	return err;
}

bool op_events_is_include(const struct op_events_text *text, const char **cpu)
{
	if (strncmp(text->line, "include:", 8) != 0)
		return false;
	*cpu = text->line + 8;
	return true;
}
