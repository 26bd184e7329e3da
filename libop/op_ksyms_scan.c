// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The code symbols of one image out of /proc/kallsyms:
 *
 *	ffffffff81000000 T _stext
 *	ffffffffc0312000 t ext4_find_entry	[ext4]
 *
 * The text is read whole, filtered in one pass, sorted, and thinned to one
 * name per address; then the names that are left are moved to memory of
 * their own, and the text is given back.
 */

#include "libop/op_ksyms.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "libop/op_array.h"
#include "libop/op_file.h"
#include "libop/op_search.h"

#define KALLSYMS_MAX ((size_t)256 << 20) /* bytes */

struct scan {
	const char *module; /* NULL for the kernel */
	size_t module_len;
	uint64_t start;
	uint64_t end;
	struct op_ksym *found; /* their names are in the text */
	size_t nr;
	bool any_line; /* a line of the right form was there */
	bool any_address; /* and one had an address */
};

/* One line; nothing is terminated in it. */
struct line {
	uint64_t address;
	char type;
	const char *name;
	size_t name_len;
	const char *module; /* without the brackets */
	size_t module_len; /* 0 for the kernel */
};

static int kallsyms_hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return -1;
}

static const char *parse_address(const char *p, const char *end, uint64_t *out)
{
	const char *first = p;

	for (*out = 0; p < end && kallsyms_hex_digit(*p) >= 0; p++)
		*out = *out << 4 | (uint64_t)kallsyms_hex_digit(*p);
	return p == first || p - first > 16 ? NULL : p;
}

static bool parse_kallsyms_line(const char *p, const char *end,
				struct line *line)
{
	const char *tab;

	p = parse_address(p, end, &line->address);
	if (!p || end - p < 4 || p[0] != ' ' || p[2] != ' ')
		return false;
	line->type = p[1];
	line->name = p + 3;
	tab = memchr(line->name, '\t', (size_t)(end - line->name));
	line->name_len = (size_t)((tab ? tab : end) - line->name);
	line->module = NULL;
	line->module_len = 0;
	if (!tab)
		return true;
	if (end - tab < 4 || tab[1] != '[' || end[-1] != ']')
		return false;
	line->module = tab + 2;
	line->module_len = (size_t)(end - tab) - 3;
	return true;
}

/*
 * Assemblers mark code and data in a text section by symbols such as $x, $d.7
 * and .L12, which the kernel lists for modules. They are inside functions,
 * and would hide the names of these.
 */
static bool is_marker(const char *name, size_t len)
{
	if (name[0] == '.' && len > 1 && name[1] == 'L')
		return true;
	return name[0] == '$' && len > 1 && strchr("adtx", name[1]);
}

static bool is_clean(const char *name, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		unsigned char c = name[i];

		if (c <= 0x20 || c == 0x7f)
			return false;
	}
	return len;
}

static bool is_kernel_code(const struct line *line)
{
	if (!line->type || !strchr("tTwW", line->type))
		return false;
	return is_clean(line->name, line->name_len) &&
	       !is_marker(line->name, line->name_len);
}

static bool is_wanted_symbol(const struct scan *scan, const struct line *line)
{
	if (line->address < scan->start || line->address >= scan->end)
		return false;
	if (line->module_len != scan->module_len ||
	    (scan->module_len &&
	     memcmp(line->module, scan->module, scan->module_len)))
		return false;
	return is_kernel_code(line);
}

static int keep_symbol(struct scan *scan, const struct line *line)
{
	int err = op_array_reserve(&scan->found, scan->nr, 1);

	if (err)
		return err;
	scan->found[scan->nr++] = (struct op_ksym){
		.offset = line->address - scan->start,
		.name = line->name,
		.type = line->type,
	};
	return 0;
}

/* Look at all lines of @text; kept names are terminated in it. */
static int scan_text(struct scan *scan, char *text, size_t len)
{
	char *end = text + len;
	int err = 0;

	while (text < end && !err) {
		char *newline = memchr(text, '\n', (size_t)(end - text));
		char *stop = newline ? newline : end;
		struct line line;

		/* A form that a later kernel adds is no reason to give up. */
		if (parse_kallsyms_line(text, stop, &line)) {
			scan->any_line = true;
			scan->any_address |= line.address != 0;
			if (is_wanted_symbol(scan, &line)) {
				err = keep_symbol(scan, &line);
				text[line.name - text + line.name_len] = '\0';
			}
		}
		text = stop + 1;
	}
	return err;
}

static int binding_rank(char type)
{
	if (type == 'T')
		return 0;
	return type == 't' ? 2 : 1;
}

/*
 * By address; at one address the name that a person would choose comes
 * first: global, without a leading underscore, short, early in the file.
 */
static int compare_kernel_symbols(const void *pa, const void *pb)
{
	const struct op_ksym *a = pa, *b = pb;

	return op_compare(a->offset, b->offset) ?:
	       binding_rank(a->type) - binding_rank(b->type) ?:
	       (a->name[0] == '_') - (b->name[0] == '_') ?:
	       op_compare(strlen(a->name), strlen(b->name)) ?:
	       op_compare((uintptr_t)a->name, (uintptr_t)b->name);
}

/* Leave the first symbol of each address. */
static void thin_to_one_name(struct scan *scan)
{
	size_t kept = 0;

	for (size_t i = 0; i < scan->nr; i++) {
		if (!kept ||
		    scan->found[i].offset != scan->found[kept - 1].offset)
			scan->found[kept++] = scan->found[i];
	}
	scan->nr = kept;
}

static int move_names(struct scan *scan, char **strings)
{
	size_t len = 0;
	char *to;

	for (size_t i = 0; i < scan->nr; i++)
		len += strlen(scan->found[i].name) + 1;
	to = malloc(len ? len : 1);
	if (!to)
		return -ENOMEM;
	*strings = to;
	for (size_t i = 0; i < scan->nr; i++) {
		const char *name = scan->found[i].name;

		scan->found[i].name = to;
		to = stpcpy(to, name) + 1;
	}
	return 0;
}

static int check_kallsyms_lines(const struct scan *scan, size_t len,
				const char *path, struct op_diag *diag)
{
	if (len && !scan->any_line)
		return op_diag_set(diag, -EINVAL,
				   "%s: not in the form of /proc/kallsyms",
				   path);
	if (scan->any_line && !scan->any_address)
		return op_diag_set(diag, -EACCES,
				   "%s: the kernel hides its addresses; run as "
				   "root, and set kernel.kptr_restrict to 0 or "
				   "1",
				   path);
	return 0;
}

static int finish_scan(struct scan *scan, struct op_ksyms *ksyms)
{
	int err;

	if (scan->nr)
		qsort(scan->found, scan->nr, sizeof(*scan->found),
		      compare_kernel_symbols);
	thin_to_one_name(scan);
	err = move_names(scan, &ksyms->strings);
	if (err)
		return err;
	ksyms->syms = scan->found;
	ksyms->nr = scan->nr;
	scan->found = NULL;
	return 0;
}

static int read_kallsyms(const char *kallsyms, char **text, size_t *len,
			 struct op_diag *diag)
{
	int err = op_file_read(kallsyms, KALLSYMS_MAX, text, len, diag);

	return err == -ENOENT
		       ? op_diag_set(
				 diag, err,
				 "%s: not there; the kernel lacks CONFIG_KALLSYMS",
				 kallsyms)
		       : err;
}

int op_ksyms_each_of_modules(const char *kallsyms,
			     int (*fn)(void *arg,
				       const struct op_ksym_line *line),
			     void *arg, struct op_diag *diag)
{
	struct scan scan = { .any_line = false };
	const char *at, *end;
	struct line line;
	size_t len;
	char *text;
	int err = read_kallsyms(kallsyms, &text, &len, diag);

	if (err)
		return err;
	end = text + len;
	for (at = text; at < end && !err;) {
		const char *stop = memchr(at, '\n', (size_t)(end - at)) ?: end;

		if (parse_kallsyms_line(at, stop, &line)) {
			scan.any_line = true;
			scan.any_address |= line.address != 0;
			if (line.module_len && is_kernel_code(&line))
				err = fn(arg,
					 &(struct op_ksym_line){
						 line.address, line.name,
						 line.name_len, line.module,
						 line.module_len });
		}
		at = stop + 1;
	}
	if (!err)
		err = check_kallsyms_lines(&scan, len, kallsyms, diag);
	free(text);
	return err;
}

int op_ksyms_scan(struct op_ksyms *ksyms, const char *kallsyms,
		  const char *module, uint64_t start, uint64_t end,
		  struct op_diag *diag)
{
	struct scan scan = {
		.module = module,
		.module_len = module ? strlen(module) : 0,
		.start = start,
		.end = end,
	};
	char *text;
	size_t len;
	int err;

	memset(ksyms, 0, sizeof(*ksyms));
	err = read_kallsyms(kallsyms, &text, &len, diag);
	if (err)
		return err;
	err = scan_text(&scan, text, len);
	if (!err)
		err = check_kallsyms_lines(&scan, len, kallsyms, diag);
	if (!err)
		err = finish_scan(&scan, ksyms);
	if (err == -ENOMEM)
		op_diag_set(diag, err, "%s: out of memory", kallsyms);
	free(scan.found);
	free(text);
	return err;
}
