// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What oppush takes of a session, with a report by opreport itself and without
 * a server: each story is lines of what is done and of what comes of it.
 */

#include "tests/unit/pp/pp_program.h"

#include <inttypes.h>
#include <limits.h>

#include "pp/oppush/oppush_spool.h"
#include "pp/oppush/oppush_sums.h"
#include "pp/oppush/oppush_take.h"

/* Its main() under another name. */
#define main opreport_main
int main(int argc, char **argv);
#include "pp/opreport/opreport.c"
#undef main

static const struct program programs[] = {
	{ "opreport", opreport_main },
	{ NULL, NULL },
};

#define NSEC INT64_C(1000000000)

static FILE *told;

static void note_told(const char *text)
{
	fprintf(told, "- %s\n", text);
}

/* Since when a session has samples that is taken at @now and that none was
 * taken of before. */
static int64_t birth_of_session(int64_t now)
{
	struct statx st = { .stx_mask = 0 };
	int64_t birth = 0;

	statx(AT_FDCWD, "samples/current", 0, STATX_BTIME, &st);
	if (st.stx_mask & STATX_BTIME)
		birth = st.stx_btime.tv_sec * NSEC + st.stx_btime.tv_nsec;
	return birth && birth < now ? birth : now - 1;
}

/* As seconds, with nanoseconds where there are some. */
static void write_time(FILE *out, int64_t ns)
{
	fprintf(out, "%" PRId64, ns / NSEC);
	if (ns % NSEC)
		fprintf(out, ".%09" PRId64, ns % NSEC);
}

/* The comments of @profile, but for the version of the program. */
static void write_profile_comments(FILE *out, const Pprof__Profile *profile)
{
	for (size_t i = 0; i < profile->n_comment; i++) {
		const char *text = profile->string_table[profile->comment[i]];

		if (strncmp(text, "oprofile ", 9) != 0)
			fprintf(out, " (%s)", text);
	}
}

/* "NUMBER: BEGIN to END, SAMPLES", and its comments. */
static void write_spooled(FILE *out, const struct push_spool *spool,
			  const struct push_spooled *spooled)
{
	Pprof__Profile *profile = NULL;
	struct op_diag diag = { "" };
	char path[PATH_MAX];

	push_spool_path(spool, spooled->name, path);
	assert_int_equal(push_read_profile(path, &profile, &diag), 0);
	assert_int_equal(profile->time_nanos, spooled->begin);
	assert_int_equal(profile->duration_nanos,
			 spooled->end - spooled->begin);
	fprintf(out, "%" PRIu64 ": ", spooled->number);
	if (spooled->begin == birth_of_session(spooled->end))
		fputs("birth", out);
	else
		write_time(out, spooled->begin);
	fputs(" to ", out);
	write_time(out, spooled->end);
	fprintf(out, ", %" PRIu64, spooled->samples);
	write_profile_comments(out, profile);
	fputc('\n', out);
	pprof__profile__free_unpacked(profile, NULL);
}

/* Take what is new at @now seconds, of the part @word if that is not NULL. */
static void take_profiles_at(FILE *out, struct push_spool *spool, int64_t now,
			     const char *word)
{
	const char *words[] = { word, NULL };
	const struct push_source source = {
		.session_dir = ".",
		.words = word ? words : NULL,
		.say = note_told,
	};
	struct op_diag diag = { "" };
	size_t first = spool->nr;
	int err = push_take(&source, spool, now * NSEC, &diag);

	for (size_t i = first; i < spool->nr; i++)
		write_spooled(out, spool, &spool->list[i]);
	if (err)
		fprintf(out, "= %s %s\n", strerrorname_np(-err), diag.text);
}

/* Do what the line says: "have" samples, "take" at a time, "drop" the oldest
 * profile, "state" what the spool knows, else a command of the shell. */
static void do_step(FILE *out, struct push_spool *spool, const char *line)
{
	char word[64] = "";
	struct op_diag diag = { "" };
	int64_t now;

	if (!strncmp(line, "have ", 5)) {
		write_samples(line + 5);
	} else if (sscanf(line, "take %" SCNd64 " %63s", &now, word) >= 1) {
		take_profiles_at(out, spool, now, *word ? word : NULL);
	} else if (!strcmp(line, "drop")) {
		assert_int_equal(push_spool_remove(spool, true, &diag), 0);
	} else if (!strcmp(line, "state")) {
		fprintf(out, "end ");
		write_time(out, spool->state.end);
		fprintf(out, ", taken %" PRIu64 ", told %" PRIu64 "%s\n",
			spool->state.taken, spool->state.told_samples,
			strncmp(spool->state.session, "history ", 8) != 0
				? ""
				: ", a history");
	} else {
		assert_int_equal(system(line), 0);
	}
}

struct take_step {
	const char *line, *wanted;
};

/* A story with a new spool in the working folder @folder. */
static void check_steps(const struct take_step *steps, size_t nr,
			const char *folder, uint64_t room)
{
	struct push_spool spool;
	struct op_diag diag = { "" };

	assert_int_equal(push_spool_open(&spool, "spool", room, &diag), 0);
	for (size_t i = 0; i < nr; i++) {
		struct text all;

		told = text_begin(&all);
		do_step(all.out, &spool, steps[i].line);
		text_below_must_be(&all, folder, steps[i].line,
				   steps[i].wanted ? steps[i].wanted : "");
	}
	push_spool_close(&spool);
}

#define MIB (UINT64_C(1) << 20)
#define STEPS(steps) check_steps(steps, NR(steps), *state, MIB)

static int enter_take_folder(void **state)
{
	char path[256];

	if (enter_folder(state))
		return -1;
	link_program("opreport");
	snprintf(path, sizeof(path), "%s:/usr/bin:/bin", (char *)*state);
	return setenv("PATH", path, 1);
}

#define TAKE_TEST(name) TEST_WITH(name, enter_take_folder, leave_folder)

/* ---- a session without a history ----------------------------------------- */

#define LEDGER_OF(taken)                                                       \
	"printf 'source = x\\ntaken = " taken                                  \
	"\\nstored = 0\\npending = 0\\n' >samples/current/ledger"

TAKE_TEST(what_is_new_is_taken)
{
	static const struct take_step steps[] = {
		{ "take 9",
		  "= ENOENT $/samples/current: No such file or directory; profile first, or name the session with --session-dir\n" },
		{ "have current x x CYCLES 1000=5 1002=2", NULL },
		/* It begins before the session was made, by the clock. */
		{ "take 10000", "1: birth to 10000, 7\n" },
		{ "state", "end 10000, taken 0, told 0\n" },
		{ "take 10001", NULL },
		/* Nothing new is no profile, and changes no state. */
		{ "state", "end 10000, taken 0, told 0\n" },
		{ "have current x x CYCLES 1002=3", NULL },
		{ "take 10002", "2: 10000 to 10002, 3\n" },
		{ "have current x x CYCLES 1002=1", NULL },
		/* A clock that was put back. */
		{ "take 10001", "3: birth to 10001, 1\n" },
		{ "have current x x CYCLES 1002=1", NULL },
		{ "rm spool/sum-3.pb.gz", NULL },
		{ "take 10003",
		  "= ENOENT spool/sum-3.pb.gz: is missing, so it is unknown which samples were pushed; remove the spool to push all samples again\n" },
		{ "test ! -e spool/report.pb.gz", NULL },
	};

	STEPS(steps);
}

TAKE_TEST(a_reset_session_is_a_new_one)
{
#define NEW                                                                    \
	"- the session is new; samples that the previous session recorded after its last profile are not pushed\n"
	static const struct take_step steps[] = {
		{ "have current x x CYCLES 1000=7", NULL },
		{ LEDGER_OF("7"), NULL },
		{ "take 10000", "1: birth to 10000, 7\n" },
		{ "state", "end 10000, taken 7, told 0\n" },
		/* As many samples as before, so it is the same. */
		{ "have current x x CYCLES 1000=1", NULL },
		{ "take 10001", "2: 10000 to 10001, 1\n" },
		{ LEDGER_OF("6"), NULL },
		{ "take 10002", NEW "3: birth to 10002, 8\n" },
		{ "state", "end 10002, taken 6, told 0\n" },
		/* Another folder with the same account. */
		{ "mkdir samples/other; mv samples/current/* samples/other; "
		  "mv samples/current samples/was; "
		  "mv samples/other samples/current",
		  NULL },
		{ "take 10003", NEW "4: birth to 10003, 8\n" },
		/* The clock goes on; no time is in two profiles. */
		{ "have current x x CYCLES 1000=1", NULL },
		{ "take 4000000000", "5: 10003 to 4000000000, 1\n" },
		{ LEDGER_OF("5"), NULL },
		{ "take 4000000001", NEW "6: 4000000000 to 4000000001, 9\n" },
		{ "echo >samples/current/ledger", NULL },
		{ "take 10004",
		  "= EINVAL $/samples/current/ledger: no line \"source = NAME\"\n" },
	};

	STEPS(steps);
}

TAKE_TEST(the_first_profile_begins_with_the_session)
{
	static const struct take_step steps[] = {
		{ "have current x x CYCLES 1000=7", NULL },
		{ "take 4000000000", "1: birth to 4000000000, 7\n" },
	};

	STEPS(steps);
}

TAKE_TEST(what_no_server_took_is_told)
{
#define MISSING(nr)                                                            \
	" (" nr                                                                \
	" samples of earlier profiles are missing: no server accepted them)"
	static const struct take_step steps[] = {
		{ "have current x x CYCLES 1000=7", NULL },
		{ "take 10000", "1: birth to 10000, 7\n" },
		{ "drop", NULL },
		{ "state", "end 10000, taken 0, told 0\n" },
		{ "have current x x CYCLES 1000=2", NULL },
		{ "take 10001", "2: 10000 to 10001, 2" MISSING("7") "\n" },
		{ "state", "end 10001, taken 0, told 7\n" },
		{ "drop", NULL },
		{ "have current x x CYCLES 1000=3", NULL },
		{ "take 10002", "3: 10001 to 10002, 3" MISSING("2") "\n" },
		{ "have current x x CYCLES 1000=1", NULL },
		{ "take 10003", "4: 10002 to 10003, 1\n" },
		{ "state", "end 10003, taken 0, told 9\n" },
	};

	STEPS(steps);
}

TAKE_TEST(a_full_spool_takes_nothing)
{
	static const struct take_step steps[] = {
		{ "have current x x CYCLES 1000=7", NULL },
		{ "take 10000", "= ENOSPC \n" },
		{ "state", "end 0, taken 0, told 0\n" },
		{ "test ! -e spool/report.pb.gz", NULL },
	};

	check_steps(steps, NR(steps), *state, 10);
}

/* ---- what opreport says -------------------------------------------------- */

TAKE_TEST(reports_that_fail_are_told)
{
	static const struct take_step steps[] = {
		{ "have current x x CYCLES 1000=7", NULL },
		{ "take 10000 /bin/none",
		  "= ENODATA opreport: /bin/none: no sample files match; images here: /bin/x\n" },
		{ "rm opreport; printf '#!/bin/sh\\nexit 3\\n' >opreport; "
		  "chmod +x opreport",
		  NULL },
		{ "take 10000", "= ENODATA opreport failed\n" },
		{ "printf '#!/bin/sh\\nprintf \"one\\\\ntwo\" >&2; exit 1\\n' "
		  ">opreport",
		  NULL },
		{ "take 10000", "= ENODATA one\n" },
		{ "printf '#!/bin/sh\\necho bad >spool/report.pb.gz\\n' "
		  ">opreport",
		  NULL },
		{ "take 10000",
		  "= EBADMSG spool/report.pb.gz: is no sound file of pprof: Bad message\n" },
		/* A sample of a location that is not there. */
		{ "printf '#!/bin/sh\\nprintf \"\\\\022\\\\003\\\\012\\\\001"
		  "\\\\011\" | gzip >spool/report.pb.gz\\n' >opreport",
		  NULL },
		{ "take 10000",
		  "= EBADMSG spool/report.pb.gz: is no sound file of pprof\n" },
		{ "state", "end 0, taken 0, told 0\n" },
		{ "test ! -e spool/report.pb.gz", NULL },
	};

	STEPS(steps);
}

/* The words of the command line, one in a line; then there is no report. */
static void write_words_of_report(FILE *out, const char *const *words)
{
	const struct push_source source = {
		.session_dir = ".",
		.words = words,
		.say = note_told,
	};
	struct push_spool spool;
	struct op_diag diag = { "" };
	int err;

	assert_int_equal(push_spool_open(&spool, "spool", MIB, &diag), 0);
	unlink("words");
	err = push_take(&source, &spool, NSEC, &diag);
	push_spool_close(&spool);
	if (!access("words", F_OK))
		fputs(text_of("words"), out);
	fprintf(out, "= %s %s\n", strerrorname_np(-err), diag.text);
}

TAKE_TEST(reports_are_of_the_part_that_is_named)
{
#define EIGHT "1", "2", "3", "4", "5", "6", "7", "8"
	static const char *const two[] = { "/bin/x", "event:CYCLES", NULL };
	static const char *const most[] = { EIGHT, EIGHT, "7", "8", NULL };
	static const char *const many[] = { EIGHT, EIGHT, "7", "8", "9", NULL };
	struct text all;

	mkdir("samples", 0755);
	mkdir("samples/current", 0755);
	unlink("opreport");
	write_text("opreport", "#!/bin/sh\nprintf '%s\\n' \"$@\" >words\n"
			       "exit 1\n");
	chmod("opreport", 0755);
	told = text_begin(&all);
	write_words_of_report(told, two);
	write_words_of_report(told, most);
	write_words_of_report(told, many);
	text_below_must_be(&all, *state, "words",
			   EXPECTED("reports-are-of-the-part-that-is-named"));
}

/* ---- a history ----------------------------------------------------------- */

#define SPAN(times) "current/.span-" times
#define IN_SPANS "samples/current/.span-"

TAKE_TEST(closed_spans_are_taken)
{
	static const struct take_step steps[] = {
		{ "have " SPAN("1000-6399") " x x CYCLES 1000=1", NULL },
		{ "have " SPAN("6399-6400") " x x CYCLES 1000=2", NULL },
		{ "have " SPAN("6400-6401") " x x CYCLES 1000=4", NULL },
		{ "have " SPAN("7000-8000") " x x CYCLES 1000=8 1002=1", NULL },
		/* What is in no span is not over. */
		{ "have current x x CYCLES 1000=16", NULL },
		/* Who asks first gets the spans that end in the last hour. */
		{ "take 10000", EXPECTED_AS("take 10000, 1") },
		{ "state", "end 8000, taken 0, told 0, a history\n" },
		{ "take 10001", NULL },
		{ "have " SPAN("8000-9000") " x x CYCLES 1002=3", NULL },
		{ "have " SPAN("9500-9600") " x x CYCLES 1002=5", NULL },
		{ "take 10002", "3: 8000 to 9000, 3\n4: 9500 to 9600, 5\n" },
		/* One that is being made or moved is no closed one. */
		{ "have current/.making-9600-9700 x x CYCLES 1002=5", NULL },
		{ "have current/.closing-9700-9800 x x CYCLES 1002=6", NULL },
		{ "take 10003", NULL },
		{ "mv samples/current/.closing-9700-9800 " IN_SPANS "9700-9800",
		  NULL },
		{ "take 10004", "5: 9700 to 9800, 6\n" },
		/* A sum of spans that were pushed has nothing new. */
		{ "mv " IN_SPANS "9700-9800 " IN_SPANS "9500-9800", NULL },
		{ "take 10005", NULL },
		{ "state", "end 9800, taken 0, told 0, a history\n" },
	};

	STEPS(steps);
}

TAKE_TEST(spans_of_the_last_hour_need_no_word)
{
	static const struct take_step steps[] = {
		{ "have " SPAN("1000-6401") " x x CYCLES 1000=1", NULL },
		{ "take 10000", "1: 1000 to 6401, 1\n" },
	};
	static const struct take_step again[] = {
		{ "take 10001",
		  "- the history before the last hour is not pushed\n" },
		{ "state", "end 0, taken 0, told 0\n" },
		/* The oldest one is not over. */
		{ "mv " IN_SPANS "1000-6401 samples/current/.closing-1000-2000",
		  NULL },
		{ "have " SPAN("9000-9001") " x x CYCLES 1000=2", NULL },
		{ "take 10001", "1: 9000 to 9001, 2\n" },
	};

	STEPS(steps);
	assert_int_equal(system("rm -r spool"), 0);
	STEPS(again);
}

/* Those that have nothing of what is to be pushed are passed over. */
TAKE_TEST(spans_without_samples_are_skipped)
{
	static const struct take_step steps[] = {
		{ "have " SPAN("7000-8000") " y y CYCLES 1000=1", NULL },
		{ "take 10000 /bin/x", NULL },
		{ "state", "end 8000, taken 0, told 0, a history\n" },
		{ "have " SPAN("8000-9000") " x x CYCLES 1000=2", NULL },
		{ "have " SPAN("9000-9100") " y y CYCLES 1000=4", NULL },
		{ "have " SPAN("9100-9200") " x x CYCLES 1000=8", NULL },
		{ "take 10000 /bin/x",
		  "1: 8000 to 9000, 2\n2: 9100 to 9200, 8\n" },
		/* Other reasons of opreport end it. */
		{ "have " SPAN("9200-9300") " x x CYCLES 1000=8", NULL },
		{ "take 10001 {",
		  "= ENODATA opreport: a brace is missing; compare with \"{ OLD... } { NEW... }\"\n" },
		{ "state", "end 9200, taken 0, told 0, a history\n" },
	};

	STEPS(steps);
}

/* The daemon puts spans together that were waited for too long. */
TAKE_TEST(a_sum_of_old_and_new_spans_is_passed_over)
{
	static const struct take_step steps[] = {
		{ "have " SPAN("7000-8000") " x x CYCLES 1000=1", NULL },
		{ "take 10000", "1: 7000 to 8000, 1\n" },
		{ "mv " IN_SPANS "7000-8000 " IN_SPANS "7000-8500", NULL },
		{ "have " SPAN("8500-9000") " x x CYCLES 1000=2", NULL },
		{ "take 10000", EXPECTED_AS("take 10000, 2") },
		/* One that begins where the last one ended is new. */
		{ "have " SPAN("9000-9100") " x x CYCLES 1000=3", NULL },
		{ "take 10000", "3: 9000 to 9100, 3\n" },
	};

	STEPS(steps);
}

TAKE_TEST(a_session_that_gets_a_history_goes_on)
{
	static const struct take_step steps[] = {
		{ "have current x x CYCLES 1000=7", NULL },
		{ "take 8000", "1: birth to 8000, 7\n" },
		/* Of the first span the sum tells what was pushed. */
		{ "mkdir " IN_SPANS "7000-9000; "
		  "mv samples/current/{root} " IN_SPANS "7000-9000",
		  NULL },
		{ "have " SPAN("7000-9000") " x x CYCLES 1000=5", NULL },
		{ "have " SPAN("9000-9100") " x x CYCLES 1000=2", NULL },
		{ "take 10000", "2: 8000 to 9000, 5\n3: 9000 to 9100, 2\n" },
		{ "state", "end 9100, taken 0, told 0, a history\n" },
	};

	STEPS(steps);
}

TAKE_TEST(another_history_is_a_new_one)
{
	static const struct take_step steps[] = {
		{ "have " SPAN("7000-8000") " x x CYCLES 1000=1", NULL },
		{ "take 10000", "1: 7000 to 8000, 1\n" },
		{ "mkdir samples/other; mv samples/current/.span* samples/other; "
		  "mv samples/current samples/was; "
		  "mv samples/other samples/current",
		  NULL },
		{ "take 10001", NEW "2: 7000 to 8000, 1\n" },
	};

	STEPS(steps);
}

/* A span that the daemon put together with another during its report is read
 * anew by its new name. */
TAKE_TEST(spans_that_change_are_read_anew)
{
	static const struct take_step steps[] = {
		{ "have " SPAN("7000-8000") " x x CYCLES 1000=1", NULL },
		{ "mkdir bin; mv opreport bin; "
		  "printf '#!/bin/sh\\nmv " IN_SPANS "7000-8000 " IN_SPANS
		  "7000-8100 2>/dev/null\\nexec bin/opreport \"$@\"\\n' "
		  ">opreport; chmod +x opreport",
		  NULL },
		{ "take 10000", "1: 7000 to 8100, 1\n" },
	};

	STEPS(steps);
}

/* Where it was put together with one that is pushed already, it is too late. */
TAKE_TEST(spans_that_join_pushed_ones_are_passed_over)
{
	static const struct take_step steps[] = {
		{ "have " SPAN("7000-8000") " x x CYCLES 1000=1", NULL },
		{ "have " SPAN("8000-9000") " x x CYCLES 1000=2", NULL },
		{ "mkdir bin; mv opreport bin; "
		  "printf '#!/bin/sh\\ncase \"$*\" in *@8000-*) rm -r " IN_SPANS
		  "8000-9000; mv " IN_SPANS "7000-8000 " IN_SPANS
		  "7000-9000; esac\\nexec bin/opreport \"$@\"\\n' "
		  ">opreport; chmod +x opreport",
		  NULL },
		{ "take 10000", EXPECTED_AS("take 10000, 3") },
		{ "state", "end 9000, taken 0, told 0, a history\n" },
	};

	STEPS(steps);
}

BEFORE_TESTS()
{
	be_program(programs, argc, argv);
	set_program_environment();
}
