// SPDX-License-Identifier: GPL-2.0
/*
 * The folders 0/ 1/ ... of events, with a file for each number of struct
 * counter_setting and the times of the event; time_slice, and pmu_types. There
 * may be more events than counters of the hardware (multiplex.h).
 */

#include <linux/fs.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "counter/counter.h"
#include "counter/counter_perf.h"
#include "counter/multiplex.h"
#include "oprofilefs.h"
#include "settings.h"
#include "uapi/oprofile.h"

#define TYPES_TEXT 96 /* bytes */

static ssize_t setting_read(struct file *file, char __user *buf, size_t count,
			    loff_t *ppos)
{
	const unsigned long *setting = file->private_data;

	return oprofilefs_read_u64(READ_ONCE(*setting), buf, count, ppos);
}

static ssize_t setting_write(struct file *file, const char __user *buf,
			     size_t count, loff_t *ppos)
{
	u64 number;
	int err = oprofilefs_write_u64(&number, buf, count, ppos);

	if (!err)
		err = settings_set_while_stopped(file->private_data, number);
	return err ? err : count;
}

static const struct file_operations setting_fops = {
	.owner = THIS_MODULE,
	.open = oprofilefs_open,
	.read = setting_read,
	.write = setting_write,
	.llseek = default_llseek,
};

int counter_create_setting(struct dentry *dir, const char *name,
			   unsigned long *value)
{
	return oprofilefs_create_file(dir, name, 0600, &setting_fops, value);
}

/* ---- times --------------------------------------------------------------- */

/* X(file name, member of struct counter_time) */
#define TIMES(X)                                                               \
	X(time_enabled, enabled)                                               \
	X(time_running, running)                                               \
	X(counted, counted)                                                    \
	X(turns, turns)

static const struct {
	const char *name;
	size_t at; /* offset in struct counter_time */
} times[] = {
#define X(file, member) { #file, offsetof(struct counter_time, member) },
	TIMES(X)
#undef X
};

#define NR_TIMES ARRAY_SIZE(times)

/* A file tells what it is by the number in i_private: which of these, and of
 * which event. */
static ssize_t time_read(struct file *file, char __user *buf, size_t count,
			 loff_t *ppos)
{
	unsigned long key = (unsigned long)file_inode(file)->i_private;
	struct counter_time time;

	counter_perf_time(key / NR_TIMES, &time);
	return oprofilefs_read_u64(
		*(u64 *)((char *)&time + times[key % NR_TIMES].at), buf, count,
		ppos);
}

static const struct file_operations time_fops = {
	.owner = THIS_MODULE,
	.open = oprofilefs_open,
	.read = time_read,
	.llseek = default_llseek,
};

static int create_times(struct dentry *dir, unsigned long nr)
{
	unsigned long i;
	int err = 0;

	for (i = 0; i < NR_TIMES && !err; i++)
		err = oprofilefs_create_file(dir, times[i].name, 0400,
					     &time_fops,
					     (void *)(nr * NR_TIMES + i));
	return err;
}

static u64 get_slice(void)
{
	return READ_ONCE(multiplex_slice);
}

static int set_slice(u64 value)
{
	if (!value || value > MULTIPLEX_SLICE_MAX)
		return -EINVAL;
	return settings_set_while_stopped(&multiplex_slice, value);
}

static const struct oprofilefs_value slice_file = {
	.name = "time_slice",
	.mode = 0600,
	.get = get_slice,
	.set = set_slice,
};

/* ---- folders ------------------------------------------------------------- */

static int create_folder(struct dentry *root, unsigned int nr)
{
	struct counter_setting *setting = &counter_settings[nr];
	const struct {
		const char *name;
		unsigned long *value;
	} files[] = {
		{ "enabled", &setting->enabled },
		{ "event", &setting->event },
		{ "count", &setting->count },
		{ "unit_mask", &setting->unit_mask },
		{ "kernel", &setting->kernel },
		{ "user", &setting->user },
		{ "extra", &setting->extra },
	};
	struct dentry *dir;
	char name[12];
	unsigned int i;
	int err = 0;

	snprintf(name, sizeof(name), "%u", nr);
	dir = oprofilefs_mkdir(root, name);
	if (!dir)
		return -ENOMEM;
	for (i = 0; i < ARRAY_SIZE(files) && !err; i++)
		err = counter_create_setting(dir, files[i].name,
					     files[i].value);
	return err ? err : create_times(dir, nr);
}

/* ---- pmu_types ----------------------------------------------------------- */

static ssize_t types_read(struct file *file, char __user *buf, size_t count,
			  loff_t *ppos)
{
	struct counter_pmu_types types;
	char text[TYPES_TEXT];
	unsigned int i;
	int len = 0;

	settings_read(&types, &counter_pmu_types, sizeof(types));
	for (i = 0; i < types.nr; i++)
		len += scnprintf(text + len, sizeof(text) - len, "%s%lu",
				 i ? " " : "", types.types[i]);
	len += scnprintf(text + len, sizeof(text) - len, "\n");
	return simple_read_from_buffer(buf, count, ppos, text, len);
}

/* Blanks between numbers; none of them is larger than an int. */
static int parse_types(char *text, struct counter_pmu_types *types)
{
	char *word;

	*types = (struct counter_pmu_types){ 0 };
	while ((word = strsep(&text, " \t\n"))) {
		unsigned int type;

		if (!*word)
			continue;
		if (types->nr == COUNTER_MAX_PMU_TYPES ||
		    kstrtouint(word, 10, &type))
			return -EINVAL;
		types->types[types->nr++] = type;
	}
	return types->nr ? 0 : -EINVAL;
}

static ssize_t types_write(struct file *file, const char __user *buf,
			   size_t count, loff_t *ppos)
{
	struct counter_pmu_types types;
	char text[TYPES_TEXT];
	int err;

	if (*ppos || count >= sizeof(text))
		return -EINVAL;
	if (copy_from_user(text, buf, count))
		return -EFAULT;
	text[count] = '\0';
	err = parse_types(text, &types);
	if (!err)
		err = settings_set_all_while_stopped(&counter_pmu_types, &types,
						     sizeof(types));
	return err ? err : count;
}

static const struct file_operations types_fops = {
	.owner = THIS_MODULE,
	.open = oprofilefs_open,
	.read = types_read,
	.write = types_write,
	.llseek = default_llseek,
};

int counter_perf_create_files(struct dentry *root)
{
	unsigned int i;
	int err = 0;

	for (i = 0; i < OP_MAX_COUNTERS && !err; i++)
		err = create_folder(root, i);
	if (!err)
		err = oprofilefs_create_value(root, &slice_file);
	if (!err)
		err = oprofilefs_create_file(root, "pmu_types", 0600,
					     &types_fops, NULL);
	return err;
}
