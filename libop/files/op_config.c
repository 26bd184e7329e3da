// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * "key = value" files. The pairs are an array in file order; a key with its
 * value is one allocation. Files are a page or two long, so nothing is
 * indexed.
 *
 * A pair is written only if reading the line gives the same pair back. A file
 * is replaced by rename(2), so a reader never sees half of it. Lines are
 * numbered as they are read, so that a value that is refused later can be
 * found in the file.
 */

#include "libop/files/op_config.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libop/base/op_array.h"
#include "libop/files/op_file.h"

#define CONFIG_MAX ((size_t)16 << 20) /* bytes of a file */

struct pair {
	char *key; /* owns the memory of both */
	char *value;
	unsigned int line; /* in the file it was read from, else 0 */
};

struct op_config {
	struct pair *pairs;
	unsigned int nr;
	char *path; /* where it was read from, for reasons; or NULL */
};

struct op_config *op_config_new(void)
{
	return calloc(1, sizeof(struct op_config));
}

void op_config_free(struct op_config *config)
{
	if (!config)
		return;
	for (unsigned int i = 0; i < config->nr; i++)
		free(config->pairs[i].key);
	free(config->pairs);
	free(config->path);
	free(config);
}

static bool is_config_blank(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

static void trim_blanks(const char **text, size_t *len)
{
	while (*len && is_config_blank((*text)[*len - 1]))
		(*len)--;
	while (*len && is_config_blank(**text)) {
		(*text)++;
		(*len)--;
	}
}

static int fill_pair(struct pair *pair, const char *key, size_t key_len,
		     const char *value, size_t value_len)
{
	pair->key = malloc(key_len + value_len + 2);
	if (!pair->key)
		return -ENOMEM;
	memcpy(pair->key, key, key_len);
	pair->key[key_len] = '\0';
	pair->value = pair->key + key_len + 1;
	memcpy(pair->value, value, value_len);
	pair->value[value_len] = '\0';
	pair->line = 0;
	return 0;
}

static int append_pair(struct op_config *config, const char *key,
		       size_t key_len, const char *value, size_t value_len)
{
	int err = op_array_reserve(&config->pairs, config->nr, 1);

	if (!err)
		err = fill_pair(&config->pairs[config->nr], key, key_len, value,
				value_len);
	if (!err)
		config->nr++;
	return err;
}

static int read_config_line(struct op_config *config, const char *line,
			    size_t len, unsigned int number,
			    struct op_diag *diag)
{
	const char *equals, *key = line, *value;
	size_t key_len, value_len;

	trim_blanks(&key, &len);
	if (!len || *key == '#')
		return 0;
	equals = memchr(key, '=', len);
	if (!equals)
		return op_diag_set(diag, -EINVAL,
				   "%s:%u: no \"key = value\": %.*s",
				   config->path, number,
				   len < 64 ? (int)len : 64, key);
	value = equals + 1;
	value_len = len - (size_t)(value - key);
	key_len = (size_t)(equals - key);
	trim_blanks(&key, &key_len);
	trim_blanks(&value, &value_len);
	if (!key_len)
		return op_diag_set(diag, -EINVAL,
				   "%s:%u: no key before the '='", config->path,
				   number);
	if (memchr(key, '\0', key_len) || memchr(value, '\0', value_len))
		return op_diag_set(diag, -EINVAL, "%s:%u: a zero byte",
				   config->path, number);
	if (append_pair(config, key, key_len, value, value_len))
		return op_diag_set(diag, -ENOMEM, "%s: out of memory",
				   config->path);
	config->pairs[config->nr - 1].line = number;
	return 0;
}

static int read_config_lines(struct op_config *config, const char *text,
			     size_t len, struct op_diag *diag)
{
	const char *end = text + len;
	unsigned int number = 0;

	while (text < end) {
		const char *newline = memchr(text, '\n', (size_t)(end - text));
		const char *stop = newline ? newline : end;
		int err = read_config_line(config, text, (size_t)(stop - text),
					   ++number, diag);

		if (err)
			return err;
		text = stop + 1;
	}
	return 0;
}

int op_config_read(struct op_config **out, const char *path,
		   struct op_diag *diag)
{
	struct op_config *config = op_config_new();
	char *text = NULL;
	size_t len = 0;
	int err = -ENOMEM;

	if (config)
		config->path = strdup(path);
	if (!config || !config->path)
		op_diag_set(diag, err, "%s: out of memory", path);
	else
		err = op_file_read(path, CONFIG_MAX, &text, &len, diag);
	if (!err)
		err = read_config_lines(config, text, len, diag);
	free(text);
	if (err)
		op_config_free(config);
	else
		*out = config;
	return err;
}

void op_config_print(const struct op_config *config, FILE *out)
{
	for (unsigned int i = 0; i < config->nr; i++)
		fprintf(out, "%s = %s\n", config->pairs[i].key,
			config->pairs[i].value);
}

int op_config_write(const struct op_config *config, const char *path,
		    unsigned int mode, struct op_diag *diag)
{
	struct op_replace replace;
	int err = op_replace_open(&replace, path, mode, diag);

	if (err)
		return err;
	op_config_print(config, replace.file);
	return op_replace_commit(&replace, diag);
}

static const struct pair *last_pair(const struct op_config *config,
				    const char *key)
{
	for (unsigned int i = config->nr; i-- > 0;) {
		if (!strcmp(config->pairs[i].key, key))
			return &config->pairs[i];
	}
	return NULL;
}

const char *op_config_find(const struct op_config *config, const char *key)
{
	const struct pair *pair = last_pair(config, key);

	return pair ? pair->value : NULL;
}

int op_config_at(const struct op_config *config, unsigned int i,
		 const char **key, const char **value)
{
	if (i >= config->nr)
		return -1;
	*key = config->pairs[i].key;
	*value = config->pairs[i].value;
	return 0;
}

/* Whether reading a line that holds @text gives all of it back. */
static bool reads_back_whole(const char *text)
{
	size_t len = strlen(text);

	if (strchr(text, '\n'))
		return false;
	return !len ||
	       (!is_config_blank(text[0]) && !is_config_blank(text[len - 1]));
}

int op_config_add(struct op_config *config, const char *key, const char *value)
{
	if (!*key || *key == '#' || strchr(key, '='))
		return -EINVAL;
	if (!reads_back_whole(key) || !reads_back_whole(value))
		return -EINVAL;
	return append_pair(config, key, strlen(key), value, strlen(value));
}

/* Drop the pairs of @key from number @from on. The text of @key may be part
 * of one of them. */
static void drop_pairs(struct op_config *config, const char *key,
		       unsigned int from)
{
	unsigned int kept = from;
	char *copy = NULL;

	for (unsigned int i = from; i < config->nr; i++) {
		struct pair *pair = &config->pairs[i];

		if (strcmp(pair->key, key)) {
			config->pairs[kept++] = *pair;
		} else if (pair->key == key) {
			copy = pair->key; /* still needed to compare with */
		} else {
			free(pair->key);
		}
	}
	config->nr = kept;
	free(copy);
}

int op_config_set(struct op_config *config, const char *key, const char *value)
{
	int err = op_config_add(config, key, value);
	struct pair added;
	unsigned int i = 0;

	if (err)
		return err;
	added = config->pairs[--config->nr];
	while (i < config->nr && strcmp(config->pairs[i].key, added.key))
		i++;
	drop_pairs(config, added.key, i);
	/* The new value takes the place of the first old one. */
	memmove(&config->pairs[i + 1], &config->pairs[i],
		(config->nr - i) * sizeof(added));
	config->pairs[i] = added;
	config->nr++;
	return 0;
}

int op_config_set_u64(struct op_config *config, const char *key, uint64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRIu64, value);
	return op_config_set(config, key, text);
}

void op_config_unset(struct op_config *config, const char *key)
{
	drop_pairs(config, key, 0);
}

static int explain_number(const struct op_config *config,
			  const struct pair *pair, int err,
			  struct op_diag *diag)
{
	const char *why =
		err == -ERANGE ? "too large a number" : "not a whole number";

	if (!pair->line)
		return op_diag_set(diag, err, "%s: \"%s\" is %s", pair->key,
				   pair->value, why);
	return op_diag_set(diag, err, "%s:%u: %s: \"%s\" is %s", config->path,
			   pair->line, pair->key, pair->value, why);
}

int op_config_get_u64(const struct op_config *config, const char *key,
		      uint64_t *out, struct op_diag *diag)
{
	const struct pair *pair = last_pair(config, key);
	int err;

	if (!pair)
		return -ENOENT;
	err = op_parse_u64(pair->value, out);
	return err ? explain_number(config, pair, err, diag) : 0;
}

int op_hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

int op_parse_u64(const char *text, uint64_t *out)
{
	unsigned int base = 10;
	uint64_t value = 0;
	int err = 0;

	if (text[0] == '0' && (text[1] == 'x' || text[1] == 'X')) {
		base = 16;
		text += 2;
	} else if (text[0] == '0') {
		base = 8;
	}
	if (!*text)
		return -EINVAL;
	for (; *text; text++) {
		unsigned int digit = (unsigned int)op_hex_digit(*text);

		if (digit >= base)
			return -EINVAL;
		if (__builtin_mul_overflow(value, base, &value) ||
		    __builtin_add_overflow(value, digit, &value))
			err = -ERANGE; /* unless no number follows */
	}
	if (!err)
		*out = value;
	return err;
}
