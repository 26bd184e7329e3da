/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBOP_SESSION_OP_SAMPLE_FILE_H
#define LIBOP_SESSION_OP_SAMPLE_FILE_H

/*
 * The description of the counts of a sample file: the bytes that libdb keeps
 * for its user (ODB_USER_SIZE) at the head of each sample file.
 * doc/sample-files.md describes the file as a whole.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libop/base/op_diag.h"

#define OP_SAMPLE_MAGIC 0x4c504d53u /* "SMPL" on a little-endian machine */
#define OP_SAMPLE_VERSION 1

/* The application, of the kernel's names, that the processes of the profiler
 * itself are: the daemon, what it forks, and operf. */
#define OP_SELF_NAME "OProfile itself"

/* The origin of the offset that a key is. */
enum op_image_kind {
	OP_IMAGE_FILE, /* an ELF file: the key is a file offset */
	OP_IMAGE_KERNEL, /* the kernel: pc minus its runtime _stext */
	OP_IMAGE_MODULE, /* a kernel module: pc minus its load address */
	OP_IMAGE_ANON, /* anonymous memory: pc minus its start */
	OP_IMAGE_PSEUDO, /* has no symbols: the key means nothing */
	OP_NR_IMAGE_KINDS
};

/*
 * OP_IMAGE_MODULE: the kernel puts the code that a module runs once while it is
 * loaded (the sections .init*) somewhere else than the rest of the module. This
 * is the key of its first byte, far behind any other code of a module.
 */
#define OP_INIT_CODE_KEY UINT64_C(0x40000000)

struct op_sample_header {
	uint32_t magic; /* OP_SAMPLE_MAGIC */
	uint32_t version; /* OP_SAMPLE_VERSION */
	uint32_t kind; /* enum op_image_kind */
	uint32_t event; /* event code; 0 for the timer */
	uint64_t count; /* reset value; 0 for the timer */
	uint32_t unit_mask;
	uint32_t timer_hz; /* samples per second and CPU of the timer, else 0 */
	uint64_t mtime; /* of the image file, seconds; 0 unknown */
	uint64_t anon_start; /* first address of OP_IMAGE_ANON */
	uint32_t build_id_len; /* bytes, 0 unknown */
	uint8_t build_id[32]; /* with the fingerprint (op_build_id.h) */
	uint32_t cpu_khz; /* 0 unknown */
	char cpu_type[48]; /* such as "timer", zero-terminated */
	/* of the callee's image in call-graph files, else 0 */
	uint64_t cg_mtime; /* like mtime; 0 unknown */
	uint32_t cg_build_id_len;
	uint8_t cg_build_id[32]; /* likewise */
	uint32_t derived; /* 1: counts are no samples, see below */
	uint64_t samples; /* of a derived file: those that are its own */
};

/*
 * The counts of a derived file are not samples: one sample may be in several
 * of them, or add cycles. Each sample is accounted to one of its files, where
 * header.samples counts it.
 */

/* How many samples of the session's account are in a file with that header,
 * whose counts add up to @total. */
static inline uint64_t
op_sample_header_samples(const struct op_sample_header *h, uint64_t total)
{
	return h->magic == OP_SAMPLE_MAGIC && h->derived ? h->samples : total;
}

/* Counts of a file with the header @more are added to those of one with @to:
 * the samples of derived files add up, too; they stay at UINT64_MAX. */
static inline void op_sample_header_add(struct op_sample_header *to,
					const struct op_sample_header *more)
{
	if (to->derived &&
	    __builtin_add_overflow(to->samples, more->samples, &to->samples))
		to->samples = UINT64_MAX;
}

_Static_assert(sizeof(struct op_sample_header) == 192,
	       "the header fills ODB_USER_SIZE exactly");

/*
 * Check a header read from a file: magic, version, ranges, terminators.
 * Returns 0 or -EBADMSG with the reason in @diag. @path is for the reason.
 */
int op_sample_header_check(const struct op_sample_header *header,
			   const char *path, struct op_diag *diag);

/* Whether the sample file @path was renamed for damage: NAME.bad or NAME.bad-2
 * and so on, or by an earlier release NAME.bad.2, or as of another binary:
 * NAME.stale. It counts for nobody. */
bool op_sample_file_is_set_aside(const char *path);

#endif /* LIBOP_SESSION_OP_SAMPLE_FILE_H */
