/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MODULE_OPROFILEFS_H
#define MODULE_OPROFILEFS_H

/*
 * The pseudo file system that is mounted on /dev/oprofile. It knows files of
 * numbers and files with operations of their own, and nothing of profiling.
 * There is one instance, shared by all mounts. Only a task with
 * CAP_SYS_ADMIN may open a file that others than root have no mode bit for.
 */

#include <linux/types.h>

struct dentry;
struct file;
struct file_operations;
struct inode;

/* A file that holds one number. Without set it is read-only. */
struct oprofilefs_value {
	const char *name;
	umode_t mode;
	u64 (*get)(void);
	int (*set)(u64 value); /* 0 or -errno */
};

/* A folder below @parent; NULL when memory is short. */
struct dentry *oprofilefs_mkdir(struct dentry *parent, const char *name);

/* A file with @fops, whose open is oprofilefs_open or calls it. 0 or -ENOMEM.
 */
int oprofilefs_create_file(struct dentry *dir, const char *name, umode_t mode,
			   const struct file_operations *fops, void *private);

/* A file for @value, which must outlive the mount. Returns 0 or -ENOMEM. */
int oprofilefs_create_value(struct dentry *dir,
			    const struct oprofilefs_value *value);

/* open() for files: checks the capability, sets private_data. */
int oprofilefs_open(struct inode *inode, struct file *file);

/* Answer a read(2) with a number, as text with a newline. */
ssize_t oprofilefs_read_u64(u64 value, char __user *buf, size_t count,
			    loff_t *ppos);

/*
 * Take @count bytes of text with one number, base 10, 0x or 0, from user
 * space. Returns 0, -EINVAL, -ERANGE or -EFAULT.
 */
int oprofilefs_write_u64(u64 *value, const char __user *buf, size_t count,
			 loff_t *ppos);

/* @fill makes the files below the root folder at the first mount. */
int oprofilefs_register(int (*fill)(struct dentry *root));
void oprofilefs_unregister(void);

#endif /* MODULE_OPROFILEFS_H */
