// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Values of registers along a path through code. A value is known as long as it
 * is a register's value at the start plus a number, or was in the stack then.
 *
 * Stores of the path into the stack are remembered, a few of them: what a
 * prologue pushes the epilogue takes back, and then a register has its value at
 * the start of the path, wherever that is in the function.
 */

#include <stddef.h>

#include "libcfi/code_path.h"

static const struct code_value lost = { .how = CODE_LOST };

void code_path_init(struct code_path *path, const struct code_machine *machine,
		    uint64_t pc)
{
	*path = (struct code_path){ .pc = pc, .machine = machine };
	for (unsigned int i = 0; i < machine->nr_regs; i++)
		path->reg[i] = (struct code_value){ .how = CODE_IN_REG,
						    .reg = i & 31 };
}

/* The value of @reg + @offset, if it is such a sum. */
static struct code_value path_sum(const struct code_path *path,
				  unsigned int reg, int64_t offset)
{
	struct code_value sum = path->reg[reg];

	offset += sum.offset;
	if (sum.how != CODE_IN_REG || offset > CODE_MAX_OFFSET ||
	    offset < -CODE_MAX_OFFSET)
		return lost;
	sum.offset = (int)offset;
	return sum;
}

/* Below the stack pointer, which was moved up, is nothing any more. */
static void drop_stores(struct code_path *path)
{
	const unsigned int sp = path->machine->sp;
	const struct code_value top = path->reg[sp];

	for (unsigned int i = 0; i < CODE_MAX_STORES; i++) {
		struct code_value *place = &path->store[i].place;

		if (place->how == CODE_IN_REG && place->reg == top.reg &&
		    place->offset < top.offset)
			*place = lost;
	}
}

void code_path_set_sum(struct code_path *path, unsigned int reg,
		       unsigned int from, int64_t offset)
{
	const struct code_value before = path->reg[reg];
	struct code_value *now = &path->reg[reg];

	*now = offset ? path_sum(path, from, offset) : path->reg[from];
	if (reg != path->machine->sp)
		return;
	path->is_popped =
		now->how == CODE_IN_REG && before.how == CODE_IN_REG &&
		(now->reg != before.reg || now->offset > before.offset);
	if (path->is_popped && now->reg == before.reg)
		drop_stores(path);
}

void code_path_lose(struct code_path *path, unsigned int reg)
{
	path->reg[reg] = lost;
}

static struct code_store *find_store(struct code_path *path,
				     struct code_value place)
{
	for (unsigned int i = 0; i < CODE_MAX_STORES; i++)
		if (code_value_equal(path->store[i].place, place))
			return &path->store[i];
	return NULL;
}

/* Below the stack pointer at the start, only what the path has stored is known.
 */
void code_path_load(struct code_path *path, unsigned int reg, unsigned int base,
		    int64_t offset)
{
	struct code_value place = path_sum(path, base, offset);
	const struct code_store *store = find_store(path, place);

	path->reg[reg] = lost;
	if (place.how == CODE_LOST)
		return;
	if (store) {
		path->reg[reg] = store->value;
	} else if (place.reg != path->machine->sp || place.offset >= 0) {
		place.how = CODE_IN_MEMORY;
		path->reg[reg] = place;
	}
}

static bool is_saved_register(const struct code_machine *machine,
			      unsigned int reg)
{
	for (unsigned int i = 0; i < machine->nr_saved; i++)
		if (machine->saved[i] == reg)
			return true;
	return false;
}

/* The one to be overwritten: not what a prologue has pushed, if possible. */
static struct code_store *choose_store(struct code_path *path)
{
	const unsigned int sp = path->machine->sp;
	struct code_store *store = NULL;

	for (unsigned int i = 0; i < CODE_MAX_STORES; i++) {
		store = &path->store[path->next_store];
		path->next_store = (path->next_store + 1) % CODE_MAX_STORES;
		if (store->place.reg != sp || store->place.offset >= 0)
			break;
	}
	return store;
}

/* Other registers than those that are given back matter only where they
 * overwrite one of these. */
void code_path_store(struct code_path *path, unsigned int reg,
		     unsigned int base, int64_t offset)
{
	struct code_value place = path_sum(path, base, offset);
	struct code_store *store;

	if (place.how == CODE_LOST)
		return;
	store = find_store(path, place);
	if (!store && !is_saved_register(path->machine, reg))
		return;
	if (!store)
		store = choose_store(path);
	store->place = place;
	store->value = reg == CODE_NO_REG ? lost : path->reg[reg];
}

void code_path_call(struct code_path *path)
{
	const struct code_machine *machine = path->machine;
	const struct code_value *sp = &path->reg[machine->sp];
	uint64_t kept = (uint64_t)1 << machine->sp;

	for (unsigned int i = 0; i < machine->nr_saved; i++)
		kept |= (uint64_t)1 << machine->saved[i];
	for (unsigned int i = 0; i < machine->nr_regs; i++)
		if (!(kept >> i & 1))
			path->reg[i] = lost;
	if (machine->link != CODE_NO_REG)
		code_path_lose(path, machine->link);
	path->is_popped = false;
	path->is_misaligned |= !code_value_aligned(path->sp_at_call, *sp);
	if (sp->how == CODE_IN_REG)
		path->sp_at_call = *sp;
}

/*
 * How far the frame pointer at the start was above the stack pointer, if what
 * register @reg held is where the path has pushed it. Returns false if the path
 * has not.
 */
static bool find_pushed_gap(const struct code_path *path, unsigned int reg,
			    int *gap)
{
	const struct code_value value = path->reg[reg];

	for (unsigned int i = 0; i < CODE_MAX_STORES; i++) {
		const struct code_store *store = &path->store[i];

		if (store->place.how != CODE_IN_REG ||
		    store->place.reg != path->machine->sp ||
		    store->place.offset >= 0 ||
		    store->value.how != CODE_IN_REG ||
		    store->value.reg != reg || store->value.offset)
			continue;
		*gap = store->place.offset - value.offset;
		return true;
	}
	return false;
}

static bool is_beside_frame(const struct code_path *path, unsigned int reg)
{
	return path->reg[reg].how == CODE_IN_MEMORY &&
	       path->reg[reg].reg != path->machine->sp;
}

/* Whether all that is taken from the frame was either in the stack at the
 * start, or pushed since at the same distance. */
static bool fits_gap(const struct code_path *path, int gap)
{
	const struct code_machine *machine = path->machine;

	for (unsigned int i = 0; i < machine->nr_saved; i++) {
		unsigned int reg = machine->saved[i];
		int other;

		if (!is_beside_frame(path, reg) ||
		    path->reg[reg].offset + gap >= 0)
			continue;
		if (!find_pushed_gap(path, reg, &other) || other != gap)
			return false;
	}
	return true;
}

void code_path_settle(struct code_path *path)
{
	const struct code_machine *machine = path->machine;
	uint64_t pushed = 0;
	int gap;

	for (unsigned int i = 0; i < machine->nr_saved; i++) {
		unsigned int reg = machine->saved[i];

		if (is_beside_frame(path, reg) &&
		    find_pushed_gap(path, reg, &gap) && fits_gap(path, gap))
			pushed |= (uint64_t)1 << reg;
	}
	for (unsigned int reg = 0; pushed >> reg; reg++)
		if (pushed >> reg & 1)
			path->reg[reg] = (struct code_value){
				.how = CODE_IN_REG,
				.reg = reg & 31,
			};
}
