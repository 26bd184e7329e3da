/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DAEMON_CONTEXT_OPD_COOKIE_H
#define DAEMON_CONTEXT_OPD_COOKIE_H

/*
 * The images that the image cookies of the stream stand for, by its
 * OP_COOKIE_NAME records. A cookie is unique and stable until another stream
 * begins.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libop/base/op_hash.h"
#include "module/uapi/oprofile.h"

struct op_log;
struct opd_image;
struct opd_images;

struct opd_cookie {
	uint64_t cookie;
	struct opd_image *image; /* NULL: there is no name for it */
};

struct opd_cookies {
	struct opd_images *images; /* borrowed, like the log */
	struct op_log *log;
	struct opd_cookie *known;
	size_t nr;
	struct op_hash index; /* of known, by cookie */
	uint64_t changes; /* of the image of a cookie that was known */
	bool full; /* it was said that there is no room for images */
};

/* Whether an image was made by the profiler, of code that a program made at run
 * time: it has a path and no file. */
bool opd_cookie_is_made(const struct op_cookie_query *query);

/* None is known. */
void opd_cookies_init(struct opd_cookies *cookies, struct opd_images *images,
		      struct op_log *log);

/*
 * *@out = the image of @cookie. Returns 0; -EAGAIN when its name may still
 * come; -ENOENT when it has none.
 */
int opd_cookie_find(const struct opd_cookies *cookies, uint64_t cookie,
		    struct opd_image **out);

/*
 * Learn that @query->cookie stands for the rest of @query; what the source
 * did not know is completed from the file if that is still the same one.
 * Returns 0, -ENOMEM, -EINVAL for a name or build-id that cannot be one.
 */
int opd_cookie_learn(struct opd_cookies *cookies,
		     const struct op_cookie_query *query);

/* Forget all of them: another stream begins. */
void opd_cookies_release(struct opd_cookies *cookies);

#endif /* DAEMON_CONTEXT_OPD_COOKIE_H */
