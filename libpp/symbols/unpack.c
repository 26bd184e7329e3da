// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Packed files are read and written in pieces, so that the memory needed is
 * that of the file in memory. Its size is bounded, because a few bytes that are
 * made for it unpack to any length. The three libraries have the same loop
 * under different names: a decoder takes what it can of the input and fills
 * what it can of the output.
 */

#include "libpp/symbols/unpack.h"

#include <errno.h>
#include <lzma.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "libop/files/op_file.h"

#define UNPACKED_MAX (UINT64_C(2) << 30) /* bytes */
#define XZ_MEMORY_MAX (UINT64_C(256) << 20) /* bytes, of the decoder */

struct unpacking {
	int from;
	uint64_t at; /* what was read is before */
	uint64_t end;
	int to;
	uint64_t written;
	uint8_t in[65536];
	size_t in_len;
	uint8_t out[65536];
};

/* Fill the input, with no bytes at the end. */
static int read_packed(struct unpacking *u)
{
	uint64_t left = u->end - u->at;
	int err;

	u->in_len = left < sizeof(u->in) ? left : sizeof(u->in);
	err = op_file_read_at(u->from, u->in, u->in_len, u->at);
	u->at += u->in_len;
	return err == -EBADMSG ? -ENOEXEC : err;
}

static int write_unpacked(struct unpacking *u, size_t len)
{
	int err;

	if (len > UNPACKED_MAX - u->written)
		return -EFBIG;
	err = op_file_write_at(u->to, u->out, len, u->written);
	u->written += len;
	return err;
}

static int unpack_xz(struct unpacking *u)
{
	lzma_stream stream = LZMA_STREAM_INIT;
	lzma_ret ret =
		lzma_stream_decoder(&stream, XZ_MEMORY_MAX, LZMA_CONCATENATED);
	int err = ret == LZMA_OK ? 0 : -ENOMEM;

	while (!err && ret == LZMA_OK) {
		if (!stream.avail_in) {
			err = read_packed(u);
			stream.next_in = u->in;
			stream.avail_in = u->in_len;
		}
		stream.next_out = u->out;
		stream.avail_out = sizeof(u->out);
		if (!err)
			ret = lzma_code(&stream,
					u->in_len ? LZMA_RUN : LZMA_FINISH);
		if (!err)
			err = write_unpacked(u,
					     sizeof(u->out) - stream.avail_out);
	}
	lzma_end(&stream);
	if (err || ret == LZMA_STREAM_END)
		return err;
	return ret == LZMA_MEM_ERROR || ret == LZMA_MEMLIMIT_ERROR ? -ENOMEM
								   : -ENOEXEC;
}

static int unpack_zstd(struct unpacking *u)
{
	ZSTD_DStream *stream = ZSTD_createDStream();
	size_t wanted = 1; /* 0 at the end of a frame */
	int err = stream ? read_packed(u) : -ENOMEM;

	while (!err && u->in_len) {
		ZSTD_inBuffer in = { u->in, u->in_len, 0 };
		ZSTD_outBuffer out = { u->out, sizeof(u->out), sizeof(u->out) };

		/* A full output may leave bytes in the decoder. */
		while (!err &&
		       (in.pos < in.size || (out.pos == out.size && wanted))) {
			out.pos = 0;
			wanted = ZSTD_decompressStream(stream, &out, &in);
			err = ZSTD_isError(wanted) ? -ENOEXEC
						   : write_unpacked(u, out.pos);
		}
		err = err ?: read_packed(u);
	}
	ZSTD_freeDStream(stream);
	return !err && wanted ? -ENOEXEC : err;
}

static int unpack_gzip(struct unpacking *u)
{
	z_stream stream = { 0 };
	/* A window of any size, and the header of gzip. */
	int ret = inflateInit2(&stream, 16 + MAX_WBITS);
	int err = ret == Z_OK ? 0 : -ENOMEM;

	while (!err && ret == Z_OK) {
		if (!stream.avail_in) {
			err = read_packed(u);
			stream.next_in = u->in;
			stream.avail_in = (uInt)u->in_len;
		}
		stream.next_out = u->out;
		stream.avail_out = sizeof(u->out);
		if (!err)
			ret = inflate(&stream, Z_NO_FLUSH);
		if (!err)
			err = write_unpacked(u,
					     sizeof(u->out) - stream.avail_out);
	}
	inflateEnd(&stream);
	return !err && ret != Z_STREAM_END ? -ENOEXEC : err;
}

/* clang-format off */
static const struct packer {
	const char *suffix;
	uint8_t magic[6];
	size_t magic_len;
	int (*unpack)(struct unpacking *u);
} packers[] = {
	{ ".xz", { 0xfd, '7', 'z', 'X', 'Z', 0 }, 6, unpack_xz },
	{ ".zst", { 0x28, 0xb5, 0x2f, 0xfd }, 4, unpack_zstd },
	{ ".gz", { 0x1f, 0x8b }, 2, unpack_gzip },
};
/* clang-format on */

#define NR_PACKERS (sizeof(packers) / sizeof(packers[0]))

static const struct packer *find_packer(int from, uint64_t offset, uint64_t len)
{
	uint8_t start[sizeof(packers->magic)];

	if (len < sizeof(start) ||
	    op_file_read_at(from, start, sizeof(start), offset))
		return NULL;
	for (size_t i = 0; i < NR_PACKERS; i++)
		if (!memcmp(start, packers[i].magic, packers[i].magic_len))
			return &packers[i];
	return NULL;
}

int pp_unpack(int from, uint64_t offset, uint64_t len, int *to)
{
	const struct packer *packer = find_packer(from, offset, len);
	struct unpacking u = { .from = from,
			       .at = offset,
			       .end = offset + len };
	int err;

	if (!packer)
		return -ENOENT;
	u.to = memfd_create("unpacked", MFD_CLOEXEC);
	if (u.to < 0)
		return -errno;
	err = packer->unpack(&u);
	if (err)
		close(u.to);
	else
		*to = u.to;
	return err;
}

size_t pp_unpacked_name_len(const char *name)
{
	size_t len = strlen(name);

	for (size_t i = 0; i < NR_PACKERS; i++) {
		size_t suffix = strlen(packers[i].suffix);

		if (len > suffix &&
		    !strcmp(name + len - suffix, packers[i].suffix))
			return len - suffix;
	}
	return len;
}
