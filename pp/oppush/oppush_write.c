// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A file has the things that its samples need and no others, so that a span in
 * which little ran is a small file. Ids count from 1 in the order in which they
 * are needed; some servers insist on that. (Parca: pkg/normalizer/validate.go.)
 */

#include "pp/oppush/oppush_sums.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "libop/base/op_array.h"
#include "libop/files/op_file.h"
#include "libpp/symbols/unpack.h"
#include "pp/oppush/oppush_tables.h"

#define MAX_BYTES (INT64_C(1) << 30)
#define GZIP (MAX_WBITS + 16) /* for deflateInit2() */
#define MEM_LEVEL 8 /* zlib's default */

/* ---- reading ----------------------------------------------------------------
 */

static int push_read_bytes(int fd, char **bytes, size_t *len)
{
	struct stat st;
	int to = -1, err;

	if (fstat(fd, &st))
		return -errno;
	err = S_ISREG(st.st_mode) ? pp_unpack(fd, 0, (uint64_t)st.st_size, &to)
				  : -EINVAL;
	if (err)
		return err == -ENOENT ? -EBADMSG : err;
	if (fstat(to, &st))
		err = -errno;
	else if (st.st_size > MAX_BYTES)
		err = -EFBIG;
	*len = (size_t)st.st_size;
	*bytes = err ? NULL : malloc(*len + 1);
	if (!err)
		err = *bytes ? op_file_read_at(to, *bytes, *len, 0) : -ENOMEM;
	close(to);
	return err;
}

int push_read_profile(const char *path, Pprof__Profile **profile,
		      struct op_diag *diag)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	char *bytes = NULL;
	size_t len = 0;
	int err = fd < 0 ? -errno : push_read_bytes(fd, &bytes, &len);

	if (fd >= 0)
		close(fd);
	if (!err) {
		*profile = pprof__profile__unpack(NULL, len,
						  (const uint8_t *)bytes);
		err = *profile ? 0 : -EBADMSG;
	}
	free(bytes);
	if (!err || (fd < 0 && err == -ENOENT))
		return err;
	return op_diag_set(diag, err, "%s: is no sound file of pprof: %s", path,
			   strerror(-err));
}

/* ---- writing ----------------------------------------------------------------
 */

/* A file that is being made; ids by number, 0: not needed until now. */
struct push_writer {
	const struct push_sums *sums;
	struct op_arena arena;
	struct op_strings strings;
	Pprof__Profile p;
	uint64_t *function, *mapping, *location;
	int err;
};

static void *push_alloc(struct push_writer *w, size_t nr, size_t size)
{
	void *p = op_arena_alloc(&w->arena, nr + 1, size);

	if (!p)
		w->err = -ENOMEM;
	return p;
}

static int64_t push_write_string(struct push_writer *w, const char *text)
{
	uint32_t number = 0;
	int err = op_strings_number(&w->strings, text ?: "", &number);

	if (err)
		w->err = err;
	return number;
}

static uint64_t push_write_function(struct push_writer *w, uint32_t number)
{
	const struct push_function *from = &w->sums->function[number];
	Pprof__Function *to;

	if (w->function[number] || w->err)
		return w->function[number];
	to = push_alloc(w, 1, sizeof(*to));
	if (!to)
		return 0;
	pprof__function__init(to);
	to->name = push_write_string(w, from->name);
	to->system_name = push_write_string(w, from->system_name);
	to->filename = push_write_string(w, from->file);
	to->start_line = from->line;
	w->p.function[w->p.n_function++] = to;
	return to->id = w->function[number] = w->p.n_function;
}

static uint64_t push_write_mapping(struct push_writer *w, uint32_t number)
{
	const struct push_mapping *from;
	Pprof__Mapping *to;

	if (number == PUSH_NONE)
		return 0;
	if (w->mapping[number] || w->err)
		return w->mapping[number];
	to = push_alloc(w, 1, sizeof(*to));
	if (!to)
		return 0;
	from = &w->sums->mapping[number];
	pprof__mapping__init(to);
	to->filename = push_write_string(w, from->file);
	to->build_id = push_write_string(w, from->build_id);
	to->memory_start = from->start;
	to->memory_limit = from->limit;
	to->file_offset = from->offset;
	to->has_functions = from->has_functions;
	to->has_filenames = from->has_filenames;
	to->has_line_numbers = from->has_line_numbers;
	to->has_inline_frames = from->has_inline_frames;
	w->p.mapping[w->p.n_mapping++] = to;
	return to->id = w->mapping[number] = w->p.n_mapping;
}

static uint64_t push_write_location(struct push_writer *w, uint32_t number)
{
	const struct push_location *from = &w->sums->location[number];
	Pprof__Location *to;
	Pprof__Line *lines;

	if (w->location[number] || w->err)
		return w->location[number];
	to = push_alloc(w, 1, sizeof(*to));
	if (!to)
		return 0;
	pprof__location__init(to);
	to->mapping_id = push_write_mapping(w, from->mapping);
	to->address = from->address;
	to->is_folded = from->is_folded;
	lines = push_alloc(w, from->nr_lines, sizeof(*lines));
	to->line = push_alloc(w, from->nr_lines, sizeof(*to->line));
	for (size_t i = 0; !w->err && i < from->nr_lines; i++) {
		pprof__line__init(&lines[i]);
		lines[i].function_id =
			push_write_function(w, from->lines[i].function);
		lines[i].line = from->lines[i].line;
		to->line[to->n_line++] = &lines[i];
	}
	w->p.location[w->p.n_location++] = to;
	return to->id = w->location[number] = w->p.n_location;
}

static void push_write_labels(struct push_writer *w, uint32_t label_set,
			      Pprof__Sample *sample)
{
	const struct push_label_set *from = &w->sums->label_set[label_set];
	Pprof__Label *labels = push_alloc(w, from->nr, sizeof(*labels));

	sample->label = push_alloc(w, from->nr, sizeof(*sample->label));
	for (size_t i = 0; !w->err && i < from->nr; i++) {
		pprof__label__init(&labels[i]);
		labels[i].key = push_write_string(w, from->labels[i].key);
		labels[i].str = push_write_string(w, from->labels[i].text);
		labels[i].num = from->labels[i].number;
		labels[i].num_unit = push_write_string(w, from->labels[i].unit);
		sample->label[sample->n_label++] = &labels[i];
	}
}

/* The values of stack @number in @values. Returns whether there are any. */
static bool push_find_values(const struct push_sums *sums, size_t number,
			     bool is_sum, int64_t *values)
{
	bool any = false;

	for (size_t t = 0; t < sums->nr_types; t++) {
		size_t at = number * sums->nr_types + t;

		values[t] = sums->more[at] + (is_sum ? sums->old[at] : 0);
		any |= values[t] != 0;
	}
	return any;
}

static void push_write_stack(struct push_writer *w, size_t number,
			     const int64_t *values)
{
	const struct push_sums *sums = w->sums;
	const struct push_stack *from = &sums->stack[number];
	Pprof__Sample *to = push_alloc(w, 1, sizeof(*to));

	if (!to)
		return;
	pprof__sample__init(to);
	to->value = push_alloc(w, sums->nr_types, sizeof(*to->value));
	to->location_id = push_alloc(w, from->depth, sizeof(*to->location_id));
	if (w->err)
		return;
	memcpy(to->value, values, sums->nr_types * sizeof(*values));
	to->n_value = sums->nr_types;
	for (size_t i = 0; i < from->depth; i++)
		to->location_id[to->n_location_id++] =
			push_write_location(w, from->locations[i]);
	push_write_labels(w, from->label_set, to);
	w->p.sample[w->p.n_sample++] = to;
}

/* Types that are called the same could not be told apart. */
static bool has_one_time(const struct push_sums *sums)
{
	size_t nr = 0;

	for (size_t t = 0; t < sums->nr_types; t++)
		nr += !strcmp(sums->types[t].unit, "nanoseconds");
	return nr == 1;
}

/*
 * Servers know CPU time as "cpu" in nanoseconds, and show it as such
 * (Pyroscope: pkg/og/convert/pprof/profile.go, metricName), whatever clock it
 * is from.
 */
static Pprof__ValueType *push_write_type(struct push_writer *w,
					 const struct push_type *from,
					 bool as_servers)
{
	Pprof__ValueType *to = push_alloc(w, 1, sizeof(*to));
	bool is_time = as_servers && !strcmp(from->unit, "nanoseconds") &&
		       has_one_time(w->sums);

	if (!to)
		return NULL;
	pprof__value_type__init(to);
	to->type = push_write_string(w, is_time ? "cpu" : from->type);
	to->unit = push_write_string(w, from->unit);
	return to;
}

static void push_write_head(struct push_writer *w,
			    const struct push_profile_info *info)
{
	const struct push_sums *sums = w->sums;

	w->p.sample_type =
		push_alloc(w, sums->nr_types, sizeof(*w->p.sample_type));
	for (size_t t = 0; !w->err && t < sums->nr_types; t++)
		w->p.sample_type[w->p.n_sample_type++] =
			push_write_type(w, &sums->types[t], info->as_servers);
	if (sums->period_type.type) {
		w->p.period_type = push_write_type(w, &sums->period_type,
						   info->as_servers);
		w->p.period = sums->period;
	}
	w->p.comment = push_alloc(w, info->nr_comments, sizeof(*w->p.comment));
	for (size_t i = 0; !w->err && i < info->nr_comments; i++)
		w->p.comment[w->p.n_comment++] =
			push_write_string(w, info->comments[i]);
	w->p.time_nanos = info->begin;
	w->p.duration_nanos = info->end - info->begin;
	if (w->p.n_sample_type)
		w->p.default_sample_type = w->p.sample_type[0]->type;
}

/* Room for all that there may be. */
static void push_write_begin(struct push_writer *w)
{
	const struct push_sums *sums = w->sums;

	w->function = push_alloc(w, sums->functions.nr, sizeof(*w->function));
	w->mapping = push_alloc(w, sums->mappings.nr, sizeof(*w->mapping));
	w->location = push_alloc(w, sums->locations.nr, sizeof(*w->location));
	w->p.function =
		push_alloc(w, sums->functions.nr, sizeof(*w->p.function));
	w->p.mapping = push_alloc(w, sums->mappings.nr, sizeof(*w->p.mapping));
	w->p.location =
		push_alloc(w, sums->locations.nr, sizeof(*w->p.location));
	w->p.sample = push_alloc(w, sums->stacks.nr, sizeof(*w->p.sample));
	push_write_string(w, ""); /* which is number 0 */
}

static int push_compress(const uint8_t *from, size_t len, uint8_t **bytes,
			 size_t *out_len)
{
	z_stream z = { 0 };
	int done;

	if (len > UINT32_MAX / 2)
		return -EFBIG;
	if (deflateInit2(&z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP, MEM_LEVEL,
			 Z_DEFAULT_STRATEGY) != Z_OK)
		return -ENOMEM;
	z.avail_out = (unsigned int)deflateBound(&z, len);
	*bytes = z.next_out = malloc(z.avail_out);
	z.next_in = (uint8_t *)from;
	z.avail_in = (unsigned int)len;
	done = *bytes ? deflate(&z, Z_FINISH) : Z_MEM_ERROR;
	*out_len = z.total_out;
	deflateEnd(&z);
	if (done == Z_STREAM_END)
		return 0;
	free(*bytes);
	*bytes = NULL;
	return -ENOMEM;
}

static int push_pack(struct push_writer *w, uint8_t **bytes, size_t *len)
{
	size_t size;
	uint8_t *plain;
	int err;

	w->p.n_string_table = w->strings.nr;
	w->p.string_table = (char **)w->strings.list;
	size = pprof__profile__get_packed_size(&w->p);
	plain = malloc(size + 1);
	if (!plain)
		return -ENOMEM;
	pprof__profile__pack(&w->p, plain);
	err = push_compress(plain, size, bytes, len);
	free(plain);
	return err;
}

int push_sums_write(const struct push_sums *sums, bool is_sum,
		    const struct push_profile_info *info, uint8_t **bytes,
		    size_t *len)
{
	struct push_writer w = { .sums = sums, .p = PPROF__PROFILE__INIT };
	int64_t values[PUSH_MAX_TYPES];

	op_arena_init(&w.arena);
	op_strings_init(&w.strings, &w.arena);
	push_write_begin(&w);
	push_write_head(&w, info);
	for (size_t i = 0; !w.err && i < sums->stacks.nr; i++)
		if (push_find_values(sums, i, is_sum, values))
			push_write_stack(&w, i, values);
	if (!w.err)
		w.err = push_pack(&w, bytes, len);
	op_strings_release(&w.strings);
	op_arena_release(&w.arena);
	return w.err;
}
