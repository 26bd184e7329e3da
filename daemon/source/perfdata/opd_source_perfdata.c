// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Files that "perf record" wrote: what opd_source_perf does with the rings of
 * the kernel, with records of another time and maybe another machine.
 *
 *	opd_perfdata		reads a file and what is told at its beginning,
 *	opd_perfdata_events	gives its events counters,
 *	opd_perfdata_reader	takes it apart into records,
 *	opd_perfdata_block	has the memory for them,
 *	opd_perfdata_queue	brings them in order;
 *	opd_perf_record		takes them apart, and
 *	opd_perf_handle		writes the stream
 *
 * Several files are read one after the other, as what is known of processes
 * goes on from each to the next: perf begins a new one every so often if asked
 * to (--switch-output).
 *
 * A sample of an event whose period the kernel changed, to have so many samples
 * a second, is counted for its period, so that shares are those of the events.
 * Lost ones, whose periods nobody knows, are then as many as the samples before
 * them on average.
 *
 * Times are dates if all files say what their clock is to dates; else they are
 * those of that clock, which began at a boot. The stream says the earliest time
 * first: CPUs come one after the other, and the first sample of the second may
 * be long before that of the first.
 *
 * Damage ends the reading of all files. What was read before is in the stream,
 * and source->why tells the reason when the stream has ended.
 */

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/source/perf/opd_perf_regs.h"
#include "daemon/source/perf/opd_perf_target.h"
#include "daemon/source/perf/opd_perf_handle.h"
#include "daemon/source/perfdata/opd_perfdata.h"
#include "daemon/source/perfdata/opd_perfdata_events.h"
#include "daemon/source/perfdata/opd_perfdata_kernel.h"
#include "daemon/source/perfdata/opd_perfdata_queue.h"
#include "daemon/source/opd_source.h"
#include "daemon/source/opd_stream.h"
#include "libop/base/op_array.h"
#include "libop/base/op_log.h"

/* Frames of a chain, unless the event says otherwise: the default of
 * kernel.perf_event_max_stack. */
#define CHAIN_MAX 127

/* A bit of a record's misc: perf was told not to record these samples (--filter
 * with BPF). */
#define LOST_BY_FILTER 0x8000
#define NO_EVENT UINT32_MAX /* the tag of a record that none has made */

#ifdef __x86_64__
#define OWN_ARCH "x86_64"
#else
#define OWN_ARCH "aarch64"
#endif

/* Samples of one counter that count for their periods. */
struct perfdata_periods {
	uint64_t nr;
	uint64_t sum;
	double squares; /* sum of them */
};

struct opd_perfdata_source {
	char *spec; /* the paths, with zero bytes between */
	const char **paths;
	size_t nr_paths;
	size_t nr_opened;
	struct opd_perfdata data; /* the last of these, if is_open */
	bool is_open;
	bool is_foreign; /* of another architecture: no registers */
	struct opd_perf_layout layout; /* of samples; .len 0: several */
	size_t nr_layout_events; /* that it was found for; 0: of another file */
	uint64_t last_id; /* of the last sample's event; 0: none */
	uint32_t last_tag;
	struct opd_perfdata_pool pool; /* of what is read */
	struct opd_perfdata_queue queue;
	struct opd_process_table table;
	struct opd_perfdata_kernel kernel;
	struct perfdata_periods periods[OP_MAX_COUNTERS];
	bool has_dates; /* all files have */
	bool has_begun; /* the earliest time is in the stream */
	uint64_t nr_samples, sum_of_samples; /* seen; that they count for */
	uint64_t lost_records; /* by perf's own rings */
	uint64_t lost_samples; /* by the events; the kernel tells both */
	uint32_t chain_max; /* frames */
};

/* ---- opening ----------------------------------------------------------------
 */

/* Give each event of the open file a counter, and take from it what is to be
 * known of stacks. */
static int add_events(struct opd_source *source, struct op_diag *diag)
{
	struct opd_perfdata_source *p = source->perfdata;
	int err = opd_perfdata_add_events(&p->data, source->events, diag);

	for (size_t i = 0; !err && i < p->data.nr_events; i++) {
		const struct perf_event_attr *attr = &p->data.events[i].attr;

		if (!opd_perfdata_is_sampled(&p->data.events[i]))
			continue;
		source->stacks |= attr->sample_type &
				  (OPD_PERF_CHAIN | PERF_SAMPLE_STACK_USER);
		if (attr->sample_max_stack > p->chain_max)
			p->chain_max = attr->sample_max_stack;
	}
	return err;
}

/* "PATH,PATH": a comma that is part of a path has a backslash before it. */
static int split_paths(struct opd_perfdata_source *p, const char *arg)
{
	char *to;

	p->spec = strdup(arg);
	if (!p->spec)
		return -ENOMEM;
	to = p->spec;
	while (*arg) {
		if (op_array_reserve(&p->paths, p->nr_paths, 1))
			return -ENOMEM;
		p->paths[p->nr_paths++] = to;
		for (; *arg && *arg != ','; arg++) {
			arg += *arg == '\\' &&
			       (arg[1] == ',' || arg[1] == '\\');
			*to++ = *arg;
		}
		*to++ = '\0';
		arg += *arg == ',';
	}
	return 0;
}

/* Open the next file, with its events known. */
static int open_next(struct opd_source *source, struct op_diag *diag)
{
	struct opd_perfdata_source *p = source->perfdata;
	int err;

	if (p->is_open)
		opd_perfdata_close(&p->data);
	p->is_open = true;
	p->nr_layout_events = 0;
	p->layout = (struct opd_perf_layout){ 0 };
	err = opd_perfdata_open(&p->data, p->paths[p->nr_opened++], &p->pool,
				diag)
		      ?: add_events(source, diag);
	p->table.words.ahead = p->has_dates ? p->data.date_ahead : 0;
	p->is_foreign = *p->data.arch && strcmp(p->data.arch, OWN_ARCH);
	return err;
}

/* Which events there are is told before the first sample. */
static int look_at_all(struct opd_source *source, struct op_diag *diag)
{
	struct opd_perfdata_source *p = source->perfdata;
	int err = 0;

	memset(source->events, 0, sizeof(*source->events));
	p->has_dates = true;
	while (!err && p->nr_opened < p->nr_paths) {
		err = open_next(source, diag);
		p->has_dates &= p->data.has_dates;
		if (p->nr_opened == 1)
			source->run = p->data.run;
		else
			op_run_keep_common(&source->run, &p->data.run);
	}
	if (!err && !source->events->nr)
		err = op_diag_set(diag, -EBADMSG,
				  "%s: has no event with samples", p->paths[0]);
	if (err || p->nr_paths == 1)
		return err;
	p->nr_opened = 0;
	return open_next(source, diag);
}

static int set_up_world(struct opd_source *source)
{
	struct opd_perfdata_source *p = source->perfdata;
	opd_process_table_init(&p->table, NULL, source->writer);
	p->kernel.client = source->client;
	p->table.words.is_timed = true;
	p->table.words.ahead = p->has_dates ? p->data.date_ahead : 0;
	opd_process_table_want_names(&p->table, source->client->tells);
	return source->stacks
		       ? opd_perf_stacks_init(&p->table, OPD_PERF_DEPTH_MAX,
					      p->chain_max)
		       : 0;
}

static int perfdata_open(struct opd_source *source, const char *arg,
			 struct op_diag *diag)
{
	struct opd_perfdata_source *p = calloc(1, sizeof(*p));
	int err;

	if (!p)
		return op_diag_set(diag, -ENOMEM, "perfdata: out of memory");
	source->perfdata = p;
	source->path = "perfdata";
	p->chain_max = CHAIN_MAX;
	snprintf(source->name, sizeof(source->name), OP_LEDGER_PERF_DATA);
	snprintf(source->cpu_type, sizeof(source->cpu_type), "perf");
	if (!arg || !*arg)
		return op_diag_set(
			diag, -EINVAL,
			"perfdata: no file given; use --source=perfdata:PATH, - is standard input");
	if (split_paths(p, arg))
		return op_diag_set(diag, -ENOMEM, "perfdata: out of memory");
	err = look_at_all(source, diag);
	if (err)
		return err;
	err = set_up_world(source);
	/* The daemon waits until there is something to read: always. */
	if (!err) {
		source->fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
		err = source->fd < 0 ? -errno : 0;
	}
	return err ? op_diag_set(diag, err, "perfdata: %s", strerror(-err)) : 0;
}

static void perfdata_close(struct opd_source *source)
{
	struct opd_perfdata_source *p = source->perfdata;

	if (!p)
		return;
	if (source->fd >= 0)
		close(source->fd);
	source->fd = -1;
	if (p->is_open)
		opd_perfdata_close(&p->data);
	opd_perf_stacks_release(&p->table.stacks);
	opd_process_table_release(&p->table);
	opd_perfdata_queue_release(&p->queue);
	opd_perfdata_pool_release(&p->pool);
	opd_perfdata_kernel_release(&p->kernel);
	free(p->paths);
	free(p->spec);
	free(p);
	source->perfdata = NULL;
}

/* ---- records ----------------------------------------------------------------
 */

/* Mappings tell no build-id unless perf was asked for it; a list of those that
 * have samples is at the end of the file. */
static void fill_build_id(const struct opd_perfdata *data,
			  struct opd_perf_rec *rec)
{
	const struct op_build_id *id;

	if (rec->mmap.build_id_len)
		return;
	id = opd_perfdata_build_of(data, rec->mmap.name);
	if (!id)
		return;
	rec->mmap.build_id_len = id->len;
	memcpy(rec->mmap.build_id, id->bytes, id->len);
}

static void handle_mapping(struct opd_perfdata_source *p,
			   struct opd_perf_rec *rec)
{
	switch (rec->misc & PERF_RECORD_MISC_CPUMODE_MASK) {
	case PERF_RECORD_MISC_KERNEL:
		if (opd_perfdata_kernel_map(&p->kernel, &p->data, rec))
			opd_perf_words_kernel_changed(&p->table.words);
		break;
	case PERF_RECORD_MISC_USER:
		fill_build_id(&p->data, rec);
		opd_perf_handle_side(&p->table, rec);
		break;
	}
}

/* The samples that @nr of them count for on average. */
static uint64_t times_of_lost(const struct opd_perfdata_source *p, uint64_t nr)
{
	__extension__ unsigned __int128 times;

	if (p->sum_of_samples == p->nr_samples)
		return nr;
	times = nr;
	times = (times * p->sum_of_samples + p->nr_samples / 2) / p->nr_samples;
	return times < OP_MAX_TIMES ? (uint64_t)times : OP_MAX_TIMES;
}

static void handle_lost_samples(struct opd_perfdata_source *p,
				const struct opd_perf_rec *rec)
{
	uint64_t times = times_of_lost(p, rec->lost.nr);

	if (rec->misc & LOST_BY_FILTER)
		return;
	/* perf asks the events for it at the end, which no time belongs to. */
	if (rec->time)
		p->table.stats[OPD_PERF_OVERFLOW] += times;
	else
		p->lost_samples += times;
}

/*
 * How often a sample of @event with @period counts, and that it was seen. The
 * first one of an event has a period of 1 mostly, which is right.
 */
static uint64_t count_period(struct opd_perfdata_source *p,
			     const struct opd_perfdata_event *event,
			     uint64_t period)
{
	struct perfdata_periods *periods;

	p->nr_samples++;
	if (!event || !event->counts_periods || !period) {
		p->sum_of_samples++;
		return 1;
	}
	if (period > OP_MAX_TIMES)
		period = OP_MAX_TIMES;
	periods = &p->periods[event->counter];
	periods->nr++;
	periods->sum += period;
	periods->squares += (double)period * (double)period;
	p->sum_of_samples += period;
	return period;
}

/* A sample that counts so many @times. */
static void handle_perfdata_sample(struct opd_perfdata_source *p,
				   struct opd_perf_rec *rec, uint32_t counter,
				   uint64_t times)
{
	uint32_t cpu = rec->sample.cpu;

	/* Registers of another machine mean something else. */
	if (p->is_foreign ||
	    (rec->sample.regs_mask & OPD_PERF_REGS) != OPD_PERF_REGS)
		rec->sample.regs = NULL;
	p->table.times = times;
	opd_perf_handle_sample(&p->table, rec, cpu <= OPD_MAX_CPU ? cpu : 0,
			       counter);
	p->table.times = 1;
}

/* No process has such a number, but for those that are being freed. */
static bool is_bad_number(uint32_t number)
{
	return number > OPD_MAX_PID && number != UINT32_MAX;
}

static int decode_record(struct opd_perf_rec *rec,
			 const struct opd_perfdata_source *p,
			 const struct opd_perfdata_event *event,
			 const void *bytes, size_t len)
{
	int err = opd_perf_decode_as(rec, bytes, len,
				     event ? &event->format
					   : &p->data.events[0].format);

	if (!err && (is_bad_number(rec->pid) || is_bad_number(rec->tid)))
		err = -EINVAL;
	return err;
}

/* Note the mappings of an exec before the turn of either comes. */
static void look_ahead(struct opd_perfdata_source *p,
		       const struct opd_perfdata_event *event,
		       const void *bytes, size_t len, uint64_t time)
{
	struct perf_event_header header;
	struct opd_perf_rec rec;

	memcpy(&header, bytes, sizeof(header));
	if (header.type != PERF_RECORD_COMM &&
	    ((header.type != PERF_RECORD_MMAP &&
	      header.type != PERF_RECORD_MMAP2) ||
	     (header.misc & PERF_RECORD_MISC_CPUMODE_MASK) !=
		     PERF_RECORD_MISC_USER))
		return;
	/* A bad record is counted when its turn comes. */
	if (decode_record(&rec, p, event, bytes, len))
		return;
	rec.time = time;
	if (header.type != PERF_RECORD_COMM)
		fill_build_id(&p->data, &rec);
	opd_perf_handle_ahead(&p->table, &rec);
}

static void handle_record(struct opd_perfdata_source *p,
			  const struct opd_perfdata_event *event,
			  const void *bytes, size_t len, uint64_t time)
{
	struct opd_perf_rec rec;

	if (decode_record(&rec, p, event, bytes, len)) {
		p->table.stats[OPD_PERF_BAD_RECORD]++;
		return;
	}
	if (rec.type == PERF_RECORD_LOST_SAMPLES) {
		handle_lost_samples(p, &rec);
		return;
	}
	rec.time = time;
	switch (rec.type) {
	case PERF_RECORD_SAMPLE:
		handle_perfdata_sample(
			p, &rec, event ? event->counter : UINT32_MAX,
			count_period(p, event, rec.sample.period));
		break;
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		handle_mapping(p, &rec);
		break;
	case PERF_RECORD_LOST:
		p->lost_records += times_of_lost(p, rec.lost.nr);
		break;
	case PERF_RECORD_THROTTLE:
		p->table.stats[OPD_PERF_THROTTLE]++;
		break;
	default:
		opd_perf_handle_side(&p->table, &rec);
		break;
	}
}

/* ---- reading ----------------------------------------------------------------
 */

static uint32_t type_of(const void *record)
{
	struct perf_event_header header;

	memcpy(&header, record, sizeof(header));
	return header.type;
}

/* The time of a record of the kernel, 0 where the record has none. */
static uint64_t time_of(const struct opd_perfdata_event *event,
			const void *record, size_t len)
{
	uint32_t type = type_of(record);
	uint64_t time = 0;
	size_t at;

	if (event->format.is_bare && type != PERF_RECORD_SAMPLE)
		return 0;
	at = opd_perf_time_at(type, len, event->format.sample_type);
	if (at)
		memcpy(&time, (const char *)record + at, sizeof(time));
	return time;
}

/*
 * The process that a record of the side band is about, if it is about one.
 * These begin with its number: perf_event_open(2).
 */
static uint32_t pid_of_side(const void *bytes, size_t len)
{
	uint32_t pid = OPD_PERFDATA_ALL;

	switch (type_of(bytes)) {
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
	case PERF_RECORD_COMM:
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		if (len >= sizeof(struct perf_event_header) + sizeof(pid))
			memcpy(&pid,
			       (const char *)bytes +
				       sizeof(struct perf_event_header),
			       sizeof(pid));
	}
	return pid;
}

/* ---- plain samples ----------------------------------------------------------
 */

/* Samples have one layout if all events have the same fields. */
static void find_plain_layout(struct opd_perfdata_source *p)
{
	const struct opd_perfdata_event *events = p->data.events;

	p->layout = opd_perf_layout_of(&events[0].format);
	for (size_t i = 1; i < p->data.nr_events; i++)
		if (events[i].format.sample_type !=
		    events[0].format.sample_type)
			p->layout.len = 0;
	p->nr_layout_events = p->data.nr_events;
	p->last_id = 0;
}

static uint32_t tag_of(const struct opd_perfdata_source *p,
		       const struct opd_perfdata_event *event)
{
	return event ? (uint32_t)(event - p->data.events) : NO_EVENT;
}

/* The same event as the last time, mostly. */
static uint32_t tag_of_sample(struct opd_perfdata_source *p, const void *bytes,
			      size_t len)
{
	uint64_t id = 1;

	if (p->layout.id)
		memcpy(&id, (const char *)bytes + p->layout.id, sizeof(id));
	if (!id || id != p->last_id) {
		p->last_tag =
			tag_of(p, opd_perfdata_event_of(&p->data, bytes, len));
		p->last_id = id;
	}
	return p->last_tag;
}

/* Fill @record with a sample of numbers alone; false if it is none, or there is
 * something wrong with it. */
static bool parse_plain_sample(struct opd_perfdata_source *p,
			       struct opd_perfdata_record *record,
			       const void *bytes, size_t len)
{
	const struct opd_perf_layout *at = &p->layout;
	const char *from = bytes;
	struct perf_event_header header;
	uint64_t period = 0;

	memcpy(&header, bytes, sizeof(header));
	if (header.type != PERF_RECORD_SAMPLE || !at->len || len != at->len)
		return false;
	*record = (struct opd_perfdata_record){
		.kind = OPD_PERFDATA_PLAIN,
		.tag = tag_of_sample(p, bytes, len),
		.misc = header.misc,
		.cpu = OPD_PERF_NO_CPU,
	};
	memcpy(&record->time, from + at->time, sizeof(record->time));
	memcpy(&record->ip, from + at->ip, sizeof(record->ip));
	memcpy(&record->pid, from + at->tid, sizeof(record->pid));
	memcpy(&record->tid, from + at->tid + sizeof(record->pid),
	       sizeof(record->tid));
	if (at->cpu)
		memcpy(&record->cpu, from + at->cpu, sizeof(record->cpu));
	if (!record->time || is_bad_number(record->pid) ||
	    is_bad_number(record->tid))
		return false;
	if (at->period)
		memcpy(&period, from + at->period, sizeof(period));
	record->times = count_period(
		p,
		record->tag == NO_EVENT ? NULL : &p->data.events[record->tag],
		period);
	return true;
}

static void handle_plain(struct opd_perfdata_source *p,
			 const struct opd_perfdata_record *record)
{
	struct opd_perf_rec rec = {
		.type = PERF_RECORD_SAMPLE,
		.misc = record->misc,
		.time = record->time,
		.pid = record->pid,
		.tid = record->tid,
		.sample = { .ip = record->ip, .cpu = record->cpu },
	};

	handle_perfdata_sample(p, &rec,
			       record->tag == NO_EVENT
				       ? UINT32_MAX
				       : p->data.events[record->tag].counter,
			       record->times);
}

/* ---- order ------------------------------------------------------------------
 */

/* perf tells of what was there before it began without a time: at once. Returns
 * 1 where it waits, 0 where it was handled, or -ENOMEM. */
static int put_in_order(struct opd_perfdata_source *p, const void *bytes,
			size_t len)
{
	const struct opd_perfdata_event *event;
	struct opd_perfdata_record record;

	if (p->nr_layout_events != p->data.nr_events)
		find_plain_layout(p);
	if (parse_plain_sample(p, &record, bytes, len))
		return opd_perfdata_queue_put(&p->queue, &record) ?: 1;
	event = opd_perfdata_event_of(&p->data, bytes, len);
	record = (struct opd_perfdata_record){
		.time = time_of(event ? event : &p->data.events[0], bytes, len),
		.bytes = bytes,
		.len = (uint32_t)len,
		.tag = tag_of(p, event),
		.pid = pid_of_side(bytes, len),
		.kind = type_of(bytes) == PERF_RECORD_SAMPLE
				? OPD_PERFDATA_SAMPLE
				: OPD_PERFDATA_SIDE,
	};
	if (record.time) {
		look_ahead(p, event, bytes, len, record.time);
		return opd_perfdata_queue_put(&p->queue, &record) ?: 1;
	}
	/* Nobody knows when a sample without a time was taken. */
	if (record.kind == OPD_PERFDATA_SAMPLE && p->table.words.told)
		opd_perf_words_put_time(&p->table.words, 0);
	p->table.words.is_timed = false;
	handle_record(p, event, bytes, len, p->table.now ? p->table.now : 1);
	p->table.words.is_timed = true;
	return 0;
}

static int no_memory_to_sort(const struct opd_perfdata_source *p,
			     struct op_diag *diag)
{
	return op_diag_set(diag, -ENOMEM, "%s: out of memory", p->data.path);
}

/* No more records of the file: all that wait are ready. Returns as read_on().
 */
static int end_file(struct opd_source *source, int err, struct op_diag *diag)
{
	struct opd_perfdata_source *p = source->perfdata;

	if (opd_perfdata_queue_end(&p->queue))
		return no_memory_to_sort(p, diag);
	if (err || opd_perfdata_queue_is_ready(&p->queue))
		return err ? err : 1;
	return p->nr_opened < p->nr_paths ? open_next(source, diag) ?: 1 : 0;
}

/*
 * Read on until something has been handled or is ready. Returns 1, 0 at the end
 * of the last file, or -errno with the reason.
 */
static int read_on(struct opd_source *source, struct op_diag *diag)
{
	struct opd_perfdata_source *p = source->perfdata;
	int waits = 1;

	while (waits > 0) {
		const void *record;
		uint32_t type;
		size_t len;
		int err = opd_perfdata_next(&p->data, &record, &len, diag);

		if (err || !record)
			return end_file(source, err, diag);
		type = type_of(record);
		if (type == OPD_PERFDATA_FINISHED_ROUND)
			waits = opd_perfdata_queue_end_round(&p->queue);
		else if (type < OPD_PERFDATA_FIRST)
			waits = put_in_order(p, record, len);
	}
	return waits < 0 ? no_memory_to_sort(p, diag) : 1;
}

static bool handle_ready_record(struct opd_perfdata_source *p)
{
	struct opd_perfdata_record record;

	if (!opd_perfdata_queue_first(&p->queue, &record))
		return false;
	if (!p->has_begun && p->queue.earliest) {
		opd_perf_words_put_time(&p->table.words, p->queue.earliest);
		p->has_begun = true;
	}
	if (record.kind == OPD_PERFDATA_PLAIN)
		handle_plain(p, &record);
	else
		handle_record(p,
			      record.tag == NO_EVENT
				      ? NULL
				      : &p->data.events[record.tag],
			      record.bytes, record.len, record.time);
	opd_perfdata_queue_next(&p->queue);
	return true;
}

static ssize_t perfdata_write(struct opd_source *source)
{
	struct opd_perfdata_source *p = source->perfdata;
	struct opd_writer *writer = source->writer;

	opd_writer_count(writer, OPD_WRITER_CHUNK_WORDS * sizeof(uint64_t));
	if (!opd_writer_goes_on(writer))
		return -ENOMEM;
	while (opd_writer_goes_on(writer)) {
		int more = handle_ready_record(p) ? 1 : 0;

		if (!more && !*source->why.text)
			more = read_on(source, &source->why);
		/* The rest of a damaged file is ready now. */
		if (!more ||
		    (more < 0 && !opd_perfdata_queue_is_ready(&p->queue)))
			break;
	}
	return writer->words.nr != 0;
}

/* ---- the rest ---------------------------------------------------------------
 */

static int perfdata_cookie(struct opd_source *source,
			   struct op_cookie_query *query)
{
	return opd_perf_image_query(&source->perfdata->table.images, query);
}

static int perfdata_detach_file(struct opd_source *source, uint64_t cookie)
{
	return opd_perf_image_take(&source->perfdata->table.images, cookie);
}

static void perfdata_put_kernel(struct opd_source *source,
				struct op_stream_words *words)
{
	opd_perfdata_kernel_record(&source->perfdata->kernel, words);
}

/* Records and events both count lost samples; the events count nothing else. */
static int perfdata_account(struct opd_source *source, struct op_ledger *ledger)
{
	struct opd_perfdata_source *p = source->perfdata;
	uint64_t *lost = &p->table.stats[OPD_PERF_OVERFLOW];
	uint64_t before = *lost;
	int err;

	*lost += p->lost_samples ? p->lost_samples : p->lost_records;
	err = opd_process_table_account(&p->table, ledger);
	*lost = before;
	return err;
}

static int perfdata_event_time(struct opd_source *source, unsigned int counter,
			       struct op_event_time *time)
{
	const struct perfdata_periods *periods =
		&source->perfdata->periods[counter];
	double squares = periods->squares / OP_LEDGER_SQUARE;

	time->periods = periods->nr;
	time->sum_of_periods = periods->sum;
	time->squares_of_periods =
		squares < (double)UINT64_MAX ? (uint64_t)squares : UINT64_MAX;
	return 0;
}

static struct unwinder *perfdata_unwinder(struct opd_source *source)
{
	return source->perfdata->table.stacks.unwinder;
}

static void perfdata_log(struct opd_source *source, struct op_log *log)
{
	opd_process_table_log(&source->perfdata->table, log);
}

const struct opd_source_ops opd_source_perfdata = {
	.name = "perfdata",
	.ends = true,
	.open = perfdata_open,
	.close = perfdata_close,
	.write = perfdata_write,
	.cookie = perfdata_cookie,
	.tell_kernel = perfdata_put_kernel,
	.detach_file = perfdata_detach_file,
	.account = perfdata_account,
	.event_time = perfdata_event_time,
	.unwinder = perfdata_unwinder,
	.log = perfdata_log,
};
