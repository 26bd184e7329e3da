/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef UTILS_OPHELP_OPHELP_H
#define UTILS_OPHELP_OPHELP_H

/* The ways in which ophelp writes events to standard output. */

#include "libop/events/op_events.h"

/*
 * Selection of a list: all events, or those that have the text @search in names
 * or descriptions, in letters of either case.
 */
struct ophelp_list {
	const struct op_events *events;
	const char *search; /* NULL: all */
	unsigned int factor; /* of minimum counts */
};

/* The next event to list from *@at on, which starts at 0; NULL at the end. */
const struct op_event *ophelp_next(const struct ophelp_list *list, size_t *at);

/* Whether @um leaves something to choose or to know. */
bool ophelp_um_is_shown(const struct op_unit_mask *um);

const char *ophelp_um_type(const struct op_unit_mask *um);

void ophelp_print_text(const struct ophelp_list *list);
/* The events of time, which all machines have, as text: those that have @search
 * as above. @follows: behind other text. False when there is none. */
bool ophelp_print_times(const char *search, bool follows);
/* The event of time that is called @name in letters of either case, or NULL.
 * It lives as long as the program. Then its entry of the list. */
const struct op_event *ophelp_find_time(const char *name);
void ophelp_print_time(const struct op_event *event);
void ophelp_print_xml(const struct ophelp_list *list);
void ophelp_print_json(const struct ophelp_list *list);

#endif /* UTILS_OPHELP_OPHELP_H */
