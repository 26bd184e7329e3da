// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * mkksyms FILE packs a snapshot of kernel symbols that a script has written as
 * text: the image's name is one word, its build-id hex or "-".
 */

#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libop/kernel/op_ksyms.h"

static size_t bytes_of(const char *hex, uint8_t *bytes)
{
	size_t len = 0;

	while (len < 32 && sscanf(hex + 2 * len, "%2hhx", &bytes[len]) == 1)
		len++;
	return len;
}

int main(int argc, char **argv)
{
	struct op_diag diag = { "" };
	struct op_ksyms ksyms;
	char name[256], id[65];
	struct op_build_id build_id = { .len = 0 };
	FILE *file;

	if (argc != 2)
		errx(2, "usage: mkksyms FILE");
	file = fopen(argv[1], "r");
	if (!file)
		err(1, "%s", argv[1]);
	if (fscanf(file, "oprofile symbols 1 %255s %64s", name, id) != 2)
		errx(1, "%s: no snapshot as text", argv[1]);
	fclose(file);
	build_id.len = (unsigned int)bytes_of(id, build_id.bytes);
	if (op_ksyms_read(&ksyms, argv[1], &diag) ||
	    op_ksyms_write(&ksyms, argv[1], name, &build_id, &diag))
		errx(1, "%s", diag.text);
	op_ksyms_release(&ksyms);
	return 0;
}
