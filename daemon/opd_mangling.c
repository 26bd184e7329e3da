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

int opd_mangle(const struct opd_sfile_key *key, const struct opd_event *event,
	       char *buf, size_t len)
{
	struct op_mangle m = {
		.app = image_name(key, key->app),
		.dep = image_name(key, key->dep),
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

int opd_make_parents(const char *path)
{
	char folder[PATH_MAX];
	size_t len = strlen(path);

	if (len >= sizeof(folder))
		return -ENAMETOOLONG;
	memcpy(folder, path, len + 1);
	for (char *slash = strchr(folder + 1, '/'); slash;
	     slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (mkdir(folder, 0755) && errno != EEXIST)
			return -errno;
		*slash = '/';
	}
	return 0;
}
