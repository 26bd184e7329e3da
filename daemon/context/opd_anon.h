/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DAEMON_CONTEXT_OPD_ANON_H
#define DAEMON_CONTEXT_OPD_ANON_H

/*
 * Names of anonymous memory ("anon", "[heap]", "[stack]" ...). Each is kept
 * once, so that two of them are the same if their addresses are. A stream can
 * make up names without end, so half of OPD_ANON_NAMES are kept: further ones
 * are "anon".
 */

#define OPD_ANON_NAMES 1024
#define OPD_ANON_NAME_MAX 128 /* bytes with the zero byte */
#define OPD_ANON_DEFAULT "anon"

struct opd_anon {
	char *names[OPD_ANON_NAMES]; /* open-addressed, at most half in use */
	unsigned int nr;
};

/* The kept copy of @name; lives until opd_anon_release(). Never NULL. */
const char *opd_anon_name(struct opd_anon *anon, const char *name);

void opd_anon_release(struct opd_anon *anon);

#endif /* DAEMON_CONTEXT_OPD_ANON_H */
