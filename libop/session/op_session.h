/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBOP_SESSION_OP_SESSION_H
#define LIBOP_SESSION_OP_SESSION_H

/*
 * Where things of a session lie, below its session folder:
 *
 *	samples/current/	sample files of the running session, and the
 *				pack of those at rest
 *	samples/NAME/		a saved session
 *	samples/NAME/ledger	where its samples went (op_ledger.h)
 *	samples/NAME/.span-*	its past, by time (op_span.h)
 *	samples/oprofiled.log	the daemon's log
 *	symbols/		symbols of kernel and modules (op_ksyms.h)
 *	store/			symbols and lines of binaries by build-id
 *				(libpp/images/symbol_store.h)
 *	images/			copies of binaries that were deleted or replaced
 *				since (op_session_image()), and what is known of
 *				code that programs made at run time
 *
 * The lock and the control socket are in the run folder, /run/oprofile for
 * the default session folder and SESSION_DIR/run for any other.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libop/base/op_diag.h"
#include "libop/image/op_build_id.h"

#define OP_SESSION_DIR_DEFAULT "/var/lib/oprofile"

/* MiB of sample files that the daemon leaves as they are; 0: all of them. */
#define OP_PACK_AT_DEFAULT 8
/* Slices of the time line of a session. */
#define OP_SLICES_DEFAULT 256
#define OP_SLICES_MIN 16
#define OP_SLICES_MAX 4096
#define OP_PACK_AT_MAX (1 << 20)

/* MiB of the store of symbols; 0: nothing is stored. */
#define OP_STORE_DEFAULT 256
#define OP_STORE_MAX (1 << 20)

struct op_session {
	char dir[4096]; /* absolute, no slash at its end */
	char samples[4096 + 16]; /* dir/samples */
	char current[4096 + 32]; /* dir/samples/current */
	char log[4096 + 32]; /* dir/samples/oprofiled.log */
	char symbols[4096 + 16]; /* dir/symbols */
	char images[4096 + 16]; /* dir/images */
	char store[4096 + 16]; /* dir/store */
	char run[4096 + 16];
	char lock[4096 + 32]; /* run/lock: holds the daemon's pid */
	char socket[4096 + 32]; /* run/control */
	char mine[4096 + 32]; /* run/mine: the socket for other users */
};

/*
 * Fill the paths for @dir, or for the default session folder if @dir is NULL:
 * ./oprofile_data where that exists, else OP_SESSION_DIR_DEFAULT. Creates
 * nothing; @dir need not exist. It is made absolute, and links in the part
 * that exists are resolved, so that the same folder always has the same run
 * folder. Returns 0 or -errno with the reason in @diag; -EPERM when @dir is
 * NULL and ./oprofile_data belongs to neither root nor the caller.
 */
int op_session_init(struct op_session *session, const char *dir,
		    struct op_diag *diag);

/*
 * Whether @name may name a saved session: not empty, no slash, no leading
 * dot, no control character, at most 255 bytes, and neither "current" nor
 * "oprofiled.log". Returns 0 or -EINVAL with the reason in @diag.
 */
int op_session_name_check(const char *name, struct op_diag *diag);

/*
 * Whether what is called @name in the folder of a running or saved session is
 * sample files, packed or not, something of a packer (libdb/db_folder.h), or
 * spans of its history (op_span.h).
 */
bool op_session_holds_samples(const char *name);

/*
 * Whether a file of that name is one that is being made: .NAME.grow of libdb,
 * .tmp-XXXXXX of op_replace_open(). Where nobody makes files, who made it was
 * killed. No sample file is called so.
 */
bool op_session_is_unfinished(const char *name);

/*
 * Where the session has its copy of the binary @name, if it has one: in
 * images/ by the last part of the name and its build-id with the fingerprint,
 * or its time of modification @mtime where it has no build-id. @build_id is a
 * room (op_build_id.h). Copies of earlier releases have no fingerprint in their
 * names. Returns 0 or -ENAMETOOLONG.
 */
int op_session_image(const struct op_session *session, const char *name,
		     const struct op_build_id *build_id, uint64_t mtime,
		     char *buf, size_t len);

/*
 * Where the store of the session has the digest of a binary, if it has one:
 * below store/ by the build-id with the fingerprint, as above. Returns 0,
 * -ENOENT for a build-id that is too short, or -ENAMETOOLONG.
 */
int op_session_digest(const struct op_session *session,
		      const struct op_build_id *build_id, char *buf,
		      size_t len);

/*
 * Replace @path, which one of the two functions above made for a build without
 * a fingerprint, by the path of the file of this build with any fingerprint, if
 * there is exactly one. @len is the size of @path in bytes. Returns 0; -ENOENT;
 * -ENOTUNIQ if there are several; -ENAMETOOLONG; or -errno.
 */
int op_session_any_fingerprint(char *path, size_t len);

#endif /* LIBOP_SESSION_OP_SESSION_H */
