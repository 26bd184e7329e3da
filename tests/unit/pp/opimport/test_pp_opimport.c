// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * opimport as a program: each row is a file of another profiler, and what our
 * reports say of the session that it becomes, or why it is refused.
 */

/* What a row of a table does not name is zero. */
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

#include "tests/unit/pp/pp_faults.h"

#include <zlib.h>

#include "daemon/opd.h"
#include "daemon/opd_main.h"
#include "libop/files/op_folder.h"
#include "pp/opimport/opimport_profile.h"
#include "tests/helper/writers/classic_file.h"

/* Each main() under a name of its own. */
#define main opimport_main
int main(int argc, char **argv);
#include "pp/opimport/opimport.c"
#undef main
#undef EXIT_USAGE
#define main opreport_main
int main(int argc, char **argv);
#include "pp/opreport/opreport.c"
#undef main

static int oprofiled_main(int argc, char **argv)
{
	static struct opd opd;

	return opd_main(&opd, argc, (const char **)argv);
}

static const struct program programs[] = {
	{ "opimport", opimport_main },
	{ "opreport", opreport_main },
	{ "oprofiled", oprofiled_main },
	{ NULL, NULL },
};

static int enter_import_folder(void **state)
{
	if (enter_folder(state))
		return -1;
	link_program("oprofiled");
	return setenv("PATH", *state, 1);
}

#define IMPORT_TEST(name) TEST_WITH(name, enter_import_folder, leave_folder)

/* A text, and the runs that follow while the session s is what it became. */
struct import_row {
	const char *text;
	struct program_row runs[4];
};

static void remove_session(void)
{
	pid_t pid = fork();

	if (!pid)
		_exit(nftw("s", remove_one, 16, FTW_DEPTH | FTW_PHYS) ? 1 : 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void check_imports(const struct import_row *rows, size_t nr,
			  const char *folder,
			  void (*write)(const char *path, const char *text))
{
	for (size_t i = 0; i < nr; i++) {
		write("file", rows[i].text);
		for (size_t k = 0; k < NR(rows[i].runs); k++)
			if (rows[i].runs[k].line)
				check_run(programs, &rows[i].runs[k], folder);
		remove_session();
	}
}

#define IMPORTED(options) "opimport " options "-o s file"
/* Importing a file whose @nr samples are all stored. */
#define TAKEN(options, nr)                                                     \
	{                                                                      \
		.line = IMPORTED(options),                                     \
		.wanted = "opimport: " nr " = " nr " + 0\n"                    \
	}
#define REFUSED(why)                                                           \
	{                                                                      \
		{                                                              \
			.line = IMPORTED(""),                                  \
			.wanted = "opimport: file" why "\n= 1\n"               \
		}                                                              \
	}

/* ---- folded stacks ------------------------------------------------------- */

#define SEVENTY_BYTES                                                          \
	"0123456789012345678901234567890123456789012345678901234567890123456789"

IMPORT_TEST(folded_stacks_are_imported)
{
#define NO_COUNT                                                               \
	": no count after the stack; a line of folded stacks is "              \
	"FUNCTION;...;FUNCTION COUNT"
	static const struct import_row rows[] = {
		{ "web;main;f 7\n  web;main 21 \r\n\nweb;;main 5\nidle 4e2\n"
		  "kworker/0:1;run 3\n/opt//app/;main 1\n..;main 2",
		  { TAKEN("", "439"),
		    { .line = "opreport --session-dir=s -lfn",
		      .wanted =
			      EXPECTED_AS("opreport --session-dir=s -lfn, 1") },
		    { .line = "opreport --session-dir=s --format=folded",
		      .wanted = EXPECTED_AS(
			      "opreport --session-dir=s --format=folded, 1") } } },
		{ "/opt/./a/../b/.c;f 5\n.;g 2\n...;h 1\n",
		  { TAKEN("", "8"),
		    { .line = "opreport --session-dir=s -lfn",
		      .wanted =
			      EXPECTED_AS("opreport --session-dir=s -lfn, 2") },
		    { .line = "opreport --session-dir=s",
		      .wanted = EXPECTED("opreport") } } },
		{ "a;[truncated];d 1\na;[broken stack];d 2\na;[no unwind data];d 3\n"
		  "a;d;d 1\nb;\tc 9\n",
		  { TAKEN("-t ", "16"),
		    { .line = "opreport --session-dir=s --format=folded",
		      .wanted = EXPECTED_AS(
			      "opreport --session-dir=s --format=folded, 2") },
		    { .line = "opimport -o s file",
		      .wanted = EXPECTED_AS("opimport -o s file, 1") } } },
		/* A gap with nothing behind it is what was running. */
		{ "a;[truncated] 3\na;[broken stack] 4\n[no unwind data] 2\n",
		  { TAKEN("", "9"),
		    { .line = "opreport --session-dir=s --format=folded",
		      .wanted = EXPECTED_AS(
			      "opreport --session-dir=s --format=folded, 3") },
		    { .line = "opreport --session-dir=s",
		      .wanted =
			      EXPECTED_AS("opreport --session-dir=s, 8") } } },
		/* Who has no name is unknown, and long names are cut. */
		{ ";main 5\n/;main 2\n"
		  "/opt/" SEVENTY_BYTES "/b;f 1\n/opt/" SEVENTY_BYTES
		  "c/d;f 2\n" SEVENTY_BYTES "e;f 3\n",
		  { TAKEN("", "13"),
		    { .line = "opreport --session-dir=s -lfn",
		      .wanted = EXPECTED_AS(
			      "opreport --session-dir=s -lfn, 3") } } },
		/* Deep stacks. */
		{ "a;b;c;d;e 1\na;b;c;d;e;f 2\na;b;c;d;e;f;g;h;i 4\n"
		  "b;[truncated];c;d;e;f;g 8\n",
		  { TAKEN("", "15"),
		    { .line = "opreport --session-dir=s --format=folded",
		      .wanted = EXPECTED_AS(
			      "opreport --session-dir=s --format=folded, 4") } } },
		/* Counts with fractions are taken times a power of ten. */
		{ "a;b 0.4\na;c 2.50\na;d 0\na;e 1e0\n",
		  { { .line = IMPORTED(""),
		      .wanted = EXPECTED_AS("opimport -o s file, 2") },
		    { .line = "opreport --session-dir=s --format=folded",
		      .wanted = EXPECTED_AS(
			      "opreport --session-dir=s --format=folded, 5") } } },
		{ "a;b 1.25e-2\na;c 12.5e1\na;d 3.0\n",
		  { { .line = IMPORTED(""),
		      .wanted = EXPECTED_AS("opimport -o s file, 3") },
		    { .line = "opreport --session-dir=s --format=folded",
		      .wanted = EXPECTED_AS(
			      "opreport --session-dir=s --format=folded, 6") } } },
		/* No finer than that; and no count is no sample. */
		{ "a;b 0.0000000004\na;c 1\n",
		  { { .line = IMPORTED(""),
		      .wanted = EXPECTED_AS("opimport -o s file, 4") },
		    { .line = "opreport --session-dir=s --format=folded",
		      .wanted = "a;c 1000000000\n" } } },
		/* What has no samples is in the way of nobody. */
		{ "a;b 0\n", { TAKEN("", "0"), TAKEN("", "0") } },
		/* The largest counts. */
		{ "a;b 9223372036854774784.0\n",
		  { TAKEN("", "9223372036854774784"),
		    { .line = "opreport --session-dir=s -ln",
		      .wanted =
			      "9223372036854774784 100.000  100.000  b\n" } } },
		{ "a;b 9223372036854775808.0\n", REFUSED(":1" NO_COUNT) },
		/* What no sum can hold. */
		{ "a;b 18446744073709551615\n",
		  { TAKEN("", "18446744073709551615") } },
		{ "a;b 18446744073709551615\na;c 1\n",
		  REFUSED(": its counts add up to 2^64 samples or more; divide all of them by one number") },
		{ "a;b 9223372036854775807\na;c 9223372036854775807\nx;y 9\n",
		  REFUSED(": its counts add up to 2^64 samples or more; divide all of them by one number") },
		/* A line that is none, among more that are. */
		{ "a;b 3\na;c\na;b 1.2.3\na;b 4\na;d .\na;c 2\na;c 1\n",
		  { { .line = IMPORTED(""),
		      .wanted = EXPECTED_AS("opimport -o s file, 5") } } },
		{ "a;b 3\na;b 4\na;c -1\n",
		  { { .line = IMPORTED(""),
		      .wanted = EXPECTED_AS("opimport -o s file, 6") } } },
		{ "a;b 3\na;b 4\na;c -1\nx\n", REFUSED(":3" NO_COUNT) },
		/* Comments, whose numbers say nothing. */
		{ "# v: 1.5\n#\n#\tx\na;b 3\n#a;b 4\n", { TAKEN("", "7") } },
		{ "# a;b 3\n", REFUSED(": has no stacks; " OPIMPORT_CURE) },
		{ "a;b 1e5.\n", REFUSED(":1" NO_COUNT) },
		{ "a;b 9223372036854775807\na;b +1\n", REFUSED(":2" NO_COUNT) },
		{ "a;b 1\n\na;b 18446744073709551616\n",
		  REFUSED(":3" NO_COUNT) },
		{ "a;b 1e19\n", REFUSED(":1" NO_COUNT) },
		{ "a;b .\n", REFUSED(":1" NO_COUNT) },
		{ "a;b 1.2.3\n", REFUSED(":1" NO_COUNT) },
		{ "a;b -1\n", REFUSED(":1" NO_COUNT) },
		{ "12\n", REFUSED(":1" NO_COUNT) },
		{ "a;b 1 2\nc 3 4\n",
		  REFUSED(": each stack has two counts: it is a comparison; import the two profiles that it compares") },
		{ "a;b 1 2\nc 4\n", { TAKEN("", "6") } },
		{ " \n\t\n", REFUSED(": has no stacks; " OPIMPORT_CURE) },
		{ "", REFUSED(": is empty; " OPIMPORT_CURE) },
	};

	check_imports(rows, NR(rows), *state, write_text);
}

/* Sample files of an old session are imported without an account. */
IMPORT_TEST(samples_are_not_added_to_others)
{
	static const struct program_row row = {
		.line = "opimport -o s file",
		.wanted = EXPECTED_AS("opimport -o s file, 1")
	};

	write_text("file", "a;b 1\n");
	assert_int_equal(op_make_parents("s/samples/current/{root}/x", 0755),
			 0);
	check_run(programs, &row, *state);
	remove_session();
}

/* ---- callgrind ----------------------------------------------------------- */

#define CALLGRIND "# callgrind format\nevents: Ir\n"

IMPORT_TEST(files_of_callgrind_are_imported)
{
#define DAMAGE "; the file is damaged: write it again"
	static const struct import_row rows[] = {
		/* Names by number, positions relative to the last ones. */
		{ "# callgrind format\nversion: 1\ncreator: callgrind-3\npid: 12\n"
		  "cmd:  ./app -x\npositions: instr line\nevents: Ir Dr\n\n"
		  "ob=(1) /opt/app\nfl=(1) app.c\nfn=(1) main\n"
		  "0x1000 16 10 2\n+4 +1 30\nfi=(2) app.h\n+4 5 40 1\n"
		  "fe=(1)\njcnd=1/2 +8 18\n* 17\n"
		  "cob=(2) /lib/libm.so\ncfi=(3) sin.c\ncfn=(2) sin\n"
		  "calls=3 0x2000 50\n+4 18 200 4\n"
		  "cfn=(3) leaf\ncalls=1 +8 -10\n* * 60\n\n"
		  "fn=(3)\n0x1100 -10 60\n\nob=(2)\nfl=(3)\nfn=(2)\n"
		  "0x2000 50 100 3\njfi=(4) cos.c\njump=1 +4 +1\n-4 * 100 1\n\n"
		  "totals: 340 7\n",
		  { TAKEN("", "347"),
		    { .line = "opreport --session-dir=s -ldgfn",
		      .wanted = EXPECTED_AS(
			      "opreport --session-dir=s -ldgfn, 1") },
		    { .line = "opreport --session-dir=s --callgraph -n event:Ir",
		      .wanted = EXPECTED("opreport-callgraph-n-event-ir") } } },
		/* What is called from a place in another file is in that file
		 * unless told. */
		{ "version: 1\ncmd: ./app\nevents: Ir\nob=app\nfl=main.cc\n"
		  "fn=main\n10 5\nfi=sort.h\n20 2\ncfn=sort\ncalls=1 40\n"
		  "20 90\nfe=main.cc\ncfn=end\ncalls=1 50\n11 3\n\n"
		  "fl=sort.h\nfn=sort\n41 90\n\nfl=main.cc\nfn=end\n50 3\n"
		  "totals: 100\n",
		  { TAKEN("", "100"),
		    { .line = "opreport --session-dir=s --callgraph -n -g",
		      .wanted = EXPECTED("opreport-callgraph-n-g") } } },
		/* Lines of files that have no name are none. */
		{ "version: 1\ncmd: ./app\nevents: Ir\nob=app\nfl=???\nfn=f\n"
		  "10 5\n\nfl=\nfn=g\n20 4\n\nfl=a.c\nfn=h\n30 3\n"
		  "totals: 12\n",
		  { TAKEN("", "12"),
		    { .line = "opreport --session-dir=s -ldgfn",
		      .wanted = EXPECTED_AS(
			      "opreport --session-dir=s -ldgfn, 2") } } },
		/* Parts with events of their own, no objects, no pid. */
		{ "version: 1\ncmd: /srv/www/index.php\npart: 1\n\n"
		  "events: Time_(10ns) Memory\nfl=a\nfn=f\n1 5 7\n"
		  "fl=b\nfn={main}\n1 10\ncfn=f\ncalls=1\n3 5 7\n"
		  "part: 2\nevents: Memory Time_(10ns)\nfn={main}\n1 2 3\n",
		  { TAKEN("-t ", "27"),
		    { .line = "opreport --session-dir=s -lgfn",
		      .wanted = EXPECTED_AS(
			      "opreport --session-dir=s -lgfn, 1") } } },
		/* A number that is told anew, lines without a file, less than
		 * the totals. */
		{ "\n#\nevents: A\npid: 4000000000\nob=x\nfn=(1) one\n3 5\nfn=(1) two\n4 6\n"
		  "fl=???\nfn=(1)\n4 1\nfn=(x\n+0 2\nfn=()\n3 2\n"
		  "totals: 17\n",
		  { { .line = IMPORTED("-t "),
		      .wanted = EXPECTED_AS("opimport -t -o s file, 1") },
		    { .line = "opreport --session-dir=s -lgfn",
		      .wanted = EXPECTED_AS(
			      "opreport --session-dir=s -lgfn, 2") } } },
		/* The first function has no object, but others do. */
		{ "events: Ir\nfn=f\n1 2\nob=/opt/b\nfn=f\n1 3\n"
		  "ob=/opt/c\nfn=f\n1 4\n",
		  { TAKEN("", "9"),
		    { .line = "opreport --session-dir=s -lfn",
		      .wanted =
			      EXPECTED_AS("opreport --session-dir=s -lfn, 4") },
		    { .line = "opreport --session-dir=s -n",
		      .wanted = EXPECTED_AS(
			      "opreport --session-dir=s -n, 2") } } },
		/* The first command names the program; its arguments do not. */
		{ "events: Ir\ncmd: /opt/b/ /opt/a\ncmd: a\nfn=f\n1 2\n",
		  { TAKEN("", "2"),
		    { .line = "opreport --session-dir=s -n",
		      .wanted = "        2 100.000 b\n" } } },
		/* One of 255 bytes, and one that is too long. */
		{ "events: Ir\ncmd: /" SEVENTY_BYTES SEVENTY_BYTES SEVENTY_BYTES
		  "/01234567890123456789012345678901234567890/b\nfn=f\n1 2\n",
		  { TAKEN("", "2"),
		    { .line = "opreport --session-dir=s -n",
		      .wanted = "        2 100.000 b\n" } } },
		{ "events: Ir\ncmd: /" SEVENTY_BYTES SEVENTY_BYTES SEVENTY_BYTES
		  "/01234567890123456789012345678901234567890/bc\nfn=f\n1 2\n",
		  { TAKEN("", "2"),
		    { .line = "opreport --session-dir=s -n",
		      .wanted = "        2 100.000 file\n" } } },
		/* Lines that are too large, and costs that have an address
		 * alone, are at no line. */
		{ "events: Ir\nob=a\nfl=a.c\nfn=f\n2147483647 2\n9 3\n"
		  "fn=g\n4294967301 4\npositions: addr\n0x10 6\n+1 7\n",
		  { TAKEN("", "22"),
		    { .line = "opreport --session-dir=s -ldgfn",
		      .wanted = EXPECTED_AS(
			      "opreport --session-dir=s -ldgfn, 3") } } },
		/* Costs of no line are of none, wherever they stand. */
		{ "events: Ir\nob=a\nfl=a.c\nfn=f\n0 1\n7 2\n2147483648 4\n"
		  "fi=???\n8 8\nfe=a.c\n9 16\n",
		  { TAKEN("", "31"),
		    { .line = "opreport --session-dir=s -ldgfn",
		      .wanted = EXPECTED_AS(
			      "opreport --session-dir=s -ldgfn, 4") } } },
		/* Functions of one name, in two files and two objects, and who
		 * calls which. */
		{ "events: Ir\npid: 12\ncmd: b\nob=(1) b\nfl=(1) a.c\nfn=(1) f\n"
		  "1 1\ncfi=(2) b.c\ncfn=(1)\ncalls=1 5\n2 9\n"
		  "cob=(2) c\ncfi=(1)\ncfn=(1)\ncalls=1 5\n3 20\n"
		  "cfn=(1)\ncalls=1 1\n4 7\n"
		  "fl=(2)\nfn=(1)\n5 9\nob=(2)\nfl=(1)\nfn=(1)\n5 20\n",
		  { TAKEN("-t ", "30"),
		    { .line = "opreport --session-dir=s --callgraph -ng",
		      .wanted = EXPECTED("opreport-callgraph-ng") },
		    { .line = "opreport --session-dir=s tgid:12 tid:12 -lgn",
		      .wanted = EXPECTED_ROW } } },
		/* A process of a number that none has is none. */
		{ "events: Ir\npid: 2147483648\nfn=f\n1 2\n",
		  { TAKEN("-t ", "2"),
		    { .line = "opreport --session-dir=s tgid:0 tid:0 -n",
		      .wanted = "        2 100.000 file\n" } } },
		{ "events: Ir\npid: 2147483647\nfn=f\n1 2\n",
		  { TAKEN("-t ", "2"),
		    { .line = "opreport --session-dir=s tgid:2147483647 -n",
		      .wanted = "        2 100.000 file\n" } } },
		/* No calls to or from what nobody knows. */
		{ CALLGRIND "ob=b\nfl=a\nfn=[broken stack]\n1 2\n"
			    "cfn=f\ncalls=1 5\n2 9\nfn=f\n5 9\n"
			    "cfn=[truncated]\ncalls=1 5\n6 3\n"
			    "cfn=g\ncalls=1 5\n7 4\n",
		  { TAKEN("", "11"),
		    { .line = "opreport --session-dir=s --callgraph -n",
		      .wanted = EXPECTED("opreport-callgraph-n") } } },
		/* As many events as there may be, and names that are cut. */
		{ "events: a b c d e f g h i j k l m n o p q r s t u v w x y z A B C D E "
		  "012345678901234567890123456789012345678901234567890\n"
		  "fn=f\n1 1 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 5\n",
		  { TAKEN("", "6"),
		    { .line = "opreport --session-dir=s",
		      .wanted =
			      EXPECTED_AS("opreport --session-dir=s, 1") } } },
		/* Each part has totals of its own; fewer of them are none. */
		{ "events: A B\nfn=f\n1 3 4\ntotals: 3\n1 2 3\ntotals: 2 3\n",
		  { TAKEN("", "12") } },
		{ "events: A B\nfn=f\n1 3 4\ntotals: 3 4\n1 2 3\ntotals: 2 4\n",
		  { { .line = IMPORTED(""),
		      .wanted = EXPECTED_AS("opimport -o s file, 7") } } },
		{ CALLGRIND "fn=f\n1 1\ntotals: x\n",
		  REFUSED(":5: no number where costs are" DAMAGE) },
		{ CALLGRIND "fn=f\n1 1\ntotals: -1\n", { TAKEN("", "1") } },
		{ CALLGRIND "fn=f\n1 2\r\ntotals: 1\nfn=g\n0x10 1\n",
		  { TAKEN("", "3") } },
		/* Without objects the program is that of the command, and
		 * without a command it is called as the file. */
		{ "version: 0\ncmd: /srv/run.py -x\nevents: Ir(x) b.c\n"
		  "fn=f\n1 2 3\n",
		  { TAKEN("", "5"),
		    { .line = "opreport --session-dir=s -lfn",
		      .wanted = "2        100.000  3        100.000  f\n" },
		    { .line = "opreport --session-dir=s -f",
		      .wanted = EXPECTED_ROW } } },
		{ CALLGRIND "\tfn= f \t\n 3  2\t\n",
		  { { .line = "opimport -o s ./file",
		      .wanted = "opimport: 2 = 2 + 0\n" },
		    { .line = "opreport --session-dir=s -lfn",
		      .wanted = "2        100.000  f\n" },
		    { .line = "opreport --session-dir=s -fn",
		      .wanted = "        2 100.000 /file\n" } } },
		/* Of which object is the program: that of the command. */
		{ "cmd: bin/app\targument\nevents: A\npid: 2147483647\n"
		  "ob=/lib/lib.so\nfn=f\n1 2\nob=/opt/app\nfn=main\n1 3\n",
		  { TAKEN("-t ", "5"),
		    { .line = "opreport --session-dir=s -lfn tgid:2147483647",
		      .wanted = EXPECTED_ROW } } },
		{ "cmd: other\nevents: A\npid: 2147483648\n"
		  "ob=/lib/lib.so\nfn=f\n1 2\nob=/opt/app\nfn=main\n1 3\n",
		  { TAKEN("-t ", "5"),
		    { .line = "opreport --session-dir=s -lfn tgid:0",
		      .wanted = EXPECTED_ROW } } },
		/* Addresses are no lines, nor is what is too large for one. */
		{ "events: A\npositions: addr\nfl=a.c\nfn=f\n0x10 2\nfn=g\n"
		  "positions:\taddr line\n+1 6 3\n* +1 5\nfn=h\n+1 4294967296 4\n",
		  { TAKEN("", "14"),
		    { .line = "opreport --session-dir=s -ldgfn",
		      .wanted = EXPECTED_AS(
			      "opreport --session-dir=s -ldgfn, 5") } } },
		/* What was told of a callee is of one call. */
		{ "cmd: a\nevents: A\nob=a\nfl=a.c\nfn=f\ncob=b\ncfl=b.c\ncfn=g\n"
		  "calls=1 1\n1 50\ncfn=h\ncalls=2 1\n2 60\nob=b\nfl=b.c\n"
		  "fn=g\n5 50\nob=a\nfl=a.c\nfn=h\n6 60\nfrfn=x\njfn=y\n",
		  { TAKEN("", "110"),
		    { .line = "opreport --session-dir=s --callgraph -ng",
		      .wanted = EXPECTED("opreport-callgraph-ng-2") } } },
		/* Each part has totals of its own. */
		{ "creator: callgrind\nevents: A B\nfn=f\n1 5 2\ntotals: 5 2\n"
		  "1 3\ntotals: 3\n",
		  { TAKEN("", "10") } },
		{ "creator: callgrind\nevents: A B\nfn=f\n1 5 2\ntotals: 5 2\n"
		  "1 3\ntotals: 4\n",
		  { { .line = IMPORTED(""),
		      .wanted = EXPECTED_AS("opimport -o s file, 8") } } },
		{ "creator: php\nevents: A\nfn=f\n1 5\n", { TAKEN("", "5") } },
		{ "events: A\nfn=f\n1 5\ntotals: 5 6\n", { TAKEN("", "5") } },
		{ "events: A\nfn=f\n1 5\ntotals: x\n",
		  { { .line = IMPORTED(""),
		      .wanted = EXPECTED_AS("opimport -o s file, 9") } } },
		{ "events: a b c d e f g h i j k l m n o p q r s t u v w x y z A B C D E F\nfn=f\n"
		  "1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1\n",
		  { TAKEN("", "32") } },
		{ CALLGRIND "version: 2\n",
		  REFUSED(":3: is of a version of the format that is not known") },
		{ CALLGRIND "version: x\n",
		  REFUSED(":3: is of a version of the format that is not known") },
		{ CALLGRIND "fn=f\n1 -1\n",
		  REFUSED(": has no costs; " OPIMPORT_CURE) },
		{ CALLGRIND "fn=f\n1 -\n",
		  REFUSED(":4: no number where costs are" DAMAGE) },
		{ CALLGRIND "fn=f\n1 3\n2 -4\n3 -5\n",
		  { { .line = IMPORTED(""),
		      .wanted = EXPECTED_AS("opimport -o s file, 10") } } },
		{ CALLGRIND "fn=f\n1 1x\n",
		  REFUSED(":4: no number where costs are" DAMAGE) },
		{ CALLGRIND "fn=f\n1 1 2\n",
		  REFUSED(":4: more costs than the 1 events" DAMAGE) },
		{ CALLGRIND "fn=f\n1 72057594037927937\n",
		  REFUSED(":4: a cost of 72057594037927937" DAMAGE) },
		{ CALLGRIND "fn=f\n1 72057594037927936\n",
		  { TAKEN("", "72057594037927936") } },
		{ CALLGRIND "fn=f\n+x 1\n",
		  REFUSED(":4: a line of costs begins with no position" DAMAGE) },
		{ CALLGRIND "fn=f\n*1 1\n",
		  REFUSED(":4: a line of costs begins with no position" DAMAGE) },
		{ CALLGRIND "1 1\n",
		  REFUSED(":3: costs of no function or of no event" DAMAGE) },
		{ "events:\nfn=f\n1 1\n",
		  REFUSED(":3: costs of no function or of no event" DAMAGE) },
		{ CALLGRIND "fn=(2)\n",
		  REFUSED(":3: a number is used before its name is given" DAMAGE) },
		{ CALLGRIND "xy=f\n",
		  REFUSED(":3: xy= is no key of callgrind" DAMAGE) },
		{ CALLGRIND "fn f\n",
		  REFUSED(":3: is no line of callgrind" DAMAGE) },
		{ CALLGRIND "f\n",
		  REFUSED(":3: is no line of callgrind" DAMAGE) },
		{ CALLGRIND "calls=1 2\n",
		  REFUSED(":3: calls= without a number or a function" DAMAGE) },
		{ CALLGRIND "cfn=f\ncalls=x\n",
		  REFUSED(":4: calls= without a number or a function" DAMAGE) },
		{ CALLGRIND "cfn=f\ncalls=1\nfn=g\n",
		  REFUSED(":5: no costs in the line after calls=" DAMAGE) },
		{ CALLGRIND "cfn=f\ncalls=1\n",
		  REFUSED(":5: ends after calls=" DAMAGE) },
		{ CALLGRIND "fn=f\n1 0\n",
		  REFUSED(": has no costs; " OPIMPORT_CURE) },
		{ "events: Ir Ir\n",
		  REFUSED(":1: two events are called Ir" DAMAGE) },
		{ "positions: line bytes\n",
		  REFUSED(":1: positions of the unknown kind bytes; give instr, line, or both") },
		{ "creator: callgrind-3\nevents: Ir\nfn=f\n1 1\n",
		  REFUSED(":5: ends without totals, so it is cut short: write it again") },
		{ "creator: oprofile 2\nevents: Ir\nfn=f\n1 1\ntotals: 1\n1 2",
		  REFUSED(":6: ends without totals, so it is cut short: write it again") },
		{ "events: a b c d e f g h i j k l m n o p q r s t u v w x y z A B C D E F G\n",
		  REFUSED(":1: more than 32 events; write fewer of them") },
	};

	check_imports(rows, NR(rows), *state, write_text);
}

/* ---- pprof --------------------------------------------------------------- */

static void put_varint(FILE *out, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		putc((int)(value & 0x7f) | 0x80, out);
	putc((int)value, out);
}

/* A message in words: FIELD=NUMBER, FIELD"TEXT" and FIELD{ a message }. */
static const char *put_message(FILE *out, const char *text)
{
	while (*text && *text != '}') {
		uint64_t field;
		char *end;

		if (*text == ' ' || *text == '\n') {
			text++;
			continue;
		}
		field = strtoull(text, &end, 10);
		put_varint(out, field << 3 | (*end == '=' ? 0 : 2));
		text = end + 1;
		if (*end == '=') {
			put_varint(out, (uint64_t)strtoll(text, &end, 10));
			text = end;
		} else if (*end == '"') {
			size_t len = strcspn(text, "\"");

			put_varint(out, len);
			fwrite(text, 1, len, out);
			text += len + 1;
		} else {
			struct text inner;

			assert_int_equal(*end, '{');
			text = put_message(text_begin(&inner), text) + 1;
			fclose(inner.out);
			put_varint(out, inner.len);
			fwrite(inner.all, 1, inner.len, out);
			free(inner.all);
		}
	}
	return text;
}

static void write_pprof(const char *path, const char *text)
{
	FILE *out = fopen(path, "w");

	assert_non_null(out);
	put_message(out, text);
	fclose(out);
}

/* Strings from number 1: types and units, then names. */
#define STRINGS                                                                \
	"6\"\"6\"samples\"6\"count\"6\"cpu\"6\"nanoseconds\"6\"/bin/app\""     \
	"6\"/lib/so\"6\"main\"6\"leaf\"6\"a.c\"6\"raw\"6\"tid\"6\"thread\""    \
	"6\"worker\"6\"application\"6\"other\"6\"process\"6\"pid\"6\"TIMER\" "
#define TYPES "1{1=1 2=2} 1{1=3 2=4} "
#define MAPPINGS "3{1=1 5=5} 3{1=2 5=6} "
#define PLACES                                                                 \
	"4{1=1 2=1 4{1=1 2=10}} 4{1=2 2=2 4{1=2 2=20} 4{1=1 2=11}} "           \
	"4{1=3 2=1 3=80} 5{1=1 2=7 4=9} 5{1=2 2=8 4=9} "
#define PPROF STRINGS TYPES MAPPINGS PLACES
#define EIGHT_VALUES "2=1 2=1 2=1 2=1 2=1 2=1 2=1 2=1 "
#define EIGHT_TYPES "1{1=1} 1{1=1} 1{1=1} 1{1=1} 1{1=1} 1{1=1} 1{1=1} 1{1=1} "
#define TWO_VALUES "2=1 2=2 "

IMPORT_TEST(files_of_pprof_are_imported)
{
	/* clang-format off */
	static const struct import_row rows[] = {
		{ PPROF "2{1=2 1=1 2=3 2=3000} 2{1=1 2=1 2=1000} "
			"2{1=3 1=1 2=5 2=5000}",
		  { TAKEN("", "9"),
		    { .line = "opreport --session-dir=s -lgf",
		      .wanted = EXPECTED_ROW },
		    { .line = "opreport --session-dir=s --format=folded",
		      .wanted = EXPECTED_AS("opreport --session-dir=s --format=folded, 7") } } },
		/* Values that are no multiple are events of their own. */
		{ PPROF "2{1=1 2=3 2=7} 2{1=1 2=0 2=0}",
		  { TAKEN("", "10"),
		    { .line = "opreport --session-dir=s -lgn",
		      .wanted =
			      "7        100.000  100.000  3        100.000  100.000  a.c:10                      main\n" } } },
		{ PPROF "2{1=1 2=3 2=6} 2{1=1 2=1 2=3}",
		  { TAKEN("", "13"),
		    { .line = "opreport --session-dir=s",
		      .wanted = EXPECTED_AS("opreport --session-dir=s, 2") } } },
		/* The timer tells its rate. */
		{ STRINGS "1{1=1 2=2} 1{1=18 2=4} " MAPPINGS PLACES
			  "2{1=1 2=3 2=12000000}",
		  { TAKEN("", "3"),
		    { .line = "opreport --session-dir=s",
		      .wanted = EXPECTED_AS("opreport --session-dir=s, 3") } } },
		/* Labels: threads, names, another application. */
		{ PPROF "2{1=1 2=1 2=2 3{1=17 3=70} 3{1=11 3=71} 3{1=12 2=13}}"
			"2{1=2 2=2 2=4 3{1=11 3=9} 3{1=14 2=15}}"
			"2{1=2 2=4 2=8 3{1=17 3=5} 3{1=16 2=15}}"
			"2{1=2 2=8 2=16 3{1=11 3=-1} 3{1=17 3=2147483648}}",
		  { TAKEN("-t ", "15"),
		    { .line = "opreport --session-dir=s -lfn --layout=rows",
		      .wanted = EXPECTED_AS("opreport --session-dir=s -lfn --layout=rows, 1") },
		    { .line = "opreport --session-dir=s --format=folded",
		      .wanted = EXPECTED_AS("opreport --session-dir=s --format=folded, 8") } } },
		/* No names: of a function, a mapping, a place; no location. */
		{ STRINGS TYPES "3{1=1} 4{1=1 2=1 4{1=1}} 4{1=2 4{1=2 2=-3}} "
				"5{1=1 3=10 4=9} 5{1=2} "
				"2{1=1 2=1 2=2} 2{1=2 2=1 2=2} 2{2=1 2=2}",
		  { { .line = IMPORTED(""),
		      .wanted = "opimport: 3 = 2 + 1\n" },
		    { .line = "opreport --session-dir=s -lgfn",
		      .wanted = EXPECTED_AS("opreport --session-dir=s -lgfn, 3") } } },
		{ STRINGS "1{} 1{1=3 2=4} 4{1=1 3=16} 2{1=1 2=1 2=3}",
		  { TAKEN("", "4"),
		    { .line = "opreport --session-dir=s -l",
		      .wanted = EXPECTED_ROW } } },
		/* Values that are both 0 say nothing of how they belong
		 * together. */
		{ PPROF "2{1=1 2=3 2=6} 2{1=1 2=0 2=0} 2{1=1 2=5 2=10}",
		  { TAKEN("", "8"),
		    { .line = "opreport --session-dir=s",
		      .wanted = EXPECTED_AS("opreport --session-dir=s, 4") } } },
		{ PPROF "2{1=1 2=3 2=6} 2{1=1 2=0 2=2}",
		  { TAKEN("", "11") } },
		{ PPROF "2{1=1 2=3 2=6} 2{1=1 2=2 2=0}",
		  { TAKEN("", "11") } },
		/* What belongs to the samples need not be next to them, but
		 * comes behind them. */
		{ STRINGS "1{1=1 2=2} 1{1=17 2=2} 1{1=3 2=4} " MAPPINGS PLACES
			  "2{1=1 2=3 2=1 2=3000} 2{1=1 2=2 2=5 2=2000}",
		  { TAKEN("", "11"),
		    { .line = "opreport --session-dir=s",
		      .wanted = EXPECTED_AS("opreport --session-dir=s, 5") } } },
		{ STRINGS "1{1=3 2=4} 1{1=1 2=2} " MAPPINGS PLACES
			  "2{1=1 2=1000 2=1}",
		  { TAKEN("", "1001"),
		    { .line = "opreport --session-dir=s",
		      .wanted = EXPECTED_AS("opreport --session-dir=s, 6") } } },
		/* The rate of the timer is rounded, and not 0. */
		{ STRINGS "1{1=1 2=2} 1{1=18 2=4} " MAPPINGS PLACES
			  "2{1=1 2=1 2=15000000}",
		  { TAKEN("", "1"),
		    { .line = "opreport --session-dir=s",
		      .from = "Profiling",
		      .to = "Samples",
		      .wanted =
			      "Profiling through timer interrupt, 67 samples per second and CPU\n" } } },
		{ STRINGS "1{1=1 2=2} 1{1=18 2=4} " MAPPINGS PLACES
			  "2{1=1 2=1 2=3000000000}",
		  { TAKEN("", "1"),
		    { .line = "opreport --session-dir=s",
		      .from = "Profiling",
		      .to = "Samples",
		      .wanted =
			      "Profiling through timer interrupt, 1 sample per second and CPU\n" } } },
		/* Names of events are as those of files; strings that are not
		 * there are empty. */
		{ STRINGS
		  "6\"delay (x)\"6\"milli/s\" 1{1=19 2=20} 1{1=99 2=-1} "
		  "5{1=1 2=99 3=-1 4=99} 4{1=1 4{1=1 2=3}} "
		  "2{1=1 2=3 2=7}",
		  { { .line = "opimport -o s ./file",
		      .wanted = "opimport: 10 = 10 + 0\n" },
		    { .line = "opreport --session-dir=s -lfg",
		      .wanted = EXPECTED_ROW },
		    { .line = "opreport --session-dir=s -fn",
		      .wanted =
			      "        3 100.000         7 100.000 /file\n" } } },
		/* What has no line is at none. */
		{ STRINGS
		  "1{1=1 2=2} " MAPPINGS "5{1=1 2=7 4=9} "
		  "4{1=1 2=1 4{1=1}} 4{1=2 2=1 4{1=1 2=10}} "
		  "4{1=3 2=1 4{1=1 2=2147483648}} 4{1=4 2=1 4{1=1 2=12}} "
		  "2{1=1 2=1} 2{1=2 2=2} 2{1=3 2=4} 2{1=4 2=8}",
		  { TAKEN("", "15"),
		    { .line = "opreport --session-dir=s -ldgfn",
		      .wanted = EXPECTED_AS("opreport --session-dir=s -ldgfn, 6") } } },
		/* Places of one function, in two images, some of them twice. */
		{ STRINGS
		  "1{1=1 2=2} " MAPPINGS "5{1=1 2=7 4=9} 5{1=2 2=8 4=9} "
		  "4{1=1 2=1 4{1=1 2=12}} 4{1=2 2=1 4{1=1 2=10}} "
		  "4{1=3 2=1 4{1=1 2=12}} 4{1=4 2=2 4{1=1 2=11}} "
		  "4{1=5 2=1 4{1=2 2=5}} 4{1=6 2=1 4{1=1 2=2147483647}} "
		  "5{1=3 2=10 4=9} 4{1=7 2=1 4{1=3 2=4294967296}} "
		  "2{1=1 2=1} 2{1=2 2=2} 2{1=3 2=4} 2{1=4 2=8} "
		  "2{1=5 2=16} 2{1=6 2=32} 2{1=7 2=64}",
		  { TAKEN("", "127"),
		    { .line = "opreport --session-dir=s -ldgfn",
		      .wanted =
			      EXPECTED("opreport-ldgfn") } } },
		/* Places without a function are apart by their addresses. */
		{ STRINGS "1{1=1 2=2} " MAPPINGS
			  "4{1=1 2=1 3=80} 4{1=2 2=1 3=96} 4{1=3 2=2 3=80} "
			  "4{1=4 2=1 3=80} "
			  "2{1=1 2=1} 2{1=2 2=2} 2{1=3 2=4} 2{1=4 2=8}",
		  { TAKEN("", "15"),
		    { .line = "opreport --session-dir=s -lfn",
		      .wanted = EXPECTED_AS("opreport --session-dir=s -lfn, 5") } } },
		/* Labels without a text, or of no task, name nothing. */
		{ PPROF "2{1=1 2=1 2=2 3{1=14} 3{1=11 3=7} 3{1=12} 3{1=16}}"
			"2{1=1 2=2 2=4 3{1=16 2=15} 3{1=12 2=13}}"
			"2{1=1 2=4 2=8 3{1=17 3=2147483647} 3{1=16 2=13}}",
		  { TAKEN("-t ", "7"),
		    { .line = "opreport --session-dir=s -lfn --layout=rows",
		      .wanted = EXPECTED_AS("opreport --session-dir=s -lfn --layout=rows, 2") } } },
		{ STRINGS EIGHT_TYPES EIGHT_TYPES EIGHT_TYPES EIGHT_TYPES
		  "1{1=1} 2{1=1 " EIGHT_VALUES EIGHT_VALUES EIGHT_VALUES
			  EIGHT_VALUES "2=1}",
		  { { .line = IMPORTED(""),
		      .wanted = EXPECTED_AS("opimport -o s file, 11") } } },
		/* Lines of a function, functions of one name, one function in
		 * two images; what is there twice. */
		{ PPROF "6\"b.c\" 5{1=3 2=8 4=19} "
			"4{1=4 2=1 4{1=1 2=12}} 4{1=5 2=1 4{1=1 2=11}} "
			"4{1=6 2=2 4{1=1 2=10}} 4{1=7 2=1 4{1=3 2=20}} "
			"4{1=8 2=1 4{1=2 2=20}} 4{1=9 2=2 4{1=3 2=20}} "
			"4{1=10 2=2 4{1=3 2=20}} "
			"2{1=1 2=1 2=2} 2{1=4 2=2 2=4} 2{1=5 2=4 2=8} "
			"2{1=6 2=8 2=16} 2{1=7 2=16 2=32} 2{1=8 2=32 2=64} "
			"2{1=9 2=64 2=128} 2{1=10 2=128 2=256}",
		  { TAKEN("", "255"),
		    { .line = "opreport --session-dir=s -ldgfn",
		      .wanted =
			      EXPECTED("opreport-ldgfn-2") } } },
		/* Names of what is counted. */
		{ STRINGS
		  "6\"a/b c.d-e_f9\"6\"\"6\"" SEVENTY_BYTES
		  "0123456789x\"6\"b/s\" " MAPPINGS PLACES
		  "1{1=19 2=2} 1{1=19 2=22} 1{1=20 2=4} 1{1=21 2=2} 1{1=3} "
		  "1{1=21 2=21} 2{1=1 2=1 2=2 2=3 2=4 2=5 2=6}",
		  { TAKEN("", "21"),
		    { .line = "opreport --session-dir=s",
		      .wanted =
			      EXPECTED("opreport-2") } } },
		/* Two events with samples, as ours are; a sample may have none
		 * of one of them. */
		{ STRINGS "6\"samples:B\"6\"B\" " MAPPINGS PLACES
			  "1{1=1 2=2} 1{1=3 2=2} 1{1=19 2=2} 1{1=20 2=2} "
			  "2{1=1 2=3 2=3000 2=0 2=0} 2{1=2 2=0 2=0 2=5 2=50} "
			  "2{1=3 2=1 2=1000 2=7 2=70}",
		  { TAKEN("", "16"),
		    { .line = "opreport --session-dir=s -l",
		      .wanted =
			      EXPECTED("opreport-l") } } },
		/* Times of the timer are rounded to a rate, of 1 at least. */
		{ STRINGS "1{1=1 2=2} 1{1=18 2=4} " MAPPINGS PLACES
			  "2{1=1 2=2 2=6060606}",
		  { TAKEN("", "2"),
		    { .line = "opreport --session-dir=s",
		      .wanted = EXPECTED_AS("opreport --session-dir=s, 7") } } },
		{ STRINGS "1{1=1 2=2} 1{1=18 2=4} " MAPPINGS PLACES
			  "2{1=1 2=2 2=6000000000}",
		  { TAKEN("", "2"),
		    { .line = "opreport --session-dir=s",
		      .wanted = "TIMER:1",
		      .from = "TIMER",
		      .to = "|" } } },
		/* Two processes of one program, with two threads each. */
		{ STRINGS
		  "6\"tgid\"6\"thread_id\"6\"one\"6\"two\" " TYPES MAPPINGS
			  PLACES
		  "2{1=1 2=1 2=2 3{1=19 3=5} 3{1=11 3=5} 3{1=16 2=21}}"
		  "2{1=1 2=2 2=4 3{1=19 3=5} 3{1=20 3=6} 3{1=12 2=22}}"
		  "2{1=1 2=4 2=8 3{1=19 3=7} 3{1=11 3=7} 3{1=16 2=22}}"
		  "2{1=1 2=8 2=16 3{1=19 3=7} 3{1=11 3=2147483647}}"
		  "2{1=1 2=16 2=32 3{1=17 3=8} 3{1=14} 3{1=16} 3{1=12}}"
		  "2{1=1 2=32 2=64 3{1=12 2=13} 3{1=16 2=13}}",
		  { TAKEN("-t ", "63"),
		    { .line = "opreport --session-dir=s -ln --layout=rows",
		      .wanted = EXPECTED_ROW },
		    { .line = "opreport --session-dir=s --format=folded",
		      .wanted = EXPECTED_AS("opreport --session-dir=s --format=folded, 9") } } },
		/* Without a program its file names it. */
		{ STRINGS TYPES
		  "3{1=1 5=77} 3{1=2 5=-1} 4{1=1 2=1 4{1=1}} "
		  "4{1=2 2=2 4{1=2}} 5{1=1 2=99 3=8} 5{1=2 2=-2 4=50} "
		  "2{1=1 2=1 2=2 3{1=14 2=77}} 2{1=2 2=2 2=4}",
		  { { .line = "opimport -o s ./file",
		      .wanted = "opimport: 3 = 3 + 0\n" },
		    { .line = "opreport --session-dir=s -lgfn",
		      .wanted = EXPECTED_AS("opreport --session-dir=s -lgfn, 4") },
		    { .line = "opreport --session-dir=s -n",
		      .wanted = "        3 100.000 file\n" } } },
		/* Who has lost all of its samples has an account too. */
		{ PPROF "2{2=4 2=8}",
		  { { .line = IMPORTED(""),
		      .wanted = EXPECTED_AS("opimport -o s file, 12") },
		    { .line = IMPORTED(""),
		      .wanted = EXPECTED_AS("opimport -o s file, 1") } } },
		{ PPROF "2{1=1 2=3 2=6} 2{1=1 2=3}",
		  REFUSED(": a sample has 1 values, but there are 2 types of them" DAMAGE) },
		{ PPROF "2{1=1 2=3 2=6} 2{1=1 2=-1 2=6}",
		  REFUSED(": has negative values: it is a comparison; import the two profiles that it compares") },
		{ PPROF TYPES TYPES TYPES TYPES TYPES TYPES TYPES TYPES TYPES
			  TYPES TYPES TYPES TYPES TYPES TYPES
		  "1{1=1} 2{1=1 " TWO_VALUES TWO_VALUES TWO_VALUES TWO_VALUES
			  TWO_VALUES TWO_VALUES TWO_VALUES TWO_VALUES TWO_VALUES
				  TWO_VALUES TWO_VALUES TWO_VALUES TWO_VALUES
					  TWO_VALUES TWO_VALUES TWO_VALUES
		  "2=1}",
		  REFUSED(": has 33 types of values; write 32 of them at most") },
		{ PPROF "2{1=9 2=3 2=6}",
		  REFUSED(": a sample is at location 9, which is not there" DAMAGE) },
		{ PPROF "2{1=1 2=3}",
		  REFUSED(": a sample has 1 values, but there are 2 types of them" DAMAGE) },
		{ PPROF "2{1=1 2=3 2=-6}",
		  REFUSED(": has negative values: it is a comparison; import the two profiles that it compares") },
		{ PPROF, REFUSED(": has no samples; profile again") },
		{ PPROF "4{1=4 4{1=9}} 2{1=1 2=3 2=6}",
		  REFUSED(": location 4 is in function 9, which is not there" DAMAGE) },
		{ PPROF "4{1=4 2=7} 2{1=1 2=3 2=6}",
		  REFUSED(": location 4 is in mapping 7, which is not there" DAMAGE) },
		{ PPROF "5{1=2} 2{1=1 2=3 2=6}",
		  REFUSED(": two of its functions, locations or mappings have one id" DAMAGE) },
		{ PPROF "4{} 2{1=1 2=3 2=6}",
		  REFUSED(": two of its functions, locations or mappings have one id" DAMAGE) },
		{ "1=2",
		  REFUSED(": is damaged, or neither of pprof nor folded stacks; " OPIMPORT_CURE) },
	};
	/* clang-format on */

	check_imports(rows, NR(rows), *state, write_pprof);
}

/* ---- files of other kinds ------------------------------------------------ */

/* More than is looked at to know what it is, and then a zero byte. */
static void write_zero_behind(const char *path, const char *text)
{
	FILE *out = fopen(path, "w");

	assert_non_null(out);
	fprintf(out, "%s%5000s\n", text, "");
	fputc('\0', out);
	fclose(out);
}

/* A zero byte ends nothing, and is as good as any other character. */
IMPORT_TEST(zero_bytes_are_text)
{
	static const struct import_row rows[] = {
		{ "a;b 5\n", REFUSED(":3" NO_COUNT) },
		{ "a;b 5\na;c 1\n",
		  { { .line = IMPORTED(""),
		      .wanted = EXPECTED_AS("opimport -o s file, 13") } } },
		{ CALLGRIND "fn=f\n1 2\n",
		  REFUSED(":6: is no line of callgrind" DAMAGE) },
	};

	check_imports(rows, NR(rows), *state, write_zero_behind);
}

IMPORT_TEST(files_that_are_too_large_are_refused)
{
	static const struct program_row row = {
		.line = IMPORTED(""),
		.wanted =
			"opimport: file: is too large; " OPIMPORT_CURE "\n= 1\n"
	};

	write_text("file", "a;b 1\n");
	assert_int_equal(truncate("file", (INT64_C(8) << 30) + 1), 0);
	check_run(programs, &row, *state);
}

/* More functions than one part of an image holds; each is in its own. */
IMPORT_TEST(images_have_parts)
{
	static const struct program_row rows[] = {
		TAKEN("", "465540"),
		{ .line = "opreport --session-dir=s -lfn -t 10",
		  .wanted = EXPECTED_ROW },
		{ .line = "opreport --session-dir=s -n",
		  .wanted = EXPECTED_ROW },
	};
	FILE *out = fopen("file", "w");

	assert_non_null(out);
	fputs("a;f0;g 100000\n", out);
	for (unsigned int i = 1; i < 65538; i++)
		fprintf(out, "a;f%u 1\n", i);
	fputs("a;last;f0 200000\na;last 100000\nb;f0 3\n", out);
	fclose(out);
	check_runs(programs, rows, NR(rows), *state);
	remove_session();
}

/* ---- the code that it becomes -------------------------------------------- */

/* "ADDRESS SIZE t NAME" of each function in the session's images. */
static void write_functions(FILE *out)
{
	assert_int_equal(
		system("PATH=/usr/bin:/bin; for f in s/images/*; do echo ${f##*/} | "
		       "sed 's/-.*//'; nm -nS $f; done >functions"),
		0);
	fputs(text_of("functions"), out);
}

/* Each line of a function has a byte of it, also where two are at one. */
IMPORT_TEST(functions_are_as_large_as_their_lines)
{
	static const struct {
		const char *name, *text;
		void (*write)(const char *path, const char *text);
		const char *wanted;
	} rows[] = {
		{ "folded", "b;f 1\na;f;g 2\na;f 3\n", write_text,
		  EXPECTED_ROW },
		{ "callgrind",
		  "events: Ir\nob=a\nfl=a.c\nfn=f\n1 1\n2 1\n1 1\n3 1\n"
		  "cfn=g\ncalls=1 4\n4 4\nob=b\nfn=h\n5 1\n6 1\n",
		  write_text, EXPECTED_ROW },
		{ "pprof",
		  PPROF "4{1=4 2=1 4{1=1 2=12}} 4{1=5 2=1 4{1=1 2=11}} "
			"4{1=7 2=2 4{1=2 2=20}} 4{1=8 2=1 3=81} "
			"2{1=1 2=1 2=2}",
		  write_pprof, EXPECTED_ROW },
	};

	for (size_t i = 0; i < NR(rows); i++) {
		static const struct program_row run = {
			.line = IMPORTED(""),
			.from = " lost",
			.wanted = " lost\n",
		};
		struct text t;

		rows[i].write("file", rows[i].text);
		check_run(programs, &run, *state);
		write_functions(text_begin(&t));
		text_must_be(&t, rows[i].name, rows[i].wanted);
		remove_session();
	}
}

/* ---- packed files -------------------------------------------------------- */

/* Pack @text as gzip does; without its last bytes if it begins with "cut". */
static void write_packed(const char *path, const char *text)
{
	gzFile file = gzopen(path, "wb9");
	struct stat st;

	assert_non_null(file);
	assert_int_equal(gzwrite(file, text, (unsigned int)strlen(text)),
			 strlen(text));
	assert_int_equal(gzclose(file), Z_OK);
	if (strncmp(text, "cut", 3) != 0)
		return;
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(truncate(path, st.st_size - 9), 0);
}

IMPORT_TEST(packed_files_are_imported)
{
	static const struct import_row rows[] = {
		{ "a;b 5\n",
		  { TAKEN("", "5"),
		    { .line = "opreport --session-dir=s --format=folded",
		      .wanted = "a;b 5\n" } } },
		{ CALLGRIND "fn=f\n1 2\n", { TAKEN("", "2") } },
		{ "cut;b 5\n",
		  REFUSED(": is packed and damaged; " OPIMPORT_CURE) },
		{ "", REFUSED(": is empty; " OPIMPORT_CURE) },
		/* The daemon reads what was unpacked; the user gave a file. */
		{ "PERFILE2 and no more",
		  REFUSED(": is cut short: it ends in its header; record it again") },
		{ "PERFILE2 and no more",
		  { { .line = "opimport -o s file other",
		      .wanted = EXPECTED_ROW },
		    { .line = "opimport -o s other file",
		      .wanted = EXPECTED_ROW } } },
	};

	write_packed("other", "PERFILE2, which is no more");
	check_imports(rows, NR(rows), *state, write_packed);
}

/* ---- the command line ---------------------------------------------------- */

static const struct classic_file old_file = {
	.layout = &classic_layouts[2],
	.cpu_type = 12,
	.event = 0x3c,
	.count = 100000,
};

static void make_old_file(const char *path, const struct classic_file *file)
{
	static const struct classic_pair pairs[] = { { 0x10, 3 }, { 0x20, 1 } };
	static uint8_t bytes[1 << 16];

	classic_build(file, bytes, pairs, NR(pairs));
	assert_int_equal(op_make_parents(path, 0755), 0);
	write_bytes(path, bytes, classic_len(file, NR(pairs)));
}

static void make_old_session(const char *path)
{
	FILE *abi = fopen("abi", "w");

	assert_non_null(abi);
	classic_write_abi(&old_file, abi);
	fclose(abi);
	make_old_file(path, &old_file);
}

IMPORT_TEST(command_lines_are_checked)
{
#define OLD                                                                    \
	"old/samples/current/{root}/bin/x/{dep}/{root}/bin/x/CPU.100000.0.all.all.all"
	static const struct program_row rows[] = {
		{ .line = "opimport", .wanted = EXPECTED_ROW },
		{ .line = "opimport -v",
		  .wanted = "opimport: oprofile",
		  .to = " 2." },
		{ .line = "opimport --nonsense", .wanted = EXPECTED_ROW },
		{ .line = "opimport -a abi", .wanted = EXPECTED_ROW },
		{ .line = "opimport -a abi -o new", .wanted = EXPECTED_ROW },
		{ .line = "opimport -a abi -o new x y",
		  .wanted = EXPECTED_ROW },
		{ .line = "opimport -s old x", .wanted = EXPECTED_ROW },
		{ .line = "opimport -s old", .wanted = EXPECTED_ROW },
		{ .line = "opimport file none", .wanted = EXPECTED_ROW },
		{ .line = "opimport none", .wanted = EXPECTED_ROW },
		{ .line = "opimport .", .wanted = EXPECTED_ROW },
		{ .line = "opimport -o s -", .wanted = EXPECTED_ROW },
		{ .line = "opimport -t -c -o s - none",
		  .wanted = EXPECTED_ROW },
		{ .line = "opimport -o s perf.data -", .wanted = EXPECTED_ROW },
		{ .line = "opimport -o s perf.data", .wanted = EXPECTED_ROW },
		{ .line = "opimport -o s perf.data a,b\\c",
		  .wanted = EXPECTED_ROW },
		{ .line = "opimport -a none -o new " OLD,
		  .wanted = EXPECTED_ROW },
		{ .line = "opimport -a abi -o new " OLD, .wanted = "" },
		{ .line = "opimport -a abi -V -o new " OLD,
		  .wanted = EXPECTED_ROW },
		{ .line = "opimport -a abi -V -f -o new " OLD,
		  .wanted =
			  "opimport: old/samples/current/{root}/bin/x/{dep}/{root}/bin/x/CPU.100000.0.all.all.all: 4 samples at 2 places\n" },
		{ .line = "opimport -a abi -o unknown.new unknown",
		  .wanted =
			  "opimport: warning: unknown: unknown CPU type 9999\n" },
		{ .line = "opimport -a abi -o none/new " OLD,
		  .wanted = EXPECTED_ROW },
		{ .line = "opimport -a abi -o new2 file",
		  .wanted = EXPECTED_ROW },
		{ .line = "opimport -a abi -s old -o s",
		  .wanted = EXPECTED_ROW },
		{ .line = "opimport -a abi -s old -o s",
		  .wanted = EXPECTED_ROW },
		{ .line = "opimport -V -s old -o s2", .wanted = EXPECTED_ROW },
		{ .line = "opreport --session-dir=s -n",
		  .wanted = EXPECTED_AS("opreport --session-dir=s -n, 1") },
		{ .line = "opimport -s none -o s3", .wanted = EXPECTED_ROW },
	};
	static const struct program_row far = {
		.line = "opimport -s far -a abi -o s5", .wanted = EXPECTED_ROW
	};
	static const struct program_row broken[] = {
		{ .line = "opimport -s old -a abi -o s4",
		  .wanted = EXPECTED_ROW },
	};

	struct classic_file unknown = old_file;

	unknown.cpu_type = 9999;
	write_text("file", "a;b 1\n");
	write_text("perf.data", "PERFILE2 and no more");
	write_text("a,b\\c", "PERFILE2");
	make_old_session(OLD);
	make_old_file("unknown", &unknown);
	check_runs(programs, rows, NR(rows), *state);
	assert_int_equal(access("new2", F_OK), -1);
	make_old_file("far/samples/current/{root}/bin/x/{dep}/{anon:anon}/"
		      "7.0x1000.0x100001001/{cg}/{root}/bin/x/"
		      "CPU.100000.0.7.7.all",
		      &old_file);
	check_run(programs, &far, *state);
	write_text(OLD, "no file of samples");
	check_runs(programs, broken, NR(broken), *state);
}

/* The new file is made beside the output, whose name may be too long. */
IMPORT_TEST(hidden_folders_are_beside_the_output)
{
	static const struct {
		const char *path, *begin, *why; /* NULL: it is made */
		size_t room;
	} rows[] = {
		{ "out", ".opimport-", NULL, sizeof(".opimport-XXXXXX/new") },
		{ "out", NULL, "out: too long",
		  sizeof(".opimport-XXXXXX/new") - 1 },
		{ "d/out", "d/.opimport-", NULL, 64 },
		{ "d/e/out", NULL, "d/e/out: cannot be written: No such", 64 },
	};

	assert_int_equal(mkdir("d", 0755), 0);
	for (size_t i = 0; i < NR(rows); i++) {
		struct op_diag diag = { "" };
		char name[64];
		int err = make_hidden_name(rows[i].path, name, rows[i].room,
					   &diag);

		assert_int_equal(err != 0, rows[i].why != NULL);
		if (err) {
			assert_true(err < 0);
			assert_reason(&diag, rows[i].why);
			continue;
		}
		assert_int_equal(
			strncmp(name, rows[i].begin, strlen(rows[i].begin)), 0);
		assert_string_equal(strrchr(name, '/'), "/new");
		*strrchr(name, '/') = '\0';
		assert_int_equal(rmdir(name), 0);
	}
}

/* clang-format off */
static const struct fault_row fault_rows[] = {
	{ .line = "opimport -a abi -o made " OLD,
	  .told = EXPECTED_ROW },
	{ .line = "opimport -s old -o made",
	  .told = EXPECTED_ROW },
	{ .line = "opimport -o made folded",
	  .told = EXPECTED_ROW,
	  .runs_daemon = true },
	{ .line = "opimport -o made callgrind",
	  .told = EXPECTED_ROW,
	  .runs_daemon = true },
};
/* clang-format on */

IMPORT_TEST(faults_are_told)
{
	make_old_session(OLD);
	write_text("folded", "a;b 1\na;c 2\n");
	write_text("callgrind",
		   "events: Ir\nfl=x.c\nfn=main\n1 2\ncfn=f\ncalls=1 5\n2 3\n"
		   "fn=f\n5 3\n");
	for (size_t i = 0; i < NR(fault_rows); i++)
		check_fault_row(programs, &fault_rows[i], *state);
}

IMPORT_TEST(a_daemon_is_needed)
{
	static const struct program_row row = {
		.line = "opimport -o s file",
		.wanted = "oprofiled: no such program",
		.from = "oprofiled: no such",
		.to = " in /"
	};

	write_text("file", "a;b 1\n");
	unlink("oprofiled");
	check_run(programs, &row, *state);
}

BEFORE_TESTS()
{
	be_program(programs, argc, argv);
	set_program_environment();
}
