/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBPP_SYMBOLS_ELF_DIGEST_H
#define LIBPP_SYMBOLS_ELF_DIGEST_H

/*
 * The digest of a binary: what names and places of its code are read from,
 * without the code. It is an ELF file with the same section headers, but those
 * of code and data have no contents (SHT_NOBITS) and keep the file offset that
 * they had, because keys of sample files are such offsets. Symbols, notes, the
 * debug sections that names and lines are read from, the table of where
 * functions begin or, of a stripped binary without that, what it is made of,
 * and what the names of the procedure linkage table are made from, have
 * contents. A section PP_ELF_DIGEST tells a digest from a file that lost its
 * code in another way, whose offsets mean nothing; it has the fingerprint of
 * the binary (libop/image/op_fingerprint.h), if that is known.
 */

#include "libop/image/op_elf.h"

#define PP_ELF_DIGEST OP_ELF_DIGEST

/* Another one for each change of what a digest of the same binary has. */
#define PP_ELF_DIGEST_VERSION 5

/* Bytes of a section that stands in for the symbols of a stripped binary: a
 * larger one is neither read nor kept. */
#define PP_FUNCTION_TABLE_MAX (UINT64_C(64) << 20)

/* Sections that have the names of Go's functions (op_bfd_go.c). In a program
 * that has the note, and none of the first two, the third one may. */
#define PP_GO_TABLE ".gopclntab"
#define PP_GO_TABLE_RELRO ".data.rel.ro.gopclntab"
#define PP_GO_RELRO ".data.rel.ro"
#define PP_GO_NOTE ".note.go.buildid"

/*
 * Write the digest of the binary @from to the empty file @to; both are
 * descriptors. Returns 0; -ENOEXEC, with some bytes written perhaps, when
 * @from is no sound ELF file; or -errno.
 */
int pp_elf_digest(int from, int to);

#endif /* LIBPP_SYMBOLS_ELF_DIGEST_H */
