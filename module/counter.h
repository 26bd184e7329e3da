/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MODULE_COUNTER_H
#define MODULE_COUNTER_H

/*
 * What makes samples: a backend programs interrupts on every CPU and calls
 * oprofile_add_sample() from them. The first backend of the table in
 * counter.c that works on this machine is used.
 */

#include <linux/types.h>

struct dentry;

struct counter_ops {
	const char *cpu_type; /* what the file cpu_type says */
	bool (*works)(void); /* on this machine; NULL: always */
	int (*create_files)(struct dentry *root); /* 0 or -errno */
	/*
	 * Start sampling on all CPUs, those that come later included. When
	 * stop returns, no handler runs any more. Process context, serialized.
	 */
	int (*start)(void); /* 0 or -errno */
	void (*stop)(void);
};

extern const struct counter_ops counter_timer_ops;

/* The backend of this machine; the same at every call. */
const struct counter_ops *counter_backend(void);

#endif /* MODULE_COUNTER_H */
