/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DAEMON_SOURCE_OPD_LIVE_KERNEL_H
#define DAEMON_SOURCE_OPD_LIVE_KERNEL_H

/*
 * Where the running kernel and its modules lie, as records of the stream; the
 * code that modules run while they are loaded; and code that is in none of
 * these, as /proc/kallsyms lists it: BPF programs, trampolines of ftrace,
 * copies of probed instructions.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "daemon/source/opd_proc.h"
#include "libop/kernel/op_ksyms.h"
#include "libop/session/op_stream_words.h"

struct opd_new_code;
struct opd_source;

/* A module that is loaded, by the notices of the module's stream. */
struct opd_live_module {
	char name[OPD_MODULE_NAME_MAX];
	/* Code that it runs once, while it is being loaded, and is not part of
	 * its range in /proc/modules; and code that it keeps, with which that
	 * range begins. Up to the first address behind it; the same as the
	 * start where there is none. */
	uint64_t init_start, init_end;
	uint64_t text_start, text_end;
	struct op_build_id build_id; /* as of the last table that had it */
	bool is_listed; /* that table's /proc/modules had it */
};

struct opd_live_kernel {
	bool is_told; /* of all code that is made from now on, by records */
	bool tried; /* the rest is as good as it can be known */
	uint64_t start; /* 0: not known */
	uint64_t end;
	struct op_build_id build_id;
	struct opd_live_range *modules; /* sorted */
	size_t nr_modules;
	struct opd_live_range *code; /* sorted, none overlapping */
	size_t nr_code;
	struct opd_live_module *noticed; /* the latest last */
	size_t nr_noticed;
	struct op_kallsyms kallsyms; /* while a table is made */
	time_t looked_at; /* for code, by the client's clock */
	time_t patience; /* seconds until the next look; 0: none yet */
};

void opd_live_kernel_release(struct opd_live_kernel *kernel);

/*
 * Add the records of a new table to @words, and tell the client of @source of
 * each range. What cannot be known is said in the client's log.
 */
void opd_live_kernel_record(struct opd_live_kernel *kernel,
			    const struct opd_source *source,
			    struct op_stream_words *words);

/*
 * Whether the reader of the records knows what is at @pc, and nothing else can
 * have come there in the meantime.
 */
bool opd_live_kernel_has(const struct opd_live_kernel *kernel, uint64_t pc);

/*
 * Add records of code that is new to @words. That takes a tenth of a second, so
 * it is done a second after the last time, after 2, 4, 8 and 16 seconds where
 * it is wanted all the time and nothing new is found, and otherwise nothing is
 * done.
 */
void opd_live_kernel_find_code(struct opd_live_kernel *kernel,
			       const struct opd_source *source,
			       struct op_stream_words *words);

/* The source has told of code from @start to before @end itself. */
void opd_live_kernel_add_code(struct opd_live_kernel *kernel, uint64_t start,
			      uint64_t end);

/* The same with its record, where no record of the source tells it. */
void opd_live_kernel_put_code(struct opd_live_kernel *kernel,
			      const struct opd_new_code *code,
			      struct op_stream_words *words);

/*
 * The stream told that this is the code of @module from here on, of which only
 * the first members count. It has gone where it has none. To be told with the
 * next table, and whatever /proc/modules tells by then.
 */
void opd_live_kernel_add_module(struct opd_live_kernel *kernel,
				const struct opd_live_module *module);

/* Forget the places of code until the next look: code may have come without a
 * record from the source. */
void opd_live_kernel_doubt_code(struct opd_live_kernel *kernel);

#endif /* DAEMON_SOURCE_OPD_LIVE_KERNEL_H */
