// SPDX-License-Identifier: GPL-2.0-or-later
/* Stacks in the stream: the sample, its arcs, and what is told of them. */

#include "libdb/ctree.h"
#include "libop/op_tree_image.h"
#include "tests/unit/opd_fixture.h"

#define APP 1
#define LIB 2
#define EVENT "TIMER.0.0.all.all.all"
#define APP_DIR "{root}/bin/app/{dep}/"
#define KERNEL UINT64_C(0xffffffff81000000)

static void put_start(struct words *w)
{
	put_begin(w);
	put_cookie(w, APP, "/bin/app");
	put_cookie(w, LIB, "/lib/lib.so");
	put_range(w, true, KERNEL, KERNEL + 0x100000, "vmlinux");
	put_cpu(w, 0);
	put_task(w, 12, 12, APP);
}

static struct fixture *new_separating(void)
{
	struct fixture *f = new_replay();

	f->opd.options.separate_lib = true;
	return f;
}

/* What a test begins with: libraries are told apart, the words have begun. */
struct test {
	struct fixture *f;
	struct words *w;
};

static int set_up(void **state)
{
	struct test *t = malloc(sizeof(*t));

	assert_non_null(t);
	t->f = new_separating();
	t->w = calloc(1, sizeof(*t->w));
	assert_non_null(t->w);
	put_start(t->w);
	*state = t;
	return 0;
}

static int tear_down(void **state)
{
	struct test *t = *state;

	free(t->w);
	free_fixture(t->f);
	free(t);
	return 0;
}

#define stack_test(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

static void put_trace(struct words *w)
{
	put_record(w, OP_TRACE_BEGIN, 0);
}

static void put_end(struct words *w, enum op_trace_ending ending)
{
	put_record(w, OP_TRACE_END, 1, U(ending));
}

/* The kernel, called by the library, called by the program, by itself. */
static void put_deep(struct words *w)
{
	put_kernel(w);
	put_trace(w);
	put_sample(w, KERNEL + 0x500, 0);
	put_sample(w, KERNEL + 0x401, 77); /* no counter at all */
	put_user(w);
	put_image(w, LIB);
	put_sample(w, 0x301, 0);
	put_image(w, APP);
	put_sample(w, 0x201, 0);
	put_sample(w, 0x101, 0);
	put_end(w, OP_TRACE_WHOLE);
}

/* ---- reading a tree ---------------------------------------------------------
 */

/* The number of image @name, which must be there once; 0 without. */
static uint32_t image_of(const struct ctree *tree, const char *name)
{
	char buf[OP_TREE_IMAGE_MAX];
	struct op_tree_image image;
	const void *bytes;
	size_t len;

	for (uint32_t i = 1; i <= ctree_nr_images(tree); i++) {
		bytes = ctree_image_bytes(tree, i, &len);
		assert_int_equal(op_tree_image_decode(&image, bytes, len, buf,
						      sizeof(buf), NULL),
				 0);
		if (!strcmp(image.name.name, name))
			return i;
	}
	return 0;
}

/* The count of the stack "IMAGE+OFFSET ...", root first, a root without one. */
static uint64_t count_stack(struct fixture *f, const char *name,
			    const char *stack)
{
	char path[8192], word[64];
	struct ctree_node node = { 0 };
	uint32_t at = CTREE_ROOT;
	struct ctree *tree;
	int used;

	snprintf(path, sizeof(path), "%s/%s", f->opd.session.current, name);
	if (ctree_open(&tree, path, ODB_RDONLY))
		return 0;
	for (; sscanf(stack, " %63[^+]%n", word, &used) == 1; stack += used) {
		uint32_t image, i;
		uint64_t offset;

		stack += used;
		assert_int_equal(sscanf(stack, "%lx%n", &offset, &used), 1);
		image = image_of(tree, word);
		for (i = 1; i <= ctree_nr_nodes(tree); i++) {
			ctree_node(tree, i, &node);
			if (node.parent == at && node.image == image &&
			    node.offset == offset)
				break;
		}
		at = i;
		if (i > ctree_nr_nodes(tree))
			break;
	}
	ctree_close(tree);
	return at == CTREE_ROOT || *stack ? 0 : node.count;
}

#define TREE "{root}/bin/app/{tree}/" EVENT

static uint64_t key(uint32_t caller, uint32_t callee)
{
	return (uint64_t)caller << 32 | callee;
}

static uint64_t stacks(struct fixture *f, enum op_ledger_stacks which)
{
	return ledger_of(f).stacks[which];
}

static void test_arcs(void **state)
{
	const struct test *t = *state;
	struct fixture *f = t->f;
	struct words *w = t->w;

	put_deep(w);
	put_deep(w);
	run_words(f, w);
	assert_int_equal(ledger_of(f).stored, 2);
	assert_int_equal(count_at(f,
				  "{kern}/vmlinux/{dep}/{kern}/vmlinux/" EVENT,
				  0x500),
			 2);
	assert_int_equal(
		count_at(f,
			 "{kern}/vmlinux/{dep}/{kern}/vmlinux/{cg}/{kern}/"
			 "vmlinux/" EVENT,
			 key(0x400, 0x500)),
		2);
	assert_int_equal(count_at(f,
				  APP_DIR "{root}/lib/lib.so/{cg}/{kern}/"
					  "vmlinux/" EVENT,
				  key(0x300, 0x400)),
			 2);
	assert_int_equal(count_at(f,
				  APP_DIR "{root}/bin/app/{cg}/{root}/lib/"
					  "lib.so/" EVENT,
				  key(0x200, 0x300)),
			 2);
	assert_int_equal(count_at(f,
				  APP_DIR "{root}/bin/app/{cg}/{root}/bin/"
					  "app/" EVENT,
				  key(0x100, 0x200)),
			 2);
	assert_int_equal(stacks(f, OP_STACKS_WHOLE), 2);
	assert_int_equal(stacks(f, OP_STACKS_FRAMES), 10);
	assert_int_equal(stacks(f, OP_STACKS_ARCS), 8);
	assert_int_equal(count_stack(f, TREE,
				     "/bin/app+100 /bin/app+200 "
				     "/lib/lib.so+300 vmlinux+400 vmlinux+500"),
			 2);
	assert_int_equal(count_stack(f, TREE,
				     "/bin/app+100 /bin/app+200 "
				     "/lib/lib.so+300 vmlinux+400"),
			 0);
}

/* Each way to end, and each way not to say so. */
static void test_endings(void **state)
{
	static const struct {
		enum op_trace_ending ending;
		enum op_ledger_stacks stacks;
		const char *stack;
	} all[] = {
		{ OP_TRACE_DEPTH, OP_STACKS_TRUNCATED,
		  "[truncated]+0 /bin/app+200 /bin/app+100" },
		{ OP_TRACE_NO_UNWIND, OP_STACKS_NO_UNWIND,
		  "[no unwind data]+0 /bin/app+200 /bin/app+100" },
		{ OP_TRACE_SHORT_STACK, OP_STACKS_TRUNCATED,
		  "[truncated]+0 /bin/app+200 /bin/app+100" },
		{ OP_TRACE_BAD_STACK, OP_STACKS_BROKEN,
		  "[broken stack]+0 /bin/app+200 /bin/app+100" },
		{ OP_NR_TRACE_ENDINGS, OP_STACKS_TRUNCATED,
		  "[truncated]+0 /bin/app+200 /bin/app+100" },
	};
	const size_t nr = sizeof(all) / sizeof(all[0]);

	(void)state;
	for (size_t i = 0; i < 2 * nr; i++) {
		struct fixture *f = new_separating();
		struct words *w = calloc(1, sizeof(*w));

		put_start(w);
		put_user(w);
		put_image(w, APP);
		put_trace(w);
		put_sample(w, 0x100, 0);
		put_sample(w, 0x201, 0);
		if (all[i % nr].ending < OP_NR_TRACE_ENDINGS)
			put_end(w, all[i % nr].ending);
		if (i < nr)
			put_cpu(w, 1);
		run_words(f, w);
		assert_int_equal(stacks(f, all[i % nr].stacks), 1);
		assert_int_equal(stacks(f, OP_STACKS_WHOLE), 0);
		assert_int_equal(stacks(f, OP_STACKS_ARCS), 1);
		assert_int_equal(count_stack(f, TREE, all[i % nr].stack), 1);
		assert_int_equal(
			count_stack(f, TREE, "/bin/app+200 /bin/app+100"), 0);
		assert_int_equal(ledger_of(f).stored, 1);
		free(w);
		free_fixture(f);
	}
}

/* The callers are samples of nothing, wherever the trace is cut. */
static void test_cut_anywhere(void **state)
{
	struct words *w = calloc(1, sizeof(*w));
	size_t start;

	(void)state;
	put_start(w);
	start = w->nr;
	put_deep(w);
	for (size_t nr = start; nr <= w->nr; nr++) {
		struct fixture *f = new_separating();
		struct op_ledger ledger;
		size_t used = opd_trans_run(&f->opd, w->word, nr);
		bool began = used >= start + 6;

		opd_trans_end(&f->opd, nr - used);
		ledger = ledger_of(f);
		assert_int_equal(ledger.stored, began);
		assert_int_equal(op_ledger_stacks_stored(&ledger), began);
		free_fixture(f);
	}
	free(w);
}

static void test_too_deep(void **state)
{
	const struct test *t = *state;
	struct fixture *f = t->f;
	struct words *w = t->w;

	put_user(w);
	put_image(w, APP);
	put_trace(w);
	for (uint64_t i = 0; i < 5000; i++)
		put_sample(w, 0x1000 + i, 0);
	put_end(w, OP_TRACE_WHOLE);
	run_words(f, w);
	assert_int_equal(stacks(f, OP_STACKS_TRUNCATED), 1);
	assert_int_equal(stacks(f, OP_STACKS_FRAMES), OPD_STACK_MAX);
	assert_int_equal(stacks(f, OP_STACKS_ARCS), OPD_STACK_MAX - 1);
	assert_int_equal(f->opd.stats.frames, 4999);
}

static void test_too_far(void **state)
{
	const struct test *t = *state;
	struct fixture *f = t->f;
	struct words *w = t->w;

	put_user(w);
	put_image(w, APP);
	put_trace(w);
	put_sample(w, 0x100, 0);
	put_sample(w, UINT64_C(0x100000001), 0);
	put_sample(w, UINT64_C(0x100000000), 0);
	put_sample(w, 0x200, 0);
	put_end(w, OP_TRACE_WHOLE);
	run_words(f, w);
	assert_int_equal(stacks(f, OP_STACKS_ARCS_TOO_FAR), 2);
	assert_int_equal(stacks(f, OP_STACKS_ARCS), 1);
	assert_int_equal(count_at(f,
				  APP_DIR "{root}/bin/app/{cg}/{root}/bin/"
					  "app/" EVENT,
				  key(0x1ff, 0xffffffff)),
			 1);
}

/* A caller nobody has named takes the others along, not the sample. */
static void test_unknown_callers(void **state)
{
	const struct test *t = *state;
	struct fixture *f = t->f;
	struct words *w = t->w;

	put_user(w);
	put_image(w, APP);
	put_trace(w);
	put_sample(w, 0x100, 0);
	put_image(w, 9);
	put_sample(w, 0x201, 0);
	put_image(w, APP);
	put_sample(w, 0x301, 0);
	put_sample(w, 0x401, 0);
	put_end(w, OP_TRACE_WHOLE);
	run_words(f, w);
	assert_int_equal(ledger_of(f).stored, 1);
	assert_int_equal(stacks(f, OP_STACKS_ARCS_NOT_STORED), 2);
	assert_int_equal(stacks(f, OP_STACKS_ARCS), 1);
	assert_int_equal(stacks(f, OP_STACKS_WHOLE), 1);
	assert_int_equal(count_stack(f, TREE,
				     "/bin/app+400 /bin/app+300 [unknown]+0 "
				     "/bin/app+100"),
			 1);
}

/* Names that come later bring sample and stack, each once. */
static void test_names_that_come_later(void **state)
{
	const struct test *t = *state;
	struct fixture *f = t->f;
	struct words *w = t->w;
	size_t used;

	put_user(w);
	put_image(w, 7);
	put_trace(w);
	put_sample(w, 0x100, 0);
	put_image(w, 8);
	put_sample(w, 0x201, 0);
	put_end(w, OP_TRACE_WHOLE);
	used = opd_trans_run(&f->opd, w->word, w->nr);
	assert_int_equal(used, w->nr);
	assert_int_equal(ledger_of(f).pending, 1);
	assert_int_equal(stacks(f, OP_STACKS_WHOLE), 0);

	w->nr = 0;
	put_cookie(w, 7, "/bin/late");
	opd_trans_run(&f->opd, w->word, w->nr);
	assert_int_equal(ledger_of(f).stored, 1);
	assert_int_equal(stacks(f, OP_STACKS_WHOLE), 0);

	w->nr = 0;
	put_cookie(w, 8, "/lib/later.so");
	run_words(f, w);
	assert_int_equal(ledger_of(f).stored, 1);
	assert_int_equal(stacks(f, OP_STACKS_WHOLE), 1);
	assert_int_equal(count_at(f,
				  APP_DIR "{root}/lib/later.so/{cg}/{root}/"
					  "bin/late/" EVENT,
				  key(0x200, 0x100)),
			 1);
}

/* What waits is bounded, and what does not fit is counted. */
static void test_deferred_frames_are_bounded(void **state)
{
	const struct test *t = *state;
	struct fixture *f = t->f;
	struct words *w = t->w;
	const unsigned int fit = OPD_MAX_DEFERRED_FRAMES / OPD_STACK_MAX;

	put_user(w);
	put_image(w, 7);
	opd_trans_run(&f->opd, w->word, w->nr);
	w->nr = 0;
	put_trace(w);
	for (uint64_t i = 0; i < OPD_STACK_MAX; i++)
		put_sample(w, 0x1000 + i, 0);
	put_end(w, OP_TRACE_WHOLE);
	for (unsigned int i = 0; i < fit + 3; i++)
		opd_trans_run(&f->opd, w->word, w->nr);
	assert_int_equal(f->opd.defer.nr_stacks, fit);
	assert_int_equal(stacks(f, OP_STACKS_NOT_STORED), 3);
	w->nr = 0;
	put_cookie(w, 7, "/bin/late");
	run_words(f, w);
	assert_int_equal(ledger_of(f).stored, fit + 3);
	assert_int_equal(stacks(f, OP_STACKS_WHOLE), fit);
	assert_int_equal(f->opd.defer.nr_stacks, 0);
	assert_int_equal(f->opd.defer.nr_frames, 0);
}

/* A stack goes where its sample goes: nowhere, if that is lost. */
static void test_lost_samples_have_no_stacks(void **state)
{
	const struct test *t = *state;
	struct fixture *f = t->f;
	struct words *w = t->w;

	put_deep(w);
	for (size_t i = 0; i < w->nr; i++)
		if (w->word[i] == KERNEL + 0x500)
			w->word[i + 1] = 5; /* a counter without event */
	run_words(f, w);
	assert_int_equal(lost((struct op_ledger[]){ ledger_of(f) },
			      "lost_bad_counter"),
			 1);
	assert_int_equal(stacks(f, OP_STACKS_FRAMES), 0);
	assert_int_equal(stacks(f, OP_STACKS_ARCS), 0);
}

/* Arcs of another build must not mix with those that are there. */
static void test_other_build_of_callee(void **state)
{
	struct fixture *f = new_separating();
	struct words *w = calloc(1, sizeof(*w));
	const char *name = APP_DIR "{root}/bin/app/{cg}/{root}/lib/a.so/" EVENT;

	(void)state;
	for (uint64_t build = 1; build <= 2; build++) {
		w->nr = 0;
		put_begin(w);
		put_cookie(w, APP, "/bin/app");
		put_cookie_built(w, 5, "/lib/a.so", build);
		put_cpu(w, 0);
		put_task(w, 12, 12, APP);
		put_user(w);
		put_image(w, 5);
		put_trace(w);
		put_sample(w, 0x100, 0);
		put_image(w, APP);
		put_sample(w, 0x201, 0);
		put_end(w, OP_TRACE_WHOLE);
		run_words(f, w);
		assert_int_equal(count_at(f, name, key(0x200, 0x100)), 1);
	}
	assert_true(exists(f, "aside/" APP_DIR
			      "{root}/bin/app/{cg}/{root}/lib/a.so/" EVENT));
	assert_int_equal(ledger_of(f).stored, 1);
	assert_int_equal(lost((struct op_ledger[]){ ledger_of(f) },
			      "lost_set_aside"),
			 1);
	free(w);
	free_fixture(f);
}

/* A kernel thread has no application: it is the kernel's, also in a module. */
static void test_kernel_threads(void **state)
{
	const struct test *t = *state;
	struct fixture *f = t->f;
	struct words *w = t->w;

	put_range(w, false, KERNEL + 0x200000, KERNEL + 0x300000, "ext4");
	put_task(w, 7, 7, OP_NO_COOKIE);
	put_kernel(w);
	put_trace(w);
	put_sample(w, KERNEL + 0x200010, 0);
	put_sample(w, KERNEL + 0x21, 0);
	put_sample(w, KERNEL - 5, 0);
	put_end(w, OP_TRACE_WHOLE);
	run_words(f, w);
	assert_int_equal(count_stack(f, "{kern}/vmlinux/{tree}/" EVENT,
				     "[kernel-other]+0 vmlinux+20 ext4+10"),
			 1);
}

/* Memory of no file is as much apart as in flat files. */
static void test_anonymous_memory(void **state)
{
	const char *tree = "{root}/bin/app/{tree}/TIMER.0.0.12.12.0";
	struct fixture *f = new_separating();
	struct words *w = calloc(1, sizeof(*w));

	(void)state;
	f->opd.options.separate_thread = f->opd.options.separate_cpu = true;
	put_start(w);
	put_user(w);
	put_anon(w, 0x7000, 0x9000, "jit");
	put_trace(w);
	put_sample(w, 0x100, 0);
	put_anon(w, 0x17000, 0x19000, "glue");
	put_sample(w, 0x201, 0);
	put_sample(w, 0x5000, 0); /* is not in there */
	put_image(w, APP);
	put_sample(w, 0x301, 0);
	put_end(w, OP_TRACE_WHOLE);
	run_words(f, w);
	assert_int_equal(count_at(f,
				  APP_DIR "{anon:glue}/12.0x17000.0x19000/{cg}/"
					  "{anon:jit}/12.0x7000.0x9000/"
					  "TIMER.0.0.12.12.0",
				  key(0x200, 0x100)),
			 1);
	assert_int_equal(count_stack(f, tree,
				     "/bin/app+300 [unknown]+0 glue+200 "
				     "jit+100"),
			 1);
	assert_true(exists(f, "current/{root}/bin/app/{tree}/"
			      "TIMER.0.0.12.12.0"));
	assert_int_equal(stacks(f, OP_STACKS_WHOLE), 1);
	free(w);
	free_fixture(f);
}

/* The trees say what a ledger that was not written any more does not. */
static void test_killed_daemon(void **state)
{
	const struct test *t = *state;
	struct fixture *f = t->f;
	struct words *w = t->w;
	struct op_ledger ledger;

	put_deep(w);
	put_deep(w);
	put_user(w);
	put_image(w, APP);
	put_trace(w);
	put_sample(w, 0x100, 0);
	put_end(w, OP_TRACE_BAD_STACK);
	opd_trans_run(&f->opd, w->word, w->nr);
	/* No ledger, no finish. */
	restart_daemon(f);
	ledger = ledger_of(f);
	assert_int_equal(ledger.stored, 3);
	assert_int_equal(ledger.stacks[OP_STACKS_WHOLE], 2);
	assert_int_equal(ledger.stacks[OP_STACKS_BROKEN], 1);
	run_words(f, w);
	ledger = ledger_of(f);
	assert_int_equal(ledger.stacks[OP_STACKS_BROKEN], 2);
}

/* A tree that is deleted, or damaged, costs what was in it and no more. */
static void test_tree_that_vanishes(void **state)
{
	const struct test *t = *state;
	struct fixture *f = t->f;
	struct words *w = t->w;
	char path[8192];
	FILE *file;

	put_deep(w);
	run_words(f, w);
	snprintf(path, sizeof(path), "%s/" TREE, f->opd.session.current);
	file = fopen(path, "w");
	assert_non_null(file);
	opd_sfiles_drop_all(&f->opd);
	fputs("no tree at all, but long enough to look like one", file);
	fclose(file);
	f->opd.options.separate_lib = true;
	run_words(f, w);
	assert_true(exists(f, "current/" TREE ".bad"));
	assert_int_equal(ledger_of(f).stored, 2);
	assert_int_equal(count_stack(f, TREE,
				     "/bin/app+100 /bin/app+200 "
				     "/lib/lib.so+300 vmlinux+400 vmlinux+500"),
			 1);
}

/* More applications than trees may be open: all stacks are there. */
static void test_many_trees(void **state)
{
	const unsigned int nr = OPD_MAX_TREES + 100;
	struct fixture *f = new_separating();
	struct words *w = calloc(1, sizeof(*w));
	struct op_ledger ledger;
	char path[64];

	(void)state;
	put_begin(w);
	opd_trans_run(&f->opd, w->word, w->nr);
	for (uint64_t i = 0; i < 2 * nr; i++) {
		w->nr = 0;
		snprintf(path, sizeof(path), "/bin/%u", (unsigned int)i % nr);
		put_cookie(w, 1 + i % nr, path);
		put_cpu(w, 0);
		put_task(w, 5, 5, 1 + i % nr);
		put_user(w);
		put_image(w, 1 + i % nr);
		put_trace(w);
		put_sample(w, 0x100, 0);
		put_sample(w, 0x201, 0);
		put_end(w, OP_TRACE_WHOLE);
		opd_trans_run(&f->opd, w->word, w->nr);
		assert_true(f->opd.trees.nr <= OPD_MAX_TREES);
	}
	ledger = ledger_of(f);
	assert_int_equal(ledger.stacks[OP_STACKS_WHOLE], 2 * nr);
	for (unsigned int i = 0; i < nr; i += 37) {
		char name[128], stack[128];

		snprintf(name, sizeof(name), "{root}/bin/%u/{tree}/" EVENT, i);
		snprintf(stack, sizeof(stack), "/bin/%u+200 /bin/%u+100", i, i);
		assert_int_equal(count_stack(f, name, stack), 2);
	}
	free(w);
	free_fixture(f);
}

/* A tree follows the build of its application. */
static void test_other_build_of_app(void **state)
{
	struct fixture *f = new_separating();
	struct words *w = calloc(1, sizeof(*w));

	(void)state;
	for (uint64_t build = 1; build <= 2; build++) {
		w->nr = 0;
		put_begin(w);
		put_cookie_built(w, 4 + build, "/bin/app", build);
		put_cpu(w, 0);
		put_task(w, 12, 12, 4 + build);
		put_user(w);
		put_image(w, 4 + build);
		put_trace(w);
		put_sample(w, 0x100, 0);
		put_sample(w, 0x201, 0);
		put_end(w, OP_TRACE_WHOLE);
		run_words(f, w);
		assert_int_equal(
			count_stack(f, TREE, "/bin/app+200 /bin/app+100"), 1);
	}
	assert_true(exists(f, "aside/" TREE));
	assert_int_equal(f->opd.trees.nr, 1);
	free(w);
	free_fixture(f);
}

/* What is saved or reset has its stacks with it. */
static void test_sessions(void **state)
{
	const struct test *t = *state;
	struct fixture *f = t->f;
	struct words *w = t->w;
	struct op_ledger ledger;
	struct op_diag diag = { "" };
	char path[8192];

	put_deep(w);
	run_words(f, w);
	assert_int_equal(opd_session_save(&f->opd, "one", &diag), 0);
	snprintf(path, sizeof(path), "%s/one/ledger", f->opd.session.samples);
	assert_int_equal(op_ledger_read(&ledger, path, &diag), 0);
	assert_int_equal(ledger.stacks[OP_STACKS_WHOLE], 1);
	assert_true(exists(f, "one/" TREE));
	assert_int_equal(stacks(f, OP_STACKS_WHOLE), 0);
	run_words(f, w);
	run_words(f, w);
	assert_int_equal(stacks(f, OP_STACKS_WHOLE), 2);
	assert_int_equal(opd_session_reset(&f->opd, &diag), 0);
	assert_int_equal(stacks(f, OP_STACKS_WHOLE), 0);
	assert_false(exists(f, "current/" TREE));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		stack_test(test_arcs),
		cmocka_unit_test(test_endings),
		cmocka_unit_test(test_cut_anywhere),
		stack_test(test_too_deep),
		stack_test(test_too_far),
		stack_test(test_unknown_callers),
		stack_test(test_names_that_come_later),
		stack_test(test_deferred_frames_are_bounded),
		stack_test(test_lost_samples_have_no_stacks),
		cmocka_unit_test(test_other_build_of_callee),
		stack_test(test_kernel_threads),
		cmocka_unit_test(test_anonymous_memory),
		stack_test(test_killed_daemon),
		stack_test(test_tree_that_vanishes),
		cmocka_unit_test(test_many_trees),
		cmocka_unit_test(test_other_build_of_app),
		stack_test(test_sessions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
