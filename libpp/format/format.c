// SPDX-License-Identifier: GPL-2.0-or-later

#include "libpp/format/format.h"

#include <inttypes.h>
#include <string.h>

/* What a browser has drawn before anybody waits. */
#define FLAMEGRAPH_MAX_NODES 500000

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
	  .no_account = true,
	  .write = pp_format_folded },
	{ .name = "flamegraph",
	  .any_axes = true,
	  .tree = true,
	  .tree_max_nodes = FLAMEGRAPH_MAX_NODES,
	  .is_page = true,
	  .write = pp_format_flamegraph },
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
	/* Exact where the percentage is a whole number. */
	return whole ? 100 * (double)part / (double)whole : 0;
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

static void write_causes(FILE *out, const struct op_ledger *account)
{
	const char *before = " (";

	for (unsigned int i = 0; i < account->nr_causes; i++) {
		const struct op_ledger_cause *cause = &account->causes[i];

		if (!cause->nr)
			continue;
		fprintf(out, "%s%" PRIu64 " %s", before, cause->nr,
			cause->name);
		before = ", ";
	}
	if (*before == ',')
		fputc(')', out);
}

void pp_write_account(FILE *out, const struct op_ledger *account)
{
	fprintf(out,
		"%" PRIu64 " taken = %" PRIu64 " stored + %" PRIu64 " lost",
		account->taken, account->stored, op_ledger_lost(account));
	write_causes(out, account);
	if (account->pending)
		fprintf(out, " + %" PRIu64 " pending", account->pending);
}

bool pp_has_stacks(const struct op_ledger *account)
{
	return op_ledger_stacks_stored(account) ||
	       account->stacks[OP_STACKS_NOT_STORED];
}

void pp_write_stacks(FILE *out, const struct op_ledger *account)
{
	const uint64_t *stacks = account->stacks;

	fprintf(out, "%" PRIu64 " stored = %" PRIu64 " whole",
		op_ledger_stacks_stored(account), stacks[OP_STACKS_WHOLE]);
	for (unsigned int i = OP_STACKS_TRUNCATED; i <= OP_STACKS_BROKEN; i++)
		if (stacks[i])
			fprintf(out, " + %" PRIu64 " %s", stacks[i],
				op_ledger_stacks_name(i));
	if (stacks[OP_STACKS_NOT_STORED])
		fprintf(out, "; %" PRIu64 " not stored",
			stacks[OP_STACKS_NOT_STORED]);
}
