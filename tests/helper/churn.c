// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * churn: one thread after the other, each of which uses 0.4 ms of CPU time,
 * until it is ended. Prints a line when the first has ended.
 */

#include <err.h>
#include <pthread.h>
#include <stdio.h>

#include "burn.h"

BURN_FUNCTION(burn_thread)

static void *live(void *unused)
{
	while (burn_clock() < 400000)
		burn_thread(1000);
	return unused;
}

int main(void)
{
	setbuf(stdout, NULL);
	for (unsigned long nr = 0;; nr++) {
		pthread_t thread;

		if (pthread_create(&thread, NULL, live, NULL) ||
		    pthread_join(thread, NULL))
			errx(2, "no thread");
		if (!nr)
			puts("ready");
	}
}
