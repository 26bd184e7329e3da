// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Only the kernel that runs here has its symbols in /proc/kallsyms. A recorded
 * stream may be about another one, so a snapshot is taken only if name and
 * build-id of the image agree with what this machine's source told; without a
 * build-id its start must, too.
 *
 * opd_ksyms_copy_next() takes one snapshot at a time, and the loop calls it
 * between reads of the source, so that many new modules do not delay samples
 * for long. With a build-id a sound snapshot from an earlier run is kept, or
 * comes from the cache of sessions; without one the file is written anew,
 * because it may be from an earlier boot.
 */

#include "daemon/opd_ksyms.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/opd_options.h"
#include "daemon/store/opd_image.h"
#include "libop/base/op_array.h"
#include "libop/kernel/op_ksyms.h"
#include "libop/base/op_log.h"
#include "libop/session/op_session.h"
#include "module/uapi/oprofile.h"

static struct opd_ksyms_range *find_range(const struct opd_ksyms *ksyms,
					  const char *name)
{
	for (size_t i = 0; i < ksyms->nr; i++)
		if (!strcmp(ksyms->ranges[i].name, name))
			return &ksyms->ranges[i];
	return NULL;
}

/* The range that @image is, on this machine; NULL if it is of another one. */
static struct opd_ksyms_range *range_of(const struct opd_ksyms *ksyms,
					const struct opd_image *image)
{
	struct opd_ksyms_range *range = find_range(ksyms, image->name);
	const struct op_build_id *id = &image->build_id;

	if (!range || range->build_id.len != id->len ||
	    memcmp(range->build_id.bytes, id->bytes, id->len) != 0)
		return NULL;
	return id->len || range->start == image->start ? range : NULL;
}

void opd_ksyms_init(struct opd_ksyms *ksyms, const struct opd_images *images,
		    const struct op_session *session,
		    const struct opd_options *options, struct op_log *log)
{
	memset(ksyms, 0, sizeof(*ksyms));
	ksyms->images = images;
	ksyms->session = session;
	ksyms->options = options;
	ksyms->log = log;
}

void opd_ksyms_want(struct opd_ksyms *ksyms, struct opd_image *image)
{
	const struct opd_ksyms_range *range;

	if (image->symbols != OPD_SYMBOLS_NONE)
		return;
	image->symbols = OPD_SYMBOLS_DONE;
	if (image->space != OP_SPACE_KERN ||
	    (image->kind != OP_IMAGE_KERNEL && image->kind != OP_IMAGE_MODULE))
		return;
	range = range_of(ksyms, image);
	if (!range || range->is_taken)
		return;
	image->symbols = OPD_SYMBOLS_WANTED;
	ksyms->nr_wanted++;
	/* A module may have been loaded since. */
	op_kallsyms_release(&ksyms->all);
}

static bool is_kernel(const struct opd_ksyms_range *range)
{
	return !strcmp(range->name, OP_KERNEL_NAME);
}

static int write_snapshot(const struct opd_ksyms_range *range,
			  const struct op_kallsyms *all, const char *path,
			  struct op_diag *diag)
{
	const char *module = is_kernel(range) ? NULL : range->name;
	struct op_ksyms ksyms = { .syms = NULL };
	int err;

	err = op_ksyms_scan(&ksyms, all, module, range->start, range->end,
			    diag);
	if (!err)
		err = op_ksyms_write(&ksyms, path, range->name,
				     &range->build_id, diag);
	op_ksyms_release(&ksyms);
	return err;
}

/* A damaged snapshot, as its checksum tells, is written anew. */
static bool is_sound(const char *path, uint64_t *size)
{
	const struct op_ksyms_wanted none = { NULL, 0 };
	struct op_ksyms ksyms;
	int err = op_ksyms_read_wanted(&ksyms, path, &none, NULL);

	*size = ksyms.size;
	op_ksyms_release(&ksyms);
	return !err;
}

/* Whether one is at @path, or comes there from the cache; *@size as it has it.
 */
static bool has_snapshot(const struct opd_ksyms *ksyms,
			 const struct opd_ksyms_range *range, const char *path,
			 uint64_t *size)
{
	/* Without a build-id the file may be of an earlier boot. */
	if (!range->build_id.len)
		return false;
	return is_sound(path, size) ||
	       (!op_ksyms_get(ksyms->session->symbols, range->name,
			      &range->build_id) &&
		is_sound(path, size));
}

static int read_snapshot(const struct opd_ksyms *ksyms,
			 const struct opd_ksyms_range *range, const char *path,
			 struct op_kallsyms *all, struct op_diag *diag)
{
	int err = 0;

	if (!all->text)
		err = op_kallsyms_read(all, "/proc/kallsyms", diag);
	if (!err)
		err = write_snapshot(range, all, path, diag);
	if (!err)
		(void)op_ksyms_keep(ksyms->session->symbols, range->name,
				    &range->build_id);
	return err;
}

static int path_of_snapshot(const struct opd_ksyms *ksyms,
			    const struct opd_ksyms_range *range,
			    char path[PATH_MAX])
{
	return op_ksyms_path(path, PATH_MAX, ksyms->session->symbols,
			     range->name, &range->build_id);
}

static void copy_snapshot(const struct opd_ksyms *ksyms,
			  struct opd_ksyms_range *range,
			  struct op_kallsyms *all)
{
	struct op_diag diag = { "" };
	char path[PATH_MAX];
	uint64_t size;
	int err;

	err = path_of_snapshot(ksyms, range, path);
	if (!err && !has_snapshot(ksyms, range, path, &size)) {
		if (range->start >= range->end)
			return;
		err = read_snapshot(ksyms, range, path, all, &diag);
	}
	range->is_taken = !err;
	if (err)
		op_log(ksyms->log, "symbols of %s: %s", range->name,
		       op_diag_text(&diag, err));
	else
		op_verbose(ksyms->log, OP_V_MODULE, "symbols of %s: %s",
			   range->name, path);
}

static struct opd_image *find_wanted(const struct opd_ksyms *ksyms)
{
	for (size_t i = 0; i < ksyms->images->nr; i++)
		if (ksyms->images->list[i]->symbols == OPD_SYMBOLS_WANTED)
			return ksyms->images->list[i];
	return NULL;
}

bool opd_ksyms_copy_next(struct opd_ksyms *ksyms)
{
	struct opd_ksyms_range *range;
	struct opd_image *image;

	if (ksyms->nr_wanted == 0)
		return false;
	image = find_wanted(ksyms);
	if (image) {
		image->symbols = OPD_SYMBOLS_DONE;
		ksyms->nr_wanted--;
		range = range_of(ksyms, image);
		if (range)
			copy_snapshot(ksyms, range, &ksyms->all);
	} else {
		ksyms->nr_wanted = 0;
	}
	if (!ksyms->nr_wanted)
		op_kallsyms_release(&ksyms->all);
	return ksyms->nr_wanted > 0;
}

static struct opd_ksyms_range *add_range(struct opd_ksyms *ksyms,
					 const char *name)
{
	char *copy;

	if (op_array_reserve(&ksyms->ranges, ksyms->nr, 1))
		return NULL;
	copy = strdup(name);
	if (!copy)
		return NULL;
	ksyms->ranges[ksyms->nr] = (struct opd_ksyms_range){ .name = copy };
	return &ksyms->ranges[ksyms->nr++];
}

/* The range of that name; NULL without memory. */
static struct opd_ksyms_range *get_range(struct opd_ksyms *ksyms,
					 const char *name,
					 const struct op_build_id *build_id)
{
	struct opd_ksyms_range *range =
		find_range(ksyms, name) ?: add_range(ksyms, name);

	if (!range)
		return NULL;
	if (!build_id->len || !op_build_id_same(&range->build_id, build_id))
		range->is_taken = false;
	range->build_id = *build_id;
	return range;
}

bool opd_ksyms_has_kernel(struct opd_ksyms *ksyms,
			  const struct op_build_id *build_id, uint64_t *size)
{
	struct opd_ksyms_range *range;
	char path[PATH_MAX];

	/* With --vmlinux reports take the symbols from that file. */
	if (ksyms->options->vmlinux)
		return false;
	range = get_range(ksyms, OP_KERNEL_NAME, build_id);
	if (!range || path_of_snapshot(ksyms, range, path))
		return false;
	range->is_taken = has_snapshot(ksyms, range, path, size);
	return range->is_taken && *size;
}

void opd_ksyms_see(struct opd_ksyms *ksyms, const char *name, uint64_t start,
		   uint64_t end, const struct op_build_id *build_id,
		   struct op_kallsyms *all)
{
	struct opd_ksyms_range *range = get_range(ksyms, name, build_id);

	if (!range)
		return;
	range->start = start;
	range->end = end;
	if (!is_kernel(range) || range->is_tried || ksyms->options->vmlinux)
		return;
	range->is_tried = true;
	if (!range->is_taken)
		copy_snapshot(ksyms, range, all);
}

void opd_ksyms_release(struct opd_ksyms *ksyms)
{
	for (size_t i = 0; i < ksyms->nr; i++)
		free(ksyms->ranges[i].name);
	free(ksyms->ranges);
	op_kallsyms_release(&ksyms->all);
	memset(ksyms, 0, sizeof(*ksyms));
}
