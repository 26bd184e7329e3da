// SPDX-License-Identifier: GPL-2.0
/*
 * The mutex oprof_mutex orders open, start, stop, dump, release and changes of
 * settings, so no other file has to think of two at the same time.
 *
 * Setup makes the parts in turn, and an error undoes them by labels in reverse
 * order. A stop goes the way of the samples: first the counters, then the
 * samples that wait in NMI rings and tasks, then the CPU buffers into the event
 * buffer, so that after a stop the reader gets everything. At a shutdown
 * deferred samples are waited for first, as a task that resolves one may still
 * ask for a sync.
 */

#include <linux/cpumask.h>
#include <linux/kernel.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/rcupdate.h>
#include <linux/seq_file.h>
#include <linux/string.h>

#include "buffer/buffer_sync.h"
#include "buffer/cpu_buffer.h"
#include "buffer/event_buffer.h"
#include "counter/counter.h"
#include "counter/counter_ibs.h"
#include "counter/counter_perf.h"
#include "counter/wait.h"
#include "image/image_cookie.h"
#include "image/image_file.h"
#include "oprof.h"
#include "oprofile_stats.h"
#include "oprofilefs.h"
#include "sample/backtrace.h"
#include "sample/resolve.h"
#include "settings.h"

unsigned long oprofile_buffer_size = 131072;
unsigned long oprofile_buffer_watershed = 32768;
unsigned long oprofile_cpu_buffer_size = 8192;

/* Guarded by the mutex of settings.h, as every change of state is. */
static const struct oprofile_operations *running; /* by these */
static unsigned int rate_shift; /* the rate is divided by 1 << this */

/* The sizes of the buffers, computed from the settings. */
struct buffer_sizes {
	unsigned long nr_words, watershed; /* of the event buffer */
	unsigned long nr_samples; /* of each CPU buffer */
};

/* Samples with callers need more room, and more of it while they are read. */
static struct buffer_sizes buffer_sizes(void)
{
	struct buffer_sizes sizes = {
		.nr_words = oprofile_buffer_size,
		.watershed = oprofile_buffer_watershed,
		.nr_samples = oprofile_cpu_buffer_size,
	};

	if (backtrace_is_on()) {
		sizes.nr_samples *= 4;
		sizes.nr_words *= 16;
		sizes.watershed = sizes.nr_words / 4 * 3;
	}
	return sizes;
}

/*
 * Whether there is memory for all buffers and as much again for everybody else,
 * and none of them is more than the kernel gives in one piece. This is asked
 * first, as the kernel would end processes to get what is not there.
 */
static bool buffers_fit(const struct buffer_sizes *sizes)
{
	u64 available = (u64)max(si_mem_available(), 0l) << PAGE_SHIFT;
	u64 event_bytes = event_buffer_bytes(sizes->nr_words);
	u64 cpu_bytes = cpu_buffer_bytes(sizes->nr_samples);

	return event_bytes <= INT_MAX && cpu_bytes <= INT_MAX &&
	       event_bytes + cpu_bytes * num_possible_cpus() <= available / 2;
}

static int setup_buffers(void)
{
	const struct buffer_sizes sizes = buffer_sizes();
	int err;

	if (!buffers_fit(&sizes))
		return -ENOMEM;
	err = event_buffer_setup(sizes.nr_words, sizes.watershed);
	if (err)
		return err;
	err = cpu_buffer_setup(sizes.nr_samples);
	if (err)
		event_buffer_shutdown();
	return err;
}

static int setup_locked(void)
{
	int err;

	oprofile_stats_reset();
	counter_perf_reset_times();
	rate_shift = 0;
	err = setup_buffers();
	if (err)
		return err;
	err = backtrace_setup();
	if (err)
		goto out_buffers;
	err = image_cookies_setup();
	if (err)
		goto out_backtrace;
	err = resolve_setup();
	if (err)
		goto out_cookies;
	err = buffer_sync_setup();
	if (err)
		goto out_resolve;
	settings_state.is_set_up = true;
	return 0;

out_resolve:
	resolve_shutdown();
out_cookies:
	image_cookies_shutdown();
out_backtrace:
	backtrace_shutdown();
out_buffers:
	cpu_buffer_shutdown();
	event_buffer_shutdown();
	return err;
}

int oprofile_setup(void)
{
	int err;

	mutex_lock(&settings_mutex);
	err = setup_locked();
	mutex_unlock(&settings_mutex);
	return err;
}

/* @is_read: there is somebody to read what is still to be counted. */
static void stop_counters(bool is_read)
{
	if (!settings_state.is_running)
		return;
	running->stop();
	if (is_read)
		wait_count_unfinished();
	wait_stop();
	resolve_settle();
	settings_state.is_running = false;
}

void oprofile_shutdown(void)
{
	mutex_lock(&settings_mutex);
	stop_counters(false);
	/* The last deferred samples may still ask for a sync. */
	resolve_shutdown();
	buffer_sync_shutdown();
	image_cookies_shutdown();
	backtrace_shutdown();
	cpu_buffer_shutdown();
	event_buffer_shutdown();
	settings_state.is_set_up = false;
	mutex_unlock(&settings_mutex);
}

static int lower_rate(const struct oprofile_operations *ops, unsigned int shift)
{
	int err;

	if (!ops->lower_rate)
		return shift ? -EOPNOTSUPP : 0;
	err = ops->lower_rate(shift);
	if (!err)
		wait_lower_rate(shift);
	return err;
}

int oprofile_start(void)
{
	int err = 0;

	mutex_lock(&settings_mutex);
	if (!settings_state.is_set_up) {
		err = -EINVAL;
	} else if (!settings_state.is_running) {
		running = counter_choose();
		err = lower_rate(running, rate_shift);
		if (!err)
			err = running->start();
		if (!err) {
			err = wait_start();
			if (err)
				running->stop();
		}
		settings_state.is_running = !err;
	}
	mutex_unlock(&settings_mutex);
	return err;
}

int oprofile_register_provider(const struct oprofile_operations *ops)
{
	int err = -EBUSY;

	mutex_lock(&settings_mutex);
	if (!settings_state.is_running)
		err = counter_register(ops);
	mutex_unlock(&settings_mutex);
	return err;
}
EXPORT_SYMBOL_GPL(oprofile_register_provider);

void oprofile_unregister_provider(const struct oprofile_operations *ops)
{
	mutex_lock(&settings_mutex);
	if (running == ops)
		stop_counters(false);
	counter_unregister(ops);
	mutex_unlock(&settings_mutex);
}
EXPORT_SYMBOL_GPL(oprofile_unregister_provider);

/* All samples up to now, with the names of their images, are the reader's. */
static void hand_over(void)
{
	buffer_sync();
	image_cookies_settle();
	event_buffer_wake();
}

int oprofile_stop(void)
{
	int err = 0;

	mutex_lock(&settings_mutex);
	if (settings_state.is_set_up) {
		stop_counters(true);
		err = resolve_drain();
		hand_over();
	}
	mutex_unlock(&settings_mutex);
	return err;
}

int oprofile_lower_rate(unsigned int shift)
{
	int err;

	mutex_lock(&settings_mutex);
	err = lower_rate(settings_state.is_running ? running : counter_choose(),
			 shift);
	if (!err)
		rate_shift = shift;
	mutex_unlock(&settings_mutex);
	return err;
}

unsigned int oprofile_rate_shift(void)
{
	return READ_ONCE(rate_shift);
}

int oprofile_dump(void)
{
	int err = -EINVAL;

	mutex_lock(&settings_mutex);
	if (settings_state.is_set_up) {
		hand_over();
		err = 0;
	}
	mutex_unlock(&settings_mutex);
	return err;
}

void oprofile_cpu_type(char *name, size_t size)
{
	mutex_lock(&settings_mutex);
	strscpy(name, counter_cpu_type(), size);
	mutex_unlock(&settings_mutex);
}

/* Images stay while the mutex is held, which is for a page of text. */
static void *cookies_start(struct seq_file *seq, loff_t *pos)
{
	mutex_lock(&settings_mutex);
	return settings_state.is_set_up ? image_cookies_next(pos) : NULL;
}

static void *cookies_next(struct seq_file *seq, void *image, loff_t *pos)
{
	++*pos;
	return image_cookies_next(pos);
}

static void cookies_stop(struct seq_file *seq, void *image)
{
	mutex_unlock(&settings_mutex);
}

const struct seq_operations oprofile_cookies_ops = {
	.start = cookies_start,
	.next = cookies_next,
	.stop = cookies_stop,
	.show = image_cookies_show,
};

static int __init oprofile_init(void)
{
	int err = image_files_init();

	if (err)
		return err;
	counter_perf_init();
	counter_ibs_init();
	wait_init();
	err = oprofilefs_register(oprofile_create_files);
	if (err)
		image_files_exit();
	return err;
}

static void __exit oprofile_exit(void)
{
	oprofilefs_unregister();
	/*
	 * No mount and no open file is left, so nothing is sampling; but a
	 * task that resolved the last sample may still be in our text.
	 */
	synchronize_rcu_tasks();
	image_files_exit();
}

module_init(oprofile_init);
module_exit(oprofile_exit);

MODULE_LICENSE("GPL");
MODULE_AUTHOR("The OProfile developers");
MODULE_DESCRIPTION("OProfile system profiler");
