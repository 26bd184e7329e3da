/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBOP_OPTIONS_OP_ARGUMENTS_H
#define LIBOP_OPTIONS_OP_ARGUMENTS_H

/* Words of a command line, before popt reads them. */

#include <string.h>

/* Take -h for --help, as people expect; popt's own table has -? alone. Not for
 * opcontrol, where -h is --shutdown. */
static inline void op_arguments_take_help(int argc, const char **argv)
{
	for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
		if (!strcmp(argv[i], "-h"))
			argv[i] = "--help";
}

#endif /* LIBOP_OPTIONS_OP_ARGUMENTS_H */
