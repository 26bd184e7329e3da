// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * optop without a terminal: what is shown of a reading, differences of two,
 * names on the screen, what keys do. Readings are made of words
 * "NAME=SELF/ALL", or "NAME=SELF" where totals are not known.
 */

#include "tests/unit/pp_fixture.h"

#include <locale.h>

#include "pp/optop/optop_draw.h"
#include "pp/optop/optop_keys.h"

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
	bool has_all = false;
	size_t nr = 0;

	assert_non_null(reading);
	split_words(line, copy, words, MAX_ROWS);
	for (; words[nr]; nr++)
		has_all |= strchr(strrchr(words[nr], '='), '/') != NULL;
	op_arena_init(&reading->arena);
	reading->report = calloc(1, sizeof(*reading->report));
	assert_non_null(reading->report);
	op_arena_init(&reading->report->arena);
	reading->rows =
		op_arena_alloc(&reading->arena, nr, sizeof(*reading->rows));
	reading->counts = counts = optop_counts_new(nr, 1, has_all);
	reading->keeps_order = keeps_order;
	assert_non_null(counts);
	assert_non_null(reading->rows);
	counts->events[0] = strdup("CYCLES:100");
	counts->when = 3661;
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

TEST(rows_are_chosen)
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

TEST(resets_are_seen)
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

TEST(texts_are_found)
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

	for (size_t i = 0; i < NR(rows); i++)
		if (optop_text_has(rows[i].text, rows[i].part) != rows[i].found)
			fail_msg("row %zu: %s in %s", i, rows[i].part,
				 rows[i].text);
}

/* ---- the screen ---------------------------------------------------------- */

TEST(text_is_made_harmless)
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

TEST(names_are_cut)
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

TEST(keys_do_what_they_say)
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

	for (size_t i = 0; i < NR(rows); i++) {
		struct optop_state view;
		struct text t;

		assert_int_equal(optop_state_init(&view, "x", OPTOP_SYMBOLS),
				 0);
		view.wants_reading = false;
		view.nr_lines = 2;
		give_reading(&view, rows[i].reading, 1);
		for (const char *c = rows[i].keys; *c; c++)
			optop_press(&view, key_of_letter(*c));
		write_state(text_begin(&t), &view);
		text_must_be(&t, rows[i].keys, rows[i].text);
		optop_state_release(&view);
	}
}

TEST(pages_are_bounded)
{
	const struct optop_query query = { .kind = OPTOP_SOURCE };
	struct optop_state view;

	assert_int_equal(optop_state_init(&view, "x", OPTOP_SYMBOLS), 0);
	for (size_t i = 1; i < OPTOP_MAX_PAGES; i++)
		optop_push_page(&view, &query);
	assert_int_equal(view.nr_pages, OPTOP_MAX_PAGES);
	assert_string_equal(view.status, "");
	optop_push_page(&view, &query);
	assert_int_equal(view.nr_pages, OPTOP_MAX_PAGES);
	assert_string_equal(view.status,
			    "too many pages are open; go back with Backspace");
	for (size_t i = 0; i < OPTOP_MAX_PAGES; i++)
		optop_pop_page(&view);
	assert_int_equal(view.nr_pages, 1);
	assert_int_equal(optop_kind(&view), OPTOP_SYMBOLS);
	optop_state_release(&view);
}

/* Every key of the help is in the table above, as the help has them. */
TEST(help_is_whole)
{
	const char *key, *text;
	size_t nr = 0;

	for (; optop_help_line(nr, &key, &text); nr++)
		assert_true(*key && *text);
	assert_int_equal(nr, 21);
}

TEST(readings_follow_one_another)
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

	for (size_t i = 0; i < NR(rows); i++) {
		struct optop_state view;
		struct text t;

		assert_int_equal(optop_state_init(&view, "x", OPTOP_SYMBOLS),
				 0);
		view.wants_reading = false;
		view.nr_lines = 2;
		for (size_t j = 0; j < 3 && rows[i].readings[j].line; j++) {
			give_reading(&view, rows[i].readings[j].line,
				     rows[i].readings[j].folder);
			for (const char *c = rows[i].keys; !j && *c; c++)
				optop_press(&view, key_of_letter(*c));
		}
		write_state(text_begin(&t), &view);
		text_must_be(&t, rows[i].name, rows[i].text);
		write_shown(text_begin(&t), optop_pane(&view)->reading,
			    &optop_pane(&view)->shown);
		text_must_be(&t, rows[i].name, rows[i].shown);
		optop_state_release(&view);
	}
}

/* What is opened is narrowed as the page is, unless it says itself what it is
 * of. */
TEST(what_is_opened_is_narrowed)
{
#define ANY .tgid = OP_MANGLE_ALL, .tid = OP_MANGLE_ALL
#define HERE .image = "/x", .tgid = 5, .tid = 6, .cgroup = "/web"
	static const struct {
		enum optop_kind view;
		struct optop_target here, opens;
		const char *name, *wanted;
	} rows[] = {
		{ .view = OPTOP_SYMBOLS,
		  .here = { HERE },
		  .opens = { ANY },
		  .name = "as the page",
		  .wanted = "3 assembly /x - - 5 6 /web" },
		{ .view = OPTOP_SYMBOLS,
		  .here = { HERE },
		  .opens = { .tgid = 7, .tid = 8, .cgroup = "/db" },
		  .name = "a task",
		  .wanted = "3 assembly /x - - 7 8 /db" },
		{ .view = OPTOP_SYMBOLS,
		  .here = { HERE },
		  .opens = { ANY, .symbol = "main" },
		  .name = "a function",
		  .wanted = "3 assembly - main - 5 6 /web" },
		{ .view = OPTOP_SYMBOLS,
		  .here = { HERE },
		  .opens = { ANY, .image = "/y", .is_inlined = true },
		  .name = "an inlined function",
		  .wanted = "3 source /y - - 5 6 /web" },
		{ .view = OPTOP_LINES,
		  .here = { HERE },
		  .opens = { ANY, .file = "x.c", .is_inlined = true },
		  .name = "a file",
		  .wanted = "3 source - - x.c 5 6 /web" },
		{ .view = OPTOP_IMAGES,
		  .here = { HERE },
		  .opens = { ANY, .image = "/y" },
		  .name = "an image",
		  .wanted = "3 symbol /y - - 5 6 /web" },
		{ .view = OPTOP_CALLS,
		  .here = { ANY, .symbol = "main" },
		  .opens = { ANY, .symbol = "f" },
		  .name = "a call",
		  .wanted = "3 assembly - f - -1 -1 -" },
		{ .view = OPTOP_SOURCE,
		  .here = { ANY, .symbol = "main" },
		  .opens = { ANY, .symbol = "f" },
		  .name = "from source nothing",
		  .wanted = "2 source - main - -1 -1 -" },
	};

	for (size_t i = 0; i < NR(rows); i++) {
		const struct optop_query query = {
			.kind = rows[i].view,
			.target = rows[i].here,
		};
		const struct optop_target *t;
		struct optop_state view;
		struct text text;

		assert_int_equal(optop_state_init(&view, "x", OPTOP_SYMBOLS),
				 0);
		optop_push_page(&view, &query);
		give_reading(&view, "a=1", 1);
		optop_pane(&view)->reading->rows[0].opens = &rows[i].opens;
		optop_press(&view, OPTOP_KEY_ENTER);
		t = &optop_page(&view)->query.target;
		fprintf(text_begin(&text), "%zu %s %s %s %s %lld %lld %s",
			view.nr_pages, optop_kind_name(optop_kind(&view)),
			t->image ?: "-", t->symbol ?: "-", t->file ?: "-",
			(long long)t->tgid, (long long)t->tid,
			t->cgroup ?: "-");
		text_must_be(&text, rows[i].name, rows[i].wanted);
		optop_state_release(&view);
	}
}

TEST(some_rows_open_nothing)
{
	struct optop_state view;
	struct text t;

	assert_int_equal(optop_state_init(&view, "x", OPTOP_SYMBOLS), 0);
	view.wants_reading = false;
	optop_press(&view, OPTOP_KEY_ENTER);
	optop_press(&view, 'e');
	write_state(text_begin(&t), &view);
	text_must_be(&t, "not read yet", "symbol\n");
	give_reading(&view, "a=2 b=1", 1);
	optop_pane(&view)->reading->rows[0].opens = NULL;
	optop_press(&view, OPTOP_KEY_ENTER);
	write_state(text_begin(&t), &view);
	text_must_be(&t, "nothing", "symbol a: there is nothing to open\n");
	optop_state_release(&view);
}

/* The keys of a filter are characters, whatever the bytes of them. */
TEST(filters_are_typed)
{
#define UE 0xfc /* of two bytes; HAN is of three, ROCKET of four */
#define HAN 0x6f22
#define ROCKET 0x1f680
	static const struct {
		wint_t keys[6];
		const char *before, *wanted;
	} rows[] = {
		{ { 'a', 0x7f, '\t', 'b' }, "", "ab" },
		{ { 0x7e, 0x80, 0xa0 - 1, UE }, "", "~\xc3\xbc" },
		{ { UE, 0x7ff, 0x800 }, "x", "x\xc3\xbc\xdf\xbf\xe0\xa0\x80" },
		{ { HAN, ROCKET }, "", "\xe6\xbc\xa2\xf0\x9f\x9a\x80" },
		{ { HAN, ROCKET, OPTOP_KEY_RUBOUT }, "", "\xe6\xbc\xa2" },
		{ { HAN, OPTOP_KEY_RUBOUT, 'a' }, "y", "ya" },
		{ { UE, OPTOP_KEY_RUBOUT, OPTOP_KEY_RUBOUT }, "", "" },
		{ { UE, OPTOP_KEY_BACK }, "z", "z" },
#define SIXTY "123456789 123456789 123456789 123456789 123456789 123456789 "
		{ { 'a', 'b', 'c', 'd' }, SIXTY, SIXTY "abc" },
		{ { 'a', UE, 'd' }, SIXTY, SIXTY "a\xc3\xbc" },
		{ { 'a', 'b', UE, 'd' }, SIXTY, SIXTY "abd" },
		{ { HAN, 'd' }, SIXTY, SIXTY "\xe6\xbc\xa2" },
		{ { 'a', HAN, 'd' }, SIXTY, SIXTY "ad" },
		{ { ROCKET, 'd' }, SIXTY, SIXTY "d" },
	};

	assert_non_null(setlocale(LC_CTYPE, "C.UTF-8"));
	for (size_t i = 0; i < NR(rows); i++) {
		struct optop_state view;

		assert_int_equal(optop_state_init(&view, "x", OPTOP_SYMBOLS),
				 0);
		strcpy(optop_page(&view)->filter, rows[i].before);
		optop_press(&view, '/');
		for (size_t k = 0; k < 6 && rows[i].keys[k]; k++)
			optop_press(&view, rows[i].keys[k]);
		assert_string_equal(optop_page(&view)->filter, rows[i].wanted);
		optop_state_release(&view);
	}
	setlocale(LC_CTYPE, "C");
}

/* ---- results that bring no reading --------------------------------------- */

/* Each letter is a result for the pane that is shown: "r" brings a reading with
 * more samples, "u" says that there is nothing new, "e" that it failed, "o" is
 * for another pane, "d" is of a daemon that has ended; else it is a key. */
static void give_result(struct optop_state *state, char letter)
{
	static unsigned int samples;
	struct optop_result result = {
		.number = letter == 'o' ? 8 : 7,
		.daemon = letter == 'd' ? OPTOP_ENDED : OPTOP_ANSWERS,
		.is_unchanged = letter == 'u' || letter == 'd',
		.folder = 1,
		.files = 1,
	};
	char line[32];

	optop_pane(state)->asked = 7;
	if (letter == 'e')
		result.err =
			op_diag_set(&result.diag, -EIO, "it cannot be read");
	if (letter == 'r' || letter == 'o') {
		samples = optop_pane(state)->reading ? samples + 2 : 3;
		snprintf(line, sizeof(line), "a=%u b=1", samples);
		result.reading = made_reading(line, false);
	}
	optop_take_result(state, &result);
	assert_null(result.reading);
}

TEST(results_are_taken)
{
	static const struct {
		size_t columns;
		const char *letters, *wanted;
	} rows[] = {
		{ 60, "r", EXPECTED_ROW },
		{ 60, "e", EXPECTED_AS("e, 1") },
		{ 60, "re", EXPECTED_ROW },
		{ 60, "rer", EXPECTED_ROW },
		{ 60, "ro", EXPECTED_ROW },
		{ 60, "o", EXPECTED_ROW },
		{ 60, "rrt", EXPECTED_ROW },
		{ 60, "rrtu", EXPECTED_ROW },
		{ 60, "rtr", EXPECTED_ROW },
		{ 60, "rnr", EXPECTED_AS("rnr, 1") },
		{ 59, "rnr", EXPECTED_AS("rnr, 2") },
		{ 60, "nrr", EXPECTED_AS("rnr, 1") },
		{ 60, "rnrt", EXPECTED_ROW },
		{ 60, "rsu", EXPECTED_ROW },
		{ 60, "rsd", EXPECTED_ROW },
	};

	for (size_t i = 0; i < NR(rows); i++) {
		struct optop_state view;
		struct optop_grid grid;
		struct text t;

		assert_int_equal(optop_state_init(&view, "x", OPTOP_SYMBOLS),
				 0);
		view.wants_reading = false;
		view.nr_lines = 2;
		for (const char *c = rows[i].letters; *c; c++)
			if (strchr("ruoed", *c))
				give_result(&view, *c);
			else
				optop_press(&view, (wint_t)*c);
		assert_int_equal(optop_grid_init(&grid, 2 + OPTOP_OTHER_LINES,
						 rows[i].columns),
				 0);
		view.is_once = true; /* no hints */
		optop_draw(&grid, &view);
		optop_grid_write(&grid, text_begin(&t));
		optop_grid_release(&grid);
		text_must_be(&t, rows[i].letters, rows[i].wanted);
		optop_state_release(&view);
	}
}

/* Code begins with the row that was looked for, in the middle of the screen. */
TEST(code_begins_where_it_is_wanted)
{
	static const struct {
		size_t first, nr_lines, chosen, top;
	} rows[] = {
		{ 0, 4, 0, 0 }, { 1, 4, 1, 0 }, { 2, 4, 2, 0 }, { 3, 4, 3, 1 },
		{ 5, 4, 5, 3 }, { 9, 4, 9, 6 }, { 5, 5, 5, 3 }, { 5, 1, 5, 5 },
	};

	for (size_t i = 0; i < NR(rows); i++) {
		struct optop_state view;
		struct optop_result result = { .number = 7, .files = 1 };

		assert_int_equal(optop_state_init(&view, "x", OPTOP_SYMBOLS),
				 0);
		view.nr_lines = rows[i].nr_lines;
		optop_pane(&view)->asked = 7;
		result.reading = made_reading(
			"a=1 b=0 c=0 d=0 e=0 f=0 g=0 h=0 i=0 j=0", true);
		result.reading->first = rows[i].first;
		optop_take_result(&view, &result);
		assert_int_equal(optop_pane(&view)->chosen, rows[i].chosen);
		assert_int_equal(optop_pane(&view)->top, rows[i].top);
		/* Another reading leaves the line where it is. */
		optop_press(&view, OPTOP_KEY_HOME);
		optop_pane(&view)->asked = 7;
		result.reading = made_reading(
			"a=1 b=0 c=0 d=0 e=0 f=0 g=0 h=0 i=0 j=0", true);
		result.reading->first = rows[i].first;
		optop_take_result(&view, &result);
		assert_int_equal(optop_pane(&view)->chosen, 0);
		optop_state_release(&view);
	}
}

/* ---- help and warnings --------------------------------------------------- */

static void add_messages(struct optop_state *state)
{
	struct optop_reading *reading = optop_pane(state)->reading;
	struct pp_messages *messages = &reading->report->messages;

	messages->arena = &reading->report->arena;
	pp_message(messages, PP_REMARK_SFILE, "sfile");
	pp_message(messages, PP_WARNING, "one");
	pp_message(messages, PP_WARNING, "two");
	pp_message(messages, PP_REMARK_BFD, "bfd");
	pp_message(messages, PP_WARNING, "three");
	pp_message(messages, PP_WARNING, "four");
	pp_message(messages, PP_REMARK_STATS, "stats");
}

/* After each key the screen is drawn, which keeps the first line in bounds. */
TEST(help_and_warnings_scroll)
{
	static const struct {
		unsigned int verbose;
		bool has_messages;
		const char *keys, *wanted;
	} rows[] = {
		{ 0, false, "?", EXPECTED_ROW },
		{ 0, false, "?D", EXPECTED_AS("?D, 1") },
		{ 0, false, "?NNNNNNNNNNNN", EXPECTED_ROW },
		{ 0, false, "?NNNNNNNNNNNNDU", EXPECTED_ROW },
		{ 0, false, "?NNNNNNNNNNNNP", EXPECTED_ROW },
		{ 0, false, "?DP", EXPECTED_ROW },
		{ 0, false, "?Uh", EXPECTED_ROW },
		{ 0, false, "w", EXPECTED_AS("w, 1") },
		{ 0, true, "w", EXPECTED_ROW },
		{ 0, true, "wD", EXPECTED_ROW },
		{ 0, true, "wDDDU", EXPECTED_ROW },
		{ 1 << PP_REMARK_SFILE, true, "w", EXPECTED_AS("w, 2") },
		{ 1 << PP_REMARK_STATS, true, "wN", EXPECTED_ROW },
		{ 1 << PP_REMARK_BFD | 1 << PP_REMARK_STATS, true, "wND",
		  EXPECTED_ROW },
	};

	for (size_t i = 0; i < NR(rows); i++) {
		struct optop_state view;
		struct optop_grid grid;
		struct text all, t;

		assert_int_equal(optop_state_init(&view, "x", OPTOP_SYMBOLS),
				 0);
		give_reading(&view, "a=1", 1);
		view.nr_lines = 3;
		view.verbose = rows[i].verbose;
		if (rows[i].has_messages)
			add_messages(&view);
		text_begin(&all);
		for (const char *c = rows[i].keys; *c; c++) {
			optop_press(&view, key_of_letter(*c));
			assert_int_equal(optop_grid_init(&grid,
							 3 + OPTOP_OTHER_LINES,
							 60),
					 0);
			optop_draw(&grid, &view);
			rewind(all.out);
			optop_grid_write(&grid, all.out);
			fputc('\0', all.out);
			optop_grid_release(&grid);
		}
		fclose(all.out);
		/* What is below the heads. */
		fputs(strstr(all.all, "symbol\n") + strlen("symbol\n"),
		      text_begin(&t));
		free(all.all);
		text_must_be(&t, rows[i].keys, rows[i].wanted);
		optop_state_release(&view);
	}
}

/* ---- columns ------------------------------------------------------------- */

/* The heads and the first row at @columns. */
static void write_columns(FILE *out, struct optop_state *state, size_t columns)
{
	struct optop_grid grid;
	struct text t;
	char *line;

	assert_int_equal(optop_grid_init(&grid, 1 + OPTOP_OTHER_LINES, columns),
			 0);
	optop_draw(&grid, state);
	optop_grid_write(&grid, text_begin(&t));
	optop_grid_release(&grid);
	fclose(t.out);
	line = t.all;
	for (int i = 0; i < 3; i++)
		line = strchr(line, '\n') + 1;
	*strchr(strchr(line, '\n') + 1, '\n') = '\0';
	fprintf(out, "%zu\n%s\n", columns, line);
	free(t.all);
}

TEST(wider_screens_have_more_columns)
{
	static const struct {
		enum optop_kind view;
		bool hides;
		size_t columns[10];
		const char *reading, *name, *wanted;
	} rows[] = {
		{ .view = OPTOP_SYMBOLS,
		  .columns = { 29, 30, 59, 60, 69, 70, 99, 100 },
		  .reading = "a_function_of_that_name=7/8 b=13/100",
		  .name = "narrow",
		  .wanted = EXPECTED(
			  "symbols-a-function-of-that-name-7-8-b-13") },
		{ .view = OPTOP_SYMBOLS,
		  .columns = { 109, 110, 139, 140, 159, 160 },
		  .reading = "a_function_of_that_name=7/8 b=13/100",
		  .name = "wide",
		  .wanted = EXPECTED(
			  "symbols-a-function-of-that-name-7-8-b-13-2") },
		{ .view = OPTOP_SYMBOLS,
		  .hides = true,
		  .columns = { 110, 140 },
		  .reading = "a=7/8 b=13/100",
		  .name = "hidden",
		  .wanted = EXPECTED_ROW },
		{ .view = OPTOP_LINES,
		  .columns = { 79, 80, 109, 110 },
		  .reading = "/src/a/file/of/that/name.c=7",
		  .name = "lines",
		  .wanted = EXPECTED("lines-src-a-file-of-that-name-c-7") },
		{ .view = OPTOP_IMAGES,
		  .columns = { 20, 39, 40, 48, 49, 60 },
		  .reading = "/usr/lib/a/library/of/that/name.so=7",
		  .name = "images",
		  .wanted = EXPECTED(
			  "images-usr-lib-a-library-of-that-name-so") },
		{ .view = OPTOP_CGROUPS,
		  .columns = { 59, 60, 67, 68, 79, 80 },
		  .reading = "/system.slice/of/that/name.service=7",
		  .name = "cgroups",
		  .wanted = EXPECTED(
			  "cgroups-system-slice-of-that-name-servic") },
		{ .view = OPTOP_PROCESSES,
		  .columns = { 30, 60 },
		  .reading = "a_process_of_that_name=7",
		  .name = "processes",
		  .wanted = EXPECTED_ROW },
		{ .view = OPTOP_THREADS,
		  .columns = { 30, 60 },
		  .reading = "a_thread_of_that_name=7",
		  .name = "threads",
		  .wanted = EXPECTED_ROW },
	};

	for (size_t i = 0; i < NR(rows); i++) {
		struct optop_state view;
		struct text t;

		assert_int_equal(optop_state_init(&view, "x", rows[i].view), 0);
		give_reading(&view, rows[i].reading, 1);
		view.hides_intervals = rows[i].hides;
		view.by_total = true;
		optop_show_again(&view);
		optop_choose_line(&view, 1);
		text_begin(&t);
		for (size_t k = 0; k < 10 && rows[i].columns[k]; k++)
			write_columns(t.out, &view, rows[i].columns[k]);
		text_must_be(&t, rows[i].name, rows[i].wanted);
		optop_state_release(&view);
	}
}

/* From 5 % on a share is hot, from 1 % on warm. */
TEST(shares_have_colors)
{
	static const struct {
		const char *reading;
		enum optop_attr attr; /* of the last row */
	} rows[] = {
		{ "a=1900 b=100", OPTOP_HOT },	{ "a=1901 b=99", OPTOP_WARM },
		{ "a=1980 b=20", OPTOP_WARM },	{ "a=1981 b=19", OPTOP_COOL },
		{ "a=9/9 b=0/9", OPTOP_FAINT },
	};

	for (size_t i = 0; i < NR(rows); i++) {
		struct optop_state view;
		struct optop_grid grid;

		assert_int_equal(optop_state_init(&view, "x", OPTOP_SYMBOLS),
				 0);
		view.nr_lines = 2;
		give_reading(&view, rows[i].reading, 1);
		assert_int_equal(
			optop_grid_init(&grid, 2 + OPTOP_OTHER_LINES, 29), 0);
		optop_draw(&grid, &view);
		/* The last digit of its share. */
		assert_int_equal(grid.cells[5 * 29 + 6].attr, rows[i].attr);
		optop_grid_release(&grid);
		optop_state_release(&view);
	}
}

/* ---- sizes --------------------------------------------------------------- */

/* Nothing is written beyond a screen, however small; rows are there from six
 * lines on. */
TEST(any_size_is_drawn)
{
	struct optop_state view;
	struct optop_grid grid;

	assert_int_equal(
		optop_state_init(&view, "/var/lib/oprofile", OPTOP_SYMBOLS), 0);
	give_reading(&view, "a=1/2 b=2/3 a_name_that_is_rather_long=9/9", 1);
	for (int overlay = OPTOP_NO_OVERLAY; overlay <= OPTOP_WARNINGS;
	     overlay++)
		for (size_t rows = 1; rows < 12; rows++)
			for (size_t columns = 1; columns < 180; columns += 3) {
				view.overlay = overlay;
				view.nr_lines =
					rows > OPTOP_OTHER_LINES
						? rows - OPTOP_OTHER_LINES
						: 1;
				optop_choose_line(&view, 0);
				assert_int_equal(optop_grid_init(&grid, rows,
								 columns),
						 0);
				optop_draw(&grid, &view);
				if (!overlay && rows > OPTOP_OTHER_LINES &&
				    columns > 16)
					assert_int_equal(
						grid.cells[4 * columns].attr &
							OPTOP_CHOSEN,
						OPTOP_CHOSEN);
				optop_grid_release(&grid);
			}
	optop_state_release(&view);
}

BEFORE_TESTS()
{
	setenv("TZ", "UTC", 1);
}
