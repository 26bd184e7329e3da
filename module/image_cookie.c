// SPDX-License-Identifier: GPL-2.0
/*
 * The table from files to cookies is read in interrupts under RCU, without a
 * lock; images are only added while it exists, never removed. Adding takes a
 * raw spinlock with interrupts off and searches once more, because another CPU
 * may have added the same file meanwhile.
 *
 * A path cannot be read in an interrupt. So a new image goes with a reference
 * to its file onto a list, and a work item reads path and build-id, puts the
 * image into the table of named ones, and drops the reference. An image is not
 * in that table before all of its name is set, so a query needs no lock.
 * Cookies go on counting when the buffer is opened again, so that a number from
 * an earlier opening finds nothing.
 */

#include <linux/dcache.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/hash.h>
#include <linux/llist.h>
#include <linux/rculist.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>

#include "compat.h"
#include "image_cookie.h"
#include "image_id.h"
#include "uapi/oprofile.h"

/* Some 300 bytes each: a bound on what a runaway source of files can cost. */
#define MAX_IMAGES (1u << 18)
#define BUCKET_BITS 13
#define NR_BUCKETS (1u << BUCKET_BITS)

struct image_key {
	u64 ino;
	s64 mtime_sec;
	u32 mtime_nsec;
	u32 generation;
	u32 dev;
} __packed __aligned(4);

struct image {
	struct hlist_node node; /* in its bucket */
	struct llist_node unnamed;
	struct image_key key;
	u64 cookie;
	struct file *file; /* held until it is named */

	/* Set before the image is put in the table of named ones. */
	char *path;
	u32 flags; /* OP_IMAGE_* */
	struct image_id id;
};

static struct hlist_head *buckets;
static DEFINE_RAW_SPINLOCK(insert_lock); /* buckets, nr_images, last_cookie */
static unsigned int nr_images;
static u64 last_cookie; /* goes on over opens: a stale one is never reused */

static DEFINE_XARRAY(named); /* cookie -> image */
static LLIST_HEAD(unnamed);
static void name_images(struct work_struct *work);
static DECLARE_WORK(name_work, name_images);

static u64 vdso_cookies[2];

static struct image_key key_of(const struct inode *inode)
{
	struct timespec64 mtime = inode_get_mtime(inode);

	return (struct image_key){
		.ino = inode->i_ino,
		.mtime_sec = mtime.tv_sec,
		.mtime_nsec = mtime.tv_nsec,
		.generation = inode->i_generation,
		.dev = inode->i_sb->s_dev,
	};
}

static struct hlist_head *bucket_of(const struct image_key *key)
{
	u64 mixed = key->ino ^ (u64)key->mtime_nsec << 24 ^ (u64)key->dev << 54;

	return &buckets[hash_64(mixed, BUCKET_BITS)];
}

static u64 find_cookie(const struct image_key *key)
{
	struct image *image;
	u64 cookie = 0;

	rcu_read_lock();
	hlist_for_each_entry_rcu(image, bucket_of(key), node) {
		if (!memcmp(&image->key, key, sizeof(*key))) {
			cookie = image->cookie;
			break;
		}
	}
	rcu_read_unlock();
	return cookie;
}

u64 image_cookie_find(const struct file *file)
{
	const struct inode *inode = file_inode(file);
	struct image_key key;

	if (!inode)
		return 0;
	key = key_of(inode);
	return find_cookie(&key);
}

/* Add @image unless its key came meanwhile. Returns the key's cookie or 0. */
static u64 insert(struct image *image)
{
	unsigned long flags;
	u64 cookie;

	raw_spin_lock_irqsave(&insert_lock, flags);
	cookie = find_cookie(&image->key);
	if (!cookie && nr_images < MAX_IMAGES) {
		nr_images++;
		cookie = ++last_cookie;
		image->cookie = cookie;
		hlist_add_head_rcu(&image->node, bucket_of(&image->key));
	}
	raw_spin_unlock_irqrestore(&insert_lock, flags);
	return cookie;
}

u64 image_cookie_get(struct file *file, bool *is_new)
{
	u64 cookie = image_cookie_find(file);
	struct image *image;

	*is_new = false;
	if (cookie)
		return cookie;
	image = kzalloc(sizeof(*image), GFP_ATOMIC | __GFP_NOWARN);
	if (!image)
		return 0;
	image->key = key_of(file_inode(file));
	cookie = insert(image);
	if (image->cookie) {
		*is_new = true;
		image->file = get_file(file);
		llist_add(&image->unnamed, &unnamed);
		queue_work(system_unbound_wq, &name_work);
	} else {
		kfree(image);
	}
	return cookie;
}

/* Only this file's own: kernel-internal mounts such as that of memfds. */
static bool on_no_disk(const struct file *file)
{
	return file_inode(file)->i_sb->s_flags & SB_NOUSER;
}

static void set_path(struct image *image, char *buf)
{
	static const char suffix[] = " (deleted)";
	const struct path *path = compat_user_path(image->file);
	char *name = d_path(path, buf, OP_PATH_MAX);
	size_t len;

	if (IS_ERR(name))
		return;
	len = strlen(name);
	if (d_unlinked(path->dentry)) {
		image->flags |= OP_IMAGE_DELETED;
		if (len > sizeof(suffix) - 1 &&
		    !strcmp(name + len - (sizeof(suffix) - 1), suffix))
			name[len - (sizeof(suffix) - 1)] = '\0';
	}
	if (on_no_disk(image->file))
		image->flags |= OP_IMAGE_NO_FILE;
	image->path = kstrdup(name, GFP_KERNEL);
}

static void name_image(struct image *image, char *buf)
{
	set_path(image, buf);
	image_id_read(&image->id, image->file);
	if (image->path)
		xa_store(&named, image->cookie, image, GFP_KERNEL);
	fput(image->file);
	image->file = NULL;
}

static void name_images(struct work_struct *work)
{
	struct llist_node *list = llist_del_all(&unnamed);
	char *buf = kmalloc(OP_PATH_MAX, GFP_KERNEL | __GFP_NOFAIL);
	struct image *image, *next;

	llist_for_each_entry_safe(image, next, list, unnamed)
		name_image(image, buf);
	kfree(buf);
}

void image_cookies_settle(void)
{
	flush_work(&name_work);
}

u64 image_cookie_vdso(bool is_32bit)
{
	return vdso_cookies[is_32bit];
}

/* An image that is part of the kernel and known by name alone. */
static u64 add_builtin(const char *name)
{
	struct image *image = kzalloc(sizeof(*image), GFP_KERNEL);

	if (!image)
		return 0;
	image->key.ino = last_cookie + 1; /* no device 0 has files */
	image->path = kstrdup(name, GFP_KERNEL);
	image->flags = OP_IMAGE_NO_FILE;
	insert(image);
	if (!image->path ||
	    xa_err(xa_store(&named, image->cookie, image, GFP_KERNEL)))
		return 0;
	return image->cookie;
}

int image_cookies_setup(void)
{
	buckets = kvcalloc(NR_BUCKETS, sizeof(*buckets), GFP_KERNEL);
	if (!buckets)
		return -ENOMEM;
	vdso_cookies[0] = add_builtin("[vdso]");
	vdso_cookies[1] = add_builtin("[vdso32]");
	if (!vdso_cookies[0] || !vdso_cookies[1]) {
		image_cookies_shutdown();
		return -ENOMEM;
	}
	return 0;
}

void image_cookies_shutdown(void)
{
	struct hlist_node *next;
	struct image *image;
	unsigned int i;

	flush_work(&name_work);
	xa_destroy(&named);
	for (i = 0; i < NR_BUCKETS; i++) {
		hlist_for_each_entry_safe(image, next, &buckets[i], node) {
			kfree(image->path);
			kfree(image);
		}
	}
	kvfree(buckets);
	buckets = NULL;
	nr_images = 0;
}

int image_cookie_query(struct op_cookie_query *query)
{
	const struct image *image = xa_load(&named, query->cookie);

	if (!image) {
		image_cookies_settle();
		image = xa_load(&named, query->cookie);
	}
	if (!image)
		return -ENOENT;
	query->dev = image->key.dev;
	query->ino = image->key.ino;
	query->mtime = image->key.mtime_sec;
	query->flags = image->flags;
	query->build_id_len = image->id.len;
	memcpy(query->build_id, image->id.bytes, sizeof(query->build_id));
	strscpy(query->path, image->path, sizeof(query->path));
	return 0;
}

void image_cookies_show(struct seq_file *seq)
{
	const struct image *image;
	unsigned long cookie;

	xa_for_each(&named, cookie, image) {
		seq_printf(seq, "%lu %u:%u %llu ", cookie,
			   MAJOR(image->key.dev), MINOR(image->key.dev),
			   image->key.ino);
		seq_printf(seq, "%*phN ", image->id.len, image->id.bytes);
		seq_puts(seq, image->path);
		seq_putc(seq, '\n');
	}
}
