/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef PP_OPTOP_OPTOP_KEYS_H
#define PP_OPTOP_OPTOP_KEYS_H

/* Actions of keys. A table has all of them, and the help is made of it. */

#include <wchar.h>

#include "pp/optop/optop_state.h"

/* Keys that are no characters; those of characters are their own. */
enum optop_key {
	OPTOP_KEY_UP = 0x110000, /* above all characters */
	OPTOP_KEY_DOWN,
	OPTOP_KEY_LEFT,
	OPTOP_KEY_RIGHT,
	OPTOP_KEY_PAGE_UP,
	OPTOP_KEY_PAGE_DOWN,
	OPTOP_KEY_HOME,
	OPTOP_KEY_END,
	OPTOP_KEY_ENTER,
	OPTOP_KEY_BACK, /* Esc */
	OPTOP_KEY_RUBOUT, /* Backspace */
	OPTOP_KEY_TAB,
};

/* Do what @key is for; nothing if it is for nothing. */
void optop_press(struct optop_state *state, wint_t key);

/* Line @nr of the help: "KEY" and "WHAT IT DOES"; false behind the last. */
bool optop_help_line(size_t nr, const char **key, const char **text);

#endif /* PP_OPTOP_OPTOP_KEYS_H */
