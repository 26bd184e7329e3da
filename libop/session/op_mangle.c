// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Names of sample files. There is exactly one way to write each name: what
 * op_mangle_parse() has read it builds again and compares, so that two files
 * never mean the same thing, and a name that this code could not have written
 * (a leading zero, a needless %41, a number with a sign) is refused without a
 * rule for each.
 */

#include "libop/session/op_mangle.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "libop/image/op_build_id.h"
#include "libop/files/op_config.h"
#include "libop/base/op_escape.h"

#define ROOT "{root}"
#define KERN "{kern}/"
#define ANON "{anon:"
#define DEP "{dep}/"
#define CG "{cg}/"
#define TREE "{tree}/"
#define BUILD "{build:"
#define USER "{user}/"
#define CGROUP "{cgroup}/"
#define NO_CGROUP "{no-cgroup}/"
#define CONTINUED "%+"

#define LITERAL_LEN(text) (sizeof(text) - 1)

/* Bytes of a component beyond which the next one may not fit. */
#define PIECE_FULL                                                             \
	(OP_MANGLE_COMPONENT_MAX - LITERAL_LEN(CONTINUED) - OP_ESCAPE_LEN)

/* ---- building ----------------------------------------------------------- */

/* Where the name goes. */
struct out {
	char *buf;
	size_t len;
	size_t at; /* below len, unless full */
	size_t piece; /* bytes in the component being written */
	bool continued; /* the component continues the one before */
	bool full;
};

static void put_bytes(struct out *out, const char *text, size_t len)
{
	if (out->full || len >= out->len - out->at) {
		out->full = true;
		return;
	}
	memcpy(out->buf + out->at, text, len);
	out->at += len;
	out->piece += len;
}

static void end_component(struct out *out)
{
	put_bytes(out, "/", 1);
	out->piece = 0;
	out->continued = false;
}

/* A component of our own, with the slash behind it. */
static void put_mark(struct out *out, const char *mark, size_t len)
{
	put_bytes(out, mark, len);
	out->piece = 0;
}

/* '{' marks our own components; a dot could make "." or "..". */
static bool is_special_at_start(const struct out *out, unsigned char c)
{
	return !out->piece && (c == '{' || (c == '.' && out->continued));
}

static void put_byte(struct out *out, unsigned char c, bool escape)
{
	char text[OP_ESCAPE_LEN];
	size_t len;

	if (out->piece > PIECE_FULL) {
		put_bytes(out, CONTINUED, LITERAL_LEN(CONTINUED));
		end_component(out);
		out->continued = true;
	}
	escape = escape || op_escape_needed(c) || is_special_at_start(out, c);
	len = op_escape_byte(text, c, escape);
	put_bytes(out, text, len);
}

static bool is_dots(const char *name, size_t len)
{
	return (len == 1 && name[0] == '.') ||
	       (len == 2 && name[0] == '.' && name[1] == '.');
}

/* Put @len bytes of @name, with those in @special escaped. */
static void put_escaped_name(struct out *out, const char *name, size_t len,
			     const char *special)
{
	bool dots = !out->piece && is_dots(name, len);

	for (size_t i = 0; i < len; i++)
		put_byte(out, (unsigned char)name[i],
			 dots || strchr(special, name[i]));
}

static int put_root_components(struct out *out, const char *path)
{
	put_bytes(out, ROOT, LITERAL_LEN(ROOT));
	if (*path != '/')
		return -EINVAL;
	while (*path) {
		size_t len = strcspn(path + 1, "/");

		if (!len)
			return -EINVAL;
		end_component(out);
		put_escaped_name(out, path + 1, len, "");
		path += 1 + len;
	}
	end_component(out);
	return 0;
}

__attribute__((format(printf, 2, 3))) static void
put_format(struct out *out, const char *fmt, ...)
{
	char text[128]; /* a build, or three numbers of 20 digits */
	va_list args;
	int len;

	va_start(args, fmt);
	len = vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	put_bytes(out, text, (size_t)len);
}

static int put_anon_component(struct out *out,
			      const struct op_image_name *image)
{
	if (image->tgid < 0 || image->start > image->end)
		return -EINVAL;
	put_bytes(out, ANON, LITERAL_LEN(ANON));
	put_escaped_name(out, image->name, strlen(image->name), "/}");
	put_bytes(out, "}", 1);
	end_component(out);
	put_format(out, "%" PRId64 ".0x%" PRIx64 ".0x%" PRIx64, image->tgid,
		   image->start, image->end);
	end_component(out);
	return 0;
}

static int put_image_components(struct out *out,
				const struct op_image_name *image)
{
	if (image->space == OP_SPACE_NONE || !image->name || !*image->name)
		return -EINVAL;
	if (image->space == OP_SPACE_ROOT)
		return put_root_components(out, image->name);
	if (image->space == OP_SPACE_ANON)
		return put_anon_component(out, image);
	if (image->space != OP_SPACE_KERN)
		return -EINVAL;
	put_mark(out, KERN, LITERAL_LEN(KERN));
	put_escaped_name(out, image->name, strlen(image->name), "/");
	end_component(out);
	return 0;
}

/* An image whose builds are told apart. */
static int put_image_of_build(struct out *out,
			      const struct op_image_name *image)
{
	int err = put_image_components(out, image);

	if (err || !image->build)
		return err;
	if (image->space == OP_SPACE_ANON || !op_build_text_ok(image->build))
		return -EINVAL;
	put_format(out, BUILD "%s}", image->build);
	end_component(out);
	return 0;
}

static int put_mangled_id(struct out *out, int64_t id)
{
	if (id == OP_MANGLE_ALL)
		put_bytes(out, ".all", 4);
	else if (id < 0)
		return -EINVAL;
	else
		put_format(out, ".%" PRId64, id);
	return 0;
}

static int put_cgroup_components(struct out *out, const char *path)
{
	if (!path)
		return 0;
	if (!*path) {
		put_mark(out, NO_CGROUP, LITERAL_LEN(NO_CGROUP));
		return 0;
	}
	if (*path++ != '/')
		return -EINVAL;
	put_mark(out, CGROUP, LITERAL_LEN(CGROUP));
	while (*path) {
		size_t len = strcspn(path, "/");

		if (!len || (path[len] && !path[len + 1]))
			return -EINVAL;
		put_escaped_name(out, path, len, "");
		end_component(out);
		path += len + (path[len] != '\0');
	}
	return 0;
}

static int put_event_component(struct out *out, const struct op_mangle *m)
{
	if (!m->event || !*m->event || strchr(m->event, '/'))
		return -EINVAL;
	put_escaped_name(out, m->event, strlen(m->event), "");
	if (out->continued)
		return -ENAMETOOLONG;
	put_format(out, ".%" PRIu64 ".%" PRIu64, m->count, m->unit_mask);
	if (put_mangled_id(out, m->tgid) || put_mangled_id(out, m->tid) ||
	    put_mangled_id(out, m->cpu))
		return -EINVAL;
	return out->piece > OP_MANGLE_COMPONENT_MAX ? -ENAMETOOLONG : 0;
}

static int put_mangled(struct out *out, const struct op_mangle *m)
{
	int err = m->app.build ? -EINVAL : put_image_components(out, &m->app);

	if (!err && m->has_user) {
		put_mark(out, USER, LITERAL_LEN(USER));
		put_format(out, "%" PRIu32 "/", m->user);
	}
	if (!err)
		err = put_cgroup_components(out, m->cgroup);
	if (!err && m->is_tree) {
		if (m->dep.space != OP_SPACE_NONE ||
		    m->cg.space != OP_SPACE_NONE)
			return -EINVAL;
		put_mark(out, TREE, LITERAL_LEN(TREE));
	} else if (!err) {
		put_mark(out, DEP, LITERAL_LEN(DEP));
		err = put_image_of_build(out, &m->dep);
		if (!err && m->cg.space != OP_SPACE_NONE) {
			put_mark(out, CG, LITERAL_LEN(CG));
			err = put_image_of_build(out, &m->cg);
		}
	}
	return err ? err : put_event_component(out, m);
}

int op_mangle_build(const struct op_mangle *m, char *buf, size_t len)
{
	struct out out = { .buf = buf, .len = len, .full = !len };
	int err = put_mangled(&out, m);

	if (err)
		return err;
	if (out.full || out.at > INT32_MAX)
		return -ENAMETOOLONG;
	buf[out.at] = '\0';
	return (int)out.at;
}

/* ---- parsing ------------------------------------------------------------ */

/* A name being read. */
struct in {
	const char *at; /* the rest of it */
	char *out; /* where decoded strings go */
	size_t room; /* bytes left there */
	const char *why; /* set on failure */
};

static int refuse_mangled_name(struct in *in, const char *why)
{
	if (!in->why)
		in->why = why;
	return -EINVAL;
}

static int put_decoded(struct in *in, char c)
{
	if (!in->room)
		return -ENAMETOOLONG;
	*in->out++ = c;
	in->room--;
	return 0;
}

static int decode_escapes(struct in *in, const char *end)
{
	while (in->at < end) {
		int c = op_unescape_byte(&in->at, end);
		int err;

		if (c < 0)
			return refuse_mangled_name(
				in, "a '%' that encodes nothing");
		err = put_decoded(in, (char)c);
		if (err)
			return err;
	}
	return 0;
}

static bool accept_literal(struct in *in, const char *text, size_t len)
{
	if (strncmp(in->at, text, len))
		return false;
	in->at += len;
	return true;
}

/*
 * Decode one component of the original name, with its continuations and the
 * slash behind it. @tail, one character or none, must stand before that slash.
 */
static int decode_component(struct in *in, const char *tail)
{
	size_t tail_len = strlen(tail);
	bool more;
	int err;

	do {
		size_t len = strcspn(in->at, "/");
		const char *end = in->at + len;

		if (!len || !*end)
			return refuse_mangled_name(
				in, "it ends in the middle of an image");
		more = len >= 2 && !strncmp(end - 2, CONTINUED, 2);
		if (more)
			err = decode_escapes(in, end - 2);
		else if (strncmp(end - tail_len, tail, tail_len))
			return refuse_mangled_name(in, "a '{' without its '}'");
		else
			err = decode_escapes(in, end - tail_len);
		in->at = end + 1;
	} while (more && !err);
	return err;
}

/* Whether a component of a path is next, none of ours nor the event. */
static bool at_path_component(const struct in *in)
{
	return *in->at != '{' && strchr(in->at, '/');
}

static int parse_mangled_root(struct in *in)
{
	int err;

	do {
		err = put_decoded(in, '/');
		if (!err)
			err = decode_component(in, "");
	} while (!err && at_path_component(in));
	return err;
}

static int parse_mangled_cgroup(struct in *in, struct op_mangle *m)
{
	bool unknown = accept_literal(in, NO_CGROUP, LITERAL_LEN(NO_CGROUP));
	int err = 0;

	if (!unknown && !accept_literal(in, CGROUP, LITERAL_LEN(CGROUP)))
		return 0;
	m->cgroup = in->out;
	if (!unknown && at_path_component(in))
		err = parse_mangled_root(in);
	else if (!unknown)
		err = put_decoded(in, '/');
	return err ? err : put_decoded(in, '\0');
}

/* The number before the next @stop, which is passed over; '\0' stops at the
 * end of the name. */
static int parse_mangled_number(struct in *in, char stop, uint64_t *out)
{
	const char *end = strchrnul(in->at, stop);
	size_t len = (size_t)(end - in->at);
	char text[24]; /* 2^64 in decimal, or 0x and 16 digits */

	if (*end != stop || len >= sizeof(text))
		return refuse_mangled_name(in,
					   "a number is missing or too long");
	memcpy(text, in->at, len);
	text[len] = '\0';
	if (op_parse_u64(text, out))
		return refuse_mangled_name(
			in, "a field is not a number, or is too large");
	in->at = end + (stop != '\0');
	return 0;
}

static int parse_mangled_id(struct in *in, char stop, int64_t *out)
{
	uint64_t number;
	int err;

	if (!strncmp(in->at, "all", 3) && in->at[3] == stop) {
		in->at += 3 + (stop != '\0');
		*out = OP_MANGLE_ALL;
		return 0;
	}
	err = parse_mangled_number(in, stop, &number);
	if (err)
		return err;
	if (number > INT64_MAX)
		return refuse_mangled_name(in,
					   "a task or CPU number is too large");
	*out = (int64_t)number;
	return 0;
}

static int parse_mangled_anon(struct in *in, struct op_image_name *image)
{
	int err = decode_component(in, "}");
	uint64_t tgid;

	if (err)
		return err;
	if (parse_mangled_number(in, '.', &tgid) ||
	    parse_mangled_number(in, '.', &image->start) ||
	    parse_mangled_number(in, '/', &image->end))
		return -EINVAL;
	if (tgid > INT64_MAX)
		return refuse_mangled_name(in, "a task number is too large");
	image->tgid = (int64_t)tgid;
	return 0;
}

static int parse_mangled_image(struct in *in, struct op_image_name *image)
{
	int err;

	image->name = in->out;
	if (accept_literal(in, ROOT "/", LITERAL_LEN(ROOT "/"))) {
		image->space = OP_SPACE_ROOT;
		err = parse_mangled_root(in);
	} else if (accept_literal(in, KERN, LITERAL_LEN(KERN))) {
		image->space = OP_SPACE_KERN;
		err = decode_component(in, "");
	} else if (accept_literal(in, ANON, LITERAL_LEN(ANON))) {
		image->space = OP_SPACE_ANON;
		err = parse_mangled_anon(in, image);
	} else {
		return refuse_mangled_name(
			in, "{root}, {kern} or {anon:...} is missing");
	}
	return err ? err : put_decoded(in, '\0');
}

/* Where @text is no build, building the name again tells. */
static int parse_image_of_build(struct in *in, struct op_image_name *image)
{
	int err = parse_mangled_image(in, image);

	if (err || !accept_literal(in, BUILD, LITERAL_LEN(BUILD)))
		return err;
	image->build = in->out;
	err = decode_component(in, "}");
	return err ? err : put_decoded(in, '\0');
}

/* The start of the last five fields: an event's name may hold dots. */
static const char *find_fields(const char *text)
{
	const char *dot = text + strlen(text);

	for (int i = 0; i < 5; i++) {
		dot = memrchr(text, '.', (size_t)(dot - text));
		if (!dot)
			return NULL;
	}
	return dot;
}

static int parse_mangled_event(struct in *in, struct op_mangle *m)
{
	const char *fields = find_fields(in->at);
	int err;

	if (strchr(in->at, '/'))
		return refuse_mangled_name(
			in,
			"{user}, {cgroup}, {dep}, {cg}, {tree} or the event is misplaced");
	if (!fields)
		return refuse_mangled_name(
			in, "EVENT.COUNT.UM.TGID.TID.CPU is missing");
	m->event = in->out;
	err = decode_escapes(in, fields);
	if (!err)
		err = put_decoded(in, '\0');
	if (err)
		return err;
	in->at++;
	if (parse_mangled_number(in, '.', &m->count) ||
	    parse_mangled_number(in, '.', &m->unit_mask) ||
	    parse_mangled_id(in, '.', &m->tgid) ||
	    parse_mangled_id(in, '.', &m->tid) ||
	    parse_mangled_id(in, '\0', &m->cpu))
		return -EINVAL;
	return 0;
}

static int parse_mangled_user(struct in *in, struct op_mangle *m)
{
	uint64_t user;

	if (!accept_literal(in, USER, LITERAL_LEN(USER)))
		return 0;
	if (parse_mangled_number(in, '/', &user) || user >= UINT32_MAX)
		return refuse_mangled_name(in, "{user} has no number");
	m->has_user = true;
	m->user = (uint32_t)user;
	return 0;
}

static int parse_mangled(struct in *in, struct op_mangle *m)
{
	int err = parse_mangled_image(in, &m->app);

	if (!err)
		err = parse_mangled_user(in, m);
	if (!err)
		err = parse_mangled_cgroup(in, m);
	if (err)
		return err;
	m->is_tree = accept_literal(in, TREE, LITERAL_LEN(TREE));
	if (m->is_tree)
		return parse_mangled_event(in, m);
	if (!accept_literal(in, DEP, LITERAL_LEN(DEP)))
		return refuse_mangled_name(in, "{dep} or {tree} is missing");
	err = parse_image_of_build(in, &m->dep);
	if (!err && accept_literal(in, CG, LITERAL_LEN(CG)))
		err = parse_image_of_build(in, &m->cg);
	return err ? err : parse_mangled_event(in, m);
}

int op_mangle_parse(const char *path, struct op_mangle *m, char *buf,
		    size_t len, struct op_diag *diag)
{
	struct in in = { .at = path, .out = buf, .room = len };
	char again[OP_MANGLE_MAX];
	int err;

	memset(m, 0, sizeof(*m));
	if (strnlen(path, OP_MANGLE_MAX) == OP_MANGLE_MAX)
		err = refuse_mangled_name(&in, "it is too long");
	else
		err = parse_mangled(&in, m);
	if (!err && (op_mangle_build(m, again, sizeof(again)) < 0 ||
		     strcmp(again, path)))
		err = refuse_mangled_name(&in, "it is not in canonical form");
	if (err == -EINVAL)
		op_diag_set(diag, err, "%s: not the name of a sample file: %s",
			    path, in.why);
	else if (err)
		op_diag_set(diag, err, "%s: the name is too long", path);
	return err;
}
