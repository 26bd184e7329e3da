/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBPP_IMAGES_SYMBOL_STORE_H
#define LIBPP_IMAGES_SYMBOL_STORE_H

/*
 * The store of a session folder: digests (elf_digest.h) of the binaries that
 * were sampled, and of their debug files, by build-id and fingerprint, so that
 * a report names the functions of a build that is gone. All sessions of the
 * folder share it. REST ends in "-" and the fingerprint, where that is known.
 *
 *	store/.build-id/XX/REST		the digest of a binary
 *	store/.build-id/XX/REST.debug	that of its debug file
 *	store/.build-id/XX/REST.inlines	what was inlined at sampled addresses
 *
 * So the store is one more folder with debug files. A file is written under
 * another name first: what is there is whole. Its time is when a session needed
 * it last.
 */

#include <stddef.h>
#include <stdint.h>

#include "libop/base/op_diag.h"
#include "libop/session/op_session.h"
#include "libpp/messages.h"
#include "libpp/select/profile_spec.h"

struct pp_store_request {
	const struct op_session *session;
	const struct pp_spec *spec; /* whose images to store */
	uint64_t max; /* bytes that the store may have */
	const char *const *without; /* patterns (fnmatch(3)) of paths that are
				       not stored, ended by NULL; or NULL */
};

/*
 * Store what reports need of each image of a profile that has a build-id. Then
 * remove what was needed longest ago, as long as the store is too large, but
 * nothing of this profile. @messages get warnings and, as PP_REMARK_BFD, what
 * was stored and removed; of the samples they get only that they could not be
 * read. Returns 0; -ENOENT when there are no samples, or -errno, with the
 * reason in @diag.
 */
int pp_store_symbols(const struct pp_store_request *request,
		     struct pp_messages *messages, struct op_diag *diag);

#endif /* LIBPP_IMAGES_SYMBOL_STORE_H */
