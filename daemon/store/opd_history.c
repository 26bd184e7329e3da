// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Closing a span. All that samples/current holds is renamed, entry by entry,
 * into .closing-BEGIN-END, the ledger last; then that becomes .span-BEGIN-END.
 * Readers add up the folder and its spans, whether closing or closed, so each
 * rename leaves every sample where it counts once. They hold the lock of the
 * folder while they do so, and closing holds it alone.
 *
 * A daemon that is killed in between leaves .closing-BEGIN-END. The next one
 * moves the rest, as nothing was counted since, before it looks at the ledger:
 * the ledger is about all of it. If a rename fails, the span is closed with
 * what it has by then. It has no ledger: the one that stayed is about its
 * samples, too, and opd_session_count() adds them to those of the folder.
 *
 * Spans never overlap: each begins where the last one ended, also if the clock
 * was set back. Until it has come past that moment again, a span is closed only
 * where the disk gets short, and has one second.
 */

#include "daemon/store/opd_history.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/store/opd_packer.h"
#include "daemon/store/opd_store.h"
#include "libop/base/op_clock.h"
#include "libop/files/op_folder.h"
#include "libop/base/op_log.h"
#include "libop/session/op_session.h"
#include "libop/session/op_span.h"
#include "libop/files/op_walk.h"

#define PAUSE_AFTER_FAILURE 3600 /* seconds */

/* ---- moving into a span -----------------------------------------------------
 */

/* Nothing is replaced, whatever was there; not all file systems can promise
 * that in one step. */
static int rename_if_free(const char *from, const char *to)
{
	if (!renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE))
		return 0;
	if (errno != EINVAL && errno != ENOSYS)
		return -errno;
	if (!access(to, F_OK))
		return -EEXIST;
	return rename(from, to) ? -errno : 0;
}

static int rename_into(const char *dir, const char *span, const char *name)
{
	char from[PATH_MAX], to[PATH_MAX];
	int len = snprintf(from, sizeof(from), "%s/%s", dir, name);

	if (len < 0 || (size_t)len >= sizeof(from))
		return -ENAMETOOLONG;
	len = snprintf(to, sizeof(to), "%s/%s/%s", dir, span, name);
	if (len < 0 || (size_t)len >= sizeof(to))
		return -ENAMETOOLONG;
	return rename_if_free(from, to);
}

static bool is_moved(const char *name)
{
	struct op_span span;

	return strcmp(name, ".") != 0 && strcmp(name, "..") != 0 &&
	       strcmp(name, "ledger") != 0 && !op_span_parse(name, &span) &&
	       !op_session_is_unfinished(name);
}

static int move_all_but_ledger(const char *dir, const char *span)
{
	DIR *folder = opendir(dir);
	struct dirent *entry;
	int err = 0;

	if (!folder)
		return -errno;
	while (!err && (errno = 0, entry = readdir(folder)))
		if (is_moved(entry->d_name))
			err = rename_into(dir, span, entry->d_name);
	if (!err)
		err = -errno;
	closedir(folder);
	return err;
}

static int rename_closing(const char *dir, const struct op_span *span)
{
	char name[OP_SPAN_NAME_MAX], from[PATH_MAX], to[PATH_MAX];
	struct op_span closed = *span;

	op_span_name(span, name);
	snprintf(from, sizeof(from), "%.4000s/%s", dir, name);
	closed.state = OP_SPAN_CLOSED;
	op_span_name(&closed, name);
	snprintf(to, sizeof(to), "%.4000s/%s", dir, name);
	return rename(from, to) ? -errno : 0;
}

/*
 * Move all of session folder @dir into @span, which is there, and close it.
 * With the lock. Returns 0 when it has all; a rename that failed after that is
 * made by the next daemon.
 */
static int complete_span(const char *dir, const struct op_span *span)
{
	char name[OP_SPAN_NAME_MAX];
	int err;

	op_span_name(span, name);
	err = move_all_but_ledger(dir, name);
	if (!err)
		err = rename_into(dir, name, "ledger");
	(void)rename_closing(dir, span);
	return err == -ENOENT ? 0 : err;
}

static int begin_span(const char *dir, const struct op_span *span)
{
	char name[OP_SPAN_NAME_MAX], path[PATH_MAX];

	op_span_name(span, name);
	snprintf(path, sizeof(path), "%.4000s/%s", dir, name);
	return op_make_folder(path, 0755);
}

/* ---- the account of what is past --------------------------------------------
 */

static void read_past(struct opd_store *store)
{
	struct opd_history *history = &store->history;
	struct op_diag diag = { "" };
	int err;

	memset(&history->past, 0, sizeof(history->past));
	err = op_spans_account(store->session->current, &history->past, &diag);
	if (!err)
		err = op_spans_dropped(store->session->current,
				       &history->dropped,
				       &history->dropped_account, &diag);
	if (err)
		op_log(store->log, "%s", op_diag_text(&diag, err));
}

/* Add the account of @span, which has just been closed, to that of the
 * others. */
static void add_to_past(struct opd_store *store, struct op_span span)
{
	struct op_ledger *ledger = malloc(sizeof(*ledger));
	char name[OP_SPAN_NAME_MAX], path[PATH_MAX];
	struct op_diag diag = { "" };
	int err = ledger ? 0 : -ENOMEM;

	span.state = OP_SPAN_CLOSED;
	op_span_name(&span, name);
	snprintf(path, sizeof(path), "%.4000s/%s/ledger",
		 store->session->current, name);
	err = err ?: op_ledger_read(ledger, path, &diag)
		  ?: op_ledger_merge(&store->history.past, ledger);
	free(ledger);
	if (err)
		op_log(store->log, "%s", op_diag_text(&diag, err));
}

/* Spans of which no sum can be made would be read again each time. */
void opd_history_tended(struct opd_store *store, int err)
{
	if (err)
		store->history.sums_after =
			store->clock->date() + PAUSE_AFTER_FAILURE;
	read_past(store);
	/* No span is made before there is room again. */
	store->history.is_untended = opd_history_is_over(store);
}

/* ---- beginning --------------------------------------------------------------
 */

static void set_due(struct opd_store *store, time_t now)
{
	struct opd_history *history = &store->history;

	if (history->limits.nr)
		history->due =
			op_grain_end(history->limits.levels[0].grain, now);
}

/* Samples that are there are no older than their folder. */
static uint64_t folder_made(const char *path, time_t now)
{
	struct statx st;

	if (statx(AT_FDCWD, path, 0, STATX_BTIME, &st) ||
	    !(st.stx_mask & STATX_BTIME) || st.stx_btime.tv_sec <= 0 ||
	    st.stx_btime.tv_sec > now)
		return (uint64_t)now;
	return (uint64_t)st.stx_btime.tv_sec;
}

static void complete_closing(struct opd_store *store,
			     const struct op_span *span)
{
	const char *dir = store->session->current;
	int lock = opd_packer_lock(dir, OPD_PACKER_LONG_WAIT);
	int err = lock < 0 ? lock : complete_span(dir, span);

	if (lock >= 0)
		close(lock);
	if (err)
		op_log(store->log,
		       "%s: what was counted last is in two spans of its history: %s",
		       dir, strerror(-err));
}

void opd_history_init(struct opd_store *store, const struct op_history *limits)
{
	struct opd_history *history = &store->history;
	const char *dir = store->session->current;
	time_t now = store->clock->date ? store->clock->date() : 0;
	struct op_span *spans;
	size_t nr;
	int err = op_spans_list(dir, &spans, &nr);

	history->limits = *limits;
	history->tend = opd_history_tend;
	history->tended = opd_history_tended;
	history->begin = 0;
	for (size_t i = 0; i < nr; i++) {
		if (spans[i].state == OP_SPAN_CLOSING)
			complete_closing(store, &spans[i]);
		if (op_span_counts(&spans[i]) ||
		    spans[i].state == OP_SPAN_DROPPED)
			history->begin = spans[i].end;
	}
	free(spans);
	if (!history->begin)
		history->begin = folder_made(dir, now);
	history->is_untended = limits->bytes && nr;
	set_due(store, now);
	if (err && err != -ENOENT)
		op_log(store->log, "%s: %s", dir, strerror(-err));
	if (nr)
		read_past(store);
}

void opd_history_begin_anew(struct opd_store *store)
{
	struct opd_history *history = &store->history;

	memset(&history->past, 0, sizeof(history->past));
	memset(&history->dropped, 0, sizeof(history->dropped));
	memset(&history->dropped_account, 0, sizeof(history->dropped_account));
	history->is_untended = false;
	history->begin = 0;
	opd_history_skip(store);
}

/* ---- closing ----------------------------------------------------------------
 */

bool opd_history_is_due(struct opd_store *store)
{
	const struct opd_history *history = &store->history;
	time_t now;

	if (!history->limits.bytes)
		return false;
	now = store->clock->date();
	return ((uint64_t)now > history->begin && now >= history->due) ||
	       opd_disk_is_half_full(store);
}

bool opd_history_is_pressed(struct opd_store *store)
{
	struct opd_history *history = &store->history;
	time_t now;

	if (!history->limits.bytes || store->pack.child ||
	    !opd_disk_seems_half_full(store))
		return false;
	now = store->clock->date();
	if (now == history->pressed)
		return false;
	history->pressed = now;
	return true;
}

static int find_newest(const struct op_walk_entry *entry, void *ctx)
{
	time_t *newest = ctx;
	struct op_span span;

	if (entry->depth == 1 && op_span_parse(entry->name, &span))
		return OP_WALK_SKIP;
	if (entry->kind == OP_WALK_FILE && entry->st->st_mtime > *newest)
		*newest = entry->st->st_mtime;
	return 0;
}

time_t opd_history_left_at(const struct opd_store *store)
{
	time_t newest = 0;

	(void)op_walk(store->session->current, find_newest, &newest);
	return newest;
}

void opd_history_skip(struct opd_store *store)
{
	struct opd_history *history = &store->history;
	time_t now;

	if (!history->limits.bytes)
		return;
	now = store->clock->date();
	if ((uint64_t)now > history->begin)
		history->begin = (uint64_t)now;
	set_due(store, now);
}

/* Seconds since the epoch: no earlier than the span begins, nor in the future.
 */
static uint64_t end_of_span(const struct opd_history *history, time_t end,
			    time_t now)
{
	end = end < now ? end : now;
	return end > 0 && (uint64_t)end > history->begin ? (uint64_t)end
							 : history->begin + 1;
}

int opd_history_close(struct opd_store *store, time_t end, unsigned int wait_ms,
		      struct op_diag *diag)
{
	struct opd_history *history = &store->history;
	const char *dir = store->session->current;
	time_t now = store->clock->date();
	struct op_span span = { .begin = history->begin,
				.end = end_of_span(history, end, now),
				.state = OP_SPAN_CLOSING };
	int lock, err;

	if (store->pack.child || history->is_untended)
		return -EBUSY;
	lock = opd_packer_lock(dir, wait_ms);
	if (lock == -EBUSY)
		return lock;
	if (lock < 0)
		return op_diag_set(diag, lock, "%s: %s", dir, strerror(-lock));
	err = begin_span(dir, &span);
	if (err) {
		close(lock);
		return op_diag_set(
			diag, err,
			"%s: a span of its history cannot be made: %s; its samples are of the next one",
			dir, strerror(-err));
	}
	opd_sfiles_drop_all(store);
	err = complete_span(dir, &span);
	close(lock);
	opd_pack_moved(store);
	history->begin = span.end;
	history->is_untended = true;
	opd_history_skip(store);
	if (err)
		return op_diag_set(
			diag, err,
			"%s: a span of its history could not be closed: %s; its samples still count",
			dir, strerror(-err));
	store->recount = false;
	opd_disk_freed(store);
	add_to_past(store, span);
	return 0;
}
