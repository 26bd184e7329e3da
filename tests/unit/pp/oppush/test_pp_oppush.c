// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * oppush as a program, with a server that the test is: rows are command lines,
 * the server's answer, and what is printed and was sent.
 */

#include "tests/unit/pp/pp_program.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>

/* Each main() under a name of its own. */
#define main oppush_main
int main(int argc, char **argv);
#include "pp/oppush/oppush.c"
#undef main
#define main opreport_main
int main(int argc, char **argv);
#include "pp/opreport/opreport.c"
#undef main

static const struct program programs[] = {
	{ "oppush", oppush_main },
	{ "opreport", opreport_main },
	{ NULL, NULL },
};

/* ---- the server ---------------------------------------------------------- */

static char port[8];
static pid_t server;

/* Keep what of a request is text in the file "request". */
static void read_request(FILE *in)
{
	FILE *out = fopen("request", "w");
	char line[4096];
	size_t len = 0, body = 0;
	bool is_json = false;

	while (fgets(line, sizeof(line), in) && *line != '\r') {
		if (sscanf(line, "Content-Length: %zu", &body) == 1 ||
		    !strncmp(line, "User-Agent:", 11))
			continue;
		line[strcspn(line, "\r")] = '\0';
		fprintf(out, "> %s\n", line);
	}
	while (len < body && (line[0] = (char)fgetc(in), !feof(in))) {
		if (!len++)
			is_json = *line == '{';
		if (len == 1 && !is_json)
			fputs(*line == '\x1f' ? "> packed" : "> other", out);
		else if (is_json)
			fputc(line[0], out);
	}
	fputc('\n', out);
	fclose(out);
}

static void serve(int listening)
{
	for (;;) {
		int fd = accept(listening, NULL, NULL);
		FILE *stream = fdopen(fd, "r+");
		char answer[512];
		FILE *file;

		read_request(stream);
		file = fopen("answer", "r");
		answer[fread(answer, 1, sizeof(answer) - 1, file)] = '\0';
		fclose(file);
		fputs(answer, stream);
		fclose(stream);
	}
}

static int start_server(void **state)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET,
		.sin_addr = { htonl(INADDR_LOOPBACK) },
	};
	socklen_t len = sizeof(address);
	char path[256];
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (enter_folder(state) ||
	    bind(fd, (struct sockaddr *)&address, sizeof(address)) ||
	    listen(fd, 5) || getsockname(fd, (struct sockaddr *)&address, &len))
		return -1;
	snprintf(port, sizeof(port), "%u", ntohs(address.sin_port));
	fflush(NULL);
	server = fork();
	if (!server) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		serve(fd);
	}
	close(fd);
	link_program("opreport");
	snprintf(path, sizeof(path), "%s:/usr/bin:/bin", (char *)*state);
	return setenv("PATH", path, 1);
}

static int end_server(void **state)
{
	kill(server, SIGKILL);
	waitpid(server, NULL, 0);
	return leave_folder(state);
}

#define SERVER_TEST(name) TEST_WITH(name, start_server, end_server)

#define BASE64                                                                 \
	"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/="

/* Write @text with "PORT", "TIME", "NUMBER" and "BASE64" for what differs each
 * time: dates, and numbers of nine digits or more. */
static void write_stable(FILE *out, const char *text)
{
	static const char date[] = "0000-00-00 00:00:00";

	while (*text) {
		size_t digits = strspn(text, "0123456789"), i = 0;
		size_t base64 = strspn(text, BASE64);

		while (date[i] &&
		       (date[i] == '0' ? isdigit((unsigned char)text[i])
				       : text[i] == date[i]))
			i++;
		if (!date[i]) {
			fputs("TIME", out);
			text += i;
		} else if (base64 >= 100) {
			fputs("BASE64", out);
			text += base64;
		} else if (digits >= 9) {
			fputs("NUMBER", out);
			text += digits;
		} else if (digits == strlen(port) &&
			   !strncmp(text, port, digits)) {
			fputs("PORT", out);
			text += digits;
		} else {
			digits = digits ?: 1;
			fwrite(text, 1, digits, out);
			text += digits;
		}
	}
}

struct push_row {
	const char *line; /* with % for the address of the server */
	const char *answer; /* the server's, behind "HTTP/1.1 " */
	const char *wanted;
};

static void check_push(const struct push_row *row, const char *folder)
{
	char line[512];
	const char *mark = strchr(row->line, '%');
	struct text all, t;

	if (mark)
		snprintf(line, sizeof(line), "%.*s127.0.0.1:%s%s",
			 (int)(mark - row->line), row->line, port, mark + 1);
	else
		snprintf(line, sizeof(line), "%s", row->line);
	if (row->answer) {
		FILE *file = fopen("answer", "w");

		fprintf(file, "HTTP/1.1 %s", row->answer);
		fclose(file);
	}
	write_text("request", "");
	write_run(text_begin(&all), programs, line, folder);
	fputs(text_of("request"), all.out);
	fclose(all.out);
	write_stable(text_begin(&t), all.all);
	free(all.all);
	text_must_be(&t, row->line, row->wanted);
}

static void check_pushes(const struct push_row *rows, size_t nr,
			 const char *folder)
{
	for (size_t i = 0; i < nr; i++)
		check_push(&rows[i], folder);
}

#define GOOD "200 OK\r\nContent-Length: 0\r\n\r\n"
#define PUSH_TO(spool)                                                         \
	"oppush --once --spool=" spool " --session-dir=. -l host=h "
#define PUSH PUSH_TO("spool")

SERVER_TEST(profiles_are_sent)
{
	static const struct push_row rows[] = {
		{ "oppush --status --spool=spool", NULL,
		  EXPECTED_AS("oppush --status --spool=spool, 1") },
		{ PUSH "-u http://%", GOOD,
		  EXPECTED_AS(
			  "oppush --once --spool=spool --session-dir=. -l host=h -u http://%, 1") },
		{ PUSH "-u http://%", GOOD, "" },
		{ "oppush --status --spool=spool", NULL,
		  EXPECTED_AS("oppush --status --spool=spool, 2") },
	};
	static const struct push_row more[] = {
		{ PUSH "-u http://%/ -n a/b -l k=v.1 --tenant=t /bin/x", GOOD,
		  EXPECTED_ROW },
	};
	static const struct push_row parca[] = {
		{ PUSH "-s parca -u http://%/// --insecure -k token -l k=v",
		  GOOD, EXPECTED("s-parca-u-http-insecure-k-token-l-k-v") },
	};
	static const struct push_row labels[] = {
		{ PUSH "-s parca -u http://%/x/writeraw -l job=j -l __name__=n",
		  GOOD, EXPECTED("s-parca-u-http-x-writeraw-l-job-j-l-name") },
	};
	static const struct push_row busy[] = {
		{ PUSH "-u http://%/x/ingest",
		  "503 Busy\r\nRetry-After: 3600\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nbus\r\n6\r\ny\r\nnow\r\n0\r\n\r\n",
		  EXPECTED_ROW },
		{ "oppush --status --spool=spool", NULL,
		  EXPECTED_AS("oppush --status --spool=spool, 3") },
	};
	static const struct push_row refused[] = {
		{ PUSH_TO("refused") "-u http://%",
		  "400 Bad\r\nRetry-After: 2\r\nContent-Length: 0\r\n\r\n",
		  EXPECTED_ROW },
		{ "oppush --status --spool=refused", NULL, EXPECTED_ROW },
	};
	static const struct push_row told[] = {
		{ PUSH_TO("told") "-u http://% /bin/none", GOOD, EXPECTED_ROW },
		{ PUSH_TO("told") "-u http://% -k none --insecure", GOOD,
		  EXPECTED_ROW },
		{ PUSH_TO("told2") "-u http://% -k lines --insecure", GOOD,
		  EXPECTED_ROW },
		{ PUSH_TO("told3") "-u http://% { }", GOOD, EXPECTED_ROW },
	};
	static const struct push_row anew[] = {
		{ PUSH_TO("anew") "-u http://%", GOOD,
		  EXPECTED_AS(
			  "oppush --once --spool=spool --session-dir=. -l host=h -u http://%, 1") },
		{ PUSH_TO("anew") "-u http://%", GOOD,
		  EXPECTED_AS(
			  "oppush --once --spool=anew --session-dir=. -l host=h -u http://%, 1") },
	};

	write_session(one_event, NR(one_event));
	write_text("token", "secret\n");
	check_pushes(rows, NR(rows), *state);
	write_samples("current x x CYCLES 1000=3");
	check_pushes(more, NR(more), *state);
	write_samples("current x k CYCLES 110=4");
	check_pushes(parca, NR(parca), *state);
	write_samples("current x x CYCLES 1000=5");
	check_pushes(labels, NR(labels), *state);
	write_samples("current x x CYCLES 1000=6");
	check_pushes(busy, NR(busy), *state);
	check_pushes(refused, NR(refused), *state);
	write_text("lines", "two\nlines\n");
	check_pushes(told, NR(told), *state);
	check_pushes(anew, 1, *state);
	/* Another session in its place. */
	assert_int_equal(rename("samples/current", "samples/old"), 0);
	write_samples("current x x CYCLES 1000=9");
	check_pushes(anew + 1, 1, *state);
}

SERVER_TEST(mistakes_are_told)
{
#define URL "oppush --once --spool=s -u http://localhost "
	static const struct push_row rows[] = {
		{ "oppush", NULL, EXPECTED_ROW },
		{ "oppush --nonsense", NULL, EXPECTED_ROW },
		{ "oppush -u ftp://x", NULL, EXPECTED_ROW },
		{ "oppush -u http://a:b@x/", NULL, EXPECTED_ROW },
		{ "oppush -u http://x -k token", NULL, EXPECTED_ROW },
		{ URL "-s other", NULL, EXPECTED_ROW },
		{ URL "-n a_b-c.d/e,", NULL, EXPECTED_ROW },
		{ URL "-n=", NULL, EXPECTED_ROW },
		{ URL "--tenant={", NULL, EXPECTED_ROW },
		{ URL "-i 0", NULL, EXPECTED_ROW },
		{ URL "-i 86401", NULL, EXPECTED_ROW },
		{ URL "-i x", NULL, EXPECTED_ROW },
		{ URL "-m 0", NULL, EXPECTED_ROW },
		{ URL "-m 1048577", NULL, EXPECTED_ROW },
		{ URL "-t 0", NULL, EXPECTED_ROW },
		{ URL "-t 3601", NULL, EXPECTED_ROW },
		{ URL "-l a", NULL, EXPECTED_ROW },
		{ URL "-l 1a=b", NULL, EXPECTED_ROW },
		{ URL "-l =b", NULL, EXPECTED_ROW },
		{ URL "-l a-b=c", NULL, EXPECTED_ROW },
		{ URL "-l a=", NULL, EXPECTED_ROW },
		{ URL "-l a=b,c", NULL, EXPECTED_ROW },
		{ URL "-l a=b}", NULL, EXPECTED_ROW },
		{ URL "-l a=b\001", NULL, EXPECTED_ROW },
		{ URL "-l a=b\177", NULL, EXPECTED_ROW },
		{ URL "-l a=b -l a=c", NULL, EXPECTED_ROW },
		{ URL "--session-dir=none", NULL, EXPECTED_ROW },
		{ "oppush --once --spool=file/s -u http://localhost", NULL,
		  EXPECTED_ROW },
		{ "oppush --status --spool=s -m 1 -i 1 -t 1", NULL,
		  EXPECTED_ROW },
		{ "oppush --status --spool=s -m 1048576 -i 86400 -t 3600", NULL,
		  EXPECTED_ROW },
	};

	write_text("file", "");
	check_pushes(rows, NR(rows), *state);
}

/* ---- a run that goes on -------------------------------------------------- */

/* oppush as a process that goes on, whose messages can be awaited. */
struct lasting_push {
	pid_t pid;
	FILE *told;
};

static void start_push(struct lasting_push *push, const char *arguments)
{
	char line[256];
	int ends[2];

	snprintf(line, sizeof(line),
		 "oppush --session-dir=. -l host=h -u http://127.0.0.1:%s %s",
		 port, arguments);
	assert_int_equal(pipe(ends), 0);
	fflush(NULL);
	push->pid = fork();
	if (!push->pid) {
		struct command command;

		alarm(60); /* rather than for ever */
		dup2(ends[1], STDERR_FILENO);
		close(ends[0]);
		close(ends[1]);
		take_command(&command, programs, line);
		exit(run_command(&command));
	}
	close(ends[1]);
	push->told = fdopen(ends[0], "r");
	assert_non_null(push->told);
}

static void await_told(struct lasting_push *push, const char *wanted)
{
	char line[256];

	assert_non_null(fgets(line, sizeof(line), push->told));
	assert_string_equal(line, wanted);
}

/* Until it does nothing but wait. */
static void await_sleep(const struct lasting_push *push)
{
	char path[64], state = 0;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)push->pid);
	while (state != 'S') {
		FILE *file = fopen(path, "r");

		assert_non_null(file);
		assert_int_equal(fscanf(file, "%*d (%*[^)]) %c", &state), 1);
		fclose(file);
		sched_yield();
	}
}

/* It ends by itself, and says no more. */
static void end_push(struct lasting_push *push, int signal)
{
	int status;

	assert_int_equal(kill(push->pid, signal), 0);
	assert_int_equal(waitpid(push->pid, &status, 0), push->pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	assert_int_equal(fgetc(push->told), EOF);
	fclose(push->told);
}

SERVER_TEST(signals_end_it)
{
#define WAITS "; 1 profiles wait, the next attempt is in 3600 s (failure 1)\n"
	static const struct push_row waits[] = {
		{ "oppush --status --spool=spool", NULL,
		  EXPECTED_AS("oppush --status --spool=spool, 4") },
	};
	static const int endings[] = { SIGTERM, SIGINT };
	struct lasting_push push;

	write_session(one_event, NR(one_event));
	for (size_t i = 0; i < NR(endings); i++) {
		/* While it waits for the next profile. */
		assert_int_equal(system("rm -rf spool"), 0);
		write_text("answer",
			   "HTTP/1.1 503 Busy\r\nRetry-After: 3600\r\n"
			   "Content-Length: 0\r\n\r\n");
		start_push(&push, "-i 86400 -d spool");
		await_told(&push, "oppush: the server answers 503" WAITS);
		await_sleep(&push);
		end_push(&push, endings[i]);
		check_pushes(waits, NR(waits), *state);
	}
}

/* What is under way then is no failure, and is sent another time. */
SERVER_TEST(signals_end_requests)
{
	static const struct push_row waits[] = {
		{ "oppush --status --spool=spool", NULL,
		  EXPECTED_AS("oppush --status --spool=spool, 4") },
		{ PUSH "-u http://%", GOOD,
		  EXPECTED_AS(
			  "oppush --once --spool=spool --session-dir=. -l host=h -u http://%, 1") },
	};
	struct lasting_push push;
	int fd;

	write_session(one_event, NR(one_event));
	unlink("answer");
	assert_int_equal(mkfifo("answer", 0600), 0);
	start_push(&push, "-i 86400 -t 3600 -d spool");
	/* The server looks for its answer when it has the request. */
	fd = open("answer", O_WRONLY);
	assert_true(fd >= 0);
	end_push(&push, SIGTERM);
	close(fd);
	unlink("answer");
	check_pushes(waits, NR(waits), *state);
}

/* What a server says is told up to the end of its first line, or of the room
 * for it; it may say nothing at all. No other place is asked. */
SERVER_TEST(answers_are_told)
{
#define LONG "abcdefghi abcdefghi abcdefghi abcdefghi abcdefghi "
	static const struct {
		const char *answer, *told;
	} rows[] = {
		{ "500 No\r\nContent-Length: 9\r\n\r\none\ntwo\n\n",
		  "500: one" },
		{ "500 No\r\nContent-Length: 9\r\n\r\none\r\ntwo\n",
		  "500: one" },
		{ "500 No\r\nContent-Length: 5\r\n\r\na\033[2J", "500: a?[2J" },
		{ "500 No\r\nContent-Length: 200\r\n\r\n" LONG LONG LONG LONG,
		  "500: " LONG LONG LONG "abcdefghi" },
		{ "500 No\r\nContent-Length: 4\r\n\r\n\n\none", "500" },
		{ "301 Moved\r\nLocation: /x\r\nContent-Length: 0\r\n\r\n",
		  "301" },
		{ "404 None\r\nContent-Length: 0\r\n\r\n", "404" },
	};

	write_session(one_event, NR(one_event));
	for (size_t i = 0; i < NR(rows); i++) {
		char line[512];
		struct text t;

		assert_int_equal(system("rm -rf spool"), 0);
		snprintf(line, sizeof(line), "HTTP/1.1 %s", rows[i].answer);
		write_text("answer", line);
		snprintf(line, sizeof(line), PUSH "-u http://127.0.0.1:%s",
			 port);
		write_run(text_begin(&t), programs, line, *state);
		snprintf(line, sizeof(line),
			 "oppush: the server answers %s; 1 profiles wait, the "
			 "next attempt is in 1 s (failure 1)\n= 1\n",
			 rows[i].told);
		text_must_be(&t, rows[i].answer, line);
	}
}

/* Of certificates that cannot be read no server is trusted; libraries have each
 * their own words for the reason. */
SERVER_TEST(certificates_are_read)
{
	char line[256];
	struct text all;
	const char *told;

	write_session(one_event, NR(one_event));
	write_text("answer", "");
	write_text("request", "");
	snprintf(line, sizeof(line),
		 PUSH "-t 5 -u https://127.0.0.1:%s --ca-file=certificates",
		 port);
	write_run(text_begin(&all), programs, line, *state);
	fclose(all.out);
	told = find_text(all.all, "oppush: ", line);
	told = find_text(told, "certificates", line);
	find_text(told,
		  "; 1 profiles wait, the next attempt is in 1 s (failure "
		  "1)\n= 1\n",
		  line);
	free(all.all);
}

SERVER_TEST(other_runs_end_at_once)
{
	static const struct program_row rows[] = {
		{ .line = "oppush -v",
		  .wanted = "oppush: oprofile",
		  .to = " 2." },
		{ .line = "oppush --once --spool=lock -u http://x",
		  .wanted = EXPECTED_ROW },
	};

	mkdir("lock", 0755);
	mkdir("lock/lock", 0755);
	check_runs(programs, rows, NR(rows), *state);
}

BEFORE_TESTS()
{
	be_program(programs, argc, argv);
	set_program_environment();
}
