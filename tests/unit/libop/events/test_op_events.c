// SPDX-License-Identifier: GPL-2.0-or-later
/* The parser of event files. */

#include "tests/unit/events_fixture.h"

FOLDER_TEST(test_events)
{
	struct op_events *events = load_sample();
	const struct op_event *event = op_events_find(events, "ISSUE");

	assert_int_equal(events->nr, 5);
	assert_string_equal(events->cpu->title, "Test CPU");
	assert_string_equal(event->desc, "Issued : with a colon");
	assert_int_equal(event->code, 0x10e);
	assert_int_equal(event->counters, 1 << 2);
	assert_int_equal(event->min_count, 6);
	assert_int_equal(event->filter, -1);
	assert_null(event->ext);
	assert_int_equal(events->event[0].counters, 0xf);
	assert_int_equal(events->event[1].counters, 3);
	assert_int_equal(events->event[3].counters, 0);
	assert_string_equal(events->event[3].ext, "ibs_fetch");
	assert_int_equal(events->event[4].counters, 0xf);
	assert_int_equal(events->event[4].filter, 1);
	assert_int_equal(events->event[4].place.line, 7);
	assert_ptr_equal(op_events_find(events, "Issue"), event);
	assert_null(op_events_find(events, "issued"));
	op_events_free(events);
}

FOLDER_TEST(test_unit_masks)
{
	struct op_events *events = load_sample();
	const struct op_unit_mask *um = events->event[1].um;

	assert_int_equal(um->type, OP_UM_BITMASK);
	assert_int_equal(um->nr, 5);
	assert_int_equal(um->default_value, 0x1f);
	assert_null(um->default_entry);
	assert_null(um->entries[0].name);
	assert_string_equal(um->entries[0].desc, "Invalid");
	assert_string_equal(um->entries[3].desc, "owned");
	assert_string_equal(um->entries[4].name, "4k");
	assert_string_equal(um->entries[4].desc, "Modified, or so");
	um = events->event[2].um;
	assert_int_equal(um->type, OP_UM_EXCLUSIVE);
	assert_ptr_equal(um->default_entry, &um->entries[0]);
	assert_int_equal(um->entries[1].extra, OP_EXTRA_INV | 1ull << 24);
	assert_int_equal(um->entries[2].extra, OP_EXTRA_EDGE | OP_EXTRA_ANY |
						       OP_EXTRA_PEBS |
						       0x10ull << 24);
	assert_ptr_equal(op_unit_mask_find(um, "fused"), &um->entries[2]);
	assert_ptr_equal(op_unit_mask_find(um, "Fused"), &um->entries[2]);
	assert_null(op_unit_mask_find(um, "fuse"));
	op_events_free(events);
}

/* NAME, and what is counted by default under it. */
static const struct {
	const char *name, *found;
	uint64_t code, um, extra, counters, minimum;
} originals[] = {
	/* of an event of ours, with the old default */
	{ "OLD_MISSES", "OLD_MISSES", 0x41, 2, 0, 3, 500 },
	{ "old_misses", "OLD_MISSES", 0x41, 2, 0, 3, 500 },
	{ "OLD_FUSED", "OLD_FUSED", 0x10e, 2, 0x10240000, 4, 6 },
	{ "Issue", "Issue", 0x10e, 1, 1ull << 23 | 1ull << 24, 4, 6 },
	{ "ISSUE", "ISSUE", 0x10e, 1, 0, 4, 6 },
	/* of none: another code, unit mask, or extra bits */
	{ "GONE", "GONE", 0x55, 5, 0, 2, 9 },
	{ "OTHER_BITS", "OTHER_BITS", 0x41, 0x60, 0, 0xf, 9 },
	{ "OTHER_EXTRA", "OTHER_EXTRA", 0x41, 2, 2ull << 24, 0xf, 9 },
	/* with a group of POWER's counters */
	{ "MISSES_GRP12", "MISSES", 0x41, 0x1f, 0, 3, 500 },
	{ "gone_grp1", "GONE", 0x55, 5, 0, 2, 9 },
};

FOLDER_TEST(test_original_names)
{
	struct op_events *events = load_sample();
	size_t nr = events->nr;

	op_events_free(events);
	make_file(CPU, "original",
		  "# a comment\n"
		  "OLD_MISSES 0x41 0 3 bitmask 0x2 0x1 0x2\n"
		  "OLD_FUSED 0x10e all 3 exclusive FUSED 0x2\n"
		  "Issue 0x10e all 3 exclusive stalls 0x1\n"
		  "UNNAMED 0x10e all 3 exclusive unknown 0x1\n"
		  "GONE 0x55 1,7 9 exclusive 0x5 0x5 0x6\n"
		  "OTHER_BITS 0x41 7 9 bitmask 0x60 0x20 0x40\n"
		  "OTHER_EXTRA 0x41 all 9 exclusive 0x2 0x2:cmask=2 0x3\n"
		  "CYCLES 0x99 all 9 mandatory 0x0 0x0\n");
	assert_int_equal(op_events_load(&events, "events", CPU, NULL), 0);
	assert_int_equal(events->nr, nr);
	assert_null(op_events_find(events, "UNNAMED"));
	assert_null(op_events_find(events, "MISSES_GRP"));
	assert_null(op_events_find(events, "MISSES_GRP1x"));
	assert_int_equal(op_events_find(events, "CYCLES")->code, 0x76);
	for (size_t i = 0; i < sizeof(originals) / sizeof(*originals); i++) {
		const struct op_event *event =
			op_events_find(events, originals[i].name);
		const struct op_unit_mask_entry *entry;

		assert_non_null(event);
		entry = event->um->default_entry;
		assert_string_equal(event->name, originals[i].found);
		assert_int_equal(event->code, originals[i].code);
		assert_int_equal(event->um->default_value, originals[i].um);
		assert_int_equal(entry ? entry->extra & ~OP_EXTRA_PEBS : 0,
				 originals[i].extra);
		assert_int_equal(event->counters, originals[i].counters);
		assert_int_equal(event->min_count, originals[i].minimum);
	}
	op_events_free(events);
}

FOLDER_TEST(test_config)
{
	struct op_events *events = load_sample();
	const struct op_event *issue = op_events_find(events, "ISSUE");

	assert_int_equal(op_event_config(events, issue, 1, 0), 0x10000010e);
	assert_int_equal(op_event_config(events, issue, 0xff,
					 OP_EXTRA_INV | 1ull << 24),
			 0x10180ff0e);
	assert_int_equal(op_event_config(events, issue, 1, OP_EXTRA_PEBS),
			 0x10000010e);
	events->cpu->encoding = OP_ENCODING_RAW;
	assert_int_equal(op_event_config(events, issue, 0, 0), 0x10e);
	op_events_free(events);
}

/* GLOBAL_POWER_EVENTS as Linux' own p4_general_events has it. */
FOLDER_TEST(test_netburst_config)
{
	struct op_events *events = load_sample();
	struct op_event event = { .code = 0x1306, .perf = 24 };

	events->cpu->encoding = OP_ENCODING_NETBURST;
	assert_int_equal(op_event_config(events, &event, 1, 0),
			 (24ull << 25 | 1 << 9) << 32 | 6 << 13);
	op_events_free(events);
}

FOLDER_TEST(test_include)
{
	struct op_events *events;

	op_events_free(load_sample());
	make_cpu("x86-64/more",
		 "include:" CPU
		 "\nname:x type:mandatory default:0x7\n\t0x7 X\n",
		 "event:0x1 counters:0 um:x minimum:1 name:FIRST : One\n"
		 "include:" CPU "\n"
		 "event:0x2 counters:0 um:moesi minimum:1 name:LAST : Two\n");
	assert_int_equal(op_events_load(&events, "events", "x86-64/more", NULL),
			 0);
	assert_int_equal(events->nr, 7);
	assert_string_equal(events->event[0].name, "FIRST");
	assert_string_equal(events->event[1].name, "CYCLES");
	assert_string_equal(events->event[6].name, "LAST");
	assert_string_equal(events->event[1].place.path,
			    "events/" CPU "/events");
	op_events_free(events);
}

/* What includes brought need not be used; own unit masks must. */
FOLDER_TEST(test_include_of_unit_masks_alone)
{
	struct op_events *events;

	op_events_free(load_sample());
	make_cpu("x86-64/more", "include:" CPU "\n",
		 "event:0x1 counters:0 um:zero minimum:1 name:CYCLES : One\n");
	assert_int_equal(op_events_load(&events, "events", "x86-64/more", NULL),
			 0);
	assert_int_equal(events->nr, 1);
	op_events_free(events);
}

FOLDER_TEST(test_merged_unit_masks)
{
	struct op_events *events;
	const struct op_unit_mask *um;

	make_cpu(CPU,
		 "name:a type:bitmask default:0x1\n\t0x1 A\n"
		 "name:b type:bitmask default:0x2\n\t0x2 extra: two B\n"
		 "name:c type:exclusive default:0x4\n\t0x4 C\n"
		 "name:d type:exclusive default:0x5\n\t0x5 D\n",
		 "event:1 counters:0 um:a,b minimum:1 name:CYCLES : One\n"
		 "event:1 counters:0 um:d,c minimum:1 name:E : One\n");
	assert_int_equal(op_events_load(&events, "events", CPU, NULL), 0);
	um = events->event[0].um;
	assert_string_equal(um->name, "");
	assert_int_equal(um->type, OP_UM_BITMASK);
	assert_int_equal(um->nr, 2);
	assert_int_equal(um->entries[0].value, 1);
	assert_int_equal(um->entries[1].value, 2);
	assert_int_equal(um->default_value, 3);
	assert_non_null(op_unit_mask_find(um, "two"));
	um = events->event[1].um;
	assert_int_equal(um->default_value, 5);
	assert_ptr_equal(um->default_entry, &um->entries[0]);
	op_events_free(events);
}

/* As many as fit the bits of a number. */
FOLDER_TEST(test_64_counters)
{
	struct op_events *events;

	make_cpu(CPU, "name:zero type:mandatory default:0x0\n\t0x00 Z\n",
		 "event:1 counters:all um:zero minimum:1 name:CYCLES : C\n"
		 "event:2 counters:63,0 um:zero minimum:1 name:LAST : L\n");
	make_file(CPU, "cpu",
		  "name = Test CPU\ncounters = 64\ndefault = CYCLES:1000\n"
		  "encoding = x86\nmanual = A book\n");
	assert_int_equal(op_events_load(&events, "events", CPU, NULL), 0);
	assert_true(events->event[0].counters == UINT64_MAX);
	assert_true(events->event[1].counters == (1ull << 63 | 1));
	op_events_free(events);
}

/* ---- what is refused, and where it is said to be ---- */

#define EVENTS "events/" CPU "/events:"
#define MASKS "events/" CPU "/unit_masks:"
#define ZERO "name:zero type:mandatory default:0x0\n\t0x00 No unit mask\n"

static void is_broken(const char *unit_masks, const char *events,
		      const char *reason)
{
	struct op_diag diag = { "" };
	struct op_events *out;

	make_cpu(CPU, unit_masks, events);
	assert_int_equal(op_events_load(&out, "events", CPU, &diag), -EINVAL);
	assert_string_equal(diag.text, reason);
}

FOLDER_TEST(test_broken_events)
{
#define E(line, reason) is_broken(ZERO, "\n" line "\n", EVENTS "2: " reason)
#define GOOD "event:1 counters:0 um:zero minimum:5 name:E"
	E("what", "what: no tag, \"KEY:VALUE\"");
	E("what:1", "what: unknown tag");
	E(GOOD, "no \" : \" with a description");
	E(GOOD " :", "no \" : \" with a description");
	E(GOOD " event:2 : D", "event: given twice");
	E("counters:0 um:zero minimum:5 name:E : D", "event: not given");
	E("event:1 counters:0 minimum:5 name:E : D", "um: not given");
	E("event:1 counters:0 um:zero name:E : D", "minimum: not given");
	E("event:1 counters:0 um:zero minimum:5 : D", "name: not given");
	E("event:1 um:zero minimum:5 name:E : D",
	  "either counters: or ext: must be given");
	E(GOOD " ext:ibs : D", "either counters: or ext: must be given");
	E("event: counters:0 um:zero minimum:5 name:E : D", "event: no value");
	E("event:x counters:0 um:zero minimum:5 name:E : D",
	  "event:x: not a number");
	E("event:1 counters:4 um:zero minimum:5 name:E : D",
	  "counters: 4: not from 0 to 3");
	E("event:1 counters:1, um:zero minimum:5 name:E : D",
	  "counters: : not from 0 to 3");
	E("event:1 counters:0 um:one minimum:5 name:E : D",
	  "um:one: no such unit mask");
	E("event:1 counters:0 um:zero minimum:0 name:E : D",
	  "minimum: must not be 0");
	E("event:1 counters:0 um:zero minimum:5 name:a/b : D",
	  "name:a/b: must not contain '/', '.', ':' or ','");
	E(GOOD " filter:32 : D", "filter: above 31");
#undef E
}

/* First and last characters of each length, and what is beside them. */
FOLDER_TEST(test_characters)
{
	static const struct {
		const char *bytes;
		bool may_stand;
	} cases[] = {
		{ "\t", true },
		{ "\x1f", false },
		{ "\x7f", false },
		{ "~", true },
		{ "\x80", false },
		{ "\xbf", false },
		{ "\xc1\xbf", false },
		{ "\xc2\x9f", false }, /* a C1 control */
		{ "\xc2\xa0", true },
		{ "\xc2", false },
		{ "\xc2\xc0", false },
		{ "\xc3\x80", true },
		{ "\xdf\xbf", true },
		{ "\xe0\x9f\xbf", false }, /* too long for what it is */
		{ "\xe0\xa0\x80", true },
		{ "\xe0\xa0", false },
		{ "\xe1\x80\x80", true },
		{ "\xed\x9f\xbf", true },
		{ "\xed\xa0\x80", false }, /* a surrogate */
		{ "\xee\x80\x80", true },
		{ "\xef\xbf\xbf", true },
		{ "\xf0\x8f\xbf\xbf", false },
		{ "\xf0\x90\x80\x80", true },
		{ "\xf0\x90\x80", false },
		{ "\xf1\x80\x80\x80", true },
		{ "\xf4\x8f\xbf\xbf", true },
		{ "\xf4\x90\x80\x80", false }, /* beyond Unicode */
		{ "\xf5\x80\x80\x80", false },
		{ "\xff", false },
	};
	char events[200], wanted[200];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct op_diag diag = { "" };
		struct op_events *out;
		int err;

		snprintf(events, sizeof(events),
			 "# x\n" GOOD " : a%sb\n"
			 "event:2 counters:0 um:zero minimum:5 name:CYCLES "
			 ": C\n",
			 cases[i].bytes);
		make_cpu(CPU, ZERO, events);
		err = op_events_load(&out, "events", CPU, &diag);
		if (err != (cases[i].may_stand ? 0 : -EINVAL))
			fail_msg("character %zu: %s", i, diag.text);
		if (!err) {
			op_events_free(out);
			continue;
		}
		snprintf(wanted, sizeof(wanted),
			 EVENTS "2: byte 0x%02x: not UTF-8 or a control "
				"character",
			 (unsigned char)cases[i].bytes[0]);
		assert_string_equal(diag.text, wanted);
	}
}

FOLDER_TEST(test_broken_names)
{
	is_broken(ZERO, GOOD " : D\n" GOOD " : D\n",
		  EVENTS "2: name:E: already used in " EVENTS "1");
	is_broken(ZERO, "", "events/" CPU "/events: no events");
	is_broken(ZERO "name:b type:bitmask default:1\n\t0x1 B\n",
		  "event:1 counters:0 um:b,zero minimum:5 name:E : D\n",
		  EVENTS "1: um:zero: of another type");
	is_broken(ZERO,
		  "event:1 counters:0 um:zero,zero minimum:5 name:E : D\n",
		  EVENTS "1: um:zero,zero: no such unit masks, or they cannot "
			 "be merged");
}

FOLDER_TEST(test_broken_original_names)
{
	static const struct {
		const char *line, *reason;
	} bad[] = {
		{ "E 0x1 0 9 mandatory", "fewer than 6 words" },
		{ "E x 0 9 mandatory 0x0 0x0", "x 9: no code and minimum" },
		{ "E 0x1 0 0 mandatory 0x0 0x0", "0x1 0: no code and minimum" },
		{ "E 0x1 0 9 odd 0x0 0x0",
		  "type:odd: not mandatory, exclusive or bitmask" },
		{ "E 0x1 0 9 mandatory 0x0 x", "x: not a number" },
		{ "E 0x1 0 9 mandatory 0x0 0x0:odd",
		  "extra:odd: none of edge, pebs, any, inv, cmask=" },
		{ "E 0x1 0 9 mandatory 0x0", "unit mask E: no entries" },
		{ "E 0x1 0 9 exclusive 0x2 0x1 0x3",
		  "unit mask E: default: no entry has this value" },
		{ "E/F 0x1 0 9 mandatory 0x0 0x0",
		  "name:E/F: must not contain '/', '.', ':' or ','" },
	};

	op_events_free(load_sample());
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct op_diag diag = { "" };
		struct op_events *out;
		char wanted[200];

		make_file(CPU, "original", bad[i].line);
		assert_int_equal(op_events_load(&out, "events", CPU, &diag),
				 -EINVAL);
		snprintf(wanted, sizeof(wanted),
			 "events/" CPU "/original:1: %s", bad[i].reason);
		assert_string_equal(diag.text, wanted);
	}
}

FOLDER_TEST(test_broken_unit_masks)
{
#define U(text, reason) is_broken(text, GOOD " : D\n", MASKS reason)
	U("name:zero type:mandatory\n", "1: default: not given");
	U("type:mandatory default:0\n", "1: name: not given");
	U("name:a default:0\n", "1: type: not given");
	U("name:a type:odd default:0\n",
	  "1: type:odd: not mandatory, exclusive or bitmask");
	U("name:a type:bitmask default:0 name:b\n", "1: name: given twice");
	U("name:a kind:bitmask\n", "1: kind: unknown tag");
	U("\t0x1 A\n", "1: no unit mask before it");
	U("name:a type:bitmask default:0\n", "1: unit mask a: no entries");
	U("name:a type:bitmask default:0x3\n\t0x1 A\n",
	  "1: unit mask a: default: has bits that no entry has");
	U("name:a type:exclusive default:0x3\n\t0x1 A\n\t0x2 B\n",
	  "1: unit mask a: default: no entry has this value");
	U("name:a type:exclusive default:b\n\t0x1 A\n",
	  "1: unit mask a: default: neither a number nor an entry");
	U("name:a type:mandatory default:0x1\n\t0x1 A\n\t0x2 B\n",
	  "1: unit mask a: mandatory, but with several entries");
	U("name:a type:exclusive default:0x1\n\t0x1 extra: a A\n"
	  "\t0x1 extra:inv b B\n",
	  "1: unit mask a: default: several entries have this value; give the "
	  "name of one");
	U("name:a type:bitmask default:0x1\n\t1 A\n",
	  "2: 1: not a hex number, 0x...");
	U("name:a type:bitmask default:0x1\n\t0x1\n", "2: no description");
	U("name:a type:bitmask default:0x1\n\t0x1 extra:inv\n",
	  "2: no name behind extra:");
	U("name:a type:bitmask default:0x1\n\t0x1 extra: 0x12 X\n",
	  "2: no name behind extra:");
	U("name:a type:bitmask default:0x1\n\t0x1 extra:odd x X\n",
	  "2: extra:odd: none of edge, pebs, any, inv, cmask=");
	U("name:a type:bitmask default:0x1\n\t0x1 extra:cmask=256 x X\n",
	  "2: extra:cmask=256: not a number up to 255");
	U("name:a type:bitmask default:0x1\n\t0x1 A\n\t0x1 B\n",
	  "3: 0x01: already used in line 2");
	U("name:a type:bitmask default:0x1\n\t0x1 extra: x A\n"
	  "\t0x2 extra: x B\n",
	  "3: x: already used in line 2");
	U(ZERO ZERO, "3: unit mask zero: there is one already");
	U(ZERO "name:a type:bitmask default:0x1\n\t0x1 A\n",
	  "3: unit mask a: no event uses it");
#undef U
}

FOLDER_TEST(test_broken_includes)
{
	struct op_diag diag = { "" };
	struct op_events *events;

	is_broken("include:" CPU "\n", "",
		  "events/" CPU "/unit_masks: include: too deep; does it "
		  "include itself?");
	is_broken("include:../../etc\n", "",
		  "include:../../etc: no name of a CPU type");
	make_cpu(CPU, "include:x86-64/none\n", "");
	assert_int_equal(op_events_load(&events, "events", CPU, &diag),
			 -ENOENT);
	assert_string_equal(diag.text, "events/x86-64/none/unit_masks: No such "
				       "file or directory");
}

FOLDER_TEST(test_missing)
{
	struct op_diag diag = { "" };
	struct op_events *events;

	op_events_free(load_sample());
	assert_int_equal(op_events_load(&events, "events", "x86-64/none",
					&diag),
			 -ENOENT);
	assert_non_null(strstr(diag.text, "x86-64/none: no such CPU type"));
	diag.text[0] = '\0';
	unlink("events/" CPU "/events");
	assert_int_equal(op_events_load(&events, "events", CPU, &diag),
			 -ENOENT);
	assert_non_null(strstr(diag.text, CPU "/events: No such file"));
	op_events_free(NULL);
}
