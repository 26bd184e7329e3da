/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MODULE_OP_RING_H
#define MODULE_OP_RING_H

/*
 * The arithmetic of the per-CPU ring of samples: slots of one cache line,
 * written on one CPU from nested contexts, read by one consumer anywhere.
 *
 *	            tail                      head
 *	             v                         v
 *	  | free ... | published | reserved... | free ...
 *
 * A producer owns slot number head once it has moved head past it. Contexts
 * on one CPU nest (a task with preemption off, an interrupt over it, an NMI
 * over that), so an inner one may reserve and publish a later slot while an
 * outer one still fills its own: the compare-and-exchange in reserve gives
 * each its own slot, and the consumer waits at the first slot that is not
 * published. That wait is bounded because the outer context cannot be
 * scheduled away. Slot number n is published by the value n + 1 in its
 * state, so that what a slot held a round earlier is never taken for new.
 *
 * Only head is written from nested contexts, and only on its own CPU, so it
 * needs no bus lock (local_t). tail is written by the consumer alone.
 *
 * The file needs nothing but local_t and the acquire and release accessors:
 * a test gives these in user space and runs it under ThreadSanitizer.
 */

struct op_ring_slot {
	unsigned long state; /* the slot's number plus 1 when published */
	u64 words[7];
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

/*
 * Reserve a slot on the ring's own CPU, with preemption off. Returns NULL
 * when the ring is full. *@number goes to op_ring_publish().
 */
static inline struct op_ring_slot *op_ring_reserve(struct op_ring *ring,
						   unsigned long *number)
{
	unsigned long head = local_read(&ring->head);
	unsigned long seen;

	for (;;) {
		/* What was in the slot has been read: op_ring_consume(). */
		if (head - smp_load_acquire(&ring->tail) > ring->mask)
			return NULL;
		seen = local_cmpxchg(&ring->head, head, head + 1);
		if (seen == head)
			break;
		head = seen;
	}
	*number = head;
	return &ring->slots[head & ring->mask];
}

/* Hand a filled slot to the consumer. */
static inline void op_ring_publish(struct op_ring_slot *slot,
				   unsigned long number)
{
	/* The words before the state: op_ring_peek(). */
	smp_store_release(&slot->state, number + 1);
}

/* The oldest published slot, or NULL. For the one consumer. */
static inline struct op_ring_slot *op_ring_peek(struct op_ring *ring)
{
	struct op_ring_slot *slot = &ring->slots[ring->tail & ring->mask];

	/* The state before the words: op_ring_publish(). */
	if (smp_load_acquire(&slot->state) != ring->tail + 1)
		return NULL;
	return slot;
}

/* Give the slot that op_ring_peek() returned back to the producers. */
static inline void op_ring_consume(struct op_ring *ring)
{
	/* The words were read before they are given away. */
	smp_store_release(&ring->tail, ring->tail + 1);
}

/* Slots in use, seen from the ring's own CPU. */
static inline unsigned long op_ring_used(struct op_ring *ring)
{
	return local_read(&ring->head) - READ_ONCE(ring->tail);
}

#endif /* MODULE_OP_RING_H */
