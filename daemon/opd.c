// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The life of the daemon: opd_init() makes everything releasable, opd_setup()
 * makes it ready, opd_finish() brings the session to its end, and opd_release()
 * frees whatever there is, however far the setup came.
 *
 * The order of opd_finish() matters. Samples that wait for a name meet their
 * fate first, then symbols are taken, files are closed and the ledger is
 * written. Packing comes after that, because it may take long: a daemon that is
 * killed while it packs leaves a ledger that agrees with the files. The ledger
 * is written again when packing found damage, or when the first attempt failed,
 * as packing may have made room on the disk.
 */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "daemon/opd.h"
#include "daemon/opd_span.h"
#include "daemon/store/opd_history.h"
#include "daemon/store/opd_leftovers.h"
#include "daemon/store/opd_reserve.h"
#include "daemon/store/opd_session.h"
#include "libcfi/unwinder.h"

#define SPARE_DESCRIPTORS 8
#define READERS_WAIT 5000 /* milliseconds */

/* ---- what the source finds on this machine ---------------------------------
 */

static void see_image(void *ctx, const struct op_cookie_query *query,
		      uint32_t tgid, int fd)
{
	struct opd *opd = ctx;
	struct opd_binary binary = { .name = query->path,
				     .mtime = query->mtime };

	if (opd_cookie_is_made(query))
		return; /* its file is in the session */
	opd_user_stacks_see(&opd->user_stacks, query->path);
	binary.build_id.len = query->build_id_len;
	memcpy(binary.build_id.bytes, query->build_id, query->build_id_len);
	if (query->flags & OP_IMAGE_MAY_HANG)
		opd_deleted_images_shut(&opd->deleted_images, &binary);
	opd_deleted_images_binary(&opd->deleted_images, &binary, tgid,
				  query->flags & OP_IMAGE_DELETED, fd);
}

static void see_kernel(void *ctx, const char *name, uint64_t start,
		       uint64_t end, const struct op_build_id *build_id,
		       struct op_kallsyms *all)
{
	struct opd *opd = ctx;

	opd_ksyms_see(&opd->ksyms, name, start, end, build_id, all);
}

static bool has_kernel(void *ctx, const struct op_build_id *build_id,
		       uint64_t *size)
{
	struct opd *opd = ctx;

	return opd_ksyms_has_kernel(&opd->ksyms, build_id, size);
}

/* ---- what happens in the store ----------------------------------------------
 */

static void drop_sfile(void *ctx, struct opd_sfile *sfile)
{
	struct opd *opd = ctx;

	opd_transient_forget_sfile(&opd->trans, sfile);
	opd_extended_close(&opd->extended, sfile);
}

static void sync_sfile(void *ctx, struct opd_sfile *sfile)
{
	struct opd *opd = ctx;

	opd_extended_sync(&opd->extended, sfile);
}

static void want_symbols(void *ctx, struct opd_image *image)
{
	struct opd *opd = ctx;

	opd_ksyms_want(&opd->ksyms, image);
}

static void report_packing(void *ctx, uint64_t bytes)
{
	struct opd *opd = ctx;

	opd_control_report_packing(&opd->control, bytes);
}

/* ---- life -------------------------------------------------------------------
 */

void opd_init(struct opd *opd)
{
	memset(opd, 0, sizeof(*opd));
	opd->clock = &op_clock;
	opd->source.fd = opd->source.dir = -1;
	opd->loop.epoll_fd = opd->loop.signal_fd = opd->loop.timer_fd = -1;
	op_log_init(&opd->log);
	opd->client = (struct opd_source_client){
		.ctx = opd,
		.log = &opd->log,
		.see_image = see_image,
		.see_kernel = see_kernel,
		.has_kernel = has_kernel,
		.images = opd->session.images,
		.clock = opd->clock,
	};
	opd->store_client =
		(struct opd_store_client){ opd, drop_sfile, sync_sfile,
					   want_symbols, report_packing };
	opd_store_init(&opd->store, &opd->session, &opd->log, opd->clock,
		       &opd->events, &opd->store_client);
	/* The source may tell of the kernel before the setup. */
	opd_ksyms_init(&opd->ksyms, &opd->images, &opd->session, &opd->options,
		       &opd->log);
	opd_control_init(&opd->control, &opd->loop, &opd->log);
	opd_user_samples_init(&opd->user_samples, &opd->options, &opd->session,
			      opd->clock, &opd->log);
}

void opd_choose_names(struct opd *opd)
{
	const struct opd_options *o = &opd->options;
	unsigned int tells = 0;

	if (o->separate_lib)
		tells |= OPD_TELL_RUNS;
	if (o->separate_thread)
		tells |= OPD_TELL_NAMES;
	if (o->separate_cgroup || o->separate_thread)
		tells |= OPD_TELL_CGROUPS;
	if (o->separate_user)
		tells |= OPD_TELL_OWNERS;
	/* A recording may be replayed with any options. */
	if (o->record)
		tells |= OPD_TELL_RUNS | OPD_TELL_NAMES | OPD_TELL_CGROUPS |
			 OPD_TELL_OWNERS;
	opd->client.tells = tells;
}

/*
 * Descriptors that will be needed for a moment each, by sample files, symbols
 * and the ledger: better to fail now than with samples in hand. Sets *@left to
 * how many there are besides.
 */
static int check_descriptors(rlim_t *left, struct op_diag *diag)
{
	int fds[SPARE_DESCRIPTORS], last = -1, nr = 0, err = 0;
	struct rlimit limit = { 0 };

	while (nr < SPARE_DESCRIPTORS && !err) {
		last = open("/dev/null", O_RDONLY | O_CLOEXEC);
		if (last < 0)
			err = -errno;
		else
			fds[nr++] = last;
	}
	getrlimit(RLIMIT_NOFILE, &limit);
	*left = 0;
	/* New ones are the lowest there are. */
	if (!err && limit.rlim_cur > (rlim_t)last)
		*left = limit.rlim_cur - (rlim_t)last - 1;
	while (nr--)
		close(fds[nr]);
	return err ? op_diag_set(diag, err, "start: %s", strerror(-err)) : 0;
}

/* Connect the parts that samples and stacks pass through. */
static int make_parts(struct opd *opd)
{
	struct opd_source *source = &opd->source;
	struct unwinder *unwinder = NULL;
	const char *live_proc = NULL;
	int err;

	/* Code is read in the memory of processes of this machine. A recording
	 * has no memory, and its replay is to give the same stacks. */
	if (source->ops->of_this_machine && !opd->options.record)
		live_proc = source->proc;

	opd->places.options = &opd->options;
	opd->places.cookies = &opd->cookies;
	opd->places.kernel = &opd->kernel;
	opd->places.images = &opd->images;
	opd->places.store = &opd->store;
	opd->places.tasks = &opd->tasks;
	opd_cookies_init(&opd->cookies, &opd->images, &opd->log);
	opd_tasks_init(&opd->tasks, &opd->session, &opd->log,
		       opd->options.separate_thread);
	opd_kernel_init(&opd->kernel, &opd->images, opd->options.vmlinux);
	err = opd_images_init(&opd->images, opd->options.images,
			      opd->options.nr_images)
		      ?: opd_places_init(&opd->places)
		      ?: opd_trace_init(&opd->trace, &opd->stacks, &opd->defer,
					&opd->stats)
		      ?: opd_user_stacks_init(&opd->user_stacks, &opd->cookies,
					      &opd->anon, &opd->deleted_images,
					      &opd->trans.context, &opd->trace,
					      live_proc);
	if (err)
		return err;
	/* A source with an unwinder has read the images for it already. */
	if (source->ops->unwinder)
		unwinder = source->ops->unwinder(source);
	return opd_stacks_init(&opd->stacks, &opd->places,
			       unwinder ? unwinder : opd->user_stacks.unwinder,
			       &opd->stats)
		       ?: opd_defer_init(&opd->defer, &opd->places,
					 &opd->stacks, &opd->stats);
}

/*
 * End the span of a former daemon with that daemon: otherwise it would reach
 * over all the time in which none was running.
 */
static void close_left_span(struct opd *opd)
{
	struct op_diag diag = { "" };
	int err;

	if (!opd->options.history.bytes)
		return;
	opd_pack_finish(&opd->store);
	err = opd_span_close_left(opd, READERS_WAIT, &diag);
	if (err)
		op_log(&opd->log,
		       "%s: the last counts share a span with the next ones: %s",
		       opd->session.current, op_diag_text(&diag, err));
}

/* So that reports find the time when it ended. */
static void close_last_span(struct opd *opd)
{
	struct op_diag diag = { "" };
	int err;

	opd_pack_finish(&opd->store);
	err = opd_span_close_last(opd, READERS_WAIT, &diag);
	if (err)
		op_log(&opd->log, "%s: its last span is not closed: %s",
		       opd->session.current, op_diag_text(&diag, err));
}

static void set_run(struct opd *opd)
{
	const struct opd_options *options = &opd->options;
	struct op_run *run = &opd->stats.run;

	*run = opd->source.run;
	if (options->command_line)
		op_run_set_text(run->command, sizeof(run->command),
				options->command_line);
	if (options->note)
		op_run_set_text(run->note, sizeof(run->note), options->note);
}

int opd_setup(struct opd *opd, struct op_diag *diag)
{
	rlim_t left;
	int err = check_descriptors(&left, diag);

	if (err)
		return err;
	/* Until the stream says better. */
	opd->events = opd->options.events;
	opd_store_set_cpu(&opd->store, opd->source.cpu_type, 0);
	opd_stats_set_source(&opd->stats, opd->source.name);
	set_run(opd);
	opd_deleted_images_init(&opd->deleted_images, &opd->session, &opd->log,
				opd->clock, opd->source.targeted, left);
	opd_transient_init(opd);
	opd_sfiles_init(&opd->store);
	err = make_parts(opd);
	if (err)
		return op_diag_set(diag, err, "start: %s", strerror(-err));
	opd_leftovers_remove(&opd->store);
	opd_history_init(&opd->store, &opd->options.history);
	opd_pack_init(&opd->store, opd->options.pack_at);
	opd_disk_init(&opd->store, opd->options.max_disk);
	opd_timeline_init(&opd->store.timeline, opd->session.current,
			  opd->options.history.bytes ? 0 : opd->options.slices,
			  opd_disk_room(&opd->store), &opd->log);
	err = opd_stats_init(&opd->stats, &opd->store, &opd->defer.nr_taken,
			     diag);
	opd_budget_begin(&opd->budget, &opd->source, &opd->log,
			 opd->options.cpu_budget);
	opd->stats.costs = opd->budget.costs;
	if (!err)
		close_left_span(opd);
	if (!err)
		err = opd_extended_start(&opd->extended, &opd->store, diag);
	if (!err && opd->options.record)
		err = opd_record_open(&opd->record, opd->options.record,
				      &opd->log, diag);
	return err;
}

void opd_log_statistics(struct opd *opd)
{
	opd_stats_log(&opd->stats);
	opd_extended_print_stats(&opd->extended);
	if (opd->source.ops->log)
		opd->source.ops->log(&opd->source, &opd->log);
}

int opd_finish(struct opd *opd)
{
	int err;

	opd_defer_retry(&opd->defer, OP_NO_COOKIE, true);
	while (opd_ksyms_copy_next(&opd->ksyms))
		;
	opd_sfiles_sync(&opd->store);
	opd_sfiles_drop_all(&opd->store);
	opd_timeline_end(&opd->store.timeline);
	opd_tasks_write(&opd->tasks, false);
	err = opd_stats_write_last(&opd->stats);
	if (opd->options.history.bytes) {
		close_last_span(opd);
		err = opd_stats_write_last(&opd->stats);
	}
	/* Packing may also have made room. */
	if (opd_pack_end(&opd->store) || err)
		err = opd_stats_write_last(&opd->stats);
	opd_reserve_free(&opd->session);
	opd_log_statistics(opd);
	opd_record_close(&opd->record);
	return err;
}

void opd_release(struct opd *opd)
{
	opd_record_close(&opd->record);
	opd_sfiles_drop_all(&opd->store);
	opd_timeline_release(&opd->store.timeline);
	opd_budget_release(&opd->budget);
	opd_source_close(&opd->source);
	opd_loop_release(&opd->loop);
	opd_control_close(&opd->control);
	opd_user_samples_close(&opd->user_samples);
	opd_session_unlock(&opd->store);
	opd_defer_release(&opd->defer);
	opd_trace_release(&opd->trace);
	opd_user_stacks_release(&opd->user_stacks);
	opd_deleted_images_release(&opd->deleted_images);
	opd_ksyms_release(&opd->ksyms);
	opd_cookies_release(&opd->cookies);
	opd_kernel_release(&opd->kernel);
	opd_tasks_release(&opd->tasks);
	opd_images_release(&opd->images);
	opd_places_release(&opd->places);
	opd_stacks_release(&opd->stacks);
	opd_anon_release(&opd->anon);
	opd_extended_release(&opd->extended);
	opd_pack_release(&opd->store);
	op_log_close(&opd->log);
}
