// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Which snapshots of the running kernel's symbols are taken, and when. What
 * /proc/kallsyms has is the test's.
 */

#include "daemon/opd_ksyms.h"
#include "libop/kernel/op_ksyms.h"
#include "tests/unit/opd_fixture.h"

#include <dlfcn.h>
#include <sys/mman.h>

#define REAL(name) ((__typeof__(&(name)))dlsym(RTLD_NEXT, #name))
#define INSTEAD_OF(name) __asm__(#name)

int kernel_open(const char *path, int flags, ...) INSTEAD_OF(open64);

/* NULL: this machine's */
static const char *kallsyms;
static unsigned int nr_reads; /* of that */

int kernel_open(const char *path, int flags, ...)
{
	va_list args;
	mode_t mode;
	int fd;

	va_start(args, flags);
	mode = flags & O_CREAT ? va_arg(args, mode_t) : 0;
	va_end(args);
	if (!kallsyms || strcmp(path, "/proc/kallsyms") != 0)
		return REAL(open64)(path, flags, mode);
	nr_reads++;
	fd = memfd_create("kallsyms", MFD_CLOEXEC);
	assert_int_equal(pwrite(fd, kallsyms, strlen(kallsyms), 0),
			 strlen(kallsyms));
	return fd;
}

static const struct op_build_id no_build;
static const struct op_build_id build_1 = { 2, { 0xab, 1 } };
static const struct op_build_id build_2 = { 2, { 0xab, 2 } };

static struct fixture *new_kernel(void)
{
	struct fixture *f = new_replay();

	kallsyms = "ffff1000 T start\n"
		   "ffff1800 t middle\n"
		   "ffff2000 T behind\n"
		   "ffff5000 t in_ext4\t[ext4]\n"
		   "ffff6000 t in_xfs\t[xfs]\n";
	f->opd.log.verbose = OP_V_MODULE;
	return f;
}

static void free_kernel(struct fixture *f)
{
	kallsyms = NULL;
	free_fixture(f);
}

static void see(struct fixture *f, const char *name, uint64_t start,
		uint64_t end, const struct op_build_id *build_id)
{
	struct op_kallsyms all = { .text = NULL };

	opd_ksyms_see(&f->opd.ksyms, name, start, end, build_id, &all);
	op_kallsyms_release(&all);
}

static struct opd_image *get_image(struct fixture *f, const char *name,
				   enum op_image_kind kind, uint64_t start,
				   const struct op_build_id *build_id)
{
	const struct opd_image_id id = { .space = OP_SPACE_KERN,
					 .kind = kind,
					 .name = name,
					 .build_id = *build_id };
	struct opd_image *image;

	assert_int_equal(opd_image_get(&f->opd.images, &id, &image), 0);
	image->start = start;
	image->end = start + 0x1000;
	return image;
}

static void path_of(struct fixture *f, const char *file, char *path, size_t len)
{
	snprintf(path, len, "%s/%s", f->opd.session.symbols, file);
}

/* The symbols in snapshot @file: "OFFSET NAME" of each; "none" without it. */
static void expect_symbols(struct fixture *f, const char *file,
			   const char *want)
{
	struct op_diag diag = { "" };
	char path[8192], text[512] = "none";
	struct op_ksyms ksyms;
	size_t len = 0;

	path_of(f, file, path, sizeof(path));
	if (!op_ksyms_read(&ksyms, path, &diag)) {
		text[0] = '\0';
		for (size_t i = 0; i < ksyms.nr; i++)
			len += (size_t)snprintf(
				text + len, sizeof(text) - len, "%lx %s;",
				(unsigned long)ksyms.syms[i].offset,
				ksyms.syms[i].name);
		op_ksyms_release(&ksyms);
	}
	assert_string_equal(text, want);
}

/* The bytes of a file, until the next call for this @number. */
static const char *text_of_file(const char *path, unsigned int number)
{
	static char texts[2][4096];
	FILE *file = fopen(path, "r");

	if (!file)
		return "none";
	texts[number][fread(texts[number], 1, sizeof(texts[0]) - 1, file)] =
		'\0';
	fclose(file);
	return texts[number];
}

static void remove_snapshot(struct fixture *f, const char *file)
{
	char path[8192];

	path_of(f, file, path, sizeof(path));
	assert_int_equal(unlink(path), 0);
}

/* The text of the log; it is empty then. */
static const char *take_log(struct fixture *f)
{
	static char text[8192];
	FILE *file = fopen(f->opd.session.log, "r");

	assert_non_null(file);
	text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
	fclose(file);
	assert_int_equal(truncate(f->opd.session.log, 0), 0);
	return text;
}

/* Of the kernel itself, as soon as it is seen, once. */
TEST(test_the_kernel_is_taken_at_once)
{
	struct fixture *f = new_kernel();

	see(f, OP_KERNEL_NAME, 0xffff1000, 0xffff2000, &build_1);
	expect_symbols(f, OP_KERNEL_NAME "-ab01", "0 start;800 middle;");
	assert_non_null(strstr(take_log(f), OP_KERNEL_NAME "-ab01\n"));
	remove_snapshot(f, OP_KERNEL_NAME "-ab01");
	see(f, OP_KERNEL_NAME, 0xffff1000, 0xffff2000, &build_1);
	expect_symbols(f, OP_KERNEL_NAME "-ab01", "none");
	/* A module is not. */
	see(f, "ext4", 0xffff5000, 0xffff6000, &build_1);
	expect_symbols(f, "ext4-ab01", "none");
	assert_false(opd_ksyms_copy_next(&f->opd.ksyms));
	free_kernel(f);
}

/* With --vmlinux the symbols are in that file. */
TEST(test_with_vmlinux)
{
	struct fixture *f = new_kernel();

	f->opd.options.vmlinux = strdup("/boot/vmlinux");
	see(f, OP_KERNEL_NAME, 0xffff1000, 0xffff2000, &build_1);
	expect_symbols(f, OP_KERNEL_NAME "-ab01", "none");
	free((char *)f->opd.options.vmlinux);
	f->opd.options.vmlinux = NULL;
	free_kernel(f);
}

/* Only what is as this machine's source told it. */
TEST(test_what_is_here)
{
	static const struct {
		const char *name;
		enum op_image_space space;
		enum op_image_kind kind;
		uint64_t start;
		const struct op_build_id *build;
		unsigned int wanted;
	} rows[] = {
		{ "ext4", OP_SPACE_KERN, OP_IMAGE_MODULE, 0xffff5000, &build_1,
		  1 },
		{ "xfs", OP_SPACE_KERN, OP_IMAGE_MODULE, 0xffff5000, &build_1,
		  0 },
		{ "ext4", OP_SPACE_ROOT, OP_IMAGE_MODULE, 0xffff5000, &build_1,
		  0 },
		{ "ext4", OP_SPACE_KERN, OP_IMAGE_KERNEL, 0xffff5000, &build_1,
		  1 },
		{ "ext4", OP_SPACE_KERN, OP_IMAGE_FILE, 0xffff5000, &build_1,
		  0 },
		/* It may have been loaded anew since. */
		{ "ext4", OP_SPACE_KERN, OP_IMAGE_MODULE, 0xffff5001, &build_1,
		  1 },
		{ "ext4", OP_SPACE_KERN, OP_IMAGE_MODULE, 0xffff5000, &build_2,
		  0 },
		{ "ext4", OP_SPACE_KERN, OP_IMAGE_MODULE, 0xffff5000, &no_build,
		  0 },
		{ "btrfs", OP_SPACE_KERN, OP_IMAGE_MODULE, 0xffff6000,
		  &no_build, 1 },
		{ "btrfs", OP_SPACE_KERN, OP_IMAGE_MODULE, 0xffff6001,
		  &no_build, 0 },
	};
	struct fixture *f = new_kernel();
	struct opd_ksyms *ksyms = &f->opd.ksyms;

	see(f, "first", 0xffff4000, 0xffff5000, &build_2);
	see(f, "ext4", 0xffff4000, 0xffff5000, &build_2);
	/* Where it is now counts. */
	see(f, "ext4", 0xffff5000, 0xffff6000, &build_1);
	see(f, "btrfs", 0xffff6000, 0xffff7000, &no_build);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct opd_image image = {
			.space = rows[i].space,
			.kind = rows[i].kind,
			.name = (char *)rows[i].name,
			.build_id = *rows[i].build,
			.start = rows[i].start,
		};

		ksyms->nr_wanted = 0;
		opd_ksyms_want(ksyms, &image);
		assert_int_equal(ksyms->nr_wanted, rows[i].wanted);
		assert_int_equal(image.symbols, rows[i].wanted
							? OPD_SYMBOLS_WANTED
							: OPD_SYMBOLS_DONE);
		/* Asked for again it is wanted once. */
		opd_ksyms_want(ksyms, &image);
		assert_int_equal(ksyms->nr_wanted, rows[i].wanted);
	}
	ksyms->nr_wanted = 0;
	free_kernel(f);
}

/* One at a time, until there is none, out of one reading. */
TEST(test_modules_are_taken_one_by_one)
{
	struct fixture *f = new_kernel();
	struct opd_ksyms *ksyms = &f->opd.ksyms;
	struct opd_image *ext4, *xfs;

	see(f, "ext4", 0xffff5000, 0xffff6000, &build_1);
	see(f, "xfs", 0xffff6000, 0xffff7000, &no_build);
	ext4 = get_image(f, "ext4", OP_IMAGE_MODULE, 0xffff5000, &build_1);
	xfs = get_image(f, "xfs", OP_IMAGE_MODULE, 0xffff6000, &no_build);
	opd_ksyms_want(ksyms, ext4);
	opd_ksyms_want(ksyms, xfs);
	assert_int_equal(ksyms->nr_wanted, 2);
	nr_reads = 0;
	assert_true(opd_ksyms_copy_next(ksyms));
	assert_int_equal((ext4->symbols == OPD_SYMBOLS_DONE) +
				 (xfs->symbols == OPD_SYMBOLS_DONE),
			 1);
	assert_false(opd_ksyms_copy_next(ksyms));
	assert_int_equal(ksyms->nr_wanted, 0);
	assert_int_equal(ext4->symbols, OPD_SYMBOLS_DONE);
	assert_int_equal(xfs->symbols, OPD_SYMBOLS_DONE);
	expect_symbols(f, "ext4-ab01", "0 in_ext4;");
	expect_symbols(f, "xfs", "0 in_xfs;");
	assert_int_equal(nr_reads, 1);
	/* Images that are gone by then are wanted no more. */
	ksyms->nr_wanted = 1;
	assert_false(opd_ksyms_copy_next(ksyms));
	assert_int_equal(ksyms->nr_wanted, 0);
	free_kernel(f);
}

/* A sound snapshot of that very build stays; any other is written anew. */
TEST(test_what_is_there_already)
{
	struct fixture *f = new_kernel();
	struct opd_ksyms *ksyms = &f->opd.ksyms;
	const char *first = kallsyms;
	struct opd_image *ext4, *xfs;
	char path[8192], cached[8192];

	ext4 = get_image(f, "ext4", OP_IMAGE_MODULE, 0xffff5000, &build_1);
	xfs = get_image(f, "xfs", OP_IMAGE_MODULE, 0xffff6000, &no_build);
	for (int i = 0; i < 2; i++) {
		see(f, "ext4", 0xffff5000, 0xffff6000, &build_1);
		see(f, "xfs", 0xffff6000, 0xffff7000, &no_build);
		ext4->symbols = xfs->symbols = OPD_SYMBOLS_NONE;
		opd_ksyms_want(ksyms, ext4);
		opd_ksyms_want(ksyms, xfs);
		while (opd_ksyms_copy_next(ksyms))
			;
		kallsyms = "ffff5010 t later_ext4\t[ext4]\n"
			   "ffff6020 t later_xfs\t[xfs]\n";
	}
	expect_symbols(f, "ext4-ab01", "0 in_ext4;");
	expect_symbols(f, "xfs", "20 later_xfs;");
	path_of(f, "ext4-ab01", path, sizeof(path));
	assert_int_equal(truncate(path, 10), 0);
	/* So is that of the cache, which is the same file. */
	restart_daemon(f);
	see(f, "ext4", 0xffff5000, 0xffff6000, &build_1);
	opd_ksyms_want(ksyms, get_image(f, "ext4", OP_IMAGE_MODULE, 0xffff5000,
					&build_1));
	opd_ksyms_copy_next(ksyms);
	expect_symbols(f, "ext4-ab01", "10 later_ext4;");
	snprintf(cached, sizeof(cached), "%s/cache/ext4-ab01", f->dir);
	assert_string_equal(text_of_file(cached, 0), text_of_file(path, 1));
	kallsyms = first;
	free_kernel(f);
}

/* It may have come after what the others are taken from was read. */
TEST(test_a_module_that_comes_meanwhile)
{
	struct fixture *f = new_kernel();
	struct opd_ksyms *ksyms = &f->opd.ksyms;
	const char *names[] = { "ext4", "xfs" };

	for (int i = 0; i < 2; i++) {
		see(f, names[i], 0xffff5000, 0xffff6000, &build_1);
		opd_ksyms_want(ksyms, get_image(f, names[i], OP_IMAGE_MODULE,
						0xffff5000, &build_1));
	}
	assert_true(opd_ksyms_copy_next(ksyms));
	kallsyms = "ffff5000 t in_xfs\t[xfs]\nffff5030 t new\t[btrfs]\n";
	see(f, "btrfs", 0xffff5000, 0xffff6000, &build_2);
	opd_ksyms_want(ksyms, get_image(f, "btrfs", OP_IMAGE_MODULE, 0xffff5000,
					&build_2));
	while (opd_ksyms_copy_next(ksyms))
		;
	expect_symbols(f, "btrfs-ab02", "30 new;");
	free_kernel(f);
}

/* What the source has read is not read again. */
TEST(test_the_text_of_the_source)
{
	struct fixture *f = new_kernel();
	struct op_kallsyms all;

	assert_int_equal(op_kallsyms_read(&all, "/proc/kallsyms", NULL), 0);
	nr_reads = 0;
	opd_ksyms_see(&f->opd.ksyms, OP_KERNEL_NAME, 0xffff1000, 0xffff2000,
		      &build_1, &all);
	assert_int_equal(nr_reads, 0);
	op_kallsyms_release(&all);
	expect_symbols(f, OP_KERNEL_NAME "-ab01", "0 start;800 middle;");
	free_kernel(f);
}

/* Remove the snapshot that a session had, and start another one. */
static void next_session(struct fixture *f, const char *file)
{
	remove_snapshot(f, file);
	restart_daemon(f);
	nr_reads = 0;
}

/* Once for all sessions, by the build-id. */
TEST(test_the_cache)
{
	struct fixture *f = new_kernel();
	struct opd_ksyms *ksyms = &f->opd.ksyms;
	struct opd_image *image;
	uint64_t size;

	assert_false(opd_ksyms_has_kernel(ksyms, &build_1, &size));
	see(f, OP_KERNEL_NAME, 0xffff1000, 0xffff2000, &build_1);
	next_session(f, OP_KERNEL_NAME "-ab01");
	see(f, OP_KERNEL_NAME, 0xffff1000, 0xffff2000, &build_1);
	expect_symbols(f, OP_KERNEL_NAME "-ab01", "0 start;800 middle;");
	/* Before the kernel is seen, wherever it lies. */
	next_session(f, OP_KERNEL_NAME "-ab01");
	assert_true(opd_ksyms_has_kernel(ksyms, &build_1, &size));
	assert_int_equal(size, 0x1000);
	expect_symbols(f, OP_KERNEL_NAME "-ab01", "0 start;800 middle;");
	see(f, OP_KERNEL_NAME, 0, 0, &build_1);
	assert_int_equal(nr_reads, 0);
	/* The next sample in it asks for nothing more. */
	image = get_image(f, OP_KERNEL_NAME, OP_IMAGE_KERNEL, 0xffff1000,
			  &build_1);
	opd_ksyms_want(ksyms, image);
	assert_int_equal(ksyms->nr_wanted, 0);
	/* Of no other build, and not of what is only in the cache. */
	next_session(f, OP_KERNEL_NAME "-ab01");
	assert_false(opd_ksyms_has_kernel(ksyms, &build_2, &size));
	assert_false(opd_ksyms_has_kernel(ksyms, &no_build, &size));
	see(f, OP_KERNEL_NAME, 0, 0, &build_2);
	expect_symbols(f, OP_KERNEL_NAME "-ab02", "none");
	assert_int_equal(nr_reads, 0);
	assert_null(strstr(take_log(f), "-ab02"));
	/* With --vmlinux reports take the symbols from that file. */
	f->opd.options.vmlinux = strdup("/boot/vmlinux");
	assert_false(opd_ksyms_has_kernel(ksyms, &build_1, &size));
	free(f->opd.options.vmlinux);
	f->opd.options.vmlinux = NULL;
	expect_symbols(f, OP_KERNEL_NAME "-ab01", "none");
	free_kernel(f);
}

/* Without a folder for it all goes as it would without a cache. */
TEST(test_without_a_cache)
{
	struct fixture *f = new_kernel();

	setenv("OPROFILE_CACHE_DIR", "/dev/null/cache", 1);
	for (int i = 0; i < 2; i++) {
		see(f, OP_KERNEL_NAME, 0xffff1000, 0xffff2000, &build_1);
		expect_symbols(f, OP_KERNEL_NAME "-ab01",
			       "0 start;800 middle;");
		next_session(f, OP_KERNEL_NAME "-ab01");
	}
	free_kernel(f);
}

TEST(test_symbols_are_hidden)
{
	struct fixture *f = new_kernel();

	f->opd.log.verbose = 0;
	kallsyms = "0 T start\n0 t middle\n";
	see(f, OP_KERNEL_NAME, 0xffff1000, 0xffff2000, &no_build);
	expect_symbols(f, OP_KERNEL_NAME, "none");
	assert_non_null(strstr(take_log(f), "symbols of " OP_KERNEL_NAME ": "));
	free_kernel(f);
}
