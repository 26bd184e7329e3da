// SPDX-License-Identifier: GPL-2.0-or-later
/* What is packed is unpacked whole or refused. */

#include <errno.h>
#include <lzma.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "tests/unit/rows.h"
#include "libop/files/op_file.h"
#include "libpp/symbols/unpack.h"

#define LEN 300000 /* several pieces, of which some do not shrink */
#define ROOM (2 * LEN)

static size_t pack_xz(uint8_t *out, const uint8_t *in)
{
	size_t len = 0;

	assert_int_equal(lzma_easy_buffer_encode(0, LZMA_CHECK_CRC32, NULL, in,
						 LEN, out, &len, ROOM),
			 LZMA_OK);
	return len;
}

static size_t pack_zstd(uint8_t *out, const uint8_t *in)
{
	size_t len = ZSTD_compress(out, ROOM, in, LEN, 1);

	assert_false(ZSTD_isError(len));
	return len;
}

static size_t pack_gzip(uint8_t *out, const uint8_t *in)
{
	z_stream stream = { .next_in = (uint8_t *)in,
			    .avail_in = LEN,
			    .next_out = out,
			    .avail_out = ROOM };

	assert_int_equal(deflateInit2(&stream, 1, Z_DEFLATED, 31, 8,
				      Z_DEFAULT_STRATEGY),
			 Z_OK);
	assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
	deflateEnd(&stream);
	return ROOM - stream.avail_out;
}

static size_t (*const packers[])(uint8_t *out, const uint8_t *in) = {
	pack_xz,
	pack_zstd,
	pack_gzip,
};

/* Half of it is noise. */
static void fill(uint8_t *in)
{
	unsigned int seed = 1;

	for (size_t i = 0; i < LEN; i++)
		in[i] = i % 100 < 50 ? 0 : (uint8_t)rand_r(&seed);
}

/* Unpack the first @len bytes of @packed, which lie at @offset of a file. */
static int unpack_part(const uint8_t *packed, size_t len, uint64_t offset,
		       int *to)
{
	int from = memfd_create("packed", MFD_CLOEXEC), err;

	assert_int_equal(op_file_write_at(from, packed, len, offset), 0);
	err = pp_unpack(from, offset, len, to);
	close(from);
	return err;
}

TEST(what_was_packed_comes_back)
{
	static uint8_t in[LEN], out[ROOM], got[LEN];

	fill(in);
	for (size_t i = 0; i < NR(packers); i++)
		for (uint64_t offset = 0; offset < 200; offset += 100) {
			size_t len = packers[i](out, in);
			struct stat st;
			int fd;

			assert_int_equal(unpack_part(out, len, offset, &fd), 0);
			assert_int_equal(fstat(fd, &st), 0);
			assert_int_equal(st.st_size, LEN);
			assert_int_equal(op_file_read_at(fd, got, LEN, 0), 0);
			assert_memory_equal(in, got, LEN);
			close(fd);
		}
}

TEST(damage_is_refused)
{
	static uint8_t in[LEN], out[ROOM];
	int fd;

	fill(in);
	for (size_t i = 0; i < NR(packers); i++) {
		size_t len = packers[i](out, in);

		/* Cut anywhere. */
		for (size_t cut = 8; cut < len; cut += len / 50)
			assert_int_equal(unpack_part(out, cut, 0, &fd),
					 -ENOEXEC);
		/* Changed in the middle: gzip and xz have a checksum. */
		for (size_t at = 12; at < len; at += len / 50) {
			int err;

			out[at] ^= 0x55;
			err = unpack_part(out, len, 0, &fd);
			if (!err)
				close(fd);
			else
				assert_true(err == -ENOEXEC || err == -ENOMEM);
			out[at] ^= 0x55;
		}
	}
}

/* There is no room for what comes of it. */
TEST(what_cannot_be_written_is_refused)
{
	static uint8_t in[LEN], out[ROOM];
	struct rlimit usual, less;
	int fd;

	fill(in);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &usual), 0);
	less = usual;
	less.rlim_cur = LEN - 1;
	signal(SIGXFSZ, SIG_IGN);
	for (size_t i = 0; i < NR(packers); i++) {
		size_t len = packers[i](out, in);

		assert_true(len < LEN);
		assert_int_equal(setrlimit(RLIMIT_FSIZE, &less), 0);
		assert_int_equal(unpack_part(out, len, 0, &fd), -EFBIG);
		assert_int_equal(setrlimit(RLIMIT_FSIZE, &usual), 0);
		assert_int_equal(unpack_part(out, len, 0, &fd), 0);
		close(fd);
	}
	signal(SIGXFSZ, SIG_DFL);
}

TEST(other_files_are_not_packed)
{
	static const uint8_t elf[] = "\177ELF and so on";
	int fd;

	assert_int_equal(unpack_part(elf, sizeof(elf), 0, &fd), -ENOENT);
	assert_int_equal(unpack_part(elf, 3, 0, &fd), -ENOENT);
	assert_int_equal(unpack_part((const uint8_t *)"\x1f\x8b", 2, 0, &fd),
			 -ENOENT);
}

TEST(packed_files_have_suffixes)
{
	static const struct {
		const char *name;
		size_t len;
	} rows[] = {
		{ "a.ko", 4 },	 { "a.ko.xz", 4 }, { "a.ko.zst", 4 },
		{ "a.gz", 1 },	 { ".gz", 3 },	   { "", 0 },
		{ "a.xz.b", 6 }, { "axz", 3 },
	};

	for (size_t i = 0; i < NR(rows); i++)
		assert_int_equal(pp_unpacked_name_len(rows[i].name),
				 rows[i].len);
}
