// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * opstream: print a recorded stream as text, or count what is in it.
 *
 * The stream is read in chunks that hold at least one record of the largest
 * size, and what is not whole at the end of a chunk is moved to the start of
 * the next one; so memory is bounded, and a pipe can be read. What is at the
 * end of the file and belongs to no record is shown as such, not dropped.
 */

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <popt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config.h"
#include "libop/options/op_arguments.h"
#include "libop/options/op_bad_option.h"
#include "libop/options/op_pager.h"
#include "module/uapi/oprofile.h"
#include "utils/opstream/stream_text.h"

#define CHUNK_WORDS 65536

_Static_assert(CHUNK_WORDS >= OP_MAX_RECORD_WORDS + 2, "a record fits");

struct counts {
	uint64_t samples;
	uint64_t raw; /* words that belong to nothing */
	uint64_t rest; /* bytes after the last word */
	uint64_t records[UINT16_MAX + 1]; /* by code */
};

struct opstream {
	const char *name;
	int fd;
	struct counts *counts; /* NULL: print */
	struct stream_buf text;
	uint64_t words[CHUNK_WORDS];
	size_t len; /* bytes in words */
	struct op_pager pager;
	bool is_left; /* the pager, before the end */
};

static int fail_opstream(const char *what, int err, const char *hint)
{
	fflush(stdout);
	fprintf(stderr, "opstream: %s: %s%s\n", what, strerror(-err), hint);
	return -1;
}

static int write_stream_text(struct opstream *s)
{
	if (s->text.len && fwrite(s->text.data, s->text.len, 1, stdout) != 1) {
		/* A user who leaves the pager has seen enough. */
		s->is_left = s->pager.pid && errno == EPIPE;
		return s->is_left
			       ? -1
			       : fail_opstream("standard output", -errno, "");
	}
	s->text.len = 0;
	return 0;
}

/* Handle all whole units of the chunk and move the rest to its start. */
static int handle_chunk(struct opstream *s, bool last)
{
	size_t nr = s->len / sizeof(s->words[0]);
	struct stream_unit unit;
	size_t at = 0;

	while (stream_unit_at(&unit, s->words + at, nr - at, last)) {
		if (!s->counts) {
			if (stream_text_print(&s->text, &unit, s->words + at))
				return fail_opstream(s->name, -ENOMEM, "");
		} else if (unit.kind == STREAM_SAMPLE) {
			s->counts->samples++;
		} else if (unit.kind == STREAM_RECORD) {
			s->counts->records[unit.code]++;
		} else {
			s->counts->raw++;
		}
		at += unit.words;
	}
	s->len -= at * sizeof(s->words[0]);
	memmove(s->words, s->words + at, s->len);
	return write_stream_text(s);
}

static int handle_file(struct opstream *s)
{
	ssize_t got;

	do {
		got = read(s->fd, (char *)s->words + s->len,
			   sizeof(s->words) - s->len);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return fail_opstream(s->name, -errno,
					     "; give a file recorded by "
					     "oprofiled");
		s->len += (size_t)got;
		if (handle_chunk(s, !got))
			return -1;
	} while (got);
	if (s->counts)
		s->counts->rest = s->len;
	else if (s->len && stream_text_print_rest(&s->text, s->words, s->len))
		return fail_opstream(s->name, -ENOMEM, "");
	return write_stream_text(s);
}

static void print_counts(const struct counts *counts)
{
	printf("%20" PRIu64 "  samples\n", counts->samples);
	for (uint32_t code = 0; code <= UINT16_MAX; code++) {
		const char *name = stream_code_name(code);

		if (counts->records[code] && name)
			printf("%20" PRIu64 "  %s\n", counts->records[code],
			       name);
		else if (counts->records[code])
			printf("%20" PRIu64 "  record %u\n",
			       counts->records[code], code);
	}
	if (counts->raw)
		printf("%20" PRIu64 "  words outside of records\n",
		       counts->raw);
	if (counts->rest)
		printf("%20" PRIu64 "  bytes after the last word\n",
		       counts->rest);
}

static int open_stream(struct opstream *s, const char *name)
{
	s->fd = STDIN_FILENO;
	s->name = "standard input";
	if (!name || !strcmp(name, "-"))
		return 0;
	s->name = name;
	s->fd = open(name, O_RDONLY | O_CLOEXEC);
	if (s->fd < 0)
		return fail_opstream(
			name, -errno,
			"; give a file recorded by oprofiled --record");
	return 0;
}

static int run_opstream(const char *name, bool stats, bool is_paged)
{
	struct opstream *s = calloc(1, sizeof(*s));
	struct counts *counts = calloc(1, sizeof(*counts));
	struct op_diag diag = { "" };
	int err = -1;

	if (!s || !counts) {
		fail_opstream("start", -ENOMEM, "");
		goto out;
	}
	s->counts = stats ? counts : NULL;
	err = open_stream(s, name);
	/* A terminal that is read from is not one to page on. */
	op_pager_start(&s->pager, stdout,
		       !err && is_paged && s->fd != STDIN_FILENO, 0);
	if (!err)
		err = handle_file(s);
	if (!err && stats)
		print_counts(counts);
	if (s->is_left)
		err = 0;
	if (op_pager_end(&s->pager, stdout, &diag) && !err) {
		fprintf(stderr, "opstream: %s\n", diag.text);
		err = -1;
	}
	stream_buf_release(&s->text);
out:
	free(counts);
	free(s);
	return err ? 1 : 0;
}

int main(int argc, const char **argv)
{
	int stats = 0, no_pager = 0, version = 0;
	struct poptOption options[] = {
		{ "stats", 's', POPT_ARG_NONE, &stats, 0,
		  "count samples and records by code", NULL },
		{ "no-pager", 0, POPT_ARG_NONE, &no_pager, 0,
		  "use no pager on a terminal", NULL },
		{ "version", 'v', POPT_ARG_NONE, &version, 0,
		  "show the version", NULL },
		POPT_AUTOHELP POPT_TABLEEND
	};
	poptContext context;
	struct op_diag diag = { "" };
	const char *name;
	int rc;

	op_arguments_take_help(argc, argv);
	context = poptGetContext("opstream", argc, argv, options, 0);
	poptSetOtherOptionHelp(context, "[OPTION...] [FILE]");
	rc = poptGetNextOpt(context);
	name = poptGetArg(context);
	if (rc < -1)
		op_bad_option(&diag, "opstream", options, argv,
			      poptBadOption(context, 0), rc);
	else if (poptPeekArg(context))
		op_diag_set(&diag, -EINVAL,
			    "%s: give one file at a time; see opstream --help",
			    poptPeekArg(context));
	if (*diag.text) {
		fprintf(stderr, "opstream: %s\n", diag.text);
		rc = 2;
	} else if (version) {
		rc = puts("opstream: " PACKAGE_NAME " " PACKAGE_VERSION) < 0;
	} else {
		rc = run_opstream(name, stats, !no_pager);
	}
	poptFreeContext(context);
	return rc;
}
