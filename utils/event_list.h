/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef UTILS_EVENT_LIST_H
#define UTILS_EVENT_LIST_H

/*
 * A list of event specifications (libop/events/op_parse_event.h) with commas
 * between, resolved for this machine. A name may be that of an event of the
 * kernel's own or of the CPU; the kernel's come first.
 */

#include <stdbool.h>
#include <stddef.h>

#include "libop/base/op_diag.h"
#include "libop/events/op_parse_event.h"
#include "utils/event_machine.h"

struct event_list {
	struct op_parsed_event *event; /* what it points to is the machine's */
	size_t nr;
	bool has_timer; /* it was in the list, where it may be chosen */
};

/* The name of the timer in a list. */
#define EVENT_LIST_TIMER "timer"

/*
 * Parse one specification; a name that is known nowhere is reported as one of
 * the CPU. Returns 0, -EINVAL with the reason, or -ENOMEM.
 */
int event_parse(struct op_parsed_event *event, struct event_machine *machine,
		const char *spec, const struct op_parse_options *options,
		struct op_diag *diag);

/*
 * Resolve @text into @list. Returns 0, or -errno with the reason in @diag;
 * event_list_release() must follow in any case.
 */
int event_list_init(struct event_list *list, struct event_machine *machine,
		    const char *text, struct op_diag *diag);
void event_list_release(struct event_list *list);

/* Note for events that take turns. */
#define EVENT_LIST_SHARE_NOTE                                                  \
	"more events than the CPU has counters for: they take turns, and "     \
	"reports scale their counts"

/*
 * Whether all of @list can be sampled together: op_check_events(). Where they
 * need more counters than the CPU has they can take turns, and *@share is true.
 * Returns 0, or -EINVAL with the reason.
 */
int event_list_check(const struct event_list *list,
		     struct event_machine *machine, bool *share,
		     struct op_diag *diag);

/* Whether a counter counts @event: all but those of IBS and THREAD_WAIT. */
bool event_needs_counter(const struct op_event *event);

/* How many of them need a counter. */
size_t event_list_nr_counters(const struct event_list *list);

/* The first event of the kernel's own, or of the CPU's; NULL: none. */
const struct op_parsed_event *event_list_first(const struct event_list *list,
					       bool is_kernels);

/*
 * Leave kernel code out of all events, for a user who may not sample it;
 * *@changed tells whether any had it. Returns 0, or -EACCES with the reason
 * for an event that has nothing else.
 */
int event_list_leave_kernel(struct event_list *list, bool *changed,
			    struct op_diag *diag);

/*
 * The list as people write it, all fields given; and as the daemon takes it,
 * "NAME:CODE:COUNTER:COUNT:UM:KERNEL:USER:CONFIG,...", where counters are
 * places in the list, as perf_events finds the hardware's itself; events of IBS
 * have no place there (op_ibs_feature_text()), and the timer has the first one,
 * if it is in the list beside others. The caller's to free; NULL: out of
 * memory.
 */
char *event_list_text(const struct event_list *list);
char *event_list_daemon_text(const struct event_list *list);

#endif /* UTILS_EVENT_LIST_H */
