// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * perf tells of the kernel as a mapping "[kernel.kallsyms]_text", from its
 * start to the end of its code, and of a module by its file or as "[NAME]".
 * The kernel that runs here is known by its build-id, wherever it lies since
 * this boot, or, where perf recorded none, by its release and the name of the
 * machine, if it lies where it lay then. Its end is that of this machine, as
 * perf tells more or less of it.
 *
 * Of another kernel perf has kept a copy of /proc/kallsyms by its build-id, in
 * ~/.debug: beside the files that "perf archive" packs.
 */

#include "daemon/source/perfdata/opd_perfdata_kernel.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>

#include "daemon/source/perfdata/opd_perfdata.h"
#include "daemon/source/opd_proc.h"
#include "daemon/source/opd_source.h"
#include "libop/files/op_config.h"
#include "libop/files/op_file.h"
#include "libop/session/op_stream_words.h"
#include "libop/base/op_array.h"

#define KALLSYMS "[kernel.kallsyms]"

void opd_perfdata_kernel_release(struct opd_perfdata_kernel *kernel)
{
	for (size_t i = 0; i < kernel->nr; i++)
		free(kernel->ranges[i].name);
	free(kernel->ranges);
	op_kallsyms_release(&kernel->kallsyms);
	memset(kernel, 0, sizeof(*kernel));
}

/* The module in "/lib/modules/.../snd-pcm.ko.xz" or "[snd_pcm]"; false for a
 * name that is too long. */
static bool module_name(const char *path, char name[OPD_MODULE_NAME_MAX])
{
	const char *slash = strrchr(path, '/');
	const char *start = slash ? slash + 1 : path;
	size_t len;

	start += *start == '[';
	len = strcspn(start, ".]");
	if (!len || len >= OPD_MODULE_NAME_MAX)
		return false;
	for (size_t i = 0; i < len; i++)
		name[i] = start[i] == '-' ? '_' : start[i];
	name[len] = '\0';
	return true;
}

static void set_build_id(struct opd_perfdata_range *range,
			 const struct opd_perfdata *data,
			 const struct opd_perf_rec *rec, const char *name)
{
	const struct op_build_id *told = opd_perfdata_build_of(data, name);

	if (told)
		range->build_id = *told;
	if (!rec->mmap.build_id_len)
		return;
	range->build_id.len = rec->mmap.build_id_len;
	memcpy(range->build_id.bytes, rec->mmap.build_id,
	       rec->mmap.build_id_len);
}

/* ---- this machine -----------------------------------------------------------
 */

/* Whether perf ran on this machine and under a kernel of this release. */
static bool is_this_machine(const struct opd_perfdata *data)
{
	struct utsname name;

	return !uname(&name) && !strcmp(data->hostname, name.nodename) &&
	       !strcmp(data->release, name.release);
}

static bool set_size(struct opd_perfdata_range *range, uint64_t size)
{
	if (range->start > UINT64_MAX - size)
		return false;
	range->end = range->start + size;
	return true;
}

/* perf's copy for the build @id, unless somebody else could have written it.
 * Returns 0 with @all set, or -errno. */
static int read_perf_copy(struct op_kallsyms *all, const struct op_build_id *id)
{
	const char *home = getenv("HOME");
	char hex[OP_BUILD_TEXT_MAX], path[OP_PATH_MAX];
	struct op_diag diag = { "" };
	struct stat st;

	if (!home || *home != '/' || id->len < 2)
		return -ENOENT;
	op_build_id_text(id->bytes, id->len, hex);
	if ((size_t)snprintf(path, sizeof(path),
			     "%s/.debug/.build-id/%.2s/%s/kallsyms", home, hex,
			     hex + 2) >= sizeof(path))
		return -ENAMETOOLONG;
	if (stat(path, &st))
		return -errno;
	if (!S_ISREG(st.st_mode) || !op_is_own_file(&st))
		return -EPERM;
	return op_kallsyms_read(all, path, &diag);
}

static void find_kernel_copy(struct opd_perfdata_kernel *kernel,
			     struct opd_perfdata_range *range)
{
	struct op_diag diag = { "" };
	uint64_t start, end;

	op_kallsyms_release(&kernel->kallsyms);
	if (read_perf_copy(&kernel->kallsyms, &range->build_id))
		return;
	if (!opd_proc_kernel(&kernel->kallsyms, &start, &end, &diag) &&
	    set_size(range, end - start)) {
		range->here_start = start;
		range->here_end = end;
	} else {
		op_kallsyms_release(&kernel->kallsyms);
	}
}

static void find_kernel_here(struct opd_perfdata_kernel *kernel,
			     const struct opd_perfdata *data,
			     struct opd_perfdata_range *range)
{
	const struct opd_source_client *client = kernel->client;
	struct op_build_id build_id = { .len = 0 };
	struct op_diag diag = { "" };
	uint64_t start, end, size;
	bool known;

	if (op_build_id_of_notes_file(&build_id, "/sys/kernel/notes"))
		build_id.len = 0;
	known = range->build_id.len && client->has_kernel &&
		client->has_kernel(client->ctx, &range->build_id, &size) &&
		set_size(range, size);
	kernel->is_here =
		range->build_id.len
			? op_build_id_same(&range->build_id, &build_id)
			: is_this_machine(data);
	if (!kernel->is_here && range->build_id.len && !known)
		find_kernel_copy(kernel, range);
	if (!kernel->is_here || known)
		return;
	kernel->is_here = false;
	if (!kernel->kallsyms.text &&
	    op_kallsyms_read(&kernel->kallsyms, "/proc/kallsyms", &diag))
		return;
	if (opd_proc_kernel(&kernel->kallsyms, &start, &end, &diag) ||
	    (!range->build_id.len && start != range->start) ||
	    !set_size(range, end - start))
		return;
	range->build_id = build_id;
	range->here_start = start;
	range->here_end = end;
	kernel->is_here = true;
}

static int find_module_here(void *arg, const char *name, uint64_t start,
			    uint64_t end)
{
	struct opd_perfdata_range *range = arg;

	if (strcmp(name, range->name))
		return 0;
	range->here_start = start;
	range->here_end = end;
	return 1;
}

/* A module that was loaded anew since is elsewhere, and is the same if its
 * build-id is. */
static bool is_module_here(struct opd_perfdata_range *range)
{
	char path[128 + OPD_MODULE_NAME_MAX];
	struct op_build_id build_id;

	snprintf(path, sizeof(path), "/sys/module/%s/notes/.note.gnu.build-id",
		 range->name);
	if (op_build_id_of_notes_file(&build_id, path))
		build_id.len = 0;
	if (range->build_id.len)
		return op_build_id_same(&range->build_id, &build_id);
	range->build_id = build_id;
	return range->start == range->here_start;
}

static void find_here(struct opd_perfdata_kernel *kernel,
		      struct opd_perfdata_range *range)
{
	struct op_diag diag = { "" };

	if (!kernel->is_here)
		return;
	(void)opd_proc_modules("/proc/modules", find_module_here, range, &diag);
	if (range->here_start < range->here_end && is_module_here(range) &&
	    set_size(range, range->here_end - range->here_start))
		return;
	range->here_start = range->here_end = 0;
}

/* ---- the table --------------------------------------------------------------
 */

/* Put @range, whose name is copied, in the place of the one of its name. */
static bool put_range(struct opd_perfdata_kernel *kernel,
		      const struct opd_perfdata_range *range)
{
	char *name;

	for (size_t i = 0; i < kernel->nr; i++) {
		struct opd_perfdata_range *old = &kernel->ranges[i];

		if (strcmp(old->name, range->name))
			continue;
		name = old->name;
		if (old->start == range->start && old->end == range->end)
			return false;
		*old = *range;
		old->name = name;
		return true;
	}
	name = strdup(range->name);
	if (!name || op_array_reserve(&kernel->ranges, kernel->nr, 1)) {
		free(name);
		return false;
	}
	kernel->ranges[kernel->nr] = *range;
	kernel->ranges[kernel->nr++].name = name;
	return true;
}

bool opd_perfdata_kernel_map(struct opd_perfdata_kernel *kernel,
			     const struct opd_perfdata *data,
			     const struct opd_perf_rec *rec)
{
	struct opd_perfdata_range range = {
		.start = rec->mmap.start,
		.end = rec->mmap.start + rec->mmap.len,
	};
	char name[OPD_MODULE_NAME_MAX] = OP_KERNEL_NAME;
	bool is_kernel = !strncmp(rec->mmap.name, KALLSYMS, strlen(KALLSYMS));

	/* Without the right to see addresses perf tells of none. */
	if (range.start >= range.end || range.start < INT64_MAX)
		return false;
	if (!is_kernel && !module_name(rec->mmap.name, name))
		return false;
	range.name = name;
	set_build_id(&range, data, rec, is_kernel ? KALLSYMS : rec->mmap.name);
	if (is_kernel)
		find_kernel_here(kernel, data, &range);
	else
		find_here(kernel, &range);
	return put_range(kernel, &range);
}

void opd_perfdata_kernel_record(struct opd_perfdata_kernel *kernel,
				struct op_stream_words *words)
{
	const struct opd_source_client *client = kernel->client;

	for (size_t i = 0; i < kernel->nr; i++) {
		const struct opd_perfdata_range *range = &kernel->ranges[i];

		op_stream_put_range(words, i ? 0 : OP_KERNEL_FIRST,
				    range->start, range->end, &range->build_id,
				    range->name);
		if (!client->see_kernel)
			continue;
		if (range->build_id.len || range->here_start < range->here_end)
			client->see_kernel(client->ctx, range->name,
					   range->here_start, range->here_end,
					   &range->build_id, &kernel->kallsyms);
	}
	op_kallsyms_release(&kernel->kallsyms);
}
