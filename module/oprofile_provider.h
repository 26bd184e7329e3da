/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MODULE_OPROFILE_PROVIDER_H
#define MODULE_OPROFILE_PROVIDER_H

/*
 * A provider makes samples: it interrupts every CPU now and then, and reports
 * where that was. The module has two providers, hardware counters and the
 * timer. Another module may register its own, for hardware that these two do
 * not know; it is then used instead of them.
 */

#include <linux/types.h>

struct pt_regs;

struct oprofile_operations {
	const char *cpu_type; /* what the file cpu_type says, 63 bytes of it */
	/*
	 * Start sampling on all CPUs, those that come later included; 0 or
	 * -errno. When stop returns, no more samples are added. Process
	 * context, never two at a time.
	 */
	int (*start)(void);
	void (*stop)(void);
	/*
	 * Sample 1 << @shift times more rarely from now on, or from the next
	 * start, and add each sample with the shift that was in force when the
	 * wait for it began. The same contexts; 0 or -errno. NULL: it cannot
	 * do that.
	 */
	int (*lower_rate)(unsigned int shift);
};

/*
 * Use @ops from the next start on; they must stay until they are unregistered.
 * Returns 0, or -EBUSY while sampling or when there is another provider.
 */
int oprofile_register_provider(const struct oprofile_operations *ops);

/* Stops sampling if it is by these. */
void oprofile_unregister_provider(const struct oprofile_operations *ops);

/*
 * Add a sample for event @counter (below OP_MAX_COUNTERS) at the registers of
 * the interrupted context. It stands for 1 << @shift of them, @shift no more
 * than OP_MAX_RATE_SHIFT. From a hard interrupt or an NMI, or else with
 * interrupts off.
 */
void oprofile_add_sample(struct pt_regs *regs, unsigned int counter,
			 unsigned int shift);

/* The same for address @pc of the kernel, where the hardware tells it better
 * than the registers. */
void oprofile_add_kernel_pc(unsigned long pc, unsigned int counter,
			    unsigned int shift);

/* A sample of AMD IBS, as the kernel's perf_events hands it out. */
struct oprofile_ibs_sample {
	u64 pc; /* what the hardware says, or the registers of the interrupt */
	bool is_user; /* in the current task */
	/* Whether user mode is what was interrupted: the hardware tells where
	 * it was some instructions before, maybe in the other mode. */
	bool over_user;
	bool is_op; /* not a fetch */
	u16 family; /* of the CPU */
	u8 shift; /* it stands for 1 << shift samples */
	/* 4 bytes of capabilities, then the registers, 8 bytes each, not
	 * aligned; valid for the call */
	const void *raw;
	unsigned int size; /* bytes of raw */
};

/*
 * Add a sample of IBS, in the same contexts. Raw data of a size that cannot be
 * is counted in sample_invalid_eip.
 */
void oprofile_add_ibs_sample(const struct oprofile_ibs_sample *ibs);

#endif /* MODULE_OPROFILE_PROVIDER_H */
