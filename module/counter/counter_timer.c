// SPDX-License-Identifier: GPL-2.0
/*
 * The timer backend: an hrtimer on every CPU. It needs no hardware counters
 * and samples idle CPUs too. Code that runs with interrupts off is seen at
 * the point where it enables them again.
 *
 * The time between two samples is spread evenly over 7/8 to 9/8 of the
 * period: a fixed period would beat with work that is itself timed, above
 * all with the kernel's own tick.
 *
 * Where samples cost more time than there is between two of them, the CPU
 * would do little else, not even lower the rate. Some handlers are timed; when
 * several of them in a row took over half of their period, the timer leaves
 * out as many periods as bring that down to a quarter, and counts them as
 * lost. What a single handler took may be the time that a hypervisor had the
 * CPU.
 */

#include <linux/cpu.h>
#include <linux/cpuhotplug.h>
#include <linux/hrtimer.h>
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/percpu.h>
#include <linux/random.h>
#include <asm/irq_regs.h>

#include "compat.h"
#include "counter/counter.h"
#include "counter/throttle.h"
#include "handler_time.h"
#include "oprofile_stats.h"
#include "oprofilefs.h"
#include "settings.h"

#define RATE_DEFAULT 1000 /* samples per second and CPU */
#define RATE_MAX 100000

#define SLOW_IN_A_ROW 4

struct sample_timer {
	struct hrtimer timer;
	unsigned int shift; /* the wait is 1 << shift periods */
	u32 random; /* state of a linear congruential generator */
	u32 nr_slow; /* ones in a row, of the handlers that were timed */
	u32 left_out; /* waits that are left out behind each one */
};

static DEFINE_PER_CPU(struct sample_timer, sample_timers);
static unsigned long enabled = 1; /* 0: where only waits are counted */
static unsigned long rate = RATE_DEFAULT;
static u32 period; /* ns */
static unsigned int lowered_by; /* the shift of waits that begin now */
static int hotplug_state;

/* The time to the next sample, in ns; it will stand for 1 << self->shift. */
static u64 next_interval(struct sample_timer *self)
{
	u64 ns;

	self->shift = READ_ONCE(lowered_by);
	ns = period - period / 8 +
	     (((u64)counter_random(&self->random) * (period / 4)) >> 32);
	return ns << self->shift;
}

/* A handler has taken @took ns. */
static void judge(struct sample_timer *self, u64 took)
{
	u64 wait = (u64)period << self->shift;

	if (took <= wait / 2) {
		self->nr_slow = 0;
		self->left_out = 0;
		return;
	}
	if (++self->nr_slow < SLOW_IN_A_ROW)
		return;
	if (!self->left_out)
		oprofile_stat_inc(STAT_THROTTLE);
	took = min_t(u64, took, NSEC_PER_SEC / 4);
	self->left_out = div64_u64(4 * took, wait);
}

static enum hrtimer_restart on_timer(struct hrtimer *timer)
{
	struct sample_timer *self =
		container_of(timer, struct sample_timer, timer);
	u64 begun = handler_begins(HANDLER_TIMER);
	struct pt_regs *regs = get_irq_regs();
	unsigned int shift = self->shift;
	u64 wait = next_interval(self) * (1 + self->left_out);
	u64 missed = hrtimer_forward_now(timer, ns_to_ktime(wait));

	if (missed > 1)
		oprofile_stat_add(STAT_TIMER_OVERRUN,
				  ((missed - 1) * (1 + self->left_out))
					  << self->shift);
	if (self->left_out)
		throttle_lose((u64)self->left_out << self->shift);
	if (regs)
		oprofile_add_sample(regs, 0, shift);
	if (begun)
		judge(self, local_clock() - begun);
	return HRTIMER_RESTART;
}

static int start_on_cpu(unsigned int cpu)
{
	struct sample_timer *self = per_cpu_ptr(&sample_timers, cpu);

	self->random = get_random_u32();
	self->nr_slow = 0;
	self->left_out = 0;
	hrtimer_setup(&self->timer, on_timer, CLOCK_MONOTONIC,
		      HRTIMER_MODE_REL_PINNED_HARD);
	hrtimer_start(&self->timer, ns_to_ktime(next_interval(self)),
		      HRTIMER_MODE_REL_PINNED_HARD);
	return 0;
}

static int stop_on_cpu(unsigned int cpu)
{
	hrtimer_cancel(&per_cpu_ptr(&sample_timers, cpu)->timer);
	return 0;
}

static int timer_start(void)
{
	int state;

	hotplug_state = 0;
	if (!enabled)
		return 0;
	period = NSEC_PER_SEC / rate;
	state = cpuhp_setup_state(CPUHP_AP_ONLINE_DYN, "oprofile/timer:online",
				  start_on_cpu, stop_on_cpu);
	if (state < 0)
		return state;
	hotplug_state = state;
	return 0;
}

static void timer_stop(void)
{
	if (hotplug_state)
		cpuhp_remove_state(hotplug_state);
}

/* Waits that have begun end as they are: no longer than one of the lowest rate.
 */
static int lower_timer_rate(unsigned int shift)
{
	WRITE_ONCE(lowered_by, shift);
	return 0;
}

static u64 get_rate(void)
{
	return rate;
}

static int set_rate(u64 value)
{
	if (!value || value > RATE_MAX)
		return -EINVAL;
	return settings_set_while_stopped(&rate, value);
}

static const struct oprofilefs_value rate_file = {
	.name = "rate",
	.mode = 0600,
	.get = get_rate,
	.set = set_rate,
};

int counter_timer_create_files(struct dentry *root)
{
	struct dentry *dir = oprofilefs_mkdir(root, "timer");

	int err = dir ? oprofilefs_create_value(dir, &rate_file) : -ENOMEM;

	return err ? err : counter_create_setting(dir, "enabled", &enabled);
}

const struct oprofile_operations counter_timer_ops = {
	.cpu_type = "timer",
	.start = timer_start,
	.stop = timer_stop,
	.lower_rate = lower_timer_rate,
};
