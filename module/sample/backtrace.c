// SPDX-License-Identifier: GPL-2.0
/*
 * An interrupt cannot wait for memory, so each CPU has the memory for one
 * stack of its longest size from the setup on. A task allocates its own and
 * leaves it as a spare of the CPU, so that most tasks find one there.
 * Exchanging the spare is one atomic operation, so preemption and interrupts
 * need not be turned off.
 *
 * backtrace_store() puts the sample and all pieces of its stack into the CPU
 * buffer together or not at all. When there is no room, the sample is stored
 * alone with an end that says so; it is lost only if it does not fit either.
 */

#include <linux/mm.h>
#include <linux/percpu.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "buffer/cpu_buffer.h"
#include "oprofile_stats.h"
#include "sample/backtrace.h"
#include "sample/user_regs.h"

unsigned long backtrace_depth;
unsigned long backtrace_stack = 16384;

/* A caller takes a sample's two words and may take an image. */
#define WORDS_PER_FRAME (2 + STREAM_IMAGE_WORDS)

/* A user mode record, and the head of a stack with all that it may have. */
#define WORDS_BESIDE (2 + 2 + 4 + USER_NR_REGS + 4 * BACKTRACE_MAX_RANGES + 2)

static_assert(WORDS_PER_FRAME * BACKTRACE_MAX_DEPTH + WORDS_BESIDE +
		      OP_STACK_MAX_BYTES / 8 + 8 <
	      U16_MAX); /* op_sample.nr_words */

struct cpu_backtrace {
	struct backtrace *irq; /* for hard interrupts */
	struct backtrace *spare; /* for a task, if none has it */
	u64 *nmi_frames;
};

static DEFINE_PER_CPU(struct cpu_backtrace, backtraces);

/* ---- memory -------------------------------------------------------------- */

static void free_one(struct backtrace *bt)
{
	if (!bt)
		return;
	kvfree(bt->records.words);
	kvfree(bt->frames);
	kfree(bt->stack);
	kvfree(bt);
}

/* The stack is read in interrupts, too, where that must not be from vmalloc. */
static struct backtrace *alloc_one(void)
{
	struct backtrace *bt = kvzalloc(sizeof(*bt), GFP_KERNEL);

	if (!bt)
		return NULL;
	bt->frames = kvmalloc_array(backtrace_depth, sizeof(u64), GFP_KERNEL);
	bt->records.words =
		kvmalloc_array(WORDS_PER_FRAME * backtrace_depth + WORDS_BESIDE,
			       sizeof(u64), GFP_KERNEL);
	if (backtrace_stack)
		bt->stack = kmalloc(backtrace_stack, GFP_KERNEL | __GFP_NOWARN);
	if (bt->frames && bt->records.words && (bt->stack || !backtrace_stack))
		return bt;
	free_one(bt);
	return NULL;
}

void backtrace_shutdown(void)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu) {
		struct cpu_backtrace *own = per_cpu_ptr(&backtraces, cpu);

		free_one(own->irq);
		free_one(own->spare);
		kvfree(own->nmi_frames);
		*own = (struct cpu_backtrace){};
	}
}

int backtrace_setup(void)
{
	unsigned int cpu;

	if (!backtrace_is_on())
		return 0;
	for_each_possible_cpu(cpu) {
		struct cpu_backtrace *own = per_cpu_ptr(&backtraces, cpu);

		own->irq = alloc_one();
		own->nmi_frames = kvmalloc_array(backtrace_depth, sizeof(u64),
						 GFP_KERNEL);
		if (!own->irq || !own->nmi_frames) {
			backtrace_shutdown();
			return -ENOMEM;
		}
	}
	return 0;
}

static void reset(struct backtrace *bt)
{
	bt->records.nr = 0;
	bt->nr_frames = 0;
	bt->stack_len = 0;
	bt->nr_ranges = 0;
	bt->ending = OP_TRACE_WHOLE;
}

struct backtrace *backtrace_of_interrupt(void)
{
	struct backtrace *bt = this_cpu_read(backtraces.irq);

	reset(bt);
	return bt;
}

struct backtrace *backtrace_get(void)
{
	struct backtrace *bt = this_cpu_xchg(backtraces.spare, NULL);

	if (!bt)
		bt = alloc_one();
	if (bt)
		reset(bt);
	return bt;
}

void backtrace_put(struct backtrace *bt)
{
	if (bt && this_cpu_cmpxchg(backtraces.spare, NULL, bt))
		free_one(bt);
}

/* ---- callers ------------------------------------------------------------- */

static void add_kernel_frames(struct backtrace *bt, unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		stream_sample(&bt->records, bt->frames[i], 0);
	bt->nr_frames = nr;
}

void backtrace_add_kernel(struct backtrace *bt, struct pt_regs *regs)
{
	add_kernel_frames(bt,
			  backtrace_walk_kernel(regs, bt->frames,
						backtrace_depth, &bt->ending));
}

void backtrace_add_found(struct backtrace *bt, const u64 *frames,
			 unsigned int nr, enum op_trace_ending ending)
{
	memmove(bt->frames, frames, nr * sizeof(*frames));
	add_kernel_frames(bt, nr);
	bt->ending = ending;
}

unsigned int backtrace_in_nmi(struct pt_regs *regs, const u64 **frames,
			      enum op_trace_ending *ending)
{
	u64 *own = this_cpu_read(backtraces.nmi_frames);

	*frames = own;
	return backtrace_walk_kernel(regs, own, backtrace_depth, ending);
}

/* ---- storing ------------------------------------------------------------- */

static void set_ending(struct stream *stream, enum op_trace_ending ending)
{
	stream->nr = 0;
	stream_code(stream, OP_TRACE_END, 1);
	stream_word(stream, ending);
}

static void count(const struct backtrace *bt)
{
	oprofile_stat_add(STAT_BACKTRACE_FRAMES, bt->nr_frames);
	if (bt->stack_len)
		oprofile_stat_inc(STAT_BACKTRACE_STACKS);
	if (bt->ending == OP_TRACE_DEPTH)
		oprofile_stat_inc(STAT_BACKTRACE_DEEP);
	else if (bt->ending != OP_TRACE_WHOLE && bt->ending != OP_TRACE_GUESSED)
		oprofile_stat_inc(STAT_BACKTRACE_BROKEN);
}

void backtrace_store(struct backtrace *bt, struct op_sample *sample)
{
	u64 words[3];
	struct stream end = { .words = words };
	const struct op_words pieces[] = {
		{ bt->records.words, bt->records.nr },
		{ (const u64 *)bt->stack, bt->stack_len / sizeof(u64) },
		{ words, ARRAY_SIZE(words) },
	};

	set_ending(&end, bt->ending);
	if (cpu_buffer_add_trace(sample, pieces, ARRAY_SIZE(pieces))) {
		count(bt);
		return;
	}
	backtrace_store_alone(sample, OP_TRACE_SHORT_STACK);
}

void backtrace_store_alone(struct op_sample *sample,
			   enum op_trace_ending ending)
{
	u64 words[3];
	struct stream end = { .words = words };
	const struct op_words piece = { words, ARRAY_SIZE(words) };

	set_ending(&end, ending);
	if (cpu_buffer_add_trace(sample, &piece, 1))
		oprofile_stat_inc(STAT_BACKTRACE_ABORTED);
	else
		op_sample_lose(sample, STAT_SAMPLE_LOST_OVERFLOW);
}
