/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef PP_OPPUSH_OPPUSH_OPTIONS_H
#define PP_OPPUSH_OPPUSH_OPTIONS_H

/* The command line of oppush, taken apart and checked. */

#include <popt.h>
#include <stdbool.h>
#include <stdint.h>

#include "libop/base/op_diag.h"
#include "pp/oppush/oppush_send.h"

#define PUSH_MAX_LABELS 32

/* Option values as popt leaves them. */
struct push_args {
	char *url, *server, *name, *interval, *spool, *spool_max, *tenant;
	char *token_file, *ca_file, *timeout, *session_dir;
	const char *labels[PUSH_MAX_LABELS + 1]; /* ended by NULL */
	size_t nr_labels; /* may be more than there is room for */
	int once, status, insecure, version;
};

struct push_options {
	struct push_args args;
	struct push_target target;
	struct push_label_option labels[PUSH_MAX_LABELS + 1];
	char host[256];
	uint64_t interval_s;
	uint64_t spool_max; /* bytes */
	const char *spool;
};

/* Returns popt's context, which holds the words that are no options; ends the
 * program for help and for options that are not known. */
poptContext push_parse_options(struct push_args *args, int argc,
			       const char **argv);

/*
 * Make all else of options->args, which stays where it is. Returns 0, or
 * -EINVAL with the reason in @diag.
 */
int push_take_options(struct push_options *options, struct op_diag *diag);

#endif /* PP_OPPUSH_OPPUSH_OPTIONS_H */
