// SPDX-License-Identifier: GPL-2.0-or-later

#include "utils/symbols.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <unistd.h>

#include "libop/files/op_process.h"

int symbols_keep(const char *folder, const struct op_session *session,
		 uint64_t mib, const char *without, struct op_diag *diag)
{
	char path[PATH_MAX + 16];
	struct op_process_args args = { .nr = 0 };
	int err = op_process_find_own(path, sizeof(path), "opsymbols", folder,
				      diag);

	if (err)
		return err;
	op_process_args_add(&args, "opsymbols");
	op_process_args_add(&args, "--session-dir=%s", session->dir);
	op_process_args_add(&args, "--symbol-store=%" PRIu64, mib);
	if (without)
		op_process_args_add(&args, "--no-symbols=%s", without);
	err = args.failed
		      ? -ENOMEM
		      : op_process_run(path, args.argv, environ, NULL, 0, diag);
	op_process_args_release(&args);
	return err < 0 ? err : 0;
}
