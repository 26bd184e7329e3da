// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The loop sleeps until there is a key, a signal, a reading, or the time for
 * the next one, which is counted from the end of the last: a session whose
 * reading takes longer than the interval is still shown at leisure. A screen is
 * drawn once for all that has come together.
 */

#include "libop/base/op_clock.h"
#include "pp/optop/optop_live.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "pp/optop/optop_draw.h"
#include "pp/optop/optop_keys.h"
#include "pp/optop/optop_terminal.h"
#include "pp/options.h"

struct live {
	struct optop_state *state;
	struct optop_terminal terminal;
	struct optop_reader *reader;
	uint64_t asked, answered; /* numbers of queries */
	uint64_t due; /* ms, when to read again */
	bool has_read; /* something */
	bool has_hung_up; /* the terminal */
};

/* ---- readings ------------------------------------------------------------ */

static bool reads_by_itself(const struct live *live)
{
	return live->state->interval && !live->state->is_paused &&
	       live->answered == live->asked;
}

static void ask_for_reading(struct live *live)
{
	struct optop_state *state = live->state;
	struct optop_pane *pane = optop_pane(state);
	const struct optop_query query = optop_query_of_pane(state);
	bool is_wanted =
		state->wants_reading &&
		(!state->is_paused || !pane->reading || state->wants_all);
	uint64_t number;

	if (!is_wanted &&
	    !(reads_by_itself(live) && op_clock_ms() >= live->due)) {
		state->wants_reading = false;
		return;
	}
	number = optop_reader_ask(
		live->reader, &query,
		state->wants_all || !pane->reading ? 0 : pane->files);
	if (!number) {
		optop_say(state, "out of memory");
		live->due = op_clock_ms() + 1000;
		return;
	}
	live->asked = pane->asked = number;
	state->wants_reading = state->wants_all = false;
}

/* Returns -errno where there is nothing to show and nothing will come. */
static int adopt_finished_reading(struct live *live, struct op_diag *diag)
{
	struct optop_state *state = live->state;
	struct optop_result result;

	if (!optop_reader_take(live->reader, &result))
		return 0;
	live->answered = result.number;
	live->due = op_clock_ms() + (uint64_t)state->interval * 1000;
	if (result.err && !live->has_read && result.daemon == OPTOP_NO_DAEMON) {
		*diag = result.diag;
		return result.err;
	}
	live->has_read = true;
	optop_take_result(state, &result);
	return 0;
}

/* ---- the screen ---------------------------------------------------------- */

static int draw_screen(struct live *live)
{
	struct optop_state *state = live->state;
	struct optop_grid grid;
	size_t nr_rows, nr_columns;
	int err;

	optop_terminal_size(&nr_rows, &nr_columns);
	state->nr_lines =
		nr_rows > OPTOP_OTHER_LINES ? nr_rows - OPTOP_OTHER_LINES : 1;
	optop_choose_line(state, optop_pane(state)->chosen);
	err = optop_grid_init(&grid, nr_rows, nr_columns);
	if (!err) {
		optop_draw(&grid, state);
		optop_terminal_show(&grid);
	}
	optop_grid_release(&grid);
	return err;
}

/* ---- the loop ------------------------------------------------------------ */

static int time_to_sleep(const struct live *live)
{
	uint64_t now = op_clock_ms();

	if (!reads_by_itself(live))
		return -1;
	return live->due > now ? (int)(live->due - now) : 0;
}

/* Sleep until something happens. Returns whether to go on. */
static bool await_events(struct live *live)
{
	struct pollfd fds[] = {
		{ .fd = STDIN_FILENO, .events = POLLIN },
		{ .fd = live->terminal.signals, .events = POLLIN },
		{ .fd = optop_reader_fd(live->reader), .events = POLLIN },
	};
	wint_t key;

	if (poll(fds, 3, time_to_sleep(live)) < 0 && errno != EINTR)
		return false;
	if (!optop_terminal_signals(&live->terminal))
		return false;
	while (!live->state->has_ended && optop_terminal_key(&key))
		optop_press(live->state, key);
	/* Keys that were typed before the end have been read by now. */
	live->has_hung_up = fds[0].revents & (POLLHUP | POLLERR | POLLNVAL);
	return !live->has_hung_up && !live->state->has_ended;
}

static int run_loop(struct live *live, struct op_diag *diag)
{
	int err;

	do {
		ask_for_reading(live);
		err = draw_screen(live);
		if (err)
			return op_diag_set(diag, err, "out of memory");
		if (!await_events(live))
			break;
		err = adopt_finished_reading(live, diag);
	} while (!err);
	if (!err && live->has_hung_up)
		return op_diag_set(diag, -EIO, "the terminal is gone");
	return err;
}

int optop_show_live(struct optop_state *state, const struct pp_request *base,
		    struct op_diag *diag)
{
	struct live live = { .state = state };
	int err = optop_terminal_open(&live.terminal, diag);

	if (err)
		return err;
	err = optop_reader_new(&live.reader, base, diag);
	if (!err)
		err = run_loop(&live, diag);
	optop_terminal_close(&live.terminal);
	if (!optop_reader_free(live.reader) || live.terminal.ended_by) {
		if (err)
			fprintf(stderr, "optop: %s\n",
				op_diag_text(diag, -ENOMEM));
		fflush(NULL);
		optop_terminal_raise(&live.terminal);
		_exit(err ? 1 : 0);
	}
	return err;
}

/* ---- once ---------------------------------------------------------------- */

/* A name may be as long as its writer liked. */
#define MAX_ONCE_COLUMNS 4096

/* Columns that names fit in; those of a terminal, where it is one. */
static size_t columns_of_output(const struct optop_pane *pane)
{
	struct winsize size;
	size_t most = 0;

	if (isatty(STDOUT_FILENO) && !ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) &&
	    size.ws_col)
		return size.ws_col;
	for (size_t i = 0; i < pane->shown.nr; i++) {
		const struct optop_line *line = &pane->shown.lines[i];
		size_t len = strlen(pane->reading->rows[line->row].name);

		most = len > most ? len : most;
	}
	return most < MAX_ONCE_COLUMNS - 160 ? 160 + most : MAX_ONCE_COLUMNS;
}

int optop_print_once(struct optop_state *state, const struct pp_request *base,
		     size_t nr_rows, struct op_diag *diag)
{
	const struct optop_query query = optop_query_of_pane(state);
	struct optop_pane *pane = optop_pane(state);
	struct optop_result result;
	struct optop_grid grid;
	int err;

	optop_read_now(base, &query, &result);
	if (result.err) {
		*diag = result.diag;
		return result.err;
	}
	pp_print_messages(stderr, "optop", &result.reading->report->messages,
			  state->verbose);
	result.number = pane->asked = 1;
	optop_take_result(state, &result);
	state->nr_lines =
		nr_rows && nr_rows < pane->shown.nr ? nr_rows : pane->shown.nr;
	state->nr_lines += !state->nr_lines;
	err = optop_grid_init(&grid, state->nr_lines + OPTOP_OTHER_LINES,
			      columns_of_output(pane));
	if (!err) {
		optop_draw(&grid, state);
		optop_grid_write(&grid, stdout);
	}
	optop_grid_release(&grid);
	if (err)
		return op_diag_set(diag, err, "out of memory");
	if (fflush(stdout) || ferror(stdout))
		return op_diag_set(diag, -EIO,
				   "standard output: cannot be written: %s",
				   strerror(errno));
	return 0;
}
