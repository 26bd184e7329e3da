/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBOP_BASE_OP_JSON_H
#define LIBOP_BASE_OP_JSON_H

/*
 * Writes JSON (RFC 8259): sees to commas, quotes and lines. A key is NULL for
 * the elements of an array. Errors are left to the stream's flag.
 */

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct op_json {
	FILE *out;
	unsigned int depth;
	bool begun; /* the present object or array has a member */
};

/* @bracket is '{' or '['. */
void op_json_open(struct op_json *json, const char *key, char bracket);
void op_json_close(struct op_json *json, char bracket);

/* Bytes that are not UTF-8 are written as U+FFFD; NULL as null. */
void op_json_text(struct op_json *json, const char *key, const char *text);
void op_json_u64(struct op_json *json, const char *key, uint64_t value);
void op_json_i64(struct op_json *json, const char *key, int64_t value);
/* A number that is text already. */
void op_json_digits(struct op_json *json, const char *key, const char *digits);
void op_json_bool(struct op_json *json, const char *key, bool value);
/* A value that is not finite is written as null. */
void op_json_double(struct op_json *json, const char *key, double value);

#endif /* LIBOP_BASE_OP_JSON_H */
