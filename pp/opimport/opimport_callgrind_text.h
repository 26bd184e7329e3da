/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef PP_OPIMPORT_OPIMPORT_CALLGRIND_TEXT_H
#define PP_OPIMPORT_OPIMPORT_CALLGRIND_TEXT_H

/* Numbers, positions and names in the lines of a file of callgrind. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libop/base/op_hash.h"
#include "pp/opimport/opimport_graph.h"

/* Blanks are passed over. */
char *callgrind_skip(char *text);

/*
 * A number at *@text, decimal or in hex, with a blank or the end behind it.
 * *@text is there afterwards. False where there is none.
 */
bool callgrind_number(char **text, uint64_t *value);

/* Likewise a position, which may rest on the last one, *@position. */
bool callgrind_position(char **text, uint64_t *position);

/* The names of one kind that have numbers. All zeros is empty. */
struct callgrind_names {
	struct callgrind_name {
		uint64_t number;
		uint32_t string; /* of a graph */
	} * list;
	size_t nr;
	struct op_hash index; /* from 1 */
};

/*
 * The string of @text: "(NUMBER) NAME" tells a name, "(NUMBER)" is one that was
 * told, another text is a name without number. Returns 0; -ENOENT where none
 * was told; -ENOMEM; -EFBIG.
 */
int callgrind_name(struct callgrind_names *names, struct opimport_graph *graph,
		   char *text, uint32_t *string);
void callgrind_names_release(struct callgrind_names *names);

#endif /* PP_OPIMPORT_OPIMPORT_CALLGRIND_TEXT_H */
