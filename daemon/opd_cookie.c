// SPDX-License-Identifier: GPL-2.0-or-later

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/opd.h"

#define FIRST_SLOTS 1024

static struct opd_cookie *find_slot(const struct opd_cookies *cookies,
				    uint64_t cookie)
{
	size_t mask = cookies->nr_slots - 1;
	size_t i = (cookie * UINT64_C(0x9e3779b97f4a7c15) >> 32) & mask;

	while (cookies->slots[i].cookie != cookie &&
	       cookies->slots[i].cookie != OP_NO_COOKIE)
		i = (i + 1) & mask;
	return &cookies->slots[i];
}

static int grow(struct opd_cookies *cookies)
{
	struct opd_cookies more = { NULL, FIRST_SLOTS, cookies->nr };

	if (cookies->nr_slots)
		more.nr_slots = cookies->nr_slots * 2;
	more.slots = calloc(more.nr_slots, sizeof(more.slots[0]));
	if (!more.slots)
		return -ENOMEM;
	for (size_t i = 0; i < cookies->nr_slots; i++)
		if (cookies->slots[i].cookie != OP_NO_COOKIE)
			*find_slot(&more, cookies->slots[i].cookie) =
				cookies->slots[i];
	free(cookies->slots);
	*cookies = more;
	return 0;
}

static int put_cookie(struct opd_cookies *cookies, uint64_t cookie,
		      struct opd_image *image)
{
	struct opd_cookie *slot;

	if (cookies->nr >= cookies->nr_slots / 2 && grow(cookies))
		return -ENOMEM;
	slot = find_slot(cookies, cookie);
	cookies->nr += slot->cookie == OP_NO_COOKIE;
	slot->cookie = cookie;
	slot->image = image;
	return 0;
}

void opd_cookies_release(struct opd_cookies *cookies)
{
	free(cookies->slots);
	memset(cookies, 0, sizeof(*cookies));
}

static bool query_ok(const struct op_cookie_query *query)
{
	return query->cookie != OP_NO_COOKIE &&
	       memchr(query->path, '\0', sizeof(query->path)) &&
	       query->build_id_len <= OP_BUILD_ID_MAX;
}

int opd_cookie_learn(struct opd *opd, const struct op_cookie_query *query)
{
	struct opd_image_id id = { .kind = OP_IMAGE_FILE };
	struct opd_image *image = NULL;
	int err;

	if (!query_ok(query))
		return -EINVAL;
	if (!query->path[0]) {
		opd_trans_forget_images(&opd->trans);
		return put_cookie(&opd->cookies, query->cookie, NULL);
	}
	id.name = query->path;
	id.space = id.name[0] == '/' ? OP_SPACE_ROOT : OP_SPACE_KERN;
	id.deleted = query->flags & OP_IMAGE_DELETED;
	id.mtime = query->mtime;
	id.build_id.len = query->build_id_len;
	memcpy(id.build_id.bytes, query->build_id, query->build_id_len);
	err = opd_image_get(opd, &id, &image);
	if (err == -EEXIST)
		op_log(&opd->log, "%s: a kernel image has the same name",
		       query->path);
	if (err && err != -EEXIST)
		return err;
	op_verbose(&opd->log, OP_V_MISC, "cookie %" PRIu64 " is %s",
		   (uint64_t)query->cookie, query->path);
	opd_trans_forget_images(&opd->trans);
	return put_cookie(&opd->cookies, query->cookie, image);
}

int opd_cookie_find(struct opd *opd, uint64_t cookie, struct opd_image **out)
{
	struct opd_cookie *slot;

	if (cookie == OP_NO_COOKIE)
		return -ENOENT;
	if (!opd->cookies.nr_slots)
		return -EAGAIN;
	slot = find_slot(&opd->cookies, cookie);
	if (slot->cookie != cookie)
		return -EAGAIN;
	*out = slot->image;
	return slot->image ? 0 : -ENOENT;
}
