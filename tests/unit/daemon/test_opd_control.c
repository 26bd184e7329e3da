// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A daemon in a process of its own, on a folder that looks like /dev/oprofile:
 * its buffer is a pipe that the test writes to.
 */

#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "daemon/opd_command.h"
#include "daemon/opd_run.h"
#include "tests/unit/opd_fixture.h"

#define TIMEOUT_MS 60000

struct live {
	char dir[64];
	char fs[128]; /* the false oprofilefs */
	struct op_session session;
	int buffer; /* the writing end */
	pid_t pid;
};

static void read_text(const char *dir, const char *name, char *text, int len)
{
	char path[512];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	file = fopen(path, "r");
	assert_non_null(file);
	assert_non_null(fgets(text, len, file));
	fclose(file);
}

static void make_fs(struct live *live)
{
	char path[512];

	snprintf(live->fs, sizeof(live->fs), "%s/fs", live->dir);
	assert_int_equal(mkdir(live->fs, 0755), 0);
	write_text(live->fs, "abi_version", "1\n");
	write_text(live->fs, "cpu_type", "timer");
	write_text(live->fs, "enable", "0\n");
	write_text(live->fs, "dump", "");
	snprintf(path, sizeof(path), "%s/stats", live->fs);
	assert_int_equal(mkdir(path, 0755), 0);
	write_text(live->fs, "stats/event_lost_overflow", "4\n");
	write_text(live->fs, "stats/bt_lost_no_mapping", "100\n");
	for (int cpu = 0; cpu < 2; cpu++) {
		snprintf(path, sizeof(path), "%s/stats/cpu%d", live->fs, cpu);
		assert_int_equal(mkdir(path, 0755), 0);
		write_text(path, "sample_received", "5\n");
		write_text(path, "sample_lost_overflow", "1\n");
	}
	snprintf(path, sizeof(path), "%s/buffer", live->fs);
	assert_int_equal(mkfifo(path, 0600), 0);
	/* Both ends, so that the pipe never ends. */
	live->buffer = open(path, O_RDWR);
	assert_true(live->buffer >= 0);
}

/* The part of main that is not about options. Does not return. */
static void be_daemon(const struct live *live, int ready)
{
	struct opd *opd = calloc(1, sizeof(*opd));
	unsigned int nr_fds = count_fds();
	struct op_diag diag = { "" };
	char spec[256];

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (!opd)
		_exit(9);
	opd_loop_block_signals();
	opd_init(opd);
	opd->session = live->session;
	opd_events_timer(&opd->options.events);
	snprintf(spec, sizeof(spec), "oprofilefs:%s", live->fs);
	if (opd_session_make(&opd->session, NULL, &diag) ||
	    opd_session_lock(&opd->store, &diag) ||
	    op_log_open(&opd->log, opd->session.log, &diag) ||
	    opd_source_open(&opd->source, spec, &opd->options.events,
			    &opd->client, &diag) ||
	    opd_setup(opd, &diag) ||
	    opd_loop_init(&opd->loop, opd->source.fd, &diag) ||
	    opd_command_listen(opd, &diag)) {
		fprintf(stderr, "# %s\n", diag.text);
		_exit(8);
	}
	if (write(ready, "", 1) != 1)
		_exit(7);
	opd_run(opd);
	if (opd_command_stop(opd, &diag) || opd_finish(opd))
		_exit(6);
	opd_release(opd);
	opd_control_answer_shutdown(&opd->control, 0, NULL);
	if (count_fds() != nr_fds) {
		fprintf(stderr, "# %u descriptors, before %u\n", count_fds(),
			nr_fds);
		_exit(5);
	}
	free(opd);
	exit(0); /* with the checks of the sanitizers */
}

static struct live *start_live(void)
{
	struct live *live = calloc(1, sizeof(*live));
	int ready[2];
	char byte;

	assert_non_null(live);
	snprintf(live->dir, sizeof(live->dir), "/tmp/opd-test-XXXXXX");
	assert_non_null(mkdtemp(live->dir));
	assert_int_equal(op_session_init(&live->session, live->dir, NULL), 0);
	make_fs(live);
	assert_int_equal(pipe(ready), 0);
	live->pid = fork();
	if (live->pid == 0)
		be_daemon(live, ready[1]);
	close(ready[1]);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	return live;
}

static void end_live(struct live *live)
{
	int status;

	assert_int_equal(waitpid(live->pid, &status, 0), live->pid);
	assert_int_equal(status, 0);
	assert_int_equal(access(live->session.socket, F_OK), -1);
	close(live->buffer);
	remove_tree(live->dir);
	free(live);
}

static int call(struct live *live, const char *request, char *reply)
{
	struct op_diag diag = { "" };
	int err = op_control_call(live->session.socket, request, reply,
				  reply ? 8192 : 0, TIMEOUT_MS, &diag);

	if (err && err != -EREMOTEIO)
		print_message("# %s: %s\n", request, diag.text);
	return err;
}

static void send_samples(struct live *live, int nr)
{
	struct words *w = calloc(1, sizeof(*w));

	assert_non_null(w);
	put_cpu(w, 0);
	put_task(w, 1, 1, 0);
	put_anon(w, 0x1000, 0x2000, "anon");
	put_user(w);
	while (nr--)
		put_sample(w, 0x10, 0);
	assert_int_equal(write(live->buffer, w->word, w->nr * 8), w->nr * 8);
	free(w);
}

static void has(const char *reply, const char *line)
{
	if (!strstr(reply, line))
		fail_msg("'%s' is not in: %s", line, reply);
}

TEST(a_day_of_a_daemon)
{
	struct live *live = start_live();
	char reply[8192], text[64], line[128];
	struct op_ledger l;
	char path[8192];

	assert_int_equal(call(live, "status", reply), 0);
	snprintf(line, sizeof(line), "pid = %d\n", (int)live->pid);
	has(reply, line);
	has(reply, "running = 0\n");
	has(reply, "targeted = 0\n");
	snprintf(line, sizeof(line), "session-dir = %s\n", live->dir);
	has(reply, line);
	has(reply, "source = module/timer\n");
	has(reply, "separate = none\n");
	has(reply, "vmlinux = (none)\n");
	has(reply, "taken = 10\n");
	has(reply, "stored = 0\n");
	has(reply, "pending = 4\n");
	has(reply, "lost.event_lost_overflow = 4\n");
	has(reply, "lost.sample_lost_overflow = 2\n");
	assert_null(strstr(reply, "bt_lost"));

	assert_int_equal(call(live, "start", NULL), 0);
	read_text(live->fs, "enable", text, sizeof(text));
	assert_string_equal(text, "1\n");
	assert_int_equal(call(live, "status", reply), 0);
	has(reply, "running = 1\n");

	send_samples(live, 3);
	assert_int_equal(call(live, "dump", NULL), 0);
	read_text(live->fs, "dump", text, sizeof(text));
	assert_string_equal(text, "1");
	snprintf(path, sizeof(path), "%s/ledger", live->session.current);
	assert_int_equal(op_ledger_read(&l, path, NULL), 0);
	assert_int_equal(l.stored, 3);
	assert_int_equal(l.pending, 1);

	send_samples(live, 1);
	assert_int_equal(call(live, "stop", NULL), 0);
	read_text(live->fs, "enable", text, sizeof(text));
	assert_string_equal(text, "0\n");
	assert_int_equal(call(live, "status", reply), 0);
	has(reply, "running = 0\n");
	has(reply, "stored = 4\n");
	has(reply, "pending = 0\n");

	assert_int_equal(call(live, "save one", NULL), 0);
	snprintf(path, sizeof(path), "%s/one/ledger", live->session.samples);
	assert_int_equal(op_ledger_read(&l, path, NULL), 0);
	assert_int_equal(l.taken, 10);
	assert_int_equal(call(live, "status", reply), 0);
	has(reply, "taken = 0\n");
	assert_int_equal(call(live, "reset", NULL), 0);
	assert_int_equal(call(live, "shutdown", NULL), 0);
	end_live(live);
}

/* What is under way when a session ends counts in the next one. */
TEST(samples_under_way_are_of_the_next_session)
{
	static const char *const ends[] = { "reset", "save one" };
	struct live *live = start_live();
	char reply[8192], path[8192];
	struct op_ledger l;

	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++) {
		assert_int_equal(call(live, ends[i], NULL), 0);
		assert_int_equal(call(live, "status", reply), 0);
		has(reply, "taken = 4\n");
		has(reply, "stored = 0\n");
		has(reply, "pending = 4\n");
		assert_null(strstr(reply, "lost."));
	}
	/* Saved was a session that nothing had come to. */
	snprintf(path, sizeof(path), "%s/one/ledger", live->session.samples);
	assert_int_equal(op_ledger_read(&l, path, NULL), 0);
	assert_int_equal(l.taken, 0);
	assert_int_equal(l.pending, 0);
	send_samples(live, 3);
	assert_int_equal(call(live, "dump", NULL), 0);
	assert_int_equal(call(live, "status", reply), 0);
	has(reply, "taken = 4\n");
	has(reply, "stored = 3\n");
	has(reply, "pending = 1\n");
	assert_int_equal(call(live, "shutdown", NULL), 0);
	end_live(live);
}

/* A client that is gone already must not stop the daemon in accept(2). */
TEST(the_listener_never_waits)
{
	struct fixture *f = new_replay();
	struct op_diag diag = { "" };
	int fd, source[2];

	assert_int_equal(pipe(source), 0);
	f->opd.source.fd = source[0];
	assert_int_equal(opd_loop_init(&f->opd.loop, f->opd.source.fd, &diag),
			 0);
	assert_int_equal(opd_command_listen(&f->opd, &diag), 0);
	fd = f->opd.control.fd;
	assert_true(fcntl(fd, F_GETFL) & O_NONBLOCK);
	assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	opd_control_close(&f->opd.control);
	assert_int_equal(f->opd.control.fd, -1);
	assert_int_equal(access(f->opd.session.socket, F_OK), -1);
	f->opd.source.fd = -1;
	close(source[0]);
	close(source[1]);
	free_fixture(f);
}

/* A client stays until it is gone, also when there is nothing to read. */
TEST(clients_without_a_line_stay)
{
	struct opd *opd = calloc(1, sizeof(*opd));
	struct opd_client *client;
	int fds[2];

	assert_non_null(opd);
	opd_init(opd);
	client = &opd->control.clients[1];
	assert_int_equal(
		socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds), 0);
	client->fd = fds[0];
	opd_control_handle(&opd->control, 1);
	assert_int_equal(client->fd, fds[0]);
	assert_int_equal(write(fds[1], "stat", 4), 4);
	opd_control_handle(&opd->control, 1);
	assert_int_equal(client->fd, fds[0]);
	assert_int_equal(client->len, 4);
	opd_control_handle(&opd->control, 1);
	assert_int_equal(client->fd, fds[0]);
	close(fds[1]);
	opd_control_handle(&opd->control, 1);
	assert_int_equal(client->fd, -1);
	assert_int_equal(client->len, 0);
	opd_release(opd);
	free(opd);
}

TEST(refusals_have_a_reason)
{
	static const char *const requests[] = {
		"dance", "save", "save a/b", "status now", " ",
	};
	struct live *live = start_live();
	struct op_diag diag;

	for (size_t i = 0; i < sizeof(requests) / sizeof(requests[0]); i++) {
		diag.text[0] = '\0';
		assert_int_equal(op_control_call(live->session.socket,
						 requests[i], NULL, 0,
						 TIMEOUT_MS, &diag),
				 -EREMOTEIO);
		assert_true(strlen(diag.text) > 5);
	}
	assert_int_equal(call(live, "shutdown", NULL), 0);
	end_live(live);
}

static int open_socket(const struct live *live)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	assert_true(fd >= 0);
	memcpy(address.sun_path, live->session.socket,
	       strlen(live->session.socket) + 1);
	assert_int_equal(
		connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	return fd;
}

TEST(silent_clients_hold_up_nobody)
{
	struct live *live = start_live();
	int fds[3 * OPD_MAX_CLIENTS];
	char reply[8192];

	for (int i = 0; i < 3 * OPD_MAX_CLIENTS; i++) {
		fds[i] = open_socket(live);
		if (i % 2)
			assert_int_equal(write(fds[i], "stat", 4), 4);
	}
	assert_int_equal(call(live, "status", reply), 0);
	for (int i = 0; i < 3 * OPD_MAX_CLIENTS; i++)
		close(fds[i]);
	assert_int_equal(call(live, "status", reply), 0);
	assert_int_equal(call(live, "shutdown", NULL), 0);
	end_live(live);
}

TEST(endless_lines_are_hung_up_on)
{
	struct live *live = start_live();
	int fd = open_socket(live);
	char line[OP_CONTROL_LINE_MAX];

	memset(line, 'x', sizeof(line));
	assert_int_equal(write(fd, line, sizeof(line)), sizeof(line));
	assert_true(read(fd, line, sizeof(line)) <= 0);
	close(fd);
	assert_int_equal(call(live, "shutdown", NULL), 0);
	end_live(live);
}

TEST(a_second_daemon_is_refused)
{
	struct live *live = start_live();
	struct opd *opd = calloc(1, sizeof(*opd));
	struct op_diag diag = { "" };

	assert_non_null(opd);
	opd_init(opd);
	opd->session = live->session;
	assert_int_equal(opd_session_lock(&opd->store, &diag), -EBUSY);
	free(opd);
	assert_int_equal(call(live, "shutdown", NULL), 0);
	end_live(live);
}

TEST(signals_end_it_and_reopen_its_log)
{
	struct live *live = start_live();
	struct op_ledger l;
	char path[8192], away[8300];

	snprintf(path, sizeof(path), "%s", live->session.log);
	snprintf(away, sizeof(away), "%s.1", path);
	assert_int_equal(rename(path, away), 0);
	kill(live->pid, SIGHUP);
	assert_int_equal(call(live, "status", NULL), 0);
	assert_int_equal(access(path, F_OK), 0);
	send_samples(live, 2);
	snprintf(path, sizeof(path), "%s/ledger", live->session.current);
	kill(live->pid, SIGTERM);
	assert_int_equal(waitpid(live->pid, NULL, 0), live->pid);
	assert_int_equal(op_ledger_read(&l, path, NULL), 0);
	assert_int_equal(l.stored, 2);
	assert_int_equal(l.pending, 0);
	assert_int_equal(op_ledger_lost_by(&l, "lost_at_exit"), 2);
	close(live->buffer);
	remove_tree(live->dir);
	free(live);
}

TEST(a_killed_daemon_leaves_nothing_in_the_way)
{
	struct live *live = start_live();
	struct opd *opd = calloc(1, sizeof(*opd));
	struct op_diag diag = { "" };

	assert_non_null(opd);
	kill(live->pid, SIGKILL);
	assert_int_equal(waitpid(live->pid, NULL, 0), live->pid);
	opd_init(opd);
	opd->session = live->session;
	assert_int_equal(opd_session_lock(&opd->store, &diag), 0);
	opd->source.ops = &test_replay;
	assert_int_equal(opd_loop_init(&opd->loop, opd->source.fd, NULL),
			 -EBADF); /* no source */
	assert_int_equal(opd_command_listen(opd, &diag), 0);
	opd_release(opd);
	free(opd);
	close(live->buffer);
	remove_tree(live->dir);
	free(live);
}

/* ---- clients, one step after the other --------------------------------------
 */

struct listener {
	struct fixture *f;
	int source[2]; /* a pipe, of which the daemon has the one end */
};

static struct listener new_listener(void)
{
	struct listener l = { .f = new_replay() };
	struct op_diag diag = { "" };

	assert_int_equal(pipe(l.source), 0);
	l.f->opd.source.fd = l.source[0];
	assert_int_equal(
		opd_loop_init(&l.f->opd.loop, l.f->opd.source.fd, &diag), 0);
	assert_int_equal(opd_command_listen(&l.f->opd, &diag), 0);
	return l;
}

static void free_listener(struct listener *l)
{
	opd_control_close(&l->f->opd.control);
	l->f->opd.source.fd = -1;
	close(l->source[0]);
	close(l->source[1]);
	free_fixture(l->f);
}

/* A client that the daemon has accepted. */
static int new_client(struct listener *l)
{
	const struct live live = { .session = l->f->opd.session };
	int fd = open_socket(&live);

	opd_control_accept(&l->f->opd.control);
	return fd;
}

/* Where clients are, "x" for each. */
static void expect_places(const struct listener *l, const char *want)
{
	const struct opd_control *control = &l->f->opd.control;
	char text[OPD_MAX_CLIENTS + 1] = "";

	for (int i = 0; i < OPD_MAX_CLIENTS; i++)
		text[i] = control->clients[i].fd >= 0 ? 'x' : '.';
	assert_string_equal(text, want);
}

/* What the client @fd is sent until it is hung up on. */
static void expect_answer(int fd, const char *want)
{
	char text[8192];
	size_t len = 0;
	ssize_t got;

	while ((got = read(fd, text + len, sizeof(text) - 1 - len)) > 0)
		len += (size_t)got;
	text[len] = '\0';
	assert_string_equal(text, want);
	close(fd);
}

TEST(places_are_taken_in_turn)
{
	struct listener l = new_listener();
	int fds[2 * OPD_MAX_CLIENTS + 1];
	char byte;

	expect_places(&l, "................");
	/* Nobody came. */
	opd_control_accept(&l.f->opd.control);
	expect_places(&l, "................");
	fds[0] = new_client(&l);
	fds[1] = new_client(&l);
	fds[2] = new_client(&l);
	expect_places(&l, "xxx.............");
	close(fds[1]);
	opd_control_handle(&l.f->opd.control, 1);
	expect_places(&l, "x.x.............");
	fds[1] = new_client(&l);
	expect_places(&l, "xxx.............");
	for (int i = 3; i < OPD_MAX_CLIENTS; i++)
		fds[i] = new_client(&l);
	expect_places(&l, "xxxxxxxxxxxxxxxx");
	/* More make others go: the first, the second, ... and the first again.
	 */
	for (int i = 0; i <= OPD_MAX_CLIENTS; i++) {
		fds[OPD_MAX_CLIENTS + i] = new_client(&l);
		assert_int_equal(read(fds[i], &byte, 1), 0);
		expect_places(&l, "xxxxxxxxxxxxxxxx");
	}
	assert_int_equal(write(fds[2 * OPD_MAX_CLIENTS], "x\n", 2), 2);
	opd_control_handle(&l.f->opd.control, 0);
	expect_places(&l, ".xxxxxxxxxxxxxxx");
	opd_control_close(&l.f->opd.control);
	expect_places(&l, "................");
	for (size_t i = 0; i < sizeof(fds) / sizeof(fds[0]); i++)
		close(fds[i]);
	free_listener(&l);
}

/* A line may come in parts, and be as long as there is room. */
TEST(lines_of_clients)
{
	struct listener l = new_listener();
	char line[OP_CONTROL_LINE_MAX];
	int fd = new_client(&l);

	assert_int_equal(write(fd, "dan", 3), 3);
	opd_control_handle(&l.f->opd.control, 0);
	assert_int_equal(write(fd, "ce\nmore", 7), 7);
	opd_control_handle(&l.f->opd.control, 0);
	expect_places(&l, "................");
	expect_answer(fd, "error dance: no such command\n");
	/* The next client has nothing of that. */
	memset(line, 'x', sizeof(line));
	fd = new_client(&l);
	assert_int_equal(write(fd, line, sizeof(line) - 1), sizeof(line) - 1);
	opd_control_handle(&l.f->opd.control, 0);
	expect_places(&l, "x...............");
	assert_int_equal(write(fd, "\n", 1), 1);
	opd_control_handle(&l.f->opd.control, 0);
	assert_int_equal(read(fd, line, 9), 9);
	assert_memory_equal(line, "error xxx", 9);
	close(fd);
	fd = new_client(&l);
	memset(line, 'x', sizeof(line));
	assert_int_equal(write(fd, line, sizeof(line)), sizeof(line));
	opd_control_handle(&l.f->opd.control, 0);
	expect_answer(fd, "");
	/* What is not there any more. */
	opd_control_handle(&l.f->opd.control, 0);
	expect_places(&l, "................");
	free_listener(&l);
}

/* Who asks for the end stays connected until it has come. */
TEST(the_end_is_answered_last)
{
	const struct op_diag why = { "no space" }, none = { "" };
	struct listener l = new_listener();
	struct opd *opd = &l.f->opd;
	int fd, other;

	opd_control_report_packing(&opd->control, 5);
	opd_control_answer_shutdown(&opd->control, 0, NULL);
	fd = new_client(&l);
	assert_false(opd->loop.quit);
	assert_int_equal(write(fd, "shutdown\n", 9), 9);
	opd_control_handle(&opd->control, 0);
	assert_true(opd->loop.quit);
	assert_true(opd->control.shutdown_fd >= 0);
	expect_places(&l, "................");
	/* There is one who waits for it. */
	other = new_client(&l);
	assert_int_equal(write(other, "shutdown\n", 9), 9);
	opd_control_handle(&opd->control, 0);
	expect_answer(other, "error shutdown: no such command\n");
	opd_control_report_packing(&opd->control, UINT64_MAX);
	opd_control_answer_shutdown(&opd->control, 0, NULL);
	assert_int_equal(opd->control.shutdown_fd, -1);
	expect_answer(fd, " packing = 18446744073709551615\nok\n");
	for (int i = 0; i < 2; i++) {
		fd = new_client(&l);
		assert_int_equal(write(fd, "shutdown\n", 9), 9);
		opd_control_handle(&opd->control, 0);
		opd_control_answer_shutdown(&opd->control, -EIO,
					    i ? &why : &none);
		expect_answer(fd, i ? "error no space\n"
				    : "error Input/output error\n");
	}
	free_listener(&l);
}

TEST(nothing_is_open_at_first)
{
	struct opd_control *control = malloc(sizeof(*control));

	assert_non_null(control);
	memset(control, 0xff, sizeof(*control));
	opd_control_init(control, NULL, NULL);
	assert_int_equal(control->fd, -1);
	assert_int_equal(control->shutdown_fd, -1);
	assert_int_equal(control->oldest, 0);
	for (int i = 0; i < OPD_MAX_CLIENTS; i++) {
		assert_int_equal(control->clients[i].fd, -1);
		assert_int_equal(control->clients[i].len, 0);
	}
	free(control);
}

/* Where descriptors are short the loop says so, and keeps none. */
TEST(few_descriptors)
{
	struct fixture *f = new_replay();
	struct rlimit before, few;
	int source[2], err, nr_failed = 0;

	assert_int_equal(pipe(source), 0);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	do {
		unsigned int nr = count_fds();
		struct op_diag diag = { "" };

		f->opd.source.fd = source[0];
		few = before;
		/* The pipe has the highest numbers but these. */
		few.rlim_cur = (rlim_t)source[1] + 1 + nr_failed;
		assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
		err = opd_loop_init(&f->opd.loop, f->opd.source.fd, &diag);
		assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
		if (err) {
			assert_int_equal(err, -EMFILE);
			assert_string_equal(
				diag.text,
				"event loop: Too many open files; raise ulimit -n");
		}
		nr_failed += err != 0;
		opd_loop_release(&f->opd.loop);
		assert_int_equal(count_fds(), nr);
	} while (err);
	assert_int_equal(nr_failed, 3);
	f->opd.source.fd = -1;
	close(source[0]);
	close(source[1]);
	free_fixture(f);
}

BEFORE_TESTS()
{
	signal(SIGPIPE, SIG_IGN);
}
