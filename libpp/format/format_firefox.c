// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The processed profile format of the Firefox Profiler, which its page
 * (profiler.firefox.com) loads without a conversion. The format is described in
 * docs-developer/ and src/types/profile.ts of the profiler's source; the
 * version written here is the first where threads share their strings, and the
 * page brings older versions up to date.
 *
 * Each application, process or thread that the call tree keeps apart is a
 * thread there, once for each column. A thread has tables: stacks refer to the
 * stack of their caller and to frames, these to functions, and these to
 * libraries. The nodes of a root are one run of the tree, so a table is a loop
 * over them, and what is kept beside the tree are numbers of its nodes and
 * frames. Samples are sums: a stack is one sample, whose weight is the count.
 * Time runs on by the weight, so that the time line shows as much time as there
 * was; which stack was when is not known.
 */

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "libop/base/op_json.h"
#include "libop/base/op_strings.h"
#include "libpp/format/format.h"
#include "libpp/format/page.h"
#include "libpp/select/sample_list.h"

#define FIREFOX_VERSION 56 /* of the processed format */
#define FIREFOX_GECKO_VERSION 24 /* of what a browser writes; not used then */
#define RESOURCE_LIBRARY 1
#define NONE UINT32_MAX

/* In the order of firefox_write_categories(). */
enum { CATEGORY_OTHER, CATEGORY_USER, CATEGORY_KERNEL };

struct firefox_writer {
	struct op_json json;
	const struct pp_report *report;
	const struct pp_tree *tree;
	struct op_arena arena; /* of strings and libraries */
	struct op_strings strings, libs;
	double interval; /* milliseconds */
	uint32_t *stack_of; /* for each node its number in the thread; NONE */
	uint32_t *frame_of; /* likewise for each frame */
	uint32_t *frames; /* those of the thread */
	uint32_t nr_frames;
	int err;
};

/* A thread: the nodes below @root, from @first to before @end, in @column. */
struct firefox_thread {
	uint32_t root, first, end;
	size_t column;
	uint32_t nr; /* in the profile */
	uint32_t nr_stacks;
	struct op_strings resources; /* images */
};

/* ---- small things -------------------------------------------------------- */

static uint32_t firefox_number(struct firefox_writer *w,
			       struct op_strings *strings, const char *text)
{
	uint32_t number = 0;

	w->err = w->err ?: op_strings_number(strings, text, &number);
	return number;
}

static void firefox_write_null(struct op_json *json, const char *key)
{
	op_json_text(json, key, NULL);
}

/* A column of a table of which all @nr values are the same: -1, 0 or null. */
static void firefox_write_same(struct op_json *json, const char *key,
			       uint32_t nr, const char *value)
{
	op_json_open(json, key, '[');
	for (uint32_t i = 0; i < nr; i++) {
		if (!strcmp(value, "null"))
			firefox_write_null(json, NULL);
		else if (!strcmp(value, "false"))
			op_json_bool(json, NULL, false);
		else
			op_json_i64(json, NULL, strcmp(value, "-1") ? 0 : -1);
	}
	op_json_close(json, ']');
}

static void firefox_write_empty_table(struct op_json *json, const char *key,
				      const char *const *columns)
{
	op_json_open(json, key, '{');
	op_json_u64(json, "length", 0);
	for (; *columns; columns++)
		firefox_write_same(json, *columns, 0, "0");
	op_json_close(json, '}');
}

static const struct pp_frame *frame_in(const struct firefox_writer *w,
				       uint32_t i)
{
	return &w->tree->frames[w->frames[i]];
}

/* ---- the profile --------------------------------------------------------- */

static void firefox_write_category(struct op_json *json, const char *name,
				   const char *color, const char *const *parts)
{
	op_json_open(json, NULL, '{');
	op_json_text(json, "name", name);
	op_json_text(json, "color", color);
	op_json_open(json, "subcategories", '[');
	op_json_text(json, NULL, "Other");
	for (; *parts; parts++)
		op_json_text(json, NULL, *parts);
	op_json_close(json, ']');
	op_json_close(json, '}');
}

static void firefox_write_categories(struct op_json *json)
{
	op_json_open(json, "categories", '[');
	firefox_write_category(json, "Other", "grey",
			       (const char *const[]){ "Stack not whole",
						      "Left out", NULL });
	firefox_write_category(json, "User", "yellow",
			       (const char *const[]){ "Application", "Library",
						      "Made at run time",
						      NULL });
	firefox_write_category(json, "Kernel", "orange",
			       (const char *const[]){ NULL });
	op_json_close(json, ']');
}

/* Category and subcategory of each kind of frames. */
static const struct {
	unsigned int category, part;
} categories_of_kinds[PP_NR_FRAME_KINDS] = {
	[PP_FRAME_ROOT] = { CATEGORY_OTHER, 0 },
	[PP_FRAME_APP] = { CATEGORY_USER, 1 },
	[PP_FRAME_LIBRARY] = { CATEGORY_USER, 2 },
	[PP_FRAME_KERNEL] = { CATEGORY_KERNEL, 0 },
	[PP_FRAME_ANON] = { CATEGORY_USER, 3 },
	[PP_FRAME_GAP] = { CATEGORY_OTHER, 1 },
	[PP_FRAME_CUT] = { CATEGORY_OTHER, 2 },
};

/* A text that a function of libpp/format/format.h writes about an account. */
struct firefox_entry {
	void (*write)(FILE *out, const struct op_ledger *account);
	const struct op_ledger *account;
};

static void firefox_write_value(FILE *out, void *arg)
{
	const struct firefox_entry *entry = arg;

	entry->write(out, entry->account);
}

static void firefox_write_entry(struct op_json *json, const char *label,
				const struct firefox_entry *entry)
{
	op_json_open(json, NULL, '{');
	op_json_text(json, "label", label);
	op_json_text(json, "format", "string");
	pp_json_description(json, "value", firefox_write_value, (void *)entry);
	op_json_close(json, '}');
}

/* The account, where the page tells about the profile. */
static void firefox_write_extra(struct op_json *json,
				const struct op_ledger *account)
{
	op_json_open(json, "extra", '[');
	op_json_open(json, NULL, '{');
	op_json_text(json, "label", "Samples");
	op_json_open(json, "entries", '[');
	firefox_write_entry(json, "Samples",
			    &(struct firefox_entry){ pp_write_account,
						     account });
	if (pp_has_stacks(account))
		firefox_write_entry(json, "Stacks",
				    &(struct firefox_entry){ pp_write_stacks,
							     account });
	op_json_close(json, ']');
	op_json_close(json, '}');
	op_json_close(json, ']');
}

static void firefox_write_meta(struct firefox_writer *w)
{
	const struct pp_report *report = w->report;
	struct op_json *json = &w->json;

	op_json_open(json, "meta", '{');
	op_json_double(json, "interval", w->interval);
	op_json_u64(json, "startTime", 1000 * report->account_written);
	op_json_u64(json, "processType", 0);
	op_json_text(json, "product", "oprofile");
	op_json_text(json, "importedFrom", "oprofile");
	op_json_u64(json, "stackwalk", 1);
	op_json_u64(json, "version", FIREFOX_GECKO_VERSION);
	op_json_u64(json, "preprocessedProfileVersion", FIREFOX_VERSION);
	op_json_text(json, "CPUName", report->cpu.title);
	op_json_bool(json, "symbolicated", true);
	op_json_bool(json, "symbolicationNotSupported", true);
	op_json_bool(json, "usesOnlyOneStackType", true);
	op_json_bool(json, "sourceCodeIsNotOnSearchfox", true);
	op_json_bool(json, "keepProfileThreadOrder", true);
	op_json_open(json, "markerSchema", '[');
	op_json_close(json, ']');
	firefox_write_categories(json);
	if (report->account)
		firefox_write_extra(json, report->account);
	op_json_close(json, '}');
}

static void firefox_write_libs(struct firefox_writer *w)
{
	struct op_json *json = &w->json;

	op_json_open(json, "libs", '[');
	for (size_t i = 0; i < w->libs.nr; i++) {
		const char *path = w->libs.list[i];
		const char *name = pp_base_name(path);

		op_json_open(json, NULL, '{');
		op_json_text(json, "arch", "");
		op_json_text(json, "name", name);
		op_json_text(json, "path", path);
		op_json_text(json, "debugName", name);
		op_json_text(json, "debugPath", path);
		op_json_text(json, "breakpadId", "");
		firefox_write_null(json, "codeId");
		op_json_close(json, '}');
	}
	op_json_close(json, ']');
}

static void firefox_write_shared(struct firefox_writer *w)
{
	struct op_json *json = &w->json;

	op_json_open(json, "shared", '{');
	op_json_open(json, "stringArray", '[');
	for (size_t i = 0; i < w->strings.nr; i++)
		op_json_text(json, NULL, w->strings.list[i]);
	op_json_close(json, ']');
	op_json_close(json, '}');
}

/* ---- tables of a thread -------------------------------------------------- */

static void number_frame(struct firefox_writer *w, uint32_t frame)
{
	if (w->frame_of[frame] != NONE)
		return;
	w->frame_of[frame] = w->nr_frames;
	w->frames[w->nr_frames++] = frame;
}

/* Number the stacks and frames with samples. The root is a frame only where it
 * has samples itself. */
static void number_stacks(struct firefox_writer *w, struct firefox_thread *t)
{
	t->nr_stacks = 0;
	w->stack_of[t->root] = NONE;
	if (pp_tree_self(w->tree, t->root)[t->column]) {
		w->stack_of[t->root] = t->nr_stacks++;
		number_frame(w, w->tree->nodes[t->root].frame);
	}
	for (uint32_t i = t->first; i < t->end; i++) {
		bool has_samples = pp_tree_all(w->tree, i)[t->column];

		w->stack_of[i] = has_samples ? t->nr_stacks++ : NONE;
		if (has_samples)
			number_frame(w, w->tree->nodes[i].frame);
	}
}

/* Call @write for each node of the thread that is a stack. */
static void firefox_write_stack_column(
	struct firefox_writer *w, const struct firefox_thread *t,
	const char *key,
	void (*write)(struct firefox_writer *w, const struct firefox_thread *t,
		      uint32_t node))
{
	op_json_open(&w->json, key, '[');
	if (w->stack_of[t->root] != NONE)
		write(w, t, t->root);
	for (uint32_t i = t->first; i < t->end; i++)
		if (w->stack_of[i] != NONE)
			write(w, t, i);
	op_json_close(&w->json, ']');
}

static void firefox_write_frame_of_stack(struct firefox_writer *w,
					 const struct firefox_thread *t,
					 uint32_t node)
{
	(void)t;
	op_json_u64(&w->json, NULL, w->frame_of[w->tree->nodes[node].frame]);
}

static void firefox_write_prefix(struct firefox_writer *w,
				 const struct firefox_thread *t, uint32_t node)
{
	uint32_t parent = w->tree->nodes[node].parent;

	if (node == t->root || parent == t->root)
		firefox_write_null(&w->json, NULL);
	else
		op_json_u64(&w->json, NULL, w->stack_of[parent]);
}

static void firefox_write_stacks(struct firefox_writer *w,
				 const struct firefox_thread *t)
{
	op_json_open(&w->json, "stackTable", '{');
	op_json_u64(&w->json, "length", t->nr_stacks);
	firefox_write_stack_column(w, t, "frame", firefox_write_frame_of_stack);
	firefox_write_stack_column(w, t, "prefix", firefox_write_prefix);
	op_json_close(&w->json, '}');
}

static uint64_t own_samples(const struct firefox_writer *w,
			    const struct firefox_thread *t, uint32_t node)
{
	return pp_tree_self(w->tree, node)[t->column];
}

static void firefox_write_sample_stack(struct firefox_writer *w,
				       const struct firefox_thread *t,
				       uint32_t node)
{
	if (own_samples(w, t, node))
		op_json_u64(&w->json, NULL, w->stack_of[node]);
}

static void firefox_write_sample_weight(struct firefox_writer *w,
					const struct firefox_thread *t,
					uint32_t node)
{
	if (own_samples(w, t, node))
		op_json_u64(&w->json, NULL, own_samples(w, t, node));
}

/* The first sample of a weight of 3 is at 3 intervals, and so on. */
static void firefox_write_sample_time(struct firefox_writer *w,
				      const struct firefox_thread *t,
				      uint32_t node)
{
	if (own_samples(w, t, node))
		op_json_double(&w->json, NULL,
			       w->interval * (double)own_samples(w, t, node));
}

static void firefox_write_samples(struct firefox_writer *w,
				  const struct firefox_thread *t)
{
	uint64_t nr = own_samples(w, t, t->root) != 0;

	for (uint32_t i = t->first; i < t->end; i++)
		nr += own_samples(w, t, i) != 0;
	op_json_open(&w->json, "samples", '{');
	op_json_u64(&w->json, "length", nr);
	op_json_text(&w->json, "weightType", "samples");
	firefox_write_stack_column(w, t, "stack", firefox_write_sample_stack);
	firefox_write_stack_column(w, t, "weight", firefox_write_sample_weight);
	firefox_write_stack_column(w, t, "timeDeltas",
				   firefox_write_sample_time);
	op_json_close(&w->json, '}');
}

/* A column of a table of which row @i has number @value. */
static void
firefox_write_column(struct firefox_writer *w, struct firefox_thread *t,
		     const char *key, uint32_t nr,
		     int64_t (*value)(struct firefox_writer *w,
				      struct firefox_thread *t, uint32_t i))
{
	op_json_open(&w->json, key, '[');
	for (uint32_t i = 0; i < nr; i++)
		op_json_i64(&w->json, NULL, value(w, t, i));
	op_json_close(&w->json, ']');
}

static int64_t firefox_function(struct firefox_writer *w,
				struct firefox_thread *t, uint32_t i)
{
	(void)w;
	(void)t;
	return i;
}

static int64_t firefox_category(struct firefox_writer *w,
				struct firefox_thread *t, uint32_t i)
{
	(void)t;
	return categories_of_kinds[frame_in(w, i)->kind].category;
}

static int64_t firefox_subcategory(struct firefox_writer *w,
				   struct firefox_thread *t, uint32_t i)
{
	(void)t;
	return categories_of_kinds[frame_in(w, i)->kind].part;
}

static void firefox_write_frames(struct firefox_writer *w,
				 struct firefox_thread *t)
{
	struct op_json *json = &w->json;
	uint32_t nr = w->nr_frames;

	op_json_open(json, "frameTable", '{');
	op_json_u64(json, "length", nr);
	firefox_write_column(w, t, "func", nr, firefox_function);
	firefox_write_column(w, t, "category", nr, firefox_category);
	firefox_write_column(w, t, "subcategory", nr, firefox_subcategory);
	firefox_write_same(json, "address", nr, "-1");
	firefox_write_same(json, "inlineDepth", nr, "0");
	firefox_write_same(json, "nativeSymbol", nr, "null");
	firefox_write_same(json, "innerWindowID", nr, "null");
	firefox_write_same(json, "line", nr, "null");
	firefox_write_same(json, "column", nr, "null");
	op_json_close(json, '}');
}

static int64_t firefox_function_name(struct firefox_writer *w,
				     struct firefox_thread *t, uint32_t i)
{
	(void)t;
	return firefox_number(w, &w->strings, frame_in(w, i)->name);
}

static int64_t firefox_function_resource(struct firefox_writer *w,
					 struct firefox_thread *t, uint32_t i)
{
	const char *image = frame_in(w, i)->image;

	return image ? (int64_t)firefox_number(w, &t->resources, image) : -1;
}

static void firefox_write_functions(struct firefox_writer *w,
				    struct firefox_thread *t)
{
	struct op_json *json = &w->json;
	uint32_t nr = w->nr_frames;

	op_json_open(json, "funcTable", '{');
	op_json_u64(json, "length", nr);
	firefox_write_column(w, t, "name", nr, firefox_function_name);
	firefox_write_column(w, t, "resource", nr, firefox_function_resource);
	firefox_write_same(json, "isJS", nr, "false");
	firefox_write_same(json, "relevantForJS", nr, "false");
	firefox_write_same(json, "fileName", nr, "null");
	firefox_write_same(json, "lineNumber", nr, "null");
	firefox_write_same(json, "columnNumber", nr, "null");
	op_json_close(json, '}');
}

static int64_t firefox_resource_lib(struct firefox_writer *w,
				    struct firefox_thread *t, uint32_t i)
{
	return firefox_number(w, &w->libs, t->resources.list[i]);
}

static int64_t firefox_resource_name(struct firefox_writer *w,
				     struct firefox_thread *t, uint32_t i)
{
	return firefox_number(w, &w->strings,
			      pp_base_name(t->resources.list[i]));
}

static int64_t firefox_resource_type(struct firefox_writer *w,
				     struct firefox_thread *t, uint32_t i)
{
	(void)w;
	(void)t;
	(void)i;
	return RESOURCE_LIBRARY;
}

/* Libraries that functions are in, which have got their numbers there. */
static void firefox_write_resources(struct firefox_writer *w,
				    struct firefox_thread *t)
{
	uint32_t nr = (uint32_t)t->resources.nr;
	struct op_json *json = &w->json;

	op_json_open(json, "resourceTable", '{');
	op_json_u64(json, "length", nr);
	firefox_write_column(w, t, "lib", nr, firefox_resource_lib);
	firefox_write_column(w, t, "name", nr, firefox_resource_name);
	firefox_write_same(json, "host", nr, "null");
	firefox_write_column(w, t, "type", nr, firefox_resource_type);
	op_json_close(json, '}');
}

/* ---- threads ------------------------------------------------------------- */

/* Write the name and the ids of a thread. Applications that are not separated
 * by process have numbers in place of process ids; the format wants different
 * ones. */
static void firefox_write_identity(struct firefox_writer *w,
				   const struct firefox_thread *t)
{
	const struct pp_frame *frame =
		&w->tree->frames[w->tree->nodes[t->root].frame];
	const struct pp_classes *classes = &w->report->classes;
	bool has_tid = frame->is_apart && frame->tid != OP_MANGLE_ALL;
	bool has_tgid = frame->is_apart && frame->tgid != OP_MANGLE_ALL;
	struct op_json *json = &w->json;
	char pid[32], name[512];

	snprintf(pid, sizeof(pid), has_tgid ? "%lld" : "oprofile-%lld",
		 has_tgid ? (long long)frame->tgid : (long long)t->root);
	snprintf(name, sizeof(name), "%s%s%s%s", frame->name,
		 classes->nr > 1 ? " (" : "",
		 classes->nr > 1 ? classes->classes[t->column].name : "",
		 classes->nr > 1 ? ")" : "");
	op_json_text(json, "processType", "default");
	op_json_text(json, "processName",
		     frame->image ? pp_base_name(frame->image) : frame->name);
	op_json_text(json, "name", name);
	op_json_text(json, "pid", pid);
	op_json_i64(json, "tid", has_tid ? frame->tid : (int64_t)t->nr);
	op_json_bool(json, "isMainThread",
		     !has_tid || frame->tid == frame->tgid);
	op_json_u64(json, "processStartupTime", 0);
	firefox_write_null(json, "processShutdownTime");
	op_json_u64(json, "registerTime", 0);
	firefox_write_null(json, "unregisterTime");
	op_json_open(json, "pausedRanges", '[');
	op_json_close(json, ']');
}

static void firefox_write_thread(struct firefox_writer *w,
				 struct firefox_thread *t)
{
	op_strings_init(&t->resources, &w->arena);
	number_stacks(w, t);
	op_json_open(&w->json, NULL, '{');
	firefox_write_identity(w, t);
	firefox_write_samples(w, t);
	firefox_write_stacks(w, t);
	firefox_write_frames(w, t);
	firefox_write_functions(w, t);
	firefox_write_resources(w, t);
	firefox_write_empty_table(&w->json, "nativeSymbols",
				  (const char *const[]){ "libIndex", "address",
							 "name", "functionSize",
							 NULL });
	firefox_write_empty_table(
		&w->json, "markers",
		(const char *const[]){ "data", "name", "startTime", "endTime",
				       "phase", "category", NULL });
	op_json_close(&w->json, '}');
	while (w->nr_frames)
		w->frame_of[w->frames[--w->nr_frames]] = NONE;
	op_strings_release(&t->resources);
}

/* The node behind those below @node. */
static uint32_t end_of_subtree(const struct pp_tree *tree, uint32_t node)
{
	uint32_t end = node + 1;

	while (end < tree->nr_nodes && tree->nodes[end].parent >= node)
		end++;
	return end;
}

static bool has_applications(const struct pp_tree *tree)
{
	for (uint32_t i = 1; i < tree->nr_nodes; i++)
		if (tree->frames[tree->nodes[i].frame].kind == PP_FRAME_ROOT)
			return true;
	return false;
}

/* Without applications the root of the tree is the only thread. */
static void firefox_write_threads(struct firefox_writer *w)
{
	const struct pp_tree *tree = w->tree;
	uint32_t root = has_applications(tree), nr = 0, end;

	op_json_open(&w->json, "threads", '[');
	for (; root < tree->nr_nodes && !w->err; root = end) {
		end = end_of_subtree(tree, root);
		for (size_t c = 0; c < tree->nr_columns && !w->err; c++) {
			struct firefox_thread thread = {
				.root = root,
				.first = root + 1,
				.end = end,
				.column = c,
				.nr = nr,
			};

			if (!pp_tree_all(tree, root)[c])
				continue;
			firefox_write_thread(w, &thread);
			nr++;
		}
	}
	op_json_close(&w->json, ']');
}

int pp_format_firefox(FILE *out, const struct pp_report *report,
		      const struct pp_format_options *options)
{
	const struct pp_tree *tree = report->tree;
	struct firefox_writer w = {
		.json.out = out,
		.report = report,
		.tree = tree,
		.interval = report->cpu.timer_hz ? 1000.0 / report->cpu.timer_hz
						 : 1,
		.stack_of = calloc(tree->nr_nodes, sizeof(uint32_t)),
		.frame_of = calloc(tree->nr_frames, sizeof(uint32_t)),
		.frames = calloc(tree->nr_frames, sizeof(uint32_t)),
	};

	(void)options;
	op_arena_init(&w.arena);
	op_strings_init(&w.strings, &w.arena);
	op_strings_init(&w.libs, &w.arena);
	if (!w.stack_of || !w.frame_of || !w.frames)
		w.err = -ENOMEM;
	for (uint32_t i = 0; !w.err && i < tree->nr_frames; i++)
		w.frame_of[i] = NONE;
	if (!w.err) {
		op_json_open(&w.json, NULL, '{');
		firefox_write_meta(&w);
		firefox_write_threads(&w);
		firefox_write_libs(&w);
		firefox_write_shared(&w);
		op_json_close(&w.json, '}');
		fputc('\n', out);
	}
	op_strings_release(&w.strings);
	op_strings_release(&w.libs);
	op_arena_release(&w.arena);
	free(w.stack_of);
	free(w.frame_of);
	free(w.frames);
	return w.err;
}
