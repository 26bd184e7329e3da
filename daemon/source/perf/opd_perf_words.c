// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The context in struct opd_perf_words is what a reader of the stream knows by
 * now; only what differs from it is written. OP_CPU_SWITCH makes a reader
 * forget the rest of the context, so after it everything is written again. The
 * writer keeps room for the longest sample, also behind the names that it puts
 * before a part of it (op_stream_words.spare). Nothing here looks at the room
 * again, so the bounds are asserted at compile time.
 */

#include "daemon/source/perf/opd_perf_words.h"

#include <string.h>

#include "daemon/source/opd_writer.h"
#include "daemon/source/perf/opd_perf_image.h"

#define TIME_MAX (INT64_MAX / 2) /* ns: the year 2116 */

/*
 * TIME 3 twice, CPU_SWITCH 3, CTX_SWITCH 4, CTX_TGID 4, mode 2, ANON_SWITCH 5
 * and its name, WEIGHT 3, the sample 2.
 */
_Static_assert(2 * 3 + 3 + 4 + 4 + 2 + 5 + OPD_PERF_ANON_MAX / 8 + 3 + 2 <=
		       OPD_PERF_SAMPLE_WORDS,
	       "a sample with all its context fits");
_Static_assert(2 + 5 + OPD_PERF_ANON_MAX / 8 + 2 <= OPD_PERF_CALLER_WORDS,
	       "so does a caller");

void opd_perf_words_init(struct opd_perf_words *w, struct opd_writer *writer,
			 size_t nr)
{
	memset(w, 0, sizeof(*w));
	w->writer = writer;
	writer->words.spare = OPD_PERF_SAMPLE_WORDS;
	if (nr)
		writer->words.spare +=
			OPD_PERF_TRACE_WORDS + nr * OPD_PERF_CALLER_WORDS;
	writer->words.spare *= OPD_PERF_SAMPLE_EVENTS;
}

/* The next @nr words, which the caller writes. */
static uint64_t *add_words(struct opd_perf_words *w, size_t nr)
{
	struct op_stream_words *words = &w->writer->words;
	uint64_t *at = words->words + words->nr;

	words->nr += nr;
	return at;
}

/* A record; returns its @nr words of payload, which the caller writes. */
static uint64_t *add_record(struct opd_perf_words *w, uint32_t code,
			    uint32_t flags, uint32_t nr)
{
	uint64_t *at = add_words(w, 2 + nr);

	at[0] = OP_ESCAPE;
	at[1] = OP_CODE_WORD(code, flags, nr);
	return at + 2;
}

static void put_cpu(struct opd_perf_words *w, uint32_t cpu)
{
	if (w->has_cpu && w->last.cpu == cpu)
		return;
	*add_record(w, OP_CPU_SWITCH, 0, 1) = cpu;
	w->last.cpu = cpu;
	w->has_cpu = true;
	w->has_task = w->has_mode = w->has_image = false;
}

static void put_task(struct opd_perf_words *w,
		     const struct opd_perf_place *place)
{
	bool is_owned = place->owner != OP_NO_OWNER;
	uint64_t *at;

	if (w->has_task && w->last.tid == place->tid &&
	    w->last.tgid == place->tgid && w->last.app == place->app &&
	    w->last.owner == place->owner)
		return;
	opd_writer_need_name(w->writer, place->app, place->tgid);
	at = add_record(w, OP_CTX_SWITCH, 0, 2);
	at[0] = place->tid;
	at[1] = place->app;
	at = add_record(w, OP_CTX_TGID, 0, is_owned ? 2 : 1);
	at[0] = place->tgid;
	if (is_owned)
		at[1] = place->owner;
	w->last.tid = place->tid;
	w->last.tgid = place->tgid;
	w->last.app = place->app;
	w->last.owner = place->owner;
	w->has_task = true;
}

static void put_mode(struct opd_perf_words *w, bool kernel)
{
	if (w->has_mode && w->last.kernel == kernel)
		return;
	add_record(w, kernel ? OP_KERNEL_ENTER : OP_USER_ENTER, 0, 0);
	w->last.kernel = kernel;
	w->has_mode = true;
}

static bool same_image(const struct opd_perf_place *a,
		       const struct opd_perf_place *b)
{
	if (a->cookie != b->cookie)
		return false;
	if (a->cookie != OP_NO_COOKIE)
		return true;
	return a->start == b->start && a->end == b->end &&
	       !strcmp(a->anon, b->anon);
}

/* A name that is too long is cut. */
static void put_anon(struct opd_perf_words *w,
		     const struct opd_perf_place *place)
{
	size_t len = strnlen(place->anon, OPD_PERF_ANON_MAX - 1);
	size_t nr = (len + 7) / 8;
	uint64_t *at = add_record(w, OP_ANON_SWITCH, 0, (uint32_t)(3 + nr));

	at[0] = place->start;
	at[1] = place->end;
	at[2] = len;
	memset(at + 3, 0, nr * sizeof(*at));
	memcpy(at + 3, place->anon, len);
}

static void put_image(struct opd_perf_words *w,
		      const struct opd_perf_place *place)
{
	if (w->has_image && same_image(&w->last, place))
		return;
	if (place->cookie != OP_NO_COOKIE) {
		opd_writer_need_name(w->writer, place->cookie, place->tgid);
		*add_record(w, OP_COOKIE_SWITCH, 0, 1) = place->cookie;
	} else {
		put_anon(w, place);
	}
	w->last.cookie = place->cookie;
	w->last.anon = place->anon;
	w->last.start = place->start;
	w->last.end = place->end;
	w->has_image = true;
}

static void put_where(struct opd_perf_words *w,
		      const struct opd_perf_place *place)
{
	put_mode(w, place->kernel);
	if (!place->kernel)
		put_image(w, place);
}

/* Write the context of a sample: the CPU, the task, the mode, the image. */
static void put_context(struct opd_perf_words *w,
			const struct opd_perf_place *place)
{
	put_cpu(w, place->cpu);
	put_task(w, place);
	put_where(w, place);
}

static void put_pc(struct opd_perf_words *w, const struct opd_perf_place *place,
		   uint64_t pc, uint32_t counter)
{
	uint64_t *at;

	if (place->kernel)
		opd_writer_need_place(w->writer, pc);
	at = add_words(w, 2);
	at[0] = pc;
	at[1] = counter;
}

static void put_sample(struct opd_perf_words *w,
		       const struct opd_perf_place *place, uint64_t pc,
		       uint32_t counter)
{
	if (place->weight)
		*add_record(w, OP_WEIGHT, 0, 1) = place->weight;
	if (place->times > 1)
		*add_record(w, OP_TIMES, place->lowered ? OP_TIMES_LOWERED : 0,
			    1) = place->times;
	put_pc(w, place, pc, counter);
}

void opd_perf_words_put_time(struct opd_perf_words *w, uint64_t time)
{
	int64_t date = 0;

	/* A damaged file may have any time. */
	if (!time || time > TIME_MAX ||
	    __builtin_add_overflow((int64_t)time, w->ahead, &date) ||
	    date < 0 || date > TIME_MAX)
		date = 0;
	w->told = time;
	*add_record(w, OP_TIME, 0, 1) = (uint64_t)date;
}

void opd_perf_words_sample(struct opd_perf_words *w,
			   const struct opd_perf_place *place, uint64_t pc,
			   uint32_t counter)
{
	put_context(w, place);
	put_sample(w, place, pc, counter);
}

void opd_perf_words_trace(struct opd_perf_words *w,
			  const struct opd_perf_place *place, uint64_t pc,
			  uint32_t counter)
{
	put_context(w, place);
	add_record(w, OP_TRACE_BEGIN, 0, 0);
	put_sample(w, place, pc, counter);
}

void opd_perf_words_caller(struct opd_perf_words *w,
			   const struct opd_perf_place *place, uint64_t pc)
{
	put_where(w, place);
	put_pc(w, place, pc, 0);
}

void opd_perf_words_trace_end(struct opd_perf_words *w,
			      enum op_trace_ending ending)
{
	*add_record(w, OP_TRACE_END, 0, 1) = ending;
}

void opd_perf_words_kernel_changed(struct opd_perf_words *w)
{
	add_record(w, OP_MODULE_LOADED, 0, 0);
	w->writer->kernel_stale = true;
}
