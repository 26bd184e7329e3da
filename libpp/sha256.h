/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBPP_SHA256_H
#define LIBPP_SHA256_H

/* The hash function SHA-256 (FIPS 180-4), as sha256sum(1) computes it. */

#include <stddef.h>
#include <stdint.h>

#define PP_SHA256_LEN 32 /* bytes */

struct pp_sha256 {
	uint32_t state[8];
	uint64_t len; /* bytes so far */
	uint8_t block[64]; /* those that fill no block yet */
};

void pp_sha256_init(struct pp_sha256 *sha);
void pp_sha256_add(struct pp_sha256 *sha, const void *bytes, size_t len);

/* Write the hash of all that was added; @sha is used up. */
void pp_sha256_end(struct pp_sha256 *sha, uint8_t hash[PP_SHA256_LEN]);

/* Hash what can be read from @fd. Returns 0 or -errno. */
int pp_sha256_fd(int fd, uint8_t hash[PP_SHA256_LEN]);

#endif /* LIBPP_SHA256_H */
