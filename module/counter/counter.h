/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MODULE_COUNTER_H
#define MODULE_COUNTER_H

/*
 * The providers of samples that the module has itself, and which one is used:
 * a registered one, else the hardware counters if any is enabled, else the
 * timer.
 */

#include "oprofile_provider.h"

struct dentry;

/* counter_timer.c */
extern const struct oprofile_operations counter_timer_ops;
int counter_timer_create_files(struct dentry *root); /* 0 or -errno */

/* counter_perf.c; samples IBS, too (counter_ibs.h) */
extern const struct oprofile_operations counter_perf_ops;
/* Finds out what the machine has; does nothing without counters. */
void counter_perf_init(void);
bool counter_perf_present(void);
bool counter_perf_any_enabled(void);
int counter_perf_create_files(struct dentry *root); /* 0 or -errno */

/* The one for the next start, and the one that cpu_type tells of. The caller
 * sees to it that no provider comes or goes. */
const struct oprofile_operations *counter_choose(void);
const char *counter_cpu_type(void);

/* 0 or -EBUSY. */
int counter_register(const struct oprofile_operations *ops);
void counter_unregister(const struct oprofile_operations *ops);

/* Make the files of all providers. 0 or -errno. */
int counter_create_files(struct dentry *root);

/* A file for one number, which can be written while sampling is off. */
int counter_create_setting(struct dentry *dir, const char *name,
			   unsigned long *value);

/*
 * The next number of a linear congruential generator with state *@state:
 * Numerical Recipes, 7.1. Good enough in its upper bits.
 */
static inline u32 counter_random(u32 *state)
{
	*state = *state * 1664525 + 1013904223;
	return *state;
}

#endif /* MODULE_COUNTER_H */
