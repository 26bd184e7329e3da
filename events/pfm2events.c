// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * pfm2events EVENTS OUT: turn libpfm4's tables into folders of event files.
 *
 * For every CPU that libpfm4 knows and no folder of EVENTS claims ("libpfm4 ="
 * in its file cpu) a folder is made in OUT. EVENTS/libpfm4 tells its name and
 * how the CPU is recognised; one that is not in it, of a later libpfm4,
 * becomes pfm/NAME and is found by --cpu-type alone.
 *
 * Runs while the tree is built. Ways to count an event that take more than
 * event, unit mask and extra bits are left out. libpfm4 does not tell which
 * counters can count what, nor what rates are harmless: every event gets all
 * counters (the kernel refuses what cannot be) and the same minimum.
 */

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "events/pfm.h"
#include "libop/events/op_events.h"

#define MINIMUM 6000
#define DEFAULT_COUNT 100000

/* ---- a table, in the terms of our files ---- */

static bool is_x86;

static uint64_t code_of(uint64_t config)
{
	return is_x86 ? (config & 0xff) | (config >> 24 & 0xf00) : config;
}

static uint64_t value_of(uint64_t config)
{
	return is_x86 ? config >> 8 & 0xff : 0;
}

static uint64_t extra_of(uint64_t config)
{
	return is_x86 ? config & 0xffff0000 : 0;
}

/* Bits that our files have no word for. */
static bool is_expressible(uint64_t config)
{
	uint64_t known = 0xf0000ffff | OP_EXTRA_EDGE | OP_EXTRA_ANY |
			 OP_EXTRA_INV |
			 (uint64_t)OP_EXTRA_CMASK_MAX << OP_EXTRA_CMASK_SHIFT;

	return !is_x86 || !(config & ~known);
}

/* Entries that cannot be said, are of another event or there already. */
static void drop_entries(struct pfm_event *event)
{
	size_t kept = 0;

	for (size_t i = 0; i < event->nr; i++) {
		struct pfm_entry *entry = &event->entries[i];
		bool keep = is_expressible(entry->config) &&
			    code_of(entry->config) ==
				    code_of(event->entries[0].config);

		for (size_t j = 0; keep && j < kept; j++)
			keep = event->entries[j].config != entry->config &&
			       strcasecmp(event->entries[j].name,
					  entry->name) != 0;
		if (keep) {
			struct pfm_entry other = event->entries[kept];

			event->entries[kept++] = *entry;
			*entry = other;
		}
	}
	for (size_t i = kept; i < event->nr; i++) {
		free(event->entries[i].name);
		free(event->entries[i].desc);
	}
	event->nr = kept;
}

/* ---- writing ---- */

struct out {
	FILE *file;
	char path[PATH_MAX];
};

static int out_open(struct out *out, const char *dir, const char *cpu,
		    const char *name)
{
	snprintf(out->path, sizeof(out->path), "%s/%s/%s", dir, cpu, name);
	out->file = fopen(out->path, "w");
	if (!out->file)
		fprintf(stderr, "pfm2events: %s: %s\n", out->path,
			strerror(errno));
	return out->file ? 0 : -1;
}

static int out_close(struct out *out)
{
	bool failed = ferror(out->file);

	if (!fclose(out->file) && !failed)
		return 0;
	fprintf(stderr, "pfm2events: %s: not written\n", out->path);
	return -1;
}

/* A description on one line, without what the syntax gives a meaning. */
static void put_desc(struct out *out, const char *desc)
{
	bool blank = true;

	for (; *desc; desc++) {
		unsigned char c = (unsigned char)*desc;

		if (c > 0x20 && c < 0x7f)
			fputs((char[]){ c == '#' ? '*' : (char)c, '\0' },
			      out->file);
		else if (!blank)
			fputc(' ', out->file);
		blank = c <= 0x20;
	}
	fputc('\n', out->file);
}

static void put_lower(struct out *out, const char *name)
{
	for (; *name; name++)
		fputc(tolower((unsigned char)*name), out->file);
}

static void put_extra(struct out *out, uint64_t extra)
{
	const char *comma = "";

	fputs("extra:", out->file);
	if (extra & OP_EXTRA_EDGE) {
		fputs("edge", out->file);
		comma = ",";
	}
	if (extra & OP_EXTRA_ANY) {
		fprintf(out->file, "%sany", comma);
		comma = ",";
	}
	if (extra & OP_EXTRA_INV) {
		fprintf(out->file, "%sinv", comma);
		comma = ",";
	}
	extra = extra >> OP_EXTRA_CMASK_SHIFT & OP_EXTRA_CMASK_MAX;
	if (extra)
		fprintf(out->file, "%scmask=%" PRIu64, comma, extra);
	fputc(' ', out->file);
}

static void put_entry(struct out *out, const struct pfm_entry *entry)
{
	fprintf(out->file, "\t0x%02" PRIx64 " ", value_of(entry->config));
	if (*entry->name || extra_of(entry->config))
		put_extra(out, extra_of(entry->config));
	put_lower(out, *entry->name		 ? entry->name
		       : extra_of(entry->config) ? "all"
						 : "");
	if (*entry->name || extra_of(entry->config))
		fputc(' ', out->file);
	put_desc(out, entry->desc);
}

static bool is_plain(const struct pfm_event *event)
{
	return event->nr == 1 && !*event->entries[0].name &&
	       !value_of(event->entries[0].config) &&
	       !extra_of(event->entries[0].config);
}

static void put_default(struct out *out, const struct pfm_event *event)
{
	uint64_t value = 0;
	size_t marked = 0, which = 0;

	for (size_t i = 0; i < event->nr; i++)
		if (event->entries[i].is_default) {
			value |= value_of(event->entries[i].config);
			which = i;
			marked++;
		}
	fputs(" default:", out->file);
	if (event->combine && marked > 1)
		fprintf(out->file, "0x%" PRIx64 "\n", value);
	else if (*event->entries[which].name) {
		put_lower(out, event->entries[which].name);
		fputc('\n', out->file);
	} else
		fprintf(out->file, "0x%" PRIx64 "\n",
			value_of(event->entries[which].config));
}

static void put_unit_mask(struct out *out, const struct pfm_event *event)
{
	if (is_plain(event))
		return;
	fputs("name:", out->file);
	put_lower(out, event->name);
	fprintf(out->file, " type:%s",
		event->nr == 1	 ? "mandatory"
		: event->combine ? "bitmask"
				 : "exclusive");
	put_default(out, event);
	for (size_t i = 0; i < event->nr; i++)
		put_entry(out, &event->entries[i]);
}

static void put_event(struct out *out, const struct pfm_event *event)
{
	fprintf(out->file, "event:0x%02" PRIx64 " counters:all um:",
		code_of(event->entries[0].config));
	if (is_plain(event))
		fputs("zero", out->file);
	else
		put_lower(out, event->name);
	fprintf(out->file, " minimum:%d name:%s : ", MINIMUM, event->name);
	put_desc(out, event->desc);
}

/* ---- the files of one CPU ---- */

/* What EVENTS/libpfm4 says of a CPU. */
struct known {
	char folder[64];
	unsigned int counters;
	char match[256]; /* "" unknown */
};

/* The event for those who choose none: the first of these that is there. */
static const struct pfm_event *default_event(const struct pfm_table *table)
{
	static const char *const names[] = {
		"CPU_CLK_UNHALTED",
		"UNHALTED_CORE_CYCLES",
		"CPU_CYCLES",
		"CYCLES_NOT_IN_HALT",
		"PM_CYC",
		"CYCLES",
		"CPU_CLK_THREAD_UNHALTED",
	};

	for (size_t n = 0; n < sizeof(names) / sizeof(names[0]); n++)
		for (size_t i = 0; i < table->nr; i++)
			if (table->events[i].nr &&
			    !strcmp(table->events[i].name, names[n]))
				return &table->events[i];
	for (size_t i = 0; i < table->nr; i++)
		if (table->events[i].nr)
			return &table->events[i];
	return NULL;
}

static int write_cpu(const char *dir, const pfm_pmu_info_t *pmu,
		     const struct known *known, const struct pfm_event *event)
{
	struct out out = { .file = NULL };

	if (out_open(&out, dir, known->folder, "cpu"))
		return -1;
	fprintf(out.file,
		"# Made of libpfm4's tables by events/pfm2events.c.\n"
		"name = %s\ncounters = %u\ndefault = %s:%d\nencoding = %s\n"
		"libpfm4 = %s\n"
		"manual = libpfm4's table \"%s\", which names the vendor's\n",
		pmu->desc, known->counters, event->name, DEFAULT_COUNT,
		is_x86 ? "x86" : "raw", pmu->name, pmu->name);
	if (*known->match)
		fprintf(out.file, "match = %s\n", known->match);
	return out_close(&out);
}

static int write_events(const char *dir, const char *folder,
			const struct pfm_table *table)
{
	struct out events = { .file = NULL }, masks = { .file = NULL };
	bool zero = false;

	if (out_open(&events, dir, folder, "events"))
		return -1;
	if (out_open(&masks, dir, folder, "unit_masks")) {
		out_close(&events);
		return -1;
	}
	for (size_t i = 0; i < table->nr; i++) {
		if (!table->events[i].nr)
			continue;
		if (is_plain(&table->events[i]) && !zero)
			fputs("name:zero type:mandatory default:0x0\n"
			      "\t0x00 No unit mask\n",
			      masks.file);
		zero |= is_plain(&table->events[i]);
		put_event(&events, &table->events[i]);
		put_unit_mask(&masks, &table->events[i]);
	}
	return out_close(&events) | out_close(&masks);
}

static int make_folder(const char *dir, const char *folder)
{
	char path[PATH_MAX], *slash;

	snprintf(path, sizeof(path), "%s/%s", dir, folder);
	slash = strrchr(path, '/');
	*slash = '\0';
	mkdir(path, 0777);
	*slash = '/';
	if (!mkdir(path, 0777) || errno == EEXIST)
		return 0;
	fprintf(stderr, "pfm2events: %s: %s\n", path, strerror(errno));
	return -1;
}

static int write_pmu(const char *dir, const pfm_pmu_info_t *pmu,
		     const struct known *known)
{
	struct pfm_table *table = pfm_table_new(pmu);
	const struct pfm_event *event;
	int err = -1;

	is_x86 = !strncmp(known->folder, "i386/", 5) ||
		 !strncmp(known->folder, "x86-64/", 7);
	for (size_t i = 0; table && i < table->nr; i++)
		drop_entries(&table->events[i]);
	event = table ? default_event(table) : NULL;
	if (event)
		err = make_folder(dir, known->folder) ||
		      write_cpu(dir, pmu, known, event) ||
		      write_events(dir, known->folder, table);
	pfm_table_free(table);
	return err ? -1 : 0;
}

/* ---- which CPUs ---- */

/* Whether a word of @list is @name. */
static bool has_word(const char *list, const char *name)
{
	size_t len = strlen(name);

	for (; list && *list; list += strspn(list, " ")) {
		size_t word = strcspn(list, " ");

		if (word == len && !strncmp(list, name, len))
			return true;
		list += word;
	}
	return false;
}

/* 1 when a folder of @dir is about the PMU @name, 0, or -1. */
static int is_claimed(const char *dir, const char *name)
{
	struct op_diag diag = { "" };
	struct op_cpu_type *type;
	int found = 0;
	char *names;

	if (op_cpu_type_names(&names, dir, &diag))
		found = -1;
	for (char *at = names; !found && *at; at += strlen(at) + 1) {
		if (op_cpu_type_read(&type, dir, at, &diag)) {
			found = -1;
			break;
		}
		found = has_word(type->pfm, name);
		op_cpu_type_free(type);
	}
	if (*diag.text)
		fprintf(stderr, "pfm2events: %s\n", diag.text);
	else
		free(names);
	return found;
}

/* A line "PMU FOLDER COUNTERS MATCH..." of EVENTS/libpfm4. */
static bool take_known(char *line, const char *pmu, struct known *known)
{
	char name[64];
	int at = 0;

	known->match[0] = '\0';
	if (sscanf(line, "%63s %63s %u %n", name, known->folder,
		   &known->counters, &at) < 3 ||
	    strcmp(name, pmu) != 0)
		return false;
	snprintf(known->match, sizeof(known->match), "%.*s",
		 (int)strcspn(line + at, "\n"), line + at);
	return true;
}

static int look_up(const char *dir, const pfm_pmu_info_t *pmu,
		   struct known *known)
{
	char path[PATH_MAX], line[512];
	bool found = false;
	FILE *file;

	snprintf(path, sizeof(path), "%s/libpfm4", dir);
	file = fopen(path, "r");
	if (!file) {
		fprintf(stderr, "pfm2events: %s: %s\n", path, strerror(errno));
		return -1;
	}
	while (!found && fgets(line, sizeof(line), file))
		found = *line != '#' && take_known(line, pmu->name, known);
	fclose(file);
	if (!found) {
		*known = (struct known){ .counters =
						 (unsigned int)pmu->num_cntrs };
		snprintf(known->folder, sizeof(known->folder), "pfm/%s",
			 pmu->name);
	}
	return 0;
}

static int convert(const char *events, const char *out,
		   const pfm_pmu_info_t *pmu)
{
	struct known known;
	int claimed = is_claimed(events, pmu->name);

	if (claimed)
		return claimed < 0 ? -1 : 0;
	if (look_up(events, pmu, &known))
		return -1;
	if (!strcmp(known.folder, "-"))
		return 0;
	if (!known.counters || known.counters > OP_CPU_MAX_COUNTERS)
		known.counters = 4;
	return write_pmu(out, pmu, &known);
}

int main(int argc, char **argv)
{
	pfm_pmu_info_t info;
	pfm_pmu_t pmu;

	if (argc != 3 || pfm_start()) {
		fputs("pfm2events: use: pfm2events EVENTS OUT\n", stderr);
		return 1;
	}
	pfm_for_all_pmus(pmu)
	{
		memset(&info, 0, sizeof(info));
		info.size = sizeof(info);
		if (pfm_get_pmu_info(pmu, &info) || !pfm_is_core(&info))
			continue;
		if (convert(argv[1], argv[2], &info))
			return 1;
	}
	return 0;
}
