// SPDX-License-Identifier: GPL-2.0-or-later
/* The file is read as a whole: what it says of one sample may be anywhere. */

#include "pp/opimport_foreign.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libop/op_file.h"
#include "pp/opimport_callgrind.h"
#include "pp/opimport_folded.h"
#include "pp/opimport_input.h"
#include "pp/opimport_legacy.h"
#include "pp/opimport_pprof.h"

#define MAX_BYTES (INT64_C(8) << 30)
#define LOOKED_AT 4096

struct bytes {
	char *data; /* a zero byte follows */
	size_t len;
};

static int read_all(struct bytes *bytes, int fd)
{
	struct stat st;
	int err;

	if (fstat(fd, &st))
		return -errno;
	if (!st.st_size)
		return -ENODATA;
	if (st.st_size > MAX_BYTES)
		return -EFBIG;
	bytes->len = (size_t)st.st_size;
	bytes->data = malloc(bytes->len + 1);
	if (!bytes->data)
		return -ENOMEM;
	err = op_file_read_at(fd, bytes->data, bytes->len, 0);
	bytes->data[bytes->len] = '\0';
	return err;
}

static int read_input(struct bytes *bytes, const struct opimport_input *input,
		      struct op_diag *diag)
{
	int err = input->err ?: read_all(bytes, input->fd);

	return err ? opimport_input_refuse(input, err, diag) : 0;
}

/* Messages of protobuf have tags below ' ' everywhere. */
static bool is_text(const struct bytes *bytes)
{
	size_t nr = bytes->len < LOOKED_AT ? bytes->len : LOOKED_AT;

	for (size_t i = 0; i < nr; i++) {
		unsigned char c = (unsigned char)bytes->data[i];

		if ((c < ' ' || c == 0x7f) && !strchr("\t\r\n", c))
			return false;
	}
	return nr;
}

static const char *foreign_format(const struct bytes *bytes)
{
	if (!is_text(bytes))
		return "pprof";
	return opimport_is_callgrind(bytes->data) ? "callgrind" : "folded";
}

/* Tell @profile all of @bytes. */
static int tell_profile(struct opimport_profile *profile, const char *path,
			struct bytes *bytes, struct op_diag *diag)
{
	if (is_text(bytes) && opimport_is_callgrind(bytes->data))
		return opimport_callgrind(profile, path, bytes->data,
					  bytes->len, diag);
	if (is_text(bytes))
		return opimport_folded(profile, path, bytes->data, bytes->len,
				       diag);
	return opimport_pprof(profile, path, (const uint8_t *)bytes->data,
			      bytes->len, diag);
}

int opimport_foreign(const struct opimport_into *into,
		     const struct opimport_input *input, struct op_diag *diag)
{
	struct opimport_profile *profile = NULL;
	struct bytes bytes = { NULL, 0 };
	int err = read_input(&bytes, input, diag);

	if (!err)
		err = opimport_refuse_legacy(input->path, bytes.data, bytes.len,
					     diag);
	if (!err)
		err = opimport_profile_new(&profile, into,
					   foreign_format(&bytes), diag);
	if (!err)
		err = tell_profile(profile, input->path, &bytes, diag);
	free(bytes.data);
	if (!err)
		err = opimport_profile_end(profile, diag);
	opimport_profile_free(profile);
	return err;
}
