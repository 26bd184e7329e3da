// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A trace is written in the order innermost first: the callers in the kernel,
 * then the place where the kernel was entered, then the callers in the program.
 * When the kernel's part was cut, the trace ends there, because what follows
 * would look as if it had been called directly.
 *
 * The stream wants return addresses, so one is added to each address in a
 * program, which is inside the call. Programs of 64 bits are unwound by libcfi.
 * Programs of 32 bits are followed by their frame pointers; each frame must lie
 * above the last one, so that the walk ends whatever the stack holds.
 */

#include "daemon/source/perf/opd_perf_stack.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/source/perf/opd_perf_regs.h"
#include "daemon/source/perf/opd_perf_proc.h"
#include "daemon/source/perf/opd_process_table.h"

/* A trace that is being written. */
struct trace {
	struct opd_process_table *table;
	struct opd_perf_place place; /* of the last frame */
	uint32_t room; /* for so many callers */
	/* of the kernel's frames, those that are no callers of the sample */
	uint32_t nr_inner;
	struct opd_kept_stack *kept; /* callers go there; NULL: to the stream */
};

/* ---- what the unwinder asks -------------------------------------------------
 */

static bool find_map(void *ctx, uint64_t addr, struct unwinder_map *out)
{
	struct opd_perf_stacks *stacks = ctx;
	const struct opd_map *map = opd_perf_proc_find_map(
		stacks->table, &stacks->process, stacks->tgid, addr);

	if (!map)
		return false;
	out->start = map->start;
	out->end = map->end;
	out->offset = map->offset;
	out->cookie = map->cookie;
	out->anon = map->anon;
	return true;
}

static int open_image(void *ctx, uint64_t cookie)
{
	const struct opd_perf_stacks *stacks = ctx;
	const struct opd_perf_images *images = &stacks->table->images;
	const struct opd_untrusted *untrusted = images->files.untrusted;
	uint64_t before = opd_untrusted_without_memory(untrusted);
	int fd = opd_perf_image_open(images, cookie);

	return fd < 0 && opd_untrusted_without_memory(untrusted) != before
		       ? -ENOMEM
		       : fd;
}

static const struct cfi_table *find_code(void *ctx, uint64_t addr,
					 uint64_t *start)
{
	const struct opd_perf_stacks *stacks = ctx;
	struct opd_process_table *table = stacks->table;

	return opd_jits_find_frames(&table->jits, stacks->tgid, addr,
				    table->now, start);
}

static int ask_mapped_code(void *ctx, const struct unwinder_code *code,
			   union cfi_return *out)
{
	struct opd_perf_stacks *stacks = ctx;

	return opd_returns_ask(&stacks->table->returns, stacks->tgid, code,
			       open_image, stacks, out);
}

static int read_id(void *ctx, int fd, struct op_build_id *id)
{
	const struct opd_perf_stacks *stacks = ctx;

	return opd_untrusted_build_id(&stacks->table->binaries, fd, id);
}

static int read_table(void *ctx, int fd, enum cfi_extent extent,
		      struct cfi_table **out)
{
	const struct opd_perf_stacks *stacks = ctx;

	return opd_kept_tables_read(&stacks->table->kept,
				    &stacks->table->binaries, fd, extent, out);
}

static const struct unwinder_ops ops = {
	.find_map = find_map,
	.open_image = open_image,
	.find_code = find_code,
	.ask_code = ask_mapped_code,
	.read_id = read_id,
	.read_table = read_table,
};

int opd_perf_stacks_init(struct opd_process_table *table, uint32_t depth,
			 uint32_t kernel_depth)
{
	struct opd_perf_stacks *stacks = &table->stacks;

	stacks->table = table;
	stacks->frames = calloc(depth, sizeof(stacks->frames[0]));
	stacks->once.callers = calloc(depth, sizeof(stacks->once.callers[0]));
	stacks->once.room = depth;
	if (!stacks->frames || !stacks->once.callers ||
	    unwinder_new(&stacks->unwinder, &ops, stacks))
		return -ENOMEM;
	stacks->depth = depth;
	stacks->kernel_depth = kernel_depth;
	opd_perf_words_init(&table->words, table->writer, depth);
	return 0;
}

void opd_perf_stacks_release(struct opd_perf_stacks *stacks)
{
	unwinder_free(stacks->unwinder);
	free(stacks->frames);
	free(stacks->once.callers);
	memset(stacks, 0, sizeof(*stacks));
}

/* ---- writing ----------------------------------------------------------------
 */

static void put_caller(struct trace *trace, uint64_t pc)
{
	if (trace->kept)
		opd_kept_stack_add(trace->kept, &trace->place, pc);
	else
		opd_perf_words_caller(&trace->table->words, &trace->place, pc);
	trace->room--;
}

static void put_kernel(struct trace *trace, uint64_t return_address)
{
	trace->place.kernel = true;
	put_caller(trace, return_address);
}

/* A caller at @at in @map: an address in the call, not behind it. */
static void put_user(struct trace *trace, const struct unwinder_map *map,
		     uint64_t at)
{
	const struct opd_map mapping = {
		.start = map->start,
		.end = map->end,
		.offset = map->offset,
		.cookie = map->cookie,
		.anon = map->anon,
	};
	uint64_t offset =
		opd_perf_proc_place(trace->table, &mapping, at, &trace->place);

	trace->place.kernel = false;
	/* The stream must not get an offset that reads as OP_ESCAPE. */
	if (offset + 1 == OP_ESCAPE)
		offset = 0;
	put_caller(trace, offset + 1);
}

static uint64_t word_at(const void *words, size_t i)
{
	uint64_t word;

	memcpy(&word, (const char *)words + 8 * i, sizeof(word));
	return word;
}

/* ---- the kernel's part ------------------------------------------------------
 */

/* A walk over a sample's callchain. All zeros is its beginning. */
struct chain_walk {
	size_t at; /* the next entry */
	bool is_kernel; /* entries from there on are of the kernel */
};

/* Set *@word to the next frame in the kernel; false behind the last. */
static bool next_kernel_frame(struct chain_walk *walk,
			      const struct opd_perf_rec *rec, uint64_t *word)
{
	while (walk->at < rec->sample.chain_len) {
		*word = word_at(rec->sample.chain, walk->at++);
		if (*word >= PERF_CONTEXT_MAX)
			walk->is_kernel = *word == PERF_CONTEXT_KERNEL;
		else if (walk->is_kernel)
			return true;
	}
	return false;
}

/*
 * The callers in the kernel; the first entry is the sample itself. False when
 * there are more than are told.
 */
static bool put_chain(struct trace *trace, const struct opd_perf_rec *rec,
		      uint32_t most)
{
	struct chain_walk walk = { .at = 0 };
	uint32_t nr = 0;
	uint64_t word;

	while (next_kernel_frame(&walk, rec, &word)) {
		if (nr++ < trace->nr_inner ||
		    (nr == 1 && word == rec->sample.ip))
			continue;
		if (!trace->room)
			return false;
		put_kernel(trace, word);
	}
	return nr < most;
}

/* ---- the user's part --------------------------------------------------------
 */

/* The words of a 32-bit task's stack. */
static bool load32(const struct opd_perf_rec *rec, uint64_t sp, uint64_t addr,
		   uint32_t *value)
{
	uint64_t at = addr - sp;

	if (addr < sp || at > rec->sample.stack_len ||
	    rec->sample.stack_len - at < sizeof(*value))
		return false;
	memcpy(value, (const char *)rec->sample.stack + at, sizeof(*value));
	return true;
}

static bool load_frame(const struct opd_perf_rec *rec, uint64_t sp, uint64_t fp,
		       struct opd_perf_frame *frame)
{
	uint32_t words[3] = { 0 };

	if (!load32(rec, sp, fp, &words[1]) ||
	    !load32(rec, sp, fp + 4, &words[2]))
		return false;
	load32(rec, sp, fp - 4, &words[0]); /* may be below the stack */
	*frame = opd_perf_frame_parse(words, fp);
	return true;
}

/*
 * A 32-bit task's callers, by frame pointers, so that all of them are a guess.
 * A pointer that is not above the last frame, or leads to no code, ends the
 * walk.
 */
static enum op_trace_ending put_user32(struct trace *trace,
				       const struct opd_perf_rec *rec,
				       const struct opd_perf_user *user)
{
	struct opd_perf_stacks *stacks = &trace->table->stacks;
	uint64_t fp = user->fp, least = user->sp;
	struct opd_perf_frame frame;
	struct unwinder_map map;

	for (; trace->room; fp = frame.next) {
		if (fp == 0)
			return fp == user->fp ? OP_TRACE_NO_UNWIND
					      : OP_TRACE_GUESSED;
		if (fp < least || fp % 4)
			return OP_TRACE_NO_UNWIND;
		if (!load_frame(rec, user->sp, fp, &frame))
			return OP_TRACE_SHORT_STACK;
		if (!frame.pc ||
		    !find_map(stacks, frame.pc - UINT64_C(1), &map))
			return OP_TRACE_NO_UNWIND;
		put_user(trace, &map, frame.pc - UINT64_C(1));
		least = fp + 4;
	}
	return OP_TRACE_DEPTH;
}

static enum op_trace_ending put_user64(struct trace *trace,
				       const struct opd_perf_rec *rec,
				       const struct opd_perf_user *user)
{
	struct opd_perf_stacks *stacks = &trace->table->stacks;
	const struct cfi_stack stack = {
		.start = user->sp,
		.bytes = rec->sample.stack,
		.len = rec->sample.stack_len,
	};
	enum op_trace_ending ending;
	size_t nr;

	nr = unwinder_unwind(stacks->unwinder, OPD_PERF_STACK_ARCH, &user->regs,
			     &stack, stacks->frames, trace->room, &ending);
	for (size_t i = 0; i < nr; i++)
		put_user(trace, &stacks->frames[i].map,
			 stacks->frames[i].pc - 1);
	return ending;
}

/*
 * Write where the kernel was entered from user mode; false if there is no such
 * place. A task that was never in user mode has none. In execve(2) there is
 * none either: the registers are still those of the former program.
 */
static bool put_entry(struct trace *trace, const struct opd_perf_user *user,
		      enum op_trace_ending *ending)
{
	struct opd_perf_stacks *stacks = &trace->table->stacks;
	uint64_t at = user->pc - (user->in_syscall ? 1 : 0);
	struct unwinder_map map;

	*ending = OP_TRACE_WHOLE;
	if (user->pc == 0)
		return false;
	if (find_map(stacks, at, &map)) {
		put_user(trace, &map, at);
		return true;
	}
	if (!stacks->process || stacks->process->entered)
		*ending = OP_TRACE_BAD_STACK;
	return false;
}

/*
 * The user's callers as the kernel found them by frame pointers, which only a
 * recording has. The first entry is the sample itself, or where the kernel was
 * entered. Nothing says whether the last one is the outermost, nor whether
 * the code keeps frame pointers: its callers are a guess.
 */
static enum op_trace_ending put_user_chain(struct trace *trace,
					   const struct opd_perf_rec *rec)
{
	struct opd_perf_stacks *stacks = &trace->table->stacks;
	bool user = false, first = true;
	enum op_trace_ending ending = OP_TRACE_WHOLE;
	struct unwinder_map map;

	for (size_t i = 0; i < rec->sample.chain_len; i++) {
		uint64_t word = word_at(rec->sample.chain, i);
		bool is_return = !first;

		if (word >= PERF_CONTEXT_MAX) {
			user = word == PERF_CONTEXT_USER;
			continue;
		}
		if (!user)
			continue;
		first = false;
		if (!is_return && !trace->place.kernel &&
		    word == rec->sample.ip)
			continue;
		if (!trace->room)
			return OP_TRACE_DEPTH;
		if (!find_map(stacks, word - is_return, &map))
			return OP_TRACE_NO_UNWIND;
		put_user(trace, &map, word - is_return);
		ending = OP_TRACE_GUESSED;
	}
	return ending;
}

static enum op_trace_ending put_user_part(struct trace *trace,
					  const struct opd_perf_rec *rec)
{
	struct opd_perf_stacks *stacks = &trace->table->stacks;
	bool narrow = rec->sample.abi != PERF_SAMPLE_REGS_ABI_64;
	enum op_trace_ending ending;
	struct opd_perf_user user;

	if (!rec->sample.regs)
		return put_user_chain(trace, rec); /* of kernel threads, none */
	if (!trace->room)
		return OP_TRACE_DEPTH;
	opd_perf_regs_parse(&user, rec->sample.regs_mask, rec->sample.regs,
			    narrow);
	if (trace->place.kernel && !put_entry(trace, &user, &ending))
		return ending;
	if (stacks->process)
		stacks->process->entered = true;
	return narrow ? put_user32(trace, rec, &user)
		      : put_user64(trace, rec, &user);
}

static enum op_trace_ending put_callers(struct trace *trace,
					struct opd_process *process,
					const struct opd_perf_rec *rec)
{
	struct opd_perf_stacks *stacks = &trace->table->stacks;

	stacks->process = process;
	stacks->tgid = trace->place.tgid;
	if (!trace->place.kernel || put_chain(trace, rec, stacks->kernel_depth))
		return put_user_part(trace, rec);
	return OP_TRACE_DEPTH;
}

void opd_perf_stack_callers(struct opd_process_table *table,
			    struct opd_process *process,
			    const struct opd_perf_place *place,
			    const struct opd_perf_rec *rec)
{
	struct trace trace = { .table = table,
			       .place = *place,
			       .room = table->stacks.depth - 1 };

	opd_perf_words_trace_end(&table->words,
				 put_callers(&trace, process, rec));
}

struct opd_kept_stack *opd_perf_stack_once(struct opd_process_table *table,
					   struct opd_process *process,
					   const struct opd_perf_place *place,
					   uint64_t pc,
					   const struct opd_perf_rec *rec)
{
	struct opd_perf_stacks *stacks = &table->stacks;
	struct opd_kept_stack *once = &stacks->once;
	struct trace trace = { .table = table, .place = *place, .kept = once };

	once->place = *place;
	once->pc = pc;
	once->nr_callers = 0;
	if (!stacks->depth)
		return once;
	trace.room = stacks->depth - 1;
	once->ending = put_callers(&trace, process, rec);
	return once;
}

/* The frames of @rec in the kernel that are the scheduler's own, from the
 * innermost one on; *@pc becomes the place of the call from the next. */
static uint32_t pass_scheduler(const struct opd_perf_stacks *stacks,
			       const struct opd_perf_rec *rec, uint64_t *pc)
{
	struct chain_walk walk = { .at = 0 };
	uint32_t nr = 0;
	uint64_t word;

	while (next_kernel_frame(&walk, rec, &word)) {
		nr++;
		if (word >= stacks->scheduler_start &&
		    word < stacks->scheduler_end)
			continue;
		/* A return address belongs to the call before it. */
		if (nr > 1)
			*pc = word - 1;
		return nr;
	}
	return 0;
}

struct opd_kept_stack *opd_perf_stack_keep(struct opd_process_table *table,
					   struct opd_process *process,
					   const struct opd_perf_place *place,
					   const struct opd_perf_rec *rec)
{
	struct opd_perf_stacks *stacks = &table->stacks;
	uint64_t pc = rec->sample.ip;
	struct trace trace = { .table = table, .place = *place };

	trace.nr_inner = pass_scheduler(stacks, rec, &pc);
	trace.kept = opd_kept_stack_new(place, pc);
	if (!trace.kept || !stacks->depth)
		return trace.kept;
	trace.room = stacks->depth - 1;
	trace.kept->ending = put_callers(&trace, process, rec);
	return trace.kept;
}
