// SPDX-License-Identifier: GPL-2.0-or-later
/* Objects and arrays below the second level stand on one line. */

#include "libop/base/op_json.h"

#include <inttypes.h>
#include <math.h>

#include "libop/base/op_decimal.h"
#include "libop/base/op_utf8.h"

#define REPLACEMENT "\\ufffd"
#define LINES_DEPTH 2

static void write_json_string(FILE *out, const char *text)
{
	putc_unlocked('"', out);
	for (;;) {
		size_t plain = op_unescaped_len(text);
		unsigned int len;
		unsigned char c;

		fwrite_unlocked(text, 1, plain, out);
		text += plain;
		c = (unsigned char)*text;
		if (!c)
			break;
		len = op_utf8_len(text);
		if (c == '"' || c == '\\')
			fprintf(out, "\\%c", c);
		else if (c < 0x20 || c == 0x7f)
			fprintf(out, "\\u%04x", c);
		else if (len)
			fwrite(text, len, 1, out);
		else
			fputs(REPLACEMENT, out);
		text += len ? len : 1;
	}
	putc_unlocked('"', out);
}

static void begin_value(struct op_json *json, const char *key)
{
	if (json->begun)
		putc_unlocked(',', json->out);
	if (json->depth && json->depth <= LINES_DEPTH)
		fprintf(json->out, "\n%*s", (int)json->depth, "");
	else if (json->begun)
		putc_unlocked(' ', json->out);
	json->begun = true;
	if (!key)
		return;
	write_json_string(json->out, key);
	fputs_unlocked(": ", json->out);
}

void op_json_open(struct op_json *json, const char *key, char bracket)
{
	begin_value(json, key);
	fputc(bracket, json->out);
	json->depth++;
	json->begun = false;
}

void op_json_close(struct op_json *json, char bracket)
{
	json->depth--;
	if (json->begun && json->depth < LINES_DEPTH)
		fprintf(json->out, "\n%*s", (int)json->depth, "");
	fputc(bracket, json->out);
	json->begun = true;
}

void op_json_text(struct op_json *json, const char *key, const char *text)
{
	begin_value(json, key);
	if (text)
		write_json_string(json->out, text);
	else
		fputs("null", json->out);
}

void op_json_u64(struct op_json *json, const char *key, uint64_t value)
{
	char digits[OP_DECIMAL_LEN];

	begin_value(json, key);
	fwrite_unlocked(digits, 1, op_decimal_u64(digits, value), json->out);
}

void op_json_i64(struct op_json *json, const char *key, int64_t value)
{
	begin_value(json, key);
	fprintf(json->out, "%" PRId64, value);
}

void op_json_bool(struct op_json *json, const char *key, bool value)
{
	begin_value(json, key);
	fputs(value ? "true" : "false", json->out);
}

void op_json_digits(struct op_json *json, const char *key, const char *digits)
{
	begin_value(json, key);
	fputs(digits, json->out);
}

void op_json_double(struct op_json *json, const char *key, double value)
{
	begin_value(json, key);
	if (isfinite(value))
		fprintf(json->out, "%.9g", value);
	else
		fputs("null", json->out);
}
