/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DAEMON_SOURCE_JIT_OPD_JIT_RANGES_H
#define DAEMON_SOURCE_JIT_OPD_JIT_RANGES_H

/*
 * Code that programs make at run time, or copy, for a source that tells of
 * samples in anonymous memory and of nothing else that processes do: the kernel
 * module. What is known by opd_jit.h and opd_copied_text.h is known here.
 * Samples have no times: each gets the code that was there when those before it
 * had been read, some tenths of a second earlier, and where there was none what
 * is there now.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/source/jit/opd_jit.h"
#include "daemon/source/perf/opd_perf_image.h"
#include "libcfi/unwinder.h"

struct opd_source_client;

/* Cookies of images that are made here; the kernel has no such numbers. */
#define OPD_JIT_RANGES_COOKIE ((uint64_t)1 << 63)

#define OPD_JIT_RANGES_PROCESSES 128
#define OPD_JIT_RANGES_MEMORY                                                  \
	16 /* that is looked at in a second, of each process                   \
	    */

struct opd_jit_ranges {
	struct opd_perf_images images;
	struct opd_jits jits;
	uint64_t round_at; /* when the last round ended, ns */
	struct opd_jit_ranges_process {
		uint32_t tgid; /* 0: free */
		uint64_t app; /* cookie of its program */
		int fd; /* readable when it has ended; -1: gone before */
		uint64_t ended_at; /* ns; 0: not seen yet */
		uint64_t look_at; /* for jitdumps again, ns */
		/* Anonymous memory that was looked at since then, which has a
		 * cookie where it is a copy of text; before copied_at, ns,
		 * there is no other look. */
		struct unwinder_map memory[OPD_JIT_RANGES_MEMORY];
		size_t nr_memory;
		uint64_t copied_at;
	} processes[OPD_JIT_RANGES_PROCESSES];
	size_t nr; /* of these that were ever used */
};

/* For the images of @client, in processes that @proc has. Returns 0 or
 * -ENOMEM. */
int opd_jit_ranges_new(struct opd_jit_ranges **out,
		       const struct opd_source_client *client,
		       const char *proc);
/* Write what is known, and free all. @made may be NULL. */
void opd_jit_ranges_free(struct opd_jit_ranges *ranges);

/*
 * Look for @addr in anonymous memory of process @tgid, whose program has the
 * cookie @app. True if its code has a name: then *@cookie is the image of the
 * process, or the file that it is a copy of, and *@key the offset in it.
 */
bool opd_jit_ranges_find(struct opd_jit_ranges *ranges, uint32_t tgid,
			 uint64_t app, uint64_t addr, uint64_t *cookie,
			 uint64_t *key);

/*
 * Look whether the anonymous memory at @addr of process @tgid, whose program
 * has the cookie @app, is a copy of the text of a file. If so *@map is that
 * memory, as if the file was mapped there.
 */
bool opd_jit_ranges_find_text(struct opd_jit_ranges *ranges, uint32_t tgid,
			      uint64_t app, uint64_t addr,
			      struct unwinder_map *map);

/* Open the file of one of these cookies: a descriptor, or -1. */
int opd_jit_ranges_open(const struct opd_jit_ranges *ranges, uint64_t cookie);

/* Answer @query for one of these cookies. Returns 0 or -ENOENT. */
int opd_jit_ranges_query(struct opd_jit_ranges *ranges,
			 struct op_cookie_query *query);

/* Write what is known of all processes. */
void opd_jit_ranges_save(struct opd_jit_ranges *ranges);

/* All that was sampled up to now has been looked for. */
void opd_jit_ranges_end_round(struct opd_jit_ranges *ranges);

#endif /* DAEMON_SOURCE_JIT_OPD_JIT_RANGES_H */
