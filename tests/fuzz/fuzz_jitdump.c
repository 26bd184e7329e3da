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

#include "libop/session/op_code_image.h"
#include "daemon/source/jit/opd_jitdump.h"
#include "libcfi/cfi.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void keep_code(const struct opd_jitdump *dump,
		      const struct opd_jit_code *code,
		      struct op_code_image *image)
{
	static struct op_code_function function;
	struct cfi_table *table;
	uint32_t number;

	if (code->where == OPD_JIT_GONE)
		return;
	if (!opd_jitdump_read(dump, code, &function))
		op_code_image_keep(image, &function, &number);
	opd_jitdump_free_function(&function);
	if (!opd_jitdump_read_frames(dump, code, &table))
		cfi_table_free(table);
}

static void keep_all(const struct opd_jitdump *dump,
		     const struct opd_jit_codes *codes)
{
	struct op_code_image image = { .end = 0x1000 };

	for (size_t i = 0; i < codes->nr; i++)
		keep_code(dump, &codes->list[i], &image);
	for (size_t i = 0; i < codes->nr_more; i++)
		keep_code(dump, &codes->more[i], &image);
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
	if (opd_jitdump_open(&dump, NULL, fd))
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
