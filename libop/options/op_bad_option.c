// SPDX-License-Identifier: GPL-2.0-or-later
#include "libop/options/op_bad_option.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "libop/base/op_near_names.h"
#include "libop/options/op_perf_habits.h"

/* Longest name of an option that is compared. */
#define NAME_LEN 64

/* The value of @option: what follows its @len bytes of name in the same word,
 * or the next word; NULL if there is none. */
static const char *value_of_option(const char *const *argv, const char *option,
				   size_t len)
{
	if (option[len])
		return option + len + (option[len] == '=');
	while (argv && *argv && strcmp(*argv, option) != 0)
		argv++;
	if (!argv || !*argv || !argv[1] || argv[1][0] == '-')
		return NULL;
	return argv[1];
}

/*
 * The long option of @table that is nearest to @name, which has no dashes: it
 * differs in fewer bytes than *@limit, which becomes their number. @before if
 * no option does.
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
	bool is_long = !strncmp(option, "--", 2);
	size_t len = is_long ? strcspn(option, "=") : strnlen(option, 2);
	const char *similar = NULL;
	char name[NAME_LEN];

	if (error == POPT_ERROR_BADOPT && len < sizeof(name)) {
		snprintf(name, sizeof(name), "%.*s", (int)len, option);
		if (op_perf_habit(diag, program, name,
				  value_of_option(argv, option, len)))
			return -EINVAL;
		if (is_long) {
			/* Every third letter may be wrong. */
			unsigned int limit = (unsigned int)(len - 2) / 3 + 1;

			similar = find_similar(table, name + 2, &limit, NULL);
		}
	}
	if (similar)
		return op_diag_set(
			diag, -EINVAL,
			"%s: %s; did you mean --%s? %s --help lists all",
			option, why, similar, program);
	return op_diag_set(diag, -EINVAL, "%s: %s; see %s --help", option, why,
			   program);
}
