/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBPP_SYMBOLS_SHA256_H
#define LIBPP_SYMBOLS_SHA256_H

/* The hash function SHA-256 (FIPS 180-4), which nettle computes, of files. */

#include <stdint.h>

#include <nettle/sha2.h>

#define PP_SHA256_LEN SHA256_DIGEST_SIZE /* bytes */

/* Hash what can be read from @fd. Returns 0 or -errno. */
int pp_sha256_fd(int fd, uint8_t hash[PP_SHA256_LEN]);

#endif /* LIBPP_SYMBOLS_SHA256_H */
