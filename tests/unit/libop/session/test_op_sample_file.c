// SPDX-License-Identifier: GPL-2.0-or-later
/* The header of a sample file: each field that could be wrong. */

#include "tests/unit/op_fixture.h"

#include "libop/session/op_sample_file.h"

static struct op_sample_header sound(void)
{
	struct op_sample_header h = { 0 };

	h.magic = OP_SAMPLE_MAGIC;
	h.version = OP_SAMPLE_VERSION;
	h.kind = OP_IMAGE_FILE;
	h.timer_hz = 1000;
	h.build_id_len = 20;
	memset(h.build_id, 0xab, 20);
	strcpy(h.cpu_type, "x86-64/family10");
	return h;
}

static void refuse(const struct op_sample_header *h, const char *reason)
{
	struct op_diag diag = { "" };

	assert_int_equal(op_sample_header_check(h, "s/f", &diag), -EBADMSG);
	assert_reason(&diag, "s/f: ");
	assert_reason(&diag, reason);
	assert_int_equal(op_sample_header_check(h, "s/f", NULL), -EBADMSG);
}

TEST(test_sound_headers)
{
	struct op_sample_header h = sound();
	struct op_diag diag = { "" };

	assert_int_equal(op_sample_header_check(&h, "f", &diag), 0);
	assert_string_equal(diag.text, "");
	h.kind = OP_NR_IMAGE_KINDS - 1;
	h.build_id_len = 32;
	memset(h.cpu_type, 'x', sizeof(h.cpu_type) - 1);
	h.count = h.mtime = h.anon_start = UINT64_MAX;
	assert_int_equal(op_sample_header_check(&h, "f", NULL), 0);
	h.build_id_len = 0;
	h.cpu_type[0] = '\0';
	assert_int_equal(op_sample_header_check(&h, "f", NULL), 0);
}

TEST(test_derived)
{
	struct op_sample_header h = sound();

	assert_int_equal(op_sample_header_samples(&h, 5), 5);
	h.samples = 1;
	refuse(&h, "unclear how its counts are");
	h.derived = 2;
	refuse(&h, "unclear how its counts are");
	h.derived = 1;
	assert_int_equal(op_sample_header_check(&h, "f", NULL), 0);
	assert_int_equal(op_sample_header_samples(&h, 5), 1);
}

TEST(test_not_ours)
{
	struct op_sample_header h = { 0 };

	refuse(&h, "never written");
	h = sound();
	h.magic ^= 1;
	refuse(&h, "not a sample file");
	h.magic = __builtin_bswap32(OP_SAMPLE_MAGIC);
	refuse(&h, "byte order");
	h = sound();
	h.version = 2;
	refuse(&h, "version 2, not 1");
}

TEST(test_damaged)
{
	struct op_sample_header h = sound();

	h.kind = OP_NR_IMAGE_KINDS;
	refuse(&h, "kind");
	h.kind = UINT32_MAX;
	refuse(&h, "kind");
	h = sound();
	h.build_id_len = 33;
	refuse(&h, "build-id");
	h.build_id_len = UINT32_MAX;
	refuse(&h, "build-id");
	h = sound();
	h.cg_build_id_len = 33;
	refuse(&h, "build-id");
	h = sound();
	memset(h.cpu_type, 'x', sizeof(h.cpu_type));
	refuse(&h, "CPU type");
	h = sound();
	h.cpu_type[1] = '\033';
	refuse(&h, "CPU type");
	h.cpu_type[1] = '\xff';
	refuse(&h, "CPU type");
}

TEST(test_files_set_aside)
{
	static const struct {
		const char *path;
		bool is_set_aside;
	} rows[] = {
		{ "E.1.0.all.all.all", false },
		{ "E.1.0.all.all.all.bad", true },
		{ "E.1.0.all.all.all.bad-2", true },
		{ "E.1.0.all.all.all.bad.12", true },
		{ "E.1.0.all.all.all.stale", true },
		{ "E.1.0.all.all.all.stale.2", true },
		{ "{root}/bin/a.bad/E.1.0.all.all.all", false },
		{ "{root}/bin/a.bad-1/E.1.0.all.all.all", false },
		{ "{root}%-bin%-a.bad%-E.1.0.all.all.all", false },
		{ "{root}%-bin%-a%-E.1.0.all.all.all.bad-12", true },
		{ "E.1.0.all.all.all.badly", false },
		{ "E.1.0.all.all.all.bad2", false },
		{ "E.1.0.all.all.all.bad-", false },
		{ "Ebad", false },
		{ "bad", false },
		{ ".bad", true },
		{ "stale", false },
		{ "-1", false },
		{ "1", false },
		{ "", false },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (op_sample_file_is_set_aside(rows[i].path) !=
		    rows[i].is_set_aside)
			fail_msg("%s", rows[i].path);
}
