// SPDX-License-Identifier: GPL-2.0
/*
 * Files are made once, when the file system is first mounted, and live until
 * the last mount is gone. Modes alone do not guard them: files that are not for
 * all need the right to sample the machine (CAP_PERFMON) at open, because a
 * process may have the uid of root without its capabilities. Numbers are
 * written as a whole in one write(2) at offset 0, so a setting never takes a
 * part of a number.
 */

#include <linux/capability.h>
#include <linux/fs.h>
#include <linux/fs_context.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/uaccess.h>

#include "compat.h"
#include "oprofilefs.h"

#define OPROFILEFS_MAGIC 0x6f70726f

static int (*fill_root)(struct dentry *root);

static const struct super_operations super_ops = {
	.statfs = simple_statfs,
	.drop_inode = inode_just_drop,
};

static struct inode *new_oprofilefs_inode(struct super_block *sb, umode_t mode)
{
	struct inode *inode = new_inode(sb);

	if (inode) {
		inode->i_ino = get_next_ino();
		inode->i_mode = mode;
		simple_inode_init_ts(inode);
	}
	return inode;
}

static struct inode *new_dir_inode(struct super_block *sb)
{
	struct inode *inode = new_oprofilefs_inode(sb, S_IFDIR | 0755);

	if (inode) {
		inode->i_op = &simple_dir_inode_operations;
		inode->i_fop = &simple_dir_operations;
		set_nlink(inode, 2);
	}
	return inode;
}

static struct dentry *add_inode(struct dentry *parent, const char *name,
				struct inode *inode)
{
	struct dentry *dentry;

	if (!inode)
		return NULL;
	dentry = d_alloc_name(parent, name);
	if (!dentry) {
		iput(inode);
		return NULL;
	}
	d_make_persistent(dentry, inode);
	dput(dentry);
	return dentry;
}

struct dentry *oprofilefs_mkdir(struct dentry *parent, const char *name)
{
	struct dentry *dir;

	dir = add_inode(parent, name, new_dir_inode(parent->d_sb));
	if (dir)
		inc_nlink(d_inode(parent));
	return dir;
}

int oprofilefs_create_file(struct dentry *dir, const char *name, umode_t mode,
			   const struct file_operations *fops, void *private)
{
	struct inode *inode = new_oprofilefs_inode(dir->d_sb, S_IFREG | mode);

	if (inode) {
		inode->i_fop = fops;
		inode->i_private = private;
	}
	return add_inode(dir, name, inode) ? 0 : -ENOMEM;
}

int oprofilefs_open(struct inode *inode, struct file *file)
{
	if (!(inode->i_mode & 0004) && !perfmon_capable())
		return -EPERM;
	return simple_open(inode, file);
}

ssize_t oprofilefs_read_u64(u64 value, char __user *buf, size_t count,
			    loff_t *ppos)
{
	char text[24];
	int len = snprintf(text, sizeof(text), "%llu\n", value);

	return simple_read_from_buffer(buf, count, ppos, text, len);
}

int oprofilefs_write_u64(u64 *value, const char __user *buf, size_t count,
			 loff_t *ppos)
{
	if (*ppos)
		return -EINVAL;
	return kstrtou64_from_user(buf, count, 0, value);
}

static ssize_t value_read(struct file *file, char __user *buf, size_t count,
			  loff_t *ppos)
{
	const struct oprofilefs_value *value = file->private_data;

	return oprofilefs_read_u64(value->get(), buf, count, ppos);
}

static ssize_t value_write(struct file *file, const char __user *buf,
			   size_t count, loff_t *ppos)
{
	const struct oprofilefs_value *value = file->private_data;
	u64 number;
	int err;

	if (!value->set)
		return -EPERM;
	err = oprofilefs_write_u64(&number, buf, count, ppos);
	if (!err)
		err = value->set(number);
	return err ? err : count;
}

static const struct file_operations value_fops = {
	.owner = THIS_MODULE,
	.open = oprofilefs_open,
	.read = value_read,
	.write = value_write,
	.llseek = default_llseek,
};

int oprofilefs_create_value(struct dentry *dir,
			    const struct oprofilefs_value *value)
{
	return oprofilefs_create_file(dir, value->name, value->mode,
				      &value_fops, (void *)value);
}

static int fill_super(struct super_block *sb, struct fs_context *fc)
{
	sb->s_blocksize = PAGE_SIZE;
	sb->s_blocksize_bits = PAGE_SHIFT;
	sb->s_magic = OPROFILEFS_MAGIC;
	sb->s_op = &super_ops;
	sb->s_time_gran = 1;
	sb->s_root = d_make_root(new_dir_inode(sb));
	return sb->s_root ? fill_root(sb->s_root) : -ENOMEM;
}

static int get_tree(struct fs_context *fc)
{
	return get_tree_single(fc, fill_super);
}

static const struct fs_context_operations context_ops = {
	.get_tree = get_tree,
};

static int init_fs_context(struct fs_context *fc)
{
	fc->ops = &context_ops;
	return 0;
}

static struct file_system_type oprofilefs_type = {
	.owner = THIS_MODULE,
	.name = "oprofilefs",
	.init_fs_context = init_fs_context,
	.kill_sb = compat_kill_persistent_super,
};
/*
 * There is no MODULE_ALIAS_FS(): anybody may call mount(2) in a user namespace
 * of his own, which would load the module before it is refused.
 */

int oprofilefs_register(int (*fill)(struct dentry *root))
{
	fill_root = fill;
	return register_filesystem(&oprofilefs_type);
}

void oprofilefs_unregister(void)
{
	unregister_filesystem(&oprofilefs_type);
}
