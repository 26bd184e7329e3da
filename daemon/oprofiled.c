// SPDX-License-Identifier: GPL-2.0-or-later

#include "daemon/opd.h"
#include "daemon/opd_main.h"

/* Large, and there is one. */
static struct opd daemon_state;

int main(int argc, const char **argv)
{
	return opd_main(&daemon_state, argc, argv);
}
