// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A table holds the keys with their bounds, so that one message can say the
 * bounds of any key. The size of stacks is rounded down to whole words, because
 * the kernel refuses others.
 */

#include "daemon/source/perf/opd_perf_target.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "libop/base/op_array.h"
#include "libop/files/op_config.h"

#define WORD_MAX 64
#define CGROUP "cgroup="

static int add_pid(struct opd_perf_target *target, pid_t pid)
{
	if (op_array_reserve(&target->pids, target->nr_pids, 1))
		return -ENOMEM;
	target->pids[target->nr_pids++] = pid;
	return 0;
}

enum key { EXEC, PID, RATE, CALLGRAPH, STACK, REMOVE_MAPS, NR_KEYS };

static const struct {
	const char *name;
	uint32_t min, max;
} keys[NR_KEYS] = {
	[EXEC] = { "exec", 1, INT32_MAX },
	[PID] = { "pid", 1, INT32_MAX },
	[RATE] = { "rate", 1, OPD_PERF_RATE_MAX },
	[CALLGRAPH] = { "callgraph", 0, OPD_PERF_DEPTH_MAX },
	[STACK] = { "stack", OPD_PERF_STACK_MIN, OPD_PERF_STACK_MAX },
	[REMOVE_MAPS] = { "remove-maps", 0, 1 },
};

static enum key find_key(const char *name)
{
	enum key key = 0;

	while (key < NR_KEYS && strcmp(keys[key].name, name))
		key++;
	return key;
}

static int parse_pair(struct opd_perf_target *target, const char *name,
		      const char *value, struct op_diag *diag)
{
	enum key key = find_key(name);
	uint64_t number = 0;

	if (key == NR_KEYS)
		return op_diag_set(
			diag, -EINVAL,
			"source perf: '%s': unknown; use exec=PID, pid=PID, cgroup=PATH, rate=HZ, callgraph=DEPTH, stack=BYTES and remove-maps=1",
			name);
	if (op_parse_u64(value, &number) || number < keys[key].min ||
	    number > keys[key].max)
		return op_diag_set(
			diag, -EINVAL,
			"source perf: %s=%s: must be a number from %" PRIu32
			" to %" PRIu32,
			name, value, keys[key].min, keys[key].max);
	if (key == PID)
		return add_pid(target, (pid_t)number);
	if (key == EXEC)
		target->exec = (pid_t)number;
	else if (key == RATE)
		target->rate = (uint32_t)number;
	else if (key == CALLGRAPH)
		target->depth = (uint32_t)number;
	else if (key == REMOVE_MAPS)
		target->removes_maps = number;
	else
		target->stack = (uint32_t)number & ~7u;
	return 0;
}

static int parse_cgroup(struct opd_perf_target *target, const char *path,
			size_t len, struct op_diag *diag)
{
	if (len == 0 || len >= PATH_MAX)
		return op_diag_set(diag, -EINVAL,
				   "source perf: cgroup=%.32s: must be a path, "
				   "as in /proc/PID/cgroup",
				   path);
	free(target->cgroup);
	target->cgroup = strndup(path, len);
	return target->cgroup ? 0 : op_out_of_memory(diag);
}

static int parse_target_word(struct opd_perf_target *target, const char *text,
			     size_t len, struct op_diag *diag)
{
	const size_t cgroup_len = sizeof(CGROUP) - 1;
	char word[WORD_MAX] = "";
	char *value;

	if (!strncmp(text, CGROUP, cgroup_len))
		return parse_cgroup(target, text + cgroup_len, len - cgroup_len,
				    diag);
	if (len >= sizeof(word))
		return op_diag_set(diag, -EINVAL,
				   "source perf: '%.32s...': too long", text);
	memcpy(word, text, len);
	value = word + strcspn(word, "=");
	if (*value)
		*value++ = '\0';
	return parse_pair(target, word, value, diag);
}

int opd_perf_target_parse(struct opd_perf_target *target, const char *text,
			  struct op_diag *diag)
{
	int err = 0;

	memset(target, 0, sizeof(*target));
	target->rate = OPD_PERF_RATE;
	while (text && *text && !err) {
		size_t len = strcspn(text, ",");

		err = parse_target_word(target, text, len, diag);
		text += len + (text[len] == ',');
	}
	return err;
}

bool opd_perf_is_targeted(const struct opd_perf_target *target)
{
	return target->exec || target->nr_pids;
}

bool opd_perf_samples_cpus(const struct opd_perf_target *target)
{
	return target->by_cpu || !opd_perf_is_targeted(target);
}

void opd_perf_target_release(struct opd_perf_target *target)
{
	free(target->pids);
	free(target->cgroup);
	memset(target, 0, sizeof(*target));
}
