// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A source by its name, and the stream of it: written by a writer
 * (opd_writer.h), or read as it is where it is whole already. The writer is
 * asked for the account behind a dump, as only then all can be read.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "daemon/source/opd_source.h"
#include "daemon/source/opd_writer.h"

static const struct opd_source_ops *const sources[] = {
	&opd_source_oprofilefs,
	&opd_source_perf,
	&opd_source_perfdata,
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

/*
 * The kernel numbers processes as the pid namespace of this one does. A /proc
 * of another namespace has other processes under these numbers, or none:
 * samples would be given to programs that did not run.
 */
static int check_proc(struct op_diag *diag)
{
	char self[32];
	ssize_t len = readlink("/proc/self", self, sizeof(self) - 1);

	self[len > 0 ? len : 0] = '\0';
	if (len > 0 && strtol(self, NULL, 10) == getpid())
		return 0;
	return op_diag_set(
		diag, -ESRCH,
		"/proc: is not that of this pid namespace, so samples would be given to other programs; mount its own there, as --mount-proc does, or give the container --pid=host");
}

int opd_source_open(struct opd_source *source, const char *spec,
		    struct opd_events *events,
		    const struct opd_source_client *client,
		    struct op_diag *diag)
{
	const char *arg;
	int err;

	memset(source, 0, sizeof(*source));
	source->fd = source->dir = -1;
	source->events = events;
	source->client = client;
	source->proc = "/proc";
	source->ops = opd_source_find(spec, &arg);
	if (!source->ops)
		return op_diag_set(
			diag, -EINVAL,
			"%s: no such source; the sources are " OPD_SOURCES,
			spec);
	err = source->ops->of_this_machine ? check_proc(diag) : 0;
	if (source->ops->of_this_machine)
		op_run_set_here(&source->run, (uint64_t)time(NULL));
	if (!err && source->ops->write) {
		source->writer = opd_writer_new(source);
		if (!source->writer)
			err = op_diag_set(diag, -ENOMEM, "%s: out of memory",
					  spec);
	}
	return err ?: source->ops->open(source, arg, diag);
}

void opd_source_close(struct opd_source *source)
{
	if (source->ops && source->ops->close)
		source->ops->close(source);
	opd_writer_free(source->writer);
	source->writer = NULL;
}

ssize_t opd_source_read(struct opd_source *source, void *buf, size_t len)
{
	ssize_t got;

	if (!source->writer)
		return source->ops->read(source, buf, len);
	got = opd_writer_read(source->writer, buf, len / sizeof(uint64_t));
	return got > 0 ? got * (ssize_t)sizeof(uint64_t) : got;
}

int opd_source_enable(struct opd_source *source, bool on, struct op_diag *diag)
{
	/* Kernel modules may have come and gone unseen. */
	if (source->writer && on)
		source->writer->kernel_stale = true;
	return source->ops->enable ? source->ops->enable(source, on, diag) : 0;
}

bool opd_source_is_enabled(struct opd_source *source)
{
	bool on = false;

	if (source->ops->enabled)
		source->ops->enabled(source, &on);
	return on;
}

int opd_source_dump(struct opd_source *source, struct op_diag *diag)
{
	int err = source->ops->dump ? source->ops->dump(source, diag) : 0;

	opd_source_ask_account(source);
	return err;
}

void opd_source_ask_account(struct opd_source *source)
{
	if (source->writer)
		opd_writer_ask_account(source->writer);
}

bool opd_source_repeat_names(struct opd_source *source)
{
	if (source->ops->ends)
		return false;
	if (source->writer)
		opd_names_repeat(&source->writer->names);
	return true;
}
