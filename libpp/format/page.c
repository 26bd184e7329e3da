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

#include "libop/base/op_array.h"
#include "libop/base/op_hash.h"
#include "libop/base/op_plural.h"
#include "libpp/images/symbol_names.h"
#include "libpp/select/sample_list.h"
#include "libpp/tree/tree.h"

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

/* ---- whole names --------------------------------------------------------- */

/*
 * No two symbols of a report share a short name (libpp/images/symbol_names.h),
 * so a short name alone says which whole name belongs to it.
 */
struct whole_names {
	struct op_json *json;
	const char *key;
	size_t nr_written;
	struct op_arena arena; /* of the whole name at hand */
	const char **shown; /* short names that were looked at */
	uint32_t nr;
	struct op_hash index; /* of these, from 1 */
};

static bool is_known_short_name(const struct whole_names *names,
				const char *shown, uint64_t hash)
{
	uint32_t number;

	op_hash_each(&names->index, hash, number)
		if (!strcmp(names->shown[number - 1], shown))
			return true;
	return false;
}

static int write_whole_name(struct whole_names *names, const char *raw,
			    const char *shown)
{
	const char *whole;
	uint64_t hash;

	if (!raw || !strcmp(raw, shown))
		return 0;
	if (op_hash_reserve(&names->index, (size_t)names->nr + 1) ||
	    op_array_reserve(&names->shown, names->nr, 1))
		return -ENOMEM;
	hash = op_hash_text(names->index.seed, shown);
	if (is_known_short_name(names, shown, hash))
		return 0;
	names->shown[names->nr++] = shown;
	op_hash_add(&names->index, hash, names->nr);
	op_arena_init(&names->arena);
	whole = pp_whole_symbol_name(&names->arena, raw);
	if (strcmp(whole, shown) != 0) {
		if (!names->nr_written++)
			op_json_open(names->json, names->key, '[');
		op_json_text(names->json, NULL, shown);
		op_json_text(names->json, NULL, whole);
	}
	op_arena_release(&names->arena);
	return 0;
}

static int write_whole_names_of(struct whole_names *names,
				const struct pp_report *report)
{
	const struct pp_tree *tree = report->tree;
	int err = 0;

	for (size_t i = 0; i < report->symbols.nr && !err; i++)
		err = write_whole_name(names, report->symbols.list[i].raw_name,
				       report->symbols.list[i].name);
	for (uint32_t i = 0; tree && i < tree->nr_frames && !err; i++)
		err = write_whole_name(names, tree->frames[i].raw_name,
				       tree->frames[i].name);
	return err;
}

int pp_json_whole_names(struct op_json *json, const char *key,
			const struct pp_report *const *reports, size_t nr)
{
	struct whole_names names = { .json = json, .key = key };
	int err = 0;

	for (size_t i = 0; i < nr && !err; i++)
		if (reports[i])
			err = write_whole_names_of(&names, reports[i]);
	if (names.nr_written)
		op_json_close(json, ']');
	op_hash_release(&names.index);
	free(names.shown);
	return err;
}
