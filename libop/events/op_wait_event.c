// SPDX-License-Identifier: GPL-2.0-or-later

#include "libop/events/op_wait_event.h"

static const char by_scheduler[] = "the kernel's scheduler";

/* Their values are the bits of wait/N/unit_mask. */
static struct op_unit_mask_entry entries[] = {
	{ .value = OP_WAIT_INTERRUPTIBLE,
	  .desc = "blocked in interruptible sleep" },
	{ .value = OP_WAIT_UNINTERRUPTIBLE,
	  .desc = "blocked in uninterruptible sleep" },
	{ .value = OP_WAIT_READY, .desc = "ready, and waiting for a CPU" },
};

static const struct op_unit_mask parts = {
	.name = "wait",
	.type = OP_UM_BITMASK,
	.default_text = "7",
	.default_value = 7,
	.entries = entries,
	.nr = sizeof(entries) / sizeof(entries[0]),
};

const struct op_event *op_wait_event(void)
{
	static const struct op_event event = {
		.name = "THREAD_WAIT",
		.desc = "Nanoseconds that a thread was blocked or waited for a CPU",
		.min_count = 1000,
		.ext = by_scheduler,
		.filter = -1,
		.um = &parts,
	};

	return &event;
}

const struct op_event *op_latency_event(void)
{
	static const struct op_unit_mask none = { .type = OP_UM_MANDATORY,
						  .nr = 0 };
	static const struct op_event event = {
		.name = OP_LATENCY_EVENT,
		.desc = "Nanoseconds that a thread had a CPU, divided by the number of threads of its process that had one",
		.min_count = 1000000,
		.ext = "samples of the CPU clock",
		.filter = -1,
		.um = &none,
	};

	return &event;
}

bool op_event_is_wait(const struct op_event *event)
{
	return event->ext == by_scheduler;
}
