// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What oppush is made of, without a server: the difference of two profiles, the
 * spool, and when what is tried, on a clock of the test's.
 */

/* What a row of a table does not name is zero. */
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

#include "tests/unit/pp_fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libop/files/op_remove.h"
#include "pp/oppush/oppush_pace.h"
#include "pp/oppush/oppush_run.h"
#include "pp/oppush/oppush_spool.h"
#include "pp/oppush/oppush_sums.h"
#include "pp/oppush/oppush_tables.h"

/* ---- waits and answers ------------------------------------------------------
 */

TEST(answers_mean_something)
{
	for (long status = 200; status < 300; status++)
		assert_int_equal(push_outcome(status), PUSH_DELIVERED);
	assert_int_equal(push_outcome(409), PUSH_DELIVERED);
	static const long again[] = { 0,   100, 301, 401, 403, 404, 408,
				      429, 500, 502, 503, 504, 599 };
	for (size_t i = 0; i < sizeof(again) / sizeof(*again); i++)
		assert_int_equal(push_outcome(again[i]), PUSH_AGAIN);
	static const long refused[] = { 400, 413, 415, 422 };
	for (size_t i = 0; i < sizeof(refused) / sizeof(*refused); i++)
		assert_int_equal(push_outcome(refused[i]), PUSH_REFUSED);
}

TEST(waits_double_and_end)
{
	uint64_t whole = PUSH_FIRST_WAIT_MS;

	for (uint64_t failures = 1; failures < 70; failures++) {
		assert_int_equal(push_wait_ms(failures, 0, 0), whole / 2);
		assert_int_equal(push_wait_ms(failures, whole / 2, 0), whole);
		assert_in_range(push_wait_ms(failures, UINT64_MAX, 0),
				whole / 2, whole);
		whole = whole * 2 < PUSH_LAST_WAIT_MS ? whole * 2
						      : PUSH_LAST_WAIT_MS;
	}
	assert_int_equal(push_wait_ms(1, 0, 7), 7000);
	assert_int_equal(push_wait_ms(20, 0, 7), PUSH_LAST_WAIT_MS / 2);
	assert_int_equal(push_wait_ms(1, 0, UINT64_MAX), PUSH_LONGEST_MS);
}

/* ---- the difference ---------------------------------------------------------
 */

#define MAX_STACKS 8

/*
 * A profile of "LABEL/FUNCTION=VALUE ...", each of a stack of that function in
 * "main"; ids of the file count from @first.
 */
struct made {
	Pprof__Profile p;
	Pprof__ValueType type, *types[1];
	Pprof__Function functions[MAX_STACKS + 1],
		*function_list[MAX_STACKS + 1];
	Pprof__Line lines[MAX_STACKS + 1], *line_lists[MAX_STACKS + 1][1];
	Pprof__Location locations[MAX_STACKS + 1],
		*location_list[MAX_STACKS + 1];
	Pprof__Label labels[MAX_STACKS], *label_lists[MAX_STACKS][1];
	Pprof__Sample samples[MAX_STACKS], *sample_list[MAX_STACKS];
	uint64_t stacks[MAX_STACKS][2];
	int64_t values[MAX_STACKS];
	char *strings[4 * MAX_STACKS];
};

static int64_t string_number(struct made *m, const char *text)
{
	for (size_t i = 0; i < m->p.n_string_table; i++)
		if (!strcmp(m->strings[i], text))
			return (int64_t)i;
	m->strings[m->p.n_string_table] = strdup(text);
	return (int64_t)m->p.n_string_table++;
}

static uint64_t make_location(struct made *m, const char *name, uint64_t first)
{
	size_t nr = m->p.n_location;

	for (size_t i = 0; i < nr; i++)
		if (m->functions[i].name == string_number(m, name))
			return m->locations[i].id;
	pprof__function__init(&m->functions[nr]);
	m->functions[nr].id = first + nr;
	m->functions[nr].name = string_number(m, name);
	pprof__line__init(&m->lines[nr]);
	m->lines[nr].function_id = first + nr;
	m->line_lists[nr][0] = &m->lines[nr];
	pprof__location__init(&m->locations[nr]);
	m->locations[nr].id = first + nr;
	m->locations[nr].n_line = 1;
	m->locations[nr].line = m->line_lists[nr];
	m->function_list[nr] = &m->functions[nr];
	m->location_list[nr] = &m->locations[nr];
	m->p.n_function = ++m->p.n_location;
	return first + nr;
}

static void make_sample(struct made *m, const char *label, const char *name,
			int64_t value, uint64_t first)
{
	size_t nr = m->p.n_sample++;

	m->stacks[nr][0] = make_location(m, name, first);
	m->stacks[nr][1] = make_location(m, "main", first);
	m->values[nr] = value;
	pprof__label__init(&m->labels[nr]);
	m->labels[nr].key = string_number(m, "application");
	m->labels[nr].str = string_number(m, label);
	m->label_lists[nr][0] = &m->labels[nr];
	pprof__sample__init(&m->samples[nr]);
	m->samples[nr].n_location_id = 2;
	m->samples[nr].location_id = m->stacks[nr];
	m->samples[nr].n_value = 1;
	m->samples[nr].value = &m->values[nr];
	m->samples[nr].n_label = 1;
	m->samples[nr].label = m->label_lists[nr];
	m->sample_list[nr] = &m->samples[nr];
}

static const Pprof__Profile *make_profile(struct made *m, const char *text,
					  uint64_t first)
{
	char label[16], name[16];
	int len;
	int64_t value;

	memset(m, 0, sizeof(*m));
	pprof__profile__init(&m->p);
	m->p.string_table = m->strings;
	m->p.function = m->function_list;
	m->p.location = m->location_list;
	m->p.sample = m->sample_list;
	string_number(m, "");
	pprof__value_type__init(&m->type);
	m->type.type = string_number(m, "samples");
	m->type.unit = string_number(m, "count");
	m->types[0] = &m->type;
	m->p.n_sample_type = 1;
	m->p.sample_type = m->types;
	while (sscanf(text, " %15[^/]/%15[^=]=%" SCNd64 "%n", label, name,
		      &value, &len) == 3) {
		make_sample(m, label, name, value, first);
		text += len;
	}
	return &m->p;
}

static void free_made(struct made *m)
{
	for (size_t i = 0; i < m->p.n_string_table; i++)
		free(m->strings[i]);
}

/* What a file of those bytes has. */
static Pprof__Profile *unpack(const uint8_t *bytes, size_t len)
{
	char path[] = "/tmp/test_pp_push-XXXXXX";
	struct op_diag diag = { "" };
	Pprof__Profile *p;
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, len), len);
	close(fd);
	assert_int_equal(push_read_profile(path, &p, &diag), 0);
	unlink(path);
	return p;
}

/* The same as a text, as far as it is no 0. */
static void read_back(const uint8_t *bytes, size_t len, char *text, size_t room)
{
	Pprof__Profile *p = unpack(bytes, len);
	size_t used = 0;

	text[0] = '\0';
	for (size_t i = 0; i < p->n_sample; i++) {
		const Pprof__Sample *s = p->sample[i];
		/* They count from 1. */
		const Pprof__Location *l = p->location[s->location_id[0] - 1];
		const Pprof__Function *f =
			p->function[l->line[0]->function_id - 1];

		assert_int_equal(s->n_location_id, 2);
		used += (size_t)snprintf(text + used, room - used,
					 "%s%s/%s=%" PRId64, i ? " " : "",
					 p->string_table[s->label[0]->str],
					 p->string_table[f->name], s->value[0]);
	}
	pprof__profile__free_unpacked(p, NULL);
}

static void assert_written(const struct push_sums *sums, bool is_sum,
			   const char *wanted)
{
	const struct push_profile_info info = { .begin = 1, .end = 3 };
	uint8_t *bytes = NULL;
	char text[256];
	size_t len;

	assert_int_equal(push_sums_write(sums, is_sum, &info, &bytes, &len), 0);
	read_back(bytes, len, text, sizeof(text));
	free(bytes);
	assert_string_equal(text, wanted);
}

TEST(differences_add_up)
{
	static const struct {
		const char *old, *now, *more, *sum;
	} rows[] = {
		{ NULL, "p/a=3 p/b=4", "p/a=3 p/b=4", "p/a=3 p/b=4" },
		{ "p/a=3", "p/a=3", "", "p/a=3" },
		{ "p/b=1 p/a=3", "p/a=5 p/b=4 p/c=1", "p/a=2 p/b=3 p/c=1",
		  "p/a=5 p/b=4 p/c=1" },
		/* A stack that is gone, or has less: its samples are others'.
		 */
		{ "p/a=3", "p/b=5", "p/b=2", "p/b=2 p/a=3" },
		{ "p/a=9 p/b=1", "p/a=7 p/b=6 p/c=2", "p/b=3 p/c=2",
		  "p/a=9 p/b=4 p/c=2" },
		/* First those of the same application, then any. */
		{ "q/a=4", "p/b=3 q/a=2 q/c=3", "p/b=3 q/c=1",
		  "p/b=3 q/a=4 q/c=1" },
		{ "q/a=9", "p/b=5 q/a=6 q/c=1", "p/b=3", "p/b=3 q/a=9" },
		/* Less than before in all. */
		{ "p/a=9", "p/a=4 p/b=1", "", "p/a=9" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct made old = { .values = { 0 } }, now;
		struct push_sums sums;
		const Pprof__Profile *before =
			rows[i].old ? make_profile(&old, rows[i].old, 1) : NULL;

		assert_int_equal(
			push_sums_init(&sums, before,
				       make_profile(&now, rows[i].now, 1000)),
			0);
		assert_written(&sums, false, rows[i].more);
		assert_written(&sums, true, rows[i].sum);
		push_sums_release(&sums);
		free_made(&now);
		free_made(&old);
	}
}

/* Each mapping of two profiles is written once, up to its last end. */
TEST(mappings_are_those_of_both)
{
	static const uint64_t limits[][3] = {
		/* of the old one, of the new one, and what is written */
		{ 0x5000, 0x7000, 0x7000 },
		{ 0x7000, 0x5000, 0x7000 },
	};

	for (size_t i = 0; i < sizeof(limits) / sizeof(*limits); i++) {
		const struct push_profile_info info = { .begin = 1, .end = 3 };
		struct made made[2];
		Pprof__Mapping mapping[2],
			*list[2] = { &mapping[0], &mapping[1] };
		struct push_sums sums;
		uint8_t *bytes = NULL;
		Pprof__Profile *p;
		size_t len;

		for (int k = 0; k < 2; k++) {
			struct made *m = &made[k];

			make_profile(m, "p/a=3 p/b=4", 1);
			pprof__mapping__init(&mapping[k]);
			mapping[k].id = 9;
			mapping[k].memory_start = 0x4000;
			mapping[k].memory_limit = limits[i][k];
			mapping[k].filename = string_number(m, "/bin/x");
			mapping[k].build_id = string_number(m, "0abc");
			m->p.mapping = &list[k];
			m->p.n_mapping = 1;
			for (size_t at = 0; at < m->p.n_location; at++)
				m->locations[at].mapping_id = 9;
		}
		assert_int_equal(push_sums_init(&sums, &made[0].p, &made[1].p),
				 0);
		assert_int_equal(
			push_sums_write(&sums, true, &info, &bytes, &len), 0);
		p = unpack(bytes, len);
		assert_int_equal(p->n_mapping, 1);
		assert_int_equal(p->mapping[0]->memory_start, 0x4000);
		assert_int_equal(p->mapping[0]->memory_limit, limits[i][2]);
		assert_string_equal(p->string_table[p->mapping[0]->filename],
				    "/bin/x");
		assert_string_equal(p->string_table[p->mapping[0]->build_id],
				    "0abc");
		assert_int_equal(p->n_location, 3);
		for (size_t at = 0; at < p->n_location; at++)
			assert_int_equal(p->location[at]->mapping_id,
					 p->mapping[0]->id);
		pprof__profile__free_unpacked(p, NULL);
		free(bytes);
		push_sums_release(&sums);
		free_made(&made[0]);
		free_made(&made[1]);
	}
}

TEST(damage_is_refused)
{
	struct made m;
	struct push_sums sums;

	for (int damage = 0; damage < 5; damage++) {
		make_profile(&m, "p/a=3 p/b=4", 1);
		if (damage == 0)
			m.stacks[0][1] = 99;
		else if (damage == 1)
			m.lines[0].function_id = 99;
		else if (damage == 2)
			m.locations[0].mapping_id = 7;
		else if (damage == 3)
			m.values[1] = -1;
		else
			m.samples[0].n_value = 0;
		assert_int_equal(push_sums_init(&sums, NULL, &m.p), -EBADMSG);
		push_sums_release(&sums);
		free_made(&m);
	}
}

/* ---- the spool --------------------------------------------------------------
 */

struct box {
	char dir[64];
	struct push_spool spool;
	struct op_diag diag;
};

static int make_box(void **state)
{
	struct box *box = calloc(1, sizeof(*box));

	strcpy(box->dir, "/tmp/test_pp_push-XXXXXX");
	box->spool.fd = -1;
	*state = box;
	return mkdtemp(box->dir) ? 0 : -1;
}

static int free_box(void **state)
{
	struct box *box = *state;

	push_spool_close(&box->spool);
	op_remove_tree(box->dir);
	free(box);
	return 0;
}

#define BOX_TEST(name) TEST_WITH(name, make_box, free_box)

static int open_box(struct box *box)
{
	push_spool_close(&box->spool);
	box->diag.text[0] = '\0';
	return push_spool_open(&box->spool, box->dir, 10, &box->diag);
}

/* Add a profile of @len bytes that ends at @end. */
static int add_to_box(struct box *box, int64_t end, size_t len)
{
	const struct push_bytes bytes = { (const uint8_t *)"0123456789", len };
	const struct push_bytes sum = { (const uint8_t *)"sum", 3 };
	struct push_state next = box->spool.state;

	snprintf(next.session, sizeof(next.session), "some one");
	next.end = end;
	return push_spool_add(&box->spool, &next, end - 1, 7, &bytes, &sum,
			      &box->diag);
}

static void make_file(const struct box *box, const char *name)
{
	char path[PATH_MAX];
	int fd;

	push_spool_path(&box->spool, name, path);
	fd = open(path, O_WRONLY | O_CREAT, 0600);
	assert_true(fd >= 0);
	close(fd);
}

static bool is_there(const struct box *box, const char *name)
{
	char path[PATH_MAX];

	push_spool_path(&box->spool, name, path);
	return !access(path, F_OK);
}

BOX_TEST(profiles_stay_in_order)
{
	struct box *box = *state;

	assert_int_equal(open_box(box), 0);
	assert_int_equal(add_to_box(box, 5, 3), 0);
	assert_int_equal(add_to_box(box, 9, 4), 0);
	/* What does not fit leaves no trace. */
	assert_int_equal(add_to_box(box, 11, 4), -ENOSPC);
	assert_int_equal(open_box(box), 0);
	assert_int_equal(box->spool.nr, 2);
	assert_int_equal(box->spool.bytes, 7);
	assert_int_equal(box->spool.state.number, 2);
	assert_int_equal(box->spool.state.end, 9);
	assert_string_equal(box->spool.state.session, "some one");
	assert_string_equal(box->spool.list[0].name,
			    "profile-0000000001-4-5-7.pb.gz");
	assert_true(is_there(box, "sum-2.pb.gz"));
	assert_false(is_there(box, "sum-1.pb.gz"));
	assert_int_equal(push_spool_remove(&box->spool, false, &box->diag), 0);
	assert_int_equal(push_spool_remove(&box->spool, true, &box->diag), 0);
	assert_int_equal(open_box(box), 0);
	assert_int_equal(box->spool.nr, 0);
	assert_int_equal(box->spool.state.dropped_profiles, 1);
	assert_int_equal(box->spool.state.dropped_samples, 7);
}

BOX_TEST(who_was_killed_is_gone_on_from)
{
	struct box *box = *state;

	assert_int_equal(open_box(box), 0);
	assert_int_equal(add_to_box(box, 5, 3), 0);
	/* Killed before the state was written: it is as if nothing was. */
	make_file(box, "pending-0000000002-5-6-1.pb.gz");
	make_file(box, "sum-2.pb.gz");
	make_file(box, ".tmp-abcdef");
	/* Killed after that. */
	make_file(box, "pending-0000000001-3-4-2.pb.gz");
	make_file(box, "sum-0.pb.gz");
	assert_int_equal(open_box(box), 0);
	assert_int_equal(box->spool.nr, 2);
	assert_true(is_there(box, "profile-0000000001-3-4-2.pb.gz"));
	assert_true(is_there(box, "sum-1.pb.gz"));
	assert_false(is_there(box, "pending-0000000001-3-4-2.pb.gz"));
	assert_false(is_there(box, "pending-0000000002-5-6-1.pb.gz"));
	assert_false(is_there(box, "sum-2.pb.gz"));
	assert_false(is_there(box, "sum-0.pb.gz"));
	assert_false(is_there(box, ".tmp-abcdef"));
}

BOX_TEST(a_spool_is_of_one)
{
	struct box *box = *state;
	struct push_spool other;

	assert_int_equal(open_box(box), 0);
	assert_int_equal(push_spool_open(&other, box->dir, 10, &box->diag),
			 -EBUSY);
	push_spool_close(&other);
	make_file(box, "state");
	assert_int_equal(open_box(box), -ENOENT);
	assert_non_null(strstr(box->diag.text, "/state: is damaged; send"));
}

/* ---- when what is done ------------------------------------------------------
 */

/* The world of a run: time goes on by what is awaited alone. */
struct world {
	struct box *box;
	int64_t now;
	const long *statuses; /* of the answers to come; 0 ends them, and an
				 error, if below 0, is there before */
	uint64_t retry_after;
	int take_err;
	char log[1024]; /* "take@MS", "send@MS" and what is told, by a letter */
	char told[OP_DIAG_MAX]; /* the last that was told, in full */
	FILE *story; /* what is done and told, line by line, if not NULL */
	size_t nr_sends; /* after so many of them it is over, 0: never */
	size_t sent;
	const int *take_errs; /* one for each profile, 0: it is there */
	int64_t slow_ms; /* an answer of 201 takes so long */
};

static void note(struct world *w, const char *what)
{
	size_t len = strlen(w->log);

	snprintf(w->log + len, sizeof(w->log) - len, "%s%s@%" PRId64,
		 len ? " " : "", what, w->now);
}

/* The folder of the spool is "$" there. */
static void tell_story(struct world *w, const char *what)
{
	if (!w->story)
		return;
	fprintf(w->story, "%" PRId64 ": ", w->now);
	write_without(w->story, strdup(what), w->box->dir);
	fputc('\n', w->story);
}

static int64_t world_now(void *ctx)
{
	return ((struct world *)ctx)->now;
}

static int world_take(void *ctx, struct push_spool *spool, int64_t now_ms,
		      struct op_diag *diag)
{
	struct world *w = ctx;

	(void)spool;
	note(w, "take");
	tell_story(w, "take");
	if (w->take_errs && *w->take_errs++)
		return w->take_errs[-1] == -EIO
			       ? op_diag_set(diag, -EIO, "there is no report")
			       : w->take_errs[-1];
	return w->take_err ?: add_to_box(w->box, now_ms, 1);
}

static int world_send(void *ctx, const struct push_spool *spool,
		      struct push_answer *answer, struct op_diag *diag)
{
	struct world *w = ctx;

	note(w, "send");
	tell_story(w, "send");
	w->sent++;
	if (*w->statuses < 0)
		return op_diag_set(diag, (int)*w->statuses++, "%s: error",
				   spool->list->name);
	answer->status = *w->statuses ? *w->statuses++ : 200;
	w->now += answer->status == 201 ? w->slow_ms : 0;
	answer->retry_after_s = answer->status == 429 ? w->retry_after : 0;
	snprintf(answer->text, sizeof(answer->text), "%ld", answer->status);
	return 0;
}

static void world_say(void *ctx, const char *text)
{
	struct world *w = ctx;

	snprintf(w->told, sizeof(w->told), "%s", text);
	tell_story(w, text);
	note(w, strstr(text, "accepts profiles again") ? "well"
		: strstr(text, "is dropped")	       ? "drop"
		: strstr(text, "as many as it may")    ? "full"
						       : "bad");
}

/* The whole of the time that is left to chance. */
static uint64_t world_random(void *ctx)
{
	(void)ctx;
	return 0;
}

static bool world_is_over(void *ctx)
{
	const struct world *w = ctx;

	return w->nr_sends && w->sent >= w->nr_sends;
}

static struct push_work work_of_world(struct world *w)
{
	return (struct push_work){
		.ctx = w,
		.now_ms = world_now,
		.take = world_take,
		.send = world_send,
		.say = world_say,
		.random = world_random,
		.is_over = world_is_over,
	};
}

/* Let a run go on until @until, one profile in @interval_ms. */
static void run_world(struct world *w, int64_t interval_ms, int64_t until)
{
	const struct push_work work = work_of_world(w);
	struct push_run run = { .work = &work,
				.spool = &w->box->spool,
				.interval_ms = interval_ms };

	assert_int_equal(open_box(w->box), 0);
	while (w->now < until)
		w->now = push_run_step(&run);
}

BOX_TEST(a_profile_each_interval)
{
	static const long statuses[] = { 0 };
	struct world w = { .box = *state, .now = 1000, .statuses = statuses };

	run_world(&w, 60000, 130000);
	assert_string_equal(w.log, "take@1000 send@1000 take@61000 send@61000 "
				   "take@121000 send@121000");
}

BOX_TEST(a_server_that_is_away_is_asked_less_often)
{
	static const long statuses[] = { 500, 504, 502, 503, 500, 0 };
	struct world w = { .box = *state, .now = 1000, .statuses = statuses };

	run_world(&w, 600000, 500000);
	assert_string_equal(
		w.log,
		"take@1000 send@1000 bad@1000 send@1500 bad@1500 send@2500 "
		"send@4500 bad@4500 send@8500 send@16500 well@16500");
	assert_int_equal(w.box->spool.nr, 0);
}

BOX_TEST(a_server_says_when)
{
	static const long statuses[] = { 429, 0 };
	struct world w = { .box = *state,
			   .now = 1000,
			   .statuses = statuses,
			   .retry_after = 90 };

	run_world(&w, 60000, 100000);
	/* The next profile waits with it, and comes behind it. */
	assert_string_equal(w.log, "take@1000 send@1000 bad@1000 take@61000 "
				   "send@91000 well@91000 send@91000");
}

BOX_TEST(what_is_refused_is_dropped)
{
	static const long statuses[] = { 400, 400, 500, 400, 400,
					 422, 413, 400, 0 };
	struct world w = { .box = *state, .now = 1000, .statuses = statuses };

	run_world(&w, 6000000, 400000);
	assert_non_null(strstr(w.log, "drop@"));
	/* An error of the server begins the count anew. */
	assert_int_equal(*w.box->diag.text, 0);
	assert_int_equal(w.box->spool.state.dropped_profiles, 1);
	assert_int_equal(w.box->spool.nr, 0);
}

BOX_TEST(a_full_spool_is_told_once)
{
	static const long statuses[] = { 500, 500, 500, 500, 500, 500, 500,
					 500, 500, 500, 500, 500, 500, 500,
					 500, 500, 500, 500, 0 };
	struct world w = { .box = *state, .now = 1000, .statuses = statuses };

	run_world(&w, 1000, 40000);
	assert_int_equal(w.box->spool.bytes, 10);
	assert_non_null(strstr(w.log, "full@"));
	assert_null(strstr(strstr(w.log, "full@") + 1, "full@"));
}

BOX_TEST(a_clock_that_is_put_back_keeps_nobody_waiting)
{
	static const long statuses[] = { 500, 0 };
	struct world w = { .box = *state,
			   .now = 100000000,
			   .statuses = statuses };

	run_world(&w, 60000, 100000001);
	w.now = 1000;
	w.log[0] = '\0';
	w.take_err = -EIO;
	run_world(&w, 60000, 1001);
	assert_string_equal(w.log, "take@1000 bad@1000 send@1000 well@1000");
}

/* Take and send once. */
static int run_world_once(struct world *w)
{
	const struct push_work work = work_of_world(w);
	struct push_run run = { .work = &work, .spool = &w->box->spool };

	w->log[0] = w->told[0] = '\0';
	return push_run_once(&run);
}

BOX_TEST(one_run_tells_why_profiles_wait)
{
	static const long statuses[] = { 0 };
	struct world w = { .box = *state, .now = 1000, .statuses = statuses };

	assert_int_equal(open_box(w.box), 0);
	w.box->spool.state.retry_at = 2001;
	assert_int_equal(run_world_once(&w), -EAGAIN);
	assert_string_equal(w.log, "take@1000 bad@1000");
	assert_string_equal(
		w.told,
		"1 profiles wait, for 2 s more, as the server rejected the last one");
	w.now = 1001;
	assert_int_equal(run_world_once(&w), -EAGAIN);
	assert_string_equal(
		w.told,
		"2 profiles wait, for 1 s more, as the server rejected the last one");
	w.now = 2001;
	assert_int_equal(run_world_once(&w), 0);
	assert_string_equal(w.log, "take@2001 send@2001 send@2001 send@2001");
	assert_int_equal(w.box->spool.nr, 0);
}

/* What is behind it is sent. Another error is one that may pass. */
BOX_TEST(a_profile_that_is_gone_is_dropped)
{
	static const long gone[] = { -ENOENT, 0 };
	static const long unread[] = { -EIO, 0 };
	struct world w = { .box = *state, .now = 1000, .statuses = gone };
	char path[PATH_MAX];

	assert_int_equal(open_box(w.box), 0);
	assert_int_equal(add_to_box(w.box, 5, 1), 0);
	push_spool_path(&w.box->spool, w.box->spool.list->name, path);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(run_world_once(&w), 0);
	assert_string_equal(w.log, "take@1000 send@1000 drop@1000 send@1000");
	assert_non_null(strstr(w.told, ": profile 1 with 7 samples is "
				       "dropped, as its file is gone"));
	assert_int_equal(w.box->spool.state.dropped_profiles, 1);
	w.statuses = unread;
	assert_int_equal(run_world_once(&w), -EAGAIN);
	assert_string_equal(w.log, "take@1000 send@1000 bad@1000");
	assert_int_equal(w.box->spool.nr, 1);
}

/* When some are sent there may be room for what did not fit. */
BOX_TEST(one_run_tries_again_with_more_room)
{
	static const long statuses[] = { 200, 0 };
	struct world w = { .box = *state, .now = 1000, .statuses = statuses };

	assert_int_equal(open_box(w.box), 0);
	w.take_err = -ENOSPC;
	assert_int_equal(run_world_once(&w), -ENOSPC);
	assert_string_equal(w.log, "take@1000 bad@1000");
	assert_non_null(strstr(w.told, "a part of the session"));
	assert_int_equal(add_to_box(w.box, 5, 10), 0);
	assert_int_equal(run_world_once(&w), -ENOSPC);
	assert_string_equal(w.log,
			    "take@1000 full@1000 send@1000 take@1000 bad@1000");
	assert_int_equal(w.box->spool.nr, 0);
	/* Other reasons are no matter of room. */
	w.take_err = -EIO;
	assert_int_equal(add_to_box(w.box, 6, 1), 0);
	assert_int_equal(run_world_once(&w), -EIO);
	assert_string_equal(w.log, "take@1000 bad@1000 send@1000");
}

/* ---- stories of runs --------------------------------------------------------
 */

struct story_row {
	int64_t interval_ms, until;
	long statuses[16];
	int take_errs[12];
	uint64_t retry_after;
	size_t nr_sends;
	int64_t slow_ms;
	const char *name, *wanted;
};

/* What is left in the spool ends the story. */
static void check_story(struct box *box, const struct story_row *row)
{
	struct world w = {
		.box = box,
		.now = 1000,
		.statuses = row->statuses,
		.retry_after = row->retry_after,
		.nr_sends = row->nr_sends,
		.take_errs = *row->take_errs ? row->take_errs : NULL,
		.slow_ms = row->slow_ms,
	};
	const struct push_state *s = &box->spool.state;
	struct text t;

	w.story = text_begin(&t);
	run_world(&w, row->interval_ms, row->until);
	fprintf(t.out,
		"%zu wait, %" PRIu64 " dropped, failure %" PRIu64
		", refusal %" PRIu64 ", again at %" PRId64 "; next at %" PRId64
		"\n",
		box->spool.nr, s->dropped_profiles, s->failures, s->refusals,
		s->retry_at, w.now);
	text_must_be(&t, row->name, row->wanted);
	push_spool_close(&box->spool);
	assert_int_equal(op_remove_tree(box->dir), 0);
	assert_int_equal(mkdir(box->dir, 0700), 0);
}

static void check_stories(struct box *box, const struct story_row *rows,
			  size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		check_story(box, &rows[i]);
}

BOX_TEST(failures_are_told_as_they_double)
{
	static const struct story_row rows[] = {
		{ .interval_ms = 600000,
		  .until = 600000,
		  .statuses = { 500, 504, 502, 503, 500, 0 },
		  .name = "a server that is away",
		  .wanted = EXPECTED("a-server-that-is-away") },
		{ .interval_ms = 6000000,
		  .until = 400000,
		  .statuses = { 400, 500, 422, 413, 400, 400, 400, 415, 0 },
		  .name = "a server that refuses",
		  .wanted = EXPECTED("a-server-that-refuses") },
		{ .interval_ms = 60000,
		  .until = 100000,
		  .statuses = { 429, 0 },
		  .retry_after = 90,
		  .name = "a server that says when",
		  .wanted = EXPECTED_ROW },
		{ .interval_ms = 60000,
		  .until = 5000,
		  .statuses = { -EIO, -EACCES, 0 },
		  .name = "an error here",
		  .wanted = EXPECTED_ROW },
	};

	check_stories(*state, rows, NR(rows));
}

BOX_TEST(what_hinders_profiles_is_told_once)
{
	static const struct story_row rows[] = {
		/* It is full a second time when it was not in between. */
		{ .interval_ms = 200,
		  .until = 5500,
		  .statuses = { 429, 200, 200, 200, 200, 200, 200, 200, 200,
				200, 200, 429, 0 },
		  .retry_after = 2,
		  .name = "a spool that is full",
		  .wanted = EXPECTED("a-spool-that-is-full") },
		{ .interval_ms = 1000,
		  .until = 8500,
		  .take_errs = { -EIO, -EIO, -EPERM, -EIO, 0, -EIO, -ENOSPC,
				 -ENOSPC },
		  .name = "profiles that cannot be made",
		  .wanted = EXPECTED("profiles-that-cannot-be-made") },
	};

	check_stories(*state, rows, NR(rows));
}

/* Profiles are made in step, but for those that there was no time for. */
BOX_TEST(intervals_may_be_missed)
{
	static const struct story_row rows[] = {
		{ .interval_ms = 60000,
		  .until = 190000,
		  .statuses = { 201, 0 },
		  .slow_ms = 119999,
		  .name = "one is late",
		  .wanted = EXPECTED_ROW },
		{ .interval_ms = 60000,
		  .until = 190000,
		  .statuses = { 201, 0 },
		  .slow_ms = 120000,
		  .name = "one is missed",
		  .wanted = EXPECTED_ROW },
		{ .interval_ms = 60000,
		  .until = 190000,
		  .statuses = { 201, 0 },
		  .slow_ms = -1000,
		  .name = "the clock is put back",
		  .wanted = EXPECTED_ROW },
	};

	check_stories(*state, rows, NR(rows));
}

/* What a signal cuts short is no failure of the server. */
BOX_TEST(ends_are_no_failures)
{
	static const struct story_row rows[] = {
		{ .interval_ms = 60000,
		  .until = 1001,
		  .statuses = { -EIO },
		  .nr_sends = 1,
		  .name = "before there was an answer",
		  .wanted = EXPECTED_ROW },
		{ .interval_ms = 60000,
		  .until = 62000,
		  .statuses = { -EIO, 200 },
		  .nr_sends = 1,
		  .name = "nothing is sent any more",
		  .wanted = EXPECTED_ROW },
		{ .interval_ms = 60000,
		  .until = 1001,
		  .statuses = { 200 },
		  .nr_sends = 1,
		  .name = "behind a good answer",
		  .wanted = EXPECTED_ROW },
		{ .interval_ms = 60000,
		  .until = 1001,
		  .statuses = { 503 },
		  .nr_sends = 1,
		  .name = "behind a bad answer",
		  .wanted = EXPECTED_ROW },
	};

	check_stories(*state, rows, NR(rows));
}

/* ---- errors of the spool ----------------------------------------------------
 */

/* The spool is made ready by a command in its folder; then a profile that ends
 * at 9 is added, and the oldest one removed. */
struct spool_row {
	bool has_state; /* of the numbers 11 to 19 */
	const char *command, *wanted;
};

static void write_outcome(FILE *out, struct box *box, const char *what, int err)
{
	fprintf(out, "%s", what);
	if (err)
		fprintf(out, " = %s ", strerrorname_np(-err));
	write_without(out, strdup(box->diag.text), box->dir);
	fputc('\n', out);
	box->diag.text[0] = '\0';
}

static void write_spool(FILE *out, const struct push_spool *spool)
{
	for (size_t i = 0; i < spool->nr; i++)
		fprintf(out,
			"%" PRIu64 ": %" PRId64 " to %" PRId64 ", %" PRIu64
			" in %" PRIu64 "; ",
			spool->list[i].number, spool->list[i].begin,
			spool->list[i].end, spool->list[i].samples,
			spool->list[i].bytes);
	fprintf(out, "%" PRIu64 " bytes\n", spool->bytes);
}

static void write_push_numbers(FILE *out, const struct push_state *s)
{
	fprintf(out,
		"%s: %" PRIu64 " %" PRIu64 " %" PRId64 " %" PRIu64 " %" PRIu64
		" %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRId64 "\n",
		s->session, s->number, s->taken, s->end, s->dropped_profiles,
		s->dropped_samples, s->told_samples, s->failures, s->refusals,
		s->retry_at);
}

/* The files that are left, in the order of their names. */
static void write_left_files(FILE *out, const char *dir)
{
	char line[512];
	FILE *in;

	snprintf(line, sizeof(line), "LC_ALL=C ls -A '%s'", dir);
	in = popen(line, "r");
	assert_non_null(in);
	while (fgets(line, sizeof(line), in))
		fprintf(out, "%.*s ", (int)strcspn(line, "\n"), line);
	fputc('\n', out);
	assert_int_equal(pclose(in), 0);
}

static void change_spool(FILE *out, struct box *box)
{
	struct push_spool *spool = &box->spool;

	write_spool(out, spool);
	write_push_numbers(out, &spool->state);
	write_outcome(out, box, "add", add_to_box(box, 9, 2));
	write_spool(out, spool);
	if (spool->nr) {
		write_outcome(out, box, "remove",
			      push_spool_remove(spool, false, &box->diag));
		write_spool(out, spool);
	}
}

static void check_spool(struct box *box, const struct spool_row *row)
{
	static const char state[] =
		"printf '%s = %s\\n' session s number 11 taken 12 end 13 "
		"dropped_profiles 14 dropped_samples 15 told_samples 16 "
		"failures 17 refusals 18 retry_at 19 >state; ";
	char command[512];
	struct text t;
	int err;

	snprintf(command, sizeof(command), "cd '%s' && { %s%s; }", box->dir,
		 row->has_state ? state : "", row->command);
	assert_int_equal(system(command), 0);
	text_begin(&t);
	err = open_box(box);
	write_outcome(t.out, box, "open", err);
	if (!err)
		change_spool(t.out, box);
	write_left_files(t.out, box->dir);
	if (!err && !open_box(box))
		write_push_numbers(t.out, &box->spool.state);
	push_spool_close(&box->spool);
	text_must_be(&t, row->command, row->wanted);
	assert_int_equal(op_remove_tree(box->dir), 0);
	assert_int_equal(mkdir(box->dir, 0700), 0);
}

BOX_TEST(spools_are_gone_on_with)
{
	static const struct spool_row rows[] = {
		{ false, "true", EXPECTED_ROW },
		/* All is kept but failures. */
		{ true, "touch sum-11.pb.gz", EXPECTED_ROW },
		/* Oldest first. */
		{ true,
		  "for i in 9 10 8 7; do printf 1 >profile-$i-4-5-$i.pb.gz; done",
		  EXPECTED_ROW },
		/* No names of profiles. */
		{ false, "touch profile-1-2-3-4.pb.gz~ profile-1-2-3.pb.gz",
		  EXPECTED_ROW },
		{ false, "touch profile-1-2-3-4.pb xprofile-1-2-3-4.pb.gz",
		  EXPECTED_ROW },
		{ false, "touch profile-1-2-3-4.pb.gz.pb.gz", EXPECTED_ROW },
	};

	for (size_t i = 0; i < NR(rows); i++)
		check_spool(*state, &rows[i]);
}

BOX_TEST(errors_of_a_spool_are_told)
{
	static const struct spool_row rows[] = {
		{ false, "mkdir lock", EXPECTED_ROW },
		{ false, "mkdir state", EXPECTED_ROW },
		{ false, "ln -s none profile-0000000001-4-5-7.pb.gz",
		  EXPECTED_ROW },
		{ false, "mkdir pending-0000000001-4-5-7.pb.gz", EXPECTED_ROW },
		{ true,
		  "touch pending-11-4-5-7.pb.gz; mkdir profile-11-4-5-7.pb.gz",
		  EXPECTED_ROW },
		/* What cannot be added whole leaves no trace. */
		{ false, "mkdir sum-1.pb.gz", EXPECTED_ROW },
	};

	for (size_t i = 0; i < NR(rows); i++)
		check_spool(*state, &rows[i]);
}

/* The state cannot be written, or the profile not be removed. */
BOX_TEST(what_is_not_done_is_not_counted)
{
	struct box *box = *state;
	char path[PATH_MAX];
	struct text t;

	text_begin(&t);
	assert_int_equal(open_box(box), 0);
	push_spool_path(&box->spool, "state", path);
	assert_int_equal(mkdir(path, 0700), 0);
	write_outcome(t.out, box, "add", add_to_box(box, 9, 2));
	write_spool(t.out, &box->spool);
	write_push_numbers(t.out, &box->spool.state);
	write_left_files(t.out, box->dir);
	assert_int_equal(rmdir(path), 0);
	assert_int_equal(add_to_box(box, 9, 2), 0);
	push_spool_path(&box->spool, box->spool.list->name, path);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(mkdir(path, 0700), 0);
	write_outcome(t.out, box, "drop",
		      push_spool_remove(&box->spool, true, &box->diag));
	write_spool(t.out, &box->spool);
	write_push_numbers(t.out, &box->spool.state);
	text_must_be(&t, "state", EXPECTED_ROW);
}

TEST(long_names_of_spools_are_refused)
{
	struct push_spool spool;
	struct op_diag diag = { "" };
	char dir[3902];

	memset(dir, 'a', sizeof(dir));
	dir[sizeof(dir) - 1] = '\0';
	assert_int_equal(push_spool_open(&spool, dir, 10, &diag),
			 -ENAMETOOLONG);
	assert_non_null(strstr(diag.text, "aa: too long"));
	/* One byte less is for the system to refuse. */
	dir[sizeof(dir) - 2] = '\0';
	diag.text[0] = '\0';
	assert_int_equal(push_spool_open(&spool, dir, 10, &diag),
			 -ENAMETOOLONG);
	assert_non_null(strstr(diag.text, "cannot be made: File name too "
					  "long; name another folder"));
}
