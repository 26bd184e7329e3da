// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * foldstream STREAM PROGRAM: the stack traces of a recorded stream whose
 * samples are of PROGRAM (by its path), one line for each different one:
 *
 *	NUMBER ENDING main;outer;inner
 *
 * Frames in PROGRAM have the names of its symbol table. Others are "[kernel]"
 * or the last part of the path in brackets, several in a row one. What follows
 * in a piece of user stack is not unwound but listed: behind "|" come all words
 * of it that are in functions of PROGRAM, innermost first, and before these, on
 * machines that have one, the return address in a register.
 */

#include <elf.h>
#include <err.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "module/uapi/oprofile.h"

#define MAX_IMAGES 4096
#define MAX_FRAMES 2048
#define MAX_LINES 65536

static const char *const endings[OP_NR_TRACE_ENDINGS] = {
	[OP_TRACE_WHOLE] = "whole",
	[OP_TRACE_DEPTH] = "depth",
	[OP_TRACE_NO_UNWIND] = "no-unwind",
	[OP_TRACE_SHORT_STACK] = "short",
	[OP_TRACE_BAD_STACK] = "bad",
	[OP_TRACE_GUESSED] = "guessed",
	[OP_TRACE_OTHER_STACK] = "other-stack",
	[OP_TRACE_NO_MEMORY] = "no-memory",
};

/* By file offset. */
struct function {
	uint64_t start;
	uint64_t end;
	const char *name;
};

struct fold {
	const char *program;
	struct function *functions;
	size_t nr_functions;
	char *images[MAX_IMAGES]; /* by cookie */
	/* the trace at hand */
	bool in_trace, of_program, is_kernel;
	uint64_t app, cookie; /* cookie ~0: anonymous */
	const char *frames[MAX_FRAMES];
	unsigned int nr_frames;
	char *stack;
	/* what there was */
	char *lines[MAX_LINES];
	unsigned int nr_lines;
};

static void *map_file(const char *path, size_t *len)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	void *bytes;

	if (fd < 0 || fstat(fd, &st))
		err(2, "%s", path);
	*len = st.st_size;
	bytes = mmap(NULL, *len, PROT_READ, MAP_PRIVATE, fd, 0);
	if (bytes == MAP_FAILED)
		err(2, "%s", path);
	close(fd);
	return bytes;
}

/* ---- symbols ---------------------------------------------------------------
 */

static void add_function(struct fold *fold, uint64_t start, uint64_t size,
			 const char *name)
{
	fold->functions =
		realloc(fold->functions,
			(fold->nr_functions + 1) * sizeof(struct function));
	if (!fold->functions)
		err(2, "functions");
	fold->functions[fold->nr_functions++] =
		(struct function){ start, start + size, name };
}

/* The program is our own: it is taken for sound. */
#define READ_SYMBOLS(bits)                                                     \
	static void read_symbols_##bits(struct fold *fold, const char *elf)    \
	{                                                                      \
		const Elf##bits##_Ehdr *head = (const void *)elf;              \
		const Elf##bits##_Shdr *sections =                             \
			(const void *)(elf + head->e_shoff);                   \
		/* That of Thumb code is odd. */                               \
		const uint64_t address_bits =                                  \
			head->e_machine == EM_ARM ? ~1ull : ~0ull;             \
                                                                               \
		for (int i = 0; i < head->e_shnum; i++) {                      \
			const Elf##bits##_Shdr *table = &sections[i];          \
			const Elf##bits##_Sym *symbols =                       \
				(const void *)(elf + table->sh_offset);        \
			const char *names;                                     \
                                                                               \
			if (table->sh_type != SHT_SYMTAB)                      \
				continue;                                      \
			names = elf + sections[table->sh_link].sh_offset;      \
			for (size_t k = 0;                                     \
			     k < table->sh_size / sizeof(*symbols); k++) {     \
				const Elf##bits##_Sym *s = &symbols[k];        \
				const Elf##bits##_Shdr *in;                    \
                                                                               \
				if ((s->st_info & 15) != STT_FUNC ||           \
				    !s->st_shndx || s->st_shndx >= 0xff00)     \
					continue;                              \
				in = &sections[s->st_shndx];                   \
				add_function(fold,                             \
					     (s->st_value & address_bits) -    \
						     in->sh_addr +             \
						     in->sh_offset,            \
					     s->st_size, names + s->st_name);  \
			}                                                      \
		}                                                              \
	}

READ_SYMBOLS(64)
READ_SYMBOLS(32)

static void read_symbols(struct fold *fold)
{
	size_t len;
	const char *elf = map_file(fold->program, &len);

	if (elf[EI_CLASS] == ELFCLASS64)
		read_symbols_64(fold, elf);
	else
		read_symbols_32(fold, elf);
}

static const char *name_of(const struct fold *fold, uint64_t offset)
{
	for (size_t i = 0; i < fold->nr_functions; i++)
		if (offset >= fold->functions[i].start &&
		    offset < fold->functions[i].end)
			return fold->functions[i].name;
	return NULL;
}

/* ---- traces ----------------------------------------------------------------
 */

static bool is_program(const struct fold *fold, uint64_t cookie)
{
	return cookie < MAX_IMAGES && fold->images[cookie] &&
	       !strcmp(fold->images[cookie], fold->program);
}

static const char *bracketed(const char *path)
{
	const char *slash = strrchr(path, '/');
	char *name;

	if (asprintf(&name, "[%s]", slash ? slash + 1 : path) < 0)
		err(2, "name");
	return name;
}

static const char *frame_name(const struct fold *fold, uint64_t offset)
{
	const char *name = NULL;

	if (fold->is_kernel)
		return "[kernel]";
	if (fold->cookie == ~0ull)
		return "[anon]";
	if (is_program(fold, fold->cookie))
		name = name_of(fold, fold->nr_frames ? offset - 1 : offset);
	if (name)
		return name;
	return fold->cookie < MAX_IMAGES && fold->images[fold->cookie]
		       ? bracketed(fold->images[fold->cookie])
		       : "[?]";
}

static void see_frame(struct fold *fold, uint64_t offset)
{
	const char *name = frame_name(fold, offset);

	if (!fold->in_trace || fold->nr_frames == MAX_FRAMES)
		return;
	if (!fold->nr_frames)
		fold->of_program = is_program(fold, fold->app);
	if (fold->nr_frames && name[0] == '[' &&
	    !strcmp(fold->frames[fold->nr_frames - 1], name))
		return;
	fold->frames[fold->nr_frames++] = name;
}

/* List @word if it is a return address into the program. */
static void see_word(struct fold *fold, FILE *out, const uint64_t *p,
		     uint64_t word)
{
	const uint64_t *map = p + 4 + p[1];
	uint64_t at = word & 0xffffffffffff; /* it may be signed */

	for (uint64_t i = 0; i < p[2]; i++, map += 4) {
		const char *name;

		if (at < map[0] || at >= map[1] || !is_program(fold, map[3]))
			continue;
		name = name_of(fold, at - map[0] + map[2] - 1);
		if (name)
			fprintf(out, ";%s", name);
	}
}

static void see_stack(struct fold *fold, const uint64_t *p)
{
	const uint64_t *regs = p + 4, *words = regs + p[1] + 4 * p[2];
	size_t size;
	FILE *out = open_memstream(&fold->stack, &size);

	/* A function that calls none has its caller in x30. */
	if (p[0] == OP_STACK_AARCH64)
		see_word(fold, out, p, regs[30]);
	for (uint64_t i = 0; i < p[3] / 8; i++)
		see_word(fold, out, p, words[i]);
	fclose(out);
}

static void end_trace(struct fold *fold, uint64_t ending)
{
	size_t size;
	char *line;
	FILE *out;

	if (!fold->in_trace || !fold->of_program || fold->nr_lines == MAX_LINES)
		return;
	out = open_memstream(&line, &size);
	fprintf(out, "%s ", endings[ending]);
	for (unsigned int i = fold->nr_frames; i--;)
		fprintf(out, "%s%s", fold->frames[i], i ? ";" : "");
	if (fold->stack)
		fprintf(out, "|%s", fold->stack);
	fclose(out);
	fold->lines[fold->nr_lines++] = line;
}

static void begin_trace(struct fold *fold)
{
	free(fold->stack);
	fold->stack = NULL;
	fold->in_trace = true;
	fold->of_program = false;
	fold->nr_frames = 0;
}

static void see_name(struct fold *fold, const uint64_t *p)
{
	if (p[0] < MAX_IMAGES)
		fold->images[p[0]] = strndup((const char *)(p + 11), p[10]);
}

static void see_record(struct fold *fold, uint64_t code, const uint64_t *p)
{
	switch (OP_CODE_OF(code)) {
	case OP_CTX_SWITCH:
		fold->app = p[1];
		break;
	case OP_COOKIE_SWITCH:
		fold->cookie = p[0];
		break;
	case OP_ANON_SWITCH:
		fold->cookie = ~0ull;
		break;
	case OP_KERNEL_ENTER:
	case OP_USER_ENTER:
		fold->is_kernel = OP_CODE_OF(code) == OP_KERNEL_ENTER;
		break;
	case OP_TRACE_BEGIN:
		begin_trace(fold);
		break;
	case OP_USER_STACK:
		see_stack(fold, p);
		break;
	case OP_TRACE_END:
		end_trace(fold, p[0]);
		fold->in_trace = false;
		break;
	case OP_COOKIE_NAME:
		see_name(fold, p);
		break;
	}
}

static void see_all(struct fold *fold, const uint64_t *at, size_t nr)
{
	while (nr >= 2) {
		size_t step = 2;

		if (at[0] == OP_ESCAPE)
			step += OP_WORDS_OF(at[1]);
		if (step > nr)
			errx(2, "a record that is cut");
		if (at[0] == OP_ESCAPE)
			see_record(fold, at[1], at + 2);
		else
			see_frame(fold, at[0]);
		at += step;
		nr -= step;
	}
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void print_lines(struct fold *fold)
{
	unsigned int i, nr = 0;

	qsort(fold->lines, fold->nr_lines, sizeof(char *), by_text);
	for (i = 0; i < fold->nr_lines; i++) {
		nr++;
		if (i + 1 < fold->nr_lines &&
		    !strcmp(fold->lines[i], fold->lines[i + 1]))
			continue;
		printf("%u %s\n", nr, fold->lines[i]);
		nr = 0;
	}
}

int main(int argc, char **argv)
{
	static struct fold fold;
	const uint64_t *words;
	size_t len;

	if (argc != 3)
		errx(2, "usage: foldstream STREAM PROGRAM");
	fold.program = argv[2];
	read_symbols(&fold);
	words = map_file(argv[1], &len);
	see_all(&fold, words, len / sizeof(*words));
	print_lines(&fold);
	return 0;
}
