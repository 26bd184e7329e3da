// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Fuzz the perf_events source behind the kernel: any bytes in the rings of two
 * CPUs, any heads, any text in /proc, through merge and process table into the
 * daemon's decoder. Whatever comes, the stream is well-formed, every sample
 * that was received has its fate, and the ledger agrees with the files.
 *
 * An input is one byte of settings and then items: struct item and its bytes.
 * Most of the changes put in an item that makes sense at first sight, as bytes
 * alone would seldom be a record.
 */

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/context/opd_trans.h"
#include "daemon/opd.h"
#include "daemon/opd_command.h"
#include "daemon/source/opd_writer.h"
#include "daemon/store/opd_session.h"
#include "daemon/source/perf/opd_perf_merge.h"
#include "daemon/source/perf/opd_perf_regs.h"
#include "tests/unit/daemon/source/perf_records.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size,
			       unsigned int seed);

#define NR_CPUS 2
#define RING_SIZE 4096 /* shorter than records may be */
#define WORDS 700 /* some samples, with all their context */
#define CHUNK_WORDS 300 /* after which the writer is full */
#define SWITCHES 4 /* the ring of switches, if there is one */
#define DEPTH 6 /* frames of a stack, if there are any */

enum op {
	WRITE, /* the bytes are in the ring */
	WRITE_TOO, /* the same, as it is what most do */
	RUN, /* handle all up to time arg */
	STEP, /* the same, but only as much as fits once */
	HEAD, /* the head is arg bytes further, which the kernel never does */
	MAPS, /* the bytes are the maps of a process */
	LOOK, /* see what is in the rings by now, and ahead in side band */
	NR_OPS
};

struct item {
	uint8_t op; /* any number: modulo NR_OPS */
	uint8_t which; /* ring, process */
	uint16_t len; /* bytes behind it; fewer if the input ends */
	int32_t arg;
};

static const struct opd_perf_id ids[] = { { 1, 0 }, { 2, 1 }, { 9, 0 } };

static char dir[64];
static char proc[96];
static struct opd opd;
static struct opd_process_table table;
static struct opd_perf_cpu cpus[NR_CPUS];
static struct opd_perf_merge merge;
static struct opd_waits waits;
static unsigned char bounce[OPD_PERF_RECORD_MAX];

/* ---- the daemon -------------------------------------------------------------
 */

static int answer_cookie(struct opd_source *source,
			 struct op_cookie_query *query)
{
	(void)source;
	return opd_perf_image_query(&table.images, query);
}

/* What records say of samples that never came may be any number: left out. */
static int answer_account(struct opd_source *source, struct op_ledger *ledger)
{
	(void)source;
	ledger->taken = table.stats[OPD_PERF_RECEIVED];
	return op_ledger_lose(ledger, "sample_lost_no_mapping",
			      table.stats[OPD_PERF_NO_MAPPING]) ||
	       op_ledger_lose(ledger, "sample_lost_no_mm",
			      table.stats[OPD_PERF_NO_MM]) ||
	       op_ledger_lose(ledger, "sample_invalid_eip",
			      table.stats[OPD_PERF_INVALID_EIP]);
}

/* The merge writes when it runs. */
static ssize_t write_nothing(struct opd_source *source)
{
	(void)source;
	return -EAGAIN;
}

static const struct opd_source_ops this_program = {
	.name = "fuzz",
	.write = write_nothing,
	.cookie = answer_cookie,
	.account = answer_account,
};

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

static void make_proc(void)
{
	char path[160];

	snprintf(proc, sizeof(proc), "%s/proc", dir);
	if (mkdir(proc, 0755))
		abort();
	for (int pid = 1; pid <= 3; pid++) {
		snprintf(path, sizeof(path), "%s/%d", proc, pid);
		if (mkdir(path, 0755))
			abort();
		snprintf(path, sizeof(path), "%s/%d/exe", proc, pid);
		if (symlink("/bin/sh", path))
			abort();
	}
}

/* Another stream, of which only the samples are to come. */
static void begin_stream(void)
{
	opd.source.writer = opd_writer_new(&opd.source);
	if (!opd.source.writer)
		abort();
	opd.source.writer->limit = CHUNK_WORDS;
}

static void start(void)
{
	struct op_diag diag = { "" };

	snprintf(dir, sizeof(dir), "%s/opd-fuzz-XXXXXX",
		 access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm");
	if (!mkdtemp(dir))
		abort();
	make_proc();
	opd_init(&opd);
	opd.source.ops = &this_program;
	opd.source.client = &opd.client;
	opd.source.proc = proc;
	opd.source.events = &opd.options.events;
	snprintf(opd.source.name, sizeof(opd.source.name), "fuzz");
	if (opd_events_parse(&opd.options.events,
			     "A:0:0:1:0:1:1,B:1:1:1:0:1:1,"
			     "THREAD_WAIT:0:2:1000:7:1:1",
			     &diag) ||
	    op_session_init(&opd.session, dir, &diag) ||
	    opd_session_make(&opd.session, NULL, &diag) ||
	    opd_setup(&opd, &diag)) {
		fprintf(stderr, "%s\n", diag.text);
		abort();
	}
	begin_stream();
	opd_kernel_release(&opd.kernel); /* not this machine's */
	opd.store.sfiles.max_open = 16;
	atexit(clean_up);
}

/* ---- one input --------------------------------------------------------------
 */

static struct opd_perf_ring *ring_of(uint8_t which)
{
	struct opd_perf_cpu *cpu = &cpus[which / 2 % NR_CPUS];

	if (merge.waits && which & SWITCHES)
		return &cpu->switches;
	return which % 2 ? &cpu->side : &cpu->samples;
}

/* What is in samples. */
static uint64_t type_of(uint8_t settings)
{
	uint64_t type = settings & 16 ? OPD_PERF_SAMPLE_ID : OPD_PERF_SAMPLE;

	return settings & 64 ? type | OPD_PERF_CHAIN | OPD_PERF_USER : type;
}

static void begin(uint8_t settings)
{
	uint64_t type = type_of(settings);
	uint64_t switch_type = type & ~(uint64_t)PERF_SAMPLE_IDENTIFIER;

	opd.options.separate_lib = settings & 1;
	opd.options.separate_kernel = settings & 2;
	opd.options.separate_thread = settings & 4;
	opd.options.separate_cpu = settings & 8;
	opd_process_table_init(&table, "/proc", opd.source.writer);
	if (settings & 64 && opd_perf_stacks_init(&table, DEPTH, DEPTH / 2))
		abort();
	table.proc = proc;
	for (unsigned int i = 0; i < NR_CPUS; i++) {
		cpus[i] = (struct opd_perf_cpu){ .cpu = i };
		ring_make(&cpus[i].samples, RING_SIZE, type, 0);
		ring_make(&cpus[i].side, RING_SIZE, OPD_PERF_SIDE, 0);
		if (settings & 128)
			ring_make(&cpus[i].switches, RING_SIZE, switch_type, 0);
	}
	merge = (struct opd_perf_merge){
		.cpus = cpus,
		.nr_cpus = NR_CPUS,
		.ids = ids,
		.nr_ids = settings & 16 ? 3 : 0,
		.period_ns = settings & 32 ? 1000 : 0,
		.bounce = bounce,
		.waits = settings & 128 ? &waits : NULL,
	};
	opd_waits_init(&waits, &opd.options.events);
	opd_waits_begin(&waits, &table, NULL, 0, 0);
}

static void handle_stream(void)
{
	static uint64_t words[WORDS];
	size_t len = 0, used;
	ssize_t got;

	while ((got = opd_writer_read(opd.source.writer, words + len,
				      WORDS - len)) > 0) {
		len += (size_t)got;
		used = opd_trans_run(&opd, words, len);
		len -= used;
		memmove(words, words + used, len * sizeof(words[0]));
	}
	if (len)
		abort();
}

/* Handle up to @horizon. Whole records come out, so all of them go in. */
static bool step(uint64_t horizon)
{
	bool all = opd_perf_merge_run(&merge, &table, horizon);

	if (!all && !opd.source.writer->words.nr)
		abort();
	handle_stream();
	return all;
}

static void run(uint64_t horizon)
{
	opd_perf_merge_poll(&merge);
	while (!step(horizon))
		;
}

static void write_maps(uint8_t which, const uint8_t *bytes, size_t len)
{
	char path[160];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%d/maps", proc, 1 + which % 3);
	file = fopen(path, "we");
	if (!file || fwrite(bytes, 1, len, file) != len || fclose(file))
		abort();
}

static void write_ring(struct opd_perf_ring *ring, const uint8_t *bytes,
		       size_t len)
{
	uint64_t room = ring_room(ring);

	if (room > RING_SIZE)
		return; /* after HEAD there is none */
	ring_write(ring, bytes, len < room ? len : room);
}

static void do_item(const struct item *item, const uint8_t *bytes, size_t len)
{
	bool filling;

	switch (item->op % NR_OPS) {
	case WRITE:
	case WRITE_TOO:
		write_ring(ring_of(item->which), bytes, len);
		break;
	case RUN:
		run((uint32_t)item->arg);
		break;
	case STEP:
		step((uint32_t)item->arg);
		break;
	case HEAD:
		ring_of(item->which)->meta->data_head += (uint64_t)item->arg;
		break;
	case MAPS:
		write_maps(item->which, bytes, len);
		break;
	case LOOK:
		opd_perf_merge_look_ahead(&merge, &table, &filling);
		opd_perf_merge_poll(&merge);
		break;
	}
}

static void do_items(const uint8_t *data, size_t size)
{
	struct item item;
	size_t len;

	handle_stream(); /* the beginning */
	while (size >= sizeof(item)) {
		memcpy(&item, data, sizeof(item));
		data += sizeof(item);
		size -= sizeof(item);
		len = item.len < size ? item.len : size;
		do_item(&item, data, len);
		data += len;
		size -= len;
	}
	run(UINT64_MAX - 1);
	opd_waits_charge(&waits, &table, UINT32_MAX);
	run(UINT64_MAX - 1);
	opd_writer_ask_account(opd.source.writer);
	handle_stream();
	opd_trans_end(&opd, 0);
}

static void check(void)
{
	const uint64_t *stats = table.stats;
	struct op_ledger l;
	uint64_t there;
	uint64_t seen = 0;

	for (unsigned int i = 0; i < OPD_NR_MODES; i++)
		seen += opd.stats.seen[i];
	if (stats[OPD_PERF_RECEIVED] != seen + stats[OPD_PERF_NO_MAPPING] +
						stats[OPD_PERF_NO_MM] +
						stats[OPD_PERF_INVALID_EIP])
		abort();
	if (opd.stats.bad_lengths || opd.stats.unknown_codes)
		abort();
	/* Numbers that no process has make no sense; nothing else does not. */
	if (opd.stats.bad_records == 0 &&
	    (opd.stats.lost[OPD_LOST_NO_CONTEXT] ||
	     opd.stats.lost[OPD_LOST_BAD_RECORD]))
		abort();
	opd_stats_ledger(&opd.stats, &l);
	if (l.pending || l.taken != l.stored + op_ledger_lost(&l))
		abort();
	if (opd_session_count(&opd.store, &there, NULL) ||
	    (opd.stats.stored && l.stored != there))
		abort();
}

/* As new, so that each input stands for itself. */
static void forget_daemon(void)
{
	struct op_diag diag = { "" };

	if (opd.stats.stored && opd_command_reset(&opd, &diag)) {
		fprintf(stderr, "%s\n", diag.text);
		abort();
	}
	opd_stats_restart(&opd.stats);
	opd.stats = (struct opd_stats){
		.store = opd.stats.store,
		.nr_deferred = opd.stats.nr_deferred,
	};
	opd_cookies_release(&opd.cookies);
	opd_deleted_images_release(&opd.deleted_images);
	opd_deleted_images_init(&opd.deleted_images, &opd.session, &opd.log,
				opd.clock, false, 64);
	opd_kernel_release(&opd.kernel);
	opd_images_release(&opd.images);
	if (opd_images_init(&opd.images, NULL, 0) ||
	    opd_stacks_init(&opd.stacks, &opd.places, opd.stacks.unwinder,
			    &opd.stats))
		abort();
	opd.ksyms.nr_wanted = 0;
	opd_writer_free(opd.source.writer);
	begin_stream();
	opd_anon_release(&opd.anon);
	opd_transient_init(&opd);
}

static void forget_processes(void)
{
	char path[160];

	for (int pid = 1; pid <= 3; pid++) {
		snprintf(path, sizeof(path), "%s/%d/maps", proc, pid);
		unlink(path);
	}
	for (unsigned int i = 0; i < NR_CPUS; i++) {
		ring_free(&cpus[i].samples);
		ring_free(&cpus[i].side);
		if (cpus[i].switches.meta)
			ring_free(&cpus[i].switches);
	}
	opd_perf_stacks_release(&table.stacks);
	opd_waits_release(&waits);
	opd_process_table_release(&table);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!*dir)
		start();
	if (size < 1)
		return 0;
	begin(*data);
	do_items(data + 1, size - 1);
	check();
	forget_daemon();
	forget_processes();
	return 0;
}

/* ---- items that make sense at first sight -----------------------------------
 */

static uint32_t next_random(uint64_t *state)
{
	*state = *state * UINT64_C(6364136223846793005) + 1442695040888963407u;
	return (uint32_t)(*state >> 33);
}

/* Few addresses, so that things meet; some at the ends. */
static uint64_t likely(uint64_t *random)
{
	switch (next_random(random) % 8) {
	case 0:
		return UINT64_C(0xffffffff81000000) + next_random(random) % 64;
	case 1:
		return UINT64_MAX - next_random(random) % 2;
	default:
		return next_random(random) % 4 * 0x100;
	}
}

static const char *likely_name(uint64_t *random)
{
	static const char *const names[] = {
		"/bin/sh",
		"/nonexistent/a.so",
		"/nonexistent/b (deleted)",
		"//anon",
		"[heap]",
		"[vdso]",
		"/memfd:x (deleted)",
		"",
		"/",
		"bpf_prog_1",
	};

	return names[next_random(random) % 10];
}

static void make_mmap(struct record *r, const struct record_who *who,
		      uint64_t *random)
{
	struct record_mmap map = {
		.start = likely(random),
		.len = 0x80 + next_random(random) % 4 * 0x100,
		.offset = likely(random),
		.ino = next_random(random) % 3,
		.prot = PROT_EXEC,
		.name = likely_name(random),
	};

	if (next_random(random) % 3 == 0)
		map.build_id = "12345678901234567890";
	map.build_id_len = (uint8_t)(next_random(random) % 22);
	record_mmap2(r, who, &map);
}

static void make_side(struct record *r, const struct record_who *who,
		      uint64_t *random)
{
	uint32_t other = next_random(random) % 5;

	switch (next_random(random) % 8) {
	case 0:
		record_task(r, PERF_RECORD_FORK, who, other);
		break;
	case 1:
		record_task(r, PERF_RECORD_EXIT, who, other);
		break;
	case 2:
		record_comm(r, who, true, "x");
		break;
	case 3:
		record_lost(r, PERF_RECORD_LOST, who, other);
		break;
	case 4:
		record_ksymbol(r, who, likely(random), other * 0x40, other == 3,
			       likely_name(random));
		break;
	default:
		make_mmap(r, who, random);
		break;
	}
}

static void make_other(struct record *r, const struct record_who *who,
		       uint64_t *random)
{
	static const uint16_t modes[] = { PERF_RECORD_MISC_USER,
					  PERF_RECORD_MISC_USER,
					  PERF_RECORD_MISC_KERNEL,
					  PERF_RECORD_MISC_GUEST_USER };

	switch (next_random(random) % 8) {
	case 0:
		record_throttle(r, PERF_RECORD_THROTTLE, who);
		break;
	case 1:
		record_throttle(r, PERF_RECORD_UNTHROTTLE, who);
		break;
	case 2:
		record_lost(r, PERF_RECORD_LOST_SAMPLES, who, 2);
		break;
	default:
		record_sample(r, who, modes[next_random(random) % 4],
			      likely(random));
		break;
	}
}

/* What a sample has of its stack, all of it likely but the lengths. */
static void put_stack(struct record *r, uint64_t *random)
{
	unsigned int nr = next_random(random) % 6;
	uint64_t abi = next_random(random) % 3;

	record_u64(r, next_random(random) % 16 ? nr : likely(random));
	for (unsigned int i = 0; i < nr; i++)
		record_u64(r, next_random(random) % 4 ? likely(random)
						      : PERF_CONTEXT_KERNEL);
	record_u64(r, abi);
	for (unsigned int i = 0; abi && i < OPD_PERF_NR_REGS; i++)
		record_u64(r, likely(random));
	nr = next_random(random) % 16;
	record_u64(r, next_random(random) % 16 ? 8 * nr : likely(random));
	for (unsigned int i = 0; i < nr; i++)
		record_u64(r, likely(random));
	record_u64(r, next_random(random) % 2 ? 8 * nr : likely(random));
	record_close(r);
}

static void make_switch(struct record *r, const struct record_who *who,
			uint64_t *random)
{
	static const uint16_t miscs[] = {
		0, 0, PERF_RECORD_MISC_SWITCH_OUT,
		PERF_RECORD_MISC_SWITCH_OUT |
			PERF_RECORD_MISC_SWITCH_OUT_PREEMPT
	};

	record_begin(r, PERF_RECORD_SWITCH, miscs[next_random(random) % 4]);
	record_end(r, who);
}

/* A record for ring @item->which; its length may be a lie. */
static void make_write(struct item *item, struct record *r, uint8_t settings,
		       uint64_t *random)
{
	static const uint32_t pids[] = { 1, 2, 2, 4, 0, UINT32_MAX };
	struct record_who who = {
		.pid = pids[next_random(random) % 6],
		.time = next_random(random) % 64 * 100,
		.sample_type = OPD_PERF_SIDE,
		.id = next_random(random) % 4,
	};
	bool is_switch = settings & 128 && item->which & SWITCHES;
	uint16_t len;

	who.tid = who.pid;
	if (item->which % 2 == 0 || is_switch)
		who.sample_type = type_of(settings);
	if (is_switch)
		who.sample_type &= ~(uint64_t)PERF_SAMPLE_IDENTIFIER;
	if (is_switch && next_random(random) % 4)
		make_switch(r, &who, random);
	else if (item->which % 2 && !is_switch)
		make_side(r, &who, random);
	else
		make_other(r, &who, random);
	if ((item->which % 2 == 0 || is_switch) && settings & 64 &&
	    ((struct perf_event_header *)r->at)->type == PERF_RECORD_SAMPLE)
		put_stack(r, random);
	if (next_random(random) % 16 == 0) {
		len = (uint16_t)(next_random(random) >>
					 next_random(random) % 8 &
				 ~7u);
		memcpy(r->at + 6, &len, sizeof(len));
	}
}

static void make_maps(struct record *r, uint64_t *random)
{
	unsigned int nr = next_random(random) % 3;
	char line[256];

	for (unsigned int i = 0; i <= nr; i++) {
		uint64_t at = next_random(random) % 4 * 0x100;
		int len = snprintf(line, sizeof(line),
				   "%llx-%llx r-xp %x 08:01 %u %s\n",
				   (unsigned long long)at,
				   (unsigned long long)at + 0x180,
				   next_random(random) % 4 * 0x1000, i,
				   likely_name(random));

		record_put(r, line, (size_t)len);
	}
}

static void make_item(struct item *item, struct record *r, uint8_t settings,
		      uint64_t *random)
{
	static const uint8_t ops[] = { WRITE, WRITE, WRITE, WRITE, WRITE,
				       WRITE, WRITE, RUN,   RUN,   STEP,
				       MAPS,  LOOK,  HEAD };

	r->len = 0;
	item->op = ops[next_random(random) % sizeof(ops)];
	item->which = (uint8_t)(next_random(random) % 8);
	item->arg = (int32_t)(next_random(random) % 64 * 100);
	if (item->op == WRITE)
		make_write(item, r, settings, random);
	else if (item->op == MAPS)
		make_maps(r, random);
	else if (item->op == HEAD)
		item->arg = (int32_t)(next_random(random) % 16 * 8) - 64;
	item->len = (uint16_t)r->len;
}

/* Where an item begins, behind @nr others or at the end. */
static size_t find_item(const uint8_t *data, size_t size, uint32_t nr)
{
	struct item item;
	size_t at = 1;

	while (nr-- && size - at >= sizeof(item)) {
		memcpy(&item, data + at, sizeof(item));
		at += sizeof(item);
		at += item.len < size - at ? item.len : size - at;
	}
	return at;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size,
			       unsigned int seed)
{
	static struct record r;
	uint64_t random = seed;
	struct item item;
	size_t at, len;

	if (size < 1 || next_random(&random) % 4 == 0)
		return LLVMFuzzerMutate(data, size, max_size);
	make_item(&item, &r, *data, &random);
	len = sizeof(item) + r.len;
	if (len > max_size - size)
		return LLVMFuzzerMutate(data, size, max_size);
	at = find_item(data, size, next_random(&random) % 32);
	memmove(data + at + len, data + at, size - at);
	memcpy(data + at, &item, sizeof(item));
	memcpy(data + at + sizeof(item), r.at, r.len);
	return size + len;
}
