/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MODULE_SETTINGS_H
#define MODULE_SETTINGS_H

/*
 * The settings and the state of the profiler share a mutex, so a setting
 * never changes under a session that was set up or started with it.
 */

#include <linux/mutex.h>
#include <linux/types.h>

extern struct mutex settings_mutex;

/* Changed by oprof.c alone, with settings_mutex held. */
struct settings_state {
	bool is_set_up; /* the event buffer is open */
	bool is_running;
};

extern struct settings_state settings_state;

/*
 * Change @setting unless it is in use: -EBUSY while the event buffer is open,
 * or while sampling; -ERANGE if it cannot hold @value.
 */
int settings_set_while_idle(unsigned long *setting, u64 value);
int settings_set_while_stopped(unsigned long *setting, u64 value);

/* Change settings that belong together, all @size bytes of them; read them. */
int settings_set_all_while_stopped(void *settings, const void *values,
				   size_t size);
void settings_read(void *values, const void *settings, size_t size);

#endif /* MODULE_SETTINGS_H */
