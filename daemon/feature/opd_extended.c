// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * All features stand in one array, and the rest of the daemon reaches them
 * through the functions here. A feature that is turned on gets a number, which
 * is also its slot in each sfile. The slot is filled when the feature first
 * needs a file there, so an sfile without samples of the feature needs no more
 * memory for it.
 *
 * The words of a record are copied into the context of their sample. There they
 * outlive the stream's buffer, as the sample may have to wait until its image
 * has a name.
 */

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "daemon/opd.h"

static const struct opd_ext_feature *const features[] = {
	&opd_ibs_feature,
	&opd_weight_feature,
};

#define NR_FEATURES (sizeof(features) / sizeof(features[0]))

_Static_assert(NR_FEATURES <= OPD_MAX_FEATURES, "all may be on at once");

/* ---- what is asked for ------------------------------------------------------
 */

/* "ibs:fetch:..., weight" */
static void list_features(char *buf, size_t len)
{
	size_t at = 0;

	*buf = '\0';
	for (size_t i = 0; i < NR_FEATURES && at < len; i++)
		at += (size_t)snprintf(
			buf + at, len - at, "%s%s%s%s", i ? ", " : "",
			features[i]->name, features[i]->form ? ":" : "",
			features[i]->form ? features[i]->form : "");
}

static const struct opd_ext_feature *find_feature(const char *name, size_t len)
{
	for (size_t i = 0; i < NR_FEATURES; i++)
		if (strlen(features[i]->name) == len &&
		    !memcmp(features[i]->name, name, len))
			return features[i];
	return NULL;
}

static bool is_on(const struct opd_extended *extended,
		  const struct opd_ext_feature *feature)
{
	for (unsigned int i = 0; i < extended->nr; i++)
		if (extended->ext[i].feature == feature)
			return true;
	return false;
}

static int turn_on(struct opd_extended *extended, const char *spec,
		   struct op_diag *diag)
{
	size_t len = strcspn(spec, ":");
	const struct opd_ext_feature *feature = find_feature(spec, len);
	struct opd_ext *ext = &extended->ext[extended->nr];
	char known[256];

	list_features(known, sizeof(known));
	if (!feature)
		return op_diag_set(
			diag, -EINVAL,
			"--ext-feature=%s: no feature is called so; known are %s",
			spec, known);
	if (is_on(extended, feature))
		return op_diag_set(
			diag, -EINVAL,
			"--ext-feature=%s: given twice; say all in one",
			feature->name);
	*ext = (struct opd_ext){ .feature = feature, .index = extended->nr++ };
	return feature->ext_init(ext, spec + len + (spec[len] == ':'), diag);
}

/* A feature that samples gets its records from the source. */
static int check_source(const struct opd *opd, struct op_diag *diag)
{
	const struct opd_source_ops *source;
	const char *arg;

	source = opd_source_find(opd->options.source, &arg);
	if (source->feature_samples)
		return 0;
	return op_diag_set(
		diag, -EINVAL,
		"--ext-feature: the source %s has no samples for features; use the module, --source=oprofilefs",
		source->name);
}

/* A feature that makes samples takes the place of the timer. */
static void drop_timer(struct opd *opd)
{
	struct opd_events *events = &opd->options.events;

	if (events->nr == 1 && opd_event_is_timer(&events->counter[0]))
		memset(events, 0, sizeof(*events));
}

int opd_extended_init(struct opd *opd, char *const *specs, struct op_diag *diag)
{
	int err = 0;

	for (; specs && *specs && !err; specs++)
		err = turn_on(&opd->extended, *specs, diag);
	if (!err && opd_extended_makes_samples(opd))
		err = check_source(opd, diag);
	if (!err && opd_extended_makes_samples(opd))
		drop_timer(opd);
	for (unsigned int i = 0; i < opd->extended.nr; i++)
		opd->options.events.weights |=
			opd->extended.ext[i].feature->wants_weights;
	return err;
}

bool opd_extended_makes_samples(const struct opd *opd)
{
	for (unsigned int i = 0; i < opd->extended.nr; i++)
		if (opd->extended.ext[i].feature->makes_samples)
			return true;
	return false;
}

void opd_extended_release(struct opd *opd)
{
	struct opd_extended *extended = &opd->extended;

	for (unsigned int i = 0; i < extended->nr; i++)
		extended->ext[i].feature->ext_release(&extended->ext[i]);
	memset(extended, 0, sizeof(*extended));
}

int opd_extended_start(struct opd *opd, struct op_diag *diag)
{
	int err = 0;

	for (unsigned int i = 0; i < opd->extended.nr && !err; i++) {
		struct opd_ext *ext = &opd->extended.ext[i];

		if (ext->feature->ext_start)
			err = ext->feature->ext_start(opd, ext, diag);
	}
	opd_extended_events(opd);
	return err;
}

void opd_extended_events(struct opd *opd)
{
	for (unsigned int i = 0; i < opd->extended.nr; i++) {
		struct opd_ext *ext = &opd->extended.ext[i];

		if (ext->feature->ext_events)
			ext->feature->ext_events(ext, &opd->events);
	}
}

/* ---- records and samples ----------------------------------------------------
 */

struct opd_ext *opd_extended_of_code(struct opd *opd, uint32_t code)
{
	for (unsigned int i = 0; i < opd->extended.nr; i++) {
		struct opd_ext *ext = &opd->extended.ext[i];

		for (const uint32_t *at = ext->feature->codes; *at; at++)
			if (*at == code)
				return ext;
	}
	return NULL;
}

/* What of the record is kept until the sample can be counted. */
static void keep_data(struct opd_ext_data *data, struct opd_ext *ext,
		      const struct opd_rec *rec)
{
	uint32_t nr = rec->nr_words;

	data->ext = ext;
	data->code = rec->code;
	data->nr = nr < OPD_EXT_MAX_WORDS ? nr : OPD_EXT_MAX_WORDS;
	memcpy(data->words, rec->payload, data->nr * sizeof(data->words[0]));
}

bool opd_extended_record(struct opd *opd, const struct opd_rec *rec, int *err)
{
	struct opd_ext *ext = opd_extended_of_code(opd, rec->code);
	uint64_t pc = 0;

	if (!ext)
		return false;
	*err = 0;
	switch (ext->feature->ext_record(ext, rec, &pc)) {
	case OPD_EXT_SAMPLE:
		keep_data(&opd->trans.context.ext, ext, rec);
		opd_trans_ext_sample(opd, pc);
		break;
	case OPD_EXT_NEXT:
		keep_data(&opd->trans.context.ext, ext, rec);
		opd_trans_forget_images(&opd->trans);
		break;
	case OPD_EXT_BAD:
		*err = -EINVAL;
		break;
	}
	return true;
}

enum opd_fate opd_extended_count(struct opd *opd,
				 const struct opd_ext_sample *sample)
{
	struct opd_ext *ext = sample->data->ext;
	enum opd_fate fate = ext->feature->ext_count(opd, ext, sample);

	op_verbose(&opd->log, OP_V_EXT,
		   "%s: record of code %" PRIu32 " for offset 0x%" PRIx64
		   ": %s",
		   ext->feature->name, sample->data->code, sample->offset,
		   opd_fate_name(fate));
	return fate;
}

/* ---- sample files -----------------------------------------------------------
 */

void opd_extended_close(struct opd *opd, struct opd_sfile *sfile)
{
	for (unsigned int i = 0; i < opd->extended.nr; i++) {
		struct opd_ext *ext = &opd->extended.ext[i];

		if (sfile->ext[i])
			ext->feature->ext_sfile->close(opd, ext, sfile);
	}
}

void opd_extended_sync(struct opd *opd, struct opd_sfile *sfile)
{
	for (unsigned int i = 0; i < opd->extended.nr; i++) {
		struct opd_ext *ext = &opd->extended.ext[i];

		if (sfile->ext[i])
			ext->feature->ext_sfile->sync(opd, ext, sfile);
	}
}

struct odb *opd_extended_get(struct opd *opd, struct opd_ext *ext,
			     struct opd_sfile *sfile, unsigned int event)
{
	const struct opd_ext_sfile_handlers *files = ext->feature->ext_sfile;

	if (!sfile->ext[ext->index] && files->create(opd, ext, sfile))
		return NULL;
	return files->get(opd, ext, sfile, event);
}

/* ---- the log ----------------------------------------------------------------
 */

void opd_extended_print_stats(struct opd *opd)
{
	for (unsigned int i = 0; i < opd->extended.nr; i++)
		opd->extended.ext[i].feature->ext_print_stats(
			opd, &opd->extended.ext[i]);
}
