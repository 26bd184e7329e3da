/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef PP_OPREPORT_OPREPORT_BROWSER_H
#define PP_OPREPORT_OPREPORT_BROWSER_H

/* Opening the page that was written, for --open. */

#include <stdio.h>

#include "libop/base/op_diag.h"

/*
 * Set *@path, for the caller to free, to the page's place in the folder of the
 * session that @session_dir names (NULL: where it is looked for). Returns 0, or
 * -EACCES with the reason in @diag where the folder is another user's.
 */
int opreport_page_place(char **path, const char *session_dir,
			struct op_diag *diag);

/* Write the place of the page at @path to @out and start a browser for it: that
 * of $BROWSER, else xdg-open where there is a display. The browser goes on by
 * itself. */
void opreport_open_page(const char *path, FILE *out);

#endif /* PP_OPREPORT_OPREPORT_BROWSER_H */
