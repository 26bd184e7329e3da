// SPDX-License-Identifier: GPL-2.0

#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/percpu.h>
#include <linux/string.h>
#include <linux/types.h>
#include <asm/local.h>

#include "buffer_sync.h"
#include "cpu_buffer.h"
#include "op_ring.h"
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

int cpu_buffer_setup(unsigned long nr_samples)
{
	unsigned int order = order_base_2(nr_samples);
	unsigned int cpu;

	for_each_possible_cpu(cpu) {
		struct op_ring_slot *slots;

		slots = kvzalloc_node(sizeof(*slots) << order, GFP_KERNEL,
				      cpu_to_node(cpu));
		if (!slots) {
			cpu_buffer_shutdown();
			return -ENOMEM;
		}
		op_ring_init(per_cpu_ptr(&cpu_rings, cpu), slots, order);
	}
	return 0;
}

void cpu_buffer_add(const struct op_sample *sample)
{
	struct op_ring *ring = get_cpu_ptr(&cpu_rings);
	struct op_ring_slot *slot;
	unsigned long number;

	slot = op_ring_reserve(ring, &number);
	if (slot) {
		memcpy(slot->words, sample, sizeof(*sample));
		op_ring_publish(slot, number);
	} else {
		oprofile_stat_inc(STAT_SAMPLE_LOST_OVERFLOW);
	}
	/* Once a round is enough: the sync empties the whole buffer. */
	if (op_ring_used(ring) == (ring->mask >> 1) + 1)
		buffer_sync_soon();
	put_cpu_ptr(&cpu_rings);
}

const struct op_sample *cpu_buffer_peek(unsigned int cpu)
{
	struct op_ring_slot *slot = op_ring_peek(per_cpu_ptr(&cpu_rings, cpu));

	return slot ? (const struct op_sample *)slot->words : NULL;
}

void cpu_buffer_consume(unsigned int cpu)
{
	op_ring_consume(per_cpu_ptr(&cpu_rings, cpu));
}
