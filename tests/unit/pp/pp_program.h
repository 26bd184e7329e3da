/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TESTS_UNIT_PP_PROGRAM_H
#define TESTS_UNIT_PP_PROGRAM_H

/*
 * Runs of whole programs, each in a process of its own: what they print,
 * complain of and end with. A test includes the files of main() that it runs,
 * each under another name.
 */

#include "tests/unit/pp_session.h"

#include <sys/wait.h>

struct program {
	const char *name;
	int (*main)(int argc, char **argv);
};

/* What of a run's text is compared: all, or from @from to before @to. */
struct program_row {
	const char *line, *wanted, *from, *to;
};

static inline const struct program *find_program(const struct program *programs,
						 const char *name)
{
	while (programs->name && strcmp(programs->name, name) != 0)
		programs++;
	return programs->name ? programs : NULL;
}

/* A child for one of ours: the test is called by the name of a program, as
 * link_program() made it. */
static inline void be_program(const struct program *programs, int argc,
			      char **argv)
{
	const char *slash = strrchr(argv[0], '/');
	const struct program *program =
		find_program(programs, slash ? slash + 1 : argv[0]);

	if (program)
		exit(program->main(argc, argv));
}

/* Our programs find @name in the working folder, which be_program() serves. */
static inline void link_program(const char *name)
{
	char path[4096];
	ssize_t len = readlink("/proc/self/exe", path, sizeof(path) - 1);

	assert_true(len > 0);
	path[len] = '\0';
	assert_int_equal(symlink(path, name), 0);
}

struct command {
	const struct program *program;
	char copy[512]; /* of the line */
	const char *words[24];
	int nr;
};

static inline void take_command(struct command *c,
				const struct program *programs,
				const char *line)
{
	split_words(line, c->copy, c->words, NR(c->words));
	for (c->nr = 0; c->words[c->nr];)
		c->nr++;
	c->program = find_program(programs, c->words[0]);
	assert_non_null(c->program);
}

static inline int run_command(const struct command *c)
{
	return c->program->main(c->nr, (char **)c->words);
}

/* In a child: what it prints goes to the files "out" and "err". */
static inline void redirect_run(void)
{
	if (!freopen("out", "w", stdout) || !freopen("err", "w", stderr) ||
	    !freopen("/dev/null", "r", stdin))
		_exit(99);
}

/* Run the program of @line in a child, where @begin, unless NULL, is called
 * first with @ctx. Returns its status as waitpid(2) has it. */
static inline int run_program(const struct program *programs, const char *line,
			      void (*begin)(const void *ctx), const void *ctx)
{
	struct command command;
	int status;
	pid_t pid;

	take_command(&command, programs, line);
	fflush(NULL);
	pid = fork();
	if (!pid) {
		redirect_run();
		if (begin)
			begin(ctx);
		exit(run_command(&command));
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

/* Write what the program of @line prints, with '$' for the folder @folder:
 * standard output, then standard error, then its status unless that is 0. */
static inline void write_run(FILE *out, const struct program *programs,
			     const char *line, const char *folder)
{
	int status = run_program(programs, line, NULL, NULL);

	if (!WIFEXITED(status))
		fail_msg("%s: signal %d", line, WTERMSIG(status));
	write_without(out, strdup(text_of("out")), folder);
	write_without(out, strdup(text_of("err")), folder);
	if (WEXITSTATUS(status))
		fprintf(out, "= %d\n", WEXITSTATUS(status));
}

static inline const char *find_text(const char *all, const char *text,
				    const char *line)
{
	const char *found = strstr(all, text);

	if (!found)
		fail_msg("%s: no \"%s\" in\n%s", line, text, all);
	return found;
}

static inline void check_run(const struct program *programs,
			     const struct program_row *row, const char *folder)
{
	struct text all, part;
	const char *start, *end;

	write_run(text_begin(&all), programs, row->line, folder);
	fclose(all.out);
	start = all.all;
	if (row->from)
		start = find_text(start, row->from, row->line);
	end = start + strlen(start);
	if (row->to)
		end = find_text(start, row->to, row->line);
	fwrite(start, 1, (size_t)(end - start), text_begin(&part));
	free(all.all);
	text_must_be(&part, row->line, row->wanted);
}

static inline void check_runs(const struct program *programs,
			      const struct program_row *rows, size_t nr,
			      const char *folder)
{
	for (size_t i = 0; i < nr; i++)
		check_run(programs, &rows[i], folder);
}

/* ---- a binary --------------------------------------------------------------
 */

/*
 * root/bin/x with the functions first, second and bare, of 32, 16 and 16 bytes,
 * the inlined function tiny in the first two, and root/bin/y without symbols.
 * Their build-id is that of all images.
 */
static inline void make_binaries(void)
{
	static const char script[] =
		"set -e; mkdir -p root/bin src; cat >x.s <<'END'\n"
		"\t.file 1 \"src/x.c\"\n"
		"\t.file 2 \"src/x.h\"\n"
		"\t.text\n"
		"\t.globl first, second, _start\n"
		"\t.type first, @function\n"
		"first:\t.loc 1 2\n"
		"\txor %eax, %eax\n"
		"\t.loc 1 3\n"
		"\tinc %eax\n"
		"4:\t.loc 2 1\n"
		"\tdec %eax\n"
		"5:\t.loc 1 4\n"
		"\tnop\n"
		"\t.skip 7, 0x90\n"
		"\t.loc 1 18\n"
		"\tinc %ebx\n"
		"\t.loc 1 12\n"
		"\tmovabs $0x1122334455667788, %rax\n"
		"\t.loc 1 0\n"
		"\tnop\n"
		"\t.loc 1 21\n"
		"\tret\n"
		"\t.skip 4, 0x90\n"
		"\t.size first, . - first\n"
		"\t.type second, @function\n"
		"second:\t.loc 1 30\n"
		"\tcall first\n"
		"6:\t.loc 2 1\n"
		"\tdec %eax\n"
		"7:\t.loc 1 31\n"
		"\tnop\n"
		"\t.skip 7, 0x90\n"
		"\tret\n"
		"\t.size second, . - second\n"
		"\t.type bare, @function\n"
		"bare:\n"
		"_start:\t.loc 1 34\n"
		"\tnop\n"
		"\t.skip 15, 0x90\n"
		"\t.size bare, . - bare\n"
		"8:\t.section .debug_abbrev\n"
		"\t.uleb128 1, 0x11, 1, 0x10, 0x17, 3, 8, 0x1b, 8\n"
		"\t.uleb128 0x11, 1, 0x12, 7, 0, 0\n"
		"\t.uleb128 2, 0x2e, 0, 3, 8, 0x20, 0xb, 0x3a, 0xb\n"
		"\t.uleb128 0x3b, 0xb, 0, 0\n"
		"\t.uleb128 3, 0x2e, 1, 3, 8, 0x3a, 0xb, 0x3b, 0xb\n"
		"\t.uleb128 0x11, 1, 0x12, 7, 0, 0\n"
		"\t.uleb128 4, 0x1d, 0, 0x31, 0x13, 0x11, 1, 0x12, 7\n"
		"\t.uleb128 0x58, 0xb, 0x59, 0xb, 0, 0\n"
		"\t.uleb128 0\n"
		"\t.section .debug_info\n"
		"1:\t.long 3f - 2f\n"
		"2:\t.value 4\n"
		"\t.long .debug_abbrev\n"
		"\t.byte 8, 1\n"
		"\t.long .debug_line\n"
		"\t.string \"src/x.c\", \"FOLDER\"\n"
		"\t.quad first, 0x40\n"
		"9:\t.byte 2\n"
		"\t.string \"tiny\"\n"
		"\t.byte 1, 2, 1\n"
		"\t.byte 3\n"
		"\t.string \"first\"\n"
		"\t.byte 1, 1\n"
		"\t.quad first, 0x20\n"
		"\t.byte 4\n"
		"\t.long 9b - 1b\n"
		"\t.quad 4b, 2\n"
		"\t.byte 1, 4, 0\n"
		"\t.byte 3\n"
		"\t.string \"second\"\n"
		"\t.byte 1, 29\n"
		"\t.quad second, 0x10\n"
		"\t.byte 4\n"
		"\t.long 9b - 1b\n"
		"\t.quad 6b, 2\n"
		"\t.byte 1, 31, 0\n"
		"\t.byte 0\n"
		"3:\t.section .debug_line\n"
		"END\n"
		"sed -i s:FOLDER:$PWD: x.s\n"
		"for n in $(seq 40); do echo line $n; done >src/x.c\n"
		"echo 'a header' >src/x.h\n"
		"${CC:-cc} -nostdlib -static -Wl,-Ttext=0x401000 "
		"-Wl,--build-id=0x01 -o root/bin/x x.s\n"
		"strip -o root/bin/y root/bin/x; mkdir z; cp root/bin/x z/z\n"
		"touch -d @1000 src/x.? root/bin/?\n";

	assert_int_equal(system(script), 0);
}

/* Samples at offsets, of which 0x1000 is first. */
#define SAMPLES_OF_X                                                           \
	("current x x CYCLES 1000=5 1002=100 1003=20 1004=30 100e=40 1010=1 "  \
	 "101a=6 1020=3 1025=2 1030=1")

#define CYCLES_OF_X                                                            \
	"samples/current/{root}/bin/x/{dep}/{root}/bin/x/"                     \
	"CYCLES.100.0.all.all.all"

static const char *const one_event[] = { SAMPLES_OF_X,
					 "current x k CYCLES 110=10" };

static const char *const two_events[] = {
	SAMPLES_OF_X,
	"current x x MISSES 1010=50 1004=2",
	"current y y CYCLES 1002=7 100e=9 2000=1",
};

/* No setting of the user's matters. */
static inline void set_program_environment(void)
{
	setenv("TZ", "UTC", 1);
	setenv("LC_ALL", "C.UTF-8", 1);
	unsetenv("DEBUGINFOD_URLS");
	unsetenv("NO_COLOR");
}

#endif /* TESTS_UNIT_PP_PROGRAM_H */
