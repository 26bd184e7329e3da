/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TESTS_UNIT_EVENTS_FIXTURE_H
#define TESTS_UNIT_EVENTS_FIXTURE_H

/* A folder of event files, "events" in the working folder. */

#include "op_fixture.h"

#include "libop/events/op_events.h"

#define CPU "x86-64/test"

static inline void make_file(const char *cpu, const char *name,
			     const char *text)
{
	char path[256];

	mkdir("events", 0777);
	mkdir("events/x86-64", 0777);
	snprintf(path, sizeof(path), "events/%s", cpu);
	mkdir(path, 0777);
	snprintf(path, sizeof(path), "events/%s/%s", cpu, name);
	write_bytes(path, text, strlen(text));
}

static inline void make_cpu(const char *cpu, const char *unit_masks,
			    const char *events)
{
	make_file(cpu, "cpu",
		  "name = Test CPU\ncounters = 4\ndefault = CYCLES:1000\n"
		  "encoding = x86\nmanual = A book\n");
	make_file(cpu, "unit_masks", unit_masks);
	make_file(cpu, "events", events);
}

/* One of each kind. */
static inline struct op_events *load_sample(void)
{
	struct op_events *events;

	make_cpu(CPU,
		 "name:zero type:mandatory default:0x0\n"
		 "\t0x00 No unit mask\n"
		 "name:moesi type:bitmask default:0x1f # all\n"
		 "\t0x01 Invalid\n"
		 "\t0x02 extra: shared Shared\n"
		 "\t0x04 extra: exclusive Exclusive\n"
		 "\t0x08 extra: owned\n"
		 "\t0x10 extra: 4k Modified, or so\n"
		 "name:issue type:exclusive default:any\n"
		 "\t0x01 extra: any All\n"
		 "\t0x01 extra:inv,cmask=1 stalls Cycles without any\n"
		 "\t0x02 extra:edge,any,pebs,cmask=0x10 fused Fused\n",
		 "# a comment\n"
		 "event:0x76 counters:all um:zero minimum:1000 name:CYCLES "
		 ": Cycles outside of halt\n"
		 "\n"
		 "event:0x41 counters:0,1 um:moesi minimum:500 name:MISSES "
		 ": Misses\n"
		 "name:ISSUE um:issue counters:2 minimum:6 event:0x10e "
		 ": Issued : with a colon\n"
		 "event:0xf000 ext:ibs_fetch um:zero minimum:50 "
		 "name:IBS_FETCH : Fetches\n"
		 "event:0xc0 counters:cpuid filter:1 um:zero minimum:7 "
		 "name:INST : Instructions\n");
	assert_int_equal(op_events_load(&events, "events", CPU, NULL), 0);
	return events;
}

#endif /* TESTS_UNIT_EVENTS_FIXTURE_H */
