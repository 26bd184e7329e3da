// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Fuzz the daemon's decoder: any bytes as a recorded stream, all the way into
 * sample files. Whatever comes, the ledger adds up and agrees with the files.
 *
 * The first byte chooses the settings and how the words are cut into reads.
 * Half of the changes put in a record that makes sense at first sight, as
 * bytes alone would seldom get behind the first check.
 */

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/context/opd_trans.h"
#include "daemon/opd.h"
#include "daemon/source/opd_stream.h"
#include "daemon/store/opd_session.h"
#include "daemon/opd_command.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size,
			       unsigned int seed);

static const struct opd_source_ops memory_source = {
	.name = "memory",
	.ends = true,
};

static char dir[64];
static struct opd opd;

/* ---- the daemon -------------------------------------------------------------
 */

static int remove_one(const char *path, const struct stat *st, int type,
		      struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

static void clean_up(void)
{
	opd_release(&opd);
	nftw(dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static void start(void)
{
	struct op_diag diag = { "" };

	snprintf(dir, sizeof(dir), "%s/opd-fuzz-XXXXXX",
		 access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm");
	if (!mkdtemp(dir))
		abort();
	opd_init(&opd);
	opd.source.ops = &memory_source;
	snprintf(opd.source.name, sizeof(opd.source.name), "memory");
	opd_events_timer(&opd.options.events);
	if (op_session_init(&opd.session, dir, &diag) ||
	    opd_session_make(&opd.session, NULL, &diag) ||
	    opd_setup(&opd, &diag)) {
		fprintf(stderr, "%s\n", diag.text);
		abort();
	}
	opd.store.sfiles.max_open = 16;
	atexit(clean_up);
}

/* Feed words as the loop does, at most @step new ones at a time. */
static void feed(const uint64_t *words, size_t nr, size_t step)
{
	size_t at = 0, end = 0;

	while (end < nr) {
		end = nr - end > step ? end + step : nr;
		at += opd_trans_run(&opd, words + at, end - at);
	}
	opd_trans_end(&opd, nr - at);
}

static void check(void)
{
	struct op_ledger l;
	uint64_t there;

	opd_stats_ledger(&opd.stats, &l);
	if (l.taken != l.stored + op_ledger_lost(&l) + l.pending)
		abort();
	/* Only a stream may say that more was taken than is in it. */
	if (l.pending && !opd.stats.taken_before && !opd.stats.taken_told)
		abort();
	if (opd_session_count(&opd.store, &there, NULL) ||
	    (opd.stats.stored && l.stored != there))
		abort();
}

/* As new, so that each input stands for itself. */
static void forget(void)
{
	struct op_diag diag = { "" };

	if (opd.stats.stored && opd_command_reset(&opd, &diag)) {
		fprintf(stderr, "%s\n", diag.text);
		abort();
	}
	opd_stats_restart(&opd.stats);
	memset(&opd.stats.stream, 0, sizeof(opd.stats.stream));
	memset(&opd.stats.origin, 0, sizeof(opd.stats.origin));
	memset(opd.stats.seen, 0, sizeof(opd.stats.seen));
	memset(opd.stats.lost, 0, sizeof(opd.stats.lost));
	memset(opd.stats.stacks, 0, sizeof(opd.stats.stacks));
	opd.stats.stored = 0;
	opd.stats.taken_told = opd.stats.taken_before = 0;
	opd_cookies_release(&opd.cookies);
	opd_images_release(&opd.images);
	if (opd_images_init(&opd.images, NULL, 0) ||
	    opd_stacks_init(&opd.stacks, &opd.places, opd.stacks.unwinder,
			    &opd.stats))
		abort();
	opd_user_stacks_forget(&opd.user_stacks);
	opd_kernel_clear(&opd.kernel);
	opd_anon_release(&opd.anon);
	opd_events_timer(&opd.events);
	opd_transient_init(&opd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint64_t *words;
	size_t nr;

	if (!*dir)
		start();
	if (size < 1)
		return 0;
	opd.options.separate_lib = *data & 1;
	opd.options.separate_kernel = *data & 2;
	opd.options.separate_thread = *data & 4;
	opd.options.separate_cpu = *data & 8;
	/* Of exactly this size, so that a word too far is seen. */
	nr = (size - 1) / sizeof(*words);
	words = malloc(nr ? nr * sizeof(*words) : 1);
	if (!words)
		return 0;
	memcpy(words, data + 1, nr * sizeof(*words));
	feed(words, nr, (*data >> 4) + (size_t)1);
	free(words);
	check();
	forget();
	return 0;
}

/* ---- records that make sense at first sight ---------------------------------
 */

static uint32_t next_random(uint64_t *state)
{
	*state = *state * UINT64_C(6364136223846793005) + 1442695040888963407u;
	return (uint32_t)(*state >> 33);
}

static size_t put_string(uint64_t *to, uint64_t *random)
{
	static const char *const strings[] = {
		"/bin/sh", "[vdso]", "vmlinux", "ext4", "anon", "lost_x", "/",
	};
	const char *text = strings[next_random(random) % 7];

	to[0] = strlen(text);
	to[1] = 0;
	memcpy(to + 1, text, to[0]);
	return 2;
}

/* A likely payload word for anything: small, or a kernel address. */
static uint64_t likely(uint64_t *random)
{
	uint64_t word = next_random(random) % 8;

	return next_random(random) % 4 ? word
				       : UINT64_C(0xffffffff81000000) + word;
}

static size_t make_record(uint64_t *to, uint64_t *random)
{
	static const struct {
		uint32_t code;
		uint32_t words;
		bool string;
	} shapes[] = {
		{ OP_CTX_SWITCH, 2, false },	{ OP_CPU_SWITCH, 1, false },
		{ OP_COOKIE_SWITCH, 1, false }, { OP_KERNEL_ENTER, 0, false },
		{ OP_USER_ENTER, 0, false },	{ OP_MODULE_LOADED, 0, false },
		{ OP_CTX_TGID, 1, false },	{ OP_TRACE_BEGIN, 0, false },
		{ OP_IBS_OP, 9, false },	{ OP_ANON_SWITCH, 2, true },
		{ OP_EVENT, 6, true },		{ OP_COOKIE_NAME, 10, true },
		{ OP_KERNEL_RANGE, 7, true },	{ OP_LOST, 1, true },
		{ OP_STREAM_BEGIN, 3, false },	{ 99, 2, false },
	};
	size_t shape = next_random(random) % 16;
	size_t nr = 2;

	for (uint32_t i = 0; i < shapes[shape].words; i++)
		to[nr++] = likely(random);
	if (shapes[shape].string)
		nr += put_string(to + nr, random);
	if (shapes[shape].code == OP_STREAM_BEGIN) {
		to[2] = OP_STREAM_MAGIC;
		to[3] = OP_ABI_VERSION;
		to[4] = 8;
	}
	to[0] = OP_ESCAPE;
	to[1] = OP_CODE_WORD(shapes[shape].code, next_random(random) % 2,
			     nr - 2);
	return nr;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size,
			       unsigned int seed)
{
	uint64_t random = seed;
	uint64_t record[32] = { 0 };
	size_t len, at;

	if (size < 1 || next_random(&random) % 2)
		return LLVMFuzzerMutate(data, size, max_size);
	if (next_random(&random) % 4) {
		len = make_record(record, &random) * sizeof(record[0]);
	} else {
		record[0] = likely(&random);
		record[1] = 0;
		len = 16;
	}
	if (len > max_size - size)
		return LLVMFuzzerMutate(data, size, max_size);
	at = 1 + next_random(&random) % (size / 8 + 1) * 8;
	if (at > size)
		at = size;
	memmove(data + at + len, data + at, size - at);
	memcpy(data + at, record, len);
	return size + len;
}
