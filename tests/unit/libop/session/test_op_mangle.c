// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Names of sample files: known ones to the letter, and the two promises for
 * all others: what is built parses back to the same, and stays in its folder.
 */

#include "tests/unit/op_fixture.h"

#include "libop/session/op_mangle.h"

static char built[OP_MANGLE_MAX];
static char strings[OP_MANGLE_MAX];

static struct op_image_name root(const char *path)
{
	return (struct op_image_name){ .space = OP_SPACE_ROOT, .name = path };
}

static struct op_image_name kern(const char *name)
{
	return (struct op_image_name){ .space = OP_SPACE_KERN, .name = name };
}

static struct op_image_name anon(const char *name, int64_t tgid, uint64_t start,
				 uint64_t end)
{
	return (struct op_image_name){
		.space = OP_SPACE_ANON,
		.name = name,
		.tgid = tgid,
		.start = start,
		.end = end,
	};
}

static struct op_mangle named(struct op_image_name app,
			      struct op_image_name dep)
{
	return (struct op_mangle){
		.app = app,
		.dep = dep,
		.event = "TIMER",
		.tgid = OP_MANGLE_ALL,
		.tid = OP_MANGLE_ALL,
		.cpu = OP_MANGLE_ALL,
	};
}

static void same_image(const struct op_image_name *a,
		       const struct op_image_name *b)
{
	assert_int_equal(a->space, b->space);
	if (a->space == OP_SPACE_NONE)
		return;
	assert_string_equal(a->name, b->name);
	assert_int_equal(a->tgid, b->tgid);
	assert_int_equal(a->start, b->start);
	assert_int_equal(a->end, b->end);
	assert_int_equal(!a->build, !b->build);
	if (a->build)
		assert_string_equal(a->build, b->build);
}

static void same(const struct op_mangle *a, const struct op_mangle *b)
{
	same_image(&a->app, &b->app);
	same_image(&a->dep, &b->dep);
	same_image(&a->cg, &b->cg);
	assert_int_equal(a->is_tree, b->is_tree);
	assert_string_equal(a->event, b->event);
	assert_int_equal(a->count, b->count);
	assert_int_equal(a->unit_mask, b->unit_mask);
	assert_int_equal(a->tgid, b->tgid);
	assert_int_equal(a->tid, b->tid);
	assert_int_equal(a->cpu, b->cpu);
	assert_int_equal(!a->cgroup, !b->cgroup);
	if (a->cgroup)
		assert_string_equal(a->cgroup, b->cgroup);
}

/* No component leads out of the folder, is empty, or is too long. */
static void stays_inside(const char *name)
{
	while (*name) {
		size_t len = strcspn(name, "/");

		assert_true(len > 0 && len <= OP_MANGLE_COMPONENT_MAX);
		assert_false(len == 1 && name[0] == '.');
		assert_false(len == 2 && name[0] == '.' && name[1] == '.');
		for (size_t i = 0; i < len; i++)
			assert_true(name[i] >= 0x20 && name[i] < 0x7f);
		name += len + (name[len] == '/');
	}
}

static const char *round_trip(const struct op_mangle *m)
{
	struct op_diag diag = { "" };
	struct op_mangle back;
	int len = op_mangle_build(m, built, sizeof(built));

	if (len < 0)
		fail_msg("%s: %d", m->dep.name, len);
	assert_int_equal(len, strlen(built));
	stays_inside(built);
	if (op_mangle_parse(built, &back, strings, sizeof(strings), &diag))
		fail_msg("%s", diag.text);
	same(m, &back);
	return built;
}

/* ---- known names ----------------------------------------------------------
 */

TEST(test_classic_names)
{
	struct op_mangle m = named(root("/B/liba.so"), root("/B/liba.so"));

	m.event = "CPU_CLK_UNHALTED";
	m.count = 100000;
	assert_string_equal(round_trip(&m),
			    "{root}/B/liba.so/{dep}/{root}/B/liba.so/"
			    "CPU_CLK_UNHALTED.100000.0.all.all.all");
	m.app = root("/B/tprog");
	m.dep = kern("snd_fake");
	m.tgid = m.tid = 4300;
	m.cpu = 0;
	assert_string_equal(round_trip(&m),
			    "{root}/B/tprog/{dep}/{kern}/snd_fake/"
			    "CPU_CLK_UNHALTED.100000.0.4300.4300.0");
	m.dep.build = "0123ab";
	assert_string_equal(round_trip(&m),
			    "{root}/B/tprog/{dep}/{kern}/snd_fake/"
			    "{build:0123ab}/"
			    "CPU_CLK_UNHALTED.100000.0.4300.4300.0");
	m = named(root("/B/tprog"), root("/B/tprog"));
	m.cg = root("/B/liba.so");
	assert_string_equal(round_trip(&m),
			    "{root}/B/tprog/{dep}/{root}/B/tprog/{cg}/{root}"
			    "/B/liba.so/TIMER.0.0.all.all.all");
	m = named(root("/B/tprog"),
		  anon("anon", 5100, 0x7f1000000000, 0x7f1000021000));
	assert_string_equal(round_trip(&m),
			    "{root}/B/tprog/{dep}/{anon:anon}/"
			    "5100.0x7f1000000000.0x7f1000021000/"
			    "TIMER.0.0.all.all.all");
	m = named(kern("bar"), kern("foo"));
	m.event = "EVENT";
	m.count = 1234;
	m.unit_mask = 8192;
	m.tgid = 34;
	m.tid = 35;
	m.cpu = 2;
	assert_string_equal(round_trip(&m), "{kern}/bar/{dep}/{kern}/foo/"
					    "EVENT.1234.8192.34.35.2");
}

static struct op_mangle tree_of(struct op_image_name app)
{
	struct op_mangle m = named(app, (struct op_image_name){ 0 });

	m.is_tree = true;
	return m;
}

/* Whatever a cgroup is called, the name leads nowhere else. */
TEST(test_cgroups)
{
	static const struct {
		const char *path, *part;
	} rows[] = {
		{ "/", "{cgroup}/" },
		{ "", "{no-cgroup}/" },
		{ "/system.slice/a.service",
		  "{cgroup}/system.slice/a.service/" },
		{ "/{dep}", "{cgroup}/%7bdep}/" },
		{ "/{cgroup}/{no-cgroup}",
		  "{cgroup}/%7bcgroup}/%7bno-cgroup}/" },
		{ "/../..", "{cgroup}/%2e%2e/%2e%2e/" },
		{ "/./.hidden/...", "{cgroup}/%2e/.hidden/.../" },
		{ "/100%", "{cgroup}/100%25/" },
		{ "/a\nb\x1b", "{cgroup}/a%0ab%1b/" },
		{ "/a\\x2db", "{cgroup}/a\\x2db/" },
		{ "/\xc3\xa4", "{cgroup}/%c3%a4/" },
	};
	struct op_mangle m = named(root("/a"), kern("b"));
	struct op_mangle tree = tree_of(root("/a"));
	char wanted[256];

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		m.cgroup = tree.cgroup = rows[i].path;
		snprintf(wanted, sizeof(wanted),
			 "{root}/a/%s{dep}/{kern}/b/TIMER.0.0.all.all.all",
			 rows[i].part);
		assert_string_equal(round_trip(&m), wanted);
		snprintf(wanted, sizeof(wanted),
			 "{root}/a/%s{tree}/TIMER.0.0.all.all.all",
			 rows[i].part);
		assert_string_equal(round_trip(&tree), wanted);
	}
}

TEST(test_long_cgroup)
{
	struct op_mangle m = named(root("/a"), kern("b"));
	char path[1200] = "/";

	memset(path + 1, '%', 1000);
	m.cgroup = path;
	round_trip(&m);
}

TEST(test_impossible_cgroups)
{
	static const char *const paths[] = { "a", "//", "/a/", "/a//b", "//a" };
	struct op_mangle m = named(root("/a"), kern("b"));

	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		m.cgroup = paths[i];
		assert_int_equal(op_mangle_build(&m, built, sizeof(built)),
				 -EINVAL);
	}
}

TEST(test_call_trees)
{
	struct op_mangle m = tree_of(root("/bin/ls"));

	assert_string_equal(round_trip(&m),
			    "{root}/bin/ls/{tree}/TIMER.0.0.all.all.all");
	m.app = kern("vmlinux");
	m.event = "CPU_CLK_UNHALTED";
	m.count = 100000;
	m.tgid = 7;
	m.tid = 8;
	m.cpu = 1;
	assert_string_equal(round_trip(&m), "{kern}/vmlinux/{tree}/"
					    "CPU_CLK_UNHALTED.100000.0.7.8.1");
	m.app = root("/{tree}/{tree}");
	assert_string_equal(round_trip(&m), "{root}/%7btree}/%7btree}/{tree}/"
					    "CPU_CLK_UNHALTED.100000.0.7.8.1");
	m.app = anon("a", 1, 2, 3);
	round_trip(&m);
}

TEST(test_largest_numbers)
{
	struct op_mangle m = named(anon("a", INT64_MAX, UINT64_MAX, UINT64_MAX),
				   anon("a", 0, 0, 0));

	m.count = m.unit_mask = UINT64_MAX;
	m.tgid = m.tid = m.cpu = INT64_MAX;
	round_trip(&m);
}

/* Built below {root}/a/{dep}/{root}, as @component of the dependent image. */
static void encodes(const char *raw, const char *component)
{
	char path[1024], wanted[2048];
	struct op_mangle m = named(root("/a"), root(path));

	snprintf(path, sizeof(path), "/%s/x", raw);
	snprintf(wanted, sizeof(wanted),
		 "{root}/a/{dep}/{root}/%s/x/TIMER.0.0.all.all.all", component);
	assert_string_equal(round_trip(&m), wanted);
}

TEST(test_hostile_components)
{
	encodes(".", "%2e");
	encodes("..", "%2e%2e");
	encodes("...", "...");
	encodes(".config", ".config");
	encodes("..a", "..a");
	encodes("{dep}", "%7bdep}");
	encodes("{root}", "%7broot}");
	encodes("a{b}", "a{b}");
	encodes("100%", "100%25");
	encodes("%+", "%25+");
	encodes("%2e", "%252e");
	encodes("a b\\\"'*?$", "a b\\\"'*?$");
	encodes("\n\t\x01\x1f\x7f", "%0a%09%01%1f%7f");
	encodes("\xff\xc3\xa4", "%ff%c3%a4");
	encodes("lib (deleted)", "lib (deleted)");
	encodes("TIMER.0.0.all.all.all", "TIMER.0.0.all.all.all");
}

TEST(test_one_component_names)
{
	struct op_mangle m = named(kern("[vdso]"), kern("[kernel-other]"));

	assert_string_equal(round_trip(&m), "{kern}/[vdso]/{dep}/{kern}/"
					    "[kernel-other]/"
					    "TIMER.0.0.all.all.all");
	m = named(kern(".."), kern("../../etc/{x}"));
	assert_string_equal(round_trip(&m), "{kern}/%2e%2e/{dep}/{kern}/"
					    "..%2f..%2fetc%2f{x}/"
					    "TIMER.0.0.all.all.all");
	m = named(anon("..", 1, 0, 1), anon("a}/b{", 1, 0, 1));
	assert_string_equal(round_trip(&m), "{anon:..}/1.0x0.0x1/{dep}/"
					    "{anon:a%7d%2fb{}/1.0x0.0x1/"
					    "TIMER.0.0.all.all.all");
	m = named(anon("}", 1, 0, 1), anon("%", 1, 0, 1));
	round_trip(&m);
}

TEST(test_long_components)
{
	char path[4096];
	struct op_mangle m = named(root(path), kern(path));

	for (size_t len = 230; len < 800; len++) {
		for (const char *c = "x.{\xff"; *c; c++) {
			memset(path, *c, len);
			path[len] = '\0';
			m.app = anon(path, 1, 2, 3);
			round_trip(&m);
			path[0] = '/';
			m.app = root(path);
			round_trip(&m);
		}
	}
}

/* One file's path of the longest kind; several would not fit a name. */
TEST(test_longest_paths)
{
	char path[4096];
	struct op_mangle m = named(kern("k"), root(path));

	memset(path, '\xff', 4095);
	path[0] = '/';
	path[4095] = '\0';
	round_trip(&m);
	for (int i = 0; i < 4095; i += 2)
		path[i] = '/';
	path[4094] = '.';
	round_trip(&m);
	memset(path + 1, 'y', 4094);
	m.app = m.cg = root(path);
	round_trip(&m);
	memset(path + 1, '\n', 4094);
	assert_int_equal(op_mangle_build(&m, built, sizeof(built)),
			 -ENAMETOOLONG);
}

TEST(test_events)
{
	static const char *const events[] = {
		"l2_rqsts.miss", ".", "..", "{dep}", "a:b=1,c", "1.2.3.4.5.6",
		"all",		 "%", " ",  "\n",    ".0.0.0"
	};
	struct op_mangle m = named(root("/a"), kern("b"));
	char event[300];

	for (size_t i = 0; i < sizeof(events) / sizeof(*events); i++) {
		m.event = events[i];
		round_trip(&m);
	}
	m.event = event;
	for (size_t len = 1; len < sizeof(event); len++) {
		memset(event, 'e', len);
		event[len] = '\0';
		if (len <= 224) /* 16 for ".0.0.all.all.all" */
			round_trip(&m);
		else
			assert_int_equal(op_mangle_build(&m, built,
							 sizeof(built)),
					 -ENAMETOOLONG);
	}
}

/* ---- what is not built -----------------------------------------------------
 */

static void refuse_build(const struct op_mangle *m)
{
	assert_int_equal(op_mangle_build(m, built, sizeof(built)), -EINVAL);
}

TEST(test_refused_images)
{
	static const char *const paths[] = { NULL, "",	    "/",     "a",
					     "//", "/a//b", "/a/b/", "//a" };
	struct op_mangle m;

	for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++) {
		m = named(root(paths[i]), kern("k"));
		refuse_build(&m);
		m = named(kern("k"), root(paths[i]));
		refuse_build(&m);
		m = named(kern("k"), kern("k"));
		m.cg = root(paths[i]);
		refuse_build(&m);
	}
	m = named(kern(""), kern("k"));
	refuse_build(&m);
	m = named(anon("", 1, 2, 3), kern("k"));
	refuse_build(&m);
	m = named(anon("a", -1, 2, 3), kern("k"));
	refuse_build(&m);
	m = named(anon("a", 1, 3, 2), kern("k"));
	refuse_build(&m);
	m = named((struct op_image_name){ 0 }, kern("k"));
	refuse_build(&m);
	m = named(kern("k"), (struct op_image_name){ 0 });
	refuse_build(&m);
	m.dep = kern("k");
	m.dep.space = 17;
	refuse_build(&m);
	m = tree_of(kern("k"));
	m.dep = kern("k");
	refuse_build(&m);
	m = tree_of(kern("k"));
	m.cg = kern("k");
	refuse_build(&m);
	m = tree_of((struct op_image_name){ 0 });
	refuse_build(&m);
}

TEST(test_refused_builds)
{
	static const char *const builds[] = {
		"",
		"a",
		"AB",
		"0x",
		"ab/",
		"ab}",
		"abc",
		"ag",
		"file-1-2-3-4",
		"file-1-2",
		"file-01-2-3",
		"file-0-0-0",
		"file-A-2-3",
		"file--1-2-3",
		"file- 1-2-3",
		"file-1ffffffffffffffff-2-3",
		"00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff00",
	};
	struct op_mangle m;

	for (size_t i = 0; i < sizeof(builds) / sizeof(*builds); i++) {
		m = named(root("/a"), root("/a"));
		m.dep.build = builds[i];
		refuse_build(&m);
		m = named(root("/a"), root("/a"));
		m.cg = kern("k");
		m.cg.build = builds[i];
		refuse_build(&m);
	}
	m = named(root("/a"), anon("anon", 1, 2, 3));
	m.dep.build = "ab";
	refuse_build(&m);
	m = named(root("/a"), root("/a"));
	m.app.build = "ab";
	refuse_build(&m);
}

TEST(test_refused_fields)
{
	struct op_mangle m = named(kern("k"), kern("k"));

	m.event = NULL;
	refuse_build(&m);
	m.event = "";
	refuse_build(&m);
	m.event = "a/b";
	refuse_build(&m);
	m.event = "e";
	m.cpu = -2;
	refuse_build(&m);
	m.cpu = 0;
	m.tid = INT64_MIN;
	refuse_build(&m);
	m.tid = 0;
	m.tgid = -2;
	refuse_build(&m);
}

TEST(test_short_buffers)
{
	struct op_mangle m = named(root("/bin/x"), anon("a", 1, 2, 3)), back;
	int len = op_mangle_build(&m, built, sizeof(built));
	char *buf;

	for (int room = 0; room <= len; room++) {
		buf = malloc(room ? room : 1); /* so that ASan sees its end */
		assert_int_equal(op_mangle_build(&m, buf, room), -ENAMETOOLONG);
		free(buf);
	}
	buf = malloc(len + 1);
	assert_int_equal(op_mangle_build(&m, buf, len + 1), len);
	free(buf);
	for (size_t room = 0; room < 15; room++) { /* "/bin/x" "a" "TIMER" */
		buf = malloc(room ? room : 1);
		assert_int_equal(op_mangle_parse(built, &back, buf, room, NULL),
				 -ENAMETOOLONG);
		free(buf);
	}
	buf = malloc(15);
	assert_int_equal(op_mangle_parse(built, &back, buf, 15, NULL), 0);
	free(buf);
}

/* ---- what is not parsed ----------------------------------------------------
 */

#define GOOD "{root}/a/{dep}/{kern}/b/TIMER.0.0.all.all.all"
#define EVENT "/TIMER.0.0.all.all.all"

TEST(test_broken_names)
{
	static const char *const names[] = {
		"",
		"/",
		"ledger",
		"/" GOOD,
		"./" GOOD,
		GOOD "/",
		GOOD ".1",
		GOOD " ",
		GOOD "\n",
		GOOD "/x",
		"x" GOOD,
		/* fields */
		"{root}/a/{dep}/{kern}/b/TIMER",
		"{root}/a/{dep}/{kern}/b/TIMER.0.0.all.all",
		"{root}/a/{dep}/{kern}/b/.0.0.all.all.all",
		"{root}/a/{dep}/{kern}/b/T..0.all.all.all",
		"{root}/a/{dep}/{kern}/b/T.0.0.all.all.",
		"{root}/a/{dep}/{kern}/b/T.0.0..all.all",
		"{root}/a/{dep}/{kern}/b/T.all.0.all.all.all",
		"{root}/a/{dep}/{kern}/b/T.0.0.all.all.ALL",
		"{root}/a/{dep}/{kern}/b/T.0.0.all.all.-1",
		"{root}/a/{dep}/{kern}/b/T.0.0.all.all.+1",
		"{root}/a/{dep}/{kern}/b/T.0.0.all.all. 1",
		"{root}/a/{dep}/{kern}/b/T.0.0.all.all.01",
		"{root}/a/{dep}/{kern}/b/T.0.0.all.all.0x1",
		"{root}/a/{dep}/{kern}/b/T.0.0.all.all.1e1",
		"{root}/a/{dep}/{kern}/b/T.00.0.all.all.all",
		"{root}/a/{dep}/{kern}/b/T.18446744073709551616.0.all.all.all",
		"{root}/a/{dep}/{kern}/b/T.0.99999999999999999999.all.all.all",
		"{root}/a/{dep}/{kern}/b/"
		"T.0.0.9223372036854775808.all.all",
		"{root}/a/{dep}/{kern}/b/"
		"T.0.0.all.all.00000000000000000000000000000000000001",
		/* images */
		"{root}/a/TIMER.0.0.all.all.all",
		"{root}/a/{dep}" EVENT,
		"{root}/a/{dep}/TIMER.0.0.all.all.all",
		"{root}/{dep}/{kern}/b" EVENT,
		"{root}//{dep}/{kern}/b" EVENT,
		"{root}//a/{dep}/{kern}/b" EVENT,
		"{root}/a//{dep}/{kern}/b" EVENT,
		"{root}/a/b//c/{dep}/{kern}/b" EVENT,
		"{root}a/{dep}/{kern}/b" EVENT,
		"{dep}/{root}/a/{dep}/{kern}/b" EVENT,
		"{foo}/a/{dep}/{kern}/b" EVENT,
		"{kern}/a/b/{dep}/{kern}/b" EVENT,
		"{kern}/{dep}/{kern}/b" EVENT,
		"{kern}/a/{dep}/{kern}" EVENT,
		"{kern}/a/{dep}/{kern}/b/c" EVENT,
		"{kern}/a/{dep}/{kern}/b/{dep}/{kern}/c" EVENT,
		"{kern}/a/{cg}/{kern}/b" EVENT,
		"{kern}/a/{dep}/{kern}/b/{cg}" EVENT,
		"{kern}/a/{dep}/{kern}/b/{cg}/{kern}/c/{cg}/{kern}/d" EVENT,
		/* call trees */
		"{tree}/TIMER.0.0.all.all.all",
		"{root}/a/{tree}" EVENT "/{tree}" EVENT,
		"{root}/a/{tree}/{kern}/b" EVENT,
		"{root}/a/{tree}/{cg}/{kern}/b" EVENT,
		"{root}/a/{dep}/{tree}" EVENT,
		"{root}/a/{dep}/{kern}/b/{tree}" EVENT,
		"{root}/a/{tree}/{tree}" EVENT,
		"{root}/a/{tree}x" EVENT,
		"{root}/a/x{tree}" EVENT,
		"{root}/{tree}" EVENT,
		/* cgroups */
		"{cgroup}/a/{root}/a/{dep}/{kern}/b" EVENT,
		"{root}/a/{cgroup}" EVENT,
		"{root}/a/{cgroup}/x" EVENT,
		"{root}/a/{cgroup}/x/{cgroup}/y/{dep}/{kern}/b" EVENT,
		"{root}/a/{cgroup}//{dep}/{kern}/b" EVENT,
		"{root}/a/{cgroup}/../{dep}/{kern}/b" EVENT,
		"{root}/a/{cgroup}x/{dep}/{kern}/b" EVENT,
		"{root}/a/{no-cgroup}/x/{dep}/{kern}/b" EVENT,
		"{root}/a/{no-cgroup}/{cgroup}/{dep}/{kern}/b" EVENT,
		"{root}/a/{dep}/{kern}/b/{cgroup}/x" EVENT,
		/* escapes */
		"{root}/../{dep}/{kern}/b" EVENT,
		"{root}/./{dep}/{kern}/b" EVENT,
		"{root}/a/../../x/{dep}/{kern}/b" EVENT,
		"{kern}/../{dep}/{kern}/b" EVENT,
		"{root}/%/{dep}/{kern}/b" EVENT,
		"{root}/%2/{dep}/{kern}/b" EVENT,
		"{root}/%2/e/{dep}/{kern}/b" EVENT,
		"{root}/%2E/{dep}/{kern}/b" EVENT,
		"{root}/%zz/{dep}/{kern}/b" EVENT,
		"{root}/%00/{dep}/{kern}/b" EVENT,
		"{root}/%2f/{dep}/{kern}/b" EVENT,
		"{root}/%41/{dep}/{kern}/b" EVENT,
		"{root}/%2ea/{dep}/{kern}/b" EVENT,
		"{root}/\xff/{dep}/{kern}/b" EVENT,
		"{root}/a\n/{dep}/{kern}/b" EVENT,
		"{root}/a%+/{dep}/{kern}/b" EVENT,
		"{root}/a%+/b/{dep}/{kern}/b" EVENT,
		"{root}/a/{dep}/{kern}/b%+" EVENT,
		"{root}/%+/{dep}/{kern}/b" EVENT,
		"{root}/a/{dep}/{kern}/b/%2fTIMER.0.0.all.all.all",
		/* anonymous memory */
		"{anon:}/1.0x2.0x3/{dep}/{kern}/b" EVENT,
		"{anon:a/1.0x2.0x3/{dep}/{kern}/b" EVENT,
		"{anon:a}b/1.0x2.0x3/{dep}/{kern}/b" EVENT,
		"{anon:a}}/1.0x2.0x3/{dep}/{kern}/b" EVENT,
		"{anon:a}/{dep}/{kern}/b" EVENT,
		"{anon:a}/1.0x2/{dep}/{kern}/b" EVENT,
		"{anon:a}/1.0x2.0x3.4/{dep}/{kern}/b" EVENT,
		"{anon:a}/1.2.0x3/{dep}/{kern}/b" EVENT,
		"{anon:a}/1.0x2.0X3/{dep}/{kern}/b" EVENT,
		"{anon:a}/1.0x02.0x3/{dep}/{kern}/b" EVENT,
		"{anon:a}/1.0x2.0xAB/{dep}/{kern}/b" EVENT,
		"{anon:a}/1.0x2.0x10000000000000000/{dep}/{kern}/b" EVENT,
		"{anon:a}/all.0x2.0x3/{dep}/{kern}/b" EVENT,
		"{anon:a}/-1.0x2.0x3/{dep}/{kern}/b" EVENT,
		"{anon:a}/9223372036854775808.0x2.0x3/{dep}/{kern}/b" EVENT,
		"{anon:a}/1.0x3.0x2/{dep}/{kern}/b" EVENT,
		"{anon:a}/5100.jo/{dep}/{kern}/b" EVENT,
		"{root}/a/{dep}/{anon:a}/1.0x2.0x3",
		"{root}/a/{dep}/{anon:a",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		struct op_diag diag = { "" };
		struct op_mangle m;
		int err = op_mangle_parse(names[i], &m, strings,
					  sizeof(strings), &diag);

		if (err != -EINVAL)
			fail_msg("\"%s\": %d", names[i], err);
		assert_reason(&diag, ": not the name of a sample file: ");
		assert_null(strstr(diag.text, "(null)"));
	}
}

TEST(test_every_truncation)
{
	static const char name[] =
		"{root}/usr/bin/a/{dep}/{anon:heap}/12.0x34.0x56/{cg}/{kern}/"
		"ext4/CPU.100000.0.7423.7424.0";
	struct op_mangle m;

	assert_int_equal(
		op_mangle_parse(name, &m, strings, sizeof(strings), NULL), 0);
	for (size_t len = 0; len < sizeof(name) - 1; len++) {
		char *part = strndup(name, len);

		assert_int_equal(op_mangle_parse(part, &m, strings,
						 sizeof(strings), NULL),
				 -EINVAL);
		free(part);
	}
}

TEST(test_too_long_to_parse)
{
	char *path = calloc(1, 2 * OP_MANGLE_MAX);
	struct op_mangle m;

	memset(path, 'x', 2 * OP_MANGLE_MAX - 1);
	assert_int_equal(op_mangle_parse(path, &m, strings, sizeof(strings),
					 NULL),
			 -EINVAL);
	free(path);
}

/* ---- random names ----------------------------------------------------------
 */

static unsigned int seed = 20;

static unsigned int pick(unsigned int below)
{
	return (unsigned int)rand_r(&seed) % below;
}

/* Add a random component without a slash to @buf of @room bytes. */
static void add_component(char *buf, size_t room)
{
	static const char *const parts[] = {
		".", "..",     "{dep}", "{root}", "{cg}",  "{kern}",
		"%", "{tree}", "%+",	"%2e",	  "\n",	   "\xff",
		"}", "{",      "a",	"lib.so", "{anon", ":",
		" ", "all",    "0x1",	"%2"
	};
	size_t len = strlen(buf);
	unsigned int nr = 1 + (pick(4) ? 0 : pick(4));

	if (!pick(40)) {
		size_t n = 200 + pick(120);

		if (len + n < room) {
			memset(buf + len, "x.\xff"[pick(3)], n);
			buf[len + n] = '\0';
		}
		return;
	}
	while (nr--) {
		const char *part = parts[pick(sizeof(parts) / sizeof(*parts))];

		if (strlen(buf) + strlen(part) < room)
			strcat(buf, part);
	}
}

static struct op_image_name random_image(char *buf, size_t room)
{
	unsigned int space = pick(3), nr = 1 + pick(5);
	uint64_t start = (uint64_t)pick(UINT32_MAX) << pick(33);

	buf[0] = '\0';
	if (space != 0) {
		do {
			add_component(buf, room);
			if (!pick(4))
				strcat(buf, "/");
		} while (!*buf);
		return space == 1 ? kern(buf)
				  : anon(buf, pick(100000), start,
					 start + pick(1 << 20));
	}
	while (nr--) {
		size_t len = strlen(buf);

		strcat(buf, "/");
		add_component(buf, room);
		if (strlen(buf) == len + 1)
			strcat(buf, "z");
	}
	return root(buf);
}

static const char *random_build(enum op_image_space space)
{
	static const char *const builds[] = {
		"00",
		"00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff",
		"file-fe01-1a2b-65000000",
		"file-0-0-1",
		"file-ffffffffffffffff-ffffffffffffffff-ffffffffffffffff",
	};

	return space == OP_SPACE_ANON || !pick(3) ? NULL : builds[pick(5)];
}

static int64_t random_id(void)
{
	return pick(2) ? OP_MANGLE_ALL : (int64_t)pick(1 << 22);
}

TEST(test_random_names)
{
	char text[4][2048];

	for (int i = 0; i < 40000; i++) {
		struct op_mangle m = {
			.app = random_image(text[0], 1500),
			.dep = random_image(text[1], 1500),
			.event = text[3],
			.count = pick(UINT32_MAX),
			.unit_mask = pick(256),
			.tgid = random_id(),
			.tid = random_id(),
			.cpu = random_id(),
		};

		if (pick(2))
			m.cg = random_image(text[2], 1500);
		m.dep.build = random_build(m.dep.space);
		if (m.cg.space != OP_SPACE_NONE)
			m.cg.build = random_build(m.cg.space);
		strcpy(text[3], "E");
		add_component(text[3], 30);
		if (strlen(text[3]) > 30)
			text[3][30] = '\0';
		if (!pick(4)) {
			m.is_tree = true;
			m.dep = m.cg = (struct op_image_name){ 0 };
		}
		round_trip(&m);
	}
}

/* Whatever parses after damage is a name that would be built just so. */
TEST(test_random_damage)
{
	char text[2][2048], damaged[OP_MANGLE_MAX], again[OP_MANGLE_MAX];
	struct op_mangle m, back;
	unsigned int parsed = 0;

	for (int i = 0; i < 40000; i++) {
		size_t len;

		if (i % 100 == 0) {
			m = named(random_image(text[0], 300),
				  random_image(text[1], 300));
			m.dep.build = random_build(m.dep.space);
			round_trip(&m);
		}
		strcpy(damaged, built);
		len = strlen(damaged);
		damaged[pick(len)] =
			pick(2) ? "/.%{}0x+"[pick(8)] : (char)(1 + pick(255));
		if (op_mangle_parse(damaged, &back, strings, sizeof(strings),
				    NULL))
			continue;
		parsed++;
		stays_inside(damaged);
		assert_int_equal(op_mangle_build(&back, again, sizeof(again)),
				 len);
		assert_string_equal(again, damaged);
	}
	assert_true(parsed > 100);
}
