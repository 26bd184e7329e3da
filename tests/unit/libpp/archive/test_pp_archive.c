// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Archives of small sessions: which files belong into one and what they are
 * called there, what is written and what is refused.
 */

/* Members that a row of a table does not name are zero. */
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

#include "tests/unit/libpp/pp_made_archive.h"
#include "tests/unit/libpp/pp_packed.h"

#include "libpp/archive/archive.h"
#include "libpp/archive/archive_samples.h"
#include "libpp/archive/archive_write.h"

#define MAX_FILES 6

/* ---- a machine ----------------------------------------------------------- */

/*
 * Below root/ the binaries x, y whose symbols are in a folder beside it, and w
 * whose symbols are found by the build-id; in path/ z and a kernel with a
 * module; events of the CPU "my/cpu".
 */
static void make_machine(void)
{
	static const char script[] =
		"set -e; mkdir -p root/bin/.debug root/usr/lib/debug/boot path "
		"root/usr/lib/debug/.build-id/ab events/my/cpu\n"
		"printf 'int f(int x)\\n{\\n\\treturn x * 3;\\n}\\n' >x.c\n"
		"build() { ${CC:-cc} -g -O1 -nostdlib -static -Wl,-e,f "
		"-Wl,--build-id=$2 -o $1 x.c; }\n"
		"build root/bin/x none; cp root/bin/x path/z\n"
		"cp root/bin/x path/vmlinux; cp root/bin/x path/mod.ko\n"
		"cp root/bin/x root/usr/lib/debug/boot/vmlinux-1\n"
		"objcopy --only-keep-debug root/bin/x root/bin/.debug/y.debug\n"
		"strip -o root/bin/y root/bin/x; cd root/bin\n"
		"objcopy --add-gnu-debuglink=.debug/y.debug y; cd ../..\n"
		"build root/bin/w 0xabcdef0123\n"
		"objcopy --only-keep-debug root/bin/w "
		"root/usr/lib/debug/.build-id/ab/cdef0123.debug\n"
		"strip root/bin/w\n"
		"cd events/my/cpu; printf 'name = My CPU\\ncounters = 1\\n"
		"encoding = raw\\ndefault = E:1\\nmanual = A book\\n' >cpu\n"
		"printf 'event:0x1 counters:all um:zero minimum:1 "
		"name:E : E\\n' >events\n"
		"printf 'name:zero type:mandatory default:0x0\\n\\t0x00 None\\n' "
		">unit_masks\n";

	assert_int_equal(system(script), 0);
}

/* Move the sample file @name of the running session into its pack. */
static void pack_samples(const char *name)
{
	char path[512];
	struct pack_writer *writer;
	const struct odb *tables[1];
	struct odb *odb;

	snprintf(path, sizeof(path), "samples/current/%s", name);
	assert_int_equal(odb_open(&odb, path, ODB_RDONLY), 0);
	tables[0] = odb;
	assert_int_equal(pack_writer_new(&writer, "samples/current/packed", 5),
			 0);
	assert_int_equal(pack_writer_table(writer, name, tables, 1), 0);
	assert_int_equal(pack_writer_finish(writer), 0);
	odb_close(odb);
	assert_int_equal(unlink(path), 0);
}

/* ---- lists --------------------------------------------------------------- */

struct wanted {
	const char *words;
	const char *root; /* '$' is the working folder */
	const char *path[3]; /* likewise */
	bool exclude_dependent, sources;
};

struct made_list {
	struct pp_archive_list *list;
	struct pp_spec spec;
	struct op_session session;
	struct op_diag diag;
	int err;
};

/* @text with the working folder for '$'. */
static const char *expand(const char *text, const char *folder)
{
	static char texts[4][4200];
	static unsigned int next;
	char *to = texts[next++ % 4];

	if (!text)
		return NULL;
	snprintf(to, sizeof(texts[0]), "%s%s", *text == '$' ? folder : "",
		 text + (*text == '$'));
	return to;
}

static void make_list(struct made_list *m, const struct wanted *wanted,
		      const char *folder)
{
	const char *words[8] = { NULL }, *path[3] = { NULL };
	struct pp_archive_request request = {
		.exclude_dependent = wanted->exclude_dependent,
		.sources = wanted->sources,
		.root = expand(wanted->root, folder),
		.image_path = wanted->path[0] ? path : NULL,
	};
	char copy[128];

	*m = (struct made_list){ 0 };
	for (size_t i = 0; i < 2; i++)
		path[i] = expand(wanted->path[i], folder);
	split_words(wanted->words, copy, words, NR(words));
	assert_int_equal(pp_spec_init(&m->spec, words, NULL), 0);
	assert_int_equal(op_session_init(&m->session, ".", NULL), 0);
	request.session = &m->session;
	request.spec = &m->spec;
	m->err = pp_archive_list_new(&m->list, &request, &m->diag);
}

static void release_list(struct made_list *m)
{
	pp_archive_list_free(m->list);
	pp_spec_release(&m->spec);
}

/* "KIND FROM" and what it is called where that is another name. */
static void write_list(FILE *out, const struct made_list *m)
{
	static const char *const parts[] = {
		[PP_ARCHIVE_IMAGE] = "image",
		[PP_ARCHIVE_DEBUG] = "debug",
		[PP_ARCHIVE_SAMPLES] = "samples",
		[PP_ARCHIVE_TREES] = "trees",
		[PP_ARCHIVE_SESSION] = "session",
		[PP_ARCHIVE_SOURCE] = "source",
		[PP_ARCHIVE_OWN] = "own",
	};
	const struct pp_archive_list *list = m->list;
	uint64_t size = 0;
	struct stat st;

	assert_true(m->err <= 0);
	if (m->err)
		fprintf(out, "%s\n", m->diag.text);
	for (size_t i = 0; i < list->nr && !m->err; i++) {
		const struct pp_archive_file *file = &list->files[i];

		fprintf(out, "%s %s", parts[file->part], file->from);
		if (strcmp(file->from + 1, file->to))
			fprintf(out, " -> /%s", file->to);
		if (file->pack)
			fprintf(out, " (%zu)", file->pack->nr);
		fputc('\n', out);
		assert_int_equal(stat(file->from, &st), 0);
		assert_int_equal(file->size, st.st_size);
		size += file->size;
	}
	if (!m->err) {
		assert_int_equal(list->size, size);
		fprintf(out, "of %s", list->session);
		for (size_t i = 0; list->image_path && list->image_path[i]; i++)
			fprintf(out, " %s", list->image_path[i]);
		fputc('\n', out);
	}
	for (size_t i = 0; i < list->report.messages.nr; i++)
		if (list->report.messages.list[i].kind == PP_WARNING)
			fprintf(out, "%s\n",
				list->report.messages.list[i].text);
}

#define X "current x x E 1=1"

/* The binary u, whose debug file names the file ".dwz/s", which is made as
 * "s". */
#define MAKE_SHARED                                                            \
	"set -e; mkdir -p root/usr/lib/debug/.dwz; build() { ${CC:-cc} -g "    \
	"-O1 -nostdlib -static -Wl,-e,f -Wl,--build-id=$2 -o $1 x.c; }\n"      \
	"build root/bin/u 0xabcdef0124; build s 0x77010203\n"                  \
	"printf '../../.dwz/s\\0\\167\\001\\002\\003' >alt\n"                  \
	"objcopy --only-keep-debug root/bin/u d; strip root/bin/u\n"           \
	"objcopy --add-section .gnu_debugaltlink=alt d "                       \
	"root/usr/lib/debug/.build-id/ab/cdef0124.debug\n"

FOLDER_TEST(files_are_listed)
{
	/* clang-format off */
	static const struct {
		const char *name;
		const char *files[MAX_FILES];
		const char *command; /* on the session; NULL for none */
		struct wanted wanted;
		const char *text;
	} rows[] = {
		{ "a program", { X }, NULL, { "", "$/root" }, EXPECTED_ROW },
		{ "a relative root", { X }, NULL, { "", "root" }, EXPECTED_ROW },
		{ "a root with dots", { X }, NULL, { "", "$/./root//." }, EXPECTED_ROW },
		{ "a root with two dots", { X }, NULL, { "", "$/path/../root" }, EXPECTED_ROW },
		{ "a root that ends in two dots", { X }, NULL, { "", "$/root/bin/.." },
		  EXPECTED_ROW },
		{ "a root with names like dots", { X }, "mkdir -p '..r'; ln -sfn ../root ..r/.b", { "", "$/..r/.b" },
		  EXPECTED_ROW },
		{ "no such program", { "current v v E 1=1" }, NULL, { "", "$/root" },
		  EXPECTED_ROW },
		{ "debug file beside it", { "current y y E 1=1" }, NULL, { "", "$/root" },
		  EXPECTED_ROW },
		{ "debug file by build-id", { "current w w E 1=1" }, NULL, { "", "$/root" },
		  EXPECTED_ROW },
		{ "what debug files share", { "current u u E 1=1" }, MAKE_SHARED "mv s root/usr/lib/debug/.dwz/s", { "", "$/root" },
		  EXPECTED_ROW },
		{ "that by its build-id", { "current u u E 1=1" }, MAKE_SHARED "rm root/usr/lib/debug/.dwz/s; mkdir root/usr/lib/debug/.build-id/77; mv s root/usr/lib/debug/.build-id/77/010203.debug", { "", "$/root" },
		  EXPECTED_ROW },
		{ "another build of that", { "current u u E 1=1" }, MAKE_SHARED "cp root/bin/x root/usr/lib/debug/.dwz/s; rm root/usr/lib/debug/.build-id/77/010203.debug", { "", "$/root" },
		  EXPECTED_ROW },
		{ "image path", { "current z z E 1=1" }, NULL, { "", "$/root", { "path" } },
		  EXPECTED_ROW },
		{ "two image paths", { X }, NULL, { "", "$/root", { "$/path/", "root/bin" } },
		  EXPECTED_ROW },
		{ "a kernel", { "current k k E 1=1" }, NULL, { "" , NULL }, EXPECTED_ROW },
		{ "a kernel with lines", { "current k k E 1=1" }, NULL, { "" , "$/root" },
		  EXPECTED_ROW },
		{ "a kernel in the image path", { "current k k E 1=1" }, NULL, { "" , NULL, { "path" } },
		  EXPECTED_ROW },
		{ "a module", { "current m m E 1=1" }, "touch symbols/mod-01", { "" , NULL, { "path" } },
		  EXPECTED_ROW },
		{ "anonymous memory", { "current x a E 1=1" }, NULL, { "" , "$/root" },
		  EXPECTED_ROW },
		{ "two programs", { "current y y E 1=1", "current x x E 1=1", "current y x E 1=1" }, NULL, { "" , "$/root" },
		  EXPECTED_ROW },
		{ "calls", { X, "current x x>y E 1>2=1" }, NULL, { "" , "$/root" }, EXPECTED_ROW },
		{ "trees", { X, "tree current x E 1:x+1>y+1>a+1" }, NULL, { "" , "$/root" },
		  EXPECTED_ROW },
		{ "trees of others", { X, "current y y E 1=1", "tree current x E 1:x+1", "tree current y E 1:y+1" }, NULL, { "lib-image:/bin/y" , "$/root" },
		  EXPECTED_ROW },
		{ "no dependent images", { X, "current x k E 1=1" }, NULL, { "" , "$/root", { NULL }, true },
		  EXPECTED_ROW },
		{ "an event", { X, "current x x F 1=1" }, NULL, { "event:F" , "$/root" },
		  EXPECTED_ROW },
		{ "a session", { X, "old y y F 1=1" }, "touch samples/old/ledger samples/current/ledger", { "session:old" , "$/root" },
		  EXPECTED_ROW },
		{ "two sessions", { X, "old x x F 1=1" }, "touch samples/old/ledger samples/current/ledger", { "session:old,current" , "$/root" },
		  EXPECTED_ROW },
		{ "accounts and logs", { X }, "mkdir -p samples/current; touch abi samples/oprofiled.log samples/operf.log samples/current/ledger", { "" , "$/root" },
		  EXPECTED_ROW },
		{ "a log that is no file", { X }, "rm abi; mkdir samples/operf.log", { "" , "$/root" },
		  EXPECTED_ROW },
		{ "sources", { "current x x E 1000=1", "current y y E 1001=1" }, NULL, { "" , "$/root", { NULL }, false, true },
		  EXPECTED_ROW },
		{ "sources of no program", { "current v v E 1=1" }, NULL, { "" , "$/root", { NULL }, false, true },
		  EXPECTED_ROW },
		{ "none", { X }, NULL, { "event:G" , "$/root" }, "event:G: no sample files match; events here: E\n" },
		{ "no folder", { X }, NULL, { "" , "none" }, "none: No such file or directory; give --root a folder that exists\n" },
		{ "no folder in the path", { X }, NULL, { "" , NULL, { "path", "none" } }, "none: No such file or directory; give --image-path a folder that exists\n" },
		{ "sources that are missing", { "current x x E 1000=1" }, "mv x.c x2.c", { "" , "$/root", { NULL }, false, true },
		  EXPECTED_ROW },
	};
	/* clang-format on */

	make_machine();
	setenv("OPROFILE_EVENTS_DIR", "/", 1);
	for (size_t i = 0; i < NR(rows); i++) {
		struct made_list m;
		struct text whole;

		/* The build of binaries that have none is that of any. */
		made_header.build_id_len = strstr(rows[i].files[0], " k ") ||
					   strstr(rows[i].files[0], " m ");
		write_session(rows[i].files, MAX_FILES);
		if (rows[i].command)
			assert_int_equal(system(rows[i].command), 0);
		make_list(&m, &rows[i].wanted, *state);
		write_list(text_begin(&whole), &m);
		release_list(&m);
		text_below_must_be(&whole, *state, rows[i].name, rows[i].text);
	}
	made_header.build_id_len = 1;
	unsetenv("OPROFILE_EVENTS_DIR");
}

/* ---- archives ------------------------------------------------------------ */

struct stop {
	uint64_t at; /* bytes; 0: never */
	uint64_t done;
	const char *command; /* to run meanwhile */
};

static int note_progress(void *data, uint64_t done)
{
	struct stop *stop = data;

	assert_true(done >= stop->done);
	stop->done = done;
	if (stop->command)
		assert_int_equal(system(stop->command), 0);
	stop->command = NULL;
	return stop->at && done >= stop->at;
}

/* What @command prints. */
static void write_output(FILE *out, const char *command)
{
	FILE *pipe = popen(command, "r");
	int c;

	assert_non_null(pipe);
	while ((c = fgetc(pipe)) != EOF)
		fputc(c, out);
	pclose(pipe);
}

/* The files of an archive, those not as SHA256SUMS has them, and the facts. */
#define SHOW                                                                   \
	"cd to/a && find . -type f ! -name labels | LC_ALL=C sort && "         \
	"sha256sum --quiet --strict -c .oparchive/SHA256SUMS && "              \
	"cat .oparchive/facts"
#define SAMPLES                                                                \
	"samples/current/{root}/bin/x/{dep}/{root}/bin/x/E.100.0.all.all.all"
#define TREE "samples/current/{root}/bin/x/{tree}/E.100.0.all.all.all"
#define ALL                                                                    \
	{                                                                      \
		X, "current x y E 1=1", "tree current x E 1:x+1",              \
			"old x x F 1=1"                                        \
	}

FOLDER_TEST(archives_are_written)
{
	/* clang-format off */
	static const struct {
		const char *name;
		const char *files[MAX_FILES];
		const char *before, *between; /* commands around the listing */
		struct wanted wanted;
		struct pp_archive_writing how;
		uint64_t stop;
		const char *show; /* a command */
		const char *text;
		const char *meanwhile; /* likewise */
	} rows[] = {
		{ "all", ALL, "touch samples/current/ledger", NULL, { "", "$/root", { "path" } }, { .folder = "to/a" }, 0, "ls -A to; " SHOW,
		  EXPECTED("all") },
		{ "slashes", { X }, NULL, NULL, { "", "$/root" }, { .folder = "to/a///" }, 0, "ls -A to; " SHOW,
		  EXPECTED("slashes") },
		{ "new folders", { X }, NULL, NULL, { "", "$/root" }, { .folder = "to/b/c" }, 0, "ls -A to to/b to/b/c",
		  EXPECTED("new-folders") },
		{ "here", { X }, NULL, NULL, { "", "$/root" }, { .folder = "here" }, 0, "ls -A | grep here; ls -A here; rm -r here",
		  EXPECTED_ROW },
		{ "modes and times", { X }, "chmod 500 root/bin/x; touch -d @1000000000.5 root/bin/x", NULL, { "", "$/root" }, { .folder = "to/a" }, 0, "stat -c '%a %.1Y' to/a/bin/x; stat -c %a to/a to/a/bin to/a/.oparchive/facts",
		  EXPECTED_ROW },
		{ "copies", { X }, NULL, NULL, { "", "$/root" }, { .folder = "to/a" }, 0, "cmp root/bin/x to/a/bin/x && echo same", "same\n" },
		{ "digests", { X }, NULL, NULL, { "", "$/root" }, { .folder = "to/a", .symbols_only = true }, 0, "cmp -s root/bin/x to/a/bin/x || echo differs; readelf -SW to/a/bin/x | grep -c oprofile; cd to/a && sha256sum --quiet -c .oparchive/SHA256SUMS",
		  EXPECTED_ROW },
		{ "digests leave debug files", { "current y y E 1=1" }, NULL, NULL, { "", "$/root" }, { .folder = "to/a", .symbols_only = true }, 0, "cmp root/bin/.debug/y.debug to/a/bin/.debug/y.debug && echo same; cmp -s root/bin/y to/a/bin/y || echo differs",
		  EXPECTED_ROW },
		{ "digests of what is no binary", { X }, "cp root/bin/x x2", "echo text >root/bin/x", { "", "$/root" }, { .folder = "to/a", .symbols_only = true }, 0, "cat to/a/bin/x; cd to/a && sha256sum --quiet -c .oparchive/SHA256SUMS; cd ../..; mv x2 root/bin/x", "text\n" },
		{ "an empty folder", { X }, "mkdir -p to/a", NULL, { "", "$/root" }, { .folder = "to/a" }, 0, "ls -A to to/a",
		  EXPECTED_ROW },
		{ "a folder", { X }, "mkdir -p to/a; touch to/a/f", NULL, { "", "$/root" }, { .folder = "to/a" }, 0, "ls -A to to/a",
		  EXPECTED_ROW },
		{ "no archive", { X }, "mkdir -p to/a; touch to/a/f", NULL, { "", "$/root" }, { .folder = "to/a", .replace = true }, 0, "ls -A to to/a",
		  EXPECTED_ROW },
		{ "an archive", { X }, "mkdir -p to/a/.oparchive to/a/d; touch to/a/.oparchive/facts to/a/d/f", NULL, { "", "$/root" }, { .folder = "to/a" }, 0, "ls -A to to/a",
		  EXPECTED_ROW },
		{ "replaced", { X }, "mkdir -p to/a/.oparchive to/a/d; touch to/a/.oparchive/facts to/a/d/f; ln -s f to/a/d/l", NULL, { "", "$/root" }, { .folder = "to/a", .replace = true }, 0, "ls -A to to/a",
		  EXPECTED_ROW },
		{ "a file", { X }, "mkdir -p to; touch to/a", NULL, { "", "$/root" }, { .folder = "to/a" }, 0, "ls -A to",
		  EXPECTED_ROW },
		{ "below a file", { X }, "touch to", NULL, { "", "$/root" }, { .folder = "to/a" }, 0, "ls -A to",
		  EXPECTED_ROW },
		{ "ended at once", { X }, NULL, NULL, { "", "$/root" }, { .folder = "to/a" }, 1, "ls -A to", "to/a: ended early; nothing is kept\n" },
		{ "ended later", { X }, NULL, NULL, { "", "$/root" }, { .folder = "to/a" }, 5000, "ls -A to", "to/a: ended early; nothing is kept\n" },
		{ .name = "made meanwhile", .files = { X }, .meanwhile = "mkdir -p to/a; touch to/a/f", .wanted = { "", "$/root" }, .how = { .folder = "to/a" }, .show = "ls -A to to/a", .text = EXPECTED_ROW },
		{ .name = "a file made meanwhile", .files = { X }, .meanwhile = "touch to/a", .wanted = { "", "$/root" }, .how = { .folder = "to/a", .replace = true }, .show = "ls -A to", .text = EXPECTED_ROW },
		{ .name = "an empty folder made meanwhile", .files = { X }, .meanwhile = "mkdir to/a", .wanted = { "", "$/root" }, .how = { .folder = "to/a" }, .show = "ls -A to to/a", .text = EXPECTED_ROW },
		{ .name = "an archive made meanwhile", .files = { X }, .meanwhile = "mkdir -p to/a/.oparchive; touch to/a/.oparchive/facts", .wanted = { "", "$/root" }, .how = { .folder = "to/a", .replace = true }, .show = "ls -A to to/a", .text = EXPECTED_ROW },
		{ "no binary any more", { X }, "cp root/bin/x x2", "rm root/bin/x", { "", "$/root" }, { .folder = "to/a" }, 0, "mv x2 root/bin/x; " SHOW,
		  EXPECTED_ROW },
		{ "no samples any more", { X }, NULL, "rm '" SAMPLES "'", { "", "$/root" }, { .folder = "to/a" }, 0, "ls -A to", "$/samples/current/{root}/bin/x/{dep}/{root}/bin/x/E.100.0.all.all.all: cannot be read: No such file or directory; nothing is kept\n" },
		{ "no tree any more", ALL, NULL, "rm '" TREE "'", { "", "$/root" }, { .folder = "to/a" }, 0, "ls -A to", "$/samples/current/{root}/bin/x/{tree}/E.100.0.all.all.all: cannot be read: No such file or directory; nothing is kept\n" },
		{ "no events any more", { X }, NULL, "mv events/my events/your", { "", "$/root" }, { .folder = "to/a" }, 0, "ls -A to; mv events/your events/my", "events/my/cpu/cpu: cannot be read: No such file or directory; nothing is kept\n" },
		{ "no ledger any more", { X }, "touch samples/current/ledger", "rm samples/current/ledger", { "", "$/root" }, { .folder = "to/a" }, 0, "ls -A to",
		  EXPECTED_ROW },
		{ "damaged samples", { X }, NULL, "echo damage >'" SAMPLES "'", { "", "$/root" }, { .folder = "to/a" }, 0, "ls -A to", "$/samples/current/{root}/bin/x/{dep}/{root}/bin/x/E.100.0.all.all.all: cannot be read: Device or resource busy; nothing is kept\n" },
		{ "a damaged tree", ALL, NULL, "echo damage >'" TREE "'", { "", "$/root" }, { .folder = "to/a" }, 0, "ls -A to", "$/samples/current/{root}/bin/x/{tree}/E.100.0.all.all.all: cannot be read: Device or resource busy; nothing is kept\n" },
		{ "a folder for samples", { X }, NULL, "rm '" SAMPLES "'; mkdir '" SAMPLES "'", { "", "$/root" }, { .folder = "to/a" }, 0, "ls -A to", "$/samples/current/{root}/bin/x/{dep}/{root}/bin/x/E.100.0.all.all.all: cannot be read: Is a directory; nothing is kept\n" },
		{ "a blank at the end", { X }, "mkdir -p 'path '", NULL, { "", "$/root", { "path " } }, { .folder = "to/a" }, 0, "ls -A to", "a path with a newline, or with a blank at an end, cannot be archived: the session folder or --image-path\n" },
	};
	/* clang-format on */

	make_machine();
	setenv("OPROFILE_EVENTS_DIR", "events", 1);
	strcpy(made_header.cpu_type, "my/cpu");
	made_header.build_id_len = 0;
	umask(022);
	for (size_t i = 0; i < NR(rows); i++) {
		struct pp_archive_writing how = rows[i].how;
		struct stop stop = { .at = rows[i].stop,
				     .command = rows[i].meanwhile };
		struct made_list m;
		struct text whole;

		assert_int_equal(system("rm -rf to"), 0);
		write_session(rows[i].files, MAX_FILES);
		if (rows[i].before)
			assert_int_equal(system(rows[i].before), 0);
		make_list(&m, &rows[i].wanted, *state);
		assert_int_equal(m.err, 0);
		if (rows[i].between)
			assert_int_equal(system(rows[i].between), 0);
		how.progress = note_progress;
		how.data = &stop;
		text_begin(&whole);
		if (pp_archive_write(m.list, &how, &m.diag))
			fprintf(whole.out, "%s\n", m.diag.text);
		else if (!how.symbols_only && !rows[i].between)
			assert_int_equal(stop.done, m.list->size);
		for (size_t k = 0; k < m.list->report.messages.nr; k++)
			if (m.list->report.messages.list[k].kind == PP_WARNING)
				fprintf(whole.out, "%s\n",
					m.list->report.messages.list[k].text);
		write_output(whole.out, rows[i].show);
		release_list(&m);
		text_below_must_be(&whole, *state, rows[i].name, rows[i].text);
	}
	strcpy(made_header.cpu_type, "none/such");
	made_header.build_id_len = 1;
	unsetenv("OPROFILE_EVENTS_DIR");
}

/* Of a pack the archive has what is asked for; an archive can be archived, and
 * is called what it was. */
FOLDER_TEST(archives_are_archived)
{
	/* clang-format off */
	static const struct {
		const char *name;
		struct wanted wanted, again;
		const char *text;
	} rows[] = {
		{ "all of a pack", { "", "$/root" }, { "archive:to/a", NULL },
		  EXPECTED("all-of-a-pack") },
		{ "one of a pack", { "event:E", "$/root" }, { "archive:to/a event:E", NULL },
		  EXPECTED("one-of-a-pack") },
		{ "nothing of a pack", { "event:F", "$/root", { "path" } }, { "archive:to/a", NULL, { "root/bin" } },
		  EXPECTED("nothing-of-a-pack") },
		{ "from another root", { "", NULL, { "root/bin" } }, { "archive:to/a", NULL },
		  EXPECTED("from-another-root") },
	};
	/* clang-format on */

	make_machine();
	setenv("OPROFILE_EVENTS_DIR", "events", 1);
	strcpy(made_header.cpu_type, "my/cpu");
	made_header.build_id_len = 0;
	for (size_t i = 0; i < NR(rows); i++) {
		static const char *const files[MAX_FILES] = {
			X, "current y y F 1=1", "tree current x E 1:x+1"
		};
		const struct pp_archive_writing how = { .folder = "to/a" };
		struct made_list m;
		struct text whole;

		assert_int_equal(system("rm -rf to"), 0);
		write_session(files, MAX_FILES);
		pack_samples(
			"{root}/bin/x/{dep}/{root}/bin/x/E.100.0.all.all.all");
		make_list(&m, &rows[i].wanted, *state);
		write_list(text_begin(&whole), &m);
		assert_int_equal(pp_archive_write(m.list, &how, &m.diag), 0);
		release_list(&m);
		make_list(&m, &rows[i].again, *state);
		write_list(whole.out, &m);
		release_list(&m);
		text_below_must_be(&whole, *state, rows[i].name, rows[i].text);
	}
	strcpy(made_header.cpu_type, "none/such");
	made_header.build_id_len = 1;
	unsetenv("OPROFILE_EVENTS_DIR");
}

/* The labels of each session, and what of each pack was archived at "to/a". */
static void write_labels_and_packs(FILE *out, const struct made_list *m)
{
	const struct pp_archive_list *list = m->list;
	char path[8192];

	for (size_t i = 0; i < list->nr_labels; i++) {
		const struct op_labels *labels = &list->labels[i].labels;

		fprintf(out, "/%s:", list->labels[i].to);
		for (size_t k = 0; k < labels->nr; k++)
			fprintf(out, " %s=%s", labels->list[k].key,
				labels->list[k].value);
		fputc('\n', out);
	}
	for (size_t i = 0; i < list->nr; i++) {
		struct pack *pack;

		if (!list->files[i].pack)
			continue;
		snprintf(path, sizeof(path), "to/a/%s", list->files[i].to);
		assert_int_equal(pack_open(&pack, path), 0);
		fprintf(out, "/%s, %d:\n", list->files[i].to,
			(int)pack_generation(pack));
		for (size_t k = 0; k < pack_nr(pack); k++)
			fprintf(out, "  %s: %d\n", pack_entry(pack, k)->name,
				(int)pack_entry(pack, k)->total);
		pack_close(pack);
	}
}

/* Sessions a and b, of whose files all are packed, with an account each; a has
 * a span and has dropped others. */
static void make_packed_sessions(void)
{
	static const char *const files[] = {
		"a x x E 1=1",	 "a x-1 x E 1=2",
		"a x-1 x F 1=3", "tree a x E 1:x+1",
		"b x x E 1=4",	 "b y x E 1=5",
		"b y x F 1=6",	 "a/.span-100-200 x x E 1=7",
	};
	static const char *const folders[] = { "samples/a", "samples/b",
					       "samples/a/.span-100-200" };

	write_session(files, NR(files));
	for (size_t i = 0; i < NR(folders); i++) {
		char path[256];

		pack_folder(folders[i]);
		snprintf(path, sizeof(path), "%s/ledger", folders[i]);
		write_ledger_at(path, 1, 250);
	}
	write_ledger_at("samples/a/.dropped-1-100/ledger", 1, 0);
	write_text("samples/b/tasks", "");
	write_labels("samples/a/labels", "host=h,team=t");
	write_labels("samples/b/labels", "host=g");
}

/* Of several packs each is archived in its session, with what is asked for. */
FOLDER_TEST(packs_are_archived)
{
	/* clang-format off */
	static const struct {
		const char *name;
		struct wanted wanted;
		const char *text;
	} rows[] = {
		{ "all", { "session:a,b", "$/none" },
		  EXPECTED("all-2") },
		{ "the other order", { "session:./samples/b,./samples/a", "$/none" },
		  EXPECTED("the-other-order") },
		{ "one event", { "session:a,b event:F", "$/none" },
		  EXPECTED("one-event") },
		{ "one program", { "session:a,b image:/bin/x-1", "$/none" },
		  EXPECTED("one-program") },
		{ "one session", { "session:b", "$/none" },
		  EXPECTED("one-session") },
		{ "a time", { "session:a time:@100-@200", "$/none" }, EXPECTED_ROW },
	};
	/* clang-format on */

	mkdir("none", 0755);
	setenv("OPROFILE_EVENTS_DIR", "none", 1);
	make_packed_sessions();
	for (size_t i = 0; i < NR(rows); i++) {
		const struct pp_archive_writing how = { .folder = "to/a" };
		struct made_list m;
		struct text whole;

		assert_int_equal(system("rm -rf to"), 0);
		make_list(&m, &rows[i].wanted, *state);
		write_list(text_begin(&whole), &m);
		assert_int_equal(pp_archive_write(m.list, &how, &m.diag), 0);
		write_labels_and_packs(whole.out, &m);
		release_list(&m);
		text_below_must_be(&whole, *state, rows[i].name, rows[i].text);
	}
	unsetenv("OPROFILE_EVENTS_DIR");
}

/* ---- opening ------------------------------------------------------------- */

/* Where the session of the archive "a" is, which folders belong to its image
 * path, and what is missing or changed in it. */
static void write_opened(FILE *out, const char *folder)
{
	char root[4096], path[8192];
	struct pp_messages messages = { 0 };
	struct op_diag diag = { "" };
	struct pp_archive *archive;
	struct op_session asked;
	struct op_arena arena;
	struct text t;
	int err;

	op_arena_init(&arena);
	messages.arena = &arena;
	text_begin(&t);
	assert_int_equal(op_session_init(&asked, "/home/s", NULL), 0);
	snprintf(root, sizeof(root), "%s/a", folder);
	err = pp_archive_open(&archive, &arena, root, &asked, &diag);
	if (err) {
		fprintf(t.out, "%d: %s\n", -err, diag.text);
	} else {
		fprintf(t.out, "session %s\n", archive->session.dir);
		for (size_t i = 0;
		     archive->image_path && archive->image_path[i]; i++)
			fprintf(t.out, "path %s\n", archive->image_path[i]);
		if (archive->events)
			fprintf(t.out, "events %s\n", archive->events);
		if (!pp_archive_check_events(archive, &messages))
			fputs("events are changed\n", t.out);
		snprintf(path, sizeof(path), "%s/home", root);
		pp_archive_check_folder(archive, path, &messages);
		pp_archive_check_folder(archive, "/elsewhere", &messages);
		write_messages(t.out, &messages);
	}
	fclose(t.out);
	write_without(out, t.all, folder);
	op_arena_release(&arena);
}

FOLDER_TEST(archives_are_opened)
{
#define FACTS(facts) "printf '" facts "' >a/.oparchive/facts; "
#define SUMS                                                                   \
	"cd a; find . -type f ! -name SHA256SUMS -printf '%P\\n' | "           \
	"LC_ALL=C sort | xargs sha256sum >.oparchive/SHA256SUMS"
#define SOUND "format = 1\\nsession = /home/s\\n"
#define AGAIN "; archive the session again\n"
	/* clang-format off */
	static const struct {
		const char *name, *command, *text;
	} rows[] = {
		{ "nothing", ":", "2: archive:$/a: it holds no session; give the folder that the archive was written to; of an archive of OProfile 1.4 or older import the session with opimport --session\n" },
		{ "no facts, the session where it was", "mkdir -p a/home/s/samples a/samples", "session $/a/home/s\n" },
		{ "no facts, the usual session", "mkdir -p a/var/lib/oprofile/samples a/samples", "session $/a/var/lib/oprofile\n" },
		{ "no facts, the session itself", "mkdir -p a/samples", "session $/a\n" },
		{ "facts", FACTS(SOUND) SUMS, EXPECTED_ROW },
		{ "an image path", FACTS(SOUND "image-path = /x\\nimage-path = /none\\nimage-path = /y/z\\nother = /x\\n") "mkdir -p a/x a/y/z; " SUMS,
		  EXPECTED_ROW },
		{ "an image path that leads out", FACTS(SOUND "image-path = /../x\\nimage-path = x\\nimage-path = /x/..\\nimage-path = /..\\n") "mkdir -p x a/x; " SUMS,
		  EXPECTED_ROW },
		{ "no sums", FACTS(SOUND), "2: $/a/.oparchive/SHA256SUMS: it is missing" AGAIN },
		{ "sums of other facts", FACTS(SOUND) SUMS "; echo >>.oparchive/facts", "84: $/a/.oparchive/facts: it is not the archived file" AGAIN },
		{ "facts elsewhere", FACTS(SOUND) SUMS "; mv .oparchive/facts ..; ln -s ../../facts .oparchive/facts", "18: $/a/.oparchive: a symbolic link leads out of the archive\n" },
		{ "sums elsewhere", FACTS(SOUND) SUMS "; mv .oparchive/SHA256SUMS ..; ln -s ../../SHA256SUMS .oparchive", "18: $/a/.oparchive: a symbolic link leads out of the archive\n" },
		{ "events elsewhere", FACTS(SOUND) "mkdir -p a/.oparchive/events; echo >a/.oparchive/events/x; " SUMS "; mv .oparchive/events ..; ln -s ../../events .oparchive",
		  EXPECTED_ROW },
		{ "facts that are none", FACTS("x\\n") SUMS, "22: $/a/.oparchive/facts:1: no \"key = value\": x\n" },
		{ "no format", FACTS("session = /home/s\\n") SUMS, "22: $/a/.oparchive/facts: format: missing" AGAIN },
		{ "another format", FACTS("format = 2\\nsession = /home/s\\n") SUMS,
		  "71: $/a/.oparchive/facts: the archive is of format 2, this program reads 1; use the release of oprofile that made it, or a later one\n" },
		{ "no session", FACTS("format = 1\\n") SUMS, "22: $/a/.oparchive/facts: session: no path of a session" AGAIN },
		{ "a session elsewhere", FACTS("format = 1\\nsession = /../s\\n") SUMS, "22: $/a/.oparchive/facts: session: no path of a session" AGAIN },
		{ "a session above", FACTS("format = 1\\nsession = /s/..\\n") SUMS, "22: $/a/.oparchive/facts: session: no path of a session" AGAIN },
		{ "a relative session", FACTS("format = 1\\nsession = s\\n") SUMS, "22: $/a/.oparchive/facts: session: no path of a session" AGAIN },
		{ "a session with dots", FACTS("format = 1\\nsession = /..s/s..\\n") SUMS, EXPECTED_ROW },
		{ "whole", FACTS(SOUND) "mkdir -p a/.oparchive/events a/home; echo >a/.oparchive/events/x; echo >a/home/f; echo >a/homely; " SUMS "; rm homely",
		  EXPECTED_ROW },
		{ "files are missing", FACTS(SOUND) "mkdir -p a/home; echo >a/home/f; echo >a/home/g; " SUMS "; rm home/*",
		  EXPECTED_ROW },
		{ "other events", FACTS(SOUND) "mkdir -p a/.oparchive/events; echo >a/.oparchive/events/x; echo >a/.oparchive/events/y; " SUMS "; echo z >.oparchive/events/y",
		  EXPECTED_ROW },
		{ "events are missing", FACTS(SOUND) "mkdir -p a/.oparchive/events; echo >a/.oparchive/events/x; echo >a/.oparchive/events/y; " SUMS "; rm .oparchive/events/y",
		  EXPECTED_ROW },
	};
	/* clang-format on */

	for (size_t i = 0; i < NR(rows); i++) {
		struct text t;

		assert_int_equal(system("rm -rf *; mkdir -p a/.oparchive"), 0);
		assert_int_equal(system(rows[i].command), 0);
		write_opened(text_begin(&t), *state);
		text_must_be(&t, rows[i].name, rows[i].text);
	}
}
