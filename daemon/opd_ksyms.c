// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Only the kernel that runs here has its symbols in /proc/kallsyms. A recorded
 * stream may be about another one, so a snapshot is taken only if name, start
 * and build-id of the image agree with what this machine's source told.
 *
 * opd_ksyms_take() takes one snapshot at a time, and the loop calls it between
 * reads of the source, so that many new modules do not delay samples for long.
 * With a build-id a sound snapshot from an earlier run is kept; without one the
 * file is written anew, because it may be from an earlier boot.
 */

#include "daemon/opd_ksyms.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/opd_options.h"
#include "daemon/store/opd_image.h"
#include "libop/op_array.h"
#include "libop/op_ksyms.h"
#include "libop/op_log.h"
#include "libop/op_session.h"
#include "module/uapi/oprofile.h"

static struct opd_ksyms_range *find_range(const struct opd_ksyms *ksyms,
					  const char *name)
{
	for (size_t i = 0; i < ksyms->nr; i++)
		if (!strcmp(ksyms->ranges[i].name, name))
			return &ksyms->ranges[i];
	return NULL;
}

static bool is_here(const struct opd_ksyms *ksyms,
		    const struct opd_image *image)
{
	const struct opd_ksyms_range *range = find_range(ksyms, image->name);

	return range && range->start == image->start &&
	       range->build_id.len == image->build_id.len &&
	       !memcmp(range->build_id.bytes, image->build_id.bytes,
		       image->build_id.len);
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
	if (image->symbols != OPD_SYMBOLS_NONE)
		return;
	image->symbols = OPD_SYMBOLS_DONE;
	if (image->space != OP_SPACE_KERN ||
	    (image->kind != OP_IMAGE_KERNEL &&
	     image->kind != OP_IMAGE_MODULE) ||
	    !is_here(ksyms, image))
		return;
	image->symbols = OPD_SYMBOLS_WANTED;
	ksyms->nr_wanted++;
	/* It may have been loaded since. */
	op_kallsyms_release(&ksyms->all);
}

static int write_snapshot(const struct opd_image *image,
			  const struct op_kallsyms *all, const char *path,
			  struct op_diag *diag)
{
	const char *module =
		image->kind == OP_IMAGE_MODULE ? image->name : NULL;
	struct op_ksyms ksyms = { NULL, 0, NULL };
	int err;

	err = op_ksyms_scan(&ksyms, all, module, image->start, image->end,
			    diag);
	if (!err)
		err = op_ksyms_write(&ksyms, path, image->name,
				     image->build_id.bytes, image->build_id.len,
				     diag);
	op_ksyms_release(&ksyms);
	return err;
}

/* A damaged snapshot is written anew. */
static bool is_sound(const char *path)
{
	struct op_ksyms ksyms;
	int err = op_ksyms_read(&ksyms, path, NULL);

	op_ksyms_release(&ksyms);
	return !err;
}

static void take_snapshot(const struct opd_ksyms *ksyms,
			  const struct opd_image *image,
			  struct op_kallsyms *all)
{
	struct op_diag diag = { "" };
	char path[PATH_MAX];
	int err;

	err = op_ksyms_path(path, sizeof(path), ksyms->session->symbols,
			    image->name, image->build_id.bytes,
			    image->build_id.len);
	/* Without a build-id the file may be of an earlier boot. */
	if (!err && image->build_id.len && is_sound(path))
		return;
	if (!err && !all->text)
		err = op_kallsyms_read(all, "/proc/kallsyms", &diag);
	if (!err)
		err = write_snapshot(image, all, path, &diag);
	if (err)
		op_log(ksyms->log, "symbols of %s: %s", image->name,
		       op_diag_text(&diag, err));
	else
		op_verbose(ksyms->log, OP_V_MODULE, "symbols of %s: %s",
			   image->name, path);
}

static struct opd_image *find_wanted(const struct opd_ksyms *ksyms)
{
	for (size_t i = 0; i < ksyms->images->nr; i++)
		if (ksyms->images->list[i]->symbols == OPD_SYMBOLS_WANTED)
			return ksyms->images->list[i];
	return NULL;
}

bool opd_ksyms_take(struct opd_ksyms *ksyms)
{
	struct opd_image *image;

	if (ksyms->nr_wanted == 0)
		return false;
	image = find_wanted(ksyms);
	if (image) {
		image->symbols = OPD_SYMBOLS_DONE;
		ksyms->nr_wanted--;
		take_snapshot(ksyms, image, &ksyms->all);
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
	ksyms->ranges[ksyms->nr].name = copy;
	return &ksyms->ranges[ksyms->nr++];
}

void opd_ksyms_see(struct opd_ksyms *ksyms, const char *name, uint64_t start,
		   uint64_t end, const struct op_build_id *build_id,
		   struct op_kallsyms *all)
{
	struct opd_ksyms_range *range = find_range(ksyms, name);
	bool is_first = !range;

	if (is_first)
		range = add_range(ksyms, name);
	if (!range)
		return;
	range->start = start;
	range->build_id = *build_id;
	/* With --vmlinux reports take the symbols from that file. */
	if (is_first && !strcmp(name, OP_KERNEL_NAME) &&
	    !ksyms->options->vmlinux)
		take_snapshot(ksyms,
			      &(struct opd_image){
				      .kind = OP_IMAGE_KERNEL,
				      .name = range->name,
				      .build_id = *build_id,
				      .start = start,
				      .end = end,
			      },
			      all);
}

void opd_ksyms_release(struct opd_ksyms *ksyms)
{
	for (size_t i = 0; i < ksyms->nr; i++)
		free(ksyms->ranges[i].name);
	free(ksyms->ranges);
	op_kallsyms_release(&ksyms->all);
	memset(ksyms, 0, sizeof(*ksyms));
}
