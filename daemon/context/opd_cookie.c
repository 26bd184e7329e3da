// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Cookies are an array in the order in which they were learnt, with a hash
 * table of the places in it (libop/base/op_hash.h). They are never removed one
 * by one, only all of them when another stream begins. A cookie that is not
 * there may still get a name (-EAGAIN, its samples are deferred); a cookie
 * without an image has none (-ENOENT, its samples are lost).
 */

#include "daemon/context/opd_cookie.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/store/opd_image.h"
#include "libop/base/op_array.h"
#include "libop/base/op_log.h"

static struct opd_cookie *find_cookie(const struct opd_cookies *cookies,
				      uint64_t cookie)
{
	uint64_t hash = op_hash_mix(cookies->index.seed, cookie);
	uint32_t number;

	op_hash_each(&cookies->index, hash, number)
		if (cookies->known[number - 1].cookie == cookie)
			return &cookies->known[number - 1];
	return NULL;
}

static int put_cookie(struct opd_cookies *cookies, uint64_t cookie,
		      struct opd_image *image)
{
	struct opd_cookie *known = find_cookie(cookies, cookie);

	if (known) {
		cookies->changes += known->image != image;
		known->image = image;
		return 0;
	}
	if (op_hash_reserve(&cookies->index, cookies->nr + 1) ||
	    op_array_reserve(&cookies->known, cookies->nr, 1))
		return -ENOMEM;
	cookies->known[cookies->nr++] = (struct opd_cookie){ cookie, image };
	op_hash_add(&cookies->index, op_hash_mix(cookies->index.seed, cookie),
		    (uint32_t)cookies->nr);
	return 0;
}

void opd_cookies_init(struct opd_cookies *cookies, struct opd_images *images,
		      struct op_log *log)
{
	memset(cookies, 0, sizeof(*cookies));
	cookies->images = images;
	cookies->log = log;
}

void opd_cookies_release(struct opd_cookies *cookies)
{
	free(cookies->known);
	cookies->known = NULL;
	cookies->nr = 0;
	cookies->changes++;
	op_hash_release(&cookies->index);
}

static bool query_ok(const struct op_cookie_query *query)
{
	return query->cookie != OP_NO_COOKIE &&
	       memchr(query->path, '\0', sizeof(query->path)) &&
	       query->build_id_len <= OP_BUILD_ID_MAX;
}

bool opd_cookie_is_made(const struct op_cookie_query *query)
{
	return query->flags & OP_IMAGE_NO_FILE &&
	       !(query->flags & OP_IMAGE_DELETED) && query->path[0] == '/';
}

int opd_cookie_learn(struct opd_cookies *cookies,
		     const struct op_cookie_query *query)
{
	struct opd_image_id id = { .kind = OP_IMAGE_FILE };
	struct opd_image *image = NULL;
	int err;

	if (!query_ok(query))
		return -EINVAL;
	if (!query->path[0])
		return put_cookie(cookies, query->cookie, NULL);
	id.name = query->path;
	id.space = id.name[0] == '/' ? OP_SPACE_ROOT : OP_SPACE_KERN;
	id.dev = query->dev;
	id.ino = query->ino;
	id.mtime = query->mtime;
	id.is_made = opd_cookie_is_made(query);
	id.build_id = op_build_id_of_room(query->build_id, query->build_id_len);
	err = opd_image_get(cookies->images, &id, &image);
	if (err == -EEXIST)
		op_log(cookies->log, "%s: a kernel image has the same name",
		       query->path);
	if (err == -ENOSPC && !cookies->full)
		op_log(cookies->log,
		       "too many images: further ones have no names");
	cookies->full |= err == -ENOSPC;
	if (err && err != -EEXIST && err != -ENOSPC)
		return err;
	op_verbose(cookies->log, OP_V_MISC, "cookie %" PRIu64 " is %s",
		   (uint64_t)query->cookie, query->path);
	return put_cookie(cookies, query->cookie, image);
}

int opd_cookie_find(const struct opd_cookies *cookies, uint64_t cookie,
		    struct opd_image **out)
{
	const struct opd_cookie *known;

	if (cookie == OP_NO_COOKIE)
		return -ENOENT;
	known = find_cookie(cookies, cookie);
	if (!known)
		return -EAGAIN;
	*out = known->image;
	return known->image ? 0 : -ENOENT;
}
