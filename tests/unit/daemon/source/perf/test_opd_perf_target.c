// SPDX-License-Identifier: GPL-2.0-or-later
/* Whom the perf_events source samples, as text says it. */

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "tests/unit/test.h"
#include "daemon/source/perf/opd_perf_target.h"

TEST(nothing_is_everything)
{
	const char *texts[] = { NULL, "" };
	struct opd_perf_target target;

	for (int i = 0; i < 2; i++) {
		memset(&target, 0xff, sizeof(target));
		assert_int_equal(opd_perf_target_parse(&target, texts[i], NULL),
				 0);
		assert_int_equal(target.exec, 0);
		assert_int_equal(target.nr_pids, 0);
		assert_int_equal(target.rate, OPD_PERF_RATE);
		assert_false(opd_perf_is_targeted(&target));
		opd_perf_target_release(&target);
	}
}

TEST(stacks)
{
	struct opd_perf_target target;

	assert_int_equal(opd_perf_target_parse(&target, "callgraph=64", NULL),
			 0);
	assert_int_equal(target.depth, 64);
	assert_int_equal(target.stack, 0);
	assert_int_equal(opd_perf_target_parse(&target,
					       "callgraph=0,stack=8191", NULL),
			 0);
	assert_int_equal(target.depth, 0);
	assert_int_equal(target.stack, 8184);
	assert_int_equal(opd_perf_target_parse(
				 &target, "callgraph=1024,stack=61440", NULL),
			 0);
	assert_int_equal(target.stack, OPD_PERF_STACK_MAX);
	assert_int_equal(opd_perf_target_parse(&target, "callgraph=1025", NULL),
			 -EINVAL);
	assert_int_equal(opd_perf_target_parse(&target, "stack=511", NULL),
			 -EINVAL);
	assert_int_equal(opd_perf_target_parse(&target, "stack=61441", NULL),
			 -EINVAL);
}

TEST(all_keys)
{
	struct opd_perf_target target;

	assert_int_equal(
		opd_perf_target_parse(&target, "rate=250,exec=42", NULL), 0);
	assert_int_equal(target.exec, 42);
	assert_int_equal(target.nr_pids, 0);
	assert_int_equal(target.rate, 250);
	assert_true(opd_perf_is_targeted(&target));
	opd_perf_target_release(&target);
	assert_int_equal(target.exec, 0);
	assert_int_equal(opd_perf_target_parse(
				 &target, "pid=1,pid=2147483647,pid=1,", NULL),
			 0);
	assert_int_equal(target.exec, 0);
	assert_int_equal(target.nr_pids, 3);
	assert_true(opd_perf_is_targeted(&target));
	assert_int_equal(target.pids[0], 1);
	assert_int_equal(target.pids[1], INT32_MAX);
	assert_int_equal(target.pids[2], 1);
	assert_int_equal(target.rate, OPD_PERF_RATE);
	opd_perf_target_release(&target);
	assert_null(target.pids);
	opd_perf_target_release(&target);
}

/* Of a key that is there twice the last value counts, but for pid. */
TEST(keys_repeated)
{
	struct opd_perf_target target;

	assert_int_equal(
		opd_perf_target_parse(&target,
				      "rate=1,exec=5,rate=100000,exec=6", NULL),
		0);
	assert_int_equal(target.exec, 6);
	assert_int_equal(target.rate, OPD_PERF_RATE_MAX);
	opd_perf_target_release(&target);
}

TEST(maps_that_are_removed)
{
	struct opd_perf_target target;

	assert_int_equal(opd_perf_target_parse(&target, "rate=7", NULL), 0);
	assert_false(target.removes_maps);
	assert_int_equal(opd_perf_target_parse(&target, "remove-maps=1,rate=7",
					       NULL),
			 0);
	assert_true(target.removes_maps);
	assert_int_equal(target.rate, 7);
	assert_int_equal(opd_perf_target_parse(&target, "remove-maps=2", NULL),
			 -EINVAL);
}

TEST(a_cgroup)
{
	const char *path =
		"/a-folder/of-a-name/that-is/longer-than/any-other-word/"
		"that-may-be-there.scope";
	struct opd_perf_target target;
	char text[256];

	snprintf(text, sizeof(text), "cgroup=/x,cgroup=%s,rate=7", path);
	assert_int_equal(opd_perf_target_parse(&target, text, NULL), 0);
	assert_string_equal(target.cgroup, path);
	assert_int_equal(target.rate, 7);
	assert_false(opd_perf_is_targeted(&target));
	assert_true(opd_perf_samples_cpus(&target));
	opd_perf_target_release(&target);
	assert_null(target.cgroup);
}

TEST(many_pids)
{
	struct opd_perf_target target;
	char text[7 * 2000 + 1] = "";
	size_t len = 0;

	for (int i = 1; i < 1000; i++)
		len += (size_t)snprintf(text + len, sizeof(text) - len,
					"%spid=%d", i > 1 ? "," : "", i);
	assert_int_equal(opd_perf_target_parse(&target, text, NULL), 0);
	assert_int_equal(target.nr_pids, 999);
	for (int i = 1; i < 1000; i++)
		assert_int_equal(target.pids[i - 1], i);
	opd_perf_target_release(&target);
}

/* The reason is one line that names what is wrong. */
static void refuse(const char *text, const char *named)
{
	struct op_diag diag = { "" };
	struct opd_perf_target target;

	assert_int_equal(opd_perf_target_parse(&target, text, &diag), -EINVAL);
	opd_perf_target_release(&target);
	assert_null(strchr(diag.text, '\n'));
	assert_memory_equal(diag.text, "source perf: ", 13);
	if (!strstr(diag.text, named))
		fail_msg("'%s' does not name %s", diag.text, named);
}

TEST(wrong_words_are_refused)
{
	refuse("speed=5", "'speed'");
	refuse("cgroup=", "cgroup=");
	refuse("cgroup=,pid=1", "cgroup=");
	refuse("cgroup", "'cgroup'");
	refuse("PID=5", "'PID'");
	refuse("pid", "pid=");
	refuse("pid=", "pid=:");
	refuse("=5", "''");
	refuse(",", "''");
	refuse("pid=1,,pid=2", "''");
	refuse("pid=0", "pid=0");
	refuse("pid=-1", "pid=-1");
	refuse("pid=1x", "pid=1x");
	refuse("pid= 1", "pid= 1");
	refuse("pid=2147483648", "2147483647");
	refuse("pid=18446744073709551617", "18446744073709551617");
	refuse("exec=0", "exec=0");
	refuse("exec=self", "exec=self");
	refuse("rate=0", "rate=0");
	refuse("rate=100001", "100000");
	refuse("rate=1e3", "rate=1e3");
	refuse("pid=1,rate=fast,pid=2", "rate=fast");
	refuse("pid=1\n", "pid=1?");
	refuse("pid=1=2", "pid=1=2");
}

TEST(words_have_a_longest)
{
	struct opd_perf_target target;
	char text[128];

	snprintf(text, sizeof(text), "pid=%059d", 1);
	assert_int_equal(opd_perf_target_parse(&target, text, NULL), 0);
	assert_int_equal(target.pids[0], 1);
	opd_perf_target_release(&target);
	snprintf(text, sizeof(text), "pid=%060d", 1);
	refuse(text, "too long");
}
