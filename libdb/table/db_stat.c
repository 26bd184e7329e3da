// SPDX-License-Identifier: GPL-2.0-or-later
/* Figures about a database, counted from its slots. */
#include "libdb/table/db_table.h"

/* How many slots a search for the key in slot @at looks at. */
static uint64_t probe_len(const struct odb *odb, size_t at)
{
	size_t line = odb_home(odb->seed, odb->nr_lines, odb->slots[at].key);
	size_t step = 0;

	while (line != at / ODB_LINE_SLOTS)
		line = odb_next_line(odb->nr_lines, line, step++);
	return step * ODB_LINE_SLOTS + at % ODB_LINE_SLOTS + 1;
}

void odb_stat(const struct odb *odb, struct odb_stat *out)
{
	struct odb_stat stat = {
		.nr_slots = odb->nr_slots,
		.file_len = odb_file_len(odb->nr_slots),
	};
	uint64_t probes = 0;

	for (size_t i = 0; i < odb->nr_slots; i++) {
		const struct odb_slot *slot = &odb->slots[i];
		uint64_t probe;

		if (!slot->count)
			continue;
		probe = probe_len(odb, i);
		probes += probe;
		if (probe > stat.longest_probe)
			stat.longest_probe = probe;
		stat.nr_keys++;
		if (__builtin_add_overflow(stat.total, slot->count,
					   &stat.total))
			stat.total = UINT64_MAX;
	}
	if (stat.nr_keys)
		stat.mean_probe = (double)probes / (double)stat.nr_keys;
	*out = stat;
}
