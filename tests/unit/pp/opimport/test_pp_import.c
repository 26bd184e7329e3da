// SPDX-License-Identifier: GPL-2.0-or-later
/* What opimport makes of classic sample files: what kind of image, whose
 * samples are in JIT code, what becomes of a whole session. */

#include "tests/unit/pp_fixture.h"

#include "libdb/odb.h"
#include "libop/files/op_folder.h"
#include "libop/session/op_sample_file.h"
#include "pp/opimport/opimport_file.h"
#include "pp/opimport/opimport_session.h"
#include "tests/helper/writers/classic_file.h"

/* ---- files --------------------------------------------------------------- */

static const struct classic_file plain = {
	.layout = &classic_layouts[2],
	.cpu_type = 12,
	.event = 0x3c,
	.unit_mask = 7,
	.count = 100000,
	.mhz = 2400.5,
	.mtime = 1234567890,
};

static void write_classic(const char *path, const struct classic_file *file,
			  const struct classic_pair *pairs, size_t nr)
{
	static uint8_t bytes[1 << 16];

	assert_true(classic_len(file, nr) <= sizeof(bytes));
	classic_build(file, bytes, pairs, nr);
	write_bytes(path, bytes, classic_len(file, nr));
}

/* "KEY=COUNT" of all samples and what the header says. */
static void write_new(FILE *out, const char *path)
{
	static const char *const kinds[] = { "file", "kernel", "module", "anon",
					     "pseudo" };
	const struct op_sample_header *h;
	uint64_t key, count, keys[16], counts[16];
	size_t nr = 0;
	struct odb *odb;

	if (odb_open(&odb, path, ODB_RDONLY)) {
		fputs("no file", out);
		return;
	}
	h = odb_user(odb);
	fprintf(out, "%s %s event %u mask %u count %llu khz %u mtime %llu",
		kinds[h->kind], h->cpu_type, h->event, h->unit_mask,
		(unsigned long long)h->count, h->cpu_khz,
		(unsigned long long)h->mtime);
	if (h->anon_start)
		fprintf(out, " at 0x%llx", (unsigned long long)h->anon_start);
	for (size_t at = 0; odb_next(odb, &at, &key, &count); nr++) {
		size_t k = nr;

		assert_true(nr < NR(keys));
		for (; k && keys[k - 1] > key; k--) {
			keys[k] = keys[k - 1];
			counts[k] = counts[k - 1];
		}
		keys[k] = key;
		counts[k] = count;
	}
	fputc(';', out);
	for (size_t i = 0; i < nr; i++)
		fprintf(out, " %llx=%llu", (unsigned long long)keys[i],
			(unsigned long long)counts[i]);
	odb_close(odb);
}

FOLDER_TEST(files_are_converted)
{
	static const struct classic_pair pairs[] = { { 0x10, 3 },
						     { 0x30, 4 },
						     { 0x20, 1 } };
	static const struct op_mangle root = { .dep = { OP_SPACE_ROOT,
							.name = "/x" } };
	static const struct op_mangle ko = { .dep = { OP_SPACE_ROOT,
						      .name = "/x.ko" } };
	static const struct op_mangle module = { .dep = { OP_SPACE_KERN,
							  .name = "ext4" } };
	static const struct op_mangle none = {
		.dep = { OP_SPACE_KERN, .name = "no-vmlinux" }
	};
	static const struct op_mangle xen = {
		.dep = { OP_SPACE_KERN, .name = "xen-unknown" }
	};
	static const struct op_mangle anon = { .dep = { OP_SPACE_ANON,
							.name = "anon" } };
	static const struct {
		const char *what;
		const struct op_mangle *name;
		uint32_t is_kernel, cpu_type;
		uint64_t anon_start;
		const char *text;
		uint32_t unknown;
	} rows[] = {
		/* clang-format off */
		{ "no name", NULL, 0, 12, 0, "file ppc64/power4 event 60 mask 7 count 100000 khz 2400500 mtime 1234567890; 10=3 20=1 30=4", 0 },
		{ "no name, kernel", NULL, 1, 12, 0, "kernel ppc64/power4 event 60 mask 7 count 100000 khz 2400500 mtime 1234567890; 10=3 20=1 30=4", 0 },
		{ "no name, memory", NULL, 0, 12, 0x5000, "anon ppc64/power4 event 60 mask 7 count 100000 khz 2400500 mtime 1234567890 at 0x5000; 10=3 20=1 30=4", 0 },
		{ "binary", &root, 0, 12, 0, "file ppc64/power4 event 60 mask 7 count 100000 khz 2400500 mtime 1234567890; 10=3 20=1 30=4", 0 },
		{ "kernel", &root, 1, 12, 0, "kernel ppc64/power4 event 60 mask 7 count 100000 khz 2400500 mtime 1234567890; 10=3 20=1 30=4", 0 },
		{ "module of a path", &ko, 1, 12, 0, "module ppc64/power4 event 60 mask 7 count 100000 khz 2400500 mtime 1234567890; 10=3 20=1 30=4", 0 },
		{ "file called .ko", &ko, 0, 12, 0, "file ppc64/power4 event 60 mask 7 count 100000 khz 2400500 mtime 1234567890; 10=3 20=1 30=4", 0 },
		{ "module", &module, 1, 12, 0, "module ppc64/power4 event 60 mask 7 count 100000 khz 2400500 mtime 1234567890; 10=3 20=1 30=4", 0 },
		{ "no vmlinux", &none, 1, 12, 0, "pseudo ppc64/power4 event 60 mask 7 count 100000 khz 2400500 mtime 1234567890; 10=3 20=1 30=4", 0 },
		{ "hypervisor", &xen, 1, 12, 0, "pseudo ppc64/power4 event 60 mask 7 count 100000 khz 2400500 mtime 1234567890; 10=3 20=1 30=4", 0 },
		{ "memory", &anon, 0, 12, 0x5000, "anon ppc64/power4 event 60 mask 7 count 100000 khz 2400500 mtime 1234567890 at 0x5000; 10=3 20=1 30=4", 0 },
		{ "no such CPU", &root, 0, 9999, 0, "file unknown event 60 mask 7 count 100000 khz 2400500 mtime 1234567890; 10=3 20=1 30=4", 10000 },
		/* clang-format on */
	};

	for (size_t i = 0; i < NR(rows); i++) {
		struct classic_file file = plain;
		struct opimport_result result;
		struct op_diag diag = { "" };
		struct text t;

		file.is_kernel = rows[i].is_kernel;
		file.cpu_type = rows[i].cpu_type;
		file.anon_start = rows[i].anon_start;
		write_classic("old", &file, pairs, NR(pairs));
		unlink("new");
		assert_int_equal(opimport_file("old", "new", rows[i].name, NULL,
					       NULL, &result, &diag),
				 0);
		assert_int_equal(result.nr_keys, 3);
		assert_int_equal(result.samples, 8);
		assert_int_equal(result.unknown_cpu_type, rows[i].unknown);
		assert_false(result.unwritten);
		write_new(text_begin(&t), "new");
		text_must_be(&t, rows[i].what, rows[i].text);
	}
}

FOLDER_TEST(files_are_not_replaced)
{
	static const struct {
		const char *command, *to, *reason;
		int err;
		bool unwritten;
	} rows[] = {
		{ "echo >new", "new",
		  "new: already exists; remove it, or name another", -EEXIST,
		  false },
		{ "rm -f new", "none/new",
		  "none/new: cannot be written: No such file or directory",
		  -ENOENT, true },
		{ "echo >old", "new", "old: ", -EBADMSG, false },
		{ "rm old", "new", "old: ", -ENOENT, false },
	};

	for (size_t i = 0; i < NR(rows); i++) {
		struct opimport_result result;
		struct op_diag diag = { "" };

		write_classic("old", &plain, NULL, 0);
		assert_int_equal(system(rows[i].command), 0);
		assert_int_equal(opimport_file("old", rows[i].to, NULL, NULL,
					       NULL, &result, &diag),
				 rows[i].err);
		assert_reason(&diag, rows[i].reason);
		assert_int_equal(result.unwritten, rows[i].unwritten);
		if (i)
			assert_int_not_equal(access("new", F_OK), 0);
	}
}

/* The file 7.jo with code at 0x10100 and 0x10200, and data. */
static void make_jit_file(void)
{
	write_text("c.s", ".section .one,\"ax\",@progbits\n.zero 16\n"
			  ".section .two,\"ax\",@progbits\n.zero 32\n"
			  ".section .data3,\"aw\",@progbits\n.zero 16\n");
	assert_int_equal(
		system("cc -c -o c.o c.s && "
		       "objcopy --change-section-address .one=0x10100 "
		       "--change-section-address .two=0x10200 "
		       "--change-section-address .data3=0x10300 c.o 7.jo && "
		       "touch -d @5000 7.jo"),
		0);
}

/* Samples in the sections of a .jo file are counted in that file. */
FOLDER_TEST(jit_code_is_a_binary)
{
	/* The mapping is at the first section's address less 0x100. */
	static const struct op_image_name anon = { .space = OP_SPACE_ANON,
						   .name = "anon",
						   .tgid = 7,
						   .start = 0x10000 };
	static const struct {
		uint64_t key, offset; /* 0: no code */
	} rows[] = {
		{ 0xff, 0 },  { 0x100, 1 }, { 0x10f, 1 }, { 0x110, 0 },
		{ 0x200, 2 }, { 0x21f, 2 }, { 0x220, 0 }, { 0x300, 0 },
	};
	struct opimport_jit jit;
	uint64_t first = 0;

	make_jit_file();
	assert_int_equal(system("mkdir -p d/7.0x1.0x2 && cp -p 7.jo d"), 0);
	assert_int_equal(opimport_jit_open(&jit, "d/7.0x1.0x2/E", &anon), 0);
	assert_int_equal(jit.mtime, 5000);
	for (size_t i = 0; i < NR(rows); i++) {
		uint64_t offset = 0;
		bool found = opimport_jit_find(&jit, rows[i].key, &offset);

		if (found != (rows[i].offset != 0))
			fail_msg("key %#llx", (unsigned long long)rows[i].key);
		if (rows[i].key == 0x100)
			first = offset;
		if (rows[i].key == 0x10f)
			assert_int_equal(offset, first + 15);
	}
	opimport_jit_close(&jit);
	assert_false(opimport_jit_find(&jit, 0x100, &first));
	assert_int_equal(opimport_jit_open(&jit, "E", &anon), -ENOENT);
	assert_int_equal(opimport_jit_open(&jit, "7.0x1.0x2/E", &anon),
			 -ENOENT);
	write_text("d/7.jo", "no ELF file");
	assert_int_equal(opimport_jit_open(&jit, "d/7.0x1.0x2/E", &anon),
			 -ENOEXEC);
}

/* ---- sessions ------------------------------------------------------------ */

static FILE *said;

static void complain(const char *text)
{
	fprintf(said, "- %s\n", text);
}

static void remark(const char *text)
{
	fprintf(said, "+ %s\n", text);
}

#define X "{root}/bin/x/{dep}/{root}/bin/x"

/* Have the one file that is there be in another folder of the session. */
#define MOVED_TO(folder)                                                       \
	"cd old/samples/current; mv {root} was; mkdir -p '" folder             \
	"'; mv was/bin/x/{dep}/{root}/bin/x/E* '" folder "'; rm -r was"

/* What @command makes of a session of one file, and what comes of that. */
FOLDER_TEST(sessions_are_converted)
{
	static const struct {
		const char *command;
		const char *text; /* and the files that are there then */
	} rows[] = {
		/* clang-format off */
		{ ":", EXPECTED_ROW },
		{ "mkdir -p old/samples/s2/" X "; cp old/samples/current/" X "/* old/samples/s2/" X,
		  EXPECTED_ROW },
		{ "mkdir -p old/samples/current/" X "/{cg}/{root}/bin/x; cp old/samples/current/" X "/E* old/samples/current/" X "/{cg}/{root}/bin/x",
		  EXPECTED_AS("mkdir -p old/samples/current/{root}/bin/x/{dep}/{root}/bin/x/{cg}/{root}/bin/x; cp old/samples/current/{root}/bin/x/{dep}/{root}/bin/x/E* old/samples/, 1") },
		{ "echo >old/samples/log; echo >old/samples/current/stats; mkdir old/samples/empty",
		  EXPECTED_ROW },
		{ "echo >old/samples/current/" X "/bad", EXPECTED_ROW },
		{ "echo >old/samples/current/" X "/F.1.0.all.all.all", EXPECTED_ROW },
		{ "echo >old/samples/current/{x}.jo", EXPECTED_ROW },
		{ "ln -s x old/samples/current/" X "/F.1.0.all.all.all", EXPECTED_ROW },
		{ "cp unknown old/samples/current/" X "/F.1.0.all.all.all", EXPECTED_ROW },
		/* Memory of 4 GiB, and of a byte more: of the caller and of what is called. */
		{ MOVED_TO("{root}/bin/x/{dep}/{anon:anon}/7.0x1000.0x100001000/{cg}/{root}/bin/x"),
		  EXPECTED_AS("cd old/samples/current; mv {root} was; mkdir -p '{root}/bin/x/{dep}/{anon:anon}/7.0x1000.0x100001000/{cg}/{root}/bin/x'; mv was/bin/x/{dep}/{root}/bin, 1") },
		{ MOVED_TO("{root}/bin/x/{dep}/{anon:anon}/7.0x1000.0x100001001/{cg}/{root}/bin/x"),
		  EXPECTED_AS("cd old/samples/current; mv {root} was; mkdir -p '{root}/bin/x/{dep}/{anon:anon}/7.0x1000.0x100001001/{cg}/{root}/bin/x'; mv was/bin/x/{dep}/{root}/bin, 1") },
		{ MOVED_TO("{root}/bin/x/{dep}/{root}/bin/x/{cg}/{anon:anon}/7.0x1000.0x100001001"),
		  EXPECTED_AS("cd old/samples/current; mv {root} was; mkdir -p '{root}/bin/x/{dep}/{root}/bin/x/{cg}/{anon:anon}/7.0x1000.0x100001001'; mv was/bin/x/{dep}/{root}/bin, 1") },
		{ MOVED_TO("{root}/bin/x/{dep}/{anon:anon}/7.0x1000.0x200001000"),
		  EXPECTED_AS("cd old/samples/current; mv {root} was; mkdir -p '{root}/bin/x/{dep}/{anon:anon}/7.0x1000.0x200001000'; mv was/bin/x/{dep}/{root}/bin/x/E* '{root}/bin/, 1") },
		{ "rm -r old/samples/current", "old/samples: there are no sample files; name the folder that samples/ is in\n" },
		{ "rm -r old/samples", "old: contains no folder samples; name the folder that samples/ is in\n" },
		{ "rm -r old/samples; echo >old/samples", "old/samples: not a folder\n" },
		{ "mkdir -p new/samples", "$/new/samples: it already contains samples; name another folder with --output\n" },
		{ "echo x >old/abi", "old/abi:1: not an ABI description, in which each line is a name and a small number\n" },
		/* clang-format on */
	};
	static const struct classic_pair pairs[] = { { 0x10, 3 } };
	struct classic_file unknown = plain;

	unknown.cpu_type = 9999;
	write_classic("unknown", &unknown, pairs, NR(pairs));
	for (size_t i = 0; i < NR(rows); i++) {
		const struct opimport_options options = {
			.from = "old",
			.to = "new",
			.complain = complain,
			.remark = remark,
		};
		struct opimport_counts counts;
		struct op_diag diag = { "" };
		struct text all;
		int err;

		assert_int_equal(system("rm -rf old new; mkdir -p old/samples/"
					"current/" X),
				 0);
		write_classic("old/samples/current/" X "/E.1.0.all.all.all",
			      &plain, pairs, NR(pairs));
		assert_int_equal(system(rows[i].command), 0);
		said = text_begin(&all);
		err = opimport_session(&options, &counts, &diag);
		assert_true(err <= 0);
		if (err)
			fprintf(said, "%s\n", diag.text);
		else
			fprintf(said,
				"%u sessions, %u files, %u graphs, "
				"%u failed",
				counts.sessions, counts.files,
				counts.call_graphs, counts.failed);
		if (!err && counts.cut_calls)
			fprintf(said, ", %llu calls cut",
				(unsigned long long)counts.cut_calls);
		if (!err)
			fputc('\n', said);
		fflush(said);
		assert_int_equal(system("find new -type f 2>list | sort >list"),
				 0);
		if (!err)
			fputs(text_of("list"), said);
		text_below_must_be(&all, *state, rows[i].command, rows[i].text);
	}
}

/* The one file below new/ whose path has @part. */
static const char *new_file_with(const char *part)
{
	static char path[512];
	char command[128];
	FILE *pipe;

	snprintf(command, sizeof(command), "find new -type f | grep -F '%s'",
		 part);
	pipe = popen(command, "r");
	assert_non_null(pipe);
	if (!fgets(path, sizeof(path), pipe) || fgetc(pipe) != EOF)
		fail_msg("not one file with %s", part);
	assert_int_equal(pclose(pipe), 0);
	path[strcspn(path, "\n")] = '\0';
	return path;
}

/* What is beside it stays in anonymous memory. */
FOLDER_TEST(jit_code_of_sessions_is_kept)
{
	static const struct classic_pair pairs[] = {
		{ 0xff, 1 }, { 0x100, 2 }, { 0x10f, 4 }, { 0x200, 8 }
	};
	const struct opimport_options options = {
		.from = "old",
		.to = "new",
		.complain = complain,
		.remark = remark,
	};
	static const struct op_image_name anon = { .space = OP_SPACE_ANON,
						   .name = "anon",
						   .tgid = 7,
						   .start = 0x10000 };
#define ANON "old/samples/current/{root}/bin/x/{dep}/{anon:anon}"
	static const char file[] = ANON "/7.0x10000.0x20000/E.1.0.7.7.all";
	struct classic_file memory = plain;
	struct opimport_counts counts;
	struct op_diag diag = { "" };
	struct opimport_jit jit;
	uint64_t one, two;
	struct text t;
	char wanted[256];
	struct stat st;

	make_jit_file();
	memory.anon_start = 0x10000;
	assert_int_equal(op_make_parents(file, 0755), 0);
	write_classic(file, &memory, pairs, NR(pairs));
	assert_int_equal(system("cp -p 7.jo '" ANON "'"), 0);
	assert_int_equal(opimport_jit_open(&jit, file, &anon), 0);
	assert_true(opimport_jit_find(&jit, 0x100, &one));
	assert_true(opimport_jit_find(&jit, 0x200, &two));
	opimport_jit_close(&jit);

	said = text_begin(&t);
	assert_int_equal(opimport_session(&options, &counts, &diag), 0);
	text_must_be(&t, "said",
		     "+ " ANON "/7.0x10000.0x20000/E.1.0.7.7.all: converted\n"
		     "+ " ANON "/7.jo: JIT code, kept\n");
	assert_int_equal(counts.files, 1);
	assert_int_equal(counts.failed, 0);

	write_new(text_begin(&t), new_file_with("{dep}%-{anon:anon}"));
	text_must_be(
		&t, "memory",
		"anon ppc64/power4 event 60 mask 7 count 100000 khz 2400500 mtime 1234567890 at 0x10000; ff=1");
	write_new(text_begin(&t), new_file_with("7.jo%-E"));
	snprintf(
		wanted, sizeof(wanted),
		"file ppc64/power4 event 60 mask 7 count 100000 khz 2400500 mtime 5000; %llx=2 %llx=4 %llx=8",
		(unsigned long long)one, (unsigned long long)one + 15,
		(unsigned long long)two);
	text_must_be(&t, "code", wanted);
	/* The code itself, by its time of modification. */
	assert_int_equal(stat(new_file_with("new/images/"), &st), 0);
	assert_int_equal(st.st_mtime, 5000);
	snprintf(wanted, sizeof(wanted), "cmp 7.jo %s",
		 new_file_with("new/images/"));
	assert_int_equal(system(wanted), 0);
}

/* Each session's account has its own samples and losses; of call graphs none,
 * and none where nothing is known of losses. */
FOLDER_TEST(each_session_has_its_account)
{
	static const struct classic_pair pairs[] = { { 0x10, 3 }, { 0x30, 4 } };
	static const struct {
		const char *name, *counters, *wanted;
	} sessions[] = {
		{ "current", "5\n", EXPECTED_ROW },
		{ "second", "0\n", EXPECTED_ROW },
		{ "third", NULL, NULL },
		{ "fourth", "1\n", EXPECTED_ROW },
	};
	const struct opimport_options options = {
		.from = "old",
		.to = "new",
		.complain = complain,
	};
	struct opimport_counts counts;
	struct op_diag diag = { "" };
	char path[256];
	struct text t;

	for (size_t i = 0; i < NR(sessions); i++) {
		/* The second session has another file, and a call graph. */
		static const char *const files[] = { X "/E.1.0.all.all.all",
						     X "/F.1.0.all.all.all",
						     X "/{cg}/{root}/bin/x/"
						       "E.1.0.all.all.all" };

		for (size_t k = 0; k < (i == 1 ? NR(files) : 1); k++) {
			snprintf(path, sizeof(path), "old/samples/%s/%s",
				 sessions[i].name, files[k]);
			assert_int_equal(op_make_parents(path, 0755), 0);
			write_classic(path, &plain, pairs, NR(pairs));
		}
		snprintf(path, sizeof(path),
			 "old/samples/%s/stats/sample_lost_no_mm",
			 sessions[i].name);
		assert_int_equal(op_make_parents(path, 0755), 0);
		if (sessions[i].counters)
			write_text(path, sessions[i].counters);
	}
	said = text_begin(&t);
	assert_int_equal(opimport_session(&options, &counts, &diag), 0);
	text_must_be(&t, "said", "");
	assert_int_equal(counts.sessions, 4);
	assert_int_equal(counts.files, 6);
	assert_int_equal(counts.call_graphs, 1);
	for (size_t i = 0; i < NR(sessions); i++) {
		snprintf(path, sizeof(path), "new/samples/%s/ledger",
			 sessions[i].name);
		if (!sessions[i].wanted) {
			assert_int_equal(access(path, F_OK), -1);
			continue;
		}
		fputs(text_of(path), text_begin(&t));
		text_must_be(&t, sessions[i].name, sessions[i].wanted);
	}
}

FOLDER_TEST(long_names_of_sessions_are_refused)
{
	static char name[PATH_MAX];
	struct opimport_options options = { .from = name,
					    .to = "new",
					    .complain = complain };
	struct opimport_counts counts;
	struct op_diag diag = { "" };

	memset(name, 'n', sizeof(name) - 1);
	/* With "/samples" and the zero byte one byte too many. */
	name[PATH_MAX - sizeof("/samples") + 1] = '\0';
	assert_int_equal(opimport_session(&options, &counts, &diag),
			 -ENAMETOOLONG);
	assert_reason(&diag, "nnn: too long");
	name[PATH_MAX - sizeof("/samples")] = '\0';
	diag.text[0] = '\0';
	assert_int_equal(opimport_session(&options, &counts, &diag),
			 -ENAMETOOLONG);
	assert_reason(&diag, "File name too long; name the folder");
}

/* What cannot be opened is no code, and nothing is made of it. */
FOLDER_TEST(jit_code_that_cannot_be_read_is_not_kept)
{
	static const struct op_image_name anon = { .space = OP_SPACE_ANON,
						   .name = "anon",
						   .tgid = 7,
						   .start = 0x10000 };
	static char name[PATH_MAX];
	struct op_session session;
	struct op_diag diag = { "" };
	struct opimport_jit jit;
	uint64_t offset;

	assert_int_equal(op_session_init(&session, "new", &diag), 0);
	assert_int_equal(opimport_jit_keep("7.jo", &session), -ENOENT);
	assert_int_equal(mkdir("d", 0755), 0);
	/* A socket is there and is no file. */
	assert_int_equal(mknod("d/7.jo", S_IFSOCK | 0644, 0), 0);
	assert_int_equal(opimport_jit_open(&jit, "d/7.0x1.0x2/E", &anon),
			 -ENXIO);
	assert_false(opimport_jit_find(&jit, 0x100, &offset));
	assert_int_equal(opimport_jit_keep("d/7.jo", &session), -ENXIO);
	write_text("no", "no ELF file");
	assert_int_equal(opimport_jit_keep("no", &session), -ENOEXEC);
	assert_int_equal(access("new/images", F_OK), -1);
	/* The folder's name is as long as may be, and a byte longer. */
	name[0] = 'd';
	for (size_t i = 1; i + 1 < sizeof(name); i++)
		name[i] = i % 2 ? '/' : '.';
	strcpy(name + sizeof(name) - sizeof("/7.jo"), "/x/y");
	assert_int_equal(opimport_jit_open(&jit, name, &anon), -ENXIO);
	strcpy(name + sizeof(name) - sizeof("/7.jo"), "./x");
	strcat(name, "/");
	assert_int_equal(opimport_jit_open(&jit, name, &anon), -ENAMETOOLONG);
}
