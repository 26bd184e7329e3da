/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MODULE_IMAGE_FILE_H
#define MODULE_IMAGE_FILE_H

/*
 * The files of new images, kept at hand until the reader of the event buffer
 * has fetched a descriptor of them, for IMAGE_FILE_MSECS at the longest, and no
 * more than IMAGE_FILES_MAX at a time. So the reader gets the very file that
 * runs, even if its path leads nowhere any more, and no mount is kept busy for
 * longer than that. Files that it did not get are counted in stats/.
 *
 * What is kept is the path, not the file that is open: locks on that end with
 * its owner.
 */

#include <linux/types.h>

struct file;
struct held_file;

#define IMAGE_FILE_MSECS 2000
#define IMAGE_FILES_MAX 1024

/* When the module is loaded, 0 or -ENOMEM, and before it goes. */
int image_files_init(void);
void image_files_exit(void);

/*
 * Whether a process serves the file system of @file (FUSE; also below an
 * overlay), which may never answer.
 */
bool image_file_may_hang(struct file *file);

/*
 * Keep the path of @file, a regular one, at hand in *@slot, which is NULL and
 * stays until image_file_release(). Process context; never waits.
 */
void image_file_hold(struct held_file **slot, struct file *file);

/*
 * A new descriptor (O_PATH) of the file in *@slot for the current task, once.
 * Returns its number, -ENODATA when there is no file (any more), or -errno.
 */
int image_file_open(struct held_file **slot);

/* Let the file in *@slot go, if there is one. Never waits. */
void image_file_release(struct held_file **slot);

/* Whether there are files that the reader may fetch. */
bool image_files_are_held(void);

#endif /* MODULE_IMAGE_FILE_H */
