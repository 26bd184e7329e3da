/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBPP_IMAGES_STORE_IMAGE_H
#define LIBPP_IMAGES_STORE_IMAGE_H

/*
 * Storing an image in the symbol store of a session, for symbol_store.c alone.
 */

#include <sys/types.h>

#include "libpp/report/populate_symbols.h"

struct pp_storing {
	const struct op_session *session;
	struct pp_locator *locator; /* debug.only_own: files of others are read
				       with the rights of their owners */
	struct pp_messages *messages;
	uint64_t max; /* bytes that the store may have */
	int cache; /* of sessions; negative: there is none */
	int64_t patience_ms; /* what is left for all files of other users */
	uid_t *given_up; /* an op_array: whose files took too long; to be freed
			    by the caller */
	size_t nr_given_up;
	size_t nr_unread; /* files of other users left out for want of rights,
			     or of time */
	int unread_err; /* -errno of the last of them */
};

/*
 * Store the digest of @image and of its debug file, and what was inlined at
 * @nr points of it, which are in ascending order; or note that what is stored
 * is needed. What goes wrong with the image is said. Returns 0, -ENOMEM or
 * -ENOSPC.
 */
int pp_store_image(struct pp_storing *s, const struct pp_image *image,
		   struct pp_point *points, size_t nr);

#endif /* LIBPP_IMAGES_STORE_IMAGE_H */
