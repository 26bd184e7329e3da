// SPDX-License-Identifier: GPL-2.0-or-later

#include <dlfcn.h>

#include "daemon/source/opd_proc.h"
#include "tests/unit/opd_fixture.h"

static char *make_file(const char *text)
{
	char *path = strdup("/tmp/opd-proc-XXXXXX");
	int fd;

	assert_non_null(path);
	fd = mkstemp(path);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
	return path;
}

static int kernel_of(const char *text, uint64_t *start, uint64_t *end,
		     struct op_diag *diag)
{
	struct op_kallsyms all = { "kallsyms", (char *)text, strlen(text) };

	diag->text[0] = '\0';
	return opd_proc_kernel(&all, start, end, diag);
}

TEST(the_kernel)
{
	uint64_t start, end;
	struct op_diag diag;

	assert_int_equal(kernel_of("ffffffff81000000 T _stext\n"
				   "ffffffff81000010 T _stext_of_no_kernel\n"
				   "ffffffff81200000 T _etext\n"
				   "ffffffff82000000 B _end\n"
				   "ffffffffc0000000 t _stext\t[module]\n",
				   &start, &end, &diag),
			 0);
	assert_true(start == 0xffffffff81000000);
	assert_true(end == 0xffffffff82000000);
	assert_int_equal(kernel_of("ffffffff81000000 T _stext\n"
				   "ffffffff81200000 T _etext",
				   &start, &end, &diag),
			 0);
	assert_true(end == 0xffffffff81200000);
}

TEST(hidden_or_strange_kernels)
{
	uint64_t start, end;
	struct op_diag diag;

	assert_int_equal(kernel_of("0000000000000000 T _stext\n"
				   "0000000000000000 T _end\n",
				   &start, &end, &diag),
			 -EACCES);
	assert_non_null(strstr(diag.text, "hidden"));
	assert_int_equal(kernel_of("", &start, &end, &diag), -ENOENT);
	assert_int_equal(kernel_of("what is this\n\n1\n2 T\n3 T _\n", &start,
				   &end, &diag),
			 -ENOENT);
	assert_int_equal(kernel_of("9 T _stext\n8 T _end\n", &start, &end,
				   &diag),
			 -ENOENT);
}

struct seen {
	char names[256];
	uint64_t sum;
	int stop;
};

static int see(void *arg, const char *name, uint64_t start, uint64_t end)
{
	struct seen *seen = arg;

	strcat(seen->names, name);
	strcat(seen->names, " ");
	seen->sum += end - start;
	return seen->stop;
}

static int modules_of(const char *text, struct seen *seen, struct op_diag *diag)
{
	char *path = make_file(text);
	int err;

	memset(seen, 0, offsetof(struct seen, stop));
	diag->text[0] = '\0';
	err = opd_proc_modules(path, see, seen, diag);
	unlink(path);
	free(path);
	return err;
}

TEST(modules)
{
	struct seen seen = { .stop = 0 };
	struct op_diag diag;

	assert_int_equal(
		modules_of(
			"ext4 1000 1 - Live 0xffffffffc0000000\n"
			"oprofile 20 0 - Live 0xffffffffc0100000 (OE)\n"
			"jbd2 300 2 ext4,xfs, Live 0xffffffffc0200000\n"
			"empty 0 2 - Live 0xffffffffc0200000\n"
			"wrap 18446744073709551615 2 - Live 0xffffffffc0200000\n"
			"cut 300 2 -\n",
			&seen, &diag),
		0);
	assert_string_equal(seen.names, "ext4 oprofile jbd2 ");
	assert_int_equal(seen.sum, 1320);
	assert_int_equal(modules_of("ext4 1000 1 - Live 0x0000000000000000\n",
				    &seen, &diag),
			 -EACCES);
	assert_non_null(strstr(diag.text, "hidden"));
	seen.stop = -ENOMEM;
	assert_int_equal(modules_of("a 1 1 - Live 0x1000\n"
				    "b 1 1 - Live 0x2000\n",
				    &seen, &diag),
			 -ENOMEM);
	assert_string_equal(seen.names, "a ");
	assert_int_equal(opd_proc_modules("/nowhere", see, &seen, &diag), 0);
}

/* Of this very machine; it may not say how fast it is. */
TEST(this_machine)
{
	FILE *file = fopen("/proc/cpuinfo", "r");
	bool says = !access(
		"/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq", R_OK);
	char line[4096];

	while (file && !says && fgets(line, sizeof(line), file))
		says = !strncmp(line, "cpu MHz", 7);
	if (file)
		fclose(file);
	/* From 10 MHz to 100 GHz. */
	if (says)
		assert_in_range(opd_proc_cpu_khz(), 10000, 100000000);
	else
		assert_int_equal(opd_proc_cpu_khz(), 0);
	/* Linux has 65530 unless somebody wants more. */
	assert_in_range(opd_proc_max_maps(), 1024, INT32_MAX);
}

/* ---- this machine, which the test makes up ----------------------------------
 */

#define REAL(name) ((__typeof__(&(name)))dlsym(RTLD_NEXT, #name))
#define INSTEAD_OF(name) __asm__(#name)

FILE *machine_fopen(const char *path, const char *mode) INSTEAD_OF(fopen64);

/* The text of each file, NULL: it is not there. */
static struct machine {
	bool is_there;
	const char *frequency;
	const char *cpuinfo;
	const char *max_maps;
} machine;

FILE *machine_fopen(const char *path, const char *mode)
{
	const struct {
		const char *path;
		const char *text;
	} files[] = {
		{ "/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq",
		  machine.frequency },
		{ "/proc/cpuinfo", machine.cpuinfo },
		{ "/proc/sys/vm/max_map_count", machine.max_maps },
	};

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		if (!machine.is_there || strcmp(path, files[i].path) != 0)
			continue;
		if (files[i].text)
			return fmemopen((void *)files[i].text,
					strlen(files[i].text), "r");
		errno = ENOENT;
		return NULL;
	}
	return REAL(fopen64)(path, mode);
}

TEST(test_speed_of_the_cpu)
{
	static const struct {
		const char *frequency;
		const char *cpuinfo;
		uint32_t khz;
	} rows[] = {
		{ "3600000\n", "cpu MHz\t\t: 800.5\n", 3600000 },
		{ "4294967295\n", NULL, UINT32_MAX },
		{ "4294967296\n", NULL, 0 },
		{ "0\n", "processor\t: 0\ncpu MHz\t\t: 2400.125\n", 2400125 },
		{ "x\n", "cpu MHz\t\t: 1.5\ncpu MHz\t\t: 2.5\n", 1500 },
		{ NULL, "cpu MHz\t\t: 0.0\ncpu MHz\t\t: 2.5\n", 2500 },
		{ NULL, "cpu MHz\t\t: -5\n", 0 },
		{ NULL, "cpu MHz\t\t: 999999\n", 999999000 },
		{ NULL, "cpu MHz\t\t: 1000000\n", 0 },
		{ NULL, "cpu MHz\t\t: x\n", 0 },
		{ NULL, "processor\t: 5\n", 0 },
		{ NULL, NULL, 0 },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		machine = (struct machine){ true, rows[i].frequency,
					    rows[i].cpuinfo, NULL };
		assert_int_equal(opd_proc_cpu_khz(), rows[i].khz);
	}
	machine.is_there = false;
}

TEST(test_most_mappings)
{
	static const struct {
		const char *text;
		uint64_t nr;
	} rows[] = { { "65530\n", 65530 }, { "x\n", 0 }, { NULL, 0 } };

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		machine = (struct machine){ true, NULL, NULL, rows[i].text };
		assert_int_equal(opd_proc_max_maps(), rows[i].nr);
	}
	machine.is_there = false;
}
