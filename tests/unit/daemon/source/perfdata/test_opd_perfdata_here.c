// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Whether the kernel and the modules in a file of perf are those of this
 * machine, which is one of the test program: its files in /proc and /sys.
 */

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "daemon/source/perf/opd_perf_record.h"
#include "daemon/source/perfdata/opd_perfdata.h"
#include "daemon/source/perfdata/opd_perfdata_kernel.h"
#include "daemon/source/opd_source.h"
#include "libop/session/op_stream_words.h"
#include "tests/unit/rows.h"

#define NOTES_OF_MODULE "/sys/module/%63[^/]/notes/.note.gnu.build-id"

/* ---- this machine -----------------------------------------------------------
 */

static struct machine {
	bool is_there; /* else the files are those of the real one */
	char kallsyms[256]; /* "": there are none */
	char modules[256];
	unsigned int kernel_id; /* all bytes of the build-id; 0: it has none */
	char module[64]; /* the one that has a build-id, */
	unsigned int module_id; /* and which */
	bool has_no_name; /* uname(2) fails */
} machine;

int open_of_machine(const char *path, int flags, ...) __asm__("open64");
FILE *fopen_of_machine(const char *path, const char *mode) __asm__("fopen64");
int uname_of_machine(struct utsname *name) __asm__("uname");

/* A file that has @len @bytes. */
static int open_bytes(const void *bytes, size_t len)
{
	int fd = memfd_create("file", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, len), len);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	return fd;
}

/* A file of notes with the build-id whose bytes are all @id; 0: it has none. */
static int open_notes(unsigned int id)
{
	struct {
		Elf64_Nhdr header;
		char name[4];
		unsigned char id[20];
	} note = { { 4, 20, NT_GNU_BUILD_ID }, "GNU", { 0 } };

	if (!id) {
		errno = ENOENT;
		return -1;
	}
	memset(note.id, (int)id, sizeof(note.id));
	return open_bytes(&note, sizeof(note));
}

int open_of_machine(const char *path, int flags, ...)
{
	int (*real)(const char *, int, ...) =
		(int (*)(const char *, int, ...))dlsym(RTLD_NEXT, "open64");
	char module[64];
	va_list args;
	int mode;

	va_start(args, flags);
	mode = flags & O_CREAT ? va_arg(args, int) : 0;
	va_end(args);
	if (!machine.is_there)
		return real(path, flags, mode);
	if (!strcmp(path, "/sys/kernel/notes"))
		return open_notes(machine.kernel_id);
	if (sscanf(path, NOTES_OF_MODULE, module) == 1)
		return open_notes(
			strcmp(module, machine.module) ? 0 : machine.module_id);
	if (strstr(path, "/.debug/"))
		return real(path, flags, mode);
	if (!strcmp(path, "/proc/kallsyms") && *machine.kallsyms)
		return open_bytes(machine.kallsyms, strlen(machine.kallsyms));
	errno = ENOENT;
	return -1;
}

FILE *fopen_of_machine(const char *path, const char *mode)
{
	FILE *(*real)(const char *, const char *) =
		(FILE * (*)(const char *, const char *))
			dlsym(RTLD_NEXT, "fopen64");

	if (!machine.is_there || strcmp(path, "/proc/modules") != 0)
		return real(path, mode);
	return fmemopen(machine.modules, strlen(machine.modules) + 1, "r");
}

int uname_of_machine(struct utsname *name)
{
	memset(name, 0, sizeof(*name));
	strcpy(name->nodename, "here");
	strcpy(name->release, "6.1");
	return machine.has_no_name ? -1 : 0;
}

/* ---- the file of perf -------------------------------------------------------
 */

struct here_rig {
	struct opd_perfdata data;
	struct opd_perfdata_kernel kernel;
	uint64_t size; /* of the kernel that the client knows; 0: none */
	unsigned int known_id;
	FILE *out;
};

static bool knows_kernel(void *ctx, const struct op_build_id *build_id,
			 uint64_t *size)
{
	const struct here_rig *rig = ctx;

	assert_int_equal(build_id->len, 20);
	*size = rig->size;
	return rig->size && build_id->bytes[0] == rig->known_id;
}

static void show_build_id(FILE *out, const struct op_build_id *id)
{
	if (!id->len) {
		fputs(" id -", out);
		return;
	}
	assert_int_equal(id->len, 20);
	assert_int_equal(id->bytes[0], id->bytes[19]);
	fprintf(out, " id %u", id->bytes[0]);
}

static void see_kernel_here(void *ctx, const char *name, uint64_t start,
			    uint64_t end, const struct op_build_id *build_id,
			    struct op_kallsyms *all)
{
	const struct here_rig *rig = ctx;

	fprintf(rig->out, "%s at %lx-%lx%s", name, (unsigned long)start,
		(unsigned long)end, all->text ? " symbols" : "");
	show_build_id(rig->out, build_id);
	fputc('\n', rig->out);
}

/* Mapping @name of @len bytes, and what is known then. */
static void map_here(struct here_rig *rig, const char *name, uint64_t start,
		     uint64_t len, unsigned int id)
{
	struct opd_perf_rec rec = {
		.mmap = { .start = start, .len = len, .name = name }
	};

	if (id) {
		rec.mmap.build_id_len = 20;
		memset(rec.mmap.build_id, (int)id, 20);
	}
	if (!opd_perfdata_kernel_map(&rig->kernel, &rig->data, &rec))
		fputs("nothing new\n", rig->out);
	for (size_t i = 0; i < rig->kernel.nr; i++) {
		const struct opd_perfdata_range *range = &rig->kernel.ranges[i];

		if (range->start != start)
			continue;
		fprintf(rig->out, "%s %lx-%lx at %lx-%lx", range->name,
			(unsigned long)range->start, (unsigned long)range->end,
			(unsigned long)range->here_start,
			(unsigned long)range->here_end);
		show_build_id(rig->out, &range->build_id);
		fprintf(rig->out, "%s\n", rig->kernel.is_here ? " here" : "");
	}
}

static void record_here(struct here_rig *rig)
{
	struct op_stream_words words = { .nr = 0 };

	opd_perfdata_kernel_record(&rig->kernel, &words);
	assert_true(words.nr > 0);
	free(words.words);
	assert_null(rig->kernel.kallsyms.text);
}

static void add_module_line(const char *name, unsigned long start,
			    unsigned long size)
{
	size_t len = strlen(machine.modules);

	snprintf(machine.modules + len, sizeof(machine.modules) - len,
		 "%s %lu 0 - Live 0x%lx\n", name, size, start);
}

/* perf's copy of the symbols of the kernel whose build-id has bytes @id. */
static void keep_copy(unsigned int id, const char *start, unsigned long end,
		      unsigned long mode)
{
	char path[256];
	int len = snprintf(path, sizeof(path), "%s", getenv("HOME"));
	FILE *file;

	len += snprintf(path + len, sizeof(path) - (size_t)len, "/.debug");
	mkdir(path, 0755);
	len += snprintf(path + len, sizeof(path) - (size_t)len, "/.build-id");
	mkdir(path, 0755);
	len += snprintf(path + len, sizeof(path) - (size_t)len, "/%02x", id);
	mkdir(path, 0755);
	len += snprintf(path + len, sizeof(path) - (size_t)len, "/");
	for (int i = 1; i < 20; i++)
		len += snprintf(path + len, sizeof(path) - (size_t)len, "%02x",
				id);
	mkdir(path, 0755);
	snprintf(path + len, sizeof(path) - (size_t)len, "/kallsyms");
	machine.is_there = false;
	file = fopen(path, "w");
	machine.is_there = true;
	assert_non_null(file);
	fprintf(file, "%s T _stext\n%lx T _end\n", start, end);
	assert_int_equal(fchmod(fileno(file), (mode_t)mode), 0);
	fclose(file);
}

/*
 * of this machine: kernel START END, its build-id: kernel-id BYTE, perf's copy
 * of another kernel's symbols: copy START END MODE BYTE, module NAME
 * START SIZE, module-id BYTE NAME, no-name; of the file: host NAME, release
 * NAME, map NAME START LEN [BYTE]; knows SIZE BYTE: the client has that kernel;
 * record
 */
static void do_line_here(struct here_rig *rig, const char *line)
{
	char verb[16] = "", text[64] = "";
	unsigned long nr[2] = { 0 };
	unsigned int id = 0;

	sscanf(line, "%15s %63s %lx %lx %u", verb, text, &nr[0], &nr[1], &id);
	if (!strcmp(verb, "kernel"))
		snprintf(machine.kallsyms, sizeof(machine.kallsyms),
			 "%s T _stext\n%lx T _end\n", text, nr[0]);
	else if (!strcmp(verb, "copy"))
		keep_copy(id, text, nr[0], nr[1]);
	else if (!strcmp(verb, "kernel-id"))
		machine.kernel_id = (unsigned int)atoi(text);
	else if (!strcmp(verb, "module"))
		add_module_line(text, nr[0], nr[1]);
	else if (!strcmp(verb, "module-id"))
		sscanf(line, "%*s %u %63s", &machine.module_id, machine.module);
	else if (!strcmp(verb, "no-name"))
		machine.has_no_name = true;
	else if (!strcmp(verb, "host"))
		strcpy(rig->data.hostname, text);
	else if (!strcmp(verb, "release"))
		strcpy(rig->data.release, text);
	else if (!strcmp(verb, "knows"))
		sscanf(line, "%*s %lx %u", &rig->size, &rig->known_id);
	else if (!strcmp(verb, "map"))
		map_here(rig, text, nr[0], nr[1], id);
	else if (!strcmp(verb, "record"))
		record_here(rig);
	else
		fail_msg("%s: no such verb", verb);
}

static void run_here(const struct row *row, FILE *out)
{
	struct here_rig rig = { .size = 0, .out = out };
	char home[] = "/tmp/test_here.XXXXXX", folder[128];
	const struct opd_source_client client = {
		.ctx = &rig,
		.see_kernel = see_kernel_here,
		.has_kernel = knows_kernel,
	};
	const char *at = row->script;
	char line[128];

	assert_non_null(mkdtemp(home));
	memset(&machine, 0, sizeof(machine));
	setenv("HOME", home, 1);
	machine.is_there = true;
	rig.kernel.client = &client;
	while (next_line(&at, line, sizeof(line)))
		do_line_here(&rig, line);
	machine.is_there = false;
	opd_perfdata_kernel_release(&rig.kernel);
	snprintf(folder, sizeof(folder), "rm -rf %s", home);
	assert_int_equal(system(folder), 0);
}

/* clang-format off */
#define KERNEL_HERE "kernel ffffffff81000000 ffffffff81005000;"
#define MAP "map [kernel.kallsyms]_text ffffffff81000000 1000"
#define MAP_MOVED "map [kernel.kallsyms]_text ffffffff82000000 1000"
#define SAME_BOOT "host here; release 6.1;"

static const struct row rows[] = {
	/* ---- the kernel ---- */
	{ "the_same_build", NULL, KERNEL_HERE "kernel-id 7;" MAP " 7; record", EXPECTED_ROW },
	/* It may lie elsewhere since. */
	{ "the_same_build_of_another_boot", NULL,
	  KERNEL_HERE "kernel-id 7;" MAP_MOVED " 7",
	  "vmlinux ffffffff82000000-ffffffff82005000 at ffffffff81000000-ffffffff81005000 id 7 here\n" },
	{ "another_build", NULL,
	  KERNEL_HERE "kernel-id 8;" SAME_BOOT MAP " 7; record",
	  EXPECTED_ROW },
	/* ... of which perf has a copy. */
	{ "a_copy_of_another_build", NULL,
	  KERNEL_HERE "kernel-id 8; copy ffffffff91000000 ffffffff91007000 1a4 7;"
	  MAP " 7; record",
	  EXPECTED_ROW },
	{ "a_copy_that_others_may_write", NULL,
	  KERNEL_HERE "kernel-id 8; copy ffffffff91000000 ffffffff91007000 1b6 7;"
	  MAP " 7; record",
	  EXPECTED_ROW },
	{ "a_copy_with_hidden_addresses", NULL,
	  KERNEL_HERE "kernel-id 8; copy 0 0 1a4 7;" MAP " 7; record",
	  EXPECTED_ROW },
	{ "a_copy_of_a_third_build", NULL,
	  KERNEL_HERE "kernel-id 8; copy ffffffff91000000 ffffffff91007000 1a4 9;"
	  MAP " 7; record",
	  EXPECTED_ROW },
	{ "no_build_here", NULL, KERNEL_HERE SAME_BOOT MAP " 7",
	  "vmlinux ffffffff81000000-ffffffff81001000 at 0-0 id 7\n" },
	{ "the_same_build_without_symbols", NULL, "kernel-id 7;" MAP " 7",
	  "vmlinux ffffffff81000000-ffffffff81001000 at 0-0 id 7\n" },
	{ "the_same_build_with_hidden_addresses", NULL,
	  "kernel 0 0; kernel-id 7;" MAP " 7",
	  "vmlinux ffffffff81000000-ffffffff81001000 at 0-0 id 7\n" },
	{ "the_same_build_beyond_the_last_address", NULL,
	  KERNEL_HERE "kernel-id 7;"
	  "map [kernel.kallsyms]_text ffffffffffffb000 1000 7;"
	  "map [kernel.kallsyms]_text ffffffffffffafff 1000 7", EXPECTED_ROW },
	/* Where perf told of no build the names tell, and the place. */
	{ "the_same_boot", NULL, KERNEL_HERE SAME_BOOT "kernel-id 7;" MAP,
	  "vmlinux ffffffff81000000-ffffffff81005000 at ffffffff81000000-ffffffff81005000 id 7 here\n" },
	{ "the_same_boot_without_builds", NULL, KERNEL_HERE SAME_BOOT MAP "; record",
	  EXPECTED_ROW },
	{ "another_boot", NULL, KERNEL_HERE SAME_BOOT "kernel-id 7;" MAP_MOVED,
	  "vmlinux ffffffff82000000-ffffffff82001000 at 0-0 id -\n" },
	{ "another_host", NULL, KERNEL_HERE "host there; release 6.1;" MAP,
	  "vmlinux ffffffff81000000-ffffffff81001000 at 0-0 id -\n" },
	{ "another_release", NULL, KERNEL_HERE "host here; release 6.2;" MAP,
	  "vmlinux ffffffff81000000-ffffffff81001000 at 0-0 id -\n" },
	{ "a_host_that_nobody_knows", NULL, "no-name;" KERNEL_HERE SAME_BOOT MAP,
	  "vmlinux ffffffff81000000-ffffffff81001000 at 0-0 id -\n" },
	/* Its symbols were read before: they are not read again. */
	{ "a_known_kernel_that_is_here", NULL,
	  KERNEL_HERE "kernel-id 7; knows 3000 7;" MAP " 7; record", EXPECTED_ROW },
	{ "a_known_kernel_of_elsewhere", NULL,
	  KERNEL_HERE "kernel-id 8; knows 3000 7;" MAP " 7",
	  "vmlinux ffffffff81000000-ffffffff81003000 at 0-0 id 7\n" },
	{ "another_known_kernel", NULL,
	  KERNEL_HERE "kernel-id 7; knows 3000 9;" MAP " 7",
	  "vmlinux ffffffff81000000-ffffffff81005000 at ffffffff81000000-ffffffff81005000 id 7 here\n" },
	/* ---- modules ---- */
	{ "a_module_that_is_here", NULL,
	  KERNEL_HERE "kernel-id 7;" MAP " 7; module-id 5 ext4;"
	  "module xfs ffffffffc0000000 1000; module ext4 ffffffffc0100000 2000;"
	  "map [ext4] ffffffffc0100000 1000; map [ext4] ffffffffc0300000 1000 5;"
	  "map [ext4] ffffffffc0200000 1000 6; record", EXPECTED_ROW },
	{ "a_module_without_a_build", NULL,
	  KERNEL_HERE "kernel-id 7;" MAP " 7;"
	  "module ext4 ffffffffc0100000 2000; map [ext4] ffffffffc0100000 1000;"
	  "map [ext4] ffffffffc0100008 1000; map [ext4] ffffffffc0200000 1000 6", EXPECTED_ROW },
	{ "a_module_that_is_not_loaded", NULL,
	  KERNEL_HERE "kernel-id 7;" MAP " 7; module-id 5 xfs;"
	  "module ext4 ffffffffc0100000 2000; map [xfs] ffffffffc0100000 1000 5", EXPECTED_ROW },
	{ "a_module_of_another_kernel", NULL,
	  KERNEL_HERE "kernel-id 8;" MAP " 7; module-id 5 ext4;"
	  "module ext4 ffffffffc0100000 2000; map [ext4] ffffffffc0100000 1000 5", EXPECTED_ROW },
};
/* clang-format on */

TEST_ROWS(test_here_row, rows)
{
	check_row(*state, run_here);
}
