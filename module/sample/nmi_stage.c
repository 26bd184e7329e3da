// SPDX-License-Identifier: GPL-2.0
/*
 * The ring is filled by NMIs of its CPU and emptied by an irq_work of the same
 * CPU, so producer and consumer never run on two CPUs. An NMI may interrupt the
 * consumer; op_ring.h allows for that. Callers are in the slots behind their
 * sample and are copied into one piece before the sample is handled, because
 * the ring may cut them where it ends.
 */

#include <linux/cpumask.h>
#include <linux/irq_work.h>
#include <linux/mm.h>
#include <linux/percpu.h>
#include <linux/string.h>
#include <linux/types.h>
#include <asm/local.h>

#include "buffer/op_ring.h"
#include "compat.h"
#include "sample/nmi_stage.h"

/* NMIs while interrupts are off for long; more slots if these have callers. */
#define RING_ORDER 8
#define CALLERS_ORDER 10

struct stage {
	struct op_ring ring;
	struct irq_work work;
	u64 *frames; /* of the sample that is being handled */
};

static DEFINE_PER_CPU(struct stage, stages);
static void (*handle_sample)(const struct nmi_sample *sample,
			     const u64 *frames);

static_assert(sizeof(struct nmi_sample) <=
	      sizeof_field(struct op_ring_slot, words));

static u64 *frame_at(struct op_ring *ring, unsigned long number, unsigned int i)
{
	number += 1 + i / OP_RING_SLOT_WORDS;
	return &op_ring_slot(ring, number)->words[i % OP_RING_SLOT_WORDS];
}

static unsigned long slots_of(const struct nmi_sample *sample)
{
	return 1 + DIV_ROUND_UP(sample->nr_frames, OP_RING_SLOT_WORDS);
}

static void drain(struct irq_work *work)
{
	struct stage *stage = container_of(work, struct stage, work);
	struct op_ring *ring = &stage->ring;
	struct op_ring_slot *slot;
	unsigned int i;

	while ((slot = op_ring_peek(ring))) {
		const struct nmi_sample *sample = (void *)slot->words;

		for (i = 0; i < sample->nr_frames; i++)
			stage->frames[i] = *frame_at(ring, ring->tail, i);
		handle_sample(sample, stage->frames);
		op_ring_consume(ring, slots_of(sample));
	}
}

void nmi_stage_shutdown(void)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu) {
		struct stage *stage = per_cpu_ptr(&stages, cpu);

		kvfree(stage->ring.slots);
		stage->ring.slots = NULL;
		kvfree(stage->frames);
		stage->frames = NULL;
	}
}

static int setup_cpu(unsigned int cpu, unsigned int max_frames)
{
	struct stage *stage = per_cpu_ptr(&stages, cpu);
	unsigned int order = max_frames ? CALLERS_ORDER : RING_ORDER;
	struct op_ring_slot *slots;

	slots = kvzalloc_node(sizeof(*slots) << order, GFP_KERNEL,
			      cpu_to_node(cpu));
	if (!slots)
		return -ENOMEM;
	op_ring_init(&stage->ring, slots, order);
	stage->work = IRQ_WORK_INIT_HARD(drain);
	if (!max_frames)
		return 0;
	stage->frames = kvmalloc_array(max_frames, sizeof(u64), GFP_KERNEL);
	return stage->frames ? 0 : -ENOMEM;
}

int nmi_stage_setup(void (*handle)(const struct nmi_sample *sample,
				   const u64 *frames),
		    unsigned int max_frames)
{
	unsigned int cpu;

	handle_sample = handle;
	for_each_possible_cpu(cpu) {
		if (setup_cpu(cpu, max_frames)) {
			nmi_stage_shutdown();
			return -ENOMEM;
		}
	}
	return 0;
}

bool nmi_stage_add(const struct nmi_sample *sample, const u64 *frames)
{
	struct stage *stage = this_cpu_ptr(&stages);
	unsigned long number;
	unsigned int i;

	if (!op_ring_reserve(&stage->ring, slots_of(sample), &number))
		return false;
	memcpy(op_ring_slot(&stage->ring, number)->words, sample,
	       sizeof(*sample));
	for (i = 0; i < sample->nr_frames; i++)
		*frame_at(&stage->ring, number, i) = frames[i];
	op_ring_publish(&stage->ring, number);
	irq_work_queue(&stage->work);
	return true;
}

void nmi_stage_settle(void)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu)
		irq_work_sync(&per_cpu_ptr(&stages, cpu)->work);
}
