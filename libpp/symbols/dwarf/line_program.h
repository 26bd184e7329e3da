/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBPP_SYMBOLS_DWARF_LINE_PROGRAM_H
#define LIBPP_SYMBOLS_DWARF_LINE_PROGRAM_H

/*
 * A line program is what DWARF has in .debug_line for a unit: a header with
 * the names of its files, and instructions that make rows "from this address
 * on, this line". Rows come in sequences of ascending addresses; the last row
 * of a sequence only tells where it ends. DWARF 5, section 6.2.
 */

#include "libpp/symbols/dwarf/dwarf.h"

struct pp_line_header {
	uint64_t offset; /* of the header in .debug_line */
	struct pp_dwarf_form form; /* all but the form */
	uint8_t min_length; /* of an instruction of the machine, bytes */
	uint8_t max_ops; /* at one address; 1 but for VLIW machines */
	int8_t line_base;
	uint8_t line_range; /* not 0 */
	uint8_t opcode_base; /* not 0 */
	const uint8_t *opcode_args; /* opcode_base - 1 numbers */
	struct pp_bytes files; /* the tables of folders and files */
	struct pp_bytes program;
};

/*
 * Read the header at @c, a cursor in .debug_line, which goes behind the whole
 * program, as far as its length makes sense. Returns whether the header does.
 */
bool pp_line_header_read(const struct pp_dwarf *dwarf, struct op_cursor *c,
			 struct pp_line_header *header);

/* The name of a file of a header, in parts; each may be NULL. */
struct pp_line_file {
	const char *name;
	const char *dir; /* of the name, unless that is absolute */
	const char *comp_dir; /* of the dir, likewise; before version 5 NULL */
};

/* Returns whether there is a file @nr. */
bool pp_line_header_file(const struct pp_dwarf *dwarf,
			 const struct pp_line_header *header, uint64_t nr,
			 struct pp_line_file *file);

/* Whether all folders and files of @header have names, as far as it is not the
 * program that tells; before version 5 they stand in the header itself. */
bool pp_line_header_has_names(const struct pp_dwarf *dwarf,
			      const struct pp_line_header *header);

struct pp_line_row {
	uint64_t address;
	uint32_t file;
	uint32_t line; /* 0: code that is of no line */
	uint32_t discriminator; /* of several blocks of code on one line */
	bool is_end; /* of the sequence */
};

/* A program at work; a plain value that can be kept to go on from there. */
struct pp_line_program {
	const struct pp_line_header *header;
	struct op_cursor c;
	uint64_t address;
	uint64_t op_index;
	uint64_t line;
	uint32_t file;
	uint32_t discriminator;
};

/* Start @header's program at byte @at, which is where a sequence starts. */
void pp_line_program_init(struct pp_line_program *program,
			  const struct pp_dwarf *dwarf,
			  const struct pp_line_header *header, size_t at);

/* Make the next row. Returns false at the end and where the program makes no
 * sense; then program->c.failed is set. */
bool pp_line_program_next(struct pp_line_program *program,
			  struct pp_line_row *row);

#endif /* LIBPP_SYMBOLS_DWARF_LINE_PROGRAM_H */
