/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DAEMON_STORE_OPD_IMAGE_H
#define DAEMON_STORE_OPD_IMAGE_H

/*
 * The images that samples are in: a program, library, module, the kernel.
 * There is one struct opd_image for each name and build, however many cookies
 * stand for it, so that a sample file is opened once. They live as long as
 * the daemon.
 *
 * Builds of one name are told apart by op_build_text(), which has the
 * fingerprint, too: the same path is another file in a container, after an
 * upgrade, or when a program was compiled again. As an application, where only
 * its name counts, the first image of a name stands for all of them.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libop/image/op_build_id.h"
#include "libop/base/op_hash.h"
#include "libop/session/op_mangle.h"
#include "libop/session/op_sample_file.h"

/* The snapshot of a kernel image's symbols: opd_ksyms has it. */
enum opd_symbols {
	OPD_SYMBOLS_NONE, /* no sample yet */
	OPD_SYMBOLS_WANTED,
	OPD_SYMBOLS_DONE, /* or tried in vain */
};

struct opd_image {
	/* looked at for each change of context */
	bool wanted; /* by --image */
	bool is_made; /* of the code that one process made at run time */
	struct opd_image *first; /* of all with this name */
	/* looked at when a sample file is opened */
	enum op_image_space space;
	enum op_image_kind kind;
	char *name; /* not mangled */
	struct op_build_id build_id;
	uint64_t mtime; /* seconds, 0 unknown */
	char build[OP_BUILD_TEXT_MAX]; /* op_build_text(); empty: not known */
	enum opd_symbols symbols;
	uint64_t start; /* where a kernel image or module lies: opd_kernel */
	uint64_t end;
};

/* A stream may make up names without end, so these are kept and no more. */
#define OPD_IMAGES_MAX ((size_t)1 << 18)
#define OPD_IMAGE_NAMES_MAX ((size_t)128 << 20) /* bytes of all names */

struct opd_images {
	char *const *wanted; /* names of --image; borrowed */
	unsigned int nr_wanted; /* 0: all are wanted */
	struct opd_image **list;
	size_t nr;
	size_t names_len; /* bytes of all names */
	struct op_hash names; /* of the list: the first image of each name */
	struct op_hash builds; /* of the list: all, by name and build */
	struct opd_image anon; /* stands for all anonymous memory */
	struct opd_image *other; /* kernel code in no known range */
};

/*
 * Images are wanted that have one of the @nr_wanted names @wanted, which the
 * caller keeps, or all if it is 0. Returns 0 or -ENOMEM.
 */
int opd_images_init(struct opd_images *images, char *const *wanted,
		    unsigned int nr_wanted);
void opd_images_release(struct opd_images *images);

/* The identity of an image when it appears. */
struct opd_image_id {
	enum op_image_space space;
	enum op_image_kind kind;
	const char *name;
	struct op_build_id build_id;
	bool is_made;
	uint64_t dev; /* where there is no build-id, these three tell builds */
	uint64_t ino;
	uint64_t mtime;
};

/*
 * *@out = the image of that name and build, made when it is new. Returns 0,
 * -ENOMEM, -ENOSPC when there are as many as are kept, or -EEXIST when the name
 * belongs to an image of another kind.
 */
int opd_image_get(struct opd_images *images, const struct opd_image_id *id,
		  struct opd_image **out);

#endif /* DAEMON_STORE_OPD_IMAGE_H */
