// SPDX-License-Identifier: GPL-2.0-or-later

#include <byteswap.h>

#include "tests/unit/opd_fixture.h"

static enum opd_unit take(struct words *w, size_t at, size_t nr,
			  struct opd_rec *rec, size_t *used)
{
	struct opd_stream s = { w->word + at, w->word + at + nr };
	enum opd_unit unit = opd_stream_record(&s, rec);

	*used = (size_t)(s.at - (w->word + at));
	return unit;
}

TEST(records_are_whole_or_not_there)
{
	struct words w = { .nr = 0 };
	struct opd_rec rec;
	size_t used;

	put_record(&w, 77, 3, U(1), U(2), U(3));
	for (size_t nr = 1; nr < w.nr; nr++) {
		assert_int_equal(take(&w, 0, nr, &rec, &used), OPD_UNIT_MORE);
		assert_int_equal(used, 0);
	}
	assert_int_equal(take(&w, 0, w.nr, &rec, &used), OPD_UNIT_RECORD);
	assert_int_equal(used, 5);
	assert_int_equal(rec.code, 77);
	assert_int_equal(rec.nr_words, 3);
	assert_int_equal(rec.payload[2], 3);
}

TEST(length_has_a_limit)
{
	struct words w = { .nr = 0 };
	struct opd_rec rec;
	size_t used;

	put(&w, OP_ESCAPE);
	put(&w, OP_CODE_WORD(1, 0, OP_MAX_RECORD_WORDS));
	assert_int_equal(take(&w, 0, 2, &rec, &used), OPD_UNIT_MORE);
	w.word[1] = OP_CODE_WORD(1, 0, OP_MAX_RECORD_WORDS + 1);
	assert_int_equal(take(&w, 0, 2, &rec, &used), OPD_UNIT_BAD);
	assert_int_equal(used, 0);
	w.word[1] = ~U(0);
	assert_int_equal(take(&w, 0, 2, &rec, &used), OPD_UNIT_BAD);
}

TEST(resync_finds_cpu_switches_only)
{
	struct words w = { .nr = 0 };
	struct opd_stream s;
	size_t at;

	put(&w, 5);
	put_user(&w);
	put_cpu(&w, OPD_MAX_CPU + 1);
	put_record(&w, OP_CPU_SWITCH, 2, U(0), U(0));
	at = w.nr;
	put_cpu(&w, 3);
	s = (struct opd_stream){ w.word, w.word + w.nr };
	assert_true(opd_stream_resync(&s));
	assert_int_equal(s.at - w.word, at);
}

TEST(resync_keeps_a_possible_start)
{
	struct words w = { .nr = 0 };
	struct opd_stream s;

	put(&w, 1);
	put_cpu(&w, 3);
	for (size_t nr = 2; nr < 4; nr++) {
		s = (struct opd_stream){ w.word, w.word + nr };
		assert_false(opd_stream_resync(&s));
		assert_int_equal(s.at - w.word, 1);
	}
	s = (struct opd_stream){ w.word, w.word + 1 };
	assert_false(opd_stream_resync(&s));
	assert_ptr_equal(s.at, s.end);
}

static int get_string(uint64_t len, const char *bytes, size_t room, char *buf)
{
	uint64_t payload[3] = { len, 0, 0 };
	struct opd_rec rec = { .nr_words = 3, .payload = payload };

	memcpy(payload + 1, bytes, 16);
	return opd_stream_string(&rec, 0, buf, room);
}

TEST(strings_are_checked)
{
	char buf[32];

	assert_int_equal(get_string(5, "hello___________", 32, buf), 0);
	assert_string_equal(buf, "hello");
	assert_int_equal(get_string(16, "0123456789abcdef", 17, buf), 0);
	assert_string_equal(buf, "0123456789abcdef");
	assert_int_equal(get_string(16, "0123456789abcdef", 16, buf), -EINVAL);
	assert_int_equal(get_string(17, "0123456789abcdef", 32, buf), -EINVAL);
	assert_int_equal(get_string(~U(0), "0123456789abcdef", 32, buf),
			 -EINVAL);
	assert_int_equal(get_string(0, "0123456789abcdef", 32, buf), -EINVAL);
	assert_int_equal(get_string(5, "he\0lo___________", 32, buf), -EINVAL);
}

static int begins(struct words *w, struct op_diag *diag)
{
	diag->text[0] = '\0';
	return opd_stream_begins(w->word, w->nr, diag);
}

TEST(streams_that_cannot_be_read_are_told)
{
	struct words w = { .nr = 0 };
	struct op_diag diag;

	put_begin(&w);
	assert_int_equal(begins(&w, &diag), 0);
	w.word[3] = OP_ABI_VERSION + 1;
	assert_int_equal(begins(&w, &diag), -EPROTO);
	assert_non_null(strstr(diag.text, "version"));
	w.word[3] = OP_ABI_VERSION;
	w.word[4] = 5;
	assert_int_equal(begins(&w, &diag), -EPROTO);
	assert_non_null(strstr(diag.text, "pointer size"));
	w.word[4] = 8;
	for (size_t i = 0; i < w.nr; i++)
		w.word[i] = bswap_64(w.word[i]);
	assert_int_equal(begins(&w, &diag), -EPROTO);
	assert_non_null(strstr(diag.text, "byte order"));
	w.word[0] = 0;
	assert_int_equal(begins(&w, &diag), -EPROTO);
	assert_non_null(strstr(diag.text, "not a recorded stream"));
	w.nr = 4;
	assert_int_equal(begins(&w, &diag), -EAGAIN);
}
