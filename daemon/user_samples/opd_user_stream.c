// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Each sample file becomes the context that its name tells, and for each of its
 * counts the number of times and one sample. Images are cookies, numbered as
 * they come; events are counters.
 *
 * Where the kernel's functions are not to be told, all samples in it become
 * samples at the first address of one image, "kernel". Else each image of the
 * kernel gets a range of addresses of its own, which has nothing to do with
 * where it was: keys are offsets. Code that a module runs once, and what is in
 * no image, are in "kernel" then, too.
 */

#include "daemon/user_samples/opd_user_stream.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libdb/db_folder.h"
#include "libdb/odb.h"
#include "libop/base/op_arena.h"
#include "libop/base/op_array.h"
#include "libop/image/op_build_id.h"
#include "libop/session/op_mangle.h"
#include "libop/session/op_sample_file.h"
#include "libop/base/op_strings.h"
#include "libop/session/op_span.h"
#include "libop/session/op_tasks.h"

#define KERNEL_START UINT64_C(0xffff800000000000)
#define KERNEL_ROOM OP_INIT_CODE_KEY /* of addresses, for each image */
#define KERNEL_NAME "kernel"
#define IMAGE_NAME_MAX (OP_PATH_MAX + 2 * OP_BUILD_ID_MAX + 32)

struct mine_event {
	char name[OP_MANGLE_COMPONENT_MAX + 1];
	uint64_t value, count, um;
};

struct mine {
	const struct opd_user_stream_request *request;
	struct op_stream_words *words;
	struct opd_user_stream_separate *separate;
	struct db_folder *folder;
	struct op_arena arena;
	struct op_strings images; /* path and build; the cookie is the place,
				   * from 1 */
	struct op_strings kernels; /* images of the kernel */
	struct op_tasks tasks;
	uint32_t *told_tgids, *told_tids; /* whose names were told */
	size_t nr_told;
	struct mine_event events[OP_MAX_COUNTERS];
	unsigned int nr_events;
	uint64_t taken;
	bool begun;
	int err;
	struct op_diag *diag;
};

/* ---- words ------------------------------------------------------------------
 */

static int put_mine_record(struct mine *mine, uint32_t code, size_t nr,
			   uint64_t a, uint64_t b)
{
	const uint64_t words[] = { OP_ESCAPE, OP_CODE_WORD(code, 0, nr), a, b };
	struct op_stream_words *w = mine->words;

	if (w->nr > OPD_USER_STREAM_MAX_WORDS)
		return op_diag_set(
			mine->diag, -EFBIG,
			"these are too many samples to hand over; ask root for an archive");
	if (!op_stream_words_reserve(w, nr + 2))
		return -ENOMEM;
	memcpy(w->words + w->nr, words, (nr + 2) * sizeof(words[0]));
	w->nr += nr + 2;
	return 0;
}

static int put_mine_sample(struct mine *mine, uint64_t pc, unsigned int counter,
			   uint64_t times)
{
	struct op_stream_words *w = mine->words;
	int err = 0;

	if (__builtin_add_overflow(mine->taken, times, &mine->taken))
		return -EOVERFLOW;
	while (times && !err) {
		uint64_t part = times < OP_MAX_TIMES ? times : OP_MAX_TIMES;

		err = put_mine_record(mine, OP_TIMES, 1, part, 0);
		if (!err && !op_stream_words_reserve(w, 2))
			err = -ENOMEM;
		if (err)
			break;
		w->words[w->nr++] = pc;
		w->words[w->nr++] = counter;
		times -= part;
	}
	return err;
}

/* ---- images and events ------------------------------------------------------
 */

/* *@cookie = that of an image, whose name is told if it is new. @build_id is a
 * room (libop/image/op_build_id.h). */
static int mine_cookie(struct mine *mine, const struct op_image_name *name,
		       const uint8_t *build_id, unsigned int build_id_len,
		       uint64_t mtime, uint64_t *cookie)
{
	struct op_cookie_query query = { .mtime = mtime,
					 .build_id_len = build_id_len };
	size_t before = mine->images.nr;
	char key[IMAGE_NAME_MAX];
	uint32_t number;
	int err;

	if (strlen(name->name) >= sizeof(query.path))
		return -ENAMETOOLONG;
	snprintf(key, sizeof(key), "%s\n%s", name->name, name->build ?: "");
	err = op_strings_number(&mine->images, key, &number);
	if (err)
		return err;
	*cookie = (uint64_t)number + 1;
	if (mine->images.nr == before)
		return 0;
	query.cookie = *cookie;
	if (build_id_len)
		memcpy(query.build_id, build_id, sizeof(query.build_id));
	strcpy(query.path, name->name);
	op_stream_put_cookie(mine->words, &query);
	return 0;
}

static bool is_same_event(const struct mine_event *a,
			  const struct mine_event *b)
{
	return a->value == b->value && a->count == b->count && a->um == b->um &&
	       !strcmp(a->name, b->name);
}

/* *@counter = the number of the event of a sample file. */
static int mine_event_counter(struct mine *mine, const struct op_mangle *m,
			      const struct op_sample_header *header,
			      unsigned int *counter)
{
	bool is_timer = !header->event && header->timer_hz;
	struct mine_event event = {
		.value = is_timer ? header->timer_hz : header->event,
		.count = is_timer ? 0 : header->count,
		.um = m->unit_mask,
	};
	unsigned int i;

	snprintf(event.name, sizeof(event.name), "%s", m->event);
	for (i = 0; i < mine->nr_events; i++)
		if (is_same_event(&mine->events[i], &event))
			break;
	*counter = i;
	if (i < mine->nr_events)
		return 0;
	if (i == OP_MAX_COUNTERS)
		return op_diag_set(mine->diag, -EFBIG,
				   "these are samples of more than %d events",
				   OP_MAX_COUNTERS);
	mine->events[mine->nr_events++] = event;
	op_stream_put_event(mine->words, i,
			    &(struct op_stream_event){
				    .name = event.name,
				    .value = event.value,
				    .count = event.count,
				    .um = event.um,
				    .kernel = true,
				    .user = true,
			    });
	return 0;
}

static bool is_of_kernel(const struct op_mangle *m,
			 const struct op_sample_header *header)
{
	if (header->kind == OP_IMAGE_KERNEL || header->kind == OP_IMAGE_MODULE)
		return true;
	return m->dep.space == OP_SPACE_KERN && strcmp(m->dep.name, "[vdso]") &&
	       strcmp(m->dep.name, "[vsyscall]");
}

/* *@start = the first address of an image of the kernel, which is told if it is
 * new. */
static int mine_kernel_start(struct mine *mine, const char *name,
			     const struct op_sample_header *header,
			     uint64_t *start)
{
	struct op_build_id build_id = { .len = 0 };
	size_t before = mine->kernels.nr;
	uint32_t number;
	int err = op_strings_number(&mine->kernels, name, &number);

	if (err)
		return err;
	*start = KERNEL_START + number * KERNEL_ROOM;
	if (mine->kernels.nr == before)
		return 0;
	if (header) {
		build_id.len = header->build_id_len;
		memcpy(build_id.bytes, header->build_id, build_id.len);
	}
	op_stream_put_range(mine->words, 0, *start, *start + KERNEL_ROOM,
			    &build_id, name);
	return 0;
}

/* ---- sample files -----------------------------------------------------------
 */

static int put_mine_names(struct mine *mine, uint32_t tgid, uint32_t tid)
{
	const char *name = op_tasks_name_of(&mine->tasks, tgid, tid);

	if (!name)
		return 0;
	for (size_t i = 0; i < mine->nr_told; i++)
		if (mine->told_tgids[i] == tgid && mine->told_tids[i] == tid)
			return 0;
	if (op_array_reserve(&mine->told_tgids, mine->nr_told, 1) ||
	    op_array_reserve(&mine->told_tids, mine->nr_told, 1))
		return -ENOMEM;
	mine->told_tgids[mine->nr_told] = tgid;
	mine->told_tids[mine->nr_told++] = tid;
	op_stream_put_task_name(mine->words, tgid, tid, name);
	return 0;
}

static int put_mine_task(struct mine *mine, const struct op_mangle *m)
{
	uint64_t tgid = m->tgid == OP_MANGLE_ALL ? 0 : (uint64_t)m->tgid;
	uint64_t tid = m->tid == OP_MANGLE_ALL ? 0 : (uint64_t)m->tid;
	uint64_t cpu = m->cpu == OP_MANGLE_ALL ? 0 : (uint64_t)m->cpu;
	uint64_t app = OP_NO_COOKIE;
	int err = 0;

	if (m->dep.space == OP_SPACE_ANON && m->tgid == OP_MANGLE_ALL)
		tgid = (uint64_t)m->dep.tgid;
	if (m->app.space == OP_SPACE_ROOT)
		err = mine_cookie(mine, &m->app, NULL, 0, 0, &app);
	if (!err && m->tgid != OP_MANGLE_ALL)
		err = put_mine_names(mine, (uint32_t)tgid, (uint32_t)tid);
	if (!err && m->tgid != OP_MANGLE_ALL && tid != tgid)
		err = put_mine_names(mine, (uint32_t)tgid, (uint32_t)tgid);
	if (!err)
		err = put_mine_record(mine, OP_CPU_SWITCH, 1, cpu, 0);
	if (!err)
		err = put_mine_record(mine, OP_CTX_SWITCH, 2, tid, app);
	if (err)
		return err;
	if (m->cgroup)
		op_stream_put_task_cgroup(mine->words, (uint32_t)tgid, 0,
					  m->cgroup);
	return put_mine_record(mine, OP_CTX_TGID, 2, tgid, mine->request->user);
}

static int put_mine_anon(struct mine *mine, const struct op_image_name *name)
{
	struct op_stream_words *w = mine->words;
	size_t len = strlen(name->name), nr = (len + 7) / 8;
	uint64_t *at;

	if (!op_stream_words_reserve(w, 5 + nr))
		return -ENOMEM;
	at = w->words + w->nr;
	*at++ = OP_ESCAPE;
	*at++ = OP_CODE_WORD(OP_ANON_SWITCH, 0, 3 + nr);
	*at++ = name->start;
	*at++ = name->end;
	*at++ = len;
	memset(at, 0, nr * sizeof(*at));
	memcpy(at, name->name, len);
	w->nr += 5 + nr;
	return 0;
}

static int put_mine_kernel(struct mine *mine, const struct op_mangle *m,
			   const struct op_sample_header *header,
			   const struct odb *odb, unsigned int counter)
{
	bool tells = mine->request->kernel && header->kind != OP_IMAGE_PSEUDO;
	uint64_t start = 0, key, nr, rest = 0;
	int err = 0;

	if (tells)
		err = mine_kernel_start(mine,
					header->kind == OP_IMAGE_KERNEL
						? OP_KERNEL_NAME
						: m->dep.name,
					header, &start);
	if (!err)
		err = put_mine_record(mine, OP_KERNEL_ENTER, 0, 0, 0);
	for (size_t at = 0; !err && odb_next(odb, &at, &key, &nr);) {
		if (tells && key < KERNEL_ROOM)
			err = put_mine_sample(mine, start + key, counter, nr);
		else if (__builtin_add_overflow(rest, nr, &rest))
			err = -EOVERFLOW;
	}
	if (err || !rest)
		return err;
	err = mine_kernel_start(mine, KERNEL_NAME, NULL, &start);
	return err ? err : put_mine_sample(mine, start, counter, rest);
}

static int put_mine_user(struct mine *mine, const struct op_mangle *m,
			 const struct op_sample_header *header,
			 const struct odb *odb, unsigned int counter)
{
	uint64_t cookie, key, nr;
	int err;

	if (m->dep.space == OP_SPACE_ANON) {
		err = put_mine_anon(mine, &m->dep);
	} else {
		err = mine_cookie(mine, &m->dep, header->build_id,
				  header->build_id_len, header->mtime, &cookie);
		if (!err)
			err = put_mine_record(mine, OP_COOKIE_SWITCH, 1, cookie,
					      0);
	}
	if (!err)
		err = put_mine_record(mine, OP_USER_ENTER, 0, 0, 0);
	for (size_t at = 0; !err && odb_next(odb, &at, &key, &nr);)
		err = put_mine_sample(mine, key, counter, nr);
	return err;
}

static void begin_mine(struct mine *mine, const struct op_sample_header *header)
{
	if (mine->begun)
		return;
	mine->begun = true;
	op_stream_put_begin(mine->words, header->cpu_khz, header->cpu_type);
	op_stream_put_source(mine->words, 0, mine->request->source);
}

static void record_separate(struct opd_user_stream_separate *separate,
			    const struct op_mangle *m, bool in_kernel)
{
	bool by_app = m->app.space != m->dep.space ||
		      strcmp(m->app.name, m->dep.name);

	separate->lib |= by_app;
	separate->kernel |= by_app && in_kernel;
	separate->thread |= m->tgid != OP_MANGLE_ALL;
	separate->cpu |= m->cpu != OP_MANGLE_ALL;
	separate->cgroup |= m->cgroup != NULL;
}

static int put_mine_table(struct mine *mine, const struct db_member *member,
			  const struct op_mangle *m, struct odb *odb)
{
	struct op_sample_header header;
	unsigned int counter;
	int err;

	memcpy(&header, odb_user(odb), sizeof(header));
	if (op_sample_header_check(&header, member->path, NULL))
		return 0;
	begin_mine(mine, &header);
	err = mine_event_counter(mine, m, &header, &counter);
	if (!err)
		err = put_mine_task(mine, m);
	if (err)
		return err;
	record_separate(mine->separate, m, is_of_kernel(m, &header));
	return is_of_kernel(m, &header)
		       ? put_mine_kernel(mine, m, &header, odb, counter)
		       : put_mine_user(mine, m, &header, odb, counter);
}

/* A file that is damaged or set aside is root's to look at: it is left out. */
static int write_user_member(const struct db_member *member, void *ctx)
{
	char buf[OP_MANGLE_MAX];
	struct mine *mine = ctx;
	struct op_mangle m;
	struct odb *odb;
	int err;

	if (op_mangle_parse(member->name, &m, buf, sizeof(buf), NULL) ||
	    !m.has_user || m.user != mine->request->user || m.is_tree ||
	    m.cg.space != OP_SPACE_NONE)
		return 0;
	err = db_folder_table(mine->folder, member, &odb);
	if (err)
		return err == -EBADMSG || err == -EPROTO || err == -ENOENT
			       ? 0
			       : err;
	err = put_mine_table(mine, member, &m, odb);
	odb_close(odb);
	return err;
}

static int read_mine_tasks(struct mine *mine, const char *folder)
{
	char path[OP_PATH_MAX + 96];
	int err;

	snprintf(path, sizeof(path), "%s/tasks", folder);
	err = op_tasks_read(&mine->tasks, path, NULL);
	return err == -ENOMEM ? err : 0;
}

static int collect_folder(struct mine *mine, struct db_folder *folder,
			  const char *path)
{
	const struct db_visitor visitor = { .member = write_user_member,
					    .ctx = mine };

	mine->folder = folder;
	return read_mine_tasks(mine, path) ?: db_folder_each(folder, &visitor);
}

static int collect_span(struct mine *mine, const struct op_span *span)
{
	char name[OP_SPAN_NAME_MAX], path[OP_PATH_MAX + OP_SPAN_NAME_MAX];
	struct db_folder *folder;
	int err;

	op_span_name(span, name);
	snprintf(path, sizeof(path), "%s/%s", mine->request->folder, name);
	err = db_folder_open(&folder, path);
	if (err)
		return err == -ENOMEM ? err : 0;
	err = collect_folder(mine, folder, path);
	db_folder_close(folder);
	return err;
}

static int collect_history(struct mine *mine)
{
	struct op_span *spans;
	size_t nr;
	int err = op_spans_list(mine->request->folder, &spans, &nr);

	for (size_t i = 0; i < nr && !err; i++)
		if (op_span_counts(&spans[i]))
			err = collect_span(mine, &spans[i]);
	free(spans);
	return err;
}

/* Spans stay as they are while the session's folder is open. */
static int collect_mine(struct mine *mine)
{
	struct db_folder *session;
	int err = db_folder_open(&session, mine->request->folder);

	if (err)
		return err == -ENOENT ? -ENODATA : err;
	err = collect_folder(mine, session, mine->request->folder)
		      ?: collect_history(mine);
	db_folder_close(session);
	if (!err && mine->words->short_of_memory)
		err = -ENOMEM;
	return !err && !mine->taken ? -ENODATA : err;
}

int opd_user_stream(struct op_stream_words *words,
		    struct opd_user_stream_separate *separate,
		    const struct opd_user_stream_request *request,
		    struct op_diag *diag)
{
	struct mine mine = { .request = request,
			     .words = words,
			     .separate = separate,
			     .diag = diag };
	int err;

	memset(separate, 0, sizeof(*separate));
	op_arena_init(&mine.arena);
	op_strings_init(&mine.images, &mine.arena);
	op_strings_init(&mine.kernels, &mine.arena);
	err = collect_mine(&mine);
	if (!err)
		op_stream_put_taken(words, mine.taken);
	op_strings_release(&mine.images);
	op_strings_release(&mine.kernels);
	op_arena_release(&mine.arena);
	op_tasks_release(&mine.tasks);
	free(mine.told_tgids);
	free(mine.told_tids);
	if (err == -ENODATA)
		return op_diag_set(diag, err,
				   "there are no samples of your processes");
	return err ? op_diag_set(diag, err, "your samples cannot be read: %s",
				 strerror(-err))
		   : 0;
}
