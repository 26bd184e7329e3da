// SPDX-License-Identifier: GPL-2.0
/*
 * Each held file has a delayed work item of its own, which alone lets it go:
 * when its time is over, or as soon as it was fetched or is not wanted any
 * more. The last reference to a deleted file may take its file system long to
 * give up, and whoever waited for that would be as slow; so nobody waits, not
 * even for the work items of other files. The bound counts files until that is
 * done. Only the unloading of the module waits for it.
 *
 * The lock guards the slots and their files' way back to them. In a slot there
 * is a file or NULL; a file that is on its way out has no slot.
 */

#include <linux/atomic.h>
#include <linux/cred.h>
#include <linux/dcache.h>
#include <linux/err.h>
#include <linux/fcntl.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/jiffies.h>
#include <linux/magic.h>
#include <linux/path.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>

#include "compat.h"
#include "image/image_file.h"
#include "oprofile_stats.h"

struct held_file {
	struct delayed_work let_go;
	struct held_file **slot; /* NULL: it has been fetched or given up */
	struct path path;
};

static struct workqueue_struct *release_queue;
static DEFINE_SPINLOCK(slots_lock);
static atomic_t nr_held;

static void let_go(struct work_struct *work)
{
	struct held_file *held =
		container_of(to_delayed_work(work), struct held_file, let_go);
	bool is_late;

	spin_lock(&slots_lock);
	is_late = held->slot;
	if (is_late)
		*held->slot = NULL;
	spin_unlock(&slots_lock);
	if (is_late)
		oprofile_stat_inc(STAT_IMAGE_FILE_EXPIRED);
	path_put(&held->path);
	kfree(held);
	atomic_dec(&nr_held);
}

void image_file_hold(struct held_file **slot, struct file *file)
{
	struct held_file *held = NULL;

	if (atomic_inc_return(&nr_held) <= IMAGE_FILES_MAX)
		held = kmalloc(sizeof(*held), GFP_KERNEL);
	if (!held) {
		atomic_dec(&nr_held);
		oprofile_stat_inc(STAT_IMAGE_FILE_REFUSED);
		return;
	}
	INIT_DELAYED_WORK(&held->let_go, let_go);
	held->slot = slot;
	held->path = *compat_user_path(file);
	path_get(&held->path);
	oprofile_stat_inc(STAT_IMAGE_FILE_HELD);
	spin_lock(&slots_lock);
	*slot = held;
	queue_delayed_work(release_queue, &held->let_go,
			   msecs_to_jiffies(IMAGE_FILE_MSECS));
	spin_unlock(&slots_lock);
}

/* Take the file out of *@slot, with its path in *@path if that is not NULL. */
static bool take_out(struct held_file **slot, struct path *path)
{
	struct held_file *held;

	spin_lock(&slots_lock);
	held = *slot;
	*slot = NULL;
	if (held) {
		held->slot = NULL;
		if (path) {
			*path = held->path;
			path_get(path);
		}
		/* If its time is just over, the work item waits for the lock.
		 */
		if (cancel_delayed_work(&held->let_go))
			queue_delayed_work(release_queue, &held->let_go, 0);
	}
	spin_unlock(&slots_lock);
	return held != NULL;
}

void image_file_release(struct held_file **slot)
{
	take_out(slot, NULL);
}

int image_file_open(struct held_file **slot)
{
	struct file *file;
	struct path path;
	int fd;

	if (!take_out(slot, &path))
		return -ENODATA;
	fd = get_unused_fd_flags(O_CLOEXEC);
	if (fd >= 0) {
		/* O_PATH: the file system is not told of it. */
		file = dentry_open(&path, O_PATH, current_cred());
		if (IS_ERR(file)) {
			put_unused_fd(fd);
			fd = PTR_ERR(file);
		} else {
			fd_install(fd, file);
		}
	}
	path_put(&path);
	return fd;
}

bool image_file_may_hang(struct file *file)
{
	const struct inode *inode =
		d_real_inode(compat_user_path(file)->dentry);

	return inode && inode->i_sb->s_magic == FUSE_SUPER_MAGIC;
}

bool image_files_are_held(void)
{
	return atomic_read(&nr_held) > 0;
}

int image_files_init(void)
{
	release_queue = alloc_workqueue("oprofile_files", WQ_UNBOUND,
					WQ_UNBOUND_MAX_ACTIVE);
	return release_queue ? 0 : -ENOMEM;
}

void image_files_exit(void)
{
	destroy_workqueue(release_queue);
}
