/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DAEMON_STORE_OPD_SAMPLE_FILE_H
#define DAEMON_STORE_OPD_SAMPLE_FILE_H

/*
 * Opening a sample file so that what is added to it never mixes with what it
 * must not be mixed with. A damaged file makes way
 * (opd_store_rename_damaged()). Builds of an image have files of their own
 * (libop/session/op_mangle.h).
 */

#include <stdint.h>

struct ctree;
struct odb;
struct opd_store;
struct op_sample_header;
struct opd_event;
struct opd_sfile;
struct opd_sfile_key;

/*
 * Open or create the sample file of @sfile and @event. Returns 0 or -errno, and
 * the log has why: -EEXIST when samples of another event of that name are
 * there. *@id is that of the file in the time line.
 */
int opd_sample_file_open(struct opd_store *store, const struct opd_sfile *sfile,
			 const struct opd_event *event, struct odb **out,
			 uint64_t *id);

/* How many samples of the session's account are in @odb. */
uint64_t opd_sample_file_samples(struct odb *odb);

/*
 * The same for the call tree of @key, whose images are both the application.
 * *@nr_nodes: it has no more than these.
 */
int opd_sample_file_open_tree(struct opd_store *store,
			      const struct opd_sfile_key *key,
			      const struct opd_event *event, struct ctree **out,
			      uint64_t *nr_nodes, uint64_t *id);

#endif /* DAEMON_STORE_OPD_SAMPLE_FILE_H */
