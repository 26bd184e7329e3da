/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef UTILS_OPERF_OPERF_RUNTIMES_H
#define UTILS_OPERF_OPERF_RUNTIMES_H

/*
 * The environment by which runtimes of languages name the functions of a
 * command to us (libop/image/op_runtime.h). What the user has set stays, behind
 * what is added, so that it counts where both say something.
 */

#include <stdbool.h>
#include <limits.h>

struct operf;

struct operf_runtimes {
	char **environment; /* of the command, owned; NULL: that of operf */
	bool leaves_maps; /* a runtime writes perf maps because of that */
	/* The folder of the session for the dumps that agents write; "": none
	 * was named. */
	char dumps[PATH_MAX];
};

/*
 * Fill operf->runtimes for the command, which has been found, and say so in a
 * line if the command is of such a runtime. Returns 0 or -ENOMEM with the
 * reason.
 */
int operf_runtimes_prepare(struct operf *operf);

/* Make the folder for dumps in the session, which is there. */
void operf_runtimes_make_folder(const struct operf *operf);

/* Remove that folder with all that is in it, and free the environment. */
void operf_runtimes_release(struct operf *operf);

#endif /* UTILS_OPERF_OPERF_RUNTIMES_H */
