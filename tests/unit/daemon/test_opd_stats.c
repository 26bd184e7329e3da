// SPDX-License-Identifier: GPL-2.0-or-later
/* The account: what streams say, what became of samples, and the file of it. */

#include <inttypes.h>

#include "tests/unit/opd_fixture.h"
#include "tests/unit/rows.h"

/* A daemon whose account the test keeps. */
struct rig {
	struct fixture *f;
	struct opd_stats stats;
	uint64_t nr_deferred;
};

static void show_ledger(const struct op_ledger *l, FILE *out)
{
	fprintf(out, "%s: taken %" PRIu64 " stored %" PRIu64,
		*l->source ? l->source : "-", l->taken, l->stored);
	if (l->pending)
		fprintf(out, " pending %" PRIu64, l->pending);
	for (unsigned int i = 0; i < l->nr_causes; i++)
		fprintf(out, " %s %" PRIu64, l->causes[i].name,
			l->causes[i].nr);
	for (unsigned int i = 0; i < OP_NR_STACKS; i++)
		if (l->stacks[i])
			fprintf(out, " %s %" PRIu64,
				op_ledger_stacks_name((enum op_ledger_stacks)i),
				l->stacks[i]);
	for (unsigned int i = 0; i < l->nr_events; i++)
		fprintf(out, " %s %" PRIu64 "/%" PRIu64, l->events[i].name,
			l->events[i].running, l->events[i].enabled);
	fputc('\n', out);
}

static void show(struct rig *rig, FILE *out)
{
	struct op_ledger ledger;

	opd_stats_ledger(&rig->stats, &ledger);
	show_ledger(&ledger, out);
}

static void show_written(struct rig *rig, int err, FILE *out)
{
	struct op_diag diag = { "" };
	struct op_ledger ledger;
	char path[4200];

	if (err) {
		fprintf(out, "%s\n", strerrorname_np(-err));
		return;
	}
	snprintf(path, sizeof(path), "%s/ledger", rig->f->opd.session.current);
	assert_int_equal(op_ledger_read(&ledger, path, &diag), 0);
	show_ledger(&ledger, out);
}

/* Without the time, and the folder of the session. */
static void show_log(struct rig *rig, FILE *out)
{
	const struct op_session *session = &rig->f->opd.session;
	char line[8192], *in;
	FILE *file = fopen(session->log, "r");

	assert_non_null(file);
	while (fgets(line, sizeof(line), file)) {
		char *at = line;

		if (strlen(line) > 20 && line[13] == ':')
			at += 20;
		in = strstr(at, session->current);
		if (in)
			memmove(in, in + strlen(session->current),
				strlen(in + strlen(session->current)) + 1);
		fputs(at, out);
	}
	fclose(file);
	assert_int_equal(truncate(session->log, 0), 0);
}

/* @nr samples of /bin/sh in the sample files. */
static void take(struct rig *rig, unsigned int nr)
{
	struct words *w = calloc(1, sizeof(*w));

	assert_non_null(w);
	put_cookie(w, 1, "/bin/sh");
	put_cpu(w, 0);
	put_task(w, 1, 1, 1);
	put_user(w);
	put_image(w, 1);
	while (nr--)
		put_sample(w, 0x10, 0);
	run_words(rig->f, w);
	opd_sfiles_drop_all(&rig->f->opd.store);
	free(w);
}

static void init_stats(struct rig *rig, FILE *out)
{
	struct op_diag diag = { "" };
	int err;

	memset(&rig->stats, 0, sizeof(rig->stats));
	err = opd_stats_init(&rig->stats, &rig->f->opd.store, &rig->nr_deferred,
			     &diag);
	if (err)
		fprintf(out, "%s:%s\n", strerrorname_np(-err),
			strchr(diag.text, ':') + 1);
}

static void set_text(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	fputs(text, file);
	assert_int_equal(fclose(file), 0);
}

static void tell(int err, FILE *out)
{
	if (err)
		fprintf(out, "%s\n", strerrorname_np(-err));
}

/*
 * lost NR CAUSE, taken NR, begins, counted RUNNING ENABLED EVENT: what the
 * stream says; stored NR, no-image
 * NR, deferred NR: what became of samples; stacks NR: that are whole, far NR:
 * arcs; source NAME; restart; there NR: samples in the files; damaged: one was;
 * ledger TEXT: of the file, "\" for a new line; init: from what is there;
 * write, last, saved: the file, shown; show; log; mkdir NAME, rmdir NAME
 */
static int count_event(struct opd_stats *stats, const char *text)
{
	struct op_ledger_event event = { .count = 1000 };

	assert_int_equal(sscanf(text, "%" SCNu64 "%" SCNu64 "%127s",
				&event.running, &event.enabled, event.name),
			 3);
	return opd_stats_stream_event(stats, &event);
}

static void do_line(struct rig *rig, const char *line, FILE *out)
{
	struct opd_stats *stats = &rig->stats;
	char verb[16], text[512] = "", path[8192];
	uint64_t nr = 0;

	sscanf(line, "%15s %511[^;]", verb, text);
	sscanf(text, "%" SCNu64, &nr);
	snprintf(path, sizeof(path), "%s/%s", rig->f->opd.session.current,
		 text);
	if (!strcmp(verb, "lost"))
		tell(opd_stats_stream_lost(stats, strchr(text, ' ') + 1, nr),
		     out);
	else if (!strcmp(verb, "taken"))
		tell(opd_stats_stream_taken(stats, nr), out);
	else if (!strcmp(verb, "counted"))
		tell(count_event(stats, text), out);
	else if (!strcmp(verb, "begins"))
		opd_stats_stream_begins(stats);
	else if (!strcmp(verb, "stored"))
		for (stats->seen[OPD_MODE_USER] += nr; nr; nr--)
			opd_stats_count(stats, OPD_STORED, 1);
	else if (!strcmp(verb, "no-image"))
		for (stats->seen[OPD_MODE_KERNEL] += nr; nr; nr--)
			opd_stats_count(stats, OPD_LOST_NO_IMAGE, 1);
	else if (!strcmp(verb, "deferred"))
		stats->seen[OPD_MODE_UNKNOWN] += rig->nr_deferred = nr;
	else if (!strcmp(verb, "stacks"))
		stats->stacks[OP_STACKS_WHOLE] += nr;
	else if (!strcmp(verb, "far"))
		stats->stacks[OP_NR_STACKS - 1] += nr;
	else if (!strcmp(verb, "source"))
		opd_stats_set_source(stats, text);
	else if (!strcmp(verb, "restart"))
		opd_stats_restart(stats);
	else if (!strcmp(verb, "there"))
		take(rig, (unsigned int)nr);
	else if (!strcmp(verb, "damaged"))
		rig->f->opd.store.recount = true;
	else if (!strcmp(verb, "init"))
		init_stats(rig, out);
	else if (!strcmp(verb, "write"))
		show_written(rig, opd_stats_write(stats), out);
	else if (!strcmp(verb, "last"))
		show_written(rig, opd_stats_write_last(stats), out);
	else if (!strcmp(verb, "saved"))
		show_written(rig, opd_stats_write_saved(stats), out);
	else if (!strcmp(verb, "show"))
		show(rig, out);
	else if (!strcmp(verb, "log"))
		show_log(rig, out);
	else if (!strcmp(verb, "mkdir"))
		assert_int_equal(mkdir(path, 0755), 0);
	else if (!strcmp(verb, "rmdir"))
		assert_int_equal(rmdir(path), 0);
	else if (!strcmp(verb, "ledger")) {
		for (char *at = text; (at = strchr(at, '\\'));)
			*at = '\n';
		snprintf(path, sizeof(path), "%s/ledger",
			 rig->f->opd.session.current);
		set_text(path, text);
	} else {
		fail_msg("%s: no such verb", verb);
	}
}

static void run_stats(const struct row *row, FILE *out)
{
	struct rig rig = { .f = new_replay() };
	const char *at = row->script;
	char line[1024];

	init_stats(&rig, out);
	opd_stats_set_source(&rig.stats, "test");
	while (next_line(&at, line, sizeof(line)))
		do_line(&rig, line, out);
	free_fixture(rig.f);
}

#define MOST "4611686018427387904" /* 2^62 */

/* clang-format off */
static const struct row rows[] = {
	/* ---- what the stream says ---- */
	{ "lost", NULL, "show; lost 5 a; lost 2 b_1; lost 3 a; show; lost 0 c; show",
	  EXPECTED_ROW },
	{ "most_lost", NULL,
	  "lost " MOST " a; show; lost 0 a; lost 1 a; show", EXPECTED_ROW },
	{ "more_than_most_lost", NULL, "lost 4611686018427387905 a; show", EXPECTED_ROW },
	{ "lost_by_no_name", NULL, "lost 5 A; show", EXPECTED_ROW },
	/* There is room for the daemon's own causes. */
	{ "many_causes", NULL,
	  "lost 1 c0; lost 1 c1; lost 1 c2; lost 1 c3; lost 1 c4; lost 1 c5;"
	  "lost 1 c6; lost 1 c7; lost 1 c8; lost 1 c9; lost 1 c10; lost 1 c11;"
	  "lost 1 c12; lost 1 c13; lost 1 c14; lost 1 c15; lost 1 c16;"
	  "lost 1 c17; lost 1 c18; lost 1 c19; lost 1 c20; lost 1 c21;"
	  "lost 1 c22; lost 1 c23; lost 1 c24; lost 1 c25; lost 1 c26;"
	  "lost 1 c27; lost 1 c28; lost 1 c29; lost 1 c30; lost 1 c31;"
	  "lost 5 c32; lost 7 c33; lost 9 c3; no-image 1; show", EXPECTED_ROW },
	{ "counted", NULL,
	  "counted 1 2 A; counted 5 5 B; begins; counted 2 2 A; show;"
	  "counted 3 2 A; counted 0 4611686018427387905 A; write", EXPECTED_ROW },
	/* What was counted before belongs to the session that was saved. */
	{ "counted_and_saved", NULL,
	  "counted 1 2 A; counted 5 5 B; saved; restart; show; counted 7 9 B;"
	  "counted 1 1 C; show", EXPECTED_ROW },
	/* Another daemon goes on. */
	{ "counted_before", NULL,
	  "counted 1 2 A; write; init; counted 1 1 A; counted 2 4 B; show", EXPECTED_ROW },
	{ "taken", NULL, "taken 10; show; stored 4; lost 1 a; show; taken 9;"
	  "taken 10; taken 11; show", EXPECTED_ROW },
	{ "more_came_than_was_taken", NULL, "taken 3; stored 2; lost 2 a; show",
	  "test: taken 4 stored 2 a 2\n" },
	{ "most_taken", NULL, "taken " MOST "; taken 4611686018427387905; show", EXPECTED_ROW },
	{ "deferred_are_pending", NULL, "taken 10; stored 3; deferred 2; show",
	  "test: taken 10 stored 3 pending 7\n" },
	{ "deferred_without_taken", NULL, "stored 3; deferred 2; show",
	  "test: taken 5 stored 3 pending 2\n" },
	{ "two_streams", NULL,
	  "taken 10; stored 4; begins; show; taken 5; stored 1; show", EXPECTED_ROW },
	{ "the_first_said_nothing", NULL,
	  "stored 4; lost 3 a; begins; taken 5; show; begins; taken 1; show", EXPECTED_ROW },
	{ "most_taken_of_two", NULL,
	  "taken 4611686018427387900; begins; taken 5; taken 4; show", EXPECTED_ROW },
	/* ---- another session ---- */
	{ "restart", NULL,
	  "lost 3 a; stored 4; no-image 2; stacks 6; far 1; restart; show;"
	  "lost 2 a; stored 5; no-image 1; stacks 7; far 2; show", EXPECTED_ROW },
	{ "restart_with_pending", NULL,
	  "taken 10; stored 4; restart; show; stored 2; show", EXPECTED_ROW },
	/* ---- from what is there ---- */
	{ "the_ledger_goes_on", NULL,
	  "ledger source = a\\taken = 9\\stored = 0\\pending = 0\\lost.x = 9\\"
	  "stacks.whole = 1\\stacks.not_stored = 2\\stacks.arcs_not_stored = 3\\;"
	  "init; log; show; source b; lost 1 x; lost 1 y; far 1; show;"
	  "restart; show", EXPECTED_ROW },
	{ "more_is_there", NULL,
	  "there 5; ledger source = a\\taken = 7\\stored = 3\\pending = 4\\;"
	  "init; log; show", EXPECTED_ROW },
	{ "much_more_is_there", NULL,
	  "there 5; ledger source = a\\taken = 2\\stored = 1\\pending = 1\\;"
	  "init; log; show", EXPECTED_ROW },
	{ "as_much_is_there", NULL,
	  "there 5; ledger source = a\\taken = 6\\stored = 5\\pending = 1\\;"
	  "init; log; show",
	  "a: taken 6 stored 5 lost_daemon_killed 1\n" },
	{ "less_is_there", NULL,
	  "there 5; ledger source = a\\taken = 10\\stored = 9\\pending = 1\\;"
	  "init; log; show", EXPECTED_ROW },
	{ "no_ledger", NULL, "there 5; init; log; show", EXPECTED_ROW },
	{ "a_damaged_ledger", NULL,
	  "ledger taken = a lot\\; init; log; show; source b; lost 1 a; write", EXPECTED_ROW },
	{ "a_damaged_ledger_that_stays", NULL,
	  "mkdir ledger.bad; ledger taken = a lot\\; init",
	  "EISDIR: Is a directory\n" },
	/* ---- the file ---- */
	{ "written", NULL, "taken 10; there 4; stored 4; write; log",
	  "test: taken 10 stored 4 pending 6\n" },
	{ "written_last", NULL, "taken 10; there 4; stored 4; last; log; show", EXPECTED_ROW },
	{ "written_last_without_pending", NULL, "lost 1 a; last; log",
	  "test: taken 1 stored 0 a 1\n" },
	{ "saved", NULL, "taken 10; there 4; stored 4; saved; log; show", EXPECTED_ROW },
	/* Files are counted where one was damaged. */
	{ "less_is_left", NULL,
	  "there 4; stored 6; damaged; write; show; stored 1; write", EXPECTED_ROW },
	{ "all_is_left", NULL, "there 4; stored 4; damaged; write",
	  "test: taken 4 stored 4\n" },
	{ "more_is_left", NULL, "there 5; stored 4; damaged; write",
	  "test: taken 4 stored 4\n" },
	{ "cannot_be_written", NULL,
	  "mkdir ledger; lost 1 a; write; log; rmdir ledger; write; log", EXPECTED_ROW },
};
/* clang-format on */

TEST_ROWS(test_row, rows)
{
	check_row(*state, run_stats);
}

/* A reserve is on the disk but while the ledger cannot be written without. */
TEST(test_reserve)
{
	struct rig rig = { .f = new_replay() };

	init_stats(&rig, stderr);
	opd_stats_set_source(&rig.stats, "test");
	assert_true(exists(rig.f, ".reserve"));
	do_line(&rig, "mkdir ledger", stderr);
	assert_int_equal(opd_stats_write(&rig.stats), -EISDIR);
	assert_true(exists(rig.f, ".reserve"));
	free_fixture(rig.f);
}

/* Each number of the log is another. */
TEST(test_log)
{
	struct rig rig = { .f = new_replay() };
	struct opd_stats *stats = &rig.stats;
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	assert_non_null(out);
	init_stats(&rig, stderr);
	stats->seen[OPD_MODE_UNKNOWN] = 1;
	stats->seen[OPD_MODE_USER] = 2000;
	stats->seen[OPD_MODE_KERNEL] = 400;
	stats->stored = 7;
	stats->lost[OPD_LOST_NO_CONTEXT] = 8;
	stats->lost[OPD_LOST_SAMPLE_FILE] = 9;
	stats->lost[OPD_LOST_NO_IMAGE] = 10;
	stats->lost[OPD_LOST_NO_NAME] = 11;
	opd_stats_stream_lost(stats, "event_lost_overflow", 12);
	opd_stats_stream_lost(stats, "sample_lost_no_mapping", 13);
	opd_stats_stream_lost(stats, "sample_lost_no_mm", 14);
	stats->nr_reads = 15;
	stats->unknown_codes = 16;
	stats->bad_records = 17;
	stats->bad_lengths = 18;
	stats->skipped_words = 19;
	stats->incomplete = 100;
	opd_stats_log(stats);
	stats->frames = 20;
	for (unsigned int i = 0; i < OP_NR_STACKS; i++)
		stats->stacks[i] = 30 + i;
	rig.f->opd.store.pack.nr_made = 40;
	show_log(&rig, out);
	fputs("-\n", out);
	opd_stats_log(stats);
	show_log(&rig, out);
	fclose(out);
	expect_text(text, EXPECTED_ROW, "each_number_of_the_log");
	free(text);
	free_fixture(rig.f);
}

TEST(test_names)
{
	assert_string_equal(opd_fate_name(OPD_STORED), "stored");
	assert_string_equal(opd_fate_name(OPD_DEFERRED), "deferred");
	assert_string_equal(opd_fate_name(OPD_LOST_NO_IMAGE), "lost_no_image");
}
