/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DAEMON_STORE_OPD_SAMPLE_FILE_H
#define DAEMON_STORE_OPD_SAMPLE_FILE_H

/*
 * Opening a sample file so that what is added to it never mixes with what it
 * must not be mixed with:
 *
 * - A damaged file is renamed to NAME.bad (NAME.bad-2 ...).
 * - A file about another build of the image, or taken at another rate of the
 *   timer, is moved to the same name in the session "aside" (aside-2 ...),
 *   where it stays readable: opreport session:aside. The ledger of that
 *   session counts it as stored, the one of this session as lost_set_aside.
 *
 * Both are said in the log.
 */

#include <stdint.h>

struct ctree;
struct odb;
struct opd;
struct op_sample_header;
struct opd_event;
struct opd_sfile;
struct opd_sfile_key;

/*
 * Open or create the sample file of @sfile and @event. Returns 0 or -errno;
 * the log has why.
 */
int opd_sample_file_open(struct opd *opd, const struct opd_sfile *sfile,
			 const struct opd_event *event, struct odb **out);

/* How many samples of the session's account are in @odb. */
uint64_t opd_sample_file_samples(struct odb *odb);

/*
 * The same for the call tree of @key, whose images are both the application.
 * *@nr_nodes: it has no more than these.
 */
int opd_sample_file_open_tree(struct opd *opd, const struct opd_sfile_key *key,
			      const struct opd_event *event, struct ctree **out,
			      uint64_t *nr_nodes);

/* Rename the damaged sample file @path. */
void opd_sample_file_damaged(struct opd *opd, const char *path);

#endif /* DAEMON_STORE_OPD_SAMPLE_FILE_H */
