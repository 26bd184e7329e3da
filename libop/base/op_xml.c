// SPDX-License-Identifier: GPL-2.0-or-later

#include "libop/base/op_xml.h"

#include <string.h>

#include "libop/base/op_decimal.h"
#include "libop/base/op_utf8.h"

/* Control characters that XML does not allow (XML 1.0, 2.2) become question
 * marks. */
static void xml_write_escaped(FILE *out, const char *text)
{
	for (;;) {
		size_t plain = op_unescaped_len(text);
		unsigned int len;

		fwrite_unlocked(text, 1, plain, out);
		text += plain;
		if (!*text)
			return;
		len = op_utf8_len(text);
		if ((unsigned char)*text < ' ' || *text == 0x7f ||
		    !strncmp(text, "\xef\xbf\xbe", 3) ||
		    !strncmp(text, "\xef\xbf\xbf", 3))
			len = 0;
		if (!len)
			fputc('?', out);
		else if (*text == '<')
			fputs("&lt;", out);
		else if (*text == '>')
			fputs("&gt;", out);
		else if (*text == '&')
			fputs("&amp;", out);
		else if (*text == '"')
			fputs("&quot;", out);
		else
			fwrite(text, len, 1, out);
		text += len ? len : 1;
	}
}

void op_xml_attr(FILE *out, const char *name, const char *text)
{
	if (!text)
		return;
	putc_unlocked(' ', out);
	fputs_unlocked(name, out);
	fputs_unlocked("=\"", out);
	xml_write_escaped(out, text);
	putc_unlocked('"', out);
}

void op_xml_number(FILE *out, const char *name, uint64_t number)
{
	char digits[OP_DECIMAL_LEN];

	op_decimal_u64(digits, number);
	op_xml_attr(out, name, digits);
}
