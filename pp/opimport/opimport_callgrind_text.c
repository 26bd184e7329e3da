// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The numbers of names are looked up in a table, however large they are. A
 * number that is told once more has the later name from then on: parts of one
 * file may number anew.
 */

#include "pp/opimport/opimport_callgrind_text.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "libop/base/op_array.h"
#include "pp/opimport/opimport_callgrind.h"

bool opimport_is_callgrind(const char *text)
{
	static const char *const keys[] = {
		"version:", "creator:", "pid:",	   "cmd:",	 "part:",
		"desc:",    "event:",	"events:", "positions:",
	};

	while (*text == '#' || *text == '\r' || *text == '\n') {
		if (!strncmp(text, "# callgrind format", 18))
			return true;
		text += strcspn(text, "\n");
		text += *text == '\n';
	}
	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
		if (!strncmp(text, keys[i], strlen(keys[i])))
			return true;
	return false;
}

char *callgrind_skip(char *text)
{
	return text + strspn(text, " \t");
}

static bool callgrind_ends(const char *text)
{
	return !*text || *text == ' ' || *text == '\t';
}

bool callgrind_number(char **text, uint64_t *value)
{
	bool is_hex = (*text)[0] == '0' && ((*text)[1] | 0x20) == 'x';
	char *end;

	if (!isdigit((unsigned char)**text))
		return false;
	errno = 0;
	*value = strtoull(*text, &end, is_hex ? 16 : 10);
	*text = end;
	return !errno && callgrind_ends(end);
}

bool callgrind_position(char **text, uint64_t *position)
{
	char sign = **text;
	uint64_t by;

	if (sign == '*') {
		++*text;
		return callgrind_ends(*text);
	}
	if (sign != '+' && sign != '-')
		return callgrind_number(text, position);
	++*text;
	if (!callgrind_number(text, &by))
		return false;
	*position += sign == '+' ? by : -by;
	return true;
}

static int find_number(struct callgrind_names *names, uint64_t number,
		       struct callgrind_name **name)
{
	uint32_t found;
	uint64_t hash;
	int err = op_hash_reserve(&names->index, names->nr + 1)
			  ?: op_array_reserve(&names->list, names->nr, 1);

	if (err)
		return err;
	hash = op_hash_mix(names->index.seed, number);
	op_hash_each(&names->index, hash, found) {
		*name = &names->list[found - 1];
		if ((*name)->number == number)
			return 0;
	}
	*name = &names->list[names->nr];
	return -ENOENT;
}

int callgrind_name(struct callgrind_names *names, struct opimport_graph *graph,
		   char *text, uint32_t *string)
{
	struct callgrind_name *known = NULL;
	char *name = text;
	uint64_t number = 0;
	int err;

	if (*text == '(' && isdigit((unsigned char)text[1]))
		number = strtoull(text + 1, &name, 10);
	if (*name != ')')
		return opimport_graph_string(graph, text, string);
	name = callgrind_skip(name + 1);
	err = find_number(names, number, &known);
	if (!*name) {
		if (!err)
			*string = known->string;
		return err;
	}
	if (err && err != -ENOENT)
		return err;
	if (err)
		op_hash_add(&names->index,
			    op_hash_mix(names->index.seed, number),
			    (uint32_t)++names->nr);
	known->number = number;
	known->string = 0;
	err = opimport_graph_string(graph, name, string);
	if (!err)
		known->string = *string;
	return err;
}

void callgrind_names_release(struct callgrind_names *names)
{
	free(names->list);
	op_hash_release(&names->index);
}
