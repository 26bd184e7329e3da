// SPDX-License-Identifier: GPL-2.0
/*
 * Each kind of IBS has one event of perf_events on each CPU, whose raw data is
 * the contents of the hardware's registers. The hardware knows no modes, so the
 * mode of a sample is determined here.
 */

#include <linux/err.h>
#include <linux/kernel.h>
#include <linux/percpu.h>
#include <linux/perf_event.h>
#include <linux/printk.h>
#include <linux/ptrace.h>
#include <linux/string.h>

#ifdef CONFIG_X86
#include <asm/perf_event.h>
#include <asm/processor.h>
#include <asm/segment.h>
#endif

#include "compat.h"
#include "counter/counter.h"
#include "counter/counter_ibs.h"
#include "counter/lowered.h"
#include "counter/throttle.h"
#include "oprofile_provider.h"
#include "oprofile_stats.h"
#include "oprofilefs.h"
#include "uapi/oprofile.h"

#define MIN_COUNT 1024
#define COUNT_STEP 16
#define DEFAULT_COUNT 250000

#define CAP_FETCH (1u << 1)
#define CAP_OP (1u << 2)

/* Bits of attr.config: those of the control registers. */
#define FETCH_RANDOM (1ull << 57)
#define OP_COUNTS_OPS (1ull << 19)

/* Where the branch target is in the raw data of an op. */
#define BR_TARGET_AT (4 + 7 * 8)

/* Raw data: capabilities and at most 9 registers. */
#define MAX_RAW (4 + 9 * 8)

enum kind { FETCH, OP, NR_KINDS };

struct ibs_setting {
	unsigned long enable;
	unsigned long max_count; /* cycles, fetches or ops between samples */
	unsigned long type; /* what perf_events calls the PMU */
	unsigned long kernel; /* sample the kernel */
	unsigned long user; /* sample user code */
	unsigned long rand_enable; /* fetch: vary the count */
	unsigned long dispatched_ops; /* op: count these, not cycles */
	unsigned long branch_target; /* op: tell where branches go */
};

struct cpu_ibs {
	struct perf_event *event;
	struct throttle throttle;
};

#define DEFAULTS                                                               \
	{                                                                      \
		.max_count = DEFAULT_COUNT, .kernel = 1, .user = 1,            \
	}

static struct ibs_setting settings[NR_KINDS] = { DEFAULTS, DEFAULTS };
static const char *const names[NR_KINDS] = { "ibs_fetch", "ibs_op" };
static u32 caps; /* CPUID Fn8000_001B_EAX; 0: there is no IBS */
static unsigned int lowered_by; /* of events that start */
static DEFINE_PER_CPU(struct cpu_ibs[NR_KINDS], cpu_ibs);

static bool has_kind(enum kind kind)
{
	return caps & (kind == OP ? CAP_OP : CAP_FETCH);
}

static bool is_enabled(enum kind kind)
{
	return has_kind(kind) && settings[kind].enable;
}

void counter_ibs_init(void)
{
#if defined(CONFIG_X86) && defined(CONFIG_CPU_SUP_AMD)
	caps = get_ibs_caps();
#endif
}

bool counter_ibs_present(void)
{
	return has_kind(FETCH) || has_kind(OP);
}

bool counter_ibs_any_enabled(void)
{
	return is_enabled(FETCH) || is_enabled(OP);
}

/* ---- samples ------------------------------------------------------------- */

static u16 cpu_family(void)
{
#ifdef CONFIG_X86
	return boot_cpu_data.x86;
#else
	return 0;
#endif
}

/*
 * True if the interrupt came over user mode. perf_events writes the address
 * that the hardware gave, and a code segment that fits, to @regs; the stack
 * segment is left as it was.
 */
static bool is_over_user(const struct pt_regs *regs)
{
#ifdef CONFIG_X86
	return regs->ss & USER_SEGMENT_RPL_MASK;
#else
	return user_mode(regs);
#endif
}

/* Without @frag there is no data, which is counted like that of a size that
 * cannot be. */
static void add_sample(const struct perf_raw_frag *frag, struct pt_regs *regs,
		       enum kind kind, unsigned int shift)
{
	u8 raw[MAX_RAW];
	struct oprofile_ibs_sample sample = {
		.pc = instruction_pointer(regs),
		.is_user = user_mode(regs),
		.over_user = is_over_user(regs),
		.is_op = kind == OP,
		.family = cpu_family(),
		.shift = shift,
		.raw = raw,
		.size = frag ? min_t(u32, frag->size, sizeof(raw)) : 0,
	};

	if (frag)
		memcpy(raw, frag->data, sample.size);
	if (kind == OP && !settings[OP].branch_target &&
	    caps & OP_IBS_CAP_BR_TARGET && sample.size >= BR_TARGET_AT + 8)
		memset(raw + BR_TARGET_AT, 0, 8);
	oprofile_add_ibs_sample(&sample);
}

static void on_overflow(struct perf_event *event, struct perf_sample_data *data,
			struct pt_regs *regs)
{
	enum kind kind = (unsigned long)event->overflow_handler_context;
	const struct ibs_setting *setting = &settings[kind];
	unsigned int shift = lowered_shift(event, setting->max_count);

	throttle_overflow(&this_cpu_ptr(&cpu_ibs[kind])->throttle, event,
			  shift);
	if (!(user_mode(regs) ? setting->user : setting->kernel))
		oprofile_stat_add(STAT_SAMPLE_FILTERED, 1ul << shift);
	else
		add_sample(compat_raw_data(data), regs, kind, shift);
}

/* ---- events -------------------------------------------------------------- */

static u64 config_of(enum kind kind)
{
	if (kind == FETCH)
		return settings[FETCH].rand_enable ? FETCH_RANDOM : 0;
	return settings[OP].dispatched_ops ? OP_COUNTS_OPS : 0;
}

static struct perf_event *create_event(unsigned int cpu, enum kind kind)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = settings[kind].type,
		.config = config_of(kind),
		.sample_period = (u64)settings[kind].max_count << lowered_by,
		.sample_type = PERF_SAMPLE_RAW,
		.pinned = 1,
	};

	return perf_event_create_kernel_counter(&attr, cpu, NULL, on_overflow,
						(void *)(unsigned long)kind);
}

static int start_kind(unsigned int cpu, enum kind kind)
{
	struct cpu_ibs *self = &per_cpu(cpu_ibs, cpu)[kind];
	struct perf_event *event;
	int err;

	throttle_start(&self->throttle);
	event = create_event(cpu, kind);
	err = PTR_ERR_OR_ZERO(event);
	if (!err && READ_ONCE(event->state) != PERF_EVENT_STATE_ACTIVE) {
		perf_event_release_kernel(event);
		err = -EBUSY;
	}
	if (!err)
		self->event = event;
	else
		pr_info("oprofile: %s cannot be used on CPU %u: error %d\n",
			names[kind], cpu, err);
	return err;
}

int counter_ibs_start_cpu(unsigned int cpu)
{
	enum kind kind;
	int err = 0;

	for (kind = 0; kind < NR_KINDS && !err; kind++)
		if (is_enabled(kind))
			err = start_kind(cpu, kind);
	return err;
}

void counter_ibs_stop_cpu(unsigned int cpu)
{
	enum kind kind;

	for (kind = 0; kind < NR_KINDS; kind++) {
		struct cpu_ibs *self = &per_cpu(cpu_ibs, cpu)[kind];

		if (!self->event)
			continue;
		perf_event_release_kernel(self->event);
		self->event = NULL;
		throttle_stop(&self->throttle);
	}
}

int counter_ibs_lower_cpu(unsigned int cpu, unsigned int shift)
{
	enum kind kind;
	int err = 0;

	lowered_by = shift;
	for (kind = 0; kind < NR_KINDS && !err; kind++)
		err = lowered_set(per_cpu(cpu_ibs, cpu)[kind].event,
				  settings[kind].max_count, shift);
	return err;
}

int counter_ibs_check(void)
{
	enum kind kind;

	for (kind = 0; kind < NR_KINDS; kind++) {
		const struct ibs_setting *setting = &settings[kind];

		if (!is_enabled(kind))
			continue;
		if (setting->max_count < MIN_COUNT ||
		    setting->max_count > S64_MAX >> OP_MAX_RATE_SHIFT ||
		    setting->max_count % COUNT_STEP || !setting->type ||
		    setting->type > U32_MAX ||
		    (!setting->kernel && !setting->user))
			return -EINVAL;
	}
	return 0;
}

/* ---- files --------------------------------------------------------------- */

static int create_folder(struct dentry *root, enum kind kind)
{
	struct ibs_setting *setting = &settings[kind];
	const struct {
		const char *name;
		unsigned long *value;
		bool there;
	} files[] = {
		{ "enable", &setting->enable, true },
		{ "max_count", &setting->max_count, true },
		{ "type", &setting->type, true },
		{ "kernel", &setting->kernel, true },
		{ "user", &setting->user, true },
		{ "rand_enable", &setting->rand_enable, kind == FETCH },
		{ "dispatched_ops", &setting->dispatched_ops,
		  kind == OP && caps & OP_IBS_CAP_OP_COUNT },
		{ "branch_target", &setting->branch_target,
		  kind == OP && caps & OP_IBS_CAP_BR_TARGET },
	};
	struct dentry *dir = oprofilefs_mkdir(root, names[kind]);
	unsigned int i;
	int err = dir ? 0 : -ENOMEM;

	for (i = 0; i < ARRAY_SIZE(files) && !err; i++)
		if (files[i].there)
			err = counter_create_setting(dir, files[i].name,
						     files[i].value);
	return err;
}

int counter_ibs_create_files(struct dentry *root)
{
	enum kind kind;
	int err = 0;

	for (kind = 0; kind < NR_KINDS && !err; kind++)
		if (has_kind(kind))
			err = create_folder(root, kind);
	return err;
}
