/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DAEMON_SOURCE_PERF_OPD_PERF_RECORD_H
#define DAEMON_SOURCE_PERF_OPD_PERF_RECORD_H

/*
 * Takes a record of perf_events apart (perf_event_open(2), "MMAP layout"). The
 * fields of a record and their places depend on how its event was opened: that
 * is its struct opd_perf_format.
 *
 * Two kinds of rings are read. Rings of samples are made with OPD_PERF_SAMPLE,
 * and OPD_PERF_SAMPLE_ID where more than one event shares them; rings of side
 * band, which tell what processes do, with OPD_PERF_SIDE. Both have
 * sample_id_all, so every record has a time at a place that is known before
 * anything else of it is.
 */

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

/*
 * Samples: { header; id? ; ip; pid, tid; time }, and with stacks behind it
 * { kernel callchain }, { user registers }, { piece of user stack }; last,
 * where asked for, the weight.
 */
#define OPD_PERF_SAMPLE (PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME)
#define OPD_PERF_SAMPLE_ID (OPD_PERF_SAMPLE | PERF_SAMPLE_IDENTIFIER)
#define OPD_PERF_CHAIN PERF_SAMPLE_CALLCHAIN
#define OPD_PERF_USER (PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER)
/* Others end with { pid, tid; time; id? }. */
#define OPD_PERF_SIDE (PERF_SAMPLE_TID | PERF_SAMPLE_TIME)

#define OPD_PERF_BUILD_ID_MAX 20 /* bytes, as in the kernel */

#define OPD_PERF_NO_CPU UINT32_MAX

/* Fields of an event's struct perf_event_attr that its records depend on. */
struct opd_perf_format {
	uint64_t sample_type;
	uint64_t read_format;
	uint64_t branch_type;
	uint64_t regs; /* sample_regs_user */
	bool is_bare; /* without sample_id_all: only samples have a time */
	bool build_ids; /* mappings were asked to tell them */
};

struct opd_perf_rec {
	uint32_t type; /* PERF_RECORD_* */
	uint16_t misc; /* PERF_RECORD_MISC_* */
	uint64_t time; /* ns of the clock that the event was opened with */
	/* of the process the record is about; of PERF_RECORD_SWITCH*, of the
	 * thread that loses its CPU or gets one */
	uint32_t pid;
	uint32_t tid;
	union {
		struct {
			uint64_t ip;
			uint64_t id; /* of the event, 0 when not given */
			const void *chain; /* in the record, 64-bit words */
			size_t chain_len; /* of them, 0: none */
			uint32_t cpu; /* OPD_PERF_NO_CPU when not given */
			uint64_t abi; /* PERF_SAMPLE_REGS_ABI_* */
			const void *regs; /* those of the format, if an abi */
			uint64_t regs_mask; /* which these are */
			const void *stack; /* bytes from the stack pointer up */
			size_t stack_len;
			uint64_t period; /* events since the last, 0: not given
					  */
			uint64_t weight; /* what it cost, 0: not given */
		} sample;
		struct {
			uint64_t start;
			uint64_t len;
			uint64_t offset; /* in the file, bytes */
			uint64_t dev; /* as makedev(3); 0 with a build-id */
			uint64_t ino;
			uint64_t generation;
			bool is_code;
			unsigned int build_id_len; /* 0: not given */
			uint8_t build_id[OPD_PERF_BUILD_ID_MAX];
			const char *name; /* in the record */
		} mmap;
		struct {
			const char *name; /* in the record */
		} comm;
		struct {
			uint32_t parent; /* process */
			uint32_t parent_tid;
		} task; /* PERF_RECORD_FORK, PERF_RECORD_EXIT */
		struct {
			uint64_t nr; /* LOST: records; LOST_SAMPLES: samples */
		} lost;
		struct {
			uint64_t addr;
			uint32_t len;
			bool gone;
			const char *name; /* in the record */
		} ksymbol;
	};
};

/* Where the numbers of a sample are that has nothing else: bytes from its
 * start, 0 for one that is not there. */
struct opd_perf_layout {
	uint8_t len; /* of the whole record; 0: it may have more than numbers */
	uint8_t id, ip, tid, time, cpu, period; /* tid: and that of its
						   process */
};

/* The layout of samples of @format; .len is 0, too, without ip, tid and
 * time. */
struct opd_perf_layout opd_perf_layout_of(const struct opd_perf_format *format);

/*
 * Take apart the record at @bytes, of @len bytes as its header says, from an
 * event of @format. Types that are not listed above only get type, misc and
 * time, which is 0 where the format has none. Returns 0, or -EINVAL for one
 * that contradicts itself. @rec points into the record.
 */
int opd_perf_decode_as(struct opd_perf_rec *rec, const void *bytes, size_t len,
		       const struct opd_perf_format *format);

/* The same of a record from one of our own rings, of @sample_type. */
int opd_perf_decode(struct opd_perf_rec *rec, const void *bytes, size_t len,
		    uint64_t sample_type);

/* Whether @rec, of PERF_RECORD_KSYMBOL, tells of code that is there from now on
 * (others tell that it goes, or have no name). */
static inline bool opd_perf_makes_code(const struct opd_perf_rec *rec)
{
	return !rec->ksymbol.gone && rec->ksymbol.len && rec->ksymbol.name[0];
}

/*
 * Where in a record of @type and @len bytes its time is; 0 when it has none or
 * is too short to have one.
 */
size_t opd_perf_time_at(uint32_t type, size_t len, uint64_t sample_type);

/* Where in such a record the number of its event is, in the same way. */
size_t opd_perf_id_at(uint32_t type, size_t len, uint64_t sample_type);

/* The clock that perf_event_open(2) is told to write into records, and its
 * present time in ns. */
#define OPD_PERF_CLOCK CLOCK_MONOTONIC_RAW
uint64_t opd_perf_now(void);

#endif /* DAEMON_SOURCE_PERF_OPD_PERF_RECORD_H */
