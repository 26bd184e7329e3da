// SPDX-License-Identifier: GPL-2.0-or-later

#include "libop/options/op_original.h"

#define WHY_KERNEL_RANGE                                                       \
	"the daemon reads from the kernel that runs where its code is"
#define WHY_XEN                                                                \
	"the kernel does not describe the code of a hypervisor; "              \
	"profile the guests from inside"

const struct op_original_option
	op_original_opcontrol[OP_NR_ORIGINAL_OPCONTROL] = {
		{ "kernel-range", 0, "START,END", WHY_KERNEL_RANGE },
		{ "xen", 0, "FILE", WHY_XEN },
		{ "active-domains", 0, "LIST", WHY_XEN },
		{ "s390hwsampbufsize", 0, "NUM",
		  "perf_events sizes the buffers of the hardware sampling of "
		  "s390; the kernel's parameter cpum_sfb_size bounds them" },
	};

const struct op_original_option
	op_original_oprofiled[OP_NR_ORIGINAL_OPROFILED] = {
		{ "kernel-range", 'r', "START,END", WHY_KERNEL_RANGE },
		{ "xen-image", 0, "FILE", WHY_XEN },
		{ "xen-range", 0, "START,END", WHY_XEN },
	};
