/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef UTILS_OCOUNT_OCOUNT_OPTIONS_H
#define UTILS_OCOUNT_OCOUNT_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "libop/base/op_diag.h"

/*
 * The command line of ocount, checked for what can be seen without looking at
 * the machine.
 */

enum ocount_mode {
	OCOUNT_NONE,
	OCOUNT_COMMAND,
	OCOUNT_SYSTEM,
	OCOUNT_CPUS,
	OCOUNT_PROCESSES,
	OCOUNT_THREADS,
};

/* Strings are NULL where the option was not given. */
struct ocount_request {
	enum ocount_mode mode;
	char *list; /* of the CPUs, processes or threads */
	const char **command; /* borrowed from context */
	char *events;
	char *interval;
	uint64_t interval_ms; /* 0: count once */
	uint64_t nr_intervals; /* 0: to the end */
	char *output;
	bool separate_cpu;
	bool separate_thread;
	bool brief;
	bool verbose;
	bool version;
	void *context; /* of popt */
};

/*
 * Returns 0, or -EINVAL or -ENOMEM with the reason in @diag; --help and
 * --usage print and exit. ocount_request_release() must follow in any case.
 */
int ocount_request_parse(struct ocount_request *request, int argc,
			 const char **argv, struct op_diag *diag);
void ocount_request_release(struct ocount_request *request);

#endif /* UTILS_OCOUNT_OCOUNT_OPTIONS_H */
