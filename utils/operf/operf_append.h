/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef UTILS_OPERF_OPERF_APPEND_H
#define UTILS_OPERF_OPERF_APPEND_H

/*
 * Questions before --append. In other profilers -a stands for all CPUs, so a
 * user who may mean that is warned and, on a terminal, asked: a profile cannot
 * be taken out of another one again.
 */

struct operf;

/*
 * To be called before anything is made or started; tells how many samples there
 * are and of when. Returns 0, also when there is nothing to add to; -ECANCELED
 * with the reason when the user says no.
 */
int operf_append_confirm(struct operf *operf);

#endif /* UTILS_OPERF_OPERF_APPEND_H */
