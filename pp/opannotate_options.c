// SPDX-License-Identifier: GPL-2.0-or-later
/* From opannotate's command line to a request. */

#include "pp/opannotate_options.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pp/options.h"

/* ---- what goes together -------------------------------------------------- */

static int refuse_options(struct op_diag *diag, const char *why)
{
	return op_diag_set(diag, -EINVAL, "%s", why);
}

static int check_opannotate_args(const struct opannotate_args *a,
				 struct op_diag *diag)
{
	if (!a->source && !a->assembly)
		return refuse_options(
			diag, "nothing to show; add --source or --assembly");
	if (a->assembly && a->output_dir)
		return refuse_options(
			diag,
			"--output-dir is for source files; leave out --assembly");
	if (!a->assembly && a->objdump_params)
		return refuse_options(
			diag,
			"--objdump-params is about instructions; add --assembly");
	if (a->base_dirs && !a->search_dirs)
		return refuse_options(
			diag,
			"--base-dirs changes where to look in --search-dirs; add that");
	return 0;
}

/* ---- objdump ------------------------------------------------------------- */

/* The value of an option that @word is or starts with: behind it, or the next
 * word, which is then used up. NULL if it is another option. */
static const char *value_of_param(const char *word, const char *const **words,
				  const char *option)
{
	size_t len = strlen(option);

	if (strncmp(word, option, len))
		return NULL;
	word += len;
	if (*word || (*words)[1] == NULL)
		return *word == '=' ? word + 1 : word;
	return *++*words;
}

/* Several of these add up, as with objdump. */
static int add_machine(struct opannotate_options *o, const char *value)
{
	struct op_disasm_options *disasm = &o->listing.disasm;

	disasm->machine = disasm->machine
				  ? op_arena_printf(&o->arena, "%s,%s",
						    disasm->machine, value)
				  : value;
	return disasm->machine ? 0 : -ENOMEM;
}

/* What is as it is without them, or what both stand for. */
static bool changes_nothing(const char *word)
{
	static const char *const words[] = {
		"-d", "--disassemble",	      "--no-show-raw-insn",
		"-z", "--disassemble-zeroes",
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (!strcmp(word, words[i]))
			return true;
	return false;
}

static bool take_objdump_flag(struct opannotate_options *o, const char *word)
{
	struct opannotate_listing *l = &o->listing;

	if (!strcmp(word, "-l") || !strcmp(word, "--line-numbers"))
		l->with_lines = true;
	else if (!strcmp(word, "-S") || !strcmp(word, "--source"))
		o->args.source = 1;
	else if (!strcmp(word, "-C") || !strncmp(word, "--demangle", 10))
		l->disasm.demangle = true;
	else if (!strcmp(word, "--show-raw-insn"))
		l->with_bytes = true;
	else if (!strcmp(word, "-w") || !strcmp(word, "--wide"))
		l->wide = true;
	else if (!strcmp(word, "--no-addresses"))
		l->no_addresses = true;
	else
		return changes_nothing(word);
	return true;
}

static int take_objdump_param(struct opannotate_options *o,
			      const char *const **words, struct op_diag *diag)
{
	const char *word = **words;
	const char *machine = value_of_param(word, words, "-M");

	if (!machine)
		machine = value_of_param(word, words, "--disassembler-options");
	if (machine)
		return add_machine(o, machine);
	if (take_objdump_flag(o, word))
		return 0;
	return op_diag_set(
		diag, -EINVAL,
		"--objdump-params: %s: not known here; use -M OPTIONS, -C, -l, -S, --show-raw-insn or --no-addresses",
		word);
}

/* The words of @text; NULL when memory is short. */
static const char *const *split_blanks(struct op_arena *arena, const char *text)
{
	char *copy = op_arena_strdup(arena, text), *save = NULL;
	const char **words = NULL;
	size_t nr = 0;

	for (char *word = copy ? strtok_r(copy, " \t", &save) : NULL;; nr++) {
		words = op_arena_grow(arena, words, nr, sizeof(*words));
		if (!words || !copy)
			return NULL;
		words[nr] = word;
		if (!word)
			return words;
		word = strtok_r(NULL, " \t", &save);
	}
}

static int take_objdump_params(struct opannotate_options *o,
			       struct op_diag *diag)
{
	const char *const *words;
	int err = 0;

	if (!o->args.objdump_params)
		return 0;
	words = split_blanks(&o->arena, o->args.objdump_params);
	if (!words)
		return -ENOMEM;
	o->params = pp_join_words(&o->arena, words, " ", *words ? " " : "");
	for (; *words && !err; words++)
		err = take_objdump_param(o, &words, diag);
	return err || o->params ? err : -ENOMEM;
}

/* ---- all of it ----------------------------------------------------------- */

/* "/" would write over the sources. */
static int take_output_dir(struct opannotate_options *o, struct op_diag *diag)
{
	char real[PATH_MAX];
	char *dir = o->args.output_dir;

	if (!dir)
		return 0;
	if (realpath(dir, real))
		o->output_dir = op_arena_strdup(&o->arena, real);
	else if (errno != ENOENT)
		return op_diag_set(diag, -EINVAL, "--output-dir=%s: %s", dir,
				   strerror(errno));
	else if (*dir == '/')
		o->output_dir = dir;
	else if (getcwd(real, sizeof(real)))
		o->output_dir = op_arena_printf(&o->arena, "%s/%s", real, dir);
	if (!o->output_dir)
		return -ENOMEM;
	if (!strcmp(o->output_dir, "/"))
		return refuse_options(
			diag,
			"--output-dir=/: that would write over the source files; choose another folder");
	return 0;
}

static int take_color(struct opannotate_options *o, struct op_diag *diag)
{
	const char *when = o->args.color ? o->args.color : "auto";
	const char *no_color = getenv("NO_COLOR");

	if (!strcmp(when, "auto"))
		o->color = isatty(STDOUT_FILENO) && !o->output_dir &&
			   !(no_color && *no_color);
	else if (!strcmp(when, "always"))
		o->color = true;
	else if (strcmp(when, "never"))
		return op_diag_set(
			diag, -EINVAL,
			"--color=%s: unknown; use auto, always or never", when);
	return 0;
}

static int take_lists(struct opannotate_options *o)
{
	const struct opannotate_args *a = &o->args;
	struct op_arena *arena = &o->arena;
	int err = pp_take_list(arena, a->include, &o->request.include_symbols);

	if (!err)
		err = pp_take_list(arena, a->exclude,
				   &o->request.exclude_symbols);
	if (!err)
		err = pp_take_list(arena, a->search_dirs, &o->search_dirs);
	if (!err)
		err = pp_take_list(arena, a->base_dirs, &o->base_dirs);
	if (!err)
		err = pp_take_list(arena, a->include_file, &o->include_files);
	if (!err)
		err = pp_take_list(arena, a->exclude_file, &o->exclude_files);
	return err;
}

static int take_annotation_values(struct opannotate_options *o,
				  struct op_diag *diag)
{
	const struct opannotate_args *a = &o->args;
	int err =
		pp_take_percent("threshold", a->threshold, &o->threshold, diag);

	/* A line is the same line whoever ran it. */
	o->request.merge = PP_MERGE_SESSION | PP_MERGE_LIB;
	if (!err)
		err = pp_take_merge(&o->arena, a->merge, &o->request.merge,
				    diag);
	if (!err)
		err = pp_take_common(&o->arena, &a->common, &o->verbose,
				     &o->request.image_path, diag);
	if (!err)
		err = pp_take_demangle(a->demangle, &o->request.demangle, diag);
	if (!err)
		err = pp_sort_init(&o->request.sort, NULL, diag);
	return err;
}

static int take_command_line(struct opannotate_options *o,
			     const char *const *argv)
{
	const char *words = pp_join_words(&o->arena, argv + 1, " ", " ");

	if (words)
		o->command = op_arena_printf(&o->arena, "opannotate %s", words);
	return o->command ? 0 : -ENOMEM;
}

static void make_request(struct opannotate_options *o)
{
	struct pp_request *request = &o->request;

	request->symbols = true;
	request->details = true;
	request->lines = o->args.source || o->listing.with_lines;
	request->exclude_dependent = o->args.exclude_dependent;
	request->root = o->args.common.root;
	/* Of source files it is the files that have to reach it. */
	request->threshold = o->args.assembly ? o->threshold : 0;
}

int opannotate_take_options(struct opannotate_options *o,
			    const char *const *argv, struct op_diag *diag)
{
	int err;

	op_arena_init(&o->arena);
	o->args.source |= o->args.both;
	o->args.assembly |= o->args.both;
	err = check_opannotate_args(&o->args, diag);
	if (!err)
		err = take_objdump_params(o, diag);
	if (!err)
		err = take_output_dir(o, diag);
	if (!err)
		err = take_color(o, diag);
	if (!err)
		err = take_annotation_values(o, diag);
	if (!err)
		err = take_lists(o);
	if (!err)
		err = take_command_line(o, argv);
	make_request(o);
	return err;
}

int opannotate_take_words(struct opannotate_options *o,
			  const char *const *words, struct op_diag *diag)
{
	int err = pp_spec_pair_init(&o->spec, words, diag);

	o->request.spec = &o->spec.spec;
	if (!err && o->spec.is_diff)
		return refuse_options(
			diag,
			"two profiles cannot be shown side by side; leave out the braces");
	return err;
}

void opannotate_release_options(struct opannotate_options *o)
{
	pp_spec_pair_release(&o->spec);
	op_arena_release(&o->arena);
}
