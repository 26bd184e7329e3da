/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TESTS_UNIT_PERF_RECORDS_H
#define TESTS_UNIT_PERF_RECORDS_H

/*
 * Records of perf_events, byte by byte as perf_event_open(2) lays them out,
 * and rings in ordinary memory that a test writes as the kernel would.
 */

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "daemon/source/perf/opd_perf_record.h"
#include "daemon/source/perf/opd_perf_ring.h"

/* ---- records ----------------------------------------------------------------
 */

/* One record being written. */
struct record {
	unsigned char at[OPD_PERF_RECORD_MAX];
	size_t len;
};

/* What every record has: when it was, whose it is, which ring it is for. */
struct record_who {
	uint32_t pid;
	uint32_t tid;
	uint64_t time;
	uint64_t sample_type;
	uint64_t id; /* of the event, if sample_type has it */
};

struct record_mmap {
	uint64_t start;
	uint64_t len;
	uint64_t offset;
	uint32_t major, minor; /* these where there is no build-id */
	uint64_t ino;
	uint64_t generation;
	const void *build_id; /* of 20 bytes, or NULL */
	uint8_t build_id_len; /* what the record says of its length */
	uint32_t prot;
	const char *name;
};

__attribute__((unused)) static void record_put(struct record *r,
					       const void *bytes, size_t len)
{
	if (len > sizeof(r->at) - r->len)
		abort();
	memcpy(r->at + r->len, bytes, len);
	r->len += len;
}

__attribute__((unused)) static void record_u16(struct record *r, uint16_t value)
{
	record_put(r, &value, sizeof(value));
}

__attribute__((unused)) static void record_u32(struct record *r, uint32_t value)
{
	record_put(r, &value, sizeof(value));
}

__attribute__((unused)) static void record_u64(struct record *r, uint64_t value)
{
	record_put(r, &value, sizeof(value));
}

/* With zero bytes behind it up to a whole word, one at least. */
__attribute__((unused)) static void record_text(struct record *r,
						const char *text)
{
	static const char zeros[8];
	size_t len = strlen(text);

	record_put(r, text, len);
	record_put(r, zeros, 8 - len % 8);
}

__attribute__((unused)) static void record_begin(struct record *r,
						 uint32_t type, uint16_t misc)
{
	r->len = 0;
	record_u32(r, type);
	record_u16(r, misc);
	record_u16(r, 0);
}

/* Now its length is known. */
__attribute__((unused)) static void record_close(struct record *r)
{
	uint16_t len = (uint16_t)r->len;

	memcpy(r->at + 6, &len, sizeof(len));
}

/* What ends all records but samples. */
__attribute__((unused)) static void record_end(struct record *r,
					       const struct record_who *who)
{
	record_u32(r, who->pid);
	record_u32(r, who->tid);
	record_u64(r, who->time);
	if (who->sample_type & PERF_SAMPLE_IDENTIFIER)
		record_u64(r, who->id);
	record_close(r);
}

__attribute__((unused)) static void record_sample(struct record *r,
						  const struct record_who *who,
						  uint16_t misc, uint64_t ip)
{
	record_begin(r, PERF_RECORD_SAMPLE, misc);
	if (who->sample_type & PERF_SAMPLE_IDENTIFIER)
		record_u64(r, who->id);
	record_u64(r, ip);
	record_u32(r, who->pid);
	record_u32(r, who->tid);
	record_u64(r, who->time);
	record_close(r);
}

__attribute__((unused)) static void record_mmap2(struct record *r,
						 const struct record_who *who,
						 const struct record_mmap *map)
{
	record_begin(r, PERF_RECORD_MMAP2,
		     PERF_RECORD_MISC_USER |
			     (map->build_id ? PERF_RECORD_MISC_MMAP_BUILD_ID
					    : 0));
	record_u32(r, who->pid);
	record_u32(r, who->tid);
	record_u64(r, map->start);
	record_u64(r, map->len);
	record_u64(r, map->offset);
	if (map->build_id) {
		record_u32(r, map->build_id_len);
		record_put(r, map->build_id, 20);
	} else {
		record_u32(r, map->major);
		record_u32(r, map->minor);
		record_u64(r, map->ino);
		record_u64(r, map->generation);
	}
	record_u32(r, map->prot);
	record_u32(r, MAP_PRIVATE);
	record_text(r, map->name);
	record_end(r, who);
}

__attribute__((unused)) static void record_comm(struct record *r,
						const struct record_who *who,
						bool exec, const char *name)
{
	record_begin(r, PERF_RECORD_COMM,
		     exec ? PERF_RECORD_MISC_COMM_EXEC : 0);
	record_u32(r, who->pid);
	record_u32(r, who->tid);
	record_text(r, name);
	record_end(r, who);
}

/* PERF_RECORD_FORK or PERF_RECORD_EXIT. */
__attribute__((unused)) static void record_task(struct record *r, uint32_t type,
						const struct record_who *who,
						uint32_t parent)
{
	record_begin(r, type, 0);
	record_u32(r, who->pid);
	record_u32(r, parent);
	record_u32(r, who->tid);
	record_u32(r, parent);
	record_u64(r, who->time);
	record_end(r, who);
}

/* PERF_RECORD_LOST or PERF_RECORD_LOST_SAMPLES. */
__attribute__((unused)) static void record_lost(struct record *r, uint32_t type,
						const struct record_who *who,
						uint64_t nr)
{
	record_begin(r, type, 0);
	if (type == PERF_RECORD_LOST)
		record_u64(r, who->id);
	record_u64(r, nr);
	record_end(r, who);
}

/* PERF_RECORD_THROTTLE or PERF_RECORD_UNTHROTTLE. */
__attribute__((unused)) static void
record_throttle(struct record *r, uint32_t type, const struct record_who *who)
{
	record_begin(r, type, 0);
	record_u64(r, who->time);
	record_u64(r, who->id);
	record_u64(r, who->id);
	record_end(r, who);
}

__attribute__((unused)) static void record_ksymbol(struct record *r,
						   const struct record_who *who,
						   uint64_t addr, uint32_t len,
						   bool gone, const char *name)
{
	record_begin(r, PERF_RECORD_KSYMBOL, 0);
	record_u64(r, addr);
	record_u32(r, len);
	record_u16(r, PERF_RECORD_KSYMBOL_TYPE_BPF);
	record_u16(r, gone ? PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER : 0);
	record_text(r, name);
	record_end(r, who);
}

/* ---- rings ------------------------------------------------------------------
 */

/* A ring of @size bytes, a power of 2, whose reader and writer are at @at. */
__attribute__((unused)) static void ring_make(struct opd_perf_ring *ring,
					      size_t size, uint64_t sample_type,
					      uint64_t at)
{
	memset(ring, 0, sizeof(*ring));
	ring->meta = calloc(1, sizeof(*ring->meta));
	/* Of exactly this size, so that a byte too far is seen. */
	ring->data = calloc(1, size);
	if (!ring->meta || !ring->data)
		abort();
	ring->size = size;
	ring->sample_type = sample_type;
	ring->meta->data_head = ring->meta->data_tail = at;
	ring->head = ring->tail = at;
}

__attribute__((unused)) static void ring_free(struct opd_perf_ring *ring)
{
	free(ring->meta);
	free((void *)ring->data);
	ring->meta = NULL;
}

__attribute__((unused)) static uint64_t
ring_room(const struct opd_perf_ring *ring)
{
	return ring->size - (ring->meta->data_head - ring->meta->data_tail);
}

/* Whatever the bytes are; there must be room. */
__attribute__((unused)) static void ring_write(struct opd_perf_ring *ring,
					       const void *bytes, size_t len)
{
	unsigned char *data = (unsigned char *)ring->data;
	uint64_t head = ring->meta->data_head;

	if (len > ring_room(ring))
		abort();
	for (size_t i = 0; i < len; i++)
		data[(head + i) & (ring->size - 1)] =
			((const unsigned char *)bytes)[i];
	ring->meta->data_head = head + len;
}

__attribute__((unused)) static void
ring_write_record(struct opd_perf_ring *ring, const struct record *r)
{
	ring_write(ring, r->at, r->len);
}

#endif /* TESTS_UNIT_PERF_RECORDS_H */
