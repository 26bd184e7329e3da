// SPDX-License-Identifier: GPL-2.0
/*
 * A provider of samples for tests, the way that another driver would be one.
 * By its parameter "mode":
 *
 *	known	nr_a samples of counter 0 and nr_b of counter 1, at two
 *		addresses of its own, when sampling starts; then nothing
 *	nmi	real NMIs, "rate" times a second on every CPU but the one that
 *		sends them, over whatever runs there (x86 only)
 */

#include <linux/cpumask.h>
#include <linux/hrtimer.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/smp.h>
#include <linux/string.h>

#ifdef CONFIG_X86
#include <asm/apic.h>
#include <asm/nmi.h>
#endif

#include "oprofile_provider.h"

static char *mode = "known";
module_param(mode, charp, 0);
static unsigned int nr_a = 300, nr_b = 100, rate = 1000;
module_param(nr_a, uint, 0);
module_param(nr_b, uint, 0);
module_param(rate, uint, 0);
static unsigned long nr_nmis;
module_param(nr_nmis, ulong, 0400);

/* Places to be sampled; they need not run. */
noinline void op_test_place_a(void);
noinline void op_test_place_b(void);

noinline void op_test_place_a(void)
{
	pr_debug("a\n");
}

noinline void op_test_place_b(void)
{
	pr_debug("b\n");
}

/* ---- known samples ------------------------------------------------------- */

static void add_known(void *unused)
{
	unsigned int i;

	for (i = 0; i < nr_a; i++)
		oprofile_add_kernel_pc((unsigned long)op_test_place_a, 0);
	for (i = 0; i < nr_b; i++)
		oprofile_add_kernel_pc((unsigned long)op_test_place_b, 1);
}

static int known_start(void)
{
	/* In an interrupt, as it has to be. */
	return smp_call_function_single(cpumask_first(cpu_online_mask),
					add_known, NULL, true);
}

static void known_stop(void)
{
}

static const struct oprofile_operations known_ops = {
	.cpu_type = "test",
	.start = known_start,
	.stop = known_stop,
};

/* ---- NMIs ---------------------------------------------------------------- */

#ifdef CONFIG_X86

static struct hrtimer timer;
static atomic_t nr_on_way[NR_CPUS]; /* NMIs sent and not come yet */

static enum hrtimer_restart send_nmis(struct hrtimer *self)
{
	unsigned int cpu;

	for_each_online_cpu(cpu)
	{
		if (cpu == raw_smp_processor_id())
			continue;
		atomic_set(&nr_on_way[cpu], 1);
		apic->send_IPI(cpu, NMI_VECTOR);
	}
	hrtimer_forward_now(self, ns_to_ktime(NSEC_PER_SEC / rate));
	return HRTIMER_RESTART;
}

static int on_nmi(unsigned int type, struct pt_regs *regs)
{
	if (!atomic_xchg(&nr_on_way[raw_smp_processor_id()], 0))
		return NMI_DONE;
	nr_nmis++;
	oprofile_add_sample(regs, 0);
	return NMI_HANDLED;
}

static int nmi_start(void)
{
	int err = register_nmi_handler(NMI_LOCAL, on_nmi, 0, "op_test");

	if (err)
		return err;
	hrtimer_init(&timer, CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED_HARD);
	timer.function = send_nmis;
	hrtimer_start(&timer, ns_to_ktime(NSEC_PER_SEC / rate),
		      HRTIMER_MODE_REL_PINNED_HARD);
	return 0;
}

static void nmi_stop(void)
{
	hrtimer_cancel(&timer);
	unregister_nmi_handler(NMI_LOCAL, "op_test");
}

static const struct oprofile_operations nmi_ops = {
	.cpu_type = "test",
	.start = nmi_start,
	.stop = nmi_stop,
};

#endif /* CONFIG_X86 */

/* -------------------------------------------------------------------------- */

static const struct oprofile_operations *ops = &known_ops;

static int __init op_test_init(void)
{
#ifdef CONFIG_X86
	if (!strcmp(mode, "nmi"))
		ops = &nmi_ops;
#endif
	return oprofile_register_provider(ops);
}

static void __exit op_test_exit(void)
{
	oprofile_unregister_provider(ops);
}

module_init(op_test_init);
module_exit(op_test_exit);

MODULE_LICENSE("GPL");
MODULE_AUTHOR("The OProfile developers");
MODULE_DESCRIPTION("OProfile: a provider of samples for tests");
