// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What the check of a session says of each kind of damage, what it counts, and
 * what a repair leaves. A row is a script, a word and its arguments in each
 * line, and the text that comes of its checks and repairs.
 */

#include <sys/file.h>

#include "tests/unit/build_elf.h"
#include "pp_packed.h"

#include "libdb/table/db_format.h"
#include "libpp/check.h"
#include "libpp/symbols/inline_answers.h"

struct check_test {
	FILE *out;
	int lock; /* of a daemon or another check; -1: there is none */
};

/* ---- making a session, and damage ---------------------------------------- */

/* Make file @path of answers one of the first version. */
static void age_answers(const char *path)
{
	const uint32_t version = 1;
	size_t len = read_session_file(path);

	memcpy(session_bytes + 8, &version, sizeof(version));
	write_bytes(path, session_bytes, len);
}

/* Put the only key of a table behind a free slot, as a lost page would leave
 * it: the key that was there before is gone. */
static void tear_table(const char *path)
{
	size_t len = read_session_file(path), at = 0;
	struct odb_header *header = (struct odb_header *)session_bytes;
	struct odb_slot *slots = (struct odb_slot *)(header + 1);

	while (at < header->nr_slots && !slots[at].count)
		at += ODB_LINE_SLOTS;
	assert_true(at < header->nr_slots);
	slots[at + 1] = slots[at];
	slots[at].count = 0;
	write_bytes(path, session_bytes, len);
}

/* A file with an answer about the build of @nr bytes 01, 02, ... */
static void write_inline_answer(const char *path, size_t nr)
{
	struct pp_inline_answers answers = { 0 };
	FILE *file = fopen(path, "w");
	uint8_t id[OP_BUILD_ID_MAX + 1];

	for (size_t i = 0; i < sizeof(id); i++)
		id[i] = (uint8_t)(i + 1);
	assert_int_equal(pp_inline_answers_add(&answers, 0x10, NULL, 0), 0);
	assert_non_null(file);
	assert_int_equal(pp_inline_answers_write(&answers, file, id, nr), 0);
	fclose(file);
	pp_inline_answers_release(&answers);
}

/* ---- checks ---------------------------------------------------------------
 */

static void write_said(void *ctx, const char *line)
{
	char *text = strdup(line), *here = getcwd(NULL, 0);
	FILE *out = ctx;

	write_without(out, text, here);
	fputc('\n', out);
	free(here);
}

static void check_or_repair(struct check_test *t, bool repair)
{
	struct pp_check check = { .say = write_said,
				  .ctx = t->out,
				  .repair = repair };
	struct op_diag diag = { "" };
	struct op_session session;
	char *here = getcwd(NULL, 0);
	int err;

	assert_int_equal(op_session_init(&session, ".", &diag), 0);
	err = pp_check_session(&check, &session, &diag);
	if (err) {
		fprintf(t->out, "%s: ", strerror(-err));
		write_without(t->out, strdup(diag.text), here);
		fputc('\n', t->out);
	}
	fprintf(t->out, "= %u files, %u samples, %u damaged, %u repaired\n",
		(unsigned int)check.nr_files, (unsigned int)check.nr_samples,
		(unsigned int)check.nr_damaged,
		(unsigned int)check.nr_repaired);
	free(here);
}

/* Take the lock that a daemon holds alone and a check shares. It must be free.
 */
static int must_lock_session(int how)
{
	int fd;

	mkdir("run", 0755);
	fd = open("run/lock", O_CREAT | O_RDWR | O_CLOEXEC, 0644);
	assert_true(fd >= 0);
	assert_int_equal(flock(fd, how | LOCK_NB), 0);
	return fd;
}

/* ---- scripts --------------------------------------------------------------
 */

/* Files of the running session. */
#define OF_X(what) "samples/current/{root}/bin/x/" what "E.100.0.all.all.all"
#define TABLE_OF_X OF_X("{dep}/{root}/bin/x/")
#define CALLS_OF_X OF_X("{dep}/{root}/bin/x/{cg}/{root}/bin/y/")
#define TREE_OF_X OF_X("{tree}/")
#define PACK "samples/current/packed"
/* Files of each kind, with 8, 9 and 1 counts. */
#define ALL_KINDS                                                              \
	"samples current x x E 0=5 10=3;"                                      \
	"samples current x x>y E 10>20=9;"                                     \
	"tree current x E 1:x+0>x+10;"

/* clang-format off */
static const struct check_row {
	const char *name, *script, *wanted;
} check_rows[] = {
	{ "sound files",
	  ALL_KINDS "check;repair;is " TABLE_OF_X, EXPECTED_ROW },
	{ "a sound pack",
	  ALL_KINDS "pack samples/current;check;repair;is " PACK ".bad", EXPECTED_ROW },
	{ "a damaged table",
	  ALL_KINDS "flip " TABLE_OF_X " 2;check;repair;is " TABLE_OF_X, EXPECTED_ROW },
	{ "a damaged table of calls",
	  ALL_KINDS "flip " CALLS_OF_X " 9;check", EXPECTED_ROW },
	{ "a damaged tree",
	  ALL_KINDS "flip " TREE_OF_X " 2;check", EXPECTED_ROW },
	{ "a table and a tree of other versions of the file",
	  ALL_KINDS "flip " TABLE_OF_X " 12;flip " TREE_OF_X " 12;check", EXPECTED_ROW },
	{ "a header of another version",
	  "version 2;" ALL_KINDS "check", EXPECTED_ROW },
	{ "files that nothing was counted in have no header",
	  "version 2;samples current x x E;tree current x E;check",
	  "= 2 files, 0 samples, 0 damaged, 0 repaired\n" },
	{ "derived files",
	  "derived 4;samples current x x E 0=5 10=3;samples current y y E;check",
	  "= 2 files, 4 samples, 0 damaged, 0 repaired\n" },
	{ "a table with gaps",
	  "samples current x x E 1=5;tear " TABLE_OF_X ";check;repair", EXPECTED_ROW },
	{ "a tree that ends early",
	  ALL_KINDS "flip " TREE_OF_X " 24;check", EXPECTED_ROW },
	{ "no name of a sample file",
	  ALL_KINDS "text samples/current/{loose}/strange x;text samples/current/{loose}/x\x01\x1f\x7f\xc3\xa4~ x;check",
	  EXPECTED_ROW },
	{ "files that were set aside",
	  ALL_KINDS "text " TABLE_OF_X ".bad x;text samples/current/{loose}/a.bad/strange x;check",
	  EXPECTED_ROW },
	{ "the header of a pack",
	  ALL_KINDS "pack samples/current;flip " PACK " 3;check;repair;is " PACK ".bad;check;unlocked",
	  EXPECTED_ROW },
	{ "the index of a pack",
	  ALL_KINDS "pack samples/current;flip " PACK " -3;repair;is " PACK ".bad;check",
	  EXPECTED_ROW },
	{ "a group of a pack",
	  "many 66;pack samples/current;flip " PACK " g70;check;repair;is " PACK ".bad;check",
	  EXPECTED_ROW },
	{ "the only group of a pack",
	  ALL_KINDS "pack samples/current;flip " PACK " g70;check;repair;check;flip " PACK " g70;flip " PACK " -3;check",
	  EXPECTED_ROW },
	{ "the index and a group of a pack",
	  "many 66;pack samples/current;flip " PACK " g70;flip " PACK " -3;check;repair;is " PACK ".bad;check",
	  EXPECTED_ROW },
	{ "a pack whose end is not there",
	  "many 66;pack samples/current;cut " PACK " gg0;check;repair;is " PACK ".bad;check",
	  EXPECTED_ROW },
	{ "the lock is held no longer than needed",
	  "samples current x x E 0=5;text run/lock 1;check;unlocked;repair;unlocked",
	  EXPECTED_ROW },
	{ "beside another check",
	  "samples current x x E 0=5;ledger samples/current/ledger 6;text samples/current/.packed.grow x;checker;check",
	  EXPECTED_ROW },
	{ "an entry of a pack",
	  ALL_KINDS "pack samples/current;flip " PACK " 70;check;repair;is " PACK ".bad;check",
	  EXPECTED_ROW },
	{ "the only entry of a pack",
	  "samples current x x E 0=5;pack samples/current;flip " PACK " 70;repair;is " PACK ".bad;check",
	  EXPECTED_ROW },
	{ "a pack without anything",
	  ALL_KINDS "pack samples/current;cut " PACK " 50;check;repair;is " PACK ".bad",
	  EXPECTED_ROW },
	{ "an account of more than there is",
	  ALL_KINDS "ledger samples/current/ledger 8;check;ledger samples/current/ledger 9;check",
	  EXPECTED_ROW },
	{ "a daemon may have counted more",
	  ALL_KINDS "ledger samples/current/ledger 9;daemon;check;repair", EXPECTED_ROW },
	{ "a damaged account",
	  ALL_KINDS "text samples/current/ledger x;check", EXPECTED_ROW },
	{ "samples of a span that is being closed",
	  "samples current x x E 0=5;samples current/.closing-100-200 x x E 0=3;ledger samples/current/ledger 8;check;ledger samples/current/ledger 9;check",
	  EXPECTED_ROW },
	{ "a span with an account of its own",
	  "samples current x x E 0=5;samples current/.span-100-200 x x E 0=3;ledger samples/current/.span-100-200/ledger 4;ledger samples/current/ledger 6;check",
	  EXPECTED_ROW },
	{ "samples beside count in their own session alone",
	  "samples a x x E 0=5;samples a/.closing-100-200 x x E 0=9;samples b/.span-100-200 x x E 0=3;ledger samples/b/.span-100-200/ledger 4;ledger samples/b/ledger 1;check",
	  EXPECTED_ROW },
	{ "what became of dropped spans",
	  "samples current x x E 0=5;ledger samples/current/.dropped-1-100/ledger 7;check;text samples/current/.dropped-1-100/ledger x;check",
	  EXPECTED_ROW },
	{ "spans that do not count",
	  "samples current/.making-1-100 x x E 0=5;samples current/.span-100-200 x x E 0=3;samples current/.span-100-300 x x E 0=1;text samples/current/.dropped-120-140/ledger x;check",
	  "= 1 files, 1 samples, 0 damaged, 0 repaired\n" },
	{ "folders of samples",
	  "samples current x x E 0=5;samples saved x x E 0=3;samples .hidden x x E 0=2;text samples/file x;link samples/link current;check",
	  "= 2 files, 8 samples, 0 damaged, 0 repaired\n" },
	{ "unfinished files",
	  "samples current x x E 0=5;text samples/current/.packed.grow x;text symbols/.tmp-123456 x;folder samples/current/.x.grow;check;repair;is samples/current/.packed.grow;is symbols/.tmp-123456;check",
	  EXPECTED("unfinished-files") },
	{ "unfinished files beside a daemon",
	  "samples current x x E 0=5;text samples/current/.packed.grow x;text symbols/.tmp-123456 x;daemon;check",
	  "= 1 files, 5 samples, 0 damaged, 0 repaired\n" },
	{ "symbols of a kernel",
	  "folder samples;text symbols/vmlinux-01 x;text symbols/.vmlinux-02 x;folder symbols/vmlinux-03;check",
	  EXPECTED_ROW },
	{ "the store",
	  "folder samples;elf store/.build-id/01/23;text store/.build-id/01/24 x;text store/.build-id/01/.25 x;check",
	  EXPECTED_ROW },
	{ "answers about what was inlined",
	  "folder samples;answers store/.build-id/01/0203.inlines 3;check;text store/.build-id/01/0203.inlines x;check",
	  EXPECTED_ROW },
	{ "answers of an earlier version",
	  "folder samples;answers store/.build-id/01/0203.inlines 3;age store/.build-id/01/0203.inlines;check",
	  "= 1 files, 0 samples, 0 damaged, 0 repaired\n" },
	{ "answers of another build",
	  "folder samples;answers store/.build-id/01/02.inlines 3;answers store/.build-id/01/0204.inlines 3;check",
	  EXPECTED_ROW },
	{ "the longest build-id",
	  "folder samples;answers store/01/"
	  "02030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f20.inlines 32;text store/02/"
	  "02030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f2021.inlines x;check",
	  EXPECTED_ROW },
	{ "names that are not of answers",
	  "folder samples;answers store/01/02.inlines 2;answers store/01.inlines 1;answers store/01/02.inlines.x 2;answers store/01/2.inlines 2;answers store/01/22.inlines.inlines 2;answers store/01/0g.inlines 2;answers store/01/g2.inlines 2;answers store/01/02.inline 2;check",
	  EXPECTED_ROW },
	{ "nothing is there",
	  "check;repair", EXPECTED_ROW },
	{ "no folder of samples",
	  "text samples x;check", EXPECTED_ROW },
};
/* clang-format on */

static bool damage_file_of_session(const char *word, const char *path,
				   const char *how)
{
	if (!strcmp(word, "flip"))
		flip_byte(path, how);
	else if (!strcmp(word, "tear"))
		tear_table(path);
	else if (!strcmp(word, "age"))
		age_answers(path);
	else if (!strcmp(word, "cut"))
		cut_file(path, how);
	else if (!strcmp(word, "rename"))
		assert_int_equal(rename(path, how), 0);
	else
		return false;
	return true;
}

static bool make_file_of_session(const char *word, const char *path,
				 const char *how)
{
	assert_int_equal(op_make_parents(path, 0755), 0);
	if (!strcmp(word, "text"))
		write_text(path, how);
	else if (!strcmp(word, "link"))
		assert_int_equal(symlink(how, path), 0);
	else if (!strcmp(word, "folder"))
		assert_int_equal(mkdir(path, 0755), 0);
	else if (!strcmp(word, "ledger"))
		write_ledger_at(path, strtoull(how, NULL, 10), 0);
	else if (!strcmp(word, "answers"))
		write_inline_answer(path, strtoull(how, NULL, 10));
	else if (!strcmp(word, "elf"))
		make_elf(path, 1);
	else
		return false;
	return true;
}

static bool check_session_by_word(struct check_test *t, const char *word,
				  const char *rest)
{
	if (!strcmp(word, "daemon"))
		t->lock = must_lock_session(LOCK_EX);
	else if (!strcmp(word, "checker"))
		t->lock = must_lock_session(LOCK_SH);
	else if (!strcmp(word, "unlocked"))
		close(must_lock_session(LOCK_EX));
	else if (!strcmp(word, "check"))
		check_or_repair(t, false);
	else if (!strcmp(word, "repair"))
		check_or_repair(t, true);
	else if (!strcmp(word, "is"))
		fprintf(t->out, "%s is %sthere\n", rest,
			access(rest, F_OK) ? "not " : "");
	else
		return false;
	return true;
}

static void run_check_line(const char *line, void *ctx)
{
	struct check_test *t = ctx;
	const char *words[24] = { NULL };
	const char *blank = strchr(line, ' ');
	char copy[512];

	split_words(line, copy, words, NR(words));
	if (!check_session_by_word(t, words[0], blank ? blank + 1 : "") &&
	    !make_samples_by_word(words[0], blank ? blank + 1 : "") &&
	    !damage_file_of_session(words[0], words[1], words[2]) &&
	    !make_file_of_session(words[0], words[1], words[2]))
		fail_msg("%s: no such word", line);
}

TEST(sessions_are_checked_and_repaired)
{
	const struct op_sample_header usual = made_header;

	for (size_t i = 0; i < NR(check_rows); i++) {
		const struct check_row *row = &check_rows[i];
		struct check_test t = { .lock = -1 };
		struct text text;
		void *folder = NULL;

		assert_int_equal(enter_folder(&folder), 0);
		t.out = text_begin(&text);
		run_script(row->script, run_check_line, &t);
		text_must_be(&text, row->name, row->wanted);
		made_header = usual;
		if (t.lock >= 0)
			close(t.lock);
		assert_int_equal(leave_folder(&folder), 0);
	}
}
