// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The checks of opcontrol --doctor, on made machines. A row's given are lines
 *
 *	PATH TEXT	the file PATH has this line, "/" at its end: a folder
 *	WORD VALUE	what no file tells, see take_fact()
 *
 * and its script names the checks that run.
 */

#include "tests/unit/rows.h"

#include <errno.h>
#include <limits.h>
#include <unistd.h>

#include "libop/files/op_folder.h"
#include "libop/files/op_remove.h"
#include "utils/opcontrol/opcontrol_examine.c"
#include "utils/opcontrol/opcontrol_examine_limits.c"
#include "utils/opcontrol/opcontrol_examine_module.c"
#include "utils/opcontrol/opcontrol_examine_names.c"
#include "utils/opcontrol/opcontrol_examine_perf.c"
#include "utils/opcontrol/opcontrol_machine.c"
#include "utils/opcontrol/opcontrol_module.c"
#include "utils/say.c"

#define ROOT                                                                   \
	"/proc/self/status Uid:	0 0 0 0;"                                      \
	"/proc/self/status CapEff:	000001ffffffffff;"
#define USER                                                                   \
	"/proc/self/status Uid:	1000 1000 1000 1000;"                          \
	"/proc/self/status CapEff:	0000000000000000;"
#define FIRST_NAMESPACE "/proc/self/uid_map 0 0 4294967295;"
#define KERNEL "/proc/modules x;/proc/sys/kernel/osrelease 6.1.0-9-amd64;"
#define MODULE_BUILT "/b/module/6.1.0-9-amd64/oprofile.ko "
#define BUILDABLE "/lib/modules/6.1.0-9-amd64/build/Makefile x;"
#define BUILDS_SAID                                                            \
	"ok       headers: the module can be built for kernel 6.1.0-9-amd64\n" \
	"limited  dkms: nothing builds the module for the next kernel; "       \
	"after a kernel's upgrade: make module && make install\n"
#define PARANOID_3                                                             \
	"kernel.perf_event_paranoid is 3, which denies perf_events to "        \
	"ordinary users; sysctl kernel.perf_event_paranoid=2 allows user "     \
	"code of your own processes, or run as root or with CAP_PERFMON\n"

/* clang-format off */
static const struct row rows[] = {
	{ "root has all rights", ROOT FIRST_NAMESPACE, "rights",
	  "ok       rights: root may profile the whole machine\n" },
	{ "a user has few", USER FIRST_NAMESPACE, "rights",
	  "limited  rights: ordinary users profile their own programs, with operf; sudo opcontrol --start for the whole machine\n" },
	{ "a user with CAP_PERFMON",
	  FIRST_NAMESPACE
	  "/proc/self/status Uid:	7 7 7 7;/proc/self/status CapEff:	0000004000000000;",
	  "rights",
	  "ok       rights: with CAP_PERFMON operf may profile all processes\n" },
	{ "root of a container",
	  FIRST_NAMESPACE
	  "/proc/self/status Uid:	0 0 0 0;/proc/self/status CapEff:	00000000a80425fb;",
	  "rights",
	  "limited  container: root without CAP_PERFMON and CAP_SYS_ADMIN has the rights of an ordinary user; docker run --cap-add PERFMON --cap-add SYS_ADMIN, or run opcontrol on the host\n" },
	{ "root of a user namespace, and a filter of system calls",
	  ROOT
	  "/proc/self/uid_map 0 1000 1;/proc/self/status Seccomp:	2;own 1",
	  "rights", EXPECTED_ROW },

	{ "a module that is loaded",
	  KERNEL BUILDABLE "/proc/filesystems nodev oprofilefs",
	  "module",
	  "ok       module: it is loaded\n" BUILDS_SAID },
	{ "a kernel without modules", NULL, "module",
	  "missing  module: this kernel cannot load modules; boot one that can, such as Debian's, or profile inside a virtual machine\n" },
	{ "modules switched off",
	  KERNEL "/proc/sys/kernel/modules_disabled 1",
	  "module",
	  "missing  module: loading modules is disabled until the next boot (kernel.modules_disabled or nomodule); boot without it\n" },
	{ "no module, no headers, but dkms",
	  KERNEL "/var/lib/dkms/oprofile/1.0/", "module", EXPECTED_ROW },
	{ "a module of the build tree",
	  KERNEL BUILDABLE MODULE_BUILT
	  "vermagic=6.1.0-9-amd64 SMP",
	  "module",
	  "ok       module: /b/bin/../module/6.1.0-9-amd64/oprofile.ko can be loaded\n" BUILDS_SAID },
	{ "a module for another kernel",
	  KERNEL BUILDABLE MODULE_BUILT
	  "vermagic=6.1.0-8-amd64 SMP",
	  "module",
	  "missing  module: /b/bin/../module/6.1.0-9-amd64/oprofile.ko is for kernel 6.1.0-8-amd64, and this is 6.1.0-9-amd64; build it for this kernel: make module && make install\n" BUILDS_SAID },
	{ "lockdown and no signature",
	  KERNEL BUILDABLE MODULE_BUILT
	  "x;/sys/kernel/security/lockdown none [integrity] confidentiality",
	  "module", EXPECTED_ROW },
	{ "Secure Boot and no signature",
	  KERNEL BUILDABLE MODULE_BUILT "x;secure-boot 1",
	  "module", EXPECTED_ROW },
	{ "Secure Boot that is off",
	  KERNEL BUILDABLE MODULE_BUILT "x;secure-boot 0",
	  "module",
	  "ok       module: /b/bin/../module/6.1.0-9-amd64/oprofile.ko can be loaded\n" BUILDS_SAID },
	{ "no lockdown",
	  KERNEL BUILDABLE MODULE_BUILT
	  "x;/sys/kernel/security/lockdown [none] integrity;secure-boot 1",
	  "module",
	  "ok       module: /b/bin/../module/6.1.0-9-amd64/oprofile.ko can be loaded\n" BUILDS_SAID },
	{ "a signature that may be right, of the module that modprobe finds",
	  KERNEL BUILDABLE
	  "/lib/modules/6.1.0-9-amd64/modules.dep kernel/a.ko:;"
	  "/lib/modules/6.1.0-9-amd64/modules.dep updates/oprofile.ko: kernel/a.ko;"
	  "/lib/modules/6.1.0-9-amd64/updates/oprofile.ko ~Module signature appended~;"
	  "/sys/module/module/parameters/sig_enforce Y",
	  "module",
	  "limited  module: /lib/modules/6.1.0-9-amd64/updates/oprofile.ko loads if its signature is by an enrolled key, as module.sig_enforce asks for one; compare modinfo -F sig_key /lib/modules/6.1.0-9-amd64/updates/oprofile.ko with mokutil --list-enrolled\n" BUILDS_SAID },
	{ "a module by $OPROFILE_MODULE that is not there",
	  KERNEL BUILDABLE "module-file /m.ko", "module", "missing  module: none is built for kernel 6.1.0-9-amd64; make module && make install, or take samples by perf_events: opcontrol --source=perf\n" BUILDS_SAID },

	{ "all of perf_events", ROOT FIRST_NAMESPACE, "perf", EXPECTED_ROW },
	{ "perf_events of a user with paranoid 2",
	  USER FIRST_NAMESPACE
	  "/proc/sys/kernel/perf_event_paranoid 2;/proc/sys/kernel/perf_event_mlock_kb 128;"
	  "kernel 13;system 13;fanotify 1",
	  "perf", EXPECTED_ROW },
	{ "perf_events of a user with paranoid 3",
	  USER FIRST_NAMESPACE
	  "/proc/sys/kernel/perf_event_paranoid 3;own 13;kernel 13;system 13",
	  "perf", "missing  own programs: " PARANOID_3 },
	{ "a kernel without perf_events",
	  ROOT FIRST_NAMESPACE "own 38", "perf",
	  "missing  own programs: this kernel has no perf_event_open; it needs CONFIG_PERF_EVENTS\n" },
	{ "a kernel without fanotify",
	  USER FIRST_NAMESPACE "fanotify 38", "perf", EXPECTED_ROW },

	{ "no counters",
	  "/sys/bus/event_source/devices/software/", "counters",
	  "limited  hardware counters: none, as in most virtual machines, so only the timer samples; give the machine a virtual PMU (qemu: -cpu host,pmu=on), or run on the host\n" },
	{ "counters and a watchdog",
	  "/sys/bus/event_source/devices/cpu_core/;/proc/sys/kernel/nmi_watchdog 1",
	  "counters", EXPECTED_ROW },
	{ "counters of arm64, no watchdog",
	  "/sys/bus/event_source/devices/armv8_pmuv3_0/",
	  "counters", EXPECTED_ROW },

	{ "names of all",
	  "/proc/kallsyms 0000000000000000 A percpu;/proc/kallsyms ffffffff81000000 T _text;"
	  "/etc/debuginfod/debian.urls https://x;/etc/debian_version 12.1;"
	  "/etc/os-release VERSION_CODENAME=bookworm;/usr/lib/debug/.build-id/ab/;"
	  "/usr/bin/java x;java-options",
	  "names", EXPECTED_ROW },
	{ "names of nothing, for a user",
	  USER
	  "/proc/kallsyms 0000000000000000 T _text;/proc/sys/kernel/kptr_restrict 1;"
	  "/etc/debian_version 12.1;/etc/os-release VERSION_CODENAME=bookworm;/usr/bin/java x",
	  "names", EXPECTED_ROW },
	{ "kernel symbols hidden from root; another system than Debian",
	  ROOT
	  "/proc/kallsyms 0000000000000000 T _text;/proc/sys/kernel/kptr_restrict 2;urls",
	  "names", EXPECTED_ROW },
	{ "a kernel without symbols", "urls", "names", EXPECTED_ROW },

	{ "a disk with room",
	  "/proc/self/mounts /dev/vda / ext4 rw 0 0", "session",
	  "ok       session folder: 1000 MiB are free at /var/lib\n" },
	{ "a disk that is nearly full",
	  "/proc/self/mounts /dev/vda / ext4 rw 0 0;free 50",
	  "session",
	  "limited  session folder: 50 MiB are free at /var/lib, samples are lost when they are used up; remove files, or name another folder with --session-dir\n" },
	{ "a mount that is read-only",
	  "/proc/self/mounts /dev/vdb /var ext4 relatime,ro 0 0;/proc/self/mounts /dev/vda / ext4 rw 0 0",
	  "session",
	  "missing  session folder: /var is mounted read-only; mount -o remount,rw /var, or name another folder with --session-dir\n" },
	{ "a mount beside the folder, and one with a blank above it",
	  "/proc/self/mounts /dev/vda / ext4 rw 0 0;/proc/self/mounts t /var/li tmpfs rw 0 0;"
	  "/proc/self/mounts s:/x /a\\040b nfs4 rw 0 0;session /a b/c",
	  "session",
	  "limited  session folder: /a b is a network or FUSE file system (nfs4), which the daemon waits for; name a folder on a disk with --session-dir\n" },
	{ "a folder in memory, whose mount hides another",
	  "/proc/self/mounts /dev/vdb /var ext4 ro 0 0;/proc/self/mounts t /var tmpfs rw 0 0",
	  "session",
	  "limited  session folder: /var is in memory (tmpfs), and gone after a reboot; name a folder on a disk with --session-dir\n" },
	{ "a folder of somebody else", "write 13", "session",
	  "missing  session folder: no files can be made in /var/lib (Permission denied); name another folder with --session-dir\n" },

	{ "limits of no matter, cgroups of version 2",
	  "/proc/self/limits Max open files            1024                 1048576              files;"
	  "/sys/fs/cgroup/cgroup.controllers cpu",
	  "limits", EXPECTED_ROW },
	{ "no limit of open files",
	  "/proc/self/limits Max open files            1024                 unlimited            files;"
	  "/sys/fs/cgroup/cgroup.controllers cpu",
	  "limits", EXPECTED_ROW },
	{ "just enough files",
	  "/proc/self/limits Max open files            1024                 16064                files;"
	  "/sys/fs/cgroup/cgroup.controllers cpu",
	  "limits", EXPECTED_ROW },
	{ "few files, cgroups of version 1",
	  "/proc/self/limits Max open files            256                 1024              files;"
	  "/sys/fs/cgroup/perf_event/",
	  "limits", EXPECTED_ROW },
	{ "cgroups without perf_event", "/sys/fs/cgroup/cpu/",
	  "limits",
	  "limited  cgroups: version 1 without the controller perf_event, so operf --cgroup does not work; boot with systemd.unified_cgroup_hierarchy=1\n" },
	{ "no cgroups", NULL, "limits",
	  "missing  cgroups: none are mounted, so --separate=cgroup and operf --cgroup do not work; mount -t cgroup2 none /sys/fs/cgroup\n" },

	{ "the module is all that works",
	  ROOT FIRST_NAMESPACE KERNEL
	  "/proc/filesystems nodev oprofilefs;own 38;system 38",
	  "verdict",
	  "ok       profiling: the whole machine, by the module\n1\n" },
	{ "a user cannot use the module",
	  USER FIRST_NAMESPACE KERNEL
	  "/proc/filesystems nodev oprofilefs;own 13;system 13",
	  "verdict",
	  "missing  profiling: nothing can be profiled here; fix the lines marked missing above, or replay a recorded stream with oprofiled --source=file:FILE\n0\n" },
	{ "perf_events of the machine", ROOT FIRST_NAMESPACE,
	  "verdict",
	  "ok       profiling: the whole machine, by perf_events\n1\n" },
	{ "perf_events of own user mode",
	  USER FIRST_NAMESPACE "kernel 13;system 13", "verdict",
	  "limited  profiling: programs of your own in user mode, by perf_events; run operf PROGRAM\n1\n" },
};
/* clang-format on */

static void check_examination(void **state);

/* ---- made machines --------------------------------------------------------
 */

static void write_secure_boot(const struct oc_machine *machine, char value)
{
	char path[OC_PATH_MAX];
	FILE *file;

	oc_below(machine, path, "%s", SECURE_BOOT);
	assert_int_equal(op_make_parents(path, 0700), 0);
	file = fopen(path, "w");
	assert_non_null(file);
	assert_int_equal(fwrite((char[]){ 6, 0, 0, 0, value }, 1, 5, file), 5);
	fclose(file);
}

static void write_line(const struct oc_machine *machine, const char *name,
		       const char *text)
{
	char path[OC_PATH_MAX];
	FILE *file;

	oc_below(machine, path, "%s", name);
	assert_int_equal(op_make_parents(path, 0700), 0);
	if (name[strlen(name) - 1] == '/')
		return;
	file = fopen(path, "a");
	assert_non_null(file);
	fprintf(file, "%s\n", text);
	fclose(file);
}

static void take_fact(struct oc_machine *machine, const char *word,
		      const char *value)
{
	if (*word == '/')
		write_line(machine, word, value);
	else if (!strcmp(word, "secure-boot"))
		write_secure_boot(machine, (char)atoi(value));
	else if (!strcmp(word, "own"))
		machine->own_err = -atoi(value);
	else if (!strcmp(word, "kernel"))
		machine->kernel_err = -atoi(value);
	else if (!strcmp(word, "system"))
		machine->system_err = -atoi(value);
	else if (!strcmp(word, "fanotify"))
		machine->fanotify_err = -atoi(value);
	else if (!strcmp(word, "write"))
		machine->write_err = -atoi(value);
	else if (!strcmp(word, "free"))
		machine->free_bytes = strtoull(value, NULL, 10) << 20;
	else if (!strcmp(word, "session"))
		strcpy(machine->session_dir, value);
	else if (!strcmp(word, "urls"))
		machine->debuginfod_urls = "https://x";
	else if (!strcmp(word, "java-options"))
		machine->java_options = "-XX:+PreserveFramePointer";
	else if (!strcmp(word, "module-file"))
		machine->module_file = "/m.ko";
	else
		fail_msg("%s: no such fact", word);
}

static void make_machine(struct oc_machine *machine, const char *given)
{
	char line[512];

	/* so that the last part of the path of a built module can be found */
	write_line(machine, "/b/bin/", "");
	while (given && next_line(&given, line, sizeof(line))) {
		char *value = strchr(line, ' ');

		if (value)
			*value++ = '\0';
		take_fact(machine, line, value ? value : "");
	}
}

static void run_checks(const struct row *row, FILE *out)
{
	static const struct {
		const char *name;
		void (*check)(struct oc_machine *machine);
	} checks[] = {
		{ "rights", oc_examine_rights },
		{ "module", oc_examine_module },
		{ "perf", oc_examine_perf },
		{ "counters", oc_examine_counters },
		{ "names", oc_examine_names },
		{ "session", oc_examine_session },
		{ "limits", oc_examine_limits },
	};
	char root[] = "/tmp/test_examine.XXXXXX";
	struct oc_machine machine = {
		.root = root,
		.tools = "/b/bin",
		.session_dir = "/var/lib",
		.free_bytes = UINT64_C(1000) << 20,
		.nr_cpus = 8,
		.out = out,
	};
	bool found = false;

	assert_non_null(mkdtemp(root));
	make_machine(&machine, row->given);
	read_machine(&machine);
	for (size_t i = 0; i < NR(checks); i++) {
		if (strcmp(checks[i].name, row->script) != 0)
			continue;
		checks[i].check(&machine);
		found = true;
	}
	if (!found) { /* the last line of all, and what is returned */
		char *text = NULL, *last;
		size_t len;
		FILE *all = open_memstream(&text, &len);
		bool works = oc_examine(&machine, all);

		fclose(all);
		last = strstr(text, "profiling: ");
		assert_non_null(last);
		while (last > text && last[-1] != '\n')
			last--;
		fprintf(out, "%s%d\n", last, works);
		free(text);
	}
	assert_int_equal(op_remove_tree(root), 0);
}

TEST_ROWS(check_examination, rows)
{
	check_row(*state, run_checks);
}
