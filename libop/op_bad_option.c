// SPDX-License-Identifier: GPL-2.0-or-later
#include "libop/op_bad_option.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "libop/op_near_names.h"
#include "libop/op_perf_habits.h"

/* Longest name of an option that is compared. */
#define NAME_LEN 64

/* The value of the option called @name: behind "=" or in the next word; NULL if
 * there is none. popt tells the letter alone of a word such as -F99. */
static const char *value_of_option(const char *const *argv, const char *option,
				   const char *name)
{
	const char *equals = strchr(option, '=');
	size_t len = strlen(name);

	if (equals)
		return equals + 1;
	for (; argv && *argv; argv++) {
		if (!strcmp(*argv, name))
			return argv[1] && argv[1][0] != '-' ? argv[1] : NULL;
		if (len == 2 && !strncmp(*argv, name, len))
			return *argv + len;
	}
	return NULL;
}

/*
 * The long option of @table that differs from @name, without dashes, in fewer
 * than
 * *@limit bytes; @before if there is none. *@limit becomes by how many it
 * differs.
 */
static const char *find_similar(const struct poptOption *table,
				const char *name, unsigned int *limit,
				const char *before)
{
	for (; table->longName || table->shortName || table->arg; table++) {
		unsigned int distance;

		if ((table->argInfo & POPT_ARG_MASK) ==
		    POPT_ARG_INCLUDE_TABLE) {
			before = find_similar(table->arg, name, limit, before);
			continue;
		}
		if (!table->longName ||
		    table->argInfo & POPT_ARGFLAG_DOC_HIDDEN)
			continue;
		distance = op_edit_distance(name, table->longName, true);
		if (distance < *limit) {
			*limit = distance;
			before = table->longName;
		}
	}
	return before;
}

int op_bad_option(struct op_diag *diag, const char *program,
		  const struct poptOption *table, const char *const *argv,
		  const char *option, int error)
{
	const char *why = poptStrerror(error);
	size_t len = strcspn(option, "=");
	const char *similar = NULL;
	unsigned int limit;
	char name[NAME_LEN];

	if (error == POPT_ERROR_BADOPT && len < sizeof(name)) {
		snprintf(name, sizeof(name), "%.*s", (int)len, option);
		if (op_perf_habit(diag, program, name,
				  value_of_option(argv, option, name)))
			return -EINVAL;
		/* Of three letters one may be wrong, of six two, and so on. */
		limit = (unsigned int)(len - 2) / 3 + 1;
		if (!strncmp(name, "--", 2))
			similar = find_similar(table, name + 2, &limit, NULL);
	}
	if (similar)
		return op_diag_set(
			diag, -EINVAL,
			"%s: %s; did you mean --%s? %s --help lists all",
			option, why, similar, program);
	return op_diag_set(diag, -EINVAL, "%s: %s; see %s --help", option, why,
			   program);
}
