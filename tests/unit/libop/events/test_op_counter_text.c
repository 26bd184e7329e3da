// SPDX-License-Identifier: GPL-2.0-or-later
/* Events as operf and opcontrol print them, and as oprofiled parses them. */

#include "libop/events/op_counter_text.h"
#include "tests/unit/test.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NAME_OF_127                                                            \
	"ABCDEFGHIJKLMNOPQRSTUVWXYZABCDEFGHIJKLMNOPQRSTUVWXYZABCDEFGHIJKL"     \
	"ABCDEFGHIJKLMNOPQRSTUVWXYZABCDEFGHIJKLMNOPQRSTUVWXYZABCDEFGHIJK"

static const struct op_counter_event events[] = {
	{ "CYCLES", 0x76, 0, 100000, 0, 1, 1, 0x76 },
	{ "ISSUE", 0x10e, 31, 6, 1, 0, 1, 0x10180010e },
	{ OP_TIMER_EVENT, 0, 0, 0, 0, 1, 1, 0 },
	{ NAME_OF_127, UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX, 1, 0,
	  UINT64_MAX },
	{ "", 1, 2, 3, 4, 0, 0, 5 },
};

#define NR_EVENTS (sizeof(events) / sizeof(events[0]))

TEST(each_field_is_printed_in_its_place)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	assert_non_null(out);
	op_counter_event_print(out, &events[1]);
	assert_int_equal(fclose(out), 0);
	assert_string_equal(text, "ISSUE:270:31:6:1:0:1:0x10180010e");
	free(text);
}

TEST(what_is_printed_is_parsed)
{
	struct op_counter_event event;
	struct op_diag diag = { "" };
	const char *at;
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	assert_non_null(out);
	for (size_t i = 0; i < NR_EVENTS; i++) {
		if (i)
			fputc(',', out);
		op_counter_event_print(out, &events[i]);
	}
	assert_int_equal(fclose(out), 0);
	at = text;
	for (size_t i = 0; i < NR_EVENTS; i++) {
		memset(&event, 0xff, sizeof(event));
		assert_int_equal(op_counter_event_parse(&event, &at, &diag), 0);
		assert_memory_equal(&event, &events[i], sizeof(event));
	}
	assert_ptr_equal(at, text + len);
	free(text);
}

TEST(the_config_may_be_absent)
{
	const char *text = "A:0x41:1:5000:3:0:1,rest";
	struct op_counter_event event;
	struct op_diag diag = { "" };

	assert_int_equal(op_counter_event_parse(&event, &text, &diag), 0);
	assert_string_equal(event.name, "A");
	assert_int_equal(event.value, 0x41);
	assert_int_equal(event.config, 0);
	assert_string_equal(text, "rest");
}

TEST(long_names_and_texts)
{
	char text[1024];
	const char *at = text;
	struct op_counter_event event;
	struct op_diag diag = { "" };

	snprintf(text, sizeof(text), NAME_OF_127 "M:1:0:5:0:1:1");
	assert_int_equal(op_counter_event_parse(&event, &at, &diag), 0);
	assert_string_equal(event.name, "");
	snprintf(text, sizeof(text), "A:%0500d:0:5:0:1:1,B", 1);
	at = text;
	assert_int_equal(op_counter_event_parse(&event, &at, &diag), -EINVAL);
	assert_non_null(strstr(diag.text, "too long"));
}
