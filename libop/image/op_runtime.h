/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBOP_IMAGE_OP_RUNTIME_H
#define LIBOP_IMAGE_OP_RUNTIME_H

/*
 * The runtimes of languages whose functions are in no file, because they are
 * interpreted, or compiled while the program runs: how each is recognized, how
 * a program is started so that it names its functions to profilers, and what
 * people can do. The one table of these facts; operf and the reports read it.
 */

#include <stdbool.h>
#include <stddef.h>

#define OP_RUNTIME_FILES 4

struct op_runtime {
	const char *name; /* of the language, or of what runs it */
	/* fnmatch(3) patterns of the names, without folders, of the programs
	 * and libraries that are mapped; ended by NULL */
	const char *files[OP_RUNTIME_FILES + 1];
	/*
	 * The environment variable that makes a program name its functions, and
	 * what is to be in it; NULL where none does that and is harmless to
	 * programs of other runtimes and of all versions. @agent is the file of
	 * ours, below a folder of agents, whose path (or the folder of that, if
	 * @wants_folder) is written in place of the %s of @value; NULL: none.
	 */
	const char *variable;
	const char *value;
	char separator; /* between values of several origins */
	/* Words in the variable, or among the arguments of the command, that
	 * say that its owner has taken care of this; NULL: there are none. */
	const char *unless;
	const char *agent;
	bool wants_folder;
	const char *since; /* the first version that does; NULL: all do */
	/* Letters of options by which the program ignores the variable, of
	 * options that have a value, and of those behind which there are no
	 * others; NULL, all of them: it has none of the first. */
	const char *ignoring;
	const char *valued;
	const char *last;
	bool leaves_map; /* it writes /tmp/perf-PID.map, which stays there */
	/* The program runs its functions in C code of its own, which has the
	 * samples, and names them by frames on the stack; else by code. */
	bool interprets;
	/* If any of its functions are named, all are: what the program does
	 * below one, up to the next, it does for that. */
	bool names_all;
	const char *cure; /* how functions get names; for people, after "to name
			     the functions of X: " */
};

/* The runtime that the program or library @path belongs to, or NULL. */
const struct op_runtime *op_runtime_of_file(const char *path);

/* The runtime number @i, from 0; NULL beyond the last one. */
const struct op_runtime *op_runtime_at(size_t i);

#endif /* LIBOP_IMAGE_OP_RUNTIME_H */
