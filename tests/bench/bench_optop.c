// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * bench_optop [SESSION-FOLDER]: what a refresh of optop costs. The thread that
 * reads: the first reading of all symbols, the next ones, which have the
 * symbols of images from the first, and the code of one function. The one that
 * answers keys: to take a reading over, to sort, to filter, to subtract, to
 * draw a screen of 200x60. Without a session folder it makes one of 336,000
 * rows in /dev/shm: 500 libraries with 672 functions each. Needs cc(1).
 *
 * bench_optop --make LIBRARIES prints the folder of such a session and leaves
 * it, for tests/bench/instructions.py.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libdb/odb.h"
#include "libop/files/op_folder.h"
#include "libop/files/op_remove.h"
#include "libop/session/op_sample_file.h"
#include "libpp/images/kept_symbols.h"
#include "pp/optop/optop_draw.h"
#include "pp/optop/optop_keys.h"
#include "tests/bench/clock.h"

#define LIBRARIES 500
#define FUNCTIONS 672
#define ROUNDS 3

static char folder[] = "/dev/shm/bench_optop.XXXXXX";
static bool made;

static void check(int err, const char *what)
{
	if (!err)
		return;
	fprintf(stderr, "bench_optop: %s: %s\n", what, strerror(-err));
	if (made)
		op_remove_tree(folder);
	exit(1);
}

/* ---- a session ----------------------------------------------------------- */

static void make_binary(void)
{
	FILE *out = fopen("one.c", "w");

	check(out ? 0 : -EIO, "one.c");
	for (int i = 0; i < FUNCTIONS; i++)
		fprintf(out,
			"int function_number_%d_of_the_library(int x) { return x * %d; }\n",
			i, i);
	fclose(out);
	check(system("cc -shared -fPIC -O0 -o one one.c") ? -EIO : 0, "cc");
}

static void make_sample_file(size_t nr, const struct pp_raw_symbol *raw,
			     size_t nr_symbols,
			     const struct op_sample_header *h)
{
	char path[512];
	struct odb *odb;

	snprintf(path, sizeof(path), "library-%zu.so", nr);
	check(link("one", path) ? -errno : 0, path);
	snprintf(
		path, sizeof(path),
		"samples/current/{root}/app/{dep}/{root}%s/library-%zu.so/TIMER.0.0.all.all.all",
		folder, nr);
	check(op_make_parents(path, 0755), path);
	check(odb_open(&odb, path, ODB_RDWR), path);
	memcpy(odb_user(odb), h, sizeof(*h));
	for (size_t i = 0; i < nr_symbols; i++)
		if (strstr(raw[i].name, "function_number"))
			check(odb_add(odb, raw[i].key,
				      1 + (i * 7919 + nr) % 97),
			      path);
	odb_close(odb);
}

static void make_session(size_t nr_libraries)
{
	static const struct op_debug_places places;
	struct op_sample_header h = {
		.magic = OP_SAMPLE_MAGIC,
		.version = OP_SAMPLE_VERSION,
		.kind = OP_IMAGE_FILE,
		.cpu_type = "timer",
	};
	struct pp_raw_symbol *raw;
	enum op_bfd_origin origin;
	const uint8_t *id;
	struct op_bfd *bfd;
	size_t nr, len;

	check(mkdtemp(folder) && !chdir(folder) ? 0 : -errno, folder);
	made = true;
	make_binary();
	check(op_bfd_open(&bfd, "one", &places), "one");
	check(op_bfd_symbols(bfd, false, &raw, &nr, &origin), "one");
	id = op_bfd_build_id(bfd, &len);
	if (id && len <= sizeof(h.build_id)) {
		memcpy(h.build_id, id, len);
		h.build_id_len = (uint32_t)len;
	}
	h.mtime = op_bfd_mtime(bfd);
	for (size_t i = 0; i < nr_libraries; i++)
		make_sample_file(i, raw, nr, &h);
	free(raw);
	op_bfd_close(bfd);
}

/* ---- figures ------------------------------------------------------------- */

static void say(const char *what, double since)
{
	printf("%-44s %8.1f ms\n", what, 1e3 * (seconds() - since));
}

static void read_rows(const struct pp_request *base, enum optop_kind kind,
		      struct optop_state *state, const char *what)
{
	struct optop_query query = optop_query_of_pane(state);
	struct optop_result result;
	double start = seconds();

	query.kind = kind;
	optop_read_now(base, &query, &result);
	check(result.err, op_diag_text(&result.diag, -ENOMEM));
	say(what, start);
	start = seconds();
	result.number = optop_pane(state)->asked = 1;
	optop_take_result(state, &result);
	say("  taken over, subtracted and sorted", start);
}

static void press(struct optop_state *state, wint_t key, const char *what)
{
	double start = seconds();

	optop_press(state, key);
	say(what, start);
}

static void measure(const struct pp_request *base)
{
	struct optop_state state;
	struct optop_grid grid;
	double start;

	check(optop_state_init(&state, "bench", OPTOP_SYMBOLS), "state");
	state.nr_lines = 55;
	read_rows(base, OPTOP_SYMBOLS, &state, "first reading of symbols");
	printf("%-44s %8zu\n", "  rows", optop_pane(&state)->shown.nr);
	for (int i = 0; i < ROUNDS; i++)
		read_rows(base, OPTOP_SYMBOLS, &state, "reading again");
	press(&state, 't', "key t: since the last refresh");
	press(&state, 't', "key t: since the start");
	press(&state, OPTOP_KEY_END, "key End");
	press(&state, OPTOP_KEY_UP, "key Up");
	press(&state, '/', "key /");
	press(&state, '7', "  a character of a filter");
	press(&state, '7', "  another one");
	press(&state, OPTOP_KEY_BACK, "key Esc");
	start = seconds();
	check(optop_grid_init(&grid, 60, 200), "grid");
	optop_draw(&grid, &state);
	optop_grid_release(&grid);
	say("a screen", start);
	press(&state, OPTOP_KEY_HOME, "key Home");
	press(&state, OPTOP_KEY_ENTER, "key Enter");
	read_rows(base, OPTOP_ASSEMBLY, &state, "the code of a function");
	start = seconds();
	optop_state_release(&state);
	say("the end", start);
}

int main(int argc, char **argv)
{
	struct pp_request base = { .names.inlines = true };
	struct op_session session;
	struct pp_spec spec;
	struct op_diag diag = { 0 };

	if (argc == 3 && !strcmp(argv[1], "--make")) {
		make_session(strtoul(argv[2], NULL, 10));
		puts(folder);
		return 0;
	}
	if (argc < 2)
		make_session(LIBRARIES);
	check(op_session_init(&session, argc < 2 ? folder : argv[1], &diag),
	      "session");
	check(pp_spec_init(&spec, NULL, &diag), "specification");
	base.select.session = &session;
	base.select.spec = &spec;
	base.images.kept_symbols = pp_kept_symbols_new();
	check(pp_sort_init(&base.symbols.sort, NULL, &diag), "order");
	measure(&base);
	pp_kept_symbols_free(base.images.kept_symbols);
	pp_spec_release(&spec);
	if (made)
		op_remove_tree(folder);
	return 0;
}
