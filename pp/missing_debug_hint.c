// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * dpkg lists the files of a package, one path in each line, in its folder
 * info/PACKAGE.list, or PACKAGE:ARCH.list where several architectures may be
 * installed (dpkg's "lib/dpkg/db-fsys-files.c"). dpkg-query would read all of
 * these, too, but also sorts all paths, which takes longer than many a report.
 * Since Debian has moved /lib and /bin to /usr, the running program and the
 * package may call a file by either path.
 */

#include "pp/missing_debug_hint.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "libop/files/op_file.h"
#include "libop/base/op_terminal_safe.h"
#include "libop/image/op_runtime.h"

#define LIST_MAX (64 << 20) /* bytes of one list */

/* ---- the package --------------------------------------------------------- */

/* The bytes of a list's name before its ending, and before ":ARCH"; 0 for what
 * is none. */
static size_t package_length(const char *name)
{
	size_t len = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789+.-:");
	const char *colon = strchr(name, ':');

	if (name[len] || len < 6 || strcmp(name + len - 5, ".list"))
		return 0;
	return colon ? (size_t)(colon - name) : len - 5;
}

static int is_list(const struct dirent *entry)
{
	return package_length(entry->d_name) != 0;
}

static bool has_line(const char *text, const char *line)
{
	size_t len = strlen(line);

	for (const char *at = text; (at = strstr(at, line)); at += len)
		if ((at == text || at[-1] == '\n') && at[len] == '\n')
			return true;
	return false;
}

static bool lists_one(const char *list, const char *const paths[2])
{
	struct op_diag diag = { "" };
	char *text = NULL;
	size_t len;
	bool found = !op_file_read(list, LIST_MAX, &text, &len, &diag) &&
		     (has_line(text, paths[0]) || has_line(text, paths[1]));

	free(text);
	return found;
}

/*
 * Fill @package with the first one that has a file of these @paths. All lists
 * have megabytes: those of packages that may be called after it are read first,
 * "bash", and "linux-perf" for perf.
 */
static bool search_lists(const char *info, const char *const paths[2],
			 char package[NAME_MAX])
{
	const char *file = strrchr(paths[0], '/') + 1;
	char path[PATH_MAX], stem[NAME_MAX + 1];
	struct dirent **lists;
	bool found = false;
	int nr = scandir(info, &lists, is_list, alphasort);

	snprintf(stem, sizeof(stem), "%.*s", (int)strcspn(file, ".-_"), file);
	for (int i = 0; i < 2 * nr && !found; i++) {
		const char *name = lists[i % nr]->d_name;
		bool may_be_after = *stem && strstr(name, stem);

		if (may_be_after != (i < nr))
			continue;
		snprintf(path, sizeof(path), "%.*s/%s", PATH_MAX - NAME_MAX - 2,
			 info, name);
		snprintf(package, NAME_MAX, "%.*s", (int)package_length(name),
			 name);
		found = lists_one(path, paths);
	}
	for (int i = 0; i < nr; i++)
		free(lists[i]);
	if (nr >= 0)
		free(lists);
	return found;
}

static bool find_package(const char *path, char package[NAME_MAX])
{
	const char *folder = getenv("DPKG_ADMINDIR");
	char info[PATH_MAX], other[PATH_MAX];
	const char *const paths[2] = { path, other };
	bool in_usr = !strncmp(path, "/usr/", 5);

	if (*path != '/')
		return false;
	snprintf(info, sizeof(info), "%s/info",
		 folder ? folder : "/var/lib/dpkg");
	snprintf(other, sizeof(other), "%s%s", in_usr ? "" : "/usr",
		 in_usr ? path + 4 : path);
	return search_lists(info, paths, package);
}

/* ---- the advice ---------------------------------------------------------- */

/* Python does not name code that its modules compile. */
static void print_hint_for_made_code(FILE *out, const char *program,
				     const struct pp_missing *missing)
{
	const char *path = missing->nameless_maker;
	const struct op_runtime *runtime =
		op_runtime_of_file(path) ?: missing->maker;

	if (runtime && !(runtime->interprets && runtime->variable))
		fprintf(out,
			"%s: to name the code that %s makes at run time: %s\n",
			program, path, runtime->cure);
}

/* A script among many programs is of no interest: it has a tenth of all
 * samples. */
static void print_hint_for_interpreter(FILE *out, const char *program,
				       const struct pp_report *report)
{
	const struct pp_missing *missing = &report->missing;
	uint64_t all = 0;

	if (!missing->interpreter)
		return;
	for (size_t i = 0; i < report->classes.nr; i++)
		all = pp_add_counts(all, report->totals[i]);
	if (missing->interpreted_samples >= all / 10)
		fprintf(out, "%s: to name the functions of %s in %s: %s\n",
			program, missing->interpreter->name,
			missing->interpreted_app, missing->interpreter->cure);
}

static void print_plain_hint(FILE *out, const char *program,
			     const struct pp_report *report, bool is_elsewhere)
{
	const char *path = report->missing.nameless;
	bool may_fetch = !report->debug.server && pp_debuginfod_is_built() &&
			 !report->archive;
	char package[NAME_MAX];

	if (report->missing.nameless_maker)
		print_hint_for_made_code(out, program, &report->missing);
	print_hint_for_interpreter(out, program, report);
	if (!path)
		return;
	if (is_elsewhere || report->archive || !find_package(path, package))
		*package = '\0';
	if (!*package && !may_fetch)
		return;
	fprintf(out, "%s: to name the functions of %s: ", program, path);
	if (*package)
		fprintf(out, "install the package %s-dbgsym%s", package,
			may_fetch ? ", or " : "\n");
	if (may_fetch)
		fputs("fetch its debug file with --debuginfod=URL\n", out);
}

void pp_print_missing_debug_hint(FILE *out, const char *program,
				 const struct pp_report *report,
				 bool is_elsewhere)
{
	FILE *plain = op_terminal_safe_open(out);

	if (!plain)
		return;
	print_plain_hint(plain, program, report, is_elsewhere);
	fclose(plain);
}
