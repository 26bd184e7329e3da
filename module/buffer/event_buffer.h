/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MODULE_EVENT_BUFFER_H
#define MODULE_EVENT_BUFFER_H

/*
 * The buffer that user space reads: a ring of stream words. One producer
 * (whoever holds the mutex of buffer_sync.c), one reader at a time.
 */

#include <linux/poll.h>
#include <linux/types.h>

/* The memory of a buffer of @nr_words. */
u64 event_buffer_bytes(unsigned long nr_words);

/*
 * Room for @nr_words. The reader is woken when all but @watershed words are
 * in use. Returns 0, -EINVAL when @watershed is not below @nr_words, -ENOMEM.
 */
int event_buffer_setup(unsigned long nr_words, unsigned long watershed);
void event_buffer_shutdown(void);

/*
 * Append words, which the reader sees when event_buffer_commit() says that the
 * records are whole; what was put since the last of these is forgotten by
 * event_buffer_drop(), as it has to be when put returned false for want of
 * room.
 */
bool event_buffer_put(const u64 *words, unsigned int nr_words);
void event_buffer_commit(void);
void event_buffer_drop(void);

/* Let the reader have what there is, however little. */
void event_buffer_wake(void);

/* The same, if there is something and the last time was @age jiffies ago. */
void event_buffer_wake_if_old(unsigned long age);

/*
 * Copy whole records of at most @count bytes to @buf and take them out; wait
 * for some if @may_wait. Returns bytes, -EINVAL when not even the first record
 * fits, -EAGAIN when there are none, -ERESTARTSYS, -EFAULT.
 */
ssize_t event_buffer_read(char __user *buf, size_t count, bool may_wait);

/* The bytes that a read would find now, if it takes all. */
u64 event_buffer_waiting(void);

__poll_t event_buffer_poll(struct file *file, poll_table *wait);

#endif /* MODULE_EVENT_BUFFER_H */
