/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DAEMON_SOURCE_UNTRUSTED_OPD_UNTRUSTED_H
#define DAEMON_SOURCE_UNTRUSTED_OPD_UNTRUSTED_H

/*
 * Reads perf maps, jitdumps and binaries, which any user may have written, in a
 * process of its own: it has nothing but the descriptor that each call hands to
 * it, and can do no more than read (op_confine.h). What it answers is not
 * believed: whoever calls looks at each number, as at one in the file.
 *
 * A call waits for its answer. A file that keeps the process longer than
 * OPD_UNTRUSTED_PATIENCE is given up and the process killed; after
 * OPD_UNTRUSTED_FAILURES of these nothing is read for OPD_UNTRUSTED_PAUSE. A
 * busy machine may be the reason, too, so none of them counts for longer than
 * that.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "daemon/source/jit/opd_jit_codes.h"
#include "libcfi/cfi.h"
#include "libcfi/cfi_return.h"
#include "libcfi/unwinder.h"
#include "libop/base/op_clock.h"

#define OPD_UNTRUSTED_ROOM ((size_t)64 << 20) /* bytes of an answer */
#define OPD_UNTRUSTED_PATIENCE 1000 /* ms */
/* So many times that for a table: a large one takes 0.1 s of a free CPU. */
#define OPD_UNTRUSTED_TABLE_PATIENCE 5
#define OPD_UNTRUSTED_FAILURES 8
#define OPD_UNTRUSTED_PAUSE 3600 /* s */

struct op_log;
struct opd_known_files;

/* The work that is to be done with the file, and the contents of the room
 * then. */
enum opd_untrusted_what {
	OPD_UNTRUSTED_MAP, /* lines from map.at on: struct opd_jit_code */
	OPD_UNTRUSTED_MAP_NAME, /* the line at code.where: a name, with a zero
				 */
	OPD_UNTRUSTED_DUMP, /* the head of a dump: nothing */
	OPD_UNTRUSTED_RECORDS, /* of a dump: struct opd_jit_event */
	OPD_UNTRUSTED_FUNCTION, /* of code in a dump: see below */
	OPD_UNTRUSTED_FRAMES, /* what unwinds it: a table (cfi_table_flatten())
			       */
	OPD_UNTRUSTED_BUILD_ID, /* of an ELF file: its room; call.nr is its
				 * length
				 */
	OPD_UNTRUSTED_TABLE, /* what unwinds that: as above */
	OPD_UNTRUSTED_RETURN, /* how code is left: nothing, see leaving */
	OPD_UNTRUSTED_TEXT, /* where memory belongs: nothing, see text */
	OPD_UNTRUSTED_DIGEST, /* of bytes: nothing, see text */
	OPD_UNTRUSTED_IMAGE, /* of a file in a process's memory: its tail */
};

/* How far a map was read. */
struct opd_untrusted_map {
	uint64_t at; /* bytes */
	uint64_t taken; /* by this call, bytes */
	uint64_t in_long_line; /* 1: the rest of it is to be skipped */
};

/* How far a jitdump was read. */
struct opd_jitdump_state {
	uint64_t machine; /* EM_ of elf(5) */
	uint64_t has_times; /* 1: that can be compared */
	uint64_t is_damaged; /* 1: nothing more is read */
	uint64_t at; /* of the next record */
	uint64_t next_time; /* of that record, if it is known; ns */
	uint64_t lines_addr; /* the last LINES are of this code */
	uint64_t lines_at; /* 0: there are none */
	uint64_t frames_at; /* of what unwinds the next code; 0: none */
	uint64_t nr_taken; /* records, by this call */
};

/* A record of a jitdump. */
struct opd_jit_event {
	enum {
		OPD_JIT_LOADED, /* code */
		OPD_JIT_MOVED, /* code.start went to code.where */
		OPD_JIT_HAS_LINES, /* code.start has lines at code.lines */
	} what;
	struct opd_jit_code code;
};

/*
 * OPD_UNTRUSTED_FUNCTION: the name, OP_CODE_NAME_MAX bytes; the code, if there
 * is any; the record of lines; struct opd_untrusted_line.
 */
struct opd_untrusted_function {
	uint64_t has_bytes; /* code.size of them */
	uint64_t lines_len; /* bytes of the record */
	uint64_t nr_lines;
};

struct opd_untrusted_line {
	uint32_t offset; /* in the code */
	uint32_t line;
	uint32_t file; /* offset of its name in the record */
};

/* Code at @at of a file, and what it says (cfi_return.h). */
struct opd_untrusted_leaving {
	uint64_t arch; /* enum cfi_arch */
	uint64_t at;
	uint64_t low, high; /* code is not read beyond these */
	uint64_t from; /* of UNWINDER_ENTERED */
	uint64_t is_return_address; /* 1: @at is one */
	uint64_t ask; /* enum unwinder_ask */
	uint64_t is_made; /* 1: at run time, so it need not keep to the ABI */
	union cfi_return found; /* UNWINDER_RETURN's answer */
};

/* Memory that may be a copy of text of an ELF file, one of whose segments is
 * mapped at @side_addr from @side_offset on. */
struct opd_untrusted_text {
	uint64_t side_addr, side_offset;
	uint64_t skipped; /* so many places that it fits are left out */
	uint64_t start, end; /* of the memory; then, what of it is text */
	uint64_t offset; /* of that in the file */
	uint64_t digest; /* of some pages from start to end, of any file */
};

/*
 * The parts of an image file that is made of what a process has loaded. Its
 * header is at the address @head of the memory: the header as it is to be,
 * ranges of memory at offsets of the file, and the room at @tail_at.
 */
#define OPD_UNTRUSTED_PARTS 8

struct opd_untrusted_image {
	uint64_t head;
	uint64_t tail_at;
	uint8_t header[64];
	struct opd_untrusted_part {
		uint64_t addr, offset, len;
	} parts[OPD_UNTRUSTED_PARTS];
};

/* A call, which is also its answer. */
struct opd_untrusted_call {
	uint64_t what; /* enum opd_untrusted_what */
	int64_t err; /* 0 or -errno */
	uint64_t until; /* ns */
	uint64_t most; /* bytes, or records */
	uint64_t nr; /* things or bytes in the room */
	uint64_t extent; /* enum cfi_extent: of a table */
	struct opd_jit_code code;
	struct opd_untrusted_map map;
	struct opd_jitdump_state dump;
	struct opd_untrusted_function function;
	struct opd_untrusted_text text;
	struct opd_untrusted_image image;
	/* The last one, as a rule ends in its places. */
	struct opd_untrusted_leaving leaving;
};

struct opd_untrusted {
	pid_t pid; /* 0: none */
	int sock;
	void *room; /* shared with it */
	int patience; /* ms, OPD_UNTRUSTED_PATIENCE but for tests */
	uint64_t nr_without_memory; /* calls that failed with -ENOMEM */
	unsigned int nr_failures;
	time_t failed; /* when the first of them was, in seconds of the clock */
	pid_t given_up[OPD_UNTRUSTED_FAILURES]; /* killed, not yet gone */
	unsigned int nr_given_up; /* nr_failures at most */
	uint64_t cost_of_given_up; /* ns */
	const struct op_clock *clock; /* the kernel's but for tests */
	struct op_log *log; /* or NULL */
	/* Files whose build-ids need not be read again; not owned, or NULL. */
	struct opd_known_files *known;
};

/* There is no process before the first call. */
void opd_untrusted_init(struct opd_untrusted *untrusted);
void opd_untrusted_release(struct opd_untrusted *untrusted);

/* How many calls of @untrusted, which may be NULL, found no memory: if there
 * are more than before, this is why what they were made for has failed. */
static inline uint64_t
opd_untrusted_without_memory(const struct opd_untrusted *untrusted)
{
	return untrusted ? untrusted->nr_without_memory : 0;
}

/* CPU time of this thread and of its processes, ns, and how long it had
 * patience with those that it gave up. The difference of two is what reading
 * has cost, however long both waited for a CPU. */
uint64_t opd_untrusted_cost(const struct opd_untrusted *untrusted);

/*
 * Do @call with the file @fd. Returns call->err; -ETIMEDOUT when the file was
 * given up, -EIO when nothing is read any more. *@room is what was read, until
 * opd_untrusted_done(), which follows in any case. With @foreign NULL all is
 * done here, for tests.
 */
int opd_untrusted_do(struct opd_untrusted *untrusted, int fd,
		     struct opd_untrusted_call *call, const void **room);
void opd_untrusted_done(const struct opd_untrusted *untrusted,
			const void *room);

struct op_build_id;

/* The build-id of the ELF file @fd with its fingerprint, and its table for
 * unwinding, which tells so much and is the caller's to free. Return as
 * opd_untrusted_do(). */
int opd_untrusted_build_id(struct opd_untrusted *untrusted, int fd,
			   struct op_build_id *id);
int opd_untrusted_table(struct opd_untrusted *untrusted, int fd,
			enum cfi_extent extent, struct cfi_table **out);
/* Make a table of the @nr bytes in @room, which are copied first: a child may
 * still change them. */
int opd_untrusted_copy_table(const void *room, uint64_t nr,
			     struct cfi_table **out);

#endif /* DAEMON_SOURCE_UNTRUSTED_OPD_UNTRUSTED_H */
