// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The context in struct opd_perf_words is what a reader of the stream knows by
 * now; only what differs from it is written. OP_CPU_SWITCH makes a reader
 * forget the rest of the context, so after it everything is written again. The
 * caller asks once for each sample whether the longest one would fit
 * (opd_perf_words_fit()). Nothing here looks at the room again, so the bounds
 * are asserted at compile time.
 */

#include "daemon/source/perf/opd_perf_words.h"

#include <string.h>

/*
 * CPU_SWITCH 3, CTX_SWITCH 4, CTX_TGID 4, mode 2, ANON_SWITCH 5 and its name,
 * WEIGHT 3, the sample 2.
 */
_Static_assert(3 + 4 + 4 + 2 + 5 + OPD_PERF_ANON_MAX / 8 + 3 + 2 <=
		       OPD_PERF_SAMPLE_WORDS,
	       "a sample with all its context fits");
_Static_assert(2 + 5 + OPD_PERF_ANON_MAX / 8 + 2 <= OPD_PERF_CALLER_WORDS,
	       "so does a caller");

void opd_perf_words_into(struct opd_perf_words *w, uint64_t *words, size_t nr)
{
	w->at = words;
	w->end = words + nr;
}

void opd_perf_words_set_depth(struct opd_perf_words *w, size_t nr)
{
	w->most = OPD_PERF_SAMPLE_WORDS;
	if (nr)
		w->most += OPD_PERF_TRACE_WORDS + nr * OPD_PERF_CALLER_WORDS;
}

void opd_perf_words_set_records(struct opd_perf_words *w, size_t nr)
{
	w->records = nr;
}

bool opd_perf_words_fit(const struct opd_perf_words *w)
{
	return (size_t)(w->end - w->at) >= w->most + w->records;
}

static void put(struct opd_perf_words *w, uint64_t word)
{
	*w->at++ = word;
}

static void put_code(struct opd_perf_words *w, uint32_t code, uint32_t nr)
{
	put(w, OP_ESCAPE);
	put(w, OP_CODE_WORD(code, 0, nr));
}

static void put_cpu(struct opd_perf_words *w, uint32_t cpu)
{
	if (w->has_cpu && w->last.cpu == cpu)
		return;
	put_code(w, OP_CPU_SWITCH, 1);
	put(w, cpu);
	w->last.cpu = cpu;
	w->has_cpu = true;
	w->has_task = w->has_mode = w->has_image = false;
}

static void put_task(struct opd_perf_words *w,
		     const struct opd_perf_place *place)
{
	if (w->has_task && w->last.tid == place->tid &&
	    w->last.tgid == place->tgid && w->last.app == place->app &&
	    w->last.owner == place->owner)
		return;
	put_code(w, OP_CTX_SWITCH, 2);
	put(w, place->tid);
	put(w, place->app);
	put_code(w, OP_CTX_TGID, place->owner == OP_NO_OWNER ? 1 : 2);
	put(w, place->tgid);
	if (place->owner != OP_NO_OWNER)
		put(w, place->owner);
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
	put_code(w, kernel ? OP_KERNEL_ENTER : OP_USER_ENTER, 0);
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

/* The string and its length; what is too long is cut. */
static void put_string(struct opd_perf_words *w, const char *text)
{
	size_t len = strnlen(text, OPD_PERF_ANON_MAX - 1);
	size_t nr = (len + 7) / 8;

	put(w, len);
	memset(w->at, 0, nr * sizeof(*w->at));
	memcpy(w->at, text, len);
	w->at += nr;
}

static uint32_t string_words(const char *text)
{
	return (uint32_t)(1 + (strnlen(text, OPD_PERF_ANON_MAX - 1) + 7) / 8);
}

static void put_anon(struct opd_perf_words *w,
		     const struct opd_perf_place *place)
{
	put_code(w, OP_ANON_SWITCH, 2 + string_words(place->anon));
	put(w, place->start);
	put(w, place->end);
	put_string(w, place->anon);
}

static void put_image(struct opd_perf_words *w,
		      const struct opd_perf_place *place)
{
	if (w->has_image && same_image(&w->last, place))
		return;
	if (place->cookie != OP_NO_COOKIE) {
		put_code(w, OP_COOKIE_SWITCH, 1);
		put(w, place->cookie);
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

static void put_sample(struct opd_perf_words *w,
		       const struct opd_perf_place *place, uint64_t pc,
		       uint32_t counter)
{
	if (place->weight) {
		put_code(w, OP_WEIGHT, 1);
		put(w, place->weight);
	}
	if (place->times > 1) {
		put(w, OP_ESCAPE);
		put(w, OP_CODE_WORD(OP_TIMES,
				    place->lowered ? OP_TIMES_LOWERED : 0, 1));
		put(w, place->times);
	}
	put(w, pc);
	put(w, counter);
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
	put_code(w, OP_TRACE_BEGIN, 0);
	put_sample(w, place, pc, counter);
}

void opd_perf_words_caller(struct opd_perf_words *w,
			   const struct opd_perf_place *place, uint64_t pc)
{
	put_where(w, place);
	put(w, pc);
	put(w, 0);
}

void opd_perf_words_trace_end(struct opd_perf_words *w,
			      enum op_trace_ending ending)
{
	put_code(w, OP_TRACE_END, 1);
	put(w, ending);
}

void opd_perf_words_records(struct opd_perf_words *w, const uint64_t *words,
			    size_t nr)
{
	memcpy(w->at, words, nr * sizeof(*words));
	w->at += nr;
}

void opd_perf_words_kernel_changed(struct opd_perf_words *w)
{
	put_code(w, OP_MODULE_LOADED, 0);
}

void opd_perf_words_code(struct opd_perf_words *w, const char *name,
			 uint64_t start, uint64_t end)
{
	put(w, OP_ESCAPE);
	put(w, OP_CODE_WORD(OP_KERNEL_RANGE, OP_KERNEL_CODE,
			    7 + string_words(name)));
	put(w, start);
	put(w, end);
	for (int i = 0; i < 1 + OP_BUILD_ID_MAX / 8; i++)
		put(w, 0); /* no build-id */
	put_string(w, name);
}
