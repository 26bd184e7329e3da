/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBOP_FILES_OP_CONFINE_H
#define LIBOP_FILES_OP_CONFINE_H

#include <sys/types.h>

/*
 * The first thing that a child does, which process @parent has forked: it ends
 * with that, and has no descriptor but @fd, as 0.
 */
void op_confine_child(int fd, pid_t parent);

/*
 * The last thing that it does, and does not return from. It is not declared so:
 * before a call that does not return, AddressSanitizer asks the kernel for the
 * stack of signals, which a confined process may not do.
 */
void op_confine_end(void);

enum op_confine_to {
	OP_CONFINE_TO_READING, /* of any file: it keeps that capability */
	OP_CONFINE_TO_DESCRIPTORS, /* that it has: it opens none */
	OP_CONFINE_TO_WRITING, /* to these, and to reading what its user may */
};

/*
 * Let this process, which has one thread, do no more than read files, those
 * that it may open or those that it is handed, and talk over the sockets that
 * it has: for a child that parses what any user may have written. All other
 * system calls fail with EPERM, and it has no other capability. With
 * OP_CONFINE_TO_WRITING it may make the files that it is handed as large as
 * RLIMIT_FSIZE allows. Returns 0 or -errno, where it is confined in part.
 */
int op_confine(enum op_confine_to to);

#endif /* LIBOP_FILES_OP_CONFINE_H */
