// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Sample files of OProfile 0.9 and 1.x: a header, a description, nodes in hash
 * chains, and the index of the chains, all in the C layout of the machine that
 * wrote them.
 *
 * The layout is not written in the file. Unless an ABI is given
 * (op_classic_abi.h), each known layout is tried, and the one in which the
 * number of nodes gives exactly the length of the file is taken. All links
 * between nodes are checked once when a file is opened; the values of nodes
 * are then read in the order of the file, without the chains, which a damaged
 * file could make endless.
 */

#include "libop/classic/op_classic.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "libop/files/op_file.h"

/* The length is an unsigned int where these files come from. */
#define FILE_MAX UINT32_MAX

static const uint8_t magic[4] = { 'D', 'A', 'E', '\n' };
static const uint8_t our_magic[4] = { 0x89, 'O', 'D', 'B' };

/* A file that is being read. */
struct input {
	const uint8_t *bytes;
	uint64_t len;
	const char *path;
	struct op_diag *diag;
};

static int refuse_classic(const struct input *in, int err, const char *why)
{
	return op_diag_set(in->diag, err, "%s: %s", in->path, why);
}

/* ---- numbers ------------------------------------------------------------- */

static uint64_t read_classic_number(const uint8_t *bytes, uint32_t size,
				    bool little_endian)
{
	uint64_t value = 0;

	for (uint32_t i = 0; i < size; i++)
		value = value << 8 | bytes[little_endian ? size - 1 - i : i];
	return value;
}

static uint32_t header_u32(const struct input *in,
			   const struct op_classic_abi *abi, uint32_t at)
{
	if (at == OP_CLASSIC_ABSENT)
		return 0;
	return (uint32_t)read_classic_number(in->bytes + at, 4,
					     abi->little_endian);
}

static uint64_t header_u64(const struct input *in,
			   const struct op_classic_abi *abi, uint32_t at)
{
	if (at == OP_CLASSIC_ABSENT)
		return 0;
	return read_classic_number(in->bytes + at, 8, abi->little_endian);
}

/* From MHz as a double; 0 for what no CPU has. */
static uint32_t khz_from_mhz(uint64_t bits)
{
	double mhz;

	_Static_assert(sizeof(mhz) == sizeof(bits), "a double is 64 bits");
	memcpy(&mhz, &bits, sizeof(mhz));
	if (!(mhz > 0) || mhz > 4000000)
		return 0;
	return (uint32_t)(mhz * 1000 + 0.5);
}

/* ---- which layout -------------------------------------------------------- */

static bool is_version(uint32_t version)
{
	return version == OP_CLASSIC_VERSION_0 ||
	       version == OP_CLASSIC_VERSION_1;
}

/* How long a file of @nr nodes is; cannot overflow: see op_classic_abi.h. */
static uint64_t classic_file_len(const struct op_classic_abi *abi, uint64_t nr)
{
	return (uint64_t)abi->header_size + abi->descr_size +
	       nr * ((uint64_t)abi->node_size + abi->index_size);
}

/* Nodes that the description says there are. */
static uint64_t nodes_of(const struct input *in,
			 const struct op_classic_abi *abi, uint32_t at)
{
	return read_classic_number(in->bytes + abi->header_size + at,
				   abi->node_nr_size, abi->little_endian);
}

static bool has_layout(const struct input *in, const struct op_classic_abi *abi)
{
	uint64_t nr;

	if (in->len < classic_file_len(abi, 0))
		return false;
	nr = nodes_of(in, abi, abi->descr_nr);
	return nr && nr <= FILE_MAX && in->len == classic_file_len(abi, nr);
}

static int refuse_version(const struct input *in, uint32_t version)
{
	return op_diag_set(
		in->diag, -EPROTO,
		"%s: version 0x%x; only 0x12 (OProfile 0.9) and 0x13 (1.x) can be read",
		in->path, version);
}

static int find_layout(const struct input *in, struct op_classic_abi *abi)
{
	bool little_endian = in->bytes[4] != 0;
	uint32_t version =
		(uint32_t)read_classic_number(in->bytes + 4, 4, little_endian);

	if (!is_version(version))
		return refuse_version(in, version);
	for (unsigned int i = 0;
	     op_classic_abi_known(abi, i, version, little_endian); i++)
		if (has_layout(in, abi))
			return 0;
	return refuse_classic(
		in, -EBADMSG,
		"truncated, damaged, or from a machine of unknown ABI; give its abi file");
}

/* ---- checks -------------------------------------------------------------- */

static int check_magic(const struct input *in)
{
	if (!in->len)
		return refuse_classic(in, -EBADMSG, "empty");
	if (in->len >= 8 && !memcmp(in->bytes, magic, 4))
		return 0;
	if (in->len >= 4 && !memcmp(in->bytes, our_magic, 4))
		return refuse_classic(
			in, -EPROTO,
			"a sample file of this OProfile; it needs no import");
	return refuse_classic(in, -EBADMSG,
			      "not a sample file of an earlier OProfile");
}

static int check_classic_version(const struct input *in,
				 const struct op_classic_abi *abi)
{
	uint32_t version = header_u32(in, abi, abi->version);

	if (is_version(version))
		return 0;
	if (is_version(__builtin_bswap32(version)))
		return refuse_classic(in, -EPROTO,
				      "the byte order is not that of the ABI");
	return refuse_version(in, version);
}

/* All numbers that lead from one node to another. */
static int check_links(const struct input *in, const struct op_classic_abi *abi,
		       uint64_t nr, uint64_t used)
{
	const uint8_t *at = in->bytes + abi->header_size + abi->descr_size;
	const uint8_t *index = at + nr * abi->node_size;

	for (uint64_t i = 1; i < used; i++)
		if (read_classic_number(
			    at + i * abi->node_size + abi->node_next,
			    abi->index_size, abi->little_endian) >= used)
			return refuse_classic(
				in, -EBADMSG,
				"damaged: a chain leads out of the file");
	for (uint64_t i = 0; i < nr; i++)
		if (read_classic_number(index + i * abi->index_size,
					abi->index_size,
					abi->little_endian) >= used)
			return refuse_classic(
				in, -EBADMSG,
				"damaged: the index leads nowhere");
	return 0;
}

static int check_nodes(const struct input *in, const struct op_classic_abi *abi)
{
	uint64_t nr, used;

	if (!has_layout(in, abi))
		return refuse_classic(
			in, -EBADMSG,
			"truncated, damaged, or not of the given ABI");
	nr = nodes_of(in, abi, abi->descr_nr);
	used = nodes_of(in, abi, abi->descr_used);
	if (nr & (nr - 1))
		return refuse_classic(
			in, -EBADMSG,
			"damaged: it cannot have that many nodes");
	if (!used || used > nr)
		return refuse_classic(
			in, -EBADMSG,
			"damaged: more nodes are in use than it has");
	return check_links(in, abi, nr, used);
}

/* ---- reading ------------------------------------------------------------- */

static void parse_classic_header(struct op_classic_header *header,
				 const struct input *in,
				 const struct op_classic_abi *abi)
{
	*header = (struct op_classic_header){
		.version = header_u32(in, abi, abi->version),
		.cpu_type = header_u32(in, abi, abi->cpu_type),
		.event = header_u32(in, abi, abi->event),
		.unit_mask = header_u32(in, abi, abi->unit_mask),
		.count = header_u32(in, abi, abi->count),
		.cpu_khz = khz_from_mhz(header_u64(in, abi, abi->cpu_speed)),
		.is_kernel = header_u32(in, abi, abi->is_kernel) != 0,
		.mtime = header_u64(in, abi, abi->mtime),
		.anon_start = header_u64(in, abi, abi->anon_start),
		.cg_to_is_kernel =
			header_u32(in, abi, abi->cg_to_is_kernel) != 0,
		.cg_to_anon_start = header_u64(in, abi, abi->cg_to_anon_start),
	};
}

static int parse_classic(struct op_classic *classic, const struct input *in,
			 const struct op_classic_abi *abi)
{
	int err = check_magic(in);

	if (!err && abi)
		classic->abi = *abi;
	else if (!err)
		err = find_layout(in, &classic->abi);
	if (err)
		return err;
	abi = &classic->abi;
	if (in->len < classic_file_len(abi, 0) ||
	    memcmp(in->bytes + abi->magic, magic, 4))
		return refuse_classic(in, -EBADMSG,
				      "truncated, or not of the given ABI");
	err = check_classic_version(in, abi);
	if (!err)
		err = check_nodes(in, abi);
	if (err)
		return err;
	parse_classic_header(&classic->header, in, abi);
	classic->nodes = in->bytes + abi->header_size + abi->descr_size;
	classic->nr_nodes = nodes_of(in, abi, abi->descr_used) - 1;
	return 0;
}

int op_classic_parse(struct op_classic *classic, const uint8_t *bytes,
		     size_t len, const struct op_classic_abi *abi,
		     const char *path, struct op_diag *diag)
{
	struct input in = { bytes, len, path, diag };

	memset(classic, 0, sizeof(*classic));
	return parse_classic(classic, &in, abi);
}

int op_classic_open(struct op_classic *classic, const char *path,
		    const struct op_classic_abi *abi, struct op_diag *diag)
{
	char *bytes = NULL;
	size_t len = 0;
	int err = op_file_read(path, FILE_MAX, &bytes, &len, diag);

	if (err == -ENOENT)
		return op_diag_set(diag, err, "%s: no such file", path);
	if (!err)
		err = op_classic_parse(classic, (uint8_t *)bytes, len, abi,
				       path, diag);
	if (err)
		free(bytes);
	else
		classic->bytes = bytes;
	return err;
}

void op_classic_close(struct op_classic *classic)
{
	free(classic->bytes);
}

bool op_classic_next(const struct op_classic *classic, uint64_t *at,
		     uint64_t *key, uint64_t *count)
{
	const struct op_classic_abi *abi = &classic->abi;

	while (*at < classic->nr_nodes) {
		const uint8_t *node = classic->nodes + ++*at * abi->node_size;

		*key = read_classic_number(node + abi->node_key, abi->key_size,
					   abi->little_endian);
		*count = read_classic_number(node + abi->node_value,
					     abi->value_size,
					     abi->little_endian);
		if (*count)
			return true;
	}
	return false;
}
