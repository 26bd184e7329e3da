/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBOP_KERNEL_OP_KSYMS_FORM_H
#define LIBOP_KERNEL_OP_KSYMS_FORM_H

/*
 * The format of a snapshot of symbols (op_ksyms.h), for
 * libop/kernel/op_ksyms*.c.
 *
 * It begins with a line of text:
 *
 *	oprofile symbols 3 NAME BUILDID SYMBOLS BYTES SIZE
 *
 * NAME is the image's as one word, BUILDID is in hex, "-" for none, SIZE is
 * that of the image in bytes, 0 if it is not known. Behind it, to the end of
 * the file, are BYTES bytes in zlib's format, the columns of SYMBOLS symbols in
 * ascending order of offset:
 *
 *	types	 a byte for each symbol, kallsyms' letter
 *	drops	 a byte for each symbol. 0: its name is the next of the names.
 *		 Else its name is that of the symbol before it without that
 *		 many first bytes: half of a kernel's symbols are paddings that
 *		 are called __pfx_NAME, each before its NAME.
 *	offsets	 for each symbol how many bytes it is behind the one before
 *		 it, the first behind the image's start: seven bits a byte,
 *		 lowest first, the eighth is set where more follow
 *	names	 each ends with a zero byte
 *
 * Nothing depends on a machine's byte order. zlib's checksum tells damage.
 * Snapshots of version 2, which have no SIZE, are read, too, and those of
 * version 1: their first line ends with BUILDID, and lines "OFFSET TYPE NAME"
 * follow (hex, ascending).
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libop/kernel/op_ksyms.h"

#define OP_KSYMS_ID_MAX 32 /* bytes of a build-id */

/* Bytes that a symbol has in the columns beside its name, at least. */
#define OP_KSYMS_COLUMNS_MIN 3

/* An image's @name as one word and path component. 0, -ENAMETOOLONG or
 * -EINVAL for an empty one. */
int op_ksyms_word(char *buf, size_t len, const char *name);

/* Whether @type and @name are fit for a snapshot. *@len: strlen(@name). */
bool op_ksyms_is_fit(char type, const char *name, size_t *len);

/*
 * Fill @ksyms->syms and count them in @ksyms->nr. Their names are in the text
 * or columns, which must stay and behind which is a zero byte.
 *
 * Of text @ksyms->syms has room for all. Text is changed. Returns NULL or what
 * is wrong in line *@line; before, that is the number of the first.
 */
const char *op_ksyms_from_text(struct op_ksyms *ksyms, char *text, size_t len,
			       size_t *line);

/* The columns of @nr symbols have @len bytes, OP_KSYMS_COLUMNS_MIN for each at
 * least; @wanted as in op_ksyms_read_wanted(). @ksyms->syms is made. Returns 0,
 * -EINVAL if they are damaged, or -ENOMEM. */
int op_ksyms_from_columns(struct op_ksyms *ksyms, size_t nr,
			  const char *columns, size_t len,
			  const struct op_ksyms_wanted *wanted);

/* The columns of @ksyms, which are in order and fit: *@len bytes for the caller
 * to free; NULL without memory. */
char *op_ksyms_to_columns(const struct op_ksyms *ksyms, size_t *len);

#endif /* LIBOP_KERNEL_OP_KSYMS_FORM_H */
