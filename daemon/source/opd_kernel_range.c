// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The file is "kernel-BOOT": a line with the first address, that after the last
 * one, and the build-id of the kernel.
 */

#include "daemon/source/opd_kernel_range.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libop/files/op_cache.h"
#include "libop/image/op_build_id.h"

#define BOOT_ID_LEN 36 /* of a UUID */
#define NAME_LEN 64
#define LINE_MAX_LEN 256

/* The number of this boot, which the kernel draws anew each time. */
static bool read_name(char name[NAME_LEN], const char *proc)
{
	char path[PATH_MAX], id[BOOT_ID_LEN + 1] = "";
	FILE *file;

	snprintf(path, sizeof(path), "%s/sys/kernel/random/boot_id", proc);
	file = fopen(path, "re");
	if (!file)
		return false;
	if (!fgets(id, sizeof(id), file))
		id[0] = '\0';
	fclose(file);
	if (strspn(id, "0123456789abcdef-") != BOOT_ID_LEN)
		return false;
	snprintf(name, NAME_LEN, "kernel-%s", id);
	return true;
}

static void write_line(char line[LINE_MAX_LEN], const struct op_build_id *id,
		       uint64_t start, uint64_t end)
{
	char text[OP_BUILD_TEXT_MAX];

	snprintf(line, LINE_MAX_LEN, "%" PRIx64 " %" PRIx64 " %s\n", start, end,
		 op_build_id_text(id->bytes, id->len, text));
}

bool opd_kernel_range_get(const char *proc, const struct op_build_id *id,
			  uint64_t *start, uint64_t *end)
{
	char name[NAME_LEN], want[LINE_MAX_LEN];
	uint8_t *bytes;
	bool is_sound;
	int cache;
	size_t len;

	if (!id->len || !read_name(name, proc))
		return false;
	cache = op_cache_open();
	if (cache < 0)
		return false;
	is_sound = !op_cache_read(cache, name, LINE_MAX_LEN - 1, &bytes, &len);
	close(cache);
	if (!is_sound)
		return false;
	bytes[len] = '\0';
	is_sound = sscanf((const char *)bytes, "%" SCNx64 " %" SCNx64, start,
			  end) == 2 &&
		   *start < *end;
	if (is_sound) {
		write_line(want, id, *start, *end);
		is_sound = !strcmp((const char *)bytes, want);
	}
	free(bytes);
	return is_sound;
}

void opd_kernel_range_keep(const char *proc, const struct op_build_id *id,
			   uint64_t start, uint64_t end)
{
	char name[NAME_LEN], line[LINE_MAX_LEN];
	int cache;

	if (!id->len || start >= end || !read_name(name, proc))
		return;
	cache = op_cache_open();
	if (cache < 0)
		return;
	write_line(line, id, start, end);
	(void)op_cache_write(cache, name, line, strlen(line), &op_cache_bounds);
	close(cache);
}
