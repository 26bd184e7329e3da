// SPDX-License-Identifier: GPL-2.0
/*
 * Counts are local_t of each CPU: an addition is safe against interrupts and
 * NMIs of the same CPU, and touches no cache line of another. Readers add them
 * up without stopping anything, so a sum is exact only when nothing is sampled.
 */

#include <linux/fs.h>
#include <linux/kernel.h>
#include <linux/percpu.h>
#include <asm/local.h>

#include "handler_time.h"
#include "oprofile_stats.h"
#include "oprofilefs.h"

struct oprofile_stats {
	local_t nr[NR_OPROFILE_STATS];
};

static DEFINE_PER_CPU(struct oprofile_stats, stats);
DEFINE_PER_CPU(struct handler_turns, handler_turns);

static const struct {
	const char *name;
	bool per_cpu;
} stat_files[NR_OPROFILE_STATS] = {
#define X(constant, file, cpu) { .name = #file, .per_cpu = (cpu) },
	OPROFILE_STATS(X)
#undef X
};

void oprofile_stat_add(enum oprofile_stat stat, unsigned long nr)
{
	local_add(nr, &get_cpu_ptr(&stats)->nr[stat]);
	put_cpu_ptr(&stats);
}

void oprofile_stat_inc(enum oprofile_stat stat)
{
	oprofile_stat_add(stat, 1);
}

static u64 stat_of(unsigned int cpu, enum oprofile_stat stat)
{
	return local_read(&per_cpu_ptr(&stats, cpu)->nr[stat]);
}

static u64 stat_sum(enum oprofile_stat stat)
{
	unsigned int cpu;
	u64 sum = 0;

	for_each_possible_cpu(cpu)
		sum += stat_of(cpu, stat);
	return sum;
}

void oprofile_stats_reset(void)
{
	unsigned int cpu;
	int i;

	for_each_possible_cpu(cpu)
		for (i = 0; i < NR_OPROFILE_STATS; i++)
			local_set(&per_cpu_ptr(&stats, cpu)->nr[i], 0);
}

/*
 * A file tells its count by the number in i_private: the stat, and above it
 * the CPU plus 1, or 0 for the sum.
 */
static void *stat_key(unsigned int cpu_plus_1, enum oprofile_stat stat)
{
	return (void *)((unsigned long)cpu_plus_1 * NR_OPROFILE_STATS + stat);
}

static ssize_t stat_read(struct file *file, char __user *buf, size_t count,
			 loff_t *ppos)
{
	unsigned long key = (unsigned long)file_inode(file)->i_private;
	unsigned long cpu_plus_1 = key / NR_OPROFILE_STATS;
	enum oprofile_stat stat = key % NR_OPROFILE_STATS;

	return oprofilefs_read_u64(cpu_plus_1 ? stat_of(cpu_plus_1 - 1, stat)
					      : stat_sum(stat),
				   buf, count, ppos);
}

static const struct file_operations stat_fops = {
	.owner = THIS_MODULE,
	.open = oprofilefs_open,
	.read = stat_read,
	.llseek = default_llseek,
};

static int create_files(struct dentry *dir, unsigned int cpu_plus_1)
{
	int i, err = 0;

	for (i = 0; i < NR_OPROFILE_STATS && !err; i++)
		if (stat_files[i].per_cpu == !!cpu_plus_1)
			err = oprofilefs_create_file(dir, stat_files[i].name,
						     0400, &stat_fops,
						     stat_key(cpu_plus_1, i));
	return err;
}

int oprofile_stats_create_files(struct dentry *root)
{
	struct dentry *dir = oprofilefs_mkdir(root, "stats");
	unsigned int cpu;
	int err;

	if (!dir)
		return -ENOMEM;
	err = create_files(dir, 0);
	for_each_possible_cpu(cpu) {
		struct dentry *sub;
		char name[16];

		if (err)
			break;
		snprintf(name, sizeof(name), "cpu%u", cpu);
		sub = oprofilefs_mkdir(dir, name);
		err = sub ? create_files(sub, cpu + 1) : -ENOMEM;
	}
	return err;
}
