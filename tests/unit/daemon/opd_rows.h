/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TESTS_UNIT_OPD_ROWS_H
#define TESTS_UNIT_OPD_ROWS_H

/*
 * Rows whose script is a stream in words (utils/opstream/stream_text.h) that a
 * daemon replays, and whose text is what it stored and counted:
 *
 *	NAME KEY:COUNT...	a sample file; the event is left out where it
 *				is the timer of all threads and CPUs, and
 *				"A/{dep}/A" is "A"
 *	NAME CALLER>CALLEE:COUNT...	one of arcs
 *	NAME COUNT: IMAGE+OFFSET...	a stack of a call tree; behind the
 *				name of anonymous memory is where that is
 *	taken N stored N ...	the ledger, without zeros
 *	bad_records N ...	opd_stats, without zeros
 *
 * Among the words of the stream a line may also be
 *
 *	show	handle all words before it, print the state
 *	stats TEXT	print the statistics block from the line that begins
 *			with TEXT
 *	cat NAME	print a file of the samples' folder
 *	headers		print what the headers of all files say, without zeros
 *	log		print the daemon's log and empty it
 *	status		print what a client gets, without pid and folder
 *	rm NAME, mkdir NAME, rmdir NAME	something in samples/current
 *	sync		what the daemon does from time to time
 *	save NAME, reset, restart	what a person does to the session
 *
 * The link needs utils/opstream/stream_text.c.
 */

#include "daemon/opd_command.h"
#include "libdb/ctree.h"
#include "libdb/db_folder.h"
#include "libop/files/op_folder.h"
#include "libop/session/op_tree_image.h"
#include "tests/unit/opd_fixture.h"
#include "tests/unit/rows.h"
#include "utils/opstream/stream_text.h"

/* ---- from text to words -----------------------------------------------------
 */

static void put_line(struct words *w, const char *line)
{
	struct stream_buf bytes = { NULL, 0 };
	const char *why = "out of memory";
	uint64_t word;

	if (stream_text_parse(&bytes, line, &why))
		fail_msg("%s: %s", line, why);
	for (size_t i = 0; i < bytes.len; i += sizeof(word)) {
		memcpy(&word, bytes.data + i, sizeof(word));
		put(w, word);
	}
	stream_buf_release(&bytes);
}

__attribute__((unused)) static void put_text(struct words *w, const char *text)
{
	char line[8192];

	while (next_line(&text, line, sizeof(line)))
		put_line(w, line);
}

/* ---- what is in the files ---------------------------------------------------
 */

struct pair {
	uint64_t key;
	uint64_t count;
};

static int compare_pairs(const void *a, const void *b)
{
	const struct pair *x = a, *y = b;

	return (x->key > y->key) - (x->key < y->key);
}

static void show_counts(FILE *out, struct odb *odb, bool are_arcs)
{
	struct pair pairs[1000];
	size_t nr = 0;

	for (size_t at = 0;
	     odb_next(odb, &at, &pairs[nr].key, &pairs[nr].count); nr++)
		assert_true(nr + 1 < NR(pairs));
	qsort(pairs, nr, sizeof(pairs[0]), compare_pairs);
	for (size_t i = 0; i < nr; i++) {
		unsigned long key = pairs[i].key, count = pairs[i].count;

		if (are_arcs)
			fprintf(out, " 0x%lx>0x%lx:%lu", key >> 32,
				key & UINT32_MAX, count);
		else
			fprintf(out, " 0x%lx:%lu", key, count);
	}
	fputc('\n', out);
}

static void show_frame(FILE *out, const struct ctree *tree,
		       const struct ctree_node *node)
{
	struct op_tree_image image;
	char name[OP_TREE_IMAGE_MAX];
	const void *bytes;
	size_t len;

	bytes = ctree_image_bytes(tree, node->image, &len);
	assert_int_equal(op_tree_image_decode(&image, bytes, len, name,
					      sizeof(name), NULL),
			 0);
	fprintf(out, " %s", image.name.name);
	if (image.name.space == OP_SPACE_ANON)
		fprintf(out, "(%ld.%lx-%lx)", (long)image.name.tgid,
			image.name.start, image.name.end);
	fprintf(out, "+%lx", node->offset);
}

/* Parents have lower numbers: @node's stack is printed root first. */
static void show_stack(FILE *out, const struct ctree *tree, uint32_t at)
{
	struct ctree_node node;

	ctree_node(tree, at, &node);
	if (node.parent != CTREE_ROOT)
		show_stack(out, tree, node.parent);
	show_frame(out, tree, &node);
}

static void show_stacks(FILE *out, const struct ctree *tree, const char *name)
{
	struct ctree_node node;

	for (uint32_t i = 1; i <= ctree_nr_nodes(tree); i++) {
		ctree_node(tree, i, &node);
		if (!node.count)
			continue;
		fprintf(out, "%s %lu:", name, node.count);
		show_stack(out, tree, i);
		fputc('\n', out);
	}
}

/* Leave out of @name what is nearly always there. */
static void shorten_name(char *name)
{
	const char *event = "/TIMER.0.0.all.all.all";
	size_t len = strlen(name);
	char *dep;

	if (len > strlen(event) && !strcmp(name + len - strlen(event), event))
		name[len - strlen(event)] = '\0';
	dep = strstr(name, "/{dep}/");
	if (!dep || strstr(name, "/{cg}/"))
		return;
	len = (size_t)(dep - name);
	if (!strncmp(name, dep + 7, len) &&
	    (dep[7 + len] == '\0' ||
	     strchr(dep + 7 + len, '/') == dep + 7 + len))
		memmove(name, dep + 7, strlen(dep + 7) + 1);
}

static void show_file(FILE *out, const char *path, const char *name)
{
	char shorter[8192];
	struct ctree *tree;
	struct odb *odb;

	snprintf(shorter, sizeof(shorter), "%s",
		 strncmp(name, "current/", 8) ? name : name + 8);
	shorten_name(shorter);
	if (!ctree_open(&tree, path, ODB_RDONLY)) {
		show_stacks(out, tree, shorter);
		ctree_close(tree);
	} else if (!odb_open(&odb, path, ODB_RDONLY)) {
		fputs(shorter, out);
		show_counts(out, odb, strstr(name, "/{cg}/"));
		odb_close(odb);
	} else {
		fprintf(out, "%s is damaged\n", shorter);
	}
}

struct found {
	char *name, *path;
};

struct names {
	struct found found[1000];
	size_t nr;
	const char *session;
};

static int find_name(const struct db_member *member, void *ctx)
{
	struct names *names = ctx;
	struct found *found = &names->found[names->nr];
	char name[8192];

	assert_null(member->entry);
	assert_true(names->nr < NR(names->found));
	snprintf(name, sizeof(name), "%s/%s", names->session, member->name);
	found->name = strdup(name);
	found->path = strdup(member->path);
	assert_non_null(found->name);
	assert_non_null(found->path);
	names->nr++;
	return 0;
}

static void find_names_in(struct names *names, const char *samples,
			  const char *session)
{
	const struct db_visitor visitor = { .member = find_name, .ctx = names };
	struct db_folder *folder;
	char path[8192];
	int err;

	snprintf(path, sizeof(path), "%s/%s", samples, session);
	names->session = session;
	err = db_folder_open(&folder, path);
	if (err == -ENOTDIR)
		return;
	assert_int_equal(err, 0);
	assert_int_equal(db_folder_each(folder, &visitor), 0);
	db_folder_close(folder);
}

static int compare_found(const void *a, const void *b)
{
	const struct found *x = a, *y = b;

	return strcmp(x->name, y->name);
}

/* Have @show print each file of all sessions, by name. */
static void show_each(struct fixture *f, FILE *out,
		      void (*show)(FILE *, const char *, const char *))
{
	DIR *sessions = opendir(f->opd.session.samples);
	struct names names = { .nr = 0 };
	struct dirent *entry;

	assert_non_null(sessions);
	while ((entry = readdir(sessions)))
		if (entry->d_name[0] != '.')
			find_names_in(&names, f->opd.session.samples,
				      entry->d_name);
	closedir(sessions);
	qsort(names.found, names.nr, sizeof(names.found[0]), compare_found);
	for (size_t i = 0; i < names.nr; i++) {
		show(out, names.found[i].path, names.found[i].name);
		free(names.found[i].path);
		free(names.found[i].name);
	}
}

/* ---- what was counted -------------------------------------------------------
 */

/* A line is begun by the first number that is not zero. */
static void show_number(FILE *out, bool *begun, const char *name, uint64_t nr)
{
	if (nr)
		fprintf(out, "%s%s %lu", *begun ? " " : "", name, nr);
	*begun |= nr != 0;
}

static void show_ledger(struct fixture *f, FILE *out)
{
	struct op_ledger l = ledger_of(f);
	bool begun = true;

	fprintf(out, "taken %lu stored %lu", l.taken, l.stored);
	show_number(out, &begun, "pending", l.pending);
	for (unsigned int i = 0; i < l.nr_causes; i++)
		show_number(out, &begun, l.causes[i].name, l.causes[i].nr);
	fputc('\n', out);
	begun = false;
	for (unsigned int i = 0; i < OP_NR_STACKS; i++)
		show_number(out, &begun, op_ledger_stacks_name(i), l.stacks[i]);
	if (begun)
		fputc('\n', out);
}

static void show_stats(const struct opd_stats *stats, FILE *out)
{
	bool begun = false;

	show_number(out, &begun, "callers", stats->frames);
	show_number(out, &begun, "bad_records", stats->bad_records);
	show_number(out, &begun, "unknown_codes", stats->unknown_codes);
	show_number(out, &begun, "bad_lengths", stats->bad_lengths);
	show_number(out, &begun, "skipped_words", stats->skipped_words);
	show_number(out, &begun, "incomplete", stats->incomplete);
	if (begun)
		fputc('\n', out);
}

__attribute__((unused)) static void show_all(struct fixture *f, FILE *out)
{
	show_each(f, out, show_file);
	show_ledger(f, out);
	show_stats(&f->opd.stats, out);
}

static void show_build(FILE *out, bool *begun, const char *name,
		       const uint8_t *bytes, uint32_t len)
{
	show_number(out, begun, name, len);
	for (uint32_t i = 0; i < len; i++)
		fprintf(out, "%s%02x", i ? "" : ":", bytes[i]);
}

static void show_header(FILE *out, const char *path, const char *name)
{
	struct op_sample_header h;
	unsigned char user[ODB_USER_SIZE];
	char shorter[8192];
	bool begun = true;

	if (strncmp(name, "current/", 8) != 0 || odb_peek(path, user))
		return;
	memcpy(&h, user, sizeof(h));
	assert_int_equal(h.magic, OP_SAMPLE_MAGIC);
	assert_int_equal(h.version, OP_SAMPLE_VERSION);
	snprintf(shorter, sizeof(shorter), "%s", name + 8);
	shorten_name(shorter);
	fprintf(out, "%s: %s kind %u", shorter, h.cpu_type, h.kind);
	show_number(out, &begun, "event", h.event);
	show_number(out, &begun, "count", h.count);
	show_number(out, &begun, "um", h.unit_mask);
	show_number(out, &begun, "hz", h.timer_hz);
	show_number(out, &begun, "mtime", h.mtime);
	show_number(out, &begun, "anon", h.anon_start);
	show_number(out, &begun, "khz", h.cpu_khz);
	show_number(out, &begun, "cg_mtime", h.cg_mtime);
	show_number(out, &begun, "derived", h.derived);
	show_number(out, &begun, "samples", h.samples);
	show_build(out, &begun, "build", h.build_id, h.build_id_len);
	show_build(out, &begun, "cg_build", h.cg_build_id, h.cg_build_id_len);
	fputc('\n', out);
}

/* ---- running ----------------------------------------------------------------
 */

/* A daemon that replays, with the options of the command line @options. */
__attribute__((unused)) static struct fixture *new_with(const char *options)
{
	const char *argv[16] = { "oprofiled", "--source=file:-" };
	struct fixture *f = new_fixture();
	struct op_diag diag = { "" };
	char text[512], *rest;
	int argc = 2;

	snprintf(text, sizeof(text), "%s", options ? options : "");
	for (char *at = strtok_r(text, " ", &rest); at;
	     at = strtok_r(NULL, " ", &rest))
		argv[argc++] = at;
	if (opd_options_parse(&f->opd.options, argc, argv, &diag) ||
	    opd_extended_init(&f->opd.extended, f->opd.options.ext_features,
			      f->opd.options.source, &f->opd.options.events,
			      &diag))
		fail_msg("%s", diag.text);
	f->opd.log.verbose = f->opd.options.verbose;
	start_daemon(f, &test_replay);
	return f;
}

__attribute__((unused)) static void free_with(struct fixture *f)
{
	opd_options_release(&f->opd.options);
	free_fixture(f);
}

/* The daemon's options stay while it ends and another starts. */
static void restart_with(struct fixture *f)
{
	struct opd_options options = f->opd.options;
	struct op_diag diag = { "" };

	opd_release(&f->opd);
	opd_init(&f->opd);
	f->opd.options = options;
	if (opd_extended_init(&f->opd.extended, options.ext_features,
			      options.source, &f->opd.options.events, &diag))
		fail_msg("%s", diag.text);
	start_daemon(f, &test_replay);
}

/* Handle the words so far; what is left of them stays in @w. */
static void run_whole(struct fixture *f, struct words *w)
{
	size_t used = opd_trans_run(&f->opd, w->word, w->nr);

	memmove(w->word, w->word + used, (w->nr - used) * sizeof(w->word[0]));
	w->nr -= used;
}

/* The lines of the file @path, from the one that begins with @from on. */
static void show_lines(const char *path, const char *from, FILE *out)
{
	char *line = NULL;
	bool begun = false;
	size_t room = 0;
	FILE *file = fopen(path, "r");

	assert_non_null(file);
	while (getline(&line, &room, file) >= 0) {
		begun |= !strncmp(line, from, strlen(from));
		if (begun)
			fputs(line, out);
	}
	fclose(file);
	free(line);
}

static void show_statistics(struct fixture *f, const char *from, FILE *out)
{
	/* Only what this call writes. */
	assert_int_equal(truncate(f->opd.session.log, 0), 0);
	opd_log_statistics(&f->opd);
	show_lines(f->opd.session.log, from, out);
}

/* Each line without its time. */
static void show_log(struct fixture *f, FILE *out)
{
	char line[4096];
	FILE *file = fopen(f->opd.session.log, "r");

	assert_non_null(file);
	while (fgets(line, sizeof(line), file)) {
		assert_true(strlen(line) > 20 && line[13] == ':');
		fputs(line + 20, out);
	}
	fclose(file);
	assert_int_equal(truncate(f->opd.session.log, 0), 0);
}

static void show_status(struct fixture *f, FILE *out)
{
	struct opd_answer *answer = calloc(1, sizeof(*answer));
	struct op_diag diag = { "" };
	char request[] = "status", *rest;

	assert_non_null(answer);
	if (!f->opd.loop.words)
		f->opd.loop.words = malloc(OPD_CHUNK_WORDS * sizeof(uint64_t));
	assert_int_equal(opd_command_run(&f->opd, request, answer, &diag), 0);
	for (char *line = strtok_r(answer->text, "\n", &rest); line;
	     line = strtok_r(NULL, "\n", &rest))
		if (strncmp(line, " pid", 4) != 0 &&
		    strncmp(line, " session-dir", 12) != 0)
			fprintf(out, "%s\n", line + 1);
	free(answer);
}

static void show_text(struct fixture *f, const char *name, FILE *out)
{
	char path[8192];

	opd_sfiles_sync(&f->opd.store);
	snprintf(path, sizeof(path), "%s/%s", f->opd.session.samples, name);
	show_lines(path, "", out);
}

/* False if @line is none of those that are no words of the stream. */
static bool do_command(struct fixture *f, struct words *w, const char *line,
		       FILE *out)
{
	static const char *const commands[] = {
		"show", "restart", "reset",   "save ",	"stats ",
		"cat ", "log",	   "rm ",     "mkdir ", "rmdir ",
		"sync", "status",  "headers",
	};
	struct op_diag diag = { "" };
	char path[8192];
	const char *arg;
	size_t i = 0;

	while (i < NR(commands) &&
	       strncmp(line, commands[i], strlen(commands[i])))
		i++;
	if (i == NR(commands))
		return false;
	arg = line + strlen(commands[i]);
	sample_path(f, arg, path, sizeof(path));
	run_whole(f, w);
	switch (i) {
	case 0:
		show_all(f, out);
		break;
	case 1:
		restart_with(f);
		break;
	case 2:
		assert_int_equal(opd_command_reset(&f->opd, &diag), 0);
		break;
	case 3:
		assert_int_equal(opd_command_save(&f->opd, arg, &diag), 0);
		break;
	case 4:
		show_statistics(f, arg, out);
		break;
	case 5:
		show_text(f, arg, out);
		break;
	case 6:
		show_log(f, out);
		break;
	case 7:
		assert_int_equal(unlink(path), 0);
		break;
	case 8:
		assert_int_equal(op_make_parents(path, 0755), 0);
		assert_int_equal(mkdir(path, 0755), 0);
		break;
	case 9:
		assert_int_equal(rmdir(path), 0);
		break;
	case 10:
		opd_sfiles_sync(&f->opd.store);
		opd_trees_sync(&f->opd.store);
		break;
	case 11:
		show_status(f, out);
		break;
	case 12:
		show_each(f, out, show_header);
		break;
	}
	return true;
}

/* Replay @start and the script of @row; print what comes of it to @out. */
__attribute__((unused)) static void run_stream(const struct row *row,
					       const char *start, FILE *out)
{
	struct fixture *f = new_with(row->given);
	struct words *w = calloc(1, sizeof(*w));
	const char *at = row->script;
	char line[8192];

	assert_non_null(w);
	put_text(w, start);
	while (next_line(&at, line, sizeof(line)))
		if (!do_command(f, w, line, out))
			put_line(w, line);
	run_words(f, w);
	show_all(f, out);
	free(w);
	free_with(f);
}

#endif /* TESTS_UNIT_OPD_ROWS_H */
