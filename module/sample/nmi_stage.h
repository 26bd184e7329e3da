/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MODULE_NMI_STAGE_H
#define MODULE_NMI_STAGE_H

/*
 * From an NMI to an interrupt: an NMI may take no lock, so what it saw is put
 * in a small ring of its CPU and looked up by an interrupt that the CPU raises
 * for itself. It comes as soon as interrupts are on: after an NMI over user
 * mode before another user instruction runs.
 */

#include <linux/types.h>

struct task_struct;

struct nmi_sample {
	u64 pc;
	const struct task_struct *task; /* to compare with current, no more */
	u32 tid;
	u32 tgid;
	u32 owner;
	u16 nr_frames; /* callers in the kernel; words of a record */
	u8 ending; /* enum op_trace_ending, of these */
	u8 counter;
	u8 code; /* enum op_code of the record that it is; 0: it is none */
	u8 shift; /* as op_sample has it */
	bool is_user;
	bool over_user; /* user mode is what was interrupted */
};

/*
 * @handle takes samples in a hard interrupt, with their callers, or the words
 * of their record, in memory that lasts for the call. There are up to
 * @max_frames of these. Returns 0 or -ENOMEM.
 */
int nmi_stage_setup(void (*handle)(const struct nmi_sample *sample,
				   const u64 *frames),
		    unsigned int max_frames);
void nmi_stage_shutdown(void);

/* False when the ring is full. From an NMI. */
bool nmi_stage_add(const struct nmi_sample *sample, const u64 *frames);

/* Wait until all that was added is handled; nothing is being added. */
void nmi_stage_settle(void);

#endif /* MODULE_NMI_STAGE_H */
