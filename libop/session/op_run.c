// SPDX-License-Identifier: GPL-2.0-or-later
/* The run in the ledger: texts and numbers, each of which may be unknown. */

#include "libop/session/op_run.h"

#include <ctype.h>
#include <errno.h>
#include <pwd.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "libop/base/op_terminal_safe.h"
#include "libop/files/op_config.h"

#define RUN "run."
#define CUT "..."

static const struct {
	const char *key;
	size_t at, size; /* in struct op_run */
} run_texts[] = {
#define X(name, size) { RUN #name, offsetof(struct op_run, name), size },
	OP_RUN_TEXTS(X)
#undef X
};

static const struct {
	const char *key;
	size_t at;
} run_numbers[] = {
#define X(name) { RUN #name, offsetof(struct op_run, name) },
	OP_RUN_NUMBERS(X)
#undef X
};

#define NR_RUN_TEXTS (sizeof(run_texts) / sizeof(run_texts[0]))
#define NR_RUN_NUMBERS (sizeof(run_numbers) / sizeof(run_numbers[0]))

static char *run_text(struct op_run *run, size_t i)
{
	return (char *)run + run_texts[i].at;
}

static uint64_t *run_number(struct op_run *run, size_t i)
{
	return (uint64_t *)((char *)run + run_numbers[i].at);
}

/* ---- texts --------------------------------------------------------------- */

void op_run_set_text(char *text, size_t size, const char *value)
{
	size_t len;

	value += strspn(value, " ");
	len = strlen(value);
	if (len < size) {
		memcpy(text, value, len + 1);
	} else {
		/* No byte of a character stands without its others. */
		for (len = size - sizeof(CUT);
		     len && ((unsigned char)value[len] & 0xc0) == 0x80;)
			len--;
		memcpy(text, value, len);
		strcpy(text + len, CUT);
		len += strlen(CUT);
	}
	while (len && text[len - 1] == ' ')
		text[--len] = '\0';
	op_terminal_safe(text);
}

void op_run_set_here(struct op_run *run, uint64_t start)
{
	struct passwd *user = getpwuid(getuid());
	struct utsname name;
	char number[24];

	snprintf(number, sizeof(number), "%ld", (long)getuid());
	op_run_set_text(run->user, sizeof(run->user),
			user ? user->pw_name : number);
	if (!uname(&name)) {
		op_run_set_text(run->host, sizeof(run->host), name.nodename);
		op_run_set_text(run->kernel, sizeof(run->kernel), name.release);
	}
	run->start = start;
}

/* Bytes beyond ASCII are letters of a name, and need no quotes. */
static bool needs_quotes(const char *word)
{
	if (!*word)
		return true;
	for (; *word; word++)
		if (!isalnum((unsigned char)*word) &&
		    (unsigned char)*word < 0x80 && !strchr("%+,-./:=@_", *word))
			return true;
	return false;
}

static void print_word(FILE *out, const char *word)
{
	if (!needs_quotes(word)) {
		fputs(word, out);
		return;
	}
	putc('\'', out);
	for (; *word; word++)
		if (*word == '\'')
			fputs("'\\''", out);
		else
			putc(*word, out);
	putc('\'', out);
}

void op_run_set_words(char *text, size_t size, char *const *argv)
{
	char *words = NULL;
	size_t len;
	FILE *out = open_memstream(&words, &len);

	*text = '\0';
	if (!out)
		return;
	for (char *const *word = argv; *word; word++) {
		if (word != argv)
			putc(' ', out);
		print_word(out, *word);
	}
	if (!fclose(out))
		op_run_set_text(text, size, words);
	free(words);
}

/* ---- two runs ------------------------------------------------------------ */

void op_run_keep_common(struct op_run *run, const struct op_run *other)
{
	struct op_run more = *other;
	uint64_t start = run->start;

	if (!start || (more.start && more.start < start))
		start = more.start;
	for (size_t i = 0; i < NR_RUN_TEXTS; i++)
		if (strcmp(run_text(run, i), run_text(&more, i)))
			*run_text(run, i) = '\0';
	for (size_t i = 0; i < NR_RUN_NUMBERS; i++)
		if (*run_number(run, i) != *run_number(&more, i))
			*run_number(run, i) = 0;
	run->start = start;
}

/* ---- the file ------------------------------------------------------------ */

/* Whether op_run_set_text() would leave @value as it is. */
static bool is_run_text(const char *value, size_t size)
{
	char safe[sizeof(struct op_run)];

	if (strlen(value) >= size)
		return false;
	op_run_set_text(safe, size, value);
	return !strcmp(safe, value);
}

int op_run_read(struct op_run *run, const struct op_config *config,
		const char *path, struct op_diag *diag)
{
	int err = 0;

	for (size_t i = 0; i < NR_RUN_TEXTS; i++) {
		const char *value = op_config_find(config, run_texts[i].key);

		if (!value)
			continue;
		if (!is_run_text(value, run_texts[i].size))
			return op_diag_set(
				diag, -EINVAL,
				"%s: %s: not a text of at most %zu bytes without control characters",
				path, run_texts[i].key, run_texts[i].size - 1);
		strcpy(run_text(run, i), value);
	}
	for (size_t i = 0; !err && i < NR_RUN_NUMBERS; i++) {
		err = op_config_get_u64(config, run_numbers[i].key,
					run_number(run, i), diag);
		if (err == -ENOENT)
			err = 0;
	}
	return err;
}

int op_run_fill_config(const struct op_run *run, struct op_config *config)
{
	struct op_run copy = *run;
	int err = 0;

	for (size_t i = 0; !err && i < NR_RUN_TEXTS; i++)
		if (*run_text(&copy, i))
			err = op_config_set(config, run_texts[i].key,
					    run_text(&copy, i));
	for (size_t i = 0; !err && i < NR_RUN_NUMBERS; i++)
		if (*run_number(&copy, i))
			err = op_config_set_u64(config, run_numbers[i].key,
						*run_number(&copy, i));
	return err;
}
