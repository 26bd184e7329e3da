// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Fetching debug files with a libdebuginfod that does what a test says: what is
 * waited for and how long, what ends the waiting, what is said and remembered.
 * The time is the test's.
 */

#include "tests/unit/pp_fixture.h"

#include "config.h"

#include "libpp/symbols/debuginfod.h"
#include "libpp/symbols/op_bfd.h"

#ifdef HAVE_DEBUGINFOD

#include <dlfcn.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>

/* The library; `fake` is the test's structure below. */
#define LIBRARY                                                                 \
	"struct fake { int (*progress)(void *, long, long); void *data;\n"      \
	"  int begun, ended, fails; const char *url;\n"                         \
	"  int (*find)(const unsigned char *, int, char **); } *fake;\n"        \
	"void *debuginfod_begin(void)\n"                                        \
	"{ fake->begun++; return fake->fails ? 0 : fake; }\n"                   \
	"void debuginfod_end(void *c) { fake->ended += c == fake; }\n"          \
	"int debuginfod_find_debuginfo(void *c, const unsigned char *id,\n"     \
	"  int len, char **path)\n"                                             \
	"{ return c == fake ? fake->find(id, len, path) : -22; }\n"             \
	"void debuginfod_set_progressfn(void *c,\n"                             \
	"  int (*f)(void *, long, long)) { fake->progress = f; }\n"             \
	"void debuginfod_set_user_data(void *c, void *d) { fake->data = d; }\n" \
	"void *debuginfod_get_user_data(void *c) { return fake->data; }\n"      \
	"const char *debuginfod_get_url(void *c) { return fake->url; }\n"

static struct fake {
	int (*progress)(void *client, long done, long total);
	void *data;
	int begun, ended, fails;
	const char *url;
	int (*find)(const unsigned char *id, int len, char **path);
} fake;

/* What the library does in one call. */
static const struct step {
	int seconds; /* pass; then it calls back */
	long done, total;
	int sig; /* comes before; or 0 */
} * steps;
static size_t nr_steps;
static int result; /* of the call: 0 for a file */
static struct text told; /* what happened */
static time_t now;

int clock_gettime(clockid_t clock_id, struct timespec *tp)
{
	if (clock_id != CLOCK_MONOTONIC)
		return (int)syscall(SYS_clock_gettime, clock_id, tp);
	*tp = (struct timespec){ .tv_sec = now };
	return 0;
}

static int do_steps(const unsigned char *id, int len, char **path)
{
	assert_int_equal(len, 3);
	assert_memory_equal(id, "\x0a\xbc\xde", 3);
	for (size_t i = 0; i < nr_steps; i++) {
		int stop;

		now += steps[i].seconds;
		if (steps[i].sig)
			raise(steps[i].sig);
		stop = fake.progress(&fake, steps[i].done, steps[i].total);
		fprintf(told.out, "%d", stop);
	}
	if (result)
		return result;
	write_text("fetched", "x");
	*path = strdup("fetched");
	return open("fetched", O_RDONLY);
}

static void tell_progress(void *data, const char *name, uint64_t done,
			  uint64_t total)
{
	assert_ptr_equal(data, &told);
	fprintf(told.out, "(%s %llu/%llu)", name ? name : "-",
		(unsigned long long)done, (unsigned long long)total);
}

static int load_library(void **state)
{
	struct fake **the_fake;
	void *library;

	if (enter_folder(state))
		return -1;
	write_text("f.c", LIBRARY);
	if (system("${CC:-cc} -w -shared -fPIC -Wl,-soname,libdebuginfod.so.1 "
		   "-o f.so f.c"))
		return -1;
	/* Who asks for the library by its name gets this one. */
	library = dlopen("./f.so", RTLD_NOW | RTLD_GLOBAL);
	the_fake = library ? dlsym(library, "fake") : NULL;
	if (!the_fake)
		return -1;
	*the_fake = &fake;
	return 0;
}

static int prepare(void **state)
{
	(void)state;
	fake = (struct fake){ .url = "http://x", .find = do_steps };
	steps = NULL;
	nr_steps = 0;
	result = 0;
	now = 1000;
	unsetenv("DEBUGINFOD_TIMEOUT");
	unsetenv("DEBUGINFOD_CACHE_PATH");
	unsetenv("XDG_CACHE_HOME");
	setenv("HOME", "home", 1);
	setenv("DEBUGINFOD_URLS", "http://env", 1);
	return 0;
}

static struct pp_debuginfod *new_server(void)
{
	struct op_diag diag = { "" };
	struct pp_debuginfod *server;

	assert_true(pp_debuginfod_is_built());
	assert_int_equal(
		pp_debuginfod_new(&server, tell_progress, &told, &diag), 0);
	return server;
}

static const uint8_t build_id[] = { 0x0a, 0xbc, 0xde };

/* Fetch a file: what happened, the path and the reason why there is none. */
static void fetch(struct pp_debuginfod *server, const char *row,
		  const char *wanted)
{
	const char *failure;
	char *path;

	text_begin(&told);
	path = pp_debuginfod_fetch(server, "prog", build_id, 3);
	failure = pp_debuginfod_failure(server);
	fprintf(told.out, " %s%s%s", path ? path : "none", failure ? " " : "",
		failure ? failure : "");
	free(path);
	text_must_be(&told, row, wanted);
	assert_null(pp_debuginfod_failure(server));
}

#define STEPS(...)                                                             \
	(const struct step[]){ __VA_ARGS__ },                                  \
		sizeof((const struct step[]){ __VA_ARGS__ }) /                 \
			sizeof(struct step)
#define PROG "(prog 0/0)"
#define END "(- 0/0) "
#define SILENT(seconds)                                                        \
	"none debuginfod: http://x: sent nothing for " seconds                 \
	" seconds; the report is made without it"
#define INTERRUPTED                                                            \
	"none debuginfod: interrupted; the report is made without the files that were not fetched"

TEST_WITH(waiting_ends, prepare, NULL)
{
	/* clang-format off */
	const struct {
		const char *name;
		const char *timeout; /* of the environment */
		const struct step *steps;
		size_t nr_steps;
		int result;
		const char *wanted;
	} rows[] = {
		{ "a file", NULL, NULL, 0, 0, PROG END "fetched" },
		{ "progress", NULL, STEPS({ 0, 0, 0, 0 }, { 0, 0, 9, 0 }, { 0, 3, 9, 0 }, { 0, 3, 0, 0 }, { 0, 9, 9, 0 }), 0,
		  PROG "00(prog 3/9)00(prog 9/9)0" END "fetched" },
		{ "no such file", NULL, NULL, 0, -ENOENT, PROG END "none" },
		{ "no server", NULL, NULL, 0, -ENOSYS, PROG END "none" },
		{ "an error", NULL, NULL, 0, -ECONNREFUSED,
		  PROG END "none debuginfod: http://x: Connection refused; the report is made without it" },
		{ "silence", NULL, STEPS({ 0, 0, 9, 0 }, { 29, 0, 9, 0 }, { 1, 0, 9, 0 }), -ENOENT,
		  PROG "001" END SILENT("30") },
		{ "silence after a byte", NULL, STEPS({ 29, 0, 9, 0 }, { 29, 1, 9, 0 }, { 29, 1, 9, 0 }, { 1, 1, 9, 0 }), -ENOENT,
		  PROG "0(prog 1/9)0(prog 1/9)0(prog 1/9)1" END SILENT("30") },
		{ "a byte at last", NULL, STEPS({ 0, 0, 9, 0 }, { 30, 1, 9, 0 }), 0,
		  PROG "0(prog 1/9)0" END "fetched" },
		{ "calls are counted where no length is known", NULL,
		  STEPS({ 0, 1, 0, 0 }, { 15, 2, 0, 0 }, { 15, 3, 0, 0 }), -ENOENT,
		  PROG "001" END SILENT("30") },
		{ "and then bytes", NULL, STEPS({ 0, 1, 0, 0 }, { 15, 2, 0, 0 }, { 15, 4, 0, 0 }, { 29, 5, 0, 0 }), 0,
		  PROG "0000" END "fetched" },
		{ "another limit", "5", STEPS({ 0, 0, 9, 0 }, { 4, 0, 9, 0 }, { 1, 0, 9, 0 }), -ENOENT,
		  PROG "001" END SILENT("5") },
		{ "the least limit", "1", STEPS({ 0, 0, 9, 0 }, { 1, 0, 9, 0 }), -ENOENT,
		  PROG "01" END SILENT("1") },
		{ "the largest limit", "2147483647", STEPS({ 0, 0, 9, 0 }, { 31, 0, 9, 0 }), 0, PROG "00" END "fetched" },
		{ "no limit", "0", STEPS({ 0, 0, 9, 0 }, { 30, 0, 9, 0 }), -ENOENT, PROG "01" END SILENT("30") },
		{ "too large a limit", "2147483648", STEPS({ 0, 0, 9, 0 }, { 30, 0, 9, 0 }), -ENOENT, PROG "01" END SILENT("30") },
		{ "no number", "9x", STEPS({ 0, 0, 9, 0 }, { 30, 0, 9, 0 }), -ENOENT, PROG "01" END SILENT("30") },
		{ "Ctrl-C", NULL, STEPS({ 0, 0, 9, 0 }, { 0, 0, 9, SIGINT }), -ENOENT, PROG "01" END INTERRUPTED },
		{ "Ctrl-C when all is there", NULL, STEPS({ 0, 9, 9, SIGINT }), 0, PROG "(prog 9/9)1" END "fetched" },
	};
	/* clang-format on */
	sigset_t mask;

	for (size_t i = 0; i < NR(rows); i++) {
		struct pp_debuginfod *server = new_server();

		prepare(NULL);
		if (rows[i].timeout)
			setenv("DEBUGINFOD_TIMEOUT", rows[i].timeout, 1);
		steps = rows[i].steps;
		nr_steps = rows[i].nr_steps;
		result = rows[i].result;
		fetch(server, rows[i].name, rows[i].wanted);
		pp_debuginfod_free(server);
		assert_int_equal(fake.begun, 1);
		assert_int_equal(fake.ended, 1);
		/* Ctrl-C has its usual effect again, and came once. */
		assert_int_equal(sigprocmask(SIG_SETMASK, NULL, &mask), 0);
		assert_false(sigismember(&mask, SIGINT));
	}
}

/* Each file has its own silence and interruption. */
TEST_WITH(files_are_fetched_one_after_another, prepare, NULL)
{
	static const struct step two[] = { { 0, 0, 9, 0 }, { 29, 0, 9, 0 } };
	struct pp_debuginfod *server = new_server();

	steps = two;
	nr_steps = 2;
	fetch(server, "the first", PROG "00" END "fetched");
	now += 100;
	fetch(server, "another", PROG "00" END "fetched");
	result = -ENOENT;
	fetch(server, "a missing one", PROG "00" END "none");
	result = -EIO;
	nr_steps = 0;
	fake.url = NULL;
	fetch(server, "a broken one", EXPECTED_ROW);
	fetch(server, "nothing is asked after an error", " none");
	assert_int_equal(fake.begun, 1);
	pp_debuginfod_free(server);
}

TEST_WITH(a_library_may_fail, prepare, NULL)
{
	struct pp_debuginfod *server = new_server();

	fake.fails = 1;
	fetch(server, "no client",
	      " none debuginfod: libdebuginfod.so.1 cannot be used; install the Debian package libdebuginfod1");
	fetch(server, "no client again", " none");
	assert_int_equal(fake.begun, 1);
	pp_debuginfod_free(server);
	assert_int_equal(fake.ended, 0);
	assert_null(pp_debuginfod_fetch(NULL, "prog", build_id, 3));
	assert_null(pp_debuginfod_failure(NULL));
	pp_debuginfod_free(NULL);
}

/* The library remembers a file that a server lacks; one that was only not
 * waited for is asked for again. */
TEST_WITH(misses_are_forgotten, prepare, NULL)
{
	static const struct step interrupted[] = { { 0, 0, 9, SIGINT } };
	static const struct step silent[] = { { 0, 0, 9, 0 }, { 30, 0, 9, 0 } };
	static const struct {
		const char *variable, *value, *path, *text;
		const struct step *steps;
		size_t nr_steps;
		bool stays;
	} rows[] = {
		{ "HOME", "home", "home/.cache/debuginfod_client", "",
		  interrupted, 1, false },
		{ "HOME", "home", "home/.cache/debuginfod_client", "", silent,
		  2, false },
		{ "HOME", "home", "home/.cache/debuginfod_client", "", NULL, 0,
		  true },
		{ "HOME", "home", "home/.cache/debuginfod_client", "x",
		  interrupted, 1, true },
		{ "XDG_CACHE_HOME", "xdg", "xdg/debuginfod_client", "",
		  interrupted, 1, false },
		{ "DEBUGINFOD_CACHE_PATH", "own", "own", "", interrupted, 1,
		  false },
	};

	for (size_t i = 0; i < NR(rows); i++) {
		struct pp_debuginfod *server = new_server();
		char command[256], path[128];

		prepare(NULL);
		setenv(rows[i].variable, rows[i].value, 1);
		snprintf(command, sizeof(command), "mkdir -p %s/0abcde",
			 rows[i].path);
		assert_int_equal(system(command), 0);
		snprintf(path, sizeof(path), "%s/0abcde/debuginfo",
			 rows[i].path);
		write_text(path, rows[i].text);
		steps = rows[i].steps;
		nr_steps = rows[i].nr_steps;
		result = -ENOENT;
		text_begin(&told);
		assert_null(pp_debuginfod_fetch(server, "prog", build_id, 3));
		fclose(told.out);
		free(told.all);
		assert_int_equal(access(path, F_OK), rows[i].stays ? 0 : -1);
		pp_debuginfod_free(server);
	}
}

TEST_WITH(what_is_no_debug_file_is_removed, prepare, NULL)
{
	struct pp_debuginfod *server = new_server();

	fetch(server, "a file", PROG END "fetched");
	pp_debuginfod_refuse(server, "fetched");
	assert_int_equal(access("fetched", F_OK), -1);
	assert_string_equal(
		pp_debuginfod_failure(server),
		"debuginfod: http://x: sent a file that is not the debug file of prog; the report is made without it");
	fetch(server, "nothing is asked any more", " none");
	pp_debuginfod_free(server);
}

/* A debug file that the binary names is not there. */
TEST_WITH(servers_are_asked_last, prepare, NULL)
{
	struct pp_debuginfod *server = new_server();
	const struct op_debug_places places = { .dirs = { "debug" },
						.server = server };
	struct op_bfd *bfd;

	write_text("b.c", "int main(void) { return 0; }");
	assert_int_equal(
		system("${CC:-cc} -Wl,--build-id=0x0abcde -o b b.c && cp b d &&"
		       "objcopy --add-gnu-debuglink=d b"),
		0);
	for (int is_gone = 0; is_gone < 2; is_gone++) {
		if (is_gone)
			assert_int_equal(unlink("d"), 0);
		text_begin(&told);
		assert_int_equal(op_bfd_open(&bfd, "b", &places), 0);
		if (is_gone)
			assert_null(op_bfd_debug_path(bfd));
		else
			assert_string_equal(op_bfd_debug_path(bfd), "d");
		op_bfd_close(bfd);
		text_must_be(&told, is_gone ? "gone" : "there",
			     is_gone ? "(b 0/0)(- 0/0)" : "");
	}
	pp_debuginfod_free(server);
}

TEST_GROUP(load_library, leave_folder)

#else /* !HAVE_DEBUGINFOD */

TEST(it_says_that_it_is_not_built)
{
	struct op_diag diag = { "" };
	struct pp_debuginfod *server;

	assert_false(pp_debuginfod_is_built());
	assert_int_equal(pp_debuginfod_new(&server, NULL, NULL, &diag),
			 -ENOTSUP);
	assert_reason(&diag, "built without libdebuginfod-dev");
}

#endif
