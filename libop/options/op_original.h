/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBOP_OPTIONS_OP_ORIGINAL_H
#define LIBOP_OPTIONS_OP_ORIGINAL_H

/*
 * Options of the original profiler, 0.9.9 and 1.4, that are accepted for the
 * sake of scripts and have no effect: each says why when it is used.
 */

struct op_original_option {
	const char *name; /* without the dashes */
	char letter; /* the short option, 0 for none */
	const char *argument; /* its name in the help */
	const char *why; /* a clause: "the kernel ..." */
};

#define OP_NR_ORIGINAL_OPCONTROL 4
#define OP_NR_ORIGINAL_OPROFILED 3

extern const struct op_original_option
	op_original_opcontrol[OP_NR_ORIGINAL_OPCONTROL];
extern const struct op_original_option
	op_original_oprofiled[OP_NR_ORIGINAL_OPROFILED];

#endif /* LIBOP_OPTIONS_OP_ORIGINAL_H */
