// SPDX-License-Identifier: GPL-2.0
/*
 * A node for task work is taken from a list of the CPU, made beforehand. Only
 * hard interrupts of the CPU take from its list, which makes the lock-free
 * removal safe; any CPU may give back.
 *
 * nr_deferred counts the nodes in use, and the memory of nodes is freed only
 * when it is 0. give_back() touches nothing of a node after it has counted
 * down.
 */

#include <linux/atomic.h>
#include <linux/llist.h>
#include <linux/mm.h>
#include <linux/percpu.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/task_work.h>
#include <linux/types.h>
#include <linux/wait.h>

#include "cpu_buffer.h"
#include "defer.h"
#include "handler_time.h"
#include "oprofile_stats.h"

#ifdef HAVE_TASK_WORK_ADD

/*
 * A task can have one deferred sample at a time, so what bounds their number is
 * how many tasks wait for their own address space or for a CPU.
 */
#define NODES_PER_CPU 1024

struct deferred {
	struct callback_head work;
	struct llist_node free;
	struct llist_head *home;
	struct op_sample sample;
	u64 record[OP_MAX_IBS_WORDS];
};

/* Taken from in hard interrupts of the CPU alone, given back from anywhere. */
static DEFINE_PER_CPU(struct llist_head, free_nodes);
static DEFINE_PER_CPU(struct deferred *, all_nodes);
static atomic_t nr_deferred;
static DECLARE_WAIT_QUEUE_HEAD(drained);
static void (*resolve_deferred)(struct op_sample *sample, const u64 *record);

void defer_shutdown(void)
{
	unsigned int cpu;

	wait_event(drained, !atomic_read(&nr_deferred));
	for_each_possible_cpu(cpu) {
		struct deferred **nodes = per_cpu_ptr(&all_nodes, cpu);

		kvfree(*nodes);
		*nodes = NULL;
	}
}

int defer_setup(void (*resolve)(struct op_sample *sample, const u64 *record))
{
	unsigned int cpu, i;

	resolve_deferred = resolve;
	for_each_possible_cpu(cpu) {
		struct llist_head *home = per_cpu_ptr(&free_nodes, cpu);
		struct deferred *nodes =
			kvcalloc(NODES_PER_CPU, sizeof(*nodes), GFP_KERNEL);

		if (!nodes) {
			defer_shutdown();
			return -ENOMEM;
		}
		*per_cpu_ptr(&all_nodes, cpu) = nodes;
		init_llist_head(home);
		for (i = 0; i < NODES_PER_CPU; i++) {
			nodes[i].home = home;
			llist_add(&nodes[i].free, home);
		}
	}
	return 0;
}

int defer_drain(void)
{
	return wait_event_killable(drained, !atomic_read(&nr_deferred)) ? -EINTR
									: 0;
}

static void give_back(struct deferred *node)
{
	llist_add(&node->free, node->home);
	/*
	 * The waiter frees the nodes: this is the last that touches them. It
	 * waits in the queue before it looks at the number, and the number is
	 * changed, with a full barrier, before the queue is looked at.
	 */
	if (atomic_dec_and_test(&nr_deferred) && waitqueue_active(&drained))
		wake_up_all(&drained);
}

/* In the sampled task, before it is back in user mode. */
static void resolve_in_task(struct callback_head *work)
{
	struct deferred *node = container_of(work, struct deferred, work);
	const struct handler_task task = handler_task_begins();

	if (current->mm)
		resolve_deferred(&node->sample, node->record);
	else
		op_sample_lose(&node->sample, STAT_SAMPLE_LOST_NO_MM);
	handler_task_ends(&task);
	give_back(node);
}

void defer_sample(const struct op_sample *sample, const u64 *record)
{
	struct llist_node *free = llist_del_first(this_cpu_ptr(&free_nodes));
	struct deferred *node;

	if (!free) {
		op_sample_lose(sample, STAT_SAMPLE_LOST_NO_WORK);
		return;
	}
	node = llist_entry(free, struct deferred, free);
	node->sample = *sample;
	if (record)
		memcpy(node->record, record, sample->nr_words * sizeof(u64));
	init_task_work(&node->work, resolve_in_task);
	atomic_inc(&nr_deferred);
	if (task_work_add(current, &node->work, TWA_RESUME)) {
		op_sample_lose(sample, STAT_SAMPLE_LOST_NO_MM);
		give_back(node);
	}
}

#else /* !HAVE_TASK_WORK_ADD */

int defer_setup(void (*resolve)(struct op_sample *sample, const u64 *record))
{
	return 0;
}

void defer_shutdown(void)
{
}

int defer_drain(void)
{
	return 0;
}

void defer_sample(const struct op_sample *sample, const u64 *record)
{
	op_sample_lose(sample, STAT_SAMPLE_LOST_BUSY);
}

#endif /* HAVE_TASK_WORK_ADD */
