/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TESTS_UNIT_NO_STDIN_H
#define TESTS_UNIT_NO_STDIN_H

/*
 * A program may be started without standard input. The next file that it opens
 * has number 0 then, which is a descriptor as good as any: tests free it while
 * code runs that opens files, so that a 0 that is taken for none is seen.
 */

#include <fcntl.h>
#include <unistd.h>

#include "tests/unit/test.h"

static unsigned int nr_without_stdin;

__attribute__((unused)) static void close_stdin(void)
{
	if (nr_without_stdin++ == 0)
		close(STDIN_FILENO);
}

/* As often as it was closed; all that was opened has been closed. */
__attribute__((unused)) static void reopen_stdin(void)
{
	if (--nr_without_stdin == 0)
		assert_int_equal(open("/dev/null", O_RDONLY), STDIN_FILENO);
}

#endif /* TESTS_UNIT_NO_STDIN_H */
