// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * oprofilefs as a file system and as a folder of numbers.
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

#include "libop/op_config.h"
#include "module/uapi/oprofile.h"
#include "utils/opcontrol/opcontrol.h"
#include "utils/opcontrol/opcontrol_module.h"

#define FS_TYPE "oprofilefs"

int oc_fs_init(struct oc_fs *fs, struct op_diag *diag)
{
	const char *folder;
	int err = oc_environment(&folder, "OPROFILE_FS", diag);

	if (err)
		return err;
	fs->is_plain = folder;
	if (!folder)
		folder = OC_FS_MOUNT_POINT;
	if (folder[0] != '/' || strlen(folder) >= sizeof(fs->root) - 256)
		return op_diag_set(
			diag, -EINVAL,
			"OPROFILE_FS: \"%.128s\" is no absolute "
			"path of a sensible length; correct or unset "
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

static int mount_fs(struct opcontrol *oc)
{
	const char *root = oc->fs.root;

	if (mkdir(root, 0755) && errno != EEXIST)
		return op_diag_set(&oc->diag, -errno,
				   "%s: cannot make the mount point: %s; run "
				   "opcontrol where /dev can be written",
				   root, strerror(errno));
	oc_say(oc, "mount " FS_TYPE " on %s", root);
	if (!mount(FS_TYPE, root, FS_TYPE, MS_NOSUID | MS_NODEV | MS_NOEXEC,
		   NULL))
		return 0;
	if (errno == EBUSY)
		return 0; /* someone else was faster */
	if (errno == EPERM || errno == EACCES)
		return op_diag_set(&oc->diag, -errno,
				   "%s: may not mount " FS_TYPE ": %s; run "
				   "opcontrol outside of the container",
				   root, strerror(errno));
	return op_diag_set(&oc->diag, -errno,
			   "%s: cannot mount " FS_TYPE ": %s; see dmesg", root,
			   strerror(errno));
}

static int check_abi(struct opcontrol *oc)
{
	uint64_t version;
	int err = oc_fs_read(&oc->fs, "abi_version", &version, &oc->diag);

	if (err || version == OP_ABI_VERSION)
		return err;
	return op_diag_set(&oc->diag, -EPROTO,
			   "%s/abi_version: the module speaks version %" PRIu64
			   " of the stream and these tools version %d; unload "
			   "it with opcontrol --deinit and build both from one "
			   "source",
			   oc->fs.root, version, OP_ABI_VERSION);
}

int oc_fs_set_up(struct opcontrol *oc)
{
	int err = 0;

	if (!oc->fs.is_plain && !oc_fs_is_mounted(&oc->fs)) {
		if (!oc_module_is_present())
			err = oc_module_load(oc);
		if (!err)
			err = mount_fs(oc);
	}
	return err ? err : check_abi(oc);
}

int oc_fs_unmount(struct opcontrol *oc)
{
	if (oc->fs.is_plain || !oc_fs_is_mounted(&oc->fs))
		return 0;
	oc_say(oc, "umount %s", oc->fs.root);
	if (!umount2(oc->fs.root, UMOUNT_NOFOLLOW))
		return 0;
	if (errno == EBUSY)
		return op_diag_set(
			&oc->diag, -EBUSY,
			"%s: cannot unmount: a process works in it "
			"or has a file of it open; fuser -m %s names "
			"it",
			oc->fs.root, oc->fs.root);
	return op_diag_set(&oc->diag, -errno, "%s: cannot unmount: %s",
			   oc->fs.root, strerror(errno));
}

static int fs_open(const struct oc_fs *fs, const char *file, int flags)
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
	int fd = fs_open(fs, file, O_RDONLY);
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
		op_diag_set(diag, err, "%s/%s: holds no number: %s", fs->root,
			    file, strerror(-err));
	return err;
}

static int write_text(int fd, const char *text)
{
	ssize_t wrote = write(fd, text, strlen(text));
	int err = wrote == (ssize_t)strlen(text) ? 0
		  : wrote < 0			 ? -errno
						 : -EIO;

	if (close(fd) && !err)
		err = -errno;
	return err;
}

bool oc_fs_has(const struct oc_fs *fs, const char *file)
{
	char path[sizeof(fs->root) + 256];

	return snprintf(path, sizeof(path), "%s/%s", fs->root, file) <
		       (int)sizeof(path) &&
	       !access(path, F_OK);
}

int oc_fs_write(struct opcontrol *oc, const char *file, uint64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRIu64, value);
	return oc_fs_write_text(oc, file, text);
}

int oc_fs_write_text(struct opcontrol *oc, const char *file, const char *text)
{
	int err;

	oc_say(oc, "write %s to %s/%s", text, oc->fs.root, file);
	err = fs_open(&oc->fs, file, O_WRONLY | O_TRUNC);
	if (err >= 0)
		err = write_text(err, text);
	if (!err)
		return 0;
	return op_diag_set(&oc->diag, err,
			   "value %s is not accepted by %s/%s: %s; %s", text,
			   oc->fs.root, file, strerror(-err),
			   err == -EBUSY ? "end what uses the profiler first, "
					   "with opcontrol --shutdown"
			   : err == -ENOENT ? "is the module of these tools "
					      "loaded?"
					    : "set another one");
}

/* The module itself finds this out only when the daemon opens the buffer. */
static int check_module_watershed(struct opcontrol *oc)
{
	const char *watershed_file = oc_numbers[OC_BUFFER_WATERSHED].file;
	uint64_t size = 0, watershed = 0;
	int err;

	err = oc_fs_read(&oc->fs, oc_numbers[OC_BUFFER_SIZE].file, &size,
			 &oc->diag);
	if (!err)
		err = oc_fs_read(&oc->fs, watershed_file, &watershed,
				 &oc->diag);
	if (err || watershed < size)
		return err;
	return op_diag_set(&oc->diag, -EINVAL,
			   "%s/%s: %" PRIu64 " is not below the buffer size of "
			   "%" PRIu64 "; lower --buffer-watershed or raise "
			   "--buffer-size",
			   oc->fs.root, watershed_file, watershed, size);
}

/* What an earlier session asked for and this one does not. */
static bool is_another(const struct oc_fs *fs, const char *file, uint64_t value)
{
	uint64_t now = value;

	return oc_fs_has(fs, file) && !oc_fs_read(fs, file, &now, NULL) &&
	       now != value;
}

static bool must_write(const struct opcontrol *oc, enum oc_number number)
{
	const struct oc_number_info *info = &oc_numbers[number];

	if (!info->file)
		return false;
	if (oc_settings_is_set(&oc->settings, number))
		return true;
	return info->zero &&
	       is_another(&oc->fs, info->file, oc->settings.numbers[number]);
}

int oc_fs_write_settings(struct opcontrol *oc)
{
	int err = 0;

	for (int i = 0; i < OC_NR_NUMBERS && !err; i++) {
		if (must_write(oc, i))
			err = oc_fs_write(oc, oc_numbers[i].file,
					  oc->settings.numbers[i]);
	}
	return err ? err : check_module_watershed(oc);
}
