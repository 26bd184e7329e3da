// SPDX-License-Identifier: GPL-2.0-or-later
/* Which files are taken for the kernel that runs. */

#include "tests/unit/build_elf.h"
#include "tests/unit/op_fixture.h"

#include "libop/kernel/op_vmlinux.h"

#define OURS "Linux version 6.1.0-9 (me@here) (gcc 12) #1 SMP Debian"

enum { NO_ID = -1, NO_FILE = -2 };

/*
 * A file of the build @id that goes on with @text behind @pad bytes, where the
 * kernel has the build @kernel_id and the banner @kernel.
 */
static const struct row {
	int id;
	size_t pad;
	const char *text;
	int kernel_id;
	const char *kernel;
	int err;
	const char *reason;
} rows[] = {
	/* by build-id, whatever the banner */
	{ 1, 0, "", 1, OURS "\n", 0, "" },
	{ 1, 0, OURS "\n", 2, OURS "\n", -ENOEXEC,
	  "--vmlinux=file: not the kernel that runs: the file's build-id is "
	  "0155555555555555555555555555555555555555, the kernel's "
	  "0255555555555555555555555555555555555555; give the vmlinux of the "
	  "kernel that runs, or go" },
	/* by banner, where one of the two has no build-id */
	{ NO_ID, 7, OURS "\n", 1, OURS "\n", 0, "" },
	{ NO_ID, 7, OURS, NO_ID, OURS, 0, "" },
	{ 1, 0, OURS "\n", NO_ID, OURS "\n", 0, "" },
	{ 1, 0, "", NO_ID, OURS "\n", -ENOEXEC,
	  "--vmlinux=file: this is no Linux kernel; give the uncompressed "
	  "vmlinux of the kernel that runs, or go" },
	{ NO_ID, 0, "Linux version 6.1.0-8 (x) #1\n", 1, OURS "\n", -ENOEXEC,
	  "--vmlinux=file: this is another build of Linux, 6.1.0-8, and its "
	  "symbols would name the wrong functions; give the vmlinux of the "
	  "kernel that runs, or go" },
	{ NO_ID, 0, OURS " 2\n", 1, OURS "\n", -ENOEXEC,
	  "--vmlinux=file: this is another build of Linux, 6.1.0-9, and its "
	  "symbols would name the wrong functions; give the vmlinux of the "
	  "kernel that runs, or go" },
	{ NO_ID, 0, "Linux version %s (%s)\n" OURS "\n", 1, OURS "\n", 0, "" },
	{ NO_ID, 0, "Linux version 5.10 (x)\n" OURS "\n", 1, OURS "\n", 0, "" },
	/* where the parts meet that are read at a time */
	{ NO_ID, (1u << 20) - 4, OURS "\n", 1, OURS "\n", 0, "" },
	{ NO_ID, (1u << 20) - 20, OURS "\n", 1, OURS "\n", 0, "" },
	{ NO_ID, (1u << 20) - 58, OURS "\n", 1, OURS "\n", 0, "" },
	{ NO_ID, (2u << 20) - 30, OURS "\n", 1, OURS "\n", 0, "" },
	/* a kernel that does not tell */
	{ 1, 0, "", NO_ID, NULL, 0, "" },
	{ NO_ID, 0, "", 1, NULL, 0, "" },
	{ 1, 0, "", 2, NULL, -ENOEXEC, "build-id is 01" },
	/* no kernels */
	{ NO_FILE, 0, "", 1, OURS "\n", -ENOENT,
	  "--vmlinux=file: No such file or directory; give the path of an "
	  "uncompressed kernel, or go" },
};

static void make_file(const struct row *row)
{
	FILE *file;

	if (row->id == NO_FILE)
		return;
	if (row->id == NO_ID)
		write_text("file", "\177ELF");
	else
		make_elf("file", (uint8_t)row->id);
	file = fopen("file", "a");
	assert_non_null(file);
	for (size_t i = 0; i < row->pad; i++)
		putc('.', file);
	fputs(row->text, file);
	assert_int_equal(fclose(file), 0);
}

static void make_kernel(const struct row *row)
{
	/* The note of an ELF file alone is what sysfs has. */
	uint8_t elf[156];
	FILE *file;

	unlink("sys/kernel/notes");
	unlink("proc/version");
	if (row->kernel)
		write_text("proc/version", row->kernel);
	if (row->kernel_id == NO_ID)
		return;
	make_elf("elf", (uint8_t)row->kernel_id);
	file = fopen("elf", "r");
	assert_non_null(file);
	assert_int_equal(fread(elf, sizeof(elf), 1, file), 1);
	fclose(file);
	write_bytes("sys/kernel/notes", elf + 120, 36);
}

FOLDER_TEST(files)
{
	assert_int_equal(mkdir("sys", 0755) | mkdir("sys/kernel", 0755) |
				 mkdir("proc", 0755),
			 0);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct row *row = &rows[i];
		struct op_diag diag = { "" };
		int err;

		unlink("file");
		make_file(row);
		make_kernel(row);
		err = op_vmlinux_check("file", ".", "go", &diag);
		if (err != row->err || !strstr(diag.text, row->reason))
			fail_msg("row %zu: %d %s", i, err, diag.text);
	}
}

FOLDER_TEST(no_elf)
{
	struct op_diag diag = { "" };

	write_text("file", "\177EL" OURS "\n");
	assert_int_equal(op_vmlinux_check("file", ".", "go", &diag), -ENOEXEC);
	assert_reason(&diag, "--vmlinux=file: not an ELF file; give the "
			     "uncompressed vmlinux, not vmlinuz, or go");
}
