// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Files of programs from fanotify: which file systems are asked for, and what
 * becomes of events. The kernel's part is the test's: its queue is a pipe.
 */

#include "daemon/source/perf/opd_perf_execs.h"
#include "daemon/source/perf/opd_perf_files.h"
#include "tests/unit/no_stdin.h"
#include "tests/unit/op_fixture.h"

#include <dlfcn.h>
#include <poll.h>
#include <stdbool.h>
#include <sys/fanotify.h>
#include <sys/stat.h>

#define MOUNTS "/proc/self/mountinfo"

static struct kernel {
	const char *mounts; /* NULL: this kernel is not there */
	bool refuses;
	bool mounts_changed;
	int queue[2]; /* a pipe */
	char marked[512]; /* mount points, one on a line */
	bool has_no_end; /* the queue: one event at a time */
	int nr_reads;
} kernel;

/* ---- in place of the C library's --------------------------------------------
 */

#define REAL(name) ((__typeof__(&(name)))dlsym(RTLD_NEXT, #name))
#define INSTEAD_OF(name) __asm__(#name)

int kernel_fanotify_init(unsigned int flags, unsigned int event_f_flags)
	INSTEAD_OF(fanotify_init);
int kernel_fanotify_mark(int fd, unsigned int flags, uint64_t mask, int dir,
			 const char *path) INSTEAD_OF(fanotify_mark);
FILE *kernel_fopen(const char *path, const char *mode) INSTEAD_OF(fopen64);
int kernel_poll(struct pollfd *fds, nfds_t nr, int ms) INSTEAD_OF(poll);
ssize_t kernel_read(int fd, void *buf, size_t len) INSTEAD_OF(read);

int kernel_fanotify_init(unsigned int flags, unsigned int event_f_flags)
{
	/* Nobody waits for us, nor do we for events. */
	assert_int_equal(flags, FAN_CLASS_NOTIF | FAN_CLOEXEC | FAN_NONBLOCK);
	assert_int_equal(event_f_flags & (O_ACCMODE | O_CLOEXEC | O_NONBLOCK),
			 O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (kernel.refuses) {
		errno = EPERM;
		return -1;
	}
	assert_int_equal(pipe2(kernel.queue, O_CLOEXEC | O_NONBLOCK), 0);
	return kernel.queue[0];
}

int kernel_fanotify_mark(int fd, unsigned int flags, uint64_t mask, int dir,
			 const char *path)
{
	assert_int_equal(fd, kernel.queue[0]);
	assert_int_equal(flags, FAN_MARK_ADD | FAN_MARK_FILESYSTEM);
	assert_int_equal(mask, FAN_OPEN_EXEC);
	assert_int_equal(dir, AT_FDCWD);
	strcat(strcat(kernel.marked, path), "\n");
	return 0;
}

FILE *kernel_fopen(const char *path, const char *mode)
{
	if (!kernel.mounts || strcmp(path, MOUNTS) != 0)
		return REAL(fopen64)(path, mode);
	return fmemopen((void *)kernel.mounts, strlen(kernel.mounts), "r");
}

int kernel_poll(struct pollfd *fds, nfds_t nr, int ms)
{
	if (!kernel.mounts)
		return REAL(poll)(fds, nr, ms);
	assert_int_equal(nr, 1);
	assert_int_equal(ms, 0);
	assert_int_equal(fds->events, POLLPRI);
	return kernel.mounts_changed;
}

static struct fanotify_event_metadata event_of(int fd)
{
	return (struct fanotify_event_metadata){
		.event_len = sizeof(struct fanotify_event_metadata),
		.vers = FANOTIFY_METADATA_VERSION,
		.metadata_len = sizeof(struct fanotify_event_metadata),
		.mask = FAN_OPEN_EXEC,
		.fd = fd,
	};
}

ssize_t kernel_read(int fd, void *buf, size_t len)
{
	const struct fanotify_event_metadata event = event_of(FAN_NOFD);

	if (!kernel.mounts || fd != kernel.queue[0])
		return REAL(read)(fd, buf, len);
	kernel.nr_reads++;
	if (!kernel.has_no_end)
		return REAL(read)(fd, buf, len);
	memcpy(buf, &event, sizeof(event));
	return sizeof(event);
}

/* ---- the kernel -------------------------------------------------------------
 */

static void begin(struct opd_perf_execs *execs, const char *mounts)
{
	memset(&kernel, 0, sizeof(kernel));
	kernel.mounts = mounts;
	close_stdin();
	assert_int_equal(opd_perf_execs_open(execs), 0);
}

static void end(struct opd_perf_execs *execs)
{
	int mounts = execs->mounts_fd;

	opd_perf_execs_close(execs);
	assert_int_equal(execs->fd, -1);
	assert_int_equal(execs->mounts_fd, -1);
	assert_int_equal(fcntl(kernel.queue[0], F_GETFD), -1);
	assert_int_equal(fcntl(mounts, F_GETFD), -1);
	opd_perf_execs_close(execs);
	close(kernel.queue[1]);
	kernel.mounts = NULL;
	reopen_stdin();
}

static void tell(const struct fanotify_event_metadata *events, size_t nr)
{
	assert_int_equal(write(kernel.queue[1], events, nr * sizeof(*events)),
			 nr * sizeof(*events));
}

/* A file of its own. */
static int new_file(void)
{
	char path[] = "/tmp/opd-execs-XXXXXX";
	int fd = mkostemp(path, O_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(unlink(path), 0);
	return fd;
}

/* ---- tests ------------------------------------------------------------------
 */

/* Whether a line of mountinfo is of a file system that programs are on. */
TEST(test_mounts)
{
	static const struct {
		const char *line;
		const char *marked;
	} rows[] = {
		{ "1 2 8:1 / /a rw shared:1 - ext4 /dev/sda1 rw", "/a\n" },
		{ "1 2 8:1 / /a rw - xfs /dev/sda1", "/a\n" },
		{ "1 2 8:1 /sub /a rw a:1 b:2 - ext4 /dev/x rw", "/a\n" },
		{ "1 2 0:1 / / rw - btrfs x rw", "/\n" },
		{ "1 2 0:1 / / rw - overlay overlay rw", "/\n" },
		{ "1 2 0:1 / / rw - ramfs none rw", "/\n" },
		{ "1 2 0:1 / / rw - tmpfs none rw", "/\n" },
		{ "1 2 0:1 / / rw - zfs pool rw", "/\n" },
		{ "1 2 0:1 / / rw - 9p share rw", "/\n" },
		{ "1 2 0:1 / / rw - virtiofs share rw", "/\n" },
		/* Of the network, of a process, or none at all. */
		{ "1 2 0:1 / /n rw - nfs4 host:/x rw", "" },
		{ "1 2 0:1 / /n rw - ext4 /devil/x rw", "" },
		{ "1 2 0:1 / /n rw - fuse /dev/fuse rw", "" },
		{ "1 2 0:1 / /n rw - fuseblk /dev/sda1 rw", "" },
		{ "1 2 0:1 / /n rw - fuse.sshfs x:y rw", "" },
		{ "1 2 0:1 / /n rw - autofs /dev/x rw", "" },
		{ "1 2 0:1 / /p rw - proc proc rw", "" },
		{ "1 2 0:1 / /n rw - tmpfsx none rw", "" },
		/* Special characters are octal numbers. */
		{ "1 2 8:1 / /a\\040b\\134c rw - ext4 /dev/x rw", "/a b\\c\n" },
		{ "1 2 8:1 / /a\\011 rw - ext4 /dev/x rw", "/a\t\n" },
		{ "1 2 8:1 / /a\\04 rw - ext4 /dev/x rw", "/a\\04\n" },
		{ "1 2 8:1 / /a\\x401 rw - ext4 /dev/x rw", "/a\\x401\n" },
		/* Lines that are no mounts. */
		{ "", "" },
		{ "1 2 8:1 / /a rw ext4 /dev/x rw", "" },
		{ "1 2 8:1 / - ext4 /dev/x rw", "" },
		{ "1 2 8:1 / /a rw - ext4", "" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct opd_perf_execs execs;
		char text[256], want[64];

		/* The next line counts whatever this one is. */
		snprintf(text, sizeof(text),
			 "%s\n1 2 0:1 / /end rw - tmpfs x rw\n", rows[i].line);
		snprintf(want, sizeof(want), "%s/end\n", rows[i].marked);
		begin(&execs, text);
		assert_string_equal(kernel.marked, want);
		end(&execs);
	}
}

TEST(test_changed_mounts)
{
	struct opd_perf_execs execs;

	begin(&execs, "1 2 0:1 / /a rw - tmpfs x rw\n");
	kernel.mounts = "1 2 0:1 / /b rw - tmpfs x rw\n";
	opd_perf_execs_read_mounts(&execs);
	assert_string_equal(kernel.marked, "/a\n");
	kernel.mounts_changed = true;
	opd_perf_execs_read_mounts(&execs);
	assert_string_equal(kernel.marked, "/a\n/b\n");
	end(&execs);
	/* Of who has none nothing changes. */
	kernel.mounts = "1 2 0:1 / /c rw - tmpfs x rw\n";
	opd_perf_execs_read_mounts(&execs);
	assert_string_equal(kernel.marked, "/a\n/b\n");
	kernel.mounts = NULL;
}

TEST(test_refused)
{
	struct opd_perf_files files = { .max = OPD_PERF_FILES_MAX };
	struct opd_perf_execs execs = {
		.fd = 77, .mounts_fd = 78, .nr_files = 1, .nr_overflows = 1
	};

	memset(&kernel, 0, sizeof(kernel));
	kernel.mounts = "1 2 0:1 / /a rw - tmpfs x rw\n";
	kernel.refuses = true;
	assert_int_equal(opd_perf_execs_open(&execs), -EPERM);
	assert_int_equal(execs.fd, -1);
	assert_int_equal(execs.mounts_fd, -1);
	assert_int_equal(execs.nr_files, 0);
	assert_int_equal(execs.nr_overflows, 0);
	assert_string_equal(kernel.marked, "");
	opd_perf_execs_read(&execs, &files);
	opd_perf_execs_close(&execs);
	kernel.mounts = NULL;
}

TEST(test_events)
{
	struct opd_perf_files files = { .max = OPD_PERF_FILES_MAX };
	struct fanotify_event_metadata events[3];
	struct opd_perf_execs execs;
	int a, b;

	begin(&execs, "x\n");
	opd_perf_execs_read(&execs, &files);
	assert_int_equal(execs.nr_files, 0);
	a = new_file();
	b = new_file();
	events[0] = event_of(a);
	events[1] = event_of(FAN_NOFD);
	events[1].mask = FAN_Q_OVERFLOW;
	events[2] = event_of(b);
	tell(events, 3);
	opd_perf_execs_read(&execs, &files);
	assert_int_equal(execs.nr_files, 2);
	assert_int_equal(execs.nr_overflows, 1);
	assert_int_equal(files.nr, 2);
	assert_int_equal(files.file[0].fd, a);
	assert_int_equal(files.file[1].fd, b);
	/* All that there is, and no more is read twice. */
	kernel.nr_reads = 0;
	opd_perf_execs_read(&execs, &files);
	assert_int_equal(kernel.nr_reads, 1);
	assert_int_equal(execs.nr_files, 2);
	/* An event of a form that is not known. */
	events[0] = event_of(new_file());
	events[0].vers++;
	tell(events, 1);
	opd_perf_execs_read(&execs, &files);
	assert_int_equal(execs.nr_files, 2);
	close(events[0].fd);
	opd_perf_files_release(&files);
	end(&execs);
}

/* Descriptor 0 is one as good as any. */
TEST(test_event_of_descriptor_0)
{
	struct opd_perf_files files = { .max = OPD_PERF_FILES_MAX };
	struct fanotify_event_metadata event;
	struct opd_perf_execs execs;
	int other;

	begin(&execs, "x\n");
	assert_int_equal(execs.fd, 0);
	other = fcntl(execs.fd, F_DUPFD_CLOEXEC, 3);
	close(execs.fd);
	event = event_of(new_file());
	assert_int_equal(event.fd, 0);
	kernel.queue[0] = execs.fd = other;
	tell(&event, 1);
	opd_perf_execs_read(&execs, &files);
	assert_int_equal(execs.nr_files, 1);
	assert_int_equal(files.nr, 1);
	opd_perf_files_release(&files);
	end(&execs);
}

/* Who executes without end does not keep us from other things. */
TEST(test_many_events)
{
	struct opd_perf_files files = { .max = OPD_PERF_FILES_MAX };
	struct opd_perf_execs execs;

	begin(&execs, "x\n");
	kernel.has_no_end = true;
	opd_perf_execs_read(&execs, &files);
	assert_int_equal(kernel.nr_reads, 256);
	end(&execs);
}
