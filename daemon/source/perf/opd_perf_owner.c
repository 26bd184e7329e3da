// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * /proc is asked when a process is first seen, and behind each exec of one that
 * has no owner: its children may be gone before they are sampled. A process has
 * an owner if all its users and groups are the same, it has no capability, and
 * its folder in /proc is its user's: the kernel gives that of a process which
 * has changed its user to root, until the next exec.
 *
 * After an exec of a process with an owner two things must be seen: that the
 * file gives no rights, and that /proc, if the process is still there, has not
 * another user. The file is known ahead of the exec, and may turn out to be
 * another one: then that is looked at, too. What was known before side band was
 * lost is asked for again.
 */

#include "daemon/source/perf/opd_perf_owner.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "daemon/source/opd_maps.h"
#include "daemon/source/perf/opd_perf_record.h"
#include "daemon/source/perf/opd_perf_handle.h"

/* The four numbers behind a key of a status file, if they are the same. */
static bool parse_ids(const char *line, const char *key, uint64_t *id)
{
	uint64_t ids[4];

	if (strncmp(line, key, strlen(key)) != 0 ||
	    sscanf(line + strlen(key),
		   "%" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64, &ids[0],
		   &ids[1], &ids[2], &ids[3]) != 4)
		return false;
	*id = ids[0];
	return ids[0] == ids[1] && ids[0] == ids[2] && ids[0] == ids[3];
}

static bool has_no_capability(const char *line)
{
	uint64_t caps;

	return !strncmp(line, "CapPrm:", 7) &&
	       sscanf(line + 7, "%" SCNx64, &caps) == 1 && !caps;
}

static uint64_t read_owner_status(FILE *file)
{
	uint64_t user = 0, group;
	bool one_user = false, one_group = false, is_plain = false;
	char line[256];

	while (fgets(line, sizeof(line), file)) {
		one_user |= parse_ids(line, "Uid:", &user);
		one_group |= parse_ids(line, "Gid:", &group);
		is_plain |= has_no_capability(line);
	}
	return one_user && one_group && is_plain && user && user <= OP_MAX_OWNER
		       ? user
		       : OP_NO_OWNER;
}

/*
 * Read the owner of a process from /proc. @strictly: fail, too, if the process
 * has changed its user, which /proc does not show of a process that has ended.
 * False: there is no such process any more.
 */
static bool read_owner(const char *proc, uint32_t tgid, bool strictly,
		       uint64_t *user)
{
	struct stat st;
	char path[128];
	FILE *file;

	*user = OP_NO_OWNER;
	snprintf(path, sizeof(path), "%s/%" PRIu32 "/status", proc, tgid);
	file = fopen(path, "re");
	if (!file)
		return false;
	*user = read_owner_status(file);
	if (strictly && (fstat(fileno(file), &st) || st.st_uid != *user))
		*user = OP_NO_OWNER;
	fclose(file);
	return true;
}

void opd_perf_owner_fork(struct opd_owner *child,
			 const struct opd_owner *parent, uint64_t time)
{
	*child = (struct opd_owner){ .user = OP_NO_OWNER };
	if (parent && parent->is_asked && parent->since <= time) {
		*child = *parent;
		child->since = time;
	}
}

/* Ask for the owner now; the answer holds for samples from now on. */
static void ask_owner(const struct opd_process_table *table,
		      struct opd_process *process)
{
	process->owner = (struct opd_owner){ .is_asked = true };
	read_owner(table->proc, process->tgid, true, &process->owner.user);
	process->owner.since = opd_perf_now();
}

static bool wants_owners(const struct opd_process_table *table)
{
	return table->tells_owners && table->proc;
}

void opd_perf_owner_see(const struct opd_process_table *table,
			struct opd_process *process)
{
	if (wants_owners(table))
		ask_owner(table, process);
}

void opd_perf_owner_exec(const struct opd_process_table *table,
			 struct opd_process *process)
{
	struct opd_owner *owner = &process->owner;

	if (!wants_owners(table))
		return;
	if (owner->is_asked && owner->user != OP_NO_OWNER &&
	    owner->since <= table->now) {
		owner->by_exec = true;
		owner->since = table->now;
	} else {
		ask_owner(table, process);
	}
}

void opd_perf_owner_other_program(struct opd_process *process)
{
	struct opd_owner *owner = &process->owner;

	if (owner->is_asked && owner->user != OP_NO_OWNER)
		owner->by_exec = true;
}

/* Whether the process keeps its owner with its new program. */
static bool keeps_owner(const struct opd_process_table *table,
			const struct opd_process *process)
{
	uint64_t user;

	return opd_perf_image_gives_no_rights(&table->images, process->app) &&
	       (!read_owner(table->proc, process->tgid, false, &user) ||
		user == process->owner.user);
}

uint64_t opd_perf_owner_of(const struct opd_process_table *table,
			   struct opd_process *process)
{
	struct opd_owner *owner;

	if (!process || !wants_owners(table))
		return OP_NO_OWNER;
	owner = &process->owner;
	/* An exec or fork may be among the records that were lost. */
	if (!owner->is_asked || owner->since < table->gap_at)
		ask_owner(table, process);
	if (owner->by_exec) {
		if (process->app == OP_NO_COOKIE)
			return OP_NO_OWNER;
		owner->by_exec = false;
		if (!keeps_owner(table, process))
			owner->user = OP_NO_OWNER;
	}
	return table->now >= owner->since ? owner->user : OP_NO_OWNER;
}
