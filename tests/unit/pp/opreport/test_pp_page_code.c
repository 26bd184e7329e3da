// SPDX-License-Identifier: GPL-2.0-or-later
/* The code on the pages that opreport writes for browsers: of which functions
 * it is, with which samples, and which lines of the sources stand beside it. */

#include "tests/unit/pp/pp_program.h"

#include "libpp/images/code.h"

/* Its main() under another name. */
#define main opreport_main
int main(int argc, char **argv);
#include "pp/opreport/opreport.c"
#undef main

static const struct program programs[] = {
	{ "opreport", opreport_main },
	{ NULL, NULL },
};

/* Files of the kernel and its modules are looked for in "mods". */
#define PAGE                                                                   \
	"opreport --session-dir=. --root=root --image-path=mods --format=html"

/* The session of a row, what is done to the files before, and a part of what
 * the page has of code. */
struct page_row {
	const char *lines[2], *script;
	const char *from, *to;
	const char *name, *wanted;
};

static void check_page(const struct page_row *row, const char *folder)
{
	struct text all, part;
	const char *start, *end;

	write_run(text_begin(&all), programs, PAGE, folder);
	fclose(all.out);
	start = find_text(all.all, " \"code\": {", row->name);
	start = find_text(start, row->from, row->name);
	end = find_text(start, row->to, row->name);
	fwrite(start, 1, (size_t)(end - start), text_begin(&part));
	free(all.all);
	text_must_be(&part, row->name, row->wanted);
}

static void check_pages(const struct page_row *rows, size_t nr,
			const char *folder)
{
	for (size_t i = 0; i < nr; i++) {
		if (rows[i].script)
			assert_int_equal(system(rows[i].script), 0);
		write_session(rows[i].lines, NR(rows[i].lines));
		check_page(&rows[i], folder);
	}
}

/* ---- functions ----------------------------------------------------------- */

/* The offsets 0x1000, 0x1020 and 0x1030 are in first, second and bare, 0x1004
 * and 0x1025 in tiny, which is inlined in the former two. */
FOLDER_TEST(code_is_that_of_hot_functions)
{
	/* clang-format off */
	static const struct page_row rows[] = {
		{ .lines = { "current x x CYCLES 1000=9981 1020=10 1030=9" },
		  .from = "  \"symbols\"", .to = " \"texts\"",
		  .name = "a thousandth of the samples, and less",
		  .wanted = EXPECTED_ROW },
		{ .lines = { "current x x CYCLES 1000=9991 1030=9",
			     "current x x MISSES 1030=1" },
		  .from = "  \"symbols\"", .to = " \"texts\"",
		  .name = "little of one event, all of the other",
		  .wanted = EXPECTED_ROW },
		{ .lines = { "current x x CYCLES 1020=7",
			     "current w x CYCLES 1020=2 102f=1" },
		  .from = "  \"symbols\"", .to = " \"texts\"",
		  .name = "one function in two programs",
		  .wanted = EXPECTED_ROW },
		{ .script = "cp root/bin/x root/bin/w",
		  .lines = { "current x x CYCLES 1020=5 1030=4",
			     "current w w CYCLES 1020=1 1025=2 1027=9 1028=1 1029=1 102a=1 102b=1 102c=1" },
		  .from = "  \"symbols\"", .to = " \"texts\"",
		  .name = "functions of two binaries",
		  .wanted = EXPECTED_ROW },
		{ .lines = { "current x x CYCLES 1004=5 1005=4 1025=1 1026=2" },
		  .from = "  \"symbols\"", .to = " \"texts\"",
		  .name = "samples inside of inlined instructions",
		  .wanted = EXPECTED_ROW },
		/* Its samples count from the begin of its code. */
		{ .script = "cp root/bin/x mods/mod.ko",
		  .lines = { "current x m CYCLES 4=5 5=1 20=3" },
		  .from = "  \"symbols\"", .to = " \"texts\"",
		  .name = "a module",
		  .wanted = EXPECTED_ROW },
		{ .script = "rm root/bin/w",
		  .lines = { "current x x CYCLES 1030=5",
			     "current w k CYCLES 110=4 200=9" },
		  .from = "  \"symbols\"", .to = " \"texts\"",
		  .name = "no binary",
		  .wanted = EXPECTED_ROW },
	};
	/* clang-format on */

	make_binaries();
	assert_int_equal(mkdir("mods", 0755), 0);
	check_pages(rows, NR(rows), *state);
}

/* Of 103 functions all but one are hot; 100 of them are shown. */
FOLDER_TEST(there_is_a_most_of_functions)
{
	static const struct page_row row = {
		.from = "  \"threshold\"",
		.to = "  \"files\"",
		.name = "many",
		.wanted = EXPECTED_ROW,
	};
	static const char script[] =
		"mkdir -p root/bin; { echo .globl _start; for n in $(seq 100 "
		"202); do echo .type f$n, @function; echo f$n: nop; echo .size "
		"f$n, 1; done; echo _start:; } >f.s && ${CC:-cc} -nostdlib "
		"-static -Wl,-Ttext=0x401000 -Wl,--build-id=0x01 "
		"-o root/bin/f f.s";
	char line[64];

	assert_int_equal(system(script), 0);
	assert_int_equal(mkdir("mods", 0755), 0);
	for (unsigned int n = 0; n < 103; n++) {
		snprintf(line, sizeof(line), "current f f CYCLES %x=%d",
			 0x1000 + n, n == 7 ? 1 : 100);
		write_samples(line);
	}
	check_page(&row, *state);
}

/* ---- sources ------------------------------------------------------------- */

/* root/bin/l with a function of lines 2, 46 and 91 of src/l.c, which has 100
 * of them. */
static void make_lines(void)
{
	static const char script[] =
		"set -e; mkdir -p root/bin src; cat >l.s <<'END'\n"
		"\t.file 1 \"src/l.c\"\n"
		"\t.globl _start\n"
		"\t.type far, @function\n"
		"_start:\n"
		"far:\t.loc 1 2\n"
		"\tnop\n"
		"\t.loc 1 46\n"
		"\tinc %eax\n"
		"\t.loc 1 91\n"
		"\tdec %eax\n"
		"\t.size far, . - far\n"
		"END\n"
		"${CC:-cc} -g -nostdlib -static -Wl,-Ttext=0x401000 "
		"-Wl,--build-id=0x01 -o root/bin/l l.s\n"
		"for n in $(seq 100); do echo l$n; done >src/l.c\n"
		"touch -d @1000 src/l.c root/bin/l\n";

	assert_int_equal(system(script), 0);
}

FOLDER_TEST(sources_are_those_near_code)
{
	/* clang-format off */
	static const struct page_row rows[] = {
		/* Between lines 44 apart nothing is left out, between those 45
		 * apart what is 5 lines away from one and 40 from the other. */
		{ .lines = { "current l l CYCLES 1000=5" },
		  .from = "  \"files\"", .to = "  \"symbols\"",
		  .name = "lines",
		  .wanted =
		  "  \"files\": [[\"$/src/l.c\", false, [1, \"l1\", \"l2\", \"l3\", \"l4\", \"l5\", \"l6\", \"l7\", \"l8\", \"l9\", \"l10\", \"l11\", \"l12\", \"l13\", \"l14\", \"l15\", \"l16\", \"l17\", \"l18\", \"l19\", \"l20\", \"l21\", \"l22\", \"l23\", \"l24\", \"l25\", \"l26\", \"l27\", \"l28\", \"l29\", \"l30\", \"l31\", \"l32\", \"l33\", \"l34\", \"l35\", \"l36\", \"l37\", \"l38\", \"l39\", \"l40\", \"l41\", \"l42\", \"l43\", \"l44\", \"l45\", \"l46\", \"l47\", \"l48\", \"l49\", \"l50\"], [52, \"l52\", \"l53\", \"l54\", \"l55\", \"l56\", \"l57\", \"l58\", \"l59\", \"l60\", \"l61\", \"l62\", \"l63\", \"l64\", \"l65\", \"l66\", \"l67\", \"l68\", \"l69\", \"l70\", \"l71\", \"l72\", \"l73\", \"l74\", \"l75\", \"l76\", \"l77\", \"l78\", \"l79\", \"l80\", \"l81\", \"l82\", \"l83\", \"l84\", \"l85\"], [87, \"l87\", \"l88\", \"l89\", \"l90\", \"l91\", \"l92\", \"l93\", \"l94\", \"l95\"]]],\n" },
		{ .lines = { "current l l CYCLES 1000=5" },
		  .script = "printf '%490s1234567890\\nb\\n' '' >src/l.c; touch -d @1000 src/l.c",
		  .from = "1234", .to = "  \"symbols\"",
		  .name = "a line of 500 bytes",
		  .wanted =
		  "1234567890\", \"b\"]]],\n" },
		{ .lines = { "current l l CYCLES 1000=5" },
		  .script = "printf '%490s1234567890A\\nb\\n' '' >src/l.c; touch -d @1000 src/l.c",
		  .from = "1234", .to = "  \"symbols\"",
		  .name = "a longer line",
		  .wanted =
		  "1234567890\", \"b\"]]],\n" },
		{ .lines = { "current l l CYCLES 1000=5" },
		  .script = "printf 'a\\n\\nc' >src/l.c; touch -d @1000 src/l.c",
		  .from = "  \"files\"", .to = "  \"symbols\"",
		  .name = "no newline at the end",
		  .wanted =
		  "  \"files\": [[\"$/src/l.c\", false, [1, \"a\", \"\", \"c\"]]],\n" },
		{ .lines = { "current l l CYCLES 1000=5" },
		  .script = "rm src/l.c",
		  .from = "  \"files\"", .to = " \"texts\"",
		  .name = "no source",
		  .wanted = EXPECTED_ROW },
	};
	/* clang-format on */

	make_lines();
	assert_int_equal(mkdir("mods", 0755), 0);
	check_pages(rows, NR(rows), *state);
}

BEFORE_TESTS()
{
	set_program_environment();
}
