/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef PP_OPPUSH_OPPUSH_SEND_H
#define PP_OPPUSH_OPPUSH_SEND_H

/* Sending a request to a server of profiles, by libcurl. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libop/base/op_diag.h"
#include "pp/oppush/oppush_spool.h"

enum push_server { PUSH_PYROSCOPE, PUSH_PARCA };

struct push_label_option {
	char *key, *value;
};

struct push_target {
	enum push_server server;
	const char *url; /* that of the server, or whole */
	const char *name; /* of the service */
	const struct push_label_option *labels;
	size_t nr_labels;
	const char *tenant; /* or NULL, like the next two */
	const char *token_file; /* a token to come in with, the only line */
	const char *ca_file; /* certificates to trust instead of the system's */
	bool is_insecure; /* believe any server */
	long timeout_ms; /* of the whole request */
	bool (*is_over)(void); /* whether to give up at once */
};

struct push_answer {
	long status; /* of HTTP; 0: none came */
	uint64_t retry_after_s; /* 0: not given */
	char text[256]; /* what is wrong, for people */
};

/*
 * Check @target as far as that can be done without the server. Returns 0 or
 * -EINVAL with the reason in @diag.
 */
int push_target_check(const struct push_target *target, struct op_diag *diag);

/*
 * Send @profile of @spool. Returns 0 with what came of it in @answer, or -errno
 * with the reason in @diag where nothing could be sent.
 */
int push_send(const struct push_target *target, const struct push_spool *spool,
	      const struct push_spooled *profile, struct push_answer *answer,
	      struct op_diag *diag);

#endif /* PP_OPPUSH_OPPUSH_SEND_H */
