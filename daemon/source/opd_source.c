// SPDX-License-Identifier: GPL-2.0-or-later

#include <errno.h>
#include <string.h>

#include "daemon/source/opd_source.h"

static const struct opd_source_ops *const sources[] = {
	&opd_source_oprofilefs,
	&opd_source_perf,
	&opd_source_file,
};

const struct opd_source_ops *opd_source_find(const char *spec, const char **arg)
{
	size_t len = strcspn(spec, ":");

	*arg = spec[len] ? spec + len + 1 : NULL;
	for (size_t i = 0; i < sizeof(sources) / sizeof(sources[0]); i++)
		if (strlen(sources[i]->name) == len &&
		    !memcmp(sources[i]->name, spec, len))
			return sources[i];
	return NULL;
}

int opd_source_open(struct opd_source *source, const char *spec,
		    struct opd_events *events, struct op_diag *diag)
{
	const char *arg;

	memset(source, 0, sizeof(*source));
	source->fd = source->dir = -1;
	source->events = events;
	source->ops = opd_source_find(spec, &arg);
	if (!source->ops)
		return op_diag_set(diag, -EINVAL,
				   "%s: no such source; known are " OPD_SOURCES,
				   spec);
	return source->ops->open(source, arg, diag);
}

void opd_source_close(struct opd_source *source)
{
	if (source->ops && source->ops->close)
		source->ops->close(source);
}
