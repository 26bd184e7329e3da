// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * optop without a terminal: what is shown of a reading, differences of two,
 * names on the screen, what keys do. Readings are made of words
 * "NAME=SELF/ALL", or "NAME=SELF" where totals are not known.
 */

#include "tests/unit/pp_fixture.h"

#include <locale.h>

#include "pp/optop_draw.h"
#include "pp/optop_keys.h"

/* ---- readings ------------------------------------------------------------ */

#define MAX_ROWS 12

static struct optop_reading *made_reading(const char *line, bool keeps_order)
{
	static const struct optop_target any = { .tgid = OP_MANGLE_ALL,
						 .tid = OP_MANGLE_ALL };
	struct optop_reading *reading = calloc(1, sizeof(*reading));
	const char *words[MAX_ROWS] = { NULL };
	struct optop_counts *counts;
	char copy[256];
	size_t nr = 0;

	assert_non_null(reading);
	split_words(line, copy, words, MAX_ROWS);
	while (words[nr])
		nr++;
	op_arena_init(&reading->arena);
	reading->report = calloc(1, sizeof(*reading->report));
	assert_non_null(reading->report);
	op_arena_init(&reading->report->arena);
	reading->rows =
		op_arena_alloc(&reading->arena, nr, sizeof(*reading->rows));
	reading->counts = counts =
		optop_counts_new(nr, 1, strchr(line, '/') != NULL);
	reading->keeps_order = keeps_order;
	assert_non_null(counts);
	assert_non_null(reading->rows);
	counts->events[0] = strdup("CYCLES:100");
	for (size_t i = 0; i < nr; i++) {
		char *value = strchr(words[i], '='), *end;
		struct optop_target *target =
			op_arena_alloc(&reading->arena, 1, sizeof(*target));

		assert_non_null(value);
		*value++ = '\0';
		*target = any;
		target->title = target->symbol =
			op_arena_strdup(&reading->arena, words[i]);
		reading->rows[i].name = target->symbol;
		reading->rows[i].beside = "prog";
		reading->rows[i].opens = target;
		counts->keys[i] = optop_key(0, words[i]);
		counts->self[i] = strtoull(value, &end, 10);
		counts->self_sums[0] += counts->self[i];
		if (counts->all && *end == '/')
			counts->all[i] = strtoull(end + 1, NULL, 10);
		counts->all_sums[0] = counts->self_sums[0];
	}
	assert_int_equal(optop_counts_index(counts), 0);
	return reading;
}

static void write_shown(FILE *out, const struct optop_reading *reading,
			const struct optop_shown *shown)
{
	for (size_t i = 0; i < shown->nr; i++) {
		const struct optop_line *line = &shown->lines[i];

		fprintf(out, "%s%s=%llu", i ? " " : "",
			reading->rows[line->row].name,
			(unsigned long long)line->self);
		if (shown->has_all)
			fprintf(out, "/%llu", (unsigned long long)line->all);
	}
	fprintf(out, " of %llu\n", (unsigned long long)shown->self_sum);
}

static void rows_are_chosen(void **state)
{
	static const struct {
		const char *name, *now, *before;
		const char *filter, *event;
		bool by_total, keeps_order;
		const char *shown;
	} rows[] = {
		{ "by self", "a=1 b=3 c=2", NULL, "", NULL, false, false,
		  "b=3 c=2 a=1 of 6\n" },
		{ "equal ones stay", "b=1 a=1 c=1", NULL, "", NULL, false,
		  false, "b=1 a=1 c=1 of 3\n" },
		{ "nothing is no row", "a=0 b=3", NULL, "", NULL, false, false,
		  "b=3 of 3\n" },
		{ "but one with a total", "a=0/3 b=3/3", NULL, "", NULL, false,
		  false, "b=3/3 a=0/3 of 3\n" },
		{ "by total", "a=2/2 b=1/9 c=6/6", NULL, "", NULL, true, false,
		  "b=1/9 c=6/6 a=2/2 of 9\n" },
		{ "by total, equal ones by self", "a=0/9 b=7/9", NULL, "", NULL,
		  true, false, "b=7/9 a=0/9 of 7\n" },
		{ "by total without any", "a=2 b=3", NULL, "", NULL, true,
		  false, "b=3 a=2 of 5\n" },
		{ "a filter leaves shares", "fall=1 fill=3 bell=2", NULL, "fi",
		  NULL, false, false, "fill=3 of 6\n" },
		{ "a filter of what is beside", "fall=1 fill=3", NULL, "prog",
		  NULL, false, false, "fill=3 fall=1 of 4\n" },
		{ "a filter that nothing has", "fall=1", NULL, "x", NULL, false,
		  false, " of 1\n" },
		{ "code keeps its order", "a=1 b=0 c=2", NULL, "a", NULL, true,
		  true, "a=1 b=0 c=2 of 3\n" },
		{ "its event", "a=1", NULL, "", "CYCLES:100", false, false,
		  "a=1 of 1\n" },
		{ "another event", "a=1", NULL, "", "MISSES:100", false, false,
		  " of 0\n" },
		{ "a difference", "a=5 b=3 c=2", "c=1 a=5 b=1", "", NULL, false,
		  false, "b=2 c=1 of 3\n" },
		{ "what is new", "a=5 b=3", "a=4", "", NULL, false, false,
		  "b=3 a=1 of 4\n" },
		{ "what is gone", "a=5", "a=4 b=1", "", NULL, false, false,
		  "a=1 of 0\n" },
		{ "of totals", "a=5/9 b=3/3", "a=5/7 b=2/2", "", NULL, true,
		  false, "a=0/2 b=1/1 of 1\n" },
		{ "totals that fall", "a=5/7", "a=4/9", "", NULL, false, false,
		  "a=1/0 of 1\n" },
		{ "totals that were not known", "a=5/7", "a=4", "", NULL, false,
		  false, "a=1/7 of 1\n" },
		{ "the same twice", "a=5 b=3", "a=5 b=3", "", NULL, false,
		  false, " of 0\n" },
		{ "of code", "a=5 b=3", "a=5 b=1", "", NULL, false, true,
		  "a=0 b=2 of 2\n" },
	};

	(void)state;
	for (size_t i = 0; i < NR(rows); i++) {
		struct optop_reading *now =
			made_reading(rows[i].now, rows[i].keeps_order);
		struct optop_reading *before =
			rows[i].before ? made_reading(rows[i].before, false)
				       : NULL;
		const struct optop_choice choice = {
			.event = rows[i].event,
			.base = before ? before->counts : NULL,
			.filter = rows[i].filter,
			.by_total = rows[i].by_total,
		};
		struct optop_shown shown = { .nr = 0 };
		struct text t;

		assert_int_equal(optop_show(&shown, now, &choice), 0);
		write_shown(text_begin(&t), now, &shown);
		text_must_be(&t, rows[i].name, rows[i].shown);
		optop_shown_release(&shown);
		optop_reading_free(now);
		optop_reading_free(before);
	}
}

static void resets_are_seen(void **state)
{
	static const struct {
		const char *before, *now;
		bool is_reset;
	} rows[] = {
		{ "a=5", "a=5", false }, { "a=5", "a=6", false },
		{ "a=5", "a=4", true },	 { "a=5 b=1", "a=6", false },
		{ "a=5", "b=1", true },	 { "", "a=1", false },
		{ "a=0", "a=0", false },
	};

	(void)state;
	for (size_t i = 0; i < NR(rows); i++) {
		struct optop_reading *before =
			made_reading(rows[i].before, false);
		struct optop_reading *now = made_reading(rows[i].now, false);

		if (optop_is_reset(now->counts, before->counts) !=
		    rows[i].is_reset)
			fail_msg("row %zu", i);
		optop_reading_free(before);
		optop_reading_free(now);
	}
}

static void texts_are_found(void **state)
{
	static const struct {
		const char *text, *part;
		bool found;
	} rows[] = {
		{ "main", "", true },	    { "", "", true },
		{ "", "a", false },	    { "main", "ai", true },
		{ "main", "ia", false },    { "main", "main", true },
		{ "main", "mains", false }, { "Main", "main", true },
		{ "MAIN", "ai", true },	    { "main", "Main", false },
		{ "aMain", "Main", true },  { "aab", "ab", true },
		{ "a[b", "[", true },	    { "\xc3\xa4", "\xc3\xa4", true },
	};

	(void)state;
	for (size_t i = 0; i < NR(rows); i++)
		if (optop_text_has(rows[i].text, rows[i].part) != rows[i].found)
			fail_msg("row %zu: %s in %s", i, rows[i].part,
				 rows[i].text);
}

/* ---- the screen ---------------------------------------------------------- */

static void text_is_made_harmless(void **state)
{
	static const struct {
		const char *locale, *text;
		size_t width;
		const char *shown;
	} rows[] = {
		{ "C.UTF-8", "main", 10, "main" },
		{ "C.UTF-8", "main", 3, "mai" },
		{ "C.UTF-8", "a\033[2Jb", 10, "a?[2Jb" },
		{ "C.UTF-8", "a\nb\tc\x7f", 10, "a?b?c?" },
		{ "C.UTF-8",
		  "\xc2\x9b"
		  "31m",
		  10, "?31m" }, /* CSI in C1 */
		{ "C.UTF-8",
		  "gr\xc3\xbc\xc3\x9f"
		  "e",
		  10,
		  "gr\xc3\xbc\xc3\x9f"
		  "e" },
		{ "C.UTF-8",
		  "\xff\xfe"
		  "a\xc3",
		  10, "??a?" },
		{ "C.UTF-8", "\xc0\xaf\xed\xa0\x80", 10, "?????" },
		{ "C.UTF-8",
		  "a\xe2\x80\xae"
		  "b",
		  10, "a?b" }, /* U+202E */
		{ "C.UTF-8", "e\xcc\x81", 10, "e?" }, /* combining */
		{ "C.UTF-8", "\xe6\xbc\xa2\xe5\xad\x97", 4,
		  "\xe6\xbc\xa2\xe5\xad\x97" },
		{ "C.UTF-8", "\xe6\xbc\xa2\xe5\xad\x97", 3, "\xe6\xbc\xa2" },
		{ "C",
		  "gr\xc3\xbc\xc3\x9f"
		  "e",
		  10, "gr??e" },
	};

	(void)state;
	for (size_t i = 0; i < NR(rows); i++) {
		struct optop_grid grid;
		struct text t;
		char row[32], wanted[64];

		if (!setlocale(LC_CTYPE, rows[i].locale))
			fail_msg("no locale %s", rows[i].locale);
		assert_int_equal(optop_grid_init(&grid, 1, 12), 0);
		optop_grid_put(&grid, 0, 0, rows[i].width, OPTOP_PLAIN,
			       rows[i].text);
		optop_grid_write(&grid, text_begin(&t));
		snprintf(row, sizeof(row), "row %zu", i);
		snprintf(wanted, sizeof(wanted), "%s\n", rows[i].shown);
		text_must_be(&t, row, wanted);
		optop_grid_release(&grid);
	}
	setlocale(LC_CTYPE, "C");
}

static void names_are_cut(void **state)
{
	static const struct {
		const char *name;
		size_t width;
		const char *cut;
	} rows[] = {
		{ "main", 4, "main" },
		{ "main", 40, "main" },
		{ "std::vector<std::pair<int, long>>::push_back(int)", 49,
		  "std::vector<std::pair<int, long>>::push_back(int)" },
		{ "std::vector<std::pair<int, long>>::push_back(int)", 42,
		  "std::vector<...>::push_back(int)" },
		{ "std::vector<std::pair<int, long>>::push_back(int)", 34,
		  "std::vector<...>::push_back(int)" },
		{ "a_very_long_name_without_any_brackets", 20,
		  "a_very_lo...brackets" },
		/* What looks like columns is not cut in the last one alone. */
		{ "a_very_long_name  in_columns  that_are_cut", 20,
		  "a_very_lo..._are_cut" },
		/* Narrower than names are cut to: the grid cuts. */
		{ "a_very_long_name_without_any_brackets", 5, "a_ver" },
	};

	(void)state;
	for (size_t i = 0; i < NR(rows); i++) {
		char *cut = optop_fit_name(rows[i].name, rows[i].width);

		assert_non_null(cut);
		assert_string_equal(cut, rows[i].cut);
		free(cut);
	}
}

/* ---- keys ---------------------------------------------------------------- */

/* Keys of a row: letters are themselves. */
static wint_t key_of_letter(char c)
{
	static const struct {
		char letter;
		wint_t key;
	} keys[] = {
		{ 'U', OPTOP_KEY_UP },	    { 'D', OPTOP_KEY_DOWN },
		{ 'H', OPTOP_KEY_HOME },    { 'E', OPTOP_KEY_END },
		{ 'P', OPTOP_KEY_PAGE_UP }, { 'N', OPTOP_KEY_PAGE_DOWN },
		{ '>', OPTOP_KEY_RIGHT },   { '<', OPTOP_KEY_LEFT },
		{ '!', OPTOP_KEY_ENTER },   { '^', OPTOP_KEY_BACK },
		{ '-', OPTOP_KEY_RUBOUT },  { '|', OPTOP_KEY_TAB },
	};

	for (size_t i = 0; i < NR(keys); i++)
		if (keys[i].letter == c)
			return keys[i].key;
	return (wint_t)c;
}

static void give_reading(struct optop_state *state, const char *line,
			 uint64_t folder)
{
	struct optop_result result = {
		.number = 7,
		.reading = made_reading(line, false),
		.daemon = OPTOP_ANSWERS,
		.folder = folder,
		.files = 1,
	};

	optop_pane(state)->asked = 7;
	optop_take_result(state, &result);
	assert_null(result.reading);
}

/* What is chosen, "VIEW NAME", and whatever else is not as in the beginning. */
static void write_state(FILE *out, const struct optop_state *state)
{
	const struct optop_pane *pane = optop_pane(state);

	fprintf(out, "%s", optop_kind_name(optop_kind(state)));
	if (pane->shown.nr)
		fprintf(out, " %s",
			pane->reading->rows[pane->shown.lines[pane->chosen].row]
				.name);
	if (pane->top)
		fprintf(out, " top=%zu", pane->top);
	if (state->nr_pages > 1)
		fprintf(out, " pages=%zu", state->nr_pages);
	if (*optop_page(state)->filter)
		fprintf(out, " filter=%s", optop_page(state)->filter);
	if (state->is_typing)
		fputs(" typing", out);
	if (state->by_total)
		fputs(" total", out);
	if (state->is_paused)
		fputs(" paused", out);
	if (state->overlay)
		fprintf(out, " overlay=%d top=%zu", state->overlay,
			state->overlay_top);
	if (state->since)
		fprintf(out, " since=%d", state->since);
	if (state->wants_reading)
		fprintf(out, " reads%s", state->wants_all ? " all" : "");
	if (state->has_ended)
		fputs(" ended", out);
	if (*state->status)
		fprintf(out, ": %s", state->status);
	fputc('\n', out);
}

static void keys_do_what_they_say(void **unused)
{
	static const struct {
		const char *keys, *reading, *text;
	} rows[] = {
		{ "", "a=9 b=8 c=7 d=6", "symbol a\n" },
		{ "D", "a=9 b=8 c=7 d=6", "symbol b\n" },
		{ "DDU", "a=9 b=8 c=7 d=6", "symbol b top=1\n" },
		{ "U", "a=9 b=8 c=7 d=6", "symbol a\n" },
		{ "E", "a=9 b=8 c=7 d=6", "symbol d top=2\n" },
		{ "ED", "a=9 b=8 c=7 d=6", "symbol d top=2\n" },
		{ "EU", "a=9 b=8 c=7 d=6", "symbol c top=2\n" },
		{ "EUU", "a=9 b=8 c=7 d=6", "symbol b top=1\n" },
		{ "EH", "a=9 b=8 c=7 d=6", "symbol a\n" },
		{ "N", "a=9 b=8 c=7 d=6", "symbol c top=1\n" },
		{ "NN", "a=9 b=8 c=7 d=6", "symbol d top=2\n" },
		{ "NNP", "a=9 b=8 c=7 d=6", "symbol b top=1\n" },
		{ ">", "a=1", "line reads\n" },
		{ "<", "a=1", "image reads\n" },
		{ "<<", "a=1", "cgroup reads\n" },
		{ "6", "a=1", "cgroup reads\n" },
		{ "6>", "a=1", "image reads\n" },
		{ "7", "a=1", "symbol a\n" },
		{ "|", "a=1", "line reads\n" },
		{ "4", "a=1", "process reads\n" },
		{ "42", "a=1", "symbol a reads\n" },
		{ "2", "a=1", "symbol a\n" },
		{ "9", "a=1", "symbol a\n" },
		{ "!", "a=1", "assembly pages=2 reads\n" },
		{ "!|", "a=1", "source pages=2 reads\n" },
		{ "!<", "a=1", "calls pages=2 reads\n" },
		{ "!^", "a=1", "symbol a reads\n" },
		{ "!-", "a=1", "symbol a reads\n" },
		{ "^", "a=1", "symbol a\n" },
		{ "!", "", "symbol\n" },
		{ "!/", "a=1",
		  "assembly pages=2 reads: only tables can be filtered\n" },
		{ "/", "ab=2 ac=1", "symbol ab typing\n" },
		{ "/c", "ab=2 ac=1", "symbol ac filter=c typing\n" },
		{ "/c!", "ab=2 ac=1", "symbol ac filter=c\n" },
		{ "/c^", "ab=2 ac=1", "symbol ab\n" },
		{ "/c!^", "ab=2 ac=1", "symbol ab\n" },
		{ "/c-", "ab=2 ac=1", "symbol ab typing\n" },
		{ "/-", "ab=2 ac=1", "symbol ab typing\n" },
		{ "/q", "ab=2 ac=1", "symbol filter=q typing\n" },
		{ "s", "a=1/1 b=0/2", "symbol b total: sorted by total\n" },
		{ "ss", "a=1/1 b=0/2", "symbol a: sorted by self\n" },
		{ "s", "a=1",
		  "symbol a: there are no totals: the samples have no stacks; profile with --callgraph\n" },
		{ "e", "a=1", "symbol a: the session has only this event\n" },
		{ "t", "a=1", "symbol since=1\n" },
		{ "tt", "a=1", "symbol a\n" },
		{ "n", "a=1", "symbol since=2\n" },
		{ "nt", "a=1", "symbol a\n" },
		{ " ", "a=1", "symbol a paused\n" },
		{ "  ", "a=1", "symbol a\n" },
		{ "r", "a=1", "symbol a reads all\n" },
		{ "?", "a=1", "symbol a overlay=1 top=0\n" },
		{ "h", "a=1", "symbol a overlay=1 top=0\n" },
		{ "?D", "a=1", "symbol a overlay=1 top=1\n" },
		{ "?DDU", "a=1", "symbol a overlay=1 top=1\n" },
		{ "?N", "a=1", "symbol a overlay=1 top=2\n" },
		{ "?NP", "a=1", "symbol a overlay=1 top=0\n" },
		{ "?q", "a=1", "symbol a\n" },
		{ "w", "a=1", "symbol a overlay=2 top=0\n" },
		{ "w^", "a=1", "symbol a\n" },
		{ "q", "a=1", "symbol a ended\n" },
		{ "x", "a=1", "symbol a\n" },
	};

	(void)unused;
	for (size_t i = 0; i < NR(rows); i++) {
		struct optop_state state;
		struct text t;

		assert_int_equal(optop_state_init(&state, "x", OPTOP_SYMBOLS),
				 0);
		state.wants_reading = false;
		state.nr_lines = 2;
		give_reading(&state, rows[i].reading, 1);
		for (const char *c = rows[i].keys; *c; c++)
			optop_press(&state, key_of_letter(*c));
		write_state(text_begin(&t), &state);
		text_must_be(&t, rows[i].keys, rows[i].text);
		optop_state_release(&state);
	}
}

static void pages_are_bounded(void **unused)
{
	const struct optop_query query = { .kind = OPTOP_SOURCE };
	struct optop_state state;

	(void)unused;
	assert_int_equal(optop_state_init(&state, "x", OPTOP_SYMBOLS), 0);
	for (size_t i = 1; i < OPTOP_MAX_PAGES; i++)
		optop_push_page(&state, &query);
	assert_int_equal(state.nr_pages, OPTOP_MAX_PAGES);
	assert_string_equal(state.status, "");
	optop_push_page(&state, &query);
	assert_int_equal(state.nr_pages, OPTOP_MAX_PAGES);
	assert_string_equal(state.status,
			    "too many pages are open; go back with Backspace");
	for (size_t i = 0; i < OPTOP_MAX_PAGES; i++)
		optop_pop_page(&state);
	assert_int_equal(state.nr_pages, 1);
	assert_int_equal(optop_kind(&state), OPTOP_SYMBOLS);
	optop_state_release(&state);
}

/* Every key of the help is in the table above, as the help has them. */
static void help_is_whole(void **unused)
{
	const char *key, *text;
	size_t nr = 0;

	(void)unused;
	for (; optop_help_line(nr, &key, &text); nr++)
		assert_true(*key && *text);
	assert_int_equal(nr, 21);
}

static void readings_follow_one_another(void **unused)
{
	static const struct {
		const char *name, *keys;
		struct {
			const char *line;
			uint64_t folder;
		} readings[3];
		const char *text, *shown;
	} rows[] = {
		{ "the chosen row is followed",
		  "D",
		  { { "a=9 b=8 c=7", 1 }, { "a=9 b=8 c=9", 1 } },
		  "symbol b top=1\n",
		  "a=9 c=9 b=8 of 26\n" },
		{ "but not from the first line",
		  "",
		  { { "a=9 b=8", 1 }, { "a=9 b=18", 1 } },
		  "symbol b\n",
		  "b=18 a=9 of 27\n" },
		{ "since the last refresh",
		  "t",
		  { { "a=9 b=8", 1 }, { "a=9 b=18", 1 }, { "a=12 b=19", 1 } },
		  "symbol a since=1\n",
		  "a=3 b=1 of 4\n" },
		{ "from now on",
		  "n",
		  { { "a=9 b=8", 1 }, { "a=9 b=18", 1 }, { "a=12 b=19", 1 } },
		  "symbol b since=2\n",
		  "b=11 a=3 of 14\n" },
		{ "a reset",
		  "n",
		  { { "a=9 b=8", 1 }, { "a=2", 1 } },
		  "symbol since=2: the session was reset\n",
		  " of 0\n" },
		{ "what comes after a reset",
		  "n",
		  { { "a=9", 1 }, { "a=2", 1 }, { "a=5", 1 } },
		  "symbol a since=2: the session was reset\n",
		  "a=3 of 3\n" },
		{ "another session",
		  "",
		  { { "a=9", 1 }, { "a=12", 2 } },
		  "symbol a: the session was replaced by another one\n",
		  "a=12 of 12\n" },
	};

	(void)unused;
	for (size_t i = 0; i < NR(rows); i++) {
		struct optop_state state;
		struct text t;

		assert_int_equal(optop_state_init(&state, "x", OPTOP_SYMBOLS),
				 0);
		state.wants_reading = false;
		state.nr_lines = 2;
		for (size_t j = 0; j < 3 && rows[i].readings[j].line; j++) {
			give_reading(&state, rows[i].readings[j].line,
				     rows[i].readings[j].folder);
			for (const char *c = rows[i].keys; !j && *c; c++)
				optop_press(&state, key_of_letter(*c));
		}
		write_state(text_begin(&t), &state);
		text_must_be(&t, rows[i].name, rows[i].text);
		write_shown(text_begin(&t), optop_pane(&state)->reading,
			    &optop_pane(&state)->shown);
		text_must_be(&t, rows[i].name, rows[i].shown);
		optop_state_release(&state);
	}
}

/* ---- sizes --------------------------------------------------------------- */

/* Nothing is written beyond a screen, however small; rows are there from six
 * lines on. */
static void any_size_is_drawn(void **unused)
{
	struct optop_state state;
	struct optop_grid grid;

	(void)unused;
	assert_int_equal(optop_state_init(&state, "/var/lib/oprofile",
					  OPTOP_SYMBOLS),
			 0);
	give_reading(&state, "a=1/2 b=2/3 a_name_that_is_rather_long=9/9", 1);
	for (int overlay = OPTOP_NO_OVERLAY; overlay <= OPTOP_WARNINGS;
	     overlay++)
		for (size_t rows = 1; rows < 12; rows++)
			for (size_t columns = 1; columns < 180; columns += 3) {
				state.overlay = overlay;
				state.nr_lines =
					rows > OPTOP_OTHER_LINES
						? rows - OPTOP_OTHER_LINES
						: 1;
				optop_choose_line(&state, 0);
				assert_int_equal(optop_grid_init(&grid, rows,
								 columns),
						 0);
				optop_draw(&grid, &state);
				if (!overlay && rows > OPTOP_OTHER_LINES &&
				    columns > 16)
					assert_int_equal(
						grid.cells[4 * columns].attr &
							OPTOP_CHOSEN,
						OPTOP_CHOSEN);
				optop_grid_release(&grid);
			}
	optop_state_release(&state);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_are_chosen),
		cmocka_unit_test(resets_are_seen),
		cmocka_unit_test(texts_are_found),
		cmocka_unit_test(text_is_made_harmless),
		cmocka_unit_test(names_are_cut),
		cmocka_unit_test(keys_do_what_they_say),
		cmocka_unit_test(pages_are_bounded),
		cmocka_unit_test(help_is_whole),
		cmocka_unit_test(readings_follow_one_another),
		cmocka_unit_test(any_size_is_drawn),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
