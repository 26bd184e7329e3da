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

/* clang-format off */
static const struct fault_row rows[] = {
	{ .line = "opreport --session-dir=. --root=root -c -g",
	  .told = EXPECTED_ROW },
	{ .line = "opreport --session-dir=. --root=root --format=html -o made",
	  .told = EXPECTED_ROW },
	{ .line = "opreport archive:ar -d",
	  .told = EXPECTED_ROW },
	{ .line = "opreport --session-dir=. --check",
	  .told = EXPECTED_ROW,
	  .tells_in_output = true },
	{ .line = "opannotate --session-dir=. --root=root -a",
	  .told = EXPECTED_ROW },
	{ .line = "opannotate --session-dir=. --root=root -s --output-dir=made",
	  .told = EXPECTED_ROW },
	{ .line = "opgprof --session-dir=. --root=root -o made /bin/x",
	  .told = EXPECTED_ROW },
	{ .line = "oparchive --session-dir=. --root=root -o made --with-sources",
	  .told = EXPECTED_ROW },
	{ .line = "opmerge ar two -o made --jobs=1",
	  .told = EXPECTED_ROW },
	{ .line = "opsymbols --session-dir=kept",
	  .told = EXPECTED_ROW,
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
