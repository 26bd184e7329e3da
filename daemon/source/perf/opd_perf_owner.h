/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DAEMON_SOURCE_PERF_OPD_PERF_OWNER_H
#define DAEMON_SOURCE_PERF_OPD_PERF_OWNER_H

/*
 * Which user owns the samples of a process, so that no other ordinary user ever
 * sees them. The owner is the user who could read all of the process with a
 * debugger; root's processes, and those with privileges, have none.
 *
 * perf_events does not tell users. /proc does, but of now, while samples are
 * of a moment ago. So what /proc says holds for samples from then on only. From
 * there the records go on: a process without privileges cannot change its user,
 * but for the exec of a file that gives some; a child has the owner of its
 * parent. Where that leaves a doubt there is no owner.
 */

#include <stdbool.h>
#include <stdint.h>

#include "module/uapi/oprofile.h"

struct opd_owner {
	bool is_asked; /* else /proc is to be asked */
	bool by_exec; /* the program that runs now is to be looked at */
	uint64_t user; /* OP_NO_OWNER: none */
	uint64_t since; /* ns, of the samples that this holds for */
};

struct opd_process_table;
struct opd_process;

/* @child, which is new, was forked by @parent, at @time; NULL: not known. */
void opd_perf_owner_fork(struct opd_owner *child,
			 const struct opd_owner *parent, uint64_t time);

/* @process, which is new to us, is there; it runs another program since
 * table->now. */
void opd_perf_owner_see(const struct opd_process_table *table,
			struct opd_process *process);
void opd_perf_owner_exec(const struct opd_process_table *table,
			 struct opd_process *process);

/* @process does not run the program that was taken for the one of its exec, and
 * that its owner may have been judged by. */
void opd_perf_owner_other_program(struct opd_process *process);

/* The owner of @process at table->now; OP_NO_OWNER if there is none. */
uint64_t opd_perf_owner_of(const struct opd_process_table *table,
			   struct opd_process *process);

#endif /* DAEMON_SOURCE_PERF_OPD_PERF_OWNER_H */
