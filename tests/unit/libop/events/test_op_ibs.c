// SPDX-License-Identifier: GPL-2.0-or-later
/* What events of Instruction-Based Sampling must share, and their text. */

#include "tests/unit/op_fixture.h"

#include "libop/events/op_ibs.h"

static const struct op_event plain = { .name = "CYCLES" };
static const struct op_event other = { .name = "OTHER", .ext = "ibs_other" };
static const struct op_event fetch = { .name = "FETCH", .ext = "ibs_fetch" };
static const struct op_event fetch_2 = { .name = "FETCH_2",
					 .ext = "ibs_fetch" };
static const struct op_event op = { .name = "OP", .ext = "ibs_op" };
static const struct op_event op_2 = { .name = "OP_2", .ext = "ibs_op" };

static struct op_parsed_event parsed(const struct op_event *event,
				     uint64_t count)
{
	return (struct op_parsed_event){
		.event = event,
		.count = count,
		.um = 1,
		.kernel = true,
		.user = true,
	};
}

TEST(kinds_are_told_by_the_extension)
{
	enum op_ibs_kind kind = OP_IBS_NR_KINDS;

	assert_false(op_event_is_ibs(&plain, &kind));
	assert_false(op_event_is_ibs(&other, &kind));
	assert_int_equal(kind, OP_IBS_NR_KINDS);
	assert_true(op_event_is_ibs(&op, &kind));
	assert_int_equal(kind, OP_IBS_KIND_OP);
	assert_true(op_event_is_ibs(&fetch, &kind));
	assert_int_equal(kind, OP_IBS_KIND_FETCH);
	assert_true(op_event_is_ibs(&op, NULL));
	assert_string_equal(op_ibs_kind_name(OP_IBS_KIND_OP), "ibs_op");
	assert_string_equal(op_ibs_kind_name(OP_IBS_KIND_FETCH), "ibs_fetch");
}

TEST(the_first_of_a_kind)
{
	const struct op_parsed_event events[] = {
		parsed(&plain, 1), parsed(&op, 16),    parsed(&fetch, 32),
		parsed(&op_2, 16), parsed(&plain, 16),
	};

	assert_ptr_equal(op_ibs_first(events, 5, OP_IBS_KIND_OP), &events[1]);
	assert_ptr_equal(op_ibs_first(events, 5, OP_IBS_KIND_FETCH),
			 &events[2]);
	assert_null(op_ibs_first(events, 2, OP_IBS_KIND_FETCH));
	assert_null(op_ibs_first(events, 1, OP_IBS_KIND_OP));
	assert_null(op_ibs_first(events, 0, OP_IBS_KIND_OP));
}

/* The hardware leaves the low four bits of a count out. */
TEST(counts_are_multiples)
{
	struct op_parsed_event event = parsed(&fetch, 0);

	for (event.count = 50000; event.count < 50033; event.count++) {
		struct op_diag diag = { "" };
		bool fits = event.count % 16 == 0;

		assert_int_equal(op_ibs_check_count(&event, "SPEC", &diag),
				 fits ? 0 : -EINVAL);
		if (fits)
			continue;
		assert_reason(&diag, "SPEC: count 500");
		assert_reason(&diag, "not a multiple of 16");
		assert_reason(&diag, "as the hardware of ibs_fetch requires");
		assert_reason(&diag, event.count < 50016   ? "give 50016"
				     : event.count < 50032 ? "give 50032"
							   : "give 50048");
	}
	event = parsed(&plain, 50001);
	assert_int_equal(op_ibs_check_count(&event, "SPEC", NULL), 0);
}

TEST(events_of_a_kind_share_their_settings)
{
	struct op_parsed_event events[] = {
		parsed(&plain, 7),     parsed(&fetch, 160), parsed(&op, 320),
		parsed(&fetch_2, 160), parsed(&op_2, 320),
	};
	const struct op_parsed_event sound = events[4];
	struct op_diag diag = { "" };

	assert_int_equal(op_ibs_check(events, 5, &diag), 0);
	assert_string_equal(diag.text, "");
	assert_int_equal(op_ibs_check(events, 0, &diag), 0);
	events[4].count = 160; /* as the other kind has it */
	assert_int_equal(op_ibs_check(events, 5, &diag), -EINVAL);
	assert_string_equal(diag.text,
			    "OP_2: count 160, but OP has 320; all events of "
			    "ibs_op are derived from the same samples, give "
			    "them the same count");
	assert_int_equal(op_ibs_check(events, 4, NULL), 0);
	events[4] = sound;
	events[4].um = 2;
	diag.text[0] = '\0';
	assert_int_equal(op_ibs_check(events, 5, &diag), -EINVAL);
	assert_reason(&diag, "OP_2: unit mask 2, but OP has 1;");
	events[4] = sound;
	events[4].kernel = false;
	diag.text[0] = '\0';
	assert_int_equal(op_ibs_check(events, 5, &diag), -EINVAL);
	assert_reason(&diag, "OP_2: kernel 0, but OP has 1;");
	events[4] = sound;
	events[4].user = false;
	diag.text[0] = '\0';
	assert_int_equal(op_ibs_check(events, 5, &diag), -EINVAL);
	assert_reason(&diag, "OP_2: user 0, but OP has 1;");
}

static void is_text(const struct op_parsed_event *events, size_t nr,
		    const char *wanted)
{
	char *text = op_ibs_feature_text(events, nr);

	assert_non_null(text);
	assert_string_equal(text, wanted);
	free(text);
}

TEST(the_text_for_the_daemon)
{
	const struct op_parsed_event events[] = {
		parsed(&op, 320),      parsed(&plain, 7),   parsed(&op_2, 320),
		parsed(&fetch_2, 160), parsed(&fetch, 160),
	};

	is_text(events, 0, "");
	is_text(events + 1, 1, "");
	is_text(events, 1, "ibs:op:OP:320:1");
	is_text(events, 3, "ibs:op:OP,OP_2:320:1");
	is_text(events + 3, 1, "ibs:fetch:FETCH_2:160:1");
	is_text(events, 5, "ibs:fetch:FETCH_2,FETCH:160:1|op:OP,OP_2:320:1");
}
