// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Names of Java methods as JIT agents of the original profiler wrote them,
 * "Lpackage/Class;method(ARGUMENTS)RETURN", optionally with "~" and a number
 * behind: "RETURN package.Class.method(ARGUMENTS)". A name that does not keep
 * to this grammar is left as it is.
 */

#include "libpp/symbols/demangle_java.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A part of the name, from @at up to @end. */
struct part {
	const char *at;
	const char *end;
};

/* Cut off what is before the first @c; *@rest goes on behind it. */
static bool cut_name_part(const char **rest, char c, struct part *part)
{
	*part = (struct part){ *rest, strchr(*rest, c) };
	if (!part->end || part->end == part->at)
		return false;
	*rest = part->end + 1;
	return true;
}

static void put_java_class(FILE *out, const struct part *class)
{
	for (const char *at = class->at; at < class->end; at++)
		putc(*at == '/' ? '.' : *at, out);
}

static const char *basic_type(char c)
{
	static const char letters[] = "BCDFIJSVZ";
	static const char *const names[] = { "byte",  "char", "double",
					     "float", "int",  "long",
					     "short", "void", "boolean" };
	const char *at = c ? strchr(letters, c) : NULL;

	return at ? names[at - letters] : NULL;
}

/* A type; *@rest goes on behind it. */
static bool put_java_type(FILE *out, const char **rest)
{
	size_t nr_dimensions = strspn(*rest, "[");
	const char *basic;
	struct part class;

	*rest += nr_dimensions;
	basic = basic_type(**rest);
	if (basic) {
		++*rest;
		fputs(basic, out);
	} else {
		if (*(*rest)++ != 'L' || !cut_name_part(rest, ';', &class))
			return false;
		put_java_class(out, &class);
	}
	while (nr_dimensions--)
		fputs("[]", out);
	return true;
}

static bool put_java_parameters(FILE *out, const struct part *parameters)
{
	const char *at = parameters->at;

	while (at < parameters->end) {
		if (at != parameters->at)
			fputs(", ", out);
		if (!put_java_type(out, &at))
			return false;
	}
	return at == parameters->end;
}

/* Parameters may be none, so cut_name_part() does not do for them. */
static bool put_java_method(FILE *out, const char *name)
{
	struct part class, method, parameters;
	const char *rest = name + 1;

	if (!cut_name_part(&rest, ';', &class) ||
	    !cut_name_part(&rest, '(', &method))
		return false;
	parameters = (struct part){ rest, strchr(rest, ')') };
	if (!parameters.end)
		return false;
	rest = parameters.end + 1;
	if (!*rest || !put_java_type(out, &rest) || (*rest && *rest != '~'))
		return false;
	putc(' ', out);
	put_java_class(out, &class);
	fprintf(out, ".%.*s(", (int)(method.end - method.at), method.at);
	if (!put_java_parameters(out, &parameters))
		return false;
	fprintf(out, ")%s", rest);
	return true;
}

char *pp_demangle_java(const char *name)
{
	char *text = NULL;
	size_t len;
	FILE *out;
	bool done;

	if (name[0] != 'L' || !strchr(name, ';'))
		return NULL;
	out = open_memstream(&text, &len);
	if (!out)
		return NULL;
	done = put_java_method(out, name);
	if (!fclose(out) && done)
		return text;
	free(text);
	return NULL;
}
