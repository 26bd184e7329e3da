/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DAEMON_STORE_OPD_MANGLING_H
#define DAEMON_STORE_OPD_MANGLING_H

/*
 * From the key of an sfile to the name of a sample file, and the folders that
 * the name needs. The grammar of names is libop/session/op_mangle.h's.
 */

#include <stddef.h>

struct opd_callee;
struct opd_event;
struct opd_sfile_key;

/* In the names of files that hold arcs, and no others:
 * libop/session/op_mangle.h. */
#define OPD_ARCS "/{cg}/"
/* The same of call trees. */
#define OPD_TREE "/{tree}/"

/*
 * Write the name, relative to samples/current, of the sample file for @key and
 * @event to @buf; with a @callee, of that for arcs from @key to it. Returns 0,
 * -ENAMETOOLONG or -EINVAL.
 */
int opd_mangle(const struct opd_sfile_key *key, const struct opd_callee *callee,
	       const struct opd_event *event, char *buf, size_t len);

/* The same for the call tree of @key, whose images are both the application. */
int opd_mangle_tree(const struct opd_sfile_key *key,
		    const struct opd_event *event, char *buf, size_t len);

#endif /* DAEMON_STORE_OPD_MANGLING_H */
