// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Does libcfi decode x86-64 instructions as binutils do?
 *
 *	objdump -d -w --no-show-raw-insn=no FILE | insncheck
 *
 * Each instruction is decoded from its bytes alone: its length has to be the
 * same, and the class of its mnemonic (calls, jumps, returns, push and pop).
 * Prints "instructions N" and "wrong N", shows the first wrong ones on stderr
 * and exits with 1 if there are some. Bytes that objdump calls bad are left
 * out, and prefixes that it shows as an instruction of their own.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libcfi/x86_insn.h"

#define MAX_SHOWN 20
#define FWAIT 0x9b /* is taken as the beginning of the next instruction */

/* The bytes in hexadecimal at @text; *@end is what follows them. */
static size_t parse_bytes(const char *text, uint8_t *bytes, const char **end)
{
	size_t len = 0;
	unsigned int byte;

	while (len < X86_MAX_INSN && *text != ' ' && *text != '\t' &&
	       sscanf(text, "%2x", &byte) == 1 && text[2] == ' ') {
		bytes[len++] = (uint8_t)byte;
		text += 3;
	}
	/* Data among code stand there as they are, without a tab. */
	text += strspn(text, " ");
	*end = text + 1;
	return *text == '\t' ? len : 0;
}

static bool begins(const char *text, const char *word)
{
	return !strncmp(text, word, strlen(word));
}

/* Without the prefixes that objdump writes before it. */
static const char *mnemonic_of(const char *text)
{
	static const char *const prefixes[] = {
		"bnd ",	   "notrack ",	"rep ",	     "repz ", "repnz ",
		"data16 ", "cs ",	"ds ",	     "es ",   "ss ",
		"fs ",	   "gs ",	"rex.",	     "rex ",  "lock ",
		"addr32 ", "xacquire ", "xrelease ",
	};

	for (size_t i = 0; i < sizeof(prefixes) / sizeof(*prefixes); i++) {
		if (!begins(text, prefixes[i]))
			continue;
		text += strcspn(text, " ");
		text += strspn(text, " ");
		i = (size_t)-1;
	}
	return text;
}

static bool is_of_class(const struct x86_insn *insn, const char *m)
{
	switch ((enum x86_op)insn->op) {
	case X86_BRANCH:
		return *m == 'j' || begins(m, "loop");
	case X86_JUMP:
	case X86_JUMP_SLOT:
	case X86_JUMP_AWAY:
		return begins(m, "jmp");
	case X86_CALL:
		return begins(m, "call");
	case X86_RET:
		return begins(m, "ret");
	case X86_PUSH:
		return begins(m, "push");
	case X86_POP:
		return begins(m, "pop");
	case X86_LEAVE:
		return begins(m, "leave");
	case X86_ENTER:
		return begins(m, "enter");
	case X86_NOP:
		return begins(m, "nop") || begins(m, "xchg") ||
		       begins(m, "pause");
	case X86_ENDBR:
		return begins(m, "endbr");
	case X86_MOVE:
	case X86_LOAD:
	case X86_STORE:
		return begins(m, "mov");
	case X86_LEA:
		return begins(m, "lea");
	case X86_ADD:
		return begins(m, "add") || begins(m, "sub");
	case X86_STOP:
		return begins(m, "hlt") || begins(m, "int3") ||
		       begins(m, "ud") || begins(m, "iret") ||
		       begins(m, "lret") || begins(m, "ljmp") ||
		       begins(m, "lcall") || begins(m, "sys");
	case X86_OTHER:
		break;
	}
	return !begins(m, "call") && !begins(m, "ret") && !begins(m, "jmp") &&
	       !begins(m, "push") && !begins(m, "leave") &&
	       (!begins(m, "pop") || begins(m, "popcnt"));
}

static bool is_right(const uint8_t *bytes, size_t len, const char *mnemonic)
{
	/* An end that is not there must be missed. */
	uint8_t *exact = malloc(len);
	struct x86_insn insn;
	bool is_same;

	if (!exact)
		abort();
	memcpy(exact, bytes, len);
	is_same = x86_decode(exact, len, &insn) && insn.len == len &&
		  is_of_class(&insn, mnemonic) &&
		  !x86_decode(exact, len - 1, &insn);
	free(exact);
	return is_same;
}

int main(void)
{
	unsigned long nr = 0, nr_wrong = 0;
	static char line[65536];

	while (fgets(line, sizeof(line), stdin)) {
		const char *at = strstr(line, ":\t");
		uint8_t bytes[X86_MAX_INSN];
		size_t len = at ? parse_bytes(at + 2, bytes, &at) : 0;

		if (!len || strstr(at, "(bad)") || *at == '.' ||
		    *bytes == FWAIT || *mnemonic_of(at) == '\n' ||
		    !*mnemonic_of(at))
			continue;
		nr++;
		if (!is_right(bytes, len, mnemonic_of(at)) &&
		    nr_wrong++ < MAX_SHOWN)
			fputs(line, stderr);
	}
	printf("instructions %lu\nwrong %lu\n", nr, nr_wrong);
	return nr_wrong ? 1 : 0;
}
