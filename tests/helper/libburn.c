// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A library with one function that burns, BURN_NAME, and BURN_NAME_padding,
 * which nothing ever calls. Two libraries made with different BURN_BEFORE
 * (bytes of padding before the function) have their code at different
 * offsets, each where the other has padding: a sample in the padding is one
 * that was given to the wrong library.
 */

#include "burn.h"

#define PAD_TOTAL 65536

#define TEXT2(x) #x
#define TEXT(x) TEXT2(x)
#define JOIN2(a, b) a##b
#define JOIN(a, b) JOIN2(a, b)

#define PADDING(name, bytes)                                                            \
	__asm__(".text\n.type " TEXT(name) ", @function\n" TEXT(name) ":\n.skip " TEXT( \
		bytes) ", 0xcc\n.size " TEXT(name) ", " TEXT(bytes) "\n")

PADDING(JOIN(BURN_NAME, _padding), BURN_BEFORE);
BURN_FUNCTION(BURN_NAME)
PADDING(JOIN(BURN_NAME, _padding_behind), PAD_TOTAL - BURN_BEFORE);
