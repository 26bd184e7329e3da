// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The identity of a CPU as /proc/cpuinfo has it, and the comparison with a
 * "match" line of an event file.
 *
 * Architectures write different keys for the same kind of number, which the
 * table of names brings together. CPUs of a machine may be of several kinds; a
 * kind is known by vendor and numbers, and kinds are counted where neighbours
 * differ. On ARM the numbers are those of the identification register in
 * sysfs; kernels before 4.7 do not have the file, and the numbers of cpuinfo
 * stay.
 */

#include "libop/events/op_cpu_id.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libop/files/op_config.h"
#include "libop/events/op_events_text.h"
#include "libop/files/op_file.h"

#define MAX_CPUINFO (64u << 20)

/* clang-format off */
static const struct {
	const char *key;	/* in match lines */
	const char *cpuinfo;	/* in /proc/cpuinfo */
} names[OP_CPU_NR_NUMBERS] = {
	[OP_CPU_FAMILY]		= { "family",		"cpu family" },
	[OP_CPU_MODEL]		= { "model",		"model" },
	[OP_CPU_STEPPING]	= { "stepping",		"stepping" },
	[OP_CPU_SIBLINGS]	= { "siblings",		"siblings" },
	[OP_CPU_IMPLEMENTER]	= { "implementer",	"CPU implementer" },
	[OP_CPU_VARIANT]	= { "variant",		"CPU variant" },
	[OP_CPU_PART]		= { "part",		"CPU part" },
	[OP_CPU_REVISION]	= { "revision",		"CPU revision" },
	[OP_CPU_ARCHITECTURE]	= { "architecture",	"CPU architecture" },
	[OP_CPU_PVR]		= { "pvr",		NULL },
	[OP_CPU_MACHINE]	= { "machine",		"machine" },
};
/* clang-format on */

static void set_cpu_number(struct op_cpu_id *id, enum op_cpu_number which,
			   uint64_t value)
{
	id->has[which] = true;
	id->number[which] = value;
}

/* "2.0 (pvr 004b 0201)": version and revision. */
static void parse_pvr(struct op_cpu_id *id, const char *value)
{
	const char *pvr = strstr(value, "(pvr ");
	unsigned int version;

	if (pvr && sscanf(pvr, "(pvr %x", &version) == 1)
		set_cpu_number(id, OP_CPU_PVR, version);
}

static void parse_cpuinfo_pair(struct op_cpu_id *id, const char *key,
			       const char *value)
{
	uint64_t number;

	if (!strcmp(key, "vendor_id"))
		snprintf(id->vendor, sizeof(id->vendor), "%s", value);
	else if (!strcmp(key, "flags"))
		snprintf(id->flags, sizeof(id->flags), " %s ", value);
	else if (!strcmp(key, "cpu model"))
		snprintf(id->model, sizeof(id->model), " %s ", value);
	else if (!strcmp(key, "revision"))
		parse_pvr(id, value);
	for (int i = 0; i < OP_CPU_NR_NUMBERS; i++)
		if (names[i].cpuinfo && !strcmp(key, names[i].cpuinfo) &&
		    !op_parse_u64(value, &number))
			set_cpu_number(id, i, number);
}

/* The register that ARM's numbers are in; kernels before 4.7 lack the file. */
static void read_midr(struct op_cpu_id *id, const char *root, unsigned int cpu)
{
	char path[PATH_MAX], *text;
	size_t len;
	uint64_t midr;

	snprintf(path, sizeof(path),
		 "%s/sys/devices/system/cpu/cpu%u/regs/identification/midr_el1",
		 root, cpu);
	/* sysfs says that its files have a page. */
	if (op_file_read(path, 65536, &text, &len, NULL))
		return;
	text[strcspn(text, "\n")] = '\0';
	if (!op_parse_u64(text, &midr)) {
		set_cpu_number(id, OP_CPU_IMPLEMENTER, midr >> 24 & 0xff);
		set_cpu_number(id, OP_CPU_VARIANT, midr >> 20 & 0xf);
		set_cpu_number(id, OP_CPU_PART, midr >> 4 & 0xfff);
		set_cpu_number(id, OP_CPU_REVISION, midr & 0xf);
		set_cpu_number(id, OP_CPU_ARCHITECTURE, 8);
	}
	free(text);
}

/* 1 when @value is in the range @text, 0 when not, -EINVAL. */
static int match_range(char *text, uint64_t value)
{
	char *last = strchr(text, '-');
	uint64_t from, to;

	if (last)
		*last++ = '\0';
	if (op_parse_u64(text, &from) || op_parse_u64(last ? last : text, &to))
		return -EINVAL;
	if (to < from)
		return -EINVAL;
	return from <= value && value <= to;
}

static int match_ranges(char *text, uint64_t value)
{
	int fits = 0, got;
	char *comma;

	do {
		comma = strchr(text, ',');
		if (comma)
			*comma++ = '\0';
		got = match_range(text, value);
		if (got < 0)
			return got;
		fits |= got;
		text = comma;
	} while (text);
	return fits;
}

/*
 * Intel's CPUs with cores of two kinds have one family and model; the PMUs of
 * the kernel tell which CPUs are of which kind.
 */
static void read_hybrid_pmu(struct op_cpu_id *id, const char *root,
			    unsigned int cpu)
{
	static const char *const pmus[] = { "cpu_core", "cpu_atom" };
	char path[PATH_MAX], *text;
	size_t len;

	for (size_t i = 0; i < sizeof(pmus) / sizeof(pmus[0]); i++) {
		snprintf(path, sizeof(path),
			 "%s/sys/bus/event_source/devices/%s/cpus", root,
			 pmus[i]);
		if (op_file_read(path, 65536, &text, &len, NULL))
			continue;
		text[strcspn(text, "\n")] = '\0';
		if (match_ranges(text, cpu) > 0)
			snprintf(id->pmu, sizeof(id->pmu), "%s", pmus[i]);
		free(text);
	}
}

static char *cut_cpuinfo_line(char **at)
{
	char *line = *at;

	if (!*line)
		return NULL;
	*at += strcspn(line, "\n");
	if (**at)
		*(*at)++ = '\0';
	return line;
}

/* Cut "key : value"; NULL if @line is none. */
static char *cut_value(char *line)
{
	char *colon = strchr(line, ':'), *end = colon;

	if (!colon)
		return NULL;
	while (end > line && (end[-1] == ' ' || end[-1] == '\t'))
		end--;
	*end = '\0';
	return colon + 1 + strspn(colon + 1, " \t");
}

struct reader {
	char *at;
	const char *root;
	struct op_cpu_id common; /* of lines before the first "processor" */
	bool pending; /* a "processor" line has been read */
	unsigned int cpu; /* its number */
};

/*
 * Whether the line starts the paragraph of a CPU, and of which. On s390 a line
 * "processor 0: version = FF, identification = 0133E8, machine = 2964" is all
 * of it, and the vendor is among the lines before.
 */
static bool is_processor(const char *key, const char *value, unsigned int *cpu)
{
	bool is_s390 = !strncmp(key, "processor ", 10);
	uint64_t number;

	if (!is_s390 && strcmp(key, "processor") != 0)
		return false;
	if (op_parse_u64(is_s390 ? key + 10 : value, &number))
		return false;
	*cpu = (unsigned int)number;
	return true;
}

/* "version = FF, identification = 0133E8, machine = 2964". */
static void parse_s390_machine(struct op_cpu_id *id, const char *value)
{
	const char *machine = strstr(value, "machine = ");
	unsigned int number;

	if (machine && sscanf(machine, "machine = %4u", &number) == 1)
		set_cpu_number(id, OP_CPU_MACHINE, number);
}

/*
 * The paragraph of the next CPU. Lines in front of the first one hold for all
 * (32-bit ARM).
 */
static bool next_cpu_id(struct reader *r, struct op_cpu_id *id,
			unsigned int *cpu)
{
	bool found = r->pending;
	char *line, *value;

	*id = r->common;
	*cpu = r->cpu;
	r->pending = false;
	while (!r->pending && (line = cut_cpuinfo_line(&r->at))) {
		value = cut_value(line);
		if (!value)
			continue;
		if (!is_processor(line, value, found ? &r->cpu : cpu)) {
			parse_cpuinfo_pair(id, line, value);
		} else if (found) {
			r->pending = true;
		} else {
			parse_s390_machine(id, value);
			r->common = *id;
			found = true;
		}
	}
	return found;
}

static bool is_same_kind(const struct op_cpu_id *a, const struct op_cpu_id *b)
{
	return !strcmp(a->vendor, b->vendor) && !strcmp(a->pmu, b->pmu) &&
	       !strcmp(a->model, b->model) &&
	       !memcmp(a->has, b->has, sizeof(a->has)) &&
	       !memcmp(a->number, b->number, sizeof(a->number));
}

static int read_nth_kind(struct op_cpu_id *id, struct reader *r,
			 unsigned int nth)
{
	struct op_cpu_id last;
	unsigned int kinds = 0, cpu;

	do {
		if (!next_cpu_id(r, id, &cpu))
			return -ENOENT;
		if (id->vendor[0])
			read_hybrid_pmu(id, r->root, cpu);
		else if (!id->has[OP_CPU_PVR])
			read_midr(id, r->root, cpu);
		if (!kinds || !is_same_kind(id, &last))
			kinds++;
		last = *id;
	} while (kinds <= nth);
	return 0;
}

int op_cpu_id_read(struct op_cpu_id *id, const char *root, unsigned int nth,
		   struct op_diag *diag)
{
	struct reader reader = { .root = root };
	char path[PATH_MAX], *text;
	size_t len;
	int err;

	snprintf(path, sizeof(path), "%s/proc/cpuinfo", root);
	err = op_file_read(path, MAX_CPUINFO, &text, &len, diag);
	if (err)
		return op_diag_set(diag, err, "%s: %s", path, strerror(-err));
	reader.at = text;
	memset(id, 0, sizeof(*id));
	err = read_nth_kind(id, &reader, nth);
	free(text);
	if (err && !nth)
		return op_diag_set(diag, -ENODEV, "%s: names no CPU", path);
	return err;
}

void op_cpu_id_print(const struct op_cpu_id *id, char *buf, size_t len)
{
	size_t at = 0;

	*buf = '\0';
	if (id->vendor[0])
		at = (size_t)snprintf(buf, len, " vendor %s", id->vendor);
	if (id->model[0] && at < len)
		at += (size_t)snprintf(buf + at, len - at, " cpu%.*s",
				       (int)strlen(id->model) - 1, id->model);
	for (int i = 0; i < OP_CPU_NR_NUMBERS && at < len; i++)
		if (id->has[i])
			at += (size_t)snprintf(buf + at, len - at,
					       " %s 0x%" PRIx64, names[i].key,
					       id->number[i]);
	if (id->pmu[0] && at < len)
		snprintf(buf + at, len - at, " pmu %s", id->pmu);
	if (*buf)
		memmove(buf, buf + 1, strlen(buf));
	else
		snprintf(buf, len,
			 "a CPU that /proc/cpuinfo does not describe");
}

/* ---- match lines ---- */

/* Whether @word is among @words, which begin and end with a blank. */
static bool is_among_words(const char *words, const char *word)
{
	size_t len = strlen(word);

	for (const char *at = words; (at = strstr(at, word)); at++)
		if (at[-1] == ' ' && at[len] == ' ')
			return true;
	return false;
}

static int match_key(const struct op_cpu_id *id, const char *key, char *value)
{
	int got;

	if (!strcmp(key, "vendor"))
		return id && !strcmp(id->vendor, value);
	if (!strcmp(key, "flag"))
		return id && is_among_words(id->flags, value);
	if (!strcmp(key, "cpu"))
		return id && is_among_words(id->model, value);
	if (!strcmp(key, "pmu"))
		return id && !strcmp(id->pmu, value);
	for (int i = 0; i < OP_CPU_NR_NUMBERS; i++) {
		if (strcmp(key, names[i].key) != 0)
			continue;
		got = match_ranges(value, id ? id->number[i] : 0);
		return got > 0 && !(id && id->has[i]) ? 0 : got;
	}
	return -ENOENT;
}

int op_cpu_id_match(const struct op_cpu_id *id, char *text, const char **why)
{
	bool fits = true;
	int keys = 0, got;
	char *key, *value;

	*why = "match: no key; such as vendor, family, part or pvr";
	while ((key = op_events_word(&text))) {
		value = op_events_word(&text);
		if (!value) {
			*why = "match: a key without a value";
			return -EINVAL;
		}
		got = match_key(id, key, value);
		*why = got == -ENOENT ? "match: unknown key"
				      : "match: not a list of numbers";
		if (got < 0)
			return -EINVAL;
		fits = fits && got;
		keys++;
	}
	return !keys ? -EINVAL : fits ? keys : 0;
}
