/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBOP_SESSION_OP_MANGLE_H
#define LIBOP_SESSION_OP_MANGLE_H

/*
 * Names of sample files, built and parsed in one place:
 *
 *	file := img [ user ] [ cgroup ] what EVENT.COUNT.UM.TGID.TID.CPU
 *	user := "{user}/" UID "/"
 *	cgroup := "{cgroup}/" [ path/ ] | "{no-cgroup}/"
 *	what := "{dep}/" dep [ build ] [ "{cg}/" cgimg [ build ] ]
 *	      | "{tree}/"
 *	img, dep, cgimg := "{root}" /abs/path/
 *			 | "{kern}/" name "/"
 *			 | "{anon:" NAME "}/" TGID.0xSTART.0xEND "/"
 *	build := "{build:" BUILD "}/"
 *
 * A name is relative to the session's samples/NAME/ folder. COUNT and UM are
 * decimal; COUNT of the timer is its rate, or 0 for that of OP_TIMER_HZ. TGID,
 * TID and CPU are decimal or "all". EVENT may hold dots: the five fields behind
 * it are counted from the right. BUILD tells files of one path apart by their
 * content, the build-id and fingerprint (libop/image/op_build_id.h); it is left
 * out where nothing is known of that, and for anonymous memory. The path of a
 * cgroup is without the slash that it begins with, so that of the root is
 * empty; {no-cgroup} says that nobody could tell it. UID is decimal, of the
 * user who owned the process; samples that root alone may see have none.
 *
 * Whatever a path holds, building then parsing gives it back, and no name
 * leaves its folder: components "." and "..", a leading '{', control bytes,
 * '%' and bytes over 0x7e are written as %XX, so is '/' in a name that is one
 * component, and '}' in that of anonymous memory. No component is longer than
 * OP_MANGLE_COMPONENT_MAX bytes: a longer one is cut before that, its pieces
 * being components that end in "%+" but for the last; a dot that starts a
 * further piece is escaped.
 *
 * There is one way to write a name, and parsing refuses every other, so a
 * name that parses is what building gives. A name may be longer than PATH_MAX
 * when the paths in it are.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libop/base/op_diag.h"

#define OP_MANGLE_MAX 16384 /* longest mangled name with its zero byte */
#define OP_MANGLE_COMPONENT_MAX 240 /* bytes in one path component */
#define OP_MANGLE_ALL (-1) /* "all": not separated */
#define OP_TIMER_HZ 1000 /* samples per second of the timer unless told */

enum op_image_space {
	OP_SPACE_NONE, /* absent: only for cg */
	OP_SPACE_ROOT, /* name is an absolute path */
	OP_SPACE_KERN, /* name is what the kernel calls it: a module, [vdso] */
	OP_SPACE_ANON, /* name, tgid, start and end */
};

struct op_image_name {
	enum op_image_space space;
	const char *name; /* not mangled */
	int64_t tgid; /* OP_SPACE_ANON only, like the two below */
	uint64_t start;
	uint64_t end;
	const char *build; /* op_build_text()'s; NULL: not known. NULL for
			      anonymous memory and applications */
};

/* All that the name of a sample file tells. */
struct op_mangle {
	struct op_image_name app; /* the application image */
	bool is_tree; /* a call tree (libdb/ctree.h), no flat file: has neither
			 of the two below */
	struct op_image_name dep; /* the image that the samples are in */
	struct op_image_name cg; /* the callee's image in call-graph files */
	bool has_user; /* samples are those of one user, ... */
	uint32_t user; /* ... who may see them */
	const char *cgroup; /* its path from the root, "/..."; empty: not known;
			       NULL: not separated */
	const char *event;
	uint64_t count;
	uint64_t unit_mask;
	int64_t tgid; /* or OP_MANGLE_ALL, like the two below */
	int64_t tid;
	int64_t cpu;
};

/*
 * Write the name for @m to @buf of @len bytes, zero-terminated. Returns its
 * length in bytes or -ENAMETOOLONG, also for an event with its numbers that
 * does not fit a component; -EINVAL for an empty name or event, an event with
 * a '/', a path of a file or cgroup that is not absolute or has an empty
 * component ("//", a slash at its end; but "/" is a cgroup), a negative number
 * other than OP_MANGLE_ALL, anonymous memory that ends before it starts, an
 * application or dependent image that is absent, a call tree's that is not, or
 * a build that is no such text or of an image that has none.
 */
int op_mangle_build(const struct op_mangle *m, char *buf, size_t len);

/*
 * Parse @path. The strings in *@m point into @buf of @len bytes, which the
 * caller keeps as long as *@m. Returns 0; -EINVAL with the reason in @diag
 * when it is not such a name, -ENAMETOOLONG when @buf is too small
 * (OP_MANGLE_MAX is always enough for a path shorter than that).
 */
int op_mangle_parse(const char *path, struct op_mangle *m, char *buf,
		    size_t len, struct op_diag *diag);

#endif /* LIBOP_SESSION_OP_MANGLE_H */
