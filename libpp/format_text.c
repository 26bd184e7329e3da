// SPDX-License-Identifier: GPL-2.0-or-later

#include "libpp/format_text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "libpp/sample_list.h"

/* Fewest characters of the fields of a table row. */
enum {
	WIDTH_VMA = 9,
	WIDTH_SAMPLES = 9,
	WIDTH_CUM_SAMPLES = 14,
	WIDTH_PERCENT = 9,
	WIDTH_CUM_PERCENT = 11,
	WIDTH_IMAGE = 25,
	WIDTH_APP = 25,
};

#define TITLE_WIDTH 17 /* of a summary's column */
#define PERCENT_LEN 32

/* A report on its way out. */
struct text {
	FILE *out;
	const struct pp_report *report;
	const struct pp_text_options *options;
	bool show_image, show_app;
	int vma_digits;
	size_t pending; /* blanks owed before the next field */
	uint64_t *running; /* cumulative counts, one per class; may be NULL */
};

static const char *shown_name(const struct text *t, const char *name)
{
	return t->options->long_names ? name : pp_base_name(name);
}

/* ---- percentages --------------------------------------------------------- */

static double ratio(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

/* Seven characters for every ordinary value. */
static const char *percent_text(char *buf, double percent)
{
	if (percent == 0)
		return strcpy(buf, "      0");
	if (percent <= 0.001)
		snprintf(buf, PERCENT_LEN, "%7.1e", percent);
	else
		snprintf(buf, PERCENT_LEN, "%7.4f", percent);
	if (!strncmp(buf, "100.", 4))
		buf[7] = '\0';
	return buf;
}

/* ---- what was counted ---------------------------------------------------- */

static void write_cpu(const struct text *t)
{
	const struct pp_report *report = t->report;
	bool timer = !strcmp(report->cpu_type, "timer");

	fprintf(t->out, "CPU: %s",
		timer ? "CPU with timer interrupt" : report->cpu_type);
	if (report->cpu_khz)
		fprintf(t->out, ", speed %" PRIu32 " MHz (estimated)",
			(report->cpu_khz + 500) / 1000);
	fputc('\n', t->out);
}

static void write_event(const struct text *t, const struct pp_class *class)
{
	if (!pp_class_is_timer(class)) {
		fprintf(t->out,
			"Counted %s events with a unit mask of 0x%02" PRIx64
			" count %" PRIu64 "\n",
			class->event, class->unit_mask, class->count);
		return;
	}
	fputs("Profiling through timer interrupt", t->out);
	if (t->report->timer_hz)
		fprintf(t->out, ", %" PRIu32 " samples per second and CPU",
			t->report->timer_hz);
	fputc('\n', t->out);
}

static void write_axis_value(const struct text *t, const struct pp_class *class)
{
	switch (t->report->classes.axis) {
	case PP_AXIS_CPU:
		fprintf(t->out, "Samples on CPU %" PRId64 "\n", class->cpu);
		break;
	case PP_AXIS_TGID:
		fprintf(t->out,
			"Processes with a thread group ID of %" PRId64 "\n",
			class->tgid);
		break;
	case PP_AXIS_TID:
		fprintf(t->out, "Processes with a thread ID of %" PRId64 "\n",
			class->tid);
		break;
	default:
		break;
	}
}

static void write_header(const struct text *t)
{
	const struct pp_classes *classes = &t->report->classes;
	size_t nr_events = classes->axis == PP_AXIS_EVENT ? classes->nr : 1;

	write_cpu(t);
	for (size_t i = 0; i < nr_events; i++)
		write_event(t, &classes->classes[i]);
	for (size_t i = 0; i < classes->nr; i++)
		write_axis_value(t, &classes->classes[i]);
}

/* ---- the image summary --------------------------------------------------- */

static void write_title(FILE *out, const char *title)
{
	if (strlen(title) > TITLE_WIDTH)
		fprintf(out, "%.*s...|", TITLE_WIDTH - 3, title);
	else
		fprintf(out, "%*s|", TITLE_WIDTH, title);
}

static void write_column_heads(const struct text *t, const char *indent)
{
	const struct pp_classes *classes = &t->report->classes;

	if (t->options->no_header)
		return;
	fputs(indent, t->out);
	for (size_t i = 0; i < classes->nr; i++)
		write_title(t->out, classes->classes[i].name);
	fprintf(t->out, "\n%s", indent);
	for (size_t i = 0; i < classes->nr; i++)
		fputs("  samples|      %|", t->out);
	fprintf(t->out, "\n%s", indent);
	for (size_t i = 0; i < classes->nr * (TITLE_WIDTH + 1); i++)
		fputc('-', t->out);
	fputc('\n', t->out);
}

static void write_counts(const struct text *t, const uint64_t *counts,
			 const uint64_t *totals)
{
	char percent[PERCENT_LEN];

	for (size_t i = 0; i < t->report->classes.nr; i++)
		fprintf(t->out, "%9" PRIu64 " %s ", counts[i],
			percent_text(percent, ratio(counts[i], totals[i])));
}

static void write_dependents(const struct text *t,
			     const struct pp_summary_app *app)
{
	const uint64_t *totals =
		t->options->global_percent ? t->report->totals : app->counts;

	if (app->nr_images < 2)
		return;
	write_column_heads(t, "\t");
	for (size_t i = 0; i < app->nr_images; i++) {
		fputc('\t', t->out);
		write_counts(t, app->images[i].counts, totals);
		fprintf(t->out, "%s\n", shown_name(t, app->images[i].name));
	}
}

static void write_summary(const struct text *t)
{
	const struct pp_report *report = t->report;

	write_column_heads(t, "");
	for (size_t i = 0; i < report->nr_apps; i++) {
		write_counts(t, report->apps[i].counts, report->totals);
		fprintf(t->out, "%s\n", shown_name(t, report->apps[i].name));
		write_dependents(t, &report->apps[i]);
	}
}

/* ---- the symbol table ---------------------------------------------------- */

/* A field of at least @width characters, a blank behind it included, which
 * are written only when another field follows. */
static void write_field(struct text *t, size_t width, const char *text)
{
	size_t len = strlen(text);

	fprintf(t->out, "%*s%s", (int)t->pending, "", text);
	t->pending = len < width ? width - len : 1;
}

static void end_row(struct text *t)
{
	fputc('\n', t->out);
	t->pending = 0;
}

static void write_number(struct text *t, size_t width, uint64_t number)
{
	char buf[24];

	snprintf(buf, sizeof(buf), "%" PRIu64, number);
	write_field(t, width, buf);
}

static void write_percent(struct text *t, size_t width, uint64_t part,
			  uint64_t whole)
{
	char buf[PERCENT_LEN];

	write_field(t, width, percent_text(buf, ratio(part, whole)));
}

static void write_vma(struct text *t, uint64_t vma)
{
	char buf[24];

	if (!t->options->show_address)
		return;
	snprintf(buf, sizeof(buf), "%0*" PRIx64, t->vma_digits, vma);
	write_field(t, WIDTH_VMA, buf);
}

static void write_table_heads(struct text *t)
{
	if (t->options->show_address)
		write_field(t, WIDTH_VMA, "vma");
	for (size_t i = 0; i < t->report->classes.nr; i++) {
		write_field(t, WIDTH_SAMPLES, "samples");
		if (t->running)
			write_field(t, WIDTH_CUM_SAMPLES, "cum. samples");
		write_field(t, WIDTH_PERCENT, "%");
		if (t->running)
			write_field(t, WIDTH_CUM_PERCENT, "cum. %");
	}
	if (t->show_image)
		write_field(t, WIDTH_IMAGE, "image name");
	if (t->show_app)
		write_field(t, WIDTH_APP, "app name");
	write_field(t, 0, "symbol name");
	end_row(t);
}

static void write_class(struct text *t, const struct pp_symbol_entry *entry,
			size_t i)
{
	uint64_t total = t->report->symbol_totals[i];

	write_number(t, WIDTH_SAMPLES, entry->counts[i]);
	if (t->running) {
		t->running[i] = pp_add_counts(t->running[i], entry->counts[i]);
		write_number(t, WIDTH_CUM_SAMPLES, t->running[i]);
	}
	write_percent(t, WIDTH_PERCENT, entry->counts[i], total);
	if (t->running)
		write_percent(t, WIDTH_CUM_PERCENT, t->running[i], total);
}

static void write_details(struct text *t, const struct pp_symbol_entry *entry)
{
	const uint64_t *totals = t->options->global_percent
					 ? t->report->symbol_totals
					 : entry->counts;

	for (size_t i = 0; i < entry->nr_details; i++) {
		const struct pp_detail *detail = &entry->details[i];

		fputs("  ", t->out);
		write_vma(t, detail->vma);
		for (size_t j = 0; j < t->report->classes.nr; j++) {
			write_number(t, WIDTH_SAMPLES, detail->counts[j]);
			write_percent(t, WIDTH_PERCENT, detail->counts[j],
				      totals[j]);
		}
		end_row(t);
	}
}

static void write_symbol(struct text *t, const struct pp_symbol_entry *entry)
{
	write_vma(t, entry->vma);
	for (size_t i = 0; i < t->report->classes.nr; i++)
		write_class(t, entry, i);
	if (t->show_image)
		write_field(t, WIDTH_IMAGE, shown_name(t, entry->image->name));
	if (t->show_app)
		write_field(t, WIDTH_APP, shown_name(t, entry->app));
	write_field(t, 0, entry->name);
	end_row(t);
	write_details(t, entry);
}

/* Which columns are needed to tell the entries apart, and how wide. */
static void look_at_symbols(struct text *t)
{
	const struct pp_symbol_entry *symbols = t->report->symbols;

	t->vma_digits = 8;
	for (size_t i = 0; i < t->report->nr_symbols; i++) {
		const struct pp_symbol_entry *entry = &symbols[i];
		uint64_t highest = entry->vma;

		if (entry->nr_details &&
		    entry->details[entry->nr_details - 1].vma > highest)
			highest = entry->details[entry->nr_details - 1].vma;
		if (highest > UINT32_MAX)
			t->vma_digits = 16;
		t->show_image |= strcmp(entry->image->name, entry->app) != 0;
		t->show_app |= strcmp(entry->app, symbols[0].app) != 0;
	}
}

static void write_symbols(struct text *t)
{
	look_at_symbols(t);
	if (t->options->accumulated)
		t->running = calloc(t->report->classes.nr, sizeof(uint64_t));
	if (!t->options->no_header)
		write_table_heads(t);
	for (size_t i = 0; i < t->report->nr_symbols; i++)
		write_symbol(t, &t->report->symbols[i]);
	free(t->running);
}

void pp_format_text(FILE *out, const struct pp_report *report,
		    const struct pp_text_options *options)
{
	struct text t = { .out = out, .report = report, .options = options };

	if (!options->no_header)
		write_header(&t);
	if (report->has_symbols)
		write_symbols(&t);
	else
		write_summary(&t);
}
