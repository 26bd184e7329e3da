// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The code symbols of one image out of /proc/kallsyms:
 *
 *	ffffffff81000000 T _stext
 *	ffffffffc0312000 t ext4_find_entry	[ext4]
 *
 * The text is filtered in one pass, and what is found is sorted and thinned to
 * one name per address; then the names that are left are copied.
 */

#include "libop/kernel/op_ksyms.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "libop/base/op_array.h"
#include "libop/files/op_file.h"
#include "libop/base/op_search.h"

#define KALLSYMS_MAX ((size_t)256 << 20) /* bytes */

/* A symbol whose name is in the text. */
struct found_symbol {
	uint64_t offset;
	const char *name;
	uint32_t name_len;
	char type;
};

struct scan {
	const char *module; /* NULL for the kernel */
	size_t module_len;
	uint64_t start;
	uint64_t end;
	struct found_symbol *found;
	size_t nr;
	bool any_line; /* a line of the right form was there */
	bool any_address; /* and one had an address */
};

/* A line of kallsyms; its strings are not terminated. */
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
	scan->found[scan->nr++] = (struct found_symbol){
		.offset = line->address - scan->start,
		.name = line->name,
		.name_len = (uint32_t)line->name_len,
		.type = line->type,
	};
	return 0;
}

static int look_at_lines(struct scan *scan, const struct op_kallsyms *all)
{
	const char *end = all->text + all->len;
	const char *at, *stop;
	int err = 0;

	for (at = all->text; at < end && !err; at = stop + 1) {
		struct line line;

		stop = memchr(at, '\n', (size_t)(end - at)) ?: end;
		/* A form that a later kernel adds is no reason to give up. */
		if (!parse_kallsyms_line(at, stop, &line))
			continue;
		scan->any_line = true;
		scan->any_address |= line.address != 0;
		if (is_wanted_symbol(scan, &line))
			err = keep_symbol(scan, &line);
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
	const struct found_symbol *a = pa, *b = pb;

	return op_compare(a->offset, b->offset) ?:
	       binding_rank(a->type) - binding_rank(b->type) ?:
	       (a->name[0] == '_') - (b->name[0] == '_') ?:
	       op_compare(a->name_len, b->name_len) ?:
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

static int copy_symbols(const struct scan *scan, struct op_ksyms *ksyms)
{
	size_t len = 0;
	char *to;

	for (size_t i = 0; i < scan->nr; i++)
		len += scan->found[i].name_len + 1;
	ksyms->strings = to = malloc(len ? len : 1);
	ksyms->syms = calloc(scan->nr ? scan->nr : 1, sizeof(*ksyms->syms));
	if (!to || !ksyms->syms) {
		op_ksyms_release(ksyms);
		return -ENOMEM;
	}
	for (size_t i = 0; i < scan->nr; i++) {
		const struct found_symbol *found = &scan->found[i];

		ksyms->syms[i] =
			(struct op_ksym){ found->offset, to, found->type };
		to = mempcpy(to, found->name, found->name_len);
		*to++ = '\0';
	}
	ksyms->nr = scan->nr;
	ksyms->size = scan->end - scan->start;
	return 0;
}

static int check_kallsyms_lines(const struct scan *scan,
				const struct op_kallsyms *all,
				struct op_diag *diag)
{
	if (all->len && !scan->any_line)
		return op_diag_set(diag, -EINVAL,
				   "%s: not in the form of /proc/kallsyms",
				   all->path);
	if (scan->any_line && !scan->any_address)
		return op_diag_set(diag, -EACCES,
				   "%s: the kernel hides its addresses; run as "
				   "root, and set kernel.kptr_restrict to 0 or "
				   "1",
				   all->path);
	return 0;
}

static int finish_scan(struct scan *scan, struct op_ksyms *ksyms)
{
	if (scan->nr)
		qsort(scan->found, scan->nr, sizeof(*scan->found),
		      compare_kernel_symbols);
	thin_to_one_name(scan);
	return copy_symbols(scan, ksyms);
}

int op_kallsyms_read(struct op_kallsyms *all, const char *path,
		     struct op_diag *diag)
{
	int err;

	all->path = strdup(path);
	if (!all->path)
		return op_diag_set(diag, -ENOMEM, "%s: out of memory", path);
	err = op_file_read(path, KALLSYMS_MAX, &all->text, &all->len, diag);
	if (err) {
		free(all->path);
		memset(all, 0, sizeof(*all));
	}
	return err == -ENOENT
		       ? op_diag_set(
				 diag, err,
				 "%s: not there; the kernel lacks CONFIG_KALLSYMS",
				 path)
		       : err;
}

void op_kallsyms_release(struct op_kallsyms *all)
{
	free(all->path);
	free(all->text);
	memset(all, 0, sizeof(*all));
}

int op_ksyms_each_of_modules(const struct op_kallsyms *all,
			     int (*fn)(void *arg,
				       const struct op_ksym_line *line),
			     void *arg, struct op_diag *diag)
{
	const char *end = all->text + all->len;
	struct scan scan = { .any_line = false };
	const char *at, *stop;
	struct line line;
	int err = 0;

	for (at = all->text; at < end && !err; at = stop + 1) {
		stop = memchr(at, '\n', (size_t)(end - at)) ?: end;
		if (!parse_kallsyms_line(at, stop, &line))
			continue;
		scan.any_line = true;
		scan.any_address |= line.address != 0;
		if (line.module_len && is_kernel_code(&line))
			err = fn(arg,
				 &(struct op_ksym_line){
					 line.address, line.name, line.name_len,
					 line.module, line.module_len });
	}
	return err ?: check_kallsyms_lines(&scan, all, diag);
}

int op_ksyms_scan(struct op_ksyms *ksyms, const struct op_kallsyms *all,
		  const char *module, uint64_t start, uint64_t end,
		  struct op_diag *diag)
{
	struct scan scan = {
		.module = module,
		.module_len = module ? strlen(module) : 0,
		.start = start,
		.end = end,
	};
	int err;

	memset(ksyms, 0, sizeof(*ksyms));
	err = look_at_lines(&scan, all);
	if (!err)
		err = check_kallsyms_lines(&scan, all, diag);
	if (!err)
		err = finish_scan(&scan, ksyms);
	if (err == -ENOMEM)
		op_diag_set(diag, err, "%s: out of memory", all->path);
	free(scan.found);
	return err;
}
