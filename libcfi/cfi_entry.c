// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Follows a function from its entry to an instruction, to see which frame the
 * function has there.
 *
 * The way from a program counter to a return may lead through a call that never
 * returns, and then through another function. The way from the entry of the
 * function that the caller has called cannot: what has been pushed on the way
 * is the frame. Where both agree the caller is the right one.
 *
 * All ways are followed, each instruction once, calls as if they returned. The
 * work is bounded by the number of instructions and their distance from the
 * entry. Nothing is allocated.
 */

#include <string.h>

#include "libcfi/cfi_return.h"
#include "libcfi/code_lines.h"
#include "libcfi/code_path.h"

#define MAX_ENTRY_INSNS 2000
#define MAX_ENTRY_PATHS 64
#define ENTRY_REACH (32 << 10) /* bytes before and after the entry */

struct entry_search {
	uint64_t entry;
	uint64_t pc; /* that is sought */
	struct code_lines lines;
	unsigned int nr_insns;
	unsigned int nr_waiting;
	struct code_path waiting[MAX_ENTRY_PATHS];
	uint8_t visited[2 * ENTRY_REACH / 8]; /* a bit for each byte of code */
};

_Static_assert(sizeof(struct entry_search) < 32 << 10,
	       "no more stack than cfi_find_return() needs");

/* False if @pc has been visited, or is too far away. */
static bool visit_from_entry(struct entry_search *s, uint64_t pc)
{
	uint64_t at = pc - s->entry + ENTRY_REACH;
	uint8_t bit = (uint8_t)(1u << at % 8);

	if (at >= (uint64_t)2 * ENTRY_REACH ||
	    s->nr_insns++ == MAX_ENTRY_INSNS || (s->visited[at / 8] & bit))
		return false;
	s->visited[at / 8] |= bit;
	return true;
}

/* The machine's number of a register that has the number @dwarf in rules. */
static unsigned int register_of_dwarf(const struct code_machine *machine,
				      unsigned int dwarf)
{
	unsigned int reg = 0;

	while (reg < machine->nr_regs && machine->dwarf[reg] != dwarf)
		reg++;
	return reg;
}

static bool is_register_of_entry(struct code_value value, unsigned int reg)
{
	return value.how == CODE_IN_REG && value.reg == reg && !value.offset;
}

/* Whether the caller's register @reg is where @rule has it. */
static bool has_register(const struct code_path *path,
			 const struct cfi_rule *rule, unsigned int base,
			 unsigned int reg)
{
	const struct code_machine *machine = path->machine;
	struct code_path reader = *path;

	for (unsigned int i = 0; i < rule->nr_places; i++) {
		const struct cfi_place *place = &rule->place[i];

		if (place->reg != machine->dwarf[reg])
			continue;
		if (place->how != CFI_AT_CFA)
			return place->how == CFI_UNDEFINED;
		code_path_load(&reader, reg, base,
			       (int64_t)rule->cfa_value + place->value);
		break;
	}
	return is_register_of_entry(reader.reg[reg], reg);
}

/* Whether @path, which begins at the function's entry, has made the frame. */
static bool has_frame(const struct code_path *path, const struct cfi_rule *rule)
{
	const struct code_machine *machine = path->machine;
	unsigned int base = register_of_dwarf(machine, rule->cfa_reg);
	struct code_value cfa;

	if (base == machine->nr_regs)
		return false;
	cfa = path->reg[base];
	if (cfa.how != CODE_IN_REG || cfa.reg != machine->sp ||
	    cfa.offset + rule->cfa_value != machine->pushed)
		return false;
	for (unsigned int i = 0; i < machine->nr_saved; i++)
		if (!has_register(path, rule, base, machine->saved[i]))
			return false;
	return true;
}

static void wait_at(struct entry_search *s, const struct code_path *path,
		    uint64_t pc)
{
	if (s->nr_waiting == MAX_ENTRY_PATHS)
		return;
	s->waiting[s->nr_waiting] = *path;
	s->waiting[s->nr_waiting++].pc = pc;
}

/* Go on until @path ends. Returns true if it has come to the pc. */
static bool follow_to_pc(struct entry_search *s, struct code_path *path)
{
	while (path->pc != s->pc && visit_from_entry(s, path->pc)) {
		struct code_step step;
		size_t len;
		const uint8_t *bytes =
			code_lines_find(&s->lines, path->pc, &len);
		enum code_flow flow =
			path->machine->step(path, bytes, len, &step);

		if (flow > CODE_CALL)
			return false;
		if (flow == CODE_CALL)
			code_path_call(path);
		if (flow == CODE_BRANCH)
			wait_at(s, path, step.target);
		path->pc =
			flow == CODE_JUMP ? step.target : path->pc + step.len;
	}
	return path->pc == s->pc;
}

/* Whether the function at @entry comes to @pc with the frame of @rule. */
static bool leads_to(const struct cfi_code_reader *reader, uint64_t entry,
		     uint64_t pc, const struct cfi_rule *rule)
{
	struct entry_search s;
	struct code_path path;

	s.entry = entry;
	s.pc = pc;
	s.nr_insns = 0;
	s.nr_waiting = 0;
	memset(s.visited, 0, sizeof(s.visited));
	code_lines_init(&s.lines, reader);
	code_path_init(&path, &x86_machine, entry);
	while (!follow_to_pc(&s, &path)) {
		if (!s.nr_waiting)
			return false;
		path = s.waiting[--s.nr_waiting];
	}
	return has_frame(&path, rule);
}

/* The stack pointer of AArch64 is aligned always: no rule is doubtful there. */
bool cfi_is_entered_from(enum cfi_arch arch,
			 const struct cfi_code_reader *reader, uint64_t from,
			 uint64_t pc, bool is_return_address)
{
	uint8_t call[5];
	union cfi_return found;
	uint64_t entry;

	return arch == CFI_X86_64 && from >= sizeof(call) &&
	       reader->read(reader->ctx, from - sizeof(call), call,
			    sizeof(call)) == sizeof(call) &&
	       x86_machine.find_callee(from, call + sizeof(call), sizeof(call),
				       &entry) &&
	       cfi_find_return(arch, reader, pc, is_return_address, &found) &&
	       leads_to(reader, entry, pc, &found.rule);
}
