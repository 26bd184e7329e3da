// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What the original profiler knew of lost samples: each row is files of its
 * folder samples/, and what is complained of and the ledger that they become.
 */

#include "tests/unit/pp_fixture.h"

#include <limits.h>

#include "libop/files/op_folder.h"
#include "pp/opimport/opimport_loss.h"

static FILE *complaints;

static void note_complaint(const char *text)
{
	fprintf(complaints, "- %s\n", text);
}

struct loss_row {
	const char *what;
	const char *name; /* of the session */
	uint64_t stored;
	const char *files[8][2]; /* path in the folder, and text */
	const char *wanted; /* complaints, then the ledger */
};

/* Convert the folder "old", and write what came of it and the ledger. */
static void write_losses(FILE *out, const char *name, uint64_t stored)
{
	const struct opimport_loss loss = {
		.from = "old",
		.to = "new",
		.name = name,
		.stored = stored,
		.complain = note_complaint,
	};
	struct op_diag diag = { "" };
	char path[64];
	int err;

	complaints = out;
	err = opimport_loss_write(&loss, &diag);
	if (err)
		fprintf(out, "= %d %s\n", err, diag.text);
	snprintf(path, sizeof(path), "new/%s/ledger", name);
	if (!access(path, F_OK))
		fputs(text_of(path), out);
}

static void check_losses(const struct loss_row *rows, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		struct text t;

		assert_int_equal(system("rm -rf old new; "
					"mkdir -p old new/current new/saved"),
				 0);
		for (size_t k = 0; rows[i].files[k][0]; k++) {
			char path[256];

			snprintf(path, sizeof(path), "old/%s",
				 rows[i].files[k][0]);
			assert_int_equal(op_make_parents(path, 0755), 0);
			write_text(path, rows[i].files[k][1]);
		}
		write_losses(text_begin(&t), rows[i].name, rows[i].stored);
		text_must_be(&t, rows[i].what, rows[i].wanted);
	}
}

#define LEDGER(taken, stored, causes)                                          \
	"source = imported\ntaken = " taken "\nstored = " stored               \
	"\npending = 0\n" causes

FOLDER_TEST(counters_of_the_kernel_are_losses)
{
#define STATS "current/stats/"
	static const struct loss_row rows[] = {
		{ "nothing is known", "current", 5, { { 0 } }, "" },
		{ "no counter of losses",
		  "current",
		  5,
		  { { STATS "bt_lost_no_mapping", "1\n" },
		    { STATS "cpu0/sample_received", "2\n" },
		    { STATS "cpu0/sample_los", "3\n" },
		    { STATS "event_lost_overflows", "4\n" },
		    { STATS "sample_invalid_ei", "5\n" },
		    { STATS "lost", "6\n" } },
		  "" },
		{ "each kind of counter",
		  "current",
		  10,
		  { { STATS "event_lost_overflow", "1\n" },
		    { STATS "lost_any", "2" },
		    { STATS "sample_invalid_eip", "3\nnothing else counts\n" },
		    { STATS "sample_lost_any", "0x10\n" } },
		  EXPECTED_ROW },
		{ "those of CPUs add up",
		  "current",
		  0,
		  { { STATS "cpu0/sample_lost_no_mm", "3\n" },
		    { STATS "cpu1/sample_lost_no_mm", "4\n" },
		    { STATS "cpu1/sample_invalid_eip", "0\n" } },
		  EXPECTED_ROW },
		{ "a known 0 is an account",
		  "saved",
		  7,
		  { { "saved/stats/lost_0", "0\n" },
		    { STATS "lost_of_another", "9\n" } },
		  LEDGER("7", "7", "lost.lost_0 = 0\n") },
		{ "no numbers, no names",
		  "current",
		  5,
		  { { STATS "lost_empty", "" },
		    { STATS "lost_text", "1 2\n" },
		    { STATS "lost_Upper", "3\n" } },
		  "" },
		{ "the sum stays at its largest",
		  "current",
		  UINT64_MAX - 3,
		  { { STATS "lost_any", "4\n" } },
		  EXPECTED_ROW },
		{ "the largest sum",
		  "current",
		  UINT64_MAX - 3,
		  { { STATS "lost_any", "3\n" } },
		  EXPECTED_ROW },
		{ "what is throttled is told and not counted",
		  "saved",
		  5,
		  { { "saved/stats/throttled/CYCLES", "1\n" },
		    { "saved/stats/throttled/lost_it", "1\n" } },
		  EXPECTED_ROW },
		{ "throttled is a folder",
		  "current",
		  5,
		  { { STATS "throttled", "1\n" },
		    { STATS "cpu0/throttled/lost_x", "2\n" } },
		  LEDGER("7", "5", "lost.lost_x = 2\n") },
	};

	check_losses(rows, NR(rows));
}

FOLDER_TEST(the_last_block_of_a_log_counts)
{
#define BLOCK "-- OProfile Statistics --\n"
	static const struct loss_row rows[] = {
		{ "each line of the log",
		  "current",
		  100,
		  { { "oprofiled.log",
		      "Nr. lost samples (no kernel/user): 1\n"
		      "Nr. lost kernel samples: 2\n"
		      "Nr. samples lost due to sample file open failure: 3\n"
		      "Nr. samples lost due to no permanent mapping: 4\n"
		      "Nr. user context kernel samples lost due to no app info available: 5\n"
		      "Nr. user samples lost due to no app info available: 6\n"
		      "Nr. samples lost due to sample address not in expected range for domain: 7\n"
		      "Nr. hypervisor samples dropped due to address out-of-range: 8\n"
		      "Nr. samples lost reported by perf_events kernel: 9\n"
		      "Nr. samples lost due to buffer overflow: 10\n"
		      "Nr. samples lost cpu buffer overflow: 11\n"
		      "Nr. samples lost due to no mapping: 12\n"
		      "Nr. samples lost due to no mm: 13\n"
		      "Nr. samples lost invalid pc: 14" } },
		  EXPECTED_ROW },
		{ "with a folder of counters those of the kernel are left out",
		  "current",
		  0,
		  { { "oprofiled.log",
		      "Nr. samples lost reported by perf_events kernel: 9\n"
		      "Nr. samples lost due to buffer overflow: 10\n"
		      "Nr. samples lost cpu buffer overflow: 11\n"
		      "Nr. samples lost due to no mapping: 12\n"
		      "Nr. samples lost due to no mm: 13\n"
		      "Nr. samples lost invalid pc: 14\n" },
		    { STATS "any", "text" } },
		  LEDGER("9", "0", "lost.lost_by_kernel = 9\n") },
		{ "with what is throttled too",
		  "current",
		  0,
		  { { "oprofiled.log", "Nr. samples lost due to no mm: 13\n" },
		    { STATS "throttled/E", "" } },
		  "- old/current: the kernel throttled E; samples of it are missing, their number is unknown\n" },
		{ "blocks do not add up",
		  "current",
		  0,
		  { { "oprofiled.log",
		      "Nr. lost kernel samples: 50\n" BLOCK
		      "Nr. lost kernel samples: 2\n"
		      "Nr. samples lost due to no permanent mapping: 1\n" BLOCK
		      "Nr. lost kernel samples: 3\n" } },
		  LEDGER("3", "0", "lost.lost_kernel = 3\n") },
		{ "an empty block knows nothing",
		  "current",
		  0,
		  { { "oprofiled.log", "Nr. lost kernel samples: 5\n" BLOCK } },
		  "" },
		{ "one line in a block twice",
		  "current",
		  0,
		  { { "operf.log", BLOCK "Nr. lost kernel samples: 2\n"
					 "Nr. lost kernel samples: 3\n" } },
		  LEDGER("5", "0", "lost.lost_kernel = 5\n") },
		{ "the sum of a line stays at its largest",
		  "current",
		  0,
		  { { "operf.log",
		      "Nr. lost kernel samples: 18446744073709551615\n"
		      "Nr. lost kernel samples: 1\n" } },
		  EXPECTED_ROW },
		{ "the largest sum of a line",
		  "current",
		  0,
		  { { "operf.log",
		      "Nr. lost kernel samples: 18446744073709551613\n"
		      "Nr. lost kernel samples: 1\n" } },
		  EXPECTED_ROW },
		{ "both logs, which add up",
		  "current",
		  1,
		  { { "oprofiled.log", "Nr. lost kernel samples: 2\n" },
		    { "operf.log", "Nr. lost kernel samples: 3\n"
				   "Nr. samples lost invalid pc: 0\n" } },
		  EXPECTED_ROW },
		{ "lines of another form",
		  "current",
		  0,
		  { { "operf.log", "Nr lost kernel samples: 1\n"
				   " Nr. lost kernel samples: 1\n"
				   "Nr. lost kernel samples:1\n"
				   "Nr. lost kernel samples: \n"
				   "Nr. lost kernel samples: -1\n"
				   "Nr. lost kernel samples : 1\n"
				   "Nr. lost kernel samples 1\n"
				   "Nr. kernel samples: 1\n"
				   "lost kernel samples: 1\n"
				   "- OProfile\n" } },
		  "" },
		{ "only what starts like a block is one",
		  "current",
		  0,
		  { { "operf.log",
		      "Nr. lost kernel samples: 4\n -- OProfile\n--OProfile\n" } },
		  LEDGER("4", "0", "lost.lost_kernel = 4\n") },
		{ "logs are of the session current alone",
		  "saved",
		  0,
		  { { "oprofiled.log", "Nr. lost kernel samples: 2\n" } },
		  "" },
	};

	check_losses(rows, NR(rows));
}

FOLDER_TEST(ledgers_that_cannot_be_made_are_told)
{
	struct text t;

	assert_int_equal(mkdir("old", 0755), 0);
	/* Who loses nothing that is known needs no folder. */
	write_losses(text_begin(&t), "current", 3);
	text_must_be(&t, "no folder and no losses", "");
	write_text("old/oprofiled.log", "Nr. lost kernel samples: 2\n");
	write_losses(text_begin(&t), "current", 3);
	text_must_be(
		&t, "no folder",
		"= -2 new/current/ledger: cannot write: No such file or directory\n");
}

FOLDER_TEST(long_names_of_folders_are_refused)
{
	static char name[PATH_MAX];
	struct opimport_loss loss = { .to = "new", .name = "current" };
	struct op_diag diag = { "" };

	memset(name, 'n', sizeof(name) - 1);
	/* With "/current/stats" and the zero byte one byte too many. */
	name[PATH_MAX - sizeof("/current/stats") + 1] = '\0';
	loss.from = name;
	assert_int_equal(opimport_loss_write(&loss, &diag), -ENAMETOOLONG);
	assert_reason(&diag, "nnn: too long");
	/* There is no such folder, so nothing is known. */
	name[PATH_MAX - sizeof("/current/stats")] = '\0';
	assert_int_equal(opimport_loss_write(&loss, &diag), 0);

	write_text("oprofiled.log", "Nr. lost kernel samples: 2\n");
	loss.from = ".";
	loss.to = name;
	name[PATH_MAX - sizeof("/current/ledger") + 1] = '\0';
	diag.text[0] = '\0';
	assert_int_equal(opimport_loss_write(&loss, &diag), -ENAMETOOLONG);
	assert_reason(&diag, "nnn: too long");
	name[PATH_MAX - sizeof("/current/ledger")] = '\0';
	diag.text[0] = '\0';
	assert_int_equal(opimport_loss_write(&loss, &diag), -ENAMETOOLONG);
	assert_reason(&diag, "/current/ledger");
}
