// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The stream goes to a file without a name, and nothing is written in the
 * session folder before all of the profile is known to be sound. A caller's
 * place in the stream is a return address, the byte behind its place.
 */

#include "pp/opimport/opimport_profile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libop/base/op_arena.h"
#include "libop/base/op_array.h"
#include "libop/session/op_session_readers.h"
#include "libop/session/op_stream_words.h"
#include "libop/base/op_strings.h"
#include "libop/session/op_tree_image.h"

#define MAX_PATH 2048 /* bytes of the name of an image */
#define MAX_BASE                                                               \
	70 /* of its last part: files of the session have it, escaped */
#define FLUSH_AT 16384 /* words */
#define STREAM_FOLDER "/var/tmp" /* it may be large */

struct opimport_profile {
	const struct opimport_into *into;
	struct op_session session;
	struct op_arena arena;
	struct op_strings names; /* of images, by their numbers */
	uint32_t *first; /* part of each image */
	uint32_t *newest; /* the one that has room */
	struct op_code_image **parts; /* all that have functions */
	size_t nr_parts;
	unsigned int nr_events;
	uint64_t nr_samples; /* stored and lost */
	struct op_stream_words words; /* not yet in the file */
	FILE *stream; /* NULL: not yet opened */
	int err;
	bool has_places, has_nowhere; /* samples that have one; others */
	/* Context of the last record in the stream, with parts. */
	bool has_task;
	uint32_t app, tgid, tid, part;
};

/* ---- life -------------------------------------------------------------------
 */

int opimport_profile_new(struct opimport_profile **profile,
			 const struct opimport_into *into, const char *format,
			 struct op_diag *diag)
{
	struct opimport_profile *p = calloc(1, sizeof(*p));
	int err = p ? opimport_find_session(into, &p->session, diag) : -ENOMEM;

	if (err) {
		free(p);
		return err;
	}
	p->into = into;
	op_arena_init(&p->arena);
	op_strings_init(&p->names, &p->arena);
	op_stream_put_begin(&p->words, 0, format);
	op_stream_put_source(&p->words, OP_SOURCE_STACKS, format);
	*profile = p;
	return 0;
}

void opimport_profile_free(struct opimport_profile *p)
{
	if (!p)
		return;
	for (size_t i = 0; i < p->nr_parts; i++) {
		op_code_image_release(p->parts[i]);
		free(p->parts[i]);
	}
	free(p->parts);
	free(p->first);
	free(p->newest);
	op_strings_release(&p->names);
	op_arena_release(&p->arena);
	op_stream_words_release(&p->words);
	if (p->stream)
		fclose(p->stream);
	free(p);
}

int opimport_profile_error(const struct opimport_profile *p)
{
	return p->err;
}

static void keep_error(struct opimport_profile *p, int err)
{
	if (!p->err)
		p->err = err;
}

/* ---- the stream -------------------------------------------------------------
 */

/* A file that nobody else sees, and that the daemon opens by its descriptor. */
static FILE *open_stream_file(void)
{
	char path[] = STREAM_FOLDER "/opimport-XXXXXX";
	int fd = mkstemp(path);
	FILE *file;

	if (fd < 0)
		return NULL;
	unlink(path);
	file = fdopen(fd, "w");
	if (!file)
		close(fd);
	return file;
}

static void flush_words(struct opimport_profile *p)
{
	if (p->words.short_of_memory)
		keep_error(p, -ENOMEM);
	if (!p->stream)
		p->stream = open_stream_file();
	if (!p->stream || fwrite(p->words.words, sizeof(uint64_t), p->words.nr,
				 p->stream) != p->words.nr)
		keep_error(p, -errno);
	p->words.nr = 0;
}

/* Room for @nr words, which the caller writes. */
static uint64_t *more_words(struct opimport_profile *p, size_t nr)
{
	uint64_t *at;

	if (p->words.nr > FLUSH_AT)
		flush_words(p);
	if (!op_stream_words_reserve(&p->words, nr)) {
		keep_error(p, -ENOMEM);
		return NULL;
	}
	at = p->words.words + p->words.nr;
	p->words.nr += nr;
	return at;
}

static void put_record(struct opimport_profile *p, uint32_t code, size_t nr,
		       uint64_t a, uint64_t b)
{
	const uint64_t words[] = { OP_ESCAPE, OP_CODE_WORD(code, 0, nr), a, b };
	uint64_t *at = more_words(p, 2 + nr);

	if (at)
		memcpy(at, words, (2 + nr) * sizeof(*at));
}

unsigned int opimport_profile_event(struct opimport_profile *p,
				    const char *name, uint64_t count)
{
	op_stream_put_event(&p->words, p->nr_events,
			    &(struct op_stream_event){
				    .name = name,
				    .count = count,
				    .user = true,
			    });
	return p->nr_events++;
}

void opimport_profile_thread(struct opimport_profile *p, uint32_t tgid,
			     uint32_t tid, const char *name)
{
	op_stream_put_task_name(&p->words, tgid, tid, name);
}

/* ---- images -----------------------------------------------------------------
 */

/* Take over the part of a path from @from to @to. */
static char *clean_part(char *out, const char *from, const char *to)
{
	char *start = out;

	for (; from < to && out - start < MAX_BASE; from++)
		*out++ = (unsigned char)*from < 0x20 || *from == 0x7f ? '?'
			 : *from == '/'				      ? '_'
								      : *from;
	if (*start == '.' &&
	    (out == start + 1 || (out == start + 2 && start[1] == '.')))
		*start = '_';
	return out;
}

/* Make a path of @name: "/[kernel]" of "[kernel]", and "/kworker_0:1" of
 * "kworker/0:1", which is no path. */
static void clean_image_path(char path[MAX_PATH + MAX_BASE + 2],
			     const char *name)
{
	bool is_path = *name == '/';
	char *out = path;

	while (*name && out - path < MAX_PATH) {
		size_t len = is_path ? strcspn(name, "/") : strlen(name);

		if (len) {
			*out++ = '/';
			out = clean_part(out, name, name + len);
		}
		name += len + (is_path && name[len]);
	}
	if (out == path)
		out = stpcpy(path, "/unknown");
	*out = '\0';
}

/* Add a part to @image. The name of an image is in the stream before its
 * cookie, its number from 1, is used. */
static int add_part(struct opimport_profile *p, uint32_t image)
{
	struct op_code_image *part = calloc(1, sizeof(*part));
	struct op_cookie_query query = { .cookie = p->nr_parts + 1,
					 .flags = OP_IMAGE_NO_FILE };
	int err;

	if (!part || op_array_reserve(&p->parts, p->nr_parts, 1)) {
		free(part);
		return -ENOMEM;
	}
	err = op_code_image_init(part, p->session.images, p->names.list[image]);
	if (err) {
		op_code_image_release(part);
		free(part);
		return err;
	}
	p->newest[image] = (uint32_t)p->nr_parts;
	p->parts[p->nr_parts++] = part;
	query.build_id_len = part->build_id.len;
	memcpy(query.build_id, part->build_id.bytes, part->build_id.len);
	snprintf(query.path, sizeof(query.path), "%s", part->name);
	op_stream_put_cookie(&p->words, &query);
	return 0;
}

uint32_t opimport_profile_image(struct opimport_profile *p, const char *name)
{
	char path[MAX_PATH + MAX_BASE + 2];
	size_t before = p->names.nr;
	uint32_t number = 0;
	int err;

	clean_image_path(path, name);
	err = op_strings_number(&p->names, path, &number);
	if (!err && p->names.nr > before) {
		if (op_array_reserve(&p->first, before, 1) ||
		    op_array_reserve(&p->newest, before, 1))
			err = -ENOMEM;
		else
			err = add_part(p, number);
		if (!err)
			p->first[number] = p->newest[number];
	}
	if (err)
		keep_error(p, err);
	return number;
}

static enum op_trace_ending gap_of(const char *name)
{
	static const enum op_trace_ending endings[] = {
		[OP_STACKS_WHOLE] = OP_TRACE_WHOLE,
		[OP_STACKS_GUESSED] = OP_TRACE_GUESSED,
		[OP_STACKS_TRUNCATED] = OP_TRACE_DEPTH,
		[OP_STACKS_OTHER_STACK] = OP_TRACE_OTHER_STACK,
		[OP_STACKS_NO_UNWIND] = OP_TRACE_NO_UNWIND,
		[OP_STACKS_NO_MEMORY] = OP_TRACE_NO_MEMORY,
		[OP_STACKS_BROKEN] = OP_TRACE_BAD_STACK,
	};

	return endings[op_tree_gap_class(name)];
}

struct opimport_frame
opimport_profile_function(struct opimport_profile *p, uint32_t image,
			  const struct op_code_function *function)
{
	struct opimport_frame frame = { .gap = gap_of(op_code_function_name(
						function)) };
	uint32_t number = 0;
	int err = p->err;

	if (!err) {
		frame.part = p->newest[image];
		err = op_code_image_keep(p->parts[frame.part], function,
					 &number);
	}
	if (err == -ENOSPC && !p->err) {
		err = add_part(p, image);
		frame.part = p->newest[image];
		if (!err)
			err = op_code_image_keep(p->parts[frame.part], function,
						 &number);
	}
	if (err)
		keep_error(p, err);
	else
		frame.key = p->parts[frame.part]->kept[number - 1].key;
	return frame;
}

/* ---- stacks -----------------------------------------------------------------
 */

static void write_stack_task(struct opimport_profile *p,
			     const struct opimport_stack *stack)
{
	uint32_t app = p->first[stack->app];

	if (p->has_task && app == p->app && stack->tgid == p->tgid &&
	    stack->tid == p->tid)
		return;
	if (!p->has_task) {
		put_record(p, OP_CPU_SWITCH, 1, 0, 0);
		put_record(p, OP_USER_ENTER, 0, 0, 0);
		p->part = UINT32_MAX;
	}
	put_record(p, OP_CTX_SWITCH, 2, stack->tid, app + UINT64_C(1));
	put_record(p, OP_CTX_TGID, 1, stack->tgid, 0);
	p->has_task = true;
	p->app = app;
	p->tgid = stack->tgid;
	p->tid = stack->tid;
}

static void put_frame(struct opimport_profile *p,
		      const struct opimport_frame *frame, uint64_t key,
		      uint64_t counter)
{
	uint64_t *at;

	if (frame->part != p->part)
		put_record(p, OP_COOKIE_SWITCH, 1, frame->part + UINT64_C(1),
			   0);
	p->part = frame->part;
	at = more_words(p, 2);
	if (!at)
		return;
	at[0] = key;
	at[1] = counter;
}

/* Nobody said where: the account tells what is lost for that. */
static void put_nowhere(struct opimport_profile *p, uint64_t counter)
{
	uint64_t *at;

	put_record(p, OP_COOKIE_SWITCH, 1, OP_NO_COOKIE, 0);
	p->part = UINT32_MAX;
	at = more_words(p, 2);
	if (!at)
		return;
	at[0] = 0;
	at[1] = counter;
}

static void put_times(struct opimport_profile *p, uint64_t times)
{
	if (times > 1)
		put_record(p, OP_TIMES, 1, times, 0);
}

static void put_stack(struct opimport_profile *p,
		      const struct opimport_stack *stack, uint64_t times)
{
	enum op_trace_ending ending = OP_TRACE_WHOLE;
	size_t nr = stack->nr;

	if (nr > 1 && stack->frames[nr - 1].gap != OP_TRACE_WHOLE)
		ending = stack->frames[--nr].gap;
	put_times(p, times);
	p->has_places |= nr > 0;
	p->has_nowhere |= !nr;
	if (!nr) {
		put_nowhere(p, stack->event);
		return;
	}
	put_record(p, OP_TRACE_BEGIN, 0, 0, 0);
	put_frame(p, &stack->frames[0], stack->frames[0].key, stack->event);
	for (size_t i = 1; i < nr; i++)
		put_frame(p, &stack->frames[i], stack->frames[i].key + 1, 0);
	put_record(p, OP_TRACE_END, 1, ending, 0);
}

static void put_sample(struct opimport_profile *p,
		       const struct opimport_stack *sample, uint64_t times)
{
	put_times(p, times);
	p->has_places = true;
	put_frame(p, sample->frames, sample->frames->key, sample->event);
}

static void put_call(struct opimport_profile *p,
		     const struct opimport_stack *call, uint64_t times)
{
	const struct opimport_frame *callee = call->frames,
				    *caller = callee + 1;
	const uint64_t words[] = {
		OP_ESCAPE,
		OP_CODE_WORD(OP_CALL, 0, 6),
		call->event,
		times,
		/* Cookies. */
		caller->part + UINT64_C(1),
		caller->key,
		callee->part + UINT64_C(1),
		callee->key,
	};
	uint64_t *at = more_words(p, sizeof(words) / sizeof(*words));

	if (at)
		memcpy(at, words, sizeof(words));
}

/* Put what was there @stack->times times, as often as records take it. */
static void
put_pieces(struct opimport_profile *p, const struct opimport_stack *stack,
	   void (*put)(struct opimport_profile *p,
		       const struct opimport_stack *stack, uint64_t times))
{
	uint64_t left = stack->times;

	if (p->err || !left)
		return;
	write_stack_task(p, stack);
	while (left && !p->err) {
		uint64_t times = left < OP_MAX_TIMES ? left : OP_MAX_TIMES;

		put(p, stack, times);
		left -= times;
	}
}

/* Sums of counts have 64 bits everywhere. */
static void count_samples(struct opimport_profile *p, uint64_t nr)
{
	if (__builtin_add_overflow(p->nr_samples, nr, &p->nr_samples))
		keep_error(p, -EOVERFLOW);
}

void opimport_profile_stack(struct opimport_profile *p,
			    const struct opimport_stack *stack)
{
	count_samples(p, stack->times);
	put_pieces(p, stack, put_stack);
}

void opimport_profile_sample(struct opimport_profile *p,
			     const struct opimport_stack *sample)
{
	count_samples(p, sample->times);
	put_pieces(p, sample, put_sample);
}

void opimport_profile_call(struct opimport_profile *p,
			   const struct opimport_stack *call)
{
	if (call->frames[0].gap == OP_TRACE_WHOLE &&
	    call->frames[1].gap == OP_TRACE_WHOLE)
		put_pieces(p, call, put_call);
}

bool opimport_profile_is_nowhere(const struct opimport_profile *p)
{
	return p->has_nowhere && !p->has_places;
}

void opimport_profile_lose(struct opimport_profile *p, uint64_t nr,
			   const char *cause)
{
	count_samples(p, nr);
	op_stream_put_lost(&p->words, nr, cause);
}

/* ---- the session ------------------------------------------------------------
 */

static int save_images(struct opimport_profile *p, struct op_diag *diag)
{
	int err = op_session_make_samples(&p->session, NULL, diag);

	if (!err) {
		err = op_session_make_folder(p->session.images);
		if (err)
			op_diag_set(diag, err, "%s: %s", p->session.images,
				    strerror(-err));
	}
	for (size_t i = 0; !err && i < p->nr_parts; i++)
		err = op_code_image_save(p->parts[i], diag);
	return err;
}

static int run_stream(struct opimport_profile *p, struct op_diag *diag)
{
	int fd = fileno(p->stream);
	char source[64];

	if (fcntl(fd, F_SETFD, 0))
		return op_diag_set(diag, -errno, "the daemon: %s",
				   strerror(errno));
	snprintf(source, sizeof(source), "file:/dev/fd/%d", fd);
	return opimport_run_daemon(p->into, &p->session, source, diag);
}

int opimport_profile_end(struct opimport_profile *p, struct op_diag *diag)
{
	int err;

	if (!p->err)
		flush_words(p);
	if (!p->err && fflush(p->stream))
		keep_error(p, -errno);
	if (p->err == -ENOMEM)
		return op_diag_set(diag, p->err, "out of memory");
	if (p->err)
		return op_diag_set(diag, p->err, "a file in %s: %s%s",
				   STREAM_FOLDER, strerror(-p->err),
				   p->err == -ENOSPC ? "; make room there"
						     : "");
	err = save_images(p, diag);
	return err ? err : run_stream(p, diag);
}
