// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Code in files that do not let themselves be read. Each way prints "burning"
 * when the code is mapped and then runs it for SECONDS of CPU time:
 *
 *	hangfile packet SECONDS		in the ring of a packet socket, for any
 *					user: a read waits for packets for ever.
 *					Linux from 6.17 on runs no code there:
 *					exit status 77
 *	hangfile fuse SECONDS DIR	in DIR/code, a FUSE file whose process
 *					takes all questions and answers none
 *	hangfile stack SECONDS DIR	on a stack in such a file, of which the
 *					page above has never been read
 *	hangfile fanotify SECONDS FILE	in FILE, which it makes: opening it
 *					waits for a listener that never answers
 *	hangfile many NR DIR		calls nothing, but has on its stack the
 *					addresses of NR files DIR/N, a hundred
 *					at a time
 */

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/fuse.h>
#include <linux/if_packet.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fanotify.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include "tests/helper/burn.h"

#define PAGE 4096
#define STACK_PAGES 4
#define GROUP 100 /* addresses on the stack at a time */
#define GROUP_NS 20000000

BURN_FUNCTION(burn_below)

/* Counts its argument down to 0. */
static const unsigned char code[] = {
#if defined(__x86_64__)
	0xff, 0xcf, /* dec %edi */
	0x75, 0xfc, /* jne, 4 bytes back */
	0xc3, /* ret */
#elif defined(__aarch64__)
	0x00, 0x04, 0x00, 0x71, /* subs w0, w0, #1 */
	0xe1, 0xff, 0xff, 0x54, /* b.ne, 4 bytes back */
	0xc0, 0x03, 0x5f, 0xd6, /* ret */
#endif
};

static void burn_in(const void *at, double seconds)
{
	void (*run)(unsigned int);
	uint64_t end = burn_clock() + (uint64_t)(seconds * 1e9);

	memcpy(&run, &at, sizeof(run));
	puts("burning");
	fflush(stdout);
	while (burn_clock() < end)
		run(1000000);
}

static void *map_code(int fd, int prot, int flags)
{
	void *at = mmap(NULL, PAGE, prot, flags, fd, 0);

	if (at == MAP_FAILED)
		err(errno == EPERM ? 77 : 2, "mmap");
	return at;
}

static void make_file(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0755);

	if (fd < 0 || ftruncate(fd, PAGE) ||
	    pwrite(fd, code, sizeof(code), 0) != (ssize_t)sizeof(code))
		err(2, "%s", path);
	close(fd);
}

static void *map_file(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	void *at;

	if (fd < 0)
		err(2, "%s", path);
	at = map_code(fd, PROT_READ | PROT_EXEC, MAP_PRIVATE);
	close(fd);
	return at;
}

/* ---- packet ----------------------------------------------------------------
 */

static void burn_packet(double seconds)
{
	struct tpacket_req ring = { .tp_block_size = PAGE,
				    .tp_block_nr = 1,
				    .tp_frame_size = PAGE / 2,
				    .tp_frame_nr = 2 };
	unsigned char *at;
	int fd;

	if (unshare(CLONE_NEWUSER | CLONE_NEWNET))
		err(2, "unshare");
	fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
	if (fd < 0 ||
	    setsockopt(fd, SOL_PACKET, PACKET_RX_RING, &ring, sizeof(ring)))
		err(2, "packet socket");
	at = map_code(fd, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_SHARED);
	memcpy(at + 256, code, sizeof(code));
	__builtin___clear_cache((char *)at + 256, (char *)at + 512);
	burn_in(at + 256, seconds);
}

/* ---- FUSE ------------------------------------------------------------------
 */

#define FILE_NODE 2

static uint64_t file_size = PAGE;

static void answer(int fd, const struct fuse_in_header *in, int error,
		   const void *data, size_t len)
{
	char buf[2 * PAGE];
	struct fuse_out_header out = { .len = (uint32_t)(sizeof(out) + len),
				       .error = error,
				       .unique = in->unique };

	memcpy(buf, &out, sizeof(out));
	if (len)
		memcpy(buf + sizeof(out), data, len);
	if (write(fd, buf, out.len) < 0)
		err(2, "answer to FUSE request %u", in->opcode);
}

static struct fuse_attr attr_of(uint64_t node)
{
	return (struct fuse_attr){
		.ino = node,
		.mode = node == FILE_NODE ? S_IFREG | 0755 : S_IFDIR | 0755,
		.size = file_size,
		.nlink = 1,
		.mtime = 1000000000,
	};
}

static void serve_request(int fd, const struct fuse_in_header *in)
{
	struct fuse_init_out init = { .major = FUSE_KERNEL_VERSION,
				      .minor = 26,
				      .max_write = PAGE };
	struct fuse_entry_out entry = { .nodeid = FILE_NODE,
					.attr = attr_of(FILE_NODE) };
	struct fuse_attr_out attr = { .attr = attr_of(in->nodeid) };
	struct fuse_open_out opened = { .open_flags = 0 };
	unsigned char page[PAGE] = { 0 };

	memcpy(page, code, sizeof(code));
	switch (in->opcode) {
	case FUSE_INIT:
		answer(fd, in, 0, &init, sizeof(init));
		break;
	case FUSE_LOOKUP:
		answer(fd, in, 0, &entry, sizeof(entry));
		break;
	case FUSE_GETATTR:
		answer(fd, in, 0, &attr, sizeof(attr));
		break;
	case FUSE_OPEN:
		answer(fd, in, 0, &opened, sizeof(opened));
		break;
	case FUSE_READ:
		answer(fd, in, 0, page, sizeof(page));
		break;
	case FUSE_FORGET:
	case FUSE_BATCH_FORGET:
		break;
	default:
		answer(fd, in, -ENOSYS, NULL, 0);
	}
}

/* Until the code is mapped questions have answers. */
static void serve_fuse(int fd, const int *is_mapped)
{
	union {
		struct fuse_in_header head;
		char room[64 * 1024];
	} in;

	while (read(fd, &in, sizeof(in)) > 0)
		if (!__atomic_load_n(is_mapped, __ATOMIC_ACQUIRE))
			serve_request(fd, &in.head);
}

/* Mount it at @dir. Returns its process, which looks at *@is_mapped. */
static pid_t start_fuse(const char *dir, const int *is_mapped)
{
	int fd = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	char text[256];
	pid_t pid;

	snprintf(text, sizeof(text),
		 "fd=%d,rootmode=40755,user_id=0,group_id=0,allow_other", fd);
	if (fd < 0 || mount("fuse", dir, "fuse", MS_NODEV | MS_NOSUID, text))
		err(2, "mount FUSE at %s", dir);
	pid = fork();
	if (pid == 0) {
		serve_fuse(fd, is_mapped);
		_exit(0);
	}
	close(fd);
	return pid;
}

static void *map_code_once(const char *path)
{
	void *at = map_file(path);

	if (mlock(at, PAGE))
		err(2, "mlock");
	return at;
}

/*
 * The pages of the stack are private by being written to. One page is read at
 * a time, so none of the page above them.
 */
static void *map_stack(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	char *at = fd < 0 ? MAP_FAILED
			  : mmap(NULL, file_size, PROT_READ | PROT_WRITE,
				 MAP_PRIVATE, fd, 0);

	if (at == MAP_FAILED || madvise(at, file_size, MADV_RANDOM))
		err(2, "%s", path);
	close(fd);
	for (size_t i = 0; i < STACK_PAGES; i++)
		((volatile char *)at)[i * PAGE] = 1;
	return at;
}

static double stack_seconds;

static void burn_on_stack(void)
{
	uint64_t end = burn_clock() + (uint64_t)(stack_seconds * 1e9);

	puts("burning");
	fflush(stdout);
	while (burn_clock() < end)
		burn_below(1000000);
}

static void burn_on(void *stack, double seconds)
{
	ucontext_t own, other;

	stack_seconds = seconds;
	if (getcontext(&other))
		err(2, "getcontext");
	other.uc_stack.ss_sp = stack;
	other.uc_stack.ss_size = STACK_PAGES * PAGE;
	other.uc_link = &own;
	makecontext(&other, burn_on_stack, 0);
	if (swapcontext(&own, &other))
		err(2, "swapcontext");
}

static void burn_fuse(double seconds, const char *dir, bool is_stack)
{
	int *is_mapped = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
			      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	char path[PATH_MAX];
	pid_t pid;
	void *at;

	if (is_mapped == MAP_FAILED)
		err(2, "mmap");
	if (is_stack)
		file_size = (STACK_PAGES + 1) * PAGE;
	pid = start_fuse(dir, is_mapped);
	snprintf(path, sizeof(path), "%s/code", dir);
	at = is_stack ? map_stack(path) : map_code_once(path);
	__atomic_store_n(is_mapped, 1, __ATOMIC_RELEASE);
	if (is_stack)
		burn_on(at, seconds);
	else
		burn_in(at, seconds);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	umount2(dir, MNT_DETACH);
}

/* ---- fanotify --------------------------------------------------------------
 */

static void burn_fanotify(double seconds, const char *path)
{
	int fd = fanotify_init(FAN_CLASS_CONTENT | FAN_CLOEXEC, O_RDONLY);
	void *at;

	make_file(path);
	at = map_file(path);
	if (fd < 0 || mlock(at, PAGE) ||
	    fanotify_mark(fd, FAN_MARK_ADD, FAN_OPEN_PERM | FAN_ACCESS_PERM,
			  AT_FDCWD, path))
		err(2, "fanotify");
	burn_in(at, seconds);
}

/* ---- many ------------------------------------------------------------------
 */

/* Each of @group is on the stack while code runs that calls none of them. */
static void show_on_stack(void *const *group)
{
	void *volatile addresses[GROUP];
	uint64_t end = burn_clock() + GROUP_NS;

	for (unsigned int i = 0; i < GROUP; i++)
		addresses[i] = group[i];
	while (burn_clock() < end)
		burn_below(100000);
	if (!addresses[0])
		errx(2, "no mapping");
}

static void show_many(unsigned long nr, const char *dir)
{
	void **all = calloc(nr + GROUP, sizeof(*all));
	char path[PATH_MAX];

	if (!all)
		err(2, "%lu mappings", nr);
	for (unsigned long i = 0; i < nr; i++) {
		snprintf(path, sizeof(path), "%s/%lu", dir, i);
		make_file(path);
		all[i] = map_file(path);
	}
	for (unsigned long i = 0; i + GROUP <= nr; i += GROUP)
		show_on_stack(all + i);
	free(all);
}

int main(int argc, char **argv)
{
	double nr = argc > 2 ? atof(argv[2]) : 0;

	if (argc == 3 && !strcmp(argv[1], "packet"))
		burn_packet(nr);
	else if (argc == 4 && !strcmp(argv[1], "fuse"))
		burn_fuse(nr, argv[3], false);
	else if (argc == 4 && !strcmp(argv[1], "stack"))
		burn_fuse(nr, argv[3], true);
	else if (argc == 4 && !strcmp(argv[1], "fanotify"))
		burn_fanotify(nr, argv[3]);
	else if (argc == 4 && !strcmp(argv[1], "many"))
		show_many((unsigned long)nr, argv[3]);
	else
		errx(2,
		     "usage: hangfile packet|fuse|stack|fanotify|many NR [PATH]");
	return 0;
}
