// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * AMD's Instruction-Based Sampling: the hardware picks a fetch or an op and
 * tells all that happened to it. The feature's arguments are
 *
 *	fetch:EVENT,EVENT...:COUNT:UM|op:EVENT,EVENT...:COUNT:UM
 *
 * with one of the two or both. The hardware takes one sample of each kind
 * every COUNT cycles or ops; the events are derived from it
 * (opd_ibs_trans.h), each into sample files of its own.
 */

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/feature/opd_ext_files.h"
#include "daemon/feature/opd_ibs_log.h"
#include "daemon/feature/opd_ibs_trans.h"
#include "daemon/source/opd_stream.h"
#include "daemon/store/opd_disk.h"
#include "daemon/store/opd_store.h"
#include "libop/files/op_config.h"
#include "libop/base/op_log.h"
#include "libop/session/op_session.h"

struct kind {
	bool given;
	uint64_t count;
	unsigned int um;
	unsigned int nr; /* events */
	const struct opd_ibs_event *event[OPD_EXT_MAX_EVENTS];
	unsigned int vc[OPD_EXT_MAX_EVENTS]; /* their numbers in events */
	/* samples, of all that were placed */
	uint64_t samples;
	uint64_t killed; /* fetches */
	uint64_t no_address;
	uint64_t no_event; /* nothing that was asked for happened */
};

struct opd_ibs {
	struct opd_ext_events events; /* first: opd_ext_files.h */
	struct kind kind[OPD_IBS_NR_KINDS];
	struct opd_ibs_log log;
	uint64_t cut; /* records that lack registers */
};

static const char *const kind_names[] = {
	[OPD_IBS_FETCH] = "fetch",
	[OPD_IBS_OP] = "op",
};

/* ---- arguments --------------------------------------------------------------
 */

#define FORM "fetch:EVENT,...:COUNT:UM|op:EVENT,...:COUNT:UM"

static int bad_event(const char *name, enum opd_ibs_kind kind,
		     const struct opd_ibs_event *event, struct op_diag *diag)
{
	if (!event)
		return op_diag_set(
			diag, -EINVAL,
			"ibs: %s: IBS has no event of this name; ophelp lists them",
			name);
	return op_diag_set(diag, -EINVAL,
			   "ibs: %s: an event of %s, not of %s; give it there",
			   name, kind_names[event->kind], kind_names[kind]);
}

static int add_event(struct opd_ibs *ibs, enum opd_ibs_kind kind,
		     const char *name, struct op_diag *diag)
{
	const struct opd_ibs_event *event =
		opd_ibs_event_find(name, strlen(name));
	struct kind *k = &ibs->kind[kind];
	struct opd_event counter = { .set = true, .count = k->count };
	int number;

	if (!event || event->kind != kind)
		return bad_event(name, kind, event, diag);
	memcpy(counter.name, event->name, strlen(event->name) + 1);
	counter.value = event->code;
	counter.um = k->um;
	number = opd_ext_events_add(&ibs->events, &counter, diag);
	if (number < 0)
		return number;
	k->event[k->nr] = event;
	k->vc[k->nr++] = (unsigned int)number;
	return 0;
}

static int add_events(struct opd_ibs *ibs, enum opd_ibs_kind kind, char *list,
		      struct op_diag *diag)
{
	char *name;
	int err = 0;

	while (!err && (name = strsep(&list, ",")))
		if (*name)
			err = add_event(ibs, kind, name, diag);
	if (!err && !ibs->kind[kind].nr)
		err = op_diag_set(diag, -EINVAL,
				  "ibs: %s: no event; give one or more",
				  kind_names[kind]);
	return err;
}

static int parse_count(struct kind *kind, const char *name, const char *text,
		       struct op_diag *diag)
{
	if (op_parse_u64(text, &kind->count) || !kind->count ||
	    kind->count % 16 || kind->count > UINT32_MAX)
		return op_diag_set(
			diag, -EINVAL,
			"ibs: %s: count %s is not a multiple of 16; give one, such as 50000",
			name, text);
	return 0;
}

static int parse_um(struct kind *kind, enum opd_ibs_kind nr, const char *text,
		    struct op_diag *diag)
{
	uint64_t most = nr == OPD_IBS_OP ? OPD_IBS_UM_ALL : 0, um;

	if (op_parse_u64(text, &um) || um > most)
		return op_diag_set(
			diag, -EINVAL,
			"ibs: %s: unit mask %s is not possible; give %s",
			kind_names[nr], text, most ? "bits of 0x7" : "only 0");
	kind->um = (unsigned int)um;
	return 0;
}

/* "EVENT,...:COUNT:UM", which is written to. */
static int parse_kind(struct opd_ibs *ibs, enum opd_ibs_kind nr, char *text,
		      struct op_diag *diag)
{
	struct kind *kind = &ibs->kind[nr];
	char *list = strsep(&text, ":");
	char *count = strsep(&text, ":");
	int err;

	if (kind->given)
		return op_diag_set(diag, -EINVAL, "ibs: %s: given twice",
				   kind_names[nr]);
	if (!list || !count || !text || strchr(text, ':'))
		return op_diag_set(diag, -EINVAL, "ibs: %s: the form is " FORM,
				   kind_names[nr]);
	kind->given = true;
	err = parse_count(kind, kind_names[nr], count, diag);
	if (!err)
		err = parse_um(kind, nr, text, diag);
	return err ? err : add_events(ibs, nr, list, diag);
}

static int parse(struct opd_ibs *ibs, char *text, struct op_diag *diag)
{
	char *part;
	int err = 0;

	while (!err && (part = strsep(&text, "|"))) {
		const char *name = strsep(&part, ":");

		if (!strcmp(name, "fetch"))
			err = parse_kind(ibs, OPD_IBS_FETCH, part, diag);
		else if (!strcmp(name, "op"))
			err = parse_kind(ibs, OPD_IBS_OP, part, diag);
		else
			err = op_diag_set(diag, -EINVAL,
					  "ibs: '%s': the form is " FORM, name);
	}
	return err;
}

static int ibs_init(struct opd_ext *ext, const char *args, struct op_diag *diag)
{
	struct opd_ibs *ibs = calloc(1, sizeof(*ibs));
	char *copy = strdup(args);
	int err = -ENOMEM;

	ext->state = ibs;
	if (ibs && copy)
		err = parse(ibs, copy, diag);
	free(copy);
	return err ? op_diag_set(diag, err, "ibs: out of memory") : 0;
}

static void ibs_release(struct opd_ext *ext)
{
	struct opd_ibs *ibs = ext->state;

	if (ibs)
		opd_ibs_log_close(&ibs->log);
	free(ibs);
	ext->state = NULL;
}

static int ibs_start(struct opd_ext *ext, struct op_diag *diag)
{
	struct opd_ibs *ibs = ext->state;

	return opd_ibs_log_open(&ibs->log, ext->store->session->samples,
				ibs->kind[OPD_IBS_OP].um, diag);
}

/* ---- samples ----------------------------------------------------------------
 */

static enum opd_ext_use ibs_record(struct opd_ext *ext,
				   const struct opd_rec *rec, uint64_t *pc)
{
	struct opd_ibs *ibs = ext->state;

	if (!opd_ibs_record_is_whole(rec->code, rec->payload, rec->nr_words)) {
		ibs->cut++;
		return OPD_EXT_BAD;
	}
	*pc = rec->payload[0];
	return OPD_EXT_SAMPLE;
}

/* Count in each event that happened; the first has the sample. */
static enum opd_fate count_events(struct opd_ext *ext,
				  const struct opd_ext_sample *sample,
				  const struct opd_ibs_regs *regs)
{
	struct opd_ibs *ibs = ext->state;
	const struct kind *kind = &ibs->kind[regs->kind];
	enum opd_fate fate = OPD_LOST_NO_IBS_EVENT;

	for (unsigned int i = 0; i < kind->nr; i++) {
		uint64_t nr = opd_ibs_derive(kind->event[i], regs);
		struct odb *odb;

		if (!nr)
			continue;
		odb = opd_ext_files_add(ext, sample, kind->vc[i], nr);
		if (odb && fate != OPD_STORED) {
			opd_ext_files_own(odb, sample);
			fate = OPD_STORED;
		} else if (fate != OPD_STORED) {
			fate = opd_disk_is_short(ext->store)
				       ? OPD_LOST_MAX_DISK
				       : OPD_LOST_SAMPLE_FILE;
		}
	}
	return fate;
}

static enum opd_fate ibs_count(struct opd_ext *ext,
			       const struct opd_ext_sample *sample)
{
	struct opd_ibs *ibs = ext->state;
	struct opd_ibs_regs regs;
	struct kind *kind;
	enum opd_fate fate;

	opd_ibs_regs_parse(&regs, sample->data);
	kind = &ibs->kind[regs.kind];
	kind->samples++;
	if (opd_ibs_has_no_address(&regs)) {
		kind->no_address++;
		return OPD_LOST_IBS_ADDRESS;
	}
	if (regs.kind == OPD_IBS_FETCH)
		kind->killed += opd_ibs_is_killed(&regs);
	if (regs.kind == OPD_IBS_OP)
		opd_ibs_log_sample(&ibs->log, ext->log, sample, &regs);
	fate = count_events(ext, sample, &regs);
	kind->no_event += fate == OPD_LOST_NO_IBS_EVENT;
	return fate;
}

static void ibs_sync(struct opd_ext *ext, struct opd_sfile *sfile)
{
	struct opd_ibs *ibs = ext->state;

	opd_ext_files_sync(ext, sfile);
	opd_ibs_log_flush(&ibs->log, ext->log);
}

/* ---- the log ----------------------------------------------------------------
 */

static void print_kind(struct op_log *log, const struct opd_ibs *ibs,
		       enum opd_ibs_kind nr)
{
	const struct kind *kind = &ibs->kind[nr];

	if (!kind->given && !kind->samples)
		return;
	op_log_plain(log, "Nr. IBS %s samples: %" PRIu64, kind_names[nr],
		     kind->samples);
	if (nr == OPD_IBS_FETCH)
		op_log_plain(log, "Nr. IBS fetches killed: %" PRIu64,
			     kind->killed);
	else
		op_log_plain(log,
			     "Nr. IBS ops without a valid address: %" PRIu64,
			     kind->no_address);
	op_log_plain(log, "Nr. IBS %s samples without a chosen event: %" PRIu64,
		     kind_names[nr], kind->no_event);
	for (unsigned int i = 0; i < kind->nr; i++)
		op_log_plain(log, "%s: %" PRIu64, kind->event[i]->name,
			     ibs->events.counted[kind->vc[i]]);
}

static void ibs_print_stats(const struct opd_ext *ext)
{
	const struct opd_ibs *ibs = ext->state;

	op_log_plain(ext->log, "-- IBS Statistics --");
	for (int i = 0; i < OPD_IBS_NR_KINDS; i++)
		print_kind(ext->log, ibs, (enum opd_ibs_kind)i);
	opd_ibs_log_print_stats(&ibs->log, ext->log);
	op_log_plain(ext->log,
		     "Nr. IBS records without all registers: %" PRIu64,
		     ibs->cut);
}

static const uint32_t codes[] = { OP_IBS_FETCH, OP_IBS_OP, 0 };

static const struct opd_ext_sfile_handlers ibs_sfile_handlers = {
	.close = opd_ext_files_close,
	.sync = ibs_sync,
};

const struct opd_ext_feature opd_ibs_feature = {
	.name = "ibs",
	.form = FORM,
	.codes = codes,
	.makes_samples = true,
	.ext_init = ibs_init,
	.ext_release = ibs_release,
	.ext_start = ibs_start,
	.ext_record = ibs_record,
	.ext_count = ibs_count,
	.ext_print_stats = ibs_print_stats,
	.ext_sfile = &ibs_sfile_handlers,
};
