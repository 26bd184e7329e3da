// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The hashes of an archive's files, in the text that sha256sum(1) writes and
 * checks: "HASH NAME" on each line. The file is not trusted: each name must
 * stay inside of the archive's folder and names must ascend, so that a name is
 * found by bisection and stands there once. A name with a newline, a carriage
 * return or a backslash has escapes, and its line a backslash in front.
 */

#include "libpp/archive/sums.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libop/files/op_file.h"
#include "libop/base/op_search.h"

/* Bytes: some two million names of the usual length. */
#define FILE_MAX ((size_t)512 << 20)
#define HEX_LEN (2 * PP_SHA256_LEN)

/* ---- reading ------------------------------------------------------------- */

static int lower_hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool parse_hash(uint8_t *hash, const char *text)
{
	for (size_t i = 0; i < PP_SHA256_LEN; i++) {
		int high = lower_hex_digit(text[2 * i]);
		int low = high < 0 ? -1 : lower_hex_digit(text[2 * i + 1]);

		if (low < 0)
			return false;
		hash[i] = (uint8_t)(high << 4 | low);
	}
	return true;
}

/* Undo the escapes of @name where it is. */
static bool unescape_name(char *name)
{
	char *to = name;

	for (; *name; name++) {
		if (*name != '\\') {
			*to++ = *name;
			continue;
		}
		name++;
		if (*name != 'n' && *name != 'r' && *name != '\\')
			return false;
		*to++ = *name == 'n' ? '\n' : *name == 'r' ? '\r' : '\\';
	}
	*to = '\0';
	return true;
}

/* Whether @name stays in its folder. */
static bool stays_inside(const char *name)
{
	while (*name) {
		size_t len = strcspn(name, "/");

		if (!len || (len <= 2 && !strncmp(name, "..", len)))
			return false;
		name += len;
		if (*name == '/' && !*++name)
			return false;
	}
	return true;
}

/* Parse @line into @sum. Returns what is wrong with the line; NULL for nothing.
 */
static const char *parse_sum_line(struct pp_sum *sum, char *line)
{
	bool escaped = *line == '\\';
	char *name;

	line += escaped;
	if (!parse_hash(sum->hash, line) || strncmp(line + HEX_LEN, "  ", 2))
		return "no \"HASH  NAME\"";
	name = line + HEX_LEN + 2;
	if (escaped && !unescape_name(name))
		return "an invalid escape";
	if (!*name || !stays_inside(name))
		return "the name leads out of the folder";
	sum->name = name;
	return NULL;
}

static const char *parse_sum_lines(struct pp_sums *sums, char *text)
{
	for (; *text; sums->nr++) {
		struct pp_sum *sum = &sums->list[sums->nr];
		char *newline = strchr(text, '\n');
		const char *why;

		if (!newline)
			return "the file is truncated here";
		*newline = '\0';
		why = parse_sum_line(sum, text);
		if (why)
			return why;
		if (sums->nr && strcmp(sum[-1].name, sum->name) >= 0)
			return "the names do not ascend";
		text = newline + 1;
	}
	return NULL;
}

static int parse_sums(struct pp_sums *sums, struct op_arena *arena,
		      const char *path, const char *text, size_t len,
		      struct op_diag *diag)
{
	char *copy = op_arena_alloc(arena, len + 1, 1);
	const char *why;
	size_t nr = 0;

	if (!copy)
		return -ENOMEM;
	memcpy(copy, text, len);
	for (const char *at = copy; (at = strchr(at, '\n')); at++)
		nr++;
	sums->list = op_arena_alloc(arena, nr + 1, sizeof(*sums->list));
	if (!sums->list)
		return -ENOMEM;
	why = strlen(copy) < len ? "a zero byte in the file"
				 : parse_sum_lines(sums, copy);
	return why ? op_diag_set(diag, -EINVAL, "%s:%zu: %s", path,
				 sums->nr + 1, why)
		   : 0;
}

int pp_sums_read(struct pp_sums *sums, struct op_arena *arena, const char *path,
		 struct op_diag *diag)
{
	size_t len;
	char *text;
	int err;

	*sums = (struct pp_sums){ 0 };
	err = op_file_read(path, FILE_MAX, &text, &len, diag);
	if (err)
		return err;
	err = parse_sums(sums, arena, path, text, len, diag);
	free(text);
	return err;
}

/* ---- writing ------------------------------------------------------------- */

/* Write a line as sha256sum(1) does: a backslash first says that the name has
 * escapes. */
static void write_sum_line(FILE *file, const struct pp_sum *sum)
{
	if (strpbrk(sum->name, "\\\n\r"))
		putc('\\', file);
	for (size_t i = 0; i < PP_SHA256_LEN; i++)
		fprintf(file, "%02x", sum->hash[i]);
	fputs("  ", file);
	for (const char *c = sum->name; *c; c++)
		if (*c == '\n' || *c == '\r')
			fputs(*c == '\n' ? "\\n" : "\\r", file);
		else
			fputs(*c == '\\' ? "\\\\" : (char[]){ *c, 0 }, file);
	putc('\n', file);
}

int pp_sums_write(const struct pp_sums *sums, const char *path)
{
	FILE *file = fopen(path, "wxe");
	int err = 0;

	if (!file)
		return -errno;
	for (size_t i = 0; i < sums->nr; i++)
		write_sum_line(file, &sums->list[i]);
	errno = EIO; /* ferror() alone does not say why */
	if (fflush(file) || ferror(file) || fsync(fileno(file)))
		err = -errno;
	if (fclose(file) && !err)
		err = -errno;
	return err;
}

/* ---- finding ------------------------------------------------------------- */

const struct pp_sum *pp_sums_find(const struct pp_sums *sums, const char *name)
{
	size_t at =
		OP_BISECT(i, sums->nr, strcmp(sums->list[i].name, name) < 0);

	return at < sums->nr && !strcmp(sums->list[at].name, name)
		       ? &sums->list[at]
		       : NULL;
}

const struct pp_sum *pp_sums_below(const struct pp_sums *sums,
				   const char *start, size_t *nr)
{
	size_t at =
		OP_BISECT(i, sums->nr, strcmp(sums->list[i].name, start) < 0);
	size_t len = strlen(start);

	*nr = 0;
	while (at + *nr < sums->nr &&
	       !strncmp(sums->list[at + *nr].name, start, len))
		++*nr;
	return *nr ? sums->list + at : NULL;
}
