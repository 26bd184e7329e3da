// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * ncurses writes only what has changed since it wrote last. It would install
 * handlers for signals of its own, which never run here, as the signals are
 * blocked. A signal that was ignored when the program began, as by nohup(1),
 * stays so: it never arrives.
 *
 * Standard error is a file in memory meanwhile: a warning of a library in the
 * middle of the screen helps nobody, and would stay there.
 */

#define NCURSES_WIDECHAR 1

#include "pp/optop/optop_terminal.h"

#include <curses.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "pp/optop/optop_keys.h"

#define ESC 27
#define ESC_MS 50 /* after which Esc is a key, and no begin of another */

static const int caught[] = { SIGINT,	SIGTERM, SIGHUP, SIGQUIT,
			      SIGWINCH, SIGTSTP, SIGCONT };

/* ---- life ---------------------------------------------------------------- */

static int block_signals(struct optop_terminal *t, struct op_diag *diag)
{
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < sizeof(caught) / sizeof(caught[0]); i++)
		sigaddset(&set, caught[i]);
	sigprocmask(SIG_BLOCK, &set, NULL);
	t->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return t->signals < 0
		       ? op_diag_set(diag, -errno, "no signals can be read: %s",
				     strerror(errno))
		       : 0;
}

static void hold_stderr(struct optop_terminal *t)
{
	fflush(stderr);
	t->held_stderr = memfd_create("stderr", MFD_CLOEXEC);
	t->saved_stderr = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
	if (t->held_stderr >= 0 && t->saved_stderr >= 0)
		dup2(t->held_stderr, STDERR_FILENO);
}

static void release_stderr(struct optop_terminal *t)
{
	off_t from = 0;

	fflush(stderr);
	if (t->saved_stderr >= 0) {
		dup2(t->saved_stderr, STDERR_FILENO);
		close(t->saved_stderr);
	}
	if (t->held_stderr >= 0) {
		char buf[4096];
		ssize_t len;

		while ((len = pread(t->held_stderr, buf, sizeof(buf), from)) >
		       0) {
			from += len;
			fwrite(buf, 1, (size_t)len, stderr);
		}
		close(t->held_stderr);
	}
	t->saved_stderr = t->held_stderr = -1;
}

static void init_colors(void)
{
	const char *no_color = getenv("NO_COLOR");

	if ((no_color && *no_color) || !has_colors())
		return;
	start_color();
	use_default_colors();
	init_pair(1, COLOR_GREEN, -1);
	init_pair(2, COLOR_YELLOW, -1);
	init_pair(3, COLOR_RED, -1);
}

/* newterm() takes terminals, too, that print one line below the other. */
static bool can_move_cursor(void)
{
	return tigetstr("cup") != NULL;
}

int optop_terminal_open(struct optop_terminal *t, struct op_diag *diag)
{
	const char *type = getenv("TERM");
	int err;

	*t = (struct optop_terminal){ .signals = -1,
				      .saved_stderr = -1,
				      .held_stderr = -1 };
	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
		return op_diag_set(
			diag, -ENOTTY,
			"standard input and output must be a terminal; use --once to print a table");
	err = block_signals(t, diag);
	if (err)
		return err;
	t->screen = newterm(NULL, stdout, stdin);
	if (!t->screen || !can_move_cursor()) {
		optop_terminal_close(t);
		return op_diag_set(
			diag, -ENOTTY,
			"TERM=%s: unknown kind of terminal, or one that cannot move its cursor; set TERM to the kind of yours, as in TERM=xterm",
			type ? type : "");
	}
	hold_stderr(t);
	set_escdelay(ESC_MS);
	cbreak();
	noecho();
	nonl();
	keypad(stdscr, TRUE);
	nodelay(stdscr, TRUE);
	curs_set(0);
	init_colors();
	return 0;
}

void optop_terminal_close(struct optop_terminal *t)
{
	if (t->screen) {
		endwin();
		delscreen(t->screen);
	}
	t->screen = NULL;
	release_stderr(t);
	if (t->signals >= 0)
		close(t->signals);
	t->signals = -1;
}

void optop_terminal_raise(const struct optop_terminal *t)
{
	sigset_t set;

	if (!t->ended_by)
		return;
	sigemptyset(&set);
	sigaddset(&set, t->ended_by);
	signal(t->ended_by, SIG_DFL);
	raise(t->ended_by);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
}

/* ---- signals ------------------------------------------------------------- */

static void follow_size(void)
{
	struct winsize size;

	if (!ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) && size.ws_row &&
	    size.ws_col)
		resizeterm(size.ws_row, size.ws_col);
	clearok(curscr, TRUE);
}

static void stop_program(void)
{
	def_prog_mode();
	endwin();
	kill(getpid(), SIGSTOP);
	reset_prog_mode();
	follow_size();
}

bool optop_terminal_signals(struct optop_terminal *t)
{
	struct signalfd_siginfo info;

	while (read(t->signals, &info, sizeof(info)) == sizeof(info)) {
		switch (info.ssi_signo) {
		case SIGWINCH:
			follow_size();
			break;
		case SIGCONT: /* the shell may have changed the terminal */
			reset_prog_mode();
			follow_size();
			break;
		case SIGTSTP:
			stop_program();
			break;
		default:
			t->ended_by = (int)info.ssi_signo;
			return false;
		}
	}
	return true;
}

/* ---- the screen ---------------------------------------------------------- */

void optop_terminal_size(size_t *nr_rows, size_t *nr_columns)
{
	*nr_rows = LINES > 0 ? (size_t)LINES : 1;
	*nr_columns = COLS > 0 ? (size_t)COLS : 1;
}

static attr_t terminal_attr(uint8_t attr, short *pair)
{
	static const struct {
		attr_t with_colors, without;
		short pair;
	} attrs[OPTOP_NR_ATTRS] = {
		[OPTOP_BOLD] = { A_BOLD, A_BOLD, 0 },
		[OPTOP_FAINT] = { A_DIM, A_NORMAL, 0 },
		[OPTOP_BAR] = { A_REVERSE, A_REVERSE, 0 },
		[OPTOP_COOL] = { A_NORMAL, A_NORMAL, 1 },
		[OPTOP_WARM] = { A_NORMAL, A_NORMAL, 2 },
		[OPTOP_HOT] = { A_BOLD, A_BOLD, 3 },
		[OPTOP_ALERT] = { A_BOLD, A_BOLD, 3 },
	};
	bool has_pairs = COLOR_PAIRS > 3 && COLORS > 0;

	*pair = 0;
	if (attr & OPTOP_CHOSEN)
		return A_REVERSE;
	if (!has_pairs)
		return attrs[attr].without;
	*pair = attrs[attr].pair;
	return attrs[attr].with_colors;
}

void optop_terminal_show(const struct optop_grid *grid)
{
	erase();
	for (size_t row = 0; row < grid->nr_rows; row++) {
		const struct optop_cell *cells =
			&grid->cells[row * grid->nr_columns];

		for (size_t i = 0; i < grid->nr_columns; i++) {
			wchar_t text[2] = { cells[i].c, L'\0' };
			cchar_t out;
			short pair;
			attr_t attr = terminal_attr(cells[i].attr, &pair);

			if (!cells[i].c ||
			    setcchar(&out, text, attr, pair, NULL) == ERR)
				continue;
			/* In the last cell of all ERR says that the cursor
			 * cannot go on. */
			mvadd_wch((int)row, (int)i, &out);
		}
	}
	refresh();
}

/* ---- keys ---------------------------------------------------------------- */

static wint_t special_key(wint_t key)
{
	static const struct {
		wint_t theirs, ours;
	} keys[] = {
		{ KEY_UP, OPTOP_KEY_UP },
		{ KEY_DOWN, OPTOP_KEY_DOWN },
		{ KEY_LEFT, OPTOP_KEY_LEFT },
		{ KEY_RIGHT, OPTOP_KEY_RIGHT },
		{ KEY_PPAGE, OPTOP_KEY_PAGE_UP },
		{ KEY_NPAGE, OPTOP_KEY_PAGE_DOWN },
		{ KEY_HOME, OPTOP_KEY_HOME },
		{ KEY_END, OPTOP_KEY_END },
		{ KEY_ENTER, OPTOP_KEY_ENTER },
		{ KEY_BACKSPACE, OPTOP_KEY_RUBOUT },
	};

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (keys[i].theirs == key)
			return keys[i].ours;
	return 0;
}

bool optop_terminal_key(wint_t *key)
{
	wint_t c;

	switch (get_wch(&c)) {
	case KEY_CODE_YES:
		*key = special_key(c);
		return true;
	case OK:
		*key = c == '\r' || c == '\n'  ? OPTOP_KEY_ENTER
		       : c == '\t'	       ? OPTOP_KEY_TAB
		       : c == ESC	       ? OPTOP_KEY_BACK
		       : c == '\b' || c == 127 ? OPTOP_KEY_RUBOUT
					       : c;
		return true;
	default:
		return false;
	}
}
