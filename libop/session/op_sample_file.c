// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The check of a sample file's header, and of its name. A header that passes
 * may be used as it is: strings end, lengths fit, enums are in range.
 */

#include "libop/session/op_sample_file.h"

#include <errno.h>
#include <string.h>

static bool is_zero(const void *bytes, size_t len)
{
	const unsigned char *p = bytes;

	while (len && !*p) {
		p++;
		len--;
	}
	return !len;
}

/* A zero-terminated name without blanks or bytes a terminal would act on. */
static bool is_name(const char *text, size_t len)
{
	size_t n = strnlen(text, len);

	if (n == len)
		return false;
	for (size_t i = 0; i < n; i++) {
		if (text[i] <= 0x20 || text[i] >= 0x7f)
			return false;
	}
	return true;
}

static const char *why_not_ours(const struct op_sample_header *header)
{
	if (is_zero(header, sizeof(*header)))
		return "its header was never written";
	if (header->magic == __builtin_bswap32(OP_SAMPLE_MAGIC))
		return "it is from a machine of the other byte order; read it "
		       "on one of that byte order";
	if (header->magic != OP_SAMPLE_MAGIC)
		return "it is not a sample file";
	return NULL;
}

static const char *why_not_sound(const struct op_sample_header *header)
{
	if (header->kind >= OP_NR_IMAGE_KINDS)
		return "damaged: unknown kind of image";
	if (header->build_id_len > sizeof(header->build_id) ||
	    header->cg_build_id_len > sizeof(header->cg_build_id))
		return "damaged: the build-id is too long";
	if (!is_name(header->cpu_type, sizeof(header->cpu_type)))
		return "damaged: the CPU type is no name";
	if (header->derived > 1 || (header->samples && !header->derived))
		return "damaged: it is unclear how its counts are stored";
	return NULL;
}

int op_sample_header_check(const struct op_sample_header *header,
			   const char *path, struct op_diag *diag)
{
	const char *why = why_not_ours(header);

	if (!why && header->version != OP_SAMPLE_VERSION)
		return op_diag_set(diag, -EBADMSG,
				   "%s: a sample file of version %u, not %u; "
				   "use the tools that wrote it",
				   path, header->version, OP_SAMPLE_VERSION);
	if (!why)
		why = why_not_sound(header);
	if (!why)
		return 0;
	return op_diag_set(diag, -EBADMSG, "%s: %s", path, why);
}

bool op_sample_file_is_set_aside(const char *path)
{
	size_t end = strlen(path), digits = 0;

	while (digits < end && path[end - digits - 1] >= '0' &&
	       path[end - digits - 1] <= '9')
		digits++;
	if (digits && digits < end && strchr("-.", path[end - digits - 1]))
		end -= digits + 1;
	return (end >= 4 && !memcmp(path + end - 4, ".bad", 4)) ||
	       (end >= 6 && !memcmp(path + end - 6, ".stale", 6));
}
