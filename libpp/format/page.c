// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The JSON stands in a script element, which any "</script" would end; in JSON
 * a '<' occurs in strings alone, so each is written as an escape.
 */

#include "libpp/format/page.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "libop/base/op_plural.h"
#include "libpp/select/sample_list.h"

#define DATA "@DATA@"
#define MAX_TITLE_APPS 2

static void write_script_text(FILE *out, const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if (text[i] == '<')
			fputs("\\u003c", out);
		else
			fputc(text[i], out);
	}
}

int pp_page_write(FILE *out, const char *page,
		  void (*write)(struct op_json *json, void *arg), void *arg)
{
	const char *at = strstr(page, DATA);
	struct op_json json = { 0 };
	char *text = NULL;
	bool failed;
	size_t len;

	json.out = open_memstream(&text, &len);
	if (!json.out)
		return -ENOMEM;
	write(&json, arg);
	failed = ferror(json.out);
	failed |= fclose(json.out) != 0;
	if (!failed) {
		fwrite(page, 1, (size_t)(at - page), out);
		write_script_text(out, text, len);
		fputs(at + strlen(DATA), out);
	}
	free(text);
	return failed ? -ENOMEM : 0;
}

void pp_json_description(struct op_json *json, const char *key,
			 void (*write)(FILE *out, void *arg), void *arg)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	if (!out)
		return;
	write(out, arg);
	fclose(out);
	if (text && *text)
		op_json_text(json, key, text);
	free(text);
}

void pp_describe_profile(FILE *out, const struct pp_report *report,
			 const struct pp_format_options *options)
{
	fputs(report->cpu.title, out);
	if (report->cpu.timer_hz)
		fprintf(out, ", %" PRIu32 " sample%s per second and CPU",
			report->cpu.timer_hz, op_plural(report->cpu.timer_hz));
	if (options->command)
		fprintf(out, " — %s", options->command);
}

void pp_describe_apps(FILE *out, const struct pp_report *report)
{
	size_t nr = report->summary.nr_apps > MAX_TITLE_APPS + 1
			    ? MAX_TITLE_APPS
			    : report->summary.nr_apps;

	for (size_t i = 0; i < nr; i++)
		fprintf(out, "%s%s", i ? ", " : "",
			pp_base_name(report->summary.apps[i].name));
	if (nr < report->summary.nr_apps)
		fprintf(out, " and %zu more", report->summary.nr_apps - nr);
}
