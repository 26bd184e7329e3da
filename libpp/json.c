// SPDX-License-Identifier: GPL-2.0-or-later
/* Objects and arrays below the second level stand on one line. */

#include "libpp/json.h"

#include <inttypes.h>
#include <math.h>

#define REPLACEMENT "\\ufffd"
#define LINES_DEPTH 2

/* The length of the UTF-8 sequence at @s; 0 when it is none. */
static unsigned int sequence_len(const unsigned char *s)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	unsigned int len = *s < 0x80   ? 1
			   : *s < 0xc0 ? 0
			   : *s < 0xe0 ? 2
			   : *s < 0xf0 ? 3
			   : *s < 0xf8 ? 4
				       : 0;
	uint32_t c = *s & (0xff >> (len + 1));

	for (unsigned int i = 1; i < len; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (s[i] & 0x3f);
	}
	if (len < 2)
		return len;
	return c >= least[len] && c <= 0x10ffff && (c < 0xd800 || c > 0xdfff)
		       ? len
		       : 0;
}

static void write_string(FILE *out, const char *text)
{
	const unsigned char *s = (const unsigned char *)text;

	fputc('"', out);
	while (*s) {
		unsigned int len = sequence_len(s);

		if (*s == '"' || *s == '\\')
			fprintf(out, "\\%c", *s);
		else if (*s < 0x20 || *s == 0x7f)
			fprintf(out, "\\u%04x", *s);
		else if (len)
			fwrite(s, len, 1, out);
		else
			fputs(REPLACEMENT, out);
		s += len ? len : 1;
	}
	fputc('"', out);
}

static void begin(struct pp_json *json, const char *key)
{
	if (json->begun)
		fputc(',', json->out);
	if (json->depth && json->depth <= LINES_DEPTH)
		fprintf(json->out, "\n%*s", (int)json->depth, "");
	else if (json->begun)
		fputc(' ', json->out);
	json->begun = true;
	if (!key)
		return;
	write_string(json->out, key);
	fputs(": ", json->out);
}

void pp_json_open(struct pp_json *json, const char *key, char bracket)
{
	begin(json, key);
	fputc(bracket, json->out);
	json->depth++;
	json->begun = false;
}

void pp_json_close(struct pp_json *json, char bracket)
{
	json->depth--;
	if (json->begun && json->depth < LINES_DEPTH)
		fprintf(json->out, "\n%*s", (int)json->depth, "");
	fputc(bracket, json->out);
	json->begun = true;
}

void pp_json_text(struct pp_json *json, const char *key, const char *text)
{
	begin(json, key);
	if (text)
		write_string(json->out, text);
	else
		fputs("null", json->out);
}

void pp_json_u64(struct pp_json *json, const char *key, uint64_t value)
{
	begin(json, key);
	fprintf(json->out, "%" PRIu64, value);
}

void pp_json_i64(struct pp_json *json, const char *key, int64_t value)
{
	begin(json, key);
	fprintf(json->out, "%" PRId64, value);
}

void pp_json_bool(struct pp_json *json, const char *key, bool value)
{
	begin(json, key);
	fputs(value ? "true" : "false", json->out);
}

void pp_json_double(struct pp_json *json, const char *key, double value)
{
	begin(json, key);
	if (isfinite(value))
		fprintf(json->out, "%.9g", value);
	else
		fputs("null", json->out);
}
