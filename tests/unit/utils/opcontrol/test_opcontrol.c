// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Those parts of opcontrol that a run of the whole program can not reach
 * without a kernel module, or only by waiting.
 */

#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "tests/unit/test.h"
#include "libop/files/op_folder.h"
#include "libop/files/op_remove.h"
#include "utils/daemon.c"
#include "utils/event_list.c"
#include "utils/event_machine.c"
#include "utils/opcontrol/opcontrol_events.c"
#include "utils/opcontrol/opcontrol_fs.c"
#include "utils/opcontrol/opcontrol_ibs.c"
#include "utils/opcontrol/opcontrol_module.c"
#include "utils/opcontrol/opcontrol_settings.c"
#include "utils/opcontrol/opcontrol_waits.c"
#include "utils/say.c"

/* ---- oprofilefs ---------------------------------------------------------- */

TEST(reads_mountinfo)
{
	bool ours = false;

#define LINE(point, rest) "36 35 98:0 / " point " rw,noatime " rest " x rw\n"
	assert_false(read_mount(LINE("/dev", "- devtmpfs"), &ours));
	assert_false(read_mount(LINE("/dev/oprofile2", "- oprofilefs"), &ours));
	assert_false(
		read_mount(LINE("/mnt/dev/oprofile", "- oprofilefs"), &ours));
	assert_false(read_mount("36 35 98:0 / /dev/oprofile rw\n", &ours));
	assert_false(read_mount("", &ours));
	assert_false(ours);
	assert_true(read_mount(LINE("/dev/oprofile", "master:1 - oprofilefs"),
			       &ours));
	assert_true(ours);
	assert_true(read_mount(LINE("/dev/oprofile", "- oprofilefs2"), &ours));
	assert_false(ours);
#undef LINE
}

/* ---- the module ---------------------------------------------------------- */

TEST(explains_modules_that_do_not_load)
{
	static const struct {
		int err;
		const char *cure;
	} cases[] = {
		{ EPERM, "sign the module" },
		{ EKEYREJECTED, "sign it" },
		{ ENOKEY, "sign it" },
		{ ENOEXEC, "build it for this kernel with make module" },
		{ ENOENT, "rebuild it" },
		{ EINVAL, "build it again" },
		{ EBUSY, "see dmesg" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct op_diag diag = { "" };

		assert_int_equal(oc_module_explain("x.ko", cases[i].err, &diag),
				 -cases[i].err);
		assert_non_null(strstr(diag.text, "x.ko: cannot load: "));
		assert_non_null(strstr(diag.text, cases[i].cure));
		assert_null(strchr(diag.text, '\n'));
	}
}

static int modprobe_says(const char *line, struct op_diag *diag)
{
	char text[256];

	diag->text[0] = '\0';
	snprintf(text, sizeof(text), "modprobe: %s\n", line);
	return explain_modprobe(text, diag);
}

TEST(understands_modprobe)
{
	struct op_diag diag;

	assert_int_equal(modprobe_says("FATAL: Module oprofile not found in "
				       "directory /lib/modules/6.1.0",
				       &diag),
			 -ENOENT);
	assert_string_equal(diag.text, ""); /* other places are tried */
	assert_int_equal(modprobe_says("ERROR: could not insert 'oprofile': "
				       "Operation not permitted",
				       &diag),
			 -EPERM);
	assert_non_null(strstr(diag.text, "Secure Boot"));
	assert_int_equal(modprobe_says("ERROR: could not insert 'oprofile': "
				       "Exec format error",
				       &diag),
			 -ENOEXEC);
	assert_non_null(strstr(diag.text, "make module"));
	assert_int_equal(modprobe_says("something else\nand more", &diag),
			 -EIO);
	assert_string_equal(diag.text, "modprobe oprofile: modprobe: something "
				       "else; see dmesg");
}

/* ---- answers ------------------------------------------------------------- */

TEST(finds_keys_in_answers)
{
	static const char reply[] = "pidx = 1\npid = 23\nempty = \n"
				    "vmlinux = /a = b\nlast = 5";
	char buf[8];

	assert_true(daemon_reply_find(reply, "pid", buf, sizeof(buf)));
	assert_string_equal(buf, "23");
	assert_true(daemon_reply_find(reply, "empty", buf, sizeof(buf)));
	assert_string_equal(buf, "");
	assert_true(daemon_reply_find(reply, "vmlinux", buf, sizeof(buf)));
	assert_string_equal(buf, "/a = b");
	assert_false(daemon_reply_find(reply, "vmlinux", buf, 6));
	assert_true(daemon_reply_find(reply, "last", buf, sizeof(buf)));
	assert_string_equal(buf, "5");
	assert_false(daemon_reply_find(reply, "las", buf, sizeof(buf)));
	assert_false(daemon_reply_find("", "pid", buf, sizeof(buf)));
	assert_string_equal(buf, "");
}

/* ---- a daemon that is late -----------------------------------------------
 */

static bool has_hung_up(int client)
{
	struct pollfd p = { .fd = client, .events = POLLRDHUP };

	return poll(&p, 1, 0) > 0 && p.revents & (POLLRDHUP | POLLHUP);
}

/* Be a daemon that works on and on while the first clients wait, and answers
 * those after them. */
static void be_late(const struct op_session *session, int nr_left)
{
	struct op_diag diag = { "" };
	int listening = op_control_listen(session->socket, &diag), client;
	FILE *lock = fopen(session->lock, "w");

	if (listening < 0 || !lock)
		_exit(1);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGPIPE, SIG_IGN); /* of clients that have hung up */
	prctl(PR_SET_NAME, DAEMON_NAME);
	fprintf(lock, "%d\n", (int)getpid());
	fclose(lock);
	for (;; nr_left--) {
		client = accept(listening, NULL, NULL);
		while (nr_left > 0 && !has_hung_up(client))
			;
		dprintf(client, " pid = %d\n running = 1\nok\n", (int)getpid());
		close(client);
	}
}

static pid_t start_late_daemon(const struct op_session *session, int nr_left)
{
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (!pid)
		be_late(session, nr_left);
	while (locked_pid(session->lock) != pid) {
		assert_int_equal(waitpid(pid, NULL, WNOHANG), 0);
		poll(NULL, 0, 1);
	}
	return pid;
}

TEST(waits_for_a_daemon_that_works)
{
	char dir[] = "/tmp/opcontrol-test-XXXXXX";
	struct op_session session;
	struct op_diag diag = { "" };
	struct daemon daemon = { .session = &session, .turn_ms = 20 };
	struct op_process_activity before = { 0 };
	pid_t pid;

	assert_non_null(mkdtemp(dir));
	assert_int_equal(op_session_init(&session, dir, &diag), 0);
	assert_int_equal(op_make_parents(session.lock, 0700), 0);
	pid = start_late_daemon(&session, 3);
	assert_int_equal(daemon_find(&daemon, &diag), 0);
	assert_true(daemon.answers && daemon.is_sampling);
	assert_int_equal(daemon.pid, pid);
	/* It waits for clients now; the first look is at something new. */
	is_at_work(&daemon, &before);
	while (op_process_activity(pid).state != 'S')
		poll(NULL, 0, 1);
	is_at_work(&daemon, &before);
	assert_false(is_at_work(&daemon, &before));
	/* One that is stopped is not waited for, but known. */
	assert_int_equal(kill(pid, SIGSTOP), 0);
	while (op_process_activity(pid).state != 'T')
		poll(NULL, 0, 1);
	assert_int_equal(daemon_find(&daemon, &diag), 0);
	assert_false(daemon.answers);
	assert_int_equal(daemon.pid, pid);
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_false(is_at_work(&daemon, &before));
	assert_int_equal(op_process_activity(pid).state, 0);
	assert_int_equal(op_remove_tree(dir), 0);
}

TEST(takes_only_sound_pids)
{
	assert_int_equal(parse_pid("23"), 23);
	assert_int_equal(parse_pid(""), 0);
	assert_int_equal(parse_pid("-1"), 0);
	assert_int_equal(parse_pid("2147483648"), 0);
	assert_int_equal(parse_pid("4294967297"), 0);
}

/* ---- counters ------------------------------------------------------------ */

static void make_counter(struct oc_fs *fs, const char *root)
{
	static const char *const files[] = { "enabled",	  "event",  "count",
					     "unit_mask", "kernel", "user",
					     "extra" };
	char path[sizeof(fs->root) + 32];
	FILE *file;

	strcpy(fs->root, root);
	snprintf(path, sizeof(path), "%s/0", root);
	assert_int_equal(mkdir(path, 0700), 0);
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		snprintf(path, sizeof(path), "%s/0/%s", root, files[i]);
		file = fopen(path, "w");
		assert_non_null(file);
		fclose(file);
	}
}

static uint64_t counter_file(const struct oc_fs *fs, const char *file)
{
	uint64_t value = 0;
	char path[32];

	snprintf(path, sizeof(path), "0/%s", file);
	assert_int_equal(oc_fs_read(fs, path, &value, NULL), 0);
	return value;
}

/* What the module makes of the files, with a unit mask on all machines and the
 * upper bits of an event's number on x86: see module/counter/counter_perf.c. */
static uint64_t module_config(const struct oc_fs *fs, bool is_x86)
{
	uint64_t event = counter_file(fs, "event");
	uint64_t mask = counter_file(fs, "unit_mask");
	uint64_t extra = counter_file(fs, "extra");

	if (is_x86)
		return (event & 0xff) | (mask & 0xff) << 8 |
		       (event & 0xf00) << 24 | extra;
	return event | mask << 8 | extra;
}

TEST(writes_all_bits_of_an_event)
{
	static const struct {
		enum op_cpu_encoding encoding;
		bool is_x86;
		uint64_t code, um, config, written;
	} cases[] = {
		{ OP_ENCODING_X86, true, 0x1c2, 0x5, 0x1018005c2, 0x1c2 },
		{ OP_ENCODING_RAW, false, 0x11, 0, 0x11, 0x11 },
		{ OP_ENCODING_RAW, false, 0x11, 0x40000, 0x40011, 0 },
		{ OP_ENCODING_NETBURST, true, 0x1305, 0x1, 0x1e0002000a000, 0 },
	};
	char root[] = "/tmp/test_opcontrol.XXXXXX";
	struct oc_fs oprofilefs = { .is_plain = true }, *fs = &oprofilefs;
	struct oc_events chosen = { .fs = fs };
	struct op_cpu_type cpu = { .name = "test" };
	struct op_events events = { .cpu = &cpu };
	char command[64];

	assert_non_null(mkdtemp(root));
	make_counter(fs, root);
	chosen.machine.cpu = &events;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct op_event event = { .code = cases[i].code };
		struct op_parsed_event parsed = {
			.event = &event,
			.count = 1000 + i,
			.um = cases[i].um,
			.config = cases[i].config,
			.user = true,
		};

		cpu.encoding = cases[i].encoding;
		assert_int_equal(write_counter(&chosen, 0, &parsed, NULL), 0);
		assert_int_equal(module_config(fs, cases[i].is_x86),
				 cases[i].config);
		assert_int_equal(counter_file(fs, "event"), cases[i].written);
		assert_int_equal(counter_file(fs, "count"), 1000 + i);
		assert_int_equal(counter_file(fs, "kernel"), 0);
		assert_int_equal(counter_file(fs, "user"), 1);
		assert_int_equal(counter_file(fs, "enabled"), 1);
	}
	snprintf(command, sizeof(command), "rm -r %s", root);
	assert_int_equal(system(command), 0);
}
