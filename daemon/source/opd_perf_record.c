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

#include "daemon/source/opd_perf_record.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>

#include "daemon/source/opd_perf_regs.h"

#define HEADER sizeof(struct perf_event_header)

/* A cursor over what is behind the header and before the trailer. */
struct body {
	const unsigned char *at;
	size_t left;
	bool failed; /* more was wanted than there is */
};

static void take(struct body *body, void *out, size_t len)
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

static uint16_t take16(struct body *body)
{
	uint16_t value;

	take(body, &value, sizeof(value));
	return value;
}

static uint32_t take32(struct body *body)
{
	uint32_t value;

	take(body, &value, sizeof(value));
	return value;
}

static uint64_t take64(struct body *body)
{
	uint64_t value;

	take(body, &value, sizeof(value));
	return value;
}

/* All that is left, which must hold the zero byte at its end. */
static const char *take_string(struct body *body)
{
	const char *text = (const char *)body->at;

	if (!memchr(text, '\0', body->left)) {
		body->failed = true;
		return "";
	}
	return text;
}

static void take_ids(struct body *body, struct opd_perf_rec *rec)
{
	rec->pid = take32(body);
	rec->tid = take32(body);
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

static void take_chain(struct opd_perf_rec *rec, struct body *body)
{
	uint64_t nr = take64(body);

	rec->sample.chain = pass_words(body, nr);
	rec->sample.chain_len = rec->sample.chain ? nr : 0;
}

static void take_regs(struct opd_perf_rec *rec, struct body *body)
{
	rec->sample.abi = take64(body);
	if (rec->sample.abi != PERF_SAMPLE_REGS_ABI_NONE)
		rec->sample.regs = pass_words(body, OPD_PERF_NR_REGS);
}

/* The room for it is always there, how much is in it comes last. */
static void take_stack(struct opd_perf_rec *rec, struct body *body)
{
	uint64_t room = take64(body);
	uint64_t len;

	if (room == 0)
		return;
	rec->sample.stack = pass_words(body, room / 8);
	len = take64(body);
	rec->sample.stack_len = len < room ? len : room;
	if (room % 8)
		body->failed = true;
}

/* In the order of the kernel's perf_output_sample(). */
static void decode_sample(struct opd_perf_rec *rec, struct body *body,
			  uint64_t sample_type)
{
	if (sample_type & PERF_SAMPLE_IDENTIFIER)
		rec->sample.id = take64(body);
	rec->sample.ip = take64(body);
	take_ids(body, rec);
	take64(body); /* the time is known */
	if (sample_type & PERF_SAMPLE_CALLCHAIN)
		take_chain(rec, body);
	if (sample_type & PERF_SAMPLE_REGS_USER)
		take_regs(rec, body);
	if (sample_type & PERF_SAMPLE_STACK_USER)
		take_stack(rec, body);
	if (sample_type & PERF_SAMPLE_WEIGHT)
		rec->sample.weight = take64(body);
}

static void take_build_id(struct opd_perf_rec *rec, struct body *body)
{
	uint8_t head[4]; /* length, three bytes of nothing */

	take(body, head, sizeof(head));
	take(body, rec->mmap.build_id, sizeof(rec->mmap.build_id));
	rec->mmap.build_id_len = head[0];
	if (head[0] > sizeof(rec->mmap.build_id))
		body->failed = true;
}

static void take_inode(struct opd_perf_rec *rec, struct body *body)
{
	uint32_t maj = take32(body);
	uint32_t min = take32(body);

	rec->mmap.dev = makedev(maj, min);
	rec->mmap.ino = take64(body);
	rec->mmap.generation = take64(body);
}

static void decode_mmap2(struct opd_perf_rec *rec, struct body *body)
{
	take_ids(body, rec);
	rec->mmap.start = take64(body);
	rec->mmap.len = take64(body);
	rec->mmap.offset = take64(body);
	if (rec->misc & PERF_RECORD_MISC_MMAP_BUILD_ID)
		take_build_id(rec, body);
	else
		take_inode(rec, body);
	rec->mmap.is_code = take32(body) & PROT_EXEC;
	take32(body); /* flags */
	rec->mmap.name = take_string(body);
	if (rec->mmap.len > UINT64_MAX - rec->mmap.start)
		body->failed = true;
}

static void decode_task(struct opd_perf_rec *rec, struct body *body)
{
	rec->pid = take32(body);
	rec->task.parent = take32(body);
	rec->tid = take32(body);
	rec->task.parent_tid = take32(body);
}

static void decode_lost(struct opd_perf_rec *rec, struct body *body)
{
	if (rec->type == PERF_RECORD_LOST)
		take64(body); /* id */
	rec->lost.nr = take64(body);
}

static void decode_ksymbol(struct opd_perf_rec *rec, struct body *body)
{
	rec->ksymbol.addr = take64(body);
	rec->ksymbol.len = take32(body);
	take16(body); /* type */
	rec->ksymbol.gone = take16(body) & PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER;
	rec->ksymbol.name = take_string(body);
	if (rec->ksymbol.len > UINT64_MAX - rec->ksymbol.addr)
		body->failed = true;
}

static void decode_body(struct opd_perf_rec *rec, struct body *body,
			uint64_t sample_type)
{
	switch (rec->type) {
	case PERF_RECORD_SAMPLE:
		decode_sample(rec, body, sample_type);
		break;
	case PERF_RECORD_MMAP2:
		decode_mmap2(rec, body);
		break;
	case PERF_RECORD_COMM:
		take_ids(body, rec);
		rec->comm.name = take_string(body);
		break;
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		decode_task(rec, body);
		break;
	case PERF_RECORD_LOST:
	case PERF_RECORD_LOST_SAMPLES:
		decode_lost(rec, body);
		break;
	case PERF_RECORD_KSYMBOL:
		decode_ksymbol(rec, body);
		break;
	}
}

/* ---- the frame --------------------------------------------------------------
 */

static size_t trailer_len(uint64_t sample_type)
{
	return sample_type & PERF_SAMPLE_IDENTIFIER ? 24 : 16;
}

size_t opd_perf_time_at(uint32_t type, size_t len, uint64_t sample_type)
{
	size_t at;

	if (type == PERF_RECORD_SAMPLE) {
		at = HEADER + 16;
		at += sample_type & PERF_SAMPLE_IDENTIFIER ? 8 : 0;
		return len >= at + 8 ? at : 0;
	}
	if (len < HEADER + trailer_len(sample_type))
		return 0;
	return len - trailer_len(sample_type) + 8;
}

int opd_perf_decode(struct opd_perf_rec *rec, const void *bytes, size_t len,
		    uint64_t sample_type)
{
	const unsigned char *at = bytes;
	struct perf_event_header header;
	struct body body = { .failed = false };
	size_t time_at;

	memset(rec, 0, sizeof(*rec));
	if (len < sizeof(header))
		return -EINVAL;
	memcpy(&header, bytes, sizeof(header));
	rec->type = header.type;
	rec->misc = header.misc;
	time_at = opd_perf_time_at(header.type, len, sample_type);
	if (!time_at)
		return -EINVAL;
	memcpy(&rec->time, at + time_at, sizeof(rec->time));
	body.at = at + HEADER;
	body.left = len - HEADER;
	if (header.type != PERF_RECORD_SAMPLE)
		body.left -= trailer_len(sample_type);
	decode_body(rec, &body, sample_type);
	return body.failed ? -EINVAL : 0;
}
