// SPDX-License-Identifier: GPL-2.0-or-later

#include "daemon/source/jit/opd_jit_frames.h"

#include <stdlib.h>
#include <string.h>

#include "daemon/source/jit/opd_jit_codes.h"
#include "daemon/source/jit/opd_jitdump.h"
#include "libcfi/cfi.h"

static void free_jit_frame(struct opd_jit_frames *frames,
			   struct opd_jit_frame *frame)
{
	if (frame->table)
		frames->bytes -= cfi_table_bytes(frame->table);
	cfi_table_free(frame->table);
	memset(frame, 0, sizeof(*frame));
}

void opd_jit_frames_release(struct opd_jit_frames *frames)
{
	for (size_t i = 0; frames->slots && i < OPD_JIT_FRAMES; i++)
		free_jit_frame(frames, &frames->slots[i]);
	free(frames->slots);
	memset(frames, 0, sizeof(*frames));
}

/* Each place of the dump has one slot; whatever was in it goes. */
static struct opd_jit_frame *slot_of_frames(struct opd_jit_frames *frames,
					    uint64_t at)
{
	if (!frames->slots)
		frames->slots = calloc(OPD_JIT_FRAMES, sizeof(*frames->slots));
	return frames->slots ? &frames->slots[at / 8 % OPD_JIT_FRAMES] : NULL;
}

const struct cfi_table *opd_jit_frames_find(struct opd_jit_frames *frames,
					    const struct opd_jitdump *dump,
					    const struct opd_jit_code *code)
{
	struct opd_jit_frame *slot;
	struct cfi_table *table;

	if (!code->frames)
		return NULL;
	slot = slot_of_frames(frames, code->frames);
	if (!slot || slot->at == code->frames)
		return slot ? slot->table : NULL;
	free_jit_frame(frames, slot);
	if (opd_jitdump_read_frames(dump, code, &table))
		table = NULL;
	if (table &&
	    frames->bytes + cfi_table_bytes(table) > OPD_JIT_FRAMES_BYTES) {
		opd_jit_frames_release(frames);
		slot = slot_of_frames(frames, code->frames);
	}
	if (!slot) {
		cfi_table_free(table);
		return NULL;
	}
	slot->at = code->frames;
	slot->table = table;
	if (table)
		frames->bytes += cfi_table_bytes(table);
	return table;
}
