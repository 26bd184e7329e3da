// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * mkclassic FILE [NAME=VALUE...] makes a classic sample file, with the folders
 * above it, from "KEY COUNT" lines on standard input. Names: version (0x12,
 * 0x13), align (8, 4), big-endian (0, 1), cpu-type (number), event, count, um,
 * kernel (0, 1), mhz, mtime (seconds, or a file that has them), anon-start.
 *
 * mkclassic --abi FILE [NAME=VALUE...] makes the abi file that goes with it.
 */

#include <err.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "tests/helper/writers/classic_file.h"

#define NR_PAIRS 100000

/* What the layout is found by. */
struct wanted {
	uint64_t version, align;
};

static uint64_t number(const char *text)
{
	char *end;
	uint64_t value = strtoull(text, &end, 0);
	struct stat st;

	if (*text != '/' && !*end && end != text)
		return value;
	if (stat(text, &st))
		errx(2, "%s: neither a number nor a file", text);
	return (uint64_t)st.st_mtime;
}

static void set(struct classic_file *file, struct wanted *wanted,
		const char *option)
{
	const char *value = strchr(option, '=');
	size_t len = value ? (size_t)(value - option) : 0;

	if (!value++)
		errx(2, "%s: not NAME=VALUE", option);
#define IS(name) (len == strlen(name) && !strncmp(option, name, len))
	if (IS("version"))
		wanted->version = number(value);
	else if (IS("align"))
		wanted->align = number(value);
	else if (IS("big-endian"))
		file->big_endian = number(value);
	else if (IS("cpu-type"))
		file->cpu_type = (uint32_t)number(value);
	else if (IS("event"))
		file->event = (uint32_t)number(value);
	else if (IS("count"))
		file->count = (uint32_t)number(value);
	else if (IS("um"))
		file->unit_mask = (uint32_t)number(value);
	else if (IS("kernel"))
		file->is_kernel = (uint32_t)number(value);
	else if (IS("mhz"))
		file->mhz = strtod(value, NULL);
	else if (IS("mtime"))
		file->mtime = number(value);
	else if (IS("anon-start"))
		file->anon_start = number(value);
	else
		errx(2, "%s: unknown", option);
#undef IS
}

static void find_layout(struct classic_file *file, const struct wanted *wanted)
{
	for (size_t i = 0; i < NR_CLASSIC_LAYOUTS; i++)
		if (classic_layouts[i].version == wanted->version &&
		    classic_layouts[i].align == wanted->align)
			file->layout = &classic_layouts[i];
	if (!file->layout)
		errx(2, "no machine had this layout");
}

static FILE *create(const char *path)
{
	char *copy = strdup(path);
	FILE *out;

	for (char *at = copy; copy && (at = strchr(at + 1, '/'));) {
		*at = '\0';
		if (mkdir(copy, 0755) && errno != EEXIST)
			err(2, "%s", copy);
		*at = '/';
	}
	free(copy);
	out = fopen(path, "we");
	if (!out)
		err(2, "%s", path);
	return out;
}

static void write_samples(const struct classic_file *file, FILE *out)
{
	static struct classic_pair pairs[NR_PAIRS];
	char key[32], count[32];
	uint8_t *bytes;
	size_t nr = 0, len;

	while (nr < NR_PAIRS && scanf("%31s %31s", key, count) == 2)
		pairs[nr++] = (struct classic_pair){ number(key),
						     (uint32_t)number(count) };
	len = classic_len(file, nr);
	bytes = malloc(len);
	if (!bytes)
		err(2, "memory");
	classic_build(file, bytes, pairs, nr);
	fwrite(bytes, 1, len, out);
	free(bytes);
}

int main(int argc, char **argv)
{
	struct classic_file file = { .cpu_type = 44, .mhz = 2400 };
	struct wanted wanted = { 0x12, 8 };
	bool abi = argc > 1 && !strcmp(argv[1], "--abi");
	FILE *out;

	if (argc < 2 + abi || argv[1 + abi][0] == '-')
		errx(2, "usage: mkclassic [--abi] FILE [NAME=VALUE...]");
	for (char **option = argv + 2 + abi; *option; option++)
		set(&file, &wanted, *option);
	find_layout(&file, &wanted);
	out = create(argv[1 + abi]);
	if (abi)
		classic_write_abi(&file, out);
	else
		write_samples(&file, out);
	if (fclose(out))
		err(2, "%s", argv[1 + abi]);
	return 0;
}
