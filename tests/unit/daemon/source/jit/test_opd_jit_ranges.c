// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Code that programs make at run time, where nothing tells when they begin and
 * end: which code a sample gets, and how long a process is remembered. The
 * clock is the test's.
 */

#include <dlfcn.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>

#include "daemon/source/jit/opd_jit_ranges.h"
#include "daemon/source/opd_source.h"
#include "tests/unit/daemon/source/jitdump_writer.h"
#include "tests/unit/opd_fixture.h"

#define SECOND UINT64_C(1000000000)
/* There are no processes of such numbers. */
#define GONE 5000000u
#define GOES_AFTER (3 * SECOND)
#define APP 5 /* cookie of the program */

/* ---- in place of the C library's --------------------------------------------
 */

#define REAL(name) ((__typeof__(&(name)))dlsym(RTLD_NEXT, #name))
#define INSTEAD_OF(name) __asm__(#name)

int made_clock_gettime(clockid_t clock, struct timespec *at)
	INSTEAD_OF(clock_gettime);

static uint64_t now; /* ns; 0: the real time */
static uint64_t used; /* CPU time, ns */
static uint64_t step; /* of it between two looks at this clock */

int made_clock_gettime(clockid_t clock, struct timespec *at)
{
	uint64_t time = now;

	/* Those of processes are below 0. */
	if (!now || clock == CLOCK_REALTIME)
		return REAL(clock_gettime)(clock, at);
	if (clock != CLOCK_MONOTONIC)
		time = clock == CLOCK_THREAD_CPUTIME_ID ? used += step : 0;
	at->tv_sec = (time_t)(time / SECOND);
	at->tv_nsec = (long)(time % SECOND);
	return 0;
}

/* ---- processes --------------------------------------------------------------
 */

struct rig {
	struct opd_jit_ranges *ranges;
	unsigned int nr_fds; /* before it */
	char dir[64], proc[80], images[80];
};

static int set_up(void **state)
{
	struct rig *rig = calloc(1, sizeof(*rig));
	struct opd_source_client client = { .images = rig->images };

	assert_non_null(rig);
	rig->nr_fds = count_fds();
	snprintf(rig->dir, sizeof(rig->dir), "%s/opd-made-XXXXXX",
		 access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm");
	assert_non_null(mkdtemp(rig->dir));
	snprintf(rig->proc, sizeof(rig->proc), "%s/proc", rig->dir);
	snprintf(rig->images, sizeof(rig->images), "%s/images", rig->dir);
	assert_int_equal(mkdir(rig->proc, 0755), 0);
	now = 100 * SECOND;
	assert_int_equal(opd_jit_ranges_new(&rig->ranges, &client, rig->proc),
			 0);
	rig->ranges->jits.untrusted.patience = 60000;
	close_stdin();
	*state = rig;
	return 0;
}

static int tear_down(void **state)
{
	struct rig *rig = *state;

	opd_jit_ranges_free(rig->ranges);
	reopen_stdin();
	assert_int_equal(count_fds(), rig->nr_fds);
	remove_tree(rig->dir);
	now = 0;
	free(rig);
	return 0;
}

#define MADE_TEST(name) TEST_WITH(name, set_up, tear_down)

static void make_folder(const struct rig *rig, uint32_t pid, const char *name)
{
	char path[160];

	snprintf(path, sizeof(path), "%s/%u%s", rig->proc, pid, name);
	assert_int_equal(mkdir(path, 0755), 0);
}

/* Process @pid, which tells in its perf map of "f" at 0x1000 to 0x10ff. */
static void add_process(const struct rig *rig, uint32_t pid)
{
	char path[160], map[32];

	make_folder(rig, pid, "");
	make_folder(rig, pid, "/root");
	make_folder(rig, pid, "/root/tmp");
	snprintf(path, sizeof(path), "%s/%u/root/tmp", rig->proc, pid);
	snprintf(map, sizeof(map), "perf-%u.map", pid);
	write_text(path, map, "1000 100 f\n");
}

/* The key of the code at @addr of process @pid; 0: there is none. */
static uint64_t key_at(struct rig *rig, uint32_t pid, uint64_t addr)
{
	uint64_t cookie = 77, key = 88;

	if (opd_jit_ranges_find(rig->ranges, pid, APP, addr, &cookie, &key)) {
		assert_true(cookie & OPD_JIT_RANGES_COOKIE);
		assert_true(key);
		return key;
	}
	return 0;
}

static void end_round_at(struct rig *rig, uint64_t at)
{
	now = at;
	opd_jit_ranges_end_round(rig->ranges);
}

static bool is_remembered(const struct rig *rig, uint32_t pid)
{
	for (size_t i = 0; i < rig->ranges->nr; i++)
		if (rig->ranges->processes[i].tgid == pid)
			return true;
	return false;
}

/* ---- which processes --------------------------------------------------------
 */

MADE_TEST(test_nobody)
{
	struct rig *rig = *state;

	add_process(rig, GONE);
	assert_int_equal(key_at(rig, 0, 0x1000), 0);
	assert_int_equal(rig->ranges->nr, 0);
	rig->ranges->jits.folder = NULL;
	assert_int_equal(key_at(rig, GONE, 0x1000), 0);
	assert_int_equal(rig->ranges->nr, 0);
}

/* Where nobody wants images of such code, there are none. */
MADE_TEST(test_not_wanted)
{
	static const char *const folders[] = { NULL, "" };
	struct rig *rig = *state;

	add_process(rig, GONE);
	for (size_t i = 0; i < 2; i++) {
		struct opd_source_client client = { .images = folders[i] };
		uint64_t cookie, key;
		struct opd_jit_ranges *ranges;

		assert_int_equal(
			opd_jit_ranges_new(&ranges, &client, rig->proc), 0);
		assert_false(opd_jit_ranges_find(ranges, GONE, APP, 0x1000,
						 &cookie, &key));
		opd_jit_ranges_free(ranges);
	}
	opd_jit_ranges_free(NULL);
}

/* A process has one image, whose offsets are those in its functions. */
MADE_TEST(test_found)
{
	struct op_cookie_query query = { .cookie = 0 };
	struct rig *rig = *state;
	uint64_t cookie, key;

	add_process(rig, GONE);
	key = key_at(rig, GONE, 0x1000);
	assert_int_equal(key_at(rig, GONE, 0x10ff), key + 0xff);
	assert_int_equal(key_at(rig, GONE, 0x1100), 0);
	assert_int_equal(key_at(rig, GONE, 0xfff), 0);
	assert_int_equal(key_at(rig, GONE + 1, 0x1000), 0);
	assert_true(opd_jit_ranges_find(rig->ranges, GONE, APP, 0x1000, &cookie,
					&key));
	query.cookie = cookie;
	assert_int_equal(opd_jit_ranges_query(rig->ranges, &query), 0);
	assert_int_equal(query.cookie, cookie);
	assert_string_equal(query.path, "/5000000.jo");
	query.cookie = cookie + 1;
	assert_int_equal(opd_jit_ranges_query(rig->ranges, &query), -ENOENT);
	assert_int_equal(query.cookie, cookie + 1);
}

/* Samples of more processes stay in anonymous memory. */
MADE_TEST(test_most_processes)
{
	struct rig *rig = *state;
	const uint32_t last = GONE + OPD_JIT_RANGES_PROCESSES;

	for (uint32_t pid = GONE; pid <= last; pid++) {
		add_process(rig, pid);
		assert_int_equal(key_at(rig, pid, 0x1000) != 0, pid != last);
	}
	assert_int_equal(rig->ranges->nr, OPD_JIT_RANGES_PROCESSES);
	/* Those that are known still are. */
	assert_true(key_at(rig, GONE, 0x1000));
	assert_true(key_at(rig, last - 1, 0x1000));
	/* Once they are forgotten, there is room. */
	end_round_at(rig, now);
	end_round_at(rig, now + GOES_AFTER + 1);
	assert_true(key_at(rig, last, 0x1000));
	assert_int_equal(rig->ranges->nr, OPD_JIT_RANGES_PROCESSES);
	assert_int_equal(rig->ranges->jits.nr, 1);
}

/* ---- how long ---------------------------------------------------------------
 */

/* Its last samples may come when a process has ended. */
MADE_TEST(test_ended)
{
	struct rig *rig = *state;
	uint64_t at = now;

	add_process(rig, GONE);
	assert_true(key_at(rig, GONE, 0x1000));
	end_round_at(rig, at + SECOND);
	end_round_at(rig, at + SECOND + GOES_AFTER);
	assert_true(is_remembered(rig, GONE));
	assert_int_equal(rig->ranges->jits.nr, 1);
	end_round_at(rig, at + SECOND + GOES_AFTER + 1);
	assert_false(is_remembered(rig, GONE));
	assert_int_equal(rig->ranges->jits.nr, 0);
}

MADE_TEST(test_lives)
{
	struct rig *rig = *state;
	pid_t child = fork();
	siginfo_t info;

	if (!child) {
		pause();
		_exit(0);
	}
	add_process(rig, (uint32_t)child);
	assert_true(key_at(rig, (uint32_t)child, 0x1000));
	for (int i = 0; i < 3; i++) {
		end_round_at(rig, now + 10 * SECOND);
		assert_true(is_remembered(rig, (uint32_t)child));
	}
	assert_int_equal(kill(child, SIGKILL), 0);
	assert_int_equal(waitid(P_PID, (id_t)child, &info, WEXITED), 0);
	/* It is seen now that it has ended. */
	end_round_at(rig, now + 10 * SECOND);
	assert_true(is_remembered(rig, (uint32_t)child));
	assert_true(key_at(rig, (uint32_t)child, 0x1000));
	end_round_at(rig, now + GOES_AFTER + 1);
	assert_false(is_remembered(rig, (uint32_t)child));
}

/* The number of a process that has ended may be another one's by now. */
MADE_TEST(test_another_program)
{
	struct op_cookie_query query = { .cookie = 0 };
	struct rig *rig = *state;
	uint64_t key, first, second;

	add_process(rig, GONE);
	assert_true(opd_jit_ranges_find(rig->ranges, GONE, 1, 0x1000, &first,
					&key));
	end_round_at(rig, now);
	now += 2 * SECOND;
	assert_true(opd_jit_ranges_find(rig->ranges, GONE, 2, 0x1000, &second,
					&key));
	assert_true(second != first);
	query.cookie = second;
	assert_int_equal(opd_jit_ranges_query(rig->ranges, &query), 0);
	assert_string_equal(query.path, "/5000000.2.jo");
	assert_int_equal(rig->ranges->nr, 1);
	/* Its end has not been seen yet. */
	end_round_at(rig, now + 2 * SECOND);
	assert_true(is_remembered(rig, GONE));
}

/* ---- jitdumps ---------------------------------------------------------------
 */

/* Process GONE maps a jitdump. */
static void map_dump(const struct rig *rig, struct dump_writer *w)
{
	char path[160], text[256];
	struct stat st;

	snprintf(path, sizeof(path), "%s/%u/root/tmp/jit-5.dump", rig->proc,
		 GONE);
	dump_header_to(w, open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644), 0);
	assert_int_equal(fstat(w->fd, &st), 0);
	snprintf(path, sizeof(path), "%s/%u", rig->proc, GONE);
	snprintf(text, sizeof(text),
		 "7f0000-7f1000 r-xp 00000000 00:00 %lu /tmp/jit-5.dump\n",
		 (unsigned long)st.st_ino);
	write_text(path, "maps", text);
}

/* The mappings are read once a second. */
MADE_TEST(test_dump_is_seen)
{
	struct rig *rig = *state;
	struct dump_writer w;

	add_process(rig, GONE);
	assert_int_equal(key_at(rig, GONE, 0x2000), 0);
	map_dump(rig, &w);
	dump_load(&w, 0, 0x2000, "g", "code");
	now += SECOND - 1;
	assert_int_equal(key_at(rig, GONE, 0x2000), 0);
	now++;
	assert_true(key_at(rig, GONE, 0x2000));
	close(w.fd);
}

/* That takes a hundredth of a second of CPU time: there are so many. */
MADE_TEST(test_long_maps)
{
	struct rig *rig = *state;
	struct dump_writer w;
	uint64_t begun = now;

	add_process(rig, GONE);
	step = SECOND / 100;
	assert_int_equal(key_at(rig, GONE, 0x2000), 0);
	step = 0;
	map_dump(rig, &w);
	dump_load(&w, 0, 0x2000, "g", "code");
	now = begun + SECOND + SECOND / 5 - 1;
	assert_int_equal(key_at(rig, GONE, 0x2000), 0);
	now++;
	assert_true(key_at(rig, GONE, 0x2000));
	close(w.fd);
}

/*
 * A sample gets the code that was there when those before it had been read;
 * where there was none, what is there now.
 */
MADE_TEST(test_times)
{
	struct rig *rig = *state;
	struct dump_writer w;
	uint64_t old, new;

	add_process(rig, GONE);
	map_dump(rig, &w);
	dump_load(&w, now - SECOND, 0x2000, "old", "code");
	dump_load(&w, now + SECOND, 0x2000, "new", "code");
	dump_load(&w, now + SECOND, 0x3000, "other", "code");
	end_round_at(rig, now);
	now += 2 * SECOND;
	old = key_at(rig, GONE, 0x2000);
	assert_true(old);
	assert_int_equal(key_at(rig, GONE, 0x2000), old);
	assert_true(key_at(rig, GONE, 0x3000));
	end_round_at(rig, now);
	new = key_at(rig, GONE, 0x2000);
	assert_true(new &&new != old);
	close(w.fd);
}

/* Code that was freed since has the samples that come late. */
MADE_TEST(test_freed)
{
	struct rig *rig = *state;
	struct dump_writer w;
	uint64_t key;

	add_process(rig, GONE);
	map_dump(rig, &w);
	dump_load(&w, now, 0x2000, "g", "code");
	dump_load(&w, now, 0x3000, "h", "code");
	key = key_at(rig, GONE, 0x2000);
	assert_true(key);
	dump_move(&w, now + 1, 0x2000, 0, 4);
	dump_move(&w, now + 1, 0x3000, 0, 4);
	end_round_at(rig, now + SECOND);
	assert_int_equal(key_at(rig, GONE, 0x2000), key);
	/* What had no sample before has no name that could be read. */
	assert_int_equal(key_at(rig, GONE, 0x3000), 0);
	close(w.fd);
}

/* ---- saving -----------------------------------------------------------------
 */

/* How many images of such code the session has. */
static int nr_images(const struct rig *rig)
{
	DIR *folder = opendir(rig->images);
	int nr = 0;

	if (!folder)
		return 0;
	for (struct dirent *entry; (entry = readdir(folder));)
		nr += strstr(entry->d_name, ".jo-") != NULL;
	closedir(folder);
	return nr;
}

/* What is known is in the session after a round, when the session is saved, and
 * at the end. */
MADE_TEST(test_saved)
{
	struct rig *rig = *state;
	struct opd_source_client client = { .images = rig->images };

	for (uint32_t i = 0; i < 4; i++)
		add_process(rig, GONE + i);
	assert_true(key_at(rig, GONE, 0x1000));
	assert_int_equal(nr_images(rig), 0);
	end_round_at(rig, now);
	assert_int_equal(nr_images(rig), 1);
	assert_true(key_at(rig, GONE + 1, 0x1000));
	opd_jit_ranges_save(rig->ranges);
	assert_int_equal(nr_images(rig), 2);
	assert_true(key_at(rig, GONE + 2, 0x1000));
	assert_true(key_at(rig, GONE + 3, 0x1000));
	opd_jit_ranges_free(rig->ranges);
	assert_int_equal(nr_images(rig), 4);
	assert_int_equal(opd_jit_ranges_new(&rig->ranges, &client, rig->proc),
			 0);
}

/* Where nothing can be written, that is in the log. */
MADE_TEST(test_cannot_be_saved)
{
	struct rig *rig = *state;
	struct op_log log;
	struct opd_source_client client = { .images = rig->images,
					    .log = &log };
	uint64_t cookie, key;
	char text[256] = "";
	struct opd_jit_ranges *ranges;

	op_log_init(&log);
	log.fd = memfd_create("log", MFD_CLOEXEC);
	add_process(rig, GONE);
	assert_int_equal(opd_jit_ranges_new(&ranges, &client, rig->proc), 0);
	ranges->jits.untrusted.patience = 60000;
	assert_true(
		opd_jit_ranges_find(ranges, GONE, APP, 0x1000, &cookie, &key));
	remove_tree(rig->images);
	write_text(rig->dir, "images", "no folder");
	opd_jit_ranges_free(ranges);
	assert_true(pread(log.fd, text, sizeof(text) - 1, 0) > 0);
	assert_non_null(strstr(text, "process 5000000 made at run time: "));
	op_log_close(&log);
}
