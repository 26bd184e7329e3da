// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Head and tail count bytes without end; the size, a power of 2, cuts them down
 * to a place in the ring. The head is read with acquire, so that the records
 * before it are there. The tail is written with release, so that the kernel
 * overwrites nothing that is still being read.
 *
 * The header of the record at the tail is looked at in advance, because the
 * merge compares times. When a length makes no sense, nobody can tell where the
 * next record starts: all records up to the head are dropped and counted as one
 * bad record. A record without a time is skipped.
 */

#include "daemon/source/perf/opd_perf_ring.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "daemon/source/perf/opd_perf_record.h"

static size_t page_size(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

int opd_perf_ring_map(struct opd_perf_ring *ring, int fd, size_t size,
		      uint64_t sample_type)
{
	size_t page = page_size();
	void *at;

	if (size < page)
		size = page;
	at = mmap(NULL, size + page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (at == MAP_FAILED)
		return -errno;
	memset(ring, 0, sizeof(*ring));
	ring->meta = at;
	ring->data = (const unsigned char *)at + page;
	ring->size = size;
	ring->sample_type = sample_type;
	return 0;
}

void opd_perf_ring_unmap(struct opd_perf_ring *ring)
{
	if (ring->meta)
		munmap(ring->meta, ring->size + page_size());
	ring->meta = NULL;
	ring->len = 0;
}

/* The word at @at, which counts on without end. */
static uint64_t word(const struct opd_perf_ring *ring, uint64_t at)
{
	uint64_t value;

	memcpy(&value, ring->data + (at & (ring->size - 1)), sizeof(value));
	return value;
}

/* Drop what is there: the reader cannot know where a record starts. */
static void give_up(struct opd_perf_ring *ring)
{
	ring->nr_bad++;
	ring->tail = ring->head;
	ring->len = 0;
}

/* Look at the record at the tail; those without a time are skipped. */
static void peek(struct opd_perf_ring *ring)
{
	struct perf_event_header header;
	uint64_t first;
	size_t time_at;

	for (ring->len = 0; ring->tail != ring->head;
	     ring->tail += header.size) {
		first = word(ring, ring->tail);
		memcpy(&header, &first, sizeof(header));
		if (header.size < sizeof(header) || header.size % 8 ||
		    header.size > ring->head - ring->tail) {
			give_up(ring);
			return;
		}
		time_at = opd_perf_time_at(header.type, header.size,
					   ring->sample_type);
		if (!time_at) {
			ring->nr_bad++;
			continue;
		}
		ring->len = header.size;
		ring->type = header.type;
		ring->time = word(ring, ring->tail + time_at);
		return;
	}
}

void opd_perf_ring_poll(struct opd_perf_ring *ring)
{
	uint64_t head;

	if (!ring->meta)
		return;
	head = __atomic_load_n(&ring->meta->data_head, __ATOMIC_ACQUIRE);
	if (head == ring->head)
		return;
	ring->head = head;
	if ((head | ring->tail) % 8 || head - ring->tail > ring->size ||
	    head - ring->tail < ring->len)
		give_up(ring);
	else if (!ring->len)
		peek(ring);
}

/* The @len bytes at @at, which counts on without end. */
static const void *bytes_at(const struct opd_perf_ring *ring, uint64_t at,
			    uint32_t len, void *bounce)
{
	uint64_t until_end;

	at &= ring->size - 1;
	until_end = ring->size - at;
	if (len <= until_end)
		return ring->data + at;
	memcpy(bounce, ring->data + at, until_end);
	memcpy((char *)bounce + until_end, ring->data, len - until_end);
	return bounce;
}

const void *opd_perf_ring_record(const struct opd_perf_ring *ring, void *bounce)
{
	return bytes_at(ring, ring->tail, ring->len, bounce);
}

const void *opd_perf_ring_ahead(struct opd_perf_ring *ring, void *bounce,
				uint32_t *len)
{
	bool is_ahead = ring->ahead - ring->tail <= ring->head - ring->tail;
	uint64_t at = is_ahead ? ring->ahead : ring->tail;
	struct perf_event_header header;
	uint64_t first;

	ring->ahead = ring->head;
	if (!ring->meta || at == ring->head)
		return NULL;
	first = word(ring, at);
	memcpy(&header, &first, sizeof(header));
	if (header.size < sizeof(header) || header.size % 8 ||
	    header.size > ring->head - at)
		return NULL;
	ring->ahead = at + header.size;
	*len = header.size;
	return bytes_at(ring, at, header.size, bounce);
}

void opd_perf_ring_next(struct opd_perf_ring *ring)
{
	ring->tail += ring->len;
	peek(ring);
}

void opd_perf_ring_done(struct opd_perf_ring *ring)
{
	/* We have read before the kernel may write. */
	if (ring->meta)
		__atomic_store_n(&ring->meta->data_tail, ring->tail,
				 __ATOMIC_RELEASE);
}
