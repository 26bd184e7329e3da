// SPDX-License-Identifier: GPL-2.0-or-later
#include "tests/unit/op_fixture.h"

#include "libop/kernel/op_perf.h"

#define NR_OF(array) (sizeof(array) / sizeof((array)[0]))

static const struct perf_event_attr clock_attr = {
	.type = PERF_TYPE_SOFTWARE,
	.config = PERF_COUNT_SW_CPU_CLOCK,
	.size = sizeof(struct perf_event_attr),
};

/* ---- the table ----------------------------------------------------------- */

TEST(test_names_are_unique_and_plain)
{
	size_t nr;
	const struct op_perf_event *events = op_perf_events(&nr);

	for (size_t i = 0; i < nr; i++) {
		const char *name = events[i].name;

		assert_int_equal(strspn(name, "abcdefghijklmnopqrstuvwxyz"
					      "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
					      "0123456789-"),
				 strlen(name));
		assert_ptr_equal(op_perf_event_find(name), &events[i]);
		assert_true(strlen(events[i].desc) > 0);
		for (size_t k = 0; k < i; k++)
			assert_false(events[k].type == events[i].type &&
				     events[k].config == events[i].config);
	}
}

static void assert_event(const char *name, uint32_t type, uint64_t config)
{
	const struct op_perf_event *event = op_perf_event_find(name);

	assert_non_null(event);
	assert_int_equal(event->type, type);
	assert_int_equal(event->config, config);
}

/* Numbers from perf_event_open(2) and what perf(1) makes of the names. */
TEST(test_known_events)
{
	assert_event("cycles", 0, 0);
	assert_event("instructions", 0, 1);
	assert_event("ref-cycles", 0, 9);
	assert_event("cpu-clock", 1, 0);
	assert_event("context-switches", 1, 3);
	assert_event("major-faults", 1, 6);
	assert_event("L1-dcache-load-misses", 3, 0x10000);
	assert_event("LLC-stores", 3, 0x102);
	assert_event("dTLB-prefetch-misses", 3, 0x10203);
	assert_event("branch-loads", 3, 5);
	assert_event("node-store-misses", 3, 0x10106);
}

TEST(test_second_names)
{
	assert_string_equal(op_perf_event_find("cpu-cycles")->name, "cycles");
	assert_string_equal(op_perf_event_find("cs")->name, "context-switches");
	assert_string_equal(op_perf_event_find("faults")->name, "page-faults");
	assert_string_equal(op_perf_event_find("branch-instructions")->name,
			    "branches");
}

TEST(test_unknown_names)
{
	assert_null(op_perf_event_find(""));
	assert_null(op_perf_event_find("cycle"));
	assert_null(op_perf_event_find("cycles "));
	assert_null(op_perf_event_find("CYCLES"));
	assert_null(op_perf_event_find("iTLB-stores"));
}

/* ---- reasons ------------------------------------------------------------- */

static const struct op_perf_rights ordinary = { .paranoid = 2, .basic = true };
static const struct op_perf_rights all_rights = {
	.paranoid = 2,
	.capable = true,
	.root = true,
	.basic = true,
};

/* The reason must be one line, return the error and hold all of @parts. */
static void reason(int err, const struct op_perf_rights *rights,
		   const struct perf_event_attr *attr, pid_t pid, int cpu,
		   struct op_diag *diag)
{
	diag->text[0] = '\0';
	assert_int_equal(op_perf_explain_rights(diag, err, attr, pid, cpu,
						"EVENT", rights),
			 err);
	assert_true(strlen(diag->text) > 0);
	assert_null(strchr(diag->text, '\n'));
}

TEST(test_system_wide_refused)
{
	struct op_diag diag;

	reason(-EACCES, &ordinary, &clock_attr, -1, 0, &diag);
	assert_reason(&diag, "EVENT: access to whole CPUs");
	assert_reason(&diag, "it is 2");
	assert_reason(&diag, "sysctl kernel.perf_event_paranoid=0");
	assert_reason(&diag, "CAP_PERFMON");
	assert_reason(&diag, "your own programs need neither");
}

TEST(test_kernel_mode_refused)
{
	struct perf_event_attr attr = clock_attr;
	struct op_diag diag;

	reason(-EACCES, &ordinary, &attr, 0, -1, &diag);
	assert_reason(&diag, "EVENT: kernel mode needs");
	assert_reason(&diag, "sysctl kernel.perf_event_paranoid=1");
	assert_reason(&diag, "user mode needs neither");
	attr.exclude_user = 1;
	reason(-EACCES, &ordinary, &attr, 0, -1, &diag);
	assert_null(strstr(diag.text, "user mode needs neither"));
}

TEST(test_paranoid_3)
{
	const struct op_perf_rights none = { .paranoid = 3 };
	struct perf_event_attr attr = clock_attr;
	struct op_diag diag;

	attr.exclude_kernel = 1;
	reason(-EACCES, &none, &attr, 0, -1, &diag);
	assert_reason(&diag, "kernel.perf_event_paranoid is 3");
	assert_reason(&diag, "sysctl kernel.perf_event_paranoid=2");
	/* Kernels without that level have another reason. */
	attr.exclude_kernel = 0;
	reason(-EACCES,
	       &(struct op_perf_rights){ .paranoid = 3, .basic = true }, &attr,
	       0, -1, &diag);
	assert_reason(&diag, "kernel mode needs");
}

TEST(test_process_refused)
{
	struct perf_event_attr attr = clock_attr;
	struct op_diag diag;

	attr.exclude_kernel = 1;
	reason(-EACCES, &ordinary, &attr, 77, -1, &diag);
	assert_reason(&diag, "process 77: it belongs to another user");
	assert_reason(&diag, "CAP_SYS_PTRACE");
	reason(-EACCES, &all_rights, &attr, 77, -1, &diag);
	assert_reason(&diag, "process 77:");
	assert_reason(&diag, "CAP_SYS_PTRACE");
	reason(-EACCES, &ordinary, &attr, 1, -1, &diag);
	assert_reason(&diag, "process 1:");
	reason(-EACCES, &all_rights, &attr, 1, -1, &diag);
	assert_reason(&diag, "process 1:");
	/* 0 is this process, -1 all: neither is another's. */
	for (pid_t pid = -1; pid <= 0; pid++) {
		reason(-EACCES, &all_rights, &attr, pid, 0, &diag);
		assert_reason(&diag, "EVENT: perf_event_open: ");
	}
	reason(-EACCES, &ordinary, &attr, 0, -1, &diag);
	assert_reason(&diag, "EVENT: perf_event_open: ");
}

/* The level from which on the kernel refuses, and the one below it. */
TEST(test_paranoid_levels)
{
	static const struct {
		int paranoid;
		bool basic, user_only;
		pid_t pid;
		const char *part;
	} cases[] = {
		{ 0, true, false, -1, "paranoid is 0; a security module" },
		{ 1, true, false, -1, "access to whole CPUs needs" },
		{ 1, true, false, 0, "paranoid is 1; a security module" },
		{ 2, true, false, 0, "kernel mode needs" },
		{ 2, true, true, 0, "paranoid is 2; a security module" },
		{ 2, false, true, 0, "paranoid is 2; a security module" },
		{ 3, false, true, 0, "denies perf_events to ordinary users" },
		{ 3, true, true, -1, "access to whole CPUs needs" },
	};
	struct perf_event_attr attr = clock_attr;
	struct op_diag diag;

	for (size_t i = 0; i < NR_OF(cases); i++) {
		const struct op_perf_rights rights = {
			.paranoid = cases[i].paranoid,
			.basic = cases[i].basic,
		};

		attr.exclude_kernel = cases[i].user_only;
		reason(-EACCES, &rights, &attr, cases[i].pid, 0, &diag);
		assert_reason(&diag, cases[i].part);
	}
}

TEST(test_seccomp)
{
	static const int errors[] = { -EPERM, -EACCES, -ENOSYS };
	struct op_perf_rights rights = { .paranoid = 2, .seccomp = true };
	struct op_diag diag;

	for (size_t i = 0; i < NR_OF(errors); i++) {
		reason(errors[i], &rights, &clock_attr, -1, 0, &diag);
		assert_reason(&diag, "seccomp filter");
		assert_reason(&diag, "--cap-add PERFMON");
	}
	rights.root = rights.capable = true;
	for (size_t i = 0; i < NR_OF(errors); i++) {
		reason(errors[i], &rights, &clock_attr, -1, 0, &diag);
		assert_reason(&diag, "seccomp filter");
	}
	/* The kernel's own refusal is EACCES; a filter's, which runs first, may
	 * be EPERM. */
	rights = (struct op_perf_rights){ .paranoid = 3, .seccomp = true };
	reason(-EPERM, &rights, &clock_attr, -1, 0, &diag);
	assert_reason(&diag, "seccomp filter");
	reason(-EACCES, &rights, &clock_attr, -1, 0, &diag);
	assert_reason(&diag, "kernel.perf_event_paranoid is 3");
	/* A filter that lets counting through is not the reason. */
	rights = (struct op_perf_rights){
		.paranoid = 2,
		.seccomp = true,
		.basic = true,
	};
	reason(-EACCES, &rights, &clock_attr, -1, 0, &diag);
	assert_reason(&diag, "whole CPUs");
}

TEST(test_root_without_rights)
{
	struct op_perf_rights rights = {
		.paranoid = 2,
		.basic = true,
		.root = true,
	};
	struct op_diag diag;

	reason(-EACCES, &rights, &clock_attr, -1, 0, &diag);
	assert_reason(&diag, "give this container CAP_PERFMON");
	rights.namespace = true;
	reason(-EACCES, &rights, &clock_attr, -1, 0, &diag);
	assert_reason(&diag, "outside this user namespace");
	rights.paranoid = -1;
	reason(-EACCES, &rights, &clock_attr, -1, 0, &diag);
	assert_reason(&diag, "root of a user namespace has no rights");
	rights.root = false;
	reason(-EACCES, &rights, &clock_attr, -1, 0, &diag);
	assert_reason(&diag, "a security module");
	rights.root = true;
	rights.namespace = false;
	reason(-EACCES, &rights, &clock_attr, -1, 0, &diag);
	assert_reason(&diag, "a security module");
}

TEST(test_security_module)
{
	struct op_perf_rights rights = all_rights;
	struct op_diag diag;

	rights.basic = false;
	reason(-EACCES, &rights, &clock_attr, 0, -1, &diag);
	assert_reason(&diag, "SELinux");
	assert_reason(&diag, "kernel.perf_event_paranoid is 2");
}

TEST(test_no_such_event)
{
	struct perf_event_attr attr = clock_attr;
	struct op_diag diag;

	reason(-ENOENT, &all_rights, &attr, 0, -1, &diag);
	assert_reason(&diag, "this kernel has no such event");
	attr.type = PERF_TYPE_RAW;
	reason(-ENOENT, &all_rights, &attr, 0, -1, &diag);
	assert_reason(&diag, op_perf_has_pmu() ? "this CPU has no such event"
					       : "no hardware counters");
	attr.type = PERF_TYPE_HW_CACHE;
	reason(-EINVAL, &all_rights, &attr, 0, -1, &diag);
	assert_reason(&diag, op_perf_has_pmu() ? "this CPU has no such event"
					       : "no hardware counters");
}

TEST(test_other_errors)
{
	static const struct {
		int err;
		const char *part;
	} cases[] = {
		{ -ESRCH, "process 77: no such process" },
		{ -EMFILE, "ulimit -n" },
		{ -ENFILE, "sysctl fs.file-max" },
		{ -EBUSY, "end the other profiler" },
		{ -ENOSPC, "choose fewer events" },
		{ -ENODEV, "CPU 5: offline" },
		{ -ENOSYS, "CONFIG_PERF_EVENTS" },
		{ -EINVAL, "EVENT: the kernel refuses" },
		{ -E2BIG, "newer kernel" },
		{ -EIO, "EVENT: perf_event_open: " },
	};
	struct op_diag diag;

	for (size_t i = 0; i < NR_OF(cases); i++) {
		reason(cases[i].err, &all_rights, &clock_attr, 77, 5, &diag);
		assert_reason(&diag, cases[i].part);
	}
}

/* ---- this machine -------------------------------------------------------- */

TEST(test_rights_agree)
{
	struct op_perf_rights rights;

	op_perf_rights_get(&rights);
	assert_int_equal(rights.paranoid, op_perf_paranoid());
	assert_int_equal(rights.root, geteuid() == 0);
	assert_int_equal(op_perf_may_sample_kernel(),
			 rights.capable || rights.paranoid < 2);
	assert_int_equal(op_perf_may_sample_system(),
			 rights.capable || rights.paranoid < 1);
	if (op_perf_has_pmu())
		assert_true(rights.basic);
}

/* The kernel's own events on both kinds of a hybrid's cores. */
FOLDER_TEST(test_second_kind)
{
	static const struct {
		uint32_t type;
		uint64_t config, second; /* the latter 0: none */
		const char *pmu; /* its file "type", NULL: none */
	} rows[] = {
		{ PERF_TYPE_HARDWARE, 0, 10ull << 32, "10\n" },
		{ PERF_TYPE_HARDWARE, 5, 8ull << 32 | 5, "8\n" },
		{ PERF_TYPE_HW_CACHE, 0x10002, 10ull << 32 | 0x10002, "10\n" },
		{ PERF_TYPE_RAW, 0x3c, 0, "10\n" },
		{ PERF_TYPE_SOFTWARE, 1, 0, "10\n" },
		{ PERF_TYPE_HARDWARE, 4ull << 32, 0, "10\n" },
		{ PERF_TYPE_HARDWARE, 0, 0, "x\n" },
		{ PERF_TYPE_HARDWARE, 0, 0, "-1\n" },
		{ PERF_TYPE_HARDWARE, 0, 0, "" },
		{ PERF_TYPE_HARDWARE, 0, 0, NULL },
	};
	static const char *const folders[] = {
		"sys",
		"sys/bus",
		"sys/bus/event_source",
		"sys/bus/event_source/devices",
		"sys/bus/event_source/devices/cpu_atom",
	};
	static const char file[] = "sys/bus/event_source/devices/cpu_atom/type";

	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++)
		mkdir(folders[i], 0777);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct perf_event_attr attr = { .type = rows[i].type,
						.config = rows[i].config };

		unlink(file);
		if (rows[i].pmu)
			write_bytes(file, rows[i].pmu, strlen(rows[i].pmu));
		assert_int_equal(op_perf_second_kind(&attr, "."),
				 rows[i].second != 0);
		assert_int_equal(attr.config, rows[i].second ?: rows[i].config);
		assert_int_equal(attr.type, rows[i].type);
	}
}

TEST(test_open_closes_on_exec)
{
	struct perf_event_attr attr = clock_attr;
	struct op_perf_rights rights;
	int fd;

	attr.exclude_kernel = 1;
	op_perf_rights_get(&rights);
	fd = op_perf_open(&attr, 0, -1, -1);
	assert_int_equal(fd >= 0, rights.basic);
	if (fd < 0)
		return;
	assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	assert_int_equal(close(fd), 0);
}

TEST(test_open_returns_errors)
{
	struct perf_event_attr attr = clock_attr;
	struct op_diag diag = { "" };
	int err;

	attr.exclude_kernel = 1;
	err = op_perf_open(&attr, 0x7ffffffe, -1, -1);
	assert_true(err == -ESRCH || err == -EPERM || err == -EACCES ||
		    err == -ENOSYS);
	assert_int_equal(op_perf_explain(&diag, err, &attr, 0x7ffffffe, -1,
					 "EVENT"),
			 err);
	assert_true(strlen(diag.text) > 0);
}
