// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Events of AMD IBS among others. The hardware takes two kinds of samples, of
 * fetches and of ops, and each event of a kind is derived from the same
 * samples; so all events of a kind need the same count and unit mask. The
 * hardware counts in steps of 16.
 */

#include "libop/events/op_ibs.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT_STEP 16

static const char *const kind_names[OP_IBS_NR_KINDS] = {
	[OP_IBS_KIND_FETCH] = "ibs_fetch",
	[OP_IBS_KIND_OP] = "ibs_op",
};

const char *op_ibs_kind_name(enum op_ibs_kind kind)
{
	return kind_names[kind];
}

bool op_event_is_ibs(const struct op_event *event, enum op_ibs_kind *kind)
{
	for (int i = 0; event->ext && i < OP_IBS_NR_KINDS; i++) {
		if (strcmp(event->ext, kind_names[i]) != 0)
			continue;
		if (kind)
			*kind = (enum op_ibs_kind)i;
		return true;
	}
	return false;
}

const struct op_parsed_event *op_ibs_first(const struct op_parsed_event *parsed,
					   size_t nr, enum op_ibs_kind kind)
{
	enum op_ibs_kind its;

	for (size_t i = 0; i < nr; i++)
		if (op_event_is_ibs(parsed[i].event, &its) && its == kind)
			return &parsed[i];
	return NULL;
}

/* ---- checks ---- */

int op_ibs_check_count(const struct op_parsed_event *parsed, const char *spec,
		       struct op_diag *diag)
{
	uint64_t count = parsed->count;

	if (!op_event_is_ibs(parsed->event, NULL) || count % COUNT_STEP == 0)
		return 0;
	return op_diag_set(diag, -EINVAL,
			   "%s: count %" PRIu64
			   " is not a multiple of %d, as the hardware of %s "
			   "requires; give %" PRIu64,
			   spec, count, COUNT_STEP, parsed->event->ext,
			   (count / COUNT_STEP + 1) * COUNT_STEP);
}

static int check_same_samples(const struct op_parsed_event *a,
			      const struct op_parsed_event *b,
			      struct op_diag *diag)
{
	const struct {
		const char *what;
		uint64_t a, b;
	} fields[] = {
		{ "count", a->count, b->count },
		{ "unit mask", a->um, b->um },
		{ "kernel", a->kernel, b->kernel },
		{ "user", a->user, b->user },
	};

	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		if (fields[i].a != fields[i].b)
			return op_diag_set(
				diag, -EINVAL,
				"%s: %s %" PRIu64 ", but %s has %" PRIu64
				"; all events of %s are derived from the same "
				"samples, give them the same %s",
				b->event->name, fields[i].what, fields[i].b,
				a->event->name, fields[i].a, a->event->ext,
				fields[i].what);
	return 0;
}

int op_ibs_check(const struct op_parsed_event *parsed, size_t nr,
		 struct op_diag *diag)
{
	enum op_ibs_kind kind;
	int err = 0;

	for (size_t i = 0; i < nr && !err; i++)
		if (op_event_is_ibs(parsed[i].event, &kind))
			err = check_same_samples(op_ibs_first(parsed, nr, kind),
						 &parsed[i], diag);
	return err;
}

/* ---- for the daemon ---- */

static void print_ibs_kind(FILE *out, const struct op_parsed_event *parsed,
			   size_t nr, enum op_ibs_kind kind, const char *before)
{
	const struct op_parsed_event *first = op_ibs_first(parsed, nr, kind);
	enum op_ibs_kind its;
	const char *between = "";

	if (!first)
		return;
	/* "fetch" of "ibs_fetch" */
	fprintf(out, "%s%s:", before, strchr(kind_names[kind], '_') + 1);
	for (size_t i = 0; i < nr; i++) {
		if (!op_event_is_ibs(parsed[i].event, &its) || its != kind)
			continue;
		fprintf(out, "%s%s", between, parsed[i].event->name);
		between = ",";
	}
	fprintf(out, ":%" PRIu64 ":%" PRIu64, first->count, first->um);
}

char *op_ibs_feature_text(const struct op_parsed_event *parsed, size_t nr)
{
	bool both = op_ibs_first(parsed, nr, OP_IBS_KIND_FETCH);
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	if (!out)
		return NULL;
	print_ibs_kind(out, parsed, nr, OP_IBS_KIND_FETCH, "ibs:");
	print_ibs_kind(out, parsed, nr, OP_IBS_KIND_OP, both ? "|" : "ibs:");
	if (!fclose(out))
		return text;
	free(text);
	return NULL;
}
