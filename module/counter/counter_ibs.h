/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MODULE_COUNTER_IBS_H
#define MODULE_COUNTER_IBS_H

/*
 * AMD's Instruction-Based Sampling, by way of the kernel's PMUs ibs_fetch and
 * ibs_op. It is sampled together with the hardware counters, not instead of
 * them.
 */

#include <linux/types.h>

struct dentry;

/* Finds out what the machine has; does nothing without IBS. */
void counter_ibs_init(void);
bool counter_ibs_present(void);
bool counter_ibs_any_enabled(void);

/* The folders ibs_fetch/ and ibs_op/, where there is one. 0 or -errno. */
int counter_ibs_create_files(struct dentry *root);

/*
 * Whether the settings make sense: 0 or -EINVAL. On one CPU: start what is
 * enabled, 0 or -errno, and stop what was started.
 */
int counter_ibs_check(void);
int counter_ibs_start_cpu(unsigned int cpu);
void counter_ibs_stop_cpu(unsigned int cpu);

/* Sample 1 << @shift times more rarely; 0 or -errno. CPUs that start later do
 * so, too. */
int counter_ibs_lower_cpu(unsigned int cpu, unsigned int shift);

#endif /* MODULE_COUNTER_IBS_H */
