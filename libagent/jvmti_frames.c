// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Facts: OpenJDK's C1_MacroAssembler::build_frame() and remove_frame(),
 * MacroAssembler::verified_entry(), MachEpilogNode::emit() in x86_64.ad;
 * section 6.4 of DWARF 5; "Exception Frames" in the Linux Standard Base.
 *
 * Before the prologue there are a check of the object's class and one of the
 * room on the stack. A frame is made in one of two ways:
 *
 *	push %rbp; [mov %rsp,%rbp;] sub $SIZE,%rsp
 *	sub $SIZE+8,%rsp; mov %rbp,SIZE(%rsp)
 *
 * and left by "add $SIZE,%rsp; pop %rbp", a safepoint poll and "ret", in as
 * many places as there are.
 */

#include "libagent/jvmti_frames.h"

#include <stdbool.h>
#include <string.h>

#define MAX_BEFORE_FRAME 96 /* bytes before a prologue */
#define MAX_EPILOGUE 40 /* from the pop to behind the ret */

enum {
	CFA_ADVANCE_LOC4 = 0x04,
	CFA_REMEMBER_STATE = 0x0a,
	CFA_RESTORE_STATE = 0x0b,
	CFA_DEF_CFA_OFFSET = 0x0e,
	CFA_OFFSET_RBP = 0x86,
	CFA_RESTORE_RBP = 0xc6,
};

/* Up to the frame, the return address is on top of the stack. */
static const uint8_t cie[] = {
	20,   0,    0,	 0, /* its length */
	0,    0,    0,	 0, /* it is a CIE */
	1,    'z',  'R', 0, /* version 1; augmentation */
	1,    0x78, 16, /* alignment of code: 1, of data: -8; return address */
	1,    0x1b, /* addresses are relative, in 4 bytes */
	12,   7,    8, /* the CFA is rsp + 8 */
	0x90, 1, /* the return address is at CFA - 8 */
	0,    0,
};

/* A frame: its prologue, as offsets in the code, and its size beyond rbp and
 * the return address. */
struct java_frame {
	size_t pushed; /* behind the push of rbp; 0: there is none */
	size_t made; /* behind the sub */
	size_t saved; /* where rbp is saved */
	uint32_t size;
};

struct frames_writer {
	uint8_t *out;
	size_t len;
	size_t at; /* in the code */
};

static void put_byte(struct frames_writer *w, uint8_t byte)
{
	w->out[w->len++] = byte;
}

static void put_word(struct frames_writer *w, uint32_t word)
{
	memcpy(w->out + w->len, &word, sizeof(word));
	w->len += sizeof(word);
}

static void put_advance(struct frames_writer *w, size_t to)
{
	put_byte(w, CFA_ADVANCE_LOC4);
	put_word(w, (uint32_t)(to - w->at));
	w->at = to;
}

static void put_cfa_offset(struct frames_writer *w, uint32_t offset)
{
	put_byte(w, CFA_DEF_CFA_OFFSET);
	for (; offset >= 0x80; offset >>= 7)
		put_byte(w, (uint8_t)(offset | 0x80));
	put_byte(w, (uint8_t)offset);
}

/* sub or add, as @modrm says, of a number to rsp. Returns its length or 0. */
static size_t read_adjustment(const uint8_t *code, size_t size, uint8_t modrm,
			      uint32_t *by)
{
	if (size < 4 || code[0] != 0x48 || code[2] != modrm)
		return 0;
	if (code[1] == 0x83) {
		*by = code[3];
		return code[3] < 0x80 ? 4 : 0;
	}
	if (code[1] != 0x81 || size < 7)
		return 0;
	memcpy(by, code + 3, sizeof(*by));
	return *by < 1u << 24 ? 7 : 0;
}

#define MODRM_SUB 0xec
#define MODRM_ADD 0xc4

/* mov %rbp,@offset(%rsp). Returns its length or 0. */
static size_t read_save(const uint8_t *code, size_t size, uint32_t offset)
{
	uint32_t at;

	if (size < 8 || code[0] != 0x48 || code[1] != 0x89 || code[3] != 0x24)
		return 0;
	if (code[2] == 0x6c)
		return code[4] == offset ? 5 : 0;
	memcpy(&at, code + 4, sizeof(at));
	return code[2] == 0xac && at == offset ? 8 : 0;
}

static bool read_frame(const uint8_t *code, size_t size, size_t at,
		       struct java_frame *frame)
{
	static const uint8_t moves[][3] = { { 0x48, 0x8b, 0xec },
					    { 0x48, 0x89, 0xe5 } };
	size_t len;

	*frame = (struct java_frame){ 0 };
	if (code[at] == 0x55) {
		frame->saved = frame->pushed = ++at;
		for (size_t i = 0; i < 2; i++)
			if (size - at >= 3 && !memcmp(code + at, moves[i], 3)) {
				at += 3;
				break;
			}
	}
	len = read_adjustment(code + at, size - at, MODRM_SUB, &frame->size);
	if (!len)
		return false;
	frame->made = at + len;
	if (frame->pushed)
		return true;
	if (frame->size < 8)
		return false;
	frame->size -= 8;
	len = read_save(code + frame->made, size - frame->made, frame->size);
	frame->saved = frame->made + len;
	return len > 0;
}

/* From the pop of rbp at @at, behind the ret; 0 if there is none soon. */
static size_t find_end_of_epilogue(const uint8_t *code, size_t size, size_t at)
{
	for (size_t i = at; i < size && i < at + MAX_EPILOGUE; i++)
		if (code[i] == 0xc3)
			return i + 1;
	return 0;
}

static void put_epilogues(struct frames_writer *w, const uint8_t *code,
			  size_t size, const struct java_frame *frame)
{
	/* An epilogue takes 20 bytes. */
	for (size_t at = frame->saved;
	     at < size && w->len < JAVA_FRAMES_BYTES - 64; at++) {
		uint32_t by;
		size_t len =
			read_adjustment(code + at, size - at, MODRM_ADD, &by);
		size_t pop = at + len, end;

		if (!len || by != frame->size || pop >= size ||
		    code[pop] != 0x5d)
			continue;
		end = find_end_of_epilogue(code, size, pop + 1);
		if (!end)
			continue;
		put_advance(w, pop);
		put_byte(w, CFA_REMEMBER_STATE);
		put_cfa_offset(w, 16);
		put_advance(w, pop + 1);
		put_byte(w, CFA_RESTORE_RBP);
		put_cfa_offset(w, 8);
		put_advance(w, end);
		put_byte(w, CFA_RESTORE_STATE);
		at = end - 1;
	}
}

size_t java_frames(const uint8_t *code, size_t size, uint8_t *out)
{
	struct frames_writer w = { .out = out };
	struct java_frame frame;
	size_t at = 0;
	uint32_t len;

	while (at < size && at < MAX_BEFORE_FRAME &&
	       !read_frame(code, size, at, &frame))
		at++;
	if (at == size || at == MAX_BEFORE_FRAME || size > INT32_MAX / 2)
		return 0;
	memcpy(out, cie, sizeof(cie));
	w.len = sizeof(cie) + sizeof(len);
	put_word(&w, (uint32_t)w.len);
	put_word(&w, -(uint32_t)(((size + 7) & ~(size_t)7) + w.len));
	put_word(&w, (uint32_t)size);
	put_byte(&w, 0);
	if (frame.pushed) {
		put_advance(&w, frame.pushed);
		put_cfa_offset(&w, 16);
		put_byte(&w, CFA_OFFSET_RBP);
		put_byte(&w, 2);
	}
	put_advance(&w, frame.made);
	put_cfa_offset(&w, 16 + frame.size);
	if (!frame.pushed) {
		put_advance(&w, frame.saved);
		put_byte(&w, CFA_OFFSET_RBP);
		put_byte(&w, 2);
	}
	put_epilogues(&w, code, size, &frame);
	while (w.len % 4)
		put_byte(&w, 0);
	len = (uint32_t)(w.len - sizeof(cie) - sizeof(len));
	memcpy(out + sizeof(cie), &len, sizeof(len));
	put_word(&w, 0);
	return w.len;
}
