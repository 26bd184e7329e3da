/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBOP_FILES_OP_CONFIG_H
#define LIBOP_FILES_OP_CONFIG_H

/*
 * Files of "key = value" lines: opcontrol's saved settings, the ledger, the
 * files of events/. '#' starts a comment line, blank lines are skipped, white
 * space around key and value is dropped, nothing is ever executed or
 * expanded. A key may stand in several lines; their order is kept.
 */

#include <stdint.h>
#include <stdio.h>

#include "libop/base/op_diag.h"

struct op_config;

/* An empty configuration; NULL when memory is short. */
struct op_config *op_config_new(void);
void op_config_free(struct op_config *config);

/*
 * Read @path into a new *@out, set on success only. The first '=' of a line
 * ends its key; the value may hold more of them, or be empty. Returns 0 or
 * -errno; -EINVAL with "PATH:LINE: reason" in @diag for a line that is no
 * "key = value", -EFBIG above 16 MiB. Only -ENOENT puts no reason in @diag:
 * the caller knows whether the file may be absent.
 */
int op_config_read(struct op_config **out, const char *path,
		   struct op_diag *diag);

/* Print all pairs, each a line as op_config_read() reads it. */
void op_config_print(const struct op_config *config, FILE *out);

/* Write all pairs to @path by way of a temporary file and rename(2), mode
 * @mode. Returns 0 or -errno with the reason in @diag. */
int op_config_write(const struct op_config *config, const char *path,
		    unsigned int mode, struct op_diag *diag);

/* The last value of @key, NULL if absent; valid until the next change. */
const char *op_config_find(const struct op_config *config, const char *key);

/* The pair number @i from 0 in file order; -1 beyond the last, else 0. */
int op_config_at(const struct op_config *config, unsigned int i,
		 const char **key, const char **value);

/*
 * Replace every value of @key by one. Returns 0, -ENOMEM, or -EINVAL when the
 * pair could not be read back: a key that is empty, starts with '#' or holds
 * a '=', or white space at an end or a newline in either.
 */
int op_config_set(struct op_config *config, const char *key, const char *value);
int op_config_set_u64(struct op_config *config, const char *key,
		      uint64_t value);

/* Add one more pair for @key. Errors as op_config_set(). */
int op_config_add(struct op_config *config, const char *key, const char *value);

/* Drop all pairs of @key. */
void op_config_unset(struct op_config *config, const char *key);

/*
 * *@out = the value of @key as a whole number, as op_parse_u64() reads it.
 * *@out is untouched on failure: -ENOENT when absent (no reason in @diag),
 * -EINVAL or -ERANGE with a reason.
 */
int op_config_get_u64(const struct op_config *config, const char *key,
		      uint64_t *out, struct op_diag *diag);

/*
 * Parse all of @text as an unsigned number: decimal, 0x hex or 0 octal, no
 * sign, no white space. Returns 0, -EINVAL or -ERANGE; *@out is set on
 * success only.
 */
int op_parse_u64(const char *text, uint64_t *out);

/* The value of a hexadecimal digit of either case; -1 for any other byte. */
int op_hex_digit(char c);

#endif /* LIBOP_FILES_OP_CONFIG_H */
