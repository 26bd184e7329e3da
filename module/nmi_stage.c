// SPDX-License-Identifier: GPL-2.0

#include <linux/cpumask.h>
#include <linux/irq_work.h>
#include <linux/mm.h>
#include <linux/percpu.h>
#include <linux/string.h>
#include <linux/types.h>
#include <asm/local.h>

#include "nmi_stage.h"
#include "op_ring.h"

/* NMIs while interrupts are off for long; a power of two. */
#define RING_ORDER 8

struct stage {
	struct op_ring ring;
	struct irq_work work;
};

static DEFINE_PER_CPU(struct stage, stages);
static void (*handle_sample)(const struct nmi_sample *sample);

static_assert(sizeof(struct nmi_sample) <=
	      sizeof_field(struct op_ring_slot, words));

static void drain(struct irq_work *work)
{
	struct stage *stage = container_of(work, struct stage, work);
	struct op_ring_slot *slot;

	while ((slot = op_ring_peek(&stage->ring))) {
		handle_sample((const struct nmi_sample *)slot->words);
		op_ring_consume(&stage->ring, 1);
	}
}

void nmi_stage_shutdown(void)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu) {
		struct stage *stage = per_cpu_ptr(&stages, cpu);

		kvfree(stage->ring.slots);
		stage->ring.slots = NULL;
	}
}

int nmi_stage_setup(void (*handle)(const struct nmi_sample *sample))
{
	unsigned int cpu;

	handle_sample = handle;
	for_each_possible_cpu(cpu) {
		struct stage *stage = per_cpu_ptr(&stages, cpu);
		struct op_ring_slot *slots;

		slots = kvzalloc_node(sizeof(*slots) << RING_ORDER, GFP_KERNEL,
				      cpu_to_node(cpu));
		if (!slots) {
			nmi_stage_shutdown();
			return -ENOMEM;
		}
		op_ring_init(&stage->ring, slots, RING_ORDER);
		stage->work = IRQ_WORK_INIT_HARD(drain);
	}
	return 0;
}

bool nmi_stage_add(const struct nmi_sample *sample)
{
	struct stage *stage = this_cpu_ptr(&stages);
	unsigned long number;

	if (!op_ring_reserve(&stage->ring, 1, &number))
		return false;
	memcpy(op_ring_slot(&stage->ring, number)->words, sample,
	       sizeof(*sample));
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
