/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DAEMON_SOURCE_PERF_OPD_PERF_PROGRAMS_H
#define DAEMON_SOURCE_PERF_OPD_PERF_PROGRAMS_H

/*
 * Which programs will begin. perf_events tell of an exec first and some time
 * later, with the first mapping of code, of which file. In between the kernel
 * works for the new program. Whoever looks at records before their turn tells
 * of both here, so that the program is known when the turn of the exec comes.
 */

#include <stdint.h>

#define OPD_PERF_PROGRAMS 1024 /* buckets, by process */
#define OPD_PERF_PROGRAM_WAYS 4 /* in each: a process may exec again */

struct opd_coming_program {
	uint64_t began_at; /* ns, of the exec's record; 0: none */
	uint64_t mapped_at; /* of its first mapping; 0: not seen yet */
	uint64_t cookie; /* what that mapped */
	uint32_t tgid;
};

/* All zero knows of none. The oldest of a bucket makes room for a new one: then
 * the program is known from its first mapping on. */
struct opd_perf_programs {
	struct opd_coming_program buckets[OPD_PERF_PROGRAMS]
					 [OPD_PERF_PROGRAM_WAYS];
};

/* Process @tgid will have begun a program at @time. */
void opd_perf_programs_begin(struct opd_perf_programs *programs, uint32_t tgid,
			     uint64_t time);

/* Process @tgid will have mapped code of image @cookie at @time. */
void opd_perf_programs_map(struct opd_perf_programs *programs, uint32_t tgid,
			   uint64_t time, uint64_t cookie);

/* The program that @tgid began at @time, which is forgotten; OP_NO_COOKIE if
 * its mapping has not been seen. */
uint64_t opd_perf_programs_pop(struct opd_perf_programs *programs,
			       uint32_t tgid, uint64_t time);

#endif /* DAEMON_SOURCE_PERF_OPD_PERF_PROGRAMS_H */
