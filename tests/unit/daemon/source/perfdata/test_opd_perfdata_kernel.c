// SPDX-License-Identifier: GPL-2.0-or-later
/* Where the kernel and its modules were, by the mappings in a file of perf. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/test.h"
#include "daemon/source/perf/opd_perf_record.h"
#include "daemon/source/perfdata/opd_perfdata.h"
#include "daemon/source/perfdata/opd_perfdata_kernel.h"
#include "daemon/source/opd_source.h"
#include "daemon/source/opd_stream.h"
#include "libop/session/op_stream_words.h"

#define KERNEL UINT64_C(0xffffffff81000000)
#define MODULE UINT64_C(0xffffffffc0000000)
#define LONGEST                                                                \
	"m01234567890123456789012345678901234567890123456789012345678901"

/* A build-id that no kernel here has. */
static const uint8_t foreign[20] = { 1, 2, 3 };

struct mapping {
	const char *name;
	uint64_t start, len;
	unsigned int build_id_len;
};

static bool map(struct opd_perfdata_kernel *kernel, const struct mapping *m,
		const struct opd_perfdata *data)
{
	struct opd_perf_rec rec = {
		.mmap = { .start = m->start, .len = m->len, .name = m->name }
	};

	rec.mmap.build_id_len = m->build_id_len;
	memcpy(rec.mmap.build_id, foreign, sizeof(foreign));
	return opd_perfdata_kernel_map(kernel, data, &rec);
}

static const struct opd_source_client no_client;

/* What each mapping is the range of; NULL: of none. */
TEST(names)
{
	static const struct {
		struct mapping mapping;
		const char *name;
	} rows[] = {
		{ { "[kernel.kallsyms]_text", KERNEL, 0x1000, 20 },
		  OP_KERNEL_NAME },
		{ { "[kernel.kallsyms]", KERNEL, 0x1000, 20 }, OP_KERNEL_NAME },
		{ { "/lib/modules/6.1/kernel/snd-pcm.ko.xz", MODULE, 0x1000,
		    20 },
		  "snd_pcm" },
		{ { "[ext4]", MODULE, 0x1000, 0 }, "ext4" },
		{ { "ext4.ko", MODULE, 0x1000, 0 }, "ext4" },
		{ { "[" LONGEST "]", MODULE, 0x1000, 0 }, LONGEST },
		{ { "[" LONGEST "m]", MODULE, 0x1000, 0 }, NULL },
		{ { "/lib/", MODULE, 0x1000, 0 }, NULL },
		{ { "[]", MODULE, 0x1000, 0 }, NULL },
		/* Without the right to see addresses, and what cannot be. */
		{ { "[kernel.kallsyms]_text", 0, 0x1000, 0 }, NULL },
		{ { "[ext4]", INT64_MAX - 1, 0x1000, 0 }, NULL },
		{ { "[ext4]", MODULE, 0, 0 }, NULL },
		{ { "[ext4]", MODULE, UINT64_MAX, 0 }, NULL },
		{ { "[ext4]", (uint64_t)INT64_MAX + 1, 0x1000, 0 }, "ext4" },
	};
	const struct opd_perfdata data = { .hostname = "" };

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct opd_perfdata_kernel kernel = { .client = &no_client };
		const struct mapping *m = &rows[i].mapping;

		if (map(&kernel, m, &data) != (rows[i].name != NULL))
			fail_msg("row %zu", i);
		assert_int_equal(kernel.nr, rows[i].name ? 1 : 0);
		if (rows[i].name) {
			const struct opd_perfdata_range *range = kernel.ranges;

			assert_string_equal(range->name, rows[i].name);
			assert_int_equal(range->start, m->start);
			assert_int_equal(range->end, m->start + m->len);
			assert_int_equal(range->build_id.len, m->build_id_len);
			assert_int_equal(range->here_start, 0);
			assert_int_equal(range->here_end, 0);
		}
		opd_perfdata_kernel_release(&kernel);
		assert_int_equal(kernel.nr, 0);
	}
}

/* Each name has one place, the last one; told once as long as it stays. */
TEST(the_last_place)
{
	static const struct mapping kernel_at = { "[kernel.kallsyms]_text",
						  KERNEL, 0x1000, 20 },
				    first = { "[ext4]", MODULE, 0x1000, 0 },
				    longer = { "[ext4]", MODULE, 0x2000, 0 },
				    later = { "[ext4]", MODULE + 0x9000, 0x2000,
					      0 };
	const struct opd_perfdata data = { .hostname = "" };
	struct opd_perfdata_kernel kernel = { .client = &no_client };
	struct op_stream_words words = { .nr = 0 };
	struct opd_stream stream;
	struct opd_rec rec = { .flags = 0 };

	assert_true(map(&kernel, &kernel_at, &data));
	assert_false(map(&kernel, &kernel_at, &data));
	assert_true(map(&kernel, &first, &data));
	assert_false(map(&kernel, &first, &data));
	assert_true(map(&kernel, &longer, &data));
	assert_true(map(&kernel, &later, &data));
	assert_int_equal(kernel.nr, 2);

	opd_perfdata_kernel_record(&kernel, &words);
	stream = (struct opd_stream){ words.words, words.words + words.nr };
	assert_int_equal(opd_stream_record(&stream, &rec), OPD_UNIT_RECORD);
	assert_int_equal(rec.code, OP_KERNEL_RANGE);
	assert_true(rec.flags & OP_KERNEL_FIRST);
	assert_int_equal(rec.payload[0], KERNEL);
	assert_int_equal(rec.payload[1], KERNEL + 0x1000);
	assert_int_equal(opd_stream_record(&stream, &rec), OPD_UNIT_RECORD);
	assert_false(rec.flags & OP_KERNEL_FIRST);
	assert_int_equal(rec.payload[0], MODULE + 0x9000);
	assert_int_equal(rec.payload[1], MODULE + 0xb000);
	assert_ptr_equal(stream.at, stream.end);
	free(words.words);
	opd_perfdata_kernel_release(&kernel);
}

/* What perf tells of builds in its table; the record itself knows better. */
TEST(build_ids)
{
	struct opd_perfdata_build told = { .name = (char *)"[ext4]",
					   .id = { 8, { 9, 9 } } };
	const struct opd_perfdata data = { .builds = &told, .nr_builds = 1 };
	static const struct mapping plain = { "[ext4]", MODULE, 0x1000, 0 },
				    known = { "[ext4]", MODULE, 0x2000, 20 };
	struct opd_perfdata_kernel kernel = { .client = &no_client };

	assert_true(map(&kernel, &plain, &data));
	assert_int_equal(kernel.ranges[0].build_id.len, 8);
	assert_int_equal(kernel.ranges[0].build_id.bytes[0], 9);
	assert_true(map(&kernel, &known, &data));
	assert_int_equal(kernel.ranges[0].build_id.len, 20);
	assert_memory_equal(kernel.ranges[0].build_id.bytes, foreign, 20);
	opd_perfdata_kernel_release(&kernel);
}

/* ---- what is known of the kernel -------------------------------------------
 */

/* What the client knows, and what it is told. */
struct known {
	uint64_t size; /* of the build @foreign; 0: it knows nothing */
	char told[256];
};

static bool has_kernel(void *ctx, const struct op_build_id *build_id,
		       uint64_t *size)
{
	const struct known *known = ctx;

	assert_int_equal(build_id->len, 20);
	*size = known->size;
	return known->size && !memcmp(build_id->bytes, foreign, 20);
}

static void see_kernel(void *ctx, const char *name, uint64_t start,
		       uint64_t end, const struct op_build_id *build_id,
		       struct op_kallsyms *all)
{
	struct known *known = ctx;
	size_t len = strlen(known->told);

	(void)all;
	snprintf(known->told + len, sizeof(known->told) - len, "%s %s %u;",
		 name, start < end ? "here" : "elsewhere", build_id->len);
}

/* Of a kernel that does not run here: its end, if another session had it. */
TEST(other_kernels)
{
	static const struct {
		uint64_t start, len, size, end;
	} rows[] = {
		{ KERNEL, 0x1000, 0x5000, KERNEL + 0x5000 },
		{ KERNEL, 0x1000, 0x800, KERNEL + 0x800 },
		{ KERNEL, 0x1000, 0, KERNEL + 0x1000 },
		/* No size that can be. */
		{ KERNEL, 0x1000, UINT64_MAX - KERNEL + 1, KERNEL + 0x1000 },
		{ KERNEL, 0x1000, UINT64_MAX - KERNEL, UINT64_MAX },
	};
	static const struct mapping module = { "[ext4]", MODULE, 0x1000, 20 },
				    unknown = { "[xfs]", MODULE + 0x1000,
						0x1000, 0 };
	const struct opd_perfdata data = { .hostname = "" };

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct known known = { .size = rows[i].size };
		const struct opd_source_client client = {
			.ctx = &known,
			.see_kernel = see_kernel,
			.has_kernel = has_kernel,
		};
		struct opd_perfdata_kernel kernel = { .client = &client };
		const struct mapping m = { "[kernel.kallsyms]_text",
					   rows[i].start, rows[i].len, 20 };
		struct op_stream_words words = { .nr = 0 };

		assert_true(map(&kernel, &m, &data));
		assert_true(map(&kernel, &module, &data));
		assert_true(map(&kernel, &unknown, &data));
		if (kernel.ranges[0].end != rows[i].end)
			fail_msg("row %zu", i);
		assert_false(kernel.is_here);
		opd_perfdata_kernel_record(&kernel, &words);
		assert_string_equal(known.told, OP_KERNEL_NAME
				    " elsewhere 20;ext4 elsewhere 20;");
		free(words.words);
		opd_perfdata_kernel_release(&kernel);
	}
}

/* The kernel that runs here is known wherever it was. */
TEST(this_kernel)
{
	const struct opd_perfdata data = { .hostname = "" };
	struct known known = { .size = 0 };
	const struct opd_source_client client = { .ctx = &known,
						  .see_kernel = see_kernel };
	struct opd_perfdata_kernel kernel = { .client = &client };
	struct op_stream_words words = { .nr = 0 };
	struct op_build_id build_id;
	struct opd_perf_rec rec = {
		.mmap = { .start = KERNEL + 0x1234000,
			  .len = 0x1000,
			  .name = "[kernel.kallsyms]_text" }
	};

	if (op_build_id_of_notes_file(&build_id, "/sys/kernel/notes"))
		skip();
	rec.mmap.build_id_len = build_id.len;
	memcpy(rec.mmap.build_id, build_id.bytes, build_id.len);
	assert_true(opd_perfdata_kernel_map(&kernel, &data, &rec));
	if (!kernel.is_here) {
		opd_perfdata_kernel_release(&kernel);
		skip(); /* its addresses are hidden */
	}
	assert_int_equal(kernel.ranges[0].start, KERNEL + 0x1234000);
	assert_true(kernel.ranges[0].end - kernel.ranges[0].start > 0x1000);
	assert_true(kernel.ranges[0].end - kernel.ranges[0].start ==
		    kernel.ranges[0].here_end - kernel.ranges[0].here_start);
	opd_perfdata_kernel_record(&kernel, &words);
	assert_non_null(strstr(known.told, OP_KERNEL_NAME " here "));
	free(words.words);
	opd_perfdata_kernel_release(&kernel);
}
