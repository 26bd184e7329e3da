// SPDX-License-Identifier: GPL-2.0-or-later

#include "daemon/opd_perf_target.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "libop/op_config.h"

#define WORD_MAX 64

static int add_pid(struct opd_perf_target *target, pid_t pid)
{
	pid_t *more =
		reallocarray(target->pids, target->nr_pids + 1, sizeof(*more));

	if (!more)
		return -ENOMEM;
	target->pids = more;
	target->pids[target->nr_pids++] = pid;
	return 0;
}

static int bad_value(struct op_diag *diag, const char *key, const char *value)
{
	return op_diag_set(diag, -EINVAL,
			   "source perf: %s=%s: must be a number from 1 to %d",
			   key, value,
			   strcmp(key, "rate") ? INT32_MAX : OPD_PERF_RATE_MAX);
}

static int take_pair(struct opd_perf_target *target, const char *key,
		     const char *value, struct op_diag *diag)
{
	uint64_t number = 0;

	if (strcmp(key, "exec") && strcmp(key, "pid") && strcmp(key, "rate"))
		return op_diag_set(
			diag, -EINVAL,
			"source perf: '%s': known are exec=PID, pid=PID and rate=HZ",
			key);
	if (op_parse_u64(value, &number) || number == 0 || number > INT32_MAX)
		return bad_value(diag, key, value);
	if (!strcmp(key, "pid"))
		return add_pid(target, (pid_t)number);
	if (!strcmp(key, "exec"))
		target->exec = (pid_t)number;
	else if (number <= OPD_PERF_RATE_MAX)
		target->rate = (uint32_t)number;
	else
		return bad_value(diag, key, value);
	return 0;
}

static int take_word(struct opd_perf_target *target, const char *text,
		     size_t len, struct op_diag *diag)
{
	char word[WORD_MAX] = "";
	char *value;

	if (len >= sizeof(word))
		return op_diag_set(diag, -EINVAL,
				   "source perf: '%.32s...': too long", text);
	memcpy(word, text, len);
	value = word + strcspn(word, "=");
	if (*value)
		*value++ = '\0';
	return take_pair(target, word, value, diag);
}

int opd_perf_target_parse(struct opd_perf_target *target, const char *text,
			  struct op_diag *diag)
{
	int err = 0;

	memset(target, 0, sizeof(*target));
	target->rate = OPD_PERF_RATE;
	while (text && *text && !err) {
		size_t len = strcspn(text, ",");

		err = take_word(target, text, len, diag);
		text += len + (text[len] == ',');
	}
	return err;
}

bool opd_perf_is_targeted(const struct opd_perf_target *target)
{
	return target->exec || target->nr_pids;
}

void opd_perf_target_release(struct opd_perf_target *target)
{
	free(target->pids);
	memset(target, 0, sizeof(*target));
}
