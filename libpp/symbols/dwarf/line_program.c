// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Runs line programs (DWARF 5, section 6.2.5): a program changes the state of
 * a small machine (address, file, line) and now and then makes a row of it.
 * Rows come one by one, so a caller keeps only those that it wants. Operations
 * that change nothing but columns or flags of statements are skipped by their
 * number of arguments, as are those of later versions. The program ends at its
 * end or where it makes no sense.
 */

#include "libpp/symbols/dwarf/line_program.h"

enum {
	DW_LNS_copy = 1,
	DW_LNS_advance_pc = 2,
	DW_LNS_advance_line = 3,
	DW_LNS_set_file = 4,
	DW_LNS_const_add_pc = 8,
	DW_LNS_fixed_advance_pc = 9,

	DW_LNE_end_sequence = 1,
	DW_LNE_set_address = 2,
	DW_LNE_set_discriminator = 4,
};

static void reset_line_state(struct pp_line_program *p)
{
	p->address = 0;
	p->op_index = 0;
	p->file = 1;
	p->line = 1;
	p->discriminator = 0;
}

void pp_line_program_init(struct pp_line_program *p,
			  const struct pp_dwarf *dwarf,
			  const struct pp_line_header *header, size_t at)
{
	p->header = header;
	p->c = pp_dwarf_cursor(dwarf, &header->program, at);
	reset_line_state(p);
}

static void advance_address(struct pp_line_program *p, uint64_t operations)
{
	const struct pp_line_header *h = p->header;

	if (h->max_ops == 1) {
		p->address += h->min_length * operations;
		return;
	}
	operations += p->op_index;
	p->address += h->min_length * (operations / h->max_ops);
	p->op_index = operations % h->max_ops;
}

/* A discriminator is of one row. */
static void make_line_row(struct pp_line_program *p, struct pp_line_row *row,
			  bool is_end)
{
	row->address = p->address;
	row->file = p->file;
	/* A negative line is none. */
	row->line = p->line <= INT32_MAX ? (uint32_t)p->line : 0;
	row->discriminator = p->discriminator;
	row->is_end = is_end;
	p->discriminator = 0;
}

/* Returns whether there is a row. */
static bool run_extended(struct pp_line_program *p, struct pp_line_row *row)
{
	uint64_t len = op_cursor_uleb(&p->c);
	struct op_cursor args = op_cursor_part(&p->c, len);
	uint64_t nr;

	if (args.failed || !len)
		return false;
	switch (op_cursor_u8(&args)) {
	case DW_LNE_end_sequence:
		make_line_row(p, row, true);
		reset_line_state(p);
		return true;
	case DW_LNE_set_address:
		if (op_cursor_left(&args) > 8)
			op_cursor_fail(&p->c);
		else
			p->address =
				op_cursor_number(&args, op_cursor_left(&args));
		p->op_index = 0;
		return false;
	case DW_LNE_set_discriminator:
		nr = op_cursor_uleb(&args);
		p->discriminator = nr <= UINT32_MAX ? (uint32_t)nr : 0;
		return false;
	default:
		return false;
	}
}

/* Returns whether there is a row. */
static bool run_standard(struct pp_line_program *p, uint8_t opcode,
			 struct pp_line_row *row)
{
	const struct pp_line_header *h = p->header;
	uint64_t nr;

	switch (opcode) {
	case DW_LNS_copy:
		make_line_row(p, row, false);
		return true;
	case DW_LNS_advance_pc:
		advance_address(p, op_cursor_uleb(&p->c));
		return false;
	case DW_LNS_advance_line:
		p->line += (uint64_t)op_cursor_sleb(&p->c);
		return false;
	case DW_LNS_set_file:
		nr = op_cursor_uleb(&p->c);
		p->file = nr <= UINT32_MAX ? (uint32_t)nr : 0;
		return false;
	case DW_LNS_const_add_pc:
		advance_address(p, (255u - h->opcode_base) / h->line_range);
		return false;
	case DW_LNS_fixed_advance_pc:
		p->address += op_cursor_number(&p->c, 2);
		p->op_index = 0;
		return false;
	default:
		for (uint8_t i = h->opcode_args[opcode - 1]; i; i--)
			op_cursor_uleb(&p->c);
		return false;
	}
}

static void run_special(struct pp_line_program *p, uint8_t opcode,
			struct pp_line_row *row)
{
	const struct pp_line_header *h = p->header;
	unsigned int adjusted = opcode - h->opcode_base;

	advance_address(p, adjusted / h->line_range);
	p->line += (uint64_t)(int64_t)(h->line_base +
				       (int)(adjusted % h->line_range));
	make_line_row(p, row, false);
}

bool pp_line_program_next(struct pp_line_program *p, struct pp_line_row *row)
{
	while (p->c.at < p->c.end) {
		uint8_t opcode = *p->c.at++;

		if (opcode >= p->header->opcode_base) {
			run_special(p, opcode, row);
			return true;
		}
		if (opcode ? run_standard(p, opcode, row)
			   : run_extended(p, row))
			return !p->c.failed;
	}
	return false;
}
