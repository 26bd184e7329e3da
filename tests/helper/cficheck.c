// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Are the rows of libcfi's tables those that binutils see?
 *
 *	readelf -W --debug-dump=frames-interp FILE | cficheck FILE
 *
 * Each row is looked up where it starts and where it ends, and compared by
 * register. Prints "rows N" and "wrong N", tells the first wrong ones on
 * stderr and exits with 1 if there are some.
 */

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libcfi/cfi_table.h"

#define MAX_COLUMNS 40
#define MAX_SHOWN 20

struct check {
	struct cfi_table *table;
	enum cfi_arch arch;
	uint8_t *file;
	size_t len;
	/* the function at hand */
	bool is_function;
	uint64_t end;
	unsigned int nr_columns;
	int column[MAX_COLUMNS]; /* register, -1: of no interest, -2: ra */
	char row[512]; /* the last one, "" none */
	unsigned long nr_rows, nr_wrong;
};

static void die(const char *what)
{
	fprintf(stderr, "cficheck: %s: %s\n", what, strerror(errno));
	exit(2);
}

static void load(struct check *c, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct op_diag diag = { "" };
	struct stat st;

	if (fd < 0 || fstat(fd, &st))
		die(path);
	c->len = (size_t)st.st_size;
	c->file = malloc(c->len);
	if (!c->file || read(fd, c->file, c->len) != (ssize_t)c->len)
		die(path);
	if (cfi_table_read(&c->table, fd, CFI_ALL, &diag)) {
		fprintf(stderr, "cficheck: %s: %s\n", path, diag.text);
		exit(2);
	}
	c->arch = cfi_table_arch(c->table);
	close(fd);
}

/* The file is the system's own, so its headers are believed. */
static uint64_t offset_of(const struct check *c, uint64_t addr)
{
	Elf64_Ehdr h;
	Elf64_Phdr p;

	memcpy(&h, c->file, sizeof(h));
	for (unsigned int i = 0; i < h.e_phnum; i++) {
		memcpy(&p, c->file + h.e_phoff + i * sizeof(p), sizeof(p));
		if (p.p_type == PT_LOAD && p.p_flags & PF_X &&
		    addr >= p.p_vaddr && addr - p.p_vaddr < p.p_filesz)
			return addr - p.p_vaddr + p.p_offset;
	}
	return UINT64_MAX;
}

static int reg_of(const struct check *c, const char *name)
{
	static const char *const x86[] = { "rax", "rdx", "rcx", "rbx",
					   "rsi", "rdi", "rbp", "rsp" };

	if (!strcmp(name, "ra"))
		return -2;
	if (c->arch == CFI_AARCH64) {
		if (!strcmp(name, "sp"))
			return CFI_AARCH64_SP;
		return *name == 'x' ? atoi(name + 1) : -1;
	}
	for (int i = 0; i < 8; i++)
		if (!strcmp(name, x86[i]))
			return i;
	return *name == 'r' ? atoi(name + 1) : -1;
}

static const struct cfi_place *place_of(const struct cfi_rule *rule, int reg)
{
	for (unsigned int i = 0; i < rule->nr_places; i++)
		if (rule->place[i].reg == reg)
			return &rule->place[i];
	return NULL;
}

/* Whether @place is what readelf writes as @text. */
static bool place_is(const struct cfi_place *place, const char *text)
{
	enum cfi_how how = place ? place->how : CFI_UNSAID;

	if (!strcmp(text, "u"))
		return how == CFI_UNSAID || how == CFI_UNDEFINED;
	if (!strcmp(text, "s"))
		return how == CFI_SAME;
	if (!strcmp(text, "exp"))
		return how == CFI_AT_EXPR;
	if (!strcmp(text, "vexp"))
		return how == CFI_IS_EXPR;
	if (*text == 'c')
		return how == CFI_AT_CFA && place->value == atoi(text + 1);
	if (*text == 'v')
		return how == CFI_IS_CFA && place->value == atoi(text + 1);
	return how == CFI_IN_REG && place->value == atoi(text + 1);
}

static bool cfa_is(const struct check *c, const struct cfi_rule *rule,
		   const char *text)
{
	char reg[32];
	int offset;

	if (!strcmp(text, "exp"))
		return rule->cfa_is_expr;
	if (sscanf(text, "%31[a-z0-9]%d", reg, &offset) != 2)
		return false;
	return !rule->cfa_is_expr && rule->cfa_reg == reg_of(c, reg) &&
	       rule->cfa_value == offset;
}

/* @row is "ADDRESS CFA COLUMN..." */
static bool holds_at(const struct check *c, const char *row, uint64_t addr)
{
	uint32_t nr = cfi_table_find(c->table, offset_of(c, addr));
	const struct cfi_rule *rule;
	char text[512], *at = text, *word;

	if (!nr)
		return false;
	rule = cfi_rule(&c->table->rules, nr);
	strcpy(text, row);
	strsep(&at, " ");
	word = strsep(&at, " ");
	if (!word || !cfa_is(c, rule, word))
		return false;
	for (unsigned int i = 0; i < c->nr_columns; i++) {
		int reg = c->column[i] == -2 ? rule->ra : c->column[i];

		word = strsep(&at, " ");
		if (!word || (reg >= 0 && !place_is(place_of(rule, reg), word)))
			return false;
	}
	return true;
}

/* The last row goes up to @end. */
static void check_row(struct check *c, uint64_t end)
{
	uint64_t start;

	if (!*c->row)
		return;
	start = strtoull(c->row, NULL, 16);
	c->nr_rows++;
	if ((!holds_at(c, c->row, start) || !holds_at(c, c->row, end - 1)) &&
	    c->nr_wrong++ < MAX_SHOWN)
		fprintf(stderr, "%s\n", c->row);
	*c->row = '\0';
}

static void take_columns(struct check *c, char *line)
{
	char *word;

	strsep(&line, " "); /* LOC */
	strsep(&line, " "); /* CFA */
	for (c->nr_columns = 0;
	     (word = strsep(&line, " ")) && c->nr_columns < MAX_COLUMNS;)
		c->column[c->nr_columns++] = reg_of(c, word);
}

static void take_line(struct check *c, char *line)
{
	const char *pc = strstr(line, " pc=");
	uint64_t start;

	if (pc || strstr(line, " CIE ")) {
		check_row(c, c->end);
		c->is_function = pc &&
				 sscanf(pc, " pc=%" SCNx64 "..%" SCNx64, &start,
					&c->end) == 2 &&
				 offset_of(c, start) != UINT64_MAX;
		return;
	}
	if (!strncmp(line, "LOC ", 4)) {
		take_columns(c, line);
		return;
	}
	if (!c->is_function || strspn(line, "0123456789abcdef") != 16)
		return;
	check_row(c, strtoull(line, NULL, 16));
	strcpy(c->row, line);
}

/* One blank between words, none at the ends; "r9 (r9)" becomes "r9". */
static void tidy(char *line)
{
	char *to = line;

	for (const char *at = line; *at; at++) {
		if (*at == '(' && strchr(at, ')')) {
			at = strchr(at, ')');
			continue;
		}
		if (*at == '\n' ||
		    (*at == ' ' && (to == line || to[-1] == ' ')))
			continue;
		*to++ = *at;
	}
	while (to > line && to[-1] == ' ')
		to--;
	*to = '\0';
}

int main(int argc, char **argv)
{
	static struct check c;
	char line[512];

	if (argc != 2)
		return 2;
	load(&c, argv[1]);
	while (fgets(line, sizeof(line), stdin)) {
		tidy(line);
		take_line(&c, line);
	}
	check_row(&c, c.end);
	printf("rows %lu\nwrong %lu\n", c.nr_rows, c.nr_wrong);
	cfi_table_free(c.table);
	free(c.file);
	return c.nr_wrong ? 1 : 0;
}
