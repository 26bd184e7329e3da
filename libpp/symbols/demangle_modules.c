// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Sources of the facts: OCaml, asmcomp/cmm_helpers.ml and emitaux.ml (names,
 * and
 * "$" with two hexadecimal digits); the GHC commentary, "Symbol names" (the
 * z-encoding); the D specification, "Name mangling" (back references); GNAT's
 * exp_dbug.ads (names of units and of nested subprograms).
 */

#include "libpp/symbols/demangle_modules.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libpp/symbols/libiberty_demangle.h"

/* Text that is being written. Names get no longer by much; what does not fit is
 * no name. */
struct written {
	char *text;
	size_t len, size;
};

static bool put_char(struct written *out, char c)
{
	if (out->len + 1 >= out->size)
		return false;
	out->text[out->len++] = c;
	out->text[out->len] = '\0';
	return true;
}

static bool put_text(struct written *out, const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (!put_char(out, text[i]))
			return false;
	return true;
}

/* @decode writes @name into memory that has room for @factor times its length.
 */
static char *decode_name(const char *name, size_t factor,
			 bool (*decode)(struct written *out, const char *name))
{
	struct written out = { .size = strlen(name) * factor + 8 };

	out.text = malloc(out.size);
	if (out.text && decode(&out, name))
		return out.text;
	free(out.text);
	return NULL;
}

/* ---- OCaml ----------------------------------------------------------------
 */

static int hex_digit(char c)
{
	static const char digits[] = "0123456789abcdef";
	const char *at = c ? strchr(digits, tolower((unsigned char)c)) : NULL;

	return at ? (int)(at - digits) : -1;
}

static bool decode_ocaml(struct written *out, const char *name)
{
	static const char start[] = "caml";
	const char *end = name + strlen(name), *at = name + sizeof(start) - 1;
	const char *last = NULL;

	if (strncmp(name, start, sizeof(start) - 1) != 0 ||
	    !isupper((unsigned char)*at))
		return false;
	for (const char *p = at; *p; p++)
		if (*p == '.' || (p[0] == '_' && p[1] == '_'))
			last = p;
	if (!last)
		return false;
	/* The number of a function, which one without a name is known by. */
	while (end > last && isdigit((unsigned char)end[-1]))
		end--;
	if (*end && end > last + 2 && end[-1] == '_' &&
	    strncmp(last, "__fun_", 6) != 0 && strncmp(last, ".fun_", 5) != 0)
		end--;
	else
		end += strlen(end);
	while (at < end) {
		int high = *at == '$' ? hex_digit(at[1]) : -1;
		int low = high >= 0 ? hex_digit(at[2]) : -1;

		if (low >= 0 && high * 16 + low > ' ') {
			if (!put_char(out, (char)(high * 16 + low)))
				return false;
			at += 3;
		} else if (at[0] == '_' && at[1] == '_' && at <= last) {
			if (!put_char(out, '.'))
				return false;
			at += 2;
		} else if (!put_char(out, *at++)) {
			return false;
		}
	}
	return true;
}

char *pp_demangle_ocaml(const char *name)
{
	return decode_name(name, 1, decode_ocaml);
}

/* ---- Haskell --------------------------------------------------------------
 */

/* Letters behind a "z" or "Z", and what they stand for. */
static const char z_letters[] = "abcdeghilmnpqrstuvz";
static const char z_chars[] = "&|^$=>#.<-!+'\\/*_%z";
static const char upper_z_letters[] = "LRMNCZ";
static const char upper_z_chars[] = "()[]:Z";

static bool put_utf8(struct written *out, uint32_t c)
{
	if (c < 0x80)
		return c > ' ' && c != 0x7f && put_char(out, (char)c);
	if (c < 0x800)
		return put_char(out, (char)(0xc0 | c >> 6)) &&
		       put_char(out, (char)(0x80 | (c & 0x3f)));
	if (c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
		return false;
	if (c >= 0x10000) {
		if (!put_char(out, (char)(0xf0 | c >> 18)) ||
		    !put_char(out, (char)(0x80 | (c >> 12 & 0x3f))))
			return false;
	} else if (!put_char(out, (char)(0xe0 | c >> 12))) {
		return false;
	}
	return put_char(out, (char)(0x80 | (c >> 6 & 0x3f))) &&
	       put_char(out, (char)(0x80 | (c & 0x3f)));
}

/* "Z2T" is "(,)" and "Z1H" is "(##)"; *@at is at the digits. */
static bool put_tuple(struct written *out, const char **at)
{
	char *end;
	unsigned long nr = strtoul(*at, &end, 10);
	bool boxed = *end == 'T';

	if (nr > 62 || (!boxed && *end != 'H') ||
	    !put_text(out, "(#", boxed ? 1 : 2))
		return false;
	for (unsigned long i = 1; i < nr; i++)
		if (!put_char(out, ','))
			return false;
	*at = end + 1;
	return put_text(out, boxed ? ")" : "#)", boxed ? 1 : 2);
}

/* Decode the text from @at up to @end. */
static bool put_z_decoded(struct written *out, const char *at, const char *end)
{
	while (at < end) {
		char c = *at++;
		const char *letter;

		if (c != 'z' && c != 'Z') {
			if (!put_char(out, c))
				return false;
			continue;
		}
		if (at == end)
			return false;
		if (isdigit((unsigned char)*at)) {
			char *behind;

			if (c == 'Z') {
				if (!put_tuple(out, &at))
					return false;
				continue;
			}
			if (!put_utf8(out,
				      (uint32_t)strtoul(at, &behind, 16)) ||
			    *behind != 'U')
				return false;
			at = behind + 1;
			continue;
		}
		letter = strchr(c == 'z' ? z_letters : upper_z_letters, *at++);
		if (!letter ||
		    !put_char(
			    out,
			    c == 'z' ? z_chars[letter - z_letters]
				     : upper_z_chars[letter - upper_z_letters]))
			return false;
	}
	return at == end;
}

static bool has_text(const char *at, const char *end, const char *text)
{
	const char *found = strstr(at, text);

	return found && found + strlen(text) <= end;
}

static bool decode_haskell(struct written *out, const char *name)
{
	static const char *const ends[] = { "_con_info", "_info", "_slow" };
	const char *end = name + strlen(name), *package = name, *module, *last;
	size_t i = 0;

	while (i < sizeof(ends) / sizeof(*ends) &&
	       (strlen(name) <= strlen(ends[i]) ||
		strcmp(end - strlen(ends[i]), ends[i]) != 0))
		i++;
	if (i == sizeof(ends) / sizeof(*ends))
		return false;
	end -= strlen(ends[i]);
	/* Underlines in names are "zu": others are between the parts. */
	module = isupper((unsigned char)*name) ? name : strchr(name, '_');
	if (!module || module >= end)
		return false;
	module += module != name;
	last = strchr(module, '_');
	if (!isupper((unsigned char)*module) || !last || last + 1 >= end ||
	    memchr(last + 1, '_', (size_t)(end - last - 1)))
		return false;
	if (!has_text(module, last, "zi") &&
	    (last - module != 4 || memcmp(module, "Main", 4) != 0) &&
	    !(package != module && has_text(package, module, "zm")))
		return false;
	return put_z_decoded(out, module, last) && put_char(out, '.') &&
	       put_z_decoded(out, last + 1, end);
}

char *pp_demangle_haskell(const char *name)
{
	return decode_name(name, 3, decode_haskell);
}

/* ---- those of gcc -------------------------------------------------------- */

/* The suffix of a copy that gcc made of a function, or the end of @name. */
static const char *clone_suffix(const char *name)
{
	static const char *const clones[] = { ".constprop.", ".isra.", ".part.",
					      ".cold" };
	const char *end = name + strlen(name);

	for (size_t i = 0; i < sizeof(clones) / sizeof(*clones); i++) {
		const char *found = strstr(name, clones[i]);

		if (found && found < end)
			end = found;
	}
	return end;
}

/* The bytes before @end as libiberty demangles them, and the rest as it is. */
static char *demangle_upto(const char *name, const char *end, int style)
{
	char *mangled = strndup(name, (size_t)(end - name));
	char *text =
		mangled ? cplus_demangle(mangled, style | DMGL_PARAMS) : NULL;
	char *shown = NULL;

	free(mangled);
	/* A name that is none of Ada is put into such brackets. */
	if (text && *text != '<' && asprintf(&shown, "%s%s", text, end) < 0)
		shown = NULL;
	free(text);
	return shown;
}

/* ---- D --------------------------------------------------------------------
 */

/* Bytes of a name: libiberty calls itself for each level of a type. */
#define MAX_D 2000
#define MAX_D_SHOWN (1u << 20)

/*
 * A back reference, "Q" and its distance with the last letter in lower case,
 * repeats a type or a name before it. At most that is all from there on, with
 * what the references in that repeat. Returns whether all of @name so repeated
 * is short.
 */
static bool is_short_d(const char *name, size_t len)
{
	uint64_t upto[MAX_D + 1]; /* what the bytes before stand for, at most */

	upto[0] = 0;
	for (size_t i = 0; i < len; i++) {
		uint64_t cost = 1;

		if (name[i] == 'Q') {
			size_t distance = 0, j = i + 1;

			while (isupper((unsigned char)name[j]) &&
			       distance < MAX_D)
				distance = distance * 26 +
					   (size_t)(name[j++] - 'A');
			if (islower((unsigned char)name[j]))
				distance =
					distance * 26 + (size_t)(name[j] - 'a');
			if (distance && distance <= i)
				cost += isdigit((unsigned char)
							name[i - distance])
						? len
						: upto[i] - upto[i - distance];
		}
		upto[i + 1] = upto[i] + cost;
		if (upto[i + 1] > MAX_D_SHOWN)
			return false;
	}
	return true;
}

char *pp_demangle_d(const char *name)
{
	const char *end = clone_suffix(name), *thunk = name;
	size_t len;
	char *text, *shown = NULL;

	/* A method as an interface calls it, and the offset of that. */
	if (!strncmp(name, "_DTi", 4))
		thunk += 4 + strspn(name + 4, "0123456789");
	if (thunk > name + 4 && !strncmp(thunk, "_D", 2) &&
	    isdigit((unsigned char)thunk[2])) {
		text = pp_demangle_d(thunk);
		if (text && asprintf(&shown, "thunk to %s", text) < 0)
			shown = NULL;
		free(text);
		return shown;
	}
	len = (size_t)(end - name);
	if (strcmp(name, "_Dmain") != 0 &&
	    (strncmp(name, "_D", 2) != 0 || !isdigit((unsigned char)name[2])))
		return NULL;
	if (len > MAX_D || !is_short_d(name, len))
		return NULL;
	return demangle_upto(name, end, DMGL_DLANG);
}

/* ---- Ada ------------------------------------------------------------------
 */

static bool is_ada(const char *name, const char *end)
{
	static const char *const units[] = { "_ada_", "ada__", "system__",
					     "gnat__", "interfaces__" };
	const char *at = end;

	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++)
		if (!strncmp(name, units[i], strlen(units[i])))
			return true;
	while (at > name && isdigit((unsigned char)at[-1]))
		at--;
	return at < end && at > name && at[-1] == '.' &&
	       has_text(name, at, "__");
}

char *pp_demangle_ada(const char *name)
{
	const char *end = clone_suffix(name);

	return is_ada(name, end) ? demangle_upto(name, end, DMGL_GNAT) : NULL;
}
