// SPDX-License-Identifier: GPL-2.0-or-later
/* The file is read as a whole: what it says of one sample may be anywhere. */

#include "pp/opimport/opimport_foreign.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libop/files/op_file.h"
#include "pp/opimport/opimport_callgrind.h"
#include "pp/opimport/opimport_folded.h"
#include "pp/opimport/opimport_input.h"
#include "pp/opimport/opimport_legacy.h"
#include "pp/opimport/opimport_pprof.h"

#define MAX_BYTES (INT64_C(8) << 30)
#define LOOKED_AT 4096
#define TEXT_PER_CONTROL 20 /* bytes of text for each control byte in it */
#define BYTE_ORDER_MARK "\xef\xbb\xbf"

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

/* ---- text or a message ----------------------------------------------------
 */

/* Read a number of protobuf at *@at. */
static bool skip_varint(const struct bytes *bytes, size_t *at, uint64_t *number)
{
	*number = 0;
	for (unsigned int shift = 0; shift < 64; shift += 7) {
		uint8_t byte;

		if (*at == bytes->len)
			return false;
		byte = (uint8_t)bytes->data[(*at)++];
		*number |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80)
			return true;
	}
	return false;
}

/* Whether all the bytes are fields as a profile of pprof has them: numbers, and
 * what has a length. */
static bool is_message(const struct bytes *bytes)
{
	uint64_t tag, number;
	size_t at = 0;

	while (at < bytes->len) {
		if (!skip_varint(bytes, &at, &tag) || !(tag >> 3) ||
		    !skip_varint(bytes, &at, &number))
			return false;
		if ((tag & 7) == 2 && number <= bytes->len - at)
			at += number;
		else if (tag & 7)
			return false;
	}
	return true;
}

/*
 * Messages of protobuf have tags below ' ' everywhere, and the names in a text
 * may have single such bytes: anonymous classes of PHP have zero bytes.
 */
static bool is_text(const struct bytes *bytes)
{
	size_t nr = bytes->len < LOOKED_AT ? bytes->len : LOOKED_AT;
	size_t nr_control = 0;

	for (size_t i = 0; i < nr; i++) {
		unsigned char c = (unsigned char)bytes->data[i];

		nr_control += (c < ' ' && !memchr("\t\r\n", c, 3)) || c == 0x7f;
	}
	return !nr_control ||
	       (nr_control <= nr / TEXT_PER_CONTROL && !is_message(bytes));
}

/* Leave out the mark of UTF-8 at the start, and have zero bytes end nothing. */
static void clean_text(struct bytes *bytes)
{
	if (!strncmp(bytes->data, BYTE_ORDER_MARK, strlen(BYTE_ORDER_MARK))) {
		bytes->len -= strlen(BYTE_ORDER_MARK);
		memmove(bytes->data, bytes->data + strlen(BYTE_ORDER_MARK),
			bytes->len + 1);
	}
	for (char *c = bytes->data;
	     (c = memchr(c, '\0', bytes->len - (size_t)(c - bytes->data)));)
		*c = '?';
}

/* ---- all of it ----------------------------------------------------------- */

enum foreign_format { FOREIGN_PPROF, FOREIGN_CALLGRIND, FOREIGN_FOLDED };

static const char *const format_names[] = {
	[FOREIGN_PPROF] = "pprof",
	[FOREIGN_CALLGRIND] = "callgrind",
	[FOREIGN_FOLDED] = "folded",
};

static enum foreign_format find_format(struct bytes *bytes)
{
	if (!is_text(bytes))
		return FOREIGN_PPROF;
	clean_text(bytes);
	return opimport_is_callgrind(bytes->data) ? FOREIGN_CALLGRIND
						  : FOREIGN_FOLDED;
}

/* Tell @profile all of @bytes. */
static int parse_foreign_profile(struct opimport_profile *profile,
				 const char *path, struct bytes *bytes,
				 enum foreign_format format,
				 struct op_diag *diag)
{
	switch (format) {
	case FOREIGN_CALLGRIND:
		return opimport_callgrind(profile, path, bytes->data,
					  bytes->len, diag);
	case FOREIGN_FOLDED:
		return opimport_folded(profile, path, bytes->data, bytes->len,
				       diag);
	default:
		return opimport_pprof(profile, path,
				      (const uint8_t *)bytes->data, bytes->len,
				      diag);
	}
}

int opimport_foreign(const struct opimport_into *into,
		     const struct opimport_input *input, struct op_diag *diag)
{
	struct opimport_profile *profile = NULL;
	enum foreign_format format = FOREIGN_PPROF;
	struct bytes bytes = { NULL, 0 };
	int err = read_input(&bytes, input, diag);

	if (!err)
		err = opimport_refuse_legacy(input->path, bytes.data, bytes.len,
					     diag);
	if (!err) {
		format = find_format(&bytes);
		err = opimport_profile_new(&profile, into, format_names[format],
					   diag);
	}
	if (!err)
		err = parse_foreign_profile(profile, input->path, &bytes,
					    format, diag)
			      ?: opimport_profile_error(profile);
	if (err == -EOVERFLOW)
		op_diag_set(
			diag, err,
			"%s: its counts add up to 2^64 samples or more; divide all of them by one number",
			input->path);
	free(bytes.data);
	if (!err && opimport_profile_is_nowhere(profile))
		fprintf(stderr,
			"opimport: warning: %s: none of its samples has a stack, so that reports have nothing to show\n",
			input->path);
	if (!err)
		err = opimport_profile_end(profile, diag);
	opimport_profile_free(profile);
	return err;
}
