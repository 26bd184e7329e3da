// SPDX-License-Identifier: GPL-2.0-or-later

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "daemon/opd.h"
#include "daemon/opd_proc.h"
#include "daemon/store/opd_reserve.h"

#define SPARE_DESCRIPTORS 8

void opd_init(struct opd *opd)
{
	memset(opd, 0, sizeof(*opd));
	opd->clock = &op_clock;
	opd->lock_fd = -1;
	opd->source.fd = opd->source.dir = -1;
	opd->loop.epoll_fd = opd->loop.signal_fd = opd->loop.timer_fd = -1;
	op_log_init(&opd->log);
	opd_control_init(&opd->control);
}

void opd_set_cpu_type(struct opd *opd, const char *type)
{
	bool ok = *type && strlen(type) < sizeof(opd->cpu_type);

	for (const char *c = type; *c; c++)
		ok &= *c > ' ' && *c < 0x7f;
	snprintf(opd->cpu_type, sizeof(opd->cpu_type), "%s",
		 ok ? type : "unknown");
}

/* What only the source knows about its events and its machine. */
static void describe(struct opd *opd)
{
	const struct opd_source *source = &opd->source;
	struct opd_events *events = &opd->options.events;

	for (unsigned int i = 0; i < events->nr; i++)
		if (events->counter[i].set &&
		    opd_event_is_timer(&events->counter[i]))
			events->counter[i].value = source->timer_hz;
	opd->events = *events;
	/* A call from one image to another is one of an application. */
	if (source->stacks)
		opd->options.separate_lib = true;
	opd_set_cpu_type(opd, source->cpu_type);
	opd->cpu_khz = source->ops->replays ? 0 : opd_proc_cpu_khz();
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

int opd_setup(struct opd *opd, struct op_diag *diag)
{
	rlim_t left;
	int err = check_descriptors(&left, diag);

	if (err)
		return err;
	describe(opd);
	opd_keep_init(&opd->keep, opd->source.targeted, left);
	opd_trans_init(opd);
	opd_sfiles_init(opd);
	err = opd_images_init(opd);
	if (!err)
		err = opd_trace_init(&opd->trace);
	if (!err)
		err = opd_user_stacks_init(opd);
	if (!err)
		err = opd_stacks_init(opd);
	if (!err)
		err = opd_defer_init(&opd->defer);
	if (err)
		return op_diag_set(diag, err, "start: %s", strerror(-err));
	if (opd->source.ops->replays)
		opd_kernel_clear(opd);
	else
		opd_kernel_init(opd);
	opd_pack_init(opd);
	err = opd_stats_init(opd, diag);
	if (!err)
		err = opd_extended_start(opd, diag);
	if (!err && opd->options.record)
		err = opd_record_open(opd, opd->options.record, diag);
	if (!err)
		opd_ksyms_take_kernel(opd);
	return err;
}

int opd_finish(struct opd *opd)
{
	int err;

	opd_defer_retry(opd, OP_NO_COOKIE, true);
	while (opd_ksyms_take(opd))
		;
	opd_sfiles_sync(opd);
	opd_sfiles_drop_all(opd);
	err = opd_stats_write_last(opd);
	/* It may also have made room. */
	if (opd_pack_end(opd) || err)
		err = opd_stats_write_last(opd);
	opd_reserve_use(&opd->session);
	opd_stats_log(opd);
	opd_record_close(opd);
	return err;
}

void opd_release(struct opd *opd)
{
	opd_record_close(opd);
	opd_sfiles_drop_all(opd);
	opd_source_close(&opd->source);
	opd_loop_release(opd);
	opd_control_close(opd);
	opd_session_unlock(opd);
	opd_defer_release(&opd->defer);
	opd_trace_release(&opd->trace);
	opd_user_stacks_release(opd);
	opd_keep_release(&opd->keep);
	opd_cookies_release(&opd->cookies);
	opd_kernel_release(&opd->kernel);
	opd_images_release(opd);
	opd_anon_release(&opd->anon);
	opd_extended_release(opd);
	opd_pack_release(opd);
	op_log_close(&opd->log);
}
