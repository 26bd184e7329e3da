// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Names of C++, Rust and Java as people write them. "Smart" names leave out
 * what the standard library adds: its inline namespaces, the long forms of
 * string and stream, and template arguments that are the default where they
 * are the last, which may make another argument the last; so dropping goes on
 * until nothing changes.
 */

#include "libpp/symbols/demangle.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <libiberty/demangle.h>

#include "libpp/symbols/demangle_java.h"

/* ---- smart --------------------------------------------------------------- */

/* Written otherwise, in this order. */
static const struct {
	const char *from, *to;
} rewrites[] = {
	{ "std::__cxx11::", "std::" },
	{ "std::__1::", "std::" },
	{ "std::basic_string<char, std::char_traits<char>, std::allocator<char> >",
	  "std::string" },
	{ "std::basic_string<wchar_t, std::char_traits<wchar_t>, std::allocator<wchar_t> >",
	  "std::wstring" },
	{ "std::basic_ostream<char, std::char_traits<char> >", "std::ostream" },
	{ "std::basic_istream<char, std::char_traits<char> >", "std::istream" },
	{ "std::basic_iostream<char, std::char_traits<char> >",
	  "std::iostream" },
};

/* Arguments of templates that are nearly always the default. */
static const char *const defaults[] = {
	", std::allocator<", ", std::char_traits<", ", std::less<",
	", std::equal_to<",  ", std::hash<",	    ", std::default_delete<",
};

static void rewrite(char *text, const char *from, const char *to)
{
	size_t from_len = strlen(from), to_len = strlen(to);
	char *at;

	for (at = text; (at = strstr(at, from)); at += to_len) {
		memmove(at + to_len, at + from_len, strlen(at + from_len) + 1);
		memcpy(at, to, to_len);
	}
}

/* Behind the '>' that ends what the text before @at began with '<'. */
static const char *template_end(const char *at)
{
	for (size_t depth = 1; *at; at++) {
		depth += *at == '<';
		depth -= *at == '>';
		if (!depth)
			return at + 1;
	}
	return NULL;
}

/* A default is dropped where it is the last argument. */
static bool drop_default(char *text, const char *start)
{
	char *at;

	for (at = text; (at = strstr(at, start)); at++) {
		const char *end = template_end(at + strlen(start));

		if (!end || end[strspn(end, " ")] != '>')
			continue;
		memmove(at, end + strspn(end, " "),
			strlen(end + strspn(end, " ")) + 1);
		return true;
	}
	return false;
}

/* Dropping one may make another the last. */
static void simplify(char *text)
{
	bool again = true;

	for (size_t i = 0; i < sizeof(rewrites) / sizeof(rewrites[0]); i++)
		rewrite(text, rewrites[i].from, rewrites[i].to);
	while (again) {
		again = false;
		for (size_t i = 0; i < sizeof(defaults) / sizeof(defaults[0]);
		     i++)
			again |= drop_default(text, defaults[i]);
	}
}

/* ---- brief --------------------------------------------------------------- */

/* Whether the '<' at @at is a part of "operator<" and the like. */
static bool is_of_operator(const char *text, const char *at)
{
	static const char word[] = "operator";
	const size_t len = sizeof(word) - 1;

	while (at > text && at[-1] == '<')
		at--;
	return at >= text + len && !memcmp(at - len, word, len);
}

/* Make "<...>" of outermost template arguments. */
static void drop_arguments(char *text)
{
	static const char dots[] = "...";

	for (char *at = text; (at = strchr(at, '<')); at++) {
		const char *end = template_end(at + 1);
		size_t room;

		if (is_of_operator(text, at))
			continue;
		if (!end)
			return;
		room = (size_t)(end - 1 - (at + 1));
		if (room >= sizeof(dots) - 1) {
			memcpy(at + 1, dots, sizeof(dots) - 1);
			memmove(at + sizeof(dots), end - 1,
				strlen(end - 1) + 1);
		}
		at = strchr(at, '>');
	}
}

const char *pp_demangle(struct op_arena *arena, const char *name,
			enum pp_demangle how)
{
	int params = how == PP_DEMANGLE_BRIEF ? 0 : DMGL_PARAMS;
	const char *copy;
	char *text;

	if (how == PP_DEMANGLE_NONE)
		return name;
	text = cplus_demangle(name, DMGL_AUTO | DMGL_ANSI | params);
	if (!text)
		text = pp_demangle_java(name);
	if (!text)
		return name;
	if (how == PP_DEMANGLE_SMART)
		simplify(text);
	if (how == PP_DEMANGLE_BRIEF)
		drop_arguments(text);
	copy = op_arena_strdup(arena, text);
	free(text);
	return copy ? copy : name;
}
