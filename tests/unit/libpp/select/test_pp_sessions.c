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
		  EXPECTED_ROW },
	{ "several, in their order", "samples a x x E 1=5;samples b x x E 1=3;samples c x x E 1=2", "session:c,a",
		  EXPECTED_ROW },
	{ "by paths", "samples a x x E 1=5;samples b x x E 1=3", "session:./samples/a,./samples/b/",
		  EXPECTED_ROW },
	{ "all but some", "samples a x x E 1=5;samples b x x E 1=3", "session:a,b session-exclude:a,c",
		  EXPECTED_ROW },
	{ "none is left", "samples a x x E 1=5", "session:a session-exclude:a",
		  "No such file or directory: session-exclude:a: no session is left; exclude fewer\n" },
	{ "no such session", "samples aa x x E 1=5;samples ab x x E 1=5;samples zz x x E 1=5;text samples/file x;samples .hidden x x E 1=1", "session:aa,az",
		  EXPECTED_ROW },
	{ "no session at all", "folder samples", "",
		  "No such file or directory: current: no such session in $/samples; its sessions: none\n" },
	{ "no samples at all", "", "",
		  "No such file or directory: $/samples: there are no samples; profile first, or name another session folder with --session-dir\n" },
	{ "a session that is a file", "text samples/a x;samples b x x E 1=1", "session:a",
		  "No such file or directory: a: no such session in $/samples; its sessions: b\n" },
	{ "the last run has no samples", "samples previous x x E 1=5;folder samples/current", "",
		  EXPECTED_ROW },
	{ "nor has an older session", "samples old x x E 1=5;folder samples/current", "",
		  EXPECTED_ROW },
	{ "a saved session without samples", "samples previous x x E 1=5;folder samples/old", "session:old",
		  EXPECTED_ROW },
	/* Labels. */
	{ "a host", THREE_HOSTS, "session:a,b,c host:beta", EXPECTED_ROW },
	{ "hosts", THREE_HOSTS, "session:a,b,c host:*a", EXPECTED_ROW },
	{ "a label", THREE_HOSTS, "session:a,b,c label:team=t", EXPECTED_ROW },
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
		  EXPECTED_ROW, .by_label = "host" },
	/* Archives. */
	{ "the running session of an archive", "samples current x x E 1=5;samples b x x E 1=3;archive", "",
		  EXPECTED_ROW },
	{ "all sessions of a sum", "samples a x x E 1=5;samples b x x E 1=3;merged", "",
		  EXPECTED_ROW },
	{ "one session of a sum", "samples a x x E 1=5;samples b x x E 1=3;merged", "session:b",
		  EXPECTED_ROW },
	{ "some sessions of a sum", "samples a x x E 1=5;samples b x x E 1=3;merged", "session-exclude:b",
		  EXPECTED_ROW },
	{ "no sessions of a sum", "samples a x x E 1=5;samples b x x E 1=3;merged", "session-exclude:a,b",
		  "No such file or directory: session-exclude:a,b: no session is left; exclude fewer\n" },
	{ "a session by its path at home", "samples a x x E 1=5;archive", "session:/s/samples/a",
		  EXPECTED_ROW },
	{ "no such path in an archive", "samples a x x E 1=5;archive", "session:/samples/a",
		  "No such file or directory: /samples/a: no such session in $/ar/s/samples; its sessions: a\n" },
	{ "labels that are not those that were archived", THREE_HOSTS "merged;text ar/s/samples/b/labels host=x", "",
		  EXPECTED_ROW },
	{ "samples that are not those that were archived", "samples a x x E 1=5;samples b x x E 1=3;samples b y y E 1=2;merged;text ar/s/" OF_X("b") " x", "",
		  EXPECTED_ROW },
	{ "samples that are elsewhere", "samples a x x E 1=5;samples b x x E 1=3;samples b y y E 1=2;merged;rename ar/s/" OF_X("b") " ./v;link ar/s/" OF_X("b") " ../../../v", "",
		  EXPECTED_ROW },
	{ "a session that is elsewhere", "samples a x x E 1=5;samples b x x E 1=3;merged;rename ar/s/samples/b b;link ar/s/samples/b ../../../b", "",
		  EXPECTED_ROW },
	{ "samples that are missing", "samples a x x E 1=5;samples b x x E 1=3;samples b y y E 1=2;merged;remove ar/s/" OF_X("b"), "",
		  EXPECTED_ROW },
	{ "a pack that is not that which was archived", "samples a x x E 1=5;samples b x x E 1=3;pack samples/b;samples b y y E 1=2;merged;flip ar/s/samples/b/packed 70", "",
		  EXPECTED_ROW },
	/* Files. */
	{ "files of several names", "samples current x x E 1=5;samples current x k E 1=3;samples current x a E 1=1;tree current x E 2:x+1", "",
		  EXPECTED_ROW },
	{ "calls are left out", "samples current x x E 1=5;samples current x x>y E 1>2=3", "",
		  EXPECTED_ROW },
	{ "unless they are asked for", "samples current x x E 1=5;samples current x x>k E 1>2=3", "",
		  EXPECTED_ROW, .call_graphs = true },
	{ "parts of one file", "samples current x x E 1=5 2=3;pack samples/current;samples current x x E 2=4 7=1;tree current x E 1:x+1;samples current y y E 3=1", "",
		  EXPECTED_ROW },
	{ "a tree that is packed and loose", "samples current x x E 1=5;tree current x E 1:x+1;tree current y E 1:y+1;pack samples/current;tree current x E 1:x+2", "",
		  EXPECTED_ROW },
	{ "parts of one file on their way into a pack", "samples current x x E 1=5;pack samples/current;samples current x x E 1=4;folder samples/current/.packing-2;rename samples/current/{root} samples/current/.packing-2/{root};samples current x x E 1=2", "",
		  EXPECTED_ROW },
	{ "files that were packed already", "samples current x x E 1=5;pack samples/current;samples current x x E 1=4;folder samples/current/.packing-1;rename samples/current/{root} samples/current/.packing-1/{root}", "",
		  EXPECTED_ROW },
	{ "one name in two sessions", "samples a x x E 1=5;samples b x x E 1=6", "session:b,a",
		  EXPECTED_ROW },
	{ "files that were set aside", "samples current x x E 1=5;text " OF_X("current") ".bad x;text " OF_X("current") ".stale.2 x", "",
		  EXPECTED_ROW },
	{ "files that are none", "samples current x x E 1=5;text samples/current/{root}/strange x", "",
		  EXPECTED_ROW },
	{ "a packed file that is none", "samples current x x E 1=5;samples current y y E 1=5;rename samples/current/{root}/bin/y/{dep} samples/current/{root}/bin/y/{dap};pack samples/current", "",
		  EXPECTED_ROW },
	{ "files without samples", "samples current x x E;samples current y y E 1=1", "",
		  EXPECTED_ROW },
	{ "a file without samples that has no header", "version 2;samples current x x E;version 1;samples current y y E 1=1", "",
		  EXPECTED_ROW },
	{ "no file has samples", "samples current x x E;samples current y y E", "", EXPECTED_ROW },
	/* Damage. */
	{ "a damaged file", "samples current x x E 1=5;samples current y y E 1=3;flip " OF_X("current") " 2", "",
		  EXPECTED_ROW },
	{ "a header of another version", "samples current y y E 1=3;version 2;samples current x x E 1=5", "",
		  EXPECTED_ROW },
	{ "two damaged files", "samples current x x E 1=5;samples current y y E 1=3;samples current z z E 1=2;flip " OF_X("current") " 2;flip samples/current/{root}/bin/z/{dep}/{root}/bin/z/E.100.0.all.all.all 2", "",
		  EXPECTED_ROW },
	{ "no file is sound", "samples current x x E 1=5;samples current y y E 1=3;flip " OF_X("current") " 2;flip samples/current/{root}/bin/y/{dep}/{root}/bin/y/E.100.0.all.all.all 12", "",
		  EXPECTED_ROW },
	{ "a damaged part of a file", "samples current x x E 1=5;pack samples/current;samples current x x E 1=4;flip " OF_X("current") " 2", "",
		  EXPECTED_ROW },
	{ "a pack that is none", "samples current x x E 1=5;text " PACK " x", "", EXPECTED_ROW },
	{ "a pack that is none, and nothing else", "text " PACK " x", "", EXPECTED_ROW },
	{ "the header of a pack", "samples current x x E 1=5;pack samples/current;samples current y y E 1=3;flip " PACK " 8", "",
		  EXPECTED_ROW },
	{ "the index of a pack", "samples current x x E 1=5;samples current y y E 1=3;pack samples/current;flip " PACK " -3", "",
		  EXPECTED_ROW },
	{ "the index and a group of a pack", "many 66;pack samples/current;flip " PACK " g70;flip " PACK " -3", "",
		  EXPECTED_ROW },
	{ "a pack whose end is not there", "many 66;pack samples/current;cut " PACK " gg0", "",
		  EXPECTED_ROW },
	{ "an entry of a pack", "samples current x x E 1=5;samples current y y E 1=3;pack samples/current;flip " PACK " 70", "",
		  EXPECTED_ROW },
	{ "several damaged packs, and nothing else", "text samples/a/packed x;text samples/b/packed x;text samples/c/packed x", "session:b,a,c",
		  EXPECTED_ROW },
	{ "two packs, of which the first is damaged", "samples a x x E 1=5;pack samples/a;samples b x x E 1=3;pack samples/b;text samples/a/packed x", "session:a,b",
		  EXPECTED_ROW },
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
