// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Another build of an image, while counts of the one before are in the pack or
 * on their way into it. Those of the same build come out of the pack together,
 * as there will be more of them in the way.
 */

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "daemon/opd.h"
#include "daemon/store/opd_packer.h"
#include "daemon/store/opd_sample_file.h"
#include "libdb/db_folder.h"
#include "libdb/odb.h"
#include "libdb/pack.h"
#include "libop/op_sample_file.h"

/* What is asked for, and where it was found to be in the way. */
struct way {
	const char *name;
	const struct op_sample_header *header;
	bool (*may_mix)(const struct op_sample_header *there,
			const struct op_sample_header *header);
	struct op_sample_header there;
};

/* ---- the pack ---------------------------------------------------------------
 */

static void close_pack(struct opd_pack *pack)
{
	pack_close(pack->pack);
	pack->pack = NULL;
}

static int open_current_pack(struct opd *opd, const char *path,
			     const struct stat *st)
{
	struct opd_pack *pack = &opd->pack;
	int err;

	close_pack(pack);
	err = pack_open(&pack->pack, path);
	if (err == -EBADMSG || err == -EPROTO)
		opd_sample_file_damaged(opd, path);
	if (err) {
		pack->pack = NULL;
		return err == -EBADMSG || err == -EPROTO ? 0 : err;
	}
	pack->dev = st->st_dev;
	pack->ino = st->st_ino;
	return 0;
}

/* Have opd->pack.pack be the pack that is there now; a child may replace it. */
static int look_at_pack(struct opd *opd)
{
	struct opd_pack *pack = &opd->pack;
	char path[PATH_MAX];
	struct stat st;

	snprintf(path, sizeof(path), "%.4080s/" DB_FOLDER_PACK,
		 opd->session.current);
	if (stat(path, &st)) {
		close_pack(pack);
		return errno == ENOENT ? 0 : -errno;
	}
	if (pack->pack && st.st_dev == pack->dev && st.st_ino == pack->ino)
		return 0;
	return open_current_pack(opd, path, &st);
}

void opd_pack_init(struct opd *opd)
{
	const char *dir = opd->session.current;
	struct opd_packer_size size = { .left = false };
	struct op_diag diag = { "" };
	int err;

	memset(&opd->pack, 0, sizeof(opd->pack));
	err = look_at_pack(opd);
	if (!err)
		err = opd_packer_tidy(dir, &diag);
	if (!err)
		err = opd_packer_size(dir, &size);
	opd->pack.left = size.left;
	if (err)
		op_log(&opd->log, "%s",
		       diag.text[0] ? diag.text : strerror(-err));
}

/* ---- what is in the way -----------------------------------------------------
 */

static bool is_in_way(const struct way *way)
{
	return !op_sample_header_check(&way->there, way->name, NULL) &&
	       !way->may_mix(&way->there, way->header);
}

static bool pack_is_in_way(struct opd *opd, struct way *way)
{
	const struct pack_entry *entry = NULL;

	if (opd->pack.pack)
		entry = pack_find(opd->pack.pack, way->name);
	if (!entry)
		return false;
	memcpy(&way->there, entry->user, sizeof(way->there));
	return is_in_way(way);
}

/* @path: room for the path of the file of folder number @nr. */
static bool file_is_in_way(struct opd *opd, struct way *way, uint64_t nr,
			   char *path)
{
	int len = snprintf(path, PATH_MAX,
			   "%s/" DB_FOLDER_PACKING "%" PRIu64 "/%s",
			   opd->session.current, nr, way->name);

	return len > 0 && len < PATH_MAX && !odb_peek(path, &way->there) &&
	       is_in_way(way);
}

/* Call @move, unless it is NULL, for each file in the way. Returns how many
 * there are, or its -errno. */
static int move_files(struct opd *opd, struct way *way,
		      int (*move)(struct opd *opd, const char *path,
				  const char *name))
{
	char path[PATH_MAX];
	uint64_t *folders;
	size_t nr;
	int found = 0,
	    err = opd_packer_folders(opd->session.current, &folders, &nr);

	if (err)
		return err;
	for (size_t i = 0; i < nr && !err; i++) {
		if (!file_is_in_way(opd, way, folders[i], path))
			continue;
		found++;
		if (move)
			err = move(opd, path, way->name);
	}
	free(folders);
	return err ? err : found;
}

/*
 * Folders first: what a child brings from there into the pack meanwhile is
 * found in the pack. What is in both is in the way as well.
 */
static int find_in_way(struct opd *opd, struct way *way)
{
	int found = move_files(opd, way, NULL);
	int err = look_at_pack(opd);

	if (found < 0 || err)
		return found < 0 ? found : err;
	return found || pack_is_in_way(opd, way);
}

/* ---- making way -------------------------------------------------------------
 */

static bool is_same_build(uint32_t a_len, const uint8_t *a, uint64_t a_mtime,
			  uint32_t b_len, const uint8_t *b, uint64_t b_mtime)
{
	return (a_len || a_mtime) && a_len == b_len && a_mtime == b_mtime &&
	       !memcmp(a, b, sizeof(((struct op_sample_header *)0)->build_id));
}

/* Whether @entry will be in the way as soon as its name is asked for. */
static bool comes_along(const struct pack_entry *entry, const void *ctx)
{
	const struct way *way = ctx;
	const struct op_sample_header *there = &way->there;
	struct op_sample_header h;

	memcpy(&h, entry->user, sizeof(h));
	if (!strcmp(entry->name, way->name))
		return true;
	/* Another rate of the timer: all of them. */
	if (h.timer_hz && way->header->timer_hz &&
	    h.timer_hz != way->header->timer_hz)
		return true;
	return is_same_build(h.build_id_len, h.build_id, h.mtime,
			     there->build_id_len, there->build_id,
			     there->mtime) ||
	       is_same_build(h.cg_build_id_len, h.cg_build_id, h.cg_mtime,
			     there->cg_build_id_len, there->cg_build_id,
			     there->cg_mtime);
}

static int clear_way(struct opd *opd, struct way *way,
		     int (*move)(struct opd *opd, const char *path,
				 const char *name),
		     struct op_diag *diag)
{
	const char *dir = opd->session.current;
	int err;

	opd_pack_stop(opd);
	err = opd_packer_tidy(dir, diag);
	if (!err)
		err = look_at_pack(opd);
	if (!err && pack_is_in_way(opd, way))
		err = opd_packer_take_out(opd, dir, opd->pack.pack, comes_along,
					  way, diag);
	if (!err)
		err = move_files(opd, way, move);
	return err < 0 ? err : 0;
}

int opd_pack_make_way(struct opd *opd, const char *name,
		      const struct op_sample_header *header,
		      bool (*may_mix)(const struct op_sample_header *there,
				      const struct op_sample_header *header),
		      int (*move)(struct opd *opd, const char *path,
				  const char *name))
{
	struct way way = { .name = name, .header = header, .may_mix = may_mix };
	struct op_diag diag = { "" };
	int err = find_in_way(opd, &way);

	if (err > 0)
		err = clear_way(opd, &way, move, &diag);
	if (err && diag.text[0])
		op_log(&opd->log, "%s", diag.text);
	return err;
}
