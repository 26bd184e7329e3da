// SPDX-License-Identifier: GPL-2.0
/*
 * A provider of samples for tests, the way that another driver would be one.
 * By its parameter "mode":
 *
 *	known	nr_a samples of counter 0 and nr_b of counter 1, at two
 *		addresses of its own, when sampling starts; then nothing
 *	nmi	real NMIs, "rate" times a second on every CPU but the one that
 *		sends them, over whatever runs there (x86 only)
 *	ibs	what is written to /proc/op_test_ibs, in interrupts: any number
 *		of struct op_test_ibs as samples of AMD IBS
 */

#include <linux/cpumask.h>
#include <linux/hrtimer.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/proc_fs.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#ifdef CONFIG_X86
#include <asm/apic.h>
#include <asm/nmi.h>
#endif

#include "compat.h"
#include "oprofile_provider.h"

static char *mode = "known";
module_param(mode, charp, 0);
static unsigned int nr_a = 300, nr_b = 100, rate = 1000;
module_param(nr_a, uint, 0);
module_param(nr_b, uint, 0);
module_param(rate, uint, 0);
static atomic_long_t nr_nmis; /* of all CPUs, at the full rate */

static int get_nr_nmis(char *buf, const struct kernel_param *param)
{
	return sysfs_emit(buf, "%ld\n", atomic_long_read(&nr_nmis));
}

static const struct kernel_param_ops nr_nmis_ops = { .get = get_nr_nmis };
module_param_cb(nr_nmis, &nr_nmis_ops, NULL, 0400);

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
		oprofile_add_kernel_pc((unsigned long)op_test_place_a, 0, 0);
	for (i = 0; i < nr_b; i++)
		oprofile_add_kernel_pc((unsigned long)op_test_place_b, 1, 0);
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
static unsigned int lowered_by, wait_shift; /* of waits that begin; of this */
static atomic_t on_way[NR_CPUS]; /* NMIs sent: their shift and 1; 0: came */

static ktime_t nmi_interval(void)
{
	wait_shift = READ_ONCE(lowered_by);
	return ns_to_ktime((NSEC_PER_SEC / rate) << wait_shift);
}

static int lower_nmi_rate(unsigned int shift)
{
	WRITE_ONCE(lowered_by, shift);
	return 0;
}

static enum hrtimer_restart send_nmis(struct hrtimer *self)
{
	unsigned int cpu;

	for_each_online_cpu(cpu)
	{
		if (cpu == raw_smp_processor_id())
			continue;
		atomic_set(&on_way[cpu], 1 + wait_shift);
		apic->send_IPI(cpu, NMI_VECTOR);
	}
	hrtimer_forward_now(self, nmi_interval());
	return HRTIMER_RESTART;
}

static int on_nmi(unsigned int type, struct pt_regs *regs)
{
	int sent = atomic_xchg(&on_way[raw_smp_processor_id()], 0);

	if (!sent)
		return NMI_DONE;
	atomic_long_add(1l << (sent - 1), &nr_nmis);
	oprofile_add_sample(regs, 0, sent - 1);
	return NMI_HANDLED;
}

static int nmi_start(void)
{
	int err = register_nmi_handler(NMI_LOCAL, on_nmi, 0, "op_test");

	if (err)
		return err;
	hrtimer_setup(&timer, send_nmis, CLOCK_MONOTONIC,
		      HRTIMER_MODE_REL_PINNED_HARD);
	hrtimer_start(&timer, nmi_interval(), HRTIMER_MODE_REL_PINNED_HARD);
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
	.lower_rate = lower_nmi_rate,
};

#endif /* CONFIG_X86 */

/* ---- IBS ----------------------------------------------------------------- */

struct op_test_ibs {
	u64 pc;
	u32 family;
	u16 is_op;
	u16 is_user; /* 1: in the process that writes; 2: and then seen late,
		      * when it is in the kernel already */
	u32 size; /* bytes of raw */
	u8 raw[4 + 9 * 8];
};

struct ibs_batch {
	const struct op_test_ibs *records;
	unsigned int nr;
};

static bool is_started;
static struct proc_dir_entry *ibs_file;

static void add_ibs(void *data)
{
	const struct ibs_batch *batch = data;
	unsigned int i;

	for (i = 0; i < batch->nr; i++) {
		const struct op_test_ibs *record = &batch->records[i];
		const struct oprofile_ibs_sample sample = {
			.pc = record->pc,
			.is_user = record->is_user,
			.over_user = record->is_user == 1,
			.is_op = record->is_op,
			.family = record->family,
			.raw = record->raw,
			.size = record->size,
		};

		oprofile_add_ibs_sample(&sample);
	}
}

/* On this CPU, so that it is the writer that is interrupted. */
static ssize_t ibs_write(struct file *file, const char __user *buf,
			 size_t count, loff_t *ppos)
{
	struct ibs_batch batch = {
		.nr = count / sizeof(*batch.records),
	};
	void *records;

	if (!READ_ONCE(is_started) || count % sizeof(*batch.records))
		return -EINVAL;
	records = kvmalloc(count, GFP_KERNEL);
	if (!records)
		return -ENOMEM;
	if (copy_from_user(records, buf, count)) {
		kvfree(records);
		return -EFAULT;
	}
	batch.records = records;
	migrate_disable();
	smp_call_function_single(raw_smp_processor_id(), add_ibs, &batch, true);
	migrate_enable();
	kvfree(records);
	return count;
}

static const struct proc_ops ibs_fops = { .proc_write = ibs_write };

static int ibs_start(void)
{
	WRITE_ONCE(is_started, true);
	return 0;
}

static void ibs_stop(void)
{
	WRITE_ONCE(is_started, false);
}

static const struct oprofile_operations ibs_ops = {
	.cpu_type = "test",
	.start = ibs_start,
	.stop = ibs_stop,
};

static int make_ibs_file(void)
{
	ibs_file = proc_create("op_test_ibs", 0200, NULL, &ibs_fops);
	return ibs_file ? 0 : -ENOMEM;
}

/* -------------------------------------------------------------------------- */

static const struct oprofile_operations *ops = &known_ops;

static int __init op_test_init(void)
{
	int err = 0;

#ifdef CONFIG_X86
	if (!strcmp(mode, "nmi"))
		ops = &nmi_ops;
#endif
	if (!strcmp(mode, "ibs")) {
		ops = &ibs_ops;
		err = make_ibs_file();
	}
	if (!err)
		err = oprofile_register_provider(ops);
	if (err)
		proc_remove(ibs_file);
	return err;
}

static void __exit op_test_exit(void)
{
	proc_remove(ibs_file);
	oprofile_unregister_provider(ops);
}

module_init(op_test_init);
module_exit(op_test_exit);

MODULE_LICENSE("GPL");
MODULE_AUTHOR("The OProfile developers");
MODULE_DESCRIPTION("OProfile: a provider of samples for tests");
