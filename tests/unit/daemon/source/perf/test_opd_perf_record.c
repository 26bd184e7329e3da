// SPDX-License-Identifier: GPL-2.0-or-later
/* Records of perf_events, built byte by byte here and taken apart there. */

#include <errno.h>
#include <sys/sysmacros.h>

#include "tests/unit/test.h"
#include "daemon/source/perf/opd_perf_regs.h"
#include "tests/unit/daemon/source/perf_records.h"

static const uint8_t some_id[20] = { 1,	 2,  3,	 4,  5,	 6,  7,	 8,  9,	 10,
				     11, 12, 13, 14, 15, 16, 17, 18, 19, 20 };

static const struct record_who side = {
	.pid = 100,
	.tid = 101,
	.time = 0x1122334455667788,
	.sample_type = OPD_PERF_SIDE,
};

/* As in the ring of samples, where all records have ids. */
static const struct record_who with_id = {
	.pid = 100,
	.tid = 101,
	.time = 0x1122334455667788,
	.sample_type = OPD_PERF_SAMPLE_ID,
	.id = 77,
};

static const struct record_mmap libc = {
	.start = 0x7f0000001000,
	.len = 0x2000,
	.offset = 0x26000,
	.major = 8,
	.minor = 0x12345,
	.ino = 4711,
	.generation = 99,
	.prot = PROT_READ | PROT_EXEC,
	.name = "/lib/libc.so.6",
};

static int try(struct opd_perf_rec *rec, const struct record *r,
	       const struct record_who *who)
{
	return opd_perf_decode(rec, r->at, r->len, who->sample_type);
}

static struct opd_perf_rec decode(const struct record *r,
				  const struct record_who *who)
{
	struct opd_perf_rec rec;

	assert_int_equal(r->len % 8, 0);
	assert_int_equal(try(&rec, r, who), 0);
	assert_int_equal(rec.time, who->time);
	assert_int_equal(
		opd_perf_time_at(rec.type, r->len, who->sample_type),
		rec.type == PERF_RECORD_SAMPLE
			? r->len - 8
			: r->len - (who->sample_type & PERF_SAMPLE_IDENTIFIER
					    ? 16
					    : 8));
	return rec;
}

/* ---- what is in each --------------------------------------------------------
 */

TEST(samples)
{
	struct record_who who = { 100, 101, 500, OPD_PERF_SAMPLE, 77 };
	struct opd_perf_rec rec;
	struct record r;

	record_sample(&r, &who, PERF_RECORD_MISC_KERNEL, 0xffffffff81000123);
	rec = decode(&r, &who);
	assert_int_equal(rec.type, PERF_RECORD_SAMPLE);
	assert_int_equal(rec.misc, PERF_RECORD_MISC_KERNEL);
	assert_int_equal(rec.pid, 100);
	assert_int_equal(rec.tid, 101);
	assert_int_equal(rec.sample.ip, 0xffffffff81000123);
	assert_int_equal(rec.sample.id, 0);
	who.sample_type = OPD_PERF_SAMPLE_ID;
	record_sample(&r, &who, PERF_RECORD_MISC_USER, UINT64_MAX);
	rec = decode(&r, &who);
	assert_int_equal(rec.misc, PERF_RECORD_MISC_USER);
	assert_int_equal(rec.pid, 100);
	assert_int_equal(rec.tid, 101);
	assert_int_equal(rec.sample.ip, UINT64_MAX);
	assert_int_equal(rec.sample.id, 77);
}

#define DEEP (OPD_PERF_SAMPLE_ID | OPD_PERF_CHAIN | OPD_PERF_USER)

/* With 3 words of chain, registers if an abi, and 11 of 16 bytes of stack. */
static void record_deep(struct record *r, uint64_t abi, uint64_t room)
{
	struct record_who who = { 100, 101, 500, DEEP, 77 };

	record_sample(r, &who, PERF_RECORD_MISC_KERNEL, 0xffffffff81000123);
	record_u64(r, 3);
	for (uint64_t i = 0; i < 3; i++)
		record_u64(r, 0x1000 + i);
	record_u64(r, abi);
	for (uint64_t i = 0; abi && i < OPD_PERF_NR_REGS; i++)
		record_u64(r, 0x2000 + i);
	record_u64(r, room);
	for (uint64_t i = 0; i < room; i += 8)
		record_u64(r, 0x3000 + i);
	if (room)
		record_u64(r, 11);
	record_close(r);
}

TEST(samples_with_stacks)
{
	struct opd_perf_rec rec;
	struct record r;
	uint64_t word;

	record_deep(&r, PERF_SAMPLE_REGS_ABI_64, 16);
	assert_int_equal(opd_perf_decode(&rec, r.at, r.len, DEEP), 0);
	assert_int_equal(rec.time, 500);
	assert_int_equal(rec.sample.id, 77);
	assert_int_equal(rec.sample.chain_len, 3);
	memcpy(&word, (const char *)rec.sample.chain + 16, 8);
	assert_int_equal(word, 0x1002);
	assert_int_equal(rec.sample.abi, PERF_SAMPLE_REGS_ABI_64);
	memcpy(&word,
	       (const char *)rec.sample.regs + 8 * (OPD_PERF_NR_REGS - 1), 8);
	assert_int_equal(word, 0x2000 + OPD_PERF_NR_REGS - 1);
	memcpy(&word, rec.sample.stack, 8);
	assert_int_equal(word, 0x3000);
	assert_int_equal(rec.sample.stack_len, 11);

	record_deep(&r, PERF_SAMPLE_REGS_ABI_NONE, 0);
	assert_int_equal(opd_perf_decode(&rec, r.at, r.len, DEEP), 0);
	assert_null(rec.sample.regs);
	assert_null(rec.sample.stack);
	assert_int_equal(rec.sample.stack_len, 0);
}

/* The weight is behind all else. */
TEST(samples_with_weights)
{
	struct record_who who = { 100, 101, 500,
				  OPD_PERF_SAMPLE | PERF_SAMPLE_WEIGHT, 0 };
	struct opd_perf_rec rec;
	struct record r;

	record_sample(&r, &who, PERF_RECORD_MISC_USER, 0x1234);
	record_u64(&r, 357);
	record_close(&r);
	rec = (struct opd_perf_rec){ 0 };
	assert_int_equal(opd_perf_decode(&rec, r.at, r.len, who.sample_type),
			 0);
	assert_int_equal(rec.sample.ip, 0x1234);
	assert_int_equal(rec.time, 500);
	assert_int_equal(rec.sample.weight, 357);
	r.len -= 8;
	record_close(&r);
	assert_int_equal(opd_perf_decode(&rec, r.at, r.len, who.sample_type),
			 -EINVAL);

	record_deep(&r, PERF_SAMPLE_REGS_ABI_64, 16);
	record_u64(&r, 12);
	record_close(&r);
	assert_int_equal(opd_perf_decode(&rec, r.at, r.len,
					 DEEP | PERF_SAMPLE_WEIGHT),
			 0);
	assert_int_equal(rec.sample.stack_len, 11);
	assert_int_equal(rec.sample.weight, 12);
}

/* Cut anywhere, and with lengths that cannot be. */
TEST(damaged_stacks)
{
	const size_t nr_at = sizeof(struct perf_event_header) + 32;
	const uint64_t bad[] = { 100, UINT64_MAX, UINT64_MAX / 8 + 2 };
	struct opd_perf_rec rec;
	struct record r;

	record_deep(&r, PERF_SAMPLE_REGS_ABI_64, 16);
	for (size_t len = nr_at; len < r.len; len += 8)
		assert_int_equal(opd_perf_decode(&rec, r.at, len, DEEP),
				 -EINVAL);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		record_deep(&r, PERF_SAMPLE_REGS_ABI_64, 16);
		memcpy(r.at + nr_at, &bad[i], 8);
		assert_int_equal(opd_perf_decode(&rec, r.at, r.len, DEEP),
				 -EINVAL);
		assert_int_equal(rec.sample.chain_len, 0);
		record_deep(&r, PERF_SAMPLE_REGS_ABI_64, 16);
		memcpy(r.at + r.len - 32, &bad[i], 8);
		assert_int_equal(opd_perf_decode(&rec, r.at, r.len, DEEP),
				 -EINVAL);
		/* More than there is room for is what there is. */
		record_deep(&r, PERF_SAMPLE_REGS_ABI_64, 16);
		memcpy(r.at + r.len - 8, &bad[i], 8);
		assert_int_equal(opd_perf_decode(&rec, r.at, r.len, DEEP), 0);
		assert_int_equal(rec.sample.stack_len, 16);
	}
}

/* Nothing is behind a chain: all words of it are there, or it is damaged. */
TEST(chains_at_the_end)
{
	static const struct {
		uint64_t nr, words;
		int err;
	} rows[] = {
		{ 0, 0, 0 },	    { 1, 1, 0 },       { 3, 3, 0 },
		{ 2, 3, 0 },	    { 1, 0, -EINVAL }, { 4, 3, -EINVAL },
		{ 24, 3, -EINVAL },
	};
	const uint64_t type = OPD_PERF_SAMPLE | OPD_PERF_CHAIN;
	const struct record_who who = { 100, 101, 500, type, 0 };

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct opd_perf_rec rec;
		struct record r;

		record_sample(&r, &who, PERF_RECORD_MISC_USER, 0x1234);
		record_u64(&r, rows[i].nr);
		for (uint64_t k = 0; k < rows[i].words; k++)
			record_u64(&r, 0x1000 + k);
		record_close(&r);
		assert_int_equal(opd_perf_decode(&rec, r.at, r.len, type),
				 rows[i].err);
		assert_int_equal(rec.sample.chain_len,
				 rows[i].err ? 0 : rows[i].nr);
	}
}

static void check_libc(const struct opd_perf_rec *rec)
{
	assert_int_equal(rec->type, PERF_RECORD_MMAP2);
	assert_int_equal(rec->pid, 100);
	assert_int_equal(rec->tid, 101);
	assert_int_equal(rec->mmap.start, 0x7f0000001000);
	assert_int_equal(rec->mmap.len, 0x2000);
	assert_int_equal(rec->mmap.offset, 0x26000);
	assert_true(rec->mmap.is_code);
	assert_string_equal(rec->mmap.name, "/lib/libc.so.6");
}

TEST(mappings_with_inodes)
{
	struct record_mmap data = libc;
	struct opd_perf_rec rec;
	struct record r;

	record_mmap2(&r, &side, &libc);
	rec = decode(&r, &side);
	check_libc(&rec);
	assert_int_equal(rec.mmap.dev, makedev(8, 0x12345));
	assert_int_equal(rec.mmap.ino, 4711);
	assert_int_equal(rec.mmap.generation, 99);
	assert_int_equal(rec.mmap.build_id_len, 0);
	data.prot = PROT_READ | PROT_WRITE;
	record_mmap2(&r, &with_id, &data);
	rec = decode(&r, &with_id);
	assert_false(rec.mmap.is_code);
	assert_string_equal(rec.mmap.name, "/lib/libc.so.6");
}

TEST(mappings_with_build_ids)
{
	static const uint8_t zeros[20];
	struct record_mmap map = libc;
	struct opd_perf_rec rec;
	struct record r;

	map.build_id = some_id;
	for (unsigned int len = 0; len <= 20; len++) {
		map.build_id_len = (uint8_t)len;
		record_mmap2(&r, &side, &map);
		rec = decode(&r, &side);
		check_libc(&rec);
		assert_int_equal(rec.mmap.build_id_len, len);
		assert_memory_equal(rec.mmap.build_id, some_id, 20);
		assert_int_equal(rec.mmap.dev, 0);
		assert_int_equal(rec.mmap.ino, 0);
		assert_int_equal(rec.mmap.generation, 0);
	}
	for (unsigned int len = 21; len <= 255; len++) {
		map.build_id_len = (uint8_t)len;
		record_mmap2(&r, &side, &map);
		assert_int_equal(try(&rec, &r, &side), -EINVAL);
	}
	map.build_id = zeros;
	map.build_id_len = 0;
	record_mmap2(&r, &side, &map);
	rec = decode(&r, &side);
	assert_int_equal(rec.mmap.build_id_len, 0);
}

TEST(names_of_processes)
{
	struct opd_perf_rec rec;
	struct record r;

	record_comm(&r, &side, true, "sh");
	rec = decode(&r, &side);
	assert_int_equal(rec.type, PERF_RECORD_COMM);
	assert_int_equal(rec.misc, PERF_RECORD_MISC_COMM_EXEC);
	assert_int_equal(rec.pid, 100);
	assert_int_equal(rec.tid, 101);
	record_comm(&r, &with_id, false, "a name of 15 b.");
	rec = decode(&r, &with_id);
	assert_int_equal(rec.misc, 0);
	assert_int_equal(rec.tid, 101);
}

TEST(births_and_deaths)
{
	static const uint32_t types[] = { PERF_RECORD_FORK, PERF_RECORD_EXIT };
	struct opd_perf_rec rec;
	struct record r;

	for (int i = 0; i < 2; i++) {
		record_task(&r, types[i], &side, 42);
		rec = decode(&r, &side);
		assert_int_equal(rec.type, types[i]);
		assert_int_equal(rec.pid, 100);
		assert_int_equal(rec.tid, 101);
		assert_int_equal(rec.task.parent, 42);
	}
}

TEST(losses)
{
	struct opd_perf_rec rec;
	struct record r;

	record_lost(&r, PERF_RECORD_LOST, &side, 1234);
	rec = decode(&r, &side);
	assert_int_equal(rec.type, PERF_RECORD_LOST);
	assert_int_equal(rec.lost.nr, 1234);
	record_lost(&r, PERF_RECORD_LOST_SAMPLES, &with_id, 4321);
	rec = decode(&r, &with_id);
	assert_int_equal(rec.type, PERF_RECORD_LOST_SAMPLES);
	assert_int_equal(rec.lost.nr, 4321);
}

TEST(symbols_of_the_kernel)
{
	struct opd_perf_rec rec;
	struct record r;

	record_ksymbol(&r, &side, 0xffffffffc0001000, 0x200, false, "bpf_x");
	rec = decode(&r, &side);
	assert_int_equal(rec.ksymbol.addr, 0xffffffffc0001000);
	assert_int_equal(rec.ksymbol.len, 0x200);
	assert_false(rec.ksymbol.gone);
	assert_string_equal(rec.ksymbol.name, "bpf_x");
	record_ksymbol(&r, &side, UINT64_MAX - 0x200, 0x200, true, "");
	rec = decode(&r, &side);
	assert_true(rec.ksymbol.gone);
	assert_string_equal(rec.ksymbol.name, "");
	record_ksymbol(&r, &side, UINT64_MAX - 0x1ff, 0x200, false, "wraps");
	assert_int_equal(try(&rec, &r, &side), -EINVAL);
}

/* Type, misc and time; what is between is anybody's. */
/* Samples of events that others opened, with fields that are not for us. */
TEST(foreign_samples)
{
	const struct opd_perf_format format = {
		.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID |
			       PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR |
			       PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID |
			       PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD |
			       PERF_SAMPLE_READ | PERF_SAMPLE_CALLCHAIN |
			       PERF_SAMPLE_RAW | PERF_SAMPLE_BRANCH_STACK |
			       PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER |
			       PERF_SAMPLE_WEIGHT_STRUCT,
		.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_ID |
			       PERF_FORMAT_TOTAL_TIME_ENABLED,
		.branch_type = PERF_SAMPLE_BRANCH_HW_INDEX,
		.regs = 0x301,
	};
	struct opd_perf_rec rec;
	struct record r;
	uint64_t word;

	record_begin(&r, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);
	record_u64(&r, 0x4711); /* ip */
	record_u32(&r, 100);
	record_u32(&r, 101);
	record_u64(&r, 12345); /* time */
	record_u64(&r, 1); /* addr */
	record_u64(&r, 77); /* id */
	record_u64(&r, 1); /* stream */
	record_u32(&r, 3); /* cpu */
	record_u32(&r, 0);
	record_u64(&r, 1000); /* period */
	record_u64(&r, 2); /* two counters, enabled, each with its id */
	for (int i = 0; i < 5; i++)
		record_u64(&r, 1);
	record_u64(&r, 1); /* chain */
	record_u64(&r, 0x4711);
	record_u32(&r, 12); /* raw */
	for (int i = 0; i < 3; i++)
		record_u32(&r, 1);
	record_u64(&r, 1); /* branches, their index */
	for (int i = 0; i < 4; i++)
		record_u64(&r, 1);
	record_u64(&r, PERF_SAMPLE_REGS_ABI_64);
	for (uint64_t i = 0; i < 3; i++)
		record_u64(&r, 0x1000 + i);
	record_u64(&r, 16); /* stack */
	record_u64(&r, 0x5555);
	record_u64(&r, 0);
	record_u64(&r, 8);
	record_u64(&r, UINT64_C(5) << 32 | 42); /* weight */
	record_close(&r);
	assert_int_equal(opd_perf_decode_as(&rec, r.at, r.len, &format), 0);
	assert_int_equal(rec.sample.ip, 0x4711);
	assert_int_equal(rec.pid, 100);
	assert_int_equal(rec.tid, 101);
	assert_int_equal(rec.time, 12345);
	assert_int_equal(rec.sample.id, 77);
	assert_int_equal(rec.sample.cpu, 3);
	assert_int_equal(rec.sample.period, 1000);
	assert_int_equal(rec.sample.chain_len, 1);
	assert_int_equal(rec.sample.abi, PERF_SAMPLE_REGS_ABI_64);
	assert_int_equal(rec.sample.regs_mask, 0x301);
	memcpy(&word, (const char *)rec.sample.regs + 16, sizeof(word));
	assert_int_equal(word, 0x1002);
	memcpy(&word, rec.sample.stack, sizeof(word));
	assert_int_equal(word, 0x5555);
	assert_int_equal(rec.sample.stack_len, 8);
	assert_int_equal(rec.sample.weight, 42);
	memcpy(&word,
	       r.at + opd_perf_id_at(PERF_RECORD_SAMPLE, r.len,
				     format.sample_type),
	       sizeof(word));
	assert_int_equal(word, 77);
	for (size_t len = 0; len < r.len; len += 4)
		assert_int_equal(opd_perf_decode_as(&rec, r.at, len, &format),
				 -EINVAL);
}

/* Where the number of the event and the time are, by what records have. */
TEST(places_of_identities)
{
	static const struct {
		uint64_t type;
		size_t time, id; /* of a sample */
		size_t tail_time, tail_id; /* from the end of another one */
	} rows[] = {
		{ PERF_SAMPLE_IP | PERF_SAMPLE_TID, 0, 0, 0, 0 },
		{ OPD_PERF_SAMPLE, 24, 0, 8, 0 },
		{ OPD_PERF_SAMPLE | PERF_SAMPLE_ID, 24, 32, 16, 8 },
		{ OPD_PERF_SAMPLE | PERF_SAMPLE_ID | PERF_SAMPLE_ADDR, 24, 40,
		  16, 8 },
		{ OPD_PERF_SAMPLE | PERF_SAMPLE_CPU, 24, 0, 16, 0 },
		{ OPD_PERF_SAMPLE_ID | PERF_SAMPLE_CPU, 32, 8, 24, 8 },
		{ PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_ID, 0, 8, 0, 8 },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint64_t type = rows[i].type;

		assert_int_equal(opd_perf_time_at(PERF_RECORD_SAMPLE, 200,
						  type),
				 rows[i].time);
		assert_int_equal(opd_perf_id_at(PERF_RECORD_SAMPLE, 200, type),
				 rows[i].id);
		assert_int_equal(opd_perf_time_at(PERF_RECORD_EXIT, 200, type),
				 rows[i].tail_time ? 200 - rows[i].tail_time
						   : 0);
		assert_int_equal(opd_perf_id_at(PERF_RECORD_EXIT, 200, type),
				 rows[i].tail_id ? 200 - rows[i].tail_id : 0);
		assert_int_equal(opd_perf_id_at(PERF_RECORD_EXIT, 8, type), 0);
	}
}

/* The layout finds what taking the record apart does. */
TEST(numbers_alone)
{
	static const uint64_t fields[] = {
		PERF_SAMPLE_IDENTIFIER, PERF_SAMPLE_IP,	  PERF_SAMPLE_TID,
		PERF_SAMPLE_TIME,	PERF_SAMPLE_ADDR, PERF_SAMPLE_ID,
		PERF_SAMPLE_STREAM_ID,	PERF_SAMPLE_CPU,  PERF_SAMPLE_PERIOD,
	};
	uint64_t record[1 + sizeof(fields) / sizeof(fields[0])];

	for (unsigned int set = 0; set < 1u << 9; set++) {
		struct opd_perf_format format = { 0 };
		struct opd_perf_layout layout;
		struct perf_event_header header = { .type = PERF_RECORD_SAMPLE,
						    .size = 8 };
		struct opd_perf_rec rec;
		const char *bytes = (const char *)record;

		for (unsigned int i = 0; i < 9; i++) {
			if (!(set & 1u << i))
				continue;
			format.sample_type |= fields[i];
			record[header.size / 8] = 0x100000002 * (i + 1);
			header.size += 8;
		}
		memcpy(record, &header, sizeof(header));
		layout = opd_perf_layout_of(&format);
		if ((format.sample_type & OPD_PERF_SAMPLE) != OPD_PERF_SAMPLE) {
			assert_int_equal(layout.len, 0);
			continue;
		}
		assert_int_equal(layout.len, header.size);
		assert_int_equal(opd_perf_decode_as(&rec, record, header.size,
						    &format),
				 0);
		assert_memory_equal(bytes + layout.ip, &rec.sample.ip, 8);
		assert_memory_equal(bytes + layout.time, &rec.time, 8);
		assert_memory_equal(bytes + layout.tid, &rec.pid, 4);
		assert_memory_equal(bytes + layout.tid + 4, &rec.tid, 4);
		assert_int_equal(layout.id,
				 opd_perf_id_at(PERF_RECORD_SAMPLE, header.size,
						format.sample_type));
		if (rec.sample.cpu == OPD_PERF_NO_CPU)
			assert_int_equal(layout.cpu, 0);
		else
			assert_memory_equal(bytes + layout.cpu, &rec.sample.cpu,
					    4);
		if (format.sample_type & PERF_SAMPLE_PERIOD)
			assert_memory_equal(bytes + layout.period,
					    &rec.sample.period, 8);
		else
			assert_int_equal(layout.period, 0);
		format.sample_type |= PERF_SAMPLE_CALLCHAIN;
		assert_int_equal(opd_perf_layout_of(&format).len, 0);
	}
}

/* The bit for a build-id may be one that the kernel forgot. */
TEST(build_ids_that_are_none)
{
	struct opd_perf_format format = { .sample_type = OPD_PERF_SIDE };
	struct record_mmap map = libc;
	struct opd_perf_rec rec;
	struct record r;
	uint16_t misc = PERF_RECORD_MISC_USER | PERF_RECORD_MISC_MMAP_BUILD_ID;

	record_mmap2(&r, &side, &map);
	memcpy(r.at + 4, &misc, sizeof(misc));
	assert_int_equal(opd_perf_decode_as(&rec, r.at, r.len, &format), 0);
	assert_int_equal(rec.mmap.build_id_len, 0);
	assert_int_equal(rec.mmap.ino, libc.ino);
	format.build_ids = true;
	assert_int_equal(opd_perf_decode_as(&rec, r.at, r.len, &format), 0);
	assert_int_equal(rec.mmap.build_id_len, 8);
	format.build_ids = false;
	map.build_id = some_id;
	map.build_id_len = 20;
	record_mmap2(&r, &side, &map);
	assert_int_equal(opd_perf_decode_as(&rec, r.at, r.len, &format), 0);
	assert_int_equal(rec.mmap.build_id_len, 20);
	assert_memory_equal(rec.mmap.build_id, some_id, 20);
}

/* Before Linux 3.x only samples had an identity. */
TEST(bare_records)
{
	const struct opd_perf_format format = {
		.sample_type = OPD_PERF_SAMPLE,
		.is_bare = true,
	};
	struct opd_perf_rec rec;
	struct record r;

	record_begin(&r, PERF_RECORD_MMAP, PERF_RECORD_MISC_USER);
	record_u32(&r, 7);
	record_u32(&r, 8);
	record_u64(&r, 0x1000);
	record_u64(&r, 0x2000);
	record_u64(&r, 0x3000);
	record_text(&r, "/bin/old");
	record_close(&r);
	assert_int_equal(opd_perf_decode_as(&rec, r.at, r.len, &format), 0);
	assert_int_equal(rec.time, 0);
	assert_int_equal(rec.pid, 7);
	assert_int_equal(rec.mmap.start, 0x1000);
	assert_int_equal(rec.mmap.len, 0x2000);
	assert_int_equal(rec.mmap.offset, 0x3000);
	assert_true(rec.mmap.is_code);
	assert_string_equal(rec.mmap.name, "/bin/old");
}

TEST(others_have_a_time)
{
	static const uint32_t types[] = { 0,
					  PERF_RECORD_ITRACE_START,
					  PERF_RECORD_READ,
					  PERF_RECORD_AUX,
					  PERF_RECORD_THROTTLE,
					  PERF_RECORD_UNTHROTTLE,
					  PERF_RECORD_SWITCH,
					  1000,
					  UINT32_MAX };
	struct opd_perf_rec rec;
	struct record r;

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		record_begin(&r, types[i], 0xabcd);
		record_end(&r, &side);
		rec = decode(&r, &side);
		assert_int_equal(rec.type, types[i]);
		assert_int_equal(rec.misc, 0xabcd);
		record_throttle(&r, types[i], &with_id);
		if (types[i] == 0)
			continue;
		rec = decode(&r, &with_id);
		assert_int_equal(rec.type, types[i]);
	}
}

/* ---- what contradicts itself ------------------------------------------------
 */

static void check_text(const char *text, const unsigned char *from, size_t len)
{
	const unsigned char *at = (const unsigned char *)text;

	assert_true(at >= from && at < from + len);
	assert_non_null(memchr(at, '\0', (size_t)(from + len - at)));
}

/*
 * Taken apart or refused; what it points to is inside of it. From memory of
 * exactly its size, so that a byte too far is seen.
 */
static int decode_anything(const void *bytes, size_t len, uint64_t sample_type)
{
	unsigned char *copy = malloc(len ? len : 1);
	struct opd_perf_rec rec;
	int err;

	assert_non_null(copy);
	memcpy(copy, bytes, len);
	err = opd_perf_decode(&rec, copy, len, sample_type);
	if (err) {
		assert_int_equal(err, -EINVAL);
	} else if (rec.type == PERF_RECORD_MMAP2) {
		check_text(rec.mmap.name, copy, len);
		assert_true(rec.mmap.len <= UINT64_MAX - rec.mmap.start);
		assert_true(rec.mmap.build_id_len <= OPD_PERF_BUILD_ID_MAX);
	} else if (rec.type == PERF_RECORD_KSYMBOL) {
		check_text(rec.ksymbol.name, copy, len);
	}
	free(copy);
	return err;
}

/* Bytes that a record of this type needs for sure, with its trailer. */
static size_t fewest(const struct record *r, uint64_t sample_type)
{
	size_t trailer = sample_type & PERF_SAMPLE_IDENTIFIER ? 24 : 16;
	uint32_t type;

	memcpy(&type, r->at, sizeof(type));
	switch (type) {
	case PERF_RECORD_SAMPLE:
		return r->len;
	case PERF_RECORD_MMAP2:
		return 8 + 8 + 24 + 24 + 8 + 1 + trailer;
	case PERF_RECORD_COMM:
		return 8 + 8 + trailer;
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		return 8 + 12 + trailer;
	case PERF_RECORD_LOST:
		return 8 + 16 + trailer;
	case PERF_RECORD_LOST_SAMPLES:
		return 8 + 8 + trailer;
	case PERF_RECORD_KSYMBOL:
		return 8 + 16 + 1 + trailer;
	default:
		return 8 + trailer;
	}
}

static void cut(const struct record *r, uint64_t sample_type)
{
	assert_int_equal(decode_anything(r->at, r->len, sample_type), 0);
	for (size_t len = 0; len < r->len; len++) {
		int err = decode_anything(r->at, len, sample_type);

		if (len < fewest(r, sample_type))
			assert_int_equal(err, -EINVAL);
	}
}

static void cut_side(const struct record_who *who)
{
	struct record_mmap map = libc;
	uint64_t type = who->sample_type;
	struct record r;

	record_mmap2(&r, who, &map);
	cut(&r, type);
	map.build_id = some_id;
	map.build_id_len = 20;
	record_mmap2(&r, who, &map);
	cut(&r, type);
	record_comm(&r, who, true, "sh");
	cut(&r, type);
	record_task(&r, PERF_RECORD_FORK, who, 1);
	cut(&r, type);
	record_task(&r, PERF_RECORD_EXIT, who, 1);
	cut(&r, type);
	record_lost(&r, PERF_RECORD_LOST, who, 1);
	cut(&r, type);
	record_lost(&r, PERF_RECORD_LOST_SAMPLES, who, 1);
	cut(&r, type);
	record_throttle(&r, PERF_RECORD_THROTTLE, who);
	cut(&r, type);
	record_ksymbol(&r, who, 0x1000, 1, false, "bpf_prog");
	cut(&r, type);
}

TEST(cut_records_are_harmless)
{
	struct record_who who = { 1, 2, 3, OPD_PERF_SAMPLE, 4 };
	struct record r;

	cut_side(&side);
	cut_side(&with_id);
	record_sample(&r, &who, PERF_RECORD_MISC_USER, 0x1000);
	cut(&r, who.sample_type);
	who.sample_type = OPD_PERF_SAMPLE_ID;
	record_sample(&r, &who, PERF_RECORD_MISC_USER, 0x1000);
	cut(&r, who.sample_type);
}

/* A name that ends nowhere, also if there are zero bytes behind it. */
TEST(names_must_end)
{
	struct record_who who = side;
	struct record_mmap map = libc;
	struct opd_perf_rec rec;
	struct record r;

	who.pid = who.tid = 0;
	who.time = 0;
	map.name = "/1234567"; /* 8 bytes and 8 zero bytes */
	record_mmap2(&r, &who, &map);
	assert_int_equal(try(&rec, &r, &side), 0);
	memset(r.at + r.len - 24, 'x', 7);
	assert_int_equal(try(&rec, &r, &side), 0);
	assert_string_equal(rec.mmap.name, "/1234567xxxxxxx");
	memset(r.at + r.len - 24, 'x', 8);
	assert_int_equal(try(&rec, &r, &side), -EINVAL);
	record_ksymbol(&r, &who, 0x1000, 1, false, "1234567");
	r.at[r.len - 17] = 'x';
	assert_int_equal(try(&rec, &r, &side), -EINVAL);
	/* No name at all. */
	record_begin(&r, PERF_RECORD_MMAP2, 0);
	for (int i = 0; i < 8; i++)
		record_u64(&r, 0);
	record_end(&r, &who);
	assert_int_equal(try(&rec, &r, &side), -EINVAL);
}

TEST(ranges_do_not_wrap)
{
	static const struct {
		uint64_t start, len;
		int err;
	} ranges[] = {
		{ 0, 0, 0 },
		{ 0, UINT64_MAX, 0 },
		{ UINT64_MAX, 0, 0 },
		{ UINT64_MAX - 0xfff, 0xfff, 0 },
		{ UINT64_MAX - 0xfff, 0x1000, -EINVAL },
		{ UINT64_MAX, 1, -EINVAL },
		{ 1, UINT64_MAX, -EINVAL },
		{ UINT64_MAX, UINT64_MAX, -EINVAL },
	};
	struct record_mmap map = libc;
	struct opd_perf_rec rec;
	struct record r;

	for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++) {
		map.start = ranges[i].start;
		map.len = ranges[i].len;
		record_mmap2(&r, &side, &map);
		assert_int_equal(try(&rec, &r, &side), ranges[i].err);
	}
}

/* Any bytes of any length that say they are of a type we know. */
TEST(any_bytes_are_harmless)
{
	static const uint64_t types[] = { OPD_PERF_SIDE, OPD_PERF_SAMPLE,
					  OPD_PERF_SAMPLE_ID };
	uint64_t random = 1;
	uint64_t words[32];
	unsigned int nr_good = 0;

	for (unsigned int i = 0; i < 100000; i++) {
		uint32_t type = i % (PERF_RECORD_MAX + 1);

		for (size_t w = 0; w < 32; w++) {
			random = random * UINT64_C(6364136223846793005) + 1;
			words[w] = random >> (random >> 58);
		}
		memcpy(words, &type, sizeof(type));
		nr_good += !decode_anything(words, (random >> 33) % 257,
					    types[i % 3]);
	}
	assert_true(nr_good > 10000);
}
