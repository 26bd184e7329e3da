// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Lines are read one by one as the kernel makes them, which looks at one
 * mapping after the other: what changes meanwhile may be there twice or not at
 * all.
 */

#include "daemon/source/opd_proc_maps.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

/* ---- lines ------------------------------------------------------------------
 */

/* The kernel writes a newline in a name as \012. In place. */
static void unescape(char *name)
{
	char *out = name;

	for (; *name; name++) {
		if (strncmp(name, "\\012", 4)) {
			*out++ = *name;
			continue;
		}
		*out++ = '\n';
		name += 3;
	}
	*out = '\0';
}

static bool parse_line(struct opd_proc_line *out, char *text)
{
	unsigned int maj, min;
	char perms[5] = "";
	int at = 0;

	memset(out, 0, sizeof(*out));
	if (sscanf(text,
		   "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %x:%x %" SCNu64
		   " %n",
		   &out->map.start, &out->map.end, perms, &out->map.offset,
		   &maj, &min, &out->id.ino, &at) < 7)
		return false;
	if (out->map.start >= out->map.end)
		return false;
	out->is_written = perms[1] == 'w';
	out->is_code = perms[2] == 'x';
	out->id.dev = makedev(maj, min);
	text[strcspn(text, "\n")] = '\0';
	unescape(text + at);
	out->id.name = text + at;
	out->id.start = out->map.start;
	out->id.end = out->map.end;
	return true;
}

static FILE *open_maps(const char *proc, uint32_t tgid)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/%" PRIu32 "/maps", proc, tgid);
	return fopen(path, "re");
}

void opd_proc_read_link(const char *proc, uint32_t tgid, const char *name,
			char to[OP_PATH_MAX])
{
	char path[128];
	ssize_t len;

	snprintf(path, sizeof(path), "%s/%" PRIu32 "/%s", proc, tgid, name);
	len = readlink(path, to, OP_PATH_MAX - 1);
	to[len > 0 ? len : 0] = '\0';
}

void opd_proc_maps_open(struct opd_proc_maps *maps, const char *proc,
			uint32_t tgid)
{
	memset(maps, 0, sizeof(*maps));
	maps->file = tgid ? open_maps(proc, tgid) : NULL;
	if (maps->file)
		opd_proc_read_link(proc, tgid, "root", maps->root);
}

const char *opd_proc_in_root(const struct opd_proc_maps *maps, const char *name)
{
	size_t len = strlen(maps->root);

	if (len && !strncmp(name, maps->root, len) && name[len] == '/')
		return name + len;
	return name;
}

bool opd_proc_is_anon(const char *name)
{
	if (!strcmp(name, "[vdso]"))
		return false;
	return name[0] != '/' || name[1] == '/' || name[1] == '\0';
}

bool opd_proc_maps_next(struct opd_proc_maps *maps, struct opd_proc_line *line)
{
	while (maps->file &&
	       getline(&maps->text, &maps->room, maps->file) >= 0) {
		if (!parse_line(line, maps->text))
			continue;
		line->id.name = opd_proc_in_root(maps, line->id.name);
		return true;
	}
	return false;
}

bool opd_proc_maps_next_code(struct opd_proc_maps *maps,
			     struct opd_proc_line *line)
{
	while (opd_proc_maps_next(maps, line))
		if (line->is_code)
			return true;
	return false;
}

void opd_proc_maps_close(struct opd_proc_maps *maps)
{
	free(maps->text);
	if (maps->file)
		fclose(maps->file);
}

/* ---- what is beside memory, and in it ---------------------------------------
 */

static void set_side(struct opd_proc_side *side,
		     const struct opd_proc_line *line, uint32_t tgid)
{
	size_t len = strlen(line->id.name);

	side->map.end = 0;
	if (len >= sizeof(side->name))
		return;
	memcpy(side->name, line->id.name, len + 1);
	side->map = line->map;
	side->id = line->id;
	side->id.name = side->name;
	side->id.pid = tgid;
}

bool opd_proc_find_sides(const char *proc, uint32_t tgid, uint64_t addr,
			 struct unwinder_map *memory,
			 struct opd_proc_side sides[2])
{
	bool found = false;
	struct opd_proc_maps maps;
	struct opd_proc_line line;

	sides[0].map.end = sides[1].map.end = 0;
	opd_proc_maps_open(&maps, proc, tgid);
	while (opd_proc_maps_next(&maps, &line)) {
		if (!opd_proc_is_anon(line.id.name)) {
			set_side(&sides[found], &line, tgid);
			if (found)
				break;
		} else if (addr >= line.map.start && addr < line.map.end) {
			*memory = line.map;
			found = true;
		}
		if (!found && line.map.start > addr)
			break;
	}
	opd_proc_maps_close(&maps);
	return found;
}

int opd_proc_open_memory(const char *proc, uint32_t tgid)
{
	char path[128];
	int fd;

	if (!proc || !tgid)
		return -ESRCH;
	snprintf(path, sizeof(path), "%s/%" PRIu32 "/mem", proc, tgid);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	return fd < 0 ? -errno : fd;
}
