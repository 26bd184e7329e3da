// SPDX-License-Identifier: GPL-2.0-or-later

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <string.h>

#include "daemon/opd.h"
#include "daemon/opd_ibs_log.h"
#include "daemon/opd_ibs_trans.h"
#include "libop/op_mangle.h"

#define MEMORY_COLUMNS                                                         \
	"# access address physical latency offset tgid tid cpu image application\n"
#define BRANCH_COLUMNS                                                         \
	"# target taken mispredicted offset tgid tid cpu image application\n"

#define LOAD (UINT64_C(1) << 0)
#define STORE (UINT64_C(1) << 1)
#define LINEAR_VALID (UINT64_C(1) << 17)
#define PHYSICAL_VALID (UINT64_C(1) << 18)
#define BRN_TAKEN (UINT64_C(1) << 35)
#define BRN_MISP (UINT64_C(1) << 36)
#define BRN_RET (UINT64_C(1) << 37)

static int open_log(FILE **out, const struct opd *opd, const char *name,
		    const char *columns, struct op_diag *diag)
{
	char path[PATH_MAX];
	FILE *file;

	snprintf(path, sizeof(path), "%.4000s/%s", opd->session.samples, name);
	file = fopen(path, "ae");
	if (!file)
		return op_diag_set(diag, -errno, "%s: %s", path,
				   strerror(errno));
	if (ftell(file) == 0)
		fputs(columns, file);
	*out = file;
	return 0;
}

int opd_ibs_log_open(struct opd_ibs_log *log, const struct opd *opd,
		     unsigned int um, struct op_diag *diag)
{
	int err = 0;

	if (um & OPD_IBS_UM_MEMORY)
		err = open_log(&log->memory, opd, "ibs_memaccess.log",
			       MEMORY_COLUMNS, diag);
	if (!err && um & OPD_IBS_UM_BRANCH)
		err = open_log(&log->branch, opd, "ibs_bta.log", BRANCH_COLUMNS,
			       diag);
	return err;
}

static void close_one(FILE **file)
{
	if (*file)
		fclose(*file);
	*file = NULL;
}

void opd_ibs_log_close(struct opd_ibs_log *log)
{
	close_one(&log->memory);
	close_one(&log->branch);
}

static void flush_one(FILE **file, struct opd *opd, const char *name)
{
	if (!*file || (!fflush(*file) && !ferror(*file)))
		return;
	opd_log(&opd->log, "%s cannot be written, it ends here: %s", name,
		strerror(errno));
	close_one(file);
}

void opd_ibs_log_flush(struct opd_ibs_log *log, struct opd *opd)
{
	flush_one(&log->memory, opd, "ibs_memaccess.log");
	flush_one(&log->branch, opd, "ibs_bta.log");
}

/* ---- lines ------------------------------------------------------------------
 */

/* Names come last: only they may hold blanks. */
static void put_name(FILE *file, const char *name)
{
	putc(' ', file);
	for (; *name; name++)
		putc((unsigned char)*name < ' ' || *name == 0x7f ? '?' : *name,
		     file);
}

static void put_number(FILE *file, int64_t number)
{
	if (number == OP_MANGLE_ALL)
		fputs(" all", file);
	else
		fprintf(file, " %" PRId64, number);
}

static void put_place(FILE *file, const struct opd_ext_sample *sample)
{
	const struct opd_sfile_key *key = &sample->sfile->key;

	fprintf(file, " 0x%" PRIx64, sample->offset);
	put_number(file, key->tgid);
	put_number(file, key->tid);
	put_number(file, key->cpu);
	put_name(file, key->anon ? key->anon : key->dep->name);
	put_name(file, key->app->name);
	putc('\n', file);
}

static void log_memory(FILE *file, const struct opd_ext_sample *sample,
		       const struct opd_ibs_regs *regs)
{
	static const char *const accesses[] = { "", "load", "store",
						"load+store" };
	uint64_t data3 = regs->reg[OPD_IBS_DATA3];

	if (!(data3 & (LOAD | STORE)) || !(data3 & LINEAR_VALID))
		return;
	fprintf(file, "%s 0x%" PRIx64, accesses[data3 & (LOAD | STORE)],
		regs->reg[OPD_IBS_DC_LINAD]);
	if (data3 & PHYSICAL_VALID)
		fprintf(file, " 0x%" PRIx64, regs->reg[OPD_IBS_DC_PHYSAD]);
	else
		fputs(" -", file);
	fprintf(file, " %" PRIu64, data3 >> 32 & 0xffff);
	put_place(file, sample);
}

static void log_branch(FILE *file, const struct opd_ext_sample *sample,
		       const struct opd_ibs_regs *regs)
{
	uint64_t data = regs->reg[OPD_IBS_DATA];

	if (!(data & BRN_RET) || !(regs->caps & OP_IBS_CAP_BR_TARGET))
		return;
	fprintf(file, "0x%" PRIx64 " %d %d", regs->reg[OPD_IBS_BR_TARGET],
		!!(data & BRN_TAKEN), !!(data & BRN_MISP));
	put_place(file, sample);
}

void opd_ibs_log_sample(struct opd_ibs_log *log,
			const struct opd_ext_sample *sample,
			const struct opd_ibs_regs *regs)
{
	if (log->memory)
		log_memory(log->memory, sample, regs);
	if (log->branch)
		log_branch(log->branch, sample, regs);
}
