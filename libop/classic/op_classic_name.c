// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Names of classic sample files, which have no escapes: a name with "/{dep}/"
 * within a path cannot be told from others, and is taken at the first one. The
 * event and its numbers are cut off from the end, since dots may also be in
 * the name of an event. The strings that are found are parts of the caller's
 * buffer.
 */

#include "libop/classic/op_classic.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int refuse_classic_name(struct op_diag *diag, const char *path,
			       const char *why)
{
	return op_diag_set(diag, -EINVAL,
			   "%s: not the name of a classic sample file: %s",
			   path, why);
}

/* Copy @path without slashes at its start and doubled ones in it: the names
 * were opened with such. */
static int squeeze_slashes(const char *path, char *buf, size_t len)
{
	size_t at = 0;

	while (*path == '/')
		path++;
	for (; *path; path++) {
		if (*path == '/' && at && buf[at - 1] == '/')
			continue;
		if (at + 1 >= len)
			return -ENAMETOOLONG;
		buf[at++] = *path;
	}
	if (!len)
		return -ENAMETOOLONG;
	buf[at] = '\0';
	return 0;
}

/* Digits of @base alone, nothing behind them. */
static bool parse_digits(const char *text, int base, uint64_t *value)
{
	char *end;

	if (strspn(text, base == 16 ? "0123456789abcdefABCDEF"
				    : "0123456789") != strlen(text) ||
	    !*text)
		return false;
	errno = 0;
	*value = strtoull(text, &end, base);
	return !errno && !*end;
}

/* A decimal that is no more than INT64_MAX, or "all". */
static bool parse_classic_id(const char *text, int64_t *value)
{
	uint64_t number;

	*value = OP_MANGLE_ALL;
	if (!strcmp(text, "all"))
		return true;
	if (!parse_digits(text, 10, &number) || number > INT64_MAX)
		return false;
	*value = (int64_t)number;
	return true;
}

/* ---- EVENT.COUNT.UM.TGID.TID.CPU ------------------------------------------
 */

/* Cut off and return what is behind the last dot; NULL when there is none. */
static char *cut_field(char *text)
{
	char *dot = strrchr(text, '.');

	if (!dot)
		return NULL;
	*dot = '\0';
	return dot + 1;
}

static bool parse_classic_event(char *text, struct op_mangle *m)
{
	char *cpu = cut_field(text), *tid = cpu ? cut_field(text) : NULL;
	char *tgid = tid ? cut_field(text) : NULL;
	char *mask = tgid ? cut_field(text) : NULL;
	char *count = mask ? cut_field(text) : NULL;

	m->event = text;
	return count && *text && parse_digits(count, 10, &m->count) &&
	       parse_digits(mask, 10, &m->unit_mask) &&
	       parse_classic_id(tgid, &m->tgid) &&
	       parse_classic_id(tid, &m->tid) && parse_classic_id(cpu, &m->cpu);
}

/* ---- images -------------------------------------------------------------- */

/* "NAME}/TGID.0xSTART.0xEND", NAME with any byte that a folder may have. */
static bool parse_classic_anon(char *text, struct op_image_name *image)
{
	char *brace = strstr(text, "}/"), *start, *end;
	uint64_t tgid;

	if (!brace || brace == text)
		return false;
	*brace = '\0';
	end = cut_field(brace + 2);
	start = end ? cut_field(brace + 2) : NULL;
	if (!start || strncmp(start, "0x", 2) || strncmp(end, "0x", 2))
		return false;
	image->space = OP_SPACE_ANON;
	image->name = text;
	if (!parse_digits(brace + 2, 10, &tgid) || tgid > INT64_MAX)
		return false;
	image->tgid = (int64_t)tgid;
	return parse_digits(start + 2, 16, &image->start) &&
	       parse_digits(end + 2, 16, &image->end);
}

static bool parse_classic_image(char *text, struct op_image_name *image)
{
	memset(image, 0, sizeof(*image));
	if (!strncmp(text, "{root}/", 7) && text[7]) {
		image->space = OP_SPACE_ROOT;
		image->name = text + 6;
		return true;
	}
	if (!strncmp(text, "{kern}/", 7) && text[7]) {
		image->space = OP_SPACE_KERN;
		image->name = text + 7;
		return true;
	}
	return !strncmp(text, "{anon:", 6) &&
	       parse_classic_anon(text + 6, image);
}

/* End @text before the first @mark, a whole component; what follows it, or
 * NULL when it is not there. */
static char *cut_at(char *text, const char *mark)
{
	char *at = strstr(text, mark);

	if (!at)
		return NULL;
	*at = '\0';
	return at + strlen(mark);
}

int op_classic_name_parse(const char *path, struct op_mangle *m, char *buf,
			  size_t len, struct op_diag *diag)
{
	char *event, *dep, *cg;

	memset(m, 0, sizeof(*m));
	if (squeeze_slashes(path, buf, len))
		return op_diag_set(diag, -ENAMETOOLONG, "%s: too long", path);
	event = strrchr(buf, '/');
	if (!event)
		return refuse_classic_name(diag, path, "it has no folders");
	*event++ = '\0';
	dep = cut_at(buf, "/{dep}/");
	if (!dep)
		return refuse_classic_name(diag, path, "it has no {dep}");
	cg = cut_at(dep, "/{cg}/");
	if (!parse_classic_image(buf, &m->app) ||
	    !parse_classic_image(dep, &m->dep) ||
	    (cg && !parse_classic_image(cg, &m->cg)))
		return refuse_classic_name(diag, path,
					   "an image has no valid name");
	if (!parse_classic_event(event, m))
		return refuse_classic_name(
			diag, path,
			"the last part is not EVENT.COUNT.UM.TGID.TID.CPU");
	return 0;
}
