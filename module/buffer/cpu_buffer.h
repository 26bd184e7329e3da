/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MODULE_CPU_BUFFER_H
#define MODULE_CPU_BUFFER_H

/*
 * Per-CPU buffers of resolved samples. A sample is self-contained: nothing
 * in it points to a task, a mapping or a file, so it may wait here for as
 * long as it likes. So are the words behind it, if it has any: they are of the
 * stream already, and end the stack trace that the sample begins; or the sample
 * is a record of the stream itself, and they are the rest of it.
 */

#include <linux/types.h>

#include "oprofile_stats.h"

/* Where a sample's offset counts from. */
enum sample_space {
	SAMPLE_KERNEL, /* nothing: an absolute kernel address */
	SAMPLE_IMAGE, /* the start of the file that cookie names */
	SAMPLE_ANON, /* anon_start, like the two below */
	SAMPLE_HEAP,
	SAMPLE_STACK,
};

struct op_sample {
	u64 offset;
	u64 app_cookie; /* image that the task was started from, 0 unknown */
	union {
		u64 cookie; /* SAMPLE_IMAGE */
		u64 anon_start; /* SAMPLE_ANON and below */
	};
	u64 anon_end;
	u32 tid; /* in the initial pid namespace, like tgid */
	u32 tgid;
	u32 cpu; /* where it was taken */
	u32 owner; /* of its process, or NO_OWNER (owner.h) */
	u8 counter;
	u8 space; /* enum sample_space */
	u16 nr_words; /* behind it; 0: no trace */
	u8 code; /* enum op_code of its record; 0: it is none */
	u8 shift; /* it stands for 1 << shift: the rate was divided by that */
	/* How often it was taken, in units of 1 << shift. 0: once, and shift is
	 * as above. */
	u16 nr_taken;
};

/* How many samples @sample stands for. */
static inline unsigned long op_sample_times(const struct op_sample *sample)
{
	return (sample->nr_taken ? sample->nr_taken : 1ul) << sample->shift;
}

/* Count @sample, and all that it stands for, as lost. Any context. */
void op_sample_lose(const struct op_sample *sample, enum oprofile_stat cause);

/* Words to put behind a sample. */
struct op_words {
	const u64 *words;
	unsigned int nr;
};

/* The memory of the buffer of one CPU that takes at least @nr_samples. */
u64 cpu_buffer_bytes(unsigned long nr_samples);

/*
 * Make buffers of at least @nr_samples for every possible CPU; the words
 * behind a sample take up the room of one sample for each seven. Returns 0 or
 * -ENOMEM. Process context; nothing else may run.
 */
int cpu_buffer_setup(unsigned long nr_samples);
void cpu_buffer_shutdown(void);

/*
 * Store @sample in the buffer of this CPU or count it as lost. Any context
 * but NMI on top of itself; from a task, may migrate before and after.
 */
void cpu_buffer_add(struct op_sample *sample);

/*
 * The same with the words of @nr_pieces pieces behind it, at most U16_MAX in
 * all. False, and nothing is counted, when there is no room for the whole.
 */
bool cpu_buffer_add_trace(struct op_sample *sample,
			  const struct op_words *pieces,
			  unsigned int nr_pieces);

/* The oldest sample of @cpu, or NULL. One consumer at a time. */
const struct op_sample *cpu_buffer_peek(unsigned int cpu);

/*
 * Words behind the sample that cpu_buffer_peek() returned: OP_RING_SLOT_WORDS
 * of them from number @slot * OP_RING_SLOT_WORDS on, or as many as it has.
 */
const u64 *cpu_buffer_words(unsigned int cpu, unsigned int slot);

/* Drop what cpu_buffer_peek() returned. */
void cpu_buffer_consume(unsigned int cpu);

#endif /* MODULE_CPU_BUFFER_H */
