// SPDX-License-Identifier: GPL-2.0-or-later
/* The cache of sample files: which are the same, which go first, what fails. */

#include "libop/files/op_folder.h"
#include "tests/unit/opd_fixture.h"
#include "tests/unit/rows.h"

static struct cache {
	struct fixture *f;
	struct opd_store *store;
	const struct opd_store_client *client; /* the daemon's */
	unsigned int nr_dropped, nr_synced, nr_seen;
	struct opd_sfile *dropped; /* the last */
} cache;

static void on_drop(void *ctx, struct opd_sfile *sfile)
{
	cache.nr_dropped++;
	cache.dropped = sfile;
	cache.client->drop_sfile(ctx, sfile);
}

static void on_sync(void *ctx, struct opd_sfile *sfile)
{
	cache.nr_synced++;
	cache.client->sync_sfile(ctx, sfile);
}

static void on_see(void *ctx, struct opd_image *image)
{
	cache.nr_seen++;
	cache.client->see_image(ctx, image);
}

/* With three counters, of which the second is not set. */
static int begin(void **state)
{
	static struct opd_store_client client;
	struct op_diag diag = { "" };

	(void)state;
	memset(&cache, 0, sizeof(cache));
	cache.f = new_replay();
	cache.store = &cache.f->opd.store;
	cache.client = cache.store->client;
	client = (struct opd_store_client){ &cache.f->opd, on_drop, on_sync,
					    on_see,
					    cache.client->report_packing };
	cache.store->client = &client;
	return opd_events_parse(&cache.f->opd.events,
				"A:1:0:1000:0:1:1,B:2:2:2000:0:1:1", &diag);
}

static int end(void **state)
{
	(void)state;
	opd_sfiles_drop_all(cache.store);
	cache.store->client = cache.client;
	free_fixture(cache.f);
	return 0;
}

#define CACHE_TEST(name) TEST_WITH(name, begin, end)

static struct opd_image *image_of(const char *name)
{
	const struct opd_image_id id = { .space = OP_SPACE_ROOT, .name = name };
	struct opd_image *image;

	assert_int_equal(opd_image_get(&cache.f->opd.images, &id, &image), 0);
	return image;
}

static struct opd_sfile_key key_of(const char *name)
{
	return (struct opd_sfile_key){ .app = image_of(name),
				       .dep = image_of(name),
				       .tgid = OP_MANGLE_ALL,
				       .tid = OP_MANGLE_ALL,
				       .cpu = OP_MANGLE_ALL,
				       .user = OP_MANGLE_ALL };
}

static struct opd_sfile *get(const char *name)
{
	struct opd_sfile_key key = key_of(name);
	struct opd_sfile *sfile = opd_sfile_get(cache.store, &key);

	assert_non_null(sfile);
	return sfile;
}

static size_t nr_sfiles(void)
{
	size_t nr = 0;

	for (size_t i = 0; i < OPD_SFILE_BUCKETS; i++)
		for (const struct opd_sfile *at = cache.store->sfiles.bucket[i];
		     at; at = at->chain)
			nr++;
	assert_int_equal(nr, cache.store->sfiles.nr);
	return nr;
}

/* ---- the same ---------------------------------------------------------------
 */

/* Each change of a key, or of a callee, is another set of files. */
CACHE_TEST(test_keys)
{
	static const char anon[] = "anon";
	struct opd_sfile_key keys[12];
	struct opd_callee callees[8];
	struct opd_sfile *files[12], *arcs[8];

	for (size_t i = 0; i < NR(keys); i++)
		keys[i] = key_of("/a");
	keys[1].app = image_of("/b");
	keys[2].dep = image_of("/b");
	keys[3].tgid = 1;
	keys[4].tid = 1;
	keys[5].cpu = 1;
	for (size_t i = 6; i < NR(keys); i++) {
		keys[i].anon = anon;
		keys[i].start = 0x1000;
		keys[i].end = 0x2000;
		keys[i].anon_tgid = 5;
	}
	keys[7].anon = "other";
	keys[8].start = 0x1001;
	keys[9].end = 0x2001;
	keys[10].anon_tgid = 6;
	keys[11].tid = 1;
	for (size_t i = 0; i < NR(keys); i++)
		files[i] = opd_sfile_get(cache.store, &keys[i]);
	assert_int_equal(cache.nr_seen, NR(keys));
	memset(callees, 0, sizeof(callees));
	for (size_t i = 0; i < NR(callees); i++) {
		callees[i].image = image_of("/c");
		if (i < 2)
			continue;
		callees[i].anon = anon;
		callees[i].start = 0x1000;
		callees[i].end = 0x2000;
		callees[i].anon_tgid = 5;
	}
	callees[1].image = image_of("/d");
	callees[3].anon = "other";
	callees[4].start = 0x1001;
	callees[5].end = 0x2001;
	callees[6].anon_tgid = 6;
	callees[7].image = image_of("/d");
	for (size_t i = 0; i < NR(callees); i++)
		arcs[i] =
			opd_sfile_get_arcs(cache.store, &keys[0], &callees[i]);
	assert_int_equal(nr_sfiles(), NR(keys) + NR(callees));
	/* Each is found again, whatever became of what it was asked with. */
	for (size_t i = 0; i < NR(keys); i++) {
		assert_ptr_equal(opd_sfile_get(cache.store, &keys[i]),
				 files[i]);
		assert_null(files[i]->callee);
		assert_int_equal(files[i]->nr_odbs, 3);
	}
	for (size_t i = 0; i < NR(callees); i++) {
		assert_ptr_equal(opd_sfile_get_arcs(cache.store, &keys[0],
						    &callees[i]),
				 arcs[i]);
		assert_ptr_not_equal(arcs[i]->callee, &callees[i]);
		assert_memory_equal(arcs[i]->callee, &callees[i],
				    sizeof(callees[i]));
	}
	assert_int_equal(cache.nr_seen, NR(keys) + NR(callees));
	opd_sfiles_drop_all(cache.store);
	assert_int_equal(nr_sfiles(), 0);
	assert_int_equal(cache.nr_dropped, NR(keys) + NR(callees));
}

/* ---- few at a time ----------------------------------------------------------
 */

/* Of 16 an eighth and one go: those that were not used for longest. */
CACHE_TEST(test_the_oldest_go)
{
	struct opd_sfile *files[17];
	char name[8];

	cache.store->sfiles.max_open = 17;
	for (int i = 0; i < 16; i++) {
		snprintf(name, sizeof(name), "/%d", i);
		files[i] = get(name);
	}
	assert_int_equal(cache.nr_dropped, 0);
	/* Another use makes them young. */
	get("/0");
	get("/2");
	files[16] = get("/16");
	assert_int_equal(cache.nr_dropped, 3);
	assert_int_equal(nr_sfiles(), 14);
	assert_ptr_equal(get("/0"), files[0]);
	assert_ptr_equal(get("/2"), files[2]);
	assert_ptr_equal(get("/5"), files[5]);
	assert_ptr_equal(get("/16"), files[16]);
	assert_int_equal(nr_sfiles(), 14);
	/* Those of 1, 3 and 4 are made again. */
	get("/4");
	assert_int_equal(nr_sfiles(), 15);
}

/* The one that was used last stays, however few there may be. */
CACHE_TEST(test_the_last_stays)
{
	struct opd_sfile *last = NULL;
	char name[64];

	cache.store->sfiles.max_open = 1;
	for (int i = 0; i < 5; i++) {
		snprintf(name, sizeof(name), "/%d", i);
		last = get(name);
		assert_int_equal(opd_sfile_add(cache.store, last, 0, 7, 1), 0);
		assert_ptr_equal(get(name), last);
		assert_int_equal(nr_sfiles(), 1);
	}
	assert_int_equal(cache.store->sfiles.nr_open, 1);
	opd_sfiles_drop_all(cache.store);
	assert_int_equal(cache.store->sfiles.nr_open, 0);
	for (int i = 0; i < 5; i++) {
		snprintf(name, sizeof(name),
			 "{root}/%d/{dep}/{root}/%d/A.1000.0.all.all.all", i,
			 i);
		assert_int_equal(count_at(cache.f, name, 7), 1);
	}
}

/* Files count, too, not sets of files alone. */
CACHE_TEST(test_open_files_count)
{
	struct opd_sfile *a, *b;

	cache.store->sfiles.max_open = 4;
	a = get("/a");
	b = get("/b");
	assert_int_equal(opd_sfile_add(cache.store, a, 0, 1, 1), 0);
	assert_int_equal(opd_sfile_add(cache.store, a, 2, 1, 1), 0);
	assert_int_equal(opd_sfile_add(cache.store, b, 0, 1, 1), 0);
	assert_int_equal(cache.store->sfiles.nr_open, 3);
	get("/b");
	assert_int_equal(opd_sfile_add(cache.store, b, 2, 1, 1), 0);
	assert_int_equal(cache.nr_dropped, 0);
	assert_int_equal(cache.store->sfiles.nr_open, 4);
	/* There is one too many by now. */
	get("/c");
	assert_int_equal(cache.nr_dropped, 1);
	assert_ptr_equal(cache.dropped, a);
	assert_int_equal(cache.store->sfiles.nr_open, 2);
}

/* Half of the mappings that a process may have. */
CACHE_TEST(test_limit)
{
	FILE *file = fopen("/proc/sys/vm/max_map_count", "r");
	unsigned long maps = 65530;

	if (file && fscanf(file, "%lu", &maps) != 1)
		fail();
	if (file)
		fclose(file);
	cache.store->sfiles.max_open = 0;
	opd_sfiles_init(cache.store);
	assert_int_equal(cache.store->sfiles.max_open, maps / 2);
}

/* ---- what fails -------------------------------------------------------------
 */

static void path_of(const char *name, char *path, size_t len)
{
	sample_path(cache.f, name, path, len);
}

#define A "{root}/a/{dep}/{root}/a/A.1000.0.all.all.all"
#define B "{root}/a/{dep}/{root}/a/B.2000.0.all.all.all"

/* A counter whose file cannot be opened is not tried again before a sync. */
CACHE_TEST(test_failed_counters)
{
	struct opd_sfile *a;
	char path[8192];

	a = get("/a");
	assert_int_equal(opd_sfile_add(cache.store, a, 0, 1, 1), 0);
	assert_int_equal(opd_sfile_add(cache.store, a, 2, 1, 1), 0);
	opd_sfiles_drop_all(cache.store);
	path_of(B, path, sizeof(path));
	assert_int_equal(unlink(path), 0);
	assert_int_equal(mkdir(path, 0755), 0);
	a = get("/a");
	assert_true(opd_sfile_add(cache.store, a, 2, 1, 1) < 0);
	assert_int_equal(rmdir(path), 0);
	assert_int_equal(opd_sfile_add(cache.store, a, 2, 1, 1), -EIO);
	assert_int_equal(cache.store->sfiles.nr_open, 0);
	/* The other one is not concerned. */
	assert_int_equal(opd_sfile_add(cache.store, a, 0, 1, 1), 0);
	assert_int_equal(cache.store->sfiles.nr_open, 1);
	opd_sfiles_sync(cache.store);
	assert_int_equal(cache.nr_synced, 1);
	assert_int_equal(opd_sfile_add(cache.store, a, 2, 1, 1), 0);
	opd_sfiles_drop_all(cache.store);
	assert_int_equal(count_at(cache.f, A, 1), 2);
	assert_int_equal(count_at(cache.f, B, 1), 1);
}

#define TREE "{root}/a/{tree}/A.1000.0.all.all.all"

/* Likewise a call tree. */
CACHE_TEST(test_failed_trees)
{
	struct opd_sfile_key key = key_of("/a");
	struct opd_spot spot = { .image = key.dep, .key = 7 };
	struct opd_tree *tree;
	char path[8192];

	path_of(TREE, path, sizeof(path));
	assert_int_equal(op_make_parents(path, 0755), 0);
	assert_int_equal(mkdir(path, 0755), 0);
	tree = opd_tree_get(cache.store, &key, 0);
	assert_int_equal(opd_tree_add(cache.store, tree, &spot, 1, 0, NULL, 1),
			 -EIO);
	assert_int_equal(rmdir(path), 0);
	tree = opd_tree_get(cache.store, &key, 0);
	assert_int_equal(opd_tree_add(cache.store, tree, &spot, 1, 0, NULL, 1),
			 -EIO);
	opd_sfiles_sync(cache.store);
	tree = opd_tree_get(cache.store, &key, 0);
	assert_int_equal(opd_tree_add(cache.store, tree, &spot, 1, 0, NULL, 1),
			 0);
	/* One that can be written stays open. */
	opd_sfiles_sync(cache.store);
	assert_ptr_equal(opd_tree_get(cache.store, &key, 0), tree);
	opd_trees_drop_all(cache.store);
}

/* A file that somebody deleted is begun anew, and what was there counted. */
CACHE_TEST(test_deleted_file)
{
	struct opd_sfile *a;
	char path[8192];

	a = get("/a");
	path_of(A, path, sizeof(path));
	assert_int_equal(opd_sfile_add(cache.store, a, 0, 1, 1), 0);
	assert_false(cache.store->recount);
	assert_int_equal(unlink(path), 0);
	/* It is seen when the file has to grow. */
	for (uint64_t key = 2; key < 2000; key++)
		assert_int_equal(opd_sfile_add(cache.store, a, 0, key, 1), 0);
	assert_true(cache.store->recount);
	assert_int_equal(cache.store->sfiles.nr_open, 1);
	opd_sfiles_drop_all(cache.store);
	assert_int_equal(count_at(cache.f, A, 1), 0);
	assert_int_equal(count_at(cache.f, A, 1999), 1);
}

CACHE_TEST(test_sync_each)
{
	get("/a");
	get("/b");
	get("/c");
	opd_sfiles_sync(cache.store);
	assert_int_equal(cache.nr_synced, 3);
	assert_int_equal(nr_sfiles(), 3);
}
