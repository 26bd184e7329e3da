// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A record has the registers in a fixed order, of which some exist only with a
 * capability of the CPU; the record says its capabilities. Tables tell the
 * order, and bits that are reserved on a family are cleared when the registers
 * are taken, so that the events need not know families.
 *
 * An event holds if its group holds and the masked bits have the value. It adds
 * 1 or the field of a register, such as a number of cycles.
 */

#include <string.h>

#include "daemon/feature/opd_extended.h"
#include "daemon/feature/opd_ibs_trans.h"

/* ---- reading a record -------------------------------------------------------
 */

#define HEAD_WORDS 2 /* pc and CPU */

/* Where the registers are in a record: in this order. */
struct place {
	enum opd_ibs_reg reg;
	uint32_t cap; /* there with this capability only; 0: always */
};

static const struct place fetch_places[] = {
	{ OPD_IBS_FETCH_CTL, 0 },
	{ OPD_IBS_FETCH_LINAD, 0 },
	{ OPD_IBS_FETCH_PHYSAD, 0 },
	{ OPD_IBS_FETCH_EXT, OP_IBS_CAP_EXTD_CTL },
};

static const struct place op_places[] = {
	{ OPD_IBS_CTL, 0 },
	{ OPD_IBS_RIP, 0 },
	{ OPD_IBS_DATA, 0 },
	{ OPD_IBS_DATA2, 0 },
	{ OPD_IBS_DATA3, 0 },
	{ OPD_IBS_DC_LINAD, 0 },
	{ OPD_IBS_DC_PHYSAD, 0 },
	{ OPD_IBS_BR_TARGET, OP_IBS_CAP_BR_TARGET },
	{ OPD_IBS_DATA4, OP_IBS_CAP_DATA4 },
};

static const struct {
	const struct place *place;
	size_t nr;
} places[OPD_IBS_NR_KINDS] = {
	[OPD_IBS_FETCH] = { fetch_places, 4 },
	[OPD_IBS_OP] = { op_places, 9 },
};

_Static_assert(sizeof(fetch_places) / sizeof(fetch_places[0]) == 4 &&
		       sizeof(op_places) / sizeof(op_places[0]) == 9,
	       "places[] has all");
_Static_assert(HEAD_WORDS + 9 <= OPD_EXT_MAX_WORDS, "a record is kept whole");

static enum opd_ibs_kind kind_of(uint32_t code)
{
	return code == OP_IBS_FETCH ? OPD_IBS_FETCH : OPD_IBS_OP;
}

bool opd_ibs_record_is_whole(uint32_t code, const uint64_t *words, size_t nr)
{
	enum opd_ibs_kind kind = kind_of(code);
	uint32_t caps = OP_IBS_CAPS_OF(words[1]);
	size_t needed = HEAD_WORDS;

	for (size_t i = 0; i < places[kind].nr; i++)
		if (!places[kind].place[i].cap ||
		    caps & places[kind].place[i].cap)
			needed++;
	return nr >= needed;
}

/*
 * Bits without a meaning on some families, which are not always zero there:
 * BKDG of family 10h, 12h and 14h, MSRC001_1035 to 1037.
 */
static const struct {
	uint32_t family;
	enum opd_ibs_reg reg;
	uint64_t bits;
} reserved[] = {
	{ 0x10, OPD_IBS_DATA, UINT64_C(1) << 38 },
	{ 0x12, OPD_IBS_DATA2, 0x30 },
	{ 0x14, OPD_IBS_DATA2, 0x30 },
	{ 0x14, OPD_IBS_DATA3, 0x81620 },
};

static void mask_reserved(struct opd_ibs_regs *regs, uint32_t family)
{
	for (size_t i = 0; i < sizeof(reserved) / sizeof(reserved[0]); i++)
		if (reserved[i].family == family)
			regs->reg[reserved[i].reg] &= ~reserved[i].bits;
}

void opd_ibs_regs_parse(struct opd_ibs_regs *regs,
			const struct opd_ext_data *data)
{
	size_t at = HEAD_WORDS;

	memset(regs, 0, sizeof(*regs));
	regs->kind = kind_of(data->code);
	regs->caps = OP_IBS_CAPS_OF(data->words[1]);
	for (size_t i = 0; i < places[regs->kind].nr; i++) {
		const struct place *place = &places[regs->kind].place[i];

		if (!place->cap || regs->caps & place->cap)
			regs->reg[place->reg] = data->words[at++];
	}
	mask_reserved(regs, OP_IBS_FAMILY_OF(data->words[1]));
}

/* Without the capability the bit says nothing. */
bool opd_ibs_has_no_address(const struct opd_ibs_regs *regs)
{
	return regs->caps & OP_IBS_CAP_RIP_INVALID &&
	       regs->reg[OPD_IBS_DATA] & UINT64_C(1) << 38;
}

/* ---- deriving ---------------------------------------------------------------
 */

/* Comp, IcMiss, PhyAddrValid, L1TlbMiss, L2TlbMiss: a killed fetch has none. */
#define NOT_KILLED                                                             \
	(UINT64_C(1) << 50 | UINT64_C(1) << 51 | UINT64_C(1) << 52 |           \
	 UINT64_C(1) << 55 | UINT64_C(1) << 56)
#define LOAD_OR_STORE 0x3
#define LOAD_MISS 0x81
#define SOURCE 0x7
#define SOURCE_EXT 0xc7 /* with the bits that came later */

bool opd_ibs_is_killed(const struct opd_ibs_regs *regs)
{
	return !(regs->reg[OPD_IBS_FETCH_CTL] & NOT_KILLED);
}

static bool group_holds(enum opd_ibs_group group,
			const struct opd_ibs_regs *regs)
{
	const uint64_t *reg = regs->reg;

	switch (group) {
	case OPD_IBS_ATTEMPTED:
		return !opd_ibs_is_killed(regs);
	case OPD_IBS_LOAD_STORE:
		return reg[OPD_IBS_DATA3] & LOAD_OR_STORE;
	case OPD_IBS_NORTHBRIDGE:
		return (reg[OPD_IBS_DATA3] & LOAD_MISS) == LOAD_MISS &&
		       reg[OPD_IBS_DATA2] & SOURCE;
	case OPD_IBS_EXTENDED_SOURCE:
		return (reg[OPD_IBS_DATA3] & LOAD_MISS) == LOAD_MISS &&
		       reg[OPD_IBS_DATA2] & SOURCE_EXT;
	default:
		return true;
	}
}

uint64_t opd_ibs_derive(const struct opd_ibs_event *event,
			const struct opd_ibs_regs *regs)
{
	uint64_t field;

	if (!group_holds(event->group, regs) ||
	    (regs->reg[event->reg] & event->mask) != event->value)
		return 0;
	if (!event->bits)
		return 1;
	field = regs->reg[event->adds] >> event->shift;
	return field & ((UINT64_C(1) << event->bits) - 1);
}
