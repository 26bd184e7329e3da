// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Spans are told by the names of their folders alone, so that a list of them
 * opens no file. Those that another one contains are found after sorting: a
 * span that begins earlier, or at the same time and ends later, comes first.
 */

#include "libop/session/op_span.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libop/base/op_array.h"

static const char *const span_prefixes[] = {
	[OP_SPAN_CLOSED] = ".span-",
	[OP_SPAN_CLOSING] = ".closing-",
	[OP_SPAN_MAKING] = ".making-",
	[OP_SPAN_DROPPED] = ".dropped-",
};

#define NR_STATES (sizeof(span_prefixes) / sizeof(span_prefixes[0]))

/* In nanoseconds such a time is an int64_t, too. */
#define SECONDS_MAX (INT64_MAX / 1000000000)

/* Decimal, without a sign or leading zeroes, up to @end. */
static const char *parse_seconds(const char *text, char end, uint64_t *out)
{
	char *behind;

	if (*text < '0' || *text > '9' || (*text == '0' && text[1] != end))
		return NULL;
	errno = 0;
	*out = strtoull(text, &behind, 10);
	return errno || *behind != end || *out > SECONDS_MAX ? NULL : behind;
}

bool op_span_parse(const char *name, struct op_span *out)
{
	for (size_t i = 0; i < NR_STATES; i++) {
		size_t len = strlen(span_prefixes[i]);
		struct op_span span = { .state = i };
		const char *dash;

		if (strncmp(name, span_prefixes[i], len) != 0)
			continue;
		dash = parse_seconds(name + len, '-', &span.begin);
		if (!dash || !parse_seconds(dash + 1, '\0', &span.end) ||
		    span.begin >= span.end)
			return false;
		*out = span;
		return true;
	}
	return false;
}

void op_span_name(const struct op_span *span, char name[OP_SPAN_NAME_MAX])
{
	snprintf(name, OP_SPAN_NAME_MAX, "%s%" PRIu64 "-%" PRIu64,
		 span_prefixes[span->state], span->begin, span->end);
}

bool op_span_counts(const struct op_span *span)
{
	return (span->state == OP_SPAN_CLOSED ||
		span->state == OP_SPAN_CLOSING) &&
	       !span->is_replaced;
}

/* ---- lists ------------------------------------------------------------------
 */

/* A span that is being made comes after all others; a dropped one comes before
 * another span of the same time. */
static int compare_spans(const void *a, const void *b)
{
	const struct op_span *x = a, *y = b;
	bool x_last = x->state == OP_SPAN_MAKING;
	bool y_last = y->state == OP_SPAN_MAKING;

	if (x_last != y_last)
		return x_last - y_last;
	if (x->begin != y->begin)
		return x->begin < y->begin ? -1 : 1;
	if (x->end != y->end)
		return x->end > y->end ? -1 : 1;
	return (y->state == OP_SPAN_DROPPED) - (x->state == OP_SPAN_DROPPED);
}

static void mark_replaced(struct op_span *spans, size_t nr)
{
	uint64_t end = 0;

	for (size_t i = 0; i < nr && spans[i].state != OP_SPAN_MAKING; i++) {
		spans[i].is_replaced = spans[i].end <= end;
		if (spans[i].end > end)
			end = spans[i].end;
	}
}

static int read_spans(DIR *folder, struct op_span **spans, size_t *nr)
{
	struct dirent *entry;
	struct op_span span;

	while ((errno = 0, entry = readdir(folder))) {
		if (!op_span_parse(entry->d_name, &span))
			continue;
		if (op_array_reserve(spans, *nr, 1))
			return -ENOMEM;
		(*spans)[(*nr)++] = span;
	}
	return -errno;
}

int op_spans_list(const char *dir, struct op_span **out, size_t *nr)
{
	DIR *folder = opendir(dir);
	int err;

	*out = NULL;
	*nr = 0;
	if (!folder)
		return -errno;
	err = read_spans(folder, out, nr);
	closedir(folder);
	if (err) {
		free(*out);
		*out = NULL;
		*nr = 0;
		return err;
	}
	if (*nr)
		qsort(*out, *nr, sizeof(**out), compare_spans);
	mark_replaced(*out, *nr);
	return 0;
}

/* ---- accounts ---------------------------------------------------------------
 */

/* The ledger in folder @name of @dir, or in @dir itself if that is empty. */
static int read_ledger_in(const char *dir, const char *name,
			  struct op_ledger *ledger, struct op_diag *diag)
{
	char path[PATH_MAX];
	int len = snprintf(path, sizeof(path), "%s/%s%sledger", dir, name,
			   *name ? "/" : "");

	if (len < 0 || (size_t)len >= sizeof(path))
		return op_diag_set(diag, -ENAMETOOLONG, "%s/%s: %s", dir, name,
				   strerror(ENAMETOOLONG));
	return op_ledger_read(ledger, path, diag);
}

static int add_ledger(const char *dir, const char *name, struct op_ledger *sum,
		      struct op_ledger *one, struct op_diag *diag)
{
	int err = read_ledger_in(dir, name, one, diag);

	if (err)
		return err;
	err = op_ledger_merge(sum, one);
	return err ? op_diag_set(diag, err, "%s/%s: %s", dir, name,
				 strerror(-err))
		   : 0;
}

/* Returns how many there were, or -errno. */
static int add_ledgers_of_spans(const char *dir, struct op_ledger *sum,
				struct op_ledger *one, struct op_diag *diag)
{
	struct op_span *spans;
	size_t nr;
	int err = op_spans_list(dir, &spans, &nr), found = 0;

	if (err)
		return err == -ENOENT ? 0
				      : op_diag_set(diag, err, "%s: %s", dir,
						    strerror(-err));
	for (size_t i = 0; i < nr && !err; i++) {
		char name[OP_SPAN_NAME_MAX];

		if (!op_span_counts(&spans[i]))
			continue;
		op_span_name(&spans[i], name);
		err = add_ledger(dir, name, sum, one, diag);
		found += !err;
		if (err == -ENOENT)
			err = 0;
	}
	free(spans);
	return err ? err : found;
}

int op_spans_account(const char *dir, struct op_ledger *sum,
		     struct op_diag *diag)
{
	struct op_ledger *one = malloc(sizeof(*one));
	int found = -ENOMEM;

	if (one)
		found = add_ledgers_of_spans(dir, sum, one, diag);
	free(one);
	return found < 0 ? found : 0;
}

int op_spans_dropped(const char *dir, struct op_span *span,
		     struct op_ledger *ledger, struct op_diag *diag)
{
	const struct op_span none = { .end = 0 };
	struct op_span *spans, found = none;
	size_t nr;
	int err = op_spans_list(dir, &spans, &nr);

	for (size_t i = 0; i < nr; i++)
		if (spans[i].state == OP_SPAN_DROPPED && !spans[i].is_replaced)
			found = spans[i];
	free(spans);
	if (span)
		*span = found;
	if (ledger)
		memset(ledger, 0, sizeof(*ledger));
	if (err)
		return err == -ENOENT ? 0
				      : op_diag_set(diag, err, "%s: %s", dir,
						    strerror(-err));
	if (ledger && found.end) {
		char name[OP_SPAN_NAME_MAX];

		op_span_name(&found, name);
		err = read_ledger_in(dir, name, ledger, diag);
	}
	return err;
}

int op_session_account(const char *dir, struct op_ledger *out,
		       struct op_diag *diag)
{
	struct op_ledger *one = malloc(sizeof(*one));
	int err = -ENOMEM, found = 0;

	memset(out, 0, sizeof(*out));
	if (one)
		err = found = add_ledgers_of_spans(dir, out, one, diag);
	if (err >= 0)
		err = add_ledger(dir, "", out, one, diag);
	free(one);
	return err == -ENOENT && found > 0 ? 0 : err;
}
