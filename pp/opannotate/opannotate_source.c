// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Source files with the samples of each line, in the layout of the original
 * profiler: all of them behind each other, or each in a file of its own below
 * --output-dir, which is removed again if it could not be written whole. The
 * lines of the source are copied as they are; a file that cannot be read is
 * represented by the symbols that start in it, and one that is shorter than
 * its debug information says gets the missing lines at its end, so that no
 * sample is left out.
 */

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libop/files/op_file.h"
#include "libop/files/op_folder.h"
#include "libop/base/op_search.h"
#include "libpp/images/source_file.h"
#include "pp/opannotate/opannotate_files.h"
#include "pp/opannotate/opannotate_text.h"

/* A source file that is being annotated. */
struct source {
	const struct opannotate_text *text;
	const struct pp_annotated_file *file;
	const char *path; /* where it lies */
	FILE *in; /* NULL when it cannot be read */
};

/* ---- the lines ----------------------------------------------------------- */

static void write_source_line(const struct source *s, const char *text,
			      size_t len, const struct pp_annotated_line *line)
{
	FILE *out = s->text->out;

	opannotate_margin(s->text, line ? line->counts : NULL, NULL);
	fwrite(text, 1, len, out);
	if (line && line->nr_symbols)
		opannotate_symbols(s->text, line->symbols, line->nr_symbols);
	fputc('\n', out);
}

/* Print the counts of lines that the file does not have, or no longer has. */
static void write_missing_lines(const struct source *s, size_t from)
{
	size_t nr_missing = s->file->nr_lines - from;
	char text[40];

	if (!nr_missing)
		return;
	pp_message(
		s->text->messages, PP_WARNING,
		"%s: it ends before %zu of the lines with samples; it is another version",
		s->path, nr_missing);
	for (size_t i = from; i < s->file->nr_lines; i++) {
		int len = snprintf(text, sizeof(text), "<no line %u>",
				   s->file->lines[i].line);

		write_source_line(s, text, (size_t)len, &s->file->lines[i]);
	}
}

static int compare_symbol_addresses(const void *pa, const void *pb)
{
	const struct pp_symbol_entry *a = *(const void *const *)pa,
				     *b = *(const void *const *)pb;

	return strcmp(a->image->name, b->image->name)
		       ?: op_compare(a->vma, b->vma);
}

/* In place of a file that cannot be read: the symbols that start in it. */
static int list_symbols_of_source(const struct source *s)
{
	const struct pp_annotated_file *file = s->file;
	const struct pp_symbol_entry **symbols;
	size_t nr = 0, at = 0;

	for (size_t i = 0; i < file->nr_lines; i++)
		nr += file->lines[i].nr_symbols;
	symbols = calloc(nr + 1, sizeof(*symbols));
	if (!symbols)
		return -ENOMEM;
	for (size_t i = 0; i < file->nr_lines; i++)
		for (size_t j = 0; j < file->lines[i].nr_symbols; j++)
			symbols[at++] = file->lines[i].symbols[j];
	qsort(symbols, nr, sizeof(*symbols), compare_symbol_addresses);
	for (size_t i = 0; i < nr; i++) {
		opannotate_symbols(s->text, &symbols[i], 1);
		fputc('\n', s->text->out);
	}
	free(symbols);
	return 0;
}

static int write_source_lines(const struct source *s)
{
	const struct pp_annotated_line *lines = s->file->lines;
	size_t nr = s->file->nr_lines, next = nr && !lines[0].line, room = 0;
	char *buf = NULL;
	ssize_t len;

	if (!s->in)
		return list_symbols_of_source(s);
	for (unsigned int at = 1; (len = getline(&buf, &room, s->in)) >= 0;
	     at++) {
		bool is_known = next < nr && lines[next].line == at;

		len -= len && buf[len - 1] == '\n';
		write_source_line(s, buf, (size_t)len,
				  is_known ? &lines[next] : NULL);
		next += is_known;
	}
	pp_source_check(s->text->messages, s->path, s->in);
	free(buf);
	write_missing_lines(s, next);
	return 0;
}

/* ---- a file -------------------------------------------------------------- */

static void write_source_totals(const struct source *s)
{
	const struct pp_annotated_line *line =
		pp_annotated_line_find(s->file, 0);
	FILE *out = s->text->out;

	fprintf(out, "/* \n * Total samples for file : \"%s\"\n * \n * ",
		s->file->name);
	opannotate_counts(s->text, s->file->counts);
	fputs("\n */\n\n", out);
	if (line && opannotate_has_counts(s->text, line->counts)) {
		fputs("<credited to line zero> ", out);
		opannotate_margin(s->text, line->counts, NULL);
	}
	fputc('\n', out);
}

static int write_own_file(const struct source *source, const char *path)
{
	struct opannotate_text text = *source->text;
	struct source s = *source;
	int err;

	text.out = fopen(path, "we");
	if (!text.out)
		return -errno;
	s.text = &text;
	err = write_source_lines(&s);
	write_source_totals(&s);
	if (!err)
		err = opannotate_header(&text);
	if (!err && (fflush(text.out) || ferror(text.out)))
		err = errno ? -errno : -EIO;
	if (fclose(text.out) && !err)
		err = -errno;
	/* Half a file is worse than none. */
	if (err)
		unlink(path);
	return err;
}

/* Whether the other files can be written although one could not. */
static bool is_of_one_file(int err)
{
	return err == -EINVAL || err == -ENAMETOOLONG || err == -ENOTDIR ||
	       err == -EISDIR || err == -EACCES || err == -ENXIO ||
	       err == -ETXTBSY;
}

/* Below the output folder, at the path that the source has. */
static int write_below_output_dir(const struct source *s, size_t *nr_refused,
				  struct op_diag *diag)
{
	const char *name = opannotate_home_path(s->text->options, s->path);
	char *path;
	int err;

	if (asprintf(&path, "%s/%s", s->text->options->output_dir,
		     name + (*name == '/')) < 0)
		return -ENOMEM;
	if (strstr(path, "/../") || op_is_same_file(path, s->path))
		err = -EINVAL;
	else
		err = op_make_parents(path, 0777) ?: write_own_file(s, path);
	if (is_of_one_file(err)) {
		pp_message(
			s->text->messages, PP_WARNING, "%s: not written: %s",
			path,
			err == -EINVAL
				? "it would not be below --output-dir, or be the source itself"
				: strerror(-err));
		++*nr_refused;
		err = 0;
	}
	if (err)
		op_diag_set(diag, err, "%s: cannot be written: %s", path,
			    strerror(-err));
	free(path);
	return err;
}

static int write_source_file(struct source *s, size_t *nr_refused,
			     struct op_diag *diag)
{
	int err = 0;

	s->in = opannotate_open_source(s->text, s->path, s->file->oldest);
	if (s->text->options->output_dir) {
		err = write_below_output_dir(s, nr_refused, diag);
	} else {
		write_source_totals(s);
		err = write_source_lines(s);
	}
	if (s->in)
		fclose(s->in);
	return err;
}

/* How many files were asked for, and how many of these were not written. */
struct source_counts {
	size_t nr_wanted, nr_refused;
};

/* Write @file if it is asked for, and then count it. */
static int take_source_file(const struct opannotate_text *text,
			    const struct pp_annotated_file *file,
			    struct source_counts *counts, struct op_diag *diag)
{
	struct source s = { .text = text, .file = file };
	char *path;
	int err = 0;

	if (!opannotate_passes(text, file->counts))
		return 0;
	path = opannotate_locate(text->options, file->name);
	if (!path)
		return -ENOMEM;
	s.path = path;
	if (opannotate_wants_file(text->options, path)) {
		err = write_source_file(&s, &counts->nr_refused, diag);
		counts->nr_wanted++;
	}
	free(path);
	return err;
}

static int begin_source_output(const struct opannotate_text *text,
			       struct op_diag *diag)
{
	const char *dir = text->options->output_dir;
	int err;

	if (!dir)
		return opannotate_header(text);
	err = op_make_parents(dir, 0777) ?: op_make_folder(dir, 0777);
	return err ? op_diag_set(diag, err, "--output-dir=%s: %s", dir,
				 strerror(-err))
		   : 0;
}

int opannotate_none_shown(const struct pp_annotation *annotation,
			  struct op_diag *diag)
{
	return op_diag_set(
		diag, -ENOENT,
		"none of %zu source files with samples is shown; --include-file, --exclude-file or --threshold leaves them out",
		annotation->nr_files);
}

int opannotate_write_source(const struct opannotate_text *text,
			    const struct pp_annotation *annotation,
			    struct op_diag *diag)
{
	struct source_counts counts = { 0 };
	int err = begin_source_output(text, diag);

	for (size_t i = 0; i < annotation->nr_files && !err; i++)
		err = take_source_file(text, &annotation->files[i], &counts,
				       diag);
	if (err)
		return err;
	if (!counts.nr_wanted)
		return opannotate_none_shown(annotation, diag);
	return counts.nr_refused
		       ? op_diag_set(diag, -EIO,
				     "%zu of %zu files were not written",
				     counts.nr_refused, counts.nr_wanted)
		       : 0;
}
