// SPDX-License-Identifier: GPL-2.0-or-later
/* Listings of code: rows are command lines of opannotate. */

#include "tests/unit/pp/pp_program.h"

#define main opannotate_main
int main(int argc, char **argv);
#include "pp/opannotate/opannotate.c"
#undef main

static const struct program programs[] = {
	{ "opannotate", opannotate_main },
	{ NULL, NULL },
};

FOLDER_TEST(code_is_annotated)
{
	static const struct program_row one[] = {
		{ .line = "opannotate --session-dir=. --root=root -s",
		  .wanted = EXPECTED("opannotate-s") },
		{ .line = "opannotate --session-dir=. --root=root -sn -t 20",
		  .wanted = EXPECTED("opannotate-sn-t-20") },
		{ .line = "opannotate --session-dir=. --root=root -s --all",
		  .wanted = EXPECTED("opannotate-s-all") },
		{ .line = "opannotate --session-dir=. --root=root -s --include-file=*.h -n",
		  .wanted = EXPECTED_ROW },
		{ .line = "opannotate --session-dir=. --root=root -s --exclude-file=*.h,*.c -n",
		  .wanted = EXPECTED_ROW },
		{ .line = "opannotate --session-dir=. --root=root -s -i none",
		  .wanted = EXPECTED_ROW },
		{ .line = "opannotate --session-dir=. --root=root -a -i none",
		  .wanted = EXPECTED_ROW },
		{ .line = "opannotate --session-dir=. --root=root -a",
		  .wanted = EXPECTED("opannotate-a") },
		{ .line = "opannotate --session-dir=. --root=root -a -t 30 -n --include-file=x",
		  .wanted = EXPECTED("opannotate-a-t-30-n-include-file-x") },
		{ .line = "opannotate --session-dir=. --root=root -as -i first -n",
		  .wanted = EXPECTED("opannotate-as-i-first-n") },
		{ .line = "opannotate --session-dir=. --root=root -a --all",
		  .wanted = EXPECTED("opannotate-a-all") },
		{ .line = "opannotate --session-dir=. --root=root -as --all -i second,bare -n",
		  .wanted = EXPECTED("opannotate-as-all-i-second-bare-n") },
		{ .line = "opannotate --session-dir=. --root=root -a -i first --all -n --objdump-params=--show-raw-insn",
		  .wanted = EXPECTED(
			  "opannotate-a-i-first-all-n-objdump-param") },
		{ .line = "opannotate --session-dir=. --root=root -a -i second --all -n --objdump-params=-lw",
		  .wanted = EXPECTED(
			  "opannotate-a-i-second-all-n-objdump-para") },
		{ .line = "opannotate --session-dir=. --root=root -a -i second -n --objdump-params=--no-addresses --all",
		  .wanted = EXPECTED(
			  "opannotate-a-i-second-n-objdump-params-n") },
		{ .line = "opannotate --session-dir=. --root=root -a -i second -n --color=always",
		  .wanted = EXPECTED("opannotate-a-i-second-n-color-always") },
		{ .line = "opannotate --session-dir=. --root=root -s -i second -n --color=always",
		  .wanted = EXPECTED_ROW },
		{ .line = "opannotate --session-dir=. --root=root --source-with-assembly -n -i second",
		  .wanted = EXPECTED(
			  "opannotate-source-with-assembly-n-i-seco") },
		{ .line = "opannotate --session-dir=. --root=root -s -i none /bin/none",
		  .wanted = EXPECTED_ROW },
		{ .line = "opannotate --session-dir=. --root=root",
		  .wanted = EXPECTED_ROW },
		{ .line = "opannotate --session-dir=. -s {",
		  .wanted = EXPECTED_ROW },
	};
	static const char account[] = "source = x\ntaken = 300\nstored = 218\n"
				      "pending = 0\n"
				      "lost.buffer_full = 82\n";
	static const struct program_row lossy[] = {
		{ .line = "opannotate --session-dir=. --root=root -sn -i second",
		  .wanted = EXPECTED("opannotate-sn-i-second") },
		{ .line = "opannotate --session-dir=. --root=root -s -i second",
		  .wanted = EXPECTED("opannotate-s-i-second") },
		{ .line = "opannotate --session-dir=. --root=root -s -i second -o listed",
		  .wanted =
			  "opannotate: warning: 82 of 300 samples were lost; the header of opreport says why\n" },
	};
	static const struct program_row two[] = {
		{ .line = "opannotate --session-dir=. --root=root -s",
		  .wanted = EXPECTED("opannotate-s-2") },
		{ .line = "opannotate --session-dir=. --root=root -a",
		  .wanted = EXPECTED("opannotate-a-2") },
		{ .line = "opannotate --session-dir=. --root=root -a --all -n -i /bin/y",
		  .wanted = EXPECTED("opannotate-a-all-n-i-bin-y") },
		{ .line = "opannotate --session-dir=. --root=root -a --all -n /bin/y",
		  .wanted = EXPECTED("opannotate-a-all-n-bin-y") },
	};

	/* The head is at the end of a file of its own. */
	static const char listed_header[] = EXPECTED_ROW;
	struct text listed;
	char path[512];

	make_binaries();
	write_session(one_event, NR(one_event));
	check_runs(programs, one, NR(one), *state);
	write_text("samples/current/ledger", account);
	check_runs(programs, lossy, NR(lossy), *state);
	snprintf(path, sizeof(path), "listed%s/src/x.h", (char *)*state);
	write_without(text_begin(&listed), strdup(text_of(path)), *state);
	text_must_be(&listed, "the listed header", listed_header);
	write_session(two_events, NR(two_events));
	check_runs(programs, two, NR(two), *state);
}

/* Of each binary some symbols are named. */
FOLDER_TEST(code_without_lines_is_told)
{
	static const char *const three[] = {
		"current k k CYCLES 10=6 110=5 210=4",
	};
	static const char *const five[] = {
		"current k k CYCLES 10=6 110=5 210=4 310=3 410=2",
		"current k k MISSES 10=1 210=7",
	};
	static const struct program_row of_three[] = {
		{ .line = "opannotate --session-dir=. -sn",
		  .wanted = EXPECTED_AS("opannotate --session-dir=. -sn, 1") },
	};
	static const struct program_row of_five[] = {
		{ .line = "opannotate --session-dir=. -sn event:CYCLES",
		  .wanted = EXPECTED_ROW },
		{ .line = "opannotate --session-dir=. -sn",
		  .wanted = EXPECTED_AS("opannotate --session-dir=. -sn, 2") },
		{ .line = "opannotate --session-dir=. -sn -e wait",
		  .wanted = EXPECTED_ROW },
		{ .line = "opannotate --session-dir=. -sn -e _stext,do_work,wait,_weak",
		  .wanted = EXPECTED_ROW },
	};

	write_session(three, NR(three));
	check_runs(programs, of_three, NR(of_three), *state);
	write_session(five, NR(five));
	check_runs(programs, of_five, NR(of_five), *state);
}

/* Hot instructions at both ends of a function and cold ones there, and code of
 * two events. */
FOLDER_TEST(ends_of_functions_are_shown)
{
	static const struct {
		const char *lines[2];
		struct program_row row;
	} rows[] = {
		/* The first instruction is cold, the last one hot. */
		{ { "current x x CYCLES 1000=1 100e=900 101f=900" },
		  { .line = "opannotate --session-dir=. --root=root -an",
		    .wanted = EXPECTED("opannotate-an") } },
		/* Both are hot, what is between is not shown. */
		{ { "current x x CYCLES 1000=900 1002=8 100a=8 101f=900" },
		  { .line = "opannotate --session-dir=. --root=root -an event:CYCLES",
		    .wanted = EXPECTED("opannotate-an-event-cycles") } },
		/* A gap has samples of both events. */
		{ { "current x x CYCLES 1000=900 1010=8",
		    "current x x MISSES 1000=900 101c=7" },
		  { .line = "opannotate --session-dir=. --root=root -an -i first",
		    .wanted = EXPECTED("opannotate-an-i-first") } },
		/* Lines, likewise. */
		{ { "current x x CYCLES 1000=900 1010=8",
		    "current x x MISSES 1000=900 101c=7" },
		  { .line = "opannotate --session-dir=. --root=root -sn -i first",
		    .wanted = EXPECTED_ROW } },
	};

	make_binaries();
	for (size_t i = 0; i < NR(rows); i++) {
		write_session(rows[i].lines, NR(rows[i].lines));
		check_run(programs, &rows[i].row, *state);
	}
}

/* root/bin/c with functions of C++, of which the second calls the first. Lines
 * are known of the first alone. */
static void make_cxx_binary(void)
{
	static const char script[] =
		"set -e; mkdir -p root/bin src; cat >c.s <<'END'\n"
		"\t.file 1 \"src/c.cc\"\n"
		"\t.globl _start\n"
		"\t.type _ZN1a1bEi, @function\n"
		"_start:\n"
		"_ZN1a1bEi:\t.loc 1 1\n"
		"\tret\n"
		"\t.size _ZN1a1bEi, . - _ZN1a1bEi\n"
		"\t.section .text.more, \"ax\"\n"
		"\t.type _Z1cv, @function\n"
		"_Z1cv:\tcall _ZN1a1bEi\n"
		"\t.size _Z1cv, . - _Z1cv\n"
		"END\n"
		"echo one >src/c.cc\n"
		"${CC:-cc} -nostdlib -static -Wl,-Ttext=0x401000 "
		"-Wl,--build-id=0x01 -o root/bin/c c.s\n"
		"touch -d @1000 src/c.cc root/bin/c\n";

	assert_int_equal(system(script), 0);
}

FOLDER_TEST(names_are_demangled)
{
	static const struct program_row rows[] = {
		{ .line = "opannotate --session-dir=. --root=root -an /bin/c",
		  .wanted = EXPECTED_ROW },
		{ .line = "opannotate --session-dir=. --root=root -an /bin/c --demangle=none",
		  .wanted = EXPECTED_ROW },
		{ .line = "opannotate --session-dir=. --root=root -an /bin/c --all",
		  .wanted = EXPECTED("opannotate-an-bin-c-all") },
		{ .line = "opannotate --session-dir=. --root=root -an /bin/c --all --objdump-params=-C",
		  .wanted = EXPECTED(
			  "opannotate-an-bin-c-all-objdump-params-c") },
		{ .line = "opannotate --session-dir=. --root=root -sn /bin/c",
		  .wanted = EXPECTED_ROW },
		{ .line = "opannotate --session-dir=. --root=root -sn /bin/d",
		  .wanted = EXPECTED_ROW },
		{ .line = "opannotate --session-dir=. --root=root -sn event:MISSES",
		  .wanted = EXPECTED_ROW },
	};
	static const struct program_row of_module[] = {
		{ .line = "opannotate --session-dir=. --root=root --image-path=mods -an",
		  .wanted = EXPECTED_ROW },
		{ .line = "opannotate --session-dir=. --root=root --image-path=mods -an --all",
		  .wanted = EXPECTED("opannotate-image-path-mods-an-all") },
	};
	static const char *const module[] = {
		"current x m CYCLES 0=5 1=4",
	};
	/* _stext, do_work, both of wait, and _weak */
	static const char *const lines[] = {
		"current c c CYCLES 1000=5 1001=4",
		"current d k CYCLES 10=1 110=2 210=3 310=4 410=5",
		"current e k MISSES 10=1 110=2 210=3 410=5",
	};

	make_cxx_binary();
	write_session(lines, NR(lines));
	check_runs(programs, rows, NR(rows), *state);
	/* Samples of a module count from the begin of its code. */
	assert_int_equal(system("mkdir mods; cp root/bin/c mods/mod.ko"), 0);
	write_session(module, NR(module));
	check_runs(programs, of_module, NR(of_module), *state);
}

/* Functions of one instruction each, every other one with many samples. */
static void write_functions(unsigned int nr, const char *section,
			    struct text *listing)
{
	char line[64], command[1024];
	unsigned int total = 2 * nr - nr % 2;
	FILE *out = listing->out;

	snprintf(
		command, sizeof(command),
		"{ echo .section %s, \\\"ax\\\"; echo .globl _start; for n in $(seq 100 %u); do echo "
		".type f$n, @function; echo f$n: nop; echo .size f$n, 1; "
		"done; echo _start:; } >f.s && ${CC:-cc} -nostdlib -static "
		"-Wl,--section-start=%s=0x401000 -Wl,--build-id=0x01 "
		"-o root/bin/f f.s",
		section, 99 + nr, section);
	assert_int_equal(system(command), 0);
	assert_int_equal(system("rm -rf samples"), 0);
	for (unsigned int n = 0; n < nr; n++) {
		unsigned int count = n % 2 ? 3 : 1;

		snprintf(line, sizeof(line), "current f f CYCLES %x=%u",
			 0x1000 + n, count);
		write_samples(line);
		fprintf(out,
			"               :\n"
			"%016x <f%u>: /* f%u total:      %u %7.4f */\n"
			"     %u %7.4f :  %x:\tnop\n",
			0x401000 + n, 100 + n, 100 + n, count,
			100.0 * count / total, count, 100.0 * count / total,
			0x401000 + n);
	}
}

/* A section is announced once, however long its name is. */
FOLDER_TEST(many_symbols_are_by_address)
{
	static const struct {
		const char *section, *shown;
	} rows[] = {
		{ ".text", ".text" },
		{ ".functions.of.a.section.whose.name.has.more.than.63.letters.in.it",
		  ".functions.of.a.section.whose.name.has.more.than.63.letters.in." },
	};

	assert_int_equal(system("mkdir -p root/bin"), 0);
	for (size_t i = 0; i < NR(rows); i++) {
		struct program_row row = {
			.line = "opannotate --session-dir=. --root=root -a --all -n",
		};
		struct text wanted;

		fprintf(text_begin(&wanted),
			"               :\n"
			"               :root/bin/f:     file format elf64-x86-64\n"
			"               :\n"
			"               :\n"
			"               :Disassembly of section %s:\n",
			rows[i].shown);
		write_functions(51, rows[i].section, &wanted);
		fclose(wanted.out);
		row.wanted = wanted.all;
		check_run(programs, &row, *state);
		free(wanted.all);
	}
}

BEFORE_TESTS()
{
	set_program_environment();
}
