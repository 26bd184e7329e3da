/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBPP_IMAGES_KEPT_SYMBOLS_H
#define LIBPP_IMAGES_KEPT_SYMBOLS_H

/*
 * The symbols of images, kept from one report to the next. Reading them takes
 * most of the time that a report takes, and a build of an image always has the
 * same ones. A program that makes reports about one session again and again
 * names such an object in its requests.
 *
 * Not kept is what may be other when it is looked at again: names of code that
 * was made at run time, images without symbols, what could not be read, and
 * archives, which belong to the report.
 *
 * One thread at a time. All requests with one object have the same session,
 * --root and --image-path.
 */

#include "libpp/images/image_symbols.h"

struct pp_kept_symbols;

/* NULL when memory is short. */
struct pp_kept_symbols *pp_kept_symbols_new(void);
void pp_kept_symbols_free(struct pp_kept_symbols *kept);

/*
 * Open the symbols of an image as pp_image_symbols_open() does, or give those
 * that were opened for this build of the image before; its messages are given
 * again. *@out is set on success and is to be put back before the next one is
 * asked for; an error of reading in between becomes a message then. Returns 0
 * or -ENOMEM.
 */
int pp_kept_symbols_get(struct pp_kept_symbols *kept,
			struct pp_image_symbols **out,
			const struct pp_image *image,
			const struct op_session *session,
			struct pp_locator *locator, unsigned int wants,
			struct pp_messages *messages);
void pp_kept_symbols_put(struct pp_kept_symbols *kept,
			 struct pp_image_symbols *symbols,
			 struct pp_messages *messages);

/* The arena for pp_image_symbols_place(), which lives as long as @kept; NULL
 * for @symbols that are not kept: that of the report is enough for these. */
struct op_arena *pp_kept_symbols_arena(struct pp_kept_symbols *kept,
				       const struct pp_image_symbols *symbols);

#endif /* LIBPP_IMAGES_KEPT_SYMBOLS_H */
