// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The file format of speedscope, a viewer in a browser, as its JSON schema
 * (https://www.speedscope.app/file-format-schema.json) has it: the frames of
 * all stacks once, and for each event a profile of kind "sampled", that is,
 * stacks as numbers of frames, the outermost first, and how many samples each
 * has. Stacks and samples are two arrays, so the tree is walked twice, and
 * nothing is kept but one stack.
 */

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "libop/base/op_json.h"
#include "libpp/format/format.h"
#include "libpp/format/page.h"

#define SCHEMA "https://www.speedscope.app/file-format-schema.json"

struct speedscope {
	struct op_json json;
	const struct pp_report *report;
	const struct pp_tree *tree;
	uint32_t *stack; /* room for all nodes */
	const struct pp_class *class; /* whose profile is being written */
};

/* The viewer tells frames apart by name and file. Here the file is the image:
 * the viewer colours frames by it and shows it behind the name. */
static void speedscope_write_frames(struct speedscope *s)
{
	struct op_json *json = &s->json;

	op_json_open(json, "shared", '{');
	op_json_open(json, "frames", '[');
	for (uint32_t i = 0; i < s->tree->nr_frames; i++) {
		const struct pp_frame *frame = &s->tree->frames[i];

		op_json_open(json, NULL, '{');
		op_json_text(json, "name", frame->name);
		if (frame->image)
			op_json_text(json, "file", frame->image);
		op_json_close(json, '}');
	}
	op_json_close(json, ']');
	op_json_close(json, '}');
}

static void speedscope_write_stack(struct speedscope *s, uint32_t node)
{
	const struct pp_tree_node *nodes = s->tree->nodes;
	FILE *out = s->json.out;
	uint32_t depth = 0;

	for (; node; node = nodes[node].parent)
		s->stack[depth++] = nodes[node].frame;
	fputc('[', out);
	while (depth--)
		fprintf(out, "%" PRIu32 "%s", s->stack[depth],
			depth ? "," : "");
	fputc(']', out);
}

/* For each node with samples in class @c its stack, or their number. */
static void speedscope_write_nodes(struct speedscope *s, size_t c, bool stacks)
{
	const char *before = "";

	op_json_open(&s->json, stacks ? "samples" : "weights", '[');
	for (uint32_t i = 1; i < s->tree->nr_nodes; i++) {
		uint64_t count = pp_tree_self(s->tree, i)[c];

		if (!count)
			continue;
		fputs(before, s->json.out);
		if (stacks)
			speedscope_write_stack(s, i);
		else
			fprintf(s->json.out, "%" PRIu64, count);
		before = stacks ? ",\n" : ",";
	}
	op_json_close(&s->json, ']');
}

static void speedscope_describe(FILE *out, void *arg)
{
	const struct speedscope *s = arg;

	if (s->class)
		fprintf(out, "%s of ", s->class->name);
	pp_describe_apps(out, s->report);
}

static void speedscope_write_profile(struct speedscope *s, size_t c)
{
	struct op_json *json = &s->json;

	s->class = &s->report->classes.classes[c];
	op_json_open(json, NULL, '{');
	op_json_text(json, "type", "sampled");
	pp_json_description(json, "name", speedscope_describe, s);
	op_json_text(json, "unit", "none");
	op_json_u64(json, "startValue", 0);
	op_json_u64(json, "endValue", pp_tree_all(s->tree, 0)[c]);
	speedscope_write_nodes(s, c, true);
	speedscope_write_nodes(s, c, false);
	op_json_close(json, '}');
}

int pp_format_speedscope(FILE *out, const struct pp_report *report,
			 const struct pp_format_options *options)
{
	struct speedscope s = { .json.out = out,
				.report = report,
				.tree = report->tree };
	struct op_json *json = &s.json;

	(void)options;
	s.stack = calloc(s.tree->nr_nodes, sizeof(*s.stack));
	if (!s.stack)
		return -ENOMEM;
	op_json_open(json, NULL, '{');
	op_json_text(json, "$schema", SCHEMA);
	op_json_text(json, "exporter", "oprofile");
	pp_json_description(json, "name", speedscope_describe, &s);
	op_json_u64(json, "activeProfileIndex", 0);
	speedscope_write_frames(&s);
	op_json_open(json, "profiles", '[');
	for (size_t c = 0; c < report->classes.nr; c++)
		speedscope_write_profile(&s, c);
	op_json_close(json, ']');
	op_json_close(json, '}');
	fputc('\n', out);
	free(s.stack);
	return 0;
}
