// SPDX-License-Identifier: GPL-2.0-or-later
/* Which events a file of perf has, as the stream tells them, and which files
 * the source opens. */

#include "daemon/source/opd_source.h"
#include "daemon/source/opd_writer.h"
#include "perfdata_fixture.h"
#include "tests/unit/rows.h"

#define MAX_FILES 4

struct files_rig {
	struct opd_source source;
	struct opd_events events;
	struct file files[MAX_FILES];
	int fds[MAX_FILES];
	unsigned int nr_files;
	unsigned int nr_events; /* of all files */
};

static const struct opd_source_client no_client;

/* ---- files ------------------------------------------------------------------
 */

/* The attribute that the words after the name describe. */
static struct perf_event_attr parse_attr(const char *words)
{
	struct perf_event_attr attr = attr_of(0, SAMPLE_TYPE);
	char word[32];
	int len;

	attr.freq = 0;
	attr.sample_period = 1000;
	for (; sscanf(words, "%31s%n", word, &len) == 1; words += len) {
		char *value = strchr(word, '=');
		unsigned long number = value ? strtoul(value + 1, NULL, 0) : 0;

		if (value)
			*value = '\0';
		if (!strcmp(word, "type"))
			attr.type = (uint32_t)number;
		else if (!strcmp(word, "config"))
			attr.config = number;
		else if (!strcmp(word, "count"))
			attr.sample_period = number;
		else if (!strcmp(word, "freq"))
			attr.freq = 1, attr.sample_freq = number;
		else if (!strcmp(word, "user"))
			attr.exclude_kernel = 1;
		else if (!strcmp(word, "kernel"))
			attr.exclude_user = 1;
		else if (!strcmp(word, "sample_type"))
			attr.sample_type = number;
		else if (!strcmp(word, "depth"))
			attr.sample_max_stack = (uint16_t)number;
		else
			fail_msg("%s: no such word", word);
	}
	return attr;
}

/* Add "NAME [WORD]..." to the last file; "-" is told no name. */
static void put_described_event(struct files_rig *rig, const char *text)
{
	struct file *f = &rig->files[rig->nr_files - 1];
	uint64_t id = 100 + rig->nr_events++;
	char name[OP_EVENT_NAME_MAX];
	struct perf_event_attr attr;
	struct record r;
	int len;

	assert_int_equal(sscanf(text, "%63s%n", name, &len), 1);
	attr = parse_attr(text + len);
	record_begin(&r, OPD_PERFDATA_ATTR, 0);
	record_put(&r, &attr, sizeof(attr));
	record_u64(&r, id);
	put_record(f, &r);
	if (!strcmp(name, "-"))
		return;
	record_begin(&r, OPD_PERFDATA_EVENT_UPDATE, 0);
	record_u64(&r, 2);
	record_u64(&r, id);
	record_text(&r, name);
	put_record(f, &r);
}

/* "PATH,PATH" of all files, each of which is written now. */
static void write_files(struct files_rig *rig, char *arg, size_t size)
{
	size_t len = 0;

	*arg = '\0';
	for (unsigned int i = 0; i < rig->nr_files; i++) {
		int fd = memfd_create("perf.data", MFD_CLOEXEC);

		assert_true(fd >= 0);
		assert_int_equal(write(fd, rig->files[i].bytes,
				       rig->files[i].len),
				 rig->files[i].len);
		rig->fds[i] = fd;
		len += (size_t)snprintf(arg + len, size - len,
					"%s/proc/self/fd/%d", i ? "," : "", fd);
	}
}

/* ---- what is told -----------------------------------------------------------
 */

static void show_perfdata_events(const struct files_rig *rig, FILE *out)
{
	for (unsigned int i = 0; i < rig->events.nr; i++) {
		const struct opd_event *event = &rig->events.counter[i];

		assert_true(event->set);
		fprintf(out, "%s:%lu value %lx um %lx config %lx%s%s\n",
			event->name, (unsigned long)event->count,
			(unsigned long)event->value, (unsigned long)event->um,
			(unsigned long)event->config,
			event->kernel ? " kernel" : "",
			event->user ? " user" : "");
	}
}

/* What is said, with the names of files left out. */
static void show_reason(const char *text, FILE *out)
{
	const char *path = strstr(text, "/proc/self/fd/");

	if (path)
		text = path + strlen("/proc/self/fd/") +
		       strspn(path + strlen("/proc/self/fd/"), "0123456789");
	fprintf(out, "%s\n", text);
}

static void open_files(struct files_rig *rig, FILE *out)
{
	const struct opd_source_ops *ops = &opd_source_perfdata;
	struct op_diag diag = { "" };
	char arg[256];
	int err;

	write_files(rig, arg, sizeof(arg));
	rig->source.ops = ops;
	rig->source.client = &no_client;
	rig->source.events = &rig->events;
	rig->source.fd = -1;
	rig->source.writer = opd_writer_new(&rig->source);
	assert_non_null(rig->source.writer);
	err = ops->open(&rig->source, *arg ? arg : NULL, &diag);
	if (err) {
		fprintf(out, "%s: ", strerrorname_np(-err));
		show_reason(diag.text, out);
	} else {
		show_perfdata_events(rig, out);
		fprintf(out, "%s %s%s%s\n", rig->source.name,
			rig->source.cpu_type,
			rig->source.stacks ? " stacks" : "",
			ops->unwinder(&rig->source) ? " unwinds" : "");
		assert_true(rig->source.fd >= 0);
		assert_int_equal(ops->detach_file(&rig->source, 12345),
				 -ENOENT);
	}
	ops->close(&rig->source);
	assert_int_equal(rig->source.fd, -1);
	assert_null(rig->source.perfdata);
	ops->close(&rig->source);
	opd_writer_free(rig->source.writer);
	for (unsigned int i = 0; i < rig->nr_files; i++)
		close(rig->fds[i]);
}

/* file: one more file, which has the events that follow: event NAME [WORD]...
 */
static void run_files(const struct row *row, FILE *out)
{
	struct files_rig *rig = calloc(1, sizeof(*rig));
	const char *at = row->script;
	char line[128];

	assert_non_null(rig);
	while (next_line(&at, line, sizeof(line))) {
		if (!strcmp(line, "file")) {
			assert_true(rig->nr_files < MAX_FILES);
			begin_pipe(&rig->files[rig->nr_files++]);
		} else if (!strncmp(line, "event ", 6)) {
			put_described_event(rig, line + 6);
		} else {
			fail_msg("%s: no such line", line);
		}
	}
	open_files(rig, out);
	free(rig);
}

/* clang-format off */
static const struct row rows[] = {
	{ "a_plain_event", NULL, "file; event cycles", EXPECTED_ROW },
	{ "no_count_is_told", NULL, "file; event cycles count=0", EXPECTED_ROW },
	/* Only the clocks count ns: 0 and 1 of the software's. */
	{ "a_rate_instead_of_a_count", NULL,
	  "file; event a type=1 config=0 freq=4000;"
	  "event b type=1 config=1 freq=3;"
	  "event c type=1 config=2 freq=4000;"
	  "event d type=0 config=0 freq=4000;"
	  "event e type=1 config=0 freq=2000000000;"
	  "event f type=1 config=0 freq=0", EXPECTED_ROW },
	/* Where each sample tells its period it counts for that: 0x10107. */
	{ "a_rate_and_periods", NULL,
	  "file; event a type=1 config=0 freq=4000 sample_type=0x10107;"
	  "event b type=1 config=2 freq=4000 sample_type=0x10107;"
	  "event c type=0 config=0 count=5000 sample_type=0x10107", EXPECTED_ROW },
	{ "who_is_sampled", NULL,
	  "file; event a user; event b kernel; event c user kernel", EXPECTED_ROW },
	/* Raw ones have a unit mask in their second byte. */
	{ "events_without_a_name", NULL,
	  "file; event - type=4 config=0x2c3;"
	  "event r1c3 type=4 config=0x345601c3;"
	  "event - type=0 config=0x1c3; event - type=9 config=0xabc;"
	  "event - type=0 config=0", EXPECTED_ROW },
	/* Without modifiers, and with underscores for what is no letter. */
	{ "names_that_perf_tells", NULL,
	  "file; event cycles:u; event cycle:ppp; event cycl:uk;"
	  "event a:z; event :u; event cpu/event=0x3c/; event /x/;"
	  "event ///; event b//c; event d-e.f",
	  EXPECTED("names-that-perf-tells") },
	{ "equal_events_are_one", NULL,
	  "file; event a; event a; event a count=2; event b", EXPECTED_ROW },
	{ "events_of_two_files", NULL,
	  "file; event a; event b; file; event b; event c;"
	  "event a count=9", EXPECTED_ROW },
	/* Their sample files would have one name. */
	{ "modes_of_an_event", NULL,
	  "file; event cycles:u user; event cycles:k kernel; event cycles;"
	  "event cycles:u user; event other:u user; event cycles:k kernel count=2", EXPECTED_ROW },
	{ "modes_of_an_event_in_two_files", NULL,
	  "file; event cycles:u user; file; event cycles:k kernel;"
	  "file; event cycles; event cycles:u user; file; event cycles:k kernel", EXPECTED_ROW },
	{ "no_event", NULL, "file",
	  "EBADMSG: : describes no event; record it again\n" },
	{ "no_event_with_samples", NULL, "file; event a type=1 config=9",
	  "EBADMSG: : has no event with samples\n" },
	{ "one_of_side_band", NULL,
	  "file; event a type=1 config=9; event b type=0 config=9;"
	  "event c type=1 config=8", EXPECTED_ROW },
	{ "no_file", NULL, "",
	  "EINVAL: perfdata: no file given; use --source=perfdata:PATH, - is standard input\n" },
	{ "callers_of_the_kernel", NULL, "file; event a sample_type=0x10027", EXPECTED_ROW },
	{ "stacks_of_programs", NULL, "file; event a sample_type=0x13007", EXPECTED_ROW },
	{ "a_file_without_events_among_others", NULL,
	  "file; event a; file; event b; file",
	  "EBADMSG: : describes no event; record it again\n" },
};
/* clang-format on */

TEST_ROWS(test_files_row, rows)
{
	check_row(*state, run_files);
}
