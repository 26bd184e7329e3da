// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Why perf_event_open(2) said no. The same error number has many causes;
 * which one it was follows from what was asked for and from the rights of
 * this process. The kernel's own refusals are EACCES, so EPERM comes from a
 * seccomp filter or a security module.
 */

#include <errno.h>
#include <string.h>

#include "libop/kernel/op_perf.h"

#define PARANOID "kernel.perf_event_paranoid"

/* A refused event and the rights of the process that asked for it. */
struct refusal {
	const struct perf_event_attr *attr;
	const struct op_perf_rights *rights;
	const char *name;
	pid_t pid;
	int cpu;
	int err;
};

static int explain_filter(struct op_diag *diag, const struct refusal *r)
{
	return op_diag_set(
		diag, r->err,
		"%s: a seccomp filter forbids perf_event_open (%s), as containers do; allow this system call (docker: --cap-add PERFMON or --security-opt seccomp=FILE) or run outside",
		r->name, strerror(-r->err));
}

static int explain_no_sysctl(struct op_diag *diag, const struct refusal *r)
{
	const struct op_perf_rights *rights = r->rights;

	if (rights->seccomp)
		return explain_filter(diag, r);
	if (rights->namespace && rights->root)
		return op_diag_set(
			diag, r->err,
			"%s: perf_event_open: %s, root of a user namespace has no rights here; run as root outside it",
			r->name, strerror(-r->err));
	return op_diag_set(
		diag, r->err,
		"%s: perf_event_open: %s, although " PARANOID
		" is %d; a security module (SELinux, AppArmor) or the container forbids it: see the kernel's log or run outside",
		r->name, strerror(-r->err), rights->paranoid);
}

/* How to get the rights. Root without the capability is in a container. */
static const char *become(const struct op_perf_rights *rights)
{
	if (rights->namespace)
		return "run as root outside this user namespace";
	if (rights->root)
		return "give this container CAP_PERFMON";
	return "run as root or with CAP_PERFMON";
}

static int explain_paranoid(struct op_diag *diag, const struct refusal *r)
{
	const struct op_perf_rights *rights = r->rights;
	int paranoid = rights->paranoid;

	if (paranoid > 2 && !rights->basic)
		return op_diag_set(
			diag, r->err,
			"%s: " PARANOID
			" is %d, which denies perf_events to ordinary users; sysctl " PARANOID
			"=2 allows user code of your own processes, or %s",
			r->name, paranoid, become(rights));
	if (!rights->basic)
		return explain_no_sysctl(diag, r);
	if (r->pid == -1 && paranoid > 0)
		return op_diag_set(diag, r->err,
				   "%s: access to whole CPUs needs " PARANOID
				   " 0, it is %d; sysctl " PARANOID
				   "=0 or %s; your own programs need neither",
				   r->name, paranoid, become(rights));
	if (!r->attr->exclude_kernel && paranoid > 1)
		return op_diag_set(
			diag, r->err,
			"%s: kernel mode needs " PARANOID
			" 1, it is %d; sysctl " PARANOID "=1 or %s%s",
			r->name, paranoid, become(rights),
			r->attr->exclude_user ? ""
					      : "; user mode needs neither");
	if (r->pid > 0)
		return op_diag_set(
			diag, r->err,
			"process %d: it belongs to another user or is protected; %s and CAP_SYS_PTRACE; your own processes need neither",
			(int)r->pid, become(rights));
	return explain_no_sysctl(diag, r);
}

static int explain_access(struct op_diag *diag, const struct refusal *r)
{
	const struct op_perf_rights *rights = r->rights;

	if (r->err == -EPERM && rights->seccomp && !rights->basic)
		return explain_filter(diag, r);
	if (!rights->capable)
		return explain_paranoid(diag, r);
	if (!rights->basic || r->pid <= 0)
		return explain_no_sysctl(diag, r);
	return op_diag_set(
		diag, r->err,
		"process %d: perf_event_open: %s; it needs CAP_SYS_PTRACE, run as root",
		(int)r->pid, strerror(-r->err));
}

static int explain_unknown_event(struct op_diag *diag, const struct refusal *r)
{
	bool virtual = !op_perf_has_pmu();

	if (r->attr->type == PERF_TYPE_SOFTWARE)
		return op_diag_set(
			diag, r->err,
			"%s: this kernel has no such event; choose another or a newer kernel",
			r->name);
	return op_diag_set(
		diag, r->err, "%s: %s; %s", r->name,
		virtual ? "no hardware counters here, as in most virtual machines"
			: "this CPU has no such event",
		virtual ? "use cpu-clock or another software event"
			: "choose another");
}

int op_perf_explain_rights(struct op_diag *diag, int err,
			   const struct perf_event_attr *attr, pid_t pid,
			   int cpu, const char *name,
			   const struct op_perf_rights *rights)
{
	const struct refusal r = { attr, rights, name, pid, cpu, err };

	switch (-err) {
	case EACCES:
	case EPERM:
		return explain_access(diag, &r);
	case ENOSYS:
		if (rights->seccomp)
			return explain_filter(diag, &r);
		return op_diag_set(
			diag, err,
			"%s: this kernel has no perf_event_open; it needs CONFIG_PERF_EVENTS",
			name);
	case ENOENT:
	case EOPNOTSUPP:
		return explain_unknown_event(diag, &r);
	case EINVAL:
	case E2BIG:
		/* what the CPU's cache events lack is said in these words */
		if (attr->type == PERF_TYPE_HW_CACHE)
			return explain_unknown_event(diag, &r);
		return op_diag_set(
			diag, err,
			"%s: the kernel refuses the event's settings (%s); choose another event or unit mask, or a newer kernel",
			name, strerror(-err));
	case ENODEV:
		return op_diag_set(
			diag, err,
			"CPU %d: offline or missing; /sys/devices/system/cpu/online lists the CPUs that are online",
			cpu);
	case ESRCH:
		return op_diag_set(
			diag, err,
			"process %d: no such process; ps -e lists them",
			(int)pid);
	case EMFILE:
		return op_diag_set(
			diag, err,
			"%s: this process may open no more files; raise its limit (ulimit -n) or count fewer events, tasks or CPUs",
			name);
	case ENFILE:
		return op_diag_set(
			diag, err,
			"%s: the system has too many open files; raise the limit with sysctl fs.file-max",
			name);
	case EBUSY:
	case ENOSPC:
		return op_diag_set(
			diag, err,
			"%s: the counters are taken (%s); end the other profiler or choose fewer events",
			name, strerror(-err));
	default:
		return op_diag_set(diag, err, "%s: perf_event_open: %s", name,
				   strerror(-err));
	}
}

int op_perf_explain(struct op_diag *diag, int err,
		    const struct perf_event_attr *attr, pid_t pid, int cpu,
		    const char *name)
{
	struct op_perf_rights rights;

	op_perf_rights_get(&rights);
	return op_perf_explain_rights(diag, err, attr, pid, cpu, name, &rights);
}
