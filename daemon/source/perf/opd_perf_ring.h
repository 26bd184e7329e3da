/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DAEMON_SOURCE_PERF_OPD_PERF_RING_H
#define DAEMON_SOURCE_PERF_OPD_PERF_RING_H

/*
 * A ring of perf_events as the reader sees it: the kernel writes at the head,
 * we read at the tail and say how far we are, so that nothing is overwritten.
 *
 * Records start at multiples of 8 bytes and so do the rings' ends: words are
 * never cut by the end of the ring, records may be.
 */

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The longest record: its header has 16 bits for the length. */
#define OPD_PERF_RECORD_MAX 65536

struct opd_perf_ring {
	struct perf_event_mmap_page *meta; /* NULL: none, and no records */
	const unsigned char *data;
	uint64_t size; /* bytes of data, a power of 2 */
	uint64_t sample_type; /* how its records end (opd_perf_record.h) */
	uint64_t head; /* the kernel had written so far when we looked */
	uint64_t tail; /* we are here */
	uint64_t ahead; /* so far records were looked at before their turn */
	/* the record at the tail */
	uint32_t len; /* bytes; 0: there is none */
	uint32_t type;
	uint64_t time;
	uint64_t nr_bad; /* records that made no sense */
};

/*
 * Map the ring of event @fd, of @size bytes of data (a power of 2, made one
 * page if it is less). Returns 0 or -errno; -EPERM when the user may not lock
 * so much memory.
 */
int opd_perf_ring_map(struct opd_perf_ring *ring, int fd, size_t size,
		      uint64_t sample_type);
void opd_perf_ring_unmap(struct opd_perf_ring *ring);

/* See what there is by now. */
void opd_perf_ring_poll(struct opd_perf_ring *ring);

/*
 * The record at the tail: its bytes, @ring->len of them, in the ring or, where
 * the end of the ring cuts it, in @bounce of OPD_PERF_RECORD_MAX bytes. There
 * must be one.
 */
const void *opd_perf_ring_record(const struct opd_perf_ring *ring,
				 void *bounce);

/*
 * The next record that was not yet looked at before its turn, as above, and its
 * length; it stays in the ring. NULL when there is none. What makes no sense
 * ends this, and is dropped when its turn comes.
 */
const void *opd_perf_ring_ahead(struct opd_perf_ring *ring, void *bounce,
				uint32_t *len);

/* Go on to the next record. */
void opd_perf_ring_next(struct opd_perf_ring *ring);

/* Give the kernel the room of all records before the tail. */
void opd_perf_ring_done(struct opd_perf_ring *ring);

#endif /* DAEMON_SOURCE_PERF_OPD_PERF_RING_H */
