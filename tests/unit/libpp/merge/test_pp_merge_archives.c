// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The sum of whole archives: where it has the binaries, debug files, modules
 * and other files of several machines, which of two files for one place stays,
 * what its sessions are called, and which archives are left out. A row is a
 * script that makes archives, and all that is in their sum.
 */

/* What a row of a table does not name is zero. */
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

#include "tests/unit/build_elf.h"
#include "tests/unit/libpp/pp_made_archive.h"
#include "tests/unit/libpp/pp_packed.h"

#include "libpp/merge/merge.h"

struct merged_row {
	const char *name, *script, *wanted;
	const char *keep, *drop; /* labels, with blanks between them */
	uint64_t memory; /* 0: as much as is needed */
	const char *stop; /* at the first step of these */
};

/* ---- making archives ----------------------------------------------------- */

static void touch_file(const char *path, time_t at)
{
	const struct timespec times[2] = { { .tv_sec = at }, { .tv_sec = at } };

	assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

static bool make_merged_file(const char *word, const char *path,
			     const char *how)
{
	assert_int_equal(op_make_parents(path, 0755), 0);
	if (!strcmp(word, "text"))
		write_text(path, how);
	else if (!strcmp(word, "elf"))
		make_elf(path, (uint8_t)atoi(how));
	else if (!strcmp(word, "labels"))
		write_labels(path, how);
	else if (!strcmp(word, "ledger"))
		write_ledger_at(path, strtoull(how, NULL, 10), 1000);
	else if (!strcmp(word, "flip"))
		flip_byte(path, how);
	else if (!strcmp(word, "cut"))
		cut_file(path, how);
	else if (!strcmp(word, "touch"))
		touch_file(path, atoi(how));
	else if (!strcmp(word, "chmod"))
		assert_int_equal(chmod(path, (mode_t)strtoul(how, NULL, 8)), 0);
	else if (!strcmp(word, "link"))
		assert_int_equal(symlink(how, path), 0);
	else if (!strcmp(word, "remove"))
		assert_int_equal(remove(path), 0);
	else if (!strcmp(word, "move"))
		assert_int_equal(
			op_make_parents(how, 0755) ?: rename(path, how), 0);
	else
		return false;
	return true;
}

static void make_merged_line(const char *line, void *ctx)
{
	const char *words[24] = { NULL }, *rest = strchr(line, ' ');
	char copy[512];

	(void)ctx;
	assert_non_null(rest);
	split_words(line, copy, words, NR(words));
	if (!strcmp(words[0], "samples"))
		write_samples(rest + 1);
	else if (!strcmp(words[0], "cpu"))
		strcpy(made_header.cpu_type, words[1]);
	else if (!strcmp(words[0], "headers") && !strcmp(words[1], "none"))
		made_header = (struct op_sample_header){ 0 };
	else if (!strcmp(words[0], "pack"))
		pack_folder(words[1]);
	else if (!strcmp(words[0], "archive"))
		make_archive(words[1], words[2]);
	else if (!make_merged_file(words[0], words[1], words[2]))
		fail_msg("%s: no such word", line);
}

/* ---- what is in the sum -------------------------------------------------- */

/* Totals of the sample files in the pack @path. */
static void write_merged_pack(FILE *out, const char *path)
{
	struct pack *pack;

	assert_int_equal(pack_open(&pack, path), 0);
	for (size_t i = 0; i < pack_nr(pack); i++)
		fprintf(out, "  %s: %llu\n", pack_entry(pack, i)->name,
			(unsigned long long)pack_entry(pack, i)->total);
	pack_close(pack);
}

/* The lines of @text as one. */
static void write_lines_as_one(FILE *out, const char *text)
{
	fputs(" = ", out);
	for (; *text; text++)
		if (*text != '\n')
			fputc(*text, out);
		else if (text[1])
			fputs("; ", out);
	fputc('\n', out);
}

/* The time and mode of the file @path where these are not those of any. */
static void write_merged_mode(FILE *out, const char *path)
{
	struct stat st;

	assert_int_equal(stat(path, &st), 0);
	if (st.st_mtime < 100000)
		fprintf(out, " of %d", (int)st.st_mtime);
	if ((st.st_mode & 07777) != 0644)
		fprintf(out, " mode %o", (unsigned int)st.st_mode & 07777);
}

/* @path, with what is in it, its text or the first byte of a build-id. */
static void write_merged_file(FILE *out, const char *path)
{
	static const char facts[] = "format = 1\nsession = /var/lib/oprofile\n";
	const char *base = strrchr(path, '/') + 1, *text = text_of(path);

	if (!strcmp(path, "sum/.oparchive/facts")) {
		assert_int_equal(strncmp(text, facts, strlen(facts)), 0);
		text += strlen(facts);
	}
	fprintf(out, "%s", path + strlen("sum/"));
	write_merged_mode(out, path);
	if (!strcmp(base, "packed")) {
		fputs(":\n", out);
		write_merged_pack(out, path);
	} else if (text[0] == 0x7f) {
		fprintf(out, " is build %d\n", (unsigned char)text[136]);
	} else {
		write_lines_as_one(out, text);
	}
}

/* All files but the hashes, with what is wrong with these. */
static void write_sum(FILE *out)
{
	static struct hashed_folder folder;
	struct op_diag diag = { "" };
	struct pp_sums told;
	struct op_arena arena;

	op_arena_init(&arena);
	assert_int_equal(
		pp_sums_read(&told, &arena, "sum/" SUMS_OF_ARCHIVE, &diag), 0);
	hash_folder(&folder, "sum");
	for (size_t i = 0; i < folder.sums.nr; i++) {
		const struct pp_sum *sum = &folder.files[i];
		const struct pp_sum *as_told = pp_sums_find(&told, sum->name);
		char path[4096];

		snprintf(path, sizeof(path), "sum/%s", sum->name);
		write_merged_file(out, path);
		if (!as_told ||
		    memcmp(as_told->hash, sum->hash, sizeof(sum->hash)) != 0)
			fprintf(out, "%s: wrong hash\n", sum->name);
	}
	assert_int_equal(told.nr, folder.sums.nr);
	assert_int_not_equal(access("sum/.scratch", F_OK), 0);
	forget_hashes(&folder);
	op_arena_release(&arena);
}

/* ---- merging ------------------------------------------------------------- */

static int stop_at(void *data, const char *what, size_t done, size_t nr)
{
	const struct merged_row *row = data;

	assert_in_range(done, 1, nr);
	return row->stop && !strcmp(row->stop, what);
}

static void merge_and_write(FILE *out, const struct merged_row *row)
{
	static const char *const archives[] = { "b", "a", "c" };
	const char *keep[8], *drop[8];
	char copies[2][128];
	struct pp_merge_request request = {
		.archives = archives,
		.folder = "sum",
		.threads = 1,
		.memory = row->memory ?: UINT32_MAX,
		.progress = stop_at,
		.data = (void *)row,
	};
	struct op_diag diag = { "" };
	struct pp_merge *merge;
	int err;

	if (row->keep)
		request.keep = split_words(row->keep, copies[0], keep, 8);
	if (row->drop)
		request.drop = split_words(row->drop, copies[1], drop, 8);
	request.nr = 1 + !access("a", F_OK) + !access("c", F_OK);
	err = pp_merge_new(&merge, &request, &diag);
	if (err)
		fprintf(out, "%s: %s\n", strerror(-err), diag.text);
	else
		write_sum(out);
	write_messages(out, &merge->messages);
	fprintf(out, "%zu merged, %zu left out, %zu lost, %zu sessions\n",
		merge->nr_merged, merge->nr_left_out, merge->nr_lost,
		merge->nr_sessions);
	assert_int_equal(access("sum", F_OK), err ? -1 : 0);
	pp_merge_free(merge);
}

/* ---- rows ---------------------------------------------------------------- */

#define OF_X "{root}/bin/x/{dep}/{root}/bin/x/"
#define FILE_OF_X OF_X "E.100.0.all.all.all"
#define SAMPLES "samples current x x E 1=5;"
/* Beside archive "a", which has nothing else. */
#define AND_A SAMPLES "archive a"

/* clang-format off */
static const struct merged_row merged_rows[] = {
	/* Places. */
	{ "a binary", SAMPLES "elf b/bin/x 1;archive b;" AND_A, EXPECTED_ROW },
	{ "two builds of a binary", SAMPLES "elf b/bin/x 1;archive b;" SAMPLES "elf a/bin/x 2;archive a",
		  EXPECTED_ROW },
	{ "one build at two places", SAMPLES "elf b/bin/x 1;elf b/lib/x 1;elf b/lib/y 1;archive b;" AND_A,
		  EXPECTED_ROW },
	{ "a source and a script", SAMPLES "text b/src/x.c code;text b/bin/script sh;archive b;" AND_A,
		  EXPECTED_ROW },
	{ "a binary without build-id", SAMPLES "elf b/bin/x 1;flip b/bin/x 128;touch b/bin/x 4660;archive b;" AND_A,
		  EXPECTED_ROW },
	{ "a debug file without build-id", SAMPLES "elf b/usr/lib/debug/x 1;flip b/usr/lib/debug/x 128;touch b/usr/lib/debug/x 1;archive b;" AND_A,
		  EXPECTED_ROW },
	{ "modes and times", SAMPLES "text b/src/x x;touch b/src/x 1000;chmod b/src/x 4511;archive b;" AND_A,
		  EXPECTED_ROW },
	{ "debug files", SAMPLES "elf b/usr/lib/debug/bin/x.debug 1;elf b/bin/.debug/y.debug 2;elf b/debug/z.debug 3;archive b;" AND_A,
		  EXPECTED_ROW },
	{ "debug files by build-id", SAMPLES "elf b/usr/lib/debug/.build-id/01/55.debug 1;text b/usr/lib/debug/.build-id/02/55.debug x;archive b;" AND_A,
		  EXPECTED_ROW },
	{ "kernels", SAMPLES "elf b/boot/vmlinux 1;elf b/boot/vmlinux-2 2;elf b/boot/vmlinuz 3;elf b/boot/xvmlinux-4 4;archive b;" AND_A,
		  EXPECTED_ROW },
	{ "modules", SAMPLES "elf b/lib/m.ko 1;text b/lib/n.ko.xz packed;text b/lib/o.ko.c code;text b/lib/.ko x;archive b;" AND_A,
		  EXPECTED_ROW },
	{ "modules of one name", SAMPLES "text b/lib/m.ko first;text b/more/m.ko second;archive b;" SAMPLES "text a/lib/m.ko first;archive a",
		  EXPECTED_ROW },
	{ "modules of a sum", SAMPLES "text b/.oparchive/modules/0123/m.ko first;archive b;" AND_A,
		  EXPECTED_ROW },
	{ "events", SAMPLES "text b/.oparchive/events/my/cpu/events E;text b/.oparchive/strange x;text b/.oparchived x;archive b;" AND_A,
		  EXPECTED_ROW },
	{ "files of the session", SAMPLES "text b/s/symbols/vmlinux-01 x;text b/s/store/.build-id/01/02 x;text b/s/images/x-01 x;text b/s/images/perf-7.map x;text b/s/images/perf-7.data x;text b/s/abi x;text samples/operf.log x;text b/s2/symbols/y z;archive b;" AND_A,
		  EXPECTED("files-of-the-session") },
	/* Which stays. */
	{ "the larger file, of the first archive", SAMPLES "text b/src/x.c short;archive b;" SAMPLES "text a/src/x.c longer;archive a",
		  EXPECTED_ROW },
	{ "the larger file, of the last archive", SAMPLES "text b/src/x.c longer;archive b;" SAMPLES "text a/src/x.c short;archive a",
		  EXPECTED_ROW },
	{ "of equal size that with the lesser hash", SAMPLES "text b/src/x.c one;text b/src/y.c two;archive b;" SAMPLES "text a/src/x.c two;text a/src/y.c one;archive a",
		  EXPECTED_ROW },
	{ "a folder where another one has a file", SAMPLES "text b/src/x.c two;archive b;" SAMPLES "text a/src text;archive a",
		  EXPECTED_ROW },
	{ "a file where another one has a folder", SAMPLES "text b/src text;archive b;" SAMPLES "text a/src/x.c one;archive a",
		  EXPECTED_ROW },
	{ "the same file", SAMPLES "text b/src/x.c one;archive b;" SAMPLES "text a/src/x.c one;archive a",
		  EXPECTED_ROW },
	{ "what one archive has lost and another had before", SAMPLES "text b/src/x.c one;archive b;remove b/src/x.c;" SAMPLES "text a/src/x.c one;archive a",
		  EXPECTED_ROW },
	{ "a file that one archive has lost", SAMPLES "text b/src/x.c one;archive b;" SAMPLES "text a/src/x.c one;archive a;remove a/src/x.c",
		  EXPECTED_ROW },
	{ "a file that is another in one archive", SAMPLES "text b/src/x.c one;archive b;" SAMPLES "text a/src/x.c one;archive a;text a/src/x.c two",
		  EXPECTED_ROW },
	{ "a file that is a link to one of another user", SAMPLES "text b/src/x.c one;archive b;move b/src/x.c ./v;link b/src/x.c ../../v;" SAMPLES "archive a",
		  EXPECTED_ROW },
	{ "a file that all have lost", SAMPLES "text b/src/x.c one;archive b;remove b/src/x.c;" SAMPLES "text a/src/x.c one;archive a;remove a/src/x.c",
		  EXPECTED_ROW },
	/* Sessions. */
	{ "labels of sessions", "samples one x x E 1=5;labels samples/one/labels host=h,team=t;samples two x x E 1=3;labels samples/two/labels team=t,host=h;archive b;samples one x x E 1=2;labels samples/one/labels host=g;archive a",
		  EXPECTED_ROW },
	{ "some labels are kept", "samples one x x E 1=5;labels samples/one/labels host=h,team=t,machine-id=m,rack=1;archive b;samples one x x E 1=2;labels samples/one/labels team=t;archive a",
		  EXPECTED_ROW, .keep = "team rack" },
	{ "machines are kept with hosts", "samples one x x E 1=5;labels samples/one/labels host=h,team=t,machine-id=m;archive b",
		  EXPECTED_ROW, .keep = "host" },
	{ "unless they are dropped", "samples one x x E 1=5;labels samples/one/labels host=h,team=t,machine-id=m;archive b",
		  EXPECTED_ROW, .keep = "host", .drop = "machine-id team" },
	{ "some labels are dropped", "samples one x x E 1=5;labels samples/one/labels host=h,team=t,machine-id=m,cpu-type=c;archive b",
		  EXPECTED_ROW, .drop = "host cpu-type" },
	{ "labels with strange letters", "samples one x x E 1=5;labels samples/one/labels host=a/b:c+d\\e,team=\xc3\xa4~;archive b",
		  EXPECTED_ROW },
	{ "long labels", "samples one x x E 1=5;labels samples/one/labels a=0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789,b=0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789,c=x;archive b",
		  EXPECTED_ROW },
	{ "cpu types", "cpu my/cpu;samples one x x E 1=5;cpu our/cpu;samples two x x E 1=3;archive b;samples one x x E 1=1;cpu my/cpu;samples one y y E 1=1;archive a",
		  EXPECTED("cpu-types") },
	{ "cpu types of packs", "cpu my/cpu;samples one x x E 1=5;pack samples/one;labels samples/one/labels cpu-type=wrong;archive b",
		  EXPECTED_ROW },
	{ "no sample tells the cpu type", "headers none;samples one x x E;labels samples/one/labels cpu-type=wrong;archive b",
		  EXPECTED_ROW },
	{ "spans are one session", "samples one x x E 1=5;labels samples/one/labels host=h;samples one/.span-100-200 x x E 1=3;ledger samples/one/ledger 5;ledger samples/one/.span-100-200/ledger 3;archive b",
		  EXPECTED_ROW },
	{ "spans that do not count", "samples one/.making-100-200 x x E 1=1;samples one/.span-200-300 x x E 1=2;samples one/.span-200-400 x x E 1=4;ledger samples/one/ledger 9;archive b",
		  EXPECTED_ROW },
	{ "a span without samples has an account", "samples one x x E 1=5;ledger samples/one/ledger 5;ledger samples/one/.span-100-200/ledger 3;archive b",
		  EXPECTED_ROW },
	{ "a session without samples has none", SAMPLES "ledger samples/current/ledger 5;ledger samples/two/ledger 3;archive b",
		  EXPECTED_ROW },
	{ "sums of sums", "samples one x x E 1=5;samples two x x E 1=6;samples three x x E 1=7;samples four x x E 1=8;samples five x x E 1=9;archive b",
		  EXPECTED_ROW, .memory = 1 },
	{ "sums of sums, one of them of nothing", "samples one x x E 1=5;samples two x x E 1=6;archive b;" SAMPLES "cut samples/current/" FILE_OF_X " -8;archive a;samples one x x E 1=7;archive c",
		  EXPECTED_ROW, .memory = 1 },
	{ "archives that are sums", SAMPLES "archive b 3;" SAMPLES "archive a 0", EXPECTED_ROW },
	{ "files that are told by the file system", "samples current x x E 1=5;move samples/current/" FILE_OF_X " samples/current/" OF_X "{build:file-1-2-7f}/E.100.0.all.all.all;text b/bin/x sh;archive b;samples current x x E 1=3;move samples/current/" FILE_OF_X " samples/current/" OF_X "{build:file-3-4-7f}/E.100.0.all.all.all;text a/bin/x sh;archive a",
		  EXPECTED_ROW },
	/* What is left out. */
	{ "an archive whose samples are changed", SAMPLES "archive b;text b/s/samples/current/" FILE_OF_X " x;" AND_A,
		  EXPECTED_ROW },
	{ "an archive whose samples are a link", SAMPLES "archive b;move b/s/samples/current/" FILE_OF_X " ./v;link b/s/samples/current/" FILE_OF_X " /dev/null;" AND_A,
		  EXPECTED_ROW },
	{ "an archive that had a link added", SAMPLES "archive b;link b/s/samples/current/ledger /dev/null;" AND_A,
		  EXPECTED_ROW },
	{ "an archive whose session is elsewhere", SAMPLES "archive b;move b/s/samples ./v;link b/s/samples ../../v;" AND_A,
		  EXPECTED_ROW },
	{ "an archive whose samples are missing", SAMPLES "archive b;remove b/s/samples/current/" FILE_OF_X ";" AND_A,
		  EXPECTED_ROW },
	{ "an archive with a damaged file", SAMPLES "flip samples/current/" FILE_OF_X " 2;archive b;" AND_A,
		  EXPECTED_ROW },
	{ "two archives with damaged files", SAMPLES "flip samples/current/" FILE_OF_X " 2;archive b;samples current y y E 1=5;flip samples/current/{root}/bin/y/{dep}/{root}/bin/y/E.100.0.all.all.all 2;archive a;" SAMPLES "archive c",
		  EXPECTED_ROW },
	{ "an archive with a pack that is damaged", SAMPLES "pack samples/current;flip samples/current/packed -3;archive b;" AND_A,
		  EXPECTED_ROW },
	{ "an archive with a pack that is none", SAMPLES "text samples/current/packed x;archive b;" AND_A,
		  EXPECTED_ROW },
	{ "an archive with damaged labels", SAMPLES "text samples/current/labels x;archive b;" AND_A,
		  EXPECTED_ROW },
	{ "an archive without samples", "ledger samples/current/ledger 5;archive b;" AND_A,
		  EXPECTED_ROW },
	{ "an archive without sessions", "archive b;" AND_A, EXPECTED_ROW },
	{ "one of two sessions is damaged", "samples one x x E 1=5;samples two x x E 1=3;archive b;remove b/s/samples/two/" FILE_OF_X ";" AND_A,
		  EXPECTED_ROW },
	{ "no archive is left", "archive b", EXPECTED_ROW },
	{ "no sound archive is left", SAMPLES "flip samples/current/" FILE_OF_X " 2;archive b",
		  EXPECTED_ROW },
	/* The end. */
	{ "ended while archives are looked at", SAMPLES "archive b;" AND_A,
		  EXPECTED_ROW, .stop = "archives" },
	{ "ended while sessions are added up", SAMPLES "archive b;" AND_A,
		  EXPECTED_ROW, .stop = "sessions" },
	{ "ended while sums are added up", "samples one x x E 1=5;samples two x x E 1=6;samples three x x E 1=7;archive b",
		  EXPECTED_ROW, .memory = 1, .stop = "sums" },
	{ "ended while binaries are copied", SAMPLES "archive b;" AND_A,
		  EXPECTED_ROW, .stop = "archives, for their binaries" },
};
/* clang-format on */

TEST(archives_are_merged)
{
	const struct op_sample_header usual = made_header;

	for (size_t i = 0; i < NR(merged_rows); i++) {
		const struct merged_row *row = &merged_rows[i];
		struct text all;
		void *folder = NULL;

		assert_int_equal(enter_folder(&folder), 0);
		run_script(row->script, make_merged_line, NULL);
		merge_and_write(text_begin(&all), row);
		text_below_must_be(&all, folder, row->name, row->wanted);
		made_header = usual;
		assert_int_equal(leave_folder(&folder), 0);
	}
}

BEFORE_TESTS()
{
	umask(022);
}
