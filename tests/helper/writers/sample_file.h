/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TESTS_HELPER_SAMPLE_FILE_H
#define TESTS_HELPER_SAMPLE_FILE_H

/*
 * What the programs that make sample files for tests share: the header from
 * words NAME=VALUE, as mkodb.c lists them, and damage.
 */

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libop/files/op_config.h"
#include "libop/files/op_folder.h"
#include "libop/session/op_sample_file.h"

static const char *const image_kinds[OP_NR_IMAGE_KINDS] = {
	[OP_IMAGE_FILE] = "file",     [OP_IMAGE_KERNEL] = "kernel",
	[OP_IMAGE_MODULE] = "module", [OP_IMAGE_ANON] = "anon",
	[OP_IMAGE_PSEUDO] = "pseudo",
};

static inline uint64_t number(const char *text)
{
	uint64_t value;

	if (op_parse_u64(text, &value))
		errx(2, "%s: not a number", text);
	return value;
}

static inline uint32_t kind_of(const char *text)
{
	for (uint32_t kind = 0; kind < OP_NR_IMAGE_KINDS; kind++)
		if (!strcmp(image_kinds[kind], text))
			return kind;
	errx(2, "kind=%s: unknown", text);
}

static inline uint64_t mtime_of(const char *text)
{
	struct stat st;

	if (!strchr(text, '/'))
		return number(text);
	if (stat(text, &st))
		err(2, "%s", text);
	return (uint64_t)st.st_mtime;
}

static inline void set_build_id(struct op_sample_header *header,
				const char *hex)
{
	size_t len = strlen(hex) / 2;

	if (len > sizeof(header->build_id))
		errx(2, "build-id=%s: too long", hex);
	if (hex[strspn(hex, "0123456789abcdefABCDEF")] || hex[2 * len])
		errx(2, "build-id=%s: not pairs of hex digits", hex);
	for (size_t i = 0; i < len; i++) {
		char digits[] = { hex[2 * i], hex[2 * i + 1], '\0' };

		header->build_id[i] = (uint8_t)strtoul(digits, NULL, 16);
	}
	header->build_id_len = (uint32_t)len;
}

static inline void set_header(struct op_sample_header *header,
			      const char *option)
{
	const char *value = strchr(option, '=');
	size_t len = value ? (size_t)(value - option) : 0;

	if (!value++)
		errx(2, "%s: not NAME=VALUE", option);
#define IS(name) (len == strlen(name) && !strncmp(option, name, len))
	if (IS("kind"))
		header->kind = kind_of(value);
	else if (IS("event"))
		header->event = (uint32_t)number(value);
	else if (IS("count"))
		header->count = number(value);
	else if (IS("um"))
		header->unit_mask = (uint32_t)number(value);
	else if (IS("timer-hz"))
		header->timer_hz = (uint32_t)number(value);
	else if (IS("cpu-khz"))
		header->cpu_khz = (uint32_t)number(value);
	else if (IS("anon-start"))
		header->anon_start = number(value);
	else if (IS("mtime"))
		header->mtime = mtime_of(value);
	else if (IS("build-id"))
		set_build_id(header, value);
	else if (IS("cpu-type"))
		snprintf(header->cpu_type, sizeof(header->cpu_type), "%s",
			 value);
	else
		errx(2, "%s: unknown", option);
#undef IS
}

static inline void make_folders(const char *path)
{
	errno = -op_make_parents(path, 0755);
	if (errno)
		err(2, "%s", path);
}

static inline void dump_header(const struct op_sample_header *header)
{
	printf("kind %s\nevent %" PRIu32 "\ncount %" PRIu64 "\num %" PRIu32
	       "\ntimer-hz %" PRIu32 "\nmtime %" PRIu64
	       "\nanon-start 0x%" PRIx64 "\nbuild-id ",
	       image_kinds[header->kind], header->event, header->count,
	       header->unit_mask, header->timer_hz, header->mtime,
	       header->anon_start);
	for (uint32_t i = 0; i < header->build_id_len; i++)
		printf("%02x", header->build_id[i]);
	printf("\ncpu-khz %" PRIu32 "\ncpu-type %s\n", header->cpu_khz,
	       header->cpu_type);
}

static inline void overwrite(const char *path, const void *bytes, size_t len,
			     off_t offset)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0 || pwrite(fd, bytes, len, offset) != (ssize_t)len)
		err(2, "%s", path);
	close(fd);
}

static inline void flip(const char *path, const char *where)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	char *mask;
	off_t offset = strtoll(where, &mask, 0);
	unsigned char byte;

	if (fd < 0 || *mask != ':' || pread(fd, &byte, 1, offset) != 1)
		errx(2, "%s: no byte %s", path, where);
	close(fd);
	byte ^= (unsigned char)number(mask + 1);
	overwrite(path, &byte, 1, offset);
}

#endif /* TESTS_HELPER_SAMPLE_FILE_H */
