// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Snapshots of kernel and module symbols. How they come out of /proc/kallsyms
 * is in op_ksyms_scan.c.
 *
 * A snapshot is read whole and cut into names in place: one allocation for
 * all text, one for all symbols, whatever their number.
 */

#include "libop/op_ksyms.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libop/op_escape.h"
#include "libop/op_file.h"

#define SNAPSHOT_MAX ((size_t)64 << 20) /* bytes; a kernel needs some 5 MiB */
#define FIRST_WORDS "oprofile symbols 1 "
#define BUILD_ID_MAX 32 /* bytes */

const char *op_build_id_text(const uint8_t *id, size_t len, char *buf)
{
	if (!len)
		return strcpy(buf, "-");
	if (len > BUILD_ID_MAX)
		len = BUILD_ID_MAX;
	for (size_t i = 0; i < len; i++)
		snprintf(buf + 2 * i, 3, "%02x", id[i]);
	return buf;
}

/*
 * An image's name as one path component and one word. Names come from the
 * stream, so a name must not lead out of the folder.
 */
static int escape_name(char *buf, size_t len, const char *name)
{
	size_t at = 0;

	for (const char *p = name; *p; p++) {
		bool special =
			*p == '/' || *p == ' ' || (*p == '.' && p == name);

		if (len - at <= OP_ESCAPE_LEN)
			return -ENAMETOOLONG;
		at += op_escape_byte(
			buf + at, (unsigned char)*p,
			special || op_escape_needed((unsigned char)*p));
	}
	buf[at] = '\0';
	return at ? 0 : -EINVAL;
}

int op_ksyms_path(char *buf, size_t len, const char *dir, const char *name,
		  const uint8_t *build_id, size_t build_id_len)
{
	char id[2 * BUILD_ID_MAX + 1];
	char file[256]; /* NAME_MAX and the zero byte */
	int err = escape_name(file, sizeof(file), name);
	int n;

	if (err)
		return err;
	n = strlen(file);
	if (build_id_len)
		n += snprintf(file + n, sizeof(file) - n, "-%s",
			      op_build_id_text(build_id, build_id_len, id));
	if ((size_t)n >= sizeof(file))
		return -ENAMETOOLONG;
	n = snprintf(buf, len, "%s/%s", dir, file);
	return n < 0 || (size_t)n >= len ? -ENAMETOOLONG : 0;
}

void op_ksyms_release(struct op_ksyms *ksyms)
{
	free(ksyms->syms);
	free(ksyms->strings);
	memset(ksyms, 0, sizeof(*ksyms));
}

/* ---- reading ------------------------------------------------------------- */

static bool is_build_id(const char *text)
{
	size_t len = strspn(text, "0123456789abcdef");

	if (!strcmp(text, "-"))
		return true;
	return len && len % 2 == 0 && len <= 2 * BUILD_ID_MAX && !text[len];
}

static bool is_first_line(const char *line)
{
	size_t len = strlen(FIRST_WORDS);
	const char *space;

	if (strncmp(line, FIRST_WORDS, len))
		return false;
	space = strchr(line + len, ' ');
	return space && space != line + len && is_build_id(space + 1);
}

static bool is_symbol_name(const char *name)
{
	if (!*name)
		return false;
	for (; *name; name++) {
		unsigned char c = *name;

		if (c <= 0x20 || c == 0x7f)
			return false;
	}
	return true;
}

static bool is_type(char c)
{
	return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

/* A line "OFFSET TYPE NAME"; the name stays where it is. */
static bool parse_symbol(char *line, struct op_ksym *sym)
{
	size_t digits = strspn(line, "0123456789abcdef");
	const char *rest = line + digits;

	if (!digits || digits > 16)
		return false;
	if (rest[0] != ' ' || !is_type(rest[1]) || rest[2] != ' ')
		return false;
	sym->offset = strtoull(line, NULL, 16);
	sym->type = rest[1];
	sym->name = rest + 3;
	return is_symbol_name(sym->name);
}

static size_t count_lines(const char *text, size_t len)
{
	const char *end = text + len;
	size_t nr = 0;

	while ((text = memchr(text, '\n', (size_t)(end - text)))) {
		text++;
		nr++;
	}
	return nr;
}

static const char *take_lines(struct op_ksyms *ksyms, char *text, size_t *line)
{
	uint64_t last = 0;

	for (*line = 1; *text; ++*line) {
		struct op_ksym *sym = &ksyms->syms[ksyms->nr];
		char *newline = strchr(text, '\n');

		if (!newline)
			return "the file is cut off here";
		*newline = '\0';
		if (*line == 1 && !is_first_line(text))
			return "no snapshot of symbols";
		if (*line > 1) {
			if (!parse_symbol(text, sym))
				return "no \"OFFSET TYPE NAME\"";
			if (sym->offset < last)
				return "the offsets do not ascend";
			last = sym->offset;
			ksyms->nr++;
		}
		text = newline + 1;
	}
	return *line == 1 ? "the file is empty" : NULL;
}

int op_ksyms_read(struct op_ksyms *ksyms, const char *path,
		  struct op_diag *diag)
{
	const char *why;
	size_t len, line = 1;
	int err;

	memset(ksyms, 0, sizeof(*ksyms));
	err = op_file_read(path, SNAPSHOT_MAX, &ksyms->strings, &len, diag);
	if (err)
		return err;
	ksyms->syms = calloc(count_lines(ksyms->strings, len) + 1,
			     sizeof(*ksyms->syms));
	if (!ksyms->syms) {
		op_ksyms_release(ksyms);
		return op_diag_set(diag, -ENOMEM, "%s: out of memory", path);
	}
	why = memchr(ksyms->strings, '\0', len)
		      ? "a zero byte in the file"
		      : take_lines(ksyms, ksyms->strings, &line);
	if (!why)
		return 0;
	op_ksyms_release(ksyms);
	return op_diag_set(diag, -EINVAL, "%s:%zu: %s", path, line, why);
}

/* ---- writing ------------------------------------------------------------- */

/* Whether op_ksyms_read() would take the symbols back. */
static bool is_readable(const struct op_ksyms *ksyms)
{
	for (size_t i = 0; i < ksyms->nr; i++) {
		const struct op_ksym *sym = &ksyms->syms[i];

		if (!is_type(sym->type) || !is_symbol_name(sym->name))
			return false;
		if (i && sym->offset < sym[-1].offset)
			return false;
	}
	return true;
}

int op_ksyms_write(const struct op_ksyms *ksyms, const char *path,
		   const char *name, const uint8_t *build_id,
		   size_t build_id_len, struct op_diag *diag)
{
	char id[2 * BUILD_ID_MAX + 1];
	struct op_replace replace;
	char word[1024];
	int err = escape_name(word, sizeof(word), name);

	if (err || !is_readable(ksyms))
		return op_diag_set(diag, err ? err : -EINVAL,
				   "%s: cannot write: unfit names or order of "
				   "symbols",
				   path);
	err = op_replace_open(&replace, path, 0644, diag);
	if (err)
		return err;
	fprintf(replace.file, FIRST_WORDS "%s %s\n", word,
		op_build_id_text(build_id, build_id_len, id));
	for (size_t i = 0; i < ksyms->nr; i++)
		fprintf(replace.file, "%" PRIx64 " %c %s\n",
			ksyms->syms[i].offset, ksyms->syms[i].type,
			ksyms->syms[i].name);
	return op_replace_commit(&replace, diag);
}
