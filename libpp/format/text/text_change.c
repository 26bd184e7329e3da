// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The changes of a comparison in time or events, where a sample of both
 * profiles stands for the same: a line about all samples, and columns of the
 * change of each symbol. Decimals are those that one sample makes a difference
 * to.
 */

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "libpp/format/text/text.h"
#include "libpp/report/interval.h"

/* "6,318". @buf has PP_TEXT_GROUPED_LEN bytes. */
static const char *group_digits(char *buf, uint64_t number)
{
	char digits[OP_DECIMAL_LEN];
	size_t len = op_decimal_u64(digits, number), at = 0;

	for (size_t i = 0; i < len; i++) {
		if (i && (len - i) % 3 == 0)
			buf[at++] = ',';
		buf[at++] = digits[i];
	}
	buf[at] = '\0';
	return buf;
}

bool pp_text_has_measure(const struct pp_text *t, size_t class_nr)
{
	return t->report->old.made &&
	       t->report->old.measures[class_nr].per_sample > 0;
}

struct pp_text_unit pp_text_unit(const struct pp_text *t, size_t class_nr)
{
	static const struct {
		double size;
		const char *name, *words;
	} units[] = { { 1e9, "G", " billion" },
		      { 1e6, "M", " million" },
		      { 1, "", "" } };
	const struct pp_measure *m = &t->report->old.measures[class_nr];
	double most =
		m->per_sample * fmax((double)t->report->totals[class_nr],
				     (double)t->report->old.totals[class_nr]);
	struct pp_text_unit unit = { m->per_sample, 0, "s", " s of CPU" };
	size_t i = 0;
	double digits;

	if (!m->is_time) {
		while (most < 10 * units[i].size && units[i].size > 1)
			i++;
		unit = (struct pp_text_unit){ m->per_sample / units[i].size, 0,
					      units[i].name, units[i].words };
	}
	digits = nearbyint(-log10(unit.per_sample));
	unit.decimals = digits < 0 ? 0 : digits > 6 ? 6 : (int)digits;
	return unit;
}

static struct pp_timed_count timed_count_of(const struct pp_classes *classes,
					    size_t class_nr, uint64_t count)
{
	return (struct pp_timed_count){ (double)count,
					classes->classes[class_nr].grain };
}

void pp_text_write_growth(FILE *out, const struct pp_report *report,
			  size_t class_nr, uint64_t old, uint64_t now)
{
	const struct pp_text t = { .report = report };
	struct pp_text_unit unit = pp_text_unit(&t, class_nr);
	int decimals = unit.decimals > 1 ? unit.decimals - 1 : unit.decimals;
	struct pp_timed_count a =
		timed_count_of(&report->classes, class_nr, now);
	struct pp_timed_count b =
		timed_count_of(&report->old.classes, class_nr, old);
	struct pp_interval ratio = pp_count_ratio(a, b);
	/* A wide interval leaves no sense in a digit behind the point. */
	int digits = ratio.high - ratio.low < 0.1 ? 1 : 0;

	fprintf(out, "%.*f -> %.*f%s", decimals, (double)old * unit.per_sample,
		decimals, (double)now * unit.per_sample, unit.words);
	if (!old)
		return;
	fprintf(out, ", %+.*f %% (95 %%: %+.*f to %+.*f %%)", digits,
		100 * ((double)now / (double)old - 1), digits,
		100 * (ratio.low - 1), digits, 100 * (ratio.high - 1));
}

void pp_text_compared(const struct pp_text *t, size_t class_nr)
{
	const struct pp_class *class = &t->report->classes.classes[class_nr];
	uint64_t old = t->report->old.totals[class_nr];
	uint64_t now = t->report->totals[class_nr];
	char a[PP_TEXT_GROUPED_LEN], b[PP_TEXT_GROUPED_LEN];

	fprintf(t->out, "%s -> %s samples ", group_digits(a, old),
		group_digits(b, now));
	if (pp_class_is_timer(class))
		fprintf(t->out,
			"at %s a second: ", group_digits(a, class->count));
	else
		fprintf(t->out, "of %s %s: ", group_digits(a, class->count),
			class->event);
	pp_text_write_growth(t->out, t->report, class_nr, old, now);
	if (!t->report->old.total_changes[class_nr].differs)
		fputs(", which may be chance", t->out);
	fputc('\n', t->out);
}

void pp_text_difference(char *buf, const struct pp_text_unit *unit,
			const struct pp_change *change)
{
	snprintf(buf, PP_INTERVAL_LEN, "%+.*f", unit->decimals,
		 change->difference * unit->per_sample);
}

void pp_text_difference_interval(char *buf, const struct pp_text_unit *unit,
				 const struct pp_change *change)
{
	snprintf(buf, PP_INTERVAL_LEN, "%+.*f..%+.*f", unit->decimals,
		 change->least * unit->per_sample, unit->decimals,
		 change->most * unit->per_sample);
}
