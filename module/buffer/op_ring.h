/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MODULE_OP_RING_H
#define MODULE_OP_RING_H

/*
 * The arithmetic of the per-CPU ring of samples: slots of one cache line,
 * written on one CPU from nested contexts, read by one consumer anywhere. A
 * record takes one slot or several in a row, all or none.
 *
 *	            tail                      head
 *	             v                         v
 *	  | free ... | published | reserved... | free ...
 *
 * A producer owns the slots from number head on once it has moved head past
 * them. Contexts on one CPU nest (a task with preemption off, an interrupt
 * over it, an NMI over that), so an inner one may reserve and publish later
 * slots while an outer one still fills its own: the compare-and-exchange in
 * reserve gives each its own, and the consumer waits at the first record that
 * is not published. That wait is bounded because the outer context cannot be
 * scheduled away. A record whose first slot is number n is published by the
 * value n + 1 in the state of that slot. The states of its other slots stay as
 * they are: they hold numbers of earlier rounds, so nothing that a slot held
 * then is ever taken for new. How many slots a record has is in its words.
 *
 * Only head is written from nested contexts, and only on its own CPU, so it
 * needs no bus lock (local_t). tail is written by the consumer alone.
 *
 * The file needs nothing but local_t and the acquire and release accessors:
 * a test gives these in user space and runs it under ThreadSanitizer.
 */

#define OP_RING_SLOT_WORDS 7u

struct op_ring_slot {
	unsigned long state; /* the slot's number plus 1 when published */
	u64 words[OP_RING_SLOT_WORDS];
};

struct op_ring {
	struct op_ring_slot *slots;
	unsigned long mask; /* number of slots, a power of two, less 1 */
	local_t head; /* next slot number to reserve */
	unsigned long tail; /* next slot number to consume */
};

/* @slots are 1 << @order zeroed slots, the caller's. */
static inline void op_ring_init(struct op_ring *ring,
				struct op_ring_slot *slots, unsigned int order)
{
	ring->slots = slots;
	ring->mask = (1ul << order) - 1;
	local_set(&ring->head, 0);
	ring->tail = 0;
}

static inline struct op_ring_slot *op_ring_slot(const struct op_ring *ring,
						unsigned long number)
{
	return &ring->slots[number & ring->mask];
}

/*
 * Reserve @nr slots in a row, at least one, on the ring's own CPU, with
 * preemption off. False when there is no room for all of them. They are
 * op_ring_slot() of *@number and the numbers behind it.
 */
static inline bool op_ring_reserve(struct op_ring *ring, unsigned long nr,
				   unsigned long *number)
{
	unsigned long head = local_read(&ring->head);
	unsigned long seen;

	for (;;) {
		/* What was in the slots has been read: op_ring_consume(). */
		if (head + nr - smp_load_acquire(&ring->tail) > ring->mask + 1)
			return false;
		seen = local_cmpxchg(&ring->head, head, head + nr);
		if (seen == head)
			break;
		head = seen;
	}
	*number = head;
	return true;
}

/* Hand the filled record that starts with slot @number to the consumer. */
static inline void op_ring_publish(struct op_ring *ring, unsigned long number)
{
	/* The words before the state: op_ring_peek(). */
	smp_store_release(&op_ring_slot(ring, number)->state, number + 1);
}

/*
 * The first slot of the oldest record if that is published, else NULL. The
 * others are op_ring_slot() of the numbers behind ring->tail. For the one
 * consumer.
 */
static inline struct op_ring_slot *op_ring_peek(struct op_ring *ring)
{
	struct op_ring_slot *slot = op_ring_slot(ring, ring->tail);

	/* The state before the words: op_ring_publish(). */
	if (smp_load_acquire(&slot->state) != ring->tail + 1)
		return NULL;
	return slot;
}

/* Give the @nr slots of the oldest record back to the producers. */
static inline void op_ring_consume(struct op_ring *ring, unsigned long nr)
{
	/* The words were read before they are given away. */
	smp_store_release(&ring->tail, ring->tail + nr);
}

/* Slots in use, seen from the ring's own CPU. */
static inline unsigned long op_ring_used(struct op_ring *ring)
{
	return local_read(&ring->head) - READ_ONCE(ring->tail);
}

#endif /* MODULE_OP_RING_H */
