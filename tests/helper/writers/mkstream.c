// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * mkstream [FILE]: turn the text form of a stream into a stream on standard
 * output. The opposite of opstream.
 */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "utils/opstream/stream_text.h"

static int write_stream(FILE *in, const char *name)
{
	struct stream_buf out = { NULL, 0 };
	unsigned long nr = 0;
	char *line = NULL;
	size_t room = 0;
	int rc = 0;

	while (!rc && getline(&line, &room, in) >= 0) {
		const char *why = "out of memory";

		nr++;
		out.len = 0;
		if (stream_text_parse(&out, line, &why)) {
			fprintf(stderr, "mkstream: %s:%lu: %s\n", name, nr,
				why);
			rc = 1;
		} else if (out.len &&
			   fwrite(out.data, out.len, 1, stdout) != 1) {
			fprintf(stderr, "mkstream: standard output: %s\n",
				strerror(errno));
			rc = 1;
		}
	}
	free(line);
	stream_buf_release(&out);
	return rc;
}

int main(int argc, char **argv)
{
	FILE *in = stdin;
	int rc;

	if (argc > 2) {
		fprintf(stderr, "mkstream: usage: mkstream [FILE]\n");
		return 2;
	}
	if (argc == 2)
		in = fopen(argv[1], "r");
	if (!in) {
		fprintf(stderr, "mkstream: %s: %s\n", argv[1], strerror(errno));
		return 1;
	}
	rc = write_stream(in, argc == 2 ? argv[1] : "standard input");
	if (in != stdin)
		fclose(in);
	if (fflush(stdout)) {
		fprintf(stderr, "mkstream: standard output: %s\n",
			strerror(errno));
		rc = 1;
	}
	return rc;
}
