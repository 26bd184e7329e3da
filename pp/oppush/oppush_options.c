// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Labels are checked by the stricter one of both servers: keys as Prometheus
 * has them, values without the signs that end one in the names of Pyroscope.
 */

#include "pp/oppush/oppush_options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libop/options/op_arguments.h"
#include "libop/options/op_bad_option.h"
#include "libop/files/op_config.h"

#define EXIT_USAGE 2
#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_"
#define DIGITS "0123456789"
#define DEFAULT_SPOOL "/var/lib/oppush"
#define DEFAULT_INTERVAL_S 60
#define DEFAULT_SPOOL_MIB 64
#define DEFAULT_TIMEOUT_S 30

enum { OPTION_LABEL = 'l' };

poptContext push_parse_options(struct push_args *a, int argc, const char **argv)
{
	char *label = NULL;
	/* clang-format off */
	const struct poptOption table[] = {
		{ "url", 'u', POPT_ARG_STRING, &a->url, 0, "the server, http://... or https://...", "URL" },
		{ "server", 's', POPT_ARG_STRING, &a->server, 0, "the kind of server: pyroscope or parca (default: pyroscope)", "pyroscope|parca" },
		{ "name", 'n', POPT_ARG_STRING, &a->name, 0, "the service that profiles are of (default: oprofile)", "NAME" },
		{ "label", OPTION_LABEL, POPT_ARG_STRING, &label, OPTION_LABEL, "add a label to each profile, several times if need be (host= is there)", "KEY=VALUE" },
		{ "interval", 'i', POPT_ARG_STRING, &a->interval, 0, "send a profile every SECONDS (default: 60)", "SECONDS" },
		{ "once", '\0', POPT_ARG_NONE, &a->once, 0, "make one profile, send all that wait, and end", NULL },
		{ "status", '\0', POPT_ARG_NONE, &a->status, 0, "list the profiles in the spool; push nothing", NULL },
		{ "spool", 'd', POPT_ARG_STRING, &a->spool, 0, "the folder of profiles on their way (default: " DEFAULT_SPOOL ")", "DIR" },
		{ "spool-max", 'm', POPT_ARG_STRING, &a->spool_max, 0, "keep at most MIB MiB there (default: 64)", "MIB" },
		{ "timeout", 't', POPT_ARG_STRING, &a->timeout, 0, "give up a request after SECONDS (default: 30)", "SECONDS" },
		{ "token-file", 'k', POPT_ARG_STRING, &a->token_file, 0, "send the token in FILE, as Authorization: Bearer", "FILE" },
		{ "tenant", '\0', POPT_ARG_STRING, &a->tenant, 0, "the tenant, as X-Scope-OrgID", "ID" },
		{ "ca-file", '\0', POPT_ARG_STRING, &a->ca_file, 0, "trust the certificates in FILE, not the system's", "FILE" },
		{ "insecure", '\0', POPT_ARG_NONE, &a->insecure, 0, "trust any server, and send a token over http://", NULL },
		{ "session-dir", '\0', POPT_ARG_STRING, &a->session_dir, 0, "the session folder", "DIR" },
		{ "version", 'v', POPT_ARG_NONE, &a->version, 0, "show the version", NULL },
		POPT_AUTOHELP
		POPT_TABLEEND
	};
	/* clang-format on */
	struct op_diag diag = { "" };
	poptContext context;
	int rc;

	op_arguments_take_help(argc, argv);
	context = poptGetContext(NULL, argc, argv, table, 0);
	poptSetOtherOptionHelp(context,
			       "--url=URL [OPTION...] [PROFILE SPECIFICATION]");
	while ((rc = poptGetNextOpt(context)) == OPTION_LABEL)
		if (a->nr_labels++ < PUSH_MAX_LABELS)
			a->labels[a->nr_labels - 1] = label;
	if (rc < -1) {
		op_bad_option(&diag, "oppush", table, argv,
			      poptBadOption(context, POPT_BADOPTION_NOALIAS),
			      rc);
		fprintf(stderr, "oppush: %s\n", diag.text);
		poptFreeContext(context);
		exit(EXIT_USAGE);
	}
	return context;
}

/* A whole number from @least to @most; @text NULL: @missing. */
static int parse_push_number(const char *option, const char *text,
			     uint64_t least, uint64_t most, uint64_t missing,
			     uint64_t *value, struct op_diag *diag)
{
	*value = missing;
	if (!text)
		return 0;
	if (op_parse_u64(text, value) || *value < least || *value > most)
		return op_diag_set(diag, -EINVAL,
				   "--%s=%s: give a number from %llu to %llu",
				   option, text, (unsigned long long)least,
				   (unsigned long long)most);
	return 0;
}

/* ---- labels -----------------------------------------------------------------
 */

static bool is_label_key(const char *key)
{
	return *key && !strchr(DIGITS, *key) &&
	       strspn(key, LETTERS DIGITS) == strlen(key);
}

static bool is_label_value(const char *value)
{
	for (const char *c = value; *c; c++)
		if ((unsigned char)*c < 0x20 || *c == 0x7f || strchr(",{}", *c))
			return false;
	return *value;
}

static int add_label(struct push_options *o, char *key, char *value,
		     struct op_diag *diag)
{
	if (!is_label_key(key))
		return op_diag_set(
			diag, -EINVAL,
			"--label: %s is no key; use letters, digits and _, no digit first",
			key);
	if (!is_label_value(value))
		return op_diag_set(
			diag, -EINVAL,
			"--label: the value of %s is empty or has a comma, a brace or a control character; servers accept none of these",
			key);
	for (size_t i = 0; i < o->target.nr_labels; i++)
		if (!strcmp(o->labels[i].key, key))
			return op_diag_set(diag, -EINVAL,
					   "--label: %s is there twice", key);
	o->labels[o->target.nr_labels++] =
		(struct push_label_option){ key, value };
	return 0;
}

static int parse_push_labels(struct push_options *o, struct op_diag *diag)
{
	static char host_key[] = "host";
	bool has_host = false;

	if (o->args.nr_labels > PUSH_MAX_LABELS)
		return op_diag_set(diag, -EINVAL,
				   "--label: at most %d of them, please",
				   PUSH_MAX_LABELS);
	for (size_t i = 0; i < o->args.nr_labels; i++) {
		char *key = (char *)o->args.labels[i];
		char *value = strchr(key, '=');
		int err;

		if (!value)
			return op_diag_set(diag, -EINVAL,
					   "--label=%s: write KEY=VALUE", key);
		*value++ = '\0';
		err = add_label(o, key, value, diag);
		if (err)
			return err;
		has_host |= !strcmp(key, host_key);
	}
	if (has_host || gethostname(o->host, sizeof(o->host) - 1) ||
	    !is_label_value(o->host))
		return 0;
	return add_label(o, host_key, o->host, diag);
}

/* ---- the rest ---------------------------------------------------------------
 */

static int parse_push_server(struct push_options *o, struct op_diag *diag)
{
	const char *server = o->args.server;

	if (!server || !strcmp(server, "pyroscope"))
		o->target.server = PUSH_PYROSCOPE;
	else if (!strcmp(server, "parca"))
		o->target.server = PUSH_PARCA;
	else
		return op_diag_set(diag, -EINVAL,
				   "--server=%s: give pyroscope or parca",
				   server);
	return 0;
}

static int parse_push_texts(struct push_options *o, struct op_diag *diag)
{
	const char *name = o->args.name ?: "oprofile";

	if (!*name || strlen(name) > 200 ||
	    strspn(name, LETTERS DIGITS "-./") != strlen(name))
		return op_diag_set(
			diag, -EINVAL,
			"--name=%s: use letters, digits and the signs _ - . /",
			name);
	if (o->args.tenant &&
	    (!is_label_value(o->args.tenant) || strlen(o->args.tenant) > 200))
		return op_diag_set(diag, -EINVAL,
				   "--tenant=%s: is no name of a tenant",
				   o->args.tenant);
	o->target.name = name;
	o->target.url = o->args.url;
	o->target.tenant = o->args.tenant;
	o->target.token_file = o->args.token_file;
	o->target.ca_file = o->args.ca_file;
	o->target.is_insecure = o->args.insecure;
	o->target.labels = o->labels;
	o->spool = o->args.spool ?: DEFAULT_SPOOL;
	return 0;
}

int push_take_options(struct push_options *o, struct op_diag *diag)
{
	const struct push_args *a = &o->args;
	uint64_t timeout_s, mib;
	int err;

	if (!a->url && !a->status)
		return op_diag_set(
			diag, -EINVAL,
			"no server; name it with --url, as http://localhost:4040");
	err = parse_push_number("interval", a->interval, 1, 86400,
			       DEFAULT_INTERVAL_S, &o->interval_s, diag)
		      ?: parse_push_number("spool-max", a->spool_max, 1,
					  1 << 20, DEFAULT_SPOOL_MIB, &mib,
					  diag)
		      ?: parse_push_number("timeout", a->timeout, 1, 3600,
					  DEFAULT_TIMEOUT_S, &timeout_s, diag)
		      ?: parse_push_server(o, diag)
		      ?: parse_push_texts(o, diag)
		      ?: parse_push_labels(o, diag);
	if (err)
		return err;
	o->spool_max = mib << 20;
	o->target.timeout_ms = (long)timeout_s * 1000;
	return a->status ? 0 : push_target_check(&o->target, diag);
}
