// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A name is walked over once, with the depth of its angle brackets. Outside of
 * these, a space ends what the function returns, "::" ends a namespace, and "("
 * begins the parameters, unless it begins a name, as that of "(anonymous
 * namespace)". What "operator" is followed by is part of the name.
 */

#include "libpp/images/symbol_match.h"

#include "libop/base/op_arena.h"
#include "libpp/images/symbol_names.h"
#include "libpp/report/request.h"

#include <ctype.h>
#include <fnmatch.h>
#include <string.h>

#define OPERATOR "operator"
#define PART_MAX 1024 /* bytes of a part of a name; longer ones match whole */

/* A real name may hold characters that mean something in a pattern. */
static bool matches_text(const char *pattern, const char *text)
{
	return !strcmp(pattern, text) || !fnmatch(pattern, text, 0);
}

static bool matches_part(const char *pattern, const char *from, const char *end)
{
	char part[PART_MAX];
	size_t len = (size_t)(end - from);

	if (!len || len >= sizeof(part))
		return false;
	memcpy(part, from, len);
	part[len] = '\0';
	return matches_text(pattern, part);
}

static bool is_in_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* Behind the bracket that closes the one at @at; the end if there is none. */
static const char *skip_brackets(const char *at, char open, char close)
{
	unsigned int depth = 0;

	for (; *at; at++) {
		if (*at == open)
			depth++;
		else if (*at == close && at[-1] != '-' && !--depth)
			return at + 1;
	}
	return at;
}

/* Behind the sign, or the type, of an operator if its word is at @at in @name,
 * else @at. */
static const char *skip_operator(const char *name, const char *at)
{
	const char *sign = at + sizeof(OPERATOR) - 1;

	if (strncmp(at, OPERATOR, sizeof(OPERATOR) - 1) != 0 ||
	    (at > name && is_in_word(at[-1])) || is_in_word(*sign))
		return at;
	if (!strncmp(sign, "()", 2))
		return sign + 2;
	if (*sign != ' ')
		return sign + strspn(sign, "<>=!+-*/%^&|~[],");
	while (*sign && *sign != '(')
		sign = *sign == '<' ? skip_brackets(sign, '<', '>') : sign + 1;
	return sign;
}

/* @from begins a part of the name that may stand alone and ends at @end, its
 * template arguments, if it has some, begin at @args. */
static bool matches_from(const char *pattern, const char *from,
			 const char *args, const char *end)
{
	return matches_part(pattern, from, end) ||
	       (args && args > from && matches_part(pattern, from, args));
}

/* The parameters of @name, or its end; *@begin = behind what it returns, *@args
 * = its template arguments. */
static const char *find_parameters(const char *name, const char **begin,
				   const char **args)
{
	const char *at = name;

	*begin = name;
	*args = NULL;
	while (*at) {
		const char *next = skip_operator(name, at);

		if (next != at) {
			at = next;
			/* "operator< <int>" */
			if (at[0] == ' ' && at[1] == '<') {
				*args = at;
				at = skip_brackets(at + 1, '<', '>');
			}
		} else if (*at == '<') {
			*args = at;
			at = skip_brackets(at, '<', '>');
		} else if (*at == '(' && at == *begin) {
			at = skip_brackets(at, '(', ')');
		} else if (*at == '(' || *at == '[' ||
			   (at[0] == ' ' && at[1] == '[')) {
			break;
		} else {
			if (*at == ' ')
				*begin = at + 1;
			if (*at == ' ' || *at == ':')
				*args = NULL;
			at++;
		}
	}
	return at;
}

bool pp_symbol_matches(const char *pattern, const char *raw, const char *name)
{
	const char *begin, *args;
	const char *end = find_parameters(name, &begin, &args);

	if (matches_text(pattern, raw) || matches_text(pattern, name) ||
	    matches_from(pattern, begin, args, end))
		return true;
	for (const char *at = begin; at < end; at++) {
		if (*at == '<')
			at = skip_brackets(at, '<', '>') - 1;
		else if (at[0] == ':' && at[1] == ':' &&
			 matches_from(pattern, at + 2, args, end))
			return true;
	}
	return false;
}

static bool is_listed_name(const char *const *list, const char *raw,
			   const char *name)
{
	for (; *list; list++)
		if (pp_symbol_matches(*list, raw, name))
			return true;
	return false;
}

/* Whether @list has the whole name of @raw where @name is a short one. */
static bool is_listed_whole(const char *const *list, const char *raw,
			    const char *name)
{
	struct op_arena arena;
	const char *whole;
	bool is_listed;

	if (!strcmp(raw, name))
		return false;
	op_arena_init(&arena);
	whole = pp_whole_symbol_name(&arena, raw);
	is_listed =
		strcmp(whole, name) != 0 && is_listed_name(list, raw, whole);
	op_arena_release(&arena);
	return is_listed;
}

bool pp_is_wanted(const struct pp_names_request *names, const char *raw,
		  const char *name)
{
	if (names->include && !is_listed_name(names->include, raw, name) &&
	    !is_listed_whole(names->include, raw, name))
		return false;
	return !names->exclude || (!is_listed_name(names->exclude, raw, name) &&
				   !is_listed_whole(names->exclude, raw, name));
}
