// SPDX-License-Identifier: GPL-2.0
/*
 * d_path() counts from the root of the task that calls it, so in a task that
 * has changed its root it leaves a part out, and a kernel thread is too late
 * for a mount namespace that ends with its last task. So the parts of the path
 * in each mount are put together here, from the file upwards, until there is no
 * mount above. What has no such path (a socket, a memfd) has a name of its own,
 * which d_path() tells alike to everybody.
 */

#include <linux/dcache.h>
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/mount.h>
#include <linux/namei.h>
#include <linux/path.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "compat.h"
#include "image/image_path.h"
#include "uapi/oprofile.h"

/*
 * Put the path of @path in its mount before the string at @at, which has room
 * from @buf on. @spare has room for a path, too. Returns its start or NULL.
 */
static char *add_mount(const struct path *path, char *buf, char *at,
		       char *spare)
{
	char first = *at, *name, *root;
	size_t len;

	/* Both count from the root of the file system: a part may be mounted.
	 */
	name = dentry_path_raw(path->dentry, buf, at - buf + 1);
	root = dentry_path_raw(path->mnt->mnt_root, spare, OP_PATH_MAX);
	*at = first; /* the end of the name was put here */
	if (IS_ERR(name) || IS_ERR(root))
		return NULL;
	len = strlen(root) - (root[1] == '\0');
	/* It was moved out of what is mounted, or renamed just now. */
	if (len > at - name || memcmp(name, root, len))
		return NULL;
	name += len;
	return at - name == 1 && first == '/' ? at : name;
}

/* The path of @file from the top of its mounts; it ends in @buf. */
static char *absolute_path(const struct path *of, char *buf, char *spare)
{
	char *at = buf + OP_PATH_MAX - 1;
	struct path path = *of;

	*at = '\0';
	path_get(&path);
	do
		at = add_mount(&path, buf, at, spare);
	while (at && follow_up(&path));
	path_put(&path);
	return at;
}

static bool has_own_name(const struct path *path)
{
	const struct dentry *dentry = path->dentry;

	return dentry->d_sb->s_flags & SB_NOUSER ||
	       (dentry->d_op && dentry->d_op->d_dname);
}

static void cut_suffix(char *name)
{
	static const char suffix[] = " (deleted)";
	size_t len = strlen(name), suffix_len = sizeof(suffix) - 1;

	if (len > suffix_len && !strcmp(name + len - suffix_len, suffix))
		name[len - suffix_len] = '\0';
}

char *image_path_read(struct file *file)
{
	const struct path *path = compat_user_path(file);
	char *buf = kmalloc(2 * OP_PATH_MAX, GFP_KERNEL);
	char *name = NULL;

	if (!buf)
		return NULL;
	if (!has_own_name(path))
		name = absolute_path(path, buf, buf + OP_PATH_MAX);
	if (!name) {
		name = d_path(path, buf, OP_PATH_MAX);
		if (!IS_ERR(name) &&
		    (d_unlinked(path->dentry) || has_own_name(path)))
			cut_suffix(name);
	}
	name = IS_ERR(name) ? NULL : kstrdup(name, GFP_KERNEL);
	kfree(buf);
	return name;
}
