// SPDX-License-Identifier: GPL-2.0
/*
 * The consumer empties the CPU buffers one after the other; sync_mutex admits
 * one consumer at a time. Each sample in the buffers is self-contained; the
 * context records of the stream are made here, from what the reader has been
 * told since the sync began. They go into the event buffer in one piece with
 * their sample: when there is no room, both are dropped, and what the reader
 * knows stays as it was, so the next sample brings its context again. A trace
 * that does not fit is tried once more without its callers.
 *
 * The notice of a module that comes, has begun to work or goes must lie between
 * the samples before and after that. So all CPU buffers are emptied first; and
 * a notice that found no room is tried again before the next samples, which are
 * lost as long as it finds none: a sample may need less.
 */

#include <linux/kernel.h>
#include <linux/minmax.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/notifier.h>
#include <linux/sched.h>
#include <linux/workqueue.h>

#include "buffer/buffer_sync.h"
#include "buffer/cpu_buffer.h"
#include "buffer/event_buffer.h"
#include "buffer/stream.h"
#include "compat.h"
#include "image/image_file.h"
#include "oprofile_stats.h"
#include "owner.h"
#include "uapi/oprofile.h"

#define SYNC_INTERVAL (HZ / 4)

/* All there can be before one sample, the sample, and the end of its trace. */
#define MAX_WORDS 40

/*
 * The context that the reader knows at the end of the stream. Every sync begins
 * with an empty one, so that a reader that lost its way soon finds it again.
 */
struct context {
	bool has_cpu, has_task, has_mode, has_image;
	bool is_kernel;
	u32 cpu, tid, tgid, owner;
	u64 app_cookie;
	enum sample_space space; /* of the image */
	u64 cookie_or_start, anon_end;
};

/* Serializes the consumers of the CPU buffers: the event buffer's producer. */
static DEFINE_MUTEX(sync_mutex);

/*
 * Notices that are still to be sent, the oldest first. A module that is loaded
 * has two; where there are too many the oldest is given up.
 */
#define MAX_NOTICES 8

static struct module_notice {
	u64 init_start, init_end; /* the code it runs once, while it does */
	u64 text_start, text_end; /* the code it keeps, until it goes */
	char name[ALIGN(MODULE_NAME_LEN, sizeof(u64))];
} notices[MAX_NOTICES];
static unsigned int nr_notices;

static void tell_cpu(struct stream *batch, struct context *known,
		     const struct op_sample *sample)
{
	if (known->has_cpu && known->cpu == sample->cpu)
		return;
	stream_code(batch, OP_CPU_SWITCH, 1);
	stream_word(batch, sample->cpu);
	*known = (struct context){ .has_cpu = true, .cpu = sample->cpu };
}

static void tell_task(struct stream *batch, struct context *known,
		      const struct op_sample *sample)
{
	if (known->has_task && known->tid == sample->tid &&
	    known->tgid == sample->tgid && known->owner == sample->owner &&
	    known->app_cookie == sample->app_cookie)
		return;
	stream_code(batch, OP_CTX_SWITCH, 2);
	stream_word(batch, sample->tid);
	stream_word(batch, sample->app_cookie);
	stream_code(batch, OP_CTX_TGID, sample->owner == NO_OWNER ? 1 : 2);
	stream_word(batch, sample->tgid);
	if (sample->owner != NO_OWNER)
		stream_word(batch, sample->owner);
	known->has_task = true;
	known->has_image = false;
	known->tid = sample->tid;
	known->tgid = sample->tgid;
	known->owner = sample->owner;
	known->app_cookie = sample->app_cookie;
}

static void tell_mode(struct stream *batch, struct context *known,
		      bool is_kernel)
{
	if (known->has_mode && known->is_kernel == is_kernel)
		return;
	stream_code(batch, is_kernel ? OP_KERNEL_ENTER : OP_USER_ENTER, 0);
	known->has_mode = true;
	known->is_kernel = is_kernel;
}

static void tell_image(struct stream *batch, struct context *known,
		       const struct op_sample *sample)
{
	if (known->has_image && known->space == sample->space &&
	    known->cookie_or_start == sample->cookie &&
	    known->anon_end == sample->anon_end)
		return;
	stream_image(batch, sample);
	known->has_image = true;
	known->space = sample->space;
	known->cookie_or_start = sample->cookie;
	known->anon_end = sample->anon_end;
}

static void tell_times(struct stream *batch, const struct op_sample *sample)
{
	unsigned long times = op_sample_times(sample);
	u32 flags = sample->nr_taken ? 0 : OP_TIMES_LOWERED;

	if (times == 1)
		return;
	stream_word(batch, OP_ESCAPE);
	stream_word(batch, OP_CODE_WORD(OP_TIMES, flags, 1));
	stream_word(batch, times);
}

/* The context of @sample and itself. */
static void tell_sample(struct stream *batch, struct context *known,
			const struct op_sample *sample)
{
	tell_cpu(batch, known, sample);
	tell_task(batch, known, sample);
	tell_mode(batch, known, sample->space == SAMPLE_KERNEL);
	if (sample->space != SAMPLE_KERNEL)
		tell_image(batch, known, sample);
	tell_times(batch, sample);
	if (sample->code) {
		stream_code(batch, sample->code, 1 + sample->nr_words);
		stream_word(batch, sample->offset);
		return;
	}
	if (sample->nr_words)
		stream_code(batch, OP_TRACE_BEGIN, 0);
	stream_sample(batch, sample->offset, sample->counter);
}

static bool has_callers(const struct op_sample *sample)
{
	return sample->nr_words && !sample->code;
}

static bool put_words_behind(unsigned int cpu, unsigned int nr_words)
{
	unsigned int slot, part;

	for (slot = 0; nr_words; slot++, nr_words -= part) {
		part = min(nr_words, OP_RING_SLOT_WORDS);
		if (!event_buffer_put(cpu_buffer_words(cpu, slot), part))
			return false;
	}
	return true;
}

/* All of it, or nothing. */
static bool sync_whole(const struct stream *batch, unsigned int cpu,
		       unsigned int nr_words)
{
	bool has_room = event_buffer_put(batch->words, batch->nr) &&
			put_words_behind(cpu, nr_words);

	if (has_room)
		event_buffer_commit();
	else
		event_buffer_drop();
	return has_room;
}

/* For want of room the trace has no callers. */
static bool sync_without_callers(struct stream *batch, unsigned int cpu)
{
	stream_code(batch, OP_TRACE_END, 1);
	stream_word(batch, OP_TRACE_SHORT_STACK);
	if (!sync_whole(batch, cpu, 0))
		return false;
	oprofile_stat_inc(STAT_BACKTRACE_ABORTED);
	return true;
}

static void drop_notices(unsigned int nr)
{
	nr_notices -= nr;
	memmove(notices, notices + nr, nr_notices * sizeof(*notices));
}

static bool sync_notice(const struct module_notice *notice)
{
	u64 words[2 + 5 + sizeof(notice->name) / sizeof(u64)];
	struct stream batch = { .words = words };
	unsigned int len = strlen(notice->name);
	unsigned int nr_words = DIV_ROUND_UP(len, sizeof(u64));

	stream_code(&batch, OP_MODULE_LOADED, 5 + nr_words);
	stream_word(&batch, notice->init_start);
	stream_word(&batch, notice->init_end);
	stream_word(&batch, len);
	memcpy(words + batch.nr, notice->name, nr_words * sizeof(u64));
	batch.nr += nr_words;
	stream_word(&batch, notice->text_start);
	stream_word(&batch, notice->text_end);
	return sync_whole(&batch, 0, 0);
}

/* Whether none is left. */
static bool sync_notices(void)
{
	unsigned int nr = 0;

	while (nr < nr_notices && sync_notice(&notices[nr]))
		nr++;
	drop_notices(nr);
	return !nr_notices;
}

/*
 * Move one sample of the buffer of @cpu into the event buffer. @known changes
 * only by records that reached the event buffer; callers have context of their
 * own.
 */
static void sync_sample(struct context *known, unsigned int cpu,
			const struct op_sample *sample)
{
	static u64 words[MAX_WORDS]; /* the consumer's, as all here */
	struct stream batch = { .words = words };
	struct context next;

	if (nr_notices) {
		if (!sync_notices()) {
			op_sample_lose(sample, STAT_EVENT_LOST_OVERFLOW);
			return;
		}
		*known = (struct context){};
	}
	next = *known;
	tell_sample(&batch, &next, sample);
	if (has_callers(sample))
		next.has_mode = next.has_image = false;
	if (sync_whole(&batch, cpu, sample->nr_words) ||
	    (has_callers(sample) && sync_without_callers(&batch, cpu)))
		*known = next;
	else
		op_sample_lose(sample, STAT_EVENT_LOST_OVERFLOW);
}

/* Make a notice of the places of @mod, which has come to @state. */
static void make_module_notice(const struct module *mod, unsigned long state)
{
	struct module_notice *notice;
	unsigned long start;
	unsigned int size;

	if (nr_notices == MAX_NOTICES)
		drop_notices(1);
	notice = &notices[nr_notices++];
	memset(notice, 0, sizeof(*notice));
	if (state == MODULE_STATE_COMING) {
		size = compat_init_text(mod, &start);
		notice->init_start = start;
		notice->init_end = start + size;
	}
	if (state != MODULE_STATE_GOING) {
		size = compat_text(mod, &start);
		notice->text_start = start;
		notice->text_end = start + size;
	}
	strscpy(notice->name, mod->name, sizeof(notice->name));
}

static void sync_all(void)
{
	struct context known = {};
	const struct op_sample *sample;
	unsigned int cpu;

	sync_notices();
	for_each_possible_cpu(cpu) {
		while ((sample = cpu_buffer_peek(cpu))) {
			sync_sample(&known, cpu, sample);
			cpu_buffer_consume(cpu);
		}
		/* There may be hundreds of CPUs, and much in each buffer. */
		cond_resched();
	}
}

void buffer_sync(void)
{
	mutex_lock(&sync_mutex);
	sync_all();
	mutex_unlock(&sync_mutex);
}

static void sync_periodically(struct work_struct *work)
{
	struct delayed_work *self = to_delayed_work(work);

	mutex_lock(&sync_mutex);
	sync_all();
	/* The files of new images are not kept for long. */
	event_buffer_wake_if_old(image_files_are_held() ? 0 : HZ);
	mutex_unlock(&sync_mutex);
	queue_delayed_work(system_unbound_wq, self, SYNC_INTERVAL);
}

static DECLARE_DELAYED_WORK(sync_work, sync_periodically);

void buffer_sync_soon(void)
{
	mod_delayed_work(system_unbound_wq, &sync_work, 0);
}

/*
 * A module that comes is in its place but has not run: samples before the
 * notice are not its own, those behind it may be. One that works has run its
 * init function, whose memory is free from then on.
 */
static int on_module(struct notifier_block *block, unsigned long state,
		     void *data)
{
	mutex_lock(&sync_mutex);
	sync_all();
	make_module_notice(data, state);
	sync_notices();
	mutex_unlock(&sync_mutex);
	return NOTIFY_OK;
}

static struct notifier_block module_block = { .notifier_call = on_module };

int buffer_sync_setup(void)
{
	int err;

	nr_notices = 0;
	err = register_module_notifier(&module_block);
	if (!err)
		queue_delayed_work(system_unbound_wq, &sync_work,
				   SYNC_INTERVAL);
	return err;
}

void buffer_sync_shutdown(void)
{
	unregister_module_notifier(&module_block);
	cancel_delayed_work_sync(&sync_work);
}
