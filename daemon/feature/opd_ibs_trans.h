/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DAEMON_FEATURE_OPD_IBS_TRANS_H
#define DAEMON_FEATURE_OPD_IBS_TRANS_H

/*
 * From the registers of an IBS sample to the events that users ask for. An
 * event is a row of a table: which kind of sample it is derived from, what
 * has to hold of all events of its group, which bits of a register must have
 * which value, and what is added where that is so.
 *
 * The bits are those of AMD's manuals: BKDG of family 10h (31116), 12h
 * (41131), 14h (43170) and 15h (42301), sections "IBS Fetch Control Register"
 * to "IBS Op Data 3 Register", and the PPRs of family 17h and 19h.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct opd_ext_data;

enum opd_ibs_kind { OPD_IBS_FETCH, OPD_IBS_OP, OPD_IBS_NR_KINDS };

enum opd_ibs_reg {
	OPD_IBS_FETCH_CTL,
	OPD_IBS_FETCH_LINAD,
	OPD_IBS_FETCH_PHYSAD,
	OPD_IBS_FETCH_EXT, /* 0 where the CPU has none */
	OPD_IBS_CTL,
	OPD_IBS_RIP,
	OPD_IBS_DATA,
	OPD_IBS_DATA2,
	OPD_IBS_DATA3,
	OPD_IBS_DC_LINAD,
	OPD_IBS_DC_PHYSAD,
	OPD_IBS_BR_TARGET, /* 0 where the CPU has none */
	OPD_IBS_DATA4, /* so */
	OPD_IBS_NR_REGS
};

/* The registers of one sample. Bits that are reserved on its CPU are clear. */
struct opd_ibs_regs {
	enum opd_ibs_kind kind;
	uint32_t caps; /* OP_IBS_CAP_... */
	uint64_t reg[OPD_IBS_NR_REGS];
};

/* Conditions that hold for all events of a group. */
enum opd_ibs_group {
	OPD_IBS_ANY,
	OPD_IBS_ATTEMPTED, /* a fetch that was not killed */
	OPD_IBS_LOAD_STORE, /* an op that loads or stores */
	OPD_IBS_NORTHBRIDGE, /* a load that missed, and a source is told */
	OPD_IBS_EXTENDED_SOURCE, /* the same with the source's later bits */
};

struct opd_ibs_event {
	uint32_t code; /* as in the event files */
	const char *name;
	enum opd_ibs_kind kind;
	enum opd_ibs_group group;
	enum opd_ibs_reg reg;
	uint64_t mask; /* reg & mask must be value */
	uint64_t value;
	/* The number that is added: the field of @bits bits at @shift of
	 * register @adds; 1 if it has no bits. */
	enum opd_ibs_reg adds;
	unsigned int shift;
	unsigned int bits;
};

/* The event called @name; NULL if there is none. */
const struct opd_ibs_event *opd_ibs_event_find(const char *name, size_t len);

/* Whether @nr words are enough for a record of @code with these words. */
bool opd_ibs_record_is_whole(uint32_t code, const uint64_t *words, size_t nr);

/* Fill @regs from the words of a whole record. */
void opd_ibs_regs_parse(struct opd_ibs_regs *regs,
			const struct opd_ext_data *data);

/* Whether the address of the sample means nothing. */
bool opd_ibs_has_no_address(const struct opd_ibs_regs *regs);

/* Whether a fetch came to nothing before anything is known of it. */
bool opd_ibs_is_killed(const struct opd_ibs_regs *regs);

/* How much @regs adds to the count of @event, which is of its kind. */
uint64_t opd_ibs_derive(const struct opd_ibs_event *event,
			const struct opd_ibs_regs *regs);

#endif /* DAEMON_FEATURE_OPD_IBS_TRANS_H */
