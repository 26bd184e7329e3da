// SPDX-License-Identifier: GPL-2.0-or-later
/* The programs that read sessions: rows are command lines. Those of listings of
 * code are in test_pp_opannotate.c. */

#include <signal.h>

#include "config.h"

#include "libpp/format/format.h"
#include "pp_programs.h"
#include "tests/unit/pp_report.h"

/* ---- reports ------------------------------------------------------------- */

FOLDER_TEST(reports_are_written)
{
	static const struct program_row rows[] = {
		{ .line = "opreport --session-dir=. --root=root",
		  .wanted = EXPECTED("opreport") },
		{ .line = "opreport --session-dir=. --root=root -l -n -o report",
		  .wanted = "" },
		{ .line = "opreport --session-dir=. --root=root -l -o none/report",
		  .wanted =
			  "opreport: none/report: cannot be written: No such file or directory; name a file in a folder that you may write to\n"
			  "= 1\n" },
		{ .line = "opreport --session-dir=. --root=root -l -t 200",
		  .wanted =
			  "opreport: --threshold=200: not a percentage; give a number from 0 to 100\n"
			  "= 2\n" },
		{ .line = "opreport --session-dir=. -o /dev/full",
		  .wanted =
			  "opreport: /dev/full: cannot be written: No space left on device\n"
			  "= 1\n" },
		{ .line = "opreport --session-dir=. /bin/none",
		  .wanted =
			  "opreport: /bin/none: no sample files match; images here: /bin/x, /vmlinux\n"
			  "= 1\n" },
		{ .line = "opreport --session-dir=. --csv -l --sort=vma",
		  .wanted =
			  "version,row,class,application,image,symbol,address,file,line,samples,percent\n"
			  "1,symbol,CYCLES:100,/bin/x,/bin/x,/bin/x,,,,208,95.412844\n"
			  "1,symbol,CYCLES:100,/bin/x,/vmlinux,do_work,0x100,,,10,4.58715596\n"
			  "opreport: warning: /bin/x: no symbols: not found; give its folder with --image-path or --root\n" },
		{ .line = "opreport --session-dir=. --format=html --sort=vma",
		  .wanted =
			  "opreport: --sort has no effect on --format=html; leave it out\n"
			  "= 2\n",
		  .from = "opreport: " },
		{ .line = "opreport --session-dir=. --check",
		  .wanted = "$: 3 files with 218 samples: all sound\n" },
		{ .line = "opreport --session-dir=. --check words",
		  .wanted =
			  "opreport: words: --check looks at all of --session-dir; leave it out\n"
			  "= 2\n" },
		{ .line = "opreport --session-dir=. --repair words",
		  .wanted =
			  "opreport: words: --check looks at all of --session-dir; leave it out\n"
			  "= 2\n" },
		{ .line = "opreport --session-dir=. --max-loss=5",
		  .wanted =
			  "opreport: --max-loss=5: the session has no account of its samples; leave the option out\n"
			  "= 1\n" },
		{ .line = "opreport --session-dir=. --root=root --format=html",
		  .wanted = EXPECTED("opreport-format-html"),
		  .from = "\"symbols\"",
		  .to = "</script" },
	};

	static const struct program_row damaged[] = {
		{ .line = "opreport --session-dir=. --check",
		  .wanted =
			  "$/samples/current/{root}/bin/x/{dep}/{root}/bin/x/CYCLES.100.0.all.all.all: it is damaged: the samples in it are lost\n"
			  "$: 3 files with 10 samples: 1 damaged\n"
			  "opreport: $: not all files are sound\n"
			  "= 1\n" },
		{ .line = "opreport --session-dir=. --repair",
		  .wanted =
			  "$/samples/current/{root}/bin/x/{dep}/{root}/bin/x/CYCLES.100.0.all.all.all: it is damaged: the samples in it are lost\n"
			  "$: 3 files with 10 samples: 1 damaged\n"
			  "opreport: $: not all files are sound\n"
			  "= 1\n" },
		{ .line = "opreport --session-dir=. -l",
		  .wanted =
			  "CPU: none/such\n"
			  "Counted CYCLES 0x00 100\n"
			  "Not shown: 1 sample file could not be read\n"
			  "samples  %        image name               symbol name\n"
			  "10       100.000  vmlinux                  do_work\n"
			  "opreport: warning: $/samples/current/{root}/bin/x/{dep}/{root}/bin/x/CYCLES.100.0.all.all.all: it is damaged; left out\n" },
		{ .line = "opannotate --session-dir=. -a",
		  .wanted =
			  "CPU: none/such\n"
			  "Counted CYCLES 0x00 100\n"
			  "Not shown: 1 sample file could not be read\n"
			  "opannotate: warning: $/samples/current/{root}/bin/x/{dep}/{root}/bin/x/CYCLES.100.0.all.all.all: it is damaged; left out\n"
			  "opannotate: warning: /vmlinux: not shown: 10 samples in do_work: its binary is not available\n" },
		{ .line = "opgprof --session-dir=.",
		  .wanted =
			  "opgprof: warning: $/samples/current/{root}/bin/x/{dep}/{root}/bin/x/CYCLES.100.0.all.all.all: it is damaged; left out\n"
			  "opgprof: /vmlinux: gprof needs the binary that was profiled; give its folder with --image-path or --root\n"
			  "= 1\n" },
		{ .line = "oparchive --session-dir=. -o damaged",
		  .wanted =
			  "oparchive: warning: $/samples/current/{root}/bin/x/{dep}/{root}/bin/x/CYCLES.100.0.all.all.all: it is damaged; left out\n" },
		{ .line = "opsymbols --session-dir=.", .wanted = "" },
	};
	static const struct program_row of_y[] = {
		{ .line = "opreport --session-dir=. --root=root -ld /bin/y",
		  .wanted =
			  "CPU: none/such\n"
			  "Counted CYCLES 0x00 100\n"
			  "vma      samples  %        symbol name\n"
			  "00000000 17       100.000  /bin/y\n"
			  "  00401002 7        41.1765\n"
			  "  0040100e 9        52.9412\n"
			  "  00002000 1         5.8824\n"
			  "opreport: warning: /bin/y: no symbols: it is stripped; install its debug symbols\n"
			  "opreport: to name the functions of /bin/y: fetch its debug file with --debuginfod=URL\n" },
	};

	make_binaries();
	write_session(one_event, NR(one_event));
	check_runs(programs, rows, NR(rows), *state);
	assert_non_null(strstr(text_of("report"), " first\n"));
	write_text(CYCLES_OF_X, "no samples");
	check_runs(programs, damaged, NR(damaged), *state);
	write_session(two_events, NR(two_events));
	check_runs(programs, of_y, NR(of_y), *state);
}

/* ---- source lines -------------------------------------------------------- */

FOLDER_TEST(lines_have_their_texts)
{
	/* clang-format off */
	static const struct program_row rows[] = {
		/* One blank stands for several and for control characters. */
		{ .line = "opreport --session-dir=. --root=root --lines -n",
		  .wanted =
			  "120      55.0459  x.c:3        x           first        x = 1;\n"
			  "40       18.3486  x.c:18       x           first        line 18\n"
			  "32       14.6789  x.h:1        x           tiny         a b c\n"
			  "10        4.5872  (no line)    vmlinux     do_work\n"
			  "7         3.2110  x.c:12       x           first        line 12\n"
			  "5         2.2936  x.c:2        x           first        a b\n"
			  "3         1.3761  x.c:30       x           second\n"
			  "1         0.4587  x.c:34       x           bare\n" },
		{ .line = "opreport --session-dir=. --root=root --lines -n --threshold=10 --search-dirs=other --base-dirs=src",
		  .wanted =
			  "120      55.0459  x.c:3        first        x = 1;\n"
			  "40       18.3486  x.c:18       first        line 18\n"
			  "32       14.6789  x.h:1        tiny         another header\n" },
	};
	/* clang-format on */

	make_binaries();
	write_session(one_event, NR(one_event));
	assert_int_equal(system("sed -i '29,$d; s/^line 3$/\\t x  =\\t1;  /; "
				"s/^line 2$/ \\t a\\t b\\t /' src/x.c; "
				"printf 'a\\177b\\001 c' >src/x.h; "
				"touch -d @1000 src/x.?"),
			 0);
	mkdir("other", 0755);
	write_text("other/x.h", "another header\n");
	check_runs(programs, rows, NR(rows), *state);
}

/* ---- files for gprof ----------------------------------------------------- */

FOLDER_TEST(files_for_gprof_are_of_one_program)
{
	static const struct program_row one[] = {
		{ .line = "opgprof --session-dir=. --root=root", .wanted = "" },
		{ .line = "opgprof --session-dir=. --root=root -t 100",
		  .wanted =
			  "opgprof: no symbol of /bin/x has so large a share; give a lower --threshold\n"
			  "= 1\n" },
		{ .line = "opgprof --session-dir=. --root=root -o none/gmon",
		  .wanted =
			  "opgprof: none/gmon: cannot be written: No such file or directory\n"
			  "= 1\n" },
		{ .line = "opgprof --session-dir=. --root=root -o /dev/full",
		  .wanted =
			  "opgprof: /dev/full: cannot be written: No space left on device\n"
			  "= 1\n" },
		{ .line = "opgprof --session-dir=.",
		  .wanted =
			  "opgprof: warning: /bin/x: no symbols: not found; give its folder with --image-path or --root\n"
			  "opgprof: /bin/x: gprof needs the binary that was profiled; give its folder with --image-path or --root\n"
			  "= 1\n" },
		{ .line = "opgprof --session-dir=. -t x",
		  .wanted =
			  "opgprof: --threshold=x: not a percentage; give a number from 0 to 100\n"
			  "= 2\n" },
		{ .line = "opgprof --session-dir=. { }",
		  .wanted =
			  "opgprof: {: gprof cannot compare profiles; name one\n"
			  "= 1\n" },
		{ .line = "opgprof --session-dir=. --root=root /bin/none",
		  .wanted =
			  "opgprof: /bin/none: no sample files match; images here: /bin/x, /vmlinux\n"
			  "= 1\n" },
		{ .line = "opgprof --session-dir=none",
		  .wanted =
			  "opgprof: $/none/samples: there are no samples; profile first, or name another session folder with --session-dir\n"
			  "= 1\n" },
	};
	static const struct program_row two[] = {
		{ .line = "opgprof --session-dir=. --root=root",
		  .wanted =
			  "opgprof: warning: /bin/y: no symbols: it is stripped; install its debug symbols\n"
			  "opgprof: samples in several binaries (/bin/x, /bin/y), and gprof shows one; name exactly one of them\n"
			  "= 1\n" },
		{ .line = "opgprof --session-dir=. --root=root event:CYCLES",
		  .wanted =
			  "opgprof: warning: /bin/y: no symbols: it is stripped; install its debug symbols\n"
			  "opgprof: samples in several binaries (/bin/x, /bin/y), and gprof shows one; name exactly one of them\n"
			  "= 1\n" },
		{ .line = "opgprof --session-dir=. --root=root event:MISSES",
		  .wanted = "" },
		{ .line = "opgprof --session-dir=. --root=root /bin/x",
		  .wanted =
			  "opgprof: samples of several events (CYCLES:100, MISSES:100), and gprof shows one; choose with event: and count: or unit-mask:\n"
			  "= 1\n" },
	};
	static const struct program_row more[] = {
		{ .line = "opgprof --session-dir=. --root=root",
		  .wanted =
			  "opgprof: warning: /bin/y: no symbols: it is stripped; install its debug symbols\n"
			  "opgprof: warning: /bin/z: no symbols: not found; give its folder with --image-path or --root\n"
			  "opgprof: samples in several binaries (/vmlinux, /bin/x and others), and gprof shows one; name exactly one of them\n"
			  "= 1\n" },
		{ .line = "opgprof --session-dir=. --root=root event:HUGE",
		  .wanted =
			  "opgprof: warning: samples are divided by 24, because gprof cannot count so many\n" },
		{ .line = "opgprof --session-dir=. --root=root event:HUGE -o big.out",
		  .wanted =
			  "opgprof: warning: samples are divided by 24, because gprof cannot count so many\n" },
		{ .line = "opgprof --session-dir=. --root=root /bin/w",
		  .wanted =
			  "opgprof: /bin/w: no sample files match; images here: /bin/x, /bin/y, /bin/z, /vmlinux\n"
			  "= 1\n" },
	};
	static const char *const many_events[] = {
		"current x x CYCLES 1000=5",
		"current x x MISSES 1000=5",
		"current x x HUGE 1000=50000000000",
		"current y y OTHER 1000=5",
		"current z z OTHER 1000=5",
		"current w k CYCLES 110=10",
	};

	/* Calls, but no samples. */
	static const char *const calls[] = {
		"current x x>x CYCLES 1020>1000=9",
	};
	static const struct program_row of_calls[] = {
		{ .line = "opgprof --session-dir=. --root=root",
		  .wanted =
			  "opgprof: there are no samples in the binary itself; choose another one\n"
			  "= 1\n" },
		{ .line = "opgprof --session-dir=. --root=root /bin/x",
		  .wanted =
			  "opgprof: there are no samples in the binary itself; choose another one\n"
			  "= 1\n" },
	};
	/* In the kernel alone. */
	static const char *const kernel[] = { "current x k CYCLES 110=10" };
	static const struct program_row of_kernel[] = {
		{ .line = "opgprof --session-dir=. --root=root -o gmon",
		  .wanted =
			  "opgprof: /vmlinux: gprof needs the binary that was profiled; give its folder with --image-path or --root\n"
			  "= 1\n" },
	};

	make_binaries();
	write_session(one_event, NR(one_event));
	check_runs(programs, one, NR(one), *state);
	assert_int_equal(access("gmon.out", F_OK), 0);
	write_session(calls, NR(calls));
	check_runs(programs, of_calls, NR(of_calls), *state);
	write_session(kernel, NR(kernel));
	check_runs(programs, of_kernel, NR(of_kernel), *state);
	write_session(two_events, NR(two_events));
	check_runs(programs, two, NR(two), *state);
	write_session(many_events, NR(many_events));
	check_runs(programs, more, NR(more), *state);
}

/* ---- archives and what is kept ------------------------------------------- */

FOLDER_TEST(archives_are_made)
{
	static const struct program_row rows[] = {
		{ .line = "oparchive --session-dir=. --root=root -l",
		  .wanted =
			  "$/root/bin/x\n"
			  "$/symbols/vmlinux-01\n"
			  "$/samples/current/{root}/bin/x/{dep}/{kern}/vmlinux/CYCLES.100.0.all.all.all\n"
			  "$/samples/current/{root}/bin/x/{dep}/{root}/bin/x/CYCLES.100.0.all.all.all\n" },
		{ .line = "oparchive --session-dir=. --root=root -lx",
		  .wanted =
			  "$/root/bin/x\n"
			  "$/samples/current/{root}/bin/x/{dep}/{root}/bin/x/CYCLES.100.0.all.all.all\n" },
		{ .line = "oparchive --session-dir=. --root=root -o ar -V",
		  .wanted =
			  "oparchive: $/samples/current/{root}/bin/x/{dep}/{kern}/vmlinux/CYCLES.100.0.all.all.all: 10 samples\n"
			  "oparchive: $/samples/current/{root}/bin/x/{dep}/{root}/bin/x/CYCLES.100.0.all.all.all: 208 samples\n"
			  "oparchive: /bin/x: symbols from $/root/bin/x\n" },
		{ .line = "oparchive --session-dir=. --root=root -o ar",
		  .wanted =
			  "oparchive: ar: already exists; remove it, name another folder, or replace an archive with --force\n"
			  "= 1\n" },
		{ .line = "oparchive --session-dir=. --root=root -o ar --force --with-sources",
		  .wanted = "" },
		{ .line = "oparchive --session-dir=. --root=root -o two --samples-only --label=host=b",
		  .wanted = "" },
		{ .line = "oparchive --session-dir=. --root=root",
		  .wanted =
			  "oparchive: nowhere to write to; name a folder with --output-directory, or use --list-files\n"
			  "= 2\n" },
		{ .line = "oparchive --session-dir=. { } -o x",
		  .wanted =
			  "oparchive: a brace is missing; compare with \"{ OLD... } { NEW... }\"\n"
			  "= 1\n" },
		{ .line = "oparchive --session-dir=. -l /bin/none",
		  .wanted =
			  "oparchive: /bin/none: no sample files match; images here: /bin/x, /vmlinux\n"
			  "= 1\n" },
		{ .line = "oparchive -l --session-dir=none",
		  .wanted =
			  "oparchive: $/none/samples: there are no samples; profile first, or name another session folder with --session-dir\n"
			  "= 1\n" },
		{ .line = "opmerge ar two -o sum -V", .wanted = "" },
		{ .line = "opmerge ar two -o sum",
		  .wanted =
			  "opmerge: sum: already exists; remove it, name another folder, or replace an archive with --force\n"
			  "= 1\n" },
		{ .line = "opmerge ar none -o less",
		  .wanted =
			  "opmerge: warning: none: left out: No such file or directory\n"
			  "opmerge: 1 of 2 archives were left out; the sum is that of the others\n"
			  "= 1\n" },
		{ .line = "opmerge ar . -o less --force",
		  .wanted =
			  "opmerge: warning: $: left out: it has no .oparchive/facts; it is not of oparchive, or of OProfile 1.4 or older\n"
			  "opmerge: 1 of 2 archives were left out; the sum is that of the others\n"
			  "= 1\n" },
		{ .line = "opmerge -o most",
		  .wanted =
			  "opmerge: nothing to merge; name archives that oparchive made\n"
			  "= 2\n" },
		{ .line = "opmerge -o most --files-from=none",
		  .wanted =
			  "opmerge: --files-from=none: No such file or directory\n"
			  "= 2\n" },
		{ .line = "opmerge -o most two --files-from=src",
		  .wanted = "opmerge: --files-from=src: cannot be read\n"
			    "= 2\n" },
		{ .line = "opmerge -o most --files-from=-",
		  .wanted =
			  "opmerge: nothing to merge; name archives that oparchive made\n"
			  "= 2\n" },
		{ .line = "opmerge -o / two",
		  .wanted =
			  "opmerge: --output-directory=/: cannot be the archive; name a folder that is not there yet\n"
			  "= 2\n" },
		{ .line = "opmerge -o most two --verbose=x",
		  .wanted =
			  "opmerge: --verbose=x: unknown; use all, debug, bfd, level1, sfile, stats or xml\n"
			  "= 2\n" },
		{ .line = "opmerge -o most --files-from=list archive:two",
		  .wanted =
			  "opmerge: warning: $/ar: named twice; it counts once\n" },
		{ .line = "opreport archive:most -ln",
		  .wanted =
			  "344      78.8991  x                        first\n"
			  "64       14.6789  x                        tiny\n"
			  "20        4.5872  vmlinux                  do_work\n"
			  "6         1.3761  x                        second\n"
			  "2         0.4587  x                        bare\n" },
		{ .line = "opmerge -o more two --jobs=0",
		  .wanted = "opmerge: --jobs=0: not a number from 1 to 256\n"
			    "= 2\n" },
		{ .line = "opmerge -o more two --jobs=257",
		  .wanted = "opmerge: --jobs=257: not a number from 1 to 256\n"
			    "= 2\n" },
		{ .line = "opmerge -o more two --memory=15",
		  .wanted =
			  "opmerge: --memory=15: not a number from 16 to 1073741824\n"
			  "= 2\n" },
		{ .line = "opmerge -o more two --keep-labels=a=b",
		  .wanted =
			  "opmerge: --keep-labels: 'a=b' is no name of a label; give names, separated by commas\n"
			  "= 2\n" },
		{ .line = "opmerge -o more two --drop-labels=,",
		  .wanted =
			  "opmerge: --drop-labels: '' is no name of a label; give names, separated by commas\n"
			  "= 2\n" },
		{ .line = "opmerge -o more ar two --jobs=256 --memory=16 --drop-labels=host",
		  .wanted = "" },
		{ .line = "opreport archive:sum host:b -ln",
		  .wanted =
			  "172      78.8991  x                        first\n"
			  "32       14.6789  x                        tiny\n"
			  "10        4.5872  vmlinux                  do_work\n"
			  "3         1.3761  x                        second\n"
			  "1         0.4587  x                        bare\n" },
		{ .line = "opreport archive:more host:b -ln",
		  .wanted =
			  "opreport: host:b: no session has that label; values of host here: none\n"
			  "= 1\n" },
		{ .line = "opreport archive:sum -ln",
		  .wanted =
			  "344      78.8991  x                        first\n"
			  "64       14.6789  x                        tiny\n"
			  "20        4.5872  vmlinux                  do_work\n"
			  "6         1.3761  x                        second\n"
			  "2         0.4587  x                        bare\n" },
		{ .line = "opreport archive:less -ln",
		  .wanted =
			  "172      78.8991  x                        first\n"
			  "32       14.6789  x                        tiny\n"
			  "10        4.5872  vmlinux                  do_work\n"
			  "3         1.3761  x                        second\n"
			  "1         0.4587  x                        bare\n" },
		{ .line = "opannotate archive:ar -sn -i second",
		  .wanted = "\n"
			    "$/src/x.c\n"
			    "\n"
			    "     3 100.000 :second\n"
			    "               :    28  line 28\n"
			    "               :    29  line 29\n"
			    "     3 100.000 :    30  line 30\n"
			    "               :    31  line 31\n"
			    "               :    32  line 32\n" },
		{ .line = "opsymbols --session-dir=. -V", .wanted = "" },
		{ .line = "opsymbols --session-dir=. --symbol-store=0 -V",
		  .wanted = "" },
		{ .line = "opsymbols --session-dir=. --symbol-store=x",
		  .wanted =
			  "opsymbols: --symbol-store=x: not a number of MiB; give one from 1 to 1048576, or 0 to keep nothing\n"
			  "= 2\n" },
		{ .line = "opsymbols --session-dir=. --symbol-store=1048577",
		  .wanted =
			  "opsymbols: --symbol-store=1048577: not a number of MiB; give one from 1 to 1048576, or 0 to keep nothing\n"
			  "= 2\n" },
		{ .line = "opsymbols --session-dir=. cpu:x",
		  .wanted =
			  "opsymbols: cpu:x: 'x' is not a number; give whole numbers, separated by commas\n"
			  "= 1\n" },
		{ .line = "opsymbols --session-dir=. --symbol-store=1 /bin/none",
		  .wanted =
			  "opsymbols: /bin/none: no sample files match; images here: /bin/x, /vmlinux\n"
			  "= 1\n" },
		{ .line = "opsymbols --session-dir=none",
		  .wanted =
			  "opsymbols: $/none/samples: there are no samples; profile first, or name another session folder with --session-dir\n"
			  "= 1\n" },
	};

	make_binaries();
	write_session(one_event, NR(one_event));
	write_text("list", "ar\n\nar");
	check_runs(programs, rows, NR(rows), *state);
}

/* ---- checks and losses --------------------------------------------------- */

/* A byte that is not as it was. */
static void damage(const char *path, long at)
{
	FILE *file = fopen(path, "r+");
	int c;

	assert_non_null(file);
	assert_int_equal(fseek(file, at, at < 0 ? SEEK_END : SEEK_SET), 0);
	c = fgetc(file);
	assert_int_equal(fseek(file, -1, SEEK_CUR), 0);
	assert_int_equal(fputc(c ^ 0x55, file), c ^ 0x55);
	assert_int_equal(fclose(file), 0);
}

#define PACKED "packed/samples/current/packed"

/* The session of a sum is packed into one file. */
FOLDER_TEST(checks_tell_what_is_left)
{
	static const struct program_row archives[] = {
		{ .line = "oparchive --session-dir=. --root=root -o ar",
		  .wanted = "" },
		{ .line = "opmerge ar -o sum", .wanted = "" },
	};
	static const struct program_row of_pack[] = {
		{ .line = "opreport --session-dir=packed --check",
		  .wanted =
			  "$/packed/samples/current/packed: its header or index is damaged: nothing is lost\n"
			  "$/packed: 3 files with 218 samples: 1 damaged\n"
			  "opreport: $/packed: not all files are sound\n"
			  "= 1\n" },
		{ .line = "opreport --session-dir=packed --repair",
		  .wanted =
			  "$/packed/samples/current/packed: its header or index is damaged: nothing is lost\n"
			  "$/packed/samples/current/packed: rebuilt; nothing is lost\n"
			  "$/packed: 3 files with 218 samples: 1 damaged, 1 repaired\n" },
		{ .line = "opreport --session-dir=packed --check -o none --csv",
		  .wanted = "$/packed: 3 files with 218 samples: all sound\n" },
	};
	static const struct program_row of_more[] = {
		{ .line = "opreport --session-dir=packed --repair --check",
		  .wanted =
			  "$/packed/samples/current/packed: its header or index is damaged: nothing is lost\n"
			  "$/packed/samples/current/{root}/bin/x/{dep}/{root}/bin/x/CYCLES.100.0.all.all.all: it is damaged: the samples in it are lost\n"
			  "$/packed/samples/current/packed: rebuilt; nothing is lost\n"
			  "$/packed: 5 files with 228 samples: 2 damaged, 1 repaired\n"
			  "opreport: $/packed: not all files are sound\n"
			  "= 1\n" },
		{ .line = "opreport --session-dir=packed --repair --sort=x",
		  .wanted =
			  "$/packed/samples/current/{root}/bin/x/{dep}/{root}/bin/x/CYCLES.100.0.all.all.all: it is damaged: the samples in it are lost\n"
			  "$/packed: 5 files with 228 samples: 1 damaged\n"
			  "opreport: $/packed: not all files are sound\n"
			  "= 1\n" },
		{ .line = "opreport --session-dir=packed -ln",
		  .wanted =
			  "172      75.4386  x                        first\n"
			  "32       14.0351  x                        tiny\n"
			  "20        8.7719  vmlinux                  do_work\n"
			  "3         1.3158  x                        second\n"
			  "1         0.4386  x                        bare\n"
			  "opreport: warning: $/packed/samples/current/{root}/bin/x/{dep}/{root}/bin/x/CYCLES.100.0.all.all.all: it is damaged; left out\n" },
	};
	static const char *const one_sample = "current x x CYCLES 1000=1";
	static const struct program_row of_one[] = {
		{ .line = "opreport --session-dir=none --check",
		  .wanted =
			  "opreport: $/none/samples: No such file or directory\n"
			  "= 1\n" },
		{ .line = "opreport --session-dir=packed --check",
		  .wanted = "$/packed: 1 file with 1 sample: all sound\n" },
	};

	make_binaries();
	write_session(one_event, NR(one_event));
	check_runs(programs, archives, NR(archives), *state);
	assert_int_equal(system("mv sum/var/lib/oprofile packed; "
				"mv packed/samples/* packed/samples/current"),
			 0);
	damage(PACKED, 3);
	check_runs(programs, of_pack, NR(of_pack), *state);
	damage(PACKED, 3);
	assert_int_equal(system("mv samples/current/* packed/samples/current"),
			 0);
	write_text("packed/" CYCLES_OF_X, "no samples");
	check_runs(programs, of_more, NR(of_more), *state);
	write_session(&one_sample, 1);
	assert_int_equal(system("rm -r packed symbols; mkdir packed; "
				"mv samples packed"),
			 0);
	check_runs(programs, of_one, NR(of_one), *state);
}

/* 82 of 300 samples, 27.3 % */
FOLDER_TEST(losses_are_told)
{
	static const struct program_row rows[] = {
		{ .line = "opreport --session-dir=. --root=root -l -t 50",
		  .wanted = "CPU: none/such\n"
			    "Counted CYCLES 0x00 100\n"
			    "Samples: 300 = 218 + 82 (82 buffer_full)\n"
			    "samples  %        symbol name\n"
			    "172      78.8991  first\n" },
		{ .line = "opreport --session-dir=. --root=root -ln -t 50",
		  .wanted =
			  "172      78.8991  first\n"
			  "opreport: warning: 82 of 300 samples were lost; leave out --no-header to see why\n" },
		{ .line = "opreport --session-dir=. --root=root --format=html -o page",
		  .wanted = "" },
		{ .line = "opreport --session-dir=. --root=root --format=autofdo",
		  .wanted = EXPECTED("opreport-format-autofdo") },
		{ .line = "opreport --session-dir=. --root=root --csv -t 50 --max-loss=28",
		  .wanted =
			  "version,row,class,application,image,symbol,address,file,line,samples,percent\n"
			  "1,image,CYCLES:100,/bin/x,/bin/x,,,,,208,95.412844\n"
			  "1,image,CYCLES:100,/bin/x,/vmlinux,,,,,10,4.58715596\n"
			  "1,taken,,,,,,,,300\n"
			  "1,stored,,,,,,,,218\n"
			  "1,pending,,,,,,,,0\n"
			  "1,lost,,,,buffer_full,,,,82\n" },
		{ .line = "opreport --session-dir=. --root=root -ln -t 50 --max-loss=28",
		  .wanted =
			  "172      78.8991  first\n"
			  "opreport: warning: 82 of 300 samples were lost; leave out --no-header to see why\n" },
		{ .line = "opreport --session-dir=. --root=root -l --max-loss=27 -o report",
		  .wanted =
			  "opreport: 27.33 % of 300 samples were lost, more than --max-loss=27; profile again with larger buffers or fewer samples\n"
			  "= 1\n" },
		{ .line = "opreport --session-dir=. --root=root -X --max-loss=27",
		  .wanted =
			  "opreport: 27.33 % of 300 samples were lost, more than --max-loss=27; profile again with larger buffers or fewer samples\n"
			  "= 1\n" },
		{ .line = "opannotate --session-dir=. --root=root -sn -e first,second,bare,tiny,do_work",
		  .wanted =
			  "opannotate: warning: 82 of 300 samples were lost; the header of opreport says why\n"
			  "opannotate: none of the chosen symbols has samples\n"
			  "= 1\n" },
		{ .line = "opannotate --session-dir=. --root=root -an -e first,second,bare,tiny,do_work",
		  .wanted =
			  "opannotate: warning: 82 of 300 samples were lost; the header of opreport says why\n"
			  "opannotate: none of the chosen symbols has samples\n"
			  "= 1\n" },
		{ .line = "opgprof --session-dir=. --root=root /vmlinux",
		  .wanted =
			  "opgprof: /vmlinux: gprof needs the binary that was profiled; give its folder with --image-path or --root\n"
			  "= 1\n" },
	};

	make_binaries();
	write_session(one_event, NR(one_event));
	write_text("samples/current/ledger",
		   "source = x\ntaken = 300\nstored = 218\npending = 0\n"
		   "lost.buffer_full = 82\n");
	check_runs(programs, rows, NR(rows), *state);
	/* A report that is refused is not written at all. */
	assert_int_equal(access("report", F_OK), -1);
}

/* ---- what all programs do ------------------------------------------------ */

FOLDER_TEST(programs_tell_of_themselves)
{
	static const char *const names[] = { "opannotate", "oparchive",
					     "opgprof",	   "opmerge",
					     "opreport",   "opsymbols" };
	static const char *const usages[] = {
		"--source|--assembly [OPTION...] [PROFILE SPECIFICATION]",
		"[OPTION...] [PROFILE SPECIFICATION]",
		"[OPTION...] [PROFILE SPECIFICATION]",
		"[OPTION...] -o DIR ARCHIVE...",
		"[OPTION...] [PROFILE SPECIFICATION]",
		"[OPTION...] [PROFILE SPECIFICATION]",
	};

	for (size_t i = 0; i < NR(names); i++) {
		char line[64], wanted[256];
		struct program_row row = { .line = line, .wanted = wanted };

		snprintf(line, sizeof(line), "%s -v", names[i]);
		snprintf(wanted, sizeof(wanted),
			 "%s: oprofile " PACKAGE_VERSION "\n", names[i]);
		check_run(programs, &row, *state);
		snprintf(line, sizeof(line), "%s --none", names[i]);
		snprintf(wanted, sizeof(wanted),
			 "%s: --none: unknown option; see %s --help\n= 2\n",
			 names[i], names[i]);
		check_run(programs, &row, *state);
		snprintf(line, sizeof(line), "%s -h", names[i]);
		snprintf(wanted, sizeof(wanted), "Usage: %s %s", names[i],
			 usages[i]);
		row.to = "\n";
		check_run(programs, &row, *state);
	}
}

static void fill_standard_output(const void *ctx)
{
	(void)ctx;
	if (!freopen("/dev/full", "w", stdout))
		_exit(99);
}

/* Run the program of @line with a standard output that nothing can be written
 * to. */
static void write_full_run(FILE *out, const char *line, const char *folder)
{
	int status = run_program(programs, line, fill_standard_output, NULL);

	write_without(out, strdup(text_of("err")), folder);
	fprintf(out, "= %d\n", WEXITSTATUS(status));
}

FOLDER_TEST(full_disks_are_told)
{
	static const struct program_row rows[] = {
		{ .line = "opreport --session-dir=. --root=root",
		  .wanted =
			  "opreport: standard output: cannot be written: No space left on device\n"
			  "= 1\n" },
		{ .line = "opreport --session-dir=. --root=root --csv",
		  .wanted =
			  "opreport: standard output: cannot be written: No space left on device\n"
			  "= 1\n" },
		{ .line = "opreport --session-dir=. --root=root --format=html",
		  .wanted =
			  "opreport: standard output: cannot be written: No space left on device\n"
			  "= 1\n" },
		{ .line = "opreport --session-dir=. --check",
		  .wanted =
			  "opreport: standard output: cannot be written: No space left on device\n"
			  "= 1\n" },
		{ .line = "opannotate --session-dir=. --root=root -a /bin/x",
		  .wanted =
			  "opannotate: warning: /vmlinux: not shown: 10 samples in do_work: its binary is not available\n"
			  "opannotate: standard output: cannot be written: No space left on device\n"
			  "= 1\n" },
		{ .line = "opannotate --session-dir=. --root=root -s -i first",
		  .wanted =
			  "opannotate: standard output: cannot be written: No space left on device\n"
			  "= 1\n" },
		{ .line = "opannotate --session-dir=. --root=root -s --all -i first",
		  .wanted =
			  "opannotate: standard output: cannot be written: No space left on device\n"
			  "= 1\n" },
		{ .line = "oparchive --session-dir=. --root=root -l",
		  .wanted =
			  "oparchive: standard output: cannot be written: No space left on device\n"
			  "= 1\n" },
	};

	make_binaries();
	write_session(one_event, NR(one_event));
	for (size_t i = 0; i < NR(rows); i++) {
		struct text t;

		write_full_run(text_begin(&t), rows[i].line, *state);
		text_must_be(&t, rows[i].line, rows[i].wanted);
	}
}

/* ---- signals and progress ------------------------------------------------ */

static void catch_signal(const void *signal)
{
	setvbuf(stderr, NULL, _IONBF, 0);
	pp_catch_signals();
	raise(*(const int *)signal);
}

/* The program of @line, to which @signal came while it began. */
static void write_ended_run(FILE *out, const char *line, int signal)
{
	int status = run_program(programs, line, catch_signal, &signal);

	fputs(text_of("err"), out);
	if (WIFSIGNALED(status))
		fprintf(out, "by signal %d\n", WTERMSIG(status));
	else
		fprintf(out, "= %d\n", WEXITSTATUS(status));
}

FOLDER_TEST(signals_end_what_takes_long)
{
	static const struct {
		int signal;
		const char *line, *wanted;
	} rows[] = {
		{ SIGINT, "oparchive --session-dir=. --root=root -o made",

		  "oparchive: made: ended early; nothing is kept\n"
		  "by signal 2\n" },
		{ SIGTERM, "opmerge ar two -o made --jobs=1",
		  "opmerge: made: ended early; nothing is kept\n"
		  "by signal 15\n" },
		{ SIGHUP, "opmerge ar two -o made --jobs=2",
		  "opmerge: made: ended early; nothing is kept\n"
		  "by signal 1\n" },
	};
	static const struct program_row archives[] = {
		{ .line = "oparchive --session-dir=. --root=root -o ar",
		  .wanted = "" },
		{ .line = "oparchive --session-dir=. --root=root -o two --label=host=b",
		  .wanted = "" },
	};

	make_binaries();
	write_session(one_event, NR(one_event));
	check_runs(programs, archives, NR(archives), *state);
	for (size_t i = 0; i < NR(rows); i++) {
		struct text t;

		write_ended_run(text_begin(&t), rows[i].line, rows[i].signal);
		text_must_be(&t, rows[i].line, rows[i].wanted);
		assert_int_equal(access("made", F_OK), -1);
		assert_int_equal(system("! ls -A | grep -q '^[.]made'"), 0);
	}
}

/* What nohup(1) ignores stays ignored. */
TEST(ignored_signals_end_nothing)
{
	int status;
	pid_t pid;

	fflush(NULL);
	pid = fork();
	if (!pid) {
		signal(SIGHUP, SIG_IGN);
		pp_catch_signals();
		raise(SIGHUP);
		pp_end_by_signal();
		if (pp_caught_signal())
			_exit(1);
		raise(SIGTERM);
		_exit(pp_caught_signal() == SIGTERM ? 0 : 2);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

/* What a terminal sees, when it is time and when it is not. */
FOLDER_TEST(progress_is_one_line)
{
	struct copying copying = { .total = UINT64_C(5) << 20,
				   .progress.next = 1 };
	struct pp_progress merging = { .next = 1 }, never = { 0 };
	int was = dup(STDERR_FILENO);

	fflush(stderr);
	assert_non_null(freopen("progress", "w", stderr));
	assert_int_equal(show_copying(&copying, UINT64_C(3) << 20), 0);
	/* It is not time again yet. */
	assert_true(copying.progress.next > 1);
	copying.progress.next = UINT64_MAX;
	assert_int_equal(show_copying(&copying, UINT64_C(4) << 20), 0);
	copying.progress.next = 1;
	assert_int_equal(show_copying(&copying, UINT64_C(7) << 20), 0);
	pp_progress_end(&copying.progress);
	assert_int_equal(copying.progress.next, 0);
	assert_false(copying.progress.shown);
	/* There is nothing to remove. */
	pp_progress_end(&copying.progress);
	fputc('\n', stderr);
	assert_int_equal(show_merging(&merging, "files\033", 3, 7), 0);
	fputc('\n', stderr);
	assert_int_equal(show_merging(&never, "files", 4, 7), 0);
	pp_progress_end(&never);
	pp_progress_start(&never);
	/* A file is no terminal. */
	assert_int_equal(never.next, 0);
	fflush(stderr);
	assert_true(dup2(was, STDERR_FILENO) >= 0);
	close(was);
	assert_string_equal(text_of("progress"),
			    "\r\033[Koparchive: 3 of 5 MB"
			    "\r\033[Koparchive: 7 of 7 MB"
			    "\r\033[K\n"
			    "\r\033[Kopmerge: 3 of 7 files?\n");
}

/* ---- pagers -------------------------------------------------------------- */

/* Lines above the rows of a table, which a pager keeps in sight. */
TEST(header_lines_are_counted)
{
	static const struct {
		unsigned int flags;
		const char *format;
		int no_header;
		unsigned int nr;
	} rows[] = {
		{ SYMBOLS, "text", 0, 3 },
		{ SYMBOLS | ACCOUNT, "text", 0, 4 },
		{ SYMBOLS | TWO, "text", 0, 5 },
		{ SYMBOLS, "text", 1, 0 },
		{ SYMBOLS, "csv", 0, 0 },
		{ SYMBOLS | CALLS, "text", 0, 0 },
		{ 0, "text", 0, 0 },
	};

	for (size_t i = 0; i < NR(rows); i++) {
		const struct opreport_options o = {
			.format = pp_format_find(rows[i].format),
			.args.no_header = rows[i].no_header,
		};
		struct made_report m;

		make_report(&m, rows[i].flags);
		assert_int_equal(nr_header_lines(&o, &m.report), rows[i].nr);
	}
}

BEFORE_TESTS()
{
	set_program_environment();
}
