// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The table changes nothing by itself: opd_perf_handle.c and opd_perf_proc.c
 * say what processes do, and this adds the mapping, lets the kernel drop
 * samples, and sums up what became of each sample. Mappings of files get a
 * cookie here, so that the file is opened before it may be deleted.
 */

#include "daemon/source/perf/opd_process_table.h"

#include <inttypes.h>
#include <string.h>

#include "daemon/source/opd_proc_maps.h"
#include "libop/base/op_log.h"

void opd_process_table_init(struct opd_process_table *table, const char *proc,
			    struct opd_writer *writer)
{
	memset(table, 0, sizeof(*table));
	table->proc = proc;
	table->writer = writer;
	table->clock = opd_perf_now;
	table->cost = opd_untrusted_cost;
	table->times = 1;
	opd_perf_words_init(&table->words, writer, 0);
	opd_maps_init(&table->maps);
	opd_jits_init(&table->jits, &table->images);
	opd_untrusted_init(&table->binaries);
	opd_known_files_init(&table->known);
	opd_kept_tables_init(&table->kept);
	table->binaries.known = &table->known;
	opd_returns_init(&table->returns, &table->binaries, proc);
	opd_perf_images_init(&table->images, proc);
	table->images.files.untrusted = &table->binaries;
}

void opd_process_table_release(struct opd_process_table *table)
{
	opd_jits_release(&table->jits);
	opd_maps_release(&table->maps);
	opd_perf_images_release(&table->images);
	opd_returns_release(&table->returns);
	opd_untrusted_release(&table->binaries);
	opd_known_files_release(&table->known);
	opd_kept_tables_release(&table->kept);
}

void opd_process_table_want_names(struct opd_process_table *table,
				  unsigned int tells)
{
	opd_names_init(&table->writer->names, table->proc,
		       tells & ~OPD_TELL_OWNERS, true);
	table->tells_owners = tells & OPD_TELL_OWNERS;
}

uint64_t opd_process_table_clock(const struct opd_process_table *table)
{
	return table->clock ? table->clock() : table->now;
}

uint64_t opd_process_table_cost(const struct opd_process_table *table)
{
	return table->cost(&table->binaries);
}

void opd_process_table_drop(struct opd_process_table *table, uint32_t tgid,
			    bool drop)
{
	if (table->filter)
		op_perf_filter_drop(table->filter, tgid, drop);
}

uint64_t opd_process_table_map(struct opd_process_table *table,
			       struct opd_process *process,
			       const struct opd_map *map,
			       const struct opd_perf_image_id *id)
{
	struct opd_map full = *map;

	if (opd_proc_is_anon(id->name))
		full.cookie = OP_NO_COOKIE;
	else
		full.cookie = opd_perf_image_cookie(&table->images, id);
	opd_jits_see_mapping(&table->jits, process->tgid, id->name, id->ino);
	if (full.cookie == OP_NO_COOKIE)
		full.anon = opd_perf_image_anon(&table->images, id->name);
	/* Without the mapping its samples are lost, and counted. */
	(void)opd_maps_add(process, &full);
	return full.cookie;
}

/* ---- statistics -------------------------------------------------------------
 */

static const char *const stat_names[] = {
#define X(constant, name) #name,
	OPD_PERF_STATS(X)
#undef X
};

/* Where all forks were told, processes that nobody knows were there before. */
static bool is_cause(const uint64_t *stats, enum opd_perf_stat stat)
{
	if (stat == OPD_PERF_NO_PROCESS)
		return stats[OPD_PERF_SIDE_LOST];
	return stat >= OPD_PERF_NO_MAPPING && stat <= OPD_PERF_THROTTLED;
}

int opd_process_table_account(const struct opd_process_table *table,
			      struct op_ledger *ledger)
{
	const uint64_t *stats = table->stats;
	int err = 0;

	for (unsigned int i = 0; !err && i < OPD_PERF_NR_STATS; i++)
		if (is_cause(stats, i) && stats[i])
			err = op_ledger_lose(ledger, stat_names[i], stats[i]);
	ledger->taken = stats[OPD_PERF_RECEIVED] + stats[OPD_PERF_OVERFLOW] +
			stats[OPD_PERF_THROTTLED];
	if (is_cause(stats, OPD_PERF_NO_PROCESS))
		ledger->taken += stats[OPD_PERF_NO_PROCESS];
	return err;
}

void opd_process_table_log(const struct opd_process_table *table,
			   struct op_log *log)
{
	for (unsigned int i = 0; i < OPD_PERF_NR_STATS; i++)
		op_log_plain(log, "Nr. %s: %" PRIu64, stat_names[i],
			     table->stats[i]);
	op_log_plain(log, "Nr. images: %zu", table->images.nr);
}
