// SPDX-License-Identifier: GPL-2.0
/*
 * Hardware counters, by way of the kernel's own perf_events: it knows how to
 * program them, shares them with perf(1) and with the NMI watchdog, and its
 * interrupt handler calls us. Each event is pinned on each CPU, so it has a
 * counter while it is on, or does not count at all, and that is looked at
 * (multiplex.h, which lets events take turns where there are more than
 * counters).
 *
 * Where events take turns none of them knows how long it was to be counted:
 * each CPU notes when its events began. An event of perf_events that counts
 * nothing would tell the time, too, but to make one takes the lock that CPU
 * hotplug holds while our callbacks run.
 */

#include <linux/cpu.h>
#include <linux/cpuhotplug.h>
#include <linux/kernel.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/perf_event.h>
#include <linux/printk.h>
#include <linux/ptrace.h>

#include "counter/counter.h"
#include "counter/counter_ibs.h"
#include "counter/counter_perf.h"
#include "counter/lowered.h"
#include "counter/multiplex.h"
#include "counter/throttle.h"
#include "oprofile_stats.h"
#include "uapi/oprofile.h"

/* Fewer events between two samples, and the machine does nothing else. */
#define MIN_COUNT 100

struct cpu_counter {
	struct perf_event *event;
	struct throttle throttle;
	unsigned long turns;
};

struct counter_setting counter_settings[OP_MAX_COUNTERS];
unsigned int counter_nr;
struct counter_pmu_types counter_pmu_types = { 1, { PERF_TYPE_RAW } };

static unsigned int counters;
module_param(counters, uint, 0444);
MODULE_PARM_DESC(
	counters,
	"Events that count at a time (default: as many as the CPU has counters)");

static DEFINE_PER_CPU(struct cpu_counter[OP_MAX_COUNTERS], cpu_counters);
static DEFINE_PER_CPU(u64, cpu_begun); /* ns, when its events began */
/* Guards both while somebody asks for times or changes the rate, the events of
 * IBS, too, and what is kept of events that have gone. */
static DEFINE_MUTEX(times_mutex);
static struct counter_time kept_times[OP_MAX_COUNTERS];
static int hotplug_state;
static unsigned int lowered_by; /* of events that start; likewise guarded */
static int start_error; /* of the first CPU that failed, while starting */
static bool is_starting;

/* ---- samples ------------------------------------------------------------- */

/* An NMI on some machines, a hard interrupt on others. */
static void on_overflow(struct perf_event *event, struct perf_sample_data *data,
			struct pt_regs *regs)
{
	unsigned long nr = (unsigned long)event->overflow_handler_context;
	const struct counter_setting *setting = &counter_settings[nr];
	unsigned int shift = lowered_shift(event, setting->count);

	throttle_overflow(&this_cpu_ptr(&cpu_counters[nr])->throttle, event,
			  shift);
	/* The interrupt comes some instructions late, maybe in the other mode.
	 */
	if (user_mode(regs) ? setting->user : setting->kernel)
		oprofile_add_sample(regs, nr, shift);
	else
		oprofile_stat_add(STAT_SAMPLE_FILTERED, 1ul << shift);
}

/* ---- events -------------------------------------------------------------- */

/* The number that a manual gives, as this machine's register wants it. */
static u64 config_of(const struct counter_setting *setting)
{
#ifdef CONFIG_X86
	/* AMD's events above 0xff have their upper bits at 32. */
	return (setting->event & 0xff) | (setting->unit_mask & 0xff) << 8 |
	       (u64)(setting->event & 0xf00) << 24 | setting->extra;
#else
	return setting->event | setting->unit_mask << 8 | setting->extra;
#endif
}

/*
 * Whether samples of @event, which @attr asked for, come in an interrupt or
 * NMI, which is what oprofile_add_sample() is made for. The clocks of software
 * do; its other events are told where they happen, be that under a lock of the
 * scheduler. The event's own type does not tell: Linux from 6.4 on gives the
 * clocks other ones.
 */
static bool comes_in_interrupts(const struct perf_event *event,
				const struct perf_event_attr *attr)
{
	return event->pmu->task_ctx_nr != perf_sw_context ||
	       (attr->type == PERF_TYPE_SOFTWARE &&
		(attr->config == PERF_COUNT_SW_CPU_CLOCK ||
		 attr->config == PERF_COUNT_SW_TASK_CLOCK));
}

/* The event does not count yet. */
static struct perf_event *create_event_of(struct perf_event_attr *attr,
					  unsigned int cpu, unsigned long nr)
{
	struct perf_event *event = perf_event_create_kernel_counter(
		attr, cpu, NULL, on_overflow, (void *)nr);

	if (IS_ERR(event) || comes_in_interrupts(event, attr))
		return event;
	perf_event_release_kernel(event);
	return ERR_PTR(-EINVAL);
}

static struct perf_event *create_event(unsigned int cpu, unsigned long nr)
{
	const struct counter_setting *setting = &counter_settings[nr];
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.config = config_of(setting),
		.sample_period = (u64)setting->count << lowered_by,
		.pinned = 1,
		.disabled = 1,
		.exclude_user = !setting->user,
		.exclude_kernel = !setting->kernel,
		.exclude_hv = 1,
	};
	struct perf_event *event = ERR_PTR(-ENOENT);
	unsigned long i;

	for (i = 0; i < counter_pmu_types.nr; i++) {
		attr.type = counter_pmu_types.types[i];
		event = create_event_of(&attr, cpu, nr);
		if (!IS_ERR(event))
			break;
	}
	return event;
}

/* All counters may be in use: that is only told by the state. */
static int check_event(struct perf_event *event)
{
	return READ_ONCE(event->state) == PERF_EVENT_STATE_ACTIVE ? 0 : -EBUSY;
}

static void report_failure(unsigned int cpu, unsigned long nr, int err)
{
	pr_info("oprofile: counter %lu, event 0x%lx, cannot be used on CPU %u: error %d\n",
		nr, counter_settings[nr].event, cpu, err);
}

static int make_counter(unsigned int cpu, unsigned long nr)
{
	struct cpu_counter *self = &per_cpu(cpu_counters, cpu)[nr];
	struct perf_event *event;

	throttle_start(&self->throttle);
	self->turns = 0;
	event = create_event(cpu, nr);
	if (IS_ERR(event)) {
		report_failure(cpu, nr, PTR_ERR(event));
		return PTR_ERR(event);
	}
	self->event = event;
	return 0;
}

/* Events that are always on know themselves how long that was. */
static void add_time(unsigned int cpu, unsigned int nr,
		     struct counter_time *time)
{
	const struct cpu_counter *self = &per_cpu(cpu_counters, cpu)[nr];
	struct perf_event *event = self->event;
	u64 enabled, running;

	if (!event)
		return;
	time->counted += perf_event_read_value(event, &enabled, &running);
	time->turns += READ_ONCE(self->turns);
	if (multiplex_rotates(cpu))
		enabled = ktime_get_ns() - per_cpu(cpu_begun, cpu);
	time->enabled += enabled;
	time->running += running;
}

void counter_perf_time(unsigned int nr, struct counter_time *time)
{
	unsigned int cpu;

	mutex_lock(&times_mutex);
	*time = kept_times[nr];
	for_each_possible_cpu(cpu)
		add_time(cpu, nr, time);
	mutex_unlock(&times_mutex);
}

void counter_perf_reset_times(void)
{
	mutex_lock(&times_mutex);
	memset(kept_times, 0, sizeof(kept_times));
	mutex_unlock(&times_mutex);
}

static void release_events(unsigned int cpu)
{
	unsigned int i;

	for (i = 0; i < OP_MAX_COUNTERS; i++) {
		struct cpu_counter *self = &per_cpu(cpu_counters, cpu)[i];

		if (!self->event)
			continue;
		add_time(cpu, i, &kept_times[i]);
		perf_event_release_kernel(self->event);
		self->event = NULL;
		throttle_stop(&self->throttle);
	}
}

static int stop_on_cpu(unsigned int cpu)
{
	mutex_lock(&times_mutex);
	multiplex_pause(cpu);
	release_events(cpu);
	multiplex_stop(cpu);
	counter_ibs_stop_cpu(cpu);
	mutex_unlock(&times_mutex);
	return 0;
}

/* Make all events of @cpu, then let them count. */
static int start_events(unsigned int cpu)
{
	struct multiplexed events[OP_MAX_COUNTERS];
	unsigned int numbers[OP_MAX_COUNTERS], nr = 0, failed = 0;
	unsigned long i;
	int err = 0;

	for (i = 0; i < OP_MAX_COUNTERS && !err; i++) {
		struct cpu_counter *self = &per_cpu(cpu_counters, cpu)[i];

		if (!counter_settings[i].enabled)
			continue;
		err = make_counter(cpu, i);
		events[nr] = (struct multiplexed){ self->event, &self->throttle,
						   &self->turns };
		numbers[nr++] = i;
	}
	if (err)
		return err;
	per_cpu(cpu_begun, cpu) = ktime_get_ns();
	err = multiplex_start(cpu, events, nr, counter_nr, &failed);
	if (err)
		report_failure(cpu, numbers[failed], err);
	return err;
}

/* A CPU that comes later must not be kept from coming. */
static int start_on_cpu(unsigned int cpu)
{
	int err;

	mutex_lock(&times_mutex);
	err = start_events(cpu);
	if (!err)
		err = counter_ibs_start_cpu(cpu);
	mutex_unlock(&times_mutex);
	if (!err)
		return 0;
	stop_on_cpu(cpu);
	if (is_starting) {
		start_error = err;
		return err;
	}
	oprofile_stat_inc(STAT_COUNTER_FAILED);
	return 0;
}

/* ---- the rate ------------------------------------------------------------ */

static int lower_on_cpu(unsigned int cpu, unsigned int shift)
{
	unsigned int i;
	int err = 0;

	for (i = 0; i < OP_MAX_COUNTERS && !err; i++)
		err = lowered_set(per_cpu(cpu_counters, cpu)[i].event,
				  counter_settings[i].count, shift);
	return err ? err : counter_ibs_lower_cpu(cpu, shift);
}

/* Each event knows its own period, so an error half way mixes nothing up. */
static int lower_events(unsigned int shift)
{
	unsigned int cpu;
	int err = 0;

	mutex_lock(&times_mutex);
	lowered_by = shift;
	for_each_possible_cpu(cpu) {
		err = lower_on_cpu(cpu, shift);
		if (err)
			break;
	}
	mutex_unlock(&times_mutex);
	return err;
}

/* ---- the provider -------------------------------------------------------- */

static int check_settings(void)
{
	unsigned int i;

	for (i = 0; i < OP_MAX_COUNTERS; i++) {
		const struct counter_setting *setting = &counter_settings[i];

		if (!setting->enabled)
			continue;
		if (setting->count < MIN_COUNT ||
		    setting->count > S64_MAX >> OP_MAX_RATE_SHIFT ||
		    (!setting->kernel && !setting->user))
			return -EINVAL;
	}
	return counter_ibs_check();
}

static int perf_start(void)
{
	int state = check_settings();

	if (state)
		return state;
	/* A CPU that comes finds us either starting or started. */
	cpus_read_lock();
	start_error = 0;
	is_starting = true;
	state = cpuhp_setup_state_cpuslocked(CPUHP_AP_ONLINE_DYN,
					     "oprofile/perf:online",
					     start_on_cpu, stop_on_cpu);
	is_starting = false;
	cpus_read_unlock();
	if (state < 0)
		return start_error ? start_error : state;
	hotplug_state = state;
	return 0;
}

static void perf_stop(void)
{
	cpuhp_remove_state(hotplug_state);
}

const struct oprofile_operations counter_perf_ops = {
	.cpu_type = "perf",
	.start = perf_start,
	.stop = perf_stop,
	.lower_rate = lower_events,
};

bool counter_perf_present(void)
{
	return counter_nr > 0;
}

bool counter_perf_any_enabled(void)
{
	unsigned int i;

	for (i = 0; i < OP_MAX_COUNTERS; i++)
		if (counter_settings[i].enabled)
			return true;
	return false;
}

static void ignore_overflow(struct perf_event *event,
			    struct perf_sample_data *data, struct pt_regs *regs)
{
}

/* Nothing tells how many there are: take them until there are no more. */
static unsigned int find_counters(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE,
		.config = PERF_COUNT_HW_CPU_CYCLES,
		.size = sizeof(attr),
		.sample_period = 1ull << 31,
		.pinned = 1,
		.exclude_hv = 1,
	};
	struct perf_event *events[OP_MAX_COUNTERS];
	unsigned int cpu = raw_smp_processor_id(), i, nr;

	for (i = 0; i < OP_MAX_COUNTERS; i++) {
		events[i] = perf_event_create_kernel_counter(
			&attr, cpu, NULL, ignore_overflow, NULL);
		if (IS_ERR(events[i]))
			break;
		if (check_event(events[i])) {
			perf_event_release_kernel(events[i]);
			break;
		}
	}
	nr = i;
	while (i--)
		perf_event_release_kernel(events[i]);
	return nr;
}

void counter_perf_init(void)
{
	counter_nr = counters ? min_t(unsigned int, counters, OP_MAX_COUNTERS)
			      : find_counters();
}
