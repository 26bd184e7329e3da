// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The account of a session's samples: taken = stored + lost by cause +
 * pending.
 *
 * Counts stay at UINT64_MAX rather than wrap, as a wrong file must not make a
 * loss look small. Causes are known by name alone, so that a reader shows
 * those of a later version. A file without one of the sums is refused; lines
 * about stacks may be missing, as sessions without call graphs have none.
 */

#include "libop/op_ledger.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "libop/op_config.h"

#define LOST "lost."
#define STACKS "stacks."
#define SEVERAL "several"

static const char *const stacks_names[] = {
#define X(name, what) [OP_STACKS_##name] = (what),
	OP_LEDGER_STACKS(X)
#undef X
};

const char *op_ledger_stacks_name(enum op_ledger_stacks which)
{
	return stacks_names[which];
}

static void add_saturated(uint64_t *sum, uint64_t nr)
{
	if (__builtin_add_overflow(*sum, nr, sum))
		*sum = UINT64_MAX;
}

static bool is_cause_name(const char *name)
{
	size_t len = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_");

	return len && !name[len] && len < OP_LEDGER_CAUSE_MAX;
}

static struct op_ledger_cause *find_ledger_cause(struct op_ledger *ledger,
						 const char *name)
{
	for (unsigned int i = 0; i < ledger->nr_causes; i++) {
		if (!strcmp(ledger->causes[i].name, name))
			return &ledger->causes[i];
	}
	return NULL;
}

int op_ledger_lose(struct op_ledger *ledger, const char *name, uint64_t nr)
{
	struct op_ledger_cause *cause;

	if (!is_cause_name(name))
		return -EINVAL;
	cause = find_ledger_cause(ledger, name);
	if (!cause) {
		if (ledger->nr_causes >= OP_LEDGER_MAX_CAUSES)
			return -ENOSPC;
		cause = &ledger->causes[ledger->nr_causes++];
		memset(cause, 0, sizeof(*cause));
		strcpy(cause->name, name);
	}
	add_saturated(&cause->nr, nr);
	return 0;
}

int op_ledger_merge(struct op_ledger *ledger, const struct op_ledger *more)
{
	struct op_ledger sum = *ledger;

	for (unsigned int i = 0; i < more->nr_causes; i++) {
		int err = op_ledger_lose(&sum, more->causes[i].name,
					 more->causes[i].nr);

		if (err)
			return err;
	}
	add_saturated(&sum.taken, more->taken);
	add_saturated(&sum.stored, more->stored);
	for (unsigned int i = 0; i < OP_NR_STACKS; i++)
		add_saturated(&sum.stacks[i], more->stacks[i]);
	sum.pending = more->pending;
	if (!sum.source[0])
		memcpy(sum.source, more->source, sizeof(sum.source));
	else if (more->source[0] && strcmp(sum.source, more->source))
		strcpy(sum.source, SEVERAL);
	*ledger = sum;
	return 0;
}

uint64_t op_ledger_lost(const struct op_ledger *ledger)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < ledger->nr_causes; i++)
		add_saturated(&sum, ledger->causes[i].nr);
	return sum;
}

uint64_t op_ledger_stacks_stored(const struct op_ledger *ledger)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i <= OP_STACKS_BROKEN; i++)
		add_saturated(&sum, ledger->stacks[i]);
	return sum;
}

/* ---- the file ------------------------------------------------------------ */

/* A key that every ledger has; -EINVAL without it. */
static int need_u64(const struct op_config *config, const char *path,
		    const char *key, uint64_t *out, struct op_diag *diag)
{
	int err = op_config_get_u64(config, key, out, diag);

	if (err != -ENOENT)
		return err;
	return op_diag_set(diag, -EINVAL, "%s: no line \"%s = NUMBER\"", path,
			   key);
}

static int read_source(struct op_ledger *ledger, const struct op_config *config,
		       const char *path, struct op_diag *diag)
{
	const char *source = op_config_find(config, "source");

	if (!source || !*source)
		return op_diag_set(diag, -EINVAL,
				   "%s: no line \"source = NAME\"", path);
	if (strlen(source) >= sizeof(ledger->source))
		return op_diag_set(diag, -EINVAL,
				   "%s: the name of the source is too long",
				   path);
	strcpy(ledger->source, source);
	return 0;
}

static int read_cause(struct op_ledger *ledger, const char *name,
		      const char *value, const char *path, struct op_diag *diag)
{
	uint64_t nr;
	int err = op_parse_u64(value, &nr);

	if (err)
		return op_diag_set(diag, err,
				   "%s: " LOST "%s: \"%s\" is not a number of "
				   "samples",
				   path, name, value);
	err = op_ledger_lose(ledger, name, nr);
	if (err == -ENOSPC)
		return op_diag_set(diag, err, "%s: more than %d causes", path,
				   OP_LEDGER_MAX_CAUSES);
	if (err)
		return op_diag_set(diag, err, "%s: \"%s\" cannot be a cause",
				   path, name);
	return 0;
}

static int read_causes(struct op_ledger *ledger, const struct op_config *config,
		       const char *path, struct op_diag *diag)
{
	const char *key, *value;
	int err = 0;

	for (unsigned int i = 0; !err; i++) {
		if (op_config_at(config, i, &key, &value))
			break;
		if (!strncmp(key, LOST, strlen(LOST)))
			err = read_cause(ledger, key + strlen(LOST), value,
					 path, diag);
	}
	return err;
}

static int read_stacks(struct op_ledger *ledger, const struct op_config *config,
		       struct op_diag *diag)
{
	char key[sizeof(STACKS) + OP_LEDGER_CAUSE_MAX];
	int err = 0;

	for (unsigned int i = 0; !err && i < OP_NR_STACKS; i++) {
		snprintf(key, sizeof(key), STACKS "%s", stacks_names[i]);
		err = op_config_get_u64(config, key, &ledger->stacks[i], diag);
		if (err == -ENOENT)
			err = 0;
	}
	return err;
}

int op_ledger_read(struct op_ledger *ledger, const char *path,
		   struct op_diag *diag)
{
	struct op_config *config;
	int err = op_config_read(&config, path, diag);

	if (err)
		return err;
	memset(ledger, 0, sizeof(*ledger));
	err = read_source(ledger, config, path, diag);
	if (!err)
		err = need_u64(config, path, "taken", &ledger->taken, diag);
	if (!err)
		err = need_u64(config, path, "stored", &ledger->stored, diag);
	if (!err)
		err = need_u64(config, path, "pending", &ledger->pending, diag);
	if (!err)
		err = read_causes(ledger, config, path, diag);
	if (!err)
		err = read_stacks(ledger, config, diag);
	op_config_free(config);
	return err;
}

/* All of them, or none where no stack was seen. */
static int fill_stacks(const struct op_ledger *ledger, struct op_config *config)
{
	char key[sizeof(STACKS) + OP_LEDGER_CAUSE_MAX];
	uint64_t any = 0;
	int err = 0;

	for (unsigned int i = 0; i < OP_NR_STACKS; i++)
		any |= ledger->stacks[i];
	for (unsigned int i = 0; any && !err && i < OP_NR_STACKS; i++) {
		snprintf(key, sizeof(key), STACKS "%s", stacks_names[i]);
		err = op_config_set_u64(config, key, ledger->stacks[i]);
	}
	return err;
}

static int fill_config(const struct op_ledger *ledger, struct op_config *config)
{
	char key[sizeof(LOST) + OP_LEDGER_CAUSE_MAX];
	int err = op_config_set(config, "source", ledger->source);

	if (!err)
		err = op_config_set_u64(config, "taken", ledger->taken);
	if (!err)
		err = op_config_set_u64(config, "stored", ledger->stored);
	if (!err)
		err = op_config_set_u64(config, "pending", ledger->pending);
	for (unsigned int i = 0; i < ledger->nr_causes && !err; i++) {
		snprintf(key, sizeof(key), LOST "%s", ledger->causes[i].name);
		err = op_config_set_u64(config, key, ledger->causes[i].nr);
	}
	return err ? err : fill_stacks(ledger, config);
}

int op_ledger_write(const struct op_ledger *ledger, const char *path,
		    struct op_diag *diag)
{
	struct op_config *config;
	int err;

	if (!ledger->source[0])
		return op_diag_set(diag, -EINVAL,
				   "%s: the samples have no source", path);
	config = op_config_new();
	err = config ? fill_config(ledger, config) : -ENOMEM;
	if (err)
		op_diag_set(diag, err, "%s: cannot write: %s", path,
			    strerror(-err));
	else
		err = op_config_write(config, path, 0644, diag);
	op_config_free(config);
	return err;
}
