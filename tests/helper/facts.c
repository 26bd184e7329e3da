// SPDX-License-Identifier: GPL-2.0-or-later
/* A filter for scripts: reports as report_facts.h has them. */

#include "tests/helper/report_facts.h"

int main(void)
{
	char *text = NULL, *facts;
	size_t size = 0;

	if (getdelim(&text, &size, '\0', stdin) < 0)
		return 0;
	facts = report_facts(text);
	fputs(facts, stdout);
	free(facts);
	free(text);
	return 0;
}
