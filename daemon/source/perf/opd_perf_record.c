// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A cursor goes over the bytes of a record. A field that would reach beyond the
 * end reads as zero and marks the record as failed, so that no field needs a
 * check of its own and a damaged record never leads out of its bytes. The order
 * of the fields is that of the kernel.
 *
 * The time is at a fixed place from the start of a sample, and from the end of
 * any other record. So the merge can put a record in order before it is taken
 * apart.
 */

#include "daemon/source/perf/opd_perf_record.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>

#include "daemon/source/perf/opd_perf_regs.h"
#include "libop/base/op_clock.h"

#define HEADER sizeof(struct perf_event_header)

/* A cursor over what is behind the header and before the trailer. */
struct body {
	const unsigned char *at;
	size_t left;
	bool failed; /* more was wanted than there is */
};

static void pop_bytes(struct body *body, void *out, size_t len)
{
	memset(out, 0, len);
	if (len > body->left) {
		body->failed = true;
		return;
	}
	memcpy(out, body->at, len);
	body->at += len;
	body->left -= len;
}

static uint16_t pop16(struct body *body)
{
	uint16_t value;

	pop_bytes(body, &value, sizeof(value));
	return value;
}

static uint32_t pop32(struct body *body)
{
	uint32_t value;

	pop_bytes(body, &value, sizeof(value));
	return value;
}

static uint64_t pop64(struct body *body)
{
	uint64_t value;

	pop_bytes(body, &value, sizeof(value));
	return value;
}

/* All that is left, which must hold the zero byte at its end. */
static const char *pop_string(struct body *body)
{
	const char *text = (const char *)body->at;

	if (!memchr(text, '\0', body->left)) {
		body->failed = true;
		return "";
	}
	return text;
}

static void pop_ids(struct body *body, struct opd_perf_rec *rec)
{
	rec->pid = pop32(body);
	rec->tid = pop32(body);
}

/* ---- records ----------------------------------------------------------------
 */

/* Pass over @nr words of 64 bits. Where they are, NULL if there are less. */
static const void *pass_words(struct body *body, uint64_t nr)
{
	const void *at = body->at;

	if (nr > body->left / 8) {
		body->failed = true;
		return NULL;
	}
	body->at += nr * 8;
	body->left -= nr * 8;
	return at;
}

/* The room for it is always there, how much is in it comes last. */
static void pop_stack(struct opd_perf_rec *rec, struct body *body)
{
	uint64_t room = pop64(body);
	uint64_t len;

	if (room == 0)
		return;
	rec->sample.stack = pass_words(body, room / 8);
	len = pop64(body);
	rec->sample.stack_len = len < room ? len : room;
	if (room % 8)
		body->failed = true;
}

/* Skip the values that the counters of the event, or of its group, had. */
static void pass_counts(struct body *body, uint64_t read_format)
{
	const uint64_t of_all =
		PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	const uint64_t of_each = PERF_FORMAT_ID | PERF_FORMAT_LOST;
	uint64_t nr = 1;

	if (read_format & PERF_FORMAT_GROUP)
		nr = pop64(body);
	pass_words(body, (uint64_t)__builtin_popcountll(read_format & of_all));
	if (nr > body->left)
		body->failed = true;
	else
		pass_words(body,
			   nr * (uint64_t)(1 + __builtin_popcountll(
						       read_format & of_each)));
}

static void pass_raw(struct body *body)
{
	uint32_t len = pop32(body);

	if (len > body->left) {
		body->failed = true;
		return;
	}
	body->at += len;
	body->left -= len;
}

#define BRANCH_WORDS 3
#define BRANCH_COUNTERS (UINT64_C(1) << 19) /* newer than some headers */

static void pass_branches(struct body *body, uint64_t branch_type)
{
	uint64_t nr = pop64(body);

	if (branch_type & PERF_SAMPLE_BRANCH_HW_INDEX)
		pop64(body);
	if (nr > body->left)
		body->failed = true;
	else
		pass_words(body, nr * (BRANCH_WORDS +
				       !!(branch_type & BRANCH_COUNTERS)));
}

/* In the order of the kernel's perf_output_sample(); what is behind the weight
 * is not looked at. */
static void decode_sample(struct opd_perf_rec *rec, struct body *body,
			  const struct opd_perf_format *format)
{
	uint64_t type = format->sample_type, nr;

	rec->sample.cpu = OPD_PERF_NO_CPU;
	if (type & PERF_SAMPLE_IDENTIFIER)
		rec->sample.id = pop64(body);
	if (type & PERF_SAMPLE_IP)
		rec->sample.ip = pop64(body);
	if (type & PERF_SAMPLE_TID)
		pop_ids(body, rec);
	if (type & PERF_SAMPLE_TIME)
		pop64(body); /* is known */
	if (type & PERF_SAMPLE_ADDR)
		pop64(body);
	if (type & PERF_SAMPLE_ID)
		rec->sample.id = pop64(body);
	if (type & PERF_SAMPLE_STREAM_ID)
		pop64(body);
	if (type & PERF_SAMPLE_CPU)
		rec->sample.cpu = (uint32_t)pop64(body);
	if (type & PERF_SAMPLE_PERIOD)
		rec->sample.period = pop64(body);
	if (type & PERF_SAMPLE_READ)
		pass_counts(body, format->read_format);
	if (type & PERF_SAMPLE_CALLCHAIN) {
		nr = pop64(body);
		rec->sample.chain = pass_words(body, nr);
		rec->sample.chain_len = rec->sample.chain ? nr : 0;
	}
	if (type & PERF_SAMPLE_RAW)
		pass_raw(body);
	if (type & PERF_SAMPLE_BRANCH_STACK)
		pass_branches(body, format->branch_type);
	if (type & PERF_SAMPLE_REGS_USER) {
		rec->sample.abi = pop64(body);
		rec->sample.regs_mask = format->regs;
		nr = (uint64_t)__builtin_popcountll(format->regs);
		if (rec->sample.abi != PERF_SAMPLE_REGS_ABI_NONE)
			rec->sample.regs = pass_words(body, nr);
	}
	if (type & PERF_SAMPLE_STACK_USER)
		pop_stack(rec, body);
	if (type & PERF_SAMPLE_WEIGHT)
		rec->sample.weight = pop64(body);
	else if (type & PERF_SAMPLE_WEIGHT_STRUCT)
		rec->sample.weight = pop64(body) & UINT32_MAX;
}

static void pop_build_id(struct opd_perf_rec *rec, struct body *body)
{
	uint8_t head[4]; /* length, three bytes of nothing */

	pop_bytes(body, head, sizeof(head));
	pop_bytes(body, rec->mmap.build_id, sizeof(rec->mmap.build_id));
	rec->mmap.build_id_len = head[0];
	if (head[0] > sizeof(rec->mmap.build_id))
		body->failed = true;
}

/* The kind before mmap2, in which perf tells of the kernel. */
static void decode_mmap(struct opd_perf_rec *rec, struct body *body)
{
	pop_ids(body, rec);
	rec->mmap.start = pop64(body);
	rec->mmap.len = pop64(body);
	rec->mmap.offset = pop64(body);
	rec->mmap.is_code = !(rec->misc & PERF_RECORD_MISC_MMAP_DATA);
	rec->mmap.name = pop_string(body);
	if (rec->mmap.len > UINT64_MAX - rec->mmap.start)
		body->failed = true;
}

/*
 * Whether a mapping tells a build-id, and not an inode. An event that did not
 * ask for build-ids may have the bit for them from another one, of whoever
 * profiles beside it: the kernel leaves it set from event to event (seen up to
 * 6.18). perf inject puts build-ids into such records, of 20 or 16 bytes; no
 * disk has such a major number.
 */
static bool has_build_id(const struct opd_perf_rec *rec,
			 const struct body *body,
			 const struct opd_perf_format *format)
{
	struct body head = *body;
	uint32_t len;

	if (!(rec->misc & PERF_RECORD_MISC_MMAP_BUILD_ID))
		return false;
	len = pop32(&head);
	return format->build_ids || len == 20 || len == 16;
}

static void decode_mmap2(struct opd_perf_rec *rec, struct body *body,
			 const struct opd_perf_format *format)
{
	uint32_t maj, min;

	pop_ids(body, rec);
	rec->mmap.start = pop64(body);
	rec->mmap.len = pop64(body);
	rec->mmap.offset = pop64(body);
	if (has_build_id(rec, body, format)) {
		pop_build_id(rec, body);
	} else {
		maj = pop32(body);
		min = pop32(body);
		rec->mmap.dev = makedev(maj, min);
		rec->mmap.ino = pop64(body);
		rec->mmap.generation = pop64(body);
	}
	rec->mmap.is_code = pop32(body) & PROT_EXEC;
	pop32(body); /* flags */
	rec->mmap.name = pop_string(body);
	if (rec->mmap.len > UINT64_MAX - rec->mmap.start)
		body->failed = true;
}

static void decode_ksymbol(struct opd_perf_rec *rec, struct body *body)
{
	rec->ksymbol.addr = pop64(body);
	rec->ksymbol.len = pop32(body);
	pop16(body); /* type */
	rec->ksymbol.gone = pop16(body) & PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER;
	rec->ksymbol.name = pop_string(body);
	if (rec->ksymbol.len > UINT64_MAX - rec->ksymbol.addr)
		body->failed = true;
}

static void decode_body(struct opd_perf_rec *rec, struct body *body,
			const struct opd_perf_format *format)
{
	switch (rec->type) {
	case PERF_RECORD_SAMPLE:
		decode_sample(rec, body, format);
		break;
	case PERF_RECORD_MMAP:
		decode_mmap(rec, body);
		break;
	case PERF_RECORD_MMAP2:
		decode_mmap2(rec, body, format);
		break;
	case PERF_RECORD_COMM:
		pop_ids(body, rec);
		rec->comm.name = pop_string(body);
		break;
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		rec->pid = pop32(body);
		rec->task.parent = pop32(body);
		rec->tid = pop32(body);
		rec->task.parent_tid = pop32(body);
		break;
	case PERF_RECORD_LOST:
	case PERF_RECORD_LOST_SAMPLES:
		if (rec->type == PERF_RECORD_LOST)
			pop64(body); /* id */
		rec->lost.nr = pop64(body);
		break;
	case PERF_RECORD_KSYMBOL:
		decode_ksymbol(rec, body);
		break;
	}
}

/* ---- the frame --------------------------------------------------------------
 */

/* How many words those of @fields take that @sample_type has. */
static size_t words_of(uint64_t sample_type, uint64_t fields)
{
	return (size_t)__builtin_popcountll(sample_type & fields) * 8;
}

/* The fields of an identity, in the order of the kernel; in that of a sample
 * the last one is the first. */
#define ID_HEAD (PERF_SAMPLE_IP | PERF_SAMPLE_TID)
#define ID_TAIL                                                                \
	(PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID |                 \
	 PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER)

/* @at, if the record of @len bytes reaches to behind a word there. */
static size_t if_inside(size_t at, size_t len)
{
	return len >= at + 8 ? at : 0;
}

/* Where what comes behind the fields @before in the tail of a record is. */
static size_t in_tail(size_t len, uint64_t sample_type, uint64_t before)
{
	size_t tail = words_of(sample_type, ID_TAIL);

	return len < HEADER + tail ? 0
				   : len - tail + words_of(sample_type, before);
}

size_t opd_perf_time_at(uint32_t type, size_t len, uint64_t sample_type)
{
	if (!(sample_type & PERF_SAMPLE_TIME))
		return 0;
	if (type == PERF_RECORD_SAMPLE)
		return if_inside(
			HEADER + words_of(sample_type,
					  ID_HEAD | PERF_SAMPLE_IDENTIFIER),
			len);
	return in_tail(len, sample_type, PERF_SAMPLE_TID);
}

size_t opd_perf_id_at(uint32_t type, size_t len, uint64_t sample_type)
{
	bool is_sample = type == PERF_RECORD_SAMPLE;

	if (sample_type & PERF_SAMPLE_IDENTIFIER)
		return is_sample ? if_inside(HEADER, len)
				 : in_tail(len, sample_type,
					   ID_TAIL & ~PERF_SAMPLE_IDENTIFIER);
	if (!(sample_type & PERF_SAMPLE_ID))
		return 0;
	if (is_sample)
		return if_inside(HEADER + words_of(sample_type,
						   ID_HEAD | PERF_SAMPLE_TIME |
							   PERF_SAMPLE_ADDR),
				 len);
	return in_tail(len, sample_type, PERF_SAMPLE_TID | PERF_SAMPLE_TIME);
}

struct opd_perf_layout opd_perf_layout_of(const struct opd_perf_format *format)
{
	/* In this order: perf_event_open(2), PERF_RECORD_SAMPLE. */
	static const uint64_t numbers[] = {
		PERF_SAMPLE_IDENTIFIER, PERF_SAMPLE_IP,	  PERF_SAMPLE_TID,
		PERF_SAMPLE_TIME,	PERF_SAMPLE_ADDR, PERF_SAMPLE_ID,
		PERF_SAMPLE_STREAM_ID,	PERF_SAMPLE_CPU,  PERF_SAMPLE_PERIOD,
	};
	struct opd_perf_layout layout = { 0 };
	uint64_t type = format->sample_type;
	uint8_t at = HEADER;

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		if (!(format->sample_type & numbers[i]))
			continue;
		if (numbers[i] == PERF_SAMPLE_IDENTIFIER ||
		    (numbers[i] == PERF_SAMPLE_ID && !layout.id))
			layout.id = at;
		else if (numbers[i] == PERF_SAMPLE_IP)
			layout.ip = at;
		else if (numbers[i] == PERF_SAMPLE_TID)
			layout.tid = at;
		else if (numbers[i] == PERF_SAMPLE_TIME)
			layout.time = at;
		else if (numbers[i] == PERF_SAMPLE_CPU)
			layout.cpu = at;
		else if (numbers[i] == PERF_SAMPLE_PERIOD)
			layout.period = at;
		type &= ~numbers[i];
		at += sizeof(uint64_t);
	}
	if (!type && layout.ip && layout.tid && layout.time)
		layout.len = at;
	return layout;
}

/* Find the bytes of a record between the header and the identity at the end. */
static bool begin_body(struct body *body, const unsigned char *at, size_t len,
		       uint32_t type, const struct opd_perf_format *format)
{
	bool has_tail = type != PERF_RECORD_SAMPLE && !format->is_bare;
	size_t tail = has_tail ? words_of(format->sample_type, ID_TAIL) : 0;

	if (len < HEADER + tail)
		return false;
	body->at = at + HEADER;
	body->left = len - HEADER - tail;
	return true;
}

static bool is_switch(uint32_t type)
{
	return type == PERF_RECORD_SWITCH ||
	       type == PERF_RECORD_SWITCH_CPU_WIDE;
}

/* The thread that is switched, which only the identity at the end tells. */
static void decode_switched(struct opd_perf_rec *rec, const unsigned char *at,
			    size_t len, uint64_t sample_type)
{
	struct body tail = { .at = at + in_tail(len, sample_type, 0),
			     .left = 2 * sizeof(uint32_t) };

	if (sample_type & PERF_SAMPLE_TID)
		pop_ids(&tail, rec);
}

int opd_perf_decode_as(struct opd_perf_rec *rec, const void *bytes, size_t len,
		       const struct opd_perf_format *format)
{
	const unsigned char *at = bytes;
	struct perf_event_header header;
	struct body body = { .failed = false };
	bool has_time = format->sample_type & PERF_SAMPLE_TIME;
	size_t time_at;

	memset(rec, 0, sizeof(*rec));
	if (len < sizeof(header))
		return -EINVAL;
	memcpy(&header, bytes, sizeof(header));
	rec->type = header.type;
	rec->misc = header.misc;
	has_time &= header.type == PERF_RECORD_SAMPLE || !format->is_bare;
	time_at = opd_perf_time_at(header.type, len, format->sample_type);
	if ((has_time && !time_at) ||
	    !begin_body(&body, at, len, header.type, format))
		return -EINVAL;
	if (has_time)
		memcpy(&rec->time, at + time_at, sizeof(rec->time));
	decode_body(rec, &body, format);
	if (is_switch(header.type) && !format->is_bare)
		decode_switched(rec, at, len, format->sample_type);
	return body.failed ? -EINVAL : 0;
}

int opd_perf_decode(struct opd_perf_rec *rec, const void *bytes, size_t len,
		    uint64_t sample_type)
{
	const struct opd_perf_format format = {
		.sample_type = sample_type,
		.regs = OPD_PERF_REGS,
		.build_ids = true,
	};

	return opd_perf_decode_as(rec, bytes, len, &format);
}

uint64_t opd_perf_now(void)
{
	return op_clock_ns(OPD_PERF_CLOCK);
}
