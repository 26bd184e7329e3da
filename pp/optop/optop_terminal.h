/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef PP_OPTOP_OPTOP_TERMINAL_H
#define PP_OPTOP_OPTOP_TERMINAL_H

/*
 * The terminal, by ncurses. While it is open, signals that end or stop the
 * program, or tell of another size, are blocked and read from a descriptor, so
 * that the terminal is set back before the program ends or stops. What is
 * printed on standard error meanwhile, by whatever library, comes when the
 * terminal is closed.
 */

#include <stdbool.h>
#include <wchar.h>

#include "libop/base/op_diag.h"
#include "pp/optop/optop_grid.h"

struct optop_terminal {
	int signals; /* descriptor */
	int saved_stderr, held_stderr; /* -1: none */
	int ended_by; /* the signal; 0: none */
	void *screen; /* ncurses' */
};

/* Returns 0 or -errno with the reason; then nothing is open. Threads are to be
 * started after it. */
int optop_terminal_open(struct optop_terminal *terminal, struct op_diag *diag);

/* Set the terminal back; once or more often. */
void optop_terminal_close(struct optop_terminal *terminal);

/* End the program by the signal that was caught, if one was; so that its parent
 * sees that. */
void optop_terminal_raise(const struct optop_terminal *terminal);

void optop_terminal_size(size_t *nr_rows, size_t *nr_columns);
void optop_terminal_show(const struct optop_grid *grid);

/* The next key that was pressed, in terms of optop_keys.h; false if there is
 * none. */
bool optop_terminal_key(wint_t *key);

/*
 * Handle the signals that have come: a stop is done here, and so is a change of
 * the size. Returns false when the program is to end.
 */
bool optop_terminal_signals(struct optop_terminal *terminal);

#endif /* PP_OPTOP_OPTOP_TERMINAL_H */
