// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The format of pprof: profile.proto, compressed. A frame of the call tree is a
 * function, and with what was inlined there a location, which has a line for
 * each function, the innermost first. Addresses are those of the binaries, so
 * that files of several sessions and machines can be added up; mappings begin
 * at 0. The root of a stack, its application and task, is no location but the
 * labels of its samples.
 *
 * Nodes come in the order of a walk, parents first. A node has a location,
 * found or made when the node is come to, and its sample is written there; what
 * the sample refers to is written before it or behind, which makes no
 * difference.
 */

#include <errno.h>
#include <stdlib.h>

#include "libpp/format/page.h"
#include "libpp/format/pprof.h"

#define MAX_LABELS 8

/* ---- samples ------------------------------------------------------------- */

/* The locations from @node out, in w->stack. Returns how many. A sample of
 * which the application alone is known is in a function called so. */
static size_t pprof_find_stack(struct pprof *w, uint32_t node)
{
	const struct pp_tree_node *nodes = w->tree->nodes;
	size_t depth = 0;

	if (pprof_is_root(w, node)) {
		w->stack[0] =
			(uint64_t)pprof_locate(w, nodes[node].frame, 0) + 1;
		return 1;
	}
	for (uint32_t at = node; !pprof_is_root(w, at); at = nodes[at].parent) {
		w->stack[depth++] = (uint64_t)w->location_of[at] + 1;
		while (nodes[at].is_inlined &&
		       !pprof_is_root(w, nodes[at].parent))
			at = nodes[at].parent;
	}
	return depth;
}

struct pprof_labels {
	Pprof__Label all[MAX_LABELS], *pointers[MAX_LABELS];
	size_t nr;
};

static void pprof_label(struct pprof *w, struct pprof_labels *labels,
			const char *key, const char *text)
{
	Pprof__Label *label = &labels->all[labels->nr];

	if (!text)
		return;
	pprof__label__init(label);
	label->key = pprof_stream_string(&w->s, key);
	label->str = pprof_stream_string(&w->s, text);
	labels->pointers[labels->nr++] = label;
}

static void pprof_label_id(struct pprof *w, struct pprof_labels *labels,
			   const char *key, int64_t id)
{
	Pprof__Label *label = &labels->all[labels->nr];

	if (id == OP_MANGLE_ALL)
		return;
	pprof__label__init(label);
	label->key = pprof_stream_string(&w->s, key);
	label->num = id;
	labels->pointers[labels->nr++] = label;
}

/* Fill @labels with what the root of the stack at @node and @class say of its
 * samples. */
static void pprof_find_labels(struct pprof *w, struct pprof_labels *labels,
			      uint32_t node, const struct pp_class *class)
{
	const struct pp_frame *root;

	while (!pprof_is_root(w, node))
		node = w->tree->nodes[node].parent;
	root = &w->tree->frames[w->tree->nodes[node].frame];
	labels->nr = 0;
	if (node)
		pprof_label(w, labels, "application", root->image);
	if (root->is_apart) {
		pprof_label_id(w, labels, "tgid", root->tgid);
		pprof_label_id(w, labels, "tid", root->tid);
		pprof_label(w, labels, "process", root->process);
		pprof_label(w, labels, "thread", root->thread);
	}
	if (root->cgroup)
		pprof_label(w, labels, "cgroup",
			    *root->cgroup ? root->cgroup : "unknown");
	pprof_label(w, labels, pp_session_axis(&w->report->classes),
		    class->session);
}

static void pprof_put_sample(struct pprof *w, uint32_t node,
			     const struct pp_class *class)
{
	Pprof__Profile piece = PPROF__PROFILE__INIT;
	Pprof__Sample sample = PPROF__SAMPLE__INIT, *samples = &sample;
	struct pprof_labels labels;

	pprof_find_labels(w, &labels, node, class);
	sample.n_location_id = pprof_find_stack(w, node);
	sample.location_id = w->stack;
	sample.n_value = w->nr_values;
	sample.value = w->values;
	sample.n_label = labels.nr;
	sample.label = labels.pointers;
	piece.n_sample = 1;
	piece.sample = &samples;
	pprof_stream_put(&w->s, &piece);
}

/* Write a sample for each session that has a column of its own; classes are in
 * the order of their sessions. */
static void pprof_put_node(struct pprof *w, uint32_t node)
{
	const struct pp_classes *classes = &w->report->classes;
	const uint64_t *counts = pp_tree_self(w->tree, node);

	pprof_locate_node(w, node);
	for (size_t c = 0; c < classes->nr && !w->s.err; c++) {
		const struct pp_class *class = &classes->classes[c];

		if ((!c || pp_compare_sessions(class - 1, class)) &&
		    pprof_find_values(w, counts, c))
			pprof_put_sample(w, node, class);
	}
}

/* ---- comments ------------------------------------------------------------ */

static void pprof_put_comment(struct pprof *w,
			      void (*write)(FILE *out, const struct pprof *w))
{
	Pprof__Profile piece = PPROF__PROFILE__INIT;
	char *text = NULL, *kept = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);
	int64_t number;

	if (out) {
		write(out, w);
		fclose(out);
		kept = op_arena_strdup(&w->s.arena, text ?: "");
	}
	free(text);
	if (!kept)
		w->s.err = -ENOMEM;
	number = pprof_stream_string(&w->s, kept);
	piece.n_comment = number != 0;
	piece.comment = &number;
	pprof_stream_put(&w->s, &piece);
}

static void pprof_tell_profile(FILE *out, const struct pprof *w)
{
	pp_describe_profile(out, w->report, w->options);
}

static void pprof_tell_account(FILE *out, const struct pprof *w)
{
	if (!w->report->account)
		return;
	fputs("Samples: ", out);
	pp_write_account(out, w->report->account);
}

static void pprof_tell_stacks(FILE *out, const struct pprof *w)
{
	if (!w->report->account || !pp_has_stacks(w->report->account))
		return;
	fputs("Stacks: ", out);
	pp_write_stacks(out, w->report->account);
}

static void pprof_tell_unread(FILE *out, const struct pprof *w)
{
	size_t nr = w->report->messages.nr_unread;

	if (nr)
		fprintf(out, "Not shown: %zu sample file%s could not be read",
			nr, nr > 1 ? "s" : "");
}

/* ---- all of it ----------------------------------------------------------- */

static int pprof_init(struct pprof *w)
{
	size_t nr_classes = w->report->classes.nr;
	int err = pp_frame_images_init(&w->images, w->tree);

	w->has_function = calloc(w->tree->nr_frames, sizeof(bool));
	w->mappings = calloc((size_t)w->images.nr + 1, sizeof(*w->mappings));
	w->location_of = calloc(w->tree->nr_nodes, sizeof(*w->location_of));
	w->stack = calloc(w->tree->nr_nodes, sizeof(*w->stack));
	w->events = calloc(nr_classes, sizeof(*w->events));
	w->event_of = calloc(nr_classes, sizeof(*w->event_of));
	w->values = calloc(2 * nr_classes, sizeof(*w->values));
	if (err || !w->has_function || !w->mappings || !w->location_of ||
	    !w->stack || !w->events || !w->event_of || !w->values)
		return -ENOMEM;
	return 0;
}

static void pprof_release(struct pprof *w)
{
	pp_frame_images_release(&w->images);
	free(w->has_function);
	free(w->mappings);
	free(w->location_of);
	free(w->stack);
	free(w->events);
	free(w->event_of);
	free(w->values);
	free(w->locations);
	op_hash_release(&w->index);
}

int pp_format_pprof(FILE *out, const struct pp_report *report,
		    const struct pp_format_options *options)
{
	struct pprof w = { .report = report,
			   .tree = report->tree,
			   .options = options };
	int err;

	pprof_stream_begin(&w.s, out);
	w.s.err = w.s.err ?: pprof_init(&w);
	if (!w.s.err) {
		pprof_find_events(&w);
		pprof_put_types(&w);
		pprof_put_comment(&w, pprof_tell_profile);
		pprof_put_comment(&w, pprof_tell_account);
		pprof_put_comment(&w, pprof_tell_stacks);
		pprof_put_comment(&w, pprof_tell_unread);
		pprof_put_mappings(&w);
	}
	for (uint32_t i = 0; i < w.tree->nr_nodes && !w.s.err; i++)
		pprof_put_node(&w, i);
	err = pprof_stream_end(&w.s);
	pprof_release(&w);
	return err;
}
