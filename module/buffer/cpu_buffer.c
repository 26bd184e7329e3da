// SPDX-License-Identifier: GPL-2.0
/*
 * Each CPU has a ring of slots (op_ring.h), which interrupts of that CPU fill
 * without locks and the sync empties. The slots of a sample and of the words
 * behind it are reserved together, filled, and made visible by one publish of
 * the first slot, so the consumer never sees a part. A task that stores a
 * sample keeps preemption off meanwhile, so that it stays on the CPU of its
 * ring.
 *
 * When a ring becomes half full, the sample that passes the half asks for a
 * sync, and no later one does until the ring is full. The sync empties the
 * whole ring, so one request is enough.
 */

#include <linux/log2.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/percpu.h>
#include <linux/string.h>
#include <linux/types.h>

#include "buffer/buffer_sync.h"
#include "buffer/cpu_buffer.h"
#include "buffer/stream.h"
#include "oprofile_stats.h"

static DEFINE_PER_CPU(struct op_ring, cpu_rings);

static_assert(sizeof(struct op_sample) <=
	      sizeof_field(struct op_ring_slot, words));

void cpu_buffer_shutdown(void)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu) {
		struct op_ring *ring = per_cpu_ptr(&cpu_rings, cpu);

		kvfree(ring->slots);
		ring->slots = NULL;
	}
}

u64 cpu_buffer_bytes(unsigned long nr_samples)
{
	return (u64)sizeof(struct op_ring_slot) << order_base_2(nr_samples);
}

int cpu_buffer_setup(unsigned long nr_samples)
{
	unsigned int order = order_base_2(nr_samples);
	unsigned int cpu;

	for_each_possible_cpu(cpu) {
		struct op_ring_slot *slots;

		slots = kvzalloc_node(sizeof(*slots) << order,
				      GFP_KERNEL | __GFP_RETRY_MAYFAIL |
					      __GFP_NOWARN,
				      cpu_to_node(cpu));
		if (!slots) {
			cpu_buffer_shutdown();
			return -ENOMEM;
		}
		op_ring_init(per_cpu_ptr(&cpu_rings, cpu), slots, order);
	}
	return 0;
}

void op_sample_lose(const struct op_sample *sample, enum oprofile_stat cause)
{
	oprofile_stat_add(cause, op_sample_times(sample));
}

static unsigned long slots_of(unsigned int nr_words)
{
	return 1 + DIV_ROUND_UP(nr_words, OP_RING_SLOT_WORDS);
}

/* Write @pieces from slot @number on. */
static void fill(struct op_ring *ring, unsigned long number,
		 const struct op_words *pieces, unsigned int nr_pieces)
{
	unsigned int used = 0, part, i;

	for (i = 0; i < nr_pieces; i++) {
		const u64 *from = pieces[i].words;
		unsigned int left = pieces[i].nr;

		for (; left; left -= part, from += part) {
			part = min(left, OP_RING_SLOT_WORDS - used);
			stream_copy(op_ring_slot(ring, number)->words + used,
				    from, part);
			used += part;
			if (used == OP_RING_SLOT_WORDS) {
				used = 0;
				number++;
			}
		}
	}
}

/* Ask for a sync when the ring becomes half full, and once only. */
static void watch_level(struct op_ring *ring, unsigned long added)
{
	unsigned long half = (ring->mask >> 1) + 1;
	unsigned long used = op_ring_used(ring);

	if (used >= half && used - added < half)
		buffer_sync_soon();
}

bool cpu_buffer_add_trace(struct op_sample *sample,
			  const struct op_words *pieces, unsigned int nr_pieces)
{
	struct op_ring *ring = get_cpu_ptr(&cpu_rings);
	unsigned long nr_slots, number;
	unsigned int i, nr_words = 0;
	bool has_room;

	for (i = 0; i < nr_pieces; i++)
		nr_words += pieces[i].nr;
	sample->nr_words = nr_words;
	nr_slots = slots_of(nr_words);
	has_room = op_ring_reserve(ring, nr_slots, &number);
	if (has_room) {
		memcpy(op_ring_slot(ring, number)->words, sample,
		       sizeof(*sample));
		fill(ring, number + 1, pieces, nr_pieces);
		op_ring_publish(ring, number);
		watch_level(ring, nr_slots);
	} else {
		buffer_sync_soon();
	}
	put_cpu_ptr(&cpu_rings);
	return has_room;
}

void cpu_buffer_add(struct op_sample *sample)
{
	if (!cpu_buffer_add_trace(sample, NULL, 0))
		op_sample_lose(sample, STAT_SAMPLE_LOST_OVERFLOW);
}

const struct op_sample *cpu_buffer_peek(unsigned int cpu)
{
	struct op_ring_slot *slot = op_ring_peek(per_cpu_ptr(&cpu_rings, cpu));

	return slot ? (const struct op_sample *)slot->words : NULL;
}

const u64 *cpu_buffer_words(unsigned int cpu, unsigned int slot)
{
	const struct op_ring *ring = per_cpu_ptr(&cpu_rings, cpu);

	return op_ring_slot(ring, ring->tail + 1 + slot)->words;
}

void cpu_buffer_consume(unsigned int cpu)
{
	op_ring_consume(per_cpu_ptr(&cpu_rings, cpu),
			slots_of(cpu_buffer_peek(cpu)->nr_words));
}
