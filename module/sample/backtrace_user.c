// SPDX-License-Identifier: GPL-2.0
/*
 * The user part of a stack. A 64-bit program rarely has frame pointers: what
 * its stack holds is handed over, with the registers and the code that words
 * of it point to, and the reader unwinds it. Without a part of the stack, and
 * for 32-bit programs, frame pointers are followed.
 */

#include <linux/highmem.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/sched/mm.h>
#include <linux/sched/task_stack.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <linux/userfaultfd_k.h>
#include <asm/syscall.h>

#include "buffer/cpu_buffer.h"
#include "compat.h"
#include "oprofile_stats.h"
#include "owner.h"
#include "sample/backtrace.h"
#include "sample/lookup.h"
#include "sample/user_regs.h"

/* Nothing is mapped below, nor points there. */
#define LOWEST_ADDRESS 65536

/* Bytes above the stack pointer that a program starts with. */
#define ABOVE_START 64

/* State that all steps of one stack walk share. */
struct walk {
	struct backtrace *bt;
	const struct task_struct *task; /* current, or one that waits */
	struct mm_struct *mm;
	struct pt_regs *regs;
	u32 user; /* of task */
	struct op_sample place; /* in the image of the last caller, at first
				 * the sample */
	struct vm_area_struct *vma; /* of place, or NULL; while these are
				     * locked */
	u64 base; /* the address that has offset 0 there */
	struct op_sample *unresolved; /* the sample, if it still is that */
	enum lookup lookup; /* what became of it */
	bool may_sleep;
};

/* False: there will be no callers, nor a place of a sample that has none yet.
 */
static bool lock_maps(struct walk *walk)
{
	bool is_locked;

	if (walk->task != current)
		is_locked = mmap_read_trylock(walk->mm);
	else if (walk->may_sleep)
		is_locked = lookup_lock_maps(walk->mm);
	else
		is_locked =
			COMPAT_IRQ_MAY_LOCK_MMAP && mmap_read_trylock(walk->mm);
	if (is_locked)
		return true;
	walk->bt->ending = OP_TRACE_NO_UNWIND;
	if (walk->unresolved)
		walk->lookup = LOOKUP_BUSY;
	else
		oprofile_stat_inc(STAT_BACKTRACE_BUSY);
	return false;
}

/* Look the sample up, unless it has been; the mappings are locked. */
static bool find_sample(struct walk *walk)
{
	struct op_sample *sample = walk->unresolved;
	u64 pc;

	if (!sample)
		return true;
	pc = sample->offset;
	walk->lookup = lookup_sample(sample, walk->mm, walk->user, &walk->vma);
	walk->place = *sample;
	walk->base = pc - sample->offset;
	return walk->lookup == LOOKUP_DONE;
}

/*
 * Without page faults, in a task as well: the page may be of a file whose file
 * system never answers, or one that userfaultfd is to fill.
 */
static bool read_user(void *to, u64 from, size_t len)
{
	const void __user *user = (const void __user *)(unsigned long)from;

	return !copy_from_user_nofault(to, user, len);
}

/* ---- by frame pointers --------------------------------------------------- */

struct frame {
	u64 next;
	u64 pc;
};

/* The frame at @at, which may be anywhere. */
typedef bool read_frame_fn(u64 at, struct frame *frame);

/*
 * Two words, which copy_from_user_nofault() would take for a piece of any
 * length. In a task that takes no page faults.
 */
static bool read_frame(u64 at, struct frame *frame)
{
	const struct frame __user *user =
		(const struct frame __user *)(unsigned long)at;

	if (!user_read_access_begin(user, sizeof(*user)))
		return false;
	unsafe_get_user(frame->next, &user->next, fault);
	unsafe_get_user(frame->pc, &user->pc, fault);
	user_read_access_end();
	return true;
fault:
	user_read_access_end();
	return false;
}

static bool read_frame_in_irq(u64 at, struct frame *frame)
{
	return read_user(frame, at, sizeof(*frame));
}

static bool read_narrow_frame(u64 at, struct frame *frame)
{
	u32 narrow[3];

	if (!read_user(narrow, at - sizeof(*narrow), sizeof(narrow)))
		return false;
	user_narrow_frame(narrow, at, &frame->next, &frame->pc);
	return true;
}

/*
 * Return addresses into bt->frames from number @nr on; returns how many are
 * there then. Frames lie one above the other. Only the outermost may have no
 * next one: a program that uses the register for something else may well have
 * a zero there. Each kind of frame has a loop of its own.
 */
static __always_inline unsigned int follow(const struct walk *walk,
					   unsigned int nr, unsigned int max,
					   read_frame_fn *read, u64 unaligned)
{
	enum op_trace_ending ending = OP_TRACE_NO_UNWIND;
	u64 at = user_frame_pointer(walk->regs);
	u64 *frames = walk->bt->frames;
	struct frame frame;

	while (at) {
		ending = OP_TRACE_BAD_STACK;
		if (at & unaligned || !read(at, &frame) ||
		    (frame.next && frame.next <= at))
			break;
		ending = OP_TRACE_GUESSED;
		if (!frame.pc)
			break;
		if (nr == max) {
			ending = OP_TRACE_DEPTH;
			break;
		}
		frames[nr++] = user_code_address(frame.pc);
		at = frame.next;
	}
	walk->bt->ending = ending;
	return nr;
}

static unsigned int follow_frames(const struct walk *walk, unsigned int nr,
				  unsigned int max)
{
	if (walk->task != current) {
		walk->bt->ending = OP_TRACE_NO_UNWIND;
		return nr;
	}
	if (!user_is_64bit(walk->regs))
		return follow(walk, nr, max, read_narrow_frame, 3);
	if (!walk->may_sleep)
		return follow(walk, nr, max, read_frame_in_irq, 7);
	pagefault_disable();
	nr = follow(walk, nr, max, read_frame, 7);
	pagefault_enable();
	return nr;
}

/* The callers that follow are in the image of @place. */
static void enter_image(struct walk *walk, const struct op_sample *place)
{
	struct stream *records = &walk->bt->records;

	if (walk->place.space == SAMPLE_KERNEL)
		stream_code(records, OP_USER_ENTER, 0);
	if (!stream_same_image(&walk->place, place))
		stream_image(records, place);
	walk->place = *place;
}

static bool find_place(const struct walk *walk, struct vm_area_struct *vma,
		       u64 pc, struct op_sample *place)
{
	*place = (struct op_sample){ .offset = pc };
	if (lookup_place(place, vma, walk->user) == LOOKUP_DONE)
		return true;
	walk->bt->ending = OP_TRACE_NO_UNWIND;
	return false;
}

/*
 * The mappings are locked. Most callers are in the same mapping as the one
 * before, and then their offsets are as far apart as they are.
 */
static void add_frames(struct walk *walk, unsigned int nr)
{
	struct backtrace *bt = walk->bt;
	struct vm_area_struct *vma = walk->vma;
	u64 base = walk->base;
	unsigned int i;

	for (i = 0; i < nr; i++) {
		u64 pc = bt->frames[i];

		if (!vma || pc < vma->vm_start || pc >= vma->vm_end) {
			struct op_sample place;

			vma = vma_lookup(walk->mm, pc);
			bt->ending = vma ? bt->ending : OP_TRACE_BAD_STACK;
			if (!vma || !find_place(walk, vma, pc, &place))
				return;
			base = pc - place.offset;
			enter_image(walk, &place);
		}
		stream_sample(&bt->records, pc - base, 0);
		bt->nr_frames++;
	}
}

/*
 * Where user mode was left for the kernel. Readers take an address as that of
 * a return: a system call is left behind its instruction, but what any other
 * instruction did is at that one.
 */
static u64 entry_address(const struct walk *walk)
{
	u64 pc = instruction_pointer(walk->regs);

	return syscall_get_nr((struct task_struct *)walk->task, walk->regs) ==
			       -1
		       ? pc + 1
		       : pc;
}

static void add_by_frame_pointers(struct walk *walk)
{
	struct backtrace *bt = walk->bt;
	unsigned int nr = 0, max = backtrace_room(bt);

	if (!walk->unresolved && walk->place.space == SAMPLE_KERNEL) {
		if (!max) {
			bt->ending = OP_TRACE_DEPTH;
			return;
		}
		bt->frames[nr++] = entry_address(walk);
	}
	nr = follow_frames(walk, nr, max);
	if (!lock_maps(walk))
		return;
	if (find_sample(walk))
		add_frames(walk, nr);
	mmap_read_unlock(walk->mm);
}

/* ---- by a part of the stack ---------------------------------------------- */

/* How many bytes from the stack pointer on are worth being read. */
static unsigned int wanted_len(const struct walk *walk, u64 sp)
{
	struct vm_area_struct *vma = find_vma(walk->mm, sp);
	u64 end, start = walk->mm->start_stack;

	/* A page that was not used yet is still to become part of it. */
	if (!vma || (vma->vm_start > sp && !(vma->vm_flags & VM_GROWSDOWN)))
		return 0;
	end = vma->vm_end;
	if (sp <= start && start + ABOVE_START < end)
		end = start + ABOVE_START;
	return min_t(u64, end - sp, backtrace_stack) & ~7u;
}

/*
 * In a task, from one page that could not be read: one that was never used, is
 * swapped out, was hidden by NUMA balancing, or is of another process. The
 * mappings are locked. Only of anonymous memory, which waits for no file.
 */
static bool read_absent(const struct walk *walk, void *to, u64 from, size_t len)
{
	struct vm_area_struct *vma = vma_lookup(walk->mm, from);
	struct page *page;
	u8 *at;

	if (!vma || !vma_is_anonymous(vma) || userfaultfd_armed(vma) ||
	    !compat_get_page(walk->mm, from, &page))
		return false;
	at = kmap_local_page(page);
	memcpy(to, at + offset_in_page(from), len);
	kunmap_local(at);
	put_page(page);
	return true;
}

/* Page by page: what is behind one that is not there is of no use. */
static unsigned int read_stack(const struct walk *walk, u64 sp,
			       unsigned int len)
{
	unsigned int done = 0, part;

	for (; done < len; done += part) {
		u8 *to = walk->bt->stack + done;

		part = PAGE_SIZE - offset_in_page(sp + done);
		part = min(part, len - done);
		if (walk->task == current && read_user(to, sp + done, part))
			continue;
		if (!walk->may_sleep || !read_absent(walk, to, sp + done, part))
			break;
	}
	return done & ~7u;
}

/* The range that holds @address, or NULL. */
static const struct backtrace_range *find_range(const struct backtrace *bt,
						u64 address)
{
	unsigned int low = 0, high = bt->nr_ranges;

	while (low < high) {
		unsigned int mid = (low + high) / 2;

		if (bt->ranges[mid].start <= address)
			low = mid + 1;
		else
			high = mid;
	}
	if (!low || address >= bt->ranges[low - 1].end)
		return NULL;
	return &bt->ranges[low - 1];
}

static const struct backtrace_range *
insert_range(struct backtrace *bt, const struct backtrace_range *range)
{
	unsigned int at = bt->nr_ranges++;

	for (; at && bt->ranges[at - 1].start > range->start; at--)
		bt->ranges[at] = bt->ranges[at - 1];
	bt->ranges[at] = *range;
	return &bt->ranges[at];
}

/* Store the mapping or the hole around @address, which is in no range yet. */
static const struct backtrace_range *learn_range(const struct walk *walk,
						 u64 address)
{
	struct vm_area_struct *vma = find_vma(walk->mm, address);
	struct backtrace_range range = {
		.start = address & PAGE_MASK,
		.end = TASK_SIZE,
	};

	if (vma && vma->vm_start > address) {
		range.end = vma->vm_start;
	} else if (vma) {
		range.start = vma->vm_start;
		range.end = vma->vm_end;
		range.is_code = vma->vm_flags & VM_EXEC &&
				lookup_cookie(vma, walk->user, &range.cookie) ==
					LOOKUP_DONE;
		if (vma->vm_file)
			range.offset = (u64)vma->vm_pgoff << PAGE_SHIFT;
	}
	return insert_range(walk->bt, &range);
}

static bool is_in_range(const struct backtrace_range *range, u64 address)
{
	return address - range->start < range->end - range->start;
}

/*
 * Find the code that words point to; the mappings are locked. Most words point
 * to where one of the two before them did: into the code and into the stack. A
 * new range may take the place of one of these in the list; then that is what
 * is looked at instead.
 */
static void learn_ranges(const struct walk *walk, const u64 *words,
			 unsigned int nr)
{
	static const struct backtrace_range none;
	const struct backtrace_range *last = &none, *before = &none, *found;
	const u64 span = TASK_SIZE - LOWEST_ADDRESS;
	struct backtrace *bt = walk->bt;
	unsigned int i;

	for (i = 0; i < nr; i++) {
		u64 address = user_code_address(words[i]);

		if (is_in_range(last, address) ||
		    address - LOWEST_ADDRESS >= span)
			continue;
		found = is_in_range(before, address) ? before
						     : find_range(bt, address);
		if (!found && bt->nr_ranges < BACKTRACE_MAX_RANGES)
			found = learn_range(walk, address);
		before = last;
		last = found ?: &none;
	}
}

/* The head of the record; the stack itself goes behind it. */
static void add_stack_record(struct walk *walk, const u64 *regs)
{
	struct backtrace *bt = walk->bt;
	struct stream *records = &bt->records;
	unsigned int i, nr_maps = 0;

	for (i = 0; i < bt->nr_ranges; i++)
		nr_maps += bt->ranges[i].is_code;
	stream_code(records, OP_USER_STACK,
		    4 + USER_NR_REGS + 4 * nr_maps + bt->stack_len / 8);
	stream_word(records, USER_STACK_ARCH);
	stream_word(records, USER_NR_REGS);
	stream_word(records, nr_maps);
	stream_word(records, bt->stack_len);
	for (i = 0; i < USER_NR_REGS; i++)
		stream_word(records, regs[i]);
	for (i = 0; i < bt->nr_ranges; i++) {
		const struct backtrace_range *range = &bt->ranges[i];

		if (!range->is_code)
			continue;
		stream_word(records, range->start);
		stream_word(records, range->end);
		stream_word(records, range->offset);
		stream_word(records, range->cookie);
	}
}

static void add_stack(struct walk *walk)
{
	struct backtrace *bt = walk->bt;
	u64 sp = user_stack_pointer(walk->regs), regs[USER_NR_REGS];
	bool is_found;

	if (!lock_maps(walk))
		return;
	is_found = find_sample(walk);
	if (is_found) {
		bt->stack_len = read_stack(walk, sp, wanted_len(walk, sp));
		user_dwarf_regs(walk->regs, regs);
		learn_ranges(walk, regs, USER_NR_REGS);
		learn_ranges(walk, (const u64 *)bt->stack, bt->stack_len / 8);
	}
	mmap_read_unlock(walk->mm);
	if (is_found)
		add_stack_record(walk, regs);
}

/* -------------------------------------------------------------------------- */

static bool is_of_user(const struct walk *walk)
{
	return walk->mm &&
	       !(walk->task->flags & (PF_KTHREAD | PF_USER_WORKER)) &&
	       user_mode(walk->regs);
}

static void add_user(struct walk *walk)
{
	if (backtrace_stack && user_is_64bit(walk->regs))
		add_stack(walk);
	else
		add_by_frame_pointers(walk);
}

void backtrace_add_user(struct backtrace *bt, const struct op_sample *sample)
{
	struct walk walk = {
		.bt = bt,
		.task = current,
		.mm = current->mm,
		.regs = task_pt_regs(current),
		.user = user_of(current),
		.place = *sample,
	};

	if (bt->ending == OP_TRACE_WHOLE && is_of_user(&walk))
		add_user(&walk);
}

void backtrace_add_user_of(struct backtrace *bt, const struct op_sample *sample,
			   const struct task_struct *task, struct mm_struct *mm,
			   struct pt_regs *regs, u32 user)
{
	struct walk walk = {
		.bt = bt,
		.task = task,
		.mm = mm,
		.regs = regs,
		.user = user,
		.place = *sample,
		.may_sleep = true,
	};

	if (bt->ending == OP_TRACE_WHOLE && is_of_user(&walk))
		add_user(&walk);
}

enum lookup backtrace_resolve(struct backtrace *bt, struct op_sample *sample)
{
	struct walk walk = {
		.bt = bt,
		.task = current,
		.mm = current->mm,
		.regs = task_pt_regs(current),
		.user = user_of(current),
		.place = *sample,
		.unresolved = sample,
		.may_sleep = true,
	};

	if (is_of_user(&walk)) {
		add_user(&walk);
		return walk.lookup;
	}
	if (lock_maps(&walk)) {
		find_sample(&walk);
		mmap_read_unlock(walk.mm);
	}
	return walk.lookup;
}
