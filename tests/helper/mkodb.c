// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * mkodb FILE [NAME=VALUE...] makes a sample file, with the folders above it,
 * from "KEY COUNT" lines on standard input. Names: kind (file, kernel,
 * module, anon, pseudo), event, count, um, timer-hz, cpu-khz, anon-start,
 * mtime (seconds, or a file that has them), build-id (hex), cpu-type.
 *
 * mkodb --dump FILE prints header and counts, these by key.
 *
 * mkodb --break FILE WHAT damages one: truncate=BYTES, flip=OFFSET:XOR, or a
 * field of the header, NAME or NAME=VALUE: magic, byteorder, version, capacity,
 * used, seed, sample-magic, sample-version. Without a value it gets a bad one.
 */

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libdb/db_format.h"
#include "libdb/odb.h"
#include "libop/op_config.h"
#include "libop/op_sample_file.h"

static const char *const kinds[OP_NR_IMAGE_KINDS] = {
	[OP_IMAGE_FILE] = "file",     [OP_IMAGE_KERNEL] = "kernel",
	[OP_IMAGE_MODULE] = "module", [OP_IMAGE_ANON] = "anon",
	[OP_IMAGE_PSEUDO] = "pseudo",
};

/* ---- making -------------------------------------------------------------- */

static uint64_t number(const char *text)
{
	uint64_t value;

	if (op_parse_u64(text, &value))
		errx(2, "%s: not a number", text);
	return value;
}

static uint32_t kind_of(const char *text)
{
	for (uint32_t kind = 0; kind < OP_NR_IMAGE_KINDS; kind++)
		if (!strcmp(kinds[kind], text))
			return kind;
	errx(2, "kind=%s: unknown", text);
}

static uint64_t mtime_of(const char *text)
{
	struct stat st;

	if (!strchr(text, '/'))
		return number(text);
	if (stat(text, &st))
		err(2, "%s", text);
	return (uint64_t)st.st_mtime;
}

static void set_build_id(struct op_sample_header *header, const char *hex)
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

static void set(struct op_sample_header *header, const char *option)
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

static void make_folders(const char *path)
{
	char *copy = strdup(path);

	for (char *at = copy; copy && (at = strchr(at + 1, '/'));) {
		*at = '\0';
		if (mkdir(copy, 0755) && errno != EEXIST)
			err(2, "%s", copy);
		*at = '/';
	}
	free(copy);
}

static struct odb *open_or_die(const char *path, enum odb_mode mode)
{
	struct odb *odb;
	int ret = odb_open(&odb, path, mode);

	if (ret)
		errx(1, "%s: %s", path, strerror(-ret));
	return odb;
}

static int make(const char *path, char **options)
{
	struct op_sample_header header = {
		.magic = OP_SAMPLE_MAGIC,
		.version = OP_SAMPLE_VERSION,
		.cpu_type = "timer",
	};
	char key[32], count[32];
	struct odb *odb;
	int ret = 0, words;

	for (; *options; options++)
		set(&header, *options);
	make_folders(path);
	odb = open_or_die(path, ODB_RDWR);
	memcpy(odb_user(odb), &header, sizeof(header));
	while (!ret && (words = scanf("%31s %31s", key, count)) == 2)
		ret = odb_add(odb, number(key), number(count));
	odb_close(odb);
	if (ret)
		errx(1, "%s: %s", path, strerror(-ret));
	if (words != EOF)
		errx(2, "standard input: not lines of KEY COUNT");
	return 0;
}

/* ---- dumping ------------------------------------------------------------- */

struct pair {
	uint64_t key, count;
};

static int by_key(const void *a, const void *b)
{
	const struct pair *x = a, *y = b;

	return (x->key > y->key) - (x->key < y->key);
}

static void dump_header(const struct op_sample_header *header)
{
	printf("kind %s\nevent %" PRIu32 "\ncount %" PRIu64 "\num %" PRIu32
	       "\ntimer-hz %" PRIu32 "\nmtime %" PRIu64
	       "\nanon-start 0x%" PRIx64 "\nbuild-id ",
	       kinds[header->kind], header->event, header->count,
	       header->unit_mask, header->timer_hz, header->mtime,
	       header->anon_start);
	for (uint32_t i = 0; i < header->build_id_len; i++)
		printf("%02x", header->build_id[i]);
	printf("\ncpu-khz %" PRIu32 "\ncpu-type %s\n", header->cpu_khz,
	       header->cpu_type);
}

static void dump_pairs(const struct odb *odb)
{
	struct odb_stat stat;
	struct pair *pairs;
	size_t nr = 0, at = 0;

	odb_stat(odb, &stat);
	pairs = calloc(stat.nr_keys + 1, sizeof(*pairs));
	if (!pairs)
		err(1, "memory");
	while (nr < stat.nr_keys &&
	       odb_next(odb, &at, &pairs[nr].key, &pairs[nr].count))
		nr++;
	qsort(pairs, nr, sizeof(*pairs), by_key);
	for (size_t i = 0; i < nr; i++)
		printf("0x%" PRIx64 " %" PRIu64 "\n", pairs[i].key,
		       pairs[i].count);
	free(pairs);
}

static int dump(const char *path)
{
	struct odb *odb = open_or_die(path, ODB_RDONLY);
	const struct op_sample_header *header = odb_user(odb);
	struct op_diag diag = { 0 };

	if (op_sample_header_check(header, path, &diag))
		errx(1, "%s", diag.text);
	dump_header(header);
	dump_pairs(odb);
	odb_close(odb);
	return 0;
}

/* ---- breaking ------------------------------------------------------------ */

#define FIELD(member) offsetof(struct odb_header, member)
#define USER_FIELD(member)                                                     \
	(FIELD(user) + offsetof(struct op_sample_header, member))

static const struct field {
	const char *name;
	size_t offset, len; /* bytes */
	uint64_t bad;
} fields[] = {
	{ "magic", FIELD(magic), 8, 0 },
	{ "byteorder", FIELD(byte_order), 4, ODB_BYTE_ORDER_SWAPPED },
	{ "version", FIELD(version), 4, ODB_VERSION + 1 },
	{ "capacity", FIELD(nr_slots), 8, UINT64_C(1) << 60 },
	{ "used", FIELD(nr_used), 8, UINT64_MAX },
	{ "seed", FIELD(seed), 8, 0 },
	{ "sample-magic", USER_FIELD(magic), 4, 0 },
	{ "sample-version", USER_FIELD(version), 4, OP_SAMPLE_VERSION + 1 },
};

static void overwrite(const char *path, const void *bytes, size_t len,
		      off_t offset)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0 || pwrite(fd, bytes, len, offset) != (ssize_t)len)
		err(2, "%s", path);
	close(fd);
}

/* Returns whether @what is a field, which is set then. */
static bool set_field(const char *path, const char *what)
{
	size_t len = strcspn(what, "=");

	for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++) {
		const struct field *field = &fields[i];
		uint64_t value = field->bad;
		uint32_t half;

		if (strlen(field->name) != len ||
		    strncmp(field->name, what, len))
			continue;
		if (what[len])
			value = number(what + len + 1);
		half = (uint32_t)value;
		overwrite(path, field->len == 4 ? (void *)&half : &value,
			  field->len, (off_t)field->offset);
		return true;
	}
	return false;
}

static void flip(const char *path, const char *where)
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

static int damage(const char *path, const char *what)
{
	if (!strncmp(what, "flip=", 5)) {
		flip(path, what + 5);
	} else if (!strncmp(what, "truncate=", 9)) {
		if (truncate(path, (off_t)number(what + 9)))
			err(2, "%s", path);
	} else if (!set_field(path, what)) {
		errx(2, "%s: unknown damage", what);
	}
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "--dump"))
		return dump(argv[2]);
	if (argc == 4 && !strcmp(argv[1], "--break"))
		return damage(argv[2], argv[3]);
	if (argc < 2 || argv[1][0] == '-')
		errx(2,
		     "usage: mkodb FILE [NAME=VALUE...] | --dump FILE | --break FILE WHAT");
	return make(argv[1], argv + 2);
}
