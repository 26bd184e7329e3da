// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The kernel and its modules are told as a table, code that is made at run time
 * function by function. Only perf_events tell when such code comes, and only
 * while they are open. So /proc/kallsyms is read for each table, once for all
 * that needs it then, and again when a sample is in code that is not known, or
 * that may have been replaced since. A function reaches up to the next one, as
 * kallsyms tells no lengths, and CODE_MAX bytes at most.
 *
 * Code that is gone stays in the list: the stream has no word for that, and
 * nothing is sampled there until other code comes, which takes its place.
 */

#include "daemon/source/opd_live_kernel.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/source/opd_code_watch.h"
#include "daemon/source/opd_events.h"
#include "daemon/source/opd_kernel_range.h"
#include "daemon/source/opd_proc.h"
#include "daemon/source/opd_source.h"
#include "libop/base/op_array.h"
#include "libop/base/op_clock.h"
#include "libop/base/op_hash.h"
#include "libop/kernel/op_ksyms.h"
#include "libop/base/op_log.h"
#include "libop/base/op_search.h"

#define CODE_MAX (1u << 20) /* bytes of a function */
#define MAX_CODE 65536 /* functions */
#define MAX_PATIENCE 16 /* seconds */
#define MAX_NOTICED 4096 /* modules that came while the source was open */

#define NAME_TRUSTED 0 /* only what the source tells can replace it */
#define NAME_DOUBTED 1 /* no hash: other code may be there by now */

struct opd_live_range {
	uint64_t start;
	uint64_t end; /* first address behind it */
	uint64_t name; /* code: a hash of it, or one of these */
};

/* A table under way. */
struct table {
	struct opd_live_kernel *kernel;
	const struct opd_source_client *client;
	struct op_stream_words *words;
	uint32_t flags; /* of the next range */
};

static void add_range(struct table *table, const char *name, uint64_t start,
		      uint64_t end, const struct op_build_id *build_id)
{
	op_stream_put_range(table->words, table->flags, start, end, build_id,
			    name);
	table->flags = 0;
	op_verbose(table->client->log, OP_V_MODULE,
		   "%s: 0x%" PRIx64 " to 0x%" PRIx64, name, start, end);
	if (table->client->see_kernel)
		table->client->see_kernel(table->client->ctx, name, start, end,
					  build_id, &table->kernel->kallsyms);
}

/* ---- the table --------------------------------------------------------------
 */

static int add_module_range(struct opd_live_kernel *kernel, uint64_t start,
			    uint64_t end)
{
	int err = op_array_reserve(&kernel->modules, kernel->nr_modules, 1);

	if (!err)
		kernel->modules[kernel->nr_modules++] =
			(struct opd_live_range){ start, end, 0 };
	return err;
}

static int compare_live_ranges(const void *a, const void *b)
{
	const struct opd_live_range *x = a, *y = b;

	return op_compare(x->start, y->start);
}

static void read_build_id(struct op_build_id *build_id, const char *module)
{
	char path[128 + OPD_MODULE_NAME_MAX];

	snprintf(path, sizeof(path), "/sys/module/%s/notes/.note.gnu.build-id",
		 module);
	if (op_build_id_of_notes_file(build_id, path))
		build_id->len = 0;
}

/* A module whose code is at @start, as far as notices tell; or NULL. */
static struct opd_live_module *
find_noticed(const struct opd_live_kernel *kernel, uint64_t start)
{
	for (size_t i = 0; i < kernel->nr_noticed; i++)
		if (kernel->noticed[i].text_start <= start &&
		    start < kernel->noticed[i].text_end)
			return &kernel->noticed[i];
	return NULL;
}

/*
 * The source may be behind: a module that lies where another one was by the
 * notices is still to come in the stream.
 */
static int add_module(void *arg, const char *name, uint64_t start, uint64_t end)
{
	struct opd_live_kernel *kernel = ((struct table *)arg)->kernel;
	struct opd_live_module *noticed = find_noticed(kernel, start);
	struct op_build_id build_id = { 0, { 0 } };

	if (noticed &&
	    (noticed->text_start != start || strcmp(noticed->name, name)))
		return 0;
	read_build_id(&build_id, name);
	if (start >= end)
		return 0;
	if (noticed) {
		noticed->build_id = build_id;
		noticed->is_listed = true;
	}
	add_range(arg, name, start, end, &build_id);
	return add_module_range(kernel, start, end);
}

static int add_code(struct table *table, const struct opd_live_module *module,
		    uint32_t flags, uint64_t start, uint64_t end)
{
	op_stream_put_range(table->words, table->flags | flags, start, end,
			    &module->build_id, module->name);
	table->flags = 0;
	return add_module_range(table->kernel, start, end);
}

/* Whether a module has come to the place of its init code, so that this has
 * gone.
 */
static bool is_replaced(const struct opd_live_kernel *kernel,
			const struct opd_live_module *noticed)
{
	for (size_t i = 0; i < kernel->nr_modules; i++)
		if (noticed->init_start <= kernel->modules[i].start &&
		    kernel->modules[i].start < noticed->init_end)
			return true;
	return false;
}

/*
 * Behind all modules that are listed: the code of those that have gone by now,
 * and what others run once. What /proc/modules tells of a module may be longer
 * than its code and reach over others; the reader cuts it there.
 */
static void add_noticed(struct table *table)
{
	struct opd_live_kernel *kernel = table->kernel;
	struct opd_live_module *noticed = kernel->noticed;
	size_t nr = kernel->nr_noticed;

	for (size_t i = 0; i < nr; i++)
		if (!noticed[i].is_listed &&
		    noticed[i].text_start < noticed[i].text_end)
			(void)add_code(table, &noticed[i], 0,
				       noticed[i].text_start,
				       noticed[i].text_end);
	for (size_t i = 0; i < nr; i++)
		if (noticed[i].init_start < noticed[i].init_end &&
		    !is_replaced(kernel, &noticed[i]))
			(void)add_code(table, &noticed[i], OP_KERNEL_INIT,
				       noticed[i].init_start,
				       noticed[i].init_end);
}

/* Until the table is made, unless that has been done already. */
static int read_kallsyms(struct opd_live_kernel *kernel, const char *proc,
			 struct op_diag *diag)
{
	char path[PATH_MAX];

	if (kernel->kallsyms.text)
		return 0;
	snprintf(path, sizeof(path), "%s/kallsyms", proc);
	return op_kallsyms_read(&kernel->kallsyms, path, diag);
}

/* Find the kernel's range once: it stays the same until the next boot. */
static void find_kernel(struct opd_live_kernel *kernel, const char *proc,
			struct op_log *log)
{
	struct op_diag diag = { "" };

	if (kernel->tried)
		return;
	kernel->tried = true;
	if (op_build_id_of_notes_file(&kernel->build_id, "/sys/kernel/notes"))
		kernel->build_id.len = 0;
	if (opd_kernel_range_get(proc, &kernel->build_id, &kernel->start,
				 &kernel->end))
		return;
	if (read_kallsyms(kernel, proc, &diag) ||
	    opd_proc_kernel(&kernel->kallsyms, &kernel->start, &kernel->end,
			    &diag)) {
		kernel->start = kernel->end = 0;
		op_log(log, "%s; samples in the kernel have no symbols",
		       diag.text);
	}
	opd_kernel_range_keep(proc, &kernel->build_id, kernel->start,
			      kernel->end);
}

/* ---- code that was made at run time -----------------------------------------
 */

static bool is_in_ranges(const struct opd_live_range *ranges, size_t nr,
			 uint64_t pc, const struct opd_live_range **found)
{
	size_t end = OP_BISECT(i, nr, ranges[i].start <= pc);

	*found = end ? &ranges[end - 1] : NULL;
	return end && pc < (*found)->end;
}

static bool is_in_table(const struct opd_live_kernel *kernel, uint64_t pc)
{
	const struct opd_live_range *found;

	return (kernel->start <= pc && pc < kernel->end) ||
	       is_in_ranges(kernel->modules, kernel->nr_modules, pc, &found);
}

bool opd_live_kernel_has(const struct opd_live_kernel *kernel, uint64_t pc)
{
	const struct opd_live_range *found;

	if (is_in_table(kernel, pc))
		return true;
	return is_in_ranges(kernel->code, kernel->nr_code, pc, &found) &&
	       found->name == NAME_TRUSTED;
}

/* Put @range in the place of all that starts in it. What starts before, of
 * which the end may have been guessed, ends there. */
static int put_code(struct opd_live_kernel *kernel,
		    const struct opd_live_range *range)
{
	struct opd_live_range *code = kernel->code;
	size_t from =
		OP_BISECT(i, kernel->nr_code, code[i].end <= range->start);
	size_t to = from;

	while (to < kernel->nr_code && code[to].start < range->end)
		to++;
	if (from < to && code[from].start < range->start)
		code[from++].end = range->start;
	if (to == from && kernel->nr_code == MAX_CODE)
		return -ENOSPC;
	if (op_array_reserve(&kernel->code, kernel->nr_code, 1))
		return -ENOMEM;
	code = kernel->code;
	memmove(code + from + 1, code + to,
		(kernel->nr_code - to) * sizeof(*code));
	code[from] = *range;
	kernel->nr_code = kernel->nr_code - (to - from) + 1;
	return 0;
}

void opd_live_kernel_add_code(struct opd_live_kernel *kernel, uint64_t start,
			      uint64_t end)
{
	const struct opd_live_range range = { start, end, NAME_TRUSTED };

	/* Else its samples lead to a look. */
	if (start < end)
		(void)put_code(kernel, &range);
}

/* A name that is too long for the reader is cut. */
static void put_code_record(struct op_stream_words *words, uint64_t start,
			    uint64_t end, const char *name)
{
	const struct op_build_id none = { .len = 0 };
	char cut[OP_EVENT_NAME_MAX];

	snprintf(cut, sizeof(cut), "%s", name);
	op_stream_put_range(words, OP_KERNEL_CODE, start, end, &none, cut);
}

void opd_live_kernel_put_code(struct opd_live_kernel *kernel,
			      const struct opd_new_code *code,
			      struct op_stream_words *words)
{
	opd_live_kernel_add_code(kernel, code->start, code->end);
	put_code_record(words, code->start, code->end, code->name);
}

/* A function that kallsyms lists. */
struct found_code {
	uint64_t start;
	char *name;
};

struct code_search {
	const struct opd_live_kernel *kernel;
	struct found_code *found;
	size_t nr;
};

/* BPF programs and their trampolines are those of a module "bpf"; ftrace and
 * kprobes are "__builtin__ftrace" and "__builtin__kprobes". */
static bool is_made_code(const struct op_ksym_line *line)
{
	static const char builtin[] = "__builtin__";
	size_t len = sizeof(builtin) - 1;

	if (line->module_len == 3)
		return !memcmp(line->module, "bpf", 3);
	return line->module_len > len && !memcmp(line->module, builtin, len);
}

/*
 * The code that modules run once is left out: it lives for milliseconds, and
 * that of the next module comes to the same place. Where it lies is known from
 * notices of the module's stream alone (opd_live_kernel_add_module()).
 */
static int find_code(void *arg, const struct op_ksym_line *line)
{
	struct code_search *search = arg;
	char *copy;

	if (!is_made_code(line) || !line->address ||
	    is_in_table(search->kernel, line->address) ||
	    search->nr == MAX_CODE)
		return 0;
	copy = strndup(line->name, line->name_len);
	if (!copy || op_array_reserve(&search->found, search->nr, 1)) {
		free(copy);
		return -ENOMEM;
	}
	search->found[search->nr++] =
		(struct found_code){ line->address, copy };
	return 0;
}

static int compare_found(const void *a, const void *b)
{
	const struct found_code *x = a, *y = b;

	return op_compare(x->start, y->start);
}

/* Where the code at @at ends: at the next one, the next module or the kernel.
 */
static uint64_t end_of_code(const struct code_search *search, size_t at)
{
	const struct opd_live_kernel *kernel = search->kernel;
	uint64_t start = search->found[at].start;
	uint64_t end = start + CODE_MAX > start ? start + CODE_MAX : UINT64_MAX;
	size_t next = OP_BISECT(i, kernel->nr_modules,
				kernel->modules[i].start <= start);

	if (at + 1 < search->nr && search->found[at + 1].start < end)
		end = search->found[at + 1].start;
	if (next < kernel->nr_modules && kernel->modules[next].start < end)
		end = kernel->modules[next].start;
	if (start < kernel->start && kernel->start < end)
		end = kernel->start;
	return end;
}

/* Tell of the code at @at, unless the reader knows it. */
static void put_found_code(struct opd_live_kernel *kernel,
			   const struct code_search *search, size_t at,
			   struct op_stream_words *words)
{
	const struct opd_live_range *known;
	struct opd_live_range range = {
		.start = search->found[at].start,
		.end = end_of_code(search, at),
		.name = op_hash_text(0, search->found[at].name) | 2,
	};

	if (range.start == range.end)
		return; /* another name of the next one */
	if (is_in_ranges(kernel->code, kernel->nr_code, range.start, &known) &&
	    (known->name == NAME_TRUSTED ||
	     (known->name == range.name && known->start == range.start)))
		return;
	if (!put_code(kernel, &range))
		put_code_record(words, range.start, range.end,
				search->found[at].name);
}

static void read_code(struct opd_live_kernel *kernel,
		      const struct opd_source *source,
		      struct op_stream_words *words)
{
	struct code_search search = { .kernel = kernel };
	struct op_diag diag = { "" };

	/* Hidden addresses have been said. */
	if (!kernel->start)
		return;
	if (read_kallsyms(kernel, source->proc, &diag) ||
	    op_ksyms_each_of_modules(&kernel->kallsyms, find_code, &search,
				     &diag))
		op_log(source->client->log,
		       "%s; code that the kernel makes has no names",
		       op_diag_text(&diag, -ENOMEM));
	if (search.nr)
		qsort(search.found, search.nr, sizeof(*search.found),
		      compare_found);
	for (size_t i = 0; i < search.nr; i++)
		put_found_code(kernel, &search, i, words);
	for (size_t i = 0; i < search.nr; i++)
		free(search.found[i].name);
	free(search.found);
}

/* Trust the code that is known: the source reports all code that replaces
 * it. */
static void trust_code(struct opd_live_kernel *kernel)
{
	for (size_t i = 0; i < kernel->nr_code; i++)
		kernel->code[i].name = NAME_TRUSTED;
}

static time_t seconds_now(const struct opd_source *source)
{
	const struct op_clock *clock = source->client->clock ?: &op_clock;

	return clock->seconds();
}

void opd_live_kernel_doubt_code(struct opd_live_kernel *kernel)
{
	for (size_t i = 0; i < kernel->nr_code; i++)
		kernel->code[i].name = NAME_DOUBTED;
}

void opd_live_kernel_find_code(struct opd_live_kernel *kernel,
			       const struct opd_source *source,
			       struct op_stream_words *words)
{
	time_t now = seconds_now(source);
	size_t known = words->nr;

	if (kernel->patience && now - kernel->looked_at < kernel->patience)
		return;
	read_code(kernel, source, words);
	op_kallsyms_release(&kernel->kallsyms);
	if (!kernel->patience || words->nr > known ||
	    now - kernel->looked_at > 2 * MAX_PATIENCE)
		kernel->patience = 1;
	else if (kernel->patience < MAX_PATIENCE)
		kernel->patience *= 2;
	kernel->looked_at = now;
	if (kernel->is_told)
		trust_code(kernel);
}

/* ---- modules that come and go -----------------------------------------------
 */

static bool overlaps(uint64_t start, uint64_t end,
		     const struct opd_live_module *other)
{
	return (start < other->init_end && other->init_start < end) ||
	       (start < other->text_end && other->text_start < end);
}

/* Whether @old has gone: @module is in its place, or has its name. */
static bool is_gone(const struct opd_live_module *old,
		    const struct opd_live_module *module)
{
	return !strcmp(old->name, module->name) ||
	       overlaps(old->init_start, old->init_end, module) ||
	       overlaps(old->text_start, old->text_end, module);
}

void opd_live_kernel_add_module(struct opd_live_kernel *kernel,
				const struct opd_live_module *module)
{
	struct opd_live_module new = *module;
	size_t kept = 0;

	new.is_listed = false;
	new.build_id.len = 0;
	for (size_t i = 0; i < kernel->nr_noticed; i++) {
		const struct opd_live_module *old = &kernel->noticed[i];

		if (!is_gone(old, module))
			kernel->noticed[kept++] = *old;
		else if (!strcmp(old->name, new.name) &&
			 old->text_start == new.text_start)
			new.build_id = old->build_id;
	}
	kernel->nr_noticed = kept;
	if ((new.init_start >= new.init_end &&new.text_start >= new.text_end) ||
	    kept == MAX_NOTICED || op_array_reserve(&kernel->noticed, kept, 1))
		return;
	kernel->noticed[kernel->nr_noticed++] = new;
}

/* ---- all
 * ---------------------------------------------------------------------
 */

void opd_live_kernel_release(struct opd_live_kernel *kernel)
{
	free(kernel->modules);
	free(kernel->code);
	free(kernel->noticed);
	op_kallsyms_release(&kernel->kallsyms);
	memset(kernel, 0, sizeof(*kernel));
}

void opd_live_kernel_record(struct opd_live_kernel *kernel,
			    const struct opd_source *source,
			    struct op_stream_words *words)
{
	struct op_log *log = source->client->log;
	struct table table = { kernel, source->client, words, OP_KERNEL_FIRST };
	struct op_diag diag = { "" };
	char path[PATH_MAX];

	find_kernel(kernel, source->proc, log);
	if (kernel->start < kernel->end)
		add_range(&table, OP_KERNEL_NAME, kernel->start, kernel->end,
			  &kernel->build_id);
	kernel->nr_modules = 0;
	for (size_t i = 0; i < kernel->nr_noticed; i++)
		kernel->noticed[i].is_listed = false;
	snprintf(path, sizeof(path), "%s/modules", source->proc);
	if (opd_proc_modules(path, add_module, &table, &diag))
		op_log(log, "%s; samples in modules have no symbols",
		       diag.text);
	add_noticed(&table);
	if (kernel->nr_modules)
		qsort(kernel->modules, kernel->nr_modules,
		      sizeof(*kernel->modules), compare_live_ranges);
	/* Else the first sample in code that was made is a reason to look, and
	 * records say what is made from now on. */
	if (kernel->kallsyms.text || !kernel->is_told)
		opd_live_kernel_find_code(kernel, source, words);
	op_kallsyms_release(&kernel->kallsyms);
}
