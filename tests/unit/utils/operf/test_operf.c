// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Those parts of operf whose results depend on the machine or the user: which
 * events are chosen, how a program is found, what is said about a session
 * without samples.
 */

#include "tests/unit/events_fixture.h"

#include "utils/command.c"
#include "utils/event_list.c"
#include "utils/event_machine.c"
#include "utils/operf/operf_cgroup.c"
#include "utils/operf/operf_events.c"
#include "utils/operf/operf_progress.c"
#include "utils/operf/operf_report.c"

static char note[4096]; /* the last one */

void say_note(const char *program, const char *fmt, ...)
{
	va_list ap;

	assert_string_equal(program, "operf");
	va_start(ap, fmt);
	vsnprintf(note, sizeof(note), fmt, ap);
	va_end(ap);
}

/* ---- events -------------------------------------------------------------- */

static const struct operf_rights root = {
	.can_sample_cpu = true,
	.may_sample_kernel = true,
};
static const struct operf_rights user = { .can_sample_cpu = true };
static const struct operf_rights stacks = {
	.can_sample_cpu = true,
	.may_sample_kernel = true,
	.stacks = true,
};
static const struct operf_rights virtual = { .may_sample_kernel = true };

/* A machine whose CPU is, or is not, that of load_sample(). */
static void make_machine(struct event_machine *machine, bool is_known)
{
	assert_int_equal(event_machine_init(machine), 0);
	machine->cpu = is_known ? load_sample() : NULL;
	machine->cpu_err = is_known ? 0 : -ENODEV;
}

/* The daemon's text for @list, "clock" for the CPU clock. */
static void chooses(bool is_known, const char *list, bool clock,
		    const struct operf_rights *rights, const char *wanted,
		    bool no_counter, bool user_only)
{
	struct op_diag diag = { "" };
	struct event_machine machine;
	struct operf_events events;

	make_machine(&machine, is_known);
	assert_int_equal(operf_events_init(&events, &machine, list, clock,
					   false, false, rights, &diag),
			 0);
	assert_string_equal(events.text ? events.text : "clock", wanted);
	assert_int_equal(events.no_counter, no_counter);
	assert_int_equal(events.user_only, user_only);
	operf_events_release(&events);
	event_machine_release(&machine);
}

FOLDER_TEST(default_events)
{
	const char *cycles = "CYCLES:118:0:1000:0:1:1:0x76";

	chooses(true, NULL, false, &root, cycles, false, false);
	chooses(true, "default", false, &root, cycles, false, false);
	/* Its smallest count is 1000. */
	chooses(true, NULL, false, &stacks, "CYCLES:118:0:15000:0:1:1:0x76",
		false, false);
	chooses(true, "CYCLES:1000", false, &stacks, cycles, false, false);
	chooses(true, NULL, false, &user, "CYCLES:118:0:1000:0:0:1:0x76", false,
		true);
	chooses(false, NULL, false, &root, "cycles:0:0:1000000:0:1:1:0x0",
		false, false);
	chooses(false, NULL, false, &user, "cycles:0:0:1000000:0:0:1:0x0",
		false, true);
	for (int i = 0; i < 2; i++) {
		chooses(i, NULL, false, &virtual, "clock", true, false);
		chooses(i, NULL, true, &root, "clock", false, false);
		chooses(i, NULL, true, &user, "clock", false, true);
		chooses(i, NULL, true, &virtual, "clock", false, false);
	}
}

FOLDER_TEST(given_events)
{
	chooses(false, "page-faults:5", false, &virtual,
		"page-faults:2:0:5:0:1:1:0x2", false, false);
	chooses(false, "cpu-cycles:0x1000:0x0:0:1", false, &user,
		"cycles:0:0:4096:0:0:1:0x0", false, false);
	chooses(false, "cycles:900::1:1", false, &user,
		"cycles:0:0:900:0:0:1:0x0", false, true);
	chooses(true, "faults:1:0:1:0,ISSUE:6:stalls,cs:2:0:0", false, &root,
		"page-faults:2:0:1:0:1:0:0x2,"
		"ISSUE:270:1:6:1:1:1:0x10180010e,"
		"context-switches:3:2:2:0:0:1:0x3",
		false, false);
	/* the rights to the kernel are missed by one of two */
	chooses(true, "MISSES:500:0x3:0,cs:2", false, &user,
		"MISSES:65:0:500:3:0:1:0x341,context-switches:3:1:2:0:0:1:0x3",
		false, true);
}

FOLDER_TEST(elapsed_time_has_a_counter_of_its_own)
{
	struct op_diag diag = { "" };
	struct event_machine machine;
	struct operf_events events;

	make_machine(&machine, true);
	machine.has_waits = true;
	assert_int_equal(operf_events_init(&events, &machine, NULL, true, true,
					   true, &user, &diag),
			 0);
	assert_non_null(strstr(events.text, ",CPU_LATENCY:0:2:1000000:0:0:1"));
	operf_events_release(&events);
	event_machine_release(&machine);
}

static void refuses(bool is_known, const char *list, int wanted,
		    const char *reason)
{
	struct op_diag diag = { "" };
	struct event_machine machine;
	struct operf_events events;

	make_machine(&machine, is_known);
	assert_int_equal(operf_events_init(&events, &machine, list, false,
					   false, false, &user, &diag),
			 wanted);
	assert_reason(&diag, reason);
	operf_events_release(&events);
	event_machine_release(&machine);
}

FOLDER_TEST(refuses_what_cannot_be_sampled)
{
	refuses(false, "cycles:900:0:1:0", -EACCES,
		"cycles: kernel code only, which you may not sample");
	refuses(true, "CYCLES:900:0:1:0", -EINVAL, "below the minimum");
	refuses(true, "IBS_FETCH:64", -EINVAL, "but by ibs_fetch");
	refuses(true, "FOO:1", -EINVAL,
		"FOO: " CPU " has no event of this name");
	refuses(false, "CYCLES:1000", -EINVAL,
		"events of this CPU are unknown");
}

/* ---- finding a program --------------------------------------------------- */

static void make_program(const char *path, unsigned int mode)
{
	write_text(path, "#!/bin/sh\n");
	assert_int_equal(chmod(path, mode), 0);
}

static int find(const char *name, const char *list, char *path)
{
	char *argv[] = { (char *)name, NULL };
	struct command command;
	struct op_diag diag = { "" };
	int err;

	if (list)
		setenv("PATH", list, 1);
	else
		unsetenv("PATH");
	command_init(&command, argv);
	err = command_find(&command, &diag);
	strcpy(path, command.path);
	assert_int_equal(!err, !diag.text[0]);
	return err;
}

FOLDER_TEST(searches_path)
{
	char path[PATH_MAX];

	assert_int_equal(mkdir("a", 0755) || mkdir("b", 0755) ||
				 mkdir("c", 0755) || mkdir("c/prog", 0755),
			 0);
	make_program("a/prog", 0644);
	make_program("b/prog", 0755);
	make_program("here", 0755);
	assert_int_equal(find("prog", "nowhere:c:a:b", path), 0);
	assert_string_equal(path, "b/prog");
	assert_int_equal(find("prog", "nowhere:c", path), -ENOENT);
	assert_int_equal(find("prog", "a:nowhere", path), -EACCES);
	assert_int_equal(find("prog", "", path), -ENOENT);
	assert_int_equal(find("here", "", path), 0);
	assert_string_equal(path, "./here");
	assert_int_equal(find("here", "a:", path), 0);
	assert_int_equal(find("here", "a::b", path), 0);
	assert_int_equal(find("here", "a:b", path), -ENOENT);
	assert_int_equal(find("sh", NULL, path), 0);
	assert_string_equal(path, "/bin/sh");
}

FOLDER_TEST(takes_paths_as_they_are)
{
	char path[PATH_MAX], *name = malloc(PATH_MAX + 2);

	assert_non_null(name);
	make_program("prog", 0755);
	assert_int_equal(find("./prog", "/nowhere", path), 0);
	assert_int_equal(find("./prog/x", "/nowhere", path), -ENOENT);
	assert_int_equal(find("./no", "/nowhere", path), -ENOENT);
	assert_int_equal(find("/", "/nowhere", path), -EISDIR);
	assert_int_equal(find("/dev/null", "/nowhere", path), -EACCES);
	assert_int_equal(find("", "/bin", path), -ENOENT);
	memset(name, 'x', PATH_MAX + 1);
	name[PATH_MAX + 1] = '\0';
	assert_int_equal(find(name, "/bin", path), -ENOENT);
	name[0] = '/';
	assert_int_equal(find(name, "/bin", path), -ENAMETOOLONG);
	free(name);
}

/* ---- reports ------------------------------------------------------------- */

static struct operf *new_operf(void)
{
	struct operf *operf = calloc(1, sizeof(*operf));

	assert_non_null(operf);
	operf->folder.is_default = true;
	strcpy(operf->session.dir, "/s");
	strcpy(operf->session.log, "/s/log");
	return operf;
}

FOLDER_TEST(tells_why_there_is_nothing)
{
	static char *argv[] = { "prog", NULL };
	struct operf *operf = new_operf();

	note_nothing_taken(operf);
	assert_non_null(strstr(note, "used no CPU time"));
	operf->events.user_only = true;
	note_nothing_taken(operf);
	assert_non_null(strstr(note, "no user code ran"));

	operf->options.command = argv;
	operf->command.usage.ru_stime.tv_usec = 1500;
	note_nothing_taken(operf);
	assert_non_null(strstr(note, "used 1.5 ms of CPU time, a sample is "
				     "taken every 1.0 ms"));
	operf->command.usage.ru_utime.tv_sec = 1;
	note_nothing_taken(operf);
	assert_non_null(strstr(note, "no process of the command used 1.0 ms of "
				     "CPU time itself in user code"));

	make_program("prog", 04755);
	strcpy(operf->command.path, "prog");
	note_nothing_taken(operf);
	assert_non_null(strstr(note, "other rights than yours"));
	operf->events.user_only = false;
	operf->command.path[0] = '\0';
	note_nothing_taken(operf);
	assert_non_null(strstr(note, "no process of the command used 1.0 ms of "
				     "CPU time itself; give a higher --rate"));
	operf->events.text = "x";
	operf->folder.room.moved_current = true;
	note_nothing_taken(operf);
	assert_non_null(strstr(note, "smaller count"));
	assert_non_null(strstr(note, "session:previous"));
	free(operf);
}

/* The command used a second, as wait4(2) told. */
static bool tells_of_unseen(struct operf *operf, uint64_t taken)
{
	const struct op_ledger ledger = { .taken = taken };

	note[0] = '\0';
	note_unseen(operf, &ledger);
	return note[0];
}

TEST(tells_of_time_without_samples)
{
	static char *argv[] = { "prog", NULL };
	struct operf *operf = new_operf();

	operf->command.usage.ru_utime.tv_sec = 1;
	assert_false(tells_of_unseen(operf, 1));
	operf->options.command = argv;
	assert_true(tells_of_unseen(operf, 1));
	assert_true(tells_of_unseen(operf, 873));
	assert_non_null(strstr(note, "samples stand for 0.87 of the 1.00 s"));
	/* Of a thousand so many may be missing by chance, */
	assert_false(tells_of_unseen(operf, 874));
	/* of ten thousand a tenth. */
	operf->options.rate = 10000;
	assert_false(tells_of_unseen(operf, 9000));
	assert_true(tells_of_unseen(operf, 8999));
	assert_true(tells_of_unseen(operf, 801));
	assert_non_null(strstr(note, "it has used 0.1 ms itself"));
	/* Too few to say. */
	operf->options.rate = 19;
	assert_false(tells_of_unseen(operf, 1));
	operf->options.rate = 0;
	operf->events.user_only = true;
	assert_true(tells_of_unseen(operf, 250));
	assert_non_null(strstr(note,
			       "75 % are not seen: you may not sample the "
			       "kernel, and a process"));
	operf->events.user_only = false;
	assert_true(tells_of_unseen(operf, 250));
	assert_non_null(strstr(note, "75 % are not seen: a process is not"));
	operf->samples_cpus = true;
	assert_true(tells_of_unseen(operf, 250));
	assert_non_null(
		strstr(note, "a virtual machine waits for a real CPU; "));
	operf->filters = true;
	assert_true(tells_of_unseen(operf, 250));
	assert_non_null(
		strstr(note, "real CPU, or in BPF programs that trace"));
	strcpy(operf->cgroup.parent, "/sys/fs/cgroup");
	assert_true(tells_of_unseen(operf, 250));
	assert_non_null(strstr(note, "moved to another cgroup"));
	operf->cgroup.parent[0] = '\0';
	operf->samples_cpus = operf->filters = false;
	operf->events.text = "x";
	assert_false(tells_of_unseen(operf, 1));
	free(operf);
}

TEST(tells_how_far_it_is)
{
	char line[128];

	operf_progress_text(line, sizeof(line), "", 0);
	assert_string_equal(line, "0 s, 0 samples, 0 lost");
	operf_progress_text(line, sizeof(line),
			    "pid = 7\ntaken = 12\nstored = 5\nlost.a = 3\n"
			    "lost.b = 4\nstacks.whole = 9",
			    61);
	assert_string_equal(line, "61 s, 12 samples, 7 lost");
	operf_progress_text(line, sizeof(line),
			    "taken\nlost.x\ntaken = y\n\nlost.z = "
			    "18446744073709551616\nlost.a = 1",
			    1);
	assert_string_equal(line, "1 s, 0 samples, 1 lost");
}

TEST(tells_how_to_see_it)
{
	struct operf *operf = new_operf();
	char buf[256];

#define SHOWS(text)                                                            \
	do {                                                                   \
		report_command(operf, buf, sizeof(buf));                       \
		assert_string_equal(buf, text);                                \
	} while (0)
	operf->options.separate_cpu = true;
	SHOWS("opreport -l");
	operf->options.separate_thread = true;
	SHOWS("opreport -l");
	operf->events.text = "a,b";
	SHOWS("opreport -l --merge=cpu");
	operf->options.separate_cpu = false;
	SHOWS("opreport -l");
	operf->options.separate_thread = false;
	operf->folder.is_default = false;
	SHOWS("opreport -l --session-dir=/s");
	strcpy(operf->session.dir, "/s;s");
	SHOWS("opreport -l '--session-dir=/s;s'");
	strcpy(operf->session.dir, "/'s");
	SHOWS("opreport -l with this --session-dir");
	free(operf);
}

TEST(subtracts_accounts)
{
	struct op_ledger now = { .taken = 10, .stored = 7 };
	struct op_ledger before = { .taken = 4, .stored = 8 };

	op_ledger_lose(&now, "x", 3);
	op_ledger_lose(&now, "y", 2);
	op_ledger_lose(&before, "y", 1);
	op_ledger_lose(&before, "z", 1);
	subtract_ledger(&now, &before);
	assert_int_equal(now.taken, 6);
	assert_int_equal(now.stored, 0);
	assert_int_equal(now.causes[0].nr, 3);
	assert_int_equal(now.causes[1].nr, 1);
	assert_int_equal(now.nr_causes, 2);
}

FOLDER_TEST(removes_cgroups_of_killed)
{
	pid_t gone = fork();
	struct {
		char name[32];
		bool stays;
	} folders[] = { { .stays = false },  { .stays = true },
			{ "operf-", true },  { "operf-x", true },
			{ "operf-0", true }, { "operf-9999999999", true },
			{ "other", true } };

	if (!gone)
		_exit(0);
	assert_int_equal(waitpid(gone, NULL, 0), gone);
	sprintf(folders[0].name, "operf-%d", (int)gone);
	sprintf(folders[1].name, "operf-%d", (int)getpid());
	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++)
		assert_int_equal(mkdir(folders[i].name, 0755), 0);
	remove_left_cgroups(".");
	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++)
		if (!access(folders[i].name, F_OK) != folders[i].stays)
			fail_msg("%s", folders[i].name);
	remove_left_cgroups("no such folder");
}
