// SPDX-License-Identifier: GPL-2.0-or-later

#include "libpp/symbols/sha256.h"

#include <errno.h>
#include <unistd.h>

int pp_sha256_fd(int fd, uint8_t hash[PP_SHA256_LEN])
{
	struct sha256_ctx sha;
	uint8_t buf[65536];
	ssize_t got;

	sha256_init(&sha);
	while ((got = read(fd, buf, sizeof(buf))) != 0) {
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		sha256_update(&sha, (size_t)got, buf);
	}
	sha256_digest(&sha, PP_SHA256_LEN, hash);
	return 0;
}
