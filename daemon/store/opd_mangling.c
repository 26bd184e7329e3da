// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * All that a name tells of a key and an event is collected in a struct
 * op_mangle. The application has no build there: all its builds are one
 * application. Folders are made from the innermost outwards: the attempt to
 * make the last folder nearly always succeeds or finds it there, and only a
 * missing parent costs another call.
 */

#include "daemon/store/opd_mangling.h"

#include "daemon/source/opd_events.h"
#include "daemon/store/opd_image.h"
#include "daemon/store/opd_sfile_key.h"
#include "libop/session/op_mangle.h"

/* @place->image and its build, or the part of anonymous memory that the rest
 * tells. */
static struct op_image_name image_name(const struct opd_callee *place)
{
	const char *build = place->image->build;
	struct op_image_name name = {
		.space = place->image->space,
		.name = place->image->name,
		.build = *build ? build : NULL,
	};

	if (name.space == OP_SPACE_ANON) {
		name.name = place->anon;
		name.tgid = place->anon_tgid;
		name.start = place->start;
		name.end = place->end;
	}
	return name;
}

static struct op_image_name key_image_name(const struct opd_sfile_key *key,
					   struct opd_image *image)
{
	const struct opd_callee place = {
		.image = image,
		.anon = key->anon,
		.start = key->start,
		.end = key->end,
		.anon_tgid = key->anon_tgid,
	};

	return image_name(&place);
}

/* All but the images that are not the application. */
static struct op_mangle mangle_of(const struct opd_sfile_key *key,
				  const struct opd_event *event)
{
	struct op_mangle m = {
		.app = key_image_name(key, key->app),
		.event = event->name,
		.count = event->count,
		.unit_mask = event->um,
		.tgid = key->tgid,
		.tid = key->tid,
		.cpu = key->cpu,
		.has_user = key->user != OP_MANGLE_ALL,
		.user = (uint32_t)key->user,
		.cgroup = key->cgroup,
	};

	m.app.build = NULL;
	/* Samples of the timer at two rates must not add up. */
	if (opd_event_is_timer(event) && event->value &&
	    event->value != OP_TIMER_HZ)
		m.count = event->value;
	return m;
}

static int build(const struct op_mangle *m, char *buf, size_t len)
{
	int done = op_mangle_build(m, buf, len);

	return done < 0 ? done : 0;
}

int opd_mangle(const struct opd_sfile_key *key, const struct opd_callee *callee,
	       const struct opd_event *event, char *buf, size_t len)
{
	struct op_mangle m = mangle_of(key, event);

	m.dep = key_image_name(key, key->dep);
	if (callee)
		m.cg = image_name(callee);
	return build(&m, buf, len);
}

int opd_mangle_tree(const struct opd_sfile_key *key,
		    const struct opd_event *event, char *buf, size_t len)
{
	struct op_mangle m = mangle_of(key, event);

	m.is_tree = true;
	return build(&m, buf, len);
}
