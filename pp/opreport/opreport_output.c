// SPDX-License-Identifier: GPL-2.0-or-later

#include "pp/opreport/opreport_output.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Whether a new file may take the place of @path, and of which mode it is. A
 * link, a file of several names or of someone else would not be the same. */
static bool may_replace(const char *path, mode_t *mode)
{
	struct stat st;

	if (lstat(path, &st)) {
		bool is_new = errno == ENOENT;

		*mode = op_file_mode(0666);
		return is_new;
	}
	*mode = st.st_mode & 0777;
	return S_ISREG(st.st_mode) && st.st_nlink == 1 &&
	       st.st_uid == geteuid() && !access(path, W_OK);
}

int opreport_output_open(struct opreport_output *output, const char *path,
			 struct op_diag *diag)
{
	struct op_diag ignored = { "" };
	mode_t mode;

	output->path = path;
	output->is_replaced =
		may_replace(path, &mode) &&
		!op_replace_open(&output->replace, path, mode, &ignored);
	output->file =
		output->is_replaced ? output->replace.file : fopen(path, "we");
	return output->file
		       ? 0
		       : op_diag_set(
				 diag, -errno,
				 "%s: cannot be written: %s; name a file in a folder that you may write to",
				 path, strerror(errno));
}

int opreport_output_close(struct opreport_output *output, int err,
			  struct op_diag *diag)
{
	bool failed;

	if (output->is_replaced && err) {
		op_replace_abort(&output->replace);
		return err;
	}
	if (output->is_replaced)
		return op_replace_commit(&output->replace, diag);
	failed = fflush(output->file) || ferror(output->file);
	failed |= fclose(output->file) != 0;
	if (failed && !err)
		err = op_diag_set(diag, -EIO, "%s: cannot be written: %s",
				  output->path, strerror(errno));
	return err;
}
