/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TESTS_HELPER_CLASSIC_FILE_H
#define TESTS_HELPER_CLASSIC_FILE_H

/*
 * Writes classic sample files and abi files, for tests of the reader. The
 * offsets are written down here once more: a reader and a writer that share
 * them would agree about any mistake.
 */

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* How 64-bit numbers are aligned makes the difference between machines. */
struct classic_layout {
	uint32_t version, align;
	uint32_t speed, mtime, cg_kernel, anon, cg_anon, header;
};

static const struct classic_layout classic_layouts[] = {
	{ 0x12, 8, 32, 40, 48, 64, 72, 88 },
	{ 0x12, 4, 28, 36, 44, 60, 68, 80 },
	{ 0x13, 8, 32, 40, 48, 56, 64, 72 },
	{ 0x13, 4, 28, 36, 44, 48, 56, 64 },
};

#define NR_CLASSIC_LAYOUTS                                                     \
	(sizeof(classic_layouts) / sizeof(classic_layouts[0]))
#define CLASSIC_DESCR 32
#define CLASSIC_NODE 16

struct classic_file {
	const struct classic_layout *layout;
	bool big_endian;
	uint32_t cpu_type, event, unit_mask, count, is_kernel, cg_to_is_kernel;
	double mhz;
	uint64_t mtime, anon_start, cg_to_anon_start;
};

struct classic_pair {
	uint64_t key;
	uint32_t count;
};

static inline void classic_put(const struct classic_file *file, uint8_t *at,
			       unsigned int len, uint64_t value)
{
	for (unsigned int i = 0; i < len; i++)
		at[file->big_endian ? len - 1 - i : i] =
			(uint8_t)(value >> 8 * i);
}

static inline void classic_put_header(const struct classic_file *file,
				      uint8_t *at)
{
	const struct classic_layout *l = file->layout;
	const uint32_t words[] = { l->version,	file->cpu_type,
				   file->event, file->unit_mask,
				   file->count, file->is_kernel };
	uint64_t speed;

	memcpy(at, "DAE\n", 4);
	for (unsigned int i = 0; i < 6; i++)
		classic_put(file, at + 4 + 4 * i, 4, words[i]);
	memcpy(&speed, &file->mhz, 8);
	classic_put(file, at + l->speed, 8, speed);
	classic_put(file, at + l->mtime, 8, file->mtime);
	classic_put(file, at + l->cg_kernel, 4, file->cg_to_is_kernel);
	classic_put(file, at + l->anon, 8, file->anon_start);
	classic_put(file, at + l->cg_anon, 8, file->cg_to_anon_start);
}

/* Nodes of a file for @nr pairs. */
static inline uint32_t classic_nodes(size_t nr)
{
	uint32_t nodes = 128;

	while (nodes <= nr)
		nodes *= 2;
	return nodes;
}

/* Bytes of a file for @nr pairs. */
static inline size_t classic_len(const struct classic_file *file, size_t nr)
{
	return file->layout->header + CLASSIC_DESCR +
	       classic_nodes(nr) * (size_t)(CLASSIC_NODE + 4);
}

/* Write the file for @nr @pairs to @buf of classic_len() bytes. */
static inline void classic_build(const struct classic_file *file, uint8_t *buf,
				 const struct classic_pair *pairs, size_t nr)
{
	uint32_t nodes = classic_nodes(nr);
	uint8_t *descr = buf + file->layout->header;
	uint8_t *node = descr + CLASSIC_DESCR;
	uint8_t *hash = node + nodes * (size_t)CLASSIC_NODE;

	/* What is not in use holds anything, as in files that have grown. */
	memset(buf, 0, descr + CLASSIC_DESCR - buf);
	memset(node, 0xa5, hash - node);
	memset(hash, 0, nodes * (size_t)4);
	classic_put_header(file, buf);
	classic_put(file, descr, 4, nodes);
	classic_put(file, descr + 4, 4, nr + 1);
	for (uint32_t i = 1; i <= nr; i++) {
		uint64_t key = pairs[i - 1].key;
		uint32_t mix = (uint32_t)(key >> 32) ^ (uint32_t)key;
		uint8_t *bucket = hash + 4 * ((mix ^ mix >> 8) & (nodes - 1));

		node += CLASSIC_NODE;
		classic_put(file, node, 8, key);
		classic_put(file, node + 8, 4, pairs[i - 1].count);
		/* The chain: the same bytes in either order. */
		memcpy(node + 12, bucket, 4);
		classic_put(file, bucket, 4, i);
	}
}

/* Write the text of the abi file for @file. */
static inline void classic_write_abi(const struct classic_file *file, FILE *out)
{
	const struct classic_layout *l = file->layout;

	fprintf(out,
		"sizeof_double 8\nsizeof_u64 8\nsizeof_u8 1\nsizeof_u32 4\n"
		"sizeof_int 4\nsizeof_unsigned_int 4\nsizeof_odb_key_t 8\n"
		"sizeof_odb_index_t 4\nsizeof_odb_value_t 4\n"
		"sizeof_odb_node_nr_t 4\nsizeof_odb_descr_t 32\n"
		"sizeof_odb_node_t 16\nsizeof_struct_opd_header %u\n"
		"offsetof_node_key 0\noffsetof_node_value 8\n"
		"offsetof_node_next 12\noffsetof_descr_size 0\n"
		"offsetof_descr_current_size 4\noffsetof_header_magic 0\n"
		"offsetof_header_version 4\noffsetof_header_cpu_type 8\n"
		"offsetof_header_ctr_event 12\noffsetof_header_ctr_um 16\n"
		"offsetof_header_ctr_count 20\noffsetof_header_is_kernel 24\n"
		"offsetof_header_cpu_speed %u\noffsetof_header_mtime %u\n"
		"offsetof_header_cg_to_is_kernel %u\n"
		"offsetof_header_anon_start %u\n"
		"offsetof_header_cg_to_anon_start %u\nlittle_endian %d\n",
		l->header, l->speed, l->mtime, l->cg_kernel, l->anon,
		l->cg_anon, !file->big_endian);
}

#endif /* TESTS_HELPER_CLASSIC_FILE_H */
