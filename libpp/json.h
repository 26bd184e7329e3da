/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBPP_JSON_H
#define LIBPP_JSON_H

/*
 * Writes JSON (RFC 8259): sees to commas, quotes and lines. A key is NULL for
 * the elements of an array. Errors are left to the stream's flag.
 */

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct pp_json {
	FILE *out;
	unsigned int depth;
	bool begun; /* the present object or array has a member */
};

/* @bracket is '{' or '['. */
void pp_json_open(struct pp_json *json, const char *key, char bracket);
void pp_json_close(struct pp_json *json, char bracket);

/* Bytes that are not UTF-8 are written as U+FFFD; NULL as null. */
void pp_json_text(struct pp_json *json, const char *key, const char *text);
void pp_json_u64(struct pp_json *json, const char *key, uint64_t value);
void pp_json_i64(struct pp_json *json, const char *key, int64_t value);
void pp_json_bool(struct pp_json *json, const char *key, bool value);
/* What is not finite is null. */
void pp_json_double(struct pp_json *json, const char *key, double value);

#endif /* LIBPP_JSON_H */
