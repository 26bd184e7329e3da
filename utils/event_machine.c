// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Events of this machine. The kernel's own events are described as event files
 * describe those of a CPU, with a unit mask that is always 0, so one parser
 * handles both. The events of the CPU are read when they are first needed: a
 * program that counts only kernel events needs no event files, and an
 * undescribed CPU is no error for it.
 */

#include "utils/event_machine.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libop/files/op_config.h"
#include "libop/events/op_cpu_type.h"
#include "libop/events/op_wait_event.h"
#include "libop/files/op_file.h"
#include "libop/kernel/op_perf.h"
#include "libop/base/op_search.h"
#include "utils/say.h"

#define PMUS "/sys/bus/event_source/devices"
#define MAX_TYPES 8 /* as the module */

/* Counter of the kernel's events, "ext:" in event files. */
static const char by_kernel[] = "kernel";

struct event_kernel {
	struct op_events events;
	struct op_cpu_type cpu;
	struct op_unit_mask um;
	struct op_unit_mask_entry entry;
	struct op_event event[];
};

/* ---- the kernel's own events --------------------------------------------- */

/*
 * The minimum count: for hardware events that of most event files, for clocks a
 * microsecond.
 */
static uint64_t minimum_count(const struct op_perf_event *event)
{
	if (event->type != PERF_TYPE_SOFTWARE)
		return 500;
	return event->config == PERF_COUNT_SW_CPU_CLOCK ||
			       event->config == PERF_COUNT_SW_TASK_CLOCK
		       ? 1000
		       : 1;
}

/* Room for @nr events and one. */
static void describe_kernel(struct event_kernel *kernel,
			    const struct op_perf_event *list, size_t nr)
{
	kernel->events = (struct op_events){
		.cpu = &kernel->cpu,
		.event = kernel->event,
		.nr = nr + 1,
	};
	kernel->cpu.name = "the kernel";
	kernel->um = (struct op_unit_mask){
		.type = OP_UM_MANDATORY,
		.default_entry = &kernel->entry,
		.entries = &kernel->entry,
		.nr = 1,
	};
	for (size_t i = 0; i < nr; i++)
		kernel->event[i] = (struct op_event){
			.name = list[i].name,
			.desc = list[i].desc,
			.code = list[i].config,
			.min_count = minimum_count(&list[i]),
			.ext = by_kernel,
			.um = &kernel->um,
		};
	kernel->event[nr] = *op_wait_event();
}

const struct op_events *
event_machine_kernel(const struct event_machine *machine)
{
	return &machine->kernel->events;
}

bool event_is_kernels(const struct op_event *event)
{
	return event->ext == by_kernel;
}

/* ---- the CPU's ----------------------------------------------------------- */

static int detect_cpu_events(struct event_machine *machine, const char *dir,
			     struct op_diag *diag)
{
	struct op_cpu_type *type;
	int err = op_cpu_type_detect(&type, dir, machine->root, 0, diag);

	if (err)
		return err;
	err = op_events_load(&machine->cpu, dir, type->name, diag);
	if (!err && type->is_nearest)
		say_note(program_invocation_short_name,
			 "there is no list of this CPU's events; events are "
			 "those of the nearest, %s",
			 type->name);
	op_cpu_type_free(type);
	return err;
}

static int load_cpu(struct event_machine *machine)
{
	struct op_diag why = { "" };
	char *dir;
	int err = op_events_dir(&dir, &why);

	if (!err) {
		err = detect_cpu_events(machine, dir, &why);
		free(dir);
	}
	/* Each program adds a hint of its own. */
	if (err)
		op_diag_set(&machine->cpu_why, err, "%.*s",
			    (int)strcspn(why.text, ";"), why.text);
	return err;
}

const struct op_events *event_machine_cpu(struct event_machine *machine,
					  struct op_diag *diag)
{
	if (machine->cpu_err > 0)
		machine->cpu_err = load_cpu(machine);
	if (machine->cpu_err)
		op_diag_set(diag, machine->cpu_err, "%s",
			    machine->cpu_why.text);
	return machine->cpu;
}

/* ---- its counters -------------------------------------------------------- */

/* Some count, but cannot interrupt; this wants one that can. */
bool event_machine_can_sample(const struct event_machine *machine)
{
	struct perf_event_attr attr;
	char path[PATH_MAX];
	int fd;

	if (*machine->root) {
		snprintf(path, sizeof(path), "%s/0", machine->root);
		return !access(path, F_OK);
	}
	op_perf_cycles(&attr);
	attr.sample_period = 1000000;
	attr.disabled = 1;
	fd = op_perf_has_pmu() ? op_perf_open(&attr, 0, -1, -1) : -1;
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

/* PMUs of CPUs are called "cpu" or list their CPUs; others (memory controllers
 * and so on) do neither. */
static bool is_core_pmu(const char *root, const char *name)
{
	char path[PATH_MAX];

	if (!strcmp(name, "cpu"))
		return true;
	return name[0] != '.' &&
	       snprintf(path, sizeof(path), "%s" PMUS "/%s/cpus", root, name) <
		       (int)sizeof(path) &&
	       !access(path, F_OK);
}

static int read_pmu_type(const char *root, const char *name, uint64_t *type)
{
	char path[PATH_MAX], *text;
	size_t len;
	int err;

	if (snprintf(path, sizeof(path), "%s" PMUS "/%s/type", root, name) >=
	    (int)sizeof(path))
		return -ENAMETOOLONG;
	err = op_file_read(path, 4096, &text, &len, NULL);
	if (err)
		return err;
	text[strcspn(text, "\n")] = '\0';
	err = op_parse_u64(text, type);
	free(text);
	return err;
}

static int compare_types(const void *a, const void *b)
{
	return op_compare(*(const uint64_t *)a, *(const uint64_t *)b);
}

static int read_core_pmu_types(const char *root, uint64_t types[MAX_TYPES])
{
	char path[PATH_MAX];
	struct dirent *entry;
	DIR *folder;
	int nr = 0;

	snprintf(path, sizeof(path), "%s" PMUS, root);
	folder = opendir(path);
	while (folder && nr < MAX_TYPES && (entry = readdir(folder)))
		if (is_core_pmu(root, entry->d_name) &&
		    !read_pmu_type(root, entry->d_name, &types[nr]))
			nr++;
	if (folder)
		closedir(folder);
	return nr;
}

int event_machine_pmu_types(const struct event_machine *machine, char *buf,
			    size_t len)
{
	uint64_t types[MAX_TYPES];
	int nr = read_core_pmu_types(machine->root, types);
	size_t at = 0;

	*buf = '\0';
	qsort(types, (size_t)nr, sizeof(types[0]), compare_types);
	for (int i = 0; i < nr && at < len; i++)
		at += (size_t)snprintf(buf + at, len - at, "%s%llu",
				       i ? " " : "",
				       (unsigned long long)types[i]);
	return nr;
}

int event_machine_pmu_type(const struct event_machine *machine,
			   const char *name, uint64_t *type)
{
	return read_pmu_type(machine->root, name, type);
}

/* ---- the whole ----------------------------------------------------------- */

int event_machine_init(struct event_machine *machine)
{
	size_t nr;
	const struct op_perf_event *list = op_perf_events(&nr);
	const char *root = secure_getenv("OPROFILE_FS");

	*machine = (struct event_machine){ .cpu_err = 1 };
	machine->root = strdup(root ? root : "");
	machine->kernel =
		calloc(1, sizeof(*machine->kernel) +
				  (nr + 1) * sizeof(machine->kernel->event[0]));
	if (!machine->root || !machine->kernel)
		return -ENOMEM;
	describe_kernel(machine->kernel, list, nr);
	return 0;
}

void event_machine_release(struct event_machine *machine)
{
	op_events_free(machine->cpu);
	free(machine->kernel);
	free(machine->root);
	*machine = (struct event_machine){ .cpu_err = 1 };
}
