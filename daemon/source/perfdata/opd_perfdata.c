// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The layout is that of tools/perf/Documentation/perf.data-file-format.txt in
 * the sources of Linux. Attributes are copied as far as they are known here:
 * later versions only add fields at their end.
 */

#include "daemon/source/perfdata/opd_perfdata.h"

#include <byteswap.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libop/base/op_array.h"
#include "libop/base/op_cursor.h"
#include "libop/files/op_file.h"
#include "libop/base/op_search.h"

#define MAGIC UINT64_C(0x32454c4946524550) /* "PERFILE2" */
#define PIPE_HEADER 16 /* bytes: the magic and this number */
#define MAX_PIPED (UINT64_C(4) << 30) /* bytes of a file that is held */
#define FILE_HEADER 104
#define SECTION 16 /* bytes of its offset and size */
#define MAX_SECTION (64u << 20) /* bytes of attributes or of a feature */
#define MAX_IDS (1u << 20)
#define WORDS_MAX 1024 /* of a command line; fewer of them are shown */

#define ATTR_MIN PERF_ATTR_SIZE_VER0

/* Features, by their bit in the header. */
enum {
	BUILD_ID = 2,
	HOSTNAME = 3,
	OSRELEASE = 4,
	ARCH = 6,
	CMDLINE = 11,
	EVENT_DESC = 12,
	CLOCK_DATA = 29,
	NR_FEATURES = 256,
};

#define BUILD_ID_BYTES 20
#define BUILD_ID_FIELD 24 /* bytes, of which the 21st may be the length */
#define HAS_LENGTH 0x8000 /* of its header's misc */

#define CLOCK_DATA_VERSION 1

#define UPDATE_NAME 2 /* OPD_PERFDATA_EVENT_UPDATE: what is told */

struct section {
	uint64_t offset;
	uint64_t size;
};

static int damaged(const struct opd_perfdata *data, const char *what,
		   struct op_diag *diag)
{
	return op_diag_set(diag, -EBADMSG,
			   "%s: is damaged: %s cannot be; record it again",
			   data->path, what);
}

static int no_memory_for(const struct opd_perfdata *data, struct op_diag *diag)
{
	return op_diag_set(diag, -ENOMEM, "%s: out of memory", data->path);
}

/* ---- events -----------------------------------------------------------------
 */

/* An attribute of @len bytes at @bytes becomes the next event. */
static int add_described_event(struct opd_perfdata *data, const uint8_t *bytes,
			       size_t len, struct op_diag *diag)
{
	struct opd_perfdata_event event = { .counter = UINT32_MAX };
	struct perf_event_attr *attr = &event.attr;

	if (len < ATTR_MIN || data->nr_events == OPD_PERFDATA_MAX_EVENTS)
		return damaged(data, "the description of an event", diag);
	memcpy(attr, bytes, len < sizeof(*attr) ? len : sizeof(*attr));
	event.format = (struct opd_perf_format){
		.sample_type = attr->sample_type,
		.read_format = attr->read_format,
		.branch_type = attr->branch_sample_type,
		.regs = attr->sample_regs_user,
		.is_bare = !attr->sample_id_all,
		.build_ids = attr->build_id,
	};
	if (op_array_reserve(&data->events, data->nr_events, 1))
		return no_memory_for(data, diag);
	data->events[data->nr_events++] = event;
	return 0;
}

/* All that is left in @c are numbers of the last event. */
static int add_ids(struct opd_perfdata *data, struct op_cursor *c,
		   struct op_diag *diag)
{
	size_t nr = op_cursor_left(c) / sizeof(uint64_t);

	if (nr > MAX_IDS - data->nr_ids)
		return damaged(data, "the number of events", diag);
	if (op_array_reserve(&data->ids, data->nr_ids, nr))
		return no_memory_for(data, diag);
	for (size_t i = 0; i < nr; i++)
		data->ids[data->nr_ids++] =
			(struct opd_perfdata_id){ op_cursor_number(c, 8),
						  data->nr_events - 1 };
	return 0;
}

static int compare_perfdata_ids(const void *a, const void *b)
{
	const struct opd_perfdata_id *x = a, *y = b;

	return op_compare(x->id, y->id) ?: op_compare(x->event, y->event);
}

static void sort_perfdata_ids(struct opd_perfdata *data)
{
	if (data->nr_ids)
		qsort(data->ids, data->nr_ids, sizeof(*data->ids),
		      compare_perfdata_ids);
}

static struct opd_perfdata_event *
find_event_by_id(const struct opd_perfdata *data, uint64_t id)
{
	const struct opd_perfdata_id *ids = data->ids;
	size_t at = OP_BISECT(i, data->nr_ids, ids[i].id < id);

	return at < data->nr_ids && ids[at].id == id
		       ? &data->events[ids[at].event]
		       : NULL;
}

static void put_event_name(struct opd_perfdata_event *event,
			   const uint8_t *text, size_t len)
{
	if (!text || !event)
		return;
	len = strnlen((const char *)text, len);
	if (len >= sizeof(event->name))
		len = sizeof(event->name) - 1;
	memcpy(event->name, text, len);
	event->name[len] = '\0';
}

const struct opd_perfdata_event *
opd_perfdata_event_of(const struct opd_perfdata *data, const void *record,
		      size_t len)
{
	struct perf_event_header header;
	size_t id_at;
	uint64_t id;

	if (data->nr_events == 1)
		return data->events;
	memcpy(&header, record, sizeof(header));
	/* Where the number stands is the same for all events. */
	id_at = opd_perf_id_at(header.type, len,
			       data->events[0].format.sample_type);
	if (!id_at)
		return data->events;
	memcpy(&id, (const char *)record + id_at, sizeof(id));
	/* perf itself tells of processes that run already without one. */
	if (!id && header.type != PERF_RECORD_SAMPLE)
		return data->events;
	return find_event_by_id(data, id);
}

/* ---- features ---------------------------------------------------------------
 */

/* A string with its length before it. */
static const uint8_t *parse_counted_text(struct op_cursor *c, size_t *len)
{
	*len = op_cursor_number(c, 4);
	return op_cursor_take(c, *len);
}

static void copy_counted_text(struct op_cursor *c, char *to, size_t size)
{
	size_t len;
	const uint8_t *text = parse_counted_text(c, &len);

	if (!text)
		return;
	len = strnlen((const char *)text, len < size ? len : size - 1);
	memcpy(to, text, len);
	to[len] = '\0';
}

/* The names of events, by their numbers or in the order of the attributes. */
static void read_event_names(struct opd_perfdata *data, struct op_cursor *c)
{
	uint64_t nr = op_cursor_number(c, 4);
	uint64_t attr_len = op_cursor_number(c, 4);

	for (uint64_t i = 0; i < nr && i < data->nr_events && !c->failed; i++) {
		struct opd_perfdata_event *event = &data->events[i];
		uint64_t nr_ids;
		const uint8_t *text;
		size_t len;

		op_cursor_skip(c, attr_len);
		nr_ids = op_cursor_number(c, 4);
		text = parse_counted_text(c, &len);
		for (uint64_t j = 0; j < nr_ids && !c->failed; j++) {
			uint64_t id = op_cursor_number(c, 8);

			if (j == 0 && find_event_by_id(data, id))
				event = find_event_by_id(data, id);
		}
		put_event_name(event, text, len);
	}
}

static int add_build(struct opd_perfdata *data, struct op_cursor *c,
		     uint16_t misc)
{
	struct opd_perfdata_build build = { .id.len = BUILD_ID_BYTES };
	const uint8_t *id;
	const char *name;

	op_cursor_skip(c, 4); /* a process */
	id = op_cursor_take(c, BUILD_ID_FIELD);
	name = op_cursor_string(c);
	if (!id || !name || !*name)
		return 0;
	if (misc & HAS_LENGTH && id[BUILD_ID_BYTES] <= BUILD_ID_BYTES)
		build.id.len = id[BUILD_ID_BYTES];
	memcpy(build.id.bytes, id, build.id.len);
	build.name = strdup(name);
	if (!build.name ||
	    op_array_reserve(&data->builds, data->nr_builds, 1)) {
		free(build.name);
		return -ENOMEM;
	}
	data->builds[data->nr_builds++] = build;
	return 0;
}

static int read_builds(struct opd_perfdata *data, struct op_cursor *c)
{
	int err = 0;

	while (!err && op_cursor_left(c) >= sizeof(struct perf_event_header)) {
		struct perf_event_header header;
		struct op_cursor part;

		memcpy(&header, op_cursor_take(c, sizeof(header)),
		       sizeof(header));
		if (header.size < sizeof(header))
			break;
		part = op_cursor_part(c, header.size - sizeof(header));
		if (!c->failed)
			err = add_build(data, &part, header.misc);
	}
	return err;
}

static int compare_builds(const void *a, const void *b)
{
	const struct opd_perfdata_build *x = a, *y = b;

	return strcmp(x->name, y->name);
}

static void sort_builds(struct opd_perfdata *data)
{
	if (data->nr_builds)
		qsort(data->builds, data->nr_builds, sizeof(*data->builds),
		      compare_builds);
}

const struct op_build_id *opd_perfdata_build_of(const struct opd_perfdata *data,
						const char *name)
{
	const struct opd_perfdata_build *builds = data->builds;
	size_t at =
		OP_BISECT(i, data->nr_builds, strcmp(builds[i].name, name) < 0);

	return at < data->nr_builds && !strcmp(builds[at].name, name)
		       ? &builds[at].id
		       : NULL;
}

/*
 * The words of the command line of perf: their number, and each with its length
 * before it. The last word may be cut off by a feature that is too short.
 */
static int read_command_line(struct opd_perfdata *data, struct op_cursor *c)
{
	uint64_t nr = op_cursor_number(c, 4);
	char **words = NULL;
	size_t nr_words = 0;
	int err = op_array_reserve(&words, 0, 1);

	while (!err && nr-- && nr_words < WORDS_MAX) {
		size_t len;
		const char *text = (const char *)parse_counted_text(c, &len);

		if (!text || c->failed)
			break;
		/* The list ends with one word more. */
		if (op_array_reserve(&words, nr_words, 2))
			err = -ENOMEM;
		else
			words[nr_words] = strndup(text, len);
		if (!err && !words[nr_words++])
			err = -ENOMEM;
	}
	if (!err) {
		words[nr_words] = NULL;
		op_run_set_words(data->run.command, sizeof(data->run.command),
				 words);
	}
	while (nr_words)
		free(words[--nr_words]);
	free(words);
	return err;
}

/*
 * A date and the time of records then (perf record -k): the version, the clock,
 * and both in ns. The clock of records without -k counts from the boot, and the
 * file has no date.
 */
static void read_clock(struct opd_perfdata *data, struct op_cursor *c)
{
	uint64_t version = op_cursor_number(c, 4);
	uint64_t date, time;

	op_cursor_skip(c, 4);
	date = op_cursor_number(c, 8);
	time = op_cursor_number(c, 8);
	if (c->failed || version != CLOCK_DATA_VERSION || date > INT64_MAX ||
	    time > INT64_MAX)
		return;
	data->date_ahead = (int64_t)date - (int64_t)time;
	data->has_dates = true;
}

/* Read a feature. A feature that makes no sense is passed over. */
static int read_feature(struct opd_perfdata *data, uint64_t feature,
			struct op_cursor *c)
{
	switch (feature) {
	case BUILD_ID:
		return read_builds(data, c);
	case HOSTNAME:
		copy_counted_text(c, data->hostname, sizeof(data->hostname));
		op_run_set_text(data->run.host, sizeof(data->run.host),
				data->hostname);
		break;
	case OSRELEASE:
		copy_counted_text(c, data->release, sizeof(data->release));
		op_run_set_text(data->run.kernel, sizeof(data->run.kernel),
				data->release);
		break;
	case ARCH:
		copy_counted_text(c, data->arch, sizeof(data->arch));
		break;
	case CMDLINE:
		return read_command_line(data, c);
	case EVENT_DESC:
		sort_perfdata_ids(data);
		read_event_names(data, c);
		break;
	case CLOCK_DATA:
		read_clock(data, c);
		break;
	}
	return 0;
}

/* ---- a file -----------------------------------------------------------------
 */

/* Returns a copy of a section, the caller's to free, and in @c what is in it;
 * NULL with the reason in @diag. */
static void *copy_section(const struct opd_perfdata *data,
			  const struct section *section, const char *what,
			  struct op_cursor *c, struct op_diag *diag)
{
	uint8_t *bytes;

	if (section->size > MAX_SECTION || section->offset > INT64_MAX / 2) {
		damaged(data, what, diag);
		return NULL;
	}
	bytes = malloc(section->size ? section->size : 1);
	if (!bytes) {
		no_memory_for(data, diag);
		return NULL;
	}
	if (op_file_read_at(data->fd, bytes, section->size, section->offset)) {
		free(bytes);
		op_diag_set(diag, -EBADMSG,
			    "%s: is cut short: it ends before %s", data->path,
			    what);
		return NULL;
	}
	*c = op_cursor(bytes, section->size);
	return bytes;
}

static struct section parse_section(struct op_cursor *c)
{
	struct section section = { .offset = op_cursor_number(c, 8) };

	section.size = op_cursor_number(c, 8);
	return section;
}

static int read_attr(struct opd_perfdata *data, struct op_cursor *c,
		     uint64_t attr_len, struct op_diag *diag)
{
	const uint8_t *bytes = op_cursor_take(c, attr_len);
	struct section section = parse_section(c);
	struct op_cursor ids;
	void *copy;
	int err;

	if (!bytes || c->failed)
		return damaged(data, "the table of its events", diag);
	err = add_described_event(data, bytes, attr_len, diag);
	if (err || !section.size)
		return err;
	copy = copy_section(data, &section, "the numbers of its events", &ids,
			    diag);
	if (!copy)
		return -EBADMSG;
	err = add_ids(data, &ids, diag);
	free(copy);
	return err;
}

static int read_attrs(struct opd_perfdata *data, const struct section *attrs,
		      uint64_t attr_size, struct op_diag *diag)
{
	struct op_cursor c;
	void *copy;
	int err = 0;

	if (attr_size < ATTR_MIN + SECTION || !attrs->size)
		return damaged(data, "the table of its events", diag);
	copy = copy_section(data, attrs, "the table of its events", &c, diag);
	if (!copy)
		return -EBADMSG;
	while (!err && op_cursor_left(&c))
		err = read_attr(data, &c, attr_size - SECTION, diag);
	free(copy);
	sort_perfdata_ids(data);
	return err;
}

/* A feature that cannot be read is as if it was not there. */
static int read_features(struct opd_perfdata *data, const uint64_t bits[4],
			 uint64_t at, struct op_diag *diag)
{
	struct op_diag unsaid = { "" };
	int err = 0;

	for (unsigned int i = 0; !err && i < NR_FEATURES; i++) {
		struct section where = { at, SECTION }, section;
		struct op_cursor c;
		void *copy;

		if (!(bits[i / 64] >> i % 64 & 1))
			continue;
		at += SECTION;
		copy = copy_section(data, &where, "", &c, &unsaid);
		if (!copy)
			break;
		section = parse_section(&c);
		free(copy);
		if (i != BUILD_ID && i != HOSTNAME && i != OSRELEASE &&
		    i != ARCH && i != CMDLINE && i != EVENT_DESC &&
		    i != CLOCK_DATA)
			continue;
		copy = copy_section(data, &section, "", &c, &unsaid);
		if (copy && read_feature(data, i, &c))
			err = no_memory_for(data, diag);
		free(copy);
	}
	sort_builds(data);
	return err;
}

static int open_data_file(struct opd_perfdata *data, struct op_cursor *c,
			  struct op_diag *diag)
{
	uint64_t attr_size = op_cursor_number(c, 8), bits[4];
	struct section attrs = parse_section(c), records = parse_section(c);
	int err;

	parse_section(c); /* types of events, long gone */
	for (unsigned int i = 0; i < 4; i++)
		bits[i] = op_cursor_number(c, 8);
	if (c->failed)
		return op_diag_set(
			diag, -EBADMSG,
			"%s: is cut short: it ends in its header; record it again",
			data->path);
	if (records.offset > INT64_MAX / 2 || records.size > INT64_MAX / 2)
		return damaged(data, "where its records are", diag);
	err = read_attrs(data, &attrs, attr_size, diag);
	data->is_unfinished = !records.size;
	if (!err && !data->is_unfinished)
		err = read_features(data, bits, records.offset + records.size,
				    diag);
	if (err)
		return err;
	if (lseek(data->fd, (off_t)records.offset, SEEK_SET) < 0)
		return op_diag_set(diag, -errno, "%s: %s", data->path,
				   strerror(errno));
	if (opd_perfdata_reader_init(&data->reader, data->fd, data->pool,
				     data->is_unfinished ? UINT64_MAX
							 : records.size,
				     records.offset))
		return no_memory_for(data, diag);
	return 0;
}

/* ---- a pipe -----------------------------------------------------------------
 */

/* Read a record that perf itself has written. */
static int parse_own_record(struct opd_perfdata *data, const uint8_t *record,
			    size_t len, struct op_diag *diag)
{
	struct perf_event_header header;
	struct op_cursor c;
	uint32_t attr_len;
	uint64_t what;
	int err = 0;

	memcpy(&header, record, sizeof(header));
	c = op_cursor(record + sizeof(header), len - sizeof(header));
	switch (header.type) {
	case OPD_PERFDATA_ATTR:
		op_cursor_skip(&c, offsetof(struct perf_event_attr, size));
		attr_len = (uint32_t)op_cursor_number(&c, 4);
		c = op_cursor(record + sizeof(header), len - sizeof(header));
		if (!op_cursor_take(&c, attr_len))
			return damaged(data, "the description of an event",
				       diag);
		err = add_described_event(data, record + sizeof(header),
					  attr_len, diag)
			      ?: add_ids(data, &c, diag);
		sort_perfdata_ids(data);
		return err;
	case OPD_PERFDATA_EVENT_UPDATE:
		what = op_cursor_number(&c, 8);
		if (what == UPDATE_NAME) {
			uint64_t id = op_cursor_number(&c, 8);

			put_event_name(find_event_by_id(data, id), c.at,
				       op_cursor_left(&c));
		}
		return 0;
	case OPD_PERFDATA_FEATURE:
		what = op_cursor_number(&c, 8);
		err = read_feature(data, what, &c);
		break;
	case OPD_PERFDATA_BUILD_ID:
		err = add_build(data, &c, header.misc);
		break;
	}
	if (err)
		return no_memory_for(data, diag);
	sort_builds(data);
	return 0;
}

/* In a pipe the events are told first. */
static int open_pipe(struct opd_perfdata *data, struct op_diag *diag)
{
	struct perf_event_header header = { .type = OPD_PERFDATA_FIRST };
	int err;

	if (opd_perfdata_reader_init(&data->reader, data->fd, data->pool,
				     UINT64_MAX, PIPE_HEADER))
		return no_memory_for(data, diag);
	do {
		err = opd_perfdata_next(data, &data->held, &data->held_len,
					diag);
		if (err || !data->held)
			break;
		memcpy(&header, data->held, sizeof(header));
		if (header.type >= OPD_PERFDATA_FIRST)
			data->held = NULL;
	} while (header.type >= OPD_PERFDATA_FIRST);
	if (!err && !data->nr_events)
		err = op_diag_set(diag, -EBADMSG,
				  "%s: describes no event; record it again",
				  data->path);
	return err;
}

/* ---- all --------------------------------------------------------------------
 */

static int check_perfdata_magic(const struct opd_perfdata *data, uint64_t magic,
				struct op_diag *diag)
{
	if (magic == MAGIC)
		return 0;
	if (bswap_64(magic) == MAGIC)
		return op_diag_set(
			diag, -EPROTO,
			"%s: was recorded on a machine of the other byte order; import it on such a machine",
			data->path);
	return op_diag_set(
		diag, -EPROTO,
		"%s: is no file of perf; give one that perf record wrote",
		data->path);
}

static int open_path(struct opd_perfdata *data, struct op_diag *diag)
{
	struct stat st;

	if (!strcmp(data->path, "-"))
		data->fd = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0);
	else
		data->fd = open(data->path, O_RDONLY | O_CLOEXEC);
	if (data->fd < 0 || fstat(data->fd, &st))
		return op_diag_set(diag, -errno,
				   "%s: %s; give a file that perf record wrote",
				   data->path, strerror(errno));
	if (S_ISDIR(st.st_mode))
		return op_diag_set(
			diag, -EISDIR,
			"%s: is a folder; give a file that perf record wrote, without --threads and --kcore",
			data->path);
	return 0;
}

/* Copy @nr bytes at @head, and what follows them from @from, to @to. */
static int copy_all(int to, int from, const uint8_t *head, size_t nr)
{
	uint8_t bytes[65536];
	uint64_t at = 0;
	int got = 0, err;

	memcpy(bytes, head, nr);
	do {
		err = op_file_write_at(to, bytes, nr, at);
		at += nr;
		if (!err && at > MAX_PIPED)
			err = -EFBIG;
		if (!err) {
			got = op_file_read_next(from, bytes, sizeof(bytes));
			nr = (size_t)got;
		}
	} while (!err && got > 0);
	return err ?: got;
}

/*
 * A file is read here and there, and not what comes through a pipe: that is
 * copied to memory, and read from behind @nr bytes at @head, which were read.
 */
static int hold_piped(struct opd_perfdata *data, const uint8_t *head, size_t nr,
		      struct op_diag *diag)
{
	int fd, err;

	if (lseek(data->fd, 0, SEEK_CUR) >= 0)
		return 0;
	fd = memfd_create("perf.data", MFD_CLOEXEC);
	err = fd < 0 ? -errno : copy_all(fd, data->fd, head, nr);
	if (!err && lseek(fd, (off_t)nr, SEEK_SET) < 0)
		err = -errno;
	if (err) {
		if (fd >= 0)
			close(fd);
		return op_diag_set(
			diag, err,
			"%s: cannot be held in memory: %s; give a file instead of a pipe",
			data->path, strerror(-err));
	}
	close(data->fd);
	data->fd = fd;
	return 0;
}

int opd_perfdata_open(struct opd_perfdata *data, const char *path,
		      struct opd_perfdata_pool *pool, struct op_diag *diag)
{
	uint8_t head[FILE_HEADER];
	uint64_t magic, size;
	struct op_cursor c;
	int err, got;

	memset(data, 0, sizeof(*data));
	data->fd = -1;
	data->path = path;
	data->pool = pool;
	err = open_path(data, diag);
	if (err)
		return err;
	got = op_file_read_next(data->fd, head, PIPE_HEADER);
	if (got < 0)
		return op_diag_set(diag, got, "%s: %s", path, strerror(-got));
	c = op_cursor(head, (size_t)got);
	magic = op_cursor_number(&c, 8);
	size = op_cursor_number(&c, 8);
	err = check_perfdata_magic(data, c.failed ? 0 : magic, diag);
	if (err)
		return err;
	if (size == PIPE_HEADER)
		return open_pipe(data, diag);
	err = hold_piped(data, head, (size_t)got, diag);
	if (err)
		return err;
	got = op_file_read_next(data->fd, head, FILE_HEADER - PIPE_HEADER);
	if (got < 0)
		return op_diag_set(diag, got, "%s: %s", path, strerror(-got));
	c = op_cursor(head, (size_t)got);
	return open_data_file(data, &c, diag);
}

void opd_perfdata_close(struct opd_perfdata *data)
{
	opd_perfdata_reader_release(&data->reader);
	for (size_t i = 0; i < data->nr_builds; i++)
		free(data->builds[i].name);
	free(data->builds);
	free(data->events);
	free(data->ids);
	if (data->fd >= 0)
		close(data->fd);
	memset(data, 0, sizeof(*data));
	data->fd = -1;
}

static int explain_end(const struct opd_perfdata *data,
		       enum opd_perfdata_end end, struct op_diag *diag)
{
	uint64_t at = data->reader.offset - data->reader.raw.len +
		      data->reader.raw.at;

	switch (end) {
	case OPD_PERFDATA_WHOLE:
		if (!data->is_unfinished)
			return 0;
		/* fall through */
	case OPD_PERFDATA_CUT:
		return op_diag_set(
			diag, -EBADMSG,
			"%s: %s; samples up to byte %" PRIu64 " are there",
			data->path,
			data->is_unfinished
				? "was not finished, as perf record was killed"
				: "is cut short",
			at);
	case OPD_PERFDATA_DAMAGED:
		return op_diag_set(diag, -EBADMSG,
				   "%s: is damaged at byte %" PRIu64
				   "; samples before it are there",
				   data->path, at);
	case OPD_PERFDATA_UNREADABLE:
		break;
	}
	return op_diag_set(diag, -EIO,
			   "%s: cannot be read at byte %" PRIu64 ": %s",
			   data->path, at, strerror(errno));
}

int opd_perfdata_next(struct opd_perfdata *data, const void **record,
		      size_t *len, struct op_diag *diag)
{
	struct perf_event_header header;
	enum opd_perfdata_end end;

	*record = data->held;
	*len = data->held_len;
	data->held = NULL;
	if (*record)
		return 0;
	*record = opd_perfdata_reader_next(&data->reader, len, &end);
	if (!*record)
		return explain_end(data, end, diag);
	memcpy(&header, *record, sizeof(header));
	/* A file has this in its tables. */
	return header.type >= OPD_PERFDATA_FIRST
		       ? parse_own_record(data, *record, *len, diag)
		       : 0;
}
