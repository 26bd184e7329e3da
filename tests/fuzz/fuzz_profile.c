// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Any bytes as a file of pprof, of callgrind and as folded stacks, which are
 * made into a stream and images that nobody reads.
 */

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "pp/opimport/opimport_callgrind.h"
#include "pp/opimport/opimport_folded.h"
#include "pp/opimport/opimport_pprof.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct opimport_profile *new_profile(void)
{
	static const struct opimport_into into = { .to = "/nowhere" };
	struct opimport_profile *profile;
	struct op_diag diag = { "" };

	if (opimport_profile_new(&profile, &into, "fuzz", &diag))
		abort();
	return profile;
}

typedef int reader(struct opimport_profile *profile, const char *path,
		   char *text, size_t len, struct op_diag *diag);

static int read_pprof(struct opimport_profile *profile, const char *path,
		      char *text, size_t len, struct op_diag *diag)
{
	return opimport_pprof(profile, path, (const uint8_t *)text, len, diag);
}

/* Each failure has its reason, but for want of memory. */
static void read_as(reader *read, const uint8_t *data, size_t size)
{
	struct opimport_profile *profile = new_profile();
	struct op_diag diag = { "" };
	char *text = malloc(size + 1);

	if (!text)
		abort();
	memcpy(text, data, size);
	text[size] = '\0';
	if (read(profile, "fuzz", text, size, &diag) == -EBADMSG && !*diag.text)
		abort();
	opimport_profile_free(profile);
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	read_as(read_pprof, data, size);
	read_as(opimport_folded, data, size);
	read_as(opimport_callgrind, data, size);
	return 0;
}
