/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MODULE_IMAGE_COOKIE_H
#define MODULE_IMAGE_COOKIE_H

/*
 * The registry of image files: a cookie is a number that stands for one
 * content of one file for as long as the event buffer is open. No file is read
 * for it, and none is kept for longer than image_file.h says.
 *
 * A file is known by file system, inode number, generation, size and time of
 * modification, so a number or a path that is used again, or a file written
 * over in place, gets a cookie of its own.
 */

#include <linux/types.h>

struct file;
struct inode;
struct op_cookie_query;
struct seq_file;

int image_cookies_setup(void);

/* Frees all; nothing may be looking up any more. */
void image_cookies_shutdown(void);

/*
 * The cookie of the file of @inode, 0 when it has none yet. Any context but
 * NMI; the caller holds a reference or an RCU read lock.
 */
u64 image_cookie_find(const struct inode *inode);

/*
 * The cookie of @file, made when it has none yet, and then its image counts for
 * @user (owner.h). Returns 0 when memory is
 * short or there are too many (image_share.h). Any context but NMI; the caller
 * holds a reference. Waits for nothing but memory, and in an interrupt not for
 * that.
 */
u64 image_cookie_get(struct file *file, u32 user);

/* The cookie of the vdso of 64-bit tasks or of 32-bit ones. */
u64 image_cookie_vdso(bool is_32bit);

/*
 * Fill @query for its cookie, without a build-id. Returns 0, -EAGAIN when the
 * name will be there in a moment, or -ENOENT for a cookie that was never handed
 * out or whose name was lost for want of memory or room (image_share.h).
 */
int image_cookie_query(struct op_cookie_query *query);

/*
 * A new descriptor of the file of @cookie: see image_file_open(), with the
 * errors of image_cookie_query() besides.
 */
int image_cookie_open(u64 cookie);

/* Wait until images that interrupts have brought up to now have their names. */
void image_cookies_settle(void);

/*
 * The image with the smallest cookie from *@pos on, which is set to it, or
 * NULL; print its line. Newlines and backslashes of its path are in octal.
 */
void *image_cookies_next(loff_t *pos);
int image_cookies_show(struct seq_file *seq, void *image);

#endif /* MODULE_IMAGE_COOKIE_H */
