// SPDX-License-Identifier: GPL-2.0-or-later
/* A file with a report is replaced by a whole new one, or stays as it was. */

#include "tests/unit/op_fixture.h"

#include "pp/opreport/opreport_output.h"

enum kind { NOTHING, FILE_OF_ONE_NAME, FILE_OF_TWO_NAMES, LINK };

/* Write to "report" and end with @err. */
static int write_report(int err)
{
	struct opreport_output output;
	struct op_diag diag = { "" };

	assert_int_equal(opreport_output_open(&output, "report", &diag), 0);
	fputs("new", output.file);
	return opreport_output_close(&output, err, &diag);
}

static void make_report_file(enum kind kind)
{
	assert_int_equal(mkdir("folder", 0755), 0);
	assert_int_equal(chdir("folder"), 0);
	if (kind == NOTHING)
		return;
	write_text("old", "old text");
	assert_int_equal(chmod("old", 0604), 0);
	if (kind == FILE_OF_ONE_NAME)
		assert_int_equal(rename("old", "report"), 0);
	else if (kind == FILE_OF_TWO_NAMES)
		assert_int_equal(link("old", "report"), 0);
	else
		assert_int_equal(symlink("old", "report"), 0);
}

FOLDER_TEST(reports_take_the_place_of_files)
{
	static const struct {
		enum kind kind;
		mode_t mode;
		int err;
		const char *text; /* NULL: no file */
		bool is_new; /* another file than before */
	} rows[] = {
		{ NOTHING, 0640, 0, "new", true },
		{ NOTHING, 0, -ENOMEM, NULL, false },
		{ FILE_OF_ONE_NAME, 0604, 0, "new", true },
		{ FILE_OF_ONE_NAME, 0604, -ENOMEM, "old text", false },
		{ FILE_OF_TWO_NAMES, 0604, 0, "new", false },
		{ LINK, 0604, 0, "new", false },
	};
	mode_t mask = umask(026);

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct stat before = { .st_ino = 0 }, now;
		int fd;

		make_report_file(rows[i].kind);
		/* Its inode is not given to the new one. */
		fd = open("report", O_RDONLY | O_CLOEXEC);
		if (fd >= 0)
			assert_int_equal(fstat(fd, &before), 0);
		assert_int_equal(write_report(rows[i].err), rows[i].err);
		if (rows[i].text) {
			assert_int_equal(stat("report", &now), 0);
			assert_int_equal(now.st_mode & 0777, rows[i].mode);
			assert_int_equal(now.st_ino != before.st_ino,
					 rows[i].is_new);
			assert_string_equal(text_of("report"), rows[i].text);
		} else {
			assert_int_equal(access("report", F_OK), -1);
		}
		if (fd >= 0)
			close(fd);
		unlink("old");
		unlink("report");
		assert_int_equal(chdir(".."), 0);
		assert_int_equal(rmdir("folder"), 0); /* nothing hidden */
	}
	umask(mask);
}

FOLDER_TEST(what_is_no_file_is_written_to)
{
	struct opreport_output output;
	struct op_diag diag = { "" };

	assert_int_equal(opreport_output_open(&output, "/dev/full", &diag), 0);
	fputs("new", output.file);
	assert_int_equal(opreport_output_close(&output, 0, &diag), -EIO);
	assert_string_equal(
		diag.text,
		"/dev/full: cannot be written: No space left on device");
	diag.text[0] = '\0';
	assert_int_equal(opreport_output_open(&output, "none/report", &diag),
			 -ENOENT);
	assert_string_equal(
		diag.text,
		"none/report: cannot be written: No such file or directory; name a file in a folder that you may write to");
}
