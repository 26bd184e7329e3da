// SPDX-License-Identifier: GPL-2.0-or-later
/* Event specifications. */

#include "tests/unit/events_fixture.h"

#include "libop/events/op_alloc_counter.h"
#include "libop/events/op_parse_event.h"

static struct op_parsed_event good(const struct op_events *events,
				   const char *spec)
{
	struct op_diag diag = { "" };
	struct op_parsed_event parsed;
	int err = op_parse_event(&parsed, events, spec, NULL, &diag);

	assert_string_equal(diag.text, "");
	assert_int_equal(err, 0);
	return parsed;
}

FOLDER_TEST(test_fields)
{
	struct op_events *events = load_sample();
	struct op_parsed_event p = good(events, "MISSES:5000:0x12:0:1");

	assert_string_equal(p.event->name, "MISSES");
	assert_int_equal(p.count, 5000);
	assert_int_equal(p.um, 0x12);
	assert_int_equal(p.extra, 0);
	assert_string_equal(p.um_name, "");
	assert_false(p.kernel);
	assert_true(p.user);
	assert_int_equal(p.config, 0x1241);
	assert_int_equal(p.config | p.um << 8, p.config);
	op_events_free(events);
}

FOLDER_TEST(test_defaults)
{
	static const char *const specs[] = {
		"MISSES:500",	  "MISSES:500:",     "MISSES:0x1f4::",
		"MISSES:500::1:", "MISSES:500:31:1", "MISSES:500::1:1"
	};
	struct op_events *events = load_sample();

	for (size_t i = 0; i < sizeof(specs) / sizeof(specs[0]); i++) {
		struct op_parsed_event p = good(events, specs[i]);

		assert_int_equal(p.count, 500);
		assert_int_equal(p.um, 0x1f);
		assert_true(p.kernel && p.user);
	}
	assert_int_equal(good(events, "ISSUE:6").config, 0x10000010e);
	assert_string_equal(good(events, "default").event->name, "CYCLES");
	assert_int_equal(good(events, "default").count, 1000);
	op_events_free(events);
}

FOLDER_TEST(test_named_unit_masks)
{
	struct op_events *events = load_sample();
	struct op_parsed_event p = good(events, "MISSES:500:shared+4k+owned");

	assert_int_equal(p.um, 0x1a);
	assert_string_equal(p.um_name, "shared+4k+owned");
	p = good(events, "ISSUE:6:stalls");
	assert_int_equal(p.um, 1);
	assert_int_equal(p.extra, OP_EXTRA_INV | 1ull << 24);
	assert_int_equal(p.config, 0x10180010e);
	p = good(events, "ISSUE:6:2");
	assert_int_equal(p.extra, OP_EXTRA_EDGE | OP_EXTRA_ANY | OP_EXTRA_PEBS |
					  0x10ull << 24);
	op_events_free(events);
}

FOLDER_TEST(test_options)
{
	struct op_events *events = load_sample();
	struct op_parse_options options = { .no_count = true };
	struct op_diag diag = { "" };
	struct op_parsed_event p;

	assert_int_equal(
		op_parse_event(&p, events, "MISSES:2:0", &options, &diag), 0);
	assert_int_equal(p.um, 2);
	assert_false(p.kernel);
	options = (struct op_parse_options){ .factor = OP_CALLGRAPH_FACTOR };
	assert_int_equal(op_parse_event(&p, events, "MISSES:7499", &options,
					&diag),
			 -EINVAL);
	assert_non_null(strstr(diag.text, "7500"));
	assert_int_equal(
		op_parse_event(&p, events, "MISSES:7500", &options, NULL), 0);
	op_events_free(events);
}

FOLDER_TEST(test_errors)
{
	static const struct {
		const char *spec, *reason;
	} bad[] = {
		{ "NOPE:1", "NOPE: " CPU " has no event of this name; ophelp" },
		{ "", ": " CPU },
		{ "MISSSES:500", "has no event of this name; similar: MISSES" },
		{ "YCLE:1", "has no event of this name; similar: CYCLES" },
		{ "MISSES", "MISSES: no count; give the number of events "
			    "per sample, as in MISSES:500" },
		{ "MISSES::1", "no count" },
		{ "MISSES:5k", "count 5k is not a whole number" },
		{ "MISSES:-500", "count -500 is not a whole number" },
		{ "MISSES:499", "count 499 is below the minimum of MISSES, "
				"500" },
		{ "MISSES:9223372036854775808", "is too large" },
		{ "MISSES:18446744073709551616", "is not a whole number" },
		{ "MISSES:500:0x20",
		  "unit mask 0x20 is not possible for "
		  "MISSES; give bits of 0x01, 0x02 (shared)" },
		{ "MISSES:500:0", "unit mask 0 is not possible" },
		{ "MISSES:500:0x10000000000000000", "is too large" },
		{ "MISSES:500:share", "unit mask share is no name" },
		{ "MISSES:500:shared+", "unit mask  is no name" },
		{ "CYCLES:1000:1", "unit mask 1 is not possible" },
		{ "ISSUE:6:1", "unit mask 1 is not unique for ISSUE; give 0x01 "
			       "(any), 0x01 (stalls), 0x02 (fused)" },
		{ "ISSUE:6:3", "unit mask 3 is not possible" },
		{ "ISSUE:6:any+fused", "is more than one" },
		{ "MISSES:500:1:2", "\"2\" for kernel is neither 0 nor 1" },
		{ "MISSES:500:1:1:yes", "\"yes\" for user is neither" },
		{ "MISSES:500:1:0:0", "neither the kernel nor user programs" },
		{ "MISSES:500:1:1:1:1", "\"1\": too many fields; the form is" },
	};
	struct op_events *events = load_sample();

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct op_diag diag = { "" };
		struct op_parsed_event p;

		assert_int_equal(op_parse_event(&p, events, bad[i].spec, NULL,
						&diag),
				 -EINVAL);
		if (!strstr(diag.text, bad[i].reason))
			fail_msg("%s: \"%s\" does not say \"%s\"", bad[i].spec,
				 diag.text, bad[i].reason);
	}
	op_events_free(events);
}

/* Neither long names nor long specifications get anywhere they should not. */
FOLDER_TEST(test_long_specifications)
{
	struct op_events *events = load_sample();
	struct op_parsed_event p;
	char spec[2000];

	for (size_t len = 1; len < sizeof(spec); len += 37) {
		memset(spec, 'A', len);
		spec[len] = '\0';
		assert_int_equal(op_parse_event(&p, events, spec, NULL, NULL),
				 -EINVAL);
		memcpy(spec, "MISSES:500:", len < 11 ? len : 11);
		assert_int_equal(op_parse_event(&p, events, spec, NULL, NULL),
				 -EINVAL);
	}
	op_events_free(events);
}

/*
 * A quarter of the letters, rounded up, may be wrong; else what was written
 * must be a part of the name, of three letters at least.
 */
FOLDER_TEST(test_similar_names)
{
	static const struct {
		const char *name, *similar;
	} cases[] = {
		{ "INST", ", INST" },
		/* a letter too few, too many, another one, in other case */
		{ "NST", ", INST" },
		{ "IST", ", INST" },
		{ "INSXT", ", INST" },
		{ "INXT", ", INST" },
		{ "inxt", ", INST" },
		{ "XXST", "" },
		{ "IST2", "" },
		{ "ISUE", ", ISSUE" },
		{ "INSXYT", ", INST" },
		{ "INXYZST", "" },
		{ "IXXUE", ", ISSUE" },
		{ "IXXXE", "" },
		{ "FETCH", ", IBS_FETCH" },
		{ "tch", ", IBS_FETCH" },
		{ "CH", "" },
		{ "ISS", ", ISSUE, MISSES" },
		{ "I", "" },
		{ "", "" },
	};
	struct op_events *events = load_sample();
	char buf[200];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		op_events_similar(events, cases[i].name, buf, sizeof(buf));
		if (strcmp(buf, cases[i].similar) != 0)
			fail_msg("%s: %s", cases[i].name, buf);
	}
	op_events_free(events);
}

/* The three most similar ones, the first of the file where two are so. */
FOLDER_TEST(test_similar_order)
{
	struct op_events *events;
	char buf[200];

#define LINE(name) "event:1 counters:0 um:zero minimum:1 name:" name " : D\n"
	make_cpu(CPU, "name:zero type:mandatory default:0x0\n\t0x00 Z\n",
		 LINE("CYCLES") LINE("PART_4444") LINE("PART_22") LINE("PART_1")
			 LINE("PART_33"));
#undef LINE
	assert_int_equal(op_events_load(&events, "events", CPU, NULL), 0);
	op_events_similar(events, "PART", buf, sizeof(buf));
	assert_string_equal(buf, ", PART_1, PART_22, PART_33");
	op_events_similar(events, "PART_33", buf, sizeof(buf));
	assert_string_equal(buf, ", PART_33, PART_22, PART_1");
	op_events_free(events);
}

FOLDER_TEST(test_similar_is_bounded)
{
	struct op_events *events = load_sample();
	char buf[16];

	op_events_similar(events, "CYCLE", buf, sizeof(buf));
	assert_string_equal(buf, ", CYCLES");
	op_events_similar(events, "CYCLE", buf, 5);
	assert_string_equal(buf, ", CY");
	op_events_similar(events, "x", buf, sizeof(buf));
	assert_string_equal(buf, "");
	op_events_free(events);
}

static int check(const struct op_events *events, int *counters,
		 struct op_diag *diag, const char *a, const char *b)
{
	struct op_parsed_event p[] = { good(events, a), good(events, b) };

	return op_check_events(counters, events, p, 2, diag);
}

FOLDER_TEST(test_sets)
{
	struct op_events *events = load_sample();
	struct op_diag diag = { "" };
	int c[2];

	assert_int_equal(check(events, c, &diag, "CYCLES:1000", "MISSES:500"),
			 0);
	assert_int_equal(c[0], 0);
	assert_int_equal(c[1], 1);
	assert_int_equal(check(events, c, &diag, "IBS_FETCH:64", "ISSUE:6"), 0);
	assert_int_equal(c[0], OP_NO_COUNTER);
	assert_int_equal(c[1], 2);
	assert_int_equal(
		check(events, c, &diag, "MISSES:500:1", "MISSES:500:2"), 0);
	assert_int_equal(check(events, c, &diag, "CYCLES:1000:0:1:0",
			       "CYCLES:2000:0:0:1"),
			 0);
	assert_int_equal(check(events, c, &diag, "CYCLES:1000", "CYCLES:2000"),
			 -EINVAL);
	assert_non_null(strstr(diag.text, "CYCLES: given twice"));
	assert_int_equal(check(events, c, NULL, "CYCLES:1000:0:1:0",
			       "CYCLES:1000:0:0:1"),
			 -EINVAL);
	op_events_free(events);
}
