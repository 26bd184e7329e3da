// SPDX-License-Identifier: GPL-2.0-or-later
/* Numbers that several formats show: shares, intervals and widths. */

#include "libpp/format/format.h"

double pp_percent(uint64_t part, uint64_t whole)
{
	/* Exact where the percentage is a whole number. */
	return whole ? 100 * (double)part / (double)whole : 0;
}

bool pp_is_scaled(const struct pp_class *class)
{
	return class->scale != 1;
}

struct pp_interval pp_class_total_interval(const struct pp_class *class,
					   uint64_t total)
{
	/* Beside a sample are those of its turn, on average. */
	double together = 1;
	double n = (double)total / pp_class_grain(class);
	struct pp_interval interval;

	if (class->turns)
		together += (double)class->taken / (double)class->turns /
			    class->grain;
	interval = pp_total_interval((uint64_t)(n + 0.5), 1 / class->scale,
				     together);
	interval.low *= class->grain;
	interval.high *= class->grain;
	return interval;
}

int pp_vma_digits(const struct pp_report *report)
{
	for (size_t i = 0; i < report->symbols.nr; i++) {
		const struct pp_symbol_entry *entry = &report->symbols.list[i];
		size_t nr = entry->nr_details;

		if (entry->vma > UINT32_MAX ||
		    (nr && entry->details[nr - 1].vma > UINT32_MAX))
			return 16;
	}
	return 8;
}
