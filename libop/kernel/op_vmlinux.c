// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Is a file the kernel that runs?
 *
 * Build-ids decide where both have one. Kernels that are linked without are
 * told by their banner, the text of /proc/version, which is among the kernel's
 * constants. The whole file is searched for it in parts, each of which repeats
 * the end of the one before: a banner may lie across.
 */

#include "libop/kernel/op_vmlinux.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libop/image/op_build_id.h"
#include "libop/files/op_file.h"

#define BANNER_START "Linux version "
#define BANNER_MAX 1024 /* bytes with the zero byte */
#define PART_LEN (1u << 20)

struct vmlinux {
	const char *path;
	int fd;
	const char *instead;
	struct op_diag *diag;
};

/* @err with a reason: of the file @why, what there is to do. */
__attribute__((format(printf, 3, 4))) static int
refuse_vmlinux(const struct vmlinux *file, int err, const char *fmt, ...)
{
	char why[OP_DIAG_MAX];
	va_list args;

	va_start(args, fmt);
	vsnprintf(why, sizeof(why), fmt, args);
	va_end(args);
	return op_diag_set(file->diag, err, "--vmlinux=%s: %s, or %s",
			   file->path, why, file->instead);
}

/* Put the banner at @at, which ends with a newline or the part, in @banner.
 * False if it is none: a text that looks for banners has no version. */
static bool copy_banner(char *banner, const char *at, const char *end)
{
	size_t len = strlen(BANNER_START);

	if ((size_t)(end - at) <= len || !isdigit((unsigned char)at[len]))
		return false;
	while (len < BANNER_MAX - 1 && at + len < end && at[len] != '\n' &&
	       at[len])
		len++;
	memcpy(banner, at, len);
	banner[len] = '\0';
	return true;
}

/* Whether @wanted is among the banners of the @len bytes at @part. The first
 * banner goes to @found if that is empty. */
static bool search_part(const char *part, size_t len, const char *wanted,
			char *found)
{
	const char *at = part, *end = part + len;
	char banner[BANNER_MAX];

	while ((at = memmem(at, (size_t)(end - at), BANNER_START,
			    strlen(BANNER_START)))) {
		if (copy_banner(banner, at, end)) {
			if (!strcmp(banner, wanted))
				return true;
			if (!*found)
				strcpy(found, banner);
		}
		at++;
	}
	return false;
}

static int search_banner(const struct vmlinux *file, const char *wanted,
			 char *found)
{
	char *part = malloc(BANNER_MAX + PART_LEN);
	size_t kept = 0;
	ssize_t got;
	off_t offset = 0;
	int err = -ENOENT;

	if (!part)
		return -ENOMEM;
	while ((got = pread(file->fd, part + kept, PART_LEN, offset)) > 0) {
		size_t len = kept + (size_t)got;

		if (search_part(part, len, wanted, found)) {
			err = 0;
			break;
		}
		offset += got;
		kept = len < BANNER_MAX ? len : BANNER_MAX;
		memmove(part, part + len - kept, kept);
	}
	if (got < 0)
		err = -errno;
	free(part);
	return err;
}

/* The first line of proc/version; empty where it cannot be read. */
static void read_banner(char *banner, const char *root)
{
	char path[PATH_MAX], *text = NULL;
	size_t len;

	*banner = '\0';
	snprintf(path, sizeof(path), "%s/proc/version", root);
	if (op_file_read(path, BANNER_MAX, &text, &len, NULL))
		return;
	copy_banner(banner, text, text + len);
	free(text);
}

/* The words of a banner that tell a kernel: release and what is its number. */
static const char *banner_release(char *banner)
{
	char *release = banner + strlen(BANNER_START);

	release[strcspn(release, " ")] = '\0';
	return release;
}

static int check_banner(const struct vmlinux *file, const char *root)
{
	char ours[BANNER_MAX], found[BANNER_MAX] = "";
	int err;

	read_banner(ours, root);
	if (!*ours)
		return 0;
	err = search_banner(file, ours, found);
	if (!err)
		return 0;
	if (err != -ENOENT)
		return refuse_vmlinux(file, err,
				      "%s; give a file that can be read",
				      strerror(-err));
	if (!*found)
		return refuse_vmlinux(file, -ENOEXEC,
				      "this is no Linux kernel; give the "
				      "uncompressed vmlinux of the kernel that "
				      "runs");
	return refuse_vmlinux(file, -ENOEXEC,
			      "this is another build of Linux, %s, and its "
			      "symbols would name the wrong functions; give "
			      "the vmlinux of the kernel that runs",
			      banner_release(found));
}

static int check_build(const struct vmlinux *file, const char *root)
{
	char path[PATH_MAX], theirs[OP_BUILD_TEXT_MAX], ours[OP_BUILD_TEXT_MAX];
	struct op_build_id id, running;

	snprintf(path, sizeof(path), "%s/sys/kernel/notes", root);
	if (op_build_id_of_elf(&id, file->fd) ||
	    op_build_id_of_notes_file(&running, path))
		return check_banner(file, root);
	if (op_build_id_same(&id, &running))
		return 0;
	return refuse_vmlinux(file, -ENOEXEC,
			      "not the kernel that runs: the file's build-id "
			      "is %s, the kernel's %s; give the vmlinux of the "
			      "kernel that runs",
			      op_build_id_text(id.bytes, id.len, theirs),
			      op_build_id_text(running.bytes, running.len,
					       ours));
}

int op_vmlinux_check(const char *path, const char *root, const char *instead,
		     struct op_diag *diag)
{
	struct vmlinux file = {
		.path = path,
		.fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK),
		.instead = instead,
		.diag = diag,
	};
	char magic[4] = "";
	int err;

	if (file.fd < 0)
		return refuse_vmlinux(&file, -errno,
				      "%s; give the path of an uncompressed "
				      "kernel",
				      strerror(errno));
	if (pread(file.fd, magic, sizeof(magic), 0) == sizeof(magic) &&
	    !memcmp(magic, "\177ELF", sizeof(magic)))
		err = check_build(&file, root);
	else
		err = refuse_vmlinux(&file, -ENOEXEC,
				     "not an ELF file; give the uncompressed "
				     "vmlinux, not vmlinuz");
	close(file.fd);
	return err;
}
