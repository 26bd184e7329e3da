// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reads sample files. Each is opened once, so that header, total and counts
 * are of one moment even while the daemon writes on.
 */

#include "libpp/sample_list.h"

#include <errno.h>
#include <string.h>

#include "libdb/odb.h"

uint64_t pp_add_counts(uint64_t a, uint64_t b)
{
	return b > UINT64_MAX - a ? UINT64_MAX : a + b;
}

const char *pp_why_not_opened(int err)
{
	switch (err) {
	case -EBADMSG:
		return "it is damaged";
	case -EPROTO:
		return "it is of another version or byte order";
	case -EACCES:
	case -EPERM:
		return "permission denied (run as the user who profiled, or as root)";
	case -EILSEQ:
		return "it is not what was archived";
	default:
		return strerror(-err);
	}
}

static int take_counts(struct pp_arena *arena, struct pp_sample_file *file,
		       const struct odb *odb, uint64_t nr_keys)
{
	struct pp_sample sample;
	size_t at = 0;

	if (nr_keys > SIZE_MAX)
		return -ENOMEM;
	file->samples = pp_arena_alloc(arena, nr_keys, sizeof(sample));
	if (!file->samples)
		return -ENOMEM;
	while (file->nr_samples < nr_keys &&
	       odb_next(odb, &at, &sample.key, &sample.count))
		file->samples[file->nr_samples++] = sample;
	return 0;
}

static uint64_t total_of(const struct odb *odb, uint64_t *nr_keys)
{
	uint64_t key, count, total = 0;
	size_t at = 0;

	for (*nr_keys = 0; odb_next(odb, &at, &key, &count); ++*nr_keys)
		total = pp_add_counts(total, count);
	return total;
}

/*
 * An empty file is one that the daemon has just made or was killed at; it has
 * nothing to say and its header may not be there yet.
 */
static int take_file(struct pp_arena *arena, struct pp_sample_file *file,
		     struct odb *odb, bool samples, struct op_diag *why)
{
	uint64_t nr_keys;

	file->total = total_of(odb, &nr_keys);
	if (!nr_keys)
		return 0;
	memcpy(&file->header, odb_user(odb), sizeof(file->header));
	if (op_sample_header_check(&file->header, file->path, why))
		return -EBADMSG;
	return samples ? take_counts(arena, file, odb, nr_keys) : 0;
}

/* Returns 0, -ENOMEM, or -EBADMSG with what is wrong in @why. */
static int read_file(const struct pp_sample_list *list,
		     struct pp_sample_file *file, bool samples,
		     struct op_diag *why)
{
	struct odb *odb;
	int ret = pp_archive_check(list->archive, file->path);

	if (!ret)
		ret = odb_open(&odb, file->path, ODB_RDONLY);
	if (ret == -ENOMEM)
		return ret;
	if (ret)
		return op_diag_set(why, -EBADMSG, "%s: %s", file->path,
				   pp_why_not_opened(ret));
	ret = take_file(list->arena, file, odb, samples, why);
	odb_close(odb);
	return ret;
}

int pp_sample_file_header(const struct pp_sample_list *list,
			  const struct pp_sample_file *file,
			  struct op_sample_header *header)
{
	struct pp_sample_file copy = *file;
	struct op_diag why = { 0 };
	int err = read_file(list, &copy, false, &why);

	if (!err && !copy.total)
		return -EBADMSG;
	*header = copy.header;
	return err;
}

/* ---- files that cannot be used ------------------------------------------- */

#define MAX_CAUSES 8

/* Files that cannot be used for one cause. */
struct cause {
	const char *first; /* "PATH: CAUSE" */
	const char *text; /* the cause alone, in there */
	size_t nr;
};

struct causes {
	struct cause list[MAX_CAUSES]; /* further ones are of the last */
	size_t nr;
};

static int note_unused(struct causes *causes, struct pp_arena *arena,
		       const struct pp_sample_file *file,
		       const struct op_diag *why)
{
	size_t path_len = strlen(file->path), i = 0;
	const char *text = why->text;

	if (!strncmp(text, file->path, path_len))
		text += path_len;
	while (i < causes->nr && strcmp(causes->list[i].text, text))
		i++;
	if (i == MAX_CAUSES)
		i--;
	if (i == causes->nr) {
		const char *first = pp_arena_strdup(arena, why->text);

		if (!first)
			return -ENOMEM;
		causes->list[causes->nr++] = (struct cause){
			.first = first,
			.text = first + (text - why->text),
		};
	}
	causes->list[i].nr++;
	return 0;
}

/* One line for each cause, whatever number of files has it. */
static void say_unused(const struct causes *causes,
		       struct pp_messages *messages)
{
	for (size_t i = 0; i < causes->nr; i++) {
		const struct cause *cause = &causes->list[i];

		if (cause->nr == 1)
			pp_message(messages, PP_WARNING, "%s; left out",
				   cause->first);
		else
			pp_message(messages, PP_WARNING,
				   "%s; left out, and %zu more likewise",
				   cause->first, cause->nr - 1);
	}
}

static int nothing_left(const struct causes *causes, struct op_diag *diag)
{
	if (causes->nr)
		return op_diag_set(
			diag, -ENOENT,
			"no usable sample file is left; the first: %s",
			causes->list[0].first);
	return op_diag_set(
		diag, -ENOENT,
		"the sample files hold no samples yet; opcontrol --dump brings out what is in the buffers");
}

int pp_sample_list_read(struct pp_sample_list *list, bool samples,
			struct pp_messages *messages, struct op_diag *diag)
{
	struct causes causes = { 0 };
	size_t kept = 0;
	int err = 0;

	for (size_t i = 0; i < list->nr && !err; i++) {
		struct pp_sample_file *file = &list->files[i];
		struct op_diag why = { 0 };

		err = read_file(list, file, samples, &why);
		if (err && err != -ENOMEM) {
			err = note_unused(&causes, list->arena, file, &why);
			continue;
		}
		if (err || !file->total)
			continue;
		pp_message(messages, PP_REMARK_SFILE, "%s: %llu %s", file->path,
			   (unsigned long long)file->total,
			   pp_is_call_graph(file) ? "calls" : "samples");
		list->files[kept++] = *file;
	}
	if (err)
		return err;
	list->nr = kept;
	if (!kept)
		return nothing_left(&causes, diag);
	say_unused(&causes, messages);
	return 0;
}
