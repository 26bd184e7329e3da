// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The words of opannotate's --objdump-params. opannotate disassembles itself
 * and runs no objdump, but scripts of the original profiler hand such words on.
 * They have the effect that they have there; where samples decide what is
 * shown, or the file, a word is refused with the reason and what does its work
 * here.
 */

#include "pp/opannotate/opannotate_objdump.h"

#include <errno.h>
#include <string.h>

#include "pp/options.h"

/* ---- what has an effect ---------------------------------------------------
 */

/* Flags without effect say what opannotate does anyway. */
static bool parse_objdump_flag(struct opannotate_options *o, const char *word)
{
	static const char *const without_effect[] = {
		"-d",
		"--disassemble",
		"--no-show-raw-insn",
		"-z",
		"--disassemble-zeroes",
		"--recurse-limit",
		"--no-recurse-limit",
	};
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
		for (size_t i = 0;; i++) {
			if (i ==
			    sizeof(without_effect) / sizeof(*without_effect))
				return false;
			if (!strcmp(word, without_effect[i]))
				break;
		}
	return true;
}

/* Whether @word is several letters in one, "-lS": each of them is taken. */
static bool parse_objdump_letters(struct opannotate_options *o,
				  const char *word)
{
	static const char known[] = "lSCwdz";

	if (word[0] != '-' || !word[1] ||
	    word[1 + strspn(word + 1, known)] != '\0')
		return false;
	for (const char *at = word + 1; *at; at++)
		parse_objdump_flag(o, (char[]){ '-', *at, '\0' });
	return true;
}

/* ---- what has none --------------------------------------------------------
 */

static const char by_samples[] =
	"the samples decide which functions are shown; name some by --include-symbols";
static const char by_file[] =
	"each file says for which machine its code is; leave this out";
static const char by_source[] =
	"sources are looked for in the folders of --search-dirs, and --base-dirs are cut off their names";
static const char not_code[] =
	"this is not about code; run objdump for the rest of the file";
static const char not_printed[] =
	"instructions are printed in one way here, with address, name and text; run objdump for another";

/* clang-format off */
static const struct refused_param {
	const char *word; /* what follows it is its value */
	const char *reason;
} refused_params[] = {
	{ "-j", by_samples }, { "--section", by_samples },
	{ "-D", by_samples }, { "--disassemble-all", by_samples },
	{ "--disassemble=", by_samples },
	{ "--start-address", by_samples }, { "--stop-address", by_samples },
	{ "--adjust-vma", by_samples },
	{ "-m", by_file }, { "--architecture", by_file },
	{ "-b", by_file }, { "--target", by_file },
	{ "-EB", by_file }, { "-EL", by_file }, { "--endian", by_file },
	{ "-I", by_source }, { "--include", by_source },
	{ "--prefix=", by_source }, { "--prefix-strip", by_source },
	{ "--source-comment", not_printed }, { "--prefix-addresses", not_printed },
	{ "--insn-width", not_printed }, { "--visualize-jumps", not_printed },
	{ "-F", not_printed }, { "--file-offsets", not_printed },
	{ "--file-start-context", not_printed },
	{ "--special-syms", not_printed }, { "--disassembler-color", not_printed },
	{ "--inlines", "inlined functions are named where their code begins, but not with --all; leave this out" },
	{ "-r", not_code }, { "--reloc", not_code },
	{ "-R", not_code }, { "--dynamic-reloc", not_code },
	{ "-a", not_code }, { "--archive-headers", not_code },
	{ "-f", not_code }, { "--file-headers", not_code },
	{ "-h", not_code }, { "--headers", not_code }, { "--section-headers", not_code },
	{ "-p", not_code }, { "--private-headers", not_code },
	{ "-P", not_code }, { "--private", not_code },
	{ "-x", not_code }, { "--all-headers", not_code },
	{ "-s", not_code }, { "--full-contents", not_code },
	{ "-t", not_code }, { "--syms", not_code },
	{ "-T", not_code }, { "--dynamic-syms", not_code },
	{ "-g", not_code }, { "--debugging", not_code },
	{ "-e", not_code }, { "--debugging-tags", not_code },
	{ "-G", not_code }, { "--stabs", not_code },
	{ "-W", not_code }, { "--dwarf", not_code }, { "--ctf", not_code },
	{ "-i", not_code }, { "--info", not_code },
	{ "--dwarf-", not_code }, { "--ctf-", not_code }, { "--sframe", not_code },
	{ "-L", not_code }, { "--process-links", not_code },
	{ "--show-all-symbols", not_printed },
	{ "-U", not_printed }, { "--unicode", not_printed },
	{ "-v", not_code }, { "--version", not_code },
	{ "-H", not_code }, { "--help", not_code },
};
/* clang-format on */

/* A letter may have its value behind it, "-j.text"; a name has it behind '='.
 */
static bool is_param(const char *word, const char *param)
{
	size_t len = strlen(param);

	if (strncmp(word, param, len))
		return false;
	return !word[len] || word[len] == '=' || strchr("=-", param[len - 1]) ||
	       (len == 2 && strchr("jmbIPUW", param[1]));
}

static int refuse_param(const char *word, struct op_diag *diag)
{
	for (size_t i = 0;
	     i < sizeof(refused_params) / sizeof(refused_params[0]); i++)
		if (is_param(word, refused_params[i].word))
			return op_diag_set(diag, -EINVAL,
					   "--objdump-params: %s: %s", word,
					   refused_params[i].reason);
	return op_diag_set(
		diag, -EINVAL,
		"--objdump-params: %s: not known here; use -M OPTIONS, -C, -l, -S, --show-raw-insn or --no-addresses",
		word);
}

/* ---- all words ------------------------------------------------------------
 */

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

/* Several -M add up, as with objdump. */
static int parse_objdump_param(struct opannotate_options *o,
			       const char *const **words, struct op_diag *diag)
{
	struct op_disasm_options *disasm = &o->listing.disasm;
	const char *word = **words;
	const char *machine =
		value_of_param(word, words, "-M")
			?: value_of_param(word, words,
					  "--disassembler-options");

	if (machine) {
		disasm->machine =
			disasm->machine
				? op_arena_printf(&o->arena, "%s,%s",
						  disasm->machine, machine)
				: machine;
		return disasm->machine ? 0 : -ENOMEM;
	}
	if (parse_objdump_flag(o, word) || parse_objdump_letters(o, word))
		return 0;
	return refuse_param(word, diag);
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

int opannotate_take_objdump_params(struct opannotate_options *o,
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
		err = parse_objdump_param(o, &words, diag);
	return err || o->params ? err : -ENOMEM;
}
