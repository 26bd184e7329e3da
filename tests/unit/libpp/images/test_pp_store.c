// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The store of symbols: which binaries of a session are stored and when it is
 * said why not, what is removed when the store is full. Also messages, which
 * tell of it.
 */

#include "tests/unit/pp_session.h"

#include <dlfcn.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>

#include "libop/image/op_build_id.h"
#include "libpp/images/symbol_store.h"
#include "libpp/symbols/elf_digest.h"

/* ---- sessions ------------------------------------------------------------ */

/* The file of samples in the image @folder/NAME of such a build; @id is a room
 * (libop/image/op_build_id.h). */
static void write_image_samples(const char *folder, const char *name,
				const uint8_t *id, uint32_t len)
{
	struct op_sample_header header = made_header;
	char path[1024];
	struct odb *odb;

	header.build_id_len = len;
	memcpy(header.build_id, op_build_id_of_room(id, len).bytes,
	       sizeof(header.build_id));
	snprintf(path, sizeof(path),
		 "samples/current/{root}%s/%s/{dep}/{root}%s/%s/"
		 "E.100.0.all.all.all",
		 folder, name, folder, name);
	assert_int_equal(op_make_parents(path, 0755), 0);
	assert_int_equal(odb_open(&odb, path, ODB_RDWR), 0);
	memcpy(odb_user(odb), &header, sizeof(header));
	assert_int_equal(odb_add(odb, 0x1000, 1), 0);
	odb_close(odb);
}

static const uint8_t abcd0102[OP_BUILD_ID_MAX] = { 0xab, 0xcd, 1, 2 };

/* Make the binary @name, of build-id abcd0102. */
static void build_binary(const char *name)
{
	char command[512];

	write_text("b.s",
		   ".text\n.globl f\n.type f,@function\nf:.skip 16,0x90\n"
		   ".size f,16\n");
	snprintf(command, sizeof(command),
		 "${CC:-cc} -nostdlib -static -Wl,-e,0 "
		 "-Wl,--build-id=0xabcd0102 -o %s b.s",
		 name);
	assert_int_equal(system(command), 0);
}

/* Make the binary x with samples, in an empty folder, and run @command. */
static void make_sampled_binary(const char *folder, const char *command)
{
	assert_int_equal(system("rm -rf *; touch -d @2000 then"), 0);
	build_binary("x");
	write_image_samples(folder, "x", abcd0102, 4);
	assert_int_equal(system(command), 0);
}

/* What storing says, and then what is stored: "NAME MODE TIME". */
static void write_stored(FILE *out, const char *folder, uint64_t max,
			 const char *const *without)
{
	struct pp_store_request request = { .max = max, .without = without };
	struct op_diag diag = { "" };
	struct pp_messages messages = { 0 };
	struct pp_spec_pair pair;
	struct op_session session;
	struct op_arena arena;
	struct text t;
	FILE *find;
	int c, err;

	op_arena_init(&arena);
	messages.arena = &arena;
	text_begin(&t);
	assert_int_equal(pp_spec_pair_init(&pair, (const char *const[]){ NULL },
					   NULL),
			 0);
	assert_int_equal(op_session_init(&session, ".", NULL), 0);
	request.session = &session;
	request.spec = &pair.spec;
	err = pp_store_symbols(&request, &messages, &diag);
	assert_true(err <= 0);
	write_messages(t.out, &messages);
	if (err)
		fprintf(t.out, "%d: %s\n", -err, diag.text);
	fflush(t.out);
	/* What has been needed now is newer than the file "then". */
	find = popen(
		"find store -mindepth 1 -type f \\( -newer then -printf '%P %m new\\n'"
		" -o -printf '%P %m\\n' \\) 2>/dev/null | LC_ALL=C sort",
		"r");
	assert_non_null(find);
	while ((c = getc(find)) != EOF)
		putc(c, t.out);
	pclose(find);
	fclose(t.out);
	write_without(out, t.all, folder);
	pp_spec_pair_release(&pair);
	op_arena_release(&arena);
}

#define STORED "store/.build-id/ab/cd0102"
#define BINARY ".build-id/ab/cd0102"
#define MIB (UINT64_C(1) << 20)

FOLDER_TEST(binaries_are_stored)
{
	static const char *const all[] = { "*", NULL };
	static const char *const others[] = { "/usr/*", "*.so", NULL };
	/* clang-format off */
	static const struct {
		const char *name;
		const char *command; /* after the binary x was made */
		const char *text;
		const char *const *without;
	} rows[] = {
		{ "a binary", ":",
		  "bfd: $/x: stored as $/" STORED "\n"
		  BINARY " 444 new\n", NULL },
		{ "what is stored has the rights of the binary", "chmod 4750 x",
		  EXPECTED_ROW, NULL },
		{ "what is there is needed", "mkdir -p store/.build-id/ab; echo >" STORED "; touch -d @1000 " STORED,
		  BINARY " 644 new\n", NULL },
		{ "what a writer left is replaced", "mkdir -p store/.build-id/ab; echo >" STORED ".new; touch -d @1000 " STORED ".new",
		  "bfd: $/x: stored as $/" STORED "\n"
		  BINARY " 444 new\n", NULL },
		{ "a copy of the session's", "mkdir images; mv x images/x-abcd0102",
		  EXPECTED_ROW, NULL },
		{ "a copy of what has changed since", "mkdir images; mv x images/x-abcd0102; cp /bin/true x",
		  EXPECTED_ROW, NULL },
		{ "a copy of another build", "mkdir images; mv x y; cp /bin/true images/x-abcd0102",
		  "bfd: $/x: its symbols are not stored: Stale file handle\n", NULL },
		{ "gone", "rm x",
		  "bfd: $/x: its symbols are not stored: No such file or directory\n", NULL },
		{ "another build", "cp /bin/true x",
		  "bfd: $/x: its symbols are not stored: No such file or directory\n", NULL },
		{ "gone, but stored", "rm x; mkdir -p store/.build-id/ab; echo >" STORED "; echo >" STORED ".debug; touch -d @1000 " STORED "*",
		  EXPECTED_ROW, NULL },
		{ "no binary", "echo >x",
		  "bfd: $/x: its symbols are not stored: Exec format error\n", NULL },
		{ "unwanted", ":", "", all },
		{ "others are unwanted", ":",
		  "bfd: $/x: stored as $/" STORED "\n"
		  BINARY " 444 new\n", others },
		{ "its debug file", "objcopy --only-keep-debug x x.debug; objcopy --strip-all --add-gnu-debuglink=x.debug x",
		  EXPECTED_ROW, NULL },
		{ "no samples", "rm -r samples/current/*", "2: $/samples/current: there are no sample files; profile first (operf, or opcontrol --start), then write out the buffers with opcontrol --dump\n", NULL },
		{ "no folder", "echo >store",
		  "bfd: $/x: its symbols are not stored: Not a directory\n", NULL },
	};
	/* clang-format on */

	for (size_t i = 0; i < NR(rows); i++) {
		struct text t;

		make_sampled_binary(*state, rows[i].command);
		write_stored(text_begin(&t), *state, MIB, rows[i].without);
		text_must_be(&t, rows[i].name, rows[i].text);
	}
}

/* ---- files of others ------------------------------------------------------
 */

/* What the child that reads them does: its calls come here, as the program's
 * own functions stand before the C library's. */
static volatile struct child {
	uid_t user; /* it has become; in memory that it shares with the test */
	enum { READS, DIES, SLEEPS } does;
} * child;

#define REAL(name) ((__typeof__(&(name)))dlsym(RTLD_NEXT, #name))
#define INSTEAD_OF(name) __asm__(#name)
int child_setuid(uid_t user) INSTEAD_OF(setuid);
int impatient_poll(struct pollfd *fds, nfds_t nr, int ms) INSTEAD_OF(poll);

int child_setuid(uid_t user)
{
	int err = REAL(setuid)(user);

	if (!child)
		return err;
	child->user = err ? 0 : getuid();
	if (child->does == DIES)
		raise(SIGKILL);
	while (child->does == SLEEPS)
		pause();
	return err;
}

int impatient_poll(struct pollfd *fds, nfds_t nr, int ms)
{
	if (!child || child->does != SLEEPS)
		return REAL(poll)(fds, nr, ms);
	while (!child->user)
		sched_yield();
	return 0;
}

/* Root reads them in a child that is their owner. */
FOLDER_TEST(files_of_others)
{
#define BY(user, text) "bfd: $/x: stored as $/" STORED "\n" text "by " user "\n"
	/* clang-format off */
	static const struct {
		const char *name;
		const char *command; /* after the binary x was made */
		const char *text;
		uint64_t max;
		int does;
	} rows[] = {
		{ "root's own", ":",
		  BY("0", BINARY " 444 new\n"), MIB, READS },
		{ "of a user", "chown 12345 x",
		  BY("12345", BINARY " 1444 new\n"), MIB, READS },
		{ "for that user alone", "chown 12345 x; chmod 4700 x",
		  BY("12345", BINARY " 1400 new\n"), MIB, READS },
		{ "root's, but anybody may write", "chmod 777 x",
		  BY("65534", BINARY " 1444 new\n"), MIB, READS },
		{ "root's, but a group may write, and others not read", "chmod 770 x",
		  BY("65534", BINARY " 1440 new\n"), MIB, READS },
		{ "a copy", "mkdir images; mv x images/x-abcd0102",
		  "bfd: $/images/x-abcd0102: stored as $/" STORED "\n" BINARY " 1444 new\nby 65534\n", MIB, READS },
		{ "a copy of what was another's, and is another build", "mkdir images; mv x images/x-abcd0102; cp /bin/true x; chown 12345 x",
		  "bfd: $/images/x-abcd0102: stored as $/" STORED "\n" BINARY " 1444 new\nby 65534\n", MIB, READS },
		{ "what is there is needed", "chown 12345 x; mkdir -p store/.build-id/ab; echo >" STORED "; touch -d @1000 " STORED,
		  BINARY " 644 new\nby 12345\n", MIB, READS },
		{ "what a writer left is replaced", "chown 12345 x; mkdir -p store/.build-id/ab; echo >" STORED ".new; touch -d @1000 " STORED ".new",
		  BY("12345", BINARY " 1444 new\n"), MIB, READS },
		{ "no binary", "echo >x; chown 12345 x",
		  "bfd: $/x: its symbols are not stored: Exec format error\nby 12345\n", MIB, READS },
		{ "too large", "chown 12345 x",
		  "bfd: $/x: its symbols are not stored: File too large\nby 12345\n", 512, READS },
		{ "a debug file that its owner may read", "objcopy --only-keep-debug x x.debug; objcopy --strip-all --add-gnu-debuglink=x.debug x; chown 12345 x; chmod 640 x.debug; chgrp 65534 x.debug",
		  EXPECTED_ROW, MIB, READS },
		{ "one that it may not", "objcopy --only-keep-debug x x.debug; objcopy --strip-all --add-gnu-debuglink=x.debug x; chown 12345 x; chmod 600 x.debug",
		  BY("12345", BINARY " 1444 new\n"), MIB, READS },
		{ "a debug file of another for what is root's", "objcopy --only-keep-debug x x.debug; objcopy --strip-all --add-gnu-debuglink=x.debug x; chown 12345 x.debug",
		  BY("0", BINARY " 444 new\n"), MIB, READS },
		{ "a child that dies", "chown 12345 x",
		  "bfd: $/x: its symbols are not stored: Input/output error\nby 12345\n", MIB, DIES },
		{ "a child that never answers", "chown 12345 x", EXPECTED_ROW, MIB, SLEEPS },
	};
	/* clang-format on */

	if (geteuid())
		skip();
	assert_int_equal(chmod(".", 0755), 0);
	child = mmap(NULL, sizeof(*child), PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_true(child != MAP_FAILED);
	for (size_t i = 0; i < NR(rows); i++) {
		struct text t;

		make_sampled_binary(*state, rows[i].command);
		*child = (struct child){ .does = rows[i].does };
		write_stored(text_begin(&t), *state, rows[i].max, NULL);
		fprintf(t.out, "by %u\n", child->user);
		text_must_be(&t, rows[i].name, rows[i].text);
	}
	munmap((void *)child, sizeof(*child));
	child = NULL;
}

/* ---- builds of one build-id -----------------------------------------------
 */

/* Make the binary x with @len bytes of code. Returns its build. */
static struct op_build_id build_of_len(int len)
{
	char command[512];
	struct op_build_id id;
	int fd;

	snprintf(command, sizeof(command),
		 "printf '.text\\n.globl f%d\\n.type f%d,@function\\nf%d:.skip "
		 "%d\\n' >b.s; ${CC:-cc} -nostdlib -static -Wl,-e,0 "
		 "-Wl,--build-id=0xabcd0102 -o x b.s",
		 len, len, len, len);
	assert_int_equal(system(command), 0);
	fd = open("x", O_RDONLY | O_CLOEXEC);
	assert_int_equal(op_build_id_of_elf(&id, fd), 0);
	close(fd);
	return id;
}

/* Each is stored under its fingerprint, and one does not stand in for another,
 * wherever it is. */
FOLDER_TEST(other_code_is_stored_apart)
{
	struct op_build_id builds[2];
	struct op_session session;
	char names[2][4096 + 200], copy[4096 + 200];
	struct text t;

	assert_int_equal(system("touch -d @2000 then"), 0);
	assert_int_equal(op_session_init(&session, ".", NULL), 0);
	for (int i = 0; i < 2; i++) {
		builds[i] = build_of_len(i ? 48 : 16);
		assert_int_equal(op_session_digest(&session, &builds[i],
						   names[i], sizeof(names[i])),
				 0);
		write_image_samples(*state, "x", builds[i].bytes, 4);
		write_stored(text_begin(&t), *state, MIB, NULL);
		fclose(t.out);
		free(t.all);
		assert_int_equal(access(names[i], F_OK), 0);
	}
	assert_string_not_equal(names[0], names[1]);
	/* Of the first one only the second is there. */
	assert_int_equal(system("rm -r samples store"), 0);
	write_image_samples(*state, "x", builds[0].bytes, 4);
	write_stored(text_begin(&t), *state, MIB, NULL);
	text_must_be(
		&t, "other code",
		"bfd: $/x: its symbols are not stored: No such file or directory\n");
	assert_int_equal(op_session_image(&session, "x", &builds[0], 0, copy,
					  sizeof(copy)),
			 0);
	assert_int_equal(mkdir("images", 0755), 0);
	assert_int_equal(rename("x", copy), 0);
	write_stored(text_begin(&t), *state, MIB, NULL);
	text_must_be(
		&t, "other code as a copy",
		"bfd: $/x: its symbols are not stored: Stale file handle\n");
}

/* ---- which ones -----------------------------------------------------------
 */

/* Without a build-id nothing can be stored; one of one byte is no key. */
FOLDER_TEST(keys_are_build_ids)
{
	struct op_session session;
	struct op_build_id id = { 4, { 0xab, 0xcd, 1, 2 } };
	char path[4096 + 200], wanted[4096 + 200];
	struct text t;

	build_binary("x");
	write_text("then", "");
	write_image_samples(*state, "x", id.bytes, 0);
	write_stored(text_begin(&t), *state, MIB, NULL);
	text_must_be(&t, "none", "");
	assert_int_equal(op_session_init(&session, ".", NULL), 0);
	for (id.len = 0; id.len <= OP_BUILD_ID_MAX + 1; id.len++)
		assert_int_equal(op_session_digest(&session, &id, path,
						   sizeof(path)),
				 id.len >= 2 && id.len <= 32 ? 0 : -ENOENT);
	id.len = 4;
	assert_int_equal(op_session_digest(&session, &id, path, sizeof(path)),
			 0);
	snprintf(wanted, sizeof(wanted), "%s/" STORED, (char *)*state);
	assert_string_equal(path, wanted);
	assert_int_equal(
		op_session_digest(&session, &id, path, strlen(wanted) + 1), 0);
	assert_int_equal(op_session_digest(&session, &id, path, strlen(wanted)),
			 -ENAMETOOLONG);
}

/* Images of calls and of stacks are needed as well, each once. */
FOLDER_TEST(callers_are_stored)
{
	struct text t;

	assert_int_equal(system("touch -d @2000 then"), 0);
	made_header.build_id_len = 2;
	write_samples("current x x E 1=1");
	write_samples("current x x>y F 1>1=1");
	write_tree("current x E 1:z+1>x+1>z+2");
	made_header.build_id_len = 1;
	write_stored(text_begin(&t), *state, MIB, NULL);
	text_must_be(&t, "callers", EXPECTED_ROW);
}

/* What was needed longest ago goes first, but nothing of now. */
FOLDER_TEST(a_full_store_forgets)
{
#define OLD(name) ".build-id/00/" name " 644\n"
	/* clang-format off */
	static const struct {
		const char *name;
		uint64_t max; /* KiB beside the binary that is stored now */
		const char *text;
	} rows[] = {
		{ "room for all", 48, OLD("a") OLD("b") OLD("c") BINARY " 444 new\n" },
		{ "one too many", 47, "bfd: $/store/.build-id/00/b: removed, as the store is full\n" OLD("a") OLD("c") BINARY " 444 new\n" },
		{ "room for two", 32, "bfd: $/store/.build-id/00/b: removed, as the store is full\n" OLD("a") OLD("c") BINARY " 444 new\n" },
		{ "room for one", 31, EXPECTED_ROW },
		{ "room for none", 0, EXPECTED_ROW },
	};
	/* clang-format on */
	struct stat st;
	struct text t;

	build_binary("x");
	assert_int_equal(system("touch -d @2000 then"), 0);
	write_image_samples(*state, "x", abcd0102, 4);
	write_stored(text_begin(&t), *state, MIB, NULL);
	fclose(t.out);
	free(t.all);
	assert_int_equal(stat(STORED, &st), 0);
	for (size_t i = 0; i < NR(rows); i++) {
		assert_int_equal(
			system("rm -rf store/.build-id/00;"
			       "mkdir store/.build-id/00; cd store/.build-id/00;"
			       "for f in a b c; do dd if=/dev/urandom of=$f "
			       "bs=16k count=1 2>/dev/null; chmod 644 $f; done;"
			       "touch -d @1000 a c; touch -d @999 b"),
			0);
		write_stored(text_begin(&t), *state,
			     (uint64_t)st.st_blocks * 512 + rows[i].max * 1024,
			     NULL);
		text_must_be(&t, rows[i].name, rows[i].text);
	}
}

/* A digest that takes more than half of the store pushes nothing out. */
FOLDER_TEST(large_digests_are_not_stored)
{
	struct stat st;
	struct text t;

	build_binary("x");
	assert_int_equal(system("touch -d @2000 then"), 0);
	write_image_samples(*state, "x", abcd0102, 4);
	write_stored(text_begin(&t), *state, MIB, NULL);
	fclose(t.out);
	free(t.all);
	assert_int_equal(stat(STORED, &st), 0);
	assert_int_equal(unlink(STORED), 0);
	write_stored(text_begin(&t), *state, (uint64_t)st.st_blocks * 1024 - 1,
		     NULL);
	text_must_be(&t, "more than half",
		     "bfd: $/x: its symbols are not stored: File too large\n");
	write_stored(text_begin(&t), *state, (uint64_t)st.st_blocks * 1024,
		     NULL);
	text_must_be(&t, "half",
		     "bfd: $/x: stored as $/" STORED "\n" BINARY " 444 new\n");
}

/* ---- messages ------------------------------------------------------------ */

TEST(messages_command_no_terminal)
{
	struct pp_messages messages = { 0 };
	struct op_arena arena;
	char name[9000];
	struct text t;

	op_arena_init(&arena);
	messages.arena = &arena;
	pp_message(&messages, PP_WARNING, "%s", "a\x1b\x1f \x7f\x80~");
	memset(name, 'x', sizeof(name));
	name[sizeof(name) - 1] = '\0';
	pp_message(&messages, PP_WARNING, "%s", name);
	assert_int_equal(messages.nr, 2);
	assert_int_equal(strlen(messages.list[1].text), 8191);
	messages.nr = 1;
	pp_message(&messages, PP_REMARK_BFD, "%d", 5);
	write_messages(text_begin(&t), &messages);
	text_must_be(&t, "messages", "warning: a?? ??~\nbfd: 5\n");
	op_arena_release(&arena);
}

TEST(faults_make_a_report_incomplete)
{
	static const struct {
		int err;
		bool is_fault;
	} rows[] = {
		{ 0, false },	      { -ENOENT, false },  { -EACCES, false },
		{ -EBADMSG, false },  { -ENOEXEC, false }, { -EIO, true },
		{ -EINTR, true },     { -EMFILE, true },   { -ENFILE, true },
		{ -ENODEV, true },    { -ENXIO, true },	   { -EREMOTEIO, true },
		{ -ETIMEDOUT, true },
	};

	for (size_t i = 0; i < NR(rows); i++) {
		struct pp_messages messages = { 0 };
		struct op_diag diag = { "" };
		struct op_arena arena;
		bool fault = rows[i].is_fault;

		op_arena_init(&arena);
		messages.arena = &arena;
		assert_int_equal(pp_is_fault(rows[i].err), fault);
		pp_message_of_error(&messages, rows[i].err, "%s: left out",
				    "f");
		pp_message_of_error(&messages, -ENOENT, "%s: left out", "g");
		assert_int_equal(messages.nr, 2);
		assert_int_equal(messages.list[0].kind, PP_WARNING);
		assert_string_equal(messages.list[0].text, "f: left out");
		assert_int_equal(messages.nr_faults, fault);
		assert_int_equal(pp_check_complete(&messages, &diag),
				 fault ? -EIO : 0);
		if (fault)
			assert_reason(&diag, "the report is not complete");
		op_arena_release(&arena);
	}
}
