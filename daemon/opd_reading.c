// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The rest of a record that a read has cut is moved to the start of the
 * buffer and completed by the next read. The number of reads for one event is
 * bounded, because a busy source would otherwise keep clients and signals
 * waiting for ever.
 *
 * Samples are counted even while the disk is written to: a disk that is busy
 * may take seconds, which no buffer of samples lasts.
 */

#include "daemon/opd_reading.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "daemon/context/opd_trans.h"
#include "daemon/opd.h"

/* Bounds on the reads for one event. A buffer that fills up as fast as it is
 * read must not be read for ever. Where signals and clients may be waiting, the
 * bound is lower: 2 MiB may be 128 pieces of stacks, and each takes its time to
 * be unwound. */
#define MAX_DRAIN_READS 4096
#define MAX_READS 4

void opd_reading_end(struct opd *opd, int err)
{
	opd->loop.quit = true;
	opd->loop.error = err;
	if (err)
		op_log(&opd->log, "reading samples: %s", strerror(-err));
}

bool opd_reading_once(struct opd *opd)
{
	struct opd_loop *loop = &opd->loop;
	size_t room = OPD_CHUNK_WORDS * sizeof(uint64_t) - loop->len;
	char *to = (char *)loop->words + loop->len;
	ssize_t got = opd_source_read(&opd->source, to, room);
	size_t used;

	if (got == -EAGAIN)
		return false;
	if (got <= 0) {
		opd_reading_end(opd, (int)got);
		return false;
	}
	opd_record_write(&opd->record, to, (size_t)got);
	loop->len += (size_t)got;
	opd->stats.nr_reads++;
	used = opd_trans_run(opd, loop->words, loop->len / sizeof(uint64_t));
	loop->len -= used * sizeof(uint64_t);
	memmove(loop->words, loop->words + used, loop->len);
	return true;
}

static bool read_many(struct opd *opd)
{
	bool more = true;

	for (int i = 0; more && i < MAX_READS; i++)
		more = opd_reading_once(opd);
	return more;
}

bool opd_reading_in_budget(struct opd *opd)
{
	bool more;

	opd_budget_reads(&opd->budget);
	more = read_many(opd);
	opd_budget_has_read(&opd->budget);
	return more;
}

void opd_reading_drain(struct opd *opd)
{
	bool more = true;

	/* Where more comes than can be read, a lower rate will end it. */
	for (int i = 0; more && i < MAX_DRAIN_READS; i += MAX_READS) {
		more = opd_reading_in_budget(opd);
		opd_budget_check(&opd->budget, false);
	}
}

/* ---- the disk ---------------------------------------------------------------
 */

/* A thread that waits until all of a file system is on the disk. */
struct barrier {
	int folder;
	int done; /* an eventfd */
	int err;
};

static void *wait_for_disk(void *arg)
{
	struct barrier *barrier = arg;

	if (syncfs(barrier->folder))
		barrier->err = -errno;
	if (barrier->done >= 0 && eventfd_write(barrier->done, 1))
		barrier->err = -errno;
	return NULL;
}

/* Count samples until the thread is done. */
static void count_until_written(struct opd *opd, struct barrier *barrier)
{
	struct pollfd fds[] = { { .fd = barrier->done, .events = POLLIN },
				{ .fd = opd->source.fd, .events = POLLIN } };

	while (!(fds[0].revents & POLLIN)) {
		/* A source that has ended is ready for ever. */
		if (opd->loop.quit)
			fds[1].fd = -1;
		if (poll(fds, 2, -1) < 0 && errno != EINTR)
			break;
		if (fds[1].revents)
			read_many(opd);
	}
}

/*
 * Bring to the disk what has been counted until now, the files, their folders
 * and the ledger, whatever is counted meanwhile. One call for the whole file
 * system: a session has thousands of files.
 */
static int bring_to_disk(struct opd *opd)
{
	struct barrier barrier = { .done = -1 };
	pthread_t thread;

	/* A recording can be replayed again. */
	if (opd->source.ops->ends)
		return 0;
	barrier.done = eventfd(0, EFD_CLOEXEC);
	barrier.folder =
		open(opd->session.samples, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (barrier.folder < 0) {
		barrier.err = -errno;
	} else if (barrier.done < 0 ||
		   pthread_create(&thread, NULL, wait_for_disk, &barrier)) {
		wait_for_disk(&barrier);
	} else {
		count_until_written(opd, &barrier);
		pthread_join(thread, NULL);
	}
	if (barrier.folder >= 0)
		close(barrier.folder);
	if (barrier.done >= 0)
		close(barrier.done);
	return barrier.err;
}

int opd_reading_dump(struct opd *opd, struct op_diag *diag)
{
	int err = opd_source_dump(&opd->source, diag);

	if (err)
		return err;
	opd_reading_drain(opd);
	opd_record_flush(&opd->record);
	opd_deleted_images_sweep(&opd->deleted_images);
	opd_sfiles_sync(&opd->store);
	while (opd_ksyms_copy_next(&opd->ksyms))
		;
	opd_tasks_write(&opd->tasks, false);
	opd_budget_check(&opd->budget, true);
	err = opd_stats_write(&opd->stats);
	if (err)
		op_diag_set(diag, err, "the ledger cannot be written");
	else
		err = bring_to_disk(opd);
	opd_pack_check(&opd->store);
	return err ? op_diag_set(diag, err,
				 "%s: samples cannot be written to disk: %s",
				 opd->session.samples, strerror(-err))
		   : 0;
}
