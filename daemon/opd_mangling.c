// SPDX-License-Identifier: GPL-2.0-or-later

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

#include "daemon/opd.h"
#include "daemon/opd_mangling.h"

static struct op_image_name image_name(const struct opd_sfile_key *key,
				       const struct opd_image *image)
{
	struct op_image_name name = {
		.space = image->space,
		.name = image->name,
	};

	if (image->space == OP_SPACE_ANON) {
		name.name = key->anon;
		name.tgid = key->anon_tgid;
		name.start = key->start;
		name.end = key->end;
	}
	return name;
}

static struct op_image_name callee_name(const struct opd_callee *callee)
{
	struct op_image_name name = { .space = OP_SPACE_NONE };

	if (!callee)
		return name;
	name.space = callee->image->space;
	name.name = callee->image->name;
	if (callee->anon) {
		name.name = callee->anon;
		name.tgid = callee->anon_tgid;
		name.start = callee->start;
		name.end = callee->end;
	}
	return name;
}

int opd_mangle(const struct opd_sfile *sfile, const struct opd_event *event,
	       char *buf, size_t len)
{
	const struct opd_sfile_key *key = &sfile->key;
	struct op_mangle m = {
		.app = image_name(key, key->app),
		.dep = image_name(key, key->dep),
		.cg = callee_name(sfile->callee),
		.event = event->name,
		.count = event->count,
		.unit_mask = event->um,
		.tgid = key->tgid,
		.tid = key->tid,
		.cpu = key->cpu,
	};
	int done = op_mangle_build(&m, buf, len);

	return done < 0 ? done : 0;
}

int opd_mangle_tree(const struct opd_sfile_key *key,
		    const struct opd_event *event, char *buf, size_t len)
{
	struct op_mangle m = {
		.app = image_name(key, key->app),
		.is_tree = true,
		.event = event->name,
		.count = event->count,
		.unit_mask = event->um,
		.tgid = key->tgid,
		.tid = key->tid,
		.cpu = key->cpu,
	};
	int done = op_mangle_build(&m, buf, len);

	return done < 0 ? done : 0;
}

/* Make the folder @path, whose parents may be missing; @path is written to. */
static int make_folder(char *path)
{
	char *slash = strrchr(path, '/');
	int err = 0;

	if (!mkdir(path, 0755) || errno == EEXIST)
		return 0;
	if (errno != ENOENT || !slash || slash == path)
		return -errno;
	*slash = '\0';
	err = make_folder(path);
	*slash = '/';
	if (!err && mkdir(path, 0755) && errno != EEXIST)
		err = -errno;
	return err;
}

int opd_make_parents(const char *path)
{
	char folder[PATH_MAX];
	const char *slash = strrchr(path, '/');

	if (!slash || slash == path)
		return 0;
	if ((size_t)(slash - path) >= sizeof(folder))
		return -ENAMETOOLONG;
	memcpy(folder, path, (size_t)(slash - path));
	folder[slash - path] = '\0';
	return make_folder(folder);
}
