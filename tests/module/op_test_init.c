// SPDX-License-Identifier: GPL-2.0
/*
 * A module that takes "ms" milliseconds of CPU time twice while it is loaded:
 * in code that the kernel drops after that, then in code that stays.
 */

#include <linux/init.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/sched.h>

static unsigned int ms = 500;
module_param(ms, uint, 0444);

static bool is_before(ktime_t end)
{
	cond_resched();
	return ktime_before(ktime_get(), end);
}

static noinline u64 op_test_in_text(ktime_t end)
{
	u64 sum = 1;
	int i;

	do
		for (i = 0; i < 10000; i++)
			sum = sum * 5 + i;
	while (is_before(end));
	return sum;
}

static noinline u64 __init op_test_in_init(ktime_t end)
{
	u64 sum = 1;
	int i;

	do
		for (i = 0; i < 10000; i++)
			sum = sum * 3 + i;
	while (is_before(end));
	return sum;
}

static int __init op_test_init_begin(void)
{
	u64 sum = op_test_in_init(ktime_add_ms(ktime_get(), ms));

	sum += op_test_in_text(ktime_add_ms(ktime_get(), ms));
	/* The sum is used, so that its computation is not left out. */
	return sum == 1 ? -EINVAL : 0;
}

static void __exit op_test_init_end(void)
{
}

module_init(op_test_init_begin);
module_exit(op_test_init_end);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("OProfile test: code that runs while a module is loaded");
