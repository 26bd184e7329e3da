// SPDX-License-Identifier: GPL-2.0
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/string.h>

#include "settings.h"

DEFINE_MUTEX(settings_mutex);
struct settings_state settings_state;

static int set_unless(const bool *in_use, unsigned long *setting, u64 value)
{
	int err = 0;

	if (value > ULONG_MAX)
		return -ERANGE;
	mutex_lock(&settings_mutex);
	if (*in_use)
		err = -EBUSY;
	else
		WRITE_ONCE(*setting, value);
	mutex_unlock(&settings_mutex);
	return err;
}

int settings_set_while_idle(unsigned long *setting, u64 value)
{
	return set_unless(&settings_state.is_set_up, setting, value);
}

int settings_set_while_stopped(unsigned long *setting, u64 value)
{
	return set_unless(&settings_state.is_running, setting, value);
}

int settings_set_all_while_stopped(void *settings, const void *values,
				   size_t size)
{
	int err = 0;

	mutex_lock(&settings_mutex);
	if (settings_state.is_running)
		err = -EBUSY;
	else
		memcpy(settings, values, size);
	mutex_unlock(&settings_mutex);
	return err;
}

void settings_read(void *values, const void *settings, size_t size)
{
	mutex_lock(&settings_mutex);
	memcpy(values, settings, size);
	mutex_unlock(&settings_mutex);
}
