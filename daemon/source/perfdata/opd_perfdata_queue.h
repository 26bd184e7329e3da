/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DAEMON_SOURCE_PERFDATA_OPD_PERFDATA_QUEUE_H
#define DAEMON_SOURCE_PERFDATA_OPD_PERFDATA_QUEUE_H

/*
 * Brings the records of a file of perf in order. perf empties the rings of all
 * CPUs one after the other, and then writes that a round has ended: what comes
 * behind that is not older than the latest record of the round before. So no
 * more than two rounds are in memory, unless the file does not tell of rounds.
 *
 * The side band, which is all but samples, comes in the order of time; so does
 * each sample, but among the side band alone: samples with none of it between
 * them come as they were put, one CPU's after another's, since to count those
 * of one process and image together costs less. What has the same time comes as
 * it was put.
 *
 * Plain samples that differ in nothing but their time come as one, at the time
 * of the first, if no side band about their process or all processes is between
 * them, and their times are of one tick of a time line (OPD_PERF_TICK).
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The pid of side band that is not about one process. */
#define OPD_PERFDATA_ALL UINT32_MAX

enum opd_perfdata_kind {
	OPD_PERFDATA_SIDE,
	OPD_PERFDATA_SAMPLE,
	OPD_PERFDATA_PLAIN, /* a sample that is the numbers below and no more */
};

struct opd_perfdata_record {
	uint64_t time;
	union {
		const void *bytes; /* in a block */
		uint64_t ip; /* of a plain sample */
	};
	union {
		uint32_t len; /* bytes */
		uint32_t cpu; /* of a plain sample */
	};
	uint32_t tag; /* whatever the caller wants to have with it */
	uint32_t pid; /* of side band and of plain samples */
	uint32_t tid; /* of plain samples, as what follows */
	uint16_t misc;
	uint16_t kind; /* enum opd_perfdata_kind */
	/* How often it counts, of all that are equal together; once when it is
	 * put, unless it counts for its period. */
	uint64_t times;
};

struct opd_perfdata_entry;
struct opd_perfdata_first;

struct opd_perfdata_entries {
	struct opd_perfdata_entry *all;
	size_t nr;
	size_t taken; /* of those that are ready */
};

struct opd_perfdata_queue {
	struct opd_perfdata_entries samples, sides; /* that wait, as put */
	struct opd_perfdata_entries ready, ready_sides; /* in order */
	size_t *ends; /* in the ready samples, of each gap of side band */
	uint32_t nr_put; /* goes round */
	struct opd_perfdata_entry *spare;
	uint32_t *sides_of; /* ready side band, by the process */
	struct opd_perfdata_first *firsts; /* plain samples that were first */
	uint64_t earliest; /* time of all samples that were put; 0: none */
	uint64_t latest; /* time of all that were put */
	uint64_t before; /* latest, at the end of the round before */
};

void opd_perfdata_queue_release(struct opd_perfdata_queue *queue);

/* Put a record, whose block (opd_perfdata_block.h) is held as long as it is
 * there. Returns 0 or -ENOMEM. */
int opd_perfdata_queue_put(struct opd_perfdata_queue *queue,
			   const struct opd_perfdata_record *record);

/* A round has ended. All that are ready must have been taken. Returns 0 or
 * -ENOMEM. */
int opd_perfdata_queue_end_round(struct opd_perfdata_queue *queue);

/* Nothing more comes of this file: all are ready. What is put afterwards is of
 * another one. Returns as above. */
int opd_perfdata_queue_end(struct opd_perfdata_queue *queue);

/* Whether there is a record that is ready. */
bool opd_perfdata_queue_is_ready(const struct opd_perfdata_queue *queue);

/*
 * The next record that is ready; its bytes hold until the end of a round. False
 * when there is none. Take it away with opd_perfdata_queue_next().
 */
bool opd_perfdata_queue_first(const struct opd_perfdata_queue *queue,
			      struct opd_perfdata_record *record);
void opd_perfdata_queue_next(struct opd_perfdata_queue *queue);

#endif /* DAEMON_SOURCE_PERFDATA_OPD_PERFDATA_QUEUE_H */
