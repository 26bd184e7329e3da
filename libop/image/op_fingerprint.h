/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBOP_IMAGE_OP_FINGERPRINT_H
#define LIBOP_IMAGE_OP_FINGERPRINT_H

/*
 * The fingerprint of a binary: 64 bits of what samples are assigned by. A
 * build-id does not always identify the code. A linker sets any build-id that
 * it is told to, and llvm-bolt gives each rearrangement of a program the same
 * one, so that one build-id may stand for two files whose functions are at
 * different places.
 *
 * The fingerprint covers the machine, the class, the executable segments with
 * some of their pages, the table of functions of .eh_frame_hdr, and the dynamic
 * symbols. strip(1) changes none of these, so that a program and its stripped
 * twin have one fingerprint. It is no checksum of the file: in code of more
 * than 64 KiB, changes that move no function may be missed. It is no proof
 * against an author who wants two files to have one fingerprint, either.
 */

#include <stdint.h>

#include "libop/image/op_elf.h"

/*
 * *@out = the fingerprint of @elf, the same on each machine; 0: there is none,
 * because it is a relocatable or a debug file, or damaged. Of a digest
 * (libpp/symbols/elf_digest.h) it is that of its binary. At most 3 MiB are
 * read. Returns 0, or -errno with 0 in *@out if the file cannot be read.
 */
int op_fingerprint(const struct op_elf *elf, uint64_t *out);

#endif /* LIBOP_IMAGE_OP_FINGERPRINT_H */
