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

#include "daemon/feature/opd_extended.h"
#include "daemon/source/opd_events.h"
#include "daemon/source/opd_source.h"
#include "daemon/source/opd_stream.h"
#include "daemon/store/opd_sfile.h"
#include "daemon/store/opd_store.h"
#include "libop/base/op_log.h"

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

static int turn_on(struct opd_extended *extended, const char *spec,
		   struct op_diag *diag)
{
	size_t len = strcspn(spec, ":");
	const struct opd_ext_feature *feature = find_feature(spec, len);
	struct opd_ext *ext = &extended->ext[extended->nr];
	char known[256];
	bool is_on = false;

	list_features(known, sizeof(known));
	if (!feature)
		return op_diag_set(
			diag, -EINVAL,
			"--ext-feature=%s: no such feature; the features are %s",
			spec, known);
	for (unsigned int i = 0; i < extended->nr; i++)
		is_on |= extended->ext[i].feature == feature;
	if (is_on)
		return op_diag_set(
			diag, -EINVAL,
			"--ext-feature=%s: given twice; give all of it in one",
			feature->name);
	*ext = (struct opd_ext){ .feature = feature, .index = extended->nr++ };
	return feature->ext_init(ext, spec + len + (spec[len] == ':'), diag);
}

/* A feature that samples gets its records from the source. */
static int check_source(const char *spec, struct op_diag *diag)
{
	const struct opd_source_ops *source;
	const char *arg;

	source = opd_source_find(spec, &arg);
	if (source->feature_samples)
		return 0;
	return op_diag_set(
		diag, -EINVAL,
		"--ext-feature: the source %s cannot take samples for features; use the module, --source=oprofilefs",
		source->name);
}

static bool makes_samples(const struct opd_extended *extended)
{
	for (unsigned int i = 0; i < extended->nr; i++)
		if (extended->ext[i].feature->makes_samples)
			return true;
	return false;
}

int opd_extended_init(struct opd_extended *extended, char *const *specs,
		      const char *source, struct opd_events *events,
		      struct op_diag *diag)
{
	int err = 0;

	for (; specs && *specs && !err; specs++)
		err = turn_on(extended, *specs, diag);
	if (!err && makes_samples(extended))
		err = check_source(source, diag);
	/* A feature that makes samples takes the place of the timer. */
	if (!err && makes_samples(extended) && events->nr == 1 &&
	    opd_event_is_timer(&events->counter[0]))
		memset(events, 0, sizeof(*events));
	for (unsigned int i = 0; i < extended->nr; i++)
		events->weights |= extended->ext[i].feature->wants_weights;
	return err;
}

void opd_extended_release(struct opd_extended *extended)
{
	for (unsigned int i = 0; i < extended->nr; i++)
		extended->ext[i].feature->ext_release(&extended->ext[i]);
	memset(extended, 0, sizeof(*extended));
}

int opd_extended_start(struct opd_extended *extended, struct opd_store *store,
		       struct op_diag *diag)
{
	int err = 0;

	for (unsigned int i = 0; i < extended->nr && !err; i++) {
		struct opd_ext *ext = &extended->ext[i];

		ext->store = store;
		ext->log = store->log;
		if (ext->feature->ext_start)
			err = ext->feature->ext_start(ext, diag);
	}
	opd_extended_events(extended, store->events);
	return err;
}

void opd_extended_events(struct opd_extended *extended,
			 const struct opd_events *events)
{
	for (unsigned int i = 0; i < extended->nr; i++) {
		struct opd_ext *ext = &extended->ext[i];

		if (ext->feature->ext_events)
			ext->feature->ext_events(ext, events);
	}
}

/* ---- records and samples ----------------------------------------------------
 */

/* The feature that takes records of @code, NULL if none does. */
static struct opd_ext *find_ext(struct opd_extended *extended, uint32_t code)
{
	for (unsigned int i = 0; i < extended->nr; i++) {
		struct opd_ext *ext = &extended->ext[i];

		for (const uint32_t *at = ext->feature->codes; *at; at++)
			if (*at == code)
				return ext;
	}
	return NULL;
}

enum opd_ext_use opd_extended_record(struct opd_extended *extended,
				     const struct opd_rec *rec,
				     struct opd_ext_data *data, uint64_t *pc)
{
	struct opd_ext *ext = find_ext(extended, rec->code);
	enum opd_ext_use use = OPD_EXT_NONE;

	if (ext)
		use = ext->feature->ext_record(ext, rec, pc);
	if (use != OPD_EXT_SAMPLE && use != OPD_EXT_NEXT)
		return use;
	/* The words wait in @data until the sample can be counted. */
	data->ext = ext;
	data->code = rec->code;
	data->nr = rec->nr_words < OPD_EXT_MAX_WORDS ? rec->nr_words
						     : OPD_EXT_MAX_WORDS;
	memcpy(data->words, rec->payload, data->nr * sizeof(data->words[0]));
	return use;
}

enum opd_fate opd_extended_count(const struct opd_ext_sample *sample)
{
	struct opd_ext *ext = sample->data->ext;
	enum opd_fate fate = ext->feature->ext_count(ext, sample);

	op_verbose(ext->log, OP_V_EXT,
		   "%s: record of code %" PRIu32 " for offset 0x%" PRIx64
		   ": %s",
		   ext->feature->name, sample->data->code, sample->offset,
		   opd_fate_name(fate));
	return fate;
}

/* ---- sample files -----------------------------------------------------------
 */

void opd_extended_close(struct opd_extended *extended, struct opd_sfile *sfile)
{
	for (unsigned int i = 0; i < extended->nr; i++) {
		struct opd_ext *ext = &extended->ext[i];

		if (sfile->ext[i])
			ext->feature->ext_sfile->close(ext, sfile);
	}
}

void opd_extended_sync(struct opd_extended *extended, struct opd_sfile *sfile)
{
	for (unsigned int i = 0; i < extended->nr; i++) {
		struct opd_ext *ext = &extended->ext[i];

		if (sfile->ext[i])
			ext->feature->ext_sfile->sync(ext, sfile);
	}
}

/* ---- the log ----------------------------------------------------------------
 */

void opd_extended_print_stats(struct opd_extended *extended)
{
	for (unsigned int i = 0; i < extended->nr; i++)
		extended->ext[i].feature->ext_print_stats(&extended->ext[i]);
}
