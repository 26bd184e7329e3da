// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What holds for reports of any session: merging is adding, the sum over
 * columns is the whole, and what a word chooses and what it leaves out make
 * up all. Sessions are random, from numbers that are always the same.
 */

#include "tests/unit/pp_fixture.h"

#include "libdb/odb.h"
#include "libop/files/op_folder.h"
#include "libop/session/op_mangle.h"
#include "libpp/report/report.h"

#define MAX_SESSIONS 12
#define NR_FILES 60
#define NR_GRAPHS 40
#define NR_CPUS 4

struct fixture {
	char dir[64];
	struct op_session session;
	uint64_t random;
	uint64_t total; /* samples of the session */
	uint64_t calls; /* likewise */
};

static uint64_t draw(struct fixture *f, uint64_t below)
{
	f->random ^= f->random << 13;
	f->random ^= f->random >> 7;
	f->random ^= f->random << 17;
	return f->random % below;
}

/* ---- sessions ------------------------------------------------------------ */

static struct op_image_name image(char *buf, size_t len, const char *kind,
				  uint64_t nr)
{
	snprintf(buf, len, "/no/%s%llu", kind, (unsigned long long)nr);
	return (struct op_image_name){ .space = OP_SPACE_ROOT, .name = buf };
}

/* A random name; @graph: of a call graph. */
static void draw_name(struct fixture *f, bool graph, char *name, size_t len)
{
	char app[32], dep[32], cg[32];
	struct op_mangle m = {
		.event = "EVENT",
		.count = 1000,
		.unit_mask = draw(f, 2),
		.tgid = 10 + (int64_t)draw(f, 3),
		.cpu = (int64_t)draw(f, NR_CPUS),
	};

	m.tid = m.tgid + (int64_t)draw(f, 2) * 100;
	m.app = image(app, sizeof(app), "app", draw(f, 5));
	m.dep = draw(f, 2) ? m.app : image(dep, sizeof(dep), "lib", draw(f, 5));
	if (graph)
		m.cg = image(cg, sizeof(cg), "lib", draw(f, 7));
	assert_true(op_mangle_build(&m, name, len) > 0);
}

/* Add to one random file; the same one may come again. Returns how much. */
static uint64_t add_file(struct fixture *f, bool graph)
{
	struct op_sample_header header = {
		.magic = OP_SAMPLE_MAGIC,
		.version = OP_SAMPLE_VERSION,
	};
	char name[OP_MANGLE_MAX], path[OP_MANGLE_MAX + 256];
	uint64_t sum = 0;
	struct odb *odb;

	draw_name(f, graph, name, sizeof(name));
	snprintf(path, sizeof(path), "%s/samples/current/%s", f->dir, name);
	assert_int_equal(op_make_parents(path, 0755), 0);
	assert_int_equal(odb_open(&odb, path, ODB_RDWR), 0);
	memcpy(odb_user(odb), &header, sizeof(header));
	for (uint64_t nr = draw(f, 20) + 1; nr; nr--) {
		uint64_t key = draw(f, 50), count = 1 + draw(f, 1000);

		if (graph)
			key = key << 32 | draw(f, 50);
		assert_int_equal(odb_add(odb, key, count), 0);
		sum += count;
	}
	odb_close(odb);
	return sum;
}

static void make_session(struct fixture *f, uint64_t seed)
{
	*f = (struct fixture){ .random = seed * 0x9e3779b97f4a7c15ull };
	strcpy(f->dir, "/tmp/oprofile-pp.XXXXXX");
	assert_non_null(mkdtemp(f->dir));
	for (unsigned int i = 0; i < NR_FILES; i++)
		f->total += add_file(f, false);
	for (unsigned int i = 0; i < NR_GRAPHS; i++)
		f->calls += add_file(f, true);
	assert_int_equal(op_session_init(&f->session, f->dir, NULL), 0);
}

static void remove_session(const struct fixture *f)
{
	nftw(f->dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* All tests read the same sessions; making one costs more than a report. */
static struct fixture sessions[MAX_SESSIONS];
static unsigned int nr_sessions;

static int make_sessions(void **state)
{
	(void)state;
	nr_sessions = rounds_of(2, MAX_SESSIONS);
	for (unsigned int i = 0; i < nr_sessions; i++)
		make_session(&sessions[i], i + 1);
	return 0;
}

static int remove_sessions(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < nr_sessions; i++)
		remove_session(&sessions[i]);
	return 0;
}

/* ---- reports ------------------------------------------------------------- */

/* The samples in each row of a report, whatever its column. */
struct sums {
	uint64_t total;
	uint64_t apps; /* sum over applications */
	uint64_t images; /* over their images */
	uint64_t symbols;
	uint64_t addresses;
	size_t nr_classes;
};

static uint64_t add_up(const uint64_t *counts, size_t nr)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < nr; i++)
		sum += counts[i];
	return sum;
}

static struct sums sums_of(const struct pp_report *report)
{
	size_t nr = report->classes.nr;
	struct sums s = { .nr_classes = nr };

	s.total = add_up(report->totals, nr);
	for (size_t i = 0; i < report->summary.nr_apps; i++) {
		const struct pp_summary_app *app = &report->summary.apps[i];

		s.apps += add_up(app->counts, nr);
		for (size_t j = 0; j < app->nr_images; j++)
			s.images += add_up(app->images[j].counts, nr);
	}
	for (size_t i = 0; i < report->symbols.nr; i++) {
		const struct pp_symbol_entry *entry = &report->symbols.list[i];

		s.symbols += add_up(entry->counts, nr);
		for (size_t j = 0; j < entry->nr_details; j++)
			s.addresses += add_up(entry->details[j].counts, nr);
	}
	return s;
}

/* Zeros when nothing matches. */
static struct sums report(const struct fixture *f, unsigned int merge,
			  const char *word)
{
	const char *const words[] = { word, NULL };
	struct pp_spec spec;
	struct pp_request request = {
		.select.session = &f->session,
		.select.spec = &spec,
		.select.merge = merge,
		.select.any_axes = true,
		.symbols.wanted = true,
		.symbols.details = true,
	};
	struct op_diag diag = { "" };
	struct pp_report *out;
	struct sums s = { 0 };
	int err;

	assert_int_equal(pp_sort_init(&request.symbols.sort, NULL, NULL), 0);
	assert_int_equal(pp_spec_init(&spec, words, NULL), 0);
	err = pp_report_new(&out, &request, &diag);
	if (!err)
		s = sums_of(out);
	else
		assert_int_equal(err, -ENOENT);
	pp_report_free(out);
	pp_spec_release(&spec);
	return s;
}

/* All ways to sum up one report agree. */
static void is_consistent(const struct sums *s)
{
	assert_int_equal(s->apps, s->total);
	assert_int_equal(s->images, s->total);
	assert_int_equal(s->symbols, s->total);
	assert_int_equal(s->addresses, s->total);
}

/* Merging one thing, all but one, all: 2 + 2 * 6 of the 64 ways. */
static bool is_tried(unsigned int merge)
{
	unsigned int rest = PP_MERGE_ALL & ~merge;

	return rounds_of(false, true) || !(merge & (merge - 1)) ||
	       !(rest & (rest - 1));
}

TEST(no_merge_loses_samples)
{
	for (unsigned int i = 0; i < nr_sessions; i++) {
		const struct fixture *f = &sessions[i];
		size_t most = report(f, 0, NULL).nr_classes;

		for (unsigned int merge = 0; merge <= PP_MERGE_ALL; merge++) {
			struct sums s;

			if (!is_tried(merge))
				continue;
			s = report(f, merge, NULL);
			assert_int_equal(s.total, f->total);
			is_consistent(&s);
			assert_true(s.nr_classes <= most);
			if (merge == PP_MERGE_ALL)
				assert_int_equal(s.nr_classes, 1);
		}
	}
}

TEST(a_word_and_its_complement_make_all)
{
	static const char *const pairs[][2] = {
		{ "cpu:0,1", "cpu:2,3" },
		{ "tgid:10", "tgid:11,12" },
		{ "unit-mask:0", "unit-mask:1" },
		{ "tid:10,11,12", "tid:110,111,112" },
		{ "/no/lib*", "image-exclude:/no/lib*" },
		{ "/no/app3", "image-exclude:/no/app3" },
		{ "lib-image:/no/lib*", "lib-image:/no/app*" },
		{ "image:/no/app[01]", "image:/no/app[!01]" },
		{ "event:EVENT", "event:NONE" },
	};

	for (unsigned int i = 0; i < nr_sessions; i++)
		for (size_t k = 0; k < NR(pairs); k++) {
			const struct fixture *f = &sessions[i];
			struct sums with = report(f, 0, pairs[k][0]);
			struct sums without = report(f, 0, pairs[k][1]);

			is_consistent(&with);
			is_consistent(&without);
			assert_int_equal(with.total + without.total, f->total);
		}
}

/* Each CPU's report is that CPU's column of the report about all. */
TEST(a_column_is_the_report_of_its_files)
{
	char word[16];

	for (unsigned int i = 0; i < nr_sessions; i++) {
		uint64_t sum = 0;

		for (unsigned int cpu = 0; cpu < NR_CPUS; cpu++) {
			snprintf(word, sizeof(word), "cpu:%u", cpu);
			sum += report(&sessions[i], PP_MERGE_ALL, word).total;
		}
		assert_int_equal(sum, sessions[i].total);
	}
}

/* ---- call graphs --------------------------------------------------------- */

/* The arc between @other and the symbol @neighbours are of, seen from there. */
static const struct pp_arc *find_arc(const struct pp_arc *arcs, size_t nr,
				     const struct pp_symbol_entry *other)
{
	for (size_t i = 0; i < nr; i++)
		if (!arcs[i].self && arcs[i].other->nr == other->nr)
			return &arcs[i];
	return NULL;
}

/* What one symbol's block says of itself. Returns the calls to it. */
static uint64_t check_block(const struct pp_report *report,
			    const struct pp_symbol_entry *entry)
{
	const struct pp_neighbours *n = entry->neighbours;
	size_t nr = report->classes.nr, nr_self = 0;
	uint64_t in = 0, out = 0, recursive = 0;

	for (size_t i = 0; i < n->nr_callers; i++) {
		const struct pp_arc *arc = &n->callers[i], *back;

		back = find_arc(arc->other->neighbours->callees,
				arc->other->neighbours->nr_callees, entry);
		assert_non_null(back);
		assert_ptr_equal(back->counts, arc->counts);
		assert_int_equal(arc->recursive, arc->other->nr == entry->nr);
		if (i)
			assert_true(n->callers[i - 1].counts[0] <=
				    arc->counts[0]);
		in += add_up(arc->counts, nr);
	}
	for (size_t i = 0; i < n->nr_callees; i++) {
		const struct pp_arc *arc = &n->callees[i];

		if (i)
			assert_true(n->callees[i - 1].counts[0] >=
				    arc->counts[0]);
		nr_self += arc->self;
		out += add_up(arc->counts, nr);
		if (arc->recursive)
			recursive += add_up(arc->counts, nr);
	}
	assert_int_equal(nr_self, 1);
	assert_int_equal(add_up(n->caller_totals, nr), in);
	assert_int_equal(add_up(n->callee_totals, nr), out);
	assert_int_equal(add_up(n->cumulative, nr), out - recursive);
	return in;
}

/* Each call is told by its caller and its callee alike, and no other. */
static void check_graph(const struct fixture *f, const struct pp_report *report)
{
	uint64_t samples = 0, calls = 0, parts = 0;
	size_t nr = report->classes.nr;

	assert_int_equal(report->symbols.nr, report->symbols.nr_known);
	for (size_t i = 0; i < report->symbols.nr; i++) {
		const struct pp_symbol_entry *entry = &report->symbols.list[i];

		samples += add_up(entry->counts, nr);
		calls += check_block(report, entry);
		parts += add_up(entry->neighbours->callee_totals, nr);
	}
	assert_int_equal(samples, f->total);
	assert_int_equal(calls, f->calls);
	assert_int_equal(parts, samples + calls);
}

TEST(calls_are_the_same_from_both_ends)
{
	struct pp_spec spec;
	struct pp_request request = {
		.select.spec = &spec,
		.select.any_axes = true,
		.symbols.wanted = true,
		.calls.wanted = true,
	};
	struct pp_report *out;

	assert_int_equal(pp_sort_init(&request.symbols.sort, NULL, NULL), 0);
	assert_int_equal(pp_spec_init(&spec, NULL, NULL), 0);
	for (unsigned int i = 0; i < nr_sessions; i++) {
		request.select.session = &sessions[i].session;
		for (request.select.merge = 0;
		     request.select.merge <= PP_MERGE_ALL;
		     request.select.merge += rounds_of(21, 7)) {
			assert_int_equal(pp_report_new(&out, &request, NULL),
					 0);
			check_graph(&sessions[i], out);
			pp_report_free(out);
		}
	}
	pp_spec_release(&spec);
}

/* ---- many files ---------------------------------------------------------- */

#define MAX_IMAGES 500
#define NR_CLASSES 4

static void add_binary(struct fixture *f, unsigned int nr)
{
	struct op_sample_header header = {
		.magic = OP_SAMPLE_MAGIC,
		.version = OP_SAMPLE_VERSION,
	};
	char binary[128], path[1024];
	struct odb *odb;

	snprintf(binary, sizeof(binary), "%s/bin%u", f->dir, nr);
	assert_int_equal(symlink("/proc/self/exe", binary), 0);
	for (unsigned int cpu = 0; cpu < NR_CLASSES; cpu++) {
		snprintf(
			path, sizeof(path),
			"%s/samples/current/{root}%s/{dep}/{root}%s/E.1.0.all.all.%u",
			f->dir, binary, binary, cpu);
		assert_int_equal(op_make_parents(path, 0755), 0);
		assert_int_equal(odb_open(&odb, path, ODB_RDWR), 0);
		memcpy(odb_user(odb), &header, sizeof(header));
		assert_int_equal(odb_add(odb, 0x1000, 10000000000ull), 0);
		odb_close(odb);
	}
}

/* Whether the messages tell of each image once that it was opened. */
static void check_opens(const struct pp_messages *messages,
			unsigned int nr_images)
{
	unsigned int opened[MAX_IMAGES] = { 0 };

	for (size_t i = 0; i < messages->nr; i++) {
		const char *name = strstr(messages->list[i].text, "/bin");

		if (messages->list[i].kind == PP_REMARK_BFD) {
			assert_non_null(name);
			opened[strtoul(name + 4, NULL, 10)]++;
		}
	}
	for (unsigned int i = 0; i < nr_images; i++)
		assert_int_equal(opened[i], 1);
}

TEST(each_image_is_opened_once)
{
	struct fixture f = { .dir = "/tmp/oprofile-pp.XXXXXX" };
	struct pp_spec spec;
	struct pp_request request = {
		.select.session = &f.session,
		.select.spec = &spec,
		.symbols.wanted = true,
	};
	unsigned int nr_images = rounds_of(50, MAX_IMAGES);
	struct pp_report *out;

	assert_non_null(mkdtemp(f.dir));
	assert_int_equal(op_session_init(&f.session, f.dir, NULL), 0);
	for (unsigned int i = 0; i < nr_images; i++)
		add_binary(&f, i);
	assert_int_equal(pp_sort_init(&request.symbols.sort, NULL, NULL), 0);
	assert_int_equal(pp_spec_init(&spec, NULL, NULL), 0);
	assert_int_equal(pp_report_new(&out, &request, NULL), 0);
	assert_int_equal(out->symbols.nr, nr_images);
	assert_int_equal(out->symbols.totals[0], nr_images * 10000000000ull);
	check_opens(&out->messages, nr_images);
	pp_report_free(out);
	pp_spec_release(&spec);
	remove_session(&f);
}

TEST_GROUP(make_sessions, remove_sessions)
