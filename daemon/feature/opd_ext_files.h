/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DAEMON_FEATURE_OPD_EXT_FILES_H
#define DAEMON_FEATURE_OPD_EXT_FILES_H

/*
 * The sample files of a feature that has events: virtual counters, which no
 * counter of the stream counts. Their counts are derived: one sample may
 * count in several of them, or add a number of cycles. So that the session's
 * account stays exact, each sample is told to one of its files
 * (opd_ext_files_own()), whose header says how many samples are its own.
 *
 * An opd_ext that uses this has a struct opd_ext_events first in its state.
 */

#include "daemon/feature/opd_extended.h"
#include "daemon/source/opd_events.h"

#define OPD_EXT_MAX_EVENTS 128

struct opd_ext_events {
	unsigned int nr;
	struct opd_event event[OPD_EXT_MAX_EVENTS];
	uint64_t counted[OPD_EXT_MAX_EVENTS]; /* since the start */
};

/* Handlers for struct opd_ext_sfile_handlers. */
void opd_ext_files_close(struct opd_ext *ext, struct opd_sfile *sfile);
void opd_ext_files_sync(struct opd_ext *ext, struct opd_sfile *sfile);

/*
 * Add event @name to @events. Returns its number; -ENOSPC, or -EINVAL when
 * two would share a sample file, with the reason.
 */
int opd_ext_events_add(struct opd_ext_events *events,
		       const struct opd_event *event, struct op_diag *diag);

/*
 * Add @nr to the count of event @event at the place of @sample, for each time
 * that it was taken. Returns the database, NULL when that failed. The pointer
 * holds until the next call.
 */
struct odb *opd_ext_files_add(struct opd_ext *ext,
			      const struct opd_ext_sample *sample,
			      unsigned int event, uint64_t nr);

/* @odb, just returned, is where @sample is stored for the account. */
void opd_ext_files_own(struct odb *odb, const struct opd_ext_sample *sample);

#endif /* DAEMON_FEATURE_OPD_EXT_FILES_H */
