/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MODULE_OPROF_H
#define MODULE_OPROF_H

/*
 * The state of the profiler: idle, set up (the event buffer is open),
 * running. Every change is made under one mutex.
 */

#include <linux/types.h>

struct dentry;
struct seq_operations;

/* At open and release of the event buffer. 0 or -errno. */
int oprofile_setup(void);
void oprofile_shutdown(void);

/* Start sampling; -EINVAL when the event buffer is not open. */
int oprofile_start(void);

/*
 * Stop sampling and move every sample to the event buffer. Returns 0, or
 * -EINTR when the caller was killed before that was done.
 */
int oprofile_stop(void);

/*
 * Sample 1 << @shift times more rarely until the event buffer is opened again;
 * each sample then stands for so many. Returns 0, -EOPNOTSUPP where what
 * samples cannot do that, or -errno.
 */
int oprofile_lower_rate(unsigned int shift);
unsigned int oprofile_rate_shift(void);

/* Move what the CPU buffers hold to the reader. -EINVAL when not set up. */
int oprofile_dump(void);

/* Write the name of the hardware that samples, or would sample, to @name: as
 * much of it as fits into @size bytes. */
void oprofile_cpu_type(char *name, size_t size);

/* Print the image cookies, none while idle. */
extern const struct seq_operations oprofile_cookies_ops;

/* Settings; changed through the functions of settings.h. */
extern unsigned long oprofile_buffer_size; /* words */
extern unsigned long oprofile_buffer_watershed; /* words */
extern unsigned long oprofile_cpu_buffer_size; /* samples */

/* oprofile_files.c: make the files of oprofilefs below @root. 0 or -errno. */
int oprofile_create_files(struct dentry *root);

#endif /* MODULE_OPROF_H */
