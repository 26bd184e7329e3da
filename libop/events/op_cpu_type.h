/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBOP_EVENTS_OP_CPU_TYPE_H
#define LIBOP_EVENTS_OP_CPU_TYPE_H

/*
 * CPU types: the folders ARCH/CPU below events/. A type is known by the name
 * of its folder, such as "x86-64/family10", and described by the file "cpu"
 * in it (doc/events.md); no other part of the code names one.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libop/base/op_diag.h"

/* How event and unit mask become what perf_event_open(2) takes as config. */
enum op_cpu_encoding {
	OP_ENCODING_RAW, /* the event's code is all of it: ARM, POWER */
	OP_ENCODING_X86, /* event select and unit mask registers */
	OP_ENCODING_NETBURST, /* Pentium 4: ESCR and CCCR */
};

#define OP_CPU_MAX_COUNTERS 64

/* All strings belong to the type. */
struct op_cpu_type {
	const char *name; /* "x86-64/family10" */
	const char *title; /* for people: "AMD64 family10" */
	const char *manual; /* where the events are described */
	const char *default_event; /* a specification, see op_parse_event.h */
	const char *pfm; /* names that libpfm4 gives it, or NULL */
	unsigned int counters; /* 1 to OP_CPU_MAX_COUNTERS */
	enum op_cpu_encoding encoding;
	bool is_nearest; /* of op_cpu_type_detect(): the CPU itself has none */
	char *text; /* what the strings point into */
};

/*
 * The folder of the descriptions: $OPROFILE_EVENTS_DIR, else "events" beside
 * the folder of the running program (a build folder), else share/oprofile
 * there (an installed one), else /usr/local/share/oprofile, else
 * /usr/share/oprofile. *@out is the caller's to free. Returns 0; -ENOENT with
 * a reason when none of them is there; -ENOMEM.
 */
int op_events_dir(char **out, struct op_diag *diag);

/*
 * The type @name of the folder @dir. Returns 0 or -errno with the reason:
 * -ENOENT no such type, or one of the original profiler's names for which there
 * is no folder; -EINVAL "FILE:LINE: what". Free *@out by
 * op_cpu_type_free().
 */
int op_cpu_type_read(struct op_cpu_type **out, const char *dir,
		     const char *name, struct op_diag *diag);
void op_cpu_type_free(struct op_cpu_type *type);

/*
 * The names of all types of @dir, sorted, each ended by a zero byte and the
 * last by two; the caller's to free. Returns 0 or -errno with the reason.
 */
int op_cpu_type_names(char **out, const char *dir, struct op_diag *diag);

/*
 * The type of CPU that a machine has, by @root/proc/cpuinfo and @root/sys
 * (@root
 * "" for this one). A machine may have CPUs of several kinds (big.LITTLE):
 * @nth counts the different ones, in the order of the CPU numbers. If several
 * folders match, the one with most conditions wins; if none does, a folder that
 * declares itself the nearest to such a CPU.
 *
 * Returns 0; -ENOENT without a reason when there are not more than @nth
 * kinds; -ENODEV with a reason when no folder knows the CPU; else -errno with
 * the reason.
 */
int op_cpu_type_detect(struct op_cpu_type **out, const char *dir,
		       const char *root, unsigned int nth,
		       struct op_diag *diag);

#endif /* LIBOP_EVENTS_OP_CPU_TYPE_H */
