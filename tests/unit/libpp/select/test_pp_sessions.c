// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Which sessions words choose, which sample files are in them, packed or not,
 * and what is said of those that are damaged, missing or not meant. A row is a
 * script that makes sessions, the words, and all that is found.
 */

/* What a row of a table does not name is zero. */
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

#include "tests/unit/libpp/pp_made_archive.h"
#include "tests/unit/libpp/pp_packed.h"

#include "libpp/select/sample_list.h"

struct found_row {
	const char *name, *script, *words, *wanted;
	const char *by_label; /* that sessions are called by */
	bool call_graphs;
};

/* ---- making sessions ----------------------------------------------------- */

static bool make_found_file(const char *word, const char *path, const char *how)
{
	if (strcmp(word, "rename") && strcmp(word, "remove"))
		assert_int_equal(op_make_parents(path, 0755), 0);
	if (!strcmp(word, "flip"))
		flip_byte(path, how);
	else if (!strcmp(word, "cut"))
		cut_file(path, how);
	else if (!strcmp(word, "rename"))
		assert_int_equal(rename(path, how), 0);
	else if (!strcmp(word, "remove"))
		assert_int_equal(remove(path), 0);
	else if (!strcmp(word, "link"))
		assert_int_equal(symlink(how, path), 0);
	else if (!strcmp(word, "folder"))
		assert_int_equal(mkdir(path, 0755), 0);
	else if (!strcmp(word, "labels"))
		write_labels(path, how);
	else if (!strcmp(word, "text"))
		write_text(path, how);
	else
		return false;
	return true;
}

static bool make_found_samples(const char *word, const char *rest)
{
	if (!strcmp(word, "archive"))
		make_archive("ar", NULL);
	else if (!strcmp(word, "merged"))
		make_archive("ar", "2");
	else
		return make_samples_by_word(word, rest);
	return true;
}

static void make_found_line(const char *line, void *ctx)
{
	const char *words[24] = { NULL }, *rest = strchr(line, ' ');
	char copy[512];

	(void)ctx;
	split_words(line, copy, words, NR(words));
	if (!make_found_samples(words[0], rest ? rest + 1 : "") &&
	    !make_found_file(words[0], words[1], words[2]))
		fail_msg("%s: no such word", line);
}

/* ---- what is found ------------------------------------------------------- */

static void write_found_session(FILE *out, const struct pp_session *session)
{
	fprintf(out, "session %s: %s", session->name, session->path);
	for (size_t i = 0; i < session->labels.nr; i++)
		fprintf(out, " %s=%s", session->labels.list[i].key,
			session->labels.list[i].value);
	fprintf(out, "\n");
}

/* Of many files that are alike the first two. */
static void write_found_file(FILE *out, const struct pp_sample_file *file)
{
	fprintf(out, "%s %s%s%s", file->app, file->image_name,
		file->callee_name ? ">" : "", file->callee_name ?: "");
	for (const struct pp_sample_part *part = file->parts; part;
	     part = part->next)
		fprintf(out, " [%s]", part->member.entry ? "packed" : "loose");
	if (file->total)
		fprintf(out, " %llu", (unsigned long long)file->total);
	for (size_t i = 0; i < file->nr_samples; i++)
		fprintf(out, " %llx=%llu",
			(unsigned long long)file->samples[i].key,
			(unsigned long long)file->samples[i].count);
	fprintf(out, "\n");
}

static void write_found_files(FILE *out, const char *kind,
			      const struct pp_sample_file *files, size_t nr)
{
	for (size_t i = 0; i < nr && i < 2 + 2 * (nr <= 4); i++) {
		fprintf(out, "%s ", kind);
		write_found_file(out, &files[i]);
	}
	if (nr > 4)
		fprintf(out, "%zu more\n", nr - 2);
}

static int find_and_read(struct pp_sample_list *list,
			 const struct op_session *session,
			 const struct pp_spec *spec,
			 struct pp_messages *messages, struct op_diag *diag)
{
	return pp_sample_list_find(list, session, spec, messages, diag)
		       ?: pp_sample_list_read(list, true, messages, diag);
}

/* Only what there is no more, the names of files, is said by remarks. */
static void write_found_messages(FILE *out, struct pp_messages *messages)
{
	size_t kept = 0;

	for (size_t i = 0; i < messages->nr; i++)
		if (messages->list[i].kind != PP_REMARK_SFILE)
			messages->list[kept++] = messages->list[i];
	messages->nr = kept;
	write_messages(out, messages);
}

static void write_found(FILE *out, const struct found_row *row)
{
	struct op_arena arena;
	struct pp_messages messages = { .arena = &arena };
	struct pp_sample_list list = { .arena = &arena,
				       .by_label = row->by_label,
				       .call_graphs = row->call_graphs };
	struct pp_archive *archive = NULL;
	struct op_diag diag = { "" };
	struct op_session session;
	struct pp_spec spec;
	const char *words[8];
	char copy[256], *root = realpath("ar", NULL);
	int err = 0;

	op_arena_init(&arena);
	split_words(row->words, copy, words, NR(words));
	assert_int_equal(pp_spec_init(&spec, words, &diag), 0);
	assert_int_equal(op_session_init(&session, ".", NULL), 0);
	if (root)
		err = pp_archive_open(&archive, &arena, root, &session, &diag);
	list.archive = archive;
	if (!err)
		err = find_and_read(&list,
				    archive ? &archive->session : &session,
				    &spec, &messages, &diag);
	for (size_t i = 0; i < list.sessions.nr; i++)
		write_found_session(out, &list.sessions.list[i]);
	if (err)
		fprintf(out, "%s: %s\n", strerror(-err), diag.text);
	write_found_files(out, "file", list.files, err ? 0 : list.nr);
	write_found_files(out, "tree", list.trees, err ? 0 : list.nr_trees);
	write_found_messages(out, &messages);
	if (messages.nr_unread)
		fprintf(out, "%zu left out\n", messages.nr_unread);
	pp_sessions_close(&list.sessions);
	pp_spec_release(&spec);
	op_arena_release(&arena);
	free(root);
}

/* ---- rows ---------------------------------------------------------------- */

#define OF_X(session)                                                          \
	"samples/" session "/{root}/bin/x/{dep}/{root}/bin/x/"                 \
	"E.100.0.all.all.all"
#define PACK "samples/current/packed"
#define THREE_HOSTS                                                            \
	"samples a x x E 1=5;labels samples/a/labels host=alpha,team=t;"       \
	"samples b x x E 1=6;labels samples/b/labels host=beta,team=t;"        \
	"samples c x x E 1=7;labels samples/c/labels team=u;"

/* clang-format off */
static const struct found_row found_rows[] = {
	/* Sessions. */
	{ "the running session", "samples current x x E 1=5;samples old x x E 1=3", "",
		  "session current: $/samples/current\n"
		  "file /bin/x /bin/x [loose] 5 1=5\n" },
	{ "several, in their order", "samples a x x E 1=5;samples b x x E 1=3;samples c x x E 1=2", "session:c,a",
		  "session c: $/samples/c\n"
		  "session a: $/samples/a\n"
		  "file /bin/x /bin/x [loose] 2 1=2\n"
		  "file /bin/x /bin/x [loose] 5 1=5\n" },
	{ "by paths", "samples a x x E 1=5;samples b x x E 1=3", "session:./samples/a,./samples/b/",
		  "session a: ./samples/a\n"
		  "session ./samples/b/: ./samples/b/\n"
		  "file /bin/x /bin/x [loose] 5 1=5\n"
		  "file /bin/x /bin/x [loose] 3 1=3\n" },
	{ "all but some", "samples a x x E 1=5;samples b x x E 1=3", "session:a,b session-exclude:a,c",
		  "session b: $/samples/b\n"
		  "file /bin/x /bin/x [loose] 3 1=3\n" },
	{ "none is left", "samples a x x E 1=5", "session:a session-exclude:a",
		  "No such file or directory: session-exclude:a: no session is left; exclude fewer\n" },
	{ "no such session", "samples aa x x E 1=5;samples ab x x E 1=5;samples zz x x E 1=5;text samples/file x;samples .hidden x x E 1=1", "session:aa,az",
		  "session aa: $/samples/aa\n"
		  "No such file or directory: az: no such session in $/samples; its sessions: aa, ab, zz\n" },
	{ "no session at all", "folder samples", "",
		  "No such file or directory: current: no such session in $/samples; its sessions: none\n" },
	{ "no samples at all", "", "",
		  "No such file or directory: $/samples: there are no samples; profile first, or name another session folder with --session-dir\n" },
	{ "a session that is a file", "text samples/a x;samples b x x E 1=1", "session:a",
		  "No such file or directory: a: no such session in $/samples; its sessions: b\n" },
	{ "the last run has no samples", "samples previous x x E 1=5;folder samples/current", "",
		  "session current: $/samples/current\n"
		  "No such file or directory: $/samples/current: the last run has no samples; those of the run before are in session:previous\n" },
	{ "nor has an older session", "samples old x x E 1=5;folder samples/current", "",
		  "session current: $/samples/current\n"
		  "No such file or directory: $/samples/current: there are no sample files; profile first (operf, or opcontrol --start), then write out the buffers with opcontrol --dump\n" },
	{ "a saved session without samples", "samples previous x x E 1=5;folder samples/old", "session:old",
		  "session old: $/samples/old\n"
		  "No such file or directory: $/samples/old: there are no sample files; profile first (operf, or opcontrol --start), then write out the buffers with opcontrol --dump\n" },
	/* Labels. */
	{ "a host", THREE_HOSTS, "session:a,b,c host:beta",
		  "session b: $/samples/b host=beta team=t\n"
		  "file /bin/x /bin/x [loose] 6 1=6\n" },
	{ "hosts", THREE_HOSTS, "session:a,b,c host:*a",
		  "session a: $/samples/a host=alpha team=t\n"
		  "session b: $/samples/b host=beta team=t\n"
		  "file /bin/x /bin/x [loose] 5 1=5\n"
		  "file /bin/x /bin/x [loose] 6 1=6\n" },
	{ "a label", THREE_HOSTS, "session:a,b,c label:team=t",
		  "session a: $/samples/a host=alpha team=t\n"
		  "session b: $/samples/b host=beta team=t\n"
		  "file /bin/x /bin/x [loose] 5 1=5\n"
		  "file /bin/x /bin/x [loose] 6 1=6\n" },
	{ "no such host", THREE_HOSTS, "session:a,b,c host:bet",
		  "No such file or directory: host:bet: no session has that label; values of host here: beta, alpha\n" },
	{ "one host that there is and one that is not", THREE_HOSTS, "session:c host:alpha,beta",
		  "No such file or directory: host:alpha: no session has that label; values of host here: none\n" },
	{ "no such label", THREE_HOSTS, "session:a,b,c label:team=v",
		  "No such file or directory: label:team=v: no session has that label; values of team here: t, u\n" },
	{ "no such key", THREE_HOSTS, "session:a,b,c label:rack=1",
		  "No such file or directory: label:rack=1: no session has that label; values of rack here: none\n" },
	{ "no session has all labels", THREE_HOSTS, "session:a,b,c host:alpha label:team=u",
		  "No such file or directory: no session has all of these labels together; leave one out\n" },
	{ "nor has one those that patterns are for", THREE_HOSTS, "session:a,b,c host:al* label:team=[u]",
		  "No such file or directory: no session has all of these labels together; leave one out\n" },
	{ "the first that none has is told", THREE_HOSTS, "session:a,b,c label:team=t,team=v,rack=1",
		  "No such file or directory: label:team=v: no session has that label; values of team here: t, u\n" },
	{ "damaged labels", "samples current x x E 1=5;text samples/current/labels x", "",
		  "Invalid argument: $/samples/current/labels:1: no \"key = value\": x\n" },
	{ "labels that cannot be read", "samples current x x E 1=5;folder samples/current/labels", "",
		  "Invalid argument: $/samples/current/labels: not a regular file\n" },
	{ "called by their labels", THREE_HOSTS "samples a/.span-100-200 x x E 1=1;", "session:a,b,c",
		  "session alpha: $/samples/a host=alpha team=t\n"
		  "session alpha: $/samples/a/.span-100-200\n"
		  "session beta: $/samples/b host=beta team=t\n"
		  "session unknown: $/samples/c team=u\n"
		  "file /bin/x /bin/x [loose] 5 1=5\n"
		  "file /bin/x /bin/x [loose] 1 1=1\n"
		  "file /bin/x /bin/x [loose] 6 1=6\n"
		  "file /bin/x /bin/x [loose] 7 1=7\n", .by_label = "host" },
	/* Archives. */
	{ "the running session of an archive", "samples current x x E 1=5;samples b x x E 1=3;archive", "",
		  "session current: $/ar/s/samples/current\n"
		  "file /bin/x /bin/x [loose] 5 1=5\n" },
	{ "all sessions of a sum", "samples a x x E 1=5;samples b x x E 1=3;merged", "",
		  "session a: $/ar/s/samples/a\n"
		  "session b: $/ar/s/samples/b\n"
		  "file /bin/x /bin/x [loose] 5 1=5\n"
		  "file /bin/x /bin/x [loose] 3 1=3\n" },
	{ "one session of a sum", "samples a x x E 1=5;samples b x x E 1=3;merged", "session:b",
		  "session b: $/ar/s/samples/b\n"
		  "file /bin/x /bin/x [loose] 3 1=3\n" },
	{ "some sessions of a sum", "samples a x x E 1=5;samples b x x E 1=3;merged", "session-exclude:b",
		  "session a: $/ar/s/samples/a\n"
		  "file /bin/x /bin/x [loose] 5 1=5\n" },
	{ "no sessions of a sum", "samples a x x E 1=5;samples b x x E 1=3;merged", "session-exclude:a,b",
		  "No such file or directory: session-exclude:a,b: no session is left; exclude fewer\n" },
	{ "a session by its path at home", "samples a x x E 1=5;archive", "session:/s/samples/a",
		  "session a: $/ar/s/samples/a\n"
		  "file /bin/x /bin/x [loose] 5 1=5\n" },
	{ "no such path in an archive", "samples a x x E 1=5;archive", "session:/samples/a",
		  "No such file or directory: /samples/a: no such session in $/ar/s/samples; its sessions: a\n" },
	{ "labels that are not those that were archived", THREE_HOSTS "merged;text ar/s/samples/b/labels host=x", "",
		  "session a: $/ar/s/samples/a host=alpha team=t\n"
		  "Invalid or incomplete multibyte or wide character: $/ar/s/samples/b/labels: it is not the archived file\n" },
	{ "samples that are not those that were archived", "samples a x x E 1=5;samples b x x E 1=3;samples b y y E 1=2;merged;text ar/s/" OF_X("b") " x", "",
		  "session a: $/ar/s/samples/a\n"
		  "session b: $/ar/s/samples/b\n"
		  "file /bin/x /bin/x [loose] 5 1=5\n"
		  "file /bin/y /bin/y [loose] 2 1=2\n"
		  "warning: $/ar/s/samples/b/{root}/bin/x/{dep}/{root}/bin/x/E.100.0.all.all.all: it is not the archived file; left out\n"
		  "1 left out\n" },
	{ "samples that are elsewhere", "samples a x x E 1=5;samples b x x E 1=3;samples b y y E 1=2;merged;rename ar/s/" OF_X("b") " ./v;link ar/s/" OF_X("b") " ../../../v", "",
		  "session a: $/ar/s/samples/a\n"
		  "session b: $/ar/s/samples/b\n"
		  "file /bin/x /bin/x [loose] 5 1=5\n"
		  "file /bin/y /bin/y [loose] 2 1=2\n"
		  "warning: $/ar/s/samples/b/{root}/bin/x/{dep}/{root}/bin/x/E.100.0.all.all.all: it is not a regular file; its content is left out\n" },
	{ "a session that is elsewhere", "samples a x x E 1=5;samples b x x E 1=3;merged;rename ar/s/samples/b b;link ar/s/samples/b ../../../b", "",
		  "session a: $/ar/s/samples/a\n"
		  "Invalid cross-device link: $/ar/s/samples/b/labels: a symbolic link leads out of the archive\n" },
	{ "samples that are missing", "samples a x x E 1=5;samples b x x E 1=3;samples b y y E 1=2;merged;remove ar/s/" OF_X("b"), "",
		  "session a: $/ar/s/samples/a\n"
		  "session b: $/ar/s/samples/b\n"
		  "file /bin/x /bin/x [loose] 5 1=5\n"
		  "file /bin/y /bin/y [loose] 2 1=2\n"
		  "warning: $/ar/s/samples/b/{root}/bin/x/{dep}/{root}/bin/x/E.100.0.all.all.all: missing in the archive; its content is left out\n" },
	{ "a pack that is not that which was archived", "samples a x x E 1=5;samples b x x E 1=3;pack samples/b;samples b y y E 1=2;merged;flip ar/s/samples/b/packed 70", "",
		  "session a: $/ar/s/samples/a\n"
		  "session b: $/ar/s/samples/b\n"
		  "file /bin/x /bin/x [loose] 5 1=5\n"
		  "file /bin/y /bin/y [loose] 2 1=2\n"
		  "warning: $/ar/s/samples/b/packed: it is not the archived file; its samples are left out\n" },
	/* Files. */
	{ "files of several names", "samples current x x E 1=5;samples current x k E 1=3;samples current x a E 1=1;tree current x E 2:x+1", "",
		  "session current: $/samples/current\n"
		  "file /bin/x anon (tgid:7 range:0x1000-0x2000) [loose] 1 1=1\n"
		  "file /bin/x /vmlinux [loose] 3 1=3\n"
		  "file /bin/x /bin/x [loose] 5 1=5\n"
		  "tree /bin/x /bin/x [loose]\n" },
	{ "calls are left out", "samples current x x E 1=5;samples current x x>y E 1>2=3", "",
		  "session current: $/samples/current\n"
		  "file /bin/x /bin/x [loose] 5 1=5\n" },
	{ "unless they are asked for", "samples current x x E 1=5;samples current x x>k E 1>2=3", "",
		  "session current: $/samples/current\n"
		  "file /bin/x /bin/x [loose] 5 1=5\n"
		  "file /bin/x /bin/x>/vmlinux [loose] 3 100000002=3\n", .call_graphs = true },
	{ "parts of one file", "samples current x x E 1=5 2=3;pack samples/current;samples current x x E 2=4 7=1;tree current x E 1:x+1;samples current y y E 3=1", "",
		  "session current: $/samples/current\n"
		  "file /bin/x /bin/x [packed] [loose] 13 1=5 2=7 7=1\n"
		  "file /bin/y /bin/y [loose] 1 3=1\n"
		  "tree /bin/x /bin/x [loose]\n" },
	{ "a tree that is packed and loose", "samples current x x E 1=5;tree current x E 1:x+1;tree current y E 1:y+1;pack samples/current;tree current x E 1:x+2", "",
		  "session current: $/samples/current\n"
		  "file /bin/x /bin/x [packed] 5 1=5\n"
		  "tree /bin/x /bin/x [packed] [loose]\n"
		  "tree /bin/y /bin/y [packed]\n" },
	{ "parts of one file on their way into a pack", "samples current x x E 1=5;pack samples/current;samples current x x E 1=4;folder samples/current/.packing-2;rename samples/current/{root} samples/current/.packing-2/{root};samples current x x E 1=2", "",
		  "session current: $/samples/current\n"
		  "file /bin/x /bin/x [packed] [loose] [loose] 11 1=11\n" },
	{ "files that were packed already", "samples current x x E 1=5;pack samples/current;samples current x x E 1=4;folder samples/current/.packing-1;rename samples/current/{root} samples/current/.packing-1/{root}", "",
		  "session current: $/samples/current\n"
		  "file /bin/x /bin/x [packed] 5 1=5\n" },
	{ "one name in two sessions", "samples a x x E 1=5;samples b x x E 1=6", "session:b,a",
		  "session b: $/samples/b\n"
		  "session a: $/samples/a\n"
		  "file /bin/x /bin/x [loose] 6 1=6\n"
		  "file /bin/x /bin/x [loose] 5 1=5\n" },
	{ "files that were set aside", "samples current x x E 1=5;text " OF_X("current") ".bad x;text " OF_X("current") ".stale.2 x", "",
		  "session current: $/samples/current\n"
		  "file /bin/x /bin/x [loose] 5 1=5\n"
		  "warning: $/samples/current: not counted: 2 files set aside as damaged (names ending in .bad or .stale)\n" },
	{ "files that are none", "samples current x x E 1=5;text samples/current/{root}/strange x", "",
		  "session current: $/samples/current\n"
		  "file /bin/x /bin/x [loose] 5 1=5\n"
		  "warning: $/samples/current: {root}/strange: not the name of a sample file: it ends in the middle of an image; left out\n" },
	{ "a packed file that is none", "samples current x x E 1=5;samples current y y E 1=5;rename samples/current/{root}/bin/y/{dep} samples/current/{root}/bin/y/{dap};pack samples/current", "",
		  "session current: $/samples/current\n"
		  "file /bin/x /bin/x [packed] 5 1=5\n"
		  "warning: $/samples/current/packed: {root}/bin/y/{dap}/{root}/bin/y/E.100.0.all.all.all: not the name of a sample file: {dep} or {tree} is missing; left out\n" },
	{ "files without samples", "samples current x x E;samples current y y E 1=1", "",
		  "session current: $/samples/current\n"
		  "file /bin/y /bin/y [loose] 1 1=1\n" },
	{ "a file without samples that has no header", "version 2;samples current x x E;version 1;samples current y y E 1=1", "",
		  "session current: $/samples/current\n"
		  "file /bin/y /bin/y [loose] 1 1=1\n" },
	{ "no file has samples", "samples current x x E;samples current y y E", "",
		  "session current: $/samples/current\n"
		  "No such file or directory: the sample files hold no samples yet; write out the buffers with opcontrol --dump\n" },
	/* Damage. */
	{ "a damaged file", "samples current x x E 1=5;samples current y y E 1=3;flip " OF_X("current") " 2", "",
		  "session current: $/samples/current\n"
		  "file /bin/y /bin/y [loose] 3 1=3\n"
		  "warning: $/samples/current/{root}/bin/x/{dep}/{root}/bin/x/E.100.0.all.all.all: it is damaged; left out\n"
		  "1 left out\n" },
	{ "a header of another version", "samples current y y E 1=3;version 2;samples current x x E 1=5", "",
		  "session current: $/samples/current\n"
		  "file /bin/y /bin/y [loose] 3 1=3\n"
		  "warning: $/samples/current/{root}/bin/x/{dep}/{root}/bin/x/E.100.0.all.all.all: a sample file of version 2, not 1; use the tools that wrote it; left out\n"
		  "1 left out\n" },
	{ "two damaged files", "samples current x x E 1=5;samples current y y E 1=3;samples current z z E 1=2;flip " OF_X("current") " 2;flip samples/current/{root}/bin/z/{dep}/{root}/bin/z/E.100.0.all.all.all 2", "",
		  "session current: $/samples/current\n"
		  "file /bin/y /bin/y [loose] 3 1=3\n"
		  "warning: $/samples/current/{root}/bin/x/{dep}/{root}/bin/x/E.100.0.all.all.all: it is damaged; left out\n"
		  "warning: $/samples/current/{root}/bin/z/{dep}/{root}/bin/z/E.100.0.all.all.all: it is damaged; left out\n"
		  "2 left out\n" },
	{ "no file is sound", "samples current x x E 1=5;samples current y y E 1=3;flip " OF_X("current") " 2;flip samples/current/{root}/bin/y/{dep}/{root}/bin/y/E.100.0.all.all.all 12", "",
		  "session current: $/samples/current\n"
		  "No such file or directory: no usable sample file is left; the first: $/samples/current/{root}/bin/x/{dep}/{root}/bin/x/E.100.0.all.all.all: it is damaged\n"
		  "2 left out\n" },
	{ "a damaged part of a file", "samples current x x E 1=5;pack samples/current;samples current x x E 1=4;flip " OF_X("current") " 2", "",
		  "session current: $/samples/current\n"
		  "file /bin/x /bin/x [packed] 5 1=5\n"
		  "warning: $/samples/current/{root}/bin/x/{dep}/{root}/bin/x/E.100.0.all.all.all: it is damaged; left out\n"
		  "1 left out\n" },
	{ "a pack that is none", "samples current x x E 1=5;text " PACK " x", "",
		  "session current: $/samples/current\n"
		  "file /bin/x /bin/x [loose] 5 1=5\n"
		  "warning: $/samples/current/packed: it is damaged; its samples are left out\n" },
	{ "a pack that is none, and nothing else", "text " PACK " x", "",
		  "session current: $/samples/current\n"
		  "No such file or directory: no usable sample file is left; the first: $/samples/current/packed: it is damaged\n"
		  "warning: $/samples/current/packed: it is damaged; its samples are left out\n" },
	{ "the header of a pack", "samples current x x E 1=5;pack samples/current;samples current y y E 1=3;flip " PACK " 8", "",
		  "session current: $/samples/current\n"
		  "file /bin/x /bin/x [packed] 5 1=5\n"
		  "file /bin/y /bin/y [loose] 3 1=3\n"
		  "warning: $/samples/current/packed: its index is damaged, but all sample files in it were found; repair it with opreport --repair\n" },
	{ "the index of a pack", "samples current x x E 1=5;samples current y y E 1=3;pack samples/current;flip " PACK " -3", "",
		  "session current: $/samples/current\n"
		  "file /bin/x /bin/x [packed] 5 1=5\n"
		  "file /bin/y /bin/y [packed] 3 1=3\n"
		  "warning: $/samples/current/packed: its index is damaged, but all sample files in it were found; repair it with opreport --repair\n" },
	{ "the index and a group of a pack", "many 66;pack samples/current;flip " PACK " g70;flip " PACK " -3", "",
		  "session current: $/samples/current\n"
		  "file /bin/x64 /bin/x [packed] 1 0=1\n"
		  "file /bin/x65 /bin/x [packed] 1 0=1\n"
		  "warning: $/samples/current/packed: it is damaged: 64 sample files in it lost and left out\n" },
	{ "a pack whose end is not there", "many 66;pack samples/current;cut " PACK " gg0", "",
		  "session current: $/samples/current\n"
		  "file /bin/x00 /bin/x [packed] 1 0=1\n"
		  "file /bin/x01 /bin/x [packed] 1 0=1\n"
		  "62 more\n"
		  "warning: $/samples/current/packed: it is damaged, and its end is lost: 64 sample files found in it; others are left out\n" },
	{ "an entry of a pack", "samples current x x E 1=5;samples current y y E 1=3;pack samples/current;flip " PACK " 70", "",
		  "session current: $/samples/current\n"
		  "file /bin/y /bin/y [packed] 3 1=3\n"
		  "warning: $/samples/current/packed: {root}/bin/x/{dep}/{root}/bin/x/E.100.0.all.all.all: it is damaged; left out\n"
		  "1 left out\n" },
	{ "several damaged packs, and nothing else", "text samples/a/packed x;text samples/b/packed x;text samples/c/packed x", "session:b,a,c",
		  "session b: $/samples/b\n"
		  "session a: $/samples/a\n"
		  "session c: $/samples/c\n"
		  "No such file or directory: no usable sample file is left; the first: $/samples/b/packed: it is damaged\n"
		  "warning: $/samples/b/packed: it is damaged; its samples are left out\n"
		  "warning: $/samples/a/packed: it is damaged; its samples are left out\n"
		  "warning: $/samples/c/packed: it is damaged; its samples are left out\n" },
	{ "two packs, of which the first is damaged", "samples a x x E 1=5;pack samples/a;samples b x x E 1=3;pack samples/b;text samples/a/packed x", "session:a,b",
		  "session a: $/samples/a\n"
		  "session b: $/samples/b\n"
		  "file /bin/x /bin/x [packed] 3 1=3\n"
		  "warning: $/samples/a/packed: it is damaged; its samples are left out\n" },
};
/* clang-format on */

TEST(sessions_and_their_files_are_found)
{
	const struct op_sample_header usual = made_header;

	for (size_t i = 0; i < NR(found_rows); i++) {
		const struct found_row *row = &found_rows[i];
		struct text all;
		void *folder = NULL;

		assert_int_equal(enter_folder(&folder), 0);
		run_script(row->script, make_found_line, NULL);
		write_found(text_begin(&all), row);
		text_below_must_be(&all, folder, row->name, row->wanted);
		made_header = usual;
		assert_int_equal(leave_folder(&folder), 0);
	}
}
