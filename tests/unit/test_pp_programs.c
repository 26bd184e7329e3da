// SPDX-License-Identifier: GPL-2.0-or-later
/* The programs that read sessions: rows are command lines. Those of listings of
 * code are in test_pp_opannotate.c. */

#include "tests/unit/pp_programs.h"

/* ---- reports ------------------------------------------------------------- */

static void reports_are_written(void **state)
{
	static const struct program_row
		rows
			[] = {
				{ .line = "opreport --session-dir=. --root=root",
				  .wanted =
					  "CPU: none/such\n"
					  "Counted CYCLES events with a unit mask of 0x00 count 100\n"
					  "       CYCLES:100|\n"
					  "  samples|      %|\n"
					  "------------------\n"
					  "      218 100.000 x\n"
					  "\t       CYCLES:100|\n"
					  "\t  samples|      %|\n"
					  "\t------------------\n"
					  "\t      208 95.4128 x\n"
					  "\t       10  4.5872 vmlinux\n" },
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
					  "opreport: warning: /bin/x: no symbols: not found; say where it is with --image-path or --root\n" },
				{ .line = "opreport --session-dir=. --format=html --sort=vma",
				  .wanted =
					  "opreport: --sort changes nothing in --format=html; leave it out\n"
					  "= 2\n",
				  .from = "opreport: " },
				{ .line = "opreport --session-dir=. --check",
				  .wanted =
					  "$: 3 files with 218 samples: all sound\n" },
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
				  .wanted = "\"symbols\" title=\"1\">Symbols</button>\n"
					    "<button role=\"tab\" id=\"tab-graph\" aria-controls=\"graph\" title=\"2\">Flame graph</button>\n"
					    "<button role=\"tab\" id=\"tab-summary\" aria-controls=\"summary\" title=\"3\">Summary</button>\n"
					    "</div>\n"
					    "<div class=\"search\">\n"
					    "<input type=\"search\" id=\"search\" placeholder=\"Search names and images  /\"\n"
					    "\taria-label=\"Search for functions or images, by a regular expression\"\n"
					    "\tautocomplete=\"off\" spellcheck=\"false\">\n"
					    "<span id=\"found\" role=\"status\"></span>\n"
					    "</div>\n"
					    "</nav>\n"
					    "<p id=\"warned\" hidden></p>\n"
					    "<main>\n"
					    "<section id=\"symbols\" role=\"tabpanel\" aria-labelledby=\"tab-symbols\">\n"
					    "<div id=\"table\" role=\"grid\" aria-label=\"Symbols\" tabindex=\"0\">\n"
					    "<div id=\"heads\" role=\"row\"></div>\n"
					    "<div id=\"rows\" role=\"presentation\"><div id=\"tall\" role=\"rowgroup\"></div></div>\n"
					    "</div>\n"
					    "<aside id=\"chosen\" aria-label=\"The chosen symbol\" tabindex=\"-1\"></aside>\n"
					    "</section>\n"
					    "<section id=\"graph\" role=\"tabpanel\" aria-labelledby=\"tab-graph\" hidden>\n"
					    "<div id=\"graph-none\" hidden></div>\n"
					    "<div id=\"tools\">\n"
					    "<label id=\"basis-label\">Widths <select id=\"basis\">\n"
					    "<option value=\"later\">later profile</option>\n"
					    "<option value=\"earlier\">earlier profile</option>\n"
					    "<option value=\"both\">both, equally</option>\n"
					    "</select></label>\n"
					    "<button id=\"reset\" title=\"Escape\">Reset zoom</button>\n"
					    "<button id=\"icicle\" aria-pressed=\"false\" title=\"i\">Icicle</button>\n"
					    "<button id=\"open\" title=\"o\">Open symbol</button>\n"
					    "<span id=\"zoomed\"></span>\n"
					    "<span id=\"match\" role=\"status\"></span>\n"
					    "</div>\n"
					    "<div id=\"legend\"></div>\n"
					    "<div id=\"view\" tabindex=\"0\" role=\"application\"\n"
					    "\taria-label=\"Flame graph. Arrow keys move between frames, Enter zooms, Escape resets.\"\n"
					    "\taria-describedby=\"details\"><div id=\"space\"><canvas id=\"canvas\"></canvas></div></div>\n"
					    "<div id=\"details\" role=\"status\"></div>\n"
					    "<p id=\"hidden\" class=\"notes\"></p>\n"
					    "<div id=\"graph-notes\" class=\"notes\"></div>\n"
					    "</section>\n"
					    "<section id=\"summary\" role=\"tabpanel\" aria-labelledby=\"tab-summary\" tabindex=\"0\" hidden></section>\n"
					    "</main>\n"
					    "<div id=\"tip\" hidden></div>\n"
					    "<dialog id=\"help\" aria-labelledby=\"help-title\">\n"
					    "<h2 id=\"help-title\">Keys</h2>\n"
					    "<dl>\n"
					    "<dt><kbd>/</kbd></dt><dd>search</dd>\n"
					    "<dt><kbd>1</kbd> <kbd>2</kbd> <kbd>3</kbd></dt><dd>symbols, flame graph, summary</dd>\n"
					    "<dt><kbd>\342\206\221</kbd> <kbd>\342\206\223</kbd> <kbd>Home</kbd> <kbd>End</kbd></dt><dd>choose a symbol; in the graph, move between frames</dd>\n"
					    "<dt><kbd>Enter</kbd></dt><dd>go to the chosen symbol; in the graph, zoom</dd>\n"
					    "<dt><kbd>c</kbd> <kbd>s</kbd> <kbd>a</kbd></dt><dd>its callers, source, assembly</dd>\n"
					    "<dt><kbd>n</kbd></dt><dd>the next hot line of source or assembly</dd>\n"
					    "<dt><kbd>f</kbd></dt><dd>the chosen symbol in the flame graph</dd>\n"
					    "<dt><kbd>o</kbd></dt><dd>the frame of the graph as a symbol</dd>\n"
					    "<dt><kbd>i</kbd></dt><dd>flame graph or icicle</dd>\n"
					    "<dt><kbd>t</kbd></dt><dd>light or dark</dd>\n"
					    "<dt><kbd>Esc</kbd></dt><dd>one step back: dialog, search, zoom</dd>\n"
					    "</dl>\n"
					    "<form method=\"dialog\"><button autofocus>Close</button></form>\n"
					    "</dialog>\n"
					    "<noscript><p class=\"plain\">This page is made by JavaScript, which is turned off\n"
					    "here. opreport --symbols writes the same table as text.</p></noscript>\n"
					    "<script type=\"application/json\" id=\"data\">{\n"
					    " \"title\": \"Profile: x\",\n"
					    " \"counted\": \"CPU: none/such\\u000aCounted CYCLES events with a unit mask of 0x00 count 100\\u000a\",\n"
					    " \"command\": \"opreport --session-dir=. --root=root --format=html \",\n"
					    " \"diff\": false,\n"
					    " \"has_totals\": false,\n"
					    " \"cpu\": {\n"
					    "  \"type\": \"none/such\",\n"
					    "  \"title\": \"none/such\"\n"
					    " },\n"
					    " \"classes\": [\n"
					    "  {\"name\": \"CYCLES:100\", \"event\": \"CYCLES\", \"count\": 100, \"unit_mask\": 0, \"samples\": 218, \"symbol_samples\": 218}\n"
					    " ],\n"
					    " \"account_written\": 0,\n"
					    " \"old_account_written\": 0,\n"
					    " \"events\": [\n"
					    "  {\"name\": \"CYCLES:100\"}\n"
					    " ],\n"
					    " \"class_event\": [\n"
					    "  0\n"
					    " ],\n"
					    " \"builds\": [],\n"
					    " \"totals\": [218],\n"
					    " \"symbol_totals\": [218],\n"
					    " \"warnings\": [],\n"
					    " \"code_warnings\": [],\n"
					    " \"apps\": [0,1,0,218,2,0,1,0,208,1,1,0,10],\n"
					    " \"symbols\": {\n"
					    "  \"name\": [2,3,4,5,6],\n"
					    "  \"image\": [0,0,1,0,0],\n"
					    "  \"app\": [0,0,0,0,0],\n"
					    "  \"vma\": [\"401000\", \"inlined\", \"100\", \"401020\", \"401030\"],\n"
					    "  \"counts\": [1,0,172,1,0,32,1,0,10,1,0,3,1,0,1]\n"
					    " },\n"
					    " \"code\": {\n"
					    "  \"threshold\": 0.1,\n"
					    "  \"max\": 100,\n"
					    "  \"more\": 0,\n"
					    "  \"files\": [[\"$/src/x.c\", false, [1, \"line 1\", \"line 2\", \"line 3\", \"line 4\", \"line 5\", \"line 6\", \"line 7\", \"line 8\", \"line 9\", \"line 10\", \"line 11\", \"line 12\", \"line 13\", \"line 14\", \"line 15\", \"line 16\", \"line 17\", \"line 18\", \"line 19\", \"line 20\", \"line 21\", \"line 22\", \"line 23\", \"line 24\", \"line 25\", \"line 26\", \"line 27\", \"line 28\", \"line 29\", \"line 30\", \"line 31\", \"line 32\", \"line 33\", \"line 34\", \"line 35\", \"line 36\", \"line 37\", \"line 38\"]], [\"$/src/x.h\", false, [1, \"a header\"]]],\n"
					    "  \"symbols\": [{\"name\": 2, \"image\": 0, \"vma\": \"401000\", \"start\": \"401000\", \"step\": [0,2,2,2,1,1,1,1,1,1,1,1,2,10,1,1,1,1,1], \"text\": [7,8,9,10,10,10,10,10,10,10,10,11,12,10,13,10,10,10,10], \"place\": [0,2,0,3,1,1,0,4,0,4,0,4,0,4,0,4,0,4,0,4,0,4,0,18,0,12,0,12,0,21,0,21,0,21,0,21,0,21], \"counts\": [1,0,5,1,0,120,1,0,30,0,0,0,0,0,0,0,0,1,0,40,1,0,1,1,0,6,0,0,0,0,0]}, {\"name\": 3, \"image\": 0, \"vma\": \"inlined\", \"start\": \"401004\", \"step\": [0,33], \"text\": [9,9], \"place\": [1,1,1,1], \"counts\": [1,0,30,1,0,2]}, {\"name\": 5, \"image\": 0, \"vma\": \"401020\", \"start\": \"401020\", \"step\": [0,5,2,1,1,1,1,1,1,1,1], \"text\": [14,9,10,10,10,10,10,10,10,10,13], \"place\": [0,30,1,1,0,31,0,31,0,31,0,31,0,31,0,31,0,31,0,31,0,31], \"counts\": [1,0,3,1,0,2,0,0,0,0,0,0,0,0,0]}, {\"name\": 6, \"image\": 0, \"vma\": \"401030\", \"start\": \"401030\", \"step\": [0,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1], \"text\": [10,10,10,10,10,10,10,10,10,10,10,10,10,10,10,10], \"place\": [0,34,0,34,0,34,0,34,0,34,0,34,0,34,0,34,0,34,0,34,0,34,0,34,0,34,0,34,0,34,0,34], \"counts\": [1,0,1,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0]}, {\"name\": 4, \"image\": 1, \"vma\": \"100\", \"problem\": \"its binary is not available\", \"start\": \"0\", \"step\": [], \"text\": [], \"place\": [], \"counts\": []}]\n"
					    " },\n"
					    " \"texts\": [\n"
					    "  \"/bin/x\",\n"
					    "  \"/vmlinux\",\n"
					    "  \"first\",\n"
					    "  \"tiny\",\n"
					    "  \"do_work\",\n"
					    "  \"second\",\n"
					    "  \"bare\",\n"
					    "  \"xor    %eax,%eax\",\n"
					    "  \"inc    %eax\",\n"
					    "  \"dec    %eax\",\n"
					    "  \"nop\",\n"
					    "  \"inc    %ebx\",\n"
					    "  \"movabs $0x1122334455667788,%rax\",\n"
					    "  \"ret\",\n"
					    "  \"call   401000 \\u003cfirst>\"\n"
					    " ]\n"
					    "}",
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
			  "Counted CYCLES events with a unit mask of 0x00 count 100\n"
			  "Not shown: 1 sample file could not be read\n"
			  "samples  %        image name               symbol name\n"
			  "10       100.000  vmlinux                  do_work\n"
			  "opreport: warning: $/samples/current/{root}/bin/x/{dep}/{root}/bin/x/CYCLES.100.0.all.all.all: it is damaged; left out\n" },
		{ .line = "opannotate --session-dir=. -a",
		  .wanted =
			  "CPU: none/such\n"
			  "Counted CYCLES events with a unit mask of 0x00 count 100\n"
			  "Not shown: 1 sample file could not be read\n"
			  "opannotate: warning: $/samples/current/{root}/bin/x/{dep}/{root}/bin/x/CYCLES.100.0.all.all.all: it is damaged; left out\n"
			  "opannotate: warning: /vmlinux: not shown: 10 samples in do_work: its binary is not available\n" },
		{ .line = "opgprof --session-dir=.",
		  .wanted =
			  "opgprof: warning: $/samples/current/{root}/bin/x/{dep}/{root}/bin/x/CYCLES.100.0.all.all.all: it is damaged; left out\n"
			  "opgprof: /vmlinux: gprof needs the binary that was profiled; say where it is with --image-path or --root\n"
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
			  "Counted CYCLES events with a unit mask of 0x00 count 100\n"
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

static void lines_have_their_texts(void **state)
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

static void files_for_gprof_are_of_one_program(void **state)
{
	static const struct program_row one[] = {
		{ .line = "opgprof --session-dir=. --root=root", .wanted = "" },
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
			  "opgprof: warning: /bin/x: no symbols: not found; say where it is with --image-path or --root\n"
			  "opgprof: /bin/x: gprof needs the binary that was profiled; say where it is with --image-path or --root\n"
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
			  "opgprof: warning: /bin/z: no symbols: not found; say where it is with --image-path or --root\n"
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

	make_binaries();
	write_session(one_event, NR(one_event));
	check_runs(programs, one, NR(one), *state);
	assert_int_equal(access("gmon.out", F_OK), 0);
	write_session(two_events, NR(two_events));
	check_runs(programs, two, NR(two), *state);
	write_session(many_events, NR(many_events));
	check_runs(programs, more, NR(more), *state);
}

/* ---- archives and what is kept ------------------------------------------- */

static void archives_are_made(void **state)
{
	static const struct program_row rows[] = {
		{ .line = "oparchive --session-dir=. --root=root -l",
		  .wanted =
			  "$/root/bin/x\n"
			  "$/symbols/vmlinux-01\n"
			  "$/samples/current/{root}/bin/x/{dep}/{kern}/vmlinux/CYCLES.100.0.all.all.all\n"
			  "$/samples/current/{root}/bin/x/{dep}/{root}/bin/x/CYCLES.100.0.all.all.all\n" },
		{ .line = "oparchive --session-dir=. --root=root -o ar -V",
		  .wanted =
			  "oparchive: $/samples/current/{root}/bin/x/{dep}/{kern}/vmlinux/CYCLES.100.0.all.all.all: 10 samples\n"
			  "oparchive: $/samples/current/{root}/bin/x/{dep}/{root}/bin/x/CYCLES.100.0.all.all.all: 208 samples\n"
			  "oparchive: /bin/x: symbols from $/root/bin/x\n" },
		{ .line = "oparchive --session-dir=. --root=root -o ar",
		  .wanted =
			  "oparchive: ar: exists already; remove it, name another folder, or replace an archive with --force\n"
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
			  "opmerge: sum: exists already; remove it, name another folder, or replace an archive with --force\n"
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		folder_test(reports_are_written),
		folder_test(lines_have_their_texts),
		folder_test(files_for_gprof_are_of_one_program),
		folder_test(archives_are_made),
	};

	set_program_environment();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
