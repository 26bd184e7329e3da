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

#include <stdbool.h>
#include <stddef.h>

#include "libdb/table/db_format.h"
#include "libdb/odb.h"
#include "tests/helper/writers/sample_file.h"

/* ---- making -------------------------------------------------------------- */

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
		set_header(&header, *options);
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
