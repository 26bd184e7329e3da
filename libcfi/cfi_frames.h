/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBCFI_CFI_FRAMES_H
#define LIBCFI_CFI_FRAMES_H

/*
 * The entries of .eh_frame and .debug_frame: each description of a function
 * (FDE) names one of what many have in common (CIE). Both hold instructions
 * that cfi_program.h runs. Nothing is copied: all lives as long as the section.
 */

#include "libcfi/cfi_image.h"

struct cfi_cie {
	const uint8_t *insns;
	size_t insns_len;
	uint64_t code_align;
	int64_t data_align;
	uint64_t ra; /* the column that stands for the return address */
	uint8_t encoding; /* of addresses in FDEs */
	bool is_signal; /* code that a signal handler returns to */
	bool has_data; /* FDEs have a length and bytes of augmentation */
};

struct cfi_fde {
	uint64_t start; /* addresses */
	uint64_t end;
	const uint8_t *insns;
	size_t insns_len;
	const struct cfi_section *section;
	struct cfi_cie cie;
};

struct cfi_frames {
	const struct cfi_section *section;
	size_t at; /* of the next entry */
	size_t cie_at; /* of @cie, SIZE_MAX: none */
	bool cie_bad;
	struct cfi_cie cie;
};

void cfi_frames_init(struct cfi_frames *frames,
		     const struct cfi_section *section);

/*
 * The next FDE, those that are damaged left out; *@at is its place. Returns
 * false at the end.
 */
bool cfi_frames_next(struct cfi_frames *frames, struct cfi_fde *fde,
		     size_t *at);

/* The FDE whose place is @at, once more. */
bool cfi_frames_at(struct cfi_frames *frames, size_t at, struct cfi_fde *fde);

#endif /* LIBCFI_CFI_FRAMES_H */
