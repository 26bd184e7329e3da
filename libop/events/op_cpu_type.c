// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * CPU types: the folders below events/ and the files "cpu" in them.
 *
 * Which type this machine has is found by reading all of them: the type with
 * the longest "match" line that fits wins, so that a line for one model goes
 * before a line for its family. Names and values are parts of the file's text,
 * which the type owns. Any mistake in a file is told with its line, as people
 * add files.
 */

#include "libop/events/op_cpu_type.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libop/base/op_array.h"
#include "libop/classic/op_classic.h"
#include "libop/files/op_config.h"
#include "libop/events/op_cpu_id.h"
#include "libop/events/op_events_text.h"

/* ---- where they are ---- */

static bool is_folder(const char *path)
{
	DIR *dir = opendir(path);

	if (dir)
		closedir(dir);
	return dir;
}

/* The folder above that of the running program; "" if unknown. */
static void program_parent(char *buf, size_t len)
{
	ssize_t got = readlink("/proc/self/exe", buf, len - 1);
	char *slash;

	buf[got > 0 ? got : 0] = '\0';
	for (int up = 0; up < 2; up++) {
		slash = strrchr(buf, '/');
		if (slash)
			*slash = '\0';
	}
}

static int find_events_folder(char **out, const char *parent, const char *name)
{
	if (asprintf(out, "%s%s", parent, name) < 0)
		return -ENOMEM;
	if (is_folder(*out))
		return 0;
	free(*out);
	*out = NULL;
	return -ENOENT;
}

int op_events_dir(char **out, struct op_diag *diag)
{
	const char *env = getenv("OPROFILE_EVENTS_DIR");
	char parent[PATH_MAX];
	int err;

	if (env && *env) {
		err = find_events_folder(out, env, "");
		return err ? op_diag_set(diag, err,
					 "OPROFILE_EVENTS_DIR: %s: no such "
					 "folder; give that of the event files",
					 env)
			   : 0;
	}
	program_parent(parent, sizeof(parent));
	err = find_events_folder(out, parent, "/events");
	if (err == -ENOENT)
		err = find_events_folder(out, parent, "/share/oprofile");
	if (err == -ENOENT)
		err = find_events_folder(out, "/usr/local", "/share/oprofile");
	if (err == -ENOENT)
		err = find_events_folder(out, "/usr", "/share/oprofile");
	return err ? op_diag_set(diag, err,
				 "no event files found; install oprofile or "
				 "set OPROFILE_EVENTS_DIR")
		   : 0;
}

/* ---- the list of them ---- */

struct names {
	char **name;
	size_t nr;
	size_t bytes;
};

static int add_cpu_name(struct names *names, const char *arch, const char *cpu)
{
	int err = op_array_reserve(&names->name, names->nr, 1);
	int len;

	if (err)
		return err;
	len = asprintf(&names->name[names->nr], "%s/%s", arch, cpu);
	if (len < 0)
		return -ENOMEM;
	names->nr++;
	names->bytes += (size_t)len + 1;
	return 0;
}

static int add_cpus_of_arch(struct names *names, const char *dir,
			    const char *arch)
{
	char path[PATH_MAX];
	struct dirent *entry;
	int err = 0;
	DIR *folder;

	if (snprintf(path, sizeof(path), "%s/%s", dir, arch) >=
	    (int)sizeof(path))
		return -ENAMETOOLONG;
	folder = opendir(path);
	while (folder && !err && (entry = readdir(folder))) {
		if (snprintf(path, sizeof(path), "%s/%s/%s/cpu", dir, arch,
			     entry->d_name) >= (int)sizeof(path))
			continue;
		if (entry->d_name[0] != '.' && !access(path, F_OK))
			err = add_cpu_name(names, arch, entry->d_name);
	}
	if (folder)
		closedir(folder);
	return err;
}

static int compare_cpu_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static int join_cpu_names(char **out, struct names *names)
{
	char *at = malloc(names->bytes + 1);

	*out = at;
	if (!at)
		return -ENOMEM;
	if (names->nr)
		qsort(names->name, names->nr, sizeof(*names->name),
		      compare_cpu_names);
	for (size_t i = 0; i < names->nr; i++)
		at = stpcpy(at, names->name[i]) + 1;
	*at = '\0';
	return 0;
}

int op_cpu_type_names(char **out, const char *dir, struct op_diag *diag)
{
	struct names names = { 0 };
	struct dirent *entry;
	int err = 0;
	DIR *folder = opendir(dir);

	if (!folder)
		return op_diag_set(diag, -errno, "%s: %s", dir,
				   strerror(errno));
	while (!err && (entry = readdir(folder)))
		if (entry->d_name[0] != '.')
			err = add_cpus_of_arch(&names, dir, entry->d_name);
	closedir(folder);
	if (!err)
		err = join_cpu_names(out, &names);
	for (size_t i = 0; i < names.nr; i++)
		free(names.name[i]);
	free(names.name);
	return err ? op_diag_set(diag, err, "%s: %s", dir, strerror(-err)) : 0;
}

/* ---- one of them ---- */

struct reader {
	struct op_events_text text;
	struct op_cpu_type *type;
	const struct op_cpu_id *id; /* to compare with, or NULL */
	int best; /* keys of the longest match line that fits */
	int nearest; /* likewise of the lines "nearest" */
};

static int parse_cpu_string(struct reader *r, const char **field,
			    const char *value)
{
	if (*field)
		return op_events_text_error(&r->text, "given twice");
	*field = value;
	return 0;
}

static int parse_counter_number(struct reader *r, const char *value)
{
	uint64_t nr;

	if (r->type->counters)
		return op_events_text_error(&r->text, "given twice");
	if (op_parse_u64(value, &nr) || !nr || nr > OP_CPU_MAX_COUNTERS)
		return op_events_text_error(&r->text,
					    "counters: %s: not from 1 to %d",
					    value, OP_CPU_MAX_COUNTERS);
	r->type->counters = (unsigned int)nr;
	return 0;
}

static int parse_encoding(struct reader *r, const char *value)
{
	static const char *const names[] = {
		[OP_ENCODING_RAW] = "raw",
		[OP_ENCODING_X86] = "x86",
		[OP_ENCODING_NETBURST] = "netburst",
	};

	for (unsigned int i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(value, names[i])) {
			r->type->encoding = i;
			return 0;
		}
	return op_events_text_error(
		&r->text, "encoding: %s: not raw, x86 or netburst", value);
}

/* *@best is that of the longest line of this kind that fits. */
static int parse_cpu_match(struct reader *r, int *best, char *value)
{
	const char *why;
	int keys = op_cpu_id_match(r->id, value, &why);

	if (keys < 0)
		return op_events_text_error(&r->text, "%s", why);
	if (keys > *best)
		*best = keys;
	return 0;
}

static int parse_cpu_pair(struct reader *r, const char *key, char *value)
{
	struct op_cpu_type *type = r->type;

	if (!strcmp(key, "name"))
		return parse_cpu_string(r, &type->title, value);
	if (!strcmp(key, "manual"))
		return parse_cpu_string(r, &type->manual, value);
	if (!strcmp(key, "default"))
		return parse_cpu_string(r, &type->default_event, value);
	if (!strcmp(key, "libpfm4"))
		return parse_cpu_string(r, &type->pfm, value);
	if (!strcmp(key, "counters"))
		return parse_counter_number(r, value);
	if (!strcmp(key, "encoding"))
		return parse_encoding(r, value);
	if (!strcmp(key, "match"))
		return parse_cpu_match(r, &r->best, value);
	if (!strcmp(key, "nearest"))
		return parse_cpu_match(r, &r->nearest, value);
	return op_events_text_error(&r->text, "%s: unknown key", key);
}

static int parse_cpu_line(struct reader *r)
{
	char *key = r->text.line, *value = strchr(key, '=');
	size_t len;

	if (!value)
		return op_events_text_error(&r->text, "no \"key = value\"");
	*value++ = '\0';
	value += strspn(value, " \t");
	len = strlen(key);
	while (len && (key[len - 1] == ' ' || key[len - 1] == '\t'))
		key[--len] = '\0';
	if (!*value)
		return op_events_text_error(&r->text, "%s: no value", key);
	return parse_cpu_pair(r, key, value);
}

static int check_complete(struct reader *r)
{
	const struct op_cpu_type *type = r->type;
	const char *missing = !type->title	     ? "name"
			      : !type->counters	     ? "counters"
			      : !type->default_event ? "default"
			      : !type->manual	     ? "manual"
						     : NULL;

	if (!missing)
		return 0;
	return op_events_text_error(&r->text, "%s: not given", missing);
}

static int read_cpu_type(struct reader *r, const char *dir, const char *name,
			 struct op_diag *diag)
{
	int err = op_events_text_open(&r->text, dir, name, "cpu", diag);

	while (!err && op_events_text_next(&r->text))
		err = parse_cpu_line(r);
	if (!err)
		err = check_complete(r);
	r->type->text = r->text.text;
	return err;
}

/* How well a type fits a CPU: the keys of its lines, of either kind. */
struct fit {
	int match, nearest;
};

/* Like op_cpu_type_read(); *@fit becomes the measure in which the type fits
 * @id. */
static int read_and_match(struct op_cpu_type **out, const char *dir,
			  const char *name, const struct op_cpu_id *id,
			  struct fit *fit, struct op_diag *diag)
{
	size_t len = strlen(name) + 1;
	struct op_cpu_type *type = calloc(1, sizeof(*type) + len);
	struct reader r = { .type = type, .id = id };
	int err;

	if (!type)
		return op_out_of_memory(diag);
	type->name = memcpy(type + 1, name, len);
	err = read_cpu_type(&r, dir, name, diag);
	if (err) {
		op_cpu_type_free(type);
		return err;
	}
	*fit = (struct fit){ r.best, r.nearest };
	*out = type;
	return 0;
}

int op_cpu_type_read(struct op_cpu_type **out, const char *dir,
		     const char *name, struct op_diag *diag)
{
	struct op_diag why = { "" };
	struct fit fit;
	int err = -ENOENT;

	if (op_cpu_name_is_valid(name))
		err = read_and_match(out, dir, name, NULL, &fit, &why);
	if (err == -ENOENT && op_classic_knows_cpu(name))
		return op_diag_set(diag, err,
				   "%s: there is no list of its events here; "
				   "ocount -e rCODE counts its raw events by "
				   "their codes, operf and opcontrol sample "
				   "those of the kernel, such as cycles",
				   name);
	if (err == -ENOENT)
		return op_diag_set(diag, err,
				   "%s: no such CPU type; ophelp --list-cpus "
				   "names them",
				   name);
	return err ? op_diag_set(diag, err, "%s", why.text) : 0;
}

void op_cpu_type_free(struct op_cpu_type *type)
{
	if (type)
		free(type->text);
	free(type);
}

/* ---- this machine's ---- */

/* *@best is the one of @names that fits @id best, NULL if none does. A name
 * that only calls itself the nearest is taken where no other fits. */
static int find_best(const char **best, bool *is_nearest, const char *dir,
		     const char *names, const struct op_cpu_id *id,
		     struct op_diag *diag)
{
	struct fit most = { 0, 0 }, fit;
	int err;

	*best = NULL;
	for (const char *name = names; *name; name += strlen(name) + 1) {
		struct op_cpu_type *type = NULL;

		if (!op_cpu_name_is_valid(name))
			continue;
		err = read_and_match(&type, dir, name, id, &fit, diag);
		if (err)
			return err;
		op_cpu_type_free(type);
		if (fit.match > most.match ||
		    (!most.match && fit.nearest > most.nearest)) {
			*best = name;
			most = fit;
		}
	}
	*is_nearest = !most.match;
	return 0;
}

int op_cpu_type_detect(struct op_cpu_type **out, const char *dir,
		       const char *root, unsigned int nth, struct op_diag *diag)
{
	struct op_cpu_id id;
	char *names, shown[512];
	const char *best;
	bool is_nearest;
	int err = op_cpu_id_read(&id, root, nth, diag);

	if (err)
		return err;
	err = op_cpu_type_names(&names, dir, diag);
	if (err)
		return err;
	err = find_best(&best, &is_nearest, dir, names, &id, diag);
	if (!err)
		err = best ? op_cpu_type_read(out, dir, best, diag) : -ENODEV;
	if (!err)
		(*out)->is_nearest = is_nearest;
	free(names);
	if (err != -ENODEV)
		return err;
	op_cpu_id_print(&id, shown, sizeof(shown));
	return op_diag_set(diag, err,
			   "this CPU (%s) is not described in %s; choose "
			   "another CPU type with --cpu-type",
			   shown, dir);
}
