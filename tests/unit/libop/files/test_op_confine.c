// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What a process that confines itself asks the kernel for, which system calls
 * its filter lets through, and what a child has left of its parent.
 */

#include <fcntl.h>
#include <linux/audit.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "libop/files/op_confine.h"
#include "tests/unit/rows.h"

#include "tests/unit/confine_kernel.h"

#if defined(__x86_64__)
#define THIS_ARCH AUDIT_ARCH_X86_64
#define OTHER_ARCH AUDIT_ARCH_I386
#elif defined(__aarch64__)
#define THIS_ARCH AUDIT_ARCH_AARCH64
#define OTHER_ARCH AUDIT_ARCH_ARM
#endif

#define NR_CALLS 1024 /* more than any architecture has */
#define MAX_DESCRIPTORS 64 /* more than a test has open */

/* ---- what the kernel is asked for -------------------------------------------
 */

static const struct {
	const char *name;
	enum confine_call call;
} refusals[] = {
	{ "no-new-privs", REFUSE_NO_NEW_PRIVS },
	{ "file-size", REFUSE_FSIZE },
	{ "core", REFUSE_CORE },
	{ "capget", REFUSE_CAPGET },
	{ "capset", REFUSE_CAPSET },
	{ "filter", REFUSE_SECCOMP },
};

static enum op_confine_to way_called(const char *name)
{
	if (!strcmp(name, "reading"))
		return OP_CONFINE_TO_READING;
	return strcmp(name, "writing") ? OP_CONFINE_TO_DESCRIPTORS
				       : OP_CONFINE_TO_WRITING;
}

/*
 * has MASK: its capabilities; refuse CALL; to reading | descriptors | writing:
 * it confines itself
 */
static void do_confine_line(const char *line, FILE *out)
{
	char verb[16], text[32];
	int err;

	assert_int_equal(sscanf(line, "%15s %31s", verb, text), 2);
	if (!strcmp(verb, "has")) {
		confine_kernel.capabilities = (uint32_t)strtoul(text, NULL, 16);
	} else if (!strcmp(verb, "refuse")) {
		for (size_t i = 0; i < NR(refusals); i++)
			if (!strcmp(text, refusals[i].name))
				confine_kernel.refused = refusals[i].call;
		assert_int_not_equal(confine_kernel.refused, REFUSE_NONE);
	} else {
		err = op_confine(way_called(text));
		fprintf(out, ": %s\n", err ? strerrorname_np(-err) : "0");
	}
}

static void run_confine(const struct row *row, FILE *out)
{
	const char *at = row->script;
	char line[64];

	reset_confine_kernel();
	confine_kernel.is_mine = true;
	confine_kernel.told = out;
	while (next_line(&at, line, sizeof(line)))
		do_confine_line(line, out);
	reset_confine_kernel();
}

/* clang-format off */
static const struct row rows[] = {
	{ "it_may_read_any_file", NULL, "has ffffffff; to reading",
	  " no-new-privs=1 file-size=0/0 core=0/0 capget capset=4/4/0,0/0/0 filter: 0\n" },
	{ "it_has_its_descriptors_only", NULL, "has ffffffff; to descriptors",
	  " no-new-privs=1 file-size=0/0 core=0/0 capget capset=0/0/0,0/0/0 filter: 0\n" },
	/* How large its files may be others have said. */
	{ "it_may_make_files_larger", NULL, "has ffffffff; to writing",
	  " no-new-privs=1 core=0/0 capget capset=0/0/0,0/0/0 filter: 0\n" },
	{ "it_gets_no_capability", NULL, "has fffffffb; to reading",
	  " no-new-privs=1 file-size=0/0 core=0/0 capget capset=0/0/0,0/0/0 filter: 0\n" },
	/* The other means are used nevertheless. */
	{ "programs_may_have_more_rights", NULL,
	  "refuse no-new-privs; to descriptors",
	  " no-new-privs=1 capget capset=0/0/0,0/0/0 filter: ENOSYS\n" },
	{ "it_may_write_files", NULL, "refuse file-size; to descriptors",
	  " no-new-privs=1 file-size=0/0 capget capset=0/0/0,0/0/0 filter: ENOSYS\n" },
	{ "it_may_dump_its_core", NULL, "refuse core; to descriptors",
	  " no-new-privs=1 file-size=0/0 core=0/0 capget capset=0/0/0,0/0/0 filter: ENOSYS\n" },
	{ "its_capabilities_are_unknown", NULL,
	  "has ff; refuse capget; to reading",
	  " no-new-privs=1 file-size=0/0 core=0/0 capget filter: ENOSYS\n" },
	{ "it_keeps_its_capabilities", NULL,
	  "has ff; refuse capset; to reading",
	  " no-new-privs=1 file-size=0/0 core=0/0 capget capset=4/4/0,0/0/0 filter: ENOSYS\n" },
	{ "there_is_no_filter", NULL, "has ff; refuse filter; to reading",
	  " no-new-privs=1 file-size=0/0 core=0/0 capget capset=4/4/0,0/0/0 filter: ENOSYS\n" },
};
/* clang-format on */

TEST_ROWS(test_confine_row, rows)
{
	check_row(*state, run_confine);
}

/* ---- the filter -------------------------------------------------------------
 */

/* What the filter returns for a call, as bpf(2) describes its statements. */
static uint32_t run_filter(const struct seccomp_data *call)
{
	const struct sock_filter *at = confine_kernel.filter;
	const struct sock_filter *end = at + confine_kernel.filter_len;
	uint32_t word = 0;

	while (at < end) {
		switch (at->code) {
		case BPF_LD | BPF_W | BPF_ABS:
			assert_true(at->k <= sizeof(*call) - sizeof(word));
			memcpy(&word, (const char *)call + at->k, sizeof(word));
			break;
		case BPF_ALU | BPF_AND | BPF_K:
			word &= at->k;
			break;
		case BPF_JMP | BPF_JEQ | BPF_K:
			at += word == at->k ? at->jt : at->jf;
			break;
		case BPF_RET | BPF_K:
			return at->k;
		default:
			fail_msg("statement %u is unknown", at->code);
		}
		at++;
	}
	fail_msg("the filter has no end");
	return 0;
}

static bool filter_lets_through(uint32_t arch, uint32_t nr, uint64_t flags)
{
	struct seccomp_data call = { .nr = (int)nr,
				     .arch = arch,
				     .args = { 0, 0, flags } };
	uint32_t verdict = run_filter(&call);

	if (verdict == SECCOMP_RET_ALLOW)
		return true;
	assert_int_equal(verdict, SECCOMP_RET_ERRNO | EPERM);
	return false;
}

static void make_filter(enum op_confine_to to)
{
	reset_confine_kernel();
	confine_kernel.is_mine = true;
	assert_int_equal(op_confine(to), 0);
	confine_kernel.is_mine = false;
}

static bool is_call_of_writer(long nr)
{
	static const long calls[] = {
		SYS_write,    SYS_pwrite64,	SYS_writev,
		SYS_fcntl,    SYS_memfd_create, SYS_readlinkat,
#ifdef SYS_readlink
		SYS_readlink,
#endif
	};

	for (size_t i = 0; i < NR(calls); i++)
		if (calls[i] == nr)
			return true;
	return false;
}

static bool is_call_of_reader(long nr)
{
	static const long calls[] = {
		SYS_read,	  SYS_pread64,
		SYS_lseek,	  SYS_close,
		SYS_fstat,	  SYS_newfstatat,
		SYS_recvmsg,	  SYS_sendmsg,
		SYS_mmap,	  SYS_munmap,
		SYS_mremap,	  SYS_madvise,
		SYS_brk,	  SYS_futex,
		SYS_getrandom,	  SYS_restart_syscall,
		SYS_rt_sigreturn, SYS_rt_sigprocmask,
		SYS_exit_group,
	};

	for (size_t i = 0; i < NR(calls); i++)
		if (calls[i] == nr)
			return true;
	return false;
}

/* Calls but openat(2), whatever their arguments are. */
TEST(calls_that_are_let_through)
{
	static const enum op_confine_to ways[] = { OP_CONFINE_TO_READING,
						   OP_CONFINE_TO_DESCRIPTORS };

	for (size_t i = 0; i < NR(ways); i++) {
		make_filter(ways[i]);
		for (uint32_t nr = 0; nr < NR_CALLS; nr++) {
			bool is_wanted = is_call_of_reader(nr);

			if (nr == SYS_openat)
				continue;
			if (ways[i] == OP_CONFINE_TO_WRITING)
				is_wanted |= is_call_of_writer(nr);
			if (filter_lets_through(THIS_ARCH, nr, 0) !=
				    is_wanted ||
			    filter_lets_through(THIS_ARCH, nr, UINT64_MAX) !=
				    is_wanted)
				fail_msg("call %u", nr);
			/* The same numbers, of other kinds of programs. */
			assert_false(filter_lets_through(OTHER_ARCH, nr, 0));
			assert_false(filter_lets_through(THIS_ARCH,
							 nr | 0x40000000, 0));
		}
	}
}

TEST(how_files_are_opened)
{
	static const struct {
		uint64_t flags;
		bool is_reading;
	} opens[] = {
		{ O_RDONLY, true },
		{ O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW | O_NOCTTY,
		  true },
		{ O_PATH | O_DIRECTORY, true },
		{ O_WRONLY, false },
		{ O_RDWR, false },
		{ O_ACCMODE, false },
		{ O_CREAT, false },
		{ O_TRUNC, false },
		{ O_APPEND, false },
		{ O_TMPFILE | O_RDWR, false },
		{ O_RDWR | O_CLOEXEC, false },
	};

	for (size_t i = 0; i < NR(opens); i++) {
		make_filter(OP_CONFINE_TO_WRITING);
		if (filter_lets_through(THIS_ARCH, SYS_openat,
					opens[i].flags) != opens[i].is_reading)
			fail_msg("flags %#lx", (unsigned long)opens[i].flags);
		make_filter(OP_CONFINE_TO_READING);
		if (filter_lets_through(THIS_ARCH, SYS_openat,
					opens[i].flags) != opens[i].is_reading)
			fail_msg("flags %#lx", (unsigned long)opens[i].flags);
		assert_false(filter_lets_through(OTHER_ARCH, SYS_openat,
						 opens[i].flags));
		make_filter(OP_CONFINE_TO_DESCRIPTORS);
		assert_false(filter_lets_through(THIS_ARCH, SYS_openat,
						 opens[i].flags));
	}
}

/* ---- children ---------------------------------------------------------------
 */

/* The exit status of a child that runs @run with @arg and @parent. */
static int status_of_child(void (*run)(int, pid_t), int arg, pid_t parent)
{
	pid_t pid = fork();
	int status;

	if (!pid)
		run(arg, parent);
	assert_true(pid > 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

/* The status is the number of the first thing that is not as it should be. */
static void be_confined_child(int fd, pid_t parent)
{
	struct stat file = { .st_ino = 0 }, standard_input;
	int sig = 0;

	fstat(fd, &file);
	op_confine_child(fd, parent);
	if (prctl(PR_GET_PDEATHSIG, &sig) || sig != SIGKILL)
		_exit(11);
	if (fstat(0, &standard_input) || standard_input.st_ino != file.st_ino)
		_exit(12);
	for (int i = 1; i < MAX_DESCRIPTORS; i++)
		if (fcntl(i, F_GETFD) >= 0)
			_exit(13);
	_exit(10);
}

TEST(what_a_child_has)
{
	int ends[2], far;

	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	far = fcntl(ends[1], F_DUPFD_CLOEXEC, MAX_DESCRIPTORS - 1);
	assert_int_equal(far, MAX_DESCRIPTORS - 1);
	reset_confine_kernel();
	confine_kernel.is_mine = true;
	assert_int_equal(status_of_child(be_confined_child, ends[0], getpid()),
			 10);
	/* Standard input may be the descriptor already. */
	assert_int_equal(status_of_child(be_confined_child, 0, getpid()), 10);
	/* The parent is another one: the daemon has ended. */
	assert_int_equal(
		status_of_child(be_confined_child, ends[0], getpid() + 1), 1);
	/* It would not end with the daemon. */
	confine_kernel.refused = REFUSE_PDEATHSIG;
	assert_int_equal(status_of_child(be_confined_child, ends[0], getpid()),
			 1);
	confine_kernel.refused = REFUSE_NONE;
	/* There is nothing to work for. */
	assert_int_equal(status_of_child(be_confined_child, -1, getpid()), 0);
	reset_confine_kernel();
	close(far);
	close(ends[0]);
	close(ends[1]);
}

static void be_child_that_ends(int fd, pid_t parent)
{
	(void)fd;
	(void)parent;
	op_confine_end();
	_exit(10);
}

TEST(end_of_a_child)
{
	reset_confine_kernel();
	assert_int_equal(status_of_child(be_child_that_ends, 0, 0), 0);
	confine_kernel.is_mine = true;
	assert_int_equal(status_of_child(be_child_that_ends, 0, 0), 0);
	reset_confine_kernel();
}

/* ---- the kernel of this machine ---------------------------------------------
 */

/* Calls that are refused, and some that are not: the status is the number of
 * the first one that is not as it should be. */
static int try_calls(enum op_confine_to to)
{
	bool is_reading = to != OP_CONFINE_TO_DESCRIPTORS;
	bool is_writing = to == OP_CONFINE_TO_WRITING;
	char *argv[] = { (char *)"true", NULL };
	struct rlimit limit;
	char byte;
	int fd;

	if (op_confine(to))
		return 1;
	fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	if (is_reading ? fd < 0 || read(fd, &byte, 1) != 1 || byte != 0x7f
		       : fd >= 0 || errno != EPERM)
		return 2;
	if (open("/proc/self/comm", O_WRONLY) >= 0 || errno != EPERM)
		return 3;
	if (is_writing ? write(2, "", 0) != 0
		       : write(2, "x", 1) >= 0 || errno != EPERM)
		return 4;
	if (fork() >= 0 || errno != EPERM)
		return 5;
	if (execv("/bin/sh", argv) >= 0 || errno != EPERM)
		return 6;
	if (!kill(getppid(), 0) || errno != EPERM)
		return 7;
	if (!getrlimit(RLIMIT_FSIZE, &limit) || errno != EPERM)
		return 8;
	return 0;
}

static void be_child_that_tries(int to, pid_t parent)
{
	(void)parent;
	syscall(SYS_exit_group, try_calls((enum op_confine_to)to));
}

TEST(this_kernel_refuses)
{
	assert_int_equal(status_of_child(be_child_that_tries,
					 OP_CONFINE_TO_READING, 0),
			 0);
	assert_int_equal(status_of_child(be_child_that_tries,
					 OP_CONFINE_TO_DESCRIPTORS, 0),
			 0);
	assert_int_equal(status_of_child(be_child_that_tries,
					 OP_CONFINE_TO_WRITING, 0),
			 0);
}
