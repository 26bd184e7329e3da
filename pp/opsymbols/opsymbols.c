// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * opsymbols keeps what reports need of the images of a session in the store of
 * the session folder, for the time when the files are gone. operf starts it
 * when a session ends. It is a program of its own because symbols are read by
 * libpp, which neither the daemon nor the programs that control it include:
 * these run with the rights to profile a machine, and libbfd reads files that
 * anybody may have made.
 */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "libop/files/op_config.h"
#include "libpp/images/symbol_store.h"
#include "pp/options.h"

struct opsymbols {
	struct pp_common_args args;
	char *store, *without; /* as popt leaves them */
	struct op_session session;
	struct pp_spec spec;
	struct op_arena arena;
	struct pp_messages messages;
	struct pp_store_request request;
	unsigned int verbose; /* bits 1 << PP_REMARK_... */
};

static poptContext opsymbols_parse(struct opsymbols *o, int argc,
				   const char **argv)
{
	struct pp_common_args *a = &o->args;
	/* clang-format off */
	const struct poptOption table[] = {
		{ "symbol-store", '\0', POPT_ARG_STRING, &o->store, 0, "keep at most MIB MiB (default 256)", "MIB" },
		{ "no-symbols", '\0', POPT_ARG_STRING, &o->without, 0, "keep nothing of files that match", "PATTERNS" },
		{ "session-dir", '\0', POPT_ARG_STRING, &a->session_dir, 0, "the session folder", "DIR" },
		{ "verbose", 'V', POPT_ARG_NONE, NULL, 'V', "list the symbols that are kept, skipped and removed", NULL },
		{ "version", 'v', POPT_ARG_NONE, &a->version, 0, "show the version", NULL },
		POPT_AUTOHELP
		POPT_TABLEEND
	};
	/* clang-format on */

	return pp_parse_options("opsymbols",
				"[OPTION...] [PROFILE SPECIFICATION]", table, a,
				argc, argv);
}

/* Returns -EINVAL with the reason in @diag for a mistake of the caller. */
static int parse_opsymbols_options(struct opsymbols *o, struct op_diag *diag)
{
	uint64_t mib = OP_STORE_DEFAULT;

	if (o->store && (op_parse_u64(o->store, &mib) || mib > OP_STORE_MAX))
		return op_diag_set(
			diag, -EINVAL,
			"--symbol-store=%s: not a number of MiB; give one from 1 to %d, or 0 to keep nothing",
			o->store, OP_STORE_MAX);
	o->request.max = mib << 20;
	return pp_take_verbose(&o->arena, o->args.is_verbose, NULL, &o->verbose,
			       diag)
		       ?: pp_take_list(&o->arena, o->without,
				       &o->request.without);
}

static int keep_symbols(struct opsymbols *o, const char *const *words,
			struct op_diag *diag)
{
	int err = op_session_init(&o->session, o->args.session_dir, diag)
			  ?: pp_spec_init(&o->spec, words, diag);

	if (err)
		return err;
	o->request.session = &o->session;
	o->request.spec = &o->spec;
	err = pp_store_symbols(&o->request, &o->messages, diag);
	pp_print_messages(stderr, "opsymbols", &o->messages, o->verbose);
	return err ?: pp_check_complete(&o->messages, diag);
}

int main(int argc, char **argv)
{
	static struct opsymbols o;
	struct op_diag diag = { 0 };
	poptContext context;
	int status = 0;

	op_arena_init(&o.arena);
	o.messages.arena = &o.arena;
	context = opsymbols_parse(&o, argc, (const char **)argv);
	if (parse_opsymbols_options(&o, &diag))
		status = EXIT_USAGE;
	else if (o.request.max && keep_symbols(&o, poptGetArgs(context), &diag))
		status = 1;
	if (status)
		fprintf(stderr, "opsymbols: %s\n",
			op_diag_text(&diag, -ENOMEM));
	pp_spec_release(&o.spec);
	op_arena_release(&o.arena);
	poptFreeContext(context);
	return status;
}
