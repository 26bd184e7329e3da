/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBCFI_CFI_IMAGE_H
#define LIBCFI_CFI_IMAGE_H

/*
 * The parts of an ELF file that call frame information needs: the segments of
 * code, and the sections with the information, unpacked.
 */

#include <stddef.h>
#include <stdint.h>

#include "libcfi/cfi.h"
#include "libop/image/op_elf.h"

#define CFI_MAX_SEGMENTS 64
#define CFI_MAX_PLTS 8

/* A part of the file that is loaded: its address, and bytes of the file. */
struct cfi_segment {
	uint64_t addr;
	uint64_t offset;
	uint64_t len;
	bool is_code;
};

/* @bytes is NULL if there is none. */
struct cfi_section {
	uint8_t *bytes;
	size_t len;
	uint64_t addr; /* of bytes[0] */
	bool is_debug; /* laid out as .debug_frame, else as .eh_frame */
	bool is_open; /* a zero word ends it, which only pads it elsewhere */
};

/* A procedure linkage table: many small functions that have one FDE. */
struct cfi_plt {
	uint64_t addr;
	uint64_t len;
};

struct cfi_image {
	enum cfi_arch arch;
	bool has_go; /* code that Go has compiled */
	uint64_t entry; /* address of the first instruction */
	/*
	 * Address of the 2 instructions that a signal handler returns to, 0:
	 * none. The kernel's own, in the [vdso], have no data on AArch64.
	 */
	uint64_t sigreturn;
	unsigned int nr_segments;
	struct cfi_segment segment[CFI_MAX_SEGMENTS];
	unsigned int nr_plts;
	struct cfi_plt plt[CFI_MAX_PLTS]; /* where section headers tell */
	struct cfi_section eh_frame;
	struct cfi_section debug_frame;
};

/* Returns 0, -EBADMSG, -ENOMEM or why the file cannot be read. */
int cfi_image_load(struct cfi_image *image, const struct op_elf *elf,
		   struct op_diag *diag);
void cfi_image_release(struct cfi_image *image);

/* The segment whose bytes of the file hold @addr, or NULL. */
const struct cfi_segment *cfi_image_segment(const struct cfi_image *image,
					    uint64_t addr);

/* Whether @addr is in a procedure linkage table. */
bool cfi_image_is_plt(const struct cfi_image *image, uint64_t addr);

#endif /* LIBCFI_CFI_IMAGE_H */
