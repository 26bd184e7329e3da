// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * oprofilefs as a file system and as a folder of numbers.
 *
 * Whether it is mounted is read from mountinfo and not from the folder, which
 * may exist without a mount or under another one. A value is written by one
 * write(2), as the module parses each write by itself, and what the module
 * refuses is told with the value and the file. Numbers are written only where
 * they differ from what the module would do by itself.
 */

#include "utils/opcontrol/opcontrol_fs.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libop/files/op_config.h"
#include "libop/files/op_folder.h"
#include "libop/files/op_process.h"
#include "module/uapi/oprofile.h"
#include "utils/opcontrol/opcontrol_module.h"
#include "utils/say.h"

#define FS_TYPE "oprofilefs"

int oc_fs_init(struct oc_fs *fs, struct op_diag *diag)
{
	const char *folder;
	int err = op_process_environment(&folder, "OPROFILE_FS", diag);

	if (err)
		return err;
	fs->is_plain = folder;
	if (!folder)
		folder = OC_FS_MOUNT_POINT;
	if (folder[0] != '/' || strlen(folder) >= sizeof(fs->root) - 256)
		return op_diag_set(
			diag, -EINVAL,
			"OPROFILE_FS: \"%.128s\" is not an "
			"absolute path, or is too long; correct or unset "
			"it",
			folder);
	strcpy(fs->root, folder);
	return 0;
}

/*
 * Whether a line of mountinfo, see proc_pid_mountinfo(5), is about the mount
 * point; *@is_ours tells whether oprofilefs is mounted there.
 */
static bool read_mount(const char *line, bool *is_ours)
{
	const char *type = strstr(line, " - ");
	char point[sizeof(OC_FS_MOUNT_POINT) + 1];

	if (!type || sscanf(line, "%*s %*s %*s %*s %14s", point) != 1)
		return false;
	_Static_assert(sizeof(point) == 15, "as in the format");
	if (strcmp(point, OC_FS_MOUNT_POINT))
		return false;
	*is_ours = !strncmp(type + 3, FS_TYPE " ", sizeof(FS_TYPE));
	return true;
}

bool oc_fs_is_mounted(const struct oc_fs *fs)
{
	bool is_ours = false;
	char *line = NULL;
	size_t len = 0;
	FILE *file;

	if (fs->is_plain)
		return !access(fs->root, F_OK);
	file = fopen("/proc/self/mountinfo", "re");
	if (!file)
		return false;
	/* The last of several mounts lies on top. */
	while (getline(&line, &len, file) > 0)
		read_mount(line, &is_ours);
	free(line);
	fclose(file);
	return is_ours;
}

static int mount_fs(const struct oc_fs *fs, struct op_diag *diag)
{
	const char *root = fs->root;

	int err = op_make_folder(root, 0755);

	if (err)
		return op_diag_set(diag, err,
				   "%s: cannot make the mount point: %s; run "
				   "opcontrol where /dev can be written",
				   root, strerror(-err));
	say_step(fs->verbose, "mount " FS_TYPE " on %s", root);
	if (!mount(FS_TYPE, root, FS_TYPE, MS_NOSUID | MS_NODEV | MS_NOEXEC,
		   NULL))
		return 0;
	if (errno == EBUSY)
		return 0; /* someone else was faster */
	if (errno == EPERM || errno == EACCES)
		return op_diag_set(diag, -errno,
				   "%s: may not mount " FS_TYPE ": %s; run "
				   "opcontrol outside of the container",
				   root, strerror(errno));
	return op_diag_set(diag, -errno,
			   "%s: cannot mount " FS_TYPE ": %s; see dmesg", root,
			   strerror(errno));
}

static int check_abi_version(const struct oc_fs *fs, struct op_diag *diag)
{
	uint64_t version;
	int err = oc_fs_read(fs, "abi_version", &version, diag);

	if (err || version == OP_ABI_VERSION)
		return err;
	return op_diag_set(diag, -EPROTO,
			   "%s/abi_version: the module speaks version %" PRIu64
			   " of the stream and these tools version %d; unload "
			   "it with opcontrol --deinit and build both from one "
			   "source",
			   fs->root, version, OP_ABI_VERSION);
}

int oc_fs_set_up(const struct oc_fs *fs, const char *tools,
		 struct op_diag *diag)
{
	int err = 0;

	if (!fs->is_plain && !oc_fs_is_mounted(fs)) {
		if (!oc_module_is_present(""))
			err = oc_module_load(tools, fs->verbose, diag);
		if (!err)
			err = mount_fs(fs, diag);
	}
	return err ? err : check_abi_version(fs, diag);
}

int oc_fs_unmount(const struct oc_fs *fs, struct op_diag *diag)
{
	if (fs->is_plain || !oc_fs_is_mounted(fs))
		return 0;
	say_step(fs->verbose, "umount %s", fs->root);
	if (!umount2(fs->root, UMOUNT_NOFOLLOW))
		return 0;
	if (errno == EBUSY)
		return op_diag_set(
			diag, -EBUSY,
			"%s: cannot unmount: a process works in it "
			"or has a file of it open; fuser -m %s names "
			"it",
			fs->root, fs->root);
	return op_diag_set(diag, -errno, "%s: cannot unmount: %s", fs->root,
			   strerror(errno));
}

static int open_fs_file(const struct oc_fs *fs, const char *file, int flags)
{
	char path[sizeof(fs->root) + 256];
	int fd;

	if (snprintf(path, sizeof(path), "%s/%s", fs->root, file) >=
	    (int)sizeof(path))
		return -ENAMETOOLONG;
	fd = open(path, flags | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

int oc_fs_read(const struct oc_fs *fs, const char *file, uint64_t *value,
	       struct op_diag *diag)
{
	int fd = open_fs_file(fs, file, O_RDONLY);
	char text[32];
	ssize_t got;
	int err;

	if (fd < 0)
		return op_diag_set(diag, fd,
				   "%s/%s: cannot read: %s; is the module of "
				   "these tools loaded?",
				   fs->root, file, strerror(-fd));
	got = read(fd, text, sizeof(text) - 1);
	err = got < 0 ? -errno : 0;
	close(fd);
	text[got < 0 ? 0 : got] = '\0';
	text[strcspn(text, "\n")] = '\0';
	if (!err)
		err = op_parse_u64(text, value);
	if (err)
		op_diag_set(diag, err, "%s/%s: does not contain a number: %s",
			    fs->root, file, strerror(-err));
	return err;
}

bool oc_fs_has(const struct oc_fs *fs, const char *file)
{
	char path[sizeof(fs->root) + 256];

	return snprintf(path, sizeof(path), "%s/%s", fs->root, file) <
		       (int)sizeof(path) &&
	       !access(path, F_OK);
}

int oc_fs_write(const struct oc_fs *fs, const char *file, uint64_t value,
		struct op_diag *diag)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRIu64, value);
	return oc_fs_write_text(fs, file, text, diag);
}

int oc_fs_write_text(const struct oc_fs *fs, const char *file, const char *text,
		     struct op_diag *diag)
{
	ssize_t len = (ssize_t)strlen(text), wrote;
	int fd, err;

	say_step(fs->verbose, "write %s to %s/%s", text, fs->root, file);
	fd = err = open_fs_file(fs, file, O_WRONLY | O_TRUNC);
	if (fd >= 0) {
		wrote = write(fd, text, (size_t)len);
		err = wrote == len ? 0 : wrote < 0 ? -errno : -EIO;
		if (close(fd) && !err)
			err = -errno;
	}
	if (!err)
		return 0;
	return op_diag_set(diag, err,
			   "value %s is not accepted by %s/%s: %s; %s", text,
			   fs->root, file, strerror(-err),
			   err == -EBUSY ? "end what uses the profiler first, "
					   "with opcontrol --shutdown"
			   : err == -ENOENT ? "is the module of these tools "
					      "loaded?"
					    : "set another one");
}

/* The module itself finds this out only when the daemon opens the buffer. */
static int check_module_watershed(const struct oc_fs *fs, struct op_diag *diag)
{
	const struct oc_setting *row = &oc_settings_table[OC_BUFFER_WATERSHED];
	uint64_t size = 0, watershed = 0;
	int err;

	err = oc_fs_read(fs, oc_settings_table[OC_BUFFER_SIZE].file, &size,
			 diag);
	if (!err)
		err = oc_fs_read(fs, row->file, &watershed, diag);
	if (err || watershed < size)
		return err;
	return op_diag_set(diag, -EINVAL,
			   "%s/%s: %" PRIu64 " is not below the buffer size of "
			   "%" PRIu64 "; lower --buffer-watershed or raise "
			   "--buffer-size",
			   fs->root, row->file, watershed, size);
}

/*
 * Whether the number of the row @id is to be written: it is set, or an earlier
 * session asked for another than the default. Where 0 means "as it is" nothing
 * is the default.
 */
static bool must_write_number(const struct oc_fs *fs,
			      const struct oc_settings *settings,
			      enum oc_row id)
{
	const struct oc_setting *row = &oc_settings_table[id];
	uint64_t now = settings->numbers[id];

	if (!row->file)
		return false;
	if (oc_settings_is_set(settings, id))
		return true;
	return row->zero && oc_fs_has(fs, row->file) &&
	       !oc_fs_read(fs, row->file, &now, NULL) &&
	       now != settings->numbers[id];
}

int oc_fs_write_settings(const struct oc_fs *fs,
			 const struct oc_settings *settings,
			 struct op_diag *diag)
{
	int err = 0;

	for (int i = 0; i < OC_NR_SETTINGS && !err; i++)
		if (must_write_number(fs, settings, i))
			err = oc_fs_write(fs, oc_settings_table[i].file,
					  settings->numbers[i], diag);
	return err ? err : check_module_watershed(fs, diag);
}
