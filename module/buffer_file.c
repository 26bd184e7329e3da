// SPDX-License-Identifier: GPL-2.0
#include <linux/bitops.h>
#include <linux/fs.h>
#include <linux/module.h>
#include <linux/security.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "buffer/event_buffer.h"
#include "buffer_file.h"
#include "image/image_cookie.h"
#include "oprof.h"
#include "oprofilefs.h"
#include "uapi/oprofile.h"

static unsigned long is_open;

static ssize_t buffer_read(struct file *file, char __user *buf, size_t count,
			   loff_t *ppos)
{
	return event_buffer_read(buf, count, !(file->f_flags & O_NONBLOCK));
}

static int tell_image(struct op_cookie_query __user *user)
{
	struct op_cookie_query *query = kzalloc(sizeof(*query), GFP_KERNEL);
	int err;

	if (!query)
		return -ENOMEM;
	err = get_user(query->cookie, &user->cookie);
	if (!err)
		err = image_cookie_query(query);
	if (!err && copy_to_user(user, query, sizeof(*query)))
		err = -EFAULT;
	kfree(query);
	return err;
}

static long buffer_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	u64 cookie;

	switch (cmd) {
	case OP_IOC_COOKIE:
		return tell_image((void __user *)arg);
	case OP_IOC_IMAGE:
		if (get_user(cookie, (__u64 __user *)arg))
			return -EFAULT;
		return image_cookie_open(cookie);
	case OP_IOC_WAITING:
		return put_user(event_buffer_waiting(), (__u64 __user *)arg);
	default:
		return -ENOTTY;
	}
}

static int buffer_open(struct inode *inode, struct file *file)
{
	int err = oprofilefs_open(inode, file);

	/* Samples tell addresses of the kernel, and what is on stacks. */
	if (!err)
		err = security_locked_down(LOCKDOWN_PERF);
	if (err)
		return err;
	if (test_and_set_bit_lock(0, &is_open))
		return -EBUSY;
	err = oprofile_setup();
	if (err)
		clear_bit_unlock(0, &is_open);
	else
		stream_open(inode, file);
	return err;
}

static int buffer_release(struct inode *inode, struct file *file)
{
	oprofile_shutdown();
	clear_bit_unlock(0, &is_open);
	return 0;
}

const struct file_operations buffer_file_operations = {
	.owner = THIS_MODULE,
	.open = buffer_open,
	.release = buffer_release,
	.read = buffer_read,
	.poll = event_buffer_poll,
	.unlocked_ioctl = buffer_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
};
