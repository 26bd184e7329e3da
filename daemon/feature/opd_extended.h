/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DAEMON_FEATURE_OPD_EXTENDED_H
#define DAEMON_FEATURE_OPD_EXTENDED_H

/*
 * Extended features: parts of the daemon that understand more of a stream
 * than offsets and counters, and bring sample files of their own. A feature
 * is a struct opd_ext_feature, one line in the array of opd_extended.c, and
 * off unless --ext-feature=NAME[:ARGUMENTS] asks for it
 * (doc/howto/add-feature.md).
 *
 * It is given records by the code of the stream that it names. Such a record
 * either is a sample, or says more about the sample that follows. Where that
 * sample is, in which image, process and so on, is found as for any other,
 * which may take until the image has a name; then the feature counts it.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/opd_stats.h"
#include "daemon/store/opd_sfile.h"
#include "libop/base/op_diag.h"
#include "module/uapi/oprofile.h"

struct odb;
struct op_log;
struct opd_events;
struct opd_ext;
struct opd_rec;
struct opd_store;

/* Words of a record that are kept until its sample can be counted. */
#define OPD_EXT_MAX_WORDS 16

/* The counter of a sample that is none of the counters'. */
#define OPD_NO_COUNTER UINT32_MAX

/* The words of a record about the sample that it is, or that follows. */
struct opd_ext_data {
	struct opd_ext *ext; /* the feature that knows; NULL: nothing said */
	uint32_t code; /* of the record */
	uint32_t nr;
	uint64_t words[OPD_EXT_MAX_WORDS];
};

/* A sample that has its place. */
struct opd_ext_sample {
	struct opd_sfile *sfile;
	uint64_t offset; /* key in the sample files */
	uint32_t counter; /* that of the stream, or OPD_NO_COUNTER */
	uint64_t times; /* that it was taken */
	const struct opd_ext_data *data;
};

/* The use that a feature makes of a record. */
enum opd_ext_use {
	OPD_EXT_BAD = -1, /* it makes no sense */
	OPD_EXT_SAMPLE, /* it is a sample; @pc is set */
	OPD_EXT_NEXT, /* it is about the next sample */
	OPD_EXT_NONE, /* nobody's: no feature takes it */
};

/*
 * The feature's sample files hang at sfile->ext[] of each sfile, where its
 * ext_count() puts them. opd_ext_files.h has handlers for features whose files
 * are those of some events.
 */
struct opd_ext_sfile_handlers {
	/* @sfile goes away: close and free. */
	void (*close)(struct opd_ext *ext, struct opd_sfile *sfile);
	/* Start writing to the disk, and try failed files once more. */
	void (*sync)(struct opd_ext *ext, struct opd_sfile *sfile);
};

struct opd_ext_feature {
	const char *name; /* in --ext-feature=NAME */
	const char *form; /* of the arguments, for people; NULL: it has none */
	const uint32_t *codes; /* of the stream, that are its; 0 ends them */
	bool wants_weights; /* from perf_events, where it has them */
	bool makes_samples; /* without --events there is no timer then */

	/* Take the arguments; "" if none were given. Returns 0 or -errno with
	 * the reason. */
	int (*ext_init)(struct opd_ext *ext, const char *args,
			struct op_diag *diag);
	/* Free what ext_init made, whether it succeeded or not. */
	void (*ext_release)(struct opd_ext *ext);
	/* The session is there, and the events are known; or NULL. */
	int (*ext_start)(struct opd_ext *ext, struct op_diag *diag);
	/* The events of the counters are these now; sample files are closed.
	 * Called before the first record; or NULL. */
	void (*ext_events)(struct opd_ext *ext,
			   const struct opd_events *events);
	/* A record of one of the codes, whose payload has the fewest words
	 * that OP_CODES tells. */
	enum opd_ext_use (*ext_record)(struct opd_ext *ext,
				       const struct opd_rec *rec, uint64_t *pc);
	/* Count a sample. Returns its fate; not asked of those that have a
	 * counter, which are stored already. */
	enum opd_fate (*ext_count)(struct opd_ext *ext,
				   const struct opd_ext_sample *sample);
	/* The feature's section of the statistics in the log. */
	void (*ext_print_stats)(const struct opd_ext *ext);
	const struct opd_ext_sfile_handlers *ext_sfile;
};

/* A feature that is on. */
struct opd_ext {
	const struct opd_ext_feature *feature;
	unsigned int index; /* in sfile->ext[] */
	void *state; /* the feature's */
	/* borrowed, like the log; NULL before ext_start */
	struct opd_store *store;
	struct op_log *log;
};

struct opd_extended {
	struct opd_ext ext[OPD_MAX_FEATURES];
	unsigned int nr;
};

/*
 * Turn on what @specs asks for: "NAME[:ARGUMENTS]" each. @source is the name of
 * the source, which must have such samples, and @events is what it is to
 * sample: features change that. Returns 0 or -errno with the reason;
 * opd_extended_release() in any case.
 */
int opd_extended_init(struct opd_extended *extended, char *const *specs,
		      const char *source, struct opd_events *events,
		      struct op_diag *diag);
void opd_extended_release(struct opd_extended *extended);

/* Every feature's ext_start: their sample files are in @store, which knows the
 * events. Returns 0 or -errno with the reason. */
int opd_extended_start(struct opd_extended *extended, struct opd_store *store,
		       struct op_diag *diag);

/* The events of the counters are others, and no sample file is open. */
void opd_extended_events(struct opd_extended *extended,
			 const struct opd_events *events);

/*
 * Let the feature that takes it handle @rec. *@data is what it said of a
 * sample,
 * *@pc the address where @rec is one.
 */
enum opd_ext_use opd_extended_record(struct opd_extended *extended,
				     const struct opd_rec *rec,
				     struct opd_ext_data *data, uint64_t *pc);

/* A sample has its place and @data: count what the feature makes of it. */
enum opd_fate opd_extended_count(const struct opd_ext_sample *sample);

/* For all features that have something at @sfile. */
void opd_extended_close(struct opd_extended *extended, struct opd_sfile *sfile);
void opd_extended_sync(struct opd_extended *extended, struct opd_sfile *sfile);

void opd_extended_print_stats(struct opd_extended *extended);

/* All features; each has one line in the array of opd_extended.c. */
extern const struct opd_ext_feature opd_ibs_feature;
extern const struct opd_ext_feature opd_weight_feature;

#endif /* DAEMON_FEATURE_OPD_EXTENDED_H */
