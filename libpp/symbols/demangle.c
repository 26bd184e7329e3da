// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Names of all languages as people write them. "Smart" names leave out
 * what the standard library adds: its inline namespaces, the long forms of
 * string and stream, the class that iterators of libstdc++ are made of, and
 * template arguments that are the default. An argument is dropped where it is
 * the last and is made of the first one, as std::less<int> is for a set of int
 * and std::less<void> is not; that may make another one the last, so dropping
 * goes on until nothing changes.
 *
 * A mangled name refers to its own parts, so one of 300 bytes may stand for one
 * of gigabytes. libiberty writes that to a function, which ends it where it
 * becomes too long; only by a jump, since libiberty asks nobody whether to go
 * on.
 */

#include "libpp/symbols/demangle.h"

#include <setjmp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libop/base/op_array.h"
#include "libpp/symbols/demangle_java.h"
#include "libpp/symbols/demangle_modules.h"
#include "libpp/symbols/libiberty_demangle.h"

/* ---- libiberty ----------------------------------------------------------- */

#define MAX_DEMANGLED (1u << 18) /* bytes of a name */

struct demangled {
	char *text; /* an op_array; ended by a zero byte */
	size_t len;
	jmp_buf too_long;
};

static void append_demangled(const char *text, size_t len, void *ctx)
{
	struct demangled *d = ctx;

	if (len > MAX_DEMANGLED - d->len ||
	    op_array_reserve(&d->text, d->len, len + 1))
		longjmp(d->too_long, 1);
	memcpy(d->text + d->len, text, len);
	d->len += len;
	d->text[d->len] = '\0';
}

/* The demanglers that cplus_demangle() tries first, in its order. They work on
 * the stack, but for identifiers of Rust beyond ASCII, of which a jump may
 * leave a few bytes behind. Returns false if the name is too long; without any
 * text if it is none of theirs. */
static bool demangle_bounded(struct demangled *d, const char *name, int options)
{
	if (setjmp(d->too_long))
		return false;
	if (rust_demangle_callback(name, options, append_demangled, d))
		return true;
	d->len = 0;
	if (!cplus_demangle_v3_callback(name, options, append_demangled, d))
		d->len = 0;
	return true;
}

/* The caller's to free; NULL if it is no mangled name, or one too long. */
static char *demangle_by_libiberty(const char *name, int options)
{
	struct demangled d = { 0 };
	bool is_short;

	/* Those of these demanglers begin with "_Z", "_R" or so. */
	if (!strchr("_RZ", *name))
		return cplus_demangle(name, options);
	is_short = demangle_bounded(&d, name, options);
	if (is_short && d.len)
		return d.text;
	free(d.text);
	return is_short ? cplus_demangle(name, options) : NULL;
}

/* ---- smart --------------------------------------------------------------- */

/* Inline namespaces, which no program names. */
static const char *const namespaces[][2] = {
	{ "std::__cxx11::", "std::" },
	{ "std::__1::", "std::" },
	{ "std::__ndk1::", "std::" },
};

/* Arguments that a template of the standard library has by itself, made of its
 * first argument; an allocator may be that of pairs. */
static const char *const defaults[] = {
	"std::allocator<", "std::char_traits<",	   "std::less<",
	"std::equal_to<",  "std::default_delete<", "std::hash<",
};

/* Templates over characters that have names without "basic_". */
static const char *const basics[] = {
	"string",    "string_view",   "ostream",       "istream",
	"iostream",  "ostringstream", "istringstream", "stringstream",
	"ofstream",  "ifstream",      "fstream",       "streambuf",
	"stringbuf", "filebuf",	      "ios",	       "regex",
};

/* Put @to in place of the @len bytes at @at; it is no longer. */
static void replace_text(char *at, size_t len, const char *to, size_t to_len)
{
	memmove(at + to_len, at + len, strlen(at + len) + 1);
	memcpy(at, to, to_len);
}

static void rewrite(char *text, const char *from, const char *to)
{
	size_t from_len = strlen(from), to_len = strlen(to);

	for (char *at = text; (at = strstr(at, from)); at += to_len)
		replace_text(at, from_len, to, to_len);
}

/* Behind the '>' that ends what the text before @at began with '<'. One in
 * parentheses may be that of a comparison. */
static const char *template_end(const char *at)
{
	size_t depth = 1, parentheses = 0;

	for (; *at; at++) {
		parentheses += *at == '(';
		parentheses -= *at == ')' && parentheses;
		depth += *at == '<' && !parentheses;
		depth -= *at == '>' && !parentheses;
		if (!depth)
			return at + 1;
	}
	return NULL;
}

/* A template argument, without blanks around it. */
struct argument {
	const char *text;
	size_t len;
};

static struct argument argument_between(const char *start, const char *end)
{
	while (start < end && *start == ' ')
		start++;
	while (end > start && end[-1] == ' ')
		end--;
	return (struct argument){ start, (size_t)(end - start) };
}

#define MAX_ARGUMENTS 16
#define MAX_SMART 20000 /* bytes of a name */

/* The arguments behind the '<' before @at, and *@end behind their '>'. Returns
 * how many, 0 where brackets do not match or they are too many. */
static size_t split_arguments(const char *at, struct argument *out,
			      const char **end)
{
	const char *start = at;
	size_t nr = 0, depth = 0;

	*end = template_end(at);
	for (; *end && at < *end && nr < MAX_ARGUMENTS; at++) {
		bool is_last = at + 1 == *end;

		if (is_last || (*at == ',' && !depth)) {
			out[nr++] = argument_between(start, at);
			start = at + 1;
		}
		depth += *at == '<' || *at == '(';
		depth -= (*at == '>' || *at == ')') && depth;
	}
	return at == *end ? nr : 0;
}

static bool is_argument(const struct argument *a, const char *text, size_t len)
{
	return a->len == len && !memcmp(a->text, text, len);
}

/* Whether @text is the "std::pair<KEY const, VALUE>" that a map holds. */
static bool is_pair_of(const struct argument *a, const char *text, size_t len)
{
	static const char start[] = "std::pair<";
	struct argument parts[MAX_ARGUMENTS];
	const char *end;
	size_t key = a[0].len;

	return len > sizeof(start) - 1 &&
	       !memcmp(text, start, sizeof(start) - 1) &&
	       split_arguments(text + sizeof(start) - 1, parts, &end) == 2 &&
	       end <= text + len && parts[0].len == key + 6 &&
	       !memcmp(parts[0].text, a[0].text, key) &&
	       !memcmp(parts[0].text + key, " const", 6) &&
	       is_argument(&a[1], parts[1].text, parts[1].len);
}

/* Whether the last of @nr arguments is what would be there without it. */
static bool is_default(const struct argument *a, size_t nr)
{
	const struct argument *last = &a[nr - 1];

	for (size_t i = 0; i < sizeof(defaults) / sizeof(*defaults); i++) {
		size_t len = strlen(defaults[i]);
		struct argument of;

		if (last->len <= len || memcmp(last->text, defaults[i], len) ||
		    last->text[last->len - 1] != '>')
			continue;
		of = argument_between(last->text + len,
				      last->text + last->len - 1);
		if (is_argument(&a[0], of.text, of.len))
			return true;
		/* A tree has the pairs as its second argument. */
		return !i && nr > 2 &&
		       (is_argument(&a[1], of.text, of.len) ||
			is_pair_of(a, of.text, of.len));
	}
	return false;
}

/* Drop the last arguments of all templates while they are defaults. */
static bool drop_defaults(char *text)
{
	struct argument a[MAX_ARGUMENTS];
	bool any = false;
	const char *end;

	for (char *at = text; (at = strchr(at, '<')); at++) {
		size_t nr = split_arguments(at + 1, a, &end);
		char *cut;

		if (nr < 2 || !is_default(a, nr))
			continue;
		cut = (char *)a[nr - 2].text + a[nr - 2].len;
		replace_text(cut, (size_t)(end - 1 - cut), "", 0);
		any = true;
		at--;
	}
	return any;
}

/* "std::basic_NAME<char>" is "std::NAME", that of wchar_t "std::wNAME". */
static void name_basics(char *text)
{
	static const char start[] = "std::basic_";
	const size_t start_len = sizeof(start) - 1;

	for (char *at = text; (at = strstr(at, start)); at++) {
		char *name = at + start_len, to[40];
		size_t len = strcspn(name, "<"), i = 0;
		bool wide = !strncmp(name + len, "<wchar_t>", 9);

		while (i < sizeof(basics) / sizeof(*basics) &&
		       (strlen(basics[i]) != len ||
			memcmp(basics[i], name, len) != 0))
			i++;
		if (i == sizeof(basics) / sizeof(*basics) ||
		    (!wide && strncmp(name + len, "<char>", 6) != 0))
			continue;
		snprintf(to, sizeof(to), "std::%s%s", wide ? "w" : "",
			 basics[i]);
		replace_text(at, start_len + len + (wide ? 9 : 6), to,
			     strlen(to));
	}
}

/* libstdc++'s iterator of a container is known by that. */
static bool name_iterator(char *text)
{
	static const char start[] = "__gnu_cxx::__normal_iterator<";
	struct argument a[MAX_ARGUMENTS];
	const char *end;

	for (char *at = text; (at = strstr(at, start)); at++) {
		const char *name;
		size_t len;

		if (split_arguments(at + sizeof(start) - 1, a, &end) != 2)
			continue;
		name = a[0].len > 7 && !memcmp(a[0].text + a[0].len - 7,
					       " const*", 7)
			       ? "::const_iterator"
			       : "::iterator";
		len = a[1].len;
		memmove(at, a[1].text, len);
		replace_text(at + len, (size_t)(end - (at + len)), name,
			     strlen(name));
		return true;
	}
	return false;
}

/* "> >" is what C++ had before 2011; " > (" is a comparison. */
static void close_brackets(char *text)
{
	for (char *at = text; (at = strstr(at, " >")); at++)
		if (strncmp(at, " > (", 4) != 0)
			replace_text(at, 1, "", 0);
}

/* Dropping an argument may make that of a template around it a default. */
static void simplify(char *text)
{
	/* The time it takes grows with the square of the length. */
	if (strlen(text) > MAX_SMART)
		return;
	for (size_t i = 0; i < sizeof(namespaces) / sizeof(*namespaces); i++)
		rewrite(text, namespaces[i][0], namespaces[i][1]);
	while (drop_defaults(text))
		;
	name_basics(text);
	while (drop_defaults(text))
		;
	while (name_iterator(text))
		;
	close_brackets(text);
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

/* In names of stubs ("@plt") and of versions only the part before the "@" is
 * mangled. */
static const char *demangle_start(struct op_arena *arena, const char *name,
				  const char *end, enum pp_demangle how)
{
	const char *start =
		op_arena_printf(arena, "%.*s", (int)(end - name), name);
	const char *shown = start ? pp_demangle(arena, start, how) : NULL;

	if (!shown || shown == start)
		return name;
	shown = op_arena_printf(arena, "%s%s", shown, end);
	return shown ? shown : name;
}

/* Demanglers of names that libiberty does not recognize by itself. */
static char *(*const others[])(const char *name) = {
	pp_demangle_java,    pp_demangle_ocaml, pp_demangle_d,
	pp_demangle_haskell, pp_demangle_ada,
};

const char *pp_demangle(struct op_arena *arena, const char *name,
			enum pp_demangle how)
{
	int params = how == PP_DEMANGLE_BRIEF ? 0 : DMGL_PARAMS;
	const char *copy, *end;
	char *text;

	if (how == PP_DEMANGLE_NONE)
		return name;
	end = strchr(name, '@');
	if (end && end > name)
		return demangle_start(arena, name, end, how);
	text = demangle_by_libiberty(name, DMGL_AUTO | DMGL_ANSI | params);
	for (size_t i = 0; !text && i < sizeof(others) / sizeof(*others); i++)
		text = others[i](name);
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
