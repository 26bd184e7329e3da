// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Lines are text with the names last, because only names may hold blanks;
 * control characters in them are replaced, so that each sample stays one line.
 * The file is appended to by later daemons and bounded in size: the last line
 * says that lines are missing, and those that were left out are counted.
 *
 * The library writes lines when its buffer is full. When that fails, the log
 * ends, and the lines since the last flush are counted as left out because
 * nobody knows which of them were written. Samples are counted in any case,
 * whatever becomes of their lines.
 */

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>

#include "daemon/feature/opd_extended.h"
#include "daemon/feature/opd_ibs_log.h"
#include "daemon/feature/opd_ibs_trans.h"
#include "daemon/store/opd_image.h"
#include "daemon/store/opd_sfile.h"
#include "libop/base/op_log.h"
#include "libop/session/op_mangle.h"

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

/* ---- files ------------------------------------------------------------------
 */

__attribute__((format(printf, 2, 3))) static void
put(struct opd_ibs_log_file *log, const char *fmt, ...)
{
	va_list args;
	int n;

	va_start(args, fmt);
	n = vfprintf(log->file, fmt, args);
	va_end(args);
	if (n > 0)
		log->bytes += (unsigned int)n;
}

static int open_log(struct opd_ibs_log_file *log, const char *dir,
		    const char *name, const char *columns, struct op_diag *diag)
{
	char path[PATH_MAX];
	off_t bytes;

	snprintf(path, sizeof(path), "%.4000s/%s", dir, name);
	log->name = name;
	log->file = fopen(path, "ae");
	if (!log->file)
		return op_diag_set(diag, -errno, "%s: %s", path,
				   strerror(errno));
	bytes = ftello(log->file);
	log->bytes = bytes > 0 ? (uint64_t)bytes : 0;
	if (!log->bytes)
		put(log, "%s", columns);
	return 0;
}

int opd_ibs_log_open(struct opd_ibs_log *log, const char *dir, unsigned int um,
		     struct op_diag *diag)
{
	int err = 0;

	if (um & OPD_IBS_UM_MEMORY)
		err = open_log(&log->memory, dir, "ibs_memaccess.log",
			       MEMORY_COLUMNS, diag);
	if (!err && um & OPD_IBS_UM_BRANCH)
		err = open_log(&log->branch, dir, "ibs_bta.log", BRANCH_COLUMNS,
			       diag);
	return err;
}

static void close_one(struct opd_ibs_log_file *log)
{
	if (log->file)
		fclose(log->file);
	log->file = NULL;
}

void opd_ibs_log_close(struct opd_ibs_log *log)
{
	close_one(&log->memory);
	close_one(&log->branch);
}

static void flush_one(struct opd_ibs_log_file *log, struct op_log *daemon_log)
{
	bool failed = log->file && (fflush(log->file) || ferror(log->file));

	if (failed) {
		op_log(daemon_log, "%s: cannot write, so the log ends here: %s",
		       log->name, strerror(errno));
		log->left_out += log->waiting;
		close_one(log);
	}
	log->waiting = 0;
}

void opd_ibs_log_flush(struct opd_ibs_log *log, struct op_log *daemon_log)
{
	flush_one(&log->memory, daemon_log);
	flush_one(&log->branch, daemon_log);
}

/* Whether a line may be written; else it counts as left out. */
static bool has_room(struct opd_ibs_log_file *log, struct op_log *daemon_log)
{
	if (log->file && log->bytes < OPD_IBS_LOG_MAX) {
		log->waiting++;
		return true;
	}
	if (log->file && !log->left_out)
		op_log(daemon_log,
		       "%s has %" PRIu64
		       " MiB and takes no more; stop the daemon and move it away to start a new log",
		       log->name, OPD_IBS_LOG_MAX >> 20);
	log->left_out++;
	return false;
}

static void end_line(struct opd_ibs_log_file *log)
{
	put(log, "\n");
	if (log->bytes >= OPD_IBS_LOG_MAX)
		put(log, "# records after %" PRIu64 " MiB are left out\n",
		    OPD_IBS_LOG_MAX >> 20);
}

/* ---- lines ------------------------------------------------------------------
 */

/* Names come last: only they may hold blanks. */
static void put_name(struct opd_ibs_log_file *log, const char *name)
{
	put(log, " ");
	for (; *name; name++, log->bytes++)
		putc((unsigned char)*name < ' ' || *name == 0x7f ? '?' : *name,
		     log->file);
}

static void put_number(struct opd_ibs_log_file *log, int64_t number)
{
	if (number == OP_MANGLE_ALL)
		put(log, " all");
	else
		put(log, " %" PRId64, number);
}

static void put_place(struct opd_ibs_log_file *log,
		      const struct opd_ext_sample *sample)
{
	const struct opd_sfile_key *key = &sample->sfile->key;

	put(log, " 0x%" PRIx64, sample->offset);
	put_number(log, key->tgid);
	put_number(log, key->tid);
	put_number(log, key->cpu);
	put_name(log, key->anon ? key->anon : key->dep->name);
	put_name(log, key->app->name);
	end_line(log);
}

static void log_memory(struct opd_ibs_log_file *log, struct op_log *daemon_log,
		       const struct opd_ext_sample *sample,
		       const struct opd_ibs_regs *regs)
{
	static const char *const accesses[] = { "", "load", "store",
						"load+store" };
	uint64_t data3 = regs->reg[OPD_IBS_DATA3];

	if (!(data3 & (LOAD | STORE)) || !(data3 & LINEAR_VALID) ||
	    !has_room(log, daemon_log))
		return;
	put(log, "%s 0x%" PRIx64, accesses[data3 & (LOAD | STORE)],
	    regs->reg[OPD_IBS_DC_LINAD]);
	if (data3 & PHYSICAL_VALID)
		put(log, " 0x%" PRIx64, regs->reg[OPD_IBS_DC_PHYSAD]);
	else
		put(log, " -");
	put(log, " %" PRIu64, data3 >> 32 & 0xffff);
	put_place(log, sample);
}

static void log_branch(struct opd_ibs_log_file *log, struct op_log *daemon_log,
		       const struct opd_ext_sample *sample,
		       const struct opd_ibs_regs *regs)
{
	uint64_t data = regs->reg[OPD_IBS_DATA];

	if (!(data & BRN_RET) || !(regs->caps & OP_IBS_CAP_BR_TARGET) ||
	    !has_room(log, daemon_log))
		return;
	put(log, "0x%" PRIx64 " %d %d", regs->reg[OPD_IBS_BR_TARGET],
	    !!(data & BRN_TAKEN), !!(data & BRN_MISP));
	put_place(log, sample);
}

void opd_ibs_log_sample(struct opd_ibs_log *log, struct op_log *daemon_log,
			const struct opd_ext_sample *sample,
			const struct opd_ibs_regs *regs)
{
	if (log->memory.name)
		log_memory(&log->memory, daemon_log, sample, regs);
	if (log->branch.name)
		log_branch(&log->branch, daemon_log, sample, regs);
}

void opd_ibs_log_print_stats(const struct opd_ibs_log *log,
			     struct op_log *daemon_log)
{
	if (log->memory.name)
		op_log_plain(daemon_log,
			     "Nr. IBS memory accesses not logged: %" PRIu64,
			     log->memory.left_out);
	if (log->branch.name)
		op_log_plain(daemon_log,
			     "Nr. IBS branches not logged: %" PRIu64,
			     log->branch.left_out);
}
