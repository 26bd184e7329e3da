// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * optop on a session: what each view, and what is opened from there, shows
 * after some keys; and optop as a program, on a terminal and without.
 */

/* What a row of a table does not name is zero. */
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

#include "tests/unit/pp/pp_program.h"

#include <ctype.h>
#include <locale.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <termios.h>
#include <utmp.h>

#include "pp/optop/optop_draw.h"
#include "pp/optop/optop_keys.h"
#include "pp/optop/optop_terminal.h"

/* main() under another name. */
#define main optop_main
int main(int argc, char **argv);
#include "pp/optop/optop.c"
#undef main

static const struct program programs[] = {
	{ "optop", optop_main },
	{ NULL, NULL },
};

/* newterm() of ncurses forgets memory when the terminal is unknown. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
	return "leak:new_prescr\n";
}

/* ---- screens ------------------------------------------------------------- */

struct screen {
	struct optop_state state;
	struct pp_request base;
	struct pp_spec spec;
	struct op_session session;
	uint64_t asked;
};

static void open_screen(struct screen *s, enum optop_kind view)
{
	*s = (struct screen){ 0 };
	assert_int_equal(op_session_init(&s->session, ".", NULL), 0);
	assert_int_equal(pp_spec_init(&s->spec, NULL, NULL), 0);
	s->base = (struct pp_request){
		.select = { .session = &s->session,
			    .spec = &s->spec,
			    .as_taken = true },
		.images.root = "root",
		.names.inlines = true,
	};
	assert_int_equal(pp_sort_init(&s->base.symbols.sort, NULL, NULL), 0);
	assert_int_equal(optop_state_init(&s->state, "here", view), 0);
	s->state.is_once = true;
}

static void close_screen(struct screen *s)
{
	optop_state_release(&s->state);
	pp_spec_release(&s->spec);
}

/* Read what the state wants, as the screen has it read. */
static void read_wanted(struct screen *s)
{
	const struct optop_query query = optop_query_of_pane(&s->state);
	struct optop_result result;

	if (!s->state.wants_reading)
		return;
	s->state.wants_reading = s->state.wants_all = false;
	optop_pane(&s->state)->asked = ++s->asked;
	optop_read_now(&s->base, &query, &result);
	result.number = s->asked;
	optop_take_result(&s->state, &result);
}

static wint_t key_called(const char *word)
{
	static const struct {
		const char *name;
		wint_t key;
	} names[] = {
		{ "Enter", OPTOP_KEY_ENTER },	{ "Back", OPTOP_KEY_BACK },
		{ "Down", OPTOP_KEY_DOWN },	{ "End", OPTOP_KEY_END },
		{ "Left", OPTOP_KEY_LEFT },	{ "Right", OPTOP_KEY_RIGHT },
		{ "Rubout", OPTOP_KEY_RUBOUT },
	};

	for (size_t i = 0; i < NR(names); i++)
		if (!strcmp(names[i].name, word))
			return names[i].key;
	{
		wchar_t key[2];

		assert_int_equal(mbstowcs(key, word, NR(key)), 1);
		return (wint_t)*key;
	}
}

/* A letter for each cell, of how it looks; capitals in the chosen line. */
static void write_colors(FILE *out, const struct optop_grid *grid)
{
	static const char letters[OPTOP_NR_ATTRS] = {
		[OPTOP_PLAIN] = '.', [OPTOP_BOLD] = 'b',  [OPTOP_FAINT] = 'f',
		[OPTOP_BAR] = 'v',   [OPTOP_COOL] = 'c',  [OPTOP_WARM] = 'w',
		[OPTOP_HOT] = 'h',   [OPTOP_ALERT] = 'a',
	};

	for (size_t i = 0; i < grid->nr_rows * grid->nr_columns; i++) {
		uint8_t attr = grid->cells[i].attr;
		char letter = letters[attr & ~OPTOP_CHOSEN];

		fputc(attr & OPTOP_CHOSEN
			      ? (letter == '.' ? '=' : toupper(letter))
			      : letter,
		      out);
		if ((i + 1) % grid->nr_columns == 0)
			fputc('\n', out);
	}
}

/* Press @keys, words; then the whole screen, but for blanks at line ends. */
static void write_screen(FILE *out, struct screen *s, const char *keys,
			 size_t columns, size_t nr_lines)
{
	const char *words[24] = { NULL };
	struct optop_grid grid;
	char copy[128];

	split_words(keys, copy, words, NR(words));
	s->state.nr_lines = nr_lines ?: 100;
	read_wanted(s);
	for (size_t i = 0; words[i]; i++) {
		optop_press(&s->state, key_called(words[i]));
		read_wanted(s);
	}
	s->state.nr_lines = nr_lines ?: optop_pane(&s->state)->shown.nr ?: 1;
	optop_choose_line(&s->state, optop_pane(&s->state)->chosen);
	assert_int_equal(optop_grid_init(&grid,
					 s->state.nr_lines + OPTOP_OTHER_LINES,
					 columns),
			 0);
	optop_draw(&grid, &s->state);
	optop_grid_write(&grid, out);
	if (!s->state.is_once)
		write_colors(out, &grid);
	optop_grid_release(&grid);
}

struct screen_row {
	enum optop_kind view;
	const char *keys, *wanted;
	size_t columns;
	bool has_colors; /* as on a terminal */
	size_t nr_lines; /* of the table; 0: as many as there are */
};

static void check_screens(const struct screen_row *rows, size_t nr,
			  const char *folder)
{
	for (size_t i = 0; i < nr; i++) {
		const char *keys = rows[i].keys;
		struct text all;
		struct screen s;

		open_screen(&s, rows[i].view);
		s.state.is_once = !rows[i].has_colors;
		write_screen(text_begin(&all), &s, keys, rows[i].columns ?: 100,
			     rows[i].nr_lines);
		close_screen(&s);
		text_below_must_be(&all, folder, keys, rows[i].wanted);
	}
}

FOLDER_TEST(sessions_are_shown)
{
	static const char *const lines[] = {
		SAMPLES_OF_X,
		"current x x MISSES 1010=50 1004=2",
		"current x k CYCLES 110=10",
		"current y y CYCLES 1002=7 100e=9 2000=1",
		"current z z CYCLES 1000=3 1040=2",
	};
	static const struct screen_row rows[] = {
		{ OPTOP_IMAGES, "", EXPECTED_AS("no keys, 1") },
		{ OPTOP_IMAGES, "e", EXPECTED_AS("e, 1") },
		{ OPTOP_IMAGES, "Down Enter", EXPECTED_AS("Down Enter, 1") },
		{ OPTOP_SYMBOLS, "", EXPECTED("symbols") },
		{ OPTOP_SYMBOLS, "s", EXPECTED("symbols-s") },
		{ OPTOP_SYMBOLS, "Enter", EXPECTED("symbols-enter") },
		{ OPTOP_SYMBOLS, "Enter e", EXPECTED("symbols-enter-e") },
		{ OPTOP_SYMBOLS, "Enter Right",
		  EXPECTED("symbols-enter-right") },
		{ OPTOP_SYMBOLS, "Enter Left", EXPECTED_ROW },
		{ OPTOP_SYMBOLS, "Enter Left s", EXPECTED_ROW },
		{ OPTOP_SYMBOLS, "Enter /", EXPECTED("symbols-enter-2") },
		{ OPTOP_SYMBOLS, "/ t i Enter Enter", EXPECTED_ROW },
		{ OPTOP_SYMBOLS, "/ t i Enter Enter 1", EXPECTED_ROW },
		{ OPTOP_SYMBOLS, "/ t i Enter Back",
		  EXPECTED("symbols-t-i-enter-back") },
		{ OPTOP_SYMBOLS, "/ y Rubout w o r k Enter Enter",
		  EXPECTED_ROW },
		{ OPTOP_SYMBOLS, "/ y Rubout w o r k Enter Enter 2",
		  EXPECTED_ROW },
		{ OPTOP_SYMBOLS, "/ / b i n / y Enter Enter", EXPECTED_ROW },
		{ OPTOP_SYMBOLS, "/ / b i n / z Enter Enter", EXPECTED_ROW },
		{ OPTOP_SYMBOLS, "/ s e c Enter Enter 2",
		  EXPECTED("symbols-s-e-c-enter-enter-2") },
		{ OPTOP_IMAGES, "", EXPECTED_AS("no keys, 2"), 24 },
		{ OPTOP_SYMBOLS, "", EXPECTED("symbols-2"), 60, true },
		{ OPTOP_SYMBOLS, "Down / o", EXPECTED("symbols-down-o"), 60,
		  true },
		{ OPTOP_SYMBOLS, "Enter Down", EXPECTED("symbols-enter-down"),
		  60, true },
		{ OPTOP_SYMBOLS, "?", EXPECTED("symbols-3"), 60, true },
		{ OPTOP_SYMBOLS, "w", EXPECTED("symbols-w"), 90, true },
		{ OPTOP_SYMBOLS, "i", EXPECTED("symbols-i"), 90, true },
		{ OPTOP_SYMBOLS, "t r", EXPECTED("symbols-t-r"), 90, true },
		{ OPTOP_SYMBOLS, "", EXPECTED("symbols-4"), 38 },
		{ OPTOP_SYMBOLS, "Enter", EXPECTED("symbols-enter-3"), 50 },
		{ OPTOP_LINES, "", EXPECTED("lines"), 170 },
		{ OPTOP_LINES, "", EXPECTED("lines-2") },
		{ OPTOP_LINES, "Enter", EXPECTED("lines-enter") },
		{ OPTOP_LINES, "Enter 1", EXPECTED_ROW },
		{ OPTOP_LINES, "Enter 3", EXPECTED_ROW },
		{ OPTOP_LINES, "/ x . h Enter Enter", EXPECTED_ROW },
		{ OPTOP_LINES, "End Enter", EXPECTED("lines-end-enter") },
		{ OPTOP_PROCESSES, "", EXPECTED_AS("no keys, 3") },
		{ OPTOP_THREADS, "", EXPECTED_AS("no keys, 4") },
		{ OPTOP_CGROUPS, "", EXPECTED_AS("no keys, 5") },
	};

	make_binaries();
	write_session(lines, NR(lines));
	check_screens(rows, NR(rows), *state);
}

FOLDER_TEST(calls_and_tasks_are_shown)
{
	static const char *const lines[] = {
		"current x x CYCLES.5.6 1004=9 1002=6",
		"current x x CYCLES.5.5 1020=2",
		"current x k CYCLES.5.5 110=4",
		"current z k CYCLES.7.7 110=3",
		"current z k MISSES.7.7 110=8",
		"tree current x CYCLES.5.6 9:x+1020>x+1004 5:x+1020>x+1002 1:x+1002",
		"tree current x CYCLES.5.5 2:x+1020 4:x+1020>x+1002>x+1002>k+110",
		"tree current z CYCLES.7.7 3:x+1020>k+110",
		"tree current z MISSES.7.7 8:x+1020>k+110",
	};
	static const struct screen_row rows[] = {
		{ OPTOP_SYMBOLS, "", EXPECTED_AS("no keys, 6") },
		{ OPTOP_SYMBOLS, "s", EXPECTED_AS("s, 1") },
		{ OPTOP_SYMBOLS, "/ f i r Enter Enter 3",
		  EXPECTED("symbols-f-i-r-enter-enter-3") },
		{ OPTOP_SYMBOLS, "/ f i r Enter Enter 3 e",
		  EXPECTED("symbols-f-i-r-enter-enter-3-e") },
		{ OPTOP_SYMBOLS, "/ s e c Enter Enter 3", EXPECTED_ROW },
		{ OPTOP_SYMBOLS, "/ s e c Enter Enter 3 Down Enter 3",
		  EXPECTED_ROW },
		{ OPTOP_PROCESSES, "", EXPECTED_AS("no keys, 7") },
		{ OPTOP_PROCESSES, "e", EXPECTED_AS("e, 2") },
		{ OPTOP_PROCESSES, "Enter", EXPECTED_AS("Enter, 1") },
		{ OPTOP_PROCESSES, "Down Enter Enter", EXPECTED_ROW },
		{ OPTOP_THREADS, "", EXPECTED("threads") },
		{ OPTOP_THREADS, "Down Enter", EXPECTED_AS("Down Enter, 2") },
		{ OPTOP_THREADS, "Down Enter Back", EXPECTED_ROW },
	};

	make_binaries();
	write_session(lines, NR(lines));
	check_screens(rows, NR(rows), *state);
}

/* What moves the chosen line, and where it is at first. */
FOLDER_TEST(lines_are_chosen)
{
	static const char *const lines[] = {
		"current x x CYCLES 101a=50 1004=9 1002=6 1020=2",
		"current x k CYCLES 210=8 310=4",
		"current x x MISSES 1010=3",
		"current x x STALLS 1010=1",
		"tree current x CYCLES 50:x+1020>x+101a 9:x+1020>x+1004 6:x+1020>x+1002 2:x+1020",
	};
	static const struct screen_row rows[] = {
		{ OPTOP_SYMBOLS, "Enter", EXPECTED("symbols-enter-4"),
		  .has_colors = true },
		{ OPTOP_SYMBOLS, "Enter", EXPECTED("symbols-enter-5"),
		  .has_colors = true, .nr_lines = 5 },
		{ OPTOP_SYMBOLS, "Enter 3", EXPECTED("symbols-enter-3-2"),
		  .has_colors = true },
		{ OPTOP_SYMBOLS, "Down", EXPECTED("symbols-down"),
		  .has_colors = true, .nr_lines = 3 },
		{ OPTOP_SYMBOLS, "End", EXPECTED("symbols-end"),
		  .has_colors = true, .nr_lines = 3 },
		{ OPTOP_SYMBOLS, "/ w a i Enter Enter", EXPECTED_ROW },
		{ OPTOP_SYMBOLS, "/ w a i Enter Down Enter", EXPECTED_ROW },
		{ OPTOP_SYMBOLS, "/ w a i Enter Down Enter 3", EXPECTED_ROW },
		{ OPTOP_SYMBOLS, "/ x \u00e9 \u20ac \U0001d11e Enter",
		  EXPECTED_ROW },
		{ OPTOP_SYMBOLS,
		  "/ x \u00e9 \u20ac \U0001d11e Rubout Rubout Enter",
		  EXPECTED_ROW },
		{ OPTOP_IMAGES, "e", EXPECTED_AS("e, 3") },
		{ OPTOP_IMAGES, "e e", EXPECTED_ROW },
		{ OPTOP_IMAGES, "e e e", EXPECTED_ROW },
		{ OPTOP_IMAGES, "Enter Enter", EXPECTED_ROW, .nr_lines = 2 },
		{ OPTOP_IMAGES, "Enter Enter Back Back", EXPECTED_ROW },
		{ OPTOP_LINES, "/ k e Enter Enter", EXPECTED_ROW },
		{ OPTOP_LINES, "/ n o Enter Enter", EXPECTED_ROW },
		{ OPTOP_SYMBOLS, "Enter s", EXPECTED_ROW, .nr_lines = 2 },
		{ OPTOP_IMAGES, "s", EXPECTED_AS("s, 2") },
	};

	make_binaries();
	write_session(lines, NR(lines));
	check_screens(rows, NR(rows), *state);
}

/* One cgroup is called like a pattern that matches another one. */
FOLDER_TEST(cgroups_are_shown)
{
	static const char *const lines[] = {
		"current /bin/x/{cgroup}/web/a*.service x CYCLES 1004=9 1002=6",
		"current /bin/x/{cgroup}/web/ab.service x CYCLES 1020=8",
		"current /bin/x/{cgroup} x CYCLES 1030=3",
		"current /bin/x/{no-cgroup} x CYCLES 1002=1",
	};
	static const struct screen_row rows[] = {
		{ OPTOP_CGROUPS, "", EXPECTED_AS("no keys, 8") },
		{ OPTOP_CGROUPS, "Enter", EXPECTED_AS("Enter, 2") },
		{ OPTOP_CGROUPS, "Down Enter", EXPECTED_AS("Down Enter, 3") },
		{ OPTOP_CGROUPS, "Down Down Enter", EXPECTED_ROW },
		{ OPTOP_CGROUPS, "End Enter", EXPECTED_ROW },
	};

	make_binaries();
	write_session(lines, NR(lines));
	check_screens(rows, NR(rows), *state);
}

/* Lines behind the end of a source are told by their numbers. */
FOLDER_TEST(other_sources_are_shown)
{
	static const struct screen_row shorter[] = {
		{ OPTOP_SYMBOLS, "Enter 2", EXPECTED("symbols-enter-2-2") },
		{ OPTOP_LINES, "Enter", EXPECTED("lines-enter-2") },
	};
	static const struct screen_row newer[] = {
		{ OPTOP_LINES, "Enter", EXPECTED("lines-enter-3") },
	};
	static const struct program_row once[] = {
		{ .line = "optop --once --session-dir=. --base-dirs=/src",
		  .wanted = EXPECTED_ROW },
	};

	make_binaries();
	made_header.mtime = 1000;
	write_session(one_event, NR(one_event));
	made_header.mtime = 0;
	assert_int_equal(system("printf 'if (x)\\n\\ta\\tb;\\n\\n' >src/x.c && "
				"touch -d @1000 src/x.c && rm src/x.h"),
			 0);
	check_screens(shorter, NR(shorter), *state);
	assert_int_equal(system("touch src/x.c"), 0);
	check_screens(newer, NR(newer), *state);
	check_runs(programs, once, NR(once), *state);
}

/* Compiled elsewhere. */
FOLDER_TEST(sources_are_searched)
{
	static const char *const search[] = { "moved", NULL };
	static const char *const bases[] = { ".", NULL };
	struct text all;
	struct screen s;

	make_binaries();
	write_session(one_event, NR(one_event));
	assert_int_equal(system("mkdir moved && mv src moved"), 0);
	open_screen(&s, OPTOP_LINES);
	s.base.lines.source_dirs = (struct pp_source_dirs){ search, bases };
	write_screen(text_begin(&all), &s, "/ x . h Enter Enter", 100, 0);
	close_screen(&s);
	text_below_must_be(&all, *state, "searched", EXPECTED_ROW);
}

/* ---- the program --------------------------------------------------------- */

FOLDER_TEST(tables_are_printed_once)
{
	static const struct program_row rows[] = {
		{ .line = "optop --once --session-dir=. --root=root",
		  .wanted = EXPECTED_ROW },
		{ .line = "optop --once --session-dir=. --root=root --rows=2 --no-inlines",
		  .wanted = EXPECTED_ROW },
		{ .line = "optop --once --session-dir=. --root=root --rows=0 --view=line",
		  .wanted = EXPECTED("optop-once-rows-0-view-line") },
		{ .line = "optop --once --session-dir=. --root=root --filter=i --view=image",
		  .wanted = EXPECTED_ROW },
		{ .line = "optop --once --session-dir=. --root=root --filter=none -s total",
		  .wanted = EXPECTED_ROW },
		{ .line = "optop --once --session-dir=. --root=root session:current",
		  .wanted = EXPECTED_ROW },
		{ .line = "optop --once --session-dir=. /bin/none",
		  .wanted = EXPECTED_ROW },
		{ .line = "optop --once --session-dir=none",
		  .wanted = EXPECTED_ROW },
		{ .line = "optop --once --session-dir=. --view=tree",
		  .wanted = EXPECTED_ROW },
		{ .line = "optop --once --session-dir=. --sort=name",
		  .wanted = EXPECTED_ROW },
		{ .line = "optop --once --session-dir=. --interval=1",
		  .wanted = EXPECTED_ROW },
		{ .line = "optop --once --session-dir=. --rows=1000001",
		  .wanted = EXPECTED_ROW },
		{ .line = "optop --once --session-dir=. --rows=x",
		  .wanted = EXPECTED_ROW },
		{ .line = "optop --session-dir=. --rows=1",
		  .wanted = EXPECTED_ROW },
		{ .line = "optop --session-dir=. --interval=86401",
		  .wanted = EXPECTED_ROW },
		{ .line = "optop --session-dir=. --filter=123456789012345678901234567890123456789012345678901234567890123",
		  .wanted = EXPECTED_ROW },
		{ .line = "optop --session-dir=. --filter=1234567890123456789012345678901234567890123456789012345678901234",
		  .wanted = EXPECTED_ROW },
		{ .line = "optop --session-dir=. --demangle=x",
		  .wanted = EXPECTED_ROW },
		{ .line = "optop --session-dir=. { } { }",
		  .wanted = EXPECTED_ROW },
		{ .line = "optop --session-dir=.", .wanted = EXPECTED_ROW },
	};

	make_binaries();
	write_session(one_event, NR(one_event));
	check_runs(programs, rows, NR(rows), *state);
}

/* ---- on a terminal ------------------------------------------------------- */

struct live_run {
	pid_t pid;
	int master, slave;
	struct termios before;
	char seen[1 << 16]; /* since text was found last */
	size_t len;
};

static void start_on_terminal(struct live_run *run,
			      int (*main)(int argc, char **argv),
			      const char *line, const char *type)
{
	struct winsize size = { .ws_row = 24, .ws_col = 100 };
	const char *words[24] = { NULL };
	char copy[512];
	int argc = 0;

	split_words(line, copy, words, NR(words));
	while (words[argc])
		argc++;
	run->len = 0;
	assert_int_equal(openpty(&run->master, &run->slave, NULL, NULL, &size),
			 0);
	assert_int_equal(tcgetattr(run->slave, &run->before), 0);
	fflush(NULL);
	run->pid = fork();
	if (run->pid == 0) {
		close(run->master);
		if (login_tty(run->slave))
			_exit(99);
		setenv("TERM", type, 1);
		exit(main(argc, (char **)words));
	}
	assert_true(run->pid > 0);
}

static void start_live(struct live_run *run, const char *line, const char *type)
{
	start_on_terminal(run, optop_main, line, type);
}

/* Wait until @text was written since the last one that was awaited. */
static void await_text(struct live_run *run, const char *text)
{
	char *at;

	for (;;) {
		struct pollfd fd = { .fd = run->master, .events = POLLIN };
		ssize_t len;

		run->seen[run->len] = '\0';
		at = strstr(run->seen, text);
		if (at)
			break;
		assert_true(run->len + 1 < sizeof(run->seen));
		if (poll(&fd, 1, 120000) != 1)
			fail_msg("no \"%s\" in\n%s", text, run->seen);
		len = read(run->master, run->seen + run->len,
			   sizeof(run->seen) - 1 - run->len);
		assert_true(len > 0);
		run->len += (size_t)len;
	}
	at += strlen(text);
	run->len -= (size_t)(at - run->seen);
	memmove(run->seen, at, run->len);
}

static void press_keys(struct live_run *run, const char *keys)
{
	assert_int_equal(write(run->master, keys, strlen(keys)), strlen(keys));
}

/* Wait for its end, of which the terminal is as it was. */
static int end_live(struct live_run *run)
{
	struct termios after;
	int status;

	assert_int_equal(waitpid(run->pid, &status, 0), run->pid);
	assert_int_equal(tcgetattr(run->slave, &after), 0);
	assert_int_equal(after.c_lflag, run->before.c_lflag);
	assert_int_equal(after.c_iflag, run->before.c_iflag);
	assert_int_equal(after.c_oflag, run->before.c_oflag);
	close(run->slave);
	close(run->master);
	return status;
}

#define LIVE "optop --session-dir=. --root=root --interval=0"

FOLDER_TEST(keys_are_typed)
{
	static const struct {
		const char *keys, *shown;
	} rows[] = {
		{ "", "\033[?25l" }, /* no cursor */
		{ "", "\033[31m" }, /* hot, warm and cool */
		{ "", "\033[33m" },
		{ "", "\033[32m" },
		{ "", "bare" },
		{ "s", "there are no totals" },
		{ "e", "only this event" },
		{ "?", "one line up" },
		{ "q", "second" }, /* it closes the help */
		{ "/ti\177\r", "filter: t" },
		{ "\033", "" },
		{ "\033OB\r", "tiny" },
		{ "3", "callers" },
		{ "\b6", "path" },
		{ "\033OC", "/bin/x" }, /* round to the first view */
		{ "\033OD4\t", "not separate them" },
		{ "2\033OF\r", "401030" },
	};
	struct live_run run;

	make_binaries();
	write_session(one_event, 1);
	start_live(&run, LIVE, "xterm");
	for (size_t i = 0; i < NR(rows); i++) {
		press_keys(&run, rows[i].keys);
		await_text(&run, rows[i].shown);
	}
	press_keys(&run, "q");
	assert_int_equal(end_live(&run), 0);
}

#define ACCOUNT_OF                                                             \
	"source = x\ntaken = 9000\nstored = 1000\npending = 0\n"               \
	"lost.buffer_full = "

FOLDER_TEST(readings_are_shown)
{
	struct winsize large = { .ws_row = 40, .ws_col = 160 };
	struct live_run run;

	make_binaries();
	write_session(one_event, NR(one_event));
	start_live(&run, LIVE, "xterm");
	await_text(&run, "do_work");
	write_samples("current x k CYCLES 210=777");
	press_keys(&run, "r");
	await_text(&run, "777");
	/* All is drawn anew. */
	assert_int_equal(ioctl(run.master, TIOCSWINSZ, &large), 0);
	await_text(&run, "do_work");
	press_keys(&run, "q");
	assert_int_equal(end_live(&run), 0);
	start_live(&run, "optop --session-dir=. --interval=1", "xterm");
	await_text(&run, "do_work");
	/* A new folder is seen. */
	write_samples("current k k CYCLES 410=888");
	await_text(&run, "888");
	/* So is another account in a file that was there. */
	write_text("samples/current/ledger", ACCOUNT_OF "2222\n");
	await_text(&run, "lost 2222");
	write_text("samples/current/ledger", ACCOUNT_OF "3333\n");
	await_text(&run, "3333");
	press_keys(&run, "q");
	assert_int_equal(end_live(&run), 0);
}

FOLDER_TEST(signals_end_or_stop)
{
	static const int ending[] = { SIGTERM, SIGINT, SIGQUIT, SIGHUP };
	struct live_run run;
	int status;

	mkdir("root", 0755);
	write_session(one_event, NR(one_event));
	for (size_t i = 0; i < NR(ending); i++) {
		start_live(&run, LIVE, "xterm");
		await_text(&run, "do_work");
		kill(run.pid, ending[i]);
		status = end_live(&run);
		assert_true(WIFSIGNALED(status));
		assert_int_equal(WTERMSIG(status), ending[i]);
	}
	start_live(&run, LIVE, "xterm");
	await_text(&run, "do_work");
	kill(run.pid, SIGTSTP);
	assert_int_equal(waitpid(run.pid, &status, WUNTRACED), run.pid);
	assert_true(WIFSTOPPED(status));
	run.len = 0;
	kill(run.pid, SIGCONT);
	await_text(&run, "do_work");
	press_keys(&run, "q");
	assert_int_equal(end_live(&run), 0);
}

static int print_a_message(int argc, char **argv)
{
	struct optop_terminal terminal;
	struct op_diag diag;

	(void)argc;
	(void)argv;
	if (optop_terminal_open(&terminal, &diag))
		return 1;
	fputs("a message\n", stderr);
	optop_terminal_close(&terminal);
	optop_terminal_close(&terminal);
	fputs("another one\n", stderr);
	return 0;
}

FOLDER_TEST(messages_come_behind_the_screen)
{
	struct live_run run;

	start_on_terminal(&run, print_a_message, "optop", "xterm");
	await_text(&run, "\033[?1049l");
	await_text(&run, "a message");
	await_text(&run, "another one");
	assert_int_equal(end_live(&run), 0);
}

FOLDER_TEST(terminals_are_refused)
{
	static const struct {
		const char *type, *line, *why;
	} rows[] = {
		{ "dumb", LIVE, "optop: TERM=dumb: unknown kind of terminal" },
		{ "none", LIVE, "optop: TERM=none: unknown kind of terminal" },
		{ "xterm", "optop --session-dir=none",
		  "/none/samples: there are no samples" },
	};
	struct live_run run;

	mkdir("root", 0755);
	write_session(one_event, NR(one_event));
	for (size_t i = 0; i < NR(rows); i++) {
		start_live(&run, rows[i].line, rows[i].type);
		await_text(&run, rows[i].why);
		assert_int_equal(WEXITSTATUS(end_live(&run)), 1);
	}
}

BEFORE_TESTS()
{
	set_program_environment();
	setlocale(LC_CTYPE, "");
}
