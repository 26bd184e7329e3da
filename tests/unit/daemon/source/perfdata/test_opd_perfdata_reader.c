// SPDX-License-Identifier: GPL-2.0-or-later
/* Records of a file of perf: those that are there, packed ones, and ends. */

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>
#include <zstd.h>

#include "daemon/source/perfdata/opd_perfdata_reader.h"
#include "tests/unit/daemon/source/perf_records.h"
#include "tests/unit/rows.h"

#define MIB (1u << 20)
#define LONGEST_RECORD 65535
#define HEADER_LEN 8

/* ---- read(2) that hands out little ------------------------------------------
 */

static struct {
	size_t most; /* bytes at once; 0: as many as there are */
	bool is_interrupted; /* every other call */
	unsigned int nr_calls;
	bool fails; /* behind so many calls */
	unsigned int nr_good;
} reading;

ssize_t read_little(int fd, void *buf, size_t len) __asm__("read");

ssize_t read_little(int fd, void *buf, size_t len)
{
	ssize_t (*real)(int, void *, size_t) =
		(ssize_t(*)(int, void *, size_t))dlsym(RTLD_NEXT, "read");

	if (reading.is_interrupted && reading.nr_calls++ % 2 == 0) {
		errno = EINTR;
		return -1;
	}
	if (reading.fails && reading.nr_good-- == 0) {
		errno = EIO;
		return -1;
	}
	return real(fd, buf,
		    reading.most && reading.most < len ? reading.most : len);
}

/* ---- what is written --------------------------------------------------------
 */

/* Byte @i of the record whose number is @nr. */
static unsigned char byte_of_record(unsigned int nr, size_t i)
{
	return (unsigned char)(nr * 31 + i * 7 + (i >> 8));
}

/* Make a record of @type and @len bytes, all that it is to have. */
static void make_numbered(struct record *r, uint32_t type, unsigned int nr,
			  size_t len)
{
	record_begin(r, type, 0);
	for (size_t i = r->len; i < len; i++)
		r->at[i] = byte_of_record(nr, i);
	r->len = len;
	record_close(r);
}

static size_t length_of_record(unsigned int nr)
{
	static const size_t lens[] = { HEADER_LEN,     16, 24,	 4096, 65528,
				       LONGEST_RECORD, 9,  30000 };

	return lens[nr % NR(lens)];
}

static void write_bytes_to(int fd, const void *bytes, size_t len)
{
	assert_int_equal(write(fd, bytes, len), len);
}

/* A file of records until there are @least bytes; how many these are. */
static unsigned int write_numbered(int fd, size_t least)
{
	static struct record r;
	unsigned int nr = 0;

	for (size_t len = 0; len < least; len += r.len, nr++) {
		make_numbered(&r, PERF_RECORD_COMM, nr, length_of_record(nr));
		write_bytes_to(fd, r.at, r.len);
	}
	return nr;
}

static int open_empty(void)
{
	int fd = memfd_create("records", MFD_CLOEXEC);

	assert_true(fd >= 0);
	return fd;
}

static struct opd_perfdata_pool pool;

static void start_reader(struct opd_perfdata_reader *reader, int fd,
			 uint64_t left)
{
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	assert_int_equal(
		opd_perfdata_reader_init(reader, fd, &pool, left, 1000), 0);
	assert_int_equal(reader->offset, 1000);
}

/* It holds no block any more. */
static void end_reader(struct opd_perfdata_reader *reader)
{
	opd_perfdata_reader_release(reader);
	opd_perfdata_pool_release(&pool);
	assert_int_equal(pool.nr, 0);
}

static void is_numbered(const unsigned char *record, size_t len,
			unsigned int nr)
{
	assert_int_equal(len, length_of_record(nr));
	for (size_t i = HEADER_LEN; i < len; i++)
		if (record[i] != byte_of_record(nr, i))
			fail_msg("byte %zu of record %u", i, nr);
}

/* ---- records ----------------------------------------------------------------
 */

static void read_all_records(size_t size, uint64_t left)
{
	struct opd_perfdata_reader reader;
	enum opd_perfdata_end end = OPD_PERFDATA_DAMAGED;
	const unsigned char *record;
	int fd = open_empty();
	unsigned int nr = write_numbered(fd, size), got = 0;
	uint64_t all = (uint64_t)lseek(fd, 0, SEEK_CUR);
	size_t len;

	start_reader(&reader, fd, left ? left : all);
	while ((record = opd_perfdata_reader_next(&reader, &len, &end)))
		is_numbered(record, len, got++);
	assert_int_equal(got, nr);
	assert_int_equal(end, OPD_PERFDATA_WHOLE);
	assert_int_equal(reader.offset, 1000 + all);
	end_reader(&reader);
	assert_null(reader.raw.block);
	close(fd);
}

/* All bytes of each, in order, however many are read at once. */
TEST(whole_records)
{
	read_all_records(0, 0);
	read_all_records(1, 0);
	read_all_records(3 * MIB, 0);
	read_all_records(3 * MIB, UINT64_MAX);
	reading.most = 5000;
	read_all_records(MIB, 0);
	reading.is_interrupted = true;
	read_all_records(MIB, UINT64_MAX);
	reading.most = 3;
	read_all_records(4000, 0);
	memset(&reading, 0, sizeof(reading));
}

/*
 * Records that somebody holds stay as they were, and blocks of others are used
 * again: @nr_held of each 100 records are held to the end.
 */
static void read_held(unsigned int nr_held, size_t most)
{
	enum { ALL = 3000 };
	static const unsigned char *held[ALL];
	struct opd_perfdata_reader reader;
	enum opd_perfdata_end end = OPD_PERFDATA_DAMAGED;
	const unsigned char *record;
	int fd = open_empty();
	unsigned int nr = 0;
	size_t len, all;

	write_numbered(fd, 20 * MIB);
	all = (size_t)lseek(fd, 0, SEEK_CUR);
	reading.most = most;
	start_reader(&reader, fd, all);
	while ((record = opd_perfdata_reader_next(&reader, &len, &end))) {
		assert_true(nr < ALL);
		held[nr] = nr % 100 < nr_held ? record : NULL;
		if (held[nr])
			opd_perfdata_block_hold(opd_perfdata_block_of(record));
		is_numbered(record, len, nr++);
	}
	memset(&reading, 0, sizeof(reading));
	assert_int_equal(end, OPD_PERFDATA_WHOLE);
	/* Little is lost at the end of each. */
	assert_true(pool.nr * (OPD_PERFDATA_BLOCK - LONGEST_RECORD) <=
		    (nr_held ? all : OPD_PERFDATA_BLOCK) + MIB);
	for (unsigned int i = 0; i < nr; i++) {
		if (!held[i])
			continue;
		is_numbered(held[i], length_of_record(i), i);
		opd_perfdata_block_drop(opd_perfdata_block_of(held[i]));
	}
	end_reader(&reader);
	close(fd);
}

TEST(held_records)
{
	read_held(0, 0);
	read_held(1, 0);
	read_held(50, 0);
	read_held(100, 0);
	read_held(100, 10000);
	read_held(100, 3000);
}

/* Files of two records of 24 bytes: where they end, and how. */
TEST(ends_of_records)
{
	static const struct {
		size_t len; /* bytes of the file */
		uint64_t left;
		unsigned int nr;
		enum opd_perfdata_end end;
		uint64_t read; /* bytes */
	} rows[] = {
		{ 48, 48, 2, OPD_PERFDATA_WHOLE, 48 },
		{ 48, UINT64_MAX, 2, OPD_PERFDATA_WHOLE, 48 },
		{ 48, 24, 1, OPD_PERFDATA_WHOLE, 24 },
		{ 48, 0, 0, OPD_PERFDATA_WHOLE, 0 },
		{ 0, 0, 0, OPD_PERFDATA_WHOLE, 0 },
		{ 0, UINT64_MAX, 0, OPD_PERFDATA_WHOLE, 0 },
		/* Less than was told. */
		{ 48, 49, 2, OPD_PERFDATA_CUT, 48 },
		{ 0, 1, 0, OPD_PERFDATA_CUT, 0 },
		{ 24, 48, 1, OPD_PERFDATA_CUT, 24 },
		/* In a header, and behind it. */
		{ 48, 25, 1, OPD_PERFDATA_CUT, 25 },
		{ 31, UINT64_MAX, 1, OPD_PERFDATA_CUT, 31 },
		{ 32, UINT64_MAX, 1, OPD_PERFDATA_CUT, 32 },
		{ 48, 47, 1, OPD_PERFDATA_CUT, 47 },
		{ 47, UINT64_MAX, 1, OPD_PERFDATA_CUT, 47 },
	};
	static struct record r;

	make_numbered(&r, PERF_RECORD_COMM, 2, 24);
	for (size_t i = 0; i < NR(rows); i++) {
		struct opd_perfdata_reader reader;
		enum opd_perfdata_end end = OPD_PERFDATA_DAMAGED;
		int fd = open_empty();
		unsigned int nr = 0;
		size_t len;

		write_bytes_to(fd, r.at, r.len);
		write_bytes_to(fd, r.at, r.len);
		assert_int_equal(ftruncate(fd, (off_t)rows[i].len), 0);
		start_reader(&reader, fd, rows[i].left);
		while (opd_perfdata_reader_next(&reader, &len, &end))
			nr++;
		if (nr != rows[i].nr || end != rows[i].end ||
		    reader.offset != 1000 + rows[i].read)
			fail_msg("row %zu: %u records, end %d, %lu bytes", i,
				 nr, (int)end,
				 (unsigned long)reader.offset - 1000);
		end_reader(&reader);
		close(fd);
	}
}

/* A length that is shorter than a header ends the reading at that record. */
TEST(lengths_of_records)
{
	for (uint16_t size = 0; size <= HEADER_LEN; size++) {
		struct opd_perfdata_reader reader;
		enum opd_perfdata_end end = OPD_PERFDATA_UNREADABLE;
		const void *record;
		struct record r;
		int fd = open_empty();
		size_t len;

		record_begin(&r, PERF_RECORD_COMM, 0);
		memcpy(r.at + 6, &size, sizeof(size));
		write_bytes_to(fd, r.at, HEADER_LEN);
		start_reader(&reader, fd, UINT64_MAX);
		record = opd_perfdata_reader_next(&reader, &len, &end);
		assert_int_equal(record != NULL, size == HEADER_LEN);
		if (!record) {
			assert_int_equal(end, OPD_PERFDATA_DAMAGED);
			assert_int_equal(reader.raw.at, 0);
		}
		end_reader(&reader);
		close(fd);
	}
}

/* What cannot be read: a header, or what is behind a record. */
TEST(unreadable_records)
{
	const uint64_t behind = 1;
	struct record r;
	int fd = open_empty();

	make_numbered(&r, OPD_PERFDATA_AUXTRACE, 0, 16);
	memcpy(r.at + HEADER_LEN, &behind, sizeof(behind));
	write_bytes_to(fd, r.at, r.len);
	for (unsigned int nr_good = 0; nr_good < 2; nr_good++) {
		struct opd_perfdata_reader reader;
		enum opd_perfdata_end end = OPD_PERFDATA_WHOLE;
		size_t len;

		start_reader(&reader, fd, UINT64_MAX);
		reading.fails = true;
		reading.nr_good = nr_good;
		assert_null(opd_perfdata_reader_next(&reader, &len, &end));
		memset(&reading, 0, sizeof(reading));
		assert_int_equal(end, OPD_PERFDATA_UNREADABLE);
		assert_int_equal(reader.offset, 1000 + 16 * nr_good);
		end_reader(&reader);
	}
	close(fd);
}

/* Traces of hardware are passed over, however many bytes they are. */
TEST(long_traces)
{
	static const size_t lens[] = { 1, 4096, MIB - 16, MIB, 5 * MIB + 3 };
	static struct record r;

	for (size_t i = 0; i < NR(lens); i++) {
		struct opd_perfdata_reader reader;
		enum opd_perfdata_end end = OPD_PERFDATA_DAMAGED;
		const unsigned char *record;
		int fd = open_empty();
		uint64_t behind = lens[i];
		size_t len;

		make_numbered(&r, OPD_PERFDATA_AUXTRACE, 0, 32);
		memcpy(r.at + HEADER_LEN, &behind, sizeof(behind));
		write_bytes_to(fd, r.at, r.len);
		assert_true(lseek(fd, (off_t)behind, SEEK_CUR) > 0);
		make_numbered(&r, PERF_RECORD_COMM, 3, 4096);
		write_bytes_to(fd, r.at, r.len);
		start_reader(&reader, fd, 32 + behind + 4096);
		record = opd_perfdata_reader_next(&reader, &len, &end);
		assert_non_null(record);
		is_numbered(record, len, 3);
		assert_null(opd_perfdata_reader_next(&reader, &len, &end));
		assert_int_equal(end, OPD_PERFDATA_WHOLE);
		end_reader(&reader);
		/* One byte of them is missing. */
		start_reader(&reader, fd, 32 + behind - 1);
		assert_null(opd_perfdata_reader_next(&reader, &len, &end));
		assert_int_equal(end, OPD_PERFDATA_CUT);
		end_reader(&reader);
		close(fd);
	}
}

/* ---- packed records ---------------------------------------------------------
 */

/* Packs one stream. */
struct packer {
	ZSTD_CStream *stream;
	unsigned char out[LONGEST_RECORD];
};

/* Pack @len bytes so that all of them can be unpacked; how many that gives. */
static size_t pack_bytes(struct packer *packer, const void *bytes, size_t len)
{
	ZSTD_inBuffer in = { bytes, len, 0 };
	ZSTD_outBuffer out = { packer->out, sizeof(packer->out), 0 };

	assert_int_equal(ZSTD_compressStream2(packer->stream, &out, &in,
					      ZSTD_e_flush),
			 0);
	return out.pos;
}

/* A record of what was packed; the newer kind has a length, of @told bytes
 * more than that, and @filled bytes behind it. */
static void write_packed_record(int fd, const struct packer *packer, size_t len,
				uint32_t type, uint64_t told, size_t filled)
{
	static const unsigned char nothing[8];
	static struct record r;
	uint64_t packed = len + told;

	record_begin(&r, type, 0);
	if (type == OPD_PERFDATA_COMPRESSED2)
		record_put(&r, &packed, sizeof(packed));
	record_put(&r, packer->out, len);
	record_put(&r, nothing, filled);
	record_close(&r);
	write_bytes_to(fd, r.at, r.len);
}

static void start_packer(struct packer *packer)
{
	packer->stream = ZSTD_createCStream();
	assert_non_null(packer->stream);
}

/* The stream of records is cut anywhere into pieces that are packed. */
TEST(packed_records)
{
	static const size_t pieces[] = { 1, 7, 100, 40000, 200000 };
	static const uint32_t types[] = { OPD_PERFDATA_COMPRESSED,
					  OPD_PERFDATA_COMPRESSED2 };
	static unsigned char bytes[2 * MIB];
	static struct packer packer;

	for (size_t i = 0; i < NR(pieces) * NR(types); i++) {
		const size_t piece = pieces[i / 2], most = piece * 500;
		struct opd_perfdata_reader reader;
		enum opd_perfdata_end end = OPD_PERFDATA_DAMAGED;
		const unsigned char *record;
		int plain = open_empty(), fd = open_empty();
		unsigned int nr =
			write_numbered(plain, most < MIB ? most : MIB);
		size_t all = (size_t)lseek(plain, 0, SEEK_CUR), len;
		unsigned int got = 0;

		assert_int_equal(pread(plain, bytes, sizeof(bytes), 0), all);
		start_packer(&packer);
		for (size_t at = 0; at < all; at += piece) {
			len = pack_bytes(&packer, bytes + at,
					 piece < all - at ? piece : all - at);
			write_packed_record(fd, &packer, len, types[i % 2], 0,
					    i % 2 ? 5 : 0);
		}
		ZSTD_freeCStream(packer.stream);
		start_reader(&reader, fd, (uint64_t)lseek(fd, 0, SEEK_CUR));
		while ((record = opd_perfdata_reader_next(&reader, &len, &end)))
			is_numbered(record, len, got++);
		assert_int_equal(got, nr);
		assert_int_equal(end, OPD_PERFDATA_WHOLE);
		end_reader(&reader);
		close(plain);
		close(fd);
	}
}

/* What is packed wrongly, and how the records before it end. */
TEST(packed_records_that_cannot_be)
{
	enum { GOOD, HALF, GARBAGE, PACKED_TWICE, SHORT_HEADER };
	static const struct {
		int what;
		uint32_t type;
		uint64_t told; /* bytes more than there are */
		enum opd_perfdata_end end;
	} rows[] = {
		{ GOOD, OPD_PERFDATA_COMPRESSED, 0, OPD_PERFDATA_WHOLE },
		{ GOOD, OPD_PERFDATA_COMPRESSED2, 0, OPD_PERFDATA_WHOLE },
		{ GOOD, OPD_PERFDATA_COMPRESSED2, 1, OPD_PERFDATA_DAMAGED },
		{ HALF, OPD_PERFDATA_COMPRESSED, 0, OPD_PERFDATA_CUT },
		{ GARBAGE, OPD_PERFDATA_COMPRESSED, 0, OPD_PERFDATA_DAMAGED },
		{ PACKED_TWICE, OPD_PERFDATA_COMPRESSED, 0,
		  OPD_PERFDATA_DAMAGED },
		{ SHORT_HEADER, OPD_PERFDATA_COMPRESSED, 0,
		  OPD_PERFDATA_DAMAGED },
	};
	static struct packer packer;
	static struct record r;

	for (size_t i = 0; i < NR(rows); i++) {
		struct opd_perfdata_reader reader;
		enum opd_perfdata_end end = OPD_PERFDATA_UNREADABLE;
		int fd = open_empty();
		unsigned int nr = 0;
		size_t len;

		start_packer(&packer);
		make_numbered(&r, PERF_RECORD_COMM, 1, 16);
		write_bytes_to(fd, r.at, r.len);
		if (rows[i].what == PACKED_TWICE)
			make_numbered(&r, OPD_PERFDATA_COMPRESSED, 1, 16);
		else if (rows[i].what == SHORT_HEADER)
			r.at[6] = HEADER_LEN - 1;
		len = pack_bytes(&packer, r.at,
				 rows[i].what == HALF ? 12 : r.len);
		if (rows[i].what == GARBAGE)
			memset(packer.out, 0x55, len);
		write_packed_record(fd, &packer, len, rows[i].type,
				    rows[i].told, 0);
		ZSTD_freeCStream(packer.stream);
		start_reader(&reader, fd, (uint64_t)lseek(fd, 0, SEEK_CUR));
		while (opd_perfdata_reader_next(&reader, &len, &end))
			nr++;
		if (nr != (rows[i].end == OPD_PERFDATA_WHOLE ? 2 : 1) ||
		    end != rows[i].end)
			fail_msg("row %zu: %u records, end %d", i, nr,
				 (int)end);
		end_reader(&reader);
		close(fd);
	}
}

/* The newer kind without room for its length. */
TEST(a_packed_record_without_length)
{
	for (size_t more = 0; more <= 8; more++) {
		struct opd_perfdata_reader reader;
		enum opd_perfdata_end end = OPD_PERFDATA_UNREADABLE;
		static const unsigned char nothing[8];
		struct record r;
		int fd = open_empty();
		size_t len;

		record_begin(&r, OPD_PERFDATA_COMPRESSED2, 0);
		record_put(&r, nothing, more);
		record_close(&r);
		write_bytes_to(fd, r.at, r.len);
		start_reader(&reader, fd, r.len);
		assert_null(opd_perfdata_reader_next(&reader, &len, &end));
		assert_int_equal(end, more < 8 ? OPD_PERFDATA_DAMAGED
					       : OPD_PERFDATA_WHOLE);
		end_reader(&reader);
		close(fd);
	}
}

/*
 * One packed record may give 64 MiB, beside what is left of the one before. So
 * a small file gives no end of records.
 */
TEST(how_much_is_unpacked)
{
	static unsigned char bytes[MIB], packed[LONGEST_RECORD];
	static struct packer packer;
	const struct perf_event_header large = { .type = PERF_RECORD_COMM,
						 .size = 32768 },
				       small = { .type = PERF_RECORD_COMM,
						 .size = HEADER_LEN };

	for (size_t at = 0; at < MIB; at += large.size)
		memcpy(bytes + at, &large, HEADER_LEN);
	for (unsigned int nr_small = 1; nr_small <= 2; nr_small++) {
		struct opd_perfdata_reader reader;
		enum opd_perfdata_end end = OPD_PERFDATA_UNREADABLE;
		int fd = open_empty();
		unsigned int nr = 0;
		size_t len, all = 0;

		start_packer(&packer);
		len = pack_bytes(&packer, bytes, HEADER_LEN);
		write_packed_record(fd, &packer, len, OPD_PERFDATA_COMPRESSED,
				    0, 0);
		for (unsigned int i = 0; i < 64 + nr_small; i++) {
			const size_t skip = i ? 0 : HEADER_LEN;

			len = i < 64 ? pack_bytes(&packer, bytes + skip,
						  MIB - skip)
				     : pack_bytes(&packer, &small, HEADER_LEN);
			assert_true(len <= sizeof(packed) - HEADER_LEN - all);
			memcpy(packed + all, packer.out, len);
			all += len;
		}
		memcpy(packer.out, packed, all);
		write_packed_record(fd, &packer, all, OPD_PERFDATA_COMPRESSED,
				    0, 0);
		ZSTD_freeCStream(packer.stream);
		start_reader(&reader, fd, UINT64_MAX);
		while (opd_perfdata_reader_next(&reader, &len, &end))
			nr++;
		/* Those that were unpacked with the last ones are not passed
		 * on where that is too much. */
		if (nr_small == 1)
			assert_int_equal(nr, 64 * 32 + 1);
		else
			assert_in_range(nr, 64 * 31, 64 * 32);
		/* Not all at once. */
		assert_true(pool.nr <= 2);
		assert_int_equal(end, nr_small == 1 ? OPD_PERFDATA_WHOLE
						    : OPD_PERFDATA_DAMAGED);
		end_reader(&reader);
		close(fd);
	}
}
