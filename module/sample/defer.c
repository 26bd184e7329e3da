// SPDX-License-Identifier: GPL-2.0
/*
 * A node for task work is taken from a list of the CPU, made beforehand. Only
 * hard interrupts of the CPU take from its list, which makes the lock-free
 * removal safe; any CPU may give back.
 *
 * Whoever moves the state of a node on, the task or a stop, is the one who
 * stores the sample or counts it as lost:
 *
 *	FREE -> WAITING -> RUNNING -> SETTLED -> FREE	the task's way
 *	           |          '-> LOST_RUNNING -> FREE	a stop was first
 *	           '-> LOST ---------------------> FREE
 *
 * A task whose cgroup gets hardly any CPU time may not run for as long as
 * anybody likes. So a stop waits for a while, and then for those alone that are
 * storing their sample. The end of a session waits for those that use what is
 * freed, and the nodes of tasks that have not run yet outlive it, with the
 * module.
 */

#include <linux/atomic.h>
#include <linux/llist.h>
#include <linux/jiffies.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/refcount.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/task_work.h>
#include <linux/types.h>
#include <linux/wait.h>

#include "buffer/cpu_buffer.h"
#include "handler_time.h"
#include "oprofile_stats.h"
#include "sample/defer.h"

#ifdef HAVE_TASK_WORK_ADD

/*
 * A task can have one deferred sample at a time, so what bounds their number is
 * how many tasks wait for their own address space or for a CPU.
 */
#define NODES_PER_CPU 1024

/* How long a stop waits for tasks to run. */
#define DRAIN_MS 1000

enum node_state {
	NODE_FREE,
	NODE_WAITING, /* the task has not run yet */
	NODE_RUNNING, /* it resolves the sample */
	NODE_SETTLED, /* it stores it, or counts it as lost */
	NODE_LOST, /* counted as lost instead, while it was waiting */
	NODE_LOST_RUNNING, /* ... or running, which goes on in vain */
};

struct deferred {
	struct callback_head work;
	struct llist_node free;
	struct llist_head *home;
	struct node_pool *pool;
	atomic_t state;
	struct op_sample sample;
	u64 record[OP_MAX_IBS_WORDS];
};

/* Taken from in hard interrupts of the CPU alone, given back from anywhere. */
struct nodes_of_cpu {
	struct llist_head free;
	struct deferred *all;
};

/* The nodes of a session: they stay as long as one of them is in use. */
struct node_pool {
	refcount_t users; /* the session, and each node that is not free */
	struct nodes_of_cpu __percpu *cpus;
};

static struct node_pool *pool;
static DECLARE_WAIT_QUEUE_HEAD(drained);
static void (*resolve_deferred)(struct op_sample *sample, const u64 *record);

static void put_pool(struct node_pool *old)
{
	unsigned int cpu;

	if (!refcount_dec_and_test(&old->users))
		return;
	for_each_possible_cpu(cpu)
		kvfree(per_cpu_ptr(old->cpus, cpu)->all);
	free_percpu(old->cpus);
	kfree(old);
	module_put(THIS_MODULE);
}

static struct node_pool *new_pool(void)
{
	struct node_pool *made = kzalloc(sizeof(*made), GFP_KERNEL);

	if (made)
		made->cpus = alloc_percpu(struct nodes_of_cpu);
	if (!made || !made->cpus) {
		kfree(made);
		return NULL;
	}
	refcount_set(&made->users, 1);
	/* The session's file has it open. */
	__module_get(THIS_MODULE);
	return made;
}

static int fill_pool(struct node_pool *made, unsigned int cpu)
{
	struct nodes_of_cpu *nodes = per_cpu_ptr(made->cpus, cpu);
	unsigned int i;

	init_llist_head(&nodes->free);
	nodes->all = kvcalloc(NODES_PER_CPU, sizeof(*nodes->all), GFP_KERNEL);
	if (!nodes->all)
		return -ENOMEM;
	for (i = 0; i < NODES_PER_CPU; i++) {
		nodes->all[i].home = &nodes->free;
		nodes->all[i].pool = made;
		llist_add(&nodes->all[i].free, &nodes->free);
	}
	return 0;
}

int defer_setup(void (*resolve)(struct op_sample *sample, const u64 *record))
{
	unsigned int cpu;
	int err = 0;

	resolve_deferred = resolve;
	pool = new_pool();
	if (!pool)
		return -ENOMEM;
	for_each_possible_cpu(cpu)
		err = err ? err : fill_pool(pool, cpu);
	if (err) {
		put_pool(pool);
		pool = NULL;
	}
	return err;
}

/* Whether a node is in one of the states from @first to @last. */
static bool any_node_in(enum node_state first, enum node_state last)
{
	unsigned int cpu, i;

	for_each_possible_cpu(cpu) {
		struct deferred *all = per_cpu_ptr(pool->cpus, cpu)->all;

		for (i = 0; i < NODES_PER_CPU; i++) {
			int state = atomic_read(&all[i].state);

			if (state >= first && state <= last)
				return true;
		}
	}
	return false;
}

/* Samples whose nodes are in state @from are lost, unless their tasks are
 * first. */
static void lose_nodes(enum node_state from, enum node_state to)
{
	unsigned int cpu, i;

	for_each_possible_cpu(cpu) {
		struct deferred *all = per_cpu_ptr(pool->cpus, cpu)->all;

		for (i = 0; i < NODES_PER_CPU; i++)
			if (atomic_cmpxchg(&all[i].state, from, to) == from)
				op_sample_lose(&all[i].sample,
					       STAT_SAMPLE_LOST_BUSY);
	}
}

int defer_drain(void)
{
	long left = wait_event_killable_timeout(
		drained, !any_node_in(NODE_WAITING, NODE_SETTLED),
		msecs_to_jiffies(DRAIN_MS));

	if (left)
		return left < 0 ? -EINTR : 0;
	lose_nodes(NODE_WAITING, NODE_LOST);
	lose_nodes(NODE_RUNNING, NODE_LOST_RUNNING);
	return wait_event_killable(drained,
				   !any_node_in(NODE_SETTLED, NODE_SETTLED))
		       ? -EINTR
		       : 0;
}

void defer_shutdown(void)
{
	lose_nodes(NODE_WAITING, NODE_LOST);
	wait_event(drained,
		   !any_node_in(NODE_RUNNING, NODE_SETTLED) &&
			   !any_node_in(NODE_LOST_RUNNING, NODE_LOST_RUNNING));
	put_pool(pool);
	pool = NULL;
}

static void give_back(struct deferred *node)
{
	struct node_pool *of = node->pool;

	atomic_set(&node->state, NODE_FREE);
	smp_mb(); /* pairs with that of prepare_to_wait_event() */
	/* The waiter is in the queue before it looks at the states. */
	if (waitqueue_active(&drained))
		wake_up_all(&drained);
	llist_add(&node->free, node->home);
	put_pool(of);
}

bool defer_settles(struct op_sample *sample)
{
	struct deferred *node = container_of(sample, struct deferred, sample);

	return atomic_cmpxchg(&node->state, NODE_RUNNING, NODE_SETTLED) ==
	       NODE_RUNNING;
}

static void resolve_node(struct deferred *node)
{
	const struct handler_task task = handler_task_begins();

	if (current->mm)
		resolve_deferred(&node->sample, node->record);
	else if (defer_settles(&node->sample))
		op_sample_lose(&node->sample, STAT_SAMPLE_LOST_NO_MM);
	handler_task_ends(&task);
}

/* In the sampled task, before it is back in user mode. */
static void resolve_in_task(struct callback_head *work)
{
	struct deferred *node = container_of(work, struct deferred, work);

	if (atomic_cmpxchg(&node->state, NODE_WAITING, NODE_RUNNING) ==
	    NODE_WAITING)
		resolve_node(node);
	give_back(node);
}

void defer_sample(const struct op_sample *sample, const u64 *record)
{
	struct llist_node *free =
		llist_del_first(&this_cpu_ptr(pool->cpus)->free);
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
	refcount_inc(&pool->users);
	atomic_set(&node->state, NODE_WAITING);
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

bool defer_settles(struct op_sample *sample)
{
	return true;
}

void defer_sample(const struct op_sample *sample, const u64 *record)
{
	op_sample_lose(sample, STAT_SAMPLE_LOST_BUSY);
}

#endif /* HAVE_TASK_WORK_ADD */
