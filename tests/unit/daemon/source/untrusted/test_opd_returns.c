// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What the instructions of code are asked for: of a file and of a process's
 * memory, how long answers are kept, how many are given, and that an answer
 * which cannot be followed is none.
 */

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/test.h"
#include "daemon/source/untrusted/opd_pass.h"
#include "daemon/source/untrusted/opd_returns.h"

#define PAGE 4096
#define COOKIE 7
#define SECONDLY 4000 /* answers */

/* call *%rdi; add $0x28,%rsp; ret */
static const uint8_t wide[] = { 0xff, 0xd7, 0x48, 0x83, 0xc4, 0x28, 0xc3 };
/* call *%rdi; add $0x18,%rsp; ret */
static const uint8_t narrow[] = { 0xff, 0xd7, 0x48, 0x83, 0xc4, 0x18, 0xc3 };
#define CALLED 2 /* where the call returns to */

static time_t now;

static time_t seconds(void)
{
	return now;
}

static const struct op_clock clock_of_test = { .seconds = seconds };
static struct opd_returns returns;
static struct opd_untrusted untrusted;

static int setup(void **state)
{
	(void)state;
	now = 1000;
	opd_untrusted_init(&untrusted);
	untrusted.patience = 60000;
	opd_returns_init(&returns, &untrusted, "/proc");
	returns.clock = &clock_of_test;
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	opd_returns_release(&returns);
	opd_untrusted_release(&untrusted);
	return 0;
}

#define RETURNS_TEST(name) TEST_WITH(name, setup, teardown)

static struct unwinder_code code_at(uint64_t start, uint64_t offset,
				    uint64_t cookie)
{
	return (struct unwinder_code){
		.ask = UNWINDER_RETURN,
		.arch = CFI_X86_64,
		.map = { .start = start,
			 .end = start + PAGE,
			 .offset = offset,
			 .cookie = cookie },
		.addr = start + CALLED,
		.is_return_address = true,
	};
}

static int nr_opened;

/* *@file, or nothing if that is negative. */
static int open_code(void *file, uint64_t cookie)
{
	const int *fd = file;

	assert_int_not_equal(cookie, OP_NO_COOKIE);
	nr_opened += *fd >= 0;
	return *fd < 0 ? -ENOENT : dup(*fd);
}

/* *@cfa: the answer's, from the stack pointer. */
static int ask(const struct unwinder_code *code, int fd, int32_t *cfa)
{
	union cfi_return found = { .rule = { .ra = 0 } };
	int err = opd_returns_ask(&returns, (uint32_t)getpid(), code, open_code,
				  &fd, &found);

	*cfa = found.rule.cfa_value;
	if (!err && code->ask == UNWINDER_RETURN) {
		assert_int_equal(found.rule.cfa_reg, CFI_X86_64_RSP);
		assert_int_equal(found.rule.ra, CFI_X86_64_RIP);
	}
	return err;
}

static int make_file(off_t at, const void *bytes, size_t len)
{
	int fd = memfd_create("code", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, at + PAGE), 0);
	assert_int_equal(pwrite(fd, bytes, len, at), (ssize_t)len);
	return fd;
}

RETURNS_TEST(of_a_file)
{
	const uint64_t offset = 3 * PAGE;
	struct unwinder_code code = code_at(0x400000, offset, COOKIE);
	int fd = make_file((off_t)offset, wide, sizeof(wide));
	int32_t cfa;

	assert_int_equal(ask(&code, fd, &cfa), 0);
	assert_int_equal(cfa, 0x30);
	/* It is known by its place in the file, whatever is there now. */
	assert_int_equal(pwrite(fd, narrow, sizeof(narrow), (off_t)offset),
			 sizeof(narrow));
	now += 1000;
	code = code_at(0x700000, offset, COOKIE);
	assert_int_equal(ask(&code, -1, &cfa), 0);
	assert_int_equal(cfa, 0x30);
	code = code_at(0x700000, offset, COOKIE + 1);
	assert_int_equal(ask(&code, fd, &cfa), 0);
	assert_int_equal(cfa, 0x20);
	opd_returns_forget(&returns);
	code = code_at(0x700000, offset, COOKIE);
	assert_int_equal(ask(&code, fd, &cfa), 0);
	assert_int_equal(cfa, 0x20);
	close(fd);
}

/* The file that was asked last is held for the rest of the second. */
RETURNS_TEST(the_last_file)
{
	struct unwinder_code code = code_at(0x400000, 0, COOKIE);
	int fd = make_file(0, wide, sizeof(wide));
	int32_t cfa;

	nr_opened = 0;
	assert_int_equal(returns.cookie, OP_NO_COOKIE);
	assert_int_equal(ask(&code, fd, &cfa), 0);
	assert_int_equal(returns.cookie, COOKIE);
	code.addr++;
	ask(&code, fd, &cfa);
	assert_int_equal(nr_opened, 1);
	code.map.cookie++;
	ask(&code, fd, &cfa);
	assert_int_equal(nr_opened, 2);
	assert_int_equal(returns.cookie, COOKIE + 1);
	assert_true(fcntl(returns.fd, F_GETFD) >= 0);
	now++;
	code.addr--;
	code.map.cookie = COOKIE;
	assert_int_equal(ask(&code, fd, &cfa), 0);
	assert_int_equal(nr_opened, 2);
	assert_int_equal(returns.cookie, OP_NO_COOKIE);
	assert_int_equal(fcntl(returns.fd, F_GETFD), -1);
	close(fd);
}

/* Code ends where its mapping does. */
RETURNS_TEST(no_further_than_the_mapping)
{
	const off_t last = PAGE - CALLED - 2;
	struct unwinder_code code = code_at(0x400000, 0, COOKIE);
	int fd = make_file(last, wide, sizeof(wide));
	int32_t cfa;

	code.addr = code.map.start + (uint64_t)last + CALLED;
	assert_int_equal(ask(&code, fd, &cfa), -ENODATA);
	code.map.end += PAGE;
	code.map.cookie++;
	assert_int_equal(ask(&code, fd, &cfa), 0);
	close(fd);
}

RETURNS_TEST(of_memory)
{
	uint8_t *memory = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct unwinder_code code;
	int32_t cfa;

	assert_ptr_not_equal(memory, MAP_FAILED);
	memcpy(memory, wide, sizeof(wide));
	code = code_at((uintptr_t)memory, 0, OP_NO_COOKIE);
	assert_int_equal(ask(&code, -1, &cfa), 0);
	assert_int_equal(cfa, 0x30);
	/* Other code may come there: its answer holds for a second. */
	memcpy(memory, narrow, sizeof(narrow));
	assert_int_equal(ask(&code, -1, &cfa), 0);
	assert_int_equal(cfa, 0x30);
	now++;
	assert_int_equal(ask(&code, -1, &cfa), 0);
	assert_int_equal(cfa, 0x20);
	/* An image whose file cannot be had is looked at there, too. */
	code.map.cookie = COOKIE;
	assert_int_equal(ask(&code, -1, &cfa), 0);
	assert_int_equal(cfa, 0x20);
	/* Nothing of what is not mapped, or of another machine. */
	munmap(memory, PAGE);
	now++;
	assert_int_equal(ask(&code, -1, &cfa), -ENODATA);
	now++;
	returns.proc = NULL;
	assert_int_equal(ask(&code, -1, &cfa), -ESRCH);
}

RETURNS_TEST(what_is_before)
{
	struct unwinder_code code = code_at(0x400000, 0, COOKIE);
	int fd = make_file(0, wide, sizeof(wide));
	int32_t cfa;

	code.ask = UNWINDER_AFTER_CALL;
	assert_int_equal(ask(&code, fd, &cfa), 0);
	code.addr += 4;
	assert_int_equal(ask(&code, fd, &cfa), -ENODATA);
	close(fd);
}

/* Ask of so many places in one image; none is too many. */
static void ask_of_places(uint64_t cookie, int fd)
{
	struct unwinder_code code = code_at(0x400000, 0, cookie);
	int32_t cfa;

	for (int i = 0; i < SECONDLY; i++) {
		code.addr = code.map.start + (uint64_t)i;
		assert_int_not_equal(ask(&code, fd, &cfa), -EAGAIN);
	}
}

/* Whoever makes code without end does not keep the daemon from its work. */
RETURNS_TEST(so_many_in_a_second)
{
	struct unwinder_code code = code_at(0x400000, 0, COOKIE);
	int fd = make_file(0, wide, sizeof(wide));
	int32_t cfa;

	returns.untrusted = NULL;
	ask_of_places(COOKIE, fd);
	code.map.cookie++;
	assert_int_equal(ask(&code, fd, &cfa), -EAGAIN);
	/* what is kept is had all the same */
	code.map.cookie--;
	assert_int_equal(ask(&code, fd, &cfa), 0);
	code.map.cookie++;
	now++;
	assert_int_equal(ask(&code, fd, &cfa), 0);
	/* a recording is read in a moment */
	returns.proc = NULL;
	ask_of_places(COOKIE + 2, fd);
	ask_of_places(COOKIE + 3, fd);
	close(fd);
}

/* ---- a process that lies ---------------------------------------------------
 */

static void answer_with(int sock, const union cfi_return *lie)
{
	struct opd_untrusted_call call;
	int fd;

	while (opd_receive_file(sock, &call, sizeof(call), &fd)) {
		if (fd >= 0)
			close(fd);
		call.err = 0;
		call.leaving.found = *lie;
		if (opd_send_file(sock, &call, sizeof(call), -1))
			break;
	}
	_exit(0);
}

static int ask_liar(const union cfi_return *lie)
{
	struct unwinder_code code = code_at(0x400000, 0, COOKIE);
	int socks[2], fd = make_file(0, wide, sizeof(wide)), err, status;
	union cfi_return found;
	pid_t pid;

	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, socks), 0);
	pid = fork();
	if (!pid) {
		close(socks[0]);
		answer_with(socks[1], lie);
	}
	close(socks[1]);
	untrusted.pid = pid;
	untrusted.sock = socks[0];
	opd_returns_forget(&returns);
	returns.nr_asked = 0;
	returns.second = now;
	err = opd_returns_ask(&returns, 0, &code, open_code, &fd, &found);
	/* What was not answered is asked again. */
	assert_int_equal(opd_returns_ask(&returns, 0, &code, open_code, &fd,
					 &found),
			 err);
	assert_int_equal(returns.nr_asked, err ? 2 : 1);
	close(socks[0]);
	untrusted.pid = 0;
	untrusted.sock = -1;
	assert_int_equal(waitpid(pid, &status, 0), pid);
	close(fd);
	return err;
}

RETURNS_TEST(answers_that_cannot_be_followed)
{
	const union cfi_return sound = {
		.rule = { .cfa_reg = CFI_X86_64_RSP,
			  .cfa_value = 8,
			  .ra = CFI_X86_64_RIP },
	};
	union cfi_return lie;

	assert_int_equal(ask_liar(&sound), 0);
	lie = sound;
	lie.rule.cfa_is_expr = 1;
	assert_int_equal(ask_liar(&lie), -EBADMSG);
	lie = sound;
	lie.rule.cfa_reg = CFI_MAX_REGS;
	assert_int_equal(ask_liar(&lie), -EBADMSG);
	lie = sound;
	lie.rule.ra = CFI_MAX_REGS;
	assert_int_equal(ask_liar(&lie), -EBADMSG);
	lie = sound;
	lie.rule.flags = CFI_RULE_SIGNAL;
	assert_int_equal(ask_liar(&lie), -EBADMSG);
	lie = sound;
	lie.rule.nr_places = CFI_MAX_RETURN_PLACES + 1;
	assert_int_equal(ask_liar(&lie), -EBADMSG);
	lie = sound;
	lie.rule.nr_places = 1;
	lie.rule.place[0] =
		(struct cfi_place){ .how = CFI_AT_CFA, .reg = CFI_MAX_REGS };
	assert_int_equal(ask_liar(&lie), -EBADMSG);
	lie.rule.place[0] = (struct cfi_place){ .how = CFI_IS_EXPR };
	assert_int_equal(ask_liar(&lie), -EBADMSG);
	lie.rule.place[0] =
		(struct cfi_place){ .how = CFI_IN_REG, .value = -1 };
	assert_int_equal(ask_liar(&lie), -EBADMSG);
	lie.rule.place[0] =
		(struct cfi_place){ .how = CFI_IN_REG, .value = CFI_MAX_REGS };
	assert_int_equal(ask_liar(&lie), -EBADMSG);
}
