/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef PP_OPPUSH_OPPUSH_TABLES_H
#define PP_OPPUSH_OPPUSH_TABLES_H

/*
 * Parts of the stacks in files of pprof, and reading a file into struct
 * push_sums, for the oppush_*.c files that know its members. Parts refer to
 * each other by number, from 0.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pp/oppush/oppush_sums.h"

#define PUSH_NONE UINT32_MAX

struct push_function {
	const char *name, *system_name, *file;
	int64_t line;
};

struct push_mapping {
	const char *file, *build_id;
	uint64_t start, limit, offset;
	bool has_functions, has_filenames, has_line_numbers, has_inline_frames;
};

struct push_line {
	uint32_t function;
	int64_t line;
};

struct push_location {
	uint32_t mapping; /* or PUSH_NONE */
	uint64_t address;
	bool is_folded;
	const struct push_line *lines;
	size_t nr_lines;
};

struct push_label {
	const char *key, *text, *unit;
	int64_t number;
};

struct push_label_set {
	const struct push_label *labels;
	size_t nr;
};

struct push_stack {
	uint32_t label_set;
	const uint32_t *locations; /* innermost first */
	size_t depth;
};

/* A file that is being read: the numbers of its things by their ids. */
struct push_ids {
	struct push_id {
		uint64_t id;
		uint32_t number;
	} * list;
	size_t nr;
};

struct push_reader {
	struct push_sums *sums;
	const Pprof__Profile *p;
	struct push_ids functions, mappings, locations;
	size_t type_of[PUSH_MAX_TYPES];
	bool is_again[PUSH_MAX_TYPES]; /* called like another one: left out */
	int64_t **values; /* where they are added up */
};

/* Find the types of @r's file among those of the sums, where they are added;
 * take its period; then, when the types of all files are known, all else.
 * Return 0, -EBADMSG or -ENOMEM. */
int push_take_types(struct push_reader *r);
int push_take_period(struct push_reader *r);
int push_take_file(struct push_reader *r);

#endif /* PP_OPPUSH_OPPUSH_TABLES_H */
