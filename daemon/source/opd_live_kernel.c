// SPDX-License-Identifier: GPL-2.0-or-later

#include "daemon/source/opd_live_kernel.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>

#include "daemon/source/opd_proc.h"
#include "daemon/source/opd_source.h"
#include "libop/op_log.h"

/* A table under way. */
struct table {
	const struct opd_source_client *client;
	struct opd_record_words *words;
	uint32_t flags; /* of the next range */
};

static void add_range(struct table *table, const char *name, uint64_t start,
		      uint64_t end, const struct op_build_id *build_id)
{
	opd_record_range(table->words, table->flags, start, end, build_id,
			 name);
	table->flags = 0;
	op_verbose(table->client->log, OP_V_MODULE,
		   "%s: 0x%" PRIx64 " to 0x%" PRIx64, name, start, end);
	if (table->client->see_kernel)
		table->client->see_kernel(table->client->ctx, name, start, end,
					  build_id);
}

static int add_module(void *arg, const char *name, uint64_t start, uint64_t end)
{
	struct op_build_id build_id = { 0, { 0 } };
	char path[128 + OPD_MODULE_NAME_MAX];

	snprintf(path, sizeof(path), "/sys/module/%s/notes/.note.gnu.build-id",
		 name);
	if (op_build_id_of_notes_file(&build_id, path))
		build_id.len = 0;
	if (start < end)
		add_range(arg, name, start, end, &build_id);
	return 0;
}

/* To read all symbols takes a tenth of a second: it is done once. */
static void find_kernel(struct opd_live_kernel *kernel, const char *proc,
			struct op_log *log)
{
	struct op_diag diag = { "" };
	char path[PATH_MAX];

	if (kernel->tried)
		return;
	kernel->tried = true;
	snprintf(path, sizeof(path), "%s/kallsyms", proc);
	if (opd_proc_kernel(path, &kernel->start, &kernel->end, &diag)) {
		kernel->start = kernel->end = 0;
		op_log(log, "%s; samples in the kernel have no symbols",
		       diag.text);
	}
	if (op_build_id_of_notes_file(&kernel->build_id, "/sys/kernel/notes"))
		kernel->build_id.len = 0;
}

void opd_live_kernel_record(struct opd_live_kernel *kernel,
			    const struct opd_source *source,
			    struct opd_record_words *words)
{
	struct op_log *log = source->client->log;
	struct table table = { source->client, words, OP_KERNEL_FIRST };
	struct op_diag diag = { "" };
	char path[PATH_MAX];

	find_kernel(kernel, source->proc, log);
	if (kernel->start < kernel->end)
		add_range(&table, OP_KERNEL_NAME, kernel->start, kernel->end,
			  &kernel->build_id);
	snprintf(path, sizeof(path), "%s/modules", source->proc);
	if (opd_proc_modules(path, add_module, &table, &diag))
		op_log(log, "%s; samples in modules have no symbols",
		       diag.text);
}
