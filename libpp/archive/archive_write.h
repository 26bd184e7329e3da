/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBPP_ARCHIVE_ARCHIVE_WRITE_H
#define LIBPP_ARCHIVE_ARCHIVE_WRITE_H

/*
 * Writing an archive (libpp/archive/archive.h) of what is listed. It is there
 * as a whole or not at all (archive_folder.h); what there is of one that fails
 * is removed.
 */

#include <stdbool.h>
#include <stdint.h>

#include "libop/base/op_diag.h"
#include "libpp/archive/archive_list.h"

struct pp_archive_writing {
	const char *folder; /* the archive to be */
	bool symbols_only; /* digests of binaries (elf_digest.h) */
	bool replace; /* an archive that is there already */
	/* Called now and then with the bytes that are done; what is not 0 ends
	 * the writing. */
	int (*progress)(void *data, uint64_t done);
	void *data;
};

/*
 * Write what @list holds; warnings are added to its messages. Returns 0 or
 * -errno with the reason in @diag; then nothing is left: -EEXIST when the
 * folder is there and not empty, -EINTR when progress() said so.
 */
int pp_archive_write(struct pp_archive_list *list,
		     const struct pp_archive_writing *how,
		     struct op_diag *diag);

#endif /* LIBPP_ARCHIVE_ARCHIVE_WRITE_H */
