// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * control SOCKET REQUEST: asks the daemon at SOCKET, waits until it is done
 * and prints its answer.
 */

#include <err.h>
#include <stdio.h>

#include "libop/op_control.h"

#define TIMEOUT_MS 120000

int main(int argc, char **argv)
{
	static char reply[65536];
	struct op_diag diag = { "" };

	if (argc != 3)
		errx(2, "usage: control SOCKET REQUEST");
	if (op_control_call(argv[1], argv[2], reply, sizeof(reply), TIMEOUT_MS,
			    &diag))
		errx(1, "%s: %s", argv[2], diag.text);
	fputs(reply, stdout);
	return 0;
}
