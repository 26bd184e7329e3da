// SPDX-License-Identifier: GPL-2.0
/*
 * The table from files to cookies is read in interrupts under RCU, without a
 * lock; images are only added while it exists, never removed. Adding takes a
 * raw spinlock with interrupts off and searches once more, because another CPU
 * may have added the same file meanwhile.
 *
 * No file is read here, and no task waits for a name. A task names the image
 * that its sample brought itself, while its mount namespace exists. An
 * interrupt cannot: there the image goes with a reference to its file onto a
 * list, and a work item names it a moment later. Naming uses memory alone
 * (image_path.c), so nobody can make it wait, and a stop or a dump waits for
 * it: what it hands over is complete. A regular file is then held for the
 * reader, who reads the build-id (image_file.c).
 *
 * An image is not in the table of named ones before all that is known of it is
 * set, so a query needs no lock. Cookies go on counting when the buffer is
 * opened again, so that a number from an earlier opening finds nothing.
 */

#include <linux/atomic.h>
#include <linux/dcache.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/llist.h>
#include <linux/minmax.h>
#include <linux/module.h>
#include <linux/preempt.h>
#include <linux/random.h>
#include <linux/rculist.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>

#include "compat.h"
#include "image/image_cookie.h"
#include "image/image_file.h"
#include "image/image_path.h"
#include "image/image_share.h"
#include "owner.h"
#include "uapi/oprofile.h"

/*
 * A bound on what a runaway source of files can cost: some 140 bytes for each
 * image, and 512 on average for its name, which may have 4 KiB.
 */
#define MIN_IMAGES 16u /* the vdso's are among them */
#define MOST_IMAGES (1u << 20)
static unsigned int max_images = 1u << 18;
module_param(max_images, uint, 0444);
MODULE_PARM_DESC(
	max_images,
	"Images that are kept, and 512 bytes of names for each of them");

#define BUCKET_BITS 13
#define NR_BUCKETS (1u << BUCKET_BITS)

struct image_key {
	u64 ino;
	s64 size; /* see key_of() */
	s64 mtime_sec;
	u32 mtime_nsec;
	u32 generation;
	u32 dev;
} __packed __aligned(4); /* all of it is hashed: no padding */

#define KEY_WORDS (sizeof(struct image_key) / sizeof(u32))

struct image {
	struct hlist_node node; /* in its bucket */
	struct llist_node unnamed;
	struct image_key key;
	u64 cookie;
	struct file *file; /* made in an interrupt: until it is named */
	struct held_file *held; /* for the reader: image_file.h */
	struct image_share *share; /* of the user that it counts for */

	/* Set before the image is put in the table of named ones. */
	char *path; /* NULL: memory was short, or there are too many names */
	u32 flags; /* OP_IMAGE_* */
};

static struct hlist_head *buckets;
static u64 hash_secret[KEY_WORDS]; /* random; of this opening */
static DEFINE_RAW_SPINLOCK(insert_lock); /* buckets, last_cookie */
static u64 last_cookie; /* goes on over opens: a stale one is never reused */
static u64 first_cookie; /* of this opening */

static DEFINE_XARRAY(named); /* cookie -> image */
static LLIST_HEAD(unnamed);
static void name_images(struct work_struct *work);
static DECLARE_WORK(name_work, name_images);

static u64 vdso_cookies[2];

/*
 * The size is there for btrfs: files of two subvolumes have the same device
 * here, may have the same number and generation, and have the same time where
 * whoever made them sets it to a fixed one.
 */
static struct image_key key_of(const struct inode *inode)
{
	struct timespec64 mtime = inode_get_mtime(inode);

	return (struct image_key){
		.ino = inode->i_ino,
		.size = i_size_read(inode),
		.mtime_sec = mtime.tv_sec,
		.mtime_nsec = mtime.tv_nsec,
		.generation = inode->i_generation,
		.dev = inode->i_sb->s_dev,
	};
}

/*
 * Any user can make files with keys of his choice, and the lists are searched
 * in interrupts. This is multilinear hashing: in the upper half of the sum any
 * two keys collide by chance alone for those who do not know the secret.
 */
static struct hlist_head *bucket_of(const struct image_key *key)
{
	const u32 *words = (const u32 *)key;
	u64 sum = 0;
	unsigned int i;

	/* Each sample comes here: without a loop it is half of the work. */
#pragma GCC unroll 16
	for (i = 0; i < KEY_WORDS; i++)
		sum += hash_secret[i] * words[i];
	return &buckets[sum >> (64 - BUCKET_BITS)];
}

/* Each sample comes here, too: memcmp() would be called. */
static bool are_same_key(const struct image_key *a, const struct image_key *b)
{
	return a->ino == b->ino && a->size == b->size &&
	       a->mtime_sec == b->mtime_sec && a->mtime_nsec == b->mtime_nsec &&
	       a->generation == b->generation && a->dev == b->dev;
}

static u64 find_cookie(const struct image_key *key)
{
	struct image *image;
	u64 cookie = 0;

	rcu_read_lock();
	hlist_for_each_entry_rcu(image, bucket_of(key), node) {
		if (are_same_key(&image->key, key)) {
			cookie = image->cookie;
			break;
		}
	}
	rcu_read_unlock();
	return cookie;
}

u64 image_cookie_find(const struct inode *inode)
{
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
	if (!cookie) {
		cookie = ++last_cookie;
		image->cookie = cookie;
		hlist_add_head_rcu(&image->node, bucket_of(&image->key));
	}
	raw_spin_unlock_irqrestore(&insert_lock, flags);
	return cookie;
}

/* The path of @file, or NULL where memory is short or bounded. */
static char *read_path(struct image_share *share, struct file *file)
{
	char *path = image_path_read(file);

	if (!path ||
	    image_share_take(share, IMAGE_ROOM_NAMES, strlen(path) + 1))
		return path;
	kfree(path);
	return NULL;
}

/* Set the path and the flags of @image from @file, without reading a disk. */
static void set_name(struct image *image, struct file *file)
{
	image->path = read_path(image->share, file);
	if (d_unlinked(compat_user_path(file)->dentry))
		image->flags |= OP_IMAGE_DELETED;
	/* A memfd, on a mount that is the kernel's own, never had a name on a
	 * disk. */
	if (file_inode(file)->i_sb->s_flags & SB_NOUSER)
		image->flags |= OP_IMAGE_NO_FILE | OP_IMAGE_DELETED;
	if (image_file_may_hang(file))
		image->flags |= OP_IMAGE_MAY_HANG;
}

/* Store @image under its cookie; the reader may ask for it from now on. */
static void publish(struct image *image, struct file *file)
{
	if (image->path && S_ISREG(file_inode(file)->i_mode) &&
	    !(image->flags & OP_IMAGE_MAY_HANG))
		image_file_hold(&image->held, file);
	/* Without a place there the reader would ask again for ever. */
	xa_store(&named, image->cookie, image, GFP_KERNEL | __GFP_NOFAIL);
}

static void name_images(struct work_struct *work)
{
	struct llist_node *list = llist_del_all(&unnamed);
	struct image *image, *next;

	llist_for_each_entry_safe(image, next, list, unnamed) {
		struct file *file = image->file;

		set_name(image, file);
		image->file = NULL;
		publish(image, file);
		fput(file);
	}
}

static void free_image(struct image *image)
{
	image_file_release(&image->held);
	if (image->path)
		image_share_give_back(image->share, IMAGE_ROOM_NAMES,
				      strlen(image->path) + 1);
	image_share_give_back(image->share, IMAGE_ROOM_IMAGES, 1);
	kfree(image->path);
	kfree(image);
}

/* An image that counts for user @uid; NULL without memory, or when there are
 * too many. */
static struct image *new_image(u32 uid, gfp_t gfp)
{
	struct image_share *share = image_share_of(uid, gfp);
	struct image *image;

	if (!share || !image_share_take(share, IMAGE_ROOM_IMAGES, 1))
		return NULL;
	image = kzalloc(sizeof(*image), gfp);
	if (image)
		image->share = share;
	else
		image_share_give_back(share, IMAGE_ROOM_IMAGES, 1);
	return image;
}

static u64 make_in_task(struct file *file, u32 user)
{
	struct image *image = new_image(user, GFP_KERNEL);
	u64 cookie;

	if (!image)
		return 0;
	image->key = key_of(file_inode(file));
	set_name(image, file);
	cookie = insert(image);
	if (image->cookie)
		publish(image, file);
	else
		free_image(image);
	return cookie;
}

static u64 make_in_interrupt(struct file *file, u32 user)
{
	struct image *image = new_image(user, GFP_ATOMIC | __GFP_NOWARN);
	u64 cookie;

	if (!image)
		return 0;
	image->key = key_of(file_inode(file));
	cookie = insert(image);
	if (image->cookie) {
		image->file = get_file(file);
		llist_add(&image->unnamed, &unnamed);
		queue_work(system_unbound_wq, &name_work);
	} else {
		free_image(image);
	}
	return cookie;
}

u64 image_cookie_get(struct file *file, u32 user)
{
	u64 cookie = image_cookie_find(file_inode(file));

	if (cookie)
		return cookie;
	/* A task that has interrupts off may not sleep either. */
	return in_task() && !irqs_disabled() ? make_in_task(file, user)
					     : make_in_interrupt(file, user);
}

u64 image_cookie_vdso(bool is_32bit)
{
	return vdso_cookies[is_32bit];
}

/* An image that is part of the kernel and known by name alone. */
static u64 add_builtin(const char *name)
{
	struct image *image = new_image(0, GFP_KERNEL);

	if (!image)
		return 0;
	image->key.ino = last_cookie + 1; /* no device 0 has files */
	if (image_share_take(image->share, IMAGE_ROOM_NAMES, strlen(name) + 1))
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
	get_random_bytes(hash_secret, sizeof(hash_secret));
	first_cookie = last_cookie + 1;
	image_shares_setup(clamp(max_images, MIN_IMAGES, MOST_IMAGES));
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
		hlist_for_each_entry_safe(image, next, &buckets[i], node)
			free_image(image);
	}
	kvfree(buckets);
	buckets = NULL;
	image_shares_shutdown();
}

void image_cookies_settle(void)
{
	flush_work(&name_work);
}

/* A named image, or NULL and why in *@err. */
static struct image *find_named(u64 cookie, int *err)
{
	struct image *image = xa_load(&named, cookie);

	*err = 0;
	if (image && image->path)
		return image;
	*err = !image && cookie >= first_cookie &&
			       cookie <= READ_ONCE(last_cookie)
		       ? -EAGAIN
		       : -ENOENT;
	return NULL;
}

int image_cookie_query(struct op_cookie_query *query)
{
	int err;
	const struct image *image = find_named(query->cookie, &err);

	if (!image)
		return err;
	query->dev = image->key.dev;
	query->ino = image->key.ino;
	query->mtime = image->key.mtime_sec;
	query->flags = image->flags;
	strscpy(query->path, image->path, sizeof(query->path));
	return 0;
}

int image_cookie_open(u64 cookie)
{
	int err;
	struct image *image = find_named(cookie, &err);

	return image ? image_file_open(&image->held) : err;
}

void *image_cookies_next(loff_t *pos)
{
	unsigned long cookie = *pos;
	struct image *image = xa_find(&named, &cookie, ULONG_MAX, XA_PRESENT);

	*pos = cookie;
	return image;
}

int image_cookies_show(struct seq_file *seq, void *one)
{
	const struct image *image = one;

	if (!image->path)
		return SEQ_SKIP;
	seq_printf(seq, "%llu %u:%u %llu ", image->cookie,
		   MAJOR(image->key.dev), MINOR(image->key.dev),
		   image->key.ino);
	seq_escape(seq, image->path, "\n\\");
	seq_putc(seq, '\n');
	return 0;
}
