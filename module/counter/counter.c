// SPDX-License-Identifier: GPL-2.0

#include <linux/errno.h>
#include <linux/kernel.h>

#include "counter/counter.h"
#include "counter/counter_ibs.h"

static const struct oprofile_operations *registered;

const struct oprofile_operations *counter_choose(void)
{
	if (registered)
		return registered;
	return counter_perf_any_enabled() || counter_ibs_any_enabled()
		       ? &counter_perf_ops
		       : &counter_timer_ops;
}

const char *counter_cpu_type(void)
{
	if (registered)
		return registered->cpu_type;
	return counter_perf_present() || counter_ibs_present()
		       ? counter_perf_ops.cpu_type
		       : counter_timer_ops.cpu_type;
}

int counter_register(const struct oprofile_operations *ops)
{
	if (registered)
		return -EBUSY;
	registered = ops;
	return 0;
}

void counter_unregister(const struct oprofile_operations *ops)
{
	if (registered == ops)
		registered = NULL;
}

int counter_create_files(struct dentry *root)
{
	int err = counter_timer_create_files(root);

	if (!err && counter_perf_present())
		err = counter_perf_create_files(root);
	if (!err)
		err = counter_ibs_create_files(root);
	return err;
}
