// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reading and writing snapshots. All names stay together where they were
 * unpacked, so there are two allocations, whatever the number of symbols. The
 * first line says how much there is to unpack, and is believed only as far as
 * zlib could have packed that much into the file. What is written is what
 * reading it takes back, else it is not written.
 */

#include "libop/kernel/op_ksyms_form.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "libop/image/op_build_id.h"
#include "libop/files/op_config.h"
#include "libop/files/op_deflate.h"
#include "libop/files/op_file.h"

/* Bytes of the file, and of what is packed in it; a kernel needs 2 MiB. */
#define SNAPSHOT_MAX ((size_t)64 << 20)

#define DAMAGED "it is damaged; profile again"

/* A snapshot that was read. */
struct input {
	char *file;
	bool packed; /* else text */
	char *body; /* behind the first line */
	size_t body_len;
	uint64_t nr; /* what the first line says: symbols */
	uint64_t bytes; /* bytes unpacked */
	uint64_t size; /* and of the image */
};

/* ---- reading ------------------------------------------------------------- */

static bool is_build_id(const char *text)
{
	size_t len = strspn(text, "0123456789abcdef");

	if (!strcmp(text, "-"))
		return true;
	return len && len % 2 == 0 && len <= (size_t)2 * OP_KSYMS_ID_MAX &&
	       !text[len];
}

static bool parse_first_line(struct input *in, char *line)
{
	enum { OPROFILE, SYMBOLS, VERSION, NAME, ID, NR, BYTES, SIZE, END };
	char *word[END + 1];
	size_t nr = 0;

	while (nr <= END && (word[nr] = strsep(&line, " ")))
		nr++;
	if (nr <= ID || strcmp(word[OPROFILE], "oprofile") ||
	    strcmp(word[SYMBOLS], "symbols") || !*word[NAME] ||
	    !is_build_id(word[ID]))
		return false;
	if (!strcmp(word[VERSION], "1"))
		return nr == NR;
	in->packed = true;
	if (strcmp(word[VERSION], "2") != 0 && strcmp(word[VERSION], "3") != 0)
		return false;
	if (nr != (*word[VERSION] == '2' ? SIZE : END) ||
	    (nr == END && op_parse_u64(word[SIZE], &in->size)))
		return false;
	return !op_parse_u64(word[NR], &in->nr) &&
	       !op_parse_u64(word[BYTES], &in->bytes);
}

static const char *cut_off_first_line(struct input *in, size_t len)
{
	char *newline = memchr(in->file, '\n', len);

	if (!len)
		return "the file is empty";
	if (!newline)
		return "the file is truncated here";
	*newline = '\0';
	in->body = newline + 1;
	in->body_len = len - (size_t)(in->body - in->file);
	if (strlen(in->file) != (size_t)(newline - in->file) ||
	    !parse_first_line(in, in->file))
		return "no snapshot of symbols";
	return NULL;
}

static size_t count_snapshot_lines(const char *text, size_t len)
{
	const char *end = text + len;
	size_t nr = 0;

	while ((text = memchr(text, '\n', (size_t)(end - text)))) {
		text++;
		nr++;
	}
	return nr;
}

/* The names stay in the file as it was read. */
static int parse_text_snapshot(struct op_ksyms *ksyms, struct input *in,
			       const char *path, struct op_diag *diag)
{
	size_t nr = count_snapshot_lines(in->body, in->body_len), line = 2;
	const char *why;

	ksyms->strings = in->file;
	in->file = NULL;
	ksyms->syms = calloc(nr + 1, sizeof(*ksyms->syms));
	if (!ksyms->syms)
		return -ENOMEM;
	why = op_ksyms_from_text(ksyms, in->body, in->body_len, &line);
	return why ? op_diag_set(diag, -EINVAL, "%s:%zu: %s", path, line, why)
		   : 0;
}

/* Whether the first line may be true. */
static bool may_unpack(const struct input *in)
{
	return in->bytes <= SNAPSHOT_MAX &&
	       op_may_inflate(in->body_len, in->bytes) &&
	       in->nr <= in->bytes / OP_KSYMS_COLUMNS_MIN;
}

static int unpack_columns(const struct input *in, char **columns)
{
	size_t used = 0;
	int err;

	*columns = malloc(in->bytes + 1);
	if (!*columns)
		return -ENOMEM;
	(*columns)[in->bytes] = '\0';
	err = op_inflate(in->body, in->body_len, *columns, in->bytes, &used);
	if (err == -ENOMEM)
		return err;
	return !err && used == in->body_len ? 0 : -EINVAL;
}

static int parse_packed_snapshot(struct op_ksyms *ksyms, const struct input *in,
				 const struct op_ksyms_wanted *wanted,
				 const char *path, struct op_diag *diag)
{
	int err =
		may_unpack(in) ? unpack_columns(in, &ksyms->strings) : -EINVAL;

	if (!err)
		err = op_ksyms_from_columns(ksyms, in->nr, ksyms->strings,
					    in->bytes, wanted);
	if (err == -EINVAL)
		op_diag_set(diag, err, "%s: %s", path, DAMAGED);
	return err;
}

int op_ksyms_read_wanted(struct op_ksyms *ksyms, const char *path,
			 const struct op_ksyms_wanted *wanted,
			 struct op_diag *diag)
{
	struct input in = { 0 };
	const char *why;
	size_t len;
	int err;

	memset(ksyms, 0, sizeof(*ksyms));
	err = op_file_read(path, SNAPSHOT_MAX, &in.file, &len, diag);
	if (err)
		return err;
	why = cut_off_first_line(&in, len);
	if (why)
		err = op_diag_set(diag, -EINVAL, "%s:1: %s", path, why);
	else if (in.packed)
		err = parse_packed_snapshot(ksyms, &in, wanted, path, diag);
	else
		err = parse_text_snapshot(ksyms, &in, path, diag);
	ksyms->size = in.size;
	if (err == -ENOMEM)
		op_diag_set(diag, err, "%s: out of memory", path);
	if (err)
		op_ksyms_release(ksyms);
	free(in.file);
	return err;
}

int op_ksyms_read(struct op_ksyms *ksyms, const char *path,
		  struct op_diag *diag)
{
	return op_ksyms_read_wanted(ksyms, path, NULL, diag);
}

/* ---- writing ------------------------------------------------------------- */

/* Whether op_ksyms_read() would take the symbols back. */
static bool is_readable_snapshot(const struct op_ksyms *ksyms)
{
	size_t len;

	for (size_t i = 0; i < ksyms->nr; i++) {
		const struct op_ksym *sym = &ksyms->syms[i];

		if (!op_ksyms_is_fit(sym->type, sym->name, &len))
			return false;
		if (i && sym->offset < sym[-1].offset)
			return false;
	}
	return true;
}

/* The part of the file behind the first line; *@bytes unpacked. */
static int pack_symbols(const struct op_ksyms *ksyms, void **out,
			size_t *out_len, size_t *bytes)
{
	char *columns = op_ksyms_to_columns(ksyms, bytes);
	int err = 0;

	if (!columns)
		return -ENOMEM;
	if (*bytes > SNAPSHOT_MAX)
		err = -EFBIG;
	else if (!(*out = op_deflate(columns, *bytes, out_len)))
		err = -ENOMEM;
	free(columns);
	return err;
}

int op_ksyms_write(const struct op_ksyms *ksyms, const char *path,
		   const char *name, const struct op_build_id *build_id,
		   struct op_diag *diag)
{
	char id[OP_BUILD_TEXT_MAX];
	struct op_replace replace;
	void *packed = NULL;
	char word[1024];
	size_t len, bytes;
	int err = op_ksyms_word(word, sizeof(word), name);

	if (err || !is_readable_snapshot(ksyms))
		return op_diag_set(diag, err ? err : -EINVAL,
				   "%s: cannot write: unfit names or order of "
				   "symbols",
				   path);
	err = pack_symbols(ksyms, &packed, &len, &bytes);
	if (err)
		op_diag_set(diag, err, "%s: cannot write: %s", path,
			    strerror(-err));
	else
		err = op_replace_open(&replace, path, 0444, diag);
	if (!err) {
		fprintf(replace.file,
			"oprofile symbols 3 %s %s %zu %zu %" PRIu64 "\n", word,
			op_build_id_text(build_id->bytes, build_id->len, id),
			ksyms->nr, bytes, ksyms->size);
		fwrite(packed, 1, len, replace.file);
		err = op_replace_commit(&replace, diag);
	}
	free(packed);
	return err;
}
