/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef UTILS_OPHELP_OPHELP_OPTIONS_H
#define UTILS_OPHELP_OPHELP_OPTIONS_H

/* ophelp's command line. */

#include "libop/base/op_diag.h"

enum ophelp_mode {
	OPHELP_LIST, /* also with a word for an event's code */
	OPHELP_CHECK_EVENTS,
	OPHELP_EVENTS,
	OPHELP_UNIT_MASK,
	OPHELP_EXTRA_MASK,
	OPHELP_MIN_COUNT,
	OPHELP_GET_CPU_TYPE,
	OPHELP_GET_DEFAULT_EVENT,
	OPHELP_LIST_CPUS,
	OPHELP_CHECK,
	OPHELP_VERSION,
};

/* Texts belong to the request. */
struct ophelp_request {
	enum ophelp_mode mode;
	char *cpu; /* --cpu-type, or NULL */
	char *search; /* --search, or NULL */
	int xml;
	int json;
	int ignore_count;
	int callgraph; /* depth */
	int no_pager;
	char **args; /* words that are no options, ended by NULL */
	int nr_args;
};

/*
 * Parse the command line; --help and --usage end the program. Returns 0, or
 * -EINVAL or -ENOMEM with the reason.
 */
int ophelp_request_parse(struct ophelp_request *request, int argc,
			 const char **argv, struct op_diag *diag);
void ophelp_request_release(struct ophelp_request *request);

#endif /* UTILS_OPHELP_OPHELP_OPTIONS_H */
