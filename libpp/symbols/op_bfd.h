/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBPP_SYMBOLS_OP_BFD_H
#define LIBPP_SYMBOLS_OP_BFD_H

/*
 * Binaries as libbfd sees them. The files op_bfd*.c alone include bfd.h.
 *
 * Strings that are handed out belong to the handle and go with it. libbfd
 * keeps state of its own, so one thread at a time may use it; what it would
 * print is thrown away.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libop/base/op_diag.h"
#include "libpp/symbols/debuginfod.h"
#include "libpp/symbols/symtab.h"

struct op_bfd;

/* Where separate debug files are looked for. */
struct op_debug_places {
	const char *dirs[5]; /* folders such as /usr/lib/debug; ended by NULL */
	struct pp_debuginfod *server; /* asked last; or NULL */
	bool only_own; /* none but those that op_is_own_file() */
	const char *root; /* of an archive: what binaries name is below it; or
			     NULL */
};

/*
 * Open the binary at @path. @places must outlive it. *@out is set on success
 * only. Returns 0; -ENOENT, -EACCES and the like when it cannot be read;
 * -ENOEXEC when it is no object file; -ENOMEM.
 */
int op_bfd_open(struct op_bfd **out, const char *path,
		const struct op_debug_places *places);
void op_bfd_close(struct op_bfd *bfd);

/* The same for the open file @fd at @path, which becomes the handle's, or is
 * closed. */
int op_bfd_take(struct op_bfd **out, const char *path, int fd,
		const struct op_debug_places *places);

/*
 * Whether something that belongs to the binary could not be read until now,
 * though it is there: a disk that fails, descriptors that ran out. Then symbols
 * or lines are missing. Returns 0, as without a binary (NULL), or the first
 * -errno with the file in *@path, which may be NULL.
 */
int op_bfd_fault(const struct op_bfd *bfd, const char **path);

/* The binary's build-id and its length in bytes; NULL when it has none. */
const uint8_t *op_bfd_build_id(const struct op_bfd *bfd, size_t *len);

/* The binary's fingerprint (libop/image/op_fingerprint.h), 0 if it is not
 * known. */
uint64_t op_bfd_fingerprint(const struct op_bfd *bfd);

/* Where it was opened. */
const char *op_bfd_path(const struct op_bfd *bfd);

/* Seconds of the binary's last modification. */
uint64_t op_bfd_mtime(const struct op_bfd *bfd);

/* Where symbols came from. */
enum op_bfd_origin {
	OP_BFD_NONE, /* there are none */
	OP_BFD_DYNAMIC, /* stripped: only the exported ones */
	OP_BFD_DEBUG_FILE, /* stripped, but a separate debug file was found */
	OP_BFD_PACKED, /* stripped, but with a packed table of its functions */
	OP_BFD_GO, /* stripped, but with the table of Go for tracebacks */
	OP_BFD_OWN,
};

/*
 * The code symbols, with names for the entries of the procedure linkage
 * table. With @unnamed the functions of a stripped binary that have no symbol
 * are among them, called by their address, "(0x4a10)". *@out is an array of
 * *@nr that the caller frees. Keys and limits are file offsets. Returns 0 or
 * -ENOMEM; damaged tables count as absent.
 */
int op_bfd_symbols(struct op_bfd *bfd, bool unnamed, struct pp_raw_symbol **out,
		   size_t *nr, enum op_bfd_origin *origin);

/* The binary's separate debug file, looked for now if it was not needed yet;
 * NULL when there is none. */
const char *op_bfd_debug_path(struct op_bfd *bfd);

/* The name that the binary gives its separate debug file, for the caller to
 * free, and the checksum that file has in *@crc, unless that is NULL; NULL when
 * it gives none, or memory is short. */
char *op_bfd_debug_name(const struct op_bfd *bfd, uint32_t *crc);

/*
 * The file that the debug file shares with others, as dwz(1) makes them, with
 * its build-id; NULL when there is none.
 */
const char *op_bfd_shared_path(struct op_bfd *bfd, const uint8_t **build_id,
			       size_t *len);

/* Do without the separate debug file. To be called before symbols are read. */
void op_bfd_drop_debug(struct op_bfd *bfd);

/* The address that file offset @offset is loaded at; @offset itself when it
 * is in no section with code. */
uint64_t op_bfd_vma(const struct op_bfd *bfd, uint64_t offset);

/*
 * The lowest vma of code; 0 without code. A file that is not linked, such as a
 * kernel module's, has no addresses. What this header calls a vma is counted
 * there from the offset of the first section of code, and the sections follow
 * one another as the kernel loads them: .init sections, which may be between
 * others in the file, are apart from them and begin OP_INIT_CODE_KEY
 * (op_sample_file.h) behind that first one. Any of them, .text as well, may be
 * empty.
 */
uint64_t op_bfd_first_code(const struct op_bfd *bfd);

/* Copy the @len bytes of code at @vma. Returns false when they are not all
 * there. */
bool op_bfd_code(const struct op_bfd *bfd, uint64_t vma, uint64_t len,
		 uint8_t *code);

/*
 * Source file and line of address @vma, from the binary or its debug file; the
 * line is 0 for code that the compiler made of no line. Ascending addresses
 * are looked up fastest. Returns false when not known.
 */
bool op_bfd_line(struct op_bfd *bfd, uint64_t vma, const char **file,
		 unsigned int *line);

/*
 * Source file and line where the function with address @vma is declared: its
 * first instruction may be of another line, that of a function which was
 * inlined there. Returns false when not known.
 */
bool op_bfd_declared(struct op_bfd *bfd, uint64_t vma, const char **file,
		     unsigned int *line);

/* Which of several blocks of code on one line the code at @vma is of, as the
 * compiler numbered them; 0 for the first and where that is not known. */
unsigned int op_bfd_discriminator(struct op_bfd *bfd, uint64_t vma);

/* A function that was inlined. */
struct op_bfd_inlined {
	const char *name; /* as linkers have it where that is known */
	uint64_t code; /* else an address whose symbol is that name; 0: none */
	const char *file, *call_file; /* where it is declared, and where it was
					 inlined; NULL when not known */
	unsigned int line, call_line;
	unsigned int call_discriminator; /* of several calls on that line */
};

/*
 * Put the functions that were inlined at @vma into @out, the innermost first,
 * @max at most; what they were inlined into is not among them. Ascending
 * addresses are looked up fastest. Returns how many.
 */
#define OP_BFD_MAX_INLINED 64
size_t op_bfd_inlined(struct op_bfd *bfd, uint64_t vma,
		      struct op_bfd_inlined *out, size_t max);

/* Likewise the function with address @vma itself, which is not inlined there.
 * Returns false when not known. */
bool op_bfd_function(struct op_bfd *bfd, uint64_t vma,
		     struct op_bfd_inlined *out);

/* Whether there is something that tells inlined functions. */
bool op_bfd_has_inlines(struct op_bfd *bfd);

/* Whether those of an address that was asked for may be missing, as they are in
 * files of split DWARF. */
bool op_bfd_lacks_split(const struct op_bfd *bfd);

/* How many parts of the line table make no sense. */
size_t op_bfd_lines_damaged(struct op_bfd *bfd);

#endif /* LIBPP_SYMBOLS_OP_BFD_H */
