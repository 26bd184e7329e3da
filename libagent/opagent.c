// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Each record is written by one call under a lock, so that a reader never sees
 * records of two threads mixed; a record that could not be written as a whole
 * is taken back. The first page of the file is mapped as code, because
 * profilers learn of the file by that mapping.
 *
 * After a fork the child shares the descriptor and the mapping of its parent.
 * The number of the process is compared before each record, rather than in a
 * handler of fork(2), since most children run another program at once. And the
 * lock has that number: what another thread of the parent held at the fork is
 * free to the child, where that thread is not.
 *
 * A jitdump has no record for code that is freed: it is moved to the address 0,
 * where no program has code.
 */

#include "libagent/opagent.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "libop/image/op_jitdump.h"

#if defined(__x86_64__)
#define MACHINE EM_X86_64
#elif defined(__aarch64__)
#define MACHINE EM_AARCH64
#elif defined(__i386__)
#define MACHINE EM_386
#else
#define MACHINE EM_NONE
#endif

#define MAX_RECORD (1u << 30) /* bytes; lengths have 32 bits */

struct op_agent {
	_Atomic(pid_t) holder; /* process that holds the lock of the rest; 0 */
	int fd;
	char *path; /* of the file of fd, absolute if JITDUMPDIR is */
	dev_t dev; /* likewise */
	ino_t ino;
	void *mapping; /* of the first page */
	pid_t pid; /* that the file is of */
	uint64_t nr_codes;
};

static uint64_t time_of_record(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* ---- the file ---------------------------------------------------------------
 */

static void close_dump(struct op_agent *agent)
{
	if (agent->mapping)
		munmap(agent->mapping, (size_t)sysconf(_SC_PAGESIZE));
	if (agent->fd >= 0)
		close(agent->fd);
	agent->mapping = NULL;
	agent->fd = -1;
}

/* A file that an earlier process of this number left is replaced; whoever else
 * has put something there keeps it, and has no dump written into it. */
static int create_dump_file(const char *path)
{
	const int flags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
	int fd = open(path, flags, 0600);

	if (fd < 0 && errno == EEXIST && !unlink(path))
		fd = open(path, flags, 0600);
	return fd;
}

static int write_dump_header(struct op_agent *agent)
{
	const struct op_jitdump_header header = {
		.magic = OP_JITDUMP_MAGIC,
		.version = OP_JITDUMP_VERSION,
		.size = sizeof(header),
		.machine = MACHINE,
		.pid = (uint32_t)agent->pid,
		.time = time_of_record(),
	};
	ssize_t done = write(agent->fd, &header, sizeof(header));

	if (done == sizeof(header))
		return 0;
	if (done >= 0)
		errno = ENOSPC;
	return -1;
}

static bool is_dump(const struct op_agent *agent, int fd)
{
	struct stat st;

	return !fstat(fd, &st) && st.st_dev == agent->dev &&
	       st.st_ino == agent->ino;
}

/* The program may have closed the descriptor: then its number is the program's.
 */
static void find_dump_again(struct op_agent *agent)
{
	if (agent->fd < 0 || is_dump(agent, agent->fd))
		return;
	agent->fd = open(agent->path, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
	if (agent->fd >= 0 && is_dump(agent, agent->fd) &&
	    lseek(agent->fd, 0, SEEK_END) >= 0)
		return;
	if (agent->fd >= 0)
		close(agent->fd);
	agent->fd = -1;
}

static int open_dump_in(struct op_agent *agent, const char *folder)
{
	char path[4096];
	void *mapping;
	struct stat st;
	int err;

	if (snprintf(path, sizeof(path), "%s/jit-%d.dump", folder,
		     (int)agent->pid) >= (int)sizeof(path)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	agent->fd = create_dump_file(path);
	if (agent->fd < 0)
		return -1;
	agent->path = strdup(path);
	if (agent->path && !fstat(agent->fd, &st) &&
	    !write_dump_header(agent)) {
		agent->dev = st.st_dev;
		agent->ino = st.st_ino;
		mapping =
			mmap(NULL, (size_t)sysconf(_SC_PAGESIZE),
			     PROT_READ | PROT_EXEC, MAP_PRIVATE, agent->fd, 0);
		if (mapping != MAP_FAILED) {
			agent->mapping = mapping;
			return 0;
		}
	}
	err = errno;
	close_dump(agent);
	unlink(path);
	errno = err;
	return -1;
}

static int open_dump(struct op_agent *agent)
{
	static const char *const folders[] = { "/tmp", "/var/tmp", "/dev/shm" };
	const char *wanted = getenv("JITDUMPDIR");
	int err = -1;

	agent->pid = getpid();
	agent->fd = -1;
	agent->mapping = NULL;
	agent->path = NULL;
	if (wanted && *wanted)
		return open_dump_in(agent, wanted);
	wanted = getenv("OPROFILE_DUMPS");
	if (wanted && *wanted)
		err = open_dump_in(agent, wanted);
	for (size_t i = 0; err && i < sizeof(folders) / sizeof(folders[0]); i++)
		err = open_dump_in(agent, folders[i]);
	return err;
}

op_agent_t op_open_agent(void)
{
	struct op_agent *agent = calloc(1, sizeof(*agent));

	if (!agent)
		return NULL;
	if (open_dump(agent)) {
		free(agent);
		return NULL;
	}
	return agent;
}

/* ---- records ----------------------------------------------------------------
 */

/* Write the parts of a record, of which the first has the prefix; there may be
 * another record behind it, which is written with it or not at all. */
static int write_record(struct op_agent *agent, struct iovec *parts, int nr)
{
	struct op_jitdump_prefix *prefix = parts[0].iov_base;
	off_t at = lseek(agent->fd, 0, SEEK_END);
	ssize_t done, len = 0;

	for (int i = 0; i < nr; i++)
		len += (ssize_t)parts[i].iov_len;
	prefix->time = time_of_record();
	do
		done = writev(agent->fd, parts, nr);
	while (done < 0 && errno == EINTR);
	if (done == len)
		return 0;
	/* The disk is full, or @code cannot be read. */
	if (done >= 0)
		errno = ENOSPC;
	if (done > 0 && at >= 0) {
		int err = errno;

		if (ftruncate(agent->fd, at) || lseek(agent->fd, at, SEEK_SET))
			errno = err;
		errno = err;
	}
	return -1;
}

/* Records are short, so whoever comes meanwhile lets others run. */
static void lock_agent(struct op_agent *agent)
{
	pid_t own = getpid(), holder = 0;

	while (!atomic_compare_exchange_weak(&agent->holder, &holder, own)) {
		if (holder != own)
			continue; /* free, or held at the fork */
		sched_yield();
		holder = 0;
	}
}

static void unlock_agent(struct op_agent *agent)
{
	atomic_store(&agent->holder, 0);
}

/* Lock the agent of this process; a child of fork(2) gets a dump of its own. */
static int begin_record(struct op_agent *agent)
{
	if (!agent) {
		errno = EINVAL;
		return -1;
	}
	lock_agent(agent);
	find_dump_again(agent);
	if (agent->pid != getpid()) {
		close_dump(agent);
		open_dump(agent);
	}
	if (agent->fd >= 0)
		return 0;
	unlock_agent(agent);
	errno = EBADF;
	return -1;
}

static int end_record(struct op_agent *agent, int result)
{
	unlock_agent(agent);
	return result;
}

int op_close_agent(op_agent_t agent)
{
	struct op_jitdump_prefix end = { OP_JITDUMP_CLOSE, sizeof(end), 0 };
	struct iovec part = { &end, sizeof(end) };
	int err;

	if (!agent) {
		errno = EINVAL;
		return -1;
	}
	/* A child that has told of nothing must not end its parent's dump. */
	find_dump_again(agent);
	err = agent->pid == getpid() ? write_record(agent, &part, 1) : 0;
	close_dump(agent);
	free(agent);
	return err;
}

int op_write_native_code_frames(op_agent_t agent, const char *symbol_name,
				uint64_t vma, const void *code,
				unsigned int size, const void *frames,
				size_t frames_len)
{
	struct op_jitdump_unwind unwind = { .prefix.id = OP_JITDUMP_UNWIND };
	struct op_jitdump_load load = {
		.prefix.id = OP_JITDUMP_LOAD,
		.vma = vma,
		.code_addr = vma,
		.code_size = size,
	};
	struct iovec parts[5] = { { &unwind, sizeof(unwind) },
				  { (void *)frames, frames_len },
				  { &load, sizeof(load) } };
	/* Data that unwind go before the code. */
	int first = frames_len ? 0 : 2;
	size_t name_len;

	if (!symbol_name || !*symbol_name || !size || (frames_len && !frames)) {
		errno = EINVAL;
		return -1;
	}
	name_len = strlen(symbol_name) + 1;
	if (name_len > MAX_RECORD || size > MAX_RECORD ||
	    frames_len > MAX_RECORD) {
		errno = EFBIG;
		return -1;
	}
	if (begin_record(agent))
		return -1;
	parts[3] = (struct iovec){ (void *)symbol_name, name_len };
	parts[4] = (struct iovec){ (void *)code, code ? size : 0 };
	unwind.prefix.size = (uint32_t)(sizeof(unwind) + frames_len);
	unwind.size = frames_len;
	load.prefix.size =
		(uint32_t)(sizeof(load) + name_len + parts[4].iov_len);
	load.prefix.time = time_of_record();
	load.pid = (uint32_t)agent->pid;
	load.tid = (uint32_t)syscall(SYS_gettid);
	load.code_index = ++agent->nr_codes;
	return end_record(agent, write_record(agent, parts + first, 5 - first));
}

int op_write_native_code(op_agent_t agent, const char *symbol_name,
			 uint64_t vma, const void *code, unsigned int size)
{
	return op_write_native_code_frames(agent, symbol_name, vma, code, size,
					   NULL, 0);
}

/* The bytes of @nr lines; @len is how many. NULL when memory is short. */
static uint8_t *pack_lines(const struct debug_line_info *map, size_t nr,
			   size_t *len)
{
	uint8_t *bytes, *at;

	*len = 0;
	for (size_t i = 0; i < nr && *len <= MAX_RECORD; i++)
		*len += 16 + strlen(map[i].filename ?: "") + 1;
	if (*len > MAX_RECORD) {
		errno = EFBIG;
		return NULL;
	}
	bytes = at = malloc(*len);
	for (size_t i = 0; bytes && i < nr; i++) {
		const char *file = map[i].filename ?: "";
		const uint64_t addr = map[i].vma;
		const uint32_t rest[2] = { map[i].lineno, 0 };

		at = mempcpy(at, &addr, sizeof(addr));
		at = mempcpy(at, rest, sizeof(rest));
		at = mempcpy(at, file, strlen(file) + 1);
	}
	return bytes;
}

int op_write_debug_line_info(op_agent_t agent, const void *code,
			     size_t nr_entry,
			     const struct debug_line_info *compile_map)
{
	struct op_jitdump_lines lines = {
		.prefix.id = OP_JITDUMP_LINES,
		.code_addr = (uintptr_t)code,
		.nr = nr_entry,
	};
	struct iovec parts[2] = { { &lines, sizeof(lines) } };
	uint8_t *bytes;
	size_t len;
	int err;

	if (!nr_entry)
		return 0;
	if (!compile_map) {
		errno = EINVAL;
		return -1;
	}
	bytes = pack_lines(compile_map, nr_entry, &len);
	if (!bytes)
		return -1;
	err = begin_record(agent);
	if (!err) {
		parts[1] = (struct iovec){ bytes, len };
		lines.prefix.size = (uint32_t)(sizeof(lines) + len);
		err = end_record(agent, write_record(agent, parts, 2));
	}
	free(bytes);
	return err;
}

int op_unload_native_code(op_agent_t agent, uint64_t vma)
{
	struct op_jitdump_move move = {
		.prefix = { OP_JITDUMP_MOVE, sizeof(move), 0 },
		.old_addr = vma,
	};
	struct iovec part = { &move, sizeof(move) };

	if (begin_record(agent))
		return -1;
	move.pid = (uint32_t)agent->pid;
	move.tid = (uint32_t)syscall(SYS_gettid);
	return end_record(agent, write_record(agent, &part, 1));
}

int op_major_version(void)
{
	return 2;
}

int op_minor_version(void)
{
	return 1;
}
