// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Who is let in by the daemon for ordinary users, and what a child sends. What
 * the kernel says of users and children is played (user_samples_play.h). Rows
 * are what happens, one after the other:
 *
 *	policy LINE	one more line of the policy; "no-policy" removes it
 *	read-as USER	read the policy that the options name none for
 *	read, again, open, close	what the daemon does
 *	wait SECONDS	time passes
 *	come UID [GID [GROUP...]]	a client connects and is let in or not
 *	answer PID	a child is made for who was let in
 *	child		the same, and this program is the child
 *	ended PID	a child ends
 *	fails WHAT	a system call does
 *	samples SEPARATE WORD...	what is sent; "no-samples": none
 *	stale		there is a file in the place of the socket
 *	crowd FIRST LAST	users come and are answered, one by one
 *	state		print what is known
 */

#include <inttypes.h>
#include <sys/un.h>

#include "user_samples_play.h"
#include "tests/unit/rows.h"

/* ---- rows -------------------------------------------------------------------
 */

static void add_policy(const char *line)
{
	FILE *file = fopen("policy", "a");

	assert_non_null(file);
	fprintf(file, "%s\n", line);
	fclose(file);
	assert_int_equal(chmod("policy", 0644), 0);
}

/* Lines of the log without their times, which are emptied. */
static void print_log(void)
{
	FILE *file = fopen("log", "r");
	char line[4096];

	assert_non_null(file);
	while (fgets(line, sizeof(line), file)) {
		assert_true(strlen(line) > 20);
		fputs(line + 20, play.out);
	}
	fclose(file);
	assert_int_equal(truncate("log", 0), 0);
}

static void read_played_policy(void)
{
	struct op_diag diag = { "" };

	if (opd_user_samples_read_policy(&play.samples, &diag))
		fprintf(play.out, "%s\n", diag.text);
}

static void open_played(void)
{
	const char *path = play.session.mine;
	struct op_diag diag = { "" };
	struct stat st;
	int err = opd_user_samples_open(&play.samples, &diag);

	if (err)
		fprintf(play.out, "%s: %s\n", strerrorname_np(-err),
			diag.text + strlen(play.session.run) + 1);
	if (play.samples.fd < 0) {
		fprintf(play.out, "nothing listens%s\n",
			access(path, F_OK) ? "" : ", and something is there");
		return;
	}
	assert_true(fcntl(play.samples.fd, F_GETFL) & O_NONBLOCK);
	assert_true(fcntl(play.samples.fd, F_GETFD) & FD_CLOEXEC);
	assert_int_equal(stat(path, &st), 0);
	fprintf(play.out, "listens, %o\n", (unsigned int)st.st_mode & 07777);
}

static void connect_client(void)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };

	if (play.client >= 0)
		close(play.client);
	assert_true(strlen(play.session.mine) < sizeof(at.sun_path));
	strcpy(at.sun_path, play.session.mine);
	play.client = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_true(play.client >= 0);
	assert_int_equal(
		connect(play.client, (struct sockaddr *)&at, sizeof(at)), 0);
}

/* Print the text that came, and the words behind its last line. */
static void print_answer(void)
{
	char text[4096], *end = text;
	uint64_t word;
	size_t len = 0;
	ssize_t got;

	while ((got = read(play.client, text + len, sizeof(text) - 1 - len)) >
	       0)
		len += (size_t)got;
	assert_int_equal(got, 0);
	text[len] = '\0';
	while (strchr(end, '\n') && (end == text || end[-1] != '\n' ||
				     strncmp(end - 3, "ok\n", 3) != 0))
		end = strchr(end, '\n') + 1;
	fprintf(play.out, "%.*s", (int)(end - text), text);
	for (; (size_t)(text + len - end) >= sizeof(word);
	     end += sizeof(word)) {
		memcpy(&word, end, sizeof(word));
		fprintf(play.out, "0x%" PRIx64 " ", word);
	}
	fprintf(play.out, "and %d bytes\n", (int)(text + len - end));
}

/* @who: the user, the group and further groups. */
static void come(const char *who)
{
	struct opd_user_samples *mine = &play.samples;
	char *rest;

	play.peer.uid = play.peer.gid = (uid_t)strtoul(who, &rest, 0);
	if (*rest)
		play.peer.gid = (gid_t)strtoul(rest, &rest, 0);
	if (play.nr_groups != NO_GROUPS)
		for (play.nr_groups = 0; *rest; play.nr_groups++)
			play.groups[play.nr_groups] =
				(gid_t)strtoul(rest, &rest, 0);
	connect_client();
	if (!opd_user_samples_accept(mine)) {
		assert_int_equal(mine->client, -1);
		assert_null(mine->next);
		fprintf(play.out, "%u: ", play.peer.uid);
		print_answer();
		return;
	}
	assert_true(fcntl(mine->client, F_GETFL) & O_NONBLOCK);
	assert_true(fcntl(mine->client, F_GETFD) & FD_CLOEXEC);
	assert_int_equal(mine->next_user, play.peer.uid);
	fprintf(play.out, "%u: place %d\n", play.peer.uid,
		(int)(mine->next - mine->users));
}

static void answer_by(pid_t pid)
{
	assert_non_null(play.samples.next);
	play.forks = pid;
	opd_user_samples_answer(&play.samples, "timer");
	assert_int_equal(play.samples.client, -1);
	assert_null(play.samples.next);
}

static void end_child(pid_t pid)
{
	play.ended = pid;
	opd_user_samples_reap(&play.samples);
	play.ended = 0;
}

/* @users: the first and the last. */
static void let_crowd_come(const char *users)
{
	FILE *out = play.out;
	char *rest, user[16];
	unsigned long first = strtoul(users, &rest, 0);
	unsigned long last = strtoul(rest, NULL, 0);

	play.out = fopen("/dev/null", "w");
	assert_non_null(play.out);
	for (; first <= last; first++) {
		snprintf(user, sizeof(user), "%lu", first);
		come(user);
		answer_by(77);
		end_child(77);
	}
	fclose(play.out);
	play.out = out;
}

/* @text: one digit for each thing that is kept apart, and words. */
static void set_samples(const char *text)
{
	struct opd_user_stream_separate *by = &play.separate;
	char *rest;

	assert_true(strlen(text) >= 5);
	by->lib = text[0] == '1';
	by->kernel = text[1] == '1';
	by->thread = text[2] == '1';
	by->cpu = text[3] == '1';
	by->cgroup = text[4] == '1';
	for (rest = (char *)text + 5; *rest; play.nr_words++)
		play.words[play.nr_words] = strtoull(rest, &rest, 0);
}

static void print_state(void)
{
	const struct opd_user_samples *mine = &play.samples;

	fprintf(play.out, "%s, %u children, users %s\n",
		opd_user_samples_text(mine), mine->nr_children,
		play.options.separate_user ? "apart" : "together");
	for (int i = 0; i < OPD_USER_SAMPLES_USERS; i++)
		if (mine->users[i].child)
			fprintf(play.out, "%d answers %u since %ld\n",
				mine->users[i].child, mine->users[i].user,
				(long)mine->users[i].since - 1000);
	print_log();
}

static void let_fail(const char *what)
{
	if (!strcmp(what, "peer"))
		play.peer_fails = true;
	else if (!strcmp(what, "groups"))
		play.nr_groups = NO_GROUPS;
	else
		play.nr_sends = atoi(what);
}

static void play_child(void)
{
	signal(SIGALRM, SIG_IGN);
	answer_by(0);
	signal(SIGALRM, SIG_DFL);
	print_answer();
}

static void play_line(const char *line)
{
	char word[32];
	const char *arg;
	size_t len = strcspn(line, " ");

	assert_true(len < sizeof(word));
	snprintf(word, sizeof(word), "%.*s", (int)len, line);
	arg = line + len + (line[len] == ' ');
#define IS(text) (!strcmp(word, text))
	if (IS("policy")) {
		add_policy(arg);
	} else if (IS("no-policy")) {
		unlink("policy");
	} else if (IS("read-as")) {
		play.options.policy = NULL;
		play.has_daemon = true;
		play.daemon_is = (uid_t)strtoul(arg, NULL, 0);
		read_played_policy();
	} else if (IS("read")) {
		read_played_policy();
	} else if (IS("again")) {
		opd_user_samples_read_policy_again(&play.samples);
	} else if (IS("open")) {
		open_played();
	} else if (IS("close")) {
		opd_user_samples_close(&play.samples);
		assert_int_equal(play.samples.fd, -1);
		assert_int_equal(access(play.session.mine, F_OK), -1);
	} else if (IS("wait")) {
		play.seconds += atoi(arg);
	} else if (IS("come")) {
		come(arg);
	} else if (IS("answer")) {
		answer_by(atoi(arg));
	} else if (IS("child")) {
		play_child();
	} else if (IS("ended")) {
		end_child(atoi(arg));
	} else if (IS("fails")) {
		let_fail(arg);
	} else if (IS("samples")) {
		set_samples(arg);
	} else if (IS("no-samples")) {
		play.no_stream = -ENODATA;
	} else if (IS("stale")) {
		close(creat(play.session.mine, 0600));
	} else if (IS("crowd")) {
		let_crowd_come(arg);
	} else if (IS("state")) {
		print_state();
	} else {
		fail_msg("%s", line);
	}
#undef IS
}

#define NOT_LET(user)                                                          \
	user ": error the policy of this machine does not let user " user      \
	     " have samples of their own; ask root for a line in policy\n"     \
	     "and 0 bytes\n"
#define ALL "policy mine = all; read; open;"
#define LISTENS "listens, 666\n"
#define FOUR                                                                   \
	"come 1; answer 101; come 2; answer 102; come 3; answer 103;"          \
	"come 4; answer 104;"

static const struct row rows[] = {
	/* ---- the policy ---- */
	{ "nobody_at_first", NULL, "state; open; state", EXPECTED_ROW },
	{ "none", NULL, "policy mine = none; read; state; open", EXPECTED_ROW },
	{ "all", NULL, ALL "state", LISTENS "all, 0 children, users apart\n" },
	{ "a_group", NULL, "policy mine = group:7; read; state",
	  "group, 0 children, users apart\n" },
	{ "some_users", NULL, "policy mine = users 7; read; state",
	  "users, 0 children, users apart\n" },
	{ "a_named_policy_must_be_there", NULL, "read; state", EXPECTED_ROW },
	{ "a_policy_that_makes_no_sense", NULL,
	  "policy mine = some; read; state", EXPECTED_ROW },
	{ "the_machines_policy", NULL, "policy mine = all; read-as 0; state",
	  "all, 0 children, users apart\n" },
	{ "a_machine_without_policy", NULL, "read-as 0; state",
	  "none, 0 children, users together\n" },
	{ "the_machines_policy_that_makes_no_sense", NULL,
	  "policy kernel = maybe; read-as 0; state", EXPECTED_ROW },
	{ "which_an_ordinary_user_has_not", NULL,
	  "policy mine = all; read-as 1000; state",
	  "none, 0 children, users together\n" },
	/* How samples are kept apart stays what it was. */
	{ "a_policy_that_lets_too_late", NULL,
	  "policy mine = none; read; open; no-policy; policy mine = all;"
	  "again; state",
	  EXPECTED_ROW },
	{ "a_policy_that_still_lets", NULL, ALL "again; state",
	  LISTENS "all, 0 children, users apart\n" },
	{ "a_policy_that_lets_no_more", NULL,
	  ALL "no-policy; policy mine = none; again; state; come 1",
	  LISTENS "none, 0 children, users apart\n" NOT_LET("1") },
	{ "a_policy_that_is_gone", NULL, ALL "no-policy; again; state; come 1",
	  EXPECTED_ROW },
	{ "a_policy_of_nobody_read_again", NULL,
	  "policy mine = none; read; again; state",
	  "none, 0 children, users together\n" },
	/* ---- the socket ---- */
	{ "what_a_killed_daemon_left", NULL,
	  "stale; policy mine = none; read; open", "nothing listens\n" },
	{ "what_is_in_the_way", NULL, "stale;" ALL, EXPECTED_ROW },
	{ "closed", NULL, ALL "close; state; close; state; read; open",
	  EXPECTED_ROW },
	{ "closed_with_its_children", NULL, ALL FOUR "ended 102; close; state",
	  EXPECTED_ROW },
	/* ---- who may ---- */
	{ "users_may", NULL,
	  "policy mine = users 7,8; read; open; come 7; answer 100; come 9;"
	  "come 8; answer 101; ended 100; ended 101",
	  LISTENS "7: place 0\n" NOT_LET("9") "8: place 1\n" },
	{ "members_may", NULL,
	  "policy mine = group:7; read; open; come 1 7; answer 100; come 2 6;"
	  "come 3 6 7; answer 101; ended 100; ended 101; come 4 5 6 7;"
	  "answer 101; come 5 7 6 5; answer 102; come 6 5 6 8; ended 101;"
	  "ended 102",
	  EXPECTED_ROW },
	{ "members_of_group_0_may", NULL,
	  "policy mine = group:0; read; open; come 1 5; come 1 5 6; come 1 5 0;"
	  "answer 100; fails groups; come 2 5; come 2 0; answer 101;"
	  "ended 100; ended 101",
	  EXPECTED_ROW },
	{ "groups_that_are_not_told", NULL,
	  "policy mine = group:7; read; open; fails groups; come 1 7;"
	  "answer 100; come 2 6; ended 100",
	  LISTENS "1: place 0\n" NOT_LET("2") },
	{ "users_that_are_not_told", NULL, ALL "fails peer; come 1",
	  LISTENS "1: error Protocol not available\nand 0 bytes\n" },
	/* ---- how often ---- */
	{ "not_at_once_again", NULL,
	  ALL "come 1; answer 100; ended 100; come 1; wait 1; come 1;"
	      "come 2; answer 101; wait 1; come 1; answer 102; ended 101;"
	      "come 2; state; ended 102",
	  EXPECTED_ROW },
	{ "not_while_a_child_answers", NULL,
	  ALL "come 1; answer 100; wait 60; come 1; ended 99; come 1;"
	      "ended 100; come 1; answer 101; ended 101",
	  EXPECTED_ROW },
	/* Who was let in and got no child has had nothing. */
	{ "a_child_that_cannot_be", NULL,
	  ALL "come 1; answer -1; state; come 1; answer 100; ended 100; state",
	  EXPECTED_ROW },
	{ "four_at_a_time", NULL,
	  ALL FOUR "come 5; state; ended 103; come 5; answer 105; come 6;"
		   "state; ended 101; ended 102; ended 104; ended 105; state",
	  EXPECTED_ROW },
	/* The place of who came longest ago is taken. */
	{ "users_without_end", NULL,
	  ALL
	  "crowd 1 64; wait 10; crowd 1 4; crowd 6 64; come 6; come 100;"
	  "answer 99; ended 99; wait 1; come 5; answer 99; ended 99; come 1;"
	  "answer 99; ended 99; come 3; come 200; answer 99; ended 99;"
	  "come 100",
	  EXPECTED_ROW },
	/* The first place is of a user who is still being answered. */
	{ "no_place_of_who_is_answered", NULL,
	  ALL "come 1; answer 100; wait 1; crowd 2 64; come 65; answer 101;"
	      "ended 100; ended 101",
	  EXPECTED_ROW },
	/* ---- what a child does ---- */
	{ "nothing_kept_apart", NULL, ALL "samples 00000; come 7; child; state",
	  EXPECTED_ROW },
	{ "all_kept_apart", NULL,
	  "policy mine = all; policy kernel = yes; read; open;"
	  "samples 11111 0x5 0x123456789; come 8; child",
	  EXPECTED_ROW },
	{ "in_pieces", NULL,
	  ALL "samples 10101 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20"
	      " 21 22 23 24 25 26; come 7; child",
	  EXPECTED_ROW },
	{ "a_client_that_goes", NULL,
	  ALL "samples 01010 1 2 3; fails 1; come 7; child", EXPECTED_ROW },
	{ "a_client_that_is_gone", NULL,
	  ALL "samples 00000 1 2 3; fails 0; come 7; child", EXPECTED_ROW },
	{ "no_samples", NULL, ALL "no-samples; come 7; child", EXPECTED_ROW },
};

static void run_played(const struct row *row, FILE *out)
{
	const char *at = row->script;
	unsigned int nr_fds;
	char line[512];

	nr_fds = count_fds();
	begin_play(out);
	while (next_line(&at, line, sizeof(line)))
		play_line(line);
	end_play();
	assert_int_equal(count_fds(), nr_fds);
}

TEST_ROWS(test_row, rows)
{
	check_row(*state, run_played);
}

/* Who connects and goes, or asks to be told twice, harms nobody. */
TEST(nobody_waits)
{
	char *text;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	begin_play(out);
	play_line("policy mine = users 7");
	play_line("read");
	play_line("open");
	play.peer.uid = 7;
	assert_false(opd_user_samples_accept(&play.samples));
	assert_int_equal(play.samples.client, -1);
	play.peer.uid = 8;
	connect_client();
	close(play.client);
	play.client = -1;
	/* The answer meets a socket that nobody reads. */
	assert_false(opd_user_samples_accept(&play.samples));
	assert_int_equal(play.samples.client, -1);
	assert_false(opd_user_samples_accept(&play.samples));
	end_play();
	fclose(out);
	free(text);
}
