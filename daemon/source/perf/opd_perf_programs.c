// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Records of one CPU are looked at in the order of time, but those of different
 * CPUs are not: of the mappings behind an exec the earliest counts, whichever
 * is told first.
 */

#include "daemon/source/perf/opd_perf_programs.h"

#include <stddef.h>

#include "module/uapi/oprofile.h"

static struct opd_coming_program *bucket_of(struct opd_perf_programs *programs,
					    uint32_t tgid)
{
	return programs->buckets[tgid % OPD_PERF_PROGRAMS];
}

void opd_perf_programs_begin(struct opd_perf_programs *programs, uint32_t tgid,
			     uint64_t time)
{
	struct opd_coming_program *bucket = bucket_of(programs, tgid);
	struct opd_coming_program *oldest = bucket;

	for (int i = 1; i < OPD_PERF_PROGRAM_WAYS; i++)
		if (bucket[i].began_at < oldest->began_at)
			oldest = &bucket[i];
	*oldest = (struct opd_coming_program){
		.began_at = time,
		.cookie = OP_NO_COOKIE,
		.tgid = tgid,
	};
}

void opd_perf_programs_map(struct opd_perf_programs *programs, uint32_t tgid,
			   uint64_t time, uint64_t cookie)
{
	struct opd_coming_program *bucket = bucket_of(programs, tgid);
	struct opd_coming_program *last = NULL;

	for (int i = 0; i < OPD_PERF_PROGRAM_WAYS; i++)
		if (bucket[i].began_at && bucket[i].tgid == tgid &&
		    bucket[i].began_at <= time &&
		    (!last || bucket[i].began_at > last->began_at))
			last = &bucket[i];
	if (!last || (last->mapped_at && last->mapped_at <= time))
		return;
	last->mapped_at = time;
	last->cookie = cookie;
}

uint64_t opd_perf_programs_pop(struct opd_perf_programs *programs,
			       uint32_t tgid, uint64_t time)
{
	struct opd_coming_program *bucket = bucket_of(programs, tgid);

	for (int i = 0; i < OPD_PERF_PROGRAM_WAYS; i++) {
		if (bucket[i].tgid != tgid || bucket[i].began_at != time)
			continue;
		bucket[i].began_at = 0;
		return bucket[i].cookie;
	}
	return OP_NO_COOKIE;
}
