// SPDX-License-Identifier: GPL-2.0-or-later

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/opd.h"

#define MAX_WORDS (OP_MAX_RECORD_WORDS + 2)

struct opd_record {
	FILE *file;
	const uint64_t *from; /* of the chunk, not written yet */
	struct op_ledger lost; /* what LOST records have said */
	/* the record that is being made */
	uint64_t words[MAX_WORDS];
	size_t nr;
};

/* The recorder, if this source needs records to be put in. */
static struct opd_record *completing(const struct opd *opd)
{
	return opd->source.ops->replays ? NULL : opd->record;
}

static void give_up(struct opd *opd)
{
	op_log(&opd->log, "recording ends: %s", strerror(errno));
	fclose(opd->record->file);
	free(opd->record);
	opd->record = NULL;
}

static void put(struct opd *opd, const void *data, size_t len)
{
	if (opd->record && len && fwrite(data, len, 1, opd->record->file) != 1)
		give_up(opd);
}

void opd_record_chunk(struct opd *opd, const uint64_t *words)
{
	if (opd->record)
		opd->record->from = words;
}

void opd_record_upto(struct opd *opd, const uint64_t *at)
{
	const uint64_t *from;

	if (!opd->record || !at || !opd->record->from ||
	    at <= opd->record->from)
		return;
	from = opd->record->from;
	opd->record->from = at;
	put(opd, from, (size_t)(at - from) * sizeof(*at));
}

void opd_record_rest(struct opd *opd, const void *bytes, size_t len)
{
	put(opd, bytes, len);
}

/* ---- making a record --------------------------------------------------------
 */

static void add_word(struct opd_record *record, uint64_t word)
{
	if (record->nr < MAX_WORDS)
		record->words[record->nr++] = word;
}

static void start(struct opd_record *record)
{
	record->nr = 0;
	add_word(record, OP_ESCAPE);
	add_word(record, 0);
}

/* All strings here fit: the longest, a path, needs half of a record. */
static void add_string(struct opd_record *record, const char *text)
{
	size_t len = strlen(text);
	size_t nr = (len + 7) / 8;

	add_word(record, len);
	if (nr > MAX_WORDS - record->nr)
		return;
	memset(record->words + record->nr, 0, nr * 8);
	memcpy(record->words + record->nr, text, len);
	record->nr += nr;
}

static void add_build_id(struct opd_record *record, const uint8_t *bytes,
			 unsigned int len)
{
	uint64_t words[OP_BUILD_ID_MAX / 8] = { 0 };

	memcpy(words, bytes, len);
	add_word(record, len);
	for (size_t i = 0; i < OP_BUILD_ID_MAX / 8; i++)
		add_word(record, words[i]);
}

/* Write the record, behind all that was handled before. */
static void finish(struct opd *opd, uint32_t code, uint32_t flags)
{
	struct opd_record *record = opd->record;

	record->words[1] = OP_CODE_WORD(code, flags, record->nr - 2);
	opd_record_upto(opd, opd->trans.at);
	if (opd->record)
		put(opd, record->words, record->nr * sizeof(uint64_t));
}

static void record_begin(struct opd *opd)
{
	start(opd->record);
	add_word(opd->record, OP_STREAM_MAGIC);
	add_word(opd->record, OP_ABI_VERSION);
	add_word(opd->record, sizeof(void *));
	add_word(opd->record, opd->cpu_khz);
	add_string(opd->record, opd->cpu_type);
	finish(opd, OP_STREAM_BEGIN, 0);
}

static void record_event(struct opd *opd, unsigned int counter)
{
	const struct opd_event *event = &opd->events.counter[counter];

	start(opd->record);
	add_word(opd->record, counter);
	add_word(opd->record, event->value);
	add_word(opd->record, event->count);
	add_word(opd->record, event->um);
	add_word(opd->record, event->kernel);
	add_word(opd->record, event->user);
	add_string(opd->record, event->name);
	finish(opd, OP_EVENT, 0);
}

void opd_record_cookie(struct opd *opd, const struct op_cookie_query *query)
{
	struct opd_record *record = completing(opd);

	if (!record)
		return;
	start(record);
	add_word(record, query->cookie);
	add_word(record, query->flags);
	add_word(record, query->dev);
	add_word(record, query->ino);
	add_word(record, query->mtime);
	add_build_id(record, query->build_id, query->build_id_len);
	add_string(record, query->path);
	finish(opd, OP_COOKIE_NAME, 0);
}

static void record_range(struct opd *opd, const struct opd_range *range,
			 uint32_t flags)
{
	const struct opd_image *image = range->image;
	bool kernel = image->kind == OP_IMAGE_KERNEL;

	start(opd->record);
	add_word(opd->record, range->start);
	add_word(opd->record, range->end);
	add_build_id(opd->record, image->build_id.bytes, image->build_id.len);
	add_string(opd->record, kernel ? OPD_KERNEL_NAME : image->name);
	if (image->kind == OP_IMAGE_PSEUDO)
		flags |= OP_KERNEL_CODE;
	finish(opd, OP_KERNEL_RANGE, flags);
}

void opd_record_ranges(struct opd *opd)
{
	uint32_t flags = OP_KERNEL_FIRST;

	if (!completing(opd))
		return;
	for (size_t i = 0; i < opd->kernel.nr && opd->record; i++) {
		const struct opd_range *range = &opd->kernel.ranges[i];

		if (range->start >= range->end)
			continue;
		record_range(opd, range, flags);
		flags = 0;
	}
}

static uint64_t lost_before(const struct op_ledger *ledger, const char *name)
{
	for (unsigned int i = 0; i < ledger->nr_causes; i++)
		if (!strcmp(ledger->causes[i].name, name))
			return ledger->causes[i].nr;
	return 0;
}

void opd_record_lost(struct opd *opd, const struct op_ledger *lost)
{
	for (unsigned int i = 0; i < lost->nr_causes && completing(opd); i++) {
		const struct op_ledger_cause *cause = &lost->causes[i];
		uint64_t nr = cause->nr;

		nr -= lost_before(&opd->record->lost, cause->name);
		if (nr == 0)
			continue;
		op_ledger_lose(&opd->record->lost, cause->name, nr);
		start(opd->record);
		add_word(opd->record, nr);
		add_string(opd->record, cause->name);
		finish(opd, OP_LOST, 0);
	}
	if (opd->record && fflush(opd->record->file))
		give_up(opd);
}

/* ---- opening ----------------------------------------------------------------
 */

int opd_record_open(struct opd *opd, const char *path, struct op_diag *diag)
{
	struct opd_record *record = calloc(1, sizeof(*record));

	if (!record)
		return op_diag_set(diag, -ENOMEM, "%s: out of memory", path);
	record->file = fopen(path, "we");
	if (!record->file) {
		int err = -errno;

		free(record);
		return op_diag_set(diag, err,
				   "%s: %s; give --record a file to write",
				   path, strerror(-err));
	}
	opd->record = record;
	if (opd->source.ops->replays)
		return 0;
	record_begin(opd);
	for (unsigned int i = 0; i < opd->events.nr && opd->record; i++)
		if (opd->events.counter[i].set)
			record_event(opd, i);
	return 0;
}

void opd_record_close(struct opd *opd)
{
	if (!opd->record)
		return;
	if (fclose(opd->record->file))
		op_log(&opd->log, "the recording is not complete: %s",
		       strerror(errno));
	free(opd->record);
	opd->record = NULL;
}
