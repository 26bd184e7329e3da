// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The sum of sessions of several machines: what their files are called in it,
 * what is in them, which header stands for all, accounts and links, and which
 * sessions are left out. A row is a script that makes sessions, those to add
 * up, and all that is in the sum.
 */

/* What a row of a table does not name is zero. */
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

#include "tests/unit/pp_session.h"

#include "libdb/pack.h"
#include "libop/session/op_tasks.h"
#include "libpp/merge/merge_work.h"

struct merge_row {
	const char *name, *script, *sessions, *wanted;
};

/* ---- making sessions ----------------------------------------------------- */

/* @nr files of one name but for the numbers of threads, of one count each. */
static void write_threads(const char *session, const char *kind, int nr)
{
	char line[128];

	for (int i = 1; i <= nr; i++) {
		snprintf(line, sizeof(line),
			 !strcmp(kind, "stacks") ? "%s x E.7.%d 1:x+%d"
						 : "%s x x E.7.%d %d=1",
			 session, i, i % 2);
		if (!strcmp(kind, "stacks"))
			write_tree(line);
		else
			write_samples(line);
	}
}

static void write_link(const char *session, const char *link, const char *file)
{
	struct op_tasks tasks = { 0 };
	char path[128];

	snprintf(path, sizeof(path), "samples/%s/tasks", session);
	assert_int_equal(op_make_parents(path, 0755), 0);
	op_tasks_read(&tasks, path, NULL);
	assert_int_equal(op_tasks_link(&tasks, link, file), 0);
	assert_int_equal(op_tasks_write(&tasks, path, NULL), 0);
	op_tasks_release(&tasks);
}

static void make_merged_line(const char *line, void *ctx)
{
	const char *words[24] = { NULL }, *rest = strchr(line, ' ');
	char copy[256];

	(void)ctx;
	split_words(line, copy, words, NR(words));
	if (!strcmp(words[0], "samples"))
		write_samples(rest + 1);
	else if (!strcmp(words[0], "tree"))
		write_tree(rest + 1);
	else if (!strcmp(words[0], "threads") || !strcmp(words[0], "stacks"))
		write_threads(words[1], words[0], atoi(words[2]));
	else if (!strcmp(words[0], "khz"))
		made_header.cpu_khz = (uint32_t)atoi(words[1]);
	else if (!strcmp(words[0], "derived"))
		derive_header((uint64_t)atoi(words[1]));
	else if (!strcmp(words[0], "version"))
		made_header.version = (uint32_t)atoi(words[1]);
	else if (!strcmp(words[0], "ledger"))
		write_ledger_at(words[1], strtoull(words[2], NULL, 10),
				atoi(words[3]));
	else if (!strcmp(words[0], "link"))
		write_link(words[1], words[2], words[3]);
	else if (!strcmp(words[0], "text"))
		write_text(words[1], words[2]);
	else if (!strcmp(words[0], "rename"))
		assert_int_equal(rename(words[1], words[2]), 0);
	else
		fail_msg("%s: no such word", line);
}

/* ---- what the sum holds -------------------------------------------------- */

static void write_header_of_sum(FILE *out, const struct op_sample_header *h)
{
	if (h->cpu_khz)
		fprintf(out, " khz %u", h->cpu_khz);
	if (h->derived)
		fprintf(out, " samples %d", (int)h->samples);
	if (h->anon_start)
		fprintf(out, " start 0x%x", (unsigned int)h->anon_start);
}

static void write_table_of_sum(FILE *out, const struct pack *pack,
			       const struct pack_entry *entry)
{
	uint64_t key, count, next = 0, least;
	struct odb *odb;

	assert_int_equal(pack_table(pack, entry, &odb), 0);
	/* In the order of keys, of which there are few. */
	for (uint64_t i = 0; i < entry->nr; i++) {
		least = UINT64_MAX;
		for (size_t at = 0; odb_next(odb, &at, &key, &count);)
			if (key >= next && key < least)
				least = key;
		fprintf(out, " %llx=%llu", (unsigned long long)least,
			(unsigned long long)odb_get(odb, least));
		next = least + 1;
	}
	odb_close(odb);
}

/* " NODE<PARENT:IMAGE+OFFSET=COUNT". */
static void write_tree_of_sum(FILE *out, const struct pack *pack,
			      const struct pack_entry *entry)
{
	char name[OP_TREE_IMAGE_MAX];
	struct op_tree_image image;
	struct ctree_node node;
	struct ctree *tree;
	const void *bytes;
	size_t len;

	assert_int_equal(pack_tree(pack, entry, &tree), 0);
	for (uint32_t i = 1; i <= ctree_nr_nodes(tree); i++) {
		ctree_node(tree, i, &node);
		bytes = ctree_image_bytes(tree, node.image, &len);
		assert_int_equal(op_tree_image_decode(&image, bytes, len, name,
						      sizeof(name), NULL),
				 0);
		fprintf(out, " %u<%u:%s+%llx=%llu", i, node.parent,
			image.name.name, (unsigned long long)node.offset,
			(unsigned long long)node.count);
		if (image.name.space == OP_SPACE_ANON)
			fprintf(out, "(%d.%llx.%llx)", (int)image.name.tgid,
				(unsigned long long)image.name.start,
				(unsigned long long)image.name.end);
	}
	ctree_close(tree);
}

static void write_text_of_sum(FILE *out, const char *path)
{
	struct stat st;

	if (stat(path, &st))
		return;
	fprintf(out, "%s", path);
	if (st.st_mtime < 100000)
		fprintf(out, " of %d", (int)st.st_mtime);
	fprintf(out, "\n%s", text_of(path));
}

/* Returns the memory that adding up the sum takes. */
static uint64_t write_merged_session(FILE *out)
{
	uint64_t nr_files, most_keys = 0;
	struct pack *pack;

	assert_int_equal(pack_open(&pack, "sum/packed"), 0);
	for (size_t i = 0; i < pack_nr(pack); i++) {
		const struct pack_entry *entry = pack_entry(pack, i);

		if (entry->nr > most_keys)
			most_keys = entry->nr;
		fprintf(out, "%s:", entry->name);
		write_header_of_sum(out, entry->user);
		if (entry->kind == PACK_TREE)
			write_tree_of_sum(out, pack, entry);
		else
			write_table_of_sum(out, pack, entry);
		fputc('\n', out);
	}
	nr_files = pack_nr(pack);
	pack_close(pack);
	write_text_of_sum(out, "sum/ledger");
	write_text_of_sum(out, "sum/tasks");
	return merge_memory_of(nr_files, most_keys);
}

/* ---- merging ------------------------------------------------------------- */

#define MAX_SESSIONS 4

/* A session that begins with '+' is the sum of others. */
static size_t find_items(const char *const *words, struct merge_item *items,
			 struct merge_archive *archives, char paths[][64])
{
	size_t nr = 0;

	for (; words[nr]; nr++) {
		bool is_sum = *words[nr] == '+';

		assert_true(nr < MAX_SESSIONS);
		snprintf(paths[nr], 64, "samples/%s", words[nr] + is_sum);
		archives[nr].path = words[nr];
		items[nr] = (struct merge_item){
			.archive = is_sum ? NULL : &archives[nr],
			.path = paths[nr],
		};
	}
	return nr;
}

static void merge_and_write(FILE *out, const struct merge_row *row)
{
	struct merge_archive archives[MAX_SESSIONS] = { 0 };
	struct merge_item items[MAX_SESSIONS];
	char paths[MAX_SESSIONS][64], copy[256];
	const char *words[MAX_SESSIONS + 1] = { NULL };
	struct pp_merge merge = { .messages = { .arena = &merge.arena } };
	const struct pp_merge_request request = { .threads = 1 };
	struct merge_work work = {
		.scratch = ".",
		.request = &request,
		.merge = &merge,
		.lock = PTHREAD_MUTEX_INITIALIZER,
	};
	struct op_diag why = { "" };
	uint64_t memory = 0;
	size_t nr;
	int err;

	op_arena_init(&merge.arena);
	split_words(row->sessions, copy, words, NR(words));
	nr = find_items(words, items, archives, paths);
	err = merge_run(&work, items, nr, "sum", 0, &memory, &why);
	if (err)
		fprintf(out, "%s: %s\n", strerror(-err), why.text);
	else
		assert_int_equal(memory, write_merged_session(out));
	write_messages(out, &merge.messages);
	if (merge.nr_left_out)
		fprintf(out, "%zu left out\n", merge.nr_left_out);
	if (err)
		assert_int_not_equal(access("sum", F_OK), 0);
	assert_int_not_equal(access("part-0", F_OK), 0);
	assert_int_not_equal(access("total-0", F_OK), 0);
	op_arena_release(&merge.arena);
}

/* clang-format off */
static const struct merge_row merge_rows[] = {
	{ "one session",
	  "samples a x x E 1=5 2=3;tree a x E 2:x+1>y+2",
	  "a", EXPECTED_ROW },
	{ "two sessions",
	  "samples a x x E 1=5 2=3;samples b x x E 2=4 3=1;samples b y y E 1=1",
	  "a b", EXPECTED_ROW },
	{ "numbers of tasks are not kept",
	  "samples a x x E.7.8 1=5;samples a x x E.7.9 1=3;samples b x x E 1=2",
	  "a b",
	  "{root}/bin/x/{dep}/{root}/bin/x/E.100.0.all.all.all: 1=10\n" },
	{ "anonymous memory has no places",
	  "samples a x a E 1=5 9=3;samples b x a E 4=1",
	  "a b",
	  "{root}/bin/x/{dep}/{anon:anon}/0.0x0.0xffffffff/E.100.0.all.all.all: 0=9\n" },
	{ "calls from anonymous memory",
	  "samples a x a>y E 1>2=5 9>2=3 1>3=1",
	  "a",
	  "{root}/bin/x/{dep}/{anon:anon}/0.0x0.0xffffffff/{cg}/{root}/bin/y/E.100.0.all.all.all: 2=8 3=1\n" },
	{ "calls to anonymous memory",
	  "samples a x y>a E 1>2=5 1>9=3 2>9=1",
	  "a",
	  "{root}/bin/x/{dep}/{root}/bin/y/{cg}/{anon:anon}/0.0x0.0xffffffff/E.100.0.all.all.all: 100000000=8 200000000=1\n" },
	{ "calls in anonymous memory",
	  "samples a x a>a E 1>2=5 3>4=1",
	  "a",
	  "{root}/bin/x/{dep}/{anon:anon}/0.0x0.0xffffffff/{cg}/{anon:anon}/0.0x0.0xffffffff/E.100.0.all.all.all: 0=6\n" },
	{ "calls between files",
	  "samples a x x>y E 1>2=5 3>4=1",
	  "a",
	  "{root}/bin/x/{dep}/{root}/bin/x/{cg}/{root}/bin/y/E.100.0.all.all.all: 100000002=5 300000004=1\n" },
	{ "an application in anonymous memory",
	  "samples a a x E 1=5 2=1",
	  "a",
	  "{anon:anon}/0.0x0.0xffffffff/{dep}/{root}/bin/x/E.100.0.all.all.all: 1=5 2=1\n" },
	{ "trees",
	  "tree a x E 2:x+1>y+2 3:x+1;tree b x E 4:x+1>y+2 1:y+5",
	  "a b",
	  "{root}/bin/x/{tree}/E.100.0.all.all.all: 1<0:/bin/x+1=3 2<1:/bin/y+2=6 3<0:/bin/y+5=1\n" },
	{ "anonymous memory in trees",
	  "tree a x E 2:x+1>a+2 3:x+1>a+9>y+1;tree b x E 4:a+7",
	  "a b",
	  "{root}/bin/x/{tree}/E.100.0.all.all.all: 1<0:anon+0=4(0.0.ffffffff) 2<0:/bin/x+1=0 3<2:anon+0=2(0.0.ffffffff) 4<3:/bin/y+1=3\n" },
	{ "as many parts as fit",
	  "threads a 64;stacks a 64",
	  "a", EXPECTED_ROW },
	{ "more parts than fit",
	  "threads a 65;stacks a 65",
	  "a", EXPECTED_ROW },
	{ "many more",
	  "threads a 200;stacks a 200",
	  "a", EXPECTED_ROW },
	{ "the least header stands for all",
	  "khz 5;samples a x x E 1=1;khz 3;samples b x x E 1=1;khz 4;samples c x x E 1=1",
	  "a b c",
	  "{root}/bin/x/{dep}/{root}/bin/x/E.100.0.all.all.all: khz 3 1=3\n" },
	{ "the first header may be the least",
	  "khz 3;samples a x x E 1=1;khz 4;samples b x x E 1=1",
	  "a b",
	  "{root}/bin/x/{dep}/{root}/bin/x/E.100.0.all.all.all: khz 3 1=2\n" },
	{ "samples of derived files add up",
	  "derived 4;samples a x x E 1=10;derived 6;samples b x x E 1=20",
	  "a b",
	  "{root}/bin/x/{dep}/{root}/bin/x/E.100.0.all.all.all: samples 10 1=30\n" },
	{ "accounts",
	  "samples a x x E 1=5;samples b x x E 1=5;ledger samples/a/ledger 7 1000;ledger samples/b/ledger 9 2000",
	  "a b", EXPECTED_ROW },
	{ "accounts, the later one first",
	  "samples a x x E 1=5;samples b x x E 1=5;ledger samples/a/ledger 7 2000;ledger samples/b/ledger 9 1000",
	  "a b", EXPECTED_ROW },
	{ "an account that is missing",
	  "samples a x x E 1=5;samples b x x E 1=5;ledger samples/a/ledger 7 1000",
	  "a b",
	  "{root}/bin/x/{dep}/{root}/bin/x/E.100.0.all.all.all: 1=10\n" },
	{ "a damaged account",
	  "samples a x x E 1=5;samples b x x E 1=3;ledger samples/a/ledger 7 1000;text samples/b/ledger x",
	  "a b", EXPECTED_ROW },
	{ "links",
	  "samples a x x E 1=5;samples b x x E 1=5;link a /bin/l /bin/x;link b /bin/k /bin/y;link b /bin/l /bin/a",
	  "a b", EXPECTED_ROW },
	{ "damaged links",
	  "samples a x x E 1=5;samples b x x E 1=3;text samples/a/tasks link",
	  "a b", EXPECTED_ROW },
	{ "a damaged file",
	  "samples a x x E 1=5;samples b x x E 1=3;text samples/b/{root}/bin/x/{dep}/{root}/bin/x/E.100.0.all.all.all x",
	  "a b", EXPECTED_ROW },
	{ "a header of another version",
	  "samples a x x E 1=5;version 2;samples b x x E 1=3",
	  "a b", EXPECTED_ROW },
	{ "a name of no sample file",
	  "samples a x x E 1=5;samples b x x E 1=3;text samples/b/{root}/strange x",
	  "a b", EXPECTED_ROW },
	{ "files that were set aside",
	  "samples a x x E 1=5;text samples/a/{root}/bin/x/E.bad x;text samples/a/{root}/bin/x/E.stale x",
	  "a",
	  "{root}/bin/x/{dep}/{root}/bin/x/E.100.0.all.all.all: 1=5\n" },
	{ "files that were set aside once more",
	  "samples a x x E 1=5;text samples/a/{root}/bin/x/E.bad-12 x;text samples/a/{root}/bin/x/E.bad.2 x;text samples/a/{root}/bin/x/E.stale.3 x",
	  "a",
	  "{root}/bin/x/{dep}/{root}/bin/x/E.100.0.all.all.all: 1=5\n" },
	{ "programs that are called like these",
	  "samples a x.stale x.bad E 1=5;samples a y.stale.2 y E 1=3",
	  "a", EXPECTED_ROW },
	{ "a damaged pack",
	  "samples a x x E 1=5;samples b x x E 1=3;text samples/b/packed x",
	  "a b", EXPECTED_ROW },
	{ "no session is left",
	  "samples a x x E 1=5;text samples/a/packed x",
	  "a", EXPECTED_ROW },
	{ "a session that is missing",
	  "samples a x x E 1=5",
	  "a b", EXPECTED_ROW },
	{ "a damaged sum ends all",
	  "samples a x x E 1=5;samples b x x E 1=3;text samples/b/packed x",
	  "a +b",
	  "Bad message: samples/b: Bad message\n" },
	{ "a name in a sum is as it is",
	  "samples a x x E.7.8 1=5",
	  "+a",
	  "{root}/bin/x/{dep}/{root}/bin/x/E.100.0.7.8.all: 1=5\n" },
	{ "files that nothing was counted in",
	  "samples a x x E;samples a y y E 1=1",
	  "a", EXPECTED_ROW },
};
/* clang-format on */

TEST(sessions_are_added_up)
{
	const struct op_sample_header usual = made_header;

	for (size_t i = 0; i < NR(merge_rows); i++) {
		const struct merge_row *row = &merge_rows[i];
		struct text text;
		void *folder = NULL;

		assert_int_equal(enter_folder(&folder), 0);
		run_script(row->script, make_merged_line, NULL);
		merge_and_write(text_begin(&text), row);
		text_must_be(&text, row->name, row->wanted);
		made_header = usual;
		assert_int_equal(leave_folder(&folder), 0);
	}
}

/* ---- names --------------------------------------------------------------- */

#define OF_CGROUP(app) app "/{cgroup}/a/{dep}/{root}/bin/x/"

/* An archive that has the hash of bin/x and no other. */
TEST(names_are_those_of_any_machine)
{
	static const struct {
		const char *name, *wanted; /* NULL: it is refused */
		bool keeps_cgroups, has_archive, changes;
	} rows[] = {
		{ "{root}/bin/x/{dep}/{root}/bin/x/E.1.0.7.8.9",
		  "{root}/bin/x/{dep}/{root}/bin/x/E.1.0.all.all.all" },
		{ OF_CGROUP("{root}/bin/x") "E.1.0.all.all.all",
		  "{root}/bin/x/{dep}/{root}/bin/x/E.1.0.all.all.all" },
		{ OF_CGROUP("{root}/bin/x") "E.1.0.all.all.9",
		  OF_CGROUP("{root}/bin/x") "E.1.0.all.all.all",
		  .keeps_cgroups = true },
		{ "{root}/bin/x/{tree}/E.1.0.7.all.all",
		  "{root}/bin/x/{tree}/E.1.0.all.all.all", .changes = true },
		{ "{anon:a}/7.0x1.0x2/{dep}/{root}/bin/x/E.1.0.all.all.all",
		  "{anon:a}/0.0x0.0xffffffff/{dep}/{root}/bin/x/E.1.0.all.all.all",
		  .changes = true },
		{ "{root}/bin/x/{dep}/{root}/bin/x/{cg}/{anon:a}/7.0x1.0x2/E.1.0.all.all.all",
		  "{root}/bin/x/{dep}/{root}/bin/x/{cg}/{anon:a}/0.0x0.0xffffffff/E.1.0.all.all.all",
		  .changes = true },
		/* The hash takes the place of what is told by a file system. */
		{ "{root}/bin/x/{dep}/{root}/bin/x/{build:file-5-6-7f}/E.1.0.all.all.all",
		  "{root}/bin/x/{dep}/{root}/bin/x/{build:file-1-2-7f}/E.1.0.all.all.all",
		  .has_archive = true },
		{ "{root}/bin/x/{dep}/{root}/bin/x/{build:file-5-6-7f}/{cg}/{root}/bin/x/{build:file-8-9-a}/E.1.0.all.all.all",
		  "{root}/bin/x/{dep}/{root}/bin/x/{build:file-1-2-7f}/{cg}/{root}/bin/x/{build:file-1-2-a}/E.1.0.all.all.all",
		  .has_archive = true },
		{ "{root}/bin/x/{dep}/{root}/bin/x/{build:file-5-6-7f}/E.1.0.all.all.all",
		  "{root}/bin/x/{dep}/{root}/bin/x/{build:file-5-6-7f}/E.1.0.all.all.all" },
		{ "{root}/bin/x/{dep}/{root}/bin/y/{build:file-5-6-7f}/E.1.0.all.all.all",
		  "{root}/bin/x/{dep}/{root}/bin/y/{build:file-5-6-7f}/E.1.0.all.all.all",
		  .has_archive = true },
		{ "{root}/bin/x/{dep}/{root}/bin/x/{build:0a}/E.1.0.all.all.all",
		  "{root}/bin/x/{dep}/{root}/bin/x/{build:0a}/E.1.0.all.all.all",
		  .has_archive = true },
		{ "{root}/bin/x/E.1.0.all.all.all", NULL },
	};
	struct pp_sum sum = { .name = "bin/x" };
	const struct pp_archive archive = { .sums = { .list = &sum, .nr = 1 } };
	const uint64_t hash[] = { 1, 2 };
	char *buf = malloc(OP_MANGLE_MAX);

	assert_non_null(buf);
	memcpy(sum.hash, hash, sizeof(hash));
	for (size_t i = 0; i < NR(rows); i++) {
		const struct merge_work work = {
			.keep_cgroups = rows[i].keeps_cgroups
		};
		struct op_diag why = { "" };
		bool changes;
		int err =
			merge_name(&work, rows[i].has_archive ? &archive : NULL,
				   rows[i].name, buf, &changes, &why);

		assert_int_equal(err, rows[i].wanted ? 0 : -EINVAL);
		if (err)
			continue;
		assert_string_equal(buf, rows[i].wanted);
		if (changes != rows[i].changes)
			fail_msg("%s", rows[i].name);
	}
	free(buf);
}
