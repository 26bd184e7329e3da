// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Names of the entries by which code calls other libraries, in what the linker
 * makes of the same code in each of its ways.
 */

#include "tests/unit/pp_fixture.h"

#include "libpp/symbols/op_bfd.h"

#ifdef __x86_64__

/* Functions of other libraries: two are called, one's address is used as well;
 * and a function of this one that is chosen when it is loaded. */
#define CALLS                                                                  \
	".text\n.globl f\n.type f,@function\n"                                 \
	"f: call first@PLT\n"                                                  \
	"call second@PLT\n"                                                    \
	"call used@PLT\n"                                                      \
	"mov used@GOTPCREL(%rip), %rax\n"                                      \
	"call chosen@PLT\n"                                                    \
	".type chosen,@gnu_indirect_function\n.hidden chosen\n"                \
	"chosen: ret\n"

/* Entries as other linkers make them, and what only resembles one: a slot of
 * data, another instruction, and a jump that the section cuts off. */
#define OTHERS                                                                 \
	".section .plt,\"ax\"\n"                                               \
	"endbr64\nmov $1, %r11d\njmp *first@GOTPCREL(%rip)\n"                  \
	"endbr64\n.byte 0xf2\njmp *second@GOTPCREL(%rip)\n.skip 5\n"           \
	"endbr64\nmov $2, %r11d\njmp *data(%rip)\n"                            \
	"endbr64\nmov $3, %r10d\njmp *third@GOTPCREL(%rip)\n"                  \
	"call *third@GOTPCREL(%rip)\n.skip 2\n"                                \
	"jmp *third@GOTPCREL(%rip)\n.skip 2\n"                                 \
	"endbr64\n.byte 0xff, 0x25, 0, 0, 0\n"                                 \
	".data\ndata: .quad first\n"

#define LIBRARY "-shared -Wl,--build-id=none "

/* Names, each with how many bytes before the end of its section it begins; a
 * number behind "chosen" is an address of .text. Most are global. */
static const struct row {
	const char *name, *text, *flags, *entries;
} rows[] = {
	{ "a library", CALLS, LIBRARY, EXPECTED_ROW },
	{ "a library that branches are followed in", CALLS,
	  LIBRARY "-Wl,-z,ibtplt", EXPECTED_ROW },
	{ "a stripped library", CALLS, LIBRARY "-s", EXPECTED_ROW },
	{ "other entries", OTHERS, LIBRARY, EXPECTED_ROW },
	{ "not linked", CALLS, "-c", "" },
	{ "no library",
	  OTHERS ".text\n.globl first,second,third\n"
		 "first:\nsecond:\nthird: ret\n",
	  "-static -Wl,-e,0 -Wl,--build-id=none", "" },
};

/* "*ABS*+0x1234@plt" is printed with the name of the function there. */
static void write_entry_name(FILE *out, const char *name, const char *chosen)
{
	size_t len = strlen("*ABS*+"), digits;

	if (strncmp(name, "*ABS*+", len)) {
		fputs(name, out);
		return;
	}
	digits = strcspn(name + len, "@");
	fprintf(out, "*ABS*+%s%s",
		strlen(chosen) == digits && !strncmp(name + len, chosen, digits)
			? "chosen"
			: "another",
		name + len + digits);
}

static int compare_entry_keys(const void *a, const void *b)
{
	const struct pp_raw_symbol *x = a, *y = b;

	return (x->key > y->key) - (x->key < y->key);
}

static void write_entries(FILE *out, struct op_bfd *bfd)
{
	struct pp_raw_symbol *syms;
	enum op_bfd_origin origin;
	char chosen[32] = "";
	size_t nr;

	assert_int_equal(op_bfd_symbols(bfd, false, &syms, &nr, &origin), 0);
	qsort(syms, nr, sizeof(*syms), compare_entry_keys);
	for (size_t i = 0; i < nr; i++)
		if (!strcmp(syms[i].name, "chosen"))
			snprintf(chosen, sizeof(chosen), "0x%llx",
				 (unsigned long long)syms[i].vma);
	for (size_t i = 0; i < nr; i++) {
		if (!strstr(syms[i].name, "@plt") &&
		    strcmp(syms[i].name, ".plt") != 0)
			continue;
		write_entry_name(out, syms[i].name, chosen);
		fprintf(out, " %llu%s\n",
			(unsigned long long)(syms[i].limit - syms[i].key),
			syms[i].flags & PP_SYM_GLOBAL ? "" : " local");
	}
	free(syms);
}

FOLDER_TEST(entries_have_names)
{
	static const struct op_debug_places places = { 0 };

	for (size_t i = 0; i < NR(rows); i++) {
		char line[512];
		struct op_bfd *bfd;
		struct text t;

		write_text("b.s", rows[i].text);
		snprintf(line, sizeof(line), "${CC:-cc} -nostdlib %s -o b b.s",
			 rows[i].flags);
		assert_int_equal(system(line), 0);
		assert_int_equal(op_bfd_open(&bfd, "b", &places), 0);
		write_entries(text_begin(&t), bfd);
		op_bfd_close(bfd);
		text_must_be(&t, rows[i].name, rows[i].entries);
	}
}
#endif
