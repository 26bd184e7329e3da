// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * SHA-256. The message schedule is kept as a ring of 16 words, and rounds go
 * by eight so that the eight variables need not be moved. Processors that
 * have instructions for it are some five times as fast with them.
 */

#include "libpp/sha256.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#endif

/* clang-format off */
static const uint32_t primes[64] = {
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
	0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
	0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
	0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
	0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
	0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
	0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
	0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};
/* clang-format on */

static uint32_t rotate(uint32_t x, int by)
{
	return x >> by | x << (32 - by);
}

static uint32_t big_endian(const uint8_t *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 |
	       (uint32_t)p[2] << 8 | p[3];
}

static void round_of(uint32_t *v, int at, uint32_t input)
{
	/* The variable called a in round 0 is called b in round 1. */
	uint32_t *a = &v[-at & 7], *b = &v[(1 - at) & 7];
	uint32_t *c = &v[(2 - at) & 7], *d = &v[(3 - at) & 7];
	uint32_t *e = &v[(4 - at) & 7], *f = &v[(5 - at) & 7];
	uint32_t *g = &v[(6 - at) & 7], *h = &v[(7 - at) & 7];

	*h += input + (rotate(*e, 6) ^ rotate(*e, 11) ^ rotate(*e, 25)) +
	      ((*e & *f) ^ (~*e & *g));
	*d += *h;
	*h += (rotate(*a, 2) ^ rotate(*a, 13) ^ rotate(*a, 22)) +
	      ((*a & *b) ^ (*a & *c) ^ (*b & *c));
}

static uint32_t schedule(uint32_t *w, int at)
{
	uint32_t late = w[(at + 14) & 15], early = w[(at + 1) & 15];

	return w[at & 15] +=
	       w[(at + 9) & 15] +
	       (rotate(late, 17) ^ rotate(late, 19) ^ late >> 10) +
	       (rotate(early, 7) ^ rotate(early, 18) ^ early >> 3);
}

static void add_blocks_plainly(uint32_t *state, const uint8_t *p, size_t nr)
{
	for (; nr; nr--, p += 64) {
		uint32_t w[16], v[8];

		memcpy(v, state, sizeof(v));
		for (int i = 0; i < 16; i++)
			w[i] = big_endian(p + 4 * i);
		for (int i = 0; i < 64; i += 8)
#pragma GCC unroll 8
			for (int k = 0; k < 8; k++)
				round_of(v, k,
					 primes[i + k] +
						 (i < 16 ? w[i + k]
							 : schedule(w, i + k)));
		for (int i = 0; i < 8; i++)
			state[i] += v[i];
	}
}

#if defined(__x86_64__)

/*
 * Intel's SHA extensions: an instruction does two rounds, with the variables
 * in two registers as ABEF and CDGH (Intel SDM volume 2, SHA256RNDS2).
 */
__attribute__((target("sha,sse4.1"))) static void
add_blocks_fast(uint32_t *state, const uint8_t *p, size_t nr)
{
	const __m128i order =
		_mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
	__m128i low = _mm_loadu_si128((const __m128i *)state); /* DCBA */
	__m128i high = _mm_loadu_si128((const __m128i *)(state + 4));
	__m128i abef, cdgh;

	low = _mm_shuffle_epi32(low, 0xb1); /* CDAB */
	high = _mm_shuffle_epi32(high, 0x1b); /* EFGH */
	abef = _mm_alignr_epi8(low, high, 8);
	cdgh = _mm_blend_epi16(high, low, 0xf0);
	for (; nr; nr--, p += 64) {
		const __m128i abef_before = abef, cdgh_before = cdgh;
		__m128i w[4];

		for (int i = 0; i < 4; i++)
			w[i] = _mm_shuffle_epi8(
				_mm_loadu_si128((const __m128i *)p + i), order);
#pragma GCC unroll 16
		for (int i = 0; i < 16; i++) {
			__m128i *now = &w[i & 3];
			__m128i sum;

			/* w[i & 3] is that of four quads ago, then the next. */
			if (i >= 4) {
				sum = _mm_sha256msg1_epu32(*now,
							   w[(i + 1) & 3]);
				sum = _mm_add_epi32(
					sum,
					_mm_alignr_epi8(w[(i + 3) & 3],
							w[(i + 2) & 3], 4));
				*now = _mm_sha256msg2_epu32(sum,
							    w[(i + 3) & 3]);
			}
			sum = _mm_add_epi32(
				*now,
				_mm_loadu_si128((const __m128i *)primes + i));
			cdgh = _mm_sha256rnds2_epu32(cdgh, abef, sum);
			sum = _mm_shuffle_epi32(sum, 0x0e);
			abef = _mm_sha256rnds2_epu32(abef, cdgh, sum);
		}
		abef = _mm_add_epi32(abef, abef_before);
		cdgh = _mm_add_epi32(cdgh, cdgh_before);
	}
	low = _mm_shuffle_epi32(abef, 0x1b); /* FEBA */
	high = _mm_shuffle_epi32(cdgh, 0xb1); /* DCHG */
	_mm_storeu_si128((__m128i *)state, _mm_blend_epi16(low, high, 0xf0));
	_mm_storeu_si128((__m128i *)(state + 4), _mm_alignr_epi8(high, low, 8));
}

static bool is_fast(void)
{
	unsigned int a, b, c, d;

	return __builtin_cpu_supports("sse4.1") &&
	       __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b & 1u << 29);
}

static void add_blocks(uint32_t *state, const uint8_t *p, size_t nr)
{
	/* CPUID is slow, in virtual machines above all. */
	if (nr >= 64 && is_fast())
		add_blocks_fast(state, p, nr);
	else
		add_blocks_plainly(state, p, nr);
}

#else

static void add_blocks(uint32_t *state, const uint8_t *p, size_t nr)
{
	add_blocks_plainly(state, p, nr);
}

#endif

void pp_sha256_init(struct pp_sha256 *sha)
{
	static const uint32_t start[8] = { 0x6a09e667, 0xbb67ae85, 0x3c6ef372,
					   0xa54ff53a, 0x510e527f, 0x9b05688c,
					   0x1f83d9ab, 0x5be0cd19 };

	memcpy(sha->state, start, sizeof(start));
	sha->len = 0;
}

void pp_sha256_add(struct pp_sha256 *sha, const void *bytes, size_t len)
{
	size_t used = sha->len % 64, part = 64 - used;
	const uint8_t *p = bytes;

	sha->len += len;
	if (len < part) {
		memcpy(sha->block + used, p, len);
		return;
	}
	if (used) {
		memcpy(sha->block + used, p, part);
		add_blocks(sha->state, sha->block, 1);
		p += part;
		len -= part;
	}
	add_blocks(sha->state, p, len / 64);
	memcpy(sha->block, p + len / 64 * 64, len % 64);
}

void pp_sha256_end(struct pp_sha256 *sha, uint8_t hash[PP_SHA256_LEN])
{
	static const uint8_t filler[64] = { 0x80 };
	uint64_t bits = sha->len * 8;
	uint8_t len[8];

	pp_sha256_add(sha, filler, 1 + (119 - sha->len % 64) % 64);
	for (int i = 0; i < 8; i++)
		len[i] = (uint8_t)(bits >> (56 - 8 * i));
	pp_sha256_add(sha, len, sizeof(len));
	for (int i = 0; i < PP_SHA256_LEN; i++)
		hash[i] = (uint8_t)(sha->state[i / 4] >> (24 - i % 4 * 8));
}

int pp_sha256_fd(int fd, uint8_t hash[PP_SHA256_LEN])
{
	struct pp_sha256 sha;
	uint8_t buf[65536];
	ssize_t got;

	pp_sha256_init(&sha);
	while ((got = read(fd, buf, sizeof(buf))) != 0) {
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		pp_sha256_add(&sha, buf, (size_t)got);
	}
	pp_sha256_end(&sha, hash);
	return 0;
}
