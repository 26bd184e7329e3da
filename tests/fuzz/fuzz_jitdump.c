// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Any bytes as a jitdump, which is read to its end in two steps of time; each
 * code that is found is read and kept in an image, and what unwinds it is read.
 */

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "libop/op_code_image.h"
#include "daemon/source/opd_jitdump.h"
#include "libcfi/cfi.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void keep_all(const struct opd_jitdump *dump,
		     const struct opd_jit_codes *codes)
{
	static struct op_code_function function;
	struct op_code_image image = { .end = 0x1000 };
	struct cfi_table *table;
	uint32_t number;

	for (size_t i = 0; i < codes->nr; i++) {
		if (codes->list[i].where == OPD_JIT_GONE)
			continue;
		if (!opd_jitdump_read(dump, &codes->list[i], &function))
			op_code_image_keep(&image, &function, &number);
		opd_jitdump_free_function(&function);
		if (!opd_jitdump_read_frames(dump, &codes->list[i], &table))
			cfi_table_free(table);
	}
	for (size_t i = 1; i < image.nr; i++)
		if (image.kept[i - 1].key + image.kept[i - 1].size >=
		    image.kept[i].key)
			abort();
	op_code_image_release(&image);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	struct opd_jit_codes codes = { 0 };
	struct opd_jitdump dump;

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	if (opd_jitdump_open(&dump, fd))
		return 0;
	opd_jitdump_run(&dump, &codes, 1000, 256);
	opd_jit_codes_find(&codes, 0x1000);
	keep_all(&dump, &codes);
	opd_jitdump_run(&dump, &codes, UINT64_MAX, 256);
	opd_jit_codes_find(&codes, 0x1000);
	keep_all(&dump, &codes);
	opd_jitdump_close(&dump);
	opd_jit_codes_release(&codes);
	return 0;
}
