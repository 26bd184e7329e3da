// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Converts one sample file. Keys stay as they are: offsets in files, and for
 * the kernel, its modules and anonymous memory offsets from where they start;
 * but those in JIT code become offsets in its file. In call-graph files caller
 * and callee share a key, 32 bits each; the header describes the caller.
 */

#include "pp/opimport/opimport_file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "libdb/odb.h"
#include "libop/session/op_sample_file.h"

_Static_assert(sizeof(struct op_sample_header) == ODB_USER_SIZE,
	       "the header is the database's user part");

bool opimport_ends_with(const char *text, const char *end)
{
	size_t len = strlen(text), end_len = strlen(end);

	return len >= end_len && !strcmp(text + len - end_len, end);
}

static enum op_image_kind
kind_of_classic(const struct op_classic_header *header,
		const struct op_mangle *name)
{
	/* Keys are offsets in this image: in call graphs that of the caller. */
	const struct op_image_name *image = name ? &name->dep : NULL;

	if (!image && header->is_kernel)
		return OP_IMAGE_KERNEL;
	if (!image)
		return header->anon_start ? OP_IMAGE_ANON : OP_IMAGE_FILE;
	if (image->space == OP_SPACE_ANON)
		return OP_IMAGE_ANON;
	if (image->space == OP_SPACE_KERN)
		/* The kernel's samples without a vmlinux, a hypervisor's. */
		return !strcmp(image->name, "no-vmlinux") ||
				       !strcmp(image->name, "xen-unknown")
			       ? OP_IMAGE_PSEUDO
			       : OP_IMAGE_MODULE;
	if (!header->is_kernel)
		return OP_IMAGE_FILE;
	return opimport_ends_with(image->name, ".ko") ? OP_IMAGE_MODULE
						      : OP_IMAGE_KERNEL;
}

static void convert_header(struct op_sample_header *to,
			   const struct op_classic_header *from,
			   const struct op_mangle *name,
			   struct opimport_result *result)
{
	const char *cpu = op_classic_cpu_name(from->version, from->cpu_type);

	memset(to, 0, sizeof(*to));
	to->magic = OP_SAMPLE_MAGIC;
	to->version = OP_SAMPLE_VERSION;
	to->kind = kind_of_classic(from, name);
	to->event = from->event;
	to->count = from->count;
	to->unit_mask = from->unit_mask;
	to->mtime = from->mtime;
	to->anon_start = from->anon_start;
	to->cpu_khz = from->cpu_khz;
	snprintf(to->cpu_type, sizeof(to->cpu_type), "%s", cpu ?: "unknown");
	if (!cpu)
		result->unknown_cpu_type = from->cpu_type + 1;
}

/* ---- keys ---------------------------------------------------------------- */

/* The next sample of @part; as op_classic_next(). */
static bool next_sample(const struct op_classic *classic,
			const struct opimport_part *part, uint64_t *at,
			uint64_t *key, uint64_t *count)
{
	while (op_classic_next(classic, at, key, count)) {
		uint64_t offset = *key;

		if (part &&
		    opimport_jit_find(part->jit, *key, &offset) != part->inside)
			continue;
		*key = offset;
		return true;
	}
	return false;
}

static int add_samples(struct odb *odb, const struct op_classic *classic,
		       const struct opimport_part *part,
		       struct opimport_result *result)
{
	uint64_t key, count;
	int err = 0;

	for (uint64_t at = 0;
	     !err && next_sample(classic, part, &at, &key, &count);) {
		err = odb_add(odb, key, count);
		result->nr_keys++;
		if (__builtin_add_overflow(result->samples, count,
					   &result->samples))
			result->samples = UINT64_MAX;
	}
	return err;
}

/* ---- files --------------------------------------------------------------- */

static int convert_file(const struct op_classic *classic, const char *to,
			const struct op_mangle *name,
			const struct opimport_part *part,
			struct opimport_result *result, struct op_diag *diag)
{
	bool into_jit = part && part->inside;
	struct op_sample_header header;
	struct odb *odb;
	int err = odb_open(&odb, to, ODB_RDWR);

	if (!err) {
		convert_header(&header, &classic->header, name, result);
		if (into_jit) {
			header.mtime = part->jit->mtime;
			header.anon_start = 0;
		}
		memcpy(odb_user(odb), &header, sizeof(header));
		err = add_samples(odb, classic, part, result);
		odb_close(odb);
		if (err && !into_jit)
			unlink(to);
	}
	if (!err)
		return 0;
	result->unwritten = true;
	return op_diag_set(diag, err, "%s: cannot be written: %s", to,
			   strerror(-err));
}

int opimport_file(const char *from, const char *to,
		  const struct op_mangle *name,
		  const struct op_classic_abi *abi,
		  const struct opimport_part *part,
		  struct opimport_result *result, struct op_diag *diag)
{
	struct op_classic classic;
	uint64_t at = 0, key, count;
	int err;

	memset(result, 0, sizeof(*result));
	if (!(part && part->inside) && !access(to, F_OK))
		return op_diag_set(
			diag, -EEXIST,
			"%s: already exists; remove it, or name another", to);
	err = op_classic_open(&classic, from, abi, diag);
	if (err)
		return err;
	if (!part || next_sample(&classic, part, &at, &key, &count))
		err = convert_file(&classic, to, name, part, result, diag);
	op_classic_close(&classic);
	return err;
}
