// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Answers are kept in a table with one slot for each hash: what has come last
 * stays. Whoever makes code without end gets OPD_RETURNS_ASKED answers in a
 * second that are not kept already, and so does everybody else in this second;
 * stacks through more code than that are unwound as if it could not be read. A
 * recording is read faster than it was made, so that it has no such bound.
 */

#include "daemon/source/untrusted/opd_returns.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/source/opd_proc_maps.h"
#include "libop/base/op_hash.h"

#define NR_SLOTS 65536
#define OPD_RETURNS_ASKED 4000

/* A question; all bytes of it are compared. */
struct key {
	uint64_t image; /* a cookie, or a process */
	uint64_t at; /* offset in the file, or address */
	uint64_t from; /* likewise; 0: none is asked about */
	uint32_t arch;
	uint16_t what; /* enum unwinder_ask */
	uint8_t is_memory;
	uint8_t is_return_address;
};

struct opd_return {
	struct key key; /* image 0: free */
	time_t second; /* of the clock: memory has no other's answers */
	int err;
	union cfi_return found;
};

void opd_returns_init(struct opd_returns *returns,
		      struct opd_untrusted *untrusted, const char *proc)
{
	*returns = (struct opd_returns){
		.untrusted = untrusted,
		.proc = proc,
		.clock = &op_clock,
	};
}

static void drop_asked_file(struct opd_returns *returns)
{
	if (returns->cookie != OP_NO_COOKIE)
		close(returns->fd);
	returns->cookie = OP_NO_COOKIE;
}

void opd_returns_release(struct opd_returns *returns)
{
	drop_asked_file(returns);
	free(returns->slots);
	returns->slots = NULL;
}

/* ---- what is kept -----------------------------------------------------------
 */

/* Where the file of @code's image has it, or else where its memory does. */
static uint64_t place_of(const struct unwinder_code *code, bool is_memory)
{
	const struct unwinder_map *map = &code->map;

	return is_memory ? code->addr : code->addr - map->start + map->offset;
}

static struct key make_key(uint32_t tgid, const struct unwinder_code *code,
			   bool is_memory)
{
	return (struct key){
		.image = is_memory ? tgid : code->map.cookie,
		.at = place_of(code, is_memory),
		.from = code->from ? code->from - code->addr +
					     place_of(code, is_memory)
				   : 0,
		.arch = (uint32_t)code->arch,
		.what = (uint16_t)code->ask,
		.is_memory = is_memory,
		.is_return_address = code->is_return_address,
	};
}

static struct opd_return *slot_of(const struct opd_returns *returns,
				  const struct key *key)
{
	uint64_t hash = op_hash_bytes(0, key, sizeof(*key));

	return &returns->slots[(hash >> 32) % NR_SLOTS];
}

static bool is_kept(const struct opd_returns *returns,
		    const struct opd_return *slot, const struct key *key)
{
	return !memcmp(&slot->key, key, sizeof(*key)) &&
	       (!key->is_memory || slot->second == returns->second);
}

/* False if nothing is kept that answers. */
static bool find_kept_answer(const struct opd_returns *returns, uint32_t tgid,
			     const struct unwinder_code *code, int *err,
			     union cfi_return *out)
{
	for (int is_memory = 0; returns->slots && is_memory < 2; is_memory++) {
		struct key key = make_key(tgid, code, is_memory);
		const struct opd_return *slot = slot_of(returns, &key);

		if (!key.image || !is_kept(returns, slot, &key))
			continue;
		*err = slot->err;
		*out = slot->found;
		return true;
	}
	return false;
}

void opd_returns_forget(struct opd_returns *returns)
{
	drop_asked_file(returns);
	if (returns->slots)
		memset(returns->slots, 0, NR_SLOTS * sizeof(*returns->slots));
}

/* ---- what is asked ----------------------------------------------------------
 */

static bool is_place(const struct cfi_place *place)
{
	return place->reg < CFI_MAX_REGS &&
	       (place->how == CFI_AT_CFA || place->how == CFI_UNDEFINED ||
		place->how == CFI_SAME ||
		(place->how == CFI_IN_REG && place->value >= 0 &&
		 place->value < CFI_MAX_REGS));
}

/* Whether an answer can be followed: whoever gave it may be anybody's now. */
static bool is_rule(const struct cfi_rule *rule)
{
	if (rule->cfa_is_expr || rule->cfa_reg >= CFI_MAX_REGS ||
	    rule->ra >= CFI_MAX_REGS || (rule->flags & CFI_RULE_SIGNAL) ||
	    rule->nr_places > CFI_MAX_RETURN_PLACES)
		return false;
	for (unsigned int i = 0; i < rule->nr_places; i++)
		if (!is_place(&rule->place[i]))
			return false;
	return true;
}

static int ask_foreign(struct opd_returns *returns, const struct key *key,
		       const struct unwinder_code *code, int fd,
		       union cfi_return *out)
{
	const struct unwinder_map *map = &code->map;
	uint64_t low = key->at - (code->addr - map->start);
	struct opd_untrusted_call call = {
		.what = OPD_UNTRUSTED_RETURN,
		.leaving = {
			.arch = (uint64_t)code->arch,
			.at = key->at,
			.from = key->from,
			.low = low,
			.high = low + (map->end - map->start),
			.is_return_address = code->is_return_address,
			.ask = code->ask,
			.is_made = map->cookie == OP_NO_COOKIE,
		},
	};
	const void *room = NULL;
	int err = opd_untrusted_do(returns->untrusted, fd, &call, &room);

	opd_untrusted_done(returns->untrusted, room);
	*out = call.leaving.found;
	if (!err && code->ask == UNWINDER_RETURN && !is_rule(&out->rule))
		err = -EBADMSG;
	return err;
}

/* Whether one more may be asked in this second. What is not live can wait. */
static bool may_ask(struct opd_returns *returns)
{
	if (!returns->proc)
		return true;
	return returns->nr_asked++ < OPD_RETURNS_ASKED;
}

/* Drop the answers that are kept for one second only. */
static void begin_second(struct opd_returns *returns)
{
	time_t now = returns->clock->seconds();

	if (now == returns->second)
		return;
	returns->second = now;
	returns->nr_asked = 0;
	drop_asked_file(returns);
}

/* The file of the image @cookie, which is held here; negative if there is none.
 */
static int open_asked_file(struct opd_returns *returns, uint64_t cookie,
			   opd_returns_open *open, void *ctx)
{
	int fd;

	if (cookie == OP_NO_COOKIE)
		return -ENOENT;
	if (cookie == returns->cookie)
		return returns->fd;
	fd = open(ctx, cookie);
	if (fd < 0)
		return fd;
	drop_asked_file(returns);
	returns->cookie = cookie;
	returns->fd = fd;
	return fd;
}

/* Whether @err says something of the code, and not of what could not be read
 * just now. */
static bool is_answer(int err)
{
	return !err || err == -ENODATA;
}

/* The file @fd says it, or the memory if that is negative. */
static int read_answer(struct opd_returns *returns, uint32_t tgid,
		       const struct unwinder_code *code, int fd,
		       union cfi_return *out)
{
	bool is_memory = fd < 0;
	struct key key = make_key(tgid, code, is_memory);
	struct opd_return *slot;
	int own = fd;

	if (!returns->slots)
		returns->slots = calloc(NR_SLOTS, sizeof(*returns->slots));
	if (!returns->slots)
		return -ENOMEM;
	slot = slot_of(returns, &key);
	slot->key = key;
	slot->second = returns->second;
	if (is_memory)
		own = opd_proc_open_memory(returns->proc, tgid);
	slot->err =
		own < 0 ? own
			: ask_foreign(returns, &key, code, own, &slot->found);
	if (is_memory && own >= 0)
		close(own);
	*out = slot->found;
	if (!is_memory && !is_answer(slot->err))
		slot->key.image = OP_NO_COOKIE;
	return slot->err;
}

int opd_returns_ask(struct opd_returns *returns, uint32_t tgid,
		    const struct unwinder_code *code, opd_returns_open *open,
		    void *ctx, union cfi_return *out)
{
	int err;

	begin_second(returns);
	if (find_kept_answer(returns, tgid, code, &err, out))
		return err;
	if (!may_ask(returns))
		return -EAGAIN;
	return read_answer(
		returns, tgid, code,
		open_asked_file(returns, code->map.cookie, open, ctx), out);
}
