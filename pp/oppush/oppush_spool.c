// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The order in which a profile is added:
 *
 *	pending-N, sum-N	whole, on the disk
 *	state			names N
 *	profile-N		is pending-N from now on
 *	sum-(N-1)		is removed
 *
 * Whoever finds pending-N beside a state of N goes on from there; beside an
 * earlier one, removes it.
 */

#include "pp/oppush/oppush_spool.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libop/base/op_array.h"
#include "libop/base/op_clock.h"
#include "libop/files/op_config.h"
#include "libop/files/op_file.h"
#include "libop/files/op_folder.h"
#include "libop/files/op_lock.h"
#include "libop/session/op_session.h"

#define PENDING "pending-"
#define PROFILE "profile-"
#define SUM "sum-"
#define END ".pb.gz"

void push_spool_path(const struct push_spool *spool, const char *name,
		     char *buf)
{
	snprintf(buf, PATH_MAX, "%.3900s/%.127s", spool->dir, name);
}

static void path_of_sum(const struct push_spool *spool, uint64_t number,
			char *buf)
{
	char name[64];

	snprintf(name, sizeof(name), SUM "%" PRIu64 END, number);
	push_spool_path(spool, name, buf);
}

void push_spool_sum_path(const struct push_spool *spool, char *buf)
{
	path_of_sum(spool, spool->state.number, buf);
}

static int fail_spool(const char *path, struct op_diag *diag)
{
	return op_diag_set(diag, -errno, "%s: %s", path, strerror(errno));
}

/* ---- the state --------------------------------------------------------------
 */

/* Each number of struct push_state: its key and its place. */
#define STATE_NUMBERS(s)                                                       \
	{                                                                      \
		{ "number", &(s)->number }, { "taken", &(s)->taken },          \
			{ "end", (uint64_t *)&(s)->end },                      \
			{ "dropped_profiles", &(s)->dropped_profiles },        \
			{ "dropped_samples", &(s)->dropped_samples },          \
			{ "told_samples", &(s)->told_samples },                \
			{ "failures", &(s)->failures },                        \
			{ "refusals", &(s)->refusals },                        \
			{ "retry_at", (uint64_t *)&(s)->retry_at },            \
	}

struct state_number {
	const char *key;
	uint64_t *value;
};

static int read_push_state(struct push_spool *spool, struct op_diag *diag)
{
	const struct state_number numbers[] = STATE_NUMBERS(&spool->state);
	struct op_config *config;
	const char *session;
	char path[PATH_MAX];
	int err;

	push_spool_path(spool, "state", path);
	err = op_config_read(&config, path, diag);
	if (err)
		return err == -ENOENT ? 0 : err;
	for (size_t i = 0; !err && i < sizeof(numbers) / sizeof(*numbers); i++)
		err = op_config_get_u64(config, numbers[i].key,
					numbers[i].value, diag);
	session = op_config_find(config, "session");
	snprintf(spool->state.session, sizeof(spool->state.session), "%s",
		 session ?: "");
	op_config_free(config);
	return err ? op_diag_set(
			     diag, err,
			     "%s: is damaged; send the other files there by other means, and remove it",
			     path)
		   : 0;
}

static int write_push_state(const struct push_spool *spool,
			    const struct push_state *state,
			    struct op_diag *diag)
{
	struct push_state copy = *state;
	const struct state_number numbers[] = STATE_NUMBERS(&copy);
	struct op_config *config = op_config_new();
	char path[PATH_MAX];
	int err = config ? op_config_set(config, "session", copy.session)
			 : -ENOMEM;

	push_spool_path(spool, "state", path);
	for (size_t i = 0; !err && i < sizeof(numbers) / sizeof(*numbers); i++)
		err = op_config_set_u64(config, numbers[i].key,
					*numbers[i].value);
	if (!err)
		err = op_config_write(config, path, 0600, diag);
	op_config_free(config);
	return err;
}

int push_spool_save(struct push_spool *spool, struct op_diag *diag)
{
	return write_push_state(spool, &spool->state, diag);
}

/* A state may be in place though writing it failed at the end. */
static int commit_push_state(const struct push_spool *spool,
			     const struct push_state *state,
			     struct op_diag *diag)
{
	struct push_spool found = { .dir = spool->dir };
	struct op_diag unused = { "" };
	int err = write_push_state(spool, state, diag);

	if (err && !read_push_state(&found, &unused) &&
	    found.state.number == state->number) {
		diag->text[0] = '\0';
		return 0;
	}
	return err;
}

/* ---- what is there ----------------------------------------------------------
 */

/* Whether @name is that of a profile, whose numbers are then in @profile. */
static bool parse_profile_name(const char *name, const char *start,
			       struct push_spooled *profile)
{
	int len = 0;

	if (strncmp(name, start, strlen(start)) != 0 ||
	    strlen(name) >= sizeof(profile->name))
		return false;
	strcpy(profile->name, name);
	return sscanf(name + strlen(start),
		      "%" SCNu64 "-%" SCNd64 "-%" SCNd64 "-%" SCNu64 END "%n",
		      &profile->number, &profile->begin, &profile->end,
		      &profile->samples, &len) == 4 &&
	       len && !name[strlen(start) + (size_t)len];
}

static int list_profile(struct push_spool *spool, struct push_spooled *profile,
			struct op_diag *diag)
{
	char path[PATH_MAX];
	struct stat st;

	push_spool_path(spool, profile->name, path);
	if (stat(path, &st))
		return fail_spool(path, diag);
	profile->bytes = (uint64_t)st.st_size;
	if (op_array_reserve(&spool->list, spool->nr, 1))
		return -ENOMEM;
	spool->list[spool->nr++] = *profile;
	spool->bytes += profile->bytes;
	return 0;
}

/* A pending profile that the state has is one of the others now. */
static int settle_pending(struct push_spool *spool,
			  struct push_spooled *profile, struct op_diag *diag)
{
	char from[PATH_MAX], to[PATH_MAX];

	push_spool_path(spool, profile->name, from);
	if (profile->number > spool->state.number)
		return unlink(from) ? fail_spool(from, diag) : 0;
	memcpy(profile->name, PROFILE, strlen(PROFILE));
	push_spool_path(spool, profile->name, to);
	if (rename(from, to))
		return fail_spool(from, diag);
	return list_profile(spool, profile, diag);
}

static int read_spool_entry(struct push_spool *spool, const char *name,
			    struct op_diag *diag)
{
	struct push_spooled profile;
	char path[PATH_MAX];
	uint64_t number;

	_Static_assert(sizeof(PENDING) == sizeof(PROFILE), "one is put over");
	if (parse_profile_name(name, PROFILE, &profile))
		return list_profile(spool, &profile, diag);
	if (parse_profile_name(name, PENDING, &profile))
		return settle_pending(spool, &profile, diag);
	/* Sums of other states, and files that were never whole. */
	push_spool_path(spool, name, path);
	if (op_session_is_unfinished(name) ||
	    (sscanf(name, SUM "%" SCNu64, &number) == 1 &&
	     number != spool->state.number))
		unlink(path);
	return 0;
}

static int compare_profiles(const void *pa, const void *pb)
{
	const struct push_spooled *a = pa, *b = pb;

	return (a->number > b->number) - (a->number < b->number);
}

static int list_spool(struct push_spool *spool, struct op_diag *diag)
{
	DIR *dir = opendir(spool->dir);
	const struct dirent *entry;
	int err = 0;

	if (!dir)
		return fail_spool(spool->dir, diag);
	while (!err && (errno = 0, entry = readdir(dir)))
		err = read_spool_entry(spool, entry->d_name, diag);
	if (!err && errno)
		err = fail_spool(spool->dir, diag);
	closedir(dir);
	if (spool->nr)
		qsort(spool->list, spool->nr, sizeof(*spool->list),
		      compare_profiles);
	return err;
}

/* ---- life -------------------------------------------------------------------
 */

static int lock_spool(struct push_spool *spool, struct op_diag *diag)
{
	char path[PATH_MAX];
	int err;

	push_spool_path(spool, "lock", path);
	err = op_make_parents(path, 0700);
	if (err)
		return op_diag_set(
			diag, err,
			"%s: cannot be made: %s; name another folder with --spool",
			spool->dir, strerror(-err));
	spool->fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (spool->fd < 0)
		return fail_spool(path, diag);
	err = op_lock(spool->fd, 0, &op_clock);
	if (err == -EBUSY)
		return op_diag_set(
			diag, err,
			"%s: another oppush uses it; name another folder with --spool",
			spool->dir);
	return err ? op_diag_set(diag, err, "%s: %s", path, strerror(-err)) : 0;
}

int push_spool_open(struct push_spool *spool, const char *dir, uint64_t max,
		    struct op_diag *diag)
{
	int err;

	*spool = (struct push_spool){ .dir = dir, .fd = -1, .max = max };
	if (strlen(dir) > 3900)
		return op_diag_set(diag, -ENAMETOOLONG, "%s: too long", dir);
	err = lock_spool(spool, diag);
	if (!err)
		err = read_push_state(spool, diag);
	return err ?: list_spool(spool, diag);
}

void push_spool_close(struct push_spool *spool)
{
	if (spool->fd >= 0)
		close(spool->fd);
	spool->fd = -1;
	free(spool->list);
	spool->list = NULL;
	spool->nr = 0;
}

/* ---- changes ----------------------------------------------------------------
 */

static int write_spool_file(const char *path, const struct push_bytes *bytes,
			    struct op_diag *diag)
{
	struct op_replace replace;
	int err = op_replace_open(&replace, path, 0600, diag);

	if (err)
		return err;
	fwrite(bytes->bytes, 1, bytes->len, replace.file);
	return op_replace_commit(&replace, diag);
}

int push_spool_add(struct push_spool *spool, const struct push_state *state,
		   int64_t begin, uint64_t samples,
		   const struct push_bytes *profile,
		   const struct push_bytes *sum, struct op_diag *diag)
{
	struct push_state next = *state;
	struct push_spooled added = { .begin = begin,
				      .end = state->end,
				      .samples = samples };
	char path[PATH_MAX], sum_path[PATH_MAX], old[PATH_MAX];
	int err;

	if (spool->bytes + profile->len > spool->max)
		return -ENOSPC;
	next.number = added.number = spool->state.number + 1;
	snprintf(added.name, sizeof(added.name),
		 PENDING "%010" PRIu64 "-%" PRId64 "-%" PRId64 "-%" PRIu64 END,
		 added.number, begin, added.end, samples);
	push_spool_path(spool, added.name, path);
	push_spool_sum_path(spool, old);
	path_of_sum(spool, next.number, sum_path);
	err = write_spool_file(path, profile, diag)
		      ?: write_spool_file(sum_path, sum, diag)
		      ?: commit_push_state(spool, &next, diag);
	if (err) {
		unlink(path);
		unlink(sum_path);
		return err;
	}
	spool->state = next;
	unlink(old);
	return settle_pending(spool, &added, diag);
}

int push_spool_remove(struct push_spool *spool, bool is_dropped,
		      struct op_diag *diag)
{
	const struct push_spooled *first = spool->list;
	char path[PATH_MAX];

	push_spool_path(spool, first->name, path);
	if (unlink(path) && errno != ENOENT)
		return fail_spool(path, diag);
	if (is_dropped) {
		spool->state.dropped_profiles++;
		spool->state.dropped_samples += first->samples;
	}
	spool->state.failures = spool->state.refusals = 0;
	spool->state.retry_at = 0;
	spool->bytes -= first->bytes;
	spool->nr--;
	memmove(spool->list, spool->list + 1, spool->nr * sizeof(*spool->list));
	return push_spool_save(spool, diag);
}
