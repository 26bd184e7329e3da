// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The thread waits for a query, asks the daemon, looks whether the sample files
 * have changed, reads them, and leaves a result, which replaces one that nobody
 * took. A daemon is asked by its control socket, as `opcontrol --dump` does.
 * Where there is none, the account of the session, which each daemon writes at
 * its end, and the session's folder tell whether anything is new; where there
 * is one that does not answer, or not to this user, there may be something new
 * at any time.
 */

#include "pp/optop/optop_reader.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libop/session/op_control.h"

#define DAEMON_MS 15000 /* a daemon may have to wait for the disk */

struct optop_reader {
	const struct pp_request *base;
	pthread_t thread;
	pthread_mutex_t lock; /* of all below */
	pthread_cond_t asked;
	int fd;
	bool ends;
	bool is_reading;
	bool has_query, has_result;
	struct optop_query query;
	uint64_t known; /* with the query */
	uint64_t number; /* of the last query */
	struct optop_result result;
	enum optop_daemon daemon; /* as seen last, by the thread alone */
};

/* ---- queries ------------------------------------------------------------- */

static bool copy_text(const char **to, const char *from)
{
	*to = from ? strdup(from) : NULL;
	return !from || *to;
}

int optop_query_copy(struct optop_query *to, const struct optop_query *from)
{
	struct optop_target *t = &to->target;
	const struct optop_target *f = &from->target;
	bool done;

	*to = *from;
	done = copy_text(&t->image, f->image);
	done &= copy_text(&t->symbol, f->symbol);
	done &= copy_text(&t->title, f->title);
	done &= copy_text(&t->file, f->file);
	done &= copy_text(&t->cgroup, f->cgroup);
	return done ? 0 : -ENOMEM;
}

void optop_query_release(struct optop_query *query)
{
	free((char *)query->target.image);
	free((char *)query->target.symbol);
	free((char *)query->target.title);
	free((char *)query->target.file);
	free((char *)query->target.cgroup);
	memset(query, 0, sizeof(*query));
}

/* ---- the daemon and its files -------------------------------------------- */

/* Whether the samples are those that a daemon adds to. */
static bool is_current(const struct pp_request *base)
{
	const struct pp_spec_list *sessions =
		&base->select.spec->lists[PP_SPEC_SESSION];

	if (base->select.spec->lists[PP_SPEC_ARCHIVE].nr)
		return false;
	for (size_t i = 0; i < sessions->nr; i++)
		if (!strcmp(sessions->items[i].text, "current"))
			return true;
	return !sessions->nr;
}

static bool was_there(enum optop_daemon daemon)
{
	return daemon != OPTOP_NO_DAEMON;
}

static enum optop_daemon ask_daemon(const struct pp_request *base,
				    enum optop_daemon before,
				    struct op_diag *diag)
{
	int err = op_control_call(base->select.session->socket, "dump", NULL, 0,
				  DAEMON_MS, diag);

	switch (err) {
	case 0:
		return OPTOP_ANSWERS;
	case -EACCES:
	case -EPERM:
		return OPTOP_REFUSES;
	case -EREMOTEIO:
		return OPTOP_FAILS;
	case -ETIMEDOUT:
		return OPTOP_SILENT;
	case -ENOENT:
	case -ENOTDIR:
		return !was_there(before)	? OPTOP_NO_DAEMON
		       : before == OPTOP_KILLED ? OPTOP_KILLED
						: OPTOP_ENDED;
	default: /* -ECONNREFUSED; or its answer was cut off */
		return was_there(before) ? OPTOP_KILLED : OPTOP_NO_DAEMON;
	}
}

static bool may_be_sampling(enum optop_daemon daemon)
{
	return daemon == OPTOP_ANSWERS || daemon == OPTOP_REFUSES ||
	       daemon == OPTOP_SILENT || daemon == OPTOP_FAILS;
}

static uint64_t mix_stat(uint64_t hash, int folder, const char *name)
{
	struct stat st;

	if (fstatat(folder, name, &st, 0))
		return op_hash_mix(hash, (uint64_t)errno);
	hash = op_hash_mix(hash, st.st_ino);
	hash = op_hash_mix(hash, (uint64_t)st.st_size);
	hash = op_hash_mix(hash, (uint64_t)st.st_mtim.tv_sec);
	return op_hash_mix(hash, (uint64_t)st.st_mtim.tv_nsec);
}

static void stat_session_files(const struct pp_request *base,
			       struct optop_result *result)
{
	int folder = open(base->select.session->current,
			  O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct stat st;

	result->files = 1;
	if (folder < 0)
		return;
	if (!fstat(folder, &st))
		result->folder =
			op_hash_mix(op_hash_mix(1, st.st_dev), st.st_ino);
	result->files = mix_stat(result->files, folder, ".");
	result->files = mix_stat(result->files, folder, "ledger") | 1;
	close(folder);
}

/* ---- one reading --------------------------------------------------------- */

static void answer_query(const struct pp_request *base,
			 const struct optop_query *query, uint64_t known,
			 struct optop_result *result)
{
	bool may_change = false;

	if (is_current(base)) {
		result->daemon =
			ask_daemon(base, result->daemon, &result->daemon_diag);
		may_change = may_be_sampling(result->daemon);
		stat_session_files(base, result);
	} else {
		result->daemon = OPTOP_NO_DAEMON;
		result->files = 1;
	}
	result->is_unchanged = !may_change && known == result->files;
	if (result->is_unchanged)
		return;
	result->err =
		optop_reading_new(&result->reading, query, base, &result->diag);
}

void optop_read_now(const struct pp_request *base,
		    const struct optop_query *query,
		    struct optop_result *result)
{
	*result = (struct optop_result){ 0 };
	answer_query(base, query, 0, result);
}

/* ---- the thread ---------------------------------------------------------- */

static void leave_result(struct optop_reader *reader,
			 const struct optop_result *result)
{
	uint64_t one = 1;

	if (reader->has_result)
		optop_reading_free(reader->result.reading);
	reader->result = *result;
	reader->has_result = true;
	/* The write fails only after 2^64 others. */
	if (write(reader->fd, &one, sizeof(one)) < 0)
		abort();
}

static void *run_reader(void *data)
{
	struct optop_reader *reader = data;

	pthread_mutex_lock(&reader->lock);
	while (!reader->ends) {
		struct optop_result result = { .daemon = reader->daemon };
		struct optop_query query;
		uint64_t known;

		if (!reader->has_query) {
			pthread_cond_wait(&reader->asked, &reader->lock);
			continue;
		}
		query = reader->query;
		known = reader->known;
		result.number = reader->number;
		reader->has_query = false;
		reader->is_reading = true;
		pthread_mutex_unlock(&reader->lock);
		answer_query(reader->base, &query, known, &result);
		optop_query_release(&query);
		pthread_mutex_lock(&reader->lock);
		reader->is_reading = false;
		reader->daemon = result.daemon;
		leave_result(reader, &result);
	}
	pthread_mutex_unlock(&reader->lock);
	return NULL;
}

int optop_reader_new(struct optop_reader **out, const struct pp_request *base,
		     struct op_diag *diag)
{
	struct optop_reader *reader = calloc(1, sizeof(*reader));
	int err;

	if (!reader)
		return op_out_of_memory(diag);
	reader->base = base;
	reader->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	pthread_mutex_init(&reader->lock, NULL);
	pthread_cond_init(&reader->asked, NULL);
	err = reader->fd < 0 ? -errno
			     : -pthread_create(&reader->thread, NULL,
					       run_reader, reader);
	if (!err) {
		*out = reader;
		return 0;
	}
	if (reader->fd >= 0)
		close(reader->fd);
	free(reader);
	return op_diag_set(diag, err, "no thread can be started: %s",
			   strerror(-err));
}

bool optop_reader_free(struct optop_reader *reader)
{
	bool is_reading;

	if (!reader)
		return true;
	pthread_mutex_lock(&reader->lock);
	is_reading = reader->is_reading || reader->has_query;
	reader->ends = !is_reading;
	pthread_cond_signal(&reader->asked);
	pthread_mutex_unlock(&reader->lock);
	if (is_reading)
		return false;
	pthread_join(reader->thread, NULL);
	if (reader->has_result)
		optop_reading_free(reader->result.reading);
	pthread_mutex_destroy(&reader->lock);
	pthread_cond_destroy(&reader->asked);
	close(reader->fd);
	free(reader);
	return true;
}

int optop_reader_fd(const struct optop_reader *reader)
{
	return reader->fd;
}

uint64_t optop_reader_ask(struct optop_reader *reader,
			  const struct optop_query *query, uint64_t known)
{
	struct optop_query copy;
	uint64_t number = 0;

	if (optop_query_copy(&copy, query)) {
		optop_query_release(&copy);
		return 0;
	}
	pthread_mutex_lock(&reader->lock);
	if (reader->has_query)
		optop_query_release(&reader->query);
	reader->query = copy;
	reader->known = known;
	reader->has_query = true;
	number = ++reader->number;
	pthread_cond_signal(&reader->asked);
	pthread_mutex_unlock(&reader->lock);
	return number;
}

bool optop_reader_take(struct optop_reader *reader, struct optop_result *result)
{
	bool has_result;
	uint64_t times;

	pthread_mutex_lock(&reader->lock);
	has_result = reader->has_result;
	if (has_result)
		*result = reader->result;
	reader->has_result = false;
	/* -EAGAIN: nothing is there. */
	if (read(reader->fd, &times, sizeof(times)) < 0 && has_result &&
	    errno != EAGAIN)
		abort();
	pthread_mutex_unlock(&reader->lock);
	return has_result;
}
