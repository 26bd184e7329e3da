// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A session whose disk loses its power, at random steps of a daemon that
 * counts, brings its counts to the disk, and packs, or keeps a history. What
 * was brought to the disk is there afterwards, whatever pages came to the disk
 * later and in which order. POWER_CUTS says how many cuts of each (120).
 */
#include "daemon/opd_reading.h"
#include "tests/unit/opd_history_fixture.h"
#include "power_disk.h"

#include "libop/session/op_sample_file.h"
#include "libop/session/op_tree_image.h"

#define NR_IMAGES 3
#define NR_KEYS 400
#define TREE "{root}/bin/t/{tree}/TIMER.0.0.all.all.all"
#define NR_STACKS 300
/* Nothing is dropped. */
#define HISTORY "1G,minute:3m,hour:90d"

/* What was counted, and how much of that was acknowledged. */
struct counted {
	uint64_t keys[NR_IMAGES][NR_KEYS];
	uint64_t stacks; /* in the call tree */
};

struct world {
	bool has_history;
	struct fixture *f;
	struct counted now, acknowledged;
	struct ctree *tree;
	unsigned int nr_cuts, wanted;
	unsigned int one_in; /* steps are cut */
	unsigned int nr_torn, nr_lost; /* after which this was so */
	unsigned int nr_in_spans, nr_unfinished; /* likewise */
};

static const char *const paths[NR_IMAGES] = { "/bin/a", "/bin/b", "/bin/c" };

/* ---- after the cut ---------------------------------------------------------
 */

/* What is found in a folder. */
struct found {
	struct db_folder *folder;
	struct counted all;
	unsigned int nr_torn;
	unsigned int nr_refused;
	unsigned int nr_spans;
	unsigned int nr_unfinished; /* of these */
};

static void find_table(struct found *found, const struct db_member *member)
{
	uint64_t key, count;
	struct odb *odb;
	int image = member->name[strlen("{root}/bin/")] - 'a';

	/* What the next daemon counted. */
	if (image < 0 || image >= NR_IMAGES)
		return;
	if (db_folder_table(found->folder, member, &odb)) {
		found->nr_refused++;
		return;
	}
	found->nr_torn += odb_is_torn(odb);
	for (size_t at = 0; odb_next(odb, &at, &key, &count);) {
		/* Nothing is made up. */
		assert_in_range(key, 1, NR_KEYS);
		found->all.keys[image][key - 1] += count;
	}
	odb_close(odb);
}

/* Else no report can have any of the tree. */
static void must_be_description(const struct ctree *tree, uint32_t number)
{
	char name[OP_TREE_IMAGE_MAX];
	struct op_diag diag = { "" };
	struct op_tree_image image;
	size_t len;
	const void *bytes = ctree_image_bytes(tree, number, &len);

	if (op_tree_image_decode(&image, bytes, len, name, sizeof(name), &diag))
		fail_msg("image %u: %s", number, diag.text);
}

static void find_tree(struct found *found, const struct db_member *member)
{
	struct ctree_node node;
	struct ctree *tree;

	if (db_folder_tree(found->folder, member, &tree)) {
		found->nr_refused++;
		return;
	}
	found->nr_torn += ctree_is_torn(tree);
	for (uint32_t i = 1; i <= ctree_nr_images(tree); i++)
		must_be_description(tree, i);
	for (uint32_t i = 1; i <= ctree_nr_nodes(tree); i++) {
		ctree_node(tree, i, &node);
		found->all.stacks += node.count;
	}
	ctree_close(tree);
}

static int find_member(const struct db_member *member, void *ctx)
{
	if (op_sample_file_is_set_aside(member->name))
		return 0;
	if (strstr(member->name, "{tree}"))
		find_tree(ctx, member);
	else
		find_table(ctx, member);
	return 0;
}

static void find_in(struct found *found, const char *dir)
{
	const struct db_visitor visitor = { .member = find_member,
					    .ctx = found };

	assert_int_equal(db_folder_open(&found->folder, dir), 0);
	assert_int_equal(db_folder_each(found->folder, &visitor), 0);
	db_folder_close(found->folder);
}

/* In session folder @dir and the spans of its history. */
static struct found find_all(const char *dir)
{
	struct found found = { .nr_torn = 0 };
	char name[OP_SPAN_NAME_MAX], path[8192];
	struct op_span *spans;
	size_t nr;

	assert_int_equal(op_spans_list(dir, &spans, &nr), 0);
	for (size_t i = 0; i < nr; i++) {
		op_span_name(&spans[i], name);
		snprintf(path, sizeof(path), "%s/%s", dir, name);
		found.nr_spans++;
		found.nr_unfinished += spans[i].state != OP_SPAN_CLOSED;
		if (op_span_counts(&spans[i]))
			find_in(&found, path);
	}
	free(spans);
	find_in(&found, dir);
	return found;
}

static void must_have_acknowledged(const struct world *w,
				   const struct counted *found)
{
	for (int i = 0; i < NR_IMAGES; i++)
		for (int key = 0; key < NR_KEYS; key++)
			if (found->keys[i][key] <
				    w->acknowledged.keys[i][key] ||
			    found->keys[i][key] > w->now.keys[i][key])
				fail_msg(
					"cut %u: %s, key %d: %lu, not %lu to %lu",
					w->nr_cuts, paths[i], key + 1,
					found->keys[i][key],
					w->acknowledged.keys[i][key],
					w->now.keys[i][key]);
	if (found->stacks < w->acknowledged.stacks ||
	    found->stacks > w->now.stacks)
		fail_msg("cut %u: %lu stacks, not %lu to %lu", w->nr_cuts,
			 found->stacks, w->acknowledged.stacks, w->now.stacks);
}

static void pack_all(struct fixture *f)
{
	struct opd_packer packer;

	opd_sfiles_drop_all(&f->opd.store);
	assert_int_equal(go(f, &packer, TIDY), 0);
	opd_packer_cancel(&packer);
}

/* A report reads the folder, then a daemon goes on with it and packs all. */
static void look_after_cut(struct world *w)
{
	struct fixture *after = new_fixture();
	struct found found;
	char dir[8192];

	snprintf(dir, sizeof(dir), "%s/samples/current", after->dir);
	assert_int_equal(op_make_parents(dir, 0755), 0);
	mkdir(dir, 0755);
	power_cut(dir);
	found = find_all(dir);
	w->nr_torn += found.nr_torn != 0;
	w->nr_lost += found.nr_refused != 0;
	w->nr_in_spans += found.nr_spans != 0;
	w->nr_unfinished += found.nr_unfinished != 0;
	must_have_acknowledged(w, &found.all);
	start_daemon(after, &test_replay);
	if (w->has_history)
		keep(after, HISTORY);
	take(after, "/bin/new", 1);
	if (w->has_history) {
		close_span(after);
		must_tend(after);
	} else {
		pack_all(after);
	}
	found = find_all(dir);
	assert_int_equal(found.nr_refused, 0);
	must_have_acknowledged(w, &found.all);
	free_fixture(after);
}

/* Each step of the disk is one at which it may lose its power. */
static void may_cut(void *ctx)
{
	struct world *w = ctx;

	if (w->nr_cuts == w->wanted || power_random(w->one_in))
		return;
	w->nr_cuts++;
	/* What is done then is not watched. */
	power.step = NULL;
	{
		const char *folder = power.folder;

		power.folder = NULL;
		look_after_cut(w);
		power.folder = folder;
	}
	power.step = may_cut;
}

/* ---- before -----------------------------------------------------------------
 */

static void open_tree(struct world *w)
{
	char path[8192];
	struct op_sample_header header = {
		.magic = OP_SAMPLE_MAGIC,
		.version = OP_SAMPLE_VERSION,
		.cpu_type = "timer",
	};

	snprintf(path, sizeof(path), "%s/" TREE, w->f->opd.session.current);
	assert_int_equal(op_make_parents(path, 0755), 0);
	assert_int_equal(ctree_open(&w->tree, path, ODB_RDWR), 0);
	memcpy(ctree_user(w->tree), &header, sizeof(header));
}

static void count_stack(struct world *w)
{
	char path[1024] = "/", bytes[OP_TREE_IMAGE_MAX];
	struct op_tree_image image = {
		.name = { .space = OP_SPACE_ROOT, .name = path },
		.build_id.len = 20,
	};
	uint32_t number, node = CTREE_ROOT;
	uint64_t kind = power_random(NR_STACKS);
	int len;

	/* Some of them are in several sectors. */
	memset(path + 1, 'x', kind % 10 ? kind : 1000);
	len = op_tree_image_encode(&image, bytes, sizeof(bytes));
	assert_int_equal(ctree_image(w->tree, bytes, (size_t)len, &number), 0);
	for (uint64_t depth = 0; depth < 1 + kind % 5; depth++)
		assert_int_equal(ctree_child(w->tree, node, number,
					     kind / (depth + 1) + 1, &node),
				 0);
	assert_int_equal(ctree_add(w->tree, node, 1), 0);
	w->now.stacks++;
}

static void count_sample(struct world *w)
{
	uint64_t image = power_random(NR_IMAGES);
	uint64_t key = power_random(NR_KEYS);

	w->now.keys[image][key]++;
	take_at(w->f, paths[image], 0, key + 1, 1);
}

/* Dump like opd_reading_dump(). */
static void dump(struct world *w)
{
	struct found found;

	opd_sfiles_sync(&w->f->opd.store);
	syncfs(-1);
	w->acknowledged = w->now;
	found = find_all(w->f->opd.session.current);
	assert_int_equal(found.all.stacks, w->now.stacks);
}

static void pack_session(struct world *w)
{
	ctree_close(w->tree);
	pack_all(w->f);
	open_tree(w);
}

/* Spans become minutes, and minutes become hours. */
static void make_history(struct world *w)
{
	now += 20 + (time_t)power_random(60);
	if (!power_random(15)) {
		ctree_close(w->tree);
		close_span(w->f);
		open_tree(w);
	}
	if (!power_random(60)) {
		now += 10 * MINUTE;
		must_tend(w->f);
	}
}

/* One daemon from its start to its last cut. */
static void live(struct world *w, uint64_t seed)
{
	unsigned int before = w->nr_cuts;

	w->f = w->has_history ? new_history(HISTORY) : new_replay();
	memset(&w->now, 0, sizeof(w->now));
	memset(&w->acknowledged, 0, sizeof(w->acknowledged));
	power_watch(w->f->opd.session.current, seed);
	power.step = may_cut;
	power.ctx = w;
	open_tree(w);
	while (w->nr_cuts < w->wanted && w->nr_cuts < before + 25) {
		for (uint64_t i = 0; i < 30; i++) {
			count_sample(w);
			count_stack(w);
		}
		power_step();
		if (!power_random(6))
			dump(w);
		if (w->has_history)
			make_history(w);
		else if (!power_random(40))
			pack_session(w);
	}
	power.step = NULL;
	ctree_close(w->tree);
	power_forget();
	free_fixture(w->f);
}

static void lose_power(bool has_history)
{
	const char *text = getenv("POWER_CUTS");
	struct world *w = calloc(1, sizeof(*w));

	assert_non_null(w);
	w->has_history = has_history;
	w->wanted = text ? (unsigned int)strtoul(text, NULL, 10) : 120;
	w->one_in = 8;
	for (uint64_t seed = 1; w->nr_cuts < w->wanted; seed++)
		live(w, seed);
	print_message(
		"%u cuts; after %u a file was torn, after %u one that was new was lost; %u in a history, %u of these while a span was made or removed\n",
		w->nr_cuts, w->nr_torn, w->nr_lost, w->nr_in_spans,
		w->nr_unfinished);
	/* Else it tests nothing. */
	assert_true(w->nr_torn > w->wanted / 20);
	assert_true(!has_history || w->nr_unfinished > w->wanted / 20);
	free(w);
}

TEST(what_was_acknowledged_survives)
{
	lose_power(false);
}

TEST(a_history_survives)
{
	lose_power(true);
}

BEFORE_TESTS()
{
	setenv("TZ", "UTC0", 1);
}
