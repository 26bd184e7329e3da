// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Each event is described here alone, so that what all of them must have in
 * common is said once: times of one clock, by which the rings are merged, and
 * an identity behind every record. The event for the side band counts nothing
 * (PERF_COUNT_SW_DUMMY).
 *
 * Kernels refuse attributes that they do not know. opd_perf_probe_kernel()
 * therefore opens an event of our own with each of the newer ones, build-ids
 * and counts of lost samples, and closes it again.
 */

#include "daemon/source/perf/opd_perf_attr.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "daemon/source/perf/opd_perf_record.h"
#include "daemon/source/perf/opd_perf_regs.h"
#include "libop/kernel/op_perf.h"

/*
 * A little longer than asked for: samples at whole parts of a second would
 * always meet the same phase of work that is timed by the kernel's tick.
 */
uint64_t opd_perf_period(uint32_t rate)
{
	uint64_t ns = UINT64_C(1000000000) / rate;

	return ns + ns * 3 / 1000;
}

static void init_attr(const struct opd_perf_events *all,
		      struct perf_event_attr *attr)
{
	memset(attr, 0, sizeof(*attr));
	attr->size = sizeof(*attr);
	attr->exclude_hv = 1;
	attr->exclude_guest = 1;
	attr->inherit = !opd_perf_samples_cpus(all->target);
	attr->sample_id_all = 1;
	attr->use_clockid = 1;
	attr->clockid = OPD_PERF_CLOCK;
	attr->watermark = 1;
}

void opd_perf_side_attr(const struct opd_perf_events *all,
			struct perf_event_attr *attr)
{
	init_attr(all, attr);
	attr->type = PERF_TYPE_SOFTWARE;
	attr->config = PERF_COUNT_SW_DUMMY;
	attr->sample_type = OPD_PERF_SIDE;
	attr->read_format = PERF_FORMAT_TOTAL_TIME_ENABLED;
	attr->exclude_kernel = 1;
	attr->mmap = attr->mmap2 = 1;
	attr->comm = attr->comm_exec = 1;
	attr->task = 1;
	attr->ksymbol = 1;
	attr->build_id = !all->no_build_ids;
	attr->wakeup_watermark = 1; /* the next mapping may be gone soon */
}

static void set_event(struct perf_event_attr *attr,
		      const struct opd_event *event,
		      const struct opd_perf_target *target)
{
	const struct op_perf_event *known = op_perf_event_find(event->name);

	attr->sample_period = event->count;
	if (opd_event_is_timer(event)) {
		attr->type = PERF_TYPE_SOFTWARE;
		attr->config = PERF_COUNT_SW_CPU_CLOCK;
		/*
		 * The kernel counts samples from tick to tick and throttles
		 * what seems too much; an idle CPU has no ticks, and once
		 * throttled it stays so.
		 */
		attr->exclude_idle = 1;
		attr->sample_period = opd_perf_period(target->rate);
	} else if (known) {
		attr->type = known->type;
		attr->config = known->config;
	} else {
		attr->type = PERF_TYPE_RAW;
		attr->config = event->config;
	}
}

/*
 * Only precise events tell weights. On Intel load latency needs a threshold,
 * at least 3 cycles (SDM vol. 3, "Load Latency Performance Monitoring
 * Facility"), as ldlat in config1.
 */
static void ask_for_weights(struct perf_event_attr *attr)
{
	if (attr->type != PERF_TYPE_RAW)
		return;
	attr->precise_ip = 2;
#ifdef __x86_64__
	if ((attr->config & 0xffff) == 0x1cd)
		attr->config1 = 3;
#endif
}

static void ask_for_stacks(const struct opd_perf_events *all,
			   struct perf_event_attr *attr)
{
	if (all->sample_type & OPD_PERF_CHAIN) {
		attr->exclude_callchain_user = 1;
		attr->sample_max_stack = (uint16_t)all->kernel_depth;
	}
	attr->sample_regs_user = OPD_PERF_REGS;
	attr->sample_stack_user = all->stack;
	/* Long records: half a ring is soon the whole. */
	attr->wakeup_watermark = (uint32_t)all->sample_size / 4;
}

bool opd_perf_is_timed(const struct opd_event *event)
{
	return !opd_event_is_timer(event) && !opd_event_is_wait(event);
}

/*
 * All switches are told, and each is a sample, too, until there are more of
 * them than samples of the clock: then the daemon lowers the rate of a CPU
 * (opd_perf_events_pace()), and the kernel that of a thread. The samples are
 * taken in code of the kernel, so that users who may not sample that get none.
 */
static void set_switches(const struct opd_perf_events *all,
			 struct perf_event_attr *attr,
			 const struct opd_event *event)
{
	attr->type = PERF_TYPE_SOFTWARE;
	attr->config = PERF_COUNT_SW_CONTEXT_SWITCHES;
	attr->context_switch = 1;
	attr->freq = !opd_perf_samples_cpus(all->target);
	if (attr->freq)
		attr->sample_freq = all->target->rate;
	else
		attr->sample_period = 1;
	attr->sample_type = all->switch_type;
	attr->read_format = all->tells_lost ? PERF_FORMAT_LOST : 0;
	attr->exclude_kernel = !event->kernel;
	attr->disabled = 1;
	attr->enable_on_exec =
		all->target->exec != 0 && !opd_perf_samples_cpus(all->target);
	attr->wakeup_watermark = (uint32_t)all->sample_size / 4;
	if (attr->sample_type & OPD_PERF_CHAIN) {
		attr->exclude_callchain_user = 1;
		attr->sample_max_stack = (uint16_t)all->switch_depth;
	}
	if (attr->sample_type & PERF_SAMPLE_STACK_USER) {
		attr->sample_regs_user = OPD_PERF_REGS;
		attr->sample_stack_user = all->stack;
	}
}

void opd_perf_sample_attr(const struct opd_perf_events *all,
			  struct perf_event_attr *attr,
			  const struct opd_event *event)
{
	init_attr(all, attr);
	if (opd_event_is_wait(event)) {
		set_switches(all, attr, event);
		return;
	}
	set_event(attr, event, all->target);
	attr->sample_period <<= all->shift;
	attr->sample_type = all->sample_type;
	attr->read_format = all->tells_lost ? PERF_FORMAT_LOST : 0;
	if (opd_perf_is_timed(event))
		attr->read_format |= PERF_FORMAT_TOTAL_TIME_ENABLED |
				     PERF_FORMAT_TOTAL_TIME_RUNNING;
	attr->exclude_kernel = !event->kernel;
	attr->exclude_user = !event->user;
	attr->disabled = 1;
	attr->enable_on_exec =
		all->target->exec != 0 && !opd_perf_samples_cpus(all->target);
	attr->wakeup_watermark = (uint32_t)all->sample_size / 2;
	if (all->counters->weights)
		ask_for_weights(attr);
	if (all->target->depth)
		ask_for_stacks(all, attr);
}

void opd_perf_probe_kernel(struct opd_perf_events *all)
{
	struct perf_event_attr attr;
	int fd;

	all->no_build_ids = false;
	opd_perf_side_attr(all, &attr);
	fd = op_perf_open(&attr, 0, -1, -1);
	all->no_build_ids = fd == -EINVAL || fd == -E2BIG;
	if (fd >= 0)
		close(fd);
	opd_perf_side_attr(all, &attr);
	attr.read_format = PERF_FORMAT_LOST;
	fd = op_perf_open(&attr, 0, -1, -1);
	all->tells_lost = fd >= 0;
	if (fd >= 0)
		close(fd);
}
