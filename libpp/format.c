// SPDX-License-Identifier: GPL-2.0-or-later

#include "libpp/format.h"

#include <string.h>

static const struct pp_format formats[] = {
	{ .name = "text", .write = pp_format_text },
	{ .name = "xml",
	  .any_axes = true,
	  .by_image = true,
	  .write = pp_format_xml },
	{ .name = "json", .any_axes = true, .write = pp_format_json },
	{ .name = "csv", .any_axes = true, .write = pp_format_csv },
	{ .name = "folded",
	  .any_axes = true,
	  .tree = true,
	  .tree_by_name = true,
	  .one_class = true,
	  .write = pp_format_folded },
};

const struct pp_format *pp_format_find(const char *name)
{
	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++)
		if (!strcmp(formats[i].name, name))
			return &formats[i];
	return NULL;
}

double pp_percent(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

int pp_vma_digits(const struct pp_report *report)
{
	for (size_t i = 0; i < report->nr_symbols; i++) {
		const struct pp_symbol_entry *entry = &report->symbols[i];
		size_t nr = entry->nr_details;

		if (entry->vma > UINT32_MAX ||
		    (nr && entry->details[nr - 1].vma > UINT32_MAX))
			return 16;
	}
	return 8;
}
