/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DAEMON_SOURCE_OPD_PERFDATA_QUEUE_H
#define DAEMON_SOURCE_OPD_PERFDATA_QUEUE_H

/*
 * Brings the records of a file of perf in the order of time. perf empties the
 * rings of all CPUs one after the other, and then writes that a round has
 * ended: what comes behind that is not older than the latest record of the
 * round before. So no more than two rounds are in memory, unless the file does
 * not tell of rounds.
 */

#include <stddef.h>
#include <stdint.h>

struct opd_perfdata_entry;

struct opd_perfdata_queue {
	struct opd_perfdata_entry *entries; /* the first nr_ready sorted */
	size_t nr;
	size_t nr_ready; /* may be taken */
	size_t taken; /* were taken */
	unsigned char *bytes; /* of all entries */
	size_t len;
	struct opd_perfdata_entry *spare;
	unsigned char *spare_bytes;
	uint64_t latest; /* time of all that were put */
	uint64_t before; /* latest, at the end of the round before */
};

void opd_perfdata_queue_release(struct opd_perfdata_queue *queue);

/* Copy a record of @len bytes. Returns 0 or -ENOMEM. */
int opd_perfdata_queue_put(struct opd_perfdata_queue *queue, uint64_t time,
			   const void *bytes, size_t len);

/* A round has ended. All that are ready must have been taken. Returns 0 or
 * -ENOMEM. */
int opd_perfdata_queue_end_round(struct opd_perfdata_queue *queue);

/* Nothing more comes of this file: all are ready. What is put afterwards is of
 * another one. Returns as above. */
int opd_perfdata_queue_end(struct opd_perfdata_queue *queue);

/*
 * The next record that is ready, its length and time; it holds until the end of
 * a round or the next record that is put. NULL when there is none. Take it away
 * with opd_perfdata_queue_next().
 */
const void *opd_perfdata_queue_first(const struct opd_perfdata_queue *queue,
				     size_t *len, uint64_t *time);
void opd_perfdata_queue_next(struct opd_perfdata_queue *queue);

#endif /* DAEMON_SOURCE_OPD_PERFDATA_QUEUE_H */
