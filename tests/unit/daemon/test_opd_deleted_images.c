// SPDX-License-Identifier: GPL-2.0-or-later
/* Binaries that go away while they are profiled. */

#include <dirent.h>
#include <linux/magic.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/vfs.h>
#include <sys/wait.h>

#include "tests/unit/build_elf.h"
#include "tests/unit/opd_fixture.h"
#include "tests/unit/rows.h"

#define NR_IMAGES 4

/* ---- in place of the C library's --------------------------------------------
 */

static long fs_type; /* that all files are on; 0: any that may be held */

int keep_fstatfs(int fd, struct statfs *st) __asm__("fstatfs64");

int keep_fstatfs(int fd, struct statfs *st)
{
	(void)fd;
	memset(st, 0, sizeof(*st));
	st->f_type = fs_type;
	return 0;
}

static unsigned int nr_paths_tried; /* from the root folder on */

int keep_open(const char *path, int flags, ...) __asm__("open64");

int keep_open(const char *path, int flags, ...)
{
	mode_t mode;
	va_list args;

	va_start(args, flags);
	mode = flags & O_CREAT ? va_arg(args, mode_t) : 0;
	va_end(args);
	nr_paths_tried += !strcmp(path, "/");
	return openat(AT_FDCWD, path, flags, mode);
}

struct rig {
	struct fixture *f;
	struct opd_binary binaries[NR_IMAGES];
	char names[NR_IMAGES][128];
	size_t nr;
};

static void path_of(const struct rig *rig, const char *name, char *path,
		    size_t size)
{
	snprintf(path, size, "%s/%s", rig->f->dir, name);
}

/* A file of @name and its text, that is from second @mtime. */
static void make(const struct rig *rig, const char *name, long mtime)
{
	const struct timespec times[2] = { { mtime, 0 }, { mtime, 0 } };
	char path[256];
	FILE *file;

	path_of(rig, name, path, sizeof(path));
	file = fopen(path, "w");
	assert_non_null(file);
	fprintf(file, "%s of %ld\n", name, mtime);
	assert_int_equal(fclose(file), 0);
	assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

static struct opd_binary *binary_of(struct rig *rig, const char *name,
				    long mtime)
{
	struct opd_binary *binary = &rig->binaries[rig->nr];
	char path[128];

	path_of(rig, name, path, sizeof(path));
	for (size_t i = 0; i < rig->nr; i++)
		if (!strcmp(rig->names[i], path))
			return &rig->binaries[i];
	assert_true(rig->nr < NR_IMAGES);
	strcpy(rig->names[rig->nr], path);
	binary->name = rig->names[rig->nr++];
	binary->mtime = (uint64_t)mtime;
	return binary;
}

/* Print the file that opd_deleted_images_open() opens. */
static void show_open(struct rig *rig, const char *name, FILE *out)
{
	char text[128] = "";
	int fd = opd_deleted_images_open(&rig->f->opd.deleted_images,
					 binary_of(rig, name, 0), 0);

	if (fd < 0) {
		fprintf(out, "%s\n", strerrorname_np(-fd));
		return;
	}
	assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	assert_true(pread(fd, text, sizeof(text) - 1, 0) > 0);
	fprintf(out, "open %s", text);
	close(fd);
}

static void show_log(struct rig *rig, FILE *out)
{
	FILE *file = fopen(rig->f->opd.session.log, "r");
	char line[512];

	assert_non_null(file);
	while (fgets(line, sizeof(line), file)) {
		/* Without the time and the folder. */
		char *at = line + 20, *in = strstr(line, " in /");

		assert_int_equal(strncmp(at, rig->f->dir, strlen(rig->f->dir)),
				 0);
		if (in)
			strcpy(in, "\n");
		fputs(at + strlen(rig->f->dir) + 1, out);
	}
	fclose(file);
	assert_int_equal(truncate(rig->f->opd.session.log, 0), 0);
}

static void map_file(const struct rig *rig, const char *name)
{
	char path[256];
	int fd;

	path_of(rig, name, path, sizeof(path));
	fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_true(mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd,
			 0) != MAP_FAILED);
	close(fd);
}

/* The source has opened the file that @name was, and it may be gone by now. */
static void hand_over(struct rig *rig, const char *name, bool is_gone)
{
	char path[256];
	int fd;

	path_of(rig, name, path, sizeof(path));
	fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_true(!is_gone || !unlink(path));
	opd_deleted_images_binary(&rig->f->opd.deleted_images,
				  binary_of(rig, name, 0), 0, false, fd);
}

/* A program that is one build, whatever its name, and its image. */
static void make_program(struct rig *rig, const char *name)
{
	struct opd_binary *binary = binary_of(rig, name, 0);
	char path[256];

	path_of(rig, name, path, sizeof(path));
	make_elf(path, 1);
	binary->build_id = build_of(1, 20);
}

/* The names in the folder of images, and how many files they are. */
static void show_links(const struct rig *rig, FILE *out)
{
	struct dirent **entries;
	ino_t last = 0;
	int nr_files = 0;
	int nr = scandir(rig->f->opd.session.images, &entries, NULL, alphasort);

	for (int i = 0; i < nr; i++) {
		if (entries[i]->d_name[0] != '.') {
			nr_files += entries[i]->d_ino != last;
			last = entries[i]->d_ino;
			fprintf(out, "%.*s ",
				(int)strcspn(entries[i]->d_name, "-"),
				entries[i]->d_name);
		}
		free(entries[i]);
	}
	if (nr >= 0)
		free(entries);
	fprintf(out, "are %d files\n", nr_files);
}

static void resize(const struct rig *rig, const char *name, long size)
{
	char path[256];
	struct stat st;

	path_of(rig, name, path, sizeof(path));
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(truncate(path, size), 0);
	assert_int_equal(
		utimensat(AT_FDCWD, path,
			  (struct timespec[]){ st.st_mtim, st.st_mtim }, 0),
		0);
}

static void link_to(const struct rig *rig, const char *line, const char *path)
{
	char to[32], target[256];

	assert_int_equal(sscanf(line, "%*s %*s %31s", to), 1);
	path_of(rig, to, target, sizeof(target));
	assert_int_equal(symlink(target, path), 0);
}

/*
 * file NAME MTIME, rm NAME, folder NAME, link NAME NAME (of what is there);
 * size NAME BYTES, map NAME (into this process);
 * image NAME MTIME: what the kernel says of it;
 * program NAME: a file with a build-id, and its image;
 * hand NAME: its first sample, with the file, which is deleted;
 * give NAME: likewise, but it stays;
 * links: what copies there are;
 * keep NAME, deleted NAME: it has its first sample, and is there or not;
 * sampled NAME: likewise not, and this process has the sample;
 * shut NAME: its first sample, and it may not be opened;
 * shares copies|lines NR: ordinary users share so many bytes or lines;
 * old SECONDS: all were kept so long ago; most NR: so many may be open;
 * copied MIB: were copied before; sweep, log, open NAME; held: how many;
 * fs TYPE: files are on from now on
 */
static void do_line(struct rig *rig, const char *line, FILE *out)
{
	struct opd *opd = &rig->f->opd;
	char verb[16], name[32] = "", path[256];
	long nr = 0;

	sscanf(line, "%15s %31s %ld", verb, name, &nr);
	path_of(rig, name, path, sizeof(path));
	if (!strcmp(verb, "file"))
		make(rig, name, nr);
	else if (!strcmp(verb, "rm"))
		assert_int_equal(unlink(path), 0);
	else if (!strcmp(verb, "folder"))
		assert_int_equal(mkdir(path, 0755), 0);
	else if (!strcmp(verb, "link"))
		link_to(rig, line, path);
	else if (!strcmp(verb, "size"))
		resize(rig, name, nr);
	else if (!strcmp(verb, "map"))
		map_file(rig, name);
	else if (!strcmp(verb, "image"))
		binary_of(rig, name, nr);
	else if (!strcmp(verb, "keep") || !strcmp(verb, "deleted"))
		opd_deleted_images_binary(&opd->deleted_images,
					  binary_of(rig, name, 0), 0,
					  *verb == 'd', -1);
	else if (!strcmp(verb, "sampled"))
		opd_deleted_images_binary(&opd->deleted_images,
					  binary_of(rig, name, 0),
					  (uint32_t)getpid(), true, -1);
	else if (!strcmp(verb, "hand") || !strcmp(verb, "give"))
		hand_over(rig, name, *verb == 'h');
	else if (!strcmp(verb, "program"))
		make_program(rig, name);
	else if (!strcmp(verb, "links"))
		show_links(rig, out);
	else if (!strcmp(verb, "shut"))
		opd_deleted_images_shut(&opd->deleted_images,
					binary_of(rig, name, 0));
	else if (!strcmp(verb, "old"))
		for (size_t i = 0; i < opd->deleted_images.nr; i++)
			opd->deleted_images.kept[i].since -= atoi(name);
	else if (!strcmp(verb, "most"))
		opd->deleted_images.max_open = (unsigned int)atoi(name);
	else if (!strcmp(verb, "shares"))
		(*name == 'c' ? &opd->deleted_images.copy_shares
			      : &opd->deleted_images.line_shares)
			->size = (uint64_t)nr;
	else if (!strcmp(verb, "copied"))
		opd->deleted_images.copied = strtoull(name, NULL, 10) << 20;
	else if (!strcmp(verb, "sweep"))
		opd_deleted_images_sweep(&opd->deleted_images);
	else if (!strcmp(verb, "open"))
		show_open(rig, name, out);
	else if (!strcmp(verb, "log"))
		show_log(rig, out);
	else if (!strcmp(verb, "unmount"))
		opd->deleted_images.nr_mounts =
			0; /* so all were mounted later */
	else if (!strcmp(verb, "fs"))
		fs_type = strtol(name, NULL, 0);
	else if (!strcmp(verb, "held"))
		fprintf(out, "%u held\n", opd->deleted_images.nr_open);
	else
		fail_msg("%s: no such verb", verb);
}

static void init_keep(struct opd *opd, bool forever, rlim_t left)
{
	opd_deleted_images_release(&opd->deleted_images);
	opd_deleted_images_init(&opd->deleted_images, &opd->session, &opd->log,
				opd->clock, forever, left);
}

static void run_keep(const struct row *row, FILE *out)
{
	struct rig rig = { .f = new_replay() };
	const char *at = row->script;
	char line[128];

	fs_type = 0;
	init_keep(&rig.f->opd, row->given != NULL, 1000000);
	while (next_line(&at, line, sizeof(line)))
		do_line(&rig, line, out);
	fprintf(out, "%lu bytes copied\n",
		(unsigned long)rig.f->opd.deleted_images.copied);
	free_fixture(rig.f);
}

/* Who may open what a process has mapped; the kernel lets few do so. */
static bool may_open_mapped(void)
{
	DIR *folder = opendir("/proc/self/map_files");
	const struct dirent *entry;
	int fd = -1;

	while (folder && fd < 0 && (entry = readdir(folder)))
		if (entry->d_name[0] != '.')
			fd = openat(dirfd(folder), entry->d_name,
				    O_RDONLY | O_CLOEXEC);
	if (folder)
		closedir(folder);
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static const struct row rows[] = {
	/* It is held from its first sample, and copied once. */
	{ "a_file_that_goes", NULL,
	  "file a 100; image a 100; keep a; held; sweep; log; rm a; sweep; log;"
	  "held; open a; sweep; log",
	  EXPECTED_ROW },
	{ "a_file_that_stays", NULL,
	  "file a 100; image a 100; keep a; sweep; old 59; sweep; held;"
	  "old 5; sweep; held; open a; log",
	  EXPECTED_ROW },
	{ "a_file_that_stays_for_ever", "for ever",
	  "file a 100; image a 100; keep a; old 1000; sweep; held",
	  EXPECTED_ROW },
	/* What was mounted later may be unmounted. */
	{ "a_file_on_a_new_mount", "for ever",
	  "unmount; file a 100; image a 100; keep a; held; log; open a; rm a;"
	  "sweep; log; open a",
	  EXPECTED_ROW },
	{ "another_file_in_its_place", NULL,
	  "file a 100; image a 100; keep a; rm a; file a 200; open a; sweep;"
	  "log; open a",
	  EXPECTED_ROW },
	/* It is another build by then, and nothing can be done. */
	{ "a_file_written_over", NULL,
	  "file a 100; image a 100; keep a; file a 200; open a; sweep; log;"
	  "held; open a",
	  EXPECTED_ROW },
	{ "a_file_of_another_time", NULL,
	  "file a 200; image a 100; keep a; held; log; open a", EXPECTED_ROW },
	{ "a_file_without_a_time", NULL,
	  "file a 200; image a 0; keep a; held; open a", EXPECTED_ROW },
	/* Its owner has put a link to a file of others there, of the same time.
	 */
	{ "a_link_in_its_place", NULL,
	  "file secret 100; link a secret; image a 100; keep a; held; open a;"
	  "rm a; sweep; log; open a",
	  EXPECTED_ROW },
	{ "a_link_in_place_of_its_folder", NULL,
	  "folder d; file d/a 100; link e d; image d/a 100; image e/a 100;"
	  "keep e/a; held; open e/a; keep d/a; held; open d/a",
	  EXPECTED_ROW },
	{ "a_file_that_is_not", NULL, "image a 100; keep a; log; open a",
	  EXPECTED_ROW },
	/* Whoever has it mapped still has it. */
	{ "a_file_let_go_and_then_gone", NULL,
	  "file a 100; image a 100; keep a; map a; old 61; sweep; held; rm a;"
	  "sweep; log; open a",
	  EXPECTED_ROW },
	{ "a_file_let_go_and_gone_everywhere", NULL,
	  "file a 100; image a 100; keep a; old 61; sweep; rm a; sweep; log;"
	  "open a",
	  EXPECTED_ROW },
	{ "a_file_gone_before_its_first_sample", NULL,
	  "file a 100; map a; rm a; image a 100; deleted a; log; open a;"
	  "sweep; log; open a",
	  EXPECTED_ROW },
	/* Whose samples they are may be gone at the next sweep. */
	{ "a_file_that_its_process_has", NULL,
	  "file a 100; file b 100; map a; map b; rm a; rm b; image a 100;"
	  "image b 100; deleted b; log; sampled a; log; sweep; log",
	  EXPECTED_ROW },
	/* All that are sought are found in one search. */
	{ "several_files_gone_before_their_first_samples", NULL,
	  "file a 100; file b 200; file c 300; map a; map b; image a 100;"
	  "image b 200; image c 300; keep b; old 61; sweep; rm a; rm b; rm c;"
	  "deleted a; deleted c; open a; sweep; open a; open b; open c",
	  EXPECTED_ROW },
	{ "another_file_of_that_name_is_mapped", NULL,
	  "file a 200; map a; rm a; image a 100; deleted a; sweep; log; open a",
	  EXPECTED_ROW },
	{ "a_deleted_file_is_not_that_of_its_path", NULL,
	  "file a 100; map a; rm a; file a 100; size a 3; image a 100;"
	  "deleted a; sweep; log; rm a; open a",
	  EXPECTED_ROW },
	{ "a_file_that_is_handed_over", NULL,
	  "file a 100; image a 100; hand a; held; log; open a", EXPECTED_ROW },
	{ "a_file_without_a_time_is_given", NULL,
	  "file a 200; image a 0; give a; held; log; open a", EXPECTED_ROW },
	{ "another_file_is_handed_over", NULL,
	  "file a 200; image a 100; hand a; held; log; open a", EXPECTED_ROW },
	/* One was caught, which does for all of its build. */
	{ "copies_of_a_program", NULL,
	  "program a; program b; program c; rm a; deleted a; links; hand b;"
	  "links; rm c; keep c; links; log; deleted a; held; sweep; links; log",
	  EXPECTED_ROW },
	{ "one_that_stays_does_for_the_others", NULL,
	  "program a; program b; keep a; rm b; keep b; links; held; rm a; sweep;"
	  "links; held",
	  EXPECTED_ROW },
	{ "a_file_that_may_hang", NULL,
	  "file a 100; image a 100; shut a; keep a; held; open a; rm a; sweep;"
	  "log",
	  EXPECTED_ROW },
	/* Users whom nobody knows have a share together, the others have room.
	 */
	{ "a_share_of_copies", NULL,
	  "file a 100\nfile b 100\nfile c 100\nshares copies 40\n"
	  "image a 100\nimage b 100\nimage c 100\n"
	  "hand a\nhand b\ngive c\nrm c\nsweep\nlog",
	  EXPECTED_ROW },
	{ "a_share_of_the_log", NULL,
	  "file a 100\nfile b 100\nfile c 100\nshares lines 4\n"
	  "image a 100\nimage b 100\nimage c 100\n"
	  "hand a\nhand b\ngive c\nrm c\nsweep\nlog",
	  EXPECTED_ROW },
	/* Nobody looks whether it is gone. */
	{ "files_on_network_file_systems", NULL,
	  "file a 100; image a 100; fs 0x6969; keep a; held; rm a; sweep; log;"
	  "file b 100; image b 100; fs 0x517b; give b; held; rm b; sweep; log;"
	  "file c 100; image c 100; fs 0xff534d42; keep c; held;"
	  "file d 100; image d 100; fs 0xfe534d42; keep d; held",
	  EXPECTED_ROW },
	{ "files_on_ceph_and_others", NULL,
	  "file a 100; image a 100; fs 0x00c36400; keep a; held;"
	  "file b 100; image b 100; fs 0xef53; keep b; held",
	  EXPECTED_ROW },
	/* Nor is it opened for another file of its build that is gone. */
	{ "one_on_a_network_does_not_help", NULL,
	  "program a; program b; fs 0x6969; keep a; fs 0; rm b; keep b; sweep;"
	  "links; held",
	  EXPECTED_ROW },
	{ "one_that_is_shut_does_not_help", NULL,
	  "program a; program b; shut a; keep a; rm b; keep b; sweep; links",
	  EXPECTED_ROW },
	/* ---- limits ---- */
	{ "few_may_be_held", NULL,
	  "file a 100; file b 100; image a 100; image b 100; most 1; keep a;"
	  "keep b; held; rm a; rm b; sweep; log",
	  EXPECTED_ROW },
	{ "a_large_file", NULL,
	  "file a 100; size a 268435456; image a 100; keep a; rm a; copied 768;"
	  "sweep; log",
	  EXPECTED_ROW },
	{ "a_file_that_is_too_large", NULL,
	  "file a 100; size a 268435457; image a 100; keep a; rm a; sweep; log;"
	  "open a",
	  EXPECTED_ROW },
	{ "too_much_in_all", NULL,
	  "file a 100; size a 1048577; image a 100; keep a; rm a; copied 1023;"
	  "sweep; log",
	  EXPECTED_ROW },
	{ "a_second_copy_is_the_first", NULL,
	  "file a 100; image a 100; keep a; rm a; sweep; log; copied 5;"
	  "file a 100; keep a; rm a; sweep; log",
	  EXPECTED_ROW },
};

TEST_ROWS(test_row, rows)
{
	const struct row *row = *state;

	if (strstr(row->script, "map ") && !may_open_mapped()) {
		print_message("# %s needs CAP_CHECKPOINT_RESTORE\n", row->name);
		skip();
	}
	check_row(row, run_keep);
}

/* A quarter of what may be open, and no more than there is room for. */
TEST(test_limits)
{
	struct opd_deleted_images images;

	opd_deleted_images_init(&images, NULL, NULL, NULL, false,
				RLIM_INFINITY);
	assert_int_equal(images.max_open, OPD_DELETED_MAX);
	opd_deleted_images_release(&images);
	opd_deleted_images_init(&images, NULL, NULL, NULL, false,
				4 * OPD_DELETED_MAX);
	assert_int_equal(images.max_open, OPD_DELETED_MAX);
	opd_deleted_images_release(&images);
	opd_deleted_images_init(&images, NULL, NULL, NULL, false,
				4 * OPD_DELETED_MAX - 1);
	assert_int_equal(images.max_open, OPD_DELETED_MAX - 1);
	opd_deleted_images_release(&images);
	opd_deleted_images_init(&images, NULL, NULL, NULL, false, 7);
	assert_int_equal(images.max_open, 1);
	opd_deleted_images_release(&images);
}

/* Names without end: no more are kept than images have names. */
TEST(test_too_many)
{
	char name[32];
	struct opd_binary binary = { .name = name, .mtime = 1 };
	struct fixture *f = new_replay();
	struct opd_deleted_images *keep = &f->opd.deleted_images;

	init_keep(&f->opd, false, 1000000);
	for (size_t i = 0; i <= OPD_IMAGES_MAX; i++) {
		snprintf(name, sizeof(name), "/nonexistent/%zu", i);
		opd_deleted_images_shut(keep, &binary);
	}
	assert_int_equal(keep->nr, OPD_IMAGES_MAX);
	opd_deleted_images_binary(keep, &binary, 0, true, -1);
	assert_int_equal(keep->nr, OPD_IMAGES_MAX);
	/* Long names. */
	init_keep(&f->opd, false, 1000000);
	keep->names_len = OPD_IMAGE_NAMES_MAX - strlen(binary.name) - 1;
	opd_deleted_images_binary(keep, &binary, 0, true, -1);
	assert_int_equal(keep->nr, 1);
	assert_int_equal(keep->names_len, OPD_IMAGE_NAMES_MAX);
	binary.name = "/";
	opd_deleted_images_binary(keep, &binary, 0, true, open("/", O_PATH));
	assert_int_equal(keep->nr, 1);
	free_fixture(f);
}

/* Names without a path are nobody's file. */
TEST(test_no_files)
{
	struct fixture *f = new_replay();
	struct opd_binary binary = { .name = "[vdso]", .mtime = 1 };

	init_keep(&f->opd, false, 1000);
	opd_deleted_images_binary(&f->opd.deleted_images, &binary, 0, false,
				  -1);
	assert_int_equal(opd_deleted_images_open(&f->opd.deleted_images,
						 &binary, 0),
			 -ENOENT);
	assert_int_equal(f->opd.deleted_images.nr, 0);
	free_fixture(f);
}

/* A process whose root is @dir, of @user; 0 if we may start none. */
static pid_t start_in(const char *dir, uid_t user)
{
	int fds[2];
	pid_t pid;
	char byte;
	ssize_t got;

	assert_int_equal(pipe(fds), 0);
	pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (chroot(dir) || setresuid(user, user, user) ||
		    write(fds[1], "", 1) != 1)
			_exit(1);
		pause();
		_exit(0);
	}
	close(fds[1]);
	got = read(fds[0], &byte, 1);
	close(fds[0]);
	if (got == 1)
		return pid;
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	return 0;
}

/* A path is that of a process, which may have another root. */
TEST(test_path_of_a_process)
{
	struct rig rig = { .f = new_replay() };
	struct opd_deleted_images *keep = &rig.f->opd.deleted_images;
	struct opd_binary binary = { .name = "/a-program" }, other;
	const struct opd_binary text = { .name = "/a-text", .mtime = 100 };
	char path[256], link[256];
	pid_t pid;
	int fd;

	init_keep(&rig.f->opd, false, 1000000);
	path_of(&rig, "a-program", path, sizeof(path));
	make_elf(path, 1);
	other = binary;
	binary.build_id = build_of(1, 20);
	other.build_id = build_of(2, 20);
	pid = start_in(rig.f->dir, getuid());
	if (!pid) {
		free_fixture(rig.f);
		print_message("# needs CAP_SYS_CHROOT\n");
		skip();
		return;
	}
	assert_int_equal(opd_deleted_images_open(keep, &binary, 0), -ENOENT);
	assert_int_equal(opd_deleted_images_open(keep, &binary,
						 (uint32_t)getpid()),
			 -ENOENT);
	assert_int_equal(opd_deleted_images_open(keep, &other, (uint32_t)pid),
			 -ENOENT);
	fd = opd_deleted_images_open(keep, &binary, (uint32_t)pid);
	assert_true(fd >= 0);
	close(fd);
	opd_deleted_images_binary(keep, &other, (uint32_t)pid, false, -1);
	assert_int_equal(keep->nr_open, 0);
	/* What the process may have mounted there has any time. */
	make(&rig, "a-text", 100);
	opd_deleted_images_binary(keep, &text, (uint32_t)pid, false, -1);
	assert_int_equal(keep->nr_open, 0);
	path_of(&rig, "a-link", link, sizeof(link));
	assert_int_equal(symlink("/a-program", link), 0);
	other = binary;
	other.name = "/a-link";
	assert_int_equal(opd_deleted_images_open(keep, &other, (uint32_t)pid),
			 -ENOENT);
	/* It is not there by its path, so there is a copy from then on. */
	opd_deleted_images_binary(keep, &binary, (uint32_t)pid, false, -1);
	assert_int_equal(keep->nr_open, 1);
	opd_deleted_images_sweep(keep);
	assert_int_equal(keep->nr_open, 0);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	assert_int_equal(unlink(path), 0);
	fd = opd_deleted_images_open(keep, &binary, 0);
	assert_true(fd >= 0);
	close(fd);
	free_fixture(rig.f);
}

/* What is held open is no more than a share of its user. */
TEST(test_share_of_open_files)
{
	struct rig rig = { .f = new_replay() };
	struct opd_deleted_images *keep = &rig.f->opd.deleted_images;
	static const char *const names[] = { "a", "b", "c", "d" };
	pid_t pid = start_in("/", 4000001);

	if (!pid) {
		free_fixture(rig.f);
		print_message("# needs CAP_SETUID\n");
		skip();
		return;
	}
	init_keep(&rig.f->opd, true, 1000000);
	keep->open_shares.size = 8;
	for (size_t i = 0; i < NR(names); i++) {
		make(&rig, names[i], 100);
		opd_deleted_images_binary(keep, binary_of(&rig, names[i], 100),
					  i < 3 ? (uint32_t)pid : 0, false, -1);
	}
	assert_true(keep->kept[1].fd >= 0);
	assert_int_equal(keep->kept[2].fd, -1);
	assert_true(keep->kept[3].fd >= 0);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	free_fixture(rig.f);
}

/* A file without build-id and time may be any. */
TEST(test_not_to_be_told)
{
	struct rig rig = { .f = new_replay() };
	struct opd_deleted_images *keep = &rig.f->opd.deleted_images;
	struct opd_binary binary = { .name = NULL };
	char path[256];
	int fd;

	init_keep(&rig.f->opd, false, 1000000);
	make(&rig, "a", 100);
	path_of(&rig, "a", path, sizeof(path));
	binary.name = path;
	assert_int_equal(opd_deleted_images_open(keep, &binary, 0), -ENOENT);
	binary.mtime = 99;
	assert_int_equal(opd_deleted_images_open(keep, &binary, 0), -ENOENT);
	binary.mtime = 100;
	fd = opd_deleted_images_open(keep, &binary, 0);
	assert_true(fd >= 0);
	assert_int_equal(close(fd), 0);
	binary.build_id = build_of(1, 20);
	assert_int_equal(opd_deleted_images_open(keep, &binary, 0), -ENOENT);
	assert_int_equal(keep->nr, 0);
	free_fixture(rig.f);
}

/* It is remembered once, by name and build, or time where there is no build. */
TEST(test_same_binary)
{
	const struct opd_binary binaries[] = {
		{ .name = "/nonexistent/a", .mtime = 1 },
		{ .name = "/nonexistent/a", .mtime = 2 },
		{ .name = "/nonexistent/b", .mtime = 1 },
		{ .name = "/nonexistent/a",
		  .mtime = 1,
		  .build_id = build_of(1, 20) },
		{ .name = "/nonexistent/a",
		  .mtime = 1,
		  .build_id = build_of(2, 20) },
	};
	struct opd_binary later = binaries[3];
	struct fixture *f = new_replay();

	init_keep(&f->opd, false, 1000000);
	for (int round = 0; round < 2; round++)
		for (size_t i = 0; i < NR(binaries); i++)
			opd_deleted_images_binary(&f->opd.deleted_images,
						  &binaries[i], 0, true, -1);
	assert_int_equal(f->opd.deleted_images.nr, NR(binaries));
	later.mtime = 5;
	opd_deleted_images_shut(&f->opd.deleted_images, &later);
	assert_int_equal(f->opd.deleted_images.nr, NR(binaries));
	assert_false(f->opd.deleted_images.kept[3].shut);
	later.build_id = build_of(3, 20);
	opd_deleted_images_shut(&f->opd.deleted_images, &later);
	assert_int_equal(f->opd.deleted_images.nr, NR(binaries) + 1);
	assert_true(f->opd.deleted_images.kept[NR(binaries)].shut);
	assert_true(f->opd.deleted_images.kept[NR(binaries)].done);
	free_fixture(f);
}

/* Programs of one build-id and other code: each has a copy, and is opened as
 * what it is. */
TEST(test_other_code)
{
	struct opd_binary one = { 0 }, two = { 0 }, unknown;
	struct fixture *f = new_replay();
	struct opd_deleted_images *keep = &f->opd.deleted_images;
	char path[128], new_path[160], copy[512];
	int fd;

	init_keep(&f->opd, false, 1000000);
	snprintf(path, sizeof(path), "%s/app", f->dir);
	snprintf(new_path, sizeof(new_path), "%s.new", path);
	make_elf_with_code(path, 1, 11);
	one.name = two.name = path;
	one.build_id = build_at(path);
	opd_deleted_images_binary(keep, &one, 0, false, -1);
	make_elf_with_code(new_path, 1, 22);
	two.build_id = build_at(new_path);
	assert_int_equal(rename(new_path, path), 0);
	opd_deleted_images_binary(keep, &two, 0, false, -1);
	assert_int_equal(keep->nr, 2);
	assert_int_equal(unlink(path), 0);
	opd_deleted_images_sweep(keep);
	for (int i = 0; i < 2; i++) {
		const struct opd_binary *binary = i ? &two : &one;
		struct op_build_id id;

		op_session_image(&f->opd.session, path, &binary->build_id, 0,
				 copy, sizeof(copy));
		id = build_at(copy);
		assert_true(op_build_id_agrees(&id, &binary->build_id));
	}
	/* What is at the path is not the one that is gone. */
	opd_deleted_images_release(keep);
	init_keep(&f->opd, false, 1000000);
	make_elf_with_code(path, 1, 33);
	fd = opd_deleted_images_open(keep, &one, 0);
	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(unlink(copy), 0);
	assert_int_equal(opd_deleted_images_open(keep, &two, 0), -ENOENT);
	/* Unless nothing is known of it. */
	unknown = two;
	op_build_id_set_fingerprint(&unknown.build_id, 0);
	fd = opd_deleted_images_open(keep, &unknown, 0);
	assert_true(fd >= 0);
	close(fd);
	free_fixture(f);
}

/* What is tried for one does not grow with their number. */
TEST(test_many_names_of_a_build)
{
	struct fixture *f = new_replay();
	struct opd_binary binary = { .build_id = build_of(1, 20) };
	char name[64];

	init_keep(&f->opd, false, 1000000);
	binary.name = name;
	for (int i = 0; i < 1000; i++) {
		snprintf(name, sizeof(name), "/nonexistent/%d", i);
		nr_paths_tried = 0;
		opd_deleted_images_binary(&f->opd.deleted_images, &binary, 0,
					  true, -1);
		if (i == 10)
			assert_int_equal(nr_paths_tried, 10);
	}
	assert_in_range(nr_paths_tried, 10, 100);
	free_fixture(f);
}
