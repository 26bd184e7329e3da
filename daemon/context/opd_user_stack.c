// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Everything in a record is checked once, by parse_user_stack(): the
 * architecture and its number of registers, the sizes, and that the mappings
 * are sorted and do not overlap. The search for a mapping relies on that.
 *
 * The unwinder asks once for each image and remembers the answer. So a stack is
 * unwound only when all images of its mappings have been named or have no name;
 * otherwise it ends without unwinding. All addresses that are written are
 * return addresses: one is added to an address inside a call.
 */

#include "daemon/context/opd_user_stack.h"

#include <errno.h>
#include <string.h>

#include "daemon/context/opd_anon.h"
#include "daemon/context/opd_cookie.h"
#include "daemon/opd_deleted_images.h"
#include "daemon/context/opd_trace.h"
#include "daemon/source/opd_stream.h"
#include "daemon/store/opd_image.h"

#define X86_64_RCX 2 /* DWARF */

/* ---- what the unwinder asks -------------------------------------------------
 */

/* The last mapping that starts at or below @addr, if it holds it. */
static bool find_map(void *ctx, uint64_t addr, struct unwinder_map *map)
{
	const struct opd_user_stacks *stacks = ctx;
	const uint64_t *at = stacks->maps;
	size_t nr = stacks->nr_maps;

	while (nr > 1) {
		size_t half = nr / 2;

		at += at[half * OP_STACK_MAP_WORDS] <= addr
			      ? half * OP_STACK_MAP_WORDS
			      : 0;
		nr -= half;
	}
	if (nr == 0 || addr < at[0] || addr >= at[1])
		return false;
	map->start = at[0];
	map->end = at[1];
	map->offset = at[2];
	map->cookie = at[3];
	map->anon = NULL;
	if (map->cookie == OP_NO_COOKIE)
		map->anon = opd_anon_name(stacks->anon, OPD_ANON_DEFAULT);
	return true;
}

/* 0: not known. */
static uint32_t process_of_stack(const struct opd_user_stacks *stacks)
{
	int64_t tgid = stacks->context->tgid;

	return tgid > 0 ? (uint32_t)tgid : 0;
}

static int open_image(void *ctx, uint64_t cookie)
{
	const struct opd_user_stacks *stacks = ctx;
	const struct opd_untrusted *untrusted = stacks->images->untrusted;
	uint64_t before = opd_untrusted_without_memory(untrusted);
	struct opd_binary binary;
	struct opd_image *image;
	int fd;

	if (opd_cookie_find(stacks->cookies, cookie, &image))
		return -ENOENT;
	/* The vDSO of another machine's kernel may differ from ours. */
	if (!strcmp(image->name, OPD_VDSO))
		return stacks->vdso_is_ours ? UNWINDER_VDSO : -ENOENT;
	if (image->kind != OP_IMAGE_FILE)
		return -ENOENT;
	binary = (struct opd_binary){ image->name, image->build_id,
				      image->mtime };
	fd = opd_deleted_images_open(stacks->images, &binary,
				     process_of_stack(stacks));
	return fd < 0 && opd_untrusted_without_memory(untrusted) != before
		       ? -ENOMEM
		       : fd;
}

static int ask_recorded_code(void *ctx, const struct unwinder_code *code,
			     union cfi_return *out)
{
	struct opd_user_stacks *stacks = ctx;

	return opd_returns_ask(&stacks->returns, process_of_stack(stacks), code,
			       open_image, stacks, out);
}

static int read_id(void *ctx, int fd, struct op_build_id *id)
{
	struct opd_user_stacks *stacks = ctx;

	return opd_untrusted_build_id(&stacks->untrusted, fd, id);
}

static int read_table(void *ctx, int fd, enum cfi_extent extent,
		      struct cfi_table **out)
{
	struct opd_user_stacks *stacks = ctx;

	return opd_untrusted_table(&stacks->untrusted, fd, extent, out);
}

static const struct unwinder_ops ops = {
	.find_map = find_map,
	.open_image = open_image,
	.ask_code = ask_recorded_code,
	.read_id = read_id,
	.read_table = read_table,
};

int opd_user_stacks_init(struct opd_user_stacks *stacks,
			 const struct opd_cookies *cookies,
			 struct opd_anon *anon,
			 const struct opd_deleted_images *images,
			 const struct opd_context *context,
			 struct opd_trace *trace, const char *proc)
{
	stacks->cookies = cookies;
	stacks->anon = anon;
	stacks->images = images;
	stacks->context = context;
	stacks->trace = trace;
	opd_untrusted_init(&stacks->untrusted);
	opd_returns_init(&stacks->returns, &stacks->untrusted, proc);
	return unwinder_new(&stacks->unwinder, &ops, stacks);
}

void opd_user_stacks_see(struct opd_user_stacks *stacks, const char *name)
{
	stacks->vdso_is_ours |= !strcmp(name, OPD_VDSO);
}

void opd_user_stacks_see_kernel(struct opd_user_stacks *stacks,
				const struct op_build_id *build_id)
{
	struct op_build_id own;

	if (!stacks->vdso_is_ours && build_id->len &&
	    !op_build_id_of_notes_file(&own, "/sys/kernel/notes"))
		stacks->vdso_is_ours = op_build_id_same(&own, build_id);
}

void opd_user_stacks_release(struct opd_user_stacks *stacks)
{
	unwinder_free(stacks->unwinder);
	stacks->unwinder = NULL;
	opd_returns_release(&stacks->returns);
	opd_untrusted_release(&stacks->untrusted);
}

void opd_user_stacks_forget(struct opd_user_stacks *stacks)
{
	unwinder_forget(stacks->unwinder);
	opd_returns_forget(&stacks->returns);
}

/* ---- records ----------------------------------------------------------------
 */

/* A record, taken apart. */
struct user_stack {
	enum op_stack_arch arch;
	struct cfi_regs regs;
	struct cfi_stack stack;
	uint64_t pc;
	bool in_syscall; /* its pc is a return address */
};

static bool are_maps(const uint64_t *maps, uint64_t nr)
{
	uint64_t end = 0;

	for (; nr--; maps += OP_STACK_MAP_WORDS) {
		if (maps[0] < end || maps[0] >= maps[1])
			return false;
		end = maps[1];
	}
	return true;
}

static void copy_user_regs(struct user_stack *u, const uint64_t *words,
			   uint64_t nr)
{
	const uint64_t *reg = u->regs.reg;
	bool x86 = u->arch == OP_STACK_X86_64;

	memcpy(u->regs.reg, words, nr * sizeof(*words));
	u->regs.known = (UINT64_C(1) << nr) - 1;
	u->pc = reg[x86 ? CFI_X86_64_RIP : CFI_AARCH64_PC];
	u->stack.start = reg[x86 ? CFI_X86_64_RSP : CFI_AARCH64_SP];
	/* SYSCALL leaves the return address there (APM volume 3). */
	u->in_syscall = x86 && reg[X86_64_RCX] == u->pc;
}

static int parse_user_stack(struct opd_user_stacks *stacks,
			    struct user_stack *u, const struct opd_rec *rec)
{
	const uint64_t *p = rec->payload;
	const uint64_t *maps;

	memset(u, 0, sizeof(*u));
	if (p[2] > OP_STACK_MAX_MAPS || p[3] > OP_STACK_MAX_BYTES)
		return -EINVAL;
	if (!(p[0] == OP_STACK_X86_64 && p[1] == 17) &&
	    !(p[0] == OP_STACK_AARCH64 && p[1] == 33))
		return -EINVAL;
	maps = p + 4 + p[1];
	if (rec->nr_words <
		    4 + p[1] + OP_STACK_MAP_WORDS * p[2] + (p[3] + 7) / 8 ||
	    !are_maps(maps, p[2]))
		return -EINVAL;
	u->arch = (enum op_stack_arch)p[0];
	copy_user_regs(u, p + 4, p[1]);
	u->stack.bytes = (const uint8_t *)(maps + OP_STACK_MAP_WORDS * p[2]);
	u->stack.len = p[3];
	stacks->maps = maps;
	stacks->nr_maps = p[2];
	return 0;
}

/* ---- unwinding --------------------------------------------------------------
 */

/* A caller at @at in @map: an address in the call, not behind it. */
static void add(struct opd_user_stacks *stacks, const struct unwinder_map *map,
		uint64_t at)
{
	struct opd_frame frame = {
		.pc = at - map->start + 1,
		.cookie = map->cookie,
		.anon = map->anon,
		.start = map->start,
		.end = map->end,
	};

	if (map->cookie != OP_NO_COOKIE)
		frame.pc += map->offset;
	opd_trace_add_frame(stacks->trace, &frame);
}

/* A trace of kernel frames only lacks the place where the kernel was entered.
 */
static bool add_entry(struct opd_user_stacks *stacks,
		      const struct user_stack *u)
{
	uint64_t at = u->pc - (u->in_syscall ? 1 : 0);
	struct unwinder_map map;

	if (!opd_trace_is_in_kernel(stacks->trace))
		return true;
	if (!find_map(stacks, at, &map))
		return false;
	add(stacks, &map, at);
	return true;
}

/* The unwinder asks for an image once: all must have their names by then. */
static bool are_named(const struct opd_user_stacks *stacks)
{
	struct opd_image *image;

	for (size_t i = 0; i < stacks->nr_maps; i++)
		if (opd_cookie_find(stacks->cookies,
				    stacks->maps[i * OP_STACK_MAP_WORDS + 3],
				    &image) == -EAGAIN)
			return false;
	return true;
}

static enum op_trace_ending unwind(struct opd_user_stacks *stacks,
				   const struct user_stack *u)
{
	enum op_trace_ending ending;
	size_t nr;

	if (!are_named(stacks))
		return OP_TRACE_NO_UNWIND;
	if (!add_entry(stacks, u))
		return OP_TRACE_BAD_STACK;
	nr = unwinder_unwind(stacks->unwinder, u->arch, &u->regs, &u->stack,
			     stacks->frames, OPD_STACK_MAX, &ending);
	for (size_t i = 0; i < nr; i++)
		add(stacks, &stacks->frames[i].map, stacks->frames[i].pc - 1);
	return ending;
}

int opd_user_stack_add(struct opd_user_stacks *stacks,
		       const struct opd_rec *rec)
{
	struct user_stack u;

	if (parse_user_stack(stacks, &u, rec))
		return -EINVAL;
	if (stacks->trace->is_open)
		opd_trace_unwound(stacks->trace, unwind(stacks, &u));
	return 0;
}
