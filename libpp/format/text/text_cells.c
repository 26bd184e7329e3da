// SPDX-License-Identifier: GPL-2.0-or-later
/* The contents of cells that several tables of text have. */

#include <string.h>

#include "libop/base/op_terminal_safe.h"
#include "libop/events/op_wait_event.h"
#include "libpp/format/text/text.h"
#include "libpp/report/report_times.h"

const char *pp_text_plain(const struct pp_text *t, const char *name)
{
	char *copy;

	if (!strpbrk(name, "\t\n\v\f\r"))
		return name;
	copy = op_arena_strdup(t->arena, name);
	if (!copy)
		return "?";
	op_terminal_safe(copy);
	return copy;
}

const char *pp_text_name(const struct pp_text *t, const char *name)
{
	return pp_text_plain(t, t->options->long_names
					? name
					: pp_short_path(&t->shorts, name));
}

const char *pp_text_percent(char *buf, double percent)
{
	if (percent == 0)
		return strcpy(buf, "      0");
	if (percent >= -0.001 && percent <= 0.001)
		snprintf(buf, PP_PERCENT_LEN, "%7.1e", percent);
	else
		op_decimal_percent(buf, percent);
	if (!strncmp(buf, "100.", 4))
		buf[7] = '\0';
	return buf;
}

const char *pp_text_interval(char *buf, uint64_t part, uint64_t whole,
			     double scale)
{
	struct pp_interval i = pp_scaled_share_interval(part, whole, scale);

	snprintf(buf, PP_INTERVAL_LEN, "%.4f-%.4f", 100 * i.low, 100 * i.high);
	return buf;
}

const struct pp_class *pp_text_column(const struct pp_text *t, size_t column)
{
	return &t->report->classes
			.classes[t->rows ? t->rows->columns[column] : column];
}

/* Nanoseconds that a sample of @column stands for, if it is shown as time. */
static uint64_t shown_sample_ns(const struct pp_text *t, size_t column)
{
	return t->has_times ? pp_class_sample_ns(t->report,
						 pp_text_column(t, column))
			    : 0;
}

const char *pp_text_count_head(const struct pp_text *t, size_t column)
{
	const struct pp_class *class;

	if (!shown_sample_ns(t, column))
		return "samples";
	class = pp_text_column(t, column);
	return pp_class_is_latency(class)		       ? "elapsed s"
	       : !pp_class_is_wait(class)		       ? "CPU s"
	       : !(class->counted_unit_mask & OP_WAIT_BLOCKED) ? "ready s"
	       : !(class->counted_unit_mask & OP_WAIT_READY)   ? "blocked s"
							       : "waited s";
}

const char *pp_text_count(char *buf, const struct pp_text *t, size_t column,
			  uint64_t count)
{
	uint64_t ns = shown_sample_ns(t, column);

	if (ns && count)
		snprintf(buf, OP_DECIMAL_LEN, "%.3f",
			 (double)count * (double)ns / 1e9);
	else
		op_decimal_u64(buf, count);
	return buf;
}
