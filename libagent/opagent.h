/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPAGENT_H
#define OPAGENT_H

/*
 * libopagent: for programs that make code at run time, to tell profilers what
 * that code is. It writes a jitdump, jit-PID.dump, that OProfile reads while
 * the program runs, and that perf inject(1) reads, too. The file is in the
 * folder $JITDUMPDIR, else in $OPROFILE_DUMPS, which operf(1) sets, /tmp,
 * /var/tmp or /dev/shm, whichever lets its files be mapped as code; it stays
 * there when the program has ended, but for $OPROFILE_DUMPS, which operf
 * removes.
 *
 * All functions may be called by any thread at any time. A process that was
 * forked off writes a dump of its own as soon as it tells of code; what was
 * told before the fork is not in it.
 *
 * Functions that return an int return 0, or -1 with errno set.
 */

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct op_agent *op_agent_t;

/* A place in the code and the source line that it was made of. */
struct debug_line_info {
	unsigned long vma; /* address */
	unsigned int lineno;
	const char *filename; /* an absolute path is found best */
};

/* Begin a dump. NULL on failure, with errno set. */
op_agent_t op_open_agent(void);

/* The end of the dump. @agent is gone, also after a failure. */
int op_close_agent(op_agent_t agent);

/*
 * There is code of @size bytes at the address @vma, called @symbol_name, from
 * now on; older code that it overlaps is gone. @code is where its bytes can be
 * read now, mostly at @vma itself; NULL: they are not told.
 */
int op_write_native_code(op_agent_t agent, const char *symbol_name,
			 uint64_t vma, const void *code, unsigned int size);

/*
 * Likewise, and @frames are @frames_len bytes of an .eh_frame that unwinds the
 * code, so that stacks lead through it where it keeps no frame pointer. In them
 * the code is at @vma, and they lie behind it, at the next multiple of 8. None
 * (@frames_len is 0) is no error. Since 2.1.
 */
int op_write_native_code_frames(op_agent_t agent, const char *symbol_name,
				uint64_t vma, const void *code,
				unsigned int size, const void *frames,
				size_t frames_len);

/*
 * The source lines of the code at address @code, of which
 * op_write_native_code() tells next, or has told last; perf knows only of the
 * former. @nr_entry of 0 is no error.
 */
int op_write_debug_line_info(op_agent_t agent, const void *code,
			     size_t nr_entry,
			     const struct debug_line_info *compile_map);

/* The code at the address @vma is gone. */
int op_unload_native_code(op_agent_t agent, uint64_t vma);

/* The version of the library. */
int op_major_version(void);
int op_minor_version(void);

#ifdef __cplusplus
}
#endif

#endif /* OPAGENT_H */
