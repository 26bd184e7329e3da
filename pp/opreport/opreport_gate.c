// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Each count is tested against what the bound allows: by the chance of as many
 * samples or more if the truth were the old count times the bound. Several
 * tests share the level, so that naming many symbols makes no alarm more
 * likely.
 */

#include "pp/opreport/opreport_gate.h"

#include <errno.h>

#include "libpp/format/text/text.h"
#include "libpp/report/interval.h"

/* The counts of a class on both sides, of all samples or of a symbol. */
struct gated {
	const char *name;
	size_t class_nr;
	uint64_t now, old;
};

static struct pp_timed_count gated_count(const struct pp_classes *classes,
					 size_t class_nr, uint64_t count)
{
	return (struct pp_timed_count){ (double)count,
					classes->classes[class_nr].grain };
}

static void print_gated(FILE *out, const struct pp_report *report,
			const struct gated *g)
{
	fprintf(out, "opreport: gate: %s", g->name);
	if (report->classes.nr > 1)
		fprintf(out, " (%s)",
			report->classes.classes[g->class_nr].name);
	fputs(": ", out);
	pp_text_write_growth(out, report, g->class_nr, g->old, g->now);
}

/* Whether @g is slower than the gate allows, one of @nr_tests; then it is
 * printed. */
static bool is_too_slow(const struct opreport_gate *gate,
			const struct pp_report *report, const struct gated *g,
			size_t nr_tests, FILE *out)
{
	double p = pp_count_excess_p(
		gated_count(&report->classes, g->class_nr, g->now),
		gated_count(&report->old.classes, g->class_nr, g->old),
		1 + gate->percent / 100);

	if (p > OPREPORT_GATE_LEVEL / (double)nr_tests)
		return false;
	print_gated(out, report, g);
	fprintf(out, ": more than +%g %% beyond chance (p = %.1e)\n",
		gate->percent, p);
	return true;
}

static int check_gate_measures(const struct opreport_gate *gate,
			       const struct pp_report *report,
			       struct op_diag *diag)
{
	for (size_t c = 0; c < report->classes.nr; c++)
		if (!(report->old.measures[c].per_sample > 0))
			return op_diag_set(
				diag, -EINVAL,
				"--gate: counts of %s cannot be compared; profile both with the same event and the same --rate or count, without sharing counters",
				report->classes.classes[c].name);
	if (gate->has_names && !report->symbols.nr)
		return op_diag_set(
			diag, -ENOENT,
			"--gate: no symbol of --include-symbols has samples in either profile");
	return 0;
}

int opreport_check_gate(const struct opreport_gate *gate,
			const struct pp_report *report, FILE *out,
			struct op_diag *diag)
{
	size_t nr_classes = report->classes.nr, nr_slow = 0;
	size_t nr_symbols = gate->has_names ? report->symbols.nr : 0;
	size_t nr_tests = nr_classes * (1 + nr_symbols);
	int err;

	if (gate->percent < 0)
		return 0;
	err = check_gate_measures(gate, report, diag);
	for (size_t c = 0; c < nr_classes && !err; c++) {
		struct gated g = { "all samples", c, report->totals[c],
				   report->old.totals[c] };

		nr_slow += is_too_slow(gate, report, &g, nr_tests, out);
		for (size_t i = 0; i < nr_symbols; i++) {
			const struct pp_symbol_entry *entry =
				&report->symbols.list[i];

			g = (struct gated){ entry->name, c, entry->counts[c],
					    entry->old_counts[c] };
			nr_slow += is_too_slow(gate, report, &g, nr_tests, out);
		}
	}
	if (err)
		return err;
	if (nr_slow)
		return op_diag_set(
			diag, -ERANGE,
			"--gate: %zu of %zu counts grew by more than %g %%, beyond chance",
			nr_slow, nr_tests, gate->percent);
	for (size_t c = 0; c < nr_classes; c++) {
		struct gated g = { "passed", c, report->totals[c],
				   report->old.totals[c] };

		print_gated(out, report, &g);
		fputc('\n', out);
	}
	return 0;
}
