// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Layouts of classic sample files: read from an "abi" file, as the old
 * opimport took it, or one of those that were in use.
 *
 * An abi file is lines of a name and a number. What a number means, and which
 * structure a field has to lie in, is a row of the table of entries; all
 * entries are checked against the structure sizes before one is used as an
 * offset. Lines that are not in the table are passed over, as other versions
 * wrote more of them.
 */

#include "libop/classic/op_classic_abi.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "libop/classic/op_classic.h"
#include "libop/files/op_file.h"

#define TEXT_MAX 65536 /* bytes in an abi file */
#define STRUCT_MAX 4096 /* bytes in a structure */

/* The kinds of entries in the file. */
enum entry_kind {
	ENTRY_SIZE, /* of a number: 4 or 8 */
	ENTRY_STRUCT, /* size of a structure */
	ENTRY_NODE, /* offset in a node */
	ENTRY_DESCR,
	ENTRY_HEADER,
	ENTRY_OPTIONAL, /* offset in the header, where it has the field */
	ENTRY_FLAG,
};

struct entry {
	const char *name;
	enum entry_kind kind;
	size_t member; /* offset in struct op_classic_abi */
	size_t size; /* likewise, of the size of the field; 0: 4 bytes */
};

#define AT(member) offsetof(struct op_classic_abi, member)
#define U32 0

/* clang-format off */
static const struct entry entries[] = {
	{ "sizeof_u64",			ENTRY_SIZE,	AT(u64_size),	U32 },
	{ "sizeof_odb_key_t",		ENTRY_SIZE,	AT(key_size),	U32 },
	{ "sizeof_odb_value_t",		ENTRY_SIZE,	AT(value_size),	U32 },
	{ "sizeof_odb_node_nr_t",	ENTRY_SIZE,	AT(node_nr_size), U32 },
	{ "sizeof_odb_index_t",		ENTRY_SIZE,	AT(index_size),	U32 },
	{ "sizeof_struct_opd_header",	ENTRY_STRUCT,	AT(header_size), U32 },
	{ "sizeof_odb_descr_t",		ENTRY_STRUCT,	AT(descr_size),	U32 },
	{ "sizeof_odb_node_t",		ENTRY_STRUCT,	AT(node_size),	U32 },
	{ "offsetof_node_key",		ENTRY_NODE,	AT(node_key),	AT(key_size) },
	{ "offsetof_node_value",	ENTRY_NODE,	AT(node_value),	AT(value_size) },
	{ "offsetof_node_next",		ENTRY_NODE,	AT(node_next),	AT(index_size) },
	{ "offsetof_descr_size",	ENTRY_DESCR,	AT(descr_nr),	AT(node_nr_size) },
	{ "offsetof_descr_current_size", ENTRY_DESCR,	AT(descr_used),	AT(node_nr_size) },
	{ "offsetof_header_magic",	ENTRY_HEADER,	AT(magic),	U32 },
	{ "offsetof_header_version",	ENTRY_HEADER,	AT(version),	U32 },
	{ "offsetof_header_cpu_type",	ENTRY_HEADER,	AT(cpu_type),	U32 },
	{ "offsetof_header_ctr_event",	ENTRY_HEADER,	AT(event),	U32 },
	{ "offsetof_header_ctr_um",	ENTRY_HEADER,	AT(unit_mask),	U32 },
	{ "offsetof_header_ctr_count",	ENTRY_HEADER,	AT(count),	U32 },
	{ "offsetof_header_is_kernel",	ENTRY_HEADER,	AT(is_kernel),	U32 },
	{ "offsetof_header_cpu_speed",	ENTRY_HEADER,	AT(cpu_speed),	AT(u64_size) },
	{ "offsetof_header_mtime",	ENTRY_HEADER,	AT(mtime),	AT(u64_size) },
	{ "offsetof_header_cg_to_is_kernel", ENTRY_OPTIONAL, AT(cg_to_is_kernel), U32 },
	{ "offsetof_header_anon_start",	ENTRY_OPTIONAL,	AT(anon_start),	AT(u64_size) },
	{ "offsetof_header_cg_to_anon_start", ENTRY_OPTIONAL, AT(cg_to_anon_start), AT(u64_size) },
	{ "little_endian",		ENTRY_FLAG,	AT(little_endian), U32 },
};
/* clang-format on */

#define NR_ENTRIES (sizeof(entries) / sizeof(entries[0]))

static uint32_t *member_of(struct op_classic_abi *abi, size_t at)
{
	return (uint32_t *)((char *)abi + at);
}

/* ---- reading ------------------------------------------------------------- */

/* "NAME VALUE", a decimal number. */
static bool split_abi_line(char *line, char **name, uint32_t *value)
{
	char *blank = strchr(line, ' '), *end;
	unsigned long number;

	if (!blank || blank[1] < '0' || blank[1] > '9')
		return false;
	*blank = '\0';
	errno = 0;
	number = strtoul(blank + 1, &end, 10);
	if (errno || *end || number > STRUCT_MAX)
		return false;
	*name = line;
	*value = (uint32_t)number;
	return true;
}

static int read_abi_lines(struct op_classic_abi *abi, bool *seen, char *text,
			  const char *path, struct op_diag *diag)
{
	char *line, *name;
	unsigned int nr = 0;
	uint32_t value;

	while ((line = strsep(&text, "\n")) != NULL) {
		nr++;
		if (!*line)
			continue;
		if (!split_abi_line(line, &name, &value))
			return op_diag_set(
				diag, -EINVAL,
				"%s:%u: not an ABI description, in which each line is a name and a small number",
				path, nr);
		/* Entries of other versions are passed over. */
		for (size_t i = 0; i < NR_ENTRIES; i++) {
			if (strcmp(entries[i].name, name))
				continue;
			if (entries[i].kind == ENTRY_FLAG)
				abi->little_endian = value;
			else
				*member_of(abi, entries[i].member) = value;
			seen[i] = true;
		}
	}
	return 0;
}

/* ---- checking ------------------------------------------------------------ */

/* Bytes of the structure that @kind is about. */
static uint32_t struct_len_of(const struct op_classic_abi *abi,
			      enum entry_kind kind)
{
	if (kind == ENTRY_NODE)
		return abi->node_size;
	return kind == ENTRY_DESCR ? abi->descr_size : abi->header_size;
}

static bool is_sound_entry(struct op_classic_abi *abi,
			   const struct entry *entry)
{
	uint32_t size = entry->size ? *member_of(abi, entry->size) : 4;
	uint32_t value;

	if (entry->kind == ENTRY_FLAG)
		return true;
	value = *member_of(abi, entry->member);
	if (entry->kind == ENTRY_SIZE)
		return value == 4 || value == 8;
	if (entry->kind == ENTRY_STRUCT)
		return value > 0 && value <= STRUCT_MAX;
	return value <= STRUCT_MAX &&
	       value + size <= struct_len_of(abi, entry->kind);
}

static int check_abi_entries(struct op_classic_abi *abi, const bool *seen,
			     const char *path, struct op_diag *diag)
{
	for (size_t i = 0; i < NR_ENTRIES; i++) {
		if (!seen[i] && entries[i].kind == ENTRY_OPTIONAL)
			continue;
		if (!seen[i])
			return op_diag_set(
				diag, -EINVAL,
				"%s: incomplete ABI description: %s is missing",
				path, entries[i].name);
		if (!is_sound_entry(abi, &entries[i]))
			return op_diag_set(diag, -EINVAL, "%s: %s is invalid",
					   path, entries[i].name);
	}
	/* The speed is a double, and only those of IEEE are known. */
	if (abi->u64_size != 8)
		return op_diag_set(diag, -EINVAL, "%s: sizeof_u64 is invalid",
				   path);
	return 0;
}

int op_classic_abi_parse(struct op_classic_abi *abi, char *text, size_t len,
			 const char *path, struct op_diag *diag)
{
	bool seen[NR_ENTRIES] = { false };
	int err;

	memset(abi, 0, sizeof(*abi));
	abi->cg_to_is_kernel = OP_CLASSIC_ABSENT;
	abi->anon_start = abi->cg_to_anon_start = OP_CLASSIC_ABSENT;
	if (strlen(text) != len)
		return op_diag_set(diag, -EINVAL, "%s: not an ABI description",
				   path);
	err = read_abi_lines(abi, seen, text, path, diag);
	return err ? err : check_abi_entries(abi, seen, path, diag);
}

int op_classic_abi_read(struct op_classic_abi *abi, const char *path,
			struct op_diag *diag)
{
	char *text = NULL;
	size_t len;
	int err = op_file_read(path, TEXT_MAX, &text, &len, diag);

	if (err == -ENOENT)
		return op_diag_set(
			diag, err,
			"%s: no such file; name the abi file of the session that the samples are from",
			path);
	if (!err)
		err = op_classic_abi_parse(abi, text, len, path, diag);
	free(text);
	return err;
}

/* ---- layouts that are known ---------------------------------------------- */

/* The header of version 0x12 has two fields more than that of 0x13. */
static void lay_out_header(struct op_classic_abi *abi, uint32_t version,
			   uint32_t align)
{
	uint32_t more = version == OP_CLASSIC_VERSION_0 ? 12 : 0;

	abi->version = 4;
	abi->cpu_type = 8;
	abi->event = 12;
	abi->unit_mask = 16;
	abi->count = 20;
	abi->is_kernel = 24;
	abi->cpu_speed = align == 8 ? 32 : 28;
	abi->mtime = abi->cpu_speed + 8;
	abi->cg_to_is_kernel = abi->mtime + 8;
	abi->anon_start = abi->cg_to_is_kernel + 4 + more;
	if (align == 8)
		abi->anon_start = (abi->anon_start + 7) & ~7u;
	abi->cg_to_anon_start = abi->anon_start + 8;
	abi->header_size = abi->cg_to_anon_start + 8;
	if (more)
		abi->header_size += align == 8 ? 8 : 4;
}

bool op_classic_abi_known(struct op_classic_abi *abi, unsigned int i,
			  uint32_t version, bool little_endian)
{
	/* How 64-bit numbers are aligned: x86 of 32 bits, and all others. */
	static const uint32_t alignments[] = { 8, 4 };

	if (i >= sizeof(alignments) / sizeof(alignments[0]))
		return false;
	*abi = (struct op_classic_abi){
		.little_endian = little_endian,
		.key_size = 8,
		.value_size = 4,
		.node_nr_size = 4,
		.index_size = 4,
		.u64_size = 8,
		.descr_size = 32,
		.node_size = 16,
		.node_value = 8,
		.node_next = 12,
		.descr_used = 4,
	};
	lay_out_header(abi, version, alignments[i]);
	return true;
}
