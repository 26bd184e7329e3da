// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A unit of the stream is a record, which changes the context by the handler of
 * its code, or a sample, which is counted in it (opd_transient.c). The handlers
 * are in a table that is made from OP_CODES of module/uapi/oprofile.h: a new
 * code needs a function handle_CODE() here, or it does not compile. Only whole
 * units are handled; the caller gives the rest again with more words behind it.
 *
 * The stream may come from a damaged recording, so each handler checks each
 * word that it uses and answers -EINVAL for what makes no sense. The samples
 * that follow a bad record are lost by a named cause instead of being counted
 * in a wrong place, because handle_code() then makes the context unknown.
 *
 * Records that change what counters or cookies mean (OP_STREAM_BEGIN, OP_EVENT)
 * first settle what was taken under the old meaning: open traces end, deferred
 * samples are stored or lost, and sample files are closed.
 */

#include "daemon/context/opd_trans.h"

#include <errno.h>
#include <string.h>

#include "daemon/opd.h"
#include "daemon/source/opd_stream.h"

typedef int opd_handler(struct opd *opd, const struct opd_rec *rec);

/*
 * Each code has one handler, which has its name. The payload has at least the
 * fewest words that OP_CODES says. A handler returns 0 or -EINVAL when the
 * payload makes no sense.
 */

static int handle_CTX_SWITCH(struct opd *opd, const struct opd_rec *rec)
{
	struct opd_context *context = &opd->trans.context;

	if (rec->payload[0] > OPD_MAX_PID)
		return -EINVAL;
	context->tid = (int64_t)rec->payload[0];
	context->tgid = context->owner = OPD_UNKNOWN;
	context->cgroup = NULL;
	context->run_as = NULL;
	context->app_cookie = rec->payload[1];
	context->has_app = true;
	opd_transient_forget_images(&opd->trans);
	return 0;
}

/* Look up what the daemon knows of the present process. A sample that waits for
 * the name of an image keeps it. */
static void look_up_process(struct opd *opd)
{
	struct opd_context *context = &opd->trans.context;

	context->run_as = opd_tasks_run_as(&opd->tasks, context->tgid,
					   context->app_cookie);
	if (opd->options.separate_cgroup)
		context->cgroup = opd_tasks_cgroup(&opd->tasks, context->tgid);
}

static int handle_CTX_TGID(struct opd *opd, const struct opd_rec *rec)
{
	uint64_t owner = rec->nr_words > 1 ? rec->payload[1] : OP_NO_OWNER;

	if (rec->payload[0] > OPD_MAX_PID ||
	    (owner != OP_NO_OWNER && owner > OP_MAX_OWNER))
		return -EINVAL;
	opd->trans.context.tgid = (int64_t)rec->payload[0];
	opd->trans.context.owner =
		owner == OP_NO_OWNER ? OPD_UNKNOWN : (int64_t)owner;
	look_up_process(opd);
	opd_transient_forget_images(&opd->trans);
	return 0;
}

static int handle_CPU_SWITCH(struct opd *opd, const struct opd_rec *rec)
{
	if (rec->payload[0] > OPD_MAX_CPU)
		return -EINVAL;
	opd_transient_forget(opd);
	opd->trans.context.cpu = (int64_t)rec->payload[0];
	return 0;
}

static int handle_COOKIE_SWITCH(struct opd *opd, const struct opd_rec *rec)
{
	struct opd_context *context = &opd->trans.context;

	context->where = OPD_WHERE_COOKIE;
	context->cookie = rec->payload[0];
	opd_transient_forget_images(&opd->trans);
	return 0;
}

static int handle_ANON_SWITCH(struct opd *opd, const struct opd_rec *rec)
{
	struct opd_context *context = &opd->trans.context;
	char name[OPD_ANON_NAME_MAX];

	if (rec->payload[0] >= rec->payload[1] ||
	    opd_stream_string(rec, 2, name, sizeof(name)))
		return -EINVAL;
	context->where = OPD_WHERE_ANON;
	context->start = rec->payload[0];
	context->end = rec->payload[1];
	context->anon = opd_anon_name(&opd->anon, name);
	opd_transient_forget_images(&opd->trans);
	return 0;
}

static int enter(struct transient *trans, enum opd_mode mode)
{
	trans->context.mode = mode;
	opd_transient_forget_images(trans);
	return 0;
}

static int handle_KERNEL_ENTER(struct opd *opd, const struct opd_rec *rec)
{
	(void)rec;
	return enter(&opd->trans, OPD_MODE_KERNEL);
}

static int handle_USER_ENTER(struct opd *opd, const struct opd_rec *rec)
{
	(void)rec;
	return enter(&opd->trans, OPD_MODE_USER);
}

/* The table that it changed follows before the next sample in the kernel. */
static int handle_MODULE_LOADED(struct opd *opd, const struct opd_rec *rec)
{
	(void)opd;
	(void)rec;
	return 0;
}

static int handle_TRACE_BEGIN(struct opd *opd, const struct opd_rec *rec)
{
	(void)rec;
	opd_trace_end(&opd->trace, OP_TRACE_DEPTH);
	opd->trans.tracing = OPD_TRACE_START;
	opd_transient_forget_images(&opd->trans);
	return 0;
}

static int handle_TRACE_END(struct opd *opd, const struct opd_rec *rec)
{
	if (rec->payload[0] >= OP_NR_TRACE_ENDINGS)
		return -EINVAL;
	opd_trace_end(&opd->trace, (enum op_trace_ending)rec->payload[0]);
	opd->trans.tracing = OPD_TRACE_OFF;
	opd_transient_forget_images(&opd->trans);
	return 0;
}

static int handle_USER_STACK(struct opd *opd, const struct opd_rec *rec)
{
	return opd_user_stack_add(&opd->user_stacks, rec);
}

/* A record that features may take. */
static enum opd_ext_use handle_ext_record(struct opd *opd,
					  const struct opd_rec *rec)
{
	enum opd_ext_use use;
	uint64_t pc = 0;

	use = opd_extended_record(&opd->extended, rec, &opd->trans.context.ext,
				  &pc);
	if (use == OPD_EXT_SAMPLE)
		opd_transient_ext_sample(opd, pc);
	else if (use == OPD_EXT_NEXT)
		opd_transient_forget_images(&opd->trans);
	return use;
}

/* A record that is a sample, which only a feature can count. */
static int handle_ext_sample(struct opd *opd, const struct opd_rec *rec)
{
	enum opd_ext_use use = handle_ext_record(opd, rec);

	if (use != OPD_EXT_NONE)
		return use == OPD_EXT_BAD ? -EINVAL : 0;
	opd_transient_lose(opd, OPD_LOST_NO_IBS_EVENT);
	return 0;
}

static int handle_IBS_FETCH(struct opd *opd, const struct opd_rec *rec)
{
	return handle_ext_sample(opd, rec);
}

static int handle_IBS_OP(struct opd *opd, const struct opd_rec *rec)
{
	return handle_ext_sample(opd, rec);
}

/* Behind the three words that there always were are the speed of the CPU in
 * kHz and its type. */
static void set_machine(struct opd *opd, const struct opd_rec *rec)
{
	char type[sizeof(opd->store.cpu_type)];
	uint32_t khz = 0;

	if (rec->nr_words > 3 && rec->payload[3] <= UINT32_MAX)
		khz = (uint32_t)rec->payload[3];
	if (opd_stream_string(rec, 4, type, sizeof(type)))
		type[0] = '\0';
	opd_store_set_cpu(&opd->store, type, khz);
}

/* Another stream begins: nothing that was said before is true any more. */
static int handle_STREAM_BEGIN(struct opd *opd, const struct opd_rec *rec)
{
	if (opd_stream_begins(rec->payload - 2, rec->nr_words + (size_t)2,
			      NULL))
		return -EINVAL;
	opd_transient_forget(opd);
	opd_defer_retry(&opd->defer, OP_NO_COOKIE, true);
	opd_sfiles_drop_all(&opd->store);
	opd_stats_stream_begins(&opd->stats);
	set_machine(opd, rec);
	opd->events = opd->options.events;
	opd->trans.stream_events = false;
	opd_extended_events(&opd->extended, &opd->events);
	opd_cookies_release(&opd->cookies);
	opd_user_stacks_forget(&opd->user_stacks);
	opd_tasks_forget(&opd->tasks);
	opd_kernel_clear(&opd->kernel);
	return 0;
}

static int handle_EVENT(struct opd *opd, const struct opd_rec *rec)
{
	const uint64_t *p = rec->payload;
	struct opd_event event = {
		.value = p[1],
		.count = p[2],
		.um = p[3],
		.kernel = p[4] == 1,
		.user = p[5] == 1,
	};
	struct opd_events events = opd->events;

	if (p[4] > 1 || p[5] > 1 ||
	    opd_stream_string(rec, 6, event.name, sizeof(event.name)))
		return -EINVAL;
	if (!opd->trans.stream_events)
		memset(&events, 0, sizeof(events));
	if (opd_events_set(&events, p[0], &event, NULL))
		return -EINVAL;
	opd_trace_end(&opd->trace, OP_TRACE_DEPTH);
	opd_defer_retry(&opd->defer, OP_NO_COOKIE, true);
	opd_sfiles_drop_all(&opd->store);
	opd->events = events;
	opd->trans.stream_events = true;
	opd_extended_events(&opd->extended, &opd->events);
	return 0;
}

/* A build-id of a payload: its length and four words, the room. */
static int parse_code_build_id(const uint64_t *p, struct op_build_id *id)
{
	if (p[0] > OP_BUILD_ID_MAX)
		return -EINVAL;
	*id = op_build_id_of_room((const uint8_t *)(p + 1), p[0]);
	return 0;
}

static int handle_COOKIE_NAME(struct opd *opd, const struct opd_rec *rec)
{
	const uint64_t *p = rec->payload;
	struct op_cookie_query query = {
		.cookie = p[0],
		.flags = (uint32_t)p[1],
		.dev = p[2],
		.ino = p[3],
		.mtime = p[4],
	};
	struct op_build_id build_id;
	int err;

	if (parse_code_build_id(p + 5, &build_id) ||
	    (p[10] &&
	     opd_stream_string(rec, 10, query.path, sizeof(query.path))))
		return -EINVAL;
	query.build_id_len = build_id.len;
	memcpy(query.build_id, build_id.bytes, sizeof(query.build_id));
	err = opd_cookie_learn(&opd->cookies, &query);
	if (err)
		return err;
	opd_transient_forget_images(&opd->trans);
	opd_defer_retry(&opd->defer, query.cookie, false);
	return 0;
}

static int handle_KERNEL_RANGE(struct opd *opd, const struct opd_rec *rec)
{
	struct op_build_id build_id;
	const uint64_t *p = rec->payload;
	char name[OP_EVENT_NAME_MAX];
	int err;

	if (p[0] >= p[1] || parse_code_build_id(p + 2, &build_id) ||
	    opd_stream_string(rec, 7, name, sizeof(name)))
		return -EINVAL;
	if (rec->flags & OP_KERNEL_FIRST)
		opd_kernel_clear_images(&opd->kernel);
	if (rec->flags & OP_KERNEL_CODE)
		err = opd_kernel_add_code(&opd->kernel, name, p[0], p[1]);
	else if (rec->flags & OP_KERNEL_INIT)
		err = opd_kernel_add_init(&opd->kernel, name, p[0], p[1],
					  &build_id);
	else
		err = opd_kernel_add(&opd->kernel, name, p[0], p[1], &build_id);
	if (!strcmp(name, OP_KERNEL_NAME))
		opd_user_stacks_see_kernel(&opd->user_stacks, &build_id);
	opd_transient_forget_images(&opd->trans);
	if (err)
		op_log(&opd->log,
		       "%s: its samples cannot be assigned to an image: %s",
		       name, strerror(-err));
	return 0;
}

static int handle_LOST(struct opd *opd, const struct opd_rec *rec)
{
	char cause[OP_LEDGER_CAUSE_MAX];

	if (opd_stream_string(rec, 1, cause, sizeof(cause)))
		return -EINVAL;
	return opd_stats_stream_lost(&opd->stats, cause, rec->payload[0]);
}

static int handle_TAKEN(struct opd *opd, const struct opd_rec *rec)
{
	return opd_stats_stream_taken(&opd->stats, rec->payload[0]);
}

static int handle_EVENT_TIME(struct opd *opd, const struct opd_rec *rec)
{
	const uint64_t *p = rec->payload;
	struct op_ledger_event time = { .enabled = p[1], .running = p[2] };
	const struct opd_event *event;

	if (p[0] >= opd->events.nr || !opd->events.counter[p[0]].set)
		return -EINVAL;
	event = &opd->events.counter[p[0]];
	snprintf(time.name, sizeof(time.name), "%s", event->name);
	time.count = event->count;
	time.unit_mask = event->um;
	if (rec->nr_words >= 5) {
		time.samples = p[3];
		time.turns = p[4];
	}
	if (rec->nr_words >= 8) {
		time.periods = p[5];
		time.sum_of_periods = p[6];
		time.squares_of_periods = p[7];
	}
	return opd_stats_stream_event(&opd->stats, &time);
}

static int handle_SOURCE(struct opd *opd, const struct opd_rec *rec)
{
	char name[sizeof(opd->stats.source)];

	if (opd_stream_string(rec, 1, name, sizeof(name)))
		return -EINVAL;
	opd_stats_set_source(&opd->stats, name);
	/* Arcs between images are kept for each application. */
	if (rec->payload[0] & OP_SOURCE_STACKS)
		opd->options.separate_lib = true;
	opd->places.changes++;
	opd_transient_forget_images(&opd->trans);
	return 0;
}

static int handle_TASK_NAME(struct opd *opd, const struct opd_rec *rec)
{
	const uint64_t *p = rec->payload;
	char name[OP_PATH_MAX];

	if (p[0] > OPD_MAX_PID || p[1] > OPD_MAX_PID ||
	    opd_stream_string(rec, 2, name, sizeof(name)))
		return -EINVAL;
	opd_tasks_learn_name(&opd->tasks, (uint32_t)p[0], (uint32_t)p[1], name);
	return 0;
}

/* Whether @path is "/", or parts with a slash before each of them. */
static bool is_plain_path(const char *path)
{
	size_t len = strlen(path);

	return path[0] == '/' && !strstr(path, "//") &&
	       (len == 1 || path[len - 1] != '/');
}

static int handle_TASK_CGROUP(struct opd *opd, const struct opd_rec *rec)
{
	const uint64_t *p = rec->payload;
	char path[OPD_CGROUP_MAX] = "";

	if (p[0] > OPD_MAX_PID ||
	    (p[2] && (opd_stream_string(rec, 2, path, sizeof(path)) ||
		      !is_plain_path(path))))
		return -EINVAL;
	opd_tasks_learn_mounts(&opd->tasks, (uint32_t)p[0], p[1]);
	opd_tasks_learn_cgroup(&opd->tasks, (uint32_t)p[0], path);
	if (opd->trans.context.tgid == (int64_t)p[0])
		look_up_process(opd);
	opd_transient_forget_images(&opd->trans);
	return 0;
}

static int handle_TASK_RUN_AS(struct opd *opd, const struct opd_rec *rec)
{
	const uint64_t *p = rec->payload;
	char path[OP_PATH_MAX];
	struct opd_image_id id = { .space = OP_SPACE_ROOT,
				   .kind = OP_IMAGE_FILE,
				   .name = path };
	struct opd_image *image, *file;
	bool is_profiler;
	int err;

	if (p[0] > OPD_MAX_PID || p[1] == OP_NO_COOKIE ||
	    opd_stream_string(rec, 2, path, sizeof(path)))
		return -EINVAL;
	is_profiler = !strcmp(path, OP_SELF_NAME);
	if (is_profiler) {
		id.space = OP_SPACE_KERN;
		id.kind = OP_IMAGE_PSEUDO;
	} else if (!is_plain_path(path) || !path[1]) {
		return -EINVAL;
	}
	err = opd_image_get(&opd->images, &id, &image);
	if (err)
		return err == -EEXIST ? 0 : err;
	/* A user who wants the file to be profiled wants it by any name. */
	if (!opd_cookie_find(&opd->cookies, p[1], &file)) {
		image->wanted |= file->wanted;
		if (!is_profiler)
			opd_tasks_learn_link(&opd->tasks, path, file->name);
	}
	opd_tasks_learn_run(&opd->tasks, (uint32_t)p[0], p[1], image);
	if (opd->trans.context.tgid == (int64_t)p[0])
		look_up_process(opd);
	opd_transient_forget_images(&opd->trans);
	return 0;
}

/* Unless a feature takes weights, the record is passed over. */
static int handle_WEIGHT(struct opd *opd, const struct opd_rec *rec)
{
	return handle_ext_record(opd, rec) == OPD_EXT_BAD ? -EINVAL : 0;
}

static int handle_TIMES(struct opd *opd, const struct opd_rec *rec)
{
	bool lowered = rec->flags & OP_TIMES_LOWERED;

	if (rec->payload[0] < 1 ||
	    rec->payload[0] > (lowered ? OP_MAX_RATE_DIVISOR : OP_MAX_TIMES))
		return -EINVAL;
	opd->trans.context.more = rec->payload[0] - 1;
	if (lowered)
		opd->stats.spread += rec->payload[0] * opd->trans.context.more;
	opd_transient_forget_images(&opd->trans);
	return 0;
}

static int handle_CALL(struct opd *opd, const struct opd_rec *rec)
{
	const uint64_t *p = rec->payload;
	struct opd_context context = opd->trans.context;
	const struct opd_call call = {
		.counter = (uint32_t)p[0],
		.caller_cookie = p[2],
		.caller = p[3],
		.callee_cookie = p[4],
		.callee = p[5],
	};

	if (p[0] >= opd->events.nr || !opd->events.counter[p[0]].set ||
	    p[1] < 1 || p[1] > OP_MAX_TIMES)
		return -EINVAL;
	context.more = p[1] - 1;
	return opd_trace_call(&opd->trace, &context, &call);
}

static int handle_TIME(struct opd *opd, const struct opd_rec *rec)
{
	if (rec->payload[0] > INT64_MAX)
		return -EINVAL;
	opd_timeline_set(&opd->store.timeline, rec->payload[0]);
	return 0;
}

struct code_handler {
	opd_handler *handle;
	uint32_t min_words;
};

static const struct code_handler handlers[] = {
#define X(name, nr, words, text) [nr] = { handle_##name, words },
	OP_CODES(X)
#undef X
};

#define NR_HANDLERS (sizeof(handlers) / sizeof(handlers[0]))

/*
 * Let @rec, which is whole, change the context. An unknown code is counted; a
 * known one that makes no sense is, too, and the context is unknown then.
 */
static void handle_code(struct opd *opd, const struct opd_rec *rec)
{
	const struct code_handler *handler;

	if (rec->code >= NR_HANDLERS || !handlers[rec->code].handle) {
		if (opd->stats.unknown_codes++ == 0)
			op_log(&opd->log,
			       "unknown code %u in the stream: skipped",
			       rec->code);
		return;
	}
	handler = &handlers[rec->code];
	if (rec->nr_words >= handler->min_words && !handler->handle(opd, rec))
		return;
	if (opd->stats.bad_records++ == 0)
		op_log(&opd->log, "a record of code %u is invalid", rec->code);
	opd_transient_forget(opd);
}

/* Let the record at @at change the context, if it is one of these; returns its
 * payload's words, or -EINVAL. The compiler puts the handlers in here. */
static int handle_switch(struct opd *opd, const uint64_t *at)
{
	const struct opd_rec rec = { .payload = at + OPD_HEAD_WORDS };

	switch (at[1]) {
	case OP_CODE_WORD(OP_COOKIE_SWITCH, 0, 1):
		return handle_COOKIE_SWITCH(opd, &rec) ?: 1;
	case OP_CODE_WORD(OP_USER_ENTER, 0, 0):
		return handle_USER_ENTER(opd, &rec);
	case OP_CODE_WORD(OP_KERNEL_ENTER, 0, 0):
		return handle_KERNEL_ENTER(opd, &rec);
	case OP_CODE_WORD(OP_CTX_SWITCH, 0, 2):
		return handle_CTX_SWITCH(opd, &rec) ?: 2;
	case OP_CODE_WORD(OP_CTX_TGID, 0, 1):
		return handle_CTX_TGID(opd, &rec) ?: 1;
	case OP_CODE_WORD(OP_TRACE_BEGIN, 0, 0):
		return handle_TRACE_BEGIN(opd, &rec);
	case OP_CODE_WORD(OP_TRACE_END, 0, 1):
		return handle_TRACE_END(opd, &rec) ?: 1;
	default:
		return -EINVAL;
	}
}

/*
 * The short way for what most samples have before them: handle the records at
 * the cursor that only change the context. False if there is none, or one that
 * handle_code() has to see.
 */
static bool handle_switches(struct opd *opd, struct opd_stream *stream)
{
	const uint64_t *at = stream->at;
	bool taken;

	/* None of them has more than two words of payload. */
	while (stream->end - at >= OPD_HEAD_WORDS + 2 && at[0] == OP_ESCAPE) {
		int nr = handle_switch(opd, at);

		if (nr < 0)
			break;
		at += OPD_HEAD_WORDS + nr;
	}
	taken = at != stream->at;
	stream->at = at;
	return taken;
}

/* ---- the stream -------------------------------------------------------------
 */

static void resync(struct opd *opd, struct opd_stream *stream)
{
	const uint64_t *from = stream->at;

	opd->trans.resyncing = !opd_stream_resync(stream);
	opd->stats.skipped_words += (uint64_t)(stream->at - from);
}

static void start_resync(struct opd *opd, struct opd_stream *stream)
{
	if (opd->stats.bad_lengths++ == 0)
		op_log(&opd->log,
		       "a record of impossible length: skipping to the next CPU switch");
	opd_transient_forget(opd);
	stream->at++;
	opd->stats.skipped_words++;
	resync(opd, stream);
}

/* False when what is at the cursor is not whole. */
static bool handle_record(struct opd *opd, struct opd_stream *stream)
{
	struct opd_rec rec;

	if (handle_switches(opd, stream))
		return true;
	switch (opd_stream_record(stream, &rec)) {
	case OPD_UNIT_RECORD:
		handle_code(opd, &rec);
		return true;
	case OPD_UNIT_BAD:
		start_resync(opd, stream);
		return !opd->trans.resyncing;
	case OPD_UNIT_MORE:
		break;
	}
	return false;
}

size_t opd_trans_run(struct opd *opd, const uint64_t *words, size_t nr)
{
	struct opd_stream stream = { words, words + nr };
	bool more = true;

	if (opd->trans.resyncing) {
		resync(opd, &stream);
		more = !opd->trans.resyncing;
	}
	while (more && stream.at < stream.end)
		more = *stream.at == OP_ESCAPE
			       ? handle_record(opd, &stream)
			       : opd_transient_samples(opd, &stream);
	return (size_t)(stream.at - words);
}

void opd_trans_end(struct opd *opd, size_t nr)
{
	opd->stats.incomplete += nr;
	if (nr == 1 && !opd->trans.resyncing)
		op_log(&opd->log, "the stream ends in the middle of a sample");
	else if (nr)
		op_log(&opd->log, "the stream ends in the middle of a record");
	opd_transient_forget(opd);
	opd_defer_retry(&opd->defer, OP_NO_COOKIE, true);
}
