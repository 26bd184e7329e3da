// SPDX-License-Identifier: GPL-2.0-or-later
/* The programs that read sessions, while a system call fails. */

#include "libdb/db_folder.h"
#include "pp_faults.h"
#include "pp_programs.h"

/* Where daemons put new files: the fewer folders, the fewer calls. */
static void make_loose(const char *name)
{
	char from[512], to[512];

	snprintf(from, sizeof(from), "samples/current/%s", name);
	assert_int_equal(
		db_folder_loose("samples/current", name, to, sizeof(to)), 0);
	assert_int_equal(op_make_parents(to, 0755), 0);
	assert_int_equal(rename(from, to), 0);
}

static void make_session(void)
{
	static const char *const lines[] = {
		SAMPLES_OF_X,
		"current x k CYCLES 110=10",
		"tree current x CYCLES 3:x+1020>x+1000 4:x+1030>k+110",
	};

	make_binaries();
	write_session(lines, NR(lines));
	make_loose("{root}/bin/x/{dep}/{root}/bin/x/CYCLES.100.0.all.all.all");
	make_loose(
		"{root}/bin/x/{dep}/{kern}/vmlinux/CYCLES.100.0.all.all.all");
	make_loose("{root}/bin/x/{tree}/CYCLES.100.0.all.all.all");
	assert_int_equal(nftw("samples/current/{root}", remove_one, 16,
			      FTW_DEPTH | FTW_PHYS),
			 0);
	write_ledger_at("samples/current/ledger", 218, 0);
	write_text("samples/current/labels", "host = b\n");
}

/* What a report on any part of the session may lack. */
#define FAULTS_OF_READING                                                                                       \
	"$/samples/current/labels: cannot open: EIO\n"                                                          \
	"$/samples/current/labels: cannot read: EIO\n"                                                          \
	"$/samples/current: EIO\n"                                                                              \
	"the report is not complete: files that could not be read are left out (see the warnings); try again\n" \
	"warning: $/samples/current/ledger: EIO; how many samples were lost is not known\n"                     \
	"warning: $/samples/current/ledger: cannot open: EIO; how many samples were lost is not known\n"        \
	"warning: $/samples/current/ledger: cannot read: EIO; how many samples were lost is not known\n"        \
	"warning: $/samples/current/packed: EIO; its samples are left out\n"                                    \
	"warning: $/samples/current/tasks: cannot open: EIO; names of threads are missing\n"                    \
	"warning: $/samples/current/{...: EIO; its samples are left out\n"                                      \
	"warning: $/samples/current/{...: EIO; left out\n"                                                      \
	"warning: $/samples/current: EIO; its samples are left out\n"                                           \
	"warning: /bin/x: no symbols: EIO\n"                                                                    \
	"warning: /bin/x: no symbols: it is stripped; install its debug symbols\n"

/* What one on all of it may lack, too. */
#define FAULTS_OF_ALL                                                                                                                                   \
	"$/samples/current: there are no sample files; profile first (operf, or opcontrol --start), then write out the buffers with opcontrol --dump\n" \
	"warning: vmlinux: no symbols: $/symbols/vmlinux-01: cannot open: EIO\n"                                                                        \
	"warning: vmlinux: no symbols: $/symbols/vmlinux-01: cannot read: EIO\n"

/* What one with source lines may lack. */
#define FAULTS_OF_SOURCES                                                                  \
	"warning: $/src/x.c: cannot be read to its end: EIO; the rest of it is left out\n" \
	"warning: $/src/x.c: cannot be read: EIO; give its folder with --search-dirs\n"    \
	"warning: $/src/x.h: cannot be read to its end: EIO; the rest of it is left out\n" \
	"warning: $/src/x.h: cannot be read: EIO; give its folder with --search-dirs\n"

/* clang-format off */
static const struct fault_row rows[] = {
	{ .line = "opreport --session-dir=. --root=root -c -g",
	  .told =
		FAULTS_OF_READING
		FAULTS_OF_ALL
		"root: EIO; give --root a folder that exists\n"
		"standard output: cannot be written: EIO\n"
		"to name the functions of /bin/x: fetch its debug file with --debuginfod=URL\n"
		"warning: /bin/x: its line tables are damaged in 1 place; the lines of some code are not known\n"
		"warning: root/bin/x: cannot be read: EIO; names and lines from it may be missing\n"
		"warning: the samples have no call graphs; profile with opcontrol --callgraph=DEPTH or operf --callgraph\n" },
	{ .line = "opreport --session-dir=. --root=root --format=html -o made",
	  .told =
		FAULTS_OF_READING
		FAULTS_OF_ALL
		"$/samples/current: the samples have no stacks; profile with --callgraph\n"
		"made: cannot replace: EIO\n"
		"made: cannot write: EIO\n"
		"root: EIO; give --root a folder that exists\n"
		"the chosen samples have no stacks; choose others\n"
		FAULTS_OF_SOURCES
		"warning: CYCLES:100: 201 of 208 samples have no stack, so they are not shown\n"
		"warning: CYCLES:100: 211 of 218 samples have no stack, so they are not shown\n"
		"warning: CYCLES:100: 3 of 10 samples have no stack, so they are not shown\n"
		"warning: root/bin/x: cannot be read: EIO; instructions on the page may be missing\n"
		"warning: root/bin/x: cannot be read: EIO; names and lines from it may be missing\n"
		"warning: root/bin/x: cannot be read: EIO; the page is without its code\n" },
	{ .line = "opreport archive:ar -d",
	  .told =
		"$/ar$/samples/current/labels: EIO\n"
		"$/ar$/samples/current/labels: cannot open: EIO\n"
		"$/ar$/samples/current/labels: cannot read: EIO\n"
		"$/ar$/samples/current: EIO\n"
		"$/ar$/samples/current: there are no sample files; profile first (operf, or opcontrol --start), then write out the buffers with opcontrol --dump\n"
		"$/ar/.oparchive/SHA256SUMS: cannot open: EIO\n"
		"$/ar/.oparchive/SHA256SUMS: cannot read: EIO\n"
		"$/ar/.oparchive/facts: cannot be read: EIO\n"
		"$/ar/.oparchive/facts: cannot open: EIO\n"
		"$/ar/.oparchive/facts: cannot read: EIO\n"
		"standard output: cannot be written: EIO\n"
		"the report is not complete: files that could not be read are left out (see the warnings); try again\n"
		"warning: $/ar$/samples/current/ledger: EIO; how many samples were lost is not known\n"
		"warning: $/ar$/samples/current/ledger: cannot open: EIO; how many samples were lost is not known\n"
		"warning: $/ar$/samples/current/ledger: cannot read: EIO; how many samples were lost is not known\n"
		"warning: $/ar$/samples/current/packed: EIO; its samples are left out\n"
		"warning: $/ar$/samples/current/tasks: cannot open: EIO; names of threads are missing\n"
		"warning: $/ar$/samples/current/{...: EIO; its samples are left out\n"
		"warning: $/ar$/samples/current/{...: EIO; left out\n"
		"warning: $/ar$/samples/current: EIO; its samples are left out\n"
		"warning: $/ar/bin/x: cannot be read: EIO; names and lines from it may be missing\n"
		"warning: /bin/x: no symbols: EIO\n"
		"warning: /bin/x: no symbols: it is stripped; install its debug symbols\n"
		"warning: vmlinux: no symbols: $/ar$/symbols/vmlinux-01: cannot open: EIO\n"
		"warning: vmlinux: no symbols: $/ar$/symbols/vmlinux-01: cannot read: EIO\n"
		"warning: vmlinux: no symbols: the session has no copy of them; give the folder of its file with --image-path, or profile as root so that /proc/kallsyms can be read\n" },
	{ .line = "opreport --session-dir=. --check",
	  .told =
		"$/samples/current/ledger: 10 of the 218 samples in it are in no file that can be read: they are missing\n"
		"$/samples/current/ledger: 208 of the 218 samples in it are in no file that can be read: they are missing\n"
		"$/samples/current/ledger: 218 of the 218 samples in it are in no file that can be read: they are missing\n"
		"$/samples/current/ledger: EIO: the number of samples lost before is unknown\n"
		"$/samples/current/packed: EIO: all that it holds is lost\n"
		"$/samples/current/{...: EIO: the samples in it are lost\n"
		"$/samples/current/{...: EIO: the stacks in it are lost, not their samples\n"
		"$/samples/current/{...: EIO: its samples are left out\n"
		"$/samples/current: EIO: it is not checked\n"
		"$/samples/current: EIO: its samples are left out\n"
		"$/samples: EIO\n"
		"$/symbols/vmlinux-01: EIO: it is not checked\n"
		"$/symbols/vmlinux-01: EIO: that kernel's samples have no names\n"
		"$/symbols: EIO: it is not checked\n"
		"$: 1 file with 0 samples: 1 damaged\n"
		"$: 2 files with 0 samples: 2 damaged\n"
		"$: 4 files with 10 samples: 2 damaged\n"
		"$: 4 files with 208 samples: 2 damaged\n"
		"$: 4 files with 218 samples: 1 damaged\n"
		"$: 5 files with 10 samples: 2 damaged\n"
		"$: 5 files with 208 samples: 2 damaged\n"
		"$: 5 files with 218 samples: 1 damaged\n"
		"$: not all files are sound\n"
		"standard output: cannot be written: EIO\n",
	  .tells_in_output = true },
	{ .line = "opannotate --session-dir=. --root=root -a",
	  .told =
		FAULTS_OF_READING
		FAULTS_OF_ALL
		"root: EIO; give --root a folder that exists\n"
		"standard output: cannot be written: EIO\n"
		"to name the functions of /bin/x: fetch its debug file with --debuginfod=URL\n"
		"warning: /bin/x: not shown: 202 samples in first: EIO\n"
		"warning: /bin/x: not shown: 202 samples in first: its code is not in the file\n"
		"warning: /bin/x: not shown: 208 samples in /bin/x: its binary is not available\n"
		"warning: /bin/x: not shown: 5 samples in second: EIO\n"
		"warning: /bin/x: not shown: 5 samples in second: its code is not in the file\n"
		"warning: /vmlinux: not shown: 10 samples in /vmlinux: its binary is not available\n"
		"warning: root/bin/x: cannot be read: EIO; instructions or names may be missing\n"
		"warning: root/bin/x: cannot be read: EIO; names and lines from it may be missing\n" },
	{ .line = "opannotate --session-dir=. --root=root -s --output-dir=made",
	  .told =
		FAULTS_OF_READING
		FAULTS_OF_ALL
		"$/made$/src/x.c: cannot be written: EIO\n"
		"$/made$/src/x.h: cannot be written: EIO\n"
		"--output-dir=$/made: EIO\n"
		"none of the binaries has source lines for its samples; add --assembly to see instructions\n"
		"root: EIO; give --root a folder that exists\n"
		"to name the functions of /bin/x: fetch its debug file with --debuginfod=URL\n"
		FAULTS_OF_SOURCES
		"warning: $/src/x.c: it ends before 6 of the lines with samples; it is another version\n"
		"warning: $/src/x.h: it ends before 1 of the lines with samples; it is another version\n"
		"warning: /bin/x: its line tables are damaged in 1 place; the lines of some code are not known\n"
		"warning: /bin/x: no source lines for 208 samples (95.41 %), in /bin/x; no binary has line information\n"
		"warning: /bin/x: no source lines for 208 samples (95.41 %), in first, second, bare; compile it with -g or install its debug symbols\n"
		"warning: /vmlinux: no source lines for 10 samples (100 %), in do_work; no binary has line information\n"
		"warning: /vmlinux: no source lines for 10 samples (4.587 %), in /vmlinux; no binary has line information\n"
		"warning: root/bin/x: cannot be read: EIO; names and lines from it may be missing\n" },
	{ .line = "opgprof --session-dir=. --root=root -o made /bin/x",
	  .told =
		FAULTS_OF_READING
		"/bin/x: gprof needs the binary that was profiled; give its folder with --image-path or --root\n"
		"made: cannot be written: EIO\n"
		"root/bin/x: cannot be read: EIO\n"
		"root: EIO; give --root a folder that exists\n"
		"warning: root/bin/x: cannot be read: EIO; names and lines from it may be missing\n" },
	{ .line = "oparchive --session-dir=. --root=root -o made --with-sources",
	  .told =
		FAULTS_OF_READING
		FAULTS_OF_ALL
		"$/root: EIO; give --root a folder that exists\n"
		"$/samples/current/{...: cannot be read: EIO\n"
		"$/samples/current/{...: cannot be read: EIO; nothing is kept\n"
		".made..../.oparchive/facts: cannot replace: EIO\n"
		".made..../.oparchive/facts: cannot write: EIO\n"
		"made: cannot be written: EIO; nothing is kept\n"
		"warning: $/abi: cannot be read: EIO; the archive is without it\n"
		"warning: $/root/bin/x: cannot be read: EIO; names and lines from it may be missing\n"
		"warning: $/root/bin/x: cannot be read: EIO; the archive is without it\n"
		"warning: $/samples/current/ledger: cannot be read: EIO; the archive is without it\n"
		"warning: $/samples/current/tasks: cannot be read: EIO; the archive is without it\n"
		"warning: $/samples/operf.log: cannot be read: EIO; the archive is without it\n"
		"warning: $/samples/oprofiled.log: cannot be read: EIO; the archive is without it\n"
		"warning: $/src/x.c: cannot be read: EIO; the archive is without it\n"
		"warning: $/src/x.h: cannot be read: EIO; the archive is without it\n"
		"warning: $/symbols/vmlinux-01: cannot be read: EIO; the archive is without it\n"
		"warning: 2 source files cannot be found, the first: src/x.c; annotations will lack them\n" },
	{ .line = "opmerge ar two -o made --jobs=1",
	  .told =
		".made..../.oparchive/facts: cannot replace: EIO\n"
		".made..../.oparchive/facts: cannot write: EIO\n"
		".made..../var/lib/oprofile/samples/cpu-type=none%2fsuch+host=b/labels: cannot be written: EIO\n"
		".made..../var/lib/oprofile/samples/cpu-type=none%2fsuch+host=b/ledger: cannot be written: EIO\n"
		".made..../var/lib/oprofile/samples/cpu-type=none%2fsuch+host=b: EIO\n"
		".made..../var/lib/oprofile/samples/cpu-type=none%2fsuch+host=b: cannot be written: EIO\n"
		"1 file besides samples left out; samples may lack names that stand there\n"
		"1 of 2 archives were left out; the sum is that of the others\n"
		"made: cannot be written: EIO; nothing is kept\n"
		"warning: $/ar$/symbols/vmlinux-01: EIO; the sum is without it unless another archive has it\n"
		"warning: $/ar/bin/x: EIO; the sum is without it unless another archive has it\n"
		"warning: $/ar: left out: $/ar$/samples/current/labels: EIO\n"
		"warning: $/ar: left out: $/ar$/samples/current/labels: cannot open: EIO\n"
		"warning: $/ar: left out: $/ar$/samples/current/labels: cannot read: EIO\n"
		"warning: $/ar: left out: $/ar$/samples/current/ledger: EIO\n"
		"warning: $/ar: left out: $/ar$/samples/current/packed: EIO\n"
		"warning: $/ar: left out: $/ar$/samples/current/tasks: EIO\n"
		"warning: $/ar: left out: $/ar$/samples/current/{...: EIO\n"
		"warning: $/ar: left out: $/ar$/samples/current: EIO\n"
		"warning: $/ar: left out: $/ar/.oparchive/SHA256SUMS: cannot open: EIO\n"
		"warning: $/ar: left out: $/ar/.oparchive/SHA256SUMS: cannot read: EIO\n"
		"warning: $/ar: left out: $/ar/.oparchive/facts: cannot be read: EIO\n"
		"warning: $/ar: left out: $/ar/.oparchive/facts: cannot open: EIO\n"
		"warning: $/ar: left out: $/ar/.oparchive/facts: cannot read: EIO\n"
		"warning: $/ar: left out: EIO\n"
		"warning: $/ar: left out: {root}/bin/x/{dep}/{kern}/vmlinux/CYCLES.100.0.all.all.all: EIO\n"
		"warning: $/ar: left out: {root}/bin/x/{dep}/{root}/bin/x/CYCLES.100.0.all.all.all: EIO\n"
		"warning: $/ar: left out: {root}/bin/x/{tree}/CYCLES.100.0.all.all.all: EIO\n"
		"warning: $/two: left out: $/two$/samples/current/labels: EIO\n"
		"warning: $/two: left out: $/two$/samples/current/labels: cannot open: EIO\n"
		"warning: $/two: left out: $/two$/samples/current/labels: cannot read: EIO\n"
		"warning: $/two: left out: $/two$/samples/current/ledger: EIO\n"
		"warning: $/two: left out: $/two$/samples/current/packed: EIO\n"
		"warning: $/two: left out: $/two$/samples/current/tasks: EIO\n"
		"warning: $/two: left out: $/two$/samples/current/{...: EIO\n"
		"warning: $/two: left out: $/two$/samples/current: EIO\n"
		"warning: $/two: left out: $/two/.oparchive/SHA256SUMS: cannot open: EIO\n"
		"warning: $/two: left out: $/two/.oparchive/SHA256SUMS: cannot read: EIO\n"
		"warning: $/two: left out: $/two/.oparchive/facts: cannot be read: EIO\n"
		"warning: $/two: left out: $/two/.oparchive/facts: cannot open: EIO\n"
		"warning: $/two: left out: $/two/.oparchive/facts: cannot read: EIO\n"
		"warning: $/two: left out: EIO\n"
		"warning: $/two: left out: {root}/bin/x/{dep}/{kern}/vmlinux/CYCLES.100.0.all.all.all: EIO\n"
		"warning: $/two: left out: {root}/bin/x/{dep}/{root}/bin/x/CYCLES.100.0.all.all.all: EIO\n"
		"warning: $/two: left out: {root}/bin/x/{tree}/CYCLES.100.0.all.all.all: EIO\n"
		"{root}/bin/x/{dep}/{kern}/vmlinux/CYCLES.100.0.all.all.all: EIO\n"
		"{root}/bin/x/{dep}/{root}/bin/x/CYCLES.100.0.all.all.all: EIO\n"
		"{root}/bin/x/{tree}/CYCLES.100.0.all.all.all: EIO\n" },
	{ .line = "opsymbols --session-dir=kept",
	  .told =
		"$/kept/samples/current/labels: cannot open: EIO\n"
		"$/kept/samples/current: EIO\n"
		"$/kept/samples/current: there are no sample files; profile first (operf, or opcontrol --start), then write out the buffers with opcontrol --dump\n"
		"no usable sample file is left; the first: $/kept/samples/current/{...: EIO\n"
		"the report is not complete: files that could not be read are left out (see the warnings); try again\n"
		"warning: $/kept/samples/current/packed: EIO; its samples are left out\n"
		"warning: $/kept/samples/current/tasks: cannot open: EIO; names of threads are missing\n"
		"warning: $/kept/samples/current/{...: EIO; its samples are left out\n"
		"warning: $/kept/samples/current: EIO; its samples are left out\n"
		"warning: $/root/bin/w: its symbols are not stored: EIO\n",
	  .makes = "kept/store" },
};
/* clang-format on */

/* One of a binary whose build-id is long enough for a name of a file. */
static void make_session_to_keep(const char *folder)
{
	const struct op_sample_header before = made_header;
	char line[2048];

	assert_int_equal(system("${CC:-cc} -nostdlib -static "
				"-Wl,-Ttext=0x401000 -Wl,--build-id=0x0102 "
				"-o root/bin/w x.s"),
			 0);
	made_header.build_id_len = 2;
	made_header.build_id[1] = 2;
	mkdir("kept", 0755);
	assert_int_equal(chdir("kept"), 0);
	snprintf(line, sizeof(line),
		 "current %s/root/bin/w %s/root/bin/w CYCLES 1000=5 1004=2",
		 folder, folder);
	write_samples(line);
	assert_int_equal(chdir(".."), 0);
	made_header = before;
}

static const struct program_row archives[] = {
	{ .line = "oparchive --session-dir=. --root=root -o ar", .wanted = "" },
	{ .line = "oparchive --session-dir=. --root=root -o two --samples-only",
	  .wanted = "" },
};

FOLDER_TEST(faults_are_told)
{
	make_session();
	make_session_to_keep(*state);
	check_runs(programs, archives, NR(archives), *state);
	for (size_t i = 0; i < NR(rows); i++)
		check_fault_row(programs, &rows[i], *state);
}

BEFORE_TESTS()
{
	set_program_environment();
}
