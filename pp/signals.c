// SPDX-License-Identifier: GPL-2.0-or-later

#include "pp/signals.h"

#include <signal.h>
#include <stddef.h>

static volatile sig_atomic_t caught; /* the signal that came; else 0 */

static void note_signal(int signal)
{
	caught = signal;
}

void pp_catch_signals(void)
{
	static const int signals[] = { SIGHUP, SIGINT, SIGTERM };
	struct sigaction action = { .sa_handler = note_signal };

	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
		struct sigaction old;

		if (!sigaction(signals[i], NULL, &old) &&
		    old.sa_handler != SIG_IGN)
			sigaction(signals[i], &action, NULL);
	}
}

int pp_caught_signal(void)
{
	return caught;
}

void pp_end_by_signal(void)
{
	if (!caught)
		return;
	signal(caught, SIG_DFL);
	raise(caught);
}
