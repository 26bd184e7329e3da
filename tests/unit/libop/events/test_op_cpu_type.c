// SPDX-License-Identifier: GPL-2.0-or-later
/* CPU types: files of other machines, and which folder describes them. */

#include "tests/unit/op_fixture.h"

#include <limits.h>

#include "libop/events/op_cpu_id.h"
#include "libop/classic/op_classic.h"
#include "libop/events/op_cpu_type.h"

/* ---- machines ---- */

static const char zen3[] = "processor\t: 0\n"
			   "vendor_id\t: AuthenticAMD\n"
			   "cpu family\t: 25\n"
			   "model\t\t: 1\n"
			   "model name\t: AMD EPYC 7763\n"
			   "stepping\t: 1\n"
			   "siblings\t: 2\n"
			   "flags\t\t: fpu vme sse2\n"
			   "\n"
			   "processor\t: 1\n"
			   "vendor_id\t: AuthenticAMD\n"
			   "cpu family\t: 25\n"
			   "model\t\t: 1\n"
			   "stepping\t: 1\n"
			   "siblings\t: 2\n"
			   "flags\t\t: fpu vme sse2\n";

static const char intel[] = "processor\t: 0\n"
			    "vendor_id\t: GenuineIntel\n"
			    "cpu family\t: 6\n"
			    "model\t\t: 255\n"
			    "stepping\t: unknown\n"
			    "flags\t\t: fpu arch_perfmon sse2\n";

static const char big_little[] = "processor\t: 0\n"
				 "BogoMIPS\t: 48.00\n"
				 "CPU implementer\t: 0x41\n"
				 "CPU architecture: 8\n"
				 "CPU variant\t: 0x0\n"
				 "CPU part\t: 0xd03\n"
				 "CPU revision\t: 4\n"
				 "\n"
				 "processor\t: 1\n"
				 "CPU implementer\t: 0x41\n"
				 "CPU architecture: 8\n"
				 "CPU variant\t: 0x0\n"
				 "CPU part\t: 0xd08\n"
				 "CPU revision\t: 2\n";

static const char power8[] = "processor\t: 0\n"
			     "cpu\t\t: POWER8 (raw), altivec supported\n"
			     "clock\t\t: 3425.000000MHz\n"
			     "revision\t: 2.0 (pvr 004d 0200)\n"
			     "\n"
			     "timebase\t: 512000000\n"
			     "model\t\t: 8247-22L\n"
			     "machine\t\t: PowerNV 8247-22L\n";

static void make_cpuinfo(const char *text)
{
	mkdir("proc", 0777);
	write_bytes("proc/cpuinfo", text, strlen(text));
}

/* ---- folders ---- */

static void make_type(const char *arch, const char *cpu, const char *lines)
{
	char path[128], *text;

	mkdir("events", 0777);
	snprintf(path, sizeof(path), "events/%s", arch);
	mkdir(path, 0777);
	snprintf(path, sizeof(path), "events/%s/%s", arch, cpu);
	mkdir(path, 0777);
	snprintf(path, sizeof(path), "events/%s/%s/cpu", arch, cpu);
	assert_true(asprintf(&text,
			     "# comment\nname = Title of %s\ncounters = 4\n"
			     "default = CYCLES:100000\nmanual = A book\n%s",
			     cpu, lines) > 0);
	write_bytes(path, text, strlen(text));
	free(text);
}

static void make_types(void)
{
	make_type("x86-64", "zen3",
		  "match = vendor AuthenticAMD family 0x19 model 0-0xf,0x21\n"
		  "encoding = x86\nlibpfm4 = amd64_fam19h_zen3\n");
	make_type("x86-64", "zen4",
		  "match = vendor AuthenticAMD family 25 model 0x10-0x1f\n");
	make_type("x86-64", "family19h",
		  "match = vendor AuthenticAMD family 25\n");
	make_type("i386", "arch_perfmon",
		  "match = vendor GenuineIntel flag arch_perfmon\n");
	make_type("i386", "newest",
		  "match = vendor GenuineIntel family 6 model 7\n"
		  "nearest = vendor GenuineIntel family 6-9\n");
	make_type("arm", "armv8", "match = architecture 8-9\n");
	make_type("arm", "ca53", "match = implementer 0x41 part 0xd03\n");
	make_type("ppc64", "power8", "match = pvr 0x4b-0x4d\n");
}

static void is_type(unsigned int nth, const char *wanted)
{
	struct op_diag diag = { "" };
	struct op_cpu_type *type;

	assert_int_equal(op_cpu_type_detect(&type, "events", ".", nth, &diag),
			 0);
	assert_string_equal(type->name, wanted);
	op_cpu_type_free(type);
}

/* ---- tests ---- */

FOLDER_TEST(test_machines)
{
	struct op_cpu_type *type;
	struct op_diag diag = { "" };

	make_types();
	make_cpuinfo(zen3);
	is_type(0, "x86-64/zen3");
	assert_int_equal(op_cpu_type_detect(&type, "events", ".", 1, &diag),
			 -ENOENT);
	assert_string_equal(diag.text, "");
	make_cpuinfo(intel);
	is_type(0, "i386/arch_perfmon");
	make_cpuinfo("processor : 0\nvendor_id : GenuineIntel\n"
		     "cpu family : 9\n");
	is_type(0, "i386/newest");
	make_cpuinfo(power8);
	is_type(0, "ppc64/power8");
}

FOLDER_TEST(test_big_little)
{
	make_types();
	make_cpuinfo(big_little);
	is_type(0, "arm/ca53");
	is_type(1, "arm/armv8");
}

FOLDER_TEST(test_most_exact_wins)
{
	make_types();
	make_cpuinfo("processor : 0\nvendor_id : AuthenticAMD\n"
		     "cpu family : 25\nmodel : 0x80\n");
	is_type(0, "x86-64/family19h");
	make_cpuinfo("processor : 0\nvendor_id : AuthenticAMD\n"
		     "cpu family : 25\nmodel : 0x1f\n");
	is_type(0, "x86-64/zen4");
}

/* A file of sysfs, with all folders above it. */
static void make_sys_file(const char *path, const char *text)
{
	char folder[128];

	snprintf(folder, sizeof(folder), "%s", path);
	for (char *slash = strchr(folder, '/'); slash;
	     slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(folder, 0777);
		*slash = '/';
	}
	write_bytes(path, text, strlen(text));
}

/* Where /proc/cpuinfo names nothing, the register itself does. */
FOLDER_TEST(test_midr)
{
	make_types();
	make_cpuinfo("processor : 0\nBogoMIPS : 48.00\n");
	make_sys_file(
		"sys/devices/system/cpu/cpu0/regs/identification/midr_el1",
		"0x00000000410fd034\n");
	is_type(0, "arm/ca53");
}

static void refuses(const char *cpuinfo, int err, const char *reason)
{
	struct op_diag diag = { "" };
	struct op_cpu_type *type;

	make_cpuinfo(cpuinfo);
	assert_int_equal(op_cpu_type_detect(&type, "events", ".", 0, &diag),
			 err);
	assert_non_null(strstr(diag.text, reason));
}

FOLDER_TEST(test_unknown_machines)
{
	struct op_cpu_type *type;

	make_types();
	refuses("processor : 0\nvendor_id : CyrixInstead\ncpu family : 5\n",
		-ENODEV, "vendor CyrixInstead family 0x5");
	refuses("processor : 0\nvendor_id : GenuineIntel\n"
		"flags : arch_perfmonster xarch_perfmon\n",
		-ENODEV, "vendor GenuineIntel");
	refuses("processor : 0\n", -ENODEV, "does not describe");
	refuses("", -ENODEV, "names no CPU");
	assert_int_equal(unlink("proc/cpuinfo"), 0);
	assert_int_equal(rmdir("proc"), 0);
	assert_int_equal(op_cpu_type_detect(&type, "events", ".", 0, NULL),
			 -ENOENT);
}

FOLDER_TEST(test_fields)
{
	struct op_diag diag = { "" };
	struct op_cpu_type *type;

	make_types();
	assert_int_equal(
		op_cpu_type_read(&type, "events", "x86-64/zen3", &diag), 0);
	assert_string_equal(type->name, "x86-64/zen3");
	assert_string_equal(type->title, "Title of zen3");
	assert_string_equal(type->manual, "A book");
	assert_string_equal(type->default_event, "CYCLES:100000");
	assert_string_equal(type->pfm, "amd64_fam19h_zen3");
	assert_int_equal(type->counters, 4);
	assert_int_equal(type->encoding, OP_ENCODING_X86);
	op_cpu_type_free(type);
}

static void is_broken(const char *lines, const char *reason)
{
	struct op_diag diag = { "" };
	struct op_cpu_type *type;

	make_type("x86-64", "broken", lines);
	assert_int_equal(op_cpu_type_read(&type, "events", "x86-64/broken",
					  &diag),
			 -EINVAL);
	assert_string_equal(diag.text, reason);
}

FOLDER_TEST(test_broken_files)
{
#define AT "events/x86-64/broken/cpu:6: "
	is_broken("what\n", AT "no \"key = value\"");
	is_broken("what = x\n", AT "what: unknown key");
	is_broken("encoding =\n", AT "encoding: no value");
	is_broken("encoding = z80\n",
		  AT "encoding: z80: not raw, x86 or netburst");
	is_broken("name = twice\n", AT "given twice");
	is_broken("counters = 4\n", AT "given twice");
	is_broken("match = vendor\n", AT "match: a key without a value");
	is_broken("match = family\n", AT "match: a key without a value");
	is_broken("match = colour 3\n", AT "match: unknown key");
	is_broken("match = family 3-2\n", AT "match: not a list of numbers");
	is_broken("match = family 3,\n", AT "match: not a list of numbers");
	is_broken("match = family six\n", AT "match: not a list of numbers");
	is_broken("# \033[31m\n", AT "byte 0x1b: not UTF-8 or a control "
				     "character");
	is_broken("# \xc0\xaf\n",
		  AT "byte 0xc0: not UTF-8 or a control character");
#undef AT
}

FOLDER_TEST(test_incomplete_files)
{
	struct op_diag diag = { "" };
	struct op_cpu_type *type;

	make_type("x86-64", "x", "");
	write_bytes("events/x86-64/x/cpu", "name = x\ncounters = 65\n", 23);
	assert_int_equal(op_cpu_type_read(&type, "events", "x86-64/x", &diag),
			 -EINVAL);
	assert_string_equal(diag.text, "events/x86-64/x/cpu:2: counters: 65: "
				       "not from 1 to 64");
	diag.text[0] = '\0';
	write_bytes("events/x86-64/x/cpu", "name = x\ncounters = 2\n", 22);
	assert_int_equal(op_cpu_type_read(&type, "events", "x86-64/x", &diag),
			 -EINVAL);
	assert_string_equal(diag.text,
			    "events/x86-64/x/cpu:2: default: not given");
}

FOLDER_TEST(test_names_lead_nowhere_else)
{
	static const char *const names[] = {
		"",    "x86-64",       "/x86-64/zen3",	   "../events/x86-64",
		"./.", "x86-64/../..", "x86-64/zen3/deep", "none/such",
	};
	struct op_cpu_type *type;

	make_types();
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct op_diag diag = { "" };

		assert_int_equal(op_cpu_type_read(&type, "events", names[i],
						  &diag),
				 -ENOENT);
		assert_non_null(strstr(diag.text, "no such CPU type"));
	}
}

FOLDER_TEST(test_list)
{
	static const char *const wanted[] = {
		"arm/armv8",   "arm/ca53",     "i386/arch_perfmon",
		"i386/newest", "ppc64/power8", "x86-64/family19h",
		"x86-64/zen3", "x86-64/zen4",  "",
	};
	char *names, *at;

	make_types();
	mkdir("events/empty", 0777);
	mkdir("events/empty/no-cpu-file", 0777);
	write_bytes("events/README", "", 0);
	assert_int_equal(op_cpu_type_names(&names, "events", NULL), 0);
	at = names;
	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		assert_string_equal(at, wanted[i]);
		at += strlen(at) + 1;
	}
	free(names);
	assert_int_equal(op_cpu_type_names(&names, "none", NULL), -ENOENT);
}

/* A folder whose path, with "/x86-64", is as long as paths may be, or longer.
 */
FOLDER_TEST(test_list_of_a_long_path)
{
	char dir[PATH_MAX];
	char *names;

	make_types();
	for (size_t len = PATH_MAX - 9; len <= PATH_MAX - 6; len++) {
		bool fits = len + strlen("/x86-64") < PATH_MAX;

		memset(dir, '/', len);
		memcpy(dir, "events", strlen("events"));
		dir[len] = '\0';
		assert_int_equal(op_cpu_type_names(&names, dir, NULL),
				 fits ? 0 : -ENAMETOOLONG);
		/* The names below it are too long already. */
		if (fits) {
			assert_string_equal(names, "");
			free(names);
		}
	}
}

/* ---- what a CPU says of itself ---- */

static void prints(const struct op_cpu_id *id, const char *wanted)
{
	char buf[100];

	memset(buf, 'x', sizeof(buf));
	op_cpu_id_print(id, buf, sizeof(buf));
	assert_string_equal(buf, wanted);
}

TEST(test_print)
{
	static struct op_cpu_id none, vendor = { .vendor = "V" }, id;
	char buf[8];

	prints(&none, "a CPU that /proc/cpuinfo does not describe");
	prints(&vendor, "vendor V");
	id.has[OP_CPU_PVR] = true;
	id.number[OP_CPU_PVR] = 0x4b;
	prints(&id, "pvr 0x4b");
	id.has[OP_CPU_FAMILY] = true;
	prints(&id, "family 0x0 pvr 0x4b");
	strcpy(id.vendor, "V");
	prints(&id, "vendor V family 0x0 pvr 0x4b");
	op_cpu_id_print(&id, buf, sizeof(buf));
	assert_string_equal(buf, "vendor");
}

TEST(test_matches)
{
	static struct op_cpu_id id = { .vendor = "V", .flags = " fpu sse2 " };
	static const struct {
		const char *text;
		int keys; /* -1: refused */
	} cases[] = {
		{ "vendor V", 1 },	    { "vendor W", 0 },
		{ "vendor V family 6", 2 }, { "vendor V family 6 flag fpu", 3 },
		{ "vendor V family 7", 0 }, { "family 7 vendor V", 0 },
		{ "family 5-6", 1 },	    { "family 6-7", 1 },
		{ "family 6-6", 1 },	    { "family 4-5", 0 },
		{ "family 7-8", 0 },	    { "family 1,6,9", 1 },
		{ "family 1,5-7", 1 },	    { "family 6,1", 1 },
		{ "family 0x6", 1 },	    { "model 0", 0 }, /* it has none */
		{ "model 0-255", 0 },	    { "flag sse2", 1 },
		{ "flag sse", 0 },	    { "flag se2", 0 },
		{ "flag avx", 0 },	    { "", -1 },
		{ "vendor", -1 },	    { "vendor V family", -1 },
		{ "color 7", -1 },	    { "family 7-6", -1 },
		{ "family x", -1 },	    { "family 6,", -1 },
		{ "family 6-", -1 },	    { "family 6 model x", -1 },
	};

	id.has[OP_CPU_FAMILY] = true;
	id.number[OP_CPU_FAMILY] = 6;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *why = NULL;
		char text[64];
		int got;

		strcpy(text, cases[i].text);
		got = op_cpu_id_match(&id, text, &why);
		if (got != (cases[i].keys < 0 ? -EINVAL : cases[i].keys))
			fail_msg("%s: %d", cases[i].text, got);
		/* Without a CPU nothing fits, and the same is refused. */
		strcpy(text, cases[i].text);
		got = op_cpu_id_match(NULL, text, &why);
		assert_int_equal(got, cases[i].keys < 0 ? -EINVAL : 0);
		if (got < 0)
			assert_non_null(strstr(why, "match: "));
	}
}

/* ---- the tree's own folders ---- */

#define X86(vendor, family, model, rest)                                       \
	"processor : 0\nvendor_id : " vendor "\ncpu family : " family          \
	"\nmodel : " model "\nmodel name : X\nflags : fpu arch_perfmon\n" rest
#define INTEL(model) X86("GenuineIntel", "6", model, "siblings : 8\n")
#define AMD(family, model) X86("AuthenticAMD", family, model, "siblings : 8\n")
#define ARM(implementer, architecture, part)                                   \
	"processor : 0\nCPU implementer : " implementer                        \
	"\nCPU architecture: " architecture "\nCPU variant : 0x0\n"            \
	"CPU part : " part "\nCPU revision : 1\n"
#define POWER(pvr) "processor : 0\ncpu : X\nrevision : 2.0 (pvr " pvr " 0200)\n"
#define S390(machine)                                                              \
	"vendor_id       : IBM/S390\n# processors    : 2\n"                        \
	"max thread id   : 0\nfeatures\t: esan3 zarch\n"                           \
	"processor 0: version = FF,  identification = 0133E8,  machine = " machine \
	"\nprocessor 1: version = FF,  identification = 1133E8,  "                 \
	"machine = " machine "\n\ncpu number      : 0\nversion         : FF\n"     \
	"machine         : " machine "\n\ncpu number      : 1\n"                   \
	"machine         : " machine "\n"

#define MIPS(model)                                                            \
	"system type : MIPS Malta\nmachine : mti,malta\nprocessor : 0\n"       \
	"cpu model : MIPS " model " V0.0  FPU V0.0\n"

FOLDER_TEST(test_known_machines)
{
	static const struct {
		const char *cpuinfo, *type;
	} known[] = {
		{ X86("GenuineIntel", "6", "1", ""), "i386/ppro" },
		{ INTEL("5"), "i386/pii" },
		{ INTEL("11"), "i386/piii" },
		{ X86("GenuineIntel", "15", "2", "siblings : 1\n"), "i386/p4" },
		{ X86("GenuineIntel", "15", "4", "siblings : 2\n"),
		  "i386/p4-ht" },
		{ INTEL("23"), "i386/core_2" },
		{ INTEL("26"), "i386/nehalem" },
		{ INTEL("44"), "i386/westmere" },
		{ INTEL("45"), "i386/sandybridge" },
		{ INTEL("62"), "i386/ivybridge" },
		{ INTEL("63"), "i386/haswell" },
		{ INTEL("79"), "i386/broadwell" },
		{ INTEL("85"), "i386/skylake" },
		{ INTEL("158"), "i386/skylake" },
		{ INTEL("106"), "i386/icelake" },
		{ INTEL("143"), "i386/sapphirerapids" },
		{ INTEL("207"), "i386/sapphirerapids" },
		{ INTEL("173"), "nearest i386/sapphirerapids" },
		{ INTEL("92"), "i386/goldmont" },
		{ INTEL("122"), "i386/goldmontplus" },
		{ INTEL("156"), "i386/tremont" },
		{ INTEL("151"), "i386/alderlake-p" },
		{ INTEL("190"), "i386/alderlake-e" },
		{ INTEL("170"), "nearest i386/alderlake-p" },
		{ INTEL("175"), "nearest i386/alderlake-e" },
		{ INTEL("254"), "nearest i386/arch_perfmon" },
		{ AMD("6", "8"), "i386/athlon" },
		{ AMD("15", "5"), "x86-64/hammer" },
		{ AMD("16", "2"), "x86-64/family10" },
		{ AMD("17", "3"), "x86-64/family11h" },
		{ AMD("18", "1"), "x86-64/family12h" },
		{ AMD("20", "2"), "x86-64/family14h" },
		{ AMD("21", "1"), "x86-64/family15h" },
		{ AMD("23", "1"), "x86-64/zen1" },
		{ AMD("23", "49"), "x86-64/zen2" },
		{ AMD("25", "1"), "x86-64/zen3" },
		{ AMD("25", "33"), "x86-64/zen3" },
		{ AMD("25", "17"), "x86-64/zen4" },
		{ AMD("25", "97"), "x86-64/zen4" },
		{ AMD("25", "200"), "nearest x86-64/zen4" },
		{ AMD("26", "2"), "x86-64/zen5" },
		{ AMD("27", "2"), "nearest x86-64/zen5" },
		{ AMD("22", "0"), "nearest x86-64/generic" },
		{ ARM("0x41", "7", "0xc05"), "arm/armv7-ca5" },
		{ ARM("0x41", "7", "0xc07"), "arm/armv7-ca7" },
		{ ARM("0x41", "7", "0xc09"), "arm/armv7-ca9" },
		{ ARM("0x41", "7", "0xc0e"), "arm/armv7-ca17" },
		{ ARM("0x41", "7", "0xc0f"), "arm/armv7-ca15" },
		{ ARM("0x41", "7", "0xc15"), "nearest arm/armv7-pmuv2" },
		{ ARM("0x41", "8", "0xd03"), "arm/armv8-ca53" },
		{ ARM("0x41", "8", "0xd07"), "arm/armv8-ca57" },
		{ ARM("0x41", "8", "0xd08"), "arm/armv8-ca72" },
		{ ARM("0x41", "8", "0xd0b"), "arm/armv8-ca76" },
		{ ARM("0x41", "8", "0xd0c"), "arm/armv8-neoverse-n1" },
		{ ARM("0x41", "8", "0xd40"), "arm/armv8-neoverse-v1" },
		{ ARM("0x41", "8", "0xd41"), "arm/armv8-ca78" },
		{ ARM("0x41", "8", "0xd44"), "nearest arm/armv8-ca78" },
		{ ARM("0x41", "8", "0xd49"), "arm/armv9-neoverse-n2" },
		{ ARM("0x41", "8", "0xd4f"), "nearest arm/armv9-neoverse-n2" },
		{ ARM("0x43", "8", "0x0af"), "arm/armv8-thunderx2" },
		{ ARM("0x50", "8", "0x000"), "arm/armv8-xgene" },
		{ ARM("0x61", "8", "0x22"), "nearest arm/armv8-pmuv3" },
		{ POWER("003f"), "ppc64/power7" },
		{ POWER("004d"), "ppc64/power8" },
		{ POWER("004e"), "ppc64/power9" },
		{ POWER("0080"), "ppc64/power10" },
		{ POWER("0082"), "nearest ppc64/power10" },
		{ POWER("8023"), "ppc/e500mc" },
		{ POWER("8024"), "nearest ppc/e500mc" }, /* e5500 */
		{ POWER("8040"), "ppc/e6500" },
		{ MIPS("24Kc"), "mips/24K" },
		{ MIPS("24KEc"), "mips/24K" },
		{ MIPS("34Kc"), "mips/34K" },
		{ MIPS("74Kc"), "mips/74K" },
		{ MIPS("1004Kc"), "mips/1004K" },
		{ S390("2098"), "s390/z10" },
		{ S390("2817"), "s390/z196" },
		{ S390("2828"), "s390/zEC12" },
		{ S390("2964"), "s390/z13" },
		{ S390("3906"), "s390/z14" },
		{ S390("8561"), "s390/z15" },
		{ S390("3931"), "s390/z16" },
		{ S390("9175"), "nearest s390/z16" }, /* z17 */
	};
	const char *top = getenv("OPROFILE_TEST_TOP");

	assert_int_equal(symlink(top, "top"), 0);
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		struct op_diag diag = { "" };
		struct op_cpu_type *type;
		char got[80];

		make_cpuinfo(known[i].cpuinfo);
		if (op_cpu_type_detect(&type, "top/events", ".", 0, &diag))
			fail_msg("%s: %s", known[i].type, diag.text);
		snprintf(got, sizeof(got), "%s%s",
			 type->is_nearest ? "nearest " : "", type->name);
		assert_string_equal(got, known[i].type);
		op_cpu_type_free(type);
		assert_int_equal(op_cpu_type_detect(&type, "top/events", ".", 1,
						    NULL),
				 -ENOENT);
	}
}

/* Intel's hybrids: the kernel's PMUs tell the kinds of cores apart. */
FOLDER_TEST(test_hybrids)
{
	static const char cpus[] = INTEL("151") INTEL("151") INTEL("151");
	char cpuinfo[sizeof(cpus)], *at = cpuinfo;
	struct op_diag diag = { "" };
	struct op_cpu_type *type;
	struct op_cpu_id id;
	char text[256];

	assert_int_equal(symlink(getenv("OPROFILE_TEST_TOP"), "top"), 0);
	memcpy(cpuinfo, cpus, sizeof(cpus));
	for (char cpu = '0'; (at = strstr(at, "processor : ")); cpu++)
		*(at += strlen("processor : ")) = cpu;
	make_cpuinfo(cpuinfo);
	make_sys_file("sys/bus/event_source/devices/cpu_core/cpus", "0-1\n");
	make_sys_file("sys/bus/event_source/devices/cpu_atom/cpus", "2,5-9\n");
	assert_int_equal(op_cpu_type_detect(&type, "top/events", ".", 0, &diag),
			 0);
	assert_string_equal(type->name, "i386/alderlake-p");
	op_cpu_type_free(type);
	assert_int_equal(op_cpu_type_detect(&type, "top/events", ".", 1, &diag),
			 0);
	assert_string_equal(type->name, "i386/alderlake-e");
	assert_false(type->is_nearest);
	op_cpu_type_free(type);
	assert_int_equal(op_cpu_type_detect(&type, "top/events", ".", 2, &diag),
			 -ENOENT);
	assert_int_equal(op_cpu_id_read(&id, ".", 1, &diag), 0);
	op_cpu_id_print(&id, text, sizeof(text));
	assert_non_null(strstr(text, " model 0x97"));
	assert_non_null(strstr(text, " pmu cpu_atom"));
}

/* All that the original called a CPU is known, with a list or without. */
FOLDER_TEST(test_original_names)
{
	const uint32_t versions[] = { OP_CLASSIC_VERSION_0,
				      OP_CLASSIC_VERSION_1 };
	unsigned int nr = 0, lists = 0;

	assert_int_equal(symlink(getenv("OPROFILE_TEST_TOP"), "top"), 0);
	for (size_t i = 0; i < sizeof(versions) / sizeof(*versions); i++) {
		const char *name;

		for (uint32_t n = 0;
		     (name = op_classic_cpu_name(versions[i], n)); n++) {
			struct op_diag diag = { "" };
			struct op_cpu_type *type = NULL;

			nr++;
			if (!op_cpu_type_read(&type, "top/events", name, &diag))
				lists++;
			else
				assert_reason(&diag, "there is no list of its "
						     "events here");
			op_cpu_type_free(type);
		}
	}
	assert_int_equal(nr, 84 + 88);
	assert_true(lists >= 2 * 20);
	assert_false(op_classic_knows_cpu("x86-64/zen3"));
	assert_false(op_classic_knows_cpu(""));
}

FOLDER_TEST(test_events_dir)
{
	struct op_diag diag = { "" };
	char *dir;

	setenv("OPROFILE_EVENTS_DIR", *state, 1);
	assert_int_equal(op_events_dir(&dir, &diag), 0);
	assert_string_equal(dir, *state);
	free(dir);
	setenv("OPROFILE_EVENTS_DIR", "/none/such", 1);
	assert_int_equal(op_events_dir(&dir, &diag), -ENOENT);
	assert_non_null(strstr(diag.text, "/none/such: no such folder"));
	unsetenv("OPROFILE_EVENTS_DIR");
}

BEFORE_TESTS()
{
	char top[PATH_MAX];

	/* The unit tests are started in the top folder of the tree. */
	if (!getcwd(top, sizeof(top)) || setenv("OPROFILE_TEST_TOP", top, 1))
		abort();
}
