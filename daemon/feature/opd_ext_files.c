// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * For each sfile with samples of the feature there is an array of databases,
 * one for each event of the feature, each opened at its first count. They
 * follow the rules of the sample files of counters: a file that cannot be
 * opened is tried again after a sync, and a file that somebody deleted is
 * started anew. The bounds on open files are those of opd_sfile.c, as all files
 * are opened and closed there.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/feature/opd_ext_files.h"
#include "daemon/source/opd_events.h"
#include "daemon/store/opd_disk.h"
#include "daemon/store/opd_sfile.h"
#include "libdb/odb.h"
#include "libop/base/op_log.h"
#include "libop/session/op_sample_file.h"

/* The open files of one sfile, at sfile->ext[]. */
struct files {
	unsigned int nr;
	struct {
		struct odb *odb; /* NULL: not open */
		bool failed; /* it cannot be opened */
	} file[];
};

int opd_ext_events_add(struct opd_ext_events *events,
		       const struct opd_event *event, struct op_diag *diag)
{
	if (events->nr == OPD_EXT_MAX_EVENTS)
		return op_diag_set(diag, -ENOSPC,
				   "%s: at most %d events can be used together",
				   event->name, OPD_EXT_MAX_EVENTS);
	for (unsigned int i = 0; i < events->nr; i++)
		if (!strcmp(events->event[i].name, event->name))
			return op_diag_set(diag, -EINVAL, "%s: given twice",
					   event->name);
	events->event[events->nr] = *event;
	events->event[events->nr].derived = true;
	return (int)events->nr++;
}

/* ---- the handlers -----------------------------------------------------------
 */

void opd_ext_files_close(struct opd_ext *ext, struct opd_sfile *sfile)
{
	struct files *files = sfile->ext[ext->index];

	for (unsigned int i = 0; i < files->nr; i++)
		opd_sfile_close_odb(ext->store, &files->file[i].odb);
	free(files);
	sfile->ext[ext->index] = NULL;
}

void opd_ext_files_sync(struct opd_ext *ext, struct opd_sfile *sfile)
{
	struct files *files = sfile->ext[ext->index];

	for (unsigned int i = 0; i < files->nr; i++) {
		files->file[i].failed = false;
		if (files->file[i].odb && odb_sync(files->file[i].odb))
			op_log(ext->log, "a sample file cannot be written");
	}
}

/* ---- counting ---------------------------------------------------------------
 */

/*
 * The open database of event @event at @sfile, which gets its array of them
 * with the first sample. NULL if the file cannot be opened or memory is short.
 */
static struct odb *get_event_odb(struct opd_ext *ext, struct opd_sfile *sfile,
				 unsigned int event)
{
	const struct opd_ext_events *events = ext->state;
	struct files *files = sfile->ext[ext->index];

	if (!files) {
		files = calloc(1, sizeof(*files) +
					  events->nr * sizeof(files->file[0]));
		if (!files)
			return NULL;
		files->nr = events->nr;
		sfile->ext[ext->index] = files;
	}
	if (!files->file[event].odb && !files->file[event].failed)
		files->file[event].failed =
			opd_sfile_open_odb(ext->store, sfile,
					   &events->event[event],
					   &files->file[event].odb);
	return files->file[event].odb;
}

struct odb *opd_ext_files_add(struct opd_ext *ext,
			      const struct opd_ext_sample *sample,
			      unsigned int event, uint64_t nr)
{
	struct opd_ext_events *events = ext->state;
	struct odb *odb = get_event_odb(ext, sample->sfile, event);
	struct files *files;
	int err;

	if (!odb)
		return NULL;
	nr *= sample->times;
	err = odb_add(odb, sample->offset, nr);
	if (err == -ESTALE || err == -ENOENT) {
		/* Somebody deleted or replaced the file: start a new one. */
		files = sample->sfile->ext[ext->index];
		opd_sfile_lose_odb(ext->store, &files->file[event].odb);
		odb = get_event_odb(ext, sample->sfile, event);
		err = odb ? odb_add(odb, sample->offset, nr) : 0;
	}
	if (err == -EDQUOT)
		opd_disk_refused(ext->store, err);
	else if (err)
		op_log(ext->log, "a sample file cannot grow: %s",
		       strerror(-err));
	if (err || !odb)
		return NULL;
	events->counted[event] += nr;
	return odb;
}

void opd_ext_files_own(struct odb *odb, const struct opd_ext_sample *sample)
{
	struct op_sample_header *header = odb_user(odb);

	header->samples += sample->times;
}
