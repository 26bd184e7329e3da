// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * When the daemon packs, and the child that does it. What packing gains and
 * costs, in figures: doc/packs.md.
 *
 * Packing takes some 0.2 ms for each loose file, seconds for a large session,
 * in which the buffers of samples would run full. So while samples are taken
 * the daemon begins, which is a few renames, and forks a child for the other
 * steps (opd_packer.c). The child shares no file with the daemon that either
 * changes: the daemon counts in new loose files.
 *
 * The child does not live longer than the daemon: the kernel kills it when the
 * daemon dies of whatever reason. It holds the lock of the session, too, so
 * that the next daemon begins when both have ended. Then whatever is left in
 * the session folder belongs to nobody, and is packed with the rest.
 *
 * The daemon learns from memory that it shares with the child what came of
 * packing. A child that was killed leaves -ECANCELED there.
 */

#include "daemon/store/opd_pack.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/store/opd_packer.h"
#include "daemon/store/opd_store.h"
#include "libdb/pack.h"
#include "libop/base/op_clock.h"
#include "libop/base/op_log.h"
#include "libop/files/op_open.h"
#include "libop/session/op_session.h"

#define NICE 10
#define FIRST_PAUSE 60 /* seconds, doubled with each failure */
#define LAST_PAUSE 3840
/* A CPU has 60 times as long for other things. */
#define COST_FACTOR 60
#define END_WAIT 5000 /* milliseconds, for readers */

/* The report of a child to the daemon. */
struct opd_pack_report {
	bool is_history; /* it was about that */
	int err; /* 0, -errno, -ECANCELED: not at its end */
	bool recount; /* something is damaged */
	uint64_t nr_files; /* that were loose */
	struct opd_packer_size before;
	struct opd_packer_size after;
	struct op_diag diag;
};

/* ---- packing one folder -----------------------------------------------------
 */

/* Whether there is enough in a folder of that size. @at_end: for its rest. */
static bool is_due(const struct opd_store *store,
		   const struct opd_packer_size *size, bool at_end)
{
	uint64_t limit = (uint64_t)store->pack.limit << 20;

	if (!limit)
		return false;
	if (size->loose > limit + size->packed ||
	    opd_disk_wants_pack(store, size->loose))
		return true;
	return at_end && (size->packed || size->left);
}

/* Write the pack and make it count, after it was begun. Waits for readers at
 * most @wait_ms. */
static void write_and_commit(struct opd_store *store, struct opd_packer *packer,
			     unsigned int wait_ms,
			     struct opd_pack_report *report)
{
	int err;

	store->recount = false;
	err = opd_packer_write(store, packer, &report->diag);
	if (!err)
		err = opd_packer_commit(packer, wait_ms, &report->diag);
	if (!err && opd_packer_tidy(packer->dir, &report->diag))
		op_log(store->log, "%s", report->diag.text);
	report->recount = store->recount || packer->pack_damaged;
	report->nr_files = packer->nr_files;
	opd_packer_size(packer->dir, &report->after);
	report->err = err;
	opd_packer_cancel(packer);
}

/* All of it for a folder that nobody counts in. */
static void pack_at_rest(struct opd_store *store, const char *dir,
			 struct opd_pack_report *report)
{
	struct opd_packer packer;
	int err = opd_packer_size(dir, &report->before);

	if (err || !is_due(store, &report->before, true)) {
		report->err = err ? err : -ENODATA;
		return;
	}
	/* Adding to a pack takes no time. */
	if (is_due(store, &report->before, false))
		store->client->report_packing(store->client->ctx,
					      report->before.loose);
	err = opd_packer_begin(&packer, dir, false, END_WAIT, &report->diag);
	if (!err) {
		write_and_commit(store, &packer, END_WAIT, report);
		return;
	}
	report->err = err;
	/* All is packed, but a packer that was killed has left its folder. */
	if (err == -ENODATA && opd_packer_tidy(dir, &report->diag))
		op_log(store->log, "%s", report->diag.text);
}

/* ---- what came of it --------------------------------------------------------
 */

static void packing_succeeded(struct opd_store *store,
			      const struct opd_pack_report *report, double cost)
{
	struct opd_pack *pack = &store->pack;

	op_log(store->log,
	       "packed %" PRIu64 " sample files, %" PRIu64
	       " KiB with their folders, to %" PRIu64 " KiB (%" PRIu64
	       " KiB before), in %.2f s of a CPU's time",
	       report->nr_files, report->before.loose / 1024,
	       report->after.packed / 1024, report->before.packed / 1024, cost);
	pack->nr_made++;
	pack->again = pack->left = false;
	pack->pause = 0;
	pack->said.text[0] = '\0';
	pack->not_before =
		store->clock->seconds() + (time_t)(cost * COST_FACTOR);
}

/* Nothing is lost. The reason is said when it is another one than before. */
static void packing_failed(struct opd_store *store, const char *why)
{
	struct opd_pack *pack = &store->pack;

	pack->again = true;
	pack->pause = pack->pause ? pack->pause * 2 : FIRST_PAUSE;
	if (pack->pause > LAST_PAUSE)
		pack->pause = LAST_PAUSE;
	pack->not_before = store->clock->seconds() + pack->pause;
	if (!strcmp(pack->said.text, why))
		return;
	snprintf(pack->said.text, sizeof(pack->said.text), "%s", why);
	op_log(store->log,
	       "%s; sample files stay as they are and are packed later", why);
}

static const char *reason_of(const struct opd_pack_report *report)
{
	if (report->diag.text[0])
		return report->diag.text;
	return report->err == -ECANCELED ? "the packing process was killed"
					 : strerror(-report->err);
}

/* Once a minute: only what goes wrong is said, and once. */
static void settle_history(struct opd_store *store,
			   const struct opd_pack_report *report)
{
	struct op_diag *said = &store->pack.said;
	const char *why = report->err ? reason_of(report) : "";

	store->history.tended(store, report->err);
	if (strcmp(said->text, why) != 0 && *why)
		op_log(store->log, "%s; the history stays as it is", why);
	snprintf(said->text, sizeof(said->text), "%s", why);
}

static void settle_packing(struct opd_store *store,
			   const struct opd_pack_report *report, double cost)
{
	opd_disk_freed(store);
	if (report->is_history) {
		settle_history(store, report);
		return;
	}
	/* A child that was killed may have found damage. */
	store->recount |= report->recount || report->err == -ECANCELED;
	if (!report->err)
		packing_succeeded(store, report, cost);
	else if (report->err != -ENODATA)
		packing_failed(store, reason_of(report));
}

static double cost_of(const struct rusage *usage)
{
	return (double)(usage->ru_utime.tv_sec + usage->ru_stime.tv_sec) +
	       (double)(usage->ru_utime.tv_usec + usage->ru_stime.tv_usec) /
		       1e6;
}

/* ---- the child --------------------------------------------------------------
 */

/*
 * Close all but the log and the lock. The daemon may close its counters and
 * connections meanwhile: they end when no process has them open.
 */
static void close_other_files(int log, int lock)
{
	int kept[] = { STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO, log, lock };
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	for (int fd = 0; fd <= STDERR_FILENO && null >= 0; fd++)
		dup2(null, fd);
	op_close_others(kept, sizeof(kept) / sizeof(kept[0]));
}

/* Jobs of a child, in the folder ".". */
enum job {
	JOB_PACK_BEGUN, /* go on with what opd_packer_begin() has begun */
	JOB_PACK_SAVED, /* pack a session that was saved */
	JOB_HISTORY,
};

static void do_job(struct opd_store *store, enum job job,
		   struct opd_packer *packer, struct opd_pack_report *report)
{
	switch (job) {
	case JOB_PACK_BEGUN:
		packer->dir = ".";
		write_and_commit(store, packer, OPD_PACKER_LONG_WAIT, report);
		break;
	case JOB_PACK_SAVED:
		pack_at_rest(store, ".", report);
		break;
	case JOB_HISTORY:
		report->err = store->history.tend(
			store, ".", OPD_PACKER_LONG_WAIT, &report->diag);
		break;
	}
}

/* @folder is open: by its name there may be another one by now. */
__attribute__((noreturn)) static void work_in_child(struct opd_store *store,
						    pid_t daemon, int folder,
						    enum job job,
						    struct opd_packer *packer)
{
	struct opd_pack_report *report = store->pack.report;
	int err = fchdir(folder) ? -errno : 0;

	/* The daemon may be dead already, which sends no signal any more. */
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) || getppid() != daemon)
		_exit(1);
	setsid(); /* the daemon's has a priority: see opd_priority.h */
	close_other_files(store->log->fd, store->lock_fd);
	setpriority(PRIO_PROCESS, 0, NICE);
	if (err)
		report->err = err;
	else
		do_job(store, job, packer, report);
	_exit(0);
}

static void forget_child(struct opd_pack *pack)
{
	pack->child = 0;
	munmap(pack->report, sizeof(*pack->report));
	pack->report = NULL;
}

static int make_report(struct opd_pack *pack,
		       const struct opd_packer_size *before)
{
	void *memory = mmap(NULL, sizeof(*pack->report), PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		return -errno;
	pack->report = memory;
	pack->report->err = -ECANCELED;
	if (before)
		pack->report->before = *before;
	return 0;
}

/* Have a child do @job in folder @dir; @packer and @size, that of the folder,
 * are NULL but where packing has begun. */
static int start_child(struct opd_store *store, const char *dir, enum job job,
		       struct opd_packer *packer,
		       const struct opd_packer_size *size)
{
	struct opd_pack *pack = &store->pack;
	int folder = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int err = folder < 0 ? -errno : make_report(pack, size);
	pid_t daemon = getpid();

	if (!err) {
		pack->report->is_history = job == JOB_HISTORY;
		pack->child = fork();
		if (pack->child == 0)
			work_in_child(store, daemon, folder, job, packer);
		if (pack->child < 0) {
			err = -errno;
			forget_child(pack);
		}
	}
	if (folder >= 0)
		close(folder);
	return err;
}

/* Wait for the child, or only look (WNOHANG). True if it has ended. */
static bool wait_child(struct opd_store *store, int options, double *cost)
{
	struct rusage usage = { 0 };
	int status;
	pid_t pid;

	do
		pid = wait4(store->pack.child, &status, options, &usage);
	while (pid < 0 && errno == EINTR);
	*cost = cost_of(&usage);
	return pid != 0;
}

static void reap_child(struct opd_store *store, int options)
{
	struct opd_pack *pack = &store->pack;
	double cost;

	if (!pack->child || !wait_child(store, options, &cost))
		return;
	settle_packing(store, pack->report, cost);
	forget_child(pack);
}

void opd_pack_reap(struct opd_store *store)
{
	reap_child(store, WNOHANG);
}

/* ---- when -------------------------------------------------------------------
 */

static void start_packing(struct opd_store *store,
			  const struct opd_packer_size *size)
{
	const char *dir = store->session->current;
	struct op_diag diag = { "" };
	struct opd_packer packer;
	int err;

	err = opd_packer_begin(&packer, dir, store->pack.again,
			       OPD_PACKER_NO_WAIT, &diag);
	/* Somebody reads it: the next time. */
	if (err == -EBUSY || err == -ENODATA)
		return;
	/* The files are somewhere else now. */
	opd_sfiles_drop_all(store);
	if (!err) {
		err = start_child(store, dir, JOB_PACK_BEGUN, &packer, size);
		if (err)
			op_diag_set(&diag, err, "fork: %s", strerror(-err));
	}
	if (err)
		packing_failed(store, diag.text);
}

static void start_saved(struct opd_store *store)
{
	char *dir = store->pack.saved;

	store->pack.saved = NULL;
	if (start_child(store, dir, JOB_PACK_SAVED, NULL, NULL))
		op_log(store->log, "%s: cannot be packed", dir);
	free(dir);
}

static void start_history(struct opd_store *store)
{
	if (start_child(store, store->session->current, JOB_HISTORY, NULL,
			NULL))
		op_log(store->log, "%s: its history waits until later",
		       store->session->current);
}

void opd_pack_check(struct opd_store *store)
{
	struct opd_pack *pack = &store->pack;
	struct opd_packer_size size;

	opd_pack_reap(store);
	if (pack->child)
		return;
	if (store->history.is_untended) {
		start_history(store);
		return;
	}
	if (!store->pack.limit)
		return;
	if (pack->saved) {
		start_saved(store);
		return;
	}
	/* With a history, spans are packed. */
	if (store->history.limits.bytes ||
	    store->clock->seconds() < pack->not_before ||
	    opd_packer_size(store->session->current, &size))
		return;
	opd_disk_measure(store);
	if (is_due(store, &size, false) || (pack->left && size.left))
		start_packing(store, &size);
}

void opd_pack_saved(struct opd_store *store, const char *dir)
{
	free(store->pack.saved);
	store->pack.saved = strdup(dir);
}

static void pack_now(struct opd_store *store, const char *dir)
{
	struct opd_pack_report report = { .err = 0 };
	struct rusage before = { 0 }, after = { 0 };
	bool recount = store->recount;

	getrusage(RUSAGE_SELF, &before);
	pack_at_rest(store, dir, &report);
	getrusage(RUSAGE_SELF, &after);
	store->recount = recount;
	settle_packing(store, &report, cost_of(&after) - cost_of(&before));
}

static void tend_history_now(struct opd_store *store)
{
	struct opd_pack_report report = { .is_history = true };

	report.err = store->history.tend(store, store->session->current,
					 END_WAIT, &report.diag);
	settle_packing(store, &report, 0);
}

void opd_pack_finish(struct opd_store *store)
{
	struct opd_pack *pack = &store->pack;

	if (pack->child) {
		store->client->report_packing(store->client->ctx,
					      pack->report->before.loose);
		/* Somebody waits now; who may not do it, waits longer. */
		(void)setpriority(PRIO_PROCESS, (id_t)pack->child, 0);
		reap_child(store, 0);
	}
	if (store->history.is_untended)
		tend_history_now(store);
}

bool opd_pack_end(struct opd_store *store)
{
	struct opd_pack *pack = &store->pack;

	opd_pack_finish(store);
	if (store->pack.limit) {
		if (pack->saved)
			pack_now(store, pack->saved);
		pack_now(store, store->session->current);
	}
	return store->recount;
}

void opd_pack_stop(struct opd_store *store)
{
	struct opd_pack *pack = &store->pack;
	double cost;

	if (!pack->child)
		return;
	kill(pack->child, SIGKILL);
	wait_child(store, 0, &cost);
	/* The child may have found damage. */
	store->recount = true;
	forget_child(pack);
}

void opd_pack_release(struct opd_store *store)
{
	struct opd_pack *pack = &store->pack;

	opd_pack_stop(store);
	pack_close(pack->pack);
	free(pack->saved);
	memset(pack, 0, sizeof(*pack));
}
