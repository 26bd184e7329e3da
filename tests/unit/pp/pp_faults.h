/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TESTS_UNIT_PP_FAULTS_H
#define TESTS_UNIT_PP_FAULTS_H

/*
 * Runs of whole programs, while a system call fails, each in turn: the result
 * is that of a run in which none fails, or the status is not 0 and the reason
 * is told. Rows have all that is told.
 */

#include <limits.h>
#include <sys/socket.h>

#include "libop/files/op_file.h"
#include "libop/base/op_hash.h"
#include "fail_call.h"
#include "pp_program.h"

/* Those that read and write files. The last one, which then does not close,
 * would let who waits for the end of a pipe wait for ever. */
static const long fault_calls[] = {
	SYS_openat,    SYS_read,       SYS_pread64,  SYS_write,	 SYS_pwrite64,
	SYS_fstat,     SYS_newfstatat, SYS_statx,    SYS_lseek,	 SYS_getdents64,
	SYS_mmap,      SYS_mkdirat,    SYS_unlinkat, SYS_linkat, SYS_renameat2,
	SYS_ftruncate, SYS_fsync,      SYS_syncfs,
#ifdef SYS_mkdir
	SYS_mkdir,     SYS_unlink,     SYS_link,     SYS_rename,
#endif
	SYS_close,
};

struct fault_row {
	const char *line;
	const char *makes; /* the file or folder that it makes; NULL: "made" */
	const char *told; /* all lines, sorted, with EIO for "Input/output
			     error" */
	bool tells_in_output; /* what it finds is what it prints */
	bool runs_daemon; /* of whose calls none fails */
};

/* ---- a run --------------------------------------------------------------- */

struct fault_command {
	const struct fault_row *row;
	struct command command;
	const char *folder, *makes;
};

struct fault_outcome {
	int status;
	uint64_t result; /* a digest of what it printed and wrote */
	char *told;
};

/* The sum for all files and keys, as they come in any order. */
static uint64_t fault_digests;
static bool fault_runs_daemon;

/* A table has its keys in a random order. */
static inline bool add_table_digest(const char *path, uint64_t hash)
{
	uint64_t key, count;
	struct odb *odb;

	if (odb_open(&odb, path, ODB_RDONLY))
		return false;
	/* When a daemon began is in headers and names. */
	hash = fault_runs_daemon
		       ? 1
		       : op_hash_bytes(hash, odb_user(odb), ODB_USER_SIZE);
	fault_digests += hash;
	for (size_t at = 0; odb_next(odb, &at, &key, &count);)
		fault_digests += op_hash_mix(hash, key) * count;
	odb_close(odb);
	return true;
}

static inline void add_bytes_digest(const char *path, uint64_t hash)
{
	char *text;
	size_t len;

	assert_int_equal(op_file_read(path, SIZE_MAX / 2, &text, &len, NULL),
			 0);
	fault_digests += op_hash_bytes(hash, text, len);
	free(text);
}

static inline int add_fault_digest(const char *path, const struct stat *st,
				   int type, struct FTW *ftw)
{
	uint64_t hash = op_hash_text(0, path);

	(void)st;
	(void)ftw;
	/* Other files of a daemon's have times and random numbers. */
	if (type == FTW_F && !add_table_digest(path, hash) &&
	    !fault_runs_daemon)
		add_bytes_digest(path, hash);
	return 0;
}

/* The sanitizer asks this where it would look for leaks at the end, which takes
 * longer than such a run; the programs leave memory to the system when they
 * end (sanitizer/lsan_interface.h). */
static bool is_fault_run;
int __lsan_is_turned_off(void);
int __lsan_is_turned_off(void)
{
	return is_fault_run;
}

/* Most of such a test is the kernel's time for copying and freeing the memory
 * of processes, and the sanitizer keeps what was freed, up to 256 MiB of it
 * (sanitizer/asan_interface.h). */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "quarantine_size_mb=1:thread_local_quarantine_size_kb=64:malloc_context_size=4";
}

/* In a child: calls of the kinds @calls count. */
static inline void be_fault_command(const struct fault_command *c,
				    const long *calls, size_t nr, int socket)
{
	int status;

	is_fault_run = true;
	redirect_run();
	fail_call_begin(calls, nr, socket);
	status = run_command(&c->command);
	fflush(NULL);
	fail_call_end();
	exit(status);
}

static inline void run_with_fault(const struct fault_command *c,
				  struct fail_call *fault, const long *calls,
				  size_t nr, struct fault_outcome *outcome)
{
	struct text told;
	int sockets[2], listener;
	pid_t pid;

	nftw(c->makes, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets), 0);
	fflush(NULL);
	pid = fork();
	if (!pid) {
		close(sockets[0]);
		be_fault_command(c, calls, nr, sockets[1]);
	}
	close(sockets[1]);
	listener = fail_call_listener(sockets[0]);
	close(sockets[0]);
	fault->pid = c->row->runs_daemon ? pid : 0;
	if (listener >= 0) {
		fail_call(fault, listener);
		close(listener);
	}
	assert_int_equal(waitpid(pid, &outcome->status, 0), pid);
	/* A kernel or a container may refuse it. */
	if (listener < 0)
		skip();
	fault_digests = 0;
	fault_runs_daemon = c->row->runs_daemon;
	nftw("out", add_fault_digest, 16, FTW_PHYS);
	nftw(c->makes, add_fault_digest, 16, FTW_PHYS);
	outcome->result = fault_digests;
	write_without(text_begin(&told), strdup(text_of("err")), c->folder);
	if (c->row->tells_in_output)
		write_without(told.out, strdup(text_of("out")), c->folder);
	fclose(told.out);
	outcome->told = told.all;
}

/* ---- what is told ---------------------------------------------------------
 */

struct fault_lines {
	char **list;
	size_t nr;
};

/* Put @text, which is no longer, for the @len bytes @at. */
static inline void put_fault_text(char *at, size_t len, const char *text)
{
	size_t left = strlen(text);

	memmove(at + left, at + len, strlen(at + len) + 1);
	memcpy(at, text, left);
}

/* The same for what is between @start and @end. */
static inline void shorten_fault_line(char *line, const char *start,
				      const char *end)
{
	char *at = strstr(line, start), *rest;

	at = at ? at + strlen(start) : NULL;
	rest = at ? strstr(at, end) : NULL;
	if (rest && rest - at >= 3)
		put_fault_text(at, (size_t)(rest - at), "...");
}

/* @line is changed. */
static inline void add_fault_line(struct fault_lines *lines, char *line)
{
	char *error;

	while ((error = strstr(line, "Input/output error")))
		put_fault_text(error, strlen("Input/output error"), "EIO");
	/* Which sample file it is does not matter; new names are random. */
	shorten_fault_line(line, "/samples/current/{", ": ");
	shorten_fault_line(line, ".made.", "/");
	shorten_fault_line(line, ".opimport-", ":");
	shorten_fault_line(line, "/images/", ":");
	shorten_fault_line(line, "no such program in ", " or ");
	for (size_t i = 0; i < lines->nr; i++)
		if (!strcmp(lines->list[i], line))
			return;
	lines->list =
		realloc(lines->list, (lines->nr + 1) * sizeof(*lines->list));
	assert_non_null(lines->list);
	lines->list[lines->nr++] = strdup(line);
}

/* Each line that @outcome has and @good has not, without @name, the program's,
 * in front. */
static inline void add_fault_lines(struct fault_lines *lines,
				   const struct fault_outcome *outcome,
				   const struct fault_outcome *good,
				   const char *name)
{
	size_t len = strlen(name);
	char *save;

	for (char *line = strtok_r(outcome->told, "\n", &save); line;
	     line = strtok_r(NULL, "\n", &save))
		if (!strstr(good->told, line))
			add_fault_line(lines, !strncmp(line, name, len) &&
							      line[len] == ':'
						      ? line + len + 2
						      : line);
}

static inline int compare_fault_lines(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static inline void write_fault_lines(FILE *out, struct fault_lines *lines)
{
	if (lines->nr)
		qsort(lines->list, lines->nr, sizeof(*lines->list),
		      compare_fault_lines);
	for (size_t i = 0; i < lines->nr; i++) {
		fprintf(out, "%s\n", lines->list[i]);
		free(lines->list[i]);
	}
	free(lines->list);
}

/* ---- a row ----------------------------------------------------------------
 */

/* Let call @which of those that the run @good made fail. */
static inline void fail_one_call(const struct fault_command *c,
				 const struct fail_call *good_calls,
				 unsigned int which,
				 const struct fault_outcome *good,
				 struct fault_lines *lines)
{
	const long call = good_calls->calls[which];
	struct fail_call fault = { .error = EIO };
	struct fault_outcome outcome;

	for (unsigned int i = 0; i < which; i++)
		fault.which += good_calls->calls[i] == call;
	run_with_fault(c, &fault, &call, 1, &outcome);
	if (WIFSIGNALED(outcome.status))
		fail_msg("%s: with call %u of %u failing: signal %d",
			 c->row->line, which, good_calls->nr,
			 WTERMSIG(outcome.status));
	if (outcome.status ? !*outcome.told : outcome.result != good->result)
		fail_msg(
			"%s: with call %u of %u failing (number %ld): status %d and another result, without a reason",
			c->row->line, which, good_calls->nr, call,
			WEXITSTATUS(outcome.status));
	add_fault_lines(lines, &outcome, good, c->command.words[0]);
	free(outcome.told);
}

static inline void check_fault_row(const struct program *programs,
				   const struct fault_row *row,
				   const char *folder)
{
	struct fail_call calls = { .which = UINT_MAX };
	struct fault_command c = { .row = row,
				   .folder = folder,
				   .makes = row->makes ?: "made" };
	struct fault_lines lines = { 0 };
	struct fault_outcome good;
	struct text all;

	take_command(&c.command, programs, row->line);
	run_with_fault(&c, &calls, fault_calls,
		       NR(fault_calls) - row->runs_daemon, &good);
	assert_int_equal(good.status, 0);
	assert_in_range(calls.nr, 1, NR(calls.calls));
	for (unsigned int which = 0; which < calls.nr; which++)
		fail_one_call(&c, &calls, which, &good, &lines);
	free(good.told);
	write_fault_lines(text_begin(&all), &lines);
	text_must_be(&all, row->line, row->told);
}

#endif /* TESTS_UNIT_PP_FAULTS_H */
