// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Any bytes as a file of pprof, and as folded stacks, which are made into a
 * stream and images that nobody reads.
 */

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "pp/opimport_folded.h"
#include "pp/opimport_pprof.h"

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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct opimport_profile *profile = new_profile();
	struct op_diag diag = { "" };
	char *text = malloc(size + 1);

	if (!text)
		return 0;
	/* Each failure has its reason, but for want of memory. */
	if (opimport_pprof(profile, "fuzz", data, size, &diag) == -EBADMSG &&
	    !*diag.text)
		abort();
	opimport_profile_free(profile);
	profile = new_profile();
	diag.text[0] = '\0';
	memcpy(text, data, size);
	text[size] = '\0';
	if (opimport_folded(profile, "fuzz", text, size, &diag) == -EBADMSG &&
	    !*diag.text)
		abort();
	opimport_profile_free(profile);
	free(text);
	return 0;
}
