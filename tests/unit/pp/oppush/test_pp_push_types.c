// SPDX-License-Identifier: GPL-2.0-or-later
/* What oppush makes of the types of values in a profile: how servers have them
 * called, and which of two profiles go together. */

#include "tests/unit/pp_fixture.h"

#include <inttypes.h>

#include "pp/oppush/oppush_sums.h"
#include "pp/oppush/oppush_tables.h"

#define MAX_MADE (PUSH_MAX_TYPES + 2)

/* A profile of "TYPE/UNIT=VALUE ..." in one sample without a stack. */
struct typed {
	Pprof__Profile p;
	Pprof__ValueType types[MAX_MADE], *type_list[MAX_MADE], period;
	Pprof__Sample sample, *samples[2];
	int64_t values[MAX_MADE];
	char *strings[2 * MAX_MADE + 1];
	char text[1024];
};

static int64_t add_typed_string(struct typed *m, char *text)
{
	m->strings[m->p.n_string_table] = text;
	return (int64_t)m->p.n_string_table++;
}

static const Pprof__Profile *make_typed(struct typed *m, const char *line)
{
	char *save;

	memset(m, 0, sizeof(*m));
	pprof__profile__init(&m->p);
	pprof__sample__init(&m->sample);
	pprof__value_type__init(&m->period);
	m->p.string_table = m->strings;
	m->p.sample_type = m->type_list;
	add_typed_string(m, (char *)"");
	snprintf(m->text, sizeof(m->text), "%s", line);
	for (char *word = strtok_r(m->text, " ", &save); word;
	     word = strtok_r(NULL, " ", &save)) {
		size_t nr = m->p.n_sample_type++;
		char *unit = strchr(word, '/'), *value = strchr(word, '=');

		assert_true(nr < MAX_MADE && unit && value);
		*unit++ = *value++ = '\0';
		pprof__value_type__init(&m->types[nr]);
		m->types[nr].type = add_typed_string(m, word);
		m->types[nr].unit = add_typed_string(m, unit);
		m->type_list[nr] = &m->types[nr];
		m->values[nr] = strtoll(value, NULL, 10);
	}
	m->sample.n_value = m->p.n_sample_type;
	m->sample.value = m->values;
	m->samples[0] = m->samples[1] = &m->sample;
	m->p.sample = m->samples;
	m->p.n_sample = 1;
	return &m->p;
}

/* The profile in the file "out", as it was made. */
static void write_typed(FILE *out)
{
	Pprof__Profile *p = NULL;
	struct op_diag diag = { "" };

	assert_int_equal(push_read_profile("out", &p, &diag), 0);
	for (size_t i = 0; i < p->n_sample_type; i++) {
		fprintf(out, "%s%s/%s", i ? " " : "",
			p->string_table[p->sample_type[i]->type],
			p->string_table[p->sample_type[i]->unit]);
		if (p->n_sample)
			fprintf(out, "=%" PRId64, p->sample[0]->value[i]);
	}
	if (p->n_sample_type)
		assert_int_equal(p->default_sample_type,
				 p->sample_type[0]->type);
	if (p->period_type)
		fprintf(out, " each %" PRId64 " %s/%s", p->period,
			p->string_table[p->period_type->type],
			p->string_table[p->period_type->unit]);
	fputc('\n', out);
	pprof__profile__free_unpacked(p, NULL);
}

static void write_sums(FILE *out, const struct push_sums *sums, bool is_sum,
		       bool as_servers)
{
	const struct push_profile_info info = { .as_servers = as_servers };
	uint8_t *bytes = NULL;
	size_t len = 0;

	assert_int_equal(push_sums_write(sums, is_sum, &info, &bytes, &len), 0);
	write_bytes("out", bytes, len);
	free(bytes);
	write_typed(out);
}

struct types_row {
	const char *old, *now; /* profiles; old may be NULL */
	const char *wanted; /* what is new, for servers; and the new sum */
};

/* The first type is also that of the period. */
static void check_types(const struct types_row *row)
{
	struct typed old, now;
	struct push_sums sums;
	struct text t;

	make_typed(&now, row->now);
	if (now.p.n_sample_type) {
		now.period = now.types[0];
		now.p.period_type = &now.period;
		now.p.period = 250;
	}
	assert_int_equal(push_sums_init(&sums,
					row->old ? make_typed(&old, row->old)
						 : NULL,
					&now.p),
			 0);
	write_sums(text_begin(&t), &sums, false, true);
	write_sums(t.out, &sums, true, false);
	text_must_be(&t, row->now, row->wanted);
	push_sums_release(&sums);
}

FOLDER_TEST(types_go_together_by_name)
{
	static const struct types_row rows[] = {
		/* Time is what servers know as cpu. */
		{ NULL, "timer/nanoseconds=5", EXPECTED_ROW },
		{ NULL, "samples/count=1 timer/nanoseconds=5", EXPECTED_ROW },
		{ NULL, "timer/nanoseconds=5 other/nanoseconds=6",
		  EXPECTED_ROW },
		{ NULL, "timer/seconds=5", EXPECTED_ROW },
		/* The order is that of the later profile. */
		{ "a/count=1 b/count=2", "b/count=5 a/count=7",
		  EXPECTED_AS("b/count=5 a/count=7, 1") },
		{ "a/count=1", "b/count=5 a/count=7",
		  EXPECTED_AS("b/count=5 a/count=7, 2") },
		{ "a/count=1 b/count=2", "b/count=5", EXPECTED_ROW },
		/* Of one name and another unit they are two. */
		{ "a/count=1", "a/bytes=5", EXPECTED_ROW },
		/* Of two that are called the same the first one counts. */
		{ NULL, "a/count=5 a/count=9 b/count=1", EXPECTED_ROW },
		{ "a/count=1 a/count=3", "b/count=2 b/count=4 a/count=5",
		  EXPECTED_ROW },
		{ NULL, "a/count=5 b/count=1 b/count=9 b/count=8",
		  EXPECTED_ROW },
		{ NULL, "", "\n\n" },
	};

	for (size_t i = 0; i < NR(rows); i++)
		check_types(&rows[i]);
}

/* What is new is counted in types called samples, of each event. */
TEST(samples_are_told_from_other_values)
{
	static const struct {
		const char *old, *now;
		uint64_t more;
	} rows[] = {
		{ NULL, "samples/count=3", 3 },
		{ NULL, "samples:E/count=3 samples:F/count=4 samples/count=8",
		  15 },
		{ NULL, "sample/count=1 samplesE/count=2 cpu/nanoseconds=4",
		  0 },
		{ "samples/count=3", "samples/count=5 samples:E/count=1", 3 },
		{ "samples/count=3", "samples/count=2", 0 },
		{ "samples/count=3", "samples/count=3 cpu/nanoseconds=4", 0 },
	};

	for (size_t i = 0; i < NR(rows); i++) {
		struct typed old, now;
		struct push_sums sums;

		assert_int_equal(
			push_sums_init(&sums,
				       rows[i].old
					       ? make_typed(&old, rows[i].old)
					       : NULL,
				       make_typed(&now, rows[i].now)),
			0);
		assert_int_equal(push_sums_more(&sums), rows[i].more);
		push_sums_release(&sums);
	}
}

static void write_many_types(char *line, size_t size, char letter, size_t nr)
{
	size_t len = 0;

	*line = '\0';
	for (size_t i = 0; i < nr; i++)
		len += (size_t)snprintf(line + len, size - len, "%c%zu/u=1 ",
					letter, i);
	assert_true(len < size);
}

static int compare_many(size_t nr_old, size_t nr_now)
{
	struct typed old, now;
	struct push_sums sums;
	char line[1024];
	int err;

	write_many_types(line, sizeof(line), 'a', nr_old);
	make_typed(&old, line);
	write_many_types(line, sizeof(line), 'b', nr_now);
	make_typed(&now, line);
	err = push_sums_init(&sums, nr_old ? &old.p : NULL, &now.p);
	push_sums_release(&sums);
	return err;
}

TEST(too_many_types_are_refused)
{
	assert_int_equal(compare_many(0, PUSH_MAX_TYPES), 0);
	assert_int_equal(compare_many(0, PUSH_MAX_TYPES + 1), -EBADMSG);
	assert_int_equal(compare_many(1, PUSH_MAX_TYPES - 1), 0);
	assert_int_equal(compare_many(1, PUSH_MAX_TYPES), -EBADMSG);
}

/* A name that is not there is an empty one. */
FOLDER_TEST(strings_may_be_missing)
{
	static const int64_t missing[] = { -1, 3, INT64_MAX, INT64_MIN };
	struct push_sums sums;
	struct typed now;
	struct text t;

	for (size_t i = 0; i < NR(missing); i++) {
		make_typed(&now, "a/count=5");
		assert_int_equal(now.p.n_string_table, 3);
		now.types[0].unit = missing[i];
		assert_int_equal(push_sums_init(&sums, NULL, &now.p), 0);
		write_sums(text_begin(&t), &sums, false, false);
		text_must_be(&t, "a missing string", "a/=5\n");
		push_sums_release(&sums);
	}
}

FOLDER_TEST(values_add_up_to_what_fits)
{
	struct push_sums sums;
	struct typed now;
	struct text t;

	/* The same sample twice. */
	make_typed(&now, "a/count=4611686018427387903");
	now.p.n_sample = 2;
	assert_int_equal(push_sums_init(&sums, NULL, &now.p), 0);
	write_sums(text_begin(&t), &sums, false, false);
	text_must_be(&t, "twice", "a/count=9223372036854775806\n");
	push_sums_release(&sums);
	make_typed(&now, "a/count=4611686018427387904");
	now.p.n_sample = 2;
	assert_int_equal(push_sums_init(&sums, NULL, &now.p), -EBADMSG);
	push_sums_release(&sums);
}

TEST(ids_of_0_are_none)
{
	Pprof__Function function = PPROF__FUNCTION__INIT,
			*functions[] = { &function };
	struct push_sums sums;
	struct typed now;

	make_typed(&now, "a/count=1");
	now.p.function = functions;
	now.p.n_function = 1;
	assert_int_equal(push_sums_init(&sums, NULL, &now.p), -EBADMSG);
	push_sums_release(&sums);
	function.id = 1;
	assert_int_equal(push_sums_init(&sums, NULL, &now.p), 0);
	push_sums_release(&sums);
}

FOLDER_TEST(files_that_are_no_profile_are_told)
{
	Pprof__Profile *p = NULL;
	struct op_diag diag = { "" };

	assert_int_equal(push_read_profile("none", &p, &diag), -ENOENT);
	assert_string_equal(diag.text, "");
	assert_int_equal(push_read_profile(".", &p, &diag), -EINVAL);
	assert_reason(&diag, ".: is no sound file of pprof: Invalid argument");
	write_text("plain", "");
	diag.text[0] = '\0';
	assert_int_equal(push_read_profile("plain", &p, &diag), -EBADMSG);
	assert_reason(&diag, "plain: is no sound file of pprof: Bad message");
	assert_null(p);
}
