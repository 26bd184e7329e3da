/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DAEMON_SOURCE_JIT_OPD_JIT_H
#define DAEMON_SOURCE_JIT_OPD_JIT_H

/*
 * Names for code that programs make at run time and tell of in a perf map,
 * /tmp/perf-PID.map, or in a jitdump, a file jit-PID.dump that they map. A
 * sample in such code goes to an image of its process (op_code_image.h). What
 * neither tells at the time of the sample stays in anonymous memory; if one
 * tells it later, at the end of the process, say, its name goes to
 * images/perf-PID.map of the session, by address.
 *
 * A process names the files that are read, and may be another user's: only
 * regular files of its own owner are read, and of all of them together so much
 * in a tenth of a second that samples do not wait for long, whatever programs
 * write. What is left is read later.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/source/untrusted/opd_untrusted.h"

struct cfi_table;
struct op_log;
struct opd_jit;
struct opd_perf_images;

#define OPD_JIT_BUCKETS 256

struct opd_jits {
	const char *folder; /* for images; NULL: nothing is looked for */
	const char *proc; /* "/proc", but for tests */
	struct op_log *log; /* or NULL */
	struct opd_perf_images *images; /* gives cookies */
	struct opd_untrusted untrusted; /* reads what they write */
	struct opd_jit *bucket[OPD_JIT_BUCKETS]; /* processes */
	size_t nr; /* of these */
	size_t nr_codes; /* that are known, of all */
	/* records that may be read until more_at, and at the end of processes
	 * until more_at_end, ns */
	size_t left, left_at_end;
	uint64_t more_at, more_at_end;
	uint64_t round;
	uint64_t save_at; /* ns */
	int64_t ahead; /* of CLOCK_MONOTONIC the times of samples are, ns */
	bool is_full; /* and that was said */
	bool is_crowded; /* likewise: there were too many processes */
	bool removes_maps; /* of processes that have ended */
	bool is_late; /* samples come when their code may be gone again */
};

void opd_jits_init(struct opd_jits *jits, struct opd_perf_images *images);
/* Without writing anything: opd_jits_save() comes before. */
void opd_jits_release(struct opd_jits *jits);

/*
 * Look for @addr of process @tgid, in anonymous memory, at the time @now, ns.
 * True if its code has a name: then *@cookie is the process's image and *@key
 * the offset in it.
 */
bool opd_jits_find(struct opd_jits *jits, uint32_t tgid, uint64_t addr,
		   uint64_t now, uint64_t *cookie, uint64_t *key);

/*
 * The unwind table of the code of process @tgid at @addr at the time @now, ns,
 * if its jitdump has one; else NULL. The table holds until the next call.
 * *@start is the address of the code.
 */
const struct cfi_table *opd_jits_find_frames(struct opd_jits *jits,
					     uint32_t tgid, uint64_t addr,
					     uint64_t now, uint64_t *start);

/*
 * Process @tgid has mapped the file @name, as /proc/PID/maps has it, of inode
 * @ino: it is read if it is a jitdump, and a perf map is not any more.
 */
void opd_jits_see_mapping(struct opd_jits *jits, uint32_t tgid,
			  const char *name, uint64_t ino);

/*
 * Process @parent forked @child at the time @now, ns: the child has its code,
 * and tells of its own from then on.
 */
void opd_jits_fork(struct opd_jits *jits, uint32_t parent, uint32_t child,
		   uint64_t now);

/* Process @tgid has ended, or runs another program: take what it leaves. */
void opd_jits_exit(struct opd_jits *jits, uint32_t tgid);

/*
 * Process @tgid has ended: with jits->removes_maps remove its perf map, which
 * is still read by the call of opd_jits_exit() that follows. Where no sample
 * has led to the folder of the process, that is /tmp, and the map must be this
 * user's.
 */
void opd_jits_remove_map(struct opd_jits *jits, uint32_t tgid);

/* The samples up to @now have been looked for: read what has been added to the
 * maps, so that the next ones find what is true after these. */
void opd_jits_end_round(struct opd_jits *jits, uint64_t now);

/* Write what is known of all processes. */
void opd_jits_save(struct opd_jits *jits);

#endif /* DAEMON_SOURCE_JIT_OPD_JIT_H */
