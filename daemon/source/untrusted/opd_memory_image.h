/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DAEMON_SOURCE_UNTRUSTED_OPD_MEMORY_IMAGE_H
#define DAEMON_SOURCE_UNTRUSTED_OPD_MEMORY_IMAGE_H

/*
 * An ELF file that was deleted, or never was on a disk, as a process still has
 * it in its memory: for users other than root, whom the kernel does not allow
 * to open what is mapped (/proc/PID/map_files). The image has what is loaded
 * and not written to: headers, code, unwind data, the dynamic symbols of
 * functions. It says whatever the process wants, so it is for that process's
 * owner alone.
 */

#include <stdint.h>

struct opd_untrusted;

/* Make the image of the file that process @tgid has mapped at @addr: a
 * descriptor of a file in memory, or -errno; -EPERM for root. */
int opd_memory_image_open(struct opd_untrusted *untrusted, const char *proc,
			  uint32_t tgid, uint64_t addr);

#endif /* DAEMON_SOURCE_UNTRUSTED_OPD_MEMORY_IMAGE_H */
