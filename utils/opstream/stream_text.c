// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Printing never trusts itself: the readable form of a record is kept only if
 * parsing it gives back the same words; else the record is written as
 * "record CODE FLAGS WORD...". What is no record or sample is "raw WORD".
 */

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libop/base/op_array.h"
#include "libop/image/op_build_id.h"
#include "libop/files/op_config.h"
#include "module/uapi/oprofile.h"
#include "utils/opstream/stream_text.h"

/*
 * The parts of a payload, in order: d a decimal word, x a hexadecimal one,
 * m the magic (not shown), b a build-id (its length and four words), s a
 * string, * all further words. What follows ? may be absent. f are flags in
 * words, no part of the payload, and l the one that TIMES has.
 */
#define PARTS_CTX_SWITCH "dd"
#define PARTS_CPU_SWITCH "d"
#define PARTS_COOKIE_SWITCH "d"
#define PARTS_KERNEL_ENTER ""
#define PARTS_USER_ENTER ""
#define PARTS_MODULE_LOADED "?xxs?xx"
#define PARTS_CTX_TGID "d?d"
#define PARTS_TRACE_BEGIN ""
#define PARTS_TRACE_END "d"
#define PARTS_IBS_FETCH "*"
#define PARTS_IBS_OP "*"
#define PARTS_USER_STACK "*"
#define PARTS_ANON_SWITCH "xxs"
#define PARTS_STREAM_BEGIN "mdd?ds"
#define PARTS_EVENT "dxdxdds"
#define PARTS_COOKIE_NAME "ddxddbs"
#define PARTS_KERNEL_RANGE "fxxbs"
#define PARTS_LOST "ds"
#define PARTS_WEIGHT "d"
#define PARTS_SOURCE "xs"
#define PARTS_TAKEN "d"
#define PARTS_TASK_NAME "dds"
#define PARTS_TASK_CGROUP "dds"
#define PARTS_TASK_RUN_AS "dds"
#define PARTS_EVENT_TIME "ddd?dd?ddd"
#define PARTS_TIMES "ld"
#define PARTS_CALL "dddxdx"
#define PARTS_TIME "d"

/* By bit: OP_KERNEL_FIRST, OP_KERNEL_CODE, OP_KERNEL_INIT; OP_TIMES_LOWERED. */
static const struct flag_words {
	char part;
	const char *words[4]; /* ended by NULL */
} flag_words[] = { { 'f', { "first", "code", "init" } },
		   { 'l', { "lowered" } } };

static const char *const *words_of_flags(char part)
{
	for (size_t i = 0; i < sizeof(flag_words) / sizeof(flag_words[0]); i++)
		if (flag_words[i].part == part)
			return flag_words[i].words;
	return NULL;
}

struct code {
	uint32_t code;
	const char *name;
	const char *parts;
};

static const struct code codes[] = {
#define X(name, nr, words, text) { (nr), (text), PARTS_##name },
	OP_CODES(X)
#undef X
};

#define NR_CODES (sizeof(codes) / sizeof(codes[0]))

/* Words that one line may stand for, so that a typing error does not make a
 * gigabyte of them. */
#define MAX_REPEAT 10000000u

static const struct code *find_code(uint32_t code)
{
	for (size_t i = 0; i < NR_CODES; i++)
		if (codes[i].code == code)
			return &codes[i];
	return NULL;
}

const char *stream_code_name(uint32_t code)
{
	const struct code *c = find_code(code);

	return c ? c->name : NULL;
}

/* ---- memory ---------------------------------------------------------------
 */

void stream_buf_release(struct stream_buf *buf)
{
	free(buf->data);
	memset(buf, 0, sizeof(*buf));
}

int stream_buf_add(struct stream_buf *buf, const void *data, size_t len)
{
	/* The zero that ends the text is not counted in len. */
	int err = op_array_reserve(&buf->data, buf->len, len + 1);

	if (err)
		return err;
	if (len)
		memcpy(buf->data + buf->len, data, len);
	buf->len += len;
	buf->data[buf->len] = '\0';
	return 0;
}

static int add_stream_word(struct stream_buf *buf, uint64_t word)
{
	return stream_buf_add(buf, &word, sizeof(word));
}

__attribute__((format(printf, 2, 3))) static int
add_text(struct stream_buf *buf, const char *fmt, ...)
{
	char text[96];
	va_list args;
	int len;

	va_start(args, fmt);
	len = vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	return stream_buf_add(buf, text, (size_t)len);
}

/* ---- from words to text ---------------------------------------------------
 */

static bool raw_unit(struct stream_unit *unit)
{
	unit->kind = STREAM_RAW;
	unit->words = 1;
	return true;
}

bool stream_unit_at(struct stream_unit *unit, const uint64_t *words, size_t nr,
		    bool last)
{
	memset(unit, 0, sizeof(*unit));
	if (nr < 2)
		return nr && last ? raw_unit(unit) : false;
	if (words[0] != OP_ESCAPE) {
		if (words[1] == OP_ESCAPE)
			return raw_unit(unit);
		unit->kind = STREAM_SAMPLE;
		unit->words = 2;
		return true;
	}
	unit->nr_words = OP_WORDS_OF(words[1]);
	if (unit->nr_words > OP_MAX_RECORD_WORDS)
		return raw_unit(unit);
	if (unit->nr_words > nr - 2)
		return last ? raw_unit(unit) : false;
	unit->kind = STREAM_RECORD;
	unit->words = 2 + (size_t)unit->nr_words;
	unit->code = OP_CODE_OF(words[1]);
	unit->flags = OP_FLAGS_OF(words[1]);
	unit->payload = words + 2;
	return true;
}

static int print_hex(struct stream_buf *out, const uint8_t *bytes, size_t len)
{
	int err = 0;

	for (size_t i = 0; i < len && !err; i++)
		err = add_text(out, "%02x", bytes[i]);
	return err;
}

/* The number of words that were used is added to *@at. */
static int print_build_id(struct stream_buf *out,
			  const struct stream_unit *unit, size_t *at)
{
	char text[OP_BUILD_TEXT_MAX] = "-";
	struct op_build_id id;
	uint64_t len;

	if (unit->nr_words - *at < 1 + sizeof(id.bytes) / 8)
		return -EINVAL;
	len = unit->payload[*at];
	if (len > sizeof(id.bytes))
		return -EINVAL;
	id = op_build_id_of_room((const uint8_t *)&unit->payload[*at + 1], len);
	if (len)
		op_build_text(text, &id, 0, 0, 0);
	*at += 1 + sizeof(id.bytes) / 8;
	return add_text(out, "%s", text);
}

static int print_string(struct stream_buf *out, const struct stream_unit *unit,
			size_t *at)
{
	const unsigned char *s;
	uint64_t len;
	int err;

	if (*at >= unit->nr_words)
		return -EINVAL;
	len = unit->payload[*at];
	if (len > (unit->nr_words - *at - 1) * (uint64_t)8)
		return -EINVAL;
	s = (const unsigned char *)(unit->payload + *at + 1);
	err = add_text(out, "\"");
	for (uint64_t i = 0; i < len && !err; i++) {
		if (s[i] == '"' || s[i] == '\\')
			err = add_text(out, "\\%c", s[i]);
		else if (s[i] < ' ' || s[i] > '~')
			err = add_text(out, "\\x%02x", s[i]);
		else
			err = stream_buf_add(out, &s[i], 1);
	}
	*at += 1 + (len + 7) / 8;
	return err ? err : add_text(out, "\"");
}

static int print_word(struct stream_buf *out, const struct stream_unit *unit,
		      size_t *at, char how)
{
	if (*at >= unit->nr_words)
		return -EINVAL;
	if (how == 'd')
		return add_text(out, "%" PRIu64, unit->payload[(*at)++]);
	return add_text(out, "0x%" PRIx64, unit->payload[(*at)++]);
}

/* Flags without a word make it a record that does not read back. */
static int print_flags(struct stream_buf *out, const char *const *words,
		       uint32_t flags)
{
	int err = 0;

	for (size_t i = 0; words[i] && !err; i++)
		if (flags & 1u << i)
			err = add_text(out, " %s", words[i]);
	return err;
}

static int print_part(struct stream_buf *out, const struct stream_unit *unit,
		      char part, size_t *at)
{
	int err;

	if (part == 'm') {
		++*at;
		return 0;
	}
	if (part == '?')
		return 0;
	if (words_of_flags(part))
		return print_flags(out, words_of_flags(part), unit->flags);
	if (part == '*') {
		for (err = 0; *at < unit->nr_words && !err;) {
			err = add_text(out, " ");
			if (!err)
				err = print_word(out, unit, at, 'x');
		}
		return err;
	}
	err = add_text(out, " ");
	if (err)
		return err;
	if (part == 's')
		return print_string(out, unit, at);
	if (part == 'b')
		return print_build_id(out, unit, at);
	return print_word(out, unit, at, part);
}

/* Whether the text from @start in @out stands for exactly @unit's words. */
static bool reads_back(const struct stream_buf *out, size_t start,
		       const struct stream_unit *unit, const uint64_t *words)
{
	struct stream_buf back = { NULL, 0 };
	const char *why;
	bool same;

	same = !stream_text_parse(&back, out->data + start, &why) &&
	       back.len == unit->words * sizeof(*words) &&
	       !memcmp(back.data, words, back.len);
	stream_buf_release(&back);
	return same;
}

/* Returns 0, -ENOMEM, or -EINVAL when there is no readable form. */
static int print_readable(struct stream_buf *out,
			  const struct stream_unit *unit, const uint64_t *words)
{
	const struct code *code = find_code(unit->code);
	size_t start = out->len;
	size_t at = 0;
	int err;

	if (!code)
		return -EINVAL;
	err = add_text(out, "%s", code->name);
	for (const char *p = code->parts; *p && !err; p++) {
		if (*p == '?' && at == unit->nr_words)
			break;
		err = print_part(out, unit, *p, &at);
	}
	if (!err && !reads_back(out, start, unit, words))
		err = -EINVAL;
	if (err)
		out->len = start;
	return err;
}

static int print_record(struct stream_buf *out, const struct stream_unit *unit,
			const uint64_t *words)
{
	int err = print_readable(out, unit, words);

	if (err != -EINVAL)
		return err;
	err = add_text(out, "record %u %u", unit->code, unit->flags);
	for (size_t i = 0; i < unit->nr_words && !err; i++)
		err = add_text(out, " 0x%" PRIx64, unit->payload[i]);
	return err;
}

int stream_text_print(struct stream_buf *out, const struct stream_unit *unit,
		      const uint64_t *words)
{
	int err;

	if (unit->kind == STREAM_SAMPLE)
		return add_text(out, "sample 0x%" PRIx64 " %" PRIu64 "\n",
				words[0], words[1]);
	if (unit->kind == STREAM_RAW)
		return add_text(out, "raw 0x%" PRIx64 "\n", words[0]);
	err = print_record(out, unit, words);
	return err ? err : add_text(out, "\n");
}

int stream_text_print_rest(struct stream_buf *out, const void *data, size_t len)
{
	int err = add_text(out, "bytes ");

	if (!err)
		err = print_hex(out, data, len);
	return err ? err : add_text(out, "\n");
}

/* ---- from text to words ---------------------------------------------------
 */

/* The rest of a line, and the reason for refusing it. */
struct parser {
	const char *at;
	const char *why;
};

static int refuse_line(struct parser *p, const char *why)
{
	if (!p->why)
		p->why = why;
	return -EINVAL;
}

static bool at_end(struct parser *p)
{
	while (*p->at == ' ' || *p->at == '\t' || *p->at == '\r')
		p->at++;
	return *p->at == '\0' || *p->at == '\n' || *p->at == '#';
}

/* The next word of the line, not unquoted. */
static int parse_token(struct parser *p, const char **token, size_t *len)
{
	if (at_end(p))
		return refuse_line(p, "the line ends too early");
	*token = p->at;
	*len = strcspn(p->at, " \t\r\n#");
	p->at += *len;
	return 0;
}

static int parse_stream_number(struct parser *p, uint64_t *out)
{
	const char *token;
	char *end;
	size_t len;
	int err = parse_token(p, &token, &len);

	if (err)
		return err;
	if (!isdigit((unsigned char)token[0]))
		return refuse_line(p, "expected a number (decimal or 0x...)");
	errno = 0;
	*out = strtoull(token, &end, token[1] == 'x' ? 16 : 10);
	if (end != token + len)
		return refuse_line(p, "expected a number (decimal or 0x...)");
	return errno ? refuse_line(p, "the number is above 64 bits") : 0;
}

static int parse_word(struct parser *p, struct stream_buf *out)
{
	uint64_t word;
	int err = parse_stream_number(p, &word);

	return err ? err : add_stream_word(out, word);
}

static int parse_words(struct parser *p, struct stream_buf *out)
{
	int err = 0;

	while (!err && !at_end(p))
		err = parse_word(p, out);
	return err;
}

/* The @len characters at @token, pairs of hex digits; at most @max bytes to
 * @bytes. */
static int parse_hex_digits(struct parser *p, const char *token, size_t len,
			    uint8_t *bytes, size_t max, size_t *nr)
{
	if (len % 2 || len / 2 > max)
		return refuse_line(p,
				   "too many or an odd number of hex digits");
	for (size_t i = 0; i < len; i += 2) {
		int high = op_hex_digit(token[i]);
		int low = op_hex_digit(token[i + 1]);

		if (high < 0 || low < 0)
			return refuse_line(p, "expected hex digits");
		bytes[i / 2] = (uint8_t)(high << 4 | low);
	}
	*nr = len / 2;
	return 0;
}

/* The same up to a blank. */
static int parse_hex(struct parser *p, uint8_t *bytes, size_t max, size_t *nr)
{
	const char *token;
	size_t len;
	int err = parse_token(p, &token, &len);

	return err ? err : parse_hex_digits(p, token, len, bytes, max, nr);
}

/* A build-id, and its fingerprint behind a "-". */
static int parse_build_digits(struct parser *p, uint8_t room[OP_BUILD_ID_MAX],
			      size_t *nr)
{
	const size_t at = OP_FINGERPRINT_AT;
	const char *token;
	size_t len;
	int err = parse_token(p, &token, &len);
	size_t id_len = err ? 0 : strcspn(token, "- \t");

	if (err)
		return err;
	if (id_len >= len)
		return parse_hex_digits(p, token, len, room, OP_BUILD_ID_MAX,
					nr);
	if (len - id_len - 1 != 2 * (OP_BUILD_ID_MAX - at))
		return refuse_line(p, "a fingerprint has 16 hex digits");
	return parse_hex_digits(p, token, id_len, room, at, nr)
		       ?: parse_hex_digits(p, token + id_len + 1,
					   len - id_len - 1, room + at,
					   OP_BUILD_ID_MAX - at,
					   &(size_t){ 0 });
}

static int parse_build_id(struct parser *p, struct stream_buf *out)
{
	uint8_t id[OP_BUILD_ID_MAX] = { 0 };
	size_t len = 0;
	int err = 0;

	if (!at_end(p) && p->at[0] == '-' && strchr(" \t", p->at[1]))
		p->at++;
	else
		err = parse_build_digits(p, id, &len);
	if (!err)
		err = add_stream_word(out, len);
	return err ? err : stream_buf_add(out, id, sizeof(id));
}

/* Parse a byte of a quoted string at p->at, and move p->at after it. */
static int parse_quoted_byte(struct parser *p, char *byte)
{
	*byte = *p->at++;
	if (*byte == '\0' || *byte == '\n')
		return refuse_line(p, "the string has no closing quote");
	if (*byte != '\\')
		return 0;
	*byte = *p->at++;
	if (*byte == 'x') {
		int high = op_hex_digit(p->at[0]);
		int low = high < 0 ? -1 : op_hex_digit(p->at[1]);

		if (low < 0)
			return refuse_line(p,
					   "expected two hex digits after \\x");
		*byte = (char)(high << 4 | low);
		p->at += 2;
		return 0;
	}
	return *byte == '\\' || *byte == '"'
		       ? 0
		       : refuse_line(p, "only \\, \" and x may follow \\");
}

static int parse_quoted(struct parser *p, struct stream_buf *text)
{
	int err = 0;

	for (p->at++; !err && *p->at != '"';) {
		char byte;

		err = parse_quoted_byte(p, &byte);
		if (!err)
			err = stream_buf_add(text, &byte, 1);
	}
	p->at += !err;
	return err;
}

static int parse_bare(struct parser *p, struct stream_buf *text)
{
	const char *token;
	size_t len;
	int err = parse_token(p, &token, &len);

	return err ? err : stream_buf_add(text, token, len);
}

static int parse_string(struct parser *p, struct stream_buf *out)
{
	static const char zeros[8];
	struct stream_buf text = { NULL, 0 };
	int err;

	if (!at_end(p) && *p->at == '"')
		err = parse_quoted(p, &text);
	else
		err = parse_bare(p, &text);
	if (!err)
		err = add_stream_word(out, text.len);
	if (!err)
		err = stream_buf_add(out, text.data, text.len);
	if (!err)
		err = stream_buf_add(out, zeros, -text.len % 8);
	stream_buf_release(&text);
	return err;
}

static int parse_flags(struct parser *p, const char *const *words,
		       uint32_t *flags)
{
	for (size_t i = 0; words[i]; i++) {
		size_t len = strlen(words[i]);

		if (at_end(p) || strncmp(p->at, words[i], len) ||
		    !strchr(" \t", p->at[len]))
			continue;
		p->at += len;
		*flags |= 1u << i;
	}
	return 0;
}

static int parse_part(struct parser *p, struct stream_buf *payload, char part,
		      uint32_t *flags)
{
	switch (part) {
	case '?':
		return 0;
	case 'm':
		return add_stream_word(payload, OP_STREAM_MAGIC);
	case 'f':
	case 'l':
		return parse_flags(p, words_of_flags(part), flags);
	case 'b':
		return parse_build_id(p, payload);
	case 's':
		return parse_string(p, payload);
	case '*':
		return parse_words(p, payload);
	default:
		return parse_word(p, payload);
	}
}

static int add_record_words(struct stream_buf *out, uint64_t code,
			    uint64_t flags, const struct stream_buf *payload)
{
	int err = add_stream_word(out, OP_ESCAPE);

	if (!err)
		err = add_stream_word(out, OP_CODE_WORD(code, flags,
							payload->len / 8));
	return err ? err : stream_buf_add(out, payload->data, payload->len);
}

static int parse_readable(struct parser *p, struct stream_buf *out,
			  const struct code *code)
{
	struct stream_buf payload = { NULL, 0 };
	uint32_t flags = 0;
	int err = 0;

	for (const char *part = code->parts; *part && !err; part++) {
		if (*part == '?' && at_end(p))
			break;
		err = parse_part(p, &payload, *part, &flags);
	}
	if (!err)
		err = add_record_words(out, code->code, flags, &payload);
	stream_buf_release(&payload);
	return err;
}

/* "record CODE FLAGS WORD..." */
static int parse_record(struct parser *p, struct stream_buf *out)
{
	struct stream_buf payload = { NULL, 0 };
	uint64_t code, flags;
	int err = parse_stream_number(p, &code);

	if (!err)
		err = parse_stream_number(p, &flags);
	if (!err && (code > UINT16_MAX || flags > UINT16_MAX))
		err = refuse_line(p, "code and flags have 16 bits each");
	if (!err)
		err = parse_words(p, &payload);
	if (!err)
		err = add_record_words(out, code, flags, &payload);
	stream_buf_release(&payload);
	return err;
}

/* The number behind an optional "x": how often a sample is meant. */
static int parse_repeat(struct parser *p, uint64_t *times)
{
	int err;

	*times = 1;
	if (at_end(p) || *p->at != 'x')
		return 0;
	p->at++;
	err = parse_stream_number(p, times);
	if (err)
		return err;
	return *times > MAX_REPEAT ? refuse_line(p, "too many times") : 0;
}

/* "sample OFFSET COUNTER [xTIMES]" */
static int parse_sample(struct parser *p, struct stream_buf *out)
{
	uint64_t word[2], times;
	int err = parse_stream_number(p, &word[0]);

	if (!err)
		err = parse_stream_number(p, &word[1]);
	if (!err && (word[0] == OP_ESCAPE || word[1] == OP_ESCAPE))
		err = refuse_line(p,
				  "the escape word is in no sample; use raw");
	if (!err)
		err = parse_repeat(p, &times);
	for (uint64_t i = 0; !err && i < times; i++)
		err = stream_buf_add(out, word, sizeof(word));
	return err;
}

static int parse_rest(struct parser *p, struct stream_buf *out)
{
	uint8_t bytes[256];
	size_t len;
	int err = parse_hex(p, bytes, sizeof(bytes), &len);

	return err ? err : stream_buf_add(out, bytes, len);
}

static bool token_is(const char *token, size_t len, const char *name)
{
	return strlen(name) == len && !memcmp(token, name, len);
}

static int parse_record_line(struct parser *p, struct stream_buf *out,
			     const char *name, size_t len)
{
	if (token_is(name, len, "sample"))
		return parse_sample(p, out);
	if (token_is(name, len, "raw"))
		return parse_words(p, out);
	if (token_is(name, len, "record"))
		return parse_record(p, out);
	if (token_is(name, len, "bytes"))
		return parse_rest(p, out);
	for (size_t i = 0; i < NR_CODES; i++)
		if (token_is(name, len, codes[i].name))
			return parse_readable(p, out, &codes[i]);
	return refuse_line(p, "no such record");
}

int stream_text_parse(struct stream_buf *out, const char *line,
		      const char **why)
{
	struct parser p = { line, NULL };
	size_t start = out->len;
	const char *name;
	size_t len;
	int err;

	if (at_end(&p))
		return 0;
	err = parse_token(&p, &name, &len);
	if (!err)
		err = parse_record_line(&p, out, name, len);
	if (!err && !at_end(&p))
		err = refuse_line(&p,
				  "the line has more fields than the record");
	if (err)
		out->len = start;
	*why = p.why;
	return err;
}
