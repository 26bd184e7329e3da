/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBOP_EVENTS_OP_IBS_H
#define LIBOP_EVENTS_OP_IBS_H

/*
 * Events of AMD's Instruction-Based Sampling: those with "ext:ibs_fetch" or
 * "ext:ibs_op" in the event files. The hardware takes one sample of a kind at
 * a time, from which all events of the kind are derived: so they share count,
 * unit mask, kernel and user. It counts in steps of 16.
 */

#include <stdbool.h>
#include <stddef.h>

#include "libop/base/op_diag.h"
#include "libop/events/op_parse_event.h"

enum op_ibs_kind { OP_IBS_KIND_FETCH, OP_IBS_KIND_OP, OP_IBS_NR_KINDS };

/* The name of a kind in event files and in the module: "ibs_fetch". */
const char *op_ibs_kind_name(enum op_ibs_kind kind);

/* Whether @event is of IBS; its kind goes to *@kind unless that is NULL. */
bool op_event_is_ibs(const struct op_event *event, enum op_ibs_kind *kind);

/* The first of the @nr events at @parsed of @kind, NULL without any. */
const struct op_parsed_event *op_ibs_first(const struct op_parsed_event *parsed,
					   size_t nr, enum op_ibs_kind kind);

/* Whether the count of @parsed can be had. Returns 0 or -EINVAL with the
 * reason; @spec is what the user wrote. */
int op_ibs_check_count(const struct op_parsed_event *parsed, const char *spec,
		       struct op_diag *diag);

/* Whether all of a kind share what they must. 0 or -EINVAL with the reason. */
int op_ibs_check(const struct op_parsed_event *parsed, size_t nr,
		 struct op_diag *diag);

/*
 * The argument of oprofiled's --ext-feature:
 * "ibs:fetch:EVENT,...:COUNT:UM|op:...", "" without events of IBS. The caller
 * frees it; NULL if there is no memory.
 */
char *op_ibs_feature_text(const struct op_parsed_event *parsed, size_t nr);

#endif /* LIBOP_EVENTS_OP_IBS_H */
