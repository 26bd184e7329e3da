// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Names for the numbers of CPU types in classic sample files. These lists are
 * history and never grow: our own files have names. Version 1.0 left types out
 * and numbered the others again.
 */

#include "libop/classic/op_classic.h"

#include <string.h>

/* clang-format off */
static const char *const version_0[] = {
	"i386/ppro", "i386/pii", "i386/piii", "i386/athlon", "timer", "rtc",
	"i386/p4", "ia64/ia64", "ia64/itanium", "ia64/itanium2",
	"x86-64/hammer", "i386/p4-ht", "alpha/ev4", "alpha/ev5", "alpha/pca56",
	"alpha/ev6", "alpha/ev67", "i386/p6_mobile", "arm/xscale1",
	"arm/xscale2", "ppc64/power4", "ppc64/power5", "ppc64/power5+",
	"ppc64/970", "mips/20K", "mips/24K", "mips/25K", "mips/34K", "mips/5K",
	"mips/r10000", "mips/r12000", "mips/rm7000", "mips/rm9000", "mips/sb1",
	"mips/vr5432", "mips/vr5500", "ppc/e500", "ppc/e500v2", "i386/core",
	"ppc/7450", "i386/core_2", "ppc64/power6", "ppc64/970MP",
	"ppc64/cell-be", "x86-64/family10", "ppc64/pa6t", "arm/mpcore",
	"arm/armv6", "ppc64/power5++", "ppc/e300", "avr32", "arm/armv7",
	"i386/arch_perfmon", "x86-64/family11h", "ppc64/power7",
	"ppc64/ibm-compat-v1", "i386/core_i7", "i386/atom", "mips/loongson2",
	"i386/nehalem", "arm/armv7-ca9", "mips/74K", "mips/1004K",
	"x86-64/family12h", "x86-64/family14h", "x86-64/family15h",
	"i386/westmere", "arm/armv7-scorpion", "arm/armv7-scorpionmp",
	"i386/sandybridge", "tile/tile64", "tile/tilepro", "tile/tilegx",
	"s390/z10", "s390/z196", "i386/ivybridge", "arm/armv7-ca5",
	"arm/armv7-ca7", "arm/armv7-ca15", "i386/haswell", "s390/zEC12",
	"x86-64/generic", "ppc64/architected_events_v1", "ppc64/power8",
};

static const char *const version_1[] = {
	"i386/ppro", "i386/pii", "i386/piii", "i386/athlon", "timer", "i386/p4",
	"x86-64/hammer", "i386/p4-ht", "alpha/ev67", "i386/p6_mobile",
	"arm/xscale1", "arm/xscale2", "ppc64/power4", "ppc64/power5",
	"ppc64/power5+", "ppc64/970", "mips/20K", "mips/24K", "mips/25K",
	"mips/34K", "mips/5K", "mips/r10000", "mips/r12000", "mips/rm7000",
	"mips/rm9000", "mips/sb1", "mips/vr5432", "mips/vr5500", "ppc/e500",
	"ppc/e500v2", "i386/core", "ppc/7450", "i386/core_2", "ppc64/power6",
	"ppc64/970MP", "x86-64/family10", "arm/mpcore", "arm/armv6",
	"ppc64/power5++", "ppc/e300", "arm/armv7", "i386/arch_perfmon",
	"x86-64/family11h", "ppc64/power7", "i386/core_i7", "i386/atom",
	"mips/loongson2", "i386/nehalem", "arm/armv7-ca9", "mips/74K",
	"mips/1004K", "x86-64/family12h", "x86-64/family14h",
	"x86-64/family15h", "i386/westmere", "arm/armv7-scorpion",
	"arm/armv7-scorpionmp", "i386/sandybridge", "tile/tile64",
	"tile/tilepro", "tile/tilegx", "s390/z10", "s390/z196",
	"i386/ivybridge", "arm/armv7-ca5", "arm/armv7-ca7", "arm/armv7-ca15",
	"i386/haswell", "s390/zEC12", "x86-64/generic",
	"ppc64/architected_events_v1", "ppc64/power8", "ppc/e500mc",
	"ppc/e6500", "i386/silvermont", "arm/armv7-krait", "arm/armv8-xgene",
	"i386/broadwell", "arm/armv8-ca57", "arm/armv8-ca53", "i386/skylake",
	"i386/goldmont", "i386/goldmontplus", "s390/z13", "arm/armv7-ca17",
	"ppc64/power9", "i386/knightslanding", "arm/armv8-thunderx2",
};
/* clang-format on */

const char *op_classic_cpu_name(uint32_t version, uint32_t number)
{
	if (version == OP_CLASSIC_VERSION_0)
		return number < sizeof(version_0) / sizeof(version_0[0])
			       ? version_0[number]
			       : NULL;
	return number < sizeof(version_1) / sizeof(version_1[0])
		       ? version_1[number]
		       : NULL;
}

bool op_classic_knows_cpu(const char *name)
{
	static const uint32_t versions[] = { OP_CLASSIC_VERSION_0,
					     OP_CLASSIC_VERSION_1 };
	const char *known;

	for (size_t i = 0; i < sizeof(versions) / sizeof(versions[0]); i++)
		for (uint32_t number = 0;
		     (known = op_classic_cpu_name(versions[i], number));
		     number++)
			if (!strcmp(known, name))
				return true;
	return false;
}
