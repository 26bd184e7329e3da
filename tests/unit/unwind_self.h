/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TESTS_UNIT_UNWIND_SELF_H
#define TESTS_UNIT_UNWIND_SELF_H

/*
 * A process that unwinds itself: its mappings by /proc/self/maps, and its
 * registers and stack at some moment. For unit tests and benches.
 */

#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <ucontext.h>
#include <unistd.h>

#include "libcfi/unwinder.h"

#define SELF_MAX_MAPS 128
#define SELF_MAX_FRAMES 256
#define SELF_MAX_STACK 65536

struct self {
	struct unwinder *unwinder;
	size_t nr_maps;
	struct unwinder_map map[SELF_MAX_MAPS]; /* cookie: number plus 1 */
	char path[SELF_MAX_MAPS][256];
	unsigned int nr_opened;
	int refuse; /* -errno that each image is refused with */
};

struct snapshot {
	struct cfi_regs regs;
	struct cfi_stack stack;
	uint8_t bytes[SELF_MAX_STACK];
	/* what libgcc says of the same moment, from the first caller on */
	void *model[SELF_MAX_FRAMES];
	size_t nr_model;
};

static bool self_find_map(void *ctx, uint64_t addr, struct unwinder_map *map)
{
	const struct self *self = ctx;

	for (size_t i = 0; i < self->nr_maps; i++) {
		if (addr < self->map[i].start || addr >= self->map[i].end)
			continue;
		*map = self->map[i];
		return true;
	}
	return false;
}

static int self_open_image(void *ctx, uint64_t cookie)
{
	struct self *self = ctx;
	int fd = -1;

	self->nr_opened++;
	if (self->refuse)
		return self->refuse;
	if (cookie && cookie <= self->nr_maps)
		fd = open(self->path[cookie - 1], O_RDONLY | O_CLOEXEC);
	return fd < 0 ? -ENOENT : fd;
}

static const struct unwinder_ops self_ops = {
	.find_map = self_find_map,
	.open_image = self_open_image,
};

/* Read the mappings again. */
static void self_maps(struct self *self)
{
	FILE *f = fopen("/proc/self/maps", "re");
	char line[512];

	self->nr_maps = 0;
	while (f && fgets(line, sizeof(line), f) &&
	       self->nr_maps < SELF_MAX_MAPS) {
		struct unwinder_map *map = &self->map[self->nr_maps];
		char *path = self->path[self->nr_maps];
		char perms[5];

		*path = '\0';
		*map = (struct unwinder_map){ .start = 0 };
		if (sscanf(line,
			   "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64
			   " %*s %*s %255s",
			   &map->start, &map->end, perms, &map->offset,
			   path) < 4 ||
		    perms[2] != 'x')
			continue;
		if (*path == '/')
			map->cookie = self->nr_maps + 1;
		else if (*path)
			map->anon = path;
		self->nr_maps++;
	}
	if (f)
		fclose(f);
}

#ifdef __x86_64__
#define SELF_ARCH OP_STACK_X86_64
#define SELF_NR_REGS 17 /* up to the pc */
#define SELF_SP CFI_X86_64_RSP
#define SELF_PC CFI_X86_64_RIP
static void self_regs(struct cfi_regs *regs, const ucontext_t *u)
{
	static const int order[] = { REG_RAX, REG_RDX, REG_RCX, REG_RBX,
				     REG_RSI, REG_RDI, REG_RBP, REG_RSP,
				     REG_R8,  REG_R9,  REG_R10, REG_R11,
				     REG_R12, REG_R13, REG_R14, REG_R15,
				     REG_RIP };

	for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++)
		regs->reg[i] = (uint64_t)u->uc_mcontext.gregs[order[i]];
	regs->known = 0x1ffff;
}
#else
#define SELF_ARCH OP_STACK_AARCH64
#define SELF_NR_REGS 33 /* up to the pc */
#define SELF_SP CFI_AARCH64_SP
#define SELF_PC CFI_AARCH64_PC
static void self_regs(struct cfi_regs *regs, const ucontext_t *u)
{
	memcpy(regs->reg, u->uc_mcontext.regs, sizeof(u->uc_mcontext.regs));
	regs->reg[SELF_SP] = u->uc_mcontext.sp;
	regs->reg[SELF_PC] = u->uc_mcontext.pc;
	regs->known = 0x1ffffffff;
}
#endif

static void *self_pointer(uint64_t addr)
{
	void *p;

	memcpy(&p, &addr, sizeof(p));
	return p;
}

/*
 * Copy the stack from the stack pointer in @s->regs up to @end, or where it
 * ends before. The kernel does it, as AddressSanitizer forbids some of it.
 */
static void self_stack(struct snapshot *s, uint64_t end)
{
	uint64_t sp = s->regs.reg[SELF_SP];
	size_t len = 0;

	while (len < sizeof(s->bytes) && sp + len < end) {
		size_t part = 4096 - (sp + len) % 4096;
		struct iovec to = { s->bytes + len, part };
		struct iovec from = { self_pointer(sp + len), part };

		if (part > sizeof(s->bytes) - len)
			part = sizeof(s->bytes) - len;
		if (part > end - sp - len)
			part = end - sp - len;
		to.iov_len = from.iov_len = part;
		if (process_vm_readv(getpid(), &to, 1, &from, 1, 0) < 0)
			break;
		len += part;
	}
	s->stack = (struct cfi_stack){ sp, s->bytes, len };
}

#endif /* TESTS_UNIT_UNWIND_SELF_H */
