// SPDX-License-Identifier: GPL-2.0
/* The files of oprofilefs, but those of the backends and of stats/. */

#include <linux/cpumask.h>
#include <linux/fs.h>
#include <linux/kernel.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/seq_file.h>
#include <linux/string.h>

#include "buffer/cpu_buffer.h"
#include "buffer/event_buffer.h"
#include "buffer_file.h"
#include "counter/counter.h"
#include "counter/wait.h"
#include "image/image_cookie.h"
#include "oprof.h"
#include "oprofile_stats.h"
#include "oprofilefs.h"
#include "sample/backtrace.h"
#include "settings.h"
#include "uapi/oprofile.h"

/* How far sizes may go, however much memory there is. */
#define MAX_BUFFER_WORDS (1ul << 27)
#define MIN_BUFFER_WORDS 1024
#define MAX_CPU_SAMPLES (1ul << 22)
#define MIN_CPU_SAMPLES 16

static u64 get_enable(void)
{
	return READ_ONCE(settings_state.is_running);
}

static int set_enable(u64 value)
{
	if (value > 1)
		return -EINVAL;
	return value ? oprofile_start() : oprofile_stop();
}

/* Half of the memory is the most, even with all of it free. */
static bool is_in_memory(u64 bytes)
{
	return bytes <= (u64)totalram_pages() << PAGE_SHIFT >> 1;
}

static u64 get_buffer_size(void)
{
	return READ_ONCE(oprofile_buffer_size);
}

static int set_buffer_size(u64 value)
{
	if (value < MIN_BUFFER_WORDS || value > MAX_BUFFER_WORDS ||
	    !is_in_memory(event_buffer_bytes(value)))
		return -EINVAL;
	return settings_set_while_idle(&oprofile_buffer_size, value);
}

static u64 get_buffer_watershed(void)
{
	return READ_ONCE(oprofile_buffer_watershed);
}

static int set_buffer_watershed(u64 value)
{
	return settings_set_while_idle(&oprofile_buffer_watershed, value);
}

static u64 get_cpu_buffer_size(void)
{
	return READ_ONCE(oprofile_cpu_buffer_size);
}

static int set_cpu_buffer_size(u64 value)
{
	if (value < MIN_CPU_SAMPLES || value > MAX_CPU_SAMPLES ||
	    !is_in_memory(cpu_buffer_bytes(value) * num_possible_cpus()))
		return -EINVAL;
	return settings_set_while_idle(&oprofile_cpu_buffer_size, value);
}

static u64 get_backtrace_depth(void)
{
	return READ_ONCE(backtrace_depth);
}

static int set_backtrace_depth(u64 value)
{
	if (value > BACKTRACE_MAX_DEPTH)
		return -EINVAL;
	return settings_set_while_idle(&backtrace_depth, value);
}

static u64 get_backtrace_stack(void)
{
	return READ_ONCE(backtrace_stack);
}

static int set_backtrace_stack(u64 value)
{
	if (value > OP_STACK_MAX_BYTES || value % sizeof(u64))
		return -EINVAL;
	return settings_set_while_idle(&backtrace_stack, value);
}

static u64 get_rate_divisor(void)
{
	return 1ull << oprofile_rate_shift();
}

static int set_rate_divisor(u64 value)
{
	if (value > OP_MAX_RATE_DIVISOR || !is_power_of_2(value))
		return -EINVAL;
	return oprofile_lower_rate(ilog2(value));
}

static u64 get_pointer_size(void)
{
	return sizeof(void *);
}

static u64 get_abi_version(void)
{
	return OP_ABI_VERSION;
}

static const struct oprofilefs_value values[] = {
	{ "enable", 0600, get_enable, set_enable },
	{ "buffer_size", 0600, get_buffer_size, set_buffer_size },
	{ "buffer_watershed", 0600, get_buffer_watershed,
	  set_buffer_watershed },
	{ "cpu_buffer_size", 0600, get_cpu_buffer_size, set_cpu_buffer_size },
	{ "backtrace_depth", 0600, get_backtrace_depth, set_backtrace_depth },
	{ "backtrace_stack", 0600, get_backtrace_stack, set_backtrace_stack },
	{ "rate_divisor", 0600, get_rate_divisor, set_rate_divisor },
	{ "pointer_size", 0444, get_pointer_size, NULL },
	{ "abi_version", 0444, get_abi_version, NULL },
};

static ssize_t cpu_type_read(struct file *file, char __user *buf, size_t count,
			     loff_t *ppos)
{
	char name[64];

	oprofile_cpu_type(name, sizeof(name));
	return simple_read_from_buffer(buf, count, ppos, name, strlen(name));
}

static const struct file_operations cpu_type_fops = {
	.owner = THIS_MODULE,
	.open = oprofilefs_open,
	.read = cpu_type_read,
	.llseek = default_llseek,
};

static ssize_t dump_write(struct file *file, const char __user *buf,
			  size_t count, loff_t *ppos)
{
	int err = oprofile_dump();

	return err ? err : count;
}

static const struct file_operations dump_fops = {
	.owner = THIS_MODULE,
	.open = oprofilefs_open,
	.write = dump_write,
	.llseek = noop_llseek,
};

static int cookies_open(struct inode *inode, struct file *file)
{
	int err = oprofilefs_open(inode, file);

	return err ? err : seq_open(file, &oprofile_cookies_ops);
}

static const struct file_operations cookies_fops = {
	.owner = THIS_MODULE,
	.open = cookies_open,
	.read = seq_read,
	.llseek = seq_lseek,
	.release = seq_release,
};

static const struct {
	const char *name;
	umode_t mode;
	const struct file_operations *fops;
} files[] = {
	{ "buffer", 0400, &buffer_file_operations },
	{ "cookies", 0400, &cookies_fops },
	{ "cpu_type", 0444, &cpu_type_fops },
	{ "dump", 0200, &dump_fops },
};

int oprofile_create_files(struct dentry *root)
{
	unsigned int i;
	int err = 0;

	for (i = 0; i < ARRAY_SIZE(values) && !err; i++)
		err = oprofilefs_create_value(root, &values[i]);
	for (i = 0; i < ARRAY_SIZE(files) && !err; i++)
		err = oprofilefs_create_file(root, files[i].name, files[i].mode,
					     files[i].fops, NULL);
	if (!err)
		err = counter_create_files(root);
	if (!err)
		err = wait_create_files(root);
	if (!err)
		err = oprofile_stats_create_files(root);
	return err;
}
