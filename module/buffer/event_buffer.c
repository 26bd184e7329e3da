// SPDX-License-Identifier: GPL-2.0
/*
 * A ring of words with one producer and one reader. The producer writes words
 * behind head and moves head when a record is whole, with release; the reader
 * takes words up to head, with acquire, and moves tail when it has copied them.
 * So neither needs a lock against the other, and a reader never sees a part of
 * a record. read(2) cuts what it gives at the borders of records as well.
 *
 * ready says that read(2) need not wait. The producer sets it after it has
 * moved head, with release; a reader clears it before it looks at head, with
 * one atomic exchange, which is a full barrier. If the exchange takes a set
 * ready away, the reader sees the head that it was set for; else ready is set
 * later and the next read does not wait. It is set at the watershed, on a dump,
 * when words are old, and by a read that left something.
 */

#include <linux/atomic.h>
#include <linux/jiffies.h>
#include <linux/log2.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/poll.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/wait.h>

#include "buffer/event_buffer.h"
#include "buffer/stream.h"
#include "uapi/oprofile.h"

/*
 * head and tail count words since setup; their difference is what is in use.
 * The producer writes head, the reader tail. From head up to pending are words
 * that are not for the reader yet; these are the producer's.
 */
static u64 *words;
static unsigned long mask; /* the slots of words, a power of two, less 1 */
static unsigned long capacity; /* words, at most as many as there are slots */
static unsigned long wake_at; /* words in use */
static unsigned long head;
static unsigned long pending;
static unsigned long tail;
static unsigned long woken; /* jiffies, the producer's */

static bool ready; /* the reader need not wait */
static DECLARE_WAIT_QUEUE_HEAD(readers);
static DEFINE_MUTEX(read_mutex);

u64 event_buffer_bytes(unsigned long nr_words)
{
	return (u64)sizeof(*words) << order_base_2(nr_words);
}

int event_buffer_setup(unsigned long nr_words, unsigned long watershed)
{
	if (watershed >= nr_words)
		return -EINVAL;
	words = kvmalloc(event_buffer_bytes(nr_words),
			 GFP_KERNEL | __GFP_RETRY_MAYFAIL | __GFP_NOWARN);
	if (!words)
		return -ENOMEM;
	mask = (1ul << order_base_2(nr_words)) - 1;
	capacity = nr_words;
	wake_at = nr_words - watershed;
	head = 0;
	pending = 0;
	tail = 0;
	woken = jiffies;
	ready = false;
	return 0;
}

void event_buffer_shutdown(void)
{
	kvfree(words);
	words = NULL;
}

void event_buffer_wake(void)
{
	woken = jiffies;
	/* Pairs with take(): head is moved before ready is set. */
	smp_store_release(&ready, true);
	wake_up_interruptible(&readers);
}

void event_buffer_wake_if_old(unsigned long age)
{
	if (head != READ_ONCE(tail) && time_after_eq(jiffies, woken + age))
		event_buffer_wake();
}

bool event_buffer_put(const u64 *from, unsigned int nr_words)
{
	/* Pairs with take(): the words that are overwritten have been read. */
	unsigned long used = pending - smp_load_acquire(&tail);
	unsigned long at = pending & mask;
	unsigned int i;

	if (capacity - used < nr_words)
		return false;
	if (nr_words <= mask + 1 - at)
		stream_copy(words + at, from, nr_words);
	else
		for (i = 0; i < nr_words; i++)
			words[(pending + i) & mask] = from[i];
	pending += nr_words;
	return true;
}

void event_buffer_drop(void)
{
	pending = head;
}

void event_buffer_commit(void)
{
	unsigned long done = READ_ONCE(tail);
	bool was_below = head - done < wake_at;

	/* Pairs with take(): the words are there before head counts them. */
	smp_store_release(&head, pending);
	if (was_below && pending - done >= wake_at)
		event_buffer_wake();
}

static u64 word_at(unsigned long number)
{
	return words[number & mask];
}

/* Words of the record or sample that starts at word @number. */
static unsigned long record_words(unsigned long number)
{
	if (word_at(number) != OP_ESCAPE)
		return 2;
	return 2 + OP_WORDS_OF(word_at(number + 1));
}

#define RECORDS_AT_A_TIME 4096 /* before others may run */

/* How many of the words before @end to take so that records stay whole. */
static unsigned long whole_records(unsigned long end, unsigned long max)
{
	unsigned long at = tail, nr = 0;

	while (at != end && at + record_words(at) - tail <= max) {
		at += record_words(at);
		if (!(++nr % RECORDS_AT_A_TIME))
			cond_resched();
	}
	return at - tail;
}

static int copy_words(char __user *buf, unsigned long nr_words)
{
	unsigned long at = tail & mask;
	unsigned long first = min(nr_words, mask + 1 - at);
	size_t first_len = first * sizeof(*words);

	if (copy_to_user(buf, words + at, first_len))
		return -EFAULT;
	if (copy_to_user(buf + first_len, words,
			 (nr_words - first) * sizeof(*words)))
		return -EFAULT;
	return 0;
}

/* Copy what fits. Returns bytes, 0 when there is nothing, or -errno. */
static ssize_t take(char __user *buf, size_t count)
{
	unsigned long end, nr_words;
	int err;

	/*
	 * Pairs with event_buffer_wake(). A plain store could become visible
	 * after head was read, and clear a wake-up for words that came between
	 * unseen; a store and a barrier here would need a full barrier there.
	 */
	xchg(&ready, false);
	/* Pairs with event_buffer_commit(): head is read before the words. */
	end = smp_load_acquire(&head);
	if (end == tail)
		return 0;
	nr_words = whole_records(end, count / sizeof(*words));
	if (!nr_words)
		return -EINVAL;
	err = copy_words(buf, nr_words);
	if (err)
		return err;
	/* The words were read before they are given away. */
	smp_store_release(&tail, tail + nr_words);
	if (tail != end)
		WRITE_ONCE(ready, true);
	return nr_words * sizeof(*words);
}

ssize_t event_buffer_read(char __user *buf, size_t count, bool may_wait)
{
	ssize_t got;

	if (count < 2 * sizeof(*words))
		return -EINVAL;
	if (mutex_lock_interruptible(&read_mutex))
		return -ERESTARTSYS;
	do {
		if (may_wait &&
		    wait_event_interruptible(readers, READ_ONCE(ready))) {
			got = -ERESTARTSYS;
			break;
		}
		got = take(buf, count);
	} while (!got && may_wait);
	mutex_unlock(&read_mutex);
	return got ? got : -EAGAIN;
}

__poll_t event_buffer_poll(struct file *file, poll_table *wait)
{
	poll_wait(file, &readers, wait);
	return READ_ONCE(ready) ? EPOLLIN | EPOLLRDNORM : 0;
}

u64 event_buffer_waiting(void)
{
	/* Pairs with event_buffer_commit(): what is counted can be read. */
	return (smp_load_acquire(&head) - READ_ONCE(tail)) * sizeof(*words);
}
