// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Does the code of a file say the same of its frames as its unwind data do?
 *
 *	returncheck [-d] [-k EACH] [-m MOST] [-u] [-v] FILE...
 *
 * Each EACHth instruction that unwind data describe is taken as a program
 * counter, and what follows each EACHth call as a return address. The rule that
 * cfi_find_return() finds there is compared with the rule of the table: where
 * the caller's stack pointer is, and where its registers are. If one counts
 * from another register than the other, the places of registers are compared
 * alone, one of which has to be the same. Where the code finds that a register
 * is gone, that is no difference. Rules that a caller has to confirm are no
 * answers, unless -d is given. -u: the data name no registers (Go), so that
 * those that only the code names are no difference, either.
 *
 * Prints a line for each file: checked, equal, no answer, those where the frame
 * is right and a register of the caller is not, and wrong, for program counters
 * and for return addresses; and nanoseconds of CPU time for each. -v shows what
 * is wrong, -vvv also where there is no answer. Exits with 1 if more than 1 of
 * MOST (2,000) are wrong, or have a wrong register.
 */

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "libcfi/cfi_return.h"
#include "libcfi/cfi_table.h"
#include "libcfi/x86_insn.h"

#define MAX_SHOWN 1000

/* REGISTERS: the frame is right, and a register of the caller's is not. */
enum verdict { EQUAL, NONE, REGISTERS, WRONG, NR_VERDICTS };

struct check {
	const char *path;
	const uint8_t *file;
	size_t len;
	struct cfi_table *table;
	enum cfi_arch arch;
	/* the segment of code at hand, as offsets in the file */
	uint64_t start, end;
	size_t row; /* at hand */
	/* Registers that have been loaded from the stack since the last jump:
	 * at the end of a function they have the caller's values. */
	uint64_t reloaded;
	unsigned long each, nr_insns, nr_calls;
	bool is_unsaid_unknown;
	bool counts_doubtful;
	unsigned long most; /* wrong ones may be 1 of so many */
	enum verdict shown; /* those from it on */
	unsigned long nr[2][NR_VERDICTS]; /* program counters, returned to */
	unsigned long nr_shown;
	uint64_t ns;
};

static void die(const char *what)
{
	fprintf(stderr, "returncheck: %s: %s\n", what, strerror(errno));
	exit(2);
}

static void load(struct check *c, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct op_diag diag = { "" };
	struct stat st;
	void *map;

	if (fd < 0 || fstat(fd, &st))
		die(path);
	c->path = path;
	c->len = (size_t)st.st_size;
	map = mmap(NULL, c->len, PROT_READ, MAP_PRIVATE, fd, 0);
	if (map == MAP_FAILED)
		die(path);
	c->file = map;
	if (cfi_table_read(&c->table, fd, CFI_ALL, &diag)) {
		fprintf(stderr, "returncheck: %s: %s\n", path, diag.text);
		exit(2);
	}
	c->arch = cfi_table_arch(c->table);
	close(fd);
}

/* Addresses are offsets in the file. */
static size_t read_code(void *ctx, uint64_t addr, void *buf, size_t len)
{
	const struct check *c = ctx;

	if (addr < c->start || addr >= c->end)
		return 0;
	if (len > c->end - addr)
		len = c->end - addr;
	memcpy(buf, c->file + addr, len);
	return len;
}

/* The segment that holds @offset; the system's own files are believed. */
static bool find_segment(struct check *c, uint64_t offset)
{
	Elf64_Ehdr h;
	Elf64_Phdr p;

	if (offset >= c->start && offset < c->end)
		return true;
	memcpy(&h, c->file, sizeof(h));
	for (unsigned int i = 0; i < h.e_phnum; i++) {
		memcpy(&p, c->file + h.e_phoff + i * sizeof(p), sizeof(p));
		if (p.p_type != PT_LOAD || !(p.p_flags & PF_X) ||
		    offset < p.p_offset || offset - p.p_offset >= p.p_filesz)
			continue;
		c->start = p.p_offset;
		c->end = p.p_offset + p.p_filesz;
		return true;
	}
	return false;
}

/* ---- comparing --------------------------------------------------------------
 */

static struct cfi_place place_of(const struct cfi_rule *rule, unsigned int reg)
{
	for (unsigned int i = 0; i < rule->nr_places; i++)
		if (rule->place[i].reg == reg)
			return rule->place[i];
	return (struct cfi_place){ .how = CFI_UNSAID };
}

/* A place below the stack pointer, which one of both counts from: the register
 * was popped and has its value already. */
static bool was_popped(const struct check *c, const struct cfi_rule *rule,
		       struct cfi_place place)
{
	uint8_t sp = c->arch == CFI_X86_64 ? CFI_X86_64_RSP : CFI_AARCH64_SP;

	return rule->cfa_reg == sp && place.how == CFI_AT_CFA &&
	       rule->cfa_value + place.value < 0;
}

/*
 * Compilers may say that some registers are saved when all are; until then
 * these have their values, too.
 */
static bool is_said_later(const struct check *c, unsigned int reg,
			  int32_t value)
{
	const struct cfi_table *t = c->table;

	for (size_t i = c->row + 1; i < t->nr && i < c->row + 8; i++) {
		struct cfi_place place;

		if (t->rule[i] & CFI_ROW_STARTS)
			break;
		place = place_of(cfi_rule(&t->rules, t->rule[i] & CFI_ROW_RULE),
				 reg);
		if (place.how == CFI_AT_CFA && place.value == value)
			return true;
	}
	return false;
}

static bool is_register_right(const struct check *c,
			      const struct cfi_rule *data,
			      const struct cfi_rule *code, unsigned int reg,
			      unsigned int *nr_same)
{
	struct cfi_place a = place_of(data, reg), b = place_of(code, reg);

	if (a.how == CFI_SAME)
		a.how = CFI_UNSAID;
	if (b.how == CFI_UNDEFINED || a.how > CFI_IN_REG)
		return true;
	if (a.how == b.how && (a.how == CFI_UNSAID || a.value == b.value)) {
		*nr_same += a.how == CFI_AT_CFA;
		return true;
	}
	if (b.how == CFI_UNSAID &&
	    (was_popped(c, data, a) || was_popped(c, code, a) ||
	     c->reloaded >> reg & 1))
		return true;
	/* Go saves the link register in leaves, which leave it as it is. */
	if (c->is_unsaid_unknown && reg == CFI_AARCH64_LR &&
	    c->arch == CFI_AARCH64 && b.how == CFI_UNSAID)
		return true;
	return a.how == CFI_UNSAID &&
	       (c->is_unsaid_unknown ||
		(b.how == CFI_AT_CFA && is_said_later(c, reg, b.value)));
}

static enum verdict compare_rules(const struct check *c,
				  const struct cfi_rule *data,
				  const struct cfi_rule *code)
{
	static const uint8_t x86_saved[] = { 3, 6, 12, 13, 14, 15 };
	static const uint8_t aarch64_saved[] = { 19, 20, 21, 22, 23, 24,
						 25, 26, 27, 28, 29 };
	const bool is_x86 = c->arch == CFI_X86_64;
	const uint8_t *saved = is_x86 ? x86_saved : aarch64_saved;
	const size_t nr = is_x86 ? sizeof(x86_saved) : sizeof(aarch64_saved);
	bool are_right = true;
	unsigned int nr_same = 0;

	if ((data->flags ^ code->flags) & CFI_RULE_RA_SIGNED ||
	    (data->cfa_reg == code->cfa_reg &&
	     data->cfa_value != code->cfa_value) ||
	    !is_register_right(c, data, code, code->ra, &nr_same))
		return WRONG;
	nr_same = 0;
	for (size_t i = 0; i < nr; i++)
		are_right &=
			is_register_right(c, data, code, saved[i], &nr_same);
	if (data->cfa_reg != code->cfa_reg && !c->is_unsaid_unknown &&
	    (!nr_same || !are_right))
		return WRONG;
	return are_right ? EQUAL : REGISTERS;
}

static void print_rule(const char *who, const struct cfi_rule *rule)
{
	fprintf(stderr, " %s: cfa r%u%+d", who, rule->cfa_reg, rule->cfa_value);
	for (unsigned int i = 0; i < rule->nr_places; i++)
		fprintf(stderr, " r%u=%u:%d", rule->place[i].reg,
			rule->place[i].how, rule->place[i].value);
}

static void check_at(struct check *c, const struct cfi_rule *data, uint64_t pc,
		     bool is_return_address)
{
	const struct cfi_code_reader reader = { .read = read_code, .ctx = c };
	static const char *const names[] = { "equal", "none", "registers",
					     "wrong" };
	enum verdict verdict = NONE;
	union cfi_return found;
	bool is_found = cfi_find_return(c->arch, &reader, pc, is_return_address,
					&found) &&
			(c->counts_doubtful ||
			 !(found.rule.flags & CFI_RULE_UNCONFIRMED));

	if (is_found)
		verdict = compare_rules(c, data, &found.rule);
	c->nr[is_return_address][verdict]++;
	if (verdict < c->shown || c->nr_shown++ >= MAX_SHOWN)
		return;
	fprintf(stderr, "%s %#" PRIx64 "%s", names[verdict], pc,
		is_return_address ? " returned" : "");
	print_rule("data", data);
	if (is_found)
		print_rule("code", &found.rule);
	fprintf(stderr, "\n");
}

/* ---- rows -------------------------------------------------------------------
 */

static bool can_be_compared(const struct cfi_rule *rule)
{
	struct cfi_place ra = place_of(rule, rule->ra);

	return !rule->cfa_is_expr && !(rule->flags & CFI_RULE_SIGNAL) &&
	       ra.how <= CFI_AT_CFA && ra.how != CFI_UNDEFINED;
}

enum kind { OTHER, CALL, NOP, LEAVES };

struct insn {
	uint8_t len; /* bytes; 0: none */
	enum kind kind;
	uint64_t loaded; /* registers, by DWARF numbers */
};

static struct insn decode_x86(const uint8_t *bytes, size_t len)
{
	/* The last one is that of none. */
	static const uint8_t dwarf[] = { 0, 2,	1,  3,	7,  6,	4,  5, 8,
					 9, 10, 11, 12, 13, 14, 15, 63 };
	struct x86_insn insn;
	struct insn got = { .len = 0 };

	if (!x86_decode(bytes, len, &insn))
		return got;
	got.len = insn.len;
	if (insn.op == X86_CALL)
		got.kind = CALL;
	else if (insn.op == X86_NOP)
		got.kind = NOP;
	else if (insn.op >= X86_JUMP)
		got.kind = LEAVES;
	if (insn.op == X86_LOAD || insn.op == X86_POP)
		got.loaded = UINT64_C(1) << dwarf[insn.to];
	return got;
}

static struct insn decode_aarch64(const uint8_t *bytes, size_t len)
{
	struct insn got = { .len = 4 };
	uint32_t word;

	if (len < sizeof(word))
		return (struct insn){ .len = 0 };
	memcpy(&word, bytes, sizeof(word));
	if (word >> 26 == 0x25 || (word & 0xfefff000) == 0xd63f0000)
		got.kind = CALL;
	else if (word == 0xd503201f)
		got.kind = NOP;
	else if (word >> 26 == 5 || (word & 0xfe000000) == 0xd6000000)
		got.kind = LEAVES;
	/* ldp, ldr */
	if ((word & 0xfe400000) == 0xa8400000)
		got.loaded = UINT64_C(1) << (word & 31) |
			     UINT64_C(1) << (word >> 10 & 31);
	else if ((word & 0xfec00000) == 0xf8400000)
		got.loaded = UINT64_C(1) << (word & 31);
	return got;
}

static void check_row(struct check *c, uint64_t from, uint64_t to, uint32_t nr)
{
	const struct cfi_rule *rule = cfi_rule(&c->table->rules, nr);
	bool is_padding = false;

	if (!nr || !can_be_compared(rule))
		return;
	for (uint64_t at = from; at < to && find_segment(c, at);) {
		const struct insn insn =
			(c->arch == CFI_X86_64 ? decode_x86 : decode_aarch64)(
				c->file + at, c->end - at);

		if (!insn.len)
			return;
		/* What pads after a jump, or a call, may never be run. */
		is_padding = insn.kind == LEAVES || insn.kind == CALL ||
			     (insn.kind == NOP && is_padding);
		if (!(is_padding && insn.kind == NOP)) {
			if (c->nr_insns++ % c->each == 0)
				check_at(c, rule, at, false);
			if (insn.kind == CALL && c->nr_calls++ % c->each == 0)
				check_at(c, rule, at + insn.len, true);
		}
		c->reloaded =
			insn.kind == OTHER ? c->reloaded | insn.loaded : 0;
		at += insn.len;
	}
}

static uint64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void check_file(struct check *c)
{
	const struct cfi_table *t = c->table;
	uint64_t begin = cpu_ns();

	for (size_t i = 0; i + 1 < t->nr; i++) {
		c->row = i;
		check_row(c, t->base + t->start[i], t->base + t->start[i + 1],
			  t->rule[i] & CFI_ROW_RULE);
	}
	c->ns = cpu_ns() - begin;
}

/* Returns false if too many are wrong. */
static bool report(const struct check *c)
{
	unsigned long all = 0, registers = 0, wrong = 0;

	printf("%s:", c->path);
	for (unsigned int i = 0; i < 2; i++) {
		const unsigned long *nr = c->nr[i];
		unsigned long sum =
			nr[EQUAL] + nr[NONE] + nr[REGISTERS] + nr[WRONG];

		printf(" %s %lu equal %lu none %lu registers %lu wrong %lu",
		       i ? "returned" : "checked", sum, nr[EQUAL], nr[NONE],
		       nr[REGISTERS], nr[WRONG]);
		registers += nr[REGISTERS];
		all += sum;
		wrong += nr[WRONG];
	}
	printf(" ns %" PRIu64 "\n", all ? c->ns / all : 0);
	return wrong <= all / c->most && registers <= all / c->most;
}

int main(int argc, char **argv)
{
	struct check options = { .each = 1,
				 .most = 2000,
				 .shown = NR_VERDICTS };
	bool is_right_everywhere = true;
	int opt;

	while ((opt = getopt(argc, argv, "dk:m:uv")) != -1) {
		if (opt == 'd')
			options.counts_doubtful = true;
		else if (opt == 'k')
			options.each = strtoul(optarg, NULL, 0);
		else if (opt == 'm')
			options.most = strtoul(optarg, NULL, 0);
		else if (opt == 'u')
			options.is_unsaid_unknown = true;
		else if (opt == 'v')
			options.shown--;
		else
			return 2;
	}
	if (optind == argc || !options.each || !options.most)
		return 2;
	for (; optind < argc; optind++) {
		struct check c = options;

		load(&c, argv[optind]);
		check_file(&c);
		is_right_everywhere &= report(&c);
		fflush(stdout);
		cfi_table_free(c.table);
		munmap((void *)(uintptr_t)c.file, c.len);
	}
	return is_right_everywhere ? 0 : 1;
}
