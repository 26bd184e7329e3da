/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MODULE_IMAGE_PATH_H
#define MODULE_IMAGE_PATH_H

/*
 * The name of an image's file: its path from the root of the mount namespace
 * that it was opened in, whatever root the task has. It is made of names in
 * memory: no file system is asked, so nobody can make it wait.
 */

struct file;

/*
 * The path of @file to memory that the caller frees, without the "(deleted)"
 * that the kernel puts behind some. NULL when memory is short or the path is
 * too long. Process context.
 */
char *image_path_read(struct file *file);

#endif /* MODULE_IMAGE_PATH_H */
