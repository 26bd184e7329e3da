// SPDX-License-Identifier: GPL-2.0-or-later

#include <errno.h>
#include <limits.h>
#include <string.h>

#include "daemon/opd.h"
#include "libop/op_ksyms.h"

void opd_ksyms_want(struct opd *opd, struct opd_image *image)
{
	if (image->symbols != OPD_SYMBOLS_NONE)
		return;
	image->symbols = OPD_SYMBOLS_DONE;
	if (opd->source.ops->replays || image->space != OP_SPACE_KERN)
		return;
	if (image->kind != OP_IMAGE_KERNEL && image->kind != OP_IMAGE_MODULE)
		return;
	image->symbols = OPD_SYMBOLS_WANTED;
	opd->nr_ksyms_wanted++;
}

static int write_snapshot(const struct opd_image *image, const char *path,
			  struct op_diag *diag)
{
	const char *module =
		image->kind == OP_IMAGE_MODULE ? image->name : NULL;
	struct op_ksyms ksyms = { NULL, 0, NULL };
	int err;

	err = op_ksyms_scan(&ksyms, "/proc/kallsyms", module, image->start,
			    image->end, diag);
	if (!err)
		err = op_ksyms_write(&ksyms, path, image->name,
				     image->build_id.bytes, image->build_id.len,
				     diag);
	op_ksyms_release(&ksyms);
	return err;
}

/* One that was damaged is taken anew. */
static bool is_sound(const char *path)
{
	struct op_ksyms ksyms;
	int err = op_ksyms_read(&ksyms, path, NULL);

	op_ksyms_release(&ksyms);
	return !err;
}

static void take(struct opd *opd, const struct opd_image *image)
{
	struct op_diag diag = { "" };
	char path[PATH_MAX];
	int err;

	err = op_ksyms_path(path, sizeof(path), opd->session.symbols,
			    image->name, image->build_id.bytes,
			    image->build_id.len);
	/* Without a build-id the file may be of an earlier boot. */
	if (!err && image->build_id.len && is_sound(path))
		return;
	if (!err)
		err = write_snapshot(image, path, &diag);
	if (err)
		op_log(&opd->log, "symbols of %s: %s", image->name,
		       op_diag_text(&diag, err));
	else
		op_verbose(&opd->log, OP_V_MODULE, "symbols of %s: %s",
			   image->name, path);
}

static struct opd_image *find_wanted(struct opd *opd)
{
	for (unsigned int i = 0; i < OPD_IMAGE_BUCKETS; i++)
		for (struct opd_image *image = opd->images.bucket[i]; image;
		     image = image->next)
			if (image->symbols == OPD_SYMBOLS_WANTED)
				return image;
	return NULL;
}

bool opd_ksyms_take(struct opd *opd)
{
	struct opd_image *image;

	if (opd->nr_ksyms_wanted == 0)
		return false;
	image = find_wanted(opd);
	if (!image) {
		opd->nr_ksyms_wanted = 0;
		return false;
	}
	image->symbols = OPD_SYMBOLS_DONE;
	opd->nr_ksyms_wanted--;
	take(opd, image);
	return opd->nr_ksyms_wanted > 0;
}

void opd_ksyms_take_kernel(struct opd *opd)
{
	const struct opd_range *range;

	if (opd->source.ops->replays || !opd->kernel.start)
		return;
	opd_kernel_refresh(opd);
	range = opd_kernel_find(opd, opd->kernel.start);
	if (!range)
		return;
	opd_ksyms_want(opd, range->image);
	opd_ksyms_take(opd);
}
