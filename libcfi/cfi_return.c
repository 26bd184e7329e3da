// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Searches code for the return instruction that a frame will reach.
 *
 * Paths start at the program counter and go both ways at each branch; all are
 * followed until one comes to a return. A call is the weak point: its function
 * may never return (abort), and what follows is another function then. So paths
 * wait in lists by the number of calls they have passed, and those with fewer
 * calls go first:
 *
 *	waiting[0]: -> path -> path
 *	waiting[1]: -> path		continues after a call
 *	...
 *
 * Each instruction is visited once. Paths that meet should agree on the stack
 * pointer; a loop that moves it (a probe of a large frame's pages) does not,
 * and what comes after the loop cannot be told.
 *
 * A return after a call is believed if it is what the ABI demands: the
 * registers that belong to the caller have been given back, and the stack
 * pointer at calls was a multiple of 16. Code of some languages keeps no such
 * ABI (Go): then the first return that is found is taken. GCC calls functions
 * that need no aligned stack with a stack as it is, if it sees all their calls:
 * the first return of this kind is the answer if there is no better one, and is
 * marked as one to be confirmed from the side of the caller (cfi_entry.c).
 *
 * The work is bounded: by instructions, paths and calls. Nothing is allocated.
 */

#include <string.h>

#include "libcfi/cfi_return.h"
#include "libcfi/cfi_unwind.h"
#include "libcfi/code_lines.h"
#include "libcfi/code_path.h"

#define MAX_INSNS 2000
#define MAX_PATHS 128
#define MAX_CALLS 64
/* The part of a called function that is looked at. */
#define LEAF_PATHS 16
#define LEAF_INSNS 128 /* of a path */
#define SWITCH_INSNS 32 /* that may come before a switch of stacks */
#define KEPT_INSNS 64 /* likewise, back to the stack that Go has left */
#define SWITCH_BYTES 48 /* that may be between one and a call on the other */
#define ROOT_BYTES 48 /* that tell the first function of a thread */
#define NR_SLOTS 4096 /* of visited addresses; a power of 2 above MAX_INSNS */

struct waiting_path {
	struct code_path path;
	uint8_t next; /* in the list */
};

struct visited_insn {
	int32_t addr; /* less that of the start */
	int32_t sp; /* offset */
};

enum answer { UNKNOWN, NO, YES };

struct search {
	const struct code_machine *machine;
	uint64_t start;
	unsigned int nr_insns;
	bool is_return_address; /* the start */
	bool is_open; /* some path may return, as far as is known */
	enum answer has_own_abi;
	union cfi_return *out;
	bool has_misaligned; /* out holds a return to be confirmed */
	unsigned int calls; /* whose list is at hand */
	/* Numbers of paths, from 1; 0: none. */
	uint8_t waiting[MAX_CALLS];
	uint8_t unused; /* list of free paths */
	unsigned int nr_paths; /* ever used */
	struct waiting_path paths[MAX_PATHS];
	uint16_t slots[NR_SLOTS]; /* numbers of visited[], from 1 */
	struct visited_insn visited[MAX_INSNS];
	struct code_lines lines;
};

_Static_assert(sizeof(struct search) < 72 << 10,
	       "as much stack as cfi_return.h says");

static const struct code_machine *const machines[] = {
	[CFI_X86_64] = &x86_machine,
	[CFI_AARCH64] = &aarch64_machine,
};

/* ---- paths that wait --------------------------------------------------------
 */

/* Have a copy of @path wait, to go on at @pc after @nr_calls calls. */
static void add_waiting_path(struct search *s, const struct code_path *path,
			     uint64_t pc, unsigned int nr_calls)
{
	struct waiting_path *w;
	uint8_t nr = s->unused;

	if (nr_calls >= MAX_CALLS || (!nr && s->nr_paths == MAX_PATHS)) {
		s->is_open = true;
		return;
	}
	if (!nr)
		nr = (uint8_t)++s->nr_paths;
	w = &s->paths[nr - 1];
	if (s->unused)
		s->unused = w->next;
	w->path = *path;
	w->path.pc = pc;
	w->next = s->waiting[nr_calls];
	s->waiting[nr_calls] = nr;
}

/* The path to go on with; false if there is none. */
static bool pop_waiting_path(struct search *s, struct code_path *path)
{
	struct waiting_path *w;
	uint8_t nr;

	while (s->calls < MAX_CALLS && !s->waiting[s->calls])
		s->calls++;
	if (s->calls == MAX_CALLS)
		return false;
	nr = s->waiting[s->calls];
	w = &s->paths[nr - 1];
	*path = w->path;
	s->waiting[s->calls] = w->next;
	w->next = s->unused;
	s->unused = nr;
	return true;
}

/* ---- instructions that were visited -----------------------------------------
 */

/* How far the stack pointer has moved, or a number that it never moves by. */
static int32_t sp_moved(const struct code_path *path)
{
	struct code_value sp = path->reg[path->machine->sp];

	return sp.how == CODE_IN_REG && sp.reg == path->machine->sp ? sp.offset
								    : INT32_MIN;
}

/* The slot of @addr, which is empty if it was not visited; NULL if it is too
 * far away for that to be known. */
static uint16_t *find_visited_slot(struct search *s, uint64_t addr)
{
	int64_t away = (int64_t)(addr - s->start);
	uint32_t hash = (uint32_t)away * 2654435761u >> 20;

	if (away != (int32_t)away)
		return NULL;
	while (s->slots[hash] && s->visited[s->slots[hash] - 1].addr != away)
		hash = (hash + 1) % NR_SLOTS;
	return &s->slots[hash];
}

/* Returns false if another path has been there, or nobody may go there. */
static bool visit_insn(struct search *s, const struct code_path *path)
{
	uint16_t *slot = find_visited_slot(s, path->pc);

	s->is_open |= !slot || s->nr_insns == MAX_INSNS;
	if (!slot || *slot || s->nr_insns == MAX_INSNS)
		return false;
	s->visited[s->nr_insns++] = (struct visited_insn){
		.addr = (int32_t)(path->pc - s->start),
		.sp = sp_moved(path),
	};
	*slot = (uint16_t)s->nr_insns;
	return true;
}

/* Whether a loop that goes on at @target has moved the stack pointer. */
static bool moves_in_loop(struct search *s, const struct code_path *path,
			  uint64_t target)
{
	const uint16_t *slot = find_visited_slot(s, target);
	int32_t moved = sp_moved(path), before;

	if (!slot || !*slot || moved == INT32_MIN)
		return false;
	before = s->visited[*slot - 1].sp;
	return before != INT32_MIN && before != moved;
}

/* ---- the end of a path ------------------------------------------------------
 */

static uint8_t dwarf_of(const struct search *s, unsigned int reg)
{
	return s->machine->dwarf[reg];
}

static void add_rule_place(struct cfi_rule *rule, uint8_t reg, enum cfi_how how,
			   int32_t value)
{
	rule->place[rule->nr_places++] = (struct cfi_place){
		.how = (uint8_t)how,
		.reg = reg,
		.value = value,
	};
}

/*
 * Say where the caller's register @reg is, whose value at the return is
 * @value. A function saves it in its own frame, below the return address.
 * Returns false if it is gone.
 */
static bool add_rule_register(const struct search *s, struct cfi_rule *rule,
			      uint8_t reg, struct code_value value)
{
	const uint8_t number = dwarf_of(s, reg);

	if (value.how == CODE_IN_REG && !value.offset && value.reg == reg)
		return true;
	if (value.how == CODE_IN_MEMORY &&
	    dwarf_of(s, value.reg) == rule->cfa_reg &&
	    value.offset + 8 + s->machine->pushed <= rule->cfa_value) {
		add_rule_place(rule, number, CFI_AT_CFA,
			       value.offset - rule->cfa_value);
		return true;
	}
	add_rule_place(rule, number, CFI_UNDEFINED, 0);
	return false;
}

/* The return address is @value, which was in a register or on the stack. */
static bool add_link(const struct search *s, struct cfi_rule *rule,
		     struct code_value value)
{
	if (value.how == CODE_IN_MEMORY)
		return add_rule_register(s, rule, s->machine->link, value);
	if (value.how != CODE_IN_REG || value.offset)
		return false;
	if (value.reg != s->machine->link)
		add_rule_place(rule, rule->ra, CFI_IN_REG,
			       dwarf_of(s, value.reg));
	return true;
}

/* Two registers are not saved at one place: this is another function's end. */
static bool has_shared_place(const struct cfi_rule *rule)
{
	for (unsigned int i = 0; i < rule->nr_places; i++)
		for (unsigned int k = 0; k < i; k++)
			if (rule->place[i].how == CFI_AT_CFA &&
			    rule->place[k].how == CFI_AT_CFA &&
			    rule->place[i].value == rule->place[k].value)
				return true;
	return false;
}

/* Looked up once for a search: in the code around its start. */
static bool has_own_abi(struct search *s)
{
	const struct cfi_code_reader *reader = s->lines.reader;
	uint8_t bytes[512];

	if (s->has_own_abi != UNKNOWN)
		return s->has_own_abi == YES;
	s->has_own_abi = NO;
	for (int i = -8; i <= 8; i++) {
		uint64_t addr = s->start - s->start % sizeof(bytes) +
				(uint64_t)(int64_t)i * sizeof(bytes);
		size_t len =
			reader->read(reader->ctx, addr, bytes, sizeof(bytes));

		if (len <= sizeof(bytes) && s->machine->has_go(bytes, len))
			s->has_own_abi = YES;
	}
	return s->has_own_abi == YES;
}

/* The code before @addr, at most @len bytes: returns how many there are, which
 * are at the start of @buf. */
static size_t read_code_before(const struct cfi_code_reader *reader,
			       uint64_t addr, uint8_t *buf, size_t len)
{
	for (; len; len--)
		if (len <= addr &&
		    reader->read(reader->ctx, addr - len, buf, len) == len)
			return len;
	return 0;
}

/* Whether the start is where a procedure linkage table goes to the dynamic
 * linker, for which it has pushed words. */
static bool is_in_linkage(const struct search *s)
{
	uint8_t bytes[16];
	size_t len = read_code_before(s->lines.reader, s->start, bytes,
				      sizeof(bytes));

	return s->machine->ends_in_linkage(bytes + len, len);
}

/*
 * Make the rule of @path, which has come to a return; if that is not sure, to a
 * jump that may be one to another function, as the frame has been removed.
 * Returns true if the search is over.
 */
static bool end_path(struct search *s, struct code_path *path,
		     const struct code_step *step, bool is_sure)
{
	const struct code_machine *machine = s->machine;
	const int32_t pushed = s->machine->pushed + (int32_t)step->popped;
	struct code_value cfa = path->reg[machine->sp];
	union cfi_return found = { .rule = { .ra = s->machine->ra } };
	struct cfi_rule *rule = &found.rule;
	bool is_good = true, is_aligned;

	code_path_settle(path);
	if (path->is_authenticated)
		rule->flags |= CFI_RULE_RA_SIGNED;
	if (cfa.how != CODE_IN_REG ||
	    (cfa.reg == machine->sp && cfa.offset < 0) ||
	    (step->is_jump && is_in_linkage(s)))
		return false;
	cfa.offset += pushed;
	rule->cfa_reg = dwarf_of(s, cfa.reg);
	rule->cfa_value = cfa.offset;
	if (pushed)
		add_rule_place(rule, rule->ra, CFI_AT_CFA, -pushed);
	else if (!add_link(s, rule, path->reg[step->link]))
		return false;
	for (unsigned int i = 0; i < machine->nr_saved; i++) {
		uint8_t reg = machine->saved[i];

		if (reg == machine->link)
			continue;
		is_good &= add_rule_register(s, rule, reg, path->reg[reg]);
	}
	if (has_shared_place(rule))
		return false;
	/* psABI for x86-64, section 3.2.2: a multiple of 16 at each call. */
	is_aligned = !path->is_misaligned &&
		     code_value_aligned(path->sp_at_call, cfa);
	is_sure &= !s->calls && !s->is_return_address;
	if (!is_sure && !has_own_abi(s)) {
		if (!is_good || (!is_aligned && s->has_misaligned))
			return false;
		if (!is_aligned)
			rule->flags |= CFI_RULE_UNCONFIRMED;
	}
	*s->out = found;
	s->has_misaligned = rule->flags & CFI_RULE_UNCONFIRMED;
	return !s->has_misaligned;
}

/* ---- the search -------------------------------------------------------------
 */

/*
 * Whether the function at @entry has a way to a return on which it calls none,
 * among its first instructions. A function that never returns has no such way.
 */
static bool returns_without_call(struct search *s, uint64_t entry)
{
	uint64_t starts[LEAF_PATHS] = { entry };
	unsigned int nr = 1;

	for (unsigned int i = 0; i < nr; i++) {
		enum code_flow flow = CODE_NEXT;
		struct code_path path;

		code_path_init(&path, s->machine, starts[i]);
		for (int k = 0; k < LEAF_INSNS && flow <= CODE_JUMP; k++) {
			struct code_step step;
			size_t len;
			const uint8_t *bytes =
				code_lines_find(&s->lines, path.pc, &len);

			flow = s->machine->step(&path, bytes, len, &step);
			if (flow == CODE_RETURN && !step.is_jump)
				return true;
			if (flow == CODE_BRANCH && nr < LEAF_PATHS)
				starts[nr++] = step.target;
			path.pc = flow == CODE_JUMP ? step.target
						    : path.pc + step.len;
		}
	}
	return false;
}

/* Whether the call before @pc, which padding follows, is one to a function that
 * can be seen to return: then the padding is that of a loop. */
static bool is_call_that_returns(struct search *s, uint64_t pc)
{
	uint8_t bytes[16];
	size_t len = s->machine->max_call;
	uint64_t target;

	len = read_code_before(s->lines.reader, pc, bytes, len);
	return s->machine->find_callee &&
	       s->machine->find_callee(pc, bytes + len, len, &target) &&
	       returns_without_call(s, target);
}

/*
 * Whether the call before @pc may return. Go, and code made at run time, have
 * padding in functions; between them Go has instructions that stop.
 */
static bool may_call_return(struct search *s, uint64_t pc)
{
	size_t len;
	const uint8_t *bytes = code_lines_find(&s->lines, pc, &len);
	enum code_behind behind = s->machine->behind_call(pc, bytes, len);

	if (behind == CODE_PADDED &&
	    (has_own_abi(s) || is_call_that_returns(s, pc)))
		behind = CODE_GOES_ON;
	s->is_open |= behind == CODE_PADDED;
	return behind == CODE_GOES_ON;
}

/* The function that is called here returns, if it does, to @path's pc. */
static void add_path_after_call(struct search *s, struct code_path *path)
{
	if (!may_call_return(s, path->pc))
		return;
	code_path_call(path);
	add_waiting_path(s, path, path->pc, s->calls + 1);
}

/*
 * Go's functions end in code that has a larger stack made and starts over, in
 * which they have no frame yet. What comes before it, but for the call to make
 * that stack, are calls that never return.
 */
static bool starts_over(struct search *s, uint64_t target)
{
	size_t len;
	const uint8_t *bytes;

	if (s->calls + s->is_return_address < 2)
		return false;
	bytes = code_lines_find(&s->lines, target, &len);
	return s->machine->checks_stack(bytes, len);
}

/* Go on until @path ends. Returns true if the search is over. */
static bool follow_path(struct search *s, struct code_path *path)
{
	while (visit_insn(s, path)) {
		struct code_step step;
		size_t len;
		const uint8_t *bytes =
			code_lines_find(&s->lines, path->pc, &len);
		enum code_flow flow = s->machine->step(path, bytes, len, &step);

		s->is_open |= flow == CODE_RETURN || flow == CODE_LEAVE ||
			      flow == CODE_END;
		if (flow == CODE_RETURN ||
		    (flow == CODE_LEAVE && path->is_popped))
			return end_path(s, path, &step, flow == CODE_RETURN);
		if (flow == CODE_END || flow == CODE_LEAVE ||
		    flow == CODE_STOP ||
		    (flow == CODE_JUMP && starts_over(s, step.target)))
			return false;
		path->pc =
			flow == CODE_JUMP ? step.target : path->pc + step.len;
		if (flow == CODE_CALL) {
			add_path_after_call(s, path);
			return false;
		}
		if (flow != CODE_BRANCH)
			continue;
		if (moves_in_loop(s, path, step.target))
			code_path_lose(path, path->machine->sp);
		else
			add_waiting_path(s, path, step.target, s->calls);
	}
	return false;
}

static bool is_known_machine(enum cfi_arch arch)
{
	return (unsigned int)arch < sizeof(machines) / sizeof(machines[0]) &&
	       machines[arch];
}

static void search_init(struct search *s, enum cfi_arch arch,
			const struct cfi_code_reader *reader)
{
	s->machine = machines[arch];
	s->nr_insns = 0;
	s->is_open = false;
	s->has_misaligned = false;
	s->has_own_abi = reader->has_own_abi ? YES : UNKNOWN;
	s->calls = 0;
	s->unused = 0;
	s->nr_paths = 0;
	memset(s->waiting, 0, sizeof(s->waiting));
	memset(s->slots, 0, sizeof(s->slots));
	code_lines_init(&s->lines, reader);
}

/* Returns whether s->out has the answer. */
static bool search_from(struct search *s, uint64_t pc, bool is_return_address)
{
	struct code_path path;

	s->start = pc;
	s->is_return_address = is_return_address;
	code_path_init(&path, s->machine, pc);
	/* On AArch64 the stack pointer is always a multiple of 16. */
	if (s->machine->link != CODE_NO_REG)
		path.sp_at_call = path.reg[s->machine->sp];
	if (is_return_address) {
		if (!may_call_return(s, pc))
			return false;
		code_path_call(&path);
	}
	do {
		if (follow_path(s, &path))
			return true;
	} while (pop_waiting_path(s, &path));
	return false;
}

bool cfi_find_return(enum cfi_arch arch, const struct cfi_code_reader *reader,
		     uint64_t pc, bool is_return_address, union cfi_return *out)
{
	struct search s;

	if (!is_known_machine(arch))
		return false;
	search_init(&s, arch, reader);
	s.out = out;
	return search_from(&s, pc, is_return_address) || s.has_misaligned;
}

bool cfi_never_returns(enum cfi_arch arch, const struct cfi_code_reader *reader,
		       uint64_t return_address)
{
	union cfi_return unused;
	struct search s;

	if (!is_known_machine(arch))
		return false;
	search_init(&s, arch, reader);
	s.out = &unused;
	return !search_from(&s, return_address, true) && !s.is_open;
}

bool cfi_is_root(enum cfi_arch arch, const struct cfi_code_reader *reader,
		 uint64_t return_address)
{
	uint8_t bytes[CODE_ROOT_BEFORE + ROOT_BYTES];
	size_t len;

	if (!is_known_machine(arch) || !machines[arch]->is_root ||
	    return_address < CODE_ROOT_BEFORE)
		return false;
	len = reader->read(reader->ctx, return_address - CODE_ROOT_BEFORE,
			   bytes, sizeof(bytes));
	return len > CODE_ROOT_BEFORE &&
	       machines[arch]->is_root(return_address, bytes,
				       len - CODE_ROOT_BEFORE);
}

/* Whether the stack pointer is no longer what the frame's registers say. */
static bool has_switched(const struct code_path *path)
{
	const struct code_machine *machine = path->machine;
	struct code_value sp = path->reg[machine->sp];

	if (sp.how != CODE_IN_MEMORY || sp.reg == machine->sp)
		return sp.how == CODE_LOST;
	for (unsigned int i = 0; i < machine->nr_saved; i++)
		if (machine->saved[i] == sp.reg)
			return false;
	return true;
}

/* A word of memory that is no part of a frame: the frame pointer, too, leads to
 * where stack pointers are saved, to free arrays. */
static bool is_other_stack(const struct code_machine *machine,
			   struct code_value sp)
{
	return sp.how == CODE_IN_MEMORY && sp.reg != machine->sp &&
	       machine->dwarf[sp.reg] != (machine == &x86_machine
						  ? CFI_X86_64_RBP
						  : CFI_AARCH64_FP);
}

/* Whether the code from @pc to @end is one run of instructions that loads the
 * stack pointer; to a call before @end, if that is a return address. */
static bool switches_before(struct code_lines *lines,
			    const struct code_machine *machine, uint64_t pc,
			    uint64_t end, bool is_return_address)
{
	enum code_flow flow = CODE_NEXT;
	struct code_path path;
	bool has_loaded = false;

	code_path_init(&path, machine, pc);
	while (path.pc < end && flow == CODE_NEXT) {
		struct code_step step;
		size_t len;
		const uint8_t *bytes = code_lines_find(lines, path.pc, &len);

		flow = machine->step(&path, bytes, len, &step);
		path.pc += step.len;
		has_loaded |= is_other_stack(machine, path.reg[machine->sp]);
	}
	return has_loaded && path.pc == end &&
	       flow == (is_return_address ? CODE_CALL : CODE_NEXT);
}

/* Instructions have any length: each address may be where one begins. */
static bool has_just_switched(struct code_lines *lines,
			      const struct code_machine *machine, uint64_t pc,
			      bool is_return_address)
{
	for (uint64_t i = 4; i <= SWITCH_BYTES && i <= pc; i++)
		if (switches_before(lines, machine, pc - i, pc,
				    is_return_address))
			return true;
	return false;
}

bool cfi_switches_stack(enum cfi_arch arch,
			const struct cfi_code_reader *reader, uint64_t pc,
			bool is_return_address)
{
	enum code_flow flow = CODE_NEXT;
	struct code_lines lines;
	struct code_path path;
	bool has_gone = false;

	if (!is_known_machine(arch))
		return false;
	code_lines_init(&lines, reader);
	code_path_init(&path, machines[arch], pc);
	for (int i = 0; i < SWITCH_INSNS && !has_gone && flow <= CODE_JUMP;
	     i++) {
		struct code_step step;
		size_t len;
		const uint8_t *bytes = code_lines_find(&lines, path.pc, &len);

		flow = path.machine->step(&path, bytes, len, &step);
		/* V8's functions pop as many arguments as there are. From here
		 * on the stack pointer is not known, but not another one. */
		if (flow == CODE_NEXT && step.adjusts_sp)
			break;
		path.pc = flow == CODE_JUMP ? step.target : path.pc + step.len;
		/* A sample may be before the switch to a stack, with a call on
		 * that to come, or before the switch back, with a return. */
		has_gone = has_switched(&path) &&
			   (is_return_address || flow == CODE_RETURN);
	}
	return has_gone ||
	       has_just_switched(&lines, machines[arch], pc, is_return_address);
}

bool cfi_keeps_sp_in_go(enum cfi_arch arch,
			const struct cfi_code_reader *reader, uint64_t pc)
{
	enum code_flow flow = CODE_NEXT;
	const struct code_machine *machine;
	struct code_lines lines;
	struct code_path path;
	bool is_kept = false;

	if (!is_known_machine(arch))
		return false;
	machine = machines[arch];
	code_lines_init(&lines, reader);
	code_path_init(&path, machine, pc);
	for (int i = 0; i < KEPT_INSNS && !is_kept && flow <= CODE_CALL; i++) {
		struct code_step step;
		size_t len;
		const uint8_t *bytes = code_lines_find(&lines, path.pc, &len);
		struct code_value sp;

		/* What is called gives that register back. */
		flow = machine->step(&path, bytes, len, &step);
		path.pc = flow == CODE_JUMP ? step.target : path.pc + step.len;
		sp = path.reg[machine->sp];
		is_kept =
			sp.how == CODE_IN_REG && sp.reg == machine->go_kept_sp;
	}
	return is_kept;
}

enum cfi_step cfi_follow_return(enum cfi_arch arch,
				const union cfi_return *found,
				bool is_return_address, struct cfi_regs *regs,
				const struct cfi_stack *stack)
{
	return cfi_apply(arch, NULL, &found->rule, is_return_address, regs,
			 stack);
}

bool cfi_is_after_call(enum cfi_arch arch, const struct cfi_code_reader *reader,
		       uint64_t return_address)
{
	uint8_t bytes[16];
	size_t len;

	if (!is_known_machine(arch))
		return false;
	len = read_code_before(reader, return_address, bytes,
			       machines[arch]->max_call);
	return machines[arch]->ends_in_call(bytes + len, len);
}
